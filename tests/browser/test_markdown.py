"""Markdown on the pages of raters and adjudicators in a real browser, hostile texts included."""

import csv
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import new_context, violations_by_day_and_night
from tests.browser.serving import Serving
from tests.browser.test_labelling import PHONE, WIDE, press
from tests.hostile_texts import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

DECLARED = """\
name: made-up
rubric:
  - id: helpful
    question: How helpful is the response?
    scale: likert5
    guidelines: |
      **5** The user can act on it at once.
      | value | meaning |
      | --- | --- |
      | 1 | Nothing that can be used. |
labelling: {raters: [anna, ben], text: markdown, show: [plot]}
"""
RICH = """\
# Fast ways

Use `sum`, *never* a loop:

```python
def total(values):
    return sum(values)
```

| way | seconds |
| --- | ---: |
| sum | 0.1 |
| a loop whose name is much too long for the narrow column of a table on a phone | 2.5 |

1. measure
2. see the [manual](https://docs.example/sum)

![Both ways](plots/ways.png)
"""


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\x00" + b"\x80" * width) * height)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, program_folder: Path) -> Iterator[Serving]:
    """A server of one long response in Markdown, and of hostile ones."""
    folder = tmp_path_factory.mktemp("markdown") / "data"
    (folder / "plots").mkdir(parents=True)
    (folder / "plots" / "ways.png").write_bytes(_png(1200, 300))
    (folder / "evaluation.yaml").write_text(DECLARED)
    with (folder / "responses.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["response_id", "prompt_text", "response_text", "model_name", "plot"])
        texts = [RICH, *HOSTILE]
        writer.writerows(
            [
                [f"a{k}", f"*Prompt* {k}", t, "secret-model", "![Plot](plots/ways.png)"]
                for k, t in enumerate(texts)
            ]
        )
    (folder / "assignments.csv").write_text(
        "response_id,rater_id\n"
        + "".join(f"a{k},{rater}\n" for rater in ("anna", "ben") for k in range(len(texts)))
    )
    serving = Serving(program_folder, folder, "--labels", "--lead")
    yield serving
    serving.kill()


def page_without_policy(browser: "Browser", requests: list[str], **form: Any) -> "Page":
    """Return a page without its content policy, so that only the sanitiser protects it."""
    page = new_context(browser, bypass_csp=True, **form).new_page()
    page.on("request", lambda request: requests.append(request.url))
    return page


def test_hostile_texts_run_and_load_nothing(served: Serving, browser: "Browser") -> None:
    requests: list[str] = []
    page = page_without_policy(browser, requests, **WIDE)
    page.goto(served.links["anna"])
    page.wait_for_selector("body.ready")
    loaded = len(requests)
    for _ in HOSTILE:
        page.keyboard.press("ArrowRight")
        page.keyboard.press("r")
        page.keyboard.press("r")
        assert page.locator("#work :is(script, iframe, style, form, svg, a, link)").count() == 0
        assert page.evaluate("window.hit ?? null") is None
    assert page.inner_text("#unit-title") == f"Response {len(HOSTILE) + 1} of {len(HOSTILE) + 1}"
    assert requests[loaded:] == []
    page.context.close()


def test_hostile_texts_run_nothing_on_the_adjudicators_page(
    served: Serving, browser: "Browser"
) -> None:
    for rater, key in (("anna", "1"), ("ben", "5")):
        page = new_context(browser, **WIDE).new_page()
        page.goto(served.links[rater])
        page.wait_for_selector("body.ready")
        press(page, key * (len(HOSTILE) + 1))
        page.context.close()
    requests: list[str] = []
    page = page_without_policy(browser, requests, **WIDE)
    page.goto(f"{served.links['(lead)']}/queue?by=lea")
    cases = page.locator("main ol a").evaluate_all("links => links.map((one) => one.href)")
    assert len(cases) == len(HOSTILE) + 1
    n_rich = 0
    for case in cases:
        page.goto(case)
        assert page.evaluate("window.hit ?? null") is None
        assert page.locator("main :is(script, iframe, style, svg, link)").count() == 0
        n_rich += page.locator(".rendered table td.right").count() > 0
    assert n_rich == 1
    outside = [url for url in requests if not url.startswith("http://127.0.0.1")]
    assert outside == []
    page.context.close()


def test_markdown_is_rendered_and_a_key_shows_the_raw_text(
    served: Serving, browser: "Browser"
) -> None:
    complaints: list[str] = []
    page = new_context(browser, **WIDE).new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(served.links["anna"])
    page.wait_for_selector("body.ready")
    _show_first(page)

    response = page.locator("#responses .box")
    assert response.locator("pre code").inner_text() == (
        "def total(values):\n    return sum(values)\n"
    )
    assert response.locator("td.right").all_inner_texts() == ["0.1", "2.5"]
    assert "manual (https://docs.example/sum)" in response.inner_text()
    for part in ("responses", "captures"):
        page.wait_for_function(f"document.querySelector('#{part} img').naturalWidth === 1200")
    assert page.inner_text("#prompt-text") == "Prompt 0"
    assert page.locator("#guidelines table").count() == 1
    page.keyboard.press("r")
    assert response.text_content() == RICH
    assert page.inner_text("#prompt-text") == "*Prompt* 0"
    assert page.get_by_role("button", name="Raw text", pressed=True).count() == 1
    page.keyboard.press("r")
    assert response.locator("table").count() == 1
    assert "secret-model" not in page.content()
    assert complaints == []
    page.context.close()


@pytest.mark.parametrize("form", [PHONE, WIDE], ids=["phone", "wide"])
def test_markdown_has_no_barriers_and_fits_the_window(
    served: Serving, browser: "Browser", axe: str, form: dict[str, Any]
) -> None:
    page = page_without_policy(browser, [], **form)
    page.goto(served.links["anna"])
    page.wait_for_selector("body.ready")
    _show_first(page)

    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert violations_by_day_and_night(page, axe) == []
    page.context.close()


def _show_first(page: "Page") -> None:
    """Show the first response, also if all have been answered."""
    for _ in range(len(HOSTILE) + 1):
        page.keyboard.press("ArrowLeft")
