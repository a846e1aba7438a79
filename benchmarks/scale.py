"""Runs on 10,000,000 ratings: processor time and memory from files to the report."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.table import Row, duration, markdown, memory, times

MOST_MEMORY = 3e9
_N_RUNS = 5
"""Runs of what takes seconds, in turn with its peers; the least time of each counts."""

_RATINGS = """
    COPY (
        SELECT 'r' || lpad(r::VARCHAR, 7, '0') AS response_id, 'p' || p AS {rater},
               'q' || q AS question_id,
               1 + (hash(r, q) % 5 + (hash(r, q, p, '{rater}') % 10 = 0)::INTEGER) % 5 AS {value}
        FROM range({n_responses}) AS a(r), range({n_questions}) AS b(q), range({n_raters}) AS c(p)
        ORDER BY r, q, p
    ) TO '{path}'
"""
_RESPONSES = """
    COPY (
        SELECT 'r' || lpad(r::VARCHAR, 7, '0') AS response_id, 'Prompt ' || r // 5 AS prompt_text,
               'Answer ' || r AS response_text, 'm' || r % 5 AS model_name
        FROM range({n_responses}) AS a(r)
    ) TO '{path}'
"""


@dataclass(frozen=True)
class Size:
    """An evaluation, with five responses to a prompt and three raters.

    Attributes:
        n_responses: Responses.
        n_questions: Questions, on 1-5.
        n_judges: Recorded judges.
    """

    n_responses: int
    n_questions: int
    n_judges: int


SIZES = (Size(3_333_334, 1, 0), Size(666_667, 3, 2))
N_LIVE_UNITS = 1_000_000


def table() -> str:
    """Measure a run of each size and `agreement` on a file, in processes of their own."""
    rows = _file_rows()
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), size)
            seconds, peak, wall = measured_run(Path(folder))
        work = f"eval-assets run: {size.n_responses:,} responses x 3 raters"
        if size.n_judges:
            work += f" x {size.n_questions} questions, {size.n_judges} judges"
        rows += [
            Row(
                work=f"{work}: processor time",
                ours=f"{duration(seconds)} ({duration(wall)} by the clock)",
                peer="",
                ratio="",
                target="",
                met=None,
            ),
            _memory_row(work, peak),
        ]
    rows.append(_collecting_row())
    return markdown(rows)


def _memory_row(work: str, peak: float) -> Row:
    return Row(
        work=f"{work}: peak memory",
        ours=memory(peak),
        peer="",
        ratio="",
        target="under 3,000 MB",
        met=peak < MOST_MEMORY,
    )


def write(folder: Path, size: Size) -> None:
    """Write the evaluation into a folder."""
    lines = ["name: scale", "rubric:"]
    lines += [
        f"  - {{id: q{q}, question: Is it good?, scale: likert5}}" for q in range(size.n_questions)
    ]
    if size.n_judges:
        lines.append("judges:")
    lines += [
        f"  - {{id: j{j}, provider: recorded, model: p{j}, scores: scores.csv}}"
        for j in range(size.n_judges)
    ]
    (folder / "evaluation.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sizes = {"n_responses": size.n_responses, "n_questions": size.n_questions}
    connection = duckdb.connect()
    connection.execute(_RESPONSES.format(**sizes, path=folder / "responses.csv"))
    for rater, value, n_raters, name in (
        ("rater_id", "rating", 3, "labels.csv"),
        ("judge_model", "score", size.n_judges, "scores.csv"),
    ):
        if n_raters:
            query = _RATINGS.format(
                **sizes, rater=rater, value=value, n_raters=n_raters, path=folder / name
            )
            connection.execute(query)


def _file_rows() -> list[Row]:
    """Measure `check` on a file, beside counting its rows and the least that it takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, Size(333_334, 1, 0))
        file = str(folder / "labels.csv")
        (folder / "evaluation.yaml").unlink()
        (folder / "responses.csv").unlink()
        commands = [
            [_PROGRAM, "check", file, "--html", str(folder / "report.html")],
            [sys.executable, "-c", _COUNTED, file],
            [sys.executable, "-c", _FLOOR, file],
        ]
        runs = [[measured(command) for command in commands] for _ in range(_N_RUNS)]
    ours, query, floor = (min(run[k][0] for run in runs) for k in range(len(commands)))
    peak = max(run[0][1] for run in runs)
    work = "eval-assets check on a CSV file of 1,000,000 ratings, with its HTML report"
    return [
        Row(
            work=f"{work}: processor time",
            ours=duration(ours),
            peer=f"{duration(query)} (DuckDB: count(*) ... GROUP BY response_id)",
            ratio=times(ours, query),
            target="at most 3 x its time",
            met=ours <= 3 * query,
        ),
        Row(
            work=f"{work}: processor time",
            ours=duration(ours),
            peer=f"{duration(floor)} (DuckDB reads the file once, one pass of our statistics)",
            ratio=times(ours, floor),
            target="",
            met=None,
        ),
        _memory_row(work, peak),
    ]


