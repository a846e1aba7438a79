import numpy as np
import pytest

from eval_assets.agreement.drift import (
    drift_row,
    drift_significance,
    moved_judges,
)
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5

QUESTION = RubricQuestion("clarity", "How clear is it?", LIKERT5, "ordinal")
BEFORE = np.array([2.0, 3, 4, 5] * 5)


def row(repeat: np.ndarray, *, round_: int = 1) -> dict[str, object]:
    return drift_row(BEFORE, repeat, question=QUESTION, round_=round_, n_tests=2)


def test_the_levels_of_all_rounds_and_tests_add_up_to_one_in_twenty() -> None:
    total = sum(4 * drift_significance(r, n_tests=4) for r in range(1, 10_000))

    assert total == pytest.approx(0.05, abs=1e-5)
    with pytest.raises(ValueError, match="counted from 1, got 0 and 4"):
        drift_significance(0, n_tests=4)


def test_a_judge_that_scores_all_anchors_lower_has_moved() -> None:
    result = row(BEFORE - 1)

    assert (result["verdict"], result["n_anchors"], result["n_moved"]) == ("moved", 20, 20)
    assert (result["shift"], result["shift_low"], result["shift_high"]) == (-1, -1, -1)
    assert (
        result["reason"]
        == "the same 20 answers are scored -1.00 [-1.00, -1.00] from what they were"
    )


def test_scores_that_come_and_go_are_no_drift() -> None:
    repeat = BEFORE + np.tile([1, -1, 0, 0, 0], 4)

    assert row(repeat)["verdict"] == "stable"
    assert "may be chance" in str(row(repeat)["reason"])


def test_a_round_with_few_anchors_shows_nothing() -> None:
    repeat = np.where(np.arange(20) < 6, BEFORE - 1, np.nan)
    result = row(repeat)

    assert (result["verdict"], result["n_anchors"], result["n_moved"]) == ("not_evaluable", 6, 6)


def test_the_latest_round_decides_whether_a_judge_has_moved() -> None:
    def told(judge_id: str, verdict: str) -> dict[str, object]:
        return {"judge_id": judge_id, "question_id": "q", "verdict": verdict, "reason": "r"}

    rows = [told("a", "moved"), told("b", "moved"), told("a", "stable")]
    assert moved_judges(rows) == {"b": ["q: r"]}
