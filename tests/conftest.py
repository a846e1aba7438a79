"""Fixtures for tests of several layers."""

import gc
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings

from eval_assets.cli.main import COLLECTOR_THRESHOLDS
from tests.postgres import Postgres, postgres_programs, running_postgres
from tests.program_server import share_stores, start_programs

PROGRAMS = "EVAL_ASSETS_TEST_PROGRAMS"
"""Variable that names the folder of programs to the workers that are forked from their server."""


def pytest_configure() -> None:
    """Let SIGINT end programs that tests start, also where a shell started the tests with `&`.

    The garbage collector rests while modules and tests are read, a fourth of the time that takes,
    and then runs as seldom as in the program itself. No example has a time limit.
    """
    gc.disable()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    settings.register_profile("busy machine", deadline=None)
    settings.load_profile("busy machine")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep modules and tests, which live until the end, out of every later collection."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Fork workers from the server of programs, which has imported everything.

    A worker by itself imports for four seconds, and all of them start at once.
    """
    folder = TemporaryDirectory(prefix="programs")
    config.add_cleanup(folder.cleanup)
    start_programs(Path(folder.name), owner=os.getpid())
    os.environ[PROGRAMS] = folder.name
    for spec in specs:
        spec.python = f"{folder.name}/python"


@pytest.fixture(scope="session", autouse=True)
def shared_stores() -> None:
    """Let all of Dagster's stores in this process share migrations and engines."""
    share_stores()


@pytest.fixture(autouse=True)
def no_open_instance() -> Iterator[None]:
    """Let definitions load without the records of an instance that a test did not close.

    Dagster keeps the storage of the innermost instance that was opened, and gives the one before
    it back whenever the collector ends what was left open: maybe in another test.
    """
    dagster = sys.modules.get("dagster._core.storage.defs_state.base")
    with dagster.set_defs_state_storage(None) if dagster else nullcontext():
        yield


@pytest.fixture(autouse=True)
def unset_log_level() -> None:
    """Let each test set the level of its log: a run of Dagster sets it and leaves it as it is."""
    logging.getLogger("eval_assets").setLevel(logging.NOTSET)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be written into a folder, also by root, who needs a mount for that."""
    if os.geteuid() != 0:
        folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        modes = {path: path.stat().st_mode for path in (*folders, *folder.rglob("*"))}
        for path in reversed(modes):
            path.chmod(modes[path] & ~0o222)
        try:
            yield
        finally:
            for path, mode in modes.items():
                path.chmod(mode)
        return
    for options in (["--bind"], ["-o", "remount,ro,bind"]):
        done = subprocess.run(["mount", *options, folder, folder], check=False, capture_output=True)
        if done.returncode and "EVAL_ASSETS_NO_SKIPS" in os.environ:
            pytest.fail("EVAL_ASSETS_NO_SKIPS is set, and root can mount nothing")
        if done.returncode:
            pytest.skip("root may write everywhere, and this machine permits no mount")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder that nothing can be written into."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    with read_only(folder):
        yield folder


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
def program_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `eval-assets` and programs of Celery and Dagster that import nothing.

    All test workers share it.
    """
    if PROGRAMS in os.environ:
        return Path(os.environ[PROGRAMS])
    base = tmp_path_factory.getbasetemp()
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    folder = (base.parent if is_worker else base) / "programs"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "eval-assets").exists():
            start_programs(folder, owner=os.getppid() if is_worker else os.getpid())
    return folder


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
