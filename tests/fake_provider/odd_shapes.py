"""Replies of shapes that no documentation allows and that servers send all the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fake_provider.exchange import JsonObject


def odd_bytes(reply: JsonObject, *, at: float) -> bytes:
    """Return the body of a reply in an odd shape, in either vendor's format.

    Args:
        reply: The reply as it should be.
        at: Which shape, in [0, 1).
    """
    spoil = SHAPES[int(at * len(SHAPES))]
    spoil(reply)
    # As ASCII: a lone surrogate can be written in no other way.
    return json.dumps(reply).encode("ascii")


def _content_as_parts(reply: JsonObject) -> None:
    holder = _holder(reply)
    holder["content"] = [{"type": "text", "text": part} for part in (_text(holder), "")]


def _content_null(reply: JsonObject) -> None:
    _holder(reply)["content"] = None


def _content_object(reply: JsonObject) -> None:
    holder = _holder(reply)
    holder["content"] = {"answer": _text(holder)}


def _content_with_lone_surrogate(reply: JsonObject) -> None:
    holder = _holder(reply)
    holder["content"] = [{"type": "text", "text": f"{_text(holder)}\ud83d"}]


def _no_content(reply: JsonObject) -> None:
    del _holder(reply)["content"]


def _no_choice(reply: JsonObject) -> None:
    reply["choices" if "choices" in reply else "content"] = []


def _no_usage(reply: JsonObject) -> None:
    del reply["usage"]


def _usage(value: Any) -> Callable[[JsonObject], None]:
    def spoil(reply: JsonObject) -> None:
        reply["usage"] = value

    return spoil


def _usage_each(value: Any) -> Callable[[JsonObject], None]:
    def spoil(reply: JsonObject) -> None:
        reply["usage"] = dict.fromkeys(reply["usage"], value)

    return spoil


def _reason_as_list(reply: JsonObject) -> None:
    if "choices" in reply:
        reply["choices"][0]["finish_reason"] = ["stop"]
    else:
        reply["stop_reason"] = ["end_turn"]


def _error_with_good_status(reply: JsonObject) -> None:
    reply.clear()
    reply["error"] = {"message": "Upstream broke off \ud83d", "type": "server_error", "code": 502}


SHAPES: Final[tuple[Callable[[JsonObject], None], ...]] = (
    _content_as_parts,
    _content_null,
    _content_object,
    _content_with_lone_surrogate,
    _no_content,
    _no_choice,
    _no_usage,
    _usage(None),
    _usage("12 tokens"),
    _usage({}),
    _usage_each(-1),
    _usage_each(10**30),
    _usage_each("12"),
    _reason_as_list,
    _error_with_good_status,
)
"""Changes to a reply, one for each odd shape."""


def _holder(reply: JsonObject) -> JsonObject:
    """Return the object that holds the content, in either format."""
    message: JsonObject = reply["choices"][0]["message"] if "choices" in reply else reply
    return message


def _text(holder: JsonObject) -> str:
    content = holder["content"]
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
