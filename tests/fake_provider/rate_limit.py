"""An enforced rate limit: what was admitted within the last window counts, nothing else."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """How much one key may ask of one model within any window of time.

    Args:
        requests: Most requests within a window; None for no limit.
        input_tokens: Most input tokens within a window; None for no limit. A single request
            larger than this is never admitted, as with the vendors.
        window_seconds: Length of the window; vendors use a minute, tests less.

    Raises:
        ValueError: If a limit or the window is not positive.
    """

    requests: int | None = None
    input_tokens: int | None = None
    window_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be positive, got {value}")


@dataclass(frozen=True, slots=True)
class Allowance:
    """Where a key stands against its limit, for the answer's headers.

    Args:
        requests_left: Requests still allowed now; None without a limit.
        input_tokens_left: Input tokens still allowed now; None without a limit.
        wait_seconds: 0 when the request was admitted, else the time after which one of its size
            will be, if nothing else is asked.
        reset_seconds: Time until nothing of what was admitted counts any more.
    """

    requests_left: int | None
    input_tokens_left: int | None
    wait_seconds: float
    reset_seconds: float


class SlidingWindow:
    """The requests admitted within the last window, for one key and one model.

    A sliding window never lets more than the limit through within any window, wherever it
    starts; a token bucket would let nearly twice as much through around a pause.

    Args:
        limit: What is allowed.
    """

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit
        self._admitted: deque[tuple[float, int]] = deque()
        self._tokens = 0

    def ask(self, *, now: float, input_tokens: int) -> Allowance:
        """Admit a request, or say how long to wait.

        Args:
            now: Time in seconds, never running backwards.
            input_tokens: Size of the request.

        Returns:
            The allowance after the decision.
        """
        self._forget(before=now - self._limit.window_seconds)
        wait = self._wait(now, input_tokens)
        if wait == 0:
            self._admitted.append((now, input_tokens))
            self._tokens += input_tokens
        limit = self._limit
        newest = self._admitted[-1][0] if self._admitted else now
        return Allowance(
            requests_left=None if limit.requests is None else limit.requests - len(self._admitted),
            input_tokens_left=(
                None if limit.input_tokens is None else limit.input_tokens - self._tokens
            ),
            wait_seconds=wait,
            reset_seconds=max(newest + limit.window_seconds - now, 0.0),
        )

    def _forget(self, *, before: float) -> None:
        while self._admitted and self._admitted[0][0] <= before:
            self._tokens -= self._admitted.popleft()[1]

    def _wait(self, now: float, input_tokens: int) -> float:
        """Return the time until so much has left the window that the request fits."""
        requests, tokens = len(self._admitted), self._tokens
        wait = 0.0
        for admitted_at, size in self._admitted:
            if self._fits(requests, tokens + input_tokens):
                return wait
            requests, tokens = requests - 1, tokens - size
            wait = admitted_at + self._limit.window_seconds - now
        return wait if self._fits(requests, tokens + input_tokens) else self._limit.window_seconds

    def _fits(self, requests: int, tokens: int) -> bool:
        limit = self._limit
        return (limit.requests is None or requests < limit.requests) and (
            limit.input_tokens is None or tokens <= limit.input_tokens
        )
