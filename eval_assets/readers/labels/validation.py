"""Labels of one file: parsed, then checked against rubric and responses."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputProblem, SheetLine
from eval_assets.frame_columns import LABEL_COLUMNS, REJECTED_COLUMNS
from eval_assets.readers.formats.table import BoolArray, FileColumn
from eval_assets.readers.problems import MessageAndRemedy, RowProblems, off_scale, quoted
from eval_assets.readers.rated_rows import FIELDS, RatedRows
from eval_assets.readers.references import UNKNOWN, PositionArray, ResponseUnits
from eval_assets.readers.values import (
    FloatArray,
    RatingCells,
    canonical_number,
    in_utc,
)

UNIT_AND_RATER = ["response_id", "question_id", "rater_id", "round"]
"""Columns that are unique together among ratings."""

_LONGEST_CELL = 30_000
"""Characters of a cell from which on a spreadsheet may have cut it."""

_RARE = re.compile(r"[^\x00-\x7f]|\?")
_ROUND = re.compile("[1-9][0-9]{0,3}")
_SKIPPED = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


RejectedRow = tuple[InputProblem, str | None, str | None]
"""Problem of a row that is no label, with its rater and question as far as it names them."""


@dataclass(frozen=True)
class Labels:
    """Human ratings of one file, or of all files of an evaluation.

    Args:
        ratings: Columns `LABEL_COLUMNS`, one row a rating or a skipped unit; at most one for each
            unit and rater. `value` is on the question's scale, NaN if `skipped`.
        earlier: Ratings of units that were rated again in a later round, likewise.
        rejected: Columns `REJECTED_COLUMNS`, one row for each row that was left out; empty unless
            the evaluation says `on_error: reject_rows`.
        n_unrated: Rows whose rating is blank, which are neither ratings nor errors.
        notes: How files were read if that had to be guessed, and which labels were ignored.
        unrated: Response, question and rater of each blank row that names its rater.
    """

    ratings: pd.DataFrame
    earlier: pd.DataFrame
    rejected: pd.DataFrame
    n_unrated: int
    notes: tuple[str, ...]
    unrated: pd.DataFrame


def checked_labels(
    parsed: RatedRows,
    rubric: Sequence[RubricQuestion],
    units: ResponseUnits,
    *,
    ignored: Collection[str],
) -> Labels:
    """Return the valid labels of one file, and the problem of each of the others.

    Ratings have the further columns `rating_header` and `rater_header`, the column or key of each
    rating and of its rater.

    Labels of `ignored` questions are neither kept nor wrong.
    """
    table = parsed.table
    problems = RowProblems(table.file, table.lines)
    is_ignored = parsed.units.questions.array(bool, ignored.__contains__)
    responses = units.responses(parsed.units.responses)
    questions = units.questions(parsed.units.questions, responses)
    units.add_unknown(problems, parsed.units, responses=responses, questions=questions)
    _add_other_texts(problems, parsed, units, responses)
    cells = parsed.ratings()
    skip_cells = parsed.stripped("skipped")
    flags = skip_cells.map(lambda cell: _SKIPPED.get((cell or "false").lower()))
    message = "is neither true nor false"
    remedy = "Write true if the unit was skipped, or else nothing"
    problems.add(flags.is_none(), parsed.headers["skipped"], message, remedy, skip_cells)
    skipped: BoolArray = flags.array(bool)
    _add_rater_problems(problems, parsed, rated=~cells.blank, skipped=skipped)
    values = _values(problems, parsed, cells, rubric=rubric, questions=questions)
    raters = parsed.stripped("rater_id")
    rater_ids = list(filter(None, raters.present()))
    place = {name: code for code, name in enumerate(rater_ids)}
    rater_codes = raters.array(np.int32, lambda name: place.get(name or "", UNKNOWN))
    cells_of_time = parsed.stripped("labelled_at")
    times = cells_of_time.map(lambda cell: in_utc(cell) if cell else None)
    bad, remedy = times.is_none() & ~cells_of_time.is_none(), "Write it as 2026-11-21T04:00:00Z"
    problems.add(bad, parsed.headers["labelled_at"], "is not a time", remedy, cells_of_time)
    cells_of_round = parsed.stripped("round")
    numbers = cells_of_round.map(lambda cell: canonical_number(cell) or "1")
    rounds: npt.NDArray[np.int64] = numbers.array(
        np.int64, lambda number: int(number) if _ROUND.fullmatch(number) else 0
    )
    header, remedy = parsed.headers["round"], "Count rounds 1, 2, 3"
    problems.add(rounds == 0, header, "is not a round", remedy, cells_of_round)
    columns = {name: parsed.stripped(name) for name in FIELDS if name in LABEL_COLUMNS} | {
        "response_id": _names(units.response_ids, responses),
        "question_id": _names(units.question_ids, questions),
        "rater_id": pd.Categorical.from_codes(rater_codes, pd.Index(rater_ids, dtype=object)),
        "value": np.where(skipped, np.nan, values),
        "labelled_at": times,
        "skipped": skipped,
        "round": rounds,
        "details": parsed.stripped("details").map(_as_json),
        "file": FileColumn.repeat(table.file, len(table)),
        "line": np.array(table.lines, dtype=object)
        if len(table) and isinstance(table.lines[0], SheetLine)
        else pd.Index(table.lines).to_numpy(dtype=np.int64),  # quick of a range
        "rating_header": parsed.rating_headers,
        "rater_header": FileColumn.repeat(parsed.headers["rater_id"], len(table))
        if parsed.headers["rater_id"]
        else parsed.rating_headers,
    }
    frame = labels_frame(columns)
    considered = ~problems.bad & ~is_ignored
    is_label = considered & (~cells.blank | skipped)
    # A column for each rater has a cell for each response, which says nothing of an assignment.
    has_rater = raters.array(bool, bool) & (parsed.headers["rater_id"] is not None)
    rejected = [(problem, None, None) for problem in table.bad_rows] + [
        (problem, raters[row], parsed.units.questions[row])
        for row, problem in problems.by_row()
        if not is_ignored[row]
    ]
    return Labels(
        frame if is_label.all() else frame[is_label],
        frame.head(0),
        rejected_frame(rejected),
        n_unrated=int(np.count_nonzero(considered & ~is_label)),
        notes=table.notes,
        unrated=frame.loc[considered & ~is_label & has_rater, UNIT_AND_RATER[:3]],
    )


def second_ratings(ratings: pd.DataFrame) -> list[RejectedRow]:
    """Return each further rating of a unit by the same rater in the same round."""
    columns = ratings[[*UNIT_AND_RATER, "file", "line", "rating_header"]]
    sharing = columns[ratings.duplicated(UNIT_AND_RATER, keep=False)]
    first_of: dict[tuple[object, ...], str] = {}
    rejected: list[RejectedRow] = []
    for *unit, file, line, header in sharing.itertuples(index=False, name=None):
        first = first_of.get(tuple(unit))
        if first is None:
            first_of[tuple(unit)] = f"{file}:{line}"
            continue
        response_id, question_id, rater_id, _ = unit
        message = (
            f"a second rating of {quoted(response_id)} on {quoted(question_id)} "
            f"by {quoted(rater_id)}, the first is {first}"
        )
        problem = InputProblem(file, line, header, message, "Keep one of the two")
        rejected.append((problem, rater_id, question_id))
    return rejected


def rejected_frame(rows: Sequence[RejectedRow]) -> pd.DataFrame:
    """Return rejected rows in `REJECTED_COLUMNS`."""
    cells = [
        (*astuple(problem), rater, question, problem.sheet) for problem, rater, question in rows
    ]
    return pd.DataFrame(cells, columns=list(REJECTED_COLUMNS), dtype=object)


def labels_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return columns of labels, each in its dtype: text as objects, None if empty.

    Names of responses, questions and raters may be categories, which are compared by their codes.
    """
    dtypes = {"value": float, "skipped": bool, "round": int, "line": None}
    names = (*LABEL_COLUMNS, "rating_header", "rater_header")
    return pd.DataFrame(
        {name: _series(columns.get(name, ()), dtypes.get(name, object)) for name in names},
        copy=False,
    )


