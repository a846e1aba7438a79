"""Recorded judge scores to one table, with a row for every unit of the evaluation."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.errors import InputError, InputProblem, gathered, raise_all
from eval_assets.frame_columns import SCORE_COLUMNS
from eval_assets.readers.formats.contents import content_of_evaluation, table_of
from eval_assets.readers.formats.table import BoolArray, FileTable, without_blanks
from eval_assets.readers.names import names_model
from eval_assets.readers.problems import (
    MessageAndRemedy,
    RowProblems,
    input_error,
    listed_briefly,
    nearest,
    quoted,
    repeated,
)
from eval_assets.readers.rated_rows import (
    RatedRows,
    readings_in_file,
    rows_of_reading,
    rows_of_table,
)
from eval_assets.readers.references import (
    UNKNOWN,
    Key,
    PositionArray,
    ResponseUnits,
    has_references,
    units_of,
)
from eval_assets.readers.values import parsed_ratings
from eval_assets.scale import Scale

_OF_CONVERSATION = "conversation"
"""Status of a turn whose conversation is scored: the turn itself has no score."""

SCORE = ("score", "aiescore")
"""Columns under which a judge's score is accepted."""

_OF_SCORES = ("run", "raw_output")
_SCORES = (
    "scores",
    (
        "Give the columns of one of them: response_id, judge_model, question_id, score (or "
        "raw_output alone); or indicator_id, convo_id, model_name, seed, aiescore"
    ),
)

NumberInReply = Callable[[str, Scale, str], float]
"""The score that a reply states on the scale of a question; NaN if it states none for certain."""


_Units = tuple[PositionArray, PositionArray]
"""Positions of the response and of the question of each row."""


def read_recorded_scores(
    evaluation: Evaluation,
    responses: pd.DataFrame,
    *,
    number_in_reply: NumberInReply | None = None,
    some_unread: bool = False,
) -> list[pd.DataFrame]:
    """Return the scores of each recorded judge, one row for every unit of the evaluation.

    The `model` of a judge picks the rows of that `judge_model`. A score outside the ends of its
    question's scale is kept in `raw_score` only; it may lie between the steps, since it can be a
    mean of several replies. If the file has no score column at all, replies are the scores that
    they state. A score without a turn, of a conversation with several, is in `raw_score` of each of
    its turns, with the status `conversation`: it is not a score of any turn.

    Args:
        evaluation: Names the judges, and the questions with their scales.
        responses: The responses that can be scored, in `RESPONSE_COLUMNS`.
        number_in_reply: Reads replies; without it they state no score.
        some_unread: Whether there are others that could not be read: scores of unknown responses
            are then one problem, and not one each.

    Returns:
        Columns `SCORE_COLUMNS`, by response and then by question. `score` is NaN unless `status`
        is `ok`; other statuses are `conversation`, `out_of_range`, `unparsable` and `missing`.

    Raises:
        ExceptionGroup: Of an InputError for each bad row: an unknown response or question, a
            second score of one unit; or for a file, if none of it can be used.
    """
    units = units_of(evaluation, responses, some_unread=some_unread)
    files: dict[Path, RatedRows] = {}
    frames: list[pd.DataFrame] = []
    problems: list[InputProblem] = []
    for judge in evaluation.judges:
        with gathered(problems):
            if judge.scores is None:
                continue
            if judge.scores not in files:
                files[judge.scores] = _scores_in_file(judge.scores, evaluation, units.response_ids)
            rows = files[judge.scores]
            rows = rows.take(_rows_of(rows.table, evaluation, judge))
            rows, scored, of_conversation = _with_turns(rows, units)
            bad_rows = [*rows.table.bad_rows, *_problems(rows, scored, units)]
            problems += sorted(bad_rows, key=lambda problem: problem.line or 0)
            if not bad_rows:
                parse = number_in_reply or (lambda *_: math.nan)
                verdicts = _verdicts(rows.table, scored[1], of_conversation, evaluation, parse)
                frames.append(_frame(rows.table, scored, units, judge, verdicts))
    raise_all(list(dict.fromkeys(problems)), source="the judge scores")
    return frames


