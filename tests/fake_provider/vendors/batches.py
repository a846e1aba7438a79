"""Batches as both vendors run them: sent at once, looked at now and then, ended some time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fake_provider.exchange import JsonObject

WINDOW: Final = timedelta(hours=24)
"""How long a vendor works on a batch before what is left of it expires."""

Phase: TypeAlias = Literal["working", "cancelling", "cancelled", "ended"]


@dataclass(frozen=True, slots=True)
class EntryResult:
    """Result of one entry of a batch.

    Args:
        custom_id: The caller's name for it.
        request_id: The vendor's name for it.
        status: The HTTP status it would have had by itself; None if it expired.
        bodies: The body of each of its results: more than one if it is among them repeatedly.
    """

    custom_id: str
    request_id: str
    status: int | None
    bodies: tuple[JsonObject, ...]

    @property
    def succeeded(self) -> bool:
        """Whether it holds a model's answer."""
        return self.status == 200


class EntryAnswerer(Protocol):
    """Answers one entry of a batch."""

    def __call__(self, custom_id: str, body: JsonObject) -> EntryResult:
        """Answer the question in `body`."""


@dataclass
class Batch:
    """A batch at work. Its results are fixed from the start and shown at the end.

    Args:
        id: The vendor's name for it.
        results: What becomes of its entries, in the order they were sent.
        n_polls_left: How often it still has to be looked at before it ends.
        not_before: When it ends at the earliest, on the clock of `time.monotonic`.
        description: What the caller sent beside the entries, to be shown again.
    """

    id: str
    results: Sequence[EntryResult]
    n_polls_left: int
    not_before: float
    description: JsonObject = field(default_factory=dict)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    cancelled_at: datetime | None = None

    def look(self) -> Phase:
        """Return how far it is; looking is what makes it get on."""
        if self.ended_at is None:
            self.n_polls_left -= 1
            if self.cancelled_at is not None or (
                self.n_polls_left < 0 and time.monotonic() >= self.not_before
            ):
                self.ended_at = datetime.now(UTC)
        return self.phase

    def cancel(self) -> None:
        """Stop it, if it has not ended; none of its entries is answered then."""
        if self.ended_at is None and self.cancelled_at is None:
            self.cancelled_at = datetime.now(UTC)

    @property
    def phase(self) -> Phase:
        """How far it is, without making it get on."""
        if self.ended_at is None:
            return "working" if self.cancelled_at is None else "cancelling"
        return "ended" if self.cancelled_at is None else "cancelled"
