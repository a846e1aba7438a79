"""Opening a ledger: what is refused, in one line each, and what is never lost."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import CallSubject, RateLimits, Reply
from eval_assets.store.ledger import engine as engine_module
from eval_assets.store.ledger._tables import VERSION, attempts, ledger_version, metadata
from eval_assets.store.ledger.attempts import spending_table
from eval_assets.store.ledger.engine import SqlLedger, _write_ahead, connect_ledger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.conftest import read_only
from tests.postgres import Postgres
from tests.unit.store.conftest import largest_file
from tests.unit.store.ledger.conftest import NOW, attempt


def refusal(folder: Path, value: str | None = None) -> str:
    """Return what is said of a ledger that cannot be opened: one line."""
    with pytest.raises(StoreError) as raised:
        connect_ledger(folder, evaluation="poems", setting=value).close()
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_ledger_lies_in_the_folder_unless_another_place_is_given(tmp_path: Path) -> None:
    connect_ledger(tmp_path, evaluation="poems", setting=None).close()
    connect_ledger(tmp_path, evaluation="poems", setting=str(tmp_path / "team.sqlite")).close()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.sqlite", "team.sqlite"]


def test_rows_carry_the_evaluation_only_in_a_ledger_that_may_be_shared(tmp_path: Path) -> None:
    """A folder's own ledger goes with it when the evaluation is given another name."""
    unnamed = connect_ledger(tmp_path, evaluation="poems", setting=None)
    named = connect_ledger(tmp_path, evaluation="poems", setting=str(tmp_path / "ledger.sqlite"))
    shared = connect_ledger(tmp_path, evaluation="poems", setting=str(tmp_path / "team.sqlite"))

    assert (unnamed.evaluation, named.evaluation, shared.evaluation) == ("", "", "poems")
    for item in (unnamed, named, shared):
        item.close()


def test_a_commit_is_on_the_disk_and_readers_do_not_wait(ledger: SqlLedger) -> None:
    if not ledger.place.endswith(".sqlite"):
        pytest.skip("settings of SQLite")
    with ledger.transaction() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        with Worker(ledger, asset="judge_scores") as worker:
            worker.record([attempt("a")])


def test_a_newer_ledger_is_refused_and_left_as_it_is(ledger: SqlLedger, tmp_path: Path) -> None:
    with ledger.transaction(is_writing=True) as connection:
        connection.execute(sa.update(ledger_version), {"version": VERSION + 1})
    inputs = None if ledger.place.endswith(".sqlite") else ledger.place

    assert "written by a newer eval-assets" in refusal(tmp_path, inputs)
    with ledger.transaction() as connection:
        assert connection.scalar(sa.select(ledger_version.c.version)) == VERSION + 1


def test_a_ledger_of_long_ago_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    connect_ledger(tmp_path, evaluation="poems", setting=None).close()
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as earlier:
        earlier.execute("UPDATE ledger_version SET version = 2")
        earlier.commit()

    assert "(ledger 2)" in refusal(tmp_path, None)


def test_an_earlier_ledger_gets_what_is_new_and_keeps_its_rows(tmp_path: Path) -> None:
    """One of version 4, of a run with a batch, and one that was killed after a late reply."""
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as earlier:
        earlier.executescript((Path(__file__).parent / "version4.sql").read_text())
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=None)
    with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]) as worker:
        assert worker.replies(["a", "b", "e"]) == {"a": Reply("3", "ok"), "b": Reply("4", "ok")}
        assert worker.keys_in_batches(["a", "c", "d", "e"]) == {"c", "d"}
        [batch] = worker.open_batches("gpt")
        assert (batch.batch_id, list(batch.subjects)) == ("batch-1", ["c", "d"])
        assert batch.subjects["c"] == CallSubject("judging", "r-c", "q")
        assert worker.endpoint_memory("http://127.0.0.1/v1", "gpt-6-luna").in_flight == 16
    spent = {row["run"]: row["charged_usd"] for row in spending_table(ledger, by="run")}
    assert spent == {"run-1": pytest.approx(0.06), "run-2": 0.01}
    with ledger.transaction() as connection:
        assert list(connection.scalars(sa.select(attempts.c.status).order_by(attempts.c.id))) == [
            "repeated",
            "api_error",
            "ok",
            "ok",
        ]
        existing = {
            (table, column["name"])
            for table in sa.inspect(connection).get_table_names()
            for column in sa.inspect(connection).get_columns(table)
        }
    assert existing == {(table.name, c.name) for table in metadata.sorted_tables for c in table.c}
    ledger.close()


