"""Scores that a judge states in prose, as opposed to quoted, reported or considered ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from eval_assets.scale import Scale

# A preceding point is not decoration if the number contains a point: ".5.5" is not 5.5.
_DIGITS = r"(?:(?<!\.)[0-9]+\.[0-9]+|[0-9]++(?!\.[0-9])|(?<!\.)\.[0-9]+)"
_NUMBER = rf"(?P<number>[-\u2212+]?{_DIGITS})"
# Digits, units or a second number right behind make it another number, a range or a choice.
_ENDS = (
    r"(?!\.?\w|[,:][0-9]|\s+[0-9]|[-+](?:\s|$)|\s*(?:%|±|\+/?-|out\b|of\b|->|=>|→|~~)"
    r"|\s*(?:[-\u2013\u2014/]|or\b|to\b|and\b)\s*[0-9])"
)
_DECORATION = r"[\s*_#\"'`“”().,:!=\[\]]*"

_WHOLE = re.compile(rf"{_DECORATION}?{_NUMBER}{_DECORATION}")
_LABEL = r"\b(?:score|rating|rated?)\b[^0-9.!?:=<>~≈≤≥\n]{0,60}?"
_LABELLED = re.compile(rf"(?i){_LABEL}[:=]{_DECORATION}?{_NUMBER}{_ENDS}")
_TAGGED = re.compile(rf"(?i)<(?P<tag>score|rating)>\s*{_NUMBER}\s*</(?P=tag)>")
_STATED = re.compile(rf"(?i){_LABEL}\b(?:is|of|as)\s+(?:an?\s+)?[*_\"'`]*{_NUMBER}{_ENDS}")
_LAST_LINE = re.compile(
    rf"(?i)(?:[0-9]+[.)])?\W*(?P<label>[a-z][a-z _-]{{0,40}})[*_]*:"
    rf"{_DECORATION}?{_NUMBER}{_ENDS}(?:{_DECORATION}|\.\s[^0-9]+)"
)

_QUOTED = re.compile(
    r"(?s)<(?P<mark>[\w-]+-[0-9a-f]{16})>.*?(?:</(?P=mark)>|\Z)"  # the prompt's own marks
    r"|```.*?(?:```|\Z)"
    r"|(?m:^\s*>[^\n]*$)"
    r"|\"[^\"\n]*[^\W\d_][^\"\n]*\"|“[^”\n]*[^\W\d_][^”\n]*”|«[^»\n]*»|`[^`\n]*[^\W\d_][^`\n]*`"
    r"|(?<!\w)'[^'\n]*[^\W\d_][^'\n]*'(?!\w)"
)
_REPORTED = re.compile(
    r"(?i)\b(?:says?|said|stat(?:es?|ed|ing)|claim\w*|demand\w*|ask(?:s|ed|ing)?|request\w*"
    r"|instruct\w*|insist\w*|tells?|told|order\w*|writ(?:es?|ten|ing)|wrote|quot\w*"
    r"|cit(?:es?|ed|ing)|contain\w*|includ\w*|inject\w*|embed\w*|attempt\w*|tr(?:y|ies|ied|ying)"
    r"|want\w*|pretend\w*|suggest\w*|propos\w*|argu\w*|assert\w*|declar\w*|mention\w*"
    r"|ignor\w*|manipulat\w*|begins?|ends|reads)\b"
)
"""Words that attribute a score to somebody else: the response, an instruction, an author."""

_HYPOTHETICAL = re.compile(
    r"(?i)\b(?:not|never|too|than|if|unless|rather|instead|at least|at most|at best|at worst"
    r"|perhaps|maybe|possibly|probably|might|could|would (?:be|mean|need|require))\b|n['\u2019]t\b"
)
_CONDITION = re.compile(r"(?i)\b(?:had|were|without|except|whether|between|may|when|suppos\w*)\b")
"""Words before a score that make it hypothetical."""

_RETRACTED = re.compile(
    r"(?i)\b(?:wait|on second thought|reconsider\w*|scratch that|i take (?:it|that) back)\b"
    r"|\b(?:changed|correct(?:ed|ion)|revis\w*|lower(?:ed|ing)?|rais(?:ed|ing)|reduced|no"
    r"|downgrad\w*|upgrad\w*|actually|instead|rather|sorry|mistake)\b[^\n]{0,80}?(?<![\w.])[0-9]"
)
"""Words that withdraw a score: some on their own, others before a number."""

_ANOTHER_SCORE = re.compile(
    r"(?i)\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|possible|previous|prior|initial|preliminary"
    r"|tentative|confidence|confident|certainty|expected|reference|gold|ground.truth|human|claimed"
    r"|self.assigned|passing|average|mean|median|bleu|rouge|f1|pylint|flesch|perfect|full)\b"
)
_NO_SCORE = re.compile(
    r"(?i)(?:confidence|certainty|sure|probability|likelihood|weight|threshold|scale|level"
    r"|words?|tokens?|characters?|length|lines?|count|number|total|sum|version|step|stage|page|id"
    r"|item|option|example|question|criterion|attempt|round|seed|year|date|time|temperature"
    r"|errors?|bugs?|mistakes?|issues?|tests?|passed|failed|input|expected|reference|max\w*|min\w*)"
)
"""Labels of a last line whose number is not a rating."""

_CLOSING = re.compile(r"(?i)(?:(?:done|end|thanks|thank you|i hope (?:this|that) helps)[.!\s]*)?")

_OF_ANOTHER = re.compile(
    r"(?i)\b(?:attack\w*|inject\w*|malicious\w*|refus\w*|manipulat\w*|demand\w*|instruct\w*"
    r"|order(?:s|ed)|pretend\w*|insist\w*)\b"
    r"|^\W*(?:(?:this|that|these|the|above)\s+(?:is|was|are|block|object|json|score|rating|verdict"
    r"|text|output|quote|above)|which|is|was|as|would|if|but|not|had|unless)\b"
)
_REFERENCE = re.compile(
    r"(?i)\b(?:this|that|these|above|block|object|json|scor\w+|rat(?:e|ed|ing)|verdict|output|judge"
    r"|me|grader|evaluator|prompt)\b"
)
"""Words after an object that attribute it to somebody else, some with a verb of speech."""

_CHANGED = re.compile(
    r"(?i)\b(?:wait|on second thought|reconsider\w*|actually|instead|rather|sorry"
    r"|mistake\w*|correct(?:ed|ion)|revis\w*|lower(?:ed|ing)?|rais(?:ed|ing)|should be"
    r"|make (?:it|that)|scratch|take (?:it|that) back|no longer|confidence|out of|scale)\b"
)
_ANY_NUMBER = re.compile(r"(?<![\w.])[-\u2212+]?[0-9]+(?:\.[0-9]+)?")

_ANOTHER_SCALE = re.compile(r"(?i)\bscale\b[^.!?:\n]{0,20}?[0-9]")


@dataclass(frozen=True)
class Statement:
    """A stated score; it is doubtful if it may be somebody else's or was withdrawn."""

    value: float
    is_doubtful: bool


