"""The gates: what blocks tuning, with value and minimum."""

from dataclasses import replace

import pytest

from eval_assets.agreement.gates.declarations import Remedy, RemedyKind
from eval_assets.config.evaluation import Gate, default_gates
from eval_assets.report.sections import gates, humans
from eval_assets.verdicts import GateResult
from tests.unit.report.builder import QUESTIONS, Case, Measured
from tests.unit.report.lookup import cards, paragraphs, table

CLARITY, SAFE = QUESTIONS
BY_QUESTION = "Gates by question"


def states(case: Case) -> list[str]:
    """Return the state of each gate."""
    return [
        card.figure.meaning for card in cards(gates.section(case.data())).values() if card.figure
    ]


def test_the_questions_that_tuning_covers_are_counted() -> None:
    assert gates.tuning_sentence(Case().data()) == "Judge tuning may start for 2 questions"


def test_without_a_judge_no_tuning_is_promised() -> None:
    assert gates.tuning_sentence(Case(judges=(), statuses=()).data()) == (
        "No gate blocks 2 questions; there is no judge to tune yet"
    )


def test_closed_gates_are_named_with_value_and_minimum() -> None:
    case = Case(measured=(Measured(CLARITY, a_hh=0.62, alpha=0.35), Measured(SAFE, a_hh=0.62)))

    assert gates.tuning_sentence(case.data()) == (
        "Judge tuning is blocked: human A^HH 0.620 is below 0.75 and human alpha 0.580 is below "
        "0.667"
    )


def test_questions_below_a_gate_are_left_out_by_name() -> None:
    case = Case(measured=(Measured(CLARITY), Measured(SAFE, a_hh=0.74)))

    assert gates.tuning_sentence(case.data()) == (
        "Judge tuning may start for 1 of 2 questions; left out: safe"
    )
    assert states(case) == ["partly open", "open", "open"]
    rows = table(gates.section(case.data()), BY_QUESTION)
    assert [row["Tuning"] for row in rows] == ["covered", "left out"]


def test_a_gate_that_only_warns_does_not_block() -> None:
    case = Case(gates=default_gates() | {"human_alpha": Gate(0.95, severity="warn")})

    assert not gates.is_blocked(case.data())
    assert states(case) == ["open", "below, does not block", "open"]


def test_without_any_gate_tuning_is_blocked() -> None:
    """Nothing measured is no permission."""
    data = replace(Case().data(), gates=(), tunable=())

    assert gates.tuning_sentence(data) == "Judge tuning is blocked: no question passes every gate"


def test_stale_figures_block_and_the_card_names_the_remedy() -> None:
    data = Case().data()
    outcome = data.gates[0]
    verdict = replace(
        outcome.overall,
        verdict=GateResult.NOT_EVALUABLE,
        explanation="stale: X",
        remedy=Remedy(RemedyKind.RUN, "conala"),
    )
    closed = replace(outcome, overall=verdict, is_closed=True)
    data = replace(data, gates=(closed, *data.gates[1:]), tunable=())

    assert gates.tuning_sentence(data) == "Judge tuning is blocked: human A^HH cannot be evaluated"
    assert "Stale: X. Run eval-assets run --data conala." in paragraphs(gates.section(data))


@pytest.mark.parametrize("a_hh", [0.7496, 0.74996, 0.7499996])
def test_a_value_just_below_its_minimum_is_never_written_as_the_minimum(a_hh: float) -> None:
    """Wherever it is shown."""
    data = Case(measured=(Measured(CLARITY, a_hh=a_hh),)).data()
    gate = next(iter(cards(gates.section(data)).values()))
    question = cards(humans.section(data))["clarity"]
    assert gate.figure
    assert question.figure

    shown = (
        gates.tuning_sentence(data).split()[6],
        gate.figure.value,
        table(gates.section(data), BY_QUESTION)[0]["Human A^HH"].split()[0],
        question.figure.value,
    )
    assert {float(value) for value in shown} == {a_hh}
    assert question.figure.meaning == "Moderate agreement"


def test_without_judges_the_gate_on_judges_is_left_out() -> None:
    rows = table(gates.section(Case(judges=(), statuses=()).data()), BY_QUESTION)

    assert list(rows[0]) == ["Question", "Human A^HH", "Human alpha", "Tuning"]
