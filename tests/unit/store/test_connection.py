"""Opening the database: waiting for others, refusing what cannot be used, closing always."""

import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from eval_assets.errors import DamagedError, StoreError
from eval_assets.store.connection import (
    SCHEMA_VERSION,
    connect,
    set_aside,
    transaction,
)
from eval_assets.store.schema import count_rows
from tests.unit.store.conftest import largest_file

HOLD = """
import sys, time, duckdb
with duckdb.connect(sys.argv[1]) as connection:
    connection.execute(sys.argv[3])
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@contextmanager
def held_by_another_process(
    path: Path, *, seconds: float, statement: str = "SELECT 1"
) -> Iterator[None]:
    """A person's open session: it ends by itself, at the latest with the block."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds), statement],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


def refusal(path: Path, *, wait_seconds: float = 0) -> str:
    """Return the message about a database that cannot be opened: one line with its path."""
    with pytest.raises(StoreError) as raised, connect(path, wait_seconds=wait_seconds):
        pass
    output = str(raised.value)
    assert output.startswith(f"{path}: ")
    assert "\n" not in output
    return output


def test_a_new_database_has_every_table_of_the_schema(path: Path) -> None:
    with connect(path) as connection:
        tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}

    assert tables >= {
        "responses",
        "rubric_questions",
        "human_labels",
        "judge_scores",
        "human_agreement",
        "judge_agreement",
        "judge_human_agreement",
        "gate_verdicts",
        "combined_scores",
        "combined_scores_long",
        "label_disagreements",
        "judge_splits",
    }


def test_what_does_not_fit_into_memory_goes_to_disk_meanwhile(path: Path) -> None:
    with connect(path) as connection:
        connection.execute("SET memory_limit = '60MB'; SET threads = 1")
        connection.execute(
            "CREATE TEMP TABLE much AS SELECT md5(i::VARCHAR) AS text FROM range(2_000_000) AS t(i)"
        )
        [[spilled]] = connection.execute("SELECT count(*) FROM duckdb_temporary_files()").fetchall()
        assert connection.execute("SELECT count(*) FROM much").fetchall() == [(2_000_000,)]

    assert spilled
    assert sorted(item.name for item in path.parent.iterdir()) == [path.name]


def test_a_database_is_closed_even_if_its_user_fails(path: Path) -> None:
    """Another process can open it at once: a lock left open would make it wait."""

    def fail() -> None:
        with connect(path):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with held_by_another_process(path, seconds=0):
        pass


