"""Means of labels, made more precise by a judge's scores and corrected for its errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from eval_assets.stats._interval_bounds import Evidence, MeanShare, degrees_of_freedom
from eval_assets.stats._numbers import Floats, Integers, Mask
from eval_assets.stats._units import sums_by_code
from eval_assets.stats.intervals import Interval, less, require_confidence
from eval_assets.stats.pair_sums import group_index

Bounds = tuple[float, float]
"""Least and greatest label that there can be."""


def prediction_powered_mean(  # noqa: PLR0913 - the units of three kinds, and their groups and scale
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    *,
    confidence: float,
    groups: npt.ArrayLike | None = None,
    bounds: Bounds | None = None,
) -> Interval:
    """Return the mean label of all units, of which humans labelled some and a judge scored all.

    The judge's mean, corrected by its mean error on the labelled units, and weighted by how well
    it follows the labels there: the interval is valid even with a bad judge, and at most a little
    wider than that of the labels alone. The labelled units must be a random sample.

    Args:
        labels: Labels of shape (n_labelled,), for instance mean human ratings.
        predictions: The judge's scores of the same units; units that lack either are left out.
        unlabelled: The judge's scores of the other units, shape (n_unlabelled,).
        confidence: Long-run share of intervals that hold the true mean, in (0, 1).
        groups: Group of each labelled and then of each unlabelled unit, shape (n_labelled +
            n_unlabelled,); units of one group depend on one another. None if none do.
        bounds: Ends of the scale of the labels. None takes 0 and 1 if all labels are one of these
            and all scores lie between them, else no bounds.

    Returns:
        The interval, within the bounds. With bounds it is Wilson's with as many units as give the
        variance, or exact if all labelled units are alike. Without bounds it is Student's, and its
        ends are NaN if all labelled units are alike. Student's quantile has one degree of freedom
        fewer than there are labelled groups, and at most one more than twice the groups with a
        label other than the most frequent one. The ends are NaN for fewer than two groups.

    Raises:
        ValueError: If the shapes do not fit, a value is infinite, a label is out of bounds or
            `confidence` is not in (0, 1).

    References:
        Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453 (PPI++); Liang and Zeger (1986),
        doi:10.1093/biomet/73.1.13, for the variance by groups; Wilson (1927),
        doi:10.1080/01621459.1927.10502953.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> truth = rng.normal(3, 1, 2000)
        >>> judge = truth - 0.5 + rng.normal(0, 0.3, 2000)
        >>> found = prediction_powered_mean(truth[:100], judge[:100], judge[100:], confidence=0.95)
        >>> alone = prediction_powered_mean(truth[:100], judge[:100], [], confidence=0.95)
        >>> round(found.value, 2), round((alone.high - alone.low) / (found.high - found.low), 1)
        (2.98, 2.7)
        >>> print(prediction_powered_mean([1] * 20, [1] * 20, [1] * 80, confidence=0.95))
        1.000 [0.832, 1.000]
    """
    [interval], _ = _intervals(
        [_Estimate.of(labels, predictions, unlabelled, groups, bounds)], confidence=confidence
    )
    return interval


def prediction_powered_difference(
    first: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    second: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    *,
    confidence: float,
    groups: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    bounds: Bounds | None = None,
) -> Interval:
    """Return the first system's mean label less the second's.

    Args:
        first: Labels, predictions and unlabelled predictions of one system's responses, as for
            `prediction_powered_mean`.
        second: Those of the other system's.
        confidence: Long-run share of intervals that hold the true difference, in (0, 1).
        groups: Groups of both systems' units, as for `prediction_powered_mean`. Responses of
            both to one prompt share its group, which makes the comparison a paired one.
        bounds: Ends of the scale of both systems' labels, as for `prediction_powered_mean`.

    Returns:
        The interval of first less second, from the intervals of both means and their correlation
        (MOVER). Its ends are NaN if those of either mean are.

    Raises:
        ValueError: As for `prediction_powered_mean`.

    References:
        Zou and Donner (2008), doi:10.1002/sim.3095 (MOVER).

    Examples:
        >>> good, bad = ([4, 5, 4, 5], [4, 4, 4, 5], [4, 5]), ([2, 2, 3, 1], [2, 2, 3, 2], [2, 1])
        >>> found = prediction_powered_difference(good, bad, confidence=0.95)
        >>> round(found.value, 2), found.low > 0
        (2.7, True)
    """
    of_first, of_second = groups or (None, None)
    estimates = [
        _Estimate.of(*first, of_first, bounds),
        _Estimate.of(*second, of_second, bounds),
    ]
    (one, other), products = _intervals(estimates, confidence=confidence)
    labelled = np.concatenate([estimate.is_labelled for estimate in estimates])
    return replace(
        less(one, other, products),
        n_units=one.n_units + other.n_units,
        n_groups=_n_groups(_group_index(estimates)[labelled]),
    )


@dataclass(frozen=True, eq=False)
class _Estimate:
    """A mean and the contribution of each unit to its error.

    Attributes:
        influence: Contribution of each unit, labelled ones first; they add up to 0.
        groups: Group of each unit; None if each is its own.
        is_labelled: Whether each unit is labelled.
        is_rare: Whether each unit has a label other than the most frequent one.
        bounds: Ends of the labels' scale; None if there are none.
    """

    value: float
    influence: Floats
    groups: npt.NDArray[np.generic] | None
    is_labelled: Mask
    is_rare: Mask
    bounds: Bounds | None

    @classmethod
    def of(
        cls,
        labels: npt.ArrayLike,
        predictions: npt.ArrayLike,
        unlabelled: npt.ArrayLike,
        groups: npt.ArrayLike | None,
        bounds: Bounds | None,
    ) -> "_Estimate":
        label, predicted, further = (
            np.asarray(values, dtype=np.float64) for values in (labels, predictions, unlabelled)
        )
        if label.ndim != 1 or label.shape != predicted.shape or further.ndim != 1:
            raise ValueError(
                "one prediction for each label and a list of further predictions are needed, got "
                f"{label.shape}, {predicted.shape} and {further.shape}"
            )
        if any(np.isinf(values).any() for values in (label, predicted, further)):
            raise ValueError("values must be finite or NaN, got an infinity")
        is_complete = np.concatenate([~np.isnan(label) & ~np.isnan(predicted), ~np.isnan(further)])
        names = None if groups is None else np.asarray(groups)
        if names is not None and names.shape != is_complete.shape:
            raise ValueError(
                f"{len(is_complete)} groups are needed, one for each unit, got {names.shape}"
            )
        n_given = len(label)
        label, predicted = label[is_complete[:n_given]], predicted[is_complete[:n_given]]
        further = further[is_complete[n_given:]]
        is_labelled = np.arange(len(label) + len(further)) < len(label)
        if not len(label):
            return cls(math.nan, np.zeros(0), None, is_labelled[:0], is_labelled[:0], bounds)
        weight = _power_tuning(label, predicted, further)
        rest = label - weight * predicted
        value = float(rest.mean()) + weight * (float(further.mean()) if len(further) else 0.0)
        influence = np.concatenate(
            [
                (rest - rest.mean()) / len(rest),
                weight * (further - further.mean()) / len(further) if len(further) else np.zeros(0),
            ]
        )
        values, counts = np.unique(label, return_counts=True)
        is_rare = is_labelled.copy()
        is_rare[: len(label)] = label != values[counts.argmax()]
        names = None if names is None else names[is_complete]
        ends = _declared_bounds(label, np.concatenate([predicted, further]), bounds)
        if ends is not None:
            value = min(ends[1], max(ends[0], value))
        return cls(value, influence, names, is_labelled, is_rare, ends)


def _declared_bounds(label: Floats, scores: Floats, bounds: Bounds | None) -> Bounds | None:
    """Return the bounds of the labels, 0 and 1 if they have no other values.

    Raises:
        ValueError: If a label lies outside the given bounds.
    """
    if bounds is None:
        is_binary = np.isin(label, (0, 1)).all() and ((scores >= 0) & (scores <= 1)).all()
        return (0.0, 1.0) if is_binary else None
    if not (bounds[0] <= label.min() and label.max() <= bounds[1]):
        raise ValueError(
            f"labels must lie in [{bounds[0]:g}, {bounds[1]:g}], "
            f"got {label.min():g} to {label.max():g}"
        )
    return bounds


def _power_tuning(label: Floats, predicted: Floats, further: Floats) -> float:
    """Return the weight of the predictions that makes the estimate's variance least, in [0, 1]."""
    if not (len(label) and len(further)):
        return 0.0
    covariance = float(np.mean((label - label.mean()) * (predicted - predicted.mean())))
    variance = float(np.var(np.concatenate([predicted, further]), ddof=1))
    if variance <= 0:
        return 0.0
    return min(1.0, max(0.0, covariance / ((1 + len(label) / len(further)) * variance)))


