import math
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.config.tuning import Tuning
from eval_assets.tuning._improvement import judge_improvement
from eval_assets.tuning.history import Seal
from eval_assets.tuning.plan import most_requests, plan_reading
from eval_assets.tuning.versions import JudgeVersion
from tests.unit.tuning.made_up import judged, offered, simulated

VERSION = JudgeVersion("gpt", "1.0.1", "calibration", "1.0.0", "f")
NO_SEAL = Seal(1, (), frozenset())


def test_what_is_expected_of_a_test_is_near_what_it_then_shows() -> None:
    units, quality = simulated(200, seed=1, split=None)
    candidate = offered(VERSION, judged(quality, seed=2), judged(quality, seed=3, noise=1.6))
    [plan] = plan_reading(units, [candidate], NO_SEAL, margin=0.1)
    is_test = units.splits == "test"
    found = judge_improvement(
        units.part("test"),
        candidate.scores[is_test],
        candidate.baseline[is_test],
        significance=0.025,
        n_train_groups=40,
    ).compared.gain

    assert (plan.reading, plan.level) == (1, 0.025)
    assert plan.n_groups == found.n_groups
    assert plan.expected_gain == pytest.approx(found.value, abs=0.1)
    assert plan.detectable_gain == pytest.approx(found.detectable(significance=0.025), rel=0.3)
    assert plan.groups_for_gain is not None
    assert plan.groups_for_gain < plan.n_groups


def test_a_plan_looks_at_no_label_of_the_test() -> None:
    units, quality = simulated(100, seed=4, split=None)
    candidate = offered(VERSION, judged(quality, seed=5), judged(quality, seed=6))
    ratings = np.where((units.splits == "test")[:, None], 1.0, units.ratings)

    assert plan_reading(replace(units, ratings=ratings), [candidate], NO_SEAL, margin=0.1) == (
        plan_reading(units, [candidate], NO_SEAL, margin=0.1)
    )


def test_more_groups_make_a_fit_judge_more_likely_to_be_found() -> None:
    def chance(n_groups: int) -> float:
        units, quality = simulated(n_groups, seed=7, split=None)
        [plan] = plan_reading(
            units, [offered(VERSION, judged(quality, seed=8))], NO_SEAL, margin=0.1
        )
        assert plan.groups_for_fitness is not None
        assert plan.expected_gain == 0
        return plan.chance_if_equal

    assert 0 < chance(80) < chance(400) <= 1


def test_candidates_share_the_level_of_the_reading() -> None:
    units, quality = simulated(100, seed=9, split=None)
    candidate = offered(VERSION, judged(quality, seed=10))
    plans = plan_reading(units, [candidate, candidate], NO_SEAL, margin=0.1)

    assert [plan.level for plan in plans] == [0.0125, 0.0125]


def test_an_unchanged_judge_has_no_gain_to_plan_for() -> None:
    units, quality = simulated(100, seed=11, split=None)
    scores = judged(quality, seed=12)
    [plan] = plan_reading(units, [offered(VERSION, scores, scores)], NO_SEAL, margin=0.1)

    assert plan.expected_gain == 0
    assert math.isnan(plan.detectable_gain)


def test_prompts_ask_about_ten_answers_and_dev_for_each_candidate_and_once_about_everything() -> (
    None
):
    units, _ = simulated(50, seed=13, split=None)
    n_dev, n_rated = int((units.splits == "dev").sum()), len(units.response_ids)
    searching = Tuning(
        steps=("few_shot_examples", "prompt_candidates"), writer="gpt", rounds=3, candidates=2
    )

    assert most_requests({"q": units, "r": units}, searching) == 2 * (60 + 7 * n_dev + n_rated)
    assert most_requests({"q": units}, Tuning()) == 0
