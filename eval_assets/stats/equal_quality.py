"""Bias of a judge on some responses, such as those of one system, at equal quality.

Ratings are quality with error, so a judge must not be regressed on them: good systems would look
favoured by every judge that errs. Instead its score is compared with a function of one rater's
rating, such that what is left is unrelated to the rating of another rater of the same response
(instrumental variables). The function takes up any stretch or bend of the judge's scale. Rater
severity is taken off before.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.stats._interval_bounds import TIE, jackknife_df, t_probability, t_quantile
from eval_assets.stats._numbers import Floats, Indices
from eval_assets.stats._units import MAX_DELETIONS, blocks

LEAST_BIAS = 0.05
"""Share of the scale from which on a bias is named (a choice)."""

NAMED_AT = 0.04
"""Adjusted p-value at which a bias is named: at most 5 % of unbiased judges are, in simulations."""

FEWEST_ERRORS = 4.0
"""Standard errors above 0 of people's covariance within values, without which a bias cannot be told
from a stretched scale."""

_ROUNDS = 30
"""Rounds of alternating means in which raters' severities settle."""

_FEWEST_VALUES = 2


@dataclass(frozen=True)
class ValueBias:
    """Bias of a judge on the responses with one value of an attribute, in points of the scale.

    Attributes:
        value: Code of the value.
        relative: Bias relative to the mean of the values that are not named.
        p_adjusted: Holm's p-value.
        is_named: Whether the bias is significant, and at least a twentieth of the scale.
    """

    value: int
    relative: float
    low: float
    high: float
    p_adjusted: float
    is_named: bool


def without_severity(unit: Indices, rater: Indices, values: Floats) -> Floats:
    """Return ratings less each rater's severity, as it shows on responses with several raters.

    Args:
        unit: Unit of each rating, numbered from 0.
        rater: Its rater, numbered from 0.
        values: The ratings.

    Examples:
        >>> unit, rater = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        >>> without_severity(unit, rater, np.array([1.0, 2.0, 3.0, 4.0])).tolist()
        [1.5, 1.5, 3.5, 3.5]
    """
    n_raters = int(rater.max(initial=-1)) + 1
    n_of_unit = np.bincount(unit)
    is_shared = (n_of_unit > 1)[unit]
    of, by, shared = unit[is_shared], rater[is_shared], values[is_shared]
    n_of_rater = np.bincount(by, minlength=n_raters)
    severity = np.zeros(n_raters)
    for _ in range(_ROUNDS if len(shared) else 0):
        total = np.bincount(of, shared - severity[by], len(n_of_unit))
        quality = total / np.maximum(n_of_unit, 1)
        severity = np.bincount(by, shared - quality[of], n_raters) / np.maximum(n_of_rater, 1)
        severity -= (n_of_rater * severity).sum() / n_of_rater.sum()
    return values - severity[rater]


def errors_above_zero(
    unit: Indices, ratings: Floats, code: npt.ArrayLike, groups: npt.ArrayLike
) -> float:
    """Return people's covariance within values of an attribute, in jackknife standard errors.

    Args:
        unit: Unit of each rating.
        ratings: Ratings without severity.
        code: Value of each unit, numbered from 0.
        groups: Group of each unit, numbered from 0.

    Returns:
        NaN if no unit has two ratings, or there is one group.
    """
    codes, group = np.asarray(code), np.asarray(groups)
    n = np.bincount(unit, minlength=len(codes))
    is_shared = (n > 1)[unit]
    of, values = unit[is_shared], ratings[is_shared]
    if not len(of):
        return math.nan
    means = np.bincount(codes[of], values) / np.maximum(np.bincount(codes[of]), 1)
    deviation = values - means[codes[of]]
    one = np.bincount(of, deviation, len(codes))
    two = np.bincount(of, deviation**2, len(codes))
    units = np.flatnonzero(n > 1)
    covariance = (one[units] ** 2 - two[units]) / (n[units] * (n[units] - 1))
    block = blocks(_numbered(group[units]), most=MAX_DELETIONS)
    sums, counts = np.bincount(block, covariance), np.bincount(block)
    n_blocks = len(counts)
    if n_blocks < 2:  # noqa: PLR2004 - one group says nothing about others
        return math.nan
    remaining = (sums.sum() - sums) / (counts.sum() - counts)
    error = math.sqrt((n_blocks - 1) / n_blocks * ((remaining - remaining.mean()) ** 2).sum())
    return float(covariance.mean() / error) if error > TIE else math.nan


