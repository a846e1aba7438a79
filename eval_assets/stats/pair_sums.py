"""Concordance of a judge with humans, and its gain over another judge."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level
from eval_assets.stats._numbers import (
    Floats,
    Indices,
    Integers,
    Ratings,
    distinct_integers,
    rating_matrix,
)
from eval_assets.stats._units import sums_by_code
from eval_assets.stats.resampling import Jackknife


def concordance(reference: Ratings, scores: npt.ArrayLike) -> float:
    """Return Lin's concordance of scores with reference values: agreement by value, beyond chance.

    1 - sum (f - y)**2 / sum (f**2 - 2 f mean(y) + y**2) over all pairs of a score f and a
    reference value y. On a scale with steps this is Cohen's kappa with quadratic weights by
    value, so one formula serves ordered and continuous scales.

    Args:
        reference: Reference values of shape (n_units,), or human ratings of shape
            (n_units, n_raters); NaN if missing. Every rating makes a separate pair.
        scores: Score of each unit, shape (n_units,); NaN if missing.

    Returns:
        1 if every score equals every reference value, 0 for a constant score or chance, below 0
        if scores run against the reference; NaN without pairs, or if all values are the same.

    Raises:
        ValueError: If the shapes do not fit or a value is infinite.

    References:
        Lin (1989), doi:10.2307/2532051, with variances over n; Cohen (1968),
        doi:10.1037/h0026256.

    Examples:
        >>> round(concordance([1, 2, 3, 4], [1, 2, 3, 5]), 4)
        0.9286
        >>> concordance([[1, 2], [4, 4]], [2, 2])
        0.0
    """
    ratings, judge = judged_ratings(reference, scores)
    return figure(pair_sums(ratings, judge, level="interval").sum(axis=0))


@dataclass(frozen=True)
class AgreementGain:
    """Difference of two judges' agreement with humans on the same units.

    Attributes:
        baseline: The figure of the judge as it stands, with its error.
        candidate: The figure of the judge that might replace it.
        gain: Candidate less baseline.
        n_units: Units that both scored and humans rated.
        n_changed: Groups in which the two differ on at least one unit.
    """

    baseline: Jackknife
    candidate: Jackknife
    gain: Jackknife
    n_units: int
    n_changed: int


def agreement_gain(
    ratings: Ratings,
    candidate: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    level: Level,
    groups: npt.ArrayLike | None = None,
) -> AgreementGain:
    """Compare two judges' agreement with humans on the units that both scored.

    The figure is `concordance` over pooled (judge, rater) pairs; at the nominal level it is
    Cohen's kappa, which for two classes is the same.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        candidate: Scores of the judge that might replace the other, shape (n_units,).
        baseline: Scores of the judge as it stands, likewise.
        level: Level of measurement; only `nominal` changes the figure.
        groups: Group of each unit; units of one group depend on one another and are left out
            together. None if every unit is a separate group.

    Returns:
        Both figures and the gain, each with its jackknife error; NaN if undefined.

    Raises:
        ValueError: If the shapes do not fit or a value is infinite.

    References:
        Lin (1989), doi:10.2307/2532051; Cohen (1960), doi:10.1177/001316446002000104, at the
        nominal level; docs/methods.md, section Tuned judges, for the gain.

    Examples:
        >>> people = [[1, 1], [2, 3], [4, 4], [5, 4]]
        >>> found = agreement_gain(people, [1, 3, 4, 5], [2, 2, 3, 3], level="ordinal")
        >>> round(found.baseline.value, 3), round(found.gain.value, 3), found.n_changed
        (0.5, 0.441, 4)
    """
    matrix, new = judged_ratings(ratings, candidate)
    _, old = judged_ratings(ratings, baseline)
    is_complete = ~(np.isnan(new) | np.isnan(old) | np.isnan(matrix).all(axis=1))
    matrix, new, old = matrix[is_complete], new[is_complete], old[is_complete]
    index, n_groups = group_index(groups, is_complete)
    new_sums = by_group(pair_sums(matrix, new, level=level), index, n_groups)
    of_new, new_deleted = figure(new_sums.sum(axis=0)), figures_without_each(new_sums)
    of_old, old_deleted = of_new, new_deleted
    if not np.array_equal(new, old):  # they are equal without a map
        old_sums = by_group(pair_sums(matrix, old, level=level), index, n_groups)
        of_old, old_deleted = figure(old_sums.sum(axis=0)), figures_without_each(old_sums)
    return AgreementGain(
        baseline=Jackknife.of(of_old, old_deleted),
        candidate=Jackknife.of(of_new, new_deleted),
        gain=Jackknife.of(of_new - of_old, new_deleted - old_deleted),
        n_units=len(new),
        n_changed=len(np.unique(index[new != old])),
    )


def judged_ratings(reference: Ratings, scores: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return reference values as (n_units, n_raters) and scores as (n_units,).

    Raises:
        ValueError: If the shapes do not fit or a value is infinite.
    """
    values = np.asarray(reference, dtype=np.float64)
    ratings = rating_matrix(values[:, np.newaxis] if values.ndim == 1 else values)
    judge = np.asarray(scores, dtype=np.float64)
    if judge.shape != ratings.shape[:1]:
        raise ValueError(
            f"scores must have one value for each of the {len(ratings)} units, got {judge.shape}"
        )
    if np.isinf(judge).any():
        raise ValueError("scores must be finite or NaN, got an infinity")
    return ratings, judge


