"""Names of Dagster that it does not export; test_dagster_internals.py pins them."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.execution.plan.objects import StepFailureData
from dagster._core.storage import sql
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage

NO_COMPUTE_LOGS = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}
"""Settings of an instance that keeps no copy of what steps print."""

_MIGRATIONS: dict[str | None, ScriptDirectory] = {}
"""Read migrations of stores, by their folder."""

_STORES = (sqlite_event_log, sqlite_run_storage)


@contextmanager
def migrations_read_once() -> Iterator[None]:
    """Let stores share what alembic reads of their migrations, hundreds of modules for each."""
    from_config = ScriptDirectory.from_config

    def read_once(config: Config) -> ScriptDirectory:
        location = config.get_main_option("script_location")
        if location not in _MIGRATIONS:
            _MIGRATIONS[location] = from_config(config)
        return _MIGRATIONS[location]

    ScriptDirectory.from_config = read_once
    try:
        yield
    finally:
        ScriptDirectory.from_config = from_config


@contextmanager
def engines_made_once() -> Iterator[None]:
    """Let stores in SQLite keep the engine of a file, which they make anew for each query.

    A new engine compiles its statements again, which is a fifth of a small run.
    """
    engines: dict[str, object] = {}

    def made_once(url: str, **options: object) -> object:
        if url not in engines:
            engines[url] = sql.create_engine(url, **options)
        return engines[url]

    for store in _STORES:
        vars(store)["create_engine"] = made_once
    try:
        yield
    finally:
        for store in _STORES:
            vars(store)["create_engine"] = sql.create_engine


__all__ = ["NO_COMPUTE_LOGS", "StepFailureData", "engines_made_once", "migrations_read_once"]
