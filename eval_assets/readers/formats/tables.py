"""Files of rows in any of the formats, recognised by the end of their names."""

import glob
from pathlib import Path

import duckdb

from eval_assets.problems import InputError, InputProblem
from eval_assets.readers.formats.delimited import parse_delimited
from eval_assets.readers.formats.files import check_readable, named, read_text
from eval_assets.readers.formats.json_rows import parse_json, parse_json_lines
from eval_assets.readers.formats.table import Table

FORMATS = (".csv", ".tsv", ".jsonl", ".json", ".parquet")


def read_table(path: Path, *, folder: Path) -> Table:
    """Return all rows of one file.

    Args:
        path: A file whose name ends in one of `FORMATS`.
        folder: Evaluation folder, to which messages name the file.

    Raises:
        InputError: If the file as a whole cannot be used.
    """
    file = named(path, folder=folder)
    match path.suffix.lower():
        case ".csv":
            return parse_delimited(read_text(path, file=file), file=file, delimiter=",")
        case ".tsv":
            return parse_delimited(read_text(path, file=file), file=file, delimiter="\t")
        case ".jsonl":
            return parse_json_lines(read_text(path, file=file), file=file)
        case ".json":
            return parse_json(read_text(path, file=file), file=file)
        case ".parquet":
            return _read_parquet(path, file)
        case suffix:
            what = f'"{suffix}" is not a known format' if suffix else "the file name has no ending"
            remedy = f"Use one of {', '.join(FORMATS)}, or move the file elsewhere"
            raise InputError(InputProblem(file, None, None, what, remedy))


def _read_parquet(path: Path, file: str) -> Table:
    check_readable(path, file=file)
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            relation = connection.read_parquet(glob.escape(str(path)))
            headers, rows = relation.columns, relation.fetchall()
    except duckdb.Error as error:
        what = f"the file is not Parquet ({str(error).splitlines()[0]})"
        raise InputError(InputProblem(file, None, None, what, "Write the file again")) from error
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in headers]
    return Table(file, dict(zip(headers, columns, strict=True)), list(range(1, len(rows) + 1)))
