"""Place of an evaluation's DuckDB file."""

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
