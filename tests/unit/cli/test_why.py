"""`eval-assets why` says what to do where it cannot answer."""

from pathlib import Path

from click.testing import CliRunner

from eval_assets.cli.init import init
from eval_assets.cli.why import why


def test_folder_without_figures_is_told_what_to_run(tmp_path: Path) -> None:
    CliRunner().invoke(init, [str(tmp_path)], standalone_mode=False)

    outcome = CliRunner().invoke(
        why, ["helpfulness", "--data", str(tmp_path)], standalone_mode=False
    )

    assert outcome.return_value == 1
    assert outcome.stderr == f"There are no results. Run: eval-assets run --data {tmp_path}\n"


def test_unknown_question_lists_those_declared(tmp_path: Path) -> None:
    CliRunner().invoke(init, [str(tmp_path)], standalone_mode=False)

    outcome = CliRunner().invoke(why, ["no-such", "--data", str(tmp_path)])

    assert outcome.exit_code == 2
    assert "There is no question no-such (one of " in outcome.stderr
