import math
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.tuning._fitness import FitnessResult, judge_fitness
from eval_assets.tuning.rated import RatedUnits
from tests.unit.tuning.made_up import BINARY, judged, rated_units, simulated

NAN = math.nan
LEVEL = 0.025


def verdict(test: RatedUnits, scores: np.ndarray, *, people_agree: bool = True) -> FitnessResult:
    return judge_fitness(test, scores, margin=0.1, significance=LEVEL, people_agree=people_agree)


def test_a_judge_as_good_as_a_person_is_fit_without_any_gain() -> None:
    test, quality = simulated(100, seed=1)
    found = verdict(test, judged(quality, seed=2))

    assert found.verdict == "fit"
    assert not found.better_than_a_person


def test_a_judge_that_knows_the_quality_is_better_than_a_person() -> None:
    test, quality = simulated(100, seed=3)
    found = verdict(test, np.clip(np.round(quality), 1, 5))

    assert (found.verdict, found.better_than_a_person) == ("fit", True)
    assert "better than they agree with each other" in found.reason


def test_a_judge_that_follows_something_else_is_unfit() -> None:
    test, quality = simulated(100, seed=4)
    rng = np.random.default_rng(5)
    found = verdict(test, rng.integers(1, 6, len(quality)).astype(float))

    assert found.verdict == "unfit"


def test_too_few_groups_leave_it_open_and_say_how_many_would_decide() -> None:
    test, quality = simulated(22, seed=7, per_group=1, noise=1.2)
    found = verdict(test, judged(quality, seed=8, noise=1.2))

    assert found.verdict == "undecided"
    assert found.groups_wanted is not None
    assert found.groups_wanted > 22
    assert f"about {found.groups_wanted} would show" in found.reason


def test_agreement_with_people_who_do_not_agree_means_nothing() -> None:
    test, quality = simulated(100, seed=8)
    found = verdict(test, judged(quality, seed=9), people_agree=False)

    assert found.verdict == "not_evaluable"
    assert "human gates" in found.reason


def test_groups_of_very_different_sizes_count_as_fewer() -> None:
    test, quality = simulated(60, seed=11)
    groups = np.array(["large"] * (len(quality) // 2) + [f"g{k}" for k in range(len(quality) // 2)])
    found = verdict(replace(test, groups=groups), judged(quality, seed=12))

    assert found.verdict == "not_evaluable"
    assert "differ so much in size that they tell as much as 3, and 20 are needed" in found.reason


def test_twenty_groups_with_two_ratings_are_needed() -> None:
    test, quality = simulated(30, seed=10)
    single = test.ratings.copy()
    single[44:, 1:] = NAN  # eleven groups keep two ratings of an answer
    ratings = rated_units(single, groups=test.groups, split="test")
    found = verdict(ratings, judged(quality, seed=11))

    assert (found.verdict, found.reason) == (
        "not_evaluable",
        "11 groups in the test hold two ratings of an answer, and 20 are needed",
    )


@pytest.mark.parametrize(("n_varied", "evaluable"), [(9, False), (10, True)])
def test_ten_groups_must_hold_another_rating_than_the_commonest(
    n_varied: int,
    evaluable: bool,  # noqa: FBT001
) -> None:
    people = np.ones((60, 2))
    people[:n_varied, 0] = 0
    test = rated_units(people, scale=BINARY, level="nominal", split="test")
    found = verdict(test, people[:, 1])

    assert (found.verdict != "not_evaluable") == evaluable
    if not evaluable:
        assert found.reason.startswith("9 groups in the test hold a rating other than the common")


def test_answers_without_a_score_do_not_count() -> None:
    test, quality = simulated(20, seed=12)
    scores = judged(quality, seed=13)
    scores[:4] = NAN

    assert verdict(test, scores).verdict == "not_evaluable"


@pytest.mark.parametrize(("n_paired", "expected"), [(19, "not_evaluable"), (20, "evaluable")])
def test_answers_that_one_person_rated_make_no_pair(n_paired: int, expected: str) -> None:
    test, quality = simulated(60, seed=21)
    ratings = test.ratings.copy()
    ratings[:, 2:] = NAN
    groups = np.unique(test.groups)
    ratings[np.isin(test.groups, groups[n_paired:]), 1] = NAN
    found = verdict(replace(test, ratings=ratings), judged(quality, seed=22))

    assert (found.verdict == "not_evaluable") == (expected == "not_evaluable")
    if expected == "not_evaluable":
        assert found.reason.startswith("19 groups in the test hold two ratings")
