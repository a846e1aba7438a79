"""Exports of other tools: their records, the tool that wrote them, and their content."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from shlex import quote

import numpy as np

from eval_assets.errors import InputError
from eval_assets.readers.formats.contents import FORMATS, FileContent, content_of, format_of, loaded
from eval_assets.readers.formats.files import (
    is_working_file,
)
from eval_assets.readers.formats.table import FileTable, plain
from eval_assets.readers.importers import TOOLS
from eval_assets.readers.importers.export_content import (
    IMPORTERS,
    Export,
    Importer,
    ReadRecord,
    Record,
)
from eval_assets.readers.problems import input_error

_PAGES = ("data", "results", "rows", "traces", "scores", "runs", "events", "records", "items")
"""Keys under which a page of an API holds its records."""

_RECORD_KEYS = {"id", "trace_id", "traceId", "name", "input", "output", "run_id"}
"""Keys of records, which a page does not have."""

_OF_RATINGS = re.compile(
    r"(?!m(in|ax)_)(.*_)?(rating|score|label|grade|feedback|assessment|vote)s?"
)
"""Names of fields whose values are probably ratings, and not the ends of a scale."""

_SAMPLE = 20
"""Records from which the tool is recognised."""


def import_files(paths: Sequence[Path], *, source: str | None) -> tuple[str, Export]:
    """Return the tool that wrote the files, recognised unless `source` names it, and their content.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read, or if no tool's form
            is recognised.
    """
    records: list[Record] = []
    problems: list[InputError] = []
    for path in paths:
        try:
            records += read_records(path)
        except InputError as error:
            problems.append(error)
    recognised = [] if problems else recognised_tools(records)
    if source and recognised and not _recognises(source, records):
        message = f"no record has the form of {source}; they look like {recognised[0]}"
        problems.append(input_error(str(paths[0]), message, f"Name {recognised[0]}, or no tool"))
    tools = [] if problems else [source] if source else recognised
    if tools:
        export = import_records(records, tool=tools[0])
        if export.responses:
            return tools[0], export
        notes = "".join(f", and {count:,} {note}" for note, count in export.notes.items())
        message = f"this export of {tools[0]} holds no responses{notes}"
        problems.append(input_error(str(paths[0]), message, "Export what was rated, too"))
    if not problems:
        keys = ", ".join(list(records[0])[:8]) if records else "nothing"
        message = f"no tool's export is recognised in it: its records hold {keys}"
        remedy = (
            f"Name the tool, one of {', '.join(TOOLS)}, or if it is a table of ratings, run "
            f"eval-assets init {quote(str(paths[0]))}"
        )
        problems.append(input_error(str(paths[0]), message, remedy))
    raise ExceptionGroup("the export cannot be imported", problems)


def import_records(records: Iterable[Record], *, tool: str) -> Export:
    """Return the content of a tool's records."""
    read = [ReadRecord(record) for record in records]
    export = Export(n_records=len(read))
    _importer(tool).read(read, export)
    export.split_selections()
    export.add_missing_responses()
    export.unused_fields.update(path for record in read for path in record.unread())
    for path, count in export.unused_fields.items():
        if _OF_RATINGS.fullmatch(plain(path.rsplit(".", 1)[-1])):
            export.losses[f"values of the field {path} may be ratings"] += count
    return export


def recognised_tools(records: Sequence[Record]) -> list[str]:
    """Return the tools that recognise most of the first records."""
    counts = {tool: _recognises(tool, records) for tool in TOOLS}
    most = max(counts.values())
    return [tool for tool, count in counts.items() if count == most and most]


def _recognises(tool: str, records: Sequence[Record]) -> int:
    return sum(map(bool, map(_importer(tool).recognises, records[:_SAMPLE])))


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, or of every file in a folder.

    A JSON file holds a list of records, one record, or a page of an API's records; a log of
    inspect_ai (.eval) is one record.

    Raises:
        InputError: If a file cannot be read, or holds something else.
    """
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()]
        return [
            record
            for file in files
            if format_of(file) in (*FORMATS, ".eval") and not is_working_file(file)
            for record in read_records(file)
        ]
    return records_of_content(content_of(path, file=str(path)))


def records_of_content(content: FileContent, *, n_rows: int | None = None) -> list[Record]:
    """Return the records in the content of a file, of tables only some rows.

    Raises:
        InputError: If a row cannot be read.
    """
    if content.bad_rows:
        raise InputError(content.bad_rows[0])
    if content.document is not None:
        return list(_unpaged(content.document))
    records: list[Record] = []
    for _, table in content.tables:
        if table.bad_rows:
            raise InputError(table.bad_rows[0])
        rows = np.arange(len(table) if n_rows is None else min(n_rows, len(table)))
        records += records_of(table.take(rows))
    return records


def records_of(table: FileTable) -> list[Record]:
    """Return the rows of a table, including objects and lists in its cells."""
    rows = zip(*table.columns.values(), strict=True)
    return [dict(zip(table.columns, map(_parsed_cell, row), strict=True)) for row in rows]


def _importer(tool: str) -> Importer:
    import_module(f"{__package__}.{TOOLS[tool]}")
    return IMPORTERS[tool]


def _unpaged(value: object) -> Iterator[Record]:
    """Yield the records of a list, of a page of records, or the one that the value is."""
    match value:
        case list():
            for item in value:
                yield from _unpaged(item)
        case dict() if not value.keys() & _RECORD_KEYS and (
            key := next((k for k in _PAGES if _is_list_of_records(value.get(k))), None)
        ):
            yield from _unpaged(value[key])
        case dict():
            yield value


def _is_list_of_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _parsed_cell(cell: object) -> object:
    if not isinstance(cell, str) or not cell.lstrip().startswith(("{", "[")):
        return cell
    try:
        return loaded(cell)
    except ValueError:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(cell)  # as pandas writes objects
        return cell
