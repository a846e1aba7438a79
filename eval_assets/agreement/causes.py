"""Why people disagree: a rater is stricter or deviates, or two values are not told apart."""

from dataclasses import dataclass

import numpy as np

from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Level
from eval_assets.stats import RatingPatterns, krippendorff_alpha
from eval_assets.stats.equal_quality import without_severity

_FEWEST_SHARED, _FEWEST_DIFFERING = 10, 20
"""Units that a rater shares with others, and units on which ratings differ, from which on a cause
shows."""

_LEAST_GAP, _LEAST_EXPLAINED = 0.2, 1 / 6
"""Difference of two raters, in shares of the scale, and share of the squared disagreement that goes
with severities, from which on these are its cause (choices). One point of 1 to 5 is .25, and the
ends of the scale shrink it. The share keeps noise of many raters with few ratings out."""

_LEAST_MIXED = 1 / 2
"""Share of the differing pairs from which on two values are the cause (a choice)."""

_MOST_VALUES = 11

_FEWEST_RATERS, _MOST_RATERS, _LEAST_GAIN = 3, 12, 0.2
"""Of so many raters one may be the cause, if alpha is so much higher without them (choices). Of two
nobody can tell which; among many, one hardly counts. Noise of equal raters gains less."""


@dataclass(frozen=True)
class SeverityGap:
    """A rater who rates higher than another, by so many points of the scale."""

    lenient: str
    strict: str
    points: float


@dataclass(frozen=True)
class DeviatingRater:
    """The one rater without whom the others agree, with their alpha."""

    rater: str
    alpha: float


@dataclass(frozen=True)
class MixedValues:
    """Two values, and the share of differing pairs of ratings that they are."""

    values: tuple[float, float]
    share: float


Cause = SeverityGap | DeviatingRater | MixedValues


def cause_of_disagreement(
    question: RubricQuestion,
    ratings: LongRatings,
    patterns: RatingPatterns,
    *,
    level: Level,
    limit: float,
) -> Cause | None:
    """Return what most of the disagreement comes from; None if nothing stands out.

    `limit` is the alpha from which on people agree.
    """
    return (
        _severity_gap(question, ratings.shared())
        or _deviating_rater(ratings, patterns, level=level, limit=limit)
        or _mixed_values(question, patterns)
    )


def _severity_gap(question: RubricQuestion, ratings: LongRatings) -> SeverityGap | None:
    n_raters = len(ratings.rater_ids)
    n_of_rater = np.bincount(ratings.rater, minlength=n_raters)
    is_known = n_of_rater >= _FEWEST_SHARED
    if not question.has_order or is_known.sum() < 2:  # noqa: PLR2004 - of two raters
        return None
    unit = np.unique(ratings.unit, return_inverse=True)[1]
    levelled = without_severity(unit, ratings.rater, ratings.value)
    n_units, n_compared = int(unit[-1]) + 1, int(np.count_nonzero(n_of_rater))

    def disagreement(values: np.ndarray) -> float:
        means = np.bincount(unit, values) / np.bincount(unit)
        return float(((values - means[unit]) ** 2).sum())

    # Severities of many raters with few ratings fit noise as well, hence the degrees of freedom.
    n_free = len(unit) - n_units
    whole = disagreement(ratings.value) / n_free
    rest = disagreement(levelled) / max(n_free - n_compared + 1, 1)
    if not whole - rest >= _LEAST_EXPLAINED * whole > 0:
        return None
    severity = np.bincount(ratings.rater, ratings.value - levelled, n_raters)
    severity = np.where(is_known, severity / np.maximum(n_of_rater, 1), np.nan)
    lenient, strict = int(np.nanargmax(severity)), int(np.nanargmin(severity))
    points = float(severity[lenient] - severity[strict])
    if points < _LEAST_GAP * (question.scale.high - question.scale.low):
        return None
    return SeverityGap(ratings.rater_ids[lenient], ratings.rater_ids[strict], points)


def _deviating_rater(
    ratings: LongRatings, patterns: RatingPatterns, *, level: Level, limit: float
) -> DeviatingRater | None:
    n_of_rater = np.bincount(ratings.shared().rater, minlength=len(ratings.rater_ids))
    if not _FEWEST_RATERS <= np.count_nonzero(n_of_rater) <= _MOST_RATERS:
        return None
    least = max(limit, krippendorff_alpha(patterns, level=level) + _LEAST_GAIN)
    deviating = []
    for rater in np.flatnonzero(n_of_rater >= _FEWEST_SHARED).tolist():
        rest = ratings.where(ratings.rater != rater)
        if len(np.unique(rest.shared().unit)) >= _FEWEST_DIFFERING:
            alpha = krippendorff_alpha(rest.patterns(), level=level)
            if alpha >= least:
                deviating.append(DeviatingRater(ratings.rater_ids[rater], alpha))
    return deviating[0] if len(deviating) == 1 else None


def _mixed_values(question: RubricQuestion, patterns: RatingPatterns) -> MixedValues | None:
    n_values = len(patterns.values)
    if len(question.scale.values or ()) == 2 or not 2 <= n_values <= _MOST_VALUES:  # noqa: PLR2004
        return None
    counts = np.zeros((len(patterns.n_units), n_values))
    counts[patterns.pattern, patterns.code] = patterns.count
    is_differing = np.count_nonzero(counts, axis=1) > 1
    if patterns.n_units[is_differing].sum() < _FEWEST_DIFFERING:
        return None
    weights = patterns.n_units / np.maximum(patterns.n_ratings - 1, 1)
    pairs = np.triu(counts.T @ (counts * weights[:, np.newaxis]), 1)
    low, high = np.unravel_index(pairs.argmax(), pairs.shape)
    share = float(pairs[low, high] / pairs.sum())
    if share < _LEAST_MIXED:
        return None
    return MixedValues((float(patterns.values[low]), float(patterns.values[high])), share)
