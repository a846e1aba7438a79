"""API keys and endpoints from the environment; no message shows a key."""

import os
import re
from collections.abc import Iterable, Mapping

from eval_assets.endpoints import EndpointFault, foreign_host, is_loopback, secret_in_url
from eval_assets.judges.calling.requests import Vendor
from eval_assets.judges.clients import VENDORS
from eval_assets.problems import InputProblem, raise_all
from eval_assets.raters import Generator, Judge

_PLACEHOLDER = re.compile(
    r"(?ix) <.*> | .*(?:\.{3}|…).* | [^a-z0-9]* | (?:[^a-z0-9]* (?:"
    r"your|my|our|the|an?|own|openai|anthropic|gemini|google|api|keys?|token|secret|here|sk|proj|ant"
    r"|api03|change|me|replace|this|with|place|holder|insert|put|paste|enter|fill|in|todo|tbd|dummy"
    r"|example|sample|fake|test|real|none|null|nil|undefined|empty|unset|not|set|x++|0++|1++"
    r"|123(?:4(?:5(?:6(?:7(?:8(?:90?)?)?)?)?)?)? ) )+ [^a-z0-9]*"
)
"""A text made up of nothing but the words that stand in for a key. A real key is never that."""

_NO_KEY = "none-needed"


def api_keys(
    declared: Iterable[Judge | Generator], *, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return keys by id of judge or generator, from the environment.

    A server on this machine needs none.

    Raises:
        ExceptionGroup: Of one InputError for every key that is missing or a placeholder, and for
            every endpoint that a key must not be sent to.
    """
    keys, problems = {}, []
    for each in declared:
        name = api_key_name(each)
        key = environ.get(name, "").strip()
        if (problem := _endpoint_problem(each, environ=environ)) is not None:
            problems.append(problem)
        elif is_loopback(base_url_of(each, environ=environ)):
            key = key or _NO_KEY
        elif not key or is_placeholder(key):
            what = f"{each.id} needs {name}, which is {'a placeholder' if key else 'not set'}"
            problems.append(
                InputProblem("environment", None, None, what, f"Set {name} to a key of its vendor")
            )
        keys[each.id] = key
    raise_all(list(dict.fromkeys(problems)), source="the environment")
    return keys


def is_placeholder(key: str) -> bool:
    """Return whether a key is a stand-in for one.

    Examples:
        >>> is_placeholder("sk-your-key-here"), is_placeholder("sk-proj-xxxx1Yourz0aB3")
        (True, False)
    """
    return bool(_PLACEHOLDER.fullmatch(key))


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


def _endpoint_problem(
    declared: Judge | Generator, *, environ: Mapping[str, str]
) -> InputProblem | None:
    """Return why a key must not be sent to a declared endpoint, or to one of the environment."""
    vendor = VENDORS[vendor_of(declared)]
    url, fault = base_url_of(declared, environ=environ), None
    if url:
        fault = secret_in_url(url)
    if declared.base_url and fault is None:
        fault = foreign_host(
            declared.base_url,
            vendor_url=vendor.base_url,
            vendor_key_name=vendor.key_name,
            api_key_env=declared.api_key_env,
        )
    if fault is None:
        return None
    return _problem(declared, fault, environment_name=vendor.base_url_name)


def _problem(
    declared: Judge | Generator, fault: EndpointFault, *, environment_name: str
) -> InputProblem:
    if declared.base_url:
        what = f"{declared.id}: {fault.what}"
        return InputProblem("evaluation.yaml", None, "base_url", what, fault.remedy)
    what = f"{environment_name}: {fault.what}"
    return InputProblem("environment", None, None, what, fault.remedy)
