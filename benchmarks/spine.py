"""From files to a verdict: a complete run and a repeated run."""

import hashlib
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.table import Row, duration, markdown, times
from eval_assets.cli.materialize import job_of
from eval_assets.store.connection import connect

TOP = Path(__file__).parents[1]
SAMPLE = TOP / "data" / "sample"

_BARE_RUN = """
import dagster as dg
assets, checks = [], []
for number in range({n_assets}):
    @dg.asset(name=f"asset_{{number}}", deps=[f"asset_{{number - 1}}"] if number else [])
    def asset() -> dg.MaterializeResult: return dg.MaterializeResult(metadata={{"rows": 1}})
    assets.append(asset)
for number in range({n_checks}):
    @dg.asset_check(name=f"check_{{number}}", asset=f"asset_{{number}}")
    def check() -> dg.AssetCheckResult: return dg.AssetCheckResult(passed=True)
    checks.append(check)
quiet = {{"telemetry": {{"enabled": False}}}}
with dg.DagsterInstance.local_temp({home!r}, overrides=quiet) as instance:
    definitions = dg.Definitions(assets=assets, asset_checks=checks)
    job = definitions.resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(instance=instance).success
"""


def table() -> str:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as folder:
        return markdown(_whole_run(Path(folder)))


def _whole_run(folder: Path) -> list[Row]:
    """`eval-assets run` on the sample, beside Dagster with as many trivial assets and checks."""
    data = folder / "sample"
    shutil.copytree(SAMPLE, data, ignore=shutil.ignore_patterns("out"))
    home = folder / "dagster"
    graph = job_of(
        data=str(SAMPLE), name="", identifier="sample", database=""
    ).asset_layer.asset_graph
    n_assets, n_checks = len(graph.materializable_asset_keys), len(graph.asset_check_keys)
    script = _BARE_RUN.format(n_assets=n_assets, n_checks=n_checks, home=str(home))
    run = [str(Path(sys.executable).with_name("eval-assets")), "run", "--data", str(data)]
    bare, first, repeat = [], [], []
    for _ in range(5):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        bare.append(_processor_seconds([sys.executable, "-c", script], folder))
        shutil.rmtree(data / "out", ignore_errors=True)
        first.append(_processor_seconds(run, folder))
        repeat.append(_processor_seconds(run, folder))
    imported = ["--select", "model_responses,human_labels,judge_scores"]
    before = _rows(data)
    importing = _processor_seconds([*run, *imported], folder)
    is_untouched = before == _rows(data)
    peer = f"{duration(min(bare))} (Dagster, {n_assets} trivial assets, {n_checks} checks)"
    return [
        Row(
            work="eval-assets run on the sample: processor time",
            ours=duration(min(first)),
            peer=peer,
            ratio=times(min(first), min(bare)),
            target="at most 1.6 x its time",
            met=min(first) <= 1.6 * min(bare),
        ),
        Row(
            work="the same again, nothing changed: processor time",
            ours=duration(min(repeat)),
            peer=peer,
            ratio=times(min(repeat), min(bare)),
            target="at most 1.2 x its time",
            met=min(repeat) <= 1.2 * min(bare),
        ),
        Row(
            work="importing unchanged files again: processor time",
            ours=f"{duration(importing)}, tables {'untouched' if is_untouched else 'rewritten'}",
            peer="",
            ratio="",
            target="no rewrite",
            met=is_untouched,
        ),
    ]


def _processor_seconds(command: list[str], folder: Path) -> float:
    """Processor time of a program, which other programs disturb least."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=folder, capture_output=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _rows(data: Path) -> str:
    """When each table was imported, and a fingerprint of its rows in their stored order."""
    with connect(data / "out" / "eval.duckdb") as connection:
        imports = connection.execute("SELECT * FROM imports ORDER BY table_name").fetchall()
        labels = connection.execute("SELECT rowid, * FROM human_labels").fetchall()
    return hashlib.sha256(repr((imports, labels)).encode()).hexdigest()
