"""Precision and recall at k against direct enumeration of all orders."""

import itertools
import math

import numpy as np
import pytest

from eval_assets.stats import precision_at_k, recall_at_k
from eval_assets.stats.retrieval import hits_at_k


def enumerated_hits(relevant: list[bool], scores: list[float], k: int) -> float:
    """Return the mean number of relevant documents among the first k over all orders of ties."""
    orders = [
        order
        for order in itertools.permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    return float(np.mean([sum(relevant[i] for i in order[:k]) for order in orders]))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_ties_equal_the_mean_over_all_orders(k: int) -> None:
    rng = np.random.default_rng(k)
    for _ in range(20):
        scores = rng.integers(0, 3, 5).astype(float)
        relevant = rng.random(5) < 0.5
        hits = enumerated_hits(relevant.tolist(), scores.tolist(), k)
        assert precision_at_k(relevant, scores, k=k) == pytest.approx(hits / k, abs=1e-12)
        if relevant.any():
            recall = recall_at_k(relevant, scores, k=k)
            assert recall == pytest.approx(hits / relevant.sum(), abs=1e-12)


def test_documents_without_a_score_are_left_out() -> None:
    relevant, scores = [True, True, False], [math.nan, 0.2, 0.9]
    assert precision_at_k(relevant, scores, k=2) == 0.5
    assert recall_at_k(relevant, scores, k=2) == 1.0
    assert math.isnan(precision_at_k(relevant, scores, k=3))


def test_recall_without_relevant_documents_is_undefined() -> None:
    assert math.isnan(recall_at_k([False, False], [0.1, 0.2], k=1))
    assert math.isnan(precision_at_k([], [], k=1))


def test_a_cutoff_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        precision_at_k([True], [0.5], k=0)
    with pytest.raises(ValueError, match="same shape"):
        recall_at_k([True], [0.5, 0.6], k=1)


def test_queries_are_ranked_separately() -> None:
    relevant = np.array([True, False, False, True])
    scores = np.array([0.1, 0.9, 0.2, 0.3])
    query = np.array([1, 0, 1, 0])
    hits, n_scored, n_relevant = hits_at_k(relevant, scores, query, n_queries=2, k=1)
    assert hits.tolist() == [0.0, 0.0]
    assert (n_scored.tolist(), n_relevant.tolist()) == ([2, 2], [1, 1])
