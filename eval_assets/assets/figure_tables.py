"""Rows as the UI shows them on an asset's page: Markdown tables that fit it."""

import math
from collections.abc import Sequence

import dagster as dg
import pandas as pd

from eval_assets.report import escape_markdown

MOST_ROWS = 50
"""Rows that are shown; the table in DuckDB has all."""

_ENDS = ("low", "high")


def rows_as_metadata(
    rows: pd.DataFrame, columns: Sequence[str] | None = None
) -> dg.MarkdownMetadataValue:
    r"""Return rows as a table that the UI shows.

    Numbers have three decimals, the ends of an interval stand beside the figure that it is of,
    columns without any value are left out, and undefined is an empty cell.

    Args:
        rows: What is shown.
        columns: Names of what is shown, as far as there are such columns; None for all.

    Examples:
        >>> frame = pd.DataFrame([{"question": "a|b", "alpha": 0.81249, "alpha_low": 0.5,
        ...                        "alpha_high": 0.9, "n": 72, "kappa": math.nan}])
        >>> print(rows_as_metadata(frame).value)
        | question | alpha | n |
        | --- | --- | --- |
        | a\|b | 0.812 [0.500, 0.900] | 72 |
    """
    given = [str(name) for name in columns or rows.columns if name in rows]
    ends = {f"{name}_{end}" for name in given for end in _ENDS}
    shown = [name for name in given if name not in ends and rows[name].notna().any()]
    if rows.empty or not shown:
        return dg.MetadataValue.md("Nothing to show.")
    records = rows.head(MOST_ROWS).to_dict("records")
    cells = [[_cell(row, name) for name in shown] for row in records]
    lines = [shown, ["---"] * len(shown), *cells]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = len(rows) - MOST_ROWS
    return dg.MetadataValue.md(table + (f"\n\nand {more:,} more" if more > 0 else ""))


def _cell(row: dict[object, object], name: str) -> str:
    """Return a value with the interval that it has."""
    interval = [_text(row.get(f"{name}_{end}")) for end in _ENDS]
    text = _text(row[name])
    return f"{text} [{', '.join(interval)}]" if text and all(interval) else text


def _text(value: object) -> str:
    """Return one value as text."""
    match value:
        case bool() | None:
            return "" if value is None else str(value).lower()
        case float():
            return "" if math.isnan(value) else f"{value:.3f}".removesuffix(".000")
        case list() | tuple():
            return escape_markdown(", ".join(map(str, value)))
        case _:
            return "" if pd.isna(value) else escape_markdown(str(value))  # type: ignore[call-overload]
