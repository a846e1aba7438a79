"""An evaluation whose tables are in a lake, beside the same one in a file."""

import math
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

from eval_assets.store import Database, connect, table_names
from eval_assets.store.lake_upkeep import evaluations_in_lake
from eval_assets.store.lakes import lake_of
from eval_assets.store.tables import columns_of
from tests.e2e.conftest import PROGRAM, clean_environment
from tests.postgres import Postgres
from tests.s3_server import make_bucket

pytestmark = pytest.mark.slow

SAMPLE, CONTESTED = Path("data/sample"), Path("data/contested")
SAMPLE_NAME, CONTESTED_NAME = "autonomy-and-agency", "autonomy-and-agency-contested"
OF_THE_RUN = {"run_id", "fingerprint", "path"}
"""Columns that differ between two runs on the same data, besides times."""


def started(folder: Path, **environment: str) -> subprocess.Popen[str]:
    """Start a run of an evaluation folder, or of a folder of several."""
    return subprocess.Popen(
        [PROGRAM, "run", "--data", str(folder)],
        env=clean_environment() | environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def copied(given: Path, folder: Path) -> Path:
    """Copy an evaluation folder without what runs have written."""
    return shutil.copytree(given, folder, ignore=shutil.ignore_patterns("out", "ledger*"))


def evaluate(folder: Path, **environment: str) -> str:
    """Run the sample as a process of its own, and return what it prints but for its paths."""
    run = started(copied(SAMPLE, folder), **environment)
    printed, errors = run.communicate()
    assert run.returncode == 0, errors
    return printed.partition("Report ")[0].replace(str(folder), "")


def rows_of(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[object, ...]]:
    """Return the rows of a table without what differs between runs, in an order of their own."""
    names = [
        f'"{column.name}"'
        for column in columns_of(connection, table)
        if "TIMESTAMP" not in column.type and column.name not in OF_THE_RUN
    ]
    query = f'SELECT {", ".join(names) or "1"} FROM "{table}"'  # noqa: S608 - our own tables
    return sorted(connection.execute(query).fetchall(), key=_order)


def _order(row: tuple[object, ...]) -> str:
    return repr([f"{value:.9g}" if isinstance(value, float) else value for value in row])


def is_equal(one: object, other: object) -> bool:
    """Return whether two values are equal; sums in another order may differ in the last digit."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return one == other


def assert_equal_tables(one: Database, other: Database) -> None:
    """Compare every row of every table and view."""
    with connect(one) as first, connect(other) as second:
        for table in table_names():
            expected, found = rows_of(first, table), rows_of(second, table)
            assert len(found) == len(expected), table
            for row, found_row in zip(expected, found, strict=True):
                assert all(map(is_equal, row, found_row)), (table, row, found_row)


@pytest.fixture(scope="module")
def in_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Database]:
    """What a run of the sample prints, and the file that its tables are in."""
    folder = tmp_path_factory.mktemp("in-file") / "sample"
    return evaluate(folder), folder / "out" / "eval.duckdb"


def test_every_table_and_figure_of_the_sample_in_a_lake_is_that_of_a_file(
    in_file: tuple[str, Database], tmp_path: Path
) -> None:
    address = f"ducklake:{tmp_path / 'catalog.ducklake'}"
    files = tmp_path / "parquet"
    printed = evaluate(tmp_path / "lake", EVAL_DATABASE=address, EVAL_DATA_PATH=str(files))

    assert printed == in_file[0]
    assert_equal_tables(in_file[1], lake_of(address, files=None, evaluation=SAMPLE_NAME))
    assert not (tmp_path / "lake" / "out" / "eval.duckdb").exists()
    assert list((files / SAMPLE_NAME).rglob("*.parquet"))


def test_every_table_and_figure_of_the_sample_in_a_bucket_is_that_of_a_file(
    in_file: tuple[str, Database], tmp_path: Path, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_bucket(s3, "evals")
    address = f"ducklake:{tmp_path / 'catalog.ducklake'}"
    files = "s3://evals/lake"
    credentials = {
        "AWS_ENDPOINT_URL": s3,
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "anything",
    }
    given = {"EVAL_DATABASE": address, "EVAL_DATA_PATH": files} | credentials
    printed = evaluate(tmp_path / "lake", **given)

    assert printed == in_file[0]
    for name, value in credentials.items():
        monkeypatch.setenv(name, value)
    lake = lake_of(address, files=files, evaluation=SAMPLE_NAME)
    assert_equal_tables(in_file[1], lake)
    assert evaluations_in_lake(lake)[0].n_files > 0
    assert set(tmp_path.rglob("*.parquet")) == set()


def test_two_evaluations_share_a_lake_whose_server_is_killed_while_they_run(
    tmp_path: Path, postgres: Postgres
) -> None:
    """Both come out as in files: what was lost is done again, and neither touches the other."""
    for folder in (tmp_path / "files", tmp_path / "lake"):
        copied(SAMPLE, folder / "sample")
        copied(CONTESTED, folder / "contested")
    address = f"ducklake:postgres:{postgres.new_database()}"
    parquet = str(tmp_path / "parquet")

    in_files = started(tmp_path / "files")
    _, errors = in_files.communicate()
    assert in_files.returncode == 3, errors  # the contested one has closed gates
    in_lake = started(tmp_path / "lake", EVAL_DATABASE=address, EVAL_DATA_PATH=parquet)
    assert in_lake.stdout is not None
    for line in in_lake.stdout:
        if "human_labels" in line:
            break
    postgres.kill()
    postgres.start()
    _, errors = in_lake.communicate()

    assert in_lake.returncode == 3, errors
    for name, evaluation in (("sample", SAMPLE_NAME), ("contested", CONTESTED_NAME)):
        lake = lake_of(address, files=parquet, evaluation=evaluation)
        assert_equal_tables(tmp_path / "files" / name / "out" / "eval.duckdb", lake)
