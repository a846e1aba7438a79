"""The report as one HTML file that needs nothing else: no network, no font, no other file."""

import hashlib
import re
from base64 import b64encode
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from eval_assets.render.document import Block
from eval_assets.render.plots import shape_key, svg, ticks
from eval_assets.report.content import report_content
from eval_assets.report.data import ReportData


def render_html(data: ReportData) -> str:
    """Return the report as a self-contained HTML page.

    Every text is escaped. The page's own policy forbids requests, and every script but the one
    that sorts and filters tables, which it names by its hash.
    """
    environment = _environment()
    script = environment.get_template("page.js").render()
    return environment.get_template("report.html.jinja").render(
        report=report_content(data),
        script=script,
        script_hash=_sha256(script),
    )


@lru_cache
def _environment() -> Environment:
    """Return the templates, each of which is compiled once in a process."""
    environment = Environment(
        loader=PackageLoader("eval_assets.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"kind": _kind, "notation": _notation, "svg": svg, "shape": shape_key}
    environment.globals |= {"ticks": ticks}
    return environment


_AFTER_WORD = re.compile(r"(?<=[^\W_]{2}_)")
"""Where a name may break: after an underscore, but human_a_hh not after the a."""


def _sha256(script: str) -> str:
    """Return the hash of a script as a Content-Security-Policy writes it."""
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _kind(block: Block) -> str:
    """Return the name of the macro that writes a block."""
    return type(block).__name__.lower()


@lru_cache(maxsize=10_000)
def _notation(text: str) -> Markup:
    """Return a text with A^HH and A^HA as formulas, which may break after underscores."""
    if "_" not in text and "^" not in text:
        return escape(text)
    written = Markup(_AFTER_WORD.sub("<wbr>", escape(text)))  # noqa: S704 - escaped
    for name in ("HH", "HA"):
        written = written.replace(f"A^{name}", Markup("A<sup>{}</sup>").format(name))
    return written
