"""Keys of items in rows of ratings: the coarsest columns with which a rater rates once."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

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
from eval_assets.readers.header_parts import distinct_parts, names_runs, orders_of_pairs
from eval_assets.readers.names import (
    Role,
    Who,
    holds_judges,
    is_first_name,
    may_be,
    names_model,
    share_of_criteria,
    who,
)
from eval_assets.readers.readings.derived_columns import FEWEST_NUMBERS
from eval_assets.readers.readings.rater_columns import DESCRIBES, holds_raters, judges_by_kind
from eval_assets.readers.readings.table_reading import (
    MOST_QUESTIONS,
    Choices,
    deepest_level,
    question_among,
)

_FEW_ROWS = 12
"""Ratings below which all may be of one item, and up to which no second one is a slip."""

_MOST_RUNS = 50
"""Numbers up to which they may be those of a judge's runs, and not of items."""

REPEATED = 1.3
"""Ratings of an item, on average, from which on a column can be constant within items."""

_JUDGES = ("judge", "judges", "judge_id", "judge_name", "juez", "juge", "giudice", "juiz")
"""Headers of columns whose values say whether judges are people."""

_METRIC = re.compile(r"criteria|rubric|g-eval|exact.?match|autorater|model-graded", re.IGNORECASE)
"""Names of what grades by itself."""


@dataclass(frozen=True, eq=False)
class ItemKey:
    """Columns that name the item, with which a rater rates once.

    `n_copies` ratings are second ones.
    """

    items: list[CodedColumn]
    question: CodedColumn | None
    run: CodedColumn | None
    n_copies: int


