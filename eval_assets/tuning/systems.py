"""Comparison of systems by a judge's scores, corrected by human ratings of some responses."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.scale import Scale
from eval_assets.stats import prediction_powered_difference, prediction_powered_mean
from eval_assets.tuning.rated import Floats, Texts, numbered
from eval_assets.wording import or_none

CONFIDENCE = 0.95

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class SystemResponses:
    """Responses of several systems to one question of the rubric, and one judge's scores of them.

    Args:
        groups: Group of each response, a name or number; responses to one prompt share it.
        human: Mean human rating of each response, NaN without one.
        judge: The judge's score of each response, NaN if missing.
        slices: Value of each response in each slice that is compared, such as its difficulty.
    """

    systems: Texts
    groups: NDArray[np.generic]
    human: Floats
    judge: Floats
    slices: Mapping[str, Texts]
    scale: Scale


def compare_systems(responses: SystemResponses) -> list[Row]:
    """Return rows of `system_comparison`: means of systems, then differences of two, by slice.

    Means and differences estimate human ratings of all responses, by prediction-powered inference
    over groups. Intervals are 95 % ones; `low_all` and `high_all` hold for all means, or all
    differences, of a slice at once (Bonferroni), and a difference counts as safe only by these.
    """
    slices = {"all": np.full(len(responses.systems), ""), **responses.slices}
    # Every row uses the groups: numbers are counted, names would be sorted each time.
    responses = replace(responses, groups=numbered(responses.groups)[1])
    return [row for name, values in slices.items() for row in _slice_rows(responses, name, values)]


def _slice_rows(responses: SystemResponses, name: str, values: Texts) -> Iterator[Row]:
    names, value_of = numbered(values)
    systems, system_of = numbered(responses.systems)
    cells = {
        (value, system): is_in_cell
        for i, value in enumerate(names)
        for j, system in enumerate(systems)
        if (is_in_cell := (value_of == i) & (system_of == j)).any()
    }
    pairs = [pair for pair in itertools.combinations(cells, 2) if pair[0][0] == pair[1][0]]
    for (value, system), is_in_cell in cells.items():
        key = {"kind": "mean", "slice": name, "slice_value": str(value) or None}
        key |= {"system": str(system), "other_system": None}
        yield key | _compared(responses, is_in_cell, None, n_compared=len(cells))
    for (value, system), (_, other) in pairs:
        key = {"kind": "difference", "slice": name, "slice_value": str(value) or None}
        key |= {"system": str(system), "other_system": str(other)}
        first, second = cells[value, system], cells[value, other]
        yield key | _compared(responses, first, second, n_compared=len(pairs))


def _compared(
    responses: SystemResponses,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_] | None,
    *,
    n_compared: int,
) -> Row:
    """Return the mean of some responses, or its difference from the mean of others."""
    bounds = responses.scale.low, responses.scale.high
    part, groups = _part(responses, first)
    judge_only = _judge_mean(part)
    is_compared = first if second is None else first | second
    levels = CONFIDENCE, 1 - (1 - CONFIDENCE) / max(1, n_compared)
    if second is None:
        value, simultaneous = (
            prediction_powered_mean(*part, confidence=level, groups=groups, bounds=bounds)
            for level in levels
        )
    else:
        other, groups_of_other = _part(responses, second)
        judge_only -= _judge_mean(other)
        value, simultaneous = (
            prediction_powered_difference(
                part, other, confidence=level, groups=(groups, groups_of_other), bounds=bounds
            )
            for level in levels
        )
    is_scored = is_compared & ~np.isnan(responses.judge)
    is_labelled = is_scored & ~np.isnan(responses.human)
    is_unknown = second is None or math.isnan(simultaneous.low)
    return {
        "n_responses": int(is_scored.sum()),
        "n_labelled": int(is_labelled.sum()),
        "n_groups": int(np.count_nonzero(np.bincount(responses.groups[is_labelled]))),
        "judge_only": or_none(judge_only),
        "value": or_none(value.value),
        "low": or_none(value.low),
        "high": or_none(value.high),
        "low_all": or_none(simultaneous.low),
        "high_all": or_none(simultaneous.high),
        "is_safe": None if is_unknown else bool(simultaneous.low > 0 or simultaneous.high < 0),
    }


def _part(
    responses: SystemResponses, is_in_cell: NDArray[np.bool_]
) -> tuple[tuple[Floats, Floats, Floats], NDArray[np.generic]]:
    """Return labels, their scores, scores of the other responses, and the groups of both."""
    scored = is_in_cell & ~np.isnan(responses.judge)
    labelled, unlabelled = scored & ~np.isnan(responses.human), scored & np.isnan(responses.human)
    part = responses.human[labelled], responses.judge[labelled], responses.judge[unlabelled]
    return part, np.concatenate([responses.groups[labelled], responses.groups[unlabelled]])


def _judge_mean(part: tuple[Floats, Floats, Floats]) -> float:
    scores = np.concatenate(part[1:])
    return float(scores.mean()) if len(scores) else math.nan
