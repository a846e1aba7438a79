"""Meaning of cells: ratings, numbers, times, and words in a known order."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from eval_assets.readers.formats.table import BoolArray, FileColumn, without_blanks
from eval_assets.readers.words import lines_of
from eval_assets.scale import BINARY, MOST_STEPS, Level, Scale

FloatArray = npt.NDArray[np.float64]

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"(?![+-]?[1-9]\d{0,2},\d{3}$)[+-]?\d*,\d+")
"""Not 1,000, which may be a thousand."""

_TEXT_OF_SPREADSHEET = re.compile(r"'(.*)|=\"(.*)\"")
"""A cell that a spreadsheet keeps as text."""

_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_OUT_OF = re.compile(
    r"(\d+(?:[.,]\d+)?) ?(?:/|of|out of|von|sur|de) ?(\d+)(?: ?(?:points?|stars?))?", re.IGNORECASE
)
_COUNTED = re.compile(
    r"(\d+(?:[.,]\d+)?) ?(?:%|stars?|sterne?|points?|pts?\.?|punkte?)", re.IGNORECASE
)
_WORD_BEFORE = re.compile(r"^(?:score|rating|grade|level):? ?(?=\d)", re.IGNORECASE)
_NUMBER_AND_WORD = re.compile(
    r"\(?(-?\d{1,3})\)? ?[-\u2013=:.)(] ?[^\d\s].*|[^\d(]{1,40}\((\d{1,3})\)"
)
_MARK = re.compile(r"^([^\w\s]+|\d{1,2}) (?=\w)")
"""A mark or a number before a word, as in ✅ Pass and 3 good."""

_BETWEEN_WORDS = re.compile(r"(?<=\w\w)[_-](?=\w)|(?<=\w)[_-](?=\w\w)")
_STARS = re.compile("([*\u2605\u2b50]*)(\u00bd?)([\u2606\u2729]*)")

_TRUE_OR_FALSE = {**dict.fromkeys(lines_of("true"), 1.0), **dict.fromkeys(lines_of("false"), 0.0)}
ABSENT = frozenset(lines_of("absent"))
"""Words that people and programs write for a missing rating."""

MISSING = ABSENT | {*lines_of("no opinion")}
_ORDERS = [tuple(order.split(", ")) for order in lines_of("orders")]
_BY_LENGTH = sorted(_ORDERS, key=len)
_KNOWN_WORDS = [{word for choices in order for word in choices.split("|")} for order in _BY_LENGTH]
_USUAL_ENDS = ((0, 1), (1, 5), (0, 4), (1, 7), (1, 10), (0, 10), (0, 100))
"""Ends of common scales, the narrowest first."""

_FEW = 2
_MOST_CODES = 0.05
"""Largest share of a code for no rating, or of misspelled words, among the ratings."""


@dataclass(frozen=True)
class RatingCells:
    """Parsed cells of ratings, not yet compared with a scale.

    Args:
        texts: The cells.
        parsed: What each of their distinct values is; shape (n_values, 4): its number, NaN if it
            has none; whether it is blank; whether it is true, false, yes or no; and the highest
            value of its scale, as in 4/5, NaN if it does not say so.
    """

    texts: FileColumn[str | None]
    parsed: FloatArray

    @cached_property
    def values(self) -> FloatArray:
        """Number in each cell, NaN if it has none; that of 80 % is 80."""
        values: FloatArray = self.parsed[self.texts.codes, 0]
        return values

    @cached_property
    def blank(self) -> BoolArray:
        """Return whether each cell is blank."""
        is_blank: BoolArray = self.parsed[self.texts.codes, 1] > 0
        return is_blank

    def take(self, rows: BoolArray) -> "RatingCells":
        """Return the cells of some rows."""
        return RatingCells(self.texts.take(rows), self.parsed)

    def distinct(self) -> tuple["RatingCells", npt.NDArray[np.int64]]:
        """Return a cell for each distinct text, and the number of cells with it."""
        counts = np.bincount(self.texts.codes, minlength=len(self.texts.values))
        codes = np.flatnonzero(counts)
        return RatingCells(FileColumn(self.texts.values, codes), self.parsed), counts[codes]

    def tops(self) -> set[float]:
        """Return the highest values that cells name: 5 of 4/5."""
        tops = self.parsed[np.unique(self.texts.codes), 3]
        return set(tops[~np.isnan(tops)].tolist())

    def word_counts(self) -> Counter[str]:
        """Return the number of cells of each text that is no number, such as yes."""
        cells, counts = self.distinct()
        is_word = ~cells.blank & (np.isnan(cells.values) | (cells.parsed[cells.texts.codes, 2] > 0))
        words = Counter[str]()
        for row in np.flatnonzero(is_word).tolist():
            words[(cells.texts[row] or "").strip()] += int(counts[row])
        return words

    def spellings(self) -> dict[str, str]:
        """Return the commonest spelling of each word, by the word in lower case.

        Examples:
            >>> parsed_ratings(FileColumn.of(["Good", "Good", "GOOD", "4"])).spellings()
            {'good': 'Good'}
        """
        counts = self.word_counts()
        return {word.casefold(): word for word in sorted(counts, key=counts.__getitem__)}

    def values_on(self, scale: Scale) -> FloatArray:
        """Return the value of each cell by a scale, on which it may not lie; NaN if it has none.

        Examples:
            >>> cells = parsed_ratings(FileColumn.of(["Good", "1", "yes"]))
            >>> cells.values_on(Scale.from_words("bad", "fair", "good"))
            array([ 2.,  1., nan])
        """
        values: FloatArray = self._on(scale)[self.texts.codes]
        return values

    def on_scale(self, scale: Scale) -> tuple[FloatArray, BoolArray]:
        """Return the values as written on the scale, and which of them it contains.

        Examples:
            >>> cells = parsed_ratings(FileColumn.of(["3.0", "4.5", "yes"]))
            >>> cells.on_scale(Scale.from_steps(low=1, high=5))[1]
            array([ True, False, False])
        """
        values = self._on(scale)
        return scale.snap(values)[self.texts.codes], scale.contains(values)[self.texts.codes]

    def _on(self, scale: Scale) -> FloatArray:
        """Return the value of each distinct text on a scale."""
        values, is_boolean = self.parsed[:, 0], self.parsed[:, 2]
        if not scale.is_binary:
            values = np.where(is_boolean > 0, np.nan, values)
        if scale.words is None or scale.values is None:
            return values
        spelled = [canonical_number(word.casefold()) for word in scale.words]
        named = dict(zip(spelled, scale.values, strict=True))
        texts = ((text or "").strip().casefold() for text in self.texts.values)
        words = np.array([named.get(canonical_number(text), np.nan) for text in texts])
        are_codes = all(_NUMBER.fullmatch(word or "") for word in spelled)
        return words if are_codes else np.where(np.isnan(words), values, words)


def number_in(cell: str | None) -> float:
    """Return the number of a cell as people write ratings, NaN if it has none.

    Examples:
        >>> [number_in(cell) for cell in ("3.0", "03", " 4 ", "five", "nan", "1_000", None)]
        [3.0, 3.0, 4.0, nan, nan, nan, nan]
        >>> [number_in(cell) for cell in ("'4", '="4"', "\N{FULLWIDTH DIGIT FOUR}", "4,5")]
        [4.0, 4.0, 4.0, 4.5]
        >>> [number_in(cell) for cell in ("1,000", "4/5", "80 %", "2 - poor", "good (3)")]
        [nan, 4.0, 80.0, 2.0, 3.0]
        >>> [number_in(cell) for cell in ("4 pts", "Score: 4", "Level 3", "Rating 4/5")]
        [4.0, 4.0, 3.0, 4.0]
    """
    return _number_and_top(without_blanks(cell) or "")[0]


def _number_and_top(text: str) -> tuple[float, float]:
    """Return the number of a rating, and the highest possible one; NaN without."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        return (number if math.isfinite(number) else math.nan), math.nan
    if len(text) > 100 or not text:
        return math.nan, math.nan
    cell = _TEXT_OF_SPREADSHEET.fullmatch(text)
    text = " ".join((cell[cell.lastindex or 0] if cell else text).split())
    text = text.replace("\N{ARABIC DECIMAL SEPARATOR}", ".").replace("\ufe0f", "")
    text = _WORD_BEFORE.sub("", text)
    if _NUMBER.fullmatch(text) or _DECIMAL_COMMA.fullmatch(text):
        return float(text.replace(",", ".")), math.nan
    if match := _OUT_OF.fullmatch(text):
        return float(match[1].replace(",", ".")), float(match[2])
    if match := _COUNTED.fullmatch(text):
        return float(match[1].replace(",", ".")), 100.0 if text.endswith("%") else math.nan
    if match := _NUMBER_AND_WORD.fullmatch(text):
        return float(match[1] or match[2]), math.nan
    if match := _STARS.fullmatch(text.replace(" ", "")):
        full, half, empty = map(len, match.groups())
        return full + half / 2, float(full + half + empty) if empty else math.nan
    return math.nan, math.nan


