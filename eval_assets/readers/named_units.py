"""How rows name their units, and what to say where they name none that is there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_assets.readers.findings import Findings, WhatAndRemedy
from eval_assets.readers.keys import Reference, shown_key
from eval_assets.readers.table import Table
from eval_assets.readers.units import AMBIGUOUS, NOT_GIVEN, UNKNOWN, PositionArray, Units
from eval_assets.readers.wording import nearest, shown


@dataclass(frozen=True)
class NamedUnits:
    """How the rows of a file name their units.

    Args:
        responses: Response of each row, by id or by key; None where it names none.
        questions: Question of each row; None where it names none.
        response_header: Column of the responses; None where several columns name them.
        question_header: Column of the questions.
    """

    responses: Sequence[Reference | None]
    questions: Sequence[str | None]
    response_header: str | None
    question_header: str | None


def named_questions(table: Table, question_ids: Sequence[str]) -> list[str | None]:
    """Question of each row: the one it names, or the one that its indicator is; else None."""
    questions = table.stripped("question_id")
    if "indicator_id" not in table.columns:
        return questions
    indicators = table.stripped("indicator_id")
    return [
        question or (indicator if indicator in question_ids else None)
        for question, indicator in zip(questions, indicators, strict=True)
    ]


def note_no_unit(
    findings: Findings,
    units: Units,
    named: NamedUnits,
    *,
    responses: PositionArray,
    questions: PositionArray,
) -> None:
    """Note rows whose response or question does not exist, or do not belong together.

    Args:
        findings: Where the rows are noted.
        units: The units that exist.
        named: How the rows name their units.
        responses: Position of the response that was found for each row.
        questions: Position of the question that was found for each row.
    """
    findings.add(
        responses < 0,
        named.response_header,
        lambda row: _no_response(named.responses[row], int(responses[row])),
    )
    # Which question is meant may hang on the response: a row without one is noted once.
    unnamed = np.array([question is None for question in named.questions], dtype=bool)
    findings.add(
        (questions == NOT_GIVEN) | ((questions == UNKNOWN) & ~unnamed),
        named.question_header,
        lambda row: _no_question(named.questions[row], units.question_ids),
    )
    findings.add(
        units.not_asked(responses, questions),
        named.question_header,
        lambda row: _not_asked(units, int(responses[row]), int(questions[row])),
    )


def _no_response(reference: Reference | None, position: int) -> WhatAndRemedy:
    """A row whose response is not named, unknown or not the only one so named."""
    if reference is None:
        return "the row names no response", "Fill in the id of the response"
    if isinstance(reference, str):
        remedy = "Use an id from the response files, or add the response there"
        return f"{shown(reference)} is no response of this evaluation", remedy
    if position == AMBIGUOUS:
        remedy = "Add a column response_id that tells them apart"
        return f"several responses have {shown_key(reference)}", remedy
    remedy = "Copy these cells from the response files as they stand there"
    return f"no response has {shown_key(reference) or 'an empty key'}", remedy


def _no_question(question: str | None, question_ids: Sequence[str]) -> WhatAndRemedy:
    """A row whose question is not named, or is not in the rubric."""
    questions = ", ".join(question_ids)
    if question is None:
        return "the row names no question, and several are asked", f"Name one of {questions}"
    return f"{shown(question)} is not in the rubric", nearest(question, question_ids)


def _not_asked(units: Units, response: int, question: int) -> WhatAndRemedy:
    """A row on a question that its response is not asked."""
    only = units.question_ids[int(units.asked[response].argmax())]
    name, response_id = units.question_ids[question], units.response_ids[response]
    what = f'"{name}" is not asked of {shown(response_id)}, whose indicator_id is "{only}"'
    return what, f'Rate it on "{only}" only'
