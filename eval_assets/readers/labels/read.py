"""Label files to one table of human ratings, checked against rubric and responses."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import SESSIONS
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, SheetLine, gathered, raise_all
from eval_assets.frame_columns import LABEL_COLUMNS, REJECTED_COLUMNS
from eval_assets.readers.columns import CodedColumn
from eval_assets.readers.formats.contents import SHEET, FileContent, content_of_evaluation, table_of
from eval_assets.readers.formats.files import named
from eval_assets.readers.formats.table import BoolArray, FileColumn
from eval_assets.readers.names import ONE_SPELLING, Who, appearance, look_alikes, who
from eval_assets.readers.problems import (
    MessageAndRemedy,
    RowProblems,
    input_error,
    listed_briefly,
    off_scale,
    quoted,
    repeated,
)
from eval_assets.readers.rated_rows import (
    FIELDS,
    RatedRows,
    columns_text,
    readings_in_file,
    rows_of_reading,
    rows_of_table,
)
from eval_assets.readers.readings.rater_columns import judges_by_kind
from eval_assets.readers.readings.table_reading import Reading
from eval_assets.readers.references import (
    RESPONSE_ID,
    UNKNOWN,
    PositionArray,
    ResponseUnits,
    has_references,
    rounds_in,
    units_of,
)
from eval_assets.readers.values import FloatArray, RatingCells, in_utc, parsed_ratings
from eval_assets.wording import counted

_LABELS = (
    "labels",
    (
        "Give the columns of one of them: long (response_id, rater_id, question_id, rating), "
        "sheet (indicator_id, convo_id, turn_index, seed, model, rater_id, score), "
        "wide (response_id and a column for each rater or question), "
        "workshop (trace_id, user_id, ratings), session export (dimension, labelerId, labels)"
    ),
)

_FEWEST_OF_A_REMOVED_QUESTION = 5
"""Labels of an unknown question from which on it is one that was removed, not a typing error."""

_MODEL_REMEDY = "Declare judges for their scores, or labelling: {raters: [...]} if they are people"

_UNIT_AND_RATER = ["response_id", "question_id", "rater_id", "round"]
"""Columns that are unique together among ratings."""

_LONGEST_CELL = 30_000
"""Characters of a cell from which on a spreadsheet may have cut it."""

_RARE = re.compile(r"[^\x00-\x7f]|\?")
_SKIPPED = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

_RejectedRow = tuple[InputProblem, str | None, str | None]
"""Problem of a row that is no label, with its rater and question as far as it names them."""


@dataclass(frozen=True)
class Labels:
    """Human ratings of one file, or of all files of an evaluation.

    Args:
        ratings: Columns `LABEL_COLUMNS`, one row a rating or a skipped unit; at most one for each
            unit and rater. `value` is on the question's scale, NaN if `skipped`.
        earlier: Ratings of units that were rated again in a later round, likewise.
        rejected: Columns `REJECTED_COLUMNS`, one row for each row that was left out; empty unless
            the evaluation says `on_error: reject_rows`.
        n_unrated: Rows whose rating is blank, which are neither ratings nor errors.
        notes: How files were read if that had to be guessed, and which labels were ignored.
        unrated: Response, question and rater of each blank row that names its rater.
    """

    ratings: pd.DataFrame
    earlier: pd.DataFrame
    rejected: pd.DataFrame
    n_unrated: int
    notes: tuple[str, ...]
    unrated: pd.DataFrame


def read_labels(
    evaluation: Evaluation,
    responses: pd.DataFrame,
    *,
    texts: Callable[[], Sequence[str | None]] | None = None,
    some_unread: bool = False,
) -> Labels:
    """Return all human ratings of the evaluation, checked against their questions' scales.

    Of a unit that was rated in several rounds, the ratings of the latest count. Labels of a
    question that was removed from the rubric are ignored, and counted in a note.

    Args:
        evaluation: Names the label files, and whether bad rows are rejected.
        responses: The responses that can be rated, in `RESPONSE_COLUMNS`.
        texts: Returns the text of each, if a file holds the rated texts; None if they are in
            `responses`.
        some_unread: Whether other responses could not be read: labels of unknown responses are
            then one problem, and not one each.

    Raises:
        ExceptionGroup: Of an InputError for each bad row of all files, unless rows are rejected
            one by one; then only of those files that cannot be used at all.
    """
    units = units_of(evaluation, responses, texts=texts, some_unread=some_unread)
    scales = {question.id: question.scale for question in evaluation.rubric}
    # A rater with the id of a judge is refused below.
    known_names = (*evaluation.labelling.raters, *(judge.id for judge in evaluation.judges))
    known_ids = frozenset(units.response_ids)
    files: list[RatedRows] = []
    unusable: list[InputProblem] = []
    for path in evaluation.labels.files:
        with gathered(unusable):
            content = _content(path, evaluation.folder)
            certain = _certain_labels(content, [*scales])
            if certain is not None:
                files.append(_without_models(certain, known_names))
                continue
            readings = readings_in_file(content, scales, forms=_LABELS, response_ids=known_ids)
            rows = [_rows_of_people(reading, [*scales]) for reading in readings]
            files += [_without_models(of, known_names) for of in rows]
    counts = Counter(name for file in files for name in file.questions if name)
    removed = {
        name: n
        for name, n in counts.items()
        if n >= _FEWEST_OF_A_REMOVED_QUESTION and not get_close_matches(name, [*scales], n=1)
    }
    notes = [f"{file.table.file}: {note}" for file in files for note in file.table.notes]
    notes += [
        f"{n} labels of {quoted(name)} are ignored: the rubric does not ask it"
        for name, n in removed.items()
    ]
    frames, rejected = [], list[_RejectedRow]()
    for file in files:
        labels, bad_rows = _checked_labels(file, evaluation.rubric, units, ignored=removed)
        frames.append(labels)
        rejected += bad_rows
    return _joined(frames, rejected, evaluation, unusable=unusable, notes=tuple(notes))


def _without_models(labels: RatedRows, known_names: Collection[str]) -> RatedRows:
    """Return the labels without those of language models, and a note that names these."""
    raters = labels.stripped("rater_id")
    known_ids = set(map(appearance, known_names))
    columns = [CodedColumn.of(name, cells) for name, cells in labels.table.columns.items()]
    of_kind = judges_by_kind(columns, CodedColumn.of("", raters))
    models = [
        rater
        for rater in raters.present
        if rater
        and (rater in of_kind or who(rater) is Who.JUDGE)
        and appearance(rater) not in known_ids
    ]
    if not models or len(raters.present) == len(models):
        return labels
    is_person = raters.array(bool, lambda rater: rater not in models)
    note = f"{', '.join(models)} left out, as models are no human raters. {_MODEL_REMEDY}"
    return labels.take(np.flatnonzero(is_person)).with_note(note)


def _content(path: Path, folder: Path) -> FileContent:
    """Return the content of a label file; of a session, as its export has it."""
    if path.parent != folder / SESSIONS:
        return content_of_evaluation(path, folder=folder)
    from eval_assets.labelling.session_files import session_folder, session_json  # loads pydantic

    session = session_folder(folder).find(path.stem)
    document = [] if session is None else [json.loads(json.dumps(session_json(session)))]
    return FileContent(named(path, folder=folder), document)


def _joined(
    frames: Sequence[pd.DataFrame],
    rejected: list[_RejectedRow],
    evaluation: Evaluation,
    *,
    unusable: Sequence[InputProblem],
    notes: tuple[str, ...],
) -> Labels:
    """Return the labels of several files together; `unusable` are problems of files as a whole."""
    frames = [frame for frame in frames if len(frame)] or [_labels_frame({})]
    ratings = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    is_blank = ratings["value"].isna() & ~ratings["skipped"]
    blank, ratings = ratings[is_blank], ratings[~is_blank] if is_blank.any() else ratings
    is_second = ratings.duplicated(_UNIT_AND_RATER, keep="first")
    if is_second.any():
        rejected += _second_ratings(ratings)
    # In the order of files and their sheets, and of lines in each.
    position = {(p.file, p.sheet): i for i, (p, _, _) in reversed(list(enumerate(rejected)))}
    rejected.sort(key=lambda row: (position[row[0].file, row[0].sheet], row[0].line or 0))
    problems = [*unusable, *_rater_problems(ratings, evaluation)]
    if evaluation.labels.on_error != "reject_rows":
        problems += [problem for problem, _, _ in rejected]
    raise_all(problems, source="the labels")
    current = ratings[~is_second] if is_second.any() else ratings
    # Of as many categories as responses, DuckDB takes longer than of texts.
    current = current[list(LABEL_COLUMNS)].reset_index(drop=True).astype({"response_id": object})
    earlier = current.head(0)
    if current["round"].min() < current["round"].max():
        rounds_of_unit = current.groupby(_UNIT_AND_RATER[:2], observed=True)["round"]
        is_latest = current["round"] == rounds_of_unit.transform("max")
        earlier = current[~is_latest].reset_index(drop=True)
        current = current[is_latest].reset_index(drop=True)
        n_earlier = int(earlier["value"].notna().sum())
        aside = f"set aside {counted(n_earlier, 'rating')} of earlier rounds"
        notes = (*notes, f"{aside}, since one round of each response counts")
    # A column for each rater has a cell for each response, which says nothing of an assignment.
    is_assigned = blank["rater_id"].notna() & (blank["rater_header"] != blank["rating_header"])
    unrated = blank.loc[is_assigned, _UNIT_AND_RATER[:3]].astype(object)
    unit = pd.MultiIndex.from_frame(unrated)
    is_rated = unit.isin(pd.MultiIndex.from_frame(current[_UNIT_AND_RATER[:3]]))
    unrated = unrated[~is_rated & ~unit.duplicated()].reset_index(drop=True)
    cells = [
        (*astuple(problem), rater, question, problem.sheet) for problem, rater, question in rejected
    ]
    rejected_rows = pd.DataFrame(cells, columns=list(REJECTED_COLUMNS), dtype=object)
    return Labels(current, earlier, rejected_rows, len(blank), notes, unrated)


def _rater_problems(ratings: pd.DataFrame, evaluation: Evaluation) -> list[InputProblem]:
    """Return a problem for each rater whose id looks like another's, or is that of a judge."""
    raters = list(map(str, ratings["rater_id"].unique()))
    judges = {appearance(judge.id): judge.id for judge in evaluation.judges}
    remedy = "Remove the judge's scores from the labels, or rename the rater"
    wrong_ids = [(alike[1], message, ONE_SPELLING) for alike, message in look_alikes(raters)]
    wrong_ids += [
        (rater, f"{quoted(rater)} is the id of the judge {quoted(judge)}", remedy)
        for rater in raters
        if (judge := judges.get(appearance(rater)))
    ]
    problems = []
    for rater, *texts in wrong_ids:
        label = ratings[ratings["rater_id"] == rater].iloc[0]
        problems.append(InputProblem(*label[["file", "line", "rater_header"]], *texts))
    return problems


