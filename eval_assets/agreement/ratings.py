"""Stored ratings as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from eval_assets.stats import RatingPatterns

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Row = dict[str, object]
"""A row of a table, by column."""


@dataclass(frozen=True)
class LongRatings:
    """Ratings of one question, one element a rating, in order of unit and rater.

    Args:
        unit: Index of the response among all stored ones, sorted by id; ascending.
        rater: Index into `rater_ids`.
        rater_ids: All raters of this kind, sorted: the same for every question.
        group: Response group of each stored response, rated or not, numbered from 0; the responses
            of one group are not independent.
    """

    unit: Integers
    rater: Integers
    value: Floats
    rater_ids: tuple[str, ...]
    group: Integers

    @property
    def n_responses(self) -> int:
        """Stored responses, rated or not."""
        return len(self.group)

    @property
    def is_grouped(self) -> bool:
        """Return whether any group has more than one response."""
        return bool((np.bincount(self.group) > 1).any())

    def patterns(self) -> RatingPatterns:
        """Return the patterns of the ratings, with the response groups."""
        from eval_assets.stats import RatingPatterns

        groups = self.group if self.is_grouped else None
        return RatingPatterns.from_ratings(
            self.unit, self.value, n_units=self.n_responses, groups=groups
        )

    def matrix(self) -> Floats:
        """Return the ratings as (n_responses, n_raters), NaN if a rating is missing."""
        ratings = np.full((self.n_responses, len(self.rater_ids)), np.nan)
        ratings[self.unit, self.rater] = self.value
        return ratings

    def means(self) -> Floats:
        """Return the mean rating of each stored response, NaN if it has none."""
        n = np.bincount(self.unit, minlength=self.n_responses)
        total = np.bincount(self.unit, self.value, self.n_responses)
        means: Floats = np.divide(total, n, out=np.full(self.n_responses, np.nan), where=n > 0)
        return means

    @property
    def raters(self) -> list[str]:
        """Return the raters who rated this question, sorted."""
        return [self.rater_ids[index] for index in np.flatnonzero(np.bincount(self.rater))]

    def shared(self) -> LongRatings:
        """Return the ratings of responses with two of them."""
        return self.where((np.bincount(self.unit, minlength=self.n_responses) > 1)[self.unit])

    def where(self, is_kept: NDArray[np.bool_]) -> LongRatings:
        """Return some of the ratings, of the same responses and raters."""
        return replace(
            self,
            unit=self.unit[is_kept],
            rater=self.rater[is_kept],
            value=self.value[is_kept],
        )


@dataclass(frozen=True)
class HumanRatings:
    """Human ratings by question, with counts.

    Args:
        n_skipped: Units that raters skipped.
        n_disagreements: Responses listed in `label_disagreements`.
        first_round_only: Questions of which a later round relabelled the disagreements: the ratings
            are those of each response's first round.
    """

    ratings: Mapping[str, LongRatings]
    n_skipped: Mapping[str, int]
    n_disagreements: Mapping[str, int]
    data_version: str
    first_round_only: frozenset[str] = frozenset()


@dataclass(frozen=True)
class JudgeRatings:
    """Judges' scores by question.

    Args:
        scores: Scores with status `ok`, by question.
        prompts: Number of the prompt of each unit index, from 0.
    """

    scores: Mapping[str, LongRatings]
    response_ids: NDArray[np.object_]
    prompts: NDArray[np.int64]
    judge_set_fingerprint: str
    data_version: str


@dataclass(frozen=True, eq=False)
class JudgedUnits:
    """Every unit that judges are asked about, with their scores.

    Args:
        units: prompt_id, query, response_id, question_id, scale_min, scale_max; the units of one
            question and prompt stand together.
        scores: Each judge's scores of these units in scale points, NaN if there is none; judges
            as declared.
    """

    units: pd.DataFrame
    scores: Mapping[str, Floats]
    models: Mapping[str, str | None]
    fingerprints: Mapping[str, str]
