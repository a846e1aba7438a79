"""Every table can be written as CSV, JSON Lines or Parquet."""

import csv
import json
from pathlib import Path

import click
import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner

from eval_assets.cli.export import export
from eval_assets.errors import InputError
from eval_assets.store.connection import connect, session
from eval_assets.store.inputs import write_labels, write_rubric
from eval_assets.store.schema import replace_rows, table_names
from tests.unit.store.conftest import CLARITY, labels, responses, scores, write_scored


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation folder with two rated responses in its database."""
    with connect(tmp_path / "out" / "eval.duckdb", folder=tmp_path) as connection:
        write_rubric(connection, [CLARITY])
        rows = responses("a1", "a2", convo_id="c", seed="1", difficulty="easy")
        replace_rows(
            connection, "responses", rows.assign(turn_index=[1, 2], response_text=["", 'Say "no"'])
        )
        write_labels(connection, labels(("a1", "clarity", "r1", 4), ("a1", "clarity", "r2", 5)))
        write_scored(connection, [], scores(("a1", "clarity", "j", 2.5, "ok")))
    return tmp_path


def exported(folder: Path, *arguments: str) -> bytes:
    """Return what the command writes to the terminal."""
    done = CliRunner().invoke(
        export, [*arguments, "--data", str(folder)], standalone_mode=False, catch_exceptions=False
    )
    return done.stdout_bytes


@pytest.mark.slow
def test_every_table_is_written_in_every_format(folder: Path, tmp_path: Path) -> None:
    written = tmp_path / "made" / "rows.parquet"
    with session():  # which opens the file once
        for table in table_names():
            with connect(folder / "out" / "eval.duckdb") as connection:
                n_rows = len(connection.execute(f'FROM "{table}"').fetchall())
            header, *rows = csv.reader(exported(folder, table).decode().splitlines())
            exported(folder, table, "--format", "parquet", "--output", str(written))
            copy = duckdb.from_parquet(str(written))

            assert (len(rows), len(copy)) == (n_rows, n_rows), table
            assert header == copy.columns, table
            assert len(exported(folder, table, "--format", "jsonl").splitlines()) == n_rows, table


def test_an_empty_text_is_not_a_missing_one(folder: Path) -> None:
    text = exported(folder, "responses").decode()
    first, second = (
        json.loads(line) for line in exported(folder, "responses", "--format", "jsonl").splitlines()
    )

    assert 'Prompt a,"",m1,' in text
    assert 'Prompt a,"Say ""no""",m2,' in text
    assert (first["response_text"], first.get("group_id")) == ("", None)
    assert second["response_text"] == 'Say "no"'


def test_combined_scores_have_the_nine_columns(folder: Path, tmp_path: Path) -> None:
    """A row per response and rater; the unrated response has one with blank cells."""
    path = tmp_path / "combined_scores.csv"
    exported(folder, "hij_combined_scores", "--output", str(path))

    header, *rows = path.read_text("utf-8").splitlines()
    assert header == (
        "indicator_id,convo_id,model_name,seed,turn_index,difficulty,hij_rater_id,hij_score,"
        "llm_aiescore"
    )
    assert rows == [
        "clarity,c,m1,1,1,easy,r1,4.0,2.5",
        "clarity,c,m1,1,1,easy,r2,5.0,2.5",
        "clarity,c,m2,1,2,easy,,,",
    ]
    assert pd.read_csv(path)["hij_score"].isna().sum() == 1


def test_blank_rows_of_a_rater_stay_in_combined_scores(folder: Path) -> None:
    rated = labels(("a1", "clarity", "r1", 4))
    blank = pd.DataFrame({"response_id": ["a1"], "question_id": ["clarity"], "rater_id": ["r2"]})
    with connect(folder / "out" / "eval.duckdb") as connection:
        write_labels(connection, rated, unrated=blank)

    _, *rows = exported(folder, "hij_combined_scores").decode().splitlines()

    assert rows == [
        "clarity,c,m1,1,1,easy,r1,4.0,2.5",
        "clarity,c,m1,1,1,easy,r2,,2.5",
        "clarity,c,m2,1,2,easy,,,",
    ]


def test_cells_that_begin_like_a_formula_are_escaped_in_csv_alone(folder: Path) -> None:
    rows = responses("a1", "a2").assign(response_text=["=1+1", "-3"])
    with connect(folder / "out" / "eval.duckdb") as connection:
        replace_rows(connection, "responses", rows)

    text = exported(folder, "responses").decode()
    lines = exported(folder, "responses", "--format", "jsonl").decode().splitlines()

    assert [row["response_text"] for row in csv.DictReader(text.splitlines())] == ["'=1+1", "-3"]
    assert [json.loads(line)["response_text"] for line in lines] == ["=1+1", "-3"]


def test_what_cannot_be_named_is_misuse_and_lists_what_can(folder: Path) -> None:
    unknown = CliRunner().invoke(export, ["nonsense", "--data", str(folder)])
    options = ["--format", "parquet", "--data", str(folder)]
    no_file = CliRunner().invoke(export, ["responses", *options])

    assert (unknown.exit_code, no_file.exit_code) == (2, 2)
    assert "There is no table nonsense. Tables: adjudicated_labels, " in unknown.stderr
    assert "name a file with --output" in no_file.stderr


def test_without_a_database_one_line_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        exported(tmp_path, "responses")

    assert str(raised.value) == (
        f"{tmp_path}/out/eval.duckdb: nothing is stored yet. Run eval-assets run --data {tmp_path}."
    )


def test_a_file_that_cannot_be_written_is_one_line(folder: Path) -> None:
    (folder / "file").write_text("")

    with pytest.raises(InputError, match="cannot be written"):
        exported(folder, "responses", "--output", str(folder / "file" / "rows.csv"))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_an_export_replaces_an_earlier_one_and_no_other_file(folder: Path, form: str) -> None:
    path = folder / "rows"
    for _ in range(2):
        exported(folder, "responses", "--format", form, "--output", str(path))
    path.write_text("response_id,rater_id\na1,anna\n")

    with pytest.raises(click.UsageError, match="no earlier export of these rows"):
        exported(folder, "responses", "--format", form, "--output", str(path))
    assert "anna" in path.read_text()
