"""A process that has imported `eval-assets`, and forks for each command.

A new process imports for one to two seconds before it works, which is most of what many a command
takes. How the program itself starts has its own tests: test_start_up.py and test_wheel.py.
"""
# ruff: noqa: PLC0415 - only the server imports the program

import gc
import json
import multiprocessing
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path

_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys

connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
request = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2])
connection.sendall(request)
signal.signal(signal.SIGINT, lambda *_: connection.send(b"i"))
sys.exit(int.from_bytes(connection.recv(1) or b"\\1", "big"))
"""
"""Hands arguments, variables, folder, streams and SIGINT to the server; ends with its code."""


@contextmanager
def running_program(folder: Path) -> Iterator[None]:
    """Write an `eval-assets` into a folder whose processes are forked from one server."""
    address = str(folder / "socket")
    client = folder / "eval-assets"
    client.write_text(_CLIENT.format(python=sys.executable, address=address))
    client.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-P", __file__, address],
        env=os.environ | {"DAGSTER_DISABLE_TELEMETRY": "1", "PYTHONWARNINGS": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as server:  # which ends with its stdin
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield


# A fork of multiprocessing ends without C++ destructors, which need the threads of its parent.
_FORK = multiprocessing.get_context("fork")


def _serve(address: str) -> None:
    """Fork for each connection until stdin ends."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)  # noqa: T201 - for the process that waits
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            with listener.accept()[0] as connection:
                _FORK.Process(target=_keep, args=(connection,)).start()


def _keep(connection: socket.socket) -> None:
    """Fork the process of a command, and return its exit code.

    It is interrupted if its client is, and killed if its client ends.
    """
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as received:
        arguments, variables, folder = json.loads(received.read(int.from_bytes(size, "big")))
    process = _FORK.Process(target=_command, args=(arguments, variables, folder, streams))
    process.start()
    assert process.pid is not None
    while process.sentinel not in wait([process.sentinel, connection]):
        if connection.recv(1):
            os.kill(process.pid, signal.SIGINT)
        else:
            process.kill()
    process.join()
    for stream in streams:  # whoever reads from them learns that the command has ended
        os.close(stream)
    with suppress(BrokenPipeError):
        connection.send(bytes([(process.exitcode or 0) % 256]))


def _command(
    arguments: list[str], variables: dict[str, str], folder: str, streams: list[int]
) -> None:
    """Run the program with what a new process would have received."""
    from eval_assets.cli.main import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    os.chdir(folder)
    sys.argv = ["eval-assets", *arguments]
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    main()


def _import_all() -> None:
    """Import the commands, and what they import while they run."""
    import click

    from eval_assets.cli.main import program

    for name in (
        "anyio.streams.tls",
        "dagster._core.remote_representation.external",
        "dagster._core.storage.runs.schema",
        "dagster._core.storage.schedules.schema",
        "eval_assets.assets.evaluation_definitions",
        "eval_assets.cli.materialize",
        "eval_assets.judges.clients.anthropic",
        "eval_assets.judges.clients.openai",
        "eval_assets.server.app",
        "eval_assets.server.lead_pages",
        "eval_assets.server.results",
        "rich.traceback",
        "structlog",
        "upath",
        "uvicorn.loops.auto",
        "uvicorn.protocols.http.auto",
        "uvicorn.protocols.websockets.auto",
    ):
        import_module(name)
    context = click.Context(program)
    for name in program.list_commands(context):
        program.get_command(context, name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import_all()
    _serve(sys.argv[1])
