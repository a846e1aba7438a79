"""Settled responses, and judges' figures with and without what was left out."""

from dataclasses import replace

import pandas as pd

from eval_assets.catalogue import Figure
from eval_assets.report.sections import adjudications as settled
from tests.unit.report.builder import Case, with_tables
from tests.unit.report.reading import paragraphs, table

DECIDED = pd.DataFrame(
    [
        {
            "response_id": "a1",
            "question_id": "clarity",
            "value": 2.0,
            "excluded": False,
            "reason": "the second half contradicts the first",
            "decided_by": "lea",
            "ratings": '{"anna": 1, "ben": 5}',
            "is_override": False,
            "prompt_text": "Ask",
            "response_text": "Answer",
        },
        {
            "response_id": "a2",
            "question_id": "clarity",
            "value": None,
            "excluded": True,
            "reason": "can be read either way",
            "decided_by": "lea",
            "ratings": '{"gpt": 1, "haiku": 5}',
            "is_override": True,
            "prompt_text": "Ask",
            "response_text": "Answer",
        },
    ]
)


def test_each_decision_is_listed_with_its_reason() -> None:
    section = settled.section(with_tables(Case().data(), adjudicated_labels=DECIDED))
    assert section is not None

    consensus, excluded = table(section, "Settled disagreements")
    assert (consensus["Settled as"], consensus["By"]) == ("2", "lea")
    assert consensus["Why"] == "the second half contradicts the first"
    assert excluded["Settled as"] == "left out as ambiguous"
    assert paragraphs(section)[0].startswith("2 disagreements settled. Judges are compared")


def test_judges_are_shown_without_and_with_what_was_left_out() -> None:
    data = Case().data()
    both = tuple(
        replace(row, n_units=83 if row.question_id == "clarity" else 80, a_ha=Figure(0.80))
        for row in data.judge_humans
    )
    data = with_tables(data, adjudicated_labels=DECIDED)
    section = settled.section(replace(data, judge_humans_with_excluded=both))
    assert section is not None

    rows = table(section, "Judges without and with the responses left out")
    assert [(row["Judge"], row["Question"]) for row in rows] == [
        ("gpt", "clarity"),
        ("haiku", "clarity"),
    ]
    assert (rows[0]["Responses"], rows[0]["With them"]) == ("80", "83")
    assert (rows[0]["A^HA"], rows[0]["A^HA with them"]) == ("0.860", "0.800")


def test_if_nothing_was_settled_there_is_no_section() -> None:
    assert settled.section(Case().data()) is None
