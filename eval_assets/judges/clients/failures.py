"""Responses to failed requests, and fields of replies, the same for all vendors."""

import json
import math
import re
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType, ModuleType
from typing import Any

import httpx2

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import Feature, Outcome, Remedy, RequestFailed
from eval_assets.judges.credentials import masked, one_line, without_keys
from eval_assets.ledger import Reply, ReplyStatus
from eval_assets.wording import storable

_NO_MONEY_KINDS = ("insufficient_quota", "billing", "spend_limit")
_NO_MONEY_MESSAGES = ("credit balance", "usage limits", "spend limit")
"""Words in error types and codes, or else in messages, that mean a lack of credit. "Quota" and
"billing" in a message mean nothing: ordinary rate limits mention both."""

_FILTERED = ("content_filter", "content filter", "content management policy", "content policy")
_MODERATED = ("moderation", "flagged", "usage policy", "safety", "prompt injection", *_FILTERED)
"""Words of a vendor's filter with status 400, and with 403, which also means a key's rights."""

_HOPELESS = (401, 402, 403, 404)
"""Statuses of a wrong key, lack of credit or permission, or an unknown model, with which all
requests would fail."""
_UNAVAILABLE = 503
_OVERLOADED = (429, _UNAVAILABLE, 529)
_TRY_AGAIN = (408, 409, 425, 429)
_INVALID = (400, 422)
_FORBIDDEN = 403
_SERVER_ERROR = 500
_ANTHROPIC_OVERLOADED = 529
_NOT_FORM = (401, 402, 403, 404, 407, 408, 413, 429, 529)
"""Statuses of key, money, rights, unknown model, size and load: another form does not help."""

_ABOUT_FORM = re.compile(
    r"response_?\s?format|json_?\s?(schema|object|mode)|structured.?output|output_(config|format)"
    r"|guided_|grammar|schema|should be '(text|json)",
    re.IGNORECASE,
)
_ABOUT_ACCOUNT = re.compile(
    r"quota|billing|credit|api.?key|unauthori[sz]ed|permission", re.IGNORECASE
)
"""Words about the form of the reply in errors of any status and shape, and about the account."""

_LONGEST_MESSAGE = 500

_FIRST_EPOCH = 1e9
"""Larger numbers are times in seconds since 1970; a thousand times larger, in milliseconds."""

_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h)[a-z]*", re.IGNORECASE)
_DURATION = re.compile(rf"(?:{_DURATION_PART.pattern}\s*)+", re.IGNORECASE)
_REFUSED: Mapping[Feature, tuple[str, ...]] = {
    "json_schema": ("response_format", "response format", "json_schema", "json schema",
                    "structured output", "output_config.format", "output_format", "guided"),
    "json_object": ("response_format", "response format", "json_object", "'json'", "json mode"),
    "effort": ("reasoning_effort", "reasoning effort", "output_config", "effort", "thinking"),
    "temperature": ("temperature", "top_p", "top_k"),
    "seed": ("seed",),
    "max_completion_tokens": ("max_completion_tokens",),
    "max_tokens": ("max_tokens",),
    "system": ("system role", "system message", "system prompt", "system instruction",
               "developer instruction", "role 'system'", 'role "system"',
               "user and assistant roles", "roles must alternate"),
}  # fmt: skip
"""Words of errors about a part of a request that a model or server does not accept."""

_FORMS: tuple[Feature, ...] = ("json_schema", "json_object")


@contextmanager
def translate_errors(sdk: ModuleType, *, keys: Collection[str]) -> Iterator[None]:
    """Raise RequestFailed for an error of a vendor's client, whose module is `sdk`.

    Nothing is chained: the client's errors hold the request, and with it the key.
    """
    try:
        yield
    except sdk.APIStatusError as error:
        failure = failure_of(
            error.status_code,
            error.body,
            headers=error.response.headers,
            request_id=error.request_id,
            keys=keys,
        )
        failure.body = storable(masked(error.response.text, keys))
        raise failure from None
    except sdk.APIConnectionError as error:
        if isinstance(error.__cause__, RequestFailed):
            raise error.__cause__ from None
        raise connection_failure(error.__cause__) from None
    except (sdk.APIError, ValueError) as error:
        message = f"the reply cannot be read: {type(error).__name__}"
        raise RequestFailed(message, remedy="retry", may_be_billed=True) from None


def failure_of(
    http_status: int,
    body: object,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    request_id: object,
    keys: Collection[str],
) -> RequestFailed:
    """Return the failure of an error response, with a message that contains none of the keys."""
    kind, message = _kind_and_message(body)
    text = f"{kind} {message} {_details(body).get('param')}".lower()
    is_overload = http_status in _OVERLOADED
    refused = [
        feature
        for feature, words in _REFUSED.items()
        # Templates of chats that take no system message fail as an error of the server.
        if (http_status in _INVALID or (feature == "system" and http_status == _SERVER_ERROR))
        and any(word in text for word in words)
    ]
    whole = f"{text} {body}"
    metadata = mapping(_details(body).get("metadata"))
    is_filtered = (http_status in _INVALID and any(words in text for words in _FILTERED)) or (
        http_status == _FORBIDDEN
        and (any(words in text for words in _MODERATED) or "flagged_input" in metadata)
    )
    may_be_form = http_status not in _NOT_FORM and not _ABOUT_ACCOUNT.search(whole)
    if may_be_form and _ABOUT_FORM.search(whole):
        refused += [feature for feature in _FORMS if feature not in refused]
    return RequestFailed(
        named(f"{f'{http_status} {kind}'.strip()}: {message}", keys=keys),
        remedy=_remedy(http_status, kind=kind.lower(), message=message.lower()),
        http_status=http_status,
        retry_after_seconds=_requested_wait(headers, body if is_overload else None),
        is_overload=is_overload,
        is_filtered=is_filtered,
        may_be_billed=http_status >= _SERVER_ERROR and http_status != _ANTHROPIC_OVERLOADED,
        refused=tuple(refused),
        may_be_form=may_be_form and http_status != _UNAVAILABLE,
        request_id=named(request_id, keys=keys) if request_id else None,
    )