def _series(cells: object, dtype: type | None) -> pd.Series:
    """Return a column; one that repeats a single value takes no memory for its rows."""
    if isinstance(cells, pd.Categorical):
        return pd.Series(cells, copy=False)
    if isinstance(cells, FileColumn) and len(cells.values) == 1:
        [value] = cells.values
        same: npt.NDArray[Any] = np.broadcast_to(np.array([value], dtype=dtype), len(cells))
        return pd.Series(same, dtype=dtype, copy=False)
    cells = cells.array(object) if isinstance(cells, FileColumn) else cells
    return pd.Series(cells, dtype=dtype, copy=False)


def _names(ids: Sequence[str], positions: PositionArray) -> pd.Categorical:
    categories = pd.Index(np.array(ids, dtype=object))
    return pd.Categorical.from_codes(np.maximum(positions, UNKNOWN), categories)


def _add_other_texts(
    problems: RowProblems, parsed: RatedRows, units: ResponseUnits, responses: PositionArray
) -> None:
    """Add rows whose text differs from that of the response: raters rated another text."""
    header = parsed.table.header_of("response_text")
    if header is None or units.texts is None:
        return
    texts, rated = FileColumn.of(units.texts()), parsed.table.text(header)
    stored_words, rated_words = texts.map(_words), rated.map(_words)
    differs = [
        at >= 0 and bool(words) and len(words) < _LONGEST_CELL and words != stored_words[at]
        for words, at in zip(rated_words, responses, strict=True)
    ]

    def describe(row: int) -> MessageAndRemedy:
        text, response_text = quoted(rated[row]), quoted(texts[responses[row]])
        message = f"{text} is not the text of the response, which is {response_text}"
        return message, "Restore the response that was rated, or remove the rating"

    problems.add_described(np.array(differs, dtype=bool), header, describe)


