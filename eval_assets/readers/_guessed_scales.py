"""Scales guessed from ratings, for questions that declare none."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval_assets.readers._cells import ParsedCells
from eval_assets.readers._problems import input_error, quoted
from eval_assets.readers.formats.row_files import read_table
from eval_assets.readers.labels.forms import parsed_labels
from eval_assets.scale import BINARY, LIKERT5, Level, Scale

_ORDERS = [
    tuple(order.split(", "))
    for order in (
        *("no, yes", "false, true", "fail, pass", "bad, good", "incorrect, correct"),
        *("wrong, right", "reject, accept", "irrelevant, relevant", "not relevant, relevant"),
        *("no, partially, yes", "no, partly, yes", "no, maybe, yes"),
        *("incorrect, partially correct, correct", "irrelevant, partially relevant, relevant"),
        *("not relevant, partially relevant, relevant", "low, medium, high", "bad, ok, good"),
        "one, two, three, four, five",
        *("f, d, c, b, a", "f, e, d, c, b, a", "model_a, tie, model_b", "a, tie, b"),
        *("response_a, tie, response_b", "left, tie, right", "thumbs down, thumbs up"),
        *("\N{THUMBS DOWN SIGN}, \N{THUMBS UP SIGN}", "down, up", "dislike, like"),
        "f, d-, d, d+, c-, c, c+, b-, b, b+, a-, a, a+",
        *("bad, okay, good", "bad, fair, good", "bad, neutral, good"),
        *("negative, neutral, positive", "poor, fair, good, excellent"),
        *("poor, fair, good, very good, excellent", "very poor, poor, fair, good, excellent"),
        *("very poor, poor, fair, good, very good", "very bad, bad, neutral, good, very good"),
        *("very low, low, medium, high, very high", "never, rarely, sometimes, often, always"),
        "strongly disagree, disagree, agree, strongly agree",
        "strongly disagree, disagree, neutral, agree, strongly agree",
        "strongly disagree, disagree, neither agree nor disagree, agree, strongly agree",
        "strongly disagree, somewhat disagree, neutral, somewhat agree, strongly agree",
        "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
        "not at all, slightly, moderately, very, extremely",
        "not helpful, somewhat helpful, helpful, very helpful",
        (
            "trifft gar nicht zu|trifft \u00fcberhaupt nicht zu|trifft nicht zu, "
            "trifft eher nicht zu, teils teils|teils/teils|teils-teils|weder noch|neutral, "
            "trifft eher zu, trifft voll zu|trifft voll und ganz zu|trifft v\u00f6llig zu|trifft zu"
        ),
        (
            "stimme gar nicht zu|stimme \u00fcberhaupt nicht zu, stimme nicht zu|"
            "stimme eher nicht zu, teils teils|teils/teils|weder noch|neutral, "
            "stimme zu|stimme eher zu, stimme voll zu|stimme voll und ganz zu|stimme v\u00f6llig zu"
        ),
        *("schlecht, mittel, gut", "mangelhaft, ausreichend, befriedigend, gut, sehr gut"),
        "sehr schlecht, schlecht, mittel|neutral, gut, sehr gut",
        "nie, selten, manchmal, oft, immer",
    )
]
"""Words in which surveys ask, worst first; the shortest order that has all words of a file counts.

