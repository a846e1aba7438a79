"""A file of ratings without a rubric: its items, raters, questions and scales."""

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shlex import quote

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import FILE, Evaluation, Gate, GateName, default_gates
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, gathered, raise_all
from eval_assets.readers._cells import is_absent, is_no_opinion
from eval_assets.readers._guessed_scales import (
    likely_scale,
    missing_code,
    scale_from_one,
    wider_scale,
)
from eval_assets.readers._problems import input_error, listed_briefly, quoted
from eval_assets.readers.formats.delimited import DelimitedHeader, named_columns, numbered_names
from eval_assets.readers.formats.files import named
from eval_assets.readers.formats.row_files import format_of, read_table
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain
from eval_assets.readers.importers.export_content import Record
from eval_assets.readers.importers.tool_exports import (
    import_records,
    read_records,
    recognised_tools,
    records_of,
)
from eval_assets.readers.labels.headers import (
    QUESTION,
    SUMMARIES,
    TEXT_COLUMNS,
    TURN,
    item_header,
)
from eval_assets.readers.labels.read import joined_labels, without_models
from eval_assets.readers.labels.source_tables import (
    Tops,
    rows_of_ratings,
    with_numbers,
    without_crosses,
)
from eval_assets.readers.labels.validation import (
    FIELDS,
    Labels,
    ParsedLabels,
    checked_labels,
    labels_of_records,
)
from eval_assets.readers.labels.without_rubric import (
    RatingsOptions,
    item_columns,
    label_layouts,
)
from eval_assets.readers.references import ResponseUnits
from eval_assets.scale import Scale
from eval_assets.wording import counted

_FRAME = "data frame"
_ROWS_OF_TEXT = (".csv", ".tsv", ".txt")
_GROUPS = ("group_id", "prompt_id")
_GROUPING = ("prompt_text", "response_text", "group_id")
"""Columns of responses by which they are grouped; `prompt_id` is one of their attributes."""

_NESTED = (".json", ".jsonl", ".ndjson", ".parquet", ".eval")
_ANY_ROWS = "hugging-face"
"""The tool whose rows are hard to tell from a plain table."""

_TOOLS_OF_TABLES = (
    *("label-studio", "argilla", "prodigy", "mlflow", "langsmith", "phoenix", "langfuse"),
    *("braintrust", "potato"),
)
"""Tools whose rows of text no other table looks like."""

_N_EXAMPLES = 3
_MOST_UNDECIDED = 0.2
"""Share of cells such as "Unsure" that are read as no rating."""

_SAMPLE = 20
"""Rows from which the tool is recognised."""


@dataclass(frozen=True)
class RatingsFile:
    """The labels of a file, and the evaluation that they imply.

    Args:
        evaluation: Its rubric has a question for each that is rated.
        responses: What is rated: the responses of evaluation.yaml beside the file if they hold all
            items, else the items alone.
        labels: The labels; their notes say how the file was read as far as that was guessed.
        raters: Raters, as `RatingsOptions.raters` would name them to read the file like this.
        wider: The evaluation with guessed scales as wide as they may be; None if none is guessed,
            or none may be wider.
        from_one: The evaluation with guessed scales without 0, where that may mean no rating; None
            if it means one.
        contents: Returns the columns of the items with separate rows, by item.
        unread: Columns that hold nothing of a label; `contents` may hold some of them.
        tool: Tool that exported the file; None if it is a table.
        other_layout: The labels if its headers are read the other way round; None if that is not
            plausible.
    """

    evaluation: Evaluation
    responses: pd.DataFrame
    labels: Labels
    raters: tuple[str, ...]
    wider: Evaluation | None
    from_one: Evaluation | None
    contents: Callable[[], Mapping[str, Mapping[str, str]]] = dict
    unread: tuple[str, ...] = ()
    tool: str | None = None
    other_layout: "RatingsFile | None" = None

    def notes(self, remedy: str) -> tuple[str, ...]:
        """Return how the file was read, with a remedy for wrong guesses of scales."""
        guesses = {q.id: q.scale for q in self.evaluation.rubric if q.scale_guessed}
        return (*self.labels.notes, *scale_notes(guesses, remedy))


