"""A hard cap on spending, including requests in flight and other runs."""

import asyncio
import math
from collections import defaultdict
from dataclasses import dataclass

UnitKey = tuple[str, str]
"""Response and question."""

_ROUNDING_USD = 1e-9


class Budget:
    """Money that may still be spent.

    Before a request the most that it may cost is reserved: a token for each byte of its input, and
    the longest output. Once its cost is known, the reservation is released. Spending and
    reservations together stay within the limit, None for none.

    Raises:
        ValueError: If the limit is negative.
    """

    def __init__(self, limit_usd: float | None) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise ValueError(f"budget_usd must be 0 or more, got {limit_usd:g}")
        self.limit_usd = math.inf if limit_usd is None else limit_usd
        self.spent_usd = 0.0
        self.reserved_usd = 0.0
        self.n_open = 0
        self._is_used_up = False
        self._turn = asyncio.Lock()  # first come, first served
        self.released = asyncio.Event()

    @property
    def left_usd(self) -> float | None:
        """Return the amount that is neither spent nor reserved; None without a cap."""
        left_usd = self.limit_usd - self.spent_usd - self.reserved_usd
        return left_usd if math.isfinite(left_usd) else None

    async def reserve(self, usd: float, *, n_shares: int = 1) -> bool:
        """Reserve the most that requests may cost together, in shares that are released one by one.

        It waits for requests in flight to end. False means that it does not fit even when no
        request is in flight. Then the budget is used up, and later requests get nothing, so that
        the run ends in a defined state.
        """
        async with self._turn:
            while not self._is_used_up and not self._has_left(usd):
                if self.n_open:
                    self.released.clear()
                    await self.released.wait()
                else:
                    self._is_used_up = True
            if not self._is_used_up:
                self.reserved_usd += usd
                self.n_open += n_shares
            return not self._is_used_up

    def spend(self, most_usd: float) -> bool:
        """Spend the highest cost of a batch's requests; return False if it does not fit."""
        has_left = self._has_left(most_usd)
        self.spent_usd += most_usd if has_left else 0.0
        return has_left

    def _has_left(self, usd: float) -> bool:
        return self.spent_usd + self.reserved_usd + usd <= self.limit_usd + _ROUNDING_USD


@dataclass
class Reservation:
    """The most that an attempt about one rating may cost, reserved for each until it is released.

    A failed attempt keeps it for the next one, before those who wait for money: they may wait for
    this request, as for the first one to an unknown server.
    """

    budget: Budget
    usd: float
    is_released: bool = False

    def charge(self, usd: float) -> None:
        """Count the cost of an attempt, and release the reservation if no other one fits."""
        budget = self.budget
        budget.spent_usd += usd
        if budget.spent_usd + budget.reserved_usd > budget.limit_usd + _ROUNDING_USD:
            self.release()

    def release(self) -> None:
        """Release what no attempt uses."""
        if not self.is_released:
            self.is_released = True
            self.budget.n_open -= 1
            left_usd = self.budget.reserved_usd - self.usd
            self.budget.reserved_usd = left_usd if self.budget.n_open else 0.0
            self.budget.released.set()


class JointReservations:
    """Joint reservations for all judges of a unit, so that pairs of scores are complete."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._most_usd: defaultdict[UnitKey, list[float]] = defaultdict(list)
        self._reserved: dict[UnitKey, asyncio.Task[bool]] = {}

    def plan(self, unit: UnitKey, most_usd: float) -> None:
        """Count the share of one rating of a unit."""
        self._most_usd[unit].append(most_usd)

    async def share(self, unit: UnitKey, most_usd: float) -> Reservation | None:
        """Return the reservation for one rating; None if not all ratings of the unit fit."""
        if unit not in self._reserved:
            shares = self._most_usd[unit]
            reserving = self._budget.reserve(math.fsum(shares), n_shares=len(shares))
            self._reserved[unit] = asyncio.create_task(reserving)
        is_reserved = await asyncio.shield(self._reserved[unit])
        return Reservation(self._budget, most_usd) if is_reserved else None
