"""Gates: whether judges may be tuned, and the figures that say so."""

import math
from collections.abc import Iterable, Iterator, Sequence

from eval_assets.agreement.gates.decision import GATES, GateOutcome, GateVerdict, tunable_questions
from eval_assets.bands import FEWEST_GROUPS
from eval_assets.catalogue import Statistic
from eval_assets.shown.blocks import ALL_QUESTIONS, Cell, Column, Table, text_cell, verdict_cell
from eval_assets.verdicts import GateResult, Verdict
from eval_assets.wording import (
    count_text,
    listed,
    or_none,
    planned_text,
)


def why_closed(closed: Sequence[GateOutcome]) -> str:
    """Return why these gates are closed, in a few words."""
    if any(of.unusable for of in closed):
        return "agreement is not measured on the current data"
    if closed and all(of.state is Verdict.NOT_MEASURED for of in closed):
        return "agreement is not measured"
    kinds = {GATES[of.gate].raters for of in closed}
    return f"{'judges' if kinds == {'judge'} else 'raters'} do not agree enough"


def gates_answer(outcomes: Sequence[GateOutcome]) -> str:
    """Return whether judges may be tuned, in one sentence."""
    closed = [of for of in outcomes if of.is_closed]
    if closed:
        names = listed([of.gate for of in closed])
        return f"Judges may not be tuned: {why_closed(closed)} ({names})."
    ids = list(dict.fromkeys(of.question_id or "" for gate in outcomes for of in gate.questions))
    tunable = tunable_questions(outcomes, ids)
    if len(tunable) < len(ids):
        excluded = listed([question for question in ids if question not in tunable])
        return f"Judges may be tuned on {listed(tunable)}, not on {excluded}."
    return "Judges may be tuned."


def gates_table(outcomes: Sequence[GateOutcome]) -> Table:
    """Return each figure beside its minimum, overall only where there are several questions."""
    states = [(of, verdict_cell(of.state)) for outcome in outcomes for of in figures_of(outcome)]
    return _table("Gates", states, value="value", last=Column("state", "state"))


def _table(
    name: str, figures: Iterable[tuple[GateVerdict, Cell]], *, value: str, last: Column
) -> Table:
    columns = (
        Column("gate", "gate"),
        Column("question", "question"),
        Column("value", value, is_number=True),
        Column("interval", "95% CI", is_number=True),
        Column("minimum", "needs", is_number=True),
        last,
    )
    rows = tuple(
        (
            text_cell(of.gate),
            text_cell(of.question_id or ALL_QUESTIONS),
            Cell(_statistic(of).text(of.value, minimum=of.minimum), or_none(of.value)),
            Cell(_statistic(of).interval_text(of.low, of.high, minimum=of.minimum)),
            Cell(_statistic(of).minimum_text(of.minimum), of.minimum),
            cell,
        )
        for of, cell in figures
    )
    return Table(name, columns, rows)


def figures_of(outcome: GateOutcome) -> tuple[GateVerdict, ...]:
    """Return the figures of a gate; those of an only question are those of all."""
    if len(outcome.questions) == 1:
        return outcome.questions
    return (outcome.overall, *outcome.questions)


def _statistic(of: GateVerdict) -> Statistic:
    return GATES[of.gate].statistic


def gates_notes(outcomes: Sequence[GateOutcome]) -> Iterator[str]:
    """Yield why figures cannot be compared, and where a gate is open though it is not settled."""
    yield from dict.fromkeys(f"{of.overall.reason}." for of in outcomes if of.unusable)
    is_stopped = any(of.is_closed for of in outcomes)  # tuning may not go on by any gate
    for outcome in outcomes:
        if outcome.unusable:
            continue
        for of in figures_of(outcome):
            if is_stopped and of.verdict is GateResult.PASS:
                continue
            if of.state is Verdict.NEED_MORE_DATA or math.isnan(of.value):
                subject = f"{outcome.gate} on {of.question_id or ALL_QUESTIONS}"
                yield f"{subject}: {of.reason}."
        if outcome.severity == "warn" and not outcome.passed:
            yield f"{outcome.gate} is declared to warn only, so it holds nothing back."


def plan_table(outcomes: Sequence[GateOutcome]) -> Table:
    """Return how many more responses settle each figure in four of five studies."""
    numbers = [
        (of, Cell(_more(of), of.n_more(of.minimum)))
        for outcome in outcomes
        if not outcome.unusable
        for of in figures_of(outcome)
    ]
    return _table("Plan", numbers, value="now", last=Column("n_more", "more responses"))


def plan_answer(outcomes: Sequence[GateOutcome]) -> str:
    """Return the largest number that a figure takes, in one sentence."""
    figures = [of for gate in outcomes if not gate.unusable for of in figures_of(gate)]
    if not figures:
        return "Agreement is not measured on the current data."
    unsettled = [of for of in figures if of.state not in {Verdict.PASS, Verdict.FAIL}]
    if not unsettled:
        return "Every gate is settled. What a judge needs, eval-assets run says."
    numbers = [n for of in unsettled if (n := of.n_more(of.minimum))]
    if not numbers:
        return f"No number can be named yet: {_more(unsettled[0])}."
    return f"About {planned_text(max(numbers))} more responses settle what is open."


def _more(of: GateVerdict) -> str:
    n_more = of.n_more(of.minimum)
    if n_more:
        return f"about {count_text(n_more)}"
    if n_more == 0:
        return "none"
    if of.n_groups < FEWEST_GROUPS:
        return f"first {FEWEST_GROUPS} response groups, now {of.n_groups}"
    return "no number would settle it"
