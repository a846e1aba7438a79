"""Judging by batch: what has ended is collected, what is missing is submitted, nothing waits."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from eval_assets.judges.budget import Budget
from eval_assets.judges.call import BatchClient, Call, CallFailed, Results
from eval_assets.judges.caller import Caller, Subject, attempt_row
from eval_assets.judges.lane import Lane, Tried
from eval_assets.judges.live import LiveModel
from eval_assets.judges.progress import Estimate
from eval_assets.judges.rater import Rater
from eval_assets.judges.run import RunOptions, open_lanes
from eval_assets.judges.scores import Reading
from eval_assets.ledger import Batch, BatchLedger, Reply

logger = logging.getLogger(__name__)

_MOST_CALLS = 10_000
_MOST_BYTES = 100_000_000
"""Largest batch that is submitted: below the limits of both vendors (50,000 calls and 200 MB)."""

_GONE = 404
_PATIENCE_SECONDS = 600.0
"""How long uploading, looking and fetching may take together."""


async def work_on_batches(
    rater: Rater,
    ledger: BatchLedger,
    *,
    caller: Caller,
    budget: Budget,
    options: RunOptions,
) -> None:
    """Collect the batches of a judge that have ended, and submit what is in none.

    Afterwards every unit has a reading: what is under way is `missing` until a later run collects
    it. Calls that expired or failed are among those submitted again.

    Args:
        rater: The judge, its units planned.
        ledger: Where replies are kept, and which batches are under way.
        caller: Who looks replies up.
        budget: What may be spent; the most that a batch can cost counts as spent.
        options: How the run goes.
    """
    lane = rater.lane
    client = lane.client.batches()
    under_way: set[str] = set()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            for batch in await asyncio.to_thread(ledger.open_batches, lane.model.id):
                if await _has_ended(client, batch):
                    await _record(batch, await _collect(client, batch), rater, ledger)
                else:
                    under_way |= set(batch.call_keys)
            await caller.look_up(list(rater.pending_calls()))
            rater.recall()
            pending = rater.pending_calls().items()
            calls = [call for key, (call, _) in pending if key not in under_way]
            rater.estimate = _estimate(lane.model, calls)
            options.report(rater.estimate)
            affordable = [call for call in calls if budget.take(lane.model.most_usd(call))]
            for part in in_batches(affordable):
                await _submit(client, part, lane, ledger)
                under_way |= {call.key for call in part}
    except CallFailed as failure:
        lane.stop(str(failure))
    except TimeoutError:
        lane.stop(f"the batch endpoint took longer than {_PATIENCE_SECONDS:g} s")
    rater.leave(lambda key: _reading(lane, is_under_way=key in under_way))


async def n_ended_batches(
    models: Sequence[LiveModel], ledger: BatchLedger, *, options: RunOptions
) -> int:
    """How many batches wait to be collected: a look at the vendors that asks for nothing.

    Args:
        models: Models of the judges that judge by batch.
        ledger: Which batches are under way.
        options: How to reach the vendors.

    Raises:
        CallFailed: If a vendor cannot be reached.
    """
    n_ended = 0
    async with open_lanes(models, ledger, budget=Budget(None), options=options) as (_, lanes):
        for lane in lanes:
            for batch in await asyncio.to_thread(ledger.open_batches, lane.model.id):
                n_ended += await _has_ended(lane.client.batches(), batch)
    return n_ended


def in_batches(calls: Sequence[Call]) -> list[list[Call]]:
    """Calls in as few batches as the vendors' limits allow, in their order."""
    batches: list[list[Call]] = []
    n_bytes = 0
    for call in calls:
        if not batches or len(batches[-1]) >= _MOST_CALLS or n_bytes + call.size > _MOST_BYTES:
            batches.append([])
            n_bytes = 0
        batches[-1].append(call)
        n_bytes += call.size
    return batches


async def _has_ended(client: BatchClient, batch: Batch) -> bool:
    """Whether a batch can be collected; one that the vendor no longer knows has ended, too."""
    try:
        return await client.has_ended(batch.batch_id)
    except CallFailed as failure:
        if failure.http_status == _GONE:
            return True
        raise


async def _collect(client: BatchClient, batch: Batch) -> Results:
    """What came of a batch; of one that the vendor no longer knows, nothing."""
    try:
        return await client.collect(batch.batch_id)
    except CallFailed as failure:
        if failure.http_status == _GONE:
            return {}
        raise


async def _record(batch: Batch, results: Results, rater: Rater, ledger: BatchLedger) -> None:
    """Put results into the ledger, also those that nobody asks for any more: they are paid."""
    subjects = {key: subject for key, (_, subject) in rater.pending_calls().items()}
    seconds = (datetime.now(UTC) - batch.submitted_at).total_seconds()
    nothing = CallFailed("not among the results of its batch", remedy="retry")
    rows = []
    for key in batch.call_keys:
        result = results.get(key, nothing)
        rater.lane.n_attempts += 1
        if isinstance(result, Reply):
            rater.lane.answered(result)
        rows.append(
            attempt_row(
                key,
                rater.lane,
                subjects.get(key, Subject("judging", None)),
                n_attempts=1,
                tried=Tried(result, batch.submitted_at, seconds),
            )
        )
    await asyncio.to_thread(ledger.record, rows)
    await asyncio.to_thread(ledger.close_batch, batch.batch_id)
    n_replies = sum(row.error is None for row in rows)
    logger.info("%s: %d of %d replies collected", batch.batch_id, n_replies, len(rows))


async def _submit(
    client: BatchClient, calls: Collection[Call], lane: Lane, ledger: BatchLedger
) -> None:
    """Submit calls and remember that they are under way."""
    submitted_at = datetime.now(UTC)
    batch_id = await client.submit(list(calls))
    keys = tuple(call.key for call in calls)
    batch = Batch(batch_id, lane.model.id, keys, submitted_at)
    await asyncio.to_thread(ledger.open_batch, batch)
    logger.info("%s: %d calls of %s submitted", batch_id, len(keys), lane.model.id)


def _estimate(model: LiveModel, calls: Collection[Call]) -> Estimate:
    estimate = Estimate(model)
    for call in calls:
        estimate.add(call)
    return estimate


def _reading(lane: Lane, *, is_under_way: bool) -> Reading:
    """Why a unit has no score yet."""
    if is_under_way:
        return Reading("missing", error="in a batch that the vendor works on")
    if lane.stopped:
        return Reading("api_error", error=lane.stopped)
    return Reading("budget_stopped", error="the budget is used up")
