"""Place of an evaluation's DuckDB file, and whether files can be written."""

import os
from pathlib import Path

from eval_assets.errors import StoreError


def database_path(folder: Path, *, setting: str | None) -> Path:
    """Return the DuckDB file of an evaluation folder.

    Args:
        folder: The evaluation folder.
        setting: Value of EVAL_DATABASE; None or empty for `out/eval.duckdb` in the folder.

    Raises:
        StoreError: If it names a lake, which is not supported any more.
    """
    if setting and setting.startswith("ducklake:"):
        raise StoreError(
            f"{setting}: DuckLake is not supported any more. Unset EVAL_DATABASE and run again: "
            "every table is made again from the files and the ledger, without a request."
        )
    return Path(setting) if setting else folder / "out" / "eval.duckdb"


def is_writable(path: Path) -> bool:
    """Return whether a database file, and its log beside it, can be written or made."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    return os.access(folder, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
