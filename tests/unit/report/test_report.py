"""What a reader is told, in both formats."""

import math
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from eval_assets.evaluation import Gate, RubricQuestion, default_gates
from eval_assets.report import render_html, render_markdown
from eval_assets.report.content import report_content
from eval_assets.scale import LIKERT5, Scale
from tests.unit.report.builder import QUESTIONS, Case, Measured, twelve_questions
from tests.unit.report.page import Page

CLARITY, SAFE = QUESTIONS


def cautions_of(case: Case) -> dict[str, str]:
    return {caution.title: caution.text for caution in report_content(case.data()).cautions}


def test_open_gates_are_the_first_thing_said() -> None:
    data = Case().data()
    assert report_content(data).headline == "Judge tuning may start for 2 of 2 questions"
    assert (
        render_markdown(data).splitlines()[2] == "**Judge tuning may start for 2 of 2 questions.**"
    )
    assert "Judge tuning may start for 2 of 2 questions." in Page(render_html(data)).words[:250]


def test_closed_gates_are_told_with_value_and_minimum() -> None:
    case = Case(measured=(Measured(CLARITY, a_hh=0.62, alpha=0.35), Measured(SAFE, a_hh=0.62)))
    assert report_content(case.data()).headline == (
        "Judge tuning is blocked: human_a_hh 0.620 is below 0.75 and human_alpha 0.580 is below "
        "0.667"
    )


def test_questions_below_a_gate_are_named_as_left_out() -> None:
    case = Case(measured=(Measured(CLARITY), Measured(SAFE, a_hh=0.74)))
    content = report_content(case.data())
    assert content.headline == "Judge tuning may start for 1 of 2 questions; left out: safe"
    assert [gate.state for gate in content.gates] == ["partly open", "open", "open"]
    assert [question.may_be_tuned for question in content.question_gates] == [True, False]


def test_a_gate_that_only_warns_is_told_not_to_block() -> None:
    gates = default_gates() | {"human_alpha": Gate(0.95, severity="warn")}
    content = report_content(Case(gates=gates).data())
    assert not content.is_blocked
    assert [gate.state for gate in content.gates] == ["open", "below, does not block", "open"]


def test_no_gate_means_no_tuning() -> None:
    """Nothing measured is no permission."""
    data = replace(Case().data(), gates=(), tunable=())
    assert report_content(data).headline == (
        "Judge tuning is blocked: no question passes every gate"
    )


def test_stale_figures_block_and_say_what_to_do() -> None:
    data = Case().data()
    outcome = data.gates[0]
    verdict = replace(
        outcome.overall, verdict="not_evaluable", reason="stale: X. Materialize human_agreement"
    )
    closed = replace(outcome, overall=verdict, is_closed=True)
    content = report_content(replace(data, gates=(closed, *data.gates[1:]), tunable=()))
    assert content.headline == "Judge tuning is blocked: human_a_hh cannot be evaluated"
    assert content.gates[0].reason.endswith("Materialize human_agreement")


@pytest.mark.parametrize("a_hh", [0.7496, 0.74996, 0.7499996])
def test_a_value_just_below_its_minimum_never_reads_as_the_minimum(a_hh: float) -> None:
    """In every place where the value is shown on its own."""
    case = Case(measured=(Measured(CLARITY, a_hh=a_hh),))
    content = report_content(case.data())
    [question] = content.question_gates
    shown = (
        content.headline.split()[5],
        content.gates[0].value,
        question.verdicts[0].value,
        content.humans[1].value,
    )
    assert {float(value) for value in shown} == {a_hh}
    assert content.humans[1].label == "Moderate agreement"


def test_an_undefined_figure_is_called_so_with_its_reason_and_never_zero() -> None:
    case = Case(measured=(Measured(CLARITY, alpha=math.nan), Measured(SAFE)))
    content = report_content(case.data())
    alpha = content.humans[1].measures[2]
    assert (alpha.value, alpha.interval) == ("undefined", "")
    assert alpha.reading == "no variation: all ratings are equal"
    text = Page(render_html(case.data())).words
    assert "undefined not evaluable" in text
    assert "nan" not in text.lower().replace("nano", "").split()
    assert "None" not in text.split()


