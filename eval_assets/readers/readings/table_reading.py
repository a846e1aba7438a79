"""A reading of a table, and what all ways of reading one start from."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from shlex import quote

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.columns import (
    CodedColumn,
    CodedTable,
    Columns,
    Kind,
    Origin,
    combined,
    n_distinct,
)
from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import Role, Who, is_first_name, names_model, share_of_criteria
from eval_assets.readers.problems import input_error
from eval_assets.readers.rating_tables import Doubt, ReadOptions, Reason
from eval_assets.readers.references import KEY_COLUMNS, RESPONSE_ID
from eval_assets.readers.values import are_yes_or_no

FRAME = "data frame"
"""Name of a source that is no file, whose remedies name arguments in place of options."""


MODELS = ("model", "modell", "modele", "modelo", "modello", "bot", "system")
"""Headers of a model's ratings, where people's stand beside them."""


ATTRIBUTE = Reason("an attribute")
BY_NAME = Reason("a measurement or attribute by its name")
BESIDE = Reason("beside the records that hold ratings", is_attribute=False)
FREE_TEXT = Reason("free text")
OF_ITEM = Reason("equal for all raters of an item: an attribute")
METRIC = Reason("computed by a program", is_told=True)
REFERENCE = Reason("a reference or a summary beside the ratings of people", is_attribute=False)
UNLIKE = Reason("values of another kind than the ratings", is_told=True)
EMPTY = Reason("empty", is_attribute=False)
WHO_RATES = re.compile(r"annotat|rat(er|ed)|review|label|coder|worker|evaluat|assess|grade|scored")
VALUES_ALONE = "only its values say that {} holds ratings"


@dataclass(eq=False)
class RatedColumn:
    """A column of ratings; what it does not name, a column of the table names row by row."""

    column: CodedColumn
    rater: str | None = None
    question: str | None = None
    item: str | None = None
    run: str = ""
    is_judge: bool = False


@dataclass(eq=False, kw_only=True)
class Reading:
    """Roles of the columns of a table.

    Args:
        table: The table.
        items: Columns that name the item together; empty if each row, or each column, is one.
        rated: Columns of ratings.
        rater: CodedColumn of the raters.
        question: CodedColumn of the questions.
        run: CodedColumn that tells runs of a judge apart.
        round: CodedColumn of the rounds, of which the latest counts.
        time: CodedColumn of the times of the ratings.
        judges_only: Whether the rater column names judges, whatever they are called.
        judges: Those of its names that another column calls a machine.
        people_only: Whether it names people, whatever they are called.
        not_read: Reason why a column is not read.
        forks: Options of other readings that the values allow, with what was chosen instead.
        doubts: Choices whose other reading is not tried.
        notes: What was guessed.
        problems: Cells that are no ratings in columns of raters.
        refusal: What the table leaves open, and the remedy; None if it can be read.
        likelihood: Score by which readings of a table, and of tables of one file, are compared.
    """

    table: CodedTable
    items: list[CodedColumn]
    rated: list[RatedColumn]
    rater: CodedColumn | None = None
    question: CodedColumn | None = None
    run: CodedColumn | None = None
    round: CodedColumn | None = None
    time: CodedColumn | None = None
    judges_only: bool = False
    judges: frozenset[str] = frozenset()
    people_only: bool = False
    not_read: dict[str, Reason] = field(default_factory=dict)
    forks: list[tuple[str, Mapping[str, tuple[str, ...] | str]]] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[InputProblem] = field(default_factory=list)
    refusal: tuple[str, str] | None = None
    likelihood: float = 0.0

    @property
    def is_of_judges(self) -> bool:
        """Whether all ratings are those of judges."""
        return self.judges_only or all(of.is_judge for of in self.rated)

    @property
    def names_raters(self) -> bool:
        """Whether a column or a header says who rated; a position in a list does not."""
        is_named = self.rater is not None and self.rater.origin is not Origin.POSITION
        return is_named or any(of.rater for of in self.rated)

    def uses(self, column: CodedColumn) -> bool:
        """Return whether a column has a role."""
        roles = [self.rater, self.question, self.run, self.round, self.time, *self.items]
        names = {rated.column.name for rated in self.rated}
        return column.name in names or any(column is of for of in roles)

    def add_doubt(self, columns: Sequence[str], choice: str, **option: Sequence[str]) -> None:
        """Add a choice on columns whose other reading is not tried, with an option for that."""
        texts = (option_text(self.table, name, *values) for name, values in option.items())
        self.doubts.append(Doubt(tuple(columns), choice, " ".join(texts)))

    def doubt_values(self, column: CodedColumn) -> None:
        """Say that nothing but its values says what a column holds; refuse a blank sheet."""
        text = VALUES_ALONE.format(column.name)
        self.add_doubt([column.name], text)
        blank = next((of.name for of in self.table.columns if of.is_left_blank), "")
        if blank:
            option = option_text(self.table, "rating", column.name)
            remedy = f"Fill it in, or if {column.name} holds ratings, pass {option}"
            self.refusal = f"{blank} is empty, and {text}", remedy

    def name_the_rest(self) -> None:
        """Give a reason for each column that has no role and none yet."""
        self.not_read = {
            name: reason
            for name, reason in self.not_read.items()
            if (column := self.table.find(name)) is None or not self.uses(column)
        }
        reasons = {Kind.TEXT: FREE_TEXT, Kind.TIME: Reason("a time"), Kind.EMPTY: EMPTY}
        for column in self.table.columns:
            if not (self.uses(column) or column.origin or column.name in self.not_read):
                self.not_read[column.name] = reasons.get(column.kind, ATTRIBUTE)


@dataclass(frozen=True, eq=False)
class Choices:
    """Columns of a table that options name.

    `raters` and `judges` hold the columns; names of raters in a column leave them empty, and that
    column is `names`; names that are parts of headers are `parts`.
    """

    table: CodedTable
    options: ReadOptions
    items: list[CodedColumn]
    raters: list[CodedColumn]
    judges: list[CodedColumn]
    ratings: list[CodedColumn]
    question: CodedColumn | None
    group: CodedColumn | None
    model: CodedColumn | None
    run: CodedColumn | None
    names: CodedColumn | None
    parts: tuple[str, ...]

    @classmethod
    def of(cls, table: CodedTable, options: ReadOptions) -> "Choices":
        """Return the columns that options name, as far as the table has them."""

        def columns(names: Sequence[str]) -> list[CodedColumn]:
            return [column for name in names if (column := table.find(name)) is not None]

        def column(name: str | None) -> CodedColumn | None:
            return table.find(name) if name else None

        named = [
            *([] if columns(options.rater) else options.rater),
            *([] if columns(options.judge) else options.judge),
        ]
        folded = {name.casefold() for name in named}
        holders = [c for c in table.columns if named and folded <= {*map(str.casefold, c.values)}]
        holders.sort(key=lambda c: (not c.may_be(Role.RATER), c.may_be(Role.TEXT)))
        holder = next(iter(holders), None)
        return cls(
            table,
            options,
            columns(options.item),
            columns(options.rater),
            columns(options.judge),
            columns(options.rating),
            column(options.question),
            column(options.group),
            column(options.model),
            column(options.run),
            holder,
            () if holder is not None or columns(options.rater) else options.rater,
        )

    @cached_property
    def rater_column(self) -> CodedColumn | None:
        """CodedColumn of raters or judges that options name."""
        if self.names is not None:
            return self.names
        single = [of[0] for of in (self.raters, self.judges) if len(of) == 1]
        return next(filter(self._holds_names, single), None)

    def _holds_names(self, column: CodedColumn) -> bool:
        """Return whether a column holds names: if it could hold ratings, others beside it do."""
        peers = [of for of in self.table.columns if of is not column]
        ratings = self.ratings or [of for of in peers if of.can_rate]
        values = {value for of in ratings for value in of.rating_words}
        is_unlike = not values.issuperset(column.rating_words)
        is_rater = column.may_be(Role.RATER) or self._tells_rows_apart(column)
        if not column.can_rate or not self.ratings:
            is_of_words = column.kind is Kind.WORD and column.order is None
            return not column.can_rate or (bool(ratings) and is_rater and is_unlike and is_of_words)
        return column not in ratings and (is_rater or is_unlike)

    def _tells_rows_apart(self, column: CodedColumn) -> bool:
        """Return whether a column has one row for each value, or pair, of others that repeats."""
        items = [of for of in self.table.columns if of is not column and not of.can_rate]
        words = [of for of in self.table.columns if of is not column and of.kind is Kind.WORD]
        keys = [*((of,) for of in items), *product(items[:_MOST_PARTS], words[:_MOST_PARTS])]
        return any(
            1 < n_distinct(combined(key)) < len(self.table) == n_distinct(combined([*key, column]))
            for key in keys
        )

    @cached_property
    def raters_of_columns(self) -> list[CodedColumn]:
        """Columns of ratings by one rater or judge each."""
        return [c for c in (*self.raters, *self.judges) if c is not self.rater_column]

    @cached_property
    def rating_columns(self) -> list[CodedColumn]:
        """Columns that options say hold ratings: named as such, or each of a rater or judge."""
        return [*self.ratings, *self.raters_of_columns]

    def takes(self, column: CodedColumn) -> bool:
        """Return whether an option gives a role to the column."""
        single = [self.question, self.group, self.model, self.run, self.rater_column]
        named = [*self.items, *self.rating_columns, *single]
        return any(column is of for of in named)


_MOST_PARTS = 8
"""Columns of either kind of which pairs are tried as keys."""

_KEYS = (*KEY_COLUMNS[1:], "model")
"""Columns that name a response together, beside its indicator, which is the question."""


def with_names_of_runs(table: CodedTable, options: ReadOptions) -> ReadOptions:
    """Return options with the columns of labels and scores of evaluation folders.

    Their names are certain where all of them are there, and decide in files of few rows.
    """

    def first(*names: str) -> str | None:
        return next((c.name for name in names if (c := table.find(name)) is not None), None)

    rater, rating = first("rater_id", "judge_model"), first("rating", "score", "aiescore")
    item, indicator = first(*RESPONSE_ID), first("indicator_id")
    keys = tuple(c.name for name in _KEYS if (c := table.find(name)) is not None)
    named_raters = (*options.rater, *options.judge)
    names_columns = any(table.find(name) is not None for name in named_raters)
    names_roles = options.item or options.rating or names_columns
    question = first("question_id") or (indicator if item is None else None)
    items = (item,) if item is not None else keys
    if rating is not None and rating == first("aiescore") and items and not names_roles:
        return replace(options, item=items, judge=(*options.judge, rating), question=question)
    if names_roles or options.question or None in (rater, rating, question) or not items:
        return options
    named = filter(None, map(table.find, filter(None, (*items, rater, question))))
    if 1.5 * n_distinct(combined([*named])) < len(table):
        return options  # further columns say what was rated
    raters = (str(rater), *options.rater)
    return replace(options, item=items, rater=raters, rating=(str(rating),), question=question)


def names_file(options: Iterable[str], file: str) -> bool:
    """Return whether one of some options names a file, by its path, name or stem."""
    name, stem = Path(file).name, Path(file).stem
    return any(of in (file, stem) or Path(of).name == name for of in options)


_LONGEST_VALUE = 80
"""Characters of a rating from which on a remedy does not repeat it."""


def option_text(table: CodedTable, name: str, *values: str) -> str:
    """Return an option as the user writes it: of a command, or of a call in a notebook.

    Examples:
        >>> from eval_assets.readers.formats.table import FileColumn
        >>> option_text(CodedTable([], FileColumn.of([FRAME]), [1]), "item", "Ticket ID")
        'item="Ticket ID"'
    """
    if name == "missing-values":  # such as a number of 400 digits
        values = tuple("VALUE" if len(value) > _LONGEST_VALUE else value for value in values)
    if table.file == FRAME:
        text = json.dumps(values[0] if len(values) == 1 else list(values), ensure_ascii=False)
        return f"{name.replace('-', '_')}={text}"
    return f"--{name} {quote(','.join(values))}"


def refused(file: str, message: str, remedy: str) -> ExceptionGroup[InputError]:
    """Return the error of a file as a whole."""
    return ExceptionGroup("the ratings cannot be read", [input_error(file, message, remedy)])


def row_numbers(column: CodedColumn) -> npt.NDArray[np.float64]:
    """Return the number in each row, NaN without one."""
    numbers: npt.NDArray[np.float64] = np.append(column.numbers, np.nan)[column.codes]
    return numbers


_SIDE = re.compile(r"((?<!\d)1|(?<![^\W_])(?:a|first|left))(?![^\W_])")
_OTHER_SIDES = {"1": "2", "a": "b", "first": "second", "left": "right"}


def responses_side_by_side(table: CodedTable) -> bool:
    """Return whether a table has two columns of texts that only their side tells apart."""
    names = {plain(of.name) for of in table.columns if of.kind is Kind.TEXT}
    return any(
        _SIDE.sub(lambda side: _OTHER_SIDES[side[1]], name) in names - {name} for name in names
    )


def texts_with_parts(table: CodedTable, names: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Return texts that parts tell apart as they do some names: query1 and query2 for 1 and 2."""
    texts = [
        column.name
        for column in table.columns
        if column.kind in (Kind.TEXT, Kind.WORD)
        and not (column.name in names or column.may_be(Role.TEXT))
        and not (column.can_rate and column.who is Who.JUDGE)
    ]
    if not parts:
        return []
    place = re.compile(r"(?<!\w){0}(?![^\W_])|{0}$".format(re.escape(parts[0])))
    alike = ([place.sub(part, name) for part in parts] for name in texts if place.search(name))
    return next((names for names in alike if {*names} <= {*texts}), [])


