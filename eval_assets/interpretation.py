"""What an agreement figure is called. Bands are read off the unrounded value."""

import math

UNDEFINED = "undefined"
"""What every figure is called that does not exist: no number stands in for it."""

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


def a_hh_label(value: float) -> str:
    """Name of an A^HH, by the bands of the GDPval agreement workshop.

    Args:
        value: A^HH in [0, 1]; NaN where it is undefined.

    Returns:
        `Excellent agreement` from .90, `Good` from .75, `Moderate` from .60, `Fair` from .50,
        `Poor agreement` below; `undefined` for NaN.

    Examples:
        >>> a_hh_label(0.75), a_hh_label(0.7499)
        ('Good agreement', 'Moderate agreement')
    """
    return _from_below(value, _A_HH_BANDS, otherwise="Poor agreement")


def alpha_label(value: float) -> str:
    """Name of a Krippendorff's alpha: what conclusions it allows.

    Args:
        value: Alpha, at most 1; NaN where it is undefined.

    Returns:
        `reliable` from .800, `tentative` from .667, `unreliable` below (Krippendorff 2004,
        Content Analysis, 2nd ed., p. 241); `undefined` for NaN.

    Examples:
        >>> alpha_label(0.667), alpha_label(0.66699)
        ('tentative', 'unreliable')
    """
    return _from_below(value, _ALPHA_BANDS, otherwise="unreliable")


def kappa_label(value: float) -> str:
    """Name of a kappa, by Landis and Koch (1977), doi:10.2307/2529310.

    The printed bands leave gaps (.20 to .21); here each reaches up to and including its upper end.

    Args:
        value: Kappa in [-1, 1]; NaN where it is undefined.

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


def _from_below(value: float, bands: tuple[tuple[float, str], ...], *, otherwise: str) -> str:
    """Name of the highest band that `value` reaches; `bands` descend."""
    if math.isnan(value):
        return UNDEFINED
    return next((name for lower, name in bands if value >= lower), otherwise)
