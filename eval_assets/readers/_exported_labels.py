"""Labels in another tool's export, read without making an evaluation folder of it."""

from collections.abc import Sequence
from pathlib import Path

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.formats.files import named
from eval_assets.readers.formats.tables import format_of
from eval_assets.readers.importers.export_content import Export, Record
from eval_assets.readers.importers.tool_exports import (
    import_records,
    read_records,
    recognised_tools,
)
from eval_assets.readers.labels.parsed_labels import GivenLabels, labels_one_by_one

_NESTED = (".json", ".jsonl", ".ndjson", ".parquet", ".eval")
_ANY_ROWS = "hugging-face"
"""The tool whose rows are hard to tell from a plain table."""


def exported_labels(path: Path, *, plain_rows: bool) -> GivenLabels | None:
    """Return the labels in a file that another tool exported, None if it is not such a file.

    Args:
        path: The file.
        plain_rows: Whether rows count that could as well be those of a table without a tool.

    Raises:
        InputError: If it is an export in which no person rated anything.
    """
    if format_of(path) not in _NESTED:
        return None
    try:
        records = read_records(path)
    except InputError:
        if format_of(path) == ".eval":
            raise
        return None
    tools = [tool for tool in recognised_tools(records) if (tool == _ANY_ROWS) == plain_rows]
    return _labels(tools[0], records, file=named(path, folder=path.parent)) if tools else None


def _labels(tool: str, records: Sequence[Record], *, file: str) -> GivenLabels:
    """Return the ratings by people in an export."""
    export = import_records(records, tool=tool)
    if not export.ratings:
        raise InputError(InputProblem(file, None, None, *_no_ratings(tool, export, file)))
    labels = [
        (place, "rating", {"response_id": response, "question_id": question, "rater_id": rater,
                           "rating": rating})
        for place, ((response, question, rater), (rating, _)) in enumerate(
            export.ratings.items(), start=1
        )
    ]  # fmt: skip
    notes = [
        f"read as an export of {tool}",
        *(f"not understood: {count:,} {what}" for what, count in export.notes.items()),
    ]
    headers = {"response_id": "response_id", "question_id": "question_id"}
    return labels_one_by_one(file, labels, [], headers=headers, notes=notes)


def _no_ratings(tool: str, export: Export, file: str) -> tuple[str, str]:
    """Return what an export holds instead of ratings, and what to do with it."""
    what = (
        f"this export of {tool} holds {len(export.responses):,} responses and "
        f"{len(export.scores):,} scores by judges, but no ratings by people"
    )
    remedy = f"Run eval-assets import {file} --data FOLDER, and have people label the responses"
    return what, remedy
