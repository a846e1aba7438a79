"""The report as one HTML file that needs nothing else: no network, no font, no other file."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from eval_assets.report._content import report_content
from eval_assets.report._document import Block
from eval_assets.report._plots import shape_key, svg, ticks
from eval_assets.report.data import ReportData


def render_html(data: ReportData) -> str:
    """Return the report as a self-contained HTML page.

    Every text is escaped, and the page's own policy forbids scripts and requests.
    """
    environment = Environment(
        loader=PackageLoader("eval_assets.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"kind": _kind, "notation": _notation, "svg": svg, "shape": shape_key}
    environment.globals |= {"ticks": ticks}
    return environment.get_template("report.html.jinja").render(report=report_content(data))


def _kind(block: Block) -> str:
    """Return the name of the macro that writes a block."""
    return type(block).__name__.lower()


def _notation(text: str) -> Markup:
    """Return a text with A^HH and A^HA as formulas, which may break after underscores."""
    written = escape(text).replace("_", Markup("_<wbr>"))
    for name in ("HH", "HA"):
        written = written.replace(f"A^{name}", Markup("A<sup>{}</sup>").format(name))
    return written
