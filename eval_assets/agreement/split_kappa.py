"""Cohen's kappa of two judges' scores, split at the middle of the scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MIDDLE = 0.5
"""Scores are split here, on the scale taken to [0, 1]: those above form one class."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Column = Sequence[float | None]


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of scores above the middle of the scale against the rest.

    Args:
        value: 1 for perfect agreement, 0 for chance; NaN if undefined.
        reason: Why it is undefined: `no_pairs`, or `single_class` if both judges put everything
            on the same side; empty if it is defined.
        n_units: Units that both judges scored.
    """

    value: float
    reason: str
    n_units: int


def pair_kappa(one: npt.ArrayLike, other: npt.ArrayLike) -> PairKappa:
    """Return kappa of two judges' scores, split at the middle of the scale.

    The split hides how near the scores are: read it beside their differences. On five units no
    value lies between .615 and 1.

    Args:
        one: Scores on the scale taken to [0, 1], NaN if missing.
        other: The other judge's scores of the same units.

    Examples:
        >>> found = pair_kappa([0.9, 0.5, 0.49], [0.51, 0.1, np.nan])
        >>> found.value, found.n_units
        (1.0, 2)
        >>> pair_kappa([0.9, 0.8], [0.7, 0.8]).reason
        'single_class'
    """
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    [value], [n_units] = kappa_by_group(a, b, np.zeros(len(a), dtype=np.int64), n_groups=1)
    reason = "" if not math.isnan(value) else "single_class" if n_units else "no_pairs"
    return PairKappa(float(value), reason, int(n_units))


def macro_kappa(kappa: Floats, n_units: Integers) -> float:
    """Return the mean of the kappas of groups that have one.

    Args:
        kappa: Kappa of each group, as `kappa_by_group` returns it.
        n_units: Units of each group that both judges scored.

    Returns:
        NaN if no group has a kappa, or none has two units: that of a single unit is 0 if judges
        differ on it and undefined if they do not, so that the mean would be 0 whatever they say.
    """
    defined = kappa[~np.isnan(kappa)]
    has_two = bool((n_units > 1).any())
    return math.fsum(defined) / len(defined) if has_two and len(defined) else math.nan


def query_kappas(one: Sequence[Column], other: Sequence[Column]) -> tuple[float, float]:
    """Return kappa pooled over queries, and its mean over queries.

    Args:
        one: Scores on the scale taken to [0, 1] by query, None if missing.
        other: The other judge's scores of the same units.
    """
    a, b = ([np.asarray(scores, dtype=np.float64) for scores in judge] for judge in (one, other))
    query = np.repeat(np.arange(len(a)), [len(scores) for scores in a])
    pooled = np.concatenate(a), np.concatenate(b)
    by_query, n_units = kappa_by_group(*pooled, query, n_groups=len(a))
    return pair_kappa(*pooled).value, macro_kappa(by_query, n_units)


def kappa_by_group(
    one: Floats, other: Floats, group: Integers, *, n_groups: int
) -> tuple[Floats, Integers]:
    """Return the same kappa in every group of units, and how many units it rests on.

    Args:
        one: Scores on the scale taken to [0, 1], NaN if missing.
        other: The other judge's scores of the same units.
        group: Group of each unit, from 0.
        n_groups: Number of groups.

    Returns:
        NaN for a group without a unit that both scored, or with all scores on one side.
    """
    both = ~(np.isnan(one) | np.isnan(other))
    cell = 2 * (one[both] > MIDDLE) + (other[both] > MIDDLE)
    counts = np.bincount(4 * group[both] + cell, minlength=4 * n_groups).reshape(n_groups, 4)
    n = counts.sum(axis=1)
    n_one, n_other = counts[:, 2] + counts[:, 3], counts[:, 1] + counts[:, 3]
    # in whole numbers: n * n times the observed and the expected share of equal classes
    observed = n * (counts[:, 0] + counts[:, 3])
    expected = n_one * n_other + (n - n_one) * (n - n_other)
    kappa = np.full(n_groups, np.nan)
    np.divide(observed - expected, n * n - expected, out=kappa, where=n * n > expected)
    return kappa, n
