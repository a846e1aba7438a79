"""Fitness of a judge: its agreement with people compared with people's own agreement."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_assets.stats import NonInferiority, non_inferiority
from eval_assets.tuning.rated import Floats, RatedUnits

FitnessVerdict = Literal["fit", "unfit", "undecided", "not_evaluable"]

MIN_PAIRED_GROUPS = 20
MIN_VARIED_GROUPS = 10
"""Groups that must hold two ratings of an answer, and a rating other than the commonest one."""


@dataclass(frozen=True)
class FitnessResult:
    """Verdict of the test on a judge, compared with people.

    `reason` holds no figure that the seal keeps. `groups_wanted` is the number of groups that would
    decide on a judge equal to people, with 80 % power; None if it is not needed.
    """

    verdict: FitnessVerdict
    reason: str
    compared: NonInferiority
    significance: float
    margin: float
    better_than_a_person: bool = False
    groups_wanted: int | None = None


def judge_fitness(
    test: RatedUnits,
    scores: Floats,
    *,
    margin: float,
    significance: float,
    people_agree: bool,
) -> FitnessResult:
    """Judge whether a judge agrees with people less than `margin` below people's own agreement.

    `people_agree` says whether the question passes both human gates. Agreement with people who do
    not agree means nothing.
    """
    compared = non_inferiority(
        test.ratings, scores, margin=margin, level=test.level, groups=test.groups
    )
    verdict: FitnessVerdict
    better, groups_wanted = False, None
    if reason := _why_not_evaluable(test, scores, people_agree=people_agree):
        verdict = "not_evaluable"
    else:
        low, high = compared.shortfall.ends(significance=significance)
        if low > 0:
            verdict = "fit"
            reason = (
                f"its agreement with people is less than {margin:g} below theirs with each other"
            )
            better = compared.gap.ends(significance=significance)[0] > 0
            if better:
                reason = "it agrees with people better than they agree with each other"
        elif high < 0:
            verdict = "unfit"
            reason = (
                f"its agreement with people is more than {margin:g} below theirs with each other"
            )
        else:
            verdict = "undecided"
            groups_wanted = _groups_wanted(compared, margin=margin, significance=significance)
            reason = (
                f"{compared.shortfall.n_groups} groups cannot tell; about {groups_wanted} would "
                f"show a judge equal to people to be fit in four of five tries"
            )
    return FitnessResult(verdict, reason, compared, significance, margin, better, groups_wanted)


def _why_not_evaluable(test: RatedUnits, scores: Floats, *, people_agree: bool) -> str:
    """Return why the test cannot say anything; empty if it can."""
    if not people_agree:
        return "people do not agree well enough on this question: see the human gates"
    rated = ~np.isnan(test.ratings)
    paired = (np.count_nonzero(rated, axis=1) > 1) & ~np.isnan(scores)
    n_paired = test.n_groups_of(paired)
    if n_paired < MIN_PAIRED_GROUPS:
        return (
            f"{n_paired} groups in the test hold two ratings of an answer, "
            f"and {MIN_PAIRED_GROUPS} are needed"
        )
    values, counts = np.unique(test.ratings[paired][rated[paired]], return_counts=True)
    varied = (rated & (test.ratings != values[counts.argmax()])).any(axis=1) & paired
    n_varied = test.n_groups_of(varied)
    if n_varied < MIN_VARIED_GROUPS:
        return (
            f"{n_varied} groups in the test hold a rating other than the commonest, "
            f"and {MIN_VARIED_GROUPS} are needed"
        )
    return ""


def _groups_wanted(compared: NonInferiority, *, margin: float, significance: float) -> int:
    """Return how many groups find a judge equal to people fit in 80 % of tries."""
    distance = 1 - compared.people.value
    equal = np.log((distance + margin) / distance) if distance > 0 else np.inf
    statistic = compared.shortfall
    needed = statistic.n_groups * (statistic.detectable(significance=significance) / equal) ** 2
    return int(np.ceil(max(needed, statistic.n_groups + 1) / 10) * 10)
