"""Nested documents as tables, by one rule.

Lists of objects become rows, with the fields of their parents repeated. Objects under one parent
with the same fields are a list with their names as key. Lists that are equally long in every record
go together. Each column keeps the depth of the list that it comes from.
"""

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from eval_assets.errors import InputProblem
from eval_assets.readers.columns import BLANK, CodedColumn, CodedTable, Kind, Origin
from eval_assets.readers.formats.contents import table_of_rows
from eval_assets.readers.formats.table import FileColumn, plain
from eval_assets.readers.names import (
    Role,
    Who,
    holds_judges,
    is_first_name,
    is_rating_word,
    may_be,
    names_judge,
    names_model,
    who,
)
from eval_assets.readers.values import number_in, order_of

Path = tuple[str, ...]
Row = dict[Path, Any]

_LINE: Path = ("\0line",)
_RUNS: Path = (" runs",)
"""List of judges' runs, beside lists of a file called runs; never parallel to one of people."""

_POSITION, _KEY, _EACH = "#", " key", "*"
_DEEPEST = 8
_ALIKE = 0.5
"""Share of common fields from which on objects are of one form."""

_MESSAGE = {"role", "content"}
_CROSSES = frozenset(("x", "\u00d7", "\u2713", "\u2714", "\u2611", "\u2612", "\u25cf", "\u25a0"))
_TICKS = _CROSSES | {"true", "1", "yes"}
_NO_TICKS = frozenset(("false", "0", "no", "\u2610", "\u25cb", "\u25a1"))
_VALUE_AT_END = re.compile(r"(.*?)[ ._:\[-]*([^ ._:\[\]]+)\]?")
_FEWEST_CHOICES = 3
_MOST_TICKS = 4
_WIDEST_LIST = 10
_OF_NUMBERS, _FEWEST_OF_NUMBERS = "/\n -", 3
"""Separators of ratings alone, and of how many at least."""

_JUDGES = re.compile(r"(judge|rater|grader|evaluator|llm|model)s(_|$)|_(id|name|model)s?$")
_LIST_OF_NUMPY = re.compile(r"\[\s*([-\d.\s]+)\]")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_OF_ONE_VALUE = ("value", _POSITION, "id", "label", "text", "key")


def tables_of_document(document: object, *, file: str) -> list[CodedTable]:
    """Return the tables of a document in JSON: one for each level of its records."""
    match _records(document):
        case [dict(), *_] as records if all(isinstance(record, dict) for record in records):
            return tables_of_records(
                records,  # type: ignore[arg-type] # they are objects
                range(1, len(records) + 1),
                file=file,
            )
        case dict() as record:
            return tables_of_records([record], None, file=file)
        case [list(), *_] as rows if all(isinstance(row, list) for row in rows):
            return [CodedTable.of(table_of_rows(list(enumerate(rows, 1)), file=file))]  # type: ignore[arg-type] # they are lists
        case _:
            return []


def tables_of_records(
    records: Sequence[Mapping[str, Any]], lines: Sequence[int] | None, *, file: str
) -> list[CodedTable]:
    """Return the tables of records, whose rows keep the line of their record.

    Without lines, the records of the first list are counted.
    """
    rows: list[Row] = [{(str(key),): value for key, value in of.items()} for of in records]
    for row, line in zip(rows, lines or (), strict=False):
        row[_LINE] = line
    tables = list(_tables(rows, {}, 0, (), file))
    _name_positions(tables)
    chosen = (with_choices(table) for table in tables if len(table))
    return [of for table in chosen for of in with_lists_unfolded(table)]


def _name_positions(tables: Sequence[CodedTable]) -> None:
    """Give the raters of a matrix the names in a list of the document that is as long as a row."""
    lists = [
        table.columns[-1].values
        for table in tables
        if [of.origin for of in table.columns[-2:]] == [Origin.POSITION, None]
        and len(table.columns[-1].values) == len(table) > 1
        and all(map(_may_name_rater, table.columns[-1].values[:50]))
    ]
    for column in (of for table in tables for of in table.columns if of.origin is Origin.POSITION):
        names = next((of for of in lists if len(of) == len(column.values)), None)
        if names is not None and column.values[0] == "rater 1":
            column.values = names


def _may_name_rater(name: str) -> bool:
    is_rater = who(name) is Who.JUDGE or who(name).is_human or is_first_name(name)
    return is_rater and not name.isdigit()


