"""Columns that say what others say: copies, counts, comparisons, sums, means, codes of words."""

import re
from itertools import combinations

import numpy as np
import numpy.typing as npt

from eval_assets.readers.columns import CodedColumn, CodedTable, Columns, Kind, combined, n_distinct
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import distinct_parts, owner_and_field
from eval_assets.readers.names import Role, Who, names_metric
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.table_reading import EMPTY, METRIC, MODELS, Choices, row_numbers
from eval_assets.readers.values import order_of

_PASSES = frozenset(("1", "true", "pass", "yes", "y"))
_FAILS = frozenset(("0", "false", "fail", "no", "n"))
_VERDICTS = _PASSES | _FAILS
_VOTES = Reason(
    "counts of votes: they add up to the same number in every row", is_told=True, is_attribute=False
)
_UNNAMED = re.compile(r"unnamed(: ?\d+|$)", re.IGNORECASE)
_COMPARES = re.compile(r"correct|match|agree|same|equal|differ|conflict|=")
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


def usable_columns(
    table: CodedTable, choices: Choices
) -> tuple[list[CodedColumn], dict[str, Reason]]:
    """Return the columns that may have a role, and the reason why each other one has none."""
    usable: list[CodedColumn] = []
    not_read = _counts_of_votes(table, choices) | _comparisons(table, choices) | _classes(table)
    for column in table.columns:
        twin = next((of for of in usable if _is_repeated(table, column, of)), None)
        if column.name in choices.options.ignore:
            not_read[column.name] = Reason("ignored", is_attribute=False)
        elif choices.takes(column):
            usable.append(column)
        elif column.name in not_read:
            continue
        elif names_metric(column.name) and column.can_rate:
            not_read[column.name] = METRIC
        elif column.kind is Kind.EMPTY:
            not_read[column.name or "(no name)"] = EMPTY
        elif not column.name or _UNNAMED.match(column.name):  # as programs write an index
            not_read[column.name or "(no name)"] = Reason("an index", is_attribute=False)
        elif twin is None:
            usable.append(column)
        elif column.may_be(Role.RATING) and not twin.may_be(Role.RATING):
            usable[usable.index(twin)] = column
            not_read[twin.name] = _repeats(column)
        else:
            not_read[column.name] = _repeats(twin)
    return usable, not_read


def _comparisons(table: CodedTable, choices: Choices) -> dict[str, Reason]:
    """Return the reason for columns that say whether two others are equal, as Correct? may."""
    reasons = {}
    for column in table.columns:
        is_of_rater = column.who in (Who.HUMAN, Who.JUDGE) and "=" not in column.name
        may_compare = column.n_distinct == 2 and _COMPARES.search(column.name.casefold())
        # Of a few words of a longer scale it may be chance.
        is_open = len(column.order or ()) > 2 and column.n_cells < FEWEST_NUMBERS
        is_open |= column.kind is Kind.NUMBER and not {*column.numbers} <= {0, 1}
        if not may_compare or choices.takes(column) or is_of_rater or is_open:
            continue
        rated = [of for of in table.columns if of is not column and of.can_rate]
        for of, peer in combinations(rated, 2):
            if len({*of.values} & {*peer.values}) < 2:
                continue
            is_equal = of.texts() == peer.texts()
            if len({*zip(is_equal.tolist(), column.codes.tolist(), strict=True)}) == 2:
                reasons[column.name] = Reason(f"whether {of.name} and {peer.name} are equal")
    return reasons


def _counts_of_votes(table: CodedTable, choices: Choices) -> dict[str, Reason]:
    """Return the reason for neighbours that add up to one number a row."""
    whole = [
        column
        for column in table.columns
        if column.kind is Kind.NUMBER
        and column.is_whole
        and column.n_distinct > 1
        and not choices.takes(column)
    ]
    # Counts of up to eight classes stand side by side.
    for width in range(8, 1, -1) if len(table) >= 10 else ():
        for start in range(len(whole) - width + 1):
            columns = whole[start : start + width]
            total = np.sum([row_numbers(column) for column in columns], axis=0)
            # Two raters of opposite opinions have one total, too, and are not called good and bad.
            are_classes = order_of({plain(of.name).replace("_", " ") for of in columns}) is not None
            are_counts = are_classes or all(np.nanmin(of.numbers) == 0 for of in columns)
            least = 2 if are_counts else 20  # of two ratings up to ten
            is_same = not np.isnan(total).any() and np.mean(total == np.median(total)) > 0.95
            if is_same and total.max() > least:
                return dict.fromkeys((column.name for column in columns), _VOTES)
    return {}


