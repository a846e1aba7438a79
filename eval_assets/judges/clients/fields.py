"""Fields of replies of any shape, because vendors deviate from their documentation."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from eval_assets.ledger import ReplyStatus

_MOST_TOKENS = 10_000_000
"""Larger than any context window; a larger count is ignored."""

_THOUGHTS = ("thinking", "redacted_thinking", "reasoning", "reasoning_text")


def decoded(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a body as a JSON value; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def mapping(value: object) -> Mapping[str, Any]:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(content: object) -> str | None:
    """Return the text of a message's content; None if there is none.

    Content is text, null, a list of parts, of which thoughts are left out, or the object itself if
    the model was asked for JSON.
    """
    match content:
        case None:
            return ""
        case list():
            parts = [_part_text(part) for part in content]
            texts = [part for part in parts if part is not None]
            return "".join(texts) if texts or not parts else None
        case str() | {"type": _}:
            return _part_text(content)
        case dict():
            with suppress(RecursionError):
                return json.dumps(content, ensure_ascii=False)
            return None
        case _:
            return None


def moment_in(text: object) -> datetime | None:
    """Return the time in a text, by ISO 8601 or as in mail, in UTC without a zone; else None."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, OverflowError):
            moment = read(text if isinstance(text, str) else "")
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def token_count(value: object) -> int | None:
    """Return a number of tokens; None if it is implausible."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= _MOST_TOKENS else None  # type: ignore[return-value, operator]


def status_of(reason: object, statuses: Mapping[str, ReplyStatus]) -> ReplyStatus:
    """Return the status for the reason why a reply ended; lists of reasons occur."""
    reasons = reason if isinstance(reason, list) else [reason]
    matches = (
        statuses[reason] for reason in reasons if isinstance(reason, str) and reason in statuses
    )
    return next(matches, "ok")


def _part_text(part: object) -> str | None:
    """Return the text of a part of a message; None if it is of no known kind."""
    match part:
        case str():
            return part
        case {"type": kind} if kind in _THOUGHTS:
            return ""
        case {"text": str(text)}:
            return text
        case _:
            return None
