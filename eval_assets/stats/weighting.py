"""Sums under many sets of weights at a time: what every resampled statistic is made of."""

import numpy as np

from eval_assets.stats.patterns import Floats


def weighted_sums(weights: Floats, features: Floats) -> Floats:
    """Sum of each feature over patterns or units, under each set of weights.

    The product `weights @ features.T` by einsum, which takes as long: for matrices of this size the
    BLAS behind `@` starts threads, and where other processes are busy these wait for each other
    a hundred times longer than the product takes.

    Args:
        weights: How often each pattern or unit counts, shape (n_sets, n_patterns).
        features: Shape (n_patterns,) or (n_features, n_patterns).

    Returns:
        Shape (n_sets,) or (n_sets, n_features).

    Examples:
        >>> weighted_sums(np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([3.0, 4.0])).tolist()
        [7.0, 6.0]
    """
    sums: Floats = np.einsum("ij,...j->i...", weights, features)
    return sums
