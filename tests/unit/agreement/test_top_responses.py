"""Precision and recall of judges by prompt, on figures worked out by hand."""

import math

import numpy as np
import pandas as pd

from eval_assets.agreement.ratings import JudgedUnits
from eval_assets.agreement.top_responses import measure_retrieval

NAN = math.nan


def judged(references: list[float]) -> JudgedUnits:
    """Return two prompts with three responses each on 1 to 5, scored by two judges."""
    units = pd.DataFrame(
        {
            "prompt_id": ["p"] * 3 + ["q"] * 3,
            "response_id": list("abcdef"),
            "question_id": "fit",
            "scale_min": 1.0,
            "scale_max": 5.0,
        }
    )
    scores = {"j": np.array([5.0, 1, 2, 3, 4, 1]), "k": np.array([1.0, 5, 4, NAN, 2, 5])}
    return JudgedUnits(units, np.array(references), scores, models={}, fingerprints={})


def test_judges_and_their_mean_are_measured_by_prompt() -> None:
    rows = measure_retrieval(judged([5, 1, 1, 1, 4, 3]))
    first = {row.judge_id: row for row in rows if row.k == 1}
    # j ranks a and e first, both above the middle; k ranks b and f first, which are not.
    assert (first["j"].precision, first["j"].recall, first["j"].n_prompts) == (1.0, 1.0, 2)
    assert (first["k"].precision, first["k"].recall) == (0.0, 0.0)
    # All of p tie at 3; in q, e and f tie at 3.
    assert first[None].precision == np.mean([1 / 3, 1 / 2])
    assert {row.k for row in rows if row.judge_id == "k"} == {1, 3}


def test_prompts_without_two_reference_values_are_left_out() -> None:
    assert measure_retrieval(judged([5, NAN, NAN, NAN, NAN, NAN])) == ()
