"""Names that Dagster does not export mean what the project takes them for."""

import dagster as dg

from eval_assets.assets.dagster_internals import (
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


def test_job_of_assets_is_unresolved() -> None:
    assert isinstance(dg.define_asset_job("all"), UnresolvedAssetJobDefinition)


def test_instance_without_compute_logs_keeps_none() -> None:
    with dg.DagsterInstance.local_temp(overrides={"compute_logs": NO_COMPUTE_LOGS}) as instance:
        assert type(instance.compute_log_manager).__name__ == NO_COMPUTE_LOGS["class"]
