"""Tables with a row for each rating: who rated, what, and which columns hold the ratings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from eval_assets.readers.columns import (
    CodedColumn,
    CodedTable,
    Kind,
    Origin,
    combined,
    n_distinct,
    share_constant,
)
from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import (
    Role,
    Who,
    distinct_parts,
    holds_judges,
    is_first_name,
    is_rating_word,
    may_be,
    may_be_program,
    models_by_company,
    names_id,
    names_judge,
    names_model,
    names_one_of_several,
    owner_and_field,
    share_of_criteria,
    who,
)
from eval_assets.readers.problems import count_as_people, listed_briefly
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.table_reading import (
    MOST_QUESTIONS,
    OF_ITEM,
    UNLIKE,
    Choices,
    RatedColumn,
    Reading,
    deepest_level,
    question_among,
    responses_side_by_side,
    row_numbers,
)
from eval_assets.readers.words import lines_of

_MOST_CANDIDATES = 6
_MOST_COPIES = 0.03
"""Share of ratings that may be second submissions."""

_FEWEST_NUMBERS = 20
"""Numbers that no rater repeats, from which on they are those of items, whatever their header."""

_FEW_ROWS = 12
_MOST_KEY_COLUMNS = 9
_FEWEST_EQUAL = 20
"""Equal ratings of an item to expect, without any of which numbers are ids."""

_MOST_SUMMED = 20
_ROUNDED = 0.01
"""Share of the range of numbers that rounding takes from a sum."""

_FEWEST_CLASSES = 5
"""Classes from which on it is no chance that their numbers follow the alphabet."""

_FEWEST_ASKED = 3
"""Columns of ratings from which on a row of each rater is a form that was filled in."""

_QUESTIONS = ("question_id", "question", "criterion", "metric", "dimension", "aspect")
_REPEATED = 1.3
"""Ratings of an item, on average, from which on a column can be constant within items."""

_METRIC = re.compile(r"criteria|rubric|g-eval|exact.?match|autorater|model-graded", re.IGNORECASE)
"""Names of what grades by itself."""

_DESCRIBES = (Role.MEASURE, Role.FLAG, Role.SUMMARY)
_ATTRIBUTES = (*_DESCRIBES, Role.SYSTEM, Role.TURN, Role.ITEM, Role.TIME)
_NUMBERED = (Role.RATING, Role.RUN, Role.TURN)


@dataclass(frozen=True, eq=False)
class _ItemKey:
    """Columns that name the item, with which a rater rates once.

    `n_copies` ratings are second ones.
    """

    items: list[CodedColumn]
    question: CodedColumn | None
    run: CodedColumn | None
    n_copies: int


def readings_of_rating_rows(
    table: CodedTable, columns: Sequence[CodedColumn], not_read: dict[str, Reason], choices: Choices
) -> Iterator[Reading]:
    """Yield a reading for each column that may name the raters of rows."""
    for candidate in _rater_candidates(table, columns, choices):
        rater = _with_machines(candidate, table.columns)
        rest = [rater if column is candidate else column for column in columns]
        reading = _RatingRows(table, rest, rater, choices, dict(not_read)).reading()
        if reading is not None:
            yield reading


def _rater_candidates(
    table: CodedTable, columns: Sequence[CodedColumn], choices: Choices
) -> list[CodedColumn]:
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
    likely = [column for score, column in scored if score > -1]
    likely = [of for of in likely if not _tells_of_raters(of, likely)]
    named = [of for of in likely if of.may_be(Role.RATER)]
    # Who was shown to users is no rater, though subjects are.
    shown = [of for of in named if plain(of.name).startswith("subject")]
    likely = [of for of in likely if of not in shown or shown == named]
    texts = [of for of in table.columns if of.kind is Kind.TEXT and len(named) > 1]
    authors = [of for of in named if any(share_constant(c, of.codes) == 1 for c in texts)]
    return [of for of in likely if of not in authors or authors == named][:_MOST_CANDIDATES]


def _numbers_of_raters(table: CodedTable, ratings: Sequence[CodedColumn]) -> list[CodedColumn]:
    """Return numbers that differ in all rows of each item, where ratings would repeat."""
    has_raters = any(column.may_be(Role.RATER) for column in table.columns)
    numbers = [] if has_raters else [c for c in ratings if c.is_whole and not c.may_be(*_NUMBERED)]
    words = [c for c in table.columns if c.kind in (Kind.WORD, Kind.TEXT) and not c.level]
    pairs = product(numbers, (column for column in words if not column.can_rate))
    return list(dict.fromkeys(column for column, item in pairs if _differ_within(column, item)))


def _differ_within(column: CodedColumn, item: CodedColumn) -> bool:
    rows = column.has_cell & item.has_cell
    sizes, shares = item.counts[item.counts > 1], column.counts / max(1, column.n_cells)
    n_expected = (sizes * (sizes - 1)).sum() / 2 * (shares**2).sum()
    # Systems and steps are numbered in each item alike, and raters rate some of the items.
    is_partial = len(sizes) > 0 and sizes.max() < len(column.values)
    is_unique = n_distinct(combined([column, item])[rows]) == rows.sum()
    return bool(is_partial and n_expected > _FEWEST_EQUAL and is_unique)


def _tells_of_raters(column: CodedColumn, candidates: Sequence[CodedColumn]) -> bool:
    """Return whether a column is equal in all ratings by each of more raters, as their politics."""
    return column.may_be(Role.RATER) and any(
        of.may_be(Role.RATER)
        and column.n_distinct < of.n_distinct < of.n_cells / 2
        and share_constant(column, of.codes) == 1
        for of in candidates
    )


def _may_name_raters(
    table: CodedTable, column: CodedColumn, ratings: Sequence[CodedColumn]
) -> bool:
    is_number = column.kind is Kind.NUMBER
    is_counted = is_number and column.can_rate and plain(column.name).endswith("rs")  # annotators
    is_named = column.may_be(Role.RATER) and not is_counted
    names_judges = column.level and any(who(of) is Who.JUDGE for of in column.values[:50])
    is_described = column.may_be(*_DESCRIBES) and not names_judges  # as a type of feedback may
    is_described |= column.can_rate and names_model(column.name)
    no_names = column.kind in (Kind.TIME, Kind.EMPTY, Kind.TEXT) or is_described
    # Who reviewed an item did not give the scores that a list below has beside their model.
    no_names |= any(
        column.level < of.level == max(c.level for c in ratings)
        and 0 < len(of.values) == sum(map(names_model, of.values))
        for of in (table.columns if ratings else ())
    )
    # The parts of a list are no raters if a field beside it says what they are, or two texts do;
    # nor are those of a text, from start to end.
    fields = {owner_and_field(of.name)[1] for of in table.columns if of.level == column.level}
    no_names |= column.origin is Origin.POSITION and fields.issuperset(("start", "end"))
    is_named_beside = column.origin is Origin.POSITION and (
        any(
            of.level == column.level
            and of.n_distinct > 1
            and (
                of.may_be(Role.SYSTEM)
                or _names_parts(of, column)
                or (of.n_distinct >= column.n_distinct and holds_raters(of))
            )
            for of in table.columns
            if of is not column
        )
        or (
            column.n_distinct == 2
            and any(of.n_distinct > 3 for of in ratings)
            and responses_side_by_side(table)
        )
        or sum(of.who is Who.HUMAN and names_one_of_several(of.name) for of in ratings) > 1
    )
    if no_names or is_named_beside or _stands_beside_people(table, column, ratings):
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


def _names_parts(column: CodedColumn, position: CodedColumn) -> bool:
    """Return whether a column calls the parts of all lists by the same names, as of metrics."""
    is_question = column.may_be(Role.QUESTION) or share_of_criteria(column.values[:50]) > 0.5
    return (
        is_question
        and column.n_distinct == position.n_distinct
        and n_distinct(combined([column, position])) == column.n_distinct
    )


def _is_rated(table: CodedTable, column: CodedColumn, ratings: Sequence[CodedColumn]) -> bool:
    """Return whether the values of a column are ratings, and not names of raters."""
    names, is_number = column.rating_words, column.kind is Kind.NUMBER
    peers = [of for of in ratings if of is not column and not holds_raters(of)]
    # A header shares a part with one of ratings, as expert_a_tone and expert_a_style.
    has_sibling = any(distinct_parts([column.name, of.name]) for of in peers)
    if is_number and not names_id(column.name) and has_sibling:
        return True
    may_be_letters = len(ratings) > 1 and all(re.fullmatch(r"[^\W\d_]\d?", of) for of in names)
    is_ordered = column.order is not None and not column.origin
    if is_ordered and not is_number and not (may_be_letters and column.may_be(Role.RATER)):
        return True
    # Raters are not called like ratings.
    folded = {name.casefold() for name in names}
    words_of_peers = [{word.casefold() for word in other.rating_words} for other in peers]
    is_score = any(names_judge(of.name) for of in (column, *peers))
    is_score |= any(of.who is Who.HUMAN and not is_rating_word(of.name) for of in peers)
    is_score &= any(c.n_distinct == len(table) for c in table.columns)
    is_score &= not any(
        c.may_be(Role.ITEM) and 1 < c.n_distinct < len(table) for c in table.columns
    )
    return (is_score or not is_number) and any(
        2 * len(folded & of) > max(len(folded), len(of)) for of in words_of_peers
    )


def _stands_beside_people(
    table: CodedTable, column: CodedColumn, ratings: Sequence[CodedColumn]
) -> bool:
    """Return whether a column says who made the file, or holds scores, beside people's ratings."""
    peers = [of for of in ratings if of is not column]
    if column.n_distinct == 1 and not column.origin:
        return any(who(owner_and_field(of.name)[1]).is_human or of.who is Who.JUDGE for of in peers)
    # Words of a judge that name nobody, one for each item, are verdicts.
    names = column.rating_words[:50]
    is_name = any(is_first_name(of) or who(of) in (Who.HUMAN, Who.JUDGE) for of in names)
    has_ids = any(of.n_distinct == len(table) for of in table.columns)
    is_score = column.kind is Kind.NUMBER or (column in ratings and has_ids and not is_name)
    return is_score and names_judge(column.name) and any(of.who is Who.HUMAN for of in peers)


