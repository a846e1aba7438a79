import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eval_assets.stats import Level, non_inferiority, partial_non_inferiority

NAN = math.nan
MARGIN = 0.1


def literal(people: np.ndarray, judge: np.ndarray, *, nominal: bool) -> tuple[float, float]:
    """Both figures from the list of all ordered rater pairs, in exact numbers."""
    raters: list[tuple[Fraction, Fraction]] = []
    judged: list[tuple[Fraction, Fraction]] = []
    for row, score in zip(people, judge, strict=True):
        inputs = [Fraction(float(y)) for y in row if not np.isnan(y)]
        if not np.isnan(score):
            raters += itertools.permutations(inputs, 2)
            judged += [(a, Fraction(float(score))) for a, _ in itertools.permutations(inputs, 2)]
    distance = (lambda a, b: Fraction(a != b)) if nominal else (lambda a, b: (a - b) ** 2)

    def figure(pairs: list[tuple[Fraction, Fraction]]) -> float:
        observed = sum(distance(a, b) for a, b in pairs) * len(pairs)
        firsts, seconds = (Counter(ratings) for ratings in zip(*pairs, strict=True))
        by_chance = sum(
            n * m * distance(a, b)
            for (a, n), (b, m) in itertools.product(firsts.items(), seconds.items())
        )
        return float(1 - observed / by_chance)

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
    actual = non_inferiority(people, judge, margin=MARGIN, level=level)

    expected = literal(people, judge, nominal=level == "nominal")
    assert (actual.people.value, actual.judge.value) == pytest.approx(expected, abs=1e-12)
    assert actual.gap.value == pytest.approx(expected[1] - expected[0], abs=1e-12)
    assert actual.shortfall.value == pytest.approx(
        math.log(1 - expected[0] + MARGIN) - math.log(1 - expected[1]), abs=1e-12
    )


def test_errors_come_from_leaving_out_whole_groups() -> None:
    people, judge = simulated(7)
    groups = np.arange(len(judge)) // 3
    result = non_inferiority(people, judge, margin=MARGIN, level="ordinal", groups=groups)

    deleted = []
    for group in np.unique(groups):
        kappa_people, kappa_judge = literal(
            people[groups != group], judge[groups != group], nominal=False
        )
        deleted.append(math.log(1 - kappa_people + MARGIN) - math.log(1 - kappa_judge))
    n_groups = len(deleted)
    error = math.sqrt((n_groups - 1) * np.var(deleted))
    assert result.shortfall.standard_error == pytest.approx(error, rel=1e-9)
    reach = stats.t.ppf(1 - 0.0125, result.shortfall.df) * error
    assert result.shortfall.ends(significance=0.025) == pytest.approx(
        (result.shortfall.value - reach, result.shortfall.value + reach), rel=1e-9
    )


def test_the_test_statistic_is_zero_exactly_at_the_margin() -> None:
    people = np.array([[1, 1], [1, 2], [2, 1], [2, 2]] * 4 + [[1, 1], [2, 2]] * 4)
    figure_of_people = literal(people, np.ones(len(people)), nominal=False)[0]
    result = non_inferiority(people, np.ones(len(people)), margin=figure_of_people, level="ordinal")

    assert result.judge.value == 0  # a constant, exactly the margin below
    assert result.shortfall.value == pytest.approx(0, abs=1e-12)


def test_a_judge_that_agrees_with_everybody_is_measured_by_the_plain_difference() -> None:
    people = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [NAN, 5.0]]
    result = non_inferiority(people, [1, 2, 3, 4, 1], margin=0.1, level="ordinal")

    assert (result.people.value, result.judge.value) == (1, 1)
    assert result.shortfall.value == pytest.approx(0.1)
    assert result.n_units == 4


def test_a_rater_of_their_own_number_is_as_good_as_people() -> None:
    rng = np.random.default_rng(8)
    quality = rng.normal(3, 1.2, 4000)
    everyone = np.clip(np.round(quality[:, None] + rng.normal(0, 0.7, (4000, 4))), 1, 5)
    result = non_inferiority(everyone[:, :3], everyone[:, 3], margin=0.1, level="ordinal")

    assert result.gap.value == pytest.approx(0, abs=0.02)
    assert result.shortfall.ends(significance=0.05)[0] > 0


