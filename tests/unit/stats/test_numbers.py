"""Inputs as data scientists hold them, and when two numbers are one value."""

import math
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import (
    GwetAC,
    PairwiseAgreement,
    Ratings,
    agreement_profile,
    coefficient_interval,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    human_agreement,
    judge_human_agreement,
    judge_human_profile,
    krippendorff_alpha,
    pairwise_agreement,
    spearman,
)
from eval_assets.stats._numbers import (
    category_index,
    distinct_integers,
    distinct_values,
    group_codes,
    require_on_scale,
    row_blocks,
    run_starts,
    two_columns,
)

NAN = math.nan
ROWS: list[list[int | None]] = [[1, 2, None], [4, 4, 5], [3, None, 3], [2, 2, 1]]
MATRIX = np.array(ROWS, dtype=float)

GIVEN = {
    "lists with None": ROWS,
    "tuples with NaN": tuple(tuple(NAN if x is None else x for x in row) for row in ROWS),
    "decimals": [[None if x is None else Decimal(x) for x in row] for row in ROWS],
    "objects": np.array(ROWS, dtype=object),
    "single precision": MATRIX.astype(np.float32),
    "masked": np.ma.masked_invalid(MATRIX),
    "frame": pd.DataFrame(MATRIX),
    "frame of nullable integers": pd.DataFrame(ROWS).astype("Int64"),
    "frame of nullable floats": pd.DataFrame(ROWS).astype("Float64"),
    "frame with NA among objects": pd.DataFrame(ROWS).astype(object).fillna(pd.NA),
    "frame named by raters": pd.DataFrame(
        MATRIX, columns=["ann", "ben", "cleo"], index=list("wxyz")
    ),
}


@pytest.mark.parametrize("ratings", GIVEN.values(), ids=GIVEN)
def test_ratings_are_accepted_as_people_hold_them(ratings: Ratings) -> None:
    assert krippendorff_alpha(ratings, level="ordinal") == krippendorff_alpha(
        MATRIX, level="ordinal"
    )
    assert human_agreement(ratings, scale=LIKERT5) == human_agreement(MATRIX, low=1, high=5)
    assert agreement_profile(
        ratings, scale=LIKERT5, level="ordinal", confidence=0.95, groups=pd.Series(list("aabb"))
    ) == agreement_profile(
        MATRIX, scale=LIKERT5, level="ordinal", confidence=0.95, groups=[0, 0, 1, 1]
    )


def test_columns_are_accepted_as_people_hold_them() -> None:
    judge = pd.Series([1, 4, pd.NA, 2], dtype="Int64")
    expected = judge_human_agreement(MATRIX, [1, 4, NAN, 2], scale=LIKERT5)
    assert judge_human_agreement(pd.DataFrame(ROWS), judge, low=1, high=5) == expected
    assert math.isnan(spearman(pd.Series([1, 2]), [2, None]))
    actual = judge_human_profile(
        pd.DataFrame(ROWS), judge, scale=LIKERT5, level="ordinal", confidence=0.95
    )
    assert actual.a_ha.value == expected


NAMES = np.array(
    [["yes", "no", None], ["no", "no", "no"], ["yes", None, "yes"], ["no", "yes", "?"]]
)
CODES = np.array([[2, 1, NAN], [1, 1, 1], [2, NAN, 2], [1, 2, 0]])


@pytest.mark.parametrize(
    "names",
    [NAMES, NAMES.tolist(), pd.DataFrame(NAMES), pd.DataFrame(NAMES, dtype="string"),
     pd.DataFrame(NAMES).astype("category"), [[NAN if x is None else x for x in r] for r in NAMES]],
    ids=["array", "lists", "frame", "frame of strings", "frame of categories", "lists with NaN"],
)  # fmt: skip
def test_labels_may_be_text_at_the_nominal_level(names: Ratings) -> None:
    assert krippendorff_alpha(names, level="nominal") == krippendorff_alpha(CODES, level="nominal")
    assert fleiss_kappa(names) == fleiss_kappa(CODES)
    assert pairwise_agreement(names, within=0) == pairwise_agreement(CODES, within=0)
    assert gwet_ac(names, weights=None, categories=["yes", "no", "?", "maybe"]) == gwet_ac(
        CODES, weights=None, categories=[0, 1, 2, 3]
    )
    for coefficient in (GwetAC(None), PairwiseAgreement(within=0)):
        assert coefficient_interval(names, coefficient, confidence=0.95) == coefficient_interval(
            CODES, coefficient, confidence=0.95
        )


