"""How rows name a response and a question, and which of these exist."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eval_assets.readers.formats.table import BoolArray, FileColumn, FileTable, as_text
from eval_assets.readers.problems import MessageAndRemedy, RowProblems, nearest, quoted
from eval_assets.readers.values import canonical_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.labelling.rater_view import KeyedCodes
    from eval_assets.readers.rated_rows import RatedRows

RESPONSE_ID = ("response_id", "item_id", "trace_id", "scenario_id")
"""Columns under which the id of a response is accepted, in any spelling."""

MODEL_NAME = ("model_name", "model")
"""Columns under which the model that answered is accepted."""

PROMPT_TEXT = ("prompt_text", "prompt", "query", "instruction", "input", "question", "frage")
RESPONSE_TEXT = (
    *("response_text", "response", "answer_text", "answer", "output", "completion", "generation"),
    *("text", "reply", "summary"),
)
"""Names that files give to prompts and responses."""

Key = tuple[str | None, str | None, str | None, str | None, str | None]
"""Indicator, conversation, turn, model and seed of a response, None if missing."""

KEY_COLUMNS = ("indicator_id", "convo_id", "turn_index", "model_name", "seed")

_ROUND = re.compile("[1-9][0-9]{0,3}")

Reference = str | Key
"""Name of a response: its id, or its key."""

PositionArray = npt.NDArray[np.int64]

UNKNOWN = -1
"""Position of a name that does not exist."""

AMBIGUOUS = -2
"""Position of a key that several responses share."""

UNNAMED = -3
"""Position of a question that a row does not name and that does not follow from its response."""


@dataclass(frozen=True)
class ResponseUnits:
    """The units that can be rated: responses with the questions that apply to them.

    Args:
        response_ids: Ids of the responses.
        question_ids: Ids of the rubric's questions.
        applies: Whether the question applies to the response; shape (n_responses, n_questions).
        table: The responses, in `RESPONSE_COLUMNS`.
        texts: Gives the text of each response; None if it is not known.
        some_unread: Whether there are responses that could not be read.
        codes: Codes that stand in sheets for models and responses; None if there are none.
    """

    response_ids: list[str]
    question_ids: list[str]
    applies: BoolArray
    table: pd.DataFrame
    texts: Callable[[], Sequence[str | None]] | None = None
    some_unread: bool = False
    codes: KeyedCodes | None = None

    @cached_property
    def keys(self) -> list[Key]:
        """Key of each response."""
        columns = {name: column_of(self.table, name) for name in KEY_COLUMNS}
        return list(keys(FileTable("", columns, range(len(self.response_ids)))))

    @cached_property
    def _by_id(self) -> dict[Reference, int]:
        return dict(zip(self.response_ids, count(), strict=False))

    @cached_property
    def _by_id_in_sheets(self) -> dict[Reference, int]:
        """Positions by ids as sheets write them: by their code, or if they look like a formula."""
        coded = map(self.codes.of, self.response_ids) if self.codes else ()
        unlike_words = (name for name in self.response_ids if not name[:1].isalnum())
        by_code: dict[Reference, int] = dict(zip(coded, count(), strict=False))
        return by_code | {_in_sheets(name): self._by_id[name] for name in unlike_words}

    @cached_property
    def _by_key(self) -> dict[Reference, int]:
        positions: dict[Reference, int] = {}
        for position, key in enumerate(self.keys):
            positions[key] = AMBIGUOUS if key in positions else position
        in_sheets: dict[Reference, int] = {}
        for key in self.keys:
            escaped = (part and _in_sheets(part) for part in key)
            for indicator, convo, turn, model, seed in (key, escaped):
                in_sheets[indicator, convo, turn, model, seed] = positions[key]
                if self.codes:
                    code = self.codes.of_model(key[0], key[1], key[3])
                    in_sheets[indicator, convo, turn, code, seed] = positions[key]
        return in_sheets | positions

    def responses(self, references: FileColumn[Any]) -> PositionArray:
        """Return the position of each response in `response_ids`, UNKNOWN or AMBIGUOUS."""
        name = next((name for name in references.values if name is not None), None)
        if isinstance(name, tuple):
            return _positions_in(self._by_key, references)
        if references.values == self.response_ids:  # as where each response has labels, in order
            return references.codes.astype(np.int64)
        positions = _positions_in(self._by_id, references)
        is_unknown = positions == UNKNOWN
        if is_unknown.any():
            unknown = references.take(is_unknown)
            positions[is_unknown] = _positions_in(self._by_id_in_sheets, unknown)
        return positions

    def questions(
        self, questions: FileColumn[str | None], responses: PositionArray
    ) -> PositionArray:
        """Return the position of each question: the one named, or the only one that applies."""
        named = _positions_in({q: i for i, q in enumerate(self.question_ids)}, questions)
        unnamed = questions.is_none()
        if not unnamed.any():
            return named
        only = np.where(self.applies.sum(axis=1) == 1, self.applies.argmax(axis=1), UNNAMED)
        inferred = np.full(len(questions), UNKNOWN, dtype=np.int64)
        inferred[responses >= 0] = only[responses[responses >= 0]]
        return np.where(unnamed, inferred, named)

    def add_unknown(
        self,
        problems: RowProblems,
        rows: RatedRows,
        *,
        responses: PositionArray,
        questions: PositionArray,
    ) -> None:
        """Add rows whose response or question does not exist, or that do not belong together.

        `responses` and `questions` are the positions of each row's response and question.
        """
        unknown = responses < 0
        if self.some_unread:
            is_named = ~rows.responses.is_none()
            problems.add_unread(unknown & is_named)
            unknown &= ~is_named
        problems.add_described(
            unknown,
            rows.headers["response_id"],
            lambda row: self._no_response(rows.responses[row], int(responses[row])),
        )
        # The question may follow from the response: a row without one is reported once.
        unnamed = rows.questions.is_none()
        problems.add_described(
            (questions == UNNAMED) | ((questions == UNKNOWN) & ~unnamed),
            rows.headers["question_id"],
            lambda row: self._no_question(rows.questions[row]),
        )
        is_known = (responses >= 0) & (questions >= 0)
        inapplicable = np.zeros(len(responses), dtype=bool)
        if not self.applies.all():
            inapplicable[is_known] = ~self.applies[responses[is_known], questions[is_known]]
        problems.add_described(
            inapplicable,
            rows.headers["question_id"],
            lambda row: self._inapplicable(int(responses[row]), int(questions[row])),
        )

    def _no_response(self, reference: Reference | None, position: int) -> MessageAndRemedy:
        if reference is None:
            return "the row does not name a response", "Fill in the id of the response"
        if isinstance(reference, str):
            remedy = "Use an id from the response files, or add the response there"
            return f"{quoted(reference)} is not a response of this evaluation", remedy
        if position == AMBIGUOUS:
            remedy = "Add a column response_id that tells them apart"
            return f"several responses have {quoted_key(reference)}", remedy
        key = quoted_key(reference) or "an empty key"
        return f"no response has {key}", "Copy these values from the response files"

    def _no_question(self, question: str | None) -> MessageAndRemedy:
        if question is None:
            remedy = f"Name one of {', '.join(self.question_ids)}"
            return "the row does not name a question, and several are asked", remedy
        stem, slash, _ = question.rpartition("/")
        remedy = nearest(question, self.question_ids)
        if slash and any(other.startswith(f"{stem}/") for other in self.question_ids):
            remedy = "Restore the option, or move its labels to another folder"
        return f"{quoted(question)} is not in the rubric", remedy

    def _inapplicable(self, response: int, question: int) -> MessageAndRemedy:
        name, response_id = self.question_ids[question], self.response_ids[response]
        applicable = [self.question_ids[i] for i in np.flatnonzero(self.applies[response])]
        remedy = f"Rate it on {', '.join(applicable)} only" if applicable else "Remove the rating"
        return f'"{name}" is not asked of {quoted(response_id)}', remedy


def units_of(
    evaluation: Evaluation,
    responses: pd.DataFrame,
    *,
    texts: Callable[[], Sequence[str | None]] | None = None,
    some_unread: bool = False,
) -> ResponseUnits:
    """Return the units of an evaluation with these responses."""
    from eval_assets.labelling.rater_view import keyed_codes

    names = list(dict.fromkeys(("indicator_id", *evaluation.filter_columns)))
    rows = FileColumn.together([column_of(responses, name) for name in names])
    # There are few combinations of values.
    applies = [
        [q in evaluation.asked(dict(zip(names, values, strict=True))) for q in evaluation.rubric]
        for values in rows.values
    ]
    shape = len(rows.values), len(evaluation.rubric)
    codes = keyed_codes(evaluation.folder)
    return ResponseUnits(
        response_ids=[str(response_id) for response_id in responses["response_id"]],
        question_ids=[question.id for question in evaluation.rubric],
        applies=np.array(applies, dtype=bool).reshape(shape)[rows.codes],
        table=responses,
        texts=texts if "response_text" not in responses else responses["response_text"].tolist,
        some_unread=some_unread,
        codes=codes if codes.is_used else None,
    )


def column_of(responses: pd.DataFrame, column: str) -> FileColumn[str | None]:
    """Return a column of responses, or an attribute of that name, as text; None if missing."""
    if column in responses:
        cells = responses[column]
        if not (is_missing := cells.isna()).all():
            pairs = zip(cells, is_missing, strict=True)
            return FileColumn.of([None if absent else as_text(cell) for cell, absent in pairs])
    elif "attributes" in responses:
        cells = responses["attributes"]
        return FileColumn.of([as_text(json.loads(cell or "{}").get(column)) for cell in cells])
    return FileColumn.repeat(None, len(responses))


def has_references(table: FileTable) -> bool:
    """Return whether the table has columns that name responses."""
    return table.header_of(*RESPONSE_ID, "indicator_id", "convo_id") is not None


def keys(table: FileTable) -> FileColumn[Key]:
    """Return the key of each row."""
    columns = (
        table.stripped("indicator_id"),
        table.stripped("convo_id"),
        table.text("turn_index").map(canonical_number),
        table.stripped(*MODEL_NAME),
        table.text("seed").map(canonical_number),
    )
    return FileColumn.together(columns)


def rounds_in(
    cells: FileColumn[str | None], header: str | None, problems: RowProblems
) -> npt.NDArray[np.int64]:
    """Return the round of each row, the first if it names none; add cells that hold none."""
    numbers = cells.map(lambda cell: canonical_number(cell) or "1")
    rounds: npt.NDArray[np.int64] = numbers.array(
        np.int64, lambda number: int(number) if _ROUND.fullmatch(number) else 0
    )
    problems.add(rounds == 0, header, "is not a round", "Count rounds 1, 2, 3", cells)
    return rounds


def id_of(key: Key) -> str:
    r"""Return the response id made from a key: its parts joined by `|`, escaped within them.

    Examples:
        >>> id_of(("L4_HAI", "c1", "2", "gemini", None))
        'L4_HAI|c1|2|gemini|'
    """
    return "|".join((part or "").replace("\\", r"\\").replace("|", r"\|") for part in key)


def quoted_key(key: Key) -> str:
    """Return the present parts of a key as a message quotes them."""
    return ", ".join(
        f"{column} {quoted(part)}"
        for column, part in zip(KEY_COLUMNS, key, strict=True)
        if part is not None
    )


def _in_sheets(text: str) -> str:
    from eval_assets.labelling.sheets import neutralised

    return neutralised(text)


def _positions_in(positions: Mapping[Any, int], names: FileColumn[Any]) -> PositionArray:
    of_values = map(positions.get, names.values, repeat(UNKNOWN))
    array: PositionArray = np.fromiter(of_values, np.int64, len(names.values))[names.codes]
    return array
