"""Declaration of the rubric: its questions and their scales."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from eval_assets.config.types import Name, Text, set_by_reader
from eval_assets.errors import Fault, raise_faults
from eval_assets.scale import BINARY, Level, PassRule, Scale

PAIR_COLUMNS = ("response_a", "response_b")
"""Columns of the compared responses."""

MOST_OPTIONS = 9
"""Options of a multi-select question: each has a digit as its key."""


@dataclass(frozen=True)
class MultiSelect:
    """Multi-select question to which a binary question belongs as an option.

    Args:
        id: Its id.
        question: What raters are asked.
        option: Name of the option.
    """

    id: str
    question: str
    option: str


@dataclass(frozen=True)
class RubricQuestion:
    """One question about each response.

    Args:
        id: Name of the question in every file and table.
        question: Text for raters and judges.
        scale: Values a rating may take.
        level: Level of measurement of the scale.
        guidelines: What each value means, shown to raters and judges; may be empty.
        type: `rating` of a response, or `pairwise`: a comparison of `response_a` and `response_b`,
            columns of the responses. The scale then leads from the first to the second.
        applies_to: Values of columns of a response, all of which it needs to be asked the
            question; empty if every response is asked.
        passes: Which values are a pass, such as `>=4` or `yes`; None for the higher of two classes.
        options: Options of which a rater selects any number; each becomes a binary question
            `ID/OPTION`.
        note: Request for a note beside the answer; empty for a free comment.
        confidence: `required` if raters are asked with each answer how confident they are.
        scored_by: `judge`, or `function` if scores come from code: then no live judge is asked, and
            recorded scores are left out of agreement between judges.
        equivalent_versions: Earlier versions of the wording whose labels count with those of the
            present one, by number in `rubric_versions`.
        multi_select: The multi-select question that this is an option of; None if it is none.
        scale_guessed: Whether the scale was guessed from ratings that no evaluation declares.

    Raises:
        DeclarationError: If the scale cannot have that level.
    """

    id: Name
    question: Text
    scale: Scale
    level: Level
    guidelines: str = ""
    type: Literal["rating", "pairwise"] = "rating"
    applies_to: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    passes: float | Text | None = field(default=None, metadata={"alias": "pass"})
    options: tuple[Name, ...] = ()
    note: str = ""
    confidence: Literal["optional", "required"] = "optional"
    scored_by: Literal["judge", "function"] = "judge"
    equivalent_versions: tuple[int, ...] = ()
    multi_select: MultiSelect | None = field(default=None, metadata=set_by_reader("multi_select"))
    scale_guessed: bool = field(default=False, metadata=set_by_reader("scale_guessed"))

    def __post_init__(self) -> None:
        faults = []
        if self.level == "nominal" and self.scale.values is None:
            message = "a continuous scale has no categories, which the nominal level counts"
            faults.append(Fault(("level",), message, "Use interval, or declare the values"))
        if self.level == "ratio" and self.scale.low < 0:
            message = (
                f"a scale from {self.scale.low:g} does not start at zero, as a ratio scale must"
            )
            faults.append(Fault(("level",), message, "Use interval"))
        if self.type == "pairwise" and not _leads_from_a_to_b(self.scale):
            message = "the values of a comparison lead from response_a to response_b"
            remedy = "Name them in this order, a tie in the middle, such as {values: [A, tie, B]}"
            faults.append(Fault(("scale",), message, remedy))
        faults += self._option_faults()
        try:
            _ = self.pass_rule
        except ValueError as error:
            remedy = "Write a rule such as '>=4', or values of the scale"
            faults.append(Fault(("pass",), str(error), remedy))
        raise_faults(faults)
        classes = self.scale.values if self.level == "nominal" else None
        has_order = classes is None or len(classes) <= 2  # noqa: PLR2004 - of two one is 1
        object.__setattr__(self, "scale", replace(self.scale, has_order=has_order))

    @property
    def pass_rule(self) -> PassRule | None:
        """Which values are a pass: as declared, or the higher of two classes."""
        text = f"{self.passes:g}" if isinstance(self.passes, float) else str(self.passes or "yes")
        words = {word.casefold() for word in self.scale.words or ()}
        if self.scale.has_two_values and text.casefold() in {"yes", "no"} - words:
            value = self.scale.high if text.casefold() == "yes" else self.scale.low
            return PassRule("=", (value,), f"{value:g}")
        return None if self.passes is None else PassRule.parse(text, self.scale)

    def _option_faults(self) -> Iterator[Fault]:
        if not self.options:
            return
        if self.scale.values != BINARY.values or self.type != "rating":
            message = "an option is selected or not, and has no other scale or type"
            yield Fault(("options",), message, "Remove scale and type, or options")
        if len(self.options) > MOST_OPTIONS:
            message = f"there are {len(self.options)} options, and keys for {MOST_OPTIONS}"
            yield Fault(("options",), message, "Ask two questions")
        plain = [option.casefold() for option in self.options]
        for index, option in enumerate(plain):
            if option in plain[:index]:
                message = f"{self.options[index]} is repeated"
                yield Fault(("options", index), message, "Name each option once")

    def measured(self) -> tuple["RubricQuestion", ...]:
        """Return the measured questions: of a multi-select question one for each option.

        Examples:
            >>> asked = RubricQuestion("faults", "Which?", BINARY, "nominal", options=("rude",))
            >>> [(q.id, q.question) for q in asked.measured()]
            [('faults/rude', 'Which? Does this option apply: rude?')]
        """
        return tuple(
            replace(
                self,
                id=f"{self.id}/{option}",
                question=f"{self.question} Does this option apply: {option}?",
                options=(),
                multi_select=MultiSelect(self.id, self.question, option),
            )
            for option in self.options
        ) or (self,)

    @property
    def names(self) -> tuple[str, ...]:
        """Its id, and that of the multi-select question that it is an option of."""
        return (self.id, self.multi_select.id) if self.multi_select else (self.id,)

    @property
    def displayed_text(self) -> str:
        """Question on the rater's screen, where all options are shown together."""
        return self.multi_select.question if self.multi_select else self.question

    @property
    def has_order(self) -> bool:
        """Return whether the values have an order; of two classes one is 1."""
        return self.scale.has_order

    def applies(self, response: Mapping[str, object]) -> bool:
        """Return whether a response with these columns may be asked the question.

        Examples:
            >>> from eval_assets.scale import BINARY
            >>> asked = RubricQuestion("q", "Is it?", BINARY, "nominal", applies_to={"n": ("1",)})
            >>> asked.applies({"n": "1"}), asked.applies({"n": None}), asked.applies({})
            (True, False, False)
        """
        return all(response.get(column) in values for column, values in self.applies_to.items())


_FIRST = re.compile(r"\b(?:a|first|left|response_a)\b", re.IGNORECASE)
_SECOND = re.compile(r"\b(?:b|second|right|response_b)\b", re.IGNORECASE)
_TIE = re.compile(
    r"\b(?:tie|tied|draw|both|neither|equal|equally|same|none|no (?:difference|preference))\b",
    re.IGNORECASE,
)


def _leads_from_a_to_b(scale: Scale) -> bool:
    """Return whether the values can lead from the first response to the second one.

    Examples:
        >>> [_leads_from_a_to_b(Scale.from_words(*names)) for names in (
        ...     ("A is better", "tie", "B is better"),
        ...     ("A is better", "B is better", "tie"),
        ...     ("response_b", "response_a"),
        ... )]
        [True, False, False]
    """
    if scale.words is None:
        return scale.values is not None and not scale.is_binary
    first, last = scale.words[0], scale.words[-1]
    is_reversed = _SECOND.search(first) and not _FIRST.search(first)
    return not (_TIE.search(first) or _TIE.search(last) or is_reversed)
