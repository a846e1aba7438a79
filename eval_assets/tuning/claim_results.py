"""Verdicts on the two claims about a judge: it is fit for use, and tuning improved it."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_assets.stats import (
    AgreementGain,
    NonInferiority,
    agreement_gain,
    groups_to_detect,
    judge_human_agreement,
    non_inferiority,
    spearman,
)
from eval_assets.stats.beside_people import (
    FEWEST_PAIRED_GROUPS,
    FEWEST_VARIED_GROUPS,
    PASS_SHARE,
)
from eval_assets.tuning.calibration import MIN_TRAIN_GROUPS
from eval_assets.tuning.partial_automation import JudgePart, partial_comparison
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.wording import counted, planned

TOTAL_SIGNIFICANCE = 0.05
"""Chance of a false certificate over all evaluations of one test.

Whoever tunes against a test by its printed results sooner or later fits it. So each evaluation of
a question's test has a stricter level than the one before, and none prints more than its verdict
needs."""

MOST_EVALUATIONS = 5
"""Evaluations after which a test is spent: the level of the next would detect hardly anything."""

DECISION_RULE = "Satterthwaite's degrees of freedom for both claims, 5 evaluations, 24 groups"
"""Name of the rule that decides an evaluation. It changes with the rule: what an evaluation under
another name decided is stale."""

RELEASED_STEP = 0.02
"""Gains of candidates that are not accepted are printed to the nearest of these."""


def evaluation_significance(evaluation: int, *, n_candidates: int) -> float:
    """Return the two-sided level of each candidate's test at an evaluation.

    The levels .05 / (k (k + 1)) of all evaluations k add up to .05, however many there are.

    Args:
        evaluation: Number of the evaluation of the test, from 1.
        n_candidates: Candidates that were fixed before it and are evaluated together.

    Raises:
        ValueError: If the test is spent, or an argument is below 1.

    Examples:
        >>> [evaluation_significance(k, n_candidates=1) for k in (1, 2)]
        [0.025, 0.008333333333333333]
    """
    if not 1 <= evaluation <= MOST_EVALUATIONS:
        raise ValueError(f"evaluations are 1 to {MOST_EVALUATIONS}, got {evaluation}")
    if n_candidates < 1:
        raise ValueError(f"n_candidates must be at least 1, got {n_candidates}")
    return TOTAL_SIGNIFICANCE / (evaluation * (evaluation + 1)) / n_candidates


def coarse_gain(gain: float) -> float:
    """Return a gain as it is printed for a candidate that was not accepted; NaN stays NaN.

    Examples:
        >>> coarse_gain(0.0331), coarse_gain(-0.004)
        (0.04, 0.0)
    """
    if math.isnan(gain):
        return gain
    return round(RELEASED_STEP * round(gain / RELEASED_STEP), 10) + 0.0


FitnessVerdict = Literal["fit", "unfit", "undecided", "not_evaluable"]


@dataclass(frozen=True)
class FitnessResult:
    """Verdict of the test on a judge, compared with people.

    `reason` contains no figure that stays hidden. `groups_wanted` is the number of groups that
    would decide on a judge equal to people, with 80 % power; None if it is not needed. `part` is
    the part of the responses that the judge scores, while people rate the rest; None for all.
    """

    verdict: FitnessVerdict
    reason: str
    compared: NonInferiority
    significance: float
    margin: float
    groups_wanted: int | None = None
    part: JudgePart | None = None

    @property
    def ratio_ends(self) -> tuple[float, float]:
        """Return the interval of the judge's distance from 1 divided by the largest allowed one.

        The verdict is `fit` if the upper end lies below 1, `unfit` if the lower end lies above it.
        """
        low, high = self.compared.certain_bounds(significance=self.significance)
        return math.exp(-high), math.exp(-low)

    @property
    def gap_ends(self) -> tuple[float, float]:
        """Return the interval of the judge's agreement less people's, on the scale of the test."""
        bounds = self.compared.certain_bounds(significance=self.significance)
        low, high = (self.compared.judge_at(end) - self.compared.people.value for end in bounds)
        return low, high


def judge_fitness(  # noqa: PLR0913 - what is tested, and the rule
    test: RatedUnits,
    scores: Floats,
    *,
    margin: float,
    significance: float,
    people_agree: bool,
    doubts: Floats | None = None,
    part: JudgePart | None = None,
) -> FitnessResult:
    """Decide whether a judge's agreement with people is less than `margin` below people's own.

    `people_agree` says whether the question passes both human gates. Agreement with people who do
    not agree is meaningless. With `part` the judge scores the responses that its `doubts` put
    there, and people the rest: both together are compared with people.
    """
    if doubts is None or part is None:
        compared = non_inferiority(
            test.ratings, scores, margin=margin, level=test.level, groups=test.group_codes
        )
    else:
        compared = partial_comparison(test, scores, doubts, part, margin=margin)
        scores = np.where(part.contains(doubts), scores, np.nan)
    reason = _why_not_evaluable(test, scores, people_agree=people_agree)
    return _fitness(compared, reason, margin=margin, significance=significance, part=part)


def _fitness(
    compared: NonInferiority,
    reason: str,
    *,
    margin: float,
    significance: float,
    part: JudgePart | None,
) -> FitnessResult:
    """Return the verdict of a comparison of judge and people; `reason` is why there is none.

    `margin` is the largest shortfall of a judge of all units; a judge of a part has its share.
    """
    verdict: FitnessVerdict
    groups_wanted = None
    largest = margin * compared.share
    margin_text = f"{margin:g}" if compared.share == 1 else f"{largest:.3g}"
    agreement = "its agreement with people"
    if part is not None:
        agreement = f"on its part, with people on the rest, {agreement}"
    if reason:
        verdict = "not_evaluable"
    elif compared.passes(significance=significance):
        verdict = "fit"
        reason = f"{agreement} is less than {margin_text} below theirs with each other"
    elif compared.fails(significance=significance):
        verdict = "unfit"
        reason = f"{agreement} is more than {margin_text} below theirs with each other"
    else:
        verdict = "undecided"
        reason = f"{compared.shortfall.n_groups} groups cannot tell"
        distance = 1 - compared.people.value
        equal = math.log((distance + largest) / distance) if distance > 0 else largest
        statistic, p_value = compared.shortfall, significance * PASS_SHARE
        detectable = statistic.detectable_by(p_value=p_value)
        n_groups = groups_to_detect(equal, detectable=detectable, n_groups=statistic.n_groups)
        groups_wanted = math.ceil(max(n_groups, statistic.n_groups + 1) / 10) * 10
        reason += (
            f"; with about {groups_wanted} a judge equal to people passes in four of five tries"
        )
    return FitnessResult(verdict, reason, compared, significance, margin, groups_wanted, part)


def _why_not_evaluable(test: RatedUnits, scores: Floats, *, people_agree: bool) -> str:
    if not people_agree:
        return "people do not agree well enough on this question: see the human gates"
    rated = ~np.isnan(test.ratings)
    paired = (np.count_nonzero(rated, axis=1) > 1) & ~np.isnan(scores)
    n_paired = test.n_groups_of(paired)
    if n_paired < FEWEST_PAIRED_GROUPS:
        return (
            f"{n_paired} groups in the test hold two ratings of an answer, "
            f"and {FEWEST_PAIRED_GROUPS} are needed"
        )
    values, counts = np.unique(test.ratings[paired][rated[paired]], return_counts=True)
    varied = (rated & (test.ratings != values[counts.argmax()])).any(axis=1) & paired
    n_varied = test.n_groups_of(varied)
    if n_varied < FEWEST_VARIED_GROUPS:
        return (
            f"{n_varied} groups in the test hold a rating other than the commonest, "
            f"and {FEWEST_VARIED_GROUPS} are needed"
        )
    return ""


ImprovementVerdict = Literal["accepted", "rejected", "inconclusive", "unchanged", "not_evaluable"]

MIN_TEST_GROUPS = 20
"""Below this number, intervals by Student's t cover less than their level."""

