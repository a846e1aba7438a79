"""The promises of certificates, by a simulation small enough for every run.

`python -m benchmarks promises` has the large one.
"""

import pytest

from benchmarks import promises

N_EVALUATIONS = 80


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "N_EVALUATIONS", N_EVALUATIONS)


@pytest.mark.parametrize("judge", [promises.replicate, promises.moved(0.05)])
def test_judges_that_are_no_better_are_seldom_certified_in_several_tries(
    judge: promises.Judge,
) -> None:
    result = promises.certified(promises.FIVE_LEVELS, judge, n_groups=40, n_readings=3, seed=1)

    assert sum(result) <= 0.05 * N_EVALUATIONS


def test_who_learns_from_what_readings_print_is_seldom_certified() -> None:
    result = promises.attacked(exact=False, n_readings=10, n_groups=40, seed=2)

    assert sum(result) <= 0.05 * N_EVALUATIONS


@pytest.mark.parametrize(
    ("sizes", "shared"),
    [(promises.equal_sizes, 0.6), (promises.uneven_sizes, 0.0), (promises.one_large_group, 0.0)],
)
def test_judges_at_the_margin_are_seldom_found_fit_on_groups_of_any_shape(
    sizes: promises.Sizes, shared: float
) -> None:
    world = promises.FIVE_LEVELS
    result = promises.found_fit_in_turn(
        world,
        sizes,
        noise=0.89,
        shared=shared,
        n_groups=40,
        n_judges=5,
        n_evaluations=N_EVALUATIONS,
        seed=4,
    )

    assert sum(result) <= 0.05 * N_EVALUATIONS


def test_a_judge_equal_to_people_is_found_fit_more_often_than_one_at_the_margin() -> None:
    world = promises.FIVE_LEVELS
    equal = list(promises.found_fit(world, noise=world.noise, n_groups=40, seed=3))
    worse = list(promises.found_fit(world, noise=2 * world.noise, n_groups=40, seed=3))

    assert equal.count("fit") >= 0.7 * N_EVALUATIONS
    assert worse.count("fit") <= 0.05 * N_EVALUATIONS