def group_index(groups: npt.ArrayLike | None, mask: npt.NDArray[np.bool_]) -> tuple[Integers, int]:
    """Return the index of each kept unit's group among those that have one, and their number.

    Raises:
        ValueError: If there is not one group for each unit.
    """
    if groups is None:
        n_kept = int(mask.sum())
        return np.arange(n_kept), n_kept
    names = np.asarray(groups)
    if names.shape != mask.shape:
        raise ValueError(f"groups must name one of each of {len(mask)} units, got {names.shape}")
    if names.dtype.kind not in "OU":
        classes, index = (
            distinct_integers(names[mask].astype(np.int64))
            if np.issubdtype(names.dtype, np.integer)
            else np.unique(names[mask], return_inverse=True)
        )
        return index.astype(np.int64, copy=False), len(classes)
    named = names[mask].tolist()  # texts are looked up faster than sorted
    place = {name: code for code, name in enumerate(sorted(set(named)))}
    return np.fromiter(map(place.__getitem__, named), np.int64, len(named)), len(place)


def pair_sums(ratings: Floats, judge: Floats, *, level: Level) -> Floats:
    """Return each unit's sums over its (rater, judge) pairs.

    Values of a scale count as they are, classes without order as indicator vectors: the same
    formula is then Cohen's kappa.

    Returns:
        Shape (n_units, 3 + 2 d): number of pairs, their squared distances, squared norms of both
        sides, the raters' values (d columns), the judge's values (d columns).
    """
    return coded_pair_sums(*rating_entries(ratings), judge, level=level)


def coded_pair_sums(unit: Indices, values: Floats, judge: Floats, *, level: Level) -> Floats:
    """Return the same sums of ratings that stand one after the other."""
    return _pair_sums(_coded(unit, values, judge, level=level), judge)


def _pair_sums(coded: tuple[Floats, Floats, Floats, Floats], judge: Floats) -> Floats:
    values, count, norm, score = coded
    count = count * ~np.isnan(judge)
    squares = count * (score**2).sum(axis=1) + norm
    distance = squares - 2 * (values * score).sum(axis=1)
    sums = np.column_stack([count, distance, squares, values, count[:, np.newaxis] * score])
    return np.where(count[:, np.newaxis] > 0, sums, 0.0)


def rater_pair_sums(
    unit: Indices, values: Floats, judge: Floats, *, level: Level
) -> tuple[Floats, Floats]:
    """Return each unit's sums over its ordered pairs of raters, and of judge and rater.

    A pair of judge and rater counts once for every other rater of the unit, so that both have
    the same number of pairs in every unit. Units that lack a score have none.

    Args:
        unit: Unit of each rating, shape (n_ratings,).
        values: The ratings.
        judge: Score of each unit, NaN if missing.
        level: Level of measurement; only `nominal` changes the sums.
    """
    coded = _coded(unit, values, judge, level=level)
    values, count, norm, _ = coded
    n_peers = np.where(np.isnan(judge), 0.0, np.maximum(count - 1, 0))
    squares = 2 * n_peers * norm
    distance = 2 * (count * norm - (values**2).sum(axis=1)) * (n_peers > 0)
    side = n_peers[:, np.newaxis] * values
    between = np.column_stack([count * n_peers, distance, squares, side, side])
    return between, n_peers[:, np.newaxis] * _pair_sums(coded, judge)


def by_group(sums: Floats, index: Indices, n_groups: int) -> Floats:
    """Return sums of units added up within each group."""
    added = [np.bincount(index, column, n_groups) for column in sums.T]
    return np.column_stack(added).astype(np.float64)


def figure(sums: Floats) -> float:
    """Return the figure that sums over all pairs have; NaN if undefined."""
    return float(figures_of(sums[np.newaxis])[0])


def figures_without_each(sums: Floats) -> Floats:
    """Return the figure without each group in turn."""
    return figures_of(sums.sum(axis=0) - sums)


def figures_of(sums: Floats) -> Floats:
    """Return the figure of each row of sums."""
    n_values = (sums.shape[1] - 3) // 2
    count, distance, squares = sums[:, 0], sums[:, 1], sums[:, 2]
    product = (sums[:, 3 : 3 + n_values] * sums[:, 3 + n_values :]).sum(axis=1)
    expected = squares - 2 * np.divide(product, count, out=np.zeros_like(count), where=count > 0)
    disagreement = np.divide(
        distance, expected, out=np.full_like(count, np.nan), where=expected > _NOISE * squares
    )
    figures: Floats = 1 - disagreement
    return np.where(np.abs(figures) < _NOISE, 0.0, figures)


def rating_entries(ratings: Floats) -> tuple[Integers, Floats]:
    """Return the unit of each rating of a matrix, ascending, and the ratings."""
    rated = ~np.isnan(ratings)
    return np.nonzero(rated)[0], ratings[rated]


def _coded(
    unit: Indices, values: Floats, judge: Floats, *, level: Level
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return each unit's sum of rating vectors, number of ratings, their norms, and its score.

    Values are measured from a rating near the middle, which keeps whole numbers whole and small:
    sums of theirs are then exact.
    """
    n_units = len(judge)
    count = np.bincount(unit, minlength=n_units).astype(np.float64)
    if level != "nominal":
        place = len(values) // 2
        middle = np.partition(values, place)[place] if len(values) else 0.0
        centred = values - middle
        return (
            sums_by_code(unit, centred, n_codes=n_units)[:, np.newaxis],
            count,
            sums_by_code(unit, centred**2, n_codes=n_units),
            np.nan_to_num(judge - middle)[:, np.newaxis],
        )
    classes = np.unique(np.concatenate([values, judge[~np.isnan(judge)]]))
    counts: Floats = np.zeros((n_units, len(classes)))
    for column, value in enumerate(classes):
        counts[:, column] = np.bincount(unit[values == value], minlength=n_units)
    return counts, count, count, (judge[:, np.newaxis] == classes).astype(np.float64)


_NOISE = 1e-12
"""Share of the sum of squares below which expected distance is float noise."""
