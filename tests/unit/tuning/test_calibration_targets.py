"""A judge's figures beside what is asked of them."""

import pytest

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
    assert found.accuracy == pytest.approx(5 / 8)
    assert found.f1 == pytest.approx(6 / 9)


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
