from html.parser import HTMLParser
from pathlib import Path

import pytest

from eval_assets.labelling.rich_text import image_file, markdown_html
from tests.hostile_texts import HOSTILE

PNG = b"\x89PNG made up"
HARMLESS = {
    *("blockquote", "br", "code", "del", "div", "em", "h4", "hr", "img", "li", "ol", "p", "pre"),
    *("span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}


class _Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def html(text: str, folder: Path) -> str:
    return markdown_html(text, folder=folder, address=lambda path: f"/images/{path.name}")


def test_there_are_enough_hostile_texts() -> None:
    assert len(set(HOSTILE)) >= 15


@pytest.mark.parametrize("text", HOSTILE)
def test_html_of_hostile_text_is_harmless(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)

    elements = _Elements(html(text, folder)).elements

    assert {name for name, _ in elements} <= HARMLESS - {"img"}
    attributes = {name for _, of in elements for name in of}
    assert attributes <= {"class", "tabindex", "role", "aria-label", "start"}


def test_tags_of_the_text_are_shown_as_text(tmp_path: Path) -> None:
    assert _Elements(html("<b>bold</b> <!-- note -->", tmp_path)).text == (
        "<b>bold</b> <!-- note -->\n"
    )


def test_tables_code_lists_and_line_breaks_are_rendered(tmp_path: Path) -> None:
    text = (
        "a\nb\n\n| n |\n| --: |\n| 1 |\n\n```python\nif x:\n    y < 3\n```\n\n1. one\n\n~~no~~ `c`"
    )

    rendered = html(text, tmp_path)

    assert "<p>a<br>\nb</p>" in rendered
    assert '<td class="right">1</td>' in rendered
    assert "<pre><code>if x:\n    y &lt; 3\n</code></pre>" in rendered
    assert "<li>one</li>" in rendered
    assert "<del>no</del> <code>c</code>" in rendered


def test_headings_keep_the_outline_of_the_page(tmp_path: Path) -> None:
    assert html("# A\n### B", tmp_path) == (
        '<h4 class="level-1">A</h4>\n<h4 class="level-3">B</h4>\n'
    )


def test_links_show_their_address_and_lead_nowhere(tmp_path: Path) -> None:
    rendered = _Elements(html("[docs](https://x.org/a) <https://y.org>", tmp_path))

    assert rendered.text == "docs (https://x.org/a) https://y.org\n"
    assert "a" not in {name for name, _ in rendered.elements}


def test_images_of_the_folder_are_shown(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "a b.png").write_bytes(PNG)

    elements = _Elements(html("![A plot](plots/a%20b.png)", tmp_path)).elements

    assert elements[1] == (
        "img",
        {"src": "/images/a b.png", "alt": "A plot"},
    )


def test_other_images_are_named_in_place_of_the_image(tmp_path: Path) -> None:
    rendered = html("![A plot](https://x.org/a.png) ![B](missing.png)", tmp_path)

    assert _Elements(rendered).text == (
        "[image: A plot (https://x.org/a.png)] [image: B (missing.png)]\n"
    )


@pytest.mark.parametrize(
    "name",
    [
        "../secret.png",
        "%2e%2e/secret.png",
        "a/../../secret.png",
        "link.png",
        "linked/secret.png",
        "{outside}/secret.png",
        "file://{outside}/secret.png",
        "evaluation.yaml",
        "picture.svg",
        "a%00.png",
        f"{'a' * 5000}.png",
        "loop.png",
        "",
    ],
)
def test_no_file_outside_the_folder_is_an_image(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for path in (tmp_path / "secret.png", folder / "picture.svg", folder / "evaluation.yaml"):
        path.write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "loop.png").symlink_to(folder / "loop.png")
    (folder / "inside.png").write_bytes(PNG)

    assert image_file(name.format(outside=tmp_path), folder) is None
    assert image_file("inside.png", folder) == folder / "inside.png"
