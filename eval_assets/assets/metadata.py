"""Metadata of assets: tables and plots of a page in the UI, as Markdown, and numbers."""

import base64
from collections.abc import Mapping, Sequence

import dagster as dg
import pandas as pd

from eval_assets.catalogue import Figure
from eval_assets.figures import FigureRecord
from eval_assets.render.document import Block, MarkKind, Table
from eval_assets.render.markdown import markdown_blocks
from eval_assets.render.plots import intervals_image
from eval_assets.render.tables import counts_table, figures_table, rows_table


def figures_as_metadata(
    rows: Sequence[FigureRecord], names: Sequence[str]
) -> dg.MarkdownMetadataValue:
    """Return fields of records as a table."""
    return blocks_as_metadata([figures_table(rows, names, label="")] if rows else [])


def rows_as_metadata(
    rows: pd.DataFrame, columns: Sequence[str] | None = None
) -> dg.MarkdownMetadataValue:
    r"""Return rows as a table without empty columns.

    Examples:
        >>> frame = pd.DataFrame([{"question": "a|b", "n": 72, "kappa": None}])
        >>> print(rows_as_metadata(frame).value)
        | question | n |
        | --- | ---: |
        | a\|b | 72 |
    """
    return blocks_as_metadata([rows_table(rows, columns)] if len(rows) else [])


def counts_as_metadata(tables: Mapping[str, pd.DataFrame]) -> dg.MarkdownMetadataValue:
    """Return matrices of counts by name."""
    return blocks_as_metadata([counts_table(counts, label=name) for name, counts in tables.items()])


def blocks_as_metadata(blocks: Sequence[Block]) -> dg.MarkdownMetadataValue:
    """Return blocks of a document; tables without rows are left out."""
    filled = [block for block in blocks if not isinstance(block, Table) or block.rows]
    return dg.MetadataValue.md("\n\n".join(markdown_blocks(filled)) or "Nothing to show.")


def intervals_as_metadata(
    figures: Mapping[str, Figure], *, marks: Mapping[MarkKind, float]
) -> dg.MarkdownMetadataValue:
    """Return figures with their intervals on one axis, as an image.

    Args:
        figures: Figures by name; those without an interval are left out.
        marks: Values to compare them with.
    """
    drawing = intervals_image(figures, marks=marks)
    if not drawing:
        return dg.MetadataValue.md("Nothing to plot.")
    data = base64.b64encode(drawing.encode()).decode()
    return dg.MetadataValue.md(f"![plot](data:image/svg+xml;base64,{data})")


def number_in(metadata: Mapping[str, dg.MetadataValue], name: str) -> float | None:
    """Return a number of an asset or a check; None without it."""
    value = metadata[name].value if name in metadata else None
    return float(value) if isinstance(value, int | float) else None
