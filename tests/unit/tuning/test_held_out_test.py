from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from eval_assets.stats import concordance
from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.held_out_test import (
    candidates_for,
    completed_evaluation,
    due_evaluation,
    evaluate_if_due,
    recomputed_certificates,
    shown_test,
    unevaluated_rows,
    unspent_units,
    why_not_evaluable,
    without_repeated_ratings,
)
from eval_assets.tuning.history import HeldOutEvaluation, QuestionTest
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import (
    TunedJudge,
    VersionScores,
    calibrated_version,
    declared_version,
    mapped_judge,
)
from eval_assets.tuning.verdicts_of_test import verdicts_on_test
from tests.unit.tuning.made_up import BINARY, judged, rated_units, simulated

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
BACKGROUND = Background(
    margin=0.1,
    people_agree=True,
    human_agreement={"a_hh": 0.8},
    cost_per_1000_usd={("gpt", ""): 0.2},
    models_returned={"gpt": ("gpt-1",)},
)


def made(n_groups: int = 120, *, seed: int = 1) -> tuple[RatedUnits, TunedJudge]:
    units, quality = simulated(n_groups, seed=seed, split=None)
    return units, judge_of(judged(quality, seed=2, noise=0.5))


def judge_of(scores: np.ndarray) -> TunedJudge:
    declared = declared_version("gpt", fingerprint="f", prompt_text="")
    return mapped_judge(replace(declared, version="1.0.0"), {"q": scores}, replaced={})


class Recorded:
    """A ledger of some readings."""

    def __init__(self, evaluations: list[HeldOutEvaluation]) -> None:
        self._readings = evaluations

    def evaluations(self, question_id: str) -> list[HeldOutEvaluation]:
        """Return the readings of a question."""
        return [reading for reading in self._readings if reading.question_id == question_id]

    def evaluations_elsewhere(self, question_id: str) -> list[HeldOutEvaluation]:
        """Return the readings of other questions."""
        return [reading for reading in self._readings if reading.question_id != question_id]

    def record(self, reading: HeldOutEvaluation) -> None:
        """Add a reading."""
        self._readings.append(reading)

    def release(self, reading: HeldOutEvaluation) -> None:
        """Replace the last reading."""
        self._readings[-1] = reading


def read(
    units: RatedUnits, judge: TunedJudge, past: list[HeldOutEvaluation], *, on_request: bool = False
) -> tuple[HeldOutEvaluation, bool]:
    """The reading that holds, made if it is due."""
    seal = QuestionTest.of(past)
    live, candidates = unspent_units(units, seal), candidates_for(units, seal, [judge])
    reading, is_new = due_evaluation(live, candidates, seal, on_request=on_request, now=NOW)
    return (
        completed_evaluation(reading, live, candidates, BACKGROUND) if is_new else reading
    ), is_new


def test_the_first_reading_is_made_and_the_same_is_not_made_again() -> None:
    units, judge = made()
    first, is_new = read(units, judge, [])
    repeat, is_new_again = read(units, judge, [first], on_request=True)

    assert (is_new, first.number, first.level) == (True, 1, 0.025)
    assert first.certificates["gpt"].holds == ("fit",)
    assert [row["kind"] for row in first.rows] == ["improvement", "fitness"]
    assert first.certificates["gpt"].cost_per_1000_usd == 0.2
    assert first.certificates["gpt"].evidence.models_returned == ("gpt-1",)
    assert (repeat, is_new_again) == (first, False)


def test_a_reading_that_was_written_down_and_not_made_is_made_under_its_number() -> None:
    units, judge = made()
    first, _ = read(units, judge, [])
    resumed, is_new = read(units, judge, [replace(first, rows=(), certificates={})])

    assert (resumed, is_new) == (first, True)


def test_changed_labels_are_read_when_somebody_asks() -> None:
    units, judge = made()
    first, _ = read(units, judge, [])
    ratings = units.ratings.copy()
    ratings[units.splits == "test", 0] = 3
    changed = replace(units, ratings=ratings)
    unasked, is_new = read(changed, judge, [first])
    repeated, _ = read(changed, judge, [first], on_request=True)

    assert (unasked, is_new) == (first, False)
    assert (repeated.number, repeated.level) == (2, 0.05 / 6)


def test_what_a_reading_shows_depends_on_no_label_outside_the_test() -> None:
    units, judge = made()
    ratings = units.ratings.copy()
    ratings[units.splits == "dev"] = 2
    first, _ = read(units, judge, [])
    other, _ = read(replace(units, ratings=ratings), judge, [])

    assert other.rows == first.rows
    assert other.content == first.content


