"""Bands are decided on the unrounded value, at their ends too."""

import math

import pytest

from eval_assets.bands import a_hh_label, alpha_label, kappa_label, pooled_alpha_label
from eval_assets.wording import figure_text

BELOW = 1e-12


@pytest.mark.parametrize(
    ("lower", "name", "name_below"),
    [
        (0.90, "Excellent agreement", "Good agreement"),
        (0.75, "Good agreement", "Moderate agreement"),
        (0.60, "Moderate agreement", "Fair agreement"),
        (0.50, "Fair agreement", "Poor agreement"),
    ],
)
def test_an_a_hh_band_starts_at_its_lower_end(lower: float, name: str, name_below: str) -> None:
    assert a_hh_label(lower) == name
    assert a_hh_label(lower - BELOW) == name_below


@pytest.mark.parametrize(
    ("lower", "name", "name_below"),
    [(0.800, "reliable", "tentative"), (0.667, "tentative", "unreliable")],
)
def test_an_alpha_band_starts_at_its_lower_end(lower: float, name: str, name_below: str) -> None:
    assert alpha_label(lower) == name
    assert alpha_label(lower - BELOW) == name_below


@pytest.mark.parametrize(
    ("alpha", "variance", "name"),
    [
        (0.0, 0.0199, "unstable"),
        (0.666, 0.0199, "unstable"),
        (-0.5, 0.0199, "unstable"),
        (0.666, 0.02, "unreliable"),
        (0.05, 0.02, "unreliable"),
        (0.667, 0.0199, "tentative"),
        (0.9, 0.0199, "reliable"),
        (math.nan, 0.0, "undefined"),
    ],
)
def test_a_low_alpha_on_scores_that_hardly_differ_is_unstable(
    alpha: float, variance: float, name: str
) -> None:
    assert pooled_alpha_label(alpha, variance) == name


def test_alpha_that_only_rounds_to_its_limit_stays_below_it() -> None:
    """Unrounded .6668 reads 0.667 with three decimals."""
    assert f"{0.6668:.3f}" == "0.667"
    assert alpha_label(0.6668) == "unreliable"


@pytest.mark.parametrize(
    ("upper", "name", "name_above"),
    [
        (0.20, "slight", "fair"),
        (0.40, "fair", "moderate"),
        (0.60, "moderate", "substantial"),
        (0.80, "substantial", "almost perfect"),
    ],
)
def test_a_kappa_band_includes_its_upper_end(upper: float, name: str, name_above: str) -> None:
    """Landis and Koch leave .20 to .21 and its like unnamed."""
    assert kappa_label(upper) == name
    assert kappa_label(upper + BELOW) == name_above


def test_the_ends_of_every_range_are_named() -> None:
    assert (a_hh_label(0.0), a_hh_label(1.0)) == ("Poor agreement", "Excellent agreement")
    assert (alpha_label(-1.0), alpha_label(1.0)) == ("unreliable", "reliable")
    assert (kappa_label(-BELOW), kappa_label(0.0), kappa_label(1.0)) == (
        "poor",
        "slight",
        "almost perfect",
    )


def test_what_does_not_exist_is_undefined_and_in_no_band() -> None:
    assert {label(math.nan) for label in (a_hh_label, alpha_label, kappa_label)} == {"undefined"}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.8751, "0.88"),  # no limit near
        (0.7509, "0.75"),  # above the limit, as it reads
        (0.75, "0.75"),  # on the limit
        (0.7451, "0.745"),  # two decimals would read as the limit
        (0.74996, "0.74996"),  # four decimals would read as the limit
        (0.75 - 2e-9, "0.749999998"),  # the smallest gap that a gate tells apart
        (0.75 - 1e-10, "0.75"),  # float noise, which a gate lets pass
        (-0.0001, "0.00"),
        (-0.0564, "-0.06"),
        (math.nan, "--"),
    ],
)
def test_a_figure_never_reads_as_a_limit_that_it_is_not_on(value: float, written: str) -> None:
    assert figure_text(value, limits=[0.75, 0.9]) == written
