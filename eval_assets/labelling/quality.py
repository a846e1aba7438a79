"""Label quality: figures by question and rater, with advice."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from statistics import fmean

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling._advice import (
    CLEARLY_LESS,
    GOOD,
    Findings,
    Test,
    advice_on,
    beyond_chance,
    binomial_tail,
    exchanged,
    flipped_signs,
    longest_runs,
    shuffled,
)
from eval_assets.labelling.adjudication import decisions, read_adjudications
from eval_assets.labelling.gold_answers import CheckResult
from eval_assets.labelling.session_frames import ControlUnit, control_values
from eval_assets.labelling.study import Study
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


_WORDS_PER_SECOND = 1000 / 60
"""Fastest possible reading: even skimming stays below 1,000 words a minute (Rayner et al., 2016,
doi:10.1177/1529100615623267)."""

_FEW_SKIPPED = 0.1
"""Share of unclear responses that is usual."""

MEASURES: Mapping[str, str] = {
    "completeness": "share of the assigned responses that were rated or skipped",
    "participation": "share of all labelled responses that this rater labelled",
    "mean": "mean rating, in scale points",
    "most_frequent_share": "share of the ratings that are equal to the most frequent one",
    "longest_run": "most ratings in a row that are equal",
    "identical_share": "share of the responses rated like the rater who is most alike",
    "severity": "mean difference from the other raters of a response, in share of the scale",
    "opposite_ends": "share of the responses that another rater put at the other end",
    "agreement": "mean of 1 - |difference| from the other raters of a response, on [0, 1]",
    "alpha_without": "Krippendorff's alpha of the question if this rater is left out",
    "expert_agreement": "agreement with the experts alone",
    "skipped_share": "share of the answers that say that the response is unclear",
    "skipped_difference": "others' mean of what was skipped less that of the rest, on [0, 1]",
    "confidence_gain": "agreement of labels given with high confidence less that of the others",
    "seconds": "median time between seeing a response and answering",
    "too_fast_share": "share of the labels given faster than the response can be read",
    "drift": "severity in the last third of the labels less that in the first",
    "self_agreement": "agreement with oneself on responses that came back",
    "control_agreement": "agreement with the settled values of control responses",
    "calibration": "share of answers that match gold answers, in the latest calibration round",
    "attention": "share of answers that match, in attention checks",
    "changed_share": "share of the labels changed more than a minute later",
    "outdated_share": "share of the labels given on a text that was changed since",
}
"""Figures in the order in which they are shown, with their meanings."""


def measure_quality(  # noqa: PLR0913 - one for each source
    evaluation: Evaluation,
    labels: Callable[[RubricQuestion], pd.DataFrame],
    history: pd.DataFrame,
    *,
    assigned: Mapping[tuple[str, str], int],
    controls: Mapping[ControlUnit, float],
    checks: Mapping[tuple[str, str, str], CheckResult],
) -> list[QualityFigure]:
    """Return the quality of every rater's labels on every question.

    Args:
        evaluation: The questions, the experts, and the gates that advice refers to.
        labels: Gives those of a question, one row for each response and rater: response_id,
            rater_id, value (NaN if skipped), skipped, confidence, labelled_at, seconds,
            words (of the response; NaN if unknown), is_outdated.
        history: Answers that do not count: response_id, question_id, rater_id, kind ('change' or
            'repeat'), before, after.
        assigned: Responses that each rater is to label, by (rater, question).
        controls: Settled values of control responses.
        checks: Answers to checks, by rater, question and kind of check.

    Returns:
        Figures of all raters who gave a label or have one to give, question by question. Advice
        on figures that vary by chance is given only if that is ruled out, corrected for all
        raters, questions and figures: honest labels lead to any in one study of twenty at most.
    """
    figures: list[QualityFigure] = []
    tests: dict[int, Test] = {}
    n_tests = 0
    for question in evaluation.rubric:
        question_labels = labels(question)
        measured = _QuestionLabels(question, evaluation, question_labels)
        checked = {(r, kind): result for (r, q, kind), result in checks.items() if q == question.id}
        raters = {
            *question_labels["rater_id"].unique(),
            *(r for r, q in assigned if q == question.id),
        }
        of_question = history[history["question_id"] == question.id]
        for rater in sorted(raters):
            adjudicated_values = {
                unit.response_id: value
                for unit, value in controls.items()
                if (unit.question_id, unit.rater_id) == (question.id, rater)
            }
            of_rater = of_question[of_question["rater_id"] == rater]
            n_assigned = assigned.get((rater, question.id))
            measures = list(_figures(measured, rater, of_rater, n_assigned, adjudicated_values))
            measures += [
                (kind, (result.n_right / result.n_answered, result.n_answered))
                for (name, kind), result in checked.items()
                if name == rater and result.n_answered
            ]
            tested = {name: test for name, _, *test in measures if test}
            n_tests += len(tested)
            for figure in _with_advice(measured, rater, measures):
                if figure.advice and figure.measure in tested:
                    tests[len(figures)] = tested[figure.measure][0]
                figures.append(figure)
    significant = beyond_chance(tests, n_tests=n_tests)
    return [
        figure if index in significant or index not in tests else replace(figure, advice="")
        for index, figure in enumerate(figures)
    ]


def study_quality(
    study: Study, labels: Callable[[RubricQuestion], pd.DataFrame], history: pd.DataFrame
) -> list[QualityFigure]:
    """Return the figures of `measure_quality` with the assignments and checks of a study."""
    adjudications = decisions(read_adjudications(study.evaluation))
    return measure_quality(
        study.evaluation,
        labels,
        history,
        assigned=study.n_assigned,
        controls=control_values(study.assignments or (), adjudications),
        checks=study.check_results(),
    )


Measure = tuple[str, tuple[float, int]] | tuple[str, tuple[float, int], Test]
"""Name, value and n of a figure, and a test of whether it is more than chance."""


def _with_advice(
    measured: "_QuestionLabels", rater: str, measures: Sequence[Measure]
) -> Iterator[QualityFigure]:
    """Yield a rater's figures in the order of `MEASURES`, with advice on large ones."""
    by_name = {name: figure for name, figure, *_ in measures}
    advice = advice_on(rater, by_name, measured.findings(rater))
    for name in MEASURES:
        if name in by_name:
            value, n = by_name[name]
            yield QualityFigure(measured.question.id, rater, name, value, n, advice.get(name, ""))


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
        columns = [column for column in self.matrix.columns if column != rater]
        return self.matrix[columns].to_numpy(dtype=np.float64)

    def closeness(self, rater_labels: Floats, peers: Floats) -> Floats:
        """Return the mean agreement with the others by response; NaN without other ratings."""
        if self.question.level == "nominal":
            pairs = np.where(np.isnan(peers) | np.isnan(rater_labels)[:, None], math.nan, 0.0)
            pairs += rater_labels[:, None] == peers
        else:
            width = self.question.scale.high - self.question.scale.low
            pairs = 1 - np.abs(rater_labels[:, None] - peers) / width
        return _row_mean(pairs)

    @cached_property
    def agreements(self) -> dict[str, float]:
        """Mean agreement of each rater with the others; of two raters both have the same."""
        means = {r: _mean(self.closeness(self.of(r), self.others(r))) for r in self.matrix.columns}
        return {rater: agreement for rater, agreement in means.items() if not math.isnan(agreement)}

    @cached_property
    def closeness_by_rater(self) -> Floats:
        """Mean agreement of each rater with the others, by response."""
        columns = [self.closeness(self.of(r), self.others(r)) for r in self.matrix.columns]
        return np.column_stack(columns) if columns else np.empty((0, 0))

    def exceptional_agreement(self, rater: str) -> float:
        """Return the chance that raters drawn at random agree as little with the others.

        Honest raters differ in care, so a difference up to `CLEARLY_LESS` is usual.
        """
        column = list(self.matrix.columns).index(rater)
        return exchanged(-self.closeness_by_rater, column, margin=CLEARLY_LESS)

    def exceptional_value(self, rater: str, value: float) -> float:
        """Return the chance that raters drawn at random give one value as often."""
        ratings = self.matrix.to_numpy(dtype=np.float64)
        is_value = np.where(np.isnan(ratings), math.nan, ratings == value)
        return exchanged(is_value, list(self.matrix.columns).index(rater))

    @cached_property
    def twins(self) -> Mapping[str, "_Twin"]:
        """Most similar rater of each rater."""
        return _twins(self.matrix)

    def _stands_apart(self, rater: str) -> bool:
        if rater not in self.agreements:
            return False
        return self.agreements[rater] < fmean(self.agreements.values()) - CLEARLY_LESS

    def alpha_without(self, rater: str) -> float:
        """Return alpha of the other raters alone."""
        return krippendorff_alpha(self.others(rater), level=self._level)

    def findings(self, rater: str) -> Findings:
        """Return the context of advice about a rater."""
        peers = self.others(rater)
        shared = peers[~np.isnan(self.of(rater))]
        ratings = shared[~np.isnan(shared)]
        return Findings(
            alpha=self.alpha,
            stands_apart=self._stands_apart(rater),
            is_binary=self.question.scale.is_binary,
            others_vary=bool(len(ratings)) and ratings.min() < ratings.max(),
            twin=self.twins[rater].rater if rater in self.twins else "",
            failing=tuple(
                f"{name} is {value:z.3f} on {self.question.id}, below {minimum:g}"
                for name, value, minimum in (
                    ("human_a_hh", self.a_hh, self._gates["human_a_hh"].minimum),
                    ("human_alpha", self.alpha, self._gates["human_alpha"].minimum),
                )
                if value < minimum
            ),
        )


