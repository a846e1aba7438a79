"""Judges against humans, beside what a judge that reads nothing would reach."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eval_assets.interpretation import A_HH_LIMITS, UNDEFINED, a_hh_label, figure_text
from eval_assets.report.data import ReportData
from eval_assets.report.figures import (
    Mark,
    Measure,
    Track,
    a_hh_tone,
    agreement_track,
    coefficient,
    share_of_pairs,
)
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import lenience


@dataclass(frozen=True)
class JudgeAgainstHumans:
    """One judge against the human raters of one question.

    Args:
        judge_id: The judge.
        n_units: Units with a score and a human rating.
        a_ha: Agreement with humans.
        constant: What the best constant score would reach, as written.
        shuffled: What its own scores would reach, dealt out at random, as written.
        track: Agreement against both controls.
        lenience: Whether it is stricter or more lenient than humans, in words.
        measures: Every figure.
    """

    judge_id: str
    n_units: int
    a_ha: Measure
    constant: str
    shuffled: str
    track: Track
    lenience: str
    measures: tuple[Measure, ...]

    @property
    def spearman(self) -> str:
        """Spearman's rho as written."""
        return next(m.value for m in self.measures if m.name == _COEFFICIENTS["spearman"])


_CONTROLS = {
    "a_ha_constant": "A^HA of the best constant score",
    "a_ha_shuffled": "A^HA of its own scores, shuffled",
}
_SHARES = {"exact_agreement": "Exact agreement", "adjacent_agreement": "Adjacent agreement"}
_COEFFICIENTS = {
    "alpha": "Krippendorff's alpha",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "Cohen's kappa (quadratic weights)",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pearson": "Pearson's r",
    "mae": "Mean absolute error (points)",
    "bias": "Judge minus humans (points)",
}


def judges_against_humans(data: ReportData) -> dict[str, tuple[JudgeAgainstHumans, ...]]:
    """Every judge against humans, by question in the rubric's order."""
    by_question: dict[str, list[JudgeAgainstHumans]] = {q.id: [] for q in data.evaluation.rubric}
    for row in rows_of(data.judge_human_agreement):
        if text(row, "question_id") in by_question:
            by_question[text(row, "question_id")].append(_against_humans(row))
    order = {judge.id: place for place, judge in enumerate(data.evaluation.judges)}
    return {
        question_id: tuple(sorted(found, key=lambda judge: order.get(judge.judge_id, len(order))))
        for question_id, found in by_question.items()
        if found
    }


def _against_humans(row: Row) -> JudgeAgainstHumans:
    a_ha, constant, shuffled = (number(row, c) for c in ("a_ha", "a_ha_constant", "a_ha_shuffled"))
    agreement = coefficient(
        row,
        "a_ha",
        "A^HA",
        reading=a_hh_label(a_ha),
        undefined=_why_undefined(row),
        limits=(*A_HH_LIMITS, constant),
        tone=a_hh_tone(a_ha),
    )
    return JudgeAgainstHumans(
        judge_id=text(row, "judge_id"),
        n_units=count(row, "n_units"),
        a_ha=agreement,
        constant=figure_text(constant, limits=[a_ha]),
        shuffled=figure_text(shuffled, limits=[a_ha]),
        track=agreement_track(
            a_ha,
            number(row, "a_ha_low"),
            number(row, "a_ha_high"),
            name=f"A^HA of {text(row, 'judge_id')}",
            marks=[Mark("constant", constant), Mark("shuffled", shuffled)],
            tone=a_hh_tone(a_ha),
        ),
        lenience=_leaning(row),
        measures=(agreement, *_measures(row)),
    )


def _measures(row: Row) -> tuple[Measure, ...]:
    """Every further figure, the controls first."""
    undefined = _why_undefined(row)

    def coefficients(names: Mapping[str, str]) -> Iterator[Measure]:
        for column, name in names.items():
            yield coefficient(row, column, name, reading="", undefined=undefined)

    return (
        *coefficients(_CONTROLS),
        *(
            share_of_pairs(row, column, name, reading="", undefined=undefined)
            for column, name in _SHARES.items()
        ),
        *coefficients(_COEFFICIENTS),
        _wilcoxon(row),
    )


def _leaning(row: Row) -> str:
    """Which way a judge leans, unless its interval holds both ways."""
    bias, low, high = (number(row, column) for column in ("bias", "bias_low", "bias_high"))
    if low <= 0 <= high:
        return f"{bias:+.2f}, no clear difference"
    return lenience(bias)


def _wilcoxon(row: Row) -> Measure:
    p = number(row, "wilcoxon_p")
    return Measure(
        name="Wilcoxon signed-rank test (p)",
        value=UNDEFINED if math.isnan(p) else "below 0.001" if p < 0.001 else f"{p:.3f}",  # noqa: PLR2004
        interval="",
        reading="fewer than 10 units" if math.isnan(p) else "",
    )


def _why_undefined(row: Row) -> str:
    if not count(row, "n_units"):
        return "no unit has both a score and a human rating"
    return "no variation, or not defined on this scale"
