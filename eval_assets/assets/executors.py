"""Executors of the steps of a run, and pools of the steps that ask models."""

import os

import dagster as dg

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem
from eval_assets.judges.credentials import api_key_name

EXECUTORS = ("in_process", "multiprocess", "celery")

DEFAULT_BROKER = "redis://127.0.0.1:6379/0"

_SECONDS_TO_CONNECT = 5

_SETTINGS = {
    # A step belongs to a worker until it has ended: if its process dies, another one takes it.
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    # With Redis, if a whole machine dies: after so many seconds. A worker that is free then begins
    # a step that takes longer once more: it waits for the other, and sends only what is missing.
    "broker_transport_options": {"visibility_timeout": 600},
}
"""Settings of runs; deploy/celery/ has those of workers."""

_NOT_INSTALLED = "EVAL_EXECUTOR names celery, which is not installed"
_INSTALL = "Run: pip install 'eval-assets[scale]'"


def executor_name() -> str:
    """Return the executor that EVAL_EXECUTOR names; `in_process` if it names none.

    Raises:
        InputError: If there is no such executor.
    """
    name = os.environ.get("EVAL_EXECUTOR") or EXECUTORS[0]
    if name not in EXECUTORS:
        message = f"EVAL_EXECUTOR names {name}, which is not an executor"
        raise _unusable(message, f"Use one of {', '.join(EXECUTORS)}")
    return name


def executor() -> dg.ExecutorDefinition:
    """Return the executor that EVAL_EXECUTOR names; Celery's checks the broker before a run.

    Raises:
        InputError: If there is no such executor, or it is not installed.
    """
    name = executor_name()
    if name != "celery":
        return dg.multiprocess_executor if name == "multiprocess" else dg.in_process_executor
    try:
        from dagster_celery.executor import CELERY_CONFIG, celery_executor
    except ModuleNotFoundError:
        raise _unusable(_NOT_INSTALLED, _INSTALL) from None

    def checked(init_context: dg.InitExecutorContext) -> dg.Executor:
        require_broker()
        make = celery_executor.executor_creation_fn
        assert make is not None  # noqa: S101 - of an optional type in Dagster
        return make(init_context)

    # RabbitMQ does not store results of steps, but passes them on.
    backend = "rpc://" if _broker().startswith("amqp") else _broker()
    return dg.ExecutorDefinition(
        name="celery",
        config_schema=CELERY_CONFIG,
        requirements=dg.multiple_process_executor_requirements(),
        executor_creation_fn=checked,
    ).configured({"broker": _broker(), "backend": backend, "config_source": _SETTINGS})


def require_broker() -> None:
    """Raise InputError if Celery's broker does not answer, for which a run would wait for ever."""
    if executor_name() != "celery":
        return
    try:
        from kombu.connection import Connection
        from kombu.exceptions import OperationalError
    except ModuleNotFoundError:
        raise _unusable(_NOT_INSTALLED, _INSTALL) from None
    with Connection(  # type: ignore[no-untyped-call]
        _broker(), connect_timeout=_SECONDS_TO_CONNECT
    ) as connection:
        try:
            connection.ensure_connection(
                max_retries=1, interval_start=0, timeout=_SECONDS_TO_CONNECT
            )
        except (OperationalError, OSError) as error:
            message = (
                f"EVAL_BROKER: {connection.as_uri()} does not answer ({str(error).rstrip('.')})"
            )
            raise _unusable(message, "Start the broker, or unset EVAL_EXECUTOR") from error


def _broker() -> str:
    return os.environ.get("EVAL_BROKER") or DEFAULT_BROKER


def _unusable(message: str, remedy: str) -> InputError:
    return InputError(InputProblem("environment", None, None, message, remedy))


def pool_of(evaluation: Evaluation) -> str | None:
    """Return the pool of an evaluation's requests: evaluations with the same keys share one.

    The name lists the variables that hold the keys. Without live judges and generators there is
    none, so that recorded scores never wait.
    """
    judges = {api_key_name(judge) for judge in evaluation.live_judges}
    generators = {api_key_name(generator) for generator in evaluation.generators}
    return "+".join(sorted(judges | generators)) or None
