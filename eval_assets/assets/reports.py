"""The asset of the report."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.agreement.gates.evidence import MeasuredAgreement
from eval_assets.agreement.humans import Finding, measure_humans
from eval_assets.agreement.judges import measure_judges
from eval_assets.assets.agreement import judge_human_agreement
from eval_assets.assets.checks import dependences
from eval_assets.assets.labelling import label_quality
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.stored_screen import stored_screen
from eval_assets.assets.summarizing import written_summary
from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import StoreError
from eval_assets.figures import (
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    LeaveOneJudgeOutFigures,
    RubricVersionFigures,
    ScoreFigures,
)
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.shown.html import report_page
from eval_assets.shown.markdown import report_markdown
from eval_assets.shown.next_step import gate_step
from eval_assets.shown.report import Report, report_of
from eval_assets.shown.screen_json import report_document
from eval_assets.shown.stored import StoredFigures
from eval_assets.store.connection import transaction
from eval_assets.store.figures import read_figures
from eval_assets.store.gates import (
    current_certificates,
    current_kinds,
    measured_agreement,
    stored_findings,
    stored_gate_outcomes,
    why_judges_are_stale,
)
from eval_assets.store.inputs import check_imported
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import append_history
from eval_assets.store.ratings import human_ratings, judge_ratings
from eval_assets.store.report_tables import read_report_tables
from eval_assets.store.schema import replace_rows
from eval_assets.store.scores import judged_models
from eval_assets.wording import or_none


# Not downstream of the gated assets, on purpose: a closed gate would hold back the page that
# says why it is closed. If their figures are stale, the report measures again.
@asset(
    group="reports",
    kinds={"html", "markdown", "json"},
    deps=[
        judge_human_agreement,
        "combined_scores",
        "score_summary",
        label_quality,
    ],
    is_report=True,
)
def agreement_report(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> dg.MaterializeResult[None]:
    """Figures and verdicts of the gates, as HTML, Markdown and JSON; keeps them as history."""
    evaluation = folder.evaluation()
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        measured = measured_now(connection, evaluation)
        rows = history_rows(
            measured.figures["human"],
            measured.figures["judge"],
            run_id=context.run.run_id,
            at=datetime.now(tz=UTC),
        )
        append_history(ledger, "agreement_history", list(rows))
        with transaction(connection):
            replace_rows(connection, "executive_summary", pd.DataFrame())
            copy_ledger(ledger, connection, "agreement_history")
        report = stored_report(connection, folder, evaluation, measured)
    if evaluation.executive_summary is not None:
        summary = written_summary(report.report, evaluation, folder, run_id=context.run.run_id)
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            with transaction(connection):
                replace_rows(connection, "executive_summary", pd.DataFrame([summary]))
                copy_ledger(ledger, connection, "judge_calls")
            report = stored_report(connection, folder, evaluation, measured)
    written = write_report(report, folder.out)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(report.report.version),
        metadata={
            **{
                path.suffix.removeprefix("."): dg.MetadataValue.path(str(path.resolve()))
                for path in written
            },
            "summary": dg.MetadataValue.md((folder.out / "report.md").read_text("utf-8")),
        },
    )


@dataclass(frozen=True, eq=False)
class StoredReport:
    """A report with the figures that it is complete of."""

    report: Report
    figures: StoredFigures


def write_report(complete: StoredReport, out: Path) -> tuple[Path, ...]:
    """Write the report in every format; return the files.

    Raises:
        StoreError: If a file cannot be written, or is a link, which may lead anywhere.
    """
    contents = {
        "report.html": report_page(complete.report),
        "report.md": report_markdown(complete.report),
        "report.json": report_json(complete, out / "report.html"),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            if (out / name).is_symlink():
                raise StoreError(f"{out / name}: is a link, which is not followed. Remove it.")
            (out / name).write_text(content, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{out}: cannot be written ({error.strerror}). Give access.") from error
    return tuple(out / name for name in contents)


def report_json(complete: StoredReport, page: Path) -> str:
    """Return the report as JSON, with the gates and certificates; undefined figures are null."""
    document = report_document(complete.report, path=str(page))
    labels_step = complete.report.screen.labels_step
    document["gates"] = [
        of.to_json(next_step=gate_step(of, labels_step)) for of in complete.figures.outcomes
    ]
    document["certificates"] = [
        {name: value for name, value in row.items() if name != "certificate"}
        for row in complete.figures.rows("judge_certificates")
    ]
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False, default=str) + "\n"


@dataclass(frozen=True)
class CurrentAgreement:
    """Agreement on the current data, with remarks on the labels."""

    figures: MeasuredAgreement
    findings: tuple[Finding, ...]


def stored_report(
    connection: duckdb.DuckDBPyConnection,
    folder: EvaluationFolder,
    evaluation: Evaluation,
    measured: CurrentAgreement,
) -> StoredReport:
    """Return the report on the current data.

    Args:
        connection: The database.
        folder: Folder whose ledger certificates are checked against.
        evaluation: The declared evaluation.
        measured: Agreement, as `measured_now` returns it.
    """
    sources = source_fingerprints(evaluation)
    stale = why_judges_are_stale(connection, evaluation, sources=sources)
    certificates = current_certificates(
        connection, evaluation, sources=sources, open_ledger=partial(folder.ledger, evaluation)
    )
    outcomes = stored_gate_outcomes(
        connection, evaluation, sources=sources, measured=measured.figures
    )
    figures = StoredFigures(
        evaluation=evaluation,
        outcomes=outcomes,
        stale=stale.get(JudgeHumanFigures.table, ""),
        findings=tuple((of.question_id, of.finding) for of in measured.findings),
        dependent_judges=tuple(
            of.text for of in dependences(evaluation, judged_models(connection))
        ),
        judges=measured.figures["judge"],
        leave_one_judge_out=read_figures(connection, LeaveOneJudgeOutFigures),
        rubric_versions=read_figures(connection, RubricVersionFigures),
        scores=read_figures(connection, ScoreFigures),
        tables={**read_report_tables(connection), "judge_certificates": certificates},
    )
    screen = stored_screen(connection, evaluation, certificates=certificates, notes=[])
    return StoredReport(report_of(screen, figures, made_at=datetime.now(tz=UTC)), figures)


def measured_now(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation) -> CurrentAgreement:
    """Return agreement on the current data; stale figures are measured again."""
    agreement = measured_agreement(connection)
    current = current_kinds(connection, evaluation, agreement)
    humans, judges, findings = agreement["human"], agreement["judge"], stored_findings(connection)
    if "human" not in current:
        check_imported(connection, "human_labels", evaluation.folder)
        measures = measure_humans(human_ratings(connection, evaluation), evaluation)
        humans, findings = measures.agreement, measures.findings
    if "judge" not in current:
        judges = measure_judges(judge_ratings(connection, evaluation), evaluation).agreement
    return CurrentAgreement({"human": humans, "judge": judges}, findings)


def history_rows(
    humans: Sequence[HumanFigures],
    judges: Sequence[JudgeFigures],
    *,
    run_id: str,
    at: datetime,
) -> Iterator[Mapping[str, object]]:
    """Yield a row of `agreement_history` for each question of a run, and one over all."""
    by_question = {row.question_id: row for row in judges}
    for row in humans:
        of_judges = by_question.get(row.question_id)
        versions = [row.data_version, *([of_judges.data_version] if of_judges else [])]
        yield {
            "run_id": run_id,
            "measured_at": at,
            "scope": row.scope.value,
            "question_id": row.question_id,
            "a_hh": or_none(row.a_hh.value),
            "alpha": or_none(row.alpha.value),
            "judge_alpha": or_none(of_judges.alpha.value) if of_judges else None,
            "data_version": " ".join(versions),
            "judge_set_fingerprint": of_judges.judge_set_fingerprint if of_judges else None,
        }
