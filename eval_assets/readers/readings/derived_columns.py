"""Columns that say what others say: sums, means, codes of words."""

from collections.abc import Sequence

import numpy as np

from eval_assets.readers.columns import CodedColumn, combined, n_distinct
from eval_assets.readers.names import distinct_parts
from eval_assets.readers.readings.table_reading import row_numbers

FEWEST_COMPUTED = 8
"""Rows above which a column that holds a figure of others does so by no chance."""

_COMPUTED = (
    (np.nanmax, "highest"),
    (np.nanmin, "lowest"),
    (np.nanmean, "mean"),
    (np.nanmedian, "median"),
)

FEWEST_NUMBERS = 20
"""Numbers that no rater repeats, from which on they are those of items, whatever their header."""

_ROUNDED = 0.01
"""Share of the range of numbers that rounding takes from a sum."""

_FEWEST_CLASSES = 5
"""Classes from which on it is no chance that their numbers follow the alphabet."""


def figure_of(column: CodedColumn, peers: Sequence[CodedColumn]) -> str | None:
    """Return the figure of other columns that a column holds in nearly every row."""
    ratings = np.array([row_numbers(other) for other in peers])
    rows = ~np.isnan(ratings).all(axis=0) & column.has_cell
    if rows.sum() <= FEWEST_COMPUTED:
        return None
    figures, ratings = row_numbers(column)[rows], ratings[:, rows]
    for figure, name in _COMPUTED:
        if np.mean(np.abs(figure(ratings, axis=0) - figures) < 0.01) > 0.99:
            return name
    return None


def stand_for_each_other(column: CodedColumn, word: CodedColumn) -> bool:
    """Return whether each value of a column stands beside one word, in 20 rows or more."""
    rows = column.has_cell & word.has_cell
    n_values = [n_distinct(of.codes[rows]) for of in (column, word)]
    if rows.sum() < FEWEST_NUMBERS or {*column.values} & {*word.values}:
        return False
    return 1 < n_values[0] == n_values[1] == n_distinct(combined([column, word])[rows])


def count_the_alphabet(column: CodedColumn, word: CodedColumn) -> bool:
    """Return whether numbers follow words of no known order from A to Z."""
    if word.order is not None or word.n_distinct < _FEWEST_CLASSES:
        return False
    order = np.argsort([value.casefold() for value in word.values], kind="stable")
    numbers = [row_numbers(column)[word.codes == code].max() for code in order]
    return bool((np.diff(numbers) > 0).all())


def summands_of(column: CodedColumn, columns: Sequence[CodedColumn]) -> list[CodedColumn]:
    """Return the columns of which one is a sum, a mean, a difference or the rest in all rows."""
    peers = [of for of in columns if of is not column]
    cells = np.array([row_numbers(of) for of in (column, *peers)])
    values, *figures = cells[:, ~np.isnan(cells).any(axis=0)]
    if not figures or len(values) < max(FEWEST_NUMBERS, 4 * len(cells)) or not np.ptp(values):
        return []
    design = np.array([*figures, np.ones(len(values))]).T
    *weights, constant = np.linalg.lstsq(design, values, rcond=None)[0]
    if np.abs(design @ [*weights, constant] - values).max() > _ROUNDED * np.ptp(values):
        return []
    shares = [w * np.ptp(of) / np.ptp(values) for w, of in zip(weights, figures, strict=True)]
    summands = [of for of, share in zip(peers, shares, strict=True) if abs(share) > _ROUNDED]
    is_sum = min(shares) > -_ROUNDED
    if len(summands) == 1:  # label_1 is 1 - label_0
        is_rest = not is_sum and np.isclose(constant, (0, 1), atol=_ROUNDED).any()
        is_sum = is_rest and bool(distinct_parts([summands[0].name, column.name]))
    elif len(summands) == 2 and np.isclose(sum(map(abs, weights)), 2):
        is_sum = max(shares) > _ROUNDED  # also a change, and no rank that is left
    is_last = columns.index(column) > max(map(columns.index, summands))
    return summands if is_sum and (is_last or len(summands) > 2) else []
