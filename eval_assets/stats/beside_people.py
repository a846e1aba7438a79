"""Non-inferiority of a judge's agreement with humans to the agreement between humans.

The judge replaces a rater on all units, or on a part of them, with humans on the rest.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level
from eval_assets.stats._numbers import Floats, Indices, Mask, Ratings
from eval_assets.stats.pair_sums import (
    by_group,
    figure,
    figures_without_each,
    group_index,
    judged_ratings,
    rater_pair_sums,
    rating_entries,
)
from eval_assets.stats.resampling import Jackknife

PASS_SHARE, FAIL_SHARE = 1 / 5, 1 / 2
"""Of the two-sided level of an evaluation, how much the one-sided p-value of a judge that passes,
or fails, may have at most. The statistic is skewed to the side that passes: a fifth keeps false
passes to 5 % over five evaluations, in 62 simulated cells."""

FEWEST_PAIRED_GROUPS, FEWEST_VARIED_GROUPS = 24, 10
"""Groups that hold two ratings, and a rating other than the commonest, without which no judge
passes: with fewer, the ones that happen to lack the errors decide."""

_PERFECT = 1e-9
"""Disagreement below which its logarithm says nothing."""


@dataclass(frozen=True)
class NonInferiority:
    """A judge's agreement with humans and the agreement between humans.

    Attributes:
        people: The raters' figure with each other: concordance, or kappa at the nominal level.
        judge: The judge's figure with the raters, over the same ordered pairs.
        gap: Judge less humans: above 0 if the judge agrees better than a rater.
        shortfall: Test statistic of non-inferiority; if its interval lies above 0, the judge's
            figure is less than the margin below the humans', if it lies below 0, more.
        n_units: Units with a score and at least two ratings.
        margin: Largest shortfall at which the judge can replace a rater.
        is_perfect: Whether the judge's figure is 1 on all units, or without some group.
        share: Share of rater pairs in which the judge replaces a rater; 1 unless it scores a part.
    """

    people: Jackknife
    judge: Jackknife
    gap: Jackknife
    shortfall: Jackknife
    n_units: int
    margin: float
    is_perfect: bool
    share: float = 1.0

    def passes(self, *, significance: float) -> bool:
        """Return whether the judge is shown to lie less than the margin below people.

        Args:
            significance: Two-sided level of the evaluation.
        """
        return self.shortfall.p_above < significance * PASS_SHARE

    def fails(self, *, significance: float) -> bool:
        """Return whether the judge is shown to lie more than the margin below people."""
        return self.shortfall.value < 0 and self.shortfall.p_below < significance * FAIL_SHARE

    def certain_bounds(self, *, significance: float) -> tuple[float, float]:
        """Return the values of the statistic between which neither is shown."""
        return self.shortfall.bounds(
            p_low=significance * PASS_SHARE, p_high=significance * FAIL_SHARE
        )

    def judge_at(self, shortfall: float) -> float:
        """Return the judge's figure beside people's at a value of the test statistic.

        Ends of the statistic's interval become ends of the judge's figure, which lie above its
        minimum, people's less the margin, exactly if those of the statistic lie above 0. As a
        symmetric interval of the difference they cover too little with rare classes.
        """
        if self.is_perfect:
            return self.people.value - self.margin + shortfall
        return 1 - (1 - self.people.value + self.margin) * math.exp(-shortfall)


def non_inferiority(
    ratings: Ratings,
    judge: npt.ArrayLike,
    *,
    margin: float,
    level: Level,
    groups: npt.ArrayLike | None = None,
) -> NonInferiority:
    """Compare a judge's agreement with humans and the agreement between humans on the same units.

    The statistic is log(1 - people + margin) - log(1 - judge), which is closer to normal than the
    difference; at perfect agreement of the judge it is judge - people + margin.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if missing.
        margin: Largest shortfall at which the judge can replace a rater, above 0.
        level: Level of measurement; only `nominal` changes the figures.
        groups: Group of each unit; units of one group depend on one another. None if every unit
            is a separate group.

    Returns:
        Both figures, their difference and the test statistic with jackknife errors; NaN if
        undefined, for instance if no unit has two ratings and a score.

    Raises:
        ValueError: If `margin` is not above 0, the shapes do not fit or a value is infinite.

    References:
        Piaggio et al. (2012), doi:10.1001/jama.2012.87802, on non-inferiority; the comparison
        with each rater in turn follows Calderon et al. (2025), arXiv:2501.10970.

    Examples:
        >>> people = [[1, 2], [2, 2], [4, 3], [5, 5], [3, 3], [1, 1]]
        >>> found = non_inferiority(people, [1, 2, 4, 5, 3, 1], margin=0.1, level="ordinal")
        >>> round(found.people.value, 3), round(found.judge.value, 3)
        (0.912, 0.959)
        >>> low, high = found.shortfall.ends(significance=0.05)
        >>> low > 0
        True
    """
    every_unit = np.ones(np.shape(judge), bool)
    return partial_non_inferiority(
        ratings, judge, every_unit, margin=margin, level=level, groups=groups
    )


def partial_non_inferiority(  # noqa: PLR0913 - those of `non_inferiority`, and the part
    ratings: Ratings,
    judge: npt.ArrayLike,
    by_judge: npt.ArrayLike,
    *,
    margin: float,
    level: Level,
    groups: npt.ArrayLike | None = None,
) -> NonInferiority:
    """Compare judge and humans, each on a part of the units, with humans on all of them.

    The margin is multiplied by the share of the part, so that a few bad scores cannot hide among
    many human ratings. If the judge scores all units, the figures are those of `non_inferiority`.
    The number of effective groups is that of the part.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if missing. Units without one are left
            out.
        by_judge: Whether the judge replaces a rater on each unit, shape (n_units,). Nothing that
            was learned from these ratings may decide it.
        margin: Largest shortfall at which the judge can replace a rater of all units, above 0.
        level: Level of measurement; only `nominal` changes the figures.
        groups: Group of each unit; None if every unit is a separate group.

    Returns:
        The figures, in which `judge` is the mixture of judge and humans: over every ordered pair of
        raters of a unit, the judge's score replaces the first rating on the part. NaN if undefined.

    Raises:
        ValueError: If `margin` is not above 0, the shapes do not fit or a value is infinite.

    References:
        Piaggio et al. (2012), doi:10.1001/jama.2012.87802, on non-inferiority; docs/methods.md,
        section Tuned judges, on judges of a part of the units.

    Examples:
        >>> people = [[1, 2], [2, 2], [4, 3], [5, 5], [3, 3], [1, 1]]
        >>> by_judge = [True, True, True, True, True, False]
        >>> judge = [1, 2, 4, 5, 3, 5]
        >>> found = partial_non_inferiority(people, judge, by_judge, margin=0.1, level="ordinal")
        >>> round(found.share, 3), round(found.judge.value, 3)
        (0.833, 0.959)
    """
    matrix, score = judged_ratings(ratings, judge)
    unit, values = rating_entries(matrix)
    is_kept = np.asarray(by_judge, dtype=bool)
    if is_kept.shape != score.shape:
        raise ValueError(
            f"by_judge must have one value for each of {len(score)} units, got {is_kept.shape}"
        )
    return _compared(unit, values, score, is_kept, margin, level, groups)


def non_inferiority_of_ratings(  # noqa: PLR0913 - those of `non_inferiority`, in long form
    unit: Indices,
    values: Floats,
    judge: npt.ArrayLike,
    *,
    margin: float,
    level: Level,
    groups: npt.ArrayLike | None = None,
) -> NonInferiority:
    """Return what `non_inferiority` does, of ratings that stand one after the other.

    A matrix of many raters who each rated little takes far more memory.

    Args:
        unit: Unit of each rating, from 0 on.
        values: The ratings, none of which is missing.
        judge: The judge's scores of shape (n_units,), NaN if missing.
        margin: Largest shortfall at which the judge can replace a rater, above 0.
        level: Level of measurement; only `nominal` changes the figures.
        groups: Group of each unit; None if every unit is a separate group.
    """
    score = np.asarray(judge, dtype=np.float64)
    every_unit = np.ones(len(score), bool)
    return _compared(unit, values, score, every_unit, margin, level, groups)


def _compared(  # noqa: PLR0913, PLR0917 - the arguments of all tests
    unit: Indices,
    values: Floats,
    score: Floats,
    by_judge: Mask,
    margin: float,
    level: Level,
    groups: npt.ArrayLike | None,
) -> NonInferiority:
    """Return the comparison of humans with the mixture of judge and humans."""
    if not margin > 0:
        raise ValueError(f"margin must be above 0, got {margin:g}")
    paired = (np.bincount(unit, minlength=len(score)) > 1) & ~np.isnan(score)
    index, n_groups = group_index(groups, paired)
    place = np.cumsum(paired) - 1
    is_paired = paired[unit]
    between_units, judged_units = rater_pair_sums(
        place[unit[is_paired]], values[is_paired], score[paired], level=level
    )
    is_kept = by_judge[paired]
    mixed_units = np.where(is_kept[:, np.newaxis], judged_units, between_units)
    between, mixed = (by_group(sums, index, n_groups) for sums in (between_units, mixed_units))
    n_pairs = between[:, 0]
    n_kept: Floats = np.bincount(index, between_units[:, 0] * is_kept, n_groups).astype(np.float64)
    share = _share(n_kept.sum(), n_pairs.sum())
    shares_deleted = _share(n_kept.sum() - n_kept, n_pairs.sum() - n_pairs)
    people, people_deleted = figure(between.sum(axis=0)), figures_without_each(between)
    mixture, own_deleted = figure(mixed.sum(axis=0)), figures_without_each(mixed)
    margins = margin * np.append(shares_deleted, share)
    # The test statistic on all units and without each group, all on one scale.
    people_figures = np.append(people_deleted, people)
    mixture_figures = np.append(own_deleted, mixture)
    is_perfect = bool(np.any(mixture_figures > 1 - _PERFECT))
    statistic = mixture_figures - people_figures + margins
    if not is_perfect:
        statistic = np.log(1 - people_figures + margins) - np.log(1 - mixture_figures)
    return NonInferiority(
        people=Jackknife.of(people, people_deleted),
        judge=Jackknife.of(mixture, own_deleted),
        gap=Jackknife.of(mixture - people, own_deleted - people_deleted),
        shortfall=Jackknife.of(float(statistic[-1]), statistic[:-1]),
        n_units=int(paired.sum()),
        margin=float(margins[-1]),
        is_perfect=is_perfect,
        share=float(share),
    )


def _share(part: npt.ArrayLike, total: npt.ArrayLike) -> Floats:
    whole = np.asarray(total, dtype=np.float64)
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)
