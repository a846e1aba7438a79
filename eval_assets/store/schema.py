"""Tables of schema.sql, with the comments on their columns."""

import re
from functools import cache
from importlib import resources

from eval_assets.store.figures import figure_comments, figure_views

_FIGURE_VIEWS = "-- {views on figures}"


@cache
def schema() -> str:
    """Return the text of schema.sql with the views on `figures`."""
    text = resources.files("eval_assets.store").joinpath("schema.sql").read_text("utf-8")
    return text.replace(_FIGURE_VIEWS, figure_views())


@cache
def column_comments() -> tuple[tuple[str, str, str], ...]:
    """Return table, column and comment of every column that has one."""
    comments = list(figure_comments())
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
