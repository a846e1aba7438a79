"""The evaluation folder as a Dagster resource, the versions of its files, and its errors."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path

import dagster as dg
from duckdb import DuckDBPyConnection as Connection

from eval_assets.assets.dagster_internals import StepFailureData
from eval_assets.assets.metadata import Metadata, without_blanks
from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.errors import DamagedError, InputError, PromptError, StoreError, leaves
from eval_assets.readers.evaluation.input_files import source_files
from eval_assets.readers.evaluation.read import evaluations_in, read_evaluation
from eval_assets.readers.formats.files import is_working_file, source_fingerprint
from eval_assets.store.connection import connect, session
from eval_assets.store.data_versions import combined_fingerprint
from eval_assets.store.database_file import database_path
from eval_assets.store.inputs import TABLE_OF_ASSET
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.schema import columns_of, content_fingerprint

AGAIN = dg.RetryPolicy(max_retries=4, delay=8, backoff=dg.Backoff.EXPONENTIAL)
"""Retry policy of steps that only fill the ledger: four times within two minutes if it is lost."""

CLOSED_GATES = "closed_gates"
"""Metadata of the Failure of a closed gate: its name."""


def identifiers_of(evaluations: Sequence[str]) -> dict[str, str]:
    """Return a name for each evaluation that Dagster allows for jobs, groups and steps.

    Characters other than letters, digits and _ become _; a number tells equal names apart. A name
    that begins with no letter, as that of no resource may, follows `evaluation`.

    Examples:
        >>> identifiers_of(["a.b", "a-b", "2026 tickets"])
        {'a.b': 'a_b', 'a-b': 'a_b_2', '2026 tickets': 'evaluation_2026_tickets'}
    """
    identifiers: dict[str, str] = {}
    for name in evaluations:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        if not plain[:1].isalpha():
            plain = f"evaluation_{plain.strip('_')}".rstrip("_")
        identifier, number = plain, 1
        while identifier in identifiers.values():
            number += 1
            identifier = f"{plain}_{number}"
        identifiers[name] = identifier
    return identifiers


_FILES_OF_TABLE = {
    "responses": "response_files",
    "human_labels": "label_files",
    "judge_scores": "judge_score_files",
    "adjudicated_labels": "adjudication_file",
}
"""The asset of the files that are read into each table."""

_DATA_VERSION_TAG = "dagster/data_version"
"""Tag by which an observation has a data version; Dagster does not export its name."""


def file_versions(folder: Path) -> dict[str, str]:
    """Return the version of each kind of file that can be read; no file has a version too.

    That of `evaluation_file` is also of files of no other kind, such as prompts.
    """
    versions: dict[str, str] = {}
    try:
        sources = source_files(read_evaluation(folder))
    except* InputError:
        sources = {}  # a run that reads the file reports what is wrong with it
    read = {path.resolve() for path in chain.from_iterable(sources.values())}
    other_files = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_own = parts[0] == "out" or parts[0].startswith("ledger.sqlite")
        # Of what people put into the folder, hidden, half-written and empty files do not count.
        if is_own or any(is_working_file(Path(part)) for part in parts):
            continue
        if path.is_file() and path.stat().st_size and path.resolve() not in read:
            other_files.append(path)
    kinds = {_FILES_OF_TABLE[table]: files for table, files in sources.items()}
    # Without evaluation.yaml, it is not known of which kind the other files are.
    kinds["evaluation_file"] = tuple(other_files) if sources else (folder / FILE,)
    for name, files in kinds.items():
        try:
            versions[name] = source_fingerprint(files)
        except* InputError:
            pass
    return versions


class EvaluationFolder(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One evaluation folder and its database."""  # all that the resource's page shows

    data: str
    """The folder."""

    name: str = ""
    """Start of the keys of its assets; empty for an evaluation on its own."""

    identifier: str = ""
    """Name of the evaluation in the names of steps, jobs and groups."""

    database: str = ""
    """The DuckDB file; if empty, EVAL_DATABASE, else `out/eval.duckdb` in the folder."""

    @classmethod
    def at(
        cls, path: Path, *, name: str = "", database: Path | str | None = None, identifier: str = ""
    ) -> "EvaluationFolder":
        """Return the folder at a path, with an identifier that Dagster allows."""
        identifier = identifier or identifiers_of([name or path.resolve().name]).popitem()[1]
        return cls(data=str(path), name=name, identifier=identifier, database=str(database or ""))

    @classmethod
    def all_in(cls, root: Path, *, database: Path | str | None = None) -> "list[EvaluationFolder]":
        """Return an evaluation folder, or those in a folder, which are named like their folders.

        Their identifiers take the place of names with characters that Dagster refuses in keys.
        """
        identifiers = identifiers_of(evaluations_in(root))
        return [
            cls.at(
                root / name,
                name=name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else identifier,
                identifier=identifier,
                database=database,
            )
            for name, identifier in identifiers.items()
        ] or [cls.at(root, database=database)]

    @property
    def path(self) -> Path:
        """The evaluation folder."""
        return Path(self.data)

    @property
    def names_before(self) -> str:
        """Start of the names of jobs and groups; an evaluation on its own has none."""
        return f"{self.identifier}_" if self.name else ""

    @property
    def steps_before(self) -> str:
        """Start of the names of steps."""
        return f"{self.identifier}__"

    @property
    def settings(self) -> dict[str, str]:
        """The arguments that make the folder."""
        return {name: getattr(self, name) for name in ("data", "name", "identifier", "database")}

    @property
    def records(self) -> Path:
        """The folder of Dagster's records: of this evaluation, or of all in a folder of several."""
        return self.path.parent / ".dagster" if self.name else self.out / "dagster"

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
        if setting and self.name:
            raise StoreError(
                f"{setting}: one file cannot hold all evaluations of {self.path.parent}. Unset "
                "EVAL_DATABASE, then each has its own in out/."
            )
        return database_path(self.path, setting=setting)

    def key(self, asset: str) -> dg.AssetKey:
        """Return the key of one of this evaluation's assets."""
        return dg.AssetKey([self.name, asset] if self.name else asset)

    def evaluation(self) -> Evaluation:
        """Read evaluation.yaml, every time: a changed threshold holds from the next run on."""
        return read_evaluation(self.path)

    def ledger(self, evaluation: Evaluation) -> AbstractContextManager[SqlLedger]:
        """Open the ledger: EVAL_LEDGER, else `ledger.sqlite` in the folder."""
        return open_ledger(
            self.path,
            evaluation=evaluation.name,
            setting=os.environ.get("EVAL_LEDGER"),
        )

    def connect(self) -> AbstractContextManager[Connection]:
        """Open the database; wait for another process to release it. Close it soon."""
        return connect(self.stored_in, folder=self.path)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["EvaluationFolder"]:
        """Keep databases open for the run, or for the step if each has a separate process.

        First it records, before a run, that it is of this evaluation, and the versions of its
        files. A run that is started by a click has no tag yet. Versions are those before the first
        step: what changes later was perhaps not read, and is recorded by the sensor.
        """
        run, instance = context.run, context.instance
        if run is not None and instance is not None:
            instance.add_run_tags(run.run_id, self.run_tags)
            if not instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_START):
                for observation in self.unrecorded_versions(instance):
                    instance.report_runless_asset_event(observation)
        with session():
            yield self

    def unrecorded_versions(self, instance: dg.DagsterInstance) -> Iterator[dg.AssetObservation]:
        """Yield an observation of each kind of file whose version is not the one recorded last."""
        for name, version in file_versions(self.path).items():
            key = self.key(name)
            last = instance.fetch_observations(key, limit=1).records
            observed = last[0].asset_observation if last else None
            if observed is None or observed.data_version != version:
                yield dg.AssetObservation(key, tags={_DATA_VERSION_TAG: version})

    @property
    def run_tags(self) -> dict[str, str]:
        """Tags of this evaluation's runs, which share Dagster's history with others'."""
        return {_tag_of(self.identifier): str(self.path.resolve())}

    def owns(self, run: dg.DagsterRun) -> bool:
        """Return whether a run is of this evaluation; one without tags may be.

        Asset keys are not enough: another folder of evaluations may hold one of the same name.
        """
        is_tagged = any(tag.startswith(_tag_of("")) for tag in run.tags)
        return not is_tagged or self.run_tags.items() <= run.tags.items()


