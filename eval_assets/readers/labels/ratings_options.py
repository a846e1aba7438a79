"""How a file of ratings is read, as far as its user says so."""

from dataclasses import dataclass

from eval_assets.scale import Level, Scale


@dataclass(frozen=True, kw_only=True)
class RatingsOptions:
    """Choices of the user; whatever is left out follows from the file.

    Args:
        scale: Scale of all questions.
        level: Level of measurement of all questions.
        raters: Raters, as headers name them.
    """

    scale: Scale | None = None
    level: Level | None = None
    raters: tuple[str, ...] = ()
