"""Exports of other tools: which tool wrote them, and what they hold."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.importers import TOOLS
from eval_assets.readers.importers.imported import Imported, Record
from eval_assets.readers.importers.records import read_records


class Source(Protocol):
    """A module that reads the export of one tool."""

    def recognises(self, record: Record, /) -> bool:
        """Return whether a record may be of this tool."""

    def read(self, records: Iterable[Record], into: Imported, /) -> None:
        """Add what the records hold."""


def importer(tool: str) -> Source:
    """Return the module that reads a tool's export."""
    module: Source = import_module(f"eval_assets.readers.importers.{tool.replace('-', '_')}")
    return module


def import_files(paths: Sequence[Path], *, source: str | None) -> tuple[str, Imported]:
    """Return the tool that wrote the files, and what they hold.

    Args:
        paths: Files or folders of one tool.
        source: Name of the tool; None to recognise it.

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
    if not problems:
        found = [source] if source else recognised(records)
        if found:
            imported = import_records(records, source=found[0])
            if imported.responses:
                return found[0], imported
        problems.append(InputError(_not_recognised(paths, records)))
    raise ExceptionGroup("the export cannot be imported", problems)


def import_records(records: Iterable[Record], *, source: str) -> Imported:
    """Return what the records of a tool hold."""
    into = Imported()
    importer(source).read(records, into)
    into.complete()
    return into


def recognised(records: Iterable[Record]) -> list[str]:
    """Return the tools whose records these may be: those that recognise most of the first."""
    first = list(records)[:20]
    counts = {tool: sum(map(bool, map(importer(tool).recognises, first))) for tool in TOOLS}
    most = max(counts.values())
    return [name for name, count in counts.items() if count == most and most]


def _not_recognised(paths: Sequence[Path], records: Sequence[Record]) -> InputProblem:
    keys = ", ".join(list(records[0])[:8]) if records else "nothing"
    what = f"no tool's export is recognised in it: its records hold {keys}"
    remedy = f"Name the tool, one of {', '.join(TOOLS)}, or bring a table of ratings"
    return InputProblem(str(paths[0]), None, None, what, remedy)
