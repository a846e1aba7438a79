"""API keys and endpoints from the environment; no message shows a key."""

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from eval_assets.config.judges import VENDORS, Generator, Judge, Vendor
from eval_assets.errors import InputProblem, raise_all
from eval_assets.judges.clients.masking import KEY_LIKE

_PLACEHOLDER = re.compile(
    r"(?ix) <.*> | .*(?:\.{3}|…).* | [^a-z0-9]* | (?:[^a-z0-9]* (?:"
    r"your|my|our|the|an?|own|openai|anthropic|gemini|google|api|keys?|token|secret|here|sk|proj|ant"
    r"|api03|change|me|replace|this|with|place|holder|insert|put|paste|enter|fill|in|todo|tbd|dummy"
    r"|example|sample|fake|test|real|none|null|nil|undefined|empty|unset|not|set|x++|0++|1++"
    r"|123(?:4(?:5(?:6(?:7(?:8(?:90?)?)?)?)?)?)? ) )+ [^a-z0-9]*"
)
"""A text of nothing but placeholder words, which a real key never is."""

_NO_KEY = "none-needed"


def api_keys(
    declared: Iterable[Judge | Generator], *, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return keys by id of judge or generator; a server on this machine needs none.

    Raises:
        ExceptionGroup: Of one InputError for every key that is missing or a placeholder, and for
            every endpoint that a key must not be sent to.
    """
    keys, problems = {}, []
    for model in declared:
        name = api_key_name(model)
        key = environ.get(name, "").strip()
        if (problem := _endpoint_problem(model, environ=environ)) is not None:
            problems.append(problem)
        elif is_loopback(base_url_of(model, environ=environ)):
            key = key or _NO_KEY
        elif not key or is_placeholder(key):
            message = f"{model.id} needs {name}, which is {'a placeholder' if key else 'not set'}"
            problems.append(
                InputProblem(
                    "environment", None, None, message, f"Set {name} to a key of its vendor"
                )
            )
        keys[model.id] = key
    raise_all(list(dict.fromkeys(problems)), source="the environment")
    return keys


def is_placeholder(key: str) -> bool:
    """Return whether a key is a placeholder.

    Examples:
        >>> is_placeholder("sk-your-key-here"), is_placeholder("sk-proj-xxxx1Yourz0aB3")
        (True, False)
    """
    return bool(_PLACEHOLDER.fullmatch(key))


def is_loopback(url: str) -> bool:
    """Return whether a URL is on this machine.

    Examples:
        >>> is_loopback("http://localhost:11434/v1"), is_loopback("https://api.openai.com/v1")
        (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def api_key_name(declared: Judge | Generator) -> str:
    """Return the environment variable of the key: the declared one, else the vendor's."""
    return declared.api_key_env or VENDORS[vendor_of(declared)].key_name


def base_url_of(declared: Judge | Generator, *, environ: Mapping[str, str]) -> str:
    """Return the endpoint that is declared or named in the environment; empty for the vendor's."""
    name = VENDORS[vendor_of(declared)].base_url_name
    return declared.base_url or environ.get(name) or ""


def vendor_of(declared: Judge | Generator) -> Vendor:
    """Return the vendor of the API.

    Raises:
        ValueError: If the judge is recorded.
    """
    if declared.provider == "recorded":
        raise ValueError(f"{declared.id} is recorded and cannot be asked")
    return declared.provider


def _endpoint_problem(
    declared: Judge | Generator, *, environ: Mapping[str, str]
) -> InputProblem | None:
    """Return why a key must not be sent to a declared endpoint, or to one of the environment.

    The text does not show the URL, which may hold a key, and URLs are logged.
    """
    vendor, url = VENDORS[vendor_of(declared)], base_url_of(declared, environ=environ)
    if not url:
        return None
    message, remedy = "", "Put the key into an environment variable, and name that in api_key_env"
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        message, remedy = "the base URL is not a URL", "Write it as https://host/path"
    elif parts.username is not None or parts.password is not None:
        message = "the base URL holds a user name or password"
    elif parts.query or parts.fragment or KEY_LIKE.search(parts.path):
        message = "the base URL holds parameters, which may be a key"
    elif declared.base_url and declared.api_key_env in (None, vendor.key_name):
        # Vendors have hosts by region, of which the last two names are the same.
        sites = {
            tuple(str(urlsplit(address).hostname).split(".")[-2:])
            for address in (url, vendor.base_url)
        }
        if len(sites) > 1 and not is_loopback(url):
            message = f"{parts.hostname} would be sent the key in {vendor.key_name}"
            remedy = "Name the environment variable of its own key in api_key_env"
    if not message:
        return None
    if declared.base_url:
        message = f"{declared.id}: {message}"
        return InputProblem("evaluation.yaml", None, "base_url", message, remedy)
    return InputProblem("environment", None, None, f"{vendor.base_url_name}: {message}", remedy)
