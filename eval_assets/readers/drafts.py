"""Drafts of evaluation folders, from another tool's export or from the files of a folder."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Literal

import numpy as np
import pandas as pd
import yaml

from eval_assets.errors import InputError, leaves
from eval_assets.readers._cells import in_utc, number_in, parsed_ratings
from eval_assets.readers._guessed_scales import likely_scale
from eval_assets.readers._problems import input_error, listed_briefly
from eval_assets.readers.evaluation.input_files import files_in_folder
from eval_assets.readers.evaluation.read import FILE
from eval_assets.readers.formats.files import is_working_file, named
from eval_assets.readers.formats.table import FileColumn, FileTable
from eval_assets.readers.formats.tables import FORMATS, format_of, read_table
from eval_assets.readers.importers.export_content import UNKNOWN_MODEL, Export
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.labels.parsed_labels import FIELDS
from eval_assets.readers.labels.ratings_options import RatingsOptions
from eval_assets.readers.labels.wide import rating_columns
from eval_assets.readers.labels.without_rubric import labels_without_rubric
from eval_assets.readers.ratings_file import RatingsFile, read_ratings_file
from eval_assets.readers.references import MODEL_NAME, RESPONSE_ID, has_references
from eval_assets.scale import BINARY, LIKERT5, Scale

_EXAMPLE_QUESTION: dict[str, object] = {
    "id": "helpfulness",
    "question": "How helpful is the response?",
    "scale": "likert5",
}
"""Stands in for a rubric if there are no ratings."""

_FROM_EXPORT = """\
# Drafted from an export of {tool}. Read the rubric before you trust a figure: a scale that is
# wider than the ratings given, or another order of words, changes how far raters agree.

"""
_WITHOUT_RATINGS = """\
# The export holds no ratings, so the question below is only an example: write your own.

"""
_FROM_FILES = """\
# Drafted from the files of this folder. Read the rubric before you trust a figure: write the
# questions as raters were asked, and the scale as it was, which ratings alone do not show.

