"""Units that a judge and human raters both rated: what each adds to the comparison."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level, Scale
from eval_assets.stats.coefficients import category_index, refuse_off_scale
from eval_assets.stats.patterns import Floats, Integers, RatingPatterns

DECIMALS = 12
"""Of positions on a scale taken to [0, 1]; beyond, means that are equal differ by float noise."""

NOISE = 1e-9
"""Steps by which a score may miss the distance it is at, as in the checks against the scale."""


@dataclass(frozen=True, eq=False)
class JudgedRatings:
    """A judge's scores and the human ratings of the same units.

    Attributes:
        scale: The declared scale.
        judge: The judge's score of each unit with a rating, shape (n_units,).
        human: The human ratings of each unit, one pattern per unit.
    """

    scale: Scale
    judge: Floats
    human: RatingPatterns

    @classmethod
    def of(
        cls, judge: npt.ArrayLike, unit: npt.ArrayLike, value: npt.ArrayLike, *, scale: Scale
    ) -> Self:
        """Of scores by unit and of single ratings; what lacks either is left out.

        Raises:
            ValueError: If the shapes do not fit, a unit has no place in `judge`, or a score or
                rating is off the scale.
        """
        scores = np.asarray(judge, dtype=np.float64)
        if scores.ndim != 1:
            raise ValueError(f"judge must have one score per unit, got {scores.shape}")
        units, human = RatingPatterns.by_unit(unit, value)
        if units.size and (units[0] < 0 or units[-1] >= len(scores)):
            raise ValueError(
                f"unit must be an index into the {len(scores)} judge scores, "
                f"got {units[0]} to {units[-1]}"
            )
        for given in (scores[~np.isnan(scores)], human.values):
            refuse_off_scale(given, low=scale.low, high=scale.high)
        if scale.values is not None:
            category_index(human.values, np.asarray(scale.values))
        judged = ~np.isnan(scores[units])
        rows = judged[human.pattern]
        return cls(
            scale,
            scores[units[judged]],
            RatingPatterns(
                human.values,
                human.n_units[judged],
                np.cumsum(judged)[human.pattern[rows]] - 1,
                human.code[rows],
                human.count[rows],
            ),
        )

    @property
    def human_positions(self) -> Floats:
        """Distinct ratings on [0, 1]."""
        return self._positions(self.human.values)

    @property
    def judge_positions(self) -> Floats:
        """The judge's scores on [0, 1]."""
        return self._positions(self.judge)

    def constant_agreement(self) -> float:
        """Largest A^HA of any one score: that of the median, each unit counting the same."""
        position, share = self.human_positions, self._human_shares()
        if not share.any():
            return float("nan")
        median = position[np.searchsorted(np.cumsum(share), 0.5)]
        return float(1 - share @ np.abs(position - median))

    def shuffled_agreement(self) -> float:
        """A^HA to expect if each unit were as likely to get any unit's score: 1 - E|human - judge|.

        The distance of two independent draws is the integral of F (1 - G) + G (1 - F) over their
        distribution functions.
        """
        n_units = len(self.judge)
        if not n_units:
            return float("nan")
        human = self._human_shares()
        positions = np.concatenate([self.human_positions, self.judge_positions])
        order = np.argsort(positions)
        f = np.cumsum(np.concatenate([human, np.zeros(n_units)])[order])[:-1]
        g = np.cumsum(np.repeat([0.0, 1 / n_units], [len(human), n_units])[order])[:-1]
        return float(1 - np.diff(positions[order]) @ (f * (1 - g) + g * (1 - f)))

    def _positions(self, values: Floats) -> Floats:
        return (values - self.scale.low) / (self.scale.high - self.scale.low)

    def _human_shares(self) -> Floats:
        """Share of each rating, the units counting the same whatever their number of ratings."""
        human = self.human
        weights = human.count / human.n_ratings[human.pattern] / max(1, len(self.judge))
        return np.bincount(human.code, weights, len(human.values)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class UnitKinds:
    """Distinct kinds of units; arrays of shape (n_kinds,).

    Attributes:
        n_units: How many units are of each kind.
        judge: The judge's score on [0, 1].
        mean_human: Mean of the human ratings on [0, 1].
        agreement: 1 - mean distance of the ratings from the judge's score on [0, 1].
        n_ratings: Human ratings.
        n_equal: Those equal to the judge's score.
        n_near: Those at most one step from it; on a continuous scale all.
        judge_code: Index of the declared value nearest to the judge's score, midway the lower; 0 on
            a continuous scale, as is the next.
        consensus_code: Index of the declared value that is the humans' consensus.
    """

    n_units: Integers
    judge: Floats
    mean_human: Floats
    agreement: Floats
    n_ratings: Floats
    n_equal: Floats
    n_near: Floats
    judge_code: Integers
    consensus_code: Integers

    @classmethod
    def of(cls, ratings: JudgedRatings, *, level: Level) -> Self:
        """The kinds that occur."""
        human, scale = ratings.human, ratings.scale
        judge, position = ratings.judge_positions, ratings.human_positions[human.code]
        far = np.abs(position - judge[human.pattern])
        ranks, judge_ranks = _ranks(human.values, scale), _ranks(ratings.judge, scale)
        steps = np.abs(ranks[human.code] - judge_ranks[human.pattern])
        units = np.column_stack(
            [
                np.round(judge, DECIMALS),
                np.round(human.sum_by_pattern(human.count * position) / human.n_ratings, DECIMALS),
                np.round(1 - human.sum_by_pattern(human.count * far) / human.n_ratings, DECIMALS),
                human.n_ratings,
                human.sum_by_pattern(human.count * (steps <= NOISE)),
                human.sum_by_pattern(human.count * (steps <= 1 + NOISE)),
                _nearest(ratings.judge, scale),
                _consensus(human, scale, level=level),
            ]
        )
        units = units[np.lexsort(units.T[::-1])]
        is_new = np.ones(len(units), np.bool_)
        is_new[1:] = (units[1:] != units[:-1]).any(axis=1)
        kinds = np.ascontiguousarray(units[is_new].T)
        return cls(
            n_units=np.diff(np.flatnonzero(is_new), append=len(units)),
            judge=kinds[0],
            mean_human=kinds[1],
            agreement=kinds[2],
            n_ratings=kinds[3],
            n_equal=kinds[4],
            n_near=kinds[5],
            judge_code=kinds[6].astype(np.int64),
            consensus_code=kinds[7].astype(np.int64),
        )


def _ranks(values: Floats, scale: Scale) -> Floats:
    """Places on the scale counted in steps; a score between two values is between their ranks."""
    if scale.values is None:
        return (values - scale.low) / (scale.high - scale.low)
    return np.interp(values, scale.values, np.arange(len(scale.values)))


def _nearest(scores: Floats, scale: Scale) -> Integers:
    """Index of the declared value nearest to each score, of two the lower."""
    if scale.values is None:
        return np.zeros(len(scores), np.int64)
    declared = np.asarray(scale.values)
    middles = (declared[1:] + declared[:-1]) / 2
    return np.searchsorted(middles + NOISE * np.diff(declared), scores)


def _consensus(human: RatingPatterns, scale: Scale, *, level: Level) -> Integers:
    """Index of the declared value that the raters of each unit settle on."""
    if scale.values is None:
        return np.zeros(len(human.n_units), np.int64)
    if level == "nominal":  # the most frequent; entries ascend, so the smallest of several
        entry = np.lexsort((-human.count, human.pattern))[human.starts]
    else:  # the lower median
        counted = np.cumsum(human.count)
        before = counted[human.starts] - human.count[human.starts]
        entry = np.searchsorted(counted, before + (human.n_ratings + 1) // 2)
    return category_index(human.values, np.asarray(scale.values))[human.code[entry]]
