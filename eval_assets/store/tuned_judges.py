"""Stored scores that the sealed tests of tuned judges use."""

from collections.abc import Mapping, Sequence

import duckdb
import numpy as np
import pandas as pd

from eval_assets.config.evaluation import USUAL_MINIMUMS, GateName
from eval_assets.figures import HumanFigures
from eval_assets.scale import TOLERANCE
from eval_assets.store.figures import read_figures
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.seals import JudgeLedger
from eval_assets.store.prompted import prompted_scores
from eval_assets.store.scores import declared_fingerprints
from eval_assets.store.splits import (
    costs_of_prompts,
    models_returned,
    questions_where_people_agree,
)
from eval_assets.store.tables import read_rows, read_table
from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.issued import CurrentEvidence
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
    connection: duckdb.DuckDBPyConnection, versions: Sequence[JudgeVersion]
) -> list[str]:
    """Return a line for each judge whose scores are not what its version makes of its replies."""
    rates_as = {
        row["judge_id"]: row["version"]
        for row in read_rows(connection, "judges", order_by="judge_id")
    }
    in_use = {v.judge_id: v for v in versions if v.version == rates_as.get(v.judge_id)}
    rows = connection.execute(
        """SELECT DISTINCT judge_id, question_id, raw_score, score FROM judge_scores
           WHERE status = 'ok' ORDER BY ALL"""
    ).fetchall()
    edited: dict[tuple[str, str], int] = {}
    for judge_id, question_id, raw, score in rows:
        version = in_use.get(judge_id)
        scores = np.array([raw])
        [expected] = scores if version is None else version.mapped(question_id, scores)
        if score is None or abs(score - expected) > TOLERANCE:
            unit = judge_id, question_id
            edited[unit] = edited.get(unit, 0) + 1
    return [
        f"{question_id}: {n} distinct values of judge_scores.score differ from {judge_id}'s replies"
        for (judge_id, question_id), n in edited.items()
    ]


def current_evidence(
    connection: duckdb.DuckDBPyConnection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> CurrentEvidence:
    """Return what certificates would rest on now."""
    return CurrentEvidence(
        version_scores(connection, ledger, units),
        declared=declared_fingerprints(connection),
        models_returned=models_returned(connection),
    )
