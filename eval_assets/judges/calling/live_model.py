"""Declared judges and generators, ready to receive requests."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import VENDORS, Generator, Judge, Setting
from eval_assets.config.models import Capabilities, Price, Usage, cost_usd
from eval_assets.judges.calling.requests import Endpoint, ModelRequest
from eval_assets.judges.catalogue.models import capabilities_of, price_of
from eval_assets.judges.credentials import base_url_of, vendor_of

_JUDGE_SETTINGS: Mapping[str, Setting] = {"temperature": 0.0, "effort": "low"}
"""Default settings of judges: a rating should not depend on chance, and more reasoning effort costs
more than it gains on one question about one response."""

_MAX_TOKENS = 1024
_MAX_TOKENS_THINKING = 4096
"""Most output tokens if nothing else is declared; thinking counts among them."""

_FRAMING_TOKENS = 500
"""More than any vendor adds to a prompt, roles and schema instructions included."""

_FEWEST_BYTES_PER_TOKEN = 3
"""Of ordinary text; an estimate with it is on the high side."""

Declared = TypeVar("Declared", Judge, Generator)


@dataclass(frozen=True)
class LiveModel(Generic[Declared]):
    """A declared judge or generator, ready to receive requests.

    The settings, which are sent with every request, are those that the model supports.
    `max_tokens` includes thinking; the price is None if it is not known.
    """

    declared: Declared
    endpoint: Endpoint
    capabilities: Capabilities
    settings: Mapping[str, Setting]
    max_tokens: int
    price: Price | None

    @property
    def is_at_vendor(self) -> bool:
        """Return whether it is served at its vendor's own address."""
        return self.endpoint.base_url == VENDORS[self.endpoint.provider].base_url

    @property
    def id(self) -> str:
        """Name of the judge or generator in every table."""
        return self.declared.id

    def cost_usd(self, usage: Usage | None) -> float | None:
        """Return the cost of a request; None if tokens or price are not known."""
        if usage is None or self.price is None:
            return None
        return cost_usd(usage, self.price, in_batch=self.declared.batch)

    def most_usd(self, request: ModelRequest) -> float:
        """Return the highest cost of a request; 0 without a price.

        No request has more input than a token per byte and the vendor's framing.
        """
        if self.price is None:
            return 0.0
        n_input = request.n_bytes + _FRAMING_TOKENS
        plain = Usage(n_input, request.max_tokens)
        written = Usage(n_input, request.max_tokens, cache_write_tokens=n_input)
        in_batch = self.declared.batch
        return max(cost_usd(usage, self.price, in_batch=in_batch) for usage in (plain, written))

    def estimated_usage(self, request: ModelRequest, text: str) -> Usage:
        """Return an estimate of a reply's tokens if the vendor did not report them."""
        n_thinking = request.max_tokens // 4 if self.capabilities.thinks else 0
        n_output = len(text.encode("utf-8", "replace")) // _FEWEST_BYTES_PER_TOKEN + n_thinking + 1
        n_input = request.n_bytes // _FEWEST_BYTES_PER_TOKEN + _FRAMING_TOKENS
        return Usage(n_input, min(n_output, request.max_tokens))


AnyLiveModel = LiveModel[Judge] | LiveModel[Generator]


def unbatched(model: LiveModel[Judge]) -> LiveModel[Judge]:
    """Return a judge that is not asked in batches."""
    return replace(model, declared=replace(model.declared, batch=False))


def live_models(
    evaluation: Evaluation,
    declared: Iterable[Declared],
    *,
    environ: Mapping[str, str] = os.environ,
    today: date | None = None,
) -> list[LiveModel[Declared]]:
    """Return declared live judges or generators, ready to receive requests.

    Endpoints may come from the environment; prices are those of the day.
    """
    on = today or datetime.now(tz=UTC).date()
    models: list[LiveModel[Declared]] = []
    for of in declared:
        vendor, name = vendor_of(of), of.model or ""
        base_url = (base_url_of(of, environ=environ) or VENDORS[vendor].base_url).rstrip("/")
        host = urlsplit(base_url).netloc.lower()
        capabilities = capabilities_of(name, overrides=evaluation.capabilities, host=host)
        settings = {**(_JUDGE_SETTINGS if isinstance(of, Judge) else {}), **of.settings}
        fallback = _MAX_TOKENS_THINKING if capabilities.thinks else _MAX_TOKENS
        max_tokens = int(settings.pop("max_tokens", fallback))
        # A setting that the table does not know is the user's risk.
        takes = dict.fromkeys(("temperature", "top_p", "top_k"), capabilities.temperature)
        takes |= {"effort": capabilities.effort, "seed": capabilities.seed}
        models.append(
            LiveModel(
                declared=of,
                endpoint=Endpoint(vendor, base_url, name),
                capabilities=capabilities,
                settings={key: value for key, value in settings.items() if takes.get(key, True)},
                max_tokens=max_tokens,
                price=price_of(name, on=on, overrides=evaluation.prices),
            )
        )
    return models
