"""Gates: whether humans and judges agree well enough for judges to be tuned.

One pure function decides, from measured figures and the thresholds declared now. The asset checks
call it, and so does every asset behind the gates: Dagster's blocking checks hold back only what is
directly downstream in the same run.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from eval_assets.evaluation import Gate, GateName, Severity
from eval_assets.interpretation import CONTRADICTING_ALPHA, figure_text
from eval_assets.scale import TOLERANCE

Verdict = Literal["pass", "fail", "not_evaluable"]

HUMAN_GATES: tuple[GateName, ...] = ("human_a_hh", "human_alpha")

ASSET_OF_GATE: dict[GateName, str] = {
    "human_a_hh": "human_agreement",
    "human_alpha": "human_agreement",
    "judge_alpha": "judge_agreement",
}
"""The asset that measures what each gate judges."""

_FEWEST_UNITS = 2
"""One unit, or one group of units, cannot show agreement beyond chance."""


@dataclass(frozen=True)
class Figure:
    """One measured value that a gate judges, with the figures that explain it.

    Args:
        question_id: Question; None over all questions.
        value: The value; NaN if undefined.
        low: Lower end of its 95 % interval; NaN if undefined.
        high: Upper end of its 95 % interval; NaN if undefined.
        n_units: Units with at least two ratings.
        undefined_because: Why `value` is NaN; empty if it is defined.
        hardly_varies: How alike the ratings are, if that explains a low alpha; else empty.
        n_disagreements: Rows of `label_disagreements`.
        n_groups: Response groups that the units belong to; None if each unit is its own.
    """

    question_id: str | None
    value: float
    low: float
    high: float
    n_units: int
    undefined_because: str = ""
    hardly_varies: str = ""
    n_disagreements: int = 0
    n_groups: int | None = None


@dataclass(frozen=True)
class Evidence:
    """All figures that one gate judges.

    Args:
        figures: One overall and one per question; empty if nothing was measured.
        data_version: Version of the data that was measured; empty if nothing was.
        unusable_because: Why the figures cannot be judged, and the remedy: nothing was measured, or
            they are older than the data; None if they can.
    """

    figures: tuple[Figure, ...]
    data_version: str = ""
    unusable_because: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class GateVerdict(Figure):
    """A figure with a gate's verdict on it; a row of the table `gate_verdicts`.

    Args:
        gate: Name of the gate.
        minimum: Lowest value that passes.
        verdict: Whether the figure passes.
        reason: Why, in words, with the remedy.
        remedy: What to do; empty if there is nothing to do.
    """

    gate: GateName
    minimum: float
    verdict: Verdict
    reason: str
    remedy: str

    @property
    def reason_alone(self) -> str:
        """The reason without the remedy."""
        return self.reason.removesuffix(f". {self.remedy}")

    @property
    def cannot_tell(self) -> bool:
        """Whether the interval holds the minimum, so that the data cannot tell."""
        return self.verdict != "not_evaluable" and _holds(self, self.minimum)


@dataclass(frozen=True)
class GateOutcome:
    """The verdicts of one gate on all its figures.

    Args:
        gate: Name of the gate.
        severity: `warn` if the gate never blocks.
        overall: Verdict over all questions.
        questions: Verdict on each question.
        is_closed: Whether tuning is blocked.
        data_version: Version of the data that the verdicts belong to.
    """

    gate: GateName
    severity: Severity
    overall: GateVerdict
    questions: tuple[GateVerdict, ...]
    is_closed: bool
    data_version: str

    @property
    def failing_questions(self) -> tuple[str, ...]:
        """Questions that do not pass, which a blocking gate leaves out of tuning."""
        return tuple(v.question_id for v in self._failing if v.question_id)

    @property
    def passed(self) -> bool:
        """Whether the gate passes overall and on every question."""
        return self.overall.verdict == "pass" and not self.failing_questions

    @property
    def reason(self) -> str:
        """The verdict in words, with the remedy if the gate is not open for every question."""
        if self.passed or self.overall.verdict != "pass":
            return self.overall.reason
        failing = ", ".join(f"{v.question_id} ({_in_short(v)})" for v in self._failing)
        if self.is_closed:
            verb = "do" if len(self._failing) > 1 else "does"
            consequence = f"No question passes every gate; {failing} {verb} not pass this one"
        elif self.severity == "warn":
            consequence = f"Not reached on {failing}"
        else:
            consequence = f"Left out of tuning: {failing}"
        return f"{self.overall.reason_alone}. {consequence}. {self.remedy}"

    @property
    def remedy(self) -> str:
        """What to do about the gate, or about the question that is farthest from passing it."""
        if self.overall.verdict != "pass" or not self._failing:
            return self.overall.remedy
        worst = min(self._failing, key=lambda v: v.value if math.isfinite(v.value) else -math.inf)
        start = f"Start with {worst.question_id}: " if len(self._failing) > 1 else ""
        return f"{start}{worst.remedy}"

    @property
    def _failing(self) -> list[GateVerdict]:
        return [verdict for verdict in self.questions if verdict.verdict != "pass"]


def applicable_gates(*, n_judges: int) -> tuple[GateName, ...]:
    """Return the gates that apply: agreement between judges takes two of them."""
    return (*HUMAN_GATES, "judge_alpha") if n_judges > 1 else HUMAN_GATES


def evaluate_gates(
    evidence: Mapping[GateName, Evidence], gates: Mapping[GateName, Gate]
) -> tuple[GateOutcome, ...]:
    """Judge every gate that applies.

    Args:
        evidence: What was measured for each gate that applies; a gate without a key does not.
        gates: Thresholds declared now.

    Returns:
        One outcome per gate, in the order of `evidence`. A gate blocks if its overall value is
        below the minimum (by more than 1e-9), undefined, missing or older than the data; and if
        no question passes every blocking gate whose figures can be judged.

    Examples:
        >>> good = Figure(None, value=0.81, low=0.78, high=0.84, n_units=200)
        >>> [outcome] = evaluate_gates(
        ...     {"human_a_hh": Evidence((good,), "v1")}, {"human_a_hh": Gate(minimum=0.75)}
        ... )
        >>> outcome.is_closed, outcome.reason
        (False, '0.810 reaches the minimum 0.75')
    """
    verdicts = {
        gate: [_judge(gate, figure, gates[gate], shown) for figure in _overall_first(shown)]
        for gate, shown in evidence.items()
    }
    none_left = _no_question_passes(
        [
            judged
            for gate, judged in verdicts.items()
            if gates[gate].severity == "error" and not evidence[gate].unusable_because
        ]
    )
    return tuple(
        GateOutcome(
            gate=gate,
            severity=gates[gate].severity,
            overall=overall,
            questions=tuple(questions),
            is_closed=gates[gate].severity == "error"
            and (
                overall.verdict != "pass"
                or (none_left and any(verdict.verdict != "pass" for verdict in questions))
            ),
            data_version=evidence[gate].data_version,
        )
        for gate, (overall, *questions) in verdicts.items()
    )


def tunable_questions(
    outcomes: tuple[GateOutcome, ...], question_ids: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the questions with a passing figure in every blocking gate; none if one is closed."""
    if any(outcome.is_closed for outcome in outcomes):
        return ()
    passing = [
        {verdict.question_id for verdict in outcome.questions if verdict.verdict == "pass"}
        for outcome in outcomes
        if outcome.severity == "error"
    ]
    return tuple(each for each in question_ids if all(each in those for those in passing))


