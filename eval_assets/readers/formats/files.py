"""Given files as bytes and text: their names in messages, their encoding, whether they changed."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_assets.problems import InputError, InputProblem

BOM = b"\xef\xbb\xbf"


def named(path: Path, *, folder: Path) -> str:
    """Return how messages name the file: relative to the evaluation folder if it lies in it."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def read_text(path: Path, *, file: str) -> str:
    """Return everything in the file, as text.

    Raises:
        InputError: If the file cannot be read, has no bytes at all, or is not text in UTF-8.
    """
    check_readable(path, file=file)
    with _translate_os_errors(file):
        data = path.read_bytes()
    return decoded(data, file=file)


def check_readable(path: Path, *, file: str) -> None:
    """Raise InputError unless the file can be read and is not empty.

    Raises:
        InputError: If the file cannot be opened, or has no bytes at all.
    """
    with _translate_os_errors(file), path.open("rb") as opened:
        first = opened.read(1)
    if not first:
        remedy = "Write at least the header, or remove the file"
        raise InputError(InputProblem(file, None, None, "the file is empty", remedy))


def decoded(data: bytes, *, file: str) -> str:
    r"""Return the bytes as text, without the byte order mark that Excel writes.

    Raises:
        InputError: If the bytes are not UTF-8, or hold NUL; with the line of the first bad byte.

    Examples:
        >>> decoded(b"\xef\xbb\xbfresponse_id", file="labels.csv")
        'response_id'
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(InputProblem(file, 1, None, "the file is UTF-16", _SAVE_AS_UTF8))
    offset = len(BOM) if data.startswith(BOM) else 0
    try:
        text = data[offset:].decode()
    except UnicodeDecodeError as error:
        at = offset + error.start
        what = f"byte {at + 1} of the file (0x{data[at]:02x}) is not UTF-8"
        line = data.count(b"\n", 0, at) + 1
        raise InputError(InputProblem(file, line, None, what, _SAVE_AS_UTF8)) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(InputProblem(file, line, None, "the line holds a NUL byte", _SAVE_AS_TEXT))
    return text


def source_fingerprint(paths: Iterable[Path]) -> str:
    """Return one hash of the files: while it stays the same, nothing needs to be read again.

    Args:
        paths: Files in the order in which they are merged; order and names count, since the
            first file to give a row wins and labels are stored with their `file:line`.

    Returns:
        SHA-256 in hexadecimal.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read.
    """
    digest = hashlib.sha256()
    unreadable: list[InputError] = []
    for path in paths:
        try:
            with _translate_os_errors(str(path)), path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except InputError as error:
            unreadable.append(error)
        else:
            digest.update(f"{path.name}\n{content}\n".encode())
    if unreadable:
        raise ExceptionGroup("the files cannot be read", unreadable)
    return digest.hexdigest()


_SAVE_AS_UTF8 = 'Save the file as UTF-8 (in Excel: "CSV UTF-8")'
_SAVE_AS_TEXT = "Save the file as text, in UTF-8"


@contextmanager
def _translate_os_errors(file: str) -> Iterator[None]:
    """Turn what the system reports about the file into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(_unreadable(file, error)) from error


def _unreadable(file: str, error: OSError) -> InputProblem:
    match error:
        case FileNotFoundError():
            what, remedy = "there is no such file", "Check the name, or create the file"
        case IsADirectoryError():
            what, remedy = "this is a folder", f"Name a file, or write {file}/* for all files in it"
        case PermissionError():
            what, remedy = "the file may not be read", "Give yourself the permission to read it"
        case _:
            what = f"the file cannot be read ({error.strerror or error})"
            remedy = "Check the disk, or copy the file again"
    return InputProblem(file, None, None, what, remedy)
