"""Whose the columns of a table are: people's, judges' or nobody's, by headers and values."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from os.path import commonprefix

import numpy as np

from eval_assets.readers.columns import CodedColumn, CodedTable, Columns, Kind
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import (
    crossed_parts,
    distinct_parts,
    is_beside_reference,
    models_by_company,
    name_and_number,
    names_evaluator,
    owner_and_field,
    parts_of_raters,
    question_in,
    shared_part,
)
from eval_assets.readers.names import (
    Role,
    Who,
    are_a_row_of_letters,
    is_first_name,
    is_rating_word,
    may_be,
    names_id,
    names_judge,
    names_model,
    names_one_of_several,
    share_of_criteria,
    share_of_people,
    who,
)
from eval_assets.readers.readings.levels import judge_of_question
from eval_assets.readers.readings.table_reading import (
    MODELS,
    NUMBER_AT_END,
    NUMBER_OF_PERSON,
    Choices,
    RatedColumn,
    row_numbers,
)

_EVALUATOR = re.compile(r"(evaluator|grader|scorer)(_|$)")

_LABELLED = re.compile(r"(^|_)(labell?ed|annotated|reviewed|rated)$")
"""Flags which say that people looked at each row."""

_OF_CODE = re.compile(r"[\d/_.-]")
"""A column and a value that name a program, as lynx-large of an evaluator."""


@dataclass(eq=False)
class ColumnOwners:
    """Owners of the columns of a table whose rows are items; `kinds` has them by id of a column."""

    table: CodedTable
    columns: list[CodedColumn]
    choices: Choices
    kinds: dict[int, Who] = field(default_factory=dict)
    runs: list[CodedColumn] = field(default_factory=list)
    models: list[CodedColumn] = field(default_factory=list)
    person: str = ""

    def find(self, candidates: Columns) -> None:
        """Find whose the columns are that no header gives to anybody, by those beside them."""
        self.runs = self._runs_of_no_name(candidates)
        self._give_judge(self.runs)
        self.models = self._models_who_rate(candidates)
        self._give_judge(self.models)
        self._give_judge([of for of in candidates if _is_threshold(of, self.columns)])
        judges = [c for c in candidates if self.who_is(c) is Who.JUDGE and not names_id(c.name)]
        if all(of.may_be(Role.RUN) for of in judges):
            # The only score without a rater is a judge's beside its model, or beside runs.
            scores = [c for c in candidates if c.may_be(Role.RATING)]
            scores = scores or [*(candidates if self.models_of_all else ())]
            people = [c for c in scores if self.is_person(c)]
            if len(self.models_of_all) == 1:  # label and ok are of nobody
                people = [c for c in people if who(c.name) is Who.HUMAN or is_first_name(c.name)]
                people = [c for c in people if not is_of_none(c.name)]
            scores = [c for c in scores if c not in people]
            runs = (c for c in self.columns if c.may_be(Role.RUN) and (c.is_whole or c.level))
            has_runs = any(1 < of.n_distinct <= of.n_cells / 2 for of in runs)
            is_of_judge = len(scores) == 1 and (len(self.models_of_all) == 1 or has_runs)
            self._give_judge(scores if is_of_judge else judges_beside(candidates))
        self.person = self._person_of_all()
        names = [plain(of.name) for of in self.table.columns if len(of.values) == 1]
        varied = [of for of in candidates if len(of.values) > 1]
        is_labelled = varied == judges[:1] and any(map(_LABELLED.search, names))
        for column in candidates:  # a verdict is a judge's unless it says who gave it
            end = f"_{plain(column.name)}"
            is_pair = len(judges) == 2 and any(plain(of.name).endswith(end) for of in judges)
            if is_rating_word(column.name) and (self.person or is_labelled or is_pair):
                self.kinds[id(column)] = Who.HUMAN

    def _give_judge(self, columns: Columns) -> None:
        self.kinds |= {id(column): Who.JUDGE for column in columns}

    def who_is(self, column: CodedColumn) -> Who:
        """Return whom a column is of: as options say, or its header beside the peers."""
        if any(column is of for of in self.choices.judges):
            return Who.JUDGE
        if any(column is of for of in self.choices.raters):
            return Who.HUMAN
        return self.kinds.get(id(column), Who.UNKNOWN)

    def is_chosen(self, column: CodedColumn) -> bool:
        """Return whether an option says that a column holds ratings."""
        return any(column is of for of in self.choices.rating_columns)

    def is_person(self, column: CodedColumn) -> bool:
        """Return whether a column is a person's."""
        return self.who_is(column).is_human

    def _runs_of_no_name(self, candidates: Columns) -> list[CodedColumn]:
        """Return columns such as run_1 and run_2 beside people, if no judge is named."""
        if Who.JUDGE in map(self.who_is, candidates):
            return []
        names = {id(column): name_and_number(column.name) for column in candidates}
        runs = [c for c in candidates if (name := names[id(c)]) and not who(name[0]).is_human]
        has_people = any(self.is_person(column) for column in candidates if column not in runs)
        are_runs = has_people and all(column.may_be(Role.RUN) for column in runs)
        return runs if len(runs) > 1 and are_runs else []

    def _models_who_rate(self, candidates: Columns) -> list[CodedColumn]:
        """Return the columns called model that hold what people's hold, and no names of models.

        Decimals need only lie among people's numbers.
        """
        people = [column for column in candidates if self.is_person(column)]
        parts = parts_of_raters([column.name for column in candidates])
        return [
            column
            for column in candidates
            if plain(parts.get(column.name, column.name)) in MODELS
            and any(
                len({*of.values} & {*column.values}) > 1 or _lies_among(column, of) for of in people
            )
        ]

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
        is_open = not (self.choices.rating_columns or self.models_of_all)
        return named[0] if is_open and len(named) == 1 else ""

    @cached_property
    def models_of_all(self) -> list[str]:
        """Models that columns of one value call the judge, as all do in its file."""
        sheet = self.table.sheet
        of_judges = self.table.judge or names_judge(sheet) or names_evaluator(sheet)
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

    def crossed(self, columns: Columns) -> list[RatedColumn]:
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
            peers = [*map(who, parts[1 - side])]
            margins[side] -= 2 * (are_letters and Who.JUDGE in peers)
            # What models wrote, rated by kim and a judge.
            are_rated = all(map(names_model, names)) and not any(map(names_model, parts[1 - side]))
            margins[side] -= are_rated and Who.JUDGE in peers and any(of.is_human for of in peers)
            kinds = [who(name) in (Who.HUMAN, Who.JUDGE) or is_first_name(name) for name in names]
            # More than words that may be names, as Aroma beside Rosa.
            margins[side] += 1.1 * (all(kinds) and not are_letters)
        k = int(not chosen <= set(parts[0]) if chosen else margins[0] < margins[1])
        are_people = margins[1 - k] > 0 and any(
            who(of) is Who.HUMAN and not of.isdigit() for of in parts[1 - k]
        )
        owners = sorted(who(of).name for of in parts[k])
        are_numbered = owners == ["HUMAN", "JUDGE"] and all(map(str.isdigit, parts[1 - k]))
        are_asked = names_judge(" ".join(parts[1 - k])) and all(map(str.isdigit, parts[k]))
        are_codes = all(of.isdigit() for of in parts[k])
        are_codes &= all(of[-1].isdigit() and who(of) is not Who.CRITERION for of in parts[1 - k])
        if (are_people or are_numbered or are_asked or are_codes) and not chosen:
            # human_1, human_2, llm_1, llm_2 are no questions, q1 and judge_q1 no raters; and
            # nothing says what AA01_01 is.
            return []
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

    def is_pair(self, column: CodedColumn, peer: CodedColumn) -> bool:
        """Return whether a person and a judge say the same, as is_safe and is_safe_llm."""
        judges = [of for of in (column, peer) if self.who_is(of) is Who.JUDGE]
        if len(judges) != 1:
            return False
        [person] = [of for of in (column, peer) if of not in judges]
        is_named = self.who_is(person) is Who.HUMAN and distinct_parts([column.name, peer.name])
        return bool(is_named or judge_of_question(judges[0].name, [person.name]))


