"""Bias of each judge by system, length, turn and attribute, and pass rates corrected for it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from eval_assets.agreement.comparing import corrected_rate
from eval_assets.agreement.ratings import Floats, Integers, LongRatings, Row
from eval_assets.agreement.slices import Coded
from eval_assets.catalogue import CONFIDENCE
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats.equal_quality import (
    LEAST_BIAS,
    ValueBias,
    bias_at_equal_quality,
)
from eval_assets.stats.group_ratios import mean_difference
from eval_assets.verdicts import Verdict
from eval_assets.wording import or_none

FEWEST_GROUPS = 10
"""Groups without which a value has no row; smaller ones are pooled."""

OTHER = "other"


def measure_bias(
    people: Mapping[str, LongRatings],
    judges: Mapping[str, LongRatings],
    attributes: Mapping[str, Coded],
    evaluation: Evaluation,
) -> pd.DataFrame:
    """Return rows of `judge_bias`.

    People's ratings are taken as they gave them. Where they do not agree within the values of an
    attribute, or nobody rated twice, a bias cannot be told from a stretched scale: NOT MEASURED. A
    bias that people share, such as one for long responses, is no bias here.

    `people` are ratings by question, outside a held-out test; raters of `judges` are judges.
    """
    rows: list[Row] = []
    for question in evaluation.rubric:
        if not question.has_order or question.id not in people:
            continue
        ratings, scores = people[question.id], judges[question.id].matrix()
        for index in range(scores.shape[1]):
            if np.isnan(scores[:, index]).all():
                continue
            judge = {"judge_id": judges[question.id].rater_ids[index], "question_id": question.id}
            for attribute, coded in attributes.items():
                of_values = _of_attribute(ratings, scores[:, index], coded, question)
                rows += [{**judge, "attribute": attribute, **row} for row in of_values]
    return pd.DataFrame(rows)


def _of_attribute(
    ratings: LongRatings, score: Floats, coded: Coded, question: RubricQuestion
) -> Iterator[Row]:
    """Yield a row for each value of an attribute that enough groups have."""
    means = ratings.means()
    is_compared = ~np.isnan(score + means) & (coded[0] >= 0)
    code, names = _pooled(coded, is_compared, ratings.group)
    if len(names) < 2:  # noqa: PLR2004 - nothing to compare with
        return
    by_value = bias_at_equal_quality(
        ratings.unit,
        ratings.rater,
        ratings.value,
        np.where(code >= 0, score, np.nan),
        code=code,
        groups=ratings.group,
        low=question.scale.low,
        high=question.scale.high,
        within=coded[0],
    )
    span = question.scale.high - question.scale.low
    for value, name in enumerate(names):
        is_of = is_compared & (code == value)
        bias = mean_difference(
            np.where(is_of, score - means, np.nan),
            span=span,
            confidence=CONFIDENCE,
            groups=ratings.group,
        )
        estimate = by_value.get(value)
        yield {
            "value": name,
            "n_units": int(is_of.sum()),
            "n_groups": len(np.unique(ratings.group[is_of])),
            "bias": or_none(bias.value),
            "bias_low": or_none(bias.low),
            "bias_high": or_none(bias.high),
            "relative": None if estimate is None else estimate.relative,
            "relative_low": None if estimate is None else estimate.low,
            "relative_high": None if estimate is None else estimate.high,
            "p_adjusted": None if estimate is None else estimate.p_adjusted,
            "is_named": estimate is not None and estimate.is_named,
            "state": _state(estimate, least=LEAST_BIAS * span).value,
        }


def _pooled(coded: Coded, is_compared: np.ndarray, group: Integers) -> tuple[Integers, list[str]]:
    """Return the values that enough groups have, renumbered, the others as one; -1 for none."""
    codes, names = coded
    n_groups = [len(np.unique(group[is_compared & (codes == k)])) for k in range(len(names))]
    large = [k for k, n in enumerate(n_groups) if n >= FEWEST_GROUPS]
    pooled = np.full(len(codes), -1, dtype=np.int64)
    for place, k in enumerate(large):
        pooled[codes == k] = place
    is_rest = is_compared & (codes >= 0) & (pooled < 0)
    if len(np.unique(group[is_rest])) < FEWEST_GROUPS:
        return pooled, [names[k] for k in large]
    pooled[is_rest] = len(large)
    return pooled, [*(names[k] for k in large), OTHER]


def _state(bias: ValueBias | None, *, least: float) -> Verdict:
    """Return FAIL for a named bias, and PASS for one that is certainly smaller than that."""
    if bias is None:
        return Verdict.NOT_MEASURED
    if bias.is_named:
        return Verdict.FAIL
    is_small = -least < bias.low and bias.high < least
    return Verdict.PASS if is_small else Verdict.NEED_MORE_DATA


def measure_corrected_rates(
    people: Mapping[str, LongRatings],
    judges: Mapping[str, LongRatings],
    systems: Coded,
    evaluation: Evaluation,
) -> pd.DataFrame:
    """Return rows of `corrected_rates`: of all responses, and of each system.

    A judge that is too lenient passes too many; what it says of the responses that people rated as
    well corrects its rate on all. The interval is by response group.

    `people` and `judges` are ratings by question, outside a held-out test.
    """
    codes, names = systems
    parts: list[tuple[str | None, Integers]] = [(None, np.flatnonzero(codes >= 0))]
    parts += [(name, np.flatnonzero(codes == k)) for k, name in enumerate(names)]
    rows: list[Row] = []
    for question in evaluation.rubric:
        rule = question.pass_rule
        if rule is None or question.id not in people:
            continue
        ratings = people[question.id]
        labels = replace(ratings, value=rule.passes(ratings.value)).means()
        scores = judges[question.id]
        for index, judge_id in enumerate(scores.rater_ids):
            score = scores.matrix()[:, index]
            # Fractions, such as means of runs, pass with the nearest value.
            nearest = score if question.scale.values is None else question.scale.snap(score)
            passes = np.where(np.isnan(score), np.nan, rule.passes(nearest))
            for name, units in parts:
                if np.isnan(passes[units]).all():
                    continue
                rate = corrected_rate(labels[units], passes[units], scores.group[units])
                rows.append(
                    {
                        "judge_id": judge_id,
                        "question_id": question.id,
                        "model_name": name,
                        "rate_of_judge": float(np.nanmean(passes[units])),
                        "rate": or_none(rate.value),
                        "low": or_none(rate.low),
                        "high": or_none(rate.high),
                        "n_labelled": int((~np.isnan(labels + passes)[units]).sum()),
                        "n_scored": int((~np.isnan(passes[units])).sum()),
                    }
                )
    return pd.DataFrame(rows)
