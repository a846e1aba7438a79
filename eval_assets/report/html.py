"""The report as one HTML file that needs nothing else: no script, no network, no font."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from eval_assets.report.content import report_content
from eval_assets.report.data import ReportData
from eval_assets.report.plots import (
    axis_ticks,
    interval_plot,
    means_plot,
    rater_shapes,
    shape_key,
)


def render_html(data: ReportData) -> str:
    """The report as a self-contained HTML page.

    Args:
        data: What was measured.

    Returns:
        The page. Every text is escaped, and its own policy forbids scripts and requests.
    """
    return _environment().get_template("report.html.jinja").render(report=report_content(data))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("eval_assets.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "notation": _notation,
        "interval_plot": interval_plot,
        "means_plot": means_plot,
        "shape_key": shape_key,
    }
    environment.globals |= {"axis_ticks": axis_ticks, "rater_shapes": rater_shapes}
    return environment


def _notation(text: str) -> Markup:
    """A text with A^HH and A^HA set as formulas, and long names free to break at underscores."""
    written = escape(text).replace("_", Markup("_<wbr>"))
    for name in ("HH", "HA"):
        written = written.replace(f"A^{name}", Markup("A<sup>{}</sup>").format(name))
    return written
