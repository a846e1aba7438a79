"""Runs that are killed, that meet one another, and that cannot write."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from eval_assets.store.connection import SCHEMA_VERSION, connect
from tests.conftest import read_only
from tests.e2e.conftest import (
    AGREEING,
    OPPOSING,
    PROGRAM,
    Evaluated,
    clean_environment,
    failures,
    make,
)
from tests.e2e.rewriting import IMPORTS, MEASURES

SEED = 20261121
N_KILLS = 18

TRANSACTIONS = (
    ("rubric_questions",),
    ("responses",),
    ("judges", "judge_scores"),
    ("human_labels", "skipped_labels", "rejected_rows"),
    ("label_disagreements",),
    ("human_agreement", "label_findings"),
    ("score_summary",),
)
"""Tables that are written together; `combined_scores` is a view of them."""

HOLD = """
import sys, duckdb
with duckdb.connect(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
"""A person's session: open until its input ends."""


def snapshots(database: Path) -> dict[tuple[str, ...], str]:
    """All that each group of tables holds, and what is remembered of importing it."""
    imported = "SELECT table_name, fingerprint, sources FROM imports WHERE table_name = ?"
    with connect(database) as connection:
        return {
            tables: repr(
                [
                    (
                        connection.execute(f'SELECT * FROM "{table}" ORDER BY ALL').fetchall(),  # noqa: S608
                        connection.execute(imported, [table]).fetchall(),
                    )
                    for table in tables
                ]
            )
            for tables in TRANSACTIONS
        }


@contextmanager
def rewriting(folder: Evaluated) -> Iterator[subprocess.Popen[str]]:
    """The process that starts and kills what rewrites the folder's tables."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.rewriting", folder.path],
        cwd=Path(__file__).parents[2],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_each_table_as_it_was_or_as_it_was_to_be(
    new_folder: Evaluated,
) -> None:
    """Kills spread over .6 seconds, every third on a database that did not exist before."""
    states = [snapshots_of_nothing(new_folder)]
    for state, ratings in (("b", OPPOSING), ("a", AGREEING)):
        new_folder.label({"clarity": ratings, "depth": ratings})
        labels = new_folder.path / "labels.csv"
        (new_folder.path / f"{state}.labels").write_bytes(labels.read_bytes())
        result = new_folder.materialize(
            *(asset.name for asset in (*IMPORTS, *MEASURES)), checks=False
        )
        assert result.success
        states.append(snapshots(new_folder.database))
    backup = new_folder.database.read_bytes()

    rng = random.Random(SEED)  # noqa: S311 - moments, not secrets
    outcomes: set[str] = set()
    with rewriting(new_folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for kill in range(N_KILLS):
            new_folder.database.with_suffix(".duckdb.wal").unlink(missing_ok=True)
            if kill % 3:
                new_folder.database.write_bytes(backup)
            else:
                new_folder.database.unlink()
            process.stdin.write(f"{0.02 + 0.58 * rng.uniform(kill, kill + 1) / N_KILLS}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{signal.SIGKILL.value}\n"
            for tables, actual in snapshots(new_folder.database).items():
                matching = [str(i) for i, state in enumerate(states) if state[tables] == actual]
                assert matching, f"kill {kill} left {tables} in no complete state"
                outcomes |= set(matching)

    assert outcomes == {"0", "1", "2"}


def snapshots_of_nothing(folder: Evaluated) -> dict[tuple[str, ...], str]:
    """Snapshots of a new database."""
    with connect(folder.database):
        pass
    result = snapshots(folder.database)
    folder.database.unlink()
    return result


@pytest.mark.slow
def test_a_run_that_was_killed_is_made_good_by_the_next(
    new_folder: Evaluated, program: Path
) -> None:
    rng = random.Random(SEED)  # noqa: S311 - moments, not secrets
    for asset in ("responses", "human_agreement"):
        with watched(new_folder, program) as (run, progress):
            assert asset in seen_until(progress, asset)
            time.sleep(rng.uniform(0, 0.3))
            run.kill()
            run.communicate()

    done = new_folder.call("run")

    assert (done.returncode, done.stderr) == (0, "")
    assert new_folder.splits() == [("clarity", 24), ("depth", 24)]


@pytest.fixture
def program(program_folder: Path) -> Path:
    """The program as a process that does not import anything first."""
    return program_folder / "eval-assets"


def started(folder: Evaluated, program: Path, *options: str) -> subprocess.Popen[str]:
    """A run on this folder, under way."""
    return subprocess.Popen(
        [program, "run", *options],
        env=clean_environment() | {"EVAL_DATA": str(folder.path)},
        cwd=folder.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def watched(folder: Evaluated, program: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A run on this folder in a terminal, which shows its progress, and that terminal."""
    terminal, of_run = os.openpty()
    with subprocess.Popen(
        [program, "run", "--data", folder.path],
        cwd=folder.path,
        env=clean_environment(),
        stdout=of_run,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        os.close(of_run)
        try:
            yield run, terminal
        finally:
            os.close(terminal)


def seen_until(terminal: int, words: str) -> str:
    """Return what a terminal shows up to these words; all of it if they never come."""
    output = ""
    with suppress(OSError):  # the run ended
        while words not in output:
            output += os.read(terminal, 1000).decode()
    return output


def told_until(run: subprocess.Popen[str], words: str) -> str:
    """Return the output of a run up to the line with these words; all of it if none comes."""
    assert run.stdout is not None
    output = ""
    while words not in output and (line := run.stdout.readline()):
        output += line
    return output


@pytest.mark.slow
def test_ctrl_c_ends_a_run_with_130_and_one_line(new_folder: Evaluated, program: Path) -> None:
    with watched(new_folder, program) as (run, progress):
        assert "human_labels" in seen_until(progress, "human_labels")
        run.send_signal(signal.SIGINT)
        _, message = run.communicate(timeout=600)

    assert run.returncode == 130
    assert message.strip() == "Stopped. What was stored is kept; run again to continue."
    assert new_folder.rows("SELECT count(*) FROM human_labels") == [(96,)]


@pytest.mark.slow
def test_the_report_is_written_when_the_database_lies_elsewhere(
    open_folder: Evaluated, tmp_path: Path
) -> None:
    """With history and database outside the folder, nothing else makes out/ before the report."""
    with connect(open_folder.database, folder=open_folder.path):
        pass  # it records that it holds this evaluation
    database = open_folder.database.rename(tmp_path / "eval.duckdb")
    shutil.rmtree(open_folder.path / "out")
    home = tmp_path / "history"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    other_place = {"DAGSTER_HOME": str(home), "EVAL_DATABASE": str(database)}
    done = open_folder.call("run", "--select", "agreement_report", environment=other_place)

    assert (done.returncode, done.stderr) == (0, "")
    assert (open_folder.path / "out" / "report.html").is_file()


@pytest.mark.slow
def test_two_runs_and_an_open_session_wait_for_one_another(
    open_folder: Evaluated, program: Path
) -> None:
    """A person's session is open until both runs have said that they wait for it; both go on."""
    session = subprocess.Popen(
        [sys.executable, "-c", HOLD, open_folder.database],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert session.stdout is not None
    assert session.stdout.readline() == "held\n"
    runs = [started(open_folder, program, "--select", "+judge_splits") for _ in range(2)]
    waiting = f"{open_folder.database} is in use by "
    output = [told_until(run, waiting) for run in runs]
    session.communicate()
    rest = [run.communicate(timeout=600)[0] for run in runs]

    assert all(waiting in text for text in output), output
    assert [run.returncode for run in runs] == [0, 0], rest
    assert open_folder.splits() == [("clarity", 24), ("depth", 24)]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a run that failed as it should."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.slow
def test_a_database_of_a_newer_schema_is_refused_with_one_line(open_folder: Evaluated) -> None:
    with connect(open_folder.database) as connection:
        connection.execute("UPDATE schema_version SET version = ?", [SCHEMA_VERSION + 1])

    assert "written by a newer eval-assets" in one_line(open_folder.call("run"))
    assert "written by a newer eval-assets" in one_line(open_folder.call("gates"))


@pytest.mark.slow
def test_a_file_elsewhere_that_is_not_a_database_is_refused_with_one_line(
    new_folder: Evaluated,
) -> None:
    """It may be a mistyped path: a file of somebody's is not moved."""
    labels = new_folder.path / "labels.csv"
    before = labels.read_bytes()

    line = one_line(new_folder.call("run", environment={"EVAL_DATABASE": str(labels)}))

    assert "this is not a DuckDB database" in line
    assert labels.read_bytes() == before


def damage_header(database: bytes) -> bytes:
    return b"no database" + database[11:]


def damage_rows(database: bytes) -> bytes:
    """Overwrite everything behind the headers."""
    return database[:12288] + random.Random(SEED).randbytes(len(database) - 12288)  # noqa: S311


@pytest.mark.slow
@pytest.mark.parametrize("damage", [damage_header, damage_rows, lambda _: b""])
def test_a_damaged_database_is_moved_aside_with_one_line_and_made_again(
    open_folder: Evaluated, damage: Callable[[bytes], bytes]
) -> None:
    splits = open_folder.splits()
    damaged = damage(open_folder.database.read_bytes())
    open_folder.database.write_bytes(damaged)

    done = open_folder.call("run", "--select", "+judge_splits")

    assert done.returncode == 0, done.stdout + done.stderr
    [aside] = open_folder.database.parent.glob("eval.duckdb.damaged-*")
    assert done.stderr == (
        f"{open_folder.database} could not be read and is now {aside.name}; "
        "everything is computed again\n"
    )
    assert aside.read_bytes() == damaged
    assert open_folder.splits() == splits


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_one_line(
    new_folder: Evaluated, read_only_folder: Path
) -> None:
    other_place = {"EVAL_DATABASE": str(read_only_folder / "eval.duckdb")}
    line = one_line(new_folder.call("run", environment=other_place))

    assert line.startswith(f"{read_only_folder}/eval.duckdb: cannot be written. Give write access")


def test_an_output_folder_that_may_not_be_written_is_one_line(
    new_folder: Evaluated, read_only_folder: Path
) -> None:
    (new_folder.path / "out").symlink_to(read_only_folder)

    assert str(new_folder.path / "out") in one_line(new_folder.call("run"))


READING = (
    ("gates",),
    ("gates", "--format", "markdown"),
    ("ledger",),
    ("ledger", "export", "--output", os.devnull),
    ("certificates",),
    ("irr",),
    ("export", "judge_splits", "--output", os.devnull),
)


def test_results_are_read_from_a_folder_that_may_not_be_written(open_folder: Evaluated) -> None:
    before = [open_folder.call(*arguments) for arguments in READING]
    with read_only(open_folder.path):
        after = [open_folder.call(*arguments) for arguments in READING]
        stopped = one_line(open_folder.call("run"))
    for first, second in zip(before, after, strict=True):
        assert (second.returncode, second.stdout, second.stderr) == (
            first.returncode,
            first.stdout,
            first.stderr,
        )
    assert "cannot be written. Give write access" in stopped


def test_a_folder_without_results_that_may_not_be_written_has_closed_gates(
    new_folder: Evaluated,
) -> None:
    with read_only(new_folder.path):
        gates, ledger = new_folder.call("gates"), new_folder.call("ledger")
    assert gates.returncode == 3
    assert gates.stderr.startswith("There are no results. Run: ")
    assert (ledger.returncode, ledger.stderr) == (0, "")
    assert "This month  0.0000 USD" in ledger.stdout


@pytest.mark.slow
def test_a_disk_that_is_full_at_the_start_is_no_traceback(small_disk: Path, program: Path) -> None:
    folder = make(small_disk / "data", AGREEING)
    with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    for command in ("run", "ledger"):
        done = folder.run(command, program=program)
        *messages, line = done.stderr.splitlines()
        assert done.returncode == 1
        assert "Free space" in line or "moves it aside" in line
        assert all("no results. Run: eval-assets run" in other for other in messages)
    gates = folder.run("gates", program=program)  # which needs no space to say so
    assert gates.returncode == 3
    assert gates.stderr.startswith("There are no results. Run: ")


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_keeps_what_was_stored(open_folder: Evaluated) -> None:
    """No file may grow: the labels that were to be stored do not fit."""
    before = open_folder.rows("SELECT * FROM human_labels ORDER BY ALL")
    rng = random.Random(SEED)  # noqa: S311 - text that does not compress, no secret
    rows = "".join(
        f"a{response:02},rater-{rater:03},clarity,3,{rng.randbytes(1000).hex()}\n"
        for rater in range(400)
        for response in range(24)
    )
    labels = open_folder.path / "labels.csv"
    labels.write_text("response_id,rater_id,question_id,rating,notes\n" + rows)
    blocks = open_folder.database.stat().st_size // 512
    within = f'ulimit -f {blocks}; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", within, "sh", str(PROGRAM), "run", "--select", "human_labels"],
        env=clean_environment() | {"EVAL_DATA": str(open_folder.path)},
        cwd=open_folder.path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert "the disk is full; what was stored before is kept" in one_line(done)
    assert open_folder.rows("SELECT * FROM human_labels ORDER BY ALL") == before


@pytest.mark.slow
def test_a_folder_on_a_full_disk_is_evaluated_once_there_is_space(
    small_disk: Path, program: Path
) -> None:
    """Dagster's records are on the same disk, as large as is filled before or during the run."""
    folder = make(small_disk / "data", AGREEING)
    full = []
    for size in ("2M", "5M"):
        subprocess.run(["mount", "-o", f"remount,size={size}", small_disk], check=True)
        full.append(folder.run("run", program=program))
    subprocess.run(["mount", "-o", "remount,size=200M", small_disk], check=True)
    done = folder.call("run")

    assert ["Free space" in one_line(result) for result in full] == [True, True]
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_files_that_did_not_change_are_not_written_again(open_folder: Evaluated) -> None:
    """Not a byte of the database changes; a changed file is read again, and only that one."""
    with connect(open_folder.database, folder=open_folder.path):
        pass  # the folder is a copy: its database records where it lies now
    before = open_folder.database.read_bytes()
    imported = open_folder.rows("SELECT table_name, imported_at FROM imports ORDER BY ALL")
    assert open_folder.materialize("model_responses", "human_labels", "judge_scores").success
    after = open_folder.database.read_bytes()

    open_folder.label({"clarity": OPPOSING, "depth": OPPOSING})
    assert open_folder.materialize("model_responses", "human_labels", "judge_scores").success
    repeat = open_folder.rows("SELECT table_name, imported_at FROM imports ORDER BY ALL")

    assert after == before
    assert {name for name, _ in repeat} == {
        "adjudicated_labels",
        "generated_responses",
        "human_labels",
        "judge_calls",
        "judge_scores",
        "ledger",
        "responses",
    }
    assert [name for name, at in repeat if (name, at) not in imported] == ["human_labels"]


@pytest.mark.slow
def test_labels_whose_file_is_gone_stay_stored_until_the_folder_says_that_there_are_none(
    open_folder: Evaluated,
) -> None:
    labels = open_folder.rows("SELECT * FROM human_labels ORDER BY ALL")
    inputs = open_folder.path / "labels.csv"
    folder = open_folder.path / "labels"
    inputs.rename(open_folder.path / "ratings.csv")
    refused = failures(open_folder.materialize("human_labels", checks=False))["human_labels"]

    folder.mkdir()
    (open_folder.path / "ratings.csv").rename(folder / "renamed.csv")
    assert open_folder.materialize("human_labels", checks=False).success
    renamed = open_folder.rows("SELECT * EXCLUDE source FROM human_labels ORDER BY ALL")

    (folder / "renamed.csv").unlink()
    with (open_folder.path / "evaluation.yaml").open("a", encoding="utf-8") as yaml:
        yaml.write("labels: []\n")
    assert open_folder.materialize("human_labels", checks=False).success

    assert "there is no label file, but the database has" in refused
    assert f"{len(labels)} labels from labels.csv" in refused
    assert len(renamed) == len(labels) > 0
    assert open_folder.rows("SELECT * FROM human_labels") == []


def test_labels_of_which_none_has_a_rating_are_not_passed_over_in_silence(
    open_folder: Evaluated, caplog: pytest.LogCaptureFixture
) -> None:
    lines = "response_id,rater_id,question_id,rating\na00,r1,clarity,\na01,r1,clarity,\n"
    (open_folder.path / "labels.csv").write_text(lines)

    assert open_folder.materialize("human_labels", checks=False).success
    assert "no label has a rating: all 2 are blank" in caplog.messages
