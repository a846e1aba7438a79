"""How often a rater rates the same response differently."""

import numpy as np
import pandas as pd

from eval_assets.agreement.ratings import Row
from eval_assets.catalogue import CONFIDENCE
from eval_assets.config.evaluation import Evaluation
from eval_assets.stats import Alpha, PairwiseAgreement, RatingPatterns, coefficient_interval
from eval_assets.wording import or_none


def measure_repeatability(repeated: pd.DataFrame, evaluation: Evaluation) -> pd.DataFrame:
    """Return rows of `repeatability`.

    Each matrix has a row for a rater and a response, or a rater and a text, and a column for a run
    or a copy. Two copies that are rated side by side are remembered, so the same text underrates
    the noise of people.

    Args:
        repeated: Ratings given more than once: kind, source, question_id, rater_id, row (a rater's
            response or text), group and value.
        evaluation: Declares the questions.
    """
    rows: list[Row] = []
    orders = {question.id: question.has_order for question in evaluation.rubric}
    for key, part in repeated.groupby(["kind", "source", "question_id"], sort=True):
        kind, source, question_id = map(str, key)
        if question_id not in orders:
            continue
        subject = {"kind": kind, "source": source, "question_id": question_id}
        raters = [(str(name), of_rater) for name, of_rater in part.groupby("rater_id", sort=True)]
        together = [(None, part)] if kind == "human" else []
        for rater_id, ratings in [*together, *raters]:
            figures = _figures(ratings, has_order=orders[question_id])
            rows.append({"rater_id": rater_id, **subject, **figures})
    return pd.DataFrame(rows)


def _figures(ratings: pd.DataFrame, *, has_order: bool) -> Row:
    """Return the flip rate and the correlation of ratings that were given more than once."""
    row, group = (pd.factorize(ratings[name])[0] for name in ("row", "group"))
    n_rows = int(row.max()) + 1
    group_of_row = np.zeros(n_rows, dtype=np.int64)
    group_of_row[row] = group
    order = np.argsort(row, kind="stable")
    values = ratings["value"].to_numpy(np.float64)[order]
    patterns = RatingPatterns.from_ratings(row[order], values, n_units=n_rows, groups=group_of_row)
    equal = coefficient_interval(patterns, PairwiseAgreement(within=0), confidence=CONFIDENCE)
    flips = equal.times(-1, plus=1)
    n_of_row = np.bincount(row)
    figures: Row = {
        "n_pairs": int((n_of_row * (n_of_row - 1) // 2).sum()),
        "n_groups": len(np.unique(group)),
        "flip_rate": or_none(flips.value),
        "low": or_none(flips.low),
        "high": or_none(flips.high),
    }
    if has_order:  # the intraclass correlation is alpha with the squared distance
        icc = coefficient_interval(patterns, Alpha("interval"), confidence=CONFIDENCE)
        figures |= {"icc": or_none(icc.value), "icc_low": or_none(icc.low)}
        figures |= {"icc_high": or_none(icc.high)}
    return figures
