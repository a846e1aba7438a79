"""Each judge against humans: verdict, figures, lean and confusion."""

from dataclasses import replace

import pandas as pd
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.render.document import Section, Table
from eval_assets.report.sections import compared_judges
from eval_assets.scale import Scale
from tests.unit.report.builder import QUESTIONS, Case, Measured, with_tables
from tests.unit.report.lookup import blocks_in, cards, paragraphs, table

OVERVIEW = "gpt against people"


def section_of(case: Case) -> Section:
    """Return the section, which there is."""
    section = compared_judges.section(case.data())
    assert section is not None
    return section


def test_a_judge_stands_beside_its_controls_and_people() -> None:
    assert table(section_of(Case()), OVERVIEW)[0] == {
        "Question": "clarity",
        "A^HA": "0.860",
        "Constant": "0.700",
        "Shuffled": "0.570",
        "People": "0.880",
        "Verdict": "matches human agreement",
        "Lean": "+0.31, more lenient",
        "Units": "80",
        "Groups": "80",
    }


def test_a_judge_that_rates_as_a_version_says_so() -> None:
    data = Case().data()
    judges = pd.DataFrame([("gpt", "1.1.0"), ("haiku", None)], columns=["judge_id", "version"])
    pinned = replace(data, tables={**data.tables, "judges": judges})
    section = compared_judges.section(pinned)
    assert section is not None

    message = [words for words in paragraphs(section) if words.startswith("It rates as version")]
    assert len(message) == 1
    assert message[0].startswith("It rates as version 1.1.0. If tuning made that version, it knows")


def test_what_a_judge_favours_stands_on_its_card() -> None:
    columns = [
        *("judge_id", "question_id", "attribute", "value", "relative", "relative_low"),
        *("relative_high", "is_named", "state"),
    ]
    bias = pd.DataFrame(
        [
            ("gpt", "clarity", "system", "codex", 0.521, 0.315, 0.728, True, "fail"),
            ("gpt", "clarity", "system", "tranx", -0.03, -0.1, 0.1, False, "pass"),
            ("gpt", "safety", "system", "codex", None, None, None, False, "not_measured"),
        ],
        columns=columns,
    )
    section = compared_judges.section(with_tables(Case().data(), judge_bias=bias))
    assert section is not None
    words = paragraphs(section)

    assert (
        "At equal quality it rates codex (system) +0.52, more lenient, by +0.32 to +0.73 points of "
        "clarity: do not rank codex with it."
    ) in words
    assert not any("tranx" in text for text in words)
    assert any(
        text.startswith("Whether it favours a system is NOT MEASURED on safety") for text in words
    )


def test_how_far_a_judge_repeats_itself_stands_beside_people() -> None:
    columns = ["rater_id", "kind", "question_id", "source", "n_pairs", "flip_rate"]
    repeated = pd.DataFrame(
        [
            (None, "human", "clarity", "same text", 1217, 0.349),
            ("anna", "human", "clarity", "same text", 80, 0.5),
            ("gpt", "judge", "clarity", "same text", 352, 0.122),
            ("gpt", "judge", "clarity", "run", 300, 0.2),
        ],
        columns=columns,
    )
    section = compared_judges.section(with_tables(Case().data(), repeatability=repeated))
    assert section is not None
    words = paragraphs(section)

    assert (
        "On a copy of the same text it gives another score of clarity in 12 % of 352 pairs, people "
        "in 35 %."
    ) in words
    assert "In another run it gives another score of clarity in 20 % of 300 pairs." in words


def test_every_judge_has_a_card_in_the_order_in_which_judges_are_declared() -> None:
    section = section_of(Case())

    assert list(cards(section)) == ["gpt", "haiku"]
    assert "Matches human agreement on both questions." in paragraphs(section)


def test_a_verdict_beside_people_who_disagree_is_withheld() -> None:
    case = Case(measured=(Measured(QUESTIONS[0]), Measured(QUESTIONS[1], a_hh=0.74)))

    rows = table(section_of(case), OVERVIEW)
    assert [row["Verdict"] for row in rows] == ["matches human agreement", "cannot be judged"]


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        (0.31, "+0.31, more lenient"),
        (-0.31, "-0.31, stricter"),
        (0.05, "+0.05, no clear difference"),  # interval -0.05 to 0.15
    ],
)
def test_the_lean_of_a_judge_is_put_into_words(bias: float, words: str) -> None:
    assert table(section_of(Case(bias=bias)), OVERVIEW)[0]["Lean"] == words


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


def test_a_judge_of_two_values_is_described_by_what_it_finds() -> None:
    case = Case()
    result = pd.DataFrame(
        [("gpt", "safe", 1, 1, 30), ("gpt", "safe", 0, 1, 10), ("gpt", "safe", 0, 0, 20)],
        columns=["judge_id", "question_id", "human_value", "judge_value", "n_units"],
    )
    section = compared_judges.section(with_tables(case.data(), judge_confusion=result))
    assert section is not None

    message = [words for words in paragraphs(section) if words.startswith("The judge's 1 beside")]
    assert message == [
        (
            "The judge's 1 beside that of people (median): accuracy 0.83, precision "
            "0.75, recall 1.00, F1 0.86. If one value is rare, use kappa."
        )
    ]


def test_a_continuous_scale_has_no_confusion_table() -> None:
    share = RubricQuestion("share", "How much of it?", Scale(low=0, high=1), "interval")
    tables = [
        block
        for block in blocks_in(section_of(Case(measured=(Measured(share),))).blocks)
        if isinstance(block, Table)
    ]

    assert [result.label for result in tables] == [
        *(OVERVIEW, "All statistics of gpt on share"),
        *("haiku against people", "All statistics of haiku on share"),
    ]


def test_without_judges_there_is_nothing_to_compare() -> None:
    assert compared_judges.section(Case(judges=(), statuses=()).data()) is None


def test_of_values_without_order_only_figures_of_classes_are_shown() -> None:
    topic = RubricQuestion("topic", "Which topic?", Scale.from_steps(low=1, high=4), "nominal")
    section = section_of(Case(measured=(Measured(topic),)))

    assert table(section, OVERVIEW)[0]["Lean"] == "values have no order"
    assert [row["Statistic"] for row in table(section, "All statistics of gpt on topic")] == [
        "A^HA",
        "A^HA of the best constant score",
        "A^HA of its own scores, shuffled",
        "Exact agreement",
        "Cohen's kappa",
    ]
