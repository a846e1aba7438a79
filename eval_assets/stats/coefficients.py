"""Agreement coefficients as functions of how many units show each rating pattern.

A coefficient makes an `Estimator` of given patterns once; it then gives the coefficient for any
number of sets of pattern weights at a time. The observed weights give the value itself, weights
without one unit its jackknife, multinomial weights its bootstrap, and all coefficients can be given
the same weights.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level
from eval_assets.stats.distances import Distance, near_pairs, sums_between, sums_within
from eval_assets.stats.patterns import Floats, RatingPatterns
from eval_assets.stats.weighting import weighted_sums

Estimator: TypeAlias = Callable[[Floats], Floats]
"""Weights of shape (n_sets, n_patterns) -> values of shape (n_sets,), NaN where undefined."""

AgreementWeights = Literal["linear", "quadratic", "ordinal"]
"""Credit for near misses, as in Gwet (2014): by |a - b|, by (a - b)**2, or by the number of
categories from a to b, whatever their values."""


class Coefficient(Protocol):
    """What can be estimated, resampled and compared."""

    def estimator(self, patterns: RatingPatterns) -> Estimator:
        """The coefficient as a function of pattern weights."""
        ...


def estimate(coefficient: Coefficient, patterns: RatingPatterns) -> float:
    """Value of `coefficient` on the units that were observed; NaN where it is undefined."""
    observed = patterns.n_units[np.newaxis].astype(np.float64)
    return float(coefficient.estimator(patterns)(observed)[0])


@dataclass(frozen=True)
class HumanAgreement:
    """A^HH: mean over units of the mean over rater pairs of 1 - |a - b| / (high - low)."""

    low: float
    high: float

    def estimator(self, patterns: RatingPatterns) -> Estimator:
        """A^HH as a function of pattern weights.

        Raises:
            ValueError: If `low` is not below `high` or a rating lies outside them.
        """
        refuse_off_scale(patterns.values, low=self.low, high=self.high)
        distance = sums_within(patterns, patterns.values, "absolute") / (self.high - self.low)
        agreement = 1 - _per_pair(distance, patterns)
        return _mean_over_units(agreement, patterns)


@dataclass(frozen=True)
class PairwiseAgreement:
    """Share of rater pairs, pooled over units, at most `within` apart."""

    within: float

    def estimator(self, patterns: RatingPatterns) -> Estimator:
        """Share of near pairs as a function of pattern weights."""
        near = near_pairs(patterns, within=self.within)
        pairs = patterns.n_pairs.astype(np.float64)
        return lambda weights: defined_ratio(
            weighted_sums(weights, near), weighted_sums(weights, pairs)
        )


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha."""

    level: Level

    def estimator(self, patterns: RatingPatterns) -> Estimator:
        """Alpha as a function of pattern weights.

        Raises:
            ValueError: At the ratio level, if a value is negative or there are too many.
        """
        pairable = patterns.is_pairable.astype(np.float64)
        others = np.maximum(patterns.n_ratings - 1, 1)
        fixed = None
        if self.level != "ordinal":
            fixed = sums_within(patterns, patterns.values, _DISTANCES[self.level]) / others

        def alpha(weights: Floats) -> Floats:
            marginals = patterns.marginals(weights, pairable)
            total = marginals.sum(axis=1)
            if fixed is None:  # the distance between ranks, which the marginals decide
                ranks = np.cumsum(marginals, axis=1) - marginals / 2
                within = sums_within(patterns, ranks, "squared")
                observed = (weights * (within / others)).sum(axis=1)
                expected = sums_between(marginals, ranks, "squared")
            else:
                observed = weighted_sums(weights, fixed)
                expected = sums_between(marginals, patterns.values, _DISTANCES[self.level])
            varied = np.count_nonzero(marginals, axis=1) > 1
            expected = np.where(varied, expected, 0.0)
            values: Floats = 1 - (total - 1) * defined_ratio(observed, expected)
            return values

        return alpha


_DISTANCES: dict[Level, Distance] = {
    "nominal": "nominal",
    "ordinal": "squared",
    "interval": "squared",
    "ratio": "ratio",
}


@dataclass(frozen=True)
class FleissKappa:
    """Fleiss' kappa, in Gwet's generalisation to missing ratings."""

    def estimator(self, patterns: RatingPatterns) -> Estimator:
        """Fleiss' kappa as a function of pattern weights."""
        distance = sums_within(patterns, patterns.values, "nominal")
        observed = _mean_over_units(1 - _per_pair(distance, patterns), patterns)

        def kappa(weights: Floats) -> Floats:
            shares = _category_shares(weights, patterns)
            varied = np.count_nonzero(shares, axis=1) > 1
            expected = np.where(varied, 1 - (shares**2).sum(axis=1), 0.0)
            return 1 - defined_ratio(1 - observed(weights), expected)

        return kappa


