"""Whether a judge can replace a rater on a question: its comparison with people, with the verdict.

The comparison is that of docs/tuning.md: agreement beyond chance of the judge with people, beside
that of people with each other on the same units, with a margin. The rule is that of a first
evaluation of a test. Simulated over five evaluations in turn, judges exactly at the margin pass in
at most 5 % of tests.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from eval_assets.agreement.causes import SeverityGap
from eval_assets.agreement.label_agreement import LabelAgreement
from eval_assets.agreement.ratings import Floats, Integers, LongRatings
from eval_assets.bands import FEWEST_GROUPS, LOWEST_COVERAGE
from eval_assets.catalogue import CONFIDENCE
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
from eval_assets.stats.group_ratios import (
    mean_difference,
    pooled_agreement,
    share_interval,
)
from eval_assets.stats.intervals import less
from eval_assets.verdicts import Verdict

MARGIN = 0.10
"""How far a judge's agreement with people may lie below theirs with each other (a choice)."""

FIRST_LEVEL = 0.025
"""Two-sided level of a first evaluation, .05 / (k (k + 1)) of the k-th; judges that are compared
together share it."""

_MOST_DIFFERING = 5
"""Units that are listed because a judge differs most from people on them."""


class JudgeFinding(StrEnum):
    """What a comparison of a judge with people found; it decides the verdict and the sentence."""

    EQUAL = "equal"
    """Its agreement with people is certainly less than the margin below theirs."""
    BELOW = "below"
    """It is certainly more than the margin below."""
    LIKELY = "likely"
    """It is within the margin, and the data do not prove it."""
    UNLIKELY = "unlikely"
    """It is beyond the margin, and the data do not prove it."""
    UNTESTED = "untested"
    """It passes outside the held-out test, which decides."""
    SELECTED = "selected"
    """It passes, and people agree less on the units that it skipped."""
    NOISY_LABELS = "noisy_labels"
    """People agree too little, so far, for a judge to be proven."""
    FEW_GROUPS = "few_groups"
    """Too few groups hold two ratings."""
    FEW_VARIED = "few_varied"
    """Too few groups hold a rating other than the commonest."""
    CEILING_UNKNOWN = "ceiling_unknown"
    """Nobody rated twice, so that people's agreement is unknown."""
    LABELS_FAIL = "labels_fail"
    """People do not agree, so that agreement with them says nothing."""
    ONE_VALUE = "one_value"
    """People gave one value throughout."""
    OTHER_SCALE = "other_scale"
    """It scores on another scale than people, and nothing says what it passes."""
    COPY = "copy"
    """It repeats the ratings of one person."""
    NOT_COMPARED = "not_compared"
    """It scored nothing that a person rated."""
    OUTDATED = "outdated"
    """Its figures, or those of people, are not of the current data."""

    @property
    def verdict(self) -> Verdict:
        """The verdict that it leads to."""
        match self:
            case JudgeFinding.EQUAL:
                return Verdict.PASS
            case JudgeFinding.BELOW:
                return Verdict.FAIL
            case (
                JudgeFinding.LABELS_FAIL
                | JudgeFinding.ONE_VALUE
                | JudgeFinding.OTHER_SCALE
                | JudgeFinding.COPY
                | JudgeFinding.NOT_COMPARED
                | JudgeFinding.OUTDATED
            ):
                return Verdict.NOT_MEASURED
        return Verdict.NEED_MORE_DATA


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


@dataclass(frozen=True)
class TwoClasses:
    """A judge's passes and failures beside those of people.

    People pass a unit if most of them do; units on which they are split evenly are left out.

    Attributes:
        true_positive: Share of what people passed that the judge passes.
        true_negative: Share of what people failed that the judge fails.
        accuracy: Share of these units on which it says the same.
        constant_accuracy: The larger share of one class: the accuracy of a judge that always
            says the same.
        f1: Harmonic mean of the share of its passes that people passed and of `true_positive`.
        false_passes: Units that it passes and people failed.
        false_failures: Units that it fails and people passed.
        judge_pass_rate: Share of all scored units that the judge passes.
        people_pass_rate: Mean share of passes among people's ratings of units that both rated.
        corrected: True pass rate of all scored units, from the judge's scores of all and people's
            ratings of some; None if people rated all of them.
    """

    true_positive: Interval
    true_negative: Interval
    accuracy: float
    constant_accuracy: float
    f1: float
    false_passes: tuple[int, ...]
    false_failures: tuple[int, ...]
    judge_pass_rate: float
    people_pass_rate: float
    corrected: Interval | None


@dataclass(frozen=True)
class Repeatability:
    """How far a judge repeats itself on the same unit.

    Attributes:
        flip_rate: Share of pairs of runs of one unit that differ.
        noise_share: Share of the variance of its scores that differs between runs: one less the
            intraclass correlation.
        n_runs: Most runs of one unit.
    """

    flip_rate: Interval
    noise_share: Interval
    n_runs: int


@dataclass(frozen=True)
class HeldOutTest:
    """What the held-out test says of a judge on one question.

    Attributes:
        verdict: Whether it can replace a rater, on a share of the units if `share` is given.
        is_in_use: Whether the judge scores with that version.
        kappa: Agreement with people beyond chance, and the ends of the interval that decides; NaN
            if they stay unseen until the judge passes.
        kappa_people: People's with each other.
        minimum: Least agreement that the judge needs.
        share: Share of the units on which it passes; None for all.
        doubt_source: Judge that says where it passes: where both differ by at most
            `doubt_threshold`.
    """

    verdict: Verdict
    version: str
    is_in_use: bool
    n_units: int
    kappa: float
    low: float
    high: float
    kappa_people: float
    minimum: float
    share: float | None
    doubt_source: str
    doubt_threshold: float


