"""A worker: one asset of one run, or one command, that asks and records what it is answered."""

import logging
import math
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, get_args

import sqlalchemy as sa

from eval_assets.evaluation import Evaluation
from eval_assets.ledger import (
    Amount,
    Attempt,
    Batch,
    ClaimState,
    Grant,
    RateLimits,
    Refusal,
    Reply,
    ReplyStatus,
    Request,
)
from eval_assets.store.connection import StoreError
from eval_assets.store.ledger._engine import SqlLedger, this_machine
from eval_assets.store.ledger._tables import (
    attempts,
    batches,
    claims,
    refusals,
    requests,
    workers,
)
from eval_assets.store.ledger.rates import grant
from eval_assets.store.ledger.spending import left_of_caps, portion_of

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
"""Claims of a worker that was silent for so long may be taken over."""

_RENEWAL_SECONDS = 5.0
_KEYS_PER_STATEMENT = 5_000

_REPLIES = get_args(ReplyStatus)

# Built once: SQLAlchemy takes longer to build a statement than SQLite to run it.
_REPLIES_TO = (
    sa.select(attempts.c.call_key, attempts.c.raw_output, attempts.c.status)
    .where(
        attempts.c.call_key.in_(sa.bindparam("keys", expanding=True))
        & attempts.c.status.in_(_REPLIES)
    )
    .order_by(attempts.c.started_at, attempts.c.id)
)
_END_CLAIMS = sa.delete(claims).where(claims.c.call_key.in_(sa.bindparam("keys", expanding=True)))
_IN_BATCHES = sa.select(claims.c.call_key).where(
    claims.c.call_key.in_(sa.bindparam("keys", expanding=True)) & claims.c.batch.is_not(None)
)
_RELEASE = _END_CLAIMS.where(claims.c.worker == sa.bindparam("me"))


