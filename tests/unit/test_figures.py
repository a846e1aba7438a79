"""Records of figures: what is measured is stored, and read back as it was."""

import math
from pathlib import Path

import numpy as np
import pytest

from eval_assets.agreement.judges import measure_judges_against_humans
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import (
    RECORDS,
    FigureRecord,
    HumanFigures,
    JudgeHumanFigures,
    fields_of,
)
from eval_assets.scale import LIKERT5
from eval_assets.store.connection import connect
from eval_assets.store.figures import read_figures, replace_figures
from eval_assets.store.schema import columns_of, content_fingerprint
from tests.unit.cases import Case

EVALUATION = Evaluation("test", Path(), (RubricQuestion("q", "Is it good?", LIKERT5, "ordinal"),))


@pytest.mark.parametrize("record", RECORDS)
def test_views_have_a_column_and_a_meaning_for_each_statistic(
    tmp_path: Path, record: type[FigureRecord]
) -> None:
    with connect(tmp_path / "eval.duckdb") as connection:
        columns = {column.name: column for column in columns_of(connection, record.table)}

    fields = fields_of(record)
    assert list(columns) == [name for field in fields for name in field.columns]
    for field in fields:
        if field.statistic:
            assert columns[field.name].comment == field.statistic.meaning
            assert columns[field.name].type == "DOUBLE"


def test_stored_figures_are_read_as_they_were_measured(tmp_path: Path) -> None:
    rows = Case(alpha_within=0.8).humans()
    with connect(tmp_path / "eval.duckdb") as connection:
        replace_figures(connection, HumanFigures, rows)
        overall, *questions = read_figures(connection, HumanFigures)
        of_questions = read_figures(connection, HumanFigures, subjects=("question",))
        assert read_figures(connection, HumanFigures, subjects=("a rater's",)) == ()
        assert read_figures(connection, HumanFigures, subjects=()) == ()

    assert (overall.alpha_within, overall.question_id) == (rows[0].alpha_within, None)
    assert not overall.kappa.is_defined
    assert math.isnan(overall.most_frequent_share)
    assert tuple(questions) == rows[1:] == of_questions


def test_fingerprint_of_figures_changes_with_a_value_only(tmp_path: Path) -> None:
    rows = Case(alpha_within=0.8).humans()
    with connect(tmp_path / "eval.duckdb") as connection:
        fingerprints = []
        for figures in (rows, rows[::-1], Case(alpha_within=0.7).humans()):
            replace_figures(connection, HumanFigures, figures)
            columns = [column.name for column in columns_of(connection, "human_agreement")]
            fingerprints.append(content_fingerprint(connection, "human_agreement", columns))

    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
    assert [text.partition("-")[0] for text in fingerprints] == [str(len(rows))] * 3


def test_replaced_figures_leave_no_row_of_the_last_time(tmp_path: Path) -> None:
    rows = Case().humans()
    with connect(tmp_path / "eval.duckdb") as connection:
        replace_figures(connection, HumanFigures, rows)
        replace_figures(connection, HumanFigures, rows[:1])

        assert [row.scope for row in read_figures(connection, HumanFigures)] == ["overall"]


def test_no_judge_leaves_no_figures() -> None:
    humans = LongRatings(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0), ("r1", "r2"), np.arange(4)
    )
    judges = LongRatings(humans.unit, humans.rater, humans.value, (), humans.group)

    measured = measure_judges_against_humans(
        {"q": humans}, {"q": judges}, EVALUATION, conversations={}, data_version="1"
    )

    assert measured.agreement == ()
    assert {"judge_id", "human_value"} <= set(measured.confusion)


def test_every_statistic_of_a_judge_is_measured() -> None:
    """Twenty groups of two units, on which raters and the judge differ by a step now and then."""
    unit = np.repeat(np.arange(40), 2)
    value = (1.0 + (unit + np.tile([0, 1], 40) * (unit % 3 == 0)) % 5).astype(np.float64)
    humans = LongRatings(unit, np.tile([0, 1], 40), value, ("r1", "r2"), np.arange(40) // 2)
    judge = np.arange(40)
    scored = (1.0 + (judge + judge % 2) % 5).astype(np.float64)
    scores = LongRatings(judge, np.zeros(40, int), scored, ("j",), np.arange(40) // 2)

    [row] = measure_judges_against_humans(
        {"q": humans}, {"q": scores}, EVALUATION, conversations={}, data_version="1"
    ).agreement

    columns = row.columns()
    for field in fields_of(JudgeHumanFigures):
        if field.statistic:
            assert all(columns[name] is not None for name in field.columns), field.name