# One file.


def _certain_labels(content: FileContent, question_ids: Sequence[str]) -> RatedRows | None:
    """Return the labels of a file whose columns have the names of a form; None for other files."""
    try:
        table = table_of(content)
    except InputError:  # records on several levels
        return None
    if SHEET in table.columns:
        is_question = set(table.columns[SHEET]) <= set(question_ids)
        role = "question_id" if is_question else FIELDS["rater_id"][0]
        columns = {h: cells for h, cells in table.columns.items() if h != SHEET}
        table = table.with_columns({role: table.columns[SHEET], **columns})
    is_session = table.has("labels", "dimension")
    has_ratings = table.has("ratings") or (table.has("rating") and not table.has("question_id"))
    if is_session or (has_ratings and table.has("user_id") and table.header_of(*RESPONSE_ID)):
        from eval_assets.readers.labels.nested import session_labels, workshop_labels  # pydantic

        return (session_labels if is_session else workshop_labels)(table, question_ids)
    rater, rating = table.header_of(*FIELDS["rater_id"]), table.header_of(*FIELDS["rating"])
    if not table.columns or (has_references(table) and rater and rating):
        return rows_of_table(table, question_ids)
    return None


def _rows_of_people(reading: Reading, question_ids: Sequence[str]) -> RatedRows:
    rated = [of for of in reading.rated if not of.is_judge] or reading.rated
    unnamed = [of.column.name for of in rated if not of.rater and reading.rater is None]
    if unnamed:
        message = f"no column says who gave the ratings in {listed_briefly(unnamed)}"
        remedy = "Add a column rater_id, or name the columns by rater and question, as in anna: "
        raise input_error(reading.table.file, message, remedy + unnamed[0], line=1)
    rows = rows_of_reading(reading, rated, question_ids)
    columns = columns_text([of.column.name for of in rated])
    if reading.rater is None:
        questions = sorted(filter(None, set(rows.questions.present)))
        of_questions = f" of {', '.join(questions)}" if len(question_ids) > 1 else ""
        return rows.with_note(f"{columns} read as raters{of_questions}")
    items = " and ".join(column.name for column in reading.items) or "each row"
    return rows.with_note(f"{columns} read as ratings of {items} by {reading.rater.name}")


