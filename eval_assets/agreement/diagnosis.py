"""Why people disagree on a question: deviating raters, confused values and use of the scale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from eval_assets.agreement.ratings import Floats, LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Level
from eval_assets.stats import RatingPatterns, krippendorff_alpha
from eval_assets.stats.equal_quality import without_severity
from eval_assets.wording import counted, figure_text, listed, or_none, percent_text

_FEWEST_SHARED, _FEWEST_DIFFERING = 10, 20
"""Units that a rater shares with others, and units on which ratings differ, from which on a cause
shows."""

_LEAST_GAP, _LEAST_EXPLAINED = 0.2, 1 / 6
"""Difference of two raters, in shares of the scale, and share of the squared disagreement that goes
with severities, from which on these are its cause (choices). One point of 1 to 5 is .25, and the
ends of the scale shrink it. The share keeps noise of many raters with few ratings out."""

_LEAST_MIXED = 1 / 2
"""Share of the differing pairs from which on two values are the cause (a choice)."""

_MOST_VALUES = 11

_FEWEST_RATERS, _MOST_RATERS, _LEAST_GAIN = 3, 12, 0.2
"""Of so many raters one may be the cause, if alpha is so much higher without them (choices). Of two
nobody can tell which; among many, one hardly counts. Noise of equal raters gains less."""


@dataclass(frozen=True)
class SeverityGap:
    """A rater who rates higher than another, by so many points of the scale."""

    lenient: str
    strict: str
    points: float


@dataclass(frozen=True)
class DeviatingRater:
    """The one rater without whom the others agree, with their alpha."""

    rater: str
    alpha: float


@dataclass(frozen=True)
class MixedValues:
    """Two values, and the share of differing pairs of ratings that they are."""

    values: tuple[float, float]
    share: float


Cause = SeverityGap | DeviatingRater | MixedValues


def cause_of_disagreement(
    question: RubricQuestion,
    ratings: LongRatings,
    patterns: RatingPatterns,
    *,
    level: Level,
    limit: float,
) -> Cause | None:
    """Return what most of the disagreement comes from; None if nothing stands out.

    `limit` is the alpha from which on people agree.
    """
    return (
        _severity_gap(question, ratings.shared())
        or _deviating_rater(ratings, patterns, level=level, limit=limit)
        or _mixed_values(question, patterns)
    )


def _severity_gap(question: RubricQuestion, ratings: LongRatings) -> SeverityGap | None:
    n_raters = len(ratings.rater_ids)
    n_of_rater = np.bincount(ratings.rater, minlength=n_raters)
    is_known = n_of_rater >= _FEWEST_SHARED
    if not question.has_order or is_known.sum() < 2:  # noqa: PLR2004 - of two raters
        return None
    unit = np.unique(ratings.unit, return_inverse=True)[1]
    levelled = without_severity(unit, ratings.rater, ratings.value)
    n_units, n_compared = int(unit[-1]) + 1, int(np.count_nonzero(n_of_rater))

    def disagreement(values: np.ndarray) -> float:
        means = np.bincount(unit, values) / np.bincount(unit)
        return float(((values - means[unit]) ** 2).sum())

    # Severities of many raters with few ratings fit noise as well, hence the degrees of freedom.
    n_free = len(unit) - n_units
    whole = disagreement(ratings.value) / n_free
    rest = disagreement(levelled) / max(n_free - n_compared + 1, 1)
    if not whole - rest >= _LEAST_EXPLAINED * whole > 0:
        return None
    severity = np.bincount(ratings.rater, ratings.value - levelled, n_raters)
    severity = np.where(is_known, severity / np.maximum(n_of_rater, 1), np.nan)
    lenient, strict = int(np.nanargmax(severity)), int(np.nanargmin(severity))
    points = float(severity[lenient] - severity[strict])
    if points < _LEAST_GAP * (question.scale.high - question.scale.low):
        return None
    return SeverityGap(ratings.rater_ids[lenient], ratings.rater_ids[strict], points)


def _deviating_rater(
    ratings: LongRatings, patterns: RatingPatterns, *, level: Level, limit: float
) -> DeviatingRater | None:
    n_of_rater = np.bincount(ratings.shared().rater, minlength=len(ratings.rater_ids))
    if not _FEWEST_RATERS <= np.count_nonzero(n_of_rater) <= _MOST_RATERS:
        return None
    least = max(limit, krippendorff_alpha(patterns, level=level) + _LEAST_GAIN)
    deviating = []
    for rater in np.flatnonzero(n_of_rater >= _FEWEST_SHARED).tolist():
        rest = ratings.where(ratings.rater != rater)
        if len(np.unique(rest.shared().unit)) >= _FEWEST_DIFFERING:
            alpha = krippendorff_alpha(rest.patterns(), level=level)
            if alpha >= least:
                deviating.append(DeviatingRater(ratings.rater_ids[rater], alpha))
    return deviating[0] if len(deviating) == 1 else None


def _mixed_values(question: RubricQuestion, patterns: RatingPatterns) -> MixedValues | None:
    n_values = len(patterns.values)
    if question.scale.has_two_values or not 2 <= n_values <= _MOST_VALUES:  # noqa: PLR2004
        return None
    counts = np.zeros((len(patterns.n_units), n_values))
    counts[patterns.pattern, patterns.code] = patterns.count
    is_differing = np.count_nonzero(counts, axis=1) > 1
    if patterns.n_units[is_differing].sum() < _FEWEST_DIFFERING:
        return None
    weights = patterns.n_units / np.maximum(patterns.n_ratings - 1, 1)
    pairs = np.triu(counts.T @ (counts * weights[:, np.newaxis]), 1)
    low, high = np.unravel_index(pairs.argmax(), pairs.shape)
    share = float(pairs[low, high] / pairs.sum())
    if share < _LEAST_MIXED:
        return None
    return MixedValues((float(patterns.values[low]), float(patterns.values[high])), share)


FEWEST_SHARED = 10
"""Least number of shared responses, of the question and of a rater, for an observation."""

WIDE_GAP = 0.25
"""Share of the scale from which severity calls for action: one point of 1 to 5 (a choice)."""

_N_BANDS = 5
"""A scale of more than `_MOST_VALUES` values is shown in fifths."""


@dataclass(frozen=True)
class RaterUse:
    """How a rater uses the scale.

    Args:
        n_shared: Number of the rater's responses that others rated too.
        severity: Mean difference from the others' mean on these, in scale points; NaN without
            any, and of classes without an order.
        counts: Labels of each value, or of each fifth of a long scale.
    """

    rater_id: str
    n_shared: int
    severity: float
    counts: tuple[int, ...]


@dataclass(frozen=True)
class DisputedResponse:
    """A response with its ratings by rater, before and after a discussion."""

    response_id: str
    text: str
    ratings: Mapping[str, float]
    second_ratings: Mapping[str, float]

    @property
    def ratings_text(self) -> str:
        """Return the ratings in words.

        Examples:
            >>> DisputedResponse("r1", "", {"anna": 4.0, "ben": 2.0}, {"ben": 3.0}).ratings_text
            'anna 4 and ben 2; after a discussion ben 3'
        """
        first, second = (
            listed([f"{rater} {value:g}" for rater, value in of.items()])
            for of in (self.ratings, self.second_ratings)
        )
        return f"{first}; after a discussion {second}" if second else first


@dataclass(frozen=True)
class Observation:
    """What stands out, and what to do about it; without full stops."""

    text: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Ratings of a question by value and by rater, and its responses with the largest spread.

    Args:
        n_shared: Number of responses with two ratings or more.
        pairs: Pairs of ratings of one response by their values, each in both directions; the pairs
            of a response with m ratings weigh 1 / (m - 1). Krippendorff's matrix of coincidences.
        responses: Those of `label_disagreements`, worst first.
        deviating: The one rater without whom the others agree; None if there is none.
    """

    question: RubricQuestion
    n_shared: int
    pairs: Floats
    raters: tuple[RaterUse, ...]
    responses: tuple[DisputedResponse, ...]
    deviating: DeviatingRater | None = None

    @property
    def values(self) -> list[str]:
        """Return the names of the values, or fifths of the scale, in order."""
        scale, lower = self.question.scale, lowest_values(self.question)
        if scale.values is not None and len(scale.values) == len(lower):
            return [scale.shown(value) for value in lower]
        upper = [*lower[1:], scale.high]
        return [f"{low:g} to {high:g}" for low, high in zip(lower, upper, strict=True)]

    @property
    def shares(self) -> Floats:
        """Return the distribution of the other ratings of a response, for each value given to it.

        Rows of values that were never given to a shared response are NaN.
        """
        total = self.pairs.sum(axis=1, keepdims=True)
        shares: Floats = np.divide(
            self.pairs, total, out=np.full(self.pairs.shape, np.nan), where=total > 0
        )
        return shares

    def observations(self) -> Iterator[Observation]:
        """Yield what stands out; nothing on few shared responses, or where all ratings agree."""
        different = np.triu(self.pairs, 1)
        if self.n_shared < FEWEST_SHARED or not different.any():
            return
        if self.deviating is not None:
            name, alpha = self.deviating.rater, figure_text(self.deviating.alpha)
            yield Observation(
                f"without {name} the others agree, alpha {alpha}",
                f"Go through examples of each score with {name}",
            )
        low, high = np.unravel_index(different.argmax(), different.shape)
        total, names = self.pairs.sum(axis=1), self.values
        # From the rarer value, which the other one replaces more often.
        rarer, other = (low, high) if total[low] < total[high] else (high, low)
        yield Observation(
            f"raters most often mix up {names[low]} and {names[high]}: beside {names[rarer]}, "
            f"{percent_text(self.shares[rarer, other])} of the other ratings are {names[other]}",
            "Define both values, each with an example response"
            + (", or merge them" if len(names) > 2 else ""),  # noqa: PLR2004 - one is no question
        )
        width = self.question.scale.high - self.question.scale.low
        for rater in self.raters:
            if rater.n_shared >= FEWEST_SHARED and abs(rater.severity) >= WIDE_GAP * width:
                yield Observation(
                    f"{rater.rater_id} rates {abs(rater.severity):.2g} "
                    f"{'higher' if rater.severity > 0 else 'lower'} than the others on "
                    f"{counted(rater.n_shared, 'shared response')}",
                    "Agree on an example response for each value",
                )

    def summary(self) -> str:
        """Return the observations as a sentence without full stop, or why there is none."""
        if not self.n_shared:
            return "no response has two ratings"
        if self.n_shared < FEWEST_SHARED:
            return f"only {counted(self.n_shared, 'response')} with two ratings, too few to tell"
        return (
            "; ".join(observation.text for observation in self.observations())
            or "all ratings agree"
        )

    def to_json(self) -> dict[str, object]:
        """Return everything in the types of JSON; undefined is null."""
        return {
            "question_id": self.question.id,
            "n_responses": self.n_shared,
            "observations": [vars(observation) for observation in self.observations()],
            "confusion": [
                {"value": value, "other": other, "share": or_none(float(share))}
                for value, row in zip(self.values, self.shares, strict=True)
                for other, share in zip(self.values, row, strict=True)
            ],
            "raters": [
                {
                    "rater_id": rater.rater_id,
                    "n_shared": rater.n_shared,
                    "severity": or_none(rater.severity),
                    "labels": dict(zip(self.values, rater.counts, strict=True)),
                }
                for rater in self.raters
            ],
            "responses": [vars(response) for response in self.responses],
        }


def lowest_values(question: RubricQuestion) -> list[float]:
    """Return the values of a question, or the lower ends of the fifths of a long scale."""
    scale = question.scale
    if scale.values is not None and len(scale.values) <= _MOST_VALUES:
        return list(scale.values)
    return [scale.low + band * (scale.high - scale.low) / _N_BANDS for band in range(_N_BANDS)]
