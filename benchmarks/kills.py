"""`python -m benchmarks.kills`: kill live runs and count what is lost, asked twice or damaged.

Each round starts `eval-assets run` on a new folder of 400 units, kills it with -9 at a random
moment of its judging, and lets a second run finish. Another round starts two runs at once. The
judge is the fake provider, in this process: it knows when each reply was sent.
"""

import argparse
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from benchmarks.__main__ import RESULTS, machine
from benchmarks.table import Row, duration, markdown, written_between
from eval_assets.store.connection import connect
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.server import RunningProvider, running
from tests.postgres import postgres_programs, running_postgres

N_UNITS = 400
LATENCY_SECONDS = 0.25
N_IN_FLIGHT = 32
GRACE_SECONDS = 0.5
"""A reply that had been sent for so long when the run was killed must not be lost."""

PROGRAM = Path(sys.executable).with_name("eval-assets")


@dataclass(frozen=True)
class Round:
    """Result of one kill.

    Args:
        n_recorded: Replies in the ledger right after the kill.
        n_lost: Replies that had been sent for `GRACE_SECONDS` and are not in the ledger.
        oldest_lost_seconds: How long before the kill the oldest lost reply had been sent; 0 if
            none was lost at all.
        n_asked_twice: Requests that were sent again although such a reply had been sent.
        n_kept_asked_again: Requests that were sent again although the ledger holds a reply.
        n_scored: Units with a score in the end.
        n_damaged: Files that cannot be read.
    """

    n_recorded: int
    n_lost: int
    oldest_lost_seconds: float
    n_asked_twice: int
    n_kept_asked_again: int
    n_scored: int
    n_damaged: int

    @property
    def is_complete(self) -> bool:
        """Whether nothing stored was damaged or asked again, and everything is scored.

        Unlike the age of what is lost, this does not depend on how busy the machine is.
        """
        return (self.n_kept_asked_again, self.n_damaged) == (0, 0) and self.n_scored == N_UNITS


def kill_round(
    rng: random.Random, *, ledger_url: str | None = None, program: Path = PROGRAM
) -> Round:
    """Kill a run at a random moment of its judging, and let a second one finish."""
    with _folder() as folder, running(Behaviour(latency_seconds=LATENCY_SECONDS)) as provider:
        environment = _environment(provider, folder, ledger_url)
        run = _start(folder, environment, program)
        # In waves of N_IN_FLIGHT the judging takes about this long.
        n_before = rng.randrange(1, N_UNITS)
        while len(provider.log.sent_at) < n_before:
            assert run.poll() is None, _output(run)
            time.sleep(0.002)
        time.sleep(rng.uniform(0, LATENCY_SECONDS / 4))
        killed_at = time.monotonic()
        run.kill()
        run.communicate()
        records = _recorded(folder, ledger_url)
        sent_at = provider.log.sent_at
        lost = {name: at for name, at in sent_at.items() if at <= killed_at and name not in records}
        n_lost = sum(at < killed_at - GRACE_SECONDS for at in lost.values())

        second = _start(folder, environment, program)
        output, _ = second.communicate()
        assert second.returncode in (0, 3), output
        requested = Counter(item.body for item in provider.log.completions)
        safe = {
            item.body
            for item in provider.log.completions
            if sent_at.get(item.request_id, killed_at) < killed_at - GRACE_SECONDS
        }
        return Round(
            n_recorded=len(records),
            n_lost=n_lost,
            oldest_lost_seconds=max((killed_at - at for at in lost.values()), default=0.0),
            n_asked_twice=sum(requested[body] > 1 for body in safe),
            n_kept_asked_again=sum(
                requested[item.body] > 1
                for item in provider.log.completions
                if item.request_id in records
            ),
            n_scored=_n_scored(folder),
            n_damaged=_n_damaged(folder),
        )


def calls_of_runs(n_runs: int, *, ledger_url: str | None = None, program: Path = PROGRAM) -> int:
    """Start runs at the same time; return the number of requests that they sent."""
    with _folder() as folder, running(Behaviour(latency_seconds=LATENCY_SECONDS)) as provider:
        environment = _environment(provider, folder, ledger_url)
        runs = [_start(folder, environment, program) for _ in range(n_runs)]
        for run in runs:
            output, _ = run.communicate()
            assert run.returncode in (0, 3), output
        assert _n_scored(folder) == N_UNITS
        return len(provider.log.completions)


def calls_after_deleting_out() -> int:
    """Run, delete out/, run again; return the requests of the second run."""
    with _folder() as folder, running(Behaviour()) as provider:
        environment = _environment(provider, folder, None)
        for _ in range(2):
            provider.log.clear()
            run = _start(folder, environment, PROGRAM)
            output, _ = run.communicate()
            assert run.returncode in (0, 3), output
            assert _n_scored(folder) == N_UNITS
            shutil.rmtree(folder / "out")
        return len(provider.log.completions)


def _environment(
    provider: RunningProvider, folder: Path, ledger_url: str | None
) -> Mapping[str, str]:
    inputs = {"EVAL_LEDGER": ledger_url} if ledger_url else {}
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "EVAL_DATA": str(folder),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        **provider.environment,
        **inputs,
    }


