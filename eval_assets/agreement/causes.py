"""Causes of disagreement between raters, with their wording and remedies."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.ratings import LongRatings
from eval_assets.wording import or_none

Floats = NDArray[np.float64]

NO_CAUSE = "no cause that was tested explains the disagreement"
"""Wording where no tested cause is reported, without capital and full stop."""


class CauseKind(StrEnum):
    """Kind of a cause."""

    sentence: str
    remedy: str

    RATER = (
        "rater",
        "{} rates unlike the others",
        "Rate examples together with this rater, or leave the ratings out.",
    )
    CAMPS = (
        "camps",
        "raters form two camps, {}",
        "Ask each camp what it looks for. Split the question if both are right.",
    )
    SCALE_USE = (
        "scale_use",
        "raters use the scale differently: {} than the others",
        "Give an example response for every value, and rate some of them together.",
    )
    PREFERENCE = (
        "preference",
        "{} than the others do",
        "Say in the guidelines whether that counts, with an example response.",
    )
    LEVELS = (
        "levels",
        "raters do not tell {} apart",
        "Define both values, each with an example response, or merge them.",
    )
    LENGTH = (
        "length",
        "raters disagree more on {}",
        "Say how the parts of a response count together, or split the question.",
    )
    MODEL = (
        "model",
        "raters disagree more on responses of {}",
        "Read these responses: the guidelines may not cover what is special about them.",
    )
    GROUP = (
        "group",
        "raters disagree more on {} than on others",
        "Read these prompts: the question may not fit them.",
    )
    COPIES = (
        "copies",
        "raters disagree more on {}",
        "Keep one response of each text, or have them rated side by side.",
    )
    FATIGUE = (
        "fatigue",
        "raters disagree more on {}",
        "Plan shorter sessions, and have the late labels given again.",
    )

    def __new__(cls, value: str, sentence: str, remedy: str) -> Self:
        """Return the kind with its wording."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.sentence = sentence
        kind.remedy = remedy
        return kind


@dataclass(frozen=True)
class Cause:
    """A tested cause of disagreement; a row of the table `disagreement_causes`.

    Args:
        subject: The rater, camps, levels or part of the responses that the test points to.
        alpha_fixed: Alpha without the cause, as its remedy assumes; NaN if undefined.
        is_reported: Whether it is more than chance, and alpha without it would gain at least 0.02
        or an unknown amount.
    """

    question_id: str
    kind: CauseKind
    subject: str
    p_value: float
    adjusted_p: float
    alpha: float
    alpha_fixed: float
    is_reported: bool
    examples: list[str]

    @property
    def gain(self) -> float:
        """Return the gain in alpha without the cause."""
        return self.alpha_fixed - self.alpha

    def to_json(self) -> dict[str, object]:
        """Return the columns; undefined is null."""
        undefined = {"alpha": or_none(self.alpha), "alpha_fixed": or_none(self.alpha_fixed)}
        return asdict(self) | undefined

    def __str__(self) -> str:
        return self.kind.sentence.format(self.subject)


@dataclass(frozen=True, eq=False)
class RatedResponses:
    """Ratings of one question with the features of its responses.

    Args:
        positions: Position of each label in the work of its rater, from 0 to 1, NaN if unknown.
        texts: Number of the text of each response, as `text_codes` returns it; nearly identical
            texts share theirs.
    """

    ratings: LongRatings
    response_ids: NDArray[np.object_]
    lengths: Floats
    models: NDArray[np.object_]
    positions: Floats
    texts: NDArray[np.int64]


def names_of_others(causes: Sequence[Cause]) -> list[str]:
    """Return the tested kinds of cause without a reported cause."""
    reported = {cause.kind for cause in causes if cause.is_reported}
    kinds = dict.fromkeys(cause.kind for cause in causes if cause.kind not in reported)
    return [kind.value.replace("_", " ") for kind in kinds]
