"""Labels of responses with several raters, confused levels, and copied texts."""

import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.causes import RatedResponses
from eval_assets.agreement.pooled_coefficients import alpha_of_labels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion

if TYPE_CHECKING:
    from eval_assets.scale import Level

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST_UNITS = 10
"""Least number of units of a part whose alpha is reported."""

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
        unit_index: Index of each unit among the stored responses.
    """

    unit: Integers
    rater: Integers
    value: Floats
    position: Floats
    unit_index: Integers

    @cached_property
    def n_of_unit(self) -> Integers:
        """Number of labels of each unit."""
        return np.bincount(self.unit)

    @cached_property
    def n_of_rater(self) -> Integers:
        """Number of labels of each rater."""
        return np.bincount(self.rater)

    def sums(self, value: Floats) -> Floats:
        """Return the sum of the values of each unit."""
        return np.stack([np.bincount(self.unit, column) for column in value.T], axis=1)

    def distance(self, value: Floats) -> Floats:
        """Return the mean squared distance of each label from the others of its unit."""
        n = self.n_of_unit[self.unit]
        square = (value**2).sum(axis=1)
        total = self.sums(value)[self.unit]
        pairs = (
            n * square - 2 * (value * total).sum(axis=1) + np.bincount(self.unit, square)[self.unit]
        )
        distance: Floats = pairs / (n - 1)
        return distance

    def residual(self, value: Floats) -> Floats:
        """Return the difference of each label from the mean of its unit; of one column."""
        mean = self.sums(value) / self.n_of_unit[:, None]
        difference: Floats = (value - mean[self.unit])[:, 0]
        return difference

    def disagreement(self) -> Floats:
        """Return the mean squared distance of the pairs of each unit."""
        total = np.bincount(self.unit, self.distance(self.value))
        mean: Floats = total / self.n_of_unit
        return mean

    def by_rater(self, values: Floats) -> Floats:
        """Return the mean of each rater."""
        n = self.n_of_rater
        total = np.bincount(self.rater, values)
        means: Floats = np.divide(total, n, out=np.zeros(len(n)), where=n > 0)
        return means

    def alpha(
        self, value: Floats | None = None, *, is_kept: NDArray[np.bool_] | None = None
    ) -> float:
        """Return alpha of the labels or of other values, for all or some labels.

        It is NaN on fewer than ten units.
        """
        return self._alpha(self.unit, value, is_kept)

    def alpha_within(self, camp: Integers) -> float:
        """Return alpha if only raters of one camp are compared."""
        return self._alpha(self.unit * (camp.max() + 1) + camp[self.rater], None, None)

    def _alpha(
        self, unit: Integers, value: Floats | None, is_kept: NDArray[np.bool_] | None
    ) -> float:
        value = self.value if value is None else value
        rows = np.flatnonzero(np.bincount(unit)[unit] > 0 if is_kept is None else is_kept)
        if (np.bincount(unit[rows]) > 1).sum() < FEWEST_UNITS:
            return math.nan
        is_code = value.shape[1] > 1
        code = value.argmax(axis=1).astype(np.float64) if is_code else value[:, 0]
        level: Level = "nominal" if is_code else "interval"
        return alpha_of_labels(unit[rows], self.rater[rows], code[rows], level=level)


def compared_labels(responses: RatedResponses, question: RubricQuestion) -> ComparedLabels:
    """Return the labels of responses with at least two, of at most 3,000 drawn by a fixed seed."""
    ratings = responses.ratings
    units = compared_units(ratings)
    index = np.full(ratings.n_responses, -1)
    index[units] = np.arange(len(units))
    is_kept = index[ratings.unit] >= 0
    on_unit = question.scale.to_unit(ratings.value[is_kept])
    value = on_unit[:, None]
    if not question.has_order:
        value = (on_unit[:, None] == np.unique(on_unit)).astype(float)
    return ComparedLabels(
        index[ratings.unit[is_kept]],
        ratings.rater[is_kept],
        value,
        responses.positions[is_kept],
        units,
    )


def compared_units(ratings: LongRatings) -> Integers:
    """Return the indices of the responses that are compared, ascending."""
    units = np.flatnonzero(np.bincount(ratings.unit, minlength=ratings.n_responses) > 1)
    if len(units) > _MOST_UNITS:
        units = np.sort(np.random.default_rng(0).choice(units, _MOST_UNITS, replace=False))
    return units


def rater_offsets(labels: ComparedLabels) -> Floats:
    """Return the severity of each rater, by least squares of raters and units."""
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
    n = np.bincount(unit, minlength=3 * len(labels.unit_index))
    square = np.bincount(unit, (labels.value**2).sum(axis=1), len(n))
    sums = np.stack([np.bincount(unit, column, len(n)) for column in labels.value.T], axis=1)
    within = (n * square - (sums**2).sum(axis=1)).reshape(-1, 3)
    pairs = (n * (n - 1) / 2).reshape(-1, 3)
    mean: Floats = within.sum(axis=1) / np.maximum(pairs.sum(axis=1), 1)
    return mean


LEAST_SHARED = 0.7
"""Share of their sequences of three words that nearly identical texts have in common (a choice)."""

_N_WORDS = 3
_N_BINS = 32
_LEAST_ESTIMATED = 0.45
"""Estimated share from which on the exact one is computed: 2.5 standard errors of 32 bins less."""


def text_codes(texts: Sequence[str]) -> Integers:
    """Return a number for each text, the same for texts that are nearly identical.

    Texts are nearly identical if they have the same words and signs in the same order, or share
    70 % of their sequences of three of them (Jaccard index), and so are texts that a third one
    connects. Pairs are chosen by one-permutation hashing and then compared exactly.

    A text without a word or sign is identical to no other.

    References:
        Broder (1997), doi:10.1109/SEQUEN.1997.666900; Li, Owen and Zhang (2012), One permutation
        hashing, NeurIPS 25.

    Examples:
        >>> text_codes(["Open the valve.", "open  the valve.", "Close the valve.", ""]).tolist()
        [0, 0, 1, 2]
    """
    return _text_codes(tuple(texts)).copy()


@lru_cache(maxsize=1)
def _text_codes(texts: tuple[str, ...]) -> Integers:
    """Successive questions are about the same responses."""
    words = [re.findall(r"\w+|[^\w\s]", text.casefold()) for text in texts]
    code = _same_words([" ".join(of_text) for of_text in words])
    _, first = np.unique(code, return_index=True)
    shingles = [_shingles(words[index]) for index in first]
    signature = np.stack([_signature(of_text) for of_text in shingles] or [np.empty(0, np.int64)])
    parent = np.arange(len(first))
    for index, row in enumerate(signature):
        is_either = (row > 0) | (signature[:index] > 0)
        is_same = (row == signature[:index]) & is_either
        share = is_same.sum(axis=1) / np.maximum(is_either.sum(axis=1), 1)
        for match in np.flatnonzero(share >= _LEAST_ESTIMATED):
            n_shared = len(np.intersect1d(shingles[index], shingles[match], assume_unique=True))
            n_all = len(shingles[index]) + len(shingles[match]) - n_shared
            if n_shared >= LEAST_SHARED * n_all:
                parent[parent == parent[index]] = parent[match]
    numbers: Integers = np.unique(parent, return_inverse=True)[1][code]
    return numbers


def _same_words(texts: Sequence[str]) -> Integers:
    """Return a number for each text, in order of appearance; an empty text has its own."""
    numbers: dict[object, int] = {}
    codes = [numbers.setdefault(text or index, len(numbers)) for index, text in enumerate(texts)]
    return np.array(codes, dtype=np.int64)


def _shingles(words: Sequence[str]) -> Integers:
    """Return the hashes of the sequences of three words; of fewer words there are none."""
    sequences = zip(*(words[start:] for start in range(_N_WORDS)), strict=False)
    return np.unique([zlib.crc32(" ".join(sequence).encode()) for sequence in sequences])


def _signature(shingles: Integers) -> Integers:
    """Return the smallest hash of each bin, plus one; 0 for a bin without any."""
    signature = np.zeros(_N_BINS, np.int64)
    descending = shingles[::-1].astype(np.int64)
    signature[descending % _N_BINS] = descending + 1  # the last one assigned is the smallest
    return signature


_N_DRAWS = 999
_FEWEST_LABELS = 10
"""Least number of labels at each of two compared levels."""

_FEWEST_LEVELS, _MOST_LEVELS = 3, 11
_N_HALVINGS = 30
_N_NODES = 61


@dataclass(frozen=True)
class ConfusedLevels:
    """The most confused pair of adjacent levels, compared with the other pairs.

    Args:
        p_value: Share of draws without confusion in which some pair is told apart as badly.
    """

    lower: int
    p_value: float


def confused_levels(
    unit: Integers, code: Integers, level: Floats, *, alpha: float, rng: np.random.Generator
) -> ConfusedLevels | None:
    """Return the pair of levels that raters confuse most; None with too few levels or labels.

    The null model has a normal impression of each response, which raters share with an error, cut
    at the shares of the levels and with the same alpha.

    Units are numbered from 0, and each has at least two labels; `alpha` is at the interval level.
    """
    if not _FEWEST_LEVELS <= len(level) <= _MOST_LEVELS:
        return None
    share = np.bincount(code) / len(code)
    is_tested = np.minimum(share[:-1], share[1:]) * len(code) >= _FEWEST_LABELS
    if is_tested.sum() <= 1:
        return None
    # Confusion lowers alpha, to which the model is fitted: compare with the other levels.
    observed = _contrast(_log_odds(unit, code, len(level)), is_tested)
    draws = np.stack(list(_normal_draws(unit, level, share, alpha, rng)))
    drawn = _contrast(draws, is_tested)
    mean, spread = drawn.mean(axis=0), drawn.std(axis=0)
    score = np.where(is_tested, (observed - mean) / spread, np.inf)
    lowest = np.where(is_tested, (drawn - mean) / spread, np.inf).min(axis=1)
    lower = int(np.argmin(score))
    n_as_low = int((lowest <= score[lower]).sum())
    return ConfusedLevels(lower, (1 + n_as_low) / (1 + len(lowest)))


def _normal_draws(
    unit: Integers, level: Floats, share: Floats, alpha: float, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield log odds of adjacent levels under a normal model with the same alpha."""
    cuts = _normal_quantiles(np.cumsum(share)[:-1])
    shared = _correlation(alpha, level, cuts)
    n_units = int(unit.max()) + 1
    for _ in range(_N_DRAWS):
        latent = math.sqrt(shared) * rng.normal(size=n_units)[unit]
        latent += math.sqrt(1 - shared) * rng.normal(size=len(unit))
        code = (latent > cuts[:, None]).sum(axis=0)  # as `searchsorted`, in a third of the time
        yield _log_odds(unit, code, len(level))


