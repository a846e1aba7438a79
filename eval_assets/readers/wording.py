"""Words that messages about given files share."""

from collections.abc import Iterable
from difflib import get_close_matches


def shown(cell: str | None) -> str:
    """A cell as a message quotes it: one line, cut where it is long."""
    longest = 40
    one_line = " ".join((cell or "").split())
    return f'"{one_line[:longest]}..."' if len(one_line) > longest else f'"{one_line}"'


def nearest(name: str, known: Iterable[str]) -> str:
    """A remedy that names the likeliest of the `known` names, or all of them.

    Examples:
        >>> nearest("helpfulnes", ["helpfulness", "safety"])
        'Write "helpfulness"'
        >>> nearest("tone", ["helpfulness", "safety"])
        'Use one of helpfulness, safety'
    """
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return f'Write "{close[0]}"' if close else f"Use one of {', '.join(known)}"
