"""The asset of the report."""

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import dagster as dg
import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.assets.agreement import judge_human_agreement
from eval_assets.assets.checks import dependences
from eval_assets.assets.labelling import label_quality
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.stored_screen import gate_steps, stored_screen
from eval_assets.assets.summarizing import written_summary
from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import StoreError
from eval_assets.figures import (
    LeaveOneJudgeOutFigures,
    RubricVersionFigures,
    ScoreFigures,
)
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.shown.html import report_page
from eval_assets.shown.markdown import report_markdown
from eval_assets.shown.report import Report, report_of
from eval_assets.shown.screen_json import report_document
from eval_assets.shown.stored import StoredFigures
from eval_assets.store.connection import transaction
from eval_assets.store.figures import read_figures
from eval_assets.store.gates import (
    measured_agreement,
    stored_findings,
    stored_gate_outcomes,
    why_judges_are_stale,
)
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import append_history
from eval_assets.store.schema import replace_rows
from eval_assets.store.scores import judged_models
from eval_assets.store.summaries import agreement_rows, read_report_tables
from eval_assets.store.tuned_judges import current_certificates


# Not downstream of the gated assets, on purpose: a closed gate would hold back the page that
# says why it is closed.
@asset(
    group="reports",
    kinds={"html", "markdown", "json"},
    deps=[judge_human_agreement, "combined_scores", "score_summary", label_quality],
    shows=["judge_certificates"],
)
def agreement_report(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> dg.MaterializeResult[None]:
    """Figures and verdicts of the gates, as HTML, Markdown and JSON; keeps them as history."""
    evaluation = folder.evaluation()
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        of_run = {"run_id": context.run.run_id, "measured_at": datetime.now(tz=UTC)}
        rows = [of_run | row for row in agreement_rows(connection)]
        append_history(ledger, "agreement_history", rows)
        with transaction(connection):
            replace_rows(connection, "executive_summary", pd.DataFrame())
            copy_ledger(ledger, connection, "agreement_history")
        report, figures = stored_report(connection, folder, evaluation)
    if evaluation.executive_summary is not None:
        summary = written_summary(report, evaluation, folder, run_id=context.run.run_id)
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            with transaction(connection):
                replace_rows(connection, "executive_summary", pd.DataFrame([summary]))
                copy_ledger(ledger, connection, "judge_calls")
            report, figures = stored_report(connection, folder, evaluation)
    written = write_report(report, figures, folder.out)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(report.version),
        metadata={
            **{
                path.suffix.removeprefix("."): dg.MetadataValue.path(str(path.resolve()))
                for path in written
            },
            "summary": dg.MetadataValue.md((folder.out / "report.md").read_text("utf-8")),
        },
    )


def write_report(report: Report, figures: StoredFigures, out: Path) -> tuple[Path, ...]:
    """Write the report in every format; return the files.

    Raises:
        StoreError: If a file cannot be written, or is a link, which may lead anywhere.
    """
    contents = {
        "report.html": report_page(report),
        "report.md": report_markdown(report),
        "report.json": report_json(report, figures, out / "report.html"),
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


def report_json(report: Report, figures: StoredFigures, page: Path) -> str:
    """Return the report as JSON, with the gates and certificates; undefined figures are null."""
    document = report_document(report, path=str(page))
    document["gates"] = [
        of.to_json(next_step=figures.gate_steps.get(of.gate, "")) for of in figures.outcomes
    ]
    document["certificates"] = [
        {name: value for name, value in row.items() if name != "certificate"}
        for row in figures.rows("judge_certificates")
    ]
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False, default=str) + "\n"


def stored_report(
    connection: Connection,
    folder: EvaluationFolder,
    evaluation: Evaluation,
) -> tuple[Report, StoredFigures]:
    """Return the report on the stored figures, with these."""
    sources = source_fingerprints(evaluation)
    certificates = current_certificates(
        connection, evaluation, sources=sources, open_ledger=partial(folder.ledger, evaluation)
    )
    outcomes = stored_gate_outcomes(connection, evaluation, sources=sources)
    figures = StoredFigures(
        evaluation=evaluation,
        outcomes=outcomes,
        gate_steps=gate_steps(connection, evaluation, outcomes),
        stale=why_judges_are_stale(connection, evaluation, sources=sources),
        findings=tuple((of.question_id, of.finding) for of in stored_findings(connection)),
        dependent_judges=tuple(dependences(evaluation, judged_models(connection))),
        judges=measured_agreement(connection)["judge"],
        leave_one_judge_out=read_figures(connection, LeaveOneJudgeOutFigures),
        rubric_versions=read_figures(connection, RubricVersionFigures),
        scores=read_figures(connection, ScoreFigures),
        tables={**read_report_tables(connection), "judge_certificates": certificates},
    )
    screen = stored_screen(connection, evaluation, outcomes=outcomes, certificates=certificates)
    return report_of(screen, figures, made_at=datetime.now(tz=UTC)), figures
