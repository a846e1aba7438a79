"""The report: the screen, and the sections below it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from eval_assets.shown.blocks import Section
from eval_assets.shown.screen import Screen
from eval_assets.shown.sections import methods, screen_sections
from eval_assets.shown.stored import StoredFigures, stored_sections
from eval_assets.verdicts import Verdict

_ORDER = (
    *("summary", "agreement", "raters", "severity", "heat", "bias", "systems", "judges"),
    *("certificates", "results", "adjudicated", "wordings", "limits", "not-read", "methods"),
)
"""Sections in the order of the page."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report, for every format.

    Args:
        screen: What the terminal prints as well.
        made_at: When it was made; None for the page of a file.
    """

    screen: Screen
    sections: tuple[Section, ...]
    made_at: datetime | None = None

    @property
    def version(self) -> str:
        """A fingerprint of the content without times."""
        screen = self.screen
        parts = (screen.read, screen.labels, screen.judges, screen.next, screen.disagreements)
        return hashlib.sha256(repr((*parts, self.sections)).encode()).hexdigest()


def report_of(
    screen: Screen, source: StoredFigures | None = None, *, made_at: datetime | None = None
) -> Report:
    """Return the report on a screen, with what an evaluation stores besides."""
    untrusted = {of.question.id for of in screen.assessment.labels if of.verdict is Verdict.FAIL}
    sections = [*screen_sections(screen), methods()]
    sections += stored_sections(source, untrusted=untrusted) if source else ()
    sections.sort(key=lambda section: _ORDER.index(section.name))
    return Report(screen, tuple(sections), made_at)
