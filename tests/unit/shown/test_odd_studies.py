"""Every screen of an odd study is short, says one thing everywhere, and nothing false."""

import json
import math
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from eval_assets.agreement.diagnosis import SeverityGap
from eval_assets.agreement.judge_comparison import MARGIN, JudgeFinding
from eval_assets.config.evaluation import Gate, default_gates
from eval_assets.scale import Scale
from eval_assets.shown.html import report_page, screen_fragment
from eval_assets.shown.next_step import Action
from eval_assets.shown.report import report_of
from eval_assets.shown.screen import Screen, first_step
from eval_assets.shown.screen_json import screen_document
from eval_assets.shown.terminal import WIDTH, screen_lines
from eval_assets.verdicts import Verdict
from eval_assets.wording import planned
from tests.unit.shown.studies import (
    STUDIES,
    Floats,
    judged,
    lenient,
    mixed,
    question,
    rated,
    shown,
)

NAMES = [study.name for study in STUDIES]


@pytest.fixture(scope="module")
def screens() -> dict[str, Screen]:
    return {study.name: shown(*study.questions()) for study in STUDIES}


@pytest.mark.parametrize("name", NAMES)
def test_screen_is_short_and_narrow(screens: dict[str, Screen], name: str) -> None:
    screen = screens[name]
    lines = screen_lines(screen, report="tickets_report.html")

    most = 180 if screen.has_table else 150 + 50 * max(0, len(screen.judges) - 1)
    assert sum(len(line.split()) for line in lines) <= most, "\n".join(lines)
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("name", NAMES)
def test_terminal_json_and_html_say_the_same(screens: dict[str, Screen], name: str) -> None:
    screen = screens[name]
    text = " ".join("\n".join(screen_lines(screen, report=None)).split())
    document = screen_document(screen, report=None)
    page = unescape(report_page(report_of(screen)))
    assert not re.search(r"\d %", page.partition("<main>")[2])  # no line parts them
    page = page.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ")

    json.dumps(document, allow_nan=False)
    labels, judges = document["labels"], document["judges"]
    assert isinstance(labels, dict)
    assert isinstance(judges, list)
    assert labels["verdict"] == screen.labels.verdict.value
    answers = [screen.labels, *screen.judges]
    assert [of["judge"] for of in judges] == list(screen.assessment.judges)
    assert [of["verdict"] for of in judges] == [answer.verdict.value for answer in answers[1:]]
    has_matrix = len(screen.assessment.labels) > 1 and len(screen.judges) > 0
    for sentence in (
        [screen.judges_sentence, *screen.table_key.values()]
        if has_matrix
        else [text for answer in screen.judges for text in (answer.sentence, answer.verdict.word)]
    ):
        assert sentence in page
    assert screen.labels.sentence in page
    assert screen.labels.verdict.word in page
    assert f"1 Can we trust our labels? {screen.labels.verdict.word}" in text
    assert screen.labels.sentence in text
    if not screen.has_table:
        for answer in screen.judges:
            assert f"{answer.question} {answer.verdict.word} {answer.sentence}" in text
    codes = {answer.verdict.exit_code for answer in answers}
    assert screen.verdict.exit_code == (3 if 3 in codes else 4 if 4 in codes else 0)
    assert screen.next.sentence in text
    open_labels = {of.question.id for of in screen.assessment.labels} - {
        of.question.id for of in screen.assessment.labels if of.verdict is Verdict.PASS
    }
    steps = screen.label_steps()
    assert set(steps) == (open_labels | {None} if open_labels else set())
    assert not steps or steps[None] == screen.next.text
    assert screen.next.sentence in page
    assert screen.next.sentence in unescape(screen_fragment(screen))


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_follow_the_intervals(screens: dict[str, Screen], name: str) -> None:
    assessment = screens[name].assessment
    for labels in assessment.labels:
        figures = [(labels.alpha, 0.667), (labels.a_hh, 0.75)]
        is_pass = all(figure.low >= minimum for figure, minimum in figures)
        is_fail = any(figure.high < minimum for figure, minimum in figures)
        assert (labels.verdict is Verdict.PASS) == is_pass
        assert (labels.verdict is Verdict.FAIL) == (is_fail and not math.isnan(labels.alpha.value))
    by_question = {of.question.id: of for of in assessment.labels}
    for comparisons in assessment.judges.values():
        for of in comparisons:
            labels = by_question[of.question.id]
            if of.verdict is Verdict.PASS:
                assert of.gap is not None
                assert of.gap.low > -MARGIN
                assert of.n_paired_groups >= 24
                assert labels.reaches_minimums
            if of.verdict is Verdict.FAIL:
                assert of.gap is not None
                assert of.gap.high < -MARGIN
            if labels.verdict is Verdict.FAIL:
                assert of.verdict in {Verdict.FAIL, Verdict.NOT_MEASURED}


