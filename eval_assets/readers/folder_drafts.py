"""Drafts of evaluation folders from the tables of a folder."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Literal

from eval_assets.config.evaluation import FILE
from eval_assets.errors import InputError, leaves
from eval_assets.readers._problems import input_error, listed_briefly
from eval_assets.readers.drafts import (
    EDIT_SCALE,
    EXAMPLE_QUESTION,
    FROM_FILES,
    Content,
    Draft,
    as_yaml,
    drafted_scale,
    item_ids,
    label_rows,
    missing_texts,
    n_off_scale,
    notes_off_scale,
    notes_on_ratings,
    rated_items,
    ratings_by_question,
    recorded_judges,
    response_rows,
    rubric_entries,
    scale_entries,
    two_ways,
    write_files,
)
from eval_assets.readers.evaluation.input_files import files_in_folder
from eval_assets.readers.formats.files import is_working_file, named
from eval_assets.readers.formats.row_files import FORMATS, SHEET, format_of, read_table
from eval_assets.readers.formats.table import FileTable, plain
from eval_assets.readers.labels.forms import rating_columns
from eval_assets.readers.labels.headers import TEXT_COLUMNS, is_model, item_header, rater_header
from eval_assets.readers.labels.validation import FIELDS
from eval_assets.readers.labels.without_rubric import (
    RatingsOptions,
    item_columns,
    labels_without_rubric,
)
from eval_assets.readers.ratings_file import (
    RatingsFile,
    read_ratings_file,
    scale_notes,
    unread_notes,
)
from eval_assets.readers.references import MODEL_NAME, RESPONSE_ID, has_references
from eval_assets.scale import Scale
from eval_assets.wording import counted, listed

_FOUR_POINTS = Scale.from_steps(low=1, high=4)
"""Scale of sheets by indicator and conversation, on which 5 is never given."""

_MOST_INDICATORS = 40
_SCORE_COLUMNS = ("response_id", "question_id", "judge_model", "score")

Kind = Literal["responses", "labels", "scores"]


def complete_folder(folder: Path, options: RatingsOptions) -> Draft | None:
    """Write the files that an evaluation folder with data lacks; no file that exists is touched.

    evaluation.yaml declares the files of the folder, and a rubric that fits their ratings.
    A table of ratings in another form is read as `agreement` does, and written to labels/.
    Without responses, one is written for each item of other files, without a text if none has it;
    without labels, an empty table to fill in.

    Returns:
        The draft; None if the folder has no table.

    Raises:
        InputError: If the folder cannot be written.
        ExceptionGroup: Of an InputError for each table, if none can be used.
    """
    if (folder / FILE).exists():
        return Draft([], [f"{FILE} is there already, and is kept"])
    tables, unclear_paths, problems = _tables_by_kind(folder)
    converted, unusable = _converted(unclear_paths, folder, options)
    problems += unusable
    rated_ids = {item for of in converted.values() for item in rated_items(of)}
    rated_ids.update(_rated_ids([*tables.get("labels", []), *tables.get("scores", [])]))
    paths = [path for path in unclear_paths if named(path, folder=folder) not in converted]
    texts = {} if "responses" in tables else _texts_of_items(paths, folder, rated_ids)
    if not tables and not converted and not texts:
        if problems:
            raise ExceptionGroup(f"{folder} has no usable table", problems)
        return None
    notes = [
        f"{path}: texts of {counted(len(of), 'response')}, written under the headers of a run"
        for path, of in texts.items()
    ]
    notes += [
        f"not used: {of.problem.file}: {of.problem.message}"
        for of in problems
        if of.problem.file not in texts
    ]
    return _completed(folder, tables, converted, texts, notes)


def _completed(
    folder: Path,
    tables: Mapping[Kind, list[FileTable]],
    converted: Mapping[str, RatingsFile],
    texts_of_files: Mapping[str, Mapping[str, Mapping[str, str]]],
    notes_on_rest: Sequence[str],
) -> Draft:
    contents: dict[str, Content] = {}
    files = {kind: [table.file for table in tables[kind]] for kind in tables}
    notes, tasks = [f"{', '.join(files[kind])}: {kind}" for kind in files], list[str]()
    labels, scores, responses = (tables.get(k, []) for k in ("labels", "scores", "responses"))
    ids = item_ids(converted.values())
    has_other_headers = bool(texts_of_files) and (folder / "responses.csv").exists()
    file = _free_name(folder, "responses", "texts") if has_other_headers else "responses.csv"
    writes_responses = not responses and not (folder / file).exists()
    by_models = {path: of for path, of in converted.items() if all(map(is_model, of.raters))}
    by_people = {path: of for path, of in converted.items() if path not in by_models}
    items = {path: of.contents() if writes_responses else {} for path, of in by_people.items()}
    rows_of_file = {path: label_rows(ids, ratings) for path, ratings in converted.items()}
    models = [*_judge_models(scores)]
    for path, ratings in converted.items():
        kind, header = ("labels", ()) if path in by_people else ("judge_scores", _SCORE_COLUMNS)
        name = _free_name(folder, kind, Path(path).stem)
        rows = rows_of_file[path]
        contents[name] = [header, *(row[: len(header)] for row in rows[1:])] if header else rows
        if path in by_people:
            files.setdefault("labels", []).append(name)
        else:
            models += [(rater, name) for rater in ratings.raters]
        raters = f"{kind.replace('_', ' ')} by {listed_briefly(ratings.raters)}"
        notes += [
            f"{path}: {raters}, as {name} has them",
            *(f"{path}: {note}." for note in notes_on_ratings(ratings, items.get(path, {}))),
        ]
    if writes_responses:
        texts = {
            item: columns
            for of in (*items.values(), *texts_of_files.values())
            for item, columns in of.items()
        }
        ids = {item: item for of in texts_of_files.values() for item in of} | ids
        stubs = dict.fromkeys(_rated_ids([*labels, *scores]))
        rows = response_rows(ids | {i: i for i in stubs}, texts)
        contents[file] = rows
        tasks += missing_texts(rows)
    rated = {table.file: _rated_ids([table]) for table in (*labels, *scores)}
    rated |= {path: [*map(ids.__getitem__, rated_items(of))] for path, of in converted.items()}
    tasks += _unknown_responses(rated, responses)
    if "labels" not in files and not (folder / "labels.csv").exists():
        contents["labels.csv"] = [("response_id", "rater_id", "question_id", "rating")]
        tasks.append("fill in labels.csv, which is empty, as no file holds labels")
    entries, notes_on_scales = _entries_of_files(by_people, by_models, rows_of_file)
    notes += notes_on_scales
    drafted, rubric_notes = _rubric_of(labels, scores, responses)
    by_id = {entry["id"]: entry for entry in reversed([*entries, *drafted])}
    rubric = [*by_id.values()][::-1]
    if not rubric:
        rubric = [EXAMPLE_QUESTION]
        tasks.append(f"replace the example question in {FILE}, as no ratings say what was asked")
    has_rubric = bool(files_in_folder(folder, "rubric"))
    sections = {
        "name": folder.resolve().name,
        "rubric": None if has_rubric else rubric,
        "responses": files.get("responses", [file]),
        "labels": files.get("labels", ["labels.csv"]),
        "judges": recorded_judges(models),
    }
    contents[FILE] = FROM_FILES + as_yaml(sections)
    notes += [*notes_on_rest, *([] if has_rubric else rubric_notes)]
    return Draft(write_files(folder, contents), notes, tasks)


def _texts_of_items(
    paths: Iterable[Path], folder: Path, rated_ids: Collection[str]
) -> dict[str, dict[str, dict[str, str]]]:
    """Return the columns of items in files with a row for each, by file.

    A file of which no item is rated does not count, unless nothing is.
    """
    texts: dict[str, dict[str, dict[str, str]]] = {}
    for path in paths:
        table = read_table(path, folder=folder)
        if table.header_of(*TEXT_COLUMNS["response_text"]) and item_header(table):
            columns = item_columns(table, RatingsOptions())
            if len(columns) == len(table) and (
                not rated_ids or not columns.keys().isdisjoint(rated_ids)
            ):
                texts[named(path, folder=folder)] = columns
    return texts


def _entries_of_files(
    by_people: Mapping[str, RatingsFile],
    by_models: Mapping[str, RatingsFile],
    rows_of_file: Mapping[str, Sequence[Sequence[str]]],
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the questions of all files, those by people first, and notes on their scales."""
    cells, scores_of_models = (
        ratings_by_question((row[1], row[3]) for path in of for row in rows_of_file[path][1:])
        for of in (by_people, by_models)
    )
    entries, scales = _merged(
        [entry for ratings in by_people.values() for entry in rubric_entries(ratings)], cells
    )
    notes = [f"all files: {note}." for note in scale_notes(scales, EDIT_SCALE)]
    guesses = {q.id: q.scale for of in by_people.values() for q in of.evaluation.rubric}
    notes += notes_off_scale(guesses | scales, scores_of_models)
    of_models = [entry for ratings in by_models.values() for entry in rubric_entries(ratings)]
    return [*entries, *of_models], notes


