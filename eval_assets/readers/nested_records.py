"""Nested documents as tables, by one rule.

Lists of objects become rows, with the fields of their parents repeated. Objects under one parent
with the same fields are a list with their names as key. Lists that are equally long in every record
go together. Each column keeps the depth of the list that it comes from.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eval_assets.readers.columns import CodedColumn, CodedTable, Origin
from eval_assets.readers.formats.table import FileColumn, plain
from eval_assets.readers.names import (
    Role,
    Who,
    holds_judges,
    is_rating_word,
    may_be,
    names_judge,
    names_model,
    who,
)

Path = tuple[str, ...]
Row = dict[Path, Any]

LINE: Path = ("\0line",)
_RUNS: Path = (" runs",)
"""List of judges' runs, beside lists of a file called runs; never parallel to one of people."""

_POSITION, _KEY, _EACH = "#", " key", "*"
_DEEPEST = 8
ALIKE = 0.5
"""Share of common fields from which on objects are of one form."""

_MESSAGE = {"role", "content"}

_JUDGES = re.compile(r"(judge|rater|grader|evaluator|llm|model)s(_|$)|_(id|name|model)s?$")
_OF_ONE_VALUE = ("value", _POSITION, "id", "label", "text", "key")


def tables_of_rows(
    rows: list[Row], levels: dict[Path, int], level: int, place: Path, file: str
) -> Iterator[CodedTable]:
    """Yield the table of the fields of rows, and those of the lists in them."""
    if level > _DEEPEST or not rows:
        return
    rows = _without_single_lists(_without_objects(rows))
    rows = _with_united_lists([_with_runs(row) for row in rows])
    paths = list(dict.fromkeys(path for row in rows for path in row if path != LINE))
    in_lists = {path for row in rows for path, value in row.items() if isinstance(value, list)}
    lists = [path for path in paths if path in in_lists]
    fields = [path for path in paths if path not in in_lists]
    columns: dict[Path, CodedColumn] = {}
    for path in fields:
        column = CodedColumn.of("", [row.get(path) for row in rows], level=levels.get(path, level))
        column.origin = {_POSITION: Origin.POSITION, _KEY: Origin.KEY}.get(path[-1])
        columns |= {path: column} if column.values else {}
    for column, name in zip(columns.values(), _short_names(list(columns)), strict=True):
        column.name = name
    if columns:
        lines = [row.get(LINE, number) for number, row in enumerate(rows, start=1)]
        files = FileColumn.repeat(file, len(rows))
        yield CodedTable([*columns.values()], files, lines, ".".join(place), file)
    deeper = {path: levels.get(path, level) for path in fields}
    for members in _parallel_lists(rows, lists):
        parts = [part for row in rows for part in _parts(row, members, fields)]
        below = tables_of_rows(parts, deeper, level + 1, members[0], file)
        name, is_run = members[0][-1], (*members[0], "run") in (parts or [{}])[0]
        is_named = members == [_RUNS] or names_model(name) or may_be(name, Role.RUN)
        first = values if isinstance(values := rows[0].get(members[0]), list) else []
        is_named |= any("run" in of for of in first if isinstance(of, dict))
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
        part[LINE] = row.get(LINE, position + 1)
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
        is_list = isinstance(value, list)
        judge = next((name for name in reversed(path) if is_list and names_model(name)), None)
        is_of_name = judge is None and has_name and is_list and names_judge(".".join(path))
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
        rows = _with_chosen(rows)
        children: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        largest: dict[Path, int] = defaultdict(int)
        for row in rows:
            for path, value in row.items():
                if isinstance(value, dict):
                    children[path[:-1]][path[-1]] |= set(value)
                    largest[path] = max(largest[path], len(value))
        if not children:
            break
        alike = {parent: _of_one_form(fields) for parent, fields in children.items()}
        varied = {
            path
            for path, n in largest.items()
            if n > 1 and len(children[path[:-1]][path[-1]]) > 4 * n  # each has names of its own
        }
        rows = [_opened(row, alike, varied) for row in rows]
    return rows


