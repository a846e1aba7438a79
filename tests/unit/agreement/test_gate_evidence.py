"""The figures that gates compare, and the version of everything that agreement depends on."""

from dataclasses import replace
from pathlib import Path

import pytest

from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.agreement.gates.evidence import gate_outcomes, measures_version
from eval_assets.bands import REPEATED, UNSTABLE
from eval_assets.catalogue import UNDEFINED_FIGURE, Figure
from eval_assets.config.evaluation import Evaluation, Gate, GateName, default_gates
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RaterKind, Scope
from eval_assets.scale import LIKERT5, Scale
from eval_assets.verdicts import Verdict
from tests.unit.cases import QUESTIONS, Case, Measured

_, SAFE = QUESTIONS
CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
JUDGES = (Judge("gpt", "openai", "gpt-6-luna"), Judge("haiku", "anthropic", "claude-haiku-5-5"))
DECLARED = Evaluation("test", Path(), (CLARITY,), judges=JUDGES)


def gated(name: GateName, gate: Gate) -> Evaluation:
    return replace(DECLARED, gates={**default_gates(), name: gate})


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        (replace(DECLARED, rubric=(replace(CLARITY, level="interval"),)), {"human"}),
        (gated("human_alpha", Gate(0.667, level="nominal")), {"human"}),
        (gated("judge_alpha", Gate(0.667, level="ordinal")), {"judge"}),
        (
            replace(DECLARED, rubric=(replace(CLARITY, scale=Scale(1, 7)),)),
            {"human", "judge"},
        ),
        (replace(DECLARED, judges=JUDGES[:1]), {"judge"}),
        (replace(DECLARED, judges=(JUDGES[0], replace(JUDGES[1], backup=True))), {"judge"}),
        (replace(DECLARED, rubric=(replace(CLARITY, scored_by="function"),)), {"judge"}),
        (gated("human_alpha", Gate(0.9)), set()),
        (replace(DECLARED, rubric=(replace(CLARITY, question="Clear?"),)), set()),
    ],
    ids=[
        "level",
        "gate's level",
        "judges' level",
        "scale",
        "judges",
        "backup",
        "function",
        "minimum",
        "wording",
    ],
)
def test_the_version_covers_what_decides_the_figures_and_nothing_else(
    declared: Evaluation, kinds: set[RaterKind]
) -> None:
    rater_kinds: tuple[RaterKind, ...] = ("human", "judge")
    changed = {
        kind
        for kind in rater_kinds
        if measures_version(declared, kind, data_version="v1")
        != measures_version(DECLARED, kind, data_version="v1")
    }
    assert changed == kinds


def outcomes_of(case: Case, **changes: object) -> dict[str, GateOutcome]:
    """Return every gate's outcome on the figures of a case, measured on what is stored."""
    evaluation = case.data().evaluation
    kinds: tuple[RaterKind, ...] = ("human", "judge")
    versions = {k: measures_version(evaluation, k, data_version="v1") for k in kinds}
    measured = {
        "human": tuple(replace(row, data_version=versions["human"]) for row in case.humans()),
        "judge": tuple(replace(row, data_version=versions["judge"]) for row in case.judge_rows()),
    }
    options = {
        "measured": measured,
        "versions": {"human": "v1", "judge": "v1"},
        "changed": [],
        **changes,
    }
    return {o.gate: o for o in gate_outcomes(evaluation, **options)}  # type: ignore[arg-type]


def test_each_gate_compares_its_figure_with_what_explains_it() -> None:
    outcomes = outcomes_of(Case(measured=(Measured(CLARITY, by_chance=0.61), Measured(SAFE))))

    a_hh, alpha, judges = (outcomes[g].questions[0] for g in default_gates())
    assert (a_hh.value, a_hh.by_chance, a_hh.n_units) == (0.88, 0.61, 80)
    assert (alpha.value, alpha.by_chance, alpha.n_groups) == (0.81, 0.0, 80)
    assert (judges.value, judges.by_chance, judges.n_units) == (0.83, 0.0, 80)
    assert [outcomes[g].overall.question_id for g in default_gates()] == [None] * 3
    ids = [[question.question_id for question in outcomes[g].questions] for g in default_gates()]
    assert ids == [["clarity", "safe"]] * 3
    assert [outcomes[g].is_closed for g in default_gates()] == [False] * 3


@pytest.mark.parametrize(
    ("exact", "share", "expected"),
    [
        (90.0, 0.9, "90 % of pairs"),
        (63.5, 0.9, ""),
        (90.0, 0.34, ""),
    ],
)
def test_ratings_that_hardly_vary_explain_a_low_alpha(
    exact: float, share: float, expected: str
) -> None:
    skewed = Measured(CLARITY, exact=exact, most_frequent_share=share)
    outcomes = outcomes_of(Case(measured=(skewed,)))

    assert outcomes["human_alpha"].questions[0].note.partition(" are")[0] == expected
    assert outcomes["human_a_hh"].questions[0].note == ""


