"""A DuckDB file: one process holds it at a time."""

import re
from pathlib import Path

import duckdb

from eval_assets.store.store_errors import DamagedError, StoreError

_READABLE_FROM = "v1.0.0"
"""Oldest DuckDB that opens the file, whichever version writes it."""

# Messages name the file too: a path may hold words like "block" or "disk".
LOCKED = re.compile("Could not set lock|Conflicting lock")
HOLDER = re.compile(r"held in (.+? \(PID \d+\))")
_FULL = re.compile("No space left on device|File too large|Disk quota exceeded")
_READ_ONLY = re.compile("Permission denied|Read-only file system")
_NO_DATABASE = re.compile("not a valid DuckDB database|sqlite_scanner")
DAMAGED = re.compile(
    "Corrupt database file|Failure while replaying WAL|Could not read enough bytes"
    "|Failed to deserialize|database file with version number"
)


def open_file(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file; make it, with its folder, if it does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return duckdb.connect(
        f"duckdb:{path}",  # nothing else: a CSV file would open as a database in memory
        config={
            "autoinstall_known_extensions": "false",
            "storage_compatibility_version": _READABLE_FROM,
            # By default beside a file whose name begins with "duckdb:", where there is no folder.
            "temp_directory": f"{path}.tmp",
        },
    )


def file_error(path: Path, error: Exception) -> StoreError:
    """Return the error as one line, with what to do."""
    text = " ".join(str(error).split())
    # Everything in out/ is the program's own; elsewhere a path may have been mistyped.
    is_own = path.parent.name == "out"
    if DAMAGED.search(text) or (is_own and path.is_file() and _NO_DATABASE.search(text)):
        return DamagedError(
            f"{path}: cannot be read. `eval-assets run` moves it aside and makes a new one, "
            f"without a single request. ({text})"
        )
    return StoreError(one_line(str(path), text))


def one_line(path: str, text: str) -> str:
    """Return what went wrong with a file, or with that of a lake's catalog, and what to do."""
    if LOCKED.search(text):
        return f"{path}: still in use by another process. Close it and run again. ({text})"
    if _FULL.search(text):
        return f"{path}: the disk is full; what was stored before is kept. Free space. ({text})"
    if _READ_ONLY.search(text):
        return f"{path}: cannot be written. Give write access or set EVAL_DATABASE. ({text})"
    if _NO_DATABASE.search(text):
        return f"{path}: this is not a DuckDB database. Move it away or set EVAL_DATABASE. ({text})"
    return f"{path}: {text}"