def test_two_columns_of_text_share_their_labels() -> None:
    a, b = ["no", "yes", "yes", "no", None], ["no", "no", "yes", "no", "yes"]
    assert cohen_kappa(a, b, weights=None) == cohen_kappa(
        [0, 1, 1, 0, NAN], [0, 0, 1, 0, 1], weights=None
    )


def test_what_is_neither_a_number_nor_allowed_text_is_refused() -> None:
    with pytest.raises(ValueError, match="must be numbers unless the level is nominal, got 'yes'"):
        krippendorff_alpha([["yes", "no"]], level="ordinal")
    with pytest.raises(ValueError, match="must be numbers unless the level is nominal"):
        cohen_kappa(["a"], ["b"], weights="linear")
    with pytest.raises(ValueError, match="must be all text or all numbers, got both"):
        krippendorff_alpha([["yes", 1]], level="nominal")
    with pytest.raises(ValueError, match="ratings must be numbers, got "):
        krippendorff_alpha([[{}, 1]], level="interval")
    with pytest.raises(ValueError, match="must be numbers, got "):
        krippendorff_alpha(pd.DataFrame({"a": pd.to_datetime(["2026-01-01"])}), level="interval")
    with pytest.raises(ValueError, match="ratings must have equally many values in each row"):
        krippendorff_alpha([[1, 2], [1]], level="interval")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: krippendorff_alpha([[1, 2]], level="Ordinal"),  # type: ignore[arg-type]
            "level must be one of 'nominal', 'ordinal', 'interval', 'ratio', got 'Ordinal'",
        ),
        (
            lambda: gwet_ac([[1, 2]], weights="squared"),  # type: ignore[arg-type]
            "weights must be one of None, 'linear', 'quadratic', 'ordinal', got 'squared'",
        ),
        (
            lambda: cohen_kappa([1], [2], weights="ordinal"),  # type: ignore[arg-type]
            "weights must be one of None, 'linear', 'quadratic', got 'ordinal'",
        ),
        (
            lambda: agreement_profile([[1, 2]], scale=LIKERT5, level="likert", confidence=0.9),  # type: ignore[arg-type]
            "level must be one of",
        ),
        (
            lambda: judge_human_profile([[1]], [1], scale=LIKERT5, level="", confidence=0.9),  # type: ignore[arg-type]
            "level must be one of",
        ),
        (lambda: pairwise_agreement([[1, 2]], within=-1), "within must be at least 0, got -1"),
        (lambda: human_agreement([[1, 2]]), "give either scale, or low and high"),
        (lambda: human_agreement([[1, 2]], low=1), "give either scale, or low and high"),
        (
            lambda: human_agreement([[1, 2]], scale=LIKERT5, low=1, high=5),
            "give either scale, or low and high",
        ),
    ],
)
def test_the_error_for_an_unknown_word_or_a_wrong_argument_names_what_is_allowed(
    call: "object", message: str
) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


# the float noise of .1 + .2, and of a mean of three tenths
NOISY = np.array([[0.1 + 0.2, 0.3], [0.7, 0.7], [0.2 + 0.2 + 0.2, 0.6], [0.1, 0.3]])
CLEAN = np.array([[0.3, 0.3], [0.7, 0.7], [0.6, 0.6], [0.1, 0.3]])


