"""Crosses in columns: one for each value of a scale, each rater or each question."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from eval_assets.errors import InputProblem
from eval_assets.readers._cells import number_in
from eval_assets.readers._guessed_scales import scale_in_order
from eval_assets.readers._written_ratings import Tops
from eval_assets.readers.formats.table import Table
from eval_assets.readers.labels.parsed_labels import FIELDS
from eval_assets.readers.labels.wide import RatingColumn
from eval_assets.readers.labels.without_rubric import columns_by_question, rater_header

_CROSSES = frozenset("x\u00d7\u2713\u2714\u2611\u2612\u25cf\u2022\u25a0")
_NO_CROSS = frozenset({"", "\u2610", "\u25cb", "\u25a1"})
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
"""Ticked boxes as spreadsheets export them: crosses only if every row has one."""

_FEWEST_COLUMNS = 2


def crosses_read(table: Table) -> tuple[Table, Tops]:
    """Return the table with crosses read as the ratings that they mark, and the scales' tops.

    Columns that are named by the values of a scale, alone or beside a rater, or of which every row
    has one crossed, become one column of ratings. In others a cross is a yes, and none a no.
    """
    table = _ticks_crossed(table)
    crossed = [header for header in table.columns if _holds_crosses(table, header, empty=False)]
    if not crossed:
        return table, {}
    perhaps = [header for header in table.columns if _holds_crosses(table, header, empty=True)]
    rater = rater_header(table)
    for headers in (perhaps, crossed):
        is_choice = _are_values(headers) or (rater is not None and _is_one_a_row(table, crossed))
        if is_choice and FIELDS["rating"][0] not in table.columns:
            name = FIELDS["rating"][0]
            return _chosen(table, {name: [RatingColumn(each, None, each) for each in headers]})
        by_rater: dict[str, list[RatingColumn]] = {}
        for column in columns_by_question(headers) if rater is None else []:
            by_rater.setdefault(column.rater or "", []).append(column)
        values = {column.question or "" for of in by_rater.values() for column in of}
        if values and _are_values(sorted(values)):
            return _chosen(table, by_rater)
    if len(crossed) < _FEWEST_COLUMNS and rater is None:
        return table, {}
    columns: dict[str, Sequence[object]] = {
        header: ["1" if _is_cross(cell) else "0" for cell in table.text(header)]
        if header in crossed
        else cells
        for header, cells in table.columns.items()
    }
    note = f"a cross in {', '.join(crossed)} read as yes, and none as no"
    return replace(table, columns=columns, notes=(*table.notes, note)), {}


def _ticks_crossed(table: Table) -> Table:
    """Return the table with a cross for each ticked box, if every row has one in such columns."""
    boxes = [header for header in table.columns if _words(table, header) <= {"", *_YES, *_NO}]
    if rater_header(table) is None or not _are_values(boxes):
        return table
    ticked = {header: [_plain(cell) in _YES for cell in table.text(header)] for header in boxes}
    if not all(sum(row) == 1 for row in zip(*ticked.values(), strict=True)):
        return table
    crossed: dict[str, list[object]] = {
        header: ["x" if is_ticked else "" for is_ticked in cells]
        for header, cells in ticked.items()
    }
    return replace(table, columns={**table.columns, **crossed})


def _chosen(table: Table, groups: Mapping[str, Sequence[RatingColumn]]) -> tuple[Table, Tops]:
    """Return the table with one column for each group of columns: the value that is crossed.

    Args:
        table: The table.
        groups: By header of the new column, the old ones with their values as questions.
    """
    gone = {column.header for columns in groups.values() for column in columns}
    kept = {header: cells for header, cells in table.columns.items() if header not in gone}
    bad_rows = list(table.bad_rows)
    tops: dict[str, float] = {}
    for name, columns in groups.items():
        crosses = {column.question: table.text(column.header) for column in columns}
        chosen: list[object] = []
        for row, line in enumerate(table.lines):
            values = [str(value) for value, cells in crosses.items() if _is_cross(cells[row])]
            chosen.append(values[0] if len(values) == 1 else "")
            if len(values) > 1:
                what = f"there are crosses for {' and '.join(values)}"
                bad_rows.append(InputProblem(table.file, line, name, what, "Keep one of them"))
        kept[name] = chosen
        top = max(number_in(column.question) for column in columns)
        if not math.isnan(top):
            tops[name] = top
    values = list(dict.fromkeys(column.question or "" for of in groups.values() for column in of))
    note = f"crosses in the columns {', '.join(values)} read as ratings"
    notes = (*table.notes, note)
    return replace(table, columns=kept, bad_rows=tuple(bad_rows), notes=notes), tops


def _are_values(headers: Sequence[str]) -> bool:
    """Return whether headers are the values of one scale: numbers, or words in a known order."""
    if len(headers) < _FEWEST_COLUMNS:
        return False
    are_numbers = not any(math.isnan(number_in(header)) for header in headers)
    return are_numbers or scale_in_order({header.strip() for header in headers}) is not None


def _is_one_a_row(table: Table, headers: Sequence[str]) -> bool:
    """Return whether every row has one of several columns crossed."""
    rows = zip(*(table.text(header) for header in headers), strict=True)
    return len(headers) >= _FEWEST_COLUMNS and all(sum(map(_is_cross, row)) == 1 for row in rows)


def _holds_crosses(table: Table, header: str, *, empty: bool) -> bool:
    """Return whether a column holds crosses and nothing else; `empty`: or nothing at all."""
    words = _words(table, header)
    return words <= _CROSSES | _NO_CROSS and (empty or bool(words & _CROSSES))


def _is_cross(cell: str | None) -> bool:
    return _plain(cell) in _CROSSES


def _words(table: Table, header: str) -> set[str]:
    """Return what the cells of a column say, each once."""
    return {_plain(cell) for cell in set(table.text(header))}


def _plain(cell: str | None) -> str:
    return (cell or "").strip().casefold()
