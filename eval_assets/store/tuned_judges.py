"""Stored scores of tuned judges and certified parts, and sources of prompts and tests."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.drift import moved_judges
from eval_assets.agreement.gates.decision import tunable_questions
from eval_assets.config.evaluation import USUAL_MINIMUMS, Evaluation, GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import Tuning
from eval_assets.figures import HumanFigures
from eval_assets.scale import TOLERANCE
from eval_assets.store.figures import read_figures
from eval_assets.store.gates import stored_gate_outcomes, why_certificates_are_stale
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.store.schema import count_rows, insert_rows, read_table
from eval_assets.store.scores import current_drift, declared_fingerprints, versions_rated_as
from eval_assets.store.splits import (
    costs_of_prompts,
    models_returned,
    questions_where_people_agree,
    tuning_units,
    why_not_held_out,
)
from eval_assets.store.summaries import (
    forget_parts,
    withdraw_stand_in_scores,
    write_score_summary,
)
from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.issued import (
    CertificateRow,
    CertifiedPart,
    CurrentEvidence,
    certificate_rows,
)
from eval_assets.tuning.partial_automation import doubts_by_source
from eval_assets.tuning.prompt_steps import Notes
from eval_assets.tuning.rated import Floats, RatedUnits, agreement_level
from eval_assets.tuning.steps import JURY, PromptedScores, TunedJudge, VersionScores
from eval_assets.tuning.versions import JudgeVersion
from eval_assets.verdicts import state_of_test


def version_scores(
    connection: Connection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> VersionScores:
    """Return the stored scores of all versions of all judges on the rated units."""
    scores = scores_by_prompt(connection.execute("FROM tuned_judge_scores").df(), units)
    return VersionScores(units, scores, JudgeLedger(ledger).versions())


def current_judges(
    connection: Connection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> list[TunedJudge]:
    """Return the versions that are tested now, with their scores of all rated units."""
    scores = version_scores(connection, ledger, units)
    evaluations = {
        question_id: JudgeLedger(ledger).evaluations(question_id) for question_id in units
    }
    versions = {(version.judge_id, version.version): version for version in scores.versions}
    tested = read_table(connection, "tuned_judges", order_by="judge_id")
    names = zip(tested["judge_id"], tested["version"], strict=True)
    current = [versions[name] for name in names if name in versions]
    current.sort(key=lambda version: version.judge_id == JURY)
    return [scores.judge(version, evaluations) for version in current]


def background_of(connection: Connection, question_id: str, tuning: Tuning) -> Background:
    """Return the content of a certificate on its question and judges, except the test."""
    biases = connection.execute(
        """SELECT judge_id, value, relative FROM judge_bias
           WHERE attribute = 'system' AND is_named AND question_id = ?""",
        [question_id],
    ).fetchall()
    # The systems that a judge rates differently at equal quality.
    favoured: dict[str, dict[str, float]] = {}
    for judge_id, system, relative in biases:
        favoured.setdefault(judge_id, {})[system] = relative
    rows = read_figures(connection, HumanFigures, subjects=("question",))
    [columns] = [row.columns() for row in rows if row.question_id == question_id]
    figures = ("a_hh", "a_hh_low", "a_hh_high", "alpha", "alpha_low", "alpha_high")
    return Background(
        margin=tuning.margin,
        people_agree=question_id in questions_where_people_agree(connection),
        human_agreement={name: columns[name] for name in figures},
        cost_per_1000_usd=costs_of_prompts(connection),
        models_returned=models_returned(connection),
        lowered_minimums=_lowered_minimums(connection),
        stand_in=tuning.stand_in,
        not_held_out=why_not_held_out(connection, tuning),
        favoured=favoured,
    )


def _lowered_minimums(connection: Connection) -> dict[GateName, float]:
    rows = connection.execute(
        "SELECT gate, minimum FROM gate_verdicts WHERE question_id IS NULL"
    ).fetchall()
    return {
        gate: minimum
        for gate, minimum in rows
        if minimum < USUAL_MINIMUMS.get(gate, minimum) - TOLERANCE
    }


@dataclass(frozen=True, eq=False)
class CheckedCertificates:
    """Certificates that were checked against the present evidence.

    `evaluations` are all in the ledger, by question; `rows` those of `judge_certificates` now.
    """

    evaluations: Mapping[str, Sequence[HeldOutEvaluation]]
    scores: VersionScores
    rows: Sequence[CertificateRow]


def checked_certificates(
    connection: Connection,
    ledger: SqlLedger,
    evaluation: Evaluation,
    *,
    sources: Mapping[str, str],
) -> CheckedCertificates:
    """Check the certificates of all evaluations against the present evidence.

    This decides their validity for every command, table and page. `sources` are fingerprints of the
    files of tables as they are now.
    """
    outcomes = stored_gate_outcomes(connection, evaluation, sources=sources)
    open_questions = tunable_questions(outcomes, [question.id for question in evaluation.rubric])
    evaluations = {q.id: JudgeLedger(ledger).evaluations(q.id) for q in evaluation.rubric}
    units = tuning_units(
        connection,
        [question for question in evaluation.rubric if evaluations[question.id]],
        shares=evaluation.tuning.split,
        texts=has_prompts(ledger),
    )
    candidates = (v for result in evaluations.values() for r in result for v in r.candidates)
    has_sources = any(version.sources for version in candidates)
    of_prompts = prompt_sources(connection) if has_sources else frozenset[str]()
    scores = version_scores(connection, ledger, units)
    evidence = CurrentEvidence(
        scores,
        declared=declared_fingerprints(connection),
        models_returned=models_returned(connection),
    )
    drifted = moved_judges(current_drift(connection))
    not_held_out = why_not_held_out(connection, evaluation.tuning)
    rows = [
        row
        for question_id, of_question in evaluations.items()
        for row in certificate_rows(
            of_question,
            evidence.fingerprints,
            today=datetime.now(tz=UTC),
            sources=of_prompts,
            drifted=drifted,
            excluded=not_held_out
            if question_id in open_questions
            else "the question no longer passes the gates",
            margin=evaluation.tuning.margin,
        )
    ]
    if rows and (
        reason := why_certificates_are_stale(connection, evaluation, outcomes, sources=sources)
    ):
        rows = [replace(row, stale_because=reason) for row in rows]
    return CheckedCertificates(evaluations, scores, rows)


def current_certificates(
    connection: Connection,
    evaluation: Evaluation,
    *,
    sources: Mapping[str, str],
    open_ledger: Callable[[], AbstractContextManager[SqlLedger]],
) -> list[dict[str, Any]]:
    """Return the rows of `judge_certificates` as they are now; none before a test was evaluated."""
    if not count_rows(connection, "test_set_uses"):
        return []
    with open_ledger() as ledger:
        checked = checked_certificates(connection, ledger, evaluation, sources=sources)
    return certificate_table(checked.rows, agreed=questions_where_people_agree(connection))


def evaluation_table(
    rows: Sequence[Mapping[str, object]], *, agreed: Collection[str]
) -> list[dict[str, object]]:
    """Return verdicts of held-out tests as the table has them: with the state of each.

    A version that tuning did not change has the state of the one before, whose scores it gives.
    `agreed` are the questions on which people agree.
    """
    keys = ("judge_id", "version", "question_id")
    fitness = {
        tuple(row[key] for key in keys): row["verdict"] for row in rows if row["kind"] == "fitness"
    }
    records: list[dict[str, object]] = []
    for row in rows:
        verdict = row["verdict"]
        if verdict == "unchanged":
            verdict = fitness.get(tuple(row[key] for key in keys))
        has_pairs = bool(row.get("n_units")) and row["question_id"] in agreed
        state = state_of_test(str(verdict), has_pairs=has_pairs).value
        records.append({**row, "state": state})
    return records


def certificate_table(
    rows: Sequence[CertificateRow], *, agreed: Collection[str]
) -> list[dict[str, Any]]:
    """Return certificate rows as the table has them: certificates as JSON text, with the state."""
    return [
        {
            **vars(row),
            "state": state_of_test(
                row.claim if row.claim == "fit_in_part" else row.fitness,
                has_pairs=bool(row.n_groups) and row.question_id in agreed,
            ).value,
            "certificate": row.certificate and json.dumps(row.certificate.as_json()),
        }
        for row in sorted(rows, key=lambda row: (row.judge_id, row.question_id))
    ]


def scores_by_prompt(tuned_scores: pd.DataFrame, units: Mapping[str, RatedUnits]) -> PromptedScores:
    """Return rows of `tuned_judge_scores` by judge and prompt, for the rated units."""
    if tuned_scores.empty:
        return {}
    tuned_scores = tuned_scores[tuned_scores["status"] == "ok"]
    result: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for (judge_id, prompt_hash), rows in tuned_scores.groupby(["judge_id", "prompt_hash"]):
        of_judge = result.setdefault((str(judge_id), str(prompt_hash)), {})
        for question_id, rated in units.items():
            by_response = rows[rows["question_id"] == question_id].set_index("response_id")["score"]
            of_judge[question_id] = by_response.reindex(list(rated.response_ids)).to_numpy(
                np.float64
            )
    return result


def has_prompts(ledger: SqlLedger) -> bool:
    """Return whether any version of a judge has a prompt, as none of a recorded judge has."""
    return any(version.prompt_text for version in JudgeLedger(ledger).versions())


def rater_notes(connection: Connection, question_id: str) -> Notes:
    """Return notes of raters and reasons of adjudications on responses, for one question."""
    rows = connection.execute(
        f"SELECT response_id, source, text FROM ({_REMARKS_SQL}) WHERE question_id = $question",  # noqa: S608 - a constant of ours
        {"question": question_id},
    ).fetchall()
    notes: dict[str, dict[str, str]] = {}
    for response_id, source, text in rows:
        notes.setdefault(response_id, {})[source] = text
    return notes


def prompt_sources(connection: Connection) -> frozenset[str]:
    """Return the ids of everything that prompts are made from and that is not withdrawn.

    These are rated answers, raters' notes and the reasons of adjudications.
    """
    rows = connection.execute(
        f"""SELECT source FROM ({_REMARKS_SQL})
            UNION SELECT response_id FROM human_labels
            UNION SELECT response_id FROM adjudicated_labels"""  # noqa: S608 - as above
    ).fetchall()
    return frozenset(source for (source,) in rows)


_REMARKS_SQL = """
    SELECT response_id, question_id, response_id || '/' || rater_id AS source, notes AS text
    FROM human_labels WHERE trim(coalesce(notes, '')) <> ''
    UNION ALL
    SELECT response_id, question_id, response_id || '/adjudication',
           'Settled at ' || value || ': ' || reason
    FROM adjudicated_labels WHERE NOT excluded AND trim(reason) <> ''
