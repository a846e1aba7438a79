import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from eval_assets.config.tuning import Tuning
from eval_assets.shown.certificates import labels_sentence
from eval_assets.stats import Jackknife, agreement_gain, non_inferiority, partial_non_inferiority
from eval_assets.tuning.claim_results import judge_fitness, judge_improvement
from eval_assets.tuning.history import QuestionTest
from eval_assets.tuning.partial_automation import JudgePart
from eval_assets.tuning.power import (
    most_requests,
    plan_evaluation,
    why_not_evaluated,
)
from eval_assets.tuning.versions import JudgeVersion
from tests.unit.tuning.made_up import judged, offered, simulated

VERSION = JudgeVersion("gpt", "1.0.1", "calibration", "1.0.0", "f")
NO_SEAL = QuestionTest(1, (), frozenset())


def test_what_is_expected_of_a_test_is_near_what_it_then_shows() -> None:
    units, quality = simulated(200, seed=1, split=None)
    candidate = offered(VERSION, judged(quality, seed=2), judged(quality, seed=3, noise=1.6))
    [plan] = plan_evaluation(units, [candidate], NO_SEAL, margin=0.1, people_agree=True)
    is_test = units.splits == "test"
    result = judge_improvement(
        units.part("test"),
        candidate.scores[is_test],
        candidate.baseline[is_test],
        significance=0.025,
        n_train_groups=40,
    ).compared.gain

    assert (plan.reading, plan.level) == (1, 0.025)
    assert plan.n_groups == result.n_groups
    assert plan.expected_gain == pytest.approx(result.value, abs=0.1)
    assert plan.detectable_gain == pytest.approx(result.detectable_by(p_value=0.0125), rel=0.3)
    assert plan.groups_for_gain is not None
    assert plan.groups_for_gain < plan.n_groups


def test_a_plan_looks_at_no_label_of_the_test() -> None:
    units, quality = simulated(100, seed=4, split=None)
    candidate = offered(VERSION, judged(quality, seed=5), judged(quality, seed=6))
    ratings = np.where((units.splits == "test")[:, None], 1.0, units.ratings)

    assert plan_evaluation(
        replace(units, ratings=ratings), [candidate], NO_SEAL, margin=0.1, people_agree=True
    ) == (plan_evaluation(units, [candidate], NO_SEAL, margin=0.1, people_agree=True))


def test_more_groups_make_a_fit_judge_more_likely_to_be_found() -> None:
    def chance(n_groups: int) -> float:
        units, quality = simulated(n_groups, seed=7, split=None)
        [plan] = plan_evaluation(
            units,
            [offered(VERSION, judged(quality, seed=8))],
            NO_SEAL,
            margin=0.1,
            people_agree=True,
        )
        assert plan.groups_if_equal is not None
        assert plan.expected_gain == 0
        return plan.chance_if_equal

    assert 0 < chance(80) < chance(400) <= 1


def test_a_chance_is_near_how_often_the_claim_then_holds() -> None:
    """Of 30 studies, each planned on train and dev, and then tested."""
    chances, fit = [], []
    for seed in range(30):
        units, quality = simulated(100, seed=100 + seed, split=None)
        scores = judged(quality, seed=200 + seed, noise=0.9)
        [plan] = plan_evaluation(
            units, [offered(VERSION, scores)], NO_SEAL, margin=0.1, people_agree=True
        )
        is_test = units.splits == "test"
        verdict = judge_fitness(
            units.part("test"),
            scores[is_test],
            margin=0.1,
            significance=plan.level,
            people_agree=True,
        ).verdict
        chances.append(plan.chance_fit)
        fit.append(verdict == "fit")

    assert 0.1 < np.mean(fit) < 0.9
    assert np.mean(chances) == pytest.approx(np.mean(fit), abs=0.15)


