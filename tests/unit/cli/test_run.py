"""Runs of a folder of evaluation folders, and of files that changed or did not."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import click
import pytest

from eval_assets.cli.certificates import certificates
from eval_assets.cli.exit_codes import FAILED
from eval_assets.cli.gates import gates
from eval_assets.cli.irr import irr
from eval_assets.cli.run import run
from eval_assets.store.connection import connect

MINIMAL = Path(str(files("eval_assets.examples"))) / "minimal"
SAMPLE = Path(__file__).parents[3] / "data" / "sample"


@pytest.fixture(autouse=True)
def _own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DAGSTER_HOME", "EVAL_DATABASE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_a_bad_evaluation_does_not_stop_the_later_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (
        ("first", "name: first\nrubrik: []\n"),
        ("second", "name: [\n"),
    ):
        (tmp_path / "multi" / name).mkdir(parents=True)
        (tmp_path / "multi" / name / "evaluation.yaml").write_text(text)
    shutil.copytree(MINIMAL, tmp_path / "multi" / "third")

    code = run.main(["--data", "multi"], standalone_mode=False)

    printed = capsys.readouterr()
    assert code == FAILED
    assert [line.split(":")[0] for line in printed.err.splitlines()] == [
        "multi/first could not be evaluated",
        *3 * ["evaluation.yaml"],
        "multi/second could not be evaluated",
        "evaluation.yaml",
    ]
    assert "Evaluating multi/third" in printed.out
    assert (tmp_path / "multi" / "third" / "out" / "report.html").exists()


def test_figures_of_judges_on_earlier_labels_are_marked_as_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "sample"
    shutil.copytree(SAMPLE, data, ignore=shutil.ignore_patterns("out", "ledger*"))
    options = ["--data", "sample", "--select"]
    of_judges = (
        "judge_human_agreement is stale: the ratings or scales changed since it was measured"
    )

    run.main([*options, "+human_agreement,+judge_human_agreement"], standalone_mode=False)
    current = capsys.readouterr().out
    labels = data / "labels.csv"
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[:-9]))
    run.main([*options, "+human_agreement"], standalone_mode=False)
    stale = capsys.readouterr().out
    run.main([*options, "+human_agreement", "--json"], standalone_mode=False)
    result = json.loads(capsys.readouterr().out)

    assert "Judges against humans" in current
    assert "stale" not in current
    assert f"{of_judges}. Run eval-assets run --data sample.\n\nJudges against humans" in stale
    assert result["stale_because"]["judge_human_agreement"].startswith(of_judges)


def test_the_remedy_of_stale_figures_names_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "my data"
    shutil.copytree(SAMPLE, data, ignore=shutil.ignore_patterns("out", "ledger*"))
    options = ["--data", "my data"]
    run.main(
        [*options, "--select", "+human_agreement,+judge_human_agreement"], standalone_mode=False
    )
    capsys.readouterr()
    labels = data / "labels.csv"
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[:-9]))

    printed = []
    for command in (gates, irr, certificates):
        command.main(options, standalone_mode=False)
        printed.append(capsys.readouterr().out)

    assert all("Run eval-assets run --data 'my data'" in text for text in printed)
    remarks = [line for line in printed[1].splitlines() if line.split(": ")[0].isidentifier()]
    assert remarks
    assert all(line.endswith(".") for line in remarks)


def test_certificates_are_stale_in_every_form_once_labels_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "sample"
    shutil.copytree(SAMPLE, data, ignore=shutil.ignore_patterns("out", "ledger*"))
    options = ["--data", "sample"]
    select = "+judge_human_agreement,+judge_agreement"
    run.main([*options, "--select", select], standalone_mode=False)
    with connect(data / "out" / "eval.duckdb", folder=data) as connection:
        connection.execute(
            """INSERT INTO judge_certificates BY NAME SELECT 'wren' AS judge_id, '1.0.0' AS version,
               'helpfulness' AS question_id, 'fit' AS fitness, 'unchanged' AS improvement,
               'as people' AS reason, 40 AS n_groups, 1 AS n_readings, now() AS created_at"""
        )
    labels = data / "labels.csv"
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[:-9]))
    capsys.readouterr()

    def printed(command: click.Command, *arguments: str) -> str:
        command.main([*options, *arguments], standalone_mode=False)
        return capsys.readouterr().out

    reason = "the files of human_labels changed since the last full run"
    [row] = json.loads(printed(certificates, "--json"))
    assert row["stale_because"].startswith(reason)
    assert f"stale: {reason}" in printed(certificates)
    assert f"stale: {reason}" in printed(gates, "--format", "markdown")
    assert printed(certificates, "--require", "wren").startswith(f"cannot tell: {reason}")
    run.main([*options, "--select", "human_labels,agreement_report"], standalone_mode=False)
    capsys.readouterr()
    [row] = json.loads(printed(certificates, "--json"))
    assert row["stale_because"].startswith("the ratings or scales changed")
    report = (data / "out" / "report.md").read_text()
    assert "wren on helpfulness: stale, because the ratings or scales changed" in report
    assert "judge_human_agreement is stale" in report


@pytest.mark.parametrize(
    ("asset", "missing"),
    [
        ("human_labels", "model_responses"),
        ("judge_scores", "model_responses"),
        ("human_agreement", "human_labels"),
        ("judge_human_agreement", "judge_scores"),
    ],
)
def test_an_asset_before_those_that_it_needs_names_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asset: str, missing: str
) -> None:
    shutil.copytree(SAMPLE, tmp_path / "sample", ignore=shutil.ignore_patterns("out", "ledger*"))
    code = run.main(["--data", "sample", "--select", asset], standalone_mode=False)

    command = "Run eval-assets run --data sample"
    assert code == FAILED
    assert capsys.readouterr().err == f"{missing}: not materialized yet. {command}\n"


def test_certificates_of_no_run_are_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    code = certificates.main(["--data", str(MINIMAL), "--json"], standalone_mode=False)
    printed = capsys.readouterr()

    assert (code, json.loads(printed.out)) == (0, [])
    assert printed.err.startswith("There are no results. Run: ")


def test_only_files_that_a_run_reads_start_another_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "minimal"
    shutil.copytree(MINIMAL, data)

    def is_unchanged() -> bool:
        run.main(["--data", "minimal"], standalone_mode=False)
        return capsys.readouterr().out.startswith("Nothing changed in minimal")

    runs = [is_unchanged()]
    for name, text in (
        ("irr.json", "{}"),
        ("notes/today.md", "Ask Ana."),
        ("assignments.csv", "response_id,rater_id\n"),
        ("evaluation.yaml", (data / "evaluation.yaml").read_text() + "\n"),
    ):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(text)
        runs.append(is_unchanged())

    assert runs == [False, True, True, False, False]
