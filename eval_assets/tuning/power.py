"""Power and cost of an evaluation of the test, before anything is spent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from eval_assets.config.tuning import EvaluationPolicy, Tuning
from eval_assets.stats import Jackknife, agreement_gain, groups_to_detect, non_inferiority
from eval_assets.stats.beside_people import FEWEST_PAIRED_GROUPS, PASS_SHARE
from eval_assets.stats.planning import MOST_TIMES
from eval_assets.tuning.claim_results import (
    MIN_TEST_GROUPS,
    MOST_EVALUATIONS,
    falling_figure,
)
from eval_assets.tuning.history import QuestionTest
from eval_assets.tuning.partial_automation import partial_comparison
from eval_assets.tuning.rated import RatedUnits, outside_test
from eval_assets.tuning.verdicts_of_test import Candidate, shared_significance
from eval_assets.wording import percent_text

WORTHWHILE_GAIN = 0.05
"""Planned gain if the real one is unknown."""

LEAST_CHANCE = 0.5
"""Chance of one claim from which an evaluation is worth its share of the level (a choice)."""


@dataclass(frozen=True)
class Plan:
    """Power of the next evaluation of a question's test for one candidate.

    Chances are those that train and dev give, with the errors of both and of the test.

    Attributes:
        expected_gain: Gain on train and dev; NaN if nothing changed. On train it flatters.
        detectable_gain: Gain that the test finds in 80 % of tries; NaN if nothing changed.
        groups_for_gain: Groups that would find the expected gain, or one of .05, in 80 %.
        chance_fit: Chance that it is found fit; NaN if undefined.
        chance_in_part: Chance that it is found fit on the chosen part; NaN without a part.
        chance_if_equal: Chance that a judge equal to people is found fit; NaN if undefined.
        groups_if_equal: Groups that would find a judge equal to people fit in 80 % of tries.
        groups_at_gap: Groups that would find this judge fit in 80 % of tries; None if it is not fit
            on train and dev.
    """

    judge_id: str
    version: str
    question_id: str
    n_groups: int
    reading: int
    level: float
    expected_gain: float = math.nan
    detectable_gain: float = math.nan
    groups_for_gain: int | None = None
    chance_improved: float = 0.0
    chance_fit: float = 0.0
    chance_in_part: float = math.nan
    chance_if_equal: float = math.nan
    groups_if_equal: int | None = None
    groups_at_gap: int | None = None
    responses_per_group: float = math.nan
    labels_per_group: float = math.nan

    @property
    def chances(self) -> dict[str, float]:
        """Defined chances of the claims, by name."""
        chances = {
            "is better than before": self.chance_improved,
            "passes": self.chance_fit,
            "passes in part": self.chance_in_part,
        }
        return {claim: chance for claim, chance in chances.items() if not math.isnan(chance)}


def plan_evaluation(
    units: RatedUnits,
    candidates: Sequence[Candidate],
    usage: QuestionTest,
    *,
    margin: float,
    people_agree: bool,
) -> list[Plan]:
    """Return the power of the next evaluation, without reading labels of the test.

    Errors are those on train and dev, scaled to the number of groups in the test.
    """
    level = shared_significance(units, candidates, number=min(usage.next_number, MOST_EVALUATIONS))
    is_paired = np.count_nonzero(~np.isnan(units.ratings), axis=1) > 1
    n_test = max(units.part("test").n_groups, 1)
    plans = []
    for candidate in candidates:
        is_test = units.is_in("test") & ~np.isnan(candidate.scores)
        n_paired = units.n_groups_of(is_test & is_paired) if people_agree else 0
        in_part = _chance_in_part(units, candidate, p_value=level * PASS_SHARE, margin=margin)
        plan = Plan(
            judge_id=candidate.version.judge_id,
            version=candidate.version.version,
            question_id=units.question.id,
            n_groups=units.n_groups_of(is_test),
            reading=usage.next_number,
            level=level,
            chance_in_part=in_part,
            responses_per_group=len(units.response_ids) / n_test,
            labels_per_group=np.count_nonzero(~np.isnan(units.ratings)) / n_test,
        )
        plan = _with_gain(plan, units, candidate)
        plans.append(_with_fitness(plan, units, candidate, n_groups=n_paired, margin=margin))
    return plans


def _with_gain(plan: Plan, units: RatedUnits, candidate: Candidate) -> Plan:
    """Return the plan with the power of the test for a gain.

    The chance is 0 where the candidate's gain comes with a loss of A^HA or Spearman's rho that
    rejects it.
    """
    development, is_seen = outside_test(units), ~units.is_in("test")
    scores, baseline = candidate.scores[is_seen], candidate.baseline[is_seen]
    gain = agreement_gain(
        development.ratings,
        scores,
        baseline,
        level=development.level,
        groups=development.group_codes,
    ).gain
    plan = replace(plan, expected_gain=gain.value)
    if not gain.standard_error > 0 or plan.n_groups < 2:  # noqa: PLR2004 - no degree of freedom
        return plan
    scaled = gain.scaled_to(plan.n_groups)
    detectable = scaled.detectable_by(p_value=plan.level / 2)
    target = gain.value if gain.value > 0 else WORTHWHILE_GAIN
    n_groups = groups_to_detect(target, detectable=detectable, n_groups=plan.n_groups)
    plan = replace(plan, detectable_gain=detectable, groups_for_gain=n_groups)
    if plan.n_groups < MIN_TEST_GROUPS or falling_figure(development, scores, baseline):
        return plan
    reach = scaled.reach(p_value=plan.level / 2)
    return replace(plan, chance_improved=_chance(gain, plan.n_groups, reach=reach))


def _with_fitness(
    plan: Plan, units: RatedUnits, candidate: Candidate, *, n_groups: int, margin: float
) -> Plan:
    """Return the plan with the power of a test of so many groups with two ratings for fitness."""
    development, is_seen = outside_test(units), ~units.is_in("test")
    compared = non_inferiority(
        development.ratings,
        candidate.scores[is_seen],
        margin=margin,
        level=development.level,
        groups=development.group_codes,
    )
    shortfall, distance = compared.shortfall, 1 - compared.people.value
    if n_groups < 2:  # noqa: PLR2004 - no degree of freedom
        return plan
    if not shortfall.standard_error > 0:
        return replace(plan, chance_fit=_chance(shortfall, n_groups, reach=0.0))
    p_value = plan.level * PASS_SHARE
    scaled = shortfall.scaled_to(n_groups)
    reach = scaled.reach(p_value=p_value)
    plan = replace(plan, chance_fit=_chance(shortfall, n_groups, reach=reach))
    if not distance > 0:
        return plan
    equal = math.log((distance + margin) / distance)
    if_equal = NormalDist().cdf((equal - reach) / scaled.standard_error)
    if_equal_groups, at_gap = (
        max(
            shortfall.groups_to_show(effect, p_value=p_value) or MOST_TIMES * shortfall.n_groups,
            FEWEST_PAIRED_GROUPS,
        )
        if effect > 0
        else None
        for effect in (equal, shortfall.value)
    )
    plan = replace(plan, groups_if_equal=if_equal_groups, groups_at_gap=at_gap)
    if n_groups < FEWEST_PAIRED_GROUPS:
        return replace(plan, chance_fit=0.0, chance_if_equal=0.0)
    return replace(plan, chance_if_equal=if_equal)


def _chance_in_part(
    units: RatedUnits, candidate: Candidate, *, p_value: float, margin: float
) -> float:
    """Return the chance that a candidate is found fit on its part; NaN without one."""
    if candidate.part is None or candidate.doubts is None:
        return math.nan
    is_seen = ~units.is_in("test")
    doubts = candidate.doubts
    compared = partial_comparison(
        outside_test(units),
        candidate.scores[is_seen],
        doubts[is_seen],
        candidate.part,
        margin=margin,
    )
    is_paired = np.count_nonzero(~np.isnan(units.ratings), axis=1) > 1
    is_decided = ~is_seen & is_paired & ~np.isnan(doubts) & ~np.isnan(candidate.scores)
    n_groups = units.n_groups_of(is_decided)
    if n_groups < FEWEST_PAIRED_GROUPS:
        return 0.0
    reach = compared.shortfall.scaled_to(n_groups).reach(p_value=p_value)
    return _chance(compared.shortfall, n_groups, reach=reach)


def _chance(effect: Jackknife, n_groups: int, *, reach: float) -> float:
    """Return the chance that an estimate with a number of groups lies more than `reach` above 0.

    The effect itself is known with an error, which is added to that of the test. NaN if undefined.
    """
    if not effect.standard_error > 0:
        return math.nan if math.isnan(effect.value) else float(effect.value > 0)
    error = effect.scaled_to(n_groups).standard_error
    return NormalDist().cdf((effect.value - reach) / math.hypot(error, effect.standard_error))


def why_not_evaluated(plans: Sequence[Plan], policy: EvaluationPolicy) -> str:
    """Return why a due evaluation is not made; empty if it is made.

    Without a defined chance, train and dev are no reason against it.
    """
    if policy == "never":
        return "tuning: {evaluate: never} is declared"
    chances = [
        (chance, f"{plan.judge_id} {plan.version} {claim}")
        for plan in plans
        for claim, chance in plan.chances.items()
    ]
    is_defined = all(not math.isnan(plan.chance_fit) for plan in plans)
    chance, claim = max(chances, default=(1.0, ""))
    if policy == "always" or not is_defined or chance >= LEAST_CHANCE:
        return ""
    return (
        f"by train and dev, {claim} with a chance of {percent_text(chance)} at best; "
        f"{percent_text(LEAST_CHANCE)} are needed. Label more groups, or declare tuning: "
        "{evaluate: always}"
    )


def plan_sentence(plans: Sequence[Plan]) -> str:
    """Return the power of the next evaluation of a question's test, in one line."""
    first = plans[0]
    judges = "; ".join(
        f"{plan.judge_id} {plan.version} "
        + ", ".join(f"{claim} {percent_text(chance)}" for claim, chance in plan.chances.items())
        for plan in plans
    )
    return (
        f"{first.question_id}: chances in evaluation {first.reading} of the held-out test, by "
        f"train and dev: {judges}"
    )


def most_requests(units: Mapping[str, RatedUnits], tuning: Tuning) -> int:
    """Return the largest number of requests of the prompt steps to one judge, without the writer's.

    What each step adds is scored on dev, and the best prompt on all rated units.
    """
    if not tuning.prompt_steps:
        return 0
    return sum(
        len(tuning.prompt_steps) * int(rated.is_in("dev").sum()) + len(rated.response_ids)
        for rated in units.values()
    )