def canonical_number(cell: str | None) -> str | None:
    """Return a whole number in its canonical spelling; spreadsheets turn 1 into 1.0 and 01 into 1.

    Examples:
        >>> [canonical_number(seed) for seed in ("1", "1.0", " 01 ", "a1", "1.5", "")]
        ['1', '1', '1', 'a1', '1.5', None]
    """
    text = without_blanks(cell)
    number = _WHOLE_NUMBER.fullmatch(text) if text is not None else None
    return str(int(number[1])) if number else text


def in_utc(text: str) -> str | None:
    """Return an ISO 8601 time in UTC, None if it is not one; a time without a zone is in UTC.

    Examples:
        >>> in_utc("2026-11-21T06:00:00+02:00")
        '2026-11-21T04:00:00Z'
    """
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).isoformat()[:-6] + "Z"
    except (ValueError, OverflowError):
        return None


def parsed_ratings(cells: FileColumn[str | None]) -> RatingCells:
    """Return the parsed cells.

    Examples:
        >>> parsed_ratings(FileColumn.of(["3.0", "yes", ""])).values
        array([ 3.,  1., nan])
    """
    return RatingCells(cells, np.array(list(map(_parsed, cells.values)), float).reshape(-1, 4))


def _parsed(cell: str | None) -> tuple[float, bool, bool, float]:
    """Return value, whether blank, whether true or false, and the highest value."""
    text = without_blanks(cell)
    if text is None:
        return math.nan, True, False, math.nan
    if text.lower() in _TRUE_OR_FALSE:
        return _TRUE_OR_FALSE[text.lower()], False, True, math.nan
    number, top = _number_and_top(text)
    return number, False, False, top


