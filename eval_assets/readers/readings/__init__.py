"""Readings of a table: which columns name items, raters and questions, and which hold ratings."""

import re
from collections.abc import Collection, Sequence
from itertools import combinations, permutations, product

import numpy as np

from eval_assets.errors import raise_all
from eval_assets.readers.columns import (
    CodedColumn,
    CodedTable,
    Columns,
    Kind,
    Origin,
    combined,
    n_distinct,
    share_constant,
)
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import distinct_parts, names_runs
from eval_assets.readers.names import Role, Who, names_model, share_of_criteria, who
from eval_assets.readers.problems import listed_briefly
from eval_assets.readers.rating_tables import ReadOptions, Reason
from eval_assets.readers.readings.derived_columns import usable_columns
from eval_assets.readers.readings.item_rows import reading_of_item_rows
from eval_assets.readers.readings.levels import ratings_on_other_levels, split_levels
from eval_assets.readers.readings.person_rows import reading_of_person_rows
from eval_assets.readers.readings.rating_rows import readings_of_rating_rows
from eval_assets.readers.readings.table_reading import (
    ATTRIBUTE,
    BESIDE,
    BY_NAME,
    FREE_TEXT,
    OF_ITEM,
    Choices,
    Reading,
    doubt_texts,
    option_text,
    with_names_of_runs,
)
from eval_assets.readers.values import are_yes_or_no

_RESPONSES = re.compile(r"response|answer|output|system|candidate|completion|generation|summar")
"""Names of objects by system, which hold what each wrote and how it was rated."""

_STATED = re.compile(r"(score|rating|verdict|grade)[\"'*]*\s*[:=]\s*\W?\w", re.IGNORECASE)
"""A rating in a text, as replies of judges have it: {"score": 4}."""

_REPLIES = Reason("texts that state ratings, of which none could be read", is_told=True)


def readings_of(table: CodedTable, options: ReadOptions) -> list[Reading]:
    """Return the readings that the values of a table allow, the likeliest first."""
    choices = Choices.of(table, with_names_of_runs(table, options))
    columns, not_read = usable_columns(table, choices)
    first, names = table.columns[0].texts(), [plain(of.name) for of in table.columns[1:]]
    # The first column holds the names of the others, as in a confusion matrix.
    if 1 < len(table) <= len(names) and [*map(plain, first)] == names[: len(table)]:
        refusal = (
            "headers and rows have the same names: these are counts or figures of pairs",
            "Write a row for each item, or for each rating",
        )
        return [Reading(table=table, items=[], rated=[], refusal=refusal)]
    readings = [
        *readings_of_rating_rows(table, columns, not_read, choices),
        reading_of_item_rows(table, columns, dict(not_read), choices),
        None if choices.ratings else reading_of_person_rows(table, not_read, choices),
    ]
    usable = [reading for reading in readings if reading is not None]
    for reading in usable:
        _rate_responses(reading, choices)
        _doubt_question(reading, choices)
        _doubt_item(reading, choices)
        _doubt_slots(reading, choices)
        _doubt_sides(reading, choices)
        split_levels(reading, choices)
        reading.name_the_rest()
    return sorted(usable, key=lambda reading: -reading.likelihood)


