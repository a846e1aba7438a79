from collections import Counter
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import precision_recall_fscore_support  # type: ignore[import-untyped]

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


def test_figures_are_those_of_the_test() -> None:
    train, test, scores = both(1)
    result = certificate_metrics(train, test, scores)
    mean = test.ratings.mean(axis=1)

    assert result.spearman == pytest.approx(stats.spearmanr(mean, scores).statistic)
    assert result.a_ha == pytest.approx(1 - np.abs(test.ratings - scores[:, None]).mean() / 4)
    assert sum(result.people.values()) == pytest.approx(1)
    pairs = Counter(zip(test.ratings.ravel(), np.repeat(scores, 3), strict=True))
    assert {(cell.human, cell.judge): cell.n for cell in result.confusion} == pairs


def test_controls_do_not_look_at_the_responses() -> None:
    """Scores dealt out at random are as likely to meet any rating."""
    train, test, scores = both(1)
    controls = certificate_metrics(train, test, scores).controls
    apart = np.abs(test.ratings[:, :, None] - scores)

    assert controls.shuffled.kappa == controls.constant.kappa == 0
    assert controls.shuffled.a_ha == pytest.approx(1 - apart.mean() / 4)
    constant = np.abs(test.ratings - controls.constant.value)
    assert controls.constant.a_ha == pytest.approx(1 - constant.mean() / 4)


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
    actual = certificate_metrics(test, test, scores.astype(float)).alternative_annotator_test
    expected = alternative_annotator_test(ratings, scores, scoring=scoring, epsilon=0.15)

    assert actual.winning_rate == expected.winning_rate
    assert actual.advantage == expected.advantage


def test_a_control_that_follows_length_is_found_out() -> None:
    """Where longer responses are better, the length alone agrees with people."""
    train, test, scores = both(3)
    long_train, long_test = (
        replace(part, lengths=(100 * part.ratings.mean(axis=1)).astype(int).astype(float))
        for part in (train, test)
    )
    controls = certificate_metrics(long_train, long_test, scores).controls
    without = certificate_metrics(train, test, scores).controls

    assert controls.length.kappa is not None
    assert controls.length.kappa > 0.6
    assert without.length.kappa == pytest.approx(0, abs=1e-9)


def test_the_constant_is_chosen_on_train_alone() -> None:
    train = rated_units(np.full((12, 2), 2), split="train")
    test = rated_units(np.full((12, 2), 5), split="test")
    controls = certificate_metrics(train, test, np.full(12, 4.0)).controls

    assert controls.constant.value == 2
    assert controls.constant.a_ha == pytest.approx(0.25)


def test_models_have_figures_of_their_own() -> None:
    train, test, scores = both(5)
    models = np.where(np.arange(len(scores)) % 2, "a", "b")
    lenient_to_a = np.where(models == "a", np.minimum(scores + 0.5, 5), scores)
    rows = certificate_metrics(train, replace(test, models=models), lenient_to_a)
    by_name = {row.model_name: row for row in rows.by_model}

    above = lenient_to_a - test.ratings.mean(axis=1)
    assert by_name["a"].judge_minus_human == pytest.approx(above[models == "a"].mean())
    assert by_name["b"].judge_minus_human == pytest.approx(above[models == "b"].mean())


def test_binary_judges_have_precision_and_recall() -> None:
    rng = np.random.default_rng(7)
    people = (rng.random((80, 2)) < 0.4).astype(float)
    judge = (rng.random(80) < 0.5).astype(float)
    units = rated_units(people, scale=BINARY, level="nominal")
    actual = certificate_metrics(units, units, judge)
    expected = precision_recall_fscore_support(
        people.ravel(), np.repeat(judge, 2), average="binary"
    )

    assert (actual.precision, actual.recall, actual.f1) == pytest.approx(expected[:3])
    assert actual.accuracy == pytest.approx((people == judge[:, None]).mean())


def test_a_judge_that_never_says_yes_has_no_precision() -> None:
    units = rated_units([[0, 1], [0, 0]], scale=BINARY, level="nominal")
    result = certificate_metrics(units, units, np.zeros(2))

    assert (result.precision, result.recall, result.f1) == (None, 0, 0)
