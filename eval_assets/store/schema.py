"""The tables, as schema.sql declares them, with its comments on their columns."""

import re
from functools import cache
from importlib import resources

from eval_assets.statistics import STATISTICS


@cache
def schema() -> str:
    """Return the text of schema.sql."""
    return resources.files("eval_assets.store").joinpath("schema.sql").read_text("utf-8")


@cache
def column_comments() -> tuple[tuple[str, str, str], ...]:
    """Return table, column and comment of every column that schema.sql or a statistic explains."""
    comments = [
        (table, statistic.column, statistic.meaning)
        for table, statistics in STATISTICS.items()
        for statistic in statistics
    ]
    table = ""
    for line in schema().splitlines():
        if created := re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", line):
            table = created[1]
        elif described := re.match(r"\s+\"?(\w+)\"? [^-]*-- (.+)", line):
            comments.append((table, described[1], described[2]))
    return tuple(comments)


@cache
def table_names() -> tuple[str, ...]:
    """Return the names of all tables and views that schema.sql declares, sorted."""
    declared = r"CREATE (?:TABLE IF NOT EXISTS|OR REPLACE VIEW) (\w+)"
    return tuple(sorted(re.findall(declared, schema())))