def _rate_responses(reading: Reading, choices: Choices) -> None:
    """Take names of responses for what was rated, if each has a text of its own, or name that."""
    rater, unit = reading.rater, combined(reading.items) if reading.items else None
    if rater is None or unit is None or n_distinct(unit) == len(unit):
        return
    texts = [
        column
        for column in reading.table.columns
        if column.kind is Kind.TEXT
        and not (column.origin or column.may_be(Role.TEXT) or column.name in reading.not_read)
        and column.n_distinct == len(column)
    ]
    is_key = rater.origin is Origin.KEY and rater is not choices.rater_column
    are_systems = any(map(names_model, rater.values)) and _RESPONSES.search(plain(rater.name))
    if not (texts and is_key and are_systems) or choices.items:
        reason = Reason("another text for each rater", is_told=True)
        reading.not_read |= dict.fromkeys((of.name for of in texts), reason)
        if texts and reading.forks and reading.refusal is None:
            columns = (*(of.name for of in reading.items), rater.name)
            rated = option_text(reading.table, "rating", *(of.column.name for of in reading.rated))
            item = option_text(reading.table, "item", *columns)
            option = option_text(reading.table, "rater", rater.name)
            reading.refusal = (
                f"{texts[0].name} has another text for each {rater.name}, as of what was rated",
                f"If one person rated all, pass {item} {rated}; if {rater.name} rated, {option}",
            )
    else:
        people = (of for of in reading.table.columns if of.may_be(Role.RATER) and of is not rater)
        reading.rater, reading.judges_only = next(people, None), False
        reading.people_only = reading.rater is None
        reading.items.append(rater)
        reading.forks = [(f"{rater.name} names what was rated", {"judge": (rater.name,)})]


def _doubt_question(reading: Reading, choices: Choices) -> None:
    """Add the choice that a part of the item is what was asked if only its values say so."""
    question, rater = reading.question, reading.rater
    level = rater.level if rater and reading.items and not (question or choices.items) else 0
    for column in reading.table.columns:
        if column.origin is not Origin.KEY or reading.uses(column) or column.level >= level:
            continue
        # Objects of one form by name may be of several questions, or of kinds of raters.
        rows = np.flatnonzero(reading.rated[0].column.has_cell)
        is_varied = share_constant(column.take(rows), combined(reading.items)[rows]) < 1
        if is_varied and not all(who(of) in (Who.HUMAN, Who.JUDGE) for of in column.values):
            text = f"{listed_briefly(column.values)} were asked alike"
            reading.forks.append((text, {"question": column.name}))
    for part in reading.items if len(reading.items) > 1 and question is None else ():
        # Files of one rubric each have the same items.
        rest = combined([of for of in reading.items if of is not part])
        n_full = n_distinct(rest) * part.n_distinct
        is_place = part.origin in (Origin.FILE, Origin.SHEET) and not choices.takes(part)
        if is_place and n_distinct(combined(reading.items)) >= 0.8 * n_full:
            reading.forks.append((f"{part.name} is part of the item", {"question": part.name}))
    if question is None or question.origin or question.may_be(Role.QUESTION):
        return
    if reading.rater is None and share_of_criteria(question.values) > 0.5:
        return
    if not choices.items and choices.question is None:
        columns = tuple(column.name for column in (*reading.items, question))
        reading.forks.append((f"{question.name} is what was asked", {"item": columns}))


def _doubt_item(reading: Reading, choices: Choices) -> None:
    """Add the choice that no part of the item is who rated, if one has a few values with each.

    Numbers may count the runs of a judge.
    """
    names_raters = any(of.rater and not of.is_judge for of in reading.rated)
    is_named = reading.rater or names_raters or reading.people_only
    if is_named or choices.items or len(reading.items) != 2:
        return
    names = tuple(of.column.name for of in reading.rated)
    for part, item in permutations(reading.items):
        n_items = n_distinct(combined(reading.items))
        is_full = 1 < n_distinct(part.codes) * n_distinct(item.codes) == n_items
        may_be_run = part.is_whole or names_runs(part.values)
        is_item = part.may_be(Role.TURN, Role.RUN, Role.QUESTION) or (
            part.may_be(Role.ROUND) and not may_be_run
        )
        is_item |= part.may_be(Role.SYSTEM) and not any(who(of).is_human for of in part.values[:50])
        is_item |= all(_RESPONSES.search(plain(of)) for of in part.values)
        if is_full and not is_item and 2 * part.n_distinct <= item.n_distinct:
            choice = f"{part.name} is part of the item"
            if may_be_run and not part.may_be(Role.RATER):
                reading.forks.append((choice, {"run": part.name, "judge": names}))
            else:
                reading.forks.append((choice, {"rater": (part.name,)}))


