import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import Labelling
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling._advice import Findings, advice_on
from eval_assets.labelling.gold_answers import CheckResult
from eval_assets.labelling.quality import MEASURES, QualityFigure, measure_quality
from eval_assets.labelling.session_frames import ControlUnit
from eval_assets.scale import BINARY, Scale
from eval_assets.stats import krippendorff_alpha
from tests.unit.labelling.conftest import CLARITY, CORRECT, evaluation_of

NO_HISTORY = pd.DataFrame(
    columns=["response_id", "question_id", "rater_id", "kind", "before", "after"]
)
GOOD = [1, 2, 3, 4, 5] * 6
"""Thirty ratings that use the whole scale."""


def labels(
    ratings: Mapping[str, Sequence[float]],
    question: RubricQuestion = CLARITY,
    **columns: object,
) -> pd.DataFrame:
    """Labels of each rater, in the order in which they were given; NaN is a skip."""
    frames = [
        pd.DataFrame(
            {
                "response_id": [f"a{k:02}" for k in range(len(values))],
                "question_id": question.id,
                "rater_id": rater,
                "value": np.asarray(values, dtype=float),
                "skipped": [math.isnan(value) for value in values],
                "confidence": "high",
                "labelled_at": [f"2026-11-21T09:{k:02}:00Z" for k in range(len(values))],
                "seconds": 8.0,
                "words": 20.0,
                "is_outdated": False,
            }
        )
        for rater, values in ratings.items()
    ]
    return pd.concat(frames, ignore_index=True).assign(**columns)  # type: ignore[arg-type]


def figures(  # noqa: PLR0913 - one for each source
    evaluation: Evaluation,
    value: pd.DataFrame,
    *,
    history: pd.DataFrame = NO_HISTORY,
    assigned: Mapping[tuple[str, str], int] | None = None,
    controls: Mapping[ControlUnit, float] | None = None,
    checks: Mapping[tuple[str, str, str], CheckResult] | None = None,
) -> dict[tuple[str, str], QualityFigure]:
    result = measure_quality(
        evaluation,
        lambda question: value[value["question_id"] == question.id],
        history,
        assigned=assigned or {},
        controls=controls or {},
        checks=checks or {},
    )
    return {(figure.rater_id, figure.measure): figure for figure in result}


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    return evaluation_of(tmp_path, rubric=(CLARITY,))


def test_raters_who_agree_and_use_the_scale_need_no_advice(evaluation: Evaluation) -> None:
    result = figures(evaluation, labels({"anna": GOOD, "ben": GOOD, "cleo": GOOD}))

    assert result["anna", "agreement"].value == 1
    assert result["anna", "severity"].value == 0
    assert result["anna", "alpha_without"].value == 1
    assert {figure.advice for figure in result.values()} == {""}


def test_every_figure_is_one_of_those_declared(evaluation: Evaluation) -> None:
    inputs = labels({"anna": GOOD, "ben": [*GOOD[:-1], math.nan]})

    assert {measure for _, measure in figures(evaluation, inputs)} <= set(MEASURES)


def test_severity_is_the_mean_difference_in_share_of_the_scale(evaluation: Evaluation) -> None:
    result = figures(evaluation, labels({"anna": [2] * 12, "ben": [4] * 12, "cleo": [3] * 12}))

    assert result["anna", "severity"].value == pytest.approx(-1.5 / 4)
    assert "rates 38% of the scale lower" in result["anna", "severity"].advice


def test_one_value_throughout_is_noticed_only_if_others_told_responses_apart(
    evaluation: Evaluation,
) -> None:
    apart = figures(evaluation, labels({"anna": [3] * 30, "ben": GOOD}))
    alike = figures(evaluation, labels({"anna": [3] * 30, "ben": [3] * 30}))

    assert "one and the same value 30 times" in apart["anna", "most_frequent_share"].advice
    assert alike["anna", "most_frequent_share"].advice == ""


