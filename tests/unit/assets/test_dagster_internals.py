"""Names that Dagster does not export mean what the project takes them for."""

import dagster as dg

from eval_assets.assets.dagster_internals import NO_COMPUTE_LOGS, StepFailureData


@dg.asset
def failing() -> None:
    """Fail."""
    raise dg.Failure("no")


def test_failed_step_has_failure_data() -> None:
    result = dg.materialize([failing], raise_on_error=False)
    [failure] = [event.step_failure_data for event in result.all_events if event.is_step_failure]

    assert isinstance(failure, StepFailureData)
    assert failure.user_failure_data is not None
    assert failure.user_failure_data.description == "no"


def test_instance_without_compute_logs_keeps_none() -> None:
    with dg.DagsterInstance.local_temp(overrides={"compute_logs": NO_COMPUTE_LOGS}) as instance:
        assert type(instance.compute_log_manager).__name__ == NO_COMPUTE_LOGS["class"]
