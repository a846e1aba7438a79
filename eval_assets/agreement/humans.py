"""Agreement between humans: rows of its tables."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eval_assets.agreement._columns import CONFIDENCE, statistic_columns
from eval_assets.agreement.advice import Finding, rater_patterns, suggestions
from eval_assets.agreement.evidence import alpha_levels
from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.evaluation import Evaluation
from eval_assets.interpretation import a_hh_label, alpha_label, chance_remark
from eval_assets.statistics import HUMAN_AGREEMENT
from eval_assets.stats import (
    AgreementProfile,
    CohenKappa,
    Interval,
    OverallProfile,
    RatingPatterns,
    agreement_profile,
    coefficient_interval,
    overall_profile,
)


@dataclass(frozen=True)
class HumanMeasures:
    """Agreement of human raters, with remarks.

    Args:
        agreement: Rows of `human_agreement`: overall first, then in the rubric's order.
        findings: Rows of `label_findings`.
    """

    agreement: pd.DataFrame
    findings: tuple[Finding, ...]


def measure_humans(humans: HumanRatings, evaluation: Evaluation) -> HumanMeasures:
    """Measure agreement of humans, on each question and overall."""
    levels = alpha_levels(evaluation, "human")
    rows: list[dict[str, object]] = []
    findings: list[Finding] = []
    for question in evaluation.rubric:
        given = humans.ratings[question.id]
        profile = agreement_profile(
            humans.patterns[question.id],
            scale=question.scale,
            level=levels[question.id],
            confidence=CONFIDENCE,
        )
        kappa_kind, kappa = _kappa(given, fleiss=profile.fleiss_kappa)
        is_nominal = math.isnan(profile.gwet_ac2.value)
        measured = vars(profile) | {
            "kappa": kappa,
            "gwet_ac": profile.gwet_ac1 if is_nominal else profile.gwet_ac2,
            "most_frequent_share": _most_frequent_share(humans.patterns[question.id]),
        }
        rows.append(
            {
                "scope": "question",
                "question_id": question.id,
                "n_responses": profile.n_units,
                "n_groups": profile.n_groups,
                "n_raters": len(given.by_rater()),
                "n_ratings": len(given.value),
                "n_pairs": profile.n_pairs,
                "n_skipped": humans.n_skipped.get(question.id, 0),
                "n_disagreements": humans.n_disagreements.get(question.id, 0),
                **statistic_columns(HUMAN_AGREEMENT, measured),
                "alpha_level": profile.level,
                "kappa_kind": kappa_kind,
                "gwet_ac_kind": "ac1" if is_nominal else "ac2_quadratic",
                "interval_method": profile.alpha.method,
                "interpretation": _interpretation(profile),
            }
        )
        findings += rater_patterns(question, given)
        findings += suggestions(
            question,
            exact=profile.exact_agreement.value,
            adjacent=profile.adjacent_agreement.value,
            alpha=profile.alpha,
            minimum_alpha=evaluation.gates["human_alpha"].minimum,
            most_frequent_share=measured["most_frequent_share"],
            n_disagreements=humans.n_disagreements.get(question.id, 0),
        )
    overall = {
        **_overall(evaluation, humans.ratings),
        "n_skipped": sum(humans.n_skipped.values()),
        "n_disagreements": sum(humans.n_disagreements.values()),
    }
    agreement = pd.DataFrame([overall, *rows]).assign(data_version=humans.data_version)
    return HumanMeasures(agreement=agreement, findings=tuple(findings))


def _interpretation(profile: AgreementProfile | OverallProfile) -> str:
    """Return the bands that the figures lie in, or why they are undefined."""
    if not profile.n_pairs:
        return "no response has two ratings"
    a_hh = a_hh_label(profile.a_hh.value) + chance_remark(
        profile.a_hh.value, low=profile.a_hh.low, by_chance=profile.a_hh_by_chance
    )
    if math.isnan(profile.alpha.value):
        return f"{a_hh}; alpha undefined: no variation, all ratings are equal"
    return f"{a_hh}; alpha {alpha_label(profile.alpha.value)}"


def _overall(evaluation: Evaluation, ratings: Mapping[str, LongRatings]) -> dict[str, object]:
    """Return the overall row: A^HH is the mean over questions, alpha pools them on [0, 1]."""
    profile = overall_profile(
        [(ratings[question.id].matrix(), question.scale) for question in evaluation.rubric],
        confidence=CONFIDENCE,
        groups=ratings[evaluation.rubric[0].id].group,
    )
    return {
        "scope": "overall",
        "question_id": None,
        "n_responses": profile.n_responses,
        "n_groups": profile.n_groups,
        "n_raters": len({rater for given in ratings.values() for rater in given.by_rater()}),
        "n_ratings": sum(len(given.value) for given in ratings.values()),
        "n_pairs": profile.n_pairs,
        **statistic_columns(HUMAN_AGREEMENT, vars(profile)),
        "alpha_level": "interval",
        "interval_method": profile.alpha.method,
        "interpretation": _interpretation(profile),
    }


def _kappa(given: LongRatings, *, fleiss: Interval) -> tuple[str, Interval]:
    """Return Cohen's kappa if exactly two raters rated, else Fleiss', with its kind."""
    raters = np.unique(given.rater)
    if len(raters) != 2:  # noqa: PLR2004 - Cohen's kappa is of two raters
        return "fleiss", fleiss
    return "cohen", coefficient_interval(
        given.matrix()[:, raters],
        CohenKappa(weights=None),
        confidence=CONFIDENCE,
        groups=given.group,
    )


def _most_frequent_share(patterns: RatingPatterns) -> float:
    """Return the share of all ratings that have the most frequent value."""
    entries = patterns.count * patterns.n_units[patterns.pattern]
    totals = np.bincount(patterns.code, weights=entries)
    return float(totals.max() / totals.sum()) if len(totals) else math.nan
