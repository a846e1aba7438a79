"""Drafts of evaluation folders: from files of ratings, or from another tool's export."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from shlex import join

import yaml

from eval_assets.cli.drafted_rows import (
    Rows,
    rated_rows,
    response_ids,
    response_rows,
    texts_in,
)
from eval_assets.config.evaluation import FILE
from eval_assets.config.rubric import PAIR_COLUMNS
from eval_assets.judges.recorded_replies import score_of_reply
from eval_assets.labelling.sheets import neutralised
from eval_assets.ratings_check import with_classes_of_judges
from eval_assets.readers.evaluation.input_files import files_in_folder
from eval_assets.readers.formats.contents import FORMATS, format_of, read_table
from eval_assets.readers.formats.files import (
    decoded_as_guessed,
    files_below,
    is_working_file,
    read_bytes,
)
from eval_assets.readers.formats.table import plain
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.problems import input_error, listed_briefly
from eval_assets.readers.rated_items import guessed_texts
from eval_assets.readers.rated_rows import FIELDS
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings, tables_of_export
from eval_assets.readers.references import (
    MODEL_NAME,
    RESPONSE_ID,
    has_references,
)
from eval_assets.readers.values import in_utc, order_of, stretched_ends, usual_pass
from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.wording import counted

EXAMPLE_QUESTION: dict[str, object] = {
    "id": "helpfulness",
    "question": "How helpful is the response?",
    "scale": "likert5",
}
"""Placeholder of the rubric if there are no ratings."""

_HEAD = """\
# Drafted from {source}. Read the rubric before you trust a figure: a scale that is
# wider than the ratings given, or another order of words, changes how far raters agree.

"""
_WITHOUT_RATINGS = """\
# The export holds no ratings, so the question below is only an example: write your own.