def _words(text: str | None) -> str:
    """Return a text for comparison: spreadsheets change line ends, blanks and rare letters."""
    return " ".join(_RARE.sub("", (text or "").lstrip("'")).split())


def _add_rater_problems(
    problems: RowProblems, parsed: RatedRows, *, rated: BoolArray, skipped: BoolArray
) -> None:
    cells, header = parsed.table.cells(*FIELDS["rater_id"]), parsed.headers["rater_id"]
    problems.add_described(
        cells.array(bool, lambda cell: isinstance(cell, list | dict)),
        header,
        lambda row: (f"{quoted(json.dumps(cells[row]))} is not one rater", "Write the id of one"),
    )
    unnamed = parsed.stripped("rater_id").is_none() & (rated | skipped)
    message, remedy = "the unit is both rated and skipped", "Empty one of the two cells"
    problems.add(unnamed, header, "a rating without a rater", "Fill in who gave it")
    problems.add(rated & skipped, parsed.headers["skipped"], message, remedy)


def _values(
    problems: RowProblems,
    parsed: RatedRows,
    cells: RatingCells,
    *,
    rubric: Sequence[RubricQuestion],
    questions: PositionArray,
) -> FloatArray:
    """Return values on the scale of each row's question; add rows off it."""
    values = np.full(len(parsed.table), np.nan)
    is_off = np.zeros(len(parsed.table), dtype=bool)
    for position, question in enumerate(rubric):
        rows = questions == position
        values[rows], contained = cells.take(rows).on_scale(question.scale)
        is_off[rows] = ~cells.blank[rows] & ~contained
    texts = parsed.table.text(*FIELDS["rating"])

    problems.add_described(
        is_off,
        parsed.rating_headers,
        lambda row: off_scale(texts[row], rubric[questions[row]]),
    )
    return values


def _as_json(cell: str | None) -> str | None:
    """Return a JSON object as it is, and any other text as a JSON string."""
    if cell is None:
        return None
    try:
        return cell if isinstance(json.loads(cell), dict) else json.dumps(cell)
    except ValueError:
        return json.dumps(cell)
