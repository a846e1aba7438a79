"""Declared judges and generators, made ready to be asked."""

from collections.abc import Mapping
from datetime import date
from urllib.parse import urlsplit

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import VENDORS, Generator, Judge, Setting
from eval_assets.config.models import Capabilities
from eval_assets.judges.calling.live_model import Declared, LiveModel
from eval_assets.judges.calling.requests import Endpoint
from eval_assets.judges.catalogue.models import capabilities_of, price_of
from eval_assets.judges.credentials import base_url_of, vendor_of

_JUDGE_SETTINGS: Mapping[str, Setting] = {"temperature": 0.0, "effort": "low"}
"""Settings of judges that declare nothing else: a rating should not be left to chance, and more
thought costs more than it brings on one question about one response."""

_MAX_TOKENS = 1024
_MAX_TOKENS_THINKING = 4096
"""Most output tokens if nothing else is declared; thinking counts among them."""


def live_judges(
    evaluation: Evaluation, *, environ: Mapping[str, str], today: date
) -> list[LiveModel[Judge]]:
    """Return the declared judges that are asked live, ready to be asked.

    Args:
        evaluation: Declares them, and may override prices and capabilities.
        environ: Environment, which may name other endpoints.
        today: Day whose prices hold.
    """
    return [
        _live_model(
            judge, evaluation=evaluation, defaults=_JUDGE_SETTINGS, environ=environ, today=today
        )
        for judge in evaluation.judges
        if judge.provider != "recorded"
    ]


def live_generators(
    evaluation: Evaluation, *, environ: Mapping[str, str], today: date
) -> list[LiveModel[Generator]]:
    """Return the declared generators, ready to be asked; see `live_judges`."""
    return [
        _live_model(generator, evaluation=evaluation, defaults={}, environ=environ, today=today)
        for generator in evaluation.generators
    ]


def _live_model(
    declared: Declared,
    *,
    evaluation: Evaluation,
    defaults: Mapping[str, Setting],
    environ: Mapping[str, str],
    today: date,
) -> LiveModel[Declared]:
    """Return a declared judge or generator, ready to be asked; `defaults` are its settings."""
    vendor = vendor_of(declared)
    model = declared.model or ""
    base_url = base_url_of(declared, environ=environ) or VENDORS[vendor].base_url
    host = urlsplit(base_url).netloc.lower()
    capabilities = capabilities_of(model, overrides=evaluation.capabilities, host=host)
    wanted = {**defaults, **declared.settings}
    fallback = _MAX_TOKENS_THINKING if capabilities.thinks else _MAX_TOKENS
    max_tokens = int(wanted.pop("max_tokens", fallback))
    taken = {name: value for name, value in wanted.items() if _takes(capabilities, name)}
    return LiveModel(
        declared=declared,
        endpoint=Endpoint(vendor, (base_url or VENDORS[vendor].base_url).rstrip("/"), model),
        capabilities=capabilities,
        settings=taken,
        max_tokens=max_tokens,
        price=price_of(model, on=today, overrides=evaluation.prices),
        left_out=tuple(name for name in declared.settings if name in wanted.keys() - taken),
    )


def _takes(capabilities: Capabilities, setting: str) -> bool:
    """Return whether a setting may be sent; one that the table does not know is the user's risk."""
    match setting:
        case "temperature" | "top_p" | "top_k":
            return capabilities.temperature
        case "effort":
            return capabilities.effort
        case "seed":
            return capabilities.seed
        case _:
            return True
