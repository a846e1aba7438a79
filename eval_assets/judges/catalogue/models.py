"""Capabilities, prices, families and ends of models, by name."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import yaml

from eval_assets.config.judges import VENDORS
from eval_assets.config.models import Capabilities, Price

UNKNOWN_FAMILY = "unknown"
ENDS_SOON = timedelta(days=60)
"""Notice before the end of a model, which leaves time to compare it with its replacement."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SNAPSHOT = re.compile(r"-(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})$")

Entry = TypeVar("Entry")


def capabilities_of(
    model: str, *, overrides: Mapping[str, Mapping[str, bool | str]], host: str = ""
) -> Capabilities:
    """Return the capabilities of a model; a leading `organisation/` of its name is ignored.

    A model without an entry is assumed to be behind an OpenAI-compatible endpoint: it accepts a
    temperature and a JSON schema, and its family is `unknown`. Overrides win over the tables; a
    host is given for a server other than the vendor's own.

    Raises:
        ValueError: If an override names something that is not a capability.

    Examples:
        >>> capabilities_of("claude-haiku-5-5", overrides={}).temperature
        False
    """
    values: dict[str, Any] = {"family": UNKNOWN_FAMILY}
    values |= _fitting(model, _table()["capabilities"]) or {}
    values |= _table()["hosts"].get(host) or {}
    values |= _fitting(model, overrides) or {}
    try:
        return Capabilities(**values)
    except TypeError as error:
        names = ", ".join(Capabilities.__dataclass_fields__)
        raise ValueError(f"capabilities of {model} must be among {names}, got {values}") from error


def price_of(model: str, *, on: date, overrides: Mapping[str, Price]) -> Price | None:
    """Return the price of a model on a day; None if it is unknown.

    Overrides win over the prices of genai-prices, which are those of its release: it asks no server
    unless its `UpdatePrices` is started.

    Examples:
        >>> price_of("gpt-4o-mini", on=date(2026, 11, 1), overrides={}).input_usd
        0.15
        >>> price_of("llama3.2", on=date(2026, 11, 1), overrides={}) is None
        True
    """
    name = _bare(model)
    prices = {key.lower(): price for key, price in overrides.items()}
    # An override of a model is one of its dated snapshots too.
    if (override := prices.get(name, prices.get(_SNAPSHOT.sub("", name)))) is not None:
        return override
    if ":" in name:  # a tag of Ollama, which serves without a price what vendors sell
        return None
    from genai_prices import Usage, calc_price
    from genai_prices.types import TieredPrices

    try:
        # At noon (UTC): discounts by time of day are at night.
        at = datetime.combine(on, time(12), tzinfo=UTC)
        sold = calc_price(Usage(), name, genai_request_timestamp=at).model_price
    except LookupError:
        return None
    long_prompt_tokens, factors, usd = None, [1.0], []
    for unit in (
        sold.input_mtok,
        sold.output_mtok,
        sold.cache_read_mtok,
        sold.cache_write_mtok,
    ):
        base = unit.base if isinstance(unit, TieredPrices) else unit
        usd.append(None if base is None else float(base))
        if isinstance(unit, TieredPrices) and base:
            long_prompt_tokens = unit.tiers[0].start
            factors += [float(tier.price / base) for tier in unit.tiers]
    input_usd, output_usd, cached_input_usd, cache_write_usd = usd
    if input_usd is None or output_usd is None:  # of embeddings, pictures or speech
        return None
    return Price(
        input_usd,
        output_usd,
        cached_input_usd,
        cache_write_usd,
        long_prompt_tokens,
        # Vendors raise output by less than input: the factor of the input is never too little.
        long_prompt_factor=max(factors),
    )


def listed_models(*, on: date) -> set[str]:
    """Return the models of the two vendors that have a price on a day, or an end."""
    from genai_prices.data import providers

    sold = {model.id for of in providers if of.id in VENDORS for model in of.models}
    ends: Mapping[str, date] = _table()["retirements"]
    return ends.keys() | {
        name
        for name in sold
        # Others are patterns of names, or neither read nor write text.
        if name[-1].isalnum()
        and capabilities_of(name, overrides={}).family != UNKNOWN_FAMILY
        and price_of(name, on=on, overrides={})
    }


def end_of(model: str) -> date | None:
    """Return the last day of requests to a model, as its vendor announced it; None if it is not.

    Examples:
        >>> end_of("gpt-4o")
        datetime.date(2027, 1, 14)
    """
    ends_on: date | None = _table()["retirements"].get(_bare(model))
    return ends_on


def shared_family(models: Iterable[str], *, overrides: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the families that several of the models belong to, with these models.

    Raters of one family share errors, and a judge favours responses of its family: their
    agreement is weaker evidence. A model of unknown family is a separate family.

    Examples:
        >>> shared_family(["gpt-6-luna", "claude-haiku-5-5", "gpt-4o"], overrides={})
        {'openai': ['gpt-6-luna', 'gpt-4o']}
    """
    families: dict[str, list[str]] = {}
    for model in models:
        # A part of the name names the family: "organisation/model", or "model/prompt".
        parts = [capabilities_of(part, overrides=overrides) for part in reversed(model.split("/"))]
        known = (part.family for part in parts if part.family != UNKNOWN_FAMILY)
        families.setdefault(next(known, model.lower()), []).append(model)
    return {family: members for family, members in families.items() if len(members) > 1}


def _fitting(model: str, entries: Mapping[str, Entry]) -> Entry | None:
    """Return the entry with the longest name that the model's name equals or continues."""
    name = _bare(model)
    fitting = [key for key in entries if re.match(rf"{re.escape(key.lower())}(?![^-.:@])", name)]
    return entries[max(fitting, key=len)] if fitting else None


def _bare(model: str) -> str:
    return model.rsplit("/", 1)[-1].lower()


@cache
def _table() -> dict[str, Any]:
    path = resources.files("eval_assets.judges.catalogue").joinpath("models.yaml")
    table: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 - either is a safe one
    return table
