"""Chance that repeats: numbers drawn from a hash of what they are about.

Whatever is drawn here depends on its arguments alone, never on the order in which requests
happen to arrive, so that a run with 200 requests in flight behaves as one with a single one.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

_SIXTY_FOUR_BITS: Final = 2.0**64


def digest(*parts: str | bytes | int) -> str:
    """Return a short fingerprint of its parts, each told apart from the next.

    Args:
        parts: What to fingerprint; text counts as its UTF-8 bytes.

    Returns:
        32 hexadecimal digits.

    Examples:
        >>> digest("a", "b") == digest("ab")
        False
    """
    texts = (part if isinstance(part, bytes) else str(part).encode() for part in parts)
    told_apart = b"".join(b"%d:%b" % (len(text), text) for text in texts)
    return blake2b(told_apart, digest_size=16).hexdigest()


def fraction(*parts: str | bytes | int) -> float:
    """Return a number in [0, 1), spread evenly over all possible parts.

    Args:
        parts: What the number belongs to.

    Returns:
        The same number for the same parts, on every machine.

    Examples:
        >>> fraction("tea") == fraction("tea") != fraction("coffee")
        True
    """
    return int(digest(*parts)[:16], 16) / _SIXTY_FOUR_BITS
