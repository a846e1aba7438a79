"""Ratings as files hold them: of people and of judges, with the place of every cell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.readers.importers.export_content import Export
from eval_assets.scale import Level, Scale

_PLACE = ("file", "sheet", "line", "column")

RATING_COLUMNS = ("item", "question", "rater", "value", "labelled_at", *_PLACE)
"""A rating by a person: `value` on the scale of the question."""

SCORE_COLUMNS = ("item", "question", "judge", "run", "value", *_PLACE)
"""A score by a judge: `run` is empty unless the judge rated an item several times."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What a person says about files of ratings; everything else is guessed.

    Args:
        item: Columns that name the rated item together.
        rater: Columns of raters' ratings, the column that names the rater, or values of it.
        judge: The same for judges, or files of theirs.
        rating: Columns of ratings.
        question: Column that names the question.
        only: Questions that are read; empty for all.
        model: Column of the system that made the item.
        group: Column of items that are not independent.
        run: Column that tells repetitions of a judge apart.
        ignore: Columns that are not read.
        scale: Scale of all ratings.
        level: Level of measurement.
        missing_values: Words that mean no rating.
        sheet: Name of the sheet of a workbook.
        skip_rows: Rows above the header.
    """

    item: tuple[str, ...] = ()
    rater: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    rating: tuple[str, ...] = ()
    question: str | None = None
    only: tuple[str, ...] = ()
    model: str | None = None
    group: str | None = None
    run: str | None = None
    ignore: tuple[str, ...] = ()
    scale: Scale | None = None
    level: Level | None = None
    missing_values: tuple[str, ...] = ()
    sheet: str | None = None
    skip_rows: int = 0

    def named(self, *roles: str) -> Iterator[tuple[str, str]]:
        """Yield each of some roles with each name that it is given."""
        for role in roles:
            names = getattr(self, role) or ()
            yield from ((role, name) for name in ((names,) if isinstance(names, str) else names))


@dataclass(frozen=True)
class Doubt:
    """A choice that a name or a default made, the option that reverses it, and the one for it.

    The option is empty if none reads the file in the other way.
    """

    columns: tuple[str, ...]
    choice: str
    option: str = ""
    confirmation: str = ""


@dataclass(frozen=True)
class Reason:
    """Why a column is not read.

    Args:
        text: The reason, as messages state it.
        is_told: Whether the screen names the column, as it may well hold ratings.
        is_attribute: Whether the column says something of the items, and is stored with them.
    """

    text: str
    is_told: bool = False
    is_attribute: bool = True

    @property
    def told(self) -> "Reason":
        """The same reason of a column that the screen names."""
        return replace(self, is_told=True)


@dataclass(frozen=True, kw_only=True)
class RatingTables:
    """What files of ratings say.

    Args:
        ratings: Ratings of people, in `RATING_COLUMNS`.
        scores: Scores of judges, in `SCORE_COLUMNS`.
        items: A row for each item: item, group, model, and what the files say of it.
        questions: Questions with their scales, declared or guessed.
        judge_scales: Scale of each judge that scores on another one than people.
        columns: Columns by role: item, rater, judge, rating, question, model, group, run.
        groups_by: Column by which items are grouped; empty if each item is a group.
        files: The files that were read.
        not_read: Reason why a column is not read, by `file:column`.
        notes: Remarks on the reading, such as replaced submissions.
        doubts: Choices that a name or a default made.
        alternatives: The tables with one choice reversed, for each doubt that may change a verdict.
        export: Export of another tool that holds them; None for a table.
    """

    ratings: pd.DataFrame
    scores: pd.DataFrame
    items: pd.DataFrame
    questions: tuple[RubricQuestion, ...]
    judge_scales: Mapping[str, Scale] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups_by: str = ""
    files: tuple[str, ...] = ()
    not_read: Mapping[str, Reason] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    alternatives: tuple[tuple[Doubt, "RatingTables"], ...] = ()
    export: Export | None = None