def bias_at_equal_quality(  # noqa: PLR0913 - people, the judge, the attribute and the scale
    unit: Indices,
    rater: Indices,
    values: Floats,
    judge: Floats,
    *,
    code: Indices,
    groups: npt.ArrayLike,
    low: float,
    high: float,
    within: Indices | None = None,
) -> dict[int, ValueBias]:
    """Return a judge's bias by value of an attribute, from people's ratings as they gave them.

    Responses that the judge did not score tell of the raters' severity and agreement as well.

    Args:
        unit: Unit of each human rating, ascending.
        rater: Its rater.
        values: The ratings.
        judge: Score of each unit, NaN if missing.
        code: Value of each unit, numbered from 0.
        groups: Group of each unit, numbered from 0.
        low: Lowest value of the scale.
        high: Highest.
        within: Finer values within which people must agree, negative for none; None: `code`.

    Returns:
        Empty where people do not agree enough within values for a bias to be told.
    """
    if not len(unit):
        return {}
    levelled, within = without_severity(unit, rater, values), code if within is None else within
    has_value = (within >= 0)[unit]
    errors = errors_above_zero(unit[has_value], levelled[has_value], within, groups)
    if not errors >= FEWEST_ERRORS:
        return {}
    has_bend = len(np.unique(values)) > _FEWEST_VALUES  # two values have no bend
    estimate = bias_by_value(
        unit, levelled, judge, code, groups, low=low, high=high, has_bend=has_bend
    )
    return {bias.value: bias for bias in estimate}


