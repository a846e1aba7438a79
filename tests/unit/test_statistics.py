"""The lists of statistics are what the tables hold and what is measured."""

from pathlib import Path

import numpy as np
import pytest

from eval_assets.agreement import LongRatings, measure_judges_against_humans
from eval_assets.evaluation import Evaluation
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.statistics import JUDGE_HUMAN_AGREEMENT, STATISTICS
from eval_assets.store import columns_of, connect


@pytest.mark.parametrize("table", sorted(STATISTICS))
def test_every_number_of_a_table_is_a_listed_statistic_with_its_meaning(
    tmp_path: Path, table: str
) -> None:
    with connect(tmp_path / "eval.duckdb") as connection:
        columns = columns_of(connection, table)

    listed = {name for statistic in STATISTICS[table] for name in statistic.columns}
    assert {column.name for column in columns if column.type == "DOUBLE"} == listed
    meanings = {column.name: column.comment for column in columns}
    assert [meanings[statistic.column] for statistic in STATISTICS[table]] == [
        statistic.meaning for statistic in STATISTICS[table]
    ]


def test_without_judges_there_are_no_rows_but_all_columns() -> None:
    nothing = LongRatings(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0), ("r1", "r2"), np.arange(4)
    )
    evaluation = Evaluation(
        "test", Path(), (RubricQuestion("q", "Is it good?", LIKERT5, "ordinal"),)
    )
    without = LongRatings(nothing.unit, nothing.rater, nothing.value, (), nothing.group)

    measured = measure_judges_against_humans(
        {"q": nothing}, {"q": without}, evaluation, conversations={}, data_version="1"
    )

    assert len(measured.agreement) == len(measured.confusion) == 0
    assert {"judge_id", "a_ha_above_people_low", "verdict"} <= set(measured.agreement)
    assert {"judge_id", "human_value"} <= set(measured.confusion)


def test_every_listed_statistic_of_a_judge_is_measured() -> None:
    """Forty units, on which two raters and the judge differ by a step now and then."""
    unit = np.repeat(np.arange(40), 2)
    value = (1.0 + (unit + np.tile([0, 1], 40) * (unit % 3 == 0)) % 5).astype(np.float64)
    humans = LongRatings(unit, np.tile([0, 1], 40), value, ("r1", "r2"), np.arange(40))
    judge = np.arange(40)
    scored = (1.0 + (judge + judge % 2) % 5).astype(np.float64)
    scores = LongRatings(judge, np.zeros(40, int), scored, ("j",), np.arange(40))
    evaluation = Evaluation(
        "test", Path(), (RubricQuestion("q", "Is it good?", LIKERT5, "ordinal"),)
    )
    measured = measure_judges_against_humans(
        {"q": humans}, {"q": scores}, evaluation, conversations={}, data_version="1"
    ).agreement

    [row] = measured.to_dict("records")
    for statistic in JUDGE_HUMAN_AGREEMENT:
        for column in statistic.columns:
            assert np.isfinite(row[column]), column
