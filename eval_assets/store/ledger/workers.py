"""Workers, which send and record requests: one asset of one run or a shard of it, or one command.

They hold the slots of the units that they ask about, so that nobody else does.
"""

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from types import MappingProxyType, TracebackType
from typing import Any, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import StoreError, UnreachableError
from eval_assets.ledger import (
    WHOLE,
    Attempt,
    Batch,
    EndpointMemory,
    RateLimits,
    Reply,
    Shard,
)
from eval_assets.store.ledger import batches
from eval_assets.store.ledger._tables import endpoints, refusals, slots, workers
from eval_assets.store.ledger.attempts import (
    replies_to,
    store_attempts,
    store_prompts,
)
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.limits import left_of_caps, take_of_rates
from eval_assets.store.ledger.slots import (
    FileLocks,
    SessionLocks,
    has_ended,
    locks_of,
    number_of,
    this_machine,
)
from eval_assets.wording import listed

logger = logging.getLogger(__name__)

_OUTAGE_SECONDS = 60.0
"""How long a server that went away is waited for; replies that arrive meanwhile are kept."""

_RETURN_SECONDS = _OUTAGE_SECONDS
"""How long the slots of a worker that lost its connection are kept for it."""

_RETRY_SECONDS = 0.5
_POLL_SECONDS = 0.2

_PATIENCE_SECONDS = 1.0
"""How long a command waits for slots where somebody waits for its answer."""

