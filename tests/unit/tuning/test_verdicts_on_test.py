import math
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.tuning.partial_automation import JudgePart
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.verdicts_of_test import (
    Candidate,
    Verdicts,
    evaluation_rows,
    n_evaluable,
    parts_of,
    shared_significance,
    verdicts_on_test,
)
from eval_assets.tuning.versions import JudgeVersion
from tests.unit.tuning.made_up import judged, offered, simulated

DECLARED = JudgeVersion("gpt", "1.0.0", "declared", None, "f")
BETTER = replace(DECLARED, version="1.1.0", step="judge_guidelines", prompt_text="Look closely.")
FIGURES = (
    "kappa",
    "kappa_baseline",
    "gain_low",
    "gain_high",
    "kappa_people",
    "gap",
    "gap_low",
    "gap_high",
)


@pytest.fixture(scope="module")
def units() -> tuple[RatedUnits, np.ndarray]:
    """Sixty groups of train and sixty of the test, and the quality of every response."""
    rated, quality = simulated(120, seed=1)
    splits = np.where(np.arange(len(quality)) < len(quality) // 2, "train", "test")
    return replace(rated, splits=splits), quality


def read(
    units: RatedUnits, *candidates: Candidate, level: float = 0.025, people_agree: bool = True
) -> list[Verdicts]:
    return verdicts_on_test(
        units, candidates, significance=level, margin=0.1, people_agree=people_agree
    )


def test_candidates_are_tested_at_the_level_of_the_reading(
    units: tuple[RatedUnits, np.ndarray],
) -> None:
    rated, quality = units
    candidate = offered(BETTER, judged(quality, seed=2), judged(quality, seed=3))
    result = read(rated, candidate, candidate, level=0.01)

    assert {verdict.fitness.significance for verdict in result} == {0.01}
    assert {verdict.improvement.significance for verdict in result} == {0.01}


def test_only_labels_of_the_test_decide(units: tuple[RatedUnits, np.ndarray]) -> None:
    rated, quality = units
    candidate = offered(BETTER, judged(quality, seed=2), judged(quality, seed=3))
    other_place = rated.ratings.copy()
    other_place[rated.splits != "test"] = 1
    [before], [after] = read(rated, candidate), read(replace(rated, ratings=other_place), candidate)

    assert evaluation_rows([before], question_id="q", evaluation=1) == evaluation_rows(
        [after], question_id="q", evaluation=1
    )


def test_a_certificate_holds_when_one_claim_does(units: tuple[RatedUnits, np.ndarray]) -> None:
    rated, quality = units
    good, bad = np.clip(np.round(quality), 1, 5), judged(quality, seed=3, noise=1.3)
    worse = np.random.default_rng(4).integers(1, 6, len(quality)).astype(float)
    fit, improved, neither = read(
        rated,
        offered(DECLARED, good, None),
        offered(BETTER, bad, worse),
        offered(BETTER, worse, worse),
    )

    assert (fit.fitness.verdict, fit.is_certified) == ("fit", True)
    assert improved.improvement.verdict == "accepted"
    assert improved.fitness.verdict != "fit"
    assert improved.is_certified
    assert not neither.is_certified


def test_the_seal_keeps_figures_of_candidates_that_are_not_certified(
    units: tuple[RatedUnits, np.ndarray],
) -> None:
    rated, quality = units
    result = read(
        rated, offered(BETTER, judged(quality, seed=5, noise=3), judged(quality, seed=6, noise=3))
    )
    improvement, fitness = evaluation_rows(result, question_id="q", evaluation=1)

    assert (improvement["verdict"], fitness["verdict"]) == ("inconclusive", "unfit")
    assert {improvement[name] for name in FIGURES} == {None}
    assert {fitness[name] for name in (*FIGURES, "gain")} == {None}
    exact = result[0].improvement.compared.gain.value
    assert improvement["gain"] == pytest.approx(exact, abs=0.01)
    assert round(float(improvement["gain"]) / 0.02, 9).is_integer()  # type: ignore[arg-type]


def test_a_certified_candidate_shows_its_figures(units: tuple[RatedUnits, np.ndarray]) -> None:
    rated, quality = units
    result = read(rated, offered(BETTER, judged(quality, seed=7), judged(quality, seed=8, noise=3)))
    improvement, fitness = evaluation_rows(result, question_id="q", evaluation=1)

    assert improvement["gain"] == pytest.approx(
        improvement["kappa"] - improvement["kappa_baseline"]  # type: ignore[operator]
    )
    assert improvement["gain_low"] > 0  # type: ignore[operator]
    assert fitness["gap"] == pytest.approx(fitness["kappa"] - fitness["kappa_people"])  # type: ignore[operator]
    assert fitness["ratio"] == pytest.approx(
        (1 - fitness["kappa"]) / (1 - fitness["kappa_people"] + 0.1)  # type: ignore[operator]
    )
    assert fitness["ratio_low"] < fitness["ratio"] < fitness["ratio_high"]  # type: ignore[operator]


def test_opening_the_seal_shows_everything(units: tuple[RatedUnits, np.ndarray]) -> None:
    rated, quality = units
    result = read(rated, offered(BETTER, judged(quality, seed=5), judged(quality, seed=6)))
    for row in evaluation_rows(result, question_id="q", evaluation=1, is_shown=True):
        shown = ("gain_low",) if row["kind"] == "improvement" else ("gap_low",)
        assert all(row[name] is not None for name in ("kappa", *shown))


def test_what_is_not_evaluable_has_no_figure() -> None:
    few, quality = simulated(5, seed=1)
    result = read(few, offered(DECLARED, judged(quality, seed=2)))
    for row in evaluation_rows(result, question_id="q", evaluation=1):
        assert (row["verdict"], row["kappa"]) == ("not_evaluable", None)
        assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())


@pytest.mark.parametrize(("n_scored", "expected"), [(19, 1), (20, 2), (21, 2)])
def test_candidates_share_the_level_with_those_that_scored_twenty_rated_groups(
    n_scored: int, expected: int
) -> None:
    units, quality = simulated(30, seed=1, per_group=1)
    ratings = units.ratings.copy()
    ratings[:5] = np.nan
    units = replace(units, ratings=ratings)
    scores = judged(quality, seed=2)
    few = np.where(np.arange(30) < 5 + n_scored, scores, np.nan)

    assert n_evaluable(units, [offered(BETTER, scores), offered(BETTER, few)]) == expected


def test_a_part_is_judged_where_one_was_fixed(units: tuple[RatedUnits, np.ndarray]) -> None:
    rated, quality = units
    whole = offered(DECLARED, np.clip(np.round(quality), 1, 5))
    with_doubts = replace(whole, doubts=np.zeros(len(quality)))
    in_part = replace(with_doubts, part=JudgePart("other", 0.5))

    assert parts_of([whole, with_doubts, in_part]) == {"gpt": JudgePart("other", 0.5)}
    first, second, third = read(rated, whole, with_doubts, in_part)
    assert first.partial is second.partial is None
    assert third.is_fit_in_part


def test_a_candidate_and_its_part_share_the_level(units: tuple[RatedUnits, np.ndarray]) -> None:
    rated, quality = units
    whole = offered(DECLARED, judged(quality, seed=2))
    in_part = replace(whole, doubts=np.zeros(len(quality)), part=JudgePart("other", 0.5))

    assert shared_significance(rated, [whole], number=1) == 0.025
    assert shared_significance(rated, [in_part], number=1) == 0.025 / 2
