"""Bands of agreement figures and their names, by the unrounded value."""

import math
from typing import Protocol

from eval_assets.scale import TOLERANCE

UNDEFINED = "undefined"
"""Name of an undefined figure."""

_A_HH_BANDS = (
    (0.90, "Excellent agreement"),
    (0.75, "Good agreement"),
    (0.60, "Moderate agreement"),
    (0.50, "Fair agreement"),
)
_ALPHA_BANDS = ((0.800, "reliable"), (0.667, "tentative"))
_KAPPA_BANDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
)

A_HH_LIMITS = tuple(limit for limit, _ in _A_HH_BANDS)
ALPHA_LIMITS = tuple(limit for limit, _ in _ALPHA_BANDS)
KAPPA_LIMITS = (0.0, *(limit for limit, _ in _KAPPA_BANDS))
"""Limits between bands, which a written figure must not blur."""

LOWEST_COVERAGE = 0.9
"""Lowest share of a judge's units with a score: scores are seldom missing by chance."""

SKEWED_SHARE, MOSTLY_EQUAL = 0.6, 100 * 5 / 6
"""Share of one value, and percentage of equal pairs, from which on a low alpha comes from skew: two
values that are given equally often would then have an alpha of .667."""

REPEATED = "repeated"
"""Two judges give equal scores throughout: one may be a copy, of which alpha says nothing."""
UNRELIABLE = "unreliable"
UNSTABLE = "unstable"
_UNSTABLE_VARIANCE = 0.02
"""Variance below which a low alpha says little about the raters: their scores hardly differ."""


def a_hh_label(value: float) -> str:
    """Return the name of an A^HH, by the bands of the GDPval agreement workshop.

    Args:
        value: A^HH in [0, 1]; NaN if undefined.

    Returns:
        `Excellent agreement` from .90, `Good` from .75, `Moderate` from .60, `Fair` from .50,
        `Poor agreement` below; `undefined` for NaN.

    Examples:
        >>> a_hh_label(0.75), a_hh_label(0.7499)
        ('Good agreement', 'Moderate agreement')
    """
    return _from_below(value, _A_HH_BANDS, default="Poor agreement")


def chance_remark(value: float, *, low: float, by_chance: float) -> str:
    """Return an addition to the name of an A^HH that chance may explain; else nothing.

    The bands do not take chance into account: .688 is "moderate" even if habits alone give .689.

    Args:
        value: A^HH in [0, 1]; NaN if undefined.
        low: Lower end of its interval.
        by_chance: A^HH of raters who share nothing but how often they give each value.

    Examples:
        >>> chance_remark(0.688, low=0.62, by_chance=0.689)
        ', no better than chance'
        >>> chance_remark(0.938, low=0.53, by_chance=0.758)
        ', not certainly better than chance'
        >>> chance_remark(0.938, low=0.81, by_chance=0.758)
        ''
    """
    if value <= by_chance + TOLERANCE:
        return ", no better than chance"
    return ", not certainly better than chance" if low <= by_chance else ""


def alpha_label(value: float) -> str:
    """Return the name of a Krippendorff's alpha: the conclusions that it allows.

    Args:
        value: Alpha, at most 1; NaN if undefined.

    Returns:
        `reliable` from .800, `tentative` from .667, `unreliable` below (Krippendorff 2004,
        Content Analysis, 2nd ed., p. 241); `undefined` for NaN.

    Examples:
        >>> alpha_label(0.667), alpha_label(0.66699)
        ('tentative', 'unreliable')
    """
    return _from_below(value, _ALPHA_BANDS, default=UNRELIABLE)


def pooled_alpha_label(value: float, variance: float) -> str:
    """Return the name of an alpha, unless it is low only because the scores hardly vary.

    Args:
        value: Alpha, at most 1; NaN if undefined.
        variance: Population variance of all scores behind it, on the scale taken to [0, 1].

    Returns:
        `unstable` for an alpha that `alpha_label` calls unreliable, on scores with a variance
        below .02; else as `alpha_label`.

    Examples:
        >>> pooled_alpha_label(-0.2, 0.01), pooled_alpha_label(-0.2, 0.05)
        ('unstable', 'unreliable')
    """
    label = alpha_label(value)
    return UNSTABLE if label == UNRELIABLE and variance < _UNSTABLE_VARIANCE else label


def kappa_label(value: float) -> str:
    """Return the name of a kappa, by Landis and Koch (1977), doi:10.2307/2529310.

    The printed bands leave gaps (.20 to .21); here each reaches up to and including its upper end.

    Args:
        value: Kappa in [-1, 1]; NaN if undefined.

    Returns:
        `poor` below 0, then `slight` to .20, `fair` to .40, `moderate` to .60, `substantial` to
        .80, `almost perfect` above; `undefined` for NaN.

    Examples:
        >>> kappa_label(0.2), kappa_label(0.205), kappa_label(-0.01)
        ('slight', 'fair', 'poor')
    """
    if math.isnan(value):
        return UNDEFINED
    if value < 0:
        return "poor"
    return next((name for upper, name in _KAPPA_BANDS if value <= upper), "almost perfect")


def _from_below(value: float, bands: tuple[tuple[float, str], ...], *, default: str) -> str:
    """Return the name of the highest band that `value` reaches; `bands` descend."""
    for lower, name in bands:
        if value >= lower:
            return name
    return UNDEFINED if math.isnan(value) else default


FEWEST_GROUPS = 10
"""With fewer groups an interval on both sides of a minimum is not evaluable."""


class HasInterval(Protocol):
    """A value with the ends of its interval."""

    @property
    def value(self) -> float:
        """Return the figure."""

    @property
    def low(self) -> float:
        """Return the lower end."""

    @property
    def high(self) -> float:
        """Return the upper end."""
