"""Durable writes of users' files, so that a crash never loses saved data."""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from eval_assets.errors import InputError, InputProblem


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder for this process, which may wait for others; create it if missing.

    The lock belongs to the open folder, so the system releases it when the process ends.
    """
    with _failures_named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file atomically: after a crash it holds either the old or the new content.

    Call it while the folder is `locked`: the temporary file beside it has one name.

    Raises:
        InputError: If the disk is full or the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with _failures_named(path):
        with suppress(FileNotFoundError):
            temporary.unlink()
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
        _sync_folder(path.parent)


def append_lines(path: Path, lines: Sequence[str], *, at: int | None = None) -> None:
    """Write lines at the end of a file, and wait until they are on disk.

    They take the place of what follows the byte `at`. Without it, a last line that a crash cut
    short is ended first, so that the new ones do not continue it. Call it while the folder is
    `locked`.

    Raises:
        InputError: If the disk is full or the file cannot be written.
    """
    is_new = not path.exists()
    with _failures_named(path), path.open("ab+") as file:
        if at is not None:
            file.truncate(at)
        elif end := file.tell():
            file.seek(end - 1)
            lines = lines if file.read(1) == b"\n" else ["", *lines]
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        _sync_folder(path.parent)


@contextmanager
def _failures_named(path: Path) -> Iterator[None]:
    """Turn an error of the system about a file into an InputError."""
    try:
        yield
    except OSError as error:
        message = f"the file cannot be written ({error.strerror or error})"
        remedy = "Free space or give write access; nothing that was stored is lost"
        raise InputError(InputProblem(str(path), None, None, message, remedy)) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
