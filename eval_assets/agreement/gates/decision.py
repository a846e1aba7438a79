"""Declaration and decision of each gate, from measured figures and declared minimums.

The asset checks call it, and so does every asset behind the gates: Dagster's blocking checks hold
back only what is directly downstream in the same run. CONTRIBUTING.md lists the places that a new
gate touches.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from eval_assets.bands import FEWEST_GROUPS
from eval_assets.catalogue import (
    A_HH,
    ADJACENT_AGREEMENT,
    ALPHA,
    EXACT_AGREEMENT,
    GWET_AC,
    KAPPA,
    Figure,
    Statistic,
)
from eval_assets.config.evaluation import USUAL_MINIMUMS, Gate, GateName, Severity
from eval_assets.figures import FigureRecord, HumanFigures, JudgeFigures, RaterKind
from eval_assets.scale import TOLERANCE
from eval_assets.stats import more_to_decide, probability_below
from eval_assets.stats.intervals import FEWEST_DELETIONS
from eval_assets.verdicts import GateResult, Verdict
from eval_assets.wording import figure_text, or_none, planned


@dataclass(frozen=True)
class GateDeclaration:
    """One gate.

    Args:
        units: Units on which the figure is measured, in the plural.
    """

    record: type[FigureRecord]
    statistic: Statistic
    raters: RaterKind
    title: str
    units: str
    description: str

    @property
    def table(self) -> str:
        """Asset and table of the figures."""
        return self.record.table

    def figure(self, row: Any) -> Figure:  # noqa: ANN401 - a record of the declared type
        """Return the gate's figure in a record."""
        figure: Figure = getattr(row, self.statistic.column)
        return figure


_RATED = "responses with two ratings or more"


def _human_gate(statistic: Statistic, title: str = "", description: str = "") -> GateDeclaration:
    name = statistic.title
    return GateDeclaration(
        HumanFigures,
        statistic,
        "human",
        title or (name if name[1:2].isupper() else f"Human {name[0].lower()}{name[1:]}"),
        _RATED,
        description or f"{name} of human raters reaches its minimum: {statistic.meaning}.",
    )


GATES: Mapping[GateName, GateDeclaration] = {
    "human_a_hh": _human_gate(
        A_HH,
        "Human A^HH",
        "Human raters agree: GDPval's A^HH reaches its minimum, overall and by question.",
    ),
    "human_alpha": _human_gate(
        ALPHA,
        "Human alpha",
        "Human raters agree beyond chance: Krippendorff's alpha reaches its minimum.",
    ),
    "judge_alpha": GateDeclaration(
        JudgeFigures,
        ALPHA,
        "judge",
        "Judge alpha",
        "units with scores of two judges or more",
        "Judges agree with each other beyond chance: alpha reaches its minimum.",
    ),
    "exact_agreement": _human_gate(EXACT_AGREEMENT),
    "adjacent_agreement": _human_gate(ADJACENT_AGREEMENT),
    "kappa": _human_gate(KAPPA),
    "gwet_ac": _human_gate(GWET_AC),
}
"""Every gate. The first three are there by default."""

HUMAN_GATES = tuple(name for name, gate in GATES.items() if gate.raters == "human")


def applicable_gates(declared: Collection[GateName], *, n_judges: int) -> tuple[GateName, ...]:
    """Return the declared gates that apply: agreement between judges requires two of them."""
    return tuple(
        name
        for name, gate in GATES.items()
        if name in declared and (gate.raters == "human" or n_judges > 1)
    )


_FEWEST_UNITS = 2
"""One unit, or one group of units, cannot show agreement beyond chance."""


@dataclass(frozen=True)
class GateFigure:
    """One measured value that a gate compares, with the figures that explain it.

    Args:
        n_groups: Response groups that the units belong to.
        undefined_because: Why `value` is NaN; empty if it is defined.
        by_chance: A^HH to expect of raters who share only their habits; 0 for other statistics.
        note: Remark on ratings that hardly vary, or on judges that repeat each other; else empty.
    """

    question_id: str | None
    value: float
    low: float
    high: float
    n_units: int
    n_groups: int
    undefined_because: str = ""
    by_chance: float = 0.0
    note: str = ""

    def n_more(self, minimum: float) -> int | None:
        """Return the further units with which four of five studies have a clear verdict.

        It is rounded up to two digits. None with too few groups, and where `more_to_decide` is.
        """
        n_more = more_to_decide(
            self.value, low=self.low, high=self.high, limit=minimum, n=self.n_units
        )
        return planned(n_more) if self.n_groups >= FEWEST_GROUPS and n_more is not None else None

    def contains(self, minimum: float) -> bool:
        """Return whether the interval lies on both sides of a minimum."""
        return self.low < minimum - TOLERANCE and minimum + TOLERANCE < self.high