def test_new_labels_form_a_new_seal_once_the_old_one_is_spent() -> None:
    units, judge = made()
    first, _ = read(units, judge, [])
    spent = [replace(first, number=k) for k in range(1, 21)]
    seal = QuestionTest.of(spent)

    assert unspent_units(units, seal).part("test").n_groups == 0
    live, candidates = unspent_units(units, seal), candidates_for(units, seal, [judge])
    n_shown = len(first.groups)
    assert why_not_evaluable(live, candidates, seal) == (
        f"0 rated groups in the test; 20 are needed beside the {n_shown} whose labels were shown"
        ", which takes about 60 more rated groups"
    )

    more, quality = simulated(240, seed=1, split=None)
    judge_of_more = judge_of(judged(quality, seed=2, noise=0.5))
    reading, is_new = read(more, judge_of_more, spent)
    assert (is_new, reading.seal, reading.number) == (True, 2, 1)
    assert not set(reading.groups) & set(first.groups)


@pytest.mark.parametrize(
    ("n_groups", "reason"),
    [
        (
            10,
            (
                "6 rated groups in train and 2 rated groups in the test; 10 and 20 are needed, "
                "which takes about 90 more rated groups"
            ),
        ),
        (40, "11 rated groups in the test; 20 are needed, which takes about 33 more rated groups"),
        (120, ""),
    ],
)
def test_a_small_test_is_not_read_and_costs_no_reading(n_groups: int, reason: str) -> None:
    units, judge = made(n_groups)
    seal = QuestionTest.of([])

    assert why_not_evaluable(units, candidates_for(units, seal, [judge]), seal) == reason


def test_groups_that_were_shown_count_for_the_shares_of_the_splits() -> None:
    """Of 10 rated and 106 spent groups 6 are in train: 4 more take about 4 * 116 / 6 groups."""
    units, judge = made(10)
    seal = QuestionTest(2, (), frozenset(map(str, range(106))))

    assert why_not_evaluable(units, candidates_for(units, seal, [judge]), seal) == (
        "6 rated groups in train and 2 rated groups in the test; 10 and 20 are needed beside the "
        "106 whose labels were shown, which takes about 78 more rated groups"
    )


def test_rows_of_a_test_that_is_not_read_say_why_and_hold_nothing_else() -> None:
    units, judge = made(10)
    [candidate] = candidates_for(units, QuestionTest.of([]), [judge])
    rows = unevaluated_rows("q", [candidate], reason="too few")

    assert [(row["kind"], row["verdict"], row["reason"]) for row in rows] == [
        ("improvement", "not_evaluable", "too few"),
        ("fitness", "not_evaluable", "too few"),
    ]


def test_no_test_is_evaluated_that_is_not_held_out() -> None:
    units, judge = made()
    ledger = Recorded([])
    shown = replace(BACKGROUND, not_held_out="tuning: {holdout: false} is declared")

    rows, is_new = evaluate_if_due(ledger, units, [judge], shown, on_request=True, policy="always")

    assert not is_new
    assert not ledger.evaluations("q")
    assert {(row["verdict"], row["reason"]) for row in rows} == {
        ("not_evaluable", "tuning: {holdout: false} is declared")
    }


def test_a_test_is_shown_before_that_is_recorded_and_shown_again_after() -> None:
    units, judge = made()
    ledger = Recorded([])
    rows, shown = shown_test(ledger, units, [judge], BACKGROUND)

    assert shown is not None
    assert not ledger.evaluations("q")
    assert [row["kappa"] for row in rows if row["kind"] == "fitness"] != [None]
    ledger.record(shown)
    assert shown_test(ledger, units, [judge], BACKGROUND) == (rows, None)


def test_a_judge_without_a_score_in_the_test_is_not_a_candidate() -> None:
    units, judge = made()
    empty = replace(judge, scores={"q": np.full(len(units.response_ids), np.nan)})

    seal = QuestionTest.of([])
    assert candidates_for(units, seal, [empty]) == []
    assert why_not_evaluable(units, [], seal) == "no judge scored the test"


def test_opening_a_seal_shows_what_the_last_reading_kept() -> None:
    units, judge = made()
    first, _ = read(units, judge, [])
    seal = QuestionTest.of([first])
    opened = completed_evaluation(
        first,
        unspent_units(units, seal),
        candidates_for(units, seal, [judge]),
        BACKGROUND,
        is_shown=True,
    )

    assert all(row["kappa"] is not None for row in opened.rows)


