"""The rubric: what is asked of a response, and on which scale it is answered."""

from dataclasses import dataclass, field

from eval_assets.declared import Name, Text, set_by_reader
from eval_assets.problems import Fault, raise_faults
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
        scale_guessed: Whether the scale was guessed from the labels, because none is declared.

    Raises:
        DeclarationError: If the scale cannot have that level.
    """

    id: Name
    question: Text
    scale: Scale
    level: Level
    guidelines: str = ""
    scale_guessed: bool = field(default=False, metadata=set_by_reader("scale_guessed"))

    def __post_init__(self) -> None:
        faults = []
        if self.level == "nominal" and self.scale.values is None:
            what = "a continuous scale has no categories, which the nominal level counts"
            faults.append(Fault(("level",), what, "Use interval, or declare the values"))
        if self.level == "ratio" and self.scale.low < 0:
            what = f"a scale from {self.scale.low:g} does not start at zero, as a ratio scale must"
            faults.append(Fault(("level",), what, "Use interval"))
        raise_faults(faults)
