"""The report: the screen, and the sections below it."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from eval_assets.agreement.judge_comparison import JudgeComparison
from eval_assets.agreement.label_agreement import LabelAgreement
from eval_assets.bands import A_HH_LIMITS, a_hh_label
from eval_assets.shown.blocks import (
    Axis,
    Cell,
    Column,
    Definitions,
    Distribution,
    Distributions,
    Heats,
    Plot,
    Row,
    Section,
    Table,
    Texts,
    agreement_axis,
    text_cell,
)
from eval_assets.shown.screen import Screen
from eval_assets.shown.stored import StoredFigures, stored_sections
from eval_assets.verdicts import Tone, Verdict
from eval_assets.wording import (
    count_text,
    counted,
    figure_text,
    limit_text,
    or_none,
    percent_text,
    value_text,
)

_MOST_COMPARED_VALUES = 11
_MOST_RATERS = 24
_MOST_OPEN = 4
"""Heat maps that are shown without being asked for."""

A_HH_MEANING = (
    "A^HH 1.0: raters always agree.",
    "A^HH 0.0: raters are as far apart as the scale allows, on every response.",
    "Ratings are normalised to [0, 1] on the declared scale first.",
)

METHODS = {
    "Krippendorff's alpha": (
        "Agreement beyond chance: 0 is chance, 1 is identical. 0.667 is Krippendorff's lowest "
        "limit for tentative conclusions (2004)."
    ),
    "Pairwise agreement (A^HH)": (
        "1 minus the distance of two ratings as a share of the scale. Chance depends on the "
        "question, so it says less than alpha."
    ),
    "Judge and people": (
        "Agreement beyond chance of the judge with people (quadratic-weighted kappa; Cohen's kappa "
        "for classes without order), beside that of people with each other over the same pairs. "
        "It may be 0.10 worse."
    ),
    "PASS, FAIL, NEED MORE DATA": (
        "The whole interval lies above the minimum, below it, or on both sides."
    ),
    "Intervals": "By group of items that are not independent; 95% unless a note says otherwise.",
}


def screen_sections(screen: Screen) -> Iterator[Section]:
    """Yield the sections that a screen fills by itself."""
    labels = screen.assessment.labels
    rated_twice = [of for of in labels if of.n_double]
    if rated_twice:
        yield _agreement(rated_twice)
    comparisons = [of for judge in screen.assessment.judges.values() for of in judge]
    most = _MOST_COMPARED_VALUES
    compared = [c for c in comparisons if c.pairs and len(c.question.scale.values or ()) <= most]
    if compared:
        note = (
            "Rows: what a person said. Columns: what the judge said, rounded to the scale. "
            "Numbers: % of the row; framed cells: the same."
        )
        if any(of.two_classes and of.n_paired for of in compared):
            note += " Each rating counts here; above, each item once, as most people rated it."
        shares = sorted(
            sum(n for human, judge, n in of.pairs if human == judge) / sum(n for *_, n in of.pairs)
            for of in compared
        )
        lowest, highest = percent_text(shares[0]), percent_text(shares[-1])
        share = lowest if lowest == highest else f"{lowest} to {highest}"
        yield Section(
            "heat",
            "Judge against people",
            f"the same score as a person {share} of the time",
            (Heats(tuple(map(_heat_map, compared)), note),),
            is_open=len(compared) <= _MOST_OPEN,
        )
    counts = [of for of in labels if of.counts]
    if counts:
        yield _by_rater(counts)
    if screen.reading.not_read:
        n = counted(len(screen.reading.not_read), "column")
        items = tuple(screen.reading.not_read.items())
        yield Section("not-read", "Not read", n, (Definitions(items),))


def methods() -> Section:
    """Return how the figures are made."""
    return Section(
        "methods", "Methods", "how these figures are made", (Definitions(tuple(METHODS.items())),)
    )


def band_tone(a_hh: float) -> Tone:
    """Return the colour of an A^HH by the bands of the GDPval workshop.

    Green from .75, yellow from .60, orange from .50, red below.

    Examples:
        >>> [band_tone(value).value for value in (0.75, 0.6, 0.5, 0.49)]
        ['good', 'fair', 'weak', 'poor']
    """
    if math.isnan(a_hh):
        return Tone.NONE
    # The two highest bands are green.
    tones = zip(A_HH_LIMITS, (Tone.GOOD, Tone.GOOD, Tone.FAIR, Tone.WEAK), strict=True)
    return next((tone for limit, tone in tones if a_hh >= limit), Tone.POOR)


def _agreement(labels: Sequence[LabelAgreement]) -> Section:
    minimums = labels[0].minimums
    alpha, a_hh = (
        tuple(
            Row(
                of.question.id,
                figure.value,
                figure_text(figure.value, limits=[minimum]),
                low=figure.low,
                high=figure.high,
                minimum=minimum,
            )
            for of, figure, minimum in figures
        )
        for figures in (
            [(of, of.alpha, of.minimums["alpha"]) for of in labels],
            [(of, of.a_hh, of.minimums["a_hh"]) for of in labels],
        )
    )
    of_alpha = agreement_axis(
        alpha, minimum=minimums["alpha"], minimum_text=limit_text(minimums["alpha"])
    )
    ends = ((0.0, "0 opposite"), (1.0, "1 identical"))
    of_pairs = Axis(0.0, 1.0, minimums["a_hh"], limit_text(minimums["a_hh"]), ends)
    rows = tuple(
        (
            text_cell(of.question.id),
            Cell(
                figure_text(of.a_hh.value, limits=A_HH_LIMITS, decimals=3),
                or_none(of.a_hh.value),
                band_tone(of.a_hh.value),
            ),
            text_cell(a_hh_label(of.a_hh.value), tone=band_tone(of.a_hh.value)),
            Cell(percent_text(of.exact_agreement.value), of.exact_agreement.value),
            Cell("", None)
            if of.adjacent_agreement is None
            else Cell(percent_text(of.adjacent_agreement.value), of.adjacent_agreement.value),
            Cell(count_text(of.n_double), of.n_double),
        )
        for of in labels
    )
    columns = (
        Column("question", ""),
        Column("a_hh", "A^HH", is_number=True),
        Column("meaning", "by its bands"),
        Column("exact_agreement", "same score", is_number=True),
        Column("adjacent_agreement", "within one step", is_number=True),
        Column("n_double", "rated twice", is_number=True),
    )
    defined = [of for of in labels if not math.isnan(of.alpha.value)]
    finding = "alpha and pairwise agreement"
    if len(defined) > 1:
        lowest, highest = (choose(defined, key=lambda of: of.alpha.value) for choose in (min, max))
        finding = f"from {_alpha(lowest)} to {_alpha(highest)}"
    elif defined:
        [only] = defined
        finding = (
            f"alpha {figure_text(only.alpha.value, limits=[only.minimums['alpha']])}, A^HH "
            f"{figure_text(only.a_hh.value, limits=[only.minimums['a_hh']])}"
        )
    return Section(
        "agreement",
        "Agreement by question",
        finding,
        (
            Plot("Beyond chance: Krippendorff's alpha", of_alpha, alpha),
            Plot("How close two ratings are: pairwise agreement (A^HH)", of_pairs, a_hh),
            Table("Pairwise agreement by question", columns, rows).without_equal_columns,
            Texts(A_HH_MEANING),
        ),
    )


def _alpha(labels: LabelAgreement) -> str:
    value = figure_text(labels.alpha.value, limits=[labels.minimums["alpha"]])
    return f"{value} ({labels.question.id})"


def _heat_map(comparison: JudgeComparison) -> Table:
    scale = comparison.question.scale
    values = scale.values or ()
    names = [value_text(value, scale) for value in values]
    n = {(human, judge): count for human, judge, count in comparison.pairs}
    rows = []
    for human, name in reversed(list(zip(values, names, strict=True))):
        total = sum(n.get((human, judge), 0) for judge in values)
        shares = [n.get((human, judge), 0) / total if total else 0.0 for judge in values]
        cells = (
            Cell(f"{100 * share:.0f}", share, shade=share, is_marked=judge == human)
            for judge, share in zip(values, shares, strict=True)
        )
        rows.append((text_cell(name), *cells))
    columns = (Column("people", ""), *(Column(of, of, is_number=True) for of in names))
    title = f"{comparison.judge} · {comparison.question.id}"
    return Table(title, columns, tuple(rows), form="heat")


def _by_rater(labels: Sequence[LabelAgreement]) -> Section:
    items = []
    for of in labels:
        scale = of.question.scale
        values = tuple(value_text(value, scale) for value in scale.values or ())
        place = of.question.id if len(labels) > 1 else ""
        items += [
            (Distribution(rater, place, counts), values)
            for rater, counts in list(of.counts.items())[:_MOST_RATERS]
        ]
    n = {rater for of in labels for rater in of.counts}
    note = "Bars: share of each value, the lowest on the left. Number: ratings."
    return Section(
        "raters",
        "Ratings by rater",
        _uses(labels, len(n)),
        (Distributions(tuple(items), note),),
    )


def _uses(labels: Sequence[LabelAgreement], n_raters: int) -> str:
    constant = sorted(
        {
            rater
            for of in labels
            for rater, counts in of.counts.items()
            if sum(counts) > 1 and sum(n > 0 for n in counts) == 1
        }
    )
    people = counted(n_raters, "rater")
    if not constant:
        return people
    more = f", so do {len(constant) - 1} more" if len(constant) > 1 else ""
    return f"{people}; {constant[0]} gives one value throughout{more}"


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
