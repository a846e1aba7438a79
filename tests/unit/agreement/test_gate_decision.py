"""Gates as a pure function of figures, thresholds and versions."""

import math
from pathlib import Path
from typing import Literal

import pytest

from eval_assets.agreement.gates.decision import (
    GATES,
    GateEvidence,
    GateFigure,
    GateOutcome,
    Unusable,
    applicable_gates,
    evaluate_gates,
    tunable_questions,
)
from eval_assets.config.evaluation import Gate, GateName, Severity, default_gates
from eval_assets.verdicts import Verdict

NAN = math.nan
QUESTIONS = ("clarity", "safety")


def figure(  # noqa: PLR0913 - the fields of a GateFigure
    value: float,
    question_id: str | None = None,
    *,
    n_units: int = 50,
    reason: str = "",
    half_width: float = 0.001,
    note: str = "",
) -> GateFigure:
    low, high = value - half_width, value + half_width
    return GateFigure(question_id, value, low, high, n_units, n_units, reason, note=note)


def shown(*figures: GateFigure) -> GateEvidence:
    return GateEvidence(figures, "v1")


def outcome_of(
    evidence: GateEvidence,
    *,
    gate: GateName = "human_a_hh",
    minimum: float = 0.75,
    by: Literal["value", "low"] = "value",
) -> GateOutcome:
    [outcome] = evaluate_gates({gate: evidence}, {gate: Gate(minimum, by=by)})
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
    assert outcome.reason.startswith("0.7499 is below the minimum 0.75")


def test_units_of_one_group_are_not_evaluable_however_many_they_are() -> None:
    """Twelve turns of one conversation have no interval: they say nothing about others."""
    of_one = GateFigure(None, 1.0, NAN, NAN, n_units=12, n_groups=1)

    outcome = outcome_of(shown(of_one))
    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == (
        "all 12 responses with two ratings or more belong to one response group; at least 2 are "
        "needed"
    )
    assert not outcome_of(shown(GateFigure(None, 1.0, 0.8, 1.0, n_units=12, n_groups=2))).is_closed


@pytest.mark.parametrize("by", ["value", "low"])
@pytest.mark.parametrize(
    ("n_groups", "subset"),
    [
        (4, "one of the 4 response groups"),
        (20, "one of the 20 responses"),
    ],
)
def test_a_figure_that_is_undefined_without_one_response_opens_no_gate(
    by: Literal["value", "low"], n_groups: int, subset: str
) -> None:
    """All other responses are rated alike: without that one alpha is undefined."""
    alone = GateFigure(None, value=0.8, low=math.nan, high=math.nan, n_units=20, n_groups=n_groups)
    outcome = outcome_of(shown(alone), gate="human_alpha", minimum=0.667, by=by)

    assert outcome.overall.verdict == "not_evaluable"
    assert outcome.is_closed
    assert outcome.reason == (
        f"0.80 has no interval, because it would be undefined without {subset}"
    )


def test_many_groups_may_be_left_out_several_at_a_time() -> None:
    alone = GateFigure(None, value=0.8, low=math.nan, high=math.nan, n_units=3000, n_groups=3000)

    assert "undefined without some of the 3,000 responses" in outcome_of(shown(alone)).reason


def test_an_undefined_value_is_not_evaluable_and_closes_the_gate() -> None:
    outcome = outcome_of(shown(figure(NAN, reason="undefined: no variation")))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == "undefined: no variation"


@pytest.mark.parametrize("minimum", [0.0, -1.0, -math.inf])
def test_no_minimum_is_low_enough_for_an_undefined_value(minimum: float) -> None:
    assert outcome_of(shown(figure(NAN)), minimum=minimum).is_closed


@pytest.mark.parametrize("n_units", [0, 1])
def test_fewer_than_two_units_are_not_evaluable_whatever_the_value(n_units: int) -> None:
    outcome = outcome_of(shown(figure(1.0, n_units=n_units)))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == (
        f"{'1 response' if n_units else 'no responses'} with two ratings or more; at least 2 are "
        "needed"
    )


def test_a_gate_without_figures_is_closed_and_says_what_to_materialize() -> None:
    empty = GateEvidence((), unusable=Unusable("not measured yet", Path("it")))
    outcome = outcome_of(empty)

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == "not measured yet. Run eval-assets run --data it"


