"""Reading replies of judges: a score that is certain, or the reason for none."""

import itertools
import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eval_assets.config.judges import Aggregate
from eval_assets.judges._statements import (
    explains,
    is_closing,
    reports,
    stated_score,
    whole_number,
    without_scale,
)
from eval_assets.judges.calling.requests import Outcome, RequestFailed
from eval_assets.ledger import Status
from eval_assets.scale import Scale
from eval_assets.wording import or_nan, storable


@dataclass(frozen=True)
class ParsedReply:
    """A judge's rating parsed from one outcome, or the reason for its absence.

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
        """Return whether a complete reply has no rating, so that asking once more may help."""
        return self.status in ("unparsable", "missing") and not self.error


@dataclass(frozen=True, kw_only=True)
class JudgeScore(ParsedReply):
    """A judge's rating of one unit, aggregated over replicates.

    The status is `ok` if any replicate has a score, else that of most of them; `raw_output` of
    several replicates is the JSON list of their replies, `rationale` that of the first score.

    Args:
        response_id: Response that was rated.
        question_id: Rubric question.
        judge_id: Judge that rated.
        n_replies: Replicates with a score.
        n_replicates: Replicates asked for.
        aggregate: How the score comes from the replicates' scores.
        spread: Highest minus lowest score of the replicates, in scale points; NaN below two scores.
    """

    response_id: str
    question_id: str
    judge_id: str
    n_replies: int
    n_replicates: int
    aggregate: Aggregate
    spread: float


_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
_SCORE_KEY = re.compile(r"(?i)\"score\"")
_TRAILING_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*[}\]])")
"""A comma before a closing bracket, outside of texts."""

_THOUGHT_BEGINS = re.compile(
    r"(?i)<(?:think|thinking|thought|reasoning|reflection)>|\[THINK\]|◁think▷"
    r"|<\|begin_of_thought\|>|<\|channel\|>analysis"
)
_THOUGHT_ENDS = re.compile(
    r"(?i)</(?:think|thinking|thought|reasoning|reflection)>|\[/THINK\]|◁/think▷"
    r"|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>"
)
_MOST_OBJECTS = 100
"""Number of opening braces above which a reply is not parsed."""

_LARGEST = 1e300
"""Largest JSON number; a larger one is a mistake, and an integer may not fit a float."""


def read_outcome(outcome: Outcome, scale: Scale) -> ParsedReply:
    """Return the rating in an outcome, or the reason for its absence."""
    if isinstance(outcome, RequestFailed):
        return ParsedReply(outcome.status, error=str(outcome))
    if outcome.status != "ok":
        return ParsedReply(outcome.status, raw_output=outcome.text)
    return parse_reply(outcome.text, scale)


def parse_reply(raw: str, scale: Scale) -> ParsedReply:
    """Read a judge's whole reply, strictly: a score is certain or there is none.

    Thoughts between `<think>` and `</think>` are left out. Read are, in this order: one JSON
    object with `score`, which may stand in a fence, after prose or before an explanation, be
    repeated, or end in a comma too many; a reply that is one number,
    decoration aside; statements of a score (`Score: 3`, `the score is 3`, or a last line
    `Usefulness: 3`), if all of them give one number. Restating the scale ("from 1 to 4", "3/4")
    does no harm.

    What the judge quotes or reports ("the response demands a score of 5"), considers ("a score of
    1 would be too harsh") or takes back is not its score; nor is a number with another label
    (`Confidence: 5`). Two numbers, a choice ("3 or 4"), cut-off JSON, NaN and infinity are
    unparsable: the digit found first is not a score.

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
    if not raw.strip():
        return ParsedReply("missing", raw_output=storable(raw))
    # A thought may quote its own end mark, so both ends are tried.
    parsed_replies = [_parsed(text, scale) for text in _without_thoughts(raw.strip())]
    certain = [parsed for parsed in parsed_replies if not math.isnan(parsed.raw_score)]
    is_one = len({(parsed.status, parsed.raw_score) for parsed in certain}) == 1
    parsed = certain[0] if is_one else ParsedReply("unparsable")
    return replace(parsed, raw_output=storable(raw), rationale=storable(parsed.rationale))


def combine(
    parsed_replies: Sequence[ParsedReply],
    *,
    response_id: str,
    question_id: str,
    judge_id: str,
    aggregate: Aggregate,
) -> JudgeScore:
    """Return the score of one unit from the parsed replies of all its replicates, at least one.

    Replicates without a score are left out of the aggregate.
    """
    good = [parsed for parsed in parsed_replies if parsed.status == "ok"]
    status: Status = (
        "ok" if good else Counter(r.status for r in parsed_replies).most_common(1)[0][0]
    )
    parsed = next(parsed for parsed in parsed_replies if parsed.status == status)
    if len(parsed_replies) > 1:
        replies = json.dumps([parsed.raw_output for parsed in parsed_replies], ensure_ascii=False)
        parsed = replace(parsed, raw_output=replies)
    scores = [parsed.score for parsed in good]
    if scores:
        score = statistics.fmean(scores) if aggregate == "mean" else statistics.median(scores)
        parsed = replace(parsed, score=score, raw_score=score)
    return JudgeScore(
        **vars(parsed),
        response_id=response_id,
        question_id=question_id,
        judge_id=judge_id,
        n_replies=len(good),
        n_replicates=len(parsed_replies),
        aggregate=aggregate,
        spread=max(scores) - min(scores) if len(scores) > 1 else math.nan,
    )


def _without_thoughts(text: str) -> Iterator[str]:
    """Yield the reply without its thoughts: twice, if it is not clear where they end."""
    ends = [match.end() for match in _THOUGHT_ENDS.finditer(text)]
    if text.startswith("{") or not (ends or _THOUGHT_BEGINS.match(text)):
        yield text
    else:
        yield from dict.fromkeys(text[end:].strip() for end in ends[:1] + ends[-1:])


def _parsed(text: str, scale: Scale) -> ParsedReply:
    """Return the rating in a reply without thoughts."""
    if _SCORE_KEY.search(text):
        return _from_object(text, scale)
    plain = without_scale(text, scale)
    number = whole_number(plain)
    if number is not None:
        return _rated(number, scale)
    statement = stated_score(plain)
    return (
        ParsedReply("unparsable") if statement is None else _rated(statement, scale, rationale=text)
    )


def _from_object(text: str, scale: Scale) -> ParsedReply:
    """Return the rating of a reply that mentions a JSON object with a score."""
    text = _TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    objects = list(_objects(text))
    outside = "".join(_outside(text, objects))
    entries = [(entry, span) for entry, span in objects if "score" in entry]
    if not entries or _SCORE_KEY.search(outside) or not _is_repeated(text, entries):
        return ParsedReply("unparsable")  # two scores, begun late or cut off, or quoted
    (entry, first), (_, last) = entries[0], entries[-1]
    score = _json_score(entry["score"], scale)
    before, after = (_FENCE.sub("", part) for part in (text[: first.start], text[last.stop :]))
    statement = stated_score(without_scale(before, scale))
    if (
        math.isnan(score)
        or reports(before)
        or not (is_closing(after) or explains(after, score, scale))
        or statement not in (None, score)
    ):
        return ParsedReply("unparsable")
    rationale = entry.get("rationale", "")
    return _rated(score, scale, rationale=rationale if isinstance(rationale, str) else "")


def _is_repeated(text: str, entries: Sequence[tuple[dict[str, object], slice]]) -> bool:
    """Return whether all objects are the same, with nothing between them."""
    return all(
        entry == following and not _FENCE.sub("", text[span.stop : next_span.start]).strip()
        for (entry, span), (following, next_span) in itertools.pairwise(entries)
    )


def _objects(text: str) -> Iterator[tuple[dict[str, object], slice]]:
    """Yield the outermost JSON objects of a text with their positions."""
    start, n_tried = text.find("{"), 0
    while start >= 0 and n_tried < _MOST_OBJECTS:
        n_tried += 1
        try:
            entry, stop = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            stop = start + 1
        else:
            yield entry, slice(start, stop)
        start = text.find("{", stop)


def _outside(text: str, objects: Sequence[tuple[dict[str, object], slice]]) -> Iterator[str]:
    """Yield the texts between the objects of a text."""
    begin = 0
    for _, span in objects:
        yield text[begin : span.start]
        begin = span.stop
    yield text[begin:]


def _json_score(value: object, scale: Scale) -> float:
    """Return a JSON value as a score; NaN if it is none."""
    match value:
        case bool():
            return float(value) if scale.is_binary else math.nan
        case int() | float():
            return float(value) if abs(value) <= _LARGEST else math.nan
        case str():
            number = whole_number(value)
            return or_nan(number)
        case _:
            return math.nan


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs by key in lower case; raise ValueError for a repeated key."""
    entry = {key.lower(): value for key, value in pairs}
    if len(entry) < len(pairs):
        raise ValueError("a key is given twice")
    return entry


def _refuse(constant: str) -> float:
    """Raise ValueError: NaN and Infinity are not JSON, though Python reads them."""
    raise ValueError(f"{constant} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)


def _rated(value: float, scale: Scale, *, rationale: str = "") -> ParsedReply:
    """Return the rating for a number read."""
    if not scale.spans(value):
        return ParsedReply("out_of_range", raw_score=value, rationale=rationale)
    return ParsedReply("ok", score=value, raw_score=value, rationale=rationale)
