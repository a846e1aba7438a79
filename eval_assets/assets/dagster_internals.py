"""Names of Dagster that it does not export; test_dagster_internals.py pins them."""

from dagster._core.execution.plan.objects import StepFailureData

NO_COMPUTE_LOGS = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}
"""Settings of an instance that keeps no copy of what steps print."""

__all__ = ["NO_COMPUTE_LOGS", "StepFailureData"]
