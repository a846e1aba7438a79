"""Estimates before a run's first request, and its progress."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eval_assets.config.models import Usage
from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import ModelRequest
from eval_assets.ledger import Status
from eval_assets.wording import counted

logger = logging.getLogger(__name__)

_EXPECTED_LATENCY_SECONDS = 2.0
_EXPECTED_OUTPUT_TOKENS = 120
_EXPECTED_THINKING_TOKENS = 400


@dataclass
class Estimate:
    """A rough estimate of the requests to one model, without retries; no cost without a price."""

    model: AnyLiveModel
    n_requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def add(self, request: ModelRequest) -> None:
        """Count a request."""
        n_thinking = _EXPECTED_THINKING_TOKENS if self.model.capabilities.thinks else 0
        n_output = min(request.max_tokens, _EXPECTED_OUTPUT_TOKENS + n_thinking)
        cost = self.model.cost_usd(Usage(request.estimated_tokens, n_output))
        self.merge(Estimate(self.model, 1, request.estimated_tokens, n_output, cost))

    def merge(self, other: "Estimate") -> None:
        """Add another estimate of the same model."""
        self.n_requests += other.n_requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cost_usd = _total([self.cost_usd, other.cost_usd])

    @property
    def seconds(self) -> float:
        """Expected duration; models are asked concurrently."""
        declared = self.model.declared
        by_latency = self.n_requests * _EXPECTED_LATENCY_SECONDS / declared.most_in_flight
        by_requests = self.n_requests * 60 / (declared.requests_per_minute or float("inf"))
        by_tokens = self.input_tokens * 60 / (declared.input_tokens_per_minute or float("inf"))
        latency = _EXPECTED_LATENCY_SECONDS if self.n_requests else 0.0
        return max(latency, by_latency, by_requests, by_tokens)

    def __str__(self) -> str:
        if not self.n_requests:
            return f"{self.model.id} ({self.model.endpoint.model}): nothing to ask"
        cost = "price unknown" if self.cost_usd is None else f"about {self.cost_usd:.4f} USD"
        return (
            f"{self.model.id} ({self.model.endpoint.model}): "
            f"{counted(self.n_requests, 'request')}, "
            f"about {self.input_tokens:,} tokens in and {self.output_tokens:,} out, {cost}, "
            f"{self.seconds:.0f} s"
        )


@dataclass
class ModelSummary:
    """Requests of a run to one model, retries included, and ratings or responses by status.

    `known_usd` leaves out `n_unpriced` replies. For attempts whose cost is not known
    `estimated_usd` is charged, and they may cost up to `uncertain_usd` more. `stopped` says why the
    model was stopped early.
    """

    model_id: str
    estimate: Estimate
    statuses: Counter[Status] = field(default_factory=Counter)
    n_attempts: int = 0
    n_replies: int = 0
    n_unpriced: int = 0
    n_from_ledger: int = 0
    known_usd: float = 0.0
    stopped: str = ""
    estimated_usd: float = 0.0
    uncertain_usd: float = 0.0

    @property
    def spent_usd(self) -> float | None:
        """Cost in this run; None if some of it is not known."""
        return None if self.n_unpriced else self.known_usd


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """Requests of a run and their outcomes.

    `counted_usd` counts towards the budget: unknown costs as the most that they can be.
    `budget_left_usd` is None without a cap.
    """

    models: tuple[ModelSummary, ...]
    counted_usd: float
    budget_left_usd: float | None

    @property
    def spent_usd(self) -> float | None:
        """Cost of all models; None if some of it is not known."""
        return _total([model.spent_usd for model in self.models])

    @property
    def n_attempts(self) -> int:
        """Requests sent, retries included."""
        return sum(model.n_attempts for model in self.models)

    @property
    def n_from_ledger(self) -> int:
        """Ratings or responses that were answered before."""
        return sum(model.n_from_ledger for model in self.models)

    @property
    def n_budget_stopped(self) -> int:
        """Ratings or responses that the budget did not reach."""
        return sum(model.statuses["budget_stopped"] for model in self.models)


@dataclass(frozen=True)
class Progress:
    """Progress of a run: completed units, also those without a result, and their known cost."""

    n_done: int
    n_failed: int
    n_total: int
    spent_usd: float
    elapsed_seconds: float

    def __str__(self) -> str:
        rate = self.n_done / self.elapsed_seconds if self.elapsed_seconds > 0 else 0.0
        remainder = f", {(self.n_total - self.n_done) / rate:.0f} s left" if rate else ""
        failures = f", {self.n_failed:,} without a result" if self.n_failed else ""
        return (
            f"{self.n_done:,} of {self.n_total:,} done{failures}, "
            f"{self.spent_usd:.4f} USD so far, {rate:.1f} a second{remainder}"
        )


Report = Callable[[Progress | Estimate | str], None]
"""Receives the estimates before the first request, a warning if the budget is smaller, and the
progress every few seconds."""


def report_estimates(
    estimates: Sequence[Estimate], *, left_usd: float | None, report: Report
) -> None:
    """Report estimates, and whether the budget is smaller; None is no budget."""
    for estimate in estimates:
        report(estimate)
    estimated_usd = _total([estimate.cost_usd for estimate in estimates])
    if left_usd is not None and estimated_usd is not None and estimated_usd > left_usd:
        report(
            f"the budget leaves {left_usd:.4f} USD, the estimate is {estimated_usd:.4f} USD: "
            "the run probably ends before everything is asked"
        )


def log_report(report: Progress | Estimate | str) -> None:
    """Write a report to the log; what is to be spent stays on the terminal."""
    level = logging.WARNING if isinstance(report, str) else logging.INFO
    is_lasting = isinstance(report, Estimate) and report.n_requests > 0
    logger.log(level, "%s", report, extra={"is_lasting": is_lasting})


def _total(costs: Sequence[float | None]) -> float | None:
    return None if None in costs else sum((cost for cost in costs if cost is not None), 0.0)
