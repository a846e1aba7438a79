"""Whether a judge can replace a rater on a question: the judge beside people, with the verdict.

The comparison is that of docs/tuning.md: agreement beyond chance of the judge with people, beside
that of people with each other on the same units, with a margin. The rule is that of a first
evaluation of a test. Simulated over five evaluations in turn, judges exactly at the margin pass in
at most 5 % of tests.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.diagnosis import SeverityGap
from eval_assets.agreement.judge_comparison import (
    JudgeComparison,
    JudgeFinding,
    Repeatability,
    TwoClasses,
)
from eval_assets.agreement.label_agreement import (
    LabelAgreement,
    WideDisagreement,
    label_agreement,
    widest_disagreements,
)
from eval_assets.agreement.ratings import Floats, Integers, LongRatings
from eval_assets.bands import FEWEST_GROUPS
from eval_assets.catalogue import CONFIDENCE
from eval_assets.config.evaluation import Gate, GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Level, Scale
from eval_assets.stats import (
    Alpha,
    Correlation,
    Interval,
    Jackknife,
    NonInferiority,
    PairwiseAgreement,
    RatingPatterns,
    coefficient_interval,
    prediction_powered_mean,
    repeated_rater,
)
from eval_assets.stats.beside_people import (
    FAIL_SHARE,
    FEWEST_PAIRED_GROUPS,
    FEWEST_VARIED_GROUPS,
    PASS_SHARE,
    non_inferiority_of_ratings,
)
from eval_assets.stats.group_ratios import mean_difference, pooled_agreement, share_interval
from eval_assets.stats.intervals import less
from eval_assets.verdicts import Verdict

FIRST_LEVEL = 0.025
"""Two-sided level of a first evaluation, .05 / (k (k + 1)) of the k-th; judges that are compared
together share it."""

_MOST_DIFFERING = 5
"""Units that are listed because a judge differs most from people on them."""


@dataclass(frozen=True, eq=False)
class JudgeScores:
    """Scores of one judge on one question, one element a score.

    Args:
        unit: Index of the unit, as in the people's `LongRatings`; ascending, and repeated if the
            judge scored the unit several times.
        value: Score, on the scale of the question unless `scale` is another.
        scale: The judge's own scale, if people rated on another; None if they share one.
    """

    unit: Integers
    value: Floats
    scale: Scale | None = None

    def by_unit(self, *, n_units: int, level: Level) -> Floats:
        """Return one score of each unit: the mean of its runs, of classes the most frequent."""
        n = np.bincount(self.unit, minlength=n_units)
        if n.max(initial=0) <= 1 or level != "nominal":
            total = np.bincount(self.unit, self.value, n_units)
            means: Floats = np.divide(total, n, out=np.full(n_units, np.nan), where=n > 0)
            return means
        scores = np.full(n_units, np.nan)
        classes, code = np.unique(self.value, return_inverse=True)
        counts = np.bincount(self.unit * len(classes) + code, minlength=n_units * len(classes))
        rated = n > 0
        scores[rated] = classes[counts.reshape(n_units, -1)[rated].argmax(axis=1)]
        return scores


def compare_judge(  # noqa: PLR0913 - both sides and the rule
    judge: str,
    labels: LabelAgreement,
    people: LongRatings,
    scores: JudgeScores,
    *,
    margin: float,
    n_judges: int,
    may_pass: bool,
) -> JudgeComparison:
    """Compare a judge with people on one question.

    The judge's agreement may lie `margin` below people's; `n_judges` are compared together, which
    share the level. `may_pass` is whether this comparison decides; if not, the held-out test does.
    """
    question, groups = labels.question, people.group
    level: Level = "interval" if question.has_order else "nominal"  # of two classes one is 1
    score = scores.by_unit(n_units=people.n_responses, level=level)
    mean = people.means()
    is_compared = ~np.isnan(score + mean)
    is_double = np.bincount(people.unit, minlength=len(score)) > 1
    agreement = np.where(is_double, labels.unit_agreement, 0.0)
    part, rest = (
        share_interval(agreement * of, of, confidence=CONFIDENCE, groups=groups)
        for of in (is_double & is_compared, is_double & ~is_compared)
    )
    comparison = JudgeComparison(
        judge=judge,
        question=question,
        finding=JudgeFinding.NOT_COMPARED,
        margin=margin,
        n_compared=int(is_compared.sum()),
        n_scored=int((~np.isnan(score)).sum()),
        n_rated=int((~np.isnan(mean)).sum()),
        n_skipped=rest.n_units,
        selection=less(part, rest, np.eye(2)),
        is_decisive=may_pass,
        severity=labels.cause if isinstance(labels.cause, SeverityGap) else None,
        repeatability=_repeatability(scores, groups),
    )
    if not is_compared.any():
        return comparison
    if question.has_order and (scores.scale is None or scores.scale.has_order):
        sides = np.column_stack([score, mean])[is_compared]
        rho = coefficient_interval(
            sides, Correlation("spearman"), confidence=CONFIDENCE, groups=groups[is_compared]
        )
        comparison = replace(comparison, spearman=rho)
    if scores.scale is not None:
        return replace(comparison, finding=JudgeFinding.OTHER_SCALE)
    comparison = _with_distances(comparison, labels, people, score)
    if question.scale.has_two_values:
        classes = _two_classes(question.scale, score, mean, groups)
        comparison = replace(comparison, two_classes=classes)
    is_scored = is_compared[people.unit]
    unit, value = people.unit[is_scored], people.value[is_scored]
    compared = non_inferiority_of_ratings(
        unit, value, score, margin=margin, level=level, groups=groups
    )
    beyond_chance = partial(
        pooled_agreement, unit, value, score, level=level, confidence=CONFIDENCE, groups=groups
    )
    if math.isnan(compared.people.value):
        is_one_value = comparison.n_paired > 0 or bool((value == value[0]).all())
        return replace(
            comparison,
            finding=JudgeFinding.ONE_VALUE if is_one_value else JudgeFinding.CEILING_UNKNOWN,
            kappa=beyond_chance(),
        )
    significance = FIRST_LEVEL / n_judges
    copied = repeated_rater(unit, people.rater[is_scored], value, score)
    comparison = replace(
        _with_test(comparison, compared, level=significance),
        kappa_people=beyond_chance(of_people=True),
        copied=None if copied is None else people.rater_ids[copied],
    )
    finding = _finding(comparison, compared, labels, level=significance, may_pass=may_pass)
    return replace(comparison, finding=finding)


def _with_distances(
    comparison: JudgeComparison, labels: LabelAgreement, people: LongRatings, score: Floats
) -> JudgeComparison:
    scale, groups, n_units = comparison.question.scale, people.group, len(score)
    is_scored = ~np.isnan(score)[people.unit]
    unit, value = people.unit[is_scored], people.value[is_scored]
    n_ratings = np.bincount(unit, minlength=n_units)
    is_compared, is_shared = n_ratings > 0, n_ratings > 1
    total = np.bincount(unit, scale.distance(value, score[unit]), n_units)
    distance, mean = total / np.maximum(n_ratings, 1), people.means()
    values, counts = np.unique(value, return_counts=True)
    is_varied = is_shared[unit] & (value != values[counts.argmax()])
    share = partial(share_interval, confidence=CONFIDENCE, groups=groups)
    bias = None
    if comparison.question.has_order:
        span = scale.high - scale.low
        bias = mean_difference(score - mean, span=span, confidence=CONFIDENCE, groups=groups)
    pairs: tuple[tuple[float, float, int], ...] = ()
    if scale.values is not None:
        sides = np.column_stack([value, scale.snap(score[unit])])
        cells, n_pairs = np.unique(sides, axis=0, return_counts=True)
        pairs = tuple((*cell, n) for cell, n in zip(cells.tolist(), n_pairs.tolist(), strict=True))
    widest = np.argsort(-distance, kind="stable")[:_MOST_DIFFERING].tolist()
    return replace(
        comparison,
        a_ha=share(np.where(is_compared, 1 - distance, 0.0), is_compared),
        a_hh=share(np.where(is_shared, labels.unit_agreement, 0.0), is_shared),
        bias=bias,
        n_paired=int(is_shared.sum()),
        n_paired_groups=len(np.unique(groups[is_shared])),
        n_varied_groups=len(np.unique(groups[unit[is_varied]])),
        pairs=pairs,
        differing=tuple(
            (of, float(mean[of]), float(score[of])) for of in widest if distance[of] > 0
        ),
    )


def _with_test(
    comparison: JudgeComparison, compared: NonInferiority, *, level: float
) -> JudgeComparison:
    """Return the comparison with the test of non-inferiority, its intervals and its power."""
    statistic, people = compared.shortfall, compared.people.value
    pass_p, fail_p = level * PASS_SHARE, level * FAIL_SHARE
    outside = (1 - CONFIDENCE) / 2
    low, high = map(compared.judge_at, statistic.bounds(p_low=outside, p_high=outside))
    certain_low, certain_high = map(compared.judge_at, compared.certain_bounds(significance=level))
    n_varied = max(comparison.n_varied_groups, 1)
    fewest = max(
        FEWEST_PAIRED_GROUPS,
        math.ceil(FEWEST_VARIED_GROUPS * comparison.n_paired_groups / n_varied),
    )
    if_equal = (
        math.log((1 - people + compared.margin) / (1 - people)) if people < 1 else compared.margin
    )
    as_measured = statistic.groups_to_show(statistic.value, p_value=pass_p)
    if statistic.value < 0:
        as_measured = statistic.groups_to_show(-statistic.value, p_value=fail_p)
    equal = statistic.groups_to_show(if_equal, p_value=pass_p)
    return replace(
        comparison,
        compared=compared,
        kappa=_interval(comparison, compared.judge, low, high),
        gap=_interval(comparison, compared.gap, certain_low - people, certain_high - people),
        groups_if_equal=None if equal is None else max(equal, fewest),
        groups_as_measured=None if as_measured is None else max(as_measured, fewest),
    )


def _interval(comparison: JudgeComparison, figure: Jackknife, low: float, high: float) -> Interval:
    """Return a figure with the ends that the interval of the test statistic gives it."""
    return Interval(
        value=figure.value,
        low=low,
        high=high,
        confidence=CONFIDENCE,
        method=None if math.isnan(low + high) else "clustered_t",
        n_units=comparison.n_paired,
        n_groups=comparison.n_paired_groups,
    )


def _finding(  # noqa: PLR0911 - a return for each
    comparison: JudgeComparison,
    compared: NonInferiority,
    labels: LabelAgreement,
    *,
    level: float,
    may_pass: bool,
) -> JudgeFinding:
    if comparison.copied is not None:
        return JudgeFinding.COPY
    if comparison.n_paired_groups >= FEWEST_GROUPS and compared.fails(significance=level):
        return JudgeFinding.BELOW
    if labels.verdict is Verdict.FAIL:
        return JudgeFinding.LABELS_FAIL
    if comparison.n_paired_groups < FEWEST_PAIRED_GROUPS:
        return JudgeFinding.FEW_GROUPS
    if comparison.n_varied_groups < FEWEST_VARIED_GROUPS:
        return JudgeFinding.FEW_VARIED
    if not labels.reaches_minimums:
        return JudgeFinding.NOISY_LABELS
    if compared.passes(significance=level):
        if comparison.skips_hard_units:
            return JudgeFinding.SELECTED
        return JudgeFinding.EQUAL if may_pass else JudgeFinding.UNTESTED
    return JudgeFinding.LIKELY if compared.shortfall.value > 0 else JudgeFinding.UNLIKELY


def _two_classes(scale: Scale, score: Floats, mean: Floats, groups: Integers) -> TwoClasses:
    """Return the judge's passes and failures beside those of most people; of runs the share."""
    passes, people = scale.to_unit(score), scale.to_unit(mean)
    is_scored, is_rated = ~np.isnan(passes), ~np.isnan(people)
    is_compared = is_scored & is_rated
    half = 1 / 2
    is_pass, is_failure = is_compared & (people > half), is_compared & (people < half)
    equal = np.where(is_pass, passes, 1 - passes)[is_pass | is_failure]
    n_larger = max(is_pass.sum(), is_failure.sum())
    # Twice what both pass, of all passes of the judge and of people.
    n_passes = passes[is_pass | is_failure].sum() + is_pass.sum()
    corrected = None
    if (is_scored & ~is_rated).any():
        corrected = corrected_rate(people, passes, groups)
    share = partial(share_interval, confidence=CONFIDENCE, groups=groups)
    return TwoClasses(
        true_positive=share(np.where(is_pass, passes, 0.0), is_pass),
        true_negative=share(np.where(is_failure, 1 - passes, 0.0), is_failure),
        accuracy=float(equal.mean()) if len(equal) else math.nan,
        constant_accuracy=float(n_larger / len(equal)) if len(equal) else math.nan,
        f1=float(2 * passes[is_pass].sum() / n_passes) if n_passes else math.nan,
        false_passes=tuple(np.flatnonzero(is_failure & (passes > half)).tolist()),
        false_failures=tuple(np.flatnonzero(is_pass & (passes < half)).tolist()),
        judge_pass_rate=float(passes[is_scored].mean()),
        people_pass_rate=float(people[is_compared].mean()),
        corrected=corrected,
    )