def test_without_two_ratings_of_a_unit_nothing_is_defined() -> None:
    result = non_inferiority([[1, NAN], [NAN, 2]], [1, 2], margin=0.1, level="ordinal")

    assert np.isnan([result.people.value, result.judge.value, result.shortfall.value]).all()
    assert result.n_units == 0


@pytest.mark.parametrize("margin", [0.0, -0.1, NAN])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be above 0"):
        non_inferiority([[1, 2]], [1], margin=margin, level="ordinal")
    with pytest.raises(ValueError, match="margin must be above 0"):
        partial_non_inferiority([[1, 2]], [1], [True], margin=margin, level="ordinal")


def test_a_part_with_all_units_is_the_whole_test_to_the_last_digit() -> None:
    people, judge = simulated(3)
    groups = np.arange(len(judge)) // 3
    by_judge = np.ones(len(judge), dtype=bool)
    whole = non_inferiority(people, judge, margin=MARGIN, level="ordinal", groups=groups)
    part = partial_non_inferiority(
        people, judge, by_judge, margin=MARGIN, level="ordinal", groups=groups
    )

    assert part == whole


@pytest.mark.parametrize("level", ["ordinal", "nominal"])
def test_the_mixture_equals_its_definition_without_each_group(level: Level) -> None:
    people, judge = simulated(5)
    by_judge = np.random.default_rng(5).random(len(judge)) < 0.6
    groups = np.arange(len(judge)) // 3
    result = partial_non_inferiority(
        people, judge, by_judge, margin=MARGIN, level=level, groups=groups
    )

    def definition(units: np.ndarray) -> tuple[float, float]:
        """Return shortfall and gap."""
        mixture, n_kept = literal_mixture(people[units], judge[units], by_judge[units], level=level)
        raters, _ = literal(people[units], judge[units], nominal=level == "nominal")
        shortfall = math.log(1 - raters + MARGIN * n_kept) - math.log(1 - mixture)
        return shortfall, mixture - raters

    complete = np.ones(len(judge), dtype=bool)
    mixture, share = literal_mixture(people, judge, by_judge, level=level)
    assert (result.judge.value, result.share) == pytest.approx((mixture, share), abs=1e-12)
    assert (result.shortfall.value, result.gap.value) == pytest.approx(
        definition(complete), abs=1e-12
    )
    deleted = np.array([definition(groups != group) for group in np.unique(groups)])
    errors = np.sqrt((len(deleted) - 1) * np.var(deleted, axis=0))
    assert result.shortfall.standard_error == pytest.approx(errors[0], rel=1e-9)
    assert result.gap.standard_error == pytest.approx(errors[1], rel=1e-9)


def literal_mixture(
    people: np.ndarray, judge: np.ndarray, by_judge: np.ndarray, *, level: Level
) -> tuple[float, float]:
    """The figure of the mixture over all ordered rater pairs, and the share of the part."""
    pairs, n_kept = [], 0
    for row, score, is_kept in zip(people, judge, by_judge, strict=True):
        inputs = [float(y) for y in row if not np.isnan(y)]
        if np.isnan(score):
            continue
        for rating, peer in itertools.permutations(inputs, 2):
            pairs.append((float(score) if is_kept else rating, peer))
            n_kept += is_kept
    first, second = np.array(pairs).T
    if level == "nominal":
        observed = np.mean(first != second)
        expected = np.mean(first[:, None] != second)
    else:
        observed = np.mean((first - second) ** 2)
        expected = np.mean((first[:, None] - second) ** 2)
    return float(1 - observed / expected), n_kept / len(pairs)


def test_a_judge_with_no_part_has_the_figures_of_people() -> None:
    people, judge = simulated(6)
    result = partial_non_inferiority(
        people, judge, np.zeros(len(judge)), margin=MARGIN, level="ordinal"
    )

    assert result.share == 0
    assert result.judge.value == result.people.value
    assert result.shortfall.value == 0


def test_a_part_needs_one_value_for_each_unit() -> None:
    with pytest.raises(ValueError, match="by_judge must have one value for each of 2 units"):
        partial_non_inferiority([[1, 2], [2, 2]], [1, 2], [True], margin=0.1, level="ordinal")
