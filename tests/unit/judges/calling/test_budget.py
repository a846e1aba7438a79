"""The hard cap."""

import asyncio

import pytest

from eval_assets.judges.calling.budget import Budget, JointReservations, Reservation
from eval_assets.judges.calling.session import RequestOptions, open_budget
from tests.unit.judges.conftest import MemoryLedger


async def reserved(budget: Budget, usd: float) -> Reservation:
    assert await budget.reserve(usd)
    return Reservation(budget, usd)


def test_what_is_reserved_counts_until_the_cost_is_known() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        first = await reserved(budget, 0.6)
        waiting = asyncio.create_task(budget.reserve(0.6))
        await asyncio.sleep(0)
        assert not waiting.done()
        first.charge(0.1)
        first.release()
        assert await waiting
        assert budget.spent_usd == pytest.approx(0.1)
        assert budget.left_usd == pytest.approx(0.3)

    asyncio.run(scenario())


def test_a_request_that_does_not_fit_when_none_is_in_flight_is_refused() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        first = await reserved(budget, 0.9)
        waiting = asyncio.create_task(budget.reserve(0.5))
        await asyncio.sleep(0)
        first.charge(0.8)
        first.release()
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
        (await reserved(budget, 1e9)).charge(5.0)
        assert await budget.reserve(1e9)
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
        cheap = await reservations.share(UNIT, 0.1)
        assert cheap is not None
        assert budget.left_usd == pytest.approx(0.4)
        # The cheap judge's next unit waits for the dear one's share of the first.
        waiting = asyncio.create_task(reservations.share(NEXT_UNIT, 0.1))
        cheap.charge(0.1)
        cheap.release()
        await asyncio.sleep(0)
        assert not waiting.done()
        dear = await reservations.share(UNIT, 0.5)
        assert dear is not None
        dear.charge(0.5)
        dear.release()
        assert await waiting is None
        assert await reservations.share(NEXT_UNIT, 0.5) is None
        assert budget.spent_usd == pytest.approx(0.6)

    asyncio.run(scenario())


def test_a_share_is_released_once() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        reservations = JointReservations(budget)
        reservations.plan(UNIT, 0.3)
        reservations.plan(UNIT, 0.5)
        share = await reservations.share(UNIT, 0.3)
        assert share is not None
        share.release()
        share.release()
        assert budget.left_usd == pytest.approx(0.5)

    asyncio.run(scenario())


class CappedLedger(MemoryLedger):
    """A ledger with a cap, of which 0.3 USD are left."""

    def left_usd(self) -> float | None:
        """Return what is left."""
        return 0.3


def test_what_the_ledgers_caps_leave_is_a_limit() -> None:
    async def scenario() -> None:
        budget = await open_budget([], CappedLedger(), RequestOptions({}))
        first = await reserved(budget, 0.2)
        waiting = asyncio.create_task(budget.reserve(0.15))
        await asyncio.sleep(0)
        first.charge(0.1)
        first.release()
        assert await waiting
        assert budget.left_usd == pytest.approx(0.05)

    asyncio.run(scenario())


def test_a_runs_own_limit_holds_within_a_cap_of_the_ledger() -> None:
    async def scenario() -> None:
        budget = await open_budget([], CappedLedger(), RequestOptions({}, budget_usd=0.1))
        first = await reserved(budget, 0.1)
        first.charge(0.1)
        first.release()
        assert not await budget.reserve(0.1)

    asyncio.run(scenario())


def test_a_failed_attempt_keeps_its_reservation_before_those_who_wait() -> None:
    """They may wait for it, as for the first request to an unknown server."""

    async def scenario() -> None:
        budget = Budget(1.0)
        first = await reserved(budget, 0.6)
        waiting = asyncio.create_task(budget.reserve(0.6))
        await asyncio.sleep(0)
        first.charge(0.1)
        await asyncio.sleep(0)
        assert not waiting.done()
        assert not first.is_released
        first.release()
        assert await waiting
        assert budget.spent_usd == pytest.approx(0.1)

    asyncio.run(scenario())


def test_a_failed_attempt_after_which_no_other_fits_gives_its_reservation_back() -> None:
    async def scenario() -> None:
        budget = Budget(1.0)
        first = await reserved(budget, 0.6)
        first.charge(0.5)
        assert first.is_released
        assert budget.left_usd == pytest.approx(0.5)

    asyncio.run(scenario())
