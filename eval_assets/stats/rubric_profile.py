"""Agreement over all questions of a rubric, with intervals over response groups.

The questions of one response are answered by the same raters about the same text, so they are not
independent: a response is left out with all its questions. Every figure is a function of sums over
response groups.

For values without order only equality counts. Half the squared distance between the indicators of
two classes is 1 if they differ and 0 if not, so the sums of such a question are those of an
indicator per class, its components; a question with an order has one component, its values.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from eval_assets.scale import Scale
from eval_assets.stats._coefficients import (
    Measure,
    chance_agreement,
    observed_marginals,
    undefined,
)
from eval_assets.stats._distances import near_pairs, sums_within
from eval_assets.stats._interval_bounds import BeyondChance, MeanShare, Spread, kurtosis
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Indices,
    Integers,
    Mask,
    Ratings,
    distinct_integers,
    group_codes,
    on_scale,
    rating_matrix,
    require_on_scale,
)
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import (
    MAX_DELETIONS,
    GroupSums,
    blocks,
    defined_ratio,
    sums_by_code,
)
from eval_assets.stats.intervals import Interval, Profile, intervals

Figure: TypeAlias = Callable[[Floats], Floats]

NO_VARIATION = 1e-13
"""Variance, as a share of the squares it is the difference of, that is only float noise."""


@dataclass(frozen=True)
class OverallProfile(Profile):
    """Agreement over all questions; NaN if undefined.

    Attributes:
        a_hh: Unweighted mean over questions of A^HH.
        exact_agreement: Share of rater pairs of all questions with equal ratings.
        adjacent_agreement: Share within one step of their scale; NaN if a scale has none.
        alpha: Krippendorff's alpha at the interval level; units are (response, question), values
            are taken from the declared scale to [0, 1]. Differences between questions count as
            agreement: on an easy and a hard question it is high even if raters agree on neither.
            If the values of a question have no order, the mean over questions with different
            ratings: nominal alpha of those without order, interval alpha of the others.
        alpha_within: The same with chance taken within each question, which differences between
            questions do not raise: the mean of the questions' alphas weighted by their spread.
        a_hh_by_chance: Unweighted mean over questions of A^HH to expect by chance.
        n_responses: Responses with two ratings on some question.
        n_groups: Groups of these responses.
        n_units: (response, question) with at least two ratings.
        n_ratings: Ratings of those units.
        n_pairs: Pairs of ratings of one unit.
    """

    a_hh: Interval
    exact_agreement: Interval
    adjacent_agreement: Interval
    alpha: Interval
    alpha_within: Interval
    a_hh_by_chance: float
    n_responses: int
    n_groups: int
    n_units: int
    n_ratings: int
    n_pairs: int


def overall_profile(
    questions: Iterable[tuple[Ratings | RatingPatterns, Scale]],
    *,
    confidence: float,
    groups: Column | None = None,
) -> OverallProfile:
    """Return agreement over all questions of a rubric, with intervals over response groups.

    Questions without a response that was rated twice are left out.

    Args:
        questions: Ratings of shape (n_responses, n_raters) on each question with its declared
            scale, or their patterns; row i is the same response in all of them.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Which responses are not independent: any label, one for each response.

    Returns:
        The profile.

    Raises:
        ValueError: If a rating is infinite or off its scale, the questions differ in length, or an
            argument is out of range.

    References:
        docs/methods.md, section Alpha within questions, and those of the single figures.

    Examples:
        >>> from eval_assets.scale import BINARY, LIKERT5
        >>> useful, correct = [[4, 5], [2, 2], [3, 1]], [[1, 1], [0, 1], [0, 0]]
        >>> profile = overall_profile([(useful, LIKERT5), (correct, BINARY)], confidence=0.95)
        >>> round(profile.a_hh.value, 4), profile.n_responses, profile.n_units
        (0.7083, 3, 6)
    """
    every_part = [_QuestionUnits.of(ratings, scale) for ratings, scale in questions]
    lengths = {len(part.pattern) for part in every_part}
    if len(lengths) > 1:
        raise ValueError(f"questions must have the same responses, got {sorted(lengths)} of them")
    n_responses = max(lengths, default=0)
    codes = group_codes(groups, n_units=n_responses)
    group = np.arange(n_responses) if codes is None else codes
    parts = [part for part in every_part if part.is_rated_twice.any()]
    rated = np.zeros(n_responses, np.bool_)
    for part in parts:
        rated |= part.is_rated_twice
    n_groups, sums = _sums_by_group(parts, group, rated)
    n_pairs = int(sums[..., _PAIRS].sum())
    has_steps = all(part.has_steps for part in parts)
    first = _firsts(parts)

    def mean_a_hh(sums: Floats) -> Floats:
        """Return the mean over questions of the mean over responses."""
        by_question = defined_ratio(sums[:, first, _AGREEMENT], sums[:, first, _RATED])
        return np.asarray(by_question.mean(axis=1))

    measures = [
        _measure(parts, mean_a_hh, MeanShare()),
        _measure(parts, _share_of_pairs(_EXACT), MeanShare()),
        _measure(parts, _share_of_pairs(_NEAR) if has_steps else undefined, MeanShare()),
        _measure(parts, _alpha(parts), _spread(parts, n_pairs=n_pairs, within=False)),
        _measure(parts, _alpha_within, _spread(parts, n_pairs=n_pairs, within=True)),
    ]
    units = GroupSums(sums.reshape(len(sums), sums.shape[1] * _N_SUMS), int(rated.sum()), n_groups)
    a_hh, exact, near, alpha, within = intervals(measures, units, confidence=confidence)
    by_chance = [part.by_chance for part in parts]
    return OverallProfile(
        a_hh=a_hh,
        exact_agreement=exact,
        adjacent_agreement=near,
        alpha=alpha,
        alpha_within=within,
        a_hh_by_chance=float(np.mean(by_chance)) if by_chance else float("nan"),
        n_responses=units.n_units,
        n_groups=n_groups,
        n_units=int(sums[..., _RATED].sum()),
        n_ratings=int(sums[:, _firsts(parts), _RATINGS].sum()),
        n_pairs=n_pairs,
    )


_RATED, _AGREEMENT, _PAIRS, _EXACT, _NEAR, _RATINGS, _VALUES, _SQUARES, _APART = range(_N_SUMS := 9)
"""Sums over the units of a question that all figures are functions of."""


@dataclass(frozen=True, eq=False)
class _QuestionUnits:
    """Contribution of one question, from units with at least two ratings.

    Attributes:
        sums: Sums of a unit with each pattern, shape (n_components, n_sums, n_patterns + 1); the
            last pattern is for units without ratings. Counts are in the first component.
        pattern: Pattern of each response.
        marginals: Number of ratings of each value.
        positions: Position of each value on the scale, from -1/2 to 1/2.
        by_chance: A^HH to expect by chance.
        has_order: Whether the values have an order.
        has_steps: Whether the scale has equal steps.
    """

    sums: Floats
    pattern: Indices
    marginals: Floats
    positions: Floats
    by_chance: float
    has_order: bool
    has_steps: bool

    @classmethod
    def of(cls, ratings: Ratings | RatingPatterns, scale: Scale) -> Self:
        """Return the contribution of ratings on a scale."""
        if not isinstance(ratings, RatingPatterns):
            ratings = RatingPatterns.from_matrix(on_scale(rating_matrix(ratings), scale))
        patterns, pattern = ratings, ratings.index
        if pattern is None:
            raise ValueError("questions must be of the same responses: count patterns of matrices")
        require_on_scale(patterns.values, scale)
        # measured from the middle of the scale, which keeps the sums of squares small
        positions = scale.to_unit(patterns.values) - 0.5
        components = positions[np.newaxis]
        distances = sums_within(patterns, positions, "absolute")
        if not scale.has_order:
            components = np.sqrt(0.5) * np.eye(len(positions))
            distances = sums_within(patterns, positions, "nominal")
        sums = np.zeros((max(1, len(components)), _N_SUMS, len(patterns.n_units) + 1))
        per_unit = sums[..., :-1]
        per_unit[0, _RATED] = 1.0
        per_unit[0, _AGREEMENT] = 1 - distances / np.maximum(patterns.n_pairs, 1)
        per_unit[0, _PAIRS] = patterns.n_pairs
        per_unit[0, _EXACT] = near_pairs(patterns, within=0)
        per_unit[0, _NEAR] = near_pairs(patterns, within=scale.step or 0)
        for component, places in zip(per_unit, components, strict=False):
            placed = patterns.count * places[patterns.code]
            component[_RATINGS] = patterns.n_ratings
            component[_VALUES] = patterns.sum_by_pattern(placed)
            component[_SQUARES] = patterns.sum_by_pattern(placed * places[patterns.code])
            component[_APART] = sums_within(patterns, places, "squared")
            component[_APART] /= np.maximum(patterns.n_ratings - 1, 1)
        per_unit[..., ~patterns.is_pairable] = 0.0
        return cls(
            sums=sums,
            pattern=pattern,
            marginals=observed_marginals(patterns),
            positions=positions,
            by_chance=chance_agreement(patterns, scale),
            has_order=scale.has_order,
            has_steps=scale.step is not None,
        )

    @property
    def is_rated_twice(self) -> Mask:
        """Return whether each response has two ratings on the question."""
        is_rated: Mask = self.sums[0, _RATED, self.pattern] > 0
        return is_rated

    @property
    def varies(self) -> bool:
        """Return whether two ratings of units with two ratings differ."""
        return bool(np.count_nonzero(self.marginals) > 1)


def _sums_by_group(
    parts: Sequence[_QuestionUnits], group: Indices, rated: Mask
) -> tuple[int, Floats]:
    """Return the number of rated groups, and sums (n_blocks, n_components, n_sums)."""
    codes = distinct_integers(group[rated])[1].astype(np.int32)
    block = blocks(codes, most=MAX_DELETIONS)
    n_blocks = int(block.max(initial=-1)) + 1
    components = [(part, component) for part in parts for component in part.sums]
    sums = np.empty((n_blocks, len(components), _N_SUMS))
    for index, (part, component) in enumerate(components):
        pattern = part.pattern[rated]
        for column, of_pattern in enumerate(component):
            sums[:, index, column] = sums_by_code(block, of_pattern[pattern], n_codes=n_blocks)
    return int(codes.max(initial=-1)) + 1, sums


def _measure(parts: Sequence[_QuestionUnits], figure: Figure, spread: Spread) -> Measure:
    """Return a figure of sums of shape (n_sets, n_components, n_sums)."""
    every_sum = np.ones(sum(len(part.sums) for part in parts) * _N_SUMS, np.bool_)

    def estimator(sums: Floats) -> Floats:
        return figure(sums.reshape(len(sums), -1, _N_SUMS)) if parts else undefined(sums)

    return Measure(estimator, spread, every_sum, cost=len(every_sum))


def _firsts(parts: Sequence[_QuestionUnits]) -> Integers:
    lengths = np.array([len(part.sums) for part in parts], np.int64)
    return np.cumsum(lengths) - lengths


def _share_of_pairs(column: int) -> Figure:
    return lambda sums: defined_ratio(sums[..., column].sum(axis=1), sums[..., _PAIRS].sum(axis=1))


def _alpha(parts: Sequence[_QuestionUnits]) -> Figure:
    """Return alpha of all units pooled, or the mean over questions if one has no order."""
    if all(part.has_order for part in parts):
        return _pooled_alpha
    first = _firsts(parts)
    varied = [part.varies for part in parts]

    def mean_alpha(sums: Floats) -> Floats:
        disagreement = np.add.reduceat(sums[..., _APART], first, axis=1)[:, varied]
        by_chance = np.add.reduceat(_by_chance(sums), first, axis=1)[:, varied]
        if not any(varied):
            return undefined(sums)
        means: Floats = (1 - defined_ratio(disagreement, by_chance)).mean(axis=1)
        return means

    return mean_alpha


def _pooled_alpha(sums: Floats) -> Floats:
    pooled = sums.sum(axis=1)
    return 1 - defined_ratio(pooled[:, _APART], _by_chance(pooled))


def _alpha_within(sums: Floats) -> Floats:
    """Return interval alpha with the distance by chance taken within each question."""
    return 1 - defined_ratio(sums[..., _APART].sum(axis=1), _by_chance(sums).sum(axis=1))


def _by_chance(sums: Floats) -> Floats:
    """Return each rating's expected distance from others, summed; 0 if all are equal."""
    n_ratings, squares = sums[..., _RATINGS], sums[..., _SQUARES]
    spread = n_ratings * squares - sums[..., _VALUES] ** 2
    spread = np.where(spread > NO_VARIATION * n_ratings * squares, spread, 0.0)
    return spread / np.maximum(n_ratings - 1, 1)


