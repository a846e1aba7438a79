"""Scales: the values a rating may take, and how ratings on them are compared."""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""Level of measurement, which decides how far apart two values are."""

_NAMED = {"binary": {"low": 0, "high": 1}, "likert5": {"low": 1, "high": 5}}
_NUMBER = r"([+-]?[0-9]+(?:\.[0-9]+)?)"
_ENDS = re.compile(rf"\s*{_NUMBER}\s*-\s*{_NUMBER}(?:\s*:\s*([0-9.]+|any))?\s*", re.IGNORECASE)

MOST_COMPARABLE = 7
"""Values of a scale up to which equal and adjacent ratings say how close raters are."""

MOST_STEPS = 10_000
"""Steps of a scale up to which each value can be looked at."""

TOLERANCE = 1e-9
"""Float noise between a value and the step of a scale that it is."""


@dataclass(frozen=True)
class Scale:
    """The values a rating may take, as declared: never guessed from ratings that exist.

    Args:
        low: Lowest value.
        high: Highest value.
        values: All allowed values, lowest first; None if every value in [low, high] is allowed.
        words: What each value is called, if raters answer in words.
        has_order: Whether a distance between values means anything; if not, they are equal or not.

    Raises:
        ValueError: If the scale has fewer than two values, or they do not ascend.

    Examples:
        >>> Scale.from_steps(low=1, high=4).values
        (1.0, 2.0, 3.0, 4.0)
        >>> BINARY.contains(0.5), Scale(low=0, high=1).contains(0.5)
        (False, True)
    """

    low: float
    high: float
    values: tuple[float, ...] | None = None
    words: tuple[str, ...] | None = None
    has_order: bool = field(default=True, repr=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"min must lie below max, got min {self.low:g} and max {self.high:g}")
        if (
            self.values is not None
            and (
                len(self.values) < 2  # noqa: PLR2004 - one value cannot tell responses apart
                or not all(a < b for a, b in zip(self.values, self.values[1:], strict=False))
            )
        ):
            raise ValueError(f"values must ascend without repeats, got {self.described()}")
        if self.values is not None and (self.values[0], self.values[-1]) != (self.low, self.high):
            raise ValueError(
                f"values must lead from {self.low:g} to {self.high:g}, got {self.described()}"
            )

        if self.words is not None and (
            len({word.casefold() for word in self.words}) != len(self.values or ())
        ):
            raise ValueError(f"each value needs a word of its own, got {', '.join(self.words)}")

    @classmethod
    def parse(cls, text: str) -> "Scale":
        """Return the scale that a text names: its ends, its words, or one by its name.

        Args:
            text: `binary`, `likert5`, `1-5`, `0-1:0.1` (steps of 0.1), `0-1:any` (every number
                between), or its values with commas between them, worst first: words, codes, or
                numbers in equal steps.

        Raises:
            ValueError: If the text is none of these, or the scale makes no sense.

        Examples:
            >>> Scale.parse("1-4").values, Scale.parse("0-1:any").values
            ((1.0, 2.0, 3.0, 4.0), None)
            >>> Scale.parse("bad,fair,good").high, Scale.parse("1,3,5").values
            (2.0, (1.0, 3.0, 5.0))
            >>> Scale.parse("1,0,2").words
            ('1', '0', '2')
        """
        if text.strip().lower() in _NAMED:
            return cls.from_steps(**_NAMED[text.strip().lower()])
        ends = _ENDS.fullmatch(text)
        if ends is not None:
            low, high, step = float(ends[1]), float(ends[2]), (ends[3] or "1").lower()
            if step == "any":
                return cls(low=low, high=high)
            return cls.from_steps(low=low, high=high, step=float(step))
        words = [word.strip() for word in text.split(",")]
        if len(words) == 1 or not all(words):
            raise ValueError(f'"{text}" is not a scale')
        if not all(re.fullmatch(_NUMBER, word) for word in words):
            return cls.from_words(*words)
        numbers = tuple(map(float, words))
        if [*numbers] not in (sorted(numbers), sorted(numbers, reverse=True)):  # codes of votes
            return cls.from_words(*words)
        scale = cls.from_steps(low=numbers[0], high=numbers[-1], step=numbers[1] - numbers[0])
        if scale.values != numbers:
            raise ValueError(f"{text} does not rise in equal steps")
        return scale

    @classmethod
    def from_words(cls, *words: str) -> "Scale":
        """Return the scale of words, worst first, which stand for 0, 1, 2, and so on.

        Examples:
            >>> Scale.from_words("bad", "fair", "good").described()
            '0 (bad), 1 (fair), 2 (good)'
        """
        return replace(cls.from_steps(low=0, high=len(words) - 1), words=words)

    @classmethod
    def from_steps(cls, *, low: float, high: float, step: float = 1) -> "Scale":
        """Return the scale of equal steps from `low` up to `high`.

        Raises:
            ValueError: If `step` does not lead from `low` to `high` exactly, or in too many steps.
        """
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"min must lie below max, got min {low:g} and max {high:g}")
        if not (math.isfinite(step) and step > 0):
            raise ValueError(f"step must be above 0, got {step:g}")
        n_steps = round((high - low) / step)
        if n_steps > MOST_STEPS:
            raise ValueError(f"a scale has at most {MOST_STEPS:,} steps, got {n_steps:,}")
        if n_steps < 1 or abs(low + n_steps * step - high) > TOLERANCE * max(1.0, abs(high)):
            raise ValueError(f"step {step:g} does not lead from {low:g} to {high:g}")
        inner = (float(round(low + k * step, 12)) for k in range(n_steps))
        return cls(low=float(low), high=float(high), values=(*inner, float(high)))

    @property
    def step(self) -> float | None:
        """Distance between neighbouring values; None if it varies or the scale is continuous."""
        if self.values is None:
            return None
        gaps = [b - a for a, b in zip(self.values, self.values[1:], strict=False)]
        return gaps[0] if max(gaps) - min(gaps) <= TOLERANCE else None

    @property
    def has_few_values(self) -> bool:
        """Return whether raters who agree often give equal or adjacent ratings."""
        return self.values is not None and len(self.values) <= MOST_COMPARABLE

    @property
    def has_two_values(self) -> bool:
        """Return whether ratings are one of two classes, as fail and pass."""
        return len(self.values or ()) == 2  # noqa: PLR2004

    @property
    def is_binary(self) -> bool:
        """Return whether the scale has the two values 0 and 1."""
        return self.values == (0.0, 1.0)

    @overload
    def contains(self, value: float) -> bool: ...
    @overload
    def contains(self, value: FloatArray) -> BoolArray: ...
    def contains(self, value: float | FloatArray) -> bool | BoolArray:
        """Return whether each value may be given as a rating, float noise aside."""
        values = np.asarray(value, dtype=np.float64)
        contained = self.spans(values) & (np.abs(self.snap(values) - values) <= TOLERANCE)
        return contained if isinstance(value, np.ndarray) else bool(contained)

    @overload
    def spans(self, value: float) -> bool: ...
    @overload
    def spans(self, value: FloatArray) -> BoolArray: ...
    def spans(self, value: float | FloatArray) -> bool | BoolArray:
        """Return whether each value lies within the ends, as a judge's score between steps may."""
        return (value >= self.low - TOLERANCE) & (value <= self.high + TOLERANCE)

    def continuous(self) -> "Scale":
        """Return the scale of every number between the same ends, on which means lie."""
        return Scale(low=self.low, high=self.high)

    def snap(self, values: FloatArray) -> FloatArray:
        """Return the allowed value nearest to each value, so that equal ratings are equal."""
        if self.values is None:
            return np.clip(values, self.low, self.high)
        allowed = np.array(self.values)
        above = np.clip(np.searchsorted(allowed, values), 1, len(allowed) - 1)
        low, high = allowed[above - 1], allowed[above]
        return np.where(np.abs(values - low) <= np.abs(values - high), low, high)

    def mirrored(self, value: float) -> float:
        """Return the value as far from the other end: what was left is right.

        Examples:
            >>> Scale.from_words("A", "equal", "B").mirrored(0), LIKERT5.mirrored(2)
            (2.0, 4.0)
        """
        if self.values is None:
            return self.low + self.high - value
        distances = [abs(allowed - value) for allowed in self.values]
        return self.values[-1 - distances.index(min(distances))]

    @overload
    def to_unit(self, value: float) -> float: ...
    @overload
    def to_unit(self, value: FloatArray) -> FloatArray: ...
    def to_unit(self, value: float | FloatArray) -> float | FloatArray:
        """Return each value on [0, 1], where ratings on different scales can be compared.

        Examples:
            >>> LIKERT5.to_unit(4.0)
            0.75
        """
        return (value - self.low) / (self.high - self.low)

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the distance of values in [0, 1]; without order 1 if they differ, else 0.

        Examples:
            >>> LIKERT5.distance(np.array([4.0]), np.array([2.0])).tolist()
            [0.5]
        """
        distances = np.abs(a - b)
        if self.has_order:
            return distances / (self.high - self.low)
        return np.where(np.isnan(distances), np.nan, (distances > TOLERANCE).astype(np.float64))

    def default_level(self) -> Level:
        """Return the level of measurement if the rubric declares none."""
        if self.values is None:
            return "interval"
        if self.is_binary:
            return "nominal"
        return "ordinal" if all(value.is_integer() for value in self.values) else "interval"

    def shown(self, value: float) -> str:
        """Return a value as a person reads it: with its word, or without needless decimals."""
        number = f"{value:g}"
        if self.words is None or self.values is None or value not in self.values:
            return number
        return f"{number} ({self.words[self.values.index(value)]})"

    def rating_text(self, value: float) -> str:
        """Return a value as files hold it: its word if it has one, else the number.

        Examples:
            >>> Scale.from_words("bad", "good").rating_text(1), LIKERT5.rating_text(4)
            ('good', '4')
        """
        words = dict(zip(self.values or (), self.words or (), strict=False))
        return words.get(value, f"{value:.12g}")

    def described(self) -> str:
        """Return the allowed values as a person would write them."""
        if self.values is None:
            return f"any number from {self.low:g} to {self.high:g}"
        if len(self.values) > 12:  # noqa: PLR2004 - a longer list is no help in a message
            return f"{self.low:g}, {self.values[1]:g}, ... {self.high:g}"
        return ", ".join(map(self.shown, self.values))


_RULE = re.compile(rf"\s*(>=|<=|==?|>|<)\s*{_NUMBER}\s*")


@dataclass(frozen=True)
class PassRule:
    """Which values of a scale are a pass.

    Args:
        operator: `>=`, `>`, `<=`, `<` or `=`; `=` with the values of words.
        values: One number, or the values of the words that pass.
        text: The rule as it was written.

    Examples:
        >>> rule = PassRule.parse(">=4", LIKERT5)
        >>> rule.passes(np.array([3.0, 4.0, np.nan])).tolist()
        [0.0, 1.0, nan]
        >>> PassRule.parse("good", Scale.from_words("bad", "fair", "good")).values
        (2.0,)
    """

    operator: Literal[">=", ">", "<=", "<", "="]
    values: tuple[float, ...]
    text: str

    @classmethod
    def parse(cls, text: str, scale: Scale) -> "PassRule":
        """Return the rule that a text states: `>=4`, `yes`, or words with commas between them.

        Raises:
            ValueError: If it is no rule, names no word of the scale, or does not divide it.
        """
        comparison = _RULE.fullmatch(text)
        if comparison is not None:
            operator = comparison[1].replace("==", "=")
            rule = cls(operator, (float(comparison[2]),), text.strip())  # type: ignore[arg-type] # as the pattern has them
        else:
            numbers = {f"{value:g}": value for value in scale.values or ()}
            names = {
                word.casefold(): value
                for word, value in zip(scale.words or (), scale.values or (), strict=False)
            }
            named = [word.strip() for word in text.split(",")]
            values = [names.get(word.casefold(), numbers.get(word)) for word in named]
            if None in values:
                known = ", ".join(scale.words or ()) or scale.described()
                raise ValueError(f'"{text}" names no pass: write a rule as >=4, or one of {known}')
            rule = cls("=", tuple(value for value in values if value is not None), text.strip())
        ends = np.asarray(scale.values or (scale.low, scale.high))
        if len(set(rule.passes(ends).tolist())) == 1:
            raise ValueError(f'"{text}" passes all or nothing on the scale {scale.described()}')
        return rule

    def passes(self, values: FloatArray) -> FloatArray:
        """Return 1 for values that pass, 0 for others, NaN for missing ones."""
        limit, noise = self.values[0], TOLERANCE
        match self.operator:
            case ">=":
                is_pass = values >= limit - noise
            case ">":
                is_pass = values > limit + noise
            case "<=":
                is_pass = values <= limit + noise
            case "<":
                is_pass = values < limit - noise
            case "=":
                is_pass = np.isin(values, self.values)
        return np.where(np.isnan(values), np.nan, is_pass.astype(np.float64))


BINARY = Scale(low=0.0, high=1.0, values=(0.0, 1.0))
LIKERT5 = Scale.from_steps(low=1, high=5)
