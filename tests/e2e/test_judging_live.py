"""Live judges on a real ledger: killed, run twice at once, and run as assets."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import Evaluated, clean_environment
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults, mixed_rates
from tests.fake_provider.server import RunningProvider, running

Started = subprocess.Popen[str]

KEY = "sk-secret-of-the-tests"
N_UNITS = 60
N_CALLS = 2 * N_UNITS

JUDGE = """
import asyncio, json, os, sys
from datetime import date
from pathlib import Path
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import AskedModel, Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.calling.live_model import live_judges
from eval_assets.judges.judging import judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.scale import LIKERT5
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker

question = RubricQuestion("clarity", "How clear is it?", LIKERT5, "ordinal")
units = [Unit(f"r{i}", question, f"Prompt {i}", f"Answer {i}") for i in range(int(sys.argv[2]))]
judges = (
    Judge("gpt", "openai", "gpt-6-luna", max_in_flight=16),
    Judge("haiku", "anthropic", "claude-haiku-5-5", max_in_flight=16),
)
evaluation = Evaluation("test", Path(), (question,), judges=judges)
folder = Path(sys.argv[1])
database = folder / "eval.duckdb"
with open_ledger(folder, evaluation="test", database=database, setting=None) as ledger:
    with Worker(ledger, asset="judge_scores") as worker:
        summary = asyncio.run(
            judge_portions(
                [units],
                live_judges(evaluation, environ=os.environ, today=date(2026, 11, 21)),
                worker,
                template=PromptTemplate.load(None),
                options=RequestOptions(api_keys(judges)),
            )
        )
print(json.dumps([score.status for score in summary.scores]))
"""
"""A run without Dagster, which takes longer to start than this takes in all."""


@pytest.fixture
def provider() -> Iterator[RunningProvider]:
    """The fake provider, slow enough to be interrupted."""
    with running(Behaviour(latency_seconds=0.1)) as running_provider:
        yield running_provider


@pytest.fixture
def environment(provider: RunningProvider) -> dict[str, str]:
    """The SDKs' own variables."""
    keys = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    return clean_environment() | provider.environment | keys


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[[], Started]]:
    """Starts a run as a process of its own, which is ended with the test."""
    processes: list[Started] = []

    def _start() -> Started:
        command = [sys.executable, "-c", JUDGE, str(tmp_path), str(N_UNITS)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    yield _start
    for process in processes:
        process.kill()
        process.communicate()


def counted(folder: Path, text: str) -> int:
    """Return the counts of the ledger."""
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        return int(connection.execute(f"SELECT {text} FROM attempts").fetchone()[0])  # noqa: S608 - counts below


def n_replies(folder: Path) -> int:
    """Requests with a reply in the ledger."""
    return counted(folder, "count(DISTINCT call_key) FILTER (WHERE raw_output IS NOT NULL)")


def statuses(process: Started) -> list[str]:
    """Return the result of a run that ended well."""
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    result: list[str] = json.loads(output)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_loses_only_calls_in_flight_and_the_next_asks_for_the_rest(
    provider: RunningProvider, start: Callable[[], Started], tmp_path: Path, end: signal.Signals
) -> None:
    killed = start()
    while provider.log.n_received < N_CALLS / 3:
        assert killed.poll() is None
        time.sleep(0.01)
    killed.send_signal(end)
    killed.communicate(timeout=600)
    assert killed.returncode != 0
    n_asked, n_kept = provider.log.n_received, n_replies(tmp_path)
    # Lost is what was in flight, and what had arrived and waited for its commit.
    in_flight, waiting = 2 * 16, 2 * 2 * 16
    assert n_asked - in_flight - waiting <= n_kept < N_CALLS
    assert statuses(start()) == ["ok"] * N_CALLS
    assert provider.log.n_received - n_asked == N_CALLS - n_kept
    assert n_replies(tmp_path) == N_CALLS


@pytest.mark.slow
def test_two_runs_at_once_make_exactly_the_requests_of_one(
    provider: RunningProvider, start: Callable[[], Started], tmp_path: Path
) -> None:
    runs = [start(), start()]
    assert [statuses(run) for run in runs] == [["ok"] * N_CALLS] * 2
    assert n_replies(tmp_path) == N_CALLS
    assert counted(tmp_path, "count(*)") == N_CALLS
    assert provider.log.n_received == N_CALLS


@pytest.mark.slow
def test_the_asset_scores_everything_and_a_second_run_makes_no_call(
    provider: RunningProvider,
    environment: dict[str, str],
    new_folder: Evaluated,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    faults = Faults(rates=mixed_rates(0.2), seed=3)
    provider.behave(Behaviour(faults=faults, retry_after_seconds=0.1))
    yaml = (new_folder.path / "evaluation.yaml").read_text()
    head, _, _ = yaml.partition("judges:")
    live = """judges:
  - {id: gpt, provider: openai, model: gpt-6-luna}
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}
budget_usd: 1.0
"""
    (new_folder.path / "evaluation.yaml").write_text(head + live)
    assets = ("model_responses", "rubric_questions", "judge_scores")
    assert new_folder.materialize(*assets, checks=False).success
    ((n_units, n_ok),) = new_folder.rows(
        "SELECT count(*), count(score) FROM judge_scores WHERE (score IS NULL) = (status != 'ok')"
    )
    assert n_units == 2 * 2 * 24
    assert isinstance(n_ok, int)
    assert n_ok > 70

    provider.behave(Behaviour())
    assert new_folder.materialize(*assets, checks=False).success
    provider.log.clear()
    assert new_folder.materialize(*assets, checks=False).success
    assert provider.log.n_received == 0

    ((n_attempts, cost),) = new_folder.rows(
        "SELECT count(*), sum(estimated_cost) FROM api_cost_log"
    )
    assert isinstance(n_attempts, int)
    assert n_attempts >= n_units
    assert isinstance(cost, float)
    assert 0 < cost < 1
    output = capfd.readouterr()
    assert KEY not in output.out + output.err
    for table in ("judge_calls", "judge_scores", "judges"):
        text = str(new_folder.rows(f"SELECT * FROM {table}"))  # noqa: S608 - names are above
        assert KEY not in text


def test_judges_see_the_turns_before_a_response_and_those_alone(
    provider: RunningProvider,
    environment: dict[str, str],
    new_folder: Evaluated,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (new_folder.path / "evaluation.yaml").write_text(
        "name: talk\nrubric: [{id: clarity, question: Is it clear, scale: likert5}]\n"
        "judges: [{id: gpt, provider: openai, model: gpt-6-luna}]\nlabels: []\n"
    )
    (new_folder.path / "responses.csv").write_text(
        "response_id,convo_id,turn_index,prompt_text,response_text,model_name\n"
        "b,c1,2,Is it far?,Two hours by train.,m\n"
        "a,c1,1,Where is Ulm?,On the Danube.,m\n"
        "z,c2,1,Another talk?,Quite another.,m\n"
    )

    assets = ("model_responses", "rubric_questions", "judge_scores")
    assert new_folder.materialize(*assets, checks=False).success

    prompts = [json.dumps(request.json["messages"]) for request in provider.log.completions]
    assert len(prompts) == len(("a", "b", "z"))
    [of_second] = [prompt for prompt in prompts if "Two hours by train." in prompt]
    output = [of_second.index(part) for part in ("Where is Ulm?", "On the Danube.", "Is it far?")]
    assert output == sorted(output)
    assert "Another talk?" not in of_second
    assert not any("Two hours" in prompt for prompt in prompts if prompt != of_second)
