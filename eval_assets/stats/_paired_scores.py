"""Association of two scores of the same units, as functions of unit weights.

A weight says how many units are of a kind; ranks and ties are those of the weighted units, so that
estimates with units left out are exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, assert_never

import numpy as np

from eval_assets.stats._coefficients import Measure
from eval_assets.stats._interval_bounds import BeyondChance, kurtosis
from eval_assets.stats._numbers import Floats, Integers, run_starts
from eval_assets.stats._units import Estimator, defined_ratio, sums_by_code, weighted_sums

CorrelationKind: TypeAlias = Literal["pearson", "spearman", "kendall"]

WeightSums: TypeAlias = Callable[[Floats], Floats]
"""Weights of shape (n_sets, n) -> weights added up within groups, shape (n_sets, n_groups)."""

Positions: TypeAlias = Callable[[Floats], Floats]
"""Weights of the values of one score -> where each stands, from their mean; the same shape."""


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Two scores of each kind of unit.

    Attributes:
        first: Distinct values of one score, ascending.
        second: Distinct values of the other, ascending.
        first_code: Index in `first` of each distinct pair of scores, shape (n_pairs,), ascending.
        second_code: Index in `second` of each, ascending within one of `first`.
        pairs: Adds up the weights of the kinds of units with the same pair.

    Examples:
        >>> scores = PairedScores.of(np.array([1.0, 2, 2, 4]), np.array([1.0, 3, 2, 4]))
        >>> once_and_twice = np.array([[1.0, 1, 1, 1], [2, 1, 1, 1]])
        >>> scores.estimator("spearman")(once_and_twice).round(3).tolist()
        [0.949, 0.973]
    """

    first: Floats
    second: Floats
    first_code: Integers
    second_code: Integers
    pairs: WeightSums

    @classmethod
    def of(cls, first: Floats, second: Floats) -> Self:
        """Return the pairs of two columns of shape (n_kinds,), without missing values."""
        values, code = np.unique(first, return_inverse=True)
        other_values, other_code = np.unique(second, return_inverse=True)
        n_others = len(other_values)
        pairs, pair_code = np.unique(code * n_others + other_code, return_inverse=True)
        first_code, second_code = np.divmod(pairs, n_others)
        return cls(values, other_values, first_code, second_code, _sums_by(pair_code))

    def measure(self, kind: CorrelationKind | Literal["alpha"], n_units: Floats) -> Measure:
        """Return a correlation, or interval alpha, of units counted by kind."""
        pairs = self.pairs(n_units[np.newaxis])
        one, other = (_sums_by(code)(pairs)[0] for code in (self.first_code, self.second_code))
        if kind == "alpha":
            values, index = np.unique(np.append(self.first, self.second), return_inverse=True)
            marginals = sums_by_code(index, np.append(one, other), n_codes=len(values))
            peaked = kurtosis(marginals, values)
        else:
            places = self.first, self.second
            if kind != "pearson":
                places = np.cumsum(one) - one / 2, np.cumsum(other) - other / 2
            peaked = (kurtosis(one, places[0]) + kurtosis(other, places[1])) / 2
            marginals = one if len(one) >= len(other) else other
        n_pairs = float(n_units.sum())
        spread = BeyondChance.of_distances(marginals, kurtosis=peaked, n_pairs=n_pairs)
        is_evidence = np.ones(len(n_units), np.bool_)
        return Measure(self.estimator(kind), spread, is_evidence, cost=len(n_units))

    def estimator(self, kind: CorrelationKind | Literal["alpha"]) -> Estimator:
        """Return a correlation, or interval alpha, as a function of unit weights."""
        match kind:
            case "pearson":
                return self._correlation(_deviations(self.first), _deviations(self.second))
            case "spearman":  # mid-ranks among the weighted units
                return self._correlation(_centred_ranks, _centred_ranks)
            case "kendall":
                return self._kendall_tau_b()
            case "alpha":
                return self._interval_alpha()
            case _:
                assert_never(kind)

    def _interval_alpha(self) -> Estimator:
        by_first, by_second = _sums_by(self.first_code), _sums_by(self.second_code)
        position, other_position = _deviations(self.first), _deviations(self.second)
        differences = self.first[self.first_code] - self.second[self.second_code]

        def alpha(weights: Floats) -> Floats:
            pairs = self.pairs(weights)
            one, other = by_first(pairs), by_second(pairs)
            n_scores = 2 * pairs.sum(axis=1)
            squares = _row_sums(one, position(one) ** 2)
            squares += _row_sums(other, other_position(other) ** 2)
            # squares between all scores: those within the sides and that of the sides' means
            expected = n_scores * squares + weighted_sums(pairs, differences) ** 2
            values: Floats = 1 - (n_scores - 1) * defined_ratio(
                weighted_sums(pairs, differences**2), expected
            )
            return values

        return alpha

    def _kendall_tau_b(self) -> Estimator:
        """Return Kendall's tau-b, at the cost of n_pairs x log(n_values)."""
        by_first, by_second = _sums_by(self.first_code), _sums_by(self.second_code)
        order, codes = np.arange(len(self.first_code)), self.second_code
        by_fewest = len(self.first) < len(self.second)  # the logarithm is of these
        if by_fewest:
            order = np.lexsort((self.first_code, self.second_code))
            codes = self.first_code
        halvings = _halvings(codes[order])

        def tau(weights: Floats) -> Floats:
            pairs = self.pairs(weights)
            one, other = by_first(pairs), by_second(pairs)
            n_squared = pairs.sum(axis=1) ** 2
            untied = n_squared - _row_sums(one, one)
            other_untied = n_squared - _row_sums(other, other)
            untied_in_both = untied + other_untied - n_squared + _row_sums(pairs, pairs)
            opposite = _descending(pairs[:, order], one if by_fewest else other, halvings)
            return _normed(untied_in_both - 4 * opposite, untied, other_untied)

        return tau

    def _correlation(self, position: Positions, other_position: Positions) -> Estimator:
        by_first, by_second = _sums_by(self.first_code), _sums_by(self.second_code)

        def correlation(weights: Floats) -> Floats:
            pairs = self.pairs(weights)
            one, other = by_first(pairs), by_second(pairs)
            first, second = position(one), other_position(other)
            products = first[:, self.first_code] * second[:, self.second_code]
            squares, other_squares = _row_sums(one, first**2), _row_sums(other, second**2)
            return _normed(_row_sums(pairs, products), squares, other_squares)

        return correlation


