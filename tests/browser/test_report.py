"""The report in a real browser: readable at every width, without a script, and by everybody."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_assets.shown.html import report_page
from tests.browser.conftest import CHROMIUM, OpenPage, violations_by_day_and_night
from tests.unit.shown.reports import CASES, case

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
WIDTHS = (390, 1280)
OPEN = "document.querySelectorAll('details').forEach(fold => fold.open = true)"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_the_page_has_no_barriers_and_is_never_wider_than_the_window(
    name: str, width: int, open_page: OpenPage, axe: str
) -> None:
    page = open_page(report_page(case(name)), width=width, bypass_csp=True)
    page.evaluate(OPEN)

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations_by_day_and_night(page, axe) == []


def end_of(page: "Page", selector: str) -> float:
    """Return where an element ends on the page."""
    return float(
        page.evaluate(
            "of => document.querySelector(of).getBoundingClientRect().bottom + scrollY", selector
        )
    )


@pytest.mark.parametrize("name", ["plain", "no judges", "one rater"])
def test_answers_and_next_step_are_seen_without_scrolling_far(
    name: str, open_page: OpenPage
) -> None:
    wide, narrow = (open_page(report_page(case(name)), width=width) for width in (1280, 390))

    assert end_of(wide, ".next") <= 900
    assert end_of(narrow, ".next") <= 2 * 844


def test_every_link_leads_to_a_place_below_the_sticky_bar(open_page: OpenPage) -> None:
    html = report_page(case("twelve questions"))
    page = open_page(html)
    targets = sorted(set(re.findall(r'href="#([^"]+)"', html)))
    assert targets == ["details", "disagreements", "next"]
    for target in targets:
        page.evaluate("target => { location.hash = target; }", target)
        top, bar = page.evaluate(
            "id => [document.getElementById(id).getBoundingClientRect().top,"
            " document.querySelector('header').getBoundingClientRect().bottom]",
            target,
        )
        assert top >= bar, target


def test_closed_sections_open_without_a_script(open_page: OpenPage) -> None:
    page = open_page(report_page(case("plain")), java_script_enabled=False)
    inside = page.locator("#severity .inside")

    assert not inside.is_visible()
    page.locator("#severity summary").click()
    assert inside.is_visible()


def test_texts_from_data_run_nothing(open_page: OpenPage) -> None:
    page = open_page(report_page(case("attacked")))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))

    page.evaluate(OPEN)
    assert page.locator("img").count() == 0
    assert dialogs == []


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_the_report_on_a_published_study_is_short_and_prints_on_few_pages(
    tmp_path: Path, program_folder: Path, open_page: OpenPage
) -> None:
    ignored = shutil.ignore_patterns("out", "ledger*")
    data = shutil.copytree(TOP / "data" / "code", tmp_path / "code", ignore=ignored)
    program = [str(program_folder / "eval-assets"), "run", "--data", str(data)]
    subprocess.run(program, check=True, capture_output=True, cwd=tmp_path)
    report = data / "out" / "report.html"
    pdf = tmp_path / "report.pdf"
    options = ("--headless", "--no-sandbox", "--no-pdf-header-footer", f"--print-to-pdf={pdf}")
    subprocess.run([str(CHROMIUM), *options, report.as_uri()], check=True, capture_output=True)
    page = open_page(report.read_text("utf-8"))

    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= 6
    assert 300 <= len(page.locator("body").inner_text().split()) <= 1500
