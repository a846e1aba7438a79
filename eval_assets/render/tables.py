"""Tables of figures and of rows, as documents, and documents' tables as HTML for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from eval_assets.catalogue import Figure, MeasurementUnit, Statistic
from eval_assets.figures import FigureRecord, Scope, fields_of
from eval_assets.render.document import Cell, Column, Table, TableRow
from eval_assets.verdicts import JudgeVerdict
from eval_assets.wording import figure_text, interval_text, percent_text

ALL_QUESTIONS = "all questions"


def figures_table(rows: Sequence[FigureRecord], names: Sequence[str], *, label: str) -> Table:
    """Return the named fields of records of one type as a table, which may have no rows."""
    declared = {field.name: field for field in fields_of(type(rows[0]))} if rows else {}
    displayed_fields = [declared[name] for name in names if name in declared]
    return Table(
        label,
        tuple(
            Column(
                field.statistic.title if field.statistic else field.name.removesuffix("_id"),
                is_number=field.statistic is not None or field.type is int,
                has_interval=field.type is Figure,
            )
            for field in displayed_fields
        ),
        tuple(
            TableRow(
                tuple(
                    value_cell(getattr(row, field.name), field.statistic)
                    for field in displayed_fields
                ),
                kind="total" if getattr(row, "scope", None) is Scope.OVERALL else "plain",
            )
            for row in rows
        ),
    )


def value_cell(value: Any, statistic: Statistic | None) -> Cell:  # noqa: ANN401 - a field
    """Return a field of a record as a cell; the note of a figure is its interval."""
    match value:
        case Figure():
            return Cell(_number(value.value, statistic), note=_interval(value, statistic))
        case float():
            return Cell(_number(value, statistic))
        case None:
            return Cell(ALL_QUESTIONS)
        case JudgeVerdict():
            return Cell(value.sentence, tone=value.tone)
        case int():
            return Cell(f"{value:,}")
        case _:
            return Cell(str(value))


def _number(value: float, statistic: Statistic | None) -> str:
    if statistic and statistic.unit is MeasurementUnit.PERCENT:
        return percent_text(value)
    if statistic and statistic.unit is MeasurementUnit.POINTS and value == value:  # noqa: PLR0124 - NaN
        return f"{value:+z.2f}"
    return figure_text(value, limits=statistic.limits if statistic else ())


def _interval(figure: Figure, statistic: Statistic | None) -> str:
    if not figure.has_interval:
        return ""
    if statistic and statistic.unit is MeasurementUnit.PERCENT:
        return f"{percent_text(figure.low)} to {percent_text(figure.high)}"
    return interval_text(figure.low, figure.high, limits=statistic.limits if statistic else ())


def rows_table(rows: pd.DataFrame, names: Sequence[str] | None = None) -> Table:
    """Return named or all columns of a frame as a table without a label or empty columns."""
    columns = [str(name) for name in names or rows.columns if name in rows]
    columns = [name for name in columns if rows[name].notna().any()]
    return records_table(rows[columns].to_dict("records"), label="")


def records_table(rows: Iterable[Mapping[Any, Any]], *, label: str) -> Table:
    """Return mappings with the same keys as a table."""
    listed = list(rows)
    names = [str(name) for name in listed[0]] if listed else []
    return Table(
        label,
        tuple(
            Column(name, is_number=all(_is_number(row[name]) for row in listed)) for name in names
        ),
        tuple(TableRow(tuple(Cell(_text(row[name])) for name in names)) for row in listed),
    )


def counts_table(counts: pd.DataFrame, *, label: str) -> Table:
    """Return a matrix of counts, shaded by the share of each row."""
    rows = []
    for name, values in counts.iterrows():
        total = float(values.sum()) or 1.0
        cells = [Cell(f"{count:,.0f}", shade=count / total) for count in values]
        rows.append(TableRow((Cell(_text(name)), *cells)))
    columns = (Column(""), *(Column(_text(name), is_number=True) for name in counts.columns))
    return Table(label, columns, tuple(rows), caption=label, is_matrix=True)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case None:
            return ""
        case float():
            return "" if value != value else f"{value:z.3f}".removesuffix(".000")  # noqa: PLR0124
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return "" if value is pd.NaT or value is pd.NA else str(value)