def doubt_texts(reading: Reading, names: Sequence[str], parts: Sequence[str]) -> None:
    """Say that columns may each rate a text, if the same parts tell texts apart."""
    if texts := texts_with_parts(reading.table, names, parts):
        text = f"{names[0]} is named like {texts[0]}; if each such column rates one text"
        reading.add_doubt([names[0], texts[0]], f"{text}, write a row for each")


MOST_QUESTIONS = 40
"""Values of a column up to which they may be what one form asks."""

NUMBER_AT_END = re.compile(r"([ _.#(\[-]*\d+|[ _.#(-][A-Za-z])[\])]*$")
"""A number, or a letter on its own, that tells names apart."""

PANEL = re.compile(r"judge[ _-]?(\d+|[a-z])", re.IGNORECASE)
NUMBER_OF_PERSON = re.compile(r"\d{5,}$")
"""A header that is the number of a student or a worker, as 22210036."""


def form_of(header: str) -> str:
    """Return a header with one sign for each number: A#_# of A101_07."""
    return re.sub(r"\d+", "#", header)


def question_among(parts: Columns, rows: npt.NDArray[np.bool_] | None = None) -> CodedColumn | None:
    """Return the part of an item that says what was asked; None if no part of several does.

    It holds few words, all of which occur with each item in the `rows` of ratings.
    """
    if len(parts) <= 1:
        return None
    rows = np.ones(len(parts[0]), dtype=bool) if rows is None else rows
    questions = []
    for column in parts:
        n_values = n_distinct(column.codes[rows])
        n_items = n_distinct(combined([of for of in parts if of is not column])[rows])
        is_full = n_distinct(combined(parts)[rows]) >= 0.8 * n_items * n_values
        is_named, is_key = column.may_be(Role.QUESTION), column.origin is Origin.KEY
        is_other = column.may_be(Role.TURN, Role.RUN, Role.ROUND)
        are_numbers = n_items < n_values and all(of[-1:].isdigit() for of in column.values)  # q1
        if is_key and not are_numbers and share_of_criteria(column.values) > 0.5:
            questions.append(column)
        elif n_values > MOST_QUESTIONS or is_other:
            continue
        elif not is_full:
            questions += [column] * (is_named and n_items > 2 * n_values)
        elif n_items >= n_values and (is_named or _may_be_asked(column, parts)):
            questions.append(column)
    return min(questions, key=lambda c: (not c.may_be(Role.QUESTION), c.n_distinct), default=None)