def whole_number(text: str) -> float | None:
    """Return the text as a number, without decoration; None if it is not a number."""
    match = _WHOLE.fullmatch(text)
    return _number(match) if match else None


def stated_score(text: str) -> float | None:
    """Return the one score that a text states with certainty; None if there is none."""
    if _ANOTHER_SCALE.search(text):
        return None
    statements = list(_statements(_QUOTED.sub(" (quoted) ", text)))
    certain = {statement.value for statement in statements if not statement.is_doubtful}
    doubtful = {statement.value for statement in statements if statement.is_doubtful}
    return certain.pop() if len(certain) == 1 and doubtful <= certain else None


def reports(text: str) -> bool:
    """Return whether the last sentence of a text introduces a quotation of somebody else."""
    lead = re.split(r"(?<=[.!?])\s|\n\s*\n", text.rstrip().rstrip(":"))[-1]
    return bool(_REPORTED.search(lead) or _HYPOTHETICAL.search(lead))


def is_closing(text: str) -> bool:
    """Return whether a text that follows a score is only a closing phrase."""
    return bool(_CLOSING.fullmatch(text.strip()))


def explains(text: str, score: float, scale: Scale) -> bool:
    """Return whether a text that follows a score only explains it.

    It may not withdraw the score, attribute it to somebody else or contain another one.
    """
    if "{" in text or "```" in text or _CHANGED.search(text):
        return False
    numbers = {float(n.replace("\N{MINUS SIGN}", "-")) for n in _ANY_NUMBER.findall(text)}
    if any(scale.spans(number) and number != score for number in numbers):
        return False
    sentences = [sentence for sentence in re.split(r"(?<=[.!?])\s|\n", text) if sentence.strip()]
    return not any(
        _OF_ANOTHER.search(sentence) or (_REPORTED.search(sentence) and _REFERENCE.search(sentence))
        for sentence in sentences
    )


