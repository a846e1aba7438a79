"""How a file of ratings is read, as far as its user says so."""

from dataclasses import dataclass

from eval_assets.scale import Level, Scale


@dataclass(frozen=True, kw_only=True)
class RatingsOptions:
    """Choices of the user; whatever is left out follows from the file.

    Args:
        scale: Scale of all questions.
        level: Level of measurement of all questions.
        item: Column of the rated items.
        raters: Column of the raters, or columns of ratings by a rater each; also raters as headers
            that combine them with questions name them.
        ratings: Column of the ratings, or one for each question.
        question: Column of the questions.
        skip_rows: Rows above the header.
        missing_values: Words that mean no rating.
    """

    scale: Scale | None = None
    level: Level | None = None
    item: str | None = None
    raters: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    question: str | None = None
    skip_rows: int = 0
    missing_values: tuple[str, ...] = ()
