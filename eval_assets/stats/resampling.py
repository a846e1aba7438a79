"""Which units a resample holds: as weights on distinct patterns instead of copies of rows.

The bootstrap draws units with replacement; how often each pattern is then seen is a multinomial
count. The jackknife leaves out one unit of each pattern in turn, counted as often as units show it.
Both give rows of weights for the same estimators, so nothing is approximated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from eval_assets.stats.coefficients import Alpha, Coefficient, Estimator
from eval_assets.stats.patterns import Floats, Integers, RatingPatterns

BLOCK_WEIGHTS = 1 << 16
"""Weights held at once while estimators run through resamples: half a megabyte, which stays in the
processor's cache and is not handed back to the system each time."""

MAX_DELETIONS = 2_000
"""With more distinct patterns the jackknife leaves out groups of units instead, this many."""

MAX_JACKKNIFE_WORK = 5_000_000
"""Entries x deletions, which lowers their number (to 20 at least) where patterns are many."""


@dataclass(frozen=True, eq=False)
class ResampledUnits:
    """What is drawn and left out: units, grouped by pattern.

    Attributes:
        n_units: How many units show each pattern, shape (n_patterns,).
        strata: Pattern indices of each part that keeps its size in every resample.
        n_pairable: Units that can agree or disagree.
        n_entries: Numbers an estimator visits for one set of weights.
    """

    n_units: Integers
    strata: tuple[Integers, ...]
    n_pairable: int
    n_entries: int

    @classmethod
    def alike(cls, n_units: Integers, *, n_entries: int) -> Self:
        """Units that can all be exchanged for one another."""
        strata = (np.arange(len(n_units)),)
        return cls(n_units, strata, n_pairable=int(n_units.sum()), n_entries=n_entries)

    @classmethod
    def of(cls, patterns: RatingPatterns, coefficients: Sequence[Coefficient]) -> Self:
        """Units with two ratings, and beside them those with one, which only show categories."""
        parts = np.flatnonzero(patterns.is_pairable), np.flatnonzero(~patterns.is_pairable)
        n_entries = len(patterns.code)
        if Alpha("ratio") in coefficients:  # compares all values; 32 in the time of a look-up
            n_entries = max(n_entries, len(patterns.values) ** 2 // 32)
        n_pairable = int(patterns.n_units[parts[0]].sum())
        return cls(patterns.n_units, parts, n_pairable, n_entries)

    def bootstrap(
        self, estimators: Sequence[Estimator], *, n_resamples: int, rng: np.random.Generator
    ) -> Floats:
        """Estimates on `n_resamples` draws of units with replacement, the same for all estimators.

        Returns:
            Shape (n_estimators, n_resamples).
        """
        return _evaluated(estimators, self._drawn(n_resamples, rng))

    def jackknife(self, estimators: Sequence[Estimator]) -> "list[Deletions]":
        """Estimates with one unit, or one group of units, left out, for each stratum."""
        return [self._deleted(estimators, stratum) for stratum in self.strata if len(stratum)]

    def _drawn(self, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
        n_rows = max(1, BLOCK_WEIGHTS // max(1, self.n_entries))
        for start in range(0, n_resamples, n_rows):
            size = min(n_rows, n_resamples - start)
            weights = np.zeros((size, len(self.n_units)))
            for stratum in self.strata:
                weights[:, stratum] = _drawn_counts(self.n_units[stratum], size, rng)
            yield weights

    def _deleted(self, estimators: Sequence[Estimator], stratum: Integers) -> "Deletions":
        n_deletions = int(np.clip(MAX_JACKKNIFE_WORK // max(1, self.n_entries), 20, MAX_DELETIONS))
        if len(stratum) <= n_deletions:
            return Deletions(
                _evaluated(estimators, self._without_one(stratum)), self.n_units[stratum]
            )
        groups = self._without_group(stratum, n_deletions)
        return Deletions(_evaluated(estimators, groups), np.ones(n_deletions, np.int64))

    def _without_one(self, stratum: Integers) -> Iterator[Floats]:
        n_rows = max(1, BLOCK_WEIGHTS // max(1, self.n_entries))
        for start in range(0, len(stratum), n_rows):
            left_out = stratum[start : start + n_rows]
            weights = np.tile(self.n_units.astype(np.float64), (len(left_out), 1))
            weights[np.arange(len(left_out)), left_out] -= 1
            yield weights

    def _without_group(self, stratum: Integers, n_groups: int) -> Iterator[Floats]:
        units = np.repeat(stratum, self.n_units[stratum])
        shuffled = np.random.default_rng(0).permutation(units)  # any fixed order that is no order
        for group in np.array_split(shuffled, n_groups):
            left_out = np.bincount(group, minlength=len(self.n_units))
            yield (self.n_units - left_out)[np.newaxis].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Deletions:
    """Estimates with units left out.

    Attributes:
        values: Shape (n_estimators, n_deletions).
        multiplicity: How many deletions give the same values, shape (n_deletions,).
    """

    values: Floats
    multiplicity: Integers


def _drawn_counts(n_units: Integers, size: int, rng: np.random.Generator) -> Integers:
    """How often each pattern is drawn, shape (size, n_patterns); each row sums to the units."""
    total, n_patterns = int(n_units.sum()), len(n_units)
    if total > 4 * n_patterns:
        return rng.multinomial(total, n_units / total, size=size)
    if not total:
        return np.zeros((size, n_patterns), np.int64)
    # almost every unit has a pattern of its own: cheaper to draw the units one by one
    drawn = np.repeat(np.arange(n_patterns), n_units)[rng.integers(total, size=(size, total))]
    drawn += n_patterns * np.arange(size)[:, np.newaxis]
    return np.bincount(drawn.ravel(), minlength=size * n_patterns).reshape(size, n_patterns)


def _evaluated(estimators: Sequence[Estimator], blocks: Iterator[Floats]) -> Floats:
    """Estimates of all sets of weights, shape (n_estimators, n_sets)."""
    parts = [np.stack([estimator(weights) for estimator in estimators]) for weights in blocks]
    return np.concatenate(parts, axis=1) if parts else np.empty((len(estimators), 0))
