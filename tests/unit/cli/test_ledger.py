"""`eval-assets ledger`: shown, copied and exported."""

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from eval_assets.cli.ledger import ledger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.unit.store.ledger.conftest import attempt, batch_of, failed, prompts_of

NOW = datetime.now(tz=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation folder with four attempts in its ledger and a batch under way."""
    (tmp_path / "evaluation.yaml").write_text(
        "name: poems\nbudget_usd_per_month: 2\nrubric: [{id: q, question: Good?, scale: binary}]\n"
    )
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\nr1,?,!,m\n"
    )
    with (
        open_ledger(tmp_path, evaluation="poems", setting=None) as opened,
        Worker(opened, asset="judge_scores", run_id="run-1") as worker,
    ):
        worker.record([attempt("a", started_at=NOW), failed("b", started_at=NOW)], prompts_of("a"))
        unknown = attempt("c", started_at=NOW, cost_usd=None, charged_usd=0.05)
        worker.record([unknown, attempt("d", started_at=NOW, judge_id="haiku")])
        batch = batch_of("intent-1", "e", "f", judge_id="haiku", most_usd=0.03)
        worker.store_batch(replace(batch, batch_id="batch-1"))
    return tmp_path


@pytest.fixture
def program(folder: Path) -> "Program":
    """The command on that folder."""
    return Program(folder)


class Program:
    """The command on one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> str:
        """Return what the command prints."""
        inputs = [*arguments, "--data", str(self.folder)]
        done = CliRunner().invoke(ledger, inputs, standalone_mode=False, catch_exceptions=False)
        return done.stdout


def test_spending_is_shown_by_judge_model_day_and_run(program: Program) -> None:
    shown = program()

    rows = [line.split() for line in shown.splitlines()]
    assert ["gpt", "3", "2", "300", "30", "0.0100", "+", "1", "unknown", "0.0600"] in rows
    assert ["haiku", "1", "1", "100", "10", "0.0100", "0.0100"] in rows
    assert [row[0] for row in rows if "0.0700" in row] == [
        "gpt-6-luna",
        f"{NOW.date()}",
        "run-1",
    ]
    # The batch counts with the most that it can cost.
    assert "This month  0.1000 of 2 USD at most" in shown


def test_open_batches_are_shown(program: Program) -> None:
    assert ["haiku", "batch-1", "run-1"] in [line.split()[:3] for line in program().splitlines()]


def test_an_export_holds_prompt_and_raw_reply_in_every_format(
    program: Program, tmp_path: Path
) -> None:
    file = tmp_path / "made" / "ledger.parquet"
    program("export", "--format", "parquet", "--output", str(file))
    copy = duckdb.from_parquet(str(file))
    first, *rows = csv.DictReader(program("export").splitlines())
    lines = program("export", "--format", "jsonl").splitlines()

    assert (len(copy), len(rows), len(lines)) == (4, 3, 4)
    assert list(first) == copy.columns
    assert json.loads(lines[0])["prompt"] == first["prompt"] == '{"messages": ["Rate a."]}'
    assert first["raw_reply"] == '{"choices": ["4"]}'
    assert (first["run_id"], first["asset"]) == ("run-1", "judge_scores")


def test_nothing_but_the_ledger_is_needed(program: Program) -> None:
    assert program("export").count("run-1") == 4
    assert not (program.folder / "out").exists()


def test_a_batch_is_forgotten_on_request(folder: Path) -> None:
    command = ["--data", str(folder), "--forget-batch"]
    result = CliRunner().invoke(ledger, [*command, "batch-1"])
    assert result.output == "batch-1 is forgotten. The next run submits its 2 requests again.\n"
    repeat = CliRunner().invoke(ledger, [*command, "batch-1"])
    assert repeat.exit_code == 2
    assert "no such batch is open" in repeat.output