"""
_FOUR_POINTS = {"min": 1, "max": 4}
"""Scale of sheets by indicator and conversation, on which 5 is never given."""

JUDGE_SCORES = "judge_scores.csv"

_MOST_INDICATORS = 40
_LONGEST_ID = 80
"""Characters; longer items are texts."""

Kind = Literal["responses", "labels", "scores"]

Content = bytes | str | Sequence[Sequence[str]]
"""A file: its bytes or text, or the rows of a table."""


def write_draft(export: Export, folder: Path, *, name: str, tool: str) -> list[Path]:
    """Write the evaluation folder of an export; return the files written.

    Raises:
        InputError: If one of the files exists already, or cannot be written.
    """
    tables = {file: rows for file, rows in export_tables(export).items() if len(rows) > 1}
    evaluation = draft_evaluation(export, name=name, tool=tool, scores=JUDGE_SCORES)
    return write_new_files(folder, {FILE: evaluation, **tables})


def write_new_files(folder: Path, contents: Mapping[str, Content]) -> list[Path]:
    """Write files into a folder that holds none of them; return their paths.

    Raises:
        InputError: If one of them exists already, or cannot be written.
    """
    taken = [file for file in contents if (folder / file).exists()]
    if taken:
        message, remedy = f"the folder holds {', '.join(taken)} already", "Name another folder"
        raise input_error(str(folder), message, f"{remedy}, or move them away")
    return write_files(folder, contents)


def write_ratings_draft(path: Path, folder: Path, options: RatingsOptions) -> list[Path]:
    """Write the evaluation folder of a file of ratings, as `agreement` reads it.

    Returns:
        The files written.

    Raises:
        ExceptionGroup: Of an InputError for each place at which the file cannot be read.
        InputError: If one of the files exists already, or the file can be read in two ways.
    """
    ratings = read_ratings_file(path, options)
    if ratings.other_layout is not None:
        raise _two_ways(path.name, ratings, ratings.other_layout)
    if ratings.tool is not None:
        tool, export = import_files([path], source=ratings.tool)
        return write_draft(export, folder, name=folder.resolve().name, tool=tool)
    ids = _ids([ratings])
    sections = {"name": folder.resolve().name, "rubric": _rubric_entries(ratings)}
    contents = {
        FILE: _FROM_FILES + _as_yaml(sections),
        "responses.csv": _response_rows(ids, ratings.contents()),
        "labels.csv": _label_rows(ids, ratings.labels.ratings),
    }
    return write_new_files(folder, contents)


def _ids(files: Iterable[RatingsFile]) -> dict[str, str]:
    """Return the id of each item as a response: itself, or a number if items are texts."""
    items = [item for file in files for item in file.labels.ratings["response_id"].unique()]
    are_texts = any(len(item) > _LONGEST_ID or "\n" in item for item in map(str, items))
    names = dict.fromkeys(map(str, items))
    return {item: f"r{n}" if are_texts else item for n, item in enumerate(names, start=1)}


def _rubric_entries(ratings: RatingsFile) -> list[dict[str, object]]:
    """Return the questions of a file as evaluation.yaml has them."""
    return [
        {"id": q.id, "question": q.question, "scale": _declared(q.scale), "level": q.level}
        for q in ratings.evaluation.rubric
    ]


def _response_rows(
    ids: Mapping[str, str], contents: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, ...]]:
    """Return the rows of responses.csv; an item that is a text is its own response."""
    names = ["prompt_text", "response_text", "model_name"]
    header = list(dict.fromkeys([*names, *(name for of in contents.values() for name in of)]))
    rows = [("response_id", *header)]
    for item, name in ids.items():
        text = item if item != name else ""
        fields = {"response_text": text, "model_name": UNKNOWN_MODEL, **contents.get(item, {})}
        rows.append((name, *(fields.get(column, "") for column in header)))
    return rows


def _label_rows(ids: Mapping[str, str], ratings: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the rows of labels.csv."""
    rated = ratings[ratings["value"].notna()]
    columns = ["response_id", "question_id", "rater_id", "rating", "labelled_at", "notes"]
    cells = rated.assign(
        response_id=rated["response_id"].map(ids), rating=rated["value"].map("{:.12g}".format)
    )
    rows = cells[columns].fillna("").astype(str).itertuples(index=False, name=None)
    return [tuple(columns), *rows]


def complete_folder(folder: Path, options: RatingsOptions) -> tuple[list[Path], list[str]] | None:
    """Write the files that an evaluation folder with data lacks; no file that exists is touched.

    evaluation.yaml declares the files of the folder, and a rubric that fits their ratings.
    A table of ratings in a form of its own is read as `agreement` does, and written to labels/.
    Without responses, one without text is written for each that is rated; without labels, an
    empty table to fill in.

    Returns:
        The files written, and notes on the others; None if the folder has no table.

    Raises:
        InputError: If the folder cannot be written.
        ExceptionGroup: Of an InputError for each table, if none can be used.
    """
    if (folder / FILE).exists():
        return [], [f"{FILE} is there already, and is kept"]
    tables, others, problems = _tables_by_kind(folder)
    converted, unusable = _converted(others, folder, options)
    problems += unusable
    if not tables and not converted:
        if problems:
            raise ExceptionGroup(f"{folder} has no usable table", problems)
        return None
    reasons = [f"not used: {of.problem.file}: {of.problem.message}" for of in problems]
    return _completed(folder, tables, converted, reasons)


