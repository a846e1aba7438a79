"""Columns that name the raters of rows, and which of the raters are machines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from eval_assets.readers.columns import (
    BLANK,
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
from eval_assets.readers.header_parts import distinct_parts, owner_and_field
from eval_assets.readers.names import (
    Role,
    Who,
    holds_judges,
    is_first_name,
    is_rating_word,
    may_name_makers,
    names_id,
    names_judge,
    names_model,
    names_no_rater,
    names_one_of_several,
    share_of_criteria,
    who,
)
from eval_assets.readers.readings.table_reading import (
    MOST_QUESTIONS,
    NUMBER_AT_END,
    WHO_RATES,
    Choices,
    deepest_level,
    form_of,
    responses_side_by_side,
)
from eval_assets.readers.words import lines_of

DESCRIBES = (Role.MEASURE, Role.FLAG, Role.SUMMARY)
_NUMBERED = (Role.RATING, Role.RUN, Role.TURN)
_MACHINES, _PEOPLE = frozenset(lines_of("machines")), frozenset(lines_of("people"))
_TRUE, _FALSE = {"1", *lines_of("true")}, {"0", *lines_of("false")}
_OF_MACHINE = re.compile(r"(^|_)is_?(llm|lm|ai|model|machine|judge|auto|bot)(_|$)|^automated$")
_OF_HUMAN = re.compile(r"^(is_?)?(human|person)$")
_RATERS_MODEL = re.compile(r"(rater|evaluator|annotator|grader|labell?er|reviewer)_model$")
_BY_JUDGE = re.compile(r"[(\[](judge|llm|ai|model)[)\]]$", re.IGNORECASE)
_RATED = ("subject", "author", "receiver", "recipient", "reviewee", "ratee")
_KIND = re.compile(r"(^|_)(type|kind|role)$")
"""Columns and words for the kind of a rater."""


def rater_candidates(table: CodedTable, columns: Columns, choices: Choices) -> list[CodedColumn]:
    """Return columns that may name the rater of each row, the likeliest first."""
    if choices.rater_column is not None:
        return [choices.rater_column]
    if choices.raters:
        return []
    level = deepest_level(columns)
    ratings = [c for c in columns if c.can_rate and c.level == level]
    ids = _numbers_of_raters(table, ratings)
    ratings = [column for column in ratings if column not in ids]
    scored = [
        (_rater_score(column), column)
        for column in columns
        if not choices.takes(column) and (column in ids or _may_name_raters(table, column, ratings))
    ]
    # Beside names, numbers such as those of the reviews of an item are no names.
    scored.sort(key=lambda of: (-of[0], of[1].kind is Kind.NUMBER, len(of[1].values)))
    likely = [c for score, c in scored if score > -1 or any(_tells_of(of, c) for _, of in scored)]
    likely = [of for of in likely if not any(_tells_of(of, rater) for rater in likely)]
    named = [of for of in likely if of.may_be(Role.RATER)]
    # Who was shown to users is no rater, nor who wrote what they read, though either may rate.
    shown = [of for of in named if plain(of.name).startswith(_RATED)]
    likely = [of for of in likely if of not in shown or shown == named]
    texts = [of for of in table.columns if of.kind is Kind.TEXT]
    authors = [of for of in named if any(share_constant(c, of.codes) == 1 for c in texts)]
    if len(named) == 1 or authors == named:
        # Authors of texts that are rated once each, and not of notes on items.
        texts = [
            of for of in texts if of.n_distinct > 0.9 * len(table) and not of.may_be(Role.TEXT)
        ]
        items = [of for of in columns if of.may_be(Role.ITEM) and 2 * of.n_distinct < len(table)]
        authors = [
            of for of in named if plain(of.name).startswith("author") and texts and not items
        ]
    return [of for of in likely if of not in authors][:6]


def _numbers_of_raters(table: CodedTable, ratings: Columns) -> list[CodedColumn]:
    """Return numbers that differ in all rows of each item, where ratings would repeat."""
    has_raters = any(column.may_be(Role.RATER) for column in table.columns)
    numbers = [] if has_raters else [c for c in ratings if c.is_whole and not c.may_be(*_NUMBERED)]
    of_raters = (Who.HUMAN, Who.JUDGE)  # as is what stands below their names
    numbers = [c for c in numbers if not (c.who in of_raters or is_first_name(c.name))]
    words = [c for c in table.columns if c.kind in (Kind.WORD, Kind.TEXT) and not c.level]
    items = [(column, column.counts.max(initial=0)) for column in words if not column.can_rate]
    # Systems and steps are numbered in each item alike, and raters rate some of the items.
    return [
        column
        for column in numbers
        if any(n < len(column.values) and _never_repeats(column, item) for item, n in items)
    ]


def _never_repeats(column: CodedColumn, item: CodedColumn) -> bool:
    """Return whether no value comes twice with an item, which is no chance."""
    rows = column.has_cell & item.has_cell
    sizes, shares = item.counts[item.counts > 1], column.counts / max(1, column.n_cells)
    n_expected = (sizes * (sizes - 1)).sum() / 2 * (shares**2).sum()
    return bool(n_expected > 5) and n_distinct(combined([column, item])[rows]) == rows.sum()


def _is_set(position: CodedColumn, ratings: Columns) -> bool:
    """Return whether lists hold ids or chosen words: none comes twice, as ratings would."""
    number = np.cumsum(position.codes == position.codes[0]) - 1
    lists = CodedColumn("", number, [*map(str, range(number[-1] + 1))])
    parts = [of for of in ratings if of.level == position.level]
    return bool(parts) and all(_never_repeats(of, lists) for of in parts)


def _tells_of(column: CodedColumn, rater: CodedColumn) -> bool:
    """Return whether a column is equal in all ratings by each of more raters, as their kind."""
    is_named = rater.may_be(Role.RATER) and column.may_be(Role.RATER)
    are_kinds = {value.casefold() for value in column.values} <= _MACHINES | _PEOPLE
    return (
        (is_named or (are_kinds and not rater.may_be(Role.ITEM)))
        and column.n_distinct < rater.n_distinct < rater.n_cells / 2
        and share_constant(column, rater.codes) == 1
    )


def _may_name_raters(table: CodedTable, column: CodedColumn, ratings: Columns) -> bool:
    name, is_number = plain(column.name), column.kind is Kind.NUMBER
    if column.n_distinct == 2 and re.search(f"{_OF_MACHINE.pattern}|{_OF_HUMAN.pattern}", name):
        return not any(of.may_be(Role.RATER) for of in table.columns if of is not column)
    is_counted = is_number and column.can_rate and name.endswith("rs")  # annotators
    # 0 and 1 may say what each row is, as of texts in the 3rd person.
    is_flag = is_number and {*column.numbers} == {0, 1} and not WHO_RATES.search(name)
    is_flag &= any(of.n_distinct == len(table) and not of.origin for of in table.columns)
    is_named, is_rated = column.may_be(Role.RATER) and not is_counted, name.startswith(_RATED)
    if (
        column.kind in (Kind.TIME, Kind.EMPTY, Kind.TEXT)
        or (table.judge and column.may_be(Role.RUN))
        or (column.can_rate and names_model(column.name))
        or is_flag
        or (
            column.may_be(*DESCRIBES)
            and not (_names_some_judge(column) and (column.level or holds_raters(column)))
        )
        or ((is_rated or not is_named) and _is_of_other_names(table, column, ratings))
        or _is_above_models(table, column, ratings)
        or (column.origin is Origin.POSITION and _is_place_in_list(table, column, ratings))
        or _stands_beside_people(table, column, ratings)
        or _is_of_item(table, column)
    ):
        return False
    is_rating = names_one_of_several(column.name) or column.may_be(Role.RATING)
    may_be_ids = column.is_whole and (not column.can_rate or (is_named and not is_rating))
    is_known = is_named or column.origin or holds_judges(column.name)
    is_unique = column.n_distinct == len(table) and not column.origin
    # Headers of a form, with a column for each item, are numbered or share a part.
    headers = [of.name for of in ratings]
    n_numbered = sum(header.rstrip(")]. ")[-1:].isdigit() for header in headers)
    is_form = n_numbered > 0.7 * len(headers) or bool(distinct_parts(headers))
    no_raters = (
        (is_number and not may_be_ids)
        or (column.n_distinct > max(2, len(table) / 2) and not is_named)
        or (is_unique and (len(table) > 3 or (is_form and len(headers) > 2)))
        or (column.n_distinct == 1 and not is_known)
    )
    return not (no_raters or _is_rated(table, column, ratings))


def _is_of_item(table: CodedTable, column: CodedColumn) -> bool:
    """Return whether a column names the customer or the author of each item."""
    items = [of for of in table.columns if of is not column and of.may_be(Role.ITEM)]
    are_constant = [not share_constant(column, of.codes) < 1 for of in items]
    if names_no_rater(column.name):
        return any(are_constant)
    # A column of the people who rated varies within what they rated.
    is_of_maker = not column.level and may_name_makers(column.name)
    return is_of_maker and bool(items) and all(are_constant)


def _names_some_judge(column: CodedColumn) -> bool:
    return any(who(name) is Who.JUDGE for name in column.values[:50])


def _is_of_other_names(table: CodedTable, column: CodedColumn, ratings: Columns) -> bool:
    """Return whether a column not called like raters holds something else beside their names."""
    # Beside the names of judges numbers are those of their runs.
    are_judges = (of.who is Who.JUDGE and all(map(names_model, of.values)) for of in table.columns)
    if column.kind is Kind.NUMBER and any(are_judges):
        return True
    # Beside human and judge, an agent or a country says nothing of who rated.
    peers = [of for of in ratings if of is not column and of.level == column.level]
    owners = {Who.HUMAN if is_first_name(of.name) else of.who for of in peers}
    owners |= {Who.JUDGE for of in peers if of.may_be(Role.RUN)}
    are_people = sum(is_first_name(of.name) for of in peers) > 1
    is_said = column.who in (Who.HUMAN, Who.JUDGE) and column.may_be(Role.RATING)
    is_said = is_rating_word(column.name) or (is_said and not _names_some_judge(column))
    return not column.origin and (is_said or are_people or owners >= {Who.HUMAN, Who.JUDGE})


def _is_above_models(table: CodedTable, column: CodedColumn, ratings: Columns) -> bool:
    """Return whether scores stand in a list below beside models: an item's reviewer gave none."""
    return not holds_judges(column.name) and any(
        column.level < of.level == max(c.level for c in ratings)
        and 0 < len(of.values) == sum(map(names_model, of.values))
        for of in (table.columns if ratings else ())
    )


