"""Numbers and lists as text, and text that can be stored."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from eval_assets.scale import TOLERANCE

HELD_OUT = "Judges are compared with people outside the held-out test."
"""Note beside figures of judges where a test is held out."""

UNDEFINED = "undefined"
"""Text of an undefined figure."""

_DECIMALS = 3
_MOST_DECIMALS = 9
_NEAR = 0.001
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with U+FFFD for NUL and half surrogate pairs, which databases refuse.

    A JSON reply may hold either as an escape, so it appears only when the reply is parsed.
    """
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def or_none(value: float) -> float | None:
    """Return a figure for tables and JSON: None if it is undefined."""
    return None if math.isnan(value) else float(value)


def or_nan(value: float | None) -> float:
    """Return a number; NaN for None, as figures are held in memory."""
    return math.nan if value is None else value


def figure_text(value: float, *, limits: Iterable[float]) -> str:
    """Return a figure as text: three decimals, more if fewer would put it on a limit.

    Args:
        value: The figure; NaN if undefined.
        limits: Minimum and ends of bands that the figure is compared with.

    Returns:
        Three decimals; at least four within .001 of a limit, and as many as it takes to tell the
        figure from that limit; `undefined` for NaN.

    Examples:
        >>> figure_text(0.81, limits=[0.75]), figure_text(0.6668, limits=[0.667])
        ('0.810', '0.6668')
        >>> figure_text(0.749996, limits=[0.75]), figure_text(float("nan"), limits=[])
        ('0.749996', 'undefined')
    """
    if math.isnan(value):
        return UNDEFINED
    near = [limit for limit in limits if abs(value - limit) < _NEAR]
    distant_limits = [limit for limit in near if abs(value - limit) > TOLERANCE]
    decimals = _DECIMALS + bool(near)
    while decimals < _MOST_DECIMALS and any(
        f"{value:.{decimals}f}" == f"{limit:.{decimals}f}" for limit in distant_limits
    ):
        decimals += 1
    return f"{value:z.{decimals}f}"


def interval_text(low: float, high: float, *, limits: Iterable[float]) -> str:
    """Return a 95 % interval; empty if it is undefined.

    Examples:
        >>> interval_text(0.81, 0.9, limits=[])
        '0.810 to 0.900'
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    limits = tuple(limits)
    return f"{figure_text(low, limits=limits)} to {figure_text(high, limits=limits)}"


def percent_text(value: float) -> str:
    """Return a percentage, given from 0 to 100, that is never rounded to an end.

    Examples:
        >>> percent_text(91.25), percent_text(99.99), percent_text(100.0)
        ('91.2 %', '99.99 %', '100 %')
    """
    if math.isnan(value):
        return UNDEFINED
    if value in {0.0, 100.0}:
        return f"{value:.0f} %"
    decimals = 1
    while decimals < 6 and float(f"{value:.{decimals}f}") in {0.0, 100.0}:  # noqa: PLR2004
        decimals += 1
    return f"{value:.{decimals}f} %"


def signed_text(value: float) -> str:
    """Return a difference with two decimals and its sign; a zero has none.

    Examples:
        >>> signed_text(0.254), signed_text(-0.001)
        ('+0.25', '0.00')
    """
    text = f"{value:+z.2f}"
    return text[1:] if float(text) == 0 else text


def counted(n: int, noun: str) -> str:
    """Return a number with its noun in the right form.

    Examples:
        >>> counted(1, "rater"), counted(12500, "rating")
        ('1 rater', '12,500 ratings')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str], *, most: int | None = None) -> str:
    """Return names as part of a sentence; of more than `most`, the first ones and their number.

    Examples:
        >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
        ('a', 'a and b', 'a, b and c')
        >>> listed(["a", "b", "c"], most=1)
        'a and 2 more'
    """
    if most is not None and len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) < 2:  # noqa: PLR2004 - one name needs no "and"
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(text: str, *, most: int) -> str:
    """Return the text, cut between words if it has more than `most` characters.

    Examples:
        >>> shortened("to be or not to be", most=12)
        'to be or ...'
    """
    if len(text) <= most:
        return text
    words = text[: most - 3].rpartition(" ")[0].rstrip()
    return f"{words or text[: most - 4]} ..."


