"""Causes of disagreement between raters, each tested against chance."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import TOLERANCE
from eval_assets.wording import or_none

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIGNIFICANCE = 0.05
"""Most often, a question without any of these causes has one reported."""

N_PERMUTATIONS = 999
N_EXAMPLES = 5

_FEWEST_UNITS = 10
"""Units of a part whose alpha is reported."""

_FEWEST_LABELS = 10
"""Labels of a rater, and responses of a category, that are compared."""

_FEWEST_RATERS = 3
"""Raters of whom one can be unlike the others."""

_FEWEST_LEVELS, _MOST_LEVELS = 3, 11
_LEAST_KNOWN = 0.5
"""Share of labels whose time is known, for a test of their order."""

_MIDDLE = 0.5
_FEWEST_OF_GROUP = 2
_FEWEST_OF_CAMPS = 4
"""Raters of whom two camps can be told from one rater who differs."""

_MOST_UNITS = 3_000
_N_SWEEPS = 20
_N_HALVINGS = 30
_N_NODES = 61

_ENOUGH_REACHED = 20
_UNITS_OF_STRATUM = 10
_MOST_STRATA = 10

_LEAST_GAIN = 0.02
"""Gain in alpha below which fixing a cause is not worth the work (a choice)."""


class CauseKind(StrEnum):
    """Kind of a cause.

    Attributes:
        sentence: The cause in words, with a place for its subject.
        remedy: What to do about it.
    """

    sentence: str
    remedy: str

    RATER = (
        "rater",
        "{} rates unlike the others",
        "Rate examples together with this rater, or leave the ratings out.",
    )
    CAMPS = (
        "camps",
        "raters form two camps, {}",
        "Ask each camp what it looks for. Split the question if both are right.",
    )
    SCALE_USE = (
        "scale_use",
        "raters use the scale differently: {} than the others",
        "Give an example response for every value, and rate some of them together.",
    )
    PREFERENCE = (
        "preference",
        "{} than the others do",
        "Say in the guidelines whether that counts, with an example response.",
    )
    LEVELS = (
        "levels",
        "raters do not tell {} apart",
        "Define both values, each with an example response, or merge them.",
    )
    LENGTH = (
        "length",
        "raters disagree more on {}",
        "Say how the parts of a response count together, or split the question.",
    )
    MODEL = (
        "model",
        "raters disagree more on responses of {}",
        "Read these responses: the guidelines may not cover what is special about them.",
    )
    GROUP = (
        "group",
        "raters disagree more on {} than on others",
        "Read these prompts: the question may not fit them.",
    )
    FATIGUE = (
        "fatigue",
        "raters disagree more on {}",
        "Plan shorter sessions, and have the late labels given again.",
    )

    def __new__(cls, value: str, sentence: str, remedy: str) -> Self:
        """Return the kind with its wording."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.sentence = sentence
        kind.remedy = remedy
        return kind


@dataclass(frozen=True)
class Cause:
    """A tested cause of disagreement; a row of the table `disagreement_causes`.

    Args:
        question_id: The question.
        kind: What was tested.
        subject: The rater, camps, levels or part of the responses that the test points to.
        p_value: By permutation, before correction for the other tests.
        adjusted_p: Corrected for all tests of the question (Holm 1979).
        alpha: Interval-level alpha of the ratings as they are.
        alpha_fixed: Alpha without the cause, as its remedy assumes; NaN if undefined.
        is_reported: Whether chance does not explain it, and alpha would gain 0.02 or more without
            it, or by an unknown amount.
        examples: Responses that show it best, at most five.
    """

    question_id: str
    kind: CauseKind
    subject: str
    p_value: float
    adjusted_p: float
    alpha: float
    alpha_fixed: float
    is_reported: bool
    examples: list[str]

    @property
    def gain(self) -> float:
        """Return the gain in alpha without the cause."""
        return self.alpha_fixed - self.alpha

    def to_json(self) -> dict[str, object]:
        """Return the columns; undefined is null."""
        undefined = {"alpha": or_none(self.alpha), "alpha_fixed": or_none(self.alpha_fixed)}
        return asdict(self) | undefined

    def __str__(self) -> str:
        return self.kind.sentence.format(self.subject)


