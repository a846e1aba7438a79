"""A vendor's wire format, as the provider uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fake_provider.completions import Completion
    from tests.fake_provider.exchange import JsonObject, ProviderError
    from tests.fake_provider.log import VendorName
    from tests.fake_provider.questions import FindModel, Question
    from tests.fake_provider.rate_limit import Allowance, RateLimit


@dataclass(frozen=True, slots=True)
class Wire:
    """One vendor's wire format.

    Args:
        vendor: Its name.
        read: Turns a request body into a question; a `ProviderError` says what is wrong with it.
        written: Turns a completion into the answer's JSON body; a `ProviderError` if the vendor
            answers with an error instead.
        error: Turns an error and a request id into an HTTP status and a JSON body.
        request_id_header: The header that names the request.
        limit_headers: Headers that say where the key stands against its limit.
    """

    vendor: VendorName
    read: Callable[[JsonObject, FindModel], Question]
    written: Callable[[Completion], JsonObject]
    error: Callable[[ProviderError, str], tuple[int, JsonObject]]
    request_id_header: str
    limit_headers: Callable[[RateLimit, Allowance], dict[str, str]]
