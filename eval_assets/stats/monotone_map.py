"""The monotone map of a judge's values that agrees best with human ratings."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.scale import TOLERANCE, Scale
from eval_assets.stats._numbers import Floats, Ratings
from eval_assets.stats.pair_sums import judged_ratings

_TIE = 1e-12
"""Share of the sum of squares by which maps may differ and still count as equally good."""

_MOST_PASSES = 100
"""Far above the five that the iteration takes; it ends when a pass brings nothing."""


@dataclass(frozen=True)
class MonotoneMap:
    """A non-decreasing map of a judge's values onto a scale.

    Call it with scores. On a continuous target a new score is interpolated linearly between the
    fitted values next to it, else it goes to the nearest value of the scale that keeps the map
    non-decreasing. Beyond the fitted values it is unchanged where that keeps the map
    non-decreasing.

    Args:
        seen: The judge's values that the map was fitted on, ascending.
        mapped: The mapped value of each, non-decreasing.
        target: The values that a score may become; None if every value from `low` to `high` may.
        low: Lowest value of the scale.
        high: Highest value of the scale.

    Raises:
        ValueError: If `seen` does not ascend, `mapped` descends, or their lengths differ.

    Examples:
        >>> harsh = MonotoneMap((0, 1, 3), (0, 2, 4), target=(0, 1, 2, 3, 4), low=0, high=4)
        >>> harsh([0, 1, 2, 3, 4, np.nan]).tolist()
        [0.0, 2.0, 2.0, 4.0, 4.0, nan]
    """

    seen: tuple[float, ...]
    mapped: tuple[float, ...]
    target: tuple[float, ...] | None
    low: float
    high: float

    def __post_init__(self) -> None:
        if len(self.seen) != len(self.mapped):
            raise ValueError(f"{len(self.seen)} values seen, but {len(self.mapped)} mapped")
        if any(a >= b for a, b in zip(self.seen, self.seen[1:], strict=False)):
            raise ValueError(f"seen must ascend without repeats, got {self.seen}")
        if any(a > b for a, b in zip(self.mapped, self.mapped[1:], strict=False)):
            raise ValueError(f"mapped must not descend, got {self.mapped}")

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Return the mapped scores; a missing score stays missing."""
        score = np.asarray(scores, dtype=np.float64)
        if not self.seen:
            return score
        seen, mapped = np.asarray(self.seen), np.asarray(self.mapped)
        above = np.searchsorted(seen, score - TOLERANCE)
        is_seen = np.abs(seen[np.minimum(above, len(seen) - 1)] - score) <= TOLERANCE
        lowest = np.concatenate([[self.low], mapped])[above]
        highest = np.concatenate([mapped, [self.high]])[above]
        unseen = np.clip(self._nearest(score), lowest, highest)
        if self.target is None:
            is_between = (above > 0) & (above < len(seen))
            unseen = np.where(is_between, np.interp(score, seen, mapped), unseen)
        result = np.where(is_seen, mapped[np.minimum(above, len(seen) - 1)], unseen)
        return np.where(np.isnan(score), np.nan, result)

    @property
    def is_identity(self) -> bool:
        """Return whether the map changes no observed value."""
        return bool(np.allclose(self.seen, self.mapped, rtol=0, atol=TOLERANCE))

    @property
    def n_levels(self) -> int:
        """Number of different mapped values."""
        return len(set(self.mapped))

    def _nearest(self, score: Floats) -> Floats:
        """Return the value of the scale nearest to each score, midway the lower."""
        if self.target is None:
            return score
        values = np.asarray(self.target)
        middles = (values[:-1] + values[1:]) / 2
        return values[np.searchsorted(middles, np.nan_to_num(score) - TOLERANCE)]


def identity_map(scores: npt.ArrayLike, *, scale: Scale) -> MonotoneMap:
    """Return the map that leaves every score as it is.

    Args:
        scores: The judge's scores of any shape, NaN if missing.
        scale: The human scale.

    Returns:
        The map of the values that occur.

    Raises:
        ValueError: If a score is not a number.

    References:
        docs/methods.md, section Tuned judges, on calibration.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> identity_map([2, 4, np.nan, 2], scale=LIKERT5).mapped
        (2.0, 4.0)
    """
    score = np.asarray(scores, dtype=np.float64)
    seen = tuple(np.unique(score[~np.isnan(score)]).tolist())
    return MonotoneMap(seen, seen, target=None, low=scale.low, high=scale.high)


def best_monotone_map(reference: Ratings, scores: npt.ArrayLike, *, scale: Scale) -> MonotoneMap:
    """Return the non-decreasing map of scores onto the scale that has the highest concordance.

    The figure is a ratio of two sums over the judge's values, so Dinkelbach's iteration turns it
    into sums alone, which dynamic programming over values and levels minimises exactly. On a
    continuous scale, and if the judge gives scores between the steps of a scale of more than two
    values, mapped scores may lie between the steps too: the optimum is then the isotonic
    regression, stretched about the mean rating by one over the concordance and clipped at the
    ends of the scale. Of maps that are equally good, the one nearest to the identity is taken.

    Args:
        reference: Reference values of shape (n_units,), or human ratings of shape
            (n_units, n_raters); NaN if missing.
        scores: The judge's scores of shape (n_units,), on the scale; NaN if missing.
        scale: The human scale.

    Returns:
        The map; the identity if no unit has both, or if all ratings are equal.

    Raises:
        ValueError: If the shapes do not fit or a value is infinite.

    References:
        Dinkelbach (1967), doi:10.1287/mnsc.13.7.492; Ayer et al. (1955),
        doi:10.1214/aoms/1177728423, for the isotonic regression.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> people = [[1, 1], [2, 3], [4, 4], [5, 5], [5, 4]]
        >>> best_monotone_map(people, [1, 2, 2, 3, 3], scale=LIKERT5).mapped
        (1.0, 3.0, 5.0)
    """
    table = _ValueTable.of(reference, scores)
    if table is None or not table.has_spread:
        return identity_map(scores, scale=scale)
    target = scale.values
    if target is not None and len(target) > 2 and not scale.contains(table.values).all():  # noqa: PLR2004
        target = None
    mapped = _stretched(table, scale) if target is None else _on_levels(table, np.asarray(target))
    return MonotoneMap(
        tuple(table.values.tolist()), tuple(mapped.tolist()), target, scale.low, scale.high
    )