def test_opposite_ends_are_counted_on_any_scale(tmp_path: Path) -> None:
    question = RubricQuestion("fit", "?", Scale.from_steps(low=1, high=4), "ordinal")
    evaluation = evaluation_of(tmp_path, rubric=(question,))
    upright, reversed_ = 10 * [4, 1, 2, 3], 10 * [1, 4, 2, 3]
    inputs = labels({"anna": reversed_, "ben": upright, "cleo": upright}, question)
    result = figures(evaluation, inputs)

    assert result["anna", "opposite_ends"].value == 0.5
    assert "20 responses at opposite ends" in result["anna", "opposite_ends"].advice
    assert result["ben", "opposite_ends"].value == 0.5
    assert result["ben", "opposite_ends"].advice == ""


def test_of_two_values_nobody_is_said_to_be_at_opposite_ends(tmp_path: Path) -> None:
    question = RubricQuestion("safe", "?", BINARY, "nominal")
    evaluation = evaluation_of(tmp_path, rubric=(question,))
    result = figures(evaluation, labels({"anna": [0, 1, 1, 0], "ben": [1, 0, 1, 0]}, question))

    assert result["anna", "opposite_ends"].value == 0.5
    assert result["anna", "opposite_ends"].advice == ""


def test_alpha_without_a_rater_is_alpha_of_the_others(evaluation: Evaluation) -> None:
    rng = np.random.default_rng(5)
    noise = rng.integers(1, 6, 30).tolist()
    result = figures(evaluation, labels({"anna": GOOD, "ben": GOOD, "cleo": noise}))

    assert result["cleo", "alpha_without"].value == 1
    alpha = krippendorff_alpha(np.column_stack([GOOD, noise]), level="ordinal")
    assert result["ben", "alpha_without"].value == pytest.approx(alpha)
    assert "Without cleo alpha would be 1.00" in result["cleo", "alpha_without"].advice


def test_advice_names_the_gate_that_the_question_fails(evaluation: Evaluation) -> None:
    inputs = labels({"anna": GOOD[::-1], "ben": GOOD, "cleo": GOOD})
    result = figures(evaluation, inputs)

    message = result["anna", "agreement"].advice
    assert "label ten responses together" in message
    assert message.endswith("human_a_hh is 0.600 on clarity, below 0.75.")
    assert result["ben", "agreement"].advice == ""


def test_no_rater_is_blamed_if_all_agree_little(evaluation: Evaluation) -> None:
    rng = np.random.default_rng(6)
    drawn = {name: rng.integers(1, 6, 40).tolist() for name in ("anna", "ben", "cleo")}
    result = figures(evaluation, labels(drawn))

    assert result["anna", "agreement"].value < 0.75
    for rater in drawn:
        assert result[rater, "agreement"].advice == result[rater, "opposite_ends"].advice == ""


def test_experts_are_compared_with_nobody_and_others_with_them(tmp_path: Path) -> None:
    labelling = Labelling(raters=("anna", "ben", "cleo"), experts=("anna",))
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY,), labelling=labelling)
    result = figures(evaluation, labels({"anna": GOOD, "ben": GOOD, "cleo": GOOD[::-1]}))

    assert result["ben", "expert_agreement"].value == 1
    assert result["cleo", "expert_agreement"].value == pytest.approx(0.4)
    assert ("anna", "expert_agreement") not in result


def test_skips_are_counted_and_compared_with_what_others_say_of_them(
    evaluation: Evaluation,
) -> None:
    values = [math.nan if value == 1 else value for value in GOOD]
    result = figures(evaluation, labels({"anna": values, "ben": GOOD}))

    assert result["anna", "skipped_share"].value == pytest.approx(0.2)
    assert result["anna", "skipped_difference"].value == pytest.approx(0 - (3.5 - 1) / 4)
    assert "rated worse by others" in result["anna", "skipped_difference"].advice


def test_confidence_that_goes_with_less_agreement_says_nothing(evaluation: Evaluation) -> None:
    anna = [6 - v if k < 15 else v for k, v in enumerate(GOOD)]
    inputs = labels({"anna": anna, "ben": GOOD})
    unsure = (inputs["rater_id"] == "anna") & (inputs["response_id"] >= "a15")
    inputs.loc[unsure, "confidence"] = "low"
    result = figures(evaluation, inputs)

    assert result["anna", "confidence_gain"].value == pytest.approx(0.4 - 1)
    assert "confidence says nothing" in result["anna", "confidence_gain"].advice


