"""API keys and endpoints from the environment, and masks of keys: no message shows one."""

import ipaddress
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote, urlsplit

from eval_assets.config.judges import VENDORS, Generator, Judge, Vendor
from eval_assets.errors import InputProblem, raise_all
from eval_assets.wording import printable, storable

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


KEY_LIKE = re.compile(
    r"""(?x)\b(?:
        (?:sk|pk|rk|gsk|xai|pplx|csk|nvapi|fw|tgp_v1|r8|hf|sess|co|vck)[-_][A-Za-z0-9_\-]{16,}
        | AIza[A-Za-z0-9_\-]{30,}                           # Google
        | (?:AKIA|ASIA)[A-Z0-9]{16}                         # AWS
        | (?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z0-9_]{20,}  # GitHub
        | eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]+   # a JSON web token
    )"""
)
"""The forms of keys issued by vendors of models and clouds."""

_NAMED_KEY = re.compile(
    r"(?i)\b(bearer|api[-_ ]?key[\"']?\s*[:=])(\s*[\"']?)[A-Za-z0-9._~+/\-]{12,}=*"
)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_KEY = 8
"""Shorter keys are not searched for, because they occur in any text."""
_UNBROKEN = 4
"""Number of characters of a split key that are searched for first, which is faster than the
pattern."""
_BETWEEN = r"""(?:\\[nrt]|[\s"'`+,;|&\\]|"\s*,\s*"\w{1,30}"\s*:\s*"){0,20}?"""
"""Between parts of a key: ends of lines and texts, as they are and escaped, and names in JSON."""


def masked(text: str, keys: Collection[str]) -> str:
    """Return the text with all keys masked, and anything that looks like one."""
    text = without_keys(text, keys)
    return _NAMED_KEY.sub(r"\1\2[key]", KEY_LIKE.sub("[key]", text))


def without_keys(text: str, keys: Collection[str]) -> str:
    """Return the text with all keys masked, which a server may echo, also in another form."""
    for key in keys:
        if len(key) >= _SHORTEST_KEY:
            for form in _forms(key):
                if form in text:
                    text = text.replace(form, "[key]")
            if key[:_UNBROKEN] in text or " ".join(key[:_UNBROKEN]) in text:
                text = _split(key).sub("[key]", text)
    return text


@lru_cache(maxsize=64)
def _split(key: str) -> re.Pattern[str]:
    """Return a pattern of a key split over several lines or texts."""
    return re.compile(_BETWEEN.join(map(re.escape, key)))


@lru_cache(maxsize=64)
def _forms(key: str) -> tuple[str, ...]:
    """Return a key verbatim, URL-encoded, in one case, and in base64 (alone or as a bearer)."""
    plain = key.encode("utf-8", "surrogatepass")
    encoded = [
        encode(prefix + plain).decode().rstrip("=")
        for encode in (b64encode, urlsafe_b64encode)
        for prefix in (b"", b"Bearer ", b":")
    ]
    cased = [key.upper(), key.lower()]
    return tuple(dict.fromkeys([key, quote(plain, safe=""), *cased, *encoded]))


def one_line(text: str, *, longest: int) -> str:
    r"""Return the text in one line that is safe to print, without controls and escape sequences.

    Examples:
        >>> one_line("\x1b[31mred\x1b[0m\n  and \x07 loud", longest=100)
        'red and loud'
    """
    plain = printable(re.sub(r"\s+", " ", _ESCAPE.sub("", text)))
    return " ".join(storable(plain).split())[:longest]


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Return the values of environment variables named as a key, a token or a password.

    Examples:
        >>> secrets_in({"A_API_KEY": "sk-0123456789", "HOME": "/root", "B_TOKEN": "short"})
        ['sk-0123456789']
    """
    return [
        value
        for name, value in environ.items()
        if name.upper().endswith(_SECRET_NAMES) and len(value) >= _SHORTEST_KEY
    ]