@dataclass(frozen=True)
class _Twin:
    """The rater most like another one.

    `identical` is the share of the `n` shared responses that both rate alike, `p_value` the chance
    of so many shared departures from the other raters.
    """

    rater: str
    identical: float
    n: int
    p_value: float


_ALIKE = {1: 0.7, 2: 0.6}
"""Limit for the share of responses that two raters rate alike and unlike the rest, among those on
which they differ from each other or from the rest. It depends on the number of other raters; 2
stands for more. Honest raters with 95 % right answers beside others with 75 % stay below it."""

_MOST_VALUES = 50
"""Number of values of a scale above which identical ratings are not searched for."""


def _twins(matrix: pd.DataFrame) -> dict[str, _Twin]:
    """Return the most similar rater of each rater, by answers that others do not give.

    Raters who know the right answer both give it. Only those who work together, or copy, share
    answers that differ from those of the others. So a response counts if the two differ, or if they
    agree on something else than most of the other raters of it.
    """
    ratings = matrix.to_numpy(dtype=np.float64)
    values = np.unique(ratings[~np.isnan(ratings)])
    if len(values) > _MOST_VALUES or ratings.shape[1] < 3:  # noqa: PLR2004 - two and the rest
        return {}
    counts = np.stack([(ratings == value).sum(axis=1) for value in values], axis=1)
    codes = np.searchsorted(values, np.where(np.isnan(ratings), values[0], ratings))
    rows = np.arange(len(ratings))
    n_raters = ratings.shape[1]
    best: dict[str, _Twin] = {}
    for first in range(n_raters):
        for second in range(first + 1, n_raters):
            is_shared = ~np.isnan(ratings[:, first]) & ~np.isnan(ratings[:, second])
            alike = is_shared & (ratings[:, first] == ratings[:, second])
            peer_counts = counts.copy()
            peer_counts[rows[is_shared], codes[is_shared, first]] -= 1
            peer_counts[rows[is_shared], codes[is_shared, second]] -= 1
            label_counts = peer_counts[rows, codes[:, first]]
            n_against = int(np.count_nonzero(alike & (label_counts < peer_counts.max(axis=1))))
            n_apart = int(np.count_nonzero(is_shared & ~alike & (peer_counts.sum(axis=1) > 0)))
            if not n_against + n_apart:
                continue
            is_one = np.median(peer_counts.sum(axis=1)[is_shared]) < 2  # noqa: PLR2004 - a majority
            usual = _ALIKE[1 if is_one else 2]
            # Each rater has as many possible twins as there are other raters.
            n_split = n_against + n_apart
            p_value = 1.0
            if n_against > usual * n_split:
                p_value = min(1.0, (n_raters - 1) * binomial_tail(n_against, n_split, usual))
            share = float(alike.sum() / is_shared.sum())
            for rater, peer in ((first, second), (second, first)):
                twin = _Twin(str(matrix.columns[peer]), share, int(is_shared.sum()), p_value)
                best_match = best.get(str(matrix.columns[rater]))
                if best_match is None or (twin.p_value, -twin.identical) < (
                    best_match.p_value,
                    -best_match.identical,
                ):
                    best[str(matrix.columns[rater])] = twin
    return best