class Worker:
    """A ledger as seen by whoever asks; use it as a context manager.

    Its lease is renewed in a thread of its own, so that claims hold while a reply takes minutes.
    At the end, and when the lease runs out, its claims are free for others.

    Args:
        ledger: The ledger.
        asset: Asset or command on whose account is asked.
        run_id: Run that it belongs to; None outside a run, where it is a run of its own.
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
        self._asset = asset
        self._run_id = run_id
        self._caps = caps
        self._id = 0
        self._claim_free = _claim_free(ledger)
        self._keep_new = ledger.upsert(requests).on_conflict_do_nothing()
        self._ended = threading.Event()
        self._renewal = threading.Thread(target=self._renew, name="ledger lease", daemon=True)

    def __enter__(self) -> Self:
        now = datetime.now(UTC)
        with self._ledger.writing() as connection:
            _end_dead_workers(connection, now)
            row = {
                "evaluation": self._ledger.evaluation,
                "run_id": self._run_id,
                "asset": self._asset,
                "machine": this_machine(),
                "process": os.getpid(),
                "started_at": now,
                "lease_until": now + timedelta(seconds=LEASE_SECONDS),
            }
            self._id = connection.execute(
                sa.insert(workers).returning(workers.c.worker), row
            ).scalar_one()
        self._renewal.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._renewal.join()
        try:
            with self._ledger.writing() as connection:
                is_mine = (claims.c.worker == self._id) & claims.c.batch.is_(None)
                connection.execute(sa.delete(claims).where(is_mine))
                self._set_lease(connection, datetime.now(UTC))  # which ends what it reserved
        except StoreError:
            # The error that ends the worker is the one to report; its lease runs out by itself.
            if error is None:
                raise

    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Return the replies recorded so far, by request key: of several, the latest."""
        with self._ledger.reading() as connection:
            return _replies(connection, call_keys)

    def claim(self, asked: Sequence[Request]) -> dict[str, Reply | ClaimState]:
        """Claim requests, so that nobody else sends them.

        Returns:
            By request key: `claimed` if it is to be sent now, `held` if another worker has it in
            flight (claim it again soon), `in_batch` if a vendor works on it, which may take a day,
            or the reply, if there is one by now.
        """
        now = datetime.now(UTC)
        rows = [
            {
                **{name: value for name, value in vars(each).items() if name in claims.c},
                "worker": self._id,
                "batch": None,
                "claimed_at": now,
            }
            for each in asked
        ]
        with self._ledger.writing(is_durable=False) as connection:
            claimed = self._claim(connection, rows, now)
            found: dict[str, Reply | ClaimState] = dict.fromkeys(claimed, "claimed")
            held = [each.call_key for each in asked if each.call_key not in claimed]
            found |= _states(connection, held)
            # Only now: another worker may have recorded a reply and released it meanwhile.
            replies = _replies(connection, claimed)
            self._release(connection, replies)
            self._keep(connection, [each for each in asked if each.call_key in claimed], now)
        return {**found, **replies}

    def release(self, call_keys: Collection[str]) -> None:
        """Give up claims of requests that are not sent again."""
        with self._ledger.writing(is_durable=False) as connection:
            self._release(connection, call_keys)

    def record(self, made: Sequence[Attempt]) -> None:
        """Store attempts, all or none of them; a request that is answered is claimed no more."""
        rows = [
            {
                **vars(each),
                "charged_usd": _charged(each),
                "day": each.started_at.astimezone(UTC).date(),
                "evaluation": self._ledger.evaluation,
                "worker": self._id,
            }
            for each in made
        ]
        with self._ledger.writing() as connection:
            connection.execute(sa.insert(attempts), rows)
            answered = [each.call_key for each in made if each.status in _REPLIES]
            for keys in _portions(answered):
                connection.execute(_END_CLAIMS, {"keys": keys})
            live = math.fsum(row["charged_usd"] for row in rows if not row["in_batch"])
            self._spend_reserved(connection, live)

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap on what may be spent."""
        caps = self._caps
        return caps is not None and (caps.budget_usd, caps.budget_usd_per_month) != (None, None)

    def reserve(self, needed_usd: float) -> float:
        """Reserve a portion of what the caps have left: what others reserved is not left.

        What attempts cost comes out of the portion when they are recorded. The rest is given back
        in the end, or when the lease runs out.

        Returns:
            The portion, `needed_usd` or more; 0 if so much is not left.
        """
        with self._ledger.writing(is_durable=False) as connection:
            left = [left - reserved for left, reserved in self._left_of_caps(connection)]
            portion_usd = portion_of(min(left), needed_usd=needed_usd) if left else needed_usd
            more = workers.c.reserved_usd + portion_usd
            connection.execute(sa.update(workers).where(self._is_me).values(reserved_usd=more))
            return portion_usd

    def left_usd(self) -> float | None:
        """Return what the caps have left, reservations included; None without a cap."""
        with self._ledger.reading() as connection:
            left = [left for left, _ in self._left_of_caps(connection)]
        return max(0.0, min(left)) if left else None

    def grant(
        self,
        limits: RateLimits,
        wanted: Amount,
        *,
        unused: Mapping[int, Amount],
        delay_seconds: float = 0.0,
    ) -> Grant:
        """Grant the next requests to a model, so that all processes together keep its limits.

        Args:
            limits: The limits, and whose they are.
            wanted: What is to be sent.
            unused: What earlier grants turned out to leave, by their number; it is given back.
                Below 0 where more was sent.
            delay_seconds: Time from now in which nothing can be sent yet.
        """
        return grant(self._ledger, limits, wanted, unused=unused, delay_seconds=delay_seconds)

    def refused_capabilities(self, base_url: str, model: str) -> frozenset[str]:
        """Return what an endpoint is known to refuse for a model."""
        with self._ledger.reading() as connection:
            found = connection.scalars(
                sa.select(refusals.c.capability).where(
                    (refusals.c.base_url == base_url) & (refusals.c.model == model)
                )
            )
            return frozenset(found)

    def record_refusals(self, refused: Collection[Refusal]) -> None:
        """Remember what endpoints refuse for models."""
        rows = [{**vars(each), "learnt_at": datetime.now(UTC)} for each in refused]
        with self._ledger.writing() as connection:
            connection.execute(self._ledger.upsert(refusals).on_conflict_do_nothing(), rows)

    def open_batches(self, judge_id: str) -> list[Batch]:
        """Return a judge's batches that are not closed, oldest first.

        Those that a living run is about to submit are left out: their requests are claimed.
        """
        now = datetime.now(UTC)
        lapsed = sa.select(workers.c.worker).where(workers.c.lease_until <= now)
        is_open = (
            (batches.c.evaluation == self._ledger.evaluation)
            & (batches.c.judge_id == judge_id)
            & batches.c.closed_at.is_(None)
            & (batches.c.batch_id.is_not(None) | batches.c.worker.in_(lapsed))
        )
        with self._ledger.reading() as connection:
            found = connection.execute(
                sa.select(batches).where(is_open).order_by(batches.c.intended_at)
            ).all()
            return [_batch(connection, row) for row in found]

    def known_batches(self) -> frozenset[str]:
        """Return the vendors' names of all batches that were ever submitted."""
        named = sa.select(batches.c.batch_id).where(batches.c.batch_id.is_not(None))
        with self._ledger.reading() as connection:
            return frozenset(connection.scalars(named))

    def intend_batch(self, batch: Batch) -> None:
        """Remember a batch before it is submitted; its requests stay claimed until it is closed."""
        row = {
            "intent_id": batch.intent_id,
            "evaluation": self._ledger.evaluation,
            "worker": self._id,
            "judge_id": batch.judge_id,
            "batch_id": batch.batch_id,
            "n_requests": len(batch.call_keys),
            "most_usd": batch.most_usd,
            "intended_at": batch.intended_at,
            "day": batch.intended_at.astimezone(UTC).date(),
        }
        with self._ledger.writing() as connection:
            connection.execute(sa.insert(batches), row)
            self._spend_reserved(connection, batch.most_usd)
            for keys in _portions(batch.call_keys):
                is_mine = claims.c.call_key.in_(keys) & (claims.c.worker == self._id)
                held = sa.update(claims).where(is_mine)
                connection.execute(held, {"batch": batch.intent_id})

    def confirm_batch(self, intent_id: str, batch_id: str) -> None:
        """Remember the vendor's name of a batch that was submitted."""
        with self._ledger.writing() as connection:
            connection.execute(
                sa.update(batches).where(batches.c.intent_id == intent_id), {"batch_id": batch_id}
            )

    def close_batch(self, intent_id: str) -> None:
        """Forget a batch whose results are all recorded, or that the vendor does not have."""
        with self._ledger.writing() as connection:
            connection.execute(
                sa.update(batches).where(batches.c.intent_id == intent_id),
                {"closed_at": datetime.now(UTC)},
            )
            connection.execute(sa.delete(claims).where(claims.c.batch == intent_id))

    @property
    def _is_me(self) -> sa.ColumnElement[bool]:
        return workers.c.worker == self._id

    def _left_of_caps(self, connection: sa.Connection) -> list[tuple[float, float]]:
        """Return what each cap has left, and what of it is reserved."""
        if self._caps is None:
            return []
        is_of_run = self._is_me if self._run_id is None else workers.c.run_id == self._run_id
        account = self._ledger.evaluation
        return left_of_caps(connection, self._caps, account=account, is_of_run=is_of_run)

    def _spend_reserved(self, connection: sa.Connection, spent_usd: float) -> None:
        """Take what counts as spent from now on out of what is reserved."""
        if self.is_capped and spent_usd:
            rest = workers.c.reserved_usd - spent_usd
            left = sa.case((rest > 0, rest), else_=0.0)
            connection.execute(sa.update(workers).where(self._is_me).values(reserved_usd=left))

    def _claim(
        self, connection: sa.Connection, rows: Sequence[dict[str, Any]], now: datetime
    ) -> set[str]:
        """Claim what nobody holds, and what a worker holds whose lease has run out."""
        if not rows:
            return set()
        # In one order everywhere: two workers must not wait for one another's rows.
        in_order = sorted(rows, key=lambda row: row["call_key"])
        moment = {"now": now, "me": self._id}
        return set(connection.scalars(self._claim_free, [row | moment for row in in_order]))

    def _release(self, connection: sa.Connection, call_keys: Collection[str]) -> None:
        """Delete claims of this worker."""
        for keys in _portions(call_keys):
            connection.execute(_RELEASE, {"keys": keys, "me": self._id})

    def _keep(self, connection: sa.Connection, asked: Sequence[Request], now: datetime) -> None:
        """Store what is asked, if it was never asked before."""
        rows = [
            {"call_key": each.call_key, "prompt": each.prompt, "first_asked_at": now}
            for each in sorted(asked, key=lambda each: each.call_key)
        ]
        if rows:
            connection.execute(self._keep_new, rows)

    def _set_lease(self, connection: sa.Connection, until: datetime) -> None:
        connection.execute(sa.update(workers).where(self._is_me), {"lease_until": until})

    def _renew(self) -> None:
        """Renew the lease until the worker ends."""
        while not self._ended.wait(_RENEWAL_SECONDS):
            now = datetime.now(UTC)
            try:
                with self._ledger.writing(is_durable=False) as connection:
                    self._set_lease(connection, now + timedelta(seconds=LEASE_SECONDS))
                    _end_dead_workers(connection, now)
            except StoreError as error:
                # Whoever records the next reply fails on the same ledger, and ends the run.
                logger.warning("the lease could not be renewed: %s", error)


