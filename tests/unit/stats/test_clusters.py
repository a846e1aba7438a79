"""Agreement within clusters of units."""

import numpy as np
import pytest

from eval_assets.stats import alpha_by_cluster, krippendorff_alpha


def test_value_derived_by_hand() -> None:
    # units [0, .5] and [1, 1]: D_o = 2 x .25 / 4 = .125;
    # D_e of 0, .5, 1, 1 = 2 (.25 + 1 + 1 + .25 + .25 + 0) / (4 x 3) = 5.5 / 12
    _, alphas = alpha_by_cluster([3, 3, 3, 3], [0, 0, 1, 1], [0, 0.5, 1, 1])

    assert alphas == pytest.approx([1 - 0.125 / (5.5 / 12)])


def test_each_cluster_has_the_alpha_of_its_own_matrix() -> None:
    rng = np.random.default_rng(3)
    ratings = rng.integers(0, 5, size=(60, 4, 3)) / 4
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    response, question, _ = np.indices(ratings.shape)
    order = rng.permutation(ratings.size)

    clusters, alphas = alpha_by_cluster(
        10 - response.ravel()[order], question.ravel()[order], ratings.ravel()[order]
    )

    expected = [krippendorff_alpha(ratings[10 - cluster], level="interval") for cluster in clusters]
    two_units = [
        ((~np.isnan(ratings[10 - cluster])).sum(axis=1) > 1).sum() > 1 for cluster in clusters
    ]
    assert clusters.tolist() == sorted(range(-49, 11))
    assert not all(two_units)
    assert alphas == pytest.approx(np.where(two_units, expected, np.nan), nan_ok=True)


def test_units_numbered_within_clusters_or_overall_give_the_same() -> None:
    response, question = [0, 0, 0, 0, 1, 1, 1, 1], np.array([0, 0, 1, 1, 0, 0, 1, 1])
    value = [0, 0.25, 1, 1, 0.5, 0.5, 1, 0.75]

    within = alpha_by_cluster(response, question, value)
    overall = alpha_by_cluster(response, question + 100 * np.array(response), value)

    assert within[1].tolist() == overall[1].tolist()


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        ([0, 0], [0.75, 0.8]),  # its alpha would be 0 however near the two are
        ([0, 0, 1], [0.75, 0.8, 1]),
        ([0, 0, 1, 1], [0.1 + 0.2] * 4),
        ([0, 0, 1, 1], [0.5, 0.5, 0.5, np.nan]),
        ([0], [np.nan]),
    ],
)
def test_alpha_of_one_unit_or_without_variation_is_undefined(
    unit: list[int], value: list[float]
) -> None:
    clusters, alphas = alpha_by_cluster([5] * len(unit), unit, value)

    assert clusters.tolist() == [5]
    assert np.isnan(alphas).all()


def test_constant_ratings_far_from_0_are_no_float_noise() -> None:
    _, alphas = alpha_by_cluster(
        [0] * 6 + [1] * 4, [0, 0, 0, 1, 1, 1, 0, 0, 1, 1], [0.7] * 6 + [1, 0, 1, 0]
    )

    assert np.isnan(alphas[0])
    assert alphas[1] == pytest.approx(1 - 3 * 2 / 4)


def test_no_ratings_have_no_clusters() -> None:
    clusters, alphas = alpha_by_cluster([], [], [])

    assert clusters.size == alphas.size == 0


def test_clusters_and_units_may_be_named() -> None:
    clusters, alphas = alpha_by_cluster(
        ["b", "b", "b", "b", "a"], ["x", "x", "y", "y", "x"], [0, 0.5, 1, 1, None]
    )
    numbered = alpha_by_cluster([1, 1, 1, 1, 0], [0, 0, 1, 1, 0], [0, 0.5, 1, 1, np.nan])

    assert clusters.tolist() == ["a", "b"]
    assert alphas == pytest.approx(numbered[1], nan_ok=True)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry per rating"):
        alpha_by_cluster([0], [0, 1], [1, 1])
