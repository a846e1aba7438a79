"""A file of ratings by itself, without a rubric: what it rates, by whom and on which scale."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem
from eval_assets.readers._cells import is_absent, read_ratings
from eval_assets.readers._crosses import crosses_read
from eval_assets.readers._exported_labels import exported_labels
from eval_assets.readers._guessed_scales import likely_scale
from eval_assets.readers._problems import shown
from eval_assets.readers._written_ratings import Tops, in_numbers
from eval_assets.readers.formats.table import Table, plain
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.parsed_labels import FIELDS, GivenLabels
from eval_assets.readers.labels.read import Labels, labels_of_files
from eval_assets.readers.labels.validation import checked_labels
from eval_assets.readers.labels.wide import SUMMARIES
from eval_assets.readers.labels.without_rubric import item_header, labels_without_rubric
from eval_assets.readers.references import Units
from eval_assets.scale import Level, Scale


def read_ratings_file(
    path: Path, *, scale: Scale | None, level: Level | None
) -> tuple[Evaluation, Labels]:
    """Return the labels of a file in any form, long or wide, and the evaluation that they imply.

    Args:
        path: The file.
        scale: Scale of all questions; None to guess each from its ratings.
        level: Level of measurement of all questions; None for the scale's own.

    Returns:
        An evaluation whose rubric has a question for each that is rated, and the labels, whose
        notes say how the file was read as far as that was guessed.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or for the file if it leaves open who
            rated what, or on which scale.
    """
    try:
        given, tops = _labels_of_any_file(path, scale)
        given = _without_placeholders(given)
        rubric, notes = _rubric(given, tops, scale=scale, level=level)
    except InputError as error:
        raise ExceptionGroup(f"{path.name} cannot be used", [error]) from error
    evaluation = Evaluation(path.stem, path.parent, rubric)
    checked = checked_labels(given, evaluation, _units(given, rubric), ignored=frozenset())
    labels = labels_of_files(
        [checked], unusable=[], rejects_rows=False, notes=(*given.table.notes, *notes)
    )
    return evaluation, labels


def _labels_of_any_file(path: Path, scale: Scale | None) -> tuple[GivenLabels, Tops]:
    """Return the labels of a table, or of another tool's export, and the tops of their scales."""
    exported = exported_labels(path, plain_rows=False)
    if exported is not None:
        return exported, {}
    table = read_table(path, folder=path.parent)
    try:
        table, tops_of_columns = crosses_read(_without_summary_rows(table))
        table, tops = in_numbers(table)
        return labels_without_rubric(table, scale), {**tops_of_columns, **tops}
    except InputError:
        rows = exported_labels(path, plain_rows=True)
        if rows is None:
            raise
        return rows, {}


def _without_summary_rows(table: Table) -> Table:
    """Return the table without totals and means in its last rows, and a note on them."""
    header = item_header(table) or next(iter(table.columns), None)
    items = [plain(item or "") for item in table.stripped(header)] if header else []
    n_kept = len(items)
    while n_kept and items[n_kept - 1] in SUMMARIES:
        n_kept -= 1
    if n_kept == len(items):
        return table
    lines = ", ".join(map(str, table.lines[n_kept:]))
    return replace(
        table,
        columns={name: cells[:n_kept] for name, cells in table.columns.items()},
        lines=table.lines[:n_kept],
        notes=(*table.notes, f"line {lines} not read: it sums up the others"),
    )


def _without_placeholders(given: GivenLabels) -> GivenLabels:
    """Return the labels with cells such as N/A blank, and a note on how many there were."""
    header = given.table.header_of(*FIELDS["rating"])
    if header is None:
        return given
    cells = given.table.columns[header]
    absent = [isinstance(cell, str) and is_absent(cell) for cell in cells]
    if not any(absent):
        return given
    words = sorted(
        {shown(str(cell)) for cell, is_gone in zip(cells, absent, strict=True) if is_gone}
    )
    note = f"{sum(absent)} cells with {', '.join(words)} read as not rated"
    blanked = ["" if is_gone else cell for cell, is_gone in zip(cells, absent, strict=True)]
    table = replace(
        given.table,
        columns={**given.table.columns, header: blanked},
        notes=(*given.table.notes, note),
    )
    return replace(given, table=table)


def _units(given: GivenLabels, rubric: Sequence[RubricQuestion]) -> Units:
    """Return every item with every question."""
    items = list(dict.fromkeys(str(item) for item in given.units.responses if item is not None))
    return Units(
        response_ids=items,
        question_ids=[question.id for question in rubric],
        asked=np.ones((len(items), len(rubric)), dtype=bool),
        table=pd.DataFrame(),
    )


def _rubric(
    given: GivenLabels, tops: Tops, *, scale: Scale | None, level: Level | None
) -> tuple[tuple[RubricQuestion, ...], list[str]]:
    """Return the questions that are rated, and a note if their scales are guessed."""
    headers = given.headers["rating"]
    by_row = [headers] * len(given.table) if isinstance(headers, str) else headers
    top_of = np.array([tops.get(header, np.nan) for header in by_row])
    ratings = read_ratings(given.text("rating"), has_decimal_commas=given.table.has_decimal_commas)
    names = np.array([name or "" for name in given.units.questions], dtype=object)
    rubric = []
    for name in dict.fromkeys(filter(None, names.tolist())):
        here = names == name
        tops_here = sorted({top for top in top_of[here].tolist() if not np.isnan(top)})
        if len(tops_here) > 1:
            what = f"some ratings are of {tops_here[0]:g}, others of {tops_here[-1]:g}"
            remedy = "Bring them to one scale"
            raise InputError(InputProblem(given.table.file, 1, name, what, remedy))
        on = scale
        if on is None:
            top = max(tops_here, default=np.nan)
            on = likely_scale(ratings, here, file=given.table.file, level=level, top=top)
        rubric.append(
            RubricQuestion(name, name, on, level or on.default_level(), scale_guessed=scale is None)
        )
    if not rubric:
        what, remedy = "there are no ratings", "Add some, one a row or a column for each rater"
        raise InputError(InputProblem(given.table.file, 1, None, what, remedy))
    guessed: dict[str, list[str]] = {}
    for question in rubric:
        if question.scale_guessed:
            guessed.setdefault(question.scale.described(), []).append(question.id)
    scales = "; ".join(f"{values} ({', '.join(ids)})" for values, ids in guessed.items())
    note = f"scale guessed from the ratings: {scales}. Pass --scale if that is wrong"
    return tuple(rubric), [note] if guessed else []
