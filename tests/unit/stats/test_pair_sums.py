import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from eval_assets.stats import Level, agreement_gain, cohen_kappa, concordance
from eval_assets.stats.pair_sums import figure, rater_pair_sums, rating_entries

NAN = math.nan

# Peak expiratory flow of 17 people by two meters, Bland and Altman (1986),
# doi:10.1016/S0140-6736(86)90837-8; Lin's concordance of them is .943.
WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def literal(ratings: list[list[float]], scores: list[float], *, nominal: bool) -> float:
    """The definition, pair by pair against every other pair's rating, in exact numbers."""
    return literal_of(
        [(y, f) for row, f in zip(ratings, scores, strict=True) for y in row], nominal=nominal
    )


def literal_of(ratings: list[tuple[float, float]], *, nominal: bool) -> float:
    pairs = [(Fraction(y), Fraction(f)) for y, f in ratings if not math.isnan(y + f)]
    distance = (lambda a, b: Fraction(a != b)) if nominal else (lambda a, b: (a - b) ** 2)
    observed = sum(distance(y, f) for y, f in pairs) * len(pairs)
    expected = sum(distance(y, f) for y, _ in pairs for _, f in pairs)
    return float(1 - observed / expected) if expected else NAN


def test_it_reproduces_the_published_concordance_of_two_flow_meters() -> None:
    assert concordance(WRIGHT, MINI) == pytest.approx(0.943, abs=5e-4)


def test_it_is_quadratic_kappa_if_values_are_steps() -> None:
    rng = np.random.default_rng(1)
    human = rng.integers(0, 5, size=300)
    judge = np.clip(human + rng.integers(-2, 3, size=300), 0, 4)

    assert concordance(human, judge) == pytest.approx(
        cohen_kappa_score(human, judge, weights="quadratic"), abs=1e-12
    )
    assert concordance(human, judge) == pytest.approx(
        cohen_kappa(human, judge, weights="quadratic"), abs=1e-12
    )


@pytest.mark.parametrize("level", ["ordinal", "nominal"])
@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from([0.0, 1.0, 2.0, 4.0, NAN]) for _ in range(4)]),
        min_size=1,
        max_size=12,
    )
)
def test_it_equals_the_definition_in_exact_numbers(
    rows: list[tuple[float, ...]], level: Level
) -> None:
    ratings, scores = [list(row[:3]) for row in rows], [row[3] for row in rows]
    other = [2.0 if not math.isnan(score) else NAN for score in scores]
    actual = agreement_gain(ratings, scores, other, level=level)

    expected = literal(ratings, scores, nominal=level == "nominal")
    assert actual.candidate.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    if level == "ordinal":
        assert concordance(ratings, scores) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("level", ["ordinal", "nominal"])
@pytest.mark.parametrize("seed", range(3))
def test_ordered_pairs_of_raters_are_those_that_can_be_enumerated(seed: int, level: Level) -> None:
    rng = np.random.default_rng(seed)
    ratings, scores = rng.uniform(1, 5, (12, 4)).round(), rng.uniform(1, 5, 12).round()
    ratings[rng.random(ratings.shape) < 0.4] = NAN
    scores[:2] = NAN
    between, judged = rater_pair_sums(*rating_entries(ratings), scores, level=level)
    pairs = [
        (one, other, score)
        for row, score in zip(ratings.tolist(), scores.tolist(), strict=True)
        for one, other in itertools.permutations(row, 2)
        if not math.isnan(one + other + score)
    ]
    nominal = level == "nominal"

    assert between[:, 0].sum() == judged[:, 0].sum() == len(pairs) > 0
    assert figure(between.sum(axis=0)) == pytest.approx(
        literal_of([(one, other) for one, other, _ in pairs], nominal=nominal)
    )
    assert figure(judged.sum(axis=0)) == pytest.approx(
        literal_of([(one, score) for one, _, score in pairs], nominal=nominal)
    )


def test_a_constant_score_has_no_agreement_beyond_chance() -> None:
    assert concordance([[1.0, 2.0], [4.0, 5.0], [3.0, NAN]], [3, 3, 3]) == 0
    assert concordance([0.1, 0.7, 0.4], [0.3, 0.3, 0.3]) == pytest.approx(0, abs=1e-12)


