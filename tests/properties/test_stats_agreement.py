"""Agreement coefficients: their definitions spelt out over all pairs, and their invariances."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import (  # type: ignore[import-untyped]
    aggregate_raters,
)
from statsmodels.stats.inter_rater import (
    fleiss_kappa as complete_fleiss_kappa,
)

from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import (
    AgreementWeights,
    Alpha,
    Coefficient,
    CohenKappa,
    Correlation,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    KappaWeights,
    Level,
    PairwiseAgreement,
    RatingPatterns,
    agreement_profile,
    coefficient_interval,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    human_agreement,
    krippendorff_alpha,
    pairwise_agreement,
)
from eval_assets.stats._coefficients import PatternCoefficient, estimate

Floats = npt.NDArray[np.float64]

checked = settings(max_examples=60, deadline=None)  # a busy machine is no failure

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
LEVEL = st.sampled_from(LEVELS)
STEPS = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
POINTS = st.integers(4, 20).map(lambda quarter: quarter / 4) | st.floats(1, 5, width=32)
MISSING = st.just(math.nan)


def matrices(values: st.SearchStrategy[float]) -> st.SearchStrategy[Floats]:
    """Up to twelve units of up to five raters, some ratings missing."""
    shapes = arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12).map(
        lambda shape: (shape[0], min(shape[1], 5))
    )
    elements = st.one_of(values, values, values, MISSING)
    return arrays.arrays(np.float64, shapes, elements=elements)


RATINGS = matrices(STEPS) | matrices(POINTS)


def units_of(ratings: Floats) -> list[list[float]]:
    """Each unit's ratings."""
    return [[value for value in row if not math.isnan(value)] for row in ratings.tolist()]


def pairable(ratings: Floats) -> list[list[float]]:
    return [unit for unit in units_of(ratings) if len(unit) > 1]


def mean(values: Sequence[float | Fraction]) -> float:
    return float(sum(values) / len(values)) if values else math.nan