def _is_place_in_list(table: CodedTable, column: CodedColumn, ratings: Columns) -> bool:
    """Return whether a field says what the parts of a list are, or two texts do, and no raters."""
    peers = [of for of in table.columns if of.level == column.level and of is not column]
    fields = {owner_and_field(of.name)[1] for of in peers}
    if fields.issuperset(("start", "end")) or _is_set(column, ratings):  # parts of a text, or ids
        return True
    are_sides = column.n_distinct == 2 and any(of.n_distinct > 3 for of in ratings)
    return (
        any(
            of.may_be(Role.SYSTEM)
            or (of.n_distinct >= column.n_distinct and holds_raters(of))
            or (of.n_distinct == column.n_distinct and share_of_criteria(of.values[:50]) > 0.5)
            or (of.n_distinct == column.n_distinct and of.may_be(Role.QUESTION))
            for of in peers
            if of.n_distinct > 1
        )
        or (are_sides and responses_side_by_side(table))
        or sum(of.who is Who.HUMAN and names_one_of_several(of.name) for of in ratings) > 1
    )


def _is_rated(table: CodedTable, column: CodedColumn, ratings: Columns) -> bool:
    """Return whether the values of a column are ratings, and not names of raters."""
    names, is_number = column.rating_words, column.kind is Kind.NUMBER
    peers = [of for of in ratings if of is not column and not holds_raters(of)]
    # A header shares a part with one of ratings, as expert_a_tone and expert_a_style.
    has_sibling = any(distinct_parts([column.name, of.name]) for of in peers)
    has_sibling |= form_of(column.name) in (form_of(of.name) for of in peers)
    if is_number and not names_id(column.name) and has_sibling:
        return True
    # What one judge said on several questions: "Issue (judge)" beside "Tone (judge)".
    if _BY_JUDGE.search(column.name) and sum(_BY_JUDGE.search(c.name) is not None for c in peers):
        return True
    may_be_letters = len(ratings) > 1 and all(re.fullmatch(r"[^\W\d_]\d?", of) for of in names)
    is_verdict = column.may_be(Role.RATER) and column.holds_verdicts  # of the expert in the header
    is_ordered = (column.order is not None or is_verdict) and not column.origin
    if is_ordered and not is_number and not (may_be_letters and column.may_be(Role.RATER)):
        return True
    # Raters are not called like ratings.
    folded = {name.casefold() for name in names}
    words_of_peers = [{word.casefold() for word in other.rating_words} for other in peers]
    is_score = any(names_judge(of.name) for of in (column, *peers))
    is_score |= any(of.who is Who.HUMAN and not is_rating_word(of.name) for of in peers)
    is_score &= any(c.n_distinct == len(table) for c in table.columns)
    is_score &= not any(
        c.may_be(Role.ITEM) and not c.may_be(Role.MEASURE) and 1 < c.n_distinct < len(table)
        for c in table.columns
    )
    return (is_score or not is_number) and any(
        2 * len(folded & of) > max(len(folded), len(of)) for of in words_of_peers
    )


def _stands_beside_people(table: CodedTable, column: CodedColumn, ratings: Columns) -> bool:
    """Return whether a column says who made the file, or holds scores, beside people's ratings."""
    peers = [of for of in ratings if of is not column]
    if column.n_distinct == 1 and not column.origin:
        runs = [of for of in peers if of.may_be(Role.RUN)]
        peers = [of for of in peers if len(of.name) > 1 and of not in runs]
        # In a document a judge stands above its runs, and may do so beside people.
        is_above = any(of.level and owner_and_field(of.name)[1] == "run" for of in runs)
        is_judge = names_judge(column.name) and names_model(column.values[0])
        return is_above or any(
            who(owner_and_field(of.name)[1]).is_human or (of.who is Who.JUDGE and not is_judge)
            for of in peers
        )
    # Words of a judge that name nobody, one for each item, are verdicts.
    names = column.rating_words[:50]
    is_name = any(is_first_name(of) or who(of) in (Who.HUMAN, Who.JUDGE) for of in names)
    has_ids = any(of.n_distinct == len(table) for of in table.columns)
    is_score = column.kind is Kind.NUMBER or (column in ratings and has_ids and not is_name)
    return is_score and names_judge(column.name) and any(of.who is Who.HUMAN for of in peers)


def holds_raters(column: CodedColumn) -> bool:
    """Return whether all values are called like people or judges, as anna beside gpt-4."""
    names = column.rating_words[:50]
    people = [
        who(name) is Who.HUMAN or is_first_name(name) or name.casefold() in _PEOPLE
        for name in names
    ]
    are_raters = all(of or who(name) is Who.JUDGE for of, name in zip(people, names, strict=True))
    is_letter = all(re.fullmatch(r".\d*", name) for name in names)  # as of a variant, or H7
    return column.kind is Kind.WORD and any(people) and are_raters and not is_letter


