"""The history of agreement: a row per question and run, of people and judges together."""

from datetime import UTC, datetime

import pandas as pd

from eval_assets.agreement import history_rows

NOW = datetime(2026, 11, 21, tzinfo=UTC)
HUMANS = pd.DataFrame(
    {
        "scope": ["overall", "question"],
        "question_id": [None, "clarity"],
        "a_hh": [0.9, 0.9],
        "a_hh_low": [0.8, 0.8],
        "alpha": [0.7, None],
        "data_version": "v1",
    }
)
JUDGES = pd.DataFrame(
    {
        "scope": ["overall", "question", "response"],
        "question_id": [None, "clarity", "clarity"],
        "alpha": [0.6, 0.5, 0.1],
        "alpha_high": [0.8, 0.7, 0.2],
        "data_version": "v2",
        "judge_set_fingerprint": "abc",
    }
)


def test_a_row_joins_what_a_run_measured_of_people_and_of_judges() -> None:
    overall, clarity = history_rows(HUMANS, JUDGES, run_id="run-1", at=NOW)

    assert (overall["scope"], overall["question_id"]) == ("overall", None)
    assert (clarity["scope"], clarity["question_id"]) == ("question", "clarity")
    assert (overall["a_hh"], overall["a_hh_low"], overall["alpha"]) == (0.9, 0.8, 0.7)
    assert (clarity["judge_alpha"], clarity["judge_alpha_high"]) == (0.5, 0.7)
    assert (overall["run_id"], overall["measured_at"]) == ("run-1", NOW)
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1 v2", "abc")


def test_without_judges_the_row_is_of_people_alone() -> None:
    overall, _ = history_rows(HUMANS, JUDGES.head(0), run_id="run-1", at=NOW)

    assert overall["judge_alpha"] is None
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1", None)
