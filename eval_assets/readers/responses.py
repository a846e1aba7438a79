"""Response files to one table of responses, and prompt files to conversations."""

import json
import logging
import math
import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import PAIR_COLUMNS
from eval_assets.conversation import Conversation, Turn
from eval_assets.errors import InputProblem, gathered, raise_all
from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.readers.formats.contents import read_table
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.problems import RowProblems, input_error, quoted, repeated
from eval_assets.readers.references import (
    MODEL_NAME,
    RESPONSE_ID,
    column_of,
    id_of,
    keys,
    quoted_key,
)
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.readers.values import canonical_number

logger = logging.getLogger(__name__)

_GROUP_ID = ("group_id", "group")
_OPTIONAL = ("difficulty", "role", "timestamp")
_MODELS = ("model_a", "model_b")

KNOWN_COLUMNS = frozenset(
    {*RESPONSE_COLUMNS, *RESPONSE_ID, *MODEL_NAME, *_GROUP_ID, *PAIR_COLUMNS, *_MODELS}
) - {"attributes"}
"""Columns of a file of responses that have a fixed meaning."""
_TURN = re.compile("[0-9]{1,9}")


def read_responses(
    evaluation: Evaluation, *, generated: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return all responses in the files of the evaluation; the first file with an id wins.

    An empty `response_text` is a real response, and "N/A", "None" and "nan" are text. Without an id
    column the id is made from (indicator_id, convo_id, turn_index, model_name, seed). Seeds "1",
    "1.0" and "01" are the same seed.

    Args:
        evaluation: Names the files.
        generated: Responses to the prompts, of which those in files take precedence.

    Returns:
        Columns `RESPONSE_COLUMNS` in the order of the files, generated ones last: text of dtype
        object with None if nothing is written, `turn_index` of dtype Int64, and in `attributes` the
        further columns of the file as a JSON object.

    Raises:
        ExceptionGroup: Of an InputError for each bad place in any of the files; and for each in
            the labels and recorded scores, so that all can be repaired together.
    """
    parts: list[pd.DataFrame] = []
    problems: list[InputProblem] = []
    n_whole = 0
    for path in evaluation.responses:
        with gathered(problems):
            table = read_table(path, folder=evaluation.folder)
            for note in table.notes:
                logger.info("%s: %s", table.file, note)
            responses, problems_of_file = responses_of(table)
            problems += problems_of_file
            parts.append(responses)
            n_whole += not table.bad_rows and len(responses) == len(table)
    parts += [] if generated is None else [generated]
    parts = [responses for responses in parts if len(responses)]
    merged = parts[0] if parts else _frame({})
    if len(parts) > 1:
        merged = pd.concat(parts, ignore_index=True)
    if len(parts) > 1 or problems:
        merged = merged.drop_duplicates("response_id", keep="first", ignore_index=True)
    some_unread = n_whole < len(evaluation.responses)
    missing = [column for column in evaluation.filter_columns if not any(column_of(merged, column))]
    if parts and not some_unread:
        remedy = "Add it to the responses, or remove it from the rubric"
        for column in missing:
            message = f"{column} limits a question, but no response has such a column"
            problems.append(InputProblem("evaluation.yaml", None, "rubric", message, remedy))
    if problems:
        rubric = [
            replace(q, applies_to={c: v for c, v in q.applies_to.items() if c not in missing})
            for q in evaluation.rubric
        ]
        unlimited = replace(evaluation, rubric=tuple(rubric))
        with gathered(problems):
            read_labels(unlimited, merged, some_unread=some_unread)
        with gathered(problems):
            read_recorded_scores(unlimited, merged, some_unread=some_unread)
    raise_all(problems, source="the inputs")
    return merged


def responses_of(table: FileTable) -> tuple[pd.DataFrame, list[InputProblem]]:
    """Return the responses of a file, also of bad rows if their id is known, and its problems."""
    table = _with_pairs(table)
    header, problems = None, list[InputProblem]()
    with gathered(problems):
        header = _id_header(table)
    if problems:
        return _frame({}), problems
    ids = table.stripped(header) if header else keys(table).map(id_of)
    missing = [name for name in ("prompt_text", "response_text") if not table.has(name)]
    missing += ["model_name"] if table.header_of(*MODEL_NAME) is None else []
    if missing and (table.columns or len(table)):
        message = f"there is no column {' and no column '.join(missing)}"
        problems = [InputProblem(table.file, 1, None, message, "Add it for every row")]
    else:
        problems = _problems(table, ids, header)
    responses = _responses(table, ids)
    in_order = sorted([*table.bad_rows, *problems], key=lambda problem: problem.line or 0)
    named = responses["response_id"].notna()
    return responses if named.all() else responses[named], in_order


def _with_pairs(table: FileTable) -> FileTable:
    """Return the table with the text and the model of pairs, from those of both answers."""
    columns = dict(table.columns)
    if table.has(*PAIR_COLUMNS) and not table.has("response_text"):
        pairs = zip(*map(table.text, PAIR_COLUMNS), strict=True)
        texts = [f"A:\n{first or ''}\n\nB:\n{second or ''}" for first, second in pairs]
        columns["response_text"] = FileColumn.of(texts)
    if table.has(*_MODELS) and table.header_of(*MODEL_NAME) is None:
        pairs = zip(*map(table.text, _MODELS), strict=True)
        columns["model_name"] = FileColumn.of([f"{first} and {second}" for first, second in pairs])
    return table.with_columns(columns)


def _id_header(table: FileTable) -> str | None:
    """Return the column of the ids; None if they are made from the keys."""
    headers = [header for name in RESPONSE_ID if (header := table.header_of(name)) is not None]
    if len(headers) > 1 and not table.has("response_id"):
        message = f"columns {' and '.join(headers)} both name the response"
        remedy = f"Rename the one that does, to {RESPONSE_ID[0]}"
        raise input_error(table.file, message, remedy, line=1)
    has_key = table.header_of("indicator_id", "convo_id") is not None
    if not headers and table.columns and not has_key:
        remedy = "Add it, or indicator_id, convo_id, turn_index and seed to make it from"
        raise input_error(table.file, "there is no column response_id", remedy, line=1)
    return headers[0] if headers else None


def _problems(table: FileTable, ids: FileColumn[Any], header: str | None) -> list[InputProblem]:
    """Return a problem for each row that is no complete response, or repeats an id."""
    problems = RowProblems(table.file, table.lines)
    model, text = table.header_of(*MODEL_NAME), table.header_of("response_text")
    turn, turns = table.header_of("turn_index"), table.text("turn_index")
    no_model, no_text = table.stripped(*MODEL_NAME).is_none(), table.text("response_text").is_none()
    empty_remedy, turn_remedy = 'Write "" if the model answered nothing', "Count turns 1, 2, 3"
    problems.add(ids.is_none(), header, "a response without an id", "Fill it in")
    problems.add(no_model, model, "a response without a model", "Fill it in")
    problems.add(no_text, text, "null is not an answer", empty_remedy)
    problems.add(_turns(table).is_none(), turn, "is not a whole number", turn_remedy, turns)
    row_keys = keys(table)
    is_repeated, first = repeated(ids)

    def repetition(row: int) -> tuple[str, str]:
        name = quoted(ids[row]) if header else quoted_key(row_keys[row])
        message = f"{name} is repeated, first in line {table.lines[first[ids[row]]]}"
        return message, "Keep one of the two rows"

    problems.add_described(is_repeated & ~ids.is_none(), header, repetition)
    return problems.in_order()


def _turns(table: FileTable) -> FileColumn[float | None]:
    """Return the turn of each row; NaN if it names none, None if it is not a whole number."""

    def turn(cell: str | None) -> float | None:
        number = canonical_number(cell)
        return math.nan if number is None else float(number) if _TURN.fullmatch(number) else None

    return table.text("turn_index").map(turn)


def _responses(table: FileTable, ids: FileColumn[Any]) -> pd.DataFrame:
    columns: dict[str, FileColumn[Any]] = {
        "response_id": ids,
        "prompt_text": table.text("prompt_text"),
        "response_text": table.text("response_text"),
        "model_name": table.stripped(*MODEL_NAME),
        "group_id": table.stripped(*_GROUP_ID),
        "indicator_id": table.stripped("indicator_id"),
        "convo_id": table.stripped("convo_id"),
        "turn_index": _turns(table),
        "seed": table.text("seed").map(canonical_number),
        **{header: table.stripped(header) for header in _OPTIONAL},
    }
    names: list[tuple[str, ...]] = [(name,) for name in columns]
    names += [RESPONSE_ID, MODEL_NAME, _GROUP_ID]
    standard_headers = {table.header_of(*synonyms) for synonyms in names}
    further = [header for header in table.columns if header not in standard_headers]
    return _frame({**columns, "attributes": _attributes(table, further)})


def _attributes(table: FileTable, headers: list[str]) -> FileColumn[str]:
    """Return the further cells of each row as a JSON object, without those that are null."""
    if not headers:
        return FileColumn.repeat("{}", len(table))

    def finite(cell: object) -> object:  # JSON cannot hold NaN and infinity, which become text
        return str(cell) if isinstance(cell, float) and not math.isfinite(cell) else cell

    rows = zip(*(table.columns[header].map(finite) for header in headers), strict=True)
    objects = (
        {header: cell for header, cell in zip(headers, row, strict=True) if cell is not None}
        for row in rows
    )
    texts = [json.dumps(cells, ensure_ascii=False, default=as_text) for cells in objects]
    return FileColumn.of(texts)


def _frame(columns: dict[str, FileColumn[Any]]) -> pd.DataFrame:
    empty = FileColumn[Any].of([])
    series = {
        name: pd.Series(columns.get(name, empty).array(object), dtype=object)
        for name in RESPONSE_COLUMNS
    }
    turns = columns.get("turn_index", empty).array(float)
    series["turn_index"] = pd.Series(pd.array(turns, dtype="Int64"))
    return pd.DataFrame(series, copy=False)


_OWN = ("indicator_id", "convo_id", "turn_index", "prompt_text")
_USER = "user"

_Key = tuple[str | None, str]


def read_prompts(evaluation: Evaluation) -> list[Conversation]:
    """Return all conversations to hold with the models under test, in the order of the files.

    Rows of one `indicator_id` and `convo_id` are the turns of a conversation, in the order of their
    `turn_index`. A row without a `convo_id` is a separate conversation, named by its line.
    Further columns, such as `difficulty`, are kept with each turn.

    Raises:
        ExceptionGroup: Of an InputError for each bad place in any of the files.
    """
    problems: list[InputProblem] = []
    turns: defaultdict[_Key, dict[int, Turn]] = defaultdict(dict)
    for path in evaluation.prompts:
        with gathered(problems):
            table = read_table(path, folder=evaluation.folder)
            problems += [*table.bad_rows, *_take(table, turns)]
    raise_all(problems, source="the prompts")
    return [
        Conversation(indicator_id, convo_id, tuple(turn for _, turn in sorted(by_index.items())))
        for (indicator_id, convo_id), by_index in turns.items()
    ]


def _take(table: FileTable, turns: defaultdict[_Key, dict[int, Turn]]) -> list[InputProblem]:
    """Add the turns of one file; return the problems of its other rows."""
    if not table.has("prompt_text"):
        message = "there is no column prompt_text"
        return [InputProblem(table.file, 1, None, message, "Add it for every row")]
    rows = RowProblems(table.file, table.lines)
    numbers, texts, roles = _turns(table), table.text("prompt_text"), table.stripped("role")
    header, remedy = table.spelling("turn_index"), "Count turns 1, 2, 3"
    number_cells = table.text("turn_index")
    rows.add(numbers.is_none(), header, "is not a whole number", remedy, number_cells)
    header, message = table.spelling("prompt_text"), "a prompt without text"
    rows.add(texts.stripped().is_none(), header, message, "Fill it in")
    is_other = roles.array(bool, lambda role: role not in (None, _USER))
    message = "is not a role of prompts, which are what the user says"
    remedy = "Remove the row: what the model says is generated"
    rows.add(is_other, table.spelling("role"), message, remedy, roles)
    standard_headers = {table.header_of(name) for name in _OWN}
    attributes = {h: table.stripped(h) for h in table.columns if h not in standard_headers}
    indicators, conversations = table.stripped("indicator_id"), table.stripped("convo_id")
    repetitions: list[InputProblem] = []
    for row in np.flatnonzero(~rows.bad).tolist():
        line, number = table.lines[row], numbers[row]
        index = 1 if number is None or math.isnan(number) else int(number)
        key = (indicators[row], conversations[row] or str(line))
        if index in turns[key]:
            header, remedy = table.spelling("turn_index"), "Keep one of them"
            message = f"turn {index} of conversation {quoted(key[1])} is repeated"
            repetitions.append(InputProblem(table.file, line, header, message, remedy))
        else:
            cells = {h: cell for h, of in attributes.items() if (cell := of[row]) is not None}
            turns[key][index] = Turn(index, texts[row] or "", cells)
    return sorted([*rows.in_order(), *repetitions], key=lambda problem: problem.line or 0)
