"""The report in a real browser: readable at every width, without a script, and by everybody."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_assets.report.content import render_html
from tests.browser.conftest import CHROMIUM, OpenPage, violations
from tests.unit.report.builder import CASES, Case, many_disagreements, twelve_questions

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
WIDTHS = (390, 1440)
LABEL = "Disagreements between raters"


def column(page: "Page", place: int) -> list[str]:
    """Return the visible cells of a column of the table of disagreements."""
    rows = page.locator(f'[aria-label="{LABEL}"] tbody tr:visible')
    return [row.locator("th, td").nth(place).inner_text().split("\n")[0] for row in rows.all()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["plain", "attacked", "twelve questions"])
def test_the_page_has_no_barriers(
    name: str, width: int, scheme: str, open_page: OpenPage, axe: str
) -> None:
    page = open_page(
        render_html(CASES[name].data()), width=width, color_scheme=scheme, bypass_csp=True
    )
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")

    assert violations(page, axe) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_the_page_is_never_wider_than_the_window(
    name: str, width: int, open_page: OpenPage
) -> None:
    page = open_page(render_html(CASES[name].data()), width=width)

    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_what_stands_above_a_table_is_read_without_scrolling_it_sideways(
    width: int, open_page: OpenPage
) -> None:
    page = open_page(render_html(Case(alpha_within=0.7).data()), width=width)

    ends = page.evaluate(
        "[...document.querySelectorAll('caption div')].filter(e => e.offsetWidth)"
        ".map(e => e.getBoundingClientRect().right)"
    )
    assert ends
    assert max(ends) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_answer_and_next_step_are_on_the_first_screen(width: int, open_page: OpenPage) -> None:
    page = open_page(render_html(Case().data()), width=width)

    for place in (page.locator("h1"), page.locator(".answer"), page.locator(".next")):
        box = place.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900


def test_a_click_on_a_column_sorts_by_it_and_another_reverses(open_page: OpenPage) -> None:
    page = open_page(render_html(many_disagreements(30)))
    button = page.locator(f'[aria-label="{LABEL}"] thead button').nth(4)

    button.click()
    apart = [float(shown) for shown in column(page, 4)]
    assert apart == sorted(apart)
    assert len(set(apart)) > 1
    button.click()
    assert [float(shown) for shown in column(page, 4)] == sorted(apart, reverse=True)
    assert page.locator(f'[aria-label="{LABEL}"] th[aria-sort="descending"]').count() == 1


def test_a_filter_shows_the_rows_that_hold_the_words(open_page: OpenPage) -> None:
    page = open_page(render_html(many_disagreements(30)))

    page.get_by_label("Filter").fill("RESP-7")
    assert column(page, 0) == ["resp-7"]
    assert page.locator(".filter output").inner_text().strip() == "1 of 30 rows"
    page.get_by_label("Filter").fill("")
    assert len(column(page, 0)) == 30


def test_without_scripts_every_row_and_text_can_be_read(open_page: OpenPage) -> None:
    page = open_page(render_html(many_disagreements(30)), java_script_enabled=False)

    assert len(column(page, 0)) == 30
    assert page.locator("thead button").count() == 0
    page.locator("details.texts summary").first.click()
    assert page.locator("details.texts .quoted").first.is_visible()


def test_every_link_leads_to_a_place_that_is_shown(open_page: OpenPage) -> None:
    html = render_html(Case(measured=twelve_questions()).data())
    page = open_page(html)
    targets = sorted(set(re.findall(r'href="#([^"]+)"', html)))
    assert len(targets) > 20
    for target in targets:
        page.evaluate("target => { location.hash = target; }", target)
        page.wait_for_function(
            "id => document.getElementById(id)?.offsetParent !== undefined", arg=target
        )
        assert page.locator(f'[id="{target}"]').is_visible(), target


def test_a_printed_page_holds_the_summaries_of_what_is_folded(open_page: OpenPage) -> None:
    page = open_page(render_html(Case().data()))
    page.emulate_media(media="print")

    assert page.locator("details > summary").first.is_visible()
    assert not page.get_by_text("Use sorted with a key that returns a tuple.").first.is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator(".filter").count() == 0 or not page.locator(".filter").first.is_visible()


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_the_report_on_the_sample_prints_on_at_most_twelve_pages(
    tmp_path: Path, program_folder: Path
) -> None:
    ignored = shutil.ignore_patterns("out", "ledger*")
    data = shutil.copytree(TOP / "data" / "sample", tmp_path / "sample", ignore=ignored)
    program = [str(program_folder / "eval-assets"), "run", "--data", str(data)]
    subprocess.run(program, check=True, capture_output=True, cwd=tmp_path)
    pdf = tmp_path / "report.pdf"
    options = ("--headless", "--no-sandbox", "--no-pdf-header-footer", f"--print-to-pdf={pdf}")
    report = (data / "out" / "report.html").as_uri()
    subprocess.run([str(CHROMIUM), *options, report], check=True, capture_output=True)

    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= 12


def test_texts_from_data_run_nothing(open_page: OpenPage) -> None:
    page = open_page(render_html(CASES["attacked"].data()))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))

    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page.locator("img").count() == 0
    assert dialogs == []
