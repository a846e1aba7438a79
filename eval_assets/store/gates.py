"""Figures for the gates, and their stored verdicts."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.gates.decision import GateOutcome, run_again
from eval_assets.agreement.gates.evidence import (
    MeasuredAgreement,
    gate_outcomes,
    measures_version,
    why_unusable,
)
from eval_assets.agreement.humans import Finding
from eval_assets.config.evaluation import Evaluation
from eval_assets.figures import (
    FigureRecord,
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    RaterKind,
)
from eval_assets.store.connection import transaction
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.figures import is_as_measured, read_figures
from eval_assets.store.inputs import are_stored_questions, are_stored_scales, changed_tables
from eval_assets.store.schema import replace_rows, rows_of
from eval_assets.store.scores import are_stored_judges
from eval_assets.store.summaries import withdraw_stand_in_scores
from eval_assets.verdicts import GateResult
from eval_assets.wording import listed, or_none

_EVIDENCE = {"human_labels", "judge_scores", "responses"}
"""Tables that certificates rest on."""


def stored_gate_outcomes(
    connection: Connection,
    evaluation: Evaluation,
    *,
    sources: Mapping[str, str],
) -> tuple[GateOutcome, ...]:
    """Decide every applicable gate on the stored figures, by the declared minimums.

    `sources` are fingerprints of the files of tables as they are now.
    """
    changed = changed_tables(connection, sources)
    if not are_stored_scales(connection, evaluation.rubric):  # labels were read by other questions
        changed = (*changed, "rubric_questions")
    records: dict[RaterKind, type[FigureRecord]] = {"human": HumanFigures, "judge": JudgeFigures}
    return gate_outcomes(
        evaluation,
        measured=measured_agreement(connection),
        versions=rating_versions(connection),
        changed=changed,
        edited=[kind for kind, rows in records.items() if not is_as_measured(connection, rows)],
    )


def why_judges_are_stale(
    connection: Connection, evaluation: Evaluation, *, sources: Mapping[str, str]
) -> str:
    """Return why the figures of judges beside people are older than the data; empty if not."""
    [(version,)] = connection.execute(
        f"SELECT any_value(data_version) FROM {JudgeHumanFigures.table}"  # noqa: S608 - our own
    ).fetchall()
    unusable = version and why_unusable(
        version=version,
        current=" ".join(rating_versions(connection).values()),
        changed=changed_tables(connection, sources),
        folder=evaluation.folder,
    )
    return unusable.sentence(JudgeHumanFigures.table) if unusable else ""


def why_certificates_are_stale(
    connection: Connection,
    evaluation: Evaluation,
    outcomes: Iterable[GateOutcome],
    *,
    sources: Mapping[str, str],
) -> str:
    """Return which inputs of certificates changed, and the remedy; empty if none did.

    The inputs are judges, files, questions, ratings and minimums of gates, here `outcomes`.
    """
    changed = [table for table in changed_tables(connection, sources) if table in _EVIDENCE]
    [(is_evaluated, of_splits)] = connection.execute(
        """SELECT EXISTS (FROM judge_certificates),
                  (SELECT any_value(data_version) FROM judge_splits)"""
    ).fetchall()
    version = rating_versions(connection)["human"]
    if is_evaluated and not are_stored_judges(connection, evaluation.judges):
        subject = "the declared judges"
    elif changed:
        subject = f"the files of {listed(changed)}"
    elif not is_evaluated:
        return ""
    elif not are_stored_questions(connection, evaluation.rubric):
        subject = "the questions"
    elif of_splits != measures_version(evaluation, "human", data_version=version):
        subject = "the ratings or scales"
    elif not _decide_as_stored(connection, outcomes):
        subject = "the verdicts of the gates"
    else:
        return ""
    return f"{subject} changed since the last full run. {run_again(evaluation.folder)}"


def unread_scores(
    connection: Connection, evaluation: Evaluation, sources: Mapping[str, str]
) -> str:
    """Return why judges cannot be tuned on the stored scores; empty if they can.

    Gates on people do not depend on scores, and the gate on judges may only warn.
    """
    if "judge_scores" not in changed_tables(connection, sources):
        return ""
    run = run_again(evaluation.folder)
    return f"The files of judge_scores changed since they were read. {run}"


def _decide_as_stored(connection: Connection, outcomes: Iterable[GateOutcome]) -> bool:
    """Return whether gates are closed for the same questions as in the last run."""
    verdicts = connection.execute(
        "SELECT gate, question_id, is_closed FROM gate_verdicts"
    ).fetchall()
    names = ("gate", "question_id", "is_closed")
    return set(verdicts) == {tuple(row[name] for name in names) for row in _verdict_rows(outcomes)}


def measured_agreement(connection: Connection) -> MeasuredAgreement:
    """Return stored agreement of humans and of judges, overall and by question."""
    subjects = ("overall", "question")
    return {
        "human": read_figures(connection, HumanFigures, subjects=subjects),
        "judge": read_figures(connection, JudgeFigures, subjects=subjects),
    }


def stored_findings(connection: Connection) -> tuple[Finding, ...]:
    """Return the stored remarks on the labels, among them what stands out in a rater's."""
    rows = connection.execute(
        """
        SELECT question_id, finding FROM label_findings
        UNION ALL
        SELECT question_id, rtrim(advice, '.') FROM label_quality
        WHERE advice <> '' AND measure IN
            ('most_frequent_share', 'severity', 'opposite_ends', 'identical_share')
        """
    ).fetchall()
    return tuple(Finding(*row) for row in rows)


