"""Evaluations of held-out test labels: the verdicts on all candidates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from eval_assets.tuning.claim_results import (
    MIN_TEST_GROUPS,
    FitnessResult,
    ImprovementResult,
    coarse_gain,
    evaluation_significance,
    judge_fitness,
    judge_improvement,
)
from eval_assets.tuning.partial_automation import JudgePart
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.versions import JudgeVersion
from eval_assets.wording import or_none

Row = dict[str, object]

PARTIAL = "fitness_in_part"
"""Kind of the verdict on a judge that scores a part of the responses."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A version that was fixed before the test is read.

    `raw` are the judge's scores before any map, `baseline` those of the judge that the version
    would replace. All are NaN where missing. `part` is the part of the responses that the version
    may score alone, with the doubts that decide it; None if no part is tested.
    """

    version: JudgeVersion
    scores: Floats
    raw: Floats
    baseline: Floats
    part: JudgePart | None = None
    doubts: Floats | None = None


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Result of one evaluation for one candidate on one question."""

    version: JudgeVersion
    fitness: FitnessResult
    improvement: ImprovementResult
    partial: FitnessResult | None = None

    @property
    def results(self) -> tuple[ImprovementResult | FitnessResult, ...]:
        """The verdict on each claim."""
        whole = self.improvement, self.fitness
        return whole if self.partial is None else (*whole, self.partial)

    @property
    def is_fit_in_part(self) -> bool:
        """Return whether the version may score a part of the responses alone."""
        return self.partial is not None and self.partial.verdict == "fit"

    @property
    def is_certified(self) -> bool:
        """Return whether one of the claims holds."""
        return (
            self.improvement.verdict == "accepted"
            or self.fitness.verdict == "fit"
            or self.is_fit_in_part
        )


def n_evaluable(units: RatedUnits, candidates: Sequence[Candidate]) -> int:
    """Return the number of candidates with scores of enough rated groups for a verdict.

    The others get no verdict, whatever the labels say.
    """
    is_rated = units.is_in("test") & ~np.isnan(units.ratings).all(axis=1)
    n_groups = [units.n_groups_of(is_rated & ~np.isnan(c.scores)) for c in candidates]
    return sum(n >= MIN_TEST_GROUPS for n in n_groups)


def parts_of(candidates: Sequence[Candidate]) -> dict[str, JudgePart]:
    """Return the parts of the responses that are tested, by judge."""
    return {c.version.judge_id: c.part for c in candidates if c.part is not None}


def shared_significance(
    units: RatedUnits, candidates: Sequence[Candidate], *, number: int
) -> float:
    """Return the level of each test of an evaluation: candidates and their parts share it."""
    n_tests = n_evaluable(units, candidates) + len(parts_of(candidates))
    return evaluation_significance(number, n_candidates=max(n_tests, 1))


def verdicts_on_test(
    units: RatedUnits,
    candidates: Sequence[Candidate],
    *,
    significance: float,
    margin: float,
    people_agree: bool,
) -> list[Verdicts]:
    """Return the verdicts on all candidates of a question: the only use of its test labels.

    Candidates were fixed before the evaluation; `significance` is the level of each.
    """
    is_test = units.is_in("test")
    test, n_train_groups = units.part("test"), units.part("train").n_groups
    fitness = partial(
        judge_fitness, test, margin=margin, significance=significance, people_agree=people_agree
    )
    return [
        Verdicts(
            version=candidate.version,
            fitness=fitness(candidate.scores[is_test]),
            improvement=judge_improvement(
                test,
                candidate.scores[is_test],
                candidate.baseline[is_test],
                significance=significance,
                n_train_groups=n_train_groups,
            ),
            partial=None
            if candidate.part is None or candidate.doubts is None
            else fitness(
                candidate.scores[is_test], doubts=candidate.doubts[is_test], part=candidate.part
            ),
        )
        for candidate in candidates
    ]


def evaluation_rows(
    verdicts: Sequence[Verdicts], *, question_id: str, evaluation: int, is_shown: bool = False
) -> list[Row]:
    """Return rows of `tuned_judge_evaluation`, without the figures that stay hidden."""
    return [
        {
            "judge_id": verdict.version.judge_id,
            "version": verdict.version.version,
            "question_id": question_id,
            "reading": evaluation,
            **verdict_row(claim, is_shown=is_shown),
        }
        for verdict in verdicts
        for claim in verdict.results
    ]


_FIGURES = (
    *("kappa", "kappa_baseline", "gain", "gain_low", "gain_high"),
    *("kappa_people", "gap", "gap_low", "gap_high", "margin"),
    *("ratio", "ratio_low", "ratio_high"),
)


def verdict_row(verdict: ImprovementResult | FitnessResult, *, is_shown: bool) -> Row:
    """Return a verdict with the figures that may be shown; the others are None."""
    of_part: Row = {}
    if isinstance(verdict, ImprovementResult):
        kind, n_groups = "improvement", verdict.compared.gain.n_groups
        figures = _improvement_figures(verdict, is_shown=is_shown)
    else:
        kind, n_groups = "fitness", verdict.compared.shortfall.n_groups
        figures = _fitness_figures(verdict, is_shown=is_shown)
        if verdict.part is not None:
            kind = PARTIAL
            of_part = {"share": or_none(verdict.compared.share), **vars(verdict.part)}
    return {
        **dict.fromkeys(_FIGURES),
        **of_part,
        **{name: or_none(value) for name, value in figures.items()},
        "kind": kind,
        "n_units": verdict.compared.n_units,
        "n_groups": n_groups,
        "level": verdict.significance,
        "groups_wanted": verdict.groups_wanted,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
    }


def _improvement_figures(improvement: ImprovementResult, *, is_shown: bool) -> dict[str, float]:
    compared = improvement.compared
    if is_shown or improvement.verdict == "accepted":
        low, high = compared.gain.ends(significance=improvement.significance)
        return {
            "kappa": compared.candidate.value,
            "kappa_baseline": compared.baseline.value,
            "gain": compared.gain.value,
            "gain_low": low,
            "gain_high": high,
        }
    if improvement.verdict in ("inconclusive", "rejected"):
        return {"gain": coarse_gain(compared.gain.value)}
    return {}


def _fitness_figures(fitness: FitnessResult, *, is_shown: bool) -> dict[str, float]:
    compared = fitness.compared
    if not (is_shown or fitness.verdict == "fit"):
        return {"margin": fitness.margin}
    low, high = fitness.gap_ends
    ratio_low, ratio_high = fitness.ratio_ends
    return {
        "ratio": math.exp(-compared.shortfall.value),
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "kappa": compared.judge.value,
        "kappa_people": compared.people.value,
        "gap": compared.gap.value,
        "gap_low": low,
        "gap_high": high,
        "margin": fitness.margin,
    }
