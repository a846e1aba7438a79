"""A hard cap on spending, including requests in flight and other runs."""

import asyncio
import bisect
import math
from collections import defaultdict
from collections.abc import Callable
from functools import partial

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import ModelRequest
from eval_assets.ledger import Ledger

UnitKey = tuple[str, str]
"""Response and question."""

Bound = float | Callable[[], float]
"""Returns the upper bound of a cost in USD, which may fall as replies arrive."""

_FEWEST_OBSERVED = 5
_MANY_OBSERVED = 30
_OUTPUT_FACTOR = 2.0
_INPUT_FACTOR = 1.25
_COUNTED_SHARE = 0.98
_FEWEST_TOKENS = 16
"""Some servers refuse a lower limit."""

_ROUNDING_USD = 1e-9


class Budget:
    """Money that may still be spent.

    Before a request an upper bound of its cost is reserved: the highest cost of its input and of
    its allowed output. Once its cost is known, the rest is released. Spending and reservations
    together stay within the limit, and within what the ledger's caps leave: nobody else spends from
    these meanwhile.

    Args:
        limit_usd: Most that may be spent; None for no cap but those of the ledger.
        ledger: Ledger with caps of runs and months.

    Raises:
        ValueError: If the limit is negative.
    """

    def __init__(self, limit_usd: float | None, ledger: Ledger | None = None) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise ValueError(f"budget_usd must be 0 or more, got {limit_usd:g}")
        self.limit_usd = math.inf if limit_usd is None else limit_usd
        self.spent_usd = 0.0
        self._ledger = ledger if ledger and ledger.is_capped else None
        self._reserved_usd = 0.0
        self._n_open = 0
        self._is_used_up = False
        self._turn = asyncio.Lock()  # first come, first served
        self._settled = asyncio.Event()

    @property
    def is_capped(self) -> bool:
        """Return whether there is a limit."""
        return math.isfinite(self.limit_usd) or self._ledger is not None

    async def left_usd(self) -> float | None:
        """Return the amount that is neither spent nor reserved; None without a cap."""
        if self._ledger is not None:
            shared_usd = await asyncio.to_thread(self._ledger.left_usd)
            self._ledger = None
            self.limit_usd = min(self.limit_usd, math.inf if shared_usd is None else shared_usd)
        left_usd = self.limit_usd - self.spent_usd - self._reserved_usd
        return left_usd if math.isfinite(left_usd) else None

    async def reserve(self, bound_usd: Bound, *, n_shares: int = 1) -> float | None:
        """Reserve an upper bound of the joint cost of requests.

        It waits for requests in flight to end. The bound is computed again after each wait. Returns
        the reserved amount, which is settled in `n_shares` parts. None means that it does not fit
        even when no request is in flight. Then the budget is used up, and later requests get
        nothing, so that the run ends in a defined state.
        """
        async with self._turn:
            usd = _now(bound_usd)
            while not self._is_used_up and not await self._has_left(usd):
                if self._n_open:
                    self._settled.clear()
                    await self._settled.wait()
                    usd = _now(bound_usd)
                else:
                    self._is_used_up = True
            if self._is_used_up:
                return None
            self._reserved_usd += usd
            self._n_open += n_shares
            return usd

    async def reserve_now(self, usd: float) -> float | None:
        """Reserve an amount if it fits at once, before those who wait; else return None."""
        if self._is_used_up or not await self._has_left(usd):
            return None
        self._reserved_usd += usd
        self._n_open += 1
        return usd

    async def spend(self, most_usd: float) -> bool:
        """Spend the highest cost of a batch's requests; return False if it does not fit."""
        async with self._turn:
            if not await self._has_left(most_usd):
                return False
            self.spent_usd += most_usd
            return True

    def settle(self, most_usd: float, *, spent_usd: float) -> None:
        """Count the cost of a request and release the rest of its reservation."""
        self.spent_usd += spent_usd
        self._n_open -= 1
        self._reserved_usd = self._reserved_usd - most_usd if self._n_open else 0.0
        self._settled.set()

    def settle_and_keep(self, most_usd: float, *, spent_usd: float) -> bool:
        """Count the cost of a request; keep its reservation for the next attempt if it fits."""
        self.spent_usd += spent_usd
        if self.spent_usd + self._reserved_usd <= self.limit_usd + _ROUNDING_USD:
            return True
        self.settle(most_usd, spent_usd=0.0)
        return False

    async def _has_left(self, usd: float) -> bool:
        """Return whether an amount is left."""
        left_usd = await self.left_usd()
        return left_usd is None or usd <= left_usd + _ROUNDING_USD


