"""Tasks of several models side by side."""

import asyncio
import gc
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from eval_assets.judges.calling.progress import Progress
from eval_assets.judges.calling.session import Task, run_tasks
from eval_assets.judges.clients import Connections

if TYPE_CHECKING:
    from eval_assets.judges.calling.client import AnyModelClient
    from eval_assets.judges.clients.official import OfficialClient


class IdleClient:
    """A client whose tasks send nothing."""

    def __init__(self, most: int) -> None:
        self.summary = SimpleNamespace(known_usd=0.0)
        self.connections = Connections(lambda: cast("OfficialClient", None))
        self.open_tasks = asyncio.Semaphore(most)


async def do(*tasks: Task, most: int = 4) -> Progress:
    reports: list[Progress] = []
    client = cast("AnyModelClient", IdleClient(most))
    await run_tasks([(client, tasks)], report=reports.append)  # type: ignore[arg-type]
    return reports[-1]


def test_an_interruption_in_a_task_comes_out_as_itself_and_ends_the_others() -> None:
    """Dagster's is not a KeyboardInterrupt: a task group alone would wrap it."""

    class _Interrupted(BaseException):
        pass

    async def interrupted() -> bool:
        raise _Interrupted

    async def endless() -> bool:
        await asyncio.Event().wait()
        return True

    with pytest.raises(_Interrupted):
        asyncio.run(do(endless, interrupted, *[endless] * 9))


def test_a_task_that_fails_leaves_the_others_alone_and_is_raised_in_the_end() -> None:
    done = []

    async def good() -> bool:
        await asyncio.sleep(0)
        done.append(1)
        return True

    async def bad() -> bool:
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        asyncio.run(do(good, bad, good, bad, good, most=2))
    assert len(done) == 3


def test_no_more_tasks_are_open_than_the_client_has_room_for() -> None:
    n_open, most = 0, 0

    async def task() -> bool:
        nonlocal n_open, most
        n_open += 1
        most = max(most, n_open)
        await asyncio.sleep(0.001)
        n_open -= 1
        return n_open % 2 == 0

    progress = asyncio.run(do(*[task] * 50, most=7))
    assert most == 7
    assert (progress.n_done, progress.n_total) == (50, 50)


def test_what_was_imported_is_no_garbage_to_look_through_while_requests_are_sent() -> None:
    n_frozen = []

    async def task() -> bool:
        n_frozen.append(gc.get_freeze_count())
        return True

    asyncio.run(do(task))

    assert n_frozen[0] > 0
    assert gc.get_freeze_count() == 0


def test_progress_counts_what_has_no_result_without_calling_it_a_failure() -> None:
    """A request that the budget does not reach was never sent."""
    progress = Progress(n_done=5, n_failed=0, n_total=10, spent_usd=0.02, elapsed_seconds=2.0)

    assert str(progress) == "5 of 10 done, 0.0200 USD so far, 2.5 a second, 2 s left"
    assert "5 of 10 done, 3 without a result, " in str(replace(progress, n_failed=3))