A scale in other words must be declared: a wrong order would look like disagreement.
"""

_BY_LENGTH = sorted(_ORDERS, key=len)
_FEW = 2
"""Ratings per word above which the words are errors and the scale is one of numbers."""

_USUAL_ENDS = ((0, 1), (1, 5), (0, 4), (1, 7), (1, 10), (0, 10), (0, 100))
"""Ends of common scales, the narrowest first."""

_MOST_CODES = 0.05
"""Largest share of a code for no rating, or of misspelled words, among the ratings."""

_FEWEST_OF_A_SCALE = 20
"""Number of ratings from which a rare value far from the others is reported."""

_MOST_ALL_OFFERED = 7
"""Largest number of words of a scale that raters were probably offered as a whole."""

_MOST_QUOTED_WORDS = 6
_NUMBERED_WORD = re.compile(r"\s*([0-9]+)\s*[-:.)=(]\s*\D.*|\D*\(([0-9]+)\)\s*")


def guessed_scales(
    files: Iterable[Path], *, folder: Path, question_ids: Sequence[str]
) -> dict[str, Scale]:
    """Return the scale of each question whose labels determine it.

    Files that do not exist are ignored.

    Returns:
        By question: the binary scale if all ratings are 0 and 1 and both occur, 1 to 5 if all are
        whole numbers in it and both ends occur. Questions with other ratings are left out: 1 to 4
        can be a separate scale, and as part of 1 to 5 its raters would seem to agree more.

    Raises:
        InputError: If a label file cannot be used.
    """
    values: dict[str, set[float]] = defaultdict(set)
    for path in filter(Path.is_file, files):
        table = read_table(path, folder=folder)
        labels = parsed_labels(table, questions=dict.fromkeys(question_ids))
        only = question_ids[0] if len(question_ids) == 1 else ""
        cells, questions = labels.ratings(), labels.units.questions
        for question in questions.present():
            rows = questions.is_(question)
            values[question or only].update(cells.values[rows & ~cells.blank].tolist())
    guesses = {question: guessed_scale(values[question]) for question in question_ids}
    return {question: scale for question, scale in guesses.items() if scale is not None}


def guessed_scale(values: set[float]) -> Scale | None:
    """Return the scale that ratings determine, None if there are several."""
    if values == {0.0, 1.0}:
        return BINARY
    if {LIKERT5.low, LIKERT5.high} <= values <= set(LIKERT5.values or ()):
        return LIKERT5
    return None


def likely_scale(
    cells: ParsedCells, *, file: str, level: Level | None, top: float = math.nan
) -> Scale:
    """Return the scale of a question's ratings, by default the narrowest one.

    On a wider scale the same ratings would be closer to each other. `top` is the highest value of
    the scale, as in 4/5; NaN if it is unknown.

    Raises:
        InputError: If they are words whose order is not known.
    """
    cells, counts = cells.distinct()
    values = set(cells.values[~np.isnan(cells.values)].tolist())
    is_word = ~cells.blank & np.isnan(cells.values)
    if is_word.any():
        words = _words_of_one_order(cells, counts)
        are_numbers = words <= _words(cells.take(cells.is_boolean))
        scale = None if are_numbers else scale_in_order(words, numbers=values)
        if scale is not None:
            return scale
    # Some words among numbers are typing errors, which are reported one by one.
    if int(counts[is_word].sum()) * _FEW > int(counts[~cells.blank].sum()):
        return _scale_of_words(_words(cells.take(is_word)), file=file, level=level)
    if values and all(word.endswith("%") for word in _words(cells.take(~cells.blank))):
        return Scale(low=0, high=100)
    if values and max(values) <= top:
        low = min(0.0, *values) if min(values) < 1 else 1.0
        return _scale_between(low, top, values)
    return _scale_of_numbers(values)


def missing_code(cells: ParsedCells) -> float:
    """Return a number that may be a code for no rating, or a typing error; NaN if there is none.

    Examples are 99, 9 or -9 beside ratings from 1 to 5. Such a number is rare, and the only one
    below 0, beyond a common scale, or further from the others than they are from each other.
    """
    cells, n_cells = cells.distinct()
    is_number = ~np.isnan(cells.values)
    values, index = np.unique(cells.values[is_number], return_inverse=True)
    counts = np.bincount(index, n_cells[is_number])
    if len(values) <= _FEW or counts.sum() < _FEWEST_OF_A_SCALE:
        return math.nan
    is_rare = counts <= _MOST_CODES * counts.sum()
    if is_rare[0] and values[0] < 0 <= values[1]:
        return float(values[0])
    is_usual = (max(0, values[0]), values[-1]) in _USUAL_ENDS
    is_far = values[-1] - values[-2] > values[-2] - values[0]
    is_beyond = values[-1] - values[-2] > 1 and (max(0, values[0]), values[-2]) in _USUAL_ENDS
    return float(values[-1]) if is_rare[-1] and (is_far or is_beyond) and not is_usual else math.nan


def _words_of_one_order(cells: ParsedCells, counts: npt.NDArray[np.int64]) -> set[str]:
    """Return the words of distinct cells, without a few that are not in the order of the others.

    Those are typing errors, which are reported one by one.
    """
    is_word = ~cells.blank & (np.isnan(cells.values) | cells.is_boolean)
    words = {
        (cells.texts[row] or "").strip(): int(counts[row])
        for row in np.flatnonzero(is_word).tolist()
    }
    orders = [{word for choices in order for word in choices.split("|")} for order in _BY_LENGTH]
    in_order = [{word for word in words if word.casefold() in order} for order in orders]
    in_order.append({word for word in words if _NUMBERED_WORD.fullmatch(word)})
    known = max(in_order, key=lambda of: sum(map(words.__getitem__, of)))
    n_unknown = sum(words[word] for word in words.keys() - known)
    return known if n_unknown <= max(1, _MOST_CODES * sum(words.values())) else {*words}


def _words(cells: ParsedCells) -> set[str]:
    return {(text or "").strip() for text in cells.texts.present()}


def _scale_of_numbers(values: set[float]) -> Scale:
    certain = guessed_scale(values)
    if certain is not None:
        return certain
    low, high = min(values, default=0.0), max(values, default=1.0)
    if values <= {0.0, 1.0}:
        return BINARY
    if low == high:
        low = min(low, 1.0) if low > 1 else low - 1
    return _scale_between(low, high, values)


def wider_scale(scale: Scale) -> Scale | None:
    """Return the next usual scale around a guessed one; None if that is usual itself, or words.

    Examples:
        >>> [wider_scale(Scale.from_steps(low=low, high=high)) for low, high in ((1, 5), (-3, 3))]
        [None, None]
        >>> wider_scale(Scale.from_steps(low=1, high=4)) == LIKERT5
        True
    """
    if scale.words is not None or (scale.low, scale.high) in _USUAL_ENDS:
        return None
    around = (ends for ends in _USUAL_ENDS if ends[0] <= scale.low and scale.high <= ends[1])
    low, high = next(around, (scale.low, scale.high))
    if (low, high) == (scale.low, scale.high):
        return None
    if scale.values is None:
        return Scale(low=low, high=high)
    return Scale.from_steps(low=low, high=high)


def scale_from_one(scale: Scale) -> Scale | None:
    """Return the usual scale that equals a guessed one without its 0; None if there is none.

    Examples:
        >>> scale_from_one(Scale.from_steps(low=0, high=5)) == LIKERT5
        True
        >>> scale_from_one(Scale.from_steps(low=0, high=4)) is None
        True
    """
    is_usual = (scale.low, scale.high) in _USUAL_ENDS
    if scale.words is not None or scale.low != 0 or is_usual or (1, scale.high) not in _USUAL_ENDS:
        return None
    return Scale.from_steps(low=1, high=scale.high)


def _scale_between(low: float, high: float, values: set[float]) -> Scale:
    are_whole = all(value.is_integer() for value in values)
    return Scale.from_steps(low=low, high=high) if are_whole else Scale(low=low, high=high)


def scale_in_order(words: set[str], *, numbers: Collection[float] = ()) -> Scale | None:
    """Return the scale of words whose order is known, or that begin with a number, or end with one.

    Beside words that begin with a number, such as "5 - good", there may be plain `numbers`, and
    beside others the places of words, as 0 and 1 for no and yes. A word is no rating otherwise.
    """
    folded = {word.casefold() for word in words}
    for order in _BY_LENGTH:
        spelled = [_spelling(choices, folded) for choices in order]
        if folded <= set(spelled) and set(numbers) <= set(range(len(spelled))):
            return Scale.from_words(*_without_ends(spelled, folded))
    numbered = {word: _NUMBERED_WORD.fullmatch(word) for word in words}
    if not all(numbered.values()):
        return None
    named = {float(match[1] or match[2]): word for word, match in numbered.items() if match}
    values = sorted({*named, *numbers})
    if len(named) < len(words) or len(values) == 1 or not all(map(float.is_integer, values)):
        return None
    between = [float(value) for value in range(int(values[0]), int(values[-1]) + 1)]
    return Scale(
        low=values[0],
        high=values[-1],
        values=tuple(between),
        words=tuple(named.get(value, f"{value:g}") for value in between),
    )


def _spelling(choices: str, words: set[str]) -> str:
    """Return the spelling among the words, of several separated by bars."""
    spellings = choices.split("|")
    return next((word for word in spellings if word in words), spellings[0])


def _without_ends(order: Sequence[str], words: set[str]) -> Sequence[str]:
    """Return a long order, such as that of grades, from the lowest to the highest of the words."""
    places = [index for index, word in enumerate(order) if word in words]
    if len(order) <= _MOST_ALL_OFFERED or len(places) < 2:  # noqa: PLR2004 - a scale has two values
        return order
    return order[places[0] : places[-1] + 1]


def _scale_of_words(words: set[str], *, file: str, level: Level | None) -> Scale:
    """Return the scale of words in no known order, if none is needed."""
    folded = {word.casefold() for word in words}
    if level == "nominal" and len(folded) > 1:
        return Scale.from_words(*sorted(folded))
    named = ", ".join(quoted(word) for word in sorted(words)[:_MOST_QUOTED_WORDS])
    message = f"the ratings are words ({named}), whose order is not known"
    remedy = "Pass --scale with the words, worst first, as in --scale bad,fair,good"
    raise input_error(file, message, f"{remedy}; or --level nominal")