def test_question_figures_without_an_overall_one_leave_the_gate_closed() -> None:
    assert outcome_of(shown(figure(0.9, "clarity"))).is_closed


def test_a_pass_that_belongs_to_older_data_is_stale_and_closes_the_gate() -> None:
    outcome = outcome_of(GateEvidence((figure(0.9),), "v1", Unusable("stale", Path("it"))))

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == "stale. Run eval-assets run --data it"
    assert outcome.data_version == "v1"


def test_a_question_below_the_minimum_warns_and_is_left_out_of_tuning() -> None:
    outcome = outcome_of(shown(figure(0.8), figure(0.9, "clarity"), figure(0.7, "safety")))

    assert not outcome.is_closed
    assert not outcome.passed
    assert outcome.reason.endswith(". Left out of tuning: safety (0.70)")
    assert tunable_questions((outcome,), QUESTIONS) == ("clarity",)


def test_a_question_that_is_not_evaluable_is_left_out_like_one_that_fails() -> None:
    outcome = outcome_of(
        shown(figure(0.8), figure(0.9, "clarity"), figure(NAN, "safety"), figure(1, "x", n_units=1))
    )

    assert not outcome.is_closed
    assert "Left out of tuning: safety (NEED MORE DATA), x (NEED MORE DATA)" in outcome.reason
    assert "below" not in outcome.reason


