"""One Dagster instance in memory for all tests of a process that do not test where records are."""

import atexit
from functools import cache

import dagster as dg


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
    return instance
