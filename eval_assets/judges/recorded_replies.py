"""Scores that recorded replies of judges state. Few files hold replies: parsing loads with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval_assets.scale import Scale


def score_of_reply(text: str, scale: Scale) -> float:
    """Return the score that a judge's reply states on a scale; NaN if it states none for certain.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> score_of_reply("It is short. Score: 4", LIKERT5)
        4.0
    """
    from eval_assets.judges.replies import parse_reply

    return parse_reply(text, scale).score


def number_in_reply(text: str, scale: Scale, question: str) -> float:
    """Return the number that a reply to a question states, which may lie off its scale, or NaN.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> number_in_reply("Tone: 9", LIKERT5, "tone")
        9.0
    """
    from eval_assets.judges.replies import parse_reply

    return parse_reply(text, scale, question).raw_score
