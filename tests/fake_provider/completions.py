"""Answers of a model, independent of the wire format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from tests.fake_provider import made_up

if TYPE_CHECKING:
    from tests.fake_provider.faults import FaultKind
    from tests.fake_provider.planted import Planted
    from tests.fake_provider.questions import Question

Ending: TypeAlias = Literal["stop", "length", "refusal", "content_filter"]

_REFUSAL: Final = "I'm sorry, but I can't help with that request."
_CHARACTERS_PER_TOKEN: Final = 4
_THINKING_TOKENS: Final = 256


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, whichever wire it goes out on.

    Args:
        id: Hexadecimal part of the answer's id, the vendor's prefix left out.
        model: The answering model.
        text: The answer; what of it was written, when it was cut short.
        ending: Why it ends.
        thought: Whether a thinking part comes first.
        prompt_tokens: Size of the whole prompt.
        cache_read_tokens: Part of the prompt that was read from the cache.
        cache_written_tokens: Part of the prompt that was written to the cache.
        output_tokens: Size of the answer, thinking included.
        thinking_tokens: Part of the answer that was thinking.
        in_batch: Whether it was asked in a batch.
    """

    id: str
    model: str
    text: str
    ending: Ending
    thought: bool
    prompt_tokens: int
    cache_read_tokens: int
    cache_written_tokens: int
    output_tokens: int
    thinking_tokens: int
    in_batch: bool


def n_tokens(text: str) -> int:
    """Return roughly how many tokens a text has: a quarter of its characters, rounded up."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def completion_of(  # noqa: PLR0913 - what is asked, and what becomes of it
    question: Question,
    *,
    id_: str,
    fault: FaultKind | None,
    planted: Planted | None,
    cache_hit: bool,
    in_batch: bool,
) -> Completion:
    """Return the answer to a question, spoiled by a fault if there is one.

    Args:
        question: What was asked.
        id_: Hexadecimal part of the answer's id.
        fault: What goes wrong; of no effect unless it is a fault of the reply.
        planted: Answers that are known beforehand; None without any.
        cache_hit: Whether the cacheable part of the prompt was asked before.
        in_batch: Whether it was asked in a batch.
    """
    text = (planted.answer(question) if planted else None) or _answer(question, fault=fault)
    ending: Ending = "stop"
    match fault:
        case "refusal":
            text, ending = _REFUSAL, "refusal"
        case "content_filter":
            text, ending = "", "content_filter"
        case "cut_off":
            text, ending = text[: len(text) * 2 // 3], "length"
    thinking_tokens = _THINKING_TOKENS if fault == "thinking_first" else 0
    if question.max_tokens is not None and (thinking_tokens + n_tokens(text) > question.max_tokens):
        thinking_tokens = min(thinking_tokens, question.max_tokens)
        room = question.max_tokens - thinking_tokens
        text, ending = text[: room * _CHARACTERS_PER_TOKEN], "length"
    cached = n_tokens(question.cacheable)
    return Completion(
        id=id_,
        model=question.model,
        text=text,
        ending=ending,
        thought=thinking_tokens > 0,
        prompt_tokens=n_tokens(question.prompt),
        cache_read_tokens=cached if cache_hit else 0,
        cache_written_tokens=0 if cache_hit else cached,
        output_tokens=thinking_tokens + n_tokens(text),
        thinking_tokens=thinking_tokens,
        in_batch=in_batch,
    )


def _answer(question: Question, *, fault: FaultKind | None) -> str:
    at = made_up.position(question.subject, model=question.model, prompt=question.prompt)
    if fault == "prose":
        return made_up.prose_verdict(question.schema, at=at)
    if fault == "out_of_range":
        return made_up.verdict_out_of_range(question.schema)
    if question.schema is not None:
        return json.dumps(made_up.value_for(question.schema, at=at))
    return made_up.plain_answer(
        question.prompt,
        subject=question.subject,
        model=question.model,
        as_json=question.as_json,
    )
