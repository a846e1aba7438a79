"""Comparison of a judge's metrics with the declared targets."""

import math
from dataclasses import dataclass, replace

from eval_assets.config.tuning import Targets
from eval_assets.scale import Scale
from eval_assets.stats import Interval, JudgeHumanProfile, PairwiseAgreement, coefficient_interval


@dataclass(frozen=True)
class Decisions:
    """Pass or fail, by a judge and by people: above the middle of the scale is a pass.

    Attributes:
        accuracy: Share of units to which the judge gives the value that people agreed on.
        f1: Harmonic mean of precision and recall of the judge's passes; NaN without any.
        false_positives: Units that the judge passes and people do not.
        false_negatives: Units that people pass and the judge does not.
    """

    accuracy: Interval
    f1: Interval
    false_positives: int
    false_negatives: int


@dataclass(frozen=True)
class Target:
    """A figure with its 95 % interval and its target."""

    name: str
    value: float
    low: float
    high: float
    target: float
    is_met: bool


def decisions(profile: JudgeHumanProfile, scale: Scale) -> Decisions:
    """Return how often a judge decides as people do, from its confusion table.

    F1 is 2 p / (1 + p), where p is the share of units that both pass among those that either
    passes. Its interval follows from Wilson's interval of p.
    """
    middle = (scale.low + scale.high) / 2
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    equal = 0
    for human, judge, n_units in profile.confusion:
        counts[human > middle, judge > middle] += n_units
        equal += n_units if human == judge else 0
    passed = counts[True, True]
    shared = _share(passed, passed + counts[True, False] + counts[False, True])
    value, low, high = (2 * p / (1 + p) for p in (shared.value, shared.low, shared.high))
    return Decisions(
        accuracy=_share(equal, sum(counts.values())),
        f1=replace(shared, value=value, low=low, high=high),
        false_positives=counts[False, True],
        false_negatives=counts[True, False],
    )


def compared_with(
    targets: Targets, profile: JudgeHumanProfile, judge_decisions: Decisions, *, is_ordered: bool
) -> tuple[Target, ...]:
    """Return every figure with its target."""
    kappa = profile.weighted_kappa if is_ordered else profile.kappa
    at_least = {
        "rho": (profile.spearman, targets.rho),
        "kappa": (kappa, targets.kappa),
        "accuracy": (judge_decisions.accuracy, targets.accuracy),
        "F1": (judge_decisions.f1, targets.f1),
    }
    return (
        *(
            _target(name, figure, least, is_met=figure.value >= least)
            for name, (figure, least) in at_least.items()
        ),
        _target("MAE", profile.mae, targets.mae, is_met=profile.mae.value <= targets.mae),
    )


def _target(name: str, figure: Interval, target: float, *, is_met: bool) -> Target:
    return Target(name, figure.value, figure.low, figure.high, target, is_met)


def _share(n: int, total: int) -> Interval:
    """Return n of total as a share, with Wilson's interval; undefined if there are none."""
    equal, different = (0.0, 0.0), (0.0, 1.0)
    pairs = [equal] * n + [different] * (total - n) or [(0, math.nan)]
    return coefficient_interval(pairs, PairwiseAgreement(within=0), confidence=0.95)