def test_a_ledger_with_slots_by_judge_and_portions_of_rates_is_read(
    tmp_path: Path, setting: str | None
) -> None:
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=setting)
    with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]) as worker:
        worker.record([attempt("a")])
    with ledger.transaction(is_writing=True) as connection:
        for statement in _BACK_TO_VERSION_7.split(";"):
            connection.execute(sa.text(statement))
    ledger.close()
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=setting)
    with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]) as worker:
        assert worker.replies(["a"]) == {"a": Reply("4", "ok")}
        assert worker.take(RateLimits("account", 60, None), [0], delay_seconds=0.0)[0] <= 0
    with ledger.transaction() as connection:
        names = set(sa.inspect(connection).get_table_names())
    assert names == {table.name for table in metadata.sorted_tables}
    ledger.close()


_BACK_TO_VERSION_7 = """
    DROP TABLE slots;
    DROP TABLE rates;
    CREATE TABLE slots (evaluation TEXT, judge_id TEXT, slot INTEGER, worker INTEGER NOT NULL);
    CREATE TABLE rate_grants (id INTEGER PRIMARY KEY, account TEXT NOT NULL);
    INSERT INTO slots VALUES ('poems', 'gpt', 1, 1);
    UPDATE ledger_version SET version = 7
"""


@pytest.mark.slow
def test_an_earlier_ledger_on_a_server_gets_what_is_new(postgres: Postgres, tmp_path: Path) -> None:
    setting = postgres.new_database()
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=setting)
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        later = NOW + timedelta(seconds=1)
        worker.record([attempt("a"), attempt("b")])
        worker.record([attempt("a", raw_output="3", started_at=later)])
    with ledger.transaction(is_writing=True) as connection:
        for statement in _BACK_TO_VERSION_4.split(";"):
            connection.execute(sa.text(statement))
    ledger.close()
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=setting)
    with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]) as worker:
        assert worker.replies(["a", "b"]) == {"a": Reply("3", "ok"), "b": Reply("4", "ok")}
        assert worker.keys_in_batches(["c", "d"]) == {"c"}
        worker.record([attempt("a", started_at=later + timedelta(seconds=1))])
        assert worker.replies(["a"]) == {"a": Reply("3", "ok")}
    ledger.close()


_BACK_TO_VERSION_4 = """
    CREATE TABLE takeovers (evaluation TEXT PRIMARY KEY);
    DROP INDEX one_reply;
    DROP INDEX attempts_once;
    UPDATE attempts SET status = 'ok';
    DROP TABLE slots;
    DROP TABLE batch_requests;
    ALTER TABLE workers DROP COLUMN shard;
    ALTER TABLE workers DROP COLUMN n_shards;
    ALTER TABLE workers ADD COLUMN lease_until TIMESTAMP WITH TIME ZONE;
    ALTER TABLE workers ADD COLUMN reserved_usd FLOAT NOT NULL DEFAULT 0;
    CREATE INDEX workers_by_lease ON workers (lease_until);
    CREATE TABLE claims (
        call_key TEXT PRIMARY KEY, batch TEXT, operation TEXT NOT NULL, response_id TEXT,
        question_id TEXT, replicate INTEGER NOT NULL);
    INSERT INTO claims VALUES ('c', 'intent-1', 'judging', 'r-c', 'q', 0),
                              ('d', NULL, 'judging', 'r-d', 'q', 0);
    UPDATE ledger_version SET version = 4
"""


