"""Names that Dagster does not export mean what the project takes them for."""

import dagster as dg
import pytest

from eval_assets.assets.dagster_internals import (
    BACKFILL_ID_TAG,
    INVALID_PARTITION_SUBSTRINGS,
    NO_COMPUTE_LOGS,
    StepFailureData,
    UnresolvedAssetJobDefinition,
    current_execution_context,
)


@dg.asset
def measured(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """Compare the context of the step with the current one."""
    current = current_execution_context.get()
    assert isinstance(current, dg.AssetExecutionContext)
    assert current.selected_asset_keys == context.selected_asset_keys
    return dg.MaterializeResult()


@dg.asset_check(asset=measured)
def holds() -> dg.AssetCheckResult:
    """Pass."""
    return dg.AssetCheckResult(passed=True)


@dg.asset
def failing() -> None:
    """Fail."""
    raise dg.Failure("no")


def test_current_context_is_that_of_the_step() -> None:
    assert current_execution_context.get() is None
    with dg.DagsterInstance.ephemeral() as instance:
        assert dg.materialize([measured, holds], instance=instance).success


def test_failed_step_has_failure_data() -> None:
    result = dg.materialize([failing], raise_on_error=False)
    [failure] = [event.step_failure_data for event in result.all_events if event.is_step_failure]

    assert isinstance(failure, StepFailureData)
    assert failure.user_failure_data is not None
    assert failure.user_failure_data.description == "no"


@pytest.mark.parametrize("part", INVALID_PARTITION_SUBSTRINGS)
def test_partition_key_with_a_forbidden_part_is_refused(part: str) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError):
        dg.StaticPartitionsDefinition([f"a{part}b"])


def test_job_of_assets_is_unresolved() -> None:
    assert isinstance(dg.define_asset_job("all"), UnresolvedAssetJobDefinition)


def test_tag_of_backfills_and_logs_are_as_dagster_has_them() -> None:
    request = dg.PartitionedConfig(
        dg.StaticPartitionsDefinition(["a"]), run_config_for_partition_key_fn=lambda _: {}
    )
    assert request is not None
    assert BACKFILL_ID_TAG == "dagster/backfill"
    with dg.DagsterInstance.local_temp(overrides={"compute_logs": NO_COMPUTE_LOGS}) as instance:
        assert type(instance.compute_log_manager).__name__ == NO_COMPUTE_LOGS["class"]
