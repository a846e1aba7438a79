"""Metadata of assets: tables and lists of a page in the UI, as Markdown."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from eval_assets.figures import FigureRecord
from eval_assets.shown.blocks import Column, Table, figures_table, text_cell
from eval_assets.shown.markdown import table_markdown
from eval_assets.verdicts import Verdict

Metadata = Mapping[str, Any]


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
    words = {"state": {verdict.value: verdict.word for verdict in Verdict}}
    records = rows[names].replace(words).to_dict("records")
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
