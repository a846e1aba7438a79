"""Gates in words: the answer first, and the state of each figure by its interval."""

import math

import pytest

from eval_assets.config.evaluation import Gate, default_gates
from eval_assets.shown.gates import (
    gates_answer,
    gates_notes,
    gates_table,
    plan_answer,
    plan_table,
)
from eval_assets.shown.next_step import gate_step
from tests.unit.cases import JUDGES, QUESTIONS, Case, Measured

CLARITY, SAFE = QUESTIONS


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (Case(), "Judges may be tuned."),
        (
            Case(measured=(Measured(CLARITY, a_hh=0.62),)),
            "Judges may not be tuned: raters do not agree enough (human_a_hh).",
        ),
        (
            Case(measured=(Measured(CLARITY), Measured(SAFE, a_hh=0.7))),
            "Judges may be tuned on clarity, not on safe.",
        ),
        (
            Case(measured=(Measured(CLARITY, alpha=0.4, judge_alpha=0.1),)),
            "Judges may not be tuned: raters do not agree enough (human_alpha and judge_alpha).",
        ),
    ],
)
def test_the_answer_says_whether_judges_may_be_tuned(case: Case, answer: str) -> None:
    assert gates_answer(case.data().gates) == answer


def test_a_figure_has_the_state_of_its_interval() -> None:
    case = Case(measured=(Measured(CLARITY, a_hh=0.76, alpha=0.5), Measured(SAFE)))
    states = {
        (row[0].text, row[1].text): row[5].text for row in gates_table(case.data().gates).rows
    }

    assert states["human_a_hh", "clarity"] == "NEED MORE DATA"
    assert states["human_alpha", "clarity"] == "FAIL"
    assert states["human_alpha", "safe"] == "PASS"


def test_a_gate_that_is_open_but_not_settled_says_both() -> None:
    [note] = gates_notes(Case(measured=(Measured(CLARITY, a_hh=0.76),)).data().gates)

    assert note == (
        "human_a_hh on clarity: 0.76 reaches the minimum 0.75, so tuning may go on; 0.72 to "
        "0.80 does not settle it, and the probability that agreement is below the minimum is 0.30 "
        "(by: low asks for 0.025)."
    )


def test_no_note_says_that_tuning_may_go_on_while_a_gate_is_closed() -> None:
    case = Case(measured=(Measured(CLARITY, a_hh=0.76, alpha=0.3),))

    assert not any("may go on" in note for note in gates_notes(case.data().gates))


def test_a_gate_that_only_warns_holds_nothing_back() -> None:
    gates = default_gates() | {"human_a_hh": Gate(0.95, severity="warn")}
    outcomes = Case(gates=gates).data().gates

    assert gates_answer(outcomes) == "Judges may be tuned."
    assert "human_a_hh is declared to warn only, so it holds nothing back." in (
        list(gates_notes(outcomes))
    )


def test_an_only_question_stands_once_and_one_judge_has_no_gate() -> None:
    outcomes = Case(measured=(Measured(CLARITY),), judges=JUDGES[:1]).data().gates

    assert [row[1].text for row in gates_table(outcomes).rows] == ["clarity", "clarity"]


def test_the_plan_names_one_number_for_what_is_open() -> None:
    outcomes = Case(measured=(Measured(CLARITY, alpha=0.70, half_width=0.06),)).data().gates
    table = plan_table(outcomes)
    by_gate = {row[0].text: row[5] for row in table.rows}

    assert by_gate["human_a_hh"].text == "none"
    assert int(str(by_gate["human_alpha"].value)) > 0
    assert plan_answer(outcomes).startswith("About ")
    assert plan_answer(Case().data().gates) == (
        "Every gate is settled. What a judge needs, eval-assets run says."
    )


@pytest.mark.parametrize(
    ("measured", "step"),
    [
        (Measured(CLARITY), ""),
        (
            Measured(CLARITY, judge_alpha=0.1),
            "Compare the judges' replies and revise the judge prompt.",
        ),
        (
            Measured(CLARITY, judge_alpha=0.70, half_width=0.06),
            "Have the judges score about 300 more responses, new ones if all are scored.",
        ),
        (
            Measured(CLARITY, judge_alpha=math.nan),
            "Have the judges score responses that differ more.",
        ),
    ],
)
def test_a_gate_on_judges_has_one_step(measured: Measured, step: str) -> None:
    *_, judges = Case(measured=(measured,)).data().gates

    assert gate_step(judges, labels_step="Rate more.") == step


def test_a_gate_on_people_has_the_step_of_their_labels() -> None:
    a_hh, alpha, judges = Case(measured=(Measured(CLARITY, alpha=0.4),)).data().gates

    assert gate_step(alpha, labels_step="Rewrite the question.") == "Rewrite the question."
    assert gate_step(a_hh, labels_step="Rewrite the question.") == ""
    assert gate_step(judges, labels_step="Rewrite the question.") == ""


def test_the_worst_question_comes_first_where_judges_disagree() -> None:
    measured = Measured(CLARITY, judge_alpha=0.75), Measured(SAFE, judge_alpha=0.1)
    *_, judges = Case(measured=measured).data().gates

    assert gate_step(judges, labels_step="").endswith("the judge prompt, safe first.")
