"""Tables with a row for each rating: who rated, what, and which columns hold the ratings."""

import re
from collections.abc import Iterator, Sequence
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
from eval_assets.readers.header_parts import (
    distinct_parts,
    models_by_company,
    names_runs,
    orders_of_pairs,
    owner_and_field,
)
from eval_assets.readers.names import (
    Role,
    Who,
    holds_judges,
    is_first_name,
    is_rating_word,
    may_be,
    may_be_program,
    names_id,
    names_judge,
    names_model,
    share_of_criteria,
    share_of_people,
    who,
)
from eval_assets.readers.problems import count_as_people, listed_briefly
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.derived_columns import (
    FEWEST_NUMBERS,
    count_the_alphabet,
    stand_for_each_other,
    summands_of,
)
from eval_assets.readers.readings.rater_columns import (
    DESCRIBES,
    holds_raters,
    judges_by_kind,
    rater_candidates,
    with_machines,
)
from eval_assets.readers.readings.table_reading import (
    MOST_QUESTIONS,
    NUMBER_OF_PERSON,
    OF_ITEM,
    UNLIKE,
    VALUES_ALONE,
    WHO_RATES,
    Choices,
    RatedColumn,
    Reading,
    deepest_level,
    form_of,
    question_among,
)

_FEW_ROWS = 12
"""Ratings below which all may be of one item, and up to which no second one is a slip."""

_MOST_RUNS = 50
"""Numbers up to which they may be those of a judge's runs, and not of items."""

_QUESTIONS = ("question_id", "question", "criterion", "metric", "dimension", "aspect")
_REPEATED = 1.3
"""Ratings of an item, on average, from which on a column can be constant within items."""

_METRIC = re.compile(r"criteria|rubric|g-eval|exact.?match|autorater|model-graded", re.IGNORECASE)
"""Names of what grades by itself."""

_ATTRIBUTES = (*DESCRIBES, Role.SYSTEM, Role.TURN, Role.ITEM, Role.TIME)
_CLASSES = ("category", "tag", "tags")
"""Headers of what raters chose, if no other column holds ratings."""

_OF_RATER = Reason("equal in all ratings of a rater: an attribute")
_BY_NAME = Reason("an attribute by its name")
_SUMMARY = Reason("a summary by its name", is_attribute=False)
_UNSTABLE = Reason("a judge's score that differs within an item", is_told=True)
_MEASUREMENT = Reason("a measurement or a flag by its name")
_DECIMALS = Reason("decimals that hardly repeat, beside ratings", is_attribute=False)


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
    table: CodedTable, columns: Columns, not_read: dict[str, Reason], choices: Choices
) -> Iterator[Reading]:
    """Yield a reading for each column that may name the raters of rows."""
    for candidate in rater_candidates(table, columns, choices):
        rater = with_machines(candidate, table.columns)
        rest = [rater if column is candidate else column for column in columns]
        reading = _RatingRows(table, rest, rater, choices, dict(not_read)).reading()
        if reading is not None:
            yield reading


def _names_judges_score(column: CodedColumn) -> bool:
    name = re.sub("verdict", "", column.name.casefold())  # people give verdicts, too
    return (names_judge(name) or names_model(name)) and not (
        is_rating_word(name) or name.startswith("model")
    )