@pytest.mark.parametrize("name", NAMES)
def test_sentences_are_true_for_the_figures(screens: dict[str, Screen], name: str) -> None:
    screen = screens[name]
    labels = screen.assessment.deciding_labels
    if "Chance alone may explain" in screen.labels.sentence:
        assert labels.alpha.low <= 0
    if "less than by chance" in screen.labels.sentence:
        assert labels.alpha.high < 0
    if match := re.search(r"(-?[0-9.]+), needs ([0-9.]+)", screen.labels.figure):
        value, minimum = map(float, match.groups())
        assert (value >= minimum) == (labels.deciding.value >= labels.minimum)
    for comparisons, answer in zip(screen.assessment.judges.values(), screen.judges, strict=True):
        if len(comparisons) > 1:
            continue
        [of] = comparisons
        sentence = answer.sentence
        assert "nan" not in sentence.lower().replace("none", "")
        assert "  " not in sentence
        if match := re.search(r"It scores ([0-9.]+) (higher|lower)\.", sentence):
            assert of.bias is not None
            assert (of.bias.low > 0) if match[2] == "higher" else (of.bias.high < 0)
        if "contradicts" in sentence:
            assert of.kappa is not None
            assert of.kappa.high < 0
        if "nobody rated twice" in sentence:
            assert of.n_paired == 0
        if "It passes if" in sentence:
            assert of.finding is JudgeFinding.EQUAL


@pytest.mark.parametrize("name", NAMES)
def test_next_step_fits_what_is_lacking(screens: dict[str, Screen], name: str) -> None:
    screen = screens[name]
    step, labels = screen.next, screen.labels.verdict
    passing = [judge for judge in screen.judges if judge.verdict is Verdict.PASS]

    assert step.number is None or step.number > 0
    assert (step.action is Action.USE_JUDGE) == (labels is Verdict.PASS and bool(passing))
    if labels is Verdict.FAIL:
        assert step.action in {Action.REVISE_QUESTION, Action.INSTRUCT_RATER}
    if labels is Verdict.NOT_MEASURED:
        assert step.action in {Action.RATE_TWICE, Action.VARY}
    if labels is Verdict.PASS and screen.judges and not passing:
        assert step.judge in screen.assessment.judges
    if step.number is not None and step.action is not Action.USE_JUDGE:
        assert f"{step.number:,}" in step.sentence
    if "reached, not proven" in screen.labels.figure and step.judge:  # the number settles both
        n_more = screen.assessment.deciding_labels.n_more or 0
        assert (step.number or 0) >= planned(n_more)
    if match := re.search(r"With ([0-9,]+) in all", step.reason):
        [paired] = {of[0].n_paired for of in screen.assessment.judges.values()} or {0}
        assert int(match[1].replace(",", "")) == (step.number or 0) + paired


def test_expected_verdicts_of_plain_studies(screens: dict[str, Screen]) -> None:
    verdicts = {
        name: [screen.labels.verdict.value, *(of.verdict.value for of in screen.judges)]
        for name, screen in screens.items()
    }
    assert verdicts["a judge like people"] == ["pass", "pass"]
    assert verdicts["a poor judge"] == ["pass", "fail"]
    assert verdicts["a reversed judge"] == ["pass", "fail"]
    assert verdicts["a constant judge"] == ["pass", "fail"]
    assert verdicts["a copied judge"][1] == "not_measured"
    assert verdicts["opposed raters"] == ["fail"]
    assert verdicts["all equal"] == ["not_measured", "not_measured"]
    assert verdicts["one rater"] == ["not_measured", "need_more_data"]
    assert verdicts["judges only"] == ["not_measured"] * 3
    assert verdicts["no item in common"][1] == "not_measured"
    assert verdicts["few items"][1] == "need_more_data"
    assert verdicts["another scale"][1] == "not_measured"
    assert verdicts["random labels"] == ["fail", "not_measured"]


