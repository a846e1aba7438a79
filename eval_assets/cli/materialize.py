"""Runs of the assets in this process. No other module of `cli` imports Dagster."""

import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial, reduce
from io import StringIO
from itertools import chain
from operator import or_
from pathlib import Path
from types import MappingProxyType
from typing import TextIO, cast

import click
import dagster as dg
import sqlalchemy as sa
from filelock import FileLock

from eval_assets.agreement.gates.decision import GATES
from eval_assets.assets.dagster_internals import NO_COMPUTE_LOGS, with_causes
from eval_assets.assets.evaluation_definitions import all_assets, merged_definitions
from eval_assets.assets.executors import executor_name, require_broker
from eval_assets.assets.live_judging import judge_fingerprints, versions_in_use
from eval_assets.assets.resources import EvaluationFolder, failure_lines
from eval_assets.assets.terminal import clear_line
from eval_assets.cli.exit_codes import DONE, FAILED, GATE_CLOSED, print_errors
from eval_assets.cli.results import FailedCheck, Output, print_run
from eval_assets.errors import StoreError
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.store.connection import session, set_aside
from eval_assets.store.database_file import keep_sqlite_open

_INTERRUPTIONS = {dg.DagsterExecutionInterruptedError.__name__, KeyboardInterrupt.__name__}
"""Classes of the errors that Ctrl-C causes, in a step and between steps."""

_OWN_RECORDS = {
    "telemetry": {"enabled": False},
    "python_logs": {"python_log_level": "INFO", "managed_python_loggers": ["eval_assets"]},
    # Output goes to the terminal alone: while a copy of it is written, a full disk leaves both
    # streams in the file, and no error can be shown.
    "compute_logs": NO_COMPUTE_LOGS,
}
"""Settings of the records that lie beside the database."""


