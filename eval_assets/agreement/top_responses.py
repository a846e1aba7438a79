"""Precision and recall of the responses that judges score highest, by prompt."""

import itertools

import numpy as np
import pandas as pd

from eval_assets.agreement.pairs import Floats, on_unit_scale
from eval_assets.agreement.ratings import JudgedUnits
from eval_assets.agreement.split_kappa import MIDDLE
from eval_assets.figures import RetrievalFigures
from eval_assets.stats.retrieval import hits_at_k

CUTOFFS = (1, 3, 5, 10)
"""Responses to a prompt that count, from the highest score on."""


def measure_retrieval(judged: JudgedUnits) -> tuple[RetrievalFigures, ...]:
    """Return precision and recall of every judge, and of the mean of the first two.

    A response is relevant if its reference value is above the middle of the scale. Responses
    without a reference value are left out, and so are prompts with fewer than two left.

    Args:
        judged: Units, scores and reference values.
    """
    scores: dict[str | None, Floats] = {
        judge: on_unit_scale(judged, judged.scores[judge]) for judge in judged.scores
    }
    pair = list(itertools.islice(scores.values(), 2))
    if len(pair) == 2:  # noqa: PLR2004 - a pair
        scores[None] = (pair[0] + pair[1]) / 2
    reference = on_unit_scale(judged, judged.references)
    is_labelled = ~np.isnan(reference)
    rows: list[RetrievalFigures] = []
    for question_id in judged.units["question_id"].unique():
        is_own = is_labelled & (judged.units["question_id"] == question_id).to_numpy()
        query, prompts = pd.factorize(judged.units["prompt_id"][is_own])
        is_relevant = reference[is_own] > MIDDLE
        for judge_id, values in scores.items():
            for k in CUTOFFS:
                figures = _mean_at(k, is_relevant, values[is_own], query, n_queries=len(prompts))
                n_prompts, precision, recall = figures
                if n_prompts:
                    rows.append(
                        RetrievalFigures(
                            judge_id=judge_id,
                            question_id=str(question_id),
                            k=k,
                            n_prompts=n_prompts,
                            precision=precision,
                            recall=recall,
                        )
                    )
    return tuple(rows)


def _mean_at(
    k: int,
    is_relevant: np.ndarray[tuple[int], np.dtype[np.bool_]],
    scores: Floats,
    query: np.ndarray[tuple[int], np.dtype[np.int64]],
    *,
    n_queries: int,
) -> tuple[int, float, float]:
    """Return the prompts with k scored responses, and mean precision and recall over them."""
    hits, n_scored, n_relevant = hits_at_k(is_relevant, scores, query, n_queries=n_queries, k=k)
    counts = n_scored >= max(k, 2)
    has_relevant = counts & (n_relevant > 0)
    precision = float((hits[counts] / k).mean()) if counts.any() else np.nan
    recall = (
        float((hits[has_relevant] / n_relevant[has_relevant]).mean())
        if has_relevant.any()
        else np.nan
    )
    return int(counts.sum()), precision, recall