def _overall_first(shown: Evidence) -> list[Figure]:
    """Return the overall figure, undefined if it was not measured, then those of the questions."""
    overall = [figure for figure in shown.figures if figure.question_id is None]
    missing = Figure(None, math.nan, math.nan, math.nan, 0)
    return [*(overall or [missing]), *(f for f in shown.figures if f.question_id is not None)]


def _no_question_passes(by_gate: list[list[GateVerdict]]) -> bool:
    """Return whether every measured question fails one of these gates."""
    measured = [{v.question_id: v.verdict for v in judged if v.question_id} for judged in by_gate]
    measured = [by_question for by_question in measured if by_question]
    questions = set[str]().union(*measured)
    return bool(questions) and not any(
        all(by_question.get(question_id) == "pass" for by_question in measured)
        for question_id in questions
    )


def _judge(gate: GateName, figure: Figure, threshold: Gate, shown: Evidence) -> GateVerdict:
    """Return the verdict on one figure."""
    minimum = threshold.minimum
    verdict: Verdict = "not_evaluable"
    if shown.unusable_because:
        reason, remedy = shown.unusable_because
    elif figure.n_units < _FEWEST_UNITS:
        units = f"no {_UNITS[gate]}"
        if figure.n_units:
            units = "1 " + _UNITS[gate].replace("responses", "response").replace("units", "unit")
        reason = f"{units}, at least 2 are needed"
        remedy = _MORE[gate] if figure.n_units else _MORE[gate].replace("Have more", "Have")
    elif figure.n_groups is not None and figure.n_groups < _FEWEST_UNITS:
        reason = (
            f"all {figure.n_units} {_UNITS[gate]} are of one response group (one prompt or "
            "conversation), at least 2 groups are needed"
        )
        remedy = "Add responses to other prompts"
    elif not math.isfinite(figure.value):
        reason, remedy = figure.undefined_because or "undefined", _VARY
    elif math.isnan(figure.low + figure.high):
        # Defined, but no longer if some one group is left out: all others are rated the same.
        value = figure_text(figure.value, limits=[minimum])
        reason = f"{value} has no interval: it rests on a single response or group"
        remedy = _more_ratings(gate, figure)
    else:
        judged = figure.value if threshold.by == "value" else figure.low
        verdict = "pass" if judged >= minimum - TOLERANCE else "fail"
        reason, remedy = _comparison(gate, figure, threshold, verdict)
    return GateVerdict(
        **vars(figure),
        gate=gate,
        minimum=minimum,
        verdict=verdict,
        reason=f"{reason}. {remedy}" if remedy else reason,
        remedy=remedy,
    )


