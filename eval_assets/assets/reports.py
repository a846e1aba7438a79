"""The report for people: figures and verdicts of the gates."""

from datetime import UTC, datetime

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.agreement import measure_humans, measure_judges
from eval_assets.assets.agreement import (
    combined_scores,
    judge_human_agreement,
    score_summary,
)
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
)
from eval_assets.evaluation import Evaluation
from eval_assets.gates import tunable_questions
from eval_assets.readers import source_fingerprints
from eval_assets.report import ReportData, render_html, render_markdown
from eval_assets.store import (
    count_rows,
    human_ratings,
    is_current,
    judge_gates,
    judge_ratings,
    read_table,
    status_counts,
    worst_disagreements,
)


# Not downstream of the gated assets, on purpose: a closed gate would hold back the page that
# says why it is closed. If their figures are stale, the report measures again.
@dg.asset(
    group_name="reports",
    kinds={"html", "markdown"},
    deps=[judge_human_agreement, combined_scores, score_summary],
)
def agreement_report(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Figures and verdicts of the gates, as HTML and Markdown."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            data = report_data(connection, evaluation)
        folder.out.mkdir(parents=True, exist_ok=True)
        html, markdown = folder.out / "report.html", folder.out / "report.md"
        html.write_text(render_html(data), encoding="utf-8")
        summary = render_markdown(data)
        markdown.write_text(summary, encoding="utf-8")
    return dg.MaterializeResult(
        metadata={
            "report": dg.MetadataValue.path(str(html.resolve())),
            "markdown": dg.MetadataValue.path(str(markdown.resolve())),
            "summary": dg.MetadataValue.md(summary),
        }
    )


def report_data(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation) -> ReportData:
    """Return everything that the report shows, on the data as it is now."""
    if is_current(connection, evaluation, "human"):
        humans = read_table(connection, "human_agreement")
        findings = read_table(connection, "label_findings")
    else:
        measures = measure_humans(human_ratings(connection, evaluation), evaluation)
        humans = measures.agreement
        findings = pd.DataFrame(measures.findings, columns=["question_id", "kind", "finding"])
    judges = (
        read_table(connection, "judge_agreement")
        if is_current(connection, evaluation, "judge")
        else measure_judges(judge_ratings(connection, evaluation), evaluation)
    )
    outcomes = judge_gates(
        connection,
        evaluation,
        sources=source_fingerprints(evaluation),
        measures={"human_agreement": humans, "judge_agreement": judges},
    )
    overall = humans.iloc[0]
    return ReportData(
        evaluation=evaluation,
        gates=outcomes,
        tunable=tunable_questions(outcomes, tuple(q.id for q in evaluation.rubric)),
        n_responses=count_rows(connection, "responses"),
        n_labels=int(overall["n_ratings"]),
        n_raters=int(overall["n_raters"]),
        human_agreement=humans,
        judge_agreement=judges[judges["scope"] != "response"],
        judge_human_agreement=read_table(connection, "judge_human_agreement"),
        judge_confusion=read_table(connection, "judge_confusion"),
        judge_statuses=status_counts(connection),
        label_findings=findings,
        label_disagreements=worst_disagreements(connection, most=20),
        n_disagreements=count_rows(connection, "label_disagreements"),
        score_summary=read_table(connection, "score_summary"),
        generated_at=datetime.now(tz=UTC),
    )
