"""The two forms in which judge scores are recorded, and the units that their rows score."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.problems import InputError, InputProblem
from eval_assets.raters import Judge
from eval_assets.readers.keys import RESPONSE_ID, Key, Reference, keys
from eval_assets.readers.named_units import NamedUnits, named_questions
from eval_assets.readers.table import Table
from eval_assets.readers.units import UNKNOWN, PositionArray, Units
from eval_assets.readers.wording import nearest, shown

_FORMS = (
    "Give the columns of one of them: response_id, judge_model, question_id, score (or raw_output "
    "alone); or indicator_id, convo_id, model_name, seed, aiescore"
)


@dataclass(frozen=True)
class GivenScores:
    """Recorded scores of one judge, each row repeated for every response that it scores.

    Args:
        table: The rows of the judge.
        score_header: Column of the scores; None where the file has replies only.
        rows: Row of `table`.
        named: Unit that each row names.
        responses: Position of the response.
        questions: Position of the question.
    """

    table: Table
    score_header: str | None
    rows: PositionArray
    named: NamedUnits
    responses: PositionArray
    questions: PositionArray

    def column(self, header: str | None) -> list[str | None]:
        """Cells of a column, row by row."""
        cells = self.table.text(header)
        return [cells[row] for row in self.rows]


def rows_of(table: Table, judge: Judge) -> Table:
    """The rows of the judge's model."""
    if "judge_model" not in table.columns:
        return table
    models = table.stripped("judge_model")
    present = sorted({model for model in models if model is not None})
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
    rows = [row for row, model in enumerate(models) if model == judge.model]
    columns = {header: [cells[row] for row in rows] for header, cells in table.columns.items()}
    return replace(table, columns=columns, lines=[table.lines[row] for row in rows])


def given_scores(table: Table, units: Units) -> GivenScores:
    """The rows with the units that they name."""
    response = table.first_of(*RESPONSE_ID)
    score = table.first_of("score", "aiescore")
    has_key = table.first_of("indicator_id", "convo_id") is not None
    if table.columns and not ((response or has_key) and (score or "raw_output" in table.columns)):
        what = f"the columns {', '.join(table.columns)} are none of the two forms of scores"
        problem = InputProblem(table.file, 1, None, what, _FORMS)
        raise InputError(problem)
    references: Sequence[Reference | None]
    references = list(keys(table)) if response is None else table.stripped(response)
    rows, responses = _scored(references, units)
    questions = named_questions(table, units.question_ids)
    named = NamedUnits(
        responses=[references[row] for row in rows],
        questions=[questions[row] for row in rows],
        response_header=response,
        question_header="question_id",
    )
    at_question = units.questions(named.questions, responses)
    return GivenScores(table, score, rows, named, responses, at_question)


def _scored(
    references: Sequence[Reference | None], units: Units
) -> tuple[PositionArray, PositionArray]:
    """Row and position of each response scored: a key without a turn means every turn."""
    exact = units.responses(references)
    if not any(isinstance(reference, tuple) for reference in references):
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
