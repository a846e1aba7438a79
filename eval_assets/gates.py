"""Gates: whether humans and judges agree well enough for judges to be tuned.

One pure function decides, from measured figures, the thresholds as they are declared now, and the
version of the data as it is now. The asset checks call it, and so does every asset behind the
gates: Dagster's blocking checks hold back only what is directly downstream in the same run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from eval_assets.evaluation import Gate, GateName, Severity
from eval_assets.interpretation import figure_text
from eval_assets.scale import TOLERANCE

Verdict = Literal["pass", "fail", "not_evaluable"]


@dataclass(frozen=True)
class Figure:
    """One measured value that a gate judges.

    Args:
        question_id: Question it was measured on; None over all questions.
        value: The value; NaN where it is undefined.
        low: Lower end of its 95 % interval; NaN where undefined.
        high: Upper end of its 95 % interval; NaN where undefined.
        n_units: Units with at least two ratings behind it.
        undefined_because: Why `value` is NaN; empty where it is not.
    """

    question_id: str | None
    value: float
    low: float
    high: float
    n_units: int
    undefined_because: str = ""


@dataclass(frozen=True)
class Evidence:
    """All figures that one gate judges.

    Args:
        figures: One overall and one a question; empty where nothing was measured.
        measured_version: Version of the data that was measured.
        current_version: Version of the data as it is now.
    """

    figures: tuple[Figure, ...]
    measured_version: str | None
    current_version: str


@dataclass(frozen=True)
class GateVerdict:
    """What a gate says of one figure; a row of the table `gate_verdicts`."""

    gate: GateName
    question_id: str | None
    value: float
    low: float
    high: float
    n_units: int
    minimum: float
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class GateOutcome:
    """What one gate says of all its figures.

    Args:
        gate: Name of the gate.
        severity: `warn` where the gate never blocks.
        overall: Verdict over all questions.
        questions: Verdict of each question.
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
        """Questions that do not pass, and that tuning therefore leaves out."""
        return tuple(v.question_id for v in self.questions if v.question_id and v.verdict != "pass")

    @property
    def passed(self) -> bool:
        """Whether nothing is to be said: the gate is open, for every question."""
        return self.overall.verdict == "pass" and not self.failing_questions

    @property
    def reason(self) -> str:
        """The verdict in words, with what to do where the gate is not open."""
        if self.overall.verdict == "pass" and self.failing_questions:
            left_out = ", ".join(self.failing_questions)
            if self.is_closed:
                return f"{self.overall.reason}; but no question passes every gate ({left_out})"
            return f"{self.overall.reason}; below it and left out of tuning: {left_out}"
        return self.overall.reason


_FEWEST_UNITS = 2
"""One unit cannot show agreement beyond chance."""

_REMEDIES: dict[GateName, str] = {
    "human_a_hh": "Revise the rubric with the raters on label_disagreements, then label again",
    "human_alpha": "Revise the rubric with the raters on label_disagreements, then label again",
    "judge_alpha": "Compare the judges' replies in judge_scores and revise the judge prompt",
}

_VARY = "Add responses that differ more: agreement beyond chance shows only where ratings vary"
"""What to do about an undefined value: from two units on, only equal ratings lead to one."""

ASSET_OF_GATE: dict[GateName, str] = {
    "human_a_hh": "human_agreement",
    "human_alpha": "human_agreement",
    "judge_alpha": "judge_agreement",
}
"""The asset that measures what each gate judges."""


HUMAN_GATES: tuple[GateName, ...] = ("human_a_hh", "human_alpha")


def applicable_gates(*, n_judges: int) -> tuple[GateName, ...]:
    """Gates that apply to so many judges: agreement between judges takes two of them."""
    return (*HUMAN_GATES, "judge_alpha") if n_judges > 1 else HUMAN_GATES


