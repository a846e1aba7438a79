"""Quantiles of Student's t distribution, without SciPy."""

import math
from functools import lru_cache

MAX_STEPS = 200


@lru_cache(maxsize=1024)
def t_quantile(share: float, *, df: float) -> float:
    """Return the value below which `share` of Student's t distribution lies.

    Args:
        share: In (0, 1).
        df: Degrees of freedom, above 0.

    Examples:
        >>> round(t_quantile(0.975, df=9), 4)
        2.2622
    """
    if share < 1 / 2:
        return -t_quantile(1 - share, df=df)
    low, high = 0.0, 1.0
    while _share_above(high, df=df) > 1 - share:
        low, high = high, 2 * high
    for _ in range(MAX_STEPS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if _share_above(middle, df=df) > 1 - share else (low, middle)
    return (low + high) / 2


def t_probability(value: float, *, df: float) -> float:
    """Return the share of Student's t distribution that lies below a value.

    Examples:
        >>> round(t_probability(2.2622, df=9), 4)
        0.975
    """
    above = _share_above(abs(value), df=df)
    return above if value < 0 else 1 - above


def _share_above(value: float, *, df: float) -> float:
    """Return the share of Student's t distribution above a value of at least 0."""
    return _beta_share(df / (df + value * value), df / 2, 1 / 2) / 2


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the share of the beta distribution below x: the regularised incomplete beta function.

    Continued fraction by Lentz's method, as in DLMF 8.17.22, https://dlmf.nist.gov/8.17.
    """
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, MAX_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + even * d)
        c = 1 + even / c
        fraction *= d * c
        d = 1 / (1 + odd * d)
        c = 1 + odd / c
        factor = d * c
        fraction *= factor
        if factor == 1:
            break
    return front * fraction / a
