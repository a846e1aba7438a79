"""Tests of causes of disagreement between raters, each against chance."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.causes import Cause, CauseKind, RatedResponses
from eval_assets.agreement.compared_labels import (
    FEWEST_UNITS,
    ComparedLabels,
    compared_labels,
    confused_levels,
    disagreement_within,
    rater_offsets,
)
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import TOLERANCE
from eval_assets.stats import holm_p_values

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIGNIFICANCE = 0.05
"""Nominal share of questions without any of these causes that have one reported."""

_N_PERMUTATIONS = 999
_ENOUGH_REACHED = 20
"""Number of permutations that reach the observed statistic after which drawing ends."""

_N_EXAMPLES = 5

_FEWEST_LABELS = 10
"""Least number of labels of a rater, and of responses of a model."""

_FEWEST_RATERS = 3
"""Least number of raters for the test of one who is unlike the others."""

_FEWEST_OF_CAMPS = 4
"""Least number of raters for the test of two camps."""

_FEWEST_OF_GROUP = 2
_FEWEST_LENGTHS = 3
_FEWEST_TEXTS = 5
"""Least number of texts that several responses share, and of other texts."""
_MOST_MODELS = 11
_LEAST_KNOWN = 0.5
"""Least share of labels with a known time, for a test of their order."""

_MIDDLE = 0.5
_UNITS_OF_STRATUM, _MOST_STRATA = 10, 10

_LEAST_GAIN = 0.02
"""Gain in alpha below which fixing a cause is not worth the work (a choice)."""


def causes_of_disagreement(
    responses: RatedResponses, question: RubricQuestion
) -> tuple[Cause, ...]:
    """Return all tested causes; reported ones come first, by gain.

    Raters are compared under permutation of the ratings within each response, features of the
    responses under permutation over responses of about the same mean rating, positions under
    permutation within each rater, and levels with draws from a normal model without confusion.
    At most 3,000 responses are used, drawn with a fixed seed.

    References:
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6, 65-70. Besag, J., Clifford, P. (1991). Sequential Monte Carlo
        p-values. Biometrika 78, 301-304, doi:10.1093/biomet/78.2.301.
    """
    labels = compared_labels(responses, question)
    if len(labels.unit_index) < FEWEST_UNITS:
        return ()
    study = _Study(responses, question, labels, np.random.default_rng(0))
    tests = [
        *study.raters(),
        *(study.levels() if question.has_order else ()),
        *study.features(),
        *study.fatigue(),
    ]
    causes = _adjusted(tests)
    return tuple(
        sorted(causes, key=lambda c: (not c.is_reported, -np.nan_to_num(c.gain), c.p_value))
    )


@dataclass(frozen=True, eq=False)
class _Study:
    responses: RatedResponses
    question: RubricQuestion
    labels: ComparedLabels
    rng: np.random.Generator

    def raters(self) -> Iterator[Cause]:
        """Yield the tests that compare raters."""
        labels = self.labels
        n_labels = np.bincount(labels.rater)
        offset = rater_offsets(labels) if self.question.has_order else np.zeros(len(n_labels))
        centred = labels.value - offset[labels.rater][:, None] * self.question.has_order
        if self.question.has_order:
            yield self._scale_use(offset, centred)
            yield from self._preferences(centred)
        if (n_labels >= _FEWEST_LABELS).sum() < _FEWEST_RATERS:
            return
        is_compared = n_labels >= _FEWEST_LABELS
        if self.question.has_order:  # a rater who differs by length alone has a preference
            centred = centred - self._explained(centred, self._length_ranks())
        yield self._outlier(centred, is_compared)
        if is_compared.sum() >= _FEWEST_OF_CAMPS:
            yield from self._camps(centred, is_compared)

    def _scale_use(self, offset: Floats, centred: Floats) -> Cause:
        labels = self.labels
        n_labels = np.bincount(labels.rater)
        residual = labels.residual(labels.value)

        def spread(order: Integers) -> float:
            return float((n_labels * labels.by_rater(residual[order]) ** 2).sum())

        p_value = self._within_units(spread)
        rater = int(np.argmax(np.abs(offset) * (n_labels >= _FEWEST_LABELS)))
        above_others = offset[rater] - offset[labels.rater[labels.rater != rater]].mean()
        points = above_others * (self.question.scale.high - self.question.scale.low)
        name = self.responses.ratings.rater_ids[rater]
        return self._cause(
            CauseKind.SCALE_USE,
            f"{name} rates {abs(points):.2g} {'higher' if points > 0 else 'lower'}",
            p_value,
            labels.alpha(centred),
            self._worst(np.abs(residual) * (labels.rater == rater)),
        )

    def _preferences(self, centred: Floats) -> Iterator[Cause]:
        """Yield the tests of raters for whom a feature of the responses counts more or less."""
        index = self.labels.unit_index
        if len(np.unique(self.responses.lengths[index])) >= _FEWEST_LENGTHS:
            yield self._preference(centred, self._length_ranks(), ["longer responses"])
        models, code = np.unique(self.responses.models[index].astype(str), return_inverse=True)
        if 1 < len(models) <= _MOST_MODELS and np.bincount(code).min() >= _FEWEST_LABELS:
            indicator = (code[:, None] == np.arange(len(models))).astype(float)
            scaled = (indicator - indicator.mean(axis=0)) / indicator.std(axis=0)
            yield self._preference(centred, scaled, [f"responses of {name}" for name in models])

    def _preference(self, centred: Floats, feature: Floats, names: Sequence[str]) -> Cause:
        labels = self.labels
        residual = labels.residual(centred)
        n_labels = np.bincount(labels.rater)

        def spread(order: Integers) -> float:
            slope = self._slopes(residual[order], feature)
            return float((n_labels[:, None] * slope**2).sum())

        p_value = self._within_units(spread)
        slope = self._slopes(residual, feature)
        weight = np.sqrt(n_labels * (n_labels >= _FEWEST_LABELS))[:, None]
        rater, column = divmod(int(np.argmax(np.abs(slope) * weight)), len(names))
        name = self.responses.ratings.rater_ids[rater]
        direction = "higher" if slope[rater, column] > 0 else "lower"
        explained = self._explained(centred, feature)
        return self._cause(
            CauseKind.PREFERENCE,
            f"{name} rates {names[column]} {direction}",
            p_value,
            labels.alpha(labels.value - explained),
            self._worst(residual * explained[:, 0] * (labels.rater == rater)),
        )

    def _length_ranks(self) -> Floats:
        """Return the ranks of the units by length, with mean 0 and standard deviation 1."""
        return _ranks(self.responses.lengths[self.labels.unit_index])[:, None] * math.sqrt(12)

    def _slopes(self, residual: Floats, feature: Floats) -> Floats:
        """Return the slope of each rater's ratings on each column of a feature."""
        labels, n_columns = self.labels, feature.shape[1]
        products = residual[:, None] * feature[labels.unit]
        cell = labels.rater[:, None] * n_columns + np.arange(n_columns)
        n = labels.n_of_rater[:, None]
        total = np.bincount(cell.ravel(), products.ravel(), n.size * n_columns)
        slopes: Floats = total.reshape(n.size, n_columns) / np.maximum(n, 1)
        return slopes

    def _explained(self, value: Floats, feature: Floats) -> Floats:
        """Return the part of the differences between raters that a feature explains."""
        labels = self.labels
        slope = self._slopes(labels.residual(value), feature)
        explained = (feature[labels.unit] * slope[labels.rater]).sum(axis=1, keepdims=True)
        n_columns = feature.shape[1]
        # Indicators of d models count each difference d / (d - 1) times.
        part: Floats = explained * (1 - 1 / n_columns if n_columns > 1 else 1)
        return part

    def _outlier(self, centred: Floats, is_compared: NDArray[np.bool_]) -> Cause:
        labels = self.labels
        weight = np.sqrt(np.bincount(labels.rater)) * is_compared

        def excess(value: Floats) -> Floats:
            distance = labels.distance(value)
            unlike: Floats = (labels.by_rater(distance) - distance.mean()) * weight
            return unlike

        rater = int(np.argmax(excess(centred)))
        p_value = self._within_units(lambda order: float(excess(centred[order]).max()))
        is_kept = labels.rater != rater
        return self._cause(
            CauseKind.RATER,
            self.responses.ratings.rater_ids[rater],
            p_value,
            labels.alpha(is_kept=is_kept),
            self._worst(labels.distance(centred) * ~is_kept),
        )

    def _camps(self, centred: Floats, is_compared: NDArray[np.bool_]) -> Iterator[Cause]:
        labels = self.labels
        column = np.cumsum(is_compared) - 1
        is_kept = is_compared[labels.rater]
        unit, rater = labels.unit[is_kept], column[labels.rater[is_kept]]
        shape = len(labels.unit_index), int(is_compared.sum())
        present = np.zeros(shape)
        present[unit, rater] = 1
        n_pairs = present.T @ present

        def camps(value: Floats) -> tuple[float, NDArray[np.bool_]]:
            return _camps_of(value[is_kept], unit, rater, present, n_pairs)

        statistic, is_first = camps(centred)
        if not math.isfinite(statistic):
            return
        p_value = self._within_units(lambda order: camps(centred[order])[0])
        camp = np.full(len(is_compared), 2)
        camp[is_compared] = is_first
        names = np.array(self.responses.ratings.rater_ids)[: len(camp)]
        inside = labels.alpha_within(camp)
        subject = " and ".join(f"{{{', '.join(names[camp == side])}}}" for side in (1, 0))
        between = labels.disagreement() - disagreement_within(labels, camp)
        yield self._cause(CauseKind.CAMPS, subject, p_value, inside, self._top(between))

    def levels(self) -> Iterator[Cause]:
        """Yield the test of confused adjacent levels."""
        labels = self.labels
        level, code = np.unique(labels.value[:, 0], return_inverse=True)
        alpha = labels.alpha()
        test = confused_levels(labels.unit, code, level, alpha=alpha, rng=self.rng)
        if test is None:
            return
        pair = slice(test.lower, test.lower + 2)
        merged = level.copy()
        merged[pair] = merged[pair].mean()
        scale = self.question.scale
        low, high = scale.low + level[pair] * (scale.high - scale.low)
        lower, upper = (
            np.bincount(labels.unit, code == k, len(labels.unit_index))
            for k in (test.lower, test.lower + 1)
        )
        yield self._cause(
            CauseKind.LEVELS,
            f"{low:g} and {high:g}",
            test.p_value,
            labels.alpha(merged[code][:, None]),
            self._top(np.minimum(lower, upper)),
        )

    def features(self) -> Iterator[Cause]:
        """Yield the tests of features of the responses."""
        labels, ratings = self.labels, self.responses.ratings
        disagreement = labels.disagreement()
        stratum = self._strata()
        n_strata = np.bincount(stratum)
        expected = np.bincount(stratum, disagreement) / n_strata
        residual = disagreement - expected[stratum]
        lengths = self.responses.lengths[labels.unit_index]
        if len(np.unique(lengths)) >= _FEWEST_LENGTHS:
            yield self._length(residual, stratum, lengths)
        models, groups = self.responses.models[labels.unit_index], ratings.group[labels.unit_index]
        yield from self._category(CauseKind.MODEL, residual, stratum, models.astype(str))
        yield from self._category(CauseKind.GROUP, residual, stratum, groups.astype(str))
        yield from self._copies(residual, stratum)

    def _length(self, residual: Floats, stratum: Integers, lengths: Floats) -> Cause:
        rank = _ranks(lengths)
        observed = float(residual @ rank)
        p_value = self._within(stratum, lambda order: abs(float(residual[order] @ rank)))
        is_worst = rank > 1 / 6 if observed > 0 else rank < -1 / 6
        third = "longest" if observed > 0 else "shortest"
        return self._cause(
            CauseKind.LENGTH,
            f"the {third} third of the responses",
            p_value,
            self.labels.alpha(is_kept=~is_worst[self.labels.unit]),
            self._top(residual * is_worst),
        )

    def _copies(self, residual: Floats, stratum: Integers) -> Iterator[Cause]:
        """Yield the test of texts that several responses share.

        A text counts once, with its mean: copies of a difficult text are difficult alike.
        """
        texts = self.responses.texts[self.labels.unit_index]
        _, first, code, n = np.unique(
            texts, return_index=True, return_inverse=True, return_counts=True
        )
        is_shared = n > 1
        if not _FEWEST_TEXTS <= is_shared.sum() <= len(n) - _FEWEST_TEXTS:
            return
        mean = np.bincount(code, residual) / n
        observed = float(mean @ is_shared)
        p_value = self._within(stratum[first], lambda order: float(mean[order] @ is_shared))
        is_copied = is_shared[code]
        yield self._cause(
            CauseKind.COPIES,
            f"{is_copied.sum():,} duplicated or nearly identical responses",
            p_value if observed > 0 else 1.0,
            self.labels.alpha(is_kept=~is_copied[self.labels.unit]),
            self._top(residual * is_copied),
        )

    def _category(
        self, kind: CauseKind, residual: Floats, stratum: Integers, feature: NDArray[np.str_]
    ) -> Iterator[Cause]:
        names, code = np.unique(feature, return_inverse=True)
        n_of = np.bincount(code)
        is_large = n_of >= (_FEWEST_LABELS if kind is CauseKind.MODEL else _FEWEST_OF_GROUP)
        if is_large.sum() <= 1:
            return

        def spread(order: Integers) -> float:
            total = np.bincount(code, residual[order], len(n_of))
            return float((total**2 / n_of)[is_large].sum())

        p_value = self._within(stratum, spread)
        excess = np.where(is_large, np.bincount(code, residual) / np.sqrt(n_of), -np.inf)
        worst = int(np.argmax(excess))
        is_worst = code == worst
        fixed, subject = self.labels.alpha(is_kept=~is_worst[self.labels.unit]), str(names[worst])
        if kind is CauseKind.GROUP:  # the worst of many is mostly the unluckiest
            fixed, subject = math.nan, "some prompts"
        yield self._cause(kind, subject, p_value, fixed, self._top(residual * is_worst))

    def _strata(self) -> Integers:
        """Return the stratum of each unit by mean rating; disagreement is less near the ends."""
        labels = self.labels
        n = np.bincount(labels.unit)
        mean = labels.sums(labels.value) / n[:, None]
        if not self.question.has_order:
            top = mean.argmax(axis=1)
            return np.unique(top, return_inverse=True)[1]
        n_strata = min(max(len(n) // _UNITS_OF_STRATUM, 2), _MOST_STRATA)
        edges = np.unique(np.quantile(mean[:, 0], np.linspace(0, 1, n_strata + 1)[1:-1]))
        return np.unique(np.searchsorted(edges, mean[:, 0]), return_inverse=True)[1]

    def fatigue(self) -> Iterator[Cause]:
        """Yield the test of fatigue: labels late in the work of their raters."""
        labels = self.labels
        position = labels.position
        is_known = ~np.isnan(position)
        if is_known.sum() < 3 * _FEWEST_LABELS or is_known.mean() < _LEAST_KNOWN:
            return
        distance = labels.distance(labels.value)
        distance = distance - labels.by_rater(distance)[labels.rater]
        centred = np.where(is_known, position - _MIDDLE, 0.0)
        observed = float(distance @ centred)
        rater = np.where(is_known, labels.rater, -1)
        p_value = self._within(rater, lambda order: float(distance[order] @ centred))
        early = ~(position > _MIDDLE)
        yield self._cause(
            CauseKind.FATIGUE,
            "the later half of each rater's labels",
            p_value if observed > 0 else 1.0,
            labels.alpha(is_kept=early),
            self._worst(distance * ~early),
        )

    def _within_units(self, statistic: Callable[[Integers], float]) -> float:
        return self._within(self.labels.unit, statistic)

    def _within(self, stratum: Integers, statistic: Callable[[Integers], float]) -> float:
        """Return the share of permutations within strata that reach the observed statistic.

        Permutations end with the 20th that does (Besag and Clifford 1991).
        """
        order = np.argsort(stratum, kind="stable")
        observed = statistic(np.arange(len(stratum)))
        n_as_high = 0
        permuted = np.empty_like(order)
        start = stratum.astype(np.float64)
        for n_drawn in range(1, _N_PERMUTATIONS + 1):
            # In strata, and at random in each: one sort takes half the time of two by `lexsort`.
            permuted[order] = np.argsort(start + self.rng.random(len(order)))
            n_as_high += statistic(permuted) >= observed - TOLERANCE
            if n_as_high == _ENOUGH_REACHED:
                return n_as_high / n_drawn
        return (n_as_high + 1) / (_N_PERMUTATIONS + 1)

    def _worst(self, by_label: Floats) -> list[str]:
        worst = np.zeros(len(self.labels.unit_index))
        np.maximum.at(worst, self.labels.unit, by_label)
        return self._top(worst)

    def _top(self, by_unit: Floats) -> list[str]:
        order = np.argsort(-by_unit, kind="stable")[:_N_EXAMPLES]
        ids = self.responses.response_ids[self.labels.unit_index[order]]
        return [str(name) for name in ids[by_unit[order] > 0]]

    def _cause(
        self, kind: CauseKind, subject: str, p_value: float, fixed: float, examples: list[str]
    ) -> Cause:
        alpha = self.labels.alpha()
        return Cause(
            self.question.id, kind, subject, p_value, math.nan, alpha, fixed, False, examples
        )


def _ranks(values: Floats) -> Floats:
    """Return ranks from -0.5 to 0.5; equal values by their place."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable") / len(values) - 0.5


def _camps_of(
    value: Floats, unit: Integers, rater: Integers, present: Floats, n_pairs: Floats
) -> tuple[float, NDArray[np.bool_]]:
    """Return the distance of two camps beyond that within them, and the members of the first."""
    square = np.zeros_like(present)
    square[unit, rater] = (value**2).sum(axis=1)
    total = present.T @ square
    total += total.T
    for column in value.T:
        dense = np.zeros_like(present)
        dense[unit, rater] = column
        total -= 2 * dense.T @ dense
    mean = total.sum() / max((n_pairs * ~np.eye(len(n_pairs), dtype=bool)).sum(), 1)
    distance = np.divide(total, n_pairs, out=np.full_like(total, mean), where=n_pairs > 0)
    np.fill_diagonal(distance, 0)
    centring = np.eye(len(distance)) - 1 / len(distance)
    _, vectors = np.linalg.eigh(-centring @ distance @ centring)
    is_first = vectors[:, -1] > 0
    if min(is_first.sum(), (~is_first).sum()) <= 1:
        return -math.inf, is_first
    same = is_first[:, None] == is_first
    weight = n_pairs * ~np.eye(len(distance), dtype=bool)
    if not (weight * same).sum() or not (weight * ~same).sum():
        return -math.inf, is_first
    between = (distance * weight * ~same).sum() / (weight * ~same).sum()
    within = (distance * weight * same).sum() / (weight * same).sum()
    return float(between - within), is_first


def _adjusted(causes: Sequence[Cause]) -> list[Cause]:
    return [
        replace(
            cause,
            adjusted_p=p_value,
            is_reported=p_value <= SIGNIFICANCE and not cause.gain < _LEAST_GAIN,
        )
        for cause, p_value in zip(
            causes, holm_p_values([cause.p_value for cause in causes]).tolist(), strict=True
        )
    ]
