"""Columns of ticks and crosses, as columns of ratings."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputProblem
from eval_assets.readers.columns import BLANK, CodedColumn, CodedTable
from eval_assets.readers.values import number_in, order_of

_CROSSES = frozenset((*"x\u00d7\u2713\u2714\u2611\u2612\u25cf\u25a0\u2705", "checked"))
_TICKS = _CROSSES | {"true", "1", "yes"}
_NO_TICKS = frozenset(("false", "0", "no", "\u2610", "\u25cb", "\u25a1"))
_VALUE_AT_END = re.compile(r"(.*?)(?:[ ._:\[]+(?=-\d)|[ ._:\[-]*(?!-))([^ ._:\[\]]+)\]?")
_FEWEST_CHOICES = 3
_MOST_TICKS = 4


def with_choices(table: CodedTable) -> CodedTable:
    """Return the table with one column of ratings for columns of ticks or crosses.

    Columns are named by the values of a scale, alone or behind a common name, and each row ticks
    one; two crosses in a row are an error. In other columns a cross is a yes, and a blank a no.
    """
    groups: dict[str, list[tuple[CodedColumn, str]]] = defaultdict(list)
    for column in table.columns:
        name = _VALUE_AT_END.fullmatch(column.name)
        words = {value.casefold() for value in column.values[:_MOST_TICKS]}
        if len(column.values) > _MOST_TICKS:
            continue
        if name and (words <= _TICKS | _NO_TICKS or words == {name[2].casefold()}):
            groups[name[1]].append((column, name[2]))
    # Columns with the same first word, of which each names a value of several words.
    starts: dict[str, list[tuple[CodedColumn, str]]] = defaultdict(list)
    for column in (column for choices in groups.values() for column, _ in choices):
        start = re.split(r"[ ._:-]+", column.name, maxsplit=1)
        starts[start[0]].append((column, start[-1]))
    long_groups = [of for of in starts.items() if len(of[1]) >= _FEWEST_CHOICES]
    for prefix, choices in [*groups.items(), *long_groups]:
        table = _chosen(table, prefix, choices)
    crossed = [
        column
        for column in table.columns
        if 0 < len(column.values) <= _MOST_TICKS and {*map(str.casefold, column.values)} <= _CROSSES
    ]
    if all(column.has_cell.all() for column in crossed):
        return table
    columns = [
        CodedColumn(c.name, (~c.has_cell).astype(np.int32), ["yes", "no"], c.level)
        if c in crossed
        else c
        for c in table.columns
    ]
    note = f"a cross in {', '.join(column.name for column in crossed)} is a yes, a blank a no"
    return replace(table, columns=columns, notes=(*table.notes, note))


def _chosen(
    table: CodedTable, prefix: str, choices: Sequence[tuple[CodedColumn, str]]
) -> CodedTable:
    are_left = all(any(column is of for of in table.columns) for column, _ in choices)
    if not are_left or not any(column.values for column, _ in choices):
        return table
    ends = [end for _, end in choices]
    are_values = not any(np.isnan(number_in(end)) for end in ends) or order_of(ends) is not None

    def marks(column: CodedColumn, end: str) -> npt.NDArray[np.bool_]:
        ticks = {value for value in column.values if value.casefold() in _TICKS} or {end}
        is_tick: npt.NDArray[np.bool_] = np.array([*(v in ticks for v in column.values), False])
        return is_tick[column.codes]

    ticked = np.array([marks(*of) for of in choices])
    n_ticks = ticked.sum(axis=0)
    are_crosses = all({*map(str.casefold, column.values)} <= _CROSSES for column, _ in choices)
    rows = np.any([column.has_cell for column, _ in choices], axis=0)  # of one of several raters
    is_choice = (n_ticks[rows] > 0).mean() > 0.9 and n_ticks.max() == 1
    is_choice &= sum(map(any, ticked)) > 1  # one flag of all rows is no choice
    if len(choices) < (2 if are_values else _FEWEST_CHOICES) or not (
        is_choice or (are_crosses and are_values and len(choices) >= _FEWEST_CHOICES)
    ):
        return table
    codes = np.where(n_ticks == 1, ticked.argmax(axis=0), BLANK).astype(np.int32)
    header = prefix or "rating"
    chosen = CodedColumn(header, codes, ends, choices[0][0].level)
    problems = [
        InputProblem(
            table.files[row],
            table.lines[row],
            header,
            f"there are crosses for {' and '.join(np.array(ends)[ticked[:, row]])}",
            "Keep one of them",
        )
        for row in np.flatnonzero(n_ticks > 1).tolist()
    ]
    old = [column for column, _ in choices]
    columns = [column for column in table.columns if column not in old] + [chosen]
    note = f"ticks in the columns {', '.join(ends)} are ratings"
    bad_rows, notes = (*table.bad_rows, *problems), (*table.notes, note)
    return replace(table, columns=columns, bad_rows=bad_rows, notes=notes)