@dataclass(frozen=True)
class _Source:
    """Layouts of a file, tops of its scales, columns of its items, and the tool that wrote it."""

    layouts: Sequence[ParsedLabels]
    tops: Tops
    contents: Callable[[], Mapping[str, Mapping[str, str]]]
    tool: str | None = None
    has_groups: bool = True


@dataclass(frozen=True)
class _Beside:
    """Declarations of the evaluation.yaml beside a file, if it can be used."""

    questions: Mapping[str, RubricQuestion] = field(default_factory=dict)
    gates: Mapping[GateName, Gate] = field(default_factory=default_gates)
    responses: pd.DataFrame | None = None
    rejects_rows: bool = False
    notes: tuple[str, ...] = ()


def read_ratings_file(
    path: Path, options: RatingsOptions, *, rater: str | None = None
) -> RatingsFile:
    """Return the labels of a file in any form, long or wide; all of them by one `rater`, if given.

    Without a scale, questions that evaluation.yaml beside the file declares are on theirs. Its
    gates and responses always count.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or for the file if it leaves the raters,
            the items or the scale open.
    """
    try:
        source = _labels_of_any_file(path, options, rater)
        return _with_other_layout(path, source, options, _beside(path, options))
    except InputError as error:
        raise ExceptionGroup(f"{path.name} cannot be used", [error]) from error


def read_ratings_frame(frame: pd.DataFrame, options: RatingsOptions) -> RatingsFile:
    """Return the labels of a data frame in any form that a file may have; rows count from 1.

    Raises:
        InputError: If the frame leaves the raters, the items or the scale open.
        ExceptionGroup: Of an InputError for each bad row.
    """
    table = frame_table(frame)
    if options.scale is None:
        options = replace(options, scale=_scale_of_categories(frame))
    source = _labels_of_table(table, options, may_be_export=True)
    return _with_other_layout(Path(table.file), source, options, _Beside())


def _with_other_layout(
    path: Path, source: _Source, options: RatingsOptions, beside: _Beside
) -> RatingsFile:
    files = [_ratings_file(path, of, source, options, beside) for of in source.layouts]
    return replace(files[0], other_layout=files[1]) if len(files) > 1 else files[0]


def _ratings_file(
    path: Path, labels: ParsedLabels, source: _Source, options: RatingsOptions, beside: _Beside
) -> RatingsFile:
    labels = _without_placeholders(labels, options.scale)
    if not options.raters:
        labels = without_models(labels, remedy="--rater names all raters")
    rubric = _rubric(labels, source.tops, options, beside.questions)
    items = [str(item) for item in labels.units.responses.present() if item is not None]
    question_ids = [question.id for question in rubric]
    applies = np.ones((len(items), len(rubric)), dtype=bool)
    units = ResponseUnits(items, question_ids, applies, table=pd.DataFrame())
    checked = checked_labels(labels, rubric, units, ignored=())
    examples = _examples(checked.ratings, rubric)
    joined = joined_labels(
        [checked],
        unusable=[],
        rejects_rows=beside.rejects_rows,
        notes=(*labels.table.notes, *examples, *beside.notes),
        remedy_of_second=_remedy_of_second(labels),
    )
    joined = replace(joined, notes=(*joined.notes, *_rejection_notes(joined.rejected)))
    raters = tuple(map(str, joined.ratings["rater_id"].unique()))
    evaluation = Evaluation(path.stem, path.parent, rubric, gates=beside.gates)
    rated = _responses(joined.ratings["response_id"].unique().astype(object), source)
    is_known = beside.responses is not None and rated["response_id"].isin(
        beside.responses["response_id"]
    )
    responses = beside.responses if np.all(is_known) and beside.responses is not None else rated
    return RatingsFile(
        evaluation,
        responses,
        joined,
        raters,
        wider=_rescaled(evaluation, wider_scale),
        from_one=_rescaled(evaluation, scale_from_one),
        contents=source.contents,
        unread=labels.unread,
        tool=source.tool,
    )


