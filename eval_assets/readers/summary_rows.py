"""Rows of a table that are none of its records: sums and means of the others, or the header again.

Spreadsheets end, and some begin, with a row of means, which would be one more rated item.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

import numpy as np
import numpy.typing as npt

from eval_assets.readers.columns import CodedColumn, CodedTable, Origin
from eval_assets.readers.names import Role
from eval_assets.readers.problems import listed_briefly

_STATISTIC = re.compile(
    r"((grand |overall |column )?(totals?|means?|averages?|avg|medians?|sum|count|\u00f8"
    r"|std|stdev|sd|(st|std|standard)\.? ?dev(iation)?|variance|summe|mittelwert|durchschnitt"
    r"|gesamt|moyenne|somme|promedio|suma|media)[.:]?( (of )?(score|rating|value|mark|grade)s?)?"
    r"|(\S+ |percent(age)? |% ?)?(agreement|correlation|icc)( \(?%\)?)?"
    r"|\S+ (kappa|alpha))[.:]?",
    re.IGNORECASE,
)
_PERHAPS = re.compile(
    r"(min|max)(imum|\.)?|lowest|highest|kappa|alpha|r|rho|tau|f1|accuracy", re.IGNORECASE
)
"""Names of statistics that an item may have, too."""

_REFERENCE = re.compile(
    r"consensus|adjudicat(ed|ion|or)|reconciled|(ground[ _-]?)?truth"
    r"|gold([ _-]?(standard|label))?|majority([ _-]?vote)?",
    re.IGNORECASE,
)
"""Names in a column of raters of what these agreed on, or should have said."""

_MOST_RATERS = 200
_FEWEST_ROWS = 4
"""Rows from which on their statistics are no coincidence."""

_MOST_SUMMARIES = 4
_MOST_OF_A_SCALE = 10
"""Values up to which a number of them may be one of them."""


def without_summary_rows(table: CodedTable) -> CodedTable:
    """Return the table without rows that repeat the header, or sum up the others at an end."""
    n_rows = len(table)
    has_header = bool(table.columns) and all(of.name in of.values for of in table.columns)
    is_header = np.full(n_rows, has_header)
    for column in table.columns if has_header else ():
        is_header &= column.codes == column.values.index(column.name)
    is_summary = np.zeros(n_rows, dtype=bool)
    for n_last in range(min(_MOST_SUMMARIES, n_rows - 1), 0, -1):
        below = [*range(n_rows - n_last, n_rows)]
        if all(_sums_up(table, row, below, is_below=True) for row in below):
            is_summary[below] = True
            break
    for n_first in range(min(_MOST_SUMMARIES, n_rows - 1), 0, -1):
        above, last = [*range(n_first)], np.flatnonzero(is_summary).tolist()
        if all(_sums_up(table, row, [*above, *last], is_below=False) for row in above):
            is_summary[above] = True
            break
    is_kept = ~is_header & ~is_summary
    if is_kept.all() or not is_kept.any():
        return table
    reasons = {"it repeats the header": is_header, "it sums up the others": is_summary}
    notes = []
    for reason, of in reasons.items():
        lines = [str(table.lines[row]) for row in np.flatnonzero(of).tolist()]
        notes += [f"line {listed_briefly(lines)} not read: {reason}"] * bool(lines)
    return _with_rows(table, is_kept, *notes)


def without_references(table: CodedTable, names: Sequence[str]) -> CodedTable:
    """Return the table without the rows of a rater called consensus or truth, unless it is named.

    They sum up what the other raters said, or are what these should have said.
    """
    for column in table.columns:
        is_of_raters = column.origin in (Origin.FILE, Origin.SHEET) or column.may_be(Role.RATER)
        if not is_of_raters or len(column.values) > _MOST_RATERS:
            continue
        aside = [of for of in column.values if _REFERENCE.fullmatch(of) and of not in names]
        if 0 < len(aside) < len(column.values) - 1:
            is_aside = np.array([*(of in aside for of in column.values), False])[column.codes]
            note = f"not read: ratings by {listed_briefly(aside)}, a reference or a summary"
            return _with_rows(table, ~is_aside, f"{note}. If it rated: --rater {quote(aside[0])}")
    return table


def _with_rows(table: CodedTable, is_kept: npt.NDArray[np.bool_], *notes: str) -> CodedTable:
    rows = np.flatnonzero(is_kept)
    return replace(
        table,
        columns=[of.with_cells(of.take(rows).texts().tolist()) for of in table.columns],
        files=table.files.take(rows),
        lines=[table.lines[row] for row in rows.tolist()],
        notes=(*notes, *table.notes),
    )


def _sums_up(table: CodedTable, row: int, aside: Sequence[int], *, is_below: bool) -> bool:
    """Return whether a row is named after a statistic, or holds those of all but some rows."""
    cells = [of for of in table.columns if of.codes[row] >= 0 and not of.origin]
    labels = [of for of in cells if np.isnan(of.numbers[of.codes[row]])]
    codes = [(of, of.codes[row]) for of in labels]  # words that stand in no other row
    names = [of.values[n] for of, n in codes if of.counts[n] == (of.codes[aside] == n).sum()]
    if is_below and any(map(_STATISTIC.fullmatch, names)):
        return True
    if len(table) - len(aside) < _FEWEST_ROWS or len(names) < len(labels) or len(names) > 1:
        return False
    numbers = [of for of in cells if not np.isnan(of.numbers[of.codes[row]])]
    remainders = [_remainder(column, aside) for column in numbers]
    if not any(map(len, remainders)):  # all others are words
        return len(numbers) > 1
    pairs = [
        (column.text(row), float(column.numbers[column.codes[row]]), of)
        for column, of in zip(numbers, remainders, strict=True)
        if len(of)
    ]
    are_fractions = [number % 1 != 0 for _, number, _ in pairs]
    is_new = [number % 1 != 0 and not (of % 1).any() for _, number, of in pairs]
    is_named = any(map(_PERHAPS.fullmatch, names))
    if (len(pairs) > 1 or is_named) and all(is_new):  # of a statistic that is not computed here
        return True
    is_beyond = [not of.min() <= number <= of.max() for _, number, of in pairs]
    common = set.intersection(*(_statistics_equal_to(*pair) for pair in pairs))
    is_no_chance = len(pairs) > 1 and (all(are_fractions) or "count" in common)
    return bool(common) and any((is_no_chance, is_named, *is_new, *is_beyond))


def _remainder(column: CodedColumn, aside: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return the numbers of a column in all rows but some."""
    codes = column.codes[aside]
    counts = column.counts - np.bincount(codes[codes >= 0], minlength=len(column.values))
    numbers: npt.NDArray[np.float64] = np.repeat(column.numbers, counts)
    return numbers[~np.isnan(numbers)]


@np.errstate(over="ignore")
def _statistics_equal_to(text: str, number: float, values: npt.NDArray[np.float64]) -> set[str]:
    """Return the statistics of some values that a number is, as exactly as it is written."""
    decimals = re.search(r"[.,](\d+)\D*$", text)
    is_rounded = decimals is not None or text.endswith("%")
    error = 0.501 * 10.0 ** -(len(decimals[1]) if decimals else 0) if is_rounded else 1e-9
    statistics = {
        "sum": values.sum(),
        "mean": values.mean(),
        "share": 100 * values.mean(),
        "lowest": values.min(),
        "highest": values.max(),
        "sd": values.std(ddof=1) if len(values) > 1 else 0.0,
        "population sd": values.std(),
    }
    if len(values) > _MOST_OF_A_SCALE:
        statistics["count"] = len(values)
    return {name for name, of in statistics.items() if abs(of - number) <= error}