def _comparison(
    gate: GateName, figure: Figure, threshold: Gate, verdict: Verdict
) -> tuple[str, str]:
    """Return how a defined figure compares with its minimum, and the remedy if one is due."""
    minimum = threshold.minimum
    value, low, high = (
        figure_text(each, limits=[minimum]) for each in (figure.value, figure.low, figure.high)
    )
    subject = value if threshold.by == "value" else f"the lower end {low} of {value}"
    stands = "reaches" if verdict == "pass" else "is below"
    reason = f"{subject} {stands} the minimum {minimum:g}"
    if _holds(figure, minimum):
        reason += f", but the data cannot tell: the 95 % interval is {low} to {high}"
        return reason, _more_ratings(gate, figure)
    return reason, "" if verdict == "pass" else _remedy(gate, figure)


def _holds(figure: Figure, minimum: float) -> bool:
    """Return whether the figure's interval lies on both sides of the minimum."""
    return figure.low < minimum - TOLERANCE and minimum + TOLERANCE < figure.high


_UNITS: dict[GateName, str] = {
    "human_a_hh": "responses with two ratings or more",
    "human_alpha": "responses with two ratings or more",
    "judge_alpha": "units with scores of two judges or more",
}
_MORE: dict[GateName, str] = {
    "human_a_hh": "Have more responses rated by two raters or more",
    "human_alpha": "Have more responses rated by two raters or more",
    "judge_alpha": "Find in judge_scores why scores are missing, and run the judges again",
}
_MOST_DISCUSSED = 20
"""Longer lists are not read: the first rows are farthest apart."""

_VARY = "Add responses that differ more: agreement beyond chance shows only if ratings vary"
"""Remedy for an undefined value: with two units or more, only equal ratings lead to one."""


def _more_ratings(gate: GateName, figure: Figure) -> str:
    """Return the remedy for a figure that the data leave open."""
    more = _MORE[gate] if gate != "judge_alpha" else "Have the judges score more responses"
    if figure.hardly_varies:
        return f"{more}, above all some that deserve the rarer values"
    return more


def _remedy(gate: GateName, figure: Figure) -> str:
    """Return the remedy for a figure that is certainly below its minimum."""
    if gate == "judge_alpha" and not figure.hardly_varies:
        return "Compare the judges' replies in judge_scores and revise the judge prompt"
    if figure.n_disagreements:
        n = figure.n_disagreements
        listed = f"the {n} disagreements" if n > 1 else "the disagreement"
        if n > _MOST_DISCUSSED:
            listed = f"the first {_MOST_DISCUSSED} of {n:,} disagreements"
        then = "revise the rubric"
        if gate == "human_alpha" and figure.high < CONTRADICTING_ALPHA:
            then = "see in label_quality whether one of them reads the scale the wrong way round"
        return f"Discuss {listed} in label_disagreements with the raters, {then}, then label again"
    if figure.hardly_varies:
        return (
            f"There is no disagreement to discuss: {figure.hardly_varies}. Add responses that "
            "deserve the rarer values"
        )
    return (
        "No single response explains it: see in label_quality whether a rater is stricter than the "
        "others, give an example response for every value of the scale, then label again"
    )


def _in_short(verdict: GateVerdict) -> str:
    """Return a verdict that is not a pass in two words."""
    if verdict.verdict == "not_evaluable":
        return "not evaluable"
    return f"{figure_text(verdict.value, limits=[verdict.minimum])}"
