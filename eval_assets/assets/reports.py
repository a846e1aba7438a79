"""The report for people: figures and verdicts of the gates."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.agreement import history_rows, measure_humans, measure_judges
from eval_assets.assets.agreement import (
    combined_scores,
    judge_human_agreement,
    score_summary,
)
from eval_assets.assets.checks import dependences
from eval_assets.assets.labelling import label_quality
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    version_of,
)
from eval_assets.assets.summarizing import written_summary
from eval_assets.evaluation import Evaluation
from eval_assets.gates import tunable_questions
from eval_assets.readers import source_fingerprints
from eval_assets.report import ReportData, render_html, render_json, render_markdown
from eval_assets.store import (
    StoreError,
    append_history,
    copy_ledger,
    current_kinds,
    human_ratings,
    judge_gates,
    judge_ratings,
    judged_models,
    read_report_tables,
    read_table,
    replace_rows,
    transaction,
)


# Not downstream of the gated assets, on purpose: a closed gate would hold back the page that
# says why it is closed. If their figures are stale, the report measures again.
@dg.asset(
    group_name="reports",
    kinds={"html", "markdown", "json"},
    deps=[judge_human_agreement, combined_scores, score_summary, label_quality],
)
def agreement_report(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> dg.MaterializeResult[None]:
    """Figures and verdicts of the gates, as HTML, Markdown and JSON; keeps them as history."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            measured = measured_now(connection, evaluation)
            humans, judges = measured["human_agreement"], measured["judge_agreement"]
            now = datetime.now(tz=UTC)
            rows = history_rows(humans, judges, run_id=context.run.run_id, at=now)
            append_history(ledger, "agreement_history", rows)
            with transaction(connection):
                replace_rows(connection, "executive_summary", pd.DataFrame())
                copy_ledger(ledger, connection)
            data = report_data(connection, evaluation, measured)
        if evaluation.executive_summary is not None:
            summary = written_summary(data, folder, run_id=context.run.run_id)
            with folder.connect() as connection, folder.ledger(evaluation) as ledger:
                with transaction(connection):
                    replace_rows(connection, "executive_summary", pd.DataFrame([summary]))
                    copy_ledger(ledger, connection)
                data = report_data(connection, evaluation, measured)
        written = write_report(data, folder.out)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version_of(render_markdown(_timeless(data)))),
        metadata={
            **{
                path.suffix.removeprefix("."): dg.MetadataValue.path(str(path.resolve()))
                for path in written
            },
            "summary": dg.MetadataValue.md(render_markdown(data)),
        },
    )


def write_report(data: ReportData, out: Path) -> tuple[Path, ...]:
    """Write the report in every format; return the files.

    Raises:
        StoreError: If a file cannot be written, or is a link, which may lead anywhere.
    """
    contents = {
        "report.html": render_html(data),
        "report.md": render_markdown(data),
        "report.json": render_json(data),
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


def report_data(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    measured: Mapping[str, pd.DataFrame],
) -> ReportData:
    """Return everything that the report shows, on the data as it is now.

    Args:
        connection: The database.
        evaluation: The evaluation as declared now.
        measured: Agreement, as `measured_now` returns it.
    """
    outcomes = judge_gates(
        connection,
        evaluation,
        sources=source_fingerprints(evaluation),
        measures={gate: measured[gate] for gate in ("human_agreement", "judge_agreement")},
    )
    tables, sizes = read_report_tables(connection)
    dependent = [f.text for f in dependences(evaluation, judged_models(connection))]
    return ReportData(
        evaluation=evaluation,
        gates=outcomes,
        tunable=tunable_questions(outcomes, tuple(q.id for q in evaluation.rubric)),
        tables={**tables, **measured, "dependent_judges": pd.DataFrame({"finding": dependent})},
        sizes=sizes,
        generated_at=datetime.now(tz=UTC),
    )


def _timeless(data: ReportData) -> ReportData:
    """Return the report's data without its time and without earlier runs."""
    past = {name: rows.head(0) for name, rows in data.tables.items() if name == "agreement_history"}
    return replace(
        data, generated_at=datetime.min.replace(tzinfo=UTC), tables={**data.tables, **past}
    )


def measured_now(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, pd.DataFrame]:
    """Return the agreement of people and of judges on the data as they are now, by table."""
    current = current_kinds(connection, evaluation)
    if "human" in current:
        humans = read_table(connection, "human_agreement")
        findings = read_table(connection, "label_findings")
    else:
        measures = measure_humans(human_ratings(connection, evaluation), evaluation)
        humans = measures.agreement
        findings = pd.DataFrame(measures.findings, columns=["question_id", "kind", "finding"])
    judges = (
        read_table(connection, "judge_agreement")
        if "judge" in current
        else measure_judges(judge_ratings(connection, evaluation), evaluation)
    )
    return {
        "human_agreement": humans,
        "label_findings": findings,
        "judge_agreement": judges[judges["scope"] != "response"],
    }