def without_scale(text: str, scale: Scale) -> str:
    """Return the text without "1 to 4" and the "/4" of "3/4", on a scale from 1 to 4."""
    between, out_of = _restatements(scale)
    return out_of.sub("", between.sub("range", text))


def _statements(text: str) -> Iterator[Statement]:
    """Yield every score that the text states, doubtful ones included."""
    matches = [*_LABELLED.finditer(text), *_TAGGED.finditer(text)]
    matches += [m for m in _STATED.finditer(text) if _holds_one_number(_sentence(text, m))]
    last = _LAST_LINE.fullmatch(text, text.rfind("\n") + 1)
    if last and not _NO_SCORE.search(last["label"].strip().rsplit(" ", 1)[-1]):
        matches.append(last)
    for match in matches:
        before, after = _around(text, match)
        lead = before + text[match.start() : match.start("number")]
        if any(words.search(lead) for words in (_ANOTHER_SCORE, _HYPOTHETICAL, _CONDITION)):
            continue
        yield Statement(
            _number(match),
            is_doubtful=bool(
                _REPORTED.search(lead)
                or after.lstrip("*_ ").startswith("?")
                or _RETRACTED.search(text, match.end("number"))
            ),
        )


def _holds_one_number(sentence: str) -> bool:
    return len(re.findall(_DIGITS, sentence)) == 1 and not _HYPOTHETICAL.search(sentence)


def _around(text: str, match: re.Match[str]) -> tuple[str, str]:
    """Return the text before and after the match in its sentence."""
    before = re.split(r"[.!?\n]", text[: match.start()])[-1]
    after = re.split(r"(?<=[.!?\n])", text[match.end("number") :], maxsplit=1)[0]
    return before, after


def _sentence(text: str, match: re.Match[str]) -> str:
    before, after = _around(text, match)
    return before + text[match.start() : match.end("number")] + after


@lru_cache
def _restatements(scale: Scale) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of the scale's range, and of its upper end after a score."""
    low, high = (
        re.escape(f"{end:g}") + (r"(?:\.0+)?" if float(end).is_integer() else "")
        for end in (scale.low, scale.high)
    )
    between = rf"(?i)(?<![\w.+\u2212-]){low}\s*(?:to|and|through|[-\u2013\u2014])\s*{high}(?!\.?\w)"
    return re.compile(between), re.compile(rf"(?i)(?<=[0-9])\s*(?:/|out of|of)\s*{high}(?!\.?\w)")


def _number(match: re.Match[str]) -> float:
    """Return the matched number."""
    return float(match["number"].replace("\N{MINUS SIGN}", "-"))