def _claim_free(ledger: SqlLedger) -> sa.sql.dml.ReturningInsert[str]:
    """Return the statement that claims what nobody holds, or a worker whose lease has run out."""
    new = ledger.upsert(claims)
    lapsed = sa.select(workers.c.worker).where(workers.c.lease_until <= sa.bindparam("now"))
    is_free = claims.c.worker.in_(lapsed) | (claims.c.worker == sa.bindparam("me"))
    return new.on_conflict_do_update(
        index_elements=[claims.c.call_key],
        set_={column.name: new.excluded[column.name] for column in claims.c},
        where=claims.c.batch.is_(None) & is_free,
    ).returning(claims.c.call_key)


def _batch(connection: sa.Connection, row: sa.Row[Any]) -> Batch:
    """Return a batch with the requests that it still has in flight."""
    keys = connection.scalars(
        sa.select(claims.c.call_key).where(claims.c.batch == row.intent_id).order_by("call_key")
    )
    return Batch(
        intent_id=row.intent_id,
        judge_id=row.judge_id,
        call_keys=tuple(keys),
        intended_at=row.intended_at,
        most_usd=row.most_usd,
        batch_id=row.batch_id,
    )


def _replies(connection: sa.Connection, call_keys: Collection[str]) -> dict[str, Reply]:
    """Return the latest reply to each request that has one."""
    found: dict[str, Reply] = {}
    for keys in _portions(call_keys):
        rows = connection.execute(_REPLIES_TO, {"keys": keys})
        found |= {key: Reply(text or "", status) for key, text, status in rows}
    return found


