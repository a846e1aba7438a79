"""Verdicts on a judge from its figures against humans, question by question."""

import math
from collections.abc import Mapping
from typing import Literal

from eval_assets.scale import TOLERANCE

JudgeVerdict = Literal[
    "as people do",
    "less than people do",
    "cannot tell",
    "like a constant",
    "like shuffled scores",
    "not compared",
]
"""How a judge agrees with people: as closely as they with each other, less, or as a judge does
that never reads the response."""

CLOSE = 0.05
"""Largest A^HA below A^HH that still counts as agreeing as people do: a twentieth of the scale."""


def judge_verdict(figures: Mapping[str, float]) -> JudgeVerdict:
    """Return what a row of `judge_human_agreement` says about its judge.

    Every verdict rests on the interval of a paired difference: a judge is better than a control
    only if its A^HA certainly exceeds the control's, and agrees as people do only if its A^HA is
    certainly less than `CLOSE` below the A^HH of the same responses. Scores that shuffling does not
    change are constant.

    Args:
        figures: `a_ha`, `a_ha_shuffled`, and the ends of the intervals of `a_ha_above_shuffled`,
            `a_ha_above_constant` and `a_ha_above_people`; NaN if undefined.

    Examples:
        >>> better = {"a_ha": 0.9, "a_ha_above_shuffled_low": 0.2, "a_ha_above_constant_low": 0.1}
        >>> judge_verdict(better | {"a_ha_above_people_low": -0.02, "a_ha_above_people_high": 0.1})
        'as people do'
        >>> judge_verdict(better | {"a_ha_above_constant_low": -0.01})
        'like a constant'
    """

    def of(column: str) -> float:
        return figures.get(column, math.nan)

    if math.isnan(of("a_ha")):
        return "not compared"
    if not of("a_ha_above_shuffled_low") > TOLERANCE:
        is_constant = abs(of("a_ha") - of("a_ha_shuffled")) <= TOLERANCE
        return "like a constant" if is_constant else "like shuffled scores"
    if not of("a_ha_above_constant_low") > TOLERANCE:
        return "like a constant"
    if of("a_ha_above_people_low") > -CLOSE:
        return "as people do"
    if of("a_ha_above_people_high") < 0:
        return "less than people do"
    return "cannot tell"