def corrected_rate(labels: Floats, passes: Floats, groups: Integers) -> Interval:
    """Return the rate of passes of all scored responses, as people would rate them.

    Args:
        labels: Share of people who pass each response, shape (n_responses,); NaN without a label.
        passes: The same of a judge; NaN without a score.
        groups: Group of each response.
    """
    is_labelled = ~np.isnan(labels + passes)
    is_unlabelled = np.isnan(labels) & ~np.isnan(passes)
    if not is_unlabelled.any() or not is_labelled.any():
        parts = np.where(is_labelled, labels, 0.0)
        return share_interval(parts, is_labelled, confidence=CONFIDENCE, groups=groups)
    return prediction_powered_mean(
        labels[is_labelled],
        passes[is_labelled],
        passes[is_unlabelled],
        confidence=CONFIDENCE,
        groups=np.concatenate([groups[is_labelled], groups[is_unlabelled]]),
        bounds=(0.0, 1.0),
    )


def _repeatability(scores: JudgeScores, groups: Integers) -> Repeatability | None:
    """Return how far the runs of one unit differ; None if no unit was scored twice."""
    n_runs = int(np.bincount(scores.unit).max(initial=0))
    if n_runs < 2:  # noqa: PLR2004 - nothing is repeated
        return None
    patterns = RatingPatterns.from_ratings(
        scores.unit, scores.value, n_units=len(groups), groups=groups
    )
    equal, correlation = (
        coefficient_interval(patterns, coefficient, confidence=CONFIDENCE)
        for coefficient in (PairwiseAgreement(within=0), Alpha("interval"))
    )
    return Repeatability(equal.times(-1, plus=1), correlation.times(-1, plus=1), n_runs)


