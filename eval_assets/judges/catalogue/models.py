"""Capabilities, prices, families and lifecycles of models, by name."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeVar

import yaml

from eval_assets.config.models import Capabilities, Price

UNKNOWN_FAMILY = "unknown"
ENDS_SOON = timedelta(days=60)
"""Notice before the end of a model, which leaves time to compare it with its replacement."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SNAPSHOT = re.compile(r"-(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})$")

Entry = TypeVar("Entry")
Life = Literal["alive", "ends_soon", "retired"]


@dataclass(frozen=True)
class Lifecycle:
    """The lifecycle of a model, and the last day of requests if one is announced.

    An unknown model is alive.
    """

    state: Life
    ends_on: date | None


@dataclass(frozen=True)
class KnownModel:
    """A row of the tables that ship; the price holds from `priced_since`.

    It is second hand if the source is not the vendor's own page.
    """

    name: str
    capabilities: Capabilities
    lifecycle: Lifecycle
    price: Price | None
    priced_since: date | None
    source: str
    is_second_hand: bool


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
    values |= _fitting(model, _table("models.yaml")["capabilities"]) or {}
    values |= _table("models.yaml")["hosts"].get(host) or {}
    values |= _fitting(model, overrides) or {}
    try:
        return Capabilities(**values)
    except TypeError as error:
        names = ", ".join(Capabilities.__dataclass_fields__)
        raise ValueError(f"capabilities of {model} must be among {names}, got {values}") from error


def price_of(model: str, *, on: date, overrides: Mapping[str, Price]) -> Price | None:
    """Return the price of a model on a day; None if it is unknown. Overrides win over the table.

    Examples:
        >>> price_of("gpt-4o-mini", on=date(2026, 11, 1), overrides={}).input_usd
        0.15
        >>> price_of("llama3.2", on=date(2026, 11, 1), overrides={}) is None
        True
    """
    if (override := _snapshot_of(model, overrides)) is not None:
        return override
    entry = in_force(_snapshot_of(model, _table("prices.yaml")["prices"]) or [], on=on)
    return None if entry is None else _price(entry)


def known_models(*, on: date) -> list[KnownModel]:
    """Return the models with a known price or end, at the prices of a day, by family and name."""
    prices: dict[str, list[dict[str, Any]]] = _table("prices.yaml")["prices"]
    sources: dict[str, dict[str, Any]] = _table("prices.yaml")["sources"]
    names = {*prices, *_table("models.yaml")["retirements"]}
    models = []
    for name in names:
        entry = in_force(_snapshot_of(name, prices) or [], on=on)
        models.append(
            KnownModel(
                name=name,
                capabilities=capabilities_of(name, overrides={}),
                lifecycle=lifecycle_of(name, on=on),
                price=None if entry is None else _price(entry),
                priced_since=None if entry is None else entry["since"],
                source="" if entry is None else entry["source"],
                is_second_hand=entry is not None and sources[entry["source"]]["second_hand"],
            )
        )
    return sorted(models, key=lambda model: (model.capabilities.family, model.name))


def price_sources() -> dict[str, str]:
    """Return the descriptions of the sources of prices, by name."""
    sources: dict[str, dict[str, Any]] = _table("prices.yaml")["sources"]
    return {name: source["what"] for name, source in sources.items()}


def _price(entry: Mapping[str, Any]) -> Price:
    names = {field.metadata.get("alias", field.name): field.name for field in fields(Price)}
    return Price(**{names[key]: value for key, value in entry.items() if key in names})


def in_force(entries: Iterable[Mapping[str, Any]], *, on: date) -> Mapping[str, Any] | None:
    """Return the entry that holds on a day: the latest whose `since` is not after it.

    Examples:
        >>> old, new = {"since": date(2026, 1, 1)}, {"since": date(2026, 7, 1)}
        >>> in_force([new, old], on=date(2026, 6, 30)) is old
        True
    """
    current = [entry for entry in entries if entry["since"] <= on]
    return max(current, key=lambda entry: entry["since"], default=None)


def lifecycle_of(model: str, *, on: date) -> Lifecycle:
    """Return the lifecycle of a model on a day, as its vendor announced it.

    Examples:
        >>> lifecycle_of("claude-3-5-haiku-20241022", on=date(2026, 11, 21)).state
        'retired'
        >>> lifecycle_of("gpt-4o", on=date(2026, 11, 21)).state
        'ends_soon'
    """
    ends_on = _table("models.yaml")["retirements"].get(_bare(model))
    if ends_on is None:
        return Lifecycle("alive", None)
    if on > ends_on:
        return Lifecycle("retired", ends_on)
    return Lifecycle("ends_soon" if ends_on - on <= ENDS_SOON else "alive", ends_on)


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
        families.setdefault(_family_of(model, overrides=overrides), []).append(model)
    return {family: members for family, members in families.items() if len(members) > 1}


def _family_of(model: str, *, overrides: Mapping[str, Any]) -> str:
    """Return the family named by a part of the name: "organisation/model", or "model/prompt"."""
    for part in reversed(model.split("/")):
        family = capabilities_of(part, overrides=overrides).family
        if family != UNKNOWN_FAMILY:
            return family
    return model.lower()


def _fitting(model: str, entries: Mapping[str, Entry]) -> Entry | None:
    """Return the entry with the longest name that the model's name equals or continues."""
    name = _bare(model)
    fitting = [key for key in entries if re.match(rf"{re.escape(key.lower())}(?![^-.:@])", name)]
    return entries[max(fitting, key=len)] if fitting else None


def _snapshot_of(model: str, entries: Mapping[str, Entry]) -> Entry | None:
    """Return the entry of the model, or of the model that it is a dated snapshot of."""
    names = {key.lower(): entry for key, entry in entries.items()}
    name = _bare(model)
    return names.get(name, names.get(_SNAPSHOT.sub("", name)))


def _bare(model: str) -> str:
    """Return the name of the model without its organisation."""
    return model.rsplit("/", 1)[-1].lower()


@cache
def _table(name: str) -> dict[str, Any]:
    """Return a table of this package."""
    text = resources.files("eval_assets.judges.catalogue").joinpath(name).read_text("utf-8")
    table: dict[str, Any] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - either is a safe one
    return table