def test_an_evaluation_is_held_back_if_no_claim_has_a_chance_of_one_half() -> None:
    units, quality = simulated(100, seed=9, split=None)
    poor = offered(VERSION, judged(quality, seed=10, noise=5))
    good = offered(replace(VERSION, judge_id="other"), judged(quality, seed=11, noise=0.4))
    rules = {"margin": 0.1, "people_agree": True}
    weak, strong = (
        plan_evaluation(units, candidates, NO_SEAL, **rules)  # type: ignore[arg-type]
        for candidates in ([poor], [poor, good])
    )

    assert why_not_evaluated(weak, "when_powered").startswith("by train and dev, gpt 1.0.1 ")
    assert why_not_evaluated(strong, "when_powered") == ""
    assert why_not_evaluated(weak, "always") == ""
    assert why_not_evaluated(strong, "never") == "tuning: {evaluate: never} is declared"


def test_no_chance_is_known_without_two_ratings_on_train_and_dev() -> None:
    units, quality = simulated(100, seed=12, split=None)
    ratings = units.ratings.copy()
    ratings[units.splits != "test", 1:] = np.nan
    plans = plan_evaluation(
        replace(units, ratings=ratings),
        [offered(VERSION, judged(quality, seed=13))],
        NO_SEAL,
        margin=0.1,
        people_agree=True,
    )

    assert math.isnan(plans[0].chance_fit)
    assert why_not_evaluated(plans, "when_powered") == ""


def test_candidates_share_the_level_of_the_reading() -> None:
    units, quality = simulated(100, seed=9, split=None)
    candidate = offered(VERSION, judged(quality, seed=10))
    plans = plan_evaluation(units, [candidate, candidate], NO_SEAL, margin=0.1, people_agree=True)

    assert [plan.level for plan in plans] == [0.0125, 0.0125]


def test_an_unchanged_judge_has_no_gain_to_plan_for() -> None:
    units, quality = simulated(100, seed=11, split=None)
    scores = judged(quality, seed=12)
    [plan] = plan_evaluation(
        units, [offered(VERSION, scores, scores)], NO_SEAL, margin=0.1, people_agree=True
    )

    assert plan.expected_gain == 0
    assert math.isnan(plan.detectable_gain)


def test_each_prompt_step_asks_about_dev_and_the_best_prompt_about_everything() -> None:
    units, _ = simulated(50, seed=13, split=None)
    n_dev, n_rated = int((units.splits == "dev").sum()), len(units.response_ids)
    tuning = Tuning(steps=("few_shot_examples", "judge_guidelines"), writer="gpt")

    assert most_requests({"q": units, "r": units}, tuning) == 2 * (2 * n_dev + n_rated)
    assert most_requests({"q": units}, Tuning()) == 0


def chance(effect: Jackknife, n_groups: int, *, p_value: float) -> float:
    """Return the chance that so many groups find an effect, which is known with an error."""
    error = effect.standard_error * math.sqrt(effect.n_groups / n_groups)
    critical = stats.t.ppf(1 - p_value, int(effect.df * n_groups / effect.n_groups))
    spread = math.hypot(error, effect.standard_error)
    return float(stats.norm.cdf((effect.value - critical * error) / spread))


