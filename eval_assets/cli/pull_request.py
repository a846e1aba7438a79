"""Gates and certificates as a comment on a pull request, and the exit code of the comparison.

A change that only adds noise must not be held up, because its author could do nothing about it. So
a closed gate holds it up only if its interval lies below the minimum and, if the base is known, the
gate was open there and the interval lies below that of the base. Two 95 % intervals of equal truth
lie apart less than once in a hundred times; the simulated share is in
benchmarks/results/pull_requests.md.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from eval_assets.agreement.gates.decision import GateOutcome, GateVerdict
from eval_assets.render.markdown import escape_markdown
from eval_assets.verdicts import GateState
from eval_assets.wording import figure_text, tested_verdict

Decision = Literal["pass", "fail", "cannot tell"]

_NOTICED = 0.0005
"""Least change of a figure that is listed: figures are shown with three decimals."""


@dataclass(frozen=True)
class Base:
    """The gates of the branch that a pull request goes to, as `gates --json` prints them."""

    gates: Sequence[Mapping[str, Any]]

    def gate(self, name: str) -> Mapping[str, Any] | None:
        """Return a gate, or None if the base has none of this name."""
        return next((gate for gate in self.gates if gate["gate"] == name), None)

    def verdict(self, verdict: GateVerdict) -> Mapping[str, Any] | None:
        """Return the base's verdict on the same figure."""
        gate = self.gate(verdict.gate)
        result = gate["verdicts"] if gate else []
        return next((item for item in result if item["question_id"] == verdict.question_id), None)


def read_base(path: Path) -> Base:
    """Read the gates of the base.

    Raises:
        UsageError: If the file does not hold them.
    """
    try:
        gates = json.loads(path.read_text("utf-8"))
        is_closed = {gate["gate"]: gate["is_closed"] for gate in gates}
        whole = all(v["question_id"] or v.keys() >= _NEEDED for g in gates for v in g["verdicts"])
    except (ValueError, TypeError, KeyError):
        whole, is_closed = False, {}
    if not whole or not is_closed:
        raise click.UsageError(
            f"{path} does not hold the gates of the base. Write it there: "
            "eval-assets gates --format json"
        )
    return Base(gates)


_NEEDED = {"question_id", "value", "low"}


def decide(outcomes: Sequence[GateOutcome], base: Base | None) -> Decision:
    """Return whether a pull request passes, fails, or the data are inconclusive."""
    closed = [outcome for outcome in outcomes if outcome.is_closed]
    if not closed:
        return "pass"
    return "fail" if any(_is_to_blame(outcome, base) for outcome in closed) else "cannot tell"


def comment(
    name: str,
    outcomes: Sequence[GateOutcome],
    *,
    certificates: Sequence[Mapping[str, Any]] = (),
    base: Base | None = None,
) -> str:
    """Return the comment in GitHub's Markdown; certificates are rows of `judge_certificates`."""
    closed = [outcome.gate for outcome in outcomes if outcome.is_closed]
    undecided = [outcome.gate for outcome in outcomes if outcome.state is GateState.UNDECIDED]
    verdict = (
        f"closed: {', '.join(closed)}"
        if closed
        else f"undecided: {', '.join(undecided)}"
        if undecided
        else "open"
    )
    parts = [f"### {escape_markdown(name)}: gates {verdict}", _gates(outcomes)]
    if certificates:
        parts += ["#### Certificates", _certificates(certificates)]
    if base is not None:
        changes = list(_changes(outcomes, base))
        parts += [
            "#### Against the base",
            "\n".join(f"- {line}" for line in changes) or "No figure changed.",
        ]
        if closed:
            parts.append(_why(decide(outcomes, base)))
    return "\n\n".join(parts)


def _state(outcome: GateOutcome) -> str:
    if outcome.state in (GateState.CLOSED, GateState.UNDECIDED):
        return outcome.state.value
    return GateState.OPEN.value


def _is_to_blame(outcome: GateOutcome, base: Base | None) -> bool:
    """Return whether a gate that was open before is closed by more than noise."""
    now = outcome.overall
    if not now.high < now.minimum:
        return False
    before = base.gate(outcome.gate) if base else None
    if before is None:
        return True
    [was] = [item for item in before["verdicts"] if item["question_id"] is None]
    return not before["is_closed"] and was["low"] is not None and now.high < was["low"]


def _why(decision: Decision) -> str:
    if decision == "fail":
        return "A gate that was open is closed, by more than noise: this holds up the pull request."
    return (
        "A gate is closed, but it was before, or the figures are no further apart than noise puts "
        "them: this does not hold up the pull request."
    )


def _gates(outcomes: Sequence[GateOutcome]) -> str:
    rows = [
        (
            outcome.gate,
            _state(outcome),
            verdict.question_id or "all questions",
            verdict.verdict.replace("_", " "),
            _figure(verdict.value, verdict),
            _interval(verdict),
            f"{verdict.minimum:g}",
            verdict.reason,
        )
        for outcome in outcomes
        for verdict in (outcome.overall, *outcome.questions)
    ]
    head = ("gate", "state", "question", "verdict", "value", "95 % interval", "minimum", "reason")
    return _table(head, rows)


def _certificates(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ("judge", "question", "fit to stand in for a rater", "better by tuning", "remark")
    return _table(
        head,
        [
            (
                str(row["judge_id"]),
                str(row["question_id"]),
                *(
                    tested_verdict(row[kind], is_stale=bool(row["stale_because"]))
                    if row[kind]
                    else "not asked"
                    for kind in _KINDS
                ),
                f"stale: {row['stale_because']}" if row["stale_because"] else row["reason"] or "",
            )
            for row in rows
        ],
    )


_KINDS = ("fitness", "improvement")


def _changes(outcomes: Sequence[GateOutcome], base: Base) -> Iterator[str]:
    for outcome in outcomes:
        before = base.gate(outcome.gate)
        if before is None:
            yield f"{outcome.gate} is new"
            continue
        if before["is_closed"] != outcome.is_closed:
            yield f"**{outcome.gate} is {'closed' if outcome.is_closed else 'open'} now**"
        for now in (outcome.overall, *outcome.questions):
            question = escape_markdown(now.question_id or "all questions")
            was = base.verdict(now)
            if was is None:
                yield f"{outcome.gate}, {question} is new: {_figure(now.value, now)}"
                continue
            old = math.nan if was["value"] is None else float(was["value"])
            if math.isnan(old) and math.isnan(now.value):
                continue
            if not abs(old - now.value) < _NOTICED:
                yield f"{outcome.gate}, {question}: {_figure(old, now)} → {_figure(now.value, now)}"
        question_ids = {verdict.question_id for verdict in (outcome.overall, *outcome.questions)}
        for verdict in before["verdicts"]:
            if verdict["question_id"] not in question_ids:
                yield f"{outcome.gate}, {escape_markdown(verdict['question_id'])} is gone"


def _figure(value: float, verdict: GateVerdict) -> str:
    return figure_text(value, limits=[verdict.minimum])


def _interval(verdict: GateVerdict) -> str:
    if math.isnan(verdict.low + verdict.high):
        return ""
    return f"{_figure(verdict.low, verdict)} to {_figure(verdict.high, verdict)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ("---",) * len(head), *(tuple(map(escape_markdown, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
