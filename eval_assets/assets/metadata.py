"""Metadata of assets: tables, lists and pictures of a page in the UI, as Markdown."""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import dagster as dg
import pandas as pd

from eval_assets.figures import FigureRecord
from eval_assets.shown.blocks import Column, Plot, Table, text_cell
from eval_assets.shown.markdown import table_markdown
from eval_assets.shown.records import figures_table
from eval_assets.shown.rows import Mark, Row

Metadata = Mapping[str, Any]

_WIDTH, _LABELS, _VALUES, _ROW = 640, 200, 60, 28
_LEFT, _RIGHT = _LABELS + 10, _WIDTH - _VALUES - 10
_STYLE = (
    "text{font:12px sans-serif;fill:#16202c}.tick{fill:#566373}line{stroke:#c3cad4}"
    ".minimum{stroke:#16202c;stroke-width:2}.interval{stroke:#334155;stroke-width:3}"
    ".people{fill:#334155}.judge{fill:#1d5fbf}"
)


def without_blanks(metadata: Metadata) -> dict[str, Any]:
    """Return metadata without values that are empty."""
    return {
        name: value
        for name, value in metadata.items()
        if getattr(value, "value", value) not in (None, [], {})
    }


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


def plot_as_metadata(plot: Plot) -> dg.MarkdownMetadataValue:
    """Return a plot as an image."""
    data = base64.b64encode(plot_image(plot).encode()).decode()
    return dg.MetadataValue.md(f"![plot](data:image/svg+xml;base64,{data})")


def plot_image(plot: Plot) -> str:
    """Return a plot as one SVG file on white ground, with its minimum labelled above."""
    axis = plot.axis
    height = _ROW * (len(plot.rows) + 2)

    def place(value: float) -> float:
        return _LEFT + axis.place(value) * (_RIGHT - _LEFT)

    parts = []
    if not math.isnan(axis.minimum):
        x = f"{place(axis.minimum):.1f}"
        label = f"needs {escape(axis.minimum_text)}"
        parts.append(f'<text x="{x}" y="16" text-anchor="middle">{label}</text>')
        end = height - _ROW
        parts.append(f'<line class="minimum" x1="{x}" x2="{x}" y1="22" y2="{end}"/>')
    for number, row in enumerate(plot.rows, start=1):
        ends = (row.low, row.high) if row.has_interval else (row.value, row.value)
        places = [*map(place, (row.value, *ends))]
        parts += _row(row, y=number * _ROW + _ROW / 2, places=places)
    for value, text in axis.ticks:
        anchor = "start" if value <= axis.low else "end" if value >= axis.high else "middle"
        parts.append(
            f'<text class="tick" x="{place(value):.1f}" y="{height - 10}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def _row(row: Row, *, y: float, places: list[float]) -> list[str]:
    """Return label, axis, interval, mark and value of a row."""
    value, low, high = places
    mark = "judge" if row.mark is Mark.JUDGE else "people"
    parts = [
        f'<text x="0" y="{y + 4}">{escape(row.label)}</text>',
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y}" y2="{y}"/>',
        f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>',
    ]
    if not math.isnan(row.value):
        parts.append(f'<circle class="{mark}" cx="{value:.1f}" cy="{y}" r="5"/>')
    text = f'<text x="{_WIDTH}" y="{y + 4}" text-anchor="end">{escape(row.text)}</text>'
    return [*parts, text]


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
