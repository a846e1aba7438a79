"""`eval-assets certificates`: judge certificates with their evidence and validity."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from eval_assets.cli.exit_codes import CANNOT_TELL, DONE, GATE_CLOSED, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    ledger_of,
    question_of,
    resolve_database,
)
from eval_assets.errors import InputError, InputProblem

if TYPE_CHECKING:
    import duckdb

    from eval_assets.cli.tables import SealedTests
    from eval_assets.config.evaluation import Evaluation
    from eval_assets.tuning.certificate import Certificate, QuestionCertificate
    from eval_assets.tuning.history import SealedEvaluation

Rows = Sequence[Mapping[str, Any]]
"""Rows of judge_certificates."""

NOT_FIT = GATE_CLOSED
"""Exit code for a judge that may not stand in for a rater: like a closed gate, 3."""


@click.group(invoke_without_command=True)
@data_option
@database_option
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option(
    "--require",
    metavar="JUDGE[:QUESTION]",
    help="Print nothing but the verdict, and exit with 0 if the judge may stand in for a rater on "
    "the question (or on all), 3 if not, 4 if inconclusive.",
)
@click.pass_context
def certificates(
    context: click.Context,
    data: Path,
    database: str | None,
    as_json: bool,  # noqa: FBT001 - click's flag
    require: str | None,
) -> int:
    """List the certificates of judges: what holds, on how many groups, and whether it still does.

    `eval-assets run` reads the sealed tests and writes the files to out/certificates. A
    certificate is stale if the judge, the question, the labels or the model changed.
    """
    from eval_assets.cli.tables import SealedTests, print_certificates
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect

    context.obj = data, database
    if context.invoked_subcommand is not None:
        return DONE
    evaluation = read_evaluation(data)
    with connect(resolve_database(data, database), folder=data, is_reading=True) as connection:
        tests = SealedTests.stored(connection)
        rows = tests.certificates
        rates_as = _versions_in_use(connection)
        unread = _why_outdated(connection, evaluation)
    if unread and (require is not None or not as_json):
        click.echo(unread, err=as_json)
        if require is not None:
            return CANNOT_TELL
    if require is not None:
        return _required(tests, require, evaluation, rates_as)
    if as_json:
        click.echo(json.dumps(_as_json(rows), indent=2, ensure_ascii=False))
    else:
        if not (rows or tests.unevaluated):
            click.echo("No judge was tested yet: eval-assets run tests those that pass the gates.")
        print_certificates(tests)
    return DONE


@certificates.command(short_help="Recompute a certificate from what is stored.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_option
@database_option
@click.pass_context
def verify(context: click.Context, file: Path, data: Path, database: str | None) -> int:
    """Recompute every figure of a certificate file from tables and ledger; list what differs.

    Numbers must agree to 1e-9. Costs, human agreement and the control by length are those of the
    day, which the ledger keeps. The exit code is 3 if anything differs or the certificate is stale,
    and 4 if files, judges or verdicts of the gates changed since the last run.
    """
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect, is_stored

    if context.get_parameter_source("data") is not ParameterSource.COMMANDLINE:
        data = context.obj[0]
    database = database or context.obj[1]
    certificate = _read(file)
    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not is_stored(path):
        nothing_measured(data)
        return CANNOT_TELL
    with connect(path, folder=data, is_reading=True) as connection:
        unread = _why_outdated(connection, evaluation)
        stale = _stale_claims(connection, certificate)
    if unread:
        click.echo(unread)
        return CANNOT_TELL
    lines = [*stale, *_differences(certificate, evaluation, data, path)]
    for line in lines:
        click.echo(line)
    if not lines:
        n_questions = len(certificate.predicate.questions)
        click.echo(f"{file}: every figure of {n_questions} question(s) was computed again")
    return NOT_FIT if lines else DONE


def _stale_claims(connection: duckdb.DuckDBPyConnection, certificate: Certificate) -> list[str]:
    """Return why claims of a certificate no longer hold, a line for each question."""
    from eval_assets.store.tables import read_rows

    judge = certificate.predicate.judge
    return [
        f"{row['question_id']}: stale, because {row['stale_because']}"
        for row in read_rows(connection, "judge_certificates", order_by="question_id")
        if (row["judge_id"], row["version"]) == (judge.judge_id, judge.version)
        and row["stale_because"] is not None
    ]


_EVIDENCE = {"human_labels", "judge_scores", "responses"}
"""Tables that certificates rest on."""


def _why_outdated(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation) -> str:
    """Return what certificates rest on and changed since the last run; empty if nothing did.

    These are files, judges and gates: the last run says nothing about them as they are now.
    """
    from eval_assets.readers.evaluation.input_files import source_fingerprints
    from eval_assets.store.gates import decide_as_stored, stored_gate_outcomes
    from eval_assets.store.inputs import changed_tables
    from eval_assets.store.scores import are_stored_judges
    from eval_assets.store.tables import count_rows

    sources = source_fingerprints(evaluation)
    changed = set(changed_tables(connection, sources)) & _EVIDENCE
    if changed:
        subject = f"the files of {', '.join(sorted(changed))} changed"
    elif not count_rows(connection, "judge_certificates"):
        return ""
    elif not are_stored_judges(connection, evaluation.judges):
        subject = "the declared judges changed"
    elif not decide_as_stored(
        connection, stored_gate_outcomes(connection, evaluation, sources=sources)
    ):
        subject = "the verdicts of the gates changed"
    else:
        return ""
    return f"cannot tell: {subject} since the last run. Run eval-assets run"


def _versions_in_use(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the version that each judge rates as: the declared one unless another is pinned."""
    from eval_assets.store.tables import read_rows

    versions = read_rows(connection, "judge_versions", order_by="created_at")
    declared = [version for version in versions if version["step"] == "declared"]
    judges = read_rows(connection, "judges", order_by="judge_id")
    pinned = [judge for judge in judges if judge["version"] is not None]
    return {row["judge_id"]: row["version"] for row in (*declared, *pinned)}