def _completed(
    folder: Path,
    tables: Mapping[Kind, list[FileTable]],
    converted: Mapping[str, RatingsFile],
    others: Sequence[str],
) -> tuple[list[Path], list[str]]:
    """Write what a folder with these tables lacks; return the files, and notes."""
    contents: dict[str, Content] = {}
    files = {kind: [table.file for table in tables[kind]] for kind in tables}
    notes = [f"{', '.join(files[kind])}: {kind}" for kind in files]
    labels, scores, responses = (tables.get(k, []) for k in ("labels", "scores", "responses"))
    ids = _ids(converted.values())
    for path, ratings in converted.items():
        name = _free_name(folder, Path(path).stem)
        contents[name] = _label_rows(ids, ratings.labels.ratings)
        files.setdefault("labels", []).append(name)
        notes.append(f"{path}: labels by {listed_briefly(ratings.raters)}, as {name} has them")
    if not responses and not (folder / "responses.csv").exists():
        texts = {item: of for r in converted.values() for item, of in r.contents().items()}
        stubs = dict.fromkeys(_rated_ids([*labels, *scores]))
        contents["responses.csv"] = _response_rows(ids | {i: i for i in stubs}, texts)
        if not any(of.get("response_text") for of in texts.values()) and ids.keys() <= {
            *ids.values()
        }:
            notes.append("no file holds the responses: fill in responses.csv, which has their ids")
    if "labels" not in files and not (folder / "labels.csv").exists():
        contents["labels.csv"] = [("response_id", "rater_id", "question_id", "rating")]
        notes.append("no file holds labels: labels.csv is empty, for you to fill in")
    entries = [entry for ratings in converted.values() for entry in _rubric_entries(ratings)]
    entries += _rubric_of(labels, scores, responses)
    rubric = list({entry["id"]: entry for entry in reversed(entries)}.values())[::-1]
    if not rubric:
        rubric = [_EXAMPLE_QUESTION]
        notes.append("no ratings say what was asked: the question in the rubric is an example")
    sections = {
        "name": folder.resolve().name,
        "rubric": None if files_in_folder(folder, "rubric") else rubric,
        "responses": files.get("responses", ["responses.csv"]),
        "labels": files.get("labels", ["labels.csv"]),
        "judges": recorded_judges(_judge_models(scores)),
    }
    contents[FILE] = _FROM_FILES + _as_yaml(sections)
    return write_files(folder, contents), [*notes, *others]


def _converted(
    paths: Iterable[Path], folder: Path, options: RatingsOptions
) -> tuple[dict[str, RatingsFile], list[InputError]]:
    """Return the tables that hold ratings in a form of their own, and why others do not."""
    converted: dict[str, RatingsFile] = {}
    problems: list[InputError] = []
    for path in paths:
        name = named(path, folder=folder)
        try:
            ratings = read_ratings_file(path, options)
        except ExceptionGroup as group:
            first = next(of for of in leaves(group) if isinstance(of, InputError))
            problems.append(InputError(replace(first.problem, file=name)))
            continue
        if ratings.tool is not None:
            remedy = f"Run eval-assets import {ratings.tool} {quote(str(path))}, into a new folder"
            problems.append(input_error(name, f"this is an export of {ratings.tool}", remedy))
        elif ratings.other_layout is not None:
            problems.append(_two_ways(name, ratings, ratings.other_layout))
        else:
            converted[name] = ratings
    return converted, problems


def _two_ways(file: str, *layouts: RatingsFile) -> InputError:
    raters = " or ".join(",".join(of.raters) for of in layouts)
    message = "its headers can be read in two ways"
    return input_error(file, message, f"Name the raters with --rater: {raters}")


def _free_name(folder: Path, stem: str) -> str:
    """Return the path of a new file of labels."""
    names = (f"labels/{stem}{f'-{n}' if n > 1 else ''}.csv" for n in count(1))
    return next(name for name in names if not (folder / name).exists())


def write_files(folder: Path, contents: Mapping[str, Content]) -> list[Path]:
    """Write files into a folder, which is made if need be; return their paths.

    Raises:
        InputError: If they cannot be written.
    """
    try:
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(_as_bytes(content))
    except OSError as error:
        message = f"it cannot be written ({error.strerror})"
        remedy = "Name a folder that you may write to"
        raise input_error(str(folder), message, remedy) from error
    return [folder / name for name in contents]


def _as_bytes(content: Content) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(content)
    return text.getvalue().encode()


