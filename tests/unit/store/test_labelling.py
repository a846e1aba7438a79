from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.tuning import SplitShares
from eval_assets.labelling.quality import HISTORY_COLUMNS
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.inputs import write_labels
from eval_assets.store.labelling import (
    stored_responses,
    write_adjudicated_labels,
    write_label_history,
)
from eval_assets.store.ratings import (
    human_ratings,
    ratings_of_people,
)
from eval_assets.store.splits import tuning_units
from tests.unit.store.conftest import CLARITY, SAFETY, labels

RATINGS = labels(
    ("a1", "clarity", "anna", 1),
    ("a1", "clarity", "ben", 5),
    ("a2", "clarity", "anna", 2),
    ("a2", "clarity", "ben", 4),
    ("b1", "clarity", "anna", 3),
    ("b1", "clarity", "ben", 4),
)


def settled(response_id: str, value: float | None) -> dict[str, Any]:
    return {
        "response_id": response_id,
        "question_id": "clarity",
        "value": value,
        "source": "consensus",
        "excluded": value is None,
        "reason": "why",
        "decided_by": "lea",
        "decided_at": "2026-11-21T09:00:00Z",
        "own_rating": 3.0,
        "ratings": '{"anna": 1}',
        "is_override": False,
    }


@pytest.fixture
def adjudicated(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """a1 is settled as 4, a2 left out, b1 not adjudicated."""
    write_labels(connection, RATINGS)
    write_adjudicated_labels(connection, [settled("a1", 4.0), settled("a2", None)])
    return connection


@pytest.fixture
def evaluation(tmp_path: Any) -> Evaluation:
    return Evaluation(name="e", folder=tmp_path, rubric=(CLARITY, SAFETY))


def by_unit(ratings: Any) -> dict[int, list[float]]:
    result: dict[int, list[float]] = {}
    for unit, value in zip(ratings.unit.tolist(), ratings.value.tolist(), strict=True):
        result.setdefault(unit, []).append(value)
    return result


def test_the_reference_is_the_consensus_or_else_the_mean(
    adjudicated: duckdb.DuckDBPyConnection,
) -> None:
    result = adjudicated.execute(
        "SELECT response_id, value, source, excluded FROM reference_values ORDER BY ALL"
    ).fetchall()

    assert result == [
        ("a1", 4.0, "consensus", False),
        ("a2", 3.0, "mean", True),
        ("b1", 3.5, "mean", False),
    ]


def test_judges_are_compared_with_the_consensus_and_not_on_what_was_left_out(
    adjudicated: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> None:
    reference = ratings_of_people(adjudicated, evaluation, "reference_outside_test")["clarity"]
    with_excluded = ratings_of_people(
        adjudicated, evaluation, "reference_outside_test_with_excluded"
    )["clarity"]

    assert by_unit(reference) == {0: [4.0], 2: [3.0, 4.0]}
    assert by_unit(with_excluded) == {0: [4.0], 1: [2.0, 4.0], 2: [3.0, 4.0]}


def test_agreement_between_people_never_sees_what_was_settled(
    adjudicated: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> None:
    assert by_unit(human_ratings(adjudicated, evaluation).ratings["clarity"]) == {
        0: [1.0, 5.0],
        1: [2.0, 4.0],
        2: [3.0, 4.0],
    }


def test_tuning_starts_from_the_reference_without_what_was_left_out(
    adjudicated: duckdb.DuckDBPyConnection,
) -> None:
    units = tuning_units(adjudicated, [CLARITY], shares=SplitShares())["clarity"]

    means = np.nanmean(units.ratings, axis=1)
    assert dict(zip(units.response_ids, means, strict=True)) == {"a1": 4.0, "b1": 3.5}


def test_settling_something_else_makes_the_data_another_version(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    write_labels(connection, RATINGS)
    versions = [rating_versions(connection)["human"]]
    judges = [rating_versions(connection)["judge"]]
    for rows in ([settled("a1", 4.0)], [settled("a1", 5.0)], [settled("a1", None)], []):
        write_adjudicated_labels(connection, rows)
        versions.append(rating_versions(connection)["human"])
        judges.append(rating_versions(connection)["judge"])

    assert len(set(versions)) == 4
    assert versions[-1] == versions[0]
    assert len(set(judges)) == 1


def test_decisions_on_responses_that_are_gone_are_counted_and_left_out(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    assert write_adjudicated_labels(connection, [settled("gone", 4.0), settled("a1", 4.0)]) == 1
    assert connection.execute("SELECT response_id FROM adjudicated_labels").fetchall() == [("a1",)]


def test_history_holds_what_sessions_say_and_ratings_of_earlier_rounds(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    latest = labels(("a1", "clarity", "anna", 4)).assign(round=2, labelled_at="2026-11-21")
    earlier = labels(("a1", "clarity", "anna", 2)).assign(round=1, labelled_at="2026-11-01")
    write_labels(connection, latest, earlier=earlier)
    change = ("a2", "clarity", "ben", 2, "change", 1.0, np.nan, "2026-11-20")
    write_label_history(connection, pd.DataFrame([change], columns=list(HISTORY_COLUMNS)))

    result = connection.execute("SELECT * FROM label_history ORDER BY response_id").fetchall()
    assert result == [
        ("a1", "clarity", "anna", 2, "round", 2.0, 4.0, "2026-11-21"),
        ("a2", "clarity", "ben", 2, "change", 1.0, None, "2026-11-20"),
    ]


def test_responses_are_read_back_as_the_readers_give_them(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    result = stored_responses(connection)

    assert result["response_id"].tolist() == ["a1", "a2", "b1", "b2"]
    assert result["convo_id"].tolist() == [None] * 4
    assert str(result["turn_index"].dtype) == "Int64"