def connection_failure(cause: BaseException | None) -> RequestFailed:
    """Return the failure of a lost connection; one that was never established cannot be billed.

    A host that is unknown or has a bad certificate says so: another try rarely helps.
    """
    is_lost, kind = not isinstance(cause, httpx2.ConnectError), type(cause).__name__
    message = f"the connection broke off: {kind}"
    if not is_lost:
        message = f"no connection: {kind}. See base_url and whether its server runs"
    reason = cause
    while reason is not None:
        if isinstance(reason, socket.gaierror):
            message = f"the host is unknown ({reason.strerror}). See base_url and the network"
        elif isinstance(reason, ssl.SSLCertVerificationError):
            message = (
                f"the certificate of the host is not valid ({reason.verify_message}). See "
                "base_url, or name its authority in SSL_CERT_FILE"
            )
        reason = reason.__cause__ or reason.__context__
    # A server may also break down over a form of the reply.
    return RequestFailed(message, remedy="retry", may_be_billed=is_lost, may_be_form=is_lost)


def outcome_of(failure: RequestFailed) -> Outcome:
    """Return the failure, or the reply that represents a filter's error, which is not billed."""
    if not failure.is_filtered:
        return failure
    return Reply(
        str(failure),
        "content_filter",
        usage=Usage(0, 0),
        request_id=failure.request_id,
        http_status=failure.http_status or 0,
        body=failure.body,
    )


def _remedy(http_status: int, *, kind: str, message: str) -> Remedy:
    """Return the response to a failure: retry, mark the unit or stop the judge."""
    has_no_money = http_status in (400, 429) and (
        any(words in kind for words in _NO_MONEY_KINDS)
        or any(words in message for words in _NO_MONEY_MESSAGES)
    )
    if has_no_money or http_status in _HOPELESS:
        return "stop"
    if http_status in _TRY_AGAIN or http_status >= _SERVER_ERROR:
        return "retry"
    return "give_up"


def _details(body: object) -> Mapping[str, Any]:
    """Return the object that describes an error, which SDKs may have extracted from the body."""
    if isinstance(body, list) and body:  # Gemini, on its compatible endpoint
        body = body[0]
    return mapping(mapping(body).get("error")) or mapping(body)


def _kind_and_message(body: object) -> tuple[str, str]:
    error = _details(body)
    if not error:
        return "", str(body or "no reason given")
    details = mapping(error.get("details"))
    code = details.get("error_code") if details else error.get("code")
    kinds = dict.fromkeys(str(kind) for kind in (error.get("type"), code) if kind)
    message = error.get("message") or error.get("detail") or error.get("error")
    return " ".join(kinds), str(message or "no reason given")


def _requested_wait(headers: Mapping[str, str], body: object) -> float | None:
    """Return the wait in seconds that the vendor asks for, from headers or body; None if none.

    The body and the headers of limits are read only if `body` is given.
    """
    seconds = _seconds_until(headers.get("retry-after", ""))
    if (milliseconds := _seconds_until(f"{headers.get('retry-after-ms')}ms")) is not None:
        seconds = milliseconds
    if seconds is not None or body is None:
        return seconds
    details = _details(body).get("details")
    delays = [
        str(part["retryDelay"])  # Gemini
        for part in map(mapping, details if isinstance(details, list) else ())
        if "retryDelay" in part
    ]
    resets = [
        value
        for name, value in headers.items()
        if "ratelimit" in name.lower()
        and "reset" in name.lower()
        and headers.get(name.lower().replace("reset", "remaining"), "0").startswith(("0", "-"))
    ]
    waits = [wait for text in delays or resets if (wait := _seconds_until(text)) is not None]
    return max(waits, default=None)


def _seconds_until(text: str) -> float | None:
    """Return the seconds in a text, or until the time in it.

    Examples:
        >>> [_seconds_until(text) for text in ("6m0.5s", "20ms", "37", "soon")]
        [360.5, 0.02, 37.0, None]
    """
    text = text.strip()
    if _DURATION.fullmatch(text):
        parts = _DURATION_PART.findall(text)
        return math.fsum(float(number) * _UNIT_SECONDS[unit.lower()] for number, unit in parts)
    now = datetime.now(UTC)
    with suppress(ValueError):
        number = float(text)
        epoch = number / 1000 if number > _FIRST_EPOCH * 1000 else number
        seconds = max(0.0, epoch - now.timestamp()) if epoch > _FIRST_EPOCH else number
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    moment = moment_in(text)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def unreadable(text: str, *, keys: Collection[str]) -> RequestFailed:
    """Return the failure of a good status with a body of an unexpected shape."""
    return RequestFailed(
        "the reply has another shape than its protocol. See provider and base_url",
        remedy="retry",
        may_be_billed=True,
        body=storable(without_keys(text, keys)),
    )


def named(text: object, *, keys: Collection[str]) -> str:
    """Return a vendor's name or message in one line that is safe to store and to print."""
    return one_line(masked(str(text), keys), longest=_LONGEST_MESSAGE)


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
    match part:
        case str():
            return part
        case {"type": kind} if kind in _THOUGHTS:
            return ""
        case {"text": str(text)}:
            return text
        case _:
            return None