def isotonic_regression(means: Floats, weights: Floats) -> Floats:
    """Return the non-decreasing values with the least weighted squared distance from `means`.

    Args:
        means: Values in order, shape (n_values,).
        weights: Weight of each, above 0, shape (n_values,).

    Returns:
        Values of shape (n_values,); each is the weighted mean of the block that it falls into.

    Raises:
        ValueError: If there is not one weight for each value.

    References:
        Ayer et al. (1955), doi:10.1214/aoms/1177728423.

    Examples:
        >>> isotonic_regression(np.array([1.0, 3, 2, 4]), np.ones(4)).tolist()
        [1.0, 2.5, 2.5, 4.0]
    """
    blocks: list[tuple[float, float, int]] = []
    for mean, weight in zip(means.tolist(), weights.tolist(), strict=True):
        block = (mean, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            last = blocks.pop()
            total = last[1] + block[1]
            joint = (last[0] * last[1] + block[0] * block[1]) / total
            block = (joint, total, last[2] + block[2])
        blocks.append(block)
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])


@dataclass(frozen=True, eq=False)
class _ValueTable:
    """Sums over the ratings of the units that a judge gave each value."""

    values: Floats
    count: Floats
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, reference: Ratings, scores: npt.ArrayLike) -> "_ValueTable | None":
        ratings, judge = judged_ratings(reference, scores)
        present = ~np.isnan(ratings) & ~np.isnan(judge)[:, np.newaxis]
        unit, rater = np.nonzero(present)
        if not len(unit):
            return None
        values, index = np.unique(judge[unit], return_inverse=True)
        declared = ratings[unit, rater]
        return cls(
            values,
            np.bincount(index).astype(np.float64),
            np.bincount(index, declared).astype(np.float64),
            np.bincount(index, declared**2).astype(np.float64),
        )

    @property
    def mean(self) -> float:
        """Mean of all ratings."""
        return float(self.total.sum() / self.count.sum())

    @property
    def has_spread(self) -> bool:
        """Return whether the ratings differ by more than float noise."""
        squares = float(self.squares.sum())
        return squares - float(self.total.sum()) * self.mean > _TIE * squares

    def distances(self, mapped: Floats) -> tuple[Floats, Floats]:
        """Return observed and expected squared distance, by value, if mapped so.

        `mapped` has the values along its last axis but one or its only axis.
        """
        count, total, squares = self.count, self.total, self.squares
        if mapped.ndim > 1:
            count, total, squares = (column[:, np.newaxis] for column in (count, total, squares))
        squares_of_map = count * mapped**2 + squares
        return squares_of_map - 2 * mapped * total, squares_of_map - 2 * mapped * count * self.mean

    def ratio(self, mapped: Floats) -> float:
        """Return one less the concordance of the mapped values."""
        observed, expected = self.distances(mapped)
        return float(observed.sum() / expected.sum())


def _on_levels(table: _ValueTable, levels: Floats) -> Floats:
    """Return the level of each value in the best map onto `levels`."""
    observed, expected = table.distances(np.tile(levels, (len(table.values), 1)))
    squared_distances = (levels - table.values[:, np.newaxis]) ** 2
    tie = _TIE * float(observed.max()) / max(float(squared_distances.sum()), 1.0)
    ratio = 1.0
    best = np.full(len(table.values), levels[0])
    for _ in range(_MOST_PASSES):
        cost = observed - ratio * expected + tie * squared_distances
        best = levels[_cheapest_path(cost)]
        improved = table.ratio(best)
        if improved >= ratio - _TIE:
            break
        ratio = improved
    return best


def _cheapest_path(cost: Floats) -> npt.NDArray[np.int64]:
    """Return the non-decreasing choice of one column in each row with the least sum of costs."""
    n_rows, n_columns = cost.shape
    columns = np.arange(n_columns)
    came_from = np.zeros((n_rows, n_columns), dtype=np.int64)
    total = np.zeros(n_columns)
    for row in range(n_rows):
        least = np.minimum.accumulate(total)
        came_from[row] = np.maximum.accumulate(np.where(total <= least, columns, 0))
        total = least + cost[row]
    path = np.zeros(n_rows, dtype=np.int64)
    column = int(np.argmin(total))
    for row in range(n_rows - 1, -1, -1):
        path[row] = column
        column = int(came_from[row, column])
    return path


def _stretched(table: _ValueTable, scale: Scale) -> Floats:
    """Return the best map of each value onto all values of the scale."""
    mean = table.mean
    isotonic = isotonic_regression(table.total / table.count, table.count)
    best = np.clip(isotonic, scale.low, scale.high)
    agreement = 1 - table.ratio(best)
    if not agreement > _TIE:
        return np.full(len(best), mean)
    for _ in range(_MOST_PASSES):
        stretched = np.clip(mean + (isotonic - mean) / agreement, scale.low, scale.high)
        improved = 1 - table.ratio(stretched)
        if not improved > agreement:
            break
        best, agreement = stretched, improved
    return best
