"""The sensor that runs everything when files of the evaluation change."""

from pathlib import Path

import dagster as dg

from eval_assets.assets.folder import EvaluationFolder
from eval_assets.assets.rerun import new_files


def ticked(folder: Path, cursor: str | None) -> tuple[list[str | None], str | None]:
    """Keys of the runs that one look at the folder requests, and what it remembers."""
    context = dg.build_sensor_context(
        cursor=cursor, resources={"folder": EvaluationFolder(data=str(folder))}
    )
    found = new_files(context)
    return [found.run_key] if isinstance(found, dg.RunRequest) else [], context.cursor


def test_each_state_of_the_files_is_run_once(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("one")
    first, seen = ticked(tmp_path, None)
    again, seen = ticked(tmp_path, seen)
    labels.write_text("another")
    changed, seen = ticked(tmp_path, seen)
    (tmp_path / "responses").mkdir()
    (tmp_path / "responses" / "more.csv").write_text("x")
    added, _ = ticked(tmp_path, seen)

    assert again == []
    assert len({*first, *changed, *added}) == 3


def test_what_the_program_writes_itself_starts_no_run(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("one")
    _, seen = ticked(tmp_path, None)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("report")

    assert ticked(tmp_path, seen)[0] == []
