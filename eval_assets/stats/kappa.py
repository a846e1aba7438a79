"""Cohen's kappa: two raters, or two judges, on the same units."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from eval_assets.stats.coefficients import Estimator, defined_ratio
from eval_assets.stats.intervals import Interval, intervals
from eval_assets.stats.patterns import Floats, Integers, paired_values
from eval_assets.stats.resampling import ResampledUnits
from eval_assets.stats.weighting import weighted_sums

KappaWeights: TypeAlias = Literal["linear", "quadratic"]
"""Blame for disagreement, by |a - b| or by (a - b)**2 in scale points."""


def cohen_kappa(a: npt.ArrayLike, b: npt.ArrayLike, *, weights: KappaWeights | None) -> float:
    """Cohen's kappa: agreement of two raters beyond what their own habits give by chance.

    Args:
        a: One rater's values, shape (n_units,), NaN where missing.
        b: The other's values of the same units.
        weights: How much a disagreement counts: None all the same, "linear" by |a - b|,
            "quadratic" by (a - b)**2. Distances are of values, not of ranks, so a value that
            nobody gave changes nothing.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN where both
        gave one and the same value throughout, or no unit has both.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Cohen (1968), doi:10.1037/h0026256.

    Examples:
        >>> round(cohen_kappa([1, 1, 0, 0, 1], [1, 0, 0, 0, 1], weights=None), 3)
        0.615
    """
    table = PairTable.of(a, b)
    return float(table.kappa(weights)(table.observed)[0])


def cohen_kappa_interval(  # noqa: PLR0913 - the data and five keywords
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    weights: KappaWeights | None,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Cohen's kappa with its BCa bootstrap interval over units.

    Raises:
        ValueError: If the shapes differ, a value is infinite or an argument is out of range.

    Examples:
        >>> a, b = [0] * 20 + [1] * 20, [0] * 17 + [1] * 20 + [0] * 3
        >>> rng = np.random.default_rng(1)
        >>> found = cohen_kappa_interval(
        ...     a, b, weights=None, confidence=0.95, n_resamples=2000, rng=rng
        ... )
        >>> round(found.value, 2), 0.3 < found.low < 0.6, found.n_units
        (0.7, True, 40)
    """
    table = PairTable.of(a, b)
    units = ResampledUnits.alike(table.n_units, n_entries=len(table.n_units))
    estimators = [table.kappa(weights)]
    return intervals(estimators, units, confidence=confidence, n_resamples=n_resamples, rng=rng)[0]


@dataclass(frozen=True)
class GroupedKappa:
    """Cohen's kappa of units that come in groups, such as the documents of a query.

    Attributes:
        macro: Mean of the groups' kappas; groups where it is undefined are left out.
        micro: Kappa of all units pooled.
        by_group: Each group's kappa; NaN where it is undefined.
        n_defined: Groups that `macro` is the mean of.
    """

    macro: float
    micro: float
    by_group: tuple[float, ...]
    n_defined: int


def grouped_kappa(
    groups: Iterable[tuple[npt.ArrayLike, npt.ArrayLike]], *, weights: KappaWeights | None
) -> GroupedKappa:
    """Kappa of each group, their mean, and kappa of all units pooled.

    Few units leave few possible values (five with two classes: none between .615 and 1), so a
    gate is better set on `micro`.

    Args:
        groups: Both raters' values, a pair of arrays for each group.
        weights: As in `cohen_kappa`.

    Raises:
        ValueError: If the shapes of a pair differ or a value is infinite.

    Examples:
        >>> found = grouped_kappa([([1, 1], [1, 1]), ([1, 0, 1], [1, 0, 0])], weights=None)
        >>> [round(kappa, 3) for kappa in (*found.by_group, found.macro, found.micro)]
        [nan, 0.4, 0.4, 0.545]
    """
    pairs = [paired_values(one, other) for one, other in groups]
    by_group = tuple(cohen_kappa(one, other, weights=weights) for one, other in pairs)
    defined = [kappa for kappa in by_group if not math.isnan(kappa)]
    a = np.concatenate([[], *(one for one, _ in pairs)])
    b = np.concatenate([[], *(other for _, other in pairs)])
    return GroupedKappa(
        macro=math.fsum(defined) / len(defined) if defined else math.nan,
        micro=cohen_kappa(a, b, weights=weights),
        by_group=by_group,
        n_defined=len(defined),
    )


@dataclass(frozen=True, eq=False)
class PairTable:
    """Distinct pairs of values and how many units show each: the contingency table's full cells.

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
    def of(cls, a: npt.ArrayLike, b: npt.ArrayLike) -> "PairTable":
        """The table of two raters' values, units without both left out."""
        a, b = paired_values(a, b)
        values, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
        n_values = max(1, len(values))
        cells, n_units = np.unique(codes[: len(a)] * n_values + codes[len(a) :], return_counts=True)
        return cls(values, cells // n_values, cells % n_values, n_units)

    @property
    def observed(self) -> Floats:
        """The cells as they are, as one set of weights of shape (1, n_cells)."""
        return self.n_units[np.newaxis].astype(np.float64)

    def kappa(self, weights: KappaWeights | None) -> Estimator:
        """1 - observed / expected distance, as a function of how many units are in each cell."""
        apart = self.values[self.first] - self.values[self.second]
        match weights:
            case None:
                distance = (apart != 0).astype(np.float64)
            case "linear":
                distance = np.abs(apart)
            case "quadratic":
                distance = apart**2
            case _:
                assert_never(weights)

        def kappa(cells: Floats) -> Floats:
            total = cells.sum(axis=1)
            one, other = self._marginals(cells, self.first), self._marginals(cells, self.second)
            expected = self._expected(one, other, weights)
            varied = np.count_nonzero(one + other, axis=1) > 1
            expected = np.where(varied, expected, 0.0)
            observed = weighted_sums(cells, distance)
            values: Floats = 1 - total * defined_ratio(observed, expected)
            return values

        return kappa

    def _expected(self, one: Floats, other: Floats, weights: KappaWeights | None) -> Floats:
        """Distance summed over each rating of one rater with each of the other."""
        n_one, n_other = one.sum(axis=1), other.sum(axis=1)
        sums: Floats
        match weights:
            case None:
                sums = n_one * n_other - (one * other).sum(axis=1)
            case "linear":
                below_one = np.cumsum(one, axis=1)[:, :-1]
                below_other = np.cumsum(other, axis=1)[:, :-1]
                crossings = below_one * (n_other[:, np.newaxis] - below_other)
                crossings += below_other * (n_one[:, np.newaxis] - below_one)
                sums = weighted_sums(crossings, np.diff(self.values))
            case "quadratic":
                centred = self.values - self.values.mean() if self.values.size else self.values
                squares = weighted_sums(one, centred**2), weighted_sums(other, centred**2)
                sums = n_other * squares[0] + n_one * squares[1]
                sums -= 2 * weighted_sums(one, centred) * weighted_sums(other, centred)
            case _:
                assert_never(weights)
        return sums

    def _marginals(self, cells: Floats, codes: Integers) -> Floats:
        """How often a rater gave each value, shape (n_sets, n_values)."""
        offsets = len(self.values) * np.arange(len(cells))[:, np.newaxis]
        size = len(cells) * len(self.values)
        counted: Floats = np.bincount(
            (codes + offsets).ravel(), weights=cells.ravel(), minlength=size
        ).astype(np.float64)
        return counted.reshape(len(cells), len(self.values))
