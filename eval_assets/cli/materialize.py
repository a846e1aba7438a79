"""One run of the assets in this process, told on the terminal as it goes."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from operator import or_
from pathlib import Path

import click
import dagster as dg

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.cli.measured import print_measured
from eval_assets.cli.problems import DONE, FAILED, GATE_CLOSED, MISUSED, print_faults
from eval_assets.definitions import defs
from eval_assets.evaluation import GateName
from eval_assets.gates import ASSET_OF_GATE
from eval_assets.store import StoreError, judge_gates

_INTERRUPTED = (
    dg.DagsterExecutionInterruptedError.__name__,
    KeyboardInterrupt.__name__,
    "RuntimeError: Query interrupted",
)
"""What Ctrl-C raises: in a step, between steps, and while DuckDB is at work."""


def materialize(data: Path, *, database: Path | None, select: str | None, verbose: bool) -> int:
    """Materialize the selected assets with their checks; return the program's exit code."""
    folder = EvaluationFolder(data=str(data), database=str(database or ""))
    with warnings.catch_warnings():
        # Of a parameter that only Dagster itself passes, when it copies a sensor.
        warnings.filterwarnings("ignore", "Parameter `owners`", dg.BetaWarning)
        job = defs.resolve_job_def("evaluate")
    try:
        selected = _selection(select).resolve(job.asset_layer.asset_graph)
    except dg.DagsterError as error:
        click.echo(f"--select {select}: {error}", err=True)
        return MISUSED
    click.echo(f"Evaluating {data}")
    with _instance(folder) as instance:
        result = job.execute_in_process(
            instance=instance,
            asset_selection=sorted(selected),
            raise_on_error=False,
            tags=folder.run_tags,
            run_config={
                "resources": {
                    "folder": {"config": {"data": folder.data, "database": folder.database}}
                },
                "loggers": {"console" if verbose else "terminal": {"config": {}}},
            },
        )
    if _is_interrupted(result):
        raise KeyboardInterrupt
    faults = _faults(result)
    if faults:
        print_faults(faults)
        return FAILED
    closed = _tell(folder)
    _tell_checks(result)
    held = sorted(key.to_user_string() for key in selected if _is_held(result, key))
    if held:
        click.echo(f"A gate is closed (exit code {GATE_CLOSED}). Not run: {', '.join(held)}")
    is_asked = {key.to_user_string() for key in selected} & {ASSET_OF_GATE[gate] for gate in closed}
    return GATE_CLOSED if held or is_asked else DONE


def _selection(select: str | None) -> dg.AssetSelection:
    """The assets that `--select` names; all of them without it."""
    if select is None:
        return dg.AssetSelection.all()
    return reduce(or_, (_named(part.strip()) for part in select.split(",")))


def _named(part: str) -> dg.AssetSelection:
    """One part of `--select`; by itself Dagster takes `+` for one layer, not for all above."""
    selected = named = dg.AssetSelection.from_string(part.strip("+"))
    if part.startswith("+"):
        selected |= named.upstream()
    if part.endswith("+"):
        selected |= named.downstream()
    return selected


def _tell(folder: EvaluationFolder) -> list[GateName]:
    """Print what is stored now, each verdict and where to look; return the closed gates."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        outcomes = judge_gates(connection, evaluation)
        print_measured(connection, evaluation, outcomes)
    if (report := folder.out / "report.html").exists():
        click.echo(f"Report    {report}")
    click.echo(f"Database  {folder.database_path}")
    return [outcome.gate for outcome in outcomes if outcome.is_closed]


def _tell_checks(result: dg.ExecuteInProcessResult) -> None:
    """Print what checks other than the gates found."""
    for found in result.get_asset_check_evaluations():
        if not found.passed and found.check_name not in ASSET_OF_GATE:
            for line in (found.description or "").splitlines():
                click.echo(f"{found.severity.value:5} {found.check_name}: {line}")


def _is_held(result: dg.ExecuteInProcessResult, key: dg.AssetKey) -> bool:
    """Whether an asset was selected and not materialized."""
    return not result.asset_materializations_for_node(key.to_python_identifier())


def _is_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether Ctrl-C ended the run: Dagster tells of it as of any failed step or job."""
    errors = [e.step_failure_data.error for e in result.all_events if e.is_step_failure]
    errors += [e.job_failure_data.error for e in result.all_events if e.is_job_failure]
    return any(
        sign in (error.cause or error).message for error in errors if error for sign in _INTERRUPTED
    )


def _faults(result: dg.ExecuteInProcessResult) -> list[str]:
    """What failed and is no gate: one line each."""
    lines: list[str] = []
    for event in result.all_events:
        if not event.is_step_failure:
            continue
        failure = event.step_failure_data
        told = failure.user_failure_data
        if told is not None and "closed_gates" in told.metadata:
            continue
        if failure.error is not None and failure.error.cls_name == "DagsterAssetCheckFailedError":
            continue
        if told is not None and told.description:
            lines += told.description.splitlines()
        elif failure.error is not None:
            cause = failure.error.cause or failure.error
            lines.append(f"{event.step_key}: {' '.join(cause.message.split())}")
    return list(dict.fromkeys(lines))


@contextmanager
def _instance(folder: EvaluationFolder) -> Iterator[dg.DagsterInstance]:
    """Dagster's records: those the UI shows, else some of the folder's own.

    DAGSTER_HOME where it is set; the dagster.yaml of the current folder, which `make ui` reads
    too; elsewhere a folder beside the database.
    """
    if "DAGSTER_HOME" not in os.environ and Path("dagster.yaml").is_file():
        os.environ["DAGSTER_HOME"] = str(Path.cwd())
    if "DAGSTER_HOME" in os.environ:
        with dg.DagsterInstance.get() as instance:
            yield instance
    else:
        home = folder.out / "dagster"
        with suppress(OSError):
            home.mkdir(parents=True, exist_ok=True)
        if not os.access(home, os.W_OK):
            raise StoreError(f"{home}: cannot be written. Give write access to {folder.out}.")
        settings = {
            "telemetry": {"enabled": False},
            "python_logs": {
                "python_log_level": "INFO",
                "managed_python_loggers": ["eval_assets"],
            },
        }
        with dg.DagsterInstance.local_temp(str(home.resolve()), overrides=settings) as instance:
            yield instance
