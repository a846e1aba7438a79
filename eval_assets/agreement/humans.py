"""Agreement between humans, by question and over all."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from eval_assets.agreement.gates.evidence import alpha_levels, overall_level
from eval_assets.agreement.label_agreement import gwet_ac_of, kappa_of
from eval_assets.agreement.ratings import HumanRatings
from eval_assets.bands import a_hh_label, alpha_label, chance_remark
from eval_assets.catalogue import CONFIDENCE, Figure
from eval_assets.config.evaluation import Evaluation
from eval_assets.figures import HumanFigures, Scope
from eval_assets.stats import (
    AgreementProfile,
    OverallProfile,
    RatingPatterns,
    agreement_profile,
    overall_profile,
)

_FIRST_ROUND = (
    "a later round relabelled mainly responses on which raters disagreed: the figures are those of "
    "each response's first round, since a second look at disagreements alone raises agreement"
)


@dataclass(frozen=True)
class Finding:
    """A remark on the labels of a question; a row of the table `label_findings`."""

    question_id: str
    finding: str


@dataclass(frozen=True)
class HumanMeasures:
    """Agreement of human raters, with remarks."""

    agreement: tuple[HumanFigures, ...]
    findings: tuple[Finding, ...]


def measure_humans(humans: HumanRatings, evaluation: Evaluation) -> HumanMeasures:
    """Measure agreement of humans, on each question and overall."""
    levels = alpha_levels(evaluation, "human")
    rows: list[HumanFigures] = []
    findings: list[Finding] = []
    every_pattern: dict[str, RatingPatterns] = {}
    for question in evaluation.rubric:
        ratings = humans.ratings[question.id]
        patterns = every_pattern[question.id] = ratings.patterns()
        profile = agreement_profile(
            patterns, scale=question.scale, level=levels[question.id], confidence=CONFIDENCE
        )
        kappa_kind, kappa = kappa_of(ratings, profile)
        gwet_ac_kind, gwet_ac = gwet_ac_of(profile)
        row = HumanFigures(
            scope=Scope.QUESTION,
            question_id=question.id,
            n_responses=profile.n_units,
            n_groups=profile.n_groups,
            n_raters=len(ratings.raters),
            n_ratings=len(ratings.value),
            n_pairs=profile.n_pairs,
            n_skipped=humans.n_skipped.get(question.id, 0),
            n_disagreements=humans.n_disagreements.get(question.id, 0),
            a_hh=Figure.of(profile.a_hh),
            a_hh_by_chance=profile.a_hh_by_chance,
            exact_agreement=Figure.percent(profile.exact_agreement),
            adjacent_agreement=Figure.percent(profile.adjacent_agreement),
            alpha=Figure.of(profile.alpha),
            alpha_level=profile.level,
            kappa=Figure.of(kappa),
            kappa_kind=kappa_kind,
            gwet_ac=Figure.of(gwet_ac),
            gwet_ac_kind=gwet_ac_kind,
            most_frequent_share=_most_frequent_share(patterns),
            n_rare_groups=_n_rare_groups(patterns),
            interval_method=profile.alpha.method,
            interpretation=_interpretation(profile),
            data_version=humans.data_version,
        )
        rows.append(row)
        if question.id in humans.first_round_only:
            findings.append(Finding(question.id, _FIRST_ROUND))
    return HumanMeasures((_overall(evaluation, humans, every_pattern), *rows), tuple(findings))


def _interpretation(profile: AgreementProfile | OverallProfile) -> str:
    if not profile.n_pairs:
        return "no response has two ratings"
    a_hh = a_hh_label(profile.a_hh.value) + chance_remark(
        profile.a_hh.value, low=profile.a_hh.low, by_chance=profile.a_hh_by_chance
    )
    if math.isnan(profile.alpha.value):
        return f"{a_hh}; alpha is undefined, since all ratings are equal"
    return f"{a_hh}; alpha {alpha_label(profile.alpha.value)}"


def _overall(
    evaluation: Evaluation, humans: HumanRatings, patterns: Mapping[str, RatingPatterns]
) -> HumanFigures:
    """Return the overall figures: A^HH is the mean over questions, alpha pools them on [0, 1]."""
    ratings = humans.ratings
    profile = overall_profile(
        ((patterns[q.id], q.scale) for q in evaluation.rubric),
        confidence=CONFIDENCE,
        groups=ratings[evaluation.rubric[0].id].group,
    )
    return HumanFigures(
        scope=Scope.OVERALL,
        n_responses=profile.n_responses,
        n_groups=profile.n_groups,
        n_raters=len({rater for long in ratings.values() for rater in long.raters}),
        n_ratings=sum(len(long.value) for long in ratings.values()),
        n_pairs=profile.n_pairs,
        n_skipped=sum(humans.n_skipped.values()),
        n_disagreements=sum(humans.n_disagreements.values()),
        a_hh=Figure.of(profile.a_hh),
        a_hh_by_chance=profile.a_hh_by_chance,
        exact_agreement=Figure.percent(profile.exact_agreement),
        adjacent_agreement=Figure.percent(profile.adjacent_agreement),
        alpha=Figure.of(profile.alpha),
        alpha_level=overall_level(evaluation),
        alpha_within=Figure.of(profile.alpha_within),
        interval_method=profile.alpha.method,
        interpretation=_interpretation(profile),
        data_version=humans.data_version,
    )


def _most_frequent_share(patterns: RatingPatterns) -> float:
    entries = patterns.count * patterns.n_units[patterns.pattern]
    totals = np.bincount(patterns.code, weights=entries)
    return float(totals.max() / totals.sum()) if len(totals) else math.nan


def _n_rare_groups(patterns: RatingPatterns) -> int:
    """Return the number of groups with a rarer rating on a response with two ratings."""
    is_pairable = patterns.is_pairable[patterns.pattern]
    entries = patterns.count * patterns.n_units[patterns.pattern] * is_pairable
    totals = np.bincount(patterns.code, weights=entries)
    is_rarer = is_pairable & (patterns.code != (np.argmax(totals) if len(totals) else -1))
    has_rarer = np.zeros(len(patterns.n_units), dtype=bool)
    has_rarer[patterns.pattern[is_rarer]] = True
    return patterns.units.evidence(has_rarer)[1]