def _intervals(
    estimates: Sequence[_Estimate], *, confidence: float
) -> tuple[list[Interval], Floats]:
    """Return the interval of each estimate, and their covariances by group, to scale."""
    require_confidence(confidence)
    index = _group_index(estimates)
    ends = np.cumsum([len(estimate.influence) for estimate in estimates])
    parts = np.split(index, ends[:-1])
    n_groups = int(index.max(initial=-1)) + 1
    sums = np.stack(
        [
            sums_by_code(part, estimate.influence, n_codes=n_groups)
            for estimate, part in zip(estimates, parts, strict=True)
        ]
    )
    products = sums @ sums.T
    intervals = [
        _interval(estimate, part, squares=float(squares), confidence=confidence)
        for estimate, part, squares in zip(estimates, parts, np.diag(products), strict=True)
    ]
    return intervals, products


def _interval(
    estimate: _Estimate, index: Integers, *, squares: float, confidence: float
) -> Interval:
    value, n_groups = estimate.value, _n_groups(index[estimate.is_labelled])
    n_units = int(estimate.is_labelled.sum())
    undefined = Interval(value, math.nan, math.nan, confidence, None, n_units, n_groups)
    if n_groups < 2:  # noqa: PLR2004 - no degree of freedom
        return undefined
    variance = squares * n_groups / (n_groups - 1)
    df = degrees_of_freedom(n_groups, n_rare=_n_groups(index[estimate.is_rare]))
    evidence = Evidence(value, variance, n_groups, df, confidence)
    if estimate.bounds is not None:
        low, high = estimate.bounds
        share = replace(
            evidence, value=(value - low) / (high - low), variance=variance / (high - low) ** 2
        )
        first, last, method = MeanShare().ends(share)
        within = Interval(share.value, first, last, confidence, method, n_units, n_groups)
        return replace(within.times(high - low, plus=low), value=value)
    if evidence.is_without_variation:  # others may vary, to an unknown extent
        return undefined
    reach = evidence.quantile * math.sqrt(variance)
    return replace(undefined, low=value - reach, high=value + reach, method="clustered_t")


