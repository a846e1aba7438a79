"""Readings of several files together: which holds the main ratings, and which rate its items."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval_assets.errors import InputError, raise_all
from eval_assets.readers.columns import CodedColumn, CodedTable, combined, n_distinct
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import names_evaluator, question_in
from eval_assets.readers.names import Role, Who, is_first_name, is_rating_word, may_be, who
from eval_assets.readers.problems import listed_briefly
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings import readings_of
from eval_assets.readers.readings.levels import judge_of_question
from eval_assets.readers.readings.table_reading import (
    REFERENCE,
    Reading,
    names_file,
    option_text,
    refused,
)
from eval_assets.readers.values import order_of

_SHARED_ITEMS = 0.5
"""Share of the items of one file that another one has, from which on both rate the same."""


def joined_readings(
    readings: Sequence[Reading],
    refusals: Sequence[Reading],
    tables: Sequence[CodedTable],
    options: ReadOptions,
) -> list[Reading]:
    """Return the readings that rate the same items, that with most ratings by people first.

    `refusals` are those of tables that name no rater, which the questions of others may explain;
    so they may files of which no table alone holds ratings.
    """
    main = max(readings, key=lambda of: (_n_by_people(of), _names_people(of), len(of.table)))
    further = []
    for reading in readings:
        file = reading.table.file
        is_named = reading.names_raters or names_rater(options, file)
        is_open = main.rater is not None and not (main.is_of_judges or is_named)
        if is_open and _is_reference(file):
            main.notes.append(f"not read: {file}, {REFERENCE.text}")
        elif reading is not main:
            further.append(reading)
    for reading in further:
        main = _with_items_of(main, reading, options)
    of_main = [_with_items_of(reading, main, options) for reading in further]
    joined = [_on_questions_of(main, of) for of in of_main if _rates_items_of(main, of, options)]
    files = {of.table.file for of in (*readings, *refusals)}
    rest = [of.table for of in (*further, *refusals) if of.rater is None]
    rest = [of for of in rest if of not in [reading.table for reading in joined]]
    rest += [table for table in tables if table.file not in files]
    return [main, *joined, *_unnamed_readings(main, rest, options)]


def _is_reference(file: str) -> bool:
    """Return whether a file is called gold or the like, and not Max."""
    stem = Path(file).stem
    return may_be(stem, Role.SUMMARY) and not is_first_name(stem)


def names_rater(options: ReadOptions, file: str) -> bool:
    """Return whether an option says who rated in a file."""
    return names_file((*options.rater, *options.judge), file)


def _with_items_of(reading: Reading, other: Reading, options: ReadOptions) -> Reading:
    """Return a reading with the items of another file if its table has them, too.

    What else its items have tells its rows apart: runs of a judge, or numbers such as rating_id.
    """
    shared = _columns_of_items(reading.table, other)
    rest = [column for column in reading.items if column not in shared]
    if options.item or not (shared and rest):
        is_same = shared and len(shared) == len(reading.items)
        return replace(reading, items=shared) if is_same else reading  # in one order
    are_all = n_distinct(combined(shared)) == n_distinct(combined(reading.items))
    if not (are_all or reading.is_of_judges):
        return reading
    names = tuple(column.name for column in shared)
    candidates = readings_of(reading.table, replace(options, item=names))
    possible = (of for of in candidates if of.refusal is None and of.rater is reading.rater)
    return next(possible, reading)


def _on_questions_of(main: Reading, reading: Reading) -> Reading:
    """Return a judge's reading whose headers name the questions of the main one, as llm_tone."""
    names = [*filter(None, dict.fromkeys(of.question for of in main.rated))]
    questions = names if main.question is None else main.question.values
    named = [judge_of_question(of.column.name, questions) for of in reading.rated if of.is_judge]
    parts = [*filter(None, named)]
    is_open = len(parts) == len(questions) == 1  # a judge of the only question has any name
    if is_open or len(parts) < len(reading.rated) or len({*parts}) < len(parts):
        return reading
    rated = [
        replace(of, rater=judge, question=question)
        for of, (judge, question) in zip(reading.rated, parts, strict=True)
    ]
    return replace(reading, rated=rated)


def _columns_of_items(table: CodedTable, other: Reading) -> list[CodedColumn]:
    """Return the columns with the names of another reading's items, or the one of their values."""
    named = [*filter(None, (table.find(column.name) for column in other.items))]
    if named and len(named) == len(other.items):
        return named
    items = _item_values(other)
    n_shared = {of.name: len(items.intersection(of.values)) for of in table.columns}
    best = max(table.columns, key=lambda of: n_shared[of.name])
    is_shared = n_shared[best.name] >= _SHARED_ITEMS * min(len(best.values), len(items))
    return [best] if is_shared and n_shared[best.name] > 1 else []


