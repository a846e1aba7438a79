"""Judges and their scores."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import duckdb
import pandas as pd

from eval_assets.raters import CURRENT, Judge
from eval_assets.store.connection import StoreError
from eval_assets.store.tables import replace_records, replace_rows


@dataclass(frozen=True)
class JudgeRow:
    """A judge and how much it scored; a row of the table `judges`."""

    judge_id: str
    provider: str
    model: str | None
    n_units: int
    n_ok: int
    fingerprint: str
    position: int
    version: str | None = None
    version_hash: str | None = None


def write_judge_scores(
    connection: duckdb.DuckDBPyConnection, judges: Sequence[JudgeRow], scores: pd.DataFrame
) -> None:
    """Replace all judges and their scores."""
    replace_records(connection, "judges", judges)
    replace_rows(connection, "judge_scores", scores)


def units_to_judge(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str, str]]:
    """Return the units that judges rate: response_id, question_id, prompt and response."""
    return connection.execute(
        """
        SELECT response_id, question_id, coalesce(prompt_text, ''), coalesce(response_text, '')
        FROM asked_units
        JOIN responses USING (response_id) JOIN rubric_questions USING (question_id)
        ORDER BY position, response_id
        """
    ).fetchall()


def next_units_of_shard(
    connection: duckdb.DuckDBPyConnection,
    *,
    shard: int,
    n_shards: int,
    after: tuple[str, str],
    n: int,
) -> list[tuple[str, str, str, str]]:
    """Return the next units of a shard as `units_to_judge` does, in an order of their own.

    A unit's shard follows from its ids alone, today and on any machine.

    Args:
        connection: The database.
        shard: Number of the shard, from 0.
        n_shards: How many shards there are.
        after: Response and question of the last unit before; empty for the first units.
        n: Most units to return.
    """
    return connection.execute(
        """
        SELECT response_id, question_id, coalesce(prompt_text, ''), coalesce(response_text, '')
        FROM asked_units JOIN responses USING (response_id)
        WHERE md5_number_lower(response_id || chr(31) || question_id) % $n_shards = $shard
          AND (response_id, question_id) > ($response_id, $question_id)
        ORDER BY response_id, question_id LIMIT $n
        """,
        {
            "shard": shard,
            "n_shards": n_shards,
            "response_id": after[0],
            "question_id": after[1],
            "n": n,
        },
    ).fetchall()


def earlier_turns(
    connection: duckdb.DuckDBPyConnection, *, of: Collection[str] | None = None
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the turns before each response that has any: what was asked and answered in each.

    Args:
        connection: The database.
        of: Ids of the responses; None for all.
    """
    query, given = "SELECT response_id, turns FROM earlier_turns", []
    if of is not None:
        query += " WHERE response_id IN (SELECT unnest(?))"
        given = [list(of)]
    rows = connection.execute(query, given).fetchall()
    return {
        response_id: tuple((prompt, response) for prompt, response in turns)
        for response_id, turns in rows
    }


def check_judges(connection: duckdb.DuckDBPyConnection, declared: Iterable[Judge]) -> None:
    """Raise StoreError if the stored scores belong to other judges than are declared.

    Raises:
        StoreError: If judges were added, taken out or changed since they were asked.
    """
    stored = connection.execute("SELECT judge_id, provider, model, version FROM judges").fetchall()
    followed = {judge_id: version for judge_id, *_, version in stored}
    if set(stored) != {
        (j.id, j.provider, j.model, followed.get(j.id) if j.version == CURRENT else j.version)
        for j in declared
    }:
        raise StoreError(
            "judge_scores: holds scores of other judges than are declared now. "
            "Materialize judge_scores"
        )


def judge_fingerprints(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the fingerprint of each judge whose scores are stored, as it rates, by judge id."""
    found = connection.execute(
        "SELECT judge_id, coalesce(version_hash, fingerprint) FROM judges ORDER BY judge_id"
    ).fetchall()
    return {str(judge_id): str(fingerprint) for judge_id, fingerprint in found}


def declared_fingerprints(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the fingerprint of each judge as it is declared, by judge id."""
    found = connection.execute("SELECT judge_id, fingerprint FROM judges").fetchall()
    return {str(judge_id): str(fingerprint) for judge_id, fingerprint in found}


def status_counts(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """How many units of each judge came to each status: judge_id, status, n."""
    return connection.execute(
        "SELECT judge_id, status, count(*) AS n FROM judge_scores GROUP BY ALL ORDER BY ALL"
    ).df()


def value_counts(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return how often each rater and each judge gave each value.

    Values between the steps of a scale count as the nearest step; a scale of more than a dozen
    steps, or without steps, is divided into ten.

    Returns:
        question_id, rater (the rater's or judge's id, judges last), value and n.
    """
    return connection.execute(
        """
        WITH given AS (
            SELECT question_id, false AS is_judge, rater_id AS rater, value FROM human_labels
            UNION ALL
            SELECT question_id, true, judge_id, score FROM judge_scores
        ),
        steps AS (
            SELECT question_id, scale_min,
                   CASE WHEN scale_max - scale_min BETWEEN 2 AND 12 THEN 1
                        ELSE (scale_max - scale_min) / 10 END AS step
            FROM rubric_questions
        )
        SELECT question_id, rater,
               coalesce(scale_min + round((value - scale_min) / step) * step, value) AS value,
               count(*) AS n
        FROM given JOIN steps USING (question_id)
        WHERE value IS NOT NULL
        GROUP BY question_id, is_judge, rater, 3 ORDER BY question_id, is_judge, rater, 3
        """
    ).df()


def score_coverage(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return how much of each question each judge scored.

    Returns:
        judge_id, question_id, n_asked (units there are), n_attempted (units with a row), n_ok,
        n_budget_stopped and share_ok, the share of attempted units with a score; NaN if none
        was attempted. Questions that are asked of no response are left out.
    """
    return connection.execute(
        """
        WITH asked AS (SELECT question_id, count(*) AS n_asked FROM asked_units GROUP BY ALL),
        given AS (
            SELECT judge_id, question_id, count(*) AS n_attempted,
                   count(*) FILTER (status IN ('ok', 'conversation')) AS n_ok,
                   count(*) FILTER (status = 'budget_stopped') AS n_budget_stopped
            FROM judge_scores GROUP BY ALL
        )
        SELECT judge_id, question_id, n_asked,
               coalesce(n_attempted, 0) AS n_attempted,
               coalesce(given.n_ok, 0) AS n_ok,
               coalesce(n_budget_stopped, 0) AS n_budget_stopped,
               given.n_ok / n_attempted AS share_ok
        FROM judges CROSS JOIN asked JOIN rubric_questions USING (question_id)
        LEFT JOIN given USING (judge_id, question_id)
        ORDER BY judges.position, judge_id, rubric_questions.position
        """
    ).df()


def judged_models(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Models whose responses are judged."""
    found = connection.execute(
        "SELECT DISTINCT model_name FROM responses WHERE model_name IS NOT NULL ORDER BY 1"
    ).fetchall()
    return [str(model) for (model,) in found]
