"""Labels as files give them: the one shape that every form of label file is turned into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eval_assets.problems import InputProblem
from eval_assets.readers.named_units import NamedUnits

Texts = Sequence[str | None]


@dataclass(frozen=True)
class GivenLabels:
    """Labels of one file as they were given, not yet held against rubric and responses.

    Args:
        file: File, as messages name it.
        units: Response and question that each row names.
        rater_header: What the file calls a rater.
        time_header: What the file calls the time of a rating.
        lines: Place of each row in the file.
        raters: Rater; None where blank.
        ratings: Cell of the rating; None or blank where unrated.
        rating_headers: Column or key in which each rating stands.
        labelled_at: When the rating was given, as written.
        confidence: How sure the rater was.
        notes: What the rater noted.
        skipped: Whether the rater skipped the unit, as written.
        skip_reason: Why.
        bad_rows: What was wrong with rows that could not be taken for labels.
    """

    file: str
    units: NamedUnits
    rater_header: str
    time_header: str | None
    lines: Sequence[int]
    raters: Texts
    ratings: Texts
    rating_headers: Sequence[str]
    labelled_at: Texts
    confidence: Texts
    notes: Texts
    skipped: Texts
    skip_reason: Texts
    bad_rows: tuple[InputProblem, ...]


class GivenLabel(NamedTuple):
    """One label of a form that nests them; the fields mean what they mean in GivenLabels."""

    line: int
    response: str | None
    question: str | None
    rater: str | None
    rating: str | None
    rating_header: str
    labelled_at: str | None = None
    confidence: str | None = None
    notes: str | None = None
    skipped: str | None = None
    skip_reason: str | None = None


class Headers(NamedTuple):
    """What a file calls the parts of a label."""

    response: str | None
    question: str
    rater: str
    time: str | None


def gathered(
    file: str, headers: Headers, labels: Sequence[GivenLabel], bad_rows: Sequence[InputProblem]
) -> GivenLabels:
    """Labels one by one as the columns of a file."""
    return GivenLabels(
        file=file,
        units=NamedUnits(
            responses=[label.response for label in labels],
            questions=[label.question for label in labels],
            response_header=headers.response,
            question_header=headers.question,
        ),
        rater_header=headers.rater,
        time_header=headers.time,
        lines=[label.line for label in labels],
        raters=[label.rater for label in labels],
        ratings=[label.rating for label in labels],
        rating_headers=[label.rating_header for label in labels],
        labelled_at=[label.labelled_at for label in labels],
        confidence=[label.confidence for label in labels],
        notes=[label.notes for label in labels],
        skipped=[label.skipped for label in labels],
        skip_reason=[label.skip_reason for label in labels],
        bad_rows=tuple(bad_rows),
    )
