"""The report as JSON: what the page says, and the figures behind it."""

import json
import math

from eval_assets.report.content import report_content
from eval_assets.report.json import render_json
from tests.unit.report.builder import CASES, QUESTIONS, Case, Measured


def test_sentences_are_those_of_the_page() -> None:
    data = Case().data()
    content, first = json.loads(render_json(data)), report_content(data).first

    assert (content["answer"], content["next"]) == (first.answer, first.next_step.text)
    assert [gate["sentence"] for gate in content["gates"]] == [cell.text for cell in first.gates]
    assert [judge["judge_id"] for judge in content["judges"]] == ["gpt", "haiku"]
    assert content["judge_set_fingerprint"]
    assert [judge["judge_id"] for judge in content["judge_counts"]] == ["gpt", "haiku"]
    assert isinstance(content["results_by_model"], list)


def test_figures_are_unrounded_and_undefined_ones_are_null() -> None:
    case = Case(measured=(Measured(QUESTIONS[0], a_hh=2 / 3, alpha=math.nan),))
    question = json.loads(render_json(case.data()))["human_agreement"][1]

    assert question["a_hh"] == 2 / 3
    assert question["alpha"] is None
    assert question["n_responses"] == 80


def test_every_case_is_valid_json() -> None:
    for case in CASES.values():
        json.loads(render_json(case.data()))
