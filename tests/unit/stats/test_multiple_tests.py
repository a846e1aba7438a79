"""Holm's procedure, compared with statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from eval_assets.stats import holm_p_values


@pytest.mark.parametrize("n", [1, 40])
def test_adjusted_p_values_equal_statsmodels(n: int) -> None:
    p_values = np.random.default_rng(n).random(n) ** 3

    adjusted = holm_p_values(p_values)

    assert adjusted == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-15)


def test_untested_hypotheses_count_as_accepted() -> None:
    adjusted = holm_p_values([0.01, 0.002], n_tests=10)

    assert adjusted == pytest.approx(holm_p_values([0.01, 0.002] + [1.0] * 8)[:2], abs=1e-15)


def test_undefined_p_value_is_not_a_test() -> None:
    adjusted = holm_p_values([0.02, np.nan, 0.03])

    assert adjusted == pytest.approx([0.04, np.nan, 0.04], abs=1e-15, nan_ok=True)


def test_no_p_values_give_none() -> None:
    assert holm_p_values([]).shape == (0,)


@pytest.mark.parametrize(("p_values", "n_tests"), [([1.1], None), ([-0.1], None), ([0.1, 0.2], 1)])
def test_impossible_arguments_are_refused(p_values: list[float], n_tests: int | None) -> None:
    with pytest.raises(ValueError, match=r"must"):
        holm_p_values(p_values, n_tests=n_tests)
