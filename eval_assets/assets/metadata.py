"""Tables and plots of an asset's page in the UI, as Markdown."""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence

import dagster as dg
import pandas as pd

from eval_assets.catalogue import Figure
from eval_assets.figures import FigureRecord
from eval_assets.render.document import Block, MarkKind, Plot, Table
from eval_assets.render.markdown import markdown_blocks
from eval_assets.render.plots import image
from eval_assets.render.tables import counts_table, figures_table, rows_table
from eval_assets.wording import figure_text, interval_text


def figures_as_metadata(
    rows: Sequence[FigureRecord], names: Sequence[str]
) -> dg.MarkdownMetadataValue:
    """Return fields of records as a table."""
    return blocks_as_metadata([figures_table(rows, names, label="")] if rows else [])


def rows_as_metadata(
    rows: pd.DataFrame, columns: Sequence[str] | None = None
) -> dg.MarkdownMetadataValue:
    r"""Return rows as a table, without columns that hold nothing.

    Examples:
        >>> frame = pd.DataFrame([{"question": "a|b", "n": 72, "kappa": None}])
        >>> print(rows_as_metadata(frame).value)
        | question | n |
        | --- | ---: |
        | a\|b | 72 |
    """
    return blocks_as_metadata([rows_table(rows, columns, label="")] if len(rows) else [])


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
        marks: Values that they are compared with.
    """
    drawn = {name: figure for name, figure in figures.items() if figure.has_interval}
    if not drawn:
        return dg.MetadataValue.md("Nothing to plot.")
    low, high = _axis(
        [*(end for figure in drawn.values() for end in (figure.low, figure.high)), *marks.values()]
    )
    plots = {name: _plot(name, figure, low, high, marks.items()) for name, figure in drawn.items()}
    data = base64.b64encode(image(plots).encode()).decode()
    return dg.MetadataValue.md(f"![plot](data:image/svg+xml;base64,{data})")


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """Return round ends of an axis that shows all values.

    Examples:
        >>> _axis([0.738, 0.868, 0.667]), _axis([-0.02, 0.11]), _axis([0.0])
        ((0.6, 0.9), (-0.1, 0.2), (0.0, 1.0))
    """
    span = max(values) - min(values) or 1.0
    step = 10.0 ** math.floor(math.log10(span))
    low = math.floor(min(values) / step) * step
    high = max(math.ceil(max(values) / step) * step, low + step)
    return round(low, 9), round(high, 9)


def _plot(
    name: str,
    figure: Figure,
    low: float,
    high: float,
    marks: Iterable[tuple[MarkKind, float]],
) -> Plot:
    interval = interval_text(figure.low, figure.high, limits=())
    return Plot(
        low=low,
        high=high,
        label=f"{name}: {figure_text(figure.value, limits=())} ({interval})",
        dots=(("circle", figure.value),),
        interval=(figure.low, figure.high),
        marks=tuple(marks),
    )