def test_an_upgrade_that_fails_changes_nothing(
    ledger: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def extend_and_fail(connection: sa.Connection) -> None:
        connection.execute(sa.text("ALTER TABLE batches ADD COLUMN note TEXT"))
        connection.execute(sa.text("INSERT INTO nowhere VALUES (1)"))

    inputs = None if ledger.place.endswith(".sqlite") else ledger.place
    monkeypatch.setattr(engine_module, "VERSION", VERSION + 1)
    monkeypatch.setattr(engine_module, "upgrade", extend_and_fail)
    assert "nowhere" in refusal(tmp_path, inputs)
    with ledger.transaction() as connection:
        columns = sa.inspect(connection).get_columns("batches")
    assert "note" not in {column["name"] for column in columns}


@pytest.mark.parametrize(
    "value",
    [
        "postgresql://eval:hunter2@db/ledger",
        "postgresql://eval@db/ledger?password=hunter2",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(tmp_path: Path, value: str) -> None:
    output = refusal(tmp_path, value)

    assert "EVAL_LEDGER holds a password" in output
    assert "PGPASSFILE" in output
    assert "hunter2" not in output


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("mysql://db/ledger", "names mysql, which is not supported"),
        ("postgresql://eval@127.0.0.1:1/ledger", "cannot be reached. See whether its server runs"),
        ("://", "not a URL. Write postgresql://user@host/database, or a path"),
        ("nowhere/ledger.sqlite", "its folder does not exist"),
    ],
)
def test_a_place_that_is_not_a_ledger_is_refused(tmp_path: Path, value: str, output: str) -> None:
    assert output in refusal(tmp_path, value)


@pytest.mark.parametrize(
    "content", [b"response_id,rating\n" * 500, b"SQLite format 3\0" + b"x" * 9000]
)
def test_a_file_that_is_not_a_ledger_is_refused_and_left_as_it_is(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(content)

    assert refusal(tmp_path).startswith(f"{tmp_path}/ledger.sqlite: this is not a ledger")
    assert (tmp_path / "ledger.sqlite").read_bytes() == content


def test_a_damaged_ledger_is_one_line_that_says_how_to_get_it_back(ledger: SqlLedger) -> None:
    if not ledger.place.endswith(".sqlite"):
        pytest.skip("damage to a file")
    with Worker(ledger, asset="judge_scores") as worker:
        worker.record([attempt(f"k{number}") for number in range(2000)])
    ledger.close()
    path = Path(ledger.place)
    path.write_bytes(path.read_bytes()[:8192] + os.urandom(200_000))

    with pytest.raises(StoreError, match=r"it is damaged\. Restore it from a copy"):
        Worker(ledger, asset="judge_scores").replies([f"k{number}" for number in range(2000)])


def test_a_deleted_ledger_whose_log_is_left_is_not_begun_anew(tmp_path: Path) -> None:
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=None)
    with Worker(ledger, asset="judge_scores") as worker:
        worker.record([attempt("a")])
        (tmp_path / "ledger.sqlite").rename(tmp_path / "kept")
        log = tmp_path / "ledger.sqlite-wal"
        size = log.stat().st_size
        line = refusal(tmp_path)
        assert log.stat().st_size == size > 0
        assert not (tmp_path / "ledger.sqlite").exists()
        (tmp_path / "kept").rename(tmp_path / "ledger.sqlite")
    ledger.close()
    assert line.startswith(f"{tmp_path}/ledger.sqlite: it is gone, and its log ledger.sqlite-wal")
    assert "Put ledger.sqlite back" in line
    assert "\n" not in line


@pytest.mark.parametrize("setting", [None, "another.sqlite"])
def test_a_ledger_that_may_not_be_written_is_read_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path if setting is None else tmp_path / "elsewhere"
    ledger = connect_ledger(folder, evaluation="poems", setting=setting)
    with Worker(ledger, asset="judge_scores") as worker:
        worker.record([attempt("a")])  # in the log alone while the ledger is open
        with (
            read_only(tmp_path),
            open_ledger(
                folder,
                evaluation="poems",
                setting=setting,
                is_reading=True,
            ) as copy,
        ):
            assert copy.place == (setting or str(tmp_path / "ledger.sqlite"))
            assert copy.evaluation == ledger.evaluation
            assert Worker(copy, asset="judge_scores").replies(["a"]).keys() == {"a"}
    ledger.close()


def test_a_folder_that_may_not_be_written_is_one_line(read_only_folder: Path) -> None:
    assert "it cannot be written. Give write access or set EVAL_LEDGER" in refusal(read_only_folder)


def test_a_full_disk_is_one_line_and_keeps_what_was_stored(tmp_path: Path) -> None:
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=None)
    with Worker(ledger, asset="judge_scores") as worker:
        worker.record([attempt("a")])
        with largest_file(300_000), pytest.raises(StoreError, match=r"cannot be written|is full"):
            worker.record([attempt("b", raw_reply=os.urandom(500_000).hex())])
        assert worker.replies(["a", "b"]).keys() == {"a"}
    ledger.close()


