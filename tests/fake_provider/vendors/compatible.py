"""Servers that speak OpenAI's format with quirks of their own, as users of theirs report them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never, get_args

from tests.fake_provider.exchange import Reply, json_reply

if TYPE_CHECKING:
    from tests.fake_provider.exchange import JsonObject

Like: TypeAlias = Literal["deepseek", "mistral", "ollama", "vllm", "gemini"]

LIKES: Final[tuple[Like, ...]] = get_args(Like)

_THOUGHT: Final = "Made up by the fake provider: no thought was had."
_BAD_REQUEST: Final = 400
_UNPROCESSABLE: Final = 422
_COMMON: Final = frozenset(
    {
        "frequency_penalty",
        "max_tokens",
        "messages",
        "model",
        "n",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "stop",
        "stream",
        "temperature",
        "tool_choice",
        "tools",
        "top_p",
    }
)
_KNOWN: Final = {
    "mistral": _COMMON | {"metadata", "prompt_mode", "random_seed", "safe_prompt"},
    "gemini": (_COMMON - {"frequency_penalty"}) | {"max_completion_tokens", "seed"},
}
"""Fields that a server takes which refuses all others."""


def refusal(requested: JsonObject, like: Like) -> Reply | None:
    """Return the error response for what a server does not take; None if it takes everything."""
    unknown = sorted(requested.keys() - _KNOWN[like]) if like in _KNOWN else []
    kind = (requested.get("response_format") or {}).get("type")
    match like:
        case "mistral" if unknown:
            detail = [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", name],
                    "msg": "Extra inputs are not permitted",
                    "input": requested[name],
                }
                for name in unknown
            ]
            error = {
                "object": "error",
                "message": {"detail": detail},
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            }
            return json_reply(error, status=_UNPROCESSABLE)
        case "gemini" if unknown:
            message = "\n".join(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
                for name in unknown
            )
            status = {"code": _BAD_REQUEST, "message": message, "status": "INVALID_ARGUMENT"}
            return json_reply([{"error": status}], status=_BAD_REQUEST)
        case "deepseek" if kind == "json_schema":
            return _deepseek_error("This response_format type is unavailable now")
        case "deepseek" if (
            kind == "json_object" and "json" not in str(requested["messages"]).lower()
        ):
            return _deepseek_error(
                "Prompt must contain the word 'json' in some form to use 'response_format' of "
                "type 'json_object'."
            )
    return None


def rewritten(reply: JsonObject, like: Like) -> JsonObject:
    """Return OpenAI's reply as another server shapes it."""
    [choice] = reply["choices"]
    text = choice["message"]["content"] or choice["message"]["refusal"]
    usage = {
        name: reply["usage"][name]
        for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    }
    message: JsonObject = {"role": "assistant", "content": text}
    finish_reason = choice["finish_reason"]
    match like:
        case "deepseek":
            message["reasoning_content"] = _THOUGHT
            usage["prompt_cache_hit_tokens"] = 0
            usage["prompt_cache_miss_tokens"] = usage["prompt_tokens"]
        case "mistral":
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]}
            message["content"] = [thought, {"type": "text", "text": text}]
            finish_reason = {"length": "model_length"}.get(finish_reason, finish_reason)
        case "ollama":
            message["reasoning"] = _THOUGHT
        case "vllm":
            message |= {"content": f"<think>\n{_THOUGHT}\n</think>\n\n{text}", "tool_calls": []}
            usage["prompt_tokens_details"] = None
        case "gemini":
            usage["total_tokens"] += 100  # thinking counts in the total alone
        case _ as unreachable:
            assert_never(unreachable)
    shown = {"index": 0, "message": message, "finish_reason": finish_reason}
    common = {name: reply[name] for name in ("id", "object", "created", "model")}
    return {**common, "choices": [shown], "usage": usage}


def _deepseek_error(message: str) -> Reply:
    kind = "invalid_request_error"
    error = {"message": message, "type": kind, "param": None, "code": kind}
    return json_reply({"error": error}, status=_BAD_REQUEST)
