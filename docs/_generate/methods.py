"""docs/methods.md as HTML: a figure in the report leads to its formula without a network."""

import re
from itertools import count

from markdown_it import MarkdownIt

_SCROLLING = '<div class="scroll" role="region" tabindex="0" aria-label="Table {} of the methods">'
_NO_WORD = re.compile(r"[^\w\- ]")


def methods_html(text: str) -> str:
    """Return the page as HTML, with headings one level down and ids that begin with `method-`."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)[3:]  # without the title
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{int(token.tag[1:]) + 1}"
        if token.type == "heading_open" and following is not None:
            token.attrSet("id", f"method-{_slug(following.content)}")
        if token.type == "th_open":
            token.attrSet("scope", "col")
        for child in token.children or ():
            if child.type == "link_open" and str(child.attrGet("href")).startswith("#"):
                child.attrSet("href", f"#method-{str(child.attrGet('href'))[1:]}")
    written = markdown.renderer.render(tokens, markdown.options, {})
    numbers = count(1)
    written = re.sub("<table>", lambda _: f"{_SCROLLING.format(next(numbers))}<table>", written)
    return str(written.replace("</table>", "</table></div>"))


def _slug(title: str) -> str:
    """Return the anchor of a heading, as GitHub makes it.

    Examples:
        >>> _slug("A^HH by chance")
        'ahh-by-chance'
    """
    return _NO_WORD.sub("", title.lower()).replace(" ", "-")
