"""API keys and endpoints from the environment; no message shows a key."""

import os
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from eval_assets.evaluation import Generator, Judge
from eval_assets.judges.calling.requests import Vendor
from eval_assets.judges.clients import VENDORS
from eval_assets.problems import InputError, InputProblem

_PLACEHOLDERS = ("your", "changeme", "change-me", "replace", "placeholder", "xxx", "<", "...")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NO_KEY = "none-needed"


def api_keys(
    declared: Iterable[Judge | Generator], *, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return keys by id of judge or generator, from the environment.

    A server on this machine needs none.

    Raises:
        ExceptionGroup: Of one InputError for every key that is missing or a placeholder.
    """
    keys, problems = {}, []
    for each in declared:
        name = api_key_name(each)
        key = environ.get(name, "").strip()
        if urlsplit(base_url_of(each, environ=environ)).hostname in _LOOPBACK:
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
    """Return the environment variable that holds the key: the one named, else the vendor's own."""
    return declared.api_key_env or VENDORS[vendor_of(declared)].key_name


def base_url_of(declared: Judge | Generator, *, environ: Mapping[str, str]) -> str:
    """Return the endpoint that is declared or named in the environment; empty for the vendor's."""
    name = VENDORS[vendor_of(declared)].base_url_name
    return declared.base_url or environ.get(name) or ""


def vendor_of(declared: Judge | Generator) -> Vendor:
    """Return the vendor whose API is spoken.

    Raises:
        ValueError: If the judge is recorded.
    """
    if declared.provider == "recorded":
        raise ValueError(f"{declared.id} is recorded and cannot be asked")
    return declared.provider