def run_again(folder: Path) -> str:
    """Return the remedy for stored figures of an evaluation that are missing or old."""
    return f"Run eval-assets run --data {quote(str(folder))}"


@dataclass(frozen=True)
class Unusable:
    """Reason why stored figures cannot be compared: missing, or older than the data.

    Args:
        folder: The evaluation folder, of which a run measures them.
        changed: Tables whose files changed after they were read.
    """

    reason: str
    folder: Path
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.reason}. {run_again(self.folder)}"

    def sentence(self, table: str) -> str:
        """Return the reason and the remedy, with the table of the figures as their subject."""
        return f"{table} is {self}."


@dataclass(frozen=True)
class GateEvidence:
    """All figures that one gate compares.

    Args:
        figures: One overall and one per question; empty if nothing was measured.
        data_version: Version of the measured data; empty if nothing was measured.
        unusable: Reason why the figures cannot be compared; None if they can.
    """

    figures: tuple[GateFigure, ...]
    data_version: str = ""
    unusable: Unusable | None = None


@dataclass(frozen=True, kw_only=True)
class GateVerdict(GateFigure):
    """A figure with a gate's verdict on it, and its reason; a row of the table `gate_verdicts`."""

    gate: GateName
    minimum: float
    verdict: GateResult
    reason: str
    is_current: bool = True
    """Whether the figure is of the present data."""

    def to_json(self) -> dict[str, object]:
        """Return the verdict in the types of JSON; an undefined figure is None."""
        names = ("value", "low", "high", "by_chance", "probability_below")
        return vars(self) | {
            **{name: or_none(getattr(self, name)) for name in names},
            "verdict": self.verdict.value,
            "state": self.state.value,
        }

    @property
    def state(self) -> Verdict:
        """The verdict by the interval; `verdict` follows what the gate compares."""
        if not self.is_current or (self.verdict is GateResult.NOT_EVALUABLE and not self.n_units):
            return Verdict.NOT_MEASURED
        return Verdict.of_interval(self, minimum=self.minimum)

    @property
    def probability_below(self) -> float:
        """Probability that agreement is truly below the minimum; NaN without an interval."""
        return _probability_below(self.gate, self, self.minimum)


@dataclass(frozen=True)
class GateOutcome:
    """The verdicts of one gate on all its figures.

    Args:
        severity: `warn` if the gate never blocks.
        data_version: Version of the data that the verdicts belong to.
        unusable: Reason why the figures cannot be compared; None if they can.
    """

    gate: GateName
    severity: Severity
    overall: GateVerdict
    questions: tuple[GateVerdict, ...]
    is_closed: bool
    data_version: str
    unusable: Unusable | None

    def to_json(self, *, next_step: str) -> dict[str, object]:
        """Return the outcome in the types of JSON, with the step that the planner names."""
        return {
            "gate": self.gate,
            "severity": self.severity,
            "is_closed": self.is_closed,
            "state": self.state.value,
            "reason": self.reason,
            "next": next_step,
            "verdicts": [verdict.to_json() for verdict in (self.overall, *self.questions)],
        }

    @property
    def passed(self) -> bool:
        """Return whether the gate passes overall and on every question."""
        return self.overall.verdict is GateResult.PASS and not self.failing

    @property
    def state(self) -> Verdict:
        """The verdict of the worst question, by its interval."""
        return Verdict.worst(of.state for of in self.questions or (self.overall,))

    @property
    def failing(self) -> tuple[GateVerdict, ...]:
        """The verdicts on questions that do not pass."""
        return tuple(of for of in self.questions if of.verdict is not GateResult.PASS)

    @property
    def reason(self) -> str:
        """The verdict in words, with the questions that do not pass."""
        if self.passed or self.overall.verdict is not GateResult.PASS:
            return self.overall.reason
        statistic, names = GATES[self.gate].statistic, []
        for of in self.failing:
            is_compared = of.verdict is not GateResult.NOT_EVALUABLE
            value = (
                statistic.text(of.value, minimum=of.minimum)
                if is_compared
                else Verdict.NEED_MORE_DATA.word
            )
            names.append(f"{of.question_id} ({value})")
        failing = ", ".join(names)
        if self.is_closed:
            verb = "do" if len(self.failing) > 1 else "does"
            consequence = f"No question passes every gate; {failing} {verb} not pass this one"
        elif self.severity == "warn":
            consequence = f"Not reached on {failing}"
        else:
            consequence = f"Left out of tuning: {failing}"
        return f"{self.overall.reason}. {consequence}"


