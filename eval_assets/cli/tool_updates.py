"""Updates of an evaluation folder from a running tool, of which everything is read each time.

The tables that were written before say what is new. They are the only record of the last time.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from eval_assets.cli.evaluation_drafts import (
    JUDGE_SCORES,
    export_evaluation,
    export_tables,
    recorded_judges,
    write_files,
)
from eval_assets.config.evaluation import FILE
from eval_assets.errors import InputProblem, gathered, raise_all
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.evaluation.validation import read_yaml
from eval_assets.readers.formats.contents import read_table
from eval_assets.readers.formats.files import read_text
from eval_assets.readers.formats.table import FileTable
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.problems import input_error

_Rows = dict[tuple[str, ...], dict[str, str]]
"""Cells of each row by its column, by the ids that the row is of."""

_IDS = {
    "responses.csv": ("response_id",),
    "labels.csv": ("response_id", "question_id", "rater_id"),
    JUDGE_SCORES: ("response_id", "question_id", "judge_model"),
}
"""Columns that say of what a row of each table is."""

_RATINGS = ("rating", "score")
_DECIMAL_COMMA = re.compile(r"(-?[0-9]+),([0-9]+)")
_MOST_NAMES = 5
_HASH_LENGTH = 8


@dataclass(frozen=True)
class ToolFiles:
    """The files of an evaluation folder that one project of a tool fills.

    `project` is None if the tool's keys say which it is.
    """

    folder: Path
    tool: str
    server: str
    project: str | None

    def name(self, table: str) -> str:
        """Return the path of the file that has the rows of a table, within the folder."""
        project = re.sub(r"[^\w.-]+", "-", self.project or "").strip("-")
        # Different projects may be spelled alike, or have one name on two servers.
        source = f"{self.server.rstrip('/')}\n{self.project or ''}"
        parts = (self.tool, project, sha256(source.encode()).hexdigest()[:_HASH_LENGTH])
        return f"{table.removesuffix('.csv')}/{'-'.join(filter(None, parts))}.csv"

    def rows(self, table: str) -> _Rows:
        """Return the rows of a table as they are now; none if there is no file.

        Raises:
            InputError: If the file cannot be read, or does not say of what its rows are.
            ExceptionGroup: Of an InputError for each row that cannot be read.
        """
        path = self.folder / self.name(table)
        return _by_ids(read_table(path, folder=self.folder), _IDS[table]) if path.exists() else {}

    def check(self) -> None:
        """Check that all that is updated can be read.

        Raises:
            ExceptionGroup: Of an InputError for each place at which it cannot.
        """
        problems: list[InputProblem] = []
        for table in _IDS:
            with gathered(problems):
                self.rows(table)
        if (self.folder / FILE).exists():
            with gathered(problems):
                # The files that it names may be those that are written now.
                read_yaml(read_text(self.folder / FILE, file=FILE), file=FILE)
        raise_all(problems, source=str(self.folder))

    def known_responses(self) -> set[str]:
        """Return the responses whose texts are stored."""
        rows = self.rows("responses.csv")
        return {key[0] for key, cells in rows.items() if cells.get("response_text")}


def update_folder(
    export: Export, files: ToolFiles, *, drops_deleted: bool
) -> tuple[list[Path], list[str]]:
    """Bring the files of a tool up to date, and draft evaluation.yaml if there is none.

    The export holds everything that the tool holds now, but texts that are stored already. Nothing
    is written if it holds no responses. With `drops_deleted`, all that is gone there is removed.

    Returns:
        The files written, and a line on each file's changes and on what evaluation.yaml lacks.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read; nothing is written.
        InputError: If a file cannot be written.
    """
    files.check()
    drops_deleted = drops_deleted and bool(export.responses)
    contents: dict[str, str | list[tuple[str, ...]]] = {}
    lines = []
    for table, exported in export_tables(export).items():
        before, now = files.rows(table), _exported_rows(exported, _IDS[table])
        merged = {} if drops_deleted else dict(before)
        merged |= {key: _filled(cells, before.get(key, {})) for key, cells in now.items()}
        lines += _changes(files, table, before, merged, deleted=before.keys() - now.keys())
        if merged != before:
            contents[files.name(table)] = _as_rows(exported[0], merged)
    if not export.responses:
        return [], lines
    if not (files.folder / FILE).exists():
        scores = files.name(JUDGE_SCORES)
        name = files.folder.resolve().name
        contents[FILE], notes = export_evaluation(export, name=name, tool=files.tool, scores=scores)
        lines += notes
    written = write_files(files.folder, contents)
    return written, [*lines, *_missing_declarations(export, files)]


def _exported_rows(rows: Sequence[tuple[str, ...]], ids: Sequence[str]) -> _Rows:
    header, *rest = rows
    cells = (dict(zip(header, row, strict=True)) for row in rest)
    return {tuple(of[name] for name in ids): of for of in cells}


def _by_ids(table: FileTable, ids: Sequence[str]) -> _Rows:
    """Return the rows of a file by their ids, with all its columns in their order."""
    raise_all(list(table.bad_rows), source=table.file)
    missing = [name for name in ids if not table.has(name)]
    if missing:
        message = f"there is no column {', '.join(missing)}"
        raise input_error(table.file, message, "Name it again, or move the file away")
    names = {table.header_of(name): name for name in ids}
    columns = {
        names.get(header, header): [_with_point(cell) for cell in cells]
        if header in _RATINGS
        else cells
        for header, cells in table.columns.items()
    }
    cells = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    rows = {tuple(of[name] for name in ids): of for of in cells}
    if len(rows) < len(table):
        message = f"rows have the same {', '.join(ids)}"
        raise input_error(table.file, message, "Remove those that do not count")
    return rows


def _with_point(cell: str) -> str:
    """Return a number that has a decimal comma with a point; any other cell as it is."""
    return _DECIMAL_COMMA.sub(r"\1.\2", cell) if _DECIMAL_COMMA.fullmatch(cell) else cell


def _filled(cells: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of a row; cells without content in the tool are unchanged."""
    is_known = cells.get("response_text") == ""  # its text was not fetched, nor its model
    cells_before = {
        name: cell for name, cell in before.items() if cell and (is_known or not cells.get(name))
    }
    return {**before, **cells, **cells_before}


