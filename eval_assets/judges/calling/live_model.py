"""Declared judges and generators, ready to receive requests, and what they refuse in them."""

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Generic, TypeVar, get_args
from urllib.parse import urlsplit

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import VENDORS, Generator, Judge, Setting
from eval_assets.config.models import Capabilities, Price, Usage, cost_usd
from eval_assets.judges.calling.requests import (
    Endpoint,
    Feature,
    Message,
    ModelRequest,
    Outcome,
    RequestFailed,
)
from eval_assets.judges.catalogue.models import capabilities_of, price_of
from eval_assets.judges.credentials import base_url_of, vendor_of
from eval_assets.ledger import Reply

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


logger = logging.getLogger(__name__)

_SETTINGS: Mapping[Feature, Collection[str]] = {
    "temperature": ("temperature", "top_p", "top_k"),
    "effort": ("effort",),
    "seed": ("seed",),
}


def alternatives(request: ModelRequest) -> dict[Feature, ModelRequest]:
    """Return the parts of a request that may be refused, each with the request without it."""
    is_short = request.max_tokens_name == "max_tokens"
    other_name = replace(
        request, max_tokens_name="max_completion_tokens" if is_short else "max_tokens"
    )
    result: dict[Feature, ModelRequest] = {request.max_tokens_name: other_name}
    if isinstance(request.schema, Mapping):
        result["json_schema"] = replace(request, schema="json_object")
    elif request.schema is not None:
        result["json_object"] = replace(request, schema=None)
    for feature, names in _SETTINGS.items():
        rest = {name: value for name, value in request.settings.items() if name not in names}
        if len(rest) < len(request.settings):
            result[feature] = replace(request, settings=rest)
    first, *messages = request.messages
    if first.role == "system":
        user, *turns = messages
        joined = Message(user.role, f"{first.text}\n\n{user.text}")
        result["system"] = replace(request, messages=(joined, *turns))
    return result


_OTHER_NAME: Mapping[Feature, Feature] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


class FeatureMemory:
    """The parts of a request that a model, where it is served, takes or refuses.

    A part that a refusal names is left out of every request from then on. It counts as refused
    once a request without it is answered; if none is, it was not the reason. `refusals` are
    those of earlier runs, `new_refusals` those of this one, with what was said.
    """

    def __init__(self, model: AnyLiveModel, refusals: Collection[str]) -> None:
        self.new_refusals: dict[str, str] = {}
        self._model = model
        self._refused: set[Feature] = {
            feature for feature in get_args(Feature) if feature in refusals
        }
        if not model.capabilities.system:
            self._refused.add("system")
        self._suspected: dict[Feature, str] = {}
        self._proven: set[Feature] = set()

    def fit(self, request: ModelRequest) -> ModelRequest:
        """Return the request in the form that the model takes, as far as is known."""
        capabilities = self._model.capabilities
        if isinstance(request.schema, Mapping) and not capabilities.json_schema:
            request = replace(request, schema="json_object" if capabilities.json_object else None)
        avoided = self._refused | self._suspected.keys()
        while avoided and (present := (smaller := alternatives(request)).keys() & avoided):
            request = smaller[min(present)]
        return request

    def heed(self, request: ModelRequest, outcome: Outcome) -> None:
        """Learn from an outcome; a failure that another form may avoid is to be adapted.

        A part that was answered before cannot be the reason of a refusal, whatever its message
        says: it may quote the prompt.
        """
        features = alternatives(request).keys()
        if isinstance(outcome, Reply):
            if not outcome.text.strip():
                return
            self._proven |= features
            for feature in sorted(self._suspected.keys() - features):
                self.new_refusals[feature] = self._suspected.pop(feature)
                self._refused.add(feature)
                logger.warning(
                    "%s does not take %s: %s is asked without it. The next run knows; "
                    "capabilities in evaluation.yaml declares what a model takes",
                    *(self._model.endpoint.model, feature, self._model.id),
                )
            return
        avoided = self._refused | self._suspected.keys()
        for feature in outcome.refused:
            if feature in features - self._proven and _OTHER_NAME.get(feature) not in avoided:
                if feature not in self._refused:
                    self._suspected.setdefault(feature, str(outcome))
                outcome.remedy = "adapt"
                return

    def suspect_form(self, request: ModelRequest, failure: RequestFailed) -> bool:
        """Suspect the form of the reply; return whether there is another form to try."""
        features = alternatives(request).keys() - self._proven
        for feature in features & {"json_schema", "json_object"}:
            self._suspected.setdefault(feature, str(failure))
            failure.remedy = "adapt"
            return True
        return False

    def forget_suspicions(self) -> None:
        """Forget what was suspected, because no request without it was answered."""
        self._suspected.clear()
