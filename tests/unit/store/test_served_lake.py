"""A lake whose catalog is on a PostgreSQL server: many processes, and a server that goes away."""

import logging
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from eval_assets.store.connection import connect, transaction
from eval_assets.store.lakes import Lake, lake_of
from eval_assets.store.store_errors import LostError, StoreError
from eval_assets.store.tables import count_rows, replace_rows
from tests.postgres import Postgres
from tests.unit.store.conftest import responses

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(postgres: Postgres, tmp_path: Path) -> Lake:
    """The part that an evaluation has of a lake that does not exist yet."""
    address = f"ducklake:postgres:{postgres.new_database()}"
    return lake_of(address, files=str(tmp_path / "files"), evaluation="one")


WRITES = """
import sys
from pathlib import Path
import pandas as pd
from eval_assets.store import connect, lake_of, transaction
from eval_assets.store.tables import insert_rows
address, files, name = sys.argv[1:4]
lake = lake_of(address, files=files, evaluation=name)
for k in range(5):
    with connect(lake, folder=Path(name)) as connection, transaction(connection):
        rows = {"number": [k] * 20, "evaluation": name, "before": "", "since": "", "reason": "",
                "subject": "", "state": "", "run_url": "", "report": "", "questions": [[]] * 20,
                "raised_at": pd.Timestamp.now("UTC")}
        insert_rows(connection, "alerts", pd.DataFrame(rows))
"""


def started(lake: Lake, *names: str) -> Sequence[subprocess.Popen[str]]:
    """Start a process for each name that makes the evaluation if need be, and writes 100 rows."""
    return [
        subprocess.Popen(
            [sys.executable, "-c", WRITES, f"ducklake:{lake.catalog}", str(lake.files), name],
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]


def test_processes_make_a_lake_and_write_to_it_at_once(lake: Lake) -> None:
    for process in started(lake, "one", "one", "one", "two"):
        _, errors = process.communicate()
        assert process.returncode == 0, errors

    with connect(lake) as connection:
        assert count_rows(connection, "alerts") == 300
        assert count_rows(connection, "evaluation_folder") == 1


def test_a_lake_on_a_server_stays_attached(lake: Lake) -> None:
    with connect(lake) as first:
        [(before,)] = first.execute(_ATTACHED, [lake.alias]).fetchall()
    with connect(lake) as second:
        [(after,)] = second.execute(_ATTACHED, [lake.alias]).fetchall()

    assert after == before


_ATTACHED = "SELECT database_oid FROM duckdb_databases() WHERE database_name = ?"


def test_a_server_that_drops_its_connections_is_connected_to_again(
    lake: Lake, postgres: Postgres
) -> None:
    with connect(lake) as connection:
        replace_rows(connection, "responses", responses("a1"))
    postgres.drop_connections()
    with connect(lake) as connection:
        assert count_rows(connection, "responses") == 1


def test_a_transaction_that_loses_the_server_writes_nothing(lake: Lake, postgres: Postgres) -> None:
    with connect(lake) as connection:
        replace_rows(connection, "responses", responses("a1"))

    def lose() -> None:
        with connect(lake) as connection, transaction(connection):
            replace_rows(connection, "responses", responses(*(f"b{k}" for k in range(50))))
            postgres.drop_connections()

    with pytest.raises(LostError, match=r"the catalog cannot be reached\. See whether") as raised:
        lose()
    assert "\n" not in str(raised.value)
    with connect(lake) as connection:
        assert connection.execute("SELECT response_id FROM responses").fetchall() == [("a1",)]


def test_a_server_that_is_away_is_waited_for(
    lake: Lake, postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(lake) as connection:
        replace_rows(connection, "responses", responses("a1"))
    postgres.kill()
    is_back = threading.Event()

    class Starts(logging.Handler):
        """Starts the server when somebody says that it is waited for."""

        def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - logging's signature
            if not is_back.is_set():
                is_back.set()
                postgres.start()

    handler = Starts()
    logging.getLogger("eval_assets.store.connection").addHandler(handler)
    try:
        with caplog.at_level(logging.WARNING), connect(lake) as connection:
            assert count_rows(connection, "responses") == 1
    finally:
        logging.getLogger("eval_assets.store.connection").removeHandler(handler)
        if not is_back.is_set():
            postgres.start()
    assert "cannot be reached; waiting for its catalog to be back" in caplog.text


def test_a_database_that_does_not_exist_is_not_waited_for(lake: Lake) -> None:
    nowhere = lake_of(f"ducklake:{lake.catalog}x", files=lake.files, evaluation="one")
    with pytest.raises(StoreError, match="does not exist") as raised, connect(nowhere):
        pass
    assert not isinstance(raised.value, LostError)
    assert isinstance(raised.value.__cause__, duckdb.Error)