def _tag_of(identifier: str) -> str:
    """Return the run tag of an evaluation, which the UI hides, as all that start like it."""
    return f".dagster/eval_assets.{identifier}"


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
    """Return the errors of a step, a line each; empty if the only one is a closed gate."""
    raised = failure.user_failure_data
    if raised is not None and CLOSED_GATES in raised.metadata:
        return []
    if raised is not None and raised.description:
        return raised.description.splitlines()
    if failure.error is None:
        return []
    cause = failure.error.cause or failure.error
    return [f"{step}: {' '.join(cause.message.split())}"]


def materialized(
    folder: EvaluationFolder, asset: str, metadata: Metadata
) -> dg.MaterializeResult[None]:
    """Return the result of an asset that stored a table, with its columns and their meaning.

    Values of `metadata` that are empty are left out.
    """
    table = TABLE_OF_ASSET.get(asset, asset)
    with folder.connect() as connection:
        described = columns_of(connection, table)
        # Two runs on the same data write equal rows, except for when they were written.
        lasting = [column.name for column in described if "TIMESTAMP" not in column.type]
        content = (
            combined_fingerprint(connection)
            if table == "combined_scores"
            else content_fingerprint(connection, table, lasting)
        )
    columns = [
        dg.TableColumn(column.name, column.type, description=column.comment) for column in described
    ]
    n_rows, _, _ = content.partition("-")
    return dg.MaterializeResult(
        asset_key=folder.key(asset),
        data_version=dg.DataVersion(content),
        metadata={
            "dagster/table_name": f"main.{table}",
            "dagster/row_count": int(n_rows),
            "dagster/column_schema": dg.TableSchema(columns=columns),
            **without_blanks(metadata),
        },
    )