def test_float_noise_is_no_difference_in_any_coefficient() -> None:
    assert NOISY[0, 0] != 0.3
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert krippendorff_alpha(NOISY, level=level) == krippendorff_alpha(CLEAN, level=level)
    assert fleiss_kappa(NOISY) == fleiss_kappa(CLEAN)
    assert gwet_ac(NOISY, weights=None) == gwet_ac(CLEAN, weights=None)
    assert cohen_kappa(*NOISY.T, weights=None) == cohen_kappa(*CLEAN.T, weights=None)
    assert pairwise_agreement(NOISY, within=0) == pairwise_agreement(CLEAN, within=0)
    tenths = Scale.from_steps(low=0, high=1, step=0.1)
    assert agreement_profile(
        NOISY, scale=tenths, level="ordinal", confidence=0.95
    ) == agreement_profile(CLEAN, scale=tenths, level="ordinal", confidence=0.95)
    groups = [1, 1, 2, 2]  # agreement within groups is undefined without
    assert judge_human_profile(
        NOISY, CLEAN[:, 1], scale=tenths, level="ordinal", confidence=0.95, groups=groups
    ) == judge_human_profile(
        CLEAN, NOISY[:, 1], scale=tenths, level="ordinal", confidence=0.95, groups=groups
    )


def test_a_rating_is_the_declared_value_it_was_written_for() -> None:
    """Thirds written with ten digits are on the scale, and equal to thirds written with sixteen."""
    thirds = Scale(0, 1, (0, 1 / 3, 2 / 3, 1))
    written = [[0.3333333333, 1 / 3], [0.6666666667, 2 / 3], [0, 0.3333333333]]
    profile = agreement_profile(written, scale=thirds, level="ordinal", confidence=0.95)
    assert profile.exact_agreement.value == pytest.approx(2 / 3)
    assert profile == agreement_profile(
        [[1 / 3, 1 / 3], [2 / 3, 2 / 3], [0, 1 / 3]], scale=thirds, level="ordinal", confidence=0.95
    )


@pytest.mark.parametrize("origin", [0.0, 1e9, -1e9, 1e12])
def test_neighbours_at_large_magnitudes_stay_apart(origin: float) -> None:
    rng = np.random.default_rng(1)
    steps = np.clip(rng.integers(0, 5, (40, 1)) + rng.integers(-1, 2, (40, 3)), 0, 4)
    far: npt.NDArray[np.float64] = origin + steps
    for weights in (None, "linear", "quadratic", "ordinal"):
        expected = gwet_ac(steps, weights=weights, categories=range(5))
        actual = gwet_ac(far, weights=weights, categories=origin + np.arange(5))
        assert actual == pytest.approx(expected, abs=1e-12)
    assert pairwise_agreement(far, within=1) == pairwise_agreement(steps, within=1)
    assert krippendorff_alpha(far, level="nominal") == krippendorff_alpha(steps, level="nominal")


@pytest.mark.parametrize("unit", [1e-5, 1e-12, 1e-17, 1e-100])
def test_values_however_small_stay_apart(unit: float) -> None:
    ratings = np.array([[0, 4], [1, 1], [3, 2]])
    for level in ("nominal", "ordinal", "interval", "ratio"):
        result = krippendorff_alpha(unit * ratings, level=level)
        assert result == pytest.approx(krippendorff_alpha(ratings, level=level))
    assert human_agreement(unit * ratings, low=0, high=4 * unit) == pytest.approx(7 / 12)
    assert gwet_ac(
        unit * ratings, weights="linear", categories=unit * np.arange(5)
    ) == pytest.approx(gwet_ac(ratings, weights="linear", categories=range(5)))


def test_whole_numbers_have_no_float_noise() -> None:
    large = 2.0**51 + np.arange(3)
    assert distinct_values(large.astype(np.float64))[0].tolist() == large.tolist()
    too_large = np.array([1, 2.0**53, 2.0**53 + 2])
    assert distinct_values(too_large)[0].tolist() == [1, 2.0**53]
    assert distinct_values(np.array([0.3, 0.1 + 0.2, 0.4]))[0].tolist() == [0.3, 0.4]


@pytest.mark.parametrize(
    "values", [[3, 1, 1, 4], [-2, 5, -2], [10**12, -7, 10**12], [7], []], ids=str
)
def test_distinct_integers_ascend_with_the_place_of_each_value(values: list[int]) -> None:
    distinct, index = distinct_integers(np.array(values, np.int64))

    assert distinct.tolist() == sorted(set(values))
    assert distinct[index].tolist() == values


