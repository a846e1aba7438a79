"""A real browser for pages, from Debian, driven by Playwright, and axe-core's rules."""

import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

# A page costs the shell a fifth of the time: it has no window to draw around it.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
AXE = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"

_PATIENCE_MS = 180_000

OpenPage = Callable[..., "Page"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a skipped test fail in CI, which installs all that these tests need."""
    report = yield
    if report.skipped and "EVAL_ASSETS_NO_SKIPS" in os.environ:
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    """One browser for all tests of this package.

    While it runs, so does an event loop, and no other test of the same process could start one.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium-headless-shell")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def new_context(browser: "Browser", **options: Any) -> "BrowserContext":
    """Return a context whose pages wait long for a condition: the machine may be busy."""
    context = browser.new_context(**options)
    context.set_default_timeout(_PATIENCE_MS)
    return context


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[OpenPage]:
    """Open a page from its HTML; whatever the browser complains of fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(html: str, *, width: int = 1440, anchor: str = "", **context: Any) -> "Page":
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        page_context = new_context(browser, viewport={"width": width, "height": 900}, **context)
        contexts.append(page_context)
        page = page_context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.extend(_outside(request.url)))
        page.goto(f"{file.as_uri()}{anchor}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The rules of axe-core as a script."""
    if not AXE.exists():
        pytest.skip("no axe-core installed: make test-slow installs it with npm")
    return AXE.read_text("utf-8")


def follow(target: "Locator") -> None:
    """Click a link or a button, and wait for the page that it leads to."""
    with target.page.expect_navigation():
        target.click()


def violations(page: "Page", axe: str) -> list[str]:
    """Return what axe-core finds wrong: rule, element and reason."""
    page.evaluate(axe)
    return _found(page, {"resultTypes": ["violations"]})


def violations_by_day_and_night(page: "Page", axe: str) -> list[str]:
    """As `violations`; in the dark, the same elements have other colours."""
    by_day = violations(page, axe)
    page.emulate_media(color_scheme="dark")
    of_colours = ["color-contrast", "link-in-text-block"]
    by_night = _found(page, {"resultTypes": ["violations"], "runOnly": of_colours})
    page.emulate_media(color_scheme="light")
    return by_day + by_night


def _found(page: "Page", options: dict[str, Any]) -> list[str]:
    result = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in result
        for node in violation["nodes"]
    ]


def _outside(url: str) -> list[str]:
    return [] if url.startswith("file:") else [f"requested {url}"]