def distance_at(
    level: Level, counts: Counter[Fraction]
) -> Callable[[Fraction, Fraction], Fraction]:
    """Krippendorff's difference functions, squared."""

    def ordinal(a: Fraction, b: Fraction) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(count for value, count in counts.items() if low <= value <= high)
        return (between - Fraction(counts[a] + counts[b], 2)) ** 2 if a != b else Fraction(0)

    functions: dict[Level, Callable[[Fraction, Fraction], Fraction]] = {
        "nominal": lambda a, b: Fraction(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2 if a + b else Fraction(0),
    }
    return functions[level]


def alpha_by_definition(ratings: Floats, level: Level) -> float:
    """1 - D_o / D_e over all pairs, in exact rationals: nothing is rounded before the end."""
    units = [[Fraction(value) for value in unit] for unit in pairable(ratings)]
    pooled = [value for unit in units for value in unit]
    distance = distance_at(level, Counter(pooled))
    if len(set(pooled)) < 2:
        return math.nan
    observed = sum(
        2 * sum(distance(a, b) for a, b in combinations(unit, 2)) / (len(unit) - 1)
        for unit in units
    ) / Fraction(len(pooled))
    pairs = [distance(a, b) for a, b in combinations(pooled, 2)]
    return float(1 - observed / (sum(pairs) / Fraction(len(pairs))))


def gwet_by_definition(
    ratings: Floats,
    categories: list[float],
    weight: Callable[[float, float], float],
    *,
    fleiss: bool,
) -> float:
    """Gwet (2014), with a weight for every pair of categories; Fleiss' kappa differs by P_e."""
    rated = [unit for unit in units_of(ratings) if unit]
    shares = {c: mean([unit.count(c) / len(unit) for unit in rated]) for c in categories}
    observed = mean(
        [mean([weight(a, b) for a, b in combinations(unit, 2)]) for unit in pairable(ratings)]
    )
    if fleiss:
        expected = sum(share**2 for share in shares.values())
    else:
        n_categories = len(categories)
        total = sum(weight(a, b) for a, b in product(categories, repeat=2))
        spread = sum(share * (1 - share) for share in shares.values())
        expected = total / (n_categories * (n_categories - 1)) * spread
    return (observed - expected) / (1 - expected) if expected < 1 - 1e-12 else math.nan


def same(actual: float, expected: float, *, tolerance: float = 1e-9) -> bool:
    return actual == pytest.approx(expected, abs=tolerance, rel=tolerance, nan_ok=True)


@checked
@given(RATINGS | matrices(st.integers(0, 12).map(float)), LEVEL)
def test_alpha_is_its_definition_in_exact_rationals(ratings: Floats, level: Level) -> None:
    expected = alpha_by_definition(ratings, level)
    assert same(krippendorff_alpha(ratings, level=level), expected)


@checked
@given(RATINGS)
def test_human_agreement_is_its_definition(ratings: Floats) -> None:
    expected = mean(
        [mean([1 - abs(a - b) / 4 for a, b in combinations(unit, 2)]) for unit in pairable(ratings)]
    )
    assert same(human_agreement(ratings, low=1, high=5), expected)


@checked
@given(RATINGS)
def test_agreement_by_chance_is_its_definition(ratings: Floats) -> None:
    pooled = [value for unit in pairable(ratings) for value in unit]
    expected = mean([1 - abs(a - b) / 4 for a, b in product(pooled, repeat=2)])
    profile = agreement_profile(ratings, scale=LIKERT5, level="ordinal", confidence=0.95)
    assert same(profile.a_hh_by_chance, expected)


@checked
@given(matrices(STEPS), st.sampled_from([0, 1, 2, 4]))
def test_pairwise_agreement_is_its_definition(ratings: Floats, within: int) -> None:
    pairs = [pair for unit in pairable(ratings) for pair in combinations(unit, 2)]
    expected = mean([float(abs(a - b) <= within) for a, b in pairs])
    assert same(pairwise_agreement(ratings, within=within), expected)


@checked
@given(matrices(STEPS))
def test_fleiss_kappa_is_its_definition(ratings: Floats) -> None:
    expected = gwet_by_definition(ratings, [1, 2, 3, 4, 5], lambda a, b: float(a == b), fleiss=True)
    assert same(fleiss_kappa(ratings), expected)


@checked
@given(matrices(STEPS))
def test_gwets_coefficients_are_their_definitions(ratings: Floats) -> None:
    categories = [1.0, 2.0, 3.0, 4.0, 5.0]
    weights: dict[AgreementWeights | None, Callable[[float, float], float]] = {
        None: lambda a, b: float(a == b),
        "linear": lambda a, b: 1 - abs(a - b) / 4,
        "quadratic": lambda a, b: 1 - (a - b) ** 2 / 16,
        "ordinal": lambda a, b: 1 - math.comb(int(abs(a - b)) + 1, 2) / math.comb(5, 2),
    }
    for name, weight in weights.items():
        expected = gwet_by_definition(ratings, categories, weight, fleiss=False)
        assert same(gwet_ac(ratings, weights=name, categories=categories), expected)


@checked
@given(arrays.arrays(np.float64, (8, 3), elements=STEPS))
def test_complete_fleiss_kappa_is_that_of_statsmodels(ratings: Floats) -> None:
    if len(np.unique(ratings)) > 1:
        counts, _ = aggregate_raters(ratings.astype(int))
        assert same(fleiss_kappa(ratings), complete_fleiss_kappa(counts))


@checked
@given(
    arrays.arrays(np.float64, (9, 2), elements=STEPS),
    st.sampled_from([None, "linear", "quadratic"]),
)
def test_cohens_kappa_is_that_of_scikit_learn(
    ratings: Floats, weights: KappaWeights | None
) -> None:
    if len(np.unique(ratings)) > 1:
        expected = cohen_kappa_score(
            *ratings.T.astype(int), weights=weights, labels=[1, 2, 3, 4, 5]
        )
        assert same(cohen_kappa(*ratings.T, weights=weights), expected)


COEFFICIENTS: list[PatternCoefficient] = [
    HumanAgreement(Scale(1, 5)),
    PairwiseAgreement(within=1),
    *(Alpha(level) for level in LEVELS),
    FleissKappa(),
    GwetAC(None),
    GwetAC("quadratic"),
]


def values_of(ratings: Floats) -> list[float]:
    patterns = RatingPatterns.from_matrix(ratings)
    return [estimate(coefficient, patterns) for coefficient in COEFFICIENTS]


def close(actual: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@checked
@given(RATINGS, st.randoms(use_true_random=False))
def test_the_order_of_units_and_of_their_raters_does_not_matter(
    ratings: Floats, random: Random
) -> None:
    shuffled = ratings.copy()
    for row in shuffled:
        row[:] = random.sample(row.tolist(), len(row))
    rows = random.sample(range(len(ratings)), len(ratings))
    close(values_of(shuffled[rows]), values_of(ratings))


@checked
@given(RATINGS)
def test_however_ratings_are_held_they_give_the_same(ratings: Floats) -> None:
    expected = values_of(ratings)
    held = ratings.astype(object)
    held[np.isnan(ratings)] = None
    for given_as in (
        held,
        held.tolist(),
        RatingPatterns.from_matrix(ratings, groups=np.arange(len(ratings)) // 2),
    ):
        close([estimate(coefficient, given_as) for coefficient in COEFFICIENTS], expected)


@checked
@given(RATINGS, st.lists(st.floats(1, 5, width=32), min_size=1, max_size=4))
def test_units_rated_once_change_neither_alpha_nor_human_agreement(
    ratings: Floats, extra: list[float]
) -> None:
    single = np.full((len(extra), ratings.shape[1]), math.nan)
    single[:, 0] = extra
    # Fleiss' and Gwet's coefficients do use them: they show how often each value is given
    close(values_of(np.vstack([ratings, single]))[:6], values_of(ratings)[:6])


@checked
@given(matrices(STEPS), st.permutations([10.0, 20.0, 30.0, 40.0, 50.0]))
def test_at_the_nominal_level_values_are_only_names(ratings: Floats, names: list[float]) -> None:
    renamed = ratings.copy()
    for value, name in zip((1, 2, 3, 4, 5), names, strict=True):
        renamed[ratings == value] = name
    for coefficient in (Alpha("nominal"), FleissKappa(), GwetAC(None)):
        actual, expected = (
            estimate(coefficient, RatingPatterns.from_matrix(x)) for x in (renamed, ratings)
        )
        assert same(actual, expected)


@checked
@given(RATINGS, st.floats(0.1, 100), st.floats(-1000, 1000))
def test_at_the_interval_level_unit_and_origin_do_not_matter(
    ratings: Floats, factor: float, offset: float
) -> None:
    spread = np.ptp(ratings[~np.isnan(ratings)]) if (~np.isnan(ratings)).any() else 0.0
    if 0 < spread < 1e-3:
        return  # the shift itself rounds such values together
    result = krippendorff_alpha(ratings * factor + offset, level="interval")
    assert same(result, krippendorff_alpha(ratings, level="interval"), tolerance=1e-4)


@checked
@given(matrices(STEPS))
def test_at_the_ordinal_level_only_order_matters(ratings: Floats) -> None:
    result = krippendorff_alpha(np.exp(ratings), level="ordinal")
    assert same(result, krippendorff_alpha(ratings, level="ordinal"))


@checked
@given(RATINGS)
def test_coefficients_stay_in_their_bounds(ratings: Floats) -> None:
    values = dict(zip(map(str, COEFFICIENTS), values_of(ratings), strict=True))
    for name, value in values.items():
        if math.isnan(value):
            continue
        assert value <= 1 + 1e-12, name
        if name.startswith(("Human", "Pairwise")):
            assert value >= -1e-12, name
        if name.startswith("Alpha"):  # -1 at the least, for two raters who always differ
            assert value >= -1 - 1e-9, name


@checked
@given(RATINGS)
def test_copies_of_a_unit_are_counted_like_units(ratings: Floats) -> None:
    twice = RatingPatterns.from_matrix(np.vstack([ratings, ratings]))
    single = RatingPatterns.from_matrix(ratings)
    weights = 2 * single.n_units[np.newaxis].astype(np.float64)
    for coefficient in COEFFICIENTS:
        result = float(coefficient.measure(single).estimator(weights)[0])
        assert same(result, estimate(coefficient, twice), tolerance=1e-6)


@checked
@given(matrices(STEPS), st.integers(0, 2**32 - 1))
def test_weighted_patterns_stand_for_their_rows(ratings: Floats, seed: int) -> None:
    patterns, index = RatingPatterns.by_row(ratings)
    rated = np.flatnonzero(index >= 0)
    if not len(rated):
        return
    drawn = np.random.default_rng(seed).choice(rated, len(rated))
    weights = np.bincount(index[drawn], minlength=len(patterns.n_units))
    for coefficient in COEFFICIENTS[:7]:  # AC's categories are those of the sample, not the rows'
        estimator = coefficient.measure(patterns).estimator
        result = float(estimator(weights[np.newaxis].astype(float))[0])
        assert same(result, estimate(coefficient, ratings[drawn]))


TWO_COLUMNS: list[Coefficient] = [
    CohenKappa(None),
    CohenKappa("linear"),
    CohenKappa("quadratic"),
    Correlation("pearson"),
    Correlation("spearman"),
    Correlation("kendall"),
]


@checked
@given(matrices(STEPS), st.data())
def test_every_interval_holds_its_value_within_its_bounds_and_is_wide(
    ratings: Floats, data: st.DataObject
) -> None:
    """Whatever the ratings: a figure that has an interval never has one of no width."""
    labels = st.lists(st.integers(0, 4), min_size=len(ratings), max_size=len(ratings))
    groups = data.draw(st.none() | labels)
    for coefficient in [*COEFFICIENTS, *(TWO_COLUMNS if ratings.shape[1] == 2 else [])]:
        result = coefficient_interval(ratings, coefficient, confidence=0.95, groups=groups)
        if result.method is None:
            assert math.isnan(result.low)
            assert math.isnan(result.high)
        else:
            assert result.low <= result.value <= result.high
            assert result.high - result.low > 0.005
            assert result.high <= 1
            if not isinstance(coefficient, GwetAC):  # at worst -P_e / (1 - P_e)
                is_share = isinstance(coefficient, HumanAgreement | PairwiseAgreement)
                assert result.low >= min(0 if is_share else -1, result.value)
        assert result.n_groups <= result.n_units <= len(ratings)


@checked
@given(matrices(STEPS), st.integers(1, 3))
def test_copies_within_groups_change_no_interval(ratings: Floats, n_copies: int) -> None:
    groups = np.repeat(np.arange(len(ratings)), n_copies)
    for coefficient in COEFFICIENTS[:4]:
        single = coefficient_interval(ratings, coefficient, confidence=0.95)
        copies = coefficient_interval(
            np.repeat(ratings, n_copies, axis=0), coefficient, confidence=0.95, groups=groups
        )
        assert copies.n_groups == single.n_groups
        if "Alpha" not in str(coefficient):  # whose small-sample factor n - 1 copies do change
            assert same(copies.low, single.low)
            assert same(copies.high, single.high)
