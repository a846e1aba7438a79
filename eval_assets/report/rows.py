"""Rows of a frame, read with one idea of what is missing: NULL, NaN, NA and no column are alike."""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

Row = Mapping[str, object]


def rows_of(frame: pd.DataFrame) -> Iterator[Row]:
    """Rows of `frame`, first to last."""
    columns = [str(column) for column in frame.columns]
    for values in frame.itertuples(index=False, name=None):
        yield dict(zip(columns, values, strict=True))


def number(row: Row, column: str) -> float:
    """A figure; NaN where there is none."""
    value = row.get(column)
    return math.nan if _is_missing(value) else float(str(value))


def count(row: Row, column: str) -> int:
    """A count; 0 where there is none."""
    value = number(row, column)
    return 0 if math.isnan(value) else int(value)


def text(row: Row, column: str) -> str:
    """A text; empty where there is none. "nan" and "None" are texts."""
    value = row.get(column)
    return "" if _is_missing(value) else str(value)


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value  # noqa: PLR0124 - NaN
