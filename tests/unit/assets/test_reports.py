"""Where the report is written, and where it is not."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_assets.assets import reports
from eval_assets.assets.reports import history_rows, write_report
from eval_assets.errors import StoreError
from tests.unit.cases import Case


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A report that is nothing but the name of its format."""
    for name in ("report_page", "report_markdown", "report_json"):
        monkeypatch.setattr(reports, name, lambda *_, name=name: name)
    return None


def test_every_format_is_written(data: Any, tmp_path: Path) -> None:
    written = write_report(data, data, tmp_path / "out")

    assert [path.read_text() for path in written] == [
        "report_page",
        "report_markdown",
        "report_json",
    ]


def test_a_link_in_place_of_the_report_is_not_followed(data: Any, tmp_path: Path) -> None:
    other_place = tmp_path / "mine.html"
    other_place.write_text("mine")
    (tmp_path / "report.html").symlink_to(other_place)

    with pytest.raises(StoreError, match=r"report\.html: is a link, .* Remove it\.$"):
        write_report(data, data, tmp_path)
    assert other_place.read_text() == "mine"


def test_a_folder_in_place_of_the_report_is_one_line(data: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()

    with pytest.raises(StoreError, match=r"cannot be written \(Is a directory\)"):
        write_report(data, data, tmp_path)


NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_history_row_joins_figures_of_humans_and_judges() -> None:
    case = Case()
    overall, clarity, _ = history_rows(case.humans(), case.judge_rows(), run_id="run-1", at=NOW)

    assert (overall["scope"], overall["question_id"]) == ("overall", None)
    assert (clarity["scope"], clarity["question_id"]) == ("question", "clarity")
    assert (clarity["a_hh"], clarity["alpha"], clarity["judge_alpha"]) == (0.88, 0.81, 0.83)
    assert (overall["run_id"], overall["measured_at"]) == ("run-1", NOW)
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1 v1", "abc")


def test_history_row_without_judges_is_of_humans_alone() -> None:
    overall, *_ = history_rows(Case().humans(), [], run_id="run-1", at=NOW)

    assert overall["judge_alpha"] is None
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1", None)
