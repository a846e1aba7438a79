"""Parts of the responses that a judge scores, chosen on train and dev and tested once."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.claim_results import judge_fitness
from eval_assets.tuning.history import Seal, SealedEvaluation
from eval_assets.tuning.partial_automation import (
    MOST_THRESHOLDS,
    OTHER_JUDGES,
    REPLICATES,
    JudgePart,
    chosen_part,
    doubts_by_source,
    judge_part,
    tried_parts,
)
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.sealed_evaluation import (
    NextReading,
    candidates_for,
    due_reading,
    make_reading,
    part_rows,
    with_tested_parts,
)
from eval_assets.tuning.steps import TunedJudge, declared_version, mapped_judge
from tests.unit.tuning.made_up import judged, simulated

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
BACKGROUND = Background(
    margin=0.1,
    people_agree=True,
    human_agreement={},
    cost_per_1000_usd={},
    models_returned={},
    stand_in=True,
)


def partly_wrong(n_groups: int = 400, *, seed: int = 1) -> tuple[RatedUnits, dict[str, np.ndarray]]:
    """Units with a judge that is wrong on a fifth of them, and one that is always right."""
    units, quality = simulated(n_groups, seed=seed, split=None)
    rng = np.random.default_rng(seed)
    right = np.clip(np.round(quality), 1, 5)
    wrong = rng.random(len(quality)) < 0.2
    broken = np.where(wrong, rng.integers(1, 6, len(quality)), judged(quality, seed=2, noise=0.4))
    return units, {"broken": broken.astype(float), "right": right}


def judges_of(scores: dict[str, np.ndarray]) -> list[TunedJudge]:
    return [
        mapped_judge(
            replace(declared_version(name, fingerprint=name, prompt_text=""), version="1.0.0"),
            {"q": values},
            stands={},
        )
        for name, values in scores.items()
    ]


def read(
    units: RatedUnits,
    scores: dict[str, np.ndarray],
    background: Background = BACKGROUND,
    past: list[SealedEvaluation] | None = None,
) -> SealedEvaluation:
    seal = Seal.of(past or [])
    candidates = candidates_for(units, seal, judges_of(scores))
    candidates = with_tested_parts(units, candidates, seal, background)
    reading, _ = due_reading(units, candidates, seal, on_request=True, now=NOW)
    return make_reading(reading, units, candidates, background)


def test_doubts_are_distances_to_others_and_spreads_of_replicates() -> None:
    scores = {
        "a": np.array([1.0, 2.0, np.nan]),
        "b": np.array([2.0, 2.0, 1.0]),
        "c": np.array([4.0, np.nan, 1.0]),
    }
    spread = np.array([0.5, 0.0, 1.0])
    doubts = doubts_by_source("a", scores, spread, is_ordered=True)

    assert set(doubts) == {"b", "c", OTHER_JUDGES, REPLICATES}
    np.testing.assert_array_equal(doubts["b"], [1, 0, np.nan])
    np.testing.assert_array_equal(doubts[OTHER_JUDGES], [2, np.nan, np.nan])
    np.testing.assert_array_equal(doubts[REPLICATES], [0.5, 0, np.nan])


def test_classes_without_order_only_differ_or_not() -> None:
    scores = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([3.0, 2.0, np.nan])}
    doubts = doubts_by_source("a", scores, None, is_ordered=False)

    assert set(doubts) == {"b"}
    np.testing.assert_array_equal(doubts["b"], [1, 0, np.nan])


def test_a_part_with_all_units_is_tested_like_the_judge_on_all() -> None:
    units, quality = simulated(60, seed=3)
    scores, doubts = judged(quality, seed=4), np.zeros(len(quality))
    whole = judge_fitness(units, scores, margin=0.1, significance=0.025, people_agree=True)
    part = judge_part(
        units,
        scores,
        doubts,
        JudgePart("b", 0.0),
        margin=0.1,
        significance=0.025,
        people_agree=True,
    )

    assert part.fitness.compared == whole.compared
    assert part.fitness.verdict == whole.verdict


def test_the_part_is_chosen_without_labels_of_the_test() -> None:
    units, scores = partly_wrong()
    relabelled = units.ratings.copy()
    relabelled[units.splits == "test"] = 3
    doubts = doubts_by_source("broken", scores, None, is_ordered=True)
    chosen = [
        chosen_part(tried_parts(rated, scores["broken"], doubts, margin=0.1, significance=0.0125))
        for rated in (units, replace(units, ratings=relabelled))
    ]

    assert chosen[0] is not None
    assert chosen[0].part.doubt_source == "right"
    assert 0.6 < chosen[0].compared.share < 1
    assert chosen[0] == chosen[1]


def test_at_most_twelve_thresholds_are_tried() -> None:
    units, quality = simulated(200, seed=5, split=None)
    doubts = {"b": np.random.default_rng(1).random(len(quality))}
    tried = tried_parts(units, judged(quality, seed=2), doubts, margin=0.1, significance=0.0125)

    assert len(tried) == MOST_THRESHOLDS


def test_a_judge_that_is_expected_to_be_fit_gets_no_part() -> None:
    units, scores = partly_wrong()
    reading = read(units, {"right": scores["right"], "broken": scores["broken"]})

    assert set(reading.parts) == {"broken"}


def test_the_tested_part_is_marked_among_those_tried() -> None:
    units, scores = partly_wrong()
    seal = Seal.of([])
    candidates = with_tested_parts(
        units, candidates_for(units, seal, judges_of(scores)), seal, BACKGROUND
    )
    reading = NextReading(units, candidates, seal, BACKGROUND)

    rows = part_rows(reading)

    [chosen] = [row for row in rows if row["is_chosen"]]
    assert len(rows) > 1
    assert (chosen["judge_id"], chosen["doubt_source"]) == ("broken", "right")


def test_a_part_shares_the_level_and_is_certified() -> None:
    units, scores = partly_wrong()
    reading = read(units, scores)
    rows = {(row["judge_id"], row["kind"]): row for row in reading.rows}
    certificate = reading.certificates["broken"]

    assert reading.level == pytest.approx(0.025 / 3)
    assert rows["broken", "fitness"]["verdict"] != "fit"
    part = rows["broken", "fitness_in_part"]
    assert (part["verdict"], part["doubt_source"]) == ("fit", "right")
    assert certificate.claim == "fit_in_part"
    assert certificate.claims.fitness_in_part is not None
    assert certificate.claims.fitness_in_part.share == part["share"]
    assert certificate.evidence.doubts is not None
    assert "can replace a rater on" in certificate.summary


def test_no_part_is_tested_where_it_is_declared_off_or_people_disagree() -> None:
    units, scores = partly_wrong()

    assert not read(units, scores, replace(BACKGROUND, stand_in=False)).parts
    assert not read(units, scores, replace(BACKGROUND, people_agree=False)).parts


def test_the_parts_of_a_reading_stay_when_it_is_repeated() -> None:
    units, scores = partly_wrong()
    first = read(units, scores)
    again = read(units, scores, past=[first])

    assert (again.number, again.parts, again.content) == (1, first.parts, first.content)
    assert (
        SealedEvaluation.from_json(
            first.as_json(), question_id="q", seal=1, number=1, level=first.level, read_at=NOW
        ).parts
        == first.parts
    )


@pytest.mark.parametrize(("n_kept", "expected"), [(19, False), (20, True)])
def test_a_part_is_tested_from_twenty_groups_of_the_test_on(
    n_kept: int,
    expected: bool,  # noqa: FBT001
) -> None:
    """All other groups of the test have doubts, so that they could decide, and are not kept."""
    units, scores = partly_wrong()
    is_test = units.splits == "test"
    kept = np.unique(units.groups[is_test])[:n_kept]
    doubts = np.where(is_test & ~np.isin(units.groups, kept), 1.0, 0.0)
    [part] = tried_parts(units, scores["right"], {"b": doubts}, margin=0.1, significance=0.025)

    assert part.is_confirmable is expected


@pytest.mark.parametrize("n_single", [1, None])
def test_a_part_without_rater_pairs_on_train_and_dev_is_not_expected_to_be_confirmed(
    n_single: int | None,
) -> None:
    units, scores = partly_wrong()
    doubts = np.where(units.splits == "test", 0.0, 1.0)
    single = np.flatnonzero(units.splits != "test")[:n_single]
    doubts[single] = 0
    units.ratings[single, 1:] = np.nan
    part, *_ = tried_parts(units, scores["right"], {"b": doubts}, margin=0.1, significance=0.025)

    assert not part.compared.share > 0
    assert not part.is_confirmable