def test_an_open_session_is_waited_for_and_said_once(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(path):
        pass
    started = time.monotonic()
    with (
        held_by_another_process(path, seconds=1.0),
        caplog.at_level(logging.WARNING),
        connect(path) as connection,
    ):
        assert count_rows(connection, "responses") == 0

    assert 0.5 < time.monotonic() - started < 10
    [message] = [record.getMessage() for record in caplog.records]
    assert re.match(rf"{path} is in use by \S+ \(PID \d+\); waiting", message)


def test_a_session_that_stays_open_is_given_up_with_one_line(path: Path) -> None:
    with connect(path):
        pass
    with held_by_another_process(path, seconds=30):
        assert "still in use by another process. Close it" in refusal(path, wait_seconds=0.3)


def test_a_path_with_the_word_lock_is_not_taken_for_a_lock(tmp_path: Path) -> None:
    """It would be waited for in vain."""
    path = tmp_path / "blocked disk" / "eval.duckdb"
    path.parent.mkdir()
    path.write_text("no database")
    started = time.monotonic()

    assert "this is not a DuckDB database" in refusal(path, wait_seconds=30)
    assert time.monotonic() - started < 5


def test_a_database_of_a_newer_schema_is_refused_and_left_as_it_is(path: Path) -> None:
    with connect(path) as connection:
        connection.execute("UPDATE schema_version SET version = ?", [SCHEMA_VERSION + 1])
    before = path.read_bytes()

    output = refusal(path)

    assert "written by a newer eval-assets" in output
    assert "Upgrade eval-assets, or set EVAL_DATABASE to another file." in output
    assert path.read_bytes() == before


def test_tables_of_an_earlier_schema_are_made_again(path: Path) -> None:
    """Whatever they were: what was paid for is in the ledger."""
    path.parent.mkdir(parents=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE judge_calls (call_key VARCHAR NOT NULL)")
        connection.execute("CREATE TABLE responses (response_id INTEGER)")
        connection.execute("CREATE TABLE outdated AS SELECT 1 AS one")
        connection.execute("CREATE VIEW ground_truth AS FROM outdated")
        connection.execute("CREATE TABLE schema_version AS SELECT 1 AS version, 'x' AS fingerprint")

    for _ in range(2):
        with connect(path) as connection:
            for view in ("ground_truth", "api_cost_log", "judge_scores", "responses"):
                assert connection.execute(f'FROM "{view}"').fetchall() == []
            tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
            assert "outdated" not in tables


def test_a_database_of_one_folder_does_not_open_for_another(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "eval.duckdb", tmp_path / "mine", tmp_path / "others"
    for same in (first, first / ".." / "mine"):
        with connect(shared, folder=same):
            pass
    with pytest.raises(StoreError) as raised, connect(shared, folder=second):
        pass

    assert str(raised.value) == (
        f"{shared}: holds the evaluation in {first}, not the one in {second}. "
        "Set EVAL_DATABASE to another file."
    )


def test_a_folder_that_was_copied_with_its_database_opens_its_own(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    with connect(original / "out" / "eval.duckdb", folder=original):
        pass
    shutil.copytree(original, copy)
    with connect(copy / "out" / "eval.duckdb", folder=copy):
        pass

    with (
        pytest.raises(StoreError, match="holds the evaluation in"),
        connect(copy / "out" / "eval.duckdb", folder=original),
    ):
        pass


@pytest.mark.parametrize("content", [b"response_id,rating\na1,3\n" * 500, b""])
def test_a_file_elsewhere_that_is_not_a_database_is_refused_and_left_as_it_is(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "eval.duckdb"
    path.write_bytes(content)

    assert "this is not a DuckDB database. Move it away or set EVAL_DATABASE" in refusal(path)
    assert path.read_bytes() == content


def test_a_database_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eval.duckdb"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE labels (rating)")
    other.commit()
    other.close()

    assert "this is not a DuckDB database" in refusal(path)


def cut_off(database: bytes) -> bytes:
    return database[:12288]


def with_other_blocks(database: bytes) -> bytes:
    return database[:12288] + os.urandom(len(database) - 12288)


def with_other_rows(database: bytes) -> bytes:
    """Damage a block of rows, which is found only when they are read."""
    half = len(database) // 2
    return database[:half] + os.urandom(1000) + database[half + 1000 :]


@pytest.mark.parametrize("damage", [cut_off, with_other_blocks, with_other_rows])
def test_a_damaged_database_is_one_line_and_can_be_set_aside(
    path: Path, damage: Callable[[bytes], bytes]
) -> None:
    with connect(path) as connection:
        connection.execute("CREATE TABLE rows_ AS SELECT md5(i::VARCHAR) FROM range(200000) t(i)")
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)

    def read() -> None:
        with connect(path) as connection:
            connection.execute("SELECT sum(hash(t)) FROM rows_ t").fetchall()

    with pytest.raises(DamagedError, match=r"cannot be read\. `eval-assets run` moves it aside"):
        read()
    aside = set_aside(path)

    assert aside is not None
    assert aside.read_bytes() == damaged
    with connect(path) as connection:
        assert count_rows(connection, "responses") == 0


def test_a_database_that_another_run_has_made_again_is_left_where_it_is(path: Path) -> None:
    with connect(path):
        pass

    assert set_aside(path) is None
    assert path.exists()


def test_a_damaged_log_of_changes_is_set_aside_with_its_database(path: Path) -> None:
    with connect(path):
        pass
    with held_by_another_process(path, seconds=30, statement="CREATE TABLE t AS SELECT 1 AS one"):
        pass  # killed: its changes are in the log only
    wal = path.with_name(f"{path.name}.wal")
    log = bytearray(wal.read_bytes())
    log[len(log) // 2 : len(log) // 2 + 8] = b"\0" * 8
    wal.write_bytes(log)

    aside = set_aside(path)

    assert aside is not None
    assert aside.with_name(f"{aside.name}.wal").read_bytes() == log
    assert not wal.exists()


def test_a_folder_in_place_of_the_database_is_refused(tmp_path: Path) -> None:
    assert "Is a directory" in refusal(tmp_path)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")

    refusal(tmp_path / "out" / "eval.duckdb")


def test_a_folder_that_may_not_be_written_is_refused(read_only_folder: Path) -> None:
    for path in (read_only_folder / "eval.duckdb", read_only_folder / "out" / "eval.duckdb"):
        assert "cannot be written. Give write access or set EVAL_DATABASE" in refusal(path)


def test_a_full_disk_is_one_line_and_keeps_what_was_stored(path: Path) -> None:
    with connect(path) as connection, transaction(connection):
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")

    def overfill() -> None:
        with connect(path) as connection, transaction(connection):
            connection.execute("DELETE FROM kept")
            connection.execute(
                "CREATE TABLE huge AS SELECT md5(i::VARCHAR) FROM range(300000) t(i)"
            )

    with (
        largest_file(path.stat().st_size + 100_000),
        pytest.raises(StoreError, match="the disk is full; what was stored before is kept"),
    ):
        overfill()
    with connect(path) as connection:
        assert count_rows(connection, "kept") == 1


def test_a_transaction_that_is_interrupted_leaves_nothing_behind(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    def interrupt() -> None:
        with transaction(connection):
            connection.execute("DELETE FROM responses")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert count_rows(connection, "responses") == 4


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Query interrupted"),
        duckdb.Error("DagsterExecutionInterruptedError: <EMPTY MESSAGE>"),
    ],
)
def test_an_error_of_ctrl_c_in_a_query_is_an_interruption(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(KeyboardInterrupt), connect(tmp_path / "eval.duckdb"):
        raise error


def test_older_clients_open_a_file_that_a_newer_version_of_duckdb_wrote(tmp_path: Path) -> None:
    with connect(tmp_path / "eval.duckdb"):
        pass
    header = (tmp_path / "eval.duckdb").read_bytes()[8:20]
    storage_of_duckdb_1_0 = 64
    assert header[:4] == b"DUCK"
    assert int.from_bytes(header[4:], "little") == storage_of_duckdb_1_0


def test_a_database_whose_writer_was_killed_right_after_it_was_made_can_be_read(
    path: Path,
) -> None:
    """Its tables are in the log alone: not all that DuckDB writes there, it can read back."""
    killed = "import os, sys; from pathlib import Path\n"
    killed += "from eval_assets.store.connection import connect\n"
    killed += "with connect(Path(sys.argv[1])): os._exit(0)"
    subprocess.run([sys.executable, "-c", killed, str(path)], check=True)
    assert path.with_name(f"{path.name}.wal").stat().st_size > 0
    with connect(path) as connection:
        assert count_rows(connection, "judge_versions") == 0
