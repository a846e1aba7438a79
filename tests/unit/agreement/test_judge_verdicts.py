"""The verdict on a judge: what its figures against people amount to."""

import numpy as np
import pytest

from eval_assets.agreement.judge_verdicts import JudgeVerdict, judge_verdict
from eval_assets.scale import LIKERT5
from eval_assets.stats import judge_human_profile

TRUTH = np.tile([1, 2, 3, 4, 5], 40)
PEOPLE = np.column_stack([TRUTH, np.where(np.arange(200) % 4, TRUTH, np.clip(TRUTH + 1, 1, 5))])
RNG = np.random.default_rng(7)
JUDGES: dict[str, tuple[np.ndarray, JudgeVerdict]] = {
    "as good as people": (TRUTH, "as people do"),
    "one step off": (np.clip(TRUTH + 1, 1, 5), "less than people do"),
    "always the middle": (np.full(200, 3), "like a constant"),
    "always the best constant but one": (np.full(200, 2), "like a constant"),
    "the base rate": (RNG.permutation(TRUTH), "like shuffled scores"),
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_is_named_for_what_it_does(name: str) -> None:
    scores, verdict = JUDGES[name]
    profile = judge_human_profile(PEOPLE, scores, scale=LIKERT5, level="ordinal", confidence=0.95)
    figures = {
        "a_ha": profile.a_ha.value,
        "a_ha_shuffled": profile.a_ha_shuffled,
        "a_ha_above_shuffled_low": profile.a_ha_above_shuffled.low,
        "a_ha_above_constant_low": profile.a_ha_above_constant.low,
        "a_ha_above_people_low": profile.a_ha_above_people.low,
        "a_ha_above_people_high": profile.a_ha_above_people.high,
    }

    assert judge_verdict(figures) == verdict


def test_a_judge_without_a_score_beside_a_rating_is_not_compared() -> None:
    assert judge_verdict({"a_ha": np.nan}) == "not compared"


def test_float_noise_above_a_control_does_not_make_a_judge_better_than_it() -> None:
    better = {
        "a_ha": 0.9,
        "a_ha_shuffled": 0.6,
        "a_ha_above_shuffled_low": 0.2,
        "a_ha_above_constant_low": 0.1,
        "a_ha_above_people_low": 0.0,
    }

    assert judge_verdict(better) == "as people do"
    assert judge_verdict(better | {"a_ha_above_shuffled_low": 5e-10}) == "like shuffled scores"
    assert judge_verdict(better | {"a_ha_above_constant_low": 5e-10}) == "like a constant"