def _group_index(estimates: Sequence[_Estimate]) -> Integers:
    named = [estimate.groups for estimate in estimates if estimate.groups is not None]
    every_unit = np.ones(sum(len(estimate.influence) for estimate in estimates), np.bool_)
    return group_index(np.concatenate(named) if named else None, every_unit)[0]


def _n_groups(index: Integers) -> int:
    return int(np.count_nonzero(np.bincount(index)))


def rogan_gladen(
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    *,
    confidence: float,
) -> Interval:
    """Return the true share of positives among the unlabelled units, corrected for judge errors.

    (share the judge calls positive + specificity - 1) / (sensitivity + specificity - 1), with both
    rates estimated on the labelled units. The interval includes their uncertainty. Units are taken
    as independent, and the judge's error rates as those of the labelled units, even if positives
    are more or less frequent there.

    Args:
        labels: True values of shape (n_labelled,): 0 or 1.
        predictions: The judge's values of the same units: 0 or 1; NaN if missing.
        unlabelled: The judge's values of the units whose share is wanted: 0 or 1.
        confidence: Long-run share of intervals that hold the true share, in (0, 1).

    Returns:
        The share with its interval, both within [0, 1]. NaN if a class is missing among the
        labels, if no unit is unlabelled, if the judge does no better than chance on the labels
        (or on these and the two of each class that the interval adds), or if its error rates among
        the unlabelled units must be others: the whole interval would lie outside [0, 1].

    Raises:
        ValueError: If a value is neither 0 nor 1, the shapes do not fit or `confidence` is not in
            (0, 1).

    References:
        Rogan and Gladen (1978), doi:10.1093/oxfordjournals.aje.a112510; interval of Lang and
        Reiczigel (2014), doi:10.1016/j.prevetmed.2013.09.015.

    Examples:
        >>> truth, judge = [1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [1] * 10 + [0] * 40
        >>> found = rogan_gladen(truth, judge, [1] * 60 + [0] * 40, confidence=0.95)
        >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
        (0.571, 0.396, 0.743)
    """
    require_confidence(confidence)
    label, predicted, further = _binary(labels), _binary(predictions), _binary(unlabelled)
    if label.shape != predicted.shape:
        raise ValueError(
            f"one prediction for each label is needed, got {label.shape} and {predicted.shape}"
        )
    is_known = ~np.isnan(label) & ~np.isnan(predicted)
    label, predicted, further = label[is_known], predicted[is_known], further[~np.isnan(further)]
    n_positive, n_negative, n_other = int(label.sum()), int((label == 0).sum()), len(further)
    n_units = len(label)
    undefined = Interval(math.nan, math.nan, math.nan, confidence, None, n_units, n_units)
    if not (n_positive and n_negative and n_other):
        return undefined
    n_found = int(predicted[label == 1].sum())
    n_clear = n_negative - int(predicted[label == 0].sum())
    # in whole numbers, since rounding decides on sums that are 1
    if not (
        _is_informative(n_found, n_positive, n_clear, n_negative)
        and _is_informative(n_found + 1, n_positive + _ADDED, n_clear + 1, n_negative + _ADDED)
    ):
        return undefined
    sensitivity, specificity = n_found / n_positive, n_clear / n_negative
    apparent = float(further.mean())
    share = (apparent + specificity - 1) / (sensitivity + specificity - 1)
    low, high = _lang_reiczigel(
        (apparent, n_other),
        (sensitivity, n_positive),
        (specificity, n_negative),
        z=NormalDist().inv_cdf((1 + confidence) / 2),
    )
    low, high = max(0.0, low), min(1.0, high)
    if low > high:
        return undefined
    share = min(1.0, max(0.0, share))
    return Interval(share, low, high, confidence, "lang_reiczigel", n_units, n_units)