MOST_A_HA_LOST = 0.02
MOST_SPEARMAN_LOST = 0.05
"""Largest accepted falls of A^HA and Spearman's rho beside a gain of the figure (choices)."""


@dataclass(frozen=True)
class ImprovementResult:
    """Verdict of the test on a candidate, compared with the judge that it would replace.

    `reason` holds no figure that stays hidden. `groups_wanted` is the number of groups that would
    decide, with 80 % power; None if it is not needed.
    """

    verdict: ImprovementVerdict
    reason: str
    compared: AgreementGain
    significance: float
    groups_wanted: int | None = None


def judge_improvement(
    test: RatedUnits,
    candidate: Floats,
    baseline: Floats,
    *,
    significance: float,
    n_train_groups: int,
) -> ImprovementResult:
    """Decide whether a candidate agrees better with people than the judge that it would replace."""
    compared = agreement_gain(
        test.ratings, candidate, baseline, level=test.level, groups=test.group_codes
    )
    gain, groups_wanted = compared.gain, None
    verdict: ImprovementVerdict
    reason = _why_no_gain(test, candidate, baseline, n_train_groups)
    if reason:
        verdict = "not_evaluable"
        if gain.n_groups < MIN_TEST_GROUPS:
            groups_wanted = MIN_TEST_GROUPS
    elif compared.n_changed == 0:
        verdict, reason = "unchanged", "tuning changed no score of the test"
    elif gain.ends(significance=significance)[1] < 0:
        verdict, reason = "rejected", "agrees less with people than the judge as it stands"
    elif gain.ends(significance=significance)[0] <= 0:
        target = max(coarse_gain(gain.value), RELEASED_STEP)
        detectable = gain.detectable_by(p_value=significance / 2)
        groups_wanted = planned(
            groups_to_detect(target, detectable=detectable, n_groups=gain.n_groups)
        )
        verdict = "inconclusive"
        reason = f"{gain.n_groups} groups detect a gain of {detectable:.2f} in four of five tries"
        if groups_wanted > gain.n_groups:
            reason += f"; about {groups_wanted} would detect one of {target:.2f}"
        else:  # the chance was there, and the test shows no gain nevertheless
            groups_wanted = None
            reason += ", and this test does not show one"
    elif fallen := falling_figure(test, candidate, baseline):
        verdict, reason = "rejected", f"agreement beyond chance gains, but {fallen}"
    elif missing := _what_is_missing(compared, significance):
        verdict, reason = "inconclusive", missing
    else:
        verdict, reason = "accepted", "agrees better with people than the judge as it stands"
    return ImprovementResult(verdict, reason, compared, significance, groups_wanted)