def _figures(
    measured: _QuestionLabels,
    rater: str,
    history: pd.DataFrame,
    n_assigned: int | None,
    settled: Mapping[str, float],
) -> Iterator[Measure]:
    labels = measured.labels[measured.labels["rater_id"] == rater]
    if n_assigned:
        yield "completeness", (min(1.0, len(labels) / n_assigned), n_assigned)
    if labels.empty:
        return
    n_labelled = len(measured.matrix)
    yield "participation", (len(labels) / n_labelled, n_labelled)
    rater_labels, peers = measured.of(rater), measured.others(rater)
    rated = rater_labels[~np.isnan(rater_labels)]
    if len(rated):
        values, counts = np.unique(rated, return_counts=True)
        most_frequent = float(values[counts.argmax()])
        yield "mean", (float(rated.mean()), len(rated))
        share = float(counts.max() / len(rated))
        test = partial(measured.exceptional_value, rater, most_frequent)
        yield "most_frequent_share", (share, len(rated)), test
    closeness = measured.closeness(rater_labels, peers)
    yield from _against_others(measured, rater, rater_labels, peers, closeness)
    yield from _of_single_labels(measured, labels, closeness)
    changed = int((history["kind"] == "change").sum())
    yield "changed_share", (changed / len(labels), len(labels))
    yield "outdated_share", (float(labels["is_outdated"].mean()), len(labels))
    if settled:
        expected = np.array([settled.get(response, math.nan) for response in labels["response_id"]])
        near = measured.closeness(labels["value"].to_numpy(dtype=np.float64), expected[:, None])
        if not np.isnan(near).all():
            n_controls = int(np.count_nonzero(~np.isnan(near)))
            yield (
                "control_agreement",
                (_mean(near), n_controls),
                partial(flipped_signs, near - GOOD),
            )
    repeats = history[history["kind"] == "repeat"].dropna(subset=["before", "after"])
    if len(repeats):
        before = repeats["before"].to_numpy(dtype=np.float64)
        after = repeats["after"].to_numpy(dtype=np.float64)
        near = measured.closeness(before, after[:, None])
        yield "self_agreement", (_mean(near), len(repeats)), partial(flipped_signs, near - GOOD)


