"""Agreement on parts of the responses is that of these responses alone."""

import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.ratings import LongRatings
from eval_assets.agreement.slices import Coded, measure_slices
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RaterKind
from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import krippendorff_alpha

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
SAFETY = RubricQuestion("safety", "Is it safe?", BINARY, "nominal")
N = 24


def rated(seed: int, low: int, high: int) -> LongRatings:
    """Three raters near a common value, on 24 responses; every seventh rating is missing."""
    rng = np.random.default_rng(seed)
    common = rng.integers(low, high + 1, N)
    values = np.clip(common[:, None] + rng.integers(-1, 2, (N, 3)), low, high).astype(np.float64)
    unit, rater = np.divmod(np.flatnonzero(np.arange(3 * N) % 7), 3)
    return LongRatings(unit, rater, values[unit, rater], ("r1", "r2", "r3"), np.arange(N))


RATED = [(CLARITY, rated(1, 1, 5)), (SAFETY, rated(2, 0, 1))]
MODELS = np.array(["m1", "m2", None] * 8, dtype=object)
SLICES = {
    "difficulty": np.array(["easy"] * 10 + ["hard"] * 10 + [None] * 4, dtype=object),
    "prompt_id": np.array([f"p{k // 4}" for k in range(N)], dtype=object),
}


def coded(values: np.ndarray) -> Coded:
    codes, names = pd.factorize(values)
    return codes, list(names)


def measured(kind: RaterKind, rated: list[tuple[RubricQuestion, LongRatings]]) -> pd.DataFrame:
    slices = {name: coded(values) for name, values in SLICES.items()}
    return measure_slices(kind, rated, coded(MODELS), slices)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """All rows of the ratings above."""
    return measured("judge", RATED)


def row_of(rows: pd.DataFrame, **cells: str | None) -> pd.Series:
    """Return the one row with these cells; None stands for NULL."""
    for column in ("slice_value", "model_name", "question_id"):
        inputs = cells.get(column)
        rows = rows[rows[column].isna() if inputs is None else rows[column] == inputs]
    [result] = [row for _, row in rows[rows["slice"] == cells["slice"]].iterrows()]
    return result


def by_hand(is_in: np.ndarray, *questions: int) -> tuple[float, float, float]:
    """Alpha, mean and spread of the units of these responses, from their matrices."""
    matrices = [RATED[q][1].matrix()[is_in] / (4, 1)[q] - (0.25, 0)[q] for q in questions]
    units = np.concatenate(matrices)
    means = np.nanmean(units[~np.isnan(units).all(axis=1)], axis=1)
    return krippendorff_alpha(units, level="interval"), means.mean(), means.std()


@pytest.mark.parametrize(
    ("cells", "is_in", "questions"),
    [
        ({"slice": "all"}, np.full(N, fill_value=True), (0, 1)),
        ({"slice": "all", "model_name": "m2"}, MODELS == "m2", (0, 1)),
        ({"slice": "all", "question_id": "safety"}, np.full(N, fill_value=True), (1,)),
        (
            {"slice": "difficulty", "slice_value": "hard", "question_id": "clarity"},
            SLICES["difficulty"] == "hard",
            (0,),
        ),
        (
            {
                "slice": "difficulty",
                "slice_value": "easy",
                "question_id": "clarity",
                "model_name": "m1",
            },
            (SLICES["difficulty"] == "easy") & (MODELS == "m1"),
            (0,),
        ),
        (
            {"slice": "prompt_id", "slice_value": "p3", "model_name": "m1"},
            (SLICES["prompt_id"] == "p3") & (MODELS == "m1"),
            (0, 1),
        ),
    ],
)
def test_a_slice_has_the_agreement_of_its_responses(
    rows: pd.DataFrame, cells: dict[str, str], is_in: np.ndarray, questions: tuple[int, ...]
) -> None:
    row = row_of(rows, **cells)

    assert (row["alpha"], row["mean"], row["spread"]) == pytest.approx(by_hand(is_in, *questions))
    inputs = np.concatenate([RATED[q][1].unit for q in questions])
    assert row["n_responses"] == len(np.unique(inputs[is_in[inputs]]))
    assert row["rater_kind"] == "judge"