def _rejection_notes(rejected: pd.DataFrame) -> list[str]:
    """Return a note on each row that is left out because evaluation.yaml says so."""
    return [
        f"left out, since {FILE} beside it says on_error: reject_rows: "
        + str(InputProblem(*problem)).removesuffix(".")
        for *problem, _, _, _ in rejected.itertuples(index=False, name=None)
    ]


def _remedy_of_second(labels: ParsedLabels) -> str:
    """Return the remedy of a second rating, with a column that may tell the items apart."""
    item, remedy = labels.units.response_header, "Keep one of the two"
    if item is None or not labels.unread:
        return remedy
    columns = f"--item {quote(f'{item},{labels.unread[0]}')}"
    return f"{remedy}, or if several columns say what was rated, pass them, as in {columns}"


def _responses(items: Iterable[object], source: _Source) -> pd.DataFrame:
    """Return the rated items, with the columns by which responses are grouped if there are any."""
    responses = pd.DataFrame({"response_id": items})
    if not source.has_groups:
        return responses
    contents = source.contents()
    rows = [contents.get(item, {}) for item in map(str, items)]
    headers = {plain(header): header for header in {header for row in rows for header in row}}
    for name in filter(headers.__contains__, _GROUPING):
        responses[name] = pd.Series([row.get(headers[name]) or None for row in rows], dtype=object)
    if "prompt_id" in headers:
        prompts = [row.get(headers["prompt_id"]) for row in rows]
        responses["attributes"] = [json.dumps({"prompt_id": of} if of else {}) for of in prompts]
    return responses


def unread_notes(headers: Sequence[str]) -> list[str]:
    """Return a note on columns that are left out, if there are any."""
    return [f"left out: {listed_briefly(headers)}"] if headers else []


def folder_of(path: Path) -> Path | None:
    """Return the evaluation folder that a file is in; None if it is in none."""
    folder = path.parent.parent if path.parent.name == "labels" else path.parent
    return folder if (folder / FILE).is_file() else None


def _beside(path: Path, options: RatingsOptions) -> _Beside:
    folder = folder_of(path)
    if folder is None:
        return _Beside()
    from eval_assets.readers.evaluation.read import read_evaluation  # it loads pydantic
    from eval_assets.readers.responses import read_responses

    problems: list[InputProblem] = []
    with gathered(problems):
        evaluation = read_evaluation(folder)
        responses = read_responses(evaluation)
    if problems:
        return _Beside(notes=(f"{FILE} beside it is not used ({problems[0].message})",))
    rejects_rows = evaluation.labels.on_error == "reject_rows"
    if options.scale is not None:
        note = f"gates of {FILE} beside it are used, and --scale in place of its scales"
        return _Beside({}, evaluation.gates, responses, rejects_rows, (note,))
    # Its limits are those of responses, of which a file of ratings need not know anything.
    questions = {question.id: replace(question, applies_to={}) for question in evaluation.rubric}
    note = f"scales and gates of {FILE} beside it are used"
    return _Beside(questions, evaluation.gates, responses, rejects_rows, (note,))


def _rescaled(
    evaluation: Evaluation, other_scale: Callable[[Scale], Scale | None]
) -> Evaluation | None:
    """Return the evaluation with other guessed scales; None if there is none."""
    scales = [other_scale(q.scale) if q.scale_guessed else None for q in evaluation.rubric]
    if not any(scales):
        return None
    pairs = zip(evaluation.rubric, scales, strict=True)
    rubric = tuple(replace(q, scale=scale) if scale else q for q, scale in pairs)
    return replace(evaluation, rubric=rubric)


