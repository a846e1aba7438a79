"""Verdicts on a judge from its figures against humans, question by question."""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from eval_assets.gates import HUMAN_GATES, GateOutcome
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


def why_not_judged(
    question_id: str, verdict: str, *, constant: float, outcomes: Iterable[GateOutcome]
) -> str:
    """Return why agreement with these people says nothing about a judge; empty if it does.

    That a judge is like one that never reads the response can be said whoever rated.

    Args:
        question_id: Question that the judge is compared on.
        verdict: What its figures say.
        constant: A^HA of the best constant score; NaN if undefined.
        outcomes: Outcome of every gate.
    """
    if constant >= 1 - TOLERANCE:
        return "people gave one value throughout"
    of_people = [
        judged
        for outcome in outcomes
        if outcome.gate in HUMAN_GATES
        for judged in outcome.questions
        if judged.question_id == question_id and judged.verdict != "pass"
    ]
    if not of_people or verdict.startswith(("like", "not")):
        return ""
    if any(judged.verdict == "fail" and not judged.cannot_tell for judged in of_people):
        return "people do not agree with each other"
    return "it is not known whether people agree with each other"
