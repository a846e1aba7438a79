"""A hard cap on what one run spends, requests in flight included."""

import asyncio
import math


class Budget:
    """What may still be spent.

    Before a request the most that it can cost is reserved; once its cost is known, the rest is
    released. Whatever happens, spending and reservations together stay within the limit.

    Args:
        limit_usd: Most that may be spent; None for no cap.

    Raises:
        ValueError: If the limit is negative.
    """

    def __init__(self, limit_usd: float | None) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise ValueError(f"budget_usd must be 0 or more, got {limit_usd:g}")
        self.limit_usd = math.inf if limit_usd is None else limit_usd
        self.spent_usd = 0.0
        self._reserved_usd = 0.0
        self._n_open = 0
        self._is_used_up = False
        self._settled = asyncio.Event()

    @property
    def left_usd(self) -> float | None:
        """What is neither spent nor reserved; None without a cap."""
        return None if math.isinf(self.limit_usd) else self._left_usd

    @property
    def _left_usd(self) -> float:
        return self.limit_usd - self.spent_usd - self._reserved_usd

    async def reserve(self, most_usd: float) -> bool:
        """Reserve the most that a request can cost, waiting for requests in flight to end.

        Returns:
            False if it does not fit even when no request is in flight: then the budget is used
            up, and no later request gets anything, so that a run stops at one place.
        """
        while most_usd > self._left_usd and self._n_open and not self._is_used_up:
            self._settled.clear()
            await self._settled.wait()
        if most_usd > self._left_usd or self._is_used_up:
            self._is_used_up = True
            return False
        self._reserved_usd += most_usd
        self._n_open += 1
        return True

    def spend(self, most_usd: float) -> bool:
        """Spend the most that a request of a batch can cost; return False if it does not fit."""
        if most_usd > self._left_usd:
            return False
        self.spent_usd += most_usd
        return True

    def settle(self, most_usd: float, *, spent_usd: float) -> None:
        """Count what a request has cost and release the rest of what was reserved for it."""
        self.spent_usd += spent_usd
        self._n_open -= 1
        self._reserved_usd = self._reserved_usd - most_usd if self._n_open else 0.0
        self._settled.set()
