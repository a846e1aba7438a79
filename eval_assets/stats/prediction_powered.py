"""Means of human ratings, estimated from few ratings and a judge's scores of all responses."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.stats._numbers import Floats
from eval_assets.stats._quantiles import t_quantile
from eval_assets.stats.intervals import Interval


def prediction_powered_mean(
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    *,
    confidence: float,
    groups: npt.ArrayLike | None = None,
) -> Interval:
    """Return the mean label of all units, of which humans labelled some and a judge scored all.

    The judge's mean, corrected by how far it is off on the labelled units, and weighted by how
    well it follows the labels there: the interval is valid however bad the judge is, and at most
    a little wider than that of the labels alone. The labelled units have to be a random sample.

    Args:
        labels: Labels of shape (n_labelled,), for instance mean human ratings.
        predictions: The judge's scores of the same units; units that lack either are left out.
        unlabelled: The judge's scores of the other units, shape (n_unlabelled,).
        confidence: Long-run share of intervals that hold the true mean, in (0, 1).
        groups: Group of each labelled and then of each unlabelled unit, shape (n_labelled +
            n_unlabelled,); units of one group depend on one another. None if none do.

    Returns:
        The interval, by Student's t with one degree of freedom fewer than there are labelled
        groups. Its ends are NaN for fewer than two of these.

    Raises:
        ValueError: If the shapes do not fit, a value is infinite or `confidence` is not in (0, 1).

    References:
        Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453 (PPI++); Liang and Zeger (1986),
        doi:10.1093/biomet/73.1.13, for the variance by groups.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> truth = rng.normal(3, 1, 2000)
        >>> judge = truth - 0.5 + rng.normal(0, 0.3, 2000)
        >>> found = prediction_powered_mean(truth[:100], judge[:100], judge[100:], confidence=0.95)
        >>> alone = prediction_powered_mean(truth[:100], judge[:100], [], confidence=0.95)
        >>> round(found.value, 2), round((alone.high - alone.low) / (found.high - found.low), 1)
        (2.98, 2.7)
    """
    estimate = _Estimate.of(labels, predictions, unlabelled, groups)
    return _interval(estimate.value, [(estimate, 1.0)], confidence=confidence)


def prediction_powered_difference(
    first: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    second: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    *,
    confidence: float,
    groups: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Interval:
    """Return how much higher the first system's mean label is than the second's.

    Args:
        first: Labels, predictions and unlabelled predictions of one system's responses, as for
            `prediction_powered_mean`.
        second: Those of the other system's.
        confidence: Long-run share of intervals that hold the true difference, in (0, 1).
        groups: Groups of both systems' units, as for `prediction_powered_mean`. Responses of
            both to one prompt share its group, which makes the comparison a paired one.

    Returns:
        The interval of first less second, as for `prediction_powered_mean`.

    Raises:
        ValueError: As for `prediction_powered_mean`.

    Examples:
        >>> good, bad = ([4, 5, 4, 5], [4, 4, 4, 5], [4, 5]), ([2, 2, 3, 1], [2, 2, 3, 2], [2, 1])
        >>> found = prediction_powered_difference(good, bad, confidence=0.95)
        >>> round(found.value, 2), found.low > 0
        (2.7, True)
    """
    of_first, of_second = groups or (None, None)
    one, other = _Estimate.of(*first, of_first), _Estimate.of(*second, of_second)
    return _interval(one.value - other.value, [(one, 1.0), (other, -1.0)], confidence=confidence)


@dataclass(frozen=True, eq=False)
class _Estimate:
    """A mean and how much each unit contributes to its error.

    Attributes:
        value: The estimate.
        influence: Contribution of each unit, labelled ones first; they add up to 0.
        groups: Group of each unit; None if each is its own.
        n_labelled: Labelled units.
    """

    value: float
    influence: Floats
    groups: npt.NDArray[np.generic] | None
    n_labelled: int

    @classmethod
    def of(
        cls,
        labels: npt.ArrayLike,
        predictions: npt.ArrayLike,
        unlabelled: npt.ArrayLike,
        groups: npt.ArrayLike | None,
    ) -> "_Estimate":
        label, predicted, other = (
            np.asarray(values, dtype=np.float64) for values in (labels, predictions, unlabelled)
        )
        if label.ndim != 1 or label.shape != predicted.shape or other.ndim != 1:
            raise ValueError(
                "one prediction for each label and a list of further predictions are needed, got "
                f"{label.shape}, {predicted.shape} and {other.shape}"
            )
        if any(np.isinf(values).any() for values in (label, predicted, other)):
            raise ValueError("values must be finite or NaN, got an infinity")
        kept = np.concatenate([~np.isnan(label) & ~np.isnan(predicted), ~np.isnan(other)])
        names = None if groups is None else np.asarray(groups)
        if names is not None and names.shape != kept.shape:
            raise ValueError(f"{len(kept)} groups are needed, one for each unit, got {names.shape}")
        n_given = len(label)
        label, predicted = label[kept[:n_given]], predicted[kept[:n_given]]
        other = other[kept[n_given:]]
        weight = _power_tuning(label, predicted, other)
        rest = label - weight * predicted
        if not len(label):
            return cls(math.nan, np.zeros(0), None, 0)
        value = float(rest.mean()) + weight * (float(other.mean()) if len(other) else 0.0)
        influence = np.concatenate(
            [
                (rest - rest.mean()) / len(rest),
                weight * (other - other.mean()) / len(other) if len(other) else np.zeros(0),
            ]
        )
        return cls(value, influence, None if names is None else names[kept], len(label))


def _power_tuning(label: Floats, predicted: Floats, other: Floats) -> float:
    """Return the weight of the predictions that makes the estimate's variance least, in [0, 1]."""
    if not (len(label) and len(other)):
        return 0.0
    covariance = float(np.mean((label - label.mean()) * (predicted - predicted.mean())))
    variance = float(np.var(np.concatenate([predicted, other]), ddof=1))
    if variance <= 0:
        return 0.0
    return min(1.0, max(0.0, covariance / ((1 + len(label) / len(other)) * variance)))


