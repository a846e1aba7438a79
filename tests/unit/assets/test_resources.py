"""The evaluation folder as a resource, and errors as one line each."""

from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.resources import EvaluationFolder, clear_failures, version_of
from eval_assets.errors import InputError, InputProblem, StoreError


def test_database_is_the_argument_else_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVAL_DATABASE", "elsewhere/eval.duckdb")

    assert EvaluationFolder.at(Path("e"), database="m.duckdb").stored_in == Path("m.duckdb")
    assert EvaluationFolder.at(Path("e")).stored_in == Path("elsewhere/eval.duckdb")
    monkeypatch.delenv("EVAL_DATABASE")
    assert EvaluationFolder.at(Path("e")).stored_in == Path("e/out/eval.duckdb")


def test_one_database_is_refused_for_several_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATABASE", "elsewhere/eval.duckdb")

    with pytest.raises(StoreError, match="one file cannot hold all evaluations of data"):
        _ = EvaluationFolder.at(Path("data/sample"), name="sample").stored_in


def test_every_problem_of_an_input_is_a_line_of_one_failure_without_retry() -> None:
    problems = [
        InputError(
            InputProblem("labels.csv", line, "rating", "6 is not on the scale", "Use 1 to 5")
        )
        for line in (2, 7)
    ]
    nested = ExceptionGroup("outer", [ExceptionGroup("inner", problems[:1]), problems[1]])

    with pytest.raises(dg.Failure) as raised, clear_failures():
        raise nested
    assert raised.value.description == (
        "labels.csv:2:rating: 6 is not on the scale. Use 1 to 5.\n"
        "labels.csv:7:rating: 6 is not on the scale. Use 1 to 5."
    )
    assert raised.value.allow_retries is False


def test_errors_of_two_kinds_in_one_group_are_all_reported() -> None:
    bad_row = InputError(InputProblem("labels.csv", 2, "rating", "off the scale", "Use 1 to 5"))

    with pytest.raises(dg.Failure) as raised, clear_failures():
        raise ExceptionGroup("two", [bad_row, StoreError("the disk is full")])
    assert (raised.value.description or "").splitlines() == [
        "labels.csv:2:rating: off the scale. Use 1 to 5.",
        "the disk is full",
    ]


def test_an_error_of_the_database_is_one_line() -> None:
    with pytest.raises(dg.Failure) as raised, clear_failures():
        raise StoreError("out/eval.duckdb: the disk is full.")
    assert raised.value.description == "out/eval.duckdb: the disk is full."


def test_other_errors_keep_their_traceback() -> None:
    """A bug of the program must not look like a bad input."""
    with pytest.raises(ZeroDivisionError), clear_failures():
        raise ZeroDivisionError


def test_a_failure_of_a_gate_passes_through_unchanged() -> None:
    closed = dg.Failure("Gate human_alpha is closed", metadata={"closed_gates": ["human_alpha"]})
    with pytest.raises(dg.Failure) as raised, clear_failures():
        raise closed
    assert raised.value is closed


def test_versions_tell_apart_what_prints_alike() -> None:
    assert version_of("a", 1) == version_of("a", 1)
    assert len({version_of("a", 1), version_of("a", "1"), version_of("a1"), version_of("a")}) == 4