def test_drift_compares_the_last_third_with_the_first(evaluation: Evaluation) -> None:
    anna = [v if k < 15 else min(5, v + 1) for k, v in enumerate(GOOD)]
    result = figures(evaluation, labels({"anna": anna, "ben": GOOD}))

    assert result["anna", "drift"].value == pytest.approx(0.8 / 4)
    assert "became milder" in result["anna", "drift"].advice


def test_labels_faster_than_anybody_reads_are_noticed(evaluation: Evaluation) -> None:
    result = figures(evaluation, labels({"anna": GOOD, "ben": GOOD}, seconds=0.8))

    assert result["anna", "seconds"].value == pytest.approx(0.8)
    assert "ask whether responses are read" in result["anna", "seconds"].advice


def test_repeats_show_whether_raters_agree_with_themselves(evaluation: Evaluation) -> None:
    history = pd.DataFrame(
        {
            "response_id": [f"a{k}" for k in range(20)],
            "question_id": "clarity",
            "rater_id": "anna",
            "kind": "repeat",
            "before": 4 * [1, 2, 3, 4, 5],
            "after": 4 * [5, 2, 1, 1, 1],
        }
    )
    result = figures(evaluation, labels({"anna": GOOD, "ben": GOOD}), history=history)

    assert result["anna", "self_agreement"].value == pytest.approx(1 - 13 / 4 / 5)
    assert "does not give the same answer twice" in result["anna", "self_agreement"].advice
    assert result["anna", "changed_share"].value == 0


def test_labels_of_control_responses_are_compared_with_what_was_settled(
    evaluation: Evaluation,
) -> None:
    controls = {ControlUnit(f"a{k:02}", "clarity", "anna"): 5.0 for k in range(30)}
    result = figures(evaluation, labels({"anna": GOOD, "ben": GOOD}), controls=controls)

    control = result["anna", "control_agreement"]
    assert (control.value, control.n) == (0.5, 30)
    assert "differs from what was settled on 30 control responses" in control.advice
    assert ("ben", "control_agreement") not in result


def noisy(seed: int, *, n: int = 100, n_raters: int = 4) -> dict[str, list[float]]:
    """Ratings of raters who see the same responses and err independently."""
    rng = np.random.default_rng(seed)
    quality = rng.integers(1, 6, n)
    names = ["anna", "ben", "cleo", "dora", "eve"][:n_raters]
    errors = {name: rng.choice([-1, 0, 1], n, p=[0.2, 0.6, 0.2]) for name in names}
    return {name: np.clip(quality + error, 1, 5).tolist() for name, error in errors.items()}


def test_copied_answers_are_named_for_both_raters(evaluation: Evaluation) -> None:
    ratings = noisy(1, n=150)
    honest = figures(evaluation, labels(ratings))
    copied = figures(evaluation, labels({**ratings, "ben": ratings["anna"]}))

    assert copied["ben", "identical_share"].value == 1
    assert "ben and anna share answers that the other" in copied["ben", "identical_share"].advice
    assert copied["anna", "identical_share"].advice
    assert not any(figure.advice for figure in honest.values())


def test_two_good_raters_among_careless_ones_are_not_taken_for_copies(
    evaluation: Evaluation,
) -> None:
    rng = np.random.default_rng(2)
    quality = rng.integers(1, 6, 200)
    shares = {"anna": 0.05, "ben": 0.05, "cleo": 0.25, "dora": 0.25}
    ratings = {
        name: np.where(rng.random(200) < share, rng.integers(1, 6, 200), quality).tolist()
        for name, share in shares.items()
    }
    result = figures(evaluation, labels(ratings))

    assert result["anna", "identical_share"].value > 0.85
    assert {result[name, "identical_share"].advice for name in shares} == {""}


