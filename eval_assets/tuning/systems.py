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
from eval_assets.tuning.rated import Floats, Texts
from eval_assets.wording import or_none

CONFIDENCE = 0.95

Row = dict[str, object]
_Part = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False)
class ComparedAnswers:
    """Answers of several systems to one question of the rubric, and one judge's scores of them.

    Args:
        groups: Group of each answer, a name or number; answers to one prompt share it.
        human: Mean human rating of each answer, NaN if nobody rated it.
        judge: The judge's score of each answer, NaN if missing.
        slices: Value of each answer in each slice that is compared, such as its difficulty.
    """

    systems: Texts
    groups: NDArray[np.generic]
    human: Floats
    judge: Floats
    slices: Mapping[str, Texts]
    scale: Scale


def compare_systems(answers: ComparedAnswers) -> list[Row]:
    """Return rows of `system_comparison`: means of systems, then differences of two, by slice.

    Means and differences are those that people would have given all answers, by
    prediction-powered inference over groups. Intervals are 95 % ones; `low_all` and `high_all`
    hold for all means, or all differences, of a slice at once (Bonferroni), and only by these a
    difference counts as safe.
    """
    slices = {"all": np.full(len(answers.systems), ""), **answers.slices}
    # Every row looks at the groups again: numbers are counted, and names would be sorted.
    answers = replace(answers, groups=_numbered(answers.groups)[1])
    return [row for name, values in slices.items() for row in _slice_rows(answers, name, values)]


def _numbered(names: NDArray[np.generic]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different names, sorted, and the place of each among them."""
    values = names.tolist()
    index = {name: number for number, name in enumerate(sorted(set(values)))}
    return list(index), np.fromiter(map(index.__getitem__, values), np.int64, len(values))


def _slice_rows(answers: ComparedAnswers, name: str, values: Texts) -> Iterator[Row]:
    names, value_of = _numbered(values)
    systems, system_of = _numbered(answers.systems)
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
            **_mean(answers, is_in_cell, n_compared=n_means),
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
            **_difference(answers, cells[first], cells[second], n_compared=len(pairs)),
        }


def _mean(answers: ComparedAnswers, is_in_cell: NDArray[np.bool_], *, n_compared: int) -> Row:
    part, groups = _part(answers, is_in_cell)
    bounds = answers.scale.low, answers.scale.high
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
        **_counts(answers, is_in_cell),
        "judge_only": or_none(_judge_mean(part)),
        **_intervals(estimate, simultaneous, labels_only),
        **(_corrected(part) if answers.scale.is_binary else _NOT_CORRECTED),
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
    answers: ComparedAnswers,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    *,
    n_compared: int,
) -> Row:
    (part, of_one), (other, of_other) = _part(answers, first), _part(answers, second)
    bounds = answers.scale.low, answers.scale.high
    estimate, simultaneous = (
        prediction_powered_difference(
            part, other, confidence=confidence, groups=(of_one, of_other), bounds=bounds
        )
        for confidence in (CONFIDENCE, _simultaneous(n_compared))
    )
    none = np.zeros(0)
    labels_only = prediction_powered_difference(
        (part[0], part[0], none),
        (other[0], other[0], none),
        confidence=CONFIDENCE,
        groups=(of_one[: len(part[0])], of_other[: len(other[0])]),
        bounds=bounds,
    )
    is_safe = simultaneous.low > 0 or simultaneous.high < 0
    return {
        **_counts(answers, first | second),
        "judge_only": or_none(_judge_mean(part) - _judge_mean(other)),
        **_intervals(estimate, simultaneous, labels_only),
        **_NOT_CORRECTED,
        "is_safe": None if math.isnan(simultaneous.low) else bool(is_safe),
    }


def _part(
    answers: ComparedAnswers, is_in_cell: NDArray[np.bool_]
) -> tuple[_Part, NDArray[np.generic]]:
    """Return labels, their scores, scores of the other answers, and the groups of both."""
    scored = is_in_cell & ~np.isnan(answers.judge)
    labelled, other = scored & ~np.isnan(answers.human), scored & np.isnan(answers.human)
    part = answers.human[labelled], answers.judge[labelled], answers.judge[other]
    return part, np.concatenate([answers.groups[labelled], answers.groups[other]])


def _judge_mean(part: _Part) -> float:
    scores = np.concatenate(part[1:])
    return float(scores.mean()) if len(scores) else math.nan


def _counts(answers: ComparedAnswers, is_in_cell: NDArray[np.bool_]) -> Row:
    scored = is_in_cell & ~np.isnan(answers.judge)
    labelled = scored & ~np.isnan(answers.human)
    return {
        "n_responses": int(scored.sum()),
        "n_labelled": int(labelled.sum()),
        "n_groups": int(np.count_nonzero(np.bincount(answers.groups[labelled]))),
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
    """Return how many more labels an interval as narrow would take without the judge."""
    width = estimate.high - estimate.low
    if not width > 0:
        return None
    return max(
        0, round(labels_only.n_units * (((labels_only.high - labels_only.low) / width) ** 2 - 1))
    )


def _simultaneous(n_compared: int) -> float:
    return 1 - (1 - CONFIDENCE) / max(1, n_compared)