def evaluate_gates(
    evidence: Mapping[GateName, GateEvidence], gates: Mapping[GateName, Gate]
) -> tuple[GateOutcome, ...]:
    """Decide every gate that applies.

    Args:
        evidence: Figures of each gate that applies; a gate without a key does not.
        gates: Minimums declared now.

    Returns:
        One outcome per gate, in the order of `evidence`. A gate blocks if its overall value is
        below the minimum (by more than 1e-9), undefined, missing or older than the data; and if
        no question passes every blocking gate with usable figures, unless another gate that no
        question passes explains it.

    Examples:
        >>> good = GateFigure(None, value=0.81, low=0.78, high=0.84, n_units=200, n_groups=200)
        >>> [outcome] = evaluate_gates(
        ...     {"human_a_hh": GateEvidence((good,), "v1")}, {"human_a_hh": Gate(minimum=0.75)}
        ... )
        >>> outcome.is_closed, outcome.reason
        (False, '0.81 reaches the minimum 0.75')
    """
    verdicts = {
        name: [_verdict(name, figure, gates[name], of.unusable) for figure in _overall_first(of)]
        for name, of in evidence.items()
    }
    # Whether each measured question passes, by gate that blocks.
    passing: dict[GateName, dict[str, bool]] = {
        name: {of.question_id: of.verdict is GateResult.PASS for of in of_gate if of.question_id}
        for name, of_gate in verdicts.items()
        if gates[name].severity == "error" and evidence[name].unusable is None
    }
    measured = [by_question for by_question in passing.values() if by_question]
    none_passes = bool(measured) and not any(
        all(by_question.get(question_id, False) for by_question in measured)
        for question_id in set[str]().union(*measured)
    )
    # A gate that passes no question is the reason; gates that pass some questions stay open.
    is_explained = any(not any(by_question.values()) for by_question in measured)

    def is_closed(name: GateName, overall: GateVerdict, questions: Sequence[GateVerdict]) -> bool:
        if gates[name].severity != "error":
            return False
        results = {of.verdict is GateResult.PASS for of in questions}
        return overall.verdict is not GateResult.PASS or (
            none_passes and False in results and not (is_explained and True in results)
        )

    return tuple(
        GateOutcome(
            gate=name,
            severity=gates[name].severity,
            overall=overall,
            questions=tuple(questions),
            is_closed=is_closed(name, overall, questions),
            data_version=evidence[name].data_version,
            unusable=evidence[name].unusable,
        )
        for name, (overall, *questions) in verdicts.items()
    )


def tunable_questions(
    outcomes: Sequence[GateOutcome], question_ids: Sequence[str]
) -> tuple[str, ...]:
    """Return the questions with a passing figure in every blocking gate; none if one is closed."""
    if any(outcome.is_closed for outcome in outcomes):
        return ()
    passing = [
        {v.question_id for v in outcome.questions if v.verdict is GateResult.PASS}
        for outcome in outcomes
        if outcome.severity == "error"
    ]
    return tuple(
        question_id
        for question_id in question_ids
        if all(question_id in questions for questions in passing)
    )


def _overall_first(evidence: GateEvidence) -> list[GateFigure]:
    """Return the overall figure, undefined if it was not measured, then those of the questions."""
    overall = [figure for figure in evidence.figures if figure.question_id is None]
    missing = GateFigure(None, math.nan, math.nan, math.nan, 0, 0)
    return [*(overall or [missing]), *(f for f in evidence.figures if f.question_id is not None)]


