"""Pass rates of systems by a judge's scores of all responses, corrected by ratings of some."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from eval_assets.agreement.comparing import corrected_rate
from eval_assets.agreement.ratings import Integers, LongRatings, Row
from eval_assets.agreement.slices import Coded
from eval_assets.config.evaluation import Evaluation
from eval_assets.wording import or_none


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
