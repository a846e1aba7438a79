"""Runs of a folder of evaluation folders, and of files that changed."""

import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.resources import files
from io import StringIO
from pathlib import Path

import pytest

from eval_assets.cli.certificates import certificates
from eval_assets.cli.exit_codes import DONE, FAILED, GATE_CLOSED
from eval_assets.cli.gates import gates
from eval_assets.cli.init import init
from eval_assets.cli.irr import irr
from eval_assets.cli.run import run
from tests.e2e.conftest import AGREEING, BASE, make

MINIMAL = Path(str(files("eval_assets.examples"))) / "minimal"


@pytest.fixture(autouse=True)
def _own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DAGSTER_HOME", "EVAL_DATABASE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@dataclass(frozen=True)
class Printed:
    """A run: its folder, its exit code, and what it printed."""

    folder: Path
    code: int
    out: str
    err: str


def printed_run(folder: Path, *options: str) -> Printed:
    """Run a folder, named as from where it lies."""
    stdout, stderr = StringIO(), StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        patch.chdir(folder.parent)
        code = run.main(["--data", folder.name, *options], standalone_mode=False)
    return Printed(folder, code, stdout.getvalue(), stderr.getvalue())


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """A run of three evaluations, of which the first two are wrong: not to be written."""
    folder = tmp_path_factory.mktemp("several") / "multi"
    for name, text in (
        ("first", "name: first\nrubrik: []\n"),
        ("second", "name: [\n"),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / "evaluation.yaml").write_text(text)
    shutil.copytree(MINIMAL, folder / "third")
    return printed_run(folder)


MEASURED = "+human_agreement,+judge_human_agreement,+judge_agreement"


@pytest.fixture(scope="module")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """A run that measures raters and judges: not to be written. One question is in doubt."""
    folder = make(tmp_path_factory.mktemp("measured") / "my data", AGREEING)
    in_doubt = [value if k % 8 else 6 - value for k, value in enumerate(BASE)]
    folder.label({"clarity": AGREEING, "depth": (BASE, in_doubt)})
    return printed_run(folder.path, "--select", MEASURED)


@pytest.fixture
def measured(measured_once: Printed, tmp_path: Path) -> Path:
    """A copy of its own of the measured folder, of which labels were removed since."""
    folder = shutil.copytree(measured_once.folder, tmp_path / "my data")
    labels = folder / "labels.csv"
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[:-9]))
    return folder


@pytest.mark.slow
def test_a_bad_evaluation_does_not_stop_the_later_ones(several: Printed) -> None:
    assert several.code == FAILED
    assert [line.split(":")[0] for line in several.err.splitlines()] == [
        "multi/first could not be evaluated",
        *3 * ["evaluation.yaml"],
        "multi/second could not be evaluated",
        "evaluation.yaml",
    ]
    assert "Evaluating multi/third" in several.out
    assert (several.folder / "third" / "out" / "report.html").exists()


def test_gates_of_people_close_no_run_of_judges_alone(tmp_path: Path) -> None:
    folder = make(tmp_path / "judged", AGREEING)
    folder.label({})

    done = printed_run(folder.path, "--select", f"{MEASURED},judge_splits")

    assert done.code == DONE, done.err
    assert "Stopped before judge tuning: agreement is not measured.\n" in done.out


@pytest.mark.slow
def test_figures_of_judges_on_earlier_labels_are_marked_as_stale(
    measured_once: Printed, measured: Path
) -> None:
    of_judges = (
        "judge_human_agreement is stale: the ratings or scales changed since it was measured"
    )

    stale = printed_run(measured, "--select", "+human_agreement", "--verbose").out
    result = json.loads(printed_run(measured, "--select", "+human_labels", "--json").out)

    assert "Can we trust our labels?" in measured_once.out
    assert "stale" not in measured_once.out
    assert f"{of_judges}. Run eval-assets run --data 'my data'.\n\nJudges against humans" in stale
    assert result["stale_because"]["judge_human_agreement"].startswith(of_judges)


def test_gates_are_stale_if_labels_were_read_before_a_question_was_added(
    measured_once: Printed, tmp_path: Path
) -> None:
    """Its labels may be in the file already, which a run of the figures alone does not read."""
    folder = shutil.copytree(measured_once.folder, tmp_path / "my data")
    path = folder / "evaluation.yaml"
    rubric = "rubric:\n  - {id: later, question: Later?, scale: binary}\n"
    path.write_text(path.read_text().replace("rubric:\n", rubric, 1))

    done = printed_run(folder, "--select", "human_agreement", "--json")

    assert done.code == GATE_CLOSED
    reason = "stale: the files of rubric_questions changed since they were read. "
    for outcome in json.loads(done.out)["gates"]:
        assert outcome["is_closed"]
        assert outcome["reason"].startswith(reason)


def test_the_remedy_of_stale_figures_names_the_folder(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for command in (gates, irr, certificates):
        command.main(["--data", measured.name], standalone_mode=False)
        printed.append(capsys.readouterr().out)

    remedy = "eval-assets run --data 'my data'"
    assert all(remedy in " ".join(text.split()) for text in printed)
    assert "Do next" not in printed[1]


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
    make(tmp_path / "sample", AGREEING)
    code = run.main(["--data", "sample", "--select", asset], standalone_mode=False)

    command = "Run eval-assets run --data sample, or materialize it in the UI"
    assert code == FAILED
    assert capsys.readouterr().err == f"{missing}: not materialized yet. {command}\n"


def test_certificates_of_no_run_are_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    code = certificates.main(["--data", str(MINIMAL), "--json"], standalone_mode=False)
    printed = capsys.readouterr()

    assert (code, json.loads(printed.out)) == (0, [])
    assert printed.err.startswith("There are no results. Run: ")


def test_an_evaluation_without_ratings_says_how_many_responses_there_are(tmp_path: Path) -> None:
    init.main([str(tmp_path / "new"), "--example", "pairwise"], standalone_mode=False)

    output = printed_run(tmp_path / "new").out

    assert "Read  6 responses, and no ratings of them" in output
    assert "Have two people rate the same 6 responses." in output
