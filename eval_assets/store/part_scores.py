"""Stored scores of judges that are certified for a part of the responses."""

from collections.abc import Sequence

import duckdb
import numpy as np
import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.store.summaries import write_score_summary
from eval_assets.store.tables import count_rows, empty_table, insert_rows
from eval_assets.store.tuned_judges import versions_rated_as
from eval_assets.tuning.issued import CertifiedPart
from eval_assets.tuning.partial_automation import doubts_by_source
from eval_assets.tuning.rated import Floats, agreement_level
from eval_assets.tuning.steps import JURY
from eval_assets.tuning.versions import JudgeVersion


def write_stand_in_scores(
    connection: duckdb.DuckDBPyConnection,
    parts: Sequence[CertifiedPart],
    rubric: Sequence[RubricQuestion],
) -> None:
    """Replace `stand_in_scores` and what follows from it; call it within a transaction.

    These are `judge_scores.needs_person` and the combined scores of `score_summary`.
    Of several judges with a certified part of a question, the one with the largest is used.
    """
    _forget_parts(connection)
    questions = {question.id: question for question in rubric}
    used: set[str] = set()
    for item in sorted(parts, key=lambda item: (-item.share, item.version.judge_id)):
        rows = _rows(connection, item, questions[item.question_id])
        if rows is not None:
            is_used = item.question_id not in used
            used.add(item.question_id)
            insert_rows(connection, "stand_in_scores", rows.assign(is_used=is_used))
    connection.execute(
        """
        UPDATE judge_scores SET needs_person = s.needs_person FROM stand_in_scores AS s
        WHERE judge_scores.response_id = s.response_id
          AND judge_scores.question_id = s.question_id AND judge_scores.judge_id = s.judge_id
        """
    )
    write_score_summary(connection)


def withdraw_stand_in_scores(connection: duckdb.DuckDBPyConnection) -> None:
    """Remove scores of certified parts while a gate is closed; call it within a transaction."""
    if count_rows(connection, "stand_in_scores"):
        _forget_parts(connection)
        write_score_summary(connection)


def _forget_parts(connection: duckdb.DuckDBPyConnection) -> None:
    empty_table(connection, "stand_in_scores")
    connection.execute("UPDATE judge_scores SET needs_person = NULL WHERE needs_person IS NOT NULL")


def covered_units(connection: duckdb.DuckDBPyConnection) -> dict[str, frozenset[str]]:
    """Return the responses that a certified judge scores, by question with a certified part."""
    rows = connection.execute(
        """
        SELECT question_id, coalesce(list(response_id) FILTER (NOT needs_person), [])
        FROM stand_in_scores WHERE is_used AND stale_because IS NULL GROUP BY question_id
        """
    ).fetchall()
    return {str(question_id): frozenset(responses) for question_id, responses in rows}


def units_of_fit_judges(connection: duckdb.DuckDBPyConnection) -> dict[str, frozenset[str]]:
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


def units_with_every_score(connection: duckdb.DuckDBPyConnection) -> dict[str, frozenset[str]]:
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
    connection: duckdb.DuckDBPyConnection, item: CertifiedPart, question: RubricQuestion
) -> pd.DataFrame | None:
    """Return scores on a part; None if the judges' stored scores are of other prompts."""
    singles = [version for version in item.candidates if version.judge_id != JURY]
    stored = connection.execute(
        """
        SELECT response_id, judge_id, if(status = 'ok', raw_score, NULL) AS score, spread
        FROM judge_scores WHERE question_id = ? AND status <> 'conversation' ORDER BY response_id
        """,
        [question.id],
    ).df()
    if not _rates_as(connection, item.version):
        return None
    by_judge = stored.pivot(index="response_id", columns="judge_id", values="score")  # noqa: PD010
    scores: dict[str, Floats] = {}
    for version in singles:
        if version.judge_id in by_judge and _rates_as(connection, version):
            raw = by_judge[version.judge_id].to_numpy(np.float64)
            scores[version.judge_id] = version.mapped(question.id, raw)
    own_id = item.version.judge_id
    if own_id not in scores or len(scores) < len(singles):
        return None
    own = stored[stored["judge_id"] == own_id].set_index("response_id")
    spread = own["spread"].reindex(by_judge.index).to_numpy(np.float64)
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
    return rows[rows["response_id"].isin(own.index)]


def _rates_as(connection: duckdb.DuckDBPyConnection, version: JudgeVersion) -> bool:
    """Return whether a judge's stored scores are of the prompt of this version."""
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
