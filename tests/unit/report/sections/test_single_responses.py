"""Disagreements: the worst first, with the texts in a fold."""

from dataclasses import replace

import pandas as pd

from eval_assets.catalogue import Figure
from eval_assets.render.document import Section, Table
from eval_assets.report.data import ReportData
from eval_assets.report.sections import single_responses
from tests.unit.report.builder import LONG, Case, with_tables
from tests.unit.report.lookup import blocks_in, notes, paragraphs, table

LABEL = "Disagreements between raters"


def section_of(data: ReportData) -> Section:
    section = single_responses.disagreements(data)
    assert section is not None
    return section


def test_a_disagreement_shows_who_rated_how_and_why_it_is_listed() -> None:
    section = section_of(Case().data())

    assert table(section, LABEL) == [
        {
            "Response": "resp-1",
            "Question": "clarity",
            "Model": "fern-small",
            "Ratings": "r1:\N{NO-BREAK SPACE}1 · r2:\N{NO-BREAK SPACE}5",
            "Apart": "4",
            "Why it is listed": "from one end of the scale to the other",
        }
    ]
    assert notes(section, LABEL)[0][4] == "SD 2.00"


def test_the_number_left_out_is_stated() -> None:
    [lead] = paragraphs(section_of(Case().data()))

    assert lead.startswith("The worst 1 of 31 are listed. Ratings are far apart on none of")
    assert "none of them; they have the largest spread" in lead


def test_the_number_that_gates_count_is_stated_beside_that_of_the_list() -> None:
    data = Case().data()
    humans = tuple(replace(row, n_disagreements=20) for row in data.humans)

    [lead] = paragraphs(section_of(replace(data, humans=humans)))

    assert "are listed. Ratings are far apart on 20 of them; the others have the" in lead
    humans = tuple(replace(row, n_disagreements=31) for row in data.humans)
    [lead] = paragraphs(section_of(replace(data, humans=humans)))
    assert lead.startswith("The worst 1 of 31 are listed. Discuss them")


def test_many_ratings_are_counted_by_value() -> None:
    data = Case().data()
    ratings = pd.Series({f"r{n}": float(1 + n % 2) for n in range(123)}).to_json()
    data = with_tables(
        data, label_disagreements=data.tables["label_disagreements"].assign(ratings=ratings)
    )

    [row] = table(section_of(data), LABEL)
    assert row["Ratings"] == "1 (62 times) · 2 (61 times)"


def test_texts_are_folded_and_very_long_ones_are_cut() -> None:
    section = section_of(Case(response_text=LONG).data())
    [result] = [block for block in blocks_in(section.blocks) if isinstance(block, Table)]

    (_, prompt), (_, response) = result.rows[0].cells[0].folded
    assert prompt == "Sort a list by two keys."
    assert response.endswith(" ...")
    assert 1900 < len(response) <= 2000


def test_without_any_that_is_stated() -> None:
    data = Case().data()
    data = with_tables(data, label_disagreements=pd.DataFrame())

    assert paragraphs(section_of(data)) == ["On no response are raters far apart."]


def test_there_is_no_section_if_nothing_was_rated_twice() -> None:
    data = Case().data()
    humans = tuple(replace(row, n_pairs=0) for row in data.humans)

    assert single_responses.disagreements(replace(data, humans=humans)) is None


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
    section = single_responses.adjudications(with_tables(Case().data(), adjudicated_labels=DECIDED))
    assert section is not None

    consensus, excluded = table(section, "Settled disagreements")
    assert (consensus["Settled as"], consensus["By"]) == ("2", "lea")
    assert consensus["Why"] == "the second half contradicts the first"
    assert excluded["Settled as"] == "left out as ambiguous"
    assert paragraphs(section)[0].startswith("2 disagreements settled. Judges are compared")


def test_judges_are_shown_without_and_with_what_was_left_out() -> None:
    data = Case().data()
    excluded_rows = tuple(
        replace(row, n_units=83 if row.question_id == "clarity" else 80, a_ha=Figure(0.80))
        for row in data.judge_humans
    )
    data = with_tables(data, adjudicated_labels=DECIDED)
    section = single_responses.adjudications(
        replace(data, judge_humans_with_excluded=excluded_rows)
    )
    assert section is not None

    rows = table(section, "Judges without and with the responses left out")
    assert [(row["Judge"], row["Question"]) for row in rows] == [
        ("gpt", "clarity"),
        ("haiku", "clarity"),
    ]
    assert (rows[0]["Responses"], rows[0]["With them"]) == ("80", "83")
    assert (rows[0]["A^HA"], rows[0]["A^HA with them"]) == ("0.860", "0.800")


def test_if_nothing_was_settled_there_is_no_section() -> None:
    assert single_responses.adjudications(Case().data()) is None
