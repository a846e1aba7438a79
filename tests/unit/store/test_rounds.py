"""Ratings by people, round by round."""

from pathlib import Path

import duckdb

from eval_assets.config.evaluation import Evaluation
from eval_assets.store.inputs import write_labels
from eval_assets.store.rounds import ratings_by_round
from tests.unit.store.conftest import CLARITY, SAFETY, labels

EVALUATION = Evaluation("test", Path(), (CLARITY, SAFETY))


def test_ratings_of_a_round_are_those_that_decide_and_those_that_do_not(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """a1 was rated again in round 2, where r2 skipped it in round 1; a2 was not."""
    kept = labels(
        ("a1", "clarity", "r1", 4), ("a1", "clarity", "r2", 5), ("a2", "clarity", "r1", 2)
    )
    kept["round"] = [2, 2, 1]
    earlier = labels(("a1", "clarity", "r1", 1), ("a1", "clarity", "r2", float("nan")))
    earlier["skipped"] = [False, True]
    write_labels(connection, kept, earlier=earlier)

    found = ratings_by_round(connection, EVALUATION)

    assert {
        name: {number: given.value.tolist() for number, given in rounds.items()}
        for name, rounds in found.items()
    } == {"clarity": {1: [1, 2], 2: [4, 5]}}
    assert found["clarity"][1].by_rater().keys() == {"r1"}


def test_labels_of_one_round_are_not_compared(connection: duckdb.DuckDBPyConnection) -> None:
    write_labels(connection, labels(("a1", "clarity", "r1", 4), ("a1", "safety", "r1", 1)))

    assert ratings_by_round(connection, EVALUATION) == {}


def test_responses_that_a_later_round_left_with_one_rater_are_counted(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Of a1 to a3, which two rated in round 1, one rater rated a1 again, and two rated a2 again."""
    kept = labels(
        ("a1", "clarity", "r1", 4),
        *(("a2", "clarity", rater, 4) for rater in ("r1", "r2")),
        *(("a3", "clarity", rater, 2) for rater in ("r1", "r2")),
    )
    kept["round"] = [2, 2, 2, 1, 1]
    earlier = labels(
        *((unit, "clarity", rater, 1) for unit in ("a1", "a2") for rater in ("r1", "r2"))
    )
    write_labels(connection, kept, earlier=earlier)

    assert connection.table("no_longer_paired").fetchall() == [("clarity", 1)]