def _scores_in_file(path: Path, evaluation: Evaluation, response_ids: Sequence[str]) -> RatedRows:
    """Return the scores of judges in a file, a row for each."""
    content = content_of_evaluation(path, folder=evaluation.folder)
    questions = {question.id: question.scale for question in evaluation.rubric}
    question_ids = list(questions)
    models = [of.model for of in evaluation.judges if of.scores == path and of.model]
    with suppress(InputError):  # of records on several levels
        table = table_of(content)
        is_scored = table.header_of(*SCORE, "raw_output") is not None
        if not table.columns or (has_references(table) and is_scored):
            return rows_of_table(table, question_ids)
    ids = frozenset(response_ids)
    readings = readings_in_file(content, questions, forms=_SCORES, response_ids=ids, judges=models)
    reading = max(readings, key=lambda of: sum(rated.is_judge for rated in of.rated))
    rated = [of for of in reading.rated if of.is_judge]
    rated = rated or [of for of in reading.rated if not of.rater]
    if not rated:
        headers = listed_briefly([of.column.name for of in reading.rated])
        message = f"columns {headers} hold ratings of people, and none those of a judge"
        raise input_error(content.file, message, _SCORES[1], line=1)
    rows = rows_of_reading(reading, rated, question_ids)
    if "raw_output" not in rows.table.columns:
        rows = rows.take(np.flatnonzero(~rows.stripped("rating").is_none()))
    columns = {"score": rows.table.cells("rating")}
    columns |= {name: rows.table.columns[name] for name in _OF_SCORES if name in rows.table.columns}
    named = {of.rater for of in rated if of.rater}
    # The header of the only column, such as llm_score, is no name of a model unless it looks so.
    is_model = any(names_model(name.lower().replace("llm", "")) for name in named)
    if reading.rater is not None or len(named) > 1 or is_model or named & {*models}:
        columns["judge_model"] = rows.table.cells("rater_id")
    return replace(rows, table=replace(rows.table, columns=columns))


def _rows_of(table: FileTable, evaluation: Evaluation, judge: Judge) -> PositionArray:
    """Return the positions of the rows of the judge's model."""
    judges = [other.id for other in evaluation.judges if other.scores == judge.scores]
    models = table.stripped("judge_model")
    present = sorted(model for model in models.present if model is not None)
    if not table.has("judge_model"):
        if len(judges) <= 1:
            return np.arange(len(table))
        readers = " and ".join(judges)
        message = f"the file does not say whose scores these are, and {readers} read it"
        remedy = "Add the column judge_model, or give each judge a file of its own"
    elif judge.model is None:
        if len(present) <= 1:
            return np.arange(len(table))
        message = f"the file holds scores of several models: {', '.join(present)}"
        remedy = f"Name one of them as the model of the judge {judge.id}"
    else:
        if judge.model in present:
            return np.flatnonzero(models.array(bool, lambda model: model == judge.model))
        message = f"no row has the judge_model {quoted(judge.model)}"
        remedy = nearest(judge.model, present) if present else "Add its scores"
    raise input_error(table.file, message, remedy, column="judge_model")


def _with_turns(scores: RatedRows, units: ResponseUnits) -> tuple[RatedRows, _Units, BoolArray]:
    """Return the rows, one for each turn that they score, and which are of a conversation."""
    names = scores.responses
    rows, responses = np.arange(len(names)), units.responses(names)
    without_turn = names.array(bool, lambda name: isinstance(name, tuple) and name[2] is None)
    if without_turn.any():
        turns: dict[Key, list[int]] = defaultdict(list)
        for position, (indicator, convo, _, model, seed) in enumerate(units.keys):
            turns[indicator, convo, None, model, seed].append(position)
        exact = responses.tolist()
        scored = [
            turns.get(names[row], [UNKNOWN]) if without_turn[row] else [exact[row]]
            for row in rows.tolist()
        ]
        n_scored = [len(positions) for positions in scored]
        without_turn &= max(n_scored) > 1
        rows = np.repeat(rows, n_scored)
        responses = np.array([position for positions in scored for position in positions])
        scores = scores.take(rows)
    questions = units.questions(scores.questions, responses)
    return scores, (responses, questions), without_turn[rows]


