"""`eval-assets fake-provider`, as a program."""

import os
import signal
import socket
import subprocess
import sys
import threading

import httpx2
import pytest
from click.testing import CliRunner

from eval_assets.cli.fake_provider import fake_provider

PROGRAM = (sys.executable, "-c", "from eval_assets.cli.main import main; main()", "fake-provider")


def test_it_prints_the_variables_serves_and_ends_on_ctrl_c() -> None:
    with subprocess.Popen(
        [*PROGRAM, "--port", "0", "--latency", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        patience = threading.Timer(20, process.kill)
        patience.start()
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline().strip() for _ in range(5)]
            assert lines[0].startswith("Listening on http://127.0.0.1:")
            variables = dict(line.removeprefix("export ").split("=") for line in lines[1:])
            reply = httpx2.post(
                f"{variables['OPENAI_BASE_URL']}/chat/completions",
                headers={"authorization": f"Bearer {variables['OPENAI_API_KEY']}"},
                json={"model": "gpt-6-luna", "messages": [{"role": "user", "content": "Hi"}]},
            )
            assert reply.status_code == 200
            os.kill(process.pid, signal.SIGINT)
            output, errors = process.communicate()
        finally:
            patience.cancel()
            process.kill()
    assert (output, errors) == ("1 request answered.\n", "")
    assert process.returncode == 0


@pytest.mark.parametrize("option", ["--latency", "--faults", "--port"])
def test_misuse_has_exit_code_2(option: str) -> None:
    result = CliRunner().invoke(fake_provider, [option, "-1"])
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr


def test_a_taken_port_is_one_line_with_exit_code_1() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = CliRunner().invoke(fake_provider, ["--port", str(port)])
    assert result.exit_code == 1
    assert result.stderr == f"Error: Address already in use: 127.0.0.1:{port}.\n"