def _merged(
    entries: Iterable[dict[str, object]], ratings: Mapping[str, Sequence[str | None]]
) -> tuple[list[dict[str, object]], dict[str, Scale]]:
    """Return an entry for each question, and the scales that fit files whose own scales differ.

    A rater who never gives the highest value would otherwise take it from the others.
    """
    by_id: dict[str, list[dict[str, object]]] = defaultdict(list)
    for entry in entries:
        by_id[str(entry["id"])].append(entry)
    scales: dict[str, Scale] = {}
    for name, (first, *further) in by_id.items():
        if any(entry["scale"] != first["scale"] for entry in further):
            scales[name], level = drafted_scale(ratings[name])
            del first["level"]
            first.update(scale_entries(scales[name], level))
    return [first for first, *_ in by_id.values()], scales


def _converted(
    paths: Sequence[Path], folder: Path, options: RatingsOptions
) -> tuple[dict[str, RatingsFile], list[InputError]]:
    """Return the ratings in files of any form, by file, and why others cannot be used."""
    read = {path: _ratings_or_problem(path, options) for path in paths}
    alike: dict[tuple[str, ...], list[Path]] = defaultdict(list)
    for path in (path for path, of in read.items() if isinstance(of, InputError)):
        table = read_table(path, folder=folder)
        if rater_header(table) is None:
            alike[tuple(map(plain, table.columns))].append(path)
    for path in (path for of in alike.values() if len(of) > 1 for path in of):
        read[path] = _ratings_or_problem(path, options, rater=path.stem)
    converted: dict[str, RatingsFile] = {}
    problems: list[InputError] = []
    for path, ratings in read.items():
        name = named(path, folder=folder)
        if isinstance(ratings, InputError):
            problems.append(InputError(replace(ratings.problem, file=name)))
        elif ratings.tool is not None:
            remedy = f"Run eval-assets import {ratings.tool} {quote(str(path))}, into a new folder"
            problems.append(input_error(name, f"this is an export of {ratings.tool}", remedy))
        elif ratings.other_layout is not None:
            problems.append(two_ways(name, ratings, ratings.other_layout))
        else:
            converted[name] = ratings
    return converted, problems


