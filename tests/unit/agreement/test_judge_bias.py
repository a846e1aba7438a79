"""Rows of judge_bias: values that are pooled, and biases that are not measured."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.judge_bias import OTHER, measure_bias
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Level, Scale
from tests.unit.stats.test_equal_quality import study


def rows_of(
    *, n_raters: int = 4, level: Level = "ordinal", sizes: tuple[int, ...] = (300,) * 5
) -> pd.DataFrame:
    """Return the biases by system of a judge of whom +0.6 is planted on the fourth."""
    unit, rater, rating, score, system, group = study(seed=1, bias=0.6)
    is_kept = np.arange(len(score)) // 5 < np.array(sizes)[system]
    selected = (rater < n_raters) & is_kept[unit]
    question = RubricQuestion("q", "How good?", Scale.from_steps(low=1, high=5), level)
    people = LongRatings(
        unit[selected], rater[selected], rating[selected], ("a", "b", "c", "d"), group
    )
    judge = LongRatings(np.arange(len(score)), np.zeros(len(score), int), score, ("j",), group)
    return measure_bias(
        {"q": people},
        {"q": judge},
        {"system": (system, ["s0", "s1", "s2", "s3", "s4"])},
        Evaluation("test", Path(), (question,)),
    )


def test_a_biased_system_fails_and_the_others_are_compared_without_it() -> None:
    rows = rows_of().set_index("value")
    assert list(rows.index[rows["is_named"]]) == ["s3"]
    assert rows.loc["s3", "state"] == "fail"
    assert set(rows["state"].drop("s3")) <= {"pass", "need_more_data"}
    assert rows.loc["s3", "relative"] == pytest.approx(0.6, abs=0.2)
    assert ((rows["bias_low"] < rows["bias"]) & (rows["bias"] < rows["bias_high"])).all()


def test_values_of_few_groups_are_pooled_or_left_out() -> None:
    pooled = rows_of(sizes=(300, 300, 300, 6, 7)).set_index("value")
    assert list(pooled.index) == ["s0", "s1", "s2"]
    pooled = rows_of(sizes=(300, 300, 9, 300, 15)).set_index("value")
    assert list(pooled.index) == ["s0", "s1", "s3", "s4"]


def test_ten_groups_of_rare_values_together_have_a_row() -> None:
    unit, rater, rating, score, system, group = study(seed=1)
    rare = np.where(np.arange(len(score)) < 100, 5 + np.arange(len(score)) // 20, system)
    question = RubricQuestion("q", "How good?", Scale.from_steps(low=1, high=5), "ordinal")
    rows = measure_bias(
        {"q": LongRatings(unit, rater, rating, ("a", "b", "c", "d"), group)},
        {"q": LongRatings(np.arange(len(score)), np.zeros(len(score), int), score, ("j",), group)},
        {"system": (rare, [f"s{k}" for k in range(10)])},
        Evaluation("test", Path(), (question,)),
    ).set_index("value")
    assert rows.loc[OTHER, "n_groups"] == 20


def test_without_a_second_rating_nothing_is_measured() -> None:
    rows = rows_of(n_raters=1)
    assert set(rows["state"]) == {"not_measured"}
    assert rows["relative"].isna().all()
    assert rows["bias"].notna().all()