@session()
def materialize(
    folder: EvaluationFolder,
    *,
    select: str | None,
    verbose: bool,
    output: Output,
    tags: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Materialize the selected assets of one evaluation, print, and return the exit code.

    Args:
        folder: The evaluation.
        select: Assets as `--select` names them, without a key prefix; None for all.
        verbose: Whether to print all figures, and Dagster's own log.
        output: `quiet` prints closed gates and failed checks alone, `json` one object on stdout
            and the progress on stderr.
        tags: What the run is to do besides, such as `READ_TESTS_TAG`.
    """
    evaluation = read_evaluation(folder.path)
    if any(judge.version is not None for judge in evaluation.judges):  # all must exist
        versions_in_use(evaluation, folder, judge_fingerprints(evaluation, folder))
    if executor_name() != "in_process":  # other processes have other working folders
        database = folder.database and str(Path(folder.database).resolve())
        data = str(folder.path.resolve())
        folder = EvaluationFolder(**{**folder.settings, "data": data, "database": database})
    require_broker()
    # Dagster reads its records while a job is made, those of the last run if none are open.
    with _instance(folder) as instance:
        job = job_of(**folder.settings)
        selected = _selected(select, folder, job)
        logger = "console" if verbose else "terminal"
        all_tags = {**folder.run_tags, **tags}
        run = partial(_execute, job, instance, selected, logger, folder, tags=all_tags)
        with _progress_of(output):
            click.echo(f"Evaluating {folder.path}")
            events = run()
            if _database_is_damaged(events) and (copy := set_aside(folder.stored_in)):
                click.echo(
                    f"{folder.stored_in} could not be read and is now {copy.name}; "
                    "everything is computed again",
                    err=True,
                )
                events = run()
            clear_line(sys.stdout)
            # Dagster reports Ctrl-C as a failure.
            causes = [event.step_failure_data.error for event in events if event.is_step_failure]
            causes += [event.job_failure_data.error for event in events if event.is_job_failure]
            if any(of.cls_name in _INTERRUPTIONS for of in chain(*map(with_causes, causes))):
                raise KeyboardInterrupt
    if errors := _errors(events):
        print_errors(errors, all_in=folder.out / "problems.txt")
        return FAILED
    materialized = {event.asset_key for event in events if event.is_step_materialization}
    not_run = tuple(sorted(key.path[-1] for key in selected - materialized))
    failed_checks = tuple(
        FailedCheck(check.check_name, check.severity.value, line)
        for event in events
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
        for check in [event.asset_check_evaluation_data]
        if not check.passed and check.check_name not in GATES
        for line in (check.description or "").splitlines()
    )
    is_gated = print_run(
        folder.evaluation(),
        folder.stored_in,
        output=output,
        not_run=not_run,
        failed_checks=failed_checks,
        gates={name for name, gate in GATES.items() if folder.key(gate.table) in selected},
        verbose=verbose,
    )
    if stopped := [check.finding for check in failed_checks if check.ends_run]:
        print_errors(stopped, all_in=folder.out / "problems.txt")
        return FAILED
    return GATE_CLOSED if is_gated else DONE


def _selected(
    select: str | None, folder: EvaluationFolder, job: dg.JobDefinition
) -> AbstractSet[dg.AssetKey]:
    """Return the assets that `--select` names, else all; raise UsageError for an unknown one."""
    graph = job.asset_layer.asset_graph
    if select is None:
        return all_assets(folder).materializable().resolve(graph)
    try:
        return reduce(or_, (_named(of.strip(), folder) for of in select.split(","))).resolve(graph)
    except dg.DagsterError:
        known_names = sorted(key.path[-1] for key in graph.get_all_asset_keys())
        raise click.UsageError(
            f"--select {select}: there is no such asset. Use some of {', '.join(known_names)}."
        ) from None


def job_of(**settings: str) -> dg.JobDefinition:
    """Return the job that runs everything of one evaluation; other processes make it as well."""
    folder = EvaluationFolder(**settings)
    with warnings.catch_warnings():
        # Of a parameter that only Dagster itself passes, when it copies a sensor.
        warnings.filterwarnings("ignore", "Parameter `owners`", dg.BetaWarning)
        return merged_definitions([folder]).resolve_job_def(f"{folder.names_before}evaluate")


@contextmanager
def _progress_of(output: Output) -> Iterator[None]:
    """Let a run print its progress on stdout, on stderr beside JSON, or nowhere."""
    match output:
        case "text":
            yield
        case "json":
            with redirect_stdout(sys.stderr):
                yield
        case "quiet":
            with redirect_stdout(StringIO()):
                yield


def _execute(  # noqa: PLR0913 - what a run needs
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    selected: Collection[dg.AssetKey],
    logger: str,
    folder: EvaluationFolder,
    *,
    tags: dict[str, str],
) -> Sequence[dg.DagsterEvent]:
    """Run the selected assets in this process, or by EVAL_EXECUTOR; return what happened."""
    run_config = {"loggers": {logger: {"config": dict[str, object]()}}}
    if executor_name() == "in_process":
        return job.execute_in_process(
            instance=instance,
            asset_selection=sorted(selected),
            raise_on_error=False,
            tags=tags,
            run_config=run_config,
        ).all_events
    made_by = dg.build_reconstructable_job(
        job_of.__module__, job_of.__name__, reconstructable_kwargs=folder.settings
    )
    # Of several processes one would write the report while others still make what it shows.
    report = {folder.key("agreement_report")}
    with warnings.catch_warnings():
        # dagster-celery registers its task once for every step.
        warnings.filterwarnings("ignore", "Task name 'execute_plan' is already registered")
        return [
            event
            for part in ({*selected} - report, report.intersection(selected))
            if part
            for event in dg.execute_job(
                made_by,
                instance,
                asset_selection=sorted(part),
                tags=tags,
                run_config=run_config,
            ).all_events
        ]


def _database_is_damaged(events: Sequence[dg.DagsterEvent]) -> bool:
    failures = [
        event.step_failure_data.user_failure_data for event in events if event.is_step_failure
    ]
    return any(
        failure.metadata["database_is_damaged"].value
        for failure in failures
        if failure is not None and "database_is_damaged" in failure.metadata
    )


def _named(part: str, folder: EvaluationFolder) -> dg.AssetSelection:
    """Return one part of `--select`. Here `+` means all layers upstream; in Dagster, one."""
    name = part.strip("+")
    key = folder.key(name).to_user_string() if re.fullmatch(r"\w+", name) else name
    selected = named = dg.AssetSelection.from_string(key)
    if part.startswith("+"):
        selected |= named.upstream()
    if part.endswith("+"):
        selected |= named.downstream()
    return selected.materializable()


def _errors(events: Sequence[dg.DagsterEvent]) -> list[str]:
    """Return the failures except closed gates, one line each."""
    failed = [event for event in events if event.is_step_failure]
    if not failed:  # but the run may have, if a broker is gone
        return [
            f"the run ended early ({' '.join((error.cause or error).message.split())}). "
            "Run again: nothing is asked twice"
            for event in events
            if event.is_job_failure and (error := event.job_failure_data.error) is not None
        ]
    lines = [failure_lines(event.step_key or "", event.step_failure_data) for event in failed]
    return list(dict.fromkeys(chain.from_iterable(lines)))


class _StderrWithoutDagsterErrors:
    """stderr without what Dagster writes to it before it raises the same error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, unless it is Dagster's about its records."""
        if text.startswith("Exception while writing logger call to event log"):
            return len(text)
        return self._stream.write(text)


@contextmanager
def _instance(folder: EvaluationFolder) -> Iterator[dg.DagsterInstance]:
    """Open Dagster's records, those that `make ui` shows, or those in DAGSTER_HOME if it is set."""
    if not os.environ.get("DAGSTER_HOME"):  # empty is unset, which Dagster takes for an error
        os.environ.pop("DAGSTER_HOME", None)
    home = Path(os.environ.get("DAGSTER_HOME") or folder.records)
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
    if not os.access(home, os.W_OK):
        raise StoreError(f"{home}: cannot be written. Give write access to it.")
    try:
        with keep_sqlite_open(home):
            # Two processes that create Dagster's SQLite files at once fail on each other's.
            with FileLock(home / ".creating.lock"):
                if "DAGSTER_HOME" in os.environ:
                    instance = dg.DagsterInstance.get()
                else:
                    path = str(home.resolve())
                    instance = dg.DagsterInstance.local_temp(path, overrides=_OWN_RECORDS)
            with instance, redirect_stderr(cast("TextIO", _StderrWithoutDagsterErrors(sys.stderr))):
                yield instance
    except sa.exc.OperationalError as error:
        raise StoreError(
            f"{home}: Dagster's records cannot be written ({error.orig}). Free space, or see "
            "whether the disk is sound, and run again: replies that were paid for are in the "
            "ledger."
        ) from error
