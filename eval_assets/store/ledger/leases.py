"""Leases of workers: claims and reservations last as long as the lease."""

import logging
import os
import threading
import time
from datetime import UTC, datetime

import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.store.ledger._tables import claims, workers
from eval_assets.store.ledger.engine import LEASE, SqlLedger, this_machine

logger = logging.getLogger(__name__)

_RENEWAL_SECONDS = 5.0

_RECENT_SECONDS = 20.0
"""A lease renewed within this is held for long enough to send a request."""


class Lease:
    """A worker's lease, renewed in a thread of its own until it ends.

    Args:
        ledger: The ledger.
        asset: Asset or command on whose account is asked.
        run_id: Run that it belongs to; None outside a run.
    """

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
        with self._ledger.writing() as connection:
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
        with self._ledger.writing() as connection:
            is_mine = (claims.c.worker == self.worker) & claims.c.batch.is_(None)
            connection.execute(sa.delete(claims).where(is_mine))
            self._set(connection, self._ledger.now(connection))  # which ends what it reserved

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
        self._set(connection, now + LEASE)
        self._renewed_at = began

    def _set(self, connection: sa.Connection, until: datetime) -> None:
        is_me = workers.c.worker == self.worker
        connection.execute(sa.update(workers).where(is_me), {"lease_until": until})

    def _renew(self) -> None:
        """Renew the lease until the worker ends."""
        while not self._ended.wait(_RENEWAL_SECONDS):
            try:
                with self._ledger.writing(is_durable=False) as connection:
                    now = self._ledger.now(connection)
                    self.renew(connection, now)
                    _end_dead_workers(connection, now)
            except StoreError as error:
                # Whoever records the next reply fails on the same ledger, and ends the run.
                logger.warning("the lease could not be renewed: %s", error)


def _end_dead_workers(connection: sa.Connection, now: datetime) -> None:
    """End the leases of workers on this machine whose process has ended, so that no one waits."""
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


def _is_alive(process: int) -> bool:
    """Return whether a process of this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