def evaluate_gates(
    evidence: Mapping[GateName, Evidence], gates: Mapping[GateName, Gate]
) -> tuple[GateOutcome, ...]:
    """Judge every gate that applies.

    Args:
        evidence: What was measured for each gate that applies; a gate without a key does not.
        gates: Thresholds as they are declared now.

    Returns:
        One outcome a gate, in the order of `evidence`. A gate blocks when its overall value is
        below the minimum (by more than 1e-9), undefined, missing or of older data; and when
        no question passes every blocking gate.

    Examples:
        >>> good = Figure(None, value=0.81, low=0.78, high=0.84, n_units=200)
        >>> [outcome] = evaluate_gates(
        ...     {"human_a_hh": Evidence((good,), "v1", "v1")}, {"human_a_hh": Gate(minimum=0.75)}
        ... )
        >>> outcome.is_closed, outcome.reason
        (False, '0.810 reaches the minimum 0.75')
    """
    verdicts = {
        gate: [_judge(gate, figure, gates[gate], shown) for figure in _figures(shown)]
        for gate, shown in evidence.items()
    }
    tunable = _tunable_questions(verdicts, gates)
    outcomes = []
    for gate, (overall, *questions) in verdicts.items():
        blocks = gates[gate].severity == "error"
        none_left = any(v.verdict != "pass" for v in questions) and tunable == frozenset()
        outcomes.append(
            GateOutcome(
                gate=gate,
                severity=gates[gate].severity,
                overall=overall,
                questions=tuple(questions),
                is_closed=blocks and (overall.verdict != "pass" or none_left),
                data_version=evidence[gate].measured_version or "",
            )
        )
    return tuple(outcomes)


def tunable_questions(
    outcomes: tuple[GateOutcome, ...], question_ids: tuple[str, ...]
) -> tuple[str, ...]:
    """Questions that pass every blocking gate; none while any gate is closed."""
    if any(outcome.is_closed for outcome in outcomes):
        return ()
    left_out = {
        question_id
        for outcome in outcomes
        if outcome.severity == "error"
        for question_id in outcome.failing_questions
    }
    return tuple(question_id for question_id in question_ids if question_id not in left_out)


def _figures(shown: Evidence) -> list[Figure]:
    """The overall figure first, made up as undefined where nothing was measured."""
    overall = [figure for figure in shown.figures if figure.question_id is None]
    missing = Figure(None, float("nan"), float("nan"), float("nan"), 0)
    return [*(overall or [missing]), *(f for f in shown.figures if f.question_id is not None)]


def _judge(gate: GateName, figure: Figure, threshold: Gate, shown: Evidence) -> GateVerdict:
    """The verdict on one figure."""
    verdict: Verdict
    value = figure_text(figure.value, limits=[threshold.minimum])
    if shown.measured_version is None:
        verdict = "not_evaluable"
        reason = f"nothing measured yet. Materialize {ASSET_OF_GATE[gate]}"
    elif shown.measured_version != shown.current_version:
        verdict = "not_evaluable"
        reason = (
            f"stale: the ratings or scales changed since it was measured. "
            f"Materialize {ASSET_OF_GATE[gate]}"
        )
    elif figure.n_units < _FEWEST_UNITS:
        verdict = "not_evaluable"
        reason = (
            f"{figure.n_units} units with at least two ratings; {_FEWEST_UNITS} are needed. "
            f"Have more responses rated by two or more"
        )
    elif figure.value >= threshold.minimum - TOLERANCE:
        verdict = "pass"
        reason = f"{value} reaches the minimum {threshold.minimum:g}"
    elif figure.value < threshold.minimum:
        verdict = "fail"
        reason = f"{value} is below the minimum {threshold.minimum:g}. {_REMEDIES[gate]}"
    else:
        verdict = "not_evaluable"
        reason = f"{figure.undefined_because or 'undefined'}. {_VARY}"
    return GateVerdict(
        gate=gate,
        question_id=figure.question_id,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        n_units=figure.n_units,
        minimum=threshold.minimum,
        verdict=verdict,
        reason=reason,
    )


def _tunable_questions(
    verdicts: Mapping[GateName, list[GateVerdict]], gates: Mapping[GateName, Gate]
) -> frozenset[str] | None:
    """Questions that pass every blocking gate; None where no gate was measured by question."""
    by_gate = [
        {v.question_id: v.verdict for v in judged if v.question_id is not None}
        for gate, judged in verdicts.items()
        if gates[gate].severity == "error"
    ]
    measured = [by_question for by_question in by_gate if by_question]
    if not measured:
        return None
    return frozenset(
        question_id
        for question_id in set[str]().union(*measured)
        if all(by_question.get(question_id) == "pass" for by_question in measured)
    )
