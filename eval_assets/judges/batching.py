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
from eval_assets.judges.calling.client import BUDGET_USED_UP, IN_BATCH, ModelClient
from eval_assets.judges.calling.ledger_writer import attempt_row, request_row
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import Estimate
from eval_assets.judges.calling.requests import (
    BatchIncomplete,
    BatchRefused,
    BatchUndecided,
    Client,
    ModelRequest,
    Outcome,
    RequestFailed,
)
from eval_assets.judges.calling.session import RequestOptions, open_clients
from eval_assets.judges.judging_plan import JudgingPlan, PendingRating, Unit, plan_judging
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


Claimed = Mapping[JudgingPlan, Sequence[ModelRequest]]
"""Requests of each plan that this run may submit."""


async def claim_pending(plans: Sequence[JudgingPlan], ledger: BatchLedger) -> Claimed:
    """Claim the pending requests that are in no batch, and estimate the cost of these alone."""
    claimed: dict[JudgingPlan, list[ModelRequest]] = {}
    for plan in plans:
        claimed[plan] = [] if plan.client.summary.stopped else await _claimed(plan, ledger)
        plan.estimate = Estimate(plan.client.model)
        for request in claimed[plan]:
            plan.estimate.add(request)
    return claimed


async def submit_claimed(claimed: Claimed, ledger: BatchLedger, *, budget: Budget) -> None:
    """Submit the claimed requests of plans, and leave their other pending ratings.

    Scores in open batches are `missing` until a later run collects them. Requests that expired or
    failed are among those submitted again. The most that a batch can cost counts as spent. A budget
    that is not enough leaves out all judges of a unit.
    """
    affordable = await _affordable(claimed, budget)
    for plan, requests in claimed.items():
        await _submit_plan(plan, ledger, requests=requests, affordable=affordable)


async def _affordable(claimed: Claimed, budget: Budget) -> set[str]:
    """Return the keys of requests that the budget has, for all judges of a unit or for none."""
    by_key = {
        request.key: (plan, request) for plan, requests in claimed.items() for request in requests
    }
    keys_by_unit: dict[UnitKey, list[str]] = {}
    for plan in claimed:
        for rating in plan.pending:
            key = plan.next_request(rating).key
            keys_by_unit.setdefault(rating.unit_key, []).append(key)
    affordable: set[str] = set()
    for keys in keys_by_unit.values():
        new = {key for key in keys if key in by_key} - affordable
        costs = [
            plan.client.model.most_usd(request) for plan, request in (by_key[key] for key in new)
        ]
        if new and await budget.spend(math.fsum(costs)):
            affordable |= new
    return affordable


async def _submit_plan(
    plan: JudgingPlan,
    ledger: BatchLedger,
    *,
    requests: Sequence[ModelRequest],
    affordable: Collection[str],
) -> None:
    """Submit the affordable requests of a judge, and leave the others with the reason."""
    client = plan.client
    pending = {plan.next_request(rating).key for rating in plan.pending}
    under_way = set() if client.summary.stopped else pending - {r.key for r in requests}
    if not client.summary.stopped:
        async with _stopping(client):
            for part in in_batches([r for r in requests if r.key in affordable]):
                await _submit(part, client, ledger)
                under_way |= {request.key for request in part}
            too_dear = [r.key for r in requests if r.key not in under_way]
            await asyncio.to_thread(ledger.release, too_dear)

    def left(rating: PendingRating) -> ParsedReply:
        if plan.next_request(rating).key in under_way:
            return read_outcome(IN_BATCH, rating.unit.question)
        outcome = client.unsent if client.summary.stopped else BUDGET_USED_UP
        return read_outcome(outcome, rating.unit.question)

    plan.leave(left)


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


async def n_ended_batches(
    judges: Sequence[LiveModel[Judge]], ledger: BatchLedger, *, options: RequestOptions
) -> int:
    """Return the number of batches to collect, by requests to the vendors that cost nothing.

    Raises:
        RequestFailed: If a vendor cannot be reached.
    """
    n_ended = 0
    async with open_clients(judges, ledger, budget=Budget(None), options=options) as clients:
        for client in clients:
            for batch in await asyncio.to_thread(ledger.open_batches, client.model.id):
                # A batch that may not have been submitted is left to the next run.
                name = batch.batch_id
                n_ended += name is None or await _has_ended(client.connections.first, name)
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


async def _has_ended(client: Client, batch_id: str) -> bool:
    """Return whether a batch can be collected; one that the vendor does not know cannot."""
    try:
        return await client.has_ended(batch_id)
    except RequestFailed as failure:
        if failure.http_status == _UNKNOWN:
            return False
        raise


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


async def _claimed(plan: JudgingPlan, ledger: BatchLedger) -> list[ModelRequest]:
    """Claim and return the pending requests that no batch and no other run holds."""
    model = plan.client.model
    requests: dict[str, ModelRequest] = {}
    rows = []
    for rating in plan.pending:
        request = plan.next_request(rating)
        if request.key not in requests:
            most_usd = model.most_usd(request)
            rows.append(request_row(request, model, rating.subject, most_usd=most_usd))
        requests[request.key] = request
    states = await asyncio.to_thread(ledger.claim, rows) if rows else {}
    return [request for key, request in requests.items() if states[key] == "claimed"]


async def _submit(
    requests: Sequence[ModelRequest], client: ModelClient[Judge], ledger: BatchLedger
) -> None:
    """Submit requests as a batch, which is recorded first."""
    batch = Batch(
        intent_id=uuid.uuid4().hex,
        judge_id=client.model.id,
        call_keys=tuple(request.key for request in requests),
        intended_at=datetime.now(UTC),
        most_usd=math.fsum(map(client.model.most_usd, requests)),
    )
    await asyncio.to_thread(ledger.intend_batch, batch)
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
