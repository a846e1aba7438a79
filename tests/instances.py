"""One Dagster instance in memory for all tests of a process that do not test where records are."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import dagster as dg
import pytest
from dagster._core.storage.event_log.in_memory import InMemoryEventLogStorage
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
    log = instance.event_log_storage
    assert isinstance(log, InMemoryEventLogStorage)
    patch = pytest.MonkeyPatch()
    patch.setattr(log, "_connect", lambda: _transaction(log))
    return instance


@contextmanager
def _transaction(log: InMemoryEventLogStorage) -> Iterator[Connection]:
    """Use the connection that the log keeps open.

    The log itself opens one for each query and sets it up, which costs a sixth of a run.
    """
    with log._db_lock, log._held_conn.begin():
        yield log._held_conn
