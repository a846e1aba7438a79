"""Exports of other tools: their records, the tool that wrote them, and their content."""

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from shlex import quote

from eval_assets.errors import InputError, InputProblem, gathered, raise_all
from eval_assets.readers.columns import CodedColumn, CodedTable
from eval_assets.readers.formats.contents import FileContent, content_of, loaded
from eval_assets.readers.formats.table import FileColumn, plain
from eval_assets.readers.importers import TOOLS
from eval_assets.readers.importers.export_content import IMPORTERS, Export, ReadRecord, Record
from eval_assets.readers.readings.table_reading import RatedColumn, Reading, refused
from eval_assets.readers.sources import files_in
from eval_assets.wording import counted

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


def import_files(paths: Sequence[Path]) -> Export:
    """Return the content of files or folders that a tool wrote, which their records tell.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read, or if no tool's form
            is recognised.
    """
    records: list[Record] = []
    problems: list[InputProblem] = []
    for path in files_in(paths):
        with gathered(problems):
            records += _records_of(content_of(path, file=str(path)))
    raise_all(problems, source="the export")
    tool = _tool_of(records)
    if tool is None:
        keys = ", ".join(list(records[0])[:8]) if records else "nothing"
        message = f"no tool's export is recognised in it: its records hold {keys}"
        remedy = f"If it is a table of ratings, run eval-assets init {quote(str(paths[0]))}"
        raise refused(str(paths[0]), message, remedy)
    export = _import_records(records, tool)
    if not export.responses:
        notes = "".join(f", and {count:,} {note}" for note, count in export.notes.items())
        message = f"this export of {tool} holds no responses{notes}"
        raise refused(str(paths[0]), message, "Export what was rated, too")
    return export


def tool_of(content: FileContent) -> str | None:
    """Return the tool that wrote a file, by the form of its first records; None if it is none's."""
    return _tool_of(_records_of(content, n_rows=_SAMPLE))


def export_of(contents: Sequence[FileContent], tool: str) -> Export:
    """Return what files of one tool hold together.

    Raises:
        ExceptionGroup: Of an InputError, if they hold no ratings and no scores.
    """
    export = _import_records([of for content in contents for of in _records_of(content)], tool)
    if export.ratings or export.scores:
        return export
    n_responses = counted(len(export.responses), "response")
    message = f"this export of {tool} holds {n_responses}, but no ratings and no scores"
    message += "".join(f"; {n:,} {loss}" for loss, n in export.losses.items())
    remedy = "Export the ratings, too, or make a folder in which raters label the responses"
    raise refused(contents[0].file, message, remedy)


def readings_of_export(export: Export, *, file: str) -> list[Reading]:
    """Return the ratings of people and the scores of judges as readings."""
    ratings = [(*key, value, time) for key, (value, time) in export.ratings.items()]
    scores = [(*key, value, "") for key, (value, _) in export.scores.items() if value]
    readings = []
    for rows, is_judge in ((ratings, False), (scores, True)):
        if not rows:
            continue
        names = ("item", "question", "judge" if is_judge else "rater", "rating", "time")
        items, questions, raters, values, times = columns = [
            CodedColumn.of(name, cells)
            for name, cells in zip(names, zip(*rows, strict=True), strict=True)
        ]
        reading = Reading(
            table=CodedTable(columns, FileColumn.repeat(file, len(rows)), range(1, len(rows) + 1)),
            items=[items],
            rated=[RatedColumn(values)],
            rater=raters,
            question=questions,
            time=times,
            judges_only=is_judge,
            people_only=not is_judge,
        )
        readings.append(reading)
    return readings


def _import_records(records: Sequence[Record], tool: str) -> Export:
    read = [ReadRecord(record) for record in records]
    export = Export(tool, n_records=len(read))
    IMPORTERS[tool].read(read, export)
    export.split_selections()
    for response_id, _, _ in (*export.ratings, *export.scores):
        if response_id not in export.responses:
            export.notes["responses are rated, but the export does not hold their texts"] += 1
            export.add_response(response_id)
    export.unused_fields.update(path for record in read for path in record.unread())
    for path, count in export.unused_fields.items():
        if _OF_RATINGS.fullmatch(plain(path.rsplit(".", 1)[-1])):
            export.losses[f"values of the field {path} may be ratings"] += count
    return export


def _tool_of(records: Sequence[Record]) -> str | None:
    """Return the tool that recognises most of the first records; None if none does."""
    for module in set(TOOLS.values()):
        import_module(f"{__package__}.{module}")
    counts = {
        tool: sum(bool(IMPORTERS[tool].recognises(record)) for record in records[:_SAMPLE])
        for tool in TOOLS
    }
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else None


def _records_of(content: FileContent, *, n_rows: int | None = None) -> list[Record]:
    """Return the records of a list, a page of an API or a log, or the first rows of tables."""
    for problem in (*content.bad_rows, *(of for _, t in content.tables for of in t.bad_rows)):
        raise InputError(problem)
    if content.document is not None:
        return list(_unpaged(content.document))
    records: list[Record] = []
    for _, table in content.tables:
        columns = [islice(column, n_rows) for column in table.columns.values()]
        records += [
            dict(zip(table.columns, map(_parsed_cell, row), strict=True))
            for row in zip(*columns, strict=True)
        ]
    return records


def _unpaged(value: object) -> Iterator[Record]:
    """Yield the records of a list, of a page of records, or the one that the value is."""
    match value:
        case list():
            for item in value:
                yield from _unpaged(item)
        case dict() if not value.keys() & _RECORD_KEYS and (
            pages := [
                page
                for key in _PAGES
                if isinstance(page := value.get(key), list)
                and page
                and all(isinstance(record, dict) for record in page)
            ]
        ):
            yield from _unpaged(pages[0])
        case dict():
            yield value


def _parsed_cell(cell: object) -> object:
    if not isinstance(cell, str) or not cell.lstrip().startswith(("{", "[")):
        return cell
    with suppress(ValueError):
        return loaded(cell)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(cell)  # as pandas writes objects
    return cell
