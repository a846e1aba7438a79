from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from eval_assets.scale import Level, Scale
from eval_assets.stats import alternative_annotator_test
from eval_assets.tuning.certificate_contents import certificate_metrics
from eval_assets.tuning.rated import RatedUnits
from tests.unit.tuning.made_up import BINARY, LIKERT5, judged, rated_units, simulated


def both(seed: int) -> tuple[RatedUnits, RatedUnits, np.ndarray]:
    """Train, test, and scores of the test by a judge as good as a person."""
    train, _ = simulated(40, seed=seed, split="train")
    test, quality = simulated(40, seed=seed + 1)
    return train, test, judged(quality, seed=seed + 2)


def test_figures_are_those_of_the_test_beside_a_constant() -> None:
    train, test, scores = both(1)
    result = certificate_metrics(train, test, scores, {})
    constant = np.abs(test.ratings - result.controls.constant.value)

    assert result.a_ha == pytest.approx(1 - np.abs(test.ratings - scores[:, None]).mean() / 4)
    assert result.controls.constant.a_ha == pytest.approx(1 - constant.mean() / 4)
    assert sum(result.people.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("scale", "level", "scoring"),
    [
        (LIKERT5, "ordinal", "rmse"),
        (LIKERT5, "nominal", "accuracy"),
        (BINARY, "nominal", "accuracy"),
    ],
)
def test_raters_and_judge_are_compared_by_distance_where_values_have_an_order(
    scale: Scale, level: Level, scoring: Literal["accuracy", "rmse"]
) -> None:
    rng = np.random.default_rng(8)
    ratings, scores = rng.integers(1, 6, (60, 3)), rng.integers(1, 6, 60)
    if scale.is_binary:
        ratings, scores = ratings % 2, scores % 2
    test = rated_units(ratings, scale=scale, level=level, split="test")
    actual = certificate_metrics(test, test, scores.astype(float), {}).alternative_annotator_test
    expected = alternative_annotator_test(ratings, scores, scoring=scoring, epsilon=0.15)

    assert actual.winning_rate == expected.winning_rate
    assert actual.advantage == expected.advantage


def test_the_constant_is_chosen_on_train_alone() -> None:
    train = rated_units(np.full((12, 2), 2), split="train")
    test = rated_units(np.full((12, 2), 5), split="test")
    controls = certificate_metrics(train, test, np.full(12, 4.0), {}).controls

    assert controls.constant.value == 2
    assert controls.constant.a_ha == pytest.approx(0.25)


def test_models_have_figures_of_their_own() -> None:
    train, test, scores = both(5)
    models = np.where(np.arange(len(scores)) % 2, "a", "b")
    lenient_to_a = np.where(models == "a", np.minimum(scores + 0.5, 5), scores)
    rows = certificate_metrics(train, replace(test, models=models), lenient_to_a, {})
    by_name = {row.model_name: row for row in rows.by_model}

    above = lenient_to_a - test.ratings.mean(axis=1)
    assert by_name["a"].judge_minus_human == pytest.approx(above[models == "a"].mean())
    assert by_name["b"].judge_minus_human == pytest.approx(above[models == "b"].mean())
