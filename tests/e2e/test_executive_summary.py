"""The executive summary is asked of a judge through the ledger, and checked before it is shown."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.summarizing import written_summary
from eval_assets.config.evaluation import Evaluation, ExecutiveSummary
from eval_assets.shown.markdown import report_markdown
from eval_assets.shown.summary_numbers import unknown_numbers
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider, running
from tests.unit.cases import Case
from tests.unit.shown.reports import report


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningProvider]:
    with running() as started:
        for name, value in started.environment.items():
            monkeypatch.setenv(name, value)
        yield started


def evaluation_in(folder: Path) -> Evaluation:
    evaluation = Case().data().evaluation
    return replace(evaluation, folder=folder, executive_summary=ExecutiveSummary("gpt"))


def test_a_summary_is_written_once_for_the_same_figures(
    tmp_path: Path, provider: RunningProvider
) -> None:
    evaluation, folder = evaluation_in(tmp_path), EvaluationFolder.at(tmp_path)
    rendered = replace(report(), made_at=None)
    first = written_summary(rendered, evaluation, folder, run_id="run-1")
    n_requests = len(provider.log.completions)
    second = written_summary(rendered, evaluation, folder, run_id="run-2")

    assert (first["judge_id"], first["model"]) == ("gpt", "gpt-6-luna")
    assert isinstance(first["summary"], str)
    figures = report_markdown(rendered, with_texts=False)
    assert unknown_numbers(first["summary"], figures, evaluation) == ()
    assert "Use sorted" not in figures
    assert second == first
    assert len(provider.log.completions) == n_requests == 1


def test_a_judge_that_does_not_answer_leaves_a_reason(
    tmp_path: Path, provider: RunningProvider
) -> None:
    provider.behave(Behaviour(faults=Faults(rates={"refusal": 1.0})))
    evaluation, folder = evaluation_in(tmp_path), EvaluationFolder.at(tmp_path)
    row = written_summary(report(), evaluation, folder, run_id="run-1")

    assert row["summary"] is None
    assert str(row["refused_because"]).startswith("refused")


def test_numbers_that_the_report_does_not_hold_are_named(tmp_path: Path) -> None:
    evaluation = evaluation_in(tmp_path)
    written = "Of 120 responses, two raters and gpt-6-luna agree on 0.91; three judges on 4,000."

    assert unknown_numbers(written, "120 responses, 2 raters, 0.91", evaluation) == (
        *("4,000", "three"),
    )
