"""Matrices of ratings from annotation records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from eval_assets.stats._numbers import Floats, is_missing
from eval_assets.stats.agreement import human_agreement

if TYPE_CHECKING:
    import pandas as pd

    from eval_assets.scale import Scale

Records: TypeAlias = "Iterable[Mapping[str, Any]] | pd.DataFrame"
"""One rating each, or the ratings of several questions."""

_UNIT = ("response_id", "item_id", "trace_id", "scenario_id", "scenarioId")
_RATER = ("rater_id", "user_id", "labelerId")
_RATING = ("rating", "value", "score")
_QUESTION = "question_id"
_RATINGS = "ratings"


def rating_matrices(records: Records) -> dict[str, Floats]:
    """Return the ratings of each question as a matrix.

    Args:
        records: Dicts, or the rows of a DataFrame. Each names a response (`response_id`, `item_id`,
            `trace_id` or `scenario_id`), a rater (`rater_id`, `user_id` or `labelerId`) and a
            rating (`rating`, `value` or `score`), optionally with `question_id`; or several
            ratings by question under `ratings`.

    Returns:
        Arrays of shape (n_units, n_raters) by question, with units and raters in order of
        appearance and NaN where a rater gave no rating. The key is empty if records name no
        question.

    Raises:
        ValueError: If a record lacks a response or a rater, a rating is not a number, or a rater
            rated a unit twice.

    References:
        docs/methods.md, section A^HH, for the ratings by unit and rater.

    Examples:
        >>> records = [
        ...     {"trace_id": "t1", "user_id": "anna", "ratings": {"tone": 4, "depth": 2}},
        ...     {"trace_id": "t1", "user_id": "ben", "ratings": {"tone": 5}},
        ... ]
        >>> rating_matrices(records)["tone"]
        array([[4., 5.]])
    """
    values: dict[str, dict[tuple[object, object], float]] = {}
    rows: Iterable[Mapping[str, Any]] = (
        [{str(name): row[name] for name in row} for row in records.to_dict("records")]
        if hasattr(records, "to_dict")
        else records
    )
    for position, record in enumerate(rows, start=1):
        unit, rater = (_named(record, names, position) for names in (_UNIT, _RATER))
        for question, rating in _ratings_of(record):
            by_key = values.setdefault(question, {})
            if (unit, rater) in by_key:
                raise ValueError(f"record {position}: {rater} rated {unit} twice")
            by_key[unit, rater] = _number(rating, position)
    return {question: _matrix(by_key) for question, by_key in values.items()}


def human_agreement_by_question(
    records: Records,
    *,
    scale: Scale | Mapping[str, Scale] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> dict[str, float]:
    """Return A^HH of each question of annotation records.

    Args:
        records: Annotation records, as `rating_matrices` takes them.
        scale: The declared scale of all questions, or that of each; or the ends of the only one:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        A^HH in [0, 1] by question; NaN if no response has two ratings.

    Raises:
        ValueError: As `rating_matrices` and `human_agreement`, and for a question without a scale.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> records = [
        ...     {"response_id": "a", "rater_id": "anna", "question_id": "tone", "rating": 4},
        ...     {"response_id": "a", "rater_id": "ben", "question_id": "tone", "rating": 5},
        ... ]
        >>> human_agreement_by_question(records, low=1, high=5)
        {'tone': 0.75}
    """
    matrices = rating_matrices(records)
    scales = scale if isinstance(scale, Mapping) else dict.fromkeys(matrices, scale)
    if unscaled := [question for question in matrices if question not in scales]:
        raise ValueError(f"scale must hold every question, got none for {', '.join(unscaled)}")
    return {
        question: human_agreement(matrix, scale=scales[question], low=low, high=high)
        for question, matrix in matrices.items()
    }


def _named(record: Mapping[str, Any], names: Sequence[str], position: int) -> object:
    for name in names:
        if name in record and not is_missing(record[name]):
            return record[name]
    raise ValueError(f"record {position} needs {' or '.join(names)}, got {', '.join(record)}")


def _ratings_of(record: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return questions and ratings of a record; `ratings` takes precedence over a single one."""
    ratings = record.get(_RATINGS)
    if isinstance(ratings, Mapping) and ratings:
        return [(str(question), rating) for question, rating in ratings.items()]
    question = record.get(_QUESTION)
    name = "" if is_missing(question) else str(question)
    return [(name, record[key]) for key in _RATING if key in record][:1]


def _number(rating: object, position: int) -> float:
    if is_missing(rating):
        return np.nan
    if isinstance(rating, bool) or not isinstance(rating, (int, float, np.number)):
        raise ValueError(f"record {position}: a rating must be a number, got {rating!r}")  # noqa: TRY004 - bad data
    return float(rating)


def _matrix(by_key: Mapping[tuple[object, object], float]) -> Floats:
    units = {unit: row for row, unit in enumerate(dict.fromkeys(unit for unit, _ in by_key))}
    raters = {rater: column for column, rater in enumerate(dict.fromkeys(r for _, r in by_key))}
    matrix = np.full((len(units), len(raters)), np.nan)
    for (unit, rater), rating in by_key.items():
        matrix[units[unit], raters[rater]] = rating
    return matrix