def _against_others(
    measured: _QuestionLabels, rater: str, rater_labels: Floats, peers: Floats, closeness: Floats
) -> Iterator[Measure]:
    scale = measured.question.scale
    n_shared = int(np.count_nonzero(~np.isnan(closeness)))
    if not n_shared:
        return
    apart = cache(partial(measured.exceptional_agreement, rater))
    yield "agreement", (_mean(closeness), n_shared), apart
    if measured.matrix.shape[1] > 2:  # noqa: PLR2004 - one rater alone cannot agree
        yield "alpha_without", (measured.alpha_without(rater), n_shared), apart
    if rater in measured.twins:
        twin = measured.twins[rater]
        yield "identical_share", (twin.identical, twin.n), lambda: twin.p_value
    if measured.experts and rater not in measured.experts:
        experts = measured.matrix[measured.experts].to_numpy(dtype=np.float64)
        near = measured.closeness(rater_labels, experts)
        n_near = int(np.count_nonzero(~np.isnan(near)))
        yield "expert_agreement", (_mean(near), n_near), partial(flipped_signs, near - GOOD)
    if measured.question.level == "nominal" and not scale.is_binary:
        return
    difference = (rater_labels - _row_mean(peers)) / (scale.high - scale.low)
    sign = -1 if _mean(difference) > 0 else 1
    yield "severity", (_mean(difference), n_shared), partial(flipped_signs, sign * difference)
    ends = np.abs(rater_labels[:, None] - peers) >= scale.high - scale.low
    shared = ~np.isnan(closeness)
    yield "opposite_ends", (float(ends[shared].any(axis=1).mean()), n_shared), apart