def _rater_score(column: CodedColumn) -> float:
    """Return how likely a column names raters, by its name and by those in it."""
    is_judge = holds_judges(column.name)
    stems = {NUMBER_AT_END.sub("", name) for name in column.values[:50]}
    # A letter after what all share, as in caption a, makes no name of a person.
    weakest = Who.HUMAN if len(stems) == 1 < len(column.values) else Who.PERSON
    people = [who(name).value >= weakest.value for name in column.values[:50]]
    # Ids such as p1 may be those of prompts.
    names = () if column.kind is Kind.NUMBER else column.values[:50]
    is_named = column.origin or any(is_first_name(n) or names_model(n) for n in names)
    return float(
        4 * (column.may_be(Role.RATER) or column.holds_emails)
        + 2 * (column.origin in (Origin.FILE, Origin.SHEET))
        + 0.5 * (column.origin is Origin.POSITION)
        + 0.9 * np.mean(people)
        + is_judge
        + 0.1 * (bool(names) and all(map(names_model, names)))  # and no provider
        - 2 * column.may_be(Role.QUESTION)
        - 2 * (column.may_be(Role.SYSTEM) and not (is_judge or holds_raters(column)))
        - 1.5 * column.may_be(Role.TURN)
        - 2 * column.may_be(Role.RUN)
        - (1.5 if is_named else 2.5) * (column.may_be(Role.ITEM) and not column.may_be(Role.RATER))
        - 3 * column.may_be(Role.TEXT)
    )


