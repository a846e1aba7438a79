"""Comparison of responses with two ratings with the rest, and weighted agreement."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.catalogue import CONFIDENCE, Figure
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import WeightedHumanFigures
from eval_assets.scale import Level
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    coefficient_interval,
    holm_p_values,
    rank_components,
    selection_shift,
    selection_weights,
    weighted_interval,
)
from eval_assets.wording import listed, percent_text

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SIGNIFICANCE = 0.05
"""Largest chance that an evaluation with a random overlap has a reported difference."""

_N_PERMUTATIONS, _OF_EACH_TEST = 2_000, 40
"""Number of permutations, and least number for each test of the evaluation, so that the least
possible p-value is significant after correction for all tests."""

_FEWEST = 10
"""Least number of responses of either side."""

_MOST_MODELS = 20
"""Largest number of models that are compared one by one; rarer ones count together."""

_OTHERS = "other models"
_MOST_NAMED = 3


class SelectionFeature(StrEnum):
    """Feature by which responses with two ratings are compared with the rest.

    Attributes:
        more: Verb phrase for responses with two ratings that have more of it.
        less: Verb phrase for those that have less of it.
        noun: Noun phrase for their order.
    """

    more: str
    less: str
    noun: str

    LENGTH = "length", "are longer", "are shorter", "length"
    PROMPT_LENGTH = (
        "prompt_length",
        "answer longer prompts",
        "answer shorter prompts",
        "the length of the prompt",
    )
    GROUP_SIZE = (
        "group_size",
        "belong to larger response groups",
        "belong to smaller response groups",
        "the size of the response group",
    )
    DATE = "date", "are newer", "are older", "date"
    JUDGE_SCORE = (
        "judge_score",
        "have higher judge scores",
        "have lower judge scores",
        "judge score",
    )
    MODEL = "model", "are more often of {}", "are less often of {}", "model"

    def __new__(cls, value: str, more: str, less: str, noun: str) -> Self:
        """Return the feature with its wording."""
        feature = str.__new__(cls, value)
        feature._value_ = value
        feature.more, feature.less, feature.noun = more, less, noun
        return feature


@dataclass(frozen=True, eq=False)
class ResponseFeatures:
    """Features of the stored responses, in order of unit index.

    Args:
        lengths: Characters of each response.
        prompt_lengths: Characters of its prompt; NaN without one.
        dates: Time of each response in seconds; NaN if unknown.
        applicable: By question, whether it applies to each response.
        judge_scores: By question, the mean of the judges' scores on [0, 1]; NaN without one, and
            under a seal.
    """

    lengths: Floats
    prompt_lengths: Floats
    dates: Floats
    models: NDArray[np.object_]
    applicable: Mapping[str, Mask]
    judge_scores: Mapping[str, Floats]


@dataclass(frozen=True)
class SelectionTest:
    """A test of a feature; a row of the table `rated_response_selection`.

    Args:
        difference: Direction of the largest difference, in words.
        figure: Whether `rated` and `rest` are mean ranks from 0 to 1, or shares.
        rated: Figure of the responses with two ratings.
        adjusted_p: Corrected for all tests of the evaluation (Holm 1979).
        is_reported: Whether it is more than chance.
    """

    question_id: str
    feature: SelectionFeature
    difference: str
    figure: Literal["mean_rank", "share"]
    rated: float
    rest: float
    n_rated: int
    n_rest: int
    n_groups: int
    p_value: float
    adjusted_p: float
    is_reported: bool


@dataclass(frozen=True)
class SelectionMeasures:
    """Selection of the responses that agreement is measured on."""

    tests: tuple[SelectionTest, ...]
    weighted: tuple[WeightedHumanFigures, ...]


def measure_selection(
    humans: HumanRatings, features: ResponseFeatures, evaluation: Evaluation
) -> SelectionMeasures:
    """Compare the responses with two ratings with the rest, and weight agreement to all.

    Questions about the same responses, of which the same have two ratings, are tested
    together. Questions with fewer than ten responses on either side are left out.

    References:
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6, 65-70.
    """
    levels = alpha_levels(evaluation, "human")
    tests: list[list[SelectionTest]] = []
    weighted: list[WeightedHumanFigures] = []
    overlaps = [
        (overlap, dict(overlap.columns(features)))
        for overlap in _overlaps(humans.ratings, features, evaluation.rubric)
    ]
    n_tests = sum(len(columns) for _, columns in overlaps)
    n_permutations = max(_N_PERMUTATIONS, _OF_EACH_TEST * n_tests) - 1
    for overlap, columns in overlaps:
        tests += [
            overlap.tested(feature, *item, n_permutations=n_permutations)
            for feature, item in columns.items()
        ]
        weighted += [
            overlap.weighted(question, columns, levels[question.id], humans.data_version)
            for question in overlap.questions
        ]
    order = {question.id: index for index, question in enumerate(evaluation.rubric)}
    return SelectionMeasures(
        tuple(sorted(_adjusted(tests), key=lambda test: (order[test.question_id], test.p_value))),
        tuple(sorted(weighted, key=lambda row: order[row.question_id])),
    )


def selection_sentences(tests: Sequence[SelectionTest]) -> list[str]:
    """Return a sentence for each set of questions with the same reported differences."""
    questions: dict[str, list[str]] = {}
    for test in tests:
        if test.is_reported:
            questions.setdefault(_difference(test), []).append(test.question_id)
    differences: dict[tuple[str, ...], list[str]] = {}
    for difference, names in questions.items():
        differences.setdefault(tuple(names), []).append(difference)
    return [
        f"Responses with two ratings {listed(of_questions)} than the rest, "
        f"on {listed(names, most=_MOST_NAMED)}"
        for names, of_questions in differences.items()
    ]


def _difference(test: SelectionTest) -> str:
    if test.figure == "share":
        shares = (percent_text(100 * share) for share in (test.rated, test.rest))
        return f"{test.difference} ({' against '.join(shares)})"
    return f"{test.difference} (mean rank {test.rated:.2f} against {test.rest:.2f})"


_Columns = tuple[Floats, Sequence[str]]
"""Columns of a feature by response, and their names."""


@dataclass(frozen=True, eq=False)
class _Overlap:
    """Questions about the same responses, of which the same have two ratings.

    Args:
        responses: Indices of the responses to which they apply.
        is_rated: Whether each of these has two ratings.
    """

    questions: Sequence[RubricQuestion]
    ratings: Mapping[str, LongRatings]
    responses: NDArray[np.int64]
    is_rated: Mask

    @property
    def group(self) -> NDArray[np.integer[Any]]:
        """Response group of each response."""
        return self.ratings[self.questions[0].id].group[self.responses]

    def columns(self, features: ResponseFeatures) -> Iterator[tuple[SelectionFeature, _Columns]]:
        """Yield the features that vary, as columns."""
        group = self.ratings[self.questions[0].id].group
        numbers = {
            SelectionFeature.LENGTH: features.lengths,
            SelectionFeature.PROMPT_LENGTH: features.prompt_lengths,
            SelectionFeature.GROUP_SIZE: np.bincount(group)[group].astype(np.float64),
            SelectionFeature.DATE: features.dates,
            SelectionFeature.JUDGE_SCORE: self._judge_scores(features),
        }
        for feature, values in numbers.items():
            of_responses = values[self.responses]
            if len(np.unique(of_responses[~np.isnan(of_responses)])) > 1:
                yield feature, (rank_components(of_responses), ())
        models, code = np.unique(features.models[self.responses].astype(str), return_inverse=True)
        if len(models) > 1:
            yield SelectionFeature.MODEL, _indicators(code, models.tolist())

    def _judge_scores(self, features: ResponseFeatures) -> Floats:
        """Return the mean score over the questions; NaN unless all are scored."""
        ordered = [question.id for question in self.questions if question.has_order]
        scores = [features.judge_scores[name] for name in ordered if name in features.judge_scores]
        if not scores:
            return np.full(len(features.lengths), math.nan)
        mean: Floats = np.mean(scores, axis=0)
        return mean

    def tested(
        self,
        feature: SelectionFeature,
        components: Floats,
        names: Sequence[str],
        *,
        n_permutations: int,
    ) -> list[SelectionTest]:
        """Return the test of a feature, for each question."""
        shift = selection_shift(
            components,
            self.is_rated,
            groups=self.group,
            n_permutations=n_permutations,
            rng=np.random.default_rng(0),
        )
        is_more = shift.selected > shift.rest
        is_rank = feature is not SelectionFeature.MODEL and shift.component == 0
        if shift.component < 0 or math.isnan(shift.p_value):
            difference = ""
        elif feature is SelectionFeature.MODEL:
            words = feature.more if is_more else feature.less
            difference = words.format(names[shift.component])
        elif is_rank:
            difference = feature.more if is_more else feature.less
        else:
            frequency = "more" if is_more else "less"
            difference = f"{frequency} often lie in the middle half by {feature.noun}"
        return [
            SelectionTest(
                question_id=question.id,
                feature=feature,
                difference=difference,
                figure="mean_rank" if is_rank else "share",
                rated=shift.selected,
                rest=shift.rest,
                n_rated=shift.n_selected,
                n_rest=shift.n_rest,
                n_groups=shift.n_groups,
                p_value=shift.p_value,
                adjusted_p=math.nan,
                is_reported=False,
            )
            for question in self.questions
        ]

    def weighted(
        self,
        question: RubricQuestion,
        columns: Mapping[SelectionFeature, _Columns],
        level: Level,
        data_version: str,
    ) -> WeightedHumanFigures:
        """Return agreement on a question, unweighted and weighted to all responses."""
        is_represented = np.ones(len(self.responses), np.bool_)
        if SelectionFeature.MODEL in columns:  # nothing stands for a model without two ratings
            indicators = columns[SelectionFeature.MODEL][0]
            is_absent = ~indicators[self.is_rated].any(axis=0)
            is_represented = np.count_nonzero(indicators[:, is_absent], axis=1) == 0
        names = [
            feature
            for feature, (components, _) in columns.items()
            if feature is not SelectionFeature.JUDGE_SCORE or not np.isnan(components).any()
        ]
        represented = self.responses[is_represented]
        weights = selection_weights(
            np.column_stack([np.empty((len(self.responses), 0)), *(columns[f][0] for f in names)])[
                is_represented
            ],
            self.is_rated[is_represented],
            groups=self.group[is_represented],
        )
        matrix = self.ratings[question.id].matrix()[represented]
        a_hh, alpha = HumanAgreement(question.scale), Alpha(level)
        return WeightedHumanFigures(
            question_id=question.id,
            n_responses=int(self.is_rated.sum()),
            n_asked=len(self.responses),
            n_unrepresented=int((~is_represented).sum()),
            n_effective=round(weights.n_effective),
            weighted_by=", ".join(names),
            a_hh=_plain(matrix, a_hh, self.group[is_represented]),
            a_hh_weighted=Figure.of(
                weighted_interval(matrix, a_hh, weights=weights, confidence=CONFIDENCE)
            ),
            alpha=_plain(matrix, alpha, self.group[is_represented]),
            alpha_weighted=Figure.of(
                weighted_interval(matrix, alpha, weights=weights, confidence=CONFIDENCE)
            ),
            alpha_level=level,
            data_version=data_version,
        )


def _plain(
    matrix: Floats, coefficient: Alpha | HumanAgreement, group: NDArray[np.integer[Any]]
) -> Figure:
    return Figure.of(coefficient_interval(matrix, coefficient, confidence=CONFIDENCE, groups=group))


def _indicators(code: NDArray[np.integer[Any]], names: list[str]) -> _Columns:
    """Return an indicator of each class; those beyond the most frequent ones count together."""
    counts = np.bincount(code)
    classes = np.argsort(-counts, kind="stable")[:_MOST_MODELS]
    columns = [(code == item).astype(np.float64) for item in classes]
    titles = [names[item] or "no model" for item in classes]
    if len(classes) < len(names):
        columns.append(1 - np.sum(columns, axis=0))
        titles.append(_OTHERS)
    return np.column_stack(columns), titles


def _overlaps(
    ratings: Mapping[str, LongRatings],
    features: ResponseFeatures,
    rubric: Sequence[RubricQuestion],
) -> Iterator[_Overlap]:
    """Yield the overlaps with enough responses on either side."""
    questions: dict[tuple[bytes, bytes], list[RubricQuestion]] = {}
    overlaps = {}
    for question in rubric:
        if question.id not in features.applicable:
            continue
        labels, is_applicable = ratings[question.id], features.applicable[question.id]
        is_rated = np.bincount(labels.unit, minlength=labels.n_responses) > 1
        is_applicable = is_applicable | is_rated
        key = is_applicable.tobytes(), is_rated.tobytes()
        questions.setdefault(key, []).append(question)
        overlaps[key] = np.flatnonzero(is_applicable), is_rated[is_applicable]
    for key, (units, has_two) in overlaps.items():
        if _FEWEST <= has_two.sum() <= len(units) - _FEWEST:
            yield _Overlap(questions[key], ratings, units, has_two)


def _adjusted(tests: Sequence[Sequence[SelectionTest]]) -> Iterator[SelectionTest]:
    """Yield the tests with p-values by Holm's procedure; each overlap's feature is one test."""
    p_values = holm_p_values([same[0].p_value for same in tests]).tolist()
    for p_value, same in zip(p_values, tests, strict=True):
        for test in same if not math.isnan(p_value) else ():
            yield replace(test, adjusted_p=p_value, is_reported=p_value <= SIGNIFICANCE)
