"""A rubric that is a file: one question a row, with columns that limit it to some responses."""

import json
from pathlib import Path

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.evaluation.validation import Checks
from eval_assets.readers.formats.table import Table, as_text, plain, without_blanks
from eval_assets.readers.formats.tables import read_table

_COLUMNS = {"id": ("question_id", "id"), "question": ("question",), "scale": ("scale",)}
_COLUMNS |= {"level": ("level",), "guidelines": ("guidelines",)}
_KNOWN = {name for names in _COLUMNS.values() for name in names}


def rubric_of_file(checks: Checks, path: Path, *, folder: Path) -> list[object] | None:
    """Return the questions of a file as evaluation.yaml would have them, None if it has none.

    Columns other than question_id, question, scale, level and guidelines name columns of the
    responses: the question is asked of those with the value in the cell; a blank cell is no limit.
    Rows that repeat a question add values.

    Args:
        checks: Problems are noted here, and from now on where in the file a question is.
        path: The file.
        folder: Evaluation folder.
    """
    try:
        table = read_table(path, folder=folder)
    except InputError as error:
        checks.add(error.problem)
        return None
    for problem in table.bad_rows:
        checks.add(problem)
    missing = [names[0] for key, names in list(_COLUMNS.items())[:2] if not table.header_of(*names)]
    if missing:
        what = f"there is no column {' and no column '.join(missing)}"
        checks.add(InputProblem(table.file, 1, None, what, "Add it for every row"))
        return None
    limits = [header for header in table.columns if plain(header) not in _KNOWN]
    questions: dict[object, dict[str, object]] = {}
    for row, line in enumerate(table.lines):
        entry = _entry(table, row)
        applies_to = {
            header: values for header in limits if (values := _values(table.columns[header][row]))
        }
        known = questions.get(entry.get("id"))
        if known is None:
            checks.locate(("rubric", len(questions)), file=table.file, line=line)
            questions[entry.get("id")] = entry | ({"applies_to": applies_to} if applies_to else {})
        elif not _add_values(known, entry, applies_to):
            what = "the question is repeated with another text, scale or limit"
            checks.add(InputProblem(table.file, line, "question_id", what, "Keep one of the rows"))
    if not questions:
        what = "the rubric has no questions"
        checks.add(InputProblem(table.file, 1, None, what, "Add a row for each"))
        return None
    return list(questions.values())


def _entry(table: Table, row: int) -> dict[str, object]:
    """Return what a row declares, without its limits."""
    entry = {key: table.cells(*names)[row] for key, names in _COLUMNS.items()}
    given = {key: _parsed(cell) for key, cell in entry.items()}
    return {key: cell for key, cell in given.items() if cell is not None}


def _parsed(cell: object) -> object:
    """Return the text of a cell without blanks around it, or the object that it is."""
    text = without_blanks(cell) if isinstance(cell, str) else cell
    if isinstance(text, str) and text.startswith("{"):
        try:
            parsed: object = json.loads(text)
        except ValueError:
            return text
        return parsed
    return text


def _values(cell: object) -> list[str]:
    """Return the values that a cell names: one, or a list of them in JSON."""
    cells = cell if isinstance(cell, list) else [cell]
    return [text for each in cells if (text := without_blanks(as_text(each))) is not None]


def _add_values(
    known: dict[str, object], entry: dict[str, object], applies_to: dict[str, list[str]]
) -> bool:
    """Add the limits of a row to those of its question; False if it says something else."""
    limits = known.get("applies_to")
    rest = {key: value for key, value in known.items() if key != "applies_to"}
    if rest != entry or not isinstance(limits, dict) or limits.keys() != applies_to.keys():
        return False
    differing = [column for column, values in applies_to.items() if limits[column] != values]
    if len(differing) != 1:
        return False
    limits[differing[0]] = list(dict.fromkeys([*limits[differing[0]], *applies_to[differing[0]]]))
    return True
