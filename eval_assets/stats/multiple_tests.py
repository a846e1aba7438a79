"""Correction of p-values for the number of tests."""

import numpy as np
import numpy.typing as npt

from eval_assets.stats._numbers import Floats


def holm_p_values(p_values: npt.ArrayLike, *, n_tests: int | None = None) -> Floats:
    """Return p-values adjusted by Holm's procedure, in their order.

    The chance that any true null hypothesis has an adjusted p-value of at most q is at most q,
    however the tests depend on each other.

    Args:
        p_values: In [0, 1], shape (n_p_values,). NaN stays NaN and is not counted as a test.
        n_tests: Number of tests, if it is larger than that of the p-values; the others have 1.

    Returns:
        Adjusted p-values, at most 1, shape (n_p_values,).

    Raises:
        ValueError: If a p-value is outside [0, 1] or there are more of them than tests.

    References:
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6, 65-70.

    Examples:
        >>> holm_p_values([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(values), np.nan)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    if not ((values[order] >= 0) & (values[order] <= 1)).all():
        raise ValueError("p-values must lie in [0, 1]")
    n_tests = len(order) if n_tests is None else n_tests
    if n_tests < len(order):
        raise ValueError(f"n_tests must be at least {len(order)}, got {n_tests}")
    factors = n_tests - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order]))
    return adjusted
