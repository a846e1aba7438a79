"""`eval-assets gates`: each gate's verdict on the data and thresholds as they are now."""

import json
import math
from dataclasses import asdict
from pathlib import Path

import click

from eval_assets.cli.measured import print_gates
from eval_assets.cli.options import data_option, database_of, database_option
from eval_assets.cli.problems import DONE, GATE_CLOSED
from eval_assets.gates import GateOutcome
from eval_assets.readers import read_evaluation
from eval_assets.store import connect, judge_gates


@click.command(short_help="Say whether judges may be tuned.")
@data_option
@database_option
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def gates(data: Path, database: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Say whether judges may be tuned: each gate with interval, minimum, reason and remedy.

    Nothing is materialized: stored figures are judged by the thresholds declared now. Exit code
    3 where a gate is closed, stale or was never measured.
    """
    evaluation = read_evaluation(data)
    with connect(database_of(data, database), folder=data) as connection:
        outcomes = judge_gates(connection, evaluation)
    if as_json:
        click.echo(json.dumps([_as_json(outcome) for outcome in outcomes], indent=2))
    else:
        print_gates(evaluation, outcomes)
    return GATE_CLOSED if any(outcome.is_closed for outcome in outcomes) else DONE


def _as_json(outcome: GateOutcome) -> dict[str, object]:
    """An outcome in types that JSON has; undefined is null."""
    verdicts = [asdict(verdict) for verdict in (outcome.overall, *outcome.questions)]
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
