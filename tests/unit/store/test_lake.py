"""A lake: several evaluations beside each other, none of which reads another's tables."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from eval_assets.store.connection import connect, database_of, is_stored, transaction
from eval_assets.store.lakes import Lake, lake_of, schemas_of
from eval_assets.store.schema import table_names
from eval_assets.store.store_errors import LostError, StoreError
from eval_assets.store.tables import columns_of, count_rows, replace_rows, tables_that_hold
from tests.unit.store.conftest import largest_file, responses


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    """The address of a lake that does not exist yet."""
    return f"ducklake:{tmp_path / 'catalog.ducklake'}"


def part_of(catalog: str, evaluation: str) -> Lake:
    """Return the part of a lake that an evaluation has."""
    return lake_of(catalog, files=None, evaluation=evaluation)


def test_a_lake_has_the_tables_columns_and_comments_of_a_file(catalog: str, path: Path) -> None:
    with connect(part_of(catalog, "one")) as lake, connect(path) as file:
        for table in table_names():
            assert columns_of(lake, table) == columns_of(file, table)
        for connection in (lake, file):
            commented = connection.execute(
                """SELECT comment FROM duckdb_columns()
                   WHERE table_name = 'judge_splits' AND column_name = 'split'"""
            ).fetchall()
            assert commented == [("'train', 'dev' or 'test': the same for all questions",)]


def test_an_empty_evaluation_reads_and_empties_nothing_of_another(catalog: str) -> None:
    full, empty = part_of(catalog, "full"), part_of(catalog, "empty")
    with connect(full) as connection:
        replace_rows(connection, "responses", responses("a1", "a2"))
    with connect(empty) as connection:
        assert count_rows(connection, "responses") == 0
        replace_rows(connection, "responses", responses())
    with connect(full) as connection:
        assert count_rows(connection, "responses") == 2
        assert tables_that_hold(connection, "Prompt a") == ["responses"]


def test_a_table_that_a_schema_lacks_is_an_error_and_not_anothers(catalog: str) -> None:
    with connect(part_of(catalog, "full")) as connection:
        replace_rows(connection, "responses", responses("a1"))
    with connect(part_of(catalog, "other")) as connection:
        connection.execute("DROP TABLE judges")
        for statement in ("FROM judges", "DELETE FROM judges", "FROM main.judges"):
            with pytest.raises(duckdb.CatalogException, match="does not exist"):
                connection.execute(statement)


def test_a_lake_has_no_schema_main_that_names_could_fall_through_to(catalog: str) -> None:
    one, two = part_of(catalog, "one"), part_of(catalog, "two")
    with connect(one) as connection:
        assert schemas_of(connection, one) == ["one"]
        connection.execute(f"CREATE SCHEMA {one.alias}.main")
    with connect(two) as connection:
        assert schemas_of(connection, two) == ["one", "two"]


def test_a_lake_whose_main_holds_tables_is_refused_and_left_as_it_is(catalog: str) -> None:
    lake = part_of(catalog, "one")
    with connect(lake) as connection:
        connection.execute(f"CREATE SCHEMA {lake.alias}.main")
        connection.execute(f"CREATE TABLE {lake.alias}.main.responses (one INTEGER)")
    with (
        pytest.raises(StoreError, match="its schema main holds tables"),
        connect(lake),
    ):
        pass


def test_tables_of_an_older_schema_are_made_again_in_this_evaluation_alone(catalog: str) -> None:
    for name in ("older", "current"):
        with connect(part_of(catalog, name)) as connection:
            replace_rows(connection, "responses", responses("a1"))
    with connect(part_of(catalog, "older")) as connection:
        connection.execute("UPDATE schema_version SET fingerprint = 'older'")

    with connect(part_of(catalog, "older")) as connection:
        assert count_rows(connection, "responses") == 0
    with connect(part_of(catalog, "current")) as connection:
        assert count_rows(connection, "responses") == 1


def test_an_evaluation_in_a_lake_can_have_any_name(catalog: str) -> None:
    name = "a \"b\" 'c'/d.e; ü"
    with connect(part_of(catalog, name)) as connection:
        replace_rows(connection, "responses", responses("a1"))
    with connect(part_of(catalog, name.upper())) as connection:
        assert count_rows(connection, "responses") == 1


@pytest.mark.parametrize("name", ["main", "Main ", "temp", "information_schema"])
def test_names_that_duckdb_uses_itself_are_refused(catalog: str, name: str) -> None:
    with pytest.raises(StoreError, match=r"cannot be called .* Change name in evaluation\.yaml"):
        part_of(catalog, name)


def test_folders_of_one_name_do_not_share_their_tables(catalog: str, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    with connect(part_of(catalog, "same"), folder=mine):
        pass
    with pytest.raises(StoreError) as raised, connect(part_of(catalog, "same"), folder=other):
        pass

    assert str(raised.value) == (
        f"{catalog} (same): holds the evaluation in {mine}, not the one in {other}. Give this one "
        "another name in evaluation.yaml; or, if it is the same and was moved, run "
        "eval-assets lake drop same."
    )


@pytest.mark.parametrize(
    "given",
    [
        "ducklake:postgres:dbname=evals password=secret",
        "ducklake:postgres:dbname=evals Password = 'secret'",
        "ducklake:postgres:postgresql://eval:secret@host/evals",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(StoreError, match="Leave it out and set PGPASSWORD or PGPASSFILE") as raised:
        part_of(given, "one")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("given", ["ducklake:", "ducklake:postgres:"])
def test_an_address_without_a_catalog_is_refused(given: str) -> None:
    with pytest.raises(StoreError, match="names no catalog"):
        part_of(given, "one")


def test_a_file_of_other_tables_is_not_a_catalog_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "eval.duckdb"
    with duckdb.connect(file) as other:
        other.execute("CREATE TABLE mine AS SELECT 1 AS one")
    before = file.read_bytes()
    lake = part_of(f"ducklake:{file}", "one")

    with pytest.raises(StoreError) as raised, connect(lake):
        pass

    assert str(raised.value) == (
        f"{lake}: this DuckDB file is not the catalog of a lake, and was left as it is. Set "
        "EVAL_DATABASE to the path of a new file; or, to this file's own tables, without ducklake:."
    )
    assert file.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["eval.duckdb"]


@pytest.mark.parametrize("name", ["labels.csv", "notes.txt"])
def test_a_file_that_is_not_a_database_is_not_a_catalog_and_left_as_it_is(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.write_text("response_id,rater_id\n" * 1000)
    with (
        pytest.raises(StoreError, match="this is not a DuckDB database") as raised,
        connect(part_of(f"ducklake:{file}", "one")),
    ):
        pass
    assert "\n" not in str(raised.value)
    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert file.stat().st_size == 21_000


def test_a_catalog_that_a_killed_process_left_empty_is_taken(catalog: str) -> None:
    duckdb.connect(catalog.removeprefix("ducklake:")).close()
    for _ in range(2):
        with connect(part_of(catalog, "one")) as connection:
            assert count_rows(connection, "responses") == 0


def test_files_lie_where_they_are_asked_for_and_are_found_again_without(
    catalog: str, tmp_path: Path
) -> None:
    chosen = tmp_path / "elsewhere"
    with connect(lake_of(catalog, files=str(chosen), evaluation="one")) as connection:
        replace_rows(connection, "responses", responses(*(f"a{k}" for k in range(50))))
    assert list(chosen.rglob("*.parquet"))
    with connect(part_of(catalog, "one")) as connection:
        assert count_rows(connection, "responses") == 50
    with (
        pytest.raises(StoreError, match="this lake keeps its files elsewhere") as raised,
        connect(lake_of(catalog, files=str(tmp_path / "other"), evaluation="one")),
    ):
        pass
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("before", [(), ("c1",)])
def test_of_two_writers_of_one_table_the_second_is_refused_and_writes_nothing(
    catalog: str, before: tuple[str, ...]
) -> None:
    lake = part_of(catalog, "one")

    def write_late() -> None:
        with connect(lake) as late, transaction(late):
            replace_rows(late, "responses", responses("b1", "b2", "b3"))
            with connect(lake) as early, transaction(early):
                replace_rows(early, "responses", responses("a1", "a2"))

    with connect(lake) as connection:
        replace_rows(connection, "responses", responses(*before))
    with pytest.raises(LostError, match=r"another process changed the same tables\. Run again"):
        write_late()
    with connect(lake) as connection:
        assert count_rows(connection, "responses") == 2


def test_writers_of_different_evaluations_do_not_conflict(catalog: str) -> None:
    one, two = part_of(catalog, "one"), part_of(catalog, "two")
    with connect(one) as first, connect(two) as second:
        with transaction(first), transaction(second):
            replace_rows(first, "responses", responses("a1"))
            replace_rows(second, "responses", responses("b1", "b2"))
        assert (count_rows(first, "responses"), count_rows(second, "responses")) == (1, 2)


def test_a_catalog_in_a_file_is_let_go_with_the_last_connection(catalog: str) -> None:
    opens = "import sys; from pathlib import Path; from eval_assets.store.lakes import lake_of\n"
    opens += "from eval_assets.store.connection import connect\n"
    opens += "lake = lake_of(sys.argv[1], files=None, evaluation='one')\n"
    opens += "with connect(lake, wait_seconds=0): pass"
    command = [sys.executable, "-c", opens, catalog]
    with connect(part_of(catalog, "one")):
        held = subprocess.run(command, check=False, capture_output=True, text=True)
    after = subprocess.run(command, check=False, capture_output=True, text=True)

    assert "still in use by another process. Close it and run again" in held.stderr
    assert after.returncode == 0, after.stderr


def test_a_full_disk_is_one_line_and_keeps_what_was_stored(catalog: str) -> None:
    lake = part_of(catalog, "one")
    with connect(lake) as connection:
        replace_rows(connection, "responses", responses("a1"))

    def overfill() -> None:
        with connect(lake) as connection:
            for k in range(100):
                replace_rows(connection, "responses", responses(f"b{k}"))

    with (
        largest_file(Path(lake.catalog).stat().st_size),
        pytest.raises(StoreError, match="the disk is full; what was stored before is kept"),
    ):
        overfill()
    with connect(lake) as connection:
        assert count_rows(connection, "responses") == 1


def test_a_lake_in_which_nothing_was_imported_holds_nothing(catalog: str) -> None:
    assert not is_stored(part_of(catalog, "one"))


def test_what_duckdb_has_no_extension_for_is_one_line(
    catalog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "__version__", "2.0.0")
    with pytest.raises(StoreError) as raised, connect(part_of(catalog, "one")):
        pass
    assert str(raised.value) == (
        "EVAL_DATABASE names a lake, and DuckDB 2.0.0 lacks its extension ducklake. "
        "Run: pip install 'eval-assets[scale]'"
    )


def test_only_a_lake_asks_for_the_name_of_the_evaluation(catalog: str, tmp_path: Path) -> None:
    named = database_of(tmp_path, given=catalog, files=None, evaluation=lambda: "Named")
    assert str(named) == f"{catalog} (named)"

    def unreadable() -> str:
        raise ZeroDivisionError

    for given, path in (("", tmp_path / "out" / "eval.duckdb"), ("x.duckdb", Path("x.duckdb"))):
        assert database_of(tmp_path, given=given, files=None, evaluation=unreadable) == path
