"""How the fake provider behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fake_provider.faults import Faults
from tests.fake_provider.models import MODELS

if TYPE_CHECKING:
    from datetime import date

    from tests.fake_provider.models import Model
    from tests.fake_provider.planted import Planted
    from tests.fake_provider.rate_limit import RateLimit
    from tests.fake_provider.vendors.compatible import Like


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How the fake provider behaves; without arguments it answers everything well and at once.

    Args:
        latency_seconds: Time from a question's arrival to its answer; errors come at once, as do
            files, batches and lists of models.
        jitter_seconds: Most that the latency differs from that, to either side; by how much
            depends on the question.
        faults: What goes wrong.
        limit: What a key may ask of a model; None for no limit. Beyond it: 429 with `retry-after`.
        retry_after_seconds: What `retry-after` says on a `rate_limit` fault.
        batch_polls: How often a batch is looked at before it has ended.
        batch_seconds: How long a batch takes at least.
        batch_error: Whether a batch is created and answered by a server error all the same.
        batch_lines: How many results of a batch arrive, without any error; None for all.
        shift_on: Text of the request from which on its connection, once, answers each request with
            the reply to the one before; None for no such text.
        models: The models that exist.
        like: Server whose quirks the OpenAI format has, and which has models of any name; None for
            OpenAI itself.
        today: The day that decides which models have ended; None for the actual day.
        planted: Scores that are known beforehand; None to make all of them up.
        log_size: How many requests the log keeps; None for all.

    Raises:
        ValueError: If a duration or a count is negative.
    """

    latency_seconds: float = 0.0
    jitter_seconds: float = 0.0
    faults: Faults = field(default_factory=Faults)
    limit: RateLimit | None = None
    retry_after_seconds: float = 1.0
    batch_polls: int = 1
    batch_seconds: float = 0.0
    batch_error: bool = False
    batch_lines: int | None = None
    shift_on: str | None = None
    models: tuple[Model, ...] = MODELS
    like: Like | None = None
    today: date | None = None
    planted: Planted | None = None
    log_size: int | None = None

    def __post_init__(self) -> None:
        for name in (
            "latency_seconds",
            "jitter_seconds",
            "retry_after_seconds",
            "batch_polls",
            "batch_seconds",
        ):
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"{name} must not be negative, got {value}")
