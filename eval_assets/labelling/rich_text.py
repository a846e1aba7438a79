"""Markdown as HTML without scripts, which loads only images of the evaluation folder."""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from eval_assets.config.evaluation import Evaluation

IMAGE_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
"""Endings of image files that texts may name. SVG is left out: it can hold scripts."""

ImageAddress = Callable[[Path], str]
"""Returns the address of an image file: on the server, or the image itself as a data URI."""

Html = Callable[[str], str]
"""Returns a text as HTML."""

_TABLE = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'

_ALIGNMENTS = {"text-align:center": "center", "text-align:right": "right"}

_CLEANER = nh3.Cleaner(
    tags={
        *("blockquote", "br", "code", "del", "div", "em", "h4", "hr", "img", "li", "ol", "p"),
        *("pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
    },
    attributes={
        "div": {"aria-label", "role", "tabindex"},
        "img": {"alt", "src"},
        "ol": {"start"},
    },
    allowed_classes={
        "div": {"wide"},
        "h4": {f"level-{level}" for level in range(1, 7)},
        "span": {"address", "note"},
        "td": set(_ALIGNMENTS.values()),
        "th": set(_ALIGNMENTS.values()),
    },
    attribute_filter=lambda _, name, value: (
        value if name != "src" or value.startswith("/images/") else None
    ),
    url_schemes=set(),
)


def html_of(evaluation: Evaluation, address: ImageAddress) -> Html | None:
    """Return the renderer of an evaluation's texts; None if raters see plain text."""
    if evaluation.labelling.text == "plain":
        return None
    return partial(markdown_html, folder=evaluation.folder, address=address)


# Raters share responses, and a running server reads its files again.
@lru_cache(maxsize=100_000)
def markdown_html(text: str, *, folder: Path, address: ImageAddress) -> str:
    r"""Return Markdown as HTML: tags are shown as text, links are text with their address.

    Images are shown if they are in the folder; `address` returns where from.

    Examples:
        >>> markdown_html("**Yes** <b>\n[no](http://x.org)", folder=Path(), address=str)
        '<p><strong>Yes</strong> &lt;b&gt;<br>\nno<span class="address"> (http://x.org)</span></p>\n'
    """
    return _CLEANER.clean(_MARKDOWN.render(text, {"folder": folder, "address": address}))


def image_file(name: str, folder: Path) -> Path | None:
    """Return the image that a text names; None if the folder, without links out of it, has none."""
    try:
        path = Path(os.path.realpath(folder / unquote(name)))
        is_image = path.suffix.lower() in IMAGE_TYPES and path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null byte
        return None
    return path if is_image and path.is_relative_to(os.path.realpath(folder)) else None


def _image(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    source = str(tokens[index].attrGet("src") or "")
    name = escapeHtml(self.renderInlineAsText(tokens[index].children, options, env))
    path = image_file(source, env["folder"])
    if path is None:
        return f'<span class="note">[image: {name} ({escapeHtml(source)})]</span>'
    return f'<img src="{env["address"](path)}" alt="{name}">'


def _link_end(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Return the address of a link, unless its text is the address."""
    start = next(n for n in range(index, -1, -1) if tokens[n].type == "link_open")
    if tokens[start].info == "auto":
        return ""
    address = escapeHtml(str(tokens[start].attrGet("href") or ""))
    return f'<span class="address"> ({address})</span>'


def _cell(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: EnvType
) -> str:
    style = tokens[index].attrs.pop("style", "")
    if style in _ALIGNMENTS:
        tokens[index].attrSet("class", _ALIGNMENTS[str(style)])
    return self.renderToken(tokens, index, options, _env)


def _heading(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Return the start of a heading below those of the page, which keep their own outline."""
    return f'<h4 class="level-{tokens[index].tag[1:]}">'


def _fixed(html: str) -> Callable[..., str]:
    return lambda *_: html


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True})
    markdown.enable(["table", "strikethrough"])
    rules: dict[str, Any] = {
        "heading_open": _heading,
        "heading_close": _fixed("</h4>\n"),
        "image": _image,
        "link_open": _fixed(""),
        "link_close": _link_end,
        "table_open": _fixed(_TABLE),
        "table_close": _fixed("</table></div>\n"),
        "td_open": _cell,
        "th_open": _cell,
        "s_open": _fixed("<del>"),
        "s_close": _fixed("</del>"),
    }
    for name, rule in rules.items():
        markdown.add_render_rule(name, rule)
    return markdown


_MARKDOWN = _markdown()