def is_of_none(name: str) -> bool:
    """Return whether a header says what was given and not by whom, as label and output.label."""
    owner, field = owner_and_field(name)
    return is_rating_word(field) and not (who(owner) is Who.HUMAN or is_first_name(owner))


def _lies_among(column: CodedColumn, other: CodedColumn) -> bool:
    """Return whether decimals, if they are rounded, are in the range of another column."""
    if not column.kind is other.kind is Kind.NUMBER or column.is_whole:
        return False
    low, high = np.nanmin(other.numbers), np.nanmax(other.numbers)
    return bool(low <= np.nanmin(column.numbers) + 0.5 and np.nanmax(column.numbers) - 0.5 <= high)


def kinds_of(columns: Columns) -> dict[int, Who]:
    """Return whom the header of each column names, beside those of the peers."""
    names = [column.name for column in columns]
    parts = parts_of_raters(names)
    owners = distinct_parts(names)
    shared = (owners and shared_part(names[0], owners)) or ""
    if is_rating_word(shared) and names_judge(shared):
        # Verdict (FC1) beside Verdict (LLM), but model_verdict is a judge's.
        parts_of = {name: of for name, of in owners.items() if plain(of) not in MODELS}
        names = [parts_of.get(name, name) for name in names]
    kinds = [max(who(name), who(parts.get(name, name)), key=lambda k: k.value) for name in names]
    models = models_by_company(names)
    # A judge's name before another header: judge_user_satisfaction beside user_satisfaction.
    known = {plain(name) for name in names}
    starts = {name: plain(name).partition("_") for name in names}
    models |= {name for name, of in starts.items() if of[2] in known and who(of[0]) is Who.JUDGE}
    kinds = [Who.JUDGE if n in models else k for n, k in zip(names, kinds, strict=True)]
    if not are_a_row_of_letters(names):
        kinds = [Who.UNKNOWN if len(n) == 1 else k for n, k in zip(names, kinds, strict=True)]
    stems = [NUMBER_AT_END.sub("", name).casefold() for name in names]
    is_person_named = any(kind.is_human for kind in kinds)
    for k, stem in enumerate(stems):  # Rating, Rating 1, Rating 2
        is_numbered = stem and stems.count(stem) > 1 and kinds[k] is not Who.JUDGE
        is_role = may_be(stem, Role.RATING, Role.RATER) and not may_be(stem, Role.ITEM)
        # TA1, but not run1; nor gen1 beside people.
        is_short = len(stem) > 1 and stem.isalpha() and who(stem.upper()) is Who.HUMAN
        is_role |= is_short and (names[k].isupper() or not is_person_named)
        # Results 1 and 2 beside a review are those of tests.
        is_role &= not may_be(stem, Role.RUN) and not (stem == "result" and is_person_named)
        if (is_numbered and is_role) or NUMBER_OF_PERSON.match(names[k]):
            kinds[k] = Who.HUMAN
    if crossed := crossed_parts(names):
        kinds = [
            max(who(a), who(name) if b.isdigit() else who(b), who(name), key=lambda k: k.value)
            for name, (a, b) in zip(names, crossed, strict=True)
        ]
    return {id(column): kind for column, kind in zip(columns, kinds, strict=True)}