def test_a_judge_that_repeats_a_rater_is_no_candidate() -> None:
    units, _ = made()
    copy = candidates_for(units, QuestionTest.of([]), [judge_of(units.ratings[:, 0])])
    candidates, rows = without_repeated_ratings(units, copy)

    assert candidates == []
    assert {row["verdict"] for row in rows} == {"not_evaluable"}
    assert rows[0]["reason"] == (
        "its scores equal the ratings of one rater on all responses that both rated"
    )
    _, judge = made()
    other = candidates_for(units, QuestionTest.of([]), [judge])
    assert without_repeated_ratings(units, other) == (other, [])


def test_the_judge_as_declared_is_evaluated_where_the_test_rejects_its_map() -> None:
    """On train the judge is a point too high, so that it gets a map which harms on the test."""
    units, quality = simulated(120, seed=1, split=None)
    raw = judged(quality, seed=2, noise=0.4)
    is_train = units.splits == "train"
    raw[is_train] = np.clip(raw[is_train] + 1, 1, 5)
    declared = replace(declared_version("gpt", fingerprint="f", prompt_text=""), version="1.0.0")
    calibrated = calibrated_version(declared, {"q": units}, {"q": raw})
    version = replace(calibrated, version="1.0.1")
    judge = mapped_judge(version, {"q": raw}, replaced={})
    assert version.parent == "1.0.0"

    reading, _ = read(units, judge, [])
    repeat, is_new = read(units, judge, [reading], on_request=True)

    verdicts = {(row["version"], row["kind"]): row["verdict"] for row in reading.rows}
    assert verdicts["1.0.1", "improvement"] == "rejected"
    assert verdicts["1.0.0", "fitness"] == "fit"
    assert [candidate.version for candidate in reading.candidates] == ["1.0.0"]
    assert reading.certificates["gpt"].holds == ("fit",)
    assert (repeat, is_new) == (reading, False)

    scores = VersionScores({"q": replace(units, scores={"gpt": raw})}, {}, [declared, version])
    ledger = Recorded([reading])
    recomputed = recomputed_certificates(ledger, scores, reading, BACKGROUND)
    assert recomputed == reading.certificates


def test_a_judge_keeps_a_map_that_the_test_does_not_reject() -> None:
    """The judge is a point too high everywhere."""
    units, quality = simulated(120, seed=1, split=None)
    raw = np.clip(judged(quality, seed=2, noise=0.4) + 1, 1, 5)
    declared = replace(declared_version("gpt", fingerprint="f", prompt_text=""), version="1.0.0")
    version = replace(calibrated_version(declared, {"q": units}, {"q": raw}), version="1.0.1")
    reading, _ = read(units, mapped_judge(version, {"q": raw}, replaced={}), [])

    assert [row["verdict"] for row in reading.rows] == ["accepted", "fit"]
    assert [candidate.version for candidate in reading.candidates] == ["1.0.1"]


def test_a_judge_of_a_binary_question_keeps_its_fractions_as_declared() -> None:
    rng = np.random.default_rng(7)
    chance = rng.uniform(size=400)
    people = (rng.random((400, 3)) < chance[:, None]).astype(float)
    groups = np.repeat([f"g{k}" for k in range(100)], 4)
    units = rated_units(people, groups=groups, scale=BINARY, level="nominal")
    raw = np.round(0.4 + 0.2 * chance, 3)
    declared = replace(declared_version("gpt", fingerprint="f", prompt_text=""), version="1.0.0")
    mapped = calibrated_version(declared, {"q": units}, {"q": raw})
    is_test = units.splits == "test"
    test = units.part("test")

    for version in (declared, mapped):
        judge = mapped_judge(version, {"q": raw}, replaced={})
        candidates = candidates_for(units, QuestionTest.of([]), [judge])
        [verdict] = verdicts_on_test(
            units, candidates, significance=0.025, margin=0.1, people_agree=True
        )
        assert verdict.improvement.compared.baseline.value == pytest.approx(
            concordance(test.ratings, raw[is_test]), abs=1e-12
        )
        if version is declared:
            assert candidates[0].scores.tolist() == raw.tolist()
    assert mapped.maps
    assert set(mapped.mapped("q", raw)) == {0.0, 1.0}


def test_only_candidates_that_can_be_evaluated_share_the_level() -> None:
    units, judge = made()
    [candidate] = candidates_for(units, QuestionTest.of([]), [judge])
    few = candidate.scores.copy()
    few[np.flatnonzero(units.splits == "test")[8:]] = np.nan
    unscored = [replace(candidate, scores=few, raw=few)] * 6

    reading, _ = due_evaluation(
        units, [candidate, *unscored], QuestionTest.of([]), on_request=False, now=NOW
    )

    assert reading.level == 0.025
    assert (
        why_not_evaluable(units, unscored, QuestionTest.of([]))
        == "no judge scored 20 rated groups of the test"
    )
