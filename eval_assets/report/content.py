"""The whole report: its verdict and its sections, in the order in which they are read."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from eval_assets.render.document import Section
from eval_assets.report.data import ReportData
from eval_assets.report.sections import (
    cautions,
    certified,
    compared_judges,
    gates,
    glossary,
    humans,
    judges,
    parts,
    raters,
    rounds,
    runs,
    single_responses,
    summary,
)
from eval_assets.report.sections.first_screen import FirstScreen, first_screen
from eval_assets.wording import counted

SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    summary.section,
    gates.section,
    cautions.section,
    humans.section,
    raters.causes,
    rounds.rounds,
    rounds.rewordings,
    raters.label_quality,
    judges.section,
    compared_judges.section,
    single_responses.injections,
    certified.section,
    single_responses.disagreements,
    single_responses.adjudications,
    parts.scores,
    parts.agreement_by_part,
    parts.results,
    runs.trend,
    runs.cost,
    glossary.section,
)
"""One function per section; one that has nothing to say returns None."""


@dataclass(frozen=True)
class Report:
    """The report in words and written numbers, whatever its format."""

    name: str
    first: FirstScreen
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    generated_at: str

    @property
    def version(self) -> str:
        """A fingerprint of the content without times and earlier runs."""
        sections = [section for section in self.sections if section.anchor != "trend"]
        parts = (self.name, self.first, self.facts, sections)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def report_content(data: ReportData) -> Report:
    """Return the report on `data`, which every format shares."""
    overall = next(iter(data.humans), None)
    return Report(
        name=data.evaluation.name,
        first=first_screen(data),
        facts=(
            counted(len(data.evaluation.rubric), "question"),
            counted(data.sizes.get("responses", 0), "response"),
            counted(overall.n_raters if overall else 0, "human rater"),
            counted(overall.n_ratings if overall else 0, "human rating"),
            counted(len(data.evaluation.judges), "judge"),
        ),
        sections=tuple(section for build in SECTIONS if (section := build(data)) is not None),
        generated_at=f"{data.generated_at:%Y-%m-%d %H:%M %Z}".strip(),
    )