def judges_beside(columns: Columns) -> list[CodedColumn]:
    """Return the columns of nobody by name that say the same as a human one or the reference."""
    return _beside_humans(columns) or _beside_reference(columns)


def _beside_humans(columns: Columns) -> list[CodedColumn]:
    """Return the columns that say the same as a human one, of nobody by name: label, human_label.

    Examples:
        >>> [c.name for c in _beside_humans([CodedColumn.of(n, [1]) for n in ("f", "human_f")])]
        ['f']
    """
    humans = [of for of in columns if "human" in of.name.lower()]
    of_humans = {re.sub("human_|_human$", "", plain(of.name)) for of in humans}
    of_humans -= {plain(of.name) for of in humans}  # human2 beside human is another person
    pairs = [(a, b) for a, b in product(humans, columns) if b not in humans]
    values = {
        of.name: {*(of.numbers[of.is_rating] if of.kind is Kind.NUMBER else of.values)}
        for of in columns
    }
    metrics = {  # correctness_score beside human_correctness, with more than half of its values
        b.name
        for a, b in pairs
        if question_in(a.name) == question_in(b.name) != ""
        and 2 * len(values[a.name] & values[b.name]) > max(len(values[of.name]) for of in (a, b))
        and not (is_first_name(b.name) or who(b.name) in (Who.HUMAN, Who.JUDGE))
    }
    pairs = [(a, b) for a, b in pairs if {*a.values} == {*b.values}]
    names = ([of.name for of in pair] for pair in pairs)
    of_none = {  # ragcoder_label beside human_label
        name
        for parts in (distinct_parts(of) or dict(zip(of, of, strict=True)) for of in names)
        if "human" in map(plain, parts.values())
        for name, part in parts.items()
        if who(part) in (Who.PERSON, Who.UNKNOWN)
        and not (is_first_name(part) or names_one_of_several(part))
        and not may_be(part, Role.SUMMARY, Role.SYSTEM, Role.ROUND, Role.RUN)
    }
    return [of for of in columns if plain(of.name) in of_humans or of.name in of_none | metrics]


