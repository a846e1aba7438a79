import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.planning import (
    GatePlan,
    Outlook,
    figure_by,
    plan_gate,
    plan_gates,
    responses_to_show,
)
from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    Interval,
    RatingPatterns,
    coefficient_interval,
    overall_profile,
)


def plan(
    ratings: object,
    *,
    minimum: float = 0.667,
    n_more: tuple[int, ...] = (20, 80),
    groups: np.ndarray | None = None,
) -> GatePlan:
    return plan_gate(
        np.asarray(ratings, dtype=float)[:, None],
        figure_by(Alpha("ordinal")),
        groups=np.arange(len(np.asarray(ratings))) if groups is None else groups,
        question_id="clarity",
        gate="human_alpha",
        minimum=minimum,
        n_more=n_more,
        n_simulations=60,
        rng=np.random.default_rng(3),
    )


def noisy(n: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, n)
    return np.clip(np.round(truth[:, None] + noise * rng.normal(size=(n, 2))), 1, 5)


def test_more_labels_make_the_interval_narrower() -> None:
    result = plan(noisy(30, 0.9))

    few, many = result.outlooks
    assert result.now.high - result.now.low > few.width > many.width > 0


def test_the_width_shrinks_as_the_root_of_the_number() -> None:
    ratings = noisy(160, 0.9)
    result = plan(ratings, n_more=(480,), minimum=plan(ratings, n_more=()).now.value)

    assert result.outlooks[0].width == pytest.approx(
        (result.now.high - result.now.low) / 2, rel=0.25
    )


def test_a_verdict_near_the_minimum_stays_uncertain_and_one_far_from_it_is_certain() -> None:
    ratings = noisy(60, 0.9)
    value = plan(ratings, n_more=()).now.value

    near, far = plan(ratings, minimum=value), plan(ratings, minimum=value - 0.5)

    assert not near.is_certain
    assert near.outlooks[0].p_certain < 0.6
    assert far.is_certain
    assert far.outlooks[0].p_certain == far.outlooks[0].p_pass == 1


def test_few_labels_promise_less_than_many() -> None:
    ratings = noisy(200, 0.9)
    minimum = plan(ratings, n_more=()).now.value - 0.1

    few, many = plan(ratings[:10], minimum=minimum), plan(ratings, minimum=minimum)

    assert few.outlooks[1].p_certain < many.outlooks[1].p_certain


def test_few_labels_leave_the_probability_open() -> None:
    ratings = noisy(200, 0.9)
    minimum = plan(ratings, n_more=()).now.value - 0.05
    few, many = plan(ratings[:12], minimum=minimum), plan(noisy(200, 0.2), minimum=0.5)

    [low, high] = few.outlooks[1].p_certain_low, few.outlooks[1].p_certain_high
    assert low <= few.outlooks[1].p_certain <= high
    assert high - low >= 0.2
    assert many.outlooks[1].p_certain_low == many.outlooks[1].p_certain_high == 1


