"""Which columns of a table whose rows are items hold ratings, and why the others hold none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputProblem
from eval_assets.readers.columns import CodedColumn, CodedTable, Columns, Kind
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import (
    crossed_parts,
    name_and_number,
    owner_and_field,
    with_shared_parts,
)
from eval_assets.readers.names import (
    Role,
    Who,
    is_first_name,
    is_rating_word,
    may_be,
    names_id,
    names_one_of_several,
    share_of_people,
    who,
)
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.column_owners import (
    ColumnOwners,
    kinds_of,
    may_be_name,
    of_one_rater,
)
from eval_assets.readers.readings.derived_columns import FEWEST_COMPUTED, figure_of
from eval_assets.readers.readings.table_reading import (
    BY_NAME,
    REFERENCE,
    UNLIKE,
    Choices,
    deepest_level,
    likely_rated,
    option_text,
)
from eval_assets.readers.values import (
    are_yes_or_no,
    order_of,
    scale_between,
    scale_text,
    ties_among,
)

_FEW_ROWS = 12
"""Rows below which sets of values hardly overlap, so that ranges are compared."""

_STATISTIC = re.compile(r"(^|_)(std|sd|stdev|count|conf|confidence|certainty)(_|$)")
_NO_REFERENCE = re.compile(
    r"mean|avg|average|median|majority|std|sd|sum|total|agree|overr[iu]|human_m(ode|in|ax)"
)
_EARLIER = re.compile(r"initial|original|preliminary|draft|uncorrected")
_LATER = re.compile(r"final|revised|reviewed|corrected|adjudicated|updated")
_REVISION = re.compile(f"{_EARLIER.pattern}|{_LATER.pattern}")

REPEATED = 0.7
"""Share of the cells below which distinct decimals may be ratings."""

_UNCROSSED = Reason("its name has not the parts of the others", is_told=True, is_attribute=False)
_SUMMARY = Reason("a summary of the ratings by its name", is_attribute=False)
_UNORDERED = Reason("words without an order")
_NUMBERED_RATER = re.compile(r"(rater|annotator|reviewer|coder|expert|worker|human|grader)_?\d")

_NEVER = (["false"], ["true"])
"""Values of a column that programs write for all rows."""


@dataclass(eq=False)
class RatedColumns:
    """Columns that hold ratings, by their names, their values and those of their peers."""

    table: CodedTable
    choices: Choices
    owners: ColumnOwners
    not_read: dict[str, Reason]
    all: list[CodedColumn] = field(default_factory=list)
    of_one_scale: list[CodedColumn] = field(default_factory=list)
    people: list[CodedColumn] = field(default_factory=list)
    judges: list[CodedColumn] = field(default_factory=list)

    def find(self) -> None:
        """Find the columns of ratings, those of one scale, and of these people's and judges'."""
        candidates = self._candidates()
        likely = likely_rated(candidates)
        self.owners.kinds = kinds_of(candidates) | kinds_of(likely)
        candidates = self._without_earlier(candidates)
        self.owners.find(likely or candidates)
        for column in candidates:
            reason = None if self.owners.is_chosen(column) else self._reason(column, candidates)
            if reason is None:
                self.all.append(column)
            else:
                self.not_read[column.name] = reason
        if not self.all:
            return
        self.of_one_scale = self._of_one_scale(self.all)
        self.judges = [c for c in self.of_one_scale if self.owners.who_is(c) is Who.JUDGE]
        self.judges += self._judges_on_another_scale()
        people = [c for c in self.of_one_scale if c not in self.judges]
        self.people = self._without_computed(self._without_references(people))
        self._tell_summaries(candidates)

    def _candidates(self) -> list[CodedColumn]:
        named = self.choices.rating_columns
        if self.choices.ratings:
            return list(dict.fromkeys(named))
        if len(named) > 1 and self.choices.raters:
            # Who names people leaves the judges as they are, if none is named.
            columns = [] if self.choices.judges else self.owners.columns
            judges = [c for c in columns if c.can_rate and c.who is Who.JUDGE]
            return list(dict.fromkeys([*named, *judges]))
        level = deepest_level(self.owners.columns)
        return [
            column
            for column in self.owners.columns
            if self.owners.is_chosen(column)
            or (
                not self.choices.takes(column)
                and column.can_rate
                and column.level == level
                and not _holds_names(column)
            )
        ]

    def _reason(self, column: CodedColumn, candidates: Columns) -> Reason | None:
        """Return why a column of values that could be ratings holds none; None if it may."""
        name, kind, value = plain(column.name), self.owners.who_is(column), column.values[0]
        is_rating, is_word = column.may_be(Role.RATING), column.kind is Kind.WORD
        field = owner_and_field(column.name)[1]
        is_own_rating = may_be(field, Role.RATING)
        is_rater, is_judge = self.owners.is_person(column), kind is Who.JUDGE
        is_role = kind is Who.HUMAN and who(name.rpartition("_")[2]) is Who.HUMAN  # domain_expert
        is_item = column.may_be(Role.ITEM) and not (is_rating or kind is Who.HUMAN or is_judge)
        run = name_and_number(column.name)
        is_of_run = is_judge and not may_be(name.rpartition("_")[2], Role.RUN)
        is_run = column.may_be(Role.RUN) and not (is_of_run or (run and run[0]))
        is_measured = is_run or column.may_be(Role.MEASURE, Role.TIME, Role.TURN, Role.ROUND)
        is_constant = column.n_distinct == 1
        peers = [other for other in candidates if other is not column]
        is_summary = column.may_be(Role.SUMMARY)
        is_question = (is_summary or is_measured) and self._is_question(column, peers)
        # A person may be called Max: the values decide.
        is_named = (is_rater or may_be_name(column)) and not _NO_REFERENCE.search(name)
        is_unordered = is_word and column.order is None and not is_rating
        is_of_peers = not (is_rater or is_judge)
        varied = [other for other in peers if other.n_distinct > 1]
        is_other = is_word and not any(value in other.values for other in varied or peers)
        owned = [
            of
            for of in (peers if is_word or "?" in column.name else ())
            if self.owners.is_person(of) or self.owners.who_is(of) is Who.JUDGE
        ]
        # "Verdict agrees?" beside a verdict and a score asks nobody.
        is_compared = len(owned) > 1 and not is_rater and column.n_distinct == 2
        is_compared &= "?" in column.name and may_be(column.name.replace("?", ""), Role.SUMMARY)
        # A question that was answered alike throughout is no attribute.
        is_answer = is_rating or kind is Who.CRITERION
        is_answer &= not is_word or column.order is not None
        is_shared = is_word and any(len({*column.values} & {*of.values}) > 1 for of in owned)
        reasons = {
            Reason("counts the rows"): column.counts_rows,
            Reason("an identifier or attribute by its name"): names_id(column.name)
            or (is_item and not re.search(r"\[|\d$", column.name)),
            _SUMMARY: is_compared or (is_summary and not (is_named or (is_question and is_word))),
            BY_NAME: is_measured
            and not (is_own_rating or is_shared or is_role or is_question)
            and not _NUMBERED_RATER.match(name),
            Reason("not a rating by its name"): _STATISTIC.search(name),
            Reason("a flag by its name"): (
                column.may_be(Role.FLAG)
                and (is_word or is_constant)
                and not any(self.owners.is_pair(column, of) for of in peers)
            )
            or (
                who(field) in (Who.PERSON, Who.UNKNOWN)
                and [*map(str.casefold, column.values)] in _NEVER
            ),
            Reason("an attribute by its name"): column.may_be(Role.SYSTEM)
            and not (is_judge or is_shared or is_role),
            Reason("what was asked, by its name"): column.may_be(Role.QUESTION)
            and not (is_rating or column.order)
            and is_word,
            Reason("free text by its name"): column.may_be(Role.TEXT),
            Reason("one value", is_told=is_answer): is_constant
            and (varied or is_unordered)
            and (is_of_peers or is_other),
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _is_question(self, column: CodedColumn, peers: Columns) -> bool:
        """Return whether a person and a judge say it in the same words, as ok_human, ok_judge."""
        alike = (of for of in peers if {*of.values} == {*column.values})
        return any(self.owners.is_pair(column, of) for of in alike)

    def _without_earlier(self, candidates: Columns) -> list[CodedColumn]:
        """Return the columns without initial_label beside reviewed_label, and earlier rounds."""
        rest = list(candidates)
        revisions = [
            c for c in candidates if _name_and_round(c)[0] or _REVISION.search(plain(c.name))
        ]
        for first, last in permutations(revisions, 2):
            if first in rest and not self.owners.is_chosen(first) and _is_earlier(first, last):
                rest.remove(first)
                self.owners.kinds[id(last)] = Who.HUMAN
                text = f"an earlier version of {last.name}"
                self.not_read[first.name] = Reason(text, is_told=True)
        return rest

    def _of_one_scale(self, rated: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns whose values are of one kind; give the reason for the peers."""
        strangers = self._beside_pairs(rated)
        self.not_read |= {column.name: UNLIKE for column in strangers}
        rated = [column for column in rated if column not in strangers]
        is_grid = crossed_parts([c.name for c in rated]) or of_one_rater(rated)
        if is_grid or all(map(self.owners.is_chosen, rated)):
            return rated
        names = with_shared_parts([c.name for c in rated])
        aside = [c for c in rated if c.name not in names and self.owners.who_is(c) is not Who.JUDGE]
        is_named = any(is_first_name(c.name) or self.owners.who_is(c) is Who.HUMAN for c in aside)
        if not is_named and self.owners.crossed([c for c in rated if c.name in names]):
            # A csat beside Anna - Tone is no rating of hers.
            self.not_read |= {column.name: _UNCROSSED for column in aside}
            return [column for column in rated if column not in aside]
        groups: list[list[CodedColumn]] = []
        for column in rated:
            group = next((g for g in groups if self._is_alike(column, g)), None)
            if group is None:
                groups.append([column])
            else:
                group.append(column)
        numbers = [group for group in groups if group[0].kind is Kind.NUMBER]
        has_numbers = any(
            of[0].is_whole or of[0].n_distinct < REPEATED * of[0].n_cells for of in numbers
        )
        # A judge's column of its own kind is compared with people's, and never stands for them.
        of_people = [group for group in groups if any(map(self.owners.is_person, group))]
        further = [c for c in rated if self.owners.who_is(c) is not Who.JUDGE]
        if not {*further} <= {column for group in of_people for column in group}:
            of_people = []
        # The only other verdict is a person's, as correct of true and false.
        is_verdict = len(further) == 1 and is_rating_word(further[0].name)
        if is_verdict and further[0].order:
            of_people = [group for group in groups if further[0] in group]
        # A column called human says who people are: other words beside it may be anything.
        certain = [
            group
            for group in of_people
            if any(self.owners.who_is(of) is Who.HUMAN or is_first_name(of.name) for of in group)
            or (len(group) > 2 and Who.JUDGE in map(self.owners.who_is, group))
        ]
        labels = [c for c in rated if "human" in plain(c.name).split("_")]  # beside any answer
        humans = [of for of in groups if any(c in of and c.may_be(Role.RATING) for c in labels)]
        candidates = certain or of_people or (humans if len(humans) == 1 else groups)
        main = max(candidates, key=lambda group: self._worth(group, has_numbers=has_numbers))
        for column in rated:
            if column not in main:
                may_rate = (
                    column.kind is Kind.NUMBER or column.order or self.owners.is_person(column)
                )
                self.not_read[column.name] = UNLIKE if may_rate else _UNORDERED
        return main

    def _beside_pairs(self, rated: Columns) -> list[CodedColumn]:
        """Return columns called like nobody's, with other values than Human and Judge score."""
        judges = [column for column in rated if self.owners.who_is(column) is Who.JUDGE]
        values = {value for column in judges for value in _values(column)}
        people = [column for column in rated if judges and self.owners.is_person(column)]
        unlike = [c for c in people if 2 * len(values & _values(c)) < len(_values(c))]
        pairs = [c for c in people if unlike and any(self.owners.is_pair(c, of) for of in judges)]
        return [
            column
            for column in unlike
            if pairs and column not in pairs
            if not (is_first_name(column.name) or names_one_of_several(column.name))
        ]

    def _is_alike(self, column: CodedColumn, group: Columns) -> bool:
        first = group[0]
        if ties_among([*first.values, *column.values]):
            return True
        if column.kind is not first.kind:
            return False
        is_few = len(self.table) < _FEW_ROWS
        are_people = self.owners.is_person(column) and self.owners.is_person(first)
        scale = self.choices.options.scale
        if column.kind is not Kind.NUMBER:
            words = {word.casefold() for of in group for word in of.rating_words}
            own_words = {word.casefold() for word in column.rating_words}
            is_known = order_of(own_words | words) is not None or are_yes_or_no(own_words | words)
            return bool(own_words & words) or is_known or (is_few and are_people)
        numbers = column.distinct_numbers
        peers = {number for of in group for number in of.distinct_numbers}
        if are_people and scale is not None and scale.spans(np.array([*numbers | peers])).all():
            return True
        low, high = min(numbers), max(numbers)
        lowest, highest = min(peers), max(peers)
        overlap = len(numbers & peers) >= 0.5 * min(len(numbers), len(peers))
        are_wide = min(high - low, highest - lowest) > 10 and low < highest and lowest < high
        are_small = max(high, highest) <= 10
        near = is_few and low - 2 <= highest and lowest - 2 <= high
        if not (overlap or are_wide or (are_small and are_people) or near):
            return False
        widths = max(1.0, high - low), max(1.0, highest - lowest)
        is_share = not column.is_whole and first.is_whole and high <= 1
        is_similar = max(widths) <= 2.5 * min(widths) and not is_share
        return is_similar or (is_few and are_small)

    def _worth(self, group: Columns, *, has_numbers: bool) -> tuple[object, ...]:
        kinds = [self.owners.who_is(column) for column in group]
        are_ordered = all(c.kind is Kind.NUMBER or c.order is not None for c in group)
        is_named = any(k in (Who.JUDGE, Who.HUMAN) for k in kinds)
        return (
            sum(map(self.owners.is_chosen, group)),
            any(column.n_distinct > 1 for column in group),
            sum(
                kind is Who.HUMAN or (kind is Who.PERSON and is_first_name(column.name))
                for kind, column in zip(kinds, group, strict=True)
            )
            > 1,
            are_ordered or not has_numbers,
            is_named or any(column.may_be(Role.RATING) for column in group),
            sum(kind.is_human or kind is Who.JUDGE for kind in kinds),
            len(group),
            -max(column.n_distinct for column in group),
        )

    def _judges_on_another_scale(self) -> list[CodedColumn]:
        """Return columns of judges who score on another scale than people, as 0.83 beside pass."""
        main = self.of_one_scale
        if not any(map(self.owners.is_person, main)) and len(main) != 1:
            return []
        names = {name for column in self.judges for name in _judge_of(column)}
        further: list[CodedColumn] = []
        for column in self.all:
            is_judge = self.owners.who_is(column) is Who.JUDGE and column not in main
            if is_judge and names.isdisjoint(_judge_of(column)):
                names |= _judge_of(column)
                further.append(column)
                del self.not_read[column.name]
        return further

    def _without_references(self, people: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns without a reference such as the ground truth, beside people."""
        aside = [
            c
            for c in people
            if c.may_be(Role.SUMMARY) and not (self.owners.is_chosen(c) or may_be_name(c))
            if not (c.kind is Kind.WORD and self._is_question(c, self.judges))
        ]
        rest = [column for column in people if column not in aside]
        are_people = any(map(self.owners.is_person, rest)) or self.owners.crossed(rest)
        if not are_people or crossed_parts([c.name for c in people]):
            return people
        self.not_read |= {column.name: REFERENCE for column in aside}
        return rest

    def _without_computed(self, people: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns without those that are the mean, highest or the like of the peers."""
        if any(map(self.owners.is_chosen, people)) or len(self.table) <= FEWEST_COMPUTED:
            return people
        rest = list(people) if all(c.kind is Kind.NUMBER for c in people) else []
        if len({number for c in rest for number in c.distinct_numbers}) <= 2:
            return people  # a rater may well give the higher of two values each time
        for column in list(rest):
            peers = [other for other in rest if other is not column]
            # A person's ratings are whole where those of the others are.
            is_name = self.owners.is_person(column) and column.is_whole
            figure = None if len(peers) < 2 or is_name else figure_of(column, peers)
            if figure is not None:
                rest.remove(column)
                text = f"the {figure} of the ratings beside it"
                self.not_read[column.name] = Reason(text, is_attribute=False)
        return rest

    def odd_cells(self, items: Columns) -> list[InputProblem]:
        """Return the cells that are none of the ratings in columns called like a rater."""
        rated = [*self.people, *self.judges]
        has_raters = self.judges or any(map(self.owners.is_person, self.people))
        if not has_raters or any(map(self.owners.is_chosen, rated)):
            return []
        numbers = [number for c in rated for number in c.distinct_numbers]
        words = {w.casefold() for c in rated if c.kind is not Kind.NUMBER for w in c.rating_words}
        ends = (min(numbers) - 1, max(numbers) + 1) if numbers else (np.inf, -np.inf)
        scale = self.choices.options.scale
        if scale is not None:
            ends = min(ends[0], scale.low), max(ends[1], scale.high)
        problems: list[InputProblem] = []
        for column in self.owners.columns:
            is_rater = column.who.is_human or column.who is Who.JUDGE
            may_rate = column.kind in (Kind.NUMBER, Kind.WORD) and not column.origin
            if not (is_rater and may_rate) or column in rated or column in items:
                continue
            if column.may_be(Role.SUMMARY, Role.RATER) or column.name.isdigit():
                continue
            fits = np.array(
                [
                    ends[0] <= number <= ends[1] or value.casefold() in words
                    for number, value in zip(column.numbers, column.values, strict=True)
                ]
            )
            is_odd = column.is_rating & ~fits
            n_fitting = column.counts[column.is_rating & fits].sum()
            if is_odd.any() and n_fitting >= 0.6 * column.counts[column.is_rating].sum() > 0:
                problems += self._problems_of(column, is_odd, numbers)
        return problems

    def _problems_of(
        self, column: CodedColumn, is_odd: npt.NDArray[np.bool_], numbers: Sequence[float]
    ) -> Iterator[InputProblem]:
        for row in np.flatnonzero(np.append(is_odd, False)[column.codes]).tolist():
            value = column.text(row)
            option = option_text(self.table, "missing-values", value)
            remedy = f"Correct it, or if it means no rating, pass {option}"
            number = column.numbers[column.codes[row]]
            if not np.isnan(number):
                scale = scale_text(scale_between({number, *numbers}))
                remedy += f"; if it is one, {option_text(self.table, 'scale', scale)}"
            message = f'"{value}" is not a value of the other ratings'
            place = self.table.files[row], self.table.lines[row], column.name
            yield InputProblem(*place, message, remedy)

    def _tell_summaries(self, candidates: Columns) -> None:
        """Have means named on the screen, unless they are those of the people who are read."""
        is_named = any(map(self.owners.is_person, self.people))
        values = {value for column in self.people for value in column.rating_words}
        for column in candidates:
            is_of_others = not self.people or (not is_named and who(column.name) is Who.HUMAN)
            is_of_others |= len(values) > 1 and {*column.rating_words} == values
            if is_of_others and column.may_be(Role.SUMMARY) and column.name in self.not_read:
                self.not_read[column.name] = self.not_read[column.name].told


def _name_and_round(column: CodedColumn) -> tuple[str, int]:
    """Return the name before the round in a header, and the round; 0 if it has none."""
    name = name_and_number(column.name)
    return (name[0], int(name[2])) if name and name[1] is Role.ROUND else ("", 0)


def _is_earlier(first: CodedColumn, last: CodedColumn) -> bool:
    """Return whether a column is the revision of another one, or holds a later round of it."""
    (name, number), (last_name, last_number) = map(_name_and_round, (first, last))
    if name and name == last_name:
        return number < last_number
    if not (_EARLIER.search(plain(first.name)) and _LATER.search(plain(last.name))):
        return False
    return bool(last.has_cell[first.has_cell].all())


def _holds_names(column: CodedColumn) -> bool:
    """Return whether a column holds names of raters, and not ratings as of expert_a or a judge."""
    if column.kind is not Kind.WORD or column.order is not None or column.holds_verdicts:
        return False
    ends = plain(column.name).rpartition("_")
    is_of_one = column.who is Who.JUDGE or names_one_of_several(column.name)
    is_of_one |= bool(ends[0]) and is_rating_word(ends[2])  # annotator_label
    is_of_raters = column.may_be(Role.RATER) and not is_of_one
    share = share_of_people(column.values[:30], with_judges=True)
    return all(map(is_first_name, column.values[:30])) or (is_of_raters and share > 0.5)


def _judge_of(column: CodedColumn) -> set[str]:
    """Return the name of a judge without what its column holds: score, verdict or another word."""
    words = plain(column.name).split("_")
    of_ratings = ("score", "label", "rating", "verdict", "pass")
    stem = "_".join(word for word in words if word not in of_ratings)
    first, _, rest = stem.partition("_")
    is_question = who(first) is Who.JUDGE and rest.isalpha() and who(rest) is not Who.JUDGE
    return {stem, first} if is_question and len(rest) > 1 else {stem}


def _values(column: CodedColumn) -> set[str]:
    """Return the words of a column, or the numbers that stand beside words, as in 2 (mild)."""
    has_words = any(re.search(r"[^\W\d_]", value) for value in column.values)
    return {f"{of:g}" for of in column.distinct_numbers if has_words} or {*column.values}