def _required(
    tests: SealedTests, require: str, evaluation: Evaluation, rates_as: Mapping[str, str]
) -> int:
    """Print whether a judge may be used, and return the exit code."""
    rows = tests.certificates
    judge_id, _, question = require.partition(":")
    known = (
        [question_of(evaluation, question).id] if question else [q.id for q in evaluation.rubric]
    )
    judges = {*(row["judge_id"] for row in rows), *(judge.id for judge in evaluation.judges)}
    if judge_id not in judges:
        raise click.UsageError(f"there is no judge {judge_id}")
    codes = [
        _verdict(tests, judge_id, question_id, rates_as.get(judge_id)) for question_id in known
    ]
    return NOT_FIT if NOT_FIT in codes else max(codes)


def _verdict(tests: SealedTests, judge_id: str, question_id: str, rates_as: str | None) -> int:
    """Print whether a judge may be used for one question, and return the exit code."""
    unit = judge_id, question_id
    own = [row for row in tests.certificates if (row["judge_id"], row["question_id"]) == unit]
    valid = [row for row in own if row["stale_because"] is None]
    fit = [row["version"] for row in valid if row["fitness"] == "fit"]
    if rates_as in fit:
        code, said = DONE, "fit"
    elif fit:
        code = DONE
        said = f"fit as version {fit[-1]}, while it rates as {rates_as}: declare version: {fit[-1]}"
    elif any(row["fitness"] == "unfit" for row in valid):
        code, said = NOT_FIT, "unfit"
    else:
        newest = sorted(own, key=lambda row: row["created_at"])[-1:]
        reasons = [row["stale_because"] or row["reason"] for row in newest]
        held_back = tests.unevaluated.get(question_id)
        reasons += [f"not evaluated: {held_back}"] if held_back else []
        code, said = CANNOT_TELL, f"cannot tell: {'; '.join(reasons) or 'it was not tested'}"
    click.echo(f"{judge_id} on {question_id}: {said}")
    return code


