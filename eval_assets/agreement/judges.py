"""Agreement between judges, and of judges with humans."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement.gates.evidence import alpha_levels, overall_level
from eval_assets.agreement.pairs import (
    Part,
    kappa_by_group,
    macro_kappa,
    mean_alpha,
    mean_of_defined,
    pair_kappa,
    parts_on_unit,
    pooled,
    pooled_if_ordered,
)
from eval_assets.agreement.ratings import Floats, JudgeRatings, LongRatings
from eval_assets.bands import REPEATED, UNSTABLE, alpha_label, pooled_alpha_label
from eval_assets.catalogue import CONFIDENCE, Figure
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import JudgeFigures, JudgeHumanFigures, LeaveOneJudgeOutFigures, Scope
from eval_assets.scale import TOLERANCE, Level
from eval_assets.stats import (
    Alpha,
    Interval,
    RatingPatterns,
    alpha_by_cluster,
    coefficient_interval,
    judge_human_profile,
    overall_profile,
)


@dataclass(frozen=True, eq=False)
class JudgeMeasures:
    """Agreement of judges with each other."""

    agreement: tuple[JudgeFigures, ...]
    by_response: pd.DataFrame


@dataclass(frozen=True, eq=False)
class JudgeHumanMeasures:
    """Agreement of judges with humans."""

    agreement: tuple[JudgeHumanFigures, ...]
    confusion: pd.DataFrame


def measure_judges(judges: JudgeRatings, evaluation: Evaluation) -> JudgeMeasures:
    """Measure agreement of judges: overall, by question, and by response if defined."""
    levels = alpha_levels(evaluation, "judge")
    pooled = [(question, judges.scores[question.id]) for question in evaluation.rubric]
    is_repeated = _has_repeated_scores(pooled)
    rows: list[JudgeFigures] = []
    for question in evaluation.rubric:
        ratings = judges.scores[question.id]
        patterns = RatingPatterns.from_matrix(ratings.matrix(), groups=ratings.group)
        alpha = coefficient_interval(patterns, Alpha(levels[question.id]), confidence=CONFIDENCE)
        kappa_macro, kappa_micro = _kappas([(question, ratings)], judges.prompts)
        rows.append(
            JudgeFigures(
                scope=Scope.QUESTION,
                question_id=question.id,
                alpha=Figure.of(alpha),
                alpha_level=levels[question.id],
                n_units=alpha.n_units,
                n_groups=alpha.n_groups,
                n_judges=len(ratings.raters),
                n_comparisons=int(patterns.n_units @ patterns.n_pairs),
                kappa_macro=kappa_macro,
                kappa_micro=kappa_micro,
                interval_method=alpha.method,
                interpretation=_interpretation(
                    alpha.value, [(question, ratings)], is_repeated=is_repeated
                ),
                judge_set_fingerprint=judges.judge_set_fingerprint,
                data_version=judges.data_version,
            )
        )
    by_response = _by_response(pooled, judges.response_ids).assign(
        judge_set_fingerprint=judges.judge_set_fingerprint, data_version=judges.data_version
    )
    overall = _overall(pooled, judges, level=overall_level(evaluation), is_repeated=is_repeated)
    return JudgeMeasures((overall, *rows), by_response)


def measure_judges_against_humans(
    humans: Mapping[str, LongRatings],
    judges: Mapping[str, LongRatings],
    evaluation: Evaluation,
    *,
    conversations: Mapping[str, tuple[LongRatings, LongRatings]],
    data_version: str,
) -> JudgeHumanMeasures:
    """Measure each judge against the human raters, on each question.

    A judge with scores of `conversations`, beside mean human ratings, is compared on those alone:
    its score says nothing of a single turn.
    """
    rows: list[JudgeHumanFigures] = []
    confusion = [pd.DataFrame(columns=["judge_id", "question_id", *_CONFUSION])]
    for question in evaluation.rubric if judges else ():
        for judge, unit, of_unit, ratings, scores in _comparisons(
            question, humans[question.id], judges[question.id], conversations.get(question.id)
        ):
            profile = judge_human_profile(
                ratings.matrix(),
                scores,
                scale=of_unit.scale,
                level=of_unit.level,
                confidence=CONFIDENCE,
                groups=ratings.group,
            )
            figures = {
                name: Figure.of(value)
                for name, value in vars(profile).items()
                if isinstance(value, Interval)
            }
            figures["exact_agreement"] = Figure.percent(profile.exact_agreement)
            figures["adjacent_agreement"] = Figure.percent(profile.adjacent_agreement)
            row = JudgeHumanFigures(
                judge_id=judge,
                question_id=question.id,
                unit=unit,
                n_units=profile.n_units,
                n_groups=profile.n_groups,
                wilcoxon_p=profile.wilcoxon_p,
                data_version=data_version,
                **figures,
            )
            rows.append(row)
            counts = pd.DataFrame(profile.confusion, columns=list(_CONFUSION))
            confusion.append(counts.assign(judge_id=judge, question_id=question.id))
    filled = [counts for counts in confusion if len(counts)]
    return JudgeHumanMeasures(tuple(rows), pd.concat(filled) if filled else confusion[0])


_FEWEST_EQUAL, _FEWEST_VALUES = 20, 3
"""Units and different values from which on two judges with equal scores repeat each other."""

_CONFUSION = ("human_value", "judge_value", "n_units")

_Comparison = tuple[str, str, RubricQuestion, LongRatings, Floats]
"""Judge, kind of unit, question about such units, human ratings and scores."""


def _comparisons(
    question: RubricQuestion,
    humans: LongRatings,
    judges: LongRatings,
    conversations: tuple[LongRatings, LongRatings] | None,
) -> list[_Comparison]:
    of_responses = {
        judge: (judge, "response", question, humans, scores) for judge, scores in _by_judge(judges)
    }
    if conversations is None:
        return list(of_responses.values())
    # Means lie between the steps of the scale, so this scale has no steps.
    means = replace(question, scale=question.scale.continuous(), level="interval")
    of_conversations: dict[str, _Comparison] = {
        judge: (judge, "conversation", means, conversations[0], scores)
        for judge, scores in _by_judge(conversations[1])
    }
    response_rows = [row for judge, row in of_responses.items() if judge not in of_conversations]
    return [*response_rows, *of_conversations.values()]


def _by_judge(scores: LongRatings) -> Iterable[tuple[str, Floats]]:
    return zip(scores.rater_ids, scores.matrix().T, strict=True)


def _overall(
    pooled: list[tuple[RubricQuestion, LongRatings]],
    judges: JudgeRatings,
    *,
    level: Level,
    is_repeated: bool,
) -> JudgeFigures:
    profile = overall_profile(
        [(ratings.matrix(), question.scale) for question, ratings in pooled],
        confidence=CONFIDENCE,
        groups=pooled[0][1].group,
    )
    kappa_macro, kappa_micro = _kappas(pooled, judges.prompts)
    return JudgeFigures(
        scope=Scope.OVERALL,
        alpha=Figure.of(profile.alpha),
        alpha_level=level,
        alpha_within=Figure.of(profile.alpha_within),
        n_units=profile.n_units,
        n_groups=profile.n_groups,
        n_judges=len({judge for _, ratings in pooled for judge in ratings.raters}),
        n_comparisons=profile.n_pairs,
        kappa_macro=kappa_macro,
        kappa_micro=kappa_micro,
        interval_method=profile.alpha.method,
        interpretation=_interpretation(profile.alpha.value, pooled, is_repeated=is_repeated),
        judge_set_fingerprint=judges.judge_set_fingerprint,
        data_version=judges.data_version,
    )


def _by_response(
    pooled: list[tuple[RubricQuestion, LongRatings]], response_ids: NDArray[np.object_]
) -> pd.DataFrame:
    if len(pooled) < 2:  # noqa: PLR2004 - two units at least
        return pd.DataFrame()
    response = np.concatenate([ratings.unit for _, ratings in pooled]).astype(np.int64)
    question = np.repeat(np.arange(len(pooled)), [len(ratings.unit) for _, ratings in pooled])
    value = np.concatenate([q.scale.to_unit(ratings.value) for q, ratings in pooled])
    clusters, alphas = alpha_by_cluster(response, response * len(pooled) + question, value)
    units, n_scores = np.unique(response * len(pooled) + question, return_counts=True)
    n_compared = np.where(n_scores > 1, n_scores, 0)
    rows = pd.DataFrame(
        {
            "response": units // len(pooled),
            "n_units": n_compared > 1,
            "n_judges": n_compared,
            "n_comparisons": n_compared * (n_compared - 1) // 2,
        }
    )
    shape = rows.groupby("response").agg(
        {"n_units": "sum", "n_judges": "max", "n_comparisons": "sum"}
    )
    return (
        shape.loc[clusters]
        .reset_index(drop=True)
        .assign(
            scope="response",
            n_groups=1,
            response_id=response_ids[clusters],
            alpha=alphas,
            alpha_level="interval",
            interpretation=[alpha_label(alpha) for alpha in alphas],
        )[~np.isnan(alphas)]
    )


def _kappas(
    pooled: list[tuple[RubricQuestion, LongRatings]], prompts: NDArray[np.int64]
) -> tuple[float, float]:
    """Return macro and micro Cohen's kappa of scores above the middle of the scale.

    Micro pools all units; macro is the mean over prompts, each question by itself. With more than
    two judges, both are means over the pairs of judges.
    """
    scores = np.concatenate([q.scale.to_unit(ratings.matrix()) for q, ratings in pooled])
    n_prompts = int(prompts.max(initial=-1)) + 1
    prompt = np.concatenate([prompts + n_prompts * index for index in range(len(pooled))])
    macro, micro = [], []
    for first, second in itertools.combinations(scores.T, 2):
        by_prompt = kappa_by_group(first, second, prompt, n_groups=n_prompts * len(pooled))
        macro.append(macro_kappa(*by_prompt))
        micro.append(pair_kappa(first, second).value)
    return mean_of_defined(macro), mean_of_defined(micro)


def _has_repeated_scores(pooled: list[tuple[RubricQuestion, LongRatings]]) -> bool:
    """Return whether two judges give equal scores throughout, over all questions."""
    scores = np.concatenate([q.scale.to_unit(ratings.matrix()) for q, ratings in pooled])
    for first, second in itertools.combinations(scores.T, 2):
        shared = first[~np.isnan(first + second)]
        is_equal = not (np.abs(first - second) > TOLERANCE).any()
        if is_equal and len(shared) >= _FEWEST_EQUAL and len(np.unique(shared)) >= _FEWEST_VALUES:
            return True
    return False


def _interpretation(
    alpha: float, pooled: list[tuple[RubricQuestion, LongRatings]], *, is_repeated: bool
) -> str:
    """Return the name of alpha's band, why alpha is undefined, or that a copy may raise it."""
    scores = np.concatenate([q.scale.to_unit(ratings.value) for q, ratings in pooled])
    if math.isnan(alpha):
        is_compared = any((np.bincount(ratings.unit) > 1).any() for _, ratings in pooled)
        if not is_compared:
            return "no unit has scores of two judges"
        return "alpha is undefined, since all scores are equal"
    label = pooled_alpha_label(alpha, float(np.var(scores)))
    if is_repeated:
        return f"{REPEATED}; {label}" if label == UNSTABLE else REPEATED
    return label


