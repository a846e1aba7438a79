"""Stored scores that the sealed tests of tuned judges use."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd

from eval_assets.agreement.drift import moved_judges
from eval_assets.config.evaluation import USUAL_MINIMUMS, GateName
from eval_assets.figures import HumanFigures
from eval_assets.scale import TOLERANCE
from eval_assets.store.drift import current_drift
from eval_assets.store.figures import read_figures
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.seals import JudgeLedger
from eval_assets.store.prompted import prompt_sources, prompted_scores
from eval_assets.store.scores import declared_fingerprints
from eval_assets.store.splits import (
    costs_of_prompts,
    models_returned,
    questions_where_people_agree,
)
from eval_assets.store.tables import read_table
from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.history import SealedEvaluation
from eval_assets.tuning.issued import CertificateRow, CurrentEvidence, certificate_rows
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import JURY, TunedJudge, VersionScores
from eval_assets.tuning.versions import JudgeVersion


def version_scores(
    connection: duckdb.DuckDBPyConnection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> VersionScores:
    """Return the stored scores of all versions of all judges on the rated units."""
    return VersionScores(units, prompted_scores(connection, units), JudgeLedger(ledger).versions())


def current_judges(
    connection: duckdb.DuckDBPyConnection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> list[TunedJudge]:
    """Return the versions that are tested now, with their scores of all rated units.

    Args:
        connection: The database, in which `tuned_judges` names them.
        ledger: The ledger.
        units: Rated units by question.
    """
    scores = version_scores(connection, ledger, units)
    readings = {question_id: JudgeLedger(ledger).readings(question_id) for question_id in units}
    versions = {(version.judge_id, version.version): version for version in scores.versions}
    tested = read_table(connection, "tuned_judges", order_by="judge_id")
    names = zip(tested["judge_id"], tested["version"], strict=True)
    current = [versions[name] for name in names if name in versions]
    current.sort(key=lambda version: version.judge_id == JURY)
    return [scores.judge(version, readings) for version in current]


def background_of(
    connection: duckdb.DuckDBPyConnection, question_id: str, *, margin: float, stand_in: bool
) -> Background:
    """Return what a certificate says of a question and its judges besides the test."""
    rows = read_figures(connection, HumanFigures, subjects=("question",))
    [columns] = [row.columns() for row in rows if row.question_id == question_id]
    figures = ("a_hh", "a_hh_low", "a_hh_high", "alpha", "alpha_low", "alpha_high")
    return Background(
        margin=margin,
        people_agree=question_id in questions_where_people_agree(connection),
        human_agreement={name: columns[name] for name in figures},
        cost_per_1000_usd=costs_of_prompts(connection),
        models_returned=models_returned(connection),
        lowered_minimums=_lowered_minimums(connection),
        stand_in=stand_in,
    )


def _lowered_minimums(connection: duckdb.DuckDBPyConnection) -> dict[GateName, float]:
    """Return the minimums of the last verdicts that are lower than usual."""
    rows = connection.execute(
        "SELECT gate, minimum FROM gate_verdicts WHERE question_id IS NULL"
    ).fetchall()
    return {gate: minimum for gate, minimum in rows if minimum < USUAL_MINIMUMS[gate] - TOLERANCE}


def versions_rated_as(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the version that each judge rates as: the declared one unless another is pinned."""
    rows = connection.execute(
        """SELECT judge_id, coalesce(judges.version, max_by(v.version, created_at))
           FROM judges
           JOIN (FROM judge_versions WHERE step = 'declared') AS v USING (judge_id)
           GROUP BY judge_id, judges.version"""
    ).fetchall()
    return dict(rows)


def unevaluated_tests(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return questions whose sealed test was not evaluated, with the reason.

    A reason that does not hold for all judges of a question names those that it holds for.
    """
    return connection.execute(
        """WITH tested AS (
               SELECT * FROM tuned_judge_evaluation WHERE stale_because IS NULL
           ), n_tested AS (
               SELECT question_id, count(DISTINCT judge_id) AS n FROM tested GROUP BY question_id
           ), unread AS (
               SELECT question_id, reason, count(DISTINCT judge_id) AS n,
                      string_agg(DISTINCT judge_id, ', ' ORDER BY judge_id) AS judges
               FROM tested
               WHERE verdict IN ('not_evaluated', 'not_evaluable') AND reading IS NULL
               GROUP BY question_id, reason
           )
           SELECT question_id, string_agg(
                      CASE WHEN unread.n < n_tested.n THEN judges || ': ' ELSE '' END || reason,
                      '; ' ORDER BY reason
                  ) AS reason
           FROM unread JOIN n_tested USING (question_id)
           GROUP BY question_id ORDER BY question_id"""
    ).df()


def edited_scores(
    connection: duckdb.DuckDBPyConnection, versions: Sequence[JudgeVersion], *, judge_id: str
) -> dict[str, str]:
    """Return where scores of a judge are not what its version makes of its replies, by question."""
    [rates_as] = connection.execute(
        "SELECT version FROM judges WHERE judge_id = ?", [judge_id]
    ).fetchall() or [(None,)]
    in_use = [v for v in versions if (v.judge_id, v.version) == (judge_id, *rates_as)]
    rows = connection.execute(
        """SELECT DISTINCT question_id, raw_score, score FROM judge_scores
           WHERE status = 'ok' AND judge_id = ? ORDER BY ALL""",
        [judge_id],
    ).fetchall()
    n_edited = Counter[str]()
    for question_id, raw, score in rows:
        scores = np.array([raw])
        [expected] = in_use[0].mapped(question_id, scores) if in_use else scores
        n_edited[question_id] += score is None or abs(score - expected) > TOLERANCE
    return {
        question_id: f"{n} distinct values of judge_scores.score differ from {judge_id}'s replies"
        for question_id, n in n_edited.items()
        if n
    }


def current_evidence(
    connection: duckdb.DuckDBPyConnection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> CurrentEvidence:
    """Return what certificates would rest on now."""
    return CurrentEvidence(
        version_scores(connection, ledger, units),
        declared=declared_fingerprints(connection),
        models_returned=models_returned(connection),
    )


def certificates_now(
    connection: duckdb.DuckDBPyConnection,
    ledger: SqlLedger,
    units: Mapping[str, RatedUnits],
    readings: Mapping[str, Sequence[SealedEvaluation]],
    *,
    open_questions: Collection[str],
) -> list[CertificateRow]:
    """Return rows of `judge_certificates` as they are now.

    Args:
        connection: The database.
        ledger: The ledger.
        units: Rated units of the questions that have readings.
        readings: All readings by question, in the rubric's order.
        open_questions: Questions that pass the gates.
    """
    sources = prompt_sources(connection) if units else frozenset[str]()
    evidence = current_evidence(connection, ledger, units)
    moved = moved_judges(current_drift(connection))
    return [
        row
        for question_id, of_question in readings.items()
        for row in certificate_rows(
            of_question,
            evidence.fingerprints,
            today=datetime.now(tz=UTC),
            sources=sources,
            moved=moved,
            left_out=""
            if question_id in open_questions
            else "the question no longer passes the gates",
        )
    ]