@contextmanager
def _folder() -> Iterator[Path]:
    """An evaluation folder of 400 responses and a live judge."""
    with tempfile.TemporaryDirectory(prefix="eval-kills-") as name:
        folder = Path(name)
        (folder / "evaluation.yaml").write_text(
            "name: kills\n"
            "rubric: [{id: clarity, question: How clear is it?, scale: likert5}]\n"
            "judges:\n"
            "  - {id: gpt, provider: openai, model: gpt-6-luna, "
            f"max_in_flight: {N_IN_FLIGHT}}}\n"
        )
        responses = [f"a{i},Question {i},Answer {i},m{i % 2}" for i in range(N_UNITS)]
        header = "response_id,prompt_text,response_text,model_name"
        (folder / "responses.csv").write_text("\n".join([header, *responses]) + "\n")
        labels = [
            f"a{i},{rater},clarity,{1 + i % 5}" for i in range(N_UNITS) for rater in ("r1", "r2")
        ]
        header = "response_id,rater_id,question_id,rating"
        (folder / "labels.csv").write_text("\n".join([header, *labels]) + "\n")
        yield folder


def _start(folder: Path, environment: Mapping[str, str], program: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [str(program), "run", "--select", "+judge_scores"],
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _output(run: subprocess.Popen[str]) -> str:
    output, _ = run.communicate()
    return output


def _recorded(folder: Path, ledger_url: str | None) -> set[str]:
    """Return the vendor's names of the requests whose replies the ledger holds."""
    query = "SELECT request_id FROM attempts WHERE raw_output IS NOT NULL"
    if ledger_url is not None:
        engine = sa.create_engine(ledger_url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.connect() as connection:
            rows = connection.execute(sa.text(query.replace("attempts", "eval_assets.attempts")))
            result = {str(name) for (name,) in rows}
        engine.dispose()
        return result
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        return {str(name) for (name,) in connection.execute(query)}


def _n_scored(folder: Path) -> int:
    with connect(folder / "out" / "eval.duckdb") as connection:
        rows = connection.execute("SELECT count(score) FROM judge_scores").fetchall()
    return int(rows[0][0])


def _n_damaged(folder: Path) -> int:
    """Count damaged files of SQLite, and databases that were moved aside."""
    n_damaged = len(list((folder / "out").glob("*.damaged-*")))
    if (folder / "ledger.sqlite").exists():
        with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
            n_damaged += connection.execute("PRAGMA integrity_check").fetchone() != ("ok",)
    return n_damaged


def main() -> None:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgresql", action="store_true", help="with a ledger on PostgreSQL")
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    with _ledger_urls(on_postgresql=options.postgresql) as new_url:
        rounds = []
        for number in range(options.kills):
            rounds.append(kill_round(rng, ledger_url=new_url()))
            print(f"{number + 1}: {rounds[-1]}", flush=True)
        n_calls = calls_of_runs(2, ledger_url=new_url())
    text = markdown(_rows(rounds, n_calls=n_calls, is_postgresql=options.postgresql))
    print(f"\n{text}")
    section = "kills-postgresql" if options.postgresql else "kills"
    written_between(RESULTS / "kills.md", section=section, text=f"{text}\n\n{machine()}")


def _rows(rounds: Sequence[Round], *, n_calls: int, is_postgresql: bool) -> list[Row]:
    """Return the lines of the table."""

    def row(work: str, ours: str, target: str, *, met: bool) -> Row:
        return Row(work, ours, "", "", target, met)

    n_lost = sum(item.n_lost for item in rounds)
    oldest = max(item.oldest_lost_seconds for item in rounds)
    n_twice = sum(item.n_asked_twice for item in rounds)
    n_damaged = sum(item.n_damaged for item in rounds)
    n_complete = sum(item.n_scored == N_UNITS for item in rounds)
    n_recorded = statistics.median(item.n_recorded for item in rounds)
    rows = [
        row(
            f"{len(rounds)} x kill -9 of a run of {N_UNITS} units, "
            f"with {n_recorded:.0f} replies by then",
            f"{n_complete} ended with every unit scored",
            "all",
            met=n_complete == len(rounds),
        ),
        row(
            f"replies lost that had been sent over {GRACE_SECONDS * 1000:.0f} ms before the kill",
            f"{n_lost} (the oldest lost reply was {duration(oldest)} old)",
            "0",
            met=n_lost == 0,
        ),
        row("requests of these sent again", f"{n_twice}", "0", met=n_twice == 0),
        row(
            "requests sent again although the ledger held a reply",
            f"{sum(item.n_kept_asked_again for item in rounds)}",
            "0",
            met=not any(item.n_kept_asked_again for item in rounds),
        ),
        row("damaged files", f"{n_damaged}", "0", met=n_damaged == 0),
        row("two runs at once: requests sent", f"{n_calls}", f"{N_UNITS}", met=n_calls == N_UNITS),
    ]
    if not is_postgresql:
        n_calls = calls_after_deleting_out()
        rows.append(row("rm -rf out, run again: requests sent", f"{n_calls}", "0", met=not n_calls))
    return rows


@contextmanager
def _ledger_urls(*, on_postgresql: bool) -> Iterator[Callable[[], str | None]]:
    """Yield a function that gives each round a ledger of its own."""
    if not on_postgresql:
        yield lambda: None
        return
    programs = postgres_programs()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with running_postgres(programs) as server:
        yield server.new_database


if __name__ == "__main__":
    main()
