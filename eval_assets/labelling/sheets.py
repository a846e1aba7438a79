"""Annotation sheets: CSV files that raters fill in with a spreadsheet program."""

import csv
import io
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pandas as pd

from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling.durable import locked, replace_file
from eval_assets.labelling.rater_queue import WorkUnit
from eval_assets.labelling.rater_view import CONVERSATION, KeyedCodes, guideline_hash

SHEET_COLUMNS = (
    "indicator_id",
    "convo_id",
    "turn_index",
    "seed",
    "prompt_text",
    "response_text",
    "model",
    "difficulty",
    "rater_id",
    "score",
)
"""Header of every sheet; further columns, such as the turns before, follow it."""

_KEY = ["indicator_id", "convo_id", "turn_index", "model_name", "seed"]
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def neutralised(cell: str) -> str:
    """Return the cell escaped so that spreadsheet programs never read it as a formula.

    Examples:
        >>> [neutralised(cell) for cell in ("=1+1", "-3", "- a list", "'=x", "4 - 1")]
        ["'=1+1", '-3', "'- a list", "''=x", '4 - 1']
    """
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def sheet_text(
    responses: pd.DataFrame,
    units: Sequence[WorkUnit],
    *,
    hide: Sequence[str] = (),
    reworded: Collection[str] = (),
    codes: KeyedCodes | None = None,
) -> str:
    """Return the sheet for one rater's units, in their order, with empty scores.

    Turns of a conversation follow one another. If one is not among the units, a last column holds
    the turns before.

    Args:
        responses: The responses, in `RESPONSE_COLUMNS`.
        units: Units of the rater.
        hide: Columns whose cells stay empty.
        reworded: Questions with several versions: a column then holds the fingerprint of the rated
            one, which may have changed when the sheet is read.
        codes: Makes the codes that stand for models and responses; None to name them.
    """
    by_id = responses.set_index("response_id")
    is_named = bool(by_id["convo_id"].notna().all()) and not by_id.duplicated(_KEY).any()
    columns = [
        *SHEET_COLUMNS,
        *([] if is_named else ["response_id"]),
        # Of one question alone, it follows from the response.
        *(["question_id"] if any(len(unit.response.questions) > 1 for unit in units) else []),
        *(["round"] if any(unit.key.round > 1 for unit in units) else []),
        *(["guideline_hash"] if any(unit.question.id in reworded for unit in units) else []),
        *([] if _holds_all_turns(units) else ["history"]),
    ]
    rows = by_id.to_dict("index")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for unit in sorted(units, key=_place_by_conversation(units, by_id)):
        if unit.is_repeat:
            continue
        response_id = unit.response.response_id
        cells = rows[response_id]
        model = cells["model_name"]
        if codes:
            model = codes.of_model(cells["indicator_id"], cells["convo_id"], model)
        cells |= {
            "model": model,
            "rater_id": unit.key.rater_id,
            "response_id": codes.of(response_id) if codes else response_id,
            "question_id": unit.question.id,
            "round": unit.key.round,
            "guideline_hash": guideline_hash(unit.question),
            "history": "\n\n".join(
                f"Prompt: {turn.prompt}\nResponse: {turn.response}"
                for turn in unit.response.earlier
            ),
            "score": None,
        }
        cells |= dict.fromkeys(hide)
        writer.writerow([_cell(cells[column]) for column in columns])
    return text.getvalue()


def _place_by_conversation(
    units: Sequence[WorkUnit], by_id: pd.DataFrame
) -> Callable[[WorkUnit], tuple[int, int, int]]:
    """Return the key that sorts units by question, conversation (by appearance) and turn."""
    named = by_id["convo_id"].notna()
    keys = dict(zip(by_id.index, by_id[CONVERSATION].itertuples(index=False), strict=True))
    conversation = {
        name: keys[name] if is_named else (name,) for name, is_named in named.to_dict().items()
    }
    questions: dict[str, int] = {}
    conversations: dict[object, int] = {}
    for unit in units:
        questions.setdefault(unit.question.id, len(questions))
        name = conversation[unit.response.response_id]
        conversations.setdefault(name, len(conversations))
    return lambda unit: (
        questions[unit.question.id],
        conversations[conversation[unit.response.response_id]],
        len(unit.response.earlier),
    )


def _holds_all_turns(units: Sequence[WorkUnit]) -> bool:
    """Return whether the turns before each response are among the units, on the same question."""
    displayed = {(unit.question.id, unit.response.earlier, unit.response.prompt) for unit in units}
    return all(
        (unit.question.id, unit.response.earlier[:n], unit.response.earlier[n].prompt) in displayed
        for unit in units
        for n in range(len(unit.response.earlier))
    )


def write_sheet(path: Path, text: str) -> None:
    """Write a sheet for spreadsheet programs, unless the file contains scores.

    Raises:
        InputError: If the file contains scores, or may contain some.
    """
    with locked(path.parent):
        if path.exists() and (reason := _keeps(path.read_bytes())):
            remedy = "Add --new to write the rest beside it, or move the file elsewhere"
            raise InputError(InputProblem(str(path), None, None, reason, remedy))
        replace_file(path, text.encode("utf-8-sig"))


def _keeps(content: bytes) -> str | None:
    """Return why a sheet must not be replaced; None if it has no scores."""
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return "the file was saved by another program and may hold scores"
    if not all("score" in row for row in rows):
        return "the file is not a sheet as it was written and may hold scores"
    filled = sum(bool((row["score"] or "").strip()) for row in rows)
    return f"{filled} scores are filled in" if filled else None


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value != value:  # noqa: PLR0124 - only NaN differs from itself
        return ""
    return neutralised(str(value))
