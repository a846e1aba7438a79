"""Declared judges and generators, made ready to be called."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import assert_never
from urllib.parse import urlsplit

from eval_assets.evaluation import Calling, Evaluation, Generator, Judge, Setting
from eval_assets.judges.call import Call, Client, Endpoint, Vendor
from eval_assets.judges.models import capabilities_of, price_of
from eval_assets.models import Capabilities, Price, Usage, cost_usd
from eval_assets.problems import InputError, InputProblem

JUDGE_SETTINGS: Mapping[str, Setting] = {"temperature": 0.0, "effort": "low"}
"""What judges are sent where nothing else is declared: a rating should not be left to chance, and
more thought costs more than it brings on one question about one response."""

MAX_TOKENS = 1024
MAX_TOKENS_THINKING = 4096
"""Most output tokens where nothing else is declared; thinking counts among them."""

_BASE_URLS: Mapping[Vendor, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
_BASE_URL_NAMES: Mapping[Vendor, str] = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
}
_KEY_NAMES: Mapping[Vendor, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_PLACEHOLDERS = ("your", "changeme", "change-me", "replace", "placeholder", "xxx", "<", "...")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NO_KEY = "none-needed"
_FRAMING_TOKENS = 500
"""More than any vendor adds to a prompt of its own, roles and schema instructions included."""


@dataclass(frozen=True)
class LiveModel:
    """A judge or generator that can be called.

    Args:
        id: Its name in every table.
        endpoint: The model, where it is served.
        capabilities: What it takes.
        settings: What is sent with every call, only what it takes.
        max_tokens: Most output tokens of a call, thinking included.
        price: What it costs; None where that is not known.
        calling: How it is called.
        left_out: Declared settings that it does not take.
    """

    id: str
    endpoint: Endpoint
    capabilities: Capabilities
    settings: Mapping[str, Setting]
    max_tokens: int
    price: Price | None
    calling: Calling
    left_out: tuple[str, ...] = ()

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before its replies and costs are compared with another's, in sentences."""
        model = self.endpoint.model
        found = []
        if self.left_out:
            found.append(f"{model} takes no {', '.join(self.left_out)}: {self.id} is asked without")
        if self.price is None:
            found.append(f"the price of {model} is not known, nor what {self.id} costs")
        return tuple(found)

    def cost_usd(self, usage: Usage | None) -> float | None:
        """What a call cost; None where tokens or price are not known."""
        if usage is None or self.price is None:
            return None
        return cost_usd(usage, self.price, in_batch=self.calling.batch)

    def most_usd(self, call: Call) -> float:
        """The most that a call can cost; 0 where the price is not known."""
        if self.price is None:
            return 0.0
        n_input = call.size + _FRAMING_TOKENS
        worst = Usage(n_input, call.max_tokens)
        as_written = Usage(n_input, call.max_tokens, cache_write_tokens=n_input)
        in_batch = self.calling.batch
        return max(cost_usd(u, self.price, in_batch=in_batch) for u in (worst, as_written))


def live_model(
    declared: Judge | Generator,
    *,
    evaluation: Evaluation,
    defaults: Mapping[str, Setting],
    environ: Mapping[str, str],
    today: date,
) -> LiveModel:
    """Make a declared judge or generator ready.

    Args:
        declared: The judge, of a live provider, or the generator.
        evaluation: Where prices and capabilities may be overridden.
        defaults: Settings that are sent where the declaration does not name them.
        environ: Environment, which may name other endpoints.
        today: Day whose prices hold.
    """
    vendor = _vendor(declared)
    model = declared.model or ""
    capabilities = capabilities_of(model, overrides=evaluation.capabilities)
    wanted = {**defaults, **declared.calling.settings}
    fallback = MAX_TOKENS_THINKING if capabilities.thinks else MAX_TOKENS
    max_tokens = int(wanted.pop("max_tokens", fallback))
    taken = {name: value for name, value in wanted.items() if _takes(capabilities, name)}
    base_url = declared.base_url or environ.get(_BASE_URL_NAMES[vendor]) or _BASE_URLS[vendor]
    return LiveModel(
        id=declared.id,
        endpoint=Endpoint(vendor, base_url.rstrip("/"), model),
        capabilities=capabilities,
        settings=taken,
        max_tokens=max_tokens,
        price=price_of(model, on=today, overrides=evaluation.prices),
        calling=declared.calling,
        left_out=tuple(name for name in declared.calling.settings if name in wanted.keys() - taken),
    )


def api_keys(
    declared: Iterable[Judge | Generator], *, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Keys by id of judge or generator, from the environment.

    A server on this machine needs none. The keys are in no message.

    Raises:
        ExceptionGroup: Of one InputError for every key that is missing or a placeholder.
    """
    keys, problems = {}, []
    for each in declared:
        name = api_key_name(each)
        key = environ.get(name, "").strip()
        base_url = each.base_url or environ.get(_BASE_URL_NAMES[_vendor(each)]) or ""
        if urlsplit(base_url).hostname in _LOOPBACK:
            key = key or _NO_KEY
        elif not key or any(word in key.lower() for word in _PLACEHOLDERS):
            what = f"{each.id} needs {name}, which is {'a placeholder' if key else 'not set'}"
            problems.append(
                InputProblem("environment", None, None, what, f"Set {name} to a key of its vendor")
            )
        keys[each.id] = key
    if problems:
        raise ExceptionGroup("keys are missing", [InputError(problem) for problem in problems])
    return keys


def api_key_name(declared: Judge | Generator) -> str:
    """Environment variable that holds the key: the one named, else the vendor's own."""
    return declared.api_key_env or _KEY_NAMES[_vendor(declared)]


def connect(model: LiveModel, *, api_key: str) -> Client:
    """The client for a model; the SDKs are imported only here, because that takes a second."""
    match model.endpoint.provider:
        case "openai":
            from eval_assets.judges.openai import OpenAIClient  # noqa: PLC0415

            return OpenAIClient(
                base_url=model.endpoint.base_url, api_key=api_key, capabilities=model.capabilities
            )
        case "anthropic":
            from eval_assets.judges.anthropic import AnthropicClient  # noqa: PLC0415

            return AnthropicClient(base_url=model.endpoint.base_url, api_key=api_key)
        case _ as unreachable:
            assert_never(unreachable)


def import_sdks() -> None:
    """Import both vendors' SDKs, so that the second this takes is no part of a latency."""
    import eval_assets.judges.anthropic  # noqa: PLC0415
    import eval_assets.judges.openai  # noqa: F401, PLC0415


def _vendor(declared: Judge | Generator) -> Vendor:
    if declared.provider == "recorded":
        raise ValueError(f"{declared.id} is recorded and cannot be called")
    return declared.provider


def _takes(capabilities: Capabilities, setting: str) -> bool:
    """Whether a setting may be sent; what the table does not know about is the user's own risk."""
    match setting:
        case "temperature" | "top_p" | "top_k":
            return capabilities.temperature
        case "effort":
            return capabilities.effort
        case "seed":
            return capabilities.seed
        case _:
            return True
