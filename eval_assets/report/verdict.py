"""The verdict: whether judges may be tuned, and what every gate says."""

import math
from dataclasses import dataclass
from typing import Literal

from eval_assets.evaluation import GateName
from eval_assets.gates import GateOutcome, GateVerdict
from eval_assets.interpretation import figure_text
from eval_assets.report.data import ReportData
from eval_assets.report.figures import Mark, Tone, Track, agreement_track, lowest_tick
from eval_assets.report.writing import interval_text, listed

State = Literal["open", "partly open", "closed", "below, does not block"]

GATE_TITLES: dict[GateName, str] = {
    "human_a_hh": "Humans agree: A^HH",
    "human_alpha": "Humans agree beyond chance: Krippendorff's alpha",
    "judge_alpha": "Judges agree beyond chance: Krippendorff's alpha",
}
_STATE_TONES: dict[State, Tone] = {
    "open": "good",
    "partly open": "fair",
    "closed": "poor",
    "below, does not block": "weak",
}


@dataclass(frozen=True)
class GateView:
    """One gate and its overall figure.

    Args:
        gate: Name of the gate.
        title: What it asks.
        state: Whether it lets tuning through.
        tone: How good that is.
        value: The overall figure as written.
        interval: Its 95 % interval; empty where undefined.
        minimum: What the figure must reach.
        n: Units with two ratings behind it, in words.
        reason: Why the gate is open or closed, and what to do.
        track: The figure against the minimum.
    """

    gate: str
    title: str
    state: State
    tone: Tone
    value: str
    interval: str
    minimum: str
    n: str
    reason: str
    track: Track


@dataclass(frozen=True)
class QuestionVerdict:
    """What one gate says of one question.

    Args:
        gate: Name of the gate.
        verdict: `pass`, `fail` or `not evaluable`.
        tone: How good that is.
        value: The figure as written.
        interval: Its 95 % interval; empty where undefined.
        minimum: What the figure must reach.
        n: Units with two ratings.
        reason: Why, and what to do.
    """

    gate: str
    verdict: str
    tone: Tone
    value: str
    interval: str
    minimum: str
    n: int
    reason: str


@dataclass(frozen=True)
class QuestionGates:
    """One question and what every gate says of it.

    Args:
        question_id: The question.
        may_be_tuned: Whether tuning may cover it.
        verdicts: One a gate that was measured on it.
    """

    question_id: str
    may_be_tuned: bool
    verdicts: tuple[QuestionVerdict, ...]


def is_blocked(data: ReportData) -> bool:
    """Whether tuning may not start, for any question."""
    return not data.tunable or any(outcome.is_closed for outcome in data.gates)


def headline(data: ReportData) -> str:
    """The verdict in one sentence."""
    if is_blocked(data):
        why = [_why_closed(outcome) for outcome in data.gates if outcome.is_closed]
        return f"Judge tuning is blocked: {listed(why) or 'no question passes every gate'}"
    left_out = [q.id for q in data.evaluation.rubric if q.id not in data.tunable]
    verdict = (
        f"Judge tuning may start for {len(data.tunable)} of {len(data.evaluation.rubric)} "
        f"question{'' if len(data.evaluation.rubric) == 1 else 's'}"
    )
    return f"{verdict}; left out: {listed(left_out)}" if left_out else verdict


def gate_views(data: ReportData) -> tuple[GateView, ...]:
    """Every gate with its overall figure."""
    return tuple(_gate_view(outcome) for outcome in data.gates)


def question_gates(data: ReportData) -> tuple[QuestionGates, ...]:
    """Every question with what the gates say of it, in the rubric's order."""
    return tuple(
        QuestionGates(
            question_id=question.id,
            may_be_tuned=question.id in data.tunable and not is_blocked(data),
            verdicts=tuple(
                _question_verdict(verdict)
                for outcome in data.gates
                for verdict in outcome.questions
                if verdict.question_id == question.id
            ),
        )
        for question in data.evaluation.rubric
    )


def _why_closed(outcome: GateOutcome) -> str:
    """Why one gate blocks, in half a sentence."""
    overall = outcome.overall
    match overall.verdict:
        case "fail":
            value = figure_text(overall.value, limits=[overall.minimum])
            return f"{outcome.gate} {value} is below {overall.minimum:g}"
        case "not_evaluable":
            return f"{outcome.gate} cannot be evaluated"
        case "pass":
            return f"{outcome.gate} leaves no question that passes every gate"


def _gate_view(outcome: GateOutcome) -> GateView:
    verdict = outcome.overall
    state = _state(outcome)
    tone = _STATE_TONES[state]
    return GateView(
        gate=outcome.gate,
        title=GATE_TITLES[outcome.gate],
        state=state,
        tone=tone,
        value=figure_text(verdict.value, limits=[verdict.minimum]),
        interval=interval_text(verdict.low, verdict.high, limits=[verdict.minimum]),
        minimum=f"{verdict.minimum:g}",
        n=f"{verdict.n_units:,} {unit_of(outcome.gate)}",
        reason=outcome.reason,
        track=agreement_track(
            verdict.value,
            verdict.low,
            verdict.high,
            name=outcome.gate,
            marks=[Mark("minimum", verdict.minimum)],
            tone=tone,
            axis_low=lowest_tick([verdict.value, verdict.low, verdict.minimum]),
        ),
    )


def unit_of(gate: GateName) -> str:
    """What a gate's overall figure counts."""
    if gate == "judge_alpha":
        return "units (response x question) with two scores or more"
    return "responses with two ratings or more"


def _state(outcome: GateOutcome) -> State:
    if outcome.is_closed:
        return "closed"
    if outcome.passed:
        return "open"
    return "below, does not block" if outcome.severity == "warn" else "partly open"


def _question_verdict(verdict: GateVerdict) -> QuestionVerdict:
    tones: dict[str, Tone] = {"pass": "good", "fail": "poor", "not_evaluable": "none"}
    return QuestionVerdict(
        gate=verdict.gate,
        verdict=verdict.verdict.replace("_", " "),
        tone=tones[verdict.verdict],
        value=figure_text(verdict.value, limits=[verdict.minimum]),
        interval=interval_text(verdict.low, verdict.high, limits=[verdict.minimum]),
        minimum=f"{verdict.minimum:g}",
        n=verdict.n_units,
        reason=verdict.reason,
    )


def cannot_tell(verdict: GateVerdict) -> bool:
    """Whether the interval reaches both sides of the minimum, so that the data cannot tell."""
    if math.isnan(verdict.value):
        return False
    return verdict.low < verdict.minimum <= verdict.high
