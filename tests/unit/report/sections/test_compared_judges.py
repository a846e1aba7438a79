"""Judges against humans: figures, lean and confusion."""

import pytest

from eval_assets.report._document import Section, Table
from eval_assets.report.sections import compared_judges
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import Scale
from tests.unit.report.builder import Case, Measured
from tests.unit.report.reading import blocks_in, table


def section_of(case: Case) -> Section:
    """Return the section, which there is."""
    section = compared_judges.section(case.data())
    assert section is not None
    return section


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        (0.31, "+0.31, more lenient"),
        (-0.31, "-0.31, stricter"),
        (0.05, "+0.05, no clear difference"),  # interval -0.05 to 0.15
    ],
)
def test_the_lean_of_a_judge_is_put_into_words(bias: float, words: str) -> None:
    rows = table(section_of(Case(bias=bias)), "Judges against humans")

    assert rows[1]["Judge minus humans"] == words


def test_confusion_counts_each_pair_of_values_once() -> None:
    """The builder's judge errs on the highest value alone and calls it the lowest."""
    label = "Confusion of gpt on clarity"
    rows = table(section_of(Case()), label)

    assert [list(row.values()) for row in rows] == [
        ["1", "7", "0", "0", "0", "0"],
        ["2", "0", "7", "0", "0", "0"],
        ["3", "0", "0", "7", "0", "0"],
        ["4", "0", "0", "0", "7", "0"],
        ["5", "7", "0", "0", "0", "0"],
    ]
    [confusion] = [
        block
        for block in blocks_in(section_of(Case()).blocks)
        if isinstance(block, Table) and block.label == label
    ]
    strong = [[cell.is_strong for cell in row.cells[1:]] for row in confusion.rows]
    assert strong == [[k == j for j in range(5)] for k in range(5)]


def test_a_continuous_scale_has_no_confusion_table() -> None:
    share = RubricQuestion("share", "How much of it?", Scale(low=0, high=1), "interval")
    tables = [
        block
        for block in blocks_in(section_of(Case(measured=(Measured(share),))).blocks)
        if isinstance(block, Table)
    ]

    assert [found.label for found in tables] == [
        "Judges against humans",
        "All statistics of judges against humans: share",
    ]


def test_judges_stand_in_the_order_in_which_they_are_declared() -> None:
    rows = table(section_of(Case()), "Judges against humans")

    assert [row["Judge"] for row in rows] == ["clarity", "gpt", "haiku", "safe", "gpt", "haiku"]


def test_without_judges_there_is_nothing_to_compare() -> None:
    assert compared_judges.section(Case(judges=(), statuses=()).data()) is None