@dataclass(frozen=True, eq=False)
class RatedResponses:
    """Ratings of one question with the features of its responses.

    Args:
        ratings: Human ratings.
        response_ids: Of the stored responses.
        lengths: Characters of each response.
        models: Model of each response.
        positions: Position of each label in the work of its rater, from 0 to 1, NaN if unknown.
    """

    ratings: LongRatings
    response_ids: NDArray[np.object_]
    lengths: Floats
    models: NDArray[np.object_]
    positions: Floats


@dataclass(frozen=True, eq=False)
class _Labels:
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

    def shuffled(self, rng: np.random.Generator) -> Integers:
        """Return a random order of the labels within each unit."""
        return np.lexsort((rng.random(len(self.unit)), self.unit))

    def by_rater(self, values: Floats) -> Floats:
        """Return the mean of each rater."""
        n = np.bincount(self.rater)
        total = np.bincount(self.rater, values)
        means: Floats = np.divide(total, n, out=np.zeros(len(n)), where=n > 0)
        return means


def causes_of_disagreement(
    responses: RatedResponses, question: RubricQuestion
) -> tuple[Cause, ...]:
    """Return everything that was tested, the largest gain of what is reported first.

    Raters are compared under permutation of the ratings within each response, features of the
    responses under permutation over responses of about the same mean rating, positions under
    permutation within each rater, and levels with draws from a normal model without confusion.
    At most 3,000 responses are used, drawn with a fixed seed.

    Args:
        responses: Ratings and features.
        question: The question.

    References:
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6, 65-70. Besag, J., Clifford, P. (1991). Sequential Monte Carlo
        p-values. Biometrika 78, 301-304, doi:10.1093/biomet/78.2.301.
    """
    labels = _labels(responses, question)
    if len(labels.stored) < _FEWEST_UNITS:
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


def names_of_others(causes: Sequence[Cause]) -> list[str]:
    """Return the kinds of cause that were tested and of which none is reported."""
    reported = {cause.kind for cause in causes if cause.is_reported}
    kinds = dict.fromkeys(cause.kind for cause in causes if cause.kind not in reported)
    return [kind.value.replace("_", " ") for kind in kinds]