# Rows, checked against rubric and responses.


def _checked_labels(
    parsed: RatedRows,
    rubric: Sequence[RubricQuestion],
    units: ResponseUnits,
    *,
    ignored: Collection[str],
) -> tuple[pd.DataFrame, list[_RejectedRow]]:
    """Return the valid and the blank labels of one file, and the problem of each of the others.

    Labels have the further columns `rating_header` and `rater_header`, the column or key of each
    rating and of its rater; those of `ignored` questions are neither kept nor wrong.
    """
    table = parsed.table
    problems = RowProblems(table.file, table.lines)
    is_ignored = parsed.questions.array(bool, ignored.__contains__)
    responses = units.responses(parsed.responses)
    questions = units.questions(parsed.questions, responses)
    units.add_unknown(problems, parsed, responses=responses, questions=questions)
    _add_other_texts(problems, parsed, units, responses)
    cells = parsed_ratings(parsed.table.text(*FIELDS["rating"]))
    skip_cells = parsed.stripped("skipped")
    flags = skip_cells.map(lambda cell: _SKIPPED.get((cell or "false").lower()))
    message = "is neither true nor false"
    remedy = "Write true if the unit was skipped, or else nothing"
    problems.add(flags.is_none(), parsed.headers["skipped"], message, remedy, skip_cells)
    skipped: BoolArray = flags.array(bool)
    _add_rater_problems(problems, parsed, rated=~cells.blank, skipped=skipped)
    values = _values(problems, parsed, cells, rubric=rubric, questions=questions)
    raters = parsed.stripped("rater_id")
    rater_ids = list(filter(None, raters.present))
    place = {name: code for code, name in enumerate(rater_ids)}
    rater_codes = raters.array(np.int32, lambda name: place.get(name or "", UNKNOWN))
    cells_of_time = parsed.stripped("labelled_at")
    times = cells_of_time.map(lambda cell: in_utc(cell) if cell else None)
    bad, remedy = times.is_none() & ~cells_of_time.is_none(), "Write it as 2026-11-21T04:00:00Z"
    problems.add(bad, parsed.headers["labelled_at"], "is not a time", remedy, cells_of_time)
    columns = {name: parsed.stripped(name) for name in FIELDS if name in LABEL_COLUMNS} | {
        "response_id": _names(units.response_ids, responses),
        "question_id": _names(units.question_ids, questions),
        "rater_id": pd.Categorical.from_codes(rater_codes, pd.Index(rater_ids, dtype=object)),
        "value": np.where(skipped | cells.blank, np.nan, values),
        "labelled_at": times,
        "skipped": skipped,
        "round": rounds_in(parsed.stripped("round"), parsed.headers["round"], problems),
        "details": parsed.stripped("details").map(_as_json),
        "file": FileColumn.repeat(table.file, len(table)),
        "line": np.array(table.lines, dtype=object)
        if len(table) and isinstance(table.lines[0], SheetLine)
        else pd.Index(table.lines).to_numpy(dtype=np.int64),  # quick of a range
        "rating_header": parsed.rating_headers,
        "rater_header": FileColumn.repeat(parsed.headers["rater_id"], len(table))
        if parsed.headers["rater_id"] is not None
        else parsed.rating_headers,
    }
    frame = _labels_frame(columns)
    is_valid = ~problems.bad & ~is_ignored
    rejected: list[_RejectedRow] = [(problem, None, None) for problem in table.bad_rows]
    rejected += [
        (problem, raters[row], parsed.questions[row])
        for row, problem in problems.by_row()
        if not is_ignored[row]
    ]
    return frame if is_valid.all() else frame[is_valid], rejected