def _records(document: object) -> object:
    """Return a document without the ways in which pandas writes a frame."""
    match document:
        case {"columns": [*names], "data": [*rows]}:
            return [dict(zip(map(str, names), row, strict=False)) for row in rows]
        case {"schema": dict(), "data": [*rows]}:
            return [{k: v for k, v in row.items() if k != "index"} for row in rows]
        case dict() if len(document) > 1:
            return _turned(document)
        case _:
            return document


def _turned(document: dict[str, Any]) -> object:
    """Return the rows of an object of columns, or of a matrix of which the longer side are rows."""
    values = list(document.values())
    if all(map(_may_name_rater, document)) and all(
        isinstance(of, list) and of and all(isinstance(row, dict) for row in of) for of in values
    ):  # records by their rater
        return [{"rater": name, **row} for name, of in document.items() for row in of]
    if all(isinstance(v, list) for v in values) and len({len(v) for v in values}) == 1:
        is_nested = any(isinstance(item, dict | list) for value in values for item in value)
        rows = zip(*values, strict=True)
        return document if is_nested else [dict(zip(document, row, strict=True)) for row in rows]
    if _hold_records(values):  # by their id, in parts such as train and test
        return [
            {"part": p, "item": key, **row} for p, of in document.items() for key, row in of.items()
        ]
    if not all(isinstance(value, dict) and value for value in values) or any(
        isinstance(item, dict | list) for value in values for item in value.values()
    ):
        return document
    keys = list(dict.fromkeys(key for value in values for key in value))
    counts = [str(k) for k in range(len(keys))]
    is_full = sum(map(len, values)) > 0.6 * len(keys) * len(values)
    if keys == counts or (len(keys) > len(values) and is_full):
        items = ({} if keys == counts else {"item": key} for key in keys)
        columns = ({name: of.get(key) for name, of in document.items()} for key in keys)
        return [{**item, **cells} for item, cells in zip(items, columns, strict=True)]
    if list(document) == [str(k) for k in range(len(document))]:
        return values
    return document


def _hold_records(values: Sequence[object]) -> bool:
    """Return whether all values are objects of records of one form, each with an id of its own."""
    parts = [value for value in values if isinstance(value, dict)]
    records = [record for part in parts for record in part.values() if isinstance(record, dict)]
    n_keys = sum(map(len, parts))
    if not (len(parts) == len(values) and len(records) == n_keys >= _FEWEST_CHOICES):
        return False
    are_apart = len({key for part in parts for key in part}) == n_keys and min(map(len, parts)) > 1
    return are_apart and all(_similarity({*records[0]}, {*of}) > _ALIKE for of in records)


def _tables(
    rows: list[Row], levels: dict[Path, int], level: int, place: Path, file: str
) -> Iterator[CodedTable]:
    """Yield the table of the fields of rows, and those of the lists in them."""
    if level > _DEEPEST or not rows:
        return
    rows = _without_single_lists(_without_objects(rows))
    rows = _with_united_lists([_with_runs(row) for row in rows])
    paths = list(dict.fromkeys(path for row in rows for path in row if path != _LINE))
    lists = [path for path in paths if any(isinstance(row.get(path), list) for row in rows)]
    fields = [path for path in paths if path not in lists]
    columns: dict[Path, CodedColumn] = {}
    for path in fields:
        column = CodedColumn.of("", [row.get(path) for row in rows], level=levels.get(path, level))
        column.origin = {_POSITION: Origin.POSITION, _KEY: Origin.KEY}.get(path[-1])
        columns |= {path: column} if column.values else {}
    for column, name in zip(columns.values(), _short_names(list(columns)), strict=True):
        column.name = name
    # A record alone in its file may be one of a folder.
    if columns and (len(rows) > 1 or not (level or lists)):
        lines = [row.get(_LINE, number) for number, row in enumerate(rows, start=1)]
        files = FileColumn.repeat(file, len(rows))
        yield CodedTable([*columns.values()], files, lines, ".".join(place), file)
    deeper = {path: levels.get(path, level) for path in fields}
    for members in _parallel_lists(rows, lists):
        parts = [part for row in rows for part in _parts(row, members, fields)]
        below = _tables(parts, deeper, level + 1, members[0], file)
        name, is_run = members[0][-1], (*members[0], "run") in (parts or [{}])[0]
        is_named = members == [_RUNS] or names_model(name) or may_be(name, Role.RUN)
        if is_run and not is_named and _are_of_one_judge(members):
            note = f"lists of {name} read as runs of one judge; if several judges gave"
            note += " them, write their names beside the scores"
            below = (replace(of, notes=(*of.notes, note)) for of in below)
        yield from below


