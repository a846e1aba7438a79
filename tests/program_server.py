"""A process that has imported `eval-assets`, Celery and Dagster, and forks for each command.

A new process imports for one to two seconds before it works, which is most of what many a command
takes. How the program itself starts has its own tests: test_start_up.py and test_wheel.py.
"""

import fcntl
import gc
import json
import multiprocessing
import os
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

_TOP = Path(__file__).parents[1]
_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys

inherited = []
if sys.argv[0].endswith("/python"):
    if sys.argv[1] == "-c" and "multiprocessing" in sys.argv[2]:
        inherited = [n for n in map(int, os.listdir("/proc/self/fd")) if n > 2]
        inherited = [n for n in inherited if os.path.exists(f"/proc/self/fd/{{n}}")]
    elif sys.argv[1] != "-u" and sys.argv[1:3] != ["-m", "dagster"]:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
request = json.dumps([sys.argv, dict(os.environ), os.getcwd(), inherited]).encode()
socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2, *inherited])
connection.sendall(request)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: connection.send(bytes([number])))
sys.exit(int.from_bytes(connection.recv(1) or b"\\1", "big"))
"""
"""Hands arguments, variables, folder, streams and signals to the server; ends with its code.

Processes of multiprocessing know the pipes that they inherit by their numbers. Of other uses of
Python, code servers of Dagster and workers of tests are forked.
"""


def start_programs(folder: Path, *, owner: int) -> None:
    """Write programs into a folder whose processes one server forks.

    The server ends with its owner, a process by its number.
    """
    address = str(folder / "socket")
    subprocess.run(
        [sys.executable, "-m", "tests.program_server", address, str(owner)],
        cwd=_TOP,
        env=os.environ | {"DAGSTER_DISABLE_TELEMETRY": "1", "PYTHONWARNINGS": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        check=True,
    )
    of_dagster = "dagster", "dagster-daemon", "dagster-webserver", "dg"
    for name in (*of_dagster, "celery", "eval-assets", "python"):
        client = folder / name
        client.write_text(_CLIENT.format(python=sys.executable, address=address))
        client.chmod(0o755)


# A fork of multiprocessing ends without C++ destructors, which need the threads of its parent.
_FORK = multiprocessing.get_context("fork")


def _serve(address: str, owner: int) -> None:
    """Go into the background once it listens, and fork for each connection until its owner ends."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        if not os.fork():
            end = os.pidfd_open(owner)
            while end not in wait([listener, end]):
                with listener.accept()[0] as connection:
                    _FORK.Process(target=_keep, args=(connection,)).start()
        os._exit(0)


def _keep(connection: socket.socket) -> None:
    """Fork the process of a command, and return its exit code.

    It is interrupted or terminated if its client is, and killed if its client ends.
    """
    size, streams, _, _ = socket.recv_fds(connection, 4, 100)
    with connection.makefile("rb") as received:
        arguments, *rest, inherited = json.loads(received.read(int.from_bytes(size, "big")))
    numbers = dict(zip([0, 1, 2, *inherited], streams, strict=True))
    process = _FORK.Process(target=_command, args=(arguments, *rest, numbers))
    process.start()
    assert process.pid is not None
    end = os.pidfd_open(process.pid)
    while end not in wait([end, connection]):
        if number := connection.recv(1):
            os.kill(process.pid, number[0])
        else:
            process.kill()
    process.join()
    for stream in streams:  # whoever reads from them learns that the command has ended
        os.close(stream)
    with suppress(BrokenPipeError):
        connection.send(bytes([(process.exitcode or 0) % 256]))


