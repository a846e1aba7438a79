"""The report: figures to sentences and tables, and those to HTML and Markdown.

`data` is what it is made from, `sections` what it says, `_content` in which order; `_document`
has the parts that sections are built of, and `html` and `markdown` write each of them.
"""

from eval_assets.report.data import ReportData
from eval_assets.report.for_programs import evaluation_events, evaluation_records
from eval_assets.report.html import render_html
from eval_assets.report.json import render_json
from eval_assets.report.markdown import escape_markdown, render_markdown
from eval_assets.report.summary_figures import summary_prompt, unknown_numbers

__all__ = [
    "ReportData",
    "escape_markdown",
    "evaluation_events",
    "evaluation_records",
    "render_html",
    "render_json",
    "render_markdown",
    "summary_prompt",
    "unknown_numbers",
]