def _collecting_row() -> Row:
    """Measure live judges' scores, for which a function in place of a ledger has all replies."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, Size(N_LIVE_UNITS, 1, 0))
        with (folder / "evaluation.yaml").open("a", encoding="utf-8") as declared:
            declared.write(_JUDGES)
        _, peak, _ = measured([sys.executable, "-c", _COLLECT, name], **_KEYS)
    return _memory_row(f"judge_scores: {N_LIVE_UNITS:,} units x 2 live judges, from replies", peak)


_JUDGES = """judges:
  - {id: gpt, provider: openai, model: gpt-6-luna}
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}
"""
_COLLECT = """
import sys
from eval_assets.cli.main import main
from eval_assets.ledger import Reply
from eval_assets.store.ledger.workers import Worker

def replies(worker, keys):
    texts = ['{"rationale": "Made up.", "score": %d}' % score for score in range(1, 6)]
    return {key: Reply(texts[ord(key[0]) % 5], "ok") for key in keys}

Worker.replies = replies
sys.argv[1:] = ["run", "--data", sys.argv[1], "--select", "+judge_scores"]
main()
"""
_KEYS = {"OPENAI_API_KEY": "sk-benchmark", "ANTHROPIC_API_KEY": "sk-benchmark"}
_PROGRAM = str(Path(sys.executable).with_name("eval-assets"))
_COUNTED = """
import sys, duckdb
query = "SELECT count(*) FROM (SELECT response_id, count(*) FROM read_csv($file) GROUP BY ALL)"
print(duckdb.execute(query, {"file": sys.argv[1]}).fetchall())
"""
_FLOOR = """
import sys, duckdb
from eval_assets.scale import LIKERT5
from eval_assets.stats import agreement_profile
rows = duckdb.execute(
    "SELECT dense_rank() OVER (ORDER BY response_id) - 1 AS unit, "
    "dense_rank() OVER (ORDER BY rater_id) - 1 AS rater, rating FROM read_csv($file)",
    {"file": sys.argv[1]},
).fetchnumpy()
import numpy as np
ratings = np.full((rows["unit"].max() + 1, rows["rater"].max() + 1), np.nan)
ratings[rows["unit"], rows["rater"]] = rows["rating"]
print(agreement_profile(ratings, scale=LIKERT5, level="ordinal", confidence=0.95).alpha)
"""


def measured_run(folder: Path) -> tuple[float, float, float]:
    """Return processor seconds, peak bytes and wall seconds of `eval-assets run`."""
    environment = {"EVAL_DATABASE": str(folder / "out" / "eval.duckdb")}
    return measured([_PROGRAM, "run", "--data", str(folder)], **environment)


def measured(command: Sequence[str], **variables: str) -> tuple[float, float, float]:
    """Return processor seconds, peak bytes and wall seconds of a command."""
    measure = (
        "import json, resource, subprocess, sys, time; begun = time.perf_counter(); "
        "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps([code, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss, "
        "time.perf_counter() - begun]))"
    )
    result = subprocess.run(  # noqa: S603
        [sys.executable, "-c", measure, *command],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
    )
    code, seconds, peak, wall = map(float, result.stdout.strip("[]\n").split(","))
    assert code in {0, 3}, result.stderr
    return seconds, peak, wall
