"""Declared judges and generators that are ready to be asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from eval_assets.config.judges import Generator, Judge, Setting
from eval_assets.config.models import Capabilities, Price, Usage, cost_usd
from eval_assets.judges.calling.requests import Endpoint, ModelRequest

_FRAMING_TOKENS = 500
"""More than any vendor adds to a prompt of its own, roles and schema instructions included."""

Declared = TypeVar("Declared", Judge, Generator)


@dataclass(frozen=True)
class LiveModel(Generic[Declared]):
    """A declared judge or generator that is ready to be asked.

    Args:
        declared: Its declaration.
        endpoint: Model and server.
        capabilities: What the model takes.
        settings: Settings to send with every request, only those that the model takes.
        max_tokens: Most output tokens of a reply, thinking included.
        price: Price of the model; None if it is not known.
        left_out: Declared settings that the model does not take.
    """

    declared: Declared
    endpoint: Endpoint
    capabilities: Capabilities
    settings: Mapping[str, Setting]
    max_tokens: int
    price: Price | None
    left_out: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Name of the judge or generator in every table."""
        return self.declared.id

    @property
    def cautions(self) -> tuple[str, ...]:
        """Cautions before its replies and costs are compared with another's, in sentences."""
        model = self.endpoint.model
        found = []
        if self.left_out:
            left_out = ", ".join(self.left_out)
            found.append(f"{model} takes no {left_out}: {self.id} is asked without")
        if self.price is None:
            found.append(f"the price of {model} is not known, so neither is the cost of {self.id}")
        return tuple(found)

    def cost_usd(self, usage: Usage | None) -> float | None:
        """Return the cost of a request; None if tokens or price are not known."""
        if usage is None or self.price is None:
            return None
        return cost_usd(usage, self.price, in_batch=self.declared.batch)

    def most_usd(self, request: ModelRequest) -> float:
        """Return the most that a request can cost; 0 if the price is not known."""
        if self.price is None:
            return 0.0
        n_input = request.n_bytes + _FRAMING_TOKENS
        plain = Usage(n_input, request.max_tokens)
        written = Usage(n_input, request.max_tokens, cache_write_tokens=n_input)
        in_batch = self.declared.batch
        return max(cost_usd(usage, self.price, in_batch=in_batch) for usage in (plain, written))


AnyLiveModel = LiveModel[Judge] | LiveModel[Generator]
