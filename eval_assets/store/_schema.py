"""The tables, as schema.sql declares them, with its comments on their columns."""

import re
from functools import cache
from importlib import resources


@cache
def schema() -> str:
    """Return the text of schema.sql."""
    return resources.files("eval_assets.store").joinpath("schema.sql").read_text("utf-8")


@cache
def column_comments() -> tuple[tuple[str, str, str], ...]:
    """Return every comment beside a column of schema.sql: table, column and comment."""
    comments: list[tuple[str, str, str]] = []
    table = ""
    for line in schema().splitlines():
        if created := re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", line):
            table = created[1]
        elif described := re.match(r"\s+\"?(\w+)\"? [^-]*-- (.+)", line):
            comments.append((table, described[1], described[2]))
    return tuple(comments)
