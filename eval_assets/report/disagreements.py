"""Responses on which raters lie farthest apart."""

import json
from dataclasses import dataclass

from eval_assets.report.data import ReportData
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import counted, shortened

MOST_SHOWN = 20
_MOST_CHARACTERS = 220


@dataclass(frozen=True)
class Disagreement:
    """One unit and what its raters said.

    Args:
        response_id: The response.
        question_id: The question.
        model_name: Who responded; empty where unknown.
        ratings: Rater and rating, as written.
        spread: How far apart the ratings lie, in words.
        reason: Why it is listed.
        prompt_text: The whole prompt.
        response_text: The whole response.
    """

    response_id: str
    question_id: str
    model_name: str
    ratings: tuple[tuple[str, str], ...]
    spread: str
    reason: str
    prompt_text: str
    response_text: str

    @property
    def prompt_start(self) -> str:
        """How the prompt begins, on one line."""
        return shortened(self.prompt_text, most=_MOST_CHARACTERS)

    @property
    def response_start(self) -> str:
        """How the response begins, on one line."""
        return shortened(self.response_text, most=_MOST_CHARACTERS)

    @property
    def is_shortened(self) -> bool:
        """Whether the beginnings leave anything out."""
        return (self.prompt_start, self.response_start) != (self.prompt_text, self.response_text)


def worst_disagreements(data: ReportData) -> tuple[Disagreement, ...]:
    """The worst disagreements, worst first."""
    shown = data.label_disagreements.head(MOST_SHOWN)
    return tuple(_disagreement(row) for row in rows_of(shown))


def _disagreement(row: Row) -> Disagreement:
    return Disagreement(
        response_id=text(row, "response_id"),
        question_id=text(row, "question_id"),
        model_name=text(row, "model_name"),
        ratings=_ratings(text(row, "ratings")),
        spread=(
            f"{counted(count(row, 'n_ratings'), 'rating')}, "
            f"{number(row, 'range'):g} point{'' if number(row, 'range') == 1 else 's'} apart, "
            f"standard deviation {number(row, 'standard_deviation'):.2f}"
        ),
        reason=text(row, "reason"),
        prompt_text=text(row, "prompt_text"),
        response_text=text(row, "response_text"),
    )


def _ratings(stored: str) -> tuple[tuple[str, str], ...]:
    """Rater and rating of the stored JSON object."""
    ratings: dict[str, float] = json.loads(stored)
    return tuple((rater, f"{value:g}") for rater, value in ratings.items())
