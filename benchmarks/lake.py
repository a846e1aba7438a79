"""Ratings by the million, made by SQL: agreement from a DuckDB file and from a lake."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import Row, duration, markdown, memory
from eval_assets.scale import LIKERT5
from eval_assets.stats import agreement_profile
from eval_assets.store import Database, connect, lake_of, transaction
from eval_assets.store.ratings import rating_patterns
from eval_assets.store.tables import spare_memory

MOST_MEMORY = 4e9
MILLIONS = "BENCHMARK_MILLIONS"
"""Variable with other sizes, such as 1,10."""

_RATERS = 3
_RATINGS = """
    INSERT INTO human_labels BY NAME
    SELECT 'response-' || lpad(r::VARCHAR, 9, '0') AS response_id, 'question' AS question_id,
           'rater-' || p AS rater_id, 1 + (r * 7 + hash(r, p) % 3) % 5 AS value,
           1 AS round, 'labels.csv:1' AS source
    FROM range($responses) AS responses(r), range($raters) AS raters(p)
"""


def table() -> str:
    """Measure each size on a file and on a lake, each in a process of its own."""
    sizes = [int(size) for size in os.environ.get(MILLIONS, "1,10,100").split(",")]
    rows = [row for kind in ("file", "lake") for row in _rows(kind, sizes)]
    return markdown(rows)


def _rows(kind: str, sizes: list[int]) -> list[Row]:
    """Return time and peak memory of each size, and time as a multiple of the size before."""
    rows: list[Row] = []
    before = None
    for millions in sizes:
        with tempfile.TemporaryDirectory() as folder:
            written, _ = _in_a_process("write", kind, folder, millions)
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            taken, peak = _in_a_process("measure", kind, folder, millions)
        growth = "" if before is None else f" ({taken / before[1]:.1f} x that of {before[0]})"
        before = millions, taken
        rows.append(
            Row(
                work=f"agreement of {millions},000,000 ratings from a {kind} of {memory(size)}, "
                f"written in {duration(written)}",
                ours=f"{duration(taken)}{growth}, peak {memory(peak)}",
                peer="",
                ratio="",
                target="under 4,000 MB",
                met=peak < MOST_MEMORY,
            )
        )
    return rows


def _in_a_process(work: str, kind: str, folder: str, millions: int) -> tuple[float, float]:
    """Return seconds and peak bytes of writing or measuring so many ratings."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "benchmarks.lake", work, kind, folder, str(millions)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    taken, peak = json.loads(done.stdout)
    return taken, peak


def write(database: Database, millions: int) -> None:
    """Write so many million ratings by three raters."""
    with connect(database) as connection, transaction(connection):
        spare_memory(connection)
        connection.execute("SET preserve_insertion_order = false")
        given = {"responses": millions * 1_000_000 // _RATERS, "raters": _RATERS}
        connection.execute(_RATINGS, given)


def measure(database: Database, millions: int) -> None:
    """Compute all statistics of the question with their intervals."""
    with connect(database) as connection:
        found = rating_patterns(connection, "question", LIKERT5)
    assert found is not None
    assert found.n_units.sum() == millions * 1_000_000 // _RATERS
    profile = agreement_profile(found, scale=LIKERT5, level="ordinal", confidence=0.95)
    assert profile.alpha.low < profile.alpha.value < profile.alpha.high


def main() -> None:
    """Do one piece of work, and print its seconds and the most memory it took."""
    work, kind, folder, millions = sys.argv[1:]
    files = Path(folder)
    database: Database = files / "ratings.duckdb"
    if kind == "lake":
        catalog = f"ducklake:{files / 'catalog.ducklake'}"
        database = lake_of(catalog, files=str(files / "parquet"), evaluation="ratings")
    begun = time.perf_counter()
    {"write": write, "measure": measure}[work](database, int(millions))
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([time.perf_counter() - begun, peak]))


if __name__ == "__main__":
    main()
