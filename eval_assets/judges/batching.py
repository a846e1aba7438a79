"""Judging by batch: ended batches are collected and missing requests submitted, without waiting."""

import asyncio
import logging
import math
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from eval_assets.config.judges import Judge
from eval_assets.judges.calling.budget import Budget, UnitKey
from eval_assets.judges.calling.client import BUDGET_USED_UP, ModelClient
from eval_assets.judges.calling.ledger_writer import attempt_row
from eval_assets.judges.calling.requests import BatchUndecided, ModelRequest, RequestFailed
from eval_assets.judges.judging_plan import IN_BATCH, JudgingPlan, PendingRating, Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import read_outcome
from eval_assets.ledger import Batch, CallSubject, Ledger
from eval_assets.wording import counted

logger = logging.getLogger(__name__)

_MOST_REQUESTS = 10_000
_MOST_BYTES = 100_000_000
"""Largest batch that is submitted: below the limits of both vendors (50,000 and 200 MB)."""

_UNKNOWN = 404
_SERVER_ERROR = 500
_PATIENCE_SECONDS = 600.0
"""Time limit of all requests to a batch endpoint together."""


async def plan_after_batches(
    units: Sequence[Unit],
    client: ModelClient[Judge],
    ledger: Ledger,
    *,
    template: PromptTemplate,
) -> JudgingPlan:
    """Return the judge's plan, with the replies of batches that have ended.

    A judge may have been asked by batch before, and its batches are paid. A batch that the vendor
    does not know stops the judge, after the others were collected.
    """
    open_batches = await asyncio.to_thread(ledger.open_batches, client.model.id)
    failures = []
    async with _stopping(client):
        for batch in open_batches:
            try:
                known = batch if batch.batch_id else await _batch_at_vendor(batch, client, ledger)
                if known is not None:
                    await _collect(known, client, ledger)
            except RequestFailed as failure:
                if failure.http_status != _UNKNOWN or batch.batch_id is None:
                    raise
                # It may be paid already.
                message = (
                    f"{batch.batch_id}: the vendor does not know this batch of "
                    f"{counted(len(batch.subjects), 'request')} or its results. Use the key and "
                    f"base_url that submitted it. {_if_lost(batch.batch_id)}"
                )
                failures.append(RequestFailed(message, remedy="stop"))
            except BatchUndecided:
                logger.info("%s: another batch has to end before one is looked for", batch.judge_id)
        if failures:
            raise failures[0]
    plan = JudgingPlan(client, template)
    await plan.look_up(units)
    return plan


async def submit_pending(plans: Sequence[JudgingPlan], ledger: Ledger, *, budget: Budget) -> None:
    """Submit the pending requests of plans.

    Scores in open batches are `missing` until a later run collects them. Requests that expired or
    failed are among those submitted again. The most that a batch can cost counts as spent. A budget
    that is not enough leaves out all judges of a unit. Units with equal texts share a request.
    """
    pairs = {
        plan: [(rating, plan.next_request(rating)) for rating in plan.pending] for plan in plans
    }
    affordable = _affordable(pairs, budget)
    for plan in plans:
        client, under_way = plan.client, set[str]()
        if not client.summary.stopped:
            requests = {r.key: r for _, r in pairs[plan] if r.key in affordable}
            subjects = {request.key: rating.subject for rating, request in pairs[plan]}
            async with _stopping(client):
                for part in in_batches(list(requests.values())):
                    await _submit(part, client, ledger, subjects=subjects)
                    under_way |= {request.key for request in part}
        outcome = client.unsent if client.summary.stopped else BUDGET_USED_UP
        for rating, request in pairs[plan]:
            is_under_way = request.key in under_way
            unsent = read_outcome(outcome, rating.unit.question)
            plan.keep(rating, IN_BATCH if is_under_way else unsent)
        plan.pending = []


def _affordable(
    pairs: Mapping[JudgingPlan, Sequence[tuple[PendingRating, ModelRequest]]], budget: Budget
) -> set[str]:
    """Return the keys of requests that the budget has, for all judges of a unit or for none."""
    most_usd: defaultdict[UnitKey, dict[str, float]] = defaultdict(dict)
    for plan, its in pairs.items():
        if not plan.client.summary.stopped:
            for rating, request in its:
                most_usd[rating.unit.key][request.key] = plan.client.model.most_usd(request)
    affordable: set[str] = set()
    for by_key in most_usd.values():
        new = by_key.keys() - affordable
        if new and budget.spend(math.fsum(by_key[key] for key in new)):
            affordable |= new
    return affordable


