"""Mean scores of humans and judges, by model and by every slice of the responses."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from eval_assets.evaluation import RubricQuestion
from eval_assets.interpretation import UNDEFINED
from eval_assets.report.data import ReportData
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import lenience

MOST_SLICE_VALUES = 12
"""Values of one slice that are shown; the table `score_summary` has all."""

_SLICE_TITLES = {
    "all": "Overall and by model",
    "difficulty": "By difficulty",
    "indicator_id": "By indicator",
}
_FIRST_SLICES = ("all", "difficulty")
_DIFFICULTIES = ("easy", "medium", "tough", "hard")


@dataclass(frozen=True)
class Mean:
    """Mean score of one rater, the humans taken as one.

    Args:
        rater: Judge id, or `humans`.
        value: The mean; NaN where there is none.
        mean: The same as written.
        spread: Sample standard deviation between responses, as written; empty where undefined.
        n: Responses.
        lenience: Of a judge: how much above or below humans on the same responses; else empty.
    """

    rater: str
    value: float
    mean: str
    spread: str
    n: int
    lenience: str


@dataclass(frozen=True)
class SliceRow:
    """Mean scores of one part of the responses.

    Args:
        name: Which part.
        part_of: The value whose share of one model this is; empty over all models.
        is_part: Whether it is one model's share of a part.
        means: Humans first, then judges; one each, in the order of `MeanScores.raters`.
    """

    name: str
    part_of: str
    is_part: bool
    means: tuple[Mean, ...]


@dataclass(frozen=True)
class Slice:
    """The responses, sorted by one column.

    Args:
        title: By what.
        rows: One for each value.
        n_left_out: Values that are not shown.
    """

    title: str
    rows: tuple[SliceRow, ...]
    n_left_out: int


@dataclass(frozen=True)
class MeanScores:
    """Mean scores on one question.

    Args:
        question_id: The question.
        scale_low: Lowest value of its scale.
        scale_high: Highest value of its scale.
        raters: `humans`, then the judges.
        slices: By model first, then by every other column.
    """

    question_id: str
    scale_low: float
    scale_high: float
    raters: tuple[str, ...]
    slices: tuple[Slice, ...]


HUMANS = "humans"

Key = tuple[str, str, str, str]
"""Slice, its value, model (empty over all) and rater."""


def mean_scores(data: ReportData) -> tuple[MeanScores, ...]:
    """Every question that has scores, in the rubric's order."""
    judges = tuple(judge.id for judge in data.evaluation.judges)
    found = []
    for question in data.evaluation.rubric:
        rows = _by_key(data, question.id)
        if rows:
            present = {rater for *_, rater in rows}
            raters = tuple(r for r in (HUMANS, *judges) if r in present)
            found.append(_question_scores(question, raters, rows))
    return tuple(found)


def _by_key(data: ReportData, question_id: str) -> dict[Key, Row]:
    """Rows of a question; of two rows of one key the larger, which is over all models."""
    rows: dict[Key, Row] = {}
    for row in rows_of(data.score_summary):
        if text(row, "question_id") == question_id:
            key = (
                text(row, "slice"),
                text(row, "slice_value"),
                text(row, "model_name"),
                text(row, "rater_id") if text(row, "rater_kind") == "judge" else HUMANS,
            )
            if key not in rows or count(row, "n") > count(rows[key], "n"):
                rows[key] = row
    return rows


def _question_scores(
    question: RubricQuestion, raters: tuple[str, ...], rows: dict[Key, Row]
) -> MeanScores:
    columns = {column for column, *_ in rows}
    others = sorted(columns.difference(_FIRST_SLICES))
    return MeanScores(
        question_id=question.id,
        scale_low=question.scale.low,
        scale_high=question.scale.high,
        raters=raters,
        slices=tuple(
            _slice(column, raters, {key: row for key, row in rows.items() if key[0] == column})
            for column in (*(c for c in _FIRST_SLICES if c in columns), *others)
        ),
    )


def _slice(column: str, raters: tuple[str, ...], rows: dict[Key, Row]) -> Slice:
    values = sorted({value for _, value, *_ in rows}, key=_in_order)
    shown = values[:MOST_SLICE_VALUES]
    models = sorted({model for *_, model, _ in rows if model})
    return Slice(
        title=_SLICE_TITLES.get(column, f"By {column}"),
        rows=tuple(
            SliceRow(
                name=model or value or "All responses",
                part_of=value if model else "",
                is_part=bool(model),
                means=tuple(
                    _mean(rater, rows.get((column, value, model, rater))) for rater in raters
                ),
            )
            for value in shown
            for model in ("", *_worth_showing(models))
            if any((column, value, model, rater) in rows for rater in raters)
        ),
        n_left_out=len(values) - len(shown),
    )


def _worth_showing(models: list[str]) -> Iterable[str]:
    """One model's share of a part is the part itself."""
    return models if len(models) > 1 else ()


def _in_order(value: str) -> tuple[int, float, str]:
    """Difficulties as they rise, numbers by size, the rest by name."""
    if value in _DIFFICULTIES:
        return (0, _DIFFICULTIES.index(value), value)
    try:
        return (1, float(value), value)
    except ValueError:
        return (2, 0.0, value)


def _mean(rater: str, row: Row | None) -> Mean:
    if row is None:
        return Mean(rater, math.nan, UNDEFINED, "", 0, "")
    mean, spread = number(row, "mean"), number(row, "standard_deviation")
    return Mean(
        rater=rater,
        value=mean,
        mean=UNDEFINED if math.isnan(mean) else f"{mean:.2f}",
        spread="" if math.isnan(spread) else f"{spread:.2f}",
        n=count(row, "n"),
        lenience="" if rater == HUMANS else lenience(number(row, "bias")),
    )
