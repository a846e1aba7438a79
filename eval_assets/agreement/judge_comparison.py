"""What a comparison of a judge with people on a question found, with the verdict."""

import math
from dataclasses import dataclass
from enum import StrEnum

from eval_assets.agreement.diagnosis import SeverityGap
from eval_assets.bands import LOWEST_COVERAGE
from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats import Interval, NonInferiority
from eval_assets.verdicts import Verdict

MARGIN = 0.10
"""How far a judge's agreement with people may lie below theirs with each other (a choice)."""

_TURNED = -0.4
"""Rank correlation below which a judge contradicts people more than by a bad prompt (a choice)."""


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
    def contradicts_people(self) -> bool:
        """Return whether it certainly scores high where people rate low, as on a turned scale."""
        rho = self.spearman
        return rho is not None and rho.value < _TURNED and rho.high < 0

    @property
    def n_more(self) -> int | None:
        """Further units with which four of five studies decide; None if it takes too many."""
        if self.groups_as_measured is None or not self.n_paired_groups:
            return None
        per_group = self.n_paired / self.n_paired_groups
        return max(1, math.ceil((self.groups_as_measured - self.n_paired_groups) * per_group))