def measure_leave_one_judge_out(
    scores: Mapping[str, LongRatings], evaluation: Evaluation, *, data_version: str
) -> tuple[LeaveOneJudgeOutFigures, ...]:
    """Return the figures of each judge overall and on each question.

    A judge whose absence raises alpha, or who is far from the others, differs systematically; if
    alpha is low without any of them, the question is ambiguous.
    """
    levels = alpha_levels(evaluation, "judge")
    overall = pooled_if_ordered(parts_on_unit(scores, evaluation))
    rows = list(_without_each(overall, None, data_version))
    for question in evaluation.rubric:
        rows += _without_each(
            [(scores[question.id], levels[question.id])], question.id, data_version
        )
    return tuple(rows)


def _without_each(
    parts: Sequence[Part], question_id: str | None, data_version: str
) -> Iterator[LeaveOneJudgeOutFigures]:
    units = pooled([ratings for ratings, _ in parts])
    unit, rater, value = units.unit, units.rater, units.value
    alpha = mean_alpha(parts, without=None)
    n_scores, total = np.bincount(unit), np.bincount(unit, value)
    n_others = n_scores[unit] - 1
    is_shared = n_others > 0
    distance = value[is_shared] - (total[unit] - value)[is_shared] / n_others[is_shared]
    for index, judge in enumerate(units.rater_ids):
        is_own = rater[is_shared] == index
        if is_own.any():
            yield LeaveOneJudgeOutFigures(
                scope=Scope.QUESTION if question_id else Scope.OVERALL,
                question_id=question_id,
                judge_id=judge,
                n_units=int(is_own.sum()),
                alpha=alpha,
                alpha_without=mean_alpha(parts, without=index),
                mean_difference=float(distance[is_own].mean()),
                data_version=data_version,
            )
