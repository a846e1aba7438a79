"""Agreement within clusters of units, such as the questions of one response."""

from typing import Any

import numpy as np
import numpy.typing as npt

from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    number_arrays,
    without_noise,
)
from eval_assets.stats._units import defined_ratio, sums_by_code


def alpha_by_cluster(
    cluster: npt.ArrayLike, unit: npt.ArrayLike, value: Column
) -> tuple[npt.NDArray[Any], Floats]:
    """Return Krippendorff's alpha at the interval level within each cluster.

    With one unit alpha is 0 or undefined whatever its ratings, so it takes two units with two
    ratings each. A cluster's alpha rests on few ratings: gate on the pooled one.

    Args:
        cluster: Cluster of each rating, for instance the response: numbers or text, shape
            (n_ratings,).
        unit: What was rated, for instance the question; the same in all clusters or not.
        value: The rating, on a scale that the units of a cluster share; NaN is a missing rating.

    Returns:
        The clusters, ascending, and the alpha of each: 1 for perfect agreement, 0 for chance; NaN
        if fewer than two units have two ratings or these ratings are all equal.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples:
        >>> response, question = ["r7", "r7", "r7", "r7", "r9", "r9"], [0, 0, 1, 1, 0, 0]
        >>> clusters, alphas = alpha_by_cluster(response, question, [0, 0.25, 1, 1, 0.75, 0.8])
        >>> clusters.tolist(), alphas.round(3).tolist()
        (['r7', 'r9'], [0.941, nan])
    """
    clusters, of_rating = np.unique(np.asarray(cluster), return_inverse=True)
    names, name = np.unique(np.asarray(unit), return_inverse=True)
    [values] = number_arrays(value, name="value")
    if not of_rating.shape == name.shape == values.shape or values.ndim != 1:
        raise ValueError(
            f"cluster, unit and value must have one entry per rating, "
            f"got {of_rating.shape}, {name.shape} and {values.shape}"
        )
    rated = ~np.isnan(values)
    pairs = of_rating[rated] * max(1, len(names)) + name[rated]
    rated_units, units = np.unique(pairs, return_inverse=True)
    alphas = _alphas(
        without_noise(values[rated]),
        units,
        rated_units // max(1, len(names)),
        n_clusters=len(clusters),
    )
    return clusters, alphas


def _alphas(values: Floats, unit: Integers, of_unit: Integers, *, n_clusters: int) -> Floats:
    """Return alpha from each cluster's number of ratings, their sum and sum of squares."""
    is_pairable = np.bincount(unit, minlength=len(of_unit)) > 1
    kept = is_pairable[unit]
    values, unit = values[kept], unit[kept]
    n_units = len(of_unit)
    n_ratings, sums, squares = _sums(values, unit, n_codes=n_units)
    apart = (n_ratings * squares - sums**2) / np.maximum(n_ratings - 1, 1)
    total, sums, squares = _sums(values, of_unit[unit], n_codes=n_clusters)
    expected = total * squares - sums**2
    has_two = np.bincount(of_unit[is_pairable], minlength=n_clusters) > 1
    observed = sums_by_code(of_unit, apart, n_codes=n_clusters)
    alphas: Floats = 1 - (total - 1) * defined_ratio(observed, np.where(has_two, expected, 0.0))
    return alphas


def _sums(values: Floats, codes: Integers, *, n_codes: int) -> tuple[Floats, Floats, Floats]:
    """Return number, sum and sum of squares of the values with each code, from the lowest.

    From there equal values are 0 exactly, and so is the variation among them.
    """
    lowest = np.full(n_codes, np.inf)
    np.minimum.at(lowest, codes, values)
    offset = values - lowest[codes]
    return (
        sums_by_code(codes, np.ones(len(codes)), n_codes=n_codes),
        sums_by_code(codes, offset, n_codes=n_codes),
        sums_by_code(codes, offset**2, n_codes=n_codes),
    )
