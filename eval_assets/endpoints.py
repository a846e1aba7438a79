"""Endpoints of model servers: whose they are, and what keeps a key from going astray."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_KEY_LIKE = re.compile(
    r"(?:sk|pk|rk|gsk|xai|pplx|hf|key|token)[-_][A-Za-z0-9_\-]{16,}|AIza[\w-]{30,}"
)


@dataclass(frozen=True)
class EndpointFault:
    """Why an endpoint is refused; neither text shows the URL, which may hold a key.

    Args:
        what: What was found, without a full stop.
        remedy: What to do, without a full stop.
    """

    what: str
    remedy: str


def is_loopback(url: str) -> bool:
    """Return whether a URL leads to this machine.

    Examples:
        >>> is_loopback("http://localhost:11434/v1"), is_loopback("https://api.openai.com/v1")
        (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def secret_in_url(url: str) -> EndpointFault | None:
    """Return the fault of a URL that holds, or may hold, a secret: URLs are stored and logged."""
    parts = _split(url)
    if parts is None:
        return EndpointFault("the base URL is not a URL", "Write it as https://host/path")
    remedy = "Put the key into an environment variable, and name that in api_key_env"
    if parts.username is not None or parts.password is not None:
        return EndpointFault("the base URL holds a user name or password", remedy)
    if parts.query or parts.fragment or _KEY_LIKE.search(parts.path):
        return EndpointFault("the base URL holds parameters, which may be a key", remedy)
    return None


def foreign_host(
    url: str, *, vendor_url: str, vendor_key_name: str, api_key_env: str | None
) -> EndpointFault | None:
    """Return the fault of a server that is not the vendor's and would be sent the vendor's key.

    Args:
        url: The declared base URL.
        vendor_url: The vendor's own.
        vendor_key_name: Environment variable of the vendor's key.
        api_key_env: Environment variable that is declared for the key; None if none is.
    """
    parts, own = _split(url), urlsplit(vendor_url)
    host = parts.hostname if parts else None
    if host is None or is_loopback(url) or _site(host) == _site(own.hostname or ""):
        return None
    if api_key_env not in (None, vendor_key_name):
        return None
    return EndpointFault(
        f"{host} would be sent the key in {vendor_key_name}",
        "Name the environment variable of its own key in api_key_env",
    )


def _split(url: str) -> SplitResult | None:
    """Return the parts of a URL; None if it is not one."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None


def _site(host: str) -> str:
    """Return the last two names of a host: vendors have hosts by region."""
    return ".".join(host.lower().split(".")[-2:])
