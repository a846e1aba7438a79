"""Workers, which send and record requests: one asset of one run, or one command.

Their claims and reservations last as long as their leases.
"""

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import wraps
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

import sqlalchemy as sa

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import StoreError, UnreachableError
from eval_assets.ledger import (
    Amount,
    Attempt,
    Batch,
    ClaimState,
    Grant,
    RateLimits,
    Refusal,
    Reply,
    Request,
)
from eval_assets.store.ledger._tables import (
    ENDED,
    attempts,
    claims,
    endpoints,
    refusals,
    workers,
)
from eval_assets.store.ledger.claims import (
    REPLIES,
    Claims,
    add_batch,
    close_batch,
    confirm_batch,
    end_claims,
    known_batches,
    open_batches,
    refused_keys,
    release,
    replies_to,
)
from eval_assets.store.ledger.engine import LEASE, SqlLedger, dead_workers, this_machine
from eval_assets.store.ledger.limits import grant, left_of_caps, portion_of

logger = logging.getLogger(__name__)

_OUTAGE_SECONDS = 60.0
"""How long a server that went away is waited for; replies that arrive meanwhile are kept."""

_RETRY_SECONDS = 0.5

_Result = TypeVar("_Result")
_Params = ParamSpec("_Params")


def _reconnecting(method: Callable[_Params, _Result]) -> Callable[_Params, _Result]:
    """Let a method be tried again while the ledger's server is away; it blocks meanwhile."""

    @wraps(method)
    def patient(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        deadline = time.monotonic() + _OUTAGE_SECONDS
        while True:
            try:
                return method(*args, **kwargs)
            except UnreachableError as error:
                if time.monotonic() > deadline:
                    raise
                logger.warning("%s: trying again", error)
                time.sleep(_RETRY_SECONDS)

    return patient


class Worker:
    """A ledger as seen by one worker; use it as a context manager.

    Its lease is renewed in a separate thread, so that claims hold while a reply takes minutes.
    At the end, and when the lease runs out, its claims are free for others.

    Args:
        ledger: The ledger.
        asset: Asset or command on whose account is asked.
        run_id: Run that it belongs to; None outside a run, where it is a separate run.
        caps: Evaluation that declares caps of runs and months; None for no cap.
    """

    def __init__(
        self,
        ledger: SqlLedger,
        *,
        asset: str,
        run_id: str | None = None,
        caps: Evaluation | None = None,
    ) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._caps = caps
        self._claims = Claims(ledger)
        self._lost_record = False
        self._lease = Lease(ledger, asset=asset, run_id=run_id)

    def __enter__(self) -> Self:
        self._lease.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._lease.end()
        except StoreError:
            # The error that ends the worker is the one to report; its lease runs out by itself.
            if error is None:
                raise

    @_reconnecting
    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Return the replies recorded so far, by request key: of several, the latest."""
        with self._ledger.read_transaction() as connection:
            return replies_to(connection, call_keys)

    @_reconnecting
    def refused_keys(self, call_keys: Collection[str]) -> frozenset[str]:
        """Return the requests of these that a vendor refused as invalid."""
        with self._ledger.read_transaction() as connection:
            return refused_keys(connection, call_keys)

    @_reconnecting
    def claim(self, requests: Sequence[Request]) -> dict[str, Reply | ClaimState]:
        """Claim requests, so that no other worker sends them; see `Ledger.claim`."""
        with self._ledger.write_transaction(is_durable=False) as connection:
            now = self._ledger.now(connection)
            if self._lease.holds_since is None:
                self._lease.renew(connection, now)
            return self._claims.claim(connection, requests, worker=self._lease.worker, now=now)

    @property
    def holds_since(self) -> int | None:
        """A number that stays the same while claims hold; see `Ledger.holds_since`."""
        return self._lease.holds_since

    @_reconnecting
    def release(self, call_keys: Collection[str]) -> None:
        """Give up claims of requests that are not sent again."""
        with self._ledger.write_transaction(is_durable=False) as connection:
            release(connection, call_keys, worker=self._lease.worker)

    @_reconnecting
    def record(self, new_attempts: Sequence[Attempt]) -> None:
        """Store attempts, all or none of them; a request that is answered is claimed no more."""
        rows = [
            {
                **vars(attempt),
                "charged_usd": _charged(attempt),
                "day": attempt.started_at.astimezone(UTC).date(),
                "evaluation": self._ledger.evaluation,
                "worker": self._lease.worker,
            }
            for attempt in new_attempts
        ]
        with self._ledger.write_transaction() as connection:
            # The server may have committed them, and gone away before it said so.
            known_calls = (
                _recorded(connection, self._lease.worker, new_attempts)
                if self._lost_record
                else set()
            )
            rows = [row for row in rows if (row["call_key"], row["attempt"]) not in known_calls]
            self._lost_record = True
            if rows:
                connection.execute(sa.insert(attempts), rows)
            answered = [attempt.call_key for attempt in new_attempts if attempt.status in REPLIES]
            end_claims(connection, answered)
            live = math.fsum(row["charged_usd"] for row in rows if not row["in_batch"])
            self._spend_reserved(connection, live)
        self._lost_record = False

    @_reconnecting
    def withdraw(self, call_keys: Collection[str], error: str) -> None:
        """Turn this worker's replies to some requests into failures; see `Ledger.withdraw`."""
        is_reply = attempts.c.call_key.in_(list(call_keys)) & attempts.c.status.in_(REPLIES)
        is_own = attempts.c.worker == self._lease.worker
        with self._ledger.write_transaction() as connection:
            connection.execute(
                sa.update(attempts).where(is_reply & is_own),
                {"status": "api_error", "error": error},
            )

    @property
    def is_capped(self) -> bool:
        """Return whether spending is capped."""
        caps = self._caps
        return caps is not None and (caps.budget_usd, caps.month_cap_usd) != (None, None)

    @_reconnecting
    def reserve(self, needed_usd: float) -> float:
        """Reserve a portion of the rest of the caps; see `Ledger.reserve`."""
        with self._ledger.write_transaction(is_durable=False) as connection:
            amounts = [rest - reserved for rest, reserved in self._left_of_caps(connection)]
            portion_usd = portion_of(min(amounts), needed_usd=needed_usd) if amounts else needed_usd
            more = workers.c.reserved_usd + portion_usd
            connection.execute(sa.update(workers).where(self._is_me).values(reserved_usd=more))
            return portion_usd

    @_reconnecting
    def left_usd(self) -> float | None:
        """Return the rest of the caps, reservations included; None without a cap."""
        with self._ledger.read_transaction() as connection:
            amounts = [rest for rest, _ in self._left_of_caps(connection)]
        return max(0.0, min(amounts)) if amounts else None

    @_reconnecting
    def grant(
        self,
        limits: RateLimits,
        demand: Amount,
        *,
        unused: Mapping[int, Amount],
        delay_seconds: float = 0.0,
    ) -> Grant:
        """Grant the next requests to a model; see `Ledger.grant`."""
        return grant(self._ledger, limits, demand, unused=unused, delay_seconds=delay_seconds)

    @_reconnecting
    def refused_capabilities(self, base_url: str, model: str) -> frozenset[str]:
        """Return the parameters that an endpoint is known to refuse for a model."""
        with self._ledger.read_transaction() as connection:
            rows = connection.scalars(
                sa.select(refusals.c.capability).where(
                    (refusals.c.base_url == base_url) & (refusals.c.model == model)
                )
            )
            return frozenset(rows)

    @_reconnecting
    def record_refusals(self, refused: Collection[Refusal]) -> None:
        """Store the parameters that endpoints refuse for models."""
        rows = [{**vars(item), "learnt_at": datetime.now(UTC)} for item in refused]
        with self._ledger.write_transaction() as connection:
            connection.execute(self._ledger.upsert(refusals).on_conflict_do_nothing(), rows)

    @_reconnecting
    def known_in_flight(self, base_url: str, model: str) -> int | None:
        """Return how many requests in flight an endpoint served; None if it never answered."""
        of = endpoints.c
        with self._ledger.read_transaction() as connection:
            return connection.scalar(
                sa.select(of.in_flight).where((of.base_url == base_url) & (of.model == model))
            )

    @_reconnecting
    def remember_in_flight(self, base_url: str, model: str, n: int) -> None:
        """Store how many requests in flight an endpoint serves."""
        row = {"in_flight": n, "learnt_at": datetime.now(UTC)}
        new = self._ledger.upsert(endpoints).values(base_url=base_url, model=model, **row)
        with self._ledger.write_transaction(is_durable=False) as connection:
            connection.execute(
                new.on_conflict_do_update(index_elements=["base_url", "model"], set_=row)
            )

    @_reconnecting
    def open_batches(self, judge_id: str) -> list[Batch]:
        """Return a judge's batches that are not closed, oldest first."""
        return open_batches(self._ledger, judge_id)

    @_reconnecting
    def known_batches(self) -> frozenset[str]:
        """Return the vendors' names of all batches that were ever submitted."""
        return known_batches(self._ledger)

    def intend_batch(self, batch: Batch) -> None:
        """Remember a batch before it is submitted; its requests stay claimed until it is closed."""
        with self._ledger.write_transaction() as connection:
            self._spend_reserved(connection, batch.most_usd)
            evaluation, worker = self._ledger.evaluation, self._lease.worker
            add_batch(connection, batch, evaluation=evaluation, worker=worker)

    @_reconnecting
    def confirm_batch(self, intent_id: str, batch_id: str) -> None:
        """Remember the vendor's name of a batch that was submitted."""
        confirm_batch(self._ledger, intent_id, batch_id)

    @_reconnecting
    def close_batch(self, intent_id: str) -> None:
        """Forget a batch whose results are all recorded, or that the vendor does not have."""
        close_batch(self._ledger, intent_id)

    @property
    def _is_me(self) -> sa.ColumnElement[bool]:
        return workers.c.worker == self._lease.worker

    def _left_of_caps(self, connection: sa.Connection) -> list[tuple[float, float]]:
        """Return the rest of each cap, and the reserved part of it."""
        if self._caps is None:
            return []
        is_of_run = self._is_me if self._run_id is None else workers.c.run_id == self._run_id
        return left_of_caps(self._ledger, connection, self._caps, is_of_run=is_of_run)

    def _spend_reserved(self, connection: sa.Connection, spent_usd: float) -> None:
        """Move newly spent amounts out of the reservation."""
        if self.is_capped and spent_usd:
            rest = workers.c.reserved_usd - spent_usd
            reserved_usd = sa.case((rest > 0, rest), else_=0.0)
            connection.execute(
                sa.update(workers).where(self._is_me).values(reserved_usd=reserved_usd)
            )


def _recorded(
    connection: sa.Connection, worker: int, new_attempts: Sequence[Attempt]
) -> set[tuple[str, int]]:
    """Return which of these attempts are in the ledger, by request key and number."""
    rows = connection.execute(
        sa.select(attempts.c.call_key, attempts.c.attempt, attempts.c.started_at).where(
            (attempts.c.worker == worker)
            & attempts.c.call_key.in_([attempt.call_key for attempt in new_attempts])
        )
    )
    recorded = {(key, number, at) for key, number, at in rows}
    return {
        (attempt.call_key, attempt.attempt)
        for attempt in new_attempts
        if (attempt.call_key, attempt.attempt, attempt.started_at.astimezone(UTC)) in recorded
    }


def _charged(attempt: Attempt) -> float:
    if attempt.charged_usd is not None:
        return attempt.charged_usd
    return attempt.cost_usd or 0.0


_RENEWAL_SECONDS = 5.0

_RECENT_SECONDS = 20.0
"""A lease renewed within this is held for long enough to send a request."""


class Lease:
    """A worker's lease, renewed in a separate thread until it ends."""

    def __init__(self, ledger: SqlLedger, *, asset: str, run_id: str | None) -> None:
        self.worker = 0
        self._ledger = ledger
        self._asset = asset
        self._run_id = run_id
        self._renewed_at = float("-inf")
        self._n_lapses = 0
        self._ended = threading.Event()
        self._renewal = threading.Thread(target=self._renew, name="ledger lease", daemon=True)

    def begin(self) -> None:
        """Enter the worker into the ledger."""
        row = {
            "evaluation": self._ledger.evaluation,
            "run_id": self._run_id,
            "asset": self._asset,
            "machine": this_machine(),
            "process": os.getpid(),
            "started_at": datetime.now(UTC),
        }
        with self._ledger.write_transaction() as connection:
            now = self._ledger.now(connection)
            row["lease_until"] = now + LEASE
            _end_dead_workers(connection, now)
            self._renewed_at = time.monotonic()
            new = sa.insert(workers).returning(workers.c.worker)
            self.worker = connection.execute(new, row).scalar_one()
        self._renewal.start()

    def end(self) -> None:
        """Free the worker's claims and reservations, except those of batches.

        Raises:
            StoreError: If the ledger cannot be written; the lease then runs out by itself.
        """
        self._ended.set()
        self._renewal.join()
        with self._ledger.write_transaction() as connection:
            is_own = (claims.c.worker == self.worker) & claims.c.batch.is_(None)
            connection.execute(sa.delete(claims).where(is_own))
            # This ends what it reserved, and tells the next worker on a file what the time is.
            _end(connection, [self.worker], self._ledger.now(connection))

    @property
    def holds_since(self) -> int | None:
        """A number that stays the same while claims hold; None if they may have been taken over.

        A process that slept finds its lease over.
        """
        is_recent = time.monotonic() - self._renewed_at < _RECENT_SECONDS
        return self._n_lapses if is_recent else None

    def renew(self, connection: sa.Connection, now: datetime) -> None:
        """Renew the lease; claims of before a lapse may be another worker's by now."""
        self._n_lapses += self.holds_since is None
        began = time.monotonic()
        is_own = workers.c.worker == self.worker
        row = {"lease_until": now + LEASE, "process": os.getpid()}
        connection.execute(sa.update(workers).where(is_own), row)
        self._renewed_at = began

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWAL_SECONDS):
            try:
                with self._ledger.write_transaction(is_durable=False) as connection:
                    now = self._ledger.now(connection)
                    self.renew(connection, now)
                    _end_dead_workers(connection, now)
            except StoreError as error:
                # Whoever records the next reply fails on the same ledger, and ends the run.
                logger.warning("the lease could not be renewed: %s", error)


def _end_dead_workers(connection: sa.Connection, now: datetime) -> None:
    """End the leases of workers on this machine whose process has ended, so that no one waits."""
    if dead := dead_workers(connection, now):
        _end(connection, dead, now)


def _end(connection: sa.Connection, ended: Sequence[int], now: datetime) -> None:
    its = workers.c.worker.in_(ended)
    connection.execute(sa.update(workers).where(its), {"lease_until": now, "process": ENDED})
