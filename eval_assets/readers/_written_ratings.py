"""Ratings as people write them: stars, 4/5, 4 of 5."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from eval_assets.readers._cells import is_absent, number_in
from eval_assets.readers._problems import shown
from eval_assets.readers.formats.table import Table
from eval_assets.readers.labels.wide import rating_columns
from eval_assets.readers.labels.without_rubric import item_header, rater_header

Tops = Mapping[str, float]
"""Highest value that the ratings in a column can have, as far as they say so."""

_OUT_OF = re.compile(
    r"([0-9]+(?:[.,][0-9]+)?) ?(?:/|of|out of|von|sur|de) ?([0-9]+)(?: ?(?:points?|stars?))?",
    re.IGNORECASE,
)
_STARS = re.compile("([*\u2605\u2b50]*)(\u00bd?)([\u2606\u2729]*)")
_COUNTED_STARS = re.compile(r"([0-9]+(?:[.,][0-9]+)?) ?(?:stars?|sterne?)", re.IGNORECASE)
_FEWEST_RATERS = 2
_TOPS = range(2, 11)
"""Highest values of scales; 3/12 may be a month."""


class _Written(NamedTuple):
    """A rating, and the highest that there can be; None if the cell does not say that."""

    value: float
    top: float | None


def in_numbers(table: Table) -> tuple[Table, Tops]:
    """Return the table with such ratings as numbers and a note, and the tops of their scales."""
    # Beside two columns of plain numbers, 3/5 is a date or a page.
    others = rating_columns(table, [None]) if rater_header(table) is None else []
    columns, examples = dict(table.columns), dict[str, tuple[str, _Written]]()
    for header in table.columns:
        cells = table.stripped(header)
        known = {cell: _written(cell) for cell in set(cells) if cell and not is_absent(cell)}
        if len(others) >= _FEWEST_RATERS and any(map(_OUT_OF.fullmatch, known)):
            continue
        found = [known.get(cell or "") for cell in cells]
        if header != item_header(table) and (example := _example(cells, found)):
            examples[header] = example
            columns[header] = [
                cell if each is None else f"{each.value:g}"
                for cell, each in zip(cells, found, strict=True)
            ]
    tops = {header: written.top for header, (_, written) in examples.items() if written.top}
    return replace(table, columns=columns, notes=(*table.notes, *_notes(examples))), tops


def _written(cell: str) -> _Written | None:
    """Return the rating that a cell says, None if it says none in any of these forms.

    Examples:
        >>> _written("4/5")
        _Written(value=4.0, top=5.0)
        >>> _written("***")
        _Written(value=3.0, top=None)
    """
    text = " ".join(cell.split())
    if match := _OUT_OF.fullmatch(text):
        return _Written(float(match[1].replace(",", ".")), float(match[2]))
    if match := _COUNTED_STARS.fullmatch(text):
        return _Written(float(match[1].replace(",", ".")), None)
    if match := _STARS.fullmatch(text.replace("\ufe0f", "").replace(" ", "")):
        full, half, empty = map(len, match.groups())
        return _Written(full + half / 2, float(full + half + empty) if empty else None)
    return None


def _example(
    cells: Sequence[str | None], found: Sequence[_Written | None]
) -> tuple[str, _Written] | None:
    """Return a cell of a column of such ratings with its reading; None if it is another column.

    Plain numbers may stand among them.
    """
    pairs = [(cell, each) for cell, each in zip(cells, found, strict=True) if cell is not None]
    written = [(cell, each) for cell, each in pairs if each is not None]
    others = [cell for cell, each in pairs if each is None and not is_absent(cell)]
    tops = {each.top for _, each in written if each.top is not None}
    if not written or len(tops) > 1 or any(math.isnan(number_in(cell)) for cell in others):
        return None
    top = next(iter(tops), None)
    highest = max(each.value for _, each in written)
    if highest < _TOPS[0] if top is None else top not in _TOPS or highest > top:
        return None
    cell, first = written[0]
    return cell, _Written(first.value, top)


def _notes(examples: Mapping[str, tuple[str, _Written]]) -> list[str]:
    """Return one note for all columns whose ratings are written in one way."""
    by_top: dict[float | None, list[str]] = {}
    for header, (_, written) in examples.items():
        by_top.setdefault(written.top, []).append(header)
    notes = []
    for top, headers in by_top.items():
        cell, written = examples[headers[0]]
        of = "" if top is None else f" of {top:g}"
        notes.append(f"{shown(cell)} in {', '.join(headers)} read as {written.value:g}{of}")
    return notes
