"""Responses are generated turn by turn, judged, and never asked for twice."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.store.connection import connect
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider, running

EVALUATION = """\
name: made-up
rubric:
  - {id: helpful, question: Is it helpful?, scale: {min: 1, max: 4}}
generators:
  - {id: luna, provider: openai, model: gpt-6-luna}
  - {id: haiku-gen, provider: anthropic, model: claude-haiku-5-5}
judges:
  - {id: gpt, provider: openai, model: gpt-6-luna}
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}
"""
PROMPTS = """\
indicator_id\tconvo_id\tturn_index\tprompt_text\tdifficulty
L4\tc1\t1\tHow do I boil an egg?\teasy
L4\tc1\t2\tAnd two eggs?\teasy
L4\tc2\t1\tTell me about birds.\ttough
"""


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningProvider]:
    """Both vendors, on loopback."""
    with running() as started:
        for name, value in started.environment.items():
            monkeypatch.setenv(name, value)
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation whose responses are to be generated."""
    (tmp_path / "evaluation.yaml").write_text(EVALUATION)
    (tmp_path / "prompts.tsv").write_text(PROMPTS)
    return tmp_path


def run(folder: Path) -> dg.ExecuteInProcessResult:
    """Generate and judge."""
    names = ["generated_responses", "rubric_questions", "model_responses", "judge_scores"]
    return (
        project_definitions(folder)
        .resolve_job_def("evaluate")
        .execute_in_process(
            asset_selection=[dg.AssetKey(name) for name in names],
            raise_on_error=False,
        )
    )


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    """Rows of the folder's database."""
    with connect(folder / "out" / "eval.duckdb") as connection:
        return connection.execute(query).fetchall()


def test_second_turn_is_asked_with_the_first_and_its_answer(
    folder: Path, provider: RunningProvider
) -> None:
    assert run(folder).success
    conversations = [
        [message["role"] for message in request.json["messages"]]
        for request in provider.log.completions
        if any(message["content"] == "And two eggs?" for message in request.json["messages"])
        and len(request.json["messages"]) > 2
    ]
    assert conversations == [["user", "assistant", "user"]] * 2


@pytest.mark.slow
def test_generated_responses_are_judged_and_nothing_is_asked_twice(
    folder: Path, provider: RunningProvider
) -> None:
    assert run(folder).success
    n_asked = len(provider.log.completions)
    assert rows(folder, "SELECT model_name, count(*) FROM responses GROUP BY ALL ORDER BY ALL") == [
        ("haiku-gen", 3),
        ("luna", 3),
    ]
    assert rows(folder, "SELECT status, count(*) FROM judge_scores GROUP BY ALL") == [("ok", 12)]
    assert run(folder).success
    assert len(provider.log.completions) == n_asked


@pytest.mark.slow
def test_failed_generation_is_a_row_and_never_judged(
    folder: Path, provider: RunningProvider
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"birds": "bad_request"})))
    assert run(folder).success
    failed = rows(
        folder, "SELECT DISTINCT convo_id, status FROM generated_responses WHERE status <> 'ok'"
    )
    assert failed == [("c2", "api_error")]
    assert rows(folder, "SELECT count(*) FROM responses WHERE convo_id = 'c2'") == [(0,)]
    assert rows(folder, "SELECT count(*) FROM judge_scores") == [(8,)]


@pytest.mark.slow
def test_one_cap_holds_for_generating_and_judging_together(
    folder: Path, provider: RunningProvider
) -> None:
    """The worst case of one generated answer already exceeds so small a budget."""
    (folder / "evaluation.yaml").write_text(EVALUATION + "budget_usd: 0.000001\n")
    run(folder)
    assert not provider.log.completions
    assert rows(folder, "SELECT DISTINCT status FROM generated_responses ORDER BY 1") == [
        ("budget_stopped",),
        ("missing",),
    ]


@pytest.mark.slow
def test_missing_key_is_said_before_anything_is_asked(
    folder: Path, provider: RunningProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example.com/v1")
    result = run(folder)
    [failure] = [
        event
        for event in result.all_events
        if event.is_step_failure and "__generated_responses" in str(event.step_key)
    ]
    output = failure.step_failure_data.user_failure_data
    assert output is not None
    assert output.description is not None
    assert "luna needs OPENAI_API_KEY, which is not set" in output.description
    assert not provider.log.completions
