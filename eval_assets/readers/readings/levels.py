"""Ratings on several levels: a judge's of an item beside people's, and theirs beside its runs."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eval_assets.readers.columns import (
    BLANK,
    CodedColumn,
    Columns,
    Kind,
    combined,
    n_distinct,
    once_in,
    share_constant,
)
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import owner_and_field
from eval_assets.readers.names import Role, Who, is_rating_word, names_judge, names_model, who
from eval_assets.readers.rating_tables import Reason
from eval_assets.readers.readings.shared_criteria import columns_by_criterion
from eval_assets.readers.readings.table_reading import OF_ITEM, Choices, RatedColumn, Reading
from eval_assets.readers.values import are_yes_or_no


def split_levels(reading: Reading, choices: Choices) -> None:
    """Count what a table repeats in several rows of an item once.

    Beside ratings of people these are a judge's scores of the item; beside the runs of a judge, or
    the ratings of several judges, they are the ratings of people.
    """
    _separate_runs(reading, choices)
    unit = combined([*reading.items, *filter(None, [reading.question])]) if reading.items else None
    if unit is None:
        return
    level, only = max(of.column.level for of in reading.rated), choices.options.only
    rated = [of for of in reading.rated if of.question in only] or reading.rated
    first = rated[0]
    known = {of.column.name for of in reading.rated}
    repeated = [
        column
        for column in reading.table.columns
        if column.can_rate
        and (column.level < level or reading.not_read.get(column.name) == OF_ITEM)
    ]
    questions = list(dict.fromkeys(of.question or "" for of in rated))
    of_judges = reading.is_of_judges
    scores = [
        of
        for of in repeated
        if of.who is Who.JUDGE
        and any(_is_like(of, peer.column) for peer in rated)
        and (of.may_be(Role.RATING) or not of.may_be(Role.MEASURE))
    ]
    scores = _of_people(repeated, first) if of_judges else scores
    is_open = not (of_judges or all(judge_of_question(of.name, questions) for of in scores))
    shared = columns_by_criterion([of.column for of in rated], scores) if is_open else []
    criteria = {of.column.name: of for of in shared}
    for of in rated:
        of.question = criteria[of.column.name].question if criteria else of.question
    chosen = [of for of in choices.judges if of.name not in known and of is not reading.rater]
    for column in dict.fromkeys([*scores, *chosen]):
        question = first.question
        rater = _rater_of(column.name, of_judges=of_judges)
        of_rows = reading.question
        possible = questions if of_rows is None else of_rows.values
        if column.name in criteria:
            rater, question = criteria[column.name].rater or "", criteria[column.name].question
        elif len(possible) > 1:
            named = judge_of_question(column.name, possible)
            if named is None:
                text = f"which may score any of {len(possible)} questions; --only names one"
                reading.not_read[column.name] = Reason(text, is_told=True)
                continue
            rater, question = named
        first_cells = once_in(column, unit)
        if of_rows is not None and len(possible) > 1:  # which it repeats in the rows of each
            is_own = np.array([of == question for of in of_rows.values] + [False])[of_rows.codes]
            first_cells = replace(first_cells, codes=np.where(is_own, first_cells.codes, BLANK))
        reading.rated.append(
            RatedColumn(first_cells, rater=rater, question=question, is_judge=not of_judges)
        )
        reading.not_read.pop(column.name, None)


def _rater_of(header: str, *, of_judges: bool) -> str:
    """Return whom a header names, or an object that has it as a field."""
    owner, name = owner_and_field(header)  # gpt-4o.label, humans.anna
    if of_judges:
        return header if is_rating_word(name) else name
    if names_model(name) and not names_model(owner):
        return name
    if who(owner) is not Who.JUDGE:
        return header
    is_name = names_judge(name) and not is_rating_word(name)
    of_list = is_name and plain(owner) in ("judge", "judges", "llm", "llms")
    return name if of_list else owner


def _of_people(columns: Columns, rated: RatedColumn) -> list[CodedColumn]:
    """Return the columns called like people; names say so only of several with these values."""
    alike = [column for column in columns if _is_like(column, rated.column)]
    values = set(rated.column.values)
    names = [c for c in alike if c.who is Who.PERSON and {*c.rating_words} <= values]
    names = [column for column in names if column.n_distinct > 1]
    return [c for c in alike if c.who is Who.HUMAN or (c in names and len(names) > 1)]


def _separate_runs(reading: Reading, choices: Choices) -> None:
    """Take a part of the item, in which people's ratings repeat, for what tells scores apart."""
    people = [of for of in reading.rated if not of.is_judge]
    judges = [of for of in reading.rated if of.is_judge]
    parts = sorted(reading.items, key=lambda column: not column.may_be(Role.RUN))
    for part in [choices.run] if choices.run else parts:
        items = [column for column in reading.items if column is not part]
        if reading.rater or not items or not judges:
            continue
        unit = combined(items)
        constant = [share_constant(of.column, unit) for of in people]
        is_run = part is choices.run or part.may_be(Role.RUN) or are_yes_or_no(part.values)
        # From ten items on it is no chance that people's ratings repeat in a part.
        is_version = len(part.values) <= 6 and n_distinct(unit) >= 10
        if any(share < 1 for share in constant) or not (is_run or (is_version and constant)):
            continue
        reading.items = items
        for of in people:
            of.column = once_in(of.column, unit)
        if is_run:
            reading.run = part
        else:
            reading.rated = people
            for code, version in enumerate(part.values):
                for of in judges:
                    codes = np.where(part.codes == code, of.column.codes, BLANK)
                    column, rater = replace(of.column, codes=codes), f"{of.rater} {version}"
                    reading.rated.append(replace(of, column=column, rater=rater))
            reading.not_read[part.name] = Reason("in the names of judges")
        return