def _are_of_one_judge(members: Sequence[Path]) -> bool:
    """Return whether lists are called like what one judge said, and none like several judges."""
    names_several = any(_JUDGES.search(plain(path[-1])) for path in members)
    return who(".".join(members[0])) is Who.JUDGE and not names_several


def _parts(row: Row, members: Sequence[Path], fields: Sequence[Path]) -> Iterator[Row]:
    """Yield a row for each part of parallel lists of a row."""
    first = members[0]
    lists = {path: row[path] for path in members if isinstance(row.get(path), list)}
    objects = [of for values in lists.values() for of in values if isinstance(of, dict)]
    is_keyed = any(_KEY in of or "run" in of for of in objects)
    noun = "judge" if who(".".join(first)) is Who.JUDGE else "rater"
    are_runs = bool(objects) and all(names_model(str(name)) for of in objects for name in of)
    are_runs |= _are_of_one_judge(members) and all(
        is_rating_word(str(name)) or may_be(str(name), Role.TEXT) for of in objects for name in of
    )
    for position in range(max(map(len, lists.values()), default=0)):
        part: Row = {path: row[path] for path in fields if path in row}
        part[_LINE] = row.get(_LINE, position + 1)
        if are_runs:
            part[(*first, "run")] = position + 1
        elif not is_keyed:
            part[(*first, _POSITION)] = f"{noun} {position + 1}"
        for path, values in lists.items():
            value = values[position] if position < len(values) else None
            if isinstance(value, dict):
                part |= {(*path, str(key)): item for key, item in value.items()}
            else:
                part[path] = value
        yield part


def _with_runs(row: Row) -> Row:
    """Return a row in which the lists of scores under the name of a model are those of its runs.

    The name may also stand beside the scores, as in a field called judge.
    """
    named = {
        path for path, of in row.items() if isinstance(of, str) and names_judge(".".join(path))
    }
    has_name = any(names_model(row[path]) for path in named)
    runs: list[dict[str, Any]] = []
    rest: Row = {}
    for path, value in row.items():
        judge = next((name for name in reversed(path) if names_model(name)), None)
        is_of_name = judge is None and has_name and names_judge(".".join(path))
        if not isinstance(value, list) or not (judge or is_of_name):
            rest[path] = value
            continue
        if any(isinstance(of, dict | list) for of in value):
            are_open = all(
                isinstance(of, dict) and not any(n == _KEY or holds_judges(str(n)) for n in of)
                for of in value
            )
            parts = enumerate(value, 1)
            rest[path] = [{"run": k, **of} for k, of in parts] if are_open else value
            continue
        of_judge = {} if judge is None else {"judge": judge}
        is_named = path[-1] == judge or names_judge(path[-1]) or is_rating_word(path[-1])
        if not is_named:
            of_judge["criterion"] = path[-1]
        runs += [{**of_judge, "run": k, "rating": of} for k, of in enumerate(value, 1)]
    return {**rest, _RUNS: runs} if runs else rest


def _without_objects(rows: list[Row]) -> list[Row]:
    """Return rows with the fields of objects as columns; objects of one form become a list."""
    for _ in range(_DEEPEST):
        children: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for row in rows:
            for path, value in row.items():
                if isinstance(value, dict):
                    children[path[:-1]][path[-1]] |= set(value)
        if not children:
            break
        alike = {parent: _of_one_form(fields) for parent, fields in children.items()}
        rows = [_opened(row, alike) for row in rows]
    return rows


def _of_one_form(fields: Mapping[str, set[str]]) -> set[str]:
    """Return the names of two or more objects with the same fields."""
    if len(fields) < 2:
        return set()
    forms = list(fields.values())
    form = max(forms, key=lambda of: sum(_similarity(of, other) > _ALIKE for other in forms))
    alike = {name for name, of in fields.items() if of and _similarity(form, of) > _ALIKE}
    names = {name for name in alike if not may_be(name, Role.SUMMARY)} if len(alike) > 2 else alike
    if any(map(is_rating_word, names)):  # scores beside human are of nobody by name
        return set()
    return names if len(names) > 1 and form and not form >= _MESSAGE else set()


