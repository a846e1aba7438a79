"""assignments.csv: which rater labels what."""

from collections.abc import Iterator
from typing import get_args

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.labelling.assignments import ASSIGNMENTS, Assignment, Purpose
from eval_assets.readers._problems import nearest, quoted
from eval_assets.readers.formats.table import Table
from eval_assets.readers.formats.tables import read_table


def read_assignments(evaluation: Evaluation) -> list[Assignment] | None:
    """Return who labels what; None if the folder has no assignments.csv.

    Responses that do not exist (any more) are kept: responses may be added later.

    Raises:
        ExceptionGroup: Of an InputError for each row that does not name a rater and a response,
            a question of the rubric, a round and a purpose.
    """
    path = evaluation.folder / ASSIGNMENTS
    if not path.exists():
        return None
    try:
        table = read_table(path, folder=evaluation.folder)
    except InputError as error:
        raise ExceptionGroup(f"{ASSIGNMENTS} cannot be used", [error]) from error
    missing = [header for header in ("response_id", "rater_id") if not table.has(header)]
    problems = [
        InputProblem(ASSIGNMENTS, 1, header, "there is no such column", "Add it to the header")
        for header in missing
    ]
    problems += [] if missing else _problems(table, evaluation)
    raise_all([*table.bad_rows, *problems], source=ASSIGNMENTS)
    return [
        Assignment(
            response_id=response or "",
            rater_id=rater or "",
            question_id=question,
            round=int(number or 1),
            purpose=purpose or "shared",  # type: ignore[arg-type]
        )
        for response, rater, question, number, purpose in _rows(table)
    ]


def _rows(table: Table) -> Iterator[tuple[str | None, ...]]:
    columns = ("response_id", "rater_id", "question_id", "round", "purpose")
    return zip(*(table.stripped(column) for column in columns), strict=True)


def _problems(table: Table, evaluation: Evaluation) -> list[InputProblem]:
    questions = [question.id for question in evaluation.rubric]
    found = []
    for line, (response, rater, question, number, purpose) in zip(
        table.lines, _rows(table), strict=True
    ):
        if response is None:
            found.append((line, "response_id", "the row names no response", "Fill in its id"))
        if rater is None:
            found.append((line, "rater_id", "the row names no rater", "Fill in who labels it"))
        if question is not None and question not in questions:
            remedy = nearest(question, questions)
            found.append((line, "question_id", f"{quoted(question)} is not in the rubric", remedy))
        if number is not None and not (number.isdecimal() and int(number) > 0):
            what = f"{quoted(number)} is not a round"
            found.append((line, "round", what, "Use a whole number from 1"))
        if purpose is not None and purpose not in get_args(Purpose):
            what = f"{quoted(purpose)} is not a purpose"
            found.append((line, "purpose", what, f"Use one of {', '.join(get_args(Purpose))}"))
    return [InputProblem(ASSIGNMENTS, *problem) for problem in found]
