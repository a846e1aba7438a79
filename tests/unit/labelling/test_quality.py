"""Figures of each rater's labels, and what to do about them."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.quality import MEASURES, QualityFigure, quality_figures
from eval_assets.scale import BINARY, Scale
from eval_assets.store.labelling import quality_of_labels
from tests.unit.labelling.conftest import CLARITY, CORRECT

GOOD = [1, 2, 3, 4, 5] * 6
"""Thirty ratings that use the whole scale."""


def figures(
    ratings: Mapping[str, Sequence[float]],
    question: RubricQuestion = CLARITY,
    *,
    assigned: Mapping[str, int] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> dict[tuple[str, str], QualityFigure]:
    """Figures of labels, of which NaN is a skip."""
    labels = pd.DataFrame(
        [
            (f"a{k:02}", question.id, rater, value, math.isnan(value))
            for rater, values in ratings.items()
            for k, value in enumerate(values)
        ],
        columns=["response_id", "question_id", "rater_id", "value", "skipped"],
    )
    sources = {
        "assigned_units": pd.DataFrame(
            [(rater, question.id, n) for rater, n in (assigned or {}).items()],
            columns=["rater_id", "question_id", "n"],
        ),
        "calibration_answers": pd.DataFrame(
            columns=["rater_id", "question_id", "n_right", "n_answered"]
        ),
        "label_seconds": pd.DataFrame(
            [
                (response_id, question.id, rater, (seconds or {}).get(rater))
                for response_id, rater in zip(
                    labels["response_id"], labels["rater_id"], strict=True
                )
            ],
            columns=["response_id", "question_id", "rater_id", "seconds"],
        ).astype({"seconds": float}),
    }
    rows = quality_of_labels([question], labels, sources)
    return {(f.rater_id, f.measure): f for f in quality_figures([question], rows)}


def noisy(seed: int, *, n: int = 100) -> dict[str, list[float]]:
    """Ratings of raters who see the same responses and err independently."""
    rng = np.random.default_rng(seed)
    quality = rng.integers(1, 6, n)
    errors = {
        name: rng.choice([-1, 0, 1], n, p=[0.2, 0.6, 0.2]) for name in ("anna", "ben", "cleo")
    }
    return {name: np.clip(quality + error, 1, 5).tolist() for name, error in errors.items()}


def test_raters_who_agree_and_use_the_scale_need_no_advice() -> None:
    result = figures({"anna": GOOD, "ben": GOOD[:15], "cleo": GOOD[:15]}, assigned={"anna": 40})

    assert result["anna", "completeness"].value == 0.75
    assert result["anna", "severity"].value == 0
    assert result["anna", "most_frequent_share"].value == pytest.approx(0.2)
    assert list(dict.fromkeys(measure for _, measure in result)) == [
        name for name in MEASURES if name not in {"seconds", "calibration"}
    ]
    assert {figure.advice for figure in result.values()} == {""}


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 5])
def test_honest_raters_seldom_get_advice(n_values: int) -> None:
    """Ten and twenty labels of three raters who each err on three of ten responses."""
    advised = 0
    question = CLARITY if n_values > 2 else CORRECT
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = 10 if seed % 2 else 20
        quality = rng.integers(0, n_values, n)
        ratings = {}
        for name in ("anna", "ben", "cleo"):
            error = np.where(rng.random(n) < 0.3, rng.choice([-1, 1], n), 0)
            ratings[name] = (np.clip(quality + error, 0, n_values - 1) + (n_values > 2)).tolist()
        advised += any(figure.advice for figure in figures(ratings, question).values())

    assert advised <= 2


def test_few_labels_are_said_to_be_too_few() -> None:
    result = figures({"anna": [5.0] * 9, "ben": GOOD}, assigned={"cleo": 30})

    assert {key: figure.advice for key, figure in result.items() if figure.advice} == {
        ("anna", "skipped_share"): "anna has too few labels to check, 9 of 10 needed.",
        ("cleo", "completeness"): "cleo has too few labels to check, 0 of 10 needed.",
    }


def test_severity_is_the_mean_difference_in_share_of_the_scale() -> None:
    result = figures({"anna": [2] * 12, "ben": [4] * 12, "cleo": [3] * 12})

    assert result["anna", "severity"].value == pytest.approx(-1.5 / 4)
    assert "rates 38% of the scale lower" in result["anna", "severity"].advice
    assert result["cleo", "severity"].advice == ""


def test_one_value_throughout_is_noticed_only_if_others_told_responses_apart() -> None:
    apart = figures({"anna": [3] * 30, "ben": GOOD})
    alike = figures({"anna": [3] * 30, "ben": [3] * 30})

    assert "one and the same value in 100% of the labels, others in 20%" in (
        apart["anna", "most_frequent_share"].advice
    )
    assert alike["anna", "most_frequent_share"].advice == ""
    assert figures({"anna": [3] * 30})["anna", "most_frequent_share"].advice == ""


def test_opposite_ends_are_counted_on_any_scale() -> None:
    question = RubricQuestion("fit", "?", Scale.from_steps(low=1, high=4), "ordinal")
    upright, mirrored = 10 * [4, 1, 2, 3], 10 * [1, 4, 2, 3]
    result = figures({"anna": mirrored, "ben": upright, "cleo": upright}, question)

    assert result["anna", "opposite_ends"].value == 0.5
    assert "20 responses at opposite ends" in result["anna", "opposite_ends"].advice
    assert result["ben", "opposite_ends"].value == 0.5
    assert result["ben", "opposite_ends"].advice == ""


def test_of_two_values_nobody_is_said_to_be_at_opposite_ends() -> None:
    question = RubricQuestion("safe", "?", BINARY, "nominal")
    result = figures({"anna": [0, 1, 1, 0] * 3, "ben": [1, 0, 1, 0] * 3}, question)

    assert result["anna", "opposite_ends"].value == 0.5
    assert result["anna", "opposite_ends"].advice == ""


def test_categories_without_order_have_no_severity() -> None:
    question = RubricQuestion("kind", "?", Scale.from_steps(low=1, high=3), "nominal")
    result = figures({"anna": [1, 2, 3], "ben": [1, 2, 1]}, question)

    assert ("anna", "severity") not in result
    assert ("anna", "opposite_ends") not in result


def test_copied_answers_are_named_for_both_raters() -> None:
    ratings = noisy(1)
    result = figures({**ratings, "ben": ratings["anna"]})

    assert result["ben", "identical_share"].value == 1
    assert (
        "ben and anna rate 100% of 100 responses alike" in result["ben", "identical_share"].advice
    )
    assert result["anna", "identical_share"].advice
    assert result["cleo", "identical_share"].advice == ""


def test_equal_answers_of_two_values_are_no_copies() -> None:
    values = 15 * [0.0, 1.0]
    result = figures({"anna": values, "ben": values}, CORRECT)

    assert (result["anna", "identical_share"].value, result["anna", "identical_share"].n) == (1, 30)
    assert result["anna", "identical_share"].advice == ""


def test_many_skips_are_noticed() -> None:
    result = figures({"anna": [*GOOD[:9], math.nan, math.nan, math.nan], "ben": GOOD})

    assert (result["anna", "skipped_share"].value, result["anna", "skipped_share"].n) == (0.25, 12)
    assert "anna skipped 25%: read the reasons" in result["anna", "skipped_share"].advice
    assert result["anna", "most_frequent_share"].n == 9


def test_labels_within_two_seconds_are_noticed() -> None:
    result = figures({"anna": GOOD, "ben": GOOD}, seconds={"anna": 1.5, "ben": 8.0})

    assert (result["anna", "seconds"].value, result["anna", "seconds"].n) == (1.5, 30)
    assert "anna takes 1.5 seconds a label" in result["anna", "seconds"].advice
    assert result["ben", "seconds"].advice == ""