def _doubt_slots(reading: Reading, choices: Choices) -> None:
    """Say that numbered columns may each rate the text of their number, as pair2 does query2."""
    names = [of.column.name for of in reading.rated if of.question]
    numbers = [re.sub(r".*\D", "", name) for name in names]
    stems = {name.removesuffix(number) for name, number in zip(names, numbers, strict=True)}
    if len(stems) == 1 < len({*numbers}) and "" not in numbers and not choices.ratings:
        doubt_texts(reading, names, numbers)


def _doubt_sides(reading: Reading, choices: Choices) -> None:
    """Add the choice that items differ in which of two models stands on which side."""
    of_items = reading.table.columns if reading.items and not choices.items else []
    rating_words = {value for of in reading.rated for value in of.column.values}
    words = [of for of in of_items if of.kind is Kind.WORD and rating_words.isdisjoint(of.values)]
    for a, b in combinations([of for of in words if not reading.uses(of)], 2):
        unit = combined(reading.items)
        if {*a.values} != {*b.values} or share_constant(a, unit) == 1:
            continue
        pairs = ["\n".join(sorted(pair)) for pair in zip(a.texts(), b.texts(), strict=True)]
        if share_constant(a.with_cells(pairs), unit) == 1:
            choice = f"{a.name} and {b.name} change places within an item, and a place was rated"
            items = (*(of.name for of in reading.items), a.name)
            reading.forks.append((choice, {"item": items}))


def best_readings(
    tables: Sequence[CodedTable], options: ReadOptions
) -> tuple[list[Reading], list[Reading]]:
    """Return the likeliest reading of each table with ratings, and of others one with a refusal.

    Tables of one document are alternatives: the same ratings on other levels.

    Raises:
        ExceptionGroup: Of an InputError for each cell of a rater's column that is no rating.
    """
    documents: dict[object, list[CodedTable]] = {}
    for table in tables:
        documents.setdefault(table.document or id(table), []).append(table)
    readings: list[Reading] = []
    refused: list[Reading] = []
    for of_document in documents.values():
        candidates = [of for table in of_document for of in readings_of(table, options)]
        candidates = _without_repeated(candidates)
        # What lies above people's ratings in a deeper list are attributes.
        candidates.sort(key=lambda r: -sum(c.column.level for c in r.rated[:1] if not c.is_judge))
        candidates.sort(key=lambda of: -of.likelihood)
        candidates = [
            of
            for of in candidates
            if any((rated.column.is_rating & (rated.column.counts > 0)).any() for rated in of.rated)
        ] or candidates
        if candidates and candidates[0].refusal is None:
            raise_all(candidates[0].problems, source=candidates[0].table.file)
            chosen = [candidates[0], *ratings_on_other_levels(candidates)]
            _name_unread_ratings(chosen, of_document)
            readings += chosen
        else:
            refused += candidates[:1]
    return readings, sorted(refused, key=lambda of: -of.likelihood)


def _without_repeated(candidates: list[Reading]) -> list[Reading]:
    """Return readings without those that repeat ratings for each part of a list beside them."""

    def rated(reading: Reading) -> set[str]:
        return {of.column.name for of in reading.rated}

    def is_whole(reading: Reading) -> bool:
        levels = [of.column.level for of in reading.rated]
        return max(column.level for column in reading.table.columns) == max(levels, default=0)

    whole = [rated(of) for of in candidates if of.refusal is None and is_whole(of)]
    return [
        of
        for of in candidates
        if is_whole(of)
        or (of.rater is not None and of.rater.may_be(Role.RATER))
        or not any(rated(of) <= names for names in whole)
    ]