_MOST_DISAGREEMENTS = 5


@dataclass(frozen=True)
class QuestionRatings:
    """Ratings of one question, by people and by judges.

    Args:
        is_held_out: Whether each unit is kept for the judges' test; None if none is.
    """

    question: RubricQuestion
    people: LongRatings
    judges: Mapping[str, JudgeScores]
    is_held_out: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Assessment:
    """Labels by question, judges by name and question, and what people disagree on most.

    `outdated_because` says why the labels have no verdict: their files changed, for instance.
    `are_judges_apart` says that only the gate between judges keeps their tests closed.
    """

    labels: tuple[LabelAgreement, ...]
    judges: Mapping[str, tuple[JudgeComparison, ...]]
    disagreements: tuple[WideDisagreement, ...]
    outdated_because: str = ""
    are_judges_apart: bool = False

    def outdated(self, reason: str) -> "Assessment":
        """Return the assessment without verdicts, of the labels only with a reason."""
        judges = {
            judge: tuple(replace(of, finding=JudgeFinding.OUTDATED) for of in comparisons)
            for judge, comparisons in self.judges.items()
        }
        labels = self.labels
        if reason:
            labels = tuple(replace(of, verdict=Verdict.NOT_MEASURED) for of in labels)
        return Assessment(labels, judges, self.disagreements, reason)

    @property
    def labels_verdict(self) -> Verdict:
        """The worst verdict on the labels of a question."""
        return Verdict.worst(of.verdict for of in self.labels)

    @property
    def deciding_labels(self) -> LabelAgreement:
        """The question whose labels have that verdict, of several the one with the lowest alpha."""
        worst = [of for of in self.labels if of.verdict is self.labels_verdict]
        return min(worst, key=lambda of: np.nan_to_num(of.alpha.value, nan=np.inf))


