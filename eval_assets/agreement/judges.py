"""Agreement between judges, and of judges with humans: rows of their tables."""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement._columns import CONFIDENCE, statistic_columns
from eval_assets.agreement.evidence import alpha_levels
from eval_assets.agreement.judge_verdicts import judge_verdict
from eval_assets.agreement.ratings import JudgeRatings, LongRatings
from eval_assets.agreement.split_kappa import kappa_by_group, macro_kappa, pair_kappa
from eval_assets.evaluation import Evaluation
from eval_assets.interpretation import alpha_label, pooled_alpha_label
from eval_assets.rubric import RubricQuestion
from eval_assets.statistics import JUDGE_AGREEMENT, JUDGE_HUMAN_AGREEMENT
from eval_assets.stats import (
    Alpha,
    RatingPatterns,
    alpha_by_cluster,
    coefficient_interval,
    judge_human_profile,
    overall_profile,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JudgeHumanMeasures:
    """Agreement of judges with humans.

    Args:
        agreement: Rows of `judge_human_agreement`.
        confusion: Rows of `judge_confusion`.
    """

    agreement: pd.DataFrame
    confusion: pd.DataFrame


def measure_judges(judges: JudgeRatings, evaluation: Evaluation) -> pd.DataFrame:
    """Return rows of `judge_agreement`: overall, by question, and by response if defined."""
    levels = alpha_levels(evaluation, "judge")
    rows: list[dict[str, object]] = []
    for question in evaluation.rubric:
        given = judges.scores[question.id]
        patterns = RatingPatterns.from_matrix(given.matrix(), groups=given.group)
        alpha = coefficient_interval(patterns, Alpha(levels[question.id]), confidence=CONFIDENCE)
        kappas = _kappas([(question, given)], judges.prompts)
        rows.append(
            {
                "scope": "question",
                "question_id": question.id,
                **statistic_columns(JUDGE_AGREEMENT, {"alpha": alpha, **kappas}),
                "alpha_level": levels[question.id],
                "n_units": alpha.n_units,
                "n_groups": alpha.n_groups,
                "n_judges": len(given.by_rater()),
                "n_comparisons": int(patterns.n_units @ patterns.n_pairs),
                "interval_method": alpha.method,
                "interpretation": _interpretation(alpha.value, [(question, given)]),
            }
        )
    pooled = [(question, judges.scores[question.id]) for question in evaluation.rubric]
    by_question = pd.DataFrame([_overall(pooled, judges.prompts), *rows])
    by_response = _by_response(pooled, judges.response_ids)
    return pd.concat([by_question, by_response], ignore_index=True).assign(
        judge_set_fingerprint=judges.judge_set_fingerprint, data_version=judges.data_version
    )


def measure_judges_against_humans(
    humans: Mapping[str, LongRatings],
    judges: Mapping[str, LongRatings],
    evaluation: Evaluation,
    *,
    conversations: Mapping[str, tuple[LongRatings, LongRatings]],
    data_version: str,
) -> JudgeHumanMeasures:
    """Measure each judge against the human raters, on each question.

    Args:
        humans: Human ratings by question.
        judges: Judges' scores by question; empty without judges.
        evaluation: What is declared now.
        conversations: Mean human ratings and judges' scores of conversations, by question. A judge
            with any is compared on those alone: its score says nothing of a single turn.
        data_version: Version of all of them.
    """
    rows: list[dict[str, object]] = []
    confusion: list[pd.DataFrame] = []
    for question in evaluation.rubric if judges else ():
        people_on_conversations, on_conversations = conversations.get(question.id, (None, None))
        scores = [
            (judge, question, humans[question.id], scores)
            for judge, scores in _by_judge(judges[question.id])
        ]
        if people_on_conversations is not None and on_conversations is not None:
            # Means lie between the steps of the scale, which they therefore lose.
            means = replace(question, scale=question.scale.continuous(), level="interval")
            of_conversations = dict(_by_judge(on_conversations))
            scores = [given for given in scores if given[0] not in of_conversations]
            scores += [
                (judge, means, people_on_conversations, given)
                for judge, given in of_conversations.items()
            ]
        for judge, asked, ratings, given in scores:
            profile = judge_human_profile(
                ratings.matrix(),
                given,
                scale=asked.scale,
                level=asked.level,
                confidence=CONFIDENCE,
                groups=ratings.group,
            )
            named = {"judge_id": judge, "question_id": question.id}
            figures = statistic_columns(JUDGE_HUMAN_AGREEMENT, vars(profile))
            rows.append(
                {
                    **named,
                    "unit": "response" if asked is question else "conversation",
                    "n_units": profile.n_units,
                    "n_groups": profile.n_groups,
                    **figures,
                    "verdict": judge_verdict(figures),
                }
            )
            confusion.append(
                pd.DataFrame(profile.confusion, columns=list(_COUNTED)).assign(**named)
            )
    return JudgeHumanMeasures(
        agreement=pd.DataFrame(rows, columns=_COMPARED).assign(data_version=data_version),
        confusion=(
            pd.concat(confusion) if confusion else pd.DataFrame(columns=[*_NAMED, *_COUNTED])
        ),
    )


_NAMED = ("judge_id", "question_id")
_COMPARED = [
    *(*_NAMED, "unit", "n_units", "n_groups"),
    *(column for statistic in JUDGE_HUMAN_AGREEMENT for column in statistic.columns),
    "verdict",
]
_COUNTED = ("human_value", "judge_value", "n_units")
"""Columns of the rows, which are there if no judge is."""


def _by_judge(scored: LongRatings) -> Iterable[tuple[str, Floats]]:
    """Return each judge with its score of every unit, NaN if it has none."""
    return zip(scored.rater_ids, scored.matrix().T, strict=True)


def _overall(
    pooled: list[tuple[RubricQuestion, LongRatings]], prompts: NDArray[np.int64]
) -> dict[str, object]:
    """Return the overall row: all units on [0, 1], at the interval level."""
    profile = overall_profile(
        [(given.matrix(), question.scale) for question, given in pooled],
        confidence=CONFIDENCE,
        groups=pooled[0][1].group,
    )
    measured = vars(profile) | _kappas(pooled, prompts)
    return {
        "scope": "overall",
        **statistic_columns(JUDGE_AGREEMENT, measured),
        "alpha_level": "interval",
        "n_units": profile.n_units,
        "n_groups": profile.n_groups,
        "n_judges": len({judge for _, given in pooled for judge in given.by_rater()}),
        "n_comparisons": profile.n_pairs,
        "interval_method": profile.alpha.method,
        "interpretation": _interpretation(profile.alpha.value, pooled),
    }


def _by_response(
    pooled: list[tuple[RubricQuestion, LongRatings]], response_ids: NDArray[np.object_]
) -> pd.DataFrame:
    """Return rows of single responses; one question alone cannot show agreement beyond chance."""
    if len(pooled) < 2:  # noqa: PLR2004 - two units at least
        return pd.DataFrame()
    response = np.concatenate([given.unit for _, given in pooled])
    question = np.repeat(np.arange(len(pooled)), [len(given.unit) for _, given in pooled])
    value = np.concatenate([q.scale.to_unit(given.value) for q, given in pooled])
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
) -> dict[str, object]:
    """Return Cohen's kappa of scores above the middle of the scale against the rest.

    Micro pools all units; macro is the mean over prompts, each question by itself. With more than
    two judges, both are means over the pairs of judges.
    """
    scores = np.concatenate([q.scale.to_unit(given.matrix()) for q, given in pooled])
    n_prompts = int(prompts.max(initial=-1)) + 1
    prompt = np.concatenate([prompts + n_prompts * place for place in range(len(pooled))])
    macro, micro = [], []
    for one, other in itertools.combinations(scores.T, 2):
        by_prompt = kappa_by_group(one, other, prompt, n_groups=n_prompts * len(pooled))
        macro.append(macro_kappa(*by_prompt))
        micro.append(pair_kappa(one, other).value)
    return {"kappa_macro": _mean(macro), "kappa_micro": _mean(micro)}


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the defined values; NaN if there are none."""
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _interpretation(alpha: float, pooled: list[tuple[RubricQuestion, LongRatings]]) -> str:
    """Return the name of alpha's band, or why alpha is undefined."""
    scores = np.concatenate([q.scale.to_unit(given.value) for q, given in pooled])
    if math.isnan(alpha):
        is_compared = any((np.bincount(given.unit) > 1).any() for _, given in pooled)
        if not is_compared:
            return "no unit has scores of two judges"
        return "undefined: no variation, all scores are equal"
    return pooled_alpha_label(alpha, float(np.var(scores)))
