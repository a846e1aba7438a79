"""Agreement between humans: every figure with its name, or the reason why there is none."""

import math

import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.render.document import CardFigure
from eval_assets.report.sections import humans
from eval_assets.scale import Scale
from tests.unit.report.builder import QUESTIONS, Case, Measured
from tests.unit.report.lookup import cards, items, paragraphs, table

CLARITY, SAFE = QUESTIONS


def figures(*measured: Measured) -> list[CardFigure]:
    """Return the figure of each question's card."""
    section = humans.section(Case(measured=measured).data())
    return [card.figure for card in cards(section).values() if card.figure]


def test_an_undefined_figure_has_its_reason_and_no_interval() -> None:
    data = Case(measured=(Measured(CLARITY, alpha=math.nan), Measured(SAFE))).data()

    alpha = table(humans.section(data), "All statistics of clarity")[2]
    assert alpha == {
        "Statistic": "Krippendorff's alpha (ordinal)",
        "Value": "undefined",
        "95 % interval": "none",
        "Meaning": "no variation: all ratings are equal",
    }


def test_pairwise_agreement_replaces_an_undefined_a_hh() -> None:
    """Adjacent pairs on a scale of steps, equal ones on a binary one."""
    clarity, safe = figures(
        Measured(CLARITY, a_hh=math.nan, exact=40.0, adjacent=80.0),
        Measured(SAFE, a_hh=math.nan, exact=55.0, adjacent=100.0),
    )

    assert (clarity.name, clarity.value, clarity.tone) == ("Adjacent agreement", "80.0 %", "good")
    assert (safe.name, safe.value, safe.tone) == ("Exact agreement", "55.0 %", "weak")
    assert safe.meaning.endswith("A^HH is undefined")


@pytest.mark.parametrize(
    ("a_hh", "label", "tone"),
    [
        (0.90, "Excellent agreement", "good"),
        (0.75, "Good agreement", "good"),
        (0.60, "Moderate agreement", "fair"),
        (0.50, "Fair agreement", "weak"),
        (0.499, "Poor agreement", "poor"),
    ],
)
def test_a_hh_is_named_and_coloured_by_its_bands(a_hh: float, label: str, tone: str) -> None:
    [figure] = figures(Measured(CLARITY, a_hh=a_hh, by_chance=0.3))

    assert (figure.meaning, figure.tone) == (label, tone)


def test_a_hh_that_habits_alone_would_give_is_called_no_better_than_chance() -> None:
    """.688 where chance gives .689."""
    [figure] = figures(Measured(CLARITY, a_hh=0.688, by_chance=0.689))

    assert figure.meaning == "Moderate agreement, no better than chance"
    assert figure.tone == "poor"


def test_a_hh_far_above_chance_is_not_called_equal_to_it_for_want_of_data() -> None:
    """.938 [.527, .995] of four responses where chance gives .758."""
    [figure] = figures(Measured(CLARITY, a_hh=0.938, by_chance=0.758, half_width=0.4))

    assert figure.meaning == "Excellent agreement, not certainly better than chance"


def test_kappa_and_steps_are_left_out_on_a_scale_that_has_none() -> None:
    """Hardly any two ratings from 0 to 100 are equal: a kappa of .03 beside an alpha of .93."""
    quality = RubricQuestion("quality", "?", Scale(low=0, high=100), "interval")
    section = humans.section(Case(measured=(Measured(quality, alpha=0.93, exact=3.8),)).data())

    names = [row["Statistic"] for row in table(section, "All statistics of quality")]
    assert "Krippendorff's alpha (interval)" in names
    assert not [name for name in names if "kappa" in name or "Adjacent" in name]


@pytest.mark.parametrize(
    ("kappa", "meaning"),
    [
        (0.575, "moderate; below the targets for human labels"),
        (0.60, "moderate; acceptable for human labels"),
        (0.85, "almost perfect; excellent for human labels"),
    ],
)
def test_kappa_is_held_against_the_targets_for_human_labels(kappa: float, meaning: str) -> None:
    """The builder gives kappa the value of alpha."""
    data = Case(measured=(Measured(CLARITY, alpha=kappa),)).data()

    rows = {r["Statistic"]: r for r in table(humans.section(data), "All statistics of clarity")}
    assert rows["Fleiss' kappa"]["Meaning"] == meaning


def test_findings_stand_on_the_card_of_their_question() -> None:
    clarity = Measured(
        CLARITY,
        findings=(("pattern", "r1 gives 3 every time"), ("suggestion", "Clarify the question")),
    )
    data = Case(
        measured=(
            clarity,
            Measured(SAFE),
        )
    ).data()

    result = cards(humans.section(data))
    assert items(result["clarity"], "What stands out") == ["r1 gives 3 every time."]
    assert items(result["clarity"], "What to do") == ["Clarify the question."]
    assert items(result["safe"], "What stands out") == items(result["safe"], "What to do") == []


def test_scale_and_level_of_a_question_are_stated() -> None:
    assert "0, 1 · nominal" in paragraphs(humans.section(Case().data()))


def test_the_overview_leads_with_all_questions() -> None:
    rows = table(humans.section(Case().data()), "Agreement between humans by question")

    assert [row["Question"] for row in rows] == ["All questions", "clarity", "safe"]
    assert rows[1]["A^HH"] == "0.880"