def _as_rows(header: Sequence[str], rows: _Rows) -> list[tuple[str, ...]]:
    columns = tuple(dict.fromkeys([*(name for cells in rows.values() for name in cells), *header]))
    cells = (tuple(of.get(column, "") for column in columns) for of in rows.values())
    return [columns, *cells]


def _changes(
    files: ToolFiles, table: str, before: _Rows, now: _Rows, *, deleted: set[tuple[str, ...]]
) -> list[str]:
    n_changed = sum(key in before and before[key] != now[key] for key in now)
    counts = {"new": len(now.keys() - before.keys()), "changed": n_changed}
    words = [f"{count:,} {word}" for word, count in counts.items() if count]
    if deleted:
        outcome = "kept here" if deleted <= now.keys() else "removed"
        names = [" ".join(key) for key in sorted(deleted)]
        more = ", ..." if len(names) > _MOST_NAMES else ""
        listed = ", ".join(names[:_MOST_NAMES])
        words.append(f"{len(deleted):,} deleted in {files.tool} and {outcome} ({listed}{more})")
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
    known_ids = {question.id for question in evaluation.rubric}
    lines += [
        f"{FILE}: add {name} to the rubric" for name in export.questions if name not in known_ids
    ]
    scores = files.name(JUDGE_SCORES)
    models = {of.model for of in evaluation.judges if of.scores == files.folder / scores}
    for judge in recorded_judges(
        (name, scores) for name in dict.fromkeys(key[2] for key in export.scores)
    ):
        if judge["model"] not in models:
            fields = ", ".join(f"{key}: {value}" for key, value in judge.items())
            lines.append(f"{FILE}: add {{{fields}}} to judges")
    return lines