def test_pairwise_agreement_stands_in_where_a_hh_is_undefined() -> None:
    """Adjacent pairs on a scale of steps, equal ones where binary."""
    case = Case(
        measured=(
            Measured(CLARITY, a_hh=math.nan, exact=40.0, adjacent=80.0),
            Measured(SAFE, a_hh=math.nan, exact=55.0, adjacent=100.0),
        )
    )
    _, clarity, safe = report_content(case.data()).humans
    assert (clarity.name, clarity.value, clarity.tone) == ("Adjacent agreement", "80.0 %", "good")
    assert (safe.name, safe.value, safe.tone) == ("Exact agreement", "55.0 %", "weak")
    assert safe.label.endswith("A^HH is undefined")


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
def test_a_hh_is_labelled_and_coloured_by_its_bands(a_hh: float, label: str, tone: str) -> None:
    human = report_content(Case(measured=(Measured(CLARITY, a_hh=a_hh),)).data()).humans[1]
    assert (human.label, human.tone) == (label, tone)


def test_an_interval_on_both_sides_of_the_minimum_means_the_data_cannot_tell() -> None:
    undecided = Case(measured=(Measured(CLARITY, alpha=0.70, half_width=0.05), Measured(SAFE)))
    told = cautions_of(undecided)["human_alpha: the data cannot tell"]
    assert "clarity (0.700, 0.650 to 0.750)" in told
    assert "safe" not in told
    assert "human_alpha: the data cannot tell" not in cautions_of(Case())


def test_fewer_than_fifty_responses_warn_to_go_by_the_intervals() -> None:
    title = "Fewer than 50 responses: go by the intervals, not by the values"
    assert title not in cautions_of(Case(measured=(Measured(CLARITY, n_responses=50),)))
    assert "clarity (49)" in cautions_of(Case(measured=(Measured(CLARITY, n_responses=49),)))[title]


def test_high_a_hh_beside_low_alpha_is_explained() -> None:
    """18 of 20 exact on skewed data, A^HH .975 and alpha .458."""
    skewed = Measured(CLARITY, a_hh=0.975, alpha=0.458, by_chance=0.954, most_frequent_share=0.925)
    told = cautions_of(Case(measured=(skewed,)))["clarity: high A^HH, low alpha"]
    for figure in ("0.975", "0.458", "0.954", "92.5 %"):
        assert figure in told


def test_near_misses_on_even_data_are_not_put_down_to_skew() -> None:
    even = Measured(CLARITY, a_hh=0.79, alpha=0.54, most_frequent_share=0.34)
    told = cautions_of(Case(measured=(even,)))["clarity: high A^HH, low alpha"]
    assert "go by alpha" in told
    assert "Skewed" not in told


def test_a_guessed_scale_is_told() -> None:
    guessed = RubricQuestion("style", "Is it neat?", LIKERT5, "ordinal", scale_guessed=True)
    told = cautions_of(Case(measured=(Measured(guessed),)))
    assert "1, 2, 3, 4, 5" in told["style: the scale is a guess"]


def test_a_judge_that_scored_too_little_is_told_with_what_went_wrong() -> None:
    statuses = (("gpt", "ok", 71), ("gpt", "unparsable", 5), ("gpt", "refused", 4))
    told = cautions_of(Case(statuses=statuses))
    assert "5 unparsable and 4 refused" in told["gpt scored only 88.8 % of its units"]
    enough = (("gpt", "ok", 9), ("gpt", "refused", 1))
    assert not any("scored only" in title for title in cautions_of(Case(statuses=enough)))


def test_a_judge_no_better_than_a_constant_is_told() -> None:
    title = "Judges no better than a constant score"
    told = cautions_of(Case(a_ha=0.7, a_ha_constant=0.7))[title]
    assert "gpt on safe (0.7000 against 0.7000)" in told
    assert title not in cautions_of(Case(a_ha=0.7001, a_ha_constant=0.7))


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        (0.31, "+0.31, more lenient"),
        (-0.31, "-0.31, stricter"),
        (0.05, "+0.05, no clear difference"),  # interval -0.05 to 0.15
    ],
)
def test_bias_is_told_in_words(bias: float, words: str) -> None:
    against = report_content(Case(bias=bias).data()).against_humans[0]
    assert against.judges[0].lenience == words