def _examples(ratings: pd.DataFrame, rubric: Sequence[RubricQuestion]) -> list[str]:
    """Return a note with ratings by the first raters, to see that cells are read as they should."""
    scales = {question.id: question.scale for question in rubric}
    is_rated = ratings["value"].notna().to_numpy()
    code, raters = pd.factorize(ratings["rater_id"].where(is_rated))
    rows_of_rater = (np.flatnonzero(code == k) for k in range(min(len(raters), _N_EXAMPLES)))
    positions = [rows[min(k, len(rows) - 1)] for k, rows in enumerate(rows_of_rater)]
    rows = ratings.iloc[positions].to_dict("records")
    examples = [
        f"{row['rater_id']} rated {quoted(row['response_id'])[1:-1]}"
        f"{' on ' * (len(rubric) > 1)}{row['question_id'] * (len(rubric) > 1)}: "
        f"{scales[row['question_id']].shown(row['value'])}"
        for row in rows
    ]
    return [f"for example, {'; '.join(examples)}"] if examples else []


def _labels_of_any_file(path: Path, options: RatingsOptions, rater: str | None) -> _Source:
    exported = _exported_labels(path, plain_rows=False)
    if exported is not None:
        return exported
    if (path / FILE).is_file():
        remedy = f"Name its file of labels, or run: eval-assets run --data {quote(str(path))}"
        raise input_error(path.name, "this is an evaluation folder", remedy)
    table = read_table(path, folder=path.parent, skip_rows=options.skip_rows)
    if rater is not None:
        column, note = (
            {FIELDS["rater_id"][0]: FileColumn.repeat(rater, len(table))},
            f"rater {rater}",
        )
        table = table.with_columns({**table.columns, **column}, f"{note} read from the file's name")
    try:
        return _labels_of_table(table, options, may_be_export=format_of(path) in _ROWS_OF_TEXT)
    except InputError:
        exported = _exported_labels(path, plain_rows=True)
        if exported is None:
            raise
        return exported


def _labels_of_table(table: FileTable, options: RatingsOptions, *, may_be_export: bool) -> _Source:
    if not len(table):
        raise_all([*table.bad_rows], source=table.file)
    if options.missing_values:
        table = _without_words(table, options)
    if may_be_export and not table.bad_rows:
        start = records_of(table.take(np.arange(min(len(table), _SAMPLE))))
        tools = [tool for tool in recognised_tools(start) if tool in _TOOLS_OF_TABLES]
        if tools:
            return _labels_of_tool(tools[0], records_of(table), file=table.file)
    rows = rows_of_ratings(_without_summary_rows(table))
    crossed, tops_of_columns = without_crosses(rows)
    numbers, tops = with_numbers(crossed)
    layouts = label_layouts(numbers, options)
    names = (*_GROUPS, *TEXT_COLUMNS["prompt_text"], *TEXT_COLUMNS["model_name"], *TURN)
    has_groups = len(options.items) > 1 or rows.header_of(*names) is not None
    contents = partial(item_columns, rows, options)
    return _Source(layouts, {**tops_of_columns, **tops}, contents, has_groups=has_groups)


def _exported_labels(path: Path, *, plain_rows: bool) -> _Source | None:
    """Return the labels in a file that another tool exported, None if it is not such a file.

    With `plain_rows`, rows count that could as well be those of a table without a tool.

    Raises:
        InputError: If it is an export in which no person rated anything.
    """
    if format_of(path) not in _NESTED:
        return None
    try:
        records = read_records(path)
    except InputError:
        if format_of(path) == ".eval":
            raise
        return None
    tools = [tool for tool in recognised_tools(records) if (tool == _ANY_ROWS) == plain_rows]
    file = named(path, folder=path.parent)
    return _labels_of_tool(tools[0], records, file=file) if tools else None


