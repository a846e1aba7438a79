"""The models endpoints of both vendors."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from tests.fake_provider.exchange import JsonObject, ProviderError, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.fake_provider.log import VendorName
    from tests.fake_provider.models import Model


def models_reply(
    models: Iterable[Model], *, vendor: VendorName, name: str | None, today: date
) -> Reply:
    """Answer a request to `/v1/models`, or to one model below it.

    OpenAI no longer shows a model that has ended; Anthropic shows it as retired.

    Args:
        models: All models of both vendors.
        vendor: Whose endpoint was asked.
        name: The model asked for; None for the list.
        today: The day that decides which models have ended.

    Raises:
        ProviderError: `not_found`, if the vendor shows no model of that name.
    """
    shown = {
        model.id: _openai_model(model) if vendor == "openai" else _anthropic_model(model, today)
        for model in models
        if model.vendor == vendor and not (vendor == "openai" and model.has_ended(today))
    }
    if name is None:
        page = {"data": list(shown.values()), "has_more": False}
        if vendor == "openai":
            return json_reply({"object": "list", **page})
        ids = [*shown]
        return json_reply({**page, "first_id": ids[0], "last_id": ids[-1]} if ids else page)
    if name not in shown:
        raise ProviderError("not_found", param="model", model=name)
    return json_reply(shown[name])


def _openai_model(model: Model) -> JsonObject:
    return {
        "id": model.id,
        "object": "model",
        "created": int(_midnight(model.released_on).timestamp()),
        "owned_by": "fake-provider",
        "shutdown_date": None if model.ends_on is None else model.ends_on.isoformat(),
    }


def _anthropic_model(model: Model, today: date) -> JsonObject:
    lifecycle = "active"
    if model.ends_on is not None:
        lifecycle = "retired" if model.has_ended(today) else "deprecated"
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id.replace("-", " ").title(),
        "created_at": _midnight(model.released_on).isoformat(),
        "lifecycle": lifecycle,
        "retires_at": None if model.ends_on is None else _midnight(model.ends_on).isoformat(),
    }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
