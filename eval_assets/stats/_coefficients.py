"""Agreement coefficients as functions of the number of units per rating pattern.

A coefficient makes an `Estimator` of its patterns once, which computes it for any number of sets
of pattern weights at a time. The observed weights yield the value, weights without one group its
jackknife, and all coefficients can use the same weights.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level, Scale
from eval_assets.stats._distances import Distance, near_pairs, sums_between, sums_within
from eval_assets.stats._interval_bounds import BeyondChance, MeanShare, Spread
from eval_assets.stats._numbers import (
    Floats,
    Indices,
    Integers,
    Ratings,
    category_index,
    require_literal,
    require_on_scale,
)
from eval_assets.stats._patterns import RatingPatterns, counted
from eval_assets.stats._units import Estimator, defined_ratio, weighted_sums

AgreementWeights = Literal["linear", "quadratic", "ordinal"]
"""Credit for near misses, as in Gwet (2014): by |a - b|, by (a - b)**2, or by the number of
categories from a to b, whatever their values."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A coefficient of some units.

    Attributes:
        estimator: The coefficient as a function of how many units are of each kind.
        spread: How its sampling error changes with its true value.
        is_evidence: Whether units of each kind can agree or disagree, shape (n_kinds,).
        cost: Numbers that one estimate reads.
    """

    estimator: Estimator
    spread: Spread
    is_evidence: npt.NDArray[np.bool_]
    cost: int


class Coefficient(Protocol):
    """A coefficient that can be estimated and compared, with an interval."""

    def by_row(self, ratings: Ratings) -> tuple[Measure, Indices]:
        """Return the coefficient of a matrix, and the kind of each row, -1 if it is left out."""
        ...


class PatternCoefficient(ABC):
    """A coefficient that does not depend on which rater gave which rating."""

    @property
    def takes_text(self) -> bool:
        """Return whether ratings may be text labels."""
        return False

    @abstractmethod
    def measure(self, patterns: RatingPatterns) -> Measure:
        """Return the coefficient of patterns."""

    def by_row(self, ratings: Ratings) -> tuple[Measure, Indices]:
        """Return the coefficient of a matrix, and the pattern of each row, -1 without ratings."""
        patterns, index = RatingPatterns.by_row(ratings, text=self.takes_text)
        return self.measure(patterns), index


def estimate(coefficient: PatternCoefficient, ratings: Ratings | RatingPatterns) -> float:
    """Return the coefficient of ratings; NaN if it is undefined."""
    patterns = counted(ratings, text=coefficient.takes_text)
    return float(coefficient.measure(patterns).estimator(patterns.units.observed())[0])


@dataclass(frozen=True)
class HumanAgreement(PatternCoefficient):
    """A^HH: mean over units of the mean over rater pairs of 1 - |a - b| / (high - low).

    Values without order are equal or not: the distance is 1 if a and b differ, else 0.
    """

    scale: Scale

    def measure(self, patterns: RatingPatterns) -> Measure:
        """Return A^HH of patterns.

        Raises:
            ValueError: If a rating lies off the scale.
        """
        return _measure(
            patterns, _mean_over_units(self.by_pattern(patterns), patterns), MeanShare()
        )

    def by_pattern(self, patterns: RatingPatterns) -> Floats:
        """Return the mean over rater pairs of units with each pattern; 1 for a single rating.

        Raises:
            ValueError: If a rating lies off the scale.
        """
        require_on_scale(patterns.values, self.scale)
        distance, width = _distance(self.scale)
        distances = sums_within(patterns, patterns.values, distance) / width
        return 1 - _per_pair(distances, patterns)


@dataclass(frozen=True)
class PairwiseAgreement(PatternCoefficient):
    """Share of rater pairs, pooled over units, at most `within` apart.

    Attributes:
        within: Greatest distance that counts as agreement, in scale points.
    """

    within: float

    def __post_init__(self) -> None:
        if not self.within >= 0:
            raise ValueError(f"within must be at least 0, got {self.within:g}")

    @property
    def takes_text(self) -> bool:
        """Return whether only equal ratings agree."""
        return self.within == 0

    def measure(self, patterns: RatingPatterns) -> Measure:
        """Return the share of near pairs of patterns."""
        near = near_pairs(patterns, within=self.within)
        pairs = patterns.n_pairs.astype(np.float64)
        return _measure(
            patterns,
            lambda weights: defined_ratio(
                weighted_sums(weights, near), weighted_sums(weights, pairs)
            ),
            MeanShare(),
        )


@dataclass(frozen=True)
class Alpha(PatternCoefficient):
    """Krippendorff's alpha."""

    level: Level

    def __post_init__(self) -> None:
        require_literal(self.level, Level, name="level")

    @property
    def takes_text(self) -> bool:
        """Return whether the level is nominal."""
        return self.level == "nominal"

    def measure(self, patterns: RatingPatterns) -> Measure:
        """Return alpha of patterns.

        Raises:
            ValueError: At the ratio level, if a value is negative or there are too many.
        """
        pairable = patterns.is_pairable.astype(np.float64)
        n_peers = np.maximum(patterns.n_ratings - 1, 1)
        fixed = None
        if self.level != "ordinal":
            fixed = sums_within(patterns, patterns.values, _DISTANCES[self.level]) / n_peers

        def alpha(weights: Floats) -> Floats:
            marginals = patterns.marginals(weights, pairable)
            total = marginals.sum(axis=1)
            if fixed is None:  # the distance between ranks, which follow from the marginals
                ranks = np.cumsum(marginals, axis=1) - marginals / 2
                within = sums_within(patterns, ranks, "squared")
                observed = (weights * (within / n_peers)).sum(axis=1)
                expected = sums_between(marginals, ranks, "squared")
            else:
                observed = weighted_sums(weights, fixed)
                expected = sums_between(marginals, patterns.values, _DISTANCES[self.level])
            varied = np.count_nonzero(marginals, axis=1) > 1
            expected = np.where(varied, expected, 0.0)
            values: Floats = 1 - (total - 1) * defined_ratio(observed, expected)
            return values

        marginals, positions = observed_marginals(patterns), patterns.values
        if self.level == "ordinal":
            positions = np.cumsum(marginals) - marginals / 2
        spread = BeyondChance.of(
            marginals,
            None if self.level == "nominal" else positions,
            n_pairs=_n_pairs(patterns),
        )
        is_slow = self.level == "ratio"  # compares all values; 32 in the time of a look-up
        cost = len(patterns.values) ** 2 // 32 if is_slow else len(patterns.code)
        return _measure(patterns, alpha, spread, cost=cost)


_DISTANCES: dict[Level, Distance] = {
    "nominal": "nominal",
    "ordinal": "squared",
    "interval": "squared",
    "ratio": "ratio",
}


@dataclass(frozen=True)
class FleissKappa(PatternCoefficient):
    """Fleiss' kappa, in Gwet's generalisation to missing ratings."""

    @property
    def takes_text(self) -> bool:
        """Always: only equal and unequal ratings count."""
        return True

    def measure(self, patterns: RatingPatterns) -> Measure:
        """Return Fleiss' kappa of patterns."""
        distance = sums_within(patterns, patterns.values, "nominal")
        observed = _mean_over_units(1 - _per_pair(distance, patterns), patterns)

        def kappa(weights: Floats) -> Floats:
            shares = _category_shares(weights, patterns)
            varied = np.count_nonzero(shares, axis=1) > 1
            expected = np.where(varied, 1 - (shares**2).sum(axis=1), 0.0)
            return 1 - defined_ratio(1 - observed(weights), expected)

        shares = _category_shares(patterns.units.observed(), patterns)[0]
        spread = BeyondChance.of_classes(shares, n_pairs=_n_pairs(patterns))
        return _measure(patterns, kappa, spread)


@dataclass(frozen=True)
class GwetAC(PatternCoefficient):
    """Gwet's AC1 (`weights` None) and AC2.

    Attributes:
        weights: Credit for near misses; None gives it to equal ratings only.
        categories: Declared values of the scale, ascending; None takes those observed.
    """

    weights: AgreementWeights | None
    categories: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        require_literal(self.weights, AgreementWeights, name="weights", or_none=True)

    @property
    def takes_text(self) -> bool:
        """Return whether near misses get no credit."""
        return self.weights is None

    def measure(self, patterns: RatingPatterns) -> Measure:
        """Return Gwet's coefficient of patterns.

        Raises:
            ValueError: If the categories do not ascend or a rating is not one of them.
        """
        categories = patterns.values
        if self.categories is not None:
            categories = np.asarray(self.categories, dtype=np.float64)
        index = category_index(patterns.values, categories)
        n_categories = len(categories)
        if n_categories < 2:  # noqa: PLR2004 - it takes two to agree on one
            return inapplicable(n_kinds=len(patterns.n_units))
        credit, in_all = self._credits(patterns, categories, index)
        observed = _mean_over_units(credit, patterns)

        def by_chance(weights: Floats) -> Floats:
            shares = _category_shares(weights, patterns)
            spread = (shares * (1 - shares)).sum(axis=1)
            expected: Floats = in_all * spread / (n_categories * (n_categories - 1))
            return expected

        def coefficient(weights: Floats) -> Floats:
            return 1 - defined_ratio(1 - observed(weights), 1 - by_chance(weights))

        expected = float(by_chance(patterns.units.observed())[0])
        return _measure(patterns, coefficient, MeanShare(lowest=1 - 1 / (1 - expected)))

    def _credits(
        self, patterns: RatingPatterns, categories: Floats, index: Integers
    ) -> tuple[Floats, float]:
        """Return the mean credit of a pair of each pattern, and the credits of all categories."""
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
            case _:
                assert_never(self.weights)
        ones = np.ones((1, len(categories)))
        ends = np.zeros_like(ones)
        ends[:, [0, -1]] = 1.0
        within, longest, in_all = np.zeros(len(patterns.n_units)), 0.0, 0.0
        for distance, position in terms:
            within += sums_within(patterns, position[index], distance)
            longest += float(sums_between(ends, position, distance)[0])
            in_all += float(sums_between(ones, position, distance)[0])
        credit = 1 - _per_pair(within / longest, patterns)
        return credit, len(categories) ** 2 - 2 * in_all / longest


def chance_agreement(patterns: RatingPatterns, scale: Scale) -> float:
    """Return A^HH of two ratings drawn from all ratings of the units with at least two."""
    require_on_scale(patterns.values, scale)
    marginals = observed_marginals(patterns)[np.newaxis]
    n_ratings = float(marginals.sum())
    if not n_ratings:
        return float("nan")
    distance, width = _distance(scale)
    distances = float(sums_between(marginals, patterns.values, distance)[0])
    return 1 - 2 * distances / n_ratings**2 / width


def _distance(scale: Scale) -> tuple[Distance, float]:
    """Return the distance of ratings on a scale, and the largest possible one."""
    return ("absolute", scale.high - scale.low) if scale.has_order else ("nominal", 1.0)


def observed_marginals(patterns: RatingPatterns) -> Floats:
    """Return the number of ratings of each value, of units with at least two ratings."""
    is_pairable = patterns.is_pairable.astype(np.float64)
    marginals: Floats = patterns.marginals(patterns.units.observed(), is_pairable)[0]
    return marginals


def inapplicable(*, n_kinds: int) -> Measure:
    """Return a measure that is always NaN, for a coefficient that does not apply."""
    return Measure(undefined, MeanShare(), np.zeros(n_kinds, np.bool_), cost=0)


def undefined(weights: Floats) -> Floats:
    """Return NaN for every set of weights."""
    return np.full(len(weights), np.nan)


def _measure(
    patterns: RatingPatterns, estimator: Estimator, spread: Spread, *, cost: int | None = None
) -> Measure:
    cost = max(len(patterns.code), cost or 0)
    return Measure(estimator, spread, patterns.is_pairable, cost)


def _n_pairs(patterns: RatingPatterns) -> int:
    return int(patterns.n_units @ patterns.n_pairs)


def _per_pair(sums: Floats, patterns: RatingPatterns) -> Floats:
    """Return the mean over the pairs of a unit with each pattern; 0 if it has none."""
    return sums / np.maximum(patterns.n_pairs, 1)


def _mean_over_units(values: Floats, patterns: RatingPatterns) -> Estimator:
    """Return the mean of `values` over units with two ratings, as a function of weights."""
    pairable = patterns.is_pairable.astype(np.float64)
    summed = values * pairable
    return lambda weights: defined_ratio(
        weighted_sums(weights, summed), weighted_sums(weights, pairable)
    )


def _category_shares(weights: Floats, patterns: RatingPatterns) -> Floats:
    """Return the mean over rated units of the share of each value in the unit's ratings."""
    shares = patterns.marginals(weights, 1 / patterns.n_ratings)
    n_units = weights.sum(axis=1, keepdims=True)
    shares /= np.where(n_units > 0, n_units, 1.0)
    return shares
