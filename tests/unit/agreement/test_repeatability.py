"""Repeatability by runs and by copies of a text."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.drift import measure_repeatability
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Level, Scale


def measures(ratings: list[tuple[str, str, str, float]], level: Level = "ordinal") -> pd.DataFrame:
    """Return the rows for ratings of (kind, rater, row, value), each row a group."""
    question = RubricQuestion("q", "How good?", Scale.from_steps(low=1, high=5), level)
    frame = pd.DataFrame(ratings, columns=["kind", "rater_id", "row", "value"])
    frame = frame.assign(source="run", question_id="q", group=frame["row"])
    return measure_repeatability(frame, Evaluation("test", Path(), (question,)))


def test_flips_are_pairs_of_one_row_that_differ() -> None:
    pairs = [(1, 1), (2, 2), (3, 4), (5, 5), (4, 4), (2, 2), (1, 1), (3, 3)]
    [row] = measures(
        [("judge", "j", f"r{k}", value) for k, pair in enumerate(pairs) for value in pair]
    ).to_dict("records")
    assert (row["n_pairs"], row["n_groups"], row["flip_rate"]) == (8, 8, 0.125)
    assert 0 < row["low"] < 0.125 < row["high"] < 0.6
    assert row["icc"] > 0.9


def test_people_have_a_row_together_and_one_each() -> None:
    ratings = [("human", rater, f"{rater}{k}", 3.0) for rater in "ab" for k in (0, 0, 1, 1)]
    rows = measures(ratings)
    assert rows["rater_id"].isna().tolist() == [True, False, False]
    assert rows["rater_id"].iloc[1:].tolist() == ["a", "b"]
    assert rows["n_pairs"].tolist() == [4, 2, 2]
    assert rows["flip_rate"].tolist() == [0, 0, 0]


def test_three_runs_are_three_pairs() -> None:
    assert measures([("judge", "j", "r", value) for value in (1, 1, 2)])["n_pairs"].tolist() == [3]


def test_nothing_repeated_has_no_row() -> None:
    assert measures([]).empty


def test_the_interval_of_the_flip_rate_covers_the_truth() -> None:
    rng = np.random.default_rng(1)
    n_covered = 0
    for _ in range(60):
        first = rng.integers(1, 6, 120)
        second = np.where(rng.random(120) < 0.1, first % 5 + 1, first)
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        row = measures([("judge", "j", f"r{k}", v) for k, pair in enumerate(pairs) for v in pair])
        n_covered += float(row["low"].iloc[0]) <= 0.1 <= float(row["high"].iloc[0])
    assert n_covered >= 52


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_ordered_questions_have_a_correlation(level: Level) -> None:
    ratings = [("judge", "j", f"r{k}", float(k % 5 + 1)) for k in range(10) for _ in range(2)]
    assert measures(ratings, level)["icc"].tolist() == [1.0]
