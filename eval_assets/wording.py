"""Numbers and lists as text for people, and text that can be stored. Nothing else formats them."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from eval_assets.scale import TOLERANCE, Scale

UNDEFINED = "--"
_MOST_DECIMALS = 9
_PERCENT = 100
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with U+FFFD for NUL and half surrogate pairs, which databases refuse.

    A JSON reply may hold either as an escape, so it appears only when the reply is parsed.
    """
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(line: str) -> str:
    r"""Return a line without characters that move the cursor, change colours or turn text around.

    Examples:
        >>> printable("An\x1b[2Jna\u202e")
        'An[2Jna'
    """
    return _CONTROL.sub("", line)


def or_none(value: float) -> float | None:
    """Return a figure for tables and JSON: None if it is undefined."""
    return None if math.isnan(value) else float(value)


def or_nan(value: float | None) -> float:
    """Return a number; NaN for None, as figures are held in memory."""
    return math.nan if value is None else value


def count_text(n: float) -> str:
    """Return a count with commas.

    Examples:
        >>> count_text(12476)
        '12,476'
    """
    return f"{round(n):,}"


def counted(n: int, noun: str) -> str:
    """Return a count with its noun.

    Examples:
        >>> counted(1, "rating"), counted(12476, "rating"), counted(2, "query")
        ('1 rating', '12,476 ratings', '2 queries')
    """
    return f"{count_text(n)} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples:
        >>> [plural(noun) for noun in ("ticket", "query", "person", "class", "essay")]
        ['tickets', 'queries', 'people', 'classes', 'essays']
    """
    if noun == "person":
        return "people"
    if noun.endswith("y") and noun[-2:-1] not in {*"aeiou"}:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def figure_text(value: float, *, limits: Iterable[float] = (), decimals: int = 2) -> str:
    """Return a figure, with as many decimals as keep it on its side of the limits.

    Args:
        value: The figure; NaN if it is undefined.
        limits: Minimums that it is compared with.
        decimals: Decimals if no limit is near.

    Examples:
        >>> figure_text(0.5556), figure_text(-0.001), figure_text(math.nan)
        ('0.56', '0.00', '--')
        >>> figure_text(0.6668, limits=[0.667]), figure_text(0.667, limits=[0.667])
        ('0.6668', '0.67')
    """
    if math.isnan(value):
        return UNDEFINED
    compared = tuple(limits)
    while decimals < _MOST_DECIMALS and any(
        (round(value, decimals) >= limit - TOLERANCE) != (value >= limit - TOLERANCE)
        for limit in compared
    ):
        decimals += 1
    return f"{value:z.{decimals}f}"


def limit_text(limit: float) -> str:
    """Return a minimum as it is declared.

    Examples:
        >>> limit_text(0.667), limit_text(0.8)
        ('0.667', '0.80')
    """
    return f"{limit:.2f}" if round(limit, 2) == limit else f"{limit:g}"


def signed_text(value: float) -> str:
    """Return a difference with its sign; a zero has none.

    Examples:
        >>> signed_text(0.254), signed_text(-0.001)
        ('+0.25', '0.00')
    """
    if math.isnan(value):
        return UNDEFINED
    text = f"{value:+z.2f}"
    return text[1:] if float(text) == 0 else text


def interval_text(low: float, high: float, *, limits: Iterable[float] = ()) -> str:
    """Return the ends of an interval.

    Examples:
        >>> interval_text(0.42, 0.68), interval_text(-0.09, -0.02), interval_text(math.nan, 1)
        ('0.42-0.68', '-0.09 to -0.02', '--')
    """
    if math.isnan(low) or math.isnan(high):
        return UNDEFINED
    compared = tuple(limits)
    ends = [figure_text(end, limits=compared) for end in (low, high)]
    return (" to " if low < 0 else "-").join(ends)


def percent_text(share: float, *, limits: Iterable[float] = ()) -> str:
    """Return a share of 1 as a percentage, on its side of the limits; nothing else is 0 or 100 %.

    Examples:
        >>> percent_text(0.427), percent_text(0.9985), percent_text(1), percent_text(0.001)
        ('43 %', 'over 99 %', '100 %', 'under 1 %')
        >>> percent_text(0.7496, limits=[0.75])
        '74.96 %'
    """
    if math.isnan(share):
        return UNDEFINED
    percent = _PERCENT * share
    if percent > _PERCENT - 1 / 2 and share < 1:
        return "over 99 %"
    if 0 < percent < 1 / 2:
        return "under 1 %"
    text = figure_text(percent, limits=[_PERCENT * limit for limit in limits], decimals=0)
    return f"{text} %"


def percent_interval(low: float, high: float) -> str:
    """Return the ends of an interval of shares.

    Examples:
        >>> percent_interval(0.254, 0.36)
        '25-36 %'
    """
    if math.isnan(low) or math.isnan(high):
        return UNDEFINED
    return f"{_PERCENT * low:.0f}-{_PERCENT * high:.0f} %"


def planned_text(n: int) -> str:
    """Return a planned number: two digits, rounded up, since a plan is no more exact.

    Examples:
        >>> planned_text(33), planned_text(292), planned_text(1021)
        ('40', '300', '1,100')
    """
    return count_text(planned(n))


def planned(n: int) -> int:
    """Return a planned number rounded up to tens and to two digits."""
    unit = int(10 ** max(1, len(str(n)) - 2))
    return math.ceil(n / unit) * unit


def value_text(value: float, scale: Scale) -> str:
    """Return a rating by its word, or without needless decimals.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> value_text(4.0, LIKERT5), value_text(2.5, LIKERT5)
        ('4', '2.5')
        >>> value_text(1, Scale.from_words("fail", "pass"))
        'pass'
    """
    if scale.words and scale.values and value in scale.values:
        return scale.words[scale.values.index(value)]
    return f"{round(value, 2):g}"


def listed(names: Sequence[str], *, most: int | None = None) -> str:
    """Return names as part of a sentence; of more than `most`, the first ones and their number.

    Examples:
        >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=1)
        ('a', 'a, b and c', 'a and 2 more')
    """
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    if len(names) < 2:  # noqa: PLR2004 - one name needs no "and"
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(text: str, most: int) -> str:
    """Return a text on one line, cut to a number of columns.

    Examples:
        >>> shortened("respects_autonomy", 10), shortened("役に立つ", 7)
        ('respect...', '役に...')
    """
    line = " ".join(text.split())
    if columns_of(line) <= most:
        return line
    start = line[: most - 3]
    while columns_of(start) > most - 3:
        start = start[:-1]
    return f"{start.rstrip()}..."


def columns_of(text: str) -> int:
    """Return the columns that a text takes on a terminal.

    Examples:
        >>> columns_of("anna"), columns_of("本田"), columns_of("e\N{COMBINING ACUTE ACCENT}")
        (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(of) in _NO_WIDTH else 1 + (east_asian_width(of) in "WF")
        for of in text
    )


_NO_WIDTH = {"Mn", "Me", "Cf"}
