"""Names that Dagster does not export mean what the project takes them for."""

from pathlib import Path

import dagster as dg
from alembic.script import ScriptDirectory
from dagster._core.storage import sql
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.runs import SqlRunStorage

from eval_assets.assets.dagster_internals import (
    NO_COMPUTE_LOGS,
    StepFailureData,
    engines_made_once,
    migrations_read_once,
)


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


def test_stores_of_a_run_keep_the_engine_of_a_file(tmp_path: Path) -> None:
    with engines_made_once(), dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        events, runs = instance.event_log_storage, instance.run_storage
        assert isinstance(events, SqlEventLogStorage)
        assert isinstance(runs, SqlRunStorage)
        for connect in (events.index_connection, runs.connect):
            with connect() as first:
                pass
            with connect() as second:
                assert second.engine is first.engine


def test_migrations_are_read_once_for_all_stores() -> None:
    config = sql.get_alembic_config(sql.__file__)
    with migrations_read_once():
        assert ScriptDirectory.from_config(config) is ScriptDirectory.from_config(config)
