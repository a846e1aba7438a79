"""Files of ratings, of people and of judges, as tables: read by their values, not by names."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os.path import commonpath
from pathlib import Path
from typing import Any

import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, gathered, raise_all
from eval_assets.readers.columns import CodedColumn, CodedTable, Kind, combined, n_distinct
from eval_assets.readers.formats.contents import FileContent, content_of
from eval_assets.readers.formats.files import named, read_bytes
from eval_assets.readers.formats.header_rows import MOST_COLUMNS
from eval_assets.readers.header_parts import question_in, without_scale
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.importers.tool_exports import export_of, readings_of_export, tool_of
from eval_assets.readers.joined_files import (
    joined_readings,
    names_rater,
    notes_on_files,
    refusal_of,
)
from eval_assets.readers.judge_replies import ScoreOfReply, with_scores_of_replies
from eval_assets.readers.names import Role, is_rating_word
from eval_assets.readers.option_checks import check_effects, check_names
from eval_assets.readers.problems import input_error, listed_briefly, nearest, quoted
from eval_assets.readers.question_scales import ONE_QUESTION, with_values
from eval_assets.readers.rated_items import NO_RATINGS, rated_items, reasons_not_read
from eval_assets.readers.rating_frames import (
    CollectedRatings,
    collected_ratings,
    frame_of_ratings,
    with_one_spelling,
    without_copies,
)
from eval_assets.readers.rating_tables import (
    RATING_COLUMNS,
    SCORE_COLUMNS,
    Doubt,
    RatingTables,
    ReadOptions,
    Reason,
)
from eval_assets.readers.readings import best_readings
from eval_assets.readers.readings.table_reading import FRAME, METRIC, Reading, option_text, refused
from eval_assets.readers.sources import (
    content_of_frame,
    files_in,
    joined_tables,
    tables_of,
    with_words,
)
from eval_assets.readers.values import scale_from_one, scale_text, wider_scale
from eval_assets.scale import Scale
from eval_assets.wording import counted

_MOST_FORKS = 3
"""Choices whose other reading is computed: each takes as long as the first."""

_CONFIRMED = {"question": "item", "item": "question", "rating": "rater"}
"""Role whose option confirms a choice, by the option that reverses it."""


@dataclass(frozen=True)
class _RatingSource:
    """Tables of all files, or what a tool exported, under the names of messages."""

    tables: list[CodedTable]
    files: tuple[str, ...]
    readings: tuple[Reading, ...] = ()
    export: Export | None = None


def read_ratings(
    source: Sequence[Path] | pd.DataFrame,
    options: ReadOptions,
    *,
    evaluation: Evaluation | None = None,
    score_of: ScoreOfReply | None = None,
) -> RatingTables:
    """Return the ratings of people and judges in files of any form, or in a data frame.

    Which columns name items, raters and questions follows from their values; names choose between
    what the values leave open, and options always win. The scales of an evaluation count for its
    questions. With `score_of`, replies of judges are the scores that they state.

    Raises:
        ExceptionGroup: Of an InputError for each cell that is no rating, or for a file that leaves
            open who rated what.
    """
    if isinstance(source, pd.DataFrame) and options.scale is None:
        options = replace(options, scale=_scale_of_categories(source))
    tables = _source(source, options)
    if score_of is not None:
        scored = with_scores_of_replies(tables.tables, options, score_of)
        tables = replace(tables, tables=scored)
    result, readings = _read(tables, options, evaluation)
    doubts, alternatives = list(result.doubts), []
    forks = dict(fork for reading in readings for fork in reading.forks)
    doubts += [Doubt((), choice) for choice in [*forks][_MOST_FORKS:]]
    for choice, changed in [*forks.items()][:_MOST_FORKS]:
        other = None  # where raters may be parts of the item, a refusal leaves the doubt
        with suppress(InputError, ExceptionGroup):
            other, _ = _read(tables, replace(options, **dict[str, Any](changed)), evaluation)
        doubt = _doubt_of_fork(choice, changed, result, readings[0].table)
        if other is not None:
            alternatives.append((doubt, other))
        is_readable = other is not None or [*changed] == ["item"]
        doubts.append(doubt if is_readable else replace(doubt, option="", confirmation=""))
    for doubt, questions in _other_scales(result, readings[0].table):
        doubts.append(doubt)
        low = {question.id: question.scale.low for question in questions}
        lowest = result.ratings["question"].astype(object).map(low).astype(float)
        rated = result.ratings[result.ratings["value"] >= lowest].reset_index(drop=True)
        alternatives.append((doubt, replace(result, questions=questions, ratings=rated)))
    return replace(result, doubts=tuple(doubts), alternatives=tuple(alternatives))


def _doubt_of_fork(
    choice: str, changed: Mapping[str, Sequence[str] | str], result: RatingTables, table: CodedTable
) -> Doubt:
    """Return a choice with the options that reverse it, and those that confirm it."""
    columns, judges = result.columns, {*result.scores["judge"].unique()}
    parts = {name: (of,) if isinstance(of, str) else tuple(of) for name, of in changed.items()}
    # What is no question is part of the item, and what is no rating on its own a rater's.
    roles = [_CONFIRMED.get(name, name) for name in parts]
    roles += ["judge"] * any(name in columns["judge"] for name in parts.get("rater", ()))
    confirmed = {"rater": parts["judge"]} if [*parts] == ["judge"] else {}  # or is a person
    of_judges = [of for of in parts.get("rater", ()) if Path(of).stem in judges]
    if of_judges and not {*of_judges} & {*columns["judge"]}:  # names in rows, or files
        confirmed = {"judge": tuple(of_judges)}
    roles = [of for of in roles if columns[of]] or ["rater"]  # that a column names raters
    confirmed = confirmed or {role: columns[role] for role in roles if columns[role]}
    return Doubt(
        tuple(name for names in parts.values() for name in names),
        choice,
        " ".join(option_text(table, name, *of) for name, of in parts.items()),
        " ".join(option_text(table, role, *of) for role, of in confirmed.items()),
    )


def _source(source: Sequence[Path] | pd.DataFrame, options: ReadOptions) -> _RatingSource:
    if isinstance(source, pd.DataFrame):
        content = content_of_frame(source)
        return _RatingSource([with_words(of, options) for of in tables_of(content)], (FRAME,))
    paths = files_in(source)
    folder = source[0] if len(source) == 1 and source[0].is_dir() else None
    names = {path: named(path, folder=folder or path.parent) for path in paths}
    if len(set(names.values())) < len(names):
        folder = Path(commonpath([path.parent for path in paths]))
        names = {path: named(path, folder=folder) for path in paths}
    contents: list[FileContent] = []
    problems: list[InputProblem] = []
    for path in paths:
        with gathered(problems):
            contents.append(
                content_of(path, file=names[path], sheet=options.sheet, skip_rows=options.skip_rows)
            )
            for of in names.keys() & {parent / path.name for parent in path.parent.parents}:
                if read_bytes(of, file=names[of]) == read_bytes(path, file=names[path]):
                    message = f"the file is a copy of {names[of]}"
                    raise input_error(names[path], message, "Remove one of the two")
    if options.sheet is not None and not any(name for of in contents for name, _ in of.tables):
        message = f"--sheet {options.sheet}: no file has sheets"
        problems.append(InputProblem(str(source[0]), None, None, message, "Leave it out"))
    if not paths:
        message, remedy = "no file in it holds a table", "Name files of ratings"
        problems.append(InputProblem(str(source[0]), None, None, message, remedy))
    raise_all(problems, source=listed_briefly([*names.values()]))
    return _of_contents(contents, options)


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


def _of_contents(contents: Sequence[FileContent], options: ReadOptions) -> _RatingSource:
    """Return what a tool exported, if options leave it to that, and tables of other files."""
    names_roles = options.item or options.rater or options.judge or options.rating
    tools = {} if names_roles or options.question else {of.file: tool_of(of) for of in contents}
    tool = next(filter(None, tools.values()), None)
    exported = [of for of in contents if tool is not None and tools[of.file] == tool]
    export, readings = None, []
    if tool is not None:
        export = export_of(exported, tool)
        readings = readings_of_export(export, file=exported[0].file)
    tables = [table for of in contents if of not in exported for table in tables_of(of)]
    return _RatingSource(
        [
            with_words(table, options)
            for named in (False, True)
            for table in joined_tables(
                [of for of in tables if names_rater(options, of.file) is named]
            )
        ],
        tuple(of.file for of in contents),
        tuple(readings),
        export,
    )


def tables_of_export(export: Export) -> RatingTables:
    """Return what another tool exported.

    Raises:
        ExceptionGroup: Of an InputError for each rating that cannot be used.
    """
    readings = tuple(readings_of_export(export, file=export.tool))
    return _read(_RatingSource([], (export.tool,), readings, export), ReadOptions(), None)[0]


# One reading of all files.


def _read(
    source: _RatingSource, options: ReadOptions, evaluation: Evaluation | None
) -> tuple[RatingTables, list[Reading]]:
    declared = {} if evaluation is None else {q.id: q for q in evaluation.rubric}
    first = next(iter([*source.tables, *(of.table for of in source.readings)]), None)
    if first is None:
        message, remedy = "it holds no records", "Name a file with a row for each rating or item"
        raise refused(source.files[0], message, remedy)
    check_names(options, first, source.tables, source.files)
    if source.export is not None:
        declared = {**source.export.declared, **declared}
    wide = next((of for of in source.tables if len(of.columns) > MOST_COLUMNS), None)
    if wide is not None:
        message = f"{len(wide.columns):,} columns are too many to tell which hold ratings"
        raise refused(wide.file, message, "Write one rating a row, or leave out other columns")
    of_tables, refusals = best_readings(source.tables, options)
    if not (of_tables or source.readings):
        raise refusal_of(source.tables, refusals)
    readings = joined_readings([*of_tables, *source.readings], refusals, source.tables, options)
    ratings = collected_ratings(readings, options)
    table = readings[0].table
    bad_rows = [problem for of in readings for problem in of.table.bad_rows]
    if not len(ratings.rows):
        raise_all([*bad_rows, *ratings.problems], source=table.file)
        raise refused(table.file, "there are no ratings", "Add some, or name their column")
    _name_questions(ratings, are_certain=source.export is not None)
    _select_questions(ratings, options)
    questions, judge_scales = with_values(ratings, options, declared)
    with_one_spelling(
        ratings, {r.table.file: r.rater.name for r in readings if r.rater is not None}
    )
    without_copies(ratings, _remedy_of_copies(readings))
    raise_all([*bad_rows, *ratings.problems], source=listed_briefly(source.files))
    is_judge = ratings.rows["is_judge"].to_numpy()
    tables, export = source.tables, source.export
    items = rated_items(
        readings, ratings.rows, tables, options, export=export, evaluation=evaluation
    )
    unrated = f"{ratings.unrated.total():,} of {counted(ratings.n_cells, 'cell')} not rated"
    words = listed_briefly([*map(quoted, ratings.unrated)])
    not_read = reasons_not_read(readings, tables, items, export=export)
    lost = [of for of in refusals if not_read.get(of.table.place) == NO_RATINGS and of.refusal]
    notes = [
        *[f"{unrated}: {words}"] * bool(words),
        *_notes_on_unread(readings),
        *_note_on_questions(ratings.rows),
        *notes_on_files(readings, source.tables),
        *(f"not read: {of.table.place}, as {of.refusal[0]}" for of in lost if of.refusal),
        *(f"not read: {n:,} {loss}" for loss, n in (export.losses if export else {}).items()),
        *(note for of in readings for note in (*of.table.notes, *of.notes)),
        *ratings.notes,
    ]
    result = RatingTables(
        ratings=frame_of_ratings(ratings.rows[~is_judge], RATING_COLUMNS),
        scores=frame_of_ratings(ratings.rows[is_judge], SCORE_COLUMNS),
        items=items.frame,
        questions=questions,
        judge_scales=judge_scales,
        columns=_columns(readings, options, items.group),
        groups_by=items.group,
        files=source.files,
        not_read=not_read,
        notes=tuple(dict.fromkeys(notes)),
        doubts=tuple(doubt for of in readings for doubt in of.doubts),
        export=source.export,
    )
    check_effects(options, table, result)
    return result, readings


def _notes_on_unread(readings: Sequence[Reading]) -> list[str]:
    """Return a line for each reason why columns are not read that may well hold ratings."""
    columns: defaultdict[Reason, list[str]] = defaultdict(list)
    for reading in readings:
        for name, reason in reading.not_read.items():
            if reason.is_told:
                columns[reason].append(name)
    notes = []
    for reason, names in columns.items():
        compare = f"; or {option_text(readings[0].table, 'judge', names[0])}"
        notes.append(
            f"not read: {listed_briefly(names)}, {reason.text}{compare * (reason == METRIC)}"
        )
    return notes


def _note_on_questions(rows: pd.DataFrame) -> list[str]:
    """Return a line if judges scored none of the questions that people rated."""
    people, judges = (
        dict.fromkeys(rows["question"][rows["is_judge"] == is_judge].astype(str))
        for is_judge in (False, True)
    )
    if not people or not judges or people.keys() & judges.keys():
        return []
    names = f"people rated {listed_briefly([*people])}, judges {listed_briefly([*judges])}"
    return [f"nothing is compared: {names}; give a question one name in both"]


def _name_questions(ratings: CollectedRatings, *, are_certain: bool) -> None:
    """Give questions without a name that of the only other one; without one it is `rating`."""
    rows = ratings.rows
    questions = rows["question"].cat.remove_unused_categories()
    headers = [str(name) for name in questions.cat.categories]
    is_judge = rows["is_judge"].to_numpy()
    of_people = {*questions[~is_judge].unique()}
    spellings: dict[str, str] = {}  # that of people, without the lines that a header may have
    for header in sorted(headers, key=lambda header: header not in of_people):
        spellings.setdefault(_letters(header), " ".join(header.split()))
    names = [spellings[_letters(header)] for header in headers]
    people, judges = (
        {spellings[_letters(str(name))] for name in questions[of].unique()}
        for of in (~is_judge, is_judge)
    )
    one_of_each = not are_certain and len(people) == len(judges) == 1 and people != judges
    unnamed = {name for name in names if not name or (one_of_each and is_rating_word(name))}
    of_raters = set() if are_certain else _named_after_raters(rows, spellings)
    # Files of one rater each have the name for a header.
    unnamed |= of_raters if len(of_raters & people) > 1 else set()
    renamed = names
    if unnamed and (one_of_each or of_raters & unnamed or "" in unnamed):
        named = [*dict.fromkeys(name for name in names if name not in unnamed)]
        name = named[0] if len(named) == 1 else ONE_QUESTION
        renamed = [name if of in unnamed else of for of in names]
    elif not are_certain:  # score_tone of a judge is people's tone
        same = [*map(question_in, people - judges), *map(question_in, judges - people)]
        of_core = {core: of for of in people - judges if same.count(core := question_in(of)) > 1}
        pairs = [(name, of_core.get(question_in(name), name)) for name in names]
        renamed = [a if a in people or ("." in a and "." in b) else b for a, b in pairs]
    if renamed != headers:
        places = pd.Index(dict.fromkeys(renamed), dtype=object)
        codes = places.get_indexer(pd.Index(renamed))[questions.cat.codes.to_numpy()]
        questions = pd.Series(pd.Categorical.from_codes(codes, places))
    rows["question"] = questions.array


def _named_after_raters(rows: pd.DataFrame, spellings: Mapping[str, str]) -> set[str]:
    """Return the questions that have the name of their only rater."""
    pairs = rows[["question", "rater"]].astype(str).drop_duplicates()
    single = pairs.drop_duplicates("question", keep=False)
    names = single["question"].map(_letters)
    return {spellings[of] for of in names[names == single["rater"].map(_letters)]}


def _letters(name: str) -> str:
    """Return a name without case, kinds of spaces and a scale behind it, as in Tone (1-5)."""
    return re.sub(r"[-_\s]+", "_", without_scale(name.strip())).casefold()


def _select_questions(ratings: CollectedRatings, options: ReadOptions) -> None:
    if not options.only:
        return
    names = {_letters(str(name)): str(name) for name in ratings.rows["question"].cat.categories}
    unknown = [name for name in options.only if _letters(name) not in names]
    if unknown:
        message = f"{option_text(ratings.table, 'only', unknown[0])}: there is no such question"
        raise refused(ratings.table.file, message, nearest(unknown[0], [*names.values()]))
    chosen = [names[_letters(name)] for name in options.only]
    rows = ratings.rows[ratings.rows["question"].isin(chosen)].reset_index(drop=True)
    ratings.rows = rows.assign(question=rows["question"].cat.remove_unused_categories())


def _remedy_of_copies(readings: Sequence[Reading]) -> str:
    """Return the remedy of a second rating, with the column that tells most ratings apart."""
    reading = readings[0]
    further = [
        column
        for column in reading.table.columns
        if not (
            reading.uses(column) or column.may_be(Role.MEASURE, Role.TIME, Role.TEXT, Role.FLAG)
        )
        and (column.kind is not Kind.NUMBER or not column.can_rate or column.may_be(Role.ITEM))
        and column.n_distinct > 1
        and column.kind not in (Kind.EMPTY, Kind.TIME)
    ]
    if not reading.items or not further:
        return "Keep one of the two"
    columns = [of for of in (reading.rater, reading.question, reading.run) if of is not None]
    items = [*reading.items]
    items.append(max(further, key=lambda of: n_distinct(combined([*items, *columns, of]))))
    option = option_text(reading.table, "item", *(column.name for column in items))
    return f"Keep one of the two, or if several columns say what was rated, pass {option}"


def _columns(
    readings: Sequence[Reading], options: ReadOptions, group: str
) -> dict[str, tuple[str, ...]]:
    """Return the columns by role; of tables with a column for each rater, those of people."""

    def names(columns: Iterable[CodedColumn | None]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c.name for c in columns if c is not None))

    rated = [of for reading in readings for of in reading.rated]
    models = [r.table.find(options.model) for r in readings if options.model]
    return {
        "item": names(column for of in readings for column in of.items),
        "rater": names(
            [of.rater for of in readings if not of.judges_only]
            + [of.column for of in rated if of.rater and not of.is_judge]
        ),
        "judge": names(
            [of.rater for of in readings if of.judges_only]
            + [of.column for of in rated if of.is_judge]
        ),
        "rating": names(
            of.column
            for reading in readings
            for of in reading.rated
            if reading.rater is None or not of.is_judge
        ),
        "question": names(of.question for of in readings),
        "model": names(models)[:1],
        "group": (group,) if group else (),
        "run": names(of.run for of in readings),
    }


def _other_scales(
    result: RatingTables, table: CodedTable
) -> list[tuple[Doubt, tuple[RubricQuestion, ...]]]:
    """Return the guessed scales that may be wider, or without the 0 that means no rating."""
    variants = []
    for other_scale, text in ((wider_scale, "scale {}"), (scale_from_one, "0 is a rating")):
        scales = [other_scale(q.scale) if q.scale_guessed else None for q in result.questions]
        changed = [
            (question, scale)
            for question, scale in zip(result.questions, scales, strict=True)
            if scale is not None
        ]
        if not changed:
            continue
        question, scale = changed[0]
        questions = tuple(
            replace(q, scale=of) if of is not None else q
            for q, of in zip(result.questions, scales, strict=True)
        )
        option = option_text(table, "scale", scale_text(scale))
        if other_scale is scale_from_one:
            option = option_text(table, "missing-values", "0")
        guessed = scale_text(question.scale)
        texts = text.format(guessed), option, option_text(table, "scale", guessed)
        variants.append((Doubt((question.id,), *texts), questions))
    return variants
