"""Executors that the environment names."""

import runpy
import socket
from pathlib import Path

import pytest

from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.assets.executors import executor, require_broker
from eval_assets.errors import InputError


@pytest.mark.parametrize(
    ("value", "name"),
    [("", "in_process"), *((name, name) for name in ("multiprocess", "celery"))],
)
def test_the_environment_names_the_executor(
    monkeypatch: pytest.MonkeyPatch, value: str, name: str
) -> None:
    monkeypatch.setenv("EVAL_EXECUTOR", value)
    assert executor().name == name
    job = project_definitions(Path("data/sample")).resolve_job_def("evaluate")
    assert job.executor_def.name == name


def test_an_executor_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_EXECUTOR", "k8s")
    with pytest.raises(InputError, match=r"names k8s, .* one of in_process, .*celery\.$"):
        executor()


def test_only_celery_needs_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_BROKER", "redis://127.0.0.1:1/0")
    monkeypatch.delenv("EVAL_EXECUTOR", raising=False)
    require_broker()


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_does_not_answer_is_one_line_without_its_password(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        broker = f"{scheme}://eval:secret@127.0.0.1:{nobody.getsockname()[1]}//"
        monkeypatch.setenv("EVAL_EXECUTOR", "celery")
        monkeypatch.setenv("EVAL_BROKER", broker)
        with pytest.raises(InputError) as raised:
            require_broker()
    assert "does not answer" in str(raised.value)
    assert "Start the broker" in str(raised.value)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("broker", "backend"),
    [("redis://host:6379/0", "redis://host:6379/0"), ("amqp://host//", "rpc://")],
)
def test_ends_of_steps_are_reported_by_way_of_the_broker(
    monkeypatch: pytest.MonkeyPatch, broker: str, backend: str
) -> None:
    monkeypatch.setenv("EVAL_BROKER", broker)
    monkeypatch.setenv("EVAL_EXECUTOR", "celery")
    workers = runpy.run_path("deploy/celery/dagster_celery_config.py")
    inputs = executor().apply_config_mapping({"config": {}}).value
    assert inputs is not None
    run = inputs["config"]
    assert (workers["broker_url"], workers["result_backend"]) == (broker, backend)
    assert (run["broker"], run["backend"]) == (broker, backend)
