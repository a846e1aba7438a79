"""`eval-assets calibrate` is `check` of one question on two files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.calibrate import calibrate


def called(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        calibrate,
        [
            *("--human-labels", str(folder / "anna.json")),
            *("--judge-results", str(folder / "judge.csv")),
            *arguments,
        ],
        standalone_mode=False,
        catch_exceptions=False,
    )


@pytest.mark.parametrize("dimension", ["code-validity", "code_validity"])
def test_both_spellings_of_a_dimension_name_the_question(tmp_path: Path, dimension: str) -> None:
    labels = [{"scenarioId": f"s{k}", "codeParses": k % 3 > 0} for k in range(60)]
    export = {"dimension": "code-validity", "labelerId": "anna", "labels": labels}
    (tmp_path / "anna.json").write_text(json.dumps(export))
    rows = "".join(
        f"s{k},gpt,{question},{int(k % 4 > 0)}\n"
        for k in range(60)
        for question in ("code_validity", "completeness")
    )
    (tmp_path / "judge.csv").write_text(f"response_id,judge_model,question_id,score\n{rows}")

    result = called(tmp_path, "--dimension", dimension)
    figures = json.loads(called(tmp_path, "--dimension", dimension, "--json").stdout)

    assert "60 ratings: 60 items, 1 person, scale 0-1; judge gpt: 60 scores" in result.stdout
    assert result.return_value == 4
    assert "completeness" not in json.dumps(figures)


def test_two_classes_have_f1_and_the_items_of_each_error(tmp_path: Path) -> None:
    """38 passes and 4 failures agree, 4 are false passes and 4 false failures: F1 is 0.905."""
    counts = {(True, 1): 38, (False, 0): 4, (False, 1): 4, (True, 0): 4}
    pairs = [pair for pair, n in counts.items() for _ in range(n)]
    labels = [{"scenarioId": f"s{k}", "codeParses": human} for k, (human, _) in enumerate(pairs)]
    export = {"dimension": "code-validity", "labelerId": "anna", "labels": labels}
    (tmp_path / "anna.json").write_text(json.dumps(export))
    rows = "".join(f"s{k},gpt,code_validity,{judge}\n" for k, (_, judge) in enumerate(pairs))
    (tmp_path / "judge.csv").write_text(f"response_id,judge_model,question_id,score\n{rows}")

    lines = called(tmp_path, "--dimension", "code-validity").stdout.splitlines()
    document = json.loads(called(tmp_path, "--dimension", "code-validity", "--json").stdout)

    assert lines[-3:] == [
        "Errors of gpt on code-validity: F1 0.90",
        "   False passes (4): s42, s43, s44, s45",
        "   False failures (4): s46, s47, s48, s49",
    ]
    [figures] = document["judges"][0]["questions"]
    assert figures["f1"] == pytest.approx(76 / 84)
    [errors] = document["errors"]
    assert errors["false_failures"] == ["s46", "s47", "s48", "s49"]
    assert "f1" not in errors  # it is a figure of the judge
