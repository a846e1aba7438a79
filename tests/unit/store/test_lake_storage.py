"""The bucket of a lake: where its credentials come from, and what is refused at once."""

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from eval_assets.store.connection import connect
from eval_assets.store.lake_upkeep import keep_lake
from eval_assets.store.lakes import Lake, lake_of
from eval_assets.store.store_errors import StoreError
from eval_assets.store.tables import count_rows, replace_rows
from tests.s3_server import make_bucket
from tests.unit.store.conftest import responses

VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "GS_ACCESS_KEY_ID",
    "GS_SECRET_ACCESS_KEY",
    "STORAGE_EMULATOR_HOST",
    "AZURE_STORAGE_CONNECTION_STRING",
)


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def lake_in(files: str, folder: Path) -> Lake:
    """Return a lake with its files in a bucket and its catalog in a folder."""
    address = f"ducklake:{folder / 'catalog.ducklake'}"
    return lake_of(address, files=files, evaluation="one")


def message_of(lake: Lake) -> str:
    """Return the one line that opening a lake, and writing to it, ends with."""
    with pytest.raises(StoreError) as raised, connect(lake) as connection:
        replace_rows(connection, "responses", responses(*(f"a{k}" for k in range(50))))
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ("s3://evals/lake", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"),
        ("gs://evals/lake", "GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY are not set"),
        ("az://evals/lake", "AZURE_STORAGE_CONNECTION_STRING is not set"),
    ],
)
def test_a_bucket_without_credentials_is_refused(files: str, missing: str, tmp_path: Path) -> None:
    assert message_of(lake_in(files, tmp_path)) == (
        f"EVAL_DATA_PATH is {files}, and {missing}. Set the credentials of the bucket."
    )


@pytest.mark.parametrize(
    "files", ["https://host/evals", "s3://", "s3://key:pass@evals", "s3://evals/x?secret=pass"]
)
def test_what_is_not_a_bucket_or_holds_credentials_is_refused_and_not_repeated(
    files: str, tmp_path: Path
) -> None:
    message = message_of(lake_in(files, tmp_path))
    assert "names no bucket that is supported. Write s3://bucket/folder, gs:// or az://" in message
    assert "pass" not in message


def test_a_lake_whose_bucket_is_not_named_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    lake = lake_in("s3://evals", tmp_path)
    with connect(lake):
        pass
    opens = "import sys; from eval_assets.store import connect, lake_of\n"
    opens += "with connect(lake_of(sys.argv[1], files=None, evaluation='one')): pass"
    # This process knows the bucket already.
    command = [sys.executable, "-c", opens, f"ducklake:{lake.catalog}"]
    opened = subprocess.run(command, check=False, capture_output=True, text=True)
    assert f"{lake}: keeps its files in a bucket. Set EVAL_DATA_PATH to it." in opened.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "variables"),
    [
        ("s3", ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL")),
        ("gs", ("GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY", "STORAGE_EMULATOR_HOST")),
    ],
)
def test_rows_are_written_to_a_bucket_read_back_and_tidied_up(
    kind: str,
    variables: tuple[str, str, str],
    s3: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in zip(variables, ("somebody", "it's a secret", s3), strict=True):
        monkeypatch.setenv(name, value)
    bucket = f"evals-{uuid.uuid4().hex}"
    make_bucket(s3, bucket)
    lake = lake_in(f"{kind}://{bucket}/lake", tmp_path)
    for n in (30, 40, 50):
        with connect(lake) as connection:
            replace_rows(connection, "responses", responses(*(f"a{k}" for k in range(n))))

    keep_lake(lake, days=0)
    _, n_deleted = keep_lake(lake, days=0)

    assert n_deleted >= 2
    with connect(lake) as connection:
        assert count_rows(connection, "responses") == 50


@pytest.mark.slow
def test_a_bucket_that_does_not_exist_or_is_away_is_one_line(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    for name, server in (("missing", s3), ("away", "http://127.0.0.1:1")):
        monkeypatch.setenv("AWS_ENDPOINT_URL", server)
        (tmp_path / name).mkdir()
        message = message_of(lake_in(f"s3://{name}/lake", tmp_path / name))
        assert f"s3://{name}/lake cannot be used. See whether the bucket exists" in message
