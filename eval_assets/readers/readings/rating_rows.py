"""Tables with a row for each rating: who rated, what, and which columns hold the ratings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

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
    is_beside_reference,
    models_by_company,
    owner_and_field,
)
from eval_assets.readers.names import (
    Role,
    Who,
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
    count_the_alphabet,
    stand_for_each_other,
    summands_of,
)
from eval_assets.readers.readings.item_keys import REPEATED, ItemKey, ItemKeys
from eval_assets.readers.readings.rater_columns import (
    DESCRIBES,
    holds_raters,
    judges_by_kind,
    rater_candidates,
    with_machines,
)
from eval_assets.readers.readings.table_reading import (
    NUMBER_OF_PERSON,
    OF_ITEM,
    PANEL,
    UNLIKE,
    WHO_RATES,
    Choices,
    RatedColumn,
    Reading,
    form_of,
    likely_rated,
)
from eval_assets.readers.values import are_yes_or_no

_QUESTIONS = ("question_id", "question", "criterion", "metric", "dimension", "aspect")
_ATTRIBUTES = (*DESCRIBES, Role.SYSTEM, Role.TURN, Role.ITEM, Role.TIME)
_CLASSES = ("category", "tag", "tags")
"""Headers of what raters chose, if no other column holds ratings."""

_OF_RATING = re.compile(r"(^|_)(trust|confiden|certain|prob|time)")
"""Beginnings of what raters say of their ratings."""

_OF_RATER = Reason("equal in all ratings of a rater: an attribute")
_BY_NAME = Reason("an attribute by its name")
_COUNTER = Reason("a counter")
_SUMMARY = Reason("a summary by its name", is_attribute=False)
_UNSTABLE = Reason("a judge's score that differs within an item", is_told=True)
_MEASUREMENT = Reason("a measurement or a flag by its name")
_DECIMALS = Reason("decimals that hardly repeat, beside ratings", is_attribute=False)


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

    @cached_property
    def keys(self) -> ItemKeys:
        """Keys of the items that these raters may have rated."""
        return ItemKeys(self.table, self.columns, self.rater, self.choices)

    def reading(self) -> Reading | None:
        """Return the roles of the columns; None if no columns tell the ratings of a rater apart."""
        keys, key = self.keys, self.keys.key()
        if key is None:
            return None
        of_unit = [*key.items, *filter(None, [key.question, key.run])]
        round_ = keys.round
        time = next((c for c in self.columns if c.kind is Kind.TIME), None)
        if round_ is not None and plain(round_.name) == "revision" and time is not None:
            keys.round = None  # each rater has revisions of their own, and the later one counts
        elif round_ is not None and keys.counts(round_, self.rater.codes):
            # Trials of a rater, unless one rates an item in several of them.
            is_trial = n_distinct(combined([*of_unit, self.rater])[keys.is_rated]) == keys.n_rated
            keys.round = None if is_trial else round_
        per_item = keys.n_rated / max(1, n_distinct(combined(of_unit)[keys.is_rated]))
        if per_item < 1.05 and not self._names_who_rated():
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
            round=keys.round,
            time=time,
            judges_only=keys.are_judges,
            judges=judges_by_kind(self.table.columns, self.rater),
            not_read=self.not_read,
        )
        self._doubt_others(reading, rated)
        if len(rated) == 1 and self._is_open(rated[0]):
            reading.doubt_values(rated[0])
        self._doubt_programs(reading)
        self._doubt_truth(reading, combined(of_unit))
        self._doubt_raters(reading, per_item)
        reading.likelihood = self._likelihood(reading, per_item)
        return reading

    def _names_who_rated(self) -> bool:
        """Return whether a column names raters even where each item was rated once."""
        rater, rest = self.rater, [of for of in self.columns if of is not self.rater]
        if self.choices.takes(rater) or rater.may_be(Role.RATER):
            return True
        if rater.origin in (Origin.FILE, Origin.SHEET):  # halves of a file with several raters
            named = (of.who is Who.HUMAN or is_first_name(of.name) for of in rest if of.can_rate)
            return sum(named) < 2
        # DE and FR may be countries.
        names = rater.values[:50]
        are_initials = all(re.fullmatch("[A-Z]{2,3}", of) and not is_first_name(of) for of in names)
        return self.keys.is_named and not are_initials

    def _key_of_rows(self) -> ItemKey | None:
        """Return the key of ids of the rows that are called like items; None if there are none."""
        ids = [] if self.choices.items else self.keys.parts_of_items()[1]
        named = [column for column in ids if column.may_be(Role.ITEM)]
        named.sort(key=lambda column: column.counts_rows)
        return self.keys.item_key(named[:1]) if named else None

    def _doubt_others(self, reading: Reading, rated: Columns) -> None:
        """Say which columns count as people's beside one that is called theirs."""
        names = [
            column.name
            for column in rated
            if column.who in (Who.UNKNOWN, Who.CRITERION)
            and column.may_be(Role.RATING)
            and not is_rating_word(column.name)
        ]
        if names and Who.HUMAN in [column.who for column in rated]:
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
        is_open = not self.keys.is_named or (
            _names_judges_score(column) and not self.keys.are_judges
        )
        return column.who is Who.JUDGE and is_open

    def _likelihood(self, reading: Reading, per_item: float) -> float:
        first, rated = reading.rated[0].column, [of.column for of in reading.rated]
        people = [of.name for of in rated if of.who is Who.HUMAN or is_first_name(of.name)]
        parts = [*distinct_parts(people).values()]  # human_tone and human_style are of one
        n_people = 1 if self.keys.is_named and share_of_criteria(parts) > 0 else len(people)
        n_people += sum(bool(NUMBER_OF_PERSON.match(of.name)) for of in rated)
        return float(
            4
            + 2 * self.keys.is_named
            + 2 * (per_item > REPEATED)
            - 4 * self.keys.has_copies
            + 0.5 * any(of.may_be(Role.ITEM) for of in reading.items)
            + 0.5 * first.may_be(Role.RATING)
            - (2.5 + self.rater.may_be(Role.TURN)) * (self.rater.origin is Origin.POSITION)
            + 0.3 * self.keys.level
            + 0.3 * (first.n_distinct > 1)
            - first.may_be(*DESCRIBES)
            - 2 * (_UNSTABLE in self.not_read.values())  # so rows may be items
            - 3 * (not self.keys.level and n_people > 1)
        )

    def _doubt_raters(self, reading: Reading, per_item: float) -> None:
        """Add the choice that the raters are parts of the items, or say it of places in a list.

        Where hardly an item has two ratings, they may be authors.
        """
        if self.choices.items or self.choices.takes(self.rater):
            return
        headers = [of.column.name for of in reading.rated]
        are_open = not (
            share_of_criteria(headers) or any(may_be(of, Role.RATING) for of in headers)
        )
        is_place = self.rater.origin in (Origin.FILE, Origin.SHEET) and not reading.judges_only
        if is_place and are_open and len(headers) > 1 and not holds_raters(self.rater):
            choice = f"{self.rater.name} names raters, and {listed_briefly(headers)} questions"
            reading.forks.append((choice, {"rater": tuple(headers)}))
        ids = [of for of in self.keys.parts_of_items()[1] if may_be(plain(of.name)[:-3], Role.ITEM)]
        if per_item < REPEATED and len(reading.items) > 1 and ids:  # as message_id
            names = listed_briefly([of.name for of in reading.items])
            reading.forks.append((f"{names} name what was rated", {"item": (ids[0].name,)}))
        peers = (of for of in self.columns if of is not self.rater and of.may_be(Role.RATER))
        for column in peers if per_item < 1.05 and self.keys.is_named else ():
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
        is_named = self.keys.is_named or self.rater.holds_emails or reading.judges_only
        is_role = self.rater.who is Who.HUMAN and not self.rater.name.isupper()  # analyst
        if not (is_named or is_role):
            reading.forks.append((f"{self.rater.name} names raters", {"item": columns}))

    def _doubt_truth(self, reading: Reading, unit: npt.NDArray[np.int64]) -> None:
        """Add the choice of what raters said beside a label that is the same for all of them."""
        rated = [of.column for of in reading.rated]
        if len(rated) > 1 or share_constant(rated[0], unit) < 1 or self.choices.ratings:
            return
        for column in self.keys.candidates:
            is_unread = self.not_read.get(column.name) == _UNSTABLE
            if is_unread and {*column.values} == {*rated[0].values}:
                text = f"{rated[0].name} is what people said"
                reading.forks.append((text, {"rating": (column.name,)}))

    def _doubt_programs(self, reading: Reading) -> None:
        """Add the choice that raters who may be programs are people."""
        names = self.rater.values if self.choices.names is None else ()
        judges = [
            of for of in names if len(names) == 2 and is_beside_reference(of, *({*names} - {of}))
        ]
        if judges and not (reading.judges or reading.judges_only):
            reading.judges = frozenset(judges)
            reading.forks.append((f"{judges[0]} is a judge", {"rater": tuple(names)}))
            return
        if len(names) > 1 and all(map(PANEL.fullmatch, names)):  # numbered people, or not
            text = f"{listed_briefly(names)} are judges"
            reading.forks.append((text, {"rater": tuple(names)}))
        models = models_by_company(names) | reading.judges
        programs = tuple(of for of in names if may_be_program(of, names) and of not in models)
        if programs and len(programs) < len(names):
            reading.forks.append((count_as_people(programs), {"judge": programs}))
        people = [of for of in names if of not in models and who(of) is not Who.JUDGE]
        strangers = [of for of in people if not (of in programs or of.istitle())]
        strangers = [of for of in strangers if not (who(of) is Who.HUMAN or is_first_name(of))]
        # A model's name may be any word; of many raters some have names that are not known here.
        if 0 < len(strangers) <= min(2, len(people) / 2):
            reading.add_doubt(strangers, count_as_people(strangers), judge=strangers)

    # The ratings: what varies within items and within raters.

    def _rated_columns(self, key: ItemKey, per_item: float) -> list[CodedColumn]:
        """Return the columns of ratings among the candidates."""
        unit = combined([*key.items, *filter(None, [key.question])])
        rated: list[CodedColumn] = []
        attributes: list[CodedColumn] = []
        measures: list[CodedColumn] = []
        key_columns = (*key.items, key.question, key.run)
        for column in self.keys.candidates:
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
            if of not in (*self.keys.candidates, *key_columns, self.rater)
        )
        are_files = self.rater.origin is Origin.FILE and any(
            who(f).is_human for f in self.rater.values
        )
        are_files &= share_of_people(self.rater.values, with_judges=True) == 1
        if not (rated or is_missed) and self.keys.is_named and (are_files or not self.rater.origin):
            # Raters who always agree, or a column named like a measurement.
            rated = [] if are_files else attributes
            rated = rated or (measures if len(measures) == 1 else [])
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
        parts = [column for column in key if column is not None]
        parts = parts if len(parts) > 1 else []
        # Documents that were found for a query have ranks, beside scores.
        ranks = [c for c in rated if any(self.keys.counts(c, of.codes) for of in parts)]
        rest = [column for column in rated if column not in ranks] or list(rated)
        self.not_read |= {column.name: _COUNTER for column in rated if column not in rest}
        words = [c for c in self.columns if c.kind is Kind.WORD and c.level == self.keys.level]
        words = [c for c in words if c is not self.rater and not any(c is of for of in key)]
        for column, word in product(rated, words):
            if not stand_for_each_other(column, word):
                continue
            first, last = (word, column) if count_the_alphabet(column, word) else (column, word)
            if last in rest:
                rest[rest.index(last)] = first
                self.not_read[last.name] = Reason(f"repeats {first.name}", is_attribute=False)
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
        peers = [c for c in likely_rated(self.keys.candidates) if c is not column]
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
        is_score = column.who is Who.JUDGE and not (are_scores or self.keys.are_judges)
        is_of_item = is_constant and (is_score or (per_item > REPEATED and not is_only_rating))
        is_like_peer = any(
            {*column.values} == {*of.values}
            and (of.n_distinct > 2 or form_of(of.name) == form_of(column.name))
            for of in peers
        )
        is_flag = column.may_be(Role.FLAG) and not is_like_peer
        is_scored = is_rating and column.is_whole and not _OF_RATING.search(plain(column.name))
        is_scored &= any(distinct_parts([column.name, of.name]) for of in peers)  # Price score
        is_measured = column.may_be(Role.MEASURE, Role.TIME) and not is_scored
        # Raters who differ on yes and no sum nothing up, as of cases that were resolved.
        is_verdict = are_yes_or_no(column.values) and share_constant(column, unit) < 1
        reasons = (
            (Reason("one value"), column.n_distinct == 1 and bool(peers)),
            (Reason("a run by its name"), any(column is run for run in self.keys.runs)),
            (OF_ITEM, column.who is Who.HUMAN and self.keys.are_judges and not is_only_rating),
            (OF_ITEM, is_of_item),
            (
                _OF_RATER,
                len(self.rater.values) > 1 and share_constant(column, self.rater.codes) == 1,
            ),
            (_MEASUREMENT, is_measured or is_flag),
            (_COUNTER, self.keys.counts(column, self.rater.codes) and not is_rating),
            (_UNSTABLE, is_score and not self.keys.are_judges),
            (_BY_NAME, column.may_be(Role.TURN) and not is_rating),
            (_SUMMARY, column.may_be(Role.SUMMARY) and not (is_rating or is_verdict)),
            (_BY_NAME, (column.may_be(Role.SYSTEM) and not is_like_peer) or names_id(column.name)),
        )
        return next((reason for reason, applies in reasons if applies), None)

    def _of_one_kind(self, rated: list[CodedColumn], key: ItemKey) -> list[CodedColumn]:
        """Return one rating of each question, or columns that are questions on their own."""
        if key.question is not None and len(rated) > 1:
            best = max(rated, key=lambda c: (c.who is Who.HUMAN, c.may_be(Role.RATING)))
            reason = Reason(f"beside the rating {best.name}", is_told=True, is_attribute=False)
            self.not_read |= {c.name: reason for c in rated if c is not best}
            return [best]
        sparse = [c for c in rated if c.n_cells < 0.9 * len(c)]
        remarks = [c for c in sparse if any(len(of.split()) > 2 for of in c.rating_words)]
        unordered = [
            c
            for c in rated
            if c.kind is Kind.WORD
            and c.order is None
            and not (c.may_be(Role.RATING) or ("?" in c.name and c not in remarks))
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