_VERDICTS = {
    pair
    for order in _ORDERS
    if len(order) == _FEW
    for pair in product(*(choices.split("|") for choices in order))
}
"""Words for the two classes of a verdict, the worse first, which mean the same."""


def are_verdicts(scale: Scale) -> bool:
    """Return whether a scale has two classes, of which words or 0 and 1 say which is better.

    Examples:
        >>> are_verdicts(Scale.from_words("fail", "pass")), are_verdicts(Scale.from_words("b", "a"))
        (True, False)
    """
    if scale.words is None:
        return scale.values == (0.0, 1.0)
    return tuple(word.casefold() for word in scale.words) in _VERDICTS


def ties_among(ratings: Iterable[str]) -> set[str]:
    """Return the words for a tie between 1 and 2, if there are no other ratings but 0.

    Examples:
        >>> ties_among(["Tie", "1", "2"]), ties_among(["Tie", "A", "B"])
        ({'Tie'}, set())
    """
    words = {of: of.casefold() for of in map(str, ratings)}
    ties = {of for of, word in words.items() if word in {"tie", "draw"}}
    return ties if {"1", "2"} <= {*words} - ties <= {"0", "1", "2"} else set()


def are_yes_or_no(words: Collection[str]) -> bool:
    """Return whether all words are spellings of yes and no, in any language that is read."""
    return {word.casefold() for word in words} <= _TRUE_OR_FALSE.keys()


