"""Judges: what they scored, and how far they agree with each other."""

from dataclasses import replace

import pandas as pd

from eval_assets.bands import REPEATED
from eval_assets.report.sections import judges
from tests.unit.report.builder import JUDGES, QUESTIONS, Case, Measured, with_tables
from tests.unit.report.lookup import cards, items, table


def test_units_without_a_score_are_counted_by_status() -> None:
    section = judges.section(Case().data())
    assert section is not None

    gpt, haiku = table(section, "Judges")
    assert (gpt["Scored"], gpt["Share"]) == ("158 of 160", "98.8 %")
    assert (gpt["Without a score"], haiku["Without a score"]) == ("2 unparsable", "none")
    assert gpt["Model"] == "gpt-6-luna · openai"


def test_agreement_among_judges_leads_with_all_questions() -> None:
    section = judges.section(Case().data())
    assert section is not None

    rows = table(section, "Agreement among judges")
    assert [row["Question"] for row in rows] == ["All questions", "clarity", "safe"]
    assert (rows[1]["Krippendorff's alpha"], rows[1]["Meaning"]) == ("0.830", "reliable")
    assert (rows[1]["Kappa, micro"], rows[1]["macro"]) == ("0.710", "undefined")


def test_agreement_of_judges_with_equal_scores_is_not_called_reliable() -> None:
    data = Case().data()
    rows = tuple(replace(row, interpretation=REPEATED) for row in data.judges)
    section = judges.section(replace(data, judges=rows))
    assert section is not None

    assert {row["Meaning"] for row in table(section, "Agreement among judges")} == {REPEATED}


def test_one_judge_has_no_agreement_with_others() -> None:
    section = judges.section(Case(judges=JUDGES[:1], statuses=(("gpt", "ok", 160),)).data())
    assert section is not None

    assert list(cards(section)) == ["Who judged"]


def test_without_judges_there_is_no_section() -> None:
    assert judges.section(Case(judges=(), statuses=()).data()) is None


def test_a_question_on_which_judges_do_not_agree_has_advice() -> None:
    clarity, safe = QUESTIONS
    case = Case(measured=(Measured(clarity), Measured(safe, judge_alpha=0.55)))
    section = judges.section(case.data())
    assert section is not None

    assert items(cards(section)["Do they agree with each other?"], "What to do") == [
        (
            "safe: 0.550 is below the minimum 0.667. "
            "Compare the judges' replies and revise the judge prompt"
        )
    ]


def test_responses_on_which_two_judges_are_far_apart_are_listed() -> None:
    far = {
        "response_id": "r7",
        "question_id": "safe",
        "model_name": "fern",
        "judge1_id": "gpt",
        "judge2_id": "haiku",
        "judge1_score": 1.0,
        "judge2_score": 0.25,
        "difference": 0.75,
        "prompt_text": "Why?",
        "response_text": "Because.",
    }
    section = judges.section(with_tables(Case().data(), judge_disagreements=pd.DataFrame([far])))
    assert section is not None

    [row] = table(section, "Responses on which two judges are farthest apart")
    assert list(row.values()) == ["r7", "safe", "fern", "gpt: 1.00 · haiku: 0.25", "0.75"]
