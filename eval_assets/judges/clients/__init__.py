"""Clients of vendors' APIs, a module each with its client as `CLIENT`."""

from collections.abc import Collection
from importlib import import_module
from types import ModuleType

from eval_assets.config.judges import VENDORS, Vendor
from eval_assets.judges.calling.requests import Client, Endpoint


def connect(endpoint: Endpoint, *, api_key: str, keys: Collection[str]) -> Client:
    """Return a client for an endpoint; `keys` are all keys that nothing may show."""
    client: Client = _module(endpoint.provider).CLIENT(
        base_url=endpoint.base_url, api_key=api_key, keys=keys
    )
    return client


def import_sdks() -> None:
    """Import every vendor's SDK, which takes a second that must not count as latency."""
    for vendor in VENDORS:
        _module(vendor)


def _module(vendor: Vendor) -> ModuleType:
    return import_module(f"{__name__}.{vendor}")  # when it is needed: an SDK takes a second
