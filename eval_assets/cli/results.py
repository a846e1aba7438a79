"""Results of a run, as JSON and in the terminal."""

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import click
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.assets.stored_screen import gate_steps, stored_screen
from eval_assets.cli.exit_codes import GATE_CLOSED
from eval_assets.cli.options import ledger_of, print_json, print_table
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.figures import (
    FigureRecord,
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    RubricVersionFigures,
)
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.shown.blocks import JUDGES_AGAINST_HUMANS, figures_table, humans_table
from eval_assets.shown.certificates import (
    certificates_notes,
    certificates_reasons,
    certificates_table,
    versions_notes,
)
from eval_assets.shown.gates import gates_notes, gates_table, why_closed
from eval_assets.shown.irr_json import irr_result
from eval_assets.shown.stored import wordings_table
from eval_assets.shown.terminal import screen_lines, wrapped
from eval_assets.store.connection import connect
from eval_assets.store.figures import read_figures
from eval_assets.store.gates import (
    measured_agreement,
    stored_findings,
    stored_gate_outcomes,
    why_judges_are_stale,
)
from eval_assets.store.ratings import human_ratings
from eval_assets.store.schema import count_rows, read_rows
from eval_assets.store.scores import unevaluated_tests, versions_rated_as
from eval_assets.store.summaries import judge_agreement_objects

WAIT_SECONDS = 20
"""Time that a request waits for a run that holds the database."""


def outcomes_now(connection: Connection, evaluation: Evaluation) -> tuple[GateOutcome, ...]:
    """Return the outcome of each gate on the current files and minimums."""
    return stored_gate_outcomes(connection, evaluation, sources=source_fingerprints(evaluation))


