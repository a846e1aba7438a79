"""Input files as bytes and text: names in messages, encoding and fingerprints."""

import gzip
import hashlib
import os
import re
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_assets.errors import InputError
from eval_assets.readers.problems import input_error

BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"

_WORKING_FILE = re.compile(r"[.~].*|.*(~|#|\.tmp|\.part|\.partial|\.crdownload|\.swp|\.lock)")


def is_working_file(path: Path) -> bool:
    """Return whether a file is hidden, a lock or half written, as editors and downloads leave them.

    Examples:
        >>> names = [".~lock.labels.csv#", "~$labels.xlsx", "labels.csv.part", "labels.csv"]
        >>> [is_working_file(Path(name)) for name in names]
        [True, True, True, False]
    """
    return _WORKING_FILE.fullmatch(path.name) is not None


def files_below(folder: Path, *, is_deep: bool) -> list[Path]:
    """Return the files in a folder, if `is_deep` also those in folders in it, in order.

    Raises:
        InputError: If one of the folders may not be read, which `glob` leaves out in silence.
    """

    def refuse(error: OSError) -> None:
        if isinstance(error, PermissionError):
            remedy = "Give yourself the permission to read it"
            raise input_error(error.filename, "the folder may not be read", remedy) from error

    files: list[Path] = []
    for root, _, names in os.walk(folder, onerror=refuse):
        files += (Path(root, name) for name in names)
        if not is_deep:
            break
    return sorted(files)


def named(path: Path, *, folder: Path) -> str:
    """Return the name of the file in messages, relative to the evaluation folder if inside."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def read_text(path: Path, *, file: str) -> str:
    """Return the content of the file as text.

    Raises:
        InputError: If the file cannot be read, has no bytes at all, or is not text in UTF-8.
    """
    return decoded(read_bytes(path, file=file), file=file)


def read_bytes(path: Path, *, file: str) -> bytes:
    """Return the content of the file, unpacked if it is packed.

    Raises:
        InputError: If the file cannot be read or unpacked, or has no bytes at all.
    """
    with _opening(path, file=file):
        data = path.read_bytes()
    if not data:
        remedy = "Write at least the header, or remove the file"
        raise input_error(file, "the file is empty", remedy)
    if path.suffix.lower() != ".gz" and data[:2] != _GZIP:
        return data
    try:
        return gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        message = f"the file cannot be unpacked ({error})"
        raise input_error(file, message, "Pack it again with gzip") from error


def decoded(data: bytes, *, file: str) -> str:
    r"""Return the bytes as text, without the byte order mark that Excel writes.

    Raises:
        InputError: If the bytes are not UTF-8, or hold NUL; with the line of the first bad byte.

    Examples:
        >>> decoded(b"\xef\xbb\xbfresponse_id", file="labels.csv")
        'response_id'
    """
    utf16 = _utf16_of(data)
    offset = len(BOM) if data.startswith(BOM) else 0
    try:
        text = data.decode(utf16).removeprefix("\ufeff") if utf16 else data[offset:].decode()
    except UnicodeDecodeError as error:
        at = error.start if utf16 else offset + error.start
        encoding = "UTF-16" if utf16 else "UTF-8"
        message = f"byte {at + 1} of the file (0x{data[at]:02x}) is not {encoding}"
        line = data.count(b"\n", 0, at) + 1
        raise input_error(file, message, _SAVE_AS_UTF8, line=line) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise input_error(file, "the line holds a NUL byte", _SAVE_AS_TEXT, line=line)
    return text


def decoded_as_guessed(data: bytes, *, file: str) -> tuple[str, tuple[str, ...]]:
    r"""Return the bytes as text, and a note if their encoding had to be guessed.

    Other bytes are read as cp1252, in which Western European programs save by default.

    Raises:
        InputError: If the bytes are in neither encoding.

    Examples:
        >>> decoded_as_guessed(b"caf\xe9", file="labels.csv")[0]
        'caf\xe9'
    """
    try:
        return decoded(data, file=file), ()
    except InputError as error:
        cause = error.__cause__
        if not isinstance(cause, UnicodeDecodeError) or _utf16_of(data):
            raise
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            raise error from cause
        letter = text[len(data[: cause.start].decode("cp1252"))]
        note = (
            f"read as cp1252 (Western European), because it is not UTF-8: line "
            f'{error.problem.line} has a "{letter}". If that is wrong, save it as UTF-8'
        )
        return text, (note,)


def _utf16_of(data: bytes) -> str | None:
    """Return the variant of UTF-16 of the bytes, None if they are not in UTF-16."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    # Without a mark: every other byte of Western text is NUL, and no other encoding has any.
    start = data[:200]
    if len(start) >= _SHORTEST_UTF16 and not any(start[1::2]) and all(start[::2]):
        return "utf-16-le"
    if len(start) >= _SHORTEST_UTF16 and not any(start[::2]) and all(start[1::2]):
        return "utf-16-be"
    return None


def source_fingerprint(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of files, which need not be read again while it stays the same.

    Order and names count, since the first file to give a row wins and labels are stored with their
    `file:line`.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read.
    """
    digest = hashlib.sha256()
    unreadable: list[InputError] = []
    for path in paths:
        try:
            with _opening(path, file=str(path)):
                content = _sha256(path)
        except InputError as error:
            unreadable.append(error)
        else:
            digest.update(f"{path.name}\n{content}\n".encode())
    if unreadable:
        raise ExceptionGroup("the files cannot be read", unreadable)
    return digest.hexdigest()


_UNSURE_NS = 2_000_000_000
"""How long after a change another one may leave the times of a file equal: two seconds on FAT."""


def _sha256(path: Path) -> str:
    """Return the SHA-256 of a file, which is read once while its status stays the same."""
    status = path.stat()
    state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if state in _known_digests:
        return _known_digests[state]
    is_sure = max(status.st_mtime_ns, status.st_ctime_ns) + _UNSURE_NS < time.time_ns()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if is_sure:
        _known_digests[state] = digest
    return digest


_known_digests: dict[tuple[int, ...], str] = {}


_SHORTEST_UTF16 = 4
_SAVE_AS_UTF8 = 'Save the file as UTF-8 (in Excel: "CSV UTF-8")'
_SAVE_AS_TEXT = "Save the file as text, in UTF-8"


@contextmanager
def _opening(path: Path, *, file: str) -> Iterator[None]:
    """Raise InputError for what the system refuses, and for what might never end."""
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            message = "this is a pipe, a socket or a device, not a file"
            raise input_error(file, message, "Write its content to a file")
        yield
    except FileNotFoundError as error:
        remedy = "Check the name, or create the file"
        raise input_error(file, "there is no such file", remedy) from error
    except IsADirectoryError as error:
        remedy = f"Name a file, or write {file}/* for all files in it"
        raise input_error(file, "this is a folder", remedy) from error
    except PermissionError as error:
        remedy = "Give yourself the permission to read it"
        raise input_error(file, "the file may not be read", remedy) from error
    except OSError as error:
        message = f"the file cannot be read ({error.strerror or error})"
        raise input_error(file, message, "Check the disk, or copy the file again") from error
