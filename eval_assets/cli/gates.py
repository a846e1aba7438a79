"""`eval-assets gates`: each gate's verdict on the data and minimums as they are now."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, assert_never
from xml.etree import ElementTree as ET

import click

from eval_assets.cli.exit_codes import DONE, GATE_CLOSED
from eval_assets.cli.options import data_option, database_of, database_option
from eval_assets.cli.tables import print_gates
from eval_assets.gates import GateOutcome, GateVerdict
from eval_assets.interpretation import figure_text
from eval_assets.readers import read_evaluation, source_fingerprints
from eval_assets.report import escape_markdown
from eval_assets.store import connect, judge_gates

Format = Literal["table", "json", "markdown", "junit"]


@click.command(short_help="Say whether judges may be tuned.")
@data_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown", "junit"]),
    default="table",
    show_default=True,
    help="markdown for a pull request, junit for a build server.",
)
@click.option("--json", "form", flag_value="json", help="Short for --format json.")
def gates(data: Path, database: Path | None, form: Format) -> int:
    """Say whether judges may be tuned: each gate's state, interval, and reason or remedy.

    Nothing is materialized: stored figures are compared with the minimums declared now. The exit
    code is 3 if a gate is closed, stale or was never measured.
    """
    evaluation = read_evaluation(data)
    with connect(database_of(data, database), folder=data) as connection:
        outcomes = judge_gates(connection, evaluation, sources=source_fingerprints(evaluation))
    match form:
        case "table":
            print_gates(evaluation, outcomes)
        case "json":
            click.echo(json.dumps([gate_json(outcome) for outcome in outcomes], indent=2))
        case "markdown":
            click.echo(_markdown(evaluation.name, outcomes))
        case "junit":
            click.echo(_junit(evaluation.name, outcomes))
        case _:
            assert_never(form)
    return GATE_CLOSED if any(outcome.is_closed for outcome in outcomes) else DONE


def gate_json(outcome: GateOutcome) -> dict[str, object]:
    """Return an outcome in the types of JSON; undefined is null."""
    verdicts = [asdict(verdict) for verdict in _verdicts(outcome)]
    return {
        "gate": outcome.gate,
        "severity": outcome.severity,
        "is_closed": outcome.is_closed,
        "reason": outcome.reason,
        "verdicts": [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in verdict.items()
            }
            for verdict in verdicts
        ],
    }


def _verdicts(outcome: GateOutcome) -> tuple[GateVerdict, ...]:
    return (outcome.overall, *outcome.questions)


def _markdown(name: str, outcomes: Sequence[GateOutcome]) -> str:
    """Return a table of the gates, and one of their questions, in GitHub's Markdown."""
    closed = [outcome.gate for outcome in outcomes if outcome.is_closed]
    verdict = f"closed: {', '.join(closed)}" if closed else "open"
    rows = [
        (
            outcome.gate,
            "closed" if outcome.is_closed else "open",
            verdict.question_id or "all questions",
            verdict.verdict.replace("_", " "),
            figure_text(verdict.value, limits=[verdict.minimum]),
            _interval(verdict),
            f"{verdict.minimum:g}",
            verdict.reason,
        )
        for outcome in outcomes
        for verdict in _verdicts(outcome)
    ]
    head = ("gate", "state", "question", "verdict", "value", "95 % interval", "minimum", "reason")
    lines = [head, ("---",) * len(head), *(map(escape_markdown, row) for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"### {escape_markdown(name)}: gates {verdict}\n\n{table}"


def _interval(verdict: GateVerdict) -> str:
    if math.isnan(verdict.low + verdict.high):
        return ""
    ends = (figure_text(end, limits=[verdict.minimum]) for end in (verdict.low, verdict.high))
    return " to ".join(ends)


def _junit(name: str, outcomes: Sequence[GateOutcome]) -> str:
    """Return a test case per gate, and per question of it, as build servers read them.

    Only a closed gate fails: a question that an open gate leaves out of tuning is skipped.
    """
    suite = ET.Element("testsuite", name=f"eval-assets gates: {name}")
    for outcome in outcomes:
        for verdict in _verdicts(outcome):
            case = ET.SubElement(
                suite,
                "testcase",
                classname=f"{name}.{outcome.gate}",
                name=verdict.question_id or "all questions",
                time="0",
            )
            if verdict.question_id is None and outcome.is_closed:
                ET.SubElement(case, "failure", message=outcome.reason)
            elif verdict.verdict != "pass":
                ET.SubElement(case, "skipped", message=verdict.reason)
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(list(suite.iter(tag)))))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)
