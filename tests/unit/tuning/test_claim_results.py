import math
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.tuning.claim_results import (
    FitnessResult,
    ImprovementResult,
    judge_fitness,
    judge_improvement,
)
from eval_assets.tuning.rated import RatedUnits
from tests.unit.tuning.made_up import BINARY, judged, rated_units, simulated

NAN = math.nan
LEVEL = 0.025


def verdict(test: RatedUnits, scores: np.ndarray, *, people_agree: bool = True) -> FitnessResult:
    return judge_fitness(test, scores, margin=0.1, significance=LEVEL, people_agree=people_agree)


def test_a_judge_as_good_as_a_person_is_fit_without_any_gain() -> None:
    test, quality = simulated(100, seed=1)
    result = verdict(test, judged(quality, seed=2))

    assert result.verdict == "fit"


def test_a_judge_that_follows_something_else_is_unfit() -> None:
    test, quality = simulated(100, seed=4)
    rng = np.random.default_rng(5)
    result = verdict(test, rng.integers(1, 6, len(quality)).astype(float))

    assert result.verdict == "unfit"


def test_too_few_groups_leave_it_open_and_say_how_many_would_decide() -> None:
    test, quality = simulated(26, seed=7, per_group=1, noise=1.2)
    result = verdict(test, judged(quality, seed=8, noise=1.2))

    assert result.verdict == "undecided"
    assert result.groups_wanted is not None
    assert result.groups_wanted > 26
    assert f"with about {result.groups_wanted} a judge equal to people passes" in result.reason


def test_agreement_with_people_who_do_not_agree_means_nothing() -> None:
    test, quality = simulated(100, seed=8)
    result = verdict(test, judged(quality, seed=9), people_agree=False)

    assert result.verdict == "not_evaluable"
    assert "human gates" in result.reason


def test_groups_with_two_ratings_are_needed() -> None:
    test, quality = simulated(30, seed=10)
    single = test.ratings.copy()
    single[44:, 1:] = NAN  # eleven groups keep two ratings of a response
    ratings = rated_units(single, groups=test.groups, split="test")
    result = verdict(ratings, judged(quality, seed=11))

    assert (result.verdict, result.reason) == (
        "not_evaluable",
        "11 groups in the test hold two ratings of an answer, and 24 are needed",
    )


@pytest.mark.parametrize(("n_varied", "evaluable"), [(9, False), (10, True)])
def test_ten_groups_must_hold_another_rating_than_the_commonest(
    n_varied: int,
    evaluable: bool,  # noqa: FBT001
) -> None:
    people = np.ones((60, 2))
    people[:n_varied, 0] = 0
    test = rated_units(people, scale=BINARY, level="nominal", split="test")
    result = verdict(test, people[:, 1])

    assert (result.verdict != "not_evaluable") == evaluable
    if not evaluable:
        assert result.reason.startswith("9 groups in the test hold a rating other than the common")


def test_responses_without_a_score_do_not_count() -> None:
    test, quality = simulated(20, seed=12)
    scores = judged(quality, seed=13)
    scores[:4] = NAN

    assert verdict(test, scores).verdict == "not_evaluable"


@pytest.mark.parametrize(("n_paired", "expected"), [(23, "not_evaluable"), (24, "evaluable")])
def test_responses_that_one_person_rated_make_no_pair(n_paired: int, expected: str) -> None:
    test, quality = simulated(60, seed=21)
    ratings = test.ratings.copy()
    ratings[:, 2:] = NAN
    groups = np.unique(test.groups)
    ratings[np.isin(test.groups, groups[n_paired:]), 1] = NAN
    actual = verdict(replace(test, ratings=ratings), judged(quality, seed=22))

    assert (actual.verdict == "not_evaluable") == (expected == "not_evaluable")
    if expected == "not_evaluable":
        assert actual.reason.startswith("23 groups in the test hold two ratings")


def verdict_on_gain(
    test: RatedUnits, candidate: np.ndarray, baseline: np.ndarray
) -> ImprovementResult:
    return judge_improvement(test, candidate, baseline, significance=LEVEL, n_train_groups=40)


def test_a_judge_that_hears_better_is_accepted() -> None:
    test, quality = simulated(60, seed=1)
    result = verdict_on_gain(
        test, judged(quality, seed=2, noise=0.6), judged(quality, seed=3, noise=2.0)
    )

    assert result.verdict == "accepted"
    assert result.compared.gain.ends(significance=LEVEL)[0] > 0


def test_a_judge_that_hears_worse_is_rejected() -> None:
    test, quality = simulated(60, seed=4)
    result = verdict_on_gain(
        test, judged(quality, seed=5, noise=2.0), judged(quality, seed=6, noise=0.6)
    )

    assert (result.verdict, result.reason) == (
        "rejected",
        "agrees less with people than the judge as it stands",
    )


def test_a_replicate_is_inconclusive_with_how_many_groups_would_decide() -> None:
    test, quality = simulated(40, seed=7)
    result = verdict_on_gain(test, judged(quality, seed=8), judged(quality, seed=9))

    assert result.verdict == "inconclusive"
    assert result.groups_wanted is not None
    detectable = result.compared.gain.detectable_by(p_value=LEVEL / 2)
    assert result.groups_wanted >= 40 * (detectable / 0.5) ** 2
    assert f"about {result.groups_wanted} would detect one" in result.reason


def test_equal_scores_are_unchanged() -> None:
    test, quality = simulated(40, seed=10)
    scores = judged(quality, seed=11)

    assert verdict_on_gain(test, scores, scores.copy()).verdict == "unchanged"


@pytest.mark.parametrize(("n_groups", "expected"), [(19, "not_evaluable"), (20, "accepted")])
def test_twenty_groups_in_the_test_are_needed(n_groups: int, expected: str) -> None:
    test, quality = simulated(n_groups, seed=12)
    actual = verdict_on_gain(
        test, judged(quality, seed=13, noise=0.3), judged(quality, seed=14, noise=4)
    )

    assert actual.verdict == expected
    if expected == "not_evaluable":
        assert actual.groups_wanted == 20
        assert actual.reason == "19 groups in the test have ratings and scores, and 20 are needed"


def test_groups_without_both_scores_do_not_count() -> None:
    test, quality = simulated(20, seed=12)
    candidate = judged(quality, seed=13, noise=0.3)
    candidate[:4] = NAN

    assert verdict_on_gain(test, candidate, judged(quality, seed=14)).verdict == "not_evaluable"


def test_ten_groups_in_train_are_needed() -> None:
    test, quality = simulated(40, seed=15)
    result = judge_improvement(
        test,
        judged(quality, seed=16),
        judged(quality, seed=17),
        significance=LEVEL,
        n_train_groups=9,
    )

    assert (result.verdict, result.reason) == (
        "not_evaluable",
        "9 groups in train, and 10 are needed",
    )


def test_people_who_always_give_the_same_rating_cannot_decide() -> None:
    test = rated_units(np.full((30, 2), 3), split="test")
    result = verdict_on_gain(test, np.full(30, 3.0), np.full(30, 2.0))

    assert (result.verdict, result.reason) == (
        "not_evaluable",
        "people gave the same rating to every answer in the test",
    )


def test_few_changed_groups_could_all_be_better_by_chance() -> None:
    """At a level of .025 seven groups are needed: six all better happen by chance once in 64."""
    people = np.repeat([[1, 1], [5, 5]], 30, axis=0)
    test = rated_units(people, split="test")
    right = people[:, 0].astype(float)

    def with_wrong(n_wrong: int) -> np.ndarray:
        baseline = right.copy()
        baseline[:n_wrong] = 5
        return baseline

    few, enough = (
        judge_improvement(test, right, with_wrong(n), significance=LEVEL, n_train_groups=40)
        for n in (6, 7)
    )
    assert few.verdict == "inconclusive"
    assert few.reason.startswith("scores changed in 6 groups; 7 are needed")
    assert enough.verdict == "accepted"