def _numbered(groups: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Return a small number for each group; those that are small numbers already stay."""
    if np.issubdtype(groups.dtype, np.integer) and len(groups):
        numbers = groups.astype(np.intp)
        if numbers.min() >= 0 and numbers.max() <= _SPARSEST * len(groups):
            return numbers
    _, numbers = np.unique(groups, return_inverse=True)
    return np.asarray(numbers, dtype=np.intp)


_SPARSEST = 100
"""Numbers of groups up to this multiple of the units are counted without being sorted."""


def _interval(value: float, parts: list[tuple[_Estimate, float]], *, confidence: float) -> Interval:
    """Return the interval of a sum of estimates, with their signs, over the groups of all."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence:g}")
    influence = np.concatenate([sign * estimate.influence for estimate, sign in parts])
    labelled = np.concatenate([np.arange(len(e.influence)) < e.n_labelled for e, _ in parts])
    named = [estimate.groups for estimate, _ in parts if estimate.groups is not None]
    index = _numbered(np.concatenate(named)) if named else np.arange(len(influence))
    n_labelled = int(np.count_nonzero(np.bincount(index[labelled])))
    n_units = int(labelled.sum())
    if n_labelled < 2:  # noqa: PLR2004 - no degree of freedom
        return Interval(value, math.nan, math.nan, confidence, None, n_units, n_labelled)
    variance = float((np.bincount(index, influence) ** 2).sum()) * n_labelled / (n_labelled - 1)
    reach = t_quantile((1 + confidence) / 2, df=n_labelled - 1) * math.sqrt(variance)
    low, high = value - reach, value + reach
    return Interval(value, low, high, confidence, "clustered_t", n_units, n_labelled)
