"""Share of positive responses, corrected for the errors of a judge."""

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from eval_assets.stats._numbers import Floats
from eval_assets.stats.intervals import Interval


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
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence:g}")
    label, predicted, other = _binary(labels), _binary(predictions), _binary(unlabelled)
    if label.shape != predicted.shape:
        raise ValueError(
            f"one prediction for each label is needed, got {label.shape} and {predicted.shape}"
        )
    known = ~np.isnan(label) & ~np.isnan(predicted)
    label, predicted, other = label[known], predicted[known], other[~np.isnan(other)]
    n_positive, n_negative, n_other = int(label.sum()), int((label == 0).sum()), len(other)
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
    apparent = float(other.mean())
    share = (apparent + specificity - 1) / (sensitivity + specificity - 1)
    low, high = _lang_reiczigel(
        (apparent, n_other),
        (sensitivity, n_positive),
        (specificity, n_negative),
        z=NormalDist().inv_cdf((1 + confidence) / 2),
    )
    if high < 0 or low > 1:
        return undefined
    share, low, high = (min(1.0, max(0.0, value)) for value in (share, low, high))
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
