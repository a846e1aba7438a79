"""Ratings by people, round by round."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.humans import measure_humans
from eval_assets.config.evaluation import Evaluation
from eval_assets.stats import krippendorff_alpha
from eval_assets.store.inputs import write_labels
from eval_assets.store.long_ratings import ratings_by_round
from eval_assets.store.ratings import human_ratings
from eval_assets.store.schema import replace_rows
from tests.unit.store.conftest import CLARITY, SAFETY, labels, responses

EVALUATION = Evaluation("test", Path(), (CLARITY, SAFETY))


def test_ratings_of_a_round_are_those_that_decide_and_those_that_do_not(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """a1 was rated again in round 2, where r2 skipped it in round 1; a2 was not."""
    current = labels(
        ("a1", "clarity", "r1", 4), ("a1", "clarity", "r2", 5), ("a2", "clarity", "r1", 2)
    )
    current["round"] = [2, 2, 1]
    earlier = labels(("a1", "clarity", "r1", 1), ("a1", "clarity", "r2", float("nan")))
    earlier["skipped"] = [False, True]
    write_labels(connection, current, earlier=earlier)

    result = ratings_by_round(connection, EVALUATION)

    assert {
        name: {number: inputs.value.tolist() for number, inputs in rounds.items()}
        for name, rounds in result.items()
    } == {"clarity": {1: [1, 2], 2: [4, 5]}}
    assert result["clarity"][1].raters == ["r1"]


def test_labels_of_one_round_are_not_compared(connection: duckdb.DuckDBPyConnection) -> None:
    write_labels(connection, labels(("a1", "clarity", "r1", 4), ("a1", "safety", "r1", 1)))

    assert ratings_by_round(connection, EVALUATION) == {}


def test_responses_that_a_later_round_left_with_one_rater_are_counted(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Of a1 to a3, which two rated in round 1, one rater rated a1 again, and two rated a2 again."""
    current = labels(
        ("a1", "clarity", "r1", 4),
        *(("a2", "clarity", rater, 4) for rater in ("r1", "r2")),
        *(("a3", "clarity", rater, 2) for rater in ("r1", "r2")),
    )
    current["round"] = [2, 2, 2, 1, 1]
    earlier = labels(
        *((unit, "clarity", rater, 1) for unit in ("a1", "a2") for rater in ("r1", "r2"))
    )
    write_labels(connection, current, earlier=earlier)

    assert connection.table("no_longer_paired").fetchall() == [("clarity", 1)]


def test_labels_of_another_wording_are_not_said_to_have_lost_a_round(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Two rated a1 under version 1, and nobody since."""
    current = labels(*(("a2", "clarity", rater, 4) for rater in ("r1", "r2")))
    earlier = labels(*(("a1", "clarity", rater, 1) for rater in ("r1", "r2")))
    current["rubric_version"], earlier["rubric_version"] = 2, 1
    write_labels(connection, current, earlier=earlier)

    assert connection.table("no_longer_paired").fetchall() == []


def test_the_first_round_decides_if_the_second_relabels_the_disagreements(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    ids = [f"a{k:02}" for k in range(40)]
    replace_rows(connection, "responses", responses(*ids))
    value = {name: 1.0 + k % 5 for k, name in enumerate(ids)}
    apart = ids[::4]
    first = [
        (
            name,
            "clarity",
            rater,
            6 - value[name] if name in apart and rater == "r2" else value[name],
        )
        for name in ids
        for rater in ("r1", "r2")
    ]
    settled = labels(*((name, "clarity", r, value[name]) for name in apart for r in ("r1", "r2")))
    settled["round"] = 2
    agreements = labels(*(row for row in first if row[0] not in apart))
    earlier = labels(*(row for row in first if row[0] in apart))
    write_labels(connection, pd.concat([agreements, settled], ignore_index=True))
    without_first_round = human_ratings(connection, EVALUATION)
    version = without_first_round.data_version
    write_labels(connection, pd.concat([agreements, settled], ignore_index=True), earlier=earlier)
    humans = human_ratings(connection, EVALUATION)

    expected = np.array([row[3] for row in first]).reshape(40, 2)
    assert without_first_round.first_round_only == frozenset()
    assert humans.first_round_only == {"clarity"}
    assert humans.ratings["clarity"].matrix() == pytest.approx(expected)
    assert humans.data_version != version
    measures = measure_humans(humans, EVALUATION)
    assert measures.agreement[1].alpha.value == pytest.approx(
        krippendorff_alpha(expected, level="ordinal")
    )
    assert any("each response's first round" in finding.finding for finding in measures.findings)


def test_responses_with_one_text_and_no_prompt_form_a_group(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    rows = responses("a1", "a2", "a3", "a4", "a5", "a6")
    rows["prompt_text"] = None
    rows["response_text"] = ["same", "same", "other", "", "", None]
    replace_rows(connection, "responses", rows)
    groups = connection.execute(
        "SELECT group_id FROM response_groups ORDER BY response_id"
    ).fetchall()

    assert groups == [("a1",), ("a1",), ("a3",), ("a4",), ("a5",), ("a6",)]