def _labels_of_tool(tool: str, records: Sequence[Record], *, file: str) -> _Source:
    export = import_records(records, tool=tool)
    if not export.ratings:
        message = (
            f"this export of {tool} holds {counted(len(export.responses), 'response')} and "
            f"{counted(len(export.scores), 'score')} by judges, but no ratings by humans"
        )
        message += "".join(f"; {n:,} {loss}" for loss, n in export.losses.items())
        remedy = f"Run eval-assets import {file} --data FOLDER, and have raters label the responses"
        raise input_error(file, message, remedy)
    names = ("response_id", "question_id", "rater_id", "rating")
    labels = [
        (position, "rating", dict(zip(names, (*key, rating), strict=True)))
        for position, (key, (rating, _)) in enumerate(export.ratings.items(), start=1)
    ]
    headers = {"response_id": "response_id", "question_id": "question_id"}
    notes = [f"read as an export of {tool}"]
    notes += [f"not stored: {count:,} {loss}" for loss, count in export.losses.items()]
    notes += [f"not used: {count:,} {note}" for note, count in export.notes.items()]
    parsed = labels_of_records(file, labels, [], headers=headers, notes=notes)
    return _Source([parsed], {}, lambda: export.responses, tool)


def _without_summary_rows(table: FileTable) -> FileTable:
    header = item_header(table) or next(iter(table.columns), None)
    items = table.stripped(header) if header else FileColumn.repeat(None, 0)
    n_kept = len(items)
    while n_kept and plain(items[n_kept - 1] or "") in SUMMARIES:
        n_kept -= 1
    if n_kept == len(items):
        return table
    note = f"line {', '.join(map(str, table.lines[n_kept:]))} not read: it sums up the others"
    return replace(table.take(np.arange(n_kept)), notes=(*table.notes, note))


def _without_words(table: FileTable, options: RatingsOptions) -> FileTable:
    """Blank the words that mean no rating, except where they name an item, rater or question."""
    names = {*options.items, item_header(table), table.header_of(*FIELDS["rater_id"])}
    names |= {options.question, table.header_of(*QUESTION)}
    words = {word.casefold() for word in options.missing_values}
    columns = {
        header: cells.map(lambda c: "" if (as_text(c) or "").strip().casefold() in words else c)
        for header, cells in table.columns.items()
        if header not in names
    }
    note = f"read as not rated: {', '.join(map(quoted, options.missing_values))}"
    return table.with_columns({**table.columns, **columns}, note)


def _without_placeholders(labels: ParsedLabels, scale: Scale | None) -> ParsedLabels:
    """Return the labels with cells such as N/A blank, and a note with their number."""
    values = {word.casefold() for word in (scale.words if scale and scale.words else ())}
    header = labels.table.header_of(*FIELDS["rating"])
    cells = labels.table.cells(*FIELDS["rating"])
    unknown = cells.map(
        lambda cell: cell if isinstance(cell, str) and cell.strip().casefold() not in values else ""
    )
    absent, undecided = unknown.array(bool, is_absent), unknown.array(bool, is_no_opinion)
    # More of them may be the middle of a scale.
    if undecided.sum() <= _MOST_UNDECIDED * len(cells):
        absent |= undecided
    if header is None or not absent.any():
        return labels
    words = sorted({quoted(str(cell)) for cell in cells.take(absent).present()})
    note = f"{counted(int(absent.sum()), 'cell')} with {', '.join(words)} read as not rated"
    blanked = FileColumn.of(["" if a else c for c, a in zip(cells, absent.tolist(), strict=True)])
    table = labels.table.with_columns({**labels.table.columns, header: blanked}, note)
    return replace(labels, table=table)


