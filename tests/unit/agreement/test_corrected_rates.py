"""Pass rates of a lenient judge, corrected by some labels."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.judge_bias import measure_corrected_rates
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale


def rates(  # noqa: PLR0913 - the study and the question
    *,
    seed: int,
    n_labelled: int,
    rate: float,
    n: int = 600,
    scale: Scale = BINARY,
    passes: str | None = None,
) -> pd.DataFrame:
    """Return the rates of a judge that passes a third of the failures as well."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < rate).astype(float)
    score = np.where(rng.random(n) < 0.33, 1.0, truth)
    units, zeros = np.arange(n), np.zeros(n, dtype=np.int64)
    labelled = np.sort(rng.choice(n, n_labelled, replace=False))
    truth, score = (scale.low + (scale.high - scale.low) * of for of in (truth, score))
    question = RubricQuestion("q", "Good?", scale, "ordinal", passes=passes)
    return measure_corrected_rates(
        {"q": LongRatings(labelled, zeros[:n_labelled], truth[labelled], ("a",), units)},
        {"q": LongRatings(units, zeros, score, ("j",), units)},
        (units % 2, ["even", "odd"]),
        Evaluation("test", Path(), (question,)),
    )


@pytest.mark.parametrize("rate", [0.12, 0.5])
@pytest.mark.parametrize("n_labelled", [30, 100, 300])
def test_the_interval_of_the_true_rate_covers_it(n_labelled: int, rate: float) -> None:
    rows = [rates(seed=k, n_labelled=n_labelled, rate=rate).iloc[0] for k in range(60)]
    assert sum(row["low"] <= rate <= row["high"] for row in rows) >= 53
    assert np.mean([row["rate"] for row in rows]) == pytest.approx(rate, abs=0.03)
    assert all(row["rate_of_judge"] > rate for row in rows)


def test_each_system_has_a_rate_beside_that_of_all() -> None:
    rows = rates(seed=1, n_labelled=100, rate=0.5)
    assert rows["model_name"].isna().tolist() == [True, False, False]
    assert rows["model_name"].iloc[1:].tolist() == ["even", "odd"]
    assert rows["n_scored"].tolist() == [600, 300, 300]
    assert rows["n_labelled"].iloc[0] == 100 == rows["n_labelled"].iloc[1:].sum()


def test_where_people_rated_everything_their_rate_stands() -> None:
    [row, *_] = rates(seed=2, n_labelled=600, rate=0.4).to_dict("records")
    assert row["rate"] == pytest.approx(0.4, abs=0.05)
    assert row["low"] < row["rate"] < row["high"]


def test_without_labels_there_is_the_judges_rate_alone() -> None:
    [row, *_] = rates(seed=3, n_labelled=0, rate=0.5).to_dict("records")
    assert row["rate_of_judge"] > 0.5
    assert row["rate"] is None or np.isnan(row["rate"])


def test_questions_of_more_classes_have_a_pass_if_it_is_declared() -> None:
    assert rates(seed=4, n_labelled=100, rate=0.5, scale=LIKERT5).empty
    declared = rates(seed=4, n_labelled=100, rate=0.5, scale=LIKERT5, passes=">=4")
    pd.testing.assert_frame_equal(declared, rates(seed=4, n_labelled=100, rate=0.5))
