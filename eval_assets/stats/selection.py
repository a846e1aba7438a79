"""Differences of selected units from the rest, and agreement weighted to all units.

Agreement is measured on units with two ratings. If these were not drawn at random they differ from
the rest, and agreement on all units may be higher or lower.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.stats._coefficients import PatternCoefficient
from eval_assets.stats._interval_bounds import Evidence, jackknife_df
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Indices,
    Integers,
    Mask,
    Ratings,
    group_codes,
    number_arrays,
    rating_matrix,
)
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import FEWEST_DELETIONS, MAX_DELETIONS, blocks, sums_by_code
from eval_assets.stats.intervals import Interval, require_confidence

MOST_TESTED = 2_000
"""Selected units, and others, that a test compares; of more a random part is drawn."""

_FIRST_PERMUTATIONS, _ENOUGH_REACHED = 199, 20
"""Permutations after which a test ends if so many of them reached the observed shift: the p-value
is at least a tenth then."""

_BATCH = 100
_MIDDLE_HALF = 0.25
_MOST_WEIGHTS = 4_000_000
_PRIOR_PRECISION = 1.0
"""Of the standardized coefficients of the selection model: keeps weights finite where a feature
separates the selected units from the rest, and is next to nothing among hundreds of units."""
_MOST_STEPS = 50
_CONVERGED = 1e-10


@dataclass(frozen=True)
class SelectionShift:
    """Largest shift of a feature between selected units and the rest.

    Attributes:
        p_value: By permutation over groups; NaN if one side is empty.
        component: Index of the column that is shifted most; -1 if no column varies.
        selected: Its mean over the selected units.
        rest: Its mean over the rest.
        n_selected: Selected units.
        n_rest: The rest.
        n_groups: Groups of both.
    """

    p_value: float
    component: int
    selected: float
    rest: float
    n_selected: int
    n_rest: int
    n_groups: int


def rank_components(values: Column) -> Floats:
    """Return two columns that show a shift of a number: its rank, and whether it is in the middle.

    Args:
        values: A number for each unit, shape (n_units,), NaN if missing.

    Returns:
        Shape (n_units, 2): the rank from 0 to 1, equal values sharing theirs, and 1 for ranks in
        the middle half, else 0; NaN if missing.

    Raises:
        ValueError: If a value is infinite or not a number.

    References:
        Wilcoxon (1945), doi:10.2307/3001968, for ranks.

    Examples:
        >>> rank_components([10, 20, 20, 900]).tolist()
        [[0.125, 0.0], [0.5, 1.0], [0.5, 1.0], [0.875, 0.0]]
    """
    [numbers] = number_arrays(values, name="values")
    is_known = ~np.isnan(numbers)
    _, code, counts = np.unique(numbers[is_known], return_inverse=True, return_counts=True)
    rank = ((np.cumsum(counts) - counts / 2) / max(1, len(code)))[code]
    components = np.full((len(numbers), 2), np.nan)
    components[is_known] = np.column_stack([rank, np.abs(rank - 0.5) <= _MIDDLE_HALF])
    return components


def selection_shift(
    components: Ratings,
    is_selected: Column,
    *,
    n_permutations: int,
    rng: np.random.Generator,
    groups: Column | None = None,
) -> SelectionShift:
    """Test whether a feature of selected units differs from that of the rest.

    The share of selected units is permuted over groups, and within each group which units are
    selected. So the test holds its level whether single units, units within each group, or whole
    groups were drawn at random. With groups of unequal size, of which units were drawn one by one,
    it is conservative. The statistic is the largest standardized difference of a column's mean.

    Args:
        components: The feature as columns, shape (n_units, n_columns): one or more numbers, such as
            `rank_components`, or an indicator of each class. Units with NaN are left out.
        is_selected: Whether each unit is selected, shape (n_units,).
        n_permutations: Permutations at most; 199 if 20 of these reach the observed difference.
        rng: Source of chance.
        groups: Which units are not independent: any label, one for each unit. None takes all units
            as independent.

    Returns:
        The test. At most 2,000 units of either side are compared, drawn at random.

    Raises:
        ValueError: If the shapes do not fit or `n_permutations` is below 1.

    References:
        Westfall and Young (1993), Resampling-based multiple testing, for the largest statistic;
        Winkler et al. (2015), doi:10.1016/j.neuroimage.2015.05.092, for blocks of dependent units.

    Examples:
        >>> length = np.arange(40.0)
        >>> shift = selection_shift(
        ...     rank_components(length), length < 15, n_permutations=999,
        ...     rng=np.random.default_rng(0),
        ... )
        >>> shift.p_value, round(shift.selected, 2), round(shift.rest, 2)
        (0.001, 0.19, 0.69)
    """
    columns = rating_matrix(components)
    selected = np.asarray(is_selected, dtype=np.bool_)
    if selected.shape != (len(columns),):
        raise ValueError(f"is_selected must have {len(columns)} units, got {selected.shape}")
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, got {n_permutations}")
    codes = group_codes(groups, n_units=len(columns))
    group = np.arange(len(columns)) if codes is None else codes
    is_known: Mask = np.count_nonzero(np.isnan(columns), axis=1) == 0
    is_compared = _compared(is_known, selected, rng)
    columns, selected = columns[is_compared], selected[is_compared]
    group = np.unique(group[is_compared], return_inverse=True)[1]
    n_selected, n = int(selected.sum()), len(selected)
    n_groups = int(group.max(initial=-1)) + 1
    undefined = SelectionShift(
        math.nan, -1, math.nan, math.nan, n_selected, n - n_selected, n_groups
    )
    if not 0 < n_selected < n:
        return undefined
    centred = columns - columns.mean(axis=0)
    observed = centred[selected].sum(axis=0)
    p_value, component = _tested(
        _Permutations(centred, selected, group), observed, n_permutations, rng
    )
    if component < 0:
        return replace(undefined, p_value=1.0)
    return replace(
        undefined,
        p_value=p_value,
        component=component,
        selected=float(columns[selected, component].mean()),
        rest=float(columns[~selected, component].mean()),
    )


def _compared(is_known: Mask, selected: Mask, rng: np.random.Generator) -> Integers:
    """Return the units that are compared: a random part of each side that has too many."""
    sides = []
    for side in (selected, ~selected):
        units = np.flatnonzero(is_known & side)
        if len(units) > MOST_TESTED:
            units = rng.choice(units, MOST_TESTED, replace=False)
        sides.append(units)
    return np.sort(np.concatenate(sides))


class _Permutations:
    """Sums over selected units under permuted selections."""

    def __init__(self, centred: Floats, selected: Mask, group: Indices) -> None:
        n = np.bincount(group)
        self.share = np.bincount(group, selected) / n
        self.totals = np.stack([np.bincount(group, column) for column in centred.T], axis=1)
        # Only in groups with both does it matter which of the units are selected.
        mixed = ((self.share > 0) & (self.share < 1))[group]
        order = np.argsort(group[mixed], kind="stable")
        self.group = group[mixed][order]
        self.residual = (selected[mixed] - self.share[group[mixed]])[order]
        within = centred[mixed] - (self.totals / n[:, None])[group[mixed]]
        self.within = within[order]

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Return the sums under `n` permutations, shape (n, n_columns)."""
        shares = rng.permuted(np.tile(self.share, (n, 1)), axis=1)
        sums: Floats = np.einsum("ij,jk->ik", shares, self.totals)
        if len(self.group):
            # The residuals stay in their groups, whose numbers ascend.
            order = np.argsort(self.group + rng.random((n, len(self.group))), axis=1)
            sums += np.einsum("ij,jk->ik", self.residual[order], self.within)
        return sums


