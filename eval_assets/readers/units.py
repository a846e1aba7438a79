"""Units of an evaluation, response x question: which exist, and how files refer to them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.readers.keys import KEY_NOUNS, Key, Reference, canonical_number
from eval_assets.readers.table import as_text

PositionArray = npt.NDArray[np.int64]

T = TypeVar("T", bound=Hashable)

UNKNOWN = -1
"""Position of what is not there."""

AMBIGUOUS = -2
"""Position of a key that several responses share."""

NOT_GIVEN = -3
"""Position of a question that a row does not name and that cannot be told otherwise."""


@dataclass(frozen=True)
class Units:
    """The units that can be rated.

    Args:
        response_ids: Ids of the responses.
        question_ids: Ids of the rubric's questions.
        positions: Position in `response_ids` by id and by key, AMBIGUOUS where responses share it.
        keys: Key of each response.
        asked: Whether the question is asked of the response; shape (n_responses, n_questions).
    """

    response_ids: list[str]
    question_ids: list[str]
    positions: Mapping[Reference, int]
    keys: list[Key]
    asked: npt.NDArray[np.bool_]

    def responses(self, references: Sequence[Reference | None]) -> PositionArray:
        """Position of each response referred to: UNKNOWN, AMBIGUOUS or in `response_ids`."""
        return positions_in(self.positions, references)

    def questions(self, questions: Sequence[str | None], responses: PositionArray) -> PositionArray:
        """Position of each question named; unnamed, of the only one that its response is asked."""
        only = np.where(self.asked.sum(axis=1) == 1, self.asked.argmax(axis=1), NOT_GIVEN)
        unnamed = np.array([question is None for question in questions], dtype=bool)
        inferred = np.full(len(questions), UNKNOWN, dtype=np.int64)
        known = unnamed & (responses >= 0)
        inferred[known] = only[responses[known]]
        named = positions_in({q: i for i, q in enumerate(self.question_ids)}, questions)
        return np.where(unnamed, inferred, named)

    def not_asked(
        self, responses: PositionArray, questions: PositionArray
    ) -> npt.NDArray[np.bool_]:
        """Whether both exist, but the question is not asked of the response."""
        known = (responses >= 0) & (questions >= 0)
        found = np.zeros(len(responses), dtype=bool)
        found[known] = ~self.asked[responses[known], questions[known]]
        return found


def units_of(evaluation: Evaluation, responses: pd.DataFrame) -> Units:
    """The units of an evaluation with these responses."""
    ids = [str(response_id) for response_id in responses["response_id"]]
    columns = {noun: _cells(responses[noun]) for noun in KEY_NOUNS}
    for noun in ("turn_index", "seed"):
        columns[noun] = [canonical_number(cell) for cell in columns[noun]]
    keys: list[Key] = list(zip(*columns.values(), strict=True))
    positions: dict[Reference, int] = {}
    for position, key in enumerate(keys):
        positions[key] = AMBIGUOUS if key in positions else position
    positions.update({response_id: position for position, response_id in enumerate(ids)})
    asked_by = {
        indicator: [question in evaluation.asked(indicator) for question in evaluation.rubric]
        for indicator in set(columns["indicator_id"])
    }
    asked = np.array([asked_by[indicator] for indicator in columns["indicator_id"]], dtype=bool)
    n_questions = len(evaluation.rubric)
    return Units(
        response_ids=ids,
        question_ids=[question.id for question in evaluation.rubric],
        positions=positions,
        keys=keys,
        asked=asked.reshape(len(ids), n_questions),
    )


def positions_in(positions: Mapping[T, int], names: Sequence[T | None]) -> PositionArray:
    """Position of each name, UNKNOWN where it has none."""
    distinct = {name: UNKNOWN if name is None else positions.get(name, UNKNOWN) for name in names}
    return np.fromiter(map(distinct.__getitem__, names), dtype=np.int64, count=len(names))


def _cells(column: pd.Series) -> list[str | None]:
    """Text of a column of responses, None where it has nothing."""
    missing = column.isna()
    return [None if gone else as_text(cell) for cell, gone in zip(column, missing, strict=True)]
