"""Drafts of evaluation folders, from another tool's export or a file of ratings."""

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np
import pandas as pd
import yaml

from eval_assets.config.evaluation import FILE
from eval_assets.errors import InputError
from eval_assets.readers._cells import in_utc, parsed_ratings
from eval_assets.readers._guessed_scales import likely_scale
from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.table import FileColumn, plain
from eval_assets.readers.importers.export_content import UNKNOWN_MODEL, Export
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.labels.headers import QUESTION_OR_PROMPT, TEXT_COLUMNS
from eval_assets.readers.labels.without_rubric import RatingsOptions
from eval_assets.readers.ratings_file import RatingsFile, read_ratings_file, unread_notes
from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from eval_assets.wording import counted

EXAMPLE_QUESTION: dict[str, object] = {
    "id": "helpfulness",
    "question": "How helpful is the response?",
    "scale": "likert5",
}
"""Placeholder of the rubric if there are no ratings."""

_FROM_EXPORT = """\
# Drafted from an export of {tool}. Read the rubric before you trust a figure: a scale that is
# wider than the ratings given, or another order of words, changes how far raters agree.

"""
_WITHOUT_RATINGS = """\
# The export holds no ratings, so the question below is only an example: write your own.

"""
FROM_FILES = """\
# Drafted from the files of this folder. Read the rubric before you trust a figure: write the
# questions as raters were asked, and the scale as it was, which ratings alone do not show.

"""

EDIT_SCALE = f"Write another in {FILE} if that is wrong"
"""Remedy for a guessed scale in a draft."""

JUDGE_SCORES = "judge_scores.csv"

_FURTHER_COLUMNS = ("confidence", "skipped", "skip_reason", "round", "details")
"""Columns of labels.csv that are written if they hold anything."""

_LONGEST_ID = 80
"""Characters; longer items are texts."""


@dataclass(frozen=True)
class Draft:
    """Files written, notes on how others were read, and what is left to do before a run."""

    files: Sequence[Path]
    notes: Sequence[str]
    tasks: Sequence[str] = ()


Content = bytes | str | Sequence[Sequence[str]]
"""A file: its bytes or text, or the rows of a table."""


def write_draft(
    export: Export, folder: Path, *, name: str, tool: str
) -> tuple[list[Path], list[str]]:
    """Write the evaluation folder of an export; return the files written, and notes on scores.

    Raises:
        InputError: If one of the files exists already, or cannot be written.
    """
    tables = {file: rows for file, rows in export_tables(export).items() if len(rows) > 1}
    evaluation, notes = draft_evaluation(export, name=name, tool=tool, scores=JUDGE_SCORES)
    return write_new_files(folder, {FILE: evaluation, **tables}), notes


def write_new_files(folder: Path, contents: Mapping[str, Content]) -> list[Path]:
    """Write files into a folder that has none of them; return their paths.

    Raises:
        InputError: If one of them exists already, or cannot be written.
    """
    conflicts = [file for file in contents if (folder / file).exists()]
    if conflicts:
        message, remedy = f"the folder holds {', '.join(conflicts)} already", "Name another folder"
        raise input_error(str(folder), message, f"{remedy}, or move them away")
    return write_files(folder, contents)


def write_ratings_draft(path: Path, folder: Path, options: RatingsOptions) -> Draft:
    """Write the evaluation folder of a file of ratings, as `agreement` reads it.

    Raises:
        ExceptionGroup: Of an InputError for each place at which the file cannot be read.
        InputError: If one of the files exists already, or the file can be read in two ways.
    """
    ratings = read_ratings_file(path, options)
    if ratings.other_layout is not None:
        raise two_ways(path.name, ratings, ratings.other_layout)
    name = folder.resolve().name
    if ratings.tool is not None:
        tool, export = import_files([path], source=ratings.tool)
        files, notes = write_draft(export, folder, name=name, tool=tool)
        return Draft(files, (*ratings.notes(EDIT_SCALE), *notes))
    ids, of_items = item_ids([ratings]), ratings.contents()
    responses = response_rows(ids, of_items)
    contents = {
        FILE: FROM_FILES + as_yaml({"name": name, "rubric": rubric_entries(ratings)}),
        "responses.csv": responses,
        "labels.csv": label_rows(ids, ratings),
    }
    files = write_new_files(folder, contents)
    return Draft(files, notes_on_ratings(ratings, of_items), missing_texts(responses))


