"""Updates of an evaluation folder from a running tool, of which everything is read each time.

The tables that were written before say what is new. They are the only record of the last time.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_assets.readers.drafts import (
    JUDGE_SCORES,
    draft_evaluation,
    export_tables,
    recorded_judges,
    write_files,
)
from eval_assets.readers.evaluation.read import FILE, read_evaluation
from eval_assets.readers.importers.export_content import Export

_Rows = dict[tuple[str, ...], dict[str, str]]
"""Cells of each row by its column, by the ids that the row is of."""

_MOST_NAMES = 5


@dataclass(frozen=True)
class ToolFiles:
    """The files of an evaluation folder that one project of a tool fills.

    Args:
        folder: The evaluation folder.
        tool: Name of the tool.
        project: Name of the project; None if the tool's keys say which it is.
    """

    folder: Path
    tool: str
    project: str | None

    def name(self, table: str) -> str:
        """Return the path of the file that has the rows of a table, within the folder."""
        project = re.sub(r"[^\w.-]+", "-", self.project or "").strip("-")
        return f"{table.removesuffix('.csv')}/{'-'.join(filter(None, (self.tool, project)))}.csv"

    def rows(self, table: str) -> _Rows:
        """Return the rows of a table as they are now; none if there is no file."""
        path = self.folder / self.name(table)
        text = path.read_text("utf-8") if path.exists() else ""
        return _by_ids([tuple(row) for row in csv.reader(io.StringIO(text, newline=""))])

    def known_responses(self) -> set[str]:
        """Return the responses whose texts are stored."""
        rows = self.rows("responses.csv")
        return {key[0] for key, cells in rows.items() if cells.get("response_text")}


def update_folder(
    export: Export, files: ToolFiles, *, drops_deleted: bool
) -> tuple[list[Path], list[str]]:
    """Bring the files of a tool up to date, and draft evaluation.yaml if there is none.

    Args:
        export: Everything that the tool holds now; texts that are stored already may be missing.
        files: Where it is stored.
        drops_deleted: Whether to remove what the tool no longer holds.

    Returns:
        The files written, and a line on each file's changes and on what evaluation.yaml lacks.

    Raises:
        InputError: If a file cannot be written, or evaluation.yaml cannot be read.
    """
    contents: dict[str, str | list[tuple[str, ...]]] = {}
    lines = []
    for table, exported in export_tables(export).items():
        before, now = files.rows(table), _by_ids(exported)
        merged = {} if drops_deleted else dict(before)
        merged |= {key: _filled(cells, before.get(key, {})) for key, cells in now.items()}
        lines += _changes(files, table, before, merged, deleted=before.keys() - now.keys())
        if merged != before:
            contents[files.name(table)] = _as_rows(exported[0], merged)
    if not (files.folder / FILE).exists():
        scores = files.name(JUDGE_SCORES)
        name = files.folder.resolve().name
        contents[FILE] = draft_evaluation(export, name=name, tool=files.tool, scores=scores)
    written = write_files(files.folder, contents)
    return written, [*lines, *_missing_declarations(export, files)]


def _by_ids(rows: Sequence[tuple[str, ...]]) -> _Rows:
    """Return rows with a header first by their ids: of the response, or also question and rater."""
    if not rows:
        return {}
    header, *rest = rows
    n_ids = 3 if "question_id" in header else 1
    return {row[:n_ids]: dict(zip(header, row, strict=False)) for row in rest}


def _filled(cells: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of a row; those of a response that are empty keep their content."""
    is_response = "response_text" in cells
    kept = before if is_response and not cells["response_text"] else {}
    return {**cells, **{column: cell for column, cell in kept.items() if cell}}


def _as_rows(header: Sequence[str], rows: _Rows) -> list[tuple[str, ...]]:
    columns = tuple(dict.fromkeys([*header, *(name for cells in rows.values() for name in cells)]))
    cells = (tuple(of.get(column, "") for column in columns) for of in rows.values())
    return [columns, *cells]


def _changes(
    files: ToolFiles, table: str, before: _Rows, now: _Rows, *, deleted: set[tuple[str, ...]]
) -> list[str]:
    n_changed = sum(key in before and before[key] != now[key] for key in now)
    counts = {"new": len(now.keys() - before.keys()), "changed": n_changed}
    words = [f"{count:,} {word}" for word, count in counts.items() if count]
    if deleted:
        kept = "kept here" if deleted <= now.keys() else "removed"
        names = [" ".join(key) for key in sorted(deleted)]
        more = ", ..." if len(names) > _MOST_NAMES else ""
        listed = ", ".join(names[:_MOST_NAMES])
        words.append(f"{len(deleted):,} deleted in {files.tool} and {kept} ({listed}{more})")
    if not (before or now):
        return []
    return [f"{files.name(table)}: {', '.join(words) or 'nothing new'}"]


def _missing_declarations(export: Export, files: ToolFiles) -> list[str]:
    """Return a line on each file, question and judge that evaluation.yaml does not declare."""
    evaluation = read_evaluation(files.folder)
    declared = {"responses": evaluation.responses, "labels": evaluation.labels.files}
    lines = [
        f"{FILE}: add {files.name(key)} to {key}"
        for key, paths in declared.items()
        if files.rows(f"{key}.csv") and (files.folder / files.name(key)) not in paths
    ]
    known = {question.id for question in evaluation.rubric}
    lines += [f"{FILE}: add {name} to the rubric" for name in export.questions if name not in known]
    scores = files.name(JUDGE_SCORES)
    models = {of.model for of in evaluation.judges if of.scores == files.folder / scores}
    for judge in recorded_judges(
        (name, scores) for name in dict.fromkeys(key[2] for key in export.scores)
    ):
        if judge["model"] not in models:
            fields = ", ".join(f"{key}: {value}" for key, value in judge.items())
            lines.append(f"{FILE}: add {{{fields}}} to judges")
    return lines