def test_confusion_counts_each_pair_of_values_once() -> None:
    """The builder's judge errs on the highest value alone and calls it the lowest."""
    [first, _] = report_content(Case().data()).against_humans[0].confusions
    counts = [[cell.n for cell in row] for row in first.rows]
    assert counts == [
        [7, 0, 0, 0, 0],
        [0, 7, 0, 0, 0],
        [0, 0, 7, 0, 0],
        [0, 0, 0, 7, 0],
        [7, 0, 0, 0, 0],
    ]
    assert [row[k].is_agreement for k, row in enumerate(first.rows)] == [True] * 5


def test_a_continuous_scale_has_no_confusion_table() -> None:
    share = RubricQuestion("share", "How much of it?", Scale(low=0, high=1), "interval")
    [against] = report_content(Case(measured=(Measured(share),)).data()).against_humans
    assert against.confusions == ()


def test_slices_come_in_their_natural_order_with_each_models_share() -> None:
    by_model, by_difficulty = report_content(Case().data()).scores[0].slices
    assert [row.name for row in by_model.rows] == ["All responses", "fern-small", "quartz-large"]
    assert [row.name for row in by_difficulty.rows if not row.is_part] == ["easy", "tough"]
    assert [mean.rater for mean in by_model.rows[0].means] == ["humans", "gpt", "haiku"]


def test_findings_are_shown_with_their_question_alone() -> None:
    findings = (("pattern", "r1 gives 3 every time"), ("suggestion", "Clarify the question"))
    case = Case(measured=(Measured(CLARITY, findings=findings), Measured(SAFE)))
    _, clarity, safe = report_content(case.data()).humans
    assert clarity.patterns == ("r1 gives 3 every time",)
    assert clarity.suggestions == ("Clarify the question",)
    assert (safe.patterns, safe.suggestions) == ((), ())


def test_without_judges_the_human_side_is_told_alone() -> None:
    data = Case(judges=(), statuses=()).data()
    content = report_content(data)
    assert [gate.gate for gate in content.gates] == ["human_a_hh", "human_alpha"]
    assert "No judge is declared" in {caution.title for caution in content.cautions}
    assert "Can the judges be trusted?" not in render_html(data) + render_markdown(data)


def test_empty_tables_make_a_report_that_says_so() -> None:
    """As on a database in which nothing but the inputs is measured."""
    data = Case().data()
    empty: dict[str, Any] = {
        name: pd.DataFrame(columns=getattr(data, name).columns)
        for name in (
            "human_agreement",
            "judge_agreement",
            "judge_human_agreement",
            "judge_confusion",
            "judge_statuses",
            "label_findings",
            "label_disagreements",
            "score_summary",
        )
    }
    bare = replace(data, gates=(), tunable=(), n_disagreements=0, **empty)
    assert "Nothing is measured yet. Materialize human_agreement." in render_markdown(bare)
    assert "Nothing is measured yet. Materialize human_agreement." in Page(render_html(bare)).words


def test_twelve_questions_of_every_scale_are_all_told() -> None:
    data = Case(measured=twelve_questions()).data()
    page, markdown = Page(render_html(data)), render_markdown(data)
    for question in data.evaluation.rubric:
        assert question.id in page.words
        assert f"### {question.id}" in markdown


def test_both_formats_tell_the_same_figures() -> None:
    """Every figure of every table of humans stands in both."""
    data = Case(measured=twelve_questions()).data()
    page, markdown = Page(render_html(data)).words, render_markdown(data)
    for agreement in report_content(data).humans[1:]:
        for measure in agreement.measures:
            assert measure.value in page
            assert measure.value in markdown
            assert measure.interval in page
            assert measure.interval in markdown


def test_the_same_data_make_the_same_report() -> None:
    assert render_html(Case().data()) == render_html(Case().data())
    assert render_markdown(Case().data()) == render_markdown(Case().data())
    assert re.search(r"Made 2026-11-21 04:30 UTC", render_markdown(Case().data()))


def test_a_questions_scale_and_level_are_told() -> None:
    assert report_content(Case().data()).humans[2].scale == "0, 1 · nominal"
