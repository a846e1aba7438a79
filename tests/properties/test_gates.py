"""Gates, whatever is measured."""

import math
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eval_assets.agreement.gates.decision import (
    GateEvidence,
    GateFigure,
    GateOutcome,
    GateVerdict,
    Unusable,
    evaluate_gates,
    tunable_questions,
)
from eval_assets.config.evaluation import Gate, GateName

QUESTIONS = ("q1", "q2", "q3")
NAMES: tuple[GateName, ...] = ("human_a_hh", "human_alpha", "judge_alpha")

values = st.one_of(
    st.just(math.nan),
    st.floats(-1, 1),
    st.just(math.inf),
    st.sampled_from([0.75, math.nextafter(0.75, 0), 0.75 - 1e-9, 0.75 - 1e-8, 0.667]),
)
counts = st.sampled_from([0, 1, 2, 30])


@st.composite
def evidences(draw: st.DrawFn) -> GateEvidence:
    measured = draw(st.sampled_from([None, "v1", "v1", "v1", "v0"]))
    requested = draw(st.sampled_from([(), (None,), (None, *QUESTIONS), QUESTIONS]))
    figures = tuple(
        GateFigure(q, draw(values), math.nan, math.nan, n, n)
        for q in requested
        for n in [draw(counts)]
    )
    unusable = None if measured == "v1" else Unusable("stale", Path("it"))
    return GateEvidence(figures if measured else (), measured or "", unusable)


def gates(minimum: float = 0.75) -> dict[GateName, Gate]:
    return {name: Gate(minimum) for name in NAMES}


some_evidence = st.fixed_dictionaries(dict.fromkeys(NAMES, evidences()))


@given(some_evidence)
def test_an_open_gate_has_current_finite_values_of_two_units_that_reach_the_minimum(
    evidence: dict[GateName, GateEvidence],
) -> None:
    """The definition once more, over everything that is let through."""
    outcomes = evaluate_gates(evidence, gates())
    for outcome in outcomes:
        if not outcome.is_closed:
            measurement = evidence[outcome.gate]
            [overall] = [figure for figure in measurement.figures if figure.question_id is None]
            assert measurement.unusable is None
            assert overall.n_units >= 2
            assert 0.75 - 1e-9 <= overall.value < math.inf
    for question_id in tunable_questions(outcomes, QUESTIONS):
        for measurement in evidence.values():
            for figure in measurement.figures:
                if figure.question_id == question_id:
                    assert 0.75 - 1e-9 <= figure.value < math.inf
            assert question_id in {figure.question_id for figure in measurement.figures}


@given(some_evidence, st.floats(0, 1), st.data())
def test_lowering_a_value_opens_nothing(
    evidence: dict[GateName, GateEvidence], by: float, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(NAMES))
    worse = evidence | {
        name: replace(
            evidence[name],
            figures=tuple(replace(f, value=f.value - by) for f in evidence[name].figures),
        )
    }

    assert_nothing_opens(evaluate_gates(evidence, gates()), evaluate_gates(worse, gates()))


@given(some_evidence, st.floats(0, 1))
def test_raising_a_minimum_opens_nothing(evidence: dict[GateName, GateEvidence], by: float) -> None:
    assert_nothing_opens(
        evaluate_gates(evidence, gates(0.5)), evaluate_gates(evidence, gates(0.5 + by))
    )


@given(some_evidence)
def test_stale_figures_close_every_gate(evidence: dict[GateName, GateEvidence]) -> None:
    stale = Unusable("stale", Path("it"))
    newer = {name: replace(measurement, unusable=stale) for name, measurement in evidence.items()}

    assert all(outcome.is_closed for outcome in evaluate_gates(newer, gates()))


@given(some_evidence)
def test_making_one_more_gate_apply_opens_nothing(evidence: dict[GateName, GateEvidence]) -> None:
    fewer = {name: evidence[name] for name in NAMES[:2]}

    assert_nothing_opens(evaluate_gates(fewer, gates()), evaluate_gates(evidence, gates()))


@given(some_evidence)
def test_gates_that_only_warn_block_nothing(evidence: dict[GateName, GateEvidence]) -> None:
    warning = {name: Gate(0.75, "warn") for name in NAMES}
    outcomes = evaluate_gates(evidence, warning)

    assert not any(outcome.is_closed for outcome in outcomes)
    assert tunable_questions(outcomes, QUESTIONS) == QUESTIONS


@given(some_evidence)
def test_every_verdict_says_why_and_no_undefined_value_passes(
    evidence: dict[GateName, GateEvidence],
) -> None:
    verdicts: list[GateVerdict] = []
    for outcome in evaluate_gates(evidence, gates()):
        verdicts += [outcome.overall, *outcome.questions]
    for verdict in verdicts:
        assert verdict.reason
        assert verdict.verdict != "pass" or not math.isnan(verdict.value)


def assert_nothing_opens(before: tuple[GateOutcome, ...], after: tuple[GateOutcome, ...]) -> None:
    """Assert that no closed gate is open now, and no question is tunable that was not."""
    now = {outcome.gate: outcome.is_closed for outcome in after}
    assert all(now[outcome.gate] for outcome in before if outcome.is_closed)
    assert set(tunable_questions(after, QUESTIONS)) <= set(tunable_questions(before, QUESTIONS))
