"""Labels of the responses that several raters have rated, as arrays."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.causes import RatedResponses
from eval_assets.agreement.pooled_alpha import alpha_of_labels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion

if TYPE_CHECKING:
    from eval_assets.scale import Level

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST_UNITS = 10
"""Units of a part whose alpha is reported."""

_MOST_UNITS = 3_000
_N_SWEEPS = 20


@dataclass(frozen=True, eq=False)
class ComparedLabels:
    """Labels of the units that have at least two, in order of unit.

    Args:
        unit: Index of the unit, from 0.
        rater: Index of the rater.
        value: One column, on [0, 1]; of unordered classes a column each, 1 for the class.
        position: Position in the work of the rater, from 0 to 1; NaN if unknown.
        stored: Index of each unit among the stored responses.
    """

    unit: Integers
    rater: Integers
    value: Floats
    position: Floats
    stored: Integers

    def sums(self, value: Floats) -> Floats:
        """Return the sum of the values of each unit."""
        return np.stack([np.bincount(self.unit, column) for column in value.T], axis=1)

    def distance(self, value: Floats) -> Floats:
        """Return the mean squared distance of each label from the others of its unit."""
        n = np.bincount(self.unit)[self.unit]
        square = (value**2).sum(axis=1)
        total = self.sums(value)[self.unit]
        pairs = (
            n * square - 2 * (value * total).sum(axis=1) + np.bincount(self.unit, square)[self.unit]
        )
        distance: Floats = pairs / (n - 1)
        return distance

    def residual(self, value: Floats) -> Floats:
        """Return the difference of each label from the mean of its unit; of one column."""
        mean = self.sums(value) / np.bincount(self.unit)[:, None]
        difference: Floats = (value - mean[self.unit])[:, 0]
        return difference

    def disagreement(self) -> Floats:
        """Return the mean squared distance of the pairs of each unit."""
        total = np.bincount(self.unit, self.distance(self.value))
        mean: Floats = total / np.bincount(self.unit)
        return mean

    def by_rater(self, values: Floats) -> Floats:
        """Return the mean of each rater."""
        n = np.bincount(self.rater)
        total = np.bincount(self.rater, values)
        means: Floats = np.divide(total, n, out=np.zeros(len(n)), where=n > 0)
        return means

    def alpha(self, value: Floats | None = None, *, kept: NDArray[np.bool_] | None = None) -> float:
        """Return alpha of the labels or of other values, of all labels or those kept.

        It is NaN on fewer than ten units.
        """
        return self._alpha(self.unit, value, kept)

    def alpha_within(self, camp: Integers) -> float:
        """Return alpha if only raters of one camp are compared."""
        return self._alpha(self.unit * (camp.max() + 1) + camp[self.rater], None, None)

    def _alpha(self, unit: Integers, value: Floats | None, kept: NDArray[np.bool_] | None) -> float:
        value = self.value if value is None else value
        rows = np.flatnonzero(np.bincount(unit)[unit] > 0 if kept is None else kept)
        if (np.bincount(unit[rows]) > 1).sum() < FEWEST_UNITS:
            return math.nan
        is_code = value.shape[1] > 1
        code = value.argmax(axis=1).astype(np.float64) if is_code else value[:, 0]
        level: Level = "nominal" if is_code else "interval"
        return alpha_of_labels(unit[rows], self.rater[rows], code[rows], level=level)


def compared_labels(responses: RatedResponses, question: RubricQuestion) -> ComparedLabels:
    """Return the labels of responses with at least two, of at most 3,000 drawn by a fixed seed."""
    ratings = responses.ratings
    stored = compared_units(ratings)
    place = np.full(ratings.n_responses, -1)
    place[stored] = np.arange(len(stored))
    kept = place[ratings.unit] >= 0
    on_unit = question.scale.to_unit(ratings.value[kept])
    value = on_unit[:, None]
    if not question.has_order:
        value = (on_unit[:, None] == np.unique(on_unit)).astype(float)
    return ComparedLabels(
        place[ratings.unit[kept]], ratings.rater[kept], value, responses.positions[kept], stored
    )


def compared_units(ratings: LongRatings) -> Integers:
    """Return the indices of the responses that are compared, ascending."""
    stored = np.flatnonzero(np.bincount(ratings.unit, minlength=ratings.n_responses) > 1)
    if len(stored) > _MOST_UNITS:
        stored = np.sort(np.random.default_rng(0).choice(stored, _MOST_UNITS, replace=False))
    return stored


def rater_offsets(labels: ComparedLabels) -> Floats:
    """Return how much higher each rater rates, by least squares of raters and units."""
    value = labels.value[:, 0]
    offset = np.zeros(int(labels.rater.max()) + 1)
    n = np.bincount(labels.unit)
    for _ in range(_N_SWEEPS):
        mean = np.bincount(labels.unit, value - offset[labels.rater]) / n
        offset = labels.by_rater(value - mean[labels.unit])
    result: Floats = offset - np.average(offset, weights=np.bincount(labels.rater))
    return result


def disagreement_within(labels: ComparedLabels, camp: Integers) -> Floats:
    """Return the mean squared distance of pairs of one camp, by unit."""
    unit = labels.unit * 3 + camp[labels.rater]
    n = np.bincount(unit, minlength=3 * len(labels.stored))
    square = np.bincount(unit, (labels.value**2).sum(axis=1), len(n))
    sums = np.stack([np.bincount(unit, column, len(n)) for column in labels.value.T], axis=1)
    within = (n * square - (sums**2).sum(axis=1)).reshape(-1, 3)
    pairs = (n * (n - 1) / 2).reshape(-1, 3)
    mean: Floats = within.sum(axis=1) / np.maximum(pairs.sum(axis=1), 1)
    return mean
