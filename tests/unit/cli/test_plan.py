"""Numbers of further responses, the same on every screen."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.plan import plan
from eval_assets.wording import planned_text
from tests.e2e.conftest import Evaluated

MEASURED = (
    *("rubric_questions", "model_responses", "human_labels", "label_disagreements"),
    *("adjudicated_labels", "human_agreement"),
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An only question, on which neither gate is certain."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clear, question: Is it clear?, scale: likert5}\n"
        "gates: {human_a_hh: {min: 0.87}, human_alpha: {min: 0.75}}\n"
    )
    values = [1 + (k % 5 if k % 4 else 0) for k in range(40)]
    pairs = [(v, min(5, v + (0, 1, 0, 2, 0, 0, 1)[k % 7])) for k, v in enumerate(values)]
    labels = [
        f"r{k},{rater},clear,{value}"
        for k, pair in enumerate(pairs)
        for rater, value in zip(("anna", "ben"), pair, strict=True)
    ]
    header = "response_id,rater_id,question_id,rating"
    (folder / "labels.csv").write_text("\n".join([header, *labels]))
    rows = [f"r{k},p{k},answer,m" for k in range(40)]
    header = "response_id,prompt_text,response_text,model_name"
    (folder / "responses.csv").write_text("\n".join([header, *rows]))
    assert Evaluated(folder).materialize(*MEASURED, checks=False).success
    return folder


def planned(folder: Path, *options: str) -> Result:
    arguments = ["--data", str(folder), *options]
    return CliRunner().invoke(plan, arguments, standalone_mode=False)


def numbers(text: str) -> set[str]:
    return set(re.findall(r"about [0-9,]+", text))


def test_the_plan_begins_with_the_largest_number(measured: Path) -> None:
    done = planned(measured)

    assert done.return_value == 0
    answer, *rows = done.stdout.splitlines()
    largest = max(int(text.split()[1].replace(",", "")) for text in numbers("\n".join(rows)))
    assert answer == f"About {planned_text(largest)} more responses settle what is open."


def test_json_has_the_numbers(measured: Path) -> None:
    rows = json.loads(planned(measured, "--json").stdout)

    assert [(row["gate"], row["question_id"]) for row in rows] == [
        *(("human_a_hh", "clear"), ("human_alpha", "clear"))
    ]
    assert {f"about {row['n_more']:,}" for row in rows} == numbers(planned(measured).stdout)


def test_certain_verdicts_take_no_more(measured: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(measured, tmp_path / "certain")
    declared = (folder / "evaluation.yaml").read_text()
    declared = declared.replace("0.87", "0.5").replace("0.75", "0.99")
    (folder / "evaluation.yaml").write_text(declared)

    output = planned(folder).stdout
    assert output.startswith("Every gate is settled")
    assert output.count(" none\n") == 2


def test_folder_without_figures_is_told_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clear, question: Is it clear?, scale: binary}\n"
    )
    (tmp_path / "responses.csv").write_text("response_id,prompt_text,response_text,model_name\n")
    done = planned(tmp_path)

    assert done.return_value == 1
    assert done.stderr.startswith("There are no results. Run: eval-assets run")
