"""Labels of one file held against rubric and responses: rows that can be kept, and the others."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.problems import InputProblem
from eval_assets.readers.findings import Findings, WhatAndRemedy
from eval_assets.readers.given_labels import GivenLabels
from eval_assets.readers.named_units import note_no_unit
from eval_assets.readers.ratings import (
    BoolArray,
    FloatArray,
    Ratings,
    number_in,
    on_scale,
    read_ratings,
)
from eval_assets.readers.table import per_distinct
from eval_assets.readers.times import in_utc
from eval_assets.readers.units import UNKNOWN, PositionArray, Units
from eval_assets.readers.wording import shown
from eval_assets.rubric import RubricQuestion

_SKIPPED = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class CheckedLabels:
    """What one file of labels gives.

    Args:
        ratings: Rows that can be kept, in `LABEL_COLUMNS` and `rating_header`.
        problems: What is wrong with the other rows.
        n_unrated: Rows that leave their rating blank.
    """

    ratings: pd.DataFrame
    problems: list[InputProblem]
    n_unrated: int


def checked_labels(given: GivenLabels, evaluation: Evaluation, units: Units) -> CheckedLabels:
    """The labels that can be kept, and what is wrong with each of the others."""
    findings = Findings(given.file, given.lines)
    responses = units.responses(given.units.responses)
    questions = units.questions(given.units.questions, responses)
    note_no_unit(findings, units, given.units, responses=responses, questions=questions)
    cells = read_ratings(given.ratings)
    skipped = _skipped(findings, given)
    _note_no_rater(findings, given, rated=~cells.blank, skipped=skipped)
    values = _values(findings, given, cells, rubric=evaluation.rubric, questions=questions)
    labelled_at = _labelled_at(findings, given)
    kept = ~findings.bad & (~cells.blank | skipped)
    columns: dict[str, Iterable[object]] = {
        "response_id": _names(units.response_ids, responses),
        "question_id": _names(units.question_ids, questions),
        "rater_id": given.raters,
        "value": np.where(skipped, np.nan, values),
        "labelled_at": labelled_at,
        "confidence": given.confidence,
        "notes": given.notes,
        "skipped": skipped,
        "skip_reason": given.skip_reason,
        "source": [f"{given.file}:{line}" for line in given.lines],
        "rating_header": given.rating_headers,
    }
    frame = labels_frame(columns)
    return CheckedLabels(
        frame if kept.all() else frame[kept],
        [*given.bad_rows, *findings.in_order()],
        n_unrated=int(np.count_nonzero(~findings.bad & cells.blank & ~skipped)),
    )


def labels_frame(columns: Mapping[str, Iterable[object]]) -> pd.DataFrame:
    """Columns of labels, each in its dtype: text stays an object, None where nothing is given."""
    dtypes = {"value": float, "skipped": bool}
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=dtypes.get(name, object)) for name, cells in columns.items()}
    )


def _names(ids: Sequence[str], positions: PositionArray) -> npt.NDArray[np.object_]:
    """Id at each position, None where there is none."""
    return np.array([*ids, None], dtype=object)[np.maximum(positions, UNKNOWN)]


def _note_no_rater(
    findings: Findings, given: GivenLabels, *, rated: BoolArray, skipped: BoolArray
) -> None:
    """Note ratings without a rater, and units both rated and skipped."""
    without_rater = np.array([rater is None for rater in given.raters], dtype=bool)
    findings.add(
        without_rater & (rated | skipped),
        given.rater_header,
        lambda _: ("a rating without a rater", "Fill in who gave it"),
    )
    findings.add(
        rated & skipped,
        "skipped",
        lambda _: ("the unit is both rated and skipped", "Empty one of the two cells"),
    )


def _values(
    findings: Findings,
    given: GivenLabels,
    cells: Ratings,
    *,
    rubric: Sequence[RubricQuestion],
    questions: PositionArray,
) -> FloatArray:
    """Values on the scale of each row's question; rows off it are noted."""
    values = np.full(len(given.lines), np.nan)
    off_scale = np.zeros(len(given.lines), dtype=bool)
    for position, question in enumerate(rubric):
        here = questions == position
        on, held = on_scale(cells, question.scale)
        values[here] = on[here]
        off_scale |= here & ~cells.blank & ~held
    findings.add(
        off_scale,
        given.rating_headers,
        lambda row: _off_scale(given.ratings[row], rubric[questions[row]]),
    )
    return values


def _skipped(findings: Findings, given: GivenLabels) -> BoolArray:
    """Whether each row says that its unit was skipped."""
    words = per_distinct(given.skipped, lambda cell: _SKIPPED.get((cell or "false").lower()))
    findings.add(
        np.array([word is None for word in words], dtype=bool),
        "skipped",
        lambda row: (
            f"{shown(given.skipped[row])} is neither true nor false",
            "Write true where the unit was skipped, and nothing elsewhere",
        ),
    )
    return np.array(words, dtype=bool)


def _labelled_at(findings: Findings, given: GivenLabels) -> list[str | None]:
    """Times in UTC; rows whose time is none are noted."""
    times = per_distinct(given.labelled_at, lambda cell: in_utc(cell) if cell else None)
    no_time = [
        time is None and cell is not None
        for time, cell in zip(times, given.labelled_at, strict=True)
    ]
    findings.add(
        np.array(no_time, dtype=bool),
        given.time_header,
        lambda row: (
            f"{shown(given.labelled_at[row])} is no time",
            "Write it as 2026-11-21T04:00:00Z",
        ),
    )
    return times


def _off_scale(cell: str | None, question: RubricQuestion) -> WhatAndRemedy:
    """A rating that the question's scale does not hold."""
    number = number_in(cell)
    found = shown(cell) if math.isnan(number) else f"{number:.12g}"
    allowed = question.scale.described()
    remedy = f"Use {allowed}" if allowed.startswith("any") else f"Use one of {allowed}"
    return f'{found} is not on the scale of "{question.id}"', remedy
