"""Verdicts and figures for programs: JSON and Markdown, with the same exit codes."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.e2e.conftest import BEHIND_THE_GATES, WITHOUT_RESULTS, Evaluated

MEASURED = "+human_agreement,+judge_agreement,+judge_human_agreement"


def test_gates_as_markdown_are_a_heading_and_one_table(closed_folder: Evaluated) -> None:
    done = closed_folder.call("gates", "--format", "markdown")
    heading, blank, *rows, rule, step = done.stdout.strip().splitlines()

    assert done.returncode == 3
    assert heading == (
        "### made-up: Judges may not be tuned: raters do not agree enough (human_a_hh and "
        "human_alpha)."
    )
    assert blank == ""
    assert rule == ""
    assert step.startswith("**Do next:** Check whether a person reads the scale in reverse")
    assert len({row.count(" | ") for row in rows}) == 1
    assert len(rows) == 2 + 3 * 3  # head and rule; overall and two questions of three gates


def test_gates_as_json_hold_null_for_what_is_undefined(new_folder: Evaluated) -> None:
    done = new_folder.call("gates", "--json")
    gates = json.loads(done.stdout)

    assert done.returncode == 3
    assert {verdict["value"] for gate in gates for verdict in gate["verdicts"]} == {None}


@pytest.mark.slow
def test_a_run_as_json_prints_one_object_and_its_progress_on_stderr(
    closed_folder: Evaluated,
) -> None:
    done = closed_folder.call("run", "--json")
    printed = json.loads(done.stdout)

    assert done.returncode == 3
    assert {gate["gate"] for gate in printed["gates"] if gate["is_closed"]} == {
        *("human_a_hh", "human_alpha"),
    }
    assert printed["not_run"] == BEHIND_THE_GATES
    assert [row["question_id"] for row in printed["human_agreement"]] == [None, "clarity", "depth"]
    assert {row["scope"] for row in printed["judge_agreement"]} == {"overall", "question"}
    assert done.stderr.startswith("Evaluating ")


@pytest.mark.slow
def test_a_quiet_run_prints_closed_gates_and_findings_only(closed_folder: Evaluated) -> None:
    done = closed_folder.call("run", "--quiet")

    *lines, last = done.stdout.splitlines()
    assert [line.split(" is closed: ")[0] for line in lines[:2]] == ["human_a_hh", "human_alpha"]
    assert last == "Stopped before judge tuning: raters do not agree enough (exit code 3)."


@pytest.mark.slow
def test_a_quiet_run_of_open_gates_prints_no_verdict(open_folder: Evaluated) -> None:
    done = open_folder.call("run", "--quiet")

    assert (done.returncode, done.stderr) == (0, "")
    assert "human_a_hh" not in done.stdout


@pytest.mark.slow
def test_a_quiet_run_of_other_assets_prints_no_gate_that_it_did_not_judge(
    closed_folder: Evaluated,
) -> None:
    done = closed_folder.call("run", "--quiet", "--select", "judge_agreement")

    assert (done.returncode, done.stdout) == (0, "")


def test_the_agreement_of_raters_is_printed_as_one_object(closed_folder: Evaluated) -> None:
    done = closed_folder.call("irr", "--json")
    result = json.loads(done.stdout)

    assert done.returncode == 0
    assert result["workshop_id"] == "made-up"
    assert result["ready_to_proceed"] is False
    assert set(result["per_metric_scores"]) == {"clarity", "depth"}
    assert result["num_raters"] == 2
    scores = [metric["score"] for metric in result["details"]["per_metric_scores"].values()]
    assert result["pairwise_agreement"] == result["details"]["score"] == sum(scores) / 2
    assert result["details"]["gates"]["human_alpha"]["is_closed"] is True
    assert {row["scope"] for row in result["agreement"]} == {"overall", "question"}


@pytest.mark.slow
def test_ratings_that_were_exported_have_the_figures_they_had(
    open_folder: Evaluated, tmp_path: Path
) -> None:
    exported, back = tmp_path / "ratings.csv", Evaluated(tmp_path / "back")
    assert open_folder.call("export", "ratings", "--output", str(exported)).returncode == 0
    shutil.copytree(open_folder.path, back.path, ignore=WITHOUT_RESULTS)
    ratings = pd.read_csv(exported)
    labels = ratings.query("rater_kind == 'human'")
    labels.drop(columns=["rater_kind", "model"]).to_csv(back.path / "labels.csv", index=False)
    scores = ratings.query("rater_kind == 'judge'")[
        ["response_id", "question_id", "model", "rating"]
    ]
    scores.columns = ["response_id", "question_id", "judge_model", "score"]
    scores.to_csv(back.path / "scores.csv", index=False)
    assert back.call("run", "--select", MEASURED).returncode == 0

    for figures in (
        "SELECT question_id, a_hh, alpha, alpha_low, n_groups FROM human_agreement ORDER BY ALL",
        """SELECT question_id, alpha, alpha_low, n_units FROM judge_agreement
           WHERE scope <> 'response' ORDER BY ALL""",
        "SELECT judge_id, question_id, a_ha, alpha, bias FROM judge_human_agreement ORDER BY ALL",
    ):
        assert back.rows(figures) == [
            tuple(pytest.approx(v) if isinstance(v, float) else v for v in row)
            for row in open_folder.rows(figures)
        ]
