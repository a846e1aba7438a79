"""How rows say which response and question they mean, and which of these exist."""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.labelling.sheets import neutralised
from eval_assets.readers._cells import canonical_number
from eval_assets.readers._problems import Findings, WhatAndRemedy, nearest, shown
from eval_assets.readers.formats.table import Table, as_text, is_none, per_distinct, repeating

RESPONSE_ID = ("response_id", "item_id", "trace_id", "scenario_id")
"""Columns under which the id of a response is accepted, in any spelling."""

MODEL_NAME = ("model_name", "model")
"""Columns under which the model that answered is accepted."""

Key = tuple[str | None, str | None, str | None, str | None, str | None]
"""Indicator, conversation, turn, model and seed of a response, None if not given."""

KEY_COLUMNS = ("indicator_id", "convo_id", "turn_index", "model_name", "seed")

_NUMBERS = ("turn_index", "seed")
"""Those of them that spreadsheets write in several ways."""

Reference = str | Key
"""How a row names a response: by its id, or by its key."""

PositionArray = npt.NDArray[np.int64]

T = TypeVar("T", bound=Hashable)

UNKNOWN = -1
"""Position of what does not exist."""

AMBIGUOUS = -2
"""Position of a key that several responses share."""

NOT_GIVEN = -3
"""Position of a question that a row does not name and that does not follow from its response."""


@dataclass(frozen=True)
class References:
    """Which response and question each row of a file means.

    Args:
        responses: Response of each row, by id or by key; None if it names none.
        questions: Question of each row; None if it names none.
        response_header: Column of the responses; None if several columns name them.
        question_header: Column of the questions.
    """

    responses: Sequence[Reference | None]
    questions: Sequence[str | None]
    response_header: str | None
    question_header: str