@pytest.mark.parametrize(("exact", "expected"), [(85.0, "85 % of pairs"), (60.0, "")])
def test_over_all_questions_the_most_skewed_one_counts(exact: float, expected: str) -> None:
    case = Case(measured=(Measured(CLARITY, most_frequent_share=0.34), Measured(SAFE)))
    version = measures_version(case.data().evaluation, "human", data_version="v1")
    overall, clarity, safe = (replace(row, data_version=version) for row in case.humans())
    rows = (
        replace(overall, exact_agreement=Figure(exact)),
        clarity,
        replace(safe, most_frequent_share=0.9),
    )
    outcomes = outcomes_of(case, measured={"human": rows, "judge": ()})

    assert outcomes["human_alpha"].overall.note.partition(" are")[0] == expected


def test_scores_that_hardly_vary_explain_a_low_alpha_of_judges() -> None:
    case = Case()
    version = measures_version(case.data().evaluation, "judge", data_version="v1")
    rows = tuple(
        replace(row, interpretation=UNSTABLE, data_version=version) for row in case.judge_rows()
    )
    outcomes = outcomes_of(case, measured={"human": case.humans(), "judge": rows})

    assert outcomes["judge_alpha"].overall.note.startswith("all scores lie close together")


def test_scores_that_hardly_vary_and_repeat_each_other_are_both_named() -> None:
    case = Case()
    version = measures_version(case.data().evaluation, "judge", data_version="v1")
    rows = tuple(
        replace(row, interpretation=f"{REPEATED}; {UNSTABLE}", data_version=version)
        for row in case.judge_rows()
    )
    gate = outcomes_of(case, measured={"human": case.humans(), "judge": rows})["judge_alpha"]

    repeated, _, close = gate.overall.note.rpartition("; ")
    assert close.startswith("all scores lie close together")
    assert repeated.startswith("two judges give equal scores throughout")


def test_the_gate_asks_to_check_judges_with_equal_scores() -> None:
    case = Case()
    version = measures_version(case.data().evaluation, "judge", data_version="v1")
    rows = tuple(replace(row, data_version=version) for row in case.judge_rows())
    plain = outcomes_of(case, measured={"human": case.humans(), "judge": rows})["judge_alpha"]
    rows = tuple(replace(row, interpretation=REPEATED) for row in rows)
    gate = outcomes_of(case, measured={"human": case.humans(), "judge": rows})["judge_alpha"]
    end = "; two judges give equal scores throughout; check that one is not a copy of the other"

    assert gate.reason == plain.reason + end
    assert (gate.state, plain.state) == (Verdict.PASS, Verdict.PASS)


def test_an_undefined_figure_is_explained_by_the_last_part_of_its_interpretation() -> None:
    case = Case()
    version = measures_version(case.data().evaluation, "human", data_version="v1")
    undefined = replace(
        case.humans()[0],
        alpha=UNDEFINED_FIGURE,
        interpretation="Excellent agreement; alpha is undefined, since all ratings are equal",
        data_version=version,
    )
    outcomes = outcomes_of(case, measured={"human": (undefined,), "judge": ()})

    assert outcomes["human_alpha"].overall.undefined_because == (
        "alpha is undefined, since all ratings are equal"
    )
    assert outcomes["human_a_hh"].overall.undefined_because == "", "A^HH is defined"


def test_figures_that_cannot_be_compared_close_the_gates_with_the_reason() -> None:
    run = ". Run eval-assets run --data conala"
    human = f"stale: the files of human_labels changed since they were read{run}"
    reason_of_scores = f"stale: the files of judge_scores changed since they were read{run}"
    changed = outcomes_of(Case(), changed=["human_labels", "judge_scores"])
    edited = outcomes_of(Case(), edited={"judge"})
    older = outcomes_of(Case(), versions={"human": "v2", "judge": "v1"})
    newer = outcomes_of(Case(), versions={"human": "v0", "judge": "v1"})
    empty = outcomes_of(Case(), measured={"human": (), "judge": ()})

    assert {g: o.overall.reason for g, o in changed.items()} == {
        "human_a_hh": human,
        "human_alpha": human,
        "judge_alpha": reason_of_scores,
    }
    assert edited["judge_alpha"].overall.reason.startswith("stale: the stored figures")
    assert not edited["human_alpha"].is_closed
    for stale in (older, newer):
        assert stale["human_alpha"].reason == (
            "stale: the ratings or scales changed since it was measured. "
            "Run eval-assets run --data conala"
        )
        assert not stale["judge_alpha"].is_closed
    assert empty["judge_alpha"].reason == "not measured yet. Run eval-assets run --data conala"


def test_single_responses_are_no_figures_of_a_gate() -> None:
    case = Case()
    version = measures_version(case.data().evaluation, "judge", data_version="v1")
    rows = [replace(row, data_version=version) for row in case.judge_rows()]
    single = replace(rows[1], scope=Scope.RESPONSE, alpha=Figure(-1.0))
    outcomes = outcomes_of(case, measured={"human": case.humans(), "judge": [single, *rows]})

    assert len(outcomes["judge_alpha"].questions) == len(rows) - 1