def bias_by_value(  # noqa: PLR0913 - people, the judge, the attribute and the scale
    unit: Indices,
    ratings: Floats,
    judge: npt.ArrayLike,
    code: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    low: float,
    high: float,
    has_bend: bool,
) -> list[ValueBias]:
    """Return a judge's bias on the responses with each value of an attribute, at equal quality.

    The bias with the smallest p-value is named if Holm's adjusted p-value is at most `NAMED_AT`; it
    then leaves the reference, and the others are compared again. Else one bad system would make
    all others look biased the other way.

    Args:
        unit: Unit of each human rating, ascending.
        ratings: The ratings without severity; see `without_severity`.
        judge: Score of each unit, NaN if missing.
        code: Value of each unit, numbered from 0.
        groups: Group of each unit, numbered from 0.
        low: Lowest value of the scale.
        high: Highest.
        has_bend: Whether the judge's scale may be bent, which two values cannot tell.

    Returns:
        One for each value that has units with a score and two ratings; empty with fewer than two
        values or groups, or if the equations have no solution.
    """
    scores, codes, group = (np.asarray(item) for item in (judge, code, groups))
    n = np.bincount(unit, minlength=len(scores))
    units = np.flatnonzero((n > 1) & ~np.isnan(scores))
    values = np.unique(codes[units])
    block = blocks(_numbered(group[units]), most=MAX_DELETIONS)
    n_blocks = int(block.max(initial=-1)) + 1
    if len(values) < _FEWEST_VALUES or n_blocks < 2:  # noqa: PLR2004 - nothing to compare
        return []
    degree = 2 if has_bend else 1
    moments, sums = _moments(unit, ratings, scores, codes, units, values, block, degree, low, high)
    total, total_sums = moments.sum(axis=0), sums.sum(axis=0)
    try:
        estimate = np.linalg.solve(total, total_sums)[degree:]
        deleted = np.linalg.solve(total - moments, (total_sums - sums)[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return []
    n_of_value = total.diagonal()[degree:]
    return _named(values, estimate, deleted[:, degree:], n_of_value, span=high - low)


def _moments(  # noqa: PLR0913, PLR0917 - the data of the equations
    unit: Indices,
    ratings: Floats,
    scores: Floats,
    codes: npt.NDArray[np.integer],
    units: Indices,
    values: npt.NDArray[np.integer],
    block: Indices,
    degree: int,
    low: float,
    high: float,
) -> tuple[Floats, Floats]:
    """Return the sums of the moment equations by block, shapes (B, q, q) and (B, q)."""
    place = np.full(len(scores), -1)
    place[units] = np.arange(len(units))
    is_used = place[unit] >= 0
    of = place[unit[is_used]]
    scaled = 2 * (ratings[is_used] - low) / (high - low) - 1
    basis = scaled[:, None] ** np.arange(1, degree + 1)
    n = np.bincount(of, minlength=len(units)).astype(np.float64)
    total = np.column_stack([np.bincount(of, basis[:, k], len(units)) for k in range(degree)])
    q = degree + len(values)
    n_blocks = int(block.max()) + 1
    moments, sums = np.zeros((n_blocks, q, q)), np.zeros((n_blocks, q))
    value = np.searchsorted(values, codes[units])
    x = (scores[units] - low) / (high - low)
    mean = total / n[:, None]
    for i in range(degree):
        for j in range(degree):
            squares = np.bincount(of, basis[:, i] * basis[:, j], len(units))
            pairs = (total[:, i] * total[:, j] - squares) / (n * (n - 1))
            moments[:, i, j] = np.bincount(block, pairs, n_blocks)
        for v in range(len(values)):
            of_value = np.bincount(block, np.where(value == v, mean[:, i], 0.0), n_blocks)
            moments[:, i, degree + v] = moments[:, degree + v, i] = of_value
        sums[:, i] = np.bincount(block, mean[:, i] * x, n_blocks)
    for v in range(len(values)):
        is_of = value == v
        moments[:, degree + v, degree + v] = np.bincount(block, is_of, n_blocks)
        sums[:, degree + v] = np.bincount(block, np.where(is_of, x, 0.0), n_blocks)
    return moments, sums


def _named(
    values: npt.NDArray[np.integer],
    estimate: Floats,
    deleted: Floats,
    n_of_value: Floats,
    *,
    span: float,
) -> list[ValueBias]:
    """Return the biases relative to the values that are not named, and which are."""
    n = len(values)
    is_named, p_named = np.zeros(n, bool), np.full(n, np.nan)
    while True:
        remaining = np.flatnonzero(~is_named)
        *_, p = _compared(estimate, deleted, n_of_value, ~is_named)
        first = remaining[np.argmin(p[remaining])]
        # Of two systems there is one difference, and nothing tells which of them is biased.
        n_tests = 1 if n == _FEWEST_VALUES else len(remaining)
        adjusted = min(1.0, p[first] * n_tests)
        if adjusted > NAMED_AT or (len(remaining) == _FEWEST_VALUES and is_named.any()):
            break
        is_named[first] = True
        p_named[first] = max(adjusted, np.nanmax(p_named, initial=0.0, where=~np.isnan(p_named)))
        if n - is_named.sum() < _FEWEST_VALUES:
            break
    relative, error, df, p = _compared(estimate, deleted, n_of_value, ~is_named)
    p_adjusted = np.where(is_named, p_named, np.minimum(1.0, p * max(1, int((~is_named).sum()))))
    rows = []
    for k in range(n):
        reach = t_quantile(1 - 0.05 / 2 / n, df=int(df[k])) * error[k]
        rows.append(
            ValueBias(
                value=int(values[k]),
                relative=span * float(relative[k]),
                low=span * float(relative[k] - reach),
                high=span * float(relative[k] + reach),
                p_adjusted=float(p_adjusted[k]),
                is_named=bool(is_named[k] and abs(relative[k]) >= LEAST_BIAS),
            )
        )
    return rows


def _compared(
    estimate: Floats, deleted: Floats, n_of_value: Floats, reference: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return differences from a reference, with errors, degrees of freedom and p-values."""
    weights = np.where(reference, n_of_value, 0.0) / n_of_value[reference].sum()
    difference = estimate - estimate @ weights
    deviations = deleted - (deleted @ weights)[:, None]
    deviations -= deviations.mean(axis=0)
    squares, fourth = (deviations**2).sum(axis=0), (deviations**4).sum(axis=0)
    n_blocks = len(deleted)
    df = np.array(
        [
            jackknife_df(n_blocks, squares=float(s), fourth=float(f))
            for s, f in zip(squares, fourth, strict=True)
        ]
    )
    error = np.sqrt((n_blocks - 1) / n_blocks * squares)
    statistic = np.abs(difference) / np.maximum(error, TIE)
    p = np.array(
        [2 * t_probability(-s, df=int(d)) for s, d in zip(statistic.tolist(), df, strict=True)]
    )
    return difference, error, df, p


def _numbered(codes: npt.NDArray[np.integer]) -> Indices:
    return np.searchsorted(np.unique(codes), codes)
