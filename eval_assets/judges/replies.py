"""Reading replies of judges: a score that is certain, or the reason for none.

One grammar reads all replies. Thoughts (`<think>` ... `</think>`) and quoted text are left out; a
JSON object stands for the statement `score: VALUE`.

    reply      = NUMBER, decorated | sentences, of which some are statements
    statement  = LEAD? (LABEL (":" | "=" | "is") NUMBER | JUDGING NUMBER | NUMBER "/" HIGH) TAIL?
    LABEL      = ("my" | "final" | "overall" ...)? ("score" | "rating" | "grade"), also with the
                 question's id before it or in its place, or with "(LOW-HIGH)" behind it
    JUDGING    = "I (would) give | rate | score ... (it) (a | a score of)" | "it deserves a"
    NUMBER     = digits with at most one decimal point, and "/HIGH" or "out of HIGH"; or a word of
                 the scale, of which yes and no are 1 and 0
    LEAD       = a bullet, words such as "Overall," or "Based on this,", anything before "but"
    TAIL       = an explanation that has no condition, change or bound, and no other number

A statement in another sentence ("the response says that its score is 5") is doubtful. A label with
other words before it ("maximum score: 5"), or another one ("Safety: 2"), is not the question's.
There is a score if all statements give one number, no doubtful one gives another, and nothing
takes them back. A label with another remainder, as in "Score: 4 or lower", makes the whole reply
unparsable.
"""

import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.requests import Outcome, RequestFailed
from eval_assets.ledger import Status
from eval_assets.scale import BINARY, Scale
from eval_assets.wording import storable