def _tested(
    permutations: _Permutations, observed: Floats, most: int, rng: np.random.Generator
) -> tuple[float, int]:
    """Return the p-value and the column with the largest standardized sum, -1 if none varies."""
    drawn = np.empty((0, len(observed)))
    p_value, component = 1.0, -1
    for goal in (min(_FIRST_PERMUTATIONS, most), most):
        starts = range(len(drawn), goal, _BATCH)
        parts = [permutations.draw(min(_BATCH, goal - start), rng) for start in starts]
        drawn = np.concatenate([drawn, *parts])
        # With the observed sums among them all are exchangeable, and so are their deviations.
        spread = np.sqrt(np.mean(np.vstack([drawn, observed]) ** 2, axis=0))
        varies = spread > _CONVERGED
        if not varies.any():
            return 1.0, -1
        scores = np.abs(observed[varies]) / spread[varies]
        component = int(np.flatnonzero(varies)[np.argmax(scores)])
        largest = (np.abs(drawn[:, varies]) / spread[varies]).max(axis=1)
        n_reached = int((largest >= scores.max() - _CONVERGED).sum())
        p_value = (n_reached + 1) / (len(drawn) + 1)
        if n_reached >= _ENOUGH_REACHED:
            break
    return p_value, component


@dataclass(frozen=True, eq=False)
class SelectionWeights:
    """Inverse probability weights of selected units, as `selection_weights` returns them.

    Attributes:
        weights: One over the probability to be selected, shape (n_units,); 0 if not selected.
        without: The same with the model fitted without each block of groups, shape
            (n_blocks, n_selected); 0 in the block.
        group: Group of each unit, from 0 on.
    """

    weights: Floats
    without: Floats
    group: Indices

    @property
    def n_effective(self) -> float:
        """Return the number of units of equal weight with the same information (Kish 1965)."""
        squares = float((self.weights**2).sum())
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0


