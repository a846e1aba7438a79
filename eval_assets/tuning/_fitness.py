"""Fitness of a judge: its agreement with people compared with people's own agreement."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_assets.scale import TOLERANCE
from eval_assets.stats import NonInferiority, non_inferiority
from eval_assets.tuning.rated import Floats, RatedUnits

FitnessVerdict = Literal["fit", "unfit", "undecided", "not_evaluable"]

MIN_PAIRED_GROUPS = 20
MIN_VARIED_GROUPS = 10
"""Groups that must hold two ratings of an answer, and a rating other than the commonest one."""


@dataclass(frozen=True)
class Wording:
    """Wording of the reasons of a verdict.

    Attributes:
        agreement: Agreement that is compared with people's, as the subject of a sentence.
        better: Sentence that says that it is better.
    """

    agreement: str
    better: str


_OF_ALL_UNITS = Wording(
    "its agreement with people", "it agrees with people better than they agree with each other"
)


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

    @property
    def ratio_ends(self) -> tuple[float, float]:
        """Return the ends of the judge's distance from 1 over the largest allowed.

        The verdict is `fit` if the upper end lies below 1, `unfit` if the lower end lies above it.
        """
        shortfall = self.compared.shortfall
        low, _ = shortfall.ends(significance=fitness_significance(self.significance))
        _, high = shortfall.ends(significance=self.significance)
        return math.exp(-high), math.exp(-low)


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
    return fitness_result(
        test,
        scores,
        compared,
        margin=margin,
        significance=significance,
        people_agree=people_agree,
        wording=_OF_ALL_UNITS,
    )


def fitness_result(  # noqa: PLR0913 - the comparison, and how its verdict is made and worded
    test: RatedUnits,
    scores: Floats,
    compared: NonInferiority,
    *,
    margin: float,
    significance: float,
    people_agree: bool,
    wording: Wording,
) -> FitnessResult:
    """Return the verdict of a comparison of judge and people.

    Args:
        test: Units of the test.
        scores: The judge's scores of them, NaN where it replaces nobody.
        compared: The comparison.
        margin: Largest shortfall of a judge of all units; a judge of a part has its share of it.
        significance: Two-sided level of the reading.
        people_agree: Whether the question passes both human gates.
        wording: Wording of the reasons.
    """
    verdict: FitnessVerdict
    better, groups_wanted = False, None
    largest = margin * compared.share
    shown = f"{margin:g}" if compared.share == 1 else f"{largest:.3g}"
    n_effective = compared.shortfall.n_effective
    reason = _why_not_evaluable(test, scores, n_effective, people_agree=people_agree)
    if reason:
        verdict = "not_evaluable"
    else:
        low, _ = compared.shortfall.ends(significance=fitness_significance(significance))
        _, high = compared.shortfall.ends(significance=significance)
        if low > 0:
            verdict = "fit"
            reason = f"{wording.agreement} is less than {shown} below theirs with each other"
            better = compared.gap.ends(significance=fitness_significance(significance))[0] > 0
            if better:
                reason = wording.better
        elif high < 0:
            verdict = "unfit"
            reason = f"{wording.agreement} is more than {shown} below theirs with each other"
        else:
            verdict = "undecided"
            groups_wanted = _groups_wanted(compared, margin=largest, significance=significance)
            reason = (
                f"{compared.shortfall.n_groups} groups cannot tell; about {groups_wanted} would "
                f"show a judge equal to people to be fit in four of five tries"
            )
    return FitnessResult(verdict, reason, compared, significance, margin, better, groups_wanted)


def fitness_significance(significance: float) -> float:
    """Return the level whose critical value keeps false verdicts of fitness to `significance`.

    The statistic is skewed with tens of groups, the more so if a judge's errors are alike within a
    group, so that the level itself is exceeded. benchmarks/promises.py has the error rates of half
    the level.
    """
    return significance / 2


def uneven_groups(n_groups: int, n_effective: float, *, fewest: int) -> str:
    """Return that groups are too uneven in size for a test; empty if they are not."""
    if n_effective >= fewest - TOLERANCE:
        return ""
    return (
        f"{n_groups} groups in the test differ so much in size that they tell as much as "
        f"{math.floor(n_effective)}, and {fewest} are needed"
    )


def _why_not_evaluable(
    test: RatedUnits, scores: Floats, n_effective: float, *, people_agree: bool
) -> str:
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
    if uneven := uneven_groups(n_paired, n_effective, fewest=MIN_PAIRED_GROUPS):
        return uneven
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
    detectable = statistic.detectable(significance=fitness_significance(significance))
    needed = statistic.n_groups * (detectable / equal) ** 2
    return int(np.ceil(max(needed, statistic.n_groups + 1) / 10) * 10)