def certificates_now(connection: Connection, evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return the rows of `judge_certificates` as they are now."""
    from eval_assets.store.tuned_judges import current_certificates  # it loads pandas

    return current_certificates(
        connection,
        evaluation,
        sources=source_fingerprints(evaluation),
        open_ledger=lambda: ledger_of(evaluation.folder, evaluation, is_reading=True),
    )


def why_stale(connection: Connection, evaluation: Evaluation) -> str:
    """Return why the figures on human labels are stale, as a sentence; empty if they are not."""
    outcomes = {outcome.gate: outcome for outcome in outcomes_now(connection, evaluation)}
    unusable = outcomes["human_a_hh"].unusable
    return unusable.sentence(HumanFigures.table) if unusable else ""


def stored_irr(data: Path, database: Path) -> dict[str, Any] | None:
    """Return the last measured agreement of humans; None before the first run."""
    if not database.exists():
        return None
    evaluation = read_evaluation(data)
    with _reading(database, data) as connection:
        agreement = read_figures(connection, HumanFigures)
        if not agreement:
            return None
        outcomes = outcomes_now(connection, evaluation)
        screen = stored_screen(connection, evaluation, outcomes=outcomes, certificates=[])
        return irr_result(
            evaluation,
            human_ratings(connection, evaluation),
            agreement,
            stored_findings(connection),
            outcomes,
            steps=screen.label_steps(),
        )


def stored_judge_agreement(data: Path, database: Path) -> list[dict[str, Any]]:
    """Return the last measured agreement of judges on each response, prompt and model."""
    if not database.exists():
        return []
    with _reading(database, data) as connection:
        return judge_agreement_objects(connection)


def stored_judges(data: Path, database: Path) -> list[dict[str, Any]]:
    """Return the judges, with the last measured agreement of each with people by question."""
    if not database.exists():
        return []
    with _reading(database, data) as connection:
        judges = read_rows(connection, "judges", order_by="position")
        agreement = [row.columns() for row in read_figures(connection, JudgeHumanFigures)]
    return [
        judge | {"agreement": [row for row in agreement if row["judge_id"] == judge["judge_id"]]}
        for judge in judges
    ]


def stored_gates(data: Path, database: Path) -> list[dict[str, Any]]:
    """Return the verdict of each gate on the current data and minimums."""
    evaluation = read_evaluation(data)
    with _reading(database, data) as connection:
        return gates_json(connection, evaluation, outcomes_now(connection, evaluation))


def gates_json(
    connection: Connection, evaluation: Evaluation, outcomes: Sequence[GateOutcome]
) -> list[dict[str, object]]:
    """Return the outcome of each gate with its next step, in the types of JSON."""
    steps = gate_steps(connection, evaluation, outcomes)
    return [of.to_json(next_step=steps.get(of.gate, "")) for of in outcomes]


def stored_certificates(data: Path, database: Path) -> list[dict[str, Any]]:
    """Return the certificates of judges and their validity; empty if there are none."""
    if not database.exists():
        return []
    evaluation = read_evaluation(data)
    with _reading(database, data) as connection:
        rows = certificates_now(connection, evaluation)
    return [plain_row(row) for row in rows]


def _reading(database: Path, data: Path) -> AbstractContextManager[Connection]:
    return connect(database, folder=data, wait_seconds=WAIT_SECONDS, is_reading=True)


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `judge_certificates` in the types of JSON; a certificate is JSON already."""
    certificate, created_at = row["certificate"], row["created_at"]
    return {
        **row,
        "certificate": certificate and json.loads(certificate),
        "created_at": created_at and created_at.isoformat(),
    }


Output = Literal["text", "quiet", "json"]

_REPORT = "report.html"

_ENDS_RUN = "judges_answered"
"""Check whose findings are errors of the run: judges that were stopped early."""


@dataclass(frozen=True)
class FailedCheck:
    """A line of a failed check that is not a gate."""

    check: str
    severity: str
    finding: str

    @property
    def ends_run(self) -> bool:
        """Return whether a check failed that makes the run a failure."""
        return self.check == _ENDS_RUN


def print_run(  # noqa: PLR0913 - the results, and how they are printed
    evaluation: Evaluation,
    database: Path,
    *,
    output: Output,
    not_run: Sequence[str],
    failed_checks: Sequence[FailedCheck],
    gates: Collection[GateName],
    verbose: bool,
) -> bool:
    """Print the screen, failed checks and paths; if `verbose`, tables of figures before them.

    `failed_checks` exclude gates. Return whether the run ended at one of `gates`, which it judged.
    """
    report = evaluation.folder / "out" / _REPORT
    with connect(database, folder=evaluation.folder) as connection:
        outcomes = outcomes_now(connection, evaluation)
        stale = why_judges_are_stale(
            connection, evaluation, sources=source_fingerprints(evaluation)
        )
        closed = [o for o in outcomes if o.is_closed and o.gate in gates]
        # Of judges alone, nothing is measured that a gate asks for.
        is_gated = not evaluation.judges or count_rows(connection, "human_labels") > 0
        with _until_the_reader_ends():
            match output:
                case "json":
                    about = {
                        "evaluation": evaluation.name,
                        "gates": gates_json(connection, evaluation, outcomes),
                        "failed_checks": [asdict(check) for check in failed_checks],
                        "not_run": not_run,
                        "stale_because": {JudgeHumanFigures.table: stale} if stale else {},
                        "report": str(report) if report.exists() else None,
                        "database": str(database),
                    }
                    print_json(about | _figures(connection))
                case "text":
                    certificates = certificates_now(connection, evaluation)
                    if verbose:
                        _print_measured(connection, outcomes, stale=stale)
                        print_certificates(certificates, connection)
                    screen = stored_screen(
                        connection, evaluation, outcomes=outcomes, certificates=certificates
                    )
                    for line in screen_lines(
                        screen, report=str(report) if report.exists() else None
                    ):
                        click.echo(line)
                    click.echo(f"Database {database}")
                case "quiet":
                    steps = gate_steps(connection, evaluation, closed)
                    for of in closed:
                        step = steps.get(of.gate, "")
                        click.echo(f"{of.gate} is closed: {of.reason}. {step}".rstrip())
            if output != "json":
                code = f" (exit code {GATE_CLOSED})" if is_gated else ""
                _print_failures(failed_checks, f"{why_closed(closed)}{code}" if not_run else "")
    return is_gated and bool(closed or not_run)


def _print_measured(
    connection: Connection,
    outcomes: tuple[GateOutcome, ...],
    *,
    stale: str,
) -> None:
    """Print human agreement, judges against humans, and each gate's figures.

    `stale` says why the figures of judges are older than the data.
    """
    if humans := read_figures(connection, HumanFigures):
        print_table(humans_table(humans))
    notes = [f"{of.question_id}: {of.finding}." for of in stored_findings(connection)]
    for note in [*notes, stale] if stale else notes:
        click.echo(f"{note}\n")
    if wordings := read_figures(connection, RubricVersionFigures):
        print_table(wordings_table(wordings))
    judged = [of for of in read_figures(connection, JudgeHumanFigures) if of.n_units]
    if judged:
        print_table(figures_table(judged, JUDGES_AGAINST_HUMANS, name="Judges against humans"))
    if count_rows(connection, "held_out_units"):
        click.echo("Judges are compared with people outside the held-out test.\n")
    print_table(gates_table(outcomes))
    for note in gates_notes(outcomes):
        click.echo("\n".join([*wrapped(note, first="", rest=""), ""]))


def print_certificates(rows: Sequence[Mapping[str, Any]], connection: Connection) -> None:
    """Print the verdicts of held-out tests, their reasons, and why others were not evaluated."""
    if rows:
        print_table(certificates_table(rows))
    notes = (
        certificates_reasons(rows),
        certificates_notes(rows, unevaluated_tests(connection)),
        versions_notes(rows, versions_rated_as(connection)),
    )
    for note in chain(*notes):
        click.echo("\n".join([*wrapped(note, first="", rest=""), ""]))


def _print_failures(failed_checks: Sequence[FailedCheck], why_stopped: str) -> None:
    for check in failed_checks:
        if not check.ends_run:
            lines = wrapped(f"{check.finding.rstrip('.')}.", first="", rest="")
            click.echo("\n".join(lines))
    if why_stopped:
        click.echo(f"Stopped before judge tuning: {why_stopped}.")


@contextmanager
def _until_the_reader_ends() -> Iterator[None]:
    """Print up to where the program that reads has ended, as `head` does."""
    try:
        yield
    except BrokenPipeError:
        from eval_assets.assets.terminal import discard_output  # it loads Dagster

        discard_output(sys.stdout)


def _figures(connection: Connection) -> dict[str, list[dict[str, object]]]:
    measured = measured_agreement(connection)
    figures: dict[str, Sequence[FigureRecord]] = {
        HumanFigures.table: measured["human"],
        JudgeFigures.table: measured["judge"],
        JudgeHumanFigures.table: read_figures(connection, JudgeHumanFigures),
    }
    return {table: [row.columns() for row in rows] for table, rows in figures.items()}
