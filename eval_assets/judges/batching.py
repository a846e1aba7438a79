"""Judging by batch: ended batches are collected and missing requests submitted, without waiting."""

import asyncio
import logging
import math
import uuid
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from eval_assets.config.judges import Judge
from eval_assets.judges.calling.budget import Budget, UnitKey
from eval_assets.judges.calling.client import BUDGET_USED_UP, ModelClient
from eval_assets.judges.calling.ledger_writer import attempt_row, prompt_of
from eval_assets.judges.calling.requests import (
    BatchIncomplete,
    BatchRefused,
    BatchUndecided,
    Client,
    ModelRequest,
    Outcome,
    RequestFailed,
)
from eval_assets.judges.judging_plan import (
    IN_BATCH,
    JudgingPlan,
    PendingRating,
    Unit,
    plan_judging,
)
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import ParsedReply, read_outcome
from eval_assets.ledger import Batch, BatchLedger, CallSubject
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
    ledger: BatchLedger,
    *,
    template: PromptTemplate,
) -> JudgingPlan:
    """Return the judge's plan, with the replies of batches that have ended.

    A judge may have been asked by batch before, and its batches are paid.
    """
    plan = await plan_judging(units, client, template=template)
    open_batches = await asyncio.to_thread(ledger.open_batches, client.model.id)
    if not open_batches:
        return plan
    async with _stopping(client):
        await _collect_ended(open_batches, client, ledger)
    return await plan_judging(units, client, template=template)


async def submit_pending(
    plans: Sequence[JudgingPlan], ledger: BatchLedger, *, budget: Budget
) -> None:
    """Submit the pending requests of plans.

    Scores in open batches are `missing` until a later run collects them. Requests that expired or
    failed are among those submitted again. The most that a batch can cost counts as spent. A budget
    that is not enough leaves out all judges of a unit.
    """
    requests = {plan: _pending_requests(plan) for plan in plans}
    affordable = await _affordable(requests, budget)
    for plan in plans:
        client, under_way = plan.client, set[str]()
        if not client.summary.stopped:
            async with _stopping(client):
                subjects = {
                    plan.next_request(rating).key: rating.subject for rating in plan.pending
                }
                chosen = [r for key, r in requests[plan].items() if key in affordable]
                for part in in_batches(chosen):
                    await _submit(part, client, ledger, subjects=subjects)
                    under_way |= {request.key for request in part}
        outcome = client.unsent if client.summary.stopped else BUDGET_USED_UP

        def left(
            rating: PendingRating,
            plan: JudgingPlan = plan,
            under_way: Collection[str] = under_way,
            outcome: Outcome = outcome,
        ) -> ParsedReply:
            is_under_way = plan.next_request(rating).key in under_way
            return IN_BATCH if is_under_way else read_outcome(outcome, rating.unit.question)

        plan.leave(left)


def _pending_requests(plan: JudgingPlan) -> dict[str, ModelRequest]:
    """Return the pending requests of a plan by key: units with equal texts share one."""
    if plan.client.summary.stopped:
        return {}
    requests = [plan.next_request(rating) for rating in plan.pending]
    return {request.key: request for request in requests}


async def _affordable(
    requests: Mapping[JudgingPlan, Mapping[str, ModelRequest]], budget: Budget
) -> set[str]:
    """Return the keys of requests that the budget has, for all judges of a unit or for none."""
    most_usd = {
        key: plan.client.model.most_usd(request)
        for plan, by_key in requests.items()
        for key, request in by_key.items()
    }
    keys_by_unit: dict[UnitKey, list[str]] = {}
    for plan in requests:
        for rating in plan.pending:
            key = plan.next_request(rating).key
            keys_by_unit.setdefault(rating.unit_key, []).append(key)
    affordable: set[str] = set()
    for keys in keys_by_unit.values():
        new = {key for key in keys if key in most_usd} - affordable
        if new and await budget.spend(math.fsum(most_usd[key] for key in new)):
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


async def _collect_ended(
    open_batches: Sequence[Batch], client: ModelClient[Judge], ledger: BatchLedger
) -> None:
    """Record the outcomes of batches that have ended.

    Raises:
        RequestFailed: If a batch cannot be collected, after the others were.
    """
    failures = []
    vendor = client.connections.first
    for batch in open_batches:
        try:
            batch_id = batch.batch_id or await _batch_at_vendor(batch, vendor, ledger)
            if batch_id and await vendor.has_ended(batch_id):
                await _collect(batch, batch_id, client, ledger)
            elif batch_id:
                n_requests = counted(len(batch.call_keys), "request")
                logger.info(
                    "%s: %s of %s under way at the vendor; run again later to collect the replies",
                    *(batch_id, n_requests, batch.judge_id),
                )
        except RequestFailed as failure:
            if failure.http_status != _UNKNOWN or batch.batch_id is None:
                raise
            failures.append(_unknown_batch(batch))
        except BatchUndecided:
            logger.info("%s: another batch has to end before one is looked for", batch.judge_id)
    if failures:
        raise failures[0]


