import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from eval_assets.stats import (
    alternative_annotator_test,
    human_agreement,
    judge_human_agreement,
    repeated_rater,
)
from eval_assets.stats.judge_pairs import Scoring

NAN = math.nan


def test_a_judge_is_compared_with_each_rater_of_a_response() -> None:
    ratings = np.array([[1, 5], [4, NAN], [NAN, NAN], [2, 2]])
    scores = [2, 4, 3, NAN]
    # response 1: 1 - 1/4 and 1 - 3/4, mean .5; response 2: 1; the others lack a side
    assert judge_human_agreement(ratings, scores, low=1, high=5) == 0.75


def test_with_one_rater_a_judge_is_another_rater() -> None:
    rng = np.random.default_rng(1)
    human, judge = rng.integers(0, 5, (40, 1)), rng.integers(0, 5, 40)
    raters = np.column_stack([human, judge])
    expected = human_agreement(raters, low=0, high=4)
    assert judge_human_agreement(human, judge, low=0, high=4) == pytest.approx(expected)


def test_scores_between_the_steps_are_compared_as_they_are() -> None:
    assert judge_human_agreement([[1, 2]], [1.5], low=0, high=2) == 0.75


@pytest.mark.parametrize("scores", [[NAN], [1.0]])
def test_without_a_pair_it_is_undefined(scores: list[float]) -> None:
    assert math.isnan(judge_human_agreement([[NAN, NAN]], scores, low=0, high=1))


def test_scores_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="each of the 1 units"):
        judge_human_agreement([[1, 2]], [1, 2], low=1, high=5)
    with pytest.raises(ValueError, match=r"must lie in \[1, 5\], got 6 to 6"):
        judge_human_agreement([[1, 2]], [6], low=1, high=5)
    with pytest.raises(ValueError, match="got an infinity"):
        judge_human_agreement([[1, 2]], [math.inf], low=1, high=5)


DATA = os.environ.get("EVAL_ASSETS_ALT_TEST_DATA", "")
"""Folder `data` of the test authors' repository, which has no licence that lets us keep a copy."""

EPSILON = {"wax": 0.1, "lgbteen": 0.2, "mtbench": 0.2, "framing": 0.15, "cebab_aspects": 0.1} | {
    "summeval": 0.2,
    "10k_prompts": 0.15,
    "cebab_stars": 0.1,
    "lesion": 0.15,
}
BY_VALUE = {"summeval", "10k_prompts", "cebab_stars", "lesion"}

# Winning rate and advantage as the authors' notebook prints them, for gemini_flash, gemini_pro,
# gpt-4o, llama-31, gpt-4o-mini and mistral-v03.
PUBLISHED = {
    "wax": "0.38 0.69, 0.50 0.74, 0.50 0.73, 0.00 0.57, 0.00 0.59, 0.00 0.50",
    "lgbteen": "0.25 0.71, 0.00 0.67, 0.75 0.77, 0.00 0.72, 0.75 0.76, 0.25 0.75",
    "mtbench": "0.00 0.72, 0.00 0.76, 0.00 0.77, 0.00 0.69, 0.00 0.74, 0.00 0.68",
    "framing": "1.00 0.83, 1.00 0.91, 1.00 0.92, 0.50 0.80, 1.00 0.87, 0.25 0.80",
    "cebab_aspects": "0.70 0.91, 0.90 0.94, 0.90 0.93, 0.60 0.89, 0.50 0.90, 0.10 0.81",
    "summeval": "0.00 0.46, 0.00 0.44, 0.00 0.48, 0.00 0.58, 0.00 0.54, 0.00 0.62",
    "10k_prompts": "0.31 0.67, 0.08 0.63, 0.69 0.76, 0.15 0.67, 0.92 0.80, 0.15 0.67",
    "cebab_stars": "0.60 0.82, 0.80 0.87, 0.90 0.90, 0.60 0.85, 0.90 0.89, 0.50 0.83",
    "lesion": "0.17 0.71, 1.00 0.81, 0.00 0.62, -, 0.67 0.73, -",
}
MODELS = ("gemini_flash", "gemini_pro", "gpt-4o", "llama-31", "gpt-4o-mini", "mistral-v03")


