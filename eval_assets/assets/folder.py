"""The evaluation folder as a Dagster resource: what is declared, and the database."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import dagster as dg
import duckdb

from eval_assets.evaluation import Evaluation
from eval_assets.judges import PromptError
from eval_assets.problems import InputError
from eval_assets.readers import read_evaluation
from eval_assets.store import StoreError, connect

DEFAULT_FOLDER = "data/sample"


class EvaluationFolder(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One evaluation folder and its database.

    Args:
        data: The folder; where empty, EVAL_DATA, else the sample.
        database: The DuckDB file; where empty, EVAL_DATABASE, else `out/eval.duckdb` in the folder.
    """

    data: str = ""
    database: str = ""

    @property
    def path(self) -> Path:
        """The evaluation folder."""
        return Path(self.data or os.environ.get("EVAL_DATA") or DEFAULT_FOLDER)

    @property
    def out(self) -> Path:
        """Folder of everything that the program writes."""
        return self.path / "out"

    @property
    def database_path(self) -> Path:
        """The DuckDB file."""
        given = self.database or os.environ.get("EVAL_DATABASE")
        return Path(given) if given else self.out / "eval.duckdb"

    def evaluation(self) -> Evaluation:
        """What evaluation.yaml declares now, read anew: thresholds hold from the next run on."""
        with clear_failures():
            return read_evaluation(self.path)

    def connect(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Open the database; another process's lock is waited for. Close it soon."""
        return connect(self.database_path)


def version_of(*parts: object) -> str:
    """Fingerprint of files and settings, by which an import knows that nothing changed."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@contextmanager
def clear_failures() -> Iterator[None]:
    """Fail with one line a problem, not a traceback, where an input or the database is at fault."""
    try:
        yield
    except* InputError as group:
        lines = [str(error) for error in _leaves(group)]
    except* (StoreError, PromptError) as group:
        lines = [str(error) for error in _leaves(group)]
    else:
        return
    raise dg.Failure(
        description="\n".join(lines), metadata={"n_problems": len(lines)}, allow_retries=False
    )


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """The errors themselves, whatever groups they came in."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
