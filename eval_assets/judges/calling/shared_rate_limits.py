"""A process's part of shared rate limits, taken from the ledger as needed."""

import asyncio
import math
from collections.abc import Awaitable, Callable

from eval_assets.ledger import USABLE_SECONDS, RateLimits

_FIRST_REQUESTS = 16
_LONGEST_SECONDS = 1.0
"""Most that is taken at once: what the limits allow in this time. Others want to send as well."""

_SHORTEST_SECONDS = 0.25
"""What was used up sooner leads to at most four times as much."""

_RECENT_SECONDS = 2.0
"""Time in which what was not used is a part of what is taken next; afterwards it is lost."""

_MINUTE = 60.0


Take = Callable[..., Awaitable[float]]
"""Takes requests and tokens from the ledger; see `Ledger.take`."""


class SharedRates:
    """What one process may send to one model, taken about once a second, as much as needed."""

    def __init__(self, limits: RateLimits, take: Take) -> None:
        self._limits = limits
        self._take = take
        self._opens_at = -math.inf
        self._n_taken = 0
        self._n_used = 0
        self._tokens = 0
        self._n_next = _FIRST_REQUESTS
        self._uncounted = self._uncounted_tokens = 0
        # What a slow ledger gives is to begin when it has arrived, or it is over by then.
        self._answered_in_seconds = 0.0

    def opens_at(self, tokens: int, *, now: float) -> float | None:
        """Return when a request may be sent by what was taken; None if it takes more."""
        is_over = now >= self._opens_at + USABLE_SECONDS
        if is_over or self._n_used == self._n_taken or self._of_limit(tokens) > self._tokens:
            return None
        return self._opens_at

    async def renew(self, tokens: int) -> None:
        """Take what the next requests need, at least one with so many tokens."""
        if self._n_taken:
            seconds = max(loop_time() - self._opens_at, _SHORTEST_SECONDS)
            self._n_next = max(1, math.ceil(self._n_used / seconds))
            if seconds < _RECENT_SECONDS:
                self._uncounted -= self._n_taken - self._n_used
        n = self._n_next
        if (per_minute := self._limits.requests_per_minute) is not None:
            n = max(1, min(n, math.floor(per_minute * _LONGEST_SECONDS / _MINUTE)))
        tokens_each = self._of_limit(tokens)
        if (per_minute := self._limits.input_tokens_per_minute) is not None and tokens_each:
            n = max(1, min(n, math.floor(per_minute * _LONGEST_SECONDS / _MINUTE / tokens_each)))
        n_tokens = n * tokens_each
        new, new_tokens = max(0, n + self._uncounted), max(0, n_tokens + self._uncounted_tokens)
        self._uncounted += n - new
        self._uncounted_tokens += n_tokens - new_tokens
        start = loop_time()
        wait_seconds = await self._take(
            requests=new, tokens=new_tokens, delay_seconds=self._answered_in_seconds
        )
        self._answered_in_seconds = loop_time() - start
        self._opens_at = loop_time() + wait_seconds
        self._n_taken, self._n_used, self._tokens = n, 0, n_tokens

    def use(self, tokens: int) -> None:
        """Count a request that is sent by what was taken."""
        self._n_used += 1
        self._tokens -= self._of_limit(tokens)

    def correct(self, *, expected: int, tokens: int) -> None:
        """Count tokens that a request had beyond the estimate in what is taken next.

        Those that it lacked are lost: sent later, they could exceed the limit of that minute.
        """
        self._uncounted_tokens += max(0, self._of_limit(tokens) - self._of_limit(expected))

    def _of_limit(self, tokens: int) -> int:
        """Return the number of tokens that count: at most the limit of a minute, 0 without one."""
        per_minute = self._limits.input_tokens_per_minute
        return 0 if per_minute is None else min(tokens, math.floor(per_minute))


def loop_time() -> float:
    """Return the event loop's time in seconds, which never goes back."""
    return asyncio.get_running_loop().time()
