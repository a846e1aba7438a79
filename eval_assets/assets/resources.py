"""The evaluation folder as a Dagster resource, its errors, and its tables as metadata."""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.judges import PromptError
from eval_assets.problems import InputError
from eval_assets.readers import read_evaluation
from eval_assets.store import (
    DamagedError,
    SqlLedger,
    StoreError,
    columns_of,
    connect,
    count_rows,
    open_ledger,
)

DEFAULT_FOLDER = "data/sample"

EVALUATION_TAG = "eval_assets/evaluation"
"""Run tag with the path of the evaluation folder, by which sensors and alerts go."""

_COLUMN_TYPES = {"f": "float", "i": "int", "b": "bool"}


class EvaluationFolder(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One evaluation folder and its database.

    Args:
        data: The folder; if empty, EVAL_DATA, else the sample.
        database: The DuckDB file; if empty, EVAL_DATABASE, else `out/eval.duckdb` in the folder.
    """

    data: str = ""
    database: str = ""

    @property
    def path(self) -> Path:
        """The evaluation folder."""
        return Path(self.data or os.environ.get("EVAL_DATA") or DEFAULT_FOLDER)

    @property
    def out(self) -> Path:
        """The folder that everything is written to; it may not exist yet."""
        return self.path / "out"

    @property
    def database_path(self) -> Path:
        """The DuckDB file."""
        given = self.database or os.environ.get("EVAL_DATABASE")
        return Path(given) if given else self.out / "eval.duckdb"

    def evaluation(self) -> Evaluation:
        """Read evaluation.yaml, every time: a changed threshold holds from the next run on."""
        with clear_failures():
            return read_evaluation(self.path)

    def ledger(self, evaluation: Evaluation) -> AbstractContextManager[SqlLedger]:
        """Open the ledger: EVAL_LEDGER, else `ledger.sqlite` in the folder."""
        return open_ledger(
            self.path,
            evaluation=evaluation.name,
            database=self.database_path,
            given=os.environ.get("EVAL_LEDGER"),
        )

    def connect(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Open the database; wait for another process to release it. Close it soon."""
        return connect(self.database_path, folder=self.path)

    @property
    def run_tags(self) -> dict[str, str]:
        """Tags of this evaluation's runs, which share Dagster's history with others'."""
        return {EVALUATION_TAG: str(self.path.resolve())}

    def owns(self, run: dg.DagsterRun) -> bool:
        """Return whether a run is of this evaluation; a run without its tag is."""
        tag = run.tags.get(EVALUATION_TAG)
        return tag is None or tag == self.run_tags[EVALUATION_TAG]


def version_of(*parts: object) -> str:
    """Return a fingerprint of files and settings: an equal one means that nothing changed."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@contextmanager
def clear_failures() -> Iterator[None]:
    """Turn errors of inputs and of the database into one Failure: a line each, no traceback."""
    try:
        yield
    except* (InputError, StoreError, PromptError) as group:
        errors = list(_leaves(group))
    else:
        return
    raise dg.Failure(
        description="\n".join(map(str, errors)),
        metadata={
            "n_problems": len(errors),
            "database_is_damaged": any(isinstance(error, DamagedError) for error in errors),
        },
        allow_retries=False,
    )


def table_metadata(
    connection: duckdb.DuckDBPyConnection, table: str
) -> dict[str, dg.TableSchema | int | str]:
    """Return what Dagster shows of a stored table: name, rows, and columns with their meaning."""
    columns = [
        dg.TableColumn(column.name, column.type, description=column.comment)
        for column in columns_of(connection, table)
    ]
    return {
        "dagster/table_name": f"main.{table}",
        "dagster/row_count": count_rows(connection, table),
        "dagster/column_schema": dg.TableSchema(columns=columns),
    }


def rows_as_metadata(
    rows: pd.DataFrame, *, descriptions: Mapping[str, str] = MappingProxyType({})
) -> dg.TableMetadataValue:
    """Return rows as a table that the UI shows; undefined is None."""
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    columns = [
        dg.TableColumn(
            str(name),
            _COLUMN_TYPES.get(dtype.kind, "string"),
            description=descriptions.get(str(name)),
        )
        for name, dtype in rows.dtypes.items()
    ]
    return dg.MetadataValue.table(
        [dg.TableRecord({str(k): _plain(v) for k, v in record.items()}) for record in records],
        schema=dg.TableSchema(columns=columns),
    )


def or_none(value: float) -> float | None:
    """Return a figure as metadata; undefined is None, which JSON has."""
    return None if math.isnan(value) else float(value)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """Yield the errors of a group and of the groups in it."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _plain(value: object) -> str | int | float | bool | None:
    """Return the value if JSON has its type, else its text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)
