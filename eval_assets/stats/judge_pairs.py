"""Agreement of a judge's scores with single raters, and the alternative-annotator test."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Scale
from eval_assets.stats._interval_bounds import t_probability
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Indices,
    Ratings,
    declared_scale,
    number_arrays,
    rating_matrix,
    require_on_scale,
    without_noise,
)
from eval_assets.stats.pair_sums import judged_ratings


def judge_human_agreement(
    ratings: Ratings,
    judge: Column,
    *,
    scale: Scale | None = None,
    low: float | None = None,
    high: float | None = None,
) -> float:
    """Return A^HA: the agreement of a judge with a human rater of the same response.

    The mean over responses with a score and a rating of each response's mean over raters of
    1 - |rating - score| / (high - low). Compared with A^HH it shows whether the judge is as close
    to a human as humans are to each other.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if missing.
        scale: The declared scale; or its ends:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 if the judge's scores always equal the ratings, 0 if they are always at the opposite end;
        NaN if no unit has both.

    Raises:
        ValueError: If the shapes do not fit, or a value is infinite or off the scale.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> judge_human_agreement([[3, 4], [2, np.nan]], [4, 2], low=1, high=5)
        0.9375
    """
    declared = declared_scale(scale, low, high)
    human, scores = with_judge(ratings, judge)
    for values in (human, scores):
        require_on_scale(values, declared)
    distances = declared.distance(human, scores[:, np.newaxis])
    n_raters = np.count_nonzero(~np.isnan(distances), axis=1)
    rated = n_raters > 0
    if not rated.any():
        return float("nan")
    return float(np.mean(1 - np.nansum(distances[rated], axis=1) / n_raters[rated]))


def with_judge(ratings: Ratings, judge: Column) -> tuple[Floats, Floats]:
    """Return human ratings and a judge's scores as floats, without float noise between them.

    Raises:
        ValueError: If the shapes do not fit, or a value is infinite or not a number.
    """
    human, scores = number_arrays(ratings, judge, name="ratings and scores")
    human = rating_matrix(human)
    if scores.shape != human.shape[:1]:
        raise ValueError(
            f"judge must have one score for each of the {len(human)} units, got {scores.shape}"
        )
    values = without_noise(np.append(human.ravel(), scores))
    return values[: human.size].reshape(human.shape), values[human.size :]


FEWEST_COPIED, COPY_CHANCE = 20, 0.01
"""Units from which on equal ratings are a copy, and the chance that a judge of its own gives them.
"""


def repeated_rater(unit: Indices, rater: Indices, value: Floats, scores: Floats) -> int | None:
    """Return the rater whose ratings a judge repeats, None if there is none.

    A judge that agrees with the other raters of that rater's units as often by itself would equal
    one of all raters throughout by chance in less than `COPY_CHANCE` of studies.

    Args:
        unit: Index of the unit of each human rating, shape (n_ratings,).
        rater: Index of its rater, likewise.
        value: The rating, likewise.
        scores: The judge's scores of shape (n_units,), NaN if missing.

    Returns:
        The index of the first such rater, of at least `FEWEST_COPIED` units.

    Raises:
        ValueError: If there is not one unit and one rater for each rating.

    References:
        docs/methods.md, section A^HA, this project's own rule.

    Examples:
        >>> unit, rater = np.divmod(np.arange(60), 2)
        >>> value = unit % 3.0 + (rater == 0)
        >>> repeated_rater(unit, rater, value, np.arange(30) % 3.0)
        1
    """
    if not unit.shape == rater.shape == value.shape:
        raise ValueError(
            f"each of the {len(value)} ratings needs a unit and a rater, got {len(unit)} and "
            f"{len(rater)}"
        )
    is_scored = ~np.isnan(scores)[unit]
    unit, rater, value = unit[is_scored], rater[is_scored], value[is_scored]
    is_equal = value == scores[unit]
    n_units = np.bincount(rater)
    n_differing = np.bincount(rater, ~is_equal)
    for candidate in np.flatnonzero((n_units >= FEWEST_COPIED) & (n_differing == 0)).tolist():
        is_shared = np.zeros(len(scores), dtype=bool)
        is_shared[unit[rater == candidate]] = True
        is_other = is_shared[unit] & (rater != candidate)
        n_others = int(is_other.sum())
        chance = (int(is_equal[is_other].sum()) + 1) / (n_others + 1)
        n_raters = np.count_nonzero(n_units)
        if n_others and n_raters * chance ** int(n_units[candidate]) <= COPY_CHANCE:
            return int(candidate)
    return None


Scoring = Literal["accuracy", "rmse"]

MIN_UNITS = 30
"""Units that a rater must share with others to be tested, as the test's authors have it."""

