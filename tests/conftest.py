"""Fixtures for tests of several layers."""

import gc
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_assets.cli.main import COLLECTOR_THRESHOLDS
from tests.postgres import Postgres, postgres_programs, running_postgres


def pytest_configure() -> None:
    """Let SIGINT end programs that tests start, also where a shell started the tests with `&`.

    The garbage collector runs as seldom as in the program itself.
    """
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that nothing can be written into, also by root, who needs a mount for that."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("root may write everywhere, and this machine permits no mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB of its own; `mount -o remount,size=...` makes it larger."""
    folder = tmp_path / "small-disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2M", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a disk, and not on every machine")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server; the test is skipped if none is installed, unless in CI."""
    programs = postgres_programs()
    if programs is None and "EVAL_ASSETS_NO_SKIPS" in os.environ:
        pytest.fail("EVAL_ASSETS_NO_SKIPS is set, and PostgreSQL is not installed")
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with running_postgres(programs) as server:
        yield server
