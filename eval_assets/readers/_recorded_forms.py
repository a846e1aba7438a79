"""The two forms in which judge scores are recorded, and the units that their rows score."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from eval_assets.config.judges import Judge
from eval_assets.errors import InputError, InputProblem
from eval_assets.readers._cells import BoolArray
from eval_assets.readers._problems import nearest, shown
from eval_assets.readers.formats.table import Table, per_distinct, repeating
from eval_assets.readers.references import (
    UNKNOWN,
    Key,
    PositionArray,
    Reference,
    References,
    Units,
    has_references,
    references_in,
)

T = TypeVar("T")

_FORMS = (
    "Give the columns of one of them: response_id, judge_model, question_id, score (or raw_output "
    "alone); or indicator_id, convo_id, model_name, seed, aiescore"
)


@dataclass(frozen=True)
class GivenScores:
    """Recorded scores of one judge, each row repeated for every response that it scores.

    Args:
        table: The rows of the judge.
        score_header: Column of the scores; None if the file has replies only.
        rows: Row of `table`.
        named: Unit that each row means.
        responses: Position of the response.
        questions: Position of the question.
        of_conversation: Whether the score is of the conversation that the response belongs to.
    """

    table: Table
    score_header: str | None
    rows: PositionArray
    named: References
    responses: PositionArray
    questions: PositionArray
    of_conversation: BoolArray

    def column(self, header: str) -> Sequence[str | None]:
        """Return the cells of a column, row by row; None if the file has no such column."""
        return self.of_rows(self.table.text(header))

    def of_rows(self, cells: Sequence[T]) -> Sequence[T]:
        """Return the cell of each row; the same if every row scores one response."""
        if len(self.rows) == len(self.table):
            return cells
        return [cells[row] for row in self.rows]


def rows_of(table: Table, judge: Judge) -> Table:
    """Return the rows of the judge's model."""
    if not table.has("judge_model"):
        return table
    models = table.stripped("judge_model")
    present = sorted({model for model in models.values if model is not None})
    if judge.model is None:
        if len(present) > 1:
            what = f"the file holds scores of several models: {', '.join(present)}"
            remedy = f"Name one of them as the model of the judge {judge.id}"
            raise InputError(InputProblem(table.file, None, "judge_model", what, remedy))
        return table
    if judge.model not in present:
        what = f"no row has the judge_model {shown(judge.model)}"
        remedy = nearest(judge.model, present) if present else "Add its scores"
        raise InputError(InputProblem(table.file, None, "judge_model", what, remedy))
    return table.only(
        np.array(per_distinct(models, lambda model: model == judge.model), dtype=bool)
    )


def given_scores(table: Table, units: Units) -> GivenScores:
    """Return the rows with the units that they mean."""
    score = table.header_of("score", "aiescore")
    if table.columns and not (has_references(table) and (score or table.has("raw_output"))):
        what = f"the columns {', '.join(table.columns)} are not those of any form of scores"
        problem = InputProblem(table.file, 1, None, what, _FORMS)
        raise InputError(problem)
    given = references_in(table, units.question_ids)
    rows, responses = _scored(given.responses, units)
    named = given
    if len(rows) != len(given.responses):
        named = replace(
            given,
            responses=[given.responses[row] for row in rows],
            questions=[given.questions[row] for row in rows],
        )
    at_question = units.questions(named.questions, responses)
    return GivenScores(
        table, score, rows, named, responses, at_question, _of_conversation(given.responses, rows)
    )


def _of_conversation(references: Sequence[Reference | None], rows: PositionArray) -> BoolArray:
    """Return whether each row scores a conversation.

    A judge who scores conversations of several turns scores those of one turn likewise.
    """
    without_turn = np.array(
        per_distinct(references, lambda each: isinstance(each, tuple) and each[2] is None),
        dtype=bool,
    )
    n_turns = np.bincount(rows, minlength=len(references))
    return (without_turn & (n_turns > 1).any())[rows]


def _scored(
    references: Sequence[Reference | None], units: Units
) -> tuple[PositionArray, PositionArray]:
    """Return row and position of each response: a key without a turn means those of every turn."""
    exact = units.responses(references)
    if not any(isinstance(reference, tuple) for reference in repeating(references).values):
        return np.arange(len(references)), exact
    turns: dict[Key, list[int]] = defaultdict(list)
    for position, key in enumerate(units.keys):
        turns[_without_turn(key)].append(position)
    rows, positions = [], []
    for row, reference in enumerate(references):
        if isinstance(reference, tuple) and reference[2] is None:
            found = turns.get(reference, [UNKNOWN])
        else:
            found = [int(exact[row])]
        rows += [row] * len(found)
        positions += found
    return np.array(rows, dtype=np.int64), np.array(positions, dtype=np.int64)


def _without_turn(key: Key) -> Key:
    indicator, convo, _, model, seed = key
    return indicator, convo, None, model, seed
