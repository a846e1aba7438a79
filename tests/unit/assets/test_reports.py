"""Where the report is written, and where it is not."""

from pathlib import Path
from typing import Any

import pytest

from eval_assets.assets import reports
from eval_assets.assets.reports import write_report
from eval_assets.errors import StoreError


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