def ratings_on_other_levels(candidates: Sequence[Reading]) -> list[Reading]:
    """Return the ratings of the others in another list of a document than the likeliest has.

    These are judges' scores beside people's ratings, and people's beside those of judges.
    """
    best = candidates[0]
    kinds = set() if best.rater is None else {who(of) is Who.JUDGE for of in best.rater.values}
    if len(kinds) > 1:
        return []  # its list has both
    known = {owner_and_field(of.column.name)[1] for of in best.rated if of.rater}
    known |= {of.column.name for of in best.rated}
    for other in candidates[1:]:
        first, last = sorted(of.table.sheet for of in (best, other))
        # Another list may have the same fields.
        is_apart = first != "" and not f"{last}.".startswith(f"{first}.")
        rated = [
            of
            for of in other.rated
            if (is_apart or of.column.name not in known)
            and _is_like(of.column, best.rated[0].column)
            and (other.judges_only or of.is_judge) is not best.is_of_judges
        ]
        if best.is_of_judges and not other.rater:
            people = _of_people([of.column for of in rated], best.rated[0])
            rated = [of for of in rated if of.column in people]
        shares_items = {c.name for c in other.items} & {c.name for c in best.items}
        if other.table is not best.table and rated and not other.refusal and shares_items:
            questions = {of.question for of in best.rated}
            if len(questions) == len({of.question for of in rated}) == 1 and not other.question:
                rated = [replace(of, question=best.rated[0].question) for of in rated]
            other.rated = rated
            return [other]
    return []


def judge_of_question(header: str, questions: Sequence[str]) -> tuple[str, str] | None:
    """Return the judge and the question of a header such as judge_tone; None if it names none.

    Examples:
        >>> judge_of_question("llm_tone", ["tone", "grammar"])
        ('llm', 'tone')
    """
    name = plain(header)
    named = [
        question
        for question in questions
        if re.search(rf"(^|_){re.escape(plain(question))}(_|$)", name) and plain(question) != name
    ]
    if len(named) != 1:
        return None
    owner, field = owner_and_field(header)
    if owner and plain(field) == plain(named[0]):
        return owner_and_field(owner)[1], named[0]
    return re.sub(rf"_?{re.escape(plain(named[0]))}_?", "", name) or "judge", named[0]


def _is_like(score: CodedColumn, rating: CodedColumn) -> bool:
    """Return whether scores may mean what ratings do: numbers, ordered words, or the same words."""
    words = {word.casefold() for word in score.rating_words}
    is_same = bool(words & {word.casefold() for word in rating.rating_words})
    is_ordered = score.order is not None and len(words) > 1
    return score.kind is Kind.NUMBER or is_ordered or is_same
