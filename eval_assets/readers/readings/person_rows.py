"""Tables with a row for each person, and a column for each item: forms and surveys."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from eval_assets.readers.columns import CodedColumn, CodedTable, Columns, Kind
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import crossed_parts, distinct_parts
from eval_assets.readers.names import Role, Who, may_be, share_of_criteria, share_of_people, who
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.rater_columns import holds_raters
from eval_assets.readers.readings.table_reading import Choices, RatedColumn, Reading, form_of

_NUMBERED = re.compile(r".*(\d\W*|\[.+\]$)")
_ENDS_IN_NUMBER = re.compile(r"(\d|\b[A-Z])\W*$")
_BRACKETED = re.compile(r".*?\[(.+)\]\s*")
_FEWEST = 2

_SURVEYS = {
    "response_id": ("start_date", "finished", "ipaddress", "user_language"),
    "respondent_id": ("collector_id",),
    "id": ("lastpage",),
}
"""Columns of respondents in Qualtrics, SurveyMonkey and LimeSurvey; one or two others beside."""

_NAME = re.compile(r"name|(^|_)(nom|nombre|nome)(_|$)")
_METADATA = re.compile(r"(^|_)(id|page|lastpage|seed)$")


def reading_of_person_rows(
    table: CodedTable, not_read: dict[str, Reason], choices: Choices
) -> Reading | None:
    """Return the roles of the columns of a form; None if rows are no people."""
    rated = [
        column
        for column in table.columns
        if column.can_rate
        and column.name not in not_read
        and not column.counts_rows
        and not choices.takes(column)
        and not _METADATA.search(plain(column.name))
        and (_NUMBERED.fullmatch(column.name) or not column.may_be(Role.TIME, Role.MEASURE))
    ]
    are_numbers = sum(column.kind is Kind.NUMBER for column in rated) > len(rated) / 2
    rated = [column for column in rated if (column.kind is Kind.NUMBER) == are_numbers]
    kinds = [who(of.name) for of in rated if len(of.name) > 3]  # no codes of questions
    n_columns = Counter[str](value for column in rated for value in column.values)
    # The survey's language and channel, or a category, have words that no other column has.
    rated = [
        column
        for column in rated
        if are_numbers or any(n_columns[value] > 1 for value in column.values)
    ]
    [(form, n_alike)] = Counter(form_of(of.name) for of in rated).most_common(1) or [("", 0)]
    if is_form := choices.rater_column is not None and n_alike > _FEWEST:  # beside age and sums
        rated = [column for column in rated if form_of(column.name) == form]
    headers = [column.name for column in rated]
    are_figures = sum(may_be(name, Role.SUMMARY) for name in headers) > len(rated) / 2
    if len(rated) < _FEWEST or len(table) < _FEWEST or are_figures:
        return None
    n_numbered = sum(_NUMBERED.fullmatch(name) is not None for name in headers)
    crossed = crossed_parts(headers)
    is_numbered = is_form or n_numbered > 0.8 * len(headers)
    # Of more rows than columns, raters may be numbered.
    if len(table) <= len(headers):
        parts = zip(*crossed, strict=True)
        is_numbered |= any(all(map(_ENDS_IN_NUMBER.search, of)) for of in parts)
    named = [choices.rater_column] if choices.rater_column is not None else choices.raters
    ids = [
        column
        for column in (named or table.columns)
        if column not in rated
        and len(column.values) == len(table)
        and column.kind in (Kind.WORD, Kind.ADDRESS, Kind.NUMBER)
    ]
    is_grid = not ids and all(map(_BRACKETED.fullmatch, headers))
    person, by_name = _person(ids, table.columns, choices, is_numbered=is_numbered)
    first = table.columns[0]  # of long names, which a text may be
    texts = [first] if first.kind is Kind.TEXT and len(first.values) == len(table) else []
    names_item = any(map(_names_item, [*ids, *texts]))
    is_called = person is None or person.may_be(Role.RATER) or person is choices.rater_column
    if not (by_name and is_called) and (Who.HUMAN in kinds or Who.JUDGE in kinds):
        return None  # columns of raters
    if not by_name and share_of_people(headers) == 1 and (names_item or not headers[0].isdigit()):
        return None
    if person is None:
        is_wide = bool(crossed) or len(rated) > len(table) or is_grid
        if not is_numbered or names_item or not is_wide:
            return None
    units = _units(headers, crossed)
    shares_form = crossed or is_numbered or distinct_parts(headers)
    if not shares_form and (person is None or not _NAME.search(plain(person.name))):
        return None
    rows = [f"row {line}" for line in table.lines]
    doubt = f"{person.name} names raters" if person is not None and not by_name else ""
    unnamed = CodedColumn("row", np.arange(len(table), dtype=np.int32), rows)
    return Reading(
        table=table,
        items=[],
        rated=[
            RatedColumn(column, question=question, item=item)
            for column, (item, question) in zip(rated, units, strict=True)
        ],
        rater=unnamed if person is None else person,
        not_read=dict(not_read),
        forks=[(doubt, {"rating": tuple(headers)})] if doubt else [],
        likelihood=(8.5 if crossed else 6.8)
        - 2.2 * (person is None and not is_grid)
        - 0.3 * (not by_name),
    )


def _person(
    ids: Columns, columns: Columns, choices: Choices, *, is_numbered: bool
) -> tuple[CodedColumn | None, bool]:
    """Return the column that names the person of each row, and whether its name says so."""

    def holds_people(column: CodedColumn) -> bool:
        is_name = column.kind is Kind.WORD and share_of_people(column.values) > 0.7
        return column.holds_emails or is_name or holds_raters(column)

    names = {plain(column.name) for column in columns}
    for column in ids:
        beside = _SURVEYS.get(plain(column.name), ())
        if beside and len(names.intersection(beside)) >= min(2, len(beside)):
            return column, True
    for column in ids:
        is_rater = column is choices.rater_column or column.may_be(Role.RATER)
        if is_rater or column.holds_emails:
            return column, True
    for column in ids:
        is_name = _NAME.search(plain(column.name)) and not column.may_be(Role.SYSTEM)
        if is_name and holds_people(column):
            return column, True
    people = (column for column in ids if holds_people(column) and not _names_item(column))
    return (next(people, None), False) if is_numbered else (None, False)


def _names_item(column: CodedColumn) -> bool:
    return column.may_be(Role.ITEM) and not holds_raters(column)


def _units(
    headers: Sequence[str], crossed: Sequence[tuple[str, str]]
) -> list[tuple[str, str | None]]:
    """Return item and question of each header; the part that ends in numbers is the item."""
    if not crossed:
        grid = [_BRACKETED.fullmatch(header) for header in headers]
        return [(of[1] if of else name, None) for name, of in zip(headers, grid, strict=True)]

    def is_item(names: set[str]) -> float:
        if len({form_of(_ENDS_IN_NUMBER.sub("#", name)) for name in names}) < len(names) / 2:
            return 1.0  # Q1. How good is it? of each item
        numbered = sum(map(bool, map(_ENDS_IN_NUMBER.search, names))) / len(names)
        share_asked = sum("?" in name for name in names) / len(names)
        return numbered - max(share_of_criteria(names), share_asked)

    first_is_item = is_item({a for a, _ in crossed}) > is_item({b for _, b in crossed})
    return [(a, b) if first_is_item else (b, a) for a, b in crossed]
