"""The hard cap."""

import asyncio

import pytest

from eval_assets.judges.calling.budget import Budget


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
        assert budget.left_usd == pytest.approx(0.3)

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
