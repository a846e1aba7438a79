"""A hard cap on what is spent, requests in flight and other runs included."""

import asyncio
import math
from collections import defaultdict

from eval_assets.ledger import Ledger

UnitKey = tuple[str, str]
"""Response and question."""

_WAIT_SECONDS = 0.5
_MOST_WAITS = 600
"""Other runs' reservations are waited for, but not for ever: they may wait for this one."""


class Budget:
    """Money that may still be spent.

    Before a request the most that it can cost is reserved; once its cost is known, the rest is
    released. Whatever happens, spending and reservations together stay within the limit. Of caps
    that other runs share, portions are reserved in the ledger as they are needed.

    Args:
        limit_usd: Most that may be spent; None for no cap but those of the ledger.
        ledger: Ledger with the caps that other runs share.

    Raises:
        ValueError: If the limit is negative.
    """

    def __init__(self, limit_usd: float | None, ledger: Ledger | None = None) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise ValueError(f"budget_usd must be 0 or more, got {limit_usd:g}")
        self.limit_usd = math.inf if limit_usd is None else limit_usd
        self.spent_usd = 0.0
        self._ledger = ledger if ledger and ledger.is_capped else None
        self._granted_usd = math.inf if self._ledger is None else 0.0
        self._reserved_usd = 0.0
        self._n_open = 0
        self._is_used_up = False
        self._n_waits = 0
        self._turn = asyncio.Lock()  # first come, first served
        self._settled = asyncio.Event()

    @property
    def is_capped(self) -> bool:
        """Return whether there is a limit."""
        return math.isfinite(self.limit_usd) or self._ledger is not None

    async def left_usd(self) -> float | None:
        """Return what is neither spent nor reserved here; None without a cap."""
        shared = await asyncio.to_thread(self._ledger.left_usd) if self._ledger else None
        remaining_usd = min(
            self.limit_usd - self.spent_usd - self._reserved_usd,
            math.inf if shared is None else shared,
        )
        return remaining_usd if math.isfinite(remaining_usd) else None

    async def reserve(self, most_usd: float, *, n_shares: int = 1) -> bool:
        """Reserve the most that requests can cost together, waiting for requests in flight to end.

        It is settled in `n_shares` parts. False means that it does not fit even when no request is
        in flight: then the budget is used up, and no later request gets anything, so that a run
        stops at one place.
        """
        async with self._turn:
            while not self._is_used_up and not await self._obtain(most_usd):
                if self._n_open:
                    self._settled.clear()
                    await self._settled.wait()
                else:
                    self._is_used_up = not await self._await_others(most_usd)
            if self._is_used_up:
                return False
            self._n_waits = 0
            self._reserved_usd += most_usd
            self._n_open += n_shares
            return True

    async def spend(self, most_usd: float) -> bool:
        """Spend the most that a request of a batch can cost; return False if it does not fit."""
        async with self._turn:
            if not await self._obtain(most_usd):
                return False
            self.spent_usd += most_usd
            return True

    def settle(self, most_usd: float, *, spent_usd: float) -> None:
        """Count what a request has cost and release the rest of what was reserved for it."""
        self.spent_usd += spent_usd
        self._n_open -= 1
        self._reserved_usd = self._reserved_usd - most_usd if self._n_open else 0.0
        self._settled.set()

    async def _obtain(self, most_usd: float) -> bool:
        """Return whether so much is left, after asking the ledger for what is missing."""
        taken_usd = self.spent_usd + self._reserved_usd
        if most_usd > self.limit_usd - taken_usd:
            return False
        missing_usd = most_usd - (self._granted_usd - taken_usd)
        if self._ledger is None or missing_usd <= 0:
            return True
        portion_usd = await asyncio.to_thread(self._ledger.reserve, missing_usd)
        self._granted_usd += portion_usd
        return portion_usd > 0

    async def _await_others(self, most_usd: float) -> bool:
        """Wait a little for what other runs reserved; return False if there is no hope of it."""
        left_usd = await self.left_usd()
        is_reserved_by_others = left_usd is not None and most_usd <= left_usd
        if not is_reserved_by_others or self._n_waits >= _MOST_WAITS:
            return False
        self._n_waits += 1
        await asyncio.sleep(_WAIT_SECONDS)
        return True


class Allowance:
    """Money that one rating may reserve; `share_usd` is reserved for its first request already."""

    def __init__(self, budget: Budget, share_usd: float | None = None) -> None:
        self._budget = budget
        self._share_usd = share_usd

    async def reserve(self, most_usd: float) -> bool:
        """Reserve the most that a request can cost; see `Budget.reserve`."""
        if self._share_usd is not None and most_usd == self._share_usd:
            self._share_usd = None
            return True
        self.release()
        return await self._budget.reserve(most_usd)

    def release(self) -> None:
        """Give the share back if no request used it."""
        if self._share_usd is not None:
            self._budget.settle(self._share_usd, spent_usd=0.0)
            self._share_usd = None


class JointReservations:
    """Reservations for all judges of a unit at once, so that a budget leaves pairs of scores."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._shares: defaultdict[UnitKey, list[float]] = defaultdict(list)
        self._reserved: dict[UnitKey, asyncio.Task[bool]] = {}

    def plan(self, unit: UnitKey, share_usd: float) -> None:
        """Count the share of one rating of a unit."""
        self._shares[unit].append(share_usd)

    async def allowance(self, unit: UnitKey, share_usd: float) -> Allowance | None:
        """Return the allowance of one rating; None if not all ratings of the unit fit."""
        if not self._budget.is_capped:
            return Allowance(self._budget)
        if unit not in self._reserved:
            shares = self._shares[unit]
            reserving = self._budget.reserve(math.fsum(shares), n_shares=len(shares))
            self._reserved[unit] = asyncio.create_task(reserving)
        is_reserved = await asyncio.shield(self._reserved[unit])
        return Allowance(self._budget, share_usd) if is_reserved else None
