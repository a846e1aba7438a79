"""The report in GitHub's Markdown."""

from eval_assets.render.markdown import escape_markdown, markdown_blocks, markdown_cell
from eval_assets.report.content import report_content
from eval_assets.report.data import ReportData


def render_markdown(data: ReportData) -> str:
    """Return the report in GitHub's Markdown: what the page shows before anything is opened.

    Texts stay texts: none becomes markup, HTML or a second table cell. Long tables are cut.
    """
    report = report_content(data)
    parts = [
        f"# Agreement report: {escape_markdown(report.name)}",
        f"**Can the judges be trusted? {escape_markdown(report.first.answer)}.**",
        "\n".join(
            f"- {markdown_cell(item)}" for item in (*report.first.gates, *report.first.judges)
        ),
        f"**Next:** {escape_markdown(report.first.next_step.text)}",
        escape_markdown(" · ".join(report.facts)),
    ]
    for section in report.sections:
        parts.append(f"## {escape_markdown(section.title)}")
        parts += markdown_blocks(section.blocks)
    parts.append(
        f"Made {report.generated_at} by Eval Assets. Intervals are 95 % intervals over response "
        f"groups. Every figure is in the evaluation's database, unrounded; gates go by the "
        f"unrounded ones."
    )
    return "\n\n".join(parts) + "\n"
