"""`eval-assets gates`: verdict of each gate on the current data and minimums."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_never
from xml.etree import ElementTree as ET

import click

from eval_assets.cli.exit_codes import CANNOT_TELL, DONE, GATE_CLOSED, nothing_measured
from eval_assets.cli.options import data_option, database_option, print_json, resolve_database

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_assets.agreement.gates.decision import GateOutcome, GateVerdict

Format = Literal["table", "json", "markdown", "junit"]


@click.command()
@data_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown", "junit"]),
    default="table",
    show_default=True,
    help="markdown for a pull request, with certificates; junit for a build server.",
)
@click.option(
    "--base",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What --format json printed on the base of a pull request, to say what changed and "
    "whether it should be held up.",
)
@click.option("--json", "form", flag_value="json", help="Short for --format json.")
def gates(data: Path, database: str | None, form: Format, base: Path | None) -> int:
    """Say whether judges may be tuned: each gate's state, interval, and reason or remedy.

    Nothing is materialized: stored figures are compared with the minimums declared now. The exit
    code is 3 if a gate is closed, stale or was never measured.

    With --base it is 3 only if a gate that was open is closed by more than noise, and 4 if a gate
    is closed for another reason.
    """
    from eval_assets.cli.pull_request import comment, decide, read_base
    from eval_assets.cli.results import outcomes_now, stored_certificates
    from eval_assets.cli.terminal_tables import print_gates
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect, is_stored

    before = read_base(base) if base else None
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
            click.echo(comment(evaluation.name, outcomes, certificates=certificates, base=before))
        case "junit":
            click.echo(_junit(evaluation.name, outcomes))
        case _:
            assert_never(form)
    if before is not None:
        return _CODES[decide(outcomes, before)]
    return GATE_CLOSED if any(outcome.is_closed for outcome in outcomes) else DONE


_CODES = {"pass": DONE, "fail": GATE_CLOSED, "cannot tell": CANNOT_TELL}


def _verdicts(outcome: GateOutcome) -> tuple[GateVerdict, ...]:
    return (outcome.overall, *outcome.questions)


def _junit(name: str, outcomes: Sequence[GateOutcome]) -> str:
    """Return JUnit XML with a test case for each gate and question.

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
