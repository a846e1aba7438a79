"""Rate limits of vendors, and permission to send within them."""

from dataclasses import dataclass

GRANT_SECONDS = 1.0
"""How long a grant may be used from its start; then the requests that it leaves are not sent."""


@dataclass(frozen=True)
class RateLimits:
    """Rate limits of one account for one model, shared by all processes.

    Args:
        account: Fingerprint of the endpoint and the key.
        requests_per_minute: Most requests in any minute; None for no such limit.
        input_tokens_per_minute: Most input tokens in any minute; None for no such limit.

    Raises:
        ValueError: If a limit is not above 0.
    """

    account: str
    requests_per_minute: float | None
    input_tokens_per_minute: float | None

    def __post_init__(self) -> None:
        for rate in (self.requests_per_minute, self.input_tokens_per_minute):
            if rate is not None and not rate > 0:
                raise ValueError(f"a rate must be above 0 a minute, got {rate:g}")


@dataclass(frozen=True)
class Amount:
    """Some requests, and the input tokens that they have together.

    Args:
        requests: How many requests.
        tokens: Their input tokens.
    """

    requests: int
    tokens: int


@dataclass(frozen=True)
class Grant:
    """Exclusive permission to send some requests soon.

    Args:
        id: Its number, under which what is left of it is given back.
        amount: What may be sent.
        wait_seconds: Time until it starts; below 0 if it has started. It ends `GRANT_SECONDS` after
            its start.
    """

    id: int
    amount: Amount
    wait_seconds: float
