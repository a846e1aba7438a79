"""`python -m tests.fake_provider`, as a program."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from tests.fake_provider.__main__ import fake_provider
from tests.fake_provider.server import RunningProvider

TOP = Path(__file__).parents[3]
PROGRAM = (sys.executable, "-m", "tests.fake_provider")


def test_it_prints_the_variables_serves_and_ends_on_ctrl_c() -> None:
    with subprocess.Popen(
        [*PROGRAM, "--port", "0", "--latency", "0", "--fault", "overloaded=1"],
        cwd=TOP,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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
            assert reply.status_code == 503
            os.kill(process.pid, signal.SIGINT)
            output, errors = process.communicate()
        finally:
            patience.cancel()
            process.kill()
    assert (output, errors) == ("1 requests answered.\n", "")
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fault", "earthquake=1"], "'earthquake' is not one of"),
        (["--fault", "hang"], "'hang' has no share, such as hang=0.1"),
        (["--fault", "hang=2"], "the rate of hang must lie in [0, 1], got 2.0"),
        (["--faults", "0.9", "--fault", "hang=0.9"], "rates must sum to at most 1"),
        (["--latency", "-1"], "Invalid value for '--latency'"),
    ],
)
def test_misuse_has_exit_code_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(fake_provider, arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_taken_port_is_one_line_with_exit_code_1(sound: RunningProvider) -> None:
    result = CliRunner().invoke(fake_provider, ["--port", str(sound.port)])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Address already in use")
    assert str(sound.port) in result.stderr
    assert result.stderr.count("\n") == 1
