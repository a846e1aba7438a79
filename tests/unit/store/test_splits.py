"""Inputs of tuning, read from the tables."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import SplitShares
from eval_assets.store.inputs import write_labels
from eval_assets.store.schema import insert_rows, replace_records, replace_rows
from eval_assets.store.splits import (
    cost_of_requests,
    costs_of_prompts,
    models_returned,
    questions_where_people_agree,
    system_responses,
    tuning_units,
)
from eval_assets.store.tuned_judges import _lowered_minimums
from eval_assets.tuning.rated import split_of
from tests.unit.store.conftest import (
    CLARITY,
    SAFETY,
    JudgeRow,
    labels,
    responses,
    scores,
    write_scored,
)

Connection = duckdb.DuckDBPyConnection
NAN = float("nan")


@pytest.fixture
def rated(connection: Connection) -> Connection:
    """Answers to two prompts, some rated and some judged."""
    replace_rows(connection, "responses", responses("a1", "a2", "b1", "b2", "c1", "c2"))
    write_labels(
        connection,
        labels(
            ("a1", "clarity", "r1", 1),
            ("a1", "clarity", "r2", 2),
            ("b1", "clarity", "r3", 4),
            ("a2", "safety", "r1", 1),
        ),
    )
    write_scored(
        connection,
        [],
        scores(
            ("a1", "clarity", "gpt", 2.0, "ok"),
            ("b1", "clarity", "gpt", None, "unparsable"),
            ("b1", "clarity", "haiku", 3.5, "ok"),
            ("b2", "clarity", "gpt", 5.0, "ok"),
            ("a2", "safety", "gpt", 1.0, "ok"),
        ),
    )
    return connection


def test_only_rated_responses_are_tuned_on_each_with_its_raters(rated: Connection) -> None:
    units = tuning_units(rated, [CLARITY, SAFETY], shares=SplitShares())
    clarity = units["clarity"]

    assert clarity.response_ids.tolist() == ["a1", "b1"]
    assert clarity.ratings == pytest.approx(np.array([[1, 2, NAN], [NAN, NAN, 4]]), nan_ok=True)
    assert clarity.models.tolist() == ["m1", "m1"]
    assert clarity.prompt_texts.tolist() == ["Prompt a", "Prompt b"]
    assert clarity.response_texts.tolist() == ["Answer a1", "Answer b1"]
    assert units["safety"].response_ids.tolist() == ["a2"]


def test_scores_that_could_not_be_read_are_missing(rated: Connection) -> None:
    clarity = tuning_units(rated, [CLARITY], shares=SplitShares())["clarity"]

    assert clarity.scores["gpt"] == pytest.approx(np.array([2.0, NAN]), nan_ok=True)
    assert clarity.scores["haiku"] == pytest.approx(np.array([NAN, 3.5]), nan_ok=True)


def test_responses_to_one_prompt_are_never_parted(rated: Connection) -> None:
    units = tuning_units(rated, [CLARITY, SAFETY], shares=SplitShares())
    of_a1, of_a2 = units["clarity"].groups[0], units["safety"].groups[0]

    assert of_a1 == of_a2
    assert units["clarity"].splits[0] == split_of(of_a1, SplitShares())


def test_a_prompt_of_most_responses_is_no_group(connection: Connection) -> None:
    """It is an instruction: each answer is a group of its own."""
    replace_rows(connection, "responses", responses("a1", "a2", "a3", "b1"))
    write_labels(connection, labels(*((f"a{k}", "clarity", "r1", 3) for k in (1, 2, 3))))
    units = tuning_units(connection, [CLARITY], shares=SplitShares())["clarity"]

    assert len(set(units.groups)) == 3


def test_a_question_without_ratings_has_no_units(rated: Connection) -> None:
    other = RubricQuestion("other", "Else?", CLARITY.scale, "ordinal")
    units = tuning_units(rated, [other], shares=SplitShares())["other"]

    assert units.ratings.shape == (0, 0)
    assert units.n_groups == 0


def test_people_agree_if_a_question_passes_every_human_gate(connection: Connection) -> None:
    """Also if a gate only warns; gates on judges do not matter."""
    verdicts = [
        ("human_a_hh", "clarity", "pass"),
        ("human_alpha", "clarity", "pass"),
        ("judge_alpha", "clarity", "fail"),
        ("human_a_hh", "safety", "pass"),
        ("human_alpha", "safety", "fail"),
        ("human_a_hh", None, "pass"),
        ("human_alpha", None, "pass"),
    ]
    rows = pd.DataFrame(verdicts, columns=["gate", "question_id", "verdict"]).assign(
        minimum=0.75,
        is_closed=False,
        reason="",
        severity="warn",
        evaluated_at=pd.Timestamp("2026-11-21", tz="UTC"),
        data_version="v",
    )
    replace_rows(connection, "gate_verdicts", rows)

    assert questions_where_people_agree(connection) == {"clarity"}
    assert _lowered_minimums(connection) == {}
    rows.loc[rows["gate"] == "human_alpha", "minimum"] = 0.2
    replace_rows(connection, "gate_verdicts", rows)
    assert _lowered_minimums(connection) == {"human_alpha": 0.2}


def test_systems_are_compared_on_every_response_that_a_judge_scored(rated: Connection) -> None:
    compared = system_responses(rated, [CLARITY], shares=SplitShares())["clarity", "gpt"]

    assert compared.systems.tolist() == ["m1", "m2"]
    assert compared.human == pytest.approx(np.array([1.5, NAN]), nan_ok=True)
    assert compared.judge.tolist() == [2.0, 5.0]
    assert len(set(compared.groups)) == 2
    assert not compared.scale.is_binary


def test_a_judge_that_rates_as_a_tuned_version_is_corrected_by_the_test_alone(
    rated: Connection,
) -> None:
    judge = JudgeRow("gpt", "openai", "m", 2, 2, "f", 0, version="1.0.1", version_hash="v")
    replace_records(rated, "judges", [judge])
    all_test, none = SplitShares(0.001, 0, 0.999), SplitShares(1 - 1e-10, 0, 1e-10)

    in_test = system_responses(rated, [CLARITY], shares=all_test)["clarity", "gpt"]
    in_train = system_responses(rated, [CLARITY], shares=none)["clarity", "gpt"]
    assert in_test.human == pytest.approx(np.array([1.5, NAN]), nan_ok=True)
    assert np.isnan(in_train.human).all()
    assert in_train.judge.tolist() == [2.0, 5.0]


def test_judges_are_tuned_on_their_scores_before_any_map(rated: Connection) -> None:
    rated.execute("UPDATE judge_scores SET score = 5 WHERE status = 'ok'")
    clarity = tuning_units(rated, [CLARITY], shares=SplitShares())["clarity"]

    assert clarity.scores["gpt"] == pytest.approx(np.array([2.0, NAN]), nan_ok=True)


def test_system_responses_are_sliced_by_further_columns(connection: Connection) -> None:
    inputs = responses("a1", "a2", "b1", "b2")
    difficulty = np.array(["easy", "easy", "hard", None], dtype=object)
    replace_rows(connection, "responses", inputs.assign(difficulty=difficulty))
    write_scored(
        connection, [], scores(*((r, "clarity", "gpt", 3.0, "ok") for r in inputs["response_id"]))
    )

    compared = system_responses(connection, [CLARITY], shares=SplitShares())["clarity", "gpt"]

    assert compared.slices["difficulty"].tolist() == ["easy", "easy", "hard", ""]


def test_costs_and_models_are_those_that_vendors_reported(rated: Connection) -> None:
    attempt = {
        "call_key": "k",
        "attempt": 1,
        "operation": "judging",
        "replicate": 0,
        "provider": "openai",
        "base_url": "",
        "model_requested": "m",
        "status": "ok",
        "in_batch": False,
        "latency_seconds": 1.0,
        "started_at": pd.Timestamp("2026-11-21", tz="UTC"),
    }
    rows = [
        {**attempt, "judge_id": "gpt", "model_returned": "m-1", "cost_usd": 0.01},
        {**attempt, "judge_id": "gpt", "model_returned": "m-2", "cost_usd": 0.02},
        {**attempt, "judge_id": "haiku", "model_returned": None, "cost_usd": None},
    ]
    insert_rows(rated, "judge_calls", pd.DataFrame(rows))

    assert cost_of_requests(rated) == {"gpt": pytest.approx(15.0), "haiku": None}
    assert models_returned(rated) == {"gpt": ("m-1", "m-2")}


def test_each_prompt_of_a_judge_has_a_cost_of_its_own(rated: Connection) -> None:
    rows = [
        ("gpt", "old", "a1", "ok", 0.01),
        ("gpt", "old", "a2", "unparsable", 0.01),  # it was paid for all the same
        ("gpt", "new", "a1", "ok", 0.05),
        ("haiku", "old", "a1", "ok", None),
    ]
    names = ["judge_id", "prompt_hash", "response_id", "status", "cost_usd"]
    inputs = pd.DataFrame(rows, columns=names).assign(question_id="clarity")
    insert_rows(rated, "tuned_judge_scores", inputs)

    assert costs_of_prompts(rated) == {
        ("gpt", "old"): pytest.approx(20.0),
        ("gpt", "new"): pytest.approx(50.0),
        ("haiku", "old"): None,
    }