def assess(
    questions: Sequence[QuestionRatings],
    *,
    gates: Mapping[GateName, Gate],
    margin: float,
    may_pass: bool,
) -> Assessment:
    """Measure the labels of each question, and compare each judge with them.

    A judge's agreement may lie `margin` below people's. `may_pass` is whether this comparison
    decides; if not, the held-out test does.
    """
    labels = tuple(label_agreement(of.question, of.people, gates) for of in questions)
    judges: dict[str, list[JudgeComparison]] = {}
    for of, agreement in zip(questions, labels, strict=True):
        people = of.people
        if of.is_held_out is not None and of.is_held_out.any():
            people = people.where(~of.is_held_out[people.unit])
        for judge, scores in of.judges.items():
            comparison = compare_judge(
                judge,
                agreement,
                people,
                scores,
                margin=margin,
                n_judges=len(of.judges),
                may_pass=may_pass,
            )
            judges.setdefault(judge, []).append(comparison)
    disagreements = widest_disagreements(
        {
            of.question: (of.people, agreement.unit_agreement)
            for of, agreement in zip(questions, labels, strict=True)
        },
        most=_MOST_DISAGREEMENTS,
    )
    return Assessment(
        labels, {judge: tuple(of) for judge, of in judges.items()}, tuple(disagreements)
    )
