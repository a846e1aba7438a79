"""The promises of certificates, by a simulation small enough for CI.

`python -m benchmarks promises` has the large one.
"""

import pytest

from benchmarks import promises

N_EVALUATIONS = 80

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "N_EVALUATIONS", N_EVALUATIONS)


@pytest.mark.parametrize("judge", [promises.replicate, promises.moved])
def test_judges_that_are_no_better_are_seldom_certified_in_all_tries(judge: promises.Judge) -> None:
    result = promises.certified(promises.FIVE_LEVELS, judge, n_groups=40, seed=1)

    assert sum(result) <= 0.05 * N_EVALUATIONS


def test_who_learns_from_what_evaluations_print_is_seldom_certified() -> None:
    result = promises.attacked(is_exact=False, n_groups=40, seed=2)

    assert sum(result) <= 0.05 * N_EVALUATIONS


@pytest.mark.parametrize("cell", [*promises.STATES, *promises.ALIKE, promises.UNEVEN])
def test_judges_at_the_margin_seldom_pass_on_groups_of_any_shape(cell: promises.Cell) -> None:
    verdicts = promises.verdicts_in_turn(promises.FIVE_LEVELS, cell, n_groups=60, seed=4)

    assert sum("fit" in of for of in verdicts) <= 0.075 * N_EVALUATIONS


def test_a_judge_equal_to_people_passes_more_often_than_one_below_them() -> None:
    world = promises.FIVE_LEVELS
    equal = promises.passed(world, noise=world.noise, n_groups=60, seed=3)
    worse = promises.passed(world, noise=2 * world.noise, n_groups=60, seed=3)

    assert sum(equal) >= 0.7 * N_EVALUATIONS
    assert sum(worse) <= 0.05 * N_EVALUATIONS