@dataclass(frozen=True, eq=False)
class _Study:
    """The tests of one question."""

    responses: RatedResponses
    question: RubricQuestion
    labels: _Labels
    rng: np.random.Generator

    def raters(self) -> Iterator[Cause]:
        """Yield the tests that compare raters."""
        labels = self.labels
        n_labels = np.bincount(labels.rater)
        offset = _offsets(labels) if self.question.has_order else np.zeros(len(n_labels))
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
        points = offset[rater] * (self.question.scale.high - self.question.scale.low)
        name = self.responses.ratings.rater_ids[rater]
        return self._cause(
            CauseKind.SCALE_USE,
            f"{name} rates {abs(points):.2g} {'higher' if points > 0 else 'lower'}",
            p_value,
            _alpha(labels.unit, centred),
            self._worst(np.abs(residual) * (labels.rater == rater)),
        )

    def _preferences(self, centred: Floats) -> Iterator[Cause]:
        """Yield the tests of raters who value a feature of the responses unlike the others."""
        stored = self.labels.stored
        if len(np.unique(self.responses.lengths[stored])) >= _FEWEST_LEVELS:
            yield self._preference(centred, self._length_ranks(), ["longer responses"])
        models, code = np.unique(self.responses.models[stored].astype(str), return_inverse=True)
        if 1 < len(models) <= _MOST_LEVELS and np.bincount(code).min() >= _FEWEST_LABELS:
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
            _alpha(labels.unit, labels.value - explained),
            self._worst(residual * explained[:, 0] * (labels.rater == rater)),
        )

    def _length_ranks(self) -> Floats:
        """Return the ranks of the units by length, with mean 0 and standard deviation 1."""
        return _ranks(self.responses.lengths[self.labels.stored])[:, None] * math.sqrt(12)

    def _slopes(self, residual: Floats, feature: Floats) -> Floats:
        """Return how much higher each rater rates with each column of a feature."""
        products = residual[:, None] * feature[self.labels.unit]
        return np.stack([self.labels.by_rater(column) for column in products.T], axis=1)

    def _explained(self, value: Floats, feature: Floats) -> Floats:
        """Return the part of the differences between raters that goes with a feature."""
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
        kept = labels.rater != rater
        return self._cause(
            CauseKind.RATER,
            self.responses.ratings.rater_ids[rater],
            p_value,
            self._alpha_of(kept),
            self._worst(labels.distance(centred) * ~kept),
        )

    def _camps(self, centred: Floats, is_compared: NDArray[np.bool_]) -> Iterator[Cause]:
        labels = self.labels
        column = np.cumsum(is_compared) - 1
        kept = is_compared[labels.rater]
        unit, rater = labels.unit[kept], column[labels.rater[kept]]
        shape = len(labels.stored), int(is_compared.sum())
        present = np.zeros(shape)
        present[unit, rater] = 1
        n_pairs = present.T @ present

        def camps(value: Floats) -> tuple[float, NDArray[np.bool_]]:
            return _camps_of(value[kept], unit, rater, present, n_pairs)

        statistic, is_first = camps(centred)
        if not math.isfinite(statistic):
            return
        p_value = self._within_units(lambda order: camps(centred[order])[0])
        camp = np.full(len(is_compared), 2)
        camp[is_compared] = is_first
        names = np.array(self.responses.ratings.rater_ids)
        inside = _alpha_within(labels, camp)
        subject = " and ".join(f"{{{', '.join(names[camp == side])}}}" for side in (1, 0))
        between = labels.disagreement() - _disagreement_within(labels, camp)
        yield self._cause(CauseKind.CAMPS, subject, p_value, inside, self._top(between))

    def levels(self) -> Iterator[Cause]:
        """Yield the test of adjacent levels that raters do not tell apart."""
        labels = self.labels
        level, code = np.unique(labels.value[:, 0], return_inverse=True)
        if not _FEWEST_LEVELS <= len(level) <= _MOST_LEVELS:
            return
        share = np.bincount(code) / len(code)
        is_tested = np.minimum(share[:-1], share[1:]) * len(code) >= _FEWEST_LABELS
        if is_tested.sum() <= 1:
            return
        # Confusion lowers alpha, to which the model is fitted: compare with the other levels.
        observed = _contrast(_log_odds(labels.unit, code, len(level)), is_tested)
        draws = _contrast(np.stack(list(self._normal_draws(level, share))), is_tested)
        mean, spread = draws.mean(axis=0), draws.std(axis=0)
        score = np.where(is_tested, (observed - mean) / spread, np.inf)
        drawn = np.where(is_tested, (draws - mean) / spread, np.inf).min(axis=1)
        pair = int(np.argmin(score))
        p_value = (1 + (drawn <= score[pair]).sum()) / (1 + len(drawn))
        merged = level.copy()
        merged[pair : pair + 2] = merged[pair : pair + 2].mean()
        scale = self.question.scale
        low, high = scale.low + level[pair : pair + 2] * (scale.high - scale.low)
        both = np.minimum(
            *(np.bincount(labels.unit, code == k, len(labels.stored)) for k in (pair, pair + 1))
        )
        yield self._cause(
            CauseKind.LEVELS,
            f"{low:g} and {high:g}",
            float(p_value),
            _alpha(labels.unit, merged[code][:, None]),
            self._top(both),
        )

    def _normal_draws(self, level: Floats, share: Floats) -> Iterator[Floats]:
        """Yield log odds of adjacent levels under a normal model with the same alpha."""
        labels = self.labels
        cuts = _normal_quantiles(np.cumsum(share)[:-1])
        shared = _correlation(_alpha(labels.unit, labels.value), level, cuts)
        n_units, n_labels = len(labels.stored), len(labels.unit)
        for _ in range(N_PERMUTATIONS):
            latent = math.sqrt(shared) * self.rng.normal(size=n_units)[labels.unit]
            latent += math.sqrt(1 - shared) * self.rng.normal(size=n_labels)
            yield _log_odds(labels.unit, np.searchsorted(cuts, latent), len(level))

    def features(self) -> Iterator[Cause]:
        """Yield the tests of features of the responses."""
        labels, ratings = self.labels, self.responses.ratings
        disagreement = labels.disagreement()
        stratum = self._strata()
        n_strata = np.bincount(stratum)
        expected = np.bincount(stratum, disagreement) / n_strata
        residual = disagreement - expected[stratum]
        lengths = self.responses.lengths[labels.stored]
        if len(np.unique(lengths)) >= _FEWEST_LEVELS:
            yield self._length(residual, stratum, lengths)
        models, groups = self.responses.models[labels.stored], ratings.group[labels.stored]
        yield from self._category(CauseKind.MODEL, residual, stratum, models.astype(str))
        yield from self._category(CauseKind.GROUP, residual, stratum, groups.astype(str))

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
            self._alpha_of(~is_worst[self.labels.unit]),
            self._top(residual * is_worst),
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
        fixed, subject = self._alpha_of(~is_worst[self.labels.unit]), str(names[worst])
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
        """Yield the test of labels late in the work of their raters."""
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
            self._alpha_of(early),
            self._worst(distance * ~early),
        )

    def _within_units(self, statistic: Callable[[Integers], float]) -> float:
        """Return the p-value of a statistic of labels, permuted within units."""
        return self._within(self.labels.unit, statistic)

    def _within(self, stratum: Integers, statistic: Callable[[Integers], float]) -> float:
        """Return the share of permutations within strata that reach the observed statistic.

        Permutations end with the 20th that does (Besag and Clifford 1991).
        """
        order = np.argsort(stratum, kind="stable")
        observed = statistic(np.arange(len(stratum)))
        n_reached = 0
        permuted = np.empty_like(order)
        for n_drawn in range(1, N_PERMUTATIONS + 1):
            permuted[order] = np.lexsort((self.rng.random(len(order)), stratum))
            n_reached += statistic(permuted) >= observed - TOLERANCE
            if n_reached == _ENOUGH_REACHED:
                return n_reached / n_drawn
        return (n_reached + 1) / (N_PERMUTATIONS + 1)

    def _alpha_of(self, kept: NDArray[np.bool_]) -> float:
        labels = self.labels
        n = np.bincount(labels.unit[kept], minlength=len(labels.stored))
        kept = kept & (n[labels.unit] > 1)
        if (n > 1).sum() < _FEWEST_UNITS:
            return math.nan
        unit = np.unique(labels.unit[kept], return_inverse=True)[1]
        return _alpha(unit, labels.value[kept])

    def _worst(self, by_label: Floats) -> list[str]:
        worst = np.zeros(len(self.labels.stored))
        np.maximum.at(worst, self.labels.unit, by_label)
        return self._top(worst)

    def _top(self, by_unit: Floats) -> list[str]:
        order = np.argsort(-by_unit, kind="stable")[:N_EXAMPLES]
        ids = self.responses.response_ids[self.labels.stored[order]]
        return [str(name) for name in ids[by_unit[order] > 0]]

    def _cause(
        self, kind: CauseKind, subject: str, p_value: float, fixed: float, examples: list[str]
    ) -> Cause:
        alpha = _alpha(self.labels.unit, self.labels.value)
        return Cause(
            self.question.id, kind, subject, p_value, math.nan, alpha, fixed, False, examples
        )


