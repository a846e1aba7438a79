"""Reading replies of judges: a score that is certain, or the reason for none."""

import json
import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from eval_assets.judges.calling.requests import Answer, RequestFailed, Unsent
from eval_assets.scale import Scale

Status = Literal[
    "ok",
    "unparsable",
    "out_of_range",
    "truncated",
    "refused",
    "content_filter",
    "timeout",
    "api_error",
    "missing",
    "budget_stopped",
]
"""What became of a judge's rating; only `ok` comes with a score."""


@dataclass(frozen=True)
class Reading:
    """A judge's rating as read from one answer, or why there is none.

    Args:
        status: `ok` with a score, else why not.
        score: Score within the scale's ends; NaN unless `status` is `ok`.
        raw_score: Number that was read, also if it is out of range; NaN if none was.
        rationale: The judge's reasons; empty if it gave a bare number or nothing readable.
        raw_output: The reply, as received; empty if none arrived.
        error: What went wrong if none arrived.
    """

    status: Status
    score: float = math.nan
    raw_score: float = math.nan
    rationale: str = ""
    raw_output: str = ""
    error: str = ""

    @property
    def is_unreadable(self) -> bool:
        """Whether a whole reply arrived that holds no rating: it pays to ask once more."""
        return self.status in ("unparsable", "missing")


_DIGITS = r"(?:[0-9]+(?:\.[0-9]+)?|(?<!\.)\.[0-9]+)"
_NUMBER = rf"(?P<number>[-\u2212+]?{_DIGITS})"
# Digits, units or a second number right behind make it another number, a range or a choice.
_ENDS = (
    r"(?!\.?\w|[,:][0-9]|\s+[0-9]|\s*(?:%|out\b|of\b)"
    r"|\s*(?:[-\u2013\u2014/]|or\b|to\b|and\b)\s*[0-9])"
)
_DECORATION = r"[\s*_#\"'`“”().,:!=\[\]]*"

_WHOLE = re.compile(rf"{_DECORATION}?{_NUMBER}{_DECORATION}")
_LABEL = r"\b(?:score|rating|rated?)\b[^0-9.!?:=\n]{0,60}?"
_LABELLED = re.compile(rf"(?i){_LABEL}[:=>]{_DECORATION}?{_NUMBER}{_ENDS}")
_STATED = re.compile(rf"(?i){_LABEL}\b(?:is|of|as)\s+(?:an?\s+)?[*_\"'`]*{_NUMBER}{_ENDS}")
_LAST_LINE = re.compile(
    rf"(?i)(?:[0-9]+[.)])?\W*[a-z][a-z _-]{{0,40}}[*_]*:"
    rf"{_DECORATION}?{_NUMBER}(?:{_DECORATION}|\.\s[^0-9]+)"
)
_FENCED = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL | re.IGNORECASE)
_HYPOTHETICAL = re.compile(
    r"(?i)\b(?:not|never|too|than|if|unless|rather|instead|at least|at most"
    r"|would (?:be|mean|need|require))\b|n't\b"
)
_ANOTHER_SCORE = re.compile(
    r"(?i)\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|possible|previous)\b"
)
_ANOTHER_SCALE = re.compile(r"(?i)\bscale\b[^.!?:\n]{0,20}?[0-9]")


def read_answer(answer: Answer | Unsent, scale: Scale) -> Reading:
    """Return the rating that an answer holds, or why it holds none."""
    if isinstance(answer, RequestFailed | Unsent):
        return Reading(answer.status, error=str(answer))
    if answer.status != "ok":
        return Reading(answer.status, raw_output=answer.text)
    return parse_reply(answer.text, scale)


def parse_reply(raw: str, scale: Scale) -> Reading:
    """Read a judge's whole reply, strictly: a score is certain or there is none.

    Read are, in this order: a JSON object with `score`, alone or in one fence; a reply that is
    one number, decoration aside; statements of a score (`Score: 3`, `the score is 3`, or a last
    line `Usefulness: 3`), if all of them give one number. Restating the scale ("from 1 to 4",
    "3/4") does no harm. Two numbers, a choice ("3 or 4"), a hypothesis ("a score of 1 would be
    too harsh"), cut-off JSON, NaN and infinity are unparsable: the digit found first is no score.

    Args:
        raw: Reply, as received.
        scale: Scale that the judge was given. A score may lie between its steps.

    Returns:
        `ok` with the score; `out_of_range` with the number read; `unparsable`; or `missing` if
        the reply is blank.

    Examples:
        >>> four_point = Scale.from_steps(low=1, high=4)
        >>> parse_reply('{"rationale": "Kind.", "score": 3}', four_point).score
        3.0
        >>> parse_reply("10", four_point).status
        'out_of_range'
        >>> parse_reply("3 or 4", four_point).status
        'unparsable'
    """
    return replace(_parsed(raw.strip(), scale), raw_output=raw)


