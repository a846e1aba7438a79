"""The report as Markdown that reads well unrendered too."""

import html
import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from eval_assets.report.content import report_content
from eval_assets.report.data import ReportData

_SPECIAL = re.compile(r"[\\`*\[\]|~$@]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that may be markup anywhere; an underscore within a word is none."""

_LEADING = re.compile(r"^(?:([-+=#])(?=[-+=#\s]|$)|(\d+)([.)])(?=\s|$))")
"""What makes a line a list, a heading or a rule."""


def render_markdown(data: ReportData) -> str:
    """The report in GitHub's Markdown.

    Args:
        data: What was measured.

    Returns:
        The report. Texts stay texts: none becomes markup, HTML or a second table cell.
    """
    return _environment().get_template("report.md.jinja").render(report=report_content(data))


def escape_markdown(text: str) -> str:
    r"""A text on one line that Markdown shows as it is, in a table cell too.

    Examples:
        >>> print(escape_markdown("a|b\n<b>`code`</b>"))
        a\|b &lt;b&gt;\`code\`&lt;/b&gt;
        >>> print(escape_markdown("1. not a list"))
        1\. not a list
    """
    line = html.escape(" ".join(text.split()), quote=False)
    line = _SPECIAL.sub(r"\\\g<0>", line)
    line = line.replace("://", ":\\//").replace("www.", "www\\.")
    return _LEADING.sub(
        lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", line
    )


def _environment() -> Environment:
    """Autoescape escapes HTML only, so every expression is escaped on its way out instead."""
    return Environment(
        loader=PackageLoader("eval_assets.report"),
        autoescape=False,  # noqa: S701 - `finalize` escapes for Markdown and HTML both
        finalize=lambda value: escape_markdown(value) if isinstance(value, str) else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