@dataclass(eq=False)
class _RatingRows:
    """A table whose rows are ratings, with one column as that of the raters."""

    table: CodedTable
    columns: list[CodedColumn]
    rater: CodedColumn
    choices: Choices
    not_read: dict[str, Reason]
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
            and not names_runs(column.values)
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
                or self._numbers_scores(column)
                or self._repeats_scores(column)
            )
        ]

    def _repeats_scores(self, column: CodedColumn) -> bool:
        """Return whether judges alone rated, each item once with each of a few numbers."""
        roles = (Role.TURN, Role.QUESTION, Role.SYSTEM, Role.TIME)
        is_numbered = column.is_whole or names_runs(column.values)
        if not (self._holds_judges() and is_numbered) or column.may_be(*roles) or self.level:
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
                for column in (() if self._holds_judges() else self.columns)
                if column.may_be(Role.ROUND) and column.is_whole and not self.choices.takes(column)
            ),
            None,
        )

    def reading(self) -> Reading | None:
        """Return the roles of the columns; None if no columns tell the ratings of a rater apart."""
        key = self._key()
        if key is None:
            return None
        of_unit = [*key.items, *filter(None, [key.question, key.run])]
        round_ = self.round
        time = next((c for c in self.columns if c.kind is Kind.TIME), None)
        if round_ is not None and plain(round_.name) == "revision" and time is not None:
            self.round = None  # each rater has revisions of their own, and the later one counts
        elif round_ is not None and self._counts(round_, self.rater.codes):
            # Trials of a rater, unless one rates an item in several of them.
            is_trial = n_distinct(combined([*of_unit, self.rater])[self.is_rated]) == self.n_rated
            self.round = None if is_trial else round_
        per_item = self.n_rated / max(1, n_distinct(combined(of_unit)[self.is_rated]))
        if per_item < 1.05 and not self.is_named:
            return None
        not_read = dict(self.not_read)
        rated = self._rated_columns(key, per_item)
        if _UNSTABLE in self.not_read.values() and (of_rows := self._key_of_rows()):
            key, self.not_read = of_rows, not_read
            of_unit, per_item = key.items, 1.0
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
            time=time,
            judges_only=self._holds_judges(),
            judges=judges_by_kind(self.table.columns, self.rater),
            not_read=self.not_read,
        )
        self._doubt_others(reading, rated)
        if len(rated) == 1 and self._is_open(rated[0]):
            reading.add_doubt([rated[0].name], VALUES_ALONE.format(rated[0].name))
        self._doubt_programs(reading)
        self._doubt_truth(reading, combined(of_unit))
        self._doubt_raters(reading, per_item)
        reading.likelihood = self._likelihood(reading, per_item)
        return reading

    def _key_of_rows(self) -> _ItemKey | None:
        """Return the key of ids of the rows that are called like items; None if there are none."""
        ids = [] if self.choices.items else self._parts_of_items()[1]
        named = [column for column in ids if column.may_be(Role.ITEM)]
        named.sort(key=lambda column: column.counts_rows)
        return self._item_key(named[:1]) if named else None

    def _doubt_others(self, reading: Reading, rated: Columns) -> None:
        """Say which columns count as people's beside one that is called theirs."""
        named = [column for column in rated if column.who is Who.HUMAN]
        names = [
            column.name
            for column in rated
            if column.who in (Who.UNKNOWN, Who.CRITERION)
            and column.may_be(Role.RATING)
            and not is_rating_word(column.name)
            and not any(distinct_parts([column.name, of.name]) for of in named)
        ]
        if named and names:
            text = f"{listed_briefly(names)} read as ratings by {self.rater.name}"
            reading.add_doubt(names, text, judge=names)

    def _is_open(self, column: CodedColumn) -> bool:
        """Return whether a column holds words in no order, or lists, and nothing names ratings."""
        is_called = column.may_be(Role.RATING) or column.who in (Who.HUMAN, Who.CRITERION)
        is_open = not (is_called or "?" in column.name or self.choices.ratings)
        are_words = column.kind is Kind.WORD and column.order is None
        return is_open and (are_words or self.rater.origin is Origin.POSITION)

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
        is_mixed = Who.HUMAN in kinds or holds_raters(self.rater)
        return holds_judges(self.rater.name) and not is_mixed

    def _likelihood(self, reading: Reading, per_item: float) -> float:
        first, rated = reading.rated[0].column, [of.column for of in reading.rated]
        people = [of.name for of in rated if of.who is Who.HUMAN or is_first_name(of.name)]
        parts = [*distinct_parts(people).values()]  # human_tone and human_style are of one
        n_people = 1 if self.is_named and share_of_criteria(parts) > 0 else len(people)
        n_people += sum(bool(NUMBER_OF_PERSON.match(of.name)) for of in rated)
        return float(
            4
            + 2 * self.is_named
            + 2 * (per_item > _REPEATED)
            - 4 * self.has_copies
            + 0.5 * any(of.may_be(Role.ITEM) for of in reading.items)
            + 0.5 * first.may_be(Role.RATING)
            - (2.5 + self.rater.may_be(Role.TURN)) * (self.rater.origin is Origin.POSITION)
            + 0.3 * self.level
            + 0.3 * (first.n_distinct > 1)
            - first.may_be(*DESCRIBES)
            - 2 * (_UNSTABLE in self.not_read.values())  # so rows may be items
            - 3 * (not self.level and n_people > 1)
        )

    def _doubt_raters(self, reading: Reading, per_item: float) -> None:
        """Add the choice that the raters are parts of the items, or say it of places in a list.

        Where hardly an item has two ratings, they may be authors.
        """
        if self.choices.items or self.choices.takes(self.rater):
            return
        ids = [of for of in self._parts_of_items()[1] if may_be(plain(of.name)[:-3], Role.ITEM)]
        if per_item < _REPEATED and len(reading.items) > 1 and ids:  # as message_id
            names = listed_briefly([of.name for of in reading.items])
            reading.forks.append((f"{names} name what was rated", {"item": (ids[0].name,)}))
        peers = (of for of in self.columns if of is not self.rater and of.may_be(Role.RATER))
        for column in peers if per_item < 1.05 and self.is_named else ():
            is_name = column.kind is Kind.WORD and not column.may_be(Role.RATING)
            if is_name and share_constant(column, self.rater.codes) == 0:
                reading.forks.append((f"{self.rater.name} names raters", {"rater": (column.name,)}))
        columns = tuple(column.name for column in (*reading.items, self.rater))
        list_name = self.rater.name.removesuffix(".#")
        is_called = who(list_name) is Who.HUMAN or may_be(list_name, Role.RATER)
        is_of_people = not (reading.judges_only or self.table.judge or is_called)
        if self.rater.origin is Origin.POSITION and is_of_people:
            text = f"people are told apart by their place in {list_name}"
            reading.add_doubt([self.rater.name], text, item=columns)
        are_people = share_of_people(self.rater.values[:50]) > 0.5 or self.rater.holds_emails
        says_who = WHO_RATES.search(plain(self.rater.name)) or are_people or reading.judges_only
        if per_item < 1.05 and not says_who:
            text = f"{self.rater.name} names raters, though hardly an item has two ratings"
            reading.add_doubt([self.rater.name], text, ignore=[self.rater.name])
        if not (self.is_named or self.rater.holds_emails or reading.judges_only):
            reading.forks.append((f"{self.rater.name} names raters", {"item": columns}))

    def _doubt_truth(self, reading: Reading, unit: npt.NDArray[np.int64]) -> None:
        """Add the choice of what raters said beside a label that is the same for all of them."""
        rated = [of.column for of in reading.rated]
        if len(rated) > 1 or share_constant(rated[0], unit) < 1 or self.choices.ratings:
            return
        for column in self.candidates:
            is_unread = self.not_read.get(column.name) == _UNSTABLE
            if is_unread and {*column.values} == {*rated[0].values}:
                text = f"{rated[0].name} is what people said"
                reading.forks.append((text, {"rating": (column.name,)}))

    def _doubt_programs(self, reading: Reading) -> None:
        """Add the choice that raters who may be programs are people."""
        names = self.rater.values if self.choices.names is None else ()
        models = models_by_company(names)
        models |= reading.judges
        programs = tuple(of for of in names if may_be_program(of, names) and of not in models)
        if programs and len(programs) < len(names):
            reading.forks.append((count_as_people(programs), {"judge": programs}))
        people = [of for of in names if of not in models and who(of) is not Who.JUDGE]
        strangers = [of for of in people if not (of in programs or of.istitle())]
        strangers = [of for of in strangers if not (who(of) is Who.HUMAN or is_first_name(of))]
        # A model's name may be any word; of many raters some have names that are not known here.
        if 0 < len(strangers) <= min(2, len(people) / 2):
            reading.add_doubt(strangers, count_as_people(strangers), judge=strangers)

    # The key: the coarsest columns with which a rater rates once.

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
        is_each_once = self._size(self.rater) == self.n_rated
        if is_each_once and item is not None and not any(c.may_be(Role.ITEM) for c in several):
            return self._item_key([item])
        roles = (Role.ITEM, Role.QUESTION, Role.SYSTEM, Role.TURN)
        pool = sorted(several, key=lambda c: (not c.may_be(*roles), -self._size(c)))
        for depth in (1, 2, 3, 4):
            parts = several if depth == 1 else pool[:9]
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
        # Of several questions, a row of each rater is a form that was filled in.
        is_respondent = is_each_once and len(self.candidates) > 3
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
        if column not in self.candidates or column.may_be(Role.TURN) or self._names_answers(column):
            return True
        is_word = column.kind is Kind.WORD and column.order is None
        is_number = self._size(column) >= FEWEST_NUMBERS and self._is_key([column])
        # Scores of several questions have values in common.
        is_number = is_number and not any(
            of is not column and 2 * len({*of.values} & {*column.values}) > len(column.values)
            for of in self.candidates
        )
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

    def _key_of(self, columns: Columns) -> _ItemKey | None:
        """Return the key that columns make; None if they make none."""
        if not self._is_key([*columns, *self.chosen_parts]):
            return None
        run = next((column for column in columns if column in self.runs), None)
        items = [column for column in columns if column is not run]
        question = self.choices.question or question_among(items, self.is_rated)
        n_asked = sum(column.who is Who.CRITERION for column in self.candidates)
        if question is not None and question.origin is Origin.KEY and n_asked > 1:
            # Systems may each have ratings by several criteria.
            is_question = share_of_criteria(question.values) > 0.5
            question = question if is_question else self.choices.question
        items = [column for column in items if column is not question]
        return self._item_key(items, question, run) if items else None

    def _rank(self, key: _ItemKey, depth: int) -> tuple[float, ...]:
        """Return what makes a key worse: texts, many items, unusual names."""
        columns = [*key.items, *filter(None, [key.question])]
        n_named = sum(column.may_be(Role.ITEM) for column in columns)
        n_items = n_distinct(combined(columns)[self.is_rated])
        # Where each record has a list of raters, it is the item.
        sizes = (self._size(of) for of in self.columns if of.level < self.level)
        are_below = self.rater.level == self.level > max(of.level for of in columns)
        is_record = are_below and self.n_rated > _REPEATED * max(sizes, default=0)
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

    def _is_rated_once(self, several: Columns) -> bool:
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
            is_ordered = reason == _MEASUREMENT and len(column.order or ()) > 2
            if is_flag or is_ordered or reason == _SUMMARY:
                may_rate = share_constant(column, unit) < 1  # raters differ: an answer, too
            self.not_read[column.name] = reason.told if may_rate else reason
            is_answered = column.who is Who.CRITERION or column.may_be(Role.RATING)
            of_item = reason == OF_ITEM and not column.may_be(*_ATTRIBUTES)
            if of_item or (reason == _OF_RATER and is_answered):
                attributes.append(column)
            elif plain(column.name) in _CLASSES or (
                reason == _MEASUREMENT and not column.may_be(Role.TIME)
            ):
                measures.append(column)
        # On words too many for a scale that are called ratings, raters may well differ.
        is_missed = any(
            of.kind is Kind.WORD and of.may_be(Role.RATING) and share_constant(of, unit) < 1
            for of in self.columns
            if of not in (*self.candidates, *key_columns, self.rater)
        )
        if not (rated or is_missed) and self.is_named and not self.rater.origin:
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
            if column not in rest or not stand_for_each_other(column, word):
                continue
            first, last = (word, column) if count_the_alphabet(column, word) else (column, word)
            if last in rest:
                rest[rest.index(last)] = first
                self.not_read[last.name] = Reason(f"repeats {first.name}", is_attribute=False)
                self.not_read.pop(first.name, None)
        return list(dict.fromkeys(rest))

    def _without_figures(self, rated: list[CodedColumn]) -> list[CodedColumn]:
        """Return the ratings without sums, means and differences of others beside them."""
        ordered = [c for c in rated if c.kind is Kind.NUMBER or c.order is not None]
        for column in ordered[::-1] if len(ordered) <= 20 else ():
            summands = summands_of(column, ordered) if column.kind is Kind.NUMBER else []
            if summands:
                ordered.remove(column)
                text = f"computed from {listed_briefly([of.name for of in summands])}"
                self.not_read[column.name] = Reason(text, is_told=True, is_attribute=False)
        return [c for c in rated if c in ordered or c.kind is not Kind.NUMBER]

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
        is_like_peer = any(
            {*column.values} == {*of.values}
            and (of.n_distinct > 2 or form_of(of.name) == form_of(column.name))
            for of in peers
        )
        is_flag = column.may_be(Role.FLAG) and not is_like_peer
        reasons = (
            (Reason("one value"), column.n_distinct == 1 and any(c.n_distinct > 1 for c in peers)),
            (Reason("a run by its name"), any(column is run for run in self.runs)),
            (OF_ITEM, column.who is Who.HUMAN and self._holds_judges() and not is_only_rating),
            (OF_ITEM, is_of_item),
            (
                _OF_RATER,
                len(self.rater.values) > 1 and share_constant(column, self.rater.codes) == 1,
            ),
            (_MEASUREMENT, column.may_be(Role.MEASURE, Role.TIME) or is_flag),
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
            best = max(rated, key=lambda c: (c.who is Who.HUMAN, c.may_be(Role.RATING)))
            reason = Reason(f"beside the rating {best.name}", is_told=True, is_attribute=False)
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
