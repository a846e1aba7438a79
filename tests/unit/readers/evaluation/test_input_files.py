"""Which files of the folder hold labels and responses."""

import os
from pathlib import Path

import pytest

from eval_assets.readers.evaluation.read import read_evaluation
from tests.unit.readers.conftest import HEAD, RESPONSES, Reported, Write


def test_a_folder_that_does_not_exist_is_reported(tmp_path: Path, reported: Reported) -> None:
    assert reported(lambda: read_evaluation(tmp_path / "none")) == [
        (
            f"{tmp_path / 'none'}: there is no such folder. "
            "Name an evaluation folder, or make one with `eval-assets init`."
        )
    ]
    assert reported(lambda: read_evaluation(tmp_path)) == [
        (
            f"{tmp_path / 'evaluation.yaml'}: there is no such file. "
            "Write it, or make a folder that has one with `eval-assets init`."
        )
    ]


def test_files_are_found_if_none_are_named(write: Write) -> None:
    """Sorted by name; hidden files and folders below are not labels."""
    folder = write(
        {"labels/b.csv": "x", "labels/a.json": "x", "labels/.hidden": "x", "labels/old/c.csv": "x"}
    )

    evaluation = read_evaluation(folder)

    assert evaluation.responses == (folder / "responses.csv",)
    assert evaluation.labels.files == (folder / "labels/a.json", folder / "labels/b.csv")


def test_a_spreadsheet_is_taken_if_there_are_no_other_labels(
    write: Write,
) -> None:
    """Beside a file of a known format it is somebody's working copy."""
    folder = write({"labels.xlsx": "x"})
    assert read_evaluation(folder).labels.files == (folder / "labels.xlsx",)
    folder = write({"labels.xlsx": "x", "labels.csv": "x", "labels.json.gz": "x"})
    assert read_evaluation(folder).labels.files == (
        folder / "labels.csv",
        folder / "labels.json.gz",
    )


def test_lock_and_half_written_files_are_not_labels(write: Write) -> None:
    names = ["labels/~$a.xlsx", "labels/.~lock.a.csv#", "labels/a.csv.part", "labels/a.csv"]
    folder = write({**dict.fromkeys(names, "x"), "evaluation.yaml": f"{HEAD}labels: labels/*\n"})
    assert read_evaluation(folder).labels.files == (folder / "labels/a.csv",)


@pytest.mark.parametrize("yaml", [HEAD, f"{HEAD}labels: label*.csv\n"])
def test_a_pipe_among_the_files_is_not_overlooked(write: Write, yaml: str) -> None:
    folder = write({"evaluation.yaml": yaml})
    os.mkfifo(folder / "labels.csv")

    assert read_evaluation(folder).labels.files == (folder / "labels.csv",)


def test_an_evaluation_may_have_no_labels_yet(write: Write) -> None:
    assert read_evaluation(write({})).labels.files == ()


def test_files_are_taken_in_the_order_in_which_they_are_named(write: Write) -> None:
    folder = write(
        {
            "evaluation.yaml": f"{HEAD}responses: [second.csv, 'parts/*.csv', second.csv]\n",
            "second.csv": RESPONSES,
            "parts/b.csv": RESPONSES,
            "parts/a.csv": RESPONSES,
            "parts/notes.txt": "x",
        }
    )

    assert read_evaluation(folder).responses == tuple(
        folder / name for name in ("second.csv", "parts/a.csv", "parts/b.csv")
    )


def test_the_short_and_the_long_form_name_the_same_labels(write: Write) -> None:
    short = write({"evaluation.yaml": f"{HEAD}labels: l.csv\n", "l.csv": "x"})
    long = f"{HEAD}labels: {{files: [l.csv], on_error: fail}}\n"

    expected = read_evaluation(short)

    assert read_evaluation(write({"evaluation.yaml": long, "l.csv": "x"})) == expected