def test_a_plan_scales_the_errors_of_train_and_dev_to_the_groups_of_the_test() -> None:
    """One response a group, so that groups weigh the same; some of the test have no score."""
    units, quality = simulated(300, seed=21, split=None, per_group=1)
    is_test = units.splits == "test"
    scores, baseline = judged(quality, seed=22), judged(quality, seed=23, noise=2.0)
    doubts = np.where(quality > 2.5, 0.0, 2.0)
    doubts[np.flatnonzero(is_test)[5:9]] = np.nan
    scores[np.flatnonzero(is_test)[:5]] = np.nan
    ratings = units.ratings.copy()
    ratings[np.flatnonzero(is_test)[-7:], 1:] = np.nan
    units = replace(units, ratings=ratings)
    candidate = replace(
        offered(VERSION, scores, baseline), part=JudgePart("other", 1.0), doubts=doubts
    )
    [plan] = plan_evaluation(units, [candidate], NO_SEAL, margin=0.1, people_agree=True)
    data = units.only(~is_test)
    options = {"level": data.level, "groups": data.groups}
    judge, doubt = scores[~is_test], doubts[~is_test]
    gain = agreement_gain(data.ratings, judge, baseline[~is_test], **options).gain  # type: ignore[arg-type]
    whole = non_inferiority(data.ratings, judge, margin=0.1, **options)  # type: ignore[arg-type]
    part = partial_non_inferiority(data.ratings, judge, doubt <= 1.0, margin=0.1, **options)  # type: ignore[arg-type]
    n_test, level = int(is_test.sum()), plan.level

    assert level == pytest.approx(0.0125)
    assert (plan.n_groups, plan.reading) == (n_test - 5, 1)
    assert plan.expected_gain == gain.value > 0
    assert plan.detectable_gain == gain.scaled_to(n_test - 5).detectable_by(p_value=level / 2)
    assert plan.chance_improved == pytest.approx(
        chance(gain, n_test - 5, p_value=level / 2), abs=1e-6
    )
    assert plan.chance_fit == pytest.approx(
        chance(whole.shortfall, n_test - 12, p_value=level / 5), abs=1e-6
    )
    assert plan.chance_in_part == pytest.approx(
        chance(part.shortfall, n_test - 16, p_value=level / 5), abs=1e-6
    )
    assert plan.responses_per_group == 300 / n_test
    assert plan.labels_per_group == (900 - 14) / n_test


@pytest.mark.parametrize(("n_scored", "has_chance"), [(19, False), (24, True)])
def test_a_test_of_too_few_groups_has_no_chance(
    n_scored: int,
    has_chance: bool,  # noqa: FBT001
) -> None:
    units, quality = simulated(300, seed=24, split=None, per_group=1)
    scores = judged(quality, seed=25, noise=0.4)
    scores[np.flatnonzero(units.splits == "test")[n_scored:]] = np.nan
    [plan] = plan_evaluation(
        units,
        [offered(VERSION, scores, judged(quality, seed=26, noise=2.0))],
        NO_SEAL,
        margin=0.1,
        people_agree=True,
    )

    assert plan.n_groups == n_scored
    for chances in (plan.chance_improved, plan.chance_fit, plan.chance_if_equal):
        assert (chances > 0) == has_chance


def test_people_who_always_agree_leave_no_judge_to_compare_with() -> None:
    units, quality = simulated(100, seed=27, split=None)
    one = np.clip(np.round(quality), 1, 5)
    units = replace(units, ratings=np.stack([one, one, one], axis=1))
    [plan] = plan_evaluation(
        units, [offered(VERSION, judged(quality, seed=28))], NO_SEAL, margin=0.1, people_agree=True
    )

    assert plan.groups_if_equal is None
    assert math.isnan(plan.chance_if_equal)


def test_a_judge_that_always_agrees_is_certain_to_be_found_fit() -> None:
    units, quality = simulated(100, seed=27, split=None)
    one = np.clip(np.round(quality), 1, 5)
    units = replace(units, ratings=np.stack([one, one, one], axis=1))
    # of eighths the mean is exact, so that the error is 0 without any rounding
    for margin in (0.1, 0.125):
        [plan] = plan_evaluation(
            units, [offered(VERSION, one)], NO_SEAL, margin=margin, people_agree=True
        )
        assert plan.chance_fit == 1


def test_labels_are_those_of_an_equal_judge_and_of_this_one_at_its_gap() -> None:
    units, quality = simulated(100, seed=7, split=None)
    [plan] = plan_evaluation(
        units, [offered(VERSION, judged(quality, seed=8))], NO_SEAL, margin=0.1, people_agree=True
    )
    plan = replace(
        plan, groups_if_equal=50, groups_at_gap=90, responses_per_group=10.0, labels_per_group=30.0
    )
    start = (
        "at the level of the next evaluation a judge equal to people takes about 500 rated "
        "responses (1,500 labels) in all"
    )

    assert labels_sentence(plan) == (
        f"{start}, this one at its gap on train and dev about 900 rated responses (2,700 labels)"
    )
    assert labels_sentence(replace(plan, groups_at_gap=None)) == (
        f"{start}; by train and dev this one lies more than the margin below people"
    )
    assert labels_sentence(replace(plan, groups_if_equal=None)) == ""