def literal(
    people: np.ndarray, judge: np.ndarray, *, scoring: Scoring, epsilon: float, q: float
) -> tuple[float, float, list[float]]:
    """The procedure of the paper's section 3, rater by rater and unit by unit."""

    def score(value: float, peers: list[float]) -> float:
        if scoring == "accuracy":
            return sum(value == other for other in peers) / len(peers)
        return -math.sqrt(sum((value - other) ** 2 for other in peers) / len(peers))

    p_values, advantages = [], []
    for rater in range(people.shape[1]):
        wins, losses = [], []
        for row, inputs in zip(people, judge, strict=True):
            peers = [y for k, y in enumerate(row) if k != rater and not math.isnan(y)]
            if math.isnan(row[rater]) or math.isnan(inputs) or not peers:
                continue
            of_judge, of_rater = score(inputs, peers), score(row[rater], peers)
            wins.append(float(of_judge >= of_rater - 1e-12))
            losses.append(float(of_rater >= of_judge - 1e-12))
        if len(wins) < 30:
            p_values.append(NAN)
            continue
        difference = np.array(losses) - np.array(wins)
        p_values.append(float(stats.ttest_1samp(difference, epsilon, alternative="less").pvalue))
        advantages.append(float(np.mean(wins)))
    tested = [p for p in p_values if not math.isnan(p)]
    rejected = stats.false_discovery_control(tested, method="by") <= q
    return float(np.mean(rejected)), float(np.mean(advantages)), p_values


@pytest.mark.parametrize("scoring", ["accuracy", "rmse"])
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_the_procedure_step_by_step(scoring: Scoring, seed: int) -> None:
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, 90)
    people = np.clip(np.round(quality[:, None] + rng.normal(0, 0.8, (90, 5))), 1, 5)
    people[rng.random(people.shape) < 0.4] = NAN
    people[:, 4][25:] = NAN  # too few units to be tested
    judge = np.clip(np.round(quality + rng.normal(0, 0.5, 90)), 1, 5)
    judge[::17] = NAN
    result = alternative_annotator_test(people, judge, scoring=scoring, epsilon=0.15)
    rate, advantage, p_values = literal(people, judge, scoring=scoring, epsilon=0.15, q=0.05)

    assert math.isnan(result.p_values[4])
    assert result.p_values == pytest.approx(p_values, abs=1e-12, nan_ok=True)
    assert (result.winning_rate, result.advantage) == pytest.approx((rate, advantage), abs=1e-12)


def test_few_false_discoveries_are_let_through() -> None:
    """Of these p-values Benjamini-Yekutieli at .05 rejects one, Benjamini-Hochberg two."""
    rng = np.random.default_rng(12)
    people = rng.integers(1, 3, size=(60, 4)).astype(float)
    result = alternative_annotator_test(people, people[:, 0], scoring="accuracy", epsilon=0.2)
    adjusted = stats.false_discovery_control(result.p_values, method="by")

    assert result.winning_rate == np.mean(adjusted <= 0.05)


def test_a_constant_can_pass_which_is_why_it_is_shown_beside_the_judge() -> None:
    rng = np.random.default_rng(13)
    people = np.clip(np.round(rng.normal(3, 0.6, (100, 3))), 1, 5)
    constant = alternative_annotator_test(people, np.full(100, 3), scoring="rmse", epsilon=0.2)

    assert constant.winning_rate == 1


def test_a_judge_always_nearer_or_always_as_near_has_a_certain_result() -> None:
    people = np.tile([[1.0, 2.0], [2.0, 1.0]], (20, 1))
    ties = alternative_annotator_test(people, np.full(40, 1.5), scoring="rmse", epsilon=0.1)
    exact = np.tile([[2.0, 2.0]], (40, 1))
    conceded = alternative_annotator_test(exact, np.full(40, 5.0), scoring="rmse", epsilon=0.1)

    assert (ties.winning_rate, ties.advantage) == (1, 1)
    assert (conceded.winning_rate, conceded.p_values) == (0, (1, 1))


def test_too_few_units_test_nobody() -> None:
    result = alternative_annotator_test(
        np.ones((29, 3)), np.ones(29), scoring="accuracy", epsilon=0.1
    )

    assert math.isnan(result.winning_rate)
    assert math.isnan(result.advantage)