def _similarity(a: set[str], b: set[str]) -> float:
    return len(a & b) / max(1, len(a | b))


def _opened(row: Row, alike: Mapping[Path, set[str]]) -> Row:
    opened: Row = {}
    lists: dict[Path, list[dict[str, Any]]] = {}
    for path, value in row.items():
        if not isinstance(value, dict):
            opened[path] = value
        elif path[-1] in alike.get(path[:-1], ()):
            lists.setdefault((*path[:-1], _EACH), []).append({_KEY: path[-1], **value})
        elif may_be(path[-1], Role.SYSTEM) and all(isinstance(of, list) for of in value.values()):
            lists[path] = [{_KEY: name, "ratings": of} for name, of in value.items()]
        else:
            opened |= {(*path, str(key)): item for key, item in value.items()}
    return opened | lists


def _without_single_lists(rows: list[Row]) -> list[Row]:
    """Return rows in which a list that never has two parts is its part."""
    first = rows[0]
    sizes = [len(value) for value in first.values() if isinstance(value, list)]
    # A list of words that all rows share is one text, as of a judge; others would go with it.
    constant = {
        path: ", ".join(map(str, value))
        for path, value in first.items()
        if isinstance(value, list)
        and sizes.count(len(value)) == 1 < len(value)
        and all(isinstance(part, str) for part in value)
        and len(rows) > _DEEPEST
        and all(row.get(path) == value for row in rows)
    }
    rows = [{**row, **constant} for row in rows] if constant else rows
    lengths: dict[Path, int] = defaultdict(int)
    for row in rows:
        for path, value in row.items():
            if isinstance(value, list):
                lengths[path] = max(lengths[path], len(value))
    single = {path for path, length in lengths.items() if length <= 1}
    if not single or (len(rows) == 1 and single == set(lengths)):
        return rows

    def part(path: Path, value: object) -> object:
        is_single = path in single and isinstance(value, list)
        return next(iter(value), None) if is_single else value  # type: ignore[call-overload]

    parts = [{path: part(path, value) for path, value in row.items()} for row in rows]
    return _without_single_lists(_without_objects(parts))


def _with_united_lists(rows: list[Row]) -> list[Row]:
    """Return rows in which lists of objects of one form, such as experts and crowd, are one."""
    fields: dict[Path, set[str]] = defaultdict(set)
    for row in rows:
        for path, value in row.items():
            for item in value if isinstance(value, list) else ():
                if isinstance(item, dict):
                    fields[path] |= set(item)
    for path, of in sorted(fields.items()):
        same = [
            other
            for other, other_fields in fields.items()
            if other[:-1] == path[:-1] and _similarity(of, other_fields) > 0.6
        ]
        if len(same) > 1 and not of >= _MESSAGE and _KEY not in of:
            united = (*path[:-1], "+".join(other[-1] for other in same))
            for row in rows:
                row[united] = [
                    {_KEY: path[-1], **item, _POSITION: f"{path[-1]} {n}"}
                    for path in same
                    for n, item in enumerate(row.pop(path, None) or (), start=1)
                    if isinstance(item, dict)
                ]
            return _with_united_lists(rows)
    return rows


def _parallel_lists(rows: Sequence[Row], lists: Sequence[Path]) -> list[list[Path]]:
    """Return lists that are equally long wherever two exist, together; messages are text."""
    lengths, scores = {}, set[Path]()
    for path in lists:
        values = [value if isinstance(value := row.get(path), list) else None for row in rows]
        first = next(filter(None, values), [None])[0]
        if isinstance(first, int | float):
            scores.add(path)
        if not (isinstance(first, dict) and first.keys() >= _MESSAGE):
            lengths[path] = np.array([-1 if value is None else len(value) for value in values])
    groups: dict[Path, list[Path]] = {}
    for path, length in sorted(lengths.items()):
        for other, members in groups.items():
            in_both = (length >= 0) & (lengths[other] >= 0)
            kinds = {who(".".join(path)), who(".".join(other))}
            if kinds >= {Who.HUMAN, Who.JUDGE} or _RUNS in (path, other):
                continue
            # Numbers of a judge are not those of ratings, though they may be as many.
            is_of_judge = len(kinds) > 1 and Who.JUDGE in kinds and scores >= {path, other}
            if is_of_judge and any(is_rating_word(of[-1]) for of in (path, other)):
                continue
            if in_both.any() and (length == lengths[other])[in_both].all():
                members.append(path)
                break
        else:
            groups[path] = [path]
    return list(groups.values())