def _problems(rows: RatedRows, scored: _Units, units: ResponseUnits) -> list[InputProblem]:
    table, (responses, questions) = rows.table, scored
    problems = RowProblems(table.file, table.lines)
    units.add_unknown(problems, rows, responses=responses, questions=questions)
    unit = responses * len(units.question_ids) + questions
    # Rows without a unit must not look like scores of one.
    unit[problems.bad] = -1 - np.flatnonzero(problems.bad)
    cells: list[object] = unit.tolist()
    if table.has("run"):
        cells = list(zip(cells, table.stripped("run"), strict=True))
    is_second, first = repeated(cells)

    def second(row: int) -> MessageAndRemedy:
        response = quoted(units.response_ids[responses[row]])
        question = quoted(units.question_ids[questions[row]])
        first_line = f"the first is in line {table.lines[first[cells[row]]]}"
        return f"a second score of {response} on {question}, {first_line}", "Keep one of the two"

    problems.add_described(is_second, table.header_of(*SCORE) or "raw_output", second)
    return list(dict.fromkeys(problems.in_order()))


def _frame(
    table: FileTable,
    scored: _Units,
    units: ResponseUnits,
    judge: Judge,
    verdicts: Mapping[str, npt.NDArray[Any]],
) -> pd.DataFrame:
    shape = units.applies.shape
    columns = {
        "response_id": np.broadcast_to(np.array(units.response_ids, dtype=object)[:, None], shape),
        "question_id": np.broadcast_to(np.array(units.question_ids, dtype=object), shape),
        "judge_id": np.full(shape, judge.id, dtype=object),
        "score": np.full(shape, np.nan),
        "status": np.full(shape, "missing", dtype=object),
        "raw_score": np.full(shape, np.nan),
        "raw_output": np.full(shape, None, dtype=object),
        "runs": np.full(shape, None, dtype=object),
    }
    for name, cells in verdicts.items():
        columns[name][scored] = cells
    if table.has("run"):  # of several runs, the mean or the median
        by_unit: dict[tuple[int, int], list[float]] = defaultdict(list)
        for response, question, score in zip(*scored, verdicts["score"], strict=True):
            if not math.isnan(score):
                by_unit[int(response), int(question)].append(float(score))
        for unit, runs in by_unit.items():
            aggregate = np.mean if judge.aggregate == "mean" else np.median
            columns["score"][unit] = columns["raw_score"][unit] = aggregate(runs)
            columns["status"][unit] = "ok"
            columns["runs"][unit] = runs if len(runs) > 1 else None
    return pd.DataFrame(
        {
            name: pd.Series(columns[name][units.applies], dtype=columns[name].dtype)
            for name in SCORE_COLUMNS
        }
    )


def _verdicts(
    table: FileTable,
    questions: PositionArray,
    of_conversation: BoolArray,
    evaluation: Evaluation,
    number_in_reply: NumberInReply,
) -> dict[str, npt.NDArray[Any]]:
    texts = table.text(*SCORE)
    cells = parsed_ratings(texts)
    replies = table.text("raw_output").map(lambda reply: reply if without_blanks(reply) else None)
    raw, within = np.full(len(table), np.nan), np.zeros(len(table), dtype=bool)
    for position, question in enumerate(evaluation.rubric):
        rows = questions == position
        raw[rows] = cells.take(rows).values_on(question.scale)
        if table.header_of(*SCORE) is None:
            raw[rows] = [
                math.nan if reply is None else number_in_reply(reply, question.scale, question.id)
                for reply in replies.take(rows)
            ]
        within[rows] = question.scale.spans(raw[rows])
    has_reply = ~replies.is_none()
    status = np.select(
        [cells.blank & ~has_reply, np.isnan(raw), ~within],
        ["missing", "unparsable", "out_of_range"],
        default=np.where(of_conversation, _OF_CONVERSATION, "ok"),
    )
    # A score that is not a number is all that is left of a reply that was not kept.
    is_reply = np.isnan(raw) & ~cells.blank & ~has_reply
    return {
        "score": np.where(status == "ok", raw, np.nan),
        "status": status.astype(object),
        "raw_score": raw,
        "raw_output": np.where(is_reply, texts.array(object), replies.array(object)),
    }