def test_an_unknown_scoring_is_refused() -> None:
    with pytest.raises(ValueError, match="scoring must be 'accuracy' or 'rmse', got 'f1'"):
        alternative_annotator_test([[1, 2]], [1], scoring="f1", epsilon=0.1)  # type: ignore[arg-type]


@pytest.mark.skipif(not DATA, reason="EVAL_ASSETS_ALT_TEST_DATA does not name the authors' data")
@pytest.mark.parametrize("name", PUBLISHED)
def test_it_reproduces_what_the_authors_publish(name: str) -> None:
    folder = Path(DATA) / name
    humans = json.loads((folder / "human_annotations.json").read_text())
    judges = json.loads((folder / "llm_annotations.json").read_text())
    units = sorted({unit for inputs in humans.values() for unit in inputs})
    inputs = [[by_unit.get(unit) for by_unit in humans.values()] for unit in units]
    if name in BY_VALUE:
        code = {value: float(value) for row in inputs for value in row if value is not None}
    else:
        values = {str(v) for row in inputs for v in row if v is not None}
        values |= {str(v) for by_unit in judges.values() for v in by_unit.values()}
        code = {value: float(k) for k, value in enumerate(sorted(values))}

    def number(value: object) -> float:
        if value is None:
            return NAN
        return float(value) if name in BY_VALUE else code[str(value)]  # type: ignore[arg-type]

    people = np.array([[number(value) for value in row] for row in inputs])
    for model, expected in zip(MODELS, PUBLISHED[name].split(", "), strict=True):
        if expected == "-":
            continue
        actual = alternative_annotator_test(
            people,
            [number(judges[model].get(unit)) for unit in units],
            scoring="rmse" if name in BY_VALUE else "accuracy",
            epsilon=EPSILON[name],
        )
        assert f"{actual.winning_rate:.2f} {actual.advantage:.2f}" == expected, (name, model)


@pytest.mark.parametrize("n_values", [2, 5])
def test_a_rater_whose_ratings_are_the_judges_is_repeated(n_values: int) -> None:
    rng = np.random.default_rng(4)
    copied = rng.integers(0, n_values, 60).astype(float)
    other = np.where(rng.random(60) < 0.6, copied, rng.integers(0, n_values, 60))
    unit, rater = np.repeat(np.arange(60), 2), np.tile([0, 1], 60)
    value = np.stack([other, copied], axis=1).ravel()

    assert repeated_rater(unit, rater, value, copied) == 1
    assert repeated_rater(unit[:38], rater[:38], value[:38], copied) is None
    with pytest.raises(ValueError, match="each of the 120 ratings needs a unit and a rater"):
        repeated_rater(unit[1:], rater, value, copied)


def test_a_judge_that_is_right_repeats_none_of_many_raters() -> None:
    """Fifty raters of 24 items each: some equal any good judge on all of theirs."""
    rng = np.random.default_rng(1)
    repeated = []
    for _ in range(30):
        truth = rng.integers(1, 6, 400).astype(float)
        unit = np.concatenate([rng.choice(400, 24, replace=False) for _ in range(50)])
        value, judge = (
            np.where(rng.random(len(true)) < 0.95, true, rng.integers(1, 6, len(true)))
            for true in (truth[unit], truth)
        )
        repeated.append(repeated_rater(unit, np.repeat(np.arange(50), 24), value, judge))
    assert repeated == [None] * 30


def test_p_values_on_their_threshold_are_discoveries() -> None:
    """Both raters are alike, and so are their p-values: rejected from q (1 + 1/2) on."""
    people = np.tile([[1.0, 2.0], [2.0, 1.0]], (20, 1))
    judge = np.full(40, 1.5)
    judge[:8] = 4.0
    one, other = alternative_annotator_test(
        people, judge, scoring="rmse", epsilon=0.1, q=0.5
    ).p_values
    q = one * 1.5

    assert one == other
    assert 0 < one < 0.6
    assert q / 1.5 == one
    for threshold, rate in ((q, 1), (q * 0.999, 0)):
        test = alternative_annotator_test(people, judge, scoring="rmse", epsilon=0.1, q=threshold)
        assert test.winning_rate == rate