def _verdict(
    name: GateName, figure: GateFigure, gate: Gate, unusable: Unusable | None
) -> GateVerdict:
    result = GateResult.NOT_EVALUABLE
    reason = str(unusable) if unusable else _not_evaluable(name, figure, gate)
    if not reason:
        is_reached = gate.is_reached(value=figure.value, low=figure.low)
        result = GateResult.PASS if is_reached else GateResult.FAIL
        reason = _comparison(name, figure, gate, result)
    fields = vars(figure) | {"gate": name, "minimum": gate.minimum}
    return GateVerdict(**fields, verdict=result, reason=reason, is_current=unusable is None)


def _not_evaluable(name: GateName, figure: GateFigure, gate: Gate) -> str:
    """Return why a figure cannot be compared, or shows nothing; empty if it can."""
    units, n_groups = GATES[name].units, figure.n_groups
    if figure.n_units < _FEWEST_UNITS:
        singular = units.replace("responses", "response").replace("units", "unit")
        return f"{f'1 {singular}' if figure.n_units else f'no {units}'}; at least 2 are needed"
    if n_groups < _FEWEST_UNITS:
        return f"all {figure.n_units} {units} belong to one response group; at least 2 are needed"
    if not math.isfinite(figure.value):
        # With two units or more, only equal ratings leave a figure undefined.
        return figure.undefined_because or "undefined"
    statistic = GATES[name].statistic
    value, low, high = (
        statistic.text(number, minimum=gate.minimum)
        for number in (figure.value, figure.low, figure.high)
    )
    if math.isnan(figure.low + figure.high):
        # The jackknife leaves out what the figure depends on: without that response or group the
        # others are all rated the same, or none is left. Of many groups it leaves out several.
        noun = "responses" if n_groups == figure.n_units else "response groups"
        quantity = "one" if n_groups <= FEWEST_DELETIONS else "some"
        return (
            f"{value} has no interval, because it would be undefined without {quantity} of the "
            f"{n_groups:,} {noun}"
        )
    missing = ""
    if gate.is_reached(value=figure.value, low=figure.low) and figure.contains(gate.minimum):
        if n_groups < FEWEST_GROUPS:
            missing = (
                f"rests on {n_groups} response groups; if the interval contains the minimum, at "
                f"least {FEWEST_GROUPS} are needed"
            )
        elif figure.low < figure.by_chance - TOLERANCE:
            missing = f"may be no better than chance, {figure_text(figure.by_chance, limits=[])}"
    return missing and f"agreement of {value}, with interval {low} to {high}, {missing}"


_OFTEN_BELOW = 0.1
"""Probability of agreement below the minimum from which on an open gate offers `by: low`."""


def _comparison(name: GateName, figure: GateFigure, gate: Gate, result: GateResult) -> str:
    minimum, statistic = gate.minimum, GATES[name].statistic
    value, low, high = (
        statistic.text(number, minimum=minimum)
        for number in (figure.value, figure.low, figure.high)
    )
    subject = value if gate.by == "value" else f"the lower end {low} of {value}"
    verb = "reaches" if result is GateResult.PASS else "is below"
    usual = USUAL_MINIMUMS.get(name, minimum)
    lowered = f" (lowered from {usual:g})" if minimum < usual - TOLERANCE else ""
    reason = f"{subject} {verb} the minimum {statistic.minimum_text(minimum)}{lowered}"
    if figure.contains(minimum):
        so_far = ", so tuning may go on" if result is GateResult.PASS else " so far"
        probability = _probability_below(name, figure, minimum)
        reason += (
            f"{so_far}; {low} to {high} does not settle it, and the probability that agreement is "
            f"below the minimum is {probability:.2f}"
        )
        if result is GateResult.PASS and gate.by == "value" and probability > _OFTEN_BELOW:
            reason += " (by: low asks for 0.025)"
    return f"{reason}; {figure.note}" if figure.note else reason


def _probability_below(name: GateName, figure: GateFigure, minimum: float) -> float:
    statistic = GATES[name].statistic
    value, low, high, limit = (
        number / statistic.highest for number in (figure.value, figure.low, figure.high, minimum)
    )
    n_groups, is_share = figure.n_groups, statistic.is_share
    return probability_below(
        value, low=low, high=high, limit=limit, n_groups=n_groups, is_share=is_share
    )