def _short_names(columns: Sequence[Path]) -> list[str]:
    """Return the shortest end of the path of each column that no other column has."""
    paths = [[name.strip() or name for name in path if name != _EACH] for path in columns]
    says_whose = (Who.JUDGE, Who.HUMAN)
    names, counts = list[str](), Counter[str]()
    for path in paths:
        k = 1
        while k < len(path) and sum(other[-k:] == path[-k:] for other in paths) > 1:
            k += 1
        while k < len(path) and path[-k] in _OF_ONE_VALUE:
            k += 1
        while (
            k < len(path)
            and who(path[-k - 1]) in says_whose
            and (path[-k].isdigit() or who(path[-k]) not in says_whose)
        ):
            k += 1
        name = ".".join(path[-k:])
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return names


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
    ticked = np.array(
        [
            np.array([v.casefold() in _TICKS or v == end for v in column.values] + [False])[
                column.codes
            ]
            for column, end in choices
        ]
    )
    n_ticks = ticked.sum(axis=0)
    are_crosses = all({*map(str.casefold, column.values)} <= _CROSSES for column, _ in choices)
    is_choice = (n_ticks > 0).mean() > 0.9 and n_ticks.max() == 1
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


# Cells of text that hold lists.


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
        cells[_LINE] = line
        for column in table.columns:
            code = int(column.codes[row])
            if code >= 0 and column.name not in of_lists:
                cells[(column.name,)] = lists.get(column.name, column.values)[code]
        rows.append(cells)
    levels: dict[Path, int] = {(column.name,): column.level for column in table.columns}
    unfolded = list(_tables(rows, levels, level, (), table.file))
    origin = {column.name: column.origin for column in table.columns}
    for column in (column for part in unfolded for column in part.columns):
        column.origin = column.origin or origin.get(column.name)
    longest = max(unfolded, key=lambda of: (len(of), len(of.columns)), default=table)
    parts = [of for of in longest.columns if of.level > level and of.can_rate]
    ordered = [of for of in table.columns if of.can_rate and (of.kind is Kind.NUMBER or of.order)]
    are_beside = len(longest) > len(table) and any(of.who is Who.HUMAN for of in ordered)
    if are_beside and not any(
        of.may_be(Role.RATING) or of.who in (Who.HUMAN, Who.JUDGE) or is_first_name(of.name)
        for of in parts
    ):
        return [table]  # the lists are a log, and ratings of people stand beside them
    further = [of for of in unfolded if of is not longest and _has_ratings_below(of, level)]
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


def _has_ratings_below(table: CodedTable, level: int) -> bool:
    return any(column.level > level and column.can_rate for column in table.columns)


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
            of.kind is Kind.WORD
            and of.order is None
            and of.may_be(Role.RATER)
            and not of.may_be(Role.RATING)
            for of in columns
        ) and not any(names.intersection(of.values) for of in rated)
        is_rating = any(of.may_be(Role.RATING) or of.who.is_human for of in rated)
        if are_names and is_rating and len(names) > 1:
            return of_raters
    return {}


def _lists_in(column: CodedColumn) -> list[Any] | None:
    """Return the lists or objects that most values of a column are; None if they are not."""
    start = column.values[:50]
    if not start or np.mean([is_nested(value) for value in start]) <= 0.6:
        return None
    parsed = [_parsed(value) for value in column.values]
    is_parsed = [value is not None for value in parsed]
    types = {type(value) for value in parsed if value is not None}
    return parsed if np.mean(is_parsed) >= 0.7 and len(types) == 1 and any(parsed) else None


_PAIR = r"\s*[^\W\d][\w .-]*\s*[=:]\s*[\w./-]{1,12}\s*"
_ALONE, _PAIRS = re.compile(_PAIR), re.compile(rf"{_PAIR}([;,|]{_PAIR})+")
"""Ratings by name in one cell, as anna=4; ben=3."""


def is_nested(text: str) -> bool:
    """Return whether a text looks like a list, an object, or pairs of names and values."""
    return (
        text.startswith(("[", "{", "(", "array(["))
        or '"=>"' in text
        or _PAIRS.fullmatch(text) is not None
    )


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
                if min(map(len, parts)) < _FEWEST_OF_NUMBERS or not _are_ratings(parts):
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
    return not np.isnan(numbers).any() and max(numbers) - min(numbers) <= _WIDEST_LIST
