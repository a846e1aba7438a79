"""Complete judging, compared with the vendor's bare client on the same server in the same run."""

import asyncio
import math
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import openai

from benchmarks.table import Row, duration, markdown
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.live_model import LiveModel, live_models
from eval_assets.judges.calling.requests import ModelRequest
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.clients.openai import OpenAIClient
from eval_assets.judges.judging import judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate, verdict_schema
from eval_assets.ledger import WHOLE, Shard
from eval_assets.scale import Scale
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.postgres import postgres_programs, running_postgres

N_CALLS = 5_000
N_SHARED_CALLS = 2_000
N_IN_FLIGHT = 200
N_SLOW_CALLS = 200
"""Calls of each process where every reply takes a second."""
N_SLOW_IN_FLIGHT = 50
QUESTION = RubricQuestion("usefulness", "How useful?", Scale.from_steps(low=0, high=4), "ordinal")
TEMPLATE = PromptTemplate.load(None)


@dataclass(frozen=True)
class Cost:
    """Duration of some calls without the server's share."""

    wall_seconds: float
    cpu_seconds: float


def table() -> str:
    """Measure everything."""
    with serving(latency_seconds=0.1) as environ:
        bare, whole = zip(
            *[(_bare(environ, new_units(N_CALLS)), _whole(environ)) for _ in range(2)], strict=True
        )
    with serving(latency_seconds=0.5) as environ:
        documents = _five_documents(environ)
    with serving(latency_seconds=0.1) as environ:
        shared = list(_shared_ledgers(environ))
    with serving(latency_seconds=1.0) as environ:
        slow = list(_latency_bound(environ))
    return markdown([*_throughput(_best(bare), _best(whole)), *shared, *slow, documents])


def _best(costs: tuple[Cost, ...]) -> Cost:
    """The run that was least disturbed by other processes."""
    return min(costs, key=lambda cost: cost.wall_seconds)


def _throughput(bare: Cost, whole: Cost) -> list[Row]:
    share = bare.wall_seconds / whole.wall_seconds
    return [
        Row(
            work=f"{N_CALLS:,} calls, {N_IN_FLIGHT} in flight: prompt, limiter, parse, ledger",
            ours=f"{N_CALLS / whole.wall_seconds:.0f} a second",
            peer=f"openai alone: {N_CALLS / bare.wall_seconds:.0f} a second",
            ratio=f"{share:.2f} x",
            target="at least 0.9 x its speed",
            met=share >= 0.9,
        ),
        Row(
            work="CPU per call, of the same",
            ours=duration(whole.cpu_seconds / N_CALLS),
            peer=f"openai alone: {duration(bare.cpu_seconds / N_CALLS)}",
            ratio=f"{bare.cpu_seconds / whole.cpu_seconds:.2f} x",
            target="at most 1.3 x its CPU",
            met=whole.cpu_seconds <= 1.3 * bare.cpu_seconds,
        ),
    ]


def _shared_ledgers(environ: dict[str, str]) -> Iterator[Row]:
    """Several processes on one ledger, beside as many that use the bare client."""
    bare = {n: _in_processes(n, partial(_part, n, environ, None, None)) for n in (1, 2, 4)}
    programs = postgres_programs()
    with running_postgres(programs) if programs else nullcontext() as server:
        for place in ("SQLite", "PostgreSQL") if server else ("SQLite",):
            for n, bare_seconds in bare.items():
                inputs = server.new_database() if server and place == "PostgreSQL" else None
                with tempfile.TemporaryDirectory() as name:
                    part = partial(_part, n, environ, Path(name), inputs)
                    seconds = _in_processes(n, part)
                share = bare_seconds / seconds
                yield Row(
                    work=f"{n} {'process' if n == 1 else 'processes'} on one ledger ({place}), "
                    f"{N_SHARED_CALLS:,} calls, {N_IN_FLIGHT} in flight each",
                    ours=f"{N_SHARED_CALLS / seconds:.0f} a second",
                    peer=f"openai alone: {N_SHARED_CALLS / bare_seconds:.0f} a second",
                    ratio=f"{share:.2f} x",
                    target="at least 0.9 x its speed",
                    met=share >= 0.9,
                )