def _command(
    arguments: list[str], variables: dict[str, str], folder: str, streams: dict[int, int]
) -> None:
    """Run the program with what a new process would have received, streams by their numbers."""
    program = Path(arguments[0]).resolve()
    high = {number: fcntl.fcntl(stream, fcntl.F_DUPFD, 200) for number, stream in streams.items()}
    for stream in streams.values():
        os.close(stream)
    for number, stream in high.items():
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    os.chdir(folder)
    if arguments[1:2] == ["-m"]:
        del arguments[:2]
    name = Path(arguments[0]).name
    sys.argv = [name, *arguments[1:]]
    sys.path[:0] = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    sys.modules["__main__"] = ModuleType("__main__")  # processes of the program import it again
    if name == "python":  # a worker of tests or a process of multiprocessing
        place = arguments.index("-c") + 1
        sys.argv[1 : place + 1] = []
        exec(arguments[place], vars(sys.modules["__main__"]))  # noqa: S102
        return
    sys.path.remove(str(_TOP))
    # Code servers and runs of Dagster are processes of their own.
    sys.executable = str(program.with_name("python"))
    multiprocessing.set_executable(sys.executable)
    [script] = entry_points(group="console_scripts", name=name)
    sys.exit(script.load()())


def share_stores() -> None:
    """Let Dagster's stores share migrations, and all queries of a SQLite file its engine.

    Each store reads all migrations, which takes longer than many a run in the tests. An engine for
    each query compiles its statements again, a fifth of a small run.
    """
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from dagster._core.storage.event_log.sqlite import sqlite_event_log
    from dagster._core.storage.runs.sqlite import sqlite_run_storage
    from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
    from sqlalchemy import Engine, create_engine
    from sqlalchemy.event import listen

    from_config = ScriptDirectory.from_config
    by_location: dict[str | None, ScriptDirectory] = {}
    by_url: dict[str, Engine] = {}

    def read_once(config: Config) -> ScriptDirectory:
        location = config.get_main_option("script_location")
        if location not in by_location:
            by_location[location] = from_config(config)
        return by_location[location]

    def made_once(url: str, **options: object) -> Engine:
        if url not in by_url:
            by_url[url] = create_engine(url, **options)
            setattr(by_url[url], "dispose", lambda: None)  # noqa: B010 - its pool keeps nothing
            listen(by_url[url], "connect", without_waiting)
        return by_url[url]

    def without_waiting(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA synchronous=OFF")  # no machine loses its power

    setattr(ScriptDirectory, "from_config", read_once)  # noqa: B010 - a method for mypy
    for store in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        vars(store)["create_engine"] = made_once


def _import_all() -> None:
    """Import the commands, and what they import while they run."""
    import click
    import dagster as dg

    from eval_assets.cli.main import program

    for name in (
        "anyio.streams.tls",
        "celery.apps.worker",
        "celery.backends.redis",
        "celery.bin.celery",
        "celery.concurrency.prefork",
        "celery.contrib.testing.tasks",
        "celery.worker.consumer",
        "dagster._cli",
        "dagster._daemon.cli",
        "dagster._core.remote_representation.external",
        "dagster._core.storage.runs.schema",
        "dagster._core.storage.schedules.schema",
        "dagster_celery.executor",
        "dagster_celery.tasks",
        "dagster_dg_cli.cli",
        "dagster_dg_cli.cli.check",
        "dagster_dg_cli.cli.launch",
        "dagster_dg_cli.cli.list",
        "dagster_dg_cli.cli.scaffold",
        "dagster_webserver.cli",
        "eval_assets.assets.evaluation_definitions",
        "eval_assets.cli.materialize",
        "eval_assets.judges.clients.anthropic",
        "eval_assets.judges.clients.openai",
        "eval_assets.server.app",
        "eval_assets.server.lead_pages",
        "eval_assets.server.results",
        "kombu.transport.redis",
        "rich.traceback",
        "scipy.stats",
        "sqlalchemy.dialects.postgresql.psycopg",
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
    share_stores()
    # pytest would change the modules of its plugins, which forked workers have imported already.
    sys.modules["anyio"].__doc__ = "PYTEST_DONT_REWRITE"
    with TemporaryDirectory() as records:
        dg.DagsterInstance.local_temp(records).dispose()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import_all()
    _serve(sys.argv[1], int(sys.argv[2]))
