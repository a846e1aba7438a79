"""Prompts for the models under test, in one turn or several."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Turn:
    """One thing said to a model.

    Args:
        index: Number of the turn, as the file gives it.
        attributes: What else the file says of it, such as its difficulty.
    """

    index: int
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Conversation:
    """Turns that follow each other: each is asked with the answers before it.

    Args:
        indicator_id: What the conversation is to show; None if the file does not say.
        turns: Its turns, in order; at least one.

    Raises:
        ValueError: If there is no turn, or the turns do not ascend.
    """

    indicator_id: str | None
    convo_id: str
    turns: tuple[Turn, ...]

    def __post_init__(self) -> None:
        indices = [turn.index for turn in self.turns]
        if not indices or sorted(set(indices)) != indices:
            raise ValueError(f"turns must ascend and be at least one, got {indices}")