"""
JUDGE_SCORES = "judge_scores.csv"
_RESPONSES, _LABELS = "responses.csv", "labels.csv"
_OF_LABELS = ("rater_id", "rating")
_NO_RATINGS = ("rubric", "prompts")
"""Files that a run reads by their names."""

_PUBLISHED = {"responses_merged", "hij_scores"}
"""Files of a layout whose sheets name the model of each response."""

_HEADING = re.compile(r"^#+\s*(.+?)\s*#*$", re.MULTILINE)
_LEVEL = re.compile(
    r"^[\s|*#-]*(?:level|score)?\s*(\d{1,2})\b\**\s*(?=[-:=.)|\u2013])",
    re.MULTILINE | re.IGNORECASE,
)
_FEWEST_LEVELS = 3
Content = bytes | str | Rows
"""A file: its bytes or text, or the rows of a table."""


@dataclass(frozen=True)
class Draft:
    """Files written, notes on how they were read, and what is left to do before a run."""

    files: Sequence[Path]
    notes: Sequence[str]
    tasks: Sequence[str] = ()


@dataclass
class _Files:
    """Files of a folder by what they hold, in the names of the folder; prompts if nothing else."""

    prompts: list[str] = field(default_factory=list)
    responses: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    scores: list[str] = field(default_factory=list)
    judges: list[tuple[str | None, str]] = field(default_factory=list)
    further: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def of_run(self) -> list[str]:
        """Files with ratings or responses in a form that a run can read."""
        return [*self.responses, *self.labels, *self.scores]

    @property
    def labelling(self) -> dict[str, object] | None:
        """Raters see the model in the published layout, whose sheets name it."""
        names = {Path(name).stem for name in (*self.responses, *self.labels)}
        return {"show": ["model_name"]} if _PUBLISHED & names else None


def draft_of_export(export: Export, folder: Path) -> Draft:
    """Write the evaluation folder of an export, with its remarks, replies and unrated responses.

    Raises:
        ExceptionGroup: Of an InputError for each rating that cannot be used.
        InputError: If one of the files exists already, or cannot be written.
    """
    columns = list(dict.fromkeys(key for cells in export.responses.values() for key in cells))
    contents: dict[str, Rows] = {
        _RESPONSES: [
            ("response_id", *columns),
            *(
                (name, *(cells.get(column, "") for column in columns))
                for name, cells in export.responses.items()
            ),
        ],
        _LABELS: [
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
    tables, rubric = None, [EXAMPLE_QUESTION]
    if any(rating for rating, _ in (*export.ratings.values(), *export.scores.values())):
        tables = tables_of_export(export)
        drafted = {str(entry["id"]): entry for entry in _rubric(tables)}
        rubric = [
            {"id": name, **drafted.get(name, {"scale": "binary"}), "question": text}
            for name, text in export.questions.items()
        ]
    models = dict.fromkeys(model for _, _, model in export.scores)
    sections = {
        "name": folder.resolve().name,
        "rubric": rubric,
        "judges": recorded_judges((model, JUDGE_SCORES) for model in models),
    }
    head = _HEAD.format(source=f"an export of {export.tool}") if tables else _WITHOUT_RATINGS
    filled = {name: rows for name, rows in contents.items() if len(rows) > 1}
    files = write_files(folder, {FILE: head + as_yaml(sections), **filled})
    if tables is None:
        return Draft(files, [])
    # The account of an import lists what was not read.
    return Draft(files, _notes(replace(tables, notes=(), not_read={}), writes_responses=False))


def draft_of_files(
    paths: Sequence[Path], folder: Path, options: ReadOptions, *, judge_passes: str | None = None
) -> Draft:
    """Write the evaluation folder of files of ratings, as `check` reads them.

    A folder whose files a run can read is drafted as it would be in place, with copies of them.
    `judge_passes` makes classes of the scores of a judge on another scale than people.

    Raises:
        ValueError: If `judge_passes` does not fit the scales.
        ExceptionGroup: Of an InputError for each place at which a file cannot be read.
        InputError: If one of the files exists already.
    """
    is_folder = len(paths) == 1 and paths[0].is_dir() and not (paths[0] / FILE).exists()
    if is_folder and (layout := _files_of(paths[0])).of_run:
        return _draft(layout, paths[0], options, judge_passes=judge_passes, copies_to=folder)
    tables = _ratings(paths, options, judge_passes)
    if tables.export is not None:
        if judge_passes is not None:
            raise ValueError(f"scores of {tables.export.tool} keep their scale: no --judge-pass")
        draft = draft_of_export(tables.export, folder)
        return replace(draft, notes=(*tables.notes, *draft.notes))
    ids = response_ids(tables)
    responses = response_rows(tables, ids)
    contents: dict[str, Content] = {_RESPONSES: responses}
    if len(tables.ratings):
        contents[_LABELS] = rated_rows(tables, tables.ratings, ids)
    if len(tables.scores):
        contents[JUDGE_SCORES] = rated_rows(tables, tables.scores, ids)
    sections = {
        "name": folder.resolve().name,
        "rubric": _rubric(tables),
        "judges": recorded_judges(
            (str(of), JUDGE_SCORES) for of in tables.scores["judge"].unique()
        ),
    }
    head = _HEAD.format(source=listed_briefly([path.name for path in paths]))
    files = write_files(folder, {FILE: head + as_yaml(sections), **contents})
    tasks = [*_tasks_of_texts(responses), *_tasks_of_words(tables)]
    return Draft(files, _notes(tables, writes_responses=True), tasks)


def _ratings(paths: Sequence[Path], options: ReadOptions, judge_passes: str | None) -> RatingTables:
    tables = read_ratings(paths, options, score_of=score_of_reply)
    return tables if judge_passes is None else with_classes_of_judges(tables, judge_passes)


def draft_of_folder(
    folder: Path, options: ReadOptions, *, judge_passes: str | None = None
) -> Draft | None:
    """Write the files that an evaluation folder with data lacks; no file that exists is touched.

    evaluation.yaml declares the files that a run can read, and a rubric that fits their ratings.
    Ratings in other files are written to labels/ and judge_scores/. Without responses, one is
    written for each item; without labels, an empty table to fill in.

    Returns:
        The draft; None if the folder has neither tables nor prompts.

    Raises:
        InputError: If the folder cannot be written.
        ExceptionGroup: Of an InputError for each place at which a file of ratings cannot be read.
        ValueError: If `judge_passes` does not fit the scales.
    """
    if (folder / FILE).exists():
        return Draft([], [f"{FILE} is there already, and is kept"])
    files = _files_of(folder)
    if not (files.of_run or files.further or files.prompts):
        return None
    return _draft(files, folder, options, judge_passes=judge_passes, copies_to=None)


def _draft(
    files: _Files,
    folder: Path,
    options: ReadOptions,
    *,
    judge_passes: str | None,
    copies_to: Path | None,
) -> Draft:
    """Write what the files of a folder lack, beside them or with copies of them elsewhere."""
    copies = dict[str, Content]()
    if copies_to is not None:  # of what a run reads, also by its name
        named = [path for name in _NO_RATINGS for path in files_in_folder(folder, name)]
        paths = [*(folder / name for name in files.of_run), *named]
        copies = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    contents, tasks = dict[str, Content](), list[str]()
    kinds = ("prompts", "responses", "labels", "scores")
    notes = [f"{name}: {kind}" for kind in kinds for name in getattr(files, kind)] + files.notes
    notes += ["raters see the name of the model: labelling.show"] * bool(files.labelling)
    has_rubric = bool(files_in_folder(folder, "rubric"))
    tables, texts = None, list[tuple[str, ...]]()
    if files.further or (not has_rubric and (files.labels or files.scores)):
        tables, texts = _ratings_or_texts(folder, files, options, judge_passes)
    sections = {} if has_rubric else _rubric_sections(folder)
    if tables is not None:
        questions = (
            replace(of, scale_guessed=False) if _guidelines(of.id, sections)[1] else of
            for of in tables.questions
        )
        tables = replace(tables, questions=tuple(questions))
        notes += _notes(tables, writes_responses=not files.responses)
        ids = response_ids(tables)
        _add_other_ratings(tables, ids, folder, files, contents)
        tasks += _tasks_of_words(tables)
        if files.responses:
            tasks += _unknown_responses(folder, files.responses, set(ids.values()))
        else:
            texts = response_rows(tables, ids)
            tasks += _tasks_of_texts(texts)
    if texts:
        name = _free_name(folder, "responses", first=_RESPONSES)
        contents[name] = texts
        files.responses.append(name)
    if files.prompts:
        listed = listed_briefly(files.prompts)
        tasks.append(f"name the models that respond to {listed}, as generators in {FILE}")
    elif not files.labels:
        contents[_LABELS] = [("response_id", "rater_id", "question_id", "rating")]
        tasks.append(f"fill in {_LABELS}, which is empty, as no file holds labels")
    rubric = []
    for entry in [EXAMPLE_QUESTION] if tables is None else _rubric(tables):
        text, scale = _guidelines(str(entry["id"]), sections)
        rubric.append({**entry, **scale, **({"guidelines": text} if text else {})})
    if tables is None and not has_rubric:
        tasks.append(f"replace the example question in {FILE}, as no ratings say what was asked")
    inputs: dict[str, object] = {
        "responses": files.responses or [_RESPONSES],
        "labels": files.labels or [_LABELS],
        "judges": recorded_judges(files.judges),
        "labelling": files.labelling,
    }
    drafted = {
        "name": (copies_to or folder).resolve().name,
        "rubric": None if has_rubric else rubric,
        **({"prompts": files.prompts} if files.prompts else inputs),
    }
    head = _HEAD.format(source="the files of this folder")
    contents = {FILE: head + as_yaml(drafted), **contents, **copies}
    return Draft(write_files(copies_to or folder, contents), notes, tasks)


def _ratings_or_texts(
    folder: Path, files: _Files, options: ReadOptions, judge_passes: str | None
) -> tuple[RatingTables | None, Rows]:
    of_run = [folder / name for name in (*files.labels, *files.scores)]
    try:
        return _ratings([*of_run, *files.further], options, judge_passes), []
    except ExceptionGroup:
        texts = [] if of_run or files.responses else texts_in(files.further)
        if not texts:
            raise
        return None, texts


def _add_other_ratings(
    tables: RatingTables,
    ids: Mapping[str, str],
    folder: Path,
    files: _Files,
    contents: dict[str, Content],
) -> None:
    further_files = [
        name
        for name in tables.files
        if any(path.as_posix().endswith(f"/{name}") for path in files.further)
    ]
    ratings, scores = (of[of["file"].isin(further_files)] for of in (tables.ratings, tables.scores))
    if len(ratings):
        files.labels.append(_free_name(folder, "labels"))
        contents[files.labels[-1]] = rated_rows(tables, ratings, ids)
    if len(scores):
        name = _free_name(folder, "judge_scores")
        contents[name] = rated_rows(tables, scores, ids)
        files.judges += [(str(judge), name) for judge in scores["judge"].unique()]


def _rubric_sections(folder: Path) -> dict[str, str]:
    """Return the text below each heading of rubrics/*.md; the text of a file as a whole is ""."""
    sections: dict[str, str] = {}
    for path in sorted(folder.glob("rubrics/*.md")):
        text = decoded_as_guessed(read_bytes(path, file=path.name), file=path.name)[0].strip()
        sections[""] = "\n\n".join(filter(None, [sections.get(""), text]))
        parts = _HEADING.split(text)
        sections |= dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    return sections


def _guidelines(name: str, sections: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    """Return the section that a heading names after a question, or else the whole text; its scale.

    Whole numbers that begin lines, from 1 or 0 on, are the levels of the scale.
    """
    headings = (heading for heading in sections if plain(name) in plain(heading))
    text = sections.get(next(headings, "")) or sections.get("", "")
    levels = sorted(set(map(int, _LEVEL.findall(text))))
    is_scale = len(levels) >= _FEWEST_LEVELS and levels[0] in (0, 1)
    if not is_scale or levels != [*range(levels[0], levels[-1] + 1)]:
        return text, {}
    return text, {"scale": {"min": levels[0], "max": levels[-1]}}


def _files_of(folder: Path) -> _Files:
    """Return the tables of a folder by what they hold, in forms that a run can read."""
    files = _Files()
    for path in files_below(folder, is_deep=True):
        parts = path.relative_to(folder).parts
        if parts[0] == "out" or any(is_working_file(Path(part)) for part in parts):
            continue
        if not path.is_file() or format_of(path) not in FORMATS or path.stem in _NO_RATINGS:
            continue
        table = read_table(path, folder=folder)
        name, has = table.file, table.has
        has_scores = has("aiescore") or (
            has("judge_model") and table.header_of("score", "raw_output") is not None
        )
        if has_scores and has_references(table):
            files.scores.append(name)
            models: list[str | None] = [*filter(None, table.stripped("judge_model").present)]
            files.judges += [(model, name) for model in models or [None]]
        elif (
            has("labels", "dimension")
            or has("ratings", "user_id")
            or (has_references(table) and all(table.header_of(*FIELDS[of]) for of in _OF_LABELS))
        ):
            files.labels.append(name)
        elif has("response_text", "prompt_text") and table.header_of(*MODEL_NAME):
            files.responses.append(name)
        elif has("hij_score"):
            files.notes.append(f"not used: {name}: it joins the other tables")
        else:
            files.further.append(path)
    if not (files.of_run or files.further):
        paths = files_in_folder(folder, "prompts")
        files.prompts += [path.relative_to(folder).as_posix() for path in paths]
    return files


def _free_name(folder: Path, kind: str, *, first: str | None = None) -> str:
    further = (f"{kind}/ratings{f'-{n}' if n > 1 else ''}.csv" for n in count(1))
    names = chain([first] if first else [], further)
    return next(name for name in names if not (folder / name).exists())


def _unknown_responses(folder: Path, files: Sequence[str], rated: set[str]) -> list[str]:
    """Return a task if ratings are of responses that the files of responses lack."""
    tables = [read_table(folder / file, folder=folder) for file in files]
    known = {cell for table in tables for cell in table.stripped(*RESPONSE_ID).present}
    if not (unknown := sorted(rated - known) if known - {None} else []):
        return []
    subject = f"{counted(len(unknown), 'response')} that {', '.join(files)} lacks"
    return [f"{subject} are rated: {listed_briefly(unknown)}. A run refuses such ratings: add them"]


def _rubric(tables: RatingTables) -> list[dict[str, object]]:
    """Return questions as evaluation.yaml has them, with a level unless it is the usual one."""
    rubric: list[dict[str, object]] = []
    for q in tables.questions:
        entry = {"id": q.id, "question": q.question, "scale": _declared(q.scale)}
        rubric.append(entry | ({} if q.level == q.scale.default_level() else {"level": q.level}))
    return rubric


def _notes(tables: RatingTables, *, writes_responses: bool) -> list[str]:
    rated = [
        f"{counted(len(of), noun)} by {listed_briefly([*map(str, of[owner].unique())])}"
        for of, noun, owner in (
            (tables.ratings, "rating", "rater"),
            (tables.scores, "score", "judge"),
        )
        if len(of)
    ]
    texts = guessed_texts(tables) if writes_responses else {}
    guesses = [f"{q.scale.described()} ({q.id})" for q in tables.questions if q.scale_guessed]
    notes = [f"read {' and '.join(rated)}."]
    if guesses:
        notes.append(f"scale guessed from the ratings: {'; '.join(guesses)}. Correct it in {FILE}.")
    if texts:
        columns = ", ".join(f"{of} is {column}" for of, column in texts.items())
        notes.append(f"{columns}. Correct it in {_RESPONSES}.")
    notes += [_note_on_scale(name, scale, tables) for name, scale in tables.judge_scales.items()]
    notes += [f"{note}." for note in tables.notes]
    for name, reason in tables.not_read.items():
        if not reason.is_told:  # by a note
            notes.append(f"not read: {name}: {reason.text}.")
    doubts = [
        f"{of.choice}; otherwise pass {of.option}." if of.option else f"{of.choice}."
        for of in tables.doubts
    ]
    return notes + doubts


def _note_on_scale(judge: str, scale: Scale, tables: RatingTables) -> str:
    note = f"{judge} scores on another scale ({scale.described()})"
    people = tables.questions[0].scale
    ends = stretched_ends(scale, people)
    if ends is not None and tables.export is None:
        low, high = (people.shown(end) for end in (people.low, people.high))
        note += f": {ends.low:g} is stored as {low}, {ends.high:g} as {high}, others between"
    if people.has_two_values:
        note += f". For classes, pass {join(['--judge-pass', usual_pass(scale)])}"
    return f"{note}."


def _tasks_of_texts(rows: Rows) -> list[str]:
    columns = [k for k, name in enumerate(rows[0]) if name in ("response_text", *PAIR_COLUMNS)]
    if any(row[k] for row in rows[1:] for k in columns):
        return []
    return [f"fill in {_RESPONSES}, which has the ids of responses whose texts no file holds"]


def _tasks_of_words(tables: RatingTables) -> list[str]:
    """Return the task to put words in order, if that of some is not known."""
    unordered = [
        q.id
        for q in tables.questions
        if q.scale_guessed and q.scale.words and order_of(q.scale.words) is None
    ]
    if not unordered:
        return []
    words = f"the words of {listed_briefly(unordered)} worst first"
    return [f"in {FILE}, write {words}, and leave out their level, unless they have no order"]


# Writing.


def write_files(folder: Path, contents: Mapping[str, Content]) -> list[Path]:
    """Write files into a folder that has none of them, and is made if need be; return their paths.

    Raises:
        InputError: If one of them exists already, or cannot be written.
    """
    if conflicts := [file for file in contents if (folder / file).exists()]:
        message, remedy = f"the folder holds {', '.join(conflicts)} already", "Name another folder"
        raise input_error(str(folder), message, f"{remedy}, or move them away")
    try:
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, list):
                text = io.StringIO(newline="")
                rows = (map(neutralised, row) for row in content)
                csv.writer(text, lineterminator="\n").writerows(rows)
                content = text.getvalue()  # noqa: PLW2901
            data = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(data)
    except OSError as error:
        message = f"it cannot be written ({error.strerror})"
        remedy = "Name a folder that you may write to"
        raise input_error(str(folder), message, remedy) from error
    return [folder / name for name in contents]


def _declared(scale: Scale) -> object:
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
    return yaml.safe_dump(present, sort_keys=False, allow_unicode=True, width=100)
