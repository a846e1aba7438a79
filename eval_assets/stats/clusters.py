"""Agreement within clusters of units, such as the questions of one response."""

import numpy as np
import numpy.typing as npt

from eval_assets.stats.coefficients import defined_ratio
from eval_assets.stats.distances import sums_within
from eval_assets.stats.patterns import Floats, Integers, RatingPatterns


def alpha_by_cluster(
    cluster: npt.ArrayLike, unit: npt.ArrayLike, value: npt.ArrayLike
) -> tuple[Integers, Floats]:
    """Krippendorff's alpha at the interval level within each cluster.

    With one unit alpha is 0 or undefined whatever its ratings, so it takes two units with two
    ratings each. A cluster's alpha rests on few ratings: gate on the pooled one.

    Args:
        cluster: Any integer that tells clusters apart, shape (n_ratings,), for instance the
            response.
        unit: Any integer that tells units apart, the same in all clusters or not: the question.
        value: The rating, shape (n_ratings,), on a scale that the units of a cluster share; NaN is
            no rating.

    Returns:
        The clusters, ascending, and the alpha of each: 1 for perfect agreement, 0 for
        chance; NaN where fewer than two units have two ratings or these ratings are all equal.

    Raises:
        ValueError: If the shapes differ, a cluster or unit is no integer, or a value is infinite.

    Examples:
        >>> response, question = [7, 7, 7, 7, 9, 9], [0, 0, 1, 1, 0, 0]
        >>> clusters, alphas = alpha_by_cluster(response, question, [0, 0.25, 1, 1, 0.75, 0.8])
        >>> clusters.tolist(), alphas.round(3).tolist()
        ([7, 9], [0.941, nan])
    """
    clusters, cluster_codes = _codes(cluster, name="cluster")
    units, unit_codes = _codes(unit, name="unit")
    if cluster_codes.shape != unit_codes.shape:
        raise ValueError(
            f"cluster and unit must have one entry per rating, "
            f"got {cluster_codes.shape} and {unit_codes.shape}"
        )
    rated, patterns = RatingPatterns.by_unit(cluster_codes * len(units) + unit_codes, value)
    of_unit = rated // max(1, len(units))
    alphas = _alphas(patterns, of_unit, n_clusters=len(clusters))
    return clusters, alphas


def _alphas(patterns: RatingPatterns, of_unit: Integers, *, n_clusters: int) -> Floats:
    """Alpha from each cluster's number of ratings, their sum and their sum of squares."""

    def summed(of: Integers, terms: Floats) -> Floats:
        return np.bincount(of, terms, n_clusters).astype(np.float64)

    pairable = patterns.is_pairable.astype(np.float64)
    apart = sums_within(patterns, patterns.values, "squared") / np.maximum(
        patterns.n_ratings - 1, 1
    )
    of_entry, count = of_unit[patterns.pattern], patterns.count * pairable[patterns.pattern]
    used = count > 0
    of_entry, count, values = of_entry[used], count[used], patterns.values[patterns.code[used]]
    # measured from the cluster's lowest rating, so that equal ratings give 0 exactly
    lowest = np.full(n_clusters, np.inf)
    np.minimum.at(lowest, of_entry, values)
    offset = values - lowest[of_entry]
    n_ratings = summed(of_entry, count)
    squares = n_ratings * summed(of_entry, count * offset**2)
    expected = squares - summed(of_entry, count * offset) ** 2
    expected[summed(of_unit, pairable) < 2] = 0.0  # noqa: PLR2004 - one unit has no other
    alphas: Floats = 1 - (n_ratings - 1) * defined_ratio(
        summed(of_unit, apart * pairable), expected
    )
    return alphas


def _codes(given: npt.ArrayLike, *, name: str) -> tuple[Integers, Integers]:
    """Distinct integers, ascending, and the index of each given one among them."""
    integers = np.asarray(given)
    if integers.size and not np.issubdtype(integers.dtype, np.integer):
        raise ValueError(f"{name} must hold integers, got {integers.dtype}")
    return np.unique(integers.astype(np.int64), return_inverse=True)
