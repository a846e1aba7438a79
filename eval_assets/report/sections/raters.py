"""Quality of each rater's labels, disagreement by value, and agreement by round and wording."""

import math
from collections.abc import Callable, Iterator

from eval_assets.agreement.diagnosis import Diagnosis
from eval_assets.agreement.rounds import rewording_sentences
from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
from eval_assets.catalogue import Figure
from eval_assets.figures import RubricVersionFigures
from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    bullets,
    cells,
    columns,
)
from eval_assets.report.data import ReportData, groups_text
from eval_assets.report.layout import (
    Layout,
    a_hh_tone,
    alpha_tone,
    figure_cell,
    laid_out,
    question_cell,
    written,
)
from eval_assets.report.stored_rows import LabelQualityRow, LabelSpreadRow
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, percent_text

_QUALITY = (
    "Severity compares a rater with the others on the responses that they share. The table "
    "label_quality has the number of labels behind each figure."
)
_SPREAD = (
    "Responses by the standard deviation of their ratings, in bands relative to the scale. Perfect "
    "are equal ratings."
)
_BANDS = ("perfect", "close", "good", "moderate", "high", "very high")
_NEXT = (
    "eval-assets rubric draft QUESTION writes new guidelines with examples, and eval-assets assign "
    "--unlabelled --question QUESTION gives raters responses that they do not remember."
)


def _share(value: float) -> str:
    return percent_text(100 * value)


def _signed_share(value: float) -> str:
    return f"{100 * value:+z.1f} %"


def _plain(value: float) -> str:
    return f"{value:z.2f}"


_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "completeness": ("Done", _share),
    "skipped_share": ("Skipped", _share),
    "most_frequent_share": ("Most frequent value", _share),
    "severity": ("Severity", _signed_share),
    "opposite_ends": ("At opposite ends", _share),
    "identical_share": ("Like another rater", _share),
    "seconds": ("Seconds", _plain),
    "calibration": ("Calibration", _share),
}
"""Column and form of each measure of a rater."""


def label_quality(data: ReportData) -> Section | None:
    """Return each rater's figures with advice, and the spread of ratings; None without labels."""
    by_rater: dict[tuple[str, str], dict[str, LabelQualityRow]] = {}
    for row in data.rows(LabelQualityRow):
        by_rater.setdefault((row.question_id, row.rater_id), {})[row.measure] = row
    if not by_rater:
        return None
    measures = [name for name in _MEASURES if any(name in values for values in by_rater.values())]
    table = Table(
        "Raters by question",
        columns("Rater", "Question", "Labels#", *(f"{_MEASURES[name][0]}#" for name in measures)),
        tuple(
            TableRow(
                cells(
                    rater,
                    question_cell(question),
                    f"{values['skipped_share'].n if 'skipped_share' in values else 0:,}",
                    *(_measure_text(values.get(name)) for name in measures),
                )
            )
            for (question, rater), values in by_rater.items()
        ),
    )
    advice = dict.fromkeys(row.advice for row in data.rows(LabelQualityRow) if row.advice)
    blocks: tuple[Block, ...] = (
        Card("", (Text(_QUALITY), table, *bullets(list(advice), "What to do"))),
        *_spread(data),
    )
    return Section("raters", "How well does each rater label?", "Raters", blocks)


def _measure_text(row: LabelQualityRow | None) -> str:
    if row is None or math.isnan(row.value):
        return UNDEFINED
    _, text_of = _MEASURES[row.measure]
    return text_of(row.value)


def _spread(data: ReportData) -> Iterator[Card]:
    """Yield a card with the number of responses in each band; none if no response has two."""
    counts = {(row.question_id, row.band): row.n_responses for row in data.rows(LabelSpreadRow)}
    ordered = [question for question in data.evaluation.rubric if question.has_order]
    if not counts or not ordered:
        return
    table = Table(
        "Responses by the spread of their ratings",
        columns("Question", *(f"{band.capitalize()}#" for band in _BANDS)),
        tuple(
            TableRow(cells(question.id, *(f"{counts.get((question.id, b), 0):,}" for b in _BANDS)))
            for question in ordered
        ),
    )
    yield Card("How far apart are ratings of one response?", (Text(_SPREAD, is_small=True), table))


