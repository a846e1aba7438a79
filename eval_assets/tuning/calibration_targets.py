"""Comparison of a judge's metrics with the declared targets."""

import math
from dataclasses import dataclass

from eval_assets.config.tuning import Targets
from eval_assets.scale import Scale
from eval_assets.stats import JudgeHumanProfile


@dataclass(frozen=True)
class Decisions:
    """Pass or fail, by a judge and by people: above the middle of the scale is a pass.

    Attributes:
        accuracy: Share of units to which the judge gives the value that people agreed on.
        f1: Harmonic mean of precision and recall of the judge's passes; NaN without any.
        false_positives: Units that the judge passes and people do not.
        false_negatives: Units that people pass and the judge does not.
    """

    accuracy: float
    f1: float
    false_positives: int
    false_negatives: int


@dataclass(frozen=True)
class Target:
    """A figure with its target."""

    name: str
    value: float
    target: float
    is_met: bool


def decisions(profile: JudgeHumanProfile, scale: Scale) -> Decisions:
    """Return how often a judge decides as people do, from its confusion table."""
    middle = (scale.low + scale.high) / 2
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    equal = 0
    for human, judge, n_units in profile.confusion:
        counts[human > middle, judge > middle] += n_units
        equal += n_units if human == judge else 0
    total, passed = sum(counts.values()), counts[True, True]
    wrong = counts[True, False] + counts[False, True]
    return Decisions(
        accuracy=equal / total if total else math.nan,
        f1=2 * passed / (2 * passed + wrong) if passed + wrong else math.nan,
        false_positives=counts[False, True],
        false_negatives=counts[True, False],
    )


def compared_with(
    targets: Targets, profile: JudgeHumanProfile, judge_decisions: Decisions, *, is_ordered: bool
) -> tuple[Target, ...]:
    """Return every figure with its target."""
    kappa = profile.weighted_kappa if is_ordered else profile.kappa
    at_least = {
        "rho": (profile.spearman.value, targets.rho),
        "kappa": (kappa.value, targets.kappa),
        "accuracy": (judge_decisions.accuracy, targets.accuracy),
        "F1": (judge_decisions.f1, targets.f1),
    }
    mae = profile.mae.value
    return (
        *(Target(name, value, least, value >= least) for name, (value, least) in at_least.items()),
        Target("MAE", mae, targets.mae, mae <= targets.mae),
    )
