"""Label files to one table of human ratings."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import SESSIONS
from eval_assets.errors import InputError, InputProblem, gathered, raise_all
from eval_assets.frame_columns import LABEL_COLUMNS
from eval_assets.readers.columns import CodedColumn
from eval_assets.readers.formats.contents import (
    SHEET,
    FileContent,
    content_of_evaluation,
    table_of,
)
from eval_assets.readers.formats.files import named
from eval_assets.readers.formats.table import FileColumn
from eval_assets.readers.labels.validation import (
    UNIT_AND_RATER,
    Labels,
    RejectedRow,
    checked_labels,
    labels_frame,
    rejected_frame,
    second_ratings,
)
from eval_assets.readers.names import (
    ONE_SPELLING,
    Who,
    appearance,
    look_alikes,
    who,
)
from eval_assets.readers.problems import input_error, listed_briefly, quoted
from eval_assets.readers.rated_rows import (
    FIELDS,
    RatedRows,
    columns_text,
    field_headers,
    readings_in_file,
    rows_of_reading,
)
from eval_assets.readers.readings.rating_rows import judges_by_kind
from eval_assets.readers.readings.table_reading import Reading
from eval_assets.readers.references import RESPONSE_ID, has_references, references_in, units_of
from eval_assets.scale import Scale
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
            rows = rows_of_labels(content, questions=scales, response_ids=known_ids)
            files += [_without_models(of, known_names) for of in rows]
    removed = _removed_questions(files, list(scales))
    notes = [f"{file.table.file}: {note}" for file in files for note in file.table.notes]
    notes += [
        f"{n} labels of {quoted(name)} are ignored: the rubric does not ask it"
        for name, n in removed.items()
    ]
    labels = [checked_labels(file, evaluation.rubric, units, ignored=removed) for file in files]
    return _joined(labels, evaluation, unusable=unusable, notes=tuple(notes))


def _without_models(labels: RatedRows, known_names: Collection[str]) -> RatedRows:
    """Return the labels without those of language models, and a note that names these."""
    raters = labels.stripped("rater_id")
    known_ids = set(map(appearance, known_names))
    columns = [CodedColumn.of(name, cells) for name, cells in labels.table.columns.items()]
    of_kind = judges_by_kind(columns, CodedColumn.of("", raters))
    models = [
        rater
        for rater in raters.present()
        if rater
        and (rater in of_kind or who(rater) is Who.JUDGE)
        and appearance(rater) not in known_ids
    ]
    if not models or len(raters.present()) == len(models):
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
    files: Sequence[Labels],
    evaluation: Evaluation,
    *,
    unusable: Sequence[InputProblem],
    notes: tuple[str, ...],
) -> Labels:
    """Return the labels of several files together; `unusable` are problems of files as a whole."""
    frames = [file.ratings for file in files if len(file.ratings)] or [labels_frame({})]
    ratings = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    is_second = ratings.duplicated(UNIT_AND_RATER, keep="first")
    rejected: list[RejectedRow] = [
        (InputProblem(*problem), rater, question)
        for file in files
        for *problem, rater, question, _ in file.rejected.itertuples(index=False, name=None)
    ]
    if is_second.any():
        rejected += second_ratings(ratings)
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
        rounds_of_unit = current.groupby(UNIT_AND_RATER[:2], observed=True)["round"]
        is_latest = current["round"] == rounds_of_unit.transform("max")
        earlier = current[~is_latest].reset_index(drop=True)
        current = current[is_latest].reset_index(drop=True)
        n_earlier = int(earlier["value"].notna().sum())
        aside = f"set aside {counted(n_earlier, 'rating')} of earlier rounds"
        notes = (*notes, f"{aside}, since one round of each response counts")
    n_unrated = sum(file.n_unrated for file in files)
    unrated = pd.concat([current.head(0)[UNIT_AND_RATER[:3]], *(file.unrated for file in files)])
    unit = pd.MultiIndex.from_frame(unrated)
    is_rated = unit.isin(pd.MultiIndex.from_frame(current[UNIT_AND_RATER[:3]]))
    unrated = unrated[~is_rated & ~unit.duplicated()].reset_index(drop=True)
    return Labels(current, earlier, rejected_frame(rejected), n_unrated, notes, unrated)


def _removed_questions(files: Sequence[RatedRows], question_ids: Sequence[str]) -> Counter[str]:
    """Return the number of labels of each question that was removed from the rubric."""
    counts = Counter[str]()
    for file in files:
        questions = file.units.questions
        numbers = np.bincount(questions.codes, minlength=len(questions.values)).tolist()
        for name, n in zip(questions.values, numbers, strict=True):
            if name is not None:
                counts[name] += n
    frequent = ((name, n) for name, n in counts.items() if n >= _FEWEST_OF_A_REMOVED_QUESTION)
    return Counter({k: n for k, n in frequent if not get_close_matches(k, question_ids, n=1)})


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


def rows_of_labels(
    content: FileContent,
    *,
    questions: Mapping[str, Scale],
    response_ids: Collection[str],
) -> list[RatedRows]:
    """Return the labels of a file, of each of its tables.

    `questions` are those of the rubric with their scales, `response_ids` those of the evaluation.

    Raises:
        ExceptionGroup: Of an InputError for each place that leaves open who rated what.
    """
    question_ids = list(questions)
    if (certain := _certain_labels(content, question_ids)) is not None:
        return [certain]
    readings = readings_in_file(content, questions, forms=_LABELS, response_ids=response_ids)
    return [_rows_of_people(reading, question_ids) for reading in readings]


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
        headers = field_headers(table)
        rating_headers = FileColumn.repeat(headers["rating"], len(table))
        return RatedRows(table, references_in(table, question_ids), headers, rating_headers)
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
        questions = sorted(filter(None, set(rows.units.questions.present())))
        of_questions = f" of {', '.join(questions)}" if len(question_ids) > 1 else ""
        return rows.with_note(f"{columns} read as raters{of_questions}")
    items = " and ".join(column.name for column in reading.items) or "each row"
    return rows.with_note(f"{columns} read as ratings of {items} by {reading.rater.name}")
