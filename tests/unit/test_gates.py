"""Gates as a pure function of figures, thresholds and versions."""

import math

import pytest

from eval_assets.evaluation import Gate, GateName, Severity
from eval_assets.gates import (
    Evidence,
    Figure,
    GateOutcome,
    applicable_gates,
    evaluate_gates,
    tunable_questions,
)

NAN = math.nan
QUESTIONS = ("clarity", "safety")


def figure(
    value: float, question_id: str | None = None, *, n_units: int = 50, why: str = ""
) -> Figure:
    return Figure(question_id, value, value - 0.1, value + 0.1, n_units, why)


def shown(*figures: Figure, measured: str | None = "v1", current: str = "v1") -> Evidence:
    return Evidence(figures, measured, current)


def outcome_of(evidence: Evidence, *, minimum: float = 0.75) -> GateOutcome:
    [outcome] = evaluate_gates({"human_a_hh": evidence}, {"human_a_hh": Gate(minimum)})
    return outcome


def test_a_value_at_its_minimum_opens_the_gate() -> None:
    assert not outcome_of(shown(figure(0.75))).is_closed


def test_float_noise_of_an_exact_minimum_does_not_close_the_gate() -> None:
    """A mean of 3/4 can come out as 0.7499999999999999 on a scale from 1 to 4."""
    assert outcome_of(shown(figure(0.7499999999999999))).overall.verdict == "pass"
    assert outcome_of(shown(figure(0.75 - 0.9e-9))).overall.verdict == "pass"
    assert outcome_of(shown(figure(0.75 - 1.1e-9))).overall.verdict == "fail"


def test_a_value_that_rounds_to_the_minimum_does_not_reach_it() -> None:
    """0.7499 is written 0.75 with two decimals: the unrounded value decides."""
    outcome = outcome_of(shown(figure(0.7499)))

    assert outcome.is_closed
    assert outcome.reason.startswith("0.7499 is below the minimum 0.75. Revise the rubric")


def test_an_undefined_value_is_not_evaluable_and_closes_the_gate() -> None:
    outcome = outcome_of(shown(figure(NAN, why="undefined: no variation")))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason.startswith("undefined: no variation. Add responses that differ more")


@pytest.mark.parametrize("minimum", [0.0, -1.0, -math.inf])
def test_no_minimum_is_low_enough_for_an_undefined_value(minimum: float) -> None:
    assert outcome_of(shown(figure(NAN)), minimum=minimum).is_closed


@pytest.mark.parametrize("n_units", [0, 1])
def test_fewer_than_two_units_are_not_evaluable_whatever_the_value(n_units: int) -> None:
    outcome = outcome_of(shown(figure(1.0, n_units=n_units)))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason.startswith(f"{n_units} units with at least two ratings; 2 are needed")


def test_a_gate_without_figures_is_closed_and_says_what_to_materialize() -> None:
    outcome = outcome_of(shown(measured=None))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == "nothing measured yet. Materialize human_agreement"


def test_question_figures_without_an_overall_one_leave_the_gate_closed() -> None:
    assert outcome_of(shown(figure(0.9, "clarity"))).is_closed


def test_a_pass_that_belongs_to_older_data_is_stale_and_closes_the_gate() -> None:
    outcome = outcome_of(shown(figure(0.9), measured="v1", current="v2"))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason.startswith("stale: ")
    assert outcome.reason.endswith("Materialize human_agreement")
    assert outcome.data_version == "v1"


def test_a_question_below_the_minimum_warns_and_is_left_out_of_tuning() -> None:
    outcome = outcome_of(shown(figure(0.8), figure(0.9, "clarity"), figure(0.7, "safety")))

    assert not outcome.is_closed
    assert not outcome.passed
    assert outcome.failing_questions == ("safety",)
    assert outcome.reason.endswith("below it and left out of tuning: safety")
    assert tunable_questions((outcome,), QUESTIONS) == ("clarity",)


def test_a_question_that_is_not_evaluable_is_left_out_like_one_that_fails() -> None:
    outcome = outcome_of(
        shown(figure(0.8), figure(0.9, "clarity"), figure(NAN, "safety"), figure(1, "x", n_units=1))
    )

    assert outcome.failing_questions == ("safety", "x")
    assert not outcome.is_closed