def missing_texts(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return what to do if no row of responses.csv has a text of a response."""
    header, *responses = rows
    if any(row[header.index("response_text")] for row in responses):
        return []
    return ["fill in responses.csv, which has the ids of responses whose texts no file holds"]


def notes_on_ratings(
    ratings: RatingsFile, of_items: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """Return how a file was read, and its columns that hold nothing of a label, nor of an item."""
    names = {name for columns in of_items.values() for name in columns}
    read = {plain(header) for name in names for header in TEXT_COLUMNS.get(name, (name,))}
    read |= {*QUESTION_OR_PROMPT} if "prompt_text" in names else set()
    unread = [header for header in ratings.unread if plain(header) not in read]
    return (*ratings.notes(EDIT_SCALE), *unread_notes(unread))


def item_ids(files: Iterable[RatingsFile]) -> dict[str, str]:
    """Return the response id of each item: the item itself, or a number if items are texts."""
    items = [item for file in files for item in rated_items(file)]
    are_texts = any(len(item) > _LONGEST_ID or "\n" in item for item in items)
    names = dict.fromkeys(items)
    return {item: f"r{n}" if are_texts else item for n, item in enumerate(names, start=1)}


def rated_items(ratings: RatingsFile) -> list[str]:
    """Return the items that a file rates."""
    return [*map(str, ratings.labels.ratings["response_id"].unique())]


def rubric_entries(ratings: RatingsFile) -> list[dict[str, object]]:
    """Return the questions of a file as entries of evaluation.yaml."""
    return [
        {"id": q.id, "question": q.question, "scale": _declared(q.scale), "level": q.level}
        for q in ratings.evaluation.rubric
    ]


def response_rows(
    ids: Mapping[str, str], contents: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, ...]]:
    """Return the rows of responses.csv; an item that is a text is its own response."""
    names = ["prompt_text", "response_text", "model_name"]
    header = list(dict.fromkeys([*names, *(name for of in contents.values() for name in of)]))
    rows = [("response_id", *header)]
    for item, name in ids.items():
        columns = contents.get(item, {})
        prompt = columns.get("prompt_text")
        is_response = item != name and not (prompt and item.startswith(prompt))
        text = item if is_response else ""
        fields = {"response_text": text, "model_name": UNKNOWN_MODEL, **columns}
        rows.append((name, *(fields.get(column, "") for column in header)))
    return rows


def label_rows(ids: Mapping[str, str], ratings: RatingsFile) -> list[tuple[str, ...]]:
    """Return the rows of labels.csv, with words on a scale of words, and labels of all rounds."""
    words = {
        (question.id, value): word
        for question in ratings.evaluation.rubric
        for value, word in zip(
            question.scale.values or (), question.scale.words or (), strict=False
        )
    }
    of_rounds = [ratings.labels.earlier, ratings.labels.ratings]
    labels = pd.concat(of_rounds) if len(of_rounds[0]) else of_rounds[1]
    units = list(zip(labels["question_id"], labels["value"], strict=True))
    numbers = ["" if math.isnan(value) else f"{value:.12g}" for _, value in units]
    cells = labels.assign(
        response_id=labels["response_id"].map(ids),
        rating=[words.get(unit, number) for unit, number in zip(units, numbers, strict=True)],
        skipped=labels["skipped"].map({True: "true", False: None}),
        round=labels["round"] if (labels["round"] > 1).any() else None,
    )
    further = [name for name in _FURTHER_COLUMNS if cells[name].notna().any()]
    columns = ["response_id", "question_id", "rater_id", "rating", "labelled_at", "notes", *further]
    rows = cells[columns].astype(object).fillna("").astype(str).itertuples(index=False, name=None)
    return [tuple(columns), *rows]


def two_ways(file: str, *layouts: RatingsFile) -> InputError:
    """Return the error of a file with ambiguous headers of raters."""
    raters = " or ".join(quote(",".join(of.raters)) for of in layouts)
    message = "its headers can be read in two ways"
    return input_error(file, message, f"Name the raters with --rater: {raters}")


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


def draft_evaluation(export: Export, *, name: str, tool: str, scores: str) -> tuple[str, list[str]]:
    """Return evaluation.yaml with a question for each rated criterion and a judge per scorer.

    A scale that the export does not hold fits the ratings of humans, if there are any: a mistyped
    score of a judge would widen it, and ratings on a wider scale seem to agree more. The notes name
    scores off it.
    """
    by_people = ratings_by_question((key[1], rating) for key, (rating, _) in export.ratings.items())
    by_judges = ratings_by_question((key[1], score) for key, (score, _) in export.scores.items())
    rubric: list[dict[str, object]] = []
    scales: dict[str, Scale] = {}
    for question_id, question in export.questions.items():
        entry: dict[str, object] = {"id": question_id, "question": question.text}
        if question.scale is None:
            ratings = by_people[question_id] or by_judges[question_id]
            scale, level = drafted_scale(ratings)
            scales[question_id] = scale
            entry |= scale_entries(scale, level)
        else:
            entry |= scale_entries(question.scale, question.level)
        rubric.append(entry)
    models = dict.fromkeys(model for _, _, model in export.scores)
    judges = recorded_judges((model, scores) for model in models)
    head = _FROM_EXPORT.format(tool=tool) if export.questions else _WITHOUT_RATINGS
    sections = {"name": name, "rubric": rubric or [EXAMPLE_QUESTION], "judges": judges}
    return head + as_yaml(sections), [*notes_off_scale(scales, by_judges)]


def ratings_by_question(
    pairs: Iterable[tuple[str | None, str | None]],
) -> dict[str, list[str | None]]:
    """Return the ratings of each question, without blank cells."""
    ratings: dict[str, list[str | None]] = defaultdict(list)
    for question, rating in pairs:
        if question is not None:
            ratings[question].extend([rating] if rating else [])
    return ratings


def drafted_scale(ratings: Sequence[str | None]) -> tuple[Scale, Level | None]:
    """Return scale and level that fit the ratings of a question; no level if it is the usual one.

    Examples:
        >>> scale_entries(*drafted_scale(["1", "5"])), drafted_scale(["kind", "rude"])[1]
        ({'scale': 'likert5'}, 'nominal')
    """
    cells = parsed_ratings(FileColumn.of(ratings))
    try:
        return likely_scale(cells, file="", level=None), None
    except InputError:  # words in no known order
        return likely_scale(cells, file="", level="nominal"), "nominal"


def notes_off_scale(
    scales: Mapping[str, Scale], by_judges: Mapping[str, Sequence[str | None]]
) -> Iterable[str]:
    """Yield a note for each question with scores of judges that a run does not use."""
    for name, scale in scales.items():
        n_off = n_off_scale(scale, by_judges.get(name, []))
        if n_off:
            yield (
                f"{counted(n_off, 'judge score')} of {name} {'is' if n_off == 1 else 'are'} off "
                f"the scale of its labels ({scale.described()}), and will be stored as "
                f"out_of_range. If raters saw a wider scale, write it in {FILE}"
            )


def n_off_scale(scale: Scale, ratings: Sequence[str | None]) -> int:
    """Return the number of ratings that lie below or above a scale."""
    values = parsed_ratings(FileColumn.of(ratings)).values_on(scale)
    return int((~np.isnan(values) & ~scale.spans(values)).sum())


def scale_entries(scale: Scale, level: str | None) -> dict[str, object]:
    """Return a scale and the level, if there is one, as entries of evaluation.yaml."""
    return {"scale": _declared(scale), **({"level": level} if level else {})}


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


def recorded_judges(models: Iterable[tuple[str | None, str]]) -> list[dict[str, object]]:
    """Return the declaration of a judge for each model and the file that has its scores."""
    judges: list[dict[str, object]] = []
    names: set[str] = set()
    for model, file in models:
        short = re.sub(r"[^\w.-]+", "-", model or Path(file).stem).strip("-") or "judge"
        name = short if short not in names else f"{short}-{len(judges) + 1}"
        names.add(name)
        judge: dict[str, object] = {"id": name, "provider": "recorded", "scores": file}
        judges.append(judge | ({"model": model} if model else {}))
    return judges


def as_yaml(sections: Mapping[str, object]) -> str:
    """Return the sections with content as YAML."""
    present = {key: value for key, value in sections.items() if value}
    text: str = yaml.safe_dump(present, sort_keys=False, allow_unicode=True, width=100)
    return text