def _log_odds(unit: Integers, code: Integers, n_levels: int) -> Floats:
    """Return how well raters tell each level from the next, as log odds of agreement."""
    n_units = int(unit.max()) + 1
    counts = np.bincount(unit * n_levels + code, minlength=n_units * n_levels).astype(np.float64)
    counts = counts.reshape(n_units, n_levels)
    weight = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weight[:, None]).T @ counts
    same_level = np.diag(pairs) - weight @ counts
    next_level = np.diag(pairs, 1)
    odds: Floats = np.log(
        (same_level[:-1] + 0.5) * (same_level[1:] + 0.5) / (next_level + 0.5) ** 2
    )
    return odds


def _contrast(odds: Floats, is_tested: NDArray[np.bool_]) -> Floats:
    """Return the difference of each pair of levels from the mean of the other pairs."""
    tested_odds = np.where(is_tested, odds, 0.0)
    mean_odds = (tested_odds.sum(axis=-1, keepdims=True) - tested_odds) / (is_tested.sum() - 1)
    difference: Floats = tested_odds - mean_odds
    return difference


def _correlation(alpha: float, level: Floats, cuts: Floats) -> float:
    """Return the correlation of two raters' normal impressions that results in an alpha."""
    low, high = 0.0, 0.999
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _normal_alpha(middle, level, cuts) < alpha else (low, middle)
    return (low + high) / 2


def _normal_alpha(correlation: float, level: Floats, cuts: Floats) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
    weights = weights / weights.sum()
    limit = (cuts[:, None] - math.sqrt(correlation) * nodes) / math.sqrt(1 - correlation)
    below = np.vstack([np.zeros(len(nodes)), _normal_cdf(limit), np.ones(len(nodes))])
    chance = np.diff(below, axis=0)
    mean = level @ chance
    square = level**2 @ chance
    within = weights @ (square - mean**2)
    total = weights @ square - (weights @ mean) ** 2
    return float(1 - within / total)


_normal_cdf = np.vectorize(NormalDist().cdf, otypes=[float])
_normal_quantiles = np.vectorize(NormalDist().inv_cdf, otypes=[float])