@pytest.mark.slow
def test_a_server_that_comes_back_gets_what_arrived_meanwhile(
    postgres: Postgres, tmp_path: Path
) -> None:
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=postgres.new_database())
    with Worker(ledger, asset="judge_scores") as worker, ThreadPoolExecutor(1) as pool:
        postgres.kill()
        recording = pool.submit(worker.record, [attempt("a")])
        postgres.start()
        recording.result()
        assert worker.replies(["a"]).keys() == {"a"}
        postgres.drop_connections()
        worker.record([attempt("b")])
        with ledger.transaction() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(attempts)) == 2
    ledger.close()


@pytest.mark.slow
def test_a_server_that_stays_away_is_one_line(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_assets.store.ledger.workers._OUTAGE_SECONDS", 0.0)
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=postgres.new_database())

    def ask() -> None:
        with Worker(ledger, asset="judge_scores") as worker:
            postgres.drop_connections()
            worker.record([attempt("a")])

    with pytest.raises(StoreError, match="cannot be reached"):
        ask()
    ledger.close()


@pytest.mark.slow
def test_a_server_whose_disk_is_full_is_not_reported_as_away(
    postgres: Postgres, tmp_path: Path
) -> None:
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=postgres.new_database())
    raised_by_a_server = "DO $$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$"
    with (
        pytest.raises(StoreError, match="the disk of its server is full; what was stored before"),
        ledger.transaction(is_writing=True) as connection,
    ):
        connection.execute(sa.text(raised_by_a_server))
    ledger.close()


def test_reading_waits_for_no_transaction_of_another_program(tmp_path: Path) -> None:
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=None)
    holder = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with ledger.transaction() as reading:
        assert reading.scalar(sa.select(ledger_version.c.version)) == VERSION
    holder.execute("ROLLBACK")
    holder.close()
    ledger.close()


class Refusing:
    """A connection to a new file that others turn over to write-ahead logging at the same time."""

    def __init__(self, code: int) -> None:
        self.code, self.n_refused = code, 0

    def execute(self, statement: str) -> None:
        """Refuse twice, as SQLite does without waiting."""
        assert statement == "PRAGMA journal_mode = WAL"
        if self.n_refused < 2:
            self.n_refused += 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = self.code
            raise error


def test_a_new_file_that_several_open_at_once_is_waited_for() -> None:
    busy = Refusing(sqlite3.SQLITE_BUSY)
    _write_ahead(cast("sqlite3.Connection", busy))
    assert busy.n_refused == 2

    with pytest.raises(sqlite3.OperationalError):
        _write_ahead(cast("sqlite3.Connection", Refusing(sqlite3.SQLITE_NOTADB)))


def test_an_empty_file_is_not_taken_for_a_new_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").touch()
    with pytest.raises(StoreError, match=r"the file is empty\. Put it back from a copy"):
        connect_ledger(tmp_path, evaluation="poems", setting=None)


def test_a_damaged_page_is_found_within_a_day(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = connect_ledger(tmp_path, evaluation="poems", setting=None)
    with Worker(ledger, asset="judge_scores") as worker:
        worker.record([attempt(f"{number}") for number in range(500)])
    ledger.close()
    connect_ledger(tmp_path, evaluation="poems", setting=None).close()  # checked today
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 200] = b"\xff" * 200
    path.write_bytes(content)
    connect_ledger(tmp_path, evaluation="poems", setting=None).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(StoreError, match=r"it is damaged\. Restore it from a copy"):
        connect_ledger(tmp_path, evaluation="poems", setting=None)


def test_a_disk_that_was_full_for_a_while_loses_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(connect_ledger(tmp_path, evaluation="poems", setting=None)) as ledger:

        def limit_pages(n: int) -> None:
            with ledger.transaction(is_writing=True) as connection:
                connection.exec_driver_sql(f"PRAGMA max_page_count = {n}")

        waits: list[float] = []

        def free_space(seconds: float) -> None:
            waits.append(seconds)
            limit_pages(1_000_000)

        monkeypatch.setattr("eval_assets.store.ledger.workers.time.sleep", free_space)
        with Worker(ledger, asset="judge_scores") as worker:
            limit_pages(1)
            worker.record([attempt("a", raw_output="4" * 1_000_000)])
            assert set(worker.replies(["a"])) == {"a"}
        assert waits
