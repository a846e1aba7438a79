"""A process's part of shared rate limits, taken from the ledger as needed."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping

from eval_assets.ledger import GRANT_SECONDS, Amount, Grant, RateLimits

_FIRST_REQUESTS = 16
_LONGEST_SECONDS = 1.0
"""Most that one grant takes: what the limits allow in this time. Others want to send as well."""

_SHORTEST_SECONDS = 0.25
"""A grant that was used up sooner leads to one of at most four times its size."""

_MINUTE = 60.0

AskGrant = Callable[[Amount, Mapping[int, Amount], float], Awaitable[Grant]]
"""Requests an amount from the ledger, gives back the rest of earlier grants, and returns the
seconds until the amount can be used."""


class SharedRates:
    """The grants of one process for one model, about one a second, as large as needed."""

    def __init__(self, limits: RateLimits, ask: AskGrant) -> None:
        self._limits = limits
        self._ask = ask
        self._grant: Grant | None = None
        self._starts_at = 0.0
        self._n_used = 0
        self._tokens_used = 0
        self._n_next = _FIRST_REQUESTS
        # A grant that a slow ledger gives is to start when it has arrived, or it is over by then.
        self._answered_in_seconds = 0.0
        self._unused: defaultdict[int, Amount] = defaultdict(lambda: Amount(0, 0))

    def opens_at(self, tokens: int, *, now: float) -> float | None:
        """Return when a request may be sent by the grant that is held; None if it takes another."""
        grant = self._grant
        if grant is None or now >= self._starts_at + GRANT_SECONDS:
            return None
        has_room = (
            self._n_used < grant.amount.requests
            and self._tokens_used + self._of_limit(tokens) <= grant.amount.tokens
        )
        return self._starts_at if has_room else None

    async def renew(self, tokens: int) -> None:
        """Request the next grant, for at least one request with so many tokens."""
        self._give_back_rest()
        n = self._n_next
        if (per_minute := self._limits.requests_per_minute) is not None:
            n = max(1, min(n, math.floor(per_minute * _LONGEST_SECONDS / _MINUTE)))
        tokens_each = self._of_limit(tokens)
        if (per_minute := self._limits.input_tokens_per_minute) is not None and tokens_each:
            # Whole requests: what is left of a grant is lost to others until it is given back.
            n = max(1, min(n, math.floor(per_minute * _LONGEST_SECONDS / _MINUTE / tokens_each)))
        unused, self._unused = self._unused, defaultdict(lambda: Amount(0, 0))
        start = loop_time()
        self._grant = await self._ask(
            Amount(n, n * tokens_each), dict(unused), self._answered_in_seconds
        )
        self._answered_in_seconds = loop_time() - start
        self._starts_at = loop_time() + self._grant.wait_seconds

    def take(self, tokens: int) -> int:
        """Count a request that is sent by the grant that is held; return the grant's number."""
        assert self._grant is not None  # noqa: S101 - `opens_at` said that it has room
        self._n_used += 1
        self._tokens_used += self._of_limit(tokens)
        return self._grant.id

    def amend(self, grant_id: int, *, expected: int, tokens: int) -> None:
        """Correct the number of a request's tokens, once the vendor has counted them."""
        if self._limits.input_tokens_per_minute is not None and expected != tokens:
            self._give_back(grant_id, Amount(0, expected - self._of_limit(tokens)))

    def _give_back_rest(self) -> None:
        """Count the rest of the current grant, and the size of the next one."""
        if self._grant is None:
            return
        unused = Amount(
            self._grant.amount.requests - self._n_used,
            self._grant.amount.tokens - self._tokens_used,
        )
        if unused.requests or unused.tokens:
            self._give_back(self._grant.id, unused)
        seconds = max(loop_time() - self._starts_at, _SHORTEST_SECONDS)
        self._n_next = max(1, math.ceil(self._n_used / seconds))
        self._grant, self._n_used, self._tokens_used = None, 0, 0

    def _give_back(self, grant_id: int, unused: Amount) -> None:
        before = self._unused[grant_id]
        self._unused[grant_id] = Amount(
            before.requests + unused.requests, before.tokens + unused.tokens
        )

    def _of_limit(self, tokens: int) -> int:
        """Return the number of tokens that count: at most the limit of a minute."""
        per_minute = self._limits.input_tokens_per_minute
        return tokens if per_minute is None else min(tokens, math.floor(per_minute))


def loop_time() -> float:
    """Return the event loop's time in seconds, which never goes back."""
    return asyncio.get_running_loop().time()