def unevaluated_sentences(reasons: Mapping[str, str]) -> list[str]:
    """Return a sentence for each reason why held-out tests of questions were not evaluated.

    Examples:
        >>> unevaluated_sentences({"tone": "no judge scored it", "truth": "no judge scored it"})
        ['The held-out tests of tone and truth were not evaluated: no judge scored it.']
    """
    questions: dict[str, list[str]] = {}
    for question_id, reason in reasons.items():
        questions.setdefault(reason, []).append(question_id)
    return [
        f"The held-out test{'s' * (len(ids) > 1)} of {listed(ids)} "
        f"{'were' if len(ids) > 1 else 'was'} not evaluated: {reason}."
        for reason, ids in questions.items()
    ]


def rounded_up(count: int) -> int:
    """Return a count to two digits, upward."""
    unit = int(10 ** max(0, len(str(count)) - 2))
    return math.ceil(count / unit) * unit


def tested_verdict(verdict: str | None, *, is_stale: bool) -> str:
    """Return a verdict of a held-out test as tables show it; a claim that was not asked is a dash.

    Examples:
        >>> tested_verdict("not_evaluable", is_stale=False), tested_verdict("fit", is_stale=True)
        ('not evaluable', 'stale (was fit)')
    """
    if verdict is None:
        return "--"
    words = verdict.replace("_", " ")
    return f"stale (was {words})" if is_stale else words


def expiry(valid_until: str, *, today: datetime) -> str:
    """Return why a certificate is no longer valid if that is its age alone; else nothing.

    Examples:
        >>> expiry("2026-11-20", today=datetime(2026, 11, 21))
        'its validity ended on 2026-11-20'
    """
    is_valid = today.date().isoformat() <= valid_until
    return "" if is_valid else f"its validity ended on {valid_until}"


def labels_wanted(
    groups_wanted: int,
    *,
    n_groups: int,
    groups_at_gap: int | None,
    responses_per_group: float,
    labels_per_group: float,
) -> str:
    """Return the labels that would decide an undecided verdict.

    They are stated for the groups that the verdict names, and for this judge at its gap on train
    and dev. The latter are omitted if they are fewer than the test has: the gap is larger there.

    Args:
        groups_wanted: Groups in the test that the verdict names for a judge equal to people.
        n_groups: Groups that the test has.
        groups_at_gap: Groups for this judge at its gap on train and dev; None if it is not fit.
        responses_per_group: Rated responses of all splits for each group of the test.
        labels_per_group: Labels of all splits for each group of the test.

    Examples:
        >>> labels = {"n_groups": 40, "responses_per_group": 7, "labels_per_group": 21}
        >>> labels_wanted(130, groups_at_gap=20, **labels)
        '130 groups in the test come with about 910 rated responses (2,800 labels) in all'
        >>> labels_wanted(130, groups_at_gap=60, **labels).partition("; ")[2]
        'at its gap on train and dev this judge takes about 420 rated responses (1,300 labels)'
    """
    total = responses_and_labels(groups_wanted, responses_per_group, labels_per_group)
    words = f"{groups_wanted:,} groups in the test come with {total} in all"
    if groups_at_gap is None:
        return f"{words}; by train and dev this judge lies more than the margin below people"
    if groups_at_gap <= n_groups:
        return words
    amount = responses_and_labels(groups_at_gap, responses_per_group, labels_per_group)
    return f"{words}; at its gap on train and dev this judge takes {amount}"


def responses_and_labels(n_groups: int, responses_per_group: float, labels_per_group: float) -> str:
    """Return the rated responses and labels that so many groups in the test come with."""
    n_responses = rounded_up(math.ceil(n_groups * responses_per_group))
    n_labels = rounded_up(math.ceil(n_groups * labels_per_group))
    return f"about {n_responses:,} rated responses ({n_labels:,} labels)"
