"""Every gate with its figure, overall and by question."""

from typing import assert_never

from eval_assets.agreement.gates.decision import GateOutcome, GateVerdict
from eval_assets.config.evaluation import GateName
from eval_assets.render.document import (
    Card,
    CardFigure,
    Cell,
    Plot,
    Section,
    Table,
    TableRow,
    Text,
    cells,
    columns,
)
from eval_assets.report.data import ReportData
from eval_assets.report.layout import lowest_tick
from eval_assets.verdicts import GateResult, Tone
from eval_assets.wording import counted, figure_text, interval_text, listed

_TITLES: dict[GateName, str] = {
    "human_a_hh": "Humans agree: A^HH",
    "human_alpha": "Humans agree beyond chance: Krippendorff's alpha",
    "judge_alpha": "Judges agree beyond chance: Krippendorff's alpha",
}
_LEAD = (
    "What must be reached before judges may be tuned. The dot is the value, the bar its 95 % "
    "interval, the upright line the minimum."
)

_NONE_PASSES = "no question passes every gate"


def section(data: ReportData) -> Section:
    """Return a card per gate and a table of their verdicts by question."""
    return Section(
        "gates",
        "Gates",
        "Gates",
        (
            Text(f"{tuning_sentence(data)}."),
            Text(_LEAD, is_small=True),
            *(_card(outcome) for outcome in data.gates),
            _by_question(data),
        ),
    )


def tuning_sentence(data: ReportData) -> str:
    """Return the questions for which judges may be tuned, as a sentence."""
    if is_blocked(data):
        reasons = [_why_closed(outcome) for outcome in data.gates if outcome.is_closed]
        return f"Judge tuning is blocked: {listed([*dict.fromkeys(reasons)]) or _NONE_PASSES}"
    n_all = len(data.evaluation.rubric)
    n_open = len(data.tunable)
    questions = counted(n_all, "question") if n_open == n_all else f"{n_open} of {n_all} questions"
    if not data.evaluation.judges:
        return f"No gate blocks {questions}; there is no judge to tune yet"
    closed = [q.id for q in data.evaluation.rubric if q.id not in data.tunable]
    verdict = f"Judge tuning may start for {questions}"
    return f"{verdict}; left out: {listed(closed)}" if closed else verdict


def is_blocked(data: ReportData) -> bool:
    """Return whether tuning may not start, for any question."""
    return not data.tunable or any(outcome.is_closed for outcome in data.gates)


def _why_closed(outcome: GateOutcome) -> str:
    overall = outcome.overall
    match overall.verdict:
        case GateResult.FAIL:
            value = figure_text(overall.value, limits=[overall.minimum])
            return f"{outcome.noun} {value} is below {overall.minimum:g}"
        case GateResult.NOT_EVALUABLE:
            return f"{outcome.noun} cannot be evaluated"
        case GateResult.PASS:
            return _NONE_PASSES
        case _:
            assert_never(overall.verdict)


def _card(outcome: GateOutcome) -> Card:
    verdict = outcome.overall
    state = outcome.state
    value, interval = _written(verdict)
    return Card(
        title=_TITLES[outcome.gate],
        anchor=f"gate-{outcome.gate}",
        blocks=(
            Text(
                f"minimum {verdict.minimum:g} · {_units(outcome.gate, verdict.n_units)}",
                is_small=True,
            ),
            Text(f"{outcome.reason[0].upper()}{outcome.reason[1:]}."),
        ),
        figure=CardFigure(
            name="",
            value=value,
            meaning=state.value,
            tone=outcome.tone,
            notes=(f"95 % interval {interval}" if interval else "no interval",),
            plot=Plot(
                low=lowest_tick([verdict.value, verdict.low, verdict.minimum]),
                high=1.0,
                label=f"{outcome.title}: {value}, {interval}, minimum {verdict.minimum:g}",
                dots=(("circle", verdict.value),),
                interval=(verdict.low, verdict.high) if interval else None,
                marks=(("minimum", verdict.minimum),),
                tone=outcome.tone,
            ),
        ),
    )


def _units(gate: GateName, n_units: int) -> str:
    if gate == "judge_alpha":
        return f"{counted(n_units, 'unit')} (response x question) with two scores or more"
    return f"{counted(n_units, 'response')} with two ratings or more"


def _by_question(data: ReportData) -> Table:
    verdicts = {
        (verdict.question_id, verdict.gate): verdict
        for outcome in data.gates
        for verdict in outcome.questions
    }
    blocked = is_blocked(data)
    return Table(
        "Gates by question",
        columns("Question", *(outcome.title for outcome in data.gates), "Tuning"),
        tuple(
            TableRow(
                cells(
                    question.id,
                    *(_verdict(verdicts.get((question.id, o.gate))) for o in data.gates),
                    "blocked"
                    if blocked
                    else "covered"
                    if question.id in data.tunable
                    else "left out",
                )
            )
            for question in data.evaluation.rubric
        ),
        caption="By question. A question that fails a blocking gate is left out of tuning.",
    )


def _verdict(verdict: GateVerdict | None) -> Cell:
    if verdict is None:
        return Cell("not measured")
    tones: dict[GateResult, Tone] = {
        GateResult.PASS: Tone.GOOD,
        GateResult.FAIL: Tone.POOR,
        GateResult.NOT_EVALUABLE: Tone.NONE,
    }
    value, interval = _written(verdict)
    note = f"{interval or 'no interval'} · n {verdict.n_units:,}"
    if verdict.verdict is GateResult.NOT_EVALUABLE:
        note += f" · {verdict.reason}"
    return Cell(
        f"{value} {verdict.verdict.replace('_', ' ')}", note=note, tone=tones[verdict.verdict]
    )


def _written(verdict: GateVerdict) -> tuple[str, str]:
    """Return the value and the interval, rounded so that they stay on their side of the minimum."""
    limits = [verdict.minimum]
    return (
        figure_text(verdict.value, limits=limits),
        interval_text(verdict.low, verdict.high, limits=limits),
    )
