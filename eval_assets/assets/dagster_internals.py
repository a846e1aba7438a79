"""Names of Dagster that it does not export; tests/unit/assets/test_dagster_internals.py pins them.

- `current_execution_context`: a resource has no other way to the asset of its step.
- `StepFailureData`, `UnresolvedAssetJobDefinition`: types of values that public functions return.
- `INVALID_PARTITION_SUBSTRINGS`: a partition key that holds one is refused after the run began.
- `BACKFILL_ID_TAG`: the tag by which runs of one backfill share a budget.
"""

from dagster._core.definitions.partitions.utils.base import INVALID_PARTITION_SUBSTRINGS
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.execution.context.compute import current_execution_context
from dagster._core.execution.plan.objects import StepFailureData
from dagster._core.storage.tags import BACKFILL_ID_TAG

NO_COMPUTE_LOGS = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}
"""Settings of an instance that keeps no copy of what steps print."""

__all__ = [
    "BACKFILL_ID_TAG",
    "INVALID_PARTITION_SUBSTRINGS",
    "NO_COMPUTE_LOGS",
    "StepFailureData",
    "UnresolvedAssetJobDefinition",
    "current_execution_context",
]
