"""`eval-assets irr` shows what was measured, and changes nothing."""

from pathlib import Path

from click.testing import CliRunner

from eval_assets.cli.irr import irr


def test_a_folder_without_figures_is_reported_what_to_run_and_stays_as_it_is(
    tmp_path: Path,
) -> None:
    outcome = CliRunner().invoke(irr, ["--data", str(tmp_path / "no such")], standalone_mode=False)

    assert outcome.return_value == 1
    assert outcome.stderr == (
        f"Nothing is measured yet. Run: eval-assets run --data '{tmp_path}/no such'\n"
    )
    assert not list(tmp_path.iterdir())
