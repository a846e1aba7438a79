"""Units counted by kind and by response group.

Units of one kind are alike to every estimator, so estimates are functions of how many units are of
each kind. Responses to one prompt share its difficulty and are not independent, so the jackknife
leaves out one response group at a time: all its units at once. Without groups each unit is its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

import numpy as np

from eval_assets.stats._numbers import (
    Floats,
    Indices,
    Integers,
    Mask,
    distinct_integers,
    row_blocks,
    run_starts,
)

Estimator: TypeAlias = Callable[[Floats], Floats]
"""Weights of shape (n_sets, n_kinds) -> values of shape (n_sets,), NaN if undefined."""

BLOCK_WEIGHTS = 1 << 16
"""Weights held at once while estimators run through deletions: half a megabyte, which stays in the
processor's cache and is not handed back to the system each time."""

_COUNTED_AT_ONCE = 1 << 23
"""Weights that are counted in one pass over the units."""

MAX_DELETIONS = 2_000
"""Groups that are left out one by one; if there are more, several are left out at a time."""

MAX_JACKKNIFE_WORK = 5_000_000
"""Numbers visited x deletions, which lowers their number if an estimate visits many."""

FEWEST_DELETIONS = 25
"""Blocks of groups that are left out at the least, for a standard error to rest on."""


