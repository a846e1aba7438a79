"""What a failed request calls for, whichever vendor it failed at."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol

import httpx2

from eval_assets.judges.calling.requests import Remedy, RequestFailed
from eval_assets.ledger import Reply
from eval_assets.models import Usage

if TYPE_CHECKING:  # each takes a second to load, and a run may need only one
    import anthropic
    import openai

_NO_MONEY_KINDS = ("insufficient_quota", "billing", "spend_limit")
_NO_MONEY_MESSAGES = ("credit balance", "usage limits", "spend limit")
"""What error types and codes, and messages if these say nothing, contain when only paying helps.
"Quota" and "billing" in a message mean nothing: ordinary rate limits mention both."""

_FILTERED = ("content_filter", "content filter", "content management policy")
_HOPELESS = (401, 402, 403, 404)
"""Wrong key, no money, no permission, no such model: all requests to it would fail alike."""
_OVERLOADED = (429, 503, 529)
_TRY_AGAIN = (408, 409, 429)
_LONGEST_MESSAGE = 500


class Sdk(Protocol):
    """A vendor's official client as a module: all name their errors alike."""

    @property
    def APIError(self) -> "type[anthropic.APIError | openai.APIError]":  # noqa: N802 - their name
        """The base class of its errors."""

    @property
    def APIStatusError(self) -> "type[anthropic.APIStatusError | openai.APIStatusError]":  # noqa: N802
        """An error response."""

    @property
    def APIConnectionError(  # noqa: N802
        self,
    ) -> "type[anthropic.APIConnectionError | openai.APIConnectionError]":
        """No response."""


@contextmanager
def translate_errors(sdk: Sdk, *, api_key: str) -> Iterator[None]:
    """Raise RequestFailed for an error of a vendor's client, and for a reply it cannot read.

    Nothing is chained: the client's errors hold the request, and with it the key.

    Args:
        sdk: The client's module.
        api_key: Key that the message must not show.
    """
    try:
        yield
    except sdk.APIStatusError as error:
        raise failure_of(
            http_status=error.status_code,
            body=error.body,
            headers=error.response.headers,
            request_id=error.request_id,
            api_key=api_key,
        ) from None
    except sdk.APIConnectionError as error:
        raise connection_failure(error.__cause__) from None
    except (sdk.APIError, ValueError) as error:
        what = f"the reply cannot be read: {type(error).__name__}"
        raise RequestFailed(what, remedy="retry", may_be_billed=True) from None


def failure_of(
    *,
    http_status: int,
    body: object,
    headers: Mapping[str, str],
    request_id: str | None,
    api_key: str,
) -> RequestFailed:
    """Return the failure that an error response stands for.

    Args:
        http_status: Its status.
        body: Its body, decoded if it is JSON.
        headers: Its headers.
        request_id: The vendor's name of the request.
        api_key: Key that the message must not show.
    """
    kind, message = _kind_and_message(body)
    shown = f"{http_status} {kind}: {message}" if kind else f"{http_status}: {message}"
    return RequestFailed(
        without_key(shown, api_key),
        remedy=_remedy(http_status, kind=kind.lower(), message=message.lower()),
        http_status=http_status,
        retry_after_seconds=_retry_after(headers),
        is_overload=http_status in _OVERLOADED,
        request_id=request_id,
    )


def connection_failure(cause: BaseException | None) -> RequestFailed:
    """Return the failure for a lost connection; one that never stood cannot be billed."""
    return RequestFailed(
        f"no connection: {type(cause).__name__}",
        remedy="retry",
        may_be_billed=not isinstance(cause, httpx2.ConnectError),
    )


def is_filtered(http_status: int, body: object) -> bool:
    """Return whether an error response says that the vendor's filter withheld the reply."""
    said = " ".join(_kind_and_message(body)).lower()
    return http_status == 400 and any(words in said for words in _FILTERED)  # noqa: PLR2004


def filtered(request_id: str | None) -> Reply:
    """Return the reply for what the vendor's filter withheld; an error is not billed."""
    return Reply("", "content_filter", usage=Usage(0, 0), request_id=request_id, http_status=400)


def without_key(text: str, key: str) -> str:
    """Return the text without the key, which a server may echo."""
    return text.replace(key, "[key]") if key else text


def _remedy(http_status: int, *, kind: str, message: str) -> Remedy:
    """Return whether to try again, to mark the unit or to stop the judge."""
    has_no_money = http_status in (400, 429) and (
        any(words in kind for words in _NO_MONEY_KINDS)
        or any(words in message for words in _NO_MONEY_MESSAGES)
    )
    if has_no_money or http_status in _HOPELESS:
        return "stop"
    if http_status in _TRY_AGAIN or http_status >= 500:  # noqa: PLR2004 - the server's fault
        return "retry"
    return "give_up"


def _kind_and_message(body: object) -> tuple[str, str]:
    """Return kind and message of an error, in one line each, wherever the vendor puts them."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return "", _one_line(str(error or "no reason given"))
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, dict) else error.get("code")
    kinds = dict.fromkeys(str(kind) for kind in (error.get("type"), code) if kind)
    return _one_line(" ".join(kinds)), _one_line(str(error.get("message") or "no reason given"))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_MESSAGE]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the vendor asks to wait, given in ms, in seconds or as a date."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
