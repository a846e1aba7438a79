"""Lists that cells of text hold, as rows of their own."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from eval_assets.readers.columns import CodedColumn, CodedTable, Kind
from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import Role, Who, is_first_name, may_be, who
from eval_assets.readers.nested_records import LINE, Path, Row, tables_of_rows
from eval_assets.readers.ticked_columns import with_choices
from eval_assets.readers.values import number_in

_OF_NUMBERS = "/\n -"
"""Separators of ratings alone."""

_LIST_OF_NUMPY = re.compile(r"\[\s*([-\d.\s]+)\]")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def with_lists_unfolded(table: CodedTable) -> list[CodedTable]:
    """Return the table with a row for each part of the lists that cells hold as text.

    Lists of several lengths, as of people and of judges, make a table each.

    Texts of several columns that split into as many parts in every row are lists, too, and so are
    numbered columns of raters beside those of their ratings.
    """
    lists = _split_alike(table) | {
        column.name: parts for column in table.columns if (parts := _lists_in(column)) is not None
    }
    numbered = {} if lists else _numbered_raters(table)
    if not (lists or numbered):
        return [table]
    of_lists = {column.name for columns in numbered.values() for column in columns}
    level = max(column.level for column in table.columns)
    rows: list[Row] = []
    for row, line in enumerate(table.lines):
        cells: Row = {(name,): [of.text(row) for of in parts] for name, parts in numbered.items()}
        cells[LINE] = line
        for column in table.columns:
            code = int(column.codes[row])
            if code >= 0 and column.name not in of_lists:
                cells[(column.name,)] = lists.get(column.name, column.values)[code]
        rows.append(cells)
    levels: dict[Path, int] = {(column.name,): column.level for column in table.columns}
    unfolded = list(tables_of_rows(rows, levels, level, (), table.file))
    origin = {column.name: column.origin for column in table.columns}
    for column in (column for part in unfolded for column in part.columns):
        column.origin = column.origin or origin.get(column.name)
    longest = max(unfolded, key=lambda of: (len(of), len(of.columns)), default=table)
    parts = [of for of in longest.columns if of.level > level and of.can_rate]
    ordered = [of for of in table.columns if of.can_rate and (of.kind is Kind.NUMBER or of.order)]
    are_rated = any(
        of.may_be(Role.RATING) or of.who in (Who.HUMAN, Who.JUDGE) or is_first_name(of.name)
        for of in parts
    )
    are_beside = any(of.who is Who.HUMAN or not parts for of in ordered)
    if len(longest) > len(table) and are_beside and not are_rated:
        return [table]  # the lists are a log, and ratings stand beside them
    below = [t for t in unfolded if any(of.level > level and of.can_rate for of in t.columns)]
    further = [of for of in below if of is not longest]
    document = table.file if further else table.document
    return [
        replace(
            with_choices(of),
            sheet=of.sheet if further else table.sheet,
            document=document,
            bad_rows=table.bad_rows,
            notes=(*table.notes, *of.notes),
        )
        for of in (longest, *further)
    ]


_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)")
_ORDINALS = ("first", "second", "third")


def _numbered_raters(table: CodedTable) -> dict[str, list[CodedColumn]]:
    """Return columns as rater 1, score 1, rater 2 and score 2 by their names without a number.

    A column of a rater names several, and no ratings.
    """
    parts: dict[str, dict[str, CodedColumn]] = defaultdict(dict)
    for column in table.columns:
        name = plain(column.name)
        for k, word in enumerate(_ORDINALS, 1):
            name = re.sub(rf"(^|_){word}(?=_|$)", rf"\g<1>{k}", name)
        match = _NUMBERED.fullmatch(name)
        start, number, end = match.groups() if match else (name, "", "")
        parts[re.sub("_+", "_", f"{start}_{end}").strip("_")][number] = column
    groups = {stem: of for stem, of in parts.items() if len(of) > 1}
    for stem, raters in groups.items():
        columns, names = [*raters.values()], {v for of in raters.values() for v in of.values}
        of_raters = {s: [*of.values()] for s, of in groups.items() if [*of] == [*raters]}
        rated = [c for s, of in of_raters.items() if s != stem for c in of if c.can_rate]
        are_names = all(
            of.kind is Kind.WORD and of.order is None and not of.may_be(Role.RATING)
            for of in columns
        ) and not any(names.intersection(of.values) for of in rated)
        is_called = all(of.may_be(Role.RATER) for of in columns)
        is_rating = is_called and any(of.may_be(Role.RATING) or of.who.is_human for of in rated)
        # Nobody rates an item twice, though the same people do so in all places.
        are_ids = any(is_first_name(of) or re.search(r"\d", of) for of in names)
        are_people = all(who(of).is_human or is_first_name(of) for of in names)
        are_apart = are_ids if is_called else are_people
        are_apart &= all(2 * len(names.intersection(of.values)) > len(names) for of in columns)
        pairs = combinations([of.texts() for of in columns], 2)
        are_apart = are_apart and len(table) >= 10 and all((a != b).all() for a, b in pairs)
        if are_names and rated and (is_rating or are_apart) and len(names) > 1:
            return of_raters
    return {}


def _lists_in(column: CodedColumn) -> list[Any] | None:
    """Return the lists or objects that most values of a column are; None if they are not."""
    n_like = sum(
        text.startswith(("[", "{", "(", "array(["))
        or '"=>"' in text
        or bool(_PAIRS.fullmatch(text))
        for text in column.values[:50]
    )
    if n_like <= 0.6 * min(50, len(column.values)):
        return None
    parsed = [_parsed(value) for value in column.values]
    is_parsed = [value is not None for value in parsed]
    types = {type(value) for value in parsed if value is not None}
    return parsed if np.mean(is_parsed) >= 0.7 and len(types) == 1 and any(parsed) else None


_PAIR = r"\s*[^\W\d][\w .-]*\s*[=:]\s*[\w./-]{1,12}\s*"
_ALONE, _PAIRS = re.compile(_PAIR), re.compile(rf"{_PAIR}([;,|]{_PAIR})+")
"""Ratings by name in one cell, as anna=4; ben=3."""


def _parsed(text: str) -> list[Any] | dict[str, Any] | None:
    if '"=>"' in text:  # within a note, as Rayyan writes decisions
        return dict(re.findall(r'"([^"]+)"=>"([^"]+)"', text))
    text = re.sub(r"^array\((\[.*?\]).*", r"\1", text)
    if text[:1] not in "[{(":
        pairs = re.split("[;,|]", text) if _ALONE.fullmatch(text) or _PAIRS.fullmatch(text) else ()
        return {
            name.strip(): of.strip()
            for name, of in (re.split("[=:]", p, maxsplit=1) for p in pairs)
        } or None
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            value = parse(text)
            if isinstance(value, list | tuple):
                return list(value)
            return value if isinstance(value, dict) else None
    numbers = _LIST_OF_NUMPY.fullmatch(text)
    return numbers[1].split() if numbers else None


def _split_alike(table: CodedTable) -> dict[str, list[list[str]]]:
    """Return columns whose texts split into as many parts as those of another in every row."""
    split: dict[str, list[list[str]]] = {}
    for column in table.columns:
        start = column.values[:80]
        for separator in (*"|;,", *_OF_NUMBERS):
            is_split = sum(separator in value for value in start) > 0.6 * len(start) > 0
            is_named = separator not in _OF_NUMBERS or _names_ratings(column.name)
            if column.name in split or not (is_split and is_named):
                continue
            parts = [[part.strip() for part in v.split(separator)] for v in column.values]
            is_decimal = all(map(_DECIMAL_COMMA.fullmatch, column.values))
            if separator == "," and (is_decimal or column.kind is Kind.TEXT):
                continue
            if separator in _OF_NUMBERS:  # 3/5 is no list, nor is a date
                if min(map(len, parts)) < 3 or not _are_ratings(parts):
                    continue
            elif column.kind is Kind.TIME:
                continue
            if np.median([max(map(len, of)) for of in parts]) < 25:
                split[column.name] = parts
    lengths = {
        column.name: np.array([*map(len, split[column.name]), 0])[column.codes]
        for column in table.columns
        if column.name in split
    }
    return {
        name: parts
        for name, parts in split.items()
        if lengths[name].max() > 1
        and (
            any(other != name and (lengths[other] == lengths[name]).all() for other in lengths)
            or (_names_ratings(name) and _are_ratings(parts))
        )
    }


def _names_ratings(header: str) -> bool:
    return may_be(header, Role.RATING) or who(header) is Who.HUMAN


def _are_ratings(lists: Sequence[Sequence[str]]) -> bool:
    """Return whether all parts of texts are numbers of one short scale."""
    numbers = [number_in(part) for parts in lists for part in parts if part]
    are_numbers = bool(numbers) and not np.isnan(numbers).any()
    return are_numbers and max(numbers) - min(numbers) <= 10