def _labels(responses: RatedResponses, question: RubricQuestion) -> _Labels:
    ratings = responses.ratings
    n = np.bincount(ratings.unit, minlength=ratings.n_responses)
    stored = np.flatnonzero(n > 1)
    if len(stored) > _MOST_UNITS:
        stored = np.sort(np.random.default_rng(0).choice(stored, _MOST_UNITS, replace=False))
    place = np.full(ratings.n_responses, -1)
    place[stored] = np.arange(len(stored))
    kept = place[ratings.unit] >= 0
    on_unit = question.scale.to_unit(ratings.value[kept])
    value = on_unit[:, None]
    if not question.has_order:
        value = (on_unit[:, None] == np.unique(on_unit)).astype(float)
    return _Labels(
        place[ratings.unit[kept]], ratings.rater[kept], value, responses.positions[kept], stored
    )


def _offsets(labels: _Labels) -> Floats:
    """Return how much higher each rater rates, by least squares of raters and units."""
    value = labels.value[:, 0]
    offset = np.zeros(int(labels.rater.max()) + 1)
    n = np.bincount(labels.unit)
    for _ in range(_N_SWEEPS):
        mean = np.bincount(labels.unit, value - offset[labels.rater]) / n
        offset = labels.by_rater(value - mean[labels.unit])
    result: Floats = offset - np.average(offset, weights=np.bincount(labels.rater))
    return result