@pytest.mark.parametrize(("n", "is_odd"), [(60, True), (12, False)])
def test_raters_who_never_differ_are_doubted(n: int, *, is_odd: bool) -> None:
    """A column that was copied passes every minimum."""
    ratings, _ = lenient(n, 0.3, raters=1)
    screen = shown(question(np.repeat(ratings, 2, axis=1), {}, scale=Scale(low=1, high=5)))

    assert ("none is a copy" in screen.labels.sentence) == is_odd


def test_a_lenient_rater_is_named_where_the_bar_is_low() -> None:
    """The judge agrees with people better than they do with each other."""
    ratings, quality = lenient(120, 0.1, raters=3)
    judge = np.searchsorted([-0.8, 0.0, 0.8, 3.0], quality) + 1.5
    screen = shown(question(ratings, {"gpt": judge}, scale=Scale(low=1, high=5)))
    cause = screen.assessment.labels[0].cause
    worse = shown(question(ratings, {"gpt": 6 - judge}, scale=Scale(low=1, high=5)))
    equal = np.delete(ratings, 0, axis=1)
    without = shown(
        question(np.repeat(equal, 2, axis=1), {"gpt": judge}, scale=Scale(low=1, high=5))
    )

    assert isinstance(cause, SeverityGap)
    assert "The bar is low: anna rates 1.1 higher than cleo." in screen.judges[0].sentence
    assert "The bar is low" not in worse.judges[0].sentence
    assert "The bar is low" not in without.judges[0].sentence


@pytest.mark.parametrize(
    ("n", "noise", "rest", "sentence", "step"),
    [
        (120, 0.05, 0.6, "people agree less on the others.", "Have gpt score the 120 tickets that"),
        (40, 0.3, 0.3, "Compared on 40 of 160 rated tickets.", "Have gpt score "),
    ],
)
def test_judge_that_scored_some_items_says_so_and_scores_the_others(
    n: int, noise: float, rest: float, sentence: str, step: str
) -> None:
    ratings, quality = rated(n, noise)
    scores = np.append(judged(quality, noise), np.full(120, np.nan))
    screen = shown(question(np.vstack([ratings, rated(120, rest, seed=2)[0]]), {"gpt": scores}))

    assert screen.labels.verdict is Verdict.PASS
    assert screen.judges[0].verdict is Verdict.NEED_MORE_DATA
    assert sentence in screen.judges[0].sentence
    assert screen.next.sentence.startswith(step)


@pytest.mark.parametrize(
    ("ratings", "sentence", "reason"),
    [
        (
            lenient(120, 0.6)[0],
            "Have anna and ben agree on an example for each score",
            "anna rates 1.0 higher than ben.",
        ),
        (
            mixed(120)[0],
            "Write down what separates 3 from 4, with an example of each",
            "100 % of disagreements are between 3 and 4.",
        ),
        (rated(120, 0.9)[0], "Rewrite the question with an example for each score", ""),
    ],
)
def test_next_step_names_what_most_disagreement_comes_from(
    ratings: Floats, sentence: str, reason: str
) -> None:
    gates = {**default_gates(), "human_alpha": Gate(minimum=0.95)}
    screen = shown(question(ratings), gates=gates)

    assert screen.labels.verdict is Verdict.FAIL
    assert screen.next.sentence.startswith(f"{sentence}; then have ")
    assert screen.next.reason == (reason or "More labels under this question would not help.")


def test_judge_that_keeps_the_test_of_another_closed_is_to_go() -> None:
    ratings, quality = rated(120, 0.3)
    judges = {"good": judged(quality, 0.2), "odd": judged(quality, 3.0)}
    screen = shown(question(ratings, judges))
    apart = replace(screen.assessment, are_judges_apart=True)
    step = first_step(screen.reading, apart)
    of_one = {"odd": apart.judges["odd"]}

    assert screen.next.action is Action.USE_JUDGE
    assert step.text == (
        "Take odd out of evaluation.yaml. Judges that disagree hold up the held-out test of good."
    )
    assert first_step(screen.reading, replace(apart, judges=of_one)).action is not step.action