def test_too_few_labels_say_nothing() -> None:
    assert plan(noisy(4, 0.5)).outlooks == ()
    assert plan(noisy(24, 0.5), groups=np.arange(24) // 6).outlooks == ()


def test_copies_of_a_response_in_one_group_promise_no_more_than_the_response() -> None:
    """30 responses, each of them six times: six times as many make a group of each."""
    single, copied = noisy(30, 0.9), np.repeat(noisy(30, 0.9), 6, axis=0)
    alone = plan(single, n_more=(30,))
    grouped = plan(copied, n_more=(180,), groups=np.repeat(np.arange(30), 6))
    apart = plan(copied, n_more=(180,))

    assert grouped.now.n_groups == 30
    assert grouped.outlooks[0].width == pytest.approx(alone.outlooks[0].width, rel=0.15)
    assert apart.outlooks[0].width < 0.6 * grouped.outlooks[0].width


def test_raters_who_do_not_differ_leave_alpha_undefined() -> None:
    result = plan(np.full((20, 2), 3.0))

    assert math.isnan(result.now.value)
    assert result.outlooks == ()


def test_labels_without_a_disagreement_promise_nothing() -> None:
    """Five equal pairs leave open whether a quarter of all pairs differ."""
    equal = np.repeat([[1.0], [2.0], [3.0], [4.0], [5.0]], 2, axis=1)

    assert plan(equal).outlooks == ()


def test_responses_with_one_rating_do_not_count() -> None:
    ratings = noisy(30, 0.9)
    ratings[:10, 1] = math.nan

    assert plan(ratings, n_more=()).n_responses == 20


def test_the_same_seed_gives_the_same_plan() -> None:
    assert plan(noisy(30, 0.9)).outlooks == plan(noisy(30, 0.9)).outlooks


def test_a_hh_is_planned_like_alpha() -> None:
    result = plan_gate(
        noisy(30, 0.9)[:, None],
        figure_by(HumanAgreement(Scale(low=1, high=5))),
        groups=np.arange(30),
        question_id="clarity",
        gate="human_a_hh",
        minimum=0.75,
        n_more=(50,),
        n_simulations=20,
        rng=np.random.default_rng(3),
    )

    assert result.outlooks[0].width < result.now.high - result.now.low


def test_new_responses_show_a_gain_in_four_of_five_studies() -> None:
    """The noise of the second wording is such that alpha is about .15 higher."""
    rng = np.random.default_rng(5)

    def study(n: int, noise: float) -> np.ndarray:
        truth = rng.normal(0, 1, n)
        return np.clip(np.round(3 + truth[:, None] + noise * rng.normal(size=(n, 3))), 1, 5)

    def figure(ratings: np.ndarray) -> tuple[float, float, float]:
        patterns = RatingPatterns.from_matrix(ratings, groups=np.arange(len(ratings)))
        result = coefficient_interval(patterns, Alpha("interval"), confidence=0.95)
        return result.value, result.low, result.high

    many = [figure(study(4_000, noise))[0] for noise in (0.9, 0.62)]
    gain = many[1] - many[0]
    shown = []
    for _ in range(150):
        patterns = RatingPatterns.from_matrix(study(200, 0.9), groups=np.arange(200))
        now = coefficient_interval(patterns, Alpha("interval"), confidence=0.95)
        n_new = int(responses_to_show(gain, now=now, n_responses=200))
        value, low, high = figure(study(n_new, 0.62))
        error = np.hypot(now.high - now.low, high - low) / (2 * 1.96)
        shown.append(value - now.value > 1.96 * error)

    assert gain == pytest.approx(0.15, abs=0.03)
    assert 0.72 <= np.mean(shown) <= 0.95


def test_uncertain_labels_show_no_small_gain() -> None:
    result = plan(noisy(12, 2.5), n_more=()).now

    assert math.isinf(responses_to_show(0.05, now=result, n_responses=12))


def test_number_is_recommended_by_the_lower_end_of_its_probability() -> None:
    now = Interval(0.7, 0.6, 0.8, 0.95, "clustered_t", n_units=50, n_groups=50)
    outlooks = tuple(
        Outlook(n, 0.1, p_certain=p, p_certain_low=low, p_certain_high=1, p_pass=p)
        for n, p, low in ((10, 0.5, 0.1), (20, 0.9, 0.7), (40, 0.95, 0.8), (80, 1, 1))
    )
    plan = GatePlan("q", "human_alpha", 0.667, now, 50, outlooks)

    assert plan.promising == outlooks[1]
    assert plan.recommended == outlooks[2]
    assert replace(plan, outlooks=outlooks[:2]).recommended is None


def overall_labels(questions: Sequence[str], n: int) -> pd.DataFrame:
    """Two raters of each question; the responses of one question are not those of another."""
    rows = [
        (f"r{row}", rater, name, value, False)
        for name, ratings in zip(questions, (noisy(n, 0.9), noisy(n, 0.4)), strict=True)
        for row, pair in enumerate(ratings)
        for rater, value in zip(("anna", "ben"), pair, strict=True)
    ]
    return pd.DataFrame(
        rows, columns=["response_id", "rater_id", "question_id", "value", "skipped"]
    )


def test_gates_over_all_questions_are_planned() -> None:
    rubric = tuple(RubricQuestion(q, q, LIKERT5, "ordinal") for q in ("clear", "short"))
    labels = overall_labels(("clear", "short"), 30)
    groups = pd.Series({f"r{row}": f"r{row}" for row in range(30)})

    evaluation = Evaluation("e", Path(), rubric)
    in_doubt = replace(evaluation.gates["human_alpha"], minimum=0.85)

    a_hh, alpha = plan_gates(
        replace(evaluation, gates={**evaluation.gates, "human_alpha": in_doubt}),
        labels,
        scopes=[None],
        groups=groups,
        n_more=[20],
        n_simulations=20,
        seed=0,
    )

    profile = overall_profile(
        [(noisy(30, 0.9), LIKERT5), (noisy(30, 0.4), LIKERT5)], confidence=0.95
    )
    assert (a_hh.question_id, a_hh.gate, alpha.gate) == (None, "human_a_hh", "human_alpha")
    assert (a_hh.now, alpha.now) == (profile.a_hh, profile.alpha)
    assert alpha.n_responses == 30
    assert (a_hh.is_certain, a_hh.outlooks) == (True, ())
    assert alpha.outlooks[0].width < alpha.now.high - alpha.now.low


def test_figure_far_from_its_minimum_by_chance_promises_little() -> None:
    """Where the true figure is the minimum, one verdict in twenty becomes certain."""
    minimum = plan(noisy(2000, 0.9), n_more=()).now.value
    studies = np.split(noisy(500, 0.9), 25)
    plans = [plan(ratings, minimum=minimum, n_more=(20,)) for ratings in studies]
    promises = [one.outlooks[0].p_certain for one in plans if not one.is_certain]

    assert len(promises) > 15
    assert np.mean(promises) < 0.15
