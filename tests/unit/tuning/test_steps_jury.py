import math

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from eval_assets.tuning.steps import jury_scores, jury_weights
from tests.unit.tuning.made_up import judged, rated_units, simulated

NAN = math.nan


@pytest.mark.parametrize("seed", range(5))
def test_weights_lie_between_equal_ones_and_the_best_on_train(seed: int) -> None:
    train, quality = simulated(40, seed=seed, split="train")
    judges = {f"j{k}": judged(quality, seed=seed + k, noise=0.4 * k) for k in range(1, 5)}
    result = jury_weights(train, judges)
    scores, target = np.column_stack(list(judges.values())), train.ratings.mean(axis=1)

    def distance(weights: np.ndarray) -> float:
        return float(((scores @ weights - target) ** 2).sum())

    best = minimize(
        distance,
        np.full(4, 0.25),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.ones(4), 1, 1),
        tol=1e-12,
    ).x

    assert sum(result.values()) == pytest.approx(1)
    # forty groups: as much from the fit as from equal weights
    assert list(result.values()) == pytest.approx((0.25 + best) / 2, abs=1e-4)


def test_with_no_common_scores_weights_are_equal() -> None:
    train = rated_units([[1, 2], [3, 4]], split="train")
    judges = {"a": np.array([1.0, NAN]), "b": np.array([NAN, 2.0])}

    assert jury_weights(train, judges) == {"a": 0.5, "b": 0.5}


def test_a_jury_with_an_absent_member_has_no_score() -> None:
    weights = {"a": 0.25, "b": 0.75}
    result = jury_scores(weights, {"a": np.array([2.0, NAN]), "b": np.array([4.0, 4.0])})

    assert result[0] == 3.5
    assert np.isnan(result[1])


@pytest.mark.parametrize("n_judges", [0, 1, 9])
def test_a_jury_has_two_to_eight_judges(n_judges: int) -> None:
    train = rated_units([[1, 2]], split="train")
    with pytest.raises(ValueError, match=f"2 to 8 judges, got {n_judges}"):
        jury_weights(train, {f"j{k}": np.ones(1) for k in range(n_judges)})
