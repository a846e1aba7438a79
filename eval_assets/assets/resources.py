"""The evaluation folder as a Dagster resource, and its errors."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import dagster as dg
import duckdb

from eval_assets.assets.dagster_internals import StepFailureData, current_execution_context
from eval_assets.assets.file_versions import observe_files
from eval_assets.assets.step_names import identifiers_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import DamagedError, InputError, PromptError, StoreError, leaves
from eval_assets.readers.evaluation.read import evaluations_in, read_evaluation
from eval_assets.store.connection import connect, session
from eval_assets.store.database_file import database_path
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.schema import columns_of, content_fingerprint

DEFAULT_FOLDER = "data/sample"

EVALUATION_TAG = "eval_assets/evaluation"
"""Run tag with the path of the evaluation folder, for sensors and alerts."""

AGAIN = dg.RetryPolicy(max_retries=4, delay=8, backoff=dg.Backoff.EXPONENTIAL)
"""Retry policy of steps that only fill the ledger: four times within two minutes if it is lost."""

UI = "EVAL_UI_URL"
"""Variable with the address of Dagster's UI, for links to runs."""

CONTENT = "content"
"""Metadata of a stored table: a fingerprint of its rows."""

CLOSED_GATES = "closed_gates"
"""Metadata of the Failure of a closed gate: its name."""