def _ratings_or_problem(
    path: Path, options: RatingsOptions, *, rater: str | None = None
) -> RatingsFile | InputError:
    try:
        return read_ratings_file(path, options, rater=rater)
    except ExceptionGroup as group:
        return next(error for error in leaves(group) if isinstance(error, InputError))


def _free_name(folder: Path, kind: str, stem: str) -> str:
    names = (f"{kind}/{stem}{f'-{n}' if n > 1 else ''}.csv" for n in count(1))
    return next(name for name in names if not (folder / name).exists())


def _tables_by_kind(
    folder: Path,
) -> tuple[dict[Kind, list[FileTable]], list[Path], list[InputError]]:
    """Return the tables of a folder by kind, those of no kind, and why others are no table."""
    tables: dict[Kind, list[FileTable]] = defaultdict(list)
    paths: list[Path] = []
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
            paths.append(path)
        else:
            tables[kind].append(table)
    return tables, paths, problems


def _kind(table: FileTable) -> Kind | None:
    """Return the kind of a table's rows; None if they are nothing of an evaluation."""
    has_score = table.header_of("score", "raw_output") is not None
    if table.has("aiescore") or (table.has("judge_model") and has_score):
        return "scores" if has_references(table) else None
    rater = table.header_of(*FIELDS["rater_id"], SHEET)
    in_rows = rater and table.header_of(*FIELDS["rating"])
    nested = table.has("labels", "dimension") or table.has("ratings", "user_id")
    if nested or (in_rows and has_references(table)):
        return "labels"
    if table.has("response_text") and table.has("prompt_text") and table.header_of(*MODEL_NAME):
        return "responses"
    is_wide = table.header_of(*RESPONSE_ID) and len(rating_columns(table, [None])) > 1
    return "labels" if is_wide and not table.has("hij_score") and _names_raters(table) else None


