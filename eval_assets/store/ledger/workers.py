"""Workers, which send and record requests: one asset of one run or a shard of it, or one command.

They hold the slots of the units that they ask about, so that nobody else does.
"""

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import wraps
from types import MappingProxyType, TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import StoreError, UnreachableError
from eval_assets.ledger import (
    WHOLE,
    Attempt,
    Batch,
    CallSubject,
    EndpointMemory,
    RateLimits,
    Reply,
    Shard,
)
from eval_assets.store.ledger._tables import (
    attempts,
    batch_requests,
    batches,
    endpoints,
    refusals,
    requests,
    slots,
    workers,
)
from eval_assets.store.ledger.attempts import (
    close_batch,
    in_month,
    in_portions,
    part_left,
    replies_to,
    spent,
    store_attempts,
    take_of_rates,
)
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.slots import (
    FileLocks,
    SessionLocks,
    has_ended,
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

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


_Work = Callable[Concatenate["Worker", sa.Connection, _P], _Result]
_Method = Callable[Concatenate["Worker", _P], _Result]


def _in_transaction(
    *, is_writing: bool = False
) -> Callable[[_Work[_P, _Result]], _Method[_P, _Result]]:
    """Let a method of a worker work on a transaction, again while the ledger's server is away."""

    def decorate(work: _Work[_P, _Result]) -> _Method[_P, _Result]:
        @wraps(work)
        def method(self: "Worker", /, *args: _P.args, **options: _P.kwargs) -> _Result:
            def attempt() -> _Result:
                with self._transaction(is_writing=is_writing) as connection:
                    return work(self, connection, *args, **options)

            return self._patiently(attempt)

        return method

    return decorate


class Worker:
    """A ledger as seen by one worker; use it as a context manager to ask.

    It waits for the slots of its judges, says for whom, and holds them until the end. While the
    ledger's server is away, its methods block; see `Ledger` for what they do.

    Args:
        asset: Asset or command on whose account is asked.
        run_id: Run that it belongs to; None outside a run, where it is a separate run.
        caps: Evaluation that declares caps of runs and months; a shard has a part of them.
        judge_ids: Judges or generators that are asked.
        shard: The units that are asked about.
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
        is_capped = caps and (caps.budget_usd, caps.month_cap_usd) != (None, None)
        self._caps = caps if is_capped else None
        self._judge_ids = sorted({*judge_ids, *([_SPENDING] if is_capped else [])})
        self._shard = shard
        self._is_waiting = is_waiting
        self._numbers = [
            number_of(ledger, judge_id, slot)
            for judge_id in self._judge_ids
            for slot in shard.slots
        ]
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
            with self._transaction(is_writing=True) as connection:
                connection.execute(sa.delete(slots).where(slots.c.worker == self._worker))
        except StoreError:
            # The error that ends the worker is the one to report; its locks end all the same.
            if error is None:
                raise
        finally:
            if self._locks is not None:
                self._locks.close()

    @_in_transaction()
    def replies(self, connection: sa.Connection, call_keys: Collection[str]) -> dict[str, Reply]:
        """Return the replies recorded so far, by request key."""
        if self._successor is not None:
            raise StoreError(
                f"the connection to the ledger was lost, and {self._successor} asks by now. "
                "Replies that arrived are stored. Run again when it has ended"
            )
        return replies_to(connection, call_keys)

    @_in_transaction(is_writing=True)
    def record(
        self,
        connection: sa.Connection,
        new_attempts: Sequence[Attempt],
        prompts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Store attempts and what they asked, all or none of them."""
        columns = {"evaluation": self._ledger.evaluation, "worker": self._worker}
        rows = [
            {**vars(attempt), **columns, "day": attempt.started_at.astimezone(UTC).date()}
            for attempt in new_attempts
        ]
        store_attempts(connection, self._ledger, rows)
        self._store_prompts(connection, prompts)

    @_in_transaction()
    def left_usd(self, connection: sa.Connection) -> float | None:
        """Return what is left of the caps, or of a shard's part of them; None without a cap.

        As nobody else spends from a cap at the same time, all parts together are within it, and so
        is what others have spent between two shards.
        """
        if self._caps is None:
            return None
        caps, shard = self._caps, self._shard
        is_of_run = workers.c.worker == self._worker
        if self._run_id is not None:
            is_of_run = workers.c.run_id == self._run_id
        its = sa.select(workers.c.worker).where(is_of_run)
        # A batch counts towards the cap of a run when it is submitted.
        paid = attempts.c.worker.in_(its) & attempts.c.in_batch.is_(False)
        of_run = paid, batches.c.worker.in_(its)
        of_month = in_month(self._ledger.evaluation, datetime.now(UTC).date())
        left_usd = []
        for cap_usd, conditions in ((caps.budget_usd, of_run), (caps.month_cap_usd, of_month)):
            if cap_usd is not None:
                by_shard = (
                    sa.select(workers.c.shard, sa.func.sum(attempts.c.charged_usd))
                    .join_from(attempts, workers, attempts.c.worker == workers.c.worker)
                    .where(is_of_run & (workers.c.n_shards == shard.n_shards) & conditions[0])
                    .group_by(workers.c.shard)
                )
                spent_by_shard = dict(connection.execute(by_shard).all())
                spent_usd = spent(connection, *conditions)
                left_usd.append(part_left(cap_usd, spent_usd, spent_by_shard, shard))
        return max(0.0, min(left_usd))

    @_in_transaction(is_writing=True)
    def take(
        self,
        connection: sa.Connection,
        limits: RateLimits,
        tokens: Sequence[int],
        *,
        delay_seconds: float,
    ) -> list[float]:
        """Take requests of a model's rates."""
        return take_of_rates(connection, self._ledger, limits, tokens, delay_seconds=delay_seconds)

    @_in_transaction()
    def endpoint_memory(
        self, connection: sa.Connection, base_url: str, model: str
    ) -> EndpointMemory:
        """Return what earlier runs found out about an endpoint."""
        errors, numbers = (
            connection.execute(
                sa.select(table).where((table.c.base_url == base_url) & (table.c.model == model))
            ).all()
            for table in (refusals, endpoints)
        )
        in_flight = numbers[0].in_flight if numbers else None
        return EndpointMemory({row.capability: row.error for row in errors}, in_flight)

    @_in_transaction(is_writing=True)
    def remember_endpoint(
        self, connection: sa.Connection, base_url: str, model: str, memory: EndpointMemory
    ) -> None:
        """Add what a run found out about an endpoint."""
        row = {"base_url": base_url, "model": model, "learnt_at": datetime.now(UTC)}
        if memory.refused:
            rows = [row | {"capability": name, "error": e} for name, e in memory.refused.items()]
            connection.execute(self._ledger.upsert(refusals).on_conflict_do_nothing(), rows)
        if memory.in_flight is not None:
            row["in_flight"] = memory.in_flight
            connection.execute(
                self._ledger.upsert(endpoints)
                .values(row)
                .on_conflict_do_update(index_elements=["base_url", "model"], set_=row)
            )

    @_in_transaction()
    def keys_in_batches(
        self, connection: sa.Connection, call_keys: Collection[str]
    ) -> frozenset[str]:
        """Return the requests of these that a vendor works on."""
        key = batch_requests.c.call_key
        return frozenset(
            name
            for keys in in_portions(call_keys)
            for name in connection.scalars(sa.select(key).where(key.in_(keys)))
        )

    @_in_transaction()
    def open_batches(self, connection: sa.Connection, judge_id: str) -> list[Batch]:
        """Return a judge's batches that are not closed, oldest first; none to a shard."""
        if self._shard.n_shards > 1:
            return []
        is_open = (
            (batches.c.evaluation == self._ledger.evaluation)
            & (batches.c.judge_id == judge_id)
            & batches.c.closed_at.is_(None)
        )
        query = (
            sa.select(batches, batch_requests)
            .join(batch_requests, batch_requests.c.batch == batches.c.intent_id)
            .where(is_open)
            .order_by(batches.c.intended_at, batch_requests.c.call_key)
        )
        rows = connection.execute(query).all()
        subjects: dict[str, dict[str, CallSubject]] = {}
        for row in rows:
            subjects.setdefault(row.intent_id, {})[row.call_key] = CallSubject(
                row.operation, row.response_id, row.question_id, row.replicate
            )
        by_intent = {row.intent_id: row for row in rows}
        return [
            Batch(name, judge_id, subjects[name], row.intended_at, row.most_usd, row.batch_id)
            for name, row in by_intent.items()
        ]

    @_in_transaction()
    def known_batches(self, connection: sa.Connection) -> frozenset[str]:
        """Return the vendors' names of all batches that were ever submitted."""
        names = sa.select(batches.c.batch_id).where(batches.c.batch_id.is_not(None))
        return frozenset(connection.scalars(names))

    @_in_transaction(is_writing=True)
    def store_batch(
        self,
        connection: sa.Connection,
        batch: Batch,
        prompts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Remember a batch, with what it asks, or how it went on since."""
        of = batches.c.intent_id == batch.intent_id
        named = sa.update(batches).where(of)
        if not connection.execute(named, {"batch_id": batch.batch_id}).rowcount:
            row = {
                **{name: value for name, value in vars(batch).items() if name in batches.c},
                "evaluation": self._ledger.evaluation,
                "worker": self._worker or 0,
                "n_requests": len(batch.subjects),
                "day": batch.intended_at.astimezone(UTC).date(),
            }
            rows = [
                {"call_key": key, "batch": batch.intent_id, **vars(subject)}
                for key, subject in batch.subjects.items()
            ]
            connection.execute(sa.insert(batches), row)
            connection.execute(sa.insert(batch_requests), rows)
            self._store_prompts(connection, prompts)
        if batch.is_closed:
            close_batch(connection, batch.intent_id)

    def _store_prompts(self, connection: sa.Connection, prompts: Mapping[str, str]) -> None:
        now = datetime.now(UTC)
        rows = [
            {"call_key": key, "prompt": prompt, "first_asked_at": now}
            for key, prompt in sorted(prompts.items())  # in one order everywhere: no deadlock
        ]
        if rows:
            connection.execute(self._ledger.upsert(requests).on_conflict_do_nothing(), rows)

    @staticmethod
    def _patiently(work: Callable[[], _Result]) -> _Result:
        """Return the result of work, which is tried again while the ledger's server is away."""
        deadline, is_told = time.monotonic() + _OUTAGE_SECONDS, False
        while True:
            try:
                return work()
            except UnreachableError as error:
                if time.monotonic() > deadline:
                    raise
                if not is_told:
                    logger.warning("%s: trying again for %.0f s", error, _OUTAGE_SECONDS)
                is_told = True
                time.sleep(_RETRY_SECONDS)

    @contextmanager
    def _transaction(self, *, is_writing: bool) -> Iterator[sa.Connection]:
        """Open a transaction, on the session that holds the locks if there is one."""
        session = None
        with self._turn if isinstance(self._locks, SessionLocks) else nullcontext():
            if isinstance(self._locks, SessionLocks):
                if self._locks.is_lost:
                    self._locks = self._resumed(self._locks)
                session = self._locks.session
            with self._ledger.transaction(session, is_writing=is_writing) as connection:
                yield connection

    def _resumed(self, lost: SessionLocks) -> SessionLocks:
        """Return a session with the locks of one that was lost.

        Without them, if another worker has taken them: what arrives is stored, and nothing is sent.

        Raises:
            UnreachableError: If the server has not noticed yet that the session is lost.
        """
        lost.close()
        locks = SessionLocks(self._ledger)
        if locks.take(self._numbers):
            return locks
        holders = [row for row in self._holders() if row.worker != self._worker]
        if not holders:
            locks.close()
            raise UnreachableError(f"{self._ledger.place}: its locks are not free again")
        self._successor = _name_of(holders[0])
        return locks

    def _await_slots(self) -> None:
        patience = math.inf if self._is_waiting else _PATIENCE_SECONDS
        deadline, is_told = time.monotonic() + patience, False
        while not self._patiently(self._has_taken):
            holders = self._patiently(self._holders)
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

    def _has_taken(self) -> bool:
        """Take the slots; return False if another worker holds them, or may come back for them."""
        file = self._ledger.file
        if self._locks is None or self._locks.is_lost:
            self._locks = FileLocks(file) if file else SessionLocks(self._ledger)
        if not self._locks.take(self._numbers):
            return False
        if file is not None:  # its locks are never lost
            return True
        # One that lost its session waits for replies to what it sent, unless its process ended.
        now = time.monotonic()
        may_return = any(
            now - self._gone_since.setdefault(row.worker, now) < _RETURN_SECONDS
            for row in self._holders()
            if not has_ended(row.machine, row.process)
        )
        if may_return:
            self._locks.free()
        return not may_return

    def _holders(self) -> Sequence[sa.Row[Any]]:
        of_slots = sa.select(slots.c.worker).where(slots.c.number.in_(self._numbers))
        signed = sa.select(workers).where(workers.c.worker.in_(of_slots))
        with self._ledger.transaction() as connection:
            return connection.execute(signed.order_by(workers.c.worker.desc())).all()

    @_in_transaction(is_writing=True)
    def _sign(self, connection: sa.Connection) -> None:
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
        inserted = sa.insert(workers).returning(workers.c.worker)
        self._worker = worker = connection.execute(inserted, row).scalar_one()
        if self._numbers:
            rows = [{"number": number, "worker": worker} for number in self._numbers]
            changed = {"worker": worker}
            new = self._ledger.upsert(slots)
            signed = new.on_conflict_do_update(index_elements=["number"], set_=changed)
            connection.execute(signed, rows)


def _name_of(holder: sa.Row[Any]) -> str:
    run = "a command" if holder.run_id is None else f"run {holder.run_id[:8]}"
    machine = holder.machine.split(" ")[0]
    return f"{run} ({holder.asset}, process {holder.process} on {machine})"