@asynccontextmanager
async def _stopping(client: ModelClient[Judge]) -> AsyncIterator[None]:
    """Stop the judge if its batch endpoint fails, or takes too long."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            yield
    except RequestFailed as failure:
        client.stop(str(failure))
    except TimeoutError:
        client.stop(f"the batch endpoint took longer than {_PATIENCE_SECONDS:g} s")


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


def _if_lost(batch_id: str) -> str:
    return (
        f"If it is lost, `eval-assets ledger --forget-batch {batch_id}` lets the next run pay for "
        "it again"
    )


async def _batch_at_vendor(
    batch: Batch, client: ModelClient[Judge], ledger: Ledger
) -> Batch | None:
    """Return a batch whose submission was interrupted, with the vendor's name of it.

    One that the vendor does not have is closed, so that its requests are sent again.
    """
    known_ids = await asyncio.to_thread(ledger.known_batches)
    batch_id = await client.connections.first.find_batch(batch, known_ids=known_ids)
    batch = replace(batch, batch_id=batch_id, is_closed=batch_id is None)
    await asyncio.to_thread(ledger.store_batch, batch)
    if batch.is_closed:
        logger.info("%s: a batch was never submitted", batch.judge_id)
        return None
    logger.info("%s: found at the vendor, submitted by a run that broke off", batch_id)
    return batch


async def _collect(batch: Batch, client: ModelClient[Judge], ledger: Ledger) -> None:
    """Record the outcome of every request of an ended batch, and failures for missing ones.

    Raises:
        RequestFailed: If there are fewer than the vendor counts. Those that arrived are recorded.
    """
    batch_id = batch.batch_id or ""
    results = await client.connections.first.collect_batch(batch_id)
    if results is None:
        logger.info(
            "%s: %s of %s under way at the vendor; run again later to collect the replies",
            *(batch_id, counted(len(batch.subjects), "request"), batch.judge_id),
        )
        return
    outcomes = {key: a for key, a in results.outcomes.items() if key in batch.subjects}
    is_whole = len(results.outcomes) >= results.n_expected
    if is_whole:
        outcomes = {**dict.fromkeys(batch.subjects, results.failure), **outcomes}
    rows = []
    for key, outcome in outcomes.items():  # those no longer needed too, because they are paid
        client.count(outcome)
        rows.append(
            attempt_row(
                key,
                client.model,
                batch.subjects[key],
                outcome,
                number=1,
                started_at=batch.intended_at,
            )
        )
    if rows:
        await asyncio.to_thread(ledger.record, rows)
    n_replies = sum(row.error is None for row in rows)
    logger.info("%s: %d of %d replies collected", batch.judge_id, n_replies, len(rows))
    if not is_whole:
        raise RequestFailed(
            f"{batch_id}: its results hold {len(results.outcomes)} of "
            f"{counted(results.n_expected, 'request')}, which are stored. Run again to collect the "
            f"rest. {_if_lost(batch_id)}",
            remedy="stop",
        )
    await asyncio.to_thread(ledger.store_batch, replace(batch, is_closed=True))


async def _submit(
    requests: Sequence[ModelRequest],
    client: ModelClient[Judge],
    ledger: Ledger,
    *,
    subjects: Mapping[str, CallSubject],
) -> None:
    """Submit requests as a batch, which is recorded first."""
    batch = Batch(
        intent_id=uuid.uuid4().hex,
        judge_id=client.model.id,
        subjects={request.key: subjects[request.key] for request in requests},
        intended_at=datetime.now(UTC),
        most_usd=math.fsum(map(client.model.most_usd, requests)),
    )
    prompts = {request.key: request.prompt for request in requests}
    await asyncio.to_thread(ledger.store_batch, batch, prompts)
    try:
        batch_id = await client.connections.first.submit_batch(requests, intent_id=batch.intent_id)
    except RequestFailed as failure:
        # After an error of the server it may be there all the same: the next run looks for it.
        is_certain = not failure.may_be_billed and (failure.http_status or 0) < _SERVER_ERROR
        if is_certain:
            await asyncio.to_thread(ledger.store_batch, replace(batch, is_closed=True))
        raise
    await asyncio.to_thread(ledger.store_batch, replace(batch, batch_id=batch_id))
    logger.info(
        "%s: %s of %s submitted", batch_id, counted(len(requests), "request"), batch.judge_id
    )
