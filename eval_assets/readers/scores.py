"""Recorded judge scores to one table, with a row for every unit of the evaluation."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.frame_columns import SCORE_COLUMNS
from eval_assets.readers._cells import read_ratings, values_on
from eval_assets.readers._problems import Findings, WhatAndRemedy, shown
from eval_assets.readers._recorded_forms import GivenScores, given_scores, rows_of
from eval_assets.readers.formats.table import (
    Table,
    is_none,
    per_distinct,
    repeating,
    without_blanks,
)
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.references import Units, units_of

OF_CONVERSATION = "conversation"
"""Status of a turn whose conversation is scored: the turn itself has no score."""

UNPARSED = "unparsed"
"""Status of a reply recorded without a score: what it means is for the caller to parse."""

UNPARSED_OF_CONVERSATION = "unparsed of conversation"
"""Status of such a reply if it is about a conversation of several turns."""


def read_recorded_scores(
    evaluation: Evaluation,
    judge: Judge,
    responses: pd.DataFrame,
    *,
    tables: MutableMapping[Path, Table] | None = None,
    some_unread: bool = False,
) -> pd.DataFrame:
    """Return the recorded scores of one judge, one row for every unit that is asked.

    A score outside the ends of its question's scale is kept in `raw_score` only; it may lie between
    the steps, since it can be a mean of several replies. If the file has no score column at all,
    rows with a reply have the status `UNPARSED` or `UNPARSED_OF_CONVERSATION`: the readers do not
    decide what a reply means.
    A score without a turn, of a conversation with several, is in `raw_score` of each of its turns,
    with the status `conversation`: it is not a score of any turn.

    Args:
        evaluation: Names the questions and their scales.
        judge: A judge with `scores`; its `model` picks the rows of that `judge_model`.
        responses: The responses that can be scored, in `RESPONSE_COLUMNS`.
        tables: Files that were read for other judges; what is read now is added.
        some_unread: Whether there are others that could not be read: scores of unknown responses
            are then one problem, and not one each.

    Returns:
        Columns `SCORE_COLUMNS`, by response and then by question. `score` is NaN unless `status`
        is `ok`; other statuses are `conversation`, `out_of_range`, `unparsable` and `missing`,
        beside the two of replies.

    Raises:
        ExceptionGroup: Of an InputError for each bad row: an unknown response or question, a
            second score of one unit; or for the file, if none of it can be used.
    """
    if judge.scores is None:
        raise ValueError(f"the judge must have recorded scores, got {judge}")
    units = units_of(evaluation, responses, some_unread=some_unread)
    try:
        tables = {} if tables is None else tables
        if judge.scores not in tables:
            tables[judge.scores] = read_table(judge.scores, folder=evaluation.folder)
        table = tables[judge.scores]
        _check_whose(table, evaluation, judge)
        given = given_scores(rows_of(table, judge), units)
    except InputError as error:
        raise_all([error.problem], source=f"the scores of {judge.id}")
        raise
    problems = [*table.bad_rows, *_problems(given, units)]
    problems.sort(key=lambda problem: problem.line or 0)
    raise_all(problems, source=f"the scores of {judge.id}")
    return _scores(given, units, evaluation, judge)


def _check_whose(table: Table, evaluation: Evaluation, judge: Judge) -> None:
    """Raise InputError if the same rows would be the scores of several judges."""
    if table.has("judge_model"):
        return
    others = [each.id for each in evaluation.judges if each.scores == judge.scores]
    if len(others) > 1:
        what = f"the file does not say whose scores these are, and {' and '.join(others)} read it"
        remedy = "Add the column judge_model, or give each judge a file of its own"
        raise InputError(InputProblem(table.file, None, "judge_model", what, remedy))


def _problems(given: GivenScores, units: Units) -> list[InputProblem]:
    """Return a problem for each row whose unit does not exist, or has been scored before."""
    lines = given.of_rows(given.table.lines)
    findings = Findings(given.table.file, lines)
    units.note_unknown(findings, given.named, responses=given.responses, questions=given.questions)
    unit = given.responses * len(units.question_ids) + given.questions
    # Rows without a unit must not look like scores of one.
    unit[findings.bad] = -1 - np.flatnonzero(findings.bad)

    is_second = pd.Series(unit).duplicated(keep="first").to_numpy()
    first: dict[int, int] = {}
    if is_second.any():
        first = dict(zip(unit[::-1].tolist(), lines[::-1], strict=True))

    def second(row: int) -> WhatAndRemedy:
        response = shown(units.response_ids[given.responses[row]])
        question = shown(units.question_ids[given.questions[row]])
        where = f"the first is in line {first[unit[row]]}"
        return f"a second score of {response} on {question}, {where}", "Keep one of the two"

    findings.add(
        is_second,
        given.score_header or "raw_output",
        second,
    )
    return list(dict.fromkeys(findings.in_order()))


def _scores(given: GivenScores, units: Units, evaluation: Evaluation, judge: Judge) -> pd.DataFrame:
    """Return the scores of all units that are asked; `missing` if there is none."""
    shape = units.asked.shape
    columns = {
        "response_id": np.broadcast_to(np.array(units.response_ids, dtype=object)[:, None], shape),
        "question_id": np.broadcast_to(np.array(units.question_ids, dtype=object), shape),
        "judge_id": np.full(shape, judge.id, dtype=object),
        "score": np.full(shape, np.nan),
        "status": np.full(shape, "missing", dtype=object),
        "raw_score": np.full(shape, np.nan),
        "raw_output": np.full(shape, None, dtype=object),
    }
    unit = (given.responses, given.questions)
    for name, cells in _verdicts(given, evaluation).items():
        columns[name][unit] = cells
    return pd.DataFrame(
        {
            name: pd.Series(columns[name][units.asked], dtype=columns[name].dtype)
            for name in SCORE_COLUMNS
        }
    )


def _verdicts(given: GivenScores, evaluation: Evaluation) -> dict[str, npt.NDArray[Any]]:
    """Return score, status, raw score and reply of each row."""
    scores = given.column(given.score_header or "score")
    replies = per_distinct(
        given.column("raw_output"), lambda reply: reply if without_blanks(reply) else None
    )
    read = read_ratings(scores, has_decimal_commas=given.table.has_decimal_commas)
    raw = np.full(len(scores), np.nan)
    within = np.zeros(len(scores), dtype=bool)
    for position, question in enumerate(evaluation.rubric):
        here = given.questions == position
        raw[here] = values_on(read.only(here), question.scale)
        within[here] = question.scale.spans(raw[here])
    replied = ~is_none(replies)
    blank_with_reply = (
        "unparsable"
        if given.score_header
        else np.where(given.of_conversation, UNPARSED_OF_CONVERSATION, UNPARSED)
    )
    status = np.select(
        [read.blank & ~replied, read.blank, np.isnan(raw), ~within],
        ["missing", blank_with_reply, "unparsable", "out_of_range"],
        default=np.where(given.of_conversation, OF_CONVERSATION, "ok"),
    )
    # A score that is not a number is all that is left of a reply that was not kept.
    instead = np.isnan(raw) & ~read.blank & ~replied
    raw_output = np.array(replies, dtype=object)
    raw_output[instead] = np.array(repeating(scores), dtype=object)[instead]
    return {
        "score": np.where(status == "ok", raw, np.nan),
        "status": status.astype(object),
        "raw_score": raw,
        "raw_output": raw_output,
    }
