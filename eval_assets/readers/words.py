"""Words that files of ratings use, by what they mean."""

from functools import cache
from pathlib import Path


def lines_of(meaning: str) -> list[str]:
    """Return the lines of a meaning in `words.txt`.

    Examples:
        >>> lines_of("orders")[:2]
        ['no, yes', 'false, true']
    """
    return _lines_by_meaning()[meaning]


@cache
def _lines_by_meaning() -> dict[str, list[str]]:
    text = Path(__file__).with_name("words.txt").read_text("utf-8")
    sections = (section.splitlines() for section in text.split("\n\n["))
    lines = {first.rstrip("]"): rest for first, *rest in sections}
    return {m: [of for of in rest if not of.startswith("# ")] for m, rest in lines.items()}