def _second_ratings(ratings: pd.DataFrame) -> list[_RejectedRow]:
    """Return each further rating of a unit by the same rater in the same round."""
    sharing = ratings[ratings.duplicated(_UNIT_AND_RATER, keep=False)]
    units = [*sharing[_UNIT_AND_RATER].itertuples(index=False, name=None)]
    places = [*sharing[["file", "line", "rating_header"]].itertuples(index=False, name=None)]
    is_second, first_row = repeated(units)
    rejected: list[_RejectedRow] = []
    for row in np.flatnonzero(is_second).tolist():
        response_id, question_id, rater_id, _ = units[row]
        (file, line, header), first = places[row], places[first_row[units[row]]]
        message = (
            f"a second rating of {quoted(response_id)} on {quoted(question_id)} "
            f"by {quoted(rater_id)}, the first is {first[0]}:{first[1]}"
        )
        problem = InputProblem(file, line, header, message, "Keep one of the two")
        rejected.append((problem, rater_id, question_id))
    return rejected


def _labels_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return columns of labels, each in its dtype: text as objects, None if empty.

    Names of responses, questions and raters may be categories, which are compared by their codes.
    """
    dtypes = {"value": float, "skipped": bool, "round": int, "line": None}
    names = (*LABEL_COLUMNS, "rating_header", "rater_header")
    return pd.DataFrame(
        {name: _series(columns.get(name, ()), dtypes.get(name, object)) for name in names},
        copy=False,
    )


def _series(cells: object, dtype: type | None) -> pd.Series:
    """Return a column; one that repeats a single value takes no memory for its rows."""
    if isinstance(cells, pd.Categorical):
        return pd.Series(cells, copy=False)
    if isinstance(cells, FileColumn) and len(cells.values) == 1:
        [value] = cells.values
        same: npt.NDArray[Any] = np.broadcast_to(np.array([value], dtype=dtype), len(cells))
        return pd.Series(same, dtype=dtype, copy=False)
    cells = cells.array(object) if isinstance(cells, FileColumn) else cells
    return pd.Series(cells, dtype=dtype, copy=False)


def _names(ids: Sequence[str], positions: PositionArray) -> pd.Categorical:
    categories = pd.Index(np.array(ids, dtype=object))
    return pd.Categorical.from_codes(np.maximum(positions, UNKNOWN), categories)


def _add_other_texts(
    problems: RowProblems, parsed: RatedRows, units: ResponseUnits, responses: PositionArray
) -> None:
    """Add rows whose text differs from that of the response: raters rated another text."""
    header = parsed.table.header_of("response_text")
    if header is None or units.texts is None:
        return
    texts, rated = FileColumn.of(units.texts()), parsed.table.text(header)
    stored_words, rated_words = texts.map(_words), rated.map(_words)
    differs = [
        at >= 0 and bool(words) and len(words) < _LONGEST_CELL and words != stored_words[at]
        for words, at in zip(rated_words, responses, strict=True)
    ]

    def describe(row: int) -> MessageAndRemedy:
        text, response_text = quoted(rated[row]), quoted(texts[responses[row]])
        message = f"{text} is not the text of the response, which is {response_text}"
        return message, "Restore the response that was rated, or remove the rating"

    problems.add_described(np.array(differs, dtype=bool), header, describe)


def _words(text: str | None) -> str:
    """Return a text for comparison: spreadsheets change line ends, blanks and rare letters."""
    return " ".join(_RARE.sub("", (text or "").lstrip("'")).split())


def _add_rater_problems(
    problems: RowProblems, parsed: RatedRows, *, rated: BoolArray, skipped: BoolArray
) -> None:
    cells, header = parsed.table.cells(*FIELDS["rater_id"]), parsed.headers["rater_id"]
    problems.add_described(
        cells.array(bool, lambda cell: isinstance(cell, list | dict)),
        header,
        lambda row: (f"{quoted(json.dumps(cells[row]))} is not one rater", "Write the id of one"),
    )
    unnamed = parsed.stripped("rater_id").is_none() & (rated | skipped)
    message, remedy = "the unit is both rated and skipped", "Empty one of the two cells"
    problems.add(unnamed, header, "a rating without a rater", "Fill in who gave it")
    problems.add(rated & skipped, parsed.headers["skipped"], message, remedy)


def _values(
    problems: RowProblems,
    parsed: RatedRows,
    cells: RatingCells,
    *,
    rubric: Sequence[RubricQuestion],
    questions: PositionArray,
) -> FloatArray:
    """Return values on the scale of each row's question; add rows off it."""
    values = np.full(len(parsed.table), np.nan)
    is_off = np.zeros(len(parsed.table), dtype=bool)
    for position, question in enumerate(rubric):
        rows = questions == position
        values[rows], contained = cells.take(rows).on_scale(question.scale)
        is_off[rows] = ~cells.blank[rows] & ~contained
    texts = parsed.table.text(*FIELDS["rating"])

    problems.add_described(
        is_off, parsed.rating_headers, lambda row: off_scale(texts[row], rubric[questions[row]])
    )
    return values


def _as_json(cell: str | None) -> str | None:
    """Return a JSON object as it is, and any other text as a JSON string."""
    if cell is None:
        return None
    try:
        return cell if isinstance(json.loads(cell), dict) else json.dumps(cell)
    except ValueError:
        return json.dumps(cell)
