"""The executive summary is asked of a judge through the ledger, and checked before it is shown."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.summarizing import written_summary
from eval_assets.config.evaluation import ExecutiveSummary
from eval_assets.report.data import ReportData
from eval_assets.report.sections.summary import unknown_numbers
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider, running
from tests.unit.report.builder import Case


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningProvider]:
    with running() as started:
        for name, value in started.environment.items():
            monkeypatch.setenv(name, value)
        yield started


def data_in(folder: Path) -> ReportData:
    data = Case().data()
    evaluation = replace(data.evaluation, folder=folder, executive_summary=ExecutiveSummary("gpt"))
    return replace(data, evaluation=evaluation)


def test_a_summary_is_written_once_for_the_same_figures(
    tmp_path: Path, provider: RunningProvider
) -> None:
    data, folder = data_in(tmp_path), EvaluationFolder.at(tmp_path)
    first = written_summary(data, folder, run_id="run-1")
    n_requests = len(provider.log.completions)
    second = written_summary(data, folder, run_id="run-2")

    assert (first["judge_id"], first["model"]) == ("gpt", "gpt-6-luna")
    assert isinstance(first["summary"], str)
    assert unknown_numbers(first["summary"], data) == ()
    assert second == first
    assert len(provider.log.completions) == n_requests == 1


def test_a_judge_that_does_not_answer_leaves_a_reason(
    tmp_path: Path, provider: RunningProvider
) -> None:
    provider.behave(Behaviour(faults=Faults(rates={"refusal": 1.0})))
    row = written_summary(data_in(tmp_path), EvaluationFolder.at(tmp_path), run_id="run-1")

    assert row["summary"] is None
    assert str(row["refused_because"]).startswith("refused")