def _states(connection: sa.Connection, held: Collection[str]) -> dict[str, ClaimState]:
    """Return whether requests that others hold are in flight or in a batch."""
    states: dict[str, ClaimState] = dict.fromkeys(held, "held")
    for keys in _portions(held):
        found = connection.scalars(_IN_BATCHES, {"keys": keys})
        states |= dict.fromkeys(found, "in_batch")
    return states


def _end_dead_workers(connection: sa.Connection, now: datetime) -> None:
    """End the leases of workers on this machine whose process is gone: nobody need wait."""
    leased = connection.execute(
        sa.select(workers.c.worker, workers.c.process).where(
            (workers.c.machine == this_machine()) & (workers.c.lease_until > now)
        )
    )
    dead = [worker for worker, process in leased if not _is_alive(process)]
    if dead:
        connection.execute(
            sa.update(workers).where(workers.c.worker.in_(dead)), {"lease_until": now}
        )


def _charged(made: Attempt) -> float:
    """Return what counts towards budgets."""
    if made.charged_usd is not None:
        return made.charged_usd
    return made.cost_usd or 0.0


def _is_alive(process: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _portions(keys: Collection[str]) -> Iterator[list[str]]:
    """Split keys into as many as a statement takes."""
    every = list(keys)
    for start in range(0, len(every), _KEYS_PER_STATEMENT):
        yield every[start : start + _KEYS_PER_STATEMENT]