_SPENDING = ""
"""Stands for a judge whose slots are held by whoever spends from a cap: one spender, or the shards
of a run with their parts, at a time."""

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
    """A ledger as seen by one worker; use it as a context manager to ask.

    It waits for the slots of its judges, says for whom, and holds them until the end.

    Args:
        ledger: The ledger.
        asset: Asset or command on whose account is asked.
        run_id: Run that it belongs to; None outside a run, where it is a separate run.
        caps: Evaluation that declares caps of runs and months; None for no cap.
        judge_ids: Judges or generators that are asked.
        shard: The units that are asked about, and the part of the caps that may be spent.
        is_waiting: Whether slots that another run holds are waited for.

    Raises:
        StoreError: At the beginning, if slots are held and not waited for.
    """

    def __init__(  # noqa: PLR0913 - the columns of a worker, and what it holds
        self,
        ledger: SqlLedger,
        *,
        asset: str,
        run_id: str | None = None,
        caps: Evaluation | None = None,
        judge_ids: Collection[str] = (),
        shard: Shard = WHOLE,
        is_waiting: bool = True,
    ) -> None:
        self._ledger = ledger
        self._asset = asset
        self._run_id = run_id
        self._caps = caps
        self._judge_ids = sorted({*judge_ids, *([_SPENDING] if self.is_capped else [])})
        self._shard = shard
        self._is_waiting = is_waiting
        self._numbers = {
            number_of(ledger, judge_id, slot): (judge_id, slot)
            for judge_id in self._judge_ids
            for slot in shard.slots
        }
        self._worker: int | None = None
        self._locks: FileLocks | SessionLocks | None = None
        self._turn = threading.RLock()  # a session has one transaction at a time
        self._gone_since: dict[int, float] = {}
        self._successor: str | None = None

    def __enter__(self) -> Self:
        try:
            self._await_slots()
            self._sign()
        except BaseException:
            if self._locks is not None:
                self._locks.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            with self._transaction(is_writing=True, is_durable=False) as connection:
                connection.execute(sa.delete(slots).where(slots.c.worker == self._worker))
        except StoreError:
            # The error that ends the worker is the one to report; its locks end all the same.
            if error is None:
                raise
        finally:
            if self._locks is not None:
                self._locks.close()

    @_reconnecting
    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Return the replies recorded so far, by request key; see `Ledger.replies`."""
        with self._transaction(is_writing=False) as connection:
            if self._successor is not None:
                raise StoreError(
                    f"the connection to the ledger was lost, and {self._successor} asks by now. "
                    "Replies that arrived are stored. Run again when it has ended"
                )
            return replies_to(connection, call_keys)

    @_reconnecting
    def record(
        self, new_attempts: Sequence[Attempt], prompts: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Store attempts and what they asked, all or none of them."""
        rows = [
            {
                **vars(attempt),
                "charged_usd": _charged(attempt),
                "day": attempt.started_at.astimezone(UTC).date(),
                "evaluation": self._ledger.evaluation,
                "worker": self._worker,
            }
            for attempt in new_attempts
        ]
        with self._transaction(is_writing=True) as connection:
            store_attempts(connection, self._ledger, rows)
            store_prompts(connection, self._ledger, prompts)

    @property
    def is_capped(self) -> bool:
        """Return whether spending is capped."""
        caps = self._caps
        return caps is not None and (caps.budget_usd, caps.month_cap_usd) != (None, None)

    @_reconnecting
    def left_usd(self) -> float | None:
        """Return what is left of the caps, or of a shard's part of them; None without a cap."""
        if self._caps is None or not self.is_capped:
            return None
        is_of_run = (
            workers.c.worker == self._worker
            if self._run_id is None
            else workers.c.run_id == self._run_id
        )
        with self._transaction(is_writing=False) as connection:
            return left_of_caps(
                connection,
                self._caps,
                account=self._ledger.evaluation,
                is_of_run=is_of_run,
                shard=self._shard,
            )

    @_reconnecting
    def take(
        self, limits: RateLimits, *, requests: int, tokens: int, delay_seconds: float
    ) -> float:
        """Take requests of a model's rates; see `Ledger.take`."""
        return take_of_rates(
            self._ledger, limits, requests=requests, tokens=tokens, delay_seconds=delay_seconds
        )

    @_reconnecting
    def endpoint_memory(self, base_url: str, model: str) -> EndpointMemory:
        """Return what earlier runs found out about an endpoint."""
        refused, numbers = (
            sa.select(*columns).where((table.c.base_url == base_url) & (table.c.model == model))
            for table, columns in (
                (refusals, (refusals.c.capability, refusals.c.error)),
                (endpoints, (endpoints.c.in_flight,)),
            )
        )
        with self._transaction(is_writing=False) as connection:
            errors = {row.capability: row.error for row in connection.execute(refused)}
            return EndpointMemory(errors, connection.scalar(numbers))

    @_reconnecting
    def remember_endpoint(self, base_url: str, model: str, memory: EndpointMemory) -> None:
        """Add what a run found out about an endpoint."""
        row = {"base_url": base_url, "model": model, "learnt_at": datetime.now(UTC)}
        rows = [row | {"capability": name, "error": e} for name, e in memory.refused.items()]
        number = {"in_flight": memory.in_flight, "learnt_at": row["learnt_at"]}
        with self._transaction(is_writing=True, is_durable=False) as connection:
            if rows:
                connection.execute(self._ledger.upsert(refusals).on_conflict_do_nothing(), rows)
            if memory.in_flight is not None:
                connection.execute(
                    self._ledger.upsert(endpoints)
                    .values({**row, **number})
                    .on_conflict_do_update(index_elements=["base_url", "model"], set_=number)
                )

    @_reconnecting
    def keys_in_batches(self, call_keys: Collection[str]) -> frozenset[str]:
        """Return the requests of these that a vendor works on."""
        with self._transaction(is_writing=False) as connection:
            return batches.keys_in_batches(connection, call_keys)

    @_reconnecting
    def open_batches(self, judge_id: str) -> list[Batch]:
        """Return a judge's batches that are not closed, oldest first; none to a shard."""
        if self._shard.n_shards > 1:
            return []
        with self._transaction(is_writing=False) as connection:
            return batches.open_batches(connection, self._ledger.evaluation, judge_id)

    @_reconnecting
    def known_batches(self) -> frozenset[str]:
        """Return the vendors' names of all batches that were ever submitted."""
        with self._transaction(is_writing=False) as connection:
            return batches.known_batches(connection)

    def intend_batch(self, batch: Batch, prompts: Mapping[str, str]) -> None:
        """Remember a batch before it is submitted, and what it asks, by request key."""
        with self._transaction(is_writing=True) as connection:
            batches.add_batch(
                connection, self._ledger, batch, prompts=prompts, worker=self._worker or 0
            )

    @_reconnecting
    def confirm_batch(self, intent_id: str, batch_id: str) -> None:
        """Remember the vendor's name of a batch that was submitted."""
        with self._transaction(is_writing=True) as connection:
            batches.confirm_batch(connection, intent_id, batch_id)

    @_reconnecting
    def close_batch(self, intent_id: str) -> None:
        """Forget a batch whose results are all recorded, or that the vendor does not have."""
        with self._transaction(is_writing=True) as connection:
            batches.close_batch(connection, intent_id)

    @contextmanager
    def _transaction(self, *, is_writing: bool, is_durable: bool = True) -> Iterator[sa.Connection]:
        """Open a transaction, on the session that holds the locks if there is one."""
        if not isinstance(self._locks, SessionLocks):
            opened = (
                self._ledger.write_transaction(is_durable=is_durable)
                if is_writing
                else self._ledger.read_transaction()
            )
            with opened as connection:
                yield connection
            return
        with self._turn:
            if self._locks.is_lost:
                self._locks = self._resumed(self._locks)
            with self._ledger.transaction_on(
                self._locks.session, is_writing=is_writing, is_durable=is_durable
            ) as connection:
                yield connection

    def _resumed(self, lost: SessionLocks) -> SessionLocks:
        """Return a session with the locks of one that was lost.

        Without them, if another worker has taken them: what arrives is stored, and nothing is sent.

        Raises:
            UnreachableError: If the server has not noticed yet that the session is lost.
        """
        lost.close()
        locks = SessionLocks(self._ledger)
        if locks.take(self._numbers) is None:
            return locks
        holders = [row for row in self._holders() if row.worker != self._worker]
        if not holders:
            locks.close()
            raise UnreachableError(f"{self._ledger.place}: its locks are not free again")
        self._successor = _name_of(holders[0])
        return locks

    def _await_slots(self) -> None:
        """Take the slots, as soon as nobody else holds them."""
        patience = math.inf if self._is_waiting else _PATIENCE_SECONDS
        deadline, is_told = time.monotonic() + patience, False
        while not self._has_taken():
            holders = self._holders()
            name = _name_of(holders[0]) if holders else "another run"
            judges = listed([judge_id for judge_id in self._judge_ids if judge_id])
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{name} asks {judges}. Wait for its end, then try again: what it asked is not "
                    "asked twice"
                )
            if self._is_waiting and not is_told:
                logger.warning("%s asks %s: waiting for its end", name, judges)
                is_told = True
            time.sleep(_POLL_SECONDS)

    @_reconnecting
    def _has_taken(self) -> bool:
        """Take the slots; return False if another worker holds them, or may come back for them."""
        if self._locks is None or self._locks.is_lost:
            self._locks = locks_of(self._ledger)
        if self._locks.take(self._numbers) is not None:
            return False
        if self._has_holder_to_return():
            self._locks.free()
            return False
        return True

    def _has_holder_to_return(self) -> bool:
        """Return whether a worker that lost its session may come back for its slots.

        It waits for replies to what it sent. A file's locks are never lost.
        """
        if self._ledger.file is not None:
            return False
        now = time.monotonic()
        return any(
            now - self._gone_since.setdefault(row.worker, now) < _RETURN_SECONDS
            for row in self._holders()
            if not has_ended(row.machine, row.process)
        )

    @_reconnecting
    def _holders(self) -> Sequence[sa.Row[Any]]:
        """Return the workers that signed for one of the slots, the latest first."""
        of_slots = sa.select(slots.c.worker).where(
            (slots.c.evaluation == self._ledger.evaluation)
            & slots.c.judge_id.in_(self._judge_ids)
            & slots.c.slot.in_(list(self._shard.slots))
        )
        with self._ledger.read_transaction() as connection:
            return connection.execute(
                sa.select(workers)
                .where(workers.c.worker.in_(of_slots))
                .order_by(workers.c.worker.desc())
            ).all()

    @_reconnecting
    def _sign(self) -> None:
        """Enter the worker into the ledger, and that it holds the slots."""
        row = {
            "evaluation": self._ledger.evaluation,
            "run_id": self._run_id,
            "asset": self._asset,
            "machine": this_machine(),
            "process": os.getpid(),
            "started_at": datetime.now(UTC),
            "shard": self._shard.index,
            "n_shards": self._shard.n_shards,
        }
        new = self._ledger.upsert(slots)
        with self._transaction(is_writing=True, is_durable=False) as connection:
            inserted = sa.insert(workers).returning(workers.c.worker)
            self._worker = connection.execute(inserted, row).scalar_one()
            rows = [
                {
                    "evaluation": self._ledger.evaluation,
                    "judge_id": judge_id,
                    "slot": slot,
                    "worker": self._worker,
                }
                for judge_id, slot in self._numbers.values()
            ]
            if rows:
                signed = new.on_conflict_do_update(
                    index_elements=["evaluation", "judge_id", "slot"],
                    set_={"worker": new.excluded.worker},
                )
                connection.execute(signed, rows)


def _name_of(holder: sa.Row[Any]) -> str:
    """Return how messages call a worker."""
    run = "a command" if holder.run_id is None else f"run {holder.run_id[:8]}"
    machine = holder.machine.split(" ")[0]
    return f"{run} ({holder.asset}, process {holder.process} on {machine})"


def _charged(attempt: Attempt) -> float:
    if attempt.charged_usd is not None:
        return attempt.charged_usd
    return attempt.cost_usd or 0.0