def _of_single_labels(
    measured: _QuestionLabels, labels: pd.DataFrame, closeness: Floats
) -> Iterator[Measure]:
    """Yield figures of single labels: skips, confidence, time and order."""
    rows = labels["row"].to_numpy()
    skipped = labels["skipped"].to_numpy(dtype=bool)
    test = partial(binomial_tail, int(skipped.sum()), len(labels), _FEW_SKIPPED)
    yield "skipped_share", (float(skipped.mean()), len(labels)), test
    scale = measured.question.scale
    by_others = scale.to_unit(_row_mean(measured.others(str(labels["rater_id"].iloc[0]))))
    if skipped.any() and not skipped.all():
        differ = _mean(by_others[rows[skipped]]) - _mean(by_others[rows[~skipped]])
        is_known = ~np.isnan(by_others[rows])
        test = partial(_in_part, by_others[rows][is_known], skipped[is_known])
        yield "skipped_difference", (differ, int(skipped.sum())), test
    near = closeness[rows]
    is_sure = (labels["confidence"] == "high").to_numpy()
    stated = labels["confidence"].notna().to_numpy() & ~np.isnan(near)
    if (is_sure & stated).any() and (~is_sure & stated).any():
        gain = _mean(near[is_sure & stated]) - _mean(near[~is_sure & stated])
        test = partial(_in_part, near[stated], is_sure[stated])
        yield "confidence_gain", (gain, int(np.count_nonzero(~is_sure & stated))), test
    seconds = labels["seconds"].to_numpy(dtype=np.float64)
    if not np.isnan(seconds).all():
        yield "seconds", (float(np.nanmedian(seconds)), int(np.count_nonzero(~np.isnan(seconds))))
    least = labels["words"].to_numpy(dtype=np.float64) / _WORDS_PER_SECOND
    timed = ~np.isnan(seconds) & ~np.isnan(least)
    if timed.any():
        too_fast = float((seconds < least)[timed].mean())
        yield "too_fast_share", (too_fast, int(timed.sum()))
    values = labels["value"].to_numpy(dtype=np.float64)[_in_time(labels)]
    values = values[~np.isnan(values)]
    if len(values):
        longest = float(longest_runs(values[None, :])[0])
        yield "longest_run", (longest, len(values)), partial(shuffled, values, longest_runs)
    if measured.question.level != "nominal" or scale.is_binary:
        yield from _drift(measured, labels, by_others, rows)


def _drift(
    measured: _QuestionLabels, labels: pd.DataFrame, by_others: Floats, rows: NDArray[np.int64]
) -> Iterator[Measure]:
    scale = measured.question.scale
    order = _in_time(labels)
    on_unit = scale.to_unit(labels["value"].to_numpy(dtype=np.float64))
    difference = (on_unit - by_others[rows])[order]
    difference = difference[~np.isnan(difference)]
    third = len(difference) // 3
    if third:
        drift = _last_less_first(difference[None, :])[0]
        sign = 1.0 if drift > 0 else -1.0
        test = partial(shuffled, difference, lambda values: sign * _last_less_first(values))
        yield "drift", (float(drift), len(difference)), test


def _last_less_first(values: Floats) -> Floats:
    third = values.shape[1] // 3
    return np.asarray(values[:, -third:].mean(axis=1) - values[:, :third].mean(axis=1))


def _in_time(labels: pd.DataFrame) -> NDArray[np.int64]:
    """Return the rows of labels with a known time, in order of time."""
    times = labels["labelled_at"]
    timed_rows = np.flatnonzero(times.notna().to_numpy())
    return timed_rows[
        np.argsort(times.to_numpy(dtype=object)[timed_rows].astype(str), kind="stable")
    ]


def _in_part(values: Floats, part: NDArray[np.bool_]) -> float:
    """Return the chance that a random part differs as far from the rest, in the same direction."""
    if part.all() or not part.any():
        return 1.0
    n = int(part.sum())
    ordered = np.concatenate([values[part], values[~part]])
    sign = 1.0 if ordered[:n].mean() > ordered.mean() else -1.0
    return shuffled(ordered, lambda rows: np.asarray(sign * rows[:, :n].mean(axis=1)))


def _row_mean(values: Floats) -> Floats:
    """Return the mean of each row without its gaps; NaN for an empty row."""
    n = np.count_nonzero(~np.isnan(values), axis=1)
    total = np.nansum(values, axis=1)
    means: Floats = np.divide(total, n, out=np.full(len(values), math.nan), where=n > 0)
    return means


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan
