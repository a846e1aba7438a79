"""Rubric questions: what is asked of a response."""

from dataclasses import dataclass

from eval_assets.scale import Level, Scale


@dataclass(frozen=True)
class RubricQuestion:
    """One thing asked of a response.

    Args:
        id: Name of the question in every file and table.
        question: What raters and judges are asked.
        scale: Values a rating may take.
        level: Level of measurement of the scale.
        guidelines: What each value means, shown to raters and judges; empty where none are given.
        scale_guessed: Whether the scale was guessed from the labels, because none is declared.
    """

    id: str
    question: str
    scale: Scale
    level: Level
    guidelines: str = ""
    scale_guessed: bool = False
