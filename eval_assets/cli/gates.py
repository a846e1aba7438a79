"""`eval-assets gates`: verdict of each gate on the current data and minimums."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, assert_never

import click

from eval_assets.cli.exit_codes import DONE, GATE_CLOSED, nothing_measured
from eval_assets.cli.options import data_option, database_option, print_json, resolve_database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from eval_assets.agreement.gates.decision import GateOutcome, GateVerdict

Format = Literal["table", "json", "markdown"]


@click.command()
@data_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="markdown for the summary of a build, with certificates.",
)
@click.option("--json", "form", flag_value="json", help="Short for --format json.")
def gates(data: Path, database: str | None, form: Format) -> int:
    """Say whether judges may be tuned: each gate's state, interval, and reason or remedy.

    Nothing is materialized: stored figures are compared with the minimums declared now. The exit
    code is 3 if a gate is closed, stale or was never measured.
    """
    from eval_assets.cli.results import outcomes_now, stored_certificates
    from eval_assets.cli.terminal_tables import print_gates
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect, is_stored

    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not is_stored(path):
        nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        outcomes = outcomes_now(connection, evaluation)
    match form:
        case "table":
            print_gates(evaluation, outcomes)
        case "json":
            print_json([outcome.to_json() for outcome in outcomes])
        case "markdown":
            certificates = stored_certificates(data, path)
            click.echo(_markdown(evaluation.name, outcomes, certificates))
        case _:
            assert_never(form)
    return GATE_CLOSED if any(outcome.is_closed for outcome in outcomes) else DONE


def _markdown(
    name: str, outcomes: Sequence[GateOutcome], certificates: Sequence[Mapping[str, Any]]
) -> str:
    """Return a heading and a table of gates in GitHub's Markdown, and one of certificates."""
    from eval_assets.render.markdown import escape_markdown
    from eval_assets.verdicts import GateState
    from eval_assets.wording import figure_text, tested_verdict

    def table(*rows: Sequence[str]) -> str:
        head, *body = (tuple(map(escape_markdown, row)) for row in rows)
        lines = (head, ("---",) * len(head), *body)
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def interval(verdict: GateVerdict) -> str:
        if math.isnan(verdict.low + verdict.high):
            return ""
        low, high = (figure_text(x, limits=[verdict.minimum]) for x in (verdict.low, verdict.high))
        return f"{low} to {high}"

    closed = [outcome.gate for outcome in outcomes if outcome.is_closed]
    state = f"closed: {', '.join(closed)}" if closed else "open"
    gates = [
        (
            outcome.gate,
            outcome.state.value
            if outcome.state in (GateState.CLOSED, GateState.UNDECIDED)
            else GateState.OPEN.value,
            verdict.question_id or "all questions",
            verdict.verdict.replace("_", " "),
            figure_text(verdict.value, limits=[verdict.minimum]),
            interval(verdict),
            f"{verdict.minimum:g}",
            verdict.reason,
        )
        for outcome in outcomes
        for verdict in (outcome.overall, *outcome.questions)
    ]
    head = ("gate", "state", "question", "verdict", "value", "95 % interval", "minimum", "reason")
    parts = [f"### {escape_markdown(name)}: gates {state}", table(head, *gates)]
    if certificates:
        rows = [
            (
                str(row["judge_id"]),
                str(row["question_id"]),
                *(
                    tested_verdict(row[kind], is_stale=bool(row["stale_because"]))
                    if row[kind]
                    else "not asked"
                    for kind in ("fitness", "improvement")
                ),
                f"stale: {row['stale_because']}" if row["stale_because"] else row["reason"] or "",
            )
            for row in certificates
        ]
        columns = ("judge", "question", "fit to stand in for a rater", "better by tuning", "remark")
        parts += ["#### Certificates", table(columns, *rows)]
    return "\n\n".join(parts)
