"""The vendors whose APIs are spoken: a line in the table below, and a module of that name each.

The module has a class `VendorClient`. It is imported when it is needed: an SDK takes a second.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from eval_assets.judges.calling.requests import Client, Endpoint, Vendor


@dataclass(frozen=True)
class VendorApi:
    """An API that models are asked through, and the environment variables of its official client.

    Args:
        base_url: The vendor's own endpoint.
        base_url_name: Environment variable that names another endpoint.
        key_name: Environment variable that holds the key.
    """

    base_url: str
    base_url_name: str
    key_name: str


VENDORS: Mapping[Vendor, VendorApi] = {
    "openai": VendorApi("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": VendorApi("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
}
"""Every vendor; a new one also gets its name in `Vendor` and `evaluation.Provider`."""


def connect(endpoint: Endpoint, *, api_key: str, keys: Collection[str]) -> Client:
    """Return a client for an endpoint; `keys` are all keys that nothing may show."""
    client: Client = _module(endpoint.provider).VendorClient(
        base_url=endpoint.base_url, api_key=api_key, keys=keys
    )
    return client


def import_sdks() -> None:
    """Import every vendor's SDK, so that the second this takes is not part of a latency."""
    for vendor in VENDORS:
        _module(vendor)


def _module(vendor: Vendor) -> ModuleType:
    return import_module(f"{__name__}.{vendor}")
