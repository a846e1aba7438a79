"""The executive summary that a judge wrote, marked as such, or why it is not shown."""

from eval_assets.render.document import Block, Card, Quote, Section, Text
from eval_assets.report.data import ReportData, text


def section(data: ReportData) -> Section | None:
    """Return the summary; None if none is asked for."""
    record = next(data.rows("executive_summary"), None)
    if record is None:
        return None
    writer = f"{text(record, 'judge_id')} ({text(record, 'model')})"
    blocks: tuple[Block, ...]
    if refused := text(record, "refused_because"):
        blocks = (Text(f"The summary by {writer} is not shown: {refused}."),)
    else:
        note = (
            f"Written by {writer} from the figures of this report alone. Every number in it is "
            "among them; check its sentences against the sections below."
        )
        blocks = (Quote(text(record, "summary")), Text(note, is_small=True))
    return Section("summary", "Executive summary", "Summary", (Card("", blocks),))
