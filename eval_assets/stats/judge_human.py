"""How close a judge's scores are to the ratings of humans."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level, Scale
from eval_assets.stats.association import wilcoxon_signed_rank
from eval_assets.stats.coefficients import Estimator, Undefined, defined_ratio
from eval_assets.stats.compared_units import JudgedRatings, UnitKinds
from eval_assets.stats.intervals import Interval, intervals
from eval_assets.stats.kappa import PairTable
from eval_assets.stats.paired_scores import PairedScores
from eval_assets.stats.patterns import Floats
from eval_assets.stats.resampling import ResampledUnits


@dataclass(frozen=True)
class JudgeHumanProfile:
    """A judge against human raters on one question; NaN where undefined.

    "Mean human" is the mean of a unit's human ratings. Their consensus is a rating that was given:
    the lower median, at the nominal level the most frequent one (of several the smallest). The
    judge's value is the declared value nearest to its score, midway the lower.

    Attributes:
        a_ha: A^HA, as in `judge_pairs.judge_human_agreement`.
        exact_agreement: Share of (human rating, judge score) pairs that are equal.
        adjacent_agreement: Share of them at most one step apart, that is at neighbouring values
            where steps vary; NaN on a continuous scale.
        alpha: Krippendorff's alpha of judge and mean human at the interval level.
        kappa: Cohen's kappa of judge's value and consensus; NaN on a continuous scale.
        weighted_kappa: The same with quadratic weights, by value.
        spearman: Spearman's rho of judge and mean human.
        kendall: Kendall's tau-b of judge and mean human.
        pearson: Pearson's correlation of judge and mean human.
        mae: Mean distance of judge and mean human, in scale points.
        bias: Mean of judge less mean human, in scale points: above 0 where the judge is lenient.
        wilcoxon_p: p-value of the signed-rank test that there is no bias; NaN below 10 units.
        a_ha_constant: Largest A^HA of a judge that gives one score whatever it reads.
        a_ha_shuffled: A^HA to expect of these scores dealt out to the units at random.
        n_units: Units with a judge score and a human rating: what is resampled.
        n_pairs: Human ratings of those units, each of them compared with the judge's score.
        confusion: (consensus, judge's value, units) of each combination that occurs, ascending;
            empty on a continuous scale.
    """

    a_ha: Interval
    exact_agreement: Interval
    adjacent_agreement: Interval
    alpha: Interval
    kappa: Interval
    weighted_kappa: Interval
    spearman: Interval
    kendall: Interval
    pearson: Interval
    mae: Interval
    bias: Interval
    wilcoxon_p: float
    a_ha_constant: float
    a_ha_shuffled: float
    n_units: int
    n_pairs: int
    confusion: tuple[tuple[float, float, int], ...]


def judge_human_profile(  # noqa: PLR0913 - two sides, their scale and the resampling
    judge: npt.ArrayLike,
    unit: npt.ArrayLike,
    value: npt.ArrayLike,
    *,
    scale_low: float,
    scale_high: float,
    values: tuple[float, ...] | None,
    level: Level,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> JudgeHumanProfile:
    """How a judge compares with human raters on one question, with intervals over its units.

    Beside A^HA stand what a constant judge and the same scores in random order would reach: an
    A^HA near those says that judge and humans share habits, not that the judge reads.

    Args:
        judge: Scores of shape (n_units,), NaN where there is none. They may lie between the
            declared values, as a mean of several replies does.
        unit: Index in `judge` of each human rating, shape (n_ratings,); units may have several.
        value: The human rating, shape (n_ratings,); NaN is no rating.
        scale_low: Lowest value of the declared scale.
        scale_high: Highest value of the declared scale.
        values: Declared values, ascending; None where the scale is continuous.
        level: Level of measurement, which decides the humans' consensus.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        n_resamples: Bootstrap resamples of the units, shared by all figures; with very many
            distinct units the jackknife is used, as in `coefficient_interval`.
        rng: Source of chance.

    Returns:
        The profile.

    Raises:
        ValueError: If the shapes do not fit, a unit has no place in `judge`, a score or rating is
            off the scale, or an argument is out of range.

    Examples:
        >>> profile = judge_human_profile(
        ...     [4, 2.5, 1], [0, 0, 1, 1, 2], [4, 5, 2, 3, 1], scale_low=1, scale_high=5,
        ...     values=(1, 2, 3, 4, 5), level="ordinal", confidence=0.95, n_resamples=500,
        ...     rng=np.random.default_rng(1),
        ... )
        >>> round(profile.a_ha.value, 3), round(profile.bias.value, 3), profile.kappa.value
        (0.917, -0.167, 1.0)
        >>> profile.confusion
        ((1, 1, 1), (2, 2, 1), (4, 4, 1))
    """
    scale = Scale(scale_low, scale_high, values)
    ratings = JudgedRatings.of(judge, unit, value, scale=scale)
    kinds = UnitKinds.of(ratings, level=level)
    a_ha, exact, adjacent, alpha, kappa, weighted, rho, tau, r, mae, bias = intervals(
        _estimators(kinds, scale),  # on [0, 1], so that all are 1 at most
        ResampledUnits.alike(kinds.n_units, n_entries=len(kinds.n_units)),
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
    )
    return JudgeHumanProfile(
        a_ha=a_ha,
        exact_agreement=exact,
        adjacent_agreement=adjacent,
        alpha=alpha,
        kappa=kappa,
        weighted_kappa=weighted,
        spearman=rho,
        kendall=tau,
        pearson=r,
        mae=_times(mae, scale.high - scale.low),
        bias=_times(bias, scale.high - scale.low),
        wilcoxon_p=wilcoxon_signed_rank(
            np.repeat(kinds.judge, kinds.n_units), np.repeat(kinds.mean_human, kinds.n_units)
        ),
        a_ha_constant=ratings.constant_agreement(),
        a_ha_shuffled=ratings.shuffled_agreement(),
        n_units=int(kinds.n_units.sum()),
        n_pairs=int(kinds.n_units @ kinds.n_ratings),
        confusion=_confusion(kinds, scale),
    )


def _estimators(kinds: UnitKinds, scale: Scale) -> list[Estimator]:
    """Figures with an interval, in the order of `JudgeHumanProfile`."""
    n_units, n_ratings = np.ones(len(kinds.n_units)), kinds.n_ratings
    apart = kinds.judge - kinds.mean_human
    near: Estimator = Undefined()
    kappas: list[Estimator] = [Undefined(), Undefined()]
    if scale.values is not None:
        near = _ratio(kinds.n_near, n_ratings)
        cells = PairTable(
            np.asarray(scale.values), kinds.judge_code, kinds.consensus_code, kinds.n_units
        )
        kappas = [cells.kappa(None), cells.kappa("quadratic")]
    scores = PairedScores.of(kinds.judge, kinds.mean_human)
    return [
        _ratio(kinds.agreement, n_units),
        _ratio(kinds.n_equal, n_ratings),
        near,
        scores.interval_alpha(),
        *kappas,
        scores.spearman(),
        scores.kendall_tau_b(),
        scores.pearson(),
        _ratio(np.abs(apart), n_units),
        _ratio(apart, n_units),
    ]


def _ratio(numerator: Floats, denominator: Floats) -> Estimator:
    return lambda weights: defined_ratio(weights @ numerator, weights @ denominator)


def _times(interval: Interval, factor: float) -> Interval:
    """The interval in units of which `factor` make one."""
    low, high = interval.low * factor, interval.high * factor
    return replace(interval, value=interval.value * factor, low=low, high=high)


def _confusion(kinds: UnitKinds, scale: Scale) -> tuple[tuple[float, float, int], ...]:
    """(consensus, judge's value, units) of each combination that occurs."""
    if scale.values is None:
        return ()
    codes = np.stack([kinds.consensus_code, kinds.judge_code])
    cells, of_kind = np.unique(codes, axis=1, return_inverse=True)
    counts = np.bincount(of_kind, weights=kinds.n_units, minlength=cells.shape[1])
    return tuple(
        (scale.values[consensus], scale.values[judged], int(n_units))
        for (consensus, judged), n_units in zip(cells.T, counts, strict=True)
    )
