"""Comparison of systems by a judge's scores, corrected by human ratings of some responses."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.scale import Scale
from eval_assets.stats import (
    Interval,
    prediction_powered_difference,
    prediction_powered_mean,
    rogan_gladen,
)
from eval_assets.tuning.rated import Floats, Texts, numbered
from eval_assets.wording import or_none

CONFIDENCE = 0.95

Row = dict[str, object]
_Part = tuple[Floats, Floats, Floats]


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
        (value, system): (value_of == i) & (system_of == j)
        for i, value in enumerate(names)
        for j, system in enumerate(systems)
    }
    cells = {key: is_in_cell for key, is_in_cell in cells.items() if is_in_cell.any()}
    n_means = len(cells)
    for (value, system), is_in_cell in cells.items():
        yield {
            "kind": "mean",
            "slice": name,
            "slice_value": str(value) or None,
            "system": str(system),
            "other_system": None,
            **_mean(responses, is_in_cell, n_compared=n_means),
        }
    pairs = [
        (first, second)
        for first, second in itertools.combinations(cells, 2)
        if first[0] == second[0]
    ]
    for first, second in pairs:
        yield {
            "kind": "difference",
            "slice": name,
            "slice_value": str(first[0]) or None,
            "system": str(first[1]),
            "other_system": str(second[1]),
            **_difference(responses, cells[first], cells[second], n_compared=len(pairs)),
        }


def _mean(responses: SystemResponses, is_in_cell: NDArray[np.bool_], *, n_compared: int) -> Row:
    part, groups = _part(responses, is_in_cell)
    bounds = responses.scale.low, responses.scale.high
    estimate, simultaneous = (
        prediction_powered_mean(*part, confidence=confidence, groups=groups, bounds=bounds)
        for confidence in (CONFIDENCE, _simultaneous(n_compared))
    )
    labels_only = prediction_powered_mean(
        part[0],
        part[0],
        [],
        confidence=CONFIDENCE,
        groups=groups[: len(part[0])],
        bounds=bounds,
    )
    return {
        **_counts(responses, is_in_cell),
        "judge_only": or_none(_judge_mean(part)),
        **_intervals(estimate, simultaneous, labels_only),
        **(_corrected(part) if responses.scale.is_binary else _NOT_CORRECTED),
        "is_safe": None,
    }


_NOT_CORRECTED = dict.fromkeys(("rogan_gladen", "rogan_gladen_low", "rogan_gladen_high"))


def _corrected(part: _Part) -> Row:
    """Return the mean corrected for the judge's errors, of two classes."""
    is_certain = np.isin(part[0], (0, 1))
    estimate = rogan_gladen(
        part[0][is_certain],
        (part[1] > 0.5)[is_certain],  # noqa: PLR2004 - of 0 and 1
        part[2] > 0.5,  # noqa: PLR2004
        confidence=CONFIDENCE,
    )
    return dict(
        zip(
            _NOT_CORRECTED, map(or_none, (estimate.value, estimate.low, estimate.high)), strict=True
        )
    )


def _difference(
    responses: SystemResponses,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    *,
    n_compared: int,
) -> Row:
    (first_part, of_one), (second_part, of_other) = (
        _part(responses, first),
        _part(responses, second),
    )
    bounds = responses.scale.low, responses.scale.high
    estimate, simultaneous = (
        prediction_powered_difference(
            first_part, second_part, confidence=confidence, groups=(of_one, of_other), bounds=bounds
        )
        for confidence in (CONFIDENCE, _simultaneous(n_compared))
    )
    none = np.zeros(0)
    labels_only = prediction_powered_difference(
        (first_part[0], first_part[0], none),
        (second_part[0], second_part[0], none),
        confidence=CONFIDENCE,
        groups=(of_one[: len(first_part[0])], of_other[: len(second_part[0])]),
        bounds=bounds,
    )
    is_safe = simultaneous.low > 0 or simultaneous.high < 0
    return {
        **_counts(responses, first | second),
        "judge_only": or_none(_judge_mean(first_part) - _judge_mean(second_part)),
        **_intervals(estimate, simultaneous, labels_only),
        **_NOT_CORRECTED,
        "is_safe": None if math.isnan(simultaneous.low) else bool(is_safe),
    }


def _part(
    responses: SystemResponses, is_in_cell: NDArray[np.bool_]
) -> tuple[_Part, NDArray[np.generic]]:
    """Return labels, their scores, scores of the other responses, and the groups of both."""
    scored = is_in_cell & ~np.isnan(responses.judge)
    labelled, unlabelled = scored & ~np.isnan(responses.human), scored & np.isnan(responses.human)
    part = responses.human[labelled], responses.judge[labelled], responses.judge[unlabelled]
    return part, np.concatenate([responses.groups[labelled], responses.groups[unlabelled]])


def _judge_mean(part: _Part) -> float:
    scores = np.concatenate(part[1:])
    return float(scores.mean()) if len(scores) else math.nan


def _counts(responses: SystemResponses, is_in_cell: NDArray[np.bool_]) -> Row:
    scored = is_in_cell & ~np.isnan(responses.judge)
    labelled = scored & ~np.isnan(responses.human)
    return {
        "n_responses": int(scored.sum()),
        "n_labelled": int(labelled.sum()),
        "n_groups": int(np.count_nonzero(np.bincount(responses.groups[labelled]))),
    }


def _intervals(estimate: Interval, simultaneous: Interval, labels_only: Interval) -> Row:
    """Return the figure with its intervals, and the figure from labels alone."""
    return {
        "value": or_none(estimate.value),
        "low": or_none(estimate.low),
        "high": or_none(estimate.high),
        "low_all": or_none(simultaneous.low),
        "high_all": or_none(simultaneous.high),
        "labels_only": or_none(labels_only.value),
        "labels_only_low": or_none(labels_only.low),
        "labels_only_high": or_none(labels_only.high),
        "labels_saved": _labels_saved(estimate, labels_only),
    }


def _labels_saved(estimate: Interval, labels_only: Interval) -> int | None:
    """Return the number of further labels for an equally narrow interval without the judge."""
    width = estimate.high - estimate.low
    if not width > 0:
        return None
    return max(
        0, round(labels_only.n_units * (((labels_only.high - labels_only.low) / width) ** 2 - 1))
    )


def _simultaneous(n_compared: int) -> float:
    return 1 - (1 - CONFIDENCE) / max(1, n_compared)
