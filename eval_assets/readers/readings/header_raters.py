"""Raters and questions that the headers of columns of ratings name, in rows of items."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eval_assets.readers.columns import CodedColumn, Columns, Kind
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import (
    distinct_parts,
    models_by_company,
    name_and_number,
    orders_of_pairs,
    parts_of_raters,
    question_in,
    shared_part,
)
from eval_assets.readers.names import (
    SHARED_NAMES,
    Role,
    Who,
    is_abstract,
    is_first_name,
    is_rating_word,
    may_be_program,
    names_model,
    share_of_criteria,
    share_of_people,
    who,
)
from eval_assets.readers.problems import count_as_people, listed_briefly
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.column_owners import (
    ColumnOwners,
    is_of_none,
    judged,
    judges_beside,
    may_be_name,
    of_one_rater,
)
from eval_assets.readers.readings.rated_columns import REPEATED
from eval_assets.readers.readings.shared_criteria import columns_by_criterion, judges_of_parts
from eval_assets.readers.readings.table_reading import (
    NUMBER_AT_END,
    PANEL,
    Choices,
    RatedColumn,
    Reading,
    doubt_texts,
    form_of,
    option_text,
    texts_with_parts,
)

_OF_SIDE = re.compile(r"(score|rating|grade|point|quality)s?_?[12ab]$")
_BETTER = re.compile(r"(^|_)(winner|preferred|preference|better)(_|$)")
_NOT_ITS_NAME = Reason("its name is not one of a rater", is_attribute=False)


@dataclass(eq=False)
class HeaderRaters:
    """Columns of ratings, those of judges and the others, to which headers give raters."""

    reading: Reading
    owners: ColumnOwners
    choices: Choices
    rated: list[CodedColumn]
    judges: list[CodedColumn]

    def add(self) -> None:
        """Add the columns with the raters and questions that their headers name."""
        reading, judges = self.reading, self.judges
        crossed, questions = self._with_questions()
        if crossed:
            self._add_crossed(crossed)
        elif questions:
            reading.rated, reading.likelihood = questions, 6.0
        else:
            self._name_people()
            reading.rated += map(judged, judges)
            self._doubt_judges()
        orders = orders_of_pairs([of.rater or "" for of in reading.rated if of.is_judge])
        for of in reading.rated:  # a judge's name that ends in a run
            if of.is_judge and of.rater in orders:
                of.rater, of.run = orders[of.rater]
            elif of.is_judge and (run := name_and_number(of.rater or "")):
                judge = "judge" if is_rating_word(run[0]) else run[0] or "judge"
                of.rater, of.run = judge, run[2]
        if orders:
            text = f"{listed_briefly([*orders])} read as runs of a judge in two orders"
            reading.notes.append(f"{text}: a verdict must mean the same response in both")
        reading.likelihood += 2 * bool(judges)
        # The only judge has the name of its model, if a column beside its scores holds that, or
        # if its file is called so, and the column no more than verdict.
        models, named = self.owners.models_of_all, {of.rater for of in reading.rated if of.is_judge}
        file = reading.table.judge or ""
        if not models and names_model(file) and not any(question_in(of or "") for of in named):
            models = [file]
        if len(models) == len(named) == 1 and not self.choices.judges:
            reading.rated = [
                replace(of, rater=models[0]) if of.is_judge else of for of in reading.rated
            ]

    def _add_crossed(self, crossed: list[RatedColumn]) -> None:
        """Add the columns that combine a rater and a question, with forks for open names."""
        reading = self.reading
        reading.rated, reading.likelihood = crossed, 6.5
        # The other way to read headers of which neither part is certain to be the rater.
        raters = list(dict.fromkeys(of.rater or "" for of in crossed if not of.is_judge))
        is_open = not (self.choices.parts or self.choices.judges)
        programs = [name for name in raters if is_open and may_be_program(name, raters)]
        if 0 < len(programs) < len(raters):
            for of in crossed:
                of.is_judge |= of.rater in programs
            reading.forks.append((_are(programs, "a judge"), {"rater": tuple(raters)}))
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

    def _with_questions(self) -> tuple[list[RatedColumn], list[RatedColumn]]:
        """Return columns that combine raters and questions, or those whose questions are shared."""
        reading, people, judges = self.reading, self.rated, self.judges
        crossed = self.owners.crossed(people + judges)
        if crossed or not (people and judges):
            return crossed, of_one_rater(people or judges)
        of_people = self.owners.crossed(people)
        of_judges = judges_of_parts(judges, of_people)
        rated = [] if of_judges or reading.question else columns_by_criterion(people, judges)
        if not (rated or of_people or reading.question) and (answers := of_one_rater(people)):
            rated = [*answers, *(r for judge in judges for r in judges_of_parts([judge], answers))]
        rest = [of for of in judges if all(of is not known.column for known in rated)]
        if not rated or any(map(self.owners.is_chosen, rest)):
            return [*of_people, *(of_judges or map(judged, judges))] if of_people else [], []
        n_questions = len({of.question for of in rated})
        text = f"which may score any of {n_questions} questions; --only names one"
        reading.not_read.update({of.name: Reason(text, is_told=True) for of in rest})
        return [], rated

    def _doubt_judges(self) -> None:
        """Add a fork if judges may be people: Gemma beside Mia, Judge 1 and 2 alone, or a label."""
        reading, people, judges = self.reading, self.rated, self.judges
        names = [of.name for of in judges]
        if share_of_criteria([*distinct_parts(names).values()]) > 0.5 and people:
            text = f"{listed_briefly(names)} count as scores of what people rated"
            reading.add_doubt(names, text, ignore=names[-1:])
        means = [of for of in (*people, *judges) if of.kind is Kind.NUMBER and not of.is_whole]
        ends_of_writers = ("_ai", "_machine", "_model", "_llm")
        is_of_texts = len(judges) == len(people) == 1 and plain(names[0]).endswith(ends_of_writers)
        if is_of_texts and len(means) > 1:
            # Both are means of ratings, which may be people's of texts by either.
            text = f"{names[0]} counts as a judge's, and not as people's of what a model wrote"
            reading.add_doubt(names[:1], text, ignore=names[:1])
        if people and len(names) > 1:
            doubt_texts(reading, names, self._parts_of_responses(judges))
        is_panel = not people and len(names) > 1 and all(map(PANEL.fullmatch, names))
        if not (is_panel or all(plain(name) in SHARED_NAMES for name in names)):
            models = models_by_company([of.name for of in (*people, *judges)])
            beside = [of.name for of in judges_beside([*people, *judges]) if of in judges]
            names = [name for name in beside if name not in models]
        is_open = not (self.owners.models_of_all or any(map(self.owners.is_chosen, judges)))
        if names and is_open:
            changed = {"rater": tuple(of.name for of in (*people, *judges))}
            reading.forks.append((_are(names, "a judge"), changed))

    def _name_people(self) -> None:
        """Add the columns of people, or a refusal if their names leave open who rated."""
        reading, rated, judges = self.reading, self.rated, self.judges
        people = self._people()
        criteria = [c for c in rated if self.owners.who_is(c) is Who.CRITERION]
        unknown = [c for c in rated if c not in people and c not in criteria]
        human = [c for c in rated if self.owners.who_is(c) is Who.HUMAN]
        abbreviations = [column.name for column in (*people, *unknown)]
        are_codes = all(of.isupper() and of.isalpha() and len(of) < 6 for of in abbreviations)
        are_long = any(len(of) > 3 for of in abbreviations)
        if are_codes and (unknown or (are_long and not any(map(is_first_name, abbreviations)))):
            people = []  # some of these abbreviations are too long for initials
        parts = self._parts_of_responses(rated or judges)
        headers = [of.name for of in rated or judges]
        of_responses = texts_with_parts(reading.table, headers, parts)
        reading.rated = [RatedColumn(c, rater="", question=c.name) for c in rated]
        if of_responses:
            reading.likelihood = 3.0
            alike = f"{listed_briefly(headers)} are named like {listed_briefly(of_responses)}"
            reading.refusal = (
                f"{alike}: of responses, and not of raters",
                "Write a row for each response, or name raters with "
                + option_text(reading.table, "rater", "COLUMN"),
            )
        elif not rated:
            reading.likelihood = 4.0
        elif self.choices.ratings and not self.choices.raters:
            reading.likelihood = 5.0
        elif any(map(self.owners.is_chosen, rated)):
            reading.rated = [RatedColumn(c, rater=c.name) for c in rated]
            reading.likelihood = 9.0
        elif winner := self._winner_beside():
            reading.likelihood = 3.0
            sides = [column.name for column in rated]
            reading.refusal = (
                f"{listed_briefly(sides)} stand beside {winner}: two responses may have these",
                "Write a row for each response, or if they are raters, pass "
                + option_text(reading.table, "rater", *sides),
            )
        elif len(rated) == 1:
            self._name_one(rated[0])
        elif (judges and human) or len(people) > max(1, len(criteria)):
            self._take_people(people, unknown + criteria)
            reading.likelihood = 6.0
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
                self._remedy_of_names(),
            )

    def _name_one(self, column: CodedColumn) -> None:
        """Add the only column of ratings, or a refusal if nothing says that it holds any."""
        reading, table = self.reading, self.reading.table
        options, name = self.choices.options, column.name
        is_person, is_rating = self.owners.is_person(column), column.may_be(Role.RATING)
        is_human = self.owners.who_is(column) is Who.HUMAN
        is_said = is_of_none(name)
        words = {*column.rating_words}
        is_like = any(of.kind is column.kind or {*of.values} & words for of in self.judges)
        is_named = options.rater or options.judge or is_like
        judge = None if is_named or (is_human and not is_said) else table.judge
        rater = name if (is_person or may_be_name(column)) and not is_said else ""
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
        elif not (is_certain or column.is_whole) and column.n_distinct > REPEATED * column.n_cells:
            reading.refusal = (
                f"{name} holds numbers that hardly repeat, and nothing says that they are ratings",
                f"If they are, pass {option_text(table, 'rating', name)}",
            )
        elif not is_certain:
            reading.doubt_values(column)

    def _people(self) -> list[CodedColumn]:
        """Return the columns of people, with a fork if nothing tells names from criteria."""
        reading, rated, judges = self.reading, self.rated, self.judges
        people = [c for c in rated if self.owners.is_person(c) or may_be_name(c)]
        parts = parts_of_raters([column.name for column in rated])
        names = {c.name: parts.get(c.name, c.name) for c in people}
        certain = [
            c for c in people if self.owners.who_is(c) is Who.HUMAN or is_first_name(names[c.name])
        ]
        words = [c for c in people if c not in certain and is_abstract(names[c.name])]
        if not words and any(is_first_name(names[c.name]) for c in certain):
            return people
        # A csat beside reviewers is called like nobody, and so are retries beside human and judge.
        is_human = len(certain) == 1 and "human" in plain(names[certain[0].name]).split("_")
        if len(certain) > 1 or (is_human and judges and len(people) > 1):
            has_names = any(is_first_name(names[c.name]) for c in certain)
            return [c for c in people if c not in words] if has_names else certain
        # A name has a capital also where other headers have none.
        # Those with a part in common, or as short as Flu and Coh, may be of anything.
        are_proper = not words and all(of.istitle() and len(of) > 3 for of in names.values())
        are_proper &= not any(column.name[:1].isupper() for column in reading.items)
        are_proper &= not distinct_parts([*names.values()])
        if len(people) > 1 and not are_proper:
            columns = {"rating": rated, "judge": judges}
            changed = {of: tuple(c.name for c in named) for of, named in columns.items() if named}
            reading.forks.append(
                (f"{listed_briefly([c.name for c in people])} are raters", changed)
            )
        return people

    def _winner_beside(self) -> str | None:
        """Return the column that says which of two responses, with a score each, is better."""
        if len(self.rated) != 2 or any(not _OF_SIDE.match(plain(c.name)) for c in self.rated):
            return None
        names = [
            of.name for of in self.reading.table.columns if of not in self.rated and of.n_cells
        ]
        return next((name for name in names if _BETTER.search(plain(name))), None)

    def _parts_of_responses(self, rated: Columns) -> list[str]:
        """Return what tells ratings apart as it may responses, such as 1 and 2; empty for names."""
        if not rated or any(map(self.owners.is_chosen, rated)):
            return []
        numbers = [
            c.name for c in self.owners.columns if c.kind is Kind.NUMBER and c is not rated[0]
        ]
        names = [column.name for column in rated]
        ways = [names] if len(names) > 1 else [[*names, name] for name in numbers]
        ends = [re.split(r"[\W_]", name)[-1] for name in names]  # a, and not score_a
        are_ends = len({name.removesuffix(end) for name, end in zip(names, ends, strict=True)}) == 1
        parts = ends if are_ends and len({*ends}) == len(ends) > 1 else []
        parts = parts or next(filter(None, ([*distinct_parts(of).values()] for of in ways)), [])
        return [] if all(map(is_first_name, parts)) else parts

    def _remedy_of_names(self) -> str:
        """Return how to say what columns are: raters, judges, questions of one rater, or items."""
        rated, judges, items = self.rated, self.judges, self.reading.items

        def option(name: str, columns: Columns) -> str:
            return option_text(self.reading.table, name, *(column.name for column in columns))

        rest = f" {option('judge', judges)}" if judges else ""
        remedy = f"If they are raters, pass {option('rater', rated)}{rest}; if "
        people = [column for column in rated if self.owners.who_is(column) is Who.HUMAN]
        unknown = [column for column in rated if column not in people]
        if people and unknown:
            remedy += f"a judge gave {listed_briefly([column.name for column in unknown])}, pass "
            remedy += f"{option('rater', people)} {option('judge', [*unknown, *judges])}"
        else:
            remedy += f"one person rated all, pass {option('rating', rated)}{rest}"
        is_form = len({form_of(of.name) for of in rated} - {"#"}) == 1 < len(rated) - 1
        if len(items) == 1 and (is_form or share_of_people(items[0].values[:50]) > 0.5):
            remedy += f"; if each row is a rater, {option('rater', items)}"
        return f"{remedy}; otherwise add a column of raters"

    def _take_people(self, people: list[CodedColumn], peers: list[CodedColumn]) -> None:
        reading = self.reading
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
        reading.rated += map(judged, programs)
        self._note_strangers([c for c in people if c not in programs], parts)
        for columns, role in ((programs, "a judge"), (peers, "no rater")):
            if columns:
                choice = _are([column.name for column in columns], role)
                reading.forks.append((choice, {"rater": names}))
        reading.not_read |= {column.name: _NOT_ITS_NAME for column in peers}

    def _note_strangers(self, people: Columns, parts: Mapping[str, str]) -> None:
        """Say whom nothing calls a person, beside those who are: a model's name may be any word."""
        stems = [NUMBER_AT_END.sub("", column.name) for column in people]
        strangers = []
        for column in people:
            name = parts.get(column.name, column.name)
            kind = who(name) if column.name in parts else self.owners.who_is(column)
            is_known = kind is Who.HUMAN or is_first_name(name)
            is_alone = is_rating_word(column.name) and stems.count(column.name) == 1
            if is_alone or not is_known or plain(name) in SHARED_NAMES:
                strangers.append(column)
        if 0 < len(strangers) < len(people):
            names = [column.name for column in strangers]
            self.reading.add_doubt(names, count_as_people(names), judge=names)


def _are_numbered(columns: Columns) -> bool:
    """Return whether only a number tells headers apart, of what is no question, item or score."""
    is_open = not any(c.may_be(Role.QUESTION, Role.ITEM, Role.RATING, Role.TEXT) for c in columns)
    forms = {form_of(column.name) for column in columns}
    has_name = all(re.search(r"[^\W\d]{2}", form) for form in forms)
    return len(columns) > 1 == len(forms) and is_open and has_name


def _are(names: Sequence[str], role: str) -> str:
    """Return that names are of a role.

    Examples:
        >>> _are(["gemma"], "a judge"), _are(["gemma", "claude"], "a judge")
        ('gemma is a judge', 'gemma, claude are judges')
    """
    plural = f"{role.removeprefix('a ')}s"
    return f"{listed_briefly(names)} {f'is {role}' if len(names) == 1 else f'are {plural}'}"
