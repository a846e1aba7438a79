"""The one retry policy."""

import numpy as np
import pytest

from eval_assets.judges.calling.client import RetryPolicy
from eval_assets.judges.calling.requests import RequestFailed


def waits(policy: RetryPolicy, *, retry_after: float | None = None, seed: int = 0) -> list[float]:
    rng = np.random.default_rng(seed)
    result = []
    for n_failed in range(1, 99):
        failure = RequestFailed("503", remedy="retry", retry_after_seconds=retry_after)
        wait = policy.wait_seconds(failure, n_failed, rng=rng)
        if wait is None:
            break
        result.append(wait)
    return result


def test_a_request_is_sent_five_times_with_waits_of_1_2_4_and_8_seconds_give_or_take_a_fifth() -> (
    None
):
    for seed in range(200):
        result = waits(RetryPolicy(), seed=seed)
        assert len(result) == 4
        assert result == pytest.approx([1, 2, 4, 8], rel=0.2)
    assert waits(RetryPolicy(), seed=1) == waits(RetryPolicy(), seed=1)
    assert waits(RetryPolicy(), seed=1) != waits(RetryPolicy(), seed=2)


def test_a_longer_wait_that_the_vendor_asks_for_is_kept_up_to_a_ceiling() -> None:
    assert waits(RetryPolicy(), retry_after=30) == [30, 30, 30, 30]
    assert waits(RetryPolicy(), retry_after=100_000) == [120, 120, 120, 120]
    assert waits(RetryPolicy(), retry_after=0)[3] > 6