def selection_weights(
    features: Ratings, is_selected: Column, *, groups: Column | None = None
) -> SelectionWeights:
    """Return weights by which selected units represent all units, according to features.

    The probability to be selected follows a logistic model of the features, with a weak normal
    prior on its coefficients.

    Args:
        features: Numbers of shape (n_units, n_features), NaN if missing, which counts as the mean.
        is_selected: Whether each unit is selected, shape (n_units,).
        groups: Which units are not independent: any label, one for each unit.

    Returns:
        The weights, and those without each group, for intervals.

    Raises:
        ValueError: If the shapes do not fit, or no unit is selected.

    References:
        Rosenbaum and Rubin (1983), doi:10.1093/biomet/70.1.41; Kish (1965), Survey Sampling.

    Examples:
        >>> is_long = np.repeat([0, 1], 50)
        >>> is_selected = np.r_[np.arange(50) < 40, np.arange(50) < 10]
        >>> weights = selection_weights(is_long[:, None], is_selected).weights
        >>> weights[[0, 50]].round(1).tolist()
        [1.3, 4.7]
    """
    selected = np.asarray(is_selected, dtype=np.bool_)
    design = _design(rating_matrix(features))
    if selected.shape != (len(design),):
        raise ValueError(f"is_selected must have {len(design)} units, got {selected.shape}")
    if not selected.any():
        raise ValueError("at least one unit must be selected")
    codes = group_codes(groups, n_units=len(design))
    group = np.arange(len(design)) if codes is None else codes
    precision = np.full(design.shape[1], _PRIOR_PRECISION)
    precision[0] = 0.0
    coefficients = _fitted(design, selected, precision)
    probability = _probability(design @ coefficients)
    most = _MOST_WEIGHTS // max(1, int(selected.sum()))
    block = blocks(group, most=int(np.clip(most, FEWEST_DELETIONS, MAX_DELETIONS)))
    without = _fitted_without(design, selected, probability, coefficients, precision, block)
    weights = 1 / _probability(design[selected] @ without.T).T
    weights[block[selected], np.arange(len(weights.T))] = 0.0
    return SelectionWeights(np.where(selected, 1 / probability, 0.0), weights, group)


def _design(features: Floats) -> Floats:
    """Return a column of ones and the features that vary, standardized; missing is 0."""
    varies = np.array([len(np.unique(c[~np.isnan(c)])) > 1 for c in features.T], dtype=np.bool_)
    columns = features[:, varies]
    standardized = (columns - np.nanmean(columns, axis=0)) / np.nanstd(columns, axis=0)
    return np.column_stack([np.ones(len(features)), np.nan_to_num(standardized)])


def _probability(score: Floats) -> Floats:
    probability: Floats = 1 / (1 + np.exp(-np.clip(score, -30, 30)))
    return probability


def _fitted(design: Floats, selected: Mask, precision: Floats) -> Floats:
    """Return the coefficients of the selection model by Newton's method."""
    coefficients = np.zeros(design.shape[1])
    share = np.clip(selected.mean(), 1 / (2 * len(selected)), 1 - 1 / (2 * len(selected)))
    coefficients[0] = math.log(share / (1 - share))
    for _ in range(_MOST_STEPS):
        probability = _probability(design @ coefficients)
        gradient = design.T @ (selected - probability) - precision * coefficients
        step = np.linalg.solve(_curvature(design, probability, precision), gradient)
        # No step over several standard deviations: the curvature vanishes far from the optimum.
        coefficients = coefficients + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < _CONVERGED:
            break
    return coefficients


def _curvature(design: Floats, probability: Floats, precision: Floats) -> Floats:
    weight = probability * (1 - probability)
    # The intercept of units that are all selected has none.
    curvature: Floats = (design * weight[:, None]).T @ design + np.diag(precision + _CONVERGED)
    return curvature