def _parsed(text: str, scale: Scale) -> Reading:
    """Return the rating that a reply without space around it holds."""
    if not text:
        return Reading("missing")
    objects = [text] if text.startswith("{") else _FENCED.findall(text)
    if len(objects) == 1:
        return _from_json(objects[0], scale)
    # JSON given twice, begun late or cut off: its number may be cut off too.
    if objects or '"score"' in text:
        return Reading("unparsable")
    plain = _without_scale(text, scale)
    if whole := _WHOLE.fullmatch(plain):
        return _rated(_number(whole), scale)
    stated = _stated_scores(plain)
    if len(stated) != 1 or _ANOTHER_SCALE.search(plain):
        return Reading("unparsable")
    return _rated(stated.pop(), scale, rationale=text)


def _from_json(text: str, scale: Scale) -> Reading:
    """Return the rating that a JSON object with a score holds."""
    try:
        reply = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Reading("unparsable")
    score = _json_score(reply.get("score"), scale)
    if math.isnan(score):
        return Reading("unparsable")
    rationale = reply.get("rationale", "")
    return _rated(score, scale, rationale=rationale if isinstance(rationale, str) else "")


def _json_score(value: object, scale: Scale) -> float:
    """Return the score that a JSON value is; NaN if it is none."""
    match value:
        case bool():
            return float(value) if scale.is_binary else math.nan
        case int() | float():
            return float(value) if abs(value) <= _LARGEST else math.nan
        case str():
            whole = _WHOLE.fullmatch(value)
            return _number(whole) if whole else math.nan
        case _:
            return math.nan


_LARGEST = 1e300
"""Beyond this a JSON number is a mistake, and an integer may not fit a float."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs as a dict; two scores in one object are no score."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _refuse(constant: str) -> float:
    """Raise ValueError: NaN and Infinity are not JSON, though Python reads them."""
    raise ValueError(f"{constant} is not a number")


def _stated_scores(text: str) -> set[float]:
    """Return every score that the text states."""
    found = list(_LABELLED.finditer(text))
    found += [m for m in _STATED.finditer(text) if _is_plain(_sentence(text, m))]
    if last := _LAST_LINE.fullmatch(text, text.rfind("\n") + 1):
        found.append(last)
    return {_number(m) for m in found if not _ANOTHER_SCORE.search(_sentence(text, m))}


def _is_plain(sentence: str) -> bool:
    """Return whether a sentence with a score asserts it, and holds no other number."""
    return not _HYPOTHETICAL.search(sentence) and len(re.findall(_DIGITS, sentence)) == 1


def _sentence(text: str, match: re.Match[str]) -> str:
    """Return the sentence around the match."""
    before = re.split(r"[.!?\n]", text[: match.start()])[-1]
    after = re.split(r"[.!?\n]", text[match.end() :])[0]
    return before + match[0] + after


def _without_scale(text: str, scale: Scale) -> str:
    """Return the text without "1 to 4" and the "/4" of "3/4", on a scale from 1 to 4."""
    between, out_of = _restatements(scale)
    return out_of.sub("", between.sub("range", text))


@lru_cache
def _restatements(scale: Scale) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of the scale's range, and of its upper end given behind a score."""
    low, high = (
        re.escape(f"{end:g}") + (r"(?:\.0+)?" if float(end).is_integer() else "")
        for end in (scale.low, scale.high)
    )
    between = rf"(?i)(?<![\w.+\u2212-]){low}\s*(?:to|and|through|[-\u2013\u2014])\s*{high}(?!\.?\w)"
    return re.compile(between), re.compile(rf"(?i)(?<=[0-9])\s*(?:/|out of|of)\s*{high}(?!\.?\w)")


def _number(match: re.Match[str]) -> float:
    """Return the number matched."""
    return float(match["number"].replace("\N{MINUS SIGN}", "-"))


def _rated(value: float, scale: Scale, *, rationale: str = "") -> Reading:
    """Return the rating for a number read."""
    if not scale.spans(value):
        return Reading("out_of_range", raw_score=value, rationale=rationale)
    return Reading("ok", score=value, raw_score=value, rationale=rationale)
