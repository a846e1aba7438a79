"""A judge's figures beside what is asked of them."""

import math

import pytest
import scipy.stats

from eval_assets.config.tuning import Targets
from eval_assets.scale import BINARY, LIKERT5
from eval_assets.stats import judge_human_profile
from eval_assets.tuning.calibration_targets import compared_with, decisions


def test_decisions_are_counted_by_hand() -> None:
    people = [[1], [1], [1], [0], [0], [0], [0], [1]]
    judge = [1, 1, 0, 1, 1, 0, 0, 1]  # 3 right passes, 2 false ones, 1 missed
    profile = judge_human_profile(people, judge, scale=BINARY, level="nominal", confidence=0.95)
    found = decisions(profile, BINARY)

    assert (found.false_positives, found.false_negatives) == (2, 1)
    assert found.accuracy.value == pytest.approx(5 / 8)
    assert (found.accuracy.low, found.accuracy.high) == pytest.approx(wilson(5, 8))
    assert found.f1.value == pytest.approx(6 / 9)
    low, high = wilson(3, 6)
    ends = 2 * low / (1 + low), 2 * high / (1 + high)
    assert (found.f1.low, found.f1.high) == pytest.approx(ends)


def wilson(n: int, total: int) -> tuple[float, float]:
    """Return Wilson's interval of a share with Student's t and the units of the jackknife."""
    t = float(scipy.stats.t.ppf(0.975, total - 1))
    share, n_effective = n / total, total - 1
    centre = (share + t * t / (2 * n_effective)) / (1 + t * t / n_effective)
    variance = share * (1 - share) / n_effective + t * t / (4 * n_effective**2)
    reach = t * math.sqrt(variance) / (1 + t * t / n_effective)
    return centre - reach, centre + reach


def test_the_middle_of_the_scale_is_not_a_pass() -> None:
    profile = judge_human_profile(
        [[3], [4], [2]], [4, 4, 2], scale=LIKERT5, level="ordinal", confidence=0.95
    )

    assert decisions(profile, LIKERT5).false_positives == 1


def test_an_error_has_to_be_small_and_agreement_large() -> None:
    people = [[1], [2], [3], [4], [5], [5], [1], [2]]
    judge = [1, 2, 3, 4, 5, 4, 1, 2]
    profile = judge_human_profile(people, judge, scale=LIKERT5, level="ordinal", confidence=0.95)
    found = compared_with(Targets(mae=0.1), profile, decisions(profile, LIKERT5), is_ordered=True)

    assert {target.name: target.is_met for target in found} == {
        "rho": True,
        "kappa": True,
        "accuracy": True,
        "F1": True,
        "MAE": False,
    }
    assert found[-1].value == pytest.approx(1 / 8)


def test_an_undefined_figure_misses_its_target() -> None:
    profile = judge_human_profile(
        [[1], [1]], [1, 1], scale=BINARY, level="nominal", confidence=0.95
    )
    found = compared_with(Targets(), profile, decisions(profile, BINARY), is_ordered=False)

    assert not {target.name: target for target in found}["kappa"].is_met


def test_f1_without_any_pass_is_undefined() -> None:
    profile = judge_human_profile(
        [[0], [0]], [0, 0], scale=BINARY, level="nominal", confidence=0.95
    )
    assert math.isnan(decisions(profile, BINARY).f1.value)
