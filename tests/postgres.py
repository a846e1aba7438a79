"""A PostgreSQL server of our own, on a free port of loopback, for tests and benchmarks."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

_STARTING_SECONDS = 60

_SETTINGS = ("-c", "autovacuum=off", "-c", "fsync=off")
"""No machine loses its power, and of the databases of all tests none becomes large."""


@dataclass
class Postgres:
    """A server on a folder of its own.

    Args:
        command: Its program with everything it is given.
        folder: Where its data and its log are.
        port: Port on loopback.
        user: Who it runs as; None for whoever runs this.
    """

    command: Sequence[str]
    folder: Path
    port: int
    user: str | None

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                self.command, user=self.user, cwd=self.folder, stdout=output, stderr=output
            )
        deadline = time.monotonic() + _STARTING_SECONDS
        while not self.is_ready():
            assert self._process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it without waiting for clients."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def kill(self) -> None:
        """Kill it and everything that it started, as a machine does that loses its power."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        for pid in [self._process.pid, *map(int, children.read_text().split())]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def new_database(self) -> str:
        """Create a database and return its URL."""
        name = f"ledger_{uuid.uuid4().hex}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self._url(name)

    def drop_connections(self) -> None:
        """End every connection of others, as a server does that goes away."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"
            )

    def is_ready(self) -> bool:
        """Whether it takes connections."""
        try:
            psycopg.connect(self._url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _url(self, database: str) -> str:
        return f"postgresql://eval@127.0.0.1:{self.port}/{database}"


@contextmanager
def running_postgres(programs: Path) -> Iterator[Postgres]:
    """Start a server on a folder of its own, and stop it in the end.

    Args:
        programs: Folder of `initdb` and `postgres`.
    """
    # It refuses to run as root, and root's own temporary folders are closed to others.
    user = _other_user() if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="eval-postgres-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "eval", "-A", "trust", "--no-sync"],
            user=user,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        port = _free_port()
        command = [str(programs / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", f"{port}"]
        command += ["-k", str(folder), *_SETTINGS]
        server = Postgres(command, folder, port, user)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def postgres_programs() -> Path | None:
    """Return the folder of `initdb` and `postgres`: on the PATH, or Debian's newest; else None."""
    result = shutil.which("initdb")
    if result and shutil.which("postgres"):
        return Path(result).parent
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4])
    )
    return debian[-1].parent if debian else None


def _other_user() -> str:
    """Return a user who is not root: Debian's package makes `postgres`."""
    users = {line.split(":")[0] for line in Path("/etc/passwd").read_text().splitlines()}
    return "postgres" if "postgres" in users else "nobody"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
