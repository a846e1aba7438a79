"""A hard cap on what one run spends, calls in flight included."""

import asyncio
import math


class Budget:
    """What may still be spent.

    Before a call the most that it can cost is set aside; when its cost is known, the rest comes
    back. Whatever happens, spending and what is set aside together stay within the limit.

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
        self._set_aside_usd = 0.0
        self._n_open = 0
        self._is_used_up = False
        self._settled = asyncio.Event()

    @property
    def left_usd(self) -> float:
        """What is neither spent nor set aside."""
        return self.limit_usd - self.spent_usd - self._set_aside_usd

    async def set_aside(self, most_usd: float) -> bool:
        """Set aside the most that a call can cost, waiting for calls in flight to end.

        Returns:
            False if it does not fit even when no call is in flight: then the budget is used up,
            and no later call gets anything, so that a run stops at one place.
        """
        while most_usd > self.left_usd and self._n_open and not self._is_used_up:
            self._settled.clear()
            await self._settled.wait()
        if most_usd > self.left_usd or self._is_used_up:
            self._is_used_up = True
            return False
        self._set_aside_usd += most_usd
        self._n_open += 1
        return True

    def take(self, most_usd: float) -> bool:
        """Take for good what a call of a batch can cost; False if it does not fit."""
        if most_usd > self.left_usd:
            return False
        self.spent_usd += most_usd
        return True

    def settle(self, most_usd: float, *, spent_usd: float) -> None:
        """Count what a call has cost and free the rest of what was set aside for it."""
        self.spent_usd += spent_usd
        self._n_open -= 1
        self._set_aside_usd = self._set_aside_usd - most_usd if self._n_open else 0.0
        self._settled.set()
