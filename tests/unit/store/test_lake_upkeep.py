"""Upkeep of a lake: earlier states go, and what the tables hold now stays."""

from pathlib import Path

import pytest

from eval_assets.store.connection import connect
from eval_assets.store.lake_upkeep import drop_from_lake, evaluations_in_lake, keep_lake
from eval_assets.store.lakes import Lake, lake_of
from eval_assets.store.store_errors import StoreError
from eval_assets.store.tables import count_rows, replace_rows
from tests.unit.store.conftest import responses


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """The part that an evaluation has of a lake, written three times."""
    files = str(tmp_path / "files")
    lake = lake_of(f"ducklake:{tmp_path / 'catalog.ducklake'}", files=files, evaluation="one")
    with connect(lake, folder=tmp_path / "one") as connection:
        for n in (30, 40, 50):
            replace_rows(connection, "responses", responses(*(f"a{k}" for k in range(n))))
    return lake


def parquet_files(lake: Lake) -> int:
    """Return how many Parquet files of responses there are."""
    return len(list(Path(str(lake.files)).glob("one/responses/*.parquet")))


def test_files_of_earlier_states_are_kept_for_some_days_and_then_deleted(lake: Lake) -> None:
    assert parquet_files(lake) == 3
    assert keep_lake(lake, days=1) == (0, 0)
    assert parquet_files(lake) == 3

    n_snapshots, n_deleted_at_once = keep_lake(lake, days=0)
    _, n_deleted = keep_lake(lake, days=0)

    assert n_snapshots > 0
    assert n_deleted_at_once == 0  # somebody may be reading them
    assert n_deleted >= 2
    assert parquet_files(lake) == 1
    with connect(lake) as connection:
        assert count_rows(connection, "responses") == 50


def test_upkeep_deletes_no_file_that_is_not_the_lakes(lake: Lake) -> None:
    others = Path(str(lake.files)) / "mine.parquet"
    others.write_bytes(b"PAR1")

    for _ in range(2):
        keep_lake(lake, days=0)

    assert others.exists()


def test_an_evaluation_is_listed_with_its_folder_until_it_is_dropped(
    lake: Lake, tmp_path: Path
) -> None:
    [listed] = evaluations_in_lake(lake)
    assert (listed.schema, listed.folder) == ("one", str(tmp_path / "one"))
    assert listed.n_files == 1
    assert listed.n_bytes > 1000

    drop_from_lake(lake)

    assert evaluations_in_lake(lake) == []
    with connect(lake, folder=tmp_path / "moved") as connection:
        assert count_rows(connection, "responses") == 0


def test_dropping_what_is_not_there_names_what_is(lake: Lake) -> None:
    other = lake_of(f"ducklake:{lake.catalog}", files=None, evaluation="other")
    with pytest.raises(StoreError, match=r"there is no such evaluation\. There are: one\."):
        drop_from_lake(other)
