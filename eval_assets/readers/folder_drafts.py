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
from eval_assets.readers._cells import ratings_in
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
_RESPONSES, _LABELS = "responses.csv", "labels.csv"
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
        ExceptionGroup: Of an InputError for each table, if none can be used; or for labels.csv, if
            neither it nor a rubric of the folder says what was asked.
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
    unusable_labels = [of for of in problems if of.problem.file == _LABELS]
    if unusable_labels and not files_in_folder(folder, "rubric"):
        # A run would read them as ratings of whatever question is drafted.
        raise ExceptionGroup(f"{_LABELS} cannot be used", unusable_labels)
    notes = [
        f"{path}: texts of {counted(len(of), 'response')}, written under the headers of a run"
        for path, of in texts.items()
    ]
    notes += [
        f"not used: {of.problem.file}: {of.problem.message}"
        for of in problems
        if of.problem.file not in texts
    ]
    return _FolderDraft(folder, tables, converted, texts).write(notes)


class _FolderDraft:
    """Files to write into a folder, and what to say of them.

    Args:
        folder: The folder.
        tables: Tables that a run reads as they are.
        converted: Files of ratings in other forms, by path.
        texts: Columns of the items of files with other headers, by path.
    """

    def __init__(
        self,
        folder: Path,
        tables: Mapping[Kind, list[FileTable]],
        converted: Mapping[str, RatingsFile],
        texts: Mapping[str, Mapping[str, Mapping[str, str]]],
    ) -> None:
        self._folder = folder
        self._labels, self._scores, self._responses = (
            tables.get(kind, []) for kind in ("labels", "scores", "responses")
        )
        self._converted = converted
        self._texts = texts
        self._ids = item_ids(converted.values())
        self._rows = {path: label_rows(self._ids, ratings) for path, ratings in converted.items()}
        self._by_models = {
            path: of for path, of in converted.items() if all(map(is_model, of.raters))
        }
        self._by_people = {
            path: of for path, of in converted.items() if path not in self._by_models
        }
        self._contents: dict[str, Content] = {}
        self._files = {kind: [table.file for table in tables[kind]] for kind in tables}
        self._models = [*_judge_models(self._scores)]
        self._notes = [f"{', '.join(self._files[kind])}: {kind}" for kind in self._files]
        self._tasks: list[str] = []

    def write(self, notes_on_rest: Sequence[str]) -> Draft:
        """Write the files that are missing."""
        has_other_headers = bool(self._texts) and (self._folder / _RESPONSES).exists()
        file = self._free_name("responses", "texts") if has_other_headers else _RESPONSES
        is_missing = not self._responses and not (self._folder / file).exists()
        items = {path: of.contents() if is_missing else {} for path, of in self._by_people.items()}
        for path in self._converted:
            self._add_ratings(path, items.get(path, {}))
        if is_missing:
            self._add_responses(file, [*items.values(), *self._texts.values()])
        self._note_unknown_responses()
        if "labels" not in self._files and not (self._folder / _LABELS).exists():
            self._contents[_LABELS] = [("response_id", "rater_id", "question_id", "rating")]
            self._tasks.append(f"fill in {_LABELS}, which is empty, as no file holds labels")
        rubric, rubric_notes = self._rubric()
        sections = {
            "name": self._folder.resolve().name,
            "rubric": rubric,
            "responses": self._files.get("responses", [file]),
            "labels": self._files.get("labels", [_LABELS]),
            "judges": recorded_judges(self._models),
        }
        self._contents[FILE] = FROM_FILES + as_yaml(sections)
        notes = [*self._notes, *notes_on_rest, *rubric_notes]
        return Draft(write_files(self._folder, self._contents), notes, self._tasks)

    def _add_ratings(self, path: str, items: Mapping[str, Mapping[str, str]]) -> None:
        """Add a file of ratings as labels, or as scores if all its raters are models."""
        ratings, rows = self._converted[path], self._rows[path]
        kind = "labels" if path in self._by_people else "judge_scores"
        name = self._free_name(kind, Path(path).stem)
        if path in self._by_people:
            self._files.setdefault("labels", []).append(name)
            self._contents[name] = rows
        else:
            self._models += [(rater, name) for rater in ratings.raters]
            scores = [row[: len(_SCORE_COLUMNS)] for row in rows[1:]]
            self._contents[name] = [_SCORE_COLUMNS, *scores]
        raters = f"{kind.replace('_', ' ')} by {listed_briefly(ratings.raters)}"
        self._notes.append(f"{path}: {raters}, as {name} has them")
        self._notes += [f"{path}: {note}." for note in notes_on_ratings(ratings, items)]

    def _free_name(self, kind: str, stem: str) -> str:
        """Return a name for a file that neither exists nor is drafted."""
        names = (f"{kind}/{stem}{f'-{n}' if n > 1 else ''}.csv" for n in count(1))
        return next(
            name
            for name in names
            if name not in self._contents and not (self._folder / name).exists()
        )

    def _add_responses(
        self, file: str, contents: Sequence[Mapping[str, Mapping[str, str]]]
    ) -> None:
        """Add a response for each item, and for each that the tables of a run rate."""
        ids = {item: item for of in self._texts.values() for item in of} | self._ids
        ids |= {item: item for item in _rated_ids([*self._labels, *self._scores])}
        texts = {item: columns for of in contents for item, columns in of.items()}
        rows = response_rows(ids, texts)
        self._contents[file] = rows
        self._tasks += missing_texts(rows)

    def _note_unknown_responses(self) -> None:
        rated = {table.file: _rated_ids([table]) for table in (*self._labels, *self._scores)}
        rated |= {
            path: [*map(self._ids.__getitem__, rated_items(of))]
            for path, of in self._converted.items()
        }
        self._tasks += _unknown_responses(rated, self._responses)

    def _rubric(self) -> tuple[list[dict[str, object]] | None, list[str]]:
        """Return the questions and notes on them; None if a file of the folder holds them."""
        entries, notes = _entries_of_files(self._by_people, self._by_models, self._rows)
        self._notes += notes
        if files_in_folder(self._folder, "rubric"):
            return None, []
        drafted, notes = _rubric_of(self._labels, self._scores, self._responses)
        unordered = [str(entry["id"]) for entry in drafted if "level" in entry]
        if unordered:
            self._tasks.append(
                f"in {FILE}, write the words of {listed_briefly(unordered)} worst first, and leave "
                "out their level, unless they have no order"
            )
        by_id = {entry["id"]: entry for entry in reversed([*entries, *drafted])}
        if not by_id:
            reason = "as no ratings say what was asked"
            self._tasks.append(f"replace the example question in {FILE}, {reason}")
        return [*by_id.values()][::-1] or [EXAMPLE_QUESTION], notes


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
    for same in (of for of in alike.values() if len(of) > 1):
        stems = {path.stem for path in same}
        for path in same:  # each in a folder of the rater, if the names of files are equal
            rater = path.stem if len(stems) == len(same) else path.parent.name
            read[path] = _ratings_or_problem(path, options, rater=rater)
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
        for pair in zip(file.units.questions, file.ratings().texts.stripped(), strict=True)
    )
    by_judges = ratings_by_question(
        pair
        for table in scores
        for pair in zip(
            table.stripped("question_id", "indicator_id"),
            ratings_in(table, "score", "aiescore").texts.stripped(),
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