class Allowance:
    """Money that one rating may reserve; `share_usd` is reserved for its next attempt already."""

    def __init__(self, budget: Budget, share_usd: float | None = None) -> None:
        self._budget = budget
        self._share_usd = share_usd

    async def reserve(self, bound_usd: Bound) -> float | None:
        """Return the reservation for a request; see `Budget.reserve`."""
        if self._share_usd is not None and self._share_usd >= _now(bound_usd):
            share_usd, self._share_usd = self._share_usd, None
            return share_usd
        self.release()
        return await self._budget.reserve(bound_usd)

    async def reserve_now(self, usd: float) -> float | None:
        """Return the reservation if it fits at once; see `Budget.reserve_now`."""
        self.release()
        return await self._budget.reserve_now(usd)

    def settle(self, reserved_usd: float, *, spent_usd: float) -> None:
        """Count the cost of an attempt; its reservation is kept for the next one if it fits."""
        if self._budget.settle_and_keep(reserved_usd, spent_usd=spent_usd):
            self._share_usd = reserved_usd

    def release(self) -> None:
        """Give back what no attempt uses."""
        if self._share_usd is not None:
            self._budget.settle(self._share_usd, spent_usd=0.0)
            self._share_usd = None


class JointReservations:
    """Joint reservations for all judges of a unit, so that pairs of scores are complete."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._bounds: defaultdict[UnitKey, list[Bound]] = defaultdict(list)
        self._shares: dict[UnitKey, list[float]] = {}
        self._reserved: dict[UnitKey, asyncio.Task[float | None]] = {}

    def plan(self, unit: UnitKey, bound_usd: Bound) -> int:
        """Count the share of one rating of a unit; return its number."""
        self._bounds[unit].append(bound_usd)
        return len(self._bounds[unit]) - 1

    async def allowance(self, unit: UnitKey, number: int) -> Allowance | None:
        """Return the allowance of one rating; None if not all ratings of the unit fit."""
        if not self._budget.is_capped:
            return Allowance(self._budget)
        if unit not in self._reserved:
            reserving = self._budget.reserve(
                partial(self._bound_of, unit), n_shares=len(self._bounds[unit])
            )
            self._reserved[unit] = asyncio.create_task(reserving)
        reserved_usd = await asyncio.shield(self._reserved[unit])
        if reserved_usd is None:
            return None
        return Allowance(self._budget, self._shares[unit][number])

    def _bound_of(self, unit: UnitKey) -> float:
        """Return the bound of all ratings of a unit, and keep each one's share."""
        self._shares[unit] = [_now(bound) for bound in self._bounds[unit]]
        return math.fsum(self._shares[unit])


class ObservedTokens:
    """Tokens of one model's replies so far, which limit and estimate the next requests.

    Args:
        max_tokens: Most output tokens of any reply.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._outputs: list[int] = []
        self._most_per_byte = 0.0

    def add(self, request: ModelRequest, usage: Usage) -> None:
        """Count a reply."""
        bisect.insort(self._outputs, usage.output_tokens)
        per_byte = usage.input_tokens / max(request.n_bytes, 1)
        self._most_per_byte = max(self._most_per_byte, per_byte)

    @property
    def output_limit(self) -> int:
        """Most output tokens of the next reply; one that has more is asked for again.

        That is the declared maximum until there are replies, and then twice as much as the longest
        has, four times while there are few. Once there are many, the longest 2 % do not count: a
        single long reply would hold back what others need.
        """
        n = len(self._outputs)
        if n < _FEWEST_OBSERVED:
            return self._max_tokens
        factor = _OUTPUT_FACTOR if n >= _MANY_OBSERVED else 2 * _OUTPUT_FACTOR
        longest = self._outputs[math.ceil(_COUNTED_SHARE * n) - 1]
        return min(self._max_tokens, max(_FEWEST_TOKENS, math.ceil(longest * factor)))

    def input_tokens(self, request: ModelRequest) -> int | None:
        """Return a probable upper bound of a request's input tokens; None without replies."""
        if not self._outputs:
            return None
        return math.ceil(request.n_bytes * self._most_per_byte * _INPUT_FACTOR)


def _now(bound_usd: Bound) -> float:
    return bound_usd() if callable(bound_usd) else bound_usd
