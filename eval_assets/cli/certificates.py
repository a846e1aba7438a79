"""`eval-assets certificates`: judge certificates with their evidence and validity."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from eval_assets.cli.exit_codes import CANNOT_TELL, DONE, GATE_CLOSED, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    json_option,
    ledger_of,
    print_json,
    question_of,
    resolve_database,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection as Connection

    from eval_assets.config.evaluation import Evaluation

NOT_FIT = GATE_CLOSED
"""Exit code for a judge that cannot replace a rater; 3, as for a closed gate."""


@click.group(invoke_without_command=True)
@data_option
@database_option
@json_option
@click.option(
    "--require",
    metavar="JUDGE[:QUESTION]",
    help="Print nothing but the verdict, and exit with 0 if the judge can replace a rater on "
    "the question (or on all), 3 if it cannot, 4 if more data are needed.",
)
@click.pass_context
def certificates(
    context: click.Context,
    data: Path,
    database: str | None,
    as_json: bool,  # noqa: FBT001 - click's flag
    require: str | None,
) -> int:
    """List the certificates of judges: their claims, groups and validity.

    `eval-assets run` evaluates the held-out tests and writes the files to out/certificates. A
    certificate is stale if the judge, the question, the labels or the model changed.
    """
    context.obj = data, database
    if context.invoked_subcommand is not None:
        return DONE
    from eval_assets.cli.results import (
        certificates_now,
        outcomes_now,
        plain_row,
        print_certificates,
    )
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.shown.gates import why_closed
    from eval_assets.store.connection import connect
    from eval_assets.store.scores import unevaluated_tests

    evaluation, path = read_evaluation(data), resolve_database(data, database)
    if not path.exists():
        nothing_measured(data)
        if require is not None:
            return CANNOT_TELL
        if as_json:
            print_json([])
        return DONE
    with connect(path, folder=data, is_reading=True) as connection:
        rows = certificates_now(connection, evaluation)
        if require is not None:
            return _required(connection, evaluation, rows, require)
        if as_json:
            print_json([plain_row(row) for row in rows])
        else:
            if not (rows or unevaluated_tests(connection)):
                outcomes = outcomes_now(connection, evaluation)
                closed = [of for of in outcomes if of.is_closed]
                reason = why_closed(closed) if closed else "it takes a whole run"
                if not evaluation.judges:
                    reason = "evaluation.yaml declares no judges"
                is_measured = closed and not any(of.unusable for of in closed)
                step = f"{'gates' if is_measured else 'run'} --data {quote(str(data))}"
                click.echo(f"No judge was tested: {reason}.\nDo next  eval-assets {step}")
            print_certificates(rows, connection)
    return DONE


@certificates.command(short_help="Recompute certificates from stored data.")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_option
@database_option
@click.pass_context
def verify(
    context: click.Context, files: tuple[Path, ...], data: Path, database: str | None
) -> int:
    """Recompute every figure of certificate files from tables and ledger; list differences.

    Without FILES it takes those of out/certificates. Numbers must agree to 1e-9. Costs, human
    agreement, limits and cautions are those of the day, which the ledger keeps. The exit code is 3
    if anything differs, and 4 if a certificate is stale.
    """
    from eval_assets.cli.certificate_checks import CertificateEvidence, read_certificate
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect
    from eval_assets.verdicts import Verdict

    if context.get_parameter_source("data") is not ParameterSource.COMMANDLINE:
        data = context.obj[0]
    database = database or context.obj[1]
    files = files or tuple(sorted((data / "out" / "certificates").glob("*.json")))
    certificates = {file: read_certificate(file) for file in files}
    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not path.exists():
        nothing_measured(data)
        return CANNOT_TELL
    with (
        connect(path, folder=data, is_reading=True) as connection,
        ledger_of(data, evaluation, is_reading=True) as ledger,
    ):
        evidence = CertificateEvidence(connection, ledger, evaluation)
        problems = {
            file: evidence.problems(certificate) for file, certificate in certificates.items()
        }
    for file, lines in problems.items():
        for line in lines:
            click.echo(f"{file}: {line}" if len(files) > 1 else line)
        if not lines:
            n_questions = len(certificates[file].predicate.questions)
            click.echo(f"{file}: every figure of {n_questions} question(s) was computed again")
    if not files:
        click.echo(f"There is no certificate in {data / 'out' / 'certificates'}.")
    verdicts = {verdict for of in problems.values() for verdict in of.values()}
    return Verdict.worst(verdicts).exit_code if verdicts else DONE


def _required(
    connection: Connection,
    evaluation: Evaluation,
    rows: Sequence[Mapping[str, Any]],
    require: str,
) -> int:
    """Print the verdict on a judge for each question that is asked about; return the exit code."""
    from eval_assets.store.scores import unevaluated_tests, versions_rated_as

    judge_id, _, question = require.partition(":")
    if judge_id not in {*(row["judge_id"] for row in rows), *(of.id for of in evaluation.judges)}:
        raise click.UsageError(f"there is no judge {judge_id}")
    questions = [question_of(evaluation, question)] if question else evaluation.rubric
    rates_as = versions_rated_as(connection).get(judge_id)
    unevaluated = unevaluated_tests(connection)
    codes = []
    for question_id in (of.id for of in questions):
        unit = judge_id, question_id
        of_unit = [row for row in rows if (row["judge_id"], row["question_id"]) == unit]
        versions = sorted(of_unit, key=lambda row: row["created_at"])
        code, verdict = _verdict(versions, rates_as, unevaluated.get(question_id), evaluation)
        click.echo(f"{judge_id} on {question_id}: {verdict}")
        codes.append(code)
    return NOT_FIT if NOT_FIT in codes else max(codes)


def _verdict(
    versions: Sequence[Mapping[str, Any]],
    rates_as: str | None,
    why_unevaluated: str | None,
    evaluation: Evaluation,
) -> tuple[int, str]:
    """Return exit code and verdict on a judge by the certificates of its versions, oldest first."""
    valid = [row for row in versions if not row["stale_because"]]
    fit = [row["version"] for row in valid if row["fitness"] == "fit"]
    if rates_as in fit:
        return DONE, "PASS"
    if fit:
        use = f"declare version: {fit[-1]}"
        return DONE, f"PASS as version {fit[-1]}, while it rates as {rates_as}: {use}"
    code, verdict = NOT_FIT, "FAIL"
    if not any(row["fitness"] == "unfit" for row in valid):
        reasons = [row["stale_because"] or row["reason"] for row in versions[-1:]]
        reasons += [f"not evaluated: {why_unevaluated}"] if why_unevaluated else []
        is_open = any(row["state"] == "need_more_data" for row in valid)
        word = "NEED MORE DATA" if is_open else "NOT MEASURED"
        code, verdict = CANNOT_TELL, f"{word}: {'; '.join(reasons) or 'it was not tested'}"
    part = next((row for row in reversed(valid) if row["claim"] == "fit_in_part"), None)
    return code, verdict if part is None else _in_part(part, code, evaluation.folder)


def _in_part(row: Mapping[str, Any], code: int, folder: Path) -> str:
    """Return the permitted use of a version that is certified on a part of the responses."""
    from eval_assets.tuning.partial_automation import JudgePart, part_condition

    part = JudgePart(row["doubt_source"], row["doubt_threshold"])
    reason = json.loads(row["certificate"])["claims"]["fitness"]["reason"]
    return (
        f"PASS on {round(100 * row['share'])} % of what it scores as version {row['version']} "
        f"({part_condition(part)}); people rate the rest: eval-assets sheet --data "
        f"{quote(str(folder))} --needed. Exit code {code}, because on all responses: {reason}"
    )
