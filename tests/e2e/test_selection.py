"""Evaluations of which part of the responses has two ratings."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.run import run as run_command
from eval_assets.config.tuning import SplitShares
from eval_assets.tuning.rated import split_of
from tests.e2e.conftest import Evaluated

DATA = Path(__file__).parents[2] / "data"
ALL = "FROM rated_response_selection ORDER BY ALL"
COMPARED = ("--select", "+rated_response_selection")


def copied(name: str, path: Path) -> Evaluated:
    ignored = shutil.ignore_patterns("out", "ledger.sqlite*")
    return Evaluated(shutil.copytree(DATA / name, path / name, ignore=ignored))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def replace_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def run(folder: Evaluated, *arguments: str) -> str:
    return CliRunner().invoke(run_command, ["--data", str(folder.path), *arguments]).output


@pytest.mark.slow
def test_long_responses_with_two_ratings_are_named_everywhere(
    tmp_path: Path,
) -> None:
    folder = copied("stories", tmp_path)
    lengths = {
        row["response_id"]: len(row["response_text"])
        for row in rows_of(folder.path / "responses.csv")
    }
    middle = sorted(lengths.values())[len(lengths) // 2]
    labels = rows_of(folder.path / "labels.csv")
    selection = [
        r for r in labels if r["rater_id"] == "slot1" or lengths[r["response_id"]] > middle
    ]
    replace_rows(folder.path / "labels.csv", selection)

    printed = run(folder)

    assert "Responses with two ratings are longer (mean rank 0." in printed
    report = (folder.path / "out" / "report.md").read_text("utf-8")
    assert "Responses with two ratings differ from the rest" in report
    assert "A^HH, weighted" in report
    content = json.loads((folder.path / "out" / "report.json").read_text("utf-8"))
    assert len(content["human_agreement_weighted"]) == 6
    assert folder.rows(
        "SELECT DISTINCT n_asked, 0 < n_responses AND n_responses < n_asked "
        "FROM human_agreement_weighted"
    ) == [(1_056, True)]
    assert folder.rows(
        "SELECT DISTINCT difference FROM rated_response_selection WHERE feature = 'length'"
    ) == [("are longer",)]


@pytest.mark.slow
def test_nothing_is_compared_if_all_responses_have_two_ratings(tmp_path: Path) -> None:
    folder = copied("sample", tmp_path)

    run(folder, "--select", "+rated_response_selection,+human_agreement")
    assert folder.rows("SELECT count(*) > 0 FROM human_agreement") == [(True,)]
    assert folder.rows(ALL) == []
    assert folder.rows("SELECT * FROM human_agreement_weighted") == []


@pytest.mark.slow
def test_scores_under_a_seal_are_not_compared(tmp_path: Path) -> None:
    """Scores of test responses, labelled or not, change nothing that is compared."""
    folder = copied("tuning", tmp_path)
    labels = rows_of(folder.path / "labels.csv")
    declared = (folder.path / "evaluation.yaml").read_text("utf-8")
    (folder.path / "evaluation.yaml").write_text(
        f"{declared}\ntuning: {{evaluate: never}}\n", "utf-8"
    )
    second = sorted({row["rater_id"] for row in labels})[1]
    responses = sorted({row["response_id"] for row in labels})
    single = set(responses[::3])
    replace_rows(
        folder.path / "labels.csv",
        [r for r in labels if r["response_id"] not in single or r["rater_id"] < second],
    )
    run(folder, *COMPARED)
    raw = "SELECT judge_id, response_id, raw_score FROM judge_scores ORDER BY ALL"
    before, scores_before = folder.rows(ALL), folder.rows(raw)
    scores = rows_of(folder.path / "judge_scores.csv")
    for row in scores:
        if split_of(row["response_id"].partition("-")[0], SplitShares()) == "test":
            row["score"] = "5" if row["response_id"] in single else "1"
    replace_rows(folder.path / "judge_scores.csv", scores)

    run(folder, *COMPARED)

    assert len(before) > 0
    assert folder.rows(raw) != scores_before
    assert any("judge_score" in row for row in before)
    assert folder.rows(ALL) == before
