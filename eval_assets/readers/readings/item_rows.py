"""Tables with a row for each item, and a column for each rater, question or judge."""

from dataclasses import dataclass, replace
from itertools import combinations, permutations, product

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
from eval_assets.readers.names import (
    Role,
    Who,
    is_rating_word,
    may_be,
    names_id,
    names_model,
    names_record,
    share_of_criteria,
    share_of_people,
)
from eval_assets.readers.problems import listed_briefly
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.column_owners import ColumnOwners
from eval_assets.readers.readings.header_raters import HeaderRaters
from eval_assets.readers.readings.rated_columns import RatedColumns
from eval_assets.readers.readings.table_reading import (
    MOST_QUESTIONS,
    VALUES_ALONE,
    WHO_RATES,
    Choices,
    Reading,
    option_text,
    question_among,
)

_PARTS = (Role.ITEM, Role.TURN, Role.RUN)


def reading_of_item_rows(
    table: CodedTable, columns: list[CodedColumn], not_read: dict[str, Reason], choices: Choices
) -> Reading | None:
    """Return the roles of the columns of a table whose rows are items; None if none is rated."""
    if choices.rater_column is not None and not choices.raters_of_columns:
        return None
    owners = ColumnOwners(table, columns, choices)
    rated = RatedColumns(table, choices, owners, not_read)
    rated.find()
    return _ItemRows(table, choices, owners, rated).reading() if rated.of_one_scale else None


