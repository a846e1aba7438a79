"""assignments.csv: the responses that each rater labels."""

from typing import get_args

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.labelling.assignments import ASSIGNMENTS, Assignment, Purpose
from eval_assets.readers._problems import RowProblems, nearest, quoted
from eval_assets.readers.formats.tables import read_table


def read_assignments(evaluation: Evaluation) -> list[Assignment] | None:
    """Return the assignments; None if the folder has no assignments.csv.

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
    names = ("response_id", "rater_id", "question_id", "round", "purpose")
    responses, raters, questions, rounds, purposes = map(table.stripped, names)
    missing = [header for header in names[:2] if not table.has(header)]
    problems = RowProblems(ASSIGNMENTS, table.lines)
    if not missing:
        ids = [name for question in evaluation.rubric for name in question.names]
        no_response, no_rater = "the row names no response", "the row names no rater"
        problems.add(responses.is_none(), "response_id", no_response, "Fill in its id")
        problems.add(raters.is_none(), "rater_id", no_rater, "Fill in who labels it")
        problems.add_described(
            questions.array(bool, lambda name: name not in (None, *ids)),
            "question_id",
            lambda row: (
                f"{quoted(questions[row])} is not in the rubric",
                nearest(questions[row] or "", ids),
            ),
        )
        is_bad = rounds.array(bool, lambda n: n is not None and not (n.isdecimal() and int(n)))
        problems.add(is_bad, "round", "is not a round", "Use a whole number from 1", rounds)
        is_bad = purposes.array(bool, lambda purpose: purpose not in (None, *get_args(Purpose)))
        remedy = f"Use one of {', '.join(get_args(Purpose))}"
        problems.add(is_bad, "purpose", "is not a purpose", remedy, purposes)
    absent = [
        InputProblem(ASSIGNMENTS, 1, header, "there is no such column", "Add it to the header")
        for header in missing
    ]
    raise_all([*table.bad_rows, *absent, *problems.in_order()], source=ASSIGNMENTS)
    return [
        Assignment(
            response_id=response or "",
            rater_id=rater or "",
            question_id=question,
            round=int(number or 1),
            purpose=purpose or "shared",  # type: ignore[arg-type] # checked above
        )
        for response, rater, question, number, purpose in zip(
            responses, raters, questions, rounds, purposes, strict=True
        )
    ]