def _names_raters(table: FileTable) -> bool:
    try:
        labels_without_rubric(table, RatingsOptions())
    except InputError:
        return False
    return True


def _rubric_of(
    labels: Sequence[FileTable], scores: Sequence[FileTable], responses: Sequence[FileTable]
) -> tuple[list[dict[str, object]], list[str]]:
    """Return a question for each thing that is rated, and how labels and scales were read.

    The scale fits the ratings of humans, if there are any: a mistyped score of a judge would widen
    it, and ratings on a wider scale seem to agree more.
    """
    parsed = [labels_without_rubric(table, RatingsOptions()) for table in labels]
    by_people = ratings_by_question(
        pair
        for file in parsed
        for pair in zip(file.units.questions, file.table.stripped(*FIELDS["rating"]), strict=True)
    )
    by_judges = ratings_by_question(
        pair
        for table in scores
        for pair in zip(
            table.stripped("question_id", "indicator_id"),
            table.stripped("score", "aiescore"),
            strict=True,
        )
    )
    in_four_points = all(table.has("indicator_id", "convo_id") for table in (*labels, *scores))
    indicators = dict.fromkeys(
        cell for table in responses for cell in table.stripped("indicator_id") if cell
    )
    names = dict.fromkeys((*by_people, *by_judges))
    if not names and len(indicators) <= _MOST_INDICATORS:
        names = indicators
    ratings = {name: by_people.get(name) or by_judges.get(name, []) for name in names}
    in_four_points &= all(not n_off_scale(_FOUR_POINTS, of) for of in ratings.values())
    rubric: list[dict[str, object]] = []
    scales: dict[str, Scale] = {}
    for name in names:
        scale, level = (_FOUR_POINTS, None) if in_four_points else drafted_scale(ratings[name])
        rubric.append({"id": name, "question": name, **scale_entries(scale, level)})
        scales |= {name: scale} if ratings[name] else {}
    notes = [
        *(f"{note}." for note in scale_notes(scales, EDIT_SCALE)),
        *(
            f"{file.table.file}: {note}."
            for file in parsed
            for note in (*file.table.notes, *unread_notes(file.unread))
        ),
    ]
    return rubric, [*notes, *notes_off_scale(scales, by_judges)]


def _judge_models(tables: Sequence[FileTable]) -> Iterable[tuple[str | None, str]]:
    for table in tables:
        models = dict.fromkeys(filter(None, table.stripped("judge_model")))
        yield from ((model, table.file) for model in models or [None])


def _rated_ids(tables: Iterable[FileTable]) -> list[str]:
    return [cell for table in tables for cell in table.stripped(*RESPONSE_ID) if cell]


def _unknown_responses(
    rated: Mapping[str, Sequence[str]], responses: Sequence[FileTable]
) -> list[str]:
    """Return a note on each file with ratings of responses that those with responses lack."""
    known_ids = set(_rated_ids(responses))
    if not known_ids:
        return []
    unknown = {
        file: [name for name in dict.fromkeys(names) if name not in known_ids]
        for file, names in rated.items()
    }
    files = listed([table.file for table in responses])
    return [
        f"{file} rates {counted(len(names), 'response')} that {files} "
        f"{'does' if len(responses) == 1 else 'do'} not have: {listed_briefly(names)}. "
        "A run refuses such ratings: use the same ids in both, or add the responses"
        for file, names in unknown.items()
        if names
    ]
