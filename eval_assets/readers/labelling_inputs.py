"""Files of a labelling study: assignments, and responses with right answers."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import ASSIGNMENTS
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.labelling.assignments import Assignment, Purpose
from eval_assets.labelling.choices import choices_of, parse_typed
from eval_assets.labelling.gold_answers import Check
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.study import Study
from eval_assets.readers.formats.contents import read_table
from eval_assets.readers.formats.table import BoolArray, FileColumn, FileTable, plain
from eval_assets.readers.problems import RowProblems, nearest, quoted
from eval_assets.readers.references import MODEL_NAME, RESPONSE_ID, rounds_in
from eval_assets.readers.responses import KNOWN_COLUMNS, responses_of


def with_calibration(study: Study) -> Study:
    """Return a study with the calibration that its evaluation declares.

    The file has a row for each response, with a column for each question that it asks, which holds
    the right answers, with `|` between several, and the columns that raters see of responses. No
    model is required. `round` is the round of calibration.

    Raises:
        ExceptionGroup: Of an InputError for each bad place in the file.
    """
    path = study.evaluation.labelling.calibration
    if path is None:
        return study
    return replace(study, calibration=_checks(path, study.evaluation, study.responses))


def _checks(path: Path, evaluation: Evaluation, known: Container[str]) -> tuple[Check, ...]:
    """Return the checks of a file; `known` holds the ids of the responses."""
    try:
        table = read_table(path, folder=evaluation.folder)
    except InputError as error:
        raise ExceptionGroup(f"{path.name} cannot be used", [error]) from error
    of_file = list(_header_problems(table, evaluation))
    if table.header_of(*MODEL_NAME) is None:
        model = FileColumn[Any].repeat("none", len(table))
        table = replace(table, columns={**table.columns, MODEL_NAME[0]: model})
    problems = RowProblems(table.file, table.lines)
    responses, problems_of_responses = responses_of(table)
    questions = [question for question in evaluation.rubric if table.has(question.id)]
    answers = {question.id: _answers(table, question, problems) for question in questions}
    rounds = rounds_in(table.stripped("round"), table.spelling("round"), problems)
    if not questions:
        message, remedy = "no column names a question of the rubric", "Add one with right answers"
        raise_all([InputProblem(table.file, 1, None, message, remedy)], source=table.file)
    no_answer = np.all([cells.is_none() for cells in answers.values()], axis=0)
    problems.add(no_answer, None, "the row has no right answer", "Fill in one for a question")
    # No screen shows a part of the options of a question.
    for name in dict.fromkeys(q.multi_select.id for q in evaluation.rubric if q.multi_select):
        empty = {
            q.id: answers[q.id].is_none() if q.id in answers else np.ones(len(table), dtype=bool)
            for q in evaluation.rubric
            if name in q.names
        }
        n_empty = np.sum(list(empty.values()), axis=0)

        def missing(row: int, empty: Mapping[str, BoolArray] = empty) -> tuple[str, str]:
            names = ", ".join(option for option, is_empty in empty.items() if is_empty[row])
            return f"there is no right answer for {names}", "Fill in all options, or none"

        problems.add_described((n_empty > 0) & (n_empty < len(empty)), name, missing)
    ids = table.stripped(*RESPONSE_ID)
    problems.add_described(
        ids.array(bool, lambda name: name in known),
        table.header_of(*RESPONSE_ID),
        lambda row: (f"{quoted(ids[row])} is also in the responses", "Use another id"),
    )
    raise_all([*of_file, *problems_of_responses, *problems.in_order()], source=table.file)
    hidden = tuple(name for name in evaluation.labelling.hide if table.has(name))
    labelling = replace(evaluation.labelling, hide=hidden)
    views = response_views(replace(evaluation, labelling=labelling), responses)
    checks = []
    for row, view in enumerate(views.values()):
        right = {name: cells[row] for name, cells in answers.items() if cells[row] is not None}
        checked = tuple(question for question in questions if question.id in right)
        checked_view = replace(view, questions=checked, run_id=None)
        checks.append(Check(checked_view, right, int(rounds[row])))
    return tuple(checks)


def _header_problems(table: FileTable, evaluation: Evaluation) -> Iterator[InputProblem]:
    """Yield columns that are missing or unknown, and that a file has no rows."""
    labelling = evaluation.labelling
    for name in labelling.show:
        if not table.has(name):
            message = "there is no such column, and raters see it of other responses"
            yield InputProblem(table.file, 1, name, message, "Add it to the header")
    column_names = [*(question.id for question in evaluation.rubric), "round", *labelling.show]
    filters = (*evaluation.filter_columns, labelling.run_column)
    known_names = {*map(plain, (*column_names, *labelling.hide, *filters, *KNOWN_COLUMNS))}
    for header in table.columns:
        if plain(header) not in known_names:
            message = "a calibration has no such column"
            remedy = f"{nearest(header, column_names)}, or remove it"
            yield InputProblem(table.file, 1, header, message, remedy)
    if not len(table):
        message = "there are no responses"
        yield InputProblem(table.file, None, None, message, "Add rows, or remove the file's key")


def _answers(table: FileTable, question: RubricQuestion, problems: RowProblems) -> FileColumn[Any]:
    """Return the right answers of each row, None if it has none; note those off the scale."""
    names = {choice.name.casefold(): choice.value for choice in choices_of(question.scale)}

    def parsed(cell: str | None) -> frozenset[float] | str | None:
        if cell is None:
            return None
        try:
            return frozenset(
                names[part.strip().casefold()]
                if part.strip().casefold() in names
                else parse_typed(part, question.scale)
                for part in cell.split("|")
            )
        except ValueError as error:
            return str(error)

    answers = table.stripped(question.id).map(parsed)
    problems.add_described(
        answers.array(bool, lambda cell: isinstance(cell, str)),
        table.spelling(question.id),
        lambda row: (str(answers[row]), "Write a value of the scale, or several with | between"),
    )
    return answers


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
    responses, raters, questions, cells_of_round, purposes = map(table.stripped, names)
    headers = {name: table.spelling(name) for name in names}
    missing = [header for header in names[:2] if not table.has(header)]
    problems = RowProblems(ASSIGNMENTS, table.lines)
    rounds = rounds_in(cells_of_round, headers["round"], problems)
    if not missing:
        ids = [name for question in evaluation.rubric for name in question.names]
        no_response, no_rater = "the row names no response", "the row names no rater"
        problems.add(responses.is_none(), headers["response_id"], no_response, "Fill in its id")
        problems.add(raters.is_none(), headers["rater_id"], no_rater, "Fill in who labels it")
        problems.add_described(
            questions.array(bool, lambda name: name not in (None, *ids)),
            headers["question_id"],
            lambda row: (
                f"{quoted(questions[row])} is not in the rubric",
                nearest(questions[row] or "", ids),
            ),
        )
        is_bad = purposes.array(bool, lambda purpose: purpose not in (None, *get_args(Purpose)))
        remedy = f"Use one of {', '.join(get_args(Purpose))}"
        problems.add(is_bad, headers["purpose"], "is not a purpose", remedy, purposes)
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
            round=number,
            purpose=purpose or "shared",  # type: ignore[arg-type] # checked above
        )
        for response, rater, question, number, purpose in zip(
            responses, raters, questions, rounds.tolist(), purposes, strict=True
        )
    ]