def disagreement(data: ReportData) -> Section | None:
    """Return a card for each question below a minimum; None if there is none."""
    if not data.diagnoses:
        return None
    cards = [_diagnosis_card(diagnosis) for diagnosis in data.diagnoses]
    return Section("why", "Which values do raters mix up?", "Values", (Text(_NEXT), *cards))


def _diagnosis_card(diagnosis: Diagnosis) -> Card:
    values = [f"{value}#" for value in diagnosis.values]
    confusion = Table(
        "Ratings beside each value, by other raters of the same response",
        columns("Value", *values),
        tuple(
            TableRow(cells(value, *("--" if math.isnan(x) else f"{100 * x:.0f} %" for x in shares)))
            for value, shares in zip(diagnosis.values, diagnosis.shares, strict=True)
        ),
    )
    use = Table(
        "Use of the scale",
        columns("Rater", "Shared responses#", "Severity in points#", *values),
        tuple(
            TableRow(
                cells(
                    rater.rater_id,
                    f"{rater.n_shared:,}",
                    written(rater.severity, "+z.2f"),
                    *(f"{100 * count / sum(rater.counts):.0f} %" for count in rater.counts),
                )
            )
            for rater in diagnosis.raters
        ),
    )
    summary = diagnosis.summary()
    remedies = list(dict.fromkeys(observation.remedy for observation in diagnosis.observations()))
    return Card(
        diagnosis.question.id,
        (
            Text(f"{summary[0].upper()}{summary[1:]}."),
            *bullets(remedies, "What to do"),
            confusion,
            use,
        ),
        anchor("why", diagnosis.question.id),
    )


_REWORDINGS = (
    "Labels under different wordings of a question are not pooled, unless these are declared "
    "equivalent. The newest wording with labels counts, and the gates use it."
)
_REWORDINGS_CAUTION = (
    "A change compares responses that were not rated under an earlier wording with those rated "
    "under the one before. It shows what the wording does if both are alike, as when they are "
    "drawn at random."
)


def rewordings(data: ReportData) -> Section | None:
    """Return A^HH and alpha of each wording with alpha's change; None with a single wording."""
    if not data.rubric_versions:
        return None
    changes = list(rewording_sentences(data.rubric_versions, data.evaluation))
    blocks = (
        Text(_REWORDINGS),
        *bullets(changes, "Did it help?"),
        laid_out("Agreement between humans by wording", _REWORDING, data.rubric_versions),
        Text(_REWORDINGS_CAUTION, is_small=True),
    )
    title = "Do people agree more under a new wording?"
    return Section("rewordings", title, "Wordings", (Card("", blocks),))


def _change_cell(change: Figure) -> Cell:
    """Return a change with its interval, coloured if it is clear."""
    if not change.is_defined:
        return Cell(UNDEFINED)
    is_clear = change.low > 0 or change.high < 0
    tone: Tone = Tone.NONE if not is_clear else Tone.GOOD if change.value > 0 else Tone.POOR
    interval = (
        f"{change.low:+z.3f} to {change.high:+z.3f}" if change.has_interval else "no interval"
    )
    return Cell(f"{change.value:+z.3f}", note=interval, tone=tone)


_REWORDING: Layout[RubricVersionFigures] = {
    "Question": lambda row: question_cell(row.question_id),
    "Version#": lambda row: f"{row.rubric_version}",
    "Responses#": lambda row: groups_text(row.n_responses, row.n_groups),
    "A^HH#": lambda row: figure_cell(row.a_hh, A_HH_LIMITS, a_hh_tone(row.a_hh.value)),
    "Krippendorff's alpha#": lambda row: figure_cell(
        row.alpha, ALPHA_LIMITS, alpha_tone(row.alpha.value)
    ),
    "New responses#": lambda row: "" if row.n_new is None else f"{row.n_new:,}",
    "Change of alpha#": lambda row: _change_cell(row.alpha_change) if row.previous_version else "",
}
