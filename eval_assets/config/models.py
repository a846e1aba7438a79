"""Capabilities, prices and families of models."""

import re
from dataclasses import dataclass, field
from typing import Literal

from eval_assets.config.types import Count, NotNegative, Positive

MaxTokensName = Literal["max_completion_tokens", "max_tokens"]

TOKENS_PER_PRICE = 1_000_000
"""Vendors quote prices for this many tokens."""


_VERSION = re.compile(r"[-@:.](?:latest|preview|v?[0-9][0-9a-z.:_-]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a model, which refuses other requests with status 400.

    Args:
        family: Maker of the model: raters of one family are not independent.
        temperature: Whether it takes a temperature other than 1.
        json_schema: Whether its reply can be held to a JSON schema.
        json_object: Whether, without a schema, its reply can be held to JSON.
        system: Whether it takes a system message.
        thinks: Whether it may think before it replies, which counts as output.
        effort: Whether it takes a thinking effort.
        seed: Whether it takes a seed.
        max_tokens_name: Name of its limit of output tokens.
    """

    family: str
    temperature: bool = True
    json_schema: bool = True
    json_object: bool = False
    system: bool = True
    thinks: bool = False
    effort: bool = False
    seed: bool = False
    max_tokens_name: MaxTokensName = "max_tokens"


@dataclass(frozen=True)
class Price:
    """Price of a model, in USD per million tokens.

    Args:
        input_usd: Input tokens.
        output_usd: Output tokens, thinking included.
        cached_input_usd: Input tokens read from the vendor's cache; None if that is not known, and
            then they count as input.
        cache_write_usd: Input tokens written to that cache; None as above.
        long_prompt_tokens: Input tokens above which a request costs more; None if it never does.
        long_prompt_factor: Factor of its cost then.

    Raises:
        ValueError: If a price is negative.
    """

    input_usd: NotNegative = field(metadata={"alias": "input"})
    output_usd: NotNegative = field(metadata={"alias": "output"})
    cached_input_usd: NotNegative | None = field(default=None, metadata={"alias": "cached_input"})
    cache_write_usd: NotNegative | None = field(default=None, metadata={"alias": "cache_write"})
    long_prompt_tokens: Count | None = None
    long_prompt_factor: Positive = 1.0

    def __post_init__(self) -> None:
        prices = (self.input_usd, self.output_usd, self.cached_input_usd, self.cache_write_usd)
        if any(price is not None and not price >= 0 for price in prices):
            raise ValueError(f"a price must be 0 or more, got {prices}")


@dataclass(frozen=True)
class Usage:
    """Tokens of one request, as the vendor bills them.

    Args:
        input_tokens: All input tokens, those of the cache included.
        output_tokens: All output tokens, thinking included.
        cached_input_tokens: Part of the input that was read from the vendor's cache.
        cache_write_tokens: Part of the input that was written to it.
        reasoning_tokens: Part of the output that was spent on thinking.
    """

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


BATCH_FACTOR = 0.5
"""Price of batch endpoints of both vendors, as a share of the usual price."""


def cost_usd(usage: Usage, price: Price, *, in_batch: bool) -> float:
    """Return the cost of a request.

    Args:
        usage: Tokens of the request.
        price: Price of the model.
        in_batch: Whether it was sent to a batch endpoint.

    Examples:
        >>> gpt_4o = Price(input_usd=2.50, output_usd=10.0)
        >>> cost_usd(Usage(input_tokens=500, output_tokens=5), gpt_4o, in_batch=False)
        0.0013
    """
    plain = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens
    tokens_and_prices = (
        (plain, price.input_usd),
        (usage.cached_input_tokens, price.cached_input_usd),
        (usage.cache_write_tokens, price.cache_write_usd),
        (usage.output_tokens, price.output_usd),
    )
    cost = sum(n * (price.input_usd if usd is None else usd) for n, usd in tokens_and_prices)
    if price.long_prompt_tokens is not None and usage.input_tokens > price.long_prompt_tokens:
        cost *= price.long_prompt_factor
    return cost / TOKENS_PER_PRICE * (BATCH_FACTOR if in_batch else 1.0)


def is_version_of(returned: str, requested: str) -> bool:
    """Return whether a name is that of the requested model, or of a dated version of it.

    Examples:
        >>> is_version_of("gpt-4o-2024-08-06", "openai/gpt-4o")
        True
        >>> is_version_of("gpt-4o-mini", "gpt-4o")
        False
    """
    names = [name.lower().rsplit("/", 1)[-1] for name in (returned, requested)]
    shorter, longer = sorted((name.removesuffix("-latest") for name in names), key=len)
    rest = longer.removeprefix(shorter)
    return not rest or (rest != longer and _VERSION.fullmatch(rest) is not None)
