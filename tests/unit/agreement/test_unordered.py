"""Questions whose values have no order: their order in evaluation.yaml changes nothing."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.judges import measure_leave_one_judge_out
from eval_assets.agreement.ratings import LongRatings
from eval_assets.agreement.slices import measure_slices
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5, Level, Scale
from eval_assets.stats import (
    human_agreement,
    judge_human_agreement,
    judge_human_profile,
    krippendorff_alpha,
    overall_profile,
)

ORDERS = list(itertools.permutations(range(4)))
TONES = RubricQuestion("tone", "Which tone?", Scale.from_steps(low=0, high=3), "nominal")
CLEAR = RubricQuestion("clear", "Is it clear?", LIKERT5, "ordinal")


def classes() -> np.ndarray:
    """Return 60 responses x 3 raters and a judge, who mostly see the same of four classes."""
    rng = np.random.default_rng(4)
    truth = rng.choice(4, size=60, p=[0.4, 0.3, 0.2, 0.1])
    ratings = np.where(rng.random((60, 4)) < 0.8, truth[:, None], rng.integers(0, 4, (60, 4)))
    return ratings.astype(float)


def test_order_of_classes_changes_no_figure_of_humans() -> None:
    ratings = classes()[:, :3]
    profiles = [
        overall_profile([(np.array(order)[ratings.astype(int)], TONES.scale)], confidence=0.95)
        for order in ORDERS
    ]

    for profile in profiles:
        for name in ("a_hh", "alpha", "alpha_within"):
            figure, first = getattr(profile, name), getattr(profiles[0], name)
            assert (figure.value, figure.low, figure.high) == pytest.approx(
                (first.value, first.low, first.high), abs=1e-12
            )
        assert profile.a_hh_by_chance == pytest.approx(profiles[0].a_hh_by_chance, abs=1e-12)
        assert profile.n_ratings == 180


def test_one_unordered_question_has_its_nominal_alpha_overall() -> None:
    ratings = classes()[:, :3]
    profile = overall_profile([(ratings, TONES.scale)], confidence=0.95)
    pairs = [
        np.mean([a == b for a, b in itertools.combinations(row, 2)]) for row in ratings.tolist()
    ]

    assert profile.alpha.value == pytest.approx(krippendorff_alpha(ratings, level="nominal"))
    assert profile.alpha_within.value == pytest.approx(profile.alpha.value)
    assert profile.a_hh.value == pytest.approx(np.mean(pairs))
    assert human_agreement(ratings, scale=TONES.scale) == pytest.approx(np.mean(pairs))


def test_a_mixed_rubric_has_the_mean_of_its_questions_alphas() -> None:
    ratings = classes()[:, :3]
    points = np.clip(ratings + 1 + np.random.default_rng(1).integers(0, 2, ratings.shape), 1, 5)
    profile = overall_profile([(ratings, TONES.scale), (points, CLEAR.scale)], confidence=0.95)

    of_classes = krippendorff_alpha(ratings, level="nominal")
    of_points = krippendorff_alpha(points, level="interval")
    assert profile.alpha.value == pytest.approx((of_classes + of_points) / 2)
    assert profile.alpha.low < profile.alpha.value < profile.alpha.high


def test_an_unordered_question_without_variation_is_left_out_of_the_mean() -> None:
    points = classes()[:, :3] + 1
    profile = overall_profile(
        [(np.ones_like(points), TONES.scale), (points, CLEAR.scale)], confidence=0.95
    )

    assert profile.alpha.value == pytest.approx(krippendorff_alpha(points, level="interval"))


def test_order_of_classes_changes_no_figure_of_a_judge() -> None:
    ratings = classes()
    figures = []
    for order in ORDERS:
        coded = np.array(order)[ratings.astype(int)].astype(float)
        profile = judge_human_profile(
            coded[:, :3],
            coded[:, 3],
            scale=TONES.scale,
            level="nominal",
            confidence=0.95,
            groups=np.arange(len(coded)) // 4,
        )
        assert profile.a_ha.value == pytest.approx(
            judge_human_agreement(coded[:, :3], coded[:, 3], scale=TONES.scale)
        )
        of_judge = (profile.a_ha, profile.exact_agreement)
        figures.append([number for f in of_judge for number in (f.value, f.low, f.high)])

    assert np.ptp(np.array(figures), axis=0) == pytest.approx(0, abs=1e-9)


def long(matrix: np.ndarray) -> LongRatings:
    unit, rater = np.nonzero(~np.isnan(matrix))
    raters = tuple(f"r{index}" for index in range(matrix.shape[1]))
    return LongRatings(unit, rater, matrix[unit, rater], raters, np.arange(len(matrix)))


@pytest.mark.parametrize("rubric", [(TONES,), (TONES, CLEAR), (CLEAR, TONES)])
def test_slices_and_judges_left_out_measure_what_the_gates_measure(
    rubric: tuple[RubricQuestion, ...],
) -> None:
    ratings = {"tone": classes(), "clear": np.clip(classes() + 1, 1, 5)}
    ratings["clear"][::7, 2] = np.nan
    rated = [(question, long(ratings[question.id])) for question in rubric]
    overall = overall_profile(
        [(ratings[question.id], question.scale) for question in rubric], confidence=0.95
    )
    rows = measure_slices("human", rated, (np.zeros(60, np.int64), ["m"]), {})
    is_overall = rows["model_name"].isna() & rows["question_id"].isna()
    evaluation = Evaluation(
        name="n",
        folder=Path(),
        rubric=rubric,
        judges=tuple(Judge(f"r{index}", "openai", f"m{index}") for index in range(4)),
    )
    figures = measure_leave_one_judge_out(
        {question.id: of_question for question, of_question in rated}, evaluation, data_version="v"
    )

    assert rows[is_overall]["alpha"].to_numpy() == pytest.approx(overall.alpha.value)
    assert figures[0].alpha == pytest.approx(overall.alpha.value)
    by_question = rows[rows["question_id"].notna() & rows["model_name"].isna()]
    for question in rubric:
        level: Level = "interval" if question.has_order else "nominal"
        [alpha] = by_question[by_question["question_id"] == question.id]["alpha"]
        assert alpha == pytest.approx(krippendorff_alpha(ratings[question.id], level=level))
        assert alpha_levels(evaluation, "judge")[question.id] == level


def test_two_classes_keep_the_figures_of_an_order() -> None:
    question = RubricQuestion("q", "Is it?", Scale.from_steps(low=0, high=1), "nominal")

    assert question.scale.has_order
    assert math.isclose(human_agreement([[0, 1], [1, 1]], scale=question.scale), 0.5)


def test_slices_without_a_rating_have_no_rows() -> None:
    empty = long(np.full((5, 2), np.nan))
    models = (np.zeros(5, np.int64), ["m"])

    assert measure_slices("judge", [(CLEAR, empty)], models, {}).empty
    assert measure_slices("judge", [(TONES, empty), (CLEAR, empty)], models, {}).empty
