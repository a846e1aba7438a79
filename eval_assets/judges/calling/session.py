"""Models made ready to be asked, with one budget and one way into the ledger."""

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from eval_assets.errors import InputError, InputProblem
from eval_assets.judges.calling.budget import Budget
from eval_assets.judges.calling.client import ModelClient
from eval_assets.judges.calling.connections import Connections
from eval_assets.judges.calling.interruption import ending_well
from eval_assets.judges.calling.ledger_writer import LedgerWriter
from eval_assets.judges.calling.limiter import Limiter
from eval_assets.judges.calling.live_model import AnyLiveModel, Declared, LiveModel
from eval_assets.judges.calling.progress import Report, log_report
from eval_assets.judges.calling.requests import Answer
from eval_assets.judges.calling.retry import RetryPolicy
from eval_assets.judges.calling.shared_rate_limits import SharedRates
from eval_assets.judges.clients import connect
from eval_assets.judges.clients.masking import secrets_in
from eval_assets.ledger import Ledger
from eval_assets.rate_limits import Amount, Grant, RateLimits

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RequestOptions:
    """How requests are sent.

    Args:
        api_keys: Keys by id of the judge or generator.
        budget_usd: Most that may be spent; None for no cap but those of the ledger.
        report: Receives what to expect before the first request, and the progress.
        retry: When a failed request is sent again.
        seed: Seed of the retries' jitter.
    """

    api_keys: Mapping[str, str] = field(repr=False)
    budget_usd: float | None = None
    report: Report = log_report
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    seed: int = 0


def require_prices(models: Sequence[AnyLiveModel], *, is_capped: bool) -> None:
    """Raise InputError if there is a cap and a model's price is not known: it could not be kept.

    Without a cap, an unknown price is logged.
    """
    unpriced = ", ".join(sorted({each.endpoint.model for each in models if each.price is None}))
    if unpriced and is_capped:
        what = f"the price of {unpriced} is not known, so no cap could be kept"
        remedy = "Add it under prices, or remove the budget"
        raise InputError(InputProblem("evaluation.yaml", None, "budget_usd", what, remedy))
    if unpriced:
        logger.warning("the price of %s is not known, so neither is its cost", unpriced)


def warn_of_budget(n_stopped: int, *, left_usd: float | None) -> None:
    """Log how much of the budget is left if it did not reach everything; None is no cap."""
    if n_stopped and left_usd is not None:
        logger.warning(
            "the budget did not reach %d scores or responses; %.4f USD are left, less than the "
            "next one may cost, or reserved by other runs. Raise it or run again: nothing is asked "
            "twice",
            n_stopped,
            left_usd,
        )


@asynccontextmanager
async def open_clients(
    models: Sequence[LiveModel[Declared]],
    ledger: Ledger,
    *,
    budget: Budget,
    options: RequestOptions,
) -> AsyncIterator[list[ModelClient[Declared]]]:
    """Yield a client for each model; in the end commit what arrived and disconnect.

    That end comes whatever happens inside.
    """
    rng = np.random.default_rng(options.seed)
    asked: dict[str, asyncio.Task[Answer]] = {}
    writer = LedgerWriter(ledger)
    limiters: dict[str, Limiter] = {}
    keys = frozenset([*options.api_keys.values(), *secrets_in(os.environ)])
    clients: list[ModelClient[Declared]] = []
    async with ending_well(clients, asked) as interruption, AsyncExitStack() as stack:
        for model in models:
            endpoint, account = model.endpoint, _account(model, options)
            refused = await asyncio.to_thread(
                ledger.refused_capabilities, endpoint.base_url, endpoint.model
            )
            connections = Connections(
                partial(connect, endpoint, api_key=options.api_keys[model.id], keys=keys)
            )
            stack.push_async_callback(connections.close)
            if account not in limiters:
                same = [each for each in models if _account(each, options) == account]
                limiters[account] = _limiter(account, same, ledger)
            client = ModelClient(
                model,
                connections,
                limiter=limiters[account],
                writer=writer,
                budget=budget,
                retry=options.retry,
                rng=rng,
                refused=refused,
                asked=asked,
            )
            clients.append(client)
        stack.push_async_callback(writer.close)
        stack.push_async_callback(_cancel, asked)
        stack.callback(interruption.leave)
        yield clients


def _account(model: AnyLiveModel, options: RequestOptions) -> str:
    """Return a name of a model and account that is the same in every process, and not the key."""
    endpoint = model.endpoint
    parts = (endpoint.provider, endpoint.base_url, endpoint.model, options.api_keys[model.id])
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _limiter(account: str, models: Sequence[AnyLiveModel], ledger: Ledger) -> Limiter:
    """Return the limiter of a model and account, with the least of all declared limits.

    Vendors limit an account, whichever judge or process asks.
    """
    declared = [model.declared for model in models]
    requests = [r for each in declared if (r := each.requests_per_minute) is not None]
    tokens = [r for each in declared if (r := each.input_tokens_per_minute) is not None]
    limits = RateLimits(account, min(requests, default=None), min(tokens, default=None))

    async def grant(wanted: Amount, unused: Mapping[int, Amount], delay_seconds: float) -> Grant:
        return await asyncio.to_thread(
            ledger.grant, limits, wanted, unused=unused, delay_seconds=delay_seconds
        )

    return Limiter(
        requests_per_minute=limits.requests_per_minute,
        input_tokens_per_minute=limits.input_tokens_per_minute,
        max_in_flight=min(each.max_in_flight for each in declared),
        shared=SharedRates(limits, grant) if requests or tokens else None,
    )


async def _cancel(asked: Mapping[str, asyncio.Task[Answer]]) -> None:
    """Cancel requests that nobody waits for any more, when a run ends early."""
    unfinished = [task for task in asked.values() if not task.done()]
    for task in unfinished:
        task.cancel()
    await asyncio.gather(*unfinished, return_exceptions=True)
