"""The program ends with the exit codes it documents, and prints errors as lines."""

import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from eval_assets.cli import main
from eval_assets.cli.exit_codes import FAILED, MISUSED, STOPPED, print_errors
from eval_assets.errors import InputError, InputProblem, StoreError

FIRST = InputProblem("labels.csv", 3, "value", "6 is not on the scale", "Use 1 to 5")
SECOND = InputProblem("labels.csv", 9, "value", "7 is not on the scale", "Use 1 to 5")


def exit_code_of(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return the code that the program exits with if a command raises `error`."""

    def raising(*, standalone_mode: bool) -> None:
        assert not standalone_mode
        raise error

    monkeypatch.setattr(main.program, "main", raising)
    with pytest.raises(SystemExit) as exited:
        main.main()
    return exited.value.code


def test_errors_of_a_group_are_one_line_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = ExceptionGroup("both", [InputError(FIRST), StoreError("eval.duckdb: is locked.")])

    assert exit_code_of(error, monkeypatch) == FAILED
    assert capsys.readouterr().err.splitlines() == [
        "labels.csv:3:value: 6 is not on the scale. Use 1 to 5.",
        "eval.duckdb: is locked.",
    ]


def test_a_group_that_holds_an_unexpected_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug keeps its traceback."""
    error = ExceptionGroup("both", [InputError(FIRST), ZeroDivisionError()])

    with pytest.raises(ExceptionGroup):
        exit_code_of(error, monkeypatch)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        *((click.UsageError("no"), MISUSED), (click.Abort(), STOPPED)),
        *((KeyboardInterrupt(), STOPPED), (PermissionError(13, "denied", "locked"), FAILED)),
    ],
)
def test_misuse_ctrl_c_and_locked_folders_have_codes(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exit_code_of(error, monkeypatch) == code


def test_a_command_that_does_not_exist_is_misuse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["eval-assets", "gatse"])

    with pytest.raises(SystemExit) as exited:
        main.main()

    assert exited.value.code == MISUSED
    assert "No such command 'gatse'. Did you mean gates?" in capsys.readouterr().err


def test_of_many_errors_the_first_fifty_are_printed_with_the_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_errors([f"line {number}" for number in range(53)])

    lines = capsys.readouterr().err.splitlines()
    assert lines[49:] == ["line 49", "... and 3 more of 53 problems"]


def test_many_errors_with_one_cause_are_one_line_and_all_are_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = [f"labels.csv:{line}:rating: 6 is off. Use 1 to 5." for line in range(2, 32)]
    result.insert(3, "labels.csv:5:rater_id: missing. Fill it in.")
    all_in = tmp_path / "out" / "problems.txt"

    print_errors(result, all_in=all_in)

    assert capsys.readouterr().err.splitlines() == [
        "labels.csv:2:rating: 6 is off. Use 1 to 5. Likewise 29 more lines: 3, 4, 5, 6, 7, ...",
        "labels.csv:5:rater_id: missing. Fill it in.",
        f"All of them: {all_in}",
    ]
    assert all_in.read_text().splitlines() == result


def test_errors_with_one_cause_in_several_sheets_are_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_errors([f"labels.xlsx:ben!{line}:rating: 6 is off. Use 1." for line in range(2, 14)])

    assert capsys.readouterr().err == (
        "labels.xlsx:ben!2:rating: 6 is off. Use 1. Likewise 11 more lines: ben!3, ben!4, ben!5, "
        "ben!6, ben!7, ...\n"
    )


def test_a_list_of_problems_goes_with_the_problems(tmp_path: Path) -> None:
    (tmp_path / "problems.txt").write_text("old")

    print_errors(["labels.csv:2:rating: 6 is off. Use 1 to 5."], all_in=tmp_path / "problems.txt")

    assert not (tmp_path / "problems.txt").exists()


def test_help_lists_commands_by_what_they_are_for() -> None:
    lines = CliRunner().invoke(main.program, ["--help"]).output.splitlines()

    assert lines.index("Get started:") < lines.index("Evaluate:") < lines.index("Judges:")


@pytest.mark.parametrize("name", [name for names in main.COMMANDS.values() for name in names])
def test_help_of_a_command_is_plain_text(name: str) -> None:
    assert "\\" not in CliRunner().invoke(main.program, [name, "--help"]).output
