"""The one retry policy: how often a request is sent, and how long it waits in between."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RetryPolicy:
    """When a failed request is sent again.

    Args:
        delays_seconds: Wait before each retry: four waits make at most five attempts.
        jitter: Share by which a wait is lengthened or shortened at random, so that requests which
            failed together do not come back together.
        longest_wait_seconds: Ceiling of a wait that a vendor asks for.
    """

    delays_seconds: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    jitter: float = 0.2
    longest_wait_seconds: float = 120.0

    def wait_seconds(
        self, n_failed: int, *, retry_after_seconds: float | None, rng: np.random.Generator
    ) -> float | None:
        """Return the wait after the `n_failed`-th failure of a request; None to give it up.

        A wait that the vendor asks for is kept if it is longer.

        Examples:
            >>> policy = RetryPolicy(jitter=0.0)
            >>> rng = np.random.default_rng(0)
            >>> [policy.wait_seconds(n, retry_after_seconds=None, rng=rng) for n in range(1, 6)]
            [1.0, 2.0, 4.0, 8.0, None]
        """
        if n_failed > len(self.delays_seconds):
            return None
        spread = rng.uniform(1 - self.jitter, 1 + self.jitter)
        wanted = min(retry_after_seconds or 0.0, self.longest_wait_seconds)
        return max(self.delays_seconds[n_failed - 1] * spread, wanted)
