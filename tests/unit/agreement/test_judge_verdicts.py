"""The verdict on a judge: what its figures against people amount to."""

import numpy as np
import pytest

from eval_assets.agreement.judge_verdicts import judge_verdict
from eval_assets.catalogue import UNDEFINED_FIGURE, Figure
from eval_assets.scale import LIKERT5
from eval_assets.stats import judge_human_profile
from eval_assets.verdicts import JudgeVerdict

TRUTH = np.tile([1, 2, 3, 4, 5], 40)
PEOPLE = np.column_stack([TRUTH, np.where(np.arange(200) % 4, TRUTH, np.clip(TRUTH + 1, 1, 5))])
RNG = np.random.default_rng(7)
JUDGES: dict[str, tuple[np.ndarray, JudgeVerdict]] = {
    "as good as people": (TRUTH, JudgeVerdict.MATCHES_HUMANS),
    "one step off": (np.clip(TRUTH + 1, 1, 5), JudgeVerdict.BELOW_HUMANS),
    "always the middle": (np.full(200, 3), JudgeVerdict.LIKE_CONSTANT),
    "always the best constant but one": (np.full(200, 2), JudgeVerdict.LIKE_CONSTANT),
    "the base rate": (RNG.permutation(TRUTH), JudgeVerdict.LIKE_SHUFFLED),
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_is_named_for_what_it_does(name: str) -> None:
    scores, verdict = JUDGES[name]
    profile = judge_human_profile(PEOPLE, scores, scale=LIKERT5, level="ordinal", confidence=0.95)
    verdict_of_scores = judge_verdict(
        Figure.of(profile.a_ha),
        shuffled=profile.a_ha_shuffled,
        above_shuffled=Figure.of(profile.a_ha_above_shuffled),
        above_constant=Figure.of(profile.a_ha_above_constant),
        above_people=Figure.of(profile.a_ha_above_people),
    )

    assert verdict_of_scores is verdict


def verdict_with(*, shuffled_low: float = 0.2, constant_low: float = 0.1) -> JudgeVerdict:
    """Return the verdict on a judge whose other figures are good."""
    return judge_verdict(
        Figure(0.9, 0.85, 0.95),
        shuffled=0.6,
        above_shuffled=Figure(0.3, shuffled_low, 0.4),
        above_constant=Figure(0.2, constant_low, 0.3),
        above_people=Figure(0.02, 0.0, 0.04),
    )


def test_a_judge_without_a_score_beside_a_rating_is_not_compared() -> None:
    undefined = {
        "above_shuffled": UNDEFINED_FIGURE,
        "above_constant": UNDEFINED_FIGURE,
        "above_people": UNDEFINED_FIGURE,
    }

    assert (
        judge_verdict(UNDEFINED_FIGURE, shuffled=np.nan, **undefined) is JudgeVerdict.NOT_COMPARED
    )


def test_float_noise_above_a_control_does_not_make_a_judge_better_than_it() -> None:
    assert verdict_with() is JudgeVerdict.MATCHES_HUMANS
    assert verdict_with(shuffled_low=5e-10) is JudgeVerdict.LIKE_SHUFFLED
    assert verdict_with(constant_low=5e-10) is JudgeVerdict.LIKE_CONSTANT


def test_scores_worse_than_shuffled_contradict_humans() -> None:
    reversed_judge = judge_verdict(
        Figure(0.3, 0.2, 0.4),
        shuffled=0.6,
        above_shuffled=Figure(-0.3, -0.4, -0.2),
        above_constant=Figure(-0.4, -0.5, -0.3),
        above_people=Figure(-0.6, -0.7, -0.5),
    )

    assert reversed_judge is JudgeVerdict.AGAINST_HUMANS