def _normed(covariation: Floats, one: Floats, other: Floats) -> Floats:
    """Return covariation / geometric mean of two variations, in [-1, 1] up to float noise."""
    return np.clip(defined_ratio(covariation, np.sqrt(one) * np.sqrt(other)), -1.0, 1.0)


def _centred_ranks(marginal: Floats) -> Floats:
    """Return mid-ranks from the middle: a tie's units share the mean of their places."""
    total = marginal.sum(axis=1, keepdims=True)
    ranks: Floats = np.cumsum(marginal, axis=1) - (marginal + total) / 2
    return ranks


def _deviations(values: Floats) -> Positions:
    """Return values less their mean in each resample; 0, not float noise, if all are equal."""

    def deviations(marginal: Floats) -> Floats:
        mean = defined_ratio(weighted_sums(marginal, values), marginal.sum(axis=1))
        varied = np.count_nonzero(marginal, axis=1) > 1
        return np.where(varied[:, np.newaxis], values - mean[:, np.newaxis], 0.0)

    return deviations


def _row_sums(a: Floats, b: Floats) -> Floats:
    sums: Floats = np.einsum("ij,ij->i", a, b)
    return sums


def _sums_by(codes: Integers) -> WeightSums:
    """Return a function that adds up the weights of each code, in ascending order."""
    order = np.argsort(codes, kind="stable")
    starts = run_starts(codes[order])
    return lambda weights: np.add.reduceat(weights[:, order], starts, axis=1)


@dataclass(frozen=True, eq=False)
class _Halving:
    """Places of codes that are the same above some bit, group by group in ascending order.

    Attributes:
        upper: Places with the bit set, in the order of places within a group.
        lower: Places without it, likewise.
        n_before: For each of `lower` how many of `upper` are in groups before or, in its own
            group, in places before.
    """

    upper: Integers
    lower: Integers
    n_before: Integers


def _halvings(codes: Integers) -> list[_Halving]:
    """Return a halving for each bit, lowest first: of codes that descend, one bit differs."""
    halvings = []
    for bit in range(int(codes.max(initial=0)).bit_length()):
        order = np.argsort(codes >> (bit + 1), kind="stable")
        is_upper = (codes[order] >> bit) & 1 == 1
        halvings.append(_Halving(order[is_upper], order[~is_upper], np.cumsum(is_upper)[~is_upper]))
    return halvings


def _descending(weights: Floats, by_code: Floats, halvings: list[_Halving]) -> Floats:
    """Return the product of weights, summed over pairs of places whose codes descend.

    `by_code` holds the sum of weights of each code.
    """
    descending = np.zeros(len(weights))
    groups = by_code
    for halving in halvings:
        before = np.zeros((len(weights), len(halving.upper) + 1))
        np.cumsum(weights[:, halving.upper], axis=1, out=before[:, 1:])
        descending += _row_sums(weights[:, halving.lower], before[:, halving.n_before])
        # less the pairs with `upper` of a group before
        lower, upper = groups[:, ::2].copy(), groups[:, 1::2]
        upper_so_far = np.cumsum(upper, axis=1)
        descending -= _row_sums(lower[:, 1:], upper_so_far[:, : lower.shape[1] - 1])
        lower[:, : upper.shape[1]] += upper
        groups = lower
    return descending