def _rubric(
    labels: ParsedLabels,
    tops: Tops,
    options: RatingsOptions,
    declared: Mapping[str, RubricQuestion],
) -> tuple[RubricQuestion, ...]:
    file, cells, questions = labels.table.file, labels.ratings(), labels.units.questions
    scale, level = options.scale, options.level
    top_of = labels.rating_headers.array(float, lambda header: tops.get(header, np.nan))
    rubric: list[RubricQuestion] = []
    names = list(filter(None, questions.present()))
    if len(names) == len(declared) == 1:
        declared = dict.fromkeys(names, *declared.values())
    for name in names:
        if name in declared:
            question = declared[name]
            rubric.append(replace(question, id=name, level=level or question.level))
            continue
        rows = questions.is_(name)
        question_tops = np.unique(top_of[rows & ~np.isnan(top_of)]).tolist()
        if len(question_tops) > 1:
            message = f"some ratings are of {question_tops[0]:g}, others of {question_tops[-1]:g}"
            header = labels.rating_headers[int(np.argmax(rows & (top_of == question_tops[-1])))]
            raise input_error(file, message, "Bring them to one scale", line=1, column=header)
        top = max(question_tops, default=np.nan)
        on = scale or likely_scale(cells.take(rows), file=file, level=level, top=top)
        code = math.nan if scale else missing_code(cells.take(rows))
        if not math.isnan(code):
            rest = cells.values[rows & (cells.values != code)]
            ends = f"{np.nanmin(rest):g} and {np.nanmax(rest):g}"
            message = f"{code:g} is far from the other ratings, which lie between {ends}"
            remedy = (
                f"Pass --missing-values {code:g} if it means no rating, or with --scale the scale "
                "that raters saw"
            )
            row = int(np.argmax(rows & (cells.values == code)))
            line, header = labels.table.lines[row], labels.rating_headers[row]
            raise input_error(file, message, remedy, line=line, column=header)
        rubric.append(
            RubricQuestion(name, name, on, level or on.default_level(), scale_guessed=scale is None)
        )
    if not rubric:
        remedy = "Add some, one a row or a column for each rater"
        raise input_error(file, "there are no ratings", remedy, line=1)
    return tuple(rubric)


def scale_notes(guesses: Mapping[str, Scale], remedy: str) -> list[str]:
    """Return a note on the guessed scales of questions, if there are any."""
    questions: dict[str, list[str]] = {}
    for question_id, scale in guesses.items():
        questions.setdefault(scale.described(), []).append(question_id)
    scales = "; ".join(f"{values} ({listed_briefly(ids)})" for values, ids in questions.items())
    return [f"scale guessed from the ratings: {scales}. {remedy}"] if guesses else []


def frame_table(frame: pd.DataFrame) -> FileTable:
    """Return the cells of a frame; an index that is more than a count of the rows is a column.

    Examples:
        >>> frame = pd.DataFrame({"Anna": [4, None]}, index=pd.Index(["r1", "r2"], name="item"))
        >>> {header: list(cells) for header, cells in frame_table(frame).columns.items()}
        {'item': ['r1', 'r2'], 'Anna': ['4', '']}
    """
    counts_rows = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
    if not counts_rows:
        unnamed = [name or "item" for name in frame.index.names]
        frame = frame.reset_index(names=unnamed)
    names, notes = numbered_names([*map(_header, frame.columns)])
    cells = [
        FileColumn.of([_cell(cell) for cell in frame.iloc[:, k].tolist()])
        for k in range(len(names))
    ]
    columns = named_columns(DelimitedHeader(names, None, 0, tuple(notes)), cells, file=_FRAME)
    return FileTable(_FRAME, columns, range(1, len(frame) + 1), notes=tuple(notes))


def _scale_of_categories(frame: pd.DataFrame) -> Scale | None:
    """Return the scale that the order of categorical columns declares; None if there is none."""
    dtypes = [of for of in frame.dtypes if isinstance(of, pd.CategoricalDtype) and of.ordered]
    orders = {tuple(dtype.categories) for dtype in dtypes}
    if len(orders) != 1 or len(order := orders.pop()) < 2:  # noqa: PLR2004 - a scale has two values
        return None
    if all(isinstance(value, str) for value in order):
        return Scale.from_words(*order)
    values = tuple(map(float, order))
    return Scale(low=values[0], high=values[-1], values=values)


def _header(label: Hashable) -> str:
    """Return a label as the header of a file; those of several levels as a survey joins them."""
    if isinstance(label, tuple):
        return "_".join(str(part) for part in label if str(part))
    return str(label)


def _cell(cell: object) -> object:
    """Return a cell as CSV has it; lists and objects stay, which only JSON has."""
    if isinstance(cell, str | list | dict):
        return cell
    is_missing = cell is None or cell is pd.NA or cell is pd.NaT or cell != cell  # noqa: PLR0124 - NaN
    return "" if is_missing else as_text(cell)