def _beside_reference(columns: Columns) -> list[CodedColumn]:
    """Return the only column with the values of a reference, or an evaluator beside a person.

    Examples:
        >>> columns = [CodedColumn.of(n, ["a", "b"]) for n in ("ground_truth", "result")]
        >>> [of.name for of in _beside_reference(columns)]
        ['result']
    """
    for column in columns:
        peers = [of for of in columns if of is not column]
        rest = [of for of in peers if len({*of.values} & {*column.values}) > 1]
        if len(rest) == 1 and is_beside_reference(rest[0].name, column.name):
            return rest
    return []


def _is_threshold(column: CodedColumn, columns: Columns) -> bool:
    """Return whether two values say where a program's decimals lie, as x_label beside x_score."""
    stem = plain(column.name).rpartition("_")[0]
    is_of_program = stem and column.n_distinct == 2 and who(stem) is not Who.HUMAN
    scores = [c for c in columns if is_of_program and plain(c.name).rpartition("_")[0] == stem]
    return any(
        np.count_nonzero(np.diff(column.codes[np.argsort(row_numbers(of), kind="stable")])) == 1
        for of in scores
        if of.kind is Kind.NUMBER and not of.is_whole and 2 * of.n_distinct > of.n_cells
    )


def judged(column: CodedColumn) -> RatedColumn:
    """Return the column of a judge: it is a field of an object named after it."""
    owner, name = owner_and_field(column.name)
    if column.level and owner and who(owner) is Who.JUDGE and who(name) is not Who.JUDGE:
        return RatedColumn(column, rater=owner, question=name, is_judge=True)
    of_list = plain(owner) in ("judge", "judges") and who(name) is Who.JUDGE
    return RatedColumn(column, rater=name if of_list else column.name, is_judge=True)


def may_be_name(column: CodedColumn) -> bool:
    """Return whether a name of a summary is that of people, too, so that the values decide."""
    return plain(column.name) in ("max", "min")


def of_one_rater(columns: Columns) -> list[RatedColumn]:
    """Return the questions that one person or judge answered, as expert_tone, or tone_human."""
    for step in (1, -1) if len(columns) > 1 else ():
        names = [column.name[::step] for column in columns]
        shared = re.match(r"(.*)[ _.:/-]+", commonprefix(names))  # noqa: RUF071 - of letters
        rater = shared[1][::step].strip(" _.:/-") if shared else ""
        if shared is None or who(rater) not in (Who.HUMAN, Who.JUDGE):
            continue
        parts = [name[shared.end() :][::step] for name in names]
        are_short = any(len(part) < 4 and who(part) is not Who.CRITERION for part in parts)
        are_asked = Who.CRITERION in map(who, parts) and not are_short
        if step == -1:  # senior_expert and junior_expert are people
            are_asked &= not {"human", "judge", "llm"}.isdisjoint(plain(rater).split("_"))
        if are_asked and not any(is_first_name(of) or of[:1].isdigit() for of in parts):
            is_judge = who(rater) is Who.JUDGE
            questions = zip(columns, parts, strict=True)
            return [RatedColumn(of, rater, part, is_judge=is_judge) for of, part in questions]
    return []