def _latency_bound(environ: dict[str, str]) -> Iterator[Row]:
    """Processes that wait for replies of one second: as many as do not wait for one another."""
    programs = postgres_programs()
    with running_postgres(programs) if programs else nullcontext() as server:
        for place in ("SQLite", "PostgreSQL") if server else ("SQLite",):
            alone = math.nan
            for n in (1, 2, 4):
                inputs = server.new_database() if server and place != "SQLite" else None
                with tempfile.TemporaryDirectory() as name:
                    part = partial(_slow_part, n, environ, Path(name), inputs)
                    a_second = n * N_SLOW_CALLS / _in_processes(n, part)
                alone = a_second if n == 1 else alone
                times = a_second / alone
                yield Row(
                    work=f"{n} {'process' if n == 1 else 'processes'} on one ledger ({place}), "
                    f"replies after 1.0 s, {N_SLOW_IN_FLIGHT} in flight each",
                    ours=f"{a_second:.0f} a second",
                    peer=f"at most {n * N_SLOW_IN_FLIGHT} a second",
                    ratio=f"{times:.2f} x one process",
                    target=f"at least {0.9 * n:.1f} x" if n > 1 else "",
                    met=n == 1 or times >= 0.9 * n,
                )


def _in_processes(n_processes: int, part: Callable[[int], tuple[float, float]]) -> float:
    """Return the seconds from the first start to the last end of parts by number."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(n_processes)
    with ProcessPoolExecutor(
        n_processes, mp_context=context, initializer=_meet_at, initargs=(barrier,)
    ) as pool:
        times = list(pool.map(part, range(n_processes)))
    return max(end for _, end in times) - min(start for start, _ in times)


_barriers: list[Any] = []


def _meet_at(barrier: Any) -> None:  # noqa: ANN401 - a proxy of multiprocessing's
    """Keep where the processes wait for one another."""
    _barriers.append(barrier)


def _part(
    n_processes: int, environ: dict[str, str], folder: Path | None, value: str | None, number: int
) -> tuple[float, float]:
    """Send a part of the calls when all processes are ready, by the client without a folder."""
    units = new_units(N_SHARED_CALLS // n_processes, named=f"part{number}x")
    if folder is None:
        _barriers[0].wait()
        started = time.monotonic()
        _bare(environ, units)
        return started, time.monotonic()
    judge = Judge("gpt", "openai", "gpt-6-luna", max_in_flight=N_IN_FLIGHT)
    return _timed(units, judge, environ, folder, value, Shard(number, n_processes))


def _slow_part(
    n_processes: int, environ: dict[str, str], folder: Path, value: str | None, number: int
) -> tuple[float, float]:
    """Send as many calls as every other process when all processes are ready."""
    units = new_units(N_SLOW_CALLS, named=f"part{number}x")
    judge = Judge("gpt", "openai", "gpt-6-luna", max_in_flight=N_SLOW_IN_FLIGHT)
    return _timed(units, judge, environ, folder, value, Shard(number, n_processes))


def _timed(  # noqa: PLR0913, PLR0917 - what is asked, of whom, and where it is kept
    units: list[Unit],
    judge: Judge,
    environ: dict[str, str],
    folder: Path,
    value: str | None,
    shard: Shard,
) -> tuple[float, float]:
    """Send once all processes are ready; return start and end."""
    with new_ledger(folder, value=value, shard=shard) as ledger:
        judges = ready_judges(environ, judge)
        judge_units(new_units(1, named=f"warm{shard.index}x"), judges, ledger)
        _barriers[0].wait()
        started = time.monotonic()
        judge_units(units, judges, ledger)
        return started, time.monotonic()


def _five_documents(environ: dict[str, str]) -> Row:
    """Five documents by two judges of 0.5 s latency, once clients are imported and tables made."""
    judges = ready_judges(
        environ,
        Judge("gpt", "openai", "gpt-6-luna", max_in_flight=N_SLOW_IN_FLIGHT),
        Judge("haiku", "anthropic", "claude-haiku-5-5", max_in_flight=N_SLOW_IN_FLIGHT),
    )
    with tempfile.TemporaryDirectory() as name, new_ledger(Path(name)) as ledger:
        judge_units(new_units(1), judges, ledger)
        took = min(
            measured(partial(judge_units, new_units(5, named=f"{i}"), judges, ledger)).wall_seconds
            for i in range(5)
        )
    return Row(
        work="5 documents x 2 judges of 0.5 s latency",
        ours=duration(took),
        peer="",
        ratio="",
        target="below 0.8 s",
        met=took < 0.8,
    )


def _whole(environ: dict[str, str]) -> Cost:
    """Everything that a run does."""
    judge = Judge("gpt", "openai", "gpt-6-luna", max_in_flight=N_IN_FLIGHT)
    judges = ready_judges(environ, judge)
    with tempfile.TemporaryDirectory() as name, new_ledger(Path(name)) as ledger:
        return measured(partial(judge_units, new_units(N_CALLS), judges, ledger))


@contextmanager
def new_ledger(folder: Path, *, value: str | None = None, shard: Shard = WHOLE) -> Iterator[Worker]:
    """A ledger as users have it, its tables made, and the slots of a shard held."""
    with (
        open_ledger(folder, evaluation="benchmark", setting=value) as ledger,
        Worker(ledger, asset="judge_scores", judge_ids=["gpt", "haiku"], shard=shard) as worker,
    ):
        yield worker


def judge_units(units: list[Unit], judges: list[LiveModel[Judge]], ledger: Worker) -> None:
    """Let judges score units; every score is there in the end."""
    keys = {judge.id: "sk-benchmark" for judge in judges}
    options = RequestOptions(keys, report=lambda _: None)
    summary = asyncio.run(
        judge_portions([units], judges, ledger, template=TEMPLATE, options=options)
    )
    assert {score.status for score in summary.scores} == {"ok"}


def _bare(environ: dict[str, str], units: list[Unit]) -> Cost:
    """The same requests by the client alone: no limiter, no retry, no parsing, no ledger."""
    (judge,) = ready_judges(environ, Judge("gpt", "openai", "gpt-6-luna"))
    bodies = [OpenAIClient.request_body(_request(judge, unit)) for unit in units]

    async def ask_all() -> None:
        async with openai.AsyncOpenAI(
            api_key="sk-benchmark",
            base_url=environ["OPENAI_BASE_URL"],
            max_retries=0,
            timeout=None,  # connecting takes long when all begin at once
        ) as client:
            in_flight = asyncio.Semaphore(N_IN_FLIGHT)

            async def ask(body: dict[str, Any]) -> None:
                async with in_flight:
                    await client.chat.completions.create(**body)

            await asyncio.gather(*(ask(body) for body in bodies))

    return measured(lambda: asyncio.run(ask_all()))


def _request(judge: LiveModel[Judge], unit: Unit) -> ModelRequest:
    return ModelRequest(
        endpoint=judge.endpoint,
        messages=TEMPLATE.render(
            QUESTION, prompt_text=unit.prompt_text, response_text=unit.response_text
        ),
        settings=judge.settings,
        max_tokens=judge.max_tokens,
        max_tokens_name=judge.capabilities.max_tokens_name,
        schema=verdict_schema(QUESTION.scale),
    )


def ready_judges(environ: dict[str, str], *judges: Judge) -> list[LiveModel[Judge]]:
    """Return judges, ready to receive requests."""
    evaluation = Evaluation("benchmark", Path(), (QUESTION,), (), judges=judges)
    return live_models(
        evaluation, evaluation.live_judges, environ=environ, today=date(2026, 11, 21)
    )


def new_units(n: int, *, named: str = "x") -> list[Unit]:
    """Return different responses to rate."""
    return [
        Unit(f"r{i}", QUESTION, f"Sort list {i} by its second column.", f"sorted({named}{i})" * 20)
        for i in range(n)
    ]


def measured(work: Callable[[], None]) -> Cost:
    """Return the duration of some work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


@contextmanager
def serving(*, latency_seconds: float, faults: str = "") -> Iterator[dict[str, str]]:
    """A fake provider in a process of its own, so that its work does not count as ours."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--latency", str(latency_seconds)]
    options += ["--fault", faults] if faults else []
    server = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.fake_provider", *options],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(port)
        yield {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        }
    finally:
        server.terminate()
        server.wait()


def _await(port: int) -> None:
    """Wait until something listens."""
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")
