"""Scores of pairs of judges, stored and read back; the view `ground_truth`."""

import math
from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd

from eval_assets.store.pairs import judged_units, write_pair_measures
from eval_assets.store.scores import JudgeRow, judged_models, score_coverage
from eval_assets.store.tables import replace_rows, tables_that_hold
from tests.unit.store.conftest import responses, scores, write_scored

Connection = duckdb.DuckDBPyConnection
NOW = datetime(2026, 11, 21, 5, tzinfo=UTC)


def judge(judge_id: str, position: int) -> JudgeRow:
    return JudgeRow(judge_id, "openai", f"model-{judge_id}", 0, 0, f"f-{judge_id}", position)


def query() -> pd.DataFrame:
    """A row of `dual_judgements`."""
    row = {
        "query_id": 1,
        "query": "What is it?",
        "docs": [7, 3],
        "expected_docs": [7],
        "judge1_score": [0.7, None],
        "judge2_score": [0.6, 0.1],
        "judge1_model": "gpt-6-luna",
        "judge2_model": "claude-haiku-5-5",
        "kappa": 1.0,
        "status": "partial",
        "created_at": NOW,
    }
    return pd.DataFrame([row])


def prompt(**columns: object) -> pd.DataFrame:
    """Return a row of `prompt_judgements`."""
    row = {
        "prompt_id": "p0",
        "question_id": "clarity",
        "query": "Prompt a",
        "response_ids": ["a1", "a2"],
        "judge1_score": [4.0, None],
        "judge2_score": [None, None],
        "judge1_id": "j",
        "judge2_id": "k",
        "judge1_model": "mj",
        "judge2_model": None,
        "n_units": 0,
        "kappa": math.nan,
        "kappa_reason": "no_pairs",
        "created_at": NOW,
        **columns,
    }
    return pd.DataFrame([row])


def test_units_stand_together_by_question_and_prompt_with_every_judges_scores(
    connection: Connection,
) -> None:
    """The first judge is the first declared, not the first by name."""
    given = scores(
        ("a1", "clarity", "z", 2.0, "ok"),
        ("b2", "clarity", "z", np.nan, "unparsable"),
        ("b1", "clarity", "a", 5.0, "ok"),
    )
    write_scored(connection, [judge("z", 0), judge("a", 1)], given)

    judged = judged_units(connection)

    assert list(judged.scores) == ["z", "a"]
    assert judged.fingerprints == {"z": "f-z", "a": "f-a"}
    first = judged.units[judged.units["question_id"] == "clarity"]
    by_prompt = first.groupby("prompt_id", sort=False)["response_id"].agg(list).tolist()
    assert sorted(by_prompt) == [["a1", "a2"], ["b1", "b2"]]
    assert (first["query"].str[-1] == first["response_id"].str[0]).all()
    z = dict(zip(first["response_id"], judged.scores["z"], strict=False))
    assert z["a1"] == 2.0
    assert math.isnan(z["b2"])
    assert np.nansum(judged.scores["a"]) == 5.0


def test_ground_truth_holds_queries_and_prompts_under_whole_numbers(
    connection: Connection,
) -> None:
    replace_rows(connection, "dual_judgements", query())
    write_pair_measures(connection, prompts=prompt(), disagreements=pd.DataFrame())

    columns = "expected_docs, docs, judge1_score, judge2_score, judge1_model, judge2_model, kappa"
    [asked, asset] = connection.execute(
        f"SELECT {columns} FROM ground_truth ORDER BY id"  # noqa: S608
    ).fetchall()
    ids = connection.execute("SELECT id + 1, typeof(id) FROM ground_truth ORDER BY id").fetchall()

    models = ("gpt-6-luna", "claude-haiku-5-5")
    assert asked == (["7"], ["7", "3"], [0.7, None], [0.6, 0.1], *models, 1.0)
    assert asset == (None, ["a1", "a2"], [4.0, None], [None, None], "mj", None, None)
    assert ids[0] == (2, "BIGINT")
    assert ids[1][0] > 2


def test_coverage_lists_every_judge_with_what_it_attempted(
    connection: Connection,
) -> None:
    given = scores(
        ("a1", "clarity", "j", 2.0, "ok"),
        ("a2", "clarity", "j", np.nan, "budget_stopped"),
        ("a1", "safety", "j", 1.0, "ok"),
    )
    write_scored(connection, [judge("j", 0), judge("k", 1)], given)

    found = score_coverage(connection)

    counts = ["judge_id", "question_id", "n_asked", "n_attempted", "n_ok", "n_budget_stopped"]
    assert found[counts].to_numpy(dtype=object).tolist() == [
        ["j", "clarity", 4, 2, 1, 1],
        ["j", "safety", 4, 1, 1, 0],
        ["k", "clarity", 4, 0, 0, 0],
        ["k", "safety", 4, 0, 0, 0],
    ]
    assert found["share_ok"].tolist()[:2] == [0.5, 1.0]
    assert found["share_ok"].isna().tolist()[2:] == [True, True]


def test_models_under_test_are_named_once(connection: Connection) -> None:
    assert judged_models(connection) == ["m1", "m2"]


def test_a_text_is_found_in_any_table_without_wildcards(connection: Connection) -> None:
    replace_rows(connection, "responses", responses("a1", attributes='{"note": "sk-sec%ret"}'))
    replace_rows(connection, "dual_judgements", query())

    assert tables_that_hold(connection, "sk-sec%ret") == ["responses"]
    assert tables_that_hold(connection, "sk-%") == []
    assert tables_that_hold(connection, "gpt-6-luna") == ["dual_judgements"]