def test_a_nominal_question_that_nobody_rated_has_no_row() -> None:
    question = RubricQuestion("kind", "Which?", Scale.from_words("b", "a"), "nominal")
    nobody = LongRatings(*(field[:0] for field in vars(RATED[0][1]).values()))

    assert measured("judge", [(question, nobody)]).empty


def test_prompts_are_measured_on_all_questions_together(rows: pd.DataFrame) -> None:
    assert rows[rows["slice"] == "prompt_id"]["question_id"].isna().all()


def test_responses_without_a_value_or_model_are_in_no_row_of_it(rows: pd.DataFrame) -> None:
    assert set(rows[rows["slice"] == "difficulty"]["slice_value"]) == {"easy", "hard"}
    assert set(rows["model_name"].dropna()) == {"m1", "m2"}


def test_a_part_in_which_nobody_shares_a_unit_has_no_row() -> None:
    alone = LongRatings(
        np.arange(N), np.arange(N) % 3, np.ones(N), ("r1", "r2", "r3"), np.arange(N)
    )

    assert measured("human", [(CLARITY, alone)]).empty


def test_a_low_alpha_on_scores_that_hardly_vary_is_called_unstable() -> None:
    """Two judges between .75 and .80 on [0, 1], unrelated: nothing to revise a prompt for."""
    rng = np.random.default_rng(3)
    unit, judge = np.divmod(np.arange(2 * N), 2)
    near = LongRatings(unit, judge, rng.uniform(4.0, 4.2, 2 * N), ("j1", "j2"), np.arange(N))
    rows = measured("judge", [(CLARITY, near)])

    row = row_of(rows, slice="all")
    assert abs(row["alpha"]) < 0.3
    assert row["interpretation"] == "unstable"


def test_equal_scores_have_no_alpha_whatever_their_value() -> None:
    """A tenth has no exact float, and its sums differ from their product by noise."""
    tenths = RubricQuestion("q", "?", Scale(low=0, high=1), "interval")
    unit, judge = np.divmod(np.arange(3 * N), 3)
    equal = LongRatings(unit, judge, np.full(3 * N, 0.1), ("a", "b", "c"), np.arange(N))

    assert measured("judge", [(tenths, equal)])["alpha"].isna().all()


def test_units_rated_once_count_in_means_and_not_in_alpha() -> None:
    """Two units rated twice; the third, rated once, is far from both."""
    unit, judge = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0])
    value = np.array([1.0, 2.0, 4.0, 4.0, 5.0])
    inputs = LongRatings(unit, judge, value, ("a", "b"), np.arange(N))
    actual = measured("judge", [(CLARITY, inputs)])
    actual = actual[actual["slice"] == "all"]
    [row] = [row for _, row in actual.iterrows() if pd.isna(row["question_id"])]

    expected = krippendorff_alpha([[1, 2], [4, 4]], level="interval")
    assert row["alpha"] == pytest.approx(expected)
    assert row["mean"] == pytest.approx((0.125 + 0.75 + 1) / 3)
    assert (row["n_responses"], row["n_units"]) == (3, 2)


def test_a_part_with_a_single_unit_rated_twice_has_no_row() -> None:
    inputs = LongRatings(
        np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1.0, 5, 3]), ("a", "b"), np.arange(N)
    )

    assert measured("judge", [(CLARITY, inputs)]).empty


def test_prompts_with_one_response_each_are_no_slice() -> None:
    prompts = {"prompt_id": coded(np.array([f"p{k}" for k in range(N)], dtype=object))}
    rows = measure_slices("judge", RATED, coded(MODELS), prompts)

    assert set(rows["slice"]) == {"all"}
