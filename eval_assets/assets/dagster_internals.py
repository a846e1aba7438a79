"""Names of Dagster that it does not export; test_dagster_internals.py pins them."""

from collections.abc import Iterator

from dagster._core.execution.plan.objects import StepFailureData
from dagster._utils.error import (  # type: ignore[attr-defined] # from its own part
    SerializableErrorInfo,
)

NO_COMPUTE_LOGS = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}
"""Settings of an instance that keeps no copy of what steps print."""

__all__ = ["NO_COMPUTE_LOGS", "StepFailureData", "with_causes"]


def with_causes(error: SerializableErrorInfo | None) -> Iterator[SerializableErrorInfo]:
    """Yield an error and what caused it, as Ctrl-C does an error of DuckDB."""
    while error is not None:
        yield error
        error = error.cause
