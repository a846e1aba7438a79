"""Questions to a model, read from either wire format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from tests.fake_provider.exchange import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.fake_provider.exchange import JsonObject
    from tests.fake_provider.log import VendorName
    from tests.fake_provider.models import Model

FindModel: TypeAlias = "Callable[[str], Model | None]"
"""The model of a name; None if there is none, or it has ended."""

_RESPONSE: Final = re.compile(r"<(response[\w-]*)\b[^>]*>(.*)</\1>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """Question to a model, independent of the wire format.

    Args:
        model: The name asked for.
        prompt: All text of the conversation, system part first.
        subject: What a score depends on: the text marked `<response>…</response>` in the prompt,
            else the first message of the user. A later message, such as "Answer in JSON only",
            leaves the score as it was.
        schema: The JSON schema the answer must fit; None without one.
        as_json: Whether any JSON object will do, without a schema.
        max_tokens: Most tokens of the answer, thinking included; None without a limit.
        cacheable: The part of the prompt that the vendor would cache; empty for none.
    """

    model: str
    prompt: str
    subject: str
    schema: JsonObject | None
    as_json: bool
    max_tokens: int | None
    cacheable: str


def subject_of(user_texts: Iterable[str]) -> str:
    """Return the text that a score depends on, among the user's messages, first to last."""
    texts = list(user_texts)
    for text in texts:
        if result := _RESPONSE.search(text):
            return result[2].strip()
    return texts[0] if texts else ""


def model_named(name: object, find_model: FindModel, *, vendor: VendorName) -> Model:
    """Return the model a request names.

    Raises:
        ProviderError: `bad_request` without a name, `not_found` if this vendor has no such model.
    """
    if not isinstance(name, str):
        raise ProviderError("bad_request", "model: Field required", param="model")
    model = find_model(name)
    if model is None or model.vendor != vendor:
        raise ProviderError("not_found", param="model", model=name)
    return model


def text_of(content: object, *, condition: str) -> str:
    """Return the text of a message: a string, or a list of text blocks.

    Raises:
        ProviderError: `bad_request`, if it is anything else.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(block, dict) and isinstance(block.get("text"), str) for block in content
    ):
        return "\n".join(block["text"] for block in content)
    raise ProviderError(
        "bad_request", f"{condition}.content: Input should be a string or a list of text blocks"
    )


def messages_of(body: JsonObject) -> list[tuple[str, str]]:
    """Return the role and text of each message of a request.

    Raises:
        ProviderError: `bad_request`, if there is none or one has another shape.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ProviderError("bad_request", "messages: at least one message is required")
    result = []
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ProviderError("bad_request", f"messages.{number}.role: Field required")
        result.append(
            (message["role"], text_of(message.get("content"), condition=f"messages.{number}"))
        )
    return result


def token_limit(body: JsonObject, name: str) -> int | None:
    """Return the most tokens that an answer may have; None if the request does not say.

    Raises:
        ProviderError: `bad_request`, if it is not a positive whole number.
    """
    limit = body.get(name)
    if limit is None:
        return None
    if not isinstance(limit, int) or limit < 1:
        raise ProviderError("bad_request", f"{name}: Input should be at least 1", param=name)
    return limit