class EvaluationFolder(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One evaluation folder and its database.

    If the given folder holds several evaluation folders, their assets have the folder's name as
    key prefix, and inside a step this is the folder of the asset that the step is of.

    Args:
        data: The folder, or the folder of several; if empty, EVAL_DATA, else the sample.
        database: The DuckDB file; if empty, EVAL_DATABASE, else `out/eval.duckdb` in the folder.
        name: Name of the evaluation folder in a folder of several; if empty, the step decides.
    """

    data: str = ""
    database: str = ""
    name: str = ""

    @property
    def prefix(self) -> str:
        """The key prefix of this evaluation's assets; empty for an evaluation on its own."""
        return self.name or _prefix_of_step()

    @property
    def root(self) -> Path:
        """The folder that was given: an evaluation folder, or one of several."""
        return Path(self.data or os.environ.get("EVAL_DATA") or DEFAULT_FOLDER)

    @property
    def path(self) -> Path:
        """The evaluation folder."""
        return self.root / self.prefix

    @property
    def identifier(self) -> str:
        """The evaluation's name in Dagster, at the start of the names of its steps."""
        if not self.prefix:
            return next(iter(identifiers_of([self.path.resolve().name]).values()))
        return identifiers_of(evaluations_in(self.root))[self.prefix]

    @property
    def out(self) -> Path:
        """The output folder, which may not exist yet."""
        return self.path / "out"

    @property
    def stored_in(self) -> Path:
        """The DuckDB file.

        Raises:
            StoreError: If one file is given for several evaluations.
        """
        setting = self.database or os.environ.get("EVAL_DATABASE")
        if setting and self.prefix:
            raise StoreError(
                f"{setting}: one file cannot hold all evaluations of {self.root}. Unset "
                "EVAL_DATABASE, then each has its own in out/."
            )
        return database_path(self.path, setting=setting)

    def key(self, asset: str) -> dg.AssetKey:
        """Return the key of one of this evaluation's assets."""
        return dg.AssetKey([self.prefix, asset] if self.prefix else asset)

    def evaluation(self) -> Evaluation:
        """Read evaluation.yaml, every time: a changed threshold holds from the next run on."""
        with clear_failures():
            return read_evaluation(self.path)

    def ledger(self, evaluation: Evaluation) -> AbstractContextManager[SqlLedger]:
        """Open the ledger: EVAL_LEDGER, else `ledger.sqlite` in the folder."""
        return open_ledger(
            self.path,
            evaluation=evaluation.name,
            database=self.stored_in,
            setting=os.environ.get("EVAL_LEDGER"),
        )

    def connect(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Open the database; wait for another process to release it. Close it soon."""
        return connect(self.stored_in, folder=self.path)

    @property
    def evaluations(self) -> list["EvaluationFolder"]:
        """Each evaluation of the folder that was given."""
        names = [self.name] if self.name else evaluations_in(self.root) or [""]
        return [
            EvaluationFolder(data=self.data, database=self.database, name=name) for name in names
        ]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["EvaluationFolder"]:
        """Keep databases open for the run, or for the step if each has a separate process."""
        self._record_inputs(context)
        with session():
            yield self

    def _record_inputs(self, context: dg.InitResourceContext) -> None:
        """Record, before a run, which evaluation it is of and the versions of the files it reads.

        A run that is started by a click has no tag yet.
        """
        run, instance = context.run, context.instance
        if run is None or instance is None:
            return
        tags = {EVALUATION_TAG: str(self.root.resolve())} | dict(run.tags)
        instance.add_run_tags(run.run_id, tags)
        for folder in self.evaluations:
            selected = run.asset_selection or [folder.key("")]
            if any(key == folder.key(key.path[-1]) for key in selected):
                observe_files(folder.path, instance, key=folder.key)

    @property
    def run_tags(self) -> dict[str, str]:
        """Tags of this evaluation's runs, which share Dagster's history with others'."""
        return {EVALUATION_TAG: str(self.path.resolve())}

    def owns(self, run: dg.DagsterRun) -> bool:
        """Return whether a run is of this evaluation, or of all in the folder; untagged ones are.

        Asset keys are not enough: another folder of evaluations may hold one of the same name.
        """
        tag = run.tags.get(EVALUATION_TAG)
        return tag in {None, str(self.path.resolve()), str(self.root.resolve())}


def _prefix_of_step() -> str:
    """Return the key prefix of the asset that the current step is of; empty outside a step."""
    context = current_execution_context.get()
    if context is None:
        return ""
    if isinstance(context, dg.AssetCheckExecutionContext):
        checks = context.op_execution_context.selected_asset_check_keys
        keys = [check.asset_key for check in checks]
    else:
        keys = list(context.selected_asset_keys)
    return keys[0].path[0] if keys and len(keys[0].path) > 1 else ""


def version_of(*parts: object) -> str:
    """Return a fingerprint of files and settings: an equal one means that nothing changed."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@contextmanager
def clear_failures() -> Iterator[None]:
    """Turn errors of inputs and of the database into one Failure: a line each, no traceback."""
    try:
        yield
    except* (InputError, StoreError, PromptError) as group:
        errors = list(leaves(group))
    else:
        return
    raise dg.Failure(
        description="\n".join(map(str, errors)),
        metadata={
            "n_problems": len(errors),
            "database_is_damaged": any(isinstance(error, DamagedError) for error in errors),
        },
        # The ledger or the database may be back soon; an input stays as it is.
        allow_retries=all(isinstance(error, StoreError) for error in errors),
    )


def failure_lines(step: str, failure: StepFailureData) -> list[str]:
    """Return the errors of a step, a line each; empty if the only one is a closed gate.

    Args:
        step: Name of the step.
        failure: How Dagster recorded its end.
    """
    raised = failure.user_failure_data
    if raised is not None and CLOSED_GATES in raised.metadata:
        return []
    if raised is not None and raised.description:
        return raised.description.splitlines()
    if failure.error is None:
        return []
    cause = failure.error.cause or failure.error
    return [f"{step}: {' '.join(cause.message.split())}"]


def table_metadata(
    connection: duckdb.DuckDBPyConnection, table: str, *, content: str | None = None
) -> dict[str, dg.TableSchema | int | str]:
    """Return the metadata of a stored table: content, name, rows, columns with meaning.

    `content` is its `content_fingerprint` if that is known.
    """
    described = columns_of(connection, table)
    # Two runs on the same data write equal rows, except for when they were written.
    lasting = [column.name for column in described if "TIMESTAMP" not in column.type]
    content = content or content_fingerprint(connection, table, lasting)
    columns = [
        dg.TableColumn(column.name, column.type, description=column.comment) for column in described
    ]
    n_rows, _, _ = content.partition("-")
    return {
        CONTENT: content,
        "dagster/table_name": f"main.{table}",
        "dagster/row_count": int(n_rows),
        "dagster/column_schema": dg.TableSchema(columns=columns),
    }


def data_version_in(table: Mapping[str, dg.TableSchema | int | str]) -> dg.DataVersion:
    """Return the data version of a table: equal content has an equal one."""
    return dg.DataVersion(str(table[CONTENT]))


def ui_address() -> str:
    """Return the address of Dagster's UI, without a slash at its end."""
    return (os.environ.get(UI) or "http://127.0.0.1:3000").rstrip("/")
