"""Judging by batch: what has ended is collected, what is missing is submitted, nothing waits."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from eval_assets.judges.calling.budget import Budget
from eval_assets.judges.calling.client import BUDGET_USED_UP, ModelClient
from eval_assets.judges.calling.ledger_writer import attempt_row
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import Estimate
from eval_assets.judges.calling.requests import (
    Answer,
    Client,
    ModelRequest,
    RequestFailed,
    Subject,
    Unsent,
)
from eval_assets.judges.calling.session import RequestOptions, open_clients
from eval_assets.judges.judging_plan import JudgingPlan, PendingRating, Unit, plan_judging
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import Reading, read_answer
from eval_assets.ledger import Batch, BatchLedger
from eval_assets.raters import Judge

logger = logging.getLogger(__name__)

_MOST_REQUESTS = 10_000
_MOST_BYTES = 100_000_000
"""Largest batch that is submitted: below the limits of both vendors (50,000 and 200 MB)."""

_GONE = 404
_PATIENCE_SECONDS = 600.0
"""How long uploading, looking and fetching may take together."""


async def judge_by_batch(
    units: Sequence[Unit],
    client: ModelClient[Judge],
    ledger: BatchLedger,
    *,
    template: PromptTemplate,
    budget: Budget,
) -> JudgingPlan:
    """Collect the batches of a judge that have ended, and submit what is in none.

    In the plan that is returned nothing is pending: what is under way is `missing` until a later
    run collects it. Requests that expired or failed are among those submitted again.

    Args:
        units: What to rate.
        client: The judge's client.
        ledger: Ledger of replies and of batches under way.
        template: The judges' prompt.
        budget: What may be spent; the most that a batch can cost counts as spent.
    """
    plan = await plan_judging(units, client, template=template)
    under_way: set[str] = set()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            under_way = await _collect_ended(plan, ledger)
            plan = await plan_judging(units, client, template=template)
            requests = [plan.next_request(rating) for rating in plan.pending]
            requests = [each for each in requests if each.key not in under_way]
            plan.estimate = _estimate(client.model, requests)
            affordable = [each for each in requests if budget.spend(client.model.most_usd(each))]
            for part in in_batches(affordable):
                await _submit(part, client, ledger)
                under_way |= {request.key for request in part}
    except RequestFailed as failure:
        client.stop(str(failure))
    except TimeoutError:
        client.stop(f"the batch endpoint took longer than {_PATIENCE_SECONDS:g} s")

    def left(rating: PendingRating) -> Reading:
        if plan.next_request(rating).key in under_way:
            return Reading("missing", error="in a batch that the vendor works on")
        answer = Unsent("api_error", client.stopped) if client.stopped else BUDGET_USED_UP
        return read_answer(answer, rating.unit.question.scale)

    plan.leave(left)
    return plan


async def n_ended_batches(
    judges: Sequence[LiveModel[Judge]], ledger: BatchLedger, *, options: RequestOptions
) -> int:
    """Return how many batches wait to be collected, by a look at the vendors that costs nothing.

    Args:
        judges: Judges who judge by batch.
        ledger: Ledger of batches under way.
        options: How to reach the vendors.

    Raises:
        RequestFailed: If a vendor cannot be reached.
    """
    n_ended = 0
    async with open_clients(judges, ledger, budget=Budget(None), options=options) as clients:
        for client in clients:
            for batch in await asyncio.to_thread(ledger.open_batches, client.model.id):
                n_ended += await _has_ended(client.client, batch)
    return n_ended


def in_batches(requests: Sequence[ModelRequest]) -> list[list[ModelRequest]]:
    """Return requests in as few batches as the vendors' limits allow, in their order."""
    batches: list[list[ModelRequest]] = []
    n_bytes = 0
    for request in requests:
        is_full = not batches or len(batches[-1]) >= _MOST_REQUESTS
        if is_full or n_bytes + request.n_bytes > _MOST_BYTES:
            batches.append([])
            n_bytes = 0
        batches[-1].append(request)
        n_bytes += request.n_bytes
    return batches


async def _collect_ended(plan: JudgingPlan, ledger: BatchLedger) -> set[str]:
    """Record the answers of batches that have ended; return the keys that are under way."""
    client = plan.client
    subjects = {plan.next_request(rating).key: rating.subject for rating in plan.pending}
    under_way: set[str] = set()
    for batch in await asyncio.to_thread(ledger.open_batches, client.model.id):
        if await _has_ended(client.client, batch):
            await _record(batch, await _collect(client.client, batch), subjects, client, ledger)
        else:
            under_way |= set(batch.call_keys)
    return under_way


async def _has_ended(client: Client, batch: Batch) -> bool:
    """Return whether a batch can be collected; one that the vendor no longer knows has ended."""
    try:
        return await client.has_ended(batch.batch_id)
    except RequestFailed as failure:
        if failure.http_status == _GONE:
            return True
        raise


async def _collect(client: Client, batch: Batch) -> Mapping[str, Answer]:
    """Return the answers of a batch; none if the vendor no longer knows it."""
    try:
        return await client.collect_batch(batch.batch_id)
    except RequestFailed as failure:
        if failure.http_status == _GONE:
            return {}
        raise


async def _record(
    batch: Batch,
    answers: Mapping[str, Answer],
    subjects: Mapping[str, Subject],
    client: ModelClient[Judge],
    ledger: BatchLedger,
) -> None:
    """Record answers, also those that nobody asks for any more: they are paid."""
    seconds = (datetime.now(UTC) - batch.submitted_at).total_seconds()
    nothing = RequestFailed("not among the results of its batch", remedy="retry")
    rows = []
    for key in batch.call_keys:
        answer = answers.get(key, nothing)
        client.count(answer)
        rows.append(
            attempt_row(
                key,
                client.model,
                subjects.get(key, Subject("judging", None)),
                answer,
                number=1,
                started_at=batch.submitted_at,
                latency_seconds=seconds,
            )
        )
    await asyncio.to_thread(ledger.record, rows)
    await asyncio.to_thread(ledger.close_batch, batch.batch_id)
    n_replies = sum(row.error is None for row in rows)
    logger.info("%s: %d of %d replies collected", batch.batch_id, n_replies, len(rows))


async def _submit(
    requests: Sequence[ModelRequest], client: ModelClient[Judge], ledger: BatchLedger
) -> None:
    """Submit requests and remember that they are under way."""
    submitted_at = datetime.now(UTC)
    batch_id = await client.client.submit_batch(requests)
    keys = tuple(request.key for request in requests)
    batch = Batch(batch_id, client.model.id, keys, submitted_at)
    await asyncio.to_thread(ledger.open_batch, batch)
    logger.info("%s: %d requests of %s submitted", batch_id, len(keys), client.model.id)


def _estimate(model: LiveModel[Judge], requests: Sequence[ModelRequest]) -> Estimate:
    estimate = Estimate(model)
    for request in requests:
        estimate.add(request)
    return estimate