def _ranks(values: Floats) -> Floats:
    """Return ranks from -0.5 to 0.5; equal values by their place."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable") / len(values) - 0.5


def _alpha(unit: Integers, value: Floats) -> float:
    """Return alpha of labels of units with at least two; squared distance."""
    n = np.bincount(unit)
    square = np.bincount(unit, (value**2).sum(axis=1))
    sums = np.stack([np.bincount(unit, column) for column in value.T], axis=1)
    observed = ((n * square - (sums**2).sum(axis=1)) / (n - 1)).sum()
    total = len(unit)
    expected = (total * square.sum() - (value.sum(axis=0) ** 2).sum()) / (total - 1)
    return float(1 - observed / expected) if expected > 0 else math.nan


def _alpha_within(labels: _Labels, camp: Integers) -> float:
    """Return alpha if only raters of one camp are compared."""
    unit = labels.unit * 3 + camp[labels.rater]
    n = np.bincount(unit, minlength=3 * len(labels.stored))
    kept = n[unit] > 1
    if (n > 1).sum() < _FEWEST_UNITS:
        return math.nan
    return _alpha(np.unique(unit[kept], return_inverse=True)[1], labels.value[kept])


def _disagreement_within(labels: _Labels, camp: Integers) -> Floats:
    """Return the mean squared distance of pairs of one camp, by unit."""
    unit = labels.unit * 3 + camp[labels.rater]
    n = np.bincount(unit, minlength=3 * len(labels.stored))
    square = np.bincount(unit, (labels.value**2).sum(axis=1), len(n))
    sums = np.stack([np.bincount(unit, column, len(n)) for column in labels.value.T], axis=1)
    within = (n * square - (sums**2).sum(axis=1)).reshape(-1, 3)
    pairs = (n * (n - 1) / 2).reshape(-1, 3)
    mean: Floats = within.sum(axis=1) / np.maximum(pairs.sum(axis=1), 1)
    return mean


def _camps_of(
    value: Floats, unit: Integers, rater: Integers, present: Floats, n_pairs: Floats
) -> tuple[float, NDArray[np.bool_]]:
    """Return how much farther apart two camps are than their members, and who is in the first."""
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


def _log_odds(unit: Integers, code: Integers, n_levels: int) -> Floats:
    """Return by how much raters tell each level from the next one: log odds of agreement."""
    counts = np.zeros((int(unit.max()) + 1, n_levels))
    np.add.at(counts, (unit, code), 1)
    weight = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weight[:, None]).T @ counts
    own = np.diag(pairs) - weight @ counts
    other = np.diag(pairs, 1)
    odds: Floats = np.log((own[:-1] + 0.5) * (own[1:] + 0.5) / (other + 0.5) ** 2)
    return odds


def _contrast(odds: Floats, is_tested: NDArray[np.bool_]) -> Floats:
    """Return the difference of each pair of levels from the mean of the other pairs."""
    kept = np.where(is_tested, odds, 0.0)
    others = (kept.sum(axis=-1, keepdims=True) - kept) / (is_tested.sum() - 1)
    difference: Floats = kept - others
    return difference


def _correlation(alpha: float, level: Floats, cuts: Floats) -> float:
    """Return the correlation of two raters' normal impressions that gives such an alpha."""
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


def _adjusted(causes: Sequence[Cause]) -> list[Cause]:
    """Return the causes with p-values by Holm's procedure."""
    adjusted: list[Cause] = []
    least = 0.0
    for place, cause in enumerate(sorted(causes, key=lambda cause: cause.p_value)):
        least = max(least, min(1.0, (len(causes) - place) * cause.p_value))
        is_reported = least <= SIGNIFICANCE and not cause.gain < _LEAST_GAIN
        adjusted.append(replace(cause, adjusted_p=least, is_reported=is_reported))
    return adjusted