def _fitted_without(  # noqa: PLR0913, PLR0917 - the fitted model
    design: Floats,
    selected: Mask,
    probability: Floats,
    coefficients: Floats,
    precision: Floats,
    block: Indices,
) -> Floats:
    """Return the coefficients without each block, by one Newton step from those with it."""
    n_blocks, n_columns = int(block.max()) + 1, design.shape[1]
    residual = selected - probability
    scores = np.stack(
        [sums_by_code(block, column * residual, n_codes=n_blocks) for column in design.T], axis=1
    )
    weight = probability * (1 - probability)
    curvature = np.empty((n_blocks, n_columns, n_columns))
    whole = _curvature(design, probability, precision)
    for row in range(n_columns):
        for column in range(row, n_columns):
            terms = weight * design[:, row] * design[:, column]
            part = whole[row, column] - sums_by_code(block, terms, n_codes=n_blocks)
            curvature[:, row, column] = curvature[:, column, row] = part
    without: Floats = coefficients - np.linalg.solve(curvature, scores[..., None])[..., 0]
    return without


def weighted_interval(
    ratings: Ratings,
    coefficient: PatternCoefficient,
    *,
    weights: SelectionWeights,
    confidence: float,
) -> Interval:
    """Return a coefficient of selected units weighted to all units, with its interval.

    The jackknife leaves out one group at a time and fits the weights again.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if missing. Units that are not selected
            may have ratings, which do not count.
        coefficient: `Alpha(level)`, `HumanAgreement(scale)` or another that does not depend on who
            gave a rating.
        weights: As `selection_weights` returns them for these units.
        confidence: Long-run share of intervals that hold the value on all units, in (0, 1), if the
            features explain the selection.

    Returns:
        The interval; its `n_groups` are those of the selected units.

    Raises:
        ValueError: If the ratings have other units than the weights, or an argument is out of
            range.

    References:
        Hajek (1971), Comment on a paper by D. Basu; Kish (1965), Survey Sampling, for the groups
        that count.

    Examples:
        >>> from eval_assets.stats import PairwiseAgreement
        >>> is_long = np.repeat([0, 1], 50)
        >>> is_selected = np.r_[np.arange(50) < 40, np.arange(50) < 10]
        >>> ratings = np.column_stack([np.zeros(100), is_long * (np.arange(100) % 2)])
        >>> ratings[~is_selected] = np.nan
        >>> weights = selection_weights(is_long[:, None], is_selected)
        >>> agreement = weighted_interval(
        ...     ratings, PairwiseAgreement(within=0), weights=weights, confidence=0.95
        ... )
        >>> print(agreement)  # 0.9 of the selected units, 0.75 of all
        0.760 [0.557, 0.889]
    """
    require_confidence(confidence)
    matrix = rating_matrix(ratings)
    if len(matrix) != len(weights.weights):
        raise ValueError(f"ratings must have {len(weights.weights)} units, got {len(matrix)}")
    is_selected = weights.weights > 0
    patterns, kind = RatingPatterns.by_row(matrix[is_selected])
    measure = coefficient.measure(patterns)
    counts = measure.is_evidence[kind] & (kind >= 0)
    kind, group = kind[counts], weights.group[is_selected][counts]
    n_units, groups = int(counts.sum()), np.unique(group)
    unit_weights = weights.weights[is_selected][counts]
    estimates = measure.estimator(_by_kind(unit_weights[None], kind, len(patterns.n_units)))
    value = float(estimates[0]) if n_units else math.nan
    low, high, method = math.nan, math.nan, None
    of_group = sums_by_code(np.searchsorted(groups, group), unit_weights, n_codes=len(groups))
    deleted = weights.without[:, counts]
    deleted = deleted[(deleted == 0).any(axis=1)]
    if len(deleted) > 1 and not math.isnan(value):
        values = measure.estimator(_by_kind(deleted, kind, len(patterns.n_units)))
        deviations = values - value
        squares, fourth = float((deviations**2).sum()), float((deviations**4).sum())
        if not math.isnan(squares):
            n_effective = of_group.sum() ** 2 / (of_group**2).sum()
            df = jackknife_df(len(deleted), squares=squares, fourth=fourth)
            variance = (len(deleted) - 1) / len(deleted) * squares
            evidence = Evidence(value, variance, max(1, int(n_effective)), df, confidence)
            low, high, method = measure.spread.ends(evidence)
    return Interval(value, low, high, confidence, method, n_units, len(groups))


def _by_kind(weights: Floats, kind: Indices, n_kinds: int) -> Floats:
    """Return weights summed by kind of unit, as if each set summed to its number of units."""
    sums = np.stack([sums_by_code(kind, row, n_codes=n_kinds) for row in weights])
    n_units = np.count_nonzero(weights, axis=1)
    scaled: Floats = sums * (n_units / np.maximum(sums.sum(axis=1), _CONVERGED))[:, None]
    return scaled
