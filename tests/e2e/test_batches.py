"""Judges by batch: submitted by one run, collected by a later one."""

from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.store.connection import connect
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.server import running

EVALUATION = """\
name: made-up
rubric:
  - {id: helpful, question: Is it helpful?, scale: {min: 1, max: 4}}
judges:
  - {id: gpt, provider: openai, model: gpt-6-luna, batch: true}
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5, batch: true}
"""


def statuses(folder: Path) -> list[tuple[str, int]]:
    """Units of all judges by status, after one more run."""
    names = ["rubric_questions", "model_responses", "judge_scores"]
    outcome = (
        project_definitions(folder)
        .resolve_job_def("evaluate")
        .execute_in_process(
            asset_selection=[dg.AssetKey(name) for name in names],
        )
    )
    assert outcome.success
    with connect(folder / "out" / "eval.duckdb") as connection:
        return connection.execute(
            "SELECT status, count(*) FROM judge_scores GROUP BY ALL ORDER BY ALL"
        ).fetchall()


@pytest.mark.slow
def test_batches_are_submitted_and_collected_by_later_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evaluation.yaml").write_text(EVALUATION)
    answers = "".join(f"a{k},Prompt {k},Answer {k},m\n" for k in range(5))
    header = "response_id,prompt_text,response_text,model_name\n"
    (tmp_path / "responses.csv").write_text(header + answers)
    with running(Behaviour(batch_polls=1)) as provider:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)
        assert statuses(tmp_path) == [("missing", 10)]
        assert statuses(tmp_path) == [("missing", 10)]
        assert statuses(tmp_path) == [("ok", 10)]
        n_received = provider.log.n_received
        assert statuses(tmp_path) == [("ok", 10)]
        assert provider.log.n_received == n_received