_ADDED = 2
"""Labelled units of each class that the interval adds, half of which the judge gets right."""


def _is_informative(n_found: int, n_positive: int, n_clear: int, n_negative: int) -> bool:
    """Return whether sensitivity + specificity exceeds 1."""
    return n_found * n_negative + n_clear * n_positive > n_positive * n_negative


def _lang_reiczigel(
    apparent: tuple[float, int],
    sensitivity: tuple[float, int],
    specificity: tuple[float, int],
    *,
    z: float,
) -> tuple[float, float]:
    """Return the ends of Lang and Reiczigel's interval, from three shares and their counts."""
    positive, n_positive = _shrunk(*apparent, added=z**2)
    sens, n_sens = _shrunk(*sensitivity, added=_ADDED)
    spec, n_spec = _shrunk(*specificity, added=_ADDED)
    share = (positive + spec - 1) / (sens + spec - 1)
    of_sens, of_spec = sens * (1 - sens) / n_sens, spec * (1 - spec) / n_spec
    shift = 2 * z**2 * (share * of_sens - (1 - share) * of_spec)
    variance = positive * (1 - positive) / n_positive
    variance += share**2 * of_sens + (1 - share) ** 2 * of_spec
    reach = z * math.sqrt(variance) / (sens + spec - 1)
    return share + shift - reach, share + shift + reach


def _shrunk(share: float, n: int, *, added: float) -> tuple[float, float]:
    """Return the share and the count with `added` units, half of them positive."""
    return (n * share + added / 2) / (n + added), n + added


def _binary(values: npt.ArrayLike) -> Floats:
    declared = np.asarray(values, dtype=np.float64)
    if declared.ndim != 1 or not np.isin(declared[~np.isnan(declared)], (0, 1)).all():
        raise ValueError("values must be one-dimensional and each 0, 1 or NaN")
    return declared