_MOST_FOR_A_GAP = 4
"""Times the groups of a judge equal to people that a plan for a measured gap takes at most."""


def depends_on_the_gap(n_groups: int | None, groups_if_equal: int | None) -> bool:
    """Return whether a number of groups is no plan, as the error of the measured gap decides it.

    Examples:
        >>> depends_on_the_gap(5700, 60), depends_on_the_gap(130, 60)
        (True, False)
    """
    return n_groups is None or (
        groups_if_equal is not None and n_groups > _MOST_FOR_A_GAP * groups_if_equal
    )


@dataclass(frozen=True)
class PlannedTest:
    """A held-out test that was not evaluated.

    Attributes:
        n_groups: Groups of the test.
        chance: Chance that the judge passes it, by train and dev; None if unknown.
        n_units: Rated units with which it passes four times in five; None if no number suffices.
        is_if_equal: Whether that is if it agrees with people as they do, since the number would
            depend on the error of its measured gap.
    """

    n_groups: int
    chance: float | None
    n_units: int | None
    is_if_equal: bool = False


@dataclass(frozen=True)
class Favour:
    """What a judge scores higher or lower than people do at equal quality.

    Attributes:
        attribute: Such as `system` or `length`.
        points: By how much, in scale points.
    """

    attribute: str
    value: str
    points: float


@dataclass(frozen=True)
class JudgeComparison:
    """A judge compared with people on one question.

    Attributes:
        n_compared: Units with a score and a human rating.
        n_scored: Units with a score.
        n_rated: Units with a human rating.
        n_skipped: Units with two ratings and no score.
        selection: People's A^HH on the units with a score less that on those without.
        compared: Both figures over pairs of raters, and the test statistic; None if nobody rated
            a compared unit twice, or people gave one value.
        kappa: The judge's agreement with people beyond chance, 95 % interval.
        kappa_people: People's with each other on the same units.
        gap: The judge's less people's; it lies above the negative margin exactly if the judge
            passes the test, below it exactly if it fails.
        bias: Mean of the judge's score less the mean rating, in scale points; None without order.
        copied: Rater whose ratings it repeats.
        n_paired: Units with a score and two ratings.
        n_paired_groups: Groups of these units.
        n_varied_groups: Those of them that hold a rating other than the commonest.
        groups_if_equal: Groups with which a judge equal to people passes in four of five studies.
        groups_as_measured: Groups with which this one passes, or fails, if its figure is the true
            value.
        pairs: (rating, score, number) of each pair of a rating and a score, the score rounded to
            the scale; empty on a continuous scale.
        is_decisive: Whether the comparison decides; if not, a held-out test does.
        differing: Units on which it differs most from people: (unit, mean rating, score).
        tested: What its held-out test says; None if it was not evaluated.
        planned: What that test would say; None without one.
        favours: Values that it is shown to score higher or lower, the largest difference first.
        severity: Raters of whom one is more lenient, which lowers people's agreement.
    """

    judge: str
    question: RubricQuestion
    finding: JudgeFinding
    margin: float
    n_compared: int
    n_scored: int
    n_rated: int
    n_skipped: int
    selection: Interval
    a_ha: Interval | None = None
    a_hh: Interval | None = None
    compared: NonInferiority | None = None
    kappa: Interval | None = None
    kappa_people: Interval | None = None
    gap: Interval | None = None
    bias: Interval | None = None
    spearman: Interval | None = None
    two_classes: TwoClasses | None = None
    repeatability: Repeatability | None = None
    copied: str | None = None
    n_paired: int = 0
    n_paired_groups: int = 0
    n_varied_groups: int = 0
    groups_if_equal: int | None = None
    groups_as_measured: int | None = None
    pairs: tuple[tuple[float, float, int], ...] = ()
    differing: tuple[tuple[int, float, float], ...] = ()
    is_decisive: bool = True
    tested: HeldOutTest | None = None
    planned: PlannedTest | None = None
    favours: tuple[Favour, ...] = ()
    severity: SeverityGap | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict of the held-out test, or else that the finding leads to."""
        return self.finding.verdict if self.tested is None else self.tested.verdict

    @property
    def has_interval(self) -> bool:
        """Return whether the data show how certain the comparison is."""
        return self.gap is not None and not math.isnan(self.gap.low + self.gap.high)

    @property
    def is_partial(self) -> bool:
        """Return whether it scored too few of the units that people rated."""
        return self.n_compared < LOWEST_COVERAGE * self.n_rated

    @property
    def skips_hard_units(self) -> bool:
        """Return whether people certainly agree less on the units that it skipped."""
        return self.is_partial and self.selection.low > 0

    @property
    def n_more(self) -> int | None:
        """Further units with which four of five studies decide; None if it takes too many."""
        if self.groups_as_measured is None or not self.n_paired_groups:
            return None
        per_group = self.n_paired / self.n_paired_groups
        return max(1, math.ceil((self.groups_as_measured - self.n_paired_groups) * per_group))


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
    if question.has_order:
        sides = np.column_stack([score, mean])[is_compared]
        rho = coefficient_interval(
            sides, Correlation("spearman"), confidence=CONFIDENCE, groups=groups[is_compared]
        )
        comparison = replace(comparison, spearman=rho)
    if scores.scale is not None:
        return replace(comparison, finding=JudgeFinding.OTHER_SCALE)
    comparison = _with_distances(comparison, labels, people, score)
    if question.scale.values is not None and len(question.scale.values) == 2:  # noqa: PLR2004
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
    """Return the comparison with all that follows from the distance of each score and rating."""
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