def _name_unread_ratings(readings: Sequence[Reading], tables: Sequence[CodedTable]) -> None:
    """Have columns told that may well hold ratings, and are not read."""
    best, read = readings[0], {of.column.name for reading in readings for of in reading.rated}
    names = {column.name for column in best.table.columns}
    further = [c for table in tables for c in table.columns if c.level and c.name not in names]
    columns = [*best.table.columns, *{c.name: c for c in further}.values()]
    values = {value.casefold() for of in best.rated for value in of.column.rating_words}
    unread = [column for column in columns if column.name not in read]
    names_of_ratings = _said_by_both(unread)
    has_raters = best.rater is None and any(of.may_be(Role.RATER) for of in further)
    for column in unread:
        reason = best.not_read.get(column.name, None if column.name in names else BESIDE)
        if reason is None:
            continue
        is_text = reason == FREE_TEXT and not column.may_be(Role.TEXT)
        if is_text and _states_ratings(column.values[:50], values):
            best.not_read[column.name] = _REPLIES
            continue
        may_rate = column.name in names_of_ratings or _holds_all(column, reason, values)
        is_below = has_raters and reason == BESIDE and column.may_be(Role.RATING)
        if (is_below and column.can_rate and column.kind is Kind.WORD) or (
            (reason.is_attribute and may_rate)
            or _is_called_like_ratings(column, reason, best, values)
        ):
            best.not_read[column.name] = reason.told


def _states_ratings(replies: Sequence[str], values: Collection[str]) -> bool:
    """Return whether texts state ratings, or nearly all begin with one of several."""
    begins = re.compile(rf"({'|'.join(map(re.escape, values)) or '$'})(?!\w)", re.IGNORECASE)
    firsts = [m[0].casefold() for m in map(begins.match, replies) if m]
    are_said = len({*firsts}) > 1 and len(firsts) > 0.9 * len(replies)
    return are_said or all(map(_STATED.search, replies))


def _holds_all(column: CodedColumn, reason: Reason, values: Collection[str]) -> bool:
    """Return whether a column holds the very ratings, or some that are equal for an item."""
    words = {*map(str.casefold, column.rating_words if column.can_rate else ())}
    if reason == OF_ITEM and len(words) > 2:
        return words <= {*values}
    is_known = len(words) > 2 or (column.kind is Kind.WORD and not are_yes_or_no(values))
    return len(words) > 1 and is_known and words == values


def _said_by_both(columns: Columns) -> set[str]:
    """Return what a person and a model say of one thing, as human_decision and model_decision."""
    words = [of for of in columns if of.can_rate and of.n_distinct > 1]
    humans = [
        column
        for column in words
        if Who.HUMAN in map(who, filter(str.isalpha, plain(column.name).split("_")))
    ]
    pairs = ((a, b) for a, b in product(humans, words) if {*a.values} == {*b.values})
    parts = (distinct_parts([a.name, b.name]) for a, b in pairs)
    return {
        name
        for of in parts
        if {who(part) is Who.HUMAN for part in of.values()} == {True, False}
        for name in of
    }


def _is_called_like_ratings(
    column: CodedColumn,
    reason: Reason,
    best: Reading,
    values: Collection[str],
) -> bool:
    """Return whether a header names raters or ratings, and the values are among those read."""
    is_number = column.kind is Kind.NUMBER and best.is_of_judges
    is_open = reason in (ATTRIBUTE, OF_ITEM, BESIDE)
    is_open |= reason == BY_NAME and is_number
    is_called = column.who in (Who.JUDGE, Who.HUMAN) or column.may_be(Role.RATING)
    # Fields of one name in two objects, as of people and of a classifier.
    fields = {of.column.name.rpartition(".")[2] for of in best.rated if of.column.level}
    is_called |= column.name.rpartition(".")[2] in fields
    if not (is_open and is_called and column.can_rate) or column.may_be(Role.RUN):
        return False
    return is_number or len({*map(str.casefold, column.rating_words)}.intersection(values)) > 1