def order_of(words: Iterable[str], numbers: Collection[float] = ()) -> tuple[str, ...] | None:
    """Return the words of a known order, worst first, that has all of some; None if none has.

    Of a long order, such as that of grades, those from the lowest to the highest of the words.
    `numbers` are places in the order, as 0 and 1 for no and yes.

    Examples:
        >>> order_of({"Good", "bad"}), order_of({"fine", "meh"})
        (('bad', 'good'), None)
        >>> order_of(['very_poor', 'Poor', 'fair'])
        ('very_poor', 'poor', 'fair', 'good', 'excellent')
    """
    marked = {_known_form(word): word.casefold() for word in words}
    folded = {*marked}
    for order, known in zip(_BY_LENGTH, _KNOWN_WORDS, strict=True):
        if not folded or not folded <= known:
            continue
        if len(order[0]) == 1 and len(folded) < 3 <= len(order):
            continue
        choices = [choice.split("|") for choice in order]
        spelled = [next((w for w in of if w in folded), of[0]) for of in choices]
        if folded <= set(spelled) and set(numbers) <= set(range(len(spelled))):
            places = [place for place, word in enumerate(spelled) if word in folded]
            if len(spelled) > 7 and len(places) > 1:  # raters were hardly offered all of them
                spelled = spelled[places[0] : places[-1] + 1]
            return tuple(marked.get(word, word) for word in spelled)
    return None


def _known_form(word: str) -> str:
    """Return a word as known orders have it: partially correct for partially_correct."""
    return _BETWEEN_WORDS.sub(" ", _MARK.sub("", word.casefold()))


def likely_scale(cells: RatingCells, *, level: Level | None) -> Scale | None:
    """Return the scale of a question's ratings: by default the narrowest usual one.

    On a wider scale the same ratings would be closer to each other. None for words without a known
    order, unless the level needs none.
    """
    of_word = cells.word_counts()
    cells, counts = cells.distinct()
    values = set(cells.values[~np.isnan(cells.values)].tolist())
    is_word = ~cells.blank & np.isnan(cells.values)
    # Words without a few that are not in the order of the others.
    in_order = [{w for w in of_word if _known_form(w) in known} for known in _KNOWN_WORDS]
    known = max(in_order, key=lambda words: sum(map(of_word.__getitem__, words)))
    n_unknown = sum(of_word[word] for word in of_word.keys() - known)
    words = known if n_unknown <= max(1, _MOST_CODES * sum(of_word.values())) else {*of_word}
    if is_word.any():
        order = order_of(words, values)
        if order is not None:
            return Scale.from_words(*order)
    # Some words among numbers are typing errors, which are reported one by one.
    is_number = ~np.isnan(cells.values) & (cells.parsed[cells.texts.codes, 2] == 0)
    if counts[is_word].sum() > counts[is_number].sum():
        folded = {word.casefold() for word in of_word}
        is_nominal = level == "nominal" and len(folded) > 1
        classes = Scale.from_words(*sorted(folded)) if is_nominal else None
        return classes and replace(classes, has_order=False)
    top = max(cells.tops(), default=math.nan)
    if values and max(values) <= top:
        return scale_between(
            {min(0.0, *values) if min(values) < 1 or top == 100 else 1.0, top, *values}
        )
    if values <= {0.0, 1.0}:
        return BINARY
    if len(values) == 1:
        values.add(1.0 if max(values) > 1 else max(values) - 1)
    return scale_between(values)


def missing_code(cells: RatingCells) -> float:
    """Return a number that may be a code for no rating, or a typing error; NaN if there is none.

    Examples are 99, 9 or -9 beside ratings from 1 to 5. Such a number is rare, and the only one
    below 0, beyond a common scale, or further from the others than they are from each other.
    """
    cells, n_cells = cells.distinct()
    is_number = ~np.isnan(cells.values)
    values, index = np.unique(cells.values[is_number], return_inverse=True)
    counts = np.bincount(index, n_cells[is_number])
    if len(values) <= _FEW or counts.sum() < 20:
        return math.nan
    is_rare = counts <= _MOST_CODES * counts.sum()
    if is_rare[0] and values[0] < 0 <= values[1]:
        return float(values[0])
    is_usual = (max(0, values[0]), values[-1]) in _USUAL_ENDS
    is_far = values[-1] - values[-2] > values[-2] - values[0]
    is_beyond = values[-1] - values[-2] > 1 and (max(0, values[0]), values[-2]) in _USUAL_ENDS
    return float(values[-1]) if is_rare[-1] and (is_far or is_beyond) and not is_usual else math.nan