def _names_judges_score(column: CodedColumn) -> bool:
    name = re.sub("verdict", "", column.name.casefold())  # people give verdicts, too
    return (names_judge(name) or names_model(name)) and not (
        is_rating_word(name) or name.startswith("model")
    )


def holds_raters(column: CodedColumn) -> bool:
    """Return whether all values are called like people or judges, as anna beside gpt-4."""
    names = column.rating_words[:50]
    people = [who(name) is Who.HUMAN or is_first_name(name) for name in names]
    are_raters = all(of or who(name) is Who.JUDGE for of, name in zip(people, names, strict=True))
    is_letter = all(len(name) == 1 for name in names)  # as of a variant
    return column.kind is Kind.WORD and any(people) and are_raters and not is_letter


def _rater_score(column: CodedColumn) -> float:
    """Return how likely a column names raters, by its name and by those in it."""
    is_judge = holds_judges(column.name)
    people = [who(name) in (Who.JUDGE, Who.HUMAN, Who.PERSON) for name in column.values[:50]]
    # Ids such as p1 may be those of prompts.
    is_named = column.origin or any(is_first_name(n) or names_model(n) for n in column.values[:50])
    return float(
        4 * (column.may_be(Role.RATER) or column.holds_emails)
        + 2 * (column.origin in (Origin.FILE, Origin.SHEET))
        + 0.5 * (column.origin is Origin.POSITION)
        + 0.9 * np.mean(people)
        + is_judge
        - 2 * column.may_be(Role.QUESTION)
        - 2 * (column.may_be(Role.SYSTEM) and not (is_judge or holds_raters(column)))
        - 1.5 * column.may_be(Role.TURN)
        - 2 * column.may_be(Role.RUN)
        - (1.5 if is_named else 2.5) * (column.may_be(Role.ITEM) and not column.may_be(Role.RATER))
        - 3 * column.may_be(Role.TEXT)
    )


