"""Drafts of the files that an evaluation folder lacks, from those that it holds."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from eval_assets.errors import InputError
from eval_assets.readers._cells import read_ratings
from eval_assets.readers.drafting import (
    EXAMPLE_QUESTION,
    Content,
    as_yaml,
    drafted_scale,
    recorded_judges,
    write_files,
)
from eval_assets.readers.evaluation.input_files import found_files
from eval_assets.readers.evaluation.read import FILE
from eval_assets.readers.formats.files import is_working_file, named
from eval_assets.readers.formats.table import Table
from eval_assets.readers.formats.tables import FORMATS, format_of, read_table
from eval_assets.readers.labels.parsed_labels import FIELDS
from eval_assets.readers.labels.wide import rating_columns
from eval_assets.readers.labels.without_rubric import labels_without_rubric
from eval_assets.readers.references import MODEL_NAME, RESPONSE_ID, has_references

Kind = Literal["responses", "labels", "scores"]

_HEAD = """\
# Drafted from the files of this folder. Read the rubric before you trust a figure: write the
# questions as raters were asked, and the scale as it was, which ratings alone do not show.

"""
_FOUR_POINTS = {"min": 1, "max": 4}
"""Scale of sheets by indicator and conversation, on which 5 is never given."""

_MOST_INDICATORS = 40


@dataclass
class _Found:
    """Files of a folder by what they hold.

    Args:
        tables: Tables by kind, in the order of their names.
        others: Files that hold nothing of an evaluation, or cannot be read, with the reason.
    """

    tables: dict[Kind, list[Table]] = field(default_factory=lambda: defaultdict(list))
    others: list[str] = field(default_factory=list)


def complete_folder(folder: Path) -> tuple[list[Path], list[str]] | None:
    """Write what an evaluation folder with data lacks; no file that exists is touched.

    evaluation.yaml declares the files that were found, and a rubric that fits their ratings.
    Without responses, one without text is written for each that is rated; without labels, an
    empty table to fill in.

    Returns:
        The files written, and notes on what was found; None if the folder holds nothing of an
        evaluation.

    Raises:
        InputError: If the folder cannot be written.
    """
    if (folder / FILE).exists():
        return [], [f"{FILE} is there already, and is kept"]
    found = _found(folder)
    if not found.tables:
        return None
    contents: dict[str, Content] = {}
    files = {kind: [table.file for table in tables] for kind, tables in found.tables.items()}
    notes = [f"{', '.join(files[kind])}: {kind}" for kind in files]
    if "responses" not in files and not (folder / "responses.csv").exists():
        contents["responses.csv"] = _stubs(found)
        notes.append("no file holds the responses: fill in responses.csv, which has their ids")
    if "labels" not in files and not (folder / "labels.csv").exists():
        contents["labels.csv"] = [("response_id", "rater_id", "question_id", "rating")]
        notes.append("no file holds labels: labels.csv is empty, for you to fill in")
    rubric = _rubric(found)
    if rubric == [EXAMPLE_QUESTION]:
        notes.append("no ratings say what was asked: the question in the rubric is an example")
    contents[FILE] = _HEAD + as_yaml(
        {
            "name": folder.resolve().name,
            "rubric": None if found_files(folder, "rubric") else rubric,
            "responses": files.get("responses", ["responses.csv"]),
            "labels": files.get("labels", ["labels.csv"]),
            "judges": recorded_judges(_judge_models(found.tables.get("scores", []))),
        }
    )
    return write_files(folder, contents), [*notes, *found.others]


def _found(folder: Path) -> _Found:
    """Return the files of a folder by what they hold."""
    found = _Found()
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        parts = path.relative_to(folder).parts
        if parts[0] == "out" or any(is_working_file(Path(part)) for part in parts):
            continue
        if not path.is_file() or format_of(path) not in FORMATS or path.stem == "rubric":
            continue
        try:
            table = read_table(path, folder=folder)
        except InputError as error:
            found.others.append(f"not used: {error}")
            continue
        kind = _kind(table)
        if kind is None:
            found.others.append(f"not used: {named(path, folder=folder)}")
        else:
            found.tables[kind].append(table)
    return found


def _kind(table: Table) -> Kind | None:
    """Return what the rows of a table are; None if they are nothing of an evaluation."""
    if table.has("aiescore") or (
        table.has("judge_model") and table.header_of("score", "raw_output") is not None
    ):
        return "scores" if has_references(table) else None
    in_rows = table.header_of(*FIELDS["rater_id"]) and table.header_of(*FIELDS["rating"])
    nested = table.has("labels", "dimension") or table.has("ratings", "user_id")
    if nested or (in_rows and has_references(table)):
        return "labels"
    if table.has("response_text") and table.has("prompt_text") and table.header_of(*MODEL_NAME):
        return "responses"
    is_wide = table.header_of(*RESPONSE_ID) and len(rating_columns(table, [None])) > 1
    return "labels" if is_wide and not table.has("hij_score") else None


def _rubric(found: _Found) -> list[dict[str, object]]:
    """Return a question for each thing that is rated, on a scale that fits its ratings."""
    ratings: dict[str, list[str | None]] = defaultdict(list)
    in_four_points = True
    for table in found.tables.get("labels", []):
        given = labels_without_rubric(table, None)
        for question, rating in zip(given.units.questions, given.text("rating"), strict=True):
            if question is not None:
                ratings[question].append(rating)
        in_four_points &= table.has("indicator_id", "convo_id")
    scores: dict[str, list[str | None]] = defaultdict(list)
    for table in found.tables.get("scores", []):
        for question, score in zip(_questions(table), table.text("score", "aiescore"), strict=True):
            if question is not None:
                scores[question].append(score)
        in_four_points &= table.has("indicator_id", "convo_id")
    names = dict.fromkeys((*ratings, *scores)) or _indicators(found.tables.get("responses", []))
    in_four_points &= _within_four((*ratings.values(), *scores.values()))
    return [
        {
            "id": name,
            "question": name,
            **(
                {"scale": dict(_FOUR_POINTS)}
                if in_four_points
                else drafted_scale(ratings.get(name) or scores[name])
            ),
        }
        for name in names
    ] or [EXAMPLE_QUESTION]


def _within_four(columns: Iterable[Sequence[str | None]]) -> bool:
    """Return whether all ratings lie from 1 to 4."""
    values = [read_ratings(column).values for column in columns]
    given = np.concatenate(values) if values else np.array([])
    given = given[~np.isnan(given)]
    return bool(((given >= 1) & (given <= _FOUR_POINTS["max"])).all())


def _questions(table: Table) -> Sequence[str | None]:
    header = table.header_of("question_id", "indicator_id")
    return table.stripped(header) if header else [None] * len(table)


def _indicators(responses: Sequence[Table]) -> dict[str, None]:
    """Return the indicators of the responses if there are few enough to be questions."""
    cells = (cell for table in responses for cell in table.stripped("indicator_id"))
    names = dict.fromkeys(cell for cell in cells if cell is not None)
    return names if len(names) <= _MOST_INDICATORS else {}


def _judge_models(tables: Sequence[Table]) -> Iterable[tuple[str | None, str]]:
    for table in tables:
        models = dict.fromkeys(filter(None, table.stripped("judge_model")))
        yield from ((model, table.file) for model in models or [None])


def _stubs(found: _Found) -> list[tuple[str, ...]]:
    """Return the ids of rated responses as rows of responses.csv without texts."""
    given = (*found.tables.get("labels", []), *found.tables.get("scores", []))
    ids = dict.fromkeys(cell for table in given for cell in table.stripped(*RESPONSE_ID) if cell)
    header = ("response_id", "prompt_text", "response_text", "model_name")
    return [header, *((name, "", "", "unknown") for name in ids)]