def _unknown_batch(batch: Batch) -> RequestFailed:
    """Return the failure of a batch that the vendor does not know, which may be paid already."""
    return RequestFailed(
        f"{batch.batch_id}: the vendor does not know this batch of "
        f"{counted(len(batch.call_keys), 'request')} or its results. Use the key and base_url "
        "that submitted it. If it is lost, "
        f"`eval-assets ledger --forget-batch {batch.batch_id}` lets the next run pay for it again",
        remedy="stop",
    )


async def _batch_at_vendor(batch: Batch, client: Client, ledger: BatchLedger) -> str | None:
    """Return the vendor's name of a batch whose submission was interrupted.

    A batch that the vendor does not have is closed, so that its requests are sent again.
    """
    known_ids = await asyncio.to_thread(ledger.known_batches)
    batch_id = await client.find_batch(batch, known_ids=known_ids)
    if batch_id is None:
        logger.info("%s: a batch was never submitted", batch.judge_id)
        await asyncio.to_thread(ledger.close_batch, batch.intent_id)
    else:
        logger.info("%s: found at the vendor, submitted by a run that broke off", batch_id)
        await asyncio.to_thread(ledger.confirm_batch, batch.intent_id, batch_id)
    return batch_id


async def _collect(
    batch: Batch, batch_id: str, client: ModelClient[Judge], ledger: BatchLedger
) -> None:
    """Record the outcome of every request of a batch, and failures for missing ones.

    Raises:
        BatchIncomplete: If results are missing. Those that arrived are recorded.
    """
    failure: RequestFailed = RequestFailed("not among the results of its batch", remedy="retry")
    outcomes: Mapping[str, Outcome] = {}
    try:
        outcomes = await client.connections.first.collect_batch(batch_id)
    except BatchRefused as refusal:
        failure = refusal
    except BatchIncomplete as incomplete:
        arrived = {k: a for k, a in incomplete.outcomes.items() if k in batch.call_keys}
        await _record(batch, arrived, client, ledger)
        raise RequestFailed(
            f"{batch_id}: {incomplete}, which are stored. Run again to collect the rest. If they "
            f"are lost, `eval-assets ledger --forget-batch {batch_id}` lets the next run pay for "
            "them again",
            remedy="stop",
        ) from incomplete
    await _record(batch, {k: outcomes.get(k, failure) for k in batch.call_keys}, client, ledger)
    await asyncio.to_thread(ledger.close_batch, batch.intent_id)


async def _record(
    batch: Batch,
    outcomes: Mapping[str, Outcome],
    client: ModelClient[Judge],
    ledger: BatchLedger,
) -> None:
    """Record outcomes, including those no longer needed, because they are paid."""
    seconds = (datetime.now(UTC) - batch.intended_at).total_seconds()
    rows = []
    for key, outcome in outcomes.items():
        client.count(outcome)
        rows.append(
            attempt_row(
                key,
                client.model,
                batch.subjects.get(key, CallSubject("judging", None)),
                outcome,
                number=1,
                started_at=batch.intended_at,
                latency_seconds=seconds,
            )
        )
    if rows:
        await asyncio.to_thread(ledger.record, rows)
    n_replies = sum(row.error is None for row in rows)
    logger.info("%s: %d of %d replies collected", batch.judge_id, n_replies, len(rows))


async def _submit(
    requests: Sequence[ModelRequest],
    client: ModelClient[Judge],
    ledger: BatchLedger,
    *,
    subjects: Mapping[str, CallSubject],
) -> None:
    """Submit requests as a batch, which is recorded first."""
    batch = Batch(
        intent_id=uuid.uuid4().hex,
        judge_id=client.model.id,
        call_keys=tuple(request.key for request in requests),
        intended_at=datetime.now(UTC),
        most_usd=math.fsum(map(client.model.most_usd, requests)),
        subjects={request.key: subjects[request.key] for request in requests},
    )
    prompts = {request.key: prompt_of(request) for request in requests}
    await asyncio.to_thread(ledger.intend_batch, batch, prompts)
    try:
        batch_id = await client.connections.first.submit_batch(requests, intent_id=batch.intent_id)
    except RequestFailed as failure:
        # After an error of the server it may be there all the same: the next run looks for it.
        is_certain = not failure.may_be_billed and (failure.http_status or 0) < _SERVER_ERROR
        if is_certain:
            await asyncio.to_thread(ledger.close_batch, batch.intent_id)
        raise
    await asyncio.to_thread(ledger.confirm_batch, batch.intent_id, batch_id)
    logger.info(
        "%s: %s of %s submitted", batch_id, counted(len(requests), "request"), batch.judge_id
    )
