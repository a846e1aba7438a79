"""Response files to one table of responses."""

import json
import logging
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem, gathered, raise_all
from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.readers._cells import canonical_number
from eval_assets.readers._problems import Findings, shown
from eval_assets.readers.formats.table import Repeated, Table, as_text, is_none, per_distinct
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.references import (
    MODEL_NAME,
    RESPONSE_ID,
    Key,
    column_of,
    id_of,
    keys,
    shown_key,
)
from eval_assets.readers.scores import read_recorded_scores

logger = logging.getLogger(__name__)

_GROUP_ID = ("group_id", "group")
_OPTIONAL = ("difficulty", "role", "timestamp")
_TURN = re.compile("[0-9]{1,9}")


def read_responses(
    evaluation: Evaluation, *, generated: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return all given responses of the evaluation; the first file to give one wins.

    An empty `response_text` is a real answer, and "N/A", "None" and "nan" are text. Without an id
    column the id is made from (indicator_id, convo_id, turn_index, model_name, seed). Seeds "1",
    "1.0" and "01" are the same seed.

    Args:
        evaluation: Names the files.
        generated: Responses that are not in the files, which labels and scores may be of.

    Returns:
        Columns `RESPONSE_COLUMNS` in the order of the files: text of dtype object with None if
        nothing is given, `turn_index` of dtype Int64, and in `attributes` the further columns of
        the file as a JSON object.

    Raises:
        ExceptionGroup: Of an InputError for each bad place in any of the files; and for each in
            the labels and recorded scores, so that all can be repaired together.
    """
    given = [_given(path, evaluation) for path in evaluation.responses]
    problems = [problem for each in given for problem in each.problems]
    parts = [each.responses for each in given if len(each.responses)]
    merged = parts[0] if parts else _no_responses()
    if len(parts) > 1:
        merged = pd.concat(parts, ignore_index=True)
        merged = merged.drop_duplicates("response_id", keep="first", ignore_index=True)
    some_unread = any(each.some_unread for each in given)
    missing = [column for column in evaluation.filter_columns if not any(column_of(merged, column))]
    if parts and not some_unread:
        problems += map(_unknown_limit, missing)
    if problems:
        known = merged if generated is None else pd.concat([merged, generated], ignore_index=True)
        asked = _without_limits(evaluation, missing)
        problems += _problems_of_ratings(asked, known, some_unread=some_unread)
    raise_all(problems, source="the inputs")
    return merged


@dataclass(frozen=True)
class _Given:
    """Responses of one file, also of bad rows if their id is known, and what is wrong with it.

    Args:
        responses: Columns `RESPONSE_COLUMNS`.
        problems: What is wrong with the file or its rows.
        some_unread: Whether ids or keys may be known to other files, but not here.
    """

    responses: pd.DataFrame
    problems: list[InputProblem]
    some_unread: bool


def _given(path: Path, evaluation: Evaluation) -> _Given:
    """Return the responses of one file with all its problems."""
    try:
        table = read_table(path, folder=evaluation.folder)
        ids = _response_ids(table)
    except InputError as error:
        return _Given(_no_responses(), [error.problem], some_unread=True)
    for note in table.notes:
        logger.info("%s: %s", table.file, note)
    problems = list(_missing_columns(table)) or _problems(table, ids)
    problems = sorted([*table.bad_rows, *problems], key=lambda p: p.line or 0)
    responses = _responses(table, ids.ids)
    named = responses["response_id"].notna()
    unread = bool(table.bad_rows or not named.all() or is_none(_turns(table)).any())
    return _Given(responses if named.all() else responses[named], problems, unread)


def _problems_of_ratings(
    evaluation: Evaluation, responses: pd.DataFrame, *, some_unread: bool
) -> list[InputProblem]:
    """Return what is wrong with labels and recorded scores, beside what follows from responses."""
    problems: list[InputProblem] = []
    with gathered(problems):
        read_labels(evaluation, responses, some_unread=some_unread)
    for judge in evaluation.judges:
        if judge.scores is not None:
            with gathered(problems):
                read_recorded_scores(evaluation, judge, responses, some_unread=some_unread)
    return problems


def _unknown_limit(column: str) -> InputProblem:
    """Return the problem of a column that limits a question, but that no response has."""
    what = f"{column} limits a question, but no response has such a column"
    remedy = "Add it to the responses, or remove it from the rubric"
    return InputProblem("evaluation.yaml", None, "rubric", what, remedy)


def _without_limits(evaluation: Evaluation, columns: Collection[str]) -> Evaluation:
    """Return the evaluation with its questions not limited by these columns."""
    kept = [
        {column: values for column, values in question.applies_to.items() if column not in columns}
        for question in evaluation.rubric
    ]
    rubric = zip(evaluation.rubric, kept, strict=True)
    return replace(
        evaluation, rubric=tuple(replace(question, applies_to=to) for question, to in rubric)
    )


@dataclass(frozen=True)
class _Ids:
    """Id of each row, and the column that gives it; None if ids are made from `keys`."""

    ids: Sequence[str | None]
    header: str | None
    keys: list[Key]

    def named(self, row: int) -> str:
        """Return what a message calls the response in that row."""
        return shown(self.ids[row]) if self.header else shown_key(self.keys[row])


def _response_ids(table: Table) -> _Ids:
    """Return the ids that the file gives, or else make them from the keys.

    Raises:
        InputError: If two columns give the id, or none does.
    """
    given = [header for name in RESPONSE_ID if (header := table.header_of(name)) is not None]
    if len(given) > 1 and not table.has("response_id"):
        what = f"columns {' and '.join(given)} both name the response"
        remedy = f"Rename the one that does, to {RESPONSE_ID[0]}"
        raise InputError(InputProblem(table.file, 1, None, what, remedy))
    if given:
        return _Ids(table.stripped(*RESPONSE_ID), given[0], [])
    if table.columns and table.header_of("indicator_id", "convo_id") is None:
        what = "there is no column response_id"
        remedy = "Add it, or indicator_id, convo_id, turn_index and seed to make it from"
        raise InputError(InputProblem(table.file, 1, None, what, remedy))
    row_keys = list(keys(table))
    return _Ids([id_of(key) for key in row_keys], None, row_keys)


def _missing_columns(table: Table) -> Iterator[InputProblem]:
    """Yield a problem if columns are missing that every response needs."""
    missing = [name for name in ("prompt_text", "response_text") if not table.has(name)]
    if table.header_of(*MODEL_NAME) is None:
        missing.append("model_name")
    if missing and (table.columns or len(table)):
        what = f"there is no column {' and no column '.join(missing)}"
        yield InputProblem(table.file, 1, None, what, "Add it for every row")


def _problems(table: Table, ids: _Ids) -> list[InputProblem]:
    """Return a problem for each row that lacks what a response needs, or repeats an id."""
    findings = Findings(table.file, table.lines)
    turns = table.text("turn_index")
    _note_nothing(findings, ids.header, ids.ids, "a response without an id")
    model = table.header_of(*MODEL_NAME)
    _note_nothing(findings, model, table.stripped(*MODEL_NAME), "a response without a model")
    findings.add(
        is_none(table.text("response_text")),
        table.header_of("response_text"),
        lambda _: ("null is not an answer", 'Write "" if the model answered nothing'),
    )
    findings.add(
        is_none(_turns(table)),
        table.header_of("turn_index"),
        lambda row: (f"{shown(turns[row])} is not a whole number", "Count turns 1, 2, 3"),
    )
    again = pd.Series(np.asarray(ids.ids, dtype=object)).duplicated().to_numpy()
    first: dict[str | None, int] = {}
    if again.any():
        first = dict(zip(reversed(ids.ids), range(len(again) - 1, -1, -1), strict=True))
    findings.add(
        again & ~is_none(ids.ids),
        ids.header,
        lambda row: (
            f"{ids.named(row)} is repeated, first in line {table.lines[first[ids.ids[row]]]}",
            "Keep one of the two rows",
        ),
    )
    return findings.in_order()


def _note_nothing(
    findings: Findings, header: str | None, cells: Sequence[str | None], what: str
) -> None:
    findings.add(is_none(cells), header, lambda _: (what, "Fill it in"))


def _turns(table: Table) -> Repeated[float | None]:
    """Return the turn of each row; NaN if none is given, None if it is not a whole number."""
    return per_distinct(table.text("turn_index"), _turn)


def _turn(cell: str | None) -> float | None:
    number = canonical_number(cell)
    if number is None:
        return math.nan
    return float(number) if _TURN.fullmatch(number) else None


def _responses(table: Table, ids: Sequence[str | None]) -> pd.DataFrame:
    """Return the table in the columns of a response."""
    columns: dict[str, Iterable[object]] = {
        "response_id": ids,
        "prompt_text": table.text("prompt_text"),
        "response_text": table.text("response_text"),
        "model_name": table.stripped(*MODEL_NAME),
        "group_id": table.stripped(*_GROUP_ID),
        "indicator_id": table.stripped("indicator_id"),
        "convo_id": table.stripped("convo_id"),
        "turn_index": _turns(table),
        "seed": per_distinct(table.text("seed"), canonical_number),
        **{header: table.stripped(header) for header in _OPTIONAL},
    }
    names = [(name,) for name in columns]
    taken = {table.header_of(*each) for each in (*names, RESPONSE_ID, MODEL_NAME, _GROUP_ID)}
    further = [header for header in table.columns if header not in taken]
    return _frame({**columns, "attributes": _as_json(table, further)})


def _as_json(table: Table, headers: list[str]) -> list[str]:
    """Return the further cells of each row as a JSON object, without those that are null."""
    if not headers:
        return ["{}"] * len(table)
    rows = zip(*(table.columns[header] for header in headers), strict=True)
    return [
        json.dumps(
            {h: _json_value(c) for h, c in zip(headers, row, strict=True) if c is not None},
            ensure_ascii=False,
        )
        for row in rows
    ]


def _json_value(cell: object) -> object:
    """Return a value that JSON can hold; NaN and infinity, which it cannot, become text."""
    match cell:
        case float() if not math.isfinite(cell):
            return str(cell)
        case str() | bool() | int() | float() | list() | dict():
            return cell
        case _:
            return as_text(cell)


def _no_responses() -> pd.DataFrame:
    return _frame(dict.fromkeys(RESPONSE_COLUMNS, ()))


def _frame(columns: dict[str, Iterable[object]]) -> pd.DataFrame:
    """Return the columns of a response, each in its dtype."""
    series = {
        name: pd.Series(columns[name], dtype=object)
        for name in RESPONSE_COLUMNS
        if name != "turn_index"
    }
    turns = np.array(columns["turn_index"], dtype=float)
    series["turn_index"] = pd.Series(pd.array(turns, dtype="Int64"))
    return pd.DataFrame({name: series[name] for name in RESPONSE_COLUMNS}, copy=False)