def test_a_gate_that_every_question_fails_is_closed_although_the_overall_value_passes() -> None:
    outcome = outcome_of(shown(figure(0.8), figure(0.7, "clarity"), figure(0.7, "safety")))

    assert outcome.overall.verdict == "pass"
    assert outcome.is_closed
    assert outcome.reason.endswith("but no question passes every gate (clarity, safety)")
    assert tunable_questions((outcome,), QUESTIONS) == ()


def test_questions_that_pass_one_gate_each_leave_nothing_to_tune() -> None:
    """Clarity passes A^HH alone and safety alpha alone: no question passes every gate."""
    outcomes = evaluate_gates(
        {
            "human_a_hh": shown(figure(0.8), figure(0.9, "clarity"), figure(0.7, "safety")),
            "human_alpha": shown(figure(0.7), figure(0.5, "clarity"), figure(0.8, "safety")),
        },
        {"human_a_hh": Gate(0.75), "human_alpha": Gate(0.667)},
    )

    assert [outcome.overall.verdict for outcome in outcomes] == ["pass", "pass"]
    assert [outcome.is_closed for outcome in outcomes] == [True, True]


def test_a_gate_without_failing_questions_is_not_blamed_for_those_of_another() -> None:
    human, judge = evaluate_gates(
        {
            "human_a_hh": shown(figure(0.8), figure(0.9, "clarity")),
            "judge_alpha": shown(figure(0.7), figure(0.5, "clarity")),
        },
        {"human_a_hh": Gate(0.75), "judge_alpha": Gate(0.667)},
    )

    assert (human.is_closed, judge.is_closed) == (False, True)
    assert tunable_questions((human, judge), ("clarity",)) == ()


@pytest.mark.parametrize(
    "evidence",
    [
        shown(figure(0.1), figure(0.1, "clarity")),
        shown(figure(NAN)),
        shown(figure(0.9), measured="v1", current="v2"),
        shown(measured=None),
        shown(figure(0.9), figure(0.1, "clarity")),
    ],
    ids=["below", "undefined", "stale", "missing", "no question"],
)
def test_a_gate_that_only_warns_never_blocks_and_still_says_what_it_found(
    evidence: Evidence,
) -> None:
    [outcome] = evaluate_gates({"human_a_hh": evidence}, {"human_a_hh": Gate(0.75, "warn")})

    assert not outcome.is_closed
    assert not outcome.passed
    assert tunable_questions((outcome,), ("clarity",)) == ("clarity",)


def test_the_questions_that_fail_a_gate_that_only_warns_stay_in_tuning() -> None:
    severities: dict[GateName, Severity] = {"human_a_hh": "error", "human_alpha": "warn"}
    outcomes = evaluate_gates(
        {
            "human_a_hh": shown(figure(0.8), figure(0.9, "clarity"), figure(0.7, "safety")),
            "human_alpha": shown(figure(0.7), figure(0.5, "clarity"), figure(0.8, "safety")),
        },
        {gate: Gate(0.667, severity) for gate, severity in severities.items()}
        | {"human_a_hh": Gate(0.75)},
    )

    assert tunable_questions(outcomes, QUESTIONS) == ("clarity",)


def test_the_gate_between_judges_applies_from_two_judges_on() -> None:
    assert applicable_gates(n_judges=0) == ("human_a_hh", "human_alpha")
    assert applicable_gates(n_judges=1) == ("human_a_hh", "human_alpha")
    assert applicable_gates(n_judges=2) == ("human_a_hh", "human_alpha", "judge_alpha")


def test_verdicts_carry_what_they_were_judged_on() -> None:
    outcome = outcome_of(shown(figure(0.8, n_units=7), figure(0.7, "safety")))

    assert (outcome.overall.value, outcome.overall.n_units) == (0.8, 7)
    assert outcome.overall.low == pytest.approx(0.7)
    assert outcome.overall.high == pytest.approx(0.9)
    [question] = outcome.questions
    assert (question.gate, question.question_id, question.minimum, question.verdict) == (
        "human_a_hh",
        "safety",
        0.75,
        "fail",
    )