def _as_json(rows: Rows) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "certificate": row["certificate"] and json.loads(row["certificate"]),
            "created_at": row["created_at"] and row["created_at"].isoformat(),
        }
        for row in rows
    ]


def _read(file: Path) -> Certificate:
    """Return the certificate that a file holds.

    Raises:
        InputError: If the file is not a certificate, or was changed so that its digest is wrong.
    """
    from eval_assets.tuning.certificate import Certificate

    try:
        text = file.read_text("utf-8")
        json.loads(text)
    except (OSError, ValueError) as error:
        problem = f"it cannot be read as JSON ({error})"
        raise InputError(
            InputProblem(str(file), None, None, problem, "Give a certificate")
        ) from error
    try:
        return Certificate.parse(text)
    except ValueError as error:
        problem = (
            "this is not a certificate of a judge, or its digest is not that of its definition"
        )
        remedy = "Give a file from out/certificates as it was written"
        raise InputError(InputProblem(str(file), None, None, problem, remedy)) from error


def _differences(
    certificate: Certificate, evaluation: Evaluation, data: Path, database: Path
) -> list[str]:
    """Return what a certificate says that is not computed again, one line each."""
    from eval_assets.store.connection import connect
    from eval_assets.store.ledger.seals import JudgeLedger
    from eval_assets.store.splits import tuning_units
    from eval_assets.store.tuned_judges import background_of, edited_scores, version_scores
    from eval_assets.tuning.certificate import differences
    from eval_assets.tuning.issued import certificate_files
    from eval_assets.tuning.sealed_evaluation import recomputed_certificates

    judge_id, name = certificate.predicate.judge.judge_id, certificate.name
    with (
        connect(database, folder=data, is_reading=True) as connection,
        ledger_of(data, evaluation, database=database, is_reading=True) as ledger,
    ):
        units = tuning_units(connection, evaluation.rubric, shares=evaluation.tuning.split)
        judges = JudgeLedger(ledger)
        scores = version_scores(connection, ledger, units)
        readings = [r for q in evaluation.rubric for r in judges.readings(q.id)]
        issued = certificate_files(readings).get(name)
        if issued is None:
            return [f"the ledger has no certificate of {name}"]
        lines = differences(certificate.head(), issued.head())
        lines += edited_scores(connection, scores.versions)
        for claimed in certificate.predicate.questions:
            question_id = claimed.question_id
            reading = _reading_of(claimed, readings, judge_id, name)
            if reading is None:
                lines.append(
                    f"{question_id}: the ledger has no certificate of {name} from reading "
                    f"{claimed.reading} under seal {claimed.seal}"
                )
                continue
            kept = reading.certificates[judge_id]
            margin = kept.claims.fitness.margin or 0.0
            background = background_of(
                connection, question_id, margin=margin, stand_in=evaluation.tuning.stand_in
            )
            again = recomputed_certificates(judges, scores, reading, background).get(judge_id)
            if again is None:
                lines.append(f"{question_id}: no claim holds when the test is computed again")
                continue
            changes = differences(claimed.as_json(), again.as_of(kept).as_json())
            lines += [f"{question_id}: {line}" for line in changes]
    return lines


def _reading_of(
    claimed: QuestionCertificate, readings: Sequence[SealedEvaluation], judge_id: str, name: str
) -> SealedEvaluation | None:
    """Return the reading that a certificate's question refers to; None if there is none.

    Args:
        claimed: What the certificate says of the question.
        readings: All readings in the ledger.
        judge_id: The judge.
        name: The judge's name with its version.
    """
    place = claimed.question_id, claimed.seal, claimed.reading
    return next(
        (
            reading
            for reading in readings
            if (reading.question_id, reading.seal, reading.number) == place
            and name in {f"{v.judge_id}-{v.version}" for v in reading.candidates}
            and judge_id in reading.certificates
        ),
        None,
    )
