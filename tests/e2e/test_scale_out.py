"""Four workers of Celery on one evaluation, with servers and workers killed on the way.

The ledger is on PostgreSQL, the broker is Redis: both are the real servers, on loopback.
"""

import bisect
import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Evaluated, clean_environment
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider, running
from tests.postgres import Postgres, postgres_programs, running_postgres

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
N_WORKERS = 4
N_UNITS = 300
N_RATINGS = 2 * N_UNITS
PER_MINUTE = 900
BUDGET_USD = 0.5
LONGEST_SECONDS = 600
"""How long anything may take before the test gives up, on a machine that is busy."""

FAULTS = Faults(rates={"server_error": 0.05, "overloaded": 0.03, "reset": 0.02}, seed=5)
"""One request in ten: what passes, so that every unit has its score in the end."""

DECLARED = f"""name: scale-out
rubric: [{{id: clarity, question: How clear is it?, scale: likert5}}]
judges:
  - {{id: gpt, provider: openai, model: gpt-6-luna, requests_per_minute: {PER_MINUTE}}}
  - {{id: haiku, provider: anthropic, model: claude-haiku-5-5, requests_per_minute: {PER_MINUTE}}}
gates: {{judge_alpha: {{min: -1}}, human_alpha: {{min: -1}}}}
budget_usd: {BUDGET_USD}
"""


@pytest.fixture
def mortal_postgres() -> Iterator[Postgres]:
    """A PostgreSQL server that no other test uses, so that it may be killed."""
    programs = postgres_programs()
    if programs is None and "EVAL_ASSETS_NO_SKIPS" in os.environ:
        pytest.fail("EVAL_ASSETS_NO_SKIPS is set, and PostgreSQL is not installed")
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with running_postgres(programs) as server:
        yield server


def make(path: Path, declared: str) -> Evaluated:
    """Return a folder of 300 responses with labels of two raters."""
    path.mkdir()
    (path / "evaluation.yaml").write_text(declared)
    rows = [f"a{k},Question {k},Answer {k},m{k % 2}" for k in range(N_UNITS)]
    header = "response_id,prompt_text,response_text,model_name"
    (path / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
    rows = [f"a{k},{rater},clarity,{1 + k % 5}" for k in range(N_UNITS) for rater in ("r1", "r2")]
    header = "response_id,rater_id,question_id,rating"
    (path / "labels.csv").write_text("\n".join([header, *rows]) + "\n")
    return Evaluated(path)


@contextmanager
def workers(programs: Path, environment: Mapping[str, str], logs: Path) -> Iterator[None]:
    """Start Celery's workers as docs/scale-out.md says, and end them with all that they started."""
    command = [
        str(programs / "celery"),
        "--app",
        "dagster_celery.app",
        "worker",
        "--queues",
        "dagster",
    ]
    started = []
    for number in range(N_WORKERS):
        with (logs / f"worker{number}.log").open("wb") as output:
            options = ["--concurrency", "1", "--hostname", f"worker{number}@%h"]
            options += ["--pidfile", f"worker{number}.pid"]
            started.append(
                subprocess.Popen(
                    [*command, *options],
                    env=environment,
                    cwd=logs,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )
    try:
        yield
    finally:
        for worker in started:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def await_requests(provider: RunningProvider, n: int, run: subprocess.Popen[str]) -> None:
    """Wait until so many requests were received."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while len(provider.log.completions) < n:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def step_process(pid_file: Path) -> int:
    """Return the process in which a worker executes its step: its only child."""
    pid = pid_file.read_text().strip()
    children = Path(f"/proc/{pid}/task/{pid}/children")
    deadline = time.monotonic() + LONGEST_SECONDS
    while not (result := children.read_text().split()):  # between two steps
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(result[-1])


def busiest(provider: RunningProvider, vendor: str, *, seconds: float) -> int:
    """Most requests that a vendor received within so many seconds."""
    at = [item.at_seconds for item in provider.log.completions if item.vendor == vendor]
    return max(bisect.bisect_right(at, start + seconds) - first for first, start in enumerate(at))


def unit_of(body: bytes) -> str:
    """Return what a request asks of which model."""
    request = json.loads(body)
    return json.dumps([request["model"], request["messages"]])


def figures(folder: Evaluated) -> list[tuple[object, ...]]:
    """Return scores and what they amount to."""
    result = folder.rows(
        "SELECT response_id, judge_id, score, status FROM judge_scores ORDER BY ALL"
    )
    for table in ("judge_agreement", "judge_human_agreement"):
        result += folder.rows(f"SELECT * FROM {table} ORDER BY ALL")  # noqa: S608 - our own names
    return result


def test_workers_and_servers_that_are_killed_change_nothing_but_the_time_it_takes(
    tmp_path: Path, program_folder: Path, broker: str, mortal_postgres: Postgres
) -> None:
    folder = make(tmp_path / "four", DECLARED + "judging: {shards: 5}\n")
    alone = make(tmp_path / "one", DECLARED)
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(TOP / "dagster.yaml", home)
    behaviour = Behaviour(latency_seconds=0.5, faults=FAULTS, retry_after_seconds=0.1)
    with running(behaviour) as provider:
        keys = {"OPENAI_API_KEY": "sk-of-the-tests", "ANTHROPIC_API_KEY": "sk-of-the-tests"}
        plain = clean_environment() | keys | provider.environment
        environment = plain | {
            "DAGSTER_HOME": str(home),
            "EVAL_DATA": str(folder.path),
            "EVAL_LEDGER": mortal_postgres.new_database(),
            "EVAL_EXECUTOR": "celery",
            "EVAL_BROKER": broker,
            "PYTHONPATH": str(TOP / "deploy" / "celery"),
        }
        run = subprocess.Popen(
            [
                program_folder / "eval-assets",
                "run",
                "--select",
                "+judge_human_agreement,+judge_agreement",
            ],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with workers(program_folder, environment, tmp_path):
            await_requests(provider, N_RATINGS // 4, run)
            os.kill(step_process(tmp_path / "worker0.pid"), signal.SIGKILL)
            await_requests(provider, N_RATINGS // 2, run)
            mortal_postgres.kill()
            mortal_postgres.start()
            output, _ = run.communicate(timeout=LONGEST_SECONDS)
        assert run.returncode == 0, output
        requests = provider.log.completions

        scored = folder.rows("SELECT count(*), count(score) FROM judge_scores")
        assert scored == [(N_RATINGS, N_RATINGS)]
        twice = folder.rows(
            "SELECT call_key FROM judge_calls WHERE raw_output IS NOT NULL "
            "GROUP BY call_key HAVING count(*) > 1"
        )
        assert not twice
        # What a kill loses: replies that were on their way, of at most 64 in flight to a vendor.
        answered = Counter(unit_of(item.body) for item in requests if item.status == 200)
        assert len(answered) == N_RATINGS
        assert sum(answered.values()) - N_RATINGS <= 2 * 64 * (1 + N_WORKERS)
        for vendor in ("openai", "anthropic"):
            # A server that is killed forgets what was taken in the last moment.
            assert busiest(provider, vendor, seconds=10) <= PER_MINUTE * 16 / 60 < N_UNITS
        [(spent,)] = folder.rows("SELECT sum(cost_usd) FROM judge_calls")
        assert isinstance(spent, float)
        assert spent <= BUDGET_USD

        provider.behave(Behaviour())
        done = alone.run(
            "run",
            "--select",
            "+judge_human_agreement,+judge_agreement",
            environment=plain,
            program=program_folder / "eval-assets",
        )
        assert done.returncode == 0, done.stderr
    assert figures(folder) == figures(alone)
