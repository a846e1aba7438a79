"""The models the fake provider pretends to serve.

Release and shutdown dates are the ones the vendors' SDKs carry (openai 3.52, anthropic 2.11:
the docstring of `openai.types.shared.ChatModel`, `DEPRECATED_MODELS` of anthropic's messages);
a release date that the SDKs do not give is the epoch, as the models endpoints themselves answer.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from tests.fake_provider.log import VendorName


@dataclass(frozen=True)
class Model:
    """A model as the wire shows it.

    Args:
        id: Its name in requests.
        vendor: The wire format it answers on.
        takes: Which settings it accepts. Without "sampling" it refuses a temperature or top_p other
            than 1 and, on the OpenAI wire, `max_tokens`; without "effort" it refuses to be given
            how hard to think.
        released_on: Day of its release, the epoch if unknown.
        ends_on: Announced last day; None without one. From the day after, calls fail.
    """

    id: str
    vendor: VendorName
    _: KW_ONLY
    takes: Literal["effort", "sampling", "both"] = "effort"
    released_on: date = date(1970, 1, 1)
    ends_on: date | None = None

    def has_ended(self, today: date) -> bool:
        """Return whether calls to the model fail on a day."""
        return self.ends_on is not None and today > self.ends_on


_AUGUST_2025: Final = date(2025, 8, 7)
_DECEMBER_2026: Final = date(2026, 12, 11)
_JANUARY_2027: Final = date(2027, 1, 14)

MODELS: Final[tuple[Model, ...]] = (
    Model("gpt-6-astra", "openai"),
    Model("gpt-6-sol", "openai"),
    Model("gpt-6-luna", "openai"),
    Model("gpt-6.1-sol", "openai"),
    Model("gpt-6.1-terra", "openai"),
    Model("gpt-5", "openai", released_on=_AUGUST_2025, ends_on=_DECEMBER_2026),
    Model("gpt-5-mini", "openai", released_on=_AUGUST_2025, ends_on=_DECEMBER_2026),
    Model("gpt-5-nano", "openai", released_on=_AUGUST_2025, ends_on=_DECEMBER_2026),
    Model("o3", "openai", released_on=date(2025, 4, 16), ends_on=_DECEMBER_2026),
    Model(
        "gpt-4.1", "openai", released_on=date(2025, 4, 14), ends_on=_JANUARY_2027, takes="sampling"
    ),
    Model(
        "gpt-4.1-mini",
        "openai",
        released_on=date(2025, 4, 14),
        ends_on=_JANUARY_2027,
        takes="sampling",
    ),
    Model(
        "gpt-4o", "openai", released_on=date(2024, 5, 13), ends_on=_JANUARY_2027, takes="sampling"
    ),
    Model(
        "gpt-4o-mini",
        "openai",
        released_on=date(2024, 7, 18),
        ends_on=_JANUARY_2027,
        takes="sampling",
    ),
    Model(
        "gpt-4-turbo",
        "openai",
        released_on=date(2024, 4, 9),
        ends_on=date(2026, 10, 23),
        takes="sampling",
    ),
    Model("gpt-3.5-turbo", "openai", ends_on=date(2026, 10, 23), takes="sampling"),
    # Other makers' models, reached through an OpenAI-compatible endpoint.
    Model("gemini-2.5-flash", "openai", takes="both"),
    Model("llama3.2", "openai", takes="both"),
    Model("claude-haiku-5-5", "anthropic"),
    Model("claude-sonnet-5-5", "anthropic"),
    Model("claude-opus-5-5", "anthropic"),
    Model("claude-sonnet-5", "anthropic"),
    Model("claude-opus-5", "anthropic"),
    Model("claude-opus-4-7", "anthropic"),
    Model("claude-opus-4-6", "anthropic", takes="both"),
    Model("claude-sonnet-4-6", "anthropic", takes="both"),
    Model("claude-haiku-4-5", "anthropic", released_on=date(2025, 10, 1), takes="sampling"),
    Model(
        "claude-haiku-4-5-20251001", "anthropic", released_on=date(2025, 10, 1), takes="sampling"
    ),
    Model(
        "claude-sonnet-4-5",
        "anthropic",
        released_on=date(2025, 9, 29),
        ends_on=date(2026, 11, 30),
        takes="sampling",
    ),
    Model(
        "claude-3-5-haiku-20241022",
        "anthropic",
        released_on=date(2024, 10, 22),
        ends_on=date(2026, 2, 19),
        takes="sampling",
    ),
)
