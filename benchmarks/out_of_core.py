"""Statistics and gates on up to 100,000,000 stored ratings, which DuckDB keeps on disk."""

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import Row, duration, markdown, memory, times
from eval_assets.agreement.gates.evidence import gate_outcomes
from eval_assets.agreement.humans import measure_humans
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.store.connection import connect
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.inputs import write_rubric
from eval_assets.store.ratings import human_ratings
from eval_assets.store.summaries import write_label_disagreements

N_RATINGS = (1_000_000, 10_000_000, 100_000_000)
MOST_MEMORY = 4e9

_RESPONSES = """
    INSERT INTO responses BY NAME
    SELECT 'r' || lpad(r::VARCHAR, 9, '0') AS response_id, 'p' || r // 5 AS prompt_text,
           'a' || r AS response_text, 'm' AS model_name, 'g' || r // 5 AS group_id
    FROM range($n) AS a(r)
"""
_LABELS = """
    INSERT INTO human_labels BY NAME
    SELECT 'r' || lpad(r::VARCHAR, 9, '0') AS response_id, 'quality' AS question_id,
           'rater-' || p AS rater_id, 1 AS round, 'labels.csv:1' AS source,
           1 + (hash(r) % 5 + (hash(r, p) % 10 = 0)::INTEGER) % 5 AS value
    FROM range($n) AS a(r), range(3) AS b(p)
"""


@dataclass(frozen=True)
class Cost:
    """Cost of statistics and gates, in processor seconds and peak bytes."""

    seconds: float
    peak: float


def table() -> str:
    """Measure each size in a process of its own."""
    costs = {n: _cost(n) for n in N_RATINGS}
    smallest = costs[N_RATINGS[0]]
    return markdown(
        [
            Row(
                work=f"statistics and gates on {n:,} ratings by 3 raters: processor time",
                ours=f"{duration(cost.seconds)}, {memory(cost.peak)}",
                peer=f"{n // N_RATINGS[0]} x {duration(smallest.seconds)}",
                ratio=times(cost.seconds, n // N_RATINGS[0] * smallest.seconds),
                target="under 4,000 MB",
                met=cost.peak < MOST_MEMORY,
            )
            for n, cost in costs.items()
        ]
    )


def _cost(n_ratings: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        for step in ("fill", "measure"):
            done = subprocess.run(  # noqa: S603 - our own program
                [sys.executable, "-m", __name__, step, folder, str(n_ratings // 3)],
                check=True,
                capture_output=True,
                text=True,
            )
    seconds, peak = map(float, done.stdout.split())
    return Cost(seconds, peak)


_QUESTION = RubricQuestion("quality", "Is it good?", LIKERT5, "ordinal")


def _fill(database: Path, n_responses: int) -> None:
    with connect(database) as connection:
        write_rubric(connection, [_QUESTION])
        for query in (_RESPONSES, _LABELS):
            connection.execute(query, {"n": n_responses})


def _measure(database: Path) -> None:
    """Print processor seconds and peak bytes of the statistics, intervals and gates."""
    evaluation = Evaluation("large", Path(), (_QUESTION,))
    with connect(database) as connection:
        started = time.process_time()
        write_label_disagreements(connection)
        measures = measure_humans(human_ratings(connection, evaluation), evaluation)
        outcomes = gate_outcomes(
            evaluation,
            measured={"human": measures.agreement, "judge": ()},
            versions=rating_versions(connection),
            changed=(),
        )
        seconds = time.process_time() - started
    assert [outcome.is_closed for outcome in outcomes] == [False, False]
    print(seconds, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    _, step, folder, n_responses = sys.argv
    database = Path(folder) / "eval.duckdb"
    if step == "fill":
        _fill(database, int(n_responses))
    else:
        _measure(database)
