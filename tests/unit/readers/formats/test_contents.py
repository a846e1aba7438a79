import gzip
from pathlib import Path

import duckdb
import pytest

from eval_assets.errors import InputError
from eval_assets.readers.formats.contents import FORMATS, read_table


def write(path: Path, query: str) -> None:
    with duckdb.connect() as connection:
        connection.sql(query).write_parquet(str(path))


def refused(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        read_table(path, folder=path.parent)
    return str(raised.value)


def test_parquet_gives_its_values_with_the_number_of_their_row(tmp_path: Path) -> None:
    """The name would be a pattern to DuckDB, which reads all files that match one."""
    path = tmp_path / "labels[1].parquet"
    write(path, "SELECT * FROM (VALUES (1, 'N/A', NULL), (2, '', 0.5)) t(a, b, c)")

    table = read_table(path, folder=tmp_path)

    assert table.lines == [1, 2]
    assert table.text("a") == ["1", "2"]
    assert table.text("b") == ["N/A", ""]
    assert table.text("c") == [None, "0.5"]


def test_parquet_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    write(path, "SELECT 1 AS a WHERE false")

    assert read_table(path, folder=tmp_path).columns == {"a": []}


def test_the_content_decides_the_format_and_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    path.write_text("response_id,rating\na,1\n")

    assert read_table(path, folder=tmp_path).columns == {"response_id": ["a"], "rating": ["1"]}


def test_a_broken_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    path.write_bytes(b"PAR1 broken")

    message = refused(path)

    assert message.startswith("labels.parquet: the file is not Parquet (")
    assert message.endswith("). Write the file again.")


@pytest.mark.parametrize(
    ("name", "text"),
    [("labels.doc", '".doc" is not a known format'), ("labels", "the file name has no ending")],
)
def test_other_formats_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text("x")

    assert refused(tmp_path / name) == (
        f"{name}: {text}. Use one of {', '.join(FORMATS)}, or move the file elsewhere."
    )


def test_the_ending_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "LABELS.CSV").write_text("a\n1\n")

    assert read_table(tmp_path / "LABELS.CSV", folder=tmp_path).columns == {"a": ["1"]}


@pytest.mark.parametrize("name", ["labels.csv.gz", "LABELS.JSONL.GZ", "labels.json.gz"])
def test_text_formats_may_be_packed(tmp_path: Path, name: str) -> None:
    content = '[{"a": "1"}]' if "json." in name else '{"a": "1"}\n' if "JSONL" in name else "a\n1\n"
    (tmp_path / name).write_bytes(gzip.compress(content.encode()))

    assert read_table(tmp_path / name, folder=tmp_path).columns == {"a": ["1"]}


def test_a_guessed_encoding_is_noted(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes("rater;rating\nZo\u00eb;4,5\n".encode("cp1252"))

    table = read_table(tmp_path / "labels.csv", folder=tmp_path)

    assert table.columns["rater"] == ["Zo\u00eb"]
    assert table.notes[0].startswith("read as cp1252")


def test_a_hundred_thousand_columns_are_refused_at_once(tmp_path: Path) -> None:
    row = ",".join(f"c{k}" for k in range(100_000))
    (tmp_path / "labels.csv").write_text(f"{row}\n{row}\n")

    assert refused(tmp_path / "labels.csv").startswith(
        "labels.csv: 100,000 columns, but at most 2,000."
    )
