"""Tables with a row for each item, and a column for each rater, question or judge."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations, product
from os.path import commonprefix

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputProblem
from eval_assets.readers.columns import CodedColumn, CodedTable, Kind, Origin, combined, n_distinct
from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import (
    NAME_AND_ROUND,
    SHARED_NAMES,
    Role,
    Who,
    are_a_row_of_letters,
    crossed_parts,
    distinct_parts,
    is_abstract,
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
    parts_of_raters,
    share_of_criteria,
    share_of_people,
    shared_part,
    who,
    with_shared_parts,
)
from eval_assets.readers.problems import count_as_people, listed_briefly
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.levels import judge_of_question
from eval_assets.readers.readings.person_rows import form_of
from eval_assets.readers.readings.table_reading import (
    BY_NAME,
    MODELS,
    REFERENCE,
    UNLIKE,
    Choices,
    RatedColumn,
    Reading,
    deepest_level,
    option_text,
    question_among,
    row_numbers,
)
from eval_assets.readers.values import are_yes_or_no, order_of

_FEW_ROWS = 12
"""Rows below which sets of values hardly overlap, so that ranges are compared."""

_MOST_ITEM_COLUMNS = 8
_NEARLY_UNIQUE = 0.995
_ALMOST = 0.9
"""Share of rows from which on an item's column has second ratings, and no other items."""

_FEWEST_COMPUTED = 8
_NUMBER_AT_END = re.compile(r"[ _.#(\[-]*\d+[\])]*$")
_RUN = re.compile(
    r"(.*?)[ _.(-]*(?:run|trial|rep|repeat|attempt|sample|try|iteration|seed)[ _.-]?(\d+)\)?",
    re.IGNORECASE,
)
_EVALUATOR = re.compile(r"(evaluator|grader|scorer)(_|$)")
_PANEL = re.compile(r"judge[ _-]?(\d+|[a-z])", re.IGNORECASE)
_EVALUATORS = re.compile(r"(evaluator|grader|scorer|judge|eval)s?$")
_OF_CODE = re.compile(r"[\d/_.-]")
"""A column and a value that name a program, as lynx-large of an evaluator."""

_STATISTIC = re.compile(r"(^|_)(std|sd|stdev|count|conf|confidence|certainty)(_|$)")
_NO_REFERENCE = re.compile(r"mean|avg|average|median|majority|std|sd|sum|total|agree|overr[iu]")
_EARLIER = re.compile(r"initial|original|preliminary|draft|uncorrected")
_LATER = re.compile(r"final|revised|reviewed|corrected|adjudicated|updated")
_FEWEST_CORRECTED = 8
_REPEATED = 0.7
"""Share of the cells below which distinct decimals may be ratings."""
_COMPUTED = (
    (np.nanmax, "highest"),
    (np.nanmin, "lowest"),
    (np.nanmean, "mean"),
    (np.nanmedian, "median"),
)
_NOT_ITS_NAME = Reason("its name is not one of a rater", is_attribute=False)
_UNCROSSED = Reason("its name has not the parts of the others", is_told=True, is_attribute=False)
_SUMMARY = Reason("a summary of the ratings by its name", is_attribute=False)
_UNORDERED = Reason("words without an order")


