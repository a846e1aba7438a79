"""Options that name what no file has, or that change nothing."""

from collections.abc import Sequence

from eval_assets.errors import InputProblem, raise_all
from eval_assets.readers.columns import CodedTable, Origin
from eval_assets.readers.formats.table import plain
from eval_assets.readers.header_parts import crossed_parts, distinct_parts, with_shared_parts
from eval_assets.readers.problems import nearest
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.readings.table_reading import names_file, option_text

_MOST_RATERS = 20_000
"""Values of a column from which on they are no names of raters."""


def check_names(
    options: ReadOptions, table: CodedTable, tables: Sequence[CodedTable], files: Sequence[str]
) -> None:
    """Raise an error for each name in the options that no file has; `table` is for messages.

    Raises:
        ExceptionGroup: Of an InputError for each.
    """
    names = [column.name for table in tables for column in table.columns]
    known = {plain(name) for name in names} | {origin.value for origin in Origin}
    raters = _possible_raters(tables) if options.rater or options.judge else set()
    problems = []
    roles = {plain(name) for _, name in options.named("item", "rater", "judge", "rating")}
    for name in (name for name in options.ignore if plain(name) in roles):
        message = f"{name} is ignored, and another option gives it a role"
        problems.append(InputProblem(table.file, None, None, message, "Keep one of the two"))
    of_raters = ("rater", "judge")
    of_columns = ("item", "rating", "ignore", "question", "model", "group", "run")
    for option, name in options.named(*of_columns, *of_raters):
        of_file = any(names_file([name], file) for file in files)
        is_rater = option in of_raters and (name.casefold() in raters or of_file)
        if plain(name) not in known and not is_rater:
            message = f"{option_text(table, option, name)}: there is no such column"
            message += " or rater" * (option in of_raters)
            remedy = nearest(name, list(dict.fromkeys(names))[:20])
            problems.append(InputProblem(table.file, None, None, message, remedy))
    raise_all(problems, source="the options")


def _possible_raters(tables: Sequence[CodedTable]) -> set[str]:
    """Return values of columns, and parts of headers, without case."""
    columns = [of for table in tables for of in table.columns if len(of.values) <= _MOST_RATERS]
    raters = {value for of in columns for value in of.values}
    headers = [[of.name for of in table.columns if of.can_rate] for table in tables]
    headers += [[*filter(with_shared_parts(of).__contains__, of)] for of in headers]
    raters |= {part for of in headers for pair in crossed_parts(of) for part in pair}
    raters |= {part for of in headers for part in distinct_parts(of).values()}
    return {*map(str.casefold, raters)}


def check_effects(options: ReadOptions, table: CodedTable, result: RatingTables) -> None:
    """Raise an error for each option that changed nothing; `table` is for messages.

    Raises:
        ExceptionGroup: Of an InputError for each.
    """
    names = {role: {*map(plain, of)} for role, of in result.columns.items()}
    if not result.scores["run"].astype(bool).any():  # people have none
        names["run"] = set()
    frames = {"rater": result.ratings, "judge": result.scores}
    problems = []
    for role, name in options.named("item", "rater", "judge", "rating", "question", "run"):
        effects, files = names[role], list[str]()
        if role in frames:
            rated_by = [*map(str, frames[role][role].unique())]
            files = [*map(str, frames[role]["file"].unique())]
            effects = effects | {*map(plain, rated_by)}
            effects |= {plain(of) for column in names[role] for of in rated_by if of in column}
        is_file = any(names_file([name], file) for file in files)
        if plain(name) in effects or is_file or options.only:
            continue
        message = f"{option_text(table, role, name)} changes nothing in this reading"
        if reason := result.not_read.get(f"{table.file}:{name}"):
            message += f": {name}, {reason.text}"
        remedy = "Leave it out, or say more with other options"
        problems.append(InputProblem(table.file, None, None, message, remedy))
    raise_all(problems, source="the options")