"""


def write_stand_in_scores(
    connection: Connection,
    parts: Sequence[CertifiedPart],
    rubric: Sequence[RubricQuestion],
) -> None:
    """Replace `stand_in_scores` and dependent tables; call it within a transaction.

    These are `judge_scores.needs_person` and the combined scores of `score_summary`.
    Of several judges with a certified part of a question, the one with the largest is used.
    """
    if not parts:
        withdraw_stand_in_scores(connection)
        return
    forget_parts(connection)
    questions = {question.id: question for question in rubric}
    question_ids: set[str] = set()
    for item in sorted(parts, key=lambda item: (-item.share, item.version.judge_id)):
        rows = _rows(connection, item, questions[item.question_id])
        if rows is not None:
            is_used = item.question_id not in question_ids
            question_ids.add(item.question_id)
            insert_rows(connection, "stand_in_scores", rows.assign(is_used=is_used))
    connection.execute(
        """
        UPDATE judge_scores SET needs_person = s.needs_person FROM stand_in_scores AS s
        WHERE judge_scores.response_id = s.response_id
          AND judge_scores.question_id = s.question_id AND judge_scores.judge_id = s.judge_id
        """
    )
    write_score_summary(connection)


def covered_units(connection: Connection) -> dict[str, frozenset[str]]:
    """Return the responses that a certified judge scores, by question with a certified part."""
    rows = connection.execute(
        """
        SELECT question_id, coalesce(list(response_id) FILTER (NOT needs_person), [])
        FROM stand_in_scores WHERE is_used AND stale_because IS NULL GROUP BY question_id
        """
    ).fetchall()
    return {str(question_id): frozenset(responses) for question_id, responses in rows}


def units_of_fit_judges(connection: Connection) -> dict[str, frozenset[str]]:
    """Return the responses that a judge scored which is certified for all of them, by question.

    It counts if it rates as the certified version.
    """
    in_use = list(versions_rated_as(connection).items())
    rows = connection.execute(
        """
        SELECT question_id, list(DISTINCT response_id)
        FROM judge_certificates JOIN judge_scores USING (judge_id, question_id)
        WHERE fitness = 'fit' AND stale_because IS NULL AND status = 'ok'
          AND list_contains($in_use, [judge_id, judge_certificates.version])
        GROUP BY question_id
        """,
        {"in_use": [list(item) for item in in_use]},
    ).fetchall()
    return {str(question_id): frozenset(responses) for question_id, responses in rows}


def units_with_every_score(connection: Connection) -> dict[str, frozenset[str]]:
    """Return the responses with a score of every judge that is asked about them, by question."""
    rows = connection.execute(
        """
        SELECT question_id, list(response_id) FROM (
            SELECT question_id, response_id
            FROM judge_scores SEMI JOIN (FROM judges WHERE NOT is_backup) USING (judge_id)
            WHERE status = 'ok' GROUP BY ALL
            HAVING count(*) = (SELECT count(*) FROM judges WHERE NOT is_backup)
        ) GROUP BY question_id
        """
    ).fetchall()
    return {str(question_id): frozenset(responses) for question_id, responses in rows}


def _rows(
    connection: Connection, item: CertifiedPart, question: RubricQuestion
) -> pd.DataFrame | None:
    """Return scores on a part; None if the judges' stored scores are of other prompts."""
    singles = [version for version in item.candidates if version.judge_id != JURY]
    judge_scores = connection.execute(
        """
        SELECT response_id, judge_id, if(status = 'ok', raw_score, NULL) AS score, spread
        FROM judge_scores WHERE question_id = ? AND status <> 'conversation' ORDER BY response_id
        """,
        [question.id],
    ).df()
    if not _rates_as(connection, item.version):
        return None
    by_judge = judge_scores.pivot(index="response_id", columns="judge_id", values="score")  # noqa: PD010
    scores: dict[str, Floats] = {}
    for version in singles:
        if version.judge_id in by_judge and _rates_as(connection, version):
            raw = by_judge[version.judge_id].to_numpy(np.float64)
            scores[version.judge_id] = version.mapped(question.id, raw)
    own_id = item.version.judge_id
    if own_id not in scores or len(scores) < len(singles):
        return None
    judge_rows = judge_scores[judge_scores["judge_id"] == own_id].set_index("response_id")
    spread = judge_rows["spread"].reindex(by_judge.index).to_numpy(np.float64)
    doubts = doubts_by_source(
        own_id, scores, spread, is_ordered=agreement_level(question) != "nominal"
    ).get(item.part.doubt_source)
    if doubts is None:
        return None
    is_kept = item.part.contains(doubts)
    rows = pd.DataFrame(
        {
            "response_id": by_judge.index,
            "question_id": question.id,
            "judge_id": own_id,
            "score": np.where(is_kept, scores[own_id], np.nan),
            "needs_person": ~is_kept,
        }
    )
    return rows[rows["response_id"].isin(judge_rows.index)]


def _rates_as(connection: Connection, version: JudgeVersion) -> bool:
    rows = connection.execute(
        """
        SELECT coalesce(step, 'declared'), coalesce(prompt_hash, '')
        FROM judges LEFT JOIN judge_versions USING (judge_id, version) WHERE judge_id = ?
        """,
        [version.judge_id],
    ).fetchall()
    return any(
        version.has_declared_prompt
        if step in {"declared", "calibration"}
        else prompt_hash == version.prompt_hash
        for step, prompt_hash in rows
    )