def wider_scale(scale: Scale) -> Scale | None:
    """Return the next usual scale around a guessed one; None if that is usual itself, or words.

    Examples:
        >>> [wider_scale(Scale.from_steps(low=low, high=high)) for low, high in ((1, 5), (-3, 3))]
        [None, None]
        >>> wider_scale(Scale.from_steps(low=1, high=4)).high
        5.0
    """
    if scale.words is not None or (scale.low, scale.high) in _USUAL_ENDS:
        return None
    of_values = Scale if scale.values is None else Scale.from_steps
    around = _usual_around(scale.low, scale.high)
    return None if around is None else of_values(low=around[0], high=around[1])


def stretched_ends(scale: Scale, of_people: Scale) -> Scale | None:
    """Return the scale of a judge whose ends become those of people's, as a run has one scale.

    None if words have no order, or scores are shares of two classes already.
    """
    is_share = of_people.has_two_values and of_people.low <= scale.low
    if not (scale.has_order and of_people.has_order) or (is_share and scale.high <= of_people.high):
        return None
    return wider_scale(scale) or scale


def usual_pass(scale: Scale) -> str:
    """Return the rule that passes the upper half of a judge's scale, or its last word.

    Examples:
        >>> usual_pass(Scale(low=22, high=94)), usual_pass(Scale.from_words("fail", "pass"))
        ('>=50', 'pass')
    """
    if scale.words is not None:
        return scale.words[-1]
    ends = wider_scale(scale) or scale
    return f">={(ends.low + ends.high) / 2:g}"


def scale_from_one(scale: Scale) -> Scale | None:
    """Return the usual scale that equals a guessed one without its 0; None if there is none.

    Examples:
        >>> scale_from_one(Scale.from_steps(low=0, high=5)).low
        1.0
        >>> scale_from_one(Scale.from_steps(low=0, high=4)) is None
        True
    """
    is_usual = (scale.low, scale.high) in _USUAL_ENDS
    if scale.words is not None or scale.low != 0 or is_usual or (1, scale.high) not in _USUAL_ENDS:
        return None
    return Scale.from_steps(low=1, high=scale.high)


def scale_between(values: Collection[float]) -> Scale:
    """Return the scale from the lowest of some values to the highest: of steps if all are whole."""
    low, high = min(values), max(values)
    if all(value.is_integer() for value in values) and high - low <= MOST_STEPS:
        return Scale.from_steps(low=low, high=high)
    # Hardly any of all numbers between two ends is an end, but they span most of the scale.
    around = _usual_around(low, high)
    if around is not None and high - low >= 0.9 * (around[1] - around[0]):
        low, high = around
    return Scale(low=low, high=high)


def _usual_around(low: float, high: float) -> tuple[float, float] | None:
    """Return the ends of the narrowest usual scale that holds both numbers."""
    return next((ends for ends in _USUAL_ENDS if ends[0] <= low and high <= ends[1]), None)


def scale_text(scale: Scale) -> str:
    """Return a scale as `--scale` takes it.

    Examples:
        >>> scale_text(Scale.from_steps(low=1, high=5)), scale_text(Scale.from_words("bad", "good"))
        ('1-5', 'bad,good')
    """
    if scale.words is not None:
        return ",".join(scale.words)
    if scale.values is None:
        return f"{scale.low:.12g}-{scale.high:.12g}:any"
    if scale.step == 1:
        return f"{scale.low:.12g}-{scale.high:.12g}"
    return ",".join(f"{value:.12g}" for value in scale.values)
