"""Mean scores of humans and judges, by model and by every slice of the responses."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle

from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import ScoreFigures
from eval_assets.render.document import (
    Cell,
    Column,
    Fold,
    Plot,
    Section,
    Shape,
    Table,
    TableRow,
    Text,
    cells,
    columns,
)
from eval_assets.report.data import ReportData
from eval_assets.wording import UNDEFINED

_MOST_SLICE_VALUES = 12
"""Values of one slice that are shown; the table `score_summary` has all."""

_SLICE_TITLES = {
    "all": "Overall and by model",
    "difficulty": "By difficulty",
    "indicator_id": "By indicator",
}
_FIRST_SLICES = ("all", "model", "difficulty")
_DIFFICULTIES = ("easy", "medium", "tough", "hard")
_HUMANS = "humans"
_JUDGE_SHAPES: tuple[Shape, ...] = ("diamond", "triangle", "square", "cross")
_LEAD = (
    "Human ratings of a response are averaged first. In small print: the standard deviation "
    "between responses and, of a judge, its score minus that of humans on the same responses. "
    "Whether such a difference is more than noise is said of each judge above."
)

Key = tuple[str, str, str, str]
"""Slice, its value, model (empty over all) and rater."""


_COMBINED = " with people"
"""Of a judge that is certified for a part of the responses: people rate the others."""


def section(data: ReportData) -> Section | None:
    """Return a table per question that has scores; None if no question has any."""
    tables = [
        _table(data, question, result)
        for question in data.evaluation.rubric
        if (result := _by_key(data, question.id))
    ]
    if not tables:
        return None
    folds = tuple(
        Fold(question_id, (table,), is_open=place == 0)
        for place, (question_id, table) in enumerate(tables)
    )
    title = "Mean scores, humans beside judges" if data.evaluation.judges else "Mean scores"
    return Section("scores", title, "Scores", (Text(_LEAD), *folds))


def _by_key(data: ReportData, question_id: str) -> dict[Key, ScoreFigures]:
    """Return the rows of a question; of two rows of one key the larger, which has all models."""
    result: dict[Key, ScoreFigures] = {}
    for row in data.scores:
        if row.question_id == question_id:
            rater = _column(row)
            key = (row.slice, row.slice_value or "", row.model_name or "", rater)
            if key not in result or row.n > result[key].n:
                result[key] = row
    return result


def _column(row: ScoreFigures) -> str:
    """Return the name of the column that a row's mean is in."""
    if row.rater_kind == "human":
        return _HUMANS
    return f"{row.rater_id}{_COMBINED if row.rater_kind == 'combined' else ''}"


def _table(
    data: ReportData, question: RubricQuestion, result: Mapping[Key, ScoreFigures]
) -> tuple[str, Table]:
    judges = [judge.id for judge in data.evaluation.judges]
    present = {key[3] for key in result}
    both = [f"{judge}{_COMBINED}" for judge in judges]
    raters = [rater for rater in (_HUMANS, *judges, *both) if rater in present]
    shapes = _shapes(raters)
    ends = (question.scale.low, question.scale.high)
    return question.id, Table(
        f"Mean scores on {question.id}",
        (Column("Responses"), Column("Mean", axis=ends), *columns(*raters, "n#")),
        tuple(
            row
            for slice_ in in_order({slice_ for slice_, *_ in result})
            for row in _slice_rows(slice_, shapes, ends, result)
        ),
        key=tuple((shape, rater) for rater, shape in shapes.items()),
    )


def _shapes(raters: Sequence[str]) -> dict[str, Shape]:
    """Return the shape of each rater: humans have the circle, judges take turns."""
    others = cycle(_JUDGE_SHAPES)
    return {rater: "circle" if rater == _HUMANS else next(others) for rater in raters}


def _slice_rows(
    slice_: str,
    shapes: dict[str, Shape],
    ends: tuple[float, float],
    result: Mapping[Key, ScoreFigures],
) -> Iterator[TableRow]:
    """Yield a heading, and a row for each value and for each model's share of it."""
    of_slice = {key: row for key, row in result.items() if key[0] == slice_}
    models = sorted({model for *_, model, _ in of_slice if model})
    title, shown = shown_values(slice_, {value for _, value, *_ in of_slice}, table="score_summary")
    yield TableRow(cells(title), kind="heading")
    for value in shown:
        of_value = [model for model in models if any(k[1:3] == (value, model) for k in of_slice)]
        for model in ("", *_worth_showing(of_value)):
            of_row = {r: of_slice.get((slice_, value, model, r)) for r in shapes}
            name = model or value or "All responses"
            yield TableRow(
                _mean_cells(name, of_row, shapes, ends), kind="part" if model else "plain"
            )


def _worth_showing(models: list[str]) -> Iterable[str]:
    """Return the models, unless there is one, whose share of a part is the part itself."""
    return models if len(models) > 1 else ()


def in_order(slices: Iterable[str]) -> list[str]:
    """Return slices in the order in which they are read: the known ones first."""
    return sorted(slices, key=lambda slice_: ((*_FIRST_SLICES, slice_).index(slice_), slice_))


def shown_values(slice_: str, values: set[str], *, table: str) -> tuple[str, list[str]]:
    """Return the heading of a slice, and its first values in their natural order.

    Args:
        slice_: Name of the slice.
        values: All its values.
        table: Table that has those that are not shown.
    """
    ordered = sorted(values, key=_natural)
    shown = ordered[:_MOST_SLICE_VALUES]
    title = _SLICE_TITLES.get(slice_, f"By {slice_}")
    if n_left_out := len(ordered) - len(shown):
        title += f" (first {len(shown)}; {n_left_out} more in the table {table})"
    return title, shown


def _natural(value: str) -> tuple[int, float, str]:
    """Return a key that sorts difficulties as they rise, numbers by size, the rest by name."""
    if value in _DIFFICULTIES:
        return (0, _DIFFICULTIES.index(value), value)
    try:
        return (1, float(value), value)
    except ValueError:
        return (2, 0.0, value)


def _mean_cells(
    name: str,
    of_row: Mapping[str, ScoreFigures | None],
    shapes: dict[str, Shape],
    ends: tuple[float, float],
) -> tuple[Cell, ...]:
    means = {rater: row.mean if row else math.nan for rater, row in of_row.items()}
    written = {r: UNDEFINED if math.isnan(m) else f"{m:.2f}" for r, m in means.items()}
    plot = Plot(
        *ends,
        label=f"Mean scores, {name}: " + ", ".join(f"{r} {text}" for r, text in written.items()),
        dots=tuple((shapes[rater], mean) for rater, mean in means.items()),
    )
    n = max(row.n if row else 0 for row in of_row.values())
    return cells(
        name,
        Cell("", plot=plot),
        *(Cell(written[rater], note=_note(row)) for rater, row in of_row.items()),
        f"{n:,}",
    )


def _note(row: ScoreFigures | None) -> str:
    """Return the standard deviation and, of a judge, its score minus that of humans."""
    if row is None:
        return ""
    spread = "" if math.isnan(row.standard_deviation) else f"SD {row.standard_deviation:.2f}"
    has_bias = row.rater_kind == "judge" and not math.isnan(row.bias)
    bias = f"{row.bias:+.2f}" if has_bias else ""
    return " · ".join(part for part in (spread, bias) if part)
