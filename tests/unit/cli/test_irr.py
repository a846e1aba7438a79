"""`eval-assets irr` shows what was measured, and changes nothing."""

from pathlib import Path

from click.testing import CliRunner

from eval_assets.cli.init import init
from eval_assets.cli.irr import irr


def test_a_folder_without_figures_is_reported_what_to_run_and_stays_as_it_is(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "not run"
    CliRunner().invoke(init, [str(folder)], standalone_mode=False)
    inputs = sorted(folder.iterdir())

    outcome = CliRunner().invoke(irr, ["--data", str(folder)], standalone_mode=False)

    assert outcome.return_value == 1
    assert outcome.stderr == (f"There are no results. Run: eval-assets run --data '{folder}'\n")
    assert sorted(folder.iterdir()) == inputs


def test_a_folder_that_does_not_exist_is_reported_as_such(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(irr, ["--data", str(tmp_path / "no such")])

    assert isinstance(outcome.exception, ExceptionGroup)
    assert "there is no such folder" in str(outcome.exception.exceptions[0])
    assert not list(tmp_path.iterdir())