def test_copies_of_thousands_of_answers_are_found(evaluation: Evaluation) -> None:
    ratings = noisy(5, n=3000)
    inputs = labels({**ratings, "ben": ratings["anna"]}, labelled_at=None)

    assert figures(evaluation, inputs)["ben", "identical_share"].advice


def test_copies_are_not_looked_for_between_two_raters(evaluation: Evaluation) -> None:
    assert ("anna", "identical_share") not in figures(
        evaluation, labels({"anna": GOOD, "ben": GOOD})
    )


def test_labels_faster_than_the_response_can_be_read_are_counted(evaluation: Evaluation) -> None:
    inputs = labels(noisy(3)).assign(words=200.0)
    result = figures(evaluation, inputs)
    slow = figures(evaluation, inputs.assign(seconds=12.5))

    assert result["anna", "too_fast_share"].value == 1
    assert "gave 100% of the labels faster than" in result["anna", "too_fast_share"].advice
    assert slow["anna", "too_fast_share"].value == 0
    assert slow["anna", "too_fast_share"].advice == ""


def test_same_value_many_times_in_a_row_is_noticed(evaluation: Evaluation) -> None:
    ratings = noisy(4)
    ratings["anna"] = [*ratings["anna"][:60], *[3.0] * 40]
    result = figures(evaluation, labels(ratings))

    assert result["anna", "longest_run"].value >= 40
    assert "the same value 40 times in a row" in result["anna", "longest_run"].advice
    assert result["ben", "longest_run"].advice == ""


def test_confidence_at_random_leads_to_no_advice(evaluation: Evaluation) -> None:
    advised = 0
    for seed in range(20):
        inputs = labels(noisy(seed))
        rng = np.random.default_rng(seed)
        inputs["confidence"] = rng.choice(["high", "medium", "low"], len(inputs))
        advised += any(figure.advice for figure in figures(evaluation, inputs).values())

    assert advised <= 1


def test_work_that_was_never_begun_is_counted(evaluation: Evaluation) -> None:
    result = figures(
        evaluation,
        labels({"anna": GOOD}),
        assigned={("anna", "clarity"): 40, ("ben", "clarity"): 40},
    )

    assert result["anna", "completeness"].value == 0.75
    assert result["anna", "completeness"].advice == "anna has 10 of 40 responses left."
    assert [m for r, m in result if r == "ben"] == ["completeness"]
    assert ("anna", "agreement") not in result


def test_labels_of_texts_that_changed_are_named(evaluation: Evaluation) -> None:
    result = figures(evaluation, labels({"anna": GOOD}, is_outdated=[True] * 3 + [False] * 27))

    assert "3 labels by anna are of texts that changed" in result["anna", "outdated_share"].advice


def test_yes_and_no_agree_or_do_not(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, rubric=(CORRECT,))
    result = figures(evaluation, labels({"anna": [1, 0, 1, 1], "ben": [1, 0, 0, 0]}, CORRECT))

    assert result["anna", "agreement"].value == 0.5
    assert result["anna", "severity"].value == 0.5


def test_categories_without_order_have_no_severity(tmp_path: Path) -> None:
    question = RubricQuestion("kind", "?", Scale.from_steps(low=1, high=3), "nominal")
    evaluation = evaluation_of(tmp_path, rubric=(question,))
    result = figures(evaluation, labels({"anna": [1, 2, 3], "ben": [1, 2, 1]}, question))

    assert result["anna", "agreement"].value == pytest.approx(2 / 3)
    assert ("anna", "severity") not in result
    assert ("anna", "opposite_ends") not in result


def test_raters_who_agree_as_little_as_the_others_are_not_singled_out() -> None:
    """Alpha is .09 with anna and .19 without her: noise, on a question on which nobody agrees."""
    figures = {"alpha_without": (0.19, 80)}
    alike = Findings(
        alpha=0.09, stands_apart=False, others_vary=True, is_binary=False, failing=("so",)
    )

    assert advice_on("anna", figures, alike) == {}
    assert advice_on("anna", figures, replace(alike, stands_apart=True)).keys() == {"alpha_without"}
    assert advice_on("anna", {"alpha_without": (0.29, 80)}, alike).keys() == {"alpha_without"}