def _spread(parts: Sequence[_QuestionUnits], *, n_pairs: int, within: bool) -> BeyondChance:
    """Return the spread of alpha, by the ratings of all questions pooled.

    If the values of a question have no order, it is the mean of the questions' spreads.
    """
    if not all(part.has_order for part in parts):
        return _mean_spread(
            [
                BeyondChance.of(p.marginals, p.positions if p.has_order else None, n_pairs=n_pairs)
                for p in parts
                if p.varies
            ]
        )
    marginals = np.concatenate([np.empty(0), *(part.marginals for part in parts)])
    positions = np.concatenate([np.empty(0), *(part.positions for part in parts)])
    values, index = np.unique(positions.round(12), return_inverse=True)
    pooled = sums_by_code(index, marginals, n_codes=len(values))
    if not within:
        return BeyondChance.of(pooled, values, n_pairs=n_pairs)
    means = [
        np.full(len(p.positions), p.positions @ p.marginals / p.marginals.sum()) for p in parts
    ]
    peaked = kurtosis(marginals, positions - np.concatenate([np.empty(0), *means]))
    total = max(1.0, float(marginals.sum()))
    alike = sum(float(p.marginals @ p.marginals / p.marginals.sum()) for p in parts) / total
    spread = BeyondChance.of_distances(pooled, kurtosis=peaked, n_pairs=n_pairs)
    return replace(spread, differing=1 - alike)


def _mean_spread(spreads: Sequence[BeyondChance]) -> BeyondChance:
    """Return the spread of a mean of coefficients that share their units."""
    if not spreads:
        return BeyondChance.of_classes(np.empty(0), n_pairs=0)
    share = 1 / len(spreads)
    differing = share * sum(spread.differing for spread in spreads)
    return BeyondChance(
        _mean_polynomial([spread.shape for spread in spreads]),
        _mean_polynomial([spread.floor for spread in spreads]),
        differing,
    )


def _mean_polynomial(polynomials: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return the mean of polynomials, lowest power first."""
    powers = itertools.zip_longest(*polynomials, fillvalue=0.0)
    return tuple(sum(coefficients) / len(polynomials) for coefficients in powers)