@dataclass(eq=False)
class _RatingRows:
    """A table whose rows are ratings, with one column as that of the raters."""

    table: CodedTable
    columns: list[CodedColumn]
    rater: CodedColumn
    choices: Choices
    not_read: dict[str, Reason]
    notes: list[str] = field(default_factory=list)
    has_copies: bool = False
    _sizes: dict[int, int] = field(default_factory=dict)

    @cached_property
    def level(self) -> int:
        """Return the level of the ratings: that of the raters, or of the list that names them."""
        above = deepest_level([of for of in self.columns if of is not self.rater])
        return above or deepest_level(self.columns)

    @cached_property
    def is_named(self) -> bool:
        """Return whether the header, or an option, says that the column names raters."""
        rater = self.rater
        is_named = rater.may_be(Role.RATER) or rater.origin or self.choices.takes(rater)
        return bool(is_named or holds_judges(rater.name) or holds_raters(rater))

    @cached_property
    def candidates(self) -> list[CodedColumn]:
        """Columns that may hold ratings."""
        if self.choices.ratings:
            return [column for column in self.choices.ratings if column is not self.rater]
        return [
            column
            for column in self.columns
            if column is not self.rater
            and not self.choices.takes(column)
            and column.can_rate
            and column.level == self.level
            and not column.may_be(Role.TEXT, Role.ROUND)
        ]

    @cached_property
    def runs(self) -> list[CodedColumn]:
        """Columns that may tell runs of a judge apart."""
        if self.choices.run is not None:
            return [self.choices.run]
        return [
            column
            for column in self.columns
            if column is not self.rater
            and (
                (column.may_be(Role.RUN) and column.is_whole)
                or (column.origin is Origin.POSITION and self._holds_judges())
            )
        ]

    @cached_property
    def round(self) -> CodedColumn | None:
        """CodedColumn of the round of labelling, of which the latest counts."""
        return next(
            (
                column
                for column in self.columns
                if column.may_be(Role.ROUND)
                and column.is_whole
                and 1 < column.n_distinct <= 10
                and not self.choices.takes(column)
            ),
            None,
        )

    def reading(self) -> Reading | None:
        """Return the roles of the columns; None if no columns tell the ratings of a rater apart."""
        key = self._key()
        if key is None:
            return None
        of_unit = [*key.items, *filter(None, [key.question, key.run])]
        per_item = self.n_rated / max(1, n_distinct(combined(of_unit)[self.is_rated]))
        if per_item < 1.05 and not self.is_named:
            return None
        rated = self._rated_columns(key, per_item)
        if not rated or (all(map(self._is_of_judge, rated)) and not self.choices.ratings):
            return None
        is_above = self.rater.level > max(column.level for column in rated)
        if is_above and not any(share_constant(c, combined(of_unit)) < 1 for c in rated):
            return None  # a list of names beside one rating of all of them
        ends = [owner_and_field(column.name)[1] for column in rated]
        is_short = len(rated) > 1 and len(set(ends)) == len(ends)
        names = ends if is_short else [column.name for column in rated]
        constant_questions = (
            column
            for column in self.columns
            if column.n_distinct == 1
            and plain(column.name) in _QUESTIONS
            and not self.choices.takes(column)
        )
        reading = Reading(
            table=self.table,
            items=key.items,
            rated=[RatedColumn(c, question=name) for c, name in zip(rated, names, strict=True)],
            rater=self.rater,
            question=key.question or next(constant_questions, None),
            run=key.run,
            round=self.round,
            time=next((c for c in self.columns if c.kind is Kind.TIME), None),
            judges_only=self._holds_judges(),
            judges=judges_by_kind(self.table.columns, self.rater),
            not_read=self.not_read,
            notes=self.notes,
        )
        if len(rated) == 1 and self._is_of_words(rated[0]):
            reading.note_values_alone(rated[0])
        self._doubt_programs(reading)
        if not (self.is_named or self.rater.holds_emails or self.choices.items):
            columns = tuple(column.name for column in (*key.items, self.rater))
            reading.forks.append((f"{self.rater.name} names raters", {"item": columns}))
        reading.likelihood = self._likelihood(reading, per_item)
        return reading

    def _is_of_words(self, column: CodedColumn) -> bool:
        """Return whether a column holds words in no order, and nothing calls it a rating."""
        is_called = column.may_be(Role.RATING) or column.who in (Who.HUMAN, Who.CRITERION)
        is_open = not (is_called or "?" in column.name or self.choices.ratings)
        return is_open and column.kind is Kind.WORD and column.order is None

    def _is_of_judge(self, column: CodedColumn) -> bool:
        """Return whether scores are a judge's, though people may stand beside them."""
        is_open = not self.is_named or (_names_judges_score(column) and not self._holds_judges())
        return column.who is Who.JUDGE and is_open

    def _holds_judges(self) -> bool:
        """Return whether all names in the rater column are those of judges."""
        if self.rater in self.choices.judges:
            return True
        names = self.rater.rating_words[:50]
        kinds = {who(name) for name in names}
        if kinds == {Who.JUDGE} or (self.is_named and all(map(_METRIC.search, names))):
            return True
        if plain(self.rater.name) in ("judge", "judges", "judge_id", "judge_name"):
            # Beside people each name says for itself: human_1 beside gpt-4.
            are_people = Who.HUMAN in kinds or any(map(is_first_name, names))
            return any(map(names_model, names)) and not are_people
        return holds_judges(self.rater.name) and Who.HUMAN not in kinds

    def _likelihood(self, reading: Reading, per_item: float) -> float:
        first, rated = reading.rated[0].column, [of.column for of in reading.rated]
        n_people = sum(of.who is Who.HUMAN or is_first_name(of.name) for of in rated)
        return float(
            4
            + 2 * self.is_named
            + 2 * (per_item > _REPEATED)
            - 4 * self.has_copies
            + 0.5 * any(of.may_be(Role.ITEM) for of in reading.items)
            + 0.5 * first.may_be(Role.RATING)
            - 0.4 * (len(reading.items) - 1)
            - 2.5 * (self.rater.origin is Origin.POSITION)
            - 0.5 * (self.rater.origin is Origin.FILE)
            + 0.3 * self.level
            + 0.3 * (first.n_distinct > 1)
            - 2 * (_UNSTABLE in self.not_read.values())  # so rows may be items
            - 3 * (not self.level and n_people > 1)
        )

    def _doubt_programs(self, reading: Reading) -> None:
        """Add the choice that raters who may be programs are people."""
        names = self.rater.values if self.choices.names is None else ()
        models = models_by_company(names)
        models |= reading.judges
        programs = tuple(of for of in names if may_be_program(of, names) and of not in models)
        if programs and len(programs) < len(names):
            reading.forks.append((count_as_people(programs), {"judge": programs}))

    # The key: the coarsest columns with which a rater rates once.

    @cached_property
    def is_rated(self) -> npt.NDArray[np.bool_]:
        """Return whether each row has a rater and a rating."""
        rated = np.zeros(len(self.table), dtype=bool)
        for column in self.candidates:
            rated |= column.has_cell
        return rated & self.rater.has_cell

    @cached_property
    def n_rated(self) -> int:
        return int(self.is_rated.sum())

    def _n_copies(self, columns: Sequence[CodedColumn]) -> int:
        """Return the number of ratings that are second ones if these columns name the item."""
        rounds = [] if self.round is None else [self.round]
        return self.n_rated - n_distinct(combined([*columns, self.rater, *rounds])[self.is_rated])

    def _is_key(self, columns: Sequence[CodedColumn]) -> bool:
        few_by_chance = 1 if _FEW_ROWS < self.n_rated < 200 else 0
        return self._n_copies(columns) <= max(_MOST_COPIES * self.n_rated, few_by_chance)

    def _size(self, column: CodedColumn) -> int:
        """Return the number of values of a column in the rows of ratings."""
        if id(column) not in self._sizes:
            self._sizes[id(column)] = n_distinct(column.codes[self.is_rated])
        return self._sizes[id(column)]

    def _key(self) -> _ItemKey | None:
        if not self.n_rated:
            return None
        if self.choices.items:
            return self._key_of_items()
        several, unique = self._parts_of_items()
        item = min(
            unique,
            key=lambda c: (
                c.origin is Origin.POSITION,
                not c.may_be(Role.ITEM),
                c.kind is Kind.TEXT,
                c.level,
            ),
            default=None,
        )
        roles = (Role.ITEM, Role.QUESTION, Role.SYSTEM, Role.TURN)
        pool = sorted(several, key=lambda c: (not c.may_be(*roles), -self._size(c)))
        for depth in (1, 2, 3, 4):
            parts = several if depth == 1 else pool[:_MOST_KEY_COLUMNS]
            keys = [*filter(None, map(self._key_of, combinations(parts, depth)))]
            best = min(keys, key=lambda key: self._rank(key, depth), default=None)
            if best is not None and depth == 1 and self._counts(best.items[0], self.rater.codes):
                # Raters saw the items in orders of their own if others are keys, too.
                size = n_distinct(combined(best.items))
                further = [k for k in keys if n_distinct(combined([*best.items, *k.items])) > size]
                best = min(further, key=lambda key: self._rank(key, depth), default=best)
            if best is not None:
                return best
            if depth == 1 and item is not None and self._is_rated_once(several):
                return self._item_key([item])
        if self.is_named and item is None:
            # Second ratings of the column that is called like items are errors.
            items = [column for column in several if column.may_be(Role.ITEM)]
            self.has_copies = bool(items)
            return self._item_key([max(items, key=self._size)]) if items else None
        is_respondent = (
            self._size(self.rater) == self.n_rated and len(self.candidates) > _FEWEST_ASKED
        )
        return None if item is None or is_respondent else self._item_key([item])

    def _item_key(
        self,
        items: list[CodedColumn],
        question: CodedColumn | None = None,
        run: CodedColumn | None = None,
    ) -> _ItemKey:
        """Return the key of items with what options name, or else was found, beside them."""
        question, run = self.choices.question or question, self.choices.run or run
        n_copies = self._n_copies([*items, *filter(None, [question, run])])
        return _ItemKey(items, question, run, n_copies)

    def _key_of_items(self) -> _ItemKey:
        """Return the key of items that an option names, with what completes it."""
        items = self.choices.items
        base = [*items, *self.chosen_parts]
        if self._is_key(base):
            return self._item_key(items)
        run = next((column for column in self.runs if self._is_key([*base, column])), None)
        if run is not None:
            return self._item_key(items, run=run)
        questions = (
            column
            for column in self.columns
            if (column.may_be(Role.QUESTION) or column.kind is Kind.WORD)
            and column.n_distinct <= MOST_QUESTIONS
            and column is not self.rater
            and not self.choices.takes(column)
            and self._is_key([*base, column])
        )
        return self._item_key(items, next(questions, None))

    @cached_property
    def chosen_parts(self) -> list[CodedColumn]:
        """Question and run, as far as options name them."""
        return [*filter(None, [self.choices.question, self.choices.run])]

    def _parts_of_items(self) -> tuple[list[CodedColumn], list[CodedColumn]]:
        """Return columns that may name items of several ratings, and those that name each row."""
        parts = [
            column
            for column in self.columns
            if column is not self.rater
            and column is not self.round
            and not self.choices.takes(column)
            and not column.may_be(Role.TEXT)
            and column.kind not in (Kind.TIME, Kind.EMPTY)
            and (column.kind is not Kind.NUMBER or column.is_whole)
            and not (column.kind is Kind.NUMBER and column.may_be(Role.MEASURE))
            and (
                column in self.runs
                or (column.origin is not Origin.POSITION and self._may_be_part(column))
            )
        ]
        n_raters = len(self.rater.values)
        several = [
            column
            for column in parts
            if self._size(column) < self.n_rated
            # What is constant within each rater is the rater's, such as the age.
            and not (
                1 < self._size(column) <= n_raters > 1
                and share_constant(column, self.rater.codes) == 1
            )
        ]
        return several, [column for column in parts if self._size(column) == self.n_rated]

    def _may_be_part(self, column: CodedColumn) -> bool:
        if self._size(column) == 1:  # the single item of a small file
            is_item = column.may_be(Role.ITEM) and not column.may_be(Role.RATING, Role.MEASURE)
            return is_item and self.n_rated < _FEW_ROWS
        if column not in self.candidates or column.may_be(Role.TURN):
            return True
        is_word = column.kind is Kind.WORD and column.order is None
        is_number = self._size(column) >= _FEWEST_NUMBERS and self._is_key([column])
        is_part = column.may_be(Role.ITEM, Role.SYSTEM) or is_word or is_number
        # What ratings share says nothing: the stimulus in rating_stimulus beside rating_score.
        pairs = ([column.name, of.name] for of in self.candidates if of.kind is Kind.NUMBER)
        own_parts = [distinct_parts(pair).get(column.name, "rating") for pair in pairs]
        is_rating = column.may_be(Role.RATING) and all(may_be(of, Role.RATING) for of in own_parts)
        return is_part and not (is_rating or column.may_be(*_DESCRIBES))

    def _key_of(self, columns: Sequence[CodedColumn]) -> _ItemKey | None:
        """Return the key that columns make; None if they make none."""
        if not self._is_key([*columns, *self.chosen_parts]):
            return None
        run = next((column for column in columns if column in self.runs), None)
        items = [column for column in columns if column is not run]
        question = self.choices.question or question_among(items, self.is_rated)
        items = [column for column in items if column is not question]
        return self._item_key(items, question, run) if items else None

    def _rank(self, key: _ItemKey, depth: int) -> tuple[float, ...]:
        """Return what makes a key worse: texts, many items, unusual names."""
        columns = [*key.items, *filter(None, [key.question])]
        n_named = sum(column.may_be(Role.ITEM) for column in columns)
        return (
            key.run is not None and self.choices.run is None,
            -n_named if depth > 1 else 0,
            key.n_copies > 0,
            n_distinct(combined(columns)[self.is_rated]),
            -n_named,
            sum(len("".join(column.values[:20])) for column in columns),
        )

    def _counts(self, column: CodedColumn, unit: npt.NDArray[np.integer]) -> bool:
        """Return whether a column counts the ratings of each rater or item, as trials."""
        if column.kind is not Kind.NUMBER:
            return False
        rows = np.flatnonzero(self.is_rated & column.has_cell)
        units, numbers = unit[rows], column.numbers[column.codes[rows]]
        if np.count_nonzero(numbers == np.nanmin(numbers, initial=np.inf)) != n_distinct(units):
            return False
        order = np.argsort(units, kind="stable")
        steps, is_same = np.diff(numbers[order]), np.diff(units[order]) == 0
        return bool(is_same.any() and (steps[is_same] == 1).all())

    def _is_rated_once(self, several: Sequence[CodedColumn]) -> bool:
        """Return whether each item was rated once, by whichever of several raters."""
        is_shared = any(
            column.may_be(Role.ITEM)
            and not column.may_be(Role.SYSTEM)
            and column.kind is not Kind.TEXT
            and 1.5 * self._size(column) < self.n_rated
            for column in several
        )
        return self.is_named and self.n_rated > self._size(self.rater) and not is_shared

    # The ratings: what varies within items and within raters.

    def _rated_columns(self, key: _ItemKey, per_item: float) -> list[CodedColumn]:
        """Return the columns of ratings among the candidates."""
        unit = combined([*key.items, *filter(None, [key.question])])
        rated: list[CodedColumn] = []
        attributes: list[CodedColumn] = []
        measures: list[CodedColumn] = []
        key_columns = (*key.items, key.question, key.run)
        for column in self.candidates:
            if any(column is of for of in key_columns):
                continue
            reason = None if self.choices.ratings else self._reason(column, unit, per_item)
            if reason is None:
                rated.append(column)
                continue
            is_system = reason == _BY_NAME and column.may_be(Role.SYSTEM)
            may_rate = is_system and (
                column.kind is Kind.NUMBER
                or column.order is not None
                or share_constant(column, unit) < 1
            )
            is_flag = reason == _MEASUREMENT and re.match("(is|has|contains)_", plain(column.name))
            if is_flag or reason == _SUMMARY:
                may_rate = share_constant(column, unit) < 1  # raters differ: an answer, too
            self.not_read[column.name] = reason.told if may_rate else reason
            is_answered = column.who is Who.CRITERION or column.may_be(Role.RATING)
            of_item = reason == OF_ITEM and not column.may_be(*_ATTRIBUTES)
            if of_item or (reason == _OF_RATER and is_answered):
                attributes.append(column)
            elif reason == _MEASUREMENT or plain(column.name) in _CLASSES:
                measures.append(column)
        if not rated and self.is_named and not self.rater.origin:
            # Raters who always agree, or a column named like a measurement.
            rated = attributes or (measures if len(measures) == 1 else [])
            for column in rated:
                del self.not_read[column.name]
        if self.choices.ratings:
            return rated
        repeated = [column for column in rated if column.n_distinct < 0.5 * column.n_cells]
        decimals = [c for c in rated if repeated and not c.is_whole and c not in repeated]
        scores = [c for c in decimals if c.may_be(Role.RATING)]
        self.not_read |= {c.name: _DECIMALS.told if c in scores else _DECIMALS for c in decimals}
        rated = self._without_codes([c for c in rated if c not in decimals], key_columns)
        return self._of_one_kind(self._without_figures(rated), key)

    def _without_codes(
        self, rated: list[CodedColumn], key: Sequence[CodedColumn | None]
    ) -> list[CodedColumn]:
        """Return each rating once where one column has its words and another the numbers of them.

        Numbers of many words in the order of the alphabet are those of classes, and no scale.
        """
        rest = list(rated)
        words = [c for c in self.columns if c.kind is Kind.WORD and c.level == self.level]
        words = [c for c in words if c is not self.rater and not any(c is of for of in key)]
        for column, word in product(rated, words):
            if column not in rest or not _stand_for_each_other(column, word):
                continue
            first, last = (word, column) if _count_the_alphabet(column, word) else (column, word)
            if last in rest:
                rest[rest.index(last)] = first
                self.not_read[last.name] = Reason(f"repeats {first.name}", is_attribute=False)
                self.not_read.pop(first.name, None)
        return list(dict.fromkeys(rest))

    def _without_figures(self, rated: list[CodedColumn]) -> list[CodedColumn]:
        """Return the ratings without sums, means and differences of others beside them."""
        numbers = [c for c in rated if c.kind is Kind.NUMBER]
        for column in numbers[::-1] if len(numbers) <= _MOST_SUMMED else ():
            if summands := _summands(column, numbers):
                numbers.remove(column)
                text = f"computed from {listed_briefly([of.name for of in summands])}"
                self.not_read[column.name] = Reason(text, is_told=True, is_attribute=False)
        return [c for c in rated if c in numbers or c.kind is not Kind.NUMBER]

    def _reason(
        self, column: CodedColumn, unit: npt.NDArray[np.int64], per_item: float
    ) -> Reason | None:
        """Return why a candidate holds no ratings; None if it may."""
        peers = [c for c in self.candidates if c is not column]
        is_constant = per_item == 1 or share_constant(column, unit) == 1
        is_rating = column.may_be(Role.RATING)
        varied = [
            of
            for of in (peers if is_constant and is_rating else ())
            if not of.may_be(*_ATTRIBUTES) and share_constant(of, unit) < 1
        ]
        is_only_rating = is_rating and not any(other.may_be(Role.RATING) for other in peers)
        is_only_rating &= len(varied) < 2
        are_scores = all(of.who is Who.JUDGE and not is_rating_word(of.name) for of in peers)
        is_score = column.who is Who.JUDGE and not are_scores
        is_of_item = is_constant and (is_score or (per_item > _REPEATED and not is_only_rating))
        is_like_peer = any({*column.values} == {*of.values} for of in peers if of.n_distinct > 2)
        is_flag = column.may_be(Role.FLAG) and not is_like_peer
        reasons = (
            (Reason("one value"), column.n_distinct == 1 and any(c.n_distinct > 1 for c in peers)),
            (Reason("a run by its name"), any(column is run for run in self.runs)),
            (OF_ITEM, column.who is Who.HUMAN and self._holds_judges()),
            (OF_ITEM, is_of_item),
            (
                _OF_RATER,
                len(self.rater.values) > 1 and share_constant(column, self.rater.codes) == 1,
            ),
            (_MEASUREMENT, column.may_be(Role.MEASURE, Role.TIME) or is_flag),
            (Reason("a counter"), self.n_rated > _FEW_ROWS and self._counts(column, unit)),
            (Reason("a counter"), self._counts(column, self.rater.codes) and not is_rating),
            (_UNSTABLE, is_score and _names_judges_score(column) and not self._holds_judges()),
            (_BY_NAME, column.may_be(Role.TURN) and not is_rating),
            (_SUMMARY, column.may_be(Role.SUMMARY) and not is_rating),
            (_BY_NAME, (column.may_be(Role.SYSTEM) and not is_like_peer) or names_id(column.name)),
        )
        return next((reason for reason, applies in reasons if applies), None)

    def _of_one_kind(self, rated: list[CodedColumn], key: _ItemKey) -> list[CodedColumn]:
        """Return one rating of each question, or columns that are questions on their own."""
        if key.question is not None and len(rated) > 1:
            best = next((column for column in rated if column.may_be(Role.RATING)), rated[0])
            reason = Reason(f"beside the rating {best.name}", is_attribute=False)
            self.not_read |= {c.name: reason for c in rated if c is not best}
            return [best]
        unordered = [
            c
            for c in rated
            if c.kind is Kind.WORD
            and c.order is None
            and not (c.may_be(Role.RATING) or "?" in c.name)
            and not {*map(str.casefold, c.rating_words)} <= c.values_of_scale
        ]
        if len(unordered) < len(rated):
            self.not_read |= {c.name: UNLIKE for c in unordered}
            rated = [column for column in rated if column not in unordered]
        return self._without_strangers(rated)

    def _without_strangers(self, rated: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns without those of other values beside the only one called rating."""
        named = [column for column in rated if is_rating_word(column.name)]
        if len(named) != 1:
            return rated
        [best] = named
        strangers = [
            column
            for column in rated
            if column.who is not Who.CRITERION
            and (column.kind is Kind.NUMBER or len(column.order or ()) < 3)
            and 2 * len({*column.values} & {*best.values}) <= len(column.values)
        ]
        for column in strangers:
            option = f"--rating {best.name},{column.name}"
            text = f"beside the rating {best.name}; if it is one: {option}"
            self.not_read[column.name] = Reason(text, is_told=True, is_attribute=False)
        return [column for column in rated if column not in strangers]


def _stand_for_each_other(column: CodedColumn, word: CodedColumn) -> bool:
    """Return whether each value of a column stands beside one word, in 20 rows or more."""
    rows = column.has_cell & word.has_cell
    n_values = [n_distinct(of.codes[rows]) for of in (column, word)]
    if rows.sum() < _FEWEST_NUMBERS or {*column.values} & {*word.values}:
        return False
    return 1 < n_values[0] == n_values[1] == n_distinct(combined([column, word])[rows])


def _count_the_alphabet(column: CodedColumn, word: CodedColumn) -> bool:
    """Return whether numbers follow words of no known order from A to Z."""
    if word.order is not None or word.n_distinct < _FEWEST_CLASSES:
        return False
    order = np.argsort([value.casefold() for value in word.values], kind="stable")
    numbers = [row_numbers(column)[word.codes == code].max() for code in order]
    return bool((np.diff(numbers) > 0).all())


def _summands(column: CodedColumn, columns: Sequence[CodedColumn]) -> list[CodedColumn]:
    """Return the columns of which one is a sum, a mean, a difference or the rest in all rows."""
    peers = [of for of in columns if of is not column]
    cells = np.array([row_numbers(of) for of in (column, *peers)])
    values, *figures = cells[:, ~np.isnan(cells).any(axis=0)]
    if not figures or len(values) < max(_FEWEST_NUMBERS, 4 * len(cells)) or not np.ptp(values):
        return []
    design = np.array([*figures, np.ones(len(values))]).T
    *weights, constant = np.linalg.lstsq(design, values, rcond=None)[0]
    if np.abs(design @ [*weights, constant] - values).max() > _ROUNDED * np.ptp(values):
        return []
    shares = [w * np.ptp(of) / np.ptp(values) for w, of in zip(weights, figures, strict=True)]
    summands = [of for of, share in zip(peers, shares, strict=True) if abs(share) > _ROUNDED]
    is_sum = min(shares) > -_ROUNDED
    if len(summands) == 1:  # label_1 is 1 - label_0
        is_rest = not is_sum and np.isclose(constant, (0, 1), atol=_ROUNDED).any()
        is_sum = is_rest and bool(distinct_parts([summands[0].name, column.name]))
    elif len(summands) == 2 and np.isclose(sum(map(abs, weights)), 2):
        is_sum = max(shares) > _ROUNDED  # also a change, and no rank that is left
    is_last = columns.index(column) > max(map(columns.index, summands))
    return summands if is_sum and (is_last or len(summands) > 2) else []


_MACHINES, _PEOPLE = frozenset(lines_of("machines")), frozenset(lines_of("people"))
_TRUE, _FALSE = {"1", *lines_of("true")}, {"0", *lines_of("false")}
_OF_MACHINE = re.compile(r"(^|_)is_?(llm|lm|ai|model|machine|judge|auto|bot)(_|$)|^automated$")
_OF_HUMAN = re.compile(r"^(is_?)?(human|person)$")
_RATERS_MODEL = re.compile(r"(rater|evaluator|annotator|grader|labell?er|reviewer)_model$")
_KIND = re.compile(r"(^|_)(type|kind|role)$")
"""Columns and words for the kind of a rater."""


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
        words = [value.casefold() for value in column.values]
        name = plain(column.name)
        if _RATERS_MODEL.search(name) and all(map(names_model, column.values)):
            yield column, column.has_cell
        if len(words) < 2:
            continue
        if _OF_MACHINE.search(name):
            yield column, np.append([word in _TRUE for word in words], False)[column.codes]
        elif _OF_HUMAN.search(name) and {*words} <= _TRUE | _FALSE:
            yield column, np.append([word in _FALSE for word in words], False)[column.codes]
        elif {*words} <= _MACHINES | _PEOPLE:
            yield column, np.append([word in _MACHINES for word in words], False)[column.codes]
        elif _KIND.search(name) and len(words) <= MOST_QUESTIONS:
            are_judges = [who(value) is Who.JUDGE for value in column.values]
            yield column, np.append(are_judges, False)[column.codes]


def _with_machines(rater: CodedColumn, columns: Iterable[CodedColumn]) -> CodedColumn:
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
            codes = np.where(is_alone, column.codes + len(rater.values), rater.codes)
            return replace(rater, codes=codes, values=[*rater.values, *column.values])
    for column, is_machine in _machine_rows(columns):
        machines, people = (
            set(rater.codes[rows & rater.has_cell].tolist()) for rows in (is_machine, ~is_machine)
        )
        if machines & people:
            continue  # the kind is that of the text: the same raters rate those of both
        rows = np.flatnonzero(is_machine & ~rater.has_cell)
        kinds = {column.values[code] for code in np.unique(column.codes[rows])}
        if len(kinds) == 1 and who(kind := kinds.pop()) is Who.JUDGE:
            codes = rater.codes.copy()
            codes[rows] = len(rater.values)
            return replace(rater, codes=codes, values=[*rater.values, kind])
    return rater


_CLASSES = ("category", "tag", "tags")
"""Headers of what raters chose, if no other column holds ratings."""

_OF_RATER = Reason("equal in all ratings of a rater: an attribute")
_BY_NAME = Reason("an attribute by its name")
_SUMMARY = Reason("a summary by its name", is_attribute=False)
_UNSTABLE = Reason("a judge's score that differs within an item", is_told=True)
_MEASUREMENT = Reason("a measurement or a flag by its name")
_DECIMALS = Reason("decimals that hardly repeat, beside ratings", is_attribute=False)
