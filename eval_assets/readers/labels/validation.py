"""Labels of one file, checked against rubric and responses: rows to keep, and the others."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputProblem
from eval_assets.frame_columns import LABEL_COLUMNS
from eval_assets.readers._cells import (
    BoolArray,
    FloatArray,
    Ratings,
    canonical_number,
    in_utc,
    number_in,
    on_scale,
    read_ratings,
)
from eval_assets.readers._problems import Findings, WhatAndRemedy, shown
from eval_assets.readers.formats.table import Repeated, is_none, per_distinct, repeating
from eval_assets.readers.labels.parsed_labels import FIELDS, GivenLabels
from eval_assets.readers.references import UNKNOWN, PositionArray, Units

UNIT_AND_RATER = ["response_id", "question_id", "rater_id", "round"]
"""Columns that are unique together among ratings."""

_LONGEST_CELL = 30_000
"""Characters of a cell from which on a spreadsheet may have cut it."""

_RARE = re.compile(r"[^\x00-\x7f]|\?")
_ROUND = re.compile("[1-9][0-9]{0,3}")
_SKIPPED = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class RejectedLabel(NamedTuple):
    """A row that is not a label, with what it says of rater and question, as far as it does."""

    problem: InputProblem
    rater_id: str | None = None
    question_id: str | None = None


@dataclass(frozen=True)
class CheckedLabels:
    """Labels of one file, checked.

    Args:
        ratings: Rows that can be kept, in `LABEL_COLUMNS` and `rating_header`.
        rejected: What is wrong with the other rows.
        n_unrated: Rows with a blank rating.
    """

    ratings: pd.DataFrame
    rejected: list[RejectedLabel]
    n_unrated: int


def checked_labels(
    given: GivenLabels, evaluation: Evaluation, units: Units, *, ignored: frozenset[str]
) -> CheckedLabels:
    """Return the labels that can be kept, and what is wrong with each of the others.

    Args:
        given: Labels of one file.
        evaluation: Names the questions and their scales.
        units: The units that can be rated.
        ignored: Questions whose labels are neither kept nor wrong.
    """
    table = given.table
    findings = Findings(table.file, table.lines)
    left_out = np.array(per_distinct(given.units.questions, ignored.__contains__), dtype=bool)
    responses = units.responses(given.units.responses)
    questions = units.questions(given.units.questions, responses)
    units.note_unknown(findings, given.units, responses=responses, questions=questions)
    _note_other_text(findings, given, units, responses)
    texts = repeating(given.text("rating"))
    read = read_ratings(texts.values, has_decimal_commas=table.has_decimal_commas)
    blank = read.blank[texts.codes]
    skipped = _skipped(findings, given)
    _note_no_rater(findings, given, rated=~blank, skipped=skipped)
    values = _values(findings, given, texts, read, rubric=evaluation.rubric, questions=questions)
    raters = given.stripped("rater_id")
    columns: dict[str, Iterable[object]] = {
        "response_id": _names(units.response_ids, responses),
        "question_id": _names(units.question_ids, questions),
        "value": np.where(skipped, np.nan, values),
        "labelled_at": _labelled_at(findings, given),
        "skipped": skipped,
        "round": _rounds(findings, given),
        "details": per_distinct(given.stripped("details"), _as_json),
        "file": _same(table.file, given),
        "line": np.array(table.lines, dtype=np.int64),
    }
    as_given = {name: given.stripped(name) for name in LABEL_COLUMNS if name not in columns}
    ratings = given.headers["rating"]
    headers = _same(ratings, given) if isinstance(ratings, str) else ratings
    frame = labels_frame({**columns, **as_given, "rating_header": headers})
    kept = ~findings.bad & ~left_out & (~blank | skipped)
    return CheckedLabels(
        frame if kept.all() else frame[kept],
        [
            *(RejectedLabel(problem) for problem in table.bad_rows),
            *(
                RejectedLabel(problem, raters[row], given.units.questions[row])
                for row, problem in findings.by_row()
                if not left_out[row]
            ),
        ],
        n_unrated=int(np.count_nonzero(~findings.bad & ~left_out & blank & ~skipped)),
    )


def second_ratings(ratings: pd.DataFrame) -> list[RejectedLabel]:
    """Return each rating whose unit the same rater has rated before, in the same round."""
    again = ratings[ratings.duplicated(UNIT_AND_RATER, keep="first")]
    sharing = ratings[ratings.duplicated(UNIT_AND_RATER, keep=False)]
    firsts = sharing.drop_duplicates(UNIT_AND_RATER)
    units = firsts[UNIT_AND_RATER].itertuples(index=False, name=None)
    places = zip(firsts["file"], firsts["line"], strict=True)
    first_of = dict(zip(units, places, strict=True))
    problems = []
    columns = again[[*UNIT_AND_RATER, "file", "line", "rating_header"]]
    for *unit, file, line, header in columns.itertuples(index=False, name=None):
        response_id, question_id, rater_id, _ = unit
        first = ":".join(map(str, first_of[tuple(unit)]))
        what = (
            f"a second rating of {shown(response_id)} on {shown(question_id)} "
            f"by {shown(rater_id)}, the first is {first}"
        )
        problem = InputProblem(file, int(line), header, what, "Keep one of the two")
        problems.append(RejectedLabel(problem, rater_id, question_id))
    return problems


def labels_frame(columns: Mapping[str, Iterable[object]]) -> pd.DataFrame:
    """Return columns of labels, each in its dtype: text as objects, None if nothing is given."""
    dtypes = {"value": float, "skipped": bool, "round": int, "line": int}
    return pd.DataFrame(
        {name: _series(cells, dtypes.get(name, object)) for name, cells in columns.items()},
        copy=False,
    )


def _series(cells: Iterable[object], dtype: type) -> pd.Series:
    """Return a column; one that repeats a single value takes no memory for its rows."""
    if isinstance(cells, Repeated) and len(cells.values) == 1:
        [value] = cells.values
        same: npt.NDArray[Any] = np.broadcast_to(np.array([value], dtype=dtype), len(cells))
        return pd.Series(same, dtype=dtype, copy=False)
    cells = np.asarray(cells) if isinstance(cells, Repeated) else cells
    return pd.Series(cells, dtype=dtype, copy=False)


def _same(text: str, given: GivenLabels) -> Repeated[str]:
    """Return a column with the same text in every row."""
    return Repeated([text], np.broadcast_to(np.int32(0), len(given.table)))


def _names(ids: Sequence[str], positions: PositionArray) -> npt.NDArray[np.object_]:
    """Return the id at each position, None if it has none."""
    return np.array([*ids, None], dtype=object)[np.maximum(positions, UNKNOWN)]


def _note_other_text(
    findings: Findings, given: GivenLabels, units: Units, responses: PositionArray
) -> None:
    """Note rows that show another text than the response has: somebody rated that one."""
    header = given.table.header_of("response_text")
    if header is None or units.texts is None:
        return
    stored, given_texts = units.texts(), given.table.text(header)
    rated, answered = (per_distinct(texts, _words_of) for texts in (given_texts, stored))
    differs = [
        at >= 0 and bool(text) and len(text) < _LONGEST_CELL and text != answered[at] is not None
        for text, at in zip(rated, responses, strict=True)
    ]

    def describe(row: int) -> WhatAndRemedy:
        found, known = shown(given_texts[row]), shown(stored[responses[row]])
        what = f"{found} is not the text of the response, which is {known}"
        return what, "Restore the response that was rated, or remove the rating"

    findings.add(np.array(differs, dtype=bool), header, describe)


def _words_of(text: str | None) -> str:
    """Return a text as it compares: spreadsheets change line ends, blanks and rare letters."""
    return " ".join(_RARE.sub("", (text or "").lstrip("'")).split())


def _note_no_rater(
    findings: Findings, given: GivenLabels, *, rated: BoolArray, skipped: BoolArray
) -> None:
    """Note ratings without a rater, and units both rated and skipped."""
    without_rater = is_none(given.stripped("rater_id"))
    cells = given.table.cells(*FIELDS["rater_id"])
    distinct = cells.values if isinstance(cells, Repeated) else cells
    is_nested = np.array([isinstance(cell, list | dict) for cell in distinct], dtype=bool)
    findings.add(
        is_nested[cells.codes] if isinstance(cells, Repeated) else is_nested,
        given.headers["rater_id"],
        lambda row: (f"{shown(json.dumps(cells[row]))} is not one rater", "Write the id of one"),
    )
    findings.add(
        without_rater & (rated | skipped),
        given.headers["rater_id"],
        lambda _: ("a rating without a rater", "Fill in who gave it"),
    )
    findings.add(
        rated & skipped,
        given.headers["skipped"],
        lambda _: ("the unit is both rated and skipped", "Empty one of the two cells"),
    )


def _values(  # noqa: PLR0913 - cells, what they say, and what is asked
    findings: Findings,
    given: GivenLabels,
    texts: Repeated[str | None],
    read: Ratings,
    *,
    rubric: Sequence[RubricQuestion],
    questions: PositionArray,
) -> FloatArray:
    """Return values on the scale of each row's question; note rows off it.

    Args:
        findings: Rows are noted here.
        given: The labels.
        texts: Their ratings.
        read: What each distinct one of these says.
        rubric: The questions.
        questions: Position of each row's question among them.
    """
    values = np.full(len(given.table), np.nan)
    off_scale = np.zeros(len(given.table), dtype=bool)
    for position, question in enumerate(rubric):
        here = questions == position
        on, contained = on_scale(read, question.scale)
        codes = texts.codes[here]
        values[here] = on[codes]
        off_scale[here] = (~read.blank & ~contained)[codes]
    findings.add(
        off_scale,
        given.headers["rating"],
        lambda row: _off_scale(texts[row], rubric[questions[row]]),
    )
    return values


def _skipped(findings: Findings, given: GivenLabels) -> BoolArray:
    """Return whether each row says that its unit was skipped."""
    cells = given.stripped("skipped")
    words = per_distinct(cells, lambda cell: _SKIPPED.get((cell or "false").lower()))
    findings.add(
        is_none(words),
        given.headers["skipped"],
        lambda row: (
            f"{shown(cells[row])} is neither true nor false",
            "Write true if the unit was skipped, or else nothing",
        ),
    )
    return np.array(words, dtype=bool)


def _labelled_at(findings: Findings, given: GivenLabels) -> Repeated[str | None]:
    """Return times in UTC; note rows whose time cannot be read."""
    cells = given.stripped("labelled_at")
    times = per_distinct(cells, lambda cell: in_utc(cell) if cell else None)
    findings.add(
        is_none(times) & ~is_none(cells),
        given.headers["labelled_at"],
        lambda row: (f"{shown(cells[row])} is not a time", "Write it as 2026-11-21T04:00:00Z"),
    )
    return times


def _rounds(findings: Findings, given: GivenLabels) -> npt.NDArray[np.int64]:
    """Return the round of each row, the first if it names none; note what is not a round."""
    cells = given.stripped("round")
    numbers = per_distinct(cells, lambda cell: canonical_number(cell) or "1")
    rounds = np.array(
        per_distinct(numbers, lambda number: int(number) if _ROUND.fullmatch(number) else 0),
        dtype=np.int64,
    )
    findings.add(
        rounds == 0,
        given.headers["round"],
        lambda row: (f"{shown(cells[row])} is not a round", "Count rounds 1, 2, 3"),
    )
    return rounds


def _as_json(cell: str | None) -> str | None:
    """Return a JSON object as it is, and any other text as a JSON string."""
    if cell is None:
        return None
    try:
        return cell if isinstance(json.loads(cell), dict) else json.dumps(cell)
    except ValueError:
        return json.dumps(cell)


def _off_scale(cell: str | None, question: RubricQuestion) -> WhatAndRemedy:
    """Describe a rating that the question's scale does not contain."""
    number = number_in(cell)
    found = shown(cell) if math.isnan(number) else f"{number:.12g}"
    allowed = question.scale.described()
    remedy = f"Use {allowed}" if allowed.startswith("any") else f"Use one of {allowed}"
    return f'{found} is not on the scale of "{question.id}"', remedy