@dataclass(frozen=True, eq=False)
class Units:
    """Number of units of each kind, overall and in each group.

    Attributes:
        n_units: Units of each kind, shape (n_kinds,).
        group: Group of each cell, from 0 on, shape (n_cells,); None if each unit is its own group.
        kind: Kind of each cell.
        count: Units of that kind in that group.
    """

    n_units: Integers
    group: Indices | None
    kind: Indices
    count: Indices

    @classmethod
    def of(cls, kind: Indices, *, n_kinds: int, groups: Indices | None) -> Self:
        """Return the counts of units of given kinds and groups; a negative kind is left out."""
        mask = kind >= 0
        if groups is None:
            n_units = np.bincount(kind[mask], minlength=n_kinds)
            return cls(n_units, None, np.arange(n_kinds), n_units)
        cells = groups[mask].astype(np.int64)  # of all units, so what follows is done in place
        cells *= n_kinds
        cells += kind[mask]
        cells.sort()
        first = run_starts(cells)
        count = np.diff(first, append=len(cells)).astype(np.int32)
        group, kind = (part.astype(np.int32) for part in np.divmod(cells[first], n_kinds))
        return cls.of_cells(group, kind, count, n_kinds=n_kinds)

    @classmethod
    def of_cells(
        cls, group: Indices | None, kind: Indices, count: Indices, *, n_kinds: int
    ) -> Self:
        """Return the counts of cells: of units of one kind and, with groups, of one group."""
        n_units = np.bincount(kind, count, n_kinds).astype(np.int64)
        if group is None:
            return cls(n_units, None, np.arange(n_kinds), n_units)
        codes = distinct_integers(group)[1].astype(np.int32)
        if count.max(initial=0) == 1 and len(codes) == codes.max(initial=-1) + 1:
            return cls(n_units, None, np.arange(n_kinds), n_units)  # each unit is its own group
        return cls(n_units, codes, kind, count)

    def evidence(self, is_evidence: Mask) -> tuple[int, int]:
        """Return the number of units of the kinds in the mask, and of their groups."""
        n_units = int(self.n_units @ is_evidence)
        if self.group is None:
            return n_units, n_units
        return n_units, int(np.count_nonzero(np.bincount(self.group[is_evidence[self.kind]])))

    @property
    def has_mixed_groups(self) -> bool:
        """Return whether some group holds units of two kinds; equal units count as one."""
        return self.group is not None and len(self.group) > int(self.group.max(initial=-1)) + 1

    def group_means(self, values: Floats) -> Floats:
        """Return the mean value over the units of each group, from the value of each kind."""
        if self.group is None:
            return np.repeat(values, self.n_units)
        n_units = np.bincount(self.group, self.count)
        return np.bincount(self.group, self.count * values[self.kind]) / n_units

    def observed(self) -> Floats:
        """Return the units as they are, as one set of weights of shape (1, n_kinds)."""
        return self.n_units[np.newaxis].astype(np.float64)

    def jackknife(self, estimators: Sequence[Estimator], *, cost: int) -> "Deletions":
        """Return the estimates with each group left out.

        Args:
            estimators: Functions of unit weights.
            cost: Numbers that one estimate reads, which limits the number of estimates.
        """
        most = int(np.clip(MAX_JACKKNIFE_WORK // max(1, cost), FEWEST_DELETIONS, MAX_DELETIONS))
        if self.group is None and len(self.n_units) <= most:
            kinds = np.flatnonzero(self.n_units)
            blocks, multiplicity = self._without_one_of(kinds), self.n_units[kinds]
        else:
            n_deletions, deletion, kind, count = self._left_out(most)
            blocks = self._without(n_deletions, deletion, kind, count)
            multiplicity = np.ones(n_deletions, np.int64)
        parts = [np.stack([estimator(weights) for estimator in estimators]) for weights in blocks]
        values = np.concatenate(parts, axis=1) if parts else np.empty((len(estimators), 0))
        return Deletions(values, multiplicity)

    def _left_out(self, most: int) -> tuple[int, Indices, Indices, Indices]:
        """Return deletions of single groups or, if they are too many, of blocks, as cells."""
        group, kind, count = self.group, self.kind, self.count
        if group is None:
            kind = np.repeat(np.arange(len(self.n_units), dtype=np.int32), self.n_units)
            group, count = np.arange(len(kind), dtype=np.int32), np.ones(len(kind), np.int8)
        block = blocks(group, most=most)
        return int(block.max(initial=-1)) + 1, block, kind, count

    def _without_one_of(self, kinds: Integers) -> Iterator[Floats]:
        n_kinds = len(self.n_units)
        for rows in row_blocks(len(kinds), n_columns=n_kinds, n_entries=BLOCK_WEIGHTS):
            deletions = kinds[rows]
            weights = np.tile(self.n_units.astype(np.float64), (len(deletions), 1))
            weights[np.arange(len(deletions)), deletions] -= 1
            yield weights

    def _without(
        self, n_deletions: int, deletion: Indices, kind: Indices, count: Indices
    ) -> Iterator[Floats]:
        n_kinds = len(self.n_units)
        for rows in row_blocks(n_deletions, n_columns=n_kinds, n_entries=_COUNTED_AT_ONCE):
            size = rows.stop - rows.start
            cells: Mask | slice = slice(None)
            if size < n_deletions:
                cells = (deletion >= rows.start) & (deletion < rows.stop)
            places = (deletion[cells] - rows.start) * n_kinds + kind[cells]
            missing = sums_by_code(places, count[cells], n_codes=size * n_kinds)
            missing = missing.reshape(size, n_kinds)
            for part in row_blocks(size, n_columns=n_kinds, n_entries=BLOCK_WEIGHTS):
                yield self.n_units - missing[part]


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums over units, for figures that are functions of sums alone; their kinds are the sums.

    Attributes:
        sums: Sums of each group, or each block of groups, shape (n_blocks, n_sums).
        n_units: Units behind the sums.
        n_groups: Groups that these belong to.
    """

    sums: Floats
    n_units: int
    n_groups: int

    def evidence(self, is_evidence: Mask) -> tuple[int, int]:
        """Return the numbers of units and groups, which are the same for all figures."""
        del is_evidence
        return self.n_units, self.n_groups

    @property
    def has_mixed_groups(self) -> bool:
        """Return whether some group holds two units, which may differ."""
        return self.n_units > self.n_groups

    def observed(self) -> Floats:
        """Return the sums over all units, shape (1, n_sums)."""
        total: Floats = self.sums.sum(axis=0)[np.newaxis]
        return total

    def jackknife(self, estimators: Sequence[Estimator], *, cost: int) -> "Deletions":
        """Return the estimates with each group, or block of groups, left out."""
        del cost
        rest = self.observed() - self.sums
        each_once = np.ones(len(rest), np.int64)
        return Deletions(np.stack([estimator(rest) for estimator in estimators]), each_once)


class Sample(Protocol):
    """Units of which groups can be left out: `Units` or `GroupSums`."""

    def evidence(self, is_evidence: Mask) -> tuple[int, int]:
        """Return the number of units and of groups behind a figure."""
        ...

    @property
    def has_mixed_groups(self) -> bool:
        """Return whether units of one group may differ."""
        ...

    def observed(self) -> Floats:
        """Return the weights of all units."""
        ...

    def jackknife(self, estimators: Sequence[Estimator], *, cost: int) -> "Deletions":
        """Return the estimates with each group left out."""
        ...


@dataclass(frozen=True, eq=False)
class Deletions:
    """Estimates with groups left out.

    Attributes:
        values: Shape (n_estimators, n_deletions).
        multiplicity: Number of deletions that give the same values, shape (n_deletions,).
    """

    values: Floats
    multiplicity: Integers

    @property
    def n_deletions(self) -> int:
        """Deletions, those with the same values counted apart."""
        return int(self.multiplicity.sum())

    def products(self, estimates: Floats) -> Floats:
        """Return the products of deviations, summed over deletions; NaN if one is undefined."""
        deviations = self.values - estimates[:, np.newaxis]
        return (deviations * self.multiplicity) @ deviations.T

    def fourth_powers(self, estimates: Floats) -> Floats:
        """Return the fourth powers of deviations, summed over deletions; NaN if undefined."""
        return (self.values - estimates[:, np.newaxis]) ** 4 @ self.multiplicity


def blocks(group: Indices, *, most: int) -> Indices:
    """Return the block that each group, numbered from 0 on, is left out with: at most so many."""
    n_groups = int(group.max(initial=-1)) + 1
    if n_groups <= most:
        return group
    # any fixed order that is unrelated to the data's
    return (np.random.default_rng(0).permutation(n_groups) % most).astype(np.int32)[group]


def weighted_sums(weights: Floats, features: Floats) -> Floats:
    """Return the sum of each feature over kinds of units, under each set of weights.

    The product `weights @ features.T` by einsum, which takes as long: for matrices of this size the
    BLAS behind `@` starts threads, and if other processes are busy these wait for each other
    a hundred times longer than the product takes.

    Args:
        weights: Weight of each kind, shape (n_sets, n_kinds).
        features: Shape (n_kinds,) or (n_features, n_kinds).

    Returns:
        Shape (n_sets,) or (n_sets, n_features).

    Examples:
        >>> weighted_sums(np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([3.0, 4.0])).tolist()
        [7.0, 6.0]
    """
    sums: Floats = np.einsum("ij,...j->i...", weights, features)
    return sums


def sums_by_code(codes: Indices, terms: Floats | Indices, *, n_codes: int) -> Floats:
    """Return the sum of the terms with each code from 0 on, shape (n_codes,)."""
    return np.bincount(codes, terms, n_codes).astype(np.float64)


def defined_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, NaN if the denominator is not above 0."""
    undefined = np.full(denominator.shape, np.nan)
    ratio: Floats = np.divide(numerator, denominator, out=undefined, where=denominator > 0)
    return ratio