@dataclass(frozen=True)
class Units:
    """The units that can be rated: responses with the questions that are asked of them.

    Args:
        response_ids: Ids of the responses.
        question_ids: Ids of the rubric's questions.
        asked: Whether the question is asked of the response; shape (n_responses, n_questions).
        table: The responses, in `RESPONSE_COLUMNS`.
        texts: Gives the text of each response; None if it is not known.
        some_unread: Whether there are responses that could not be read.
    """

    response_ids: list[str]
    question_ids: list[str]
    asked: npt.NDArray[np.bool_]
    table: pd.DataFrame
    texts: Callable[[], Sequence[str | None]] | None = None
    some_unread: bool = False

    @cached_property
    def keys(self) -> list[Key]:
        """Key of each response."""
        columns = {column: _cells(self.table[column]) for column in KEY_COLUMNS}
        numbers = {name: per_distinct(columns[name], canonical_number) for name in _NUMBERS}
        return list(zip(*({**columns, **numbers}).values(), strict=True))

    @cached_property
    def _by_id(self) -> dict[Reference, int]:
        found: dict[Reference, int] = {name: at for at, name in enumerate(self.response_ids)}
        # Sheets write an id that looks like a formula so that spreadsheets take it for text.
        unlike_words = (name for name in self.response_ids if not name[:1].isalnum())
        in_sheets: dict[Reference, int] = {neutralised(name): found[name] for name in unlike_words}
        return in_sheets | found

    @cached_property
    def _by_key(self) -> dict[Reference, int]:
        """Position by key, AMBIGUOUS if several responses share it."""
        positions: dict[Reference, int] = {}
        for position, key in enumerate(self.keys):
            positions[key] = AMBIGUOUS if key in positions else position
        in_sheets: dict[Reference, int] = {_as_in_sheets(k): positions[k] for k in self.keys}
        return in_sheets | positions

    def responses(self, references: Sequence[Reference | None]) -> PositionArray:
        """Return the position of each response in `response_ids`, UNKNOWN or AMBIGUOUS."""
        given = next((reference for reference in references if reference is not None), None)
        positions = self._by_key if isinstance(given, tuple) else self._by_id
        return _positions_in(positions, references)

    def questions(self, questions: Sequence[str | None], responses: PositionArray) -> PositionArray:
        """Return the position of each question: the one named, or the only one asked."""
        only = np.where(self.asked.sum(axis=1) == 1, self.asked.argmax(axis=1), NOT_GIVEN)
        unnamed = is_none(questions)
        inferred = np.full(len(questions), UNKNOWN, dtype=np.int64)
        known = unnamed & (responses >= 0)
        inferred[known] = only[responses[known]]
        named = _positions_in({q: i for i, q in enumerate(self.question_ids)}, questions)
        return np.where(unnamed, inferred, named)

    def note_unknown(
        self,
        findings: Findings,
        named: References,
        *,
        responses: PositionArray,
        questions: PositionArray,
    ) -> None:
        """Note rows whose response or question does not exist, or do not belong together.

        Args:
            findings: The rows are noted here.
            named: How the rows name their units.
            responses: Position of the response that was found for each row.
            questions: Position of the question that was found for each row.
        """
        unknown = responses < 0
        if self.some_unread:
            names_one = ~is_none(named.responses)
            findings.add_together(unknown & names_one, _unread)
            unknown &= ~names_one
        findings.add(
            unknown,
            named.response_header,
            lambda row: _no_response(named.responses[row], int(responses[row])),
        )
        # Which question is meant may depend on the response: a row without one is noted once.
        unnamed = is_none(named.questions)
        findings.add(
            (questions == NOT_GIVEN) | ((questions == UNKNOWN) & ~unnamed),
            named.question_header,
            lambda row: _no_question(named.questions[row], self.question_ids),
        )
        findings.add(
            self._not_asked(responses, questions),
            named.question_header,
            lambda row: self._describe_not_asked(int(responses[row]), int(questions[row])),
        )

    def _not_asked(
        self, responses: PositionArray, questions: PositionArray
    ) -> npt.NDArray[np.bool_]:
        """Return whether both exist, but the question is not asked of the response."""
        known = (responses >= 0) & (questions >= 0)
        found = np.zeros(len(responses), dtype=bool)
        found[known] = ~self.asked[responses[known], questions[known]]
        return found

    def _describe_not_asked(self, response: int, question: int) -> WhatAndRemedy:
        name, response_id = self.question_ids[question], self.response_ids[response]
        asked = [
            q
            for q, is_asked in zip(self.question_ids, self.asked[response], strict=True)
            if is_asked
        ]
        what = f'"{name}" is not asked of {shown(response_id)}'
        return what, f"Rate it on {', '.join(asked)} only" if asked else "Remove the rating"


def units_of(
    evaluation: Evaluation,
    responses: pd.DataFrame,
    *,
    texts: Callable[[], Sequence[str | None]] | None = None,
    some_unread: bool = False,
) -> Units:
    """Return the units of an evaluation with these responses."""
    columns = dict.fromkeys(("indicator_id", *evaluation.filter_columns))
    given = [column_of(responses, column) for column in columns]
    # Few combinations of values, each of them decided once.
    combinations = list(zip(*given, strict=True))
    asked_of = {
        values: [
            question in evaluation.asked(dict(zip(columns, values, strict=True)))
            for question in evaluation.rubric
        ]
        for values in set(combinations)
    }
    asked = np.array([asked_of[values] for values in combinations], dtype=bool)
    return Units(
        response_ids=[str(response_id) for response_id in responses["response_id"]],
        question_ids=[question.id for question in evaluation.rubric],
        asked=asked.reshape(len(responses), len(evaluation.rubric)),
        table=responses,
        texts=texts if "response_text" not in responses else responses["response_text"].tolist,
        some_unread=some_unread,
    )


def _as_in_sheets(key: Key) -> Key:
    """Return a key as annotation sheets write it."""
    indicator, convo, turn, model, seed = (part and neutralised(part) for part in key)
    return indicator, convo, turn, model, seed