def test_a_gate_that_every_question_fails_is_closed_although_the_overall_value_passes() -> None:
    outcome = outcome_of(shown(figure(0.8), figure(0.7, "clarity"), figure(0.7, "safety")))

    assert outcome.overall.verdict == "pass"
    assert outcome.is_closed
    assert (
        "No question passes every gate; clarity (0.70), safety (0.70) do not pass this one"
        in outcome.reason
    )
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
        GateEvidence(
            (figure(0.9), figure(0.9, "clarity")),
            "v0",
            Unusable("stale", Path("it")),
        ),
        GateEvidence((), unusable=Unusable("not measured yet", Path("it"))),
        shown(figure(0.9), figure(0.1, "clarity")),
    ],
    ids=["below", "undefined", "stale", "missing", "no question"],
)
def test_a_gate_that_only_warns_never_blocks_and_still_says_what_it_found(
    evidence: GateEvidence,
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


def test_declarations_are_values_with_the_table_of_their_figures() -> None:
    assert {GATES[name]: GATES[name].table for name in default_gates()} == {
        GATES["human_a_hh"]: "human_agreement",
        GATES["human_alpha"]: "human_agreement",
        GATES["judge_alpha"]: "judge_agreement",
    }


def test_the_gate_between_judges_applies_from_two_judges_on() -> None:
    declared = default_gates()
    assert applicable_gates(declared, n_judges=0) == ("human_a_hh", "human_alpha")
    assert applicable_gates(declared, n_judges=1) == ("human_a_hh", "human_alpha")
    assert applicable_gates(declared, n_judges=2) == ("human_a_hh", "human_alpha", "judge_alpha")


def test_any_statistic_of_people_is_a_gate_where_it_is_declared() -> None:
    """One in percent is compared and written in percent."""
    declared = {**default_gates(), "exact_agreement": Gate(75)}
    figure = GateFigure(None, 47.009, 41.2, 52.9, 200, 100)
    [outcome] = evaluate_gates(
        {"exact_agreement": GateEvidence((figure,), "v")}, {"exact_agreement": Gate(75)}
    )

    assert applicable_gates(declared, n_judges=1)[-1] == "exact_agreement"
    assert outcome.is_closed
    assert outcome.reason.startswith("47 % is below the minimum 75 %")


def test_an_open_gate_says_how_likely_agreement_is_below_its_minimum() -> None:
    figure = GateFigure(None, 0.7, 0.6, 0.79, 100, 100)
    [outcome] = evaluate_gates(
        {"human_alpha": GateEvidence((figure,), "v")}, {"human_alpha": Gate(0.667)}
    )

    assert outcome.overall.probability_below == pytest.approx(0.25, abs=0.01)
    assert "agreement is below the minimum is 0.26 (by: low asks for 0.025)" in outcome.reason


def test_verdicts_carry_what_they_were_judged_on() -> None:
    outcome = outcome_of(shown(figure(0.8, n_units=7), figure(0.7, "safety")))

    assert (outcome.overall.value, outcome.overall.n_units) == (0.8, 7)
    assert outcome.overall.low == pytest.approx(0.799)
    assert outcome.overall.high == pytest.approx(0.801)
    [question] = outcome.questions
    assert (question.gate, question.question_id, question.minimum, question.verdict) == (
        "human_a_hh",
        "safety",
        0.75,
        "fail",
    )


def test_an_interval_that_holds_the_minimum_is_named_whichever_side_the_value_lies_on() -> None:
    above = outcome_of(shown(figure(0.779, half_width=0.05)))
    below = outcome_of(shown(figure(0.72, half_width=0.05)))

    assert (above.is_closed, below.is_closed) == (False, True)
    assert above.reason == (
        "0.78 reaches the minimum 0.75, so tuning may go on; 0.73 to 0.83 does not settle it, "
        "and the probability that agreement is below the minimum is 0.12 (by: low asks for 0.025)"
    )
    assert above.overall.n_more(0.75) == 260
    assert below.reason.startswith(
        "0.72 is below the minimum 0.75 so far; 0.67 to 0.77 does not settle it"
    )
    assert (above.state, below.state) == (Verdict.NEED_MORE_DATA, Verdict.NEED_MORE_DATA)


@pytest.mark.parametrize(("half_width", "is_closed"), [(0.02, False), (0.0291, True)])
def test_a_gate_by_the_lower_end_of_the_interval_is_closed_even_if_the_value_alone_would_pass(
    half_width: float, *, is_closed: bool
) -> None:
    evidence = shown(figure(0.779, half_width=half_width))

    assert outcome_of(evidence, by="low").is_closed == is_closed
    assert not outcome_of(evidence).is_closed


def test_a_gate_by_the_lower_end_says_so() -> None:
    outcome = outcome_of(shown(figure(0.779, half_width=0.01)), by="low")

    assert outcome.reason == "the lower end 0.77 of 0.78 reaches the minimum 0.75"


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_value_passes_no_gate(value: float) -> None:
    outcome = outcome_of(shown(figure(0.9), figure(value, "clarity"), figure(0.9, "safety")))

    assert outcome_of(shown(figure(value))).is_closed
    assert tunable_questions((outcome,), QUESTIONS) == ("safety",)


def test_a_question_without_a_figure_is_not_tunable() -> None:
    outcome = outcome_of(shown(figure(0.9), figure(0.9, "clarity")))

    assert tunable_questions((outcome,), QUESTIONS) == ("clarity",)


def test_a_stale_gate_does_not_close_the_others_for_want_of_questions() -> None:
    """Judges are measured after humans: at the humans' check their figures are still stale."""
    human, judge = evaluate_gates(
        {
            "human_a_hh": shown(figure(0.8), figure(0.9, "clarity"), figure(0.7, "safety")),
            "judge_alpha": GateEvidence(
                (figure(0.9, "clarity"),), "v0", Unusable("stale", Path("it"))
            ),
        },
        {"human_a_hh": Gate(0.75), "judge_alpha": Gate(0.667)},
    )

    assert (human.is_closed, judge.is_closed) == (False, True)


def few(value: float, low: float, high: float, n_groups: int, **shape: float) -> GateEvidence:
    """Return evidence of one figure on so many groups."""
    return shown(GateFigure(None, value, low, high, n_groups, n_groups=n_groups, **shape))  # type: ignore[arg-type]


def test_the_state_of_a_gate_follows_the_interval_and_not_what_is_compared() -> None:
    outcome = outcome_of(few(0.78, 0.70, 0.86, 40))

    assert (outcome.state, outcome.is_closed) == (Verdict.NEED_MORE_DATA, False)
    assert outcome.to_json(next_step="Rate more.").items() >= {
        ("state", "need_more_data"),
        ("next", "Rate more."),
    }
    assert outcome_of(few(0.78, 0.76, 0.86, 40)).state is Verdict.PASS
    by_low = outcome_of(few(0.78, 0.70, 0.86, 40), by="low")
    assert (by_low.state, by_low.is_closed) == (Verdict.NEED_MORE_DATA, True)
    assert outcome_of(few(0.70, 0.66, 0.74, 40)).state is Verdict.FAIL


def test_a_wide_interval_of_few_groups_is_not_evaluable() -> None:
    """Three pairs: alpha .857 with -1.000 to .995."""
    outcome = outcome_of(few(0.857, -1.0, 0.995, 3), gate="human_alpha", minimum=0.667)

    assert (outcome.overall.verdict, outcome.is_closed) == ("not_evaluable", True)
    assert outcome.reason == (
        "agreement of 0.86, with interval -1.00 to 0.99, rests on 3 response groups; if the "
        "interval contains the minimum, at least 10 are needed"
    )
    assert (
        outcome_of(few(0.95, 0.8, 1.0, 9), gate="human_alpha", minimum=0.667).state is Verdict.PASS
    )


def test_an_interval_that_reaches_below_chance_is_not_evaluable() -> None:
    alpha = outcome_of(few(0.70, -0.02, 0.9, 30), gate="human_alpha", minimum=0.667)
    a_hh = outcome_of(few(0.80, 0.55, 0.9, 30, by_chance=0.58))

    assert (alpha.overall.verdict, a_hh.overall.verdict) == ("not_evaluable", "not_evaluable")
    assert a_hh.reason.startswith(
        "agreement of 0.80, with interval 0.55 to 0.90, may be no better than chance, 0.58"
    )
    assert outcome_of(few(0.80, 0.59, 0.9, 30, by_chance=0.58)).state == "need_more_data"


def test_a_lowered_minimum_is_named_wherever_the_verdict_is() -> None:
    outcome = outcome_of(few(0.425, 0.3, 0.55, 60), gate="human_alpha", minimum=-1)
    closed = outcome_of(few(0.425, 0.3, 0.45, 60), gate="human_alpha", minimum=0.5)

    assert outcome.reason == "0.42 reaches the minimum -1.00 (lowered from 0.667)"
    assert "minimum 0.50 (lowered from 0.667)" in closed.reason
    assert "lowered" not in outcome_of(few(0.8, 0.77, 0.83, 60), minimum=0.75).reason


def test_a_gate_that_some_questions_pass_stays_open_beside_one_that_none_passes() -> None:
    human = shown(figure(0.8), figure(0.82, "clarity"), figure(0.7, "safety"))
    judges = shown(figure(0.8), figure(0.5, "clarity"), figure(0.4, "safety"))
    gates: dict[GateName, Gate] = {"human_a_hh": Gate(0.75), "judge_alpha": Gate(0.667)}

    people, judge = evaluate_gates({"human_a_hh": human, "judge_alpha": judges}, gates)

    assert (people.is_closed, judge.is_closed) == (False, True)
    assert tunable_questions((people, judge), QUESTIONS) == ()


def test_gates_that_no_question_passes_together_are_closed() -> None:
    human = shown(figure(0.8), figure(0.82, "clarity"), figure(0.7, "safety"))
    judges = shown(figure(0.8), figure(0.5, "clarity"), figure(0.9, "safety"))
    gates: dict[GateName, Gate] = {"human_a_hh": Gate(0.75), "judge_alpha": Gate(0.667)}

    outcomes = evaluate_gates({"human_a_hh": human, "judge_alpha": judges}, gates)

    assert [outcome.is_closed for outcome in outcomes] == [True, True]


@pytest.mark.parametrize(("by", "is_reached"), [("value", True), ("low", False)])
def test_a_gate_is_reached_by_what_it_declares(
    *, by: Literal["value", "low"], is_reached: bool
) -> None:
    gate = Gate(0.7, by=by)

    assert gate.is_reached(value=0.75, low=0.65) == is_reached
    assert not gate.is_reached(value=math.nan, low=math.nan)


@pytest.mark.parametrize("severity", ["warn", "error"])
def test_a_gate_has_the_word_of_its_worst_question(severity: Severity) -> None:
    evidence = shown(figure(0.8), figure(0.9, "depth"), figure(0.5, "clarity"))
    [outcome] = evaluate_gates(
        {"human_a_hh": evidence}, {"human_a_hh": Gate(0.75, severity=severity)}
    )

    assert (outcome.state, outcome.is_closed) == (Verdict.FAIL, False)
