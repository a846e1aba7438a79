import math

import numpy as np
import pytest

from eval_assets.stats import human_agreement, judge_human_agreement, judge_pairwise_agreement

NAN = math.nan


def test_a_judge_is_compared_with_each_rater_of_a_response() -> None:
    ratings = np.array([[1, 5], [4, NAN], [NAN, NAN], [2, 2]])
    scores = [2, 4, 3, NAN]
    # response 1: 1 - 1/4 and 1 - 3/4, mean .5; response 2: 1; the others lack a side
    assert judge_human_agreement(ratings, scores, low=1, high=5) == 0.75
    assert judge_pairwise_agreement(ratings, scores, within=0) == pytest.approx(1 / 3)
    assert judge_pairwise_agreement(ratings, scores, within=1) == pytest.approx(2 / 3)


def test_with_one_rater_a_judge_is_another_rater() -> None:
    rng = np.random.default_rng(1)
    human, judge = rng.integers(0, 5, (40, 1)), rng.integers(0, 5, 40)
    both = np.column_stack([human, judge])
    expected = human_agreement(both, low=0, high=4)
    assert judge_human_agreement(human, judge, low=0, high=4) == pytest.approx(expected)


def test_scores_between_the_steps_are_compared_as_they_are() -> None:
    assert judge_human_agreement([[1, 2]], [1.5], low=0, high=2) == 0.75
    assert judge_pairwise_agreement([[0.3]], [0.1 + 0.2], within=0) == 1.0


@pytest.mark.parametrize("scores", [[NAN], [1.0]])
def test_without_a_pair_it_is_undefined(scores: list[float]) -> None:
    assert math.isnan(judge_human_agreement([[NAN, NAN]], scores, low=0, high=1))
    assert math.isnan(judge_pairwise_agreement([[NAN, NAN]], scores, within=0))


def test_scores_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="each of the 1 units"):
        judge_human_agreement([[1, 2]], [1, 2], low=1, high=5)
    with pytest.raises(ValueError, match=r"must lie in \[1, 5\], got 6 to 6"):
        judge_human_agreement([[1, 2]], [6], low=1, high=5)
    with pytest.raises(ValueError, match="got an infinity"):
        judge_pairwise_agreement([[1, 2]], [math.inf], within=0)
