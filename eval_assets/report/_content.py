"""The whole report: its verdict and its sections, in the order in which they are read."""

from collections.abc import Callable
from dataclasses import dataclass

from eval_assets.report._document import Section
from eval_assets.report._text import counted
from eval_assets.report.data import ReportData
from eval_assets.report.sections import (
    cautions,
    compared_judges,
    disagreements,
    gates,
    glossary,
    humans,
    judges,
    scores,
)

SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    gates.section,
    cautions.section,
    humans.section,
    judges.section,
    compared_judges.section,
    disagreements.section,
    scores.section,
    glossary.section,
)
"""One function per section; one that has nothing to say returns None."""


@dataclass(frozen=True)
class Report:
    """The report in words and written numbers, whatever its format.

    Args:
        name: Name of the evaluation.
        headline: The verdict in a sentence.
        is_blocked: Whether tuning may not start.
        facts: What was evaluated, counted.
        sections: All that there is to say.
        generated_at: When it was made.
    """

    name: str
    headline: str
    is_blocked: bool
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    generated_at: str


def report_content(data: ReportData) -> Report:
    """Return the report on `data`."""
    return Report(
        name=data.evaluation.name,
        headline=gates.headline(data),
        is_blocked=gates.is_blocked(data),
        facts=(
            counted(len(data.evaluation.rubric), "question"),
            counted(data.n_responses, "response"),
            counted(data.n_raters, "human rater"),
            counted(data.n_labels, "human rating"),
            counted(len(data.evaluation.judges), "judge"),
        ),
        sections=tuple(section for build in SECTIONS if (section := build(data)) is not None),
        generated_at=f"{data.generated_at:%Y-%m-%d %H:%M %Z}".strip(),
    )
