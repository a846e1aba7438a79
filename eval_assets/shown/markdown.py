"""A report and its tables as GitHub's Markdown."""

import re

from eval_assets.shown.blocks import (
    Block,
    Definitions,
    SplitItems,
    Table,
    Texts,
    tables_of,
)
from eval_assets.shown.report import Report
from eval_assets.shown.screen import JUDGES_QUESTION, Screen
from eval_assets.wording import shortened

_SPECIAL = re.compile(r"([\\`*\[\]<>|~#]|(?<!\w)_|_(?!\w))")  # no emphasis within a word
_LONGEST_TEXT = 200


def escape_markdown(text: str) -> str:
    r"""Return a text on one line that Markdown shows as it is.

    Examples:
        >>> print(escape_markdown("a|b *c*"))
        a\|b \*c\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def report_markdown(report: Report, *, with_texts: bool = True) -> str:
    """Return a report in Markdown; no text of it becomes markup, HTML or a second cell.

    Args:
        report: The report.
        with_texts: Whether texts of single responses and single ratings are part of it.
    """
    screen = report.screen
    parts = [f"# {escape_markdown(screen.reading.title)}", escape_markdown(screen.read[0])]
    parts += _answers(screen)
    step = screen.next
    command = f"\n\n    {' '.join(step.command.split())}" if step.command else ""
    parts.append(f"**Do next:** {escape_markdown(step.text)}{command}")
    if screen.disagreements.items and with_texts:
        parts += ["## Widest disagreements", *_block(screen.disagreements)]
    for section in report.sections:
        finding = f": {section.finding}" if section.finding else ""
        parts.append(f"## {escape_markdown(section.title + finding)}")
        for block in section.blocks:
            parts += _block(block)
    notes = [*screen.read[1:]]
    notes += [f"Made {report.made_at:%Y-%m-%d %H:%M %Z} by Eval Assets"] if report.made_at else []
    return "\n\n".join([*parts, escape_markdown(" · ".join(notes))]) + "\n"


def _answers(screen: Screen) -> list[str]:
    labels = screen.labels
    figure = f" {labels.figure}." if labels.figure else ""
    answers = [f"**{labels.question} {labels.word}.** {escape_markdown(labels.sentence + figure)}"]
    if len(screen.assessment.labels) > 1 and screen.judges:
        sentence = escape_markdown(screen.judges_sentence)
        answers.append(f"**{JUDGES_QUESTION}** {sentence}")
        return [*answers, table_markdown(screen.matrix)]
    answers += [
        f"**{escape_markdown(of.question)} {of.word}.** {escape_markdown(of.sentence)}"
        for of in screen.judges
    ]
    return answers


def _block(block: Block) -> list[str]:
    match block:
        case Texts():
            return [escape_markdown(sentence) for sentence in block.sentences]
        case Definitions():
            pairs = (f"- **{escape_markdown(k)}**: {escape_markdown(v)}" for k, v in block.items)
            return ["\n".join(pairs)]
        case SplitItems():
            lines = []
            for of in block.items:
                name = " · ".join(filter(None, (of.item, of.question)))
                text = shortened(": ".join(filter(None, (of.prompt, of.text))), _LONGEST_TEXT)
                about = f" ({escape_markdown(text)})" if text else ""
                lines.append(f"- {escape_markdown(name)}{about}: {escape_markdown(of.split)}")
            return ["\n".join(lines)]
    return [
        part
        for table in tables_of([block])
        for part in (f"**{escape_markdown(table.name)}**" * bool(table.name), table_markdown(table))
        if part
    ]


def table_markdown(table: Table) -> str:
    """Return a table, numbers aligned right, with its caption below."""
    head = [escape_markdown(column.title) for column in table.columns]
    rule = ["---:" if column.is_number else "---" for column in table.columns]
    rows = [[escape_markdown(cell.text) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(line)} |" for line in (head, rule, *rows)]
    caption = f"\n\n{escape_markdown(table.caption)}" if table.caption else ""
    return "\n".join(lines) + caption
