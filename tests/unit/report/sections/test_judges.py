"""Judges: what they scored, and how far they agree with each other."""

from eval_assets.report.sections import judges
from tests.unit.report.builder import JUDGES, Case
from tests.unit.report.reading import cards, table


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


def test_one_judge_has_no_agreement_with_others() -> None:
    section = judges.section(Case(judges=JUDGES[:1], statuses=(("gpt", "ok", 160),)).data())
    assert section is not None

    assert list(cards(section)) == ["Who judged"]


def test_without_judges_there_is_no_section() -> None:
    assert judges.section(Case(judges=(), statuses=()).data()) is None