def _may_be_asked(column: CodedColumn, parts: Columns) -> bool:
    """Return whether a part of the item that is not called like one may be what was asked.

    What each list below the items calls its parts may be called like an item.
    """
    is_numbered = len({NUMBER_AT_END.sub("", value) for value in column.values}) == 1
    # Words in letters without case count as names elsewhere, and may be criteria.
    are_people = all(of.lower() != of.upper() and is_first_name(of) for of in column.values)
    are_names = are_people or any(map(names_model, column.values))
    is_item = bool(column.origin) or column.may_be(Role.ITEM, Role.RATER, Role.GROUP)
    is_item &= share_of_criteria(column.values) <= 0.5  # keys, and files, may be criteria
    above = [of.level for of in parts if of is not column]
    is_item &= column.level <= max(above) or min(map(len, column.values)) == 1
    is_of_item = column.may_be(Role.SYSTEM) or (column.origin is not Origin.KEY and is_item)
    is_flag = are_yes_or_no(column.values)
    return column.kind is Kind.WORD and not (is_numbered or are_names or is_of_item or is_flag)


def likely_rated(columns: Columns) -> list[CodedColumn]:
    """Return the columns that may rate but a project, costs, flags and a category.

    These have one value, are measures by name, or hold words that no other column has.
    """
    aside = Role.MEASURE, Role.FLAG
    likely = [of for of in columns if of.n_distinct > 1 and not of.may_be(*aside)]
    n_columns = Counter(value for column in likely for value in column.values)
    return [
        column
        for column in likely
        if column.kind is not Kind.WORD
        or column.order is not None
        or any(n_columns[value] > 1 for value in column.values)
    ]


def deepest_level(columns: Columns) -> int:
    """Return the deepest level that holds ratings: what lies above are attributes of the item.

    That is the only safe defence against a model's suggestion with which every rater agrees.
    """
    return max((column.level for column in columns if column.can_rate), default=0)
