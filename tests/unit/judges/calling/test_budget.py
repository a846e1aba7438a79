"""The hard cap."""

import asyncio

import pytest

from eval_assets.judges.calling.budget import Allowance, Budget, JointReservations
from tests.unit.judges.conftest import MemoryLedger


def test_what_is_reserved_counts_until_the_cost_is_known() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        assert await budget.reserve(0.6)
        waiting = asyncio.create_task(budget.reserve(0.6))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(0.6, spent_usd=0.1)
        assert await waiting
        budget.settle(0.6, spent_usd=0.6)
        assert budget.spent_usd == pytest.approx(0.7)
        assert await budget.left_usd() == pytest.approx(0.3)

    asyncio.run(scenario())


def test_a_request_that_does_not_fit_when_none_is_in_flight_is_refused() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        assert await budget.reserve(0.9)
        waiting = asyncio.create_task(budget.reserve(0.5))
        await asyncio.sleep(0)
        budget.settle(0.9, spent_usd=0.8)
        assert not await waiting

    asyncio.run(scenario())


def test_once_a_request_was_refused_so_are_all_others() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        assert not await budget.reserve(2.0)
        assert not await budget.reserve(0.1)

    asyncio.run(scenario())


def test_without_a_limit_everything_fits() -> None:
    async def scenario() -> None:
        budget = Budget(None)
        assert await budget.reserve(1e9)
        budget.settle(1e9, spent_usd=5.0)
        assert budget.spent_usd == 5.0

    asyncio.run(scenario())


def test_a_budget_is_not_negative() -> None:
    with pytest.raises(ValueError, match="0 or more, got -1"):
        Budget(-1)


UNIT, NEXT_UNIT = ("r1", "q"), ("r2", "q")


def test_the_judges_of_a_unit_are_reserved_for_together_or_not_at_all() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        reservations = JointReservations(budget)
        for unit in (UNIT, NEXT_UNIT):
            reservations.plan(unit, 0.1)
            reservations.plan(unit, 0.5)
        cheap = await reservations.allowance(UNIT, 0)
        assert cheap is not None
        assert await budget.left_usd() == pytest.approx(0.4)
        # The cheap judge's next unit waits for the dear one's share of the first.
        waiting = asyncio.create_task(reservations.allowance(NEXT_UNIT, 0))
        assert await cheap.reserve(0.1)
        budget.settle(0.1, spent_usd=0.1)
        await asyncio.sleep(0)
        assert not waiting.done()
        dear = await reservations.allowance(UNIT, 1)
        assert dear is not None
        assert await dear.reserve(0.5)
        budget.settle(0.5, spent_usd=0.5)
        assert await waiting is None
        assert await reservations.allowance(NEXT_UNIT, 1) is None
        assert budget.spent_usd == pytest.approx(0.6)

    asyncio.run(scenario())


def test_a_share_that_no_request_needed_is_given_back() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        reservations = JointReservations(budget)
        reservations.plan(UNIT, 0.8)
        allowance = await reservations.allowance(UNIT, 0)
        assert allowance is not None
        allowance.release()
        allowance.release()
        assert await budget.left_usd() == 1.0

    asyncio.run(scenario())


def test_a_second_request_of_a_rating_reserves_again() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        reservations = JointReservations(budget)
        reservations.plan(UNIT, 0.4)
        allowance = await reservations.allowance(UNIT, 0)
        assert allowance is not None
        assert await allowance.reserve(0.4)
        budget.settle(0.4, spent_usd=0.3)
        assert await allowance.reserve(0.5)
        assert await budget.left_usd() == pytest.approx(0.2)
        budget.settle(0.5, spent_usd=0.5)
        assert not await allowance.reserve(0.5)

    asyncio.run(scenario())


class CappedLedger(MemoryLedger):
    """A ledger with a cap, of which 0.3 USD are left."""

    @property
    def is_capped(self) -> bool:
        """There is a cap."""
        return True

    def left_usd(self) -> float | None:
        """Return what is left."""
        return 0.3


def test_what_the_ledgers_caps_leave_is_a_limit() -> None:
    async def scenario() -> None:
        budget = Budget(None, CappedLedger())
        assert budget.is_capped
        assert await budget.reserve(0.2)
        waiting = asyncio.create_task(budget.reserve(0.15))
        await asyncio.sleep(0)
        budget.settle(0.2, spent_usd=0.1)
        assert await waiting
        assert await budget.left_usd() == pytest.approx(0.05)

    asyncio.run(scenario())


def test_a_runs_own_limit_holds_within_a_cap_of_the_ledger() -> None:
    async def scenario() -> None:
        budget = Budget(0.1, CappedLedger())
        assert await budget.reserve(0.1)
        budget.settle(0.1, spent_usd=0.1)
        assert not await budget.reserve(0.1)

    asyncio.run(scenario())


def test_a_failed_attempt_keeps_its_reservation_before_those_who_wait() -> None:
    """They may wait for it, as for the first request to an unknown server."""

    async def scenario() -> None:
        budget = Budget(1.0)
        first = Allowance(budget)
        assert await first.reserve(0.6) == 0.6
        waiting = asyncio.create_task(budget.reserve(0.6))
        await asyncio.sleep(0)
        first.settle(0.6, spent_usd=0.1)
        await asyncio.sleep(0)
        assert not waiting.done()
        assert await first.reserve(0.6) == 0.6
        first.settle(0.6, spent_usd=0.0)
        first.release()
        assert await waiting == 0.6
        assert budget.spent_usd == pytest.approx(0.1)

    asyncio.run(scenario())


def test_a_failed_attempt_whose_reservation_does_not_fit_again_gives_it_back() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        first = Allowance(budget)
        assert await first.reserve(0.6)
        first.settle(0.6, spent_usd=0.5)
        assert await budget.left_usd() == pytest.approx(0.5)
        assert await first.reserve_now(0.6) is None
        assert await first.reserve_now(0.5)

    asyncio.run(scenario())
