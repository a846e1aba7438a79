"""`eval-assets calibrate` needs two files and nothing else."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from eval_assets.cli.calibrate import calibrate

FOLDER = Path(__file__).parents[3] / "data" / "tuning"


def called(*arguments: str) -> Result:
    return CliRunner().invoke(
        calibrate,
        [
            *("--human-labels", str(FOLDER / "labels.csv")),
            *("--judge-results", str(FOLDER / "judge_scores.csv")),
            *("--dimension", "completeness", *arguments),
        ],
        standalone_mode=False,
        catch_exceptions=False,
    )


def test_figures_stand_beside_their_targets_and_the_confusion_table() -> None:
    result = called("--judge", "steady", "--scale", "1-5")

    assert result.return_value == 0
    assert "450 items with ratings and a result" in result.stdout
    [rho] = [line.split() for line in result.stdout.splitlines() if line.startswith("rho")]
    assert rho[-1] == "yes"
    assert "False positives (passed by the judge alone): 36. False negatives: 30." in result.stdout


def test_json_has_every_figure_and_targets_of_the_folder(tmp_path: Path) -> None:
    text = (FOLDER / "evaluation.yaml").read_text() + "tuning: {targets: {rho: 0.99}}\n"
    (tmp_path / "evaluation.yaml").write_text(text)
    for name in ("responses.csv", "judge_scores.csv"):
        (tmp_path / name).symlink_to(FOLDER / name)
    result = json.loads(called("--judge", "steady", "--json", "--data", str(tmp_path)).stdout)

    assert result["n_items"] == 450
    assert result["rho"]["low"] < result["rho"]["value"] < result["rho"]["high"]
    [rho] = [target for target in result["targets"] if target["name"] == "rho"]
    assert (rho["target"], rho["is_met"]) == (0.99, False)
    assert sum(cell["n"] for cell in result["confusion"]) == 450