def test_a_gain_bought_with_distance_is_rejected_and_says_so() -> None:
    """Stretching a judge to the ends of the scale gains kappa, and moves it away from people."""
    rng = np.random.default_rng(18)
    quality = rng.normal(0, 1, 400)
    people = np.clip(np.round(3 + 0.55 * (quality[:, None] + rng.normal(0, 0.9, (400, 3)))), 1, 5)
    impression = quality + rng.normal(0, 0.5, 400)
    middle = np.where(impression > 1.4, 4.0, 3.0)
    stretched = np.where(impression > 0.7, 5.0, np.where(impression < -0.7, 1.0, 3.0))
    result = verdict_on_gain(rated_units(people, split="test"), stretched, middle)

    assert result.compared.gain.ends(significance=LEVEL)[0] > 0
    assert (result.verdict, result.reason) == (
        "rejected",
        "agreement beyond chance gains, but A^HA falls by more than 0.02",
    )


def test_a_gain_bought_with_order_is_rejected_and_says_so() -> None:
    """The old scores keep the order and hardly leave the middle; the new ones swap neighbours."""
    people = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 12)
    middle = np.tile([2.8, 2.9, 3.0, 3.1, 3.2], 12)
    swapped = np.tile([2.0, 1.0, 3.0, 5.0, 4.0], 12)
    test = rated_units(np.column_stack([people, people]), split="test")
    result = verdict_on_gain(test, swapped, middle)

    assert result.compared.gain.ends(significance=LEVEL)[0] > 0
    assert result.verdict == "rejected"
    assert result.reason.endswith("but Spearman's rho falls by more than 0.05")


def test_a_gain_may_cost_a_little_order() -> None:
    """Of twelve fives one has become a four: rho falls by .01."""
    people = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 12)
    middle = np.tile([2.8, 2.9, 3.0, 3.1, 3.2], 12)
    nearer = people.copy()
    nearer[4] = 3.9
    test = rated_units(np.column_stack([people, people]), split="test")

    assert verdict_on_gain(test, nearer, middle).verdict == "accepted"


def test_a_candidate_that_only_stops_being_wrong_is_not_accepted() -> None:
    """Its own agreement beyond chance has to be above 0 too."""
    test, quality = simulated(40, seed=19)
    rng = np.random.default_rng(20)
    useless = rng.integers(1, 6, len(quality)).astype(float)
    result = verdict_on_gain(test, useless, 6 - judged(quality, seed=21))

    assert result.verdict == "inconclusive"
    assert "own agreement" in result.reason


def test_no_fewer_groups_than_there_are_are_asked_for() -> None:
    """The candidate changes six scores: the test would detect a gain of .02, and shows none."""
    test, quality = simulated(60, seed=1)
    results = []
    for seed in range(10):
        baseline = judged(quality, seed=seed + 10)
        changed = np.random.default_rng(seed).choice(len(baseline), 6, replace=False)
        candidate = baseline.copy()
        candidate[changed] = judged(quality[changed], seed=seed, noise=0.9)
        results.append(verdict_on_gain(test, candidate, baseline))
    open_results = [result for result in results if result.verdict == "inconclusive"]

    assert all((result.groups_wanted or 61) > 60 for result in open_results)
    unlucky = [result.reason for result in open_results if result.groups_wanted is None]
    assert any(reason.endswith("tries, and this test does not show one") for reason in unlucky)


def test_responses_that_neither_judge_scored_are_no_groups_of_the_comparison() -> None:
    test, quality = simulated(22, seed=7, per_group=1)
    candidate, baseline = judged(quality, seed=8), judged(quality, seed=9)
    candidate[:3] = baseline[:3] = NAN
    result = judge_improvement(test, candidate, baseline, significance=LEVEL, n_train_groups=40)

    assert result.verdict == "not_evaluable"
    assert result.reason.startswith("19 groups in the test have ratings and scores")
    assert result.groups_wanted == 20


@pytest.mark.parametrize(("n_test", "n_wanted"), [(22, None), (20, None), (19, 20)])
def test_groups_are_wanted_only_where_the_test_is_too_small(
    n_test: int, n_wanted: int | None
) -> None:
    test, quality = simulated(n_test, seed=7, per_group=1)
    result = judge_improvement(
        test,
        judged(quality, seed=8),
        judged(quality, seed=9),
        significance=LEVEL,
        n_train_groups=9,
    )

    assert (result.verdict, result.groups_wanted) == ("not_evaluable", n_wanted)
    assert result.reason == "9 groups in train, and 10 are needed"