def export_tables(export: Export) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of each file of an export, their header first."""
    columns = list(dict.fromkeys(key for cells in export.responses.values() for key in cells))
    return {
        "responses.csv": [
            ("response_id", *columns),
            *(
                (name, *(cells.get(column, "") for column in columns))
                for name, cells in export.responses.items()
            ),
        ],
        "labels.csv": [
            ("response_id", "question_id", "rater_id", "rating", "labelled_at", "notes"),
            *(
                (*key, rating, in_utc(time) or "", export.remarks.get(key, ""))
                for key, (rating, time) in export.ratings.items()
            ),
        ],
        JUDGE_SCORES: [
            ("response_id", "question_id", "judge_model", "score", "raw_output"),
            *((*key, score, reply) for key, (score, reply) in export.scores.items()),
        ],
    }


def draft_evaluation(export: Export, *, name: str, tool: str, scores: str) -> str:
    """Return evaluation.yaml: a question for each thing rated, a judge for each that scored."""
    by_people = _by_question((key[1], rating) for key, (rating, _) in export.ratings.items())
    by_judges = _by_question((key[1], score) for key, (score, _) in export.scores.items())
    rubric: list[dict[str, object]] = []
    for question_id, question in export.questions.items():
        entry: dict[str, object] = {"id": question_id, "question": question.text}
        if question.scale is None:
            entry |= _drafted_scale(by_people[question_id], by_judges[question_id])
        else:
            entry |= {"scale": _declared(question.scale)}
            entry |= {"level": question.level} if question.level else {}
        rubric.append(entry)
    models = dict.fromkeys(model for _, _, model in export.scores)
    judges = recorded_judges((model, scores) for model in models)
    head = _FROM_EXPORT.format(tool=tool) if export.questions else _WITHOUT_RATINGS
    sections = {"name": name, "rubric": rubric or [_EXAMPLE_QUESTION], "judges": judges}
    return head + _as_yaml(sections)


def _tables_by_kind(
    folder: Path,
) -> tuple[dict[Kind, list[FileTable]], list[Path], list[InputError]]:
    """Return the tables of a folder by kind, those of no kind, and why others are no table."""
    tables: dict[Kind, list[FileTable]] = defaultdict(list)
    others: list[Path] = []
    problems: list[InputError] = []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        parts = path.relative_to(folder).parts
        if parts[0] == "out" or any(is_working_file(Path(part)) for part in parts):
            continue
        if not path.is_file() or format_of(path) not in FORMATS or path.stem == "rubric":
            continue
        try:
            table = read_table(path, folder=folder)
        except InputError as error:
            problems.append(error)
            continue
        kind = _kind(table)
        if kind is None:
            others.append(path)
        else:
            tables[kind].append(table)
    return tables, others, problems


def _kind(table: FileTable) -> Kind | None:
    """Return the kind of a table's rows; None if they are nothing of an evaluation."""
    has_score = table.header_of("score", "raw_output") is not None
    if table.has("aiescore") or (table.has("judge_model") and has_score):
        return "scores" if has_references(table) else None
    in_rows = table.header_of(*FIELDS["rater_id"]) and table.header_of(*FIELDS["rating"])
    nested = table.has("labels", "dimension") or table.has("ratings", "user_id")
    if nested or (in_rows and has_references(table)):
        return "labels"
    if table.has("response_text") and table.has("prompt_text") and table.header_of(*MODEL_NAME):
        return "responses"
    is_wide = table.header_of(*RESPONSE_ID) and len(rating_columns(table, [None])) > 1
    return "labels" if is_wide and not table.has("hij_score") else None


def _rubric_of(
    labels: Sequence[FileTable], scores: Sequence[FileTable], responses: Sequence[FileTable]
) -> list[dict[str, object]]:
    """Return a question for each thing that is rated, on a scale that fits its ratings."""
    parsed = [labels_without_rubric(table, RatingsOptions()) for table in labels]
    by_people = _by_question(
        pair
        for file in parsed
        for pair in zip(file.units.questions, file.table.text(*FIELDS["rating"]), strict=True)
    )
    by_judges = _by_question(
        pair
        for table in scores
        for pair in zip(
            table.stripped("question_id", "indicator_id"),
            table.text("score", "aiescore"),
            strict=True,
        )
    )
    in_four_points = all(table.has("indicator_id", "convo_id") for table in (*labels, *scores))
    in_four_points &= all(map(_within_four, (*by_people.values(), *by_judges.values())))
    indicators = dict.fromkeys(
        cell for table in responses for cell in table.stripped("indicator_id") if cell
    )
    names = dict.fromkeys((*by_people, *by_judges))
    if not names and len(indicators) <= _MOST_INDICATORS:
        names = indicators
    rubric: list[dict[str, object]] = []
    for name in names:
        scale: dict[str, object] = {"scale": dict(_FOUR_POINTS)}
        if not in_four_points:
            scale = _drafted_scale(by_people.get(name, []), by_judges.get(name, []))
        rubric.append({"id": name, "question": name, **scale})
    return rubric


