"""Assignments: which rater labels which responses, and in which order."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling._durable import locked, replace_file

Purpose = Literal["shared", "single", "repeat", "control"]
"""Why a rater labels a response: every rater does, only this one does, to see whether the rater
gives the same answer again, or because its value is already settled."""

ASSIGNMENTS = "assignments.csv"
ASSIGNMENT_COLUMNS = ("response_id", "rater_id", "question_id", "round", "purpose")


@dataclass(frozen=True)
class Assignment:
    """One response that one rater labels; a row of assignments.csv.

    Args:
        response_id: The response.
        rater_id: The rater.
        question_id: The question; None for every question asked of the response.
        round: The round.
        purpose: Why this rater labels it.
    """

    response_id: str
    rater_id: str
    question_id: str | None = None
    round: int = 1
    purpose: Purpose = "shared"


def assignments_text(assignments: Sequence[Assignment]) -> str:
    """Return assignments as CSV; the order of a rater's rows is the order in which they label."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(ASSIGNMENT_COLUMNS)
    for one in assignments:
        writer.writerow(
            [one.response_id, one.rater_id, one.question_id or "", one.round, one.purpose]
        )
    return text.getvalue()


def add_assignments(folder: Path, assignments: Sequence[Assignment]) -> None:
    """Write assignments after those in assignments.csv, which stay exactly as they are.

    Raises:
        InputError: If the file's columns are others, for instance because a spreadsheet program
            saved it.
    """
    path = folder / ASSIGNMENTS
    text = assignments_text(assignments)
    header, _, rows = text.partition("\n")
    with locked(folder):
        before = path.read_bytes() if path.exists() else b""
        if not before:
            replace_file(path, text.encode())
            return
        found = before.decode("utf-8-sig", errors="replace").splitlines()[0]
        if found != header:
            what = f"the header is {found!r}"
            remedy = f"Make it {header}, with the cells in that order and commas between them"
            raise InputError(InputProblem(ASSIGNMENTS, 1, None, what, remedy))
        end = b"" if before.endswith(b"\n") else b"\n"
        replace_file(path, before + end + rows.encode())
