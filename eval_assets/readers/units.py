"""Units of an evaluation, response x question: which exist, and how files refer to them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.readers.keys import KEY_NOUNS, Key, Reference, canonical_number
from eval_assets.readers.table import as_text, per_distinct

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
        asked: Whether the question is asked of the response; shape (n_responses, n_questions).
        table: The responses, in `RESPONSE_COLUMNS`.
    """

    response_ids: list[str]
    question_ids: list[str]
    asked: npt.NDArray[np.bool_]
    table: pd.DataFrame

    @cached_property
    def keys(self) -> list[Key]:
        """Key of each response."""
        columns = [_cells(self.table[noun]) for noun in KEY_NOUNS]
        indicators, convos, turns, models, seeds = columns
        turns, seeds = (per_distinct(cells, canonical_number) for cells in (turns, seeds))
        return list(zip(indicators, convos, turns, models, seeds, strict=True))

    @cached_property
    def _by_id(self) -> dict[Reference, int]:
        return {response_id: position for position, response_id in enumerate(self.response_ids)}

    @cached_property
    def _by_key(self) -> dict[Reference, int]:
        """Position by key, AMBIGUOUS where several responses share it."""
        positions: dict[Reference, int] = {}
        for position, key in enumerate(self.keys):
            positions[key] = AMBIGUOUS if key in positions else position
        return positions

    def responses(self, references: Sequence[Reference | None]) -> PositionArray:
        """Position of each response, by ids or by keys: UNKNOWN, AMBIGUOUS or in `response_ids`."""
        given = next((reference for reference in references if reference is not None), None)
        positions = self._by_key if isinstance(given, tuple) else self._by_id
        return positions_in(positions, references)

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
    indicators = _cells(responses["indicator_id"])
    asked_by = {
        indicator: [question in evaluation.asked(indicator) for question in evaluation.rubric]
        for indicator in set(indicators)
    }
    asked = np.array([asked_by[indicator] for indicator in indicators], dtype=bool)
    return Units(
        response_ids=[str(response_id) for response_id in responses["response_id"]],
        question_ids=[question.id for question in evaluation.rubric],
        asked=asked.reshape(len(responses), len(evaluation.rubric)),
        table=responses,
    )


def positions_in(positions: Mapping[T, int], names: Sequence[T | None]) -> PositionArray:
    """Position of each name, UNKNOWN where it has none."""
    distinct = {
        name: UNKNOWN if name is None else positions.get(name, UNKNOWN) for name in set(names)
    }
    return np.fromiter(map(distinct.__getitem__, names), dtype=np.int64, count=len(names))


def _cells(column: pd.Series) -> list[str | None]:
    """Text of a column of responses, None where it has nothing."""
    missing = column.isna()
    return [None if gone else as_text(cell) for cell, gone in zip(column, missing, strict=True)]