def test_runs_of_equal_codes_start_where_the_code_changes() -> None:
    assert run_starts(np.array([0, 0, 1, 1, 1, 4])).tolist() == [0, 2, 5]
    assert run_starts(np.array([3])).tolist() == [0]
    assert run_starts(np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "expected"),
    [
        (5, 3, [(0, 2), (2, 4), (4, 5)]),
        (4, 6, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        (3, 60, [(0, 1), (1, 2), (2, 3)]),
        (5, 0, [(0, 5)]),
        (0, 3, []),
    ],
)
def test_rows_are_split_into_blocks_of_at_most_six_entries_or_one_row(
    n_rows: int, n_columns: int, expected: list[tuple[int, int]]
) -> None:
    blocks = row_blocks(n_rows, n_columns=n_columns, n_entries=6)

    assert [(rows.start, rows.stop) for rows in blocks] == expected


@pytest.mark.parametrize("scale", [Scale(1, 5), Scale(-5, -1), Scale(1e9, 1e9 + 4)])
def test_ratings_may_miss_the_ends_of_a_scale_by_float_noise_only(scale: Scale) -> None:
    require_on_scale(np.array([[scale.low, np.nan, scale.high]]), scale)
    noise = 4e-9 if scale.high < 1e9 else 1e-5
    require_on_scale(np.array([scale.low - noise / 2, scale.high + noise / 2]), scale)
    for value in (scale.low - 2 * noise, scale.high + 2 * noise):
        with pytest.raises(ValueError, match="ratings must lie in"):
            require_on_scale(np.array([scale.low, value]), scale)


@pytest.mark.parametrize(
    "columns", [([[1, 2]], [[1, 2]]), ([1, 2], [1]), ([1], [1, 2]), (1, 1)], ids=str
)
def test_two_columns_have_one_value_per_unit(columns: tuple[object, object]) -> None:
    with pytest.raises(ValueError, match="both columns must have one value per unit"):
        spearman(*columns)  # type: ignore[arg-type]


def test_two_columns_are_those_of_the_rows_that_hold_both() -> None:
    one, other, is_known = two_columns(np.array([[1, NAN], [NAN, 2], [3, 4], [NAN, NAN]]))

    assert (one.tolist(), other.tolist()) == ([3], [4])
    assert is_known.tolist() == [False, False, True, False]


def test_large_categories_are_missed_by_more_float_noise() -> None:
    categories = 1e9 + np.arange(5.0)
    assert category_index(categories + 5e-6, categories).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="ratings must be categories"):
        category_index(np.array([5e-6]), np.arange(5.0))


def test_a_category_is_missed_by_float_noise_at_most() -> None:
    tenths = np.arange(11) / 10
    assert category_index(np.array([0.1 + 0.2, 0.0, 1.0]), tenths).tolist() == [3, 0, 10]
    with pytest.raises(ValueError, match=r"ratings must be categories, got 0.3001"):
        category_index(np.array([0.3001]), tenths)
    with pytest.raises(ValueError, match=r"ratings must be categories, got 1"):
        category_index(np.array([1.0]), np.empty(0))


def test_groups_are_numbered_as_they_appear_whatever_their_labels() -> None:
    for groups in (["b", "a", "b"], [2.5, 1, 2.5], pd.Series(["z", "y", "z"])):
        codes = group_codes(groups, n_units=3)
        assert codes is not None
        assert codes.tolist() == [0, 1, 0]
    assert group_codes(None, n_units=3) is None
    for missing in ([1, NAN], ["a", None], pd.Series([1, pd.NA], dtype="Int64")):
        with pytest.raises(ValueError, match="a group for each unit, got a missing one"):
            group_codes(missing, n_units=2)


@pytest.mark.parametrize(("origin", "off"), [(1e9, 0.2), (1e15, 0.375)])
def test_what_lies_between_large_categories_is_none_of_them(origin: float, off: float) -> None:
    """However large they are, float noise is at most a quarter of a step."""
    categories = origin + np.arange(5.0)
    with pytest.raises(ValueError, match="ratings must be categories"):
        category_index(np.array([origin + off]), categories)
