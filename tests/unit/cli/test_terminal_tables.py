"""Tables of the terminal have 80 columns, in a pipe too."""

import math
from dataclasses import replace

import pytest

from eval_assets.cli.terminal_tables import print_humans, print_table
from eval_assets.shown.terminal import WIDTH
from tests.unit.cases import QUESTIONS, Case, Measured

LONG = " ".join(["word"] * 100)
CLARITY, SAFE = QUESTIONS


def test_a_long_text_is_wrapped_and_numbers_stay_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table("Title", ("name", "n"), [(LONG, "0.123"), ("[b]x", "10")], numbers=("n",))

    title, head, *lines = capsys.readouterr().out.splitlines()
    assert (title, head.split()) == ("Title", ["name", "n"])
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines).split().count("word") == 100
    assert lines[0].endswith("0.123")


def test_figures_are_printed_with_their_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(measured=(Measured(CLARITY, alpha=math.nan), Measured(SAFE)))
    print_humans(case.humans())

    title, head, *lines = capsys.readouterr().out.splitlines()
    assert title == "Human agreement: 480 ratings by 3 raters"
    assert head.split() == [
        *["question", "A^HH", "Krippendorff's", "alpha", "rated", "twice", "groups"]
    ]
    [row] = [line for line in lines if line.startswith("clarity")]
    assert row.split() == ["clarity", "0.88", "(0.84-0.92)", "--", "80", "80"]


def test_without_ratings_there_is_a_line_instead_of_a_table_of_dashes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_humans([replace(row, n_ratings=0, n_pairs=0) for row in Case().humans()])

    assert capsys.readouterr().out == "Human agreement: nothing is rated.\n\n"
