"""The history of agreement: a row per question and run, of humans and judges together."""

from datetime import UTC, datetime

from eval_assets.agreement.run_figures import history_rows
from tests.unit.report.builder import Case

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_history_row_joins_figures_of_humans_and_judges() -> None:
    case = Case()
    overall, clarity, _ = history_rows(case.humans(), case.judge_rows(), run_id="run-1", at=NOW)

    assert (overall["scope"], overall["question_id"]) == ("overall", None)
    assert (clarity["scope"], clarity["question_id"]) == ("question", "clarity")
    assert (clarity["a_hh"], clarity["a_hh_low"], clarity["alpha"]) == (0.88, 0.84, 0.81)
    assert (clarity["judge_alpha"], clarity["judge_alpha_high"]) == (0.83, 0.88)
    assert (overall["run_id"], overall["measured_at"]) == ("run-1", NOW)
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1 v1", "abc")


def test_history_row_without_judges_is_of_humans_alone() -> None:
    overall, *_ = history_rows(Case().humans(), [], run_id="run-1", at=NOW)

    assert overall["judge_alpha"] is None
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1", None)