@dataclass(eq=False)
class ItemKeys:
    """Rows of ratings, with one column as that of the raters."""

    table: CodedTable
    columns: list[CodedColumn]
    rater: CodedColumn
    choices: Choices
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
        is_named = is_named or holds_judges(rater.name) or holds_raters(rater)
        return bool(is_named or judges_by_kind(self.table.columns, rater))

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
        least = 0 if self.are_judges else self.rater.level  # above are trials that people rated
        return [
            column
            for column in self.columns
            if column is not self.rater
            and (
                (column.may_be(Role.RUN) and column.is_whole and column.level >= least)
                or (column.origin is Origin.POSITION and self.are_judges)
                or self._numbers_scores(column)
                or self._repeats_scores(column)
            )
        ]

    def _repeats_scores(self, column: CodedColumn) -> bool:
        """Return whether judges alone rated, each item once with each of a few numbers."""
        roles = (Role.TURN, Role.QUESTION, Role.SYSTEM, Role.TIME)
        is_numbered = column.is_whole or names_runs(column.values)
        if not (self.are_judges and is_numbered) or column.may_be(*roles) or self.level:
            return False
        n_runs = len(column.values)
        items = (of for of in self.columns if of not in (column, self.rater) and not of.can_rate)
        return 1 < n_runs <= _MOST_RUNS and any(
            n_runs < of.n_distinct == n_distinct(combined([of, column])) / n_runs for of in items
        )

    def _numbers_scores(self, column: CodedColumn) -> bool:
        """Return whether values end with numbers that differ only where judges rated, as run 1."""
        are_numbered = all(value[-1:].isdigit() for value in column.values[:_MOST_RUNS])
        is_flat = column.kind is Kind.NUMBER and not self.level
        may_be_run = column.may_be(Role.RUN) or (is_flat and not column.origin)
        may_be_run |= names_runs(column.values)
        may_be_run &= are_numbered
        may_be_run |= bool(orders_of_pairs(column.values[:_MOST_RUNS]))  # llm_AB and llm_BA
        if not may_be_run or len(column.values) > _MOST_RUNS:
            return False
        names = [who(name) is Who.JUDGE for name in self.rater.values]
        is_judge = np.append(names, False)[self.rater.codes]
        n_values = [
            n_distinct(column.codes[self.is_rated & rows]) for rows in (is_judge, ~is_judge)
        ]
        return n_values[0] > n_values[1] == 1

    @cached_property
    def round(self) -> CodedColumn | None:
        """CodedColumn of the round of labelling, of which the latest counts; judges have runs."""
        return next(
            (
                column
                for column in (() if self.are_judges else self.columns)
                if column.may_be(Role.ROUND) and column.is_whole and not self.choices.takes(column)
                if len(column.values) <= _FEW_ROWS  # and no sessions that were rated
            ),
            None,
        )

    @cached_property
    def are_judges(self) -> bool:
        """Return whether all names in the rater column are those of judges."""
        if self.rater in self.choices.judges:
            return True
        names = self.rater.rating_words[:50]
        kinds = {who(name) for name in names}
        if kinds == {Who.JUDGE} or (self.is_named and all(map(_METRIC.search, names))):
            return True
        if plain(self.rater.name) in _JUDGES:
            # Beside people each name says for itself: human_1 beside gpt-4.
            are_people = Who.HUMAN in kinds or any(map(is_first_name, names))
            return any(map(names_model, names)) and not are_people
        is_mixed = Who.HUMAN in kinds or holds_raters(self.rater)
        return holds_judges(self.rater.name) and not is_mixed

    @cached_property
    def is_rated(self) -> npt.NDArray[np.bool_]:
        """Return whether each row has a rater and a rating, if headers say which columns rate."""
        of_ratings = (Who.CRITERION, Who.HUMAN, Who.JUDGE)
        named = [c for c in self.candidates if c.may_be(Role.RATING) or c.who in of_ratings]
        rated = np.zeros(len(self.table), dtype=bool)
        for column in named or self.candidates:
            rated |= column.has_cell
        return rated & self.rater.has_cell

    @cached_property
    def n_rated(self) -> int:
        """Number of ratings."""
        return int(self.is_rated.sum())

    def _n_copies(self, columns: Columns) -> int:
        """Return the number of ratings that are second ones if these columns name the item."""
        rounds = [] if self.round is None else [self.round]
        return self.n_rated - n_distinct(combined([*columns, self.rater, *rounds])[self.is_rated])

    def _is_key(self, columns: Columns) -> bool:
        # A few ratings may be second submissions.
        few_by_chance = 1 if _FEW_ROWS < self.n_rated < 200 else 0
        return self._n_copies(columns) <= max(0.03 * self.n_rated, few_by_chance)

    def _size(self, column: CodedColumn) -> int:
        """Return the number of values of a column in the rows of ratings."""
        if id(column) not in self._sizes:
            self._sizes[id(column)] = n_distinct(column.codes[self.is_rated])
        return self._sizes[id(column)]

    def key(self) -> ItemKey | None:
        """Return the key of the items; None if no columns tell the ratings of a rater apart."""
        if not self.n_rated:
            return None
        if self.choices.items:
            return self._key_of_items()
        several, unique = self.parts_of_items()
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
        is_each_once = self._size(self.rater) == self.n_rated
        if is_each_once and item is not None and not any(c.may_be(Role.ITEM) for c in several):
            return self.item_key([item])
        roles = (Role.ITEM, Role.QUESTION, Role.SYSTEM, Role.TURN)
        pool = sorted(several, key=lambda c: (not c.may_be(*roles), -self._size(c)))
        for depth in (1, 2, 3, 4):
            parts = several if depth == 1 else pool[:9]
            best = self._best_key(parts, depth)
            if best is not None and not (depth == 1 and self._is_written_twice(best, pool[:9])):
                return best
            if depth == 1 and item is not None and self._is_rated_once(several):
                return self.item_key([item])
        if self.is_named and item is None:
            # Second ratings of the column that is called like items are errors.
            items = [column for column in several if column.may_be(Role.ITEM)]
            self.has_copies = bool(items)
            return self.item_key([max(items, key=self._size)]) if items else None
        # Of several questions, a row of each rater is a form that was filled in.
        is_respondent = is_each_once and len(self.candidates) > 3
        return None if item is None or is_respondent else self.item_key([item])

    def _best_key(self, parts: Columns, depth: int) -> ItemKey | None:
        """Return the best key of so many columns; None if there is none."""
        keys = [*filter(None, map(self._key_of, combinations(parts, depth)))]
        best = min(keys, key=lambda key: self._rank(key, depth), default=None)
        if best is not None and depth == 1 and self.counts(best.items[0], self.rater.codes):
            # Raters saw the items in orders of their own if others are keys, too.
            size = n_distinct(combined(best.items))
            further = [k for k in keys if n_distinct(combined([*best.items, *k.items])) > size]
            best = min(further, key=lambda key: self._rank(key, depth), default=best)
        return best

    def _is_written_twice(self, key: ItemKey, parts: Columns) -> bool:
        """Return whether texts that repeat have a system and a number, which tell them apart."""
        words = [column for column in parts if column.kind is not Kind.TEXT]
        keys = filter(None, map(self._key_of, combinations(words, 2)))
        is_text = key.n_copies > 0 and key.items[0].kind is Kind.TEXT
        return is_text and any(not of.n_copies for of in keys)

    def item_key(
        self,
        items: list[CodedColumn],
        question: CodedColumn | None = None,
        run: CodedColumn | None = None,
    ) -> ItemKey:
        """Return the key of items with what options name, or else was found, beside them."""
        question, run = self.choices.question or question, self.choices.run or run
        n_copies = self._n_copies([*items, *filter(None, [question, run])])
        return ItemKey(items, question, run, n_copies)

    def _key_of_items(self) -> ItemKey:
        """Return the key of items that an option names, with what completes it."""
        items = self.choices.items
        base = [*items, *self.chosen_parts]
        if self._is_key(base):
            return self.item_key(items)
        run = next((column for column in self.runs if self._is_key([*base, column])), None)
        if run is not None:
            return self.item_key(items, run=run)
        questions = (
            column
            for column in self.columns
            if (column.may_be(Role.QUESTION) or column.kind is Kind.WORD)
            and column.n_distinct <= MOST_QUESTIONS
            and not self.choices.takes(column)
            and self._is_key([*base, column])
        )
        return self.item_key(items, next(questions, None))

    @cached_property
    def chosen_parts(self) -> list[CodedColumn]:
        """Question and run, as far as options name them."""
        return [*filter(None, [self.choices.question, self.choices.run])]

    def parts_of_items(self) -> tuple[list[CodedColumn], list[CodedColumn]]:
        """Return columns that may name items of several ratings, and those that name each row."""
        parts = [
            column
            for column in self.columns
            if column is not self.rater
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
        if column not in self.candidates or column.may_be(Role.TURN) or self._names_answers(column):
            return True
        is_word = column.kind is Kind.WORD and column.order is None
        is_number = self._size(column) >= FEWEST_NUMBERS and self._is_key([column])
        # Scores of several questions have values in common.
        is_number = is_number and not any(
            of is not column and 2 * len({*of.values} & {*column.values}) > len(column.values)
            for of in self.candidates
        )
        # Raters who each have all values once were given them: no ratings are so even.
        n_raters, n_values = self._size(self.rater), self._size(column)
        is_number |= 1 < n_raters < self.n_rated == n_raters * n_values and self._is_key([column])
        is_part = column.may_be(Role.ITEM, Role.SYSTEM) or is_word or is_number
        # What ratings share says nothing: the stimulus in rating_stimulus beside rating_score.
        pairs = ([column.name, of.name] for of in self.candidates if of.kind is Kind.NUMBER)
        own_parts = [distinct_parts(pair).get(column.name, "rating") for pair in pairs]
        is_rating = column.may_be(Role.RATING) and all(may_be(of, Role.RATING) for of in own_parts)
        is_described = column.may_be(*DESCRIBES) and not (is_word and column.may_be(Role.ITEM))
        return is_part and not (is_rating or is_described)

    def _names_answers(self, column: CodedColumn) -> bool:
        """Return whether words tell the parts of what a rater said at once apart, as questions."""
        above = [of for of in self.columns if of.level < column.level]
        if column.kind is not Kind.WORD or column.level <= self.rater.level or not above:
            return False
        record = combined(above)[self.is_rated]
        units = combined([*above, column])[self.is_rated]
        is_full = self.n_rated == n_distinct(record) * self._size(column)
        return is_full and n_distinct(units) == self.n_rated and self.rater.origin is None

    def _key_of(self, columns: Columns) -> ItemKey | None:
        """Return the key that columns make; None if they make none."""
        if not self._is_key([*columns, *self.chosen_parts]):
            return None
        run = next((column for column in columns if column in self.runs), None)
        items = [column for column in columns if column is not run]
        question = self.choices.question or question_among(items, self.is_rated)
        question = question or self._with_own_ratings(items)
        n_asked = sum(column.who is Who.CRITERION for column in self.candidates)
        if question is not None and question.origin is Origin.KEY and n_asked > 1:
            # Systems may each have ratings by several criteria.
            is_question = share_of_criteria(question.values) > 0.5
            question = question if is_question else self.choices.question
        items = [column for column in items if column is not question]
        return self.item_key(items, question, run) if items else None

    def _with_own_ratings(self, parts: Columns) -> CodedColumn | None:
        """Return the part of an item of which each value has other ratings, as a question may."""
        is_open = len(parts) > 1 and self.n_rated >= FEWEST_NUMBERS
        words = [of for of in self.candidates if is_open and of.kind is Kind.WORD]
        for column, rated in product(parts, words):
            few = self._size(column) < min(self._size(rated), MOST_QUESTIONS + 1)
            is_open = few and not column.may_be(Role.SYSTEM, Role.TURN, Role.RUN)
            n_pairs = n_distinct(combined([column, rated])[self.is_rated]) if is_open else 0
            if n_pairs == self._size(rated) and share_constant(rated, combined(parts)) < 1:
                return column
        return None

    def _rank(self, key: ItemKey, depth: int) -> tuple[float, ...]:
        """Return what makes a key worse: texts, many items, unusual names."""
        columns = [*key.items, *filter(None, [key.question])]
        n_named = sum(column.may_be(Role.ITEM) for column in columns)
        n_items = n_distinct(combined(columns)[self.is_rated])
        # Where each record has a list of raters, it is the item.
        sizes = (self._size(of) for of in self.columns if of.level < self.level)
        are_below = self.rater.level == self.level > max(of.level for of in columns)
        is_record = are_below and self.n_rated > REPEATED * max(sizes, default=0)
        unit = combined(key.items)[self.is_rated]
        raters = combined([*key.items, self.rater])[self.is_rated]
        return (
            n_distinct(unit) == n_distinct(raters),  # ids of what each rater sent
            key.run is not None and self.choices.run is None,
            -n_named if depth > 1 else 0,
            key.n_copies > 0,
            -n_items if is_record else n_items,
            -n_named,
            any(of.may_be(Role.TIME) for of in columns),
            sum(len("".join(column.values[:20])) for column in columns),
        )

    def counts(self, column: CodedColumn, unit: npt.NDArray[np.integer]) -> bool:
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

    def _is_rated_once(self, several: Columns) -> bool:
        """Return whether each item was rated once, by whichever of several raters."""
        items = (column for column in several if column.may_be(Role.ITEM))
        return self.is_named and all(column.kind is Kind.TEXT for column in items)
