"""Precision and recall of the best-scored documents of a query."""

import math

import numpy as np
import numpy.typing as npt

from eval_assets.stats._numbers import Floats

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


def precision_at_k(relevant: npt.ArrayLike, scores: npt.ArrayLike, *, k: int) -> float:
    """Return the share of relevant documents among the k with the highest scores.

    Documents with equal scores count with the mean over all orders of them.

    Args:
        relevant: Whether people marked each document as relevant, shape (n_documents,).
        scores: A judge's scores, shape (n_documents,), NaN if missing. Documents without a score
            are left out.
        k: Number of documents, from 1.

    Returns:
        The share in [0, 1]; NaN if fewer than k documents have a score.

    Raises:
        ValueError: If k is below 1, or the arrays differ in shape.

    References:
        McSherry and Najork (2008), doi:10.1007/978-3-540-78646-7_38.

    Examples:
        >>> precision_at_k([True, False, True], [0.9, 0.8, 0.1], k=2)
        0.5
        >>> precision_at_k([True, False, False], [0.5, 0.5, 0.1], k=1)
        0.5
    """
    [hits], [n_scored], _ = _hits_of_one(relevant, scores, k=k)
    return float(hits) / k if n_scored >= k else math.nan


def recall_at_k(relevant: npt.ArrayLike, scores: npt.ArrayLike, *, k: int) -> float:
    """Return the share of the relevant documents that are among the k with the highest scores.

    Documents with equal scores count with the mean over all orders of them.

    Args:
        relevant: Whether people marked each document as relevant, shape (n_documents,).
        scores: A judge's scores, shape (n_documents,), NaN if missing. Documents without a score
            are left out.
        k: Number of documents, from 1.

    Returns:
        The share in [0, 1]; NaN if no scored document is relevant, or fewer than k have a score.

    Raises:
        ValueError: If k is below 1, or the arrays differ in shape.

    References:
        McSherry and Najork (2008), doi:10.1007/978-3-540-78646-7_38.

    Examples:
        >>> recall_at_k([True, False, True, True], [0.9, 0.8, 0.7, 0.1], k=3)
        0.6666666666666666
    """
    [hits], [n_scored], [n_relevant] = _hits_of_one(relevant, scores, k=k)
    return float(hits) / int(n_relevant) if n_scored >= k and n_relevant else math.nan


def hits_at_k(
    relevant: Booleans, scores: Floats, query: Integers, *, n_queries: int, k: int
) -> tuple[Floats, Integers, Integers]:
    """Return the expected relevant documents among the k best-scored ones of every query.

    Args:
        relevant: Whether each document is relevant, shape (n_documents,).
        scores: Scores, shape (n_documents,), NaN if missing.
        query: Query of each document, from 0.
        n_queries: Number of queries.
        k: Number of documents, from 1.

    Returns:
        Relevant documents among the first k, scored documents, and relevant documents with a score,
        each of shape (n_queries,).

    Raises:
        ValueError: If k is below 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    is_scored = ~np.isnan(scores)
    relevant, scores, query = relevant[is_scored], scores[is_scored], query[is_scored]
    order = np.lexsort((-scores, query))
    relevant, scores, query = relevant[order], scores[order], query[order]
    is_first = np.ones(len(scores), dtype=bool)
    is_first[1:] = (scores[1:] != scores[:-1]) | (query[1:] != query[:-1])
    tie = np.cumsum(is_first) - 1
    n_scored = np.bincount(query, minlength=n_queries)
    rank = np.arange(len(scores)) - (np.cumsum(n_scored) - n_scored)[query]
    n_tied = np.bincount(tie)
    # Of n documents that share ranks r to r + n - 1, k - r are among the first k in any order.
    weight = np.clip((k - rank[is_first]) / n_tied, 0.0, 1.0)[tie]
    hits = np.bincount(query, weight * relevant, n_queries).astype(np.float64)
    return hits, n_scored, np.bincount(query[relevant], minlength=n_queries)


def _hits_of_one(
    relevant: npt.ArrayLike, scores: npt.ArrayLike, *, k: int
) -> tuple[Floats, Integers, Integers]:
    is_relevant, values = np.asarray(relevant, dtype=bool), np.asarray(scores, dtype=np.float64)
    if is_relevant.ndim != 1 or is_relevant.shape != values.shape:
        raise ValueError(
            "relevant and scores must have the same shape (n_documents,), "
            f"got {is_relevant.shape} and {values.shape}"
        )
    query = np.zeros(len(values), dtype=np.int64)
    return hits_at_k(is_relevant, values, query, n_queries=1, k=k)
