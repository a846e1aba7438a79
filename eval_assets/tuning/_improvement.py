"""Improvement of a judge: the paired gain on the test, at the level of its reading."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_assets.stats import (
    AgreementGain,
    Jackknife,
    agreement_gain,
    groups_to_detect,
    judge_human_agreement,
    spearman,
)
from eval_assets.tuning._fitness import uneven_groups
from eval_assets.tuning.calibration import MIN_TRAIN_GROUPS
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.seal_policy import RELEASED_STEP, coarse_gain
from eval_assets.wording import rounded_up

ImprovementVerdict = Literal["accepted", "rejected", "inconclusive", "unchanged", "not_evaluable"]

MIN_TEST_GROUPS = 20
"""Below, intervals by Student's t hold less than they promise."""

MOST_A_HA_LOST = 0.02
MOST_SPEARMAN_LOST = 0.05
"""How far A^HA and Spearman's rho may fall although the figure gains: choices."""


@dataclass(frozen=True)
class ImprovementResult:
    """Verdict of the test on a candidate, compared with the judge that it would replace.

    `reason` holds no figure that the seal keeps. `groups_wanted` is the number of groups that would
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
    """Judge whether a candidate agrees better with people than the judge as it stands."""
    compared = agreement_gain(
        test.ratings, candidate, baseline, level=test.level, groups=test.groups
    )
    gain, groups_wanted = compared.gain, None
    verdict: ImprovementVerdict
    reason = _why_not_evaluable(test, candidate, baseline, n_train_groups) or uneven_groups(
        gain.n_groups, gain.n_effective, fewest=MIN_TEST_GROUPS
    )
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
        detectable = gain.detectable(significance=significance)
        groups_wanted = rounded_up(
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


def _why_not_evaluable(
    test: RatedUnits, candidate: Floats, baseline: Floats, n_train_groups: int
) -> str:
    """Return why the test cannot say anything; empty if it can."""
    both = ~(np.isnan(candidate) | np.isnan(baseline) | np.isnan(test.ratings).all(axis=1))
    n_groups = test.n_groups_of(both)
    if n_train_groups < MIN_TRAIN_GROUPS:
        return f"{n_train_groups} groups in train, and {MIN_TRAIN_GROUPS} are needed"
    if n_groups < MIN_TEST_GROUPS:
        return (
            f"{n_groups} groups in the test have ratings and scores, and {MIN_TEST_GROUPS} are "
            "needed"
        )
    ratings = test.ratings[both]
    if len(np.unique(ratings[~np.isnan(ratings)])) < 2:  # noqa: PLR2004 - one value
        return "people gave the same rating to every answer in the test"
    return ""


def falling_figure(test: RatedUnits, candidate: Floats, baseline: Floats) -> str:
    """Return which other figure falls further than the candidate may lose; empty if none does."""
    both = ~(np.isnan(candidate) | np.isnan(baseline))
    people, new, old = test.ratings[both], candidate[both], baseline[both]
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
    """Return the condition that a significant gain does not meet; empty if it meets all."""
    fewest = math.ceil(math.log2(2 / significance) - 1e-9)
    if compared.n_changed < fewest:
        return (
            f"scores changed in {compared.n_changed} groups; {fewest} are needed before chance "
            f"alone cannot have favoured all of them"
        )
    if not _lower_end(compared.candidate, significance) > 0:
        return "the candidate's own agreement beyond chance is not above 0 with certainty"
    return ""


def _lower_end(figure: Jackknife, significance: float) -> float:
    return figure.ends(significance=significance)[0]