@dataclass(eq=False)
class _ItemRows:
    """A table whose rows are items, with its columns of ratings."""

    table: CodedTable
    choices: Choices
    owners: ColumnOwners
    rated: RatedColumns

    def reading(self) -> Reading:
        """Return the roles of the columns."""
        choices, owners, rated = self.choices, self.owners, self.rated
        people, judges = rated.people, rated.judges
        items = choices.items or self._items_beside()
        problems = rated.odd_cells(items)
        # Columns that an option names as the item hold no question.
        question = choices.question or question_among([] if choices.items else items)
        items = [column for column in items if column is not question]
        reading = Reading(
            table=self.table,
            items=items,
            rated=[],
            question=question,
            not_read=rated.not_read,
            problems=problems,
        )
        HeaderRaters(reading, owners, choices, people, judges).add()
        questions = {of.question for of in reading.rated}
        if question is not choices.question and len(questions) > 1 and None not in questions:
            # Columns that name their question leave none to another column.
            reading.items, reading.question = [*items, *filter(None, [question])], None
        if owners.person and len(people) == 1 and is_rating_word(people[0].name):
            reading.rated = [
                replace(of, rater=owners.person) if of.column is people[0] else of
                for of in reading.rated
            ]
        numbers = (of.name for of in owners.models if of.kind is Kind.NUMBER and of in judges)
        for name in [*numbers][:1]:
            reading.forks.append((f"{name} is a judge", {"model": name}))
        if owners.runs and all(of in judges for of in owners.runs):
            changed = {"rater": tuple(of.name for of in (*people, *owners.runs))}
            names = listed_briefly([of.name for of in owners.runs])
            reading.forks.append((f"{names} are runs of a judge", changed))
        self._refuse_corrections(reading, people, judges)
        self._refuse_systems(reading)
        self._use_sheets(reading)
        self._rate_items(reading)
        self._note_repeated_texts(reading)
        return reading

    def _items_beside(self) -> list[CodedColumn]:
        """Return the columns that name the items; those of another kind than ratings come last."""
        columns, of_one_scale = self.owners.columns, self.rated.of_one_scale
        items = item_columns(self.table, [c for c in columns if c not in self.rated.all])
        asks = any(column.may_be(Role.QUESTION) for column in columns)
        is_open = not items or names_record(items[0].name)
        if is_open and (asks or len(of_one_scale) > 1):
            parts = [c for c in columns if c not in of_one_scale]
            items = item_columns(self.table, [c for c in parts if asks or not c.may_be(Role.RATER)])
        return items

    def _refuse_corrections(self, reading: Reading, people: Columns, judges: Columns) -> None:
        """Refuse ratings that are there only where a judge is wrong: the rest is not known."""
        for person, judge in product(people if len(people) == 1 else (), judges):
            rows = person.has_cell & judge.has_cell
            values, scores = person.texts()[rows], judge.texts()[rows]
            is_partial = 8 <= rows.sum() < judge.n_cells
            if is_partial and not (self.owners.is_chosen(person) or (values == scores).any()):
                option = option_text(self.table, "rater", person.name)
                message = f"{person.name} differs from {judge.name} in each row that has both"
                message += ", as corrections do: what people say of the others is open"
                remedy = "Fill in the rows that people checked, or if they rated these alone, pass"
                reading.refusal = message, f"{remedy} {option}"

    def _refuse_systems(self, reading: Reading) -> None:
        """Refuse columns of models alone beside people, who may have rated what these wrote."""
        models = {of.rater or "" for of in reading.rated if of.is_judge}
        is_open = not any(self.owners.is_chosen(of.column) for of in reading.rated)
        is_open &= reading.refusal is None and reading.is_of_judges
        names = tuple(of.column.name for of in reading.rated)
        for column in self.owners.columns if is_open and len(models) > 1 else ():
            is_rater = column.holds_emails or (
                WHO_RATES.search(plain(column.name)) and column.may_be(Role.RATER)
            )
            are_people = is_rater and share_of_people(column.values[:50]) > 0.5
            if are_people and column.name not in names and all(map(names_model, models)):
                message = f"{column.name} names people, and all ratings are in columns of models"
                rater = option_text(self.table, "rater", column.name)
                rated = option_text(self.table, "rating", *names)
                judge = option_text(self.table, "judge", *names)
                remedy = f"If they rated these, pass {rater} {rated}; if the models rated, {judge}"
                reading.refusal = message, remedy

    def _use_sheets(self, reading: Reading) -> None:
        """Take sheets for questions if columns are raters, or for items if their rows are asked."""
        sheet = next((c for c in self.table.columns if c.origin is Origin.SHEET), None)
        if sheet is None or not all(of.rater and not of.question for of in reading.rated):
            return
        peers = [c for c in self.owners.columns if c is not sheet and c not in self.rated.all]
        items = self.choices.items or item_columns(self.table, peers, within=sheet)
        if not items or n_distinct(combined(items)) == n_distinct(combined([*items, sheet])):
            return  # sheets of different items
        row = items[0]
        are_asked = row.may_be(Role.QUESTION) or share_of_criteria(row.values) > 0.5
        if are_asked and row.n_distinct < sheet.n_distinct and not self.choices.items:
            items, sheet = [sheet], row
        reading.items, reading.question = items, sheet
        reading.likelihood += 3

    def _rate_items(self, reading: Reading) -> None:
        """Prefer tables that name their items; refuse one whose items repeat without raters."""
        reading.likelihood += 0.5 * any(of.may_be(Role.ITEM) for of in reading.items)
        raters = [
            c
            for c in self.owners.columns
            if (c.may_be(Role.RATER) or c.holds_emails)
            and c not in self.rated.all
            and (c.kind is not Kind.NUMBER or c in reading.items)
        ]
        people = [of.column for of in reading.rated if not of.is_judge]
        is_single = len(people) <= 1 or all(
            self.owners.who_is(column) is Who.HUMAN for column in people
        )
        is_part = len(reading.items) > 1 and any(of in raters for of in reading.items)
        choices = {doubt.choice for doubt in reading.doubts}
        if is_part and any(VALUES_ALONE.format(of.name) in choices for of in people):
            reading.refusal = (
                f"{raters[0].name} names who rated, and no column of ratings is found",
                f"Name it with {option_text(self.table, 'rating', 'COLUMN')}",
            )
        if raters and (not is_single or is_part or not reading.items):
            reading.likelihood -= 2
        elif (
            len(people) == 1
            and people[0].may_be(Role.RATING)
            and (is_rating_word(people[0].name) or self.owners.who_is(people[0]) is Who.HUMAN)
        ):
            # Who gave a human_score is named beside it, if several did.
            reading.likelihood -= 0.5 * any(len(c.values) > 1 for c in raters)
        if reading.items:
            return
        reading.likelihood -= 1
        repeated = next(
            (
                column
                for column in self.owners.columns
                if column not in self.rated.all
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

    def _note_repeated_texts(self, reading: Reading) -> None:
        """Say that rows which only their number tells apart are read as items of their own."""
        ratings = [of.column for of in reading.rated if not of.is_judge]
        parts = [
            column
            for column in self.table.columns
            if not (column.may_be(Role.TEXT) or reading.uses(column))
            and (column.kind in (Kind.TEXT, Kind.WORD) or column.may_be(*_PARTS))
        ]
        texts = [of.name for of in parts if of.kind is Kind.TEXT]
        raters = {of.rater or "" for of in reading.rated if not of.is_judge}
        if not texts or len(raters) != 1 or len(reading.items) != 1 or reading.question:
            return
        unit, n_rows = combined(parts), len(self.table)
        if 2 * n_distinct(unit) <= n_rows and share_constant(ratings[0], unit) < 1:
            text = f"the same {listed_briefly(texts)} in several rows, each read as an item"
            reading.add_doubt(texts, text, rater=["X"])


def item_columns(
    table: CodedTable, columns: Columns, *, within: CodedColumn | None = None
) -> list[CodedColumn]:
    """Return the columns that name each row, with a sheet if the rows are within it; or none."""
    base = [] if within is None else [within]
    ids = [
        column
        for column in columns
        if (column.origin is not Origin.POSITION or column.may_be(Role.TURN))
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
    # Tokens or seconds may differ in all rows, and name none; with them, any column would.
    measures = [
        column
        for column in ids
        if column.may_be(Role.MEASURE)
        and (
            not column.may_be(Role.ITEM)
            or may_be(plain(column.name).rpartition("_")[2], Role.MEASURE)
        )
    ]
    names = [of for of in full if of not in measures]
    if names and all(names_record(of.name) for of in names):
        # What was rated may repeat beside the ids of its ratings, once with each question or run.
        parts = [of for of in ids if of not in full and of.n_cells == n_rows]
        for item, part in permutations(parts, 2):
            n_pairs = n_distinct(combined([item, part]))
            is_key = n_pairs == n_rows == item.n_distinct * part.n_distinct
            if item.may_be(Role.ITEM) and is_key and part.n_distinct <= MOST_QUESTIONS:
                return [item, part]
    if names:
        return [
            min(
                names,
                key=lambda column: (
                    names_record(column.name),
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
    varied = [of for of in measures if 2 * of.n_distinct > n_rows]
    pool = [c for c in ids if c.kind is not Kind.TEXT or c.may_be(Role.ITEM)]
    pool = [column for column in pool if column not in varied][:8]
    for depth in (2, 3, 4):
        keys = [
            list(columns)
            for columns in combinations(pool, depth)
            if n_distinct(combined(columns)) >= 0.995 * n_rows
        ]
        if keys:
            roles = (Role.ITEM, Role.TURN, Role.SYSTEM)
            return max(keys, key=lambda key: sum(column.may_be(*roles) for column in key))
    # Up to a tenth of the rows are second ones of an item; those of a prompt are other responses.
    nearly = (c for c in pool if c.may_be(Role.ITEM) and not c.may_be(Role.GROUP))
    nearly = (c for c in nearly if c.n_cells == n_rows and c.n_distinct >= 0.9 * n_rows)
    return list(nearly)[:1]