def column_of(responses: pd.DataFrame, column: str) -> list[str | None]:
    """Return a column of responses, or an attribute of that name, as text."""
    if column in responses:
        return _cells(responses[column])
    if "attributes" not in responses:
        return [None] * len(responses)
    return [as_text(json.loads(each or "{}").get(column)) for each in responses["attributes"]]


def references_in(table: Table, question_ids: Sequence[str]) -> References:
    """Return which units the rows of a table mean, by its columns of ids or of keys."""
    response = table.header_of(*RESPONSE_ID)
    responses: Sequence[Reference | None]
    responses = list(keys(table)) if response is None else table.stripped(response)
    questions: Sequence[str | None] = table.stripped("question_id")
    if table.has("indicator_id"):
        indicators = table.stripped("indicator_id")
        questions = [
            question or (indicator if indicator in question_ids else None)
            for question, indicator in zip(questions, indicators, strict=True)
        ]
    header = table.header_of("question_id") or "question_id"
    return References(responses, questions, response, header)


def has_references(table: Table) -> bool:
    """Return whether the table has columns that name responses."""
    return table.header_of(*RESPONSE_ID, "indicator_id", "convo_id") is not None


def keys(table: Table) -> Iterator[Key]:
    """Return the key of each row."""
    return zip(
        table.stripped("indicator_id"),
        table.stripped("convo_id"),
        per_distinct(table.text("turn_index"), canonical_number),
        table.stripped(*MODEL_NAME),
        per_distinct(table.text("seed"), canonical_number),
        strict=True,
    )


def id_of(key: Key) -> str:
    r"""Return the response id made from a key: its parts joined by `|`, escaped within them.

    Examples:
        >>> id_of(("L4_HAI", "c1", "2", "gemini", None))
        'L4_HAI|c1|2|gemini|'
    """
    return "|".join((part or "").replace("\\", r"\\").replace("|", r"\|") for part in key)


def shown_key(key: Key) -> str:
    """Return the parts of a key that are given, as a message names them."""
    return ", ".join(
        f"{column} {shown(part)}"
        for column, part in zip(KEY_COLUMNS, key, strict=True)
        if part is not None
    )


def _no_response(reference: Reference | None, position: int) -> WhatAndRemedy:
    """Describe a row whose response is not named, unknown or not the only one of that name."""
    if reference is None:
        return "the row does not name a response", "Fill in the id of the response"
    if isinstance(reference, str):
        remedy = "Use an id from the response files, or add the response there"
        return f"{shown(reference)} is not a response of this evaluation", remedy
    if position == AMBIGUOUS:
        remedy = "Add a column response_id that tells them apart"
        return f"several responses have {shown_key(reference)}", remedy
    remedy = "Copy these values from the response files"
    return f"no response has {shown_key(reference) or 'an empty key'}", remedy


def _unread(n_rows: int) -> WhatAndRemedy:
    """Describe rows whose responses may be among those that could not be read."""
    rows = "1 row names a response" if n_rows == 1 else f"{n_rows} rows name responses"
    what = f"{rows} not found among those that could be read"
    return what, "Repair the responses first, then run again"


def _no_question(question: str | None, question_ids: Sequence[str]) -> WhatAndRemedy:
    """Describe a row whose question is not named, or is not in the rubric."""
    if question is None:
        remedy = f"Name one of {', '.join(question_ids)}"
        return "the row does not name a question, and several are asked", remedy
    return f"{shown(question)} is not in the rubric", nearest(question, question_ids)


def _positions_in(positions: Mapping[T, int], names: Sequence[T | None]) -> PositionArray:
    """Return the position of each name, UNKNOWN if it has none."""
    distinct = repeating(names)
    at = [UNKNOWN if name is None else positions.get(name, UNKNOWN) for name in distinct.values]
    return np.array(at, dtype=np.int64).take(distinct.codes)


def _cells(column: pd.Series) -> list[str | None]:
    """Return the text of a column of responses, None if it has nothing."""
    missing = column.isna()
    return [None if gone else as_text(cell) for cell, gone in zip(column, missing, strict=True)]