@dataclass(frozen=True)
class ParsedReply:
    """A judge's rating parsed from one outcome, or the reason for its absence.

    The score is NaN unless the status is `ok`; `raw_score` is the number that was read, also if it
    is out of range. The rationale is empty if there is a bare number or nothing readable; the error
    says what went wrong if no reply arrived.
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


UNREAD: tuple[Status, ...] = ("unparsable", "missing", "out_of_range")
"""Statuses of replies that hold no score, so that asking again may help."""


@dataclass(frozen=True, kw_only=True)
class JudgeScore(ParsedReply):
    """A judge's rating of one unit, aggregated over replicates.

    The status is `ok` if any replicate has a score, else that of most of them; `raw_output` of
    several replicates is the JSON list of their replies, `rationale` that of the first score.

    `runs` has the scores of the replicates, None below two; `spread` is their highest minus lowest
    in scale points, NaN below two.
    """

    response_id: str
    question_id: str
    judge_id: str
    spread: float
    runs: tuple[float, ...] | None = None


def read_outcome(outcome: Outcome, question: RubricQuestion) -> ParsedReply:
    """Return the rating in an outcome, or the reason for its absence."""
    if isinstance(outcome, RequestFailed):
        return ParsedReply(outcome.status, error=str(outcome))
    if outcome.status != "ok":
        return ParsedReply(outcome.status, raw_output=outcome.text)
    return parse_reply(outcome.text, question.scale, question.id)


def parse_reply(text: str, scale: Scale, question: str | None = None) -> ParsedReply:
    r"""Read a judge's whole reply by the grammar above: a score is certain or there is none.

    Args:
        text: Reply, as received.
        scale: Scale that the judge was given. A score may lie between its steps.
        question: Id of the question that was asked, which may be the label of a score.

    Returns:
        `ok` with the score; `out_of_range` with the number read; `unparsable`; or `missing` if
        the reply is blank.

    Examples:
        >>> four_point = Scale.from_steps(low=1, high=4)
        >>> parse_reply('{"rationale": "Kind.", "score": 3}', four_point).score
        3.0
        >>> parse_reply("Clarity: 3\nSafety: 1", four_point, "clarity").score
        3.0
        >>> parse_reply("10", four_point).status
        'out_of_range'
        >>> parse_reply("3 or 4", four_point).status
        'unparsable'
    """
    if not text.strip():
        return ParsedReply("missing", raw_output=storable(text))
    plain = text.strip("\ufeff \t\r\n")
    starts = [] if _THOUGHT_BEGINS.match(plain) else [0]
    if not plain.startswith("{"):
        # A thought may quote its own end mark, so both ends are tried.
        starts = [mark.end() for mark in _THOUGHT_ENDS.finditer(plain)] or starts
    certain: dict[float, str] = {}
    for has_yes_or_no in (False, True) if scale == BINARY else (False,):
        grammar = _grammar(scale, question, has_yes_or_no=has_yes_or_no)
        for start in {*starts[:1], *starts[-1:]} if not certain else ():
            with suppress(_Unparsable):
                certain |= [grammar.read(plain[start:].strip())]
    if len(certain) != 1:
        return ParsedReply("unparsable", raw_output=storable(text))
    [(value, rationale)] = certain.items()
    is_score = scale.spans(value)
    return ParsedReply(
        status="ok" if is_score else "out_of_range",
        score=value if is_score else math.nan,
        raw_score=value,
        rationale=storable(rationale),
        raw_output=storable(text),
    )


def combine(
    parsed_replies: Sequence[ParsedReply], judge: Judge, response_id: str, question_id: str
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
        score = statistics.fmean(scores) if judge.aggregate == "mean" else statistics.median(scores)
        parsed = replace(parsed, score=score, raw_score=score)
    return JudgeScore(
        **vars(parsed),
        response_id=response_id,
        question_id=question_id,
        judge_id=judge.id,
        spread=max(scores) - min(scores) if len(scores) > 1 else math.nan,
        runs=tuple(scores) if len(scores) > 1 else None,
    )


_THOUGHT_BEGINS = re.compile(
    r"(?i)<(?:think|thinking|thought|reasoning|reflection)>|\[THINK\]|◁think▷"
    r"|<\|begin_of_thought\|>|<\|channel\|>analysis"
)
_THOUGHT_ENDS = re.compile(
    r"(?i)</(?:think|thinking|thought|reasoning|reflection)>|\[/THINK\]|◁/think▷"
    r"|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>"
)
_QUOTED = re.compile(
    r"(?s)<(?P<mark>[\w-]+-[0-9a-f]{16})>.*?(?:</(?P=mark)>|\Z)"  # the prompt's own marks
    r"|```.*?(?:```|\Z)"
    r"|(?m:^\s*>[^\n]*$)"
    r"|\"[^\"\n]*[^\W\d_][^\"\n]*\"|“[^”\n]*[^\W\d_][^”\n]*”|«[^»\n]*»|`[^`\n]*[^\W\d_][^`\n]*`"
    r"|(?<!\w)'[^'\n]*[^\W\d_][^'\n]*'(?!\w)"
)
_FENCE_BEGINS = re.compile(r"(?i)```(?:json)?\s*\Z")
_FENCE_ENDS = re.compile(r"\s*```")
_MARKUP = re.compile(r"(?<![\w*_])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?![\w*_])|(?m:^#+\s)")
_OTHER_TABLE = re.compile(
    r"(?im)^[ \t]*\|[^|\n]*\|(?!\W*(?:(?:final|my) )?(?:score|rating|grade|verdict|result|value"
    r"|label|assessment|evaluation|[0-9]))[^\n]*\n[ \t]*\|[-:| \t]+\n(?:[ \t]*\|[^\n]*(?:\n|\Z))*"
)
"""A table whose second column is not one of scores, but of weights, ranks or counts."""

_TAG = re.compile(r"(?i)<(score|rating|grade)>\s*([^<\n]*?)\s*</\1>")
_TABLE_ROW = re.compile(r"(?m)^[ \t]*\|([^\n]+?)\|?[ \t]*$")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?;])\s+|(?<![:=\s])\s*\n\s*|(?<=[:=])\s*\n\s*+(?![0-9])")

_OF_HIGH = "\uf8ff"
"""Sign for "/5" or "out of 5" on a scale up to 5; of the private use area."""

# In the patterns below, names in capitals stand for other patterns; see `_Grammar`.
# A point before a digit is no decoration: ".5.5" is not 5.5, and ".7" not 7. Each character matches
# in one way, or a row of points would be tried in exponentially many.
_DECORATION = r"(?:(?!(?<!\.)\.[0-9])[\s*_\"'`“”().,:!=\[\]])*"
_NUMBER = (
    r"(?P<number>[-\u2212+]?(?:(?<!\.)[0-9]{1,300}\.[0-9]{1,300}|[0-9]{1,300}(?!\.?[0-9])(?:COMMA)?"
    r"|(?<![.\d])\.[0-9]{1,300})|WORD)"
)
# Digits, units or a sign right behind make it another number, a bound or a range.
_ENDS = r"(?!\.?\w|[,:/][0-9]|\s*[%±~→<>?]|[-+](?:\s|$))"
_BULLET = r"[-•>#\s\[,]{0,20}(?:\(?[0-9]{1,2}[.)]\s+)?"
_LEAD = (
    r"(?:(?:so|thus|therefore|hence|overall|finally|accordingly|in (?:summary|conclusion|sum)"
    r"|on balance|all in all|as a result|for (?:this|these) reasons?|taken together"
    r"|(?:based on|given|considering) [^,:]{1,60}(?=,)"
    r"|on (?:a|the|this) (?:[a-z]+ )?scale(?: of| from)? RANGE|from RANGE)"
    r"(?!\w)[,:]?\s*"
    r"|(?:here (?:is|are)\b[^:]{0,40}|sure|gladly|of course|certainly|my [a-z ]{1,40}"
    r"|(?:the )?(?:final )?(?:evaluation|assessment|verdict|conclusion|result|output)):\s*){0,3}"
)
_CONTRAST = r"(?:.*[\s,]but\s+|.*,\s+(?:so|and|hence|therefore|yet)\s+(?=i\b|my\b))?"
_OBJECT = (
    r"(?:it|this|that|(?:(?:the|this|that) )?(?:assistant's )?(?:response|reply|answer|output|text"
    r"|document|code snippet|snippet|code|summary|story|translation|completion|candidate))"
)
_SCORE = r"(?:score|rating|grade)"
_LABEL = (
    rf"(?:(?:my|the|a|its|final|overall|resulting|numerical|revised|corrected|adjusted) ){{0,3}}"
    rf"(?:(?:QUESTION )?{_SCORE}|QUESTION|final answer)\b(?: (?:for|of) (?:OBJECT|QUESTION)){{0,2}}"
    rf"(?:\s*[(\[]?(?:out of HIGH|RANGE)(?: scale)?[)\]]?)?"
)
_JSON_LABEL = (
    rf"(?:(?:(?:final|revised|corrected|adjusted)[ _-])?(?:QUESTION[ _-])?{_SCORE}|QUESTION)"
)
_JUDGING = (
    r"(?:\bi(?: would| will| am|['\u2019](?:d|ll|m))? (?:giv(?:e|ing)|rat(?:e|ing)|scor(?:e|ing)"
    r"|grad(?:e|ing)|assign(?:ing)?|award(?:ing)?)"
    rf"(?: OBJECT| (?:the |its )?QUESTION(?: {_SCORE})?)?(?: (?:for|of) (?:OBJECT|QUESTION))?"
    r"|\bOBJECT\b[^0-9,:;]{0,80}?(?: (?:deserves|merits|earns|gets|warrants|receives|is rated)"
    rf"| \((?={_SCORE})))"
    rf"(?: as| at| with)?(?: an?)?(?:\s?(?:final |overall )?(?:QUESTION )?{_SCORE} of)?\s"
)
_STATED = rf"(?:LABEL\s*(?:[:=]|\bis\b){_DECORATION}|on a scale (?:of|from) RANGE:\s*|JUDGING)"

_REASON = re.compile(r"(?i)\W*(?:as(?! (?:long|if|told))|because|since|due to)\b")
_FURTHER_WORDS = (
    r"\s*[,(:]|\s+[-\u2013\u2014]\s|\s+(?:but|though|although|while|with|rating|score)\b"
    r"|\s+(?:to|on|for)\s+(?:OBJECT|QUESTION|the(?! (?:other|reference|prompt|first|second))|its"
    r"|[a-z]+ing)\b"
)
_DOUBTS = re.compile(
    r"(?i)\b(?:if|unless|only|provided|assuming|suppos\w*|should|would|could|might|instead|rather"
    r"|actually|correct(?:ed|ion)|revis\w*|changed|lower(?:ed)?|higher|raised|reduced|minus|plus"
    r"|at (?:best|most|least|worst)|perhaps|maybe|probably|possibly|tentative(?:ly)?|wait|sorry"
    r"|range|pending|initial(?:ly)?|except\w*|on average|averaged|median|rounded|ten|hundred|zehn"
    r"|wenn|falls|si"
    r"|or (?:so|less|more|even)|(?:ask|request|demand|instruct|claim)ed)\b|^\W*(?:no|not)\b"
)
"""Words of a tail that make its number another one: conditions, changes and bounds."""

_EXAMPLE = re.compile(
    r"(?i)^\W*(?:(?:for|an|output|the) )?(?:example|format|template|e\.g\.)[^.!?]{0,20}$"
)
_REPORTS = re.compile(
    r"(?i)\b(?:says?|said|stat(?:es?|ed|ing)|claim\w*|demand\w*|ask(?:s|ed|ing)?|request\w*"
    r"|instruct\w*|insist\w*|tells?|told|order\w*|writ(?:es?|ten|ing)|wrote|quot\w*|contain\w*"
    r"|includ\w*|inject\w*|embed\w*|attempt\w*|tr(?:y|ies|ied|ying)|want\w*|pretend\w*|suggest\w*"
    r"|mention\w*|ignor\w*|manipulat\w*|reads|attack\w*|malicious\w*|refus\w*"
    r"|(?:begins|starts|ends) with)\b"
)
_REFERS = re.compile(
    r"(?i)\b(?:this|that|these|the above|such an?) (?:score|rating|block|object|json|verdict)\b"
    r"|\b(?:me|judge|grader|evaluator|prompt)\b|^\W*(?:this|that|which|it) (?:is|was) what\b"
)
"""Words that attribute a score to somebody else; those of speech with a reference to it."""

_HYPOTHETICAL = re.compile(
    r"(?i)\b(?:not|never|rarely|no longer|arguably|almost|nearly|barely|hardly|had|without|if"
    r"|unless|assuming|suppos\w*|could|might|should|perhaps|maybe)\b|n['\u2019]t\b"
)
"""Words before a number that make it the score of another case."""

_RETRACTS = re.compile(
    r"(?i)^\W*(?:hmm+\W+|well\W+)?(?:no|or|maybe|perhaps|actually|sorry|correction|rather)\b"
    r"|\b(?:wait|on (?:second (?:thought|reading|look)|reflection)|reconsider\w*|scratch that"
    r"|mistaken?|(?:take|make) (?:it|that)|(?:ignore|disregard) (?:it|that|this|the)|i meant"
    r"|(?:only|just|merely) an? (?:example|draft|placeholder)"
    r"|(?:can(?:not|['\u2019]t)|unable to) (?:rate|score|judge|assess|evaluate|grade))\b"
    r"|^\W*(?:final|revised|corrected|adjusted|updated|edit)\W*[:=]|^\W*out of\b"
    r"|\b(?:should be|say|give|(?:deserv|fair|better|chang|upgrad|downgrad|revis|adjust)\w*)\b"
    r".{0,20}[0-9]|[0-9].{0,20}\b(?:fair\w*|better|more (?:accurate|appropriate))\b"
)
"""Sentences after a score that withdraw it, or set it off against another."""

_OTHER_SCALE = re.compile(
    r"(?i)\bscale\b[^.!?:(\n]{0,20}?([0-9]+)|\b([0-9]+)(?:-point\b|[- ]point scale)"
    r"|\bmax(?:imum)?\b[^.!?\n0-9]{0,20}([0-9]+)"
)
_MODIFIED = re.compile(r"\W*(?:(?:the|a|an|its) )?[\w'-]+(?: [\w'-]+)?\s*")
_OTHER_KEYS = re.compile(r"criteri(?:on|a)|question(?:_id)?|dimension|metric|aspect|category|name")
_WORD_KEYS = ("verdict", "label", "answer", "result")
"""Keys of an object without a score that may hold a word of the scale."""

_YES_OR_NO = {"no": 0.0, "yes": 1.0, "false": 0.0, "true": 1.0}
"""Words for the scores of a binary question, in replies without a number: judges also answer
questions of their own with them."""

_SCALE_KEYS = re.compile(r"(?:^|_)(?:max\w*|scale|range|(?:out_?)?of|denominator|possible|total)$")
_TRAILING_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*[}\]])")
"""A comma before a closing bracket, outside of texts."""

_MOST_OBJECTS = 100
"""Number of opening braces above which a reply is not parsed."""


class _Unparsable(Exception):  # noqa: N818 - an outcome, not an error
    """A reply without a score that is certain."""


class _Grammar:
    """The grammar of replies on one scale about one question; `RANGE` stands for both ends."""

    def __init__(self, scale: Scale, question: str | None, *, has_yes_or_no: bool) -> None:
        self._scale = scale
        self._has_yes_or_no = has_yes_or_no
        self._question = _words(question or "")
        low, high = (
            re.escape(f"{end:g}") + (r"(?:\.0+)?" if float(end).is_integer() else "")
            for end in (scale.low, scale.high)
        )
        words = zip(map(str.lower, scale.words or ()), scale.values or (), strict=False)
        self._values = _YES_OR_NO if has_yes_or_no else dict(words)
        longest_first = sorted(map(re.escape, self._values), key=len, reverse=True)
        names = {
            "LABEL": _LABEL,
            "JUDGING": _JUDGING,
            "OBJECT": _OBJECT,
            "NUMBER": rf"{_NUMBER}(?: points?| stars?)?{_OF_HIGH}?{_ENDS}",
            "QUESTION": re.escape(self._question).replace(r"\ ", "[ _-]") or "(?!)",
            "RANGE": rf"{low}\s*(?:to|and|through|[-\u2013\u2014])\s*{high}(?!\.?\w)",
            "HIGH": rf"{high}(?!\.?\w)",
            "WORD": rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)" if longest_first else "(?!)",
        }

        def compiled(pattern: str, comma: str = ",[0-9]{1,2}") -> re.Pattern[str]:
            for name, part in names.items():
                pattern = pattern.replace(name, part)
            return re.compile(f"(?i){pattern.replace('COMMA', comma)}")

        self._whole = compiled(f"{_DECORATION}{_NUMBER}{_OF_HIGH}?{_DECORATION}", comma="(?!)")
        self._out_of = compiled(
            r"(?<=[0-9])( points?| stars?)?\s*\(?(?:/|out of(?: a(?: possible)?)?|of)\s*HIGH\)?"
            r"(?: points?| stars?)?"
        )
        self._heading = compiled(
            rf"(?m)^(#*[ \t]*LABEL)[ \t]*\n+(?=[0-9.]+{_OF_HIGH}?[ \t]*$(?!\n+[0-9]))"
        )
        self._range = compiled(r"(?<![\w.+\u2212-])RANGE")
        self._statement = compiled(
            rf"{_BULLET}{_CONTRAST}(?P<lead>{_LEAD}(?:{_STATED}|(?=\W*(?:[0-9.]+{_OF_HIGH}|WORD)\W*$)))NUMBER"
        )
        self._mention = compiled(rf"(?<!\w){_STATED}NUMBER")
        self._label = compiled(
            rf"{_BULLET}{_LEAD}LABEL\s*(?:[:=<>~≈≤≥]|\b(?:is|should be)\b).*[0-9]"
        )
        self._further = compiled(_FURTHER_WORDS)
        self._word = compiled(r"\W*(?:(?:to|but|in parts) )?(?P<number>WORD)")
        self._json_label = compiled(_JSON_LABEL)
        self._key = compiled(
            rf'"{_JSON_LABEL}"\s*:|"(?:{"|".join(_WORD_KEYS)})"\s*:\s*"\s*WORD\s*"'
        )

    def read(self, text: str) -> tuple[float, str]:
        """Return the score and its rationale in a reply without thoughts.

        Raises:
            _Unparsable: If it has none for certain.
        """
        plain, rationale = self._without_objects(text)
        plain = self._out_of.sub(rf"\1{_OF_HIGH}", plain)
        if match := self._whole.fullmatch(plain):
            return self._value(match), rationale or ""
        plain = _MARKUP.sub("", _QUOTED.sub(" (quoted) ", _TAG.sub(r"\n\1: \2\n", plain)))
        plain = _OTHER_TABLE.sub("\n", plain)
        plain = _TABLE_ROW.sub(lambda row: row[1].replace("|", ": ", 1).replace("|", "-"), plain)
        plain = self._heading.sub(r"\1: ", plain)
        scale_ends = _OTHER_SCALE.findall(self._range.sub("(range)", plain))
        if any(float(number) != self._scale.high for row in scale_ends for number in row if number):
            raise _Unparsable
        return self._stated(plain), text if rationale is None else rationale

    def _stated(self, text: str) -> float:
        """Return the one score that a text states, which it does not take back."""
        scores: set[float] = set()
        doubtful: set[float] = set()
        before = ""
        for sentence in _SENTENCE_ENDS.split(text):
            is_introduced = before.endswith(":") and bool(_REPORTS.search(before))
            is_introduced |= before.endswith("?") and self._has_yes_or_no
            is_introduced |= _EXAMPLE.match(before) is not None
            before = sentence or before
            match = self._statement.match(sentence)
            lead = match["lead"] if match else ""
            if match and not (_REPORTS.search(lead) or _HYPOTHETICAL.search(lead)):
                tail = sentence[match.end() :].rstrip(" .!;,\"'`\u201d)]*\u3002")
                word = self._word.match(tail)
                explains = _REASON.match(tail) or (
                    self._further.match(tail)
                    and not re.search("[0-9]", tail)
                    and (word is None or self._value(word) == self._value(match))
                )
                if tail and (not explains or _DOUBTS.search(tail) or _REPORTS.search(tail)):
                    raise _Unparsable
                (doubtful if is_introduced else scores).add(self._value(match))
            elif self._label.match(self._range.sub("", sentence)):
                raise _Unparsable
            else:
                for mention in self._mention.finditer(sentence):
                    if not _MODIFIED.fullmatch(sentence, 0, mention.start()):
                        doubtful.add(self._value(mention))
                is_of_another = _REPORTS.search(sentence) and _REFERS.search(sentence)
                if scores and (is_of_another or _RETRACTS.search(sentence)):
                    raise _Unparsable
        if len(scores) != 1 or not doubtful <= scores:
            raise _Unparsable
        return scores.pop()

    def _without_objects(self, text: str) -> tuple[str, str | None]:
        """Return the text with a statement in place of each object, and the first rationale."""
        if not self._key.search(text):
            return text, None
        text = _TRAILING_COMMA.sub(lambda match: match[1] or "", text)
        parts, end, rationale = [], 0, None
        for entry, span in _objects(text):
            statement = self._statement_of(entry)
            if statement is not None:
                fence = _FENCE_ENDS.match(text, span.stop)
                before = text[end : span.start]
                end = fence.end() if fence else span.stop
                # What begins a sentence behind an object does not belong to the statement.
                begins = fence or re.match(r"\s*[A-Z{\n]", text[end : end + 20])
                parts += [_FENCE_BEGINS.sub("", before), statement, "\n" if begins else ""]
                reasons = entry.get("rationale", "")
                if rationale is None and statement:
                    rationale = reasons if isinstance(reasons, str) else ""
        plain = "".join([*parts, text[end:]])
        if self._key.search(plain):
            raise _Unparsable
        return plain, rationale

    def _statement_of(self, entry: dict[str, object]) -> str | None:
        """Return the statement that an object makes: empty about another question, None if none."""
        values = [value for key, value in entry.items() if self._json_label.fullmatch(key.strip())]
        if not values:
            words = (entry.get(key) for key in _WORD_KEYS)
            values = [
                w.lower() for w in words if isinstance(w, str) and w.strip().lower() in self._values
            ]
        if not values:
            return None
        names = [
            str(entry[key]).strip("[]'")
            for key in entry
            if entry[key] and _OTHER_KEYS.fullmatch(key)
        ]
        if any(_words(name) != self._question for name in names):
            return ""
        scale = " ".join(str(entry[key]) for key in entry if _SCALE_KEYS.search(key))
        ends = re.findall(r"[0-9]+(?:\.[0-9]+)?", scale)
        if not set(map(float, ends)) <= {self._scale.low, self._scale.high}:
            raise _Unparsable
        if len(values) == 1 and isinstance(inner := values[0], dict):
            return self._statement_of(inner)
        numbers = {self._json_score(value) for value in values}
        if len(numbers) != 1 or None in numbers:
            raise _Unparsable
        return f"score: {numbers.pop()}"

    def _value(self, match: re.Match[str]) -> float:
        text = match["number"]
        value = self._values.get(text.lower())
        return (
            float(text.replace("\N{MINUS SIGN}", "-").replace(",", ".")) if value is None else value
        )

    def _json_score(self, value: object) -> str | None:
        match value:
            case bool():
                return str(int(value)) if self._scale.is_binary else None
            case int() | float():
                return format(Decimal(repr(value)), "f")
            case str():
                match = self._whole.fullmatch(self._out_of.sub(rf"\1{_OF_HIGH}", value))
                return match["number"] if match else None
            case _:
                return None


_grammar = lru_cache(maxsize=64)(_Grammar)


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


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs by key in lower case; raise ValueError for a repeated key."""
    entry = {key.lower(): value for key, value in pairs}
    if len(entry) < len(pairs):
        raise ValueError("a key is given twice")
    return entry


# Not strict: models break lines within texts.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique)


def _words(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.lower().strip()))
