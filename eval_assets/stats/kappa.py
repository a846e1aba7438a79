"""Cohen's kappa of two raters or judges on the same units."""

from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, assert_never

import numpy as np

from eval_assets.stats._coefficients import Measure
from eval_assets.stats._interval_bounds import BeyondChance
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    Ratings,
    distinct_values,
    paired_values,
    require_literal,
    two_columns,
)
from eval_assets.stats._units import Estimator, defined_ratio, sums_by_code, weighted_sums

KappaWeights: TypeAlias = Literal["linear", "quadratic"]
"""Blame for disagreement, by |a - b| or by (a - b)**2 in scale points."""


def cohen_kappa(a: Column, b: Column, *, weights: KappaWeights | None) -> float:
    """Return Cohen's kappa: agreement of two raters beyond the chance from their habits.

    Args:
        a: One rater's values, shape (n_units,), NaN if missing; may be text without `weights`.
        b: The other's values of the same units.
        weights: Weight of a disagreement: None all the same, "linear" by |a - b|,
            "quadratic" by (a - b)**2. Distances are of values, not of ranks, so a value that
            no rater gave changes nothing.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN if both always gave
        the same single value, or no unit has both.

    Raises:
        ValueError: If the shapes differ, a value is infinite or `weights` is unknown.

    References:
        Cohen (1968), doi:10.1037/h0026256.

    Examples:
        >>> round(cohen_kappa([1, 1, 0, 0, 1], [1, 0, 0, 0, 1], weights=None), 3)
        0.615
    """
    require_literal(weights, KappaWeights, name="weights", or_none=True)
    first, second = paired_values(a, b, text=weights is None)
    table, _ = PairTable.of(first, second)
    return float(table.kappa(weights)(table.n_units[np.newaxis].astype(np.float64))[0])


@dataclass(frozen=True)
class CohenKappa:
    """Cohen's kappa of two columns, for `coefficient_interval`.

    Attributes:
        weights: As in `cohen_kappa`.
    """

    weights: KappaWeights | None

    def __post_init__(self) -> None:
        require_literal(self.weights, KappaWeights, name="weights", or_none=True)

    def by_row(self, ratings: Ratings) -> tuple[Measure, Integers]:
        """Return kappa of a matrix with two columns, and the cell of each row, -1 if incomplete.

        Raises:
            ValueError: If there are not two columns.
        """
        first, second, is_known = two_columns(ratings, text=self.weights is None)
        table, cell = PairTable.of(first, second)
        index = np.full(len(is_known), -1)
        index[is_known] = cell
        return table.measure(self.weights), index


@dataclass(frozen=True, eq=False)
class PairTable:
    """Distinct pairs of values with their number of units: the contingency table's full cells.

    Attributes:
        values: Values that occur, ascending, shape (n_values,).
        first: One rater's value in each cell, as an index of `values`, shape (n_cells,).
        second: The other's.
        n_units: Units in each cell.
    """

    values: Floats
    first: Integers
    second: Integers
    n_units: Integers

    @classmethod
    def of(cls, first: Floats, second: Floats) -> tuple[Self, Integers]:
        """Return the table of two columns without missing values, and the cell of each unit."""
        values, codes = distinct_values(np.concatenate([first, second]))
        n_values = len(values)
        pairs = codes[: len(first)] * n_values + codes[len(first) :]
        cells, cell, n_units = np.unique(pairs, return_inverse=True, return_counts=True)
        return cls(values, cells // n_values, cells % n_values, n_units), cell

    def kappa(self, weights: KappaWeights | None) -> Estimator:
        """Return kappa as a function of the number of units in each cell."""
        distances = _distance(self.values[self.first] - self.values[self.second], weights)

        def kappa(cells: Floats) -> Floats:
            first, second = (self._marginals(cells, code) for code in (self.first, self.second))
            varied = np.count_nonzero(first + second, axis=1) > 1
            expected = np.where(varied, _expected(first, second, self.values, weights), 0.0)
            ratio = defined_ratio(weighted_sums(cells, distances), expected)
            kappas: Floats = 1 - first.sum(axis=1) * ratio
            return kappas

        return kappa

    def measure(self, weights: KappaWeights | None) -> Measure:
        """Return kappa with its spread, which follows from both raters' values pooled."""
        observed = self.n_units[np.newaxis].astype(np.float64)
        pooled = self._marginals(observed, self.first) + self._marginals(observed, self.second)
        positions = None if weights is None else self.values
        spread = BeyondChance.of(pooled[0], positions, n_pairs=int(self.n_units.sum()))
        return Measure(
            self.kappa(weights), spread, np.ones(len(self.n_units), np.bool_), len(self.n_units)
        )

    def _marginals(self, cells: Floats, codes: Integers) -> Floats:
        """Return the number of a rater's ratings of each value, shape (n_sets, n_values)."""
        offsets = len(self.values) * np.arange(len(cells))[:, np.newaxis]
        size = len(cells) * len(self.values)
        counts = sums_by_code((codes + offsets).ravel(), cells.ravel(), n_codes=size)
        return counts.reshape(len(cells), len(self.values))


def _distance(differences: Floats, weights: KappaWeights | None) -> Floats:
    distances: Floats
    match weights:
        case None:
            distances = (differences != 0).astype(np.float64)
        case "linear":
            distances = np.abs(differences)
        case "quadratic":
            distances = differences**2
        case _:
            assert_never(weights)
    return distances


def _expected(
    first: Floats, second: Floats, values: Floats, weights: KappaWeights | None
) -> Floats:
    """Return the distance summed over each rating of one rater with each of the other."""
    n_first, n_second = first.sum(axis=1), second.sum(axis=1)
    sums: Floats
    match weights:
        case None:
            sums = n_first * n_second - (first * second).sum(axis=1)
        case "linear":
            below_first = np.cumsum(first, axis=1)[:, :-1]
            below_second = np.cumsum(second, axis=1)[:, :-1]
            crossings = below_first * (n_second[:, np.newaxis] - below_second)
            crossings += below_second * (n_first[:, np.newaxis] - below_first)
            sums = weighted_sums(crossings, np.diff(values))
        case "quadratic":
            centred = values - values.mean() if values.size else values
            squares = weighted_sums(first, centred**2), weighted_sums(second, centred**2)
            sums = n_second * squares[0] + n_first * squares[1]
            sums -= 2 * weighted_sums(first, centred) * weighted_sums(second, centred)
        case _:
            assert_never(weights)
    return sums
