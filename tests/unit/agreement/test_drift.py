import numpy as np
import pytest

from eval_assets.agreement.drift import MeanScores, drift_row, drift_significance, moved_judges
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5

QUESTION = RubricQuestion("clarity", "How clear is it?", LIKERT5, "ordinal")
NONE_SINCE = MeanScores(100, 3.5, 0, float("nan"))
BEFORE = np.array([2.0, 3, 4, 5] * 5)


def row(
    again: np.ndarray, scores: MeanScores = NONE_SINCE, *, round_: int = 1
) -> dict[str, object]:
    return drift_row(BEFORE, again, scores, question=QUESTION, round_=round_, n_tests=2)


def test_the_levels_of_all_rounds_and_tests_add_up_to_one_in_twenty() -> None:
    total = sum(4 * drift_significance(r, n_tests=4) for r in range(1, 10_000))

    assert total == pytest.approx(0.05, abs=1e-5)
    with pytest.raises(ValueError, match="counted from 1, got 0 and 4"):
        drift_significance(0, n_tests=4)


def test_a_judge_that_scores_all_anchors_lower_has_moved() -> None:
    found = row(BEFORE - 1)

    assert (found["verdict"], found["n_anchors"], found["n_moved"]) == ("moved", 20, 20)
    assert (found["shift"], found["shift_low"], found["shift_high"]) == (-1, -1, -1)
    assert (
        found["reason"] == "the same 20 answers are scored -1.00 [-1.00, -1.00] from what they were"
    )


def test_a_moved_score_is_split_into_what_the_judge_and_what_the_answers_are() -> None:
    found = row(BEFORE - 1, MeanScores(100, 3.5, 40, 2.25))

    assert found["score_change"] == -1.25
    assert str(found["reason"]).endswith(
        "; the 40 answers judged since then have a mean -1.25 from the 100 before, of which -1.00 "
        "[-1.00, -1.00] is the judge and -0.25 the answers"
    )


def test_scores_that_come_and_go_are_no_drift() -> None:
    again = BEFORE + np.tile([1, -1, 0, 0, 0], 4)

    assert row(again)["verdict"] == "stable"
    assert "may be chance" in str(row(again)["reason"])


def test_a_round_with_few_anchors_shows_nothing() -> None:
    again = np.where(np.arange(20) < 6, BEFORE - 1, np.nan)
    found = row(again)

    assert (found["verdict"], found["n_anchors"], found["n_moved"]) == ("not_evaluable", 6, 6)


def test_the_latest_round_decides_whether_a_judge_has_moved() -> None:
    def told(judge_id: str, verdict: str) -> dict[str, object]:
        return {"judge_id": judge_id, "question_id": "q", "verdict": verdict, "reason": "r"}

    rows = [told("a", "moved"), told("b", "moved"), told("a", "stable")]
    assert moved_judges(rows) == {"b": ["q: r"]}
