"""Faults on demand, and when they happen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from tests.fake_provider.chance import fraction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ErrorFault: TypeAlias = Literal[
    "rate_limit",
    "rate_limit_without_hint",
    "unavailable",
    "overloaded",
    "server_error",
    "bad_request",
    "unauthorized",
    "forbidden",
    "quota",
    "no_credit",
]
"""Answered with the vendor's own error status and body."""

ConnectionFault: TypeAlias = Literal["hang", "reset"]
"""Never answered: the caller waits until it gives up, or the connection is cut at once."""

ReplyFault: TypeAlias = Literal[
    "cut_off",
    "prose",
    "out_of_range",
    "refusal",
    "content_filter",
    "thinking_first",
    "duplicate",
    "conflict",
    "html_page",
    "odd_shape",
]
"""Answered, but not with what was asked for."""

FaultKind: TypeAlias = Literal[ErrorFault, ConnectionFault, ReplyFault]

FAULT_KINDS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)

_STOPS_A_JUDGE: Final = ("unauthorized", "forbidden", "quota", "no_credit")


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Which requests go wrong, and how; the first rule that applies decides.

    Rules 1 and 2 cover every request, of which a reply fault spoils only completions. Rules 3 and 4
    cover completions and the entries of batches: there an error fault makes an entry errored,
    `hang` makes it expired, `duplicate` returns it twice, `conflict` with another reply as well.

    Args:
        script: 1. For an API key, the faults of its first requests in order of arrival (None
            is a good answer); once used up, the rules below apply.
        by_key: 2. For an API key, the fault of every request; by default `sk-quota` has none left.
        by_text: 3. For a text found in a completion's or entry's JSON, the fault of that one.
        rates: 4. For a kind, the share of requests it hits, in [0, 1]. Which ones depends only
            on `seed`, the content of the request and how often that content was asked before,
            so a retry may well succeed and a second run fails in the same places.
        seed: Makes another selection at the same rates.

    Raises:
        ValueError: If a kind is unknown, a rate lies outside [0, 1] or rates sum to more than 1.

    Examples:
        >>> flaky = Faults(script={"sk-flaky": ["reset", "overloaded"]}, rates={"prose": 0.01})
        >>> flaky.hitting(key="sk-flaky", n_before=1, content="", attempt=1, completion=None)
        'overloaded'
    """

    script: Mapping[str, Sequence[FaultKind | None]] = field(default_factory=dict)
    by_key: Mapping[str, FaultKind] = field(default_factory=lambda: {"sk-quota": "quota"})
    by_text: Mapping[str, FaultKind] = field(default_factory=dict)
    rates: Mapping[FaultKind, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        scripted = [kind for kinds in self.script.values() for kind in kinds if kind is not None]
        for kind in (*scripted, *self.by_key.values(), *self.by_text.values(), *self.rates):
            if kind not in FAULT_KINDS:
                raise ValueError(f"a fault must be one of {', '.join(FAULT_KINDS)}, got {kind!r}")
        for kind, rate in self.rates.items():
            if not 0 <= rate <= 1:
                raise ValueError(f"the rate of {kind} must lie in [0, 1], got {rate}")
        if (total := sum(self.rates.values())) > 1 + 1e-9:
            raise ValueError(f"rates must sum to at most 1, got {total}")

    def hitting(
        self,
        *,
        key: str | None,
        n_before: int,
        content: str,
        attempt: int,
        completion: bytes | None,
    ) -> FaultKind | None:
        """Return the fault of a request, by the four rules.

        Args:
            key: The API key it carries; None for none, and for an entry of a batch.
            n_before: How many requests came with that key before.
            content: A fingerprint of what is asked.
            attempt: How often that has been asked, this time included.
            completion: The JSON that asks a model for an answer; None for other requests.

        Returns:
            None for a request that is answered well.
        """
        if key is not None:
            script = self.script.get(key, ())
            if n_before < len(script):
                return script[n_before]
            if key in self.by_key:
                return self.by_key[key]
        if completion is None:
            return None
        for text, kind in self.by_text.items():
            if text.encode() in completion:
                return kind
        return self._drawn(content, attempt) if self.rates else None

    def _drawn(self, content: str, attempt: int) -> FaultKind | None:
        position = fraction("fault", self.seed, attempt, content)
        for kind, rate in self.rates.items():
            if position < rate:
                return kind
            position -= rate
        return None


def mixed_rates(total: float) -> dict[FaultKind, float]:
    """Return rates that share a total evenly among the faults a run should survive.

    Left out are `hang`, which is as slow as the caller's patience, and what ends all work with a
    key: wrong key, no permission, no quota, no credit.

    Args:
        total: Share of all requests that go wrong, in [0, 1].

    Returns:
        One equal rate per kind.

    Examples:
        >>> round(sum(mixed_rates(0.3).values()), 6)
        0.3
    """
    kinds = [kind for kind in FAULT_KINDS if kind != "hang" and kind not in _STOPS_A_JUDGE]
    return {kind: total / len(kinds) for kind in kinds}
