"""Power and cost of a reading of the test, before anything is spent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from eval_assets.config.tuning import Tuning
from eval_assets.stats import agreement_gain, groups_to_detect, non_inferiority
from eval_assets.tuning._candidates import SHOWN
from eval_assets.tuning._fitness import MIN_PAIRED_GROUPS, fitness_significance
from eval_assets.tuning.history import Seal
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.reading import Candidate
from eval_assets.tuning.seal_policy import MOST_READINGS, reading_significance
from eval_assets.tuning.sealed_evaluation import n_evaluable

WORTHWHILE_GAIN = 0.05
"""Gain that is planned for if nothing is known of the real one."""


@dataclass(frozen=True)
class Plan:
    """Power of the next reading of a question's test for one candidate.

    Attributes:
        judge_id: The judge.
        version: Number of its version; empty if it has none yet.
        question_id: The question.
        n_groups: Groups under the seal that have labels and scores.
        reading: Number of the next reading.
        level: Two-sided level of each test of that reading.
        expected_gain: Gain on train and dev; NaN if nothing changed. On train it flatters.
        detectable_gain: Gain that the test finds in 80 % of tries; NaN if nothing changed.
        groups_for_gain: Groups that would find the expected gain, or one of .05, in 80 %.
        chance_if_equal: Chance that a judge equal to people is found fit; NaN if undefined.
        groups_for_fitness: Groups that would find it fit in 80 % of tries.
    """

    judge_id: str
    version: str
    question_id: str
    n_groups: int
    reading: int
    level: float
    expected_gain: float
    detectable_gain: float
    groups_for_gain: int | None
    chance_if_equal: float
    groups_for_fitness: int | None


def plan_reading(
    units: RatedUnits, candidates: Sequence[Candidate], seal: Seal, *, margin: float
) -> list[Plan]:
    """Return the power of the next reading, without reading labels of the test.

    Errors are those on train and dev, scaled to the number of groups in the test.
    """
    open_to_all = units.splits != "test"
    seen = units.only(open_to_all)
    level = reading_significance(
        min(seal.next_reading, MOST_READINGS), n_candidates=max(n_evaluable(units, candidates), 1)
    )
    plans = []
    for candidate in candidates:
        is_test = (units.splits == "test") & ~np.isnan(candidate.scores)
        n_groups = units.n_groups_of(is_test)
        gain = _planned_gain(seen, candidate, open_to_all, n_groups=n_groups, level=level)
        fitness = _planned_fitness(
            seen, candidate, open_to_all, n_groups=n_groups, level=level, margin=margin
        )
        plans.append(
            Plan(
                judge_id=candidate.version.judge_id,
                version=candidate.version.version,
                question_id=units.question.id,
                n_groups=n_groups,
                reading=seal.next_reading,
                level=level,
                expected_gain=gain[0],
                detectable_gain=gain[1],
                groups_for_gain=gain[2],
                chance_if_equal=fitness[0],
                groups_for_fitness=fitness[1],
            )
        )
    return plans


def _planned_gain(
    seen: RatedUnits,
    candidate: Candidate,
    kept: np.ndarray,
    *,
    n_groups: int,
    level: float,
) -> tuple[float, float, int | None]:
    """Return the gain on train and dev, the detectable one, and groups that would find it."""
    gain = agreement_gain(
        seen.ratings,
        candidate.scores[kept],
        candidate.baseline[kept],
        level=seen.level,
        groups=seen.groups,
    ).gain
    if not gain.standard_error > 0 or n_groups < 2:  # noqa: PLR2004 - no degree of freedom
        return gain.value, math.nan, None
    there = gain.scaled_to(n_groups)
    detectable = there.detectable(significance=level)
    target = gain.value if gain.value > 0 else WORTHWHILE_GAIN
    return (
        gain.value,
        detectable,
        groups_to_detect(target, detectable=detectable, n_groups=n_groups),
    )


def _planned_fitness(  # noqa: PLR0913 - as above, with the margin
    seen: RatedUnits,
    candidate: Candidate,
    kept: np.ndarray,
    *,
    n_groups: int,
    level: float,
    margin: float,
) -> tuple[float, int | None]:
    """Return the chance that a judge equal to people is found fit, and groups for 80 %."""
    compared = non_inferiority(
        seen.ratings, candidate.scores[kept], margin=margin, level=seen.level, groups=seen.groups
    )
    distance, error = 1 - compared.people.value, compared.shortfall.standard_error
    if not (distance > 0 and error > 0) or n_groups < 2:  # noqa: PLR2004
        return math.nan, None
    there = compared.shortfall.scaled_to(n_groups)
    equal = math.log((distance + margin) / distance)
    level = fitness_significance(level)
    critical = there.critical_value(significance=level)
    chance = NormalDist().cdf(equal / there.standard_error - critical)
    detectable = there.detectable(significance=level)
    groups = groups_to_detect(equal, detectable=detectable, n_groups=n_groups)
    return chance if n_groups >= MIN_PAIRED_GROUPS else 0.0, max(groups, MIN_PAIRED_GROUPS)


def most_requests(units: Mapping[str, RatedUnits], tuning: Tuning) -> int:
    """Return how often the steps of prompts ask one judge at most, the writer's texts left out.

    Every candidate is tried on the worst disagreements of train and scored on dev, and the best
    one on all rated units.
    """
    if not tuning.prompt_steps:
        return 0
    searched = tuning.rounds * tuning.candidates if "prompt_candidates" in tuning.steps else 0
    single = sum(step != "prompt_candidates" for step in tuning.prompt_steps)
    return sum(
        searched * SHOWN
        + (searched + single) * int((rated.splits == "dev").sum())
        + len(rated.response_ids)
        for rated in units.values()
    )
