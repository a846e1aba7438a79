"""The agreement report: what was measured, what the gates say of it, and what to do next.

Two pure functions of one `ReportData`. The figures become sentences and written numbers once, in
`content`; `html` and `markdown` only lay them out.
"""

from eval_assets.report.data import ReportData
from eval_assets.report.html import render_html
from eval_assets.report.markdown import render_markdown

__all__ = ["ReportData", "render_html", "render_markdown"]