def judges_by_kind(columns: Iterable[CodedColumn], rater: CodedColumn) -> frozenset[str]:
    """Return the raters that another column calls a machine, as it calls others people.

    Examples:
        >>> rater = CodedColumn.of("rater", ["ann", "r3", "ann"])
        >>> judges_by_kind([CodedColumn.of("is_llm", ["false", "true", "false"])], rater)
        frozenset({'r3'})
    """
    for _, is_machine in _machine_rows(columns):
        judges, people = (
            {rater.values[code] for code in np.unique(rater.codes[rows & rater.has_cell])}
            for rows in (is_machine, ~is_machine)
        )
        if judges and not judges & people:
            return frozenset(judges)
    return frozenset()


def _machine_rows(
    columns: Iterable[CodedColumn],
) -> Iterator[tuple[CodedColumn, npt.NDArray[np.bool_]]]:
    """Yield each column that tells machines from people, and whether each row is a machine's."""
    for column in columns:
        name = plain(column.name)
        if _RATERS_MODEL.search(name) and all(map(names_model, column.values)):
            yield column, column.has_cell
        if not 1 < len(column.values) <= MOST_QUESTIONS:
            continue
        words = [value.casefold() for value in column.values]
        if _OF_MACHINE.search(name):
            yield column, np.append([word in _TRUE for word in words], False)[column.codes]
        elif _OF_HUMAN.search(name) and {*words} <= _TRUE | _FALSE:
            yield column, np.append([word in _FALSE for word in words], False)[column.codes]
        elif {*words} <= _MACHINES | _PEOPLE:
            yield column, np.append([word in _MACHINES for word in words], False)[column.codes]
        elif _KIND.search(name) or _says_whose(column):
            are_judges = [who(value) is Who.JUDGE for value in column.values]
            yield column, np.append(are_judges, False)[column.codes]


def _says_whose(column: CodedColumn) -> bool:
    """Return whether names of fields are of a person and a model, as human_ and model_scores."""
    return column.origin is Origin.KEY and {*map(who, column.values)} == {Who.HUMAN, Who.JUDGE}


def with_machines(rater: CodedColumn, columns: Iterable[CodedColumn]) -> CodedColumn:
    """Return a column of raters in which machines without a name are called by their kind.

    A column of judges that is filled only where no rater is names those, as does one of any names
    that is filled in all rows without a rater.
    """
    for column in columns:
        is_alone = column.has_cell & ~rater.has_cell
        if (
            column.n_cells == is_alone.sum() > 0
            and column.kind is Kind.WORD
            and (
                (rater.n_cells > 0 and (column.has_cell != rater.has_cell).all())
                or all(who(value) is Who.JUDGE for value in column.values)
            )
        ):
            return _with_names(rater, column, is_alone)
    for column, is_machine in _machine_rows(columns):
        machines, people = (
            set(rater.codes[rows & rater.has_cell].tolist()) for rows in (is_machine, ~is_machine)
        )
        # Under a person's name, fields of human and model scores hold a model's, too.
        is_below = column.level > rater.level and _says_whose(column)
        if machines & people and not is_below:
            continue  # the kind is that of the text: the same raters rate those of both
        rows = is_machine & (~rater.has_cell | is_below)
        kinds = {column.values[code] for code in np.unique(column.codes[rows])}
        if len(kinds) == 1 and who(kinds.pop()) is Who.JUDGE:
            level = max(rater.level, is_below * column.level)
            return replace(_with_names(rater, column, rows), level=level)
    return rater


def _with_names(rater: CodedColumn, names: CodedColumn, rows: npt.NDArray[np.bool_]) -> CodedColumn:
    """Return a column of raters with the names of another column in some rows."""
    values = [*dict.fromkeys([*rater.values, *names.values])]
    place = {value: code for code, value in enumerate(values)}
    codes = np.array([*map(place.__getitem__, names.values), BLANK])[names.codes]
    return replace(rater, codes=np.where(rows, codes, rater.codes), values=values)