def _by_question(pairs: Iterable[tuple[str | None, str | None]]) -> dict[str, list[str | None]]:
    """Return the ratings of each question."""
    ratings: dict[str, list[str | None]] = defaultdict(list)
    for question, rating in pairs:
        if question is not None:
            ratings[question].append(rating)
    return ratings


def _within_four(ratings: Sequence[str | None]) -> bool:
    values = parsed_ratings(FileColumn.of(ratings)).values
    values = values[~np.isnan(values)]
    return bool(((values >= 1) & (values <= _FOUR_POINTS["max"])).all())


def _drafted_scale(
    ratings: Sequence[str | None], scores: Sequence[str | None]
) -> dict[str, object]:
    """Return scale and level that fit the ratings of a question, as evaluation.yaml has them.

    Scores of judges count as well if they are whole numbers, of which not all are 0 or 1: then they
    may be on another scale than the ratings.

    Examples:
        >>> _drafted_scale(["1", "5"], ["2"]), _drafted_scale(["kind", "rude"], [])["level"]
        ({'scale': 'likert5'}, 'nominal')
    """
    points = {number_in(score) for score in scores if score}
    are_points = bool(ratings) and all(map(float.is_integer, points)) and not points <= {0.0, 1.0}
    cells = parsed_ratings(
        FileColumn.of([*ratings, *(scores if are_points or not ratings else [])])
    )
    try:
        return {"scale": _declared(likely_scale(cells, file="", level=None))}
    except InputError:  # words in no known order
        scale = likely_scale(cells, file="", level="nominal")
        return {"scale": _declared(scale), "level": "nominal"}


def _declared(scale: Scale) -> object:
    """Return a scale in its shortest form.

    Examples:
        >>> _declared(Scale.from_steps(low=0, high=4)), _declared(Scale(low=0, high=1))
        ({'min': 0, 'max': 4}, {'min': 0, 'max': 1, 'step': None})
    """
    ends = {
        name: int(end) if float(end).is_integer() else end
        for name, end in (("min", scale.low), ("max", scale.high))
    }
    if scale.words is not None:
        return {"values": list(scale.words)}
    if scale in (BINARY, LIKERT5):
        return "binary" if scale == BINARY else "likert5"
    if scale.values is None:
        return {**ends, "step": None}
    return ends if scale.step == 1 else {"values": list(scale.values)}


def _judge_models(tables: Sequence[FileTable]) -> Iterable[tuple[str | None, str]]:
    for table in tables:
        models = dict.fromkeys(filter(None, table.stripped("judge_model")))
        yield from ((model, table.file) for model in models or [None])


def recorded_judges(models: Iterable[tuple[str | None, str]]) -> list[dict[str, object]]:
    """Return the declaration of a judge for each model and the file that has its scores."""
    judges: list[dict[str, object]] = []
    taken: set[str] = set()
    for model, file in models:
        short = re.sub(r"[^\w.-]+", "-", model or Path(file).stem).strip("-") or "judge"
        name = short if short not in taken else f"{short}-{len(judges) + 1}"
        taken.add(name)
        judge: dict[str, object] = {"id": name, "provider": "recorded", "scores": file}
        judges.append(judge | ({"model": model} if model else {}))
    return judges


def _as_yaml(sections: Mapping[str, object]) -> str:
    """Return the sections that hold anything as YAML."""
    present = {key: value for key, value in sections.items() if value}
    text: str = yaml.safe_dump(present, sort_keys=False, allow_unicode=True, width=100)
    return text


def _rated_ids(tables: Iterable[FileTable]) -> list[str]:
    """Return the ids of the responses that are rated in tables."""
    return [cell for table in tables for cell in table.stripped(*RESPONSE_ID) if cell]