def _repeats(column: CodedColumn) -> Reason:
    return Reason(f"repeats {column.name}", is_attribute=False)


def _extends(column: CodedColumn, other: CodedColumn) -> bool:
    """Return whether a header is another one with words behind, as score_llm."""
    return plain(column.name).startswith(f"{plain(other.name)}_")


def _is_repeated(table: CodedTable, column: CodedColumn, other: CodedColumn) -> bool:
    """Return whether two columns say the same row by row; true, 1 and pass do."""
    if not 1 < len(column.values) == len(other.values):
        return False
    is_alike = column.folded == other.folded
    is_same_verdict = not is_alike and _is_same_verdict(column, other)
    longer, shorter = (other, column) if _extends(other, column) else (column, other)
    is_scaled = _is_scaled(longer, shorter)
    if not (is_alike or is_same_verdict or is_scaled):
        return False
    if n_distinct(combined([column, other])) != n_distinct(column.codes):
        return False
    if is_scaled:
        return True
    if not (column.origin or other.origin):
        of_raters = (Who.PERSON, Who.HUMAN, Who.JUDGE)
        if all(of.who in of_raters or plain(of.name) in MODELS for of in (column, other)):
            return False
        if _extends(longer, shorter) and longer.who is Who.JUDGE:
            return False  # score_llm beside score
        if not column.level and distinct_parts([column.name, other.name]):
            return False  # two raters of one question, who agree
    same_end = owner_and_field(column.name)[1] == owner_and_field(other.name)[1]
    # In fewer rows two raters may agree throughout.
    return len(table) >= 20 or same_end or is_same_verdict


def _classes(table: CodedTable) -> dict[str, Reason]:
    """Return the reason for columns that join words of others, as label_binary does of label."""
    return {
        column.name: Reason(f"computed from {of.name}", is_attribute=False)
        for of in (c for c in table.columns if c.can_rate and c.may_be(Role.RATING))
        for column in table.columns
        if _extends(column, of) and column.kind is not of.kind
        if 1 < column.n_distinct < of.n_distinct and len(table) >= FEWEST_NUMBERS
        if n_distinct(combined([column, of])) == n_distinct(of.codes)
    }


def _is_scaled(column: CodedColumn, other: CodedColumn) -> bool:
    """Return whether numbers are called like others with a word behind, as score_norm.

    A judge's, as score_llm, are its own, and so are those in another order.
    """
    is_longer = _extends(column, other) and len(column.values) > 2
    are_alike = column.kind is other.kind is Kind.NUMBER and column.who is other.who
    if not (is_longer and are_alike):
        return False
    rows = np.flatnonzero(column.has_cell & other.has_cell)
    numbers = row_numbers(column)[rows][np.argsort(row_numbers(other)[rows], kind="stable")]
    return bool((np.diff(numbers) >= 0).all())


def _is_same_verdict(column: CodedColumn, other: CodedColumn) -> bool:
    words = [column.folded, other.folded]
    if not all(_VERDICTS.issuperset(of) for of in words):
        return False
    rows = np.flatnonzero(column.has_cell & other.has_cell)
    passes = [
        np.array([w in _PASSES for w in of])[c.codes[rows]]
        for of, c in zip(words, (column, other), strict=True)
    ]
    return bool((passes[0] == passes[1]).all())


def figure_of(column: CodedColumn, peers: Columns) -> str | None:
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
    if word.order is not None or word.n_distinct < 5:  # of which the order may be chance
        return False
    order = np.argsort([value.casefold() for value in word.values], kind="stable")
    numbers = [row_numbers(column)[word.codes == code].max() for code in order]
    return bool((np.diff(numbers) > 0).all())


def _row_ranks(column: CodedColumn) -> npt.NDArray[np.float64]:
    """Return the number in each row, or the place of its word in their order; NaN without one."""
    if column.kind is Kind.NUMBER:
        return row_numbers(column)
    places = {word: place for place, word in enumerate(column.order or ())}
    ranks = [places.get(value.casefold(), np.nan) for value in column.values]
    return np.array([*ranks, np.nan])[column.codes]


def summands_of(column: CodedColumn, columns: Columns) -> list[CodedColumn]:
    """Return the columns of which one is a sum, a mean, a difference or the rest in all rows."""
    peers = [of for of in columns if of is not column]
    cells = np.array([_row_ranks(of) for of in (column, *peers)])
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
    return summands if is_sum else []
