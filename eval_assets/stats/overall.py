"""Agreement over all questions of a rubric, with intervals over responses.

The questions of one response are answered by the same raters about the same text, so they are not
independent: what is resampled is the response with all its questions. Every figure is a function of
sums over responses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from eval_assets.stats.agreement import chance_agreement
from eval_assets.stats.coefficients import Estimator, defined_ratio, refuse_off_scale
from eval_assets.stats.distances import near_pairs, sums_within
from eval_assets.stats.intervals import Interval, intervals
from eval_assets.stats.patterns import Floats, Integers, RatingPatterns, Ratings, rating_matrix
from eval_assets.stats.resampling import ResampledUnits
from eval_assets.stats.weighting import weighted_sums

NO_VARIATION = 1e-13
"""Variance, as a share of the squares it is the difference of, that is only float noise."""


@dataclass(frozen=True, eq=False)
class QuestionRatings:
    """Ratings on one question of a rubric, one row each.

    Attributes:
        response: Any integer that tells responses apart, the same in all questions.
        value: The rating; NaN is no rating.
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.
        step: Distance of neighbouring values; None where it varies or the scale is continuous.
    """

    response: npt.NDArray[np.integer]
    value: Floats
    low: float
    high: float
    step: float | None

    @classmethod
    def from_matrix(cls, ratings: Ratings, *, low: float, high: float, step: float | None) -> Self:
        """Ratings of shape (n_responses, n_raters), with responses in the same order throughout.

        Raises:
            ValueError: If `ratings` is not two-dimensional or holds an infinity.
        """
        matrix = rating_matrix(ratings)
        response = np.repeat(np.arange(len(matrix)), matrix.shape[1])
        return cls(response, matrix.ravel(), low, high, step)


@dataclass(frozen=True)
class OverallProfile:
    """Agreement over all questions; NaN where undefined.

    Attributes:
        a_hh: Unweighted mean over questions of A^HH.
        a_hh_by_chance: Unweighted mean over questions of A^HH to expect by chance.
        exact_agreement: Share of rater pairs of all questions with equal ratings.
        adjacent_agreement: Share within one step of their scale; NaN where a scale has none.
        alpha: Krippendorff's alpha at the interval level; units are (response, question), values
            are taken from the declared scale to [0, 1].
        n_responses: Responses with two ratings on some question: what is resampled.
        n_units: (response, question) with at least two ratings.
        n_ratings: Ratings of those units.
        n_pairs: Pairs of ratings of one unit.
    """

    a_hh: Interval
    a_hh_by_chance: float
    exact_agreement: Interval
    adjacent_agreement: Interval
    alpha: Interval
    n_responses: int
    n_units: int
    n_ratings: int
    n_pairs: int


def overall_profile(
    questions: Sequence[QuestionRatings],
    *,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> OverallProfile:
    """Agreement over all questions of a rubric, with intervals over responses.

    Questions without a response that was rated twice are left out.

    Args:
        questions: Ratings on each question.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        n_resamples: Bootstrap resamples of the responses, shared by all figures.
        rng: Source of chance.

    Returns:
        The profile.

    Raises:
        ValueError: If a rating is infinite or off its scale, or an argument is out of range.

    Examples:
        >>> useful = QuestionRatings.from_matrix([[4, 5], [2, 2], [3, 1]], low=1, high=5, step=1)
        >>> correct = QuestionRatings.from_matrix([[1, 1], [0, 1], [0, 0]], low=0, high=1, step=1)
        >>> profile = overall_profile(
        ...     [useful, correct], confidence=0.95, n_resamples=500, rng=np.random.default_rng(1)
        ... )
        >>> round(profile.a_hh.value, 4), profile.n_responses, profile.n_units
        (0.7083, 3, 6)
    """
    parts = [part for part in map(_sums, questions) if len(part.response)]
    no_response = np.empty(0, np.int64)
    responses = np.unique(np.concatenate([no_response, *(part.response for part in parts)]))
    pooled = np.zeros((_N_POOLED, len(responses)))
    per_question = np.zeros((2, len(parts), len(responses)))
    for index, part in enumerate(parts):
        rows = np.searchsorted(responses, part.response)
        pooled[:, rows] += part.pooled
        per_question[0, index, rows] = part.agreement
        per_question[1, index, rows] = 1.0
    estimators = [
        _mean_of_questions(*per_question),
        _share_of_pairs(pooled, _EXACT),
        _share_of_pairs(pooled, _NEAR),
        _pooled_alpha(pooled),
    ]
    n_units = np.ones(len(responses), np.int64)
    a_hh, exact, adjacent, alpha = intervals(
        estimators,
        ResampledUnits.alike(n_units, n_entries=len(responses)),
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
    )
    by_chance = [part.by_chance for part in parts]
    totals = pooled.sum(axis=1)
    return OverallProfile(
        a_hh=a_hh,
        a_hh_by_chance=float(np.mean(by_chance)) if by_chance else float("nan"),
        exact_agreement=exact,
        adjacent_agreement=adjacent,
        alpha=alpha,
        n_responses=len(responses),
        n_units=sum(len(part.response) for part in parts),
        n_ratings=int(totals[_RATINGS]),
        n_pairs=int(totals[_PAIRS]),
    )


_PAIRS, _EXACT, _NEAR, _RATINGS, _VALUES, _SQUARES, _APART = range(_N_POOLED := 7)


@dataclass(frozen=True, eq=False)
class _QuestionSums:
    """What one question adds to the sums of each response with two ratings on it."""

    response: Integers
    agreement: Floats
    pooled: Floats
    by_chance: float


def _sums(question: QuestionRatings) -> _QuestionSums:
    units, patterns = RatingPatterns.by_unit(question.response, question.value)
    refuse_off_scale(patterns.values, low=question.low, high=question.high)
    width = question.high - question.low
    # measured from the middle of the scale, which keeps the sums of squares small
    positions = (patterns.values - question.low) / width - 0.5
    placed = patterns.count * positions[patterns.code]
    n_pairs = np.maximum(patterns.n_pairs, 1)
    far = sums_within(patterns, positions, "absolute")
    near = np.full(len(units), np.nan)
    if question.step is not None:
        near = near_pairs(patterns, within=question.step)
    pooled = np.empty((_N_POOLED, len(units)))
    pooled[_PAIRS] = patterns.n_pairs
    pooled[_EXACT] = near_pairs(patterns, within=0)
    pooled[_NEAR] = near
    pooled[_RATINGS] = patterns.n_ratings
    pooled[_VALUES] = patterns.sum_by_pattern(placed)
    pooled[_SQUARES] = patterns.sum_by_pattern(placed * positions[patterns.code])
    pooled[_APART] = sums_within(patterns, positions, "squared")
    pooled[_APART] /= np.maximum(patterns.n_ratings - 1, 1)
    rows = patterns.is_pairable
    return _QuestionSums(
        units[rows],
        (1 - far / n_pairs)[rows],
        pooled[:, rows],
        chance_agreement(patterns, low=question.low, high=question.high),
    )


def _mean_of_questions(agreement: Floats, rated: Floats) -> Estimator:
    """Mean over questions of the mean over responses."""

    def mean(weights: Floats) -> Floats:
        if not len(rated):
            return np.full(len(weights), np.nan)
        sums = weighted_sums(weights, agreement), weighted_sums(weights, rated)
        means: Floats = defined_ratio(*sums).mean(axis=1)
        return means

    return mean


def _share_of_pairs(pooled: Floats, column: int) -> Estimator:
    near, pairs = pooled[column], pooled[_PAIRS]
    return lambda weights: defined_ratio(
        weighted_sums(weights, near), weighted_sums(weights, pairs)
    )


def _pooled_alpha(pooled: Floats) -> Estimator:
    """Interval alpha of all units, from sums and sums of squares."""

    def alpha(weights: Floats) -> Floats:
        n_ratings, sums, squares, apart = weighted_sums(weights, pooled[_RATINGS:]).T
        expected = n_ratings * squares - sums**2
        varied = expected > NO_VARIATION * n_ratings * squares
        expected = np.where(varied, expected, 0.0)
        values: Floats = 1 - (n_ratings - 1) * defined_ratio(apart, expected)
        return values

    return alpha