_TIE = 1e-12


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """Result of the alternative-annotator test.

    Attributes:
        winning_rate: Share omega of the tested raters whom the judge may replace, in [0, 1]; the
            test's authors let the judge pass from 0.5 on. NaN if no rater could be tested.
        advantage: Mean rho over raters of how often the judge is at least as near to the other
            raters as the rater is, in [0, 1].
        p_values: p-value of each rater, in the order of the columns; NaN if not tested.
    """

    winning_rate: float
    advantage: float
    p_values: tuple[float, ...]


def alternative_annotator_test(
    ratings: Ratings,
    judge: npt.ArrayLike,
    *,
    scoring: Scoring,
    epsilon: float,
    q: float = 0.05,
) -> AlternativeAnnotatorTest:
    """Test for each rater whether the judge is at least as near to the other raters.

    On every unit of a rater, judge and rater are compared by their nearness to the others'
    ratings. The judge wins against the rater if, by a one-sided t test, the rater is at least as
    near in fewer units than the judge, when `epsilon` is conceded for the rater's cost. False
    discoveries among the raters are held below `q` (Benjamini-Yekutieli). Units with fewer than
    two ratings are left out, and so are raters with fewer than 30 units.

    A constant judge passes the test on many data sets: show its result beside the judge's.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if missing.
        scoring: `accuracy`: share of other raters with the same value; `rmse`: root of the mean
            squared distance from them.
        epsilon: Worth of the lower cost of a judge, a difference of shares; the authors
            propose 0.1 for crowd workers, 0.15 for skilled raters and 0.2 for experts.
        q: Share of false discoveries among the raters found replaceable.

    Returns:
        The share of raters that the judge is as near as, its advantage over them, and the test of
        each.

    Raises:
        ValueError: If `scoring` is unknown, the shapes do not fit or a value is infinite.

    References:
        Calderon, Reichart and Dror (2025), arXiv:2501.10970; Benjamini and Yekutieli (2001),
        doi:10.1214/aos/1013699998.

    Examples:
        >>> people = np.tile([[1, 1, 2], [4, 5, 5], [3, 3, 3]], (12, 1))
        >>> found = alternative_annotator_test(
        ...     people, np.tile([1, 5, 3], 12), scoring="rmse", epsilon=0.1
        ... )
        >>> found.winning_rate, round(found.advantage, 3)
        (1.0, 1.0)
    """
    if scoring not in ("accuracy", "rmse"):
        raise ValueError(f"scoring must be 'accuracy' or 'rmse', got {scoring!r}")
    matrix, score = judged_ratings(ratings, judge)
    usable = ~np.isnan(score) & (np.count_nonzero(~np.isnan(matrix), axis=1) > 1)
    matrix, score = matrix[usable], score[usable]
    p_values = np.full(matrix.shape[1], np.nan)
    advantages = []
    for rater in range(matrix.shape[1]):
        is_rated = ~np.isnan(matrix[:, rater])
        if is_rated.sum() < MIN_UNITS:
            continue
        labels, peers = matrix[is_rated, rater], np.delete(matrix[is_rated], rater, axis=1)
        lead = _nearness(score[is_rated], peers, scoring) - _nearness(labels, peers, scoring)
        judge_as_near, rater_as_near = lead >= -_TIE, lead <= _TIE
        advantages.append(judge_as_near.mean())
        difference = rater_as_near.astype(np.float64) - judge_as_near
        p_values[rater] = _probability_below(difference, epsilon)
    tested = p_values[~np.isnan(p_values)]
    return AlternativeAnnotatorTest(
        winning_rate=_n_discoveries(tested, q) / len(tested) if len(tested) else math.nan,
        advantage=float(np.mean(advantages)) if advantages else math.nan,
        p_values=tuple(p_values.tolist()),
    )


def _nearness(value: Floats, peers: Floats, scoring: Scoring) -> Floats:
    """Return the nearness of each value to the others' ratings of its unit, higher if nearer."""
    rated = ~np.isnan(peers)
    differences = value[:, np.newaxis] - np.where(rated, peers, 0.0)
    term = (
        (np.abs(differences) <= _TIE).astype(np.float64)
        if scoring == "accuracy"
        else differences**2
    )
    mean: Floats = np.where(rated, term, 0.0).sum(axis=1) / np.count_nonzero(rated, axis=1)
    return mean if scoring == "accuracy" else -np.sqrt(mean)


def _probability_below(difference: Floats, epsilon: float) -> float:
    """Return the p-value of the one-sided t test that the mean difference is below `epsilon`."""
    error = float(difference.std(ddof=1)) / math.sqrt(len(difference))
    distance = float(difference.mean()) - epsilon
    if error == 0:
        return 0.0 if distance < 0 else 1.0
    return t_probability(distance / error, df=len(difference) - 1)


def _n_discoveries(p_values: Floats, q: float) -> int:
    """Return the number of hypotheses that Benjamini and Yekutieli's procedure rejects."""
    ranks = np.arange(1, len(p_values) + 1)
    thresholds = q * ranks / len(p_values) / (1 / ranks).sum()
    below = np.flatnonzero(np.sort(p_values) <= thresholds)
    return int(below[-1]) + 1 if len(below) else 0
