import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eval_assets.stats import Level, non_inferiority

NAN = math.nan
MARGIN = 0.1


def literal(people: np.ndarray, judge: np.ndarray, *, nominal: bool) -> tuple[float, float]:
    """Both figures from the list of all ordered rater pairs, in exact numbers."""
    raters: list[tuple[Fraction, Fraction]] = []
    judged: list[tuple[Fraction, Fraction]] = []
    for row, score in zip(people, judge, strict=True):
        given = [Fraction(float(y)) for y in row if not np.isnan(y)]
        if not np.isnan(score):
            raters += itertools.permutations(given, 2)
            judged += [(a, Fraction(float(score))) for a, _ in itertools.permutations(given, 2)]
    distance = (lambda a, b: Fraction(a != b)) if nominal else (lambda a, b: (a - b) ** 2)

    def figure(pairs: list[tuple[Fraction, Fraction]]) -> float:
        observed = sum(distance(a, b) for a, b in pairs) * len(pairs)
        return float(1 - observed / sum(distance(a, b) for a, _ in pairs for _, b in pairs))

    return figure(raters), figure(judged)


def simulated(seed: int, n_units: int = 24) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1.2, n_units)
    people = np.clip(np.round(quality[:, None] + rng.normal(0, 0.7, (n_units, 4))), 1, 5)
    people[rng.random(people.shape) < 0.2] = NAN
    judge = np.clip(np.round(quality + rng.normal(0, 0.7, n_units)), 1, 5)
    judge[rng.random(n_units) < 0.1] = NAN
    return people, judge


@pytest.mark.parametrize("level", ["ordinal", "nominal"])
@pytest.mark.parametrize("seed", range(5))
def test_both_figures_equal_the_definition_in_exact_numbers(level: Level, seed: int) -> None:
    people, judge = simulated(seed)
    found = non_inferiority(people, judge, margin=MARGIN, level=level)

    expected = literal(people, judge, nominal=level == "nominal")
    assert (found.people.value, found.judge.value) == pytest.approx(expected, abs=1e-12)
    assert found.gap.value == pytest.approx(expected[1] - expected[0], abs=1e-12)
    assert found.shortfall.value == pytest.approx(
        math.log(1 - expected[0] + MARGIN) - math.log(1 - expected[1]), abs=1e-12
    )


def test_errors_come_from_leaving_out_whole_groups() -> None:
    people, judge = simulated(7)
    groups = np.arange(len(judge)) // 3
    found = non_inferiority(people, judge, margin=MARGIN, level="ordinal", groups=groups)

    deleted = []
    for group in np.unique(groups):
        kappa_people, kappa_judge = literal(
            people[groups != group], judge[groups != group], nominal=False
        )
        deleted.append(math.log(1 - kappa_people + MARGIN) - math.log(1 - kappa_judge))
    n_groups = len(deleted)
    error = math.sqrt((n_groups - 1) * np.var(deleted))
    assert found.shortfall.standard_error == pytest.approx(error, rel=1e-9)
    reach = stats.t.ppf(1 - 0.0125, n_groups - 1) * error
    assert found.shortfall.ends(significance=0.025) == pytest.approx(
        (found.shortfall.value - reach, found.shortfall.value + reach), rel=1e-9
    )


def test_the_test_statistic_is_zero_exactly_at_the_margin() -> None:
    people = np.array([[1, 1], [1, 2], [2, 1], [2, 2]] * 4 + [[1, 1], [2, 2]] * 4)
    figure_of_people = literal(people, np.ones(len(people)), nominal=False)[0]
    found = non_inferiority(people, np.ones(len(people)), margin=figure_of_people, level="ordinal")

    assert found.judge.value == 0  # a constant, exactly the margin below
    assert found.shortfall.value == pytest.approx(0, abs=1e-12)


def test_a_judge_that_agrees_with_everybody_is_measured_by_the_plain_difference() -> None:
    people = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [NAN, 5.0]]
    found = non_inferiority(people, [1, 2, 3, 4, 1], margin=0.1, level="ordinal")

    assert (found.people.value, found.judge.value) == (1, 1)
    assert found.shortfall.value == pytest.approx(0.1)
    assert found.n_units == 4


def test_a_rater_of_their_own_number_is_as_good_as_people() -> None:
    rng = np.random.default_rng(8)
    quality = rng.normal(3, 1.2, 4000)
    everyone = np.clip(np.round(quality[:, None] + rng.normal(0, 0.7, (4000, 4))), 1, 5)
    found = non_inferiority(everyone[:, :3], everyone[:, 3], margin=0.1, level="ordinal")

    assert found.gap.value == pytest.approx(0, abs=0.02)
    assert found.shortfall.ends(significance=0.05)[0] > 0


def test_without_two_ratings_of_a_unit_nothing_is_defined() -> None:
    found = non_inferiority([[1, NAN], [NAN, 2]], [1, 2], margin=0.1, level="ordinal")

    assert np.isnan([found.people.value, found.judge.value, found.shortfall.value]).all()
    assert found.n_units == 0


@pytest.mark.parametrize("margin", [0.0, -0.1, NAN])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be above 0"):
        non_inferiority([[1, 2]], [1], margin=margin, level="ordinal")