def _why_no_gain(test: RatedUnits, candidate: Floats, baseline: Floats, n_train_groups: int) -> str:
    is_compared = ~(np.isnan(candidate) | np.isnan(baseline) | np.isnan(test.ratings).all(axis=1))
    n_groups = test.n_groups_of(is_compared)
    if n_train_groups < MIN_TRAIN_GROUPS:
        return f"{counted(n_train_groups, 'group')} in train, and {MIN_TRAIN_GROUPS} are needed"
    if n_groups < MIN_TEST_GROUPS:
        return (
            f"{n_groups} groups in the test have ratings and scores, and {MIN_TEST_GROUPS} are "
            "needed"
        )
    ratings = test.ratings[is_compared]
    if len(np.unique(ratings[~np.isnan(ratings)])) < 2:  # noqa: PLR2004 - one value
        return "people gave the same rating to every answer in the test"
    return ""


def falling_figure(test: RatedUnits, candidate: Floats, baseline: Floats) -> str:
    """Return which other figure falls by more than the accepted loss; empty if none does."""
    is_compared = ~(np.isnan(candidate) | np.isnan(baseline))
    people, new, old = test.ratings[is_compared], candidate[is_compared], baseline[is_compared]
    if test.level == "nominal":
        return ""
    scale = test.question.scale
    a_ha_new, a_ha_old = (
        judge_human_agreement(people, scores, low=scale.low, high=scale.high)
        for scores in (new, old)
    )
    if a_ha_old - a_ha_new > MOST_A_HA_LOST:
        return f"A^HA falls by more than {MOST_A_HA_LOST:.2f}"
    rated = ~np.isnan(people).all(axis=1)
    mean = np.nanmean(people[rated], axis=1)
    rho_new, rho_old = spearman(mean, new[rated]), spearman(mean, old[rated])
    if rho_old - rho_new > MOST_SPEARMAN_LOST:
        return f"Spearman's rho falls by more than {MOST_SPEARMAN_LOST:.2f}"
    return ""


def _what_is_missing(compared: AgreementGain, significance: float) -> str:
    """Return the condition that a significant gain does not meet; empty if it meets all of them."""
    fewest = math.ceil(math.log2(2 / significance) - 1e-9)
    if compared.n_changed < fewest:
        return (
            f"scores changed in {counted(compared.n_changed, 'group')}; {fewest} are needed "
            "before chance "
            f"alone cannot have favoured all of them"
        )
    if not compared.candidate.ends(significance=significance)[0] > 0:
        return "the candidate's own agreement beyond chance is not above 0 with certainty"
    return ""
