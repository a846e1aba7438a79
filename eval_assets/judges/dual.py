"""Two judges: where they differ, and when one of them is enough."""

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from eval_assets.evaluation import Staged
from eval_assets.scale import TOLERANCE, Scale

GROUP_DIFFERENCE = 0.4
"""Mean difference in a group, on the scale taken to [0, 1], from above which a human looks."""

RESPONSE_DIFFERENCE = 0.3
"""Difference on one response, likewise."""

FEWEST_SPOT_CHECKS = 5
"""With fewer, kappa has nothing between total agreement and none."""

Stage = Literal["both", "one"]
"""Whether both judges of a pair are asked about everything, or the second about spot checks."""


@dataclass(frozen=True)
class Pair:
    """Two judges' scores of one response on one question.

    Args:
        response_id: The response.
        question_id: The question.
        group_id: Responses to one prompt, such as a query's documents.
        scale: The question's scale.
        first: Score of the first judge.
        second: Score of the second judge.
    """

    response_id: str
    question_id: str
    group_id: str
    scale: Scale
    first: float
    second: float

    @property
    def difference(self) -> float:
        """How far apart the scores are, on the scale taken to [0, 1]."""
        return abs(self.first - self.second) / (self.scale.high - self.scale.low)


@dataclass(frozen=True)
class Disagreement:
    """A group or a response on which two judges differ too much.

    Args:
        scope: What it is about.
        group_id: The group.
        response_id: The response; None for a group.
        question_id: The question.
        difference: Of a response how far apart the scores are, of a group the mean of that, on
            the scale taken to [0, 1]. Not the difference of the means: 1, 0 against 0, 1 differs
            by 1, not by 0.
    """

    scope: Literal["group", "response"]
    group_id: str
    response_id: str | None
    question_id: str
    difference: float


@dataclass(frozen=True)
class StageDecision:
    """Which stage comes next, and why.

    Args:
        stage: The stage.
        reason: Why, in words.
    """

    stage: Stage
    reason: str


def disagreements(pairs: Sequence[Pair]) -> list[Disagreement]:
    """Groups with a mean difference above 0.4 and responses with one above 0.3, worst first.

    Args:
        pairs: Scores of the two judges where both have one.
    """
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.group_id, pair.question_id), []).append(pair)
    found = [
        Disagreement("response", pair.group_id, pair.response_id, pair.question_id, pair.difference)
        for pair in pairs
        if pair.difference > RESPONSE_DIFFERENCE + TOLERANCE
    ]
    for (group_id, question_id), members in groups.items():
        mean = math.fsum(pair.difference for pair in members) / len(members)
        if mean > GROUP_DIFFERENCE + TOLERANCE:
            found.append(Disagreement("group", group_id, None, question_id, mean))
    return sorted(found, key=lambda each: (-each.difference, each.group_id, each.scope))


def next_stage(
    stage: Stage, *, kappa: float, exact_agreement: float, n_units: int, staged: Staged
) -> StageDecision:
    """Whether one judge is enough from now on.

    An undefined kappa never leads to one judge: twenty equal scores show no ability to tell
    responses apart. It does not lead back either, as long as the judges say the same.

    Args:
        stage: The stage so far.
        kappa: Cohen's kappa of the pair, scores above the middle of the scale against the rest:
            on the latest `staged.window` units, in stage `one` on its spot checks. NaN where
            undefined.
        exact_agreement: Share of these units on the same side of the middle, in [0, 1].
        n_units: How many units these are.
        staged: The thresholds.

    Examples:
        >>> next_stage("both", kappa=0.9, exact_agreement=0.95, n_units=100, staged=Staged()).stage
        'one'
        >>> next_stage("one", kappa=0.6, exact_agreement=0.8, n_units=20, staged=Staged()).stage
        'both'
    """
    shown = "is undefined" if math.isnan(kappa) else f"is {kappa:.3f}"
    match stage:
        case "both":
            if n_units < staged.window:
                return StageDecision("both", f"{n_units} of {staged.window} units are judged")
            if kappa >= staged.kappa - TOLERANCE:
                return StageDecision("one", f"kappa {shown}, {staged.kappa:g} is enough")
            return StageDecision("both", f"kappa {shown}, {staged.kappa:g} is needed")
        case "one":
            if n_units < FEWEST_SPOT_CHECKS:
                return StageDecision("one", f"{n_units} of {FEWEST_SPOT_CHECKS} spot checks")
            differ = math.isnan(kappa) and exact_agreement < 1 - TOLERANCE
            if differ or kappa < staged.revert_below - TOLERANCE:
                return StageDecision(
                    "both", f"kappa on spot checks {shown}, {staged.revert_below:g} is needed"
                )
            return StageDecision("one", f"kappa on spot checks {shown}")
        case _ as unreachable:
            assert_never(unreachable)


def spot_checks(response_ids: Collection[str], *, share: float) -> frozenset[str]:
    """Responses that the second judge is asked about in stage `one`.

    Chosen by a hash of their ids, so that every run chooses alike and nobody can; exactly the
    share, because at 5 % of 100 drawn one by one, fewer than five come out in 44 % of cases.

    Args:
        response_ids: All responses.
        share: Share to check, in (0, 1].

    Examples:
        >>> len(spot_checks([f"r{i}" for i in range(200)], share=0.05))
        10
    """
    n = max(math.ceil(share * len(response_ids) - TOLERANCE), FEWEST_SPOT_CHECKS)
    by_hash = sorted(response_ids, key=lambda each: hashlib.sha256(each.encode()).digest())
    return frozenset(by_hash[:n])