def write_gate_verdicts(connection: Connection, outcomes: Iterable[GateOutcome]) -> None:
    """Replace `gate_verdicts` by the verdicts of all gates that apply, in a transaction.

    A row of a question is closed if the gate leaves that question out of tuning. While a gate is
    closed, `stale_because` of the rows behind it names it.
    """
    outcomes = tuple(outcomes)
    rows = _verdict_rows(outcomes)
    stored_rows = connection.execute("SELECT * EXCLUDE (evaluated_at) FROM gate_verdicts")
    if rows_of(stored_rows) == rows:
        return
    import pandas as pd

    closed = [f"{outcome.gate}: {outcome.reason}" for outcome in outcomes if outcome.is_closed]
    frame = pd.DataFrame(rows, dtype=object).assign(evaluated_at=datetime.now(tz=UTC))
    with transaction(connection):
        replace_rows(connection, "gate_verdicts", frame)
        tables = connection.execute(
            """SELECT table_name FROM duckdb_columns()
               WHERE database_name = current_database() AND schema_name = current_schema()
                 AND column_name = 'is_gated'
               ORDER BY table_name"""
        ).fetchall()
        for (table,) in tables:  # other reasons stay as they are
            connection.execute(
                f"""UPDATE "{table}" SET stale_because = $because, is_gated = $because IS NOT NULL
                    WHERE stale_because IS DISTINCT FROM $because
                      AND (stale_because IS NULL OR is_gated)""",  # noqa: S608 - our own tables
                {"because": f"gate closed: {'; '.join(closed)}" if closed else None},
            )
        if closed:
            withdraw_stand_in_scores(connection)


def _verdict_rows(outcomes: Iterable[GateOutcome]) -> list[dict[str, object]]:
    return [
        {
            "gate": verdict.gate,
            "question_id": verdict.question_id,
            "value": or_none(verdict.value),
            "low": or_none(verdict.low),
            "high": or_none(verdict.high),
            "minimum": verdict.minimum,
            "verdict": verdict.verdict.value,
            "state": verdict.state.value,
            "is_closed": outcome.is_closed
            or (outcome.severity == "error" and verdict.verdict is not GateResult.PASS),
            "reason": outcome.reason if verdict is outcome.overall else verdict.reason,
            "severity": outcome.severity,
            "data_version": outcome.data_version,
        }
        for outcome in outcomes
        for verdict in (outcome.overall, *outcome.questions)
    ]