@dataclass(frozen=True)
class GwetAC:
    """Gwet's AC1 (`weights` None) and AC2.

    Attributes:
        weights: Credit for near misses; None gives it to equal ratings only.
        categories: Declared values of the scale, ascending; None takes those observed.
    """

    weights: AgreementWeights | None
    categories: tuple[float, ...] | None = None

    def estimator(self, patterns: RatingPatterns) -> Estimator:
        """Gwet's coefficient as a function of pattern weights.

        Raises:
            ValueError: If the categories do not ascend or a rating is none of them.
        """
        categories = patterns.values
        if self.categories is not None:
            categories = np.asarray(self.categories, dtype=np.float64)
        index = category_index(patterns.values, categories)
        n_categories = len(categories)
        if n_categories < 2:  # noqa: PLR2004 - it takes two to agree on one
            return Undefined()
        credit, in_all = self._credits(patterns, categories, index)
        observed = _mean_over_units(credit, patterns)

        def coefficient(weights: Floats) -> Floats:
            shares = _category_shares(weights, patterns)
            spread = (shares * (1 - shares)).sum(axis=1)
            expected = in_all * spread / (n_categories * (n_categories - 1))
            return 1 - defined_ratio(1 - observed(weights), 1 - expected)

        return coefficient

    def _credits(
        self, patterns: RatingPatterns, categories: Floats, index: npt.NDArray[np.intp]
    ) -> tuple[Floats, float]:
        """Mean credit of a pair of each pattern, and the credits summed over all categories."""
        ranks = np.arange(len(categories), dtype=np.float64)
        match self.weights:
            case None:
                terms: list[tuple[Distance, Floats]] = [("nominal", ranks)]
            case "linear":
                terms = [("absolute", categories)]
            case "quadratic":
                terms = [("squared", categories)]
            case "ordinal":  # twice the pairs of categories from a to b: d (d + 1), d ranks apart
                terms = [("squared", ranks), ("absolute", ranks)]
        once, ends = np.ones((1, len(categories))), np.zeros((1, len(categories)))
        ends[:, [0, -1]] = 1.0
        within, longest, in_all = np.zeros(len(patterns.n_units)), 0.0, 0.0
        for distance, position in terms:
            within += sums_within(patterns, position[index], distance)
            longest += float(sums_between(ends, position, distance)[0])
            in_all += float(sums_between(once, position, distance)[0])
        credit = 1 - _per_pair(within / longest, patterns)
        return credit, len(categories) ** 2 - 2 * in_all / longest


@dataclass(frozen=True)
class Undefined:
    """A coefficient that does not apply."""

    def estimator(self, patterns: RatingPatterns) -> "Undefined":
        """NaN, whatever the ratings."""
        del patterns
        return self

    def __call__(self, weights: Floats) -> Floats:
        """One NaN for each set of weights."""
        return np.full(len(weights), np.nan)


def refuse_off_scale(values: Floats, *, low: float, high: float) -> None:
    """Raise unless `low` < `high` and all values lie between them, up to float noise."""
    if not low < high:
        raise ValueError(f"low must lie below high, got {low:g} and {high:g}")
    noise = 1e-9 * (high - low)
    if values.size and (values.min() < low - noise or values.max() > high + noise):
        raise ValueError(
            f"ratings must lie in [{low:g}, {high:g}], got {values.min():g} to {values.max():g}"
        )


def category_index(values: Floats, categories: Floats) -> npt.NDArray[np.intp]:
    """Which category each value is, up to float noise."""
    if np.any(np.diff(categories) <= 0):
        raise ValueError(f"categories must ascend, got {categories}")
    noise = 1e-9 * np.abs(categories).max(initial=0.0)
    index: npt.NDArray[np.intp] = np.searchsorted(categories, values - noise)
    off = values[np.append(categories, np.inf)[index] > values + noise]
    if off.size:
        raise ValueError(f"ratings must be categories, got {off[0]:g}")
    return index


def defined_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient, and NaN where the denominator is not above 0."""
    undefined = np.full(denominator.shape, np.nan)
    ratio: Floats = np.divide(numerator, denominator, out=undefined, where=denominator > 0)
    return ratio


def _per_pair(sums: Floats, patterns: RatingPatterns) -> Floats:
    """Mean over the pairs of a unit with each pattern; 0 where it has none."""
    return sums / np.maximum(patterns.n_pairs, 1)


def _mean_over_units(values: Floats, patterns: RatingPatterns) -> Estimator:
    """Mean of `values` over the units with two ratings, as a function of pattern weights."""
    pairable = patterns.is_pairable.astype(np.float64)
    summed = values * pairable
    return lambda weights: defined_ratio(
        weighted_sums(weights, summed), weighted_sums(weights, pairable)
    )


def _category_shares(weights: Floats, patterns: RatingPatterns) -> Floats:
    """Mean over rated units of the share of each value in the unit's ratings."""
    shares = patterns.marginals(weights, 1 / patterns.n_ratings)
    n_units = weights.sum(axis=1, keepdims=True)
    shares /= np.where(n_units > 0, n_units, 1.0)
    return shares