@dataclass(eq=False)
class ItemRows:
    """A table whose rows are items."""

    table: CodedTable
    columns: list[CodedColumn]
    not_read: dict[str, Reason]
    choices: Choices
    kinds: dict[int, Who] = field(default_factory=dict)

    def _chosen(self, column: CodedColumn) -> bool:
        return any(column is of for of in self.choices.rating_columns)

    def who_is(self, column: CodedColumn) -> Who:
        """Return whom a column is of: as options say, or its header beside the peers."""
        if any(column is of for of in self.choices.judges):
            return Who.JUDGE
        if any(column is of for of in self.choices.raters):
            return Who.HUMAN
        return self.kinds.get(id(column), Who.UNKNOWN)

    def _is_person(self, column: CodedColumn) -> bool:
        return self.who_is(column).is_human

    def reading(self) -> Reading | None:
        """Return the roles of the columns; None if none holds ratings."""
        if self.choices.rater_column is not None and not (self.choices.raters_of_columns):
            return None
        candidates = self._candidates()
        self.kinds = _kinds(candidates)
        candidates = self._without_earlier(candidates)
        runs = self._runs_of_no_name(candidates)
        self.kinds |= {id(column): Who.JUDGE for column in runs}
        models = self._judges_by_values(candidates)
        person = self._person_of_all()
        for column in candidates if person else ():
            if is_rating_word(column.name):  # a verdict is a judge's unless it says who gave it
                self.kinds[id(column)] = Who.HUMAN
        rated = []
        for column in candidates:
            reason = None if self._chosen(column) else self._reason(column, candidates)
            if reason is None:
                rated.append(column)
            else:
                self.not_read[column.name] = reason
        rated = rated or [
            column
            for column in candidates
            if self.not_read.get(column.name) == BY_NAME
            and any(self._is_pair(column, of) for of in candidates if of is not column)
        ]
        if not rated:
            return None
        main = self._of_one_scale(rated)
        items = self.choices.items or self._items_beside(rated, main)
        judges = [c for c in main if self.who_is(c) is Who.JUDGE]
        judges += self._judges_on_another_scale(rated, main, judges)
        people = [c for c in main if c not in judges]
        people = self._without_computed(self._without_references(people))
        problems = self._odd_cells(people + judges, items)
        # Columns that an option names as the item hold no question.
        question = self.choices.question or question_among([] if self.choices.items else items)
        items = [column for column in items if column is not question]
        self._tell_summaries(candidates, people)
        reading = Reading(
            table=self.table,
            items=items,
            rated=[],
            question=question,
            not_read=self.not_read,
            problems=problems,
        )
        self._name_raters(reading, people, judges)
        if person and len(people) == 1 and is_rating_word(people[0].name):
            reading.rated = [
                replace(of, rater=person) if of.column is people[0] else of for of in reading.rated
            ]
        if numbers := tuple(of.name for of in models if of.kind is Kind.NUMBER and of in judges):
            reading.forks.append((f"{numbers[0]} is a judge", {"model": numbers[0]}))
        if runs and all(of in judges for of in runs):
            changed = {"rater": tuple(of.name for of in (*people, *runs))}
            names = listed_briefly([of.name for of in runs])
            reading.forks.append((f"{names} are runs of a judge", changed))
        self._refuse_corrections(reading, people, judges)
        self._use_sheets(reading, rated)
        self._rate_items(reading, rated)
        return reading

    def _judges_by_values(self, candidates: Sequence[CodedColumn]) -> list[CodedColumn]:
        """Find columns of judges that no header names; return those called model."""
        scores = [c for c in candidates if not self._is_person(c) and c.may_be(Role.RATING)]
        models = self._models_who_rate(candidates)
        thresholds = [column for column in candidates if _is_threshold(column, self.columns)]
        self.kinds |= {id(column): Who.JUDGE for column in (*models, *thresholds)}
        if any(self.who_is(column) is Who.JUDGE for column in candidates):
            return models
        # The only score without a rater, beside a column with a model, is that model's.
        is_of_model = len(self._models()) == len(scores) == 1
        judges = scores if is_of_model else _beside_humans(candidates)
        self.kinds |= {id(column): Who.JUDGE for column in judges}
        return models

    def _tell_summaries(
        self, candidates: Sequence[CodedColumn], people: Sequence[CodedColumn]
    ) -> None:
        """Have means named on the screen, unless they are those of the people who are read."""
        is_named = any(map(self._is_person, people))
        values = {value for column in people for value in column.rating_words}
        for column in candidates:
            is_of_others = not people or (not is_named and who(column.name) is Who.HUMAN)
            is_of_others |= len(values) > 1 and {*column.rating_words} == values
            if is_of_others and column.may_be(Role.SUMMARY) and column.name in self.not_read:
                self.not_read[column.name] = self.not_read[column.name].told

    def _runs_of_no_name(self, candidates: Sequence[CodedColumn]) -> list[CodedColumn]:
        """Return columns such as run_1 and run_2 beside people, if no judge is named."""
        if Who.JUDGE in map(self.who_is, candidates):
            return []
        names = {id(column): _RUN.fullmatch(column.name) for column in candidates}
        runs = [c for c in candidates if (name := names[id(c)]) and not who(name[1]).is_human]
        has_people = any(self._is_person(column) for column in candidates if column not in runs)
        are_runs = has_people and all(column.may_be(Role.RUN) for column in runs)
        return runs if len(runs) > 1 and are_runs else []

    def _models_who_rate(self, candidates: Sequence[CodedColumn]) -> list[CodedColumn]:
        """Return the columns called model that hold what people's hold, and no names of models."""
        people = [{*column.values} for column in candidates if self._is_person(column)]
        parts = parts_of_raters([column.name for column in candidates])
        return [
            column
            for column in candidates
            if plain(parts.get(column.name, column.name)) in MODELS
            and any(len(values & {*column.values}) > 1 for values in people)
        ]

    def _items_beside(
        self, rated: Sequence[CodedColumn], main: Sequence[CodedColumn]
    ) -> list[CodedColumn]:
        """Return the columns that name the items; those of another kind than ratings come last."""
        items = item_columns(self.table, [c for c in self.columns if c not in rated])
        asks = any(column.may_be(Role.QUESTION) for column in self.columns)
        if not items and (asks or len(main) > 1):
            parts = [
                c for c in self.columns if c not in main and (asks or not c.may_be(Role.RATER))
            ]
            items = item_columns(self.table, parts)
        return items

    def _person_of_all(self) -> str:
        """Return the person that a column of one value calls the rater; empty if none does."""
        named = [
            column.values[0]
            for column in self.columns
            if len(column.values) == 1
            and column.n_cells == len(self.table)
            and column.may_be(Role.RATER)
            and who(column.values[0]).is_human
        ]
        is_open = not (self.choices.rating_columns or self._models())
        return named[0] if is_open and len(named) == 1 else ""

    # The columns that may hold ratings.

    def _candidates(self) -> list[CodedColumn]:
        named = self.choices.rating_columns
        if self.choices.ratings or (len(named) > 1 and self.choices.raters):
            return list(dict.fromkeys(named))
        level = deepest_level(self.columns)
        return [
            column
            for column in self.columns
            if self._chosen(column)
            or (
                not self.choices.takes(column)
                and column.can_rate
                and column.level == level
                and not _holds_names(column)
            )
        ]

    def _reason(self, column: CodedColumn, candidates: Sequence[CodedColumn]) -> Reason | None:
        """Return why a column of values that could be ratings holds none; None if it may."""
        name, kind, value = plain(column.name), self.who_is(column), column.values[0]
        is_rating, is_word = column.may_be(Role.RATING), column.kind is Kind.WORD
        field = owner_and_field(column.name)[1]
        is_own_rating = may_be(field, Role.RATING)
        is_rater, is_judge = self._is_person(column), kind is Who.JUDGE
        is_role = kind is Who.HUMAN and who(name.rpartition("_")[2]) is Who.HUMAN  # domain_expert
        is_role |= kind is Who.HUMAN and _name_and_round(column)[1] > 0
        is_item = column.may_be(Role.ITEM) and not (is_rating or kind is Who.HUMAN or is_judge)
        run = _RUN.match(column.name)
        is_run = column.may_be(Role.RUN) and not (run and (run[1] or is_judge))
        is_measured = is_run or column.may_be(Role.MEASURE, Role.TIME, Role.TURN, Role.ROUND)
        is_constant = column.n_distinct == 1
        peers = [other for other in candidates if other is not column]
        # A person may be called Max: the values decide.
        is_named = (is_rater or _may_be_name(column)) and not _NO_REFERENCE.search(name)
        is_unordered = is_word and column.order is None and not is_rating
        is_of_peers = column.name.startswith("column ") or not (is_rater or is_judge)
        is_other = is_word and not any(value in other.values for other in peers)
        owned = [of for of in peers if self._is_person(of) or self.who_is(of) is Who.JUDGE]
        is_shared = is_word and any(len({*column.values} & {*of.values}) > 1 for of in owned)
        reasons = {
            Reason("counts the rows"): column.counts_rows,
            Reason("an identifier or attribute by its name"): names_id(column.name)
            or (is_item and not re.search(r"\[|\d$", column.name)),
            BY_NAME: is_measured
            and not (is_own_rating or is_shared or is_role or _NUMBERED_RATER.match(name)),
            _SUMMARY: column.may_be(Role.SUMMARY) and not is_named,
            Reason("not a rating by its name"): _STATISTIC.search(name),
            Reason("a flag by its name"): (
                column.may_be(Role.FLAG)
                and (is_word or is_constant)
                and not any(self._is_pair(column, of) for of in peers)
            )
            or (
                who(field) in (Who.PERSON, Who.UNKNOWN)
                and [*map(str.casefold, column.values)] in _NEVER
            ),
            Reason("an attribute by its name"): column.may_be(Role.SYSTEM)
            and not (is_judge or is_shared or is_role),
            Reason("what was asked, by its name"): column.may_be(Role.QUESTION)
            and not (is_rating or column.order)
            and not any({*column.values} == {*of.values} for of in peers)
            and is_word,
            Reason("free text by its name"): column.may_be(Role.TEXT),
            Reason("one value"): is_constant
            and (any(other.n_distinct > 1 for other in peers) or is_unordered)
            and (is_of_peers or is_other),
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _is_pair(self, column: CodedColumn, peer: CodedColumn) -> bool:
        """Return whether a person and a judge say the same, as is_safe and is_safe_llm."""
        judges = [of for of in (column, peer) if self.who_is(of) is Who.JUDGE]
        if len(judges) != 1:
            return False
        [person] = [of for of in (column, peer) if of not in judges]
        is_named = self.who_is(person) is Who.HUMAN and distinct_parts([column.name, peer.name])
        return bool(is_named or judge_of_question(judges[0].name, [person.name]))

    def _without_earlier(self, candidates: Sequence[CodedColumn]) -> list[CodedColumn]:
        """Return the columns without initial_label beside reviewed_label, and earlier rounds."""
        rest = list(candidates)
        for first, last in permutations(candidates, 2):
            if first in rest and not self._chosen(first) and _is_earlier(first, last):
                rest.remove(first)
                self.kinds[id(last)] = Who.HUMAN
                text = f"an earlier version of {last.name}"
                self.not_read[first.name] = Reason(text, is_told=True)
        return rest

    def _refuse_corrections(
        self, reading: Reading, people: Sequence[CodedColumn], judges: Sequence[CodedColumn]
    ) -> None:
        """Refuse ratings that are there only where a judge is wrong: the rest is not known."""
        for person, judge in product(people if len(people) == 1 else (), judges):
            rows = person.has_cell & judge.has_cell
            values, scores = person.texts()[rows], judge.texts()[rows]
            is_partial = _FEWEST_CORRECTED <= rows.sum() < judge.n_cells
            if is_partial and not (self._chosen(person) or (values == scores).any()):
                option = option_text(self.table, "rater", person.name)
                message = f"{person.name} differs from {judge.name} in each row that has both"
                message += ", as corrections do: what people say of the others is open"
                remedy = "Fill in the rows that people checked, or if they rated these alone, pass"
                reading.refusal = message, f"{remedy} {option}"

    # Columns of one scale.

    def _of_one_scale(self, rated: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns whose values are of one kind; give the reason for the peers."""
        are_crossed = crossed_parts([c.name for c in rated]) and not any(
            c.may_be(Role.TIME) and not c.may_be(Role.RATING) for c in rated
        )
        if are_crossed or all(map(self._chosen, rated)):
            return rated
        names = with_shared_parts([c.name for c in rated])
        aside = [c for c in rated if c.name not in names and self.who_is(c) is not Who.JUDGE]
        is_named = any(is_first_name(c.name) or self.who_is(c) is Who.HUMAN for c in aside)
        if not is_named and self._crossed([c for c in rated if c.name in names]):
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
            of[0].is_whole or of[0].n_distinct < _REPEATED * of[0].n_cells for of in numbers
        )
        # A judge's column of its own kind is compared with people's, and never stands for them.
        of_people = [group for group in groups if any(map(self._is_person, group))]
        columns = (column for group in groups if group not in of_people for column in group)
        if any(self.who_is(column) is not Who.JUDGE for column in columns):
            of_people = []
        # A column called human says who people are: other words beside it may be anything.
        certain = [
            group
            for group in of_people
            if any(self.who_is(of) is Who.HUMAN or is_first_name(of.name) for of in group)
        ]
        candidates = certain or of_people or groups
        main = max(candidates, key=lambda group: self._worth(group, has_numbers=has_numbers))
        for column in rated:
            if column not in main:
                may_rate = column.kind is Kind.NUMBER or column.order or self._is_person(column)
                self.not_read[column.name] = UNLIKE if may_rate else _UNORDERED
        return main

    def _is_alike(self, column: CodedColumn, group: Sequence[CodedColumn]) -> bool:
        first = group[0]
        if column.kind is not first.kind:
            return False
        is_few = len(self.table) < _FEW_ROWS
        are_people = self._is_person(column) and self._is_person(first)
        scale = self.choices.options.scale
        if column.kind is not Kind.NUMBER:
            words = {word.casefold() for of in group for word in of.rating_words}
            own_words = {word.casefold() for word in column.rating_words}
            is_known = order_of(own_words | words) is not None or are_yes_or_no(own_words | words)
            return bool(own_words & words) or is_known or (is_few and are_people)
        numbers = _distinct_numbers(column)
        peers = {number for of in group for number in _distinct_numbers(of)}
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

    def _worth(self, group: Sequence[CodedColumn], *, has_numbers: bool) -> tuple[object, ...]:
        kinds = [self.who_is(column) for column in group]
        are_ordered = all(c.kind is Kind.NUMBER or c.order is not None for c in group)
        is_named = any(k in (Who.JUDGE, Who.HUMAN) for k in kinds)
        return (
            sum(map(self._chosen, group)),
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

    def _judges_on_another_scale(
        self,
        rated: Sequence[CodedColumn],
        main: Sequence[CodedColumn],
        judges: Sequence[CodedColumn],
    ) -> list[CodedColumn]:
        """Return columns of judges who score on another scale than people, as 0.83 beside pass."""
        if not any(map(self._is_person, main)) and len(main) != 1:
            return []
        names = {_judge_of(column) for column in judges}
        further: list[CodedColumn] = []
        for column in rated:
            is_judge = self.who_is(column) is Who.JUDGE and column not in main
            if is_judge and _judge_of(column) not in names:
                names.add(_judge_of(column))
                further.append(column)
                del self.not_read[column.name]
        return further

    # Columns that are no ratings of their own.

    def _without_references(self, people: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns without a reference such as the ground truth, beside people."""
        aside = [
            c for c in people if c.may_be(Role.SUMMARY) and not (self._chosen(c) or _may_be_name(c))
        ]
        rest = [column for column in people if column not in aside]
        if not any(map(self._is_person, rest)) or crossed_parts([c.name for c in people]):
            return people
        self.not_read |= {column.name: REFERENCE for column in aside}
        return rest

    def _without_computed(self, people: list[CodedColumn]) -> list[CodedColumn]:
        """Return the columns without those that are the mean, highest or the like of the peers."""
        if any(map(self._chosen, people)) or len(self.table) <= _FEWEST_COMPUTED:
            return people
        rest = list(people) if all(c.kind is Kind.NUMBER for c in people) else []
        if len({number for c in rest for number in _distinct_numbers(c)}) <= 2:
            return people  # a rater may well give the higher of two values each time
        for column in list(rest):
            peers = [other for other in rest if other is not column]
            # A person's ratings are whole where those of the others are.
            is_name = self._is_person(column) and column.is_whole
            figure = None if len(peers) < 2 or is_name else _figure_of(column, peers)
            if figure is not None:
                rest.remove(column)
                text = f"the {figure} of the ratings beside it"
                self.not_read[column.name] = Reason(text, is_attribute=False)
        return rest

    def _odd_cells(
        self, rated: Sequence[CodedColumn], items: Sequence[CodedColumn]
    ) -> list[InputProblem]:
        """Return the cells that are none of the ratings in columns called like a rater."""
        raters = [c for c in rated if self._is_person(c) or self.who_is(c) is Who.JUDGE]
        if not raters or any(map(self._chosen, rated)):
            return []
        numbers = [number for c in rated for number in _distinct_numbers(c)]
        words = {w.casefold() for c in rated if c.kind is not Kind.NUMBER for w in c.rating_words}
        ends = (min(numbers) - 1, max(numbers) + 1) if numbers else (np.inf, -np.inf)
        scale = self.choices.options.scale
        if scale is not None:
            ends = min(ends[0], scale.low), max(ends[1], scale.high)
        problems: list[InputProblem] = []
        for column in self.columns:
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
                ends = f"{min(number, *numbers):g}-{max(number, *numbers):g}"
                remedy += f"; if it is one, {option_text(self.table, 'scale', ends)}"
            message = f'"{value}" is not a value of the other ratings'
            place = self.table.files[row], self.table.lines[row], column.name
            yield InputProblem(*place, message, remedy)

    # Who rated.

    def _name_raters(
        self, reading: Reading, people: list[CodedColumn], judges: list[CodedColumn]
    ) -> None:
        """Add the columns with the raters and questions that their headers name."""
        crossed = self._crossed(people + judges)
        if not crossed and (crossed := self._crossed(people)):
            crossed += map(_judged, judges)
        questions = self._paired(people, judges) or ([] if judges else _of_one_person(people))
        if crossed:
            reading.rated, reading.likelihood = crossed, 6.5
            # The other way to read headers of which neither part is certain to be the rater.
            raters = list(dict.fromkeys(of.rater or "" for of in crossed if not of.is_judge))
            is_certain = any(who(name) is Who.HUMAN or is_first_name(name) for name in raters)
            if raters and not is_certain and not self.choices.parts:
                names = tuple(dict.fromkeys(of.question or "" for of in crossed))
                columns = tuple(of.column.name for of in crossed if not of.is_judge)
                are_asked = share_of_criteria(names) > 0.5
                changed = {"rating": columns} if are_asked else {"rater": names}
                reading.forks.append((f"{listed_briefly(raters)} are raters", changed))
            letters = tuple(name for name in raters if who(name) is not Who.HUMAN)
            is_named = any(map(is_first_name, raters)) or self.choices.parts or self.choices.judges
            if is_certain and letters and not is_named:
                reading.forks.append((count_as_people(letters), {"judge": letters}))
        elif questions:
            reading.rated, reading.likelihood = questions, 6.0
        else:
            self._name_people(reading, people, judges)
            reading.rated += map(_judged, judges)
            self._doubt_judges(reading, people, judges)
        for of in reading.rated:  # a judge's name that ends in a run
            if of.is_judge and (run := _RUN.fullmatch(of.rater or "")):
                judge = "judge" if is_rating_word(run[1]) else run[1] or "judge"
                of.rater, of.run = judge, run[2]
        reading.likelihood += 2 * bool(judges)
        # The only judge has the name of its model, if a column beside its scores holds that.
        models, named = self._models(), {of.rater for of in reading.rated if of.is_judge}
        if len(models) == len(named) == 1 and not self.choices.judges:
            reading.rated = [
                replace(of, rater=models[0]) if of.is_judge else of for of in reading.rated
            ]

    def _doubt_judges(
        self, reading: Reading, people: Sequence[CodedColumn], judges: Sequence[CodedColumn]
    ) -> None:
        """Add a fork if judges may be people: Gemma beside Mia, Judge 1 and 2 alone, or a label."""
        names = [of.name for of in judges]
        is_panel = not people and len(names) > 1 and all(map(_PANEL.fullmatch, names))
        if not (is_panel or all(plain(name) in SHARED_NAMES for name in names)):
            names = [of.name for of in _beside_humans([*people, *judges]) if of in judges]
        if names and not any(map(self._chosen, judges)):
            changed = {"rater": tuple(of.name for of in (*people, *judges))}
            reading.forks.append((_are(names, "a judge"), changed))

    def _models(self) -> list[str]:
        """Return the models that columns of one value call the judge, as all do in its file."""
        of_judges = self.table.judge or _EVALUATORS.search(self.table.sheet)
        columns = [
            column
            for column in self.columns
            if len(column.values) == 1
            and (
                (of_judges or names_judge(column.name) or column.may_be(Role.RATER))
                if names_model(column.values[0])
                else _EVALUATOR.match(plain(column.name))
                and _OF_CODE.search(column.values[0])
                and who(column.values[0]) is not Who.HUMAN
            )
        ]
        return [column.values[0] for column in columns]

    def _crossed(self, columns: Sequence[CodedColumn]) -> list[RatedColumn]:
        """Return columns of which each combines a rater with a question; empty if they do not."""
        pairs = crossed_parts([column.name for column in columns])
        if not pairs:
            return []
        parts = [sorted({pair[k] for pair in pairs}) for k in (0, 1)]
        people = [share_of_people(names, with_judges=True) for names in parts]
        if max(people) <= 0.5:
            return []
        chosen = set(self.choices.parts)
        margins = [p - share_of_criteria(names) for p, names in zip(people, parts, strict=True)]
        for side, names in enumerate(parts):  # A_human and A_gpt are of answers
            are_letters = all(len(name) == 1 and name.isalpha() for name in names)
            margins[side] -= 2 * (are_letters and Who.JUDGE in map(who, parts[1 - side]))
            kinds = [who(name) in (Who.HUMAN, Who.JUDGE) or is_first_name(name) for name in names]
            margins[side] += 0.1 * all(kinds)
        k = int(not chosen <= set(parts[0]) if chosen else margins[0] < margins[1])
        are_people = margins[1 - k] > 0 and any(
            who(of) is Who.HUMAN and not of.isdigit() for of in parts[1 - k]
        )
        owners = sorted(who(of).name for of in parts[k])
        are_numbered = owners == ["HUMAN", "JUDGE"] and all(map(str.isdigit, parts[1 - k]))
        are_asked = names_judge(" ".join(parts[1 - k])) and all(map(str.isdigit, parts[k]))
        if (are_people or are_numbered or are_asked) and not chosen:
            return []  # human_1, human_2, llm_1, llm_2 are no questions, q1 and judge_q1 no raters
        return [
            RatedColumn(
                column,
                rater=pair[k],
                question=pair[1 - k],
                is_judge=who(pair[k]) is Who.JUDGE and column not in self.choices.raters,
            )
            for column, pair in zip(columns, pairs, strict=True)
            if not chosen or pair[k] in chosen
        ]

    def _paired(self, people: list[CodedColumn], judges: list[CodedColumn]) -> list[RatedColumn]:
        """Return questions, if each has a column of a judge named after it, as judge_tone."""
        if len(people) < 2 or len(people) != len(judges) or any(map(self._is_person, people)):
            return []
        pairs = {of.name: judge_of_question(of.name, [c.name for c in people]) for of in judges}
        questions = [pair[1] for pair in pairs.values() if pair is not None]
        if sorted(questions) != sorted(column.name for column in people):
            return []
        rated = [RatedColumn(column, rater="", question=column.name) for column in people]
        return rated + [
            RatedColumn(of, *pair, is_judge=True) for of in judges if (pair := pairs[of.name])
        ]

    def _name_people(
        self, reading: Reading, rated: list[CodedColumn], judges: list[CodedColumn]
    ) -> None:
        """Add the columns of people, or a refusal if their names leave open who rated."""
        people = self._people(reading, rated, judges)
        criteria = [c for c in rated if self.who_is(c) is Who.CRITERION]
        unknown = [c for c in rated if c not in people and c not in criteria]
        human = [c for c in rated if self.who_is(c) is Who.HUMAN]
        of_responses = self._rated_responses(rated or judges)
        reading.rated = [RatedColumn(c, rater="", question=c.name) for c in rated]
        if of_responses:
            reading.likelihood = 3.0
            headers = listed_briefly([of.name for of in rated or judges])
            texts = listed_briefly(of_responses)
            reading.refusal = (
                f"{headers} are named like {texts}: of responses, and not of raters",
                "Write a row for each response, or name raters with "
                + option_text(self.table, "rater", "COLUMN"),
            )
        elif not rated:
            reading.likelihood = 4.0
        elif self.choices.ratings and not self.choices.raters:
            reading.likelihood = 5.0
        elif any(map(self._chosen, rated)):
            reading.rated = [RatedColumn(c, rater=c.name) for c in rated]
            reading.likelihood = 9.0
        elif len(rated) == 1:
            self._name_one(reading, rated[0], judges)
        elif (judges and human) or len(people) > max(1, len(criteria)):
            self._take_people(reading, people, unknown + criteria)
            reading.likelihood = 6.0 - bool(criteria)
        elif len(judges) == 1 and _are_numbered(rated):
            # Of numbered questions a judge would have a score each.
            reading.rated = [RatedColumn(c, rater=c.name) for c in rated]
            reading.likelihood = 4.0
            changed = {"rating": tuple(c.name for c in rated), "judge": (judges[0].name,)}
            reading.forks.append((_are([c.name for c in rated], "a rater"), changed))
        else:
            names = listed_briefly([column.name for column in rated])
            reading.likelihood = 2.0 if criteria and not people else 1.0
            reading.refusal = (
                f"the columns {names} may be raters or questions, and nothing says which",
                self._remedy_of_names(rated, judges, reading.items),
            )

    def _name_one(
        self, reading: Reading, column: CodedColumn, judges: Sequence[CodedColumn]
    ) -> None:
        """Add the only column of ratings, or a refusal if nothing says that it holds any."""
        options, name = self.choices.options, column.name
        is_person, is_rating = self._is_person(column), column.may_be(Role.RATING)
        is_human = self.who_is(column) is Who.HUMAN
        words = {*column.rating_words}
        is_like = any(of.kind is column.kind or {*of.values} & words for of in judges)
        is_named = options.rater or options.judge or is_like
        judge = None if is_named or is_human else self.table.judge
        rater = name if (is_person or _may_be_name(column)) and not is_rating_word(name) else ""
        reading.rated = [RatedColumn(column, judge or rater, name, is_judge=judge is not None)]
        reading.likelihood = 3.0 + is_rating + is_human
        is_initials = name.isupper() and not column.is_whole  # MOS
        is_certain = is_named or judge or is_rating or is_first_name(name)
        is_certain = is_certain or (is_human and not is_initials)
        if name.startswith("column "):
            reading.refusal = (
                "there is no header, so nothing says what the columns hold",
                "Name the columns in the first line",
            )
        elif not (is_certain or column.is_whole) and column.n_distinct > _REPEATED * column.n_cells:
            reading.refusal = (
                f"{name} holds numbers that hardly repeat, and nothing says that they are ratings",
                f"If they are, pass {option_text(self.table, 'rating', name)}",
            )
        elif not is_certain:
            reading.note_values_alone(column)

    def _people(
        self, reading: Reading, rated: Sequence[CodedColumn], judges: Sequence[CodedColumn]
    ) -> list[CodedColumn]:
        """Return the columns of people, with a fork if nothing tells names from criteria."""
        people = [c for c in rated if self._is_person(c) or _may_be_name(c)]
        parts = parts_of_raters([column.name for column in rated])
        names = {c.name: parts.get(c.name, c.name) for c in people}
        certain = [c for c in people if self.who_is(c) is Who.HUMAN or is_first_name(names[c.name])]
        words = [c for c in people if c not in certain and is_abstract(names[c.name])]
        if not words and any(is_first_name(names[c.name]) for c in certain):
            return people
        # A csat beside reviewers is called like nobody, and so are retries beside human and judge.
        is_human = len(certain) == 1 and "human" in plain(names[certain[0].name]).split("_")
        if len(certain) > 1 or (is_human and judges and len(people) > 1):
            has_names = any(is_first_name(names[c.name]) for c in certain)
            return [c for c in people if c not in words] if has_names else certain
        # A name has a capital also where other headers have none.
        are_proper = not words and all(map(str.istitle, names.values()))
        are_proper &= not any(column.name[:1].isupper() for column in reading.items)
        if len(people) > 1 and not are_proper:
            columns = {"rating": rated, "judge": judges}
            changed = {of: tuple(c.name for c in named) for of, named in columns.items() if named}
            reading.forks.append(
                (f"{listed_briefly([c.name for c in people])} are raters", changed)
            )
        return people

    def _rated_responses(self, rated: Sequence[CodedColumn]) -> list[str]:
        """Return the columns of texts that are told apart as ratings are, as by 1 and 2."""
        if not rated or any(map(self._chosen, rated)):
            return []
        numbers = [c.name for c in self.columns if c.kind is Kind.NUMBER and c is not rated[0]]
        names = [column.name for column in rated]
        ways = [names] if len(names) > 1 else [[*names, name] for name in numbers]
        parts = next(filter(None, (list(distinct_parts(way).values()) for way in ways)), None)
        if parts is None:
            return []
        texts = [
            c.name
            for c in self.table.columns
            if c.kind in (Kind.TEXT, Kind.WORD)
            and not (c in rated or c.may_be(Role.TEXT) or self.who_is(c) is Who.JUDGE)
        ]
        ends = re.compile(rf"(?<!\w){re.escape(parts[0])}|{re.escape(parts[0])}$")
        named = (
            [ends.sub(part, name) for part in parts]
            for name in texts
            if ends.search(name)
            and not (name == parts[0] and (who(name) is Who.HUMAN or is_first_name(name)))
        )
        return next((names for names in named if {*names} <= {*texts}), [])

    def _remedy_of_names(
        self,
        rated: Sequence[CodedColumn],
        judges: Sequence[CodedColumn],
        items: Sequence[CodedColumn],
    ) -> str:
        """Return how to say what columns are: raters, judges, questions of one rater, or items."""

        def option(name: str, columns: Sequence[CodedColumn]) -> str:
            return option_text(self.table, name, *(column.name for column in columns))

        rest = f" {option('judge', judges)}" if judges else ""
        remedy = f"If they are raters, pass {option('rater', rated)}{rest}; if "
        people = [column for column in rated if self.who_is(column) is Who.HUMAN]
        unknown = [column for column in rated if column not in people]
        if people and unknown:
            remedy += f"a judge gave {listed_briefly([column.name for column in unknown])}, pass "
            remedy += f"{option('rater', people)} {option('judge', [*unknown, *judges])}"
        else:
            remedy += f"one person rated all, pass {option('rating', rated)}{rest}"
        is_form = len({form_of(of.name) for of in rated} - {"#"}) == 1 < len(rated) - 1
        if len(items) == 1 and (is_form or share_of_people(items[0].values[:50]) > 0.5):
            remedy += f"; if each row is a rater, {option_text(self.table, 'rater', items[0].name)}"
        return f"{remedy}; otherwise add a column of raters"

    def _take_people(
        self, reading: Reading, people: list[CodedColumn], peers: list[CodedColumn]
    ) -> None:
        parts = parts_of_raters([column.name for column in people])
        names = tuple(column.name for column in (*people, *peers))
        programs = [
            c for c in (*people, *peers) if may_be_program(parts.get(c.name, c.name), names)
        ]
        peers = [column for column in peers if column not in programs]
        reading.rated = [
            RatedColumn(c, rater=parts.get(c.name, c.name), question=shared_part(c.name, parts))
            for c in people
            if c not in programs
        ]
        reading.rated += map(_judged, programs)
        self._note_strangers(reading, [c for c in people if c not in programs], parts)
        for columns, role in ((programs, "a judge"), (peers, "no rater")):
            if columns:
                choice = _are([column.name for column in columns], role)
                reading.forks.append((choice, {"rater": names}))
        self.not_read |= {column.name: _NOT_ITS_NAME for column in peers}

    def _note_strangers(
        self, reading: Reading, people: Sequence[CodedColumn], parts: Mapping[str, str]
    ) -> None:
        """Say whom nothing calls a person, beside those who are: a model's name may be any word."""
        stems = [_NUMBER_AT_END.sub("", column.name) for column in people]
        strangers = []
        for column in people:
            name = parts.get(column.name, column.name)
            is_known = self.who_is(column) is Who.HUMAN or is_first_name(name)
            is_alone = is_rating_word(column.name) and stems.count(column.name) == 1
            if is_alone or not is_known or plain(name) in SHARED_NAMES:
                strangers.append(column)
        if 0 < len(strangers) < len(people):
            names = [column.name for column in strangers]
            option = option_text(self.table, "judge", *names)
            reading.notes.append(f"{count_as_people(names)}; if a judge, pass {option}")

    # Sheets and items.

    def _use_sheets(self, reading: Reading, rated: Sequence[CodedColumn]) -> None:
        """Take sheets for questions if columns are raters."""
        sheet = next((c for c in self.table.columns if c.origin is Origin.SHEET), None)
        if sheet is None or not all(of.rater and not of.question for of in reading.rated):
            return
        peers = [c for c in self.columns if c is not sheet and c not in rated]
        items = self.choices.items or item_columns(self.table, peers, within=sheet)
        if not items or n_distinct(combined(items)) == n_distinct(combined([*items, sheet])):
            return  # sheets of different items
        reading.items, reading.question = items, sheet
        reading.likelihood += 3

    def _rate_items(self, reading: Reading, rated: Sequence[CodedColumn]) -> None:
        """Prefer tables that name their items; refuse one whose items repeat without raters."""
        reading.likelihood += 0.5 * any(of.may_be(Role.ITEM) for of in reading.items)
        has_names = any(
            (c.may_be(Role.RATER) or c.holds_emails)
            and c not in rated
            and c.kind is not Kind.NUMBER
            for c in self.columns
        )
        people = [of.column for of in reading.rated if not of.is_judge]
        is_single = len(people) <= 1 or all(self.who_is(column) is Who.HUMAN for column in people)
        if has_names and (not is_single or not reading.items):
            reading.likelihood -= 2
        if reading.items:
            return
        reading.likelihood -= 1
        repeated = next(
            (
                column
                for column in self.columns
                if column not in rated
                and column.may_be(Role.ITEM)
                and 2 < len(column.values) <= len(self.table) / 1.5
            ),
            None,
        )
        if repeated is not None:
            reading.likelihood = min(reading.likelihood, 1.5)
            reading.refusal = (
                f"{repeated.name} repeats, and no column says who gave which rating",
                f"Add a column of raters, or name it with {option_text(self.table, 'rater', 'X')}",
            )


_NUMBERED_RATER = re.compile(r"(rater|annotator|reviewer|coder|expert|worker|human|grader)_?\d")
_NEVER = (["false"], ["true"])
"""Values of a column that programs write for all rows."""


def _name_and_round(column: CodedColumn) -> tuple[str, int]:
    """Return the name before the round in a header, and the round; 0 if it has none."""
    match = NAME_AND_ROUND.fullmatch(column.name)
    return (match[1], int(match[3])) if match and may_be(match[2], Role.ROUND) else ("", 0)


def _are_numbered(columns: Sequence[CodedColumn]) -> bool:
    """Return whether only a number tells headers apart, of what is no question, item or score."""
    is_open = not any(c.may_be(Role.QUESTION, Role.ITEM, Role.RATING, Role.TEXT) for c in columns)
    forms = {form_of(column.name) for column in columns}
    has_name = all(re.search(r"[^\W\d]{2}", form) for form in forms)
    return len(columns) > 1 == len(forms) and is_open and has_name


def _is_earlier(first: CodedColumn, last: CodedColumn) -> bool:
    """Return whether a column is the revision of another one, or holds a later round of it."""
    (name, number), (last_name, last_number) = map(_name_and_round, (first, last))
    if name and name == last_name:
        return number < last_number
    if not (_EARLIER.search(plain(first.name)) and _LATER.search(plain(last.name))):
        return False
    parts = distinct_parts([first.name, last.name])
    return (
        bool(parts)
        and _EARLIER.fullmatch(plain(parts[first.name])) is not None
        and _LATER.fullmatch(plain(parts[last.name])) is not None
        and bool(last.has_cell[first.has_cell].all())
    )


def item_columns(
    table: CodedTable, columns: Sequence[CodedColumn], *, within: CodedColumn | None = None
) -> list[CodedColumn]:
    """Return the columns that name each row, with a sheet if the rows are within it; or none."""
    base = [] if within is None else [within]
    ids = [
        column
        for column in columns
        if column.origin is not Origin.POSITION
        and column.kind not in (Kind.TIME, Kind.EMPTY)
        and (column.kind is not Kind.NUMBER or column.is_whole or names_id(column.name))
        and (len(column.values) > 1 or len(table) == 1)
        and not column.may_be(Role.TEXT)
    ]
    n_rows = len(table)
    full = [
        column
        for column in ids
        if column.n_cells > 0.95 * n_rows
        and n_distinct(combined([column, *base])[column.has_cell]) == column.n_cells
    ]
    if full:
        return [
            min(
                full,
                key=lambda column: (
                    column.counts_rows and not column.may_be(Role.ITEM),
                    not column.may_be(Role.ITEM),
                    column.kind is Kind.TEXT,
                    not names_id(column.name),
                    column.origin is Origin.FILE,
                    len("".join(column.values[:20])),
                ),
            )
        ]
    if within is not None:
        return []
    pool = [c for c in ids if c.kind is not Kind.TEXT or c.may_be(Role.ITEM)][:_MOST_ITEM_COLUMNS]
    for depth in (2, 3):
        keys = [
            list(columns)
            for columns in combinations(pool, depth)
            if n_distinct(combined(columns)) >= n_rows * _NEARLY_UNIQUE
        ]
        if keys:
            roles = (Role.ITEM, Role.TURN, Role.SYSTEM)
            return max(keys, key=lambda key: sum(column.may_be(*roles) for column in key))
    # Few rows are second ones of an item; those of a prompt are other responses.
    nearly = (c for c in pool if c.may_be(Role.ITEM) and not c.may_be(Role.GROUP))
    return [c for c in nearly if c.n_cells == n_rows and c.n_distinct >= _ALMOST * n_rows][:1]


def _are(names: Sequence[str], role: str) -> str:
    """Return that names are of a role.

    Examples:
        >>> _are(["gemma"], "a judge"), _are(["gemma", "claude"], "a judge")
        ('gemma is a judge', 'gemma, claude are judges')
    """
    plural = f"{role.removeprefix('a ')}s"
    return f"{listed_briefly(names)} {f'is {role}' if len(names) == 1 else f'are {plural}'}"


def _beside_humans(columns: Sequence[CodedColumn]) -> list[CodedColumn]:
    """Return the columns that say the same as a human one, of nobody by name: label, human_label.

    Examples:
        >>> [c.name for c in _beside_humans([CodedColumn.of(n, [1]) for n in ("f", "human_f")])]
        ['f']
    """
    of_humans = {
        re.sub("human_|_human$", "", plain(of.name)) for of in columns if "human" in of.name.lower()
    }
    return [of for of in columns if plain(of.name) in of_humans - {"human"}]


def _kinds(columns: Sequence[CodedColumn]) -> dict[int, Who]:
    """Return whom the header of each column names, beside those of the peers."""
    names = [column.name for column in columns]
    parts = parts_of_raters(names)
    owners = distinct_parts(names)
    shared = (owners and shared_part(names[0], owners)) or ""
    if is_rating_word(shared) and names_judge(shared):
        names = [owners.get(name, name) for name in names]  # Verdict (FC1) beside Verdict (LLM)
    kinds = [max(who(name), who(parts.get(name, name)), key=lambda k: k.value) for name in names]
    models = models_by_company(names)
    models |= _judges_of_others(names)
    kinds = [Who.JUDGE if n in models else k for n, k in zip(names, kinds, strict=True)]
    if not are_a_row_of_letters(names):
        kinds = [Who.UNKNOWN if len(n) == 1 else k for n, k in zip(names, kinds, strict=True)]
    stems = [_NUMBER_AT_END.sub("", name).casefold() for name in names]
    is_person_named = any(kind.is_human for kind in kinds)
    for k, stem in enumerate(stems):  # Rating, Rating 1, Rating 2
        is_numbered = stem and stems.count(stem) > 1 and kinds[k] is not Who.JUDGE
        is_role = may_be(stem, Role.RATING, Role.RATER) and not may_be(stem, Role.ITEM)
        # TA1, but not run1; nor gen1 beside people.
        is_short = len(stem) > 1 and stem.isalpha() and who(stem.upper()) is Who.HUMAN
        is_role |= is_short and (names[k].isupper() or not is_person_named)
        is_role &= not may_be(stem, Role.RUN)
        if is_numbered and is_role:
            kinds[k] = Who.HUMAN
    if any(k.is_human and not n.isdigit() for n, k in zip(names, kinds, strict=True)):
        # 0 and 1 are an index beside people.
        kinds = [Who.UNKNOWN if n.isdigit() else k for n, k in zip(names, kinds, strict=True)]
    if crossed := crossed_parts(names):
        kinds = [
            max(who(a), who(name) if b.isdigit() else who(b), who(name), key=lambda k: k.value)
            for name, (a, b) in zip(names, crossed, strict=True)
        ]
    return {id(column): kind for column, kind in zip(columns, kinds, strict=True)}


def _judges_of_others(names: Sequence[str]) -> set[str]:
    """Return the headers that are another one with a judge before it.

    Examples:
        >>> _judges_of_others(["user_satisfaction", "judge_user_satisfaction"])
        {'judge_user_satisfaction'}
    """
    known = {plain(name) for name in names}
    parts = {name: plain(name).partition("_") for name in names}
    return {name for name, of in parts.items() if of[2] in known and who(of[0]) is Who.JUDGE}


def _holds_names(column: CodedColumn) -> bool:
    """Return whether a column holds names of raters, and not ratings as of expert_a or a judge."""
    if column.kind is not Kind.WORD or column.order is not None:
        return False
    ends = plain(column.name).rpartition("_")
    is_of_one = column.who is Who.JUDGE or names_one_of_several(column.name)
    is_of_one |= bool(ends[0]) and is_rating_word(ends[2])  # annotator_label
    is_of_raters = column.may_be(Role.RATER) and not is_of_one
    share = share_of_people(column.values[:30], with_judges=True)
    return all(map(is_first_name, column.values[:30])) or (is_of_raters and share > 0.5)


def _of_one_person(columns: Sequence[CodedColumn]) -> list[RatedColumn]:
    """Return the questions that one person answered, as expert_tone, or tone_human."""
    for step in (1, -1) if len(columns) > 1 else ():
        names = [column.name[::step] for column in columns]
        shared = re.match(r"(.*)[ _.:/-]+", commonprefix(names))  # noqa: RUF071 - of letters
        person = shared[1][::step] if shared else ""
        if shared is None or who(person) is not Who.HUMAN:
            continue
        parts = [name[shared.end() :][::step] for name in names]
        are_short = any(len(part) < 4 and who(part) is not Who.CRITERION for part in parts)
        are_asked = Who.CRITERION in map(who, parts) and not are_short
        if step == -1:  # senior_expert and junior_expert are people
            are_asked = "human" in plain(person).split("_")
        if are_asked and not any(map(is_first_name, parts)):
            questions = zip(columns, parts, strict=True)
            return [RatedColumn(column, rater=person, question=of) for column, of in questions]
    return []


def _judged(column: CodedColumn) -> RatedColumn:
    """Return the column of a judge: it is a field of an object named after it."""
    owner, name = owner_and_field(column.name)
    if column.level and owner and who(owner) is Who.JUDGE and who(name) is not Who.JUDGE:
        return RatedColumn(column, rater=owner, question=name, is_judge=True)
    of_list = plain(owner) in ("judge", "judges") and who(name) is Who.JUDGE
    return RatedColumn(column, rater=name if of_list else column.name, is_judge=True)


def _judge_of(column: CodedColumn) -> str:
    """Return the name of a judge without what its column holds: score, label, verdict."""
    words = plain(column.name).split("_")
    of_ratings = ("score", "label", "rating", "verdict", "pass")
    return "_".join(word for word in words if word not in of_ratings)


def _distinct_numbers(column: CodedColumn) -> set[float]:
    if column.kind is not Kind.NUMBER:
        return set()
    return set(np.round(column.numbers[~np.isnan(column.numbers)], 6).tolist())


def _is_threshold(column: CodedColumn, columns: Sequence[CodedColumn]) -> bool:
    """Return whether two values say where a program's decimals lie, as x_label beside x_score."""
    stem = plain(column.name).rpartition("_")[0]
    is_of_program = stem and column.n_distinct == 2 and who(stem) is not Who.HUMAN
    scores = [c for c in columns if is_of_program and plain(c.name).rpartition("_")[0] == stem]
    return any(
        np.count_nonzero(np.diff(column.codes[np.argsort(row_numbers(of), kind="stable")])) == 1
        for of in scores
        if of.kind is Kind.NUMBER and not of.is_whole and 2 * of.n_distinct > of.n_cells
    )


def _figure_of(column: CodedColumn, peers: Sequence[CodedColumn]) -> str | None:
    """Return the figure of other columns that a column holds in nearly every row."""
    ratings = np.array([row_numbers(other) for other in peers])
    rows = ~np.isnan(ratings).all(axis=0) & column.has_cell
    if rows.sum() <= _FEWEST_COMPUTED:
        return None
    figures, ratings = row_numbers(column)[rows], ratings[:, rows]
    for figure, name in _COMPUTED:
        if np.mean(np.abs(figure(ratings, axis=0) - figures) < 0.01) > 0.99:
            return name
    return None


def _may_be_name(column: CodedColumn) -> bool:
    """Return whether a name of a summary is that of people, too, so that the values decide."""
    return plain(column.name) in ("max", "min")
