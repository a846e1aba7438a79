import math

import numpy as np
import pytest

from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import (
    AgreementProfile,
    Level,
    RatingPatterns,
    Ratings,
    agreement_profile,
    fleiss_kappa,
    gwet_ac,
    human_agreement,
    krippendorff_alpha,
    pairwise_agreement,
)

NAN = math.nan
RATINGS = np.array(
    [[1, 2, NAN], [4, 4, 5], [3, 3, 3], [2, NAN, NAN], [5, 4, 4], [1, 1, 3], [2, 2, NAN], [5, 5, 5]]
)


def profile_of(
    ratings: Ratings | RatingPatterns, *, level: Level = "ordinal", scale: Scale = LIKERT5
) -> AgreementProfile:
    return agreement_profile(ratings, scale=scale, level=level, confidence=0.95)


def test_a_profile_holds_the_coefficients_that_the_functions_give() -> None:
    profile = profile_of(RATINGS)
    every_step = [1, 2, 3, 4, 5]
    assert profile.a_hh.value == human_agreement(RATINGS, low=1, high=5)
    assert profile.exact_agreement.value == pairwise_agreement(RATINGS, within=0)
    assert profile.adjacent_agreement.value == pairwise_agreement(RATINGS, within=1)
    assert profile.alpha.value == krippendorff_alpha(RATINGS, level="ordinal")
    assert profile.fleiss_kappa.value == fleiss_kappa(RATINGS)
    assert profile.gwet_ac1.value == gwet_ac(RATINGS, weights=None, categories=every_step)
    assert profile.gwet_ac2.value == gwet_ac(RATINGS, weights="quadratic", categories=every_step)


def test_declared_values_that_nobody_gives_are_categories_too() -> None:
    ratings = np.clip(RATINGS, 1, 3)
    profile = profile_of(ratings)

    assert profile.gwet_ac1.value == gwet_ac(ratings, weights=None, categories=[1, 2, 3, 4, 5])
    assert profile.gwet_ac1.value != gwet_ac(ratings, weights=None, categories=[1, 2, 3])


@pytest.mark.parametrize(("level", "is_defined"), [("nominal", False), ("interval", True)])
def test_weighted_agreement_is_that_of_values_with_an_order(level: Level, is_defined: bool) -> None:  # noqa: FBT001
    assert math.isnan(profile_of(RATINGS, level=level).gwet_ac2.value) is not is_defined


def test_ratings_are_the_declared_values_they_were_written_for() -> None:
    thirds = Scale(0, 1, (0, 1 / 3, 2 / 3, 1))
    written = np.array([[0.3333333333, 1 / 3], [0.6666666667, 2 / 3], [0, 0.3333333333]])
    exact = np.rint(3 * written) / 3

    assert profile_of(written, scale=thirds) == profile_of(exact, scale=thirds)
    patterns = RatingPatterns.from_matrix(exact)
    assert profile_of(patterns, scale=thirds) == profile_of(exact, scale=thirds)


def test_a_profile_counts_its_evidence_without_units_rated_once() -> None:
    # seven units: two with two ratings, five with three
    profile = profile_of(RATINGS)
    assert (profile.n_units, profile.n_ratings, profile.n_pairs) == (7, 19, 17)
    assert profile.alpha.n_units == 7


def test_every_interval_holds_its_value() -> None:
    rng = np.random.default_rng(5)
    ratings = np.clip(rng.integers(1, 6, (80, 1)) + rng.integers(-1, 2, (80, 3)), 1, 5)
    profile = profile_of(ratings)
    for interval in (
        profile.a_hh, profile.exact_agreement, profile.adjacent_agreement, profile.alpha,
        profile.fleiss_kappa, profile.gwet_ac1, profile.gwet_ac2,
    ):  # fmt: skip
        assert interval.low < interval.value < interval.high
        assert interval.method in {"wilson", "score"}


def test_what_does_not_apply_is_undefined() -> None:
    nominal = profile_of(RATINGS, level="nominal")
    assert math.isnan(nominal.gwet_ac2.value)
    assert math.isnan(nominal.gwet_ac2.low)
    assert not math.isnan(nominal.gwet_ac1.value)
    continuous = profile_of(RATINGS / 1.5 + 0.5, level="interval", scale=Scale(1, 5))
    assert math.isnan(continuous.adjacent_agreement.value)
    assert not math.isnan(continuous.alpha.value)


def test_scores_between_the_steps_are_categories_of_their_own() -> None:
    """A judge's mean of several replies."""
    scores = np.array([[1, 1.5], [2, 2], [4, 4.5], [3, 3]])
    observed = gwet_ac(scores, weights=None)
    assert profile_of(scores).gwet_ac1.value == observed


def test_a_profile_of_nothing_is_undefined() -> None:
    profile = profile_of(np.empty((0, 2)))
    assert math.isnan(profile.a_hh.value)
    assert math.isnan(profile.a_hh_by_chance)
    assert math.isnan(profile.alpha.high)
    assert (profile.n_units, profile.n_ratings, profile.n_pairs) == (0, 0, 0)


def test_ratings_off_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must lie in \[1, 5\]"):
        profile_of([[0, 1]])


def test_a_profile_turns_into_text() -> None:
    profile = profile_of(RATINGS, level="nominal")
    text = str(profile)
    assert text.splitlines()[0].split() == ["value", "low", "high"]
    assert text.splitlines()[-1].split() == ["gwet_ac2", "-", "-", "-"]
    assert f"{profile.a_hh.value:.3f}" in text
