"""Tables of a terminal have 80 columns, in a pipe too."""

import math
from dataclasses import replace

from eval_assets.shown.blocks import Column, Table, humans_table, text_cell, text_table
from eval_assets.shown.terminal import WIDTH, table_lines
from tests.unit.cases import QUESTIONS, Case, Measured

LONG = " ".join(["word"] * 100)
CLARITY, SAFE = QUESTIONS


def test_a_long_text_is_wrapped_and_numbers_stay_whole() -> None:
    rows = [(LONG, "0.123"), ("[b]x", "10")]
    head, *lines = table_lines(text_table("Title", ("name", "n"), rows, numbers=("n",)))

    assert head.split() == ["name", "n"]
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines).split().count("word") == 100
    assert lines[0].endswith("0.123")


def test_a_wide_column_is_left_out() -> None:
    columns = (Column("a", "a"), Column("b", "b", is_wide=True), Column("c", "c", is_number=True))
    row = (text_cell("left"), text_cell("middle"), text_cell("1"))

    assert table_lines(Table("", columns, (row,))) == ["a     c", "left  1"]


def test_figures_are_printed_with_their_intervals() -> None:
    case = Case(measured=(Measured(CLARITY, alpha=math.nan), Measured(SAFE)))
    table = humans_table(case.humans())

    head, *lines = table_lines(table)
    assert table.name == "Human agreement: 480 ratings by 3 raters"
    assert head.split() == [
        *["question", "A^HH", "Krippendorff's", "alpha", "rated", "twice", "groups"]
    ]
    [row] = [line for line in lines if line.startswith("clarity")]
    assert row.split() == ["clarity", "0.88", "(0.84-0.92)", "--", "80", "80"]


def test_without_ratings_there_is_a_line_instead_of_a_table_of_dashes() -> None:
    table = humans_table([replace(row, n_ratings=0, n_pairs=0) for row in Case().humans()])

    assert (table.name, table.rows) == ("Human agreement: nothing is rated.", ())
