"""Declaration of the rubric: its questions and their scales."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from eval_assets.config.types import Name, Text, set_by_reader
from eval_assets.errors import Fault, raise_faults
from eval_assets.scale import Level, Scale


@dataclass(frozen=True)
class RubricQuestion:
    """One thing asked of a response.

    Args:
        id: Name of the question in every file and table.
        question: What raters and judges are asked.
        scale: Values a rating may take.
        level: Level of measurement of the scale.
        guidelines: What each value means, shown to raters and judges; may be empty.
        type: `rating` of a response, or `pairwise`: a comparison of `response_a` and `response_b`,
            columns of the responses. The scale then leads from the first to the second.
        applies_to: Values of columns of a response, all of which it needs to be asked the
            question; empty if every response is asked.
        scored_by: `judge`, or `function` if scores come from code: then no live judge is asked, and
            recorded scores are left out of agreement between judges.
        equivalent_versions: Earlier versions of the wording whose labels count with those of the
            present one, by number in `rubric_versions`.
        scale_guessed: Whether the scale was guessed from the labels, because none is declared.

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
    scored_by: Literal["judge", "function"] = "judge"
    equivalent_versions: tuple[int, ...] = ()
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
        if self.type == "pairwise" and self.scale.values is None:
            message = "a comparison has values, of which the last mirrors the first"
            faults.append(Fault(("scale",), message, "Name them, such as {values: [A, equal, B]}"))
        raise_faults(faults)
        classes = self.scale.values if self.level == "nominal" else None
        has_order = classes is None or len(classes) <= 2  # noqa: PLR2004 - of two one is 1
        object.__setattr__(self, "scale", replace(self.scale, has_order=has_order))

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