def _with_chosen(rows: list[Row]) -> list[Row]:
    """Return rows with what was chosen in place of {"scale_3": "3"} or {"polite": true}."""
    counts: dict[Path, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in rows:
        for path, value in row.items():
            if isinstance(value, dict):
                pairs = [(str(key), str(of).casefold()) for key, of in value.items()]
                counts[path].update(pairs if len(pairs) < 2 else [("", "-"), ("", "+")])
    keys = {path: {key for key, _ in of} for path, of in counts.items()}
    chosen = {
        path: all(key.casefold().endswith(value) for key, value in of)
        for path, of in counts.items()
        if len(of) == len(keys[path]) > 1 and of.total() > 2 * len(of)
    }
    return [
        {
            p: next(iter(of.values() if chosen[p] else of), None) if p in chosen else of
            for p, of in row.items()
        }
        for row in (rows if chosen else ())
    ] or rows


def _of_one_form(fields: Mapping[str, set[str]]) -> set[str]:
    """Return the names of two or more objects with the same fields."""
    if len(fields) < 2:
        return set()
    forms = list(fields.values())
    form = max(forms, key=lambda of: sum(similarity(of, other) > ALIKE for other in forms))
    alike = {name for name, of in fields.items() if of and similarity(form, of) > ALIKE}
    names = {name for name in alike if not may_be(name, Role.SUMMARY)} if len(alike) > 2 else alike
    if any(map(is_rating_word, names)):  # scores beside human are of nobody by name
        return set()
    return names if len(names) > 1 and form and not form >= _MESSAGE else set()


def similarity(a: set[str], b: set[str]) -> float:
    """Return the share of the fields of two objects that both have."""
    return len(a & b) / max(1, len(a | b))


def _opened(row: Row, alike: Mapping[Path, set[str]], varied: Collection[Path]) -> Row:
    opened: Row = {}
    lists: dict[Path, list[dict[str, Any]]] = {}
    for path, value in row.items():
        if not isinstance(value, dict):
            opened[path] = value
        elif path[-1] in alike.get(path[:-1], ()):
            lists.setdefault((*path[:-1], _EACH), []).append({_KEY: path[-1], **value})
        elif path in varied and not any(isinstance(of, dict | list) for of in value.values()):
            lists[path] = [{_KEY: name, "value": of} for name, of in value.items()]
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
            if other[:-1] == path[:-1] and similarity(of, other_fields) > 0.6
        ]
        if len(same) > 1 and not of >= _MESSAGE and _KEY not in of:
            united = (*path[:-1], "+".join(other[-1] for other in same))
            for row in rows:
                lists = [(path, row.pop(path, None)) for path in same]
                row[united] = [
                    {_KEY: path[-1], **item, _POSITION: f"{path[-1]} {n}"}
                    for path, items in lists
                    for n, item in enumerate(items if isinstance(items, list) else (), start=1)
                    if isinstance(item, dict)
                ]
            return _with_united_lists(rows)
    return rows


def _parallel_lists(rows: Sequence[Row], lists: Sequence[Path]) -> list[list[Path]]:
    """Return lists that are equally long wherever two exist, together; messages are text."""
    lengths, scores, keyed = {}, set[Path](), set[Path]()
    for path in lists:
        values = [value if isinstance(value := row.get(path), list) else None for row in rows]
        first = next(filter(None, values), [None])[0]
        if isinstance(first, int | float):
            scores.add(path)
        # Names in no order, as those of judges beside numbers of people.
        keyed |= {path} if isinstance(first, dict) and _KEY in first else set()
        if not (isinstance(first, dict) and first.keys() >= _MESSAGE):
            lengths[path] = np.array([-1 if value is None else len(value) for value in values])
    groups: dict[Path, list[Path]] = {}
    for path, length in sorted(lengths.items()):
        for other, members in groups.items():
            in_both = (length >= 0) & (lengths[other] >= 0)
            kinds = {who(".".join(path)), who(".".join(other))}
            is_apart = kinds >= {Who.HUMAN, Who.JUDGE} or (path in keyed) != (other in keyed)
            if is_apart or _RUNS in (path, other):
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
        while k < len(path) and (
            (
                who(path[-k - 1]) in says_whose
                and (path[-k].isdigit() or who(path[-k]) not in says_whose)
            )
            or (path[-k] in ("model", "name") and may_be(path[-k - 1], Role.RATER))
        ):
            k += 1
        name = ".".join(path[-k:])
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return names
