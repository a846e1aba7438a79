"""Thirty odd evaluations: terminal, report, JSON, gates, certificates and exit code agree."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval_assets.agreement.comparing import QuestionRatings
from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.agreement.gates.evidence import gate_outcomes, measures_version
from eval_assets.agreement.humans import measure_humans
from eval_assets.agreement.judge_comparison import HeldOutTest
from eval_assets.agreement.ratings import HumanRatings
from eval_assets.config.evaluation import Evaluation, Gate, GateName, default_gates
from eval_assets.shown.blocks import Table
from eval_assets.shown.certificates import certificate_verdict
from eval_assets.shown.gates import gates_answer, gates_table
from eval_assets.shown.html import report_page
from eval_assets.shown.markdown import report_markdown
from eval_assets.shown.report import Report, report_of
from eval_assets.shown.screen import Screen, screen_of
from eval_assets.shown.screen_json import report_document
from eval_assets.shown.terminal import screen_lines
from eval_assets.verdicts import Verdict
from tests.unit.shown.reports import certificate, stored
from tests.unit.shown.studies import STUDIES, Gates, judged, question, rated, shown

FITNESS = {Verdict.PASS: "fit", Verdict.FAIL: "unfit", Verdict.NEED_MORE_DATA: "undecided"}


@dataclass(frozen=True)
class Everything:
    """What is said of one evaluation, wherever it is said."""

    screen: Screen
    report: Report
    outcomes: tuple[GateOutcome, ...]
    certificates: Sequence[dict[str, Any]]

    @property
    def document(self) -> dict[str, Any]:
        """The report as JSON, read again."""
        document: dict[str, Any] = json.loads(
            json.dumps(report_document(self.report, path=None), allow_nan=False)
        )
        return document


def outcomes_of(
    questions: Sequence[QuestionRatings], gates: Gates | None = None
) -> tuple[GateOutcome, ...]:
    """Return the gates on the same ratings, as a run measures them."""
    rubric = tuple(of.question for of in questions)
    evaluation = Evaluation("odd", Path("odd"), rubric=rubric, gates=gates or default_gates())
    humans = measure_humans(
        HumanRatings({of.question.id: of.people for of in questions}, {}, {}, data_version="v1"),
        evaluation,
    )
    version = measures_version(evaluation, "human", data_version="v1")
    rows = tuple(replace(row, data_version=version) for row in humans.agreement)
    return gate_outcomes(
        evaluation,
        measured={"human": rows, "judge": ()},
        versions={"human": "v1", "judge": "v1"},
        changed=[],
    )


def after_tests(screen: Screen) -> tuple[Screen, list[dict[str, Any]]]:
    """Return the screen with a held-out test of each judge, and its rows of certificates."""
    rows, judges = [], {}
    for judge, comparisons in screen.assessment.judges.items():
        judges[judge] = tuple(
            replace(
                of,
                tested=HeldOutTest(
                    of.verdict, "1.0.0", True, 40, 0.7, 0.6, 0.8, 0.75, 0.5, None, "", math.nan
                ),
            )
            if of.verdict in FITNESS
            else of
            for of in comparisons
        )
        rows += [
            certificate(
                judge,
                question_id=of.question.id,
                fitness=FITNESS[of.verdict],
                claim="fit" if of.verdict is Verdict.PASS else None,
            )
            for of in comparisons
            if of.verdict in FITNESS
        ]
    assessment = replace(screen.assessment, judges=judges)
    return screen_of(screen.reading, assessment, command_of=lambda _: ""), rows


def everything(questions: Sequence[QuestionRatings], *, with_tests: bool) -> Everything:
    screen, rows = shown(*questions), list[dict[str, Any]]()
    if with_tests:
        screen, rows = after_tests(screen)
    figures = replace(
        stored(judge_certificates=rows, unevaluated_tests=[]), outcomes=outcomes_of(questions)
    )
    return Everything(screen, report_of(screen, figures), figures.outcomes, rows)


ODD: dict[str, Callable[[], Sequence[QuestionRatings]]] = {
    **{study.name: study.questions for study in STUDIES},
    "ties": lambda: [question(np.tile([[2.0, 2.0], [3.0, 4.0], [4.0, 3.0]], (20, 1)))],
    "one rater of three rated half": lambda: [
        question(
            np.where(np.arange(120)[:, None] % 2 * [0, 0, 1] > 0, math.nan, rated(120, 0.3)[0])
        )
    ],
}


def _verdict(value: str) -> Verdict:
    return next(verdict for verdict in Verdict if verdict.value == value)


@pytest.fixture(scope="module", params=[(name, tests) for name in ODD for tests in (False, True)])
def odd(request: pytest.FixtureRequest) -> Everything:
    """An odd evaluation, before its held-out tests and after them."""
    name, with_tests = request.param
    return everything(ODD[name](), with_tests=with_tests)


def test_labels_have_one_word_and_exit_code(odd: Everything) -> None:
    screen, document = odd.screen, odd.document
    printed = " ".join("\n".join(screen_lines(screen, report=None)).split())
    page, markdown = report_page(odd.report), report_markdown(odd.report)

    word = screen.labels.verdict.word
    assert f"1 Can we trust our labels? {word}" in printed
    assert f"**Can we trust our labels? {word}.**" in markdown
    assert f">{word}</span>" in page
    verdicts = [_verdict(of["verdict"]) for of in document["labels"]["questions"]]
    assert _verdict(document["labels"]["verdict"]) is Verdict.worst(verdicts)
    worst = Verdict.worst([screen.labels.verdict, *(of.verdict for of in screen.judges)])
    assert screen.verdict.exit_code == worst.exit_code
    assert document["next"]["sentence"].startswith(screen.next.sentence)
    assert screen.next.sentence in printed


def test_gates_have_the_figures_and_words_of_the_labels(odd: Everything) -> None:
    screen = odd.screen
    by_question = {of["question"]: of for of in odd.document["labels"]["questions"]}
    states: dict[str, list[Verdict]] = {}
    for outcome in odd.outcomes:
        figure = {"human_a_hh": "a_hh", "human_alpha": "alpha"}[outcome.gate]
        for of in outcome.questions:
            value = by_question[str(of.question_id)][figure]["value"]
            assert (value is None) == math.isnan(of.value)
            assert value is None or value == pytest.approx(of.value, abs=1e-9)
            states.setdefault(str(of.question_id), []).append(of.state)
    for question_id, (*_, alpha) in states.items():
        verdict = _verdict(by_question[question_id]["verdict"])
        if alpha is Verdict.NOT_MEASURED:  # without variation A^HH says nothing
            assert verdict is Verdict.NOT_MEASURED
        else:
            assert verdict is Verdict.worst(states[question_id])
    closed = any(of.is_closed for of in odd.outcomes)
    assert closed == gates_answer(odd.outcomes).startswith("Judges may not")
    if screen.labels.verdict is Verdict.PASS:
        assert not closed
    if {_verdict(of["verdict"]) for of in by_question.values()} == {Verdict.FAIL}:
        assert closed
    cells = {row[5].text for row in gates_table(odd.outcomes).rows}
    assert cells <= {of.word for of in Verdict}


def test_judges_have_the_words_of_their_certificates(odd: Everything) -> None:
    screen, document = odd.screen, odd.document
    by_question = {of["question"]: of for of in document["labels"]["questions"]}
    for judge, answer in zip(document["judges"], screen.judges, strict=True):
        questions = {of["question"]: _verdict(of["verdict"]) for of in judge["questions"]}
        assert _verdict(judge["verdict"]) is Verdict.worst(questions.values()) is answer.verdict
        for question_id, verdict in questions.items():
            if by_question[question_id]["verdict"] == "fail" and not odd.certificates:
                assert verdict in {Verdict.FAIL, Verdict.NOT_MEASURED}
        for row in odd.certificates:
            if row["judge_id"] == judge["judge"]:
                assert certificate_verdict(row) is questions[row["question_id"]]
    sections = {of.name: of for of in odd.report.sections}
    if odd.certificates:
        [table] = [of for of in sections["certificates"].blocks if isinstance(of, Table)]
        assert len(table.rows) == len(odd.certificates)


@pytest.mark.parametrize("n_raters", [2, 3])
@pytest.mark.parametrize(
    ("gate", "minimum", "name"),
    [
        ("exact_agreement", 95, "Exact agreement"),
        ("adjacent_agreement", 99.9, "Adjacent agreement"),
        ("kappa", 0.95, "Kappa"),
        ("gwet_ac", 0.99, "Gwet's AC"),
    ],
)
def test_labels_have_the_word_of_a_gate_that_was_added(
    gate: GateName, minimum: float, name: str, n_raters: int
) -> None:
    """Agreement passes the usual gates; the added one is closed, or open with a low minimum."""
    ratings, quality = rated(300, 0.3, raters=n_raters)
    questions = [question(ratings, {"gpt": judged(quality, 0.3)})]
    usual = shown(*questions)
    for lowest, word in ((minimum, Verdict.FAIL), (minimum / 10, Verdict.PASS)):
        gates = {**default_gates(), gate: Gate(minimum=lowest)}
        screen = shown(*questions, gates=gates)
        printed = "\n".join(screen_lines(screen, report=""))
        [outcome] = [of for of in outcomes_of(questions, gates) if of.gate == gate]

        assert usual.labels.verdict is Verdict.PASS
        assert outcome.is_closed == (word is Verdict.FAIL)
        assert screen.labels.verdict is outcome.state is word
        assert (name in printed) == outcome.is_closed
        assert screen.judges[0].verdict is (
            Verdict.NOT_MEASURED if outcome.is_closed else usual.judges[0].verdict
        )
