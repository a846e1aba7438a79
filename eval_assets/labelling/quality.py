"""Label quality: figures by question and rater, with advice."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling._advice import CLEARLY_LESS, Findings, advice_on
from eval_assets.labelling.session_frames import ControlUnit
from eval_assets.stats import human_agreement, krippendorff_alpha

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QualityFigure:
    """One figure of one rater on one question; a row of the table `label_quality`.

    `n` is the number of labels, or of shared responses, behind the figure. `value` is NaN if it is
    undefined; `advice` is empty if no action is needed.
    """

    question_id: str
    rater_id: str
    measure: str
    value: float
    n: int
    advice: str = ""


MEASURES: Mapping[str, str] = {
    "completeness": "share of the assigned responses that were rated or skipped",
    "participation": "share of all labelled responses that this rater labelled",
    "mean": "mean rating, in scale points",
    "most_frequent_share": "share of the ratings that are equal to the most frequent one",
    "severity": "mean difference from the other raters of a response, in share of the scale",
    "opposite_ends": "share of the responses that another rater put at the other end",
    "agreement": "mean of 1 - |difference| from the other raters of a response, on [0, 1]",
    "alpha_without": "Krippendorff's alpha of the question if this rater is left out",
    "expert_agreement": "agreement with the experts alone",
    "skipped_share": "share of the answers that say that the response is unclear",
    "skipped_difference": "others' mean of what was skipped less that of the rest, on [0, 1]",
    "confidence_gain": "agreement of labels given with high confidence less that of the others",
    "seconds": "median time between seeing a response and answering",
    "drift": "severity in the last third of the labels less that in the first",
    "self_agreement": "agreement with oneself on responses that came back",
    "control_agreement": "agreement with the settled values of control responses",
    "changed_share": "share of the labels changed more than a minute later",
    "outdated_share": "share of the labels given on a text that was changed since",
}
"""Every figure, in the order in which they are shown, and what it says."""


def measure_quality(
    evaluation: Evaluation,
    labels: Callable[[RubricQuestion], pd.DataFrame],
    history: pd.DataFrame,
    *,
    assigned: Mapping[tuple[str, str], int],
    controls: Mapping[ControlUnit, float],
) -> list[QualityFigure]:
    """Return the quality of every rater's labels on every question.

    Args:
        evaluation: The questions, the experts, and the gates that advice refers to.
        labels: Gives those of a question, one row for each response and rater: response_id,
            rater_id, value (NaN if skipped), skipped, confidence, labelled_at, seconds,
            is_outdated.
        history: Answers that do not count: response_id, question_id, rater_id, kind ('change' or
            'repeat'), before, after.
        assigned: Responses that each rater is to label, by (rater, question).
        controls: Settled values of control responses.

    Returns:
        Figures of all raters who gave a label or have one to give, question by question.
    """
    figures = []
    for question in evaluation.rubric:
        question_labels = labels(question)
        measured = _QuestionLabels(question, evaluation, question_labels)
        raters = {*question_labels["rater_id"], *(r for r, q in assigned if q == question.id)}
        for rater in sorted(raters):
            of_rater = history[
                (history["question_id"] == question.id) & (history["rater_id"] == rater)
            ]
            settled = {
                unit.response_id: value
                for unit, value in controls.items()
                if (unit.question_id, unit.rater_id) == (question.id, rater)
            }
            n_assigned = assigned.get((rater, question.id))
            by_name = dict(_figures(measured, rater, of_rater, n_assigned, settled))
            advice = advice_on(rater, by_name, measured.findings(rater))
            figures += [
                QualityFigure(question.id, rater, name, *by_name[name], advice.get(name, ""))
                for name in MEASURES
                if name in by_name
            ]
    return figures


class _QuestionLabels:
    """The labels of one question, and as a matrix of responses and raters."""

    def __init__(
        self, question: RubricQuestion, evaluation: Evaluation, labels: pd.DataFrame
    ) -> None:
        self.question = question
        row, responses = pd.factorize(labels["response_id"], sort=True)
        column, raters = pd.factorize(labels["rater_id"], sort=True)
        ratings = np.full((len(responses), len(raters)), math.nan)
        ratings[row, column] = labels["value"]
        self.labels = labels.assign(row=row)
        self.matrix = pd.DataFrame(ratings, columns=raters.astype(object))
        self.experts = [r for r in evaluation.labelling.experts if r in self.matrix.columns]
        self._gates = evaluation.gates
        level = evaluation.gates["human_alpha"].level or question.level
        self._level = level
        self.alpha = krippendorff_alpha(ratings, level=level)
        self.a_hh = human_agreement(ratings, scale=question.scale)

    def of(self, rater: str) -> Floats:
        """Return the ratings by one rater, NaN if there is none."""
        if rater not in self.matrix.columns:
            return np.full(len(self.matrix), math.nan)
        return self.matrix[rater].to_numpy(dtype=np.float64)

    def others(self, rater: str) -> Floats:
        """Return ratings by all others, shape (n_responses, n_others)."""
        kept = [column for column in self.matrix.columns if column != rater]
        return self.matrix[kept].to_numpy(dtype=np.float64)

    def closeness(self, own: Floats, others: Floats) -> Floats:
        """Return the mean agreement with the others by response; NaN without other ratings."""
        if self.question.level == "nominal":
            pairs = np.where(np.isnan(others) | np.isnan(own)[:, None], math.nan, 0.0)
            pairs += own[:, None] == others
        else:
            width = self.question.scale.high - self.question.scale.low
            pairs = 1 - np.abs(own[:, None] - others) / width
        return _row_mean(pairs)

    @cached_property
    def agreements(self) -> dict[str, float]:
        """Mean agreement of each rater with the others; of two raters both have the same."""
        means = {r: _mean(self.closeness(self.of(r), self.others(r))) for r in self.matrix.columns}
        return {rater: agreement for rater, agreement in means.items() if not math.isnan(agreement)}

    def _stands_apart(self, rater: str) -> bool:
        if rater not in self.agreements:
            return False
        return self.agreements[rater] < fmean(self.agreements.values()) - CLEARLY_LESS

    def alpha_without(self, rater: str) -> float:
        """Return alpha of the other raters alone."""
        return krippendorff_alpha(self.others(rater), level=self._level)

    def findings(self, rater: str) -> Findings:
        """Return the context of advice about a rater."""
        others = self.others(rater)
        shared = others[~np.isnan(self.of(rater))]
        ratings = shared[~np.isnan(shared)]
        return Findings(
            alpha=self.alpha,
            stands_apart=self._stands_apart(rater),
            is_binary=self.question.scale.is_binary,
            others_vary=bool(len(ratings)) and ratings.min() < ratings.max(),
            failing=tuple(
                f"{name} is {value:.3f} on {self.question.id}, below {minimum:g}"
                for name, value, minimum in (
                    ("human_a_hh", self.a_hh, self._gates["human_a_hh"].minimum),
                    ("human_alpha", self.alpha, self._gates["human_alpha"].minimum),
                )
                if value < minimum
            ),
        )


def _figures(
    measured: _QuestionLabels,
    rater: str,
    history: pd.DataFrame,
    n_assigned: int | None,
    settled: Mapping[str, float],
) -> Iterator[tuple[str, tuple[float, int]]]:
    """Yield name, value and n of each figure of one rater."""
    mine = measured.labels[measured.labels["rater_id"] == rater]
    if n_assigned:
        yield "completeness", (min(1.0, len(mine) / n_assigned), n_assigned)
    if mine.empty:
        return
    n_labelled = len(measured.matrix)
    yield "participation", (len(mine) / n_labelled, n_labelled)
    own, others = measured.of(rater), measured.others(rater)
    rated = own[~np.isnan(own)]
    if len(rated):
        _, counts = np.unique(rated, return_counts=True)
        yield "mean", (float(rated.mean()), len(rated))
        yield "most_frequent_share", (float(counts.max() / len(rated)), len(rated))
    closeness = measured.closeness(own, others)
    yield from _against_others(measured, rater, own, others, closeness)
    yield from _of_single_labels(measured, mine, closeness)
    changed = int((history["kind"] == "change").sum())
    yield "changed_share", (changed / len(mine), len(mine))
    yield "outdated_share", (float(mine["is_outdated"].mean()), len(mine))
    if settled:
        expected = np.array([settled.get(response, math.nan) for response in mine["response_id"]])
        near = measured.closeness(mine["value"].to_numpy(dtype=np.float64), expected[:, None])
        if not np.isnan(near).all():
            yield "control_agreement", (_mean(near), int(np.count_nonzero(~np.isnan(near))))
    repeats = history[history["kind"] == "repeat"].dropna(subset=["before", "after"])
    if len(repeats):
        before = repeats["before"].to_numpy(dtype=np.float64)
        after = repeats["after"].to_numpy(dtype=np.float64)
        yield "self_agreement", (_mean(measured.closeness(before, after[:, None])), len(repeats))


def _against_others(
    measured: _QuestionLabels, rater: str, own: Floats, others: Floats, closeness: Floats
) -> Iterator[tuple[str, tuple[float, int]]]:
    scale = measured.question.scale
    n_shared = int(np.count_nonzero(~np.isnan(closeness)))
    if not n_shared:
        return
    yield "agreement", (_mean(closeness), n_shared)
    if measured.matrix.shape[1] > 2:  # noqa: PLR2004 - one rater alone cannot agree
        yield "alpha_without", (measured.alpha_without(rater), n_shared)
    if measured.experts and rater not in measured.experts:
        experts = measured.matrix[measured.experts].to_numpy(dtype=np.float64)
        near = measured.closeness(own, experts)
        yield "expert_agreement", (_mean(near), int(np.count_nonzero(~np.isnan(near))))
    if measured.question.level == "nominal" and not scale.is_binary:
        return
    difference = (own - _row_mean(others)) / (scale.high - scale.low)
    yield "severity", (_mean(difference), n_shared)
    ends = np.abs(own[:, None] - others) >= scale.high - scale.low
    shared = ~np.isnan(closeness)
    yield "opposite_ends", (float(ends[shared].any(axis=1).mean()), n_shared)


def _of_single_labels(
    measured: _QuestionLabels, mine: pd.DataFrame, closeness: Floats
) -> Iterator[tuple[str, tuple[float, int]]]:
    """Yield figures of single labels: skips, confidence, time and order."""
    rows = mine["row"].to_numpy()
    skipped = mine["skipped"].to_numpy(dtype=bool)
    yield "skipped_share", (float(skipped.mean()), len(mine))
    scale = measured.question.scale
    by_others = scale.to_unit(_row_mean(measured.others(str(mine["rater_id"].iloc[0]))))
    if skipped.any() and not skipped.all():
        differ = _mean(by_others[rows[skipped]]) - _mean(by_others[rows[~skipped]])
        yield "skipped_difference", (differ, int(skipped.sum()))
    near = closeness[rows]
    is_sure = (mine["confidence"] == "high").to_numpy()
    stated = mine["confidence"].notna().to_numpy() & ~np.isnan(near)
    if (is_sure & stated).any() and (~is_sure & stated).any():
        gain = _mean(near[is_sure & stated]) - _mean(near[~is_sure & stated])
        yield "confidence_gain", (gain, int(np.count_nonzero(~is_sure & stated)))
    seconds = mine["seconds"].to_numpy(dtype=np.float64)
    if not np.isnan(seconds).all():
        yield "seconds", (float(np.nanmedian(seconds)), int(np.count_nonzero(~np.isnan(seconds))))
    if measured.question.level != "nominal" or scale.is_binary:
        yield from _drift(measured, mine, by_others, rows)


def _drift(
    measured: _QuestionLabels, mine: pd.DataFrame, by_others: Floats, rows: NDArray[np.int64]
) -> Iterator[tuple[str, tuple[float, int]]]:
    scale = measured.question.scale
    own = scale.to_unit(mine["value"].to_numpy(dtype=np.float64))
    times = mine["labelled_at"].to_numpy(dtype=object)
    known = ~np.isnan(own - by_others[rows]) & mine["labelled_at"].notna().to_numpy()
    order = np.argsort(times[known].astype(str), kind="stable")
    difference = (own - by_others[rows])[known][order]
    third = len(difference) // 3
    if third:
        yield "drift", (_mean(difference[-third:]) - _mean(difference[:third]), len(difference))


def _row_mean(values: Floats) -> Floats:
    """Return the mean of each row without its gaps; NaN if there is nothing in it."""
    n = np.count_nonzero(~np.isnan(values), axis=1)
    total = np.nansum(values, axis=1)
    means: Floats = np.divide(total, n, out=np.full(len(values), math.nan), where=n > 0)
    return means


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan
