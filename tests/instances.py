"""One Dagster instance in memory for all tests of a process that do not test where records are."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

import dagster as dg
import pytest
from dagster._core.storage.event_log import SqlEventLogStorage
from sqlalchemy.engine import Connection


def empty_instance() -> dg.DagsterInstance:
    """Return an instance without the records of former runs."""
    instance = _instance()
    instance.wipe()
    return instance


@cache
def _instance() -> dg.DagsterInstance:
    """To make an instance costs a third of a run of one asset."""
    instance = dg.DagsterInstance.ephemeral()
    atexit.register(instance.dispose)
    _keep_connected(instance.event_log_storage)
    return instance


def _keep_connected(log: object) -> None:
    """Let a log use one connection, which by itself opens and sets up one for each query.

    That costs an eighth of a run of two assets.
    """
    assert isinstance(log, SqlEventLogStorage)
    with log.index_connection() as one_query:
        connection = one_query.engine.connect()
    atexit.register(connection.close)
    lock = Lock()

    @contextmanager
    def connected(run_id: str | None = None) -> Iterator[Connection]:
        del run_id
        with lock, connection.begin():
            yield connection

    for name in ("run_connection", "index_connection"):
        pytest.MonkeyPatch().setattr(log, name, connected)
