"""JSON and JSON lines: rows of JSON values, each with its line or its place in the list."""

import json
import re
from dataclasses import replace
from typing import Any

from eval_assets.errors import InputProblem
from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.table import FileTable

_REMEDY = "Write a list of objects, one a row"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json_lines(text: str, *, file: str) -> FileTable:
    r"""Return one row for each line with a JSON object; other lines are set aside in `bad_rows`.

    Examples:
        >>> table = parse_json_lines('{"a": 1}\n\n{"b": null}\n{', file="x.jsonl")
        >>> table.columns, table.lines
        ({'a': [1, None], 'b': [None, None]}, [1, 3])
        >>> print(table.bad_rows[0])  # doctest: +ELLIPSIS
        x.jsonl:4: the line is not JSON (Expecting property name ...). Write one JSON object a line.
    """
    rows: dict[int, dict[str, object]] = {}
    messages: dict[int, str] = {}
    # JSON allows U+2028 and its like inside text, at which `splitlines` would break the line.
    for line, row_text in enumerate(text.split("\n"), start=1):
        if not row_text.strip():
            continue
        try:
            row = loaded(row_text)
        except ValueError as error:
            messages[line] = f"the line is not JSON ({error})"
            continue
        if isinstance(row, dict):
            rows[line] = row
        else:
            messages[line] = f"the line is {_kind(row)}, not an object"
    bad_rows = [
        InputProblem(file, line, None, message, "Write one JSON object a line")
        for line, message in messages.items()
    ]
    return replace(_table(file, list(rows.values()), list(rows)), bad_rows=tuple(bad_rows))


def parse_json(text: str, *, file: str) -> FileTable:
    """Return the objects in a JSON list, or a single object as one row; lines are list positions.

    Raises:
        InputError: If the text is not JSON, or holds anything but objects.

    Examples:
        >>> parse_json('[{"a": 1}, {"a": 2}]', file="x.json").columns
        {'a': [1, 2]}
    """
    try:
        document = loaded(text)
    except json.JSONDecodeError as error:
        message, remedy = f"the file is not JSON ({error.msg})", "Fix it, or export it again"
        raise input_error(file, message, remedy, line=error.lineno) from error
    except ValueError as error:
        raise input_error(file, f"the file is not usable JSON ({error})", _REMEDY) from error
    rows = document if isinstance(document, list) else [document]
    for position, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            line = position if rows is document else None
            raise input_error(file, f"this is {_kind(row)}, not an object", _REMEDY, line=line)
    return _table(file, rows, list(range(1, len(rows) + 1)))


def loaded(text: str) -> object:
    """Return the JSON value; RecursionError becomes ValueError, as nothing we read is that deep."""
    try:
        value: object = json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _ESCAPED_SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])[1:-1]
            raise ValueError(f"{half} is half a character") from error
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; Python would silently keep the last of two equal keys."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'key "{next(key for key in keys if keys.count(key) > 1)}" is repeated')
    return row


def _table(file: str, rows: list[Any], lines: list[int]) -> FileTable:
    headers = dict.fromkeys(key for row in rows for key in row)
    return FileTable.of(
        file, {header: [row.get(header) for row in rows] for header in headers}, lines
    )


def _kind(value: object) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "text"
        case bool() | None:
            return "true, false or null"
        case _:
            return "a number"
