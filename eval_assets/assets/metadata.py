"""Metadata of assets: tables and plots of a page in the UI, as Markdown, and numbers."""

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from eval_assets.catalogue import Figure
from eval_assets.figures import FigureRecord
from eval_assets.shown.blocks import Column, Plot, Table, text_cell
from eval_assets.shown.markdown import table_markdown
from eval_assets.shown.pictures import plot_image
from eval_assets.shown.records import figures_table
from eval_assets.shown.rows import Axis, Row
from eval_assets.wording import figure_text


def with_something_shown(result: Any) -> Any:  # noqa: ANN401 - whatever an asset's function returns
    """Return the results of assets and checks without metadata that are empty."""
    if isinstance(result, Iterator):
        return (with_something_shown(one) for one in result)
    if not isinstance(result, dg.MaterializeResult | dg.AssetCheckResult):
        return result
    metadata: dict[str, Any] = {
        name: value
        for name, value in (result.metadata or {}).items()
        if getattr(value, "value", value) not in (None, [], {})
    }
    return result._replace(metadata=metadata)


def table_as_metadata(table: Table) -> dg.MarkdownMetadataValue | None:
    """Return a table as Markdown, which the UI renders; None without rows."""
    return dg.MetadataValue.md(table_markdown(table)) if table.rows else None


def figures_as_metadata(
    rows: Sequence[FigureRecord], names: Sequence[str]
) -> dg.MarkdownMetadataValue | None:
    """Return fields of records of one type as a table."""
    return table_as_metadata(figures_table(rows, names))


def rows_as_metadata(
    rows: pd.DataFrame, columns: Sequence[str] | None = None
) -> dg.MarkdownMetadataValue | None:
    r"""Return rows as a table without empty columns; None without rows.

    Examples:
        >>> frame = pd.DataFrame([{"question": "a|b", "n": 72, "kappa": None}])
        >>> print(rows_as_metadata(frame).value)
        | question | n |
        | --- | ---: |
        | a\|b | 72 |
    """
    names = [str(name) for name in columns or rows.columns if name in rows]
    names = [name for name in names if rows[name].notna().any()]
    records = rows[names].to_dict("records")
    head = tuple(
        Column(name, name, is_number=all(_is_number(row[name]) for row in records))
        for name in names
    )
    cells = tuple(tuple(text_cell(_text(row[name])) for name in names) for row in records)
    return table_as_metadata(Table("", head, cells))


def list_as_metadata(lines: Iterable[str]) -> dg.MarkdownMetadataValue | None:
    """Return a list of Markdown texts; None without any."""
    text = "\n".join(f"- {line}" for line in lines)
    return dg.MetadataValue.md(text) if text else None


def counts_as_metadata(tables: Mapping[str, pd.DataFrame]) -> dg.MarkdownMetadataValue | None:
    """Return matrices of counts by name; None without any."""
    parts = []
    for name, counts in tables.items():
        head = (
            Column("", ""),
            *(Column(_text(of), _text(of), is_number=True) for of in counts.columns),
        )
        cells = tuple(
            (text_cell(_text(of)), *(text_cell(f"{count:,.0f}") for count in values))
            for of, values in counts.iterrows()
        )
        parts.append(f"{name}\n\n{table_markdown(Table(name, head, cells))}")
    return dg.MetadataValue.md("\n\n".join(parts)) if parts else None


def intervals_as_metadata(
    figures: Mapping[str, Figure], *, minimum: float
) -> dg.MarkdownMetadataValue | None:
    """Return figures with their intervals on one axis, as an image; None without intervals.

    Args:
        figures: Figures by name; those without an interval are left out.
        minimum: Value to compare them with.
    """
    rows = tuple(
        Row(name, of.value, figure_text(of.value), low=of.low, high=of.high)
        for name, of in figures.items()
        if of.has_interval
    )
    if not rows:
        return None
    ends = [minimum, *(end for row in rows for end in (row.low, row.high))]
    low, high = min(ends), max(ends)
    ticks = ((low, figure_text(low)), (high, figure_text(high)))
    axis = Axis(low, high if high > low else low + 1, minimum, figure_text(minimum), ticks)
    return plot_as_metadata(Plot("", axis, rows))


def plot_as_metadata(plot: Plot) -> dg.MarkdownMetadataValue:
    """Return a plot as an image."""
    data = base64.b64encode(plot_image(plot).encode()).decode()
    return dg.MetadataValue.md(f"![plot](data:image/svg+xml;base64,{data})")


def number_in(metadata: Mapping[str, dg.MetadataValue], name: str) -> float | None:
    """Return a number of an asset or a check; None without it."""
    value = metadata[name].value if name in metadata else None
    return float(value) if isinstance(value, int | float) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case None:
            return ""
        case float():
            return "" if math.isnan(value) else f"{value:z.3f}".removesuffix(".000")
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return "" if value is pd.NaT or value is pd.NA else str(value)
