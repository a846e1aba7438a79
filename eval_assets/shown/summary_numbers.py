"""Numbers of a written summary, compared with the figures that it is about."""

import re
from collections.abc import Iterator

from eval_assets.config.evaluation import Evaluation

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
_WORDS = {
    word: float(value + 2)
    for value, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b", re.IGNORECASE)


def unknown_numbers(summary: str, figures: str, evaluation: Evaluation) -> tuple[str, ...]:
    """Return the numbers of a summary that are not among the figures that it is about.

    Digits count, and number words from two to twelve; digits within names of judges, models and
    questions do not.
    """
    known_values = {value for _, value in _numbers(figures, evaluation)}
    written = _numbers(summary, evaluation)
    return tuple(dict.fromkeys(text for text, value in written if value not in known_values))


def _numbers(words: str, evaluation: Evaluation) -> Iterator[tuple[str, float]]:
    judges = evaluation.judges
    names = {question.id for question in evaluation.rubric} | {judge.id for judge in judges}
    names |= {evaluation.name, *(judge.model for judge in judges if judge.model)}
    for name in sorted(names, key=len, reverse=True):
        words = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", words)
    for written in _NUMBER.findall(words):
        yield written, float(written.replace(",", ""))
    for written in _NUMBER_WORD.findall(words):
        yield written, _WORDS[written.lower()]