def _rates_items_of(main: Reading, reading: Reading, options: ReadOptions) -> bool:
    """Return whether a reading holds ratings of the main one's items, and not attributes."""
    of_raters = (Who.HUMAN, Who.PERSON, Who.JUDGE)
    is_rated = any(of.is_judge or of.column.who in of_raters for of in reading.rated)
    is_attributes = reading.rater is None and not is_rated and not options.rating
    if is_attributes and not names_rater(options, reading.table.file):
        return False
    items = _item_values(main)
    shares = bool(_item_values(reading) & items) or not items
    return shares or reading.likelihood >= main.likelihood - 3


def _unnamed_readings(
    main: Reading, tables: Sequence[CodedTable], options: ReadOptions
) -> list[Reading]:
    """Return the ratings on the main file's questions in files that name no rater."""
    headers = [of.column.name for of in main.rated if not of.rater]
    headers += [of.question for of in main.rated if of.question]
    headers += [] if main.question is None else main.question.values
    questions = {question_in(header) or plain(header) for header in headers}
    values = {value for of in main.rated for value in of.column.rating_words}
    readings = []
    for table in tables:
        stem = Path(table.file).stem
        is_evaluator = names_evaluator(stem)
        kind = Who.JUDGE if is_evaluator else who(stem)
        columns = tuple(
            column.name
            for column in table.columns
            if (question_in(column.name) or plain(column.name)) in questions
            or (
                len(questions) < 2  # noqa: PLR2004 - then a column called score is on the only one
                and is_rating_word(column.name)
                and (kind is Who.JUDGE or _are_alike({*column.rating_words}, values))
            )
        )
        if not columns:
            continue
        question = None if main.question is None else table.find(main.question.name)
        roles = replace(options, rating=columns, rater=(), judge=())
        if question is not None:
            roles = replace(roles, question=question.name)
        possible = (of for of in readings_of(table, roles) if not (of.rater or of.refusal))
        read = next(possible, None)
        parts = [[column.texts() for column in of.items] for of in (read or main, main)]
        names, known = ({*zip(*of, strict=True)} for of in parts)
        if read is None or not names & known:
            continue
        if not names_rater(options, table.file) and kind not in (Who.JUDGE, Who.HUMAN):
            judge, rater = (option_text(table, name, table.file) for name in ("judge", "rater"))
            remedy = f"If a judge did, pass {judge}; if a person did, {rater}"
            raise refused(table.file, "nothing says who gave these ratings", remedy)
        if is_evaluator and not names_rater(options, table.file):
            read.forks.append((f"{stem} is a judge", {"rater": (table.file,)}))
        readings.append(read)
    return readings


def notes_on_files(readings: Sequence[Reading], tables: Sequence[CodedTable]) -> list[str]:
    """Return a line for each file of which nothing is read, though it may hold ratings."""
    values = {value for of in readings for rated in of.rated for value in rated.column.rating_words}
    read, unread = {of.table.file for of in readings}, dict[str, CodedColumn]()
    for table in tables:
        for column in () if table.file in read or _is_reference(table.file) else table.columns:
            may_rate = column.can_rate and not column.may_be(Role.ITEM, Role.MEASURE)
            is_alike = column.n_distinct > 1 and values.issuperset(column.rating_words)
            if may_rate and (is_alike or column.may_be(Role.RATING)):
                unread.setdefault(table.file, column)
    return [
        f"not read: {file}, as nothing says who gave {column.name}; "
        f"if a judge did: {option_text(readings[0].table, 'judge', column.name)}"
        for file, column in unread.items()
    ]


def _are_alike(words: set[str], values: set[str]) -> bool:
    """Return whether values are those of a scale, or say yes and no in other words than it."""
    are_two = max(len(words), len(values)) <= 2  # noqa: PLR2004 - yes and no
    return words <= values or (are_two and None not in (order_of(words), order_of(values)))


def refusal_of(
    tables: Sequence[CodedTable], refusals: Sequence[Reading]
) -> ExceptionGroup[InputError]:
    """Return the error of files of which no table can be read."""
    if refusals:
        reading = refusals[0]
        message, remedy = reading.refusal or ("it holds no ratings", "Name their column")
        return refused(reading.table.file, message, remedy)
    table = max(tables, key=len)
    raise_all([problem for of in tables for problem in of.bad_rows], source=table.file)
    if not len(table):
        return refused(table.file, "it has a header and no rows", "Add the ratings")
    names = [column.name for column in table.columns if not column.origin]
    message = f"no column of ratings is found among {listed_briefly(names)}"
    rating = option_text(table, "rating", "COLUMN")
    remedy = f"Name it with {rating}, and who rated with {option_text(table, 'rater', 'COLUMN')}"
    return refused(table.file, message, remedy)


def _names_people(reading: Reading) -> bool:
    """Return whether a header says that people rated, as label does and score does not."""
    return reading.names_raters or any(of.column.who.is_human for of in reading.rated)


def _n_by_people(reading: Reading) -> int:
    """Return the number of ratings by people."""
    if reading.judges_only or (reading.table.judge and not reading.names_raters):
        return 0
    return sum(of.column.n_cells for of in reading.rated if not of.is_judge)


def _item_values(reading: Reading) -> set[str]:
    return set(reading.items[0].values) if len(reading.items) == 1 else set()
