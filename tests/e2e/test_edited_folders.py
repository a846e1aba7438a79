"""Every command has the same verdict on a folder, whatever was edited in it."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eval_assets.config.tuning import SplitShares
from eval_assets.tuning.rated import Split, split_of
from tests.e2e.conftest import Evaluated

JUDGES = ("harsh", "steady", "verbose")

Row = dict[str, str]
Edit = Callable[[Evaluated], None]


def rewrite(path: Path, change: Callable[[Row], Row | None]) -> None:
    """Change or drop the rows of a CSV file."""
    with path.open(newline="") as file:
        rows = [row for row in map(change, csv.DictReader(file)) if row is not None]
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)


OTHER_SPLIT = SplitShares(train=0.6, dev=0.2, test=0.2)
"""Split of the walk whose test lies in the default one, which keeps nothing else after it."""


def opposite(path: Path, column: str, *, split: Split, judge: str = "") -> None:
    """Turn the first value of a split around, of one judge if it is named."""
    shares = OTHER_SPLIT if split == "test" else SplitShares()
    n_changed = 0

    def change(row: Row) -> Row:
        nonlocal n_changed
        of_split = split_of(row["response_id"].partition("-")[0], shares) == split
        if n_changed or not of_split or row.get("judge_model", "") != judge:
            return row
        if row[column] in {"", "3"}:
            return row
        n_changed += 1
        return {**row, column: str(6 - int(row[column]))}

    rewrite(path, change)


def change_label(split: Split) -> Edit:
    return lambda folder: opposite(folder.path / "labels.csv", "rating", split=split)


def change_score(folder: Evaluated) -> None:
    opposite(folder.path / "judge_scores.csv", "score", split="test", judge="verbose")


def add_response(folder: Evaluated) -> None:
    path = folder.path / "responses.csv"
    with path.open(newline="") as file:
        *_, last = csv.DictReader(file)
    with path.open("a", newline="") as file:
        csv.DictWriter(file, list(last)).writerow(last | {"response_id": "new-1"})


def remove_rater(folder: Evaluated) -> None:
    rewrite(folder.path / "labels.csv", lambda row: None if row["rater_id"] == "r1" else row)


def declare(old: str, new: str) -> Edit:
    """Return an edit of evaluation.yaml."""

    def edit(folder: Evaluated) -> None:
        path = folder.path / "evaluation.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return edit


def rename_model(folder: Evaluated) -> None:
    declare("model: steady}", "model: steadier}")(folder)
    rewrite(
        folder.path / "judge_scores.csv",
        lambda row: {**row, "judge_model": "steadier"} if row["judge_model"] == "steady" else row,
    )


def delete_out(folder: Evaluated) -> None:
    shutil.rmtree(folder.path / "out", ignore_errors=True)  # it is not put back


@dataclass(frozen=True)
class State:
    """Exit codes of all commands on a folder.

    Args:
        gates: Of `gates`.
        required: Of `certificates --require`, by judge.
        verified: Of `certificates verify`, by file.
    """

    gates: int
    required: Mapping[str, int]
    verified: Mapping[str, int]


def state_of(folder: Evaluated) -> State:
    files = sorted((folder.path / "out" / "certificates").glob("*.json"))
    return State(
        gates=folder.call("gates").returncode,
        required={
            judge: folder.call("certificates", "--require", judge).returncode for judge in JUDGES
        },
        verified={
            path.stem: folder.call("certificates", "verify", str(path)).returncode for path in files
        },
    )


def contradictions(folder: Evaluated, state: State) -> list[str]:
    """Return where the commands, the report and the tables differ after a run."""
    return [*wrong_on_judges(folder, state), *wrong_on_gates(folder, state)]


def report_of(folder: Evaluated) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder.path / "out" / "report.json").read_text())
    return report


def wrong_on_judges(folder: Evaluated, state: State) -> Iterator[str]:
    """Yield where certificates, the report and combined scores differ."""
    rows = folder.rows(
        "SELECT judge_id, version, fitness, claim, stale_because FROM judge_certificates"
    )
    valid = [row for row in rows if row[4] is None]
    reported = {of["judge"]: of["verdict"] for of in report_of(folder)["judges"]}
    for judge in JUDGES:
        verdicts = {row[2] for row in valid if row[0] == judge}
        expected = 0 if "fit" in verdicts else 3 if "unfit" in verdicts else 4
        if state.required[judge] != expected:
            yield f"--require {judge}: {state.required[judge]}, valid are {verdicts}"
        if expected != 4 and reported[judge] != {0: "pass", 3: "fail"}[expected]:
            yield f"{judge} is {verdicts}: {reported}"
    expected_codes = {f"{row[0]}-{row[1]}": 4 if row[4] else 0 for row in rows if row[3]}
    if state.verified != expected_codes:
        yield f"verify: {state.verified}, in the table {expected_codes}"
    [(n_combined,)] = folder.rows("SELECT count(*) FROM score_summary WHERE rater_kind='combined'")
    [(n_marked,)] = folder.rows("SELECT count(needs_person) FROM judge_scores")
    if {bool(n_combined), bool(n_marked)} != {any(row[3] == "fit_in_part" for row in valid)}:
        yield f"{n_combined} combined scores, {n_marked} marked, {valid}"
    if state.gates and valid:
        yield f"behind closed gates: {valid}"


def wrong_on_gates(folder: Evaluated, state: State) -> Iterator[str]:
    """Yield where `gates`, the report and `agreement` differ."""
    report = report_of(folder)
    if state.gates and report["labels"]["verdict"] == "pass":
        yield f"gates {state.gates}: {report['labels']}"
    gates = json.loads(folder.call("gates", "--json").stdout)
    closed = [gate["gate"] for gate in gates if gate["is_closed"]]
    if closed != [gate["gate"] for gate in report["gates"] if gate["is_closed"]]:
        yield f"gates: {closed}, report: {report['gates']}"
    measured = folder.call("agreement", "labels.csv", "--scale", "1-5", "--json")
    [figures] = json.loads(measured.stdout)["labels"]["questions"]
    for gate, name in zip(gates, ("a_hh", "alpha"), strict=False):
        if figures[name]["value"] != pytest.approx(gate["verdicts"][-1]["value"], abs=1e-9):
            yield f"agreement: {name} {figures[name]}, {gate}"


UNKNOWN = dict.fromkeys(JUDGES, 4)
AS_TESTED = {"harsh": 4, "steady": 0, "verbose": 3}
HOLDS = {"harsh-1.0.1": 0, "steady-1.0.0": 0}

SPLIT = "tuning: {split: {train: 0.6, dev: 0.2, test: 0.2}}\n"
HIGH_GATE = "\n  human_alpha: {min: 0.9}"
SUFFIXES = {".csv", ".yaml"}


@dataclass(frozen=True)
class Step:
    """Edits that are read by one run.

    Args:
        edits: By name, with the exit code of `gates` after this edit alone, before the run.
        expected: After a run with all of these edits.
    """

    edits: Mapping[str, tuple[Edit, int]]
    expected: State


WALK = (
    Step(
        {
            "label in train": (change_label("train"), 3),
            "new response": (add_response, 3),
            "version": (declare("{id: harsh,", "{id: harsh, version: 1.0.1,"), 0),
            "split": (declare("gates:\n", f"{SPLIT}gates:\n"), 0),
        },
        State(0, AS_TESTED, HOLDS),
    ),
    Step(
        {"gate raised": (declare("severity: warn}", f"severity: warn}}{HIGH_GATE}"), 3)},
        State(3, UNKNOWN, dict.fromkeys(HOLDS, 4)),
    ),
    Step(
        {
            "gate lowered": (declare(HIGH_GATE, ""), 0),
            "split as before": (declare(SPLIT, ""), 3),
            "score": (change_score, 3),
        },
        State(0, AS_TESTED | {"verbose": 4}, HOLDS),
    ),
    Step(
        {"model": (rename_model, 0), "out": (delete_out, 3)},
        State(0, AS_TESTED, {"harsh-1.0.1": 0, "steady-1.0.0": 4, "steady-2.0.0": 0}),
    ),
    Step(
        {"label in test": (change_label("test"), 3), "rater": (remove_rater, 3)},
        State(0, UNKNOWN, {"harsh-1.0.1": 4, "steady-1.0.0": 4, "steady-2.0.0": 4}),
    ),
)

NOT_EVIDENCE = {"split", "split as before"}
"""Edits that no certificate rests on: nothing is unknown before the next run."""


def check_unread(folder: Evaluated, step: Step, before: State) -> None:
    """Make each edit of a step on its own, check what commands say of it, and take it back."""
    inputs = {path: path.read_bytes() for path in folder.path.iterdir() if path.suffix in SUFFIXES}
    for name, (edit, gates) in step.edits.items():
        edit(folder)
        unread = state_of(folder)
        if name in NOT_EVIDENCE:
            assert unread == before, name
        else:
            assert (unread.gates, unread.required) == (gates, UNKNOWN), name
            assert set(unread.verified.values()) <= {4}, name
        if len(step.edits) > 1:
            for path, content in inputs.items():
                path.write_bytes(content)


@pytest.mark.slow
def test_commands_agree_after_each_of_many_edits(planted: Evaluated) -> None:
    state = state_of(planted)
    assert state == State(0, AS_TESTED, HOLDS)

    for step in WALK:
        check_unread(planted, step, state)
        if len(step.edits) > 1:
            for edit, _ in step.edits.values():
                edit(planted)
        assert planted.call("run").returncode == step.expected.gates, [*step.edits]
        state = state_of(planted)
        assert state == step.expected, [*step.edits]
        assert contradictions(planted, state) == [], [*step.edits]