def test_it_does_not_depend_on_where_the_scale_begins() -> None:
    human, judge = np.array([1.0, 2, 2, 5]), np.array([1.0, 3, 2, 4])

    assert concordance(human + 1e9, judge + 1e9) == concordance(human, judge)


@pytest.mark.parametrize(
    ("reference", "scores"),
    [([], []), ([NAN, 1.0], [1.0, NAN]), ([2.0, 2.0], [2.0, 2.0]), ([[NAN, NAN]], [1.0])],
)
def test_it_is_undefined_without_pairs_and_without_any_difference(
    reference: list[float], scores: list[float]
) -> None:
    assert math.isnan(concordance(reference, scores))


@pytest.mark.parametrize(
    ("reference", "scores", "message"),
    [
        ([1.0, 2.0], [1.0], r"one value for each of the 2 units, got \(1,\)"),
        ([1.0, 2.0], [1.0, math.inf], "scores must be finite"),
        ([1.0, math.inf], [1.0, 1.0], "finite"),
    ],
)
def test_what_it_cannot_compare_is_refused(
    reference: list[float], scores: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        concordance(reference, scores)


def test_the_gain_is_measured_on_units_that_both_judges_scored() -> None:
    people = [[1, 1], [2, 3], [4, 4], [5, 4], [1, 5]]
    candidate, baseline = [1, 3, 4, 5, NAN], [2, 2, 3, 3, 1]
    result = agreement_gain(people, candidate, baseline, level="ordinal")

    assert result.n_units == 4
    assert result.candidate.value == concordance(people[:4], candidate[:4])
    assert result.baseline.value == concordance(people[:4], baseline[:4])
    assert result.gain.value == result.candidate.value - result.baseline.value


def test_the_error_of_the_gain_leaves_out_whole_groups() -> None:
    rng = np.random.default_rng(2)
    groups = np.repeat(["a", "b", "c", "d", "e"], 4)
    people = rng.integers(1, 6, size=(20, 3)).astype(float)
    new, old = rng.integers(1, 6, size=(2, 20)).astype(float)
    result = agreement_gain(people, new, old, level="ordinal", groups=groups)

    deleted = np.array(
        [
            concordance(people[groups != g], new[groups != g])
            - concordance(people[groups != g], old[groups != g])
            for g in "abcde"
        ]
    )
    assert result.gain.n_groups == 5
    assert result.gain.standard_error == pytest.approx(
        math.sqrt(4 / 5 * ((deleted - deleted.mean()) ** 2).sum()), rel=1e-12
    )


def test_groups_whose_scores_change_are_counted_once() -> None:
    people, old = [[1, 2]] * 6, [1.0, 1, 1, 1, 1, 1]
    result = agreement_gain(
        people, [1, 2, 2, 1, 1, 1], old, level="ordinal", groups=["a", "a", "a", "b", "b", "b"]
    )

    assert result.n_changed == 1


def test_groups_have_one_error_whatever_they_are_called() -> None:
    people, old, new = (
        [[1, 2], [3, 3], [2, 2], [4, 5], [1, 1]],
        [1.0, 3, 3, 4, 1],
        [1.0, 3, 2, 4, 1],
    )
    named = [
        agreement_gain(people, new, old, level="ordinal", groups=np.array(groups, dtype=kind)).gain
        for groups, kind in (
            ([7, 2, 7, 5, 2], np.int64),
            (["7", "2", "7", "5", "2"], np.str_),
            (["7", "2", "7", "5", "2"], object),
        )
    ]

    assert named[0] == named[1] == named[2]
    assert named[0].n_groups == 3


def test_groups_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="groups must name one"):
        agreement_gain([[1, 2]], [1], [2], level="ordinal", groups=["a", "b"])


def test_classes_without_order_give_cohens_kappa() -> None:
    rng = np.random.default_rng(3)
    human = rng.integers(0, 4, size=200)
    judge = np.where(rng.random(200) < 0.6, human, rng.integers(0, 4, size=200))
    result = agreement_gain(human[:, np.newaxis], judge, judge, level="nominal")

    assert result.candidate.value == pytest.approx(cohen_kappa_score(human, judge), abs=1e-12)
    assert (result.gain.value, result.n_changed) == (0, 0)
