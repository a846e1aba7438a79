"""Judges, their scores, and what their stored tests say."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from eval_assets.agreement.judge_comparison import (
    Favour,
    HeldOutTest,
    JudgeComparison,
    PlannedTest,
    depends_on_the_gap,
)
from eval_assets.config.judges import CURRENT, Judge
from eval_assets.config.models import is_version_of
from eval_assets.errors import StoreError
from eval_assets.ledger import N_SLOTS, WHOLE, Shard
from eval_assets.store.inputs import check_imported
from eval_assets.store.schema import empty_table, insert_rows, read_rows, rows_of
from eval_assets.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import pandas as pd
    from duckdb import DuckDBPyConnection as Connection

    from eval_assets.agreement.comparing import Assessment
    from eval_assets.config.evaluation import Evaluation


def write_judge_scores(connection: Connection, scores: Iterable[pd.DataFrame]) -> None:
    """Replace all scores of judges; call it within a transaction."""
    empty_table(connection, "judge_scores")
    empty_table(connection, "stand_in_scores")
    for rows in scores:
        insert_rows(connection, "judge_scores", rows)


def next_units(
    connection: Connection,
    *,
    after: tuple[str, str] | None = None,
    n: int,
    shard: Shard = WHOLE,
) -> list[tuple[str, str, str, str]]:
    """Return the next units that judges rate: response_id, question_id, prompt and response.

    They come by question and then by response.

    `after` are response and question of the last unit before; None for the first `n` units.
    """
    response_id, question_id = after or ("", "")
    of_shard = """
                SEMI JOIN (
                    SELECT response_id FROM responses
                    WHERE md5_number_lower(
                        coalesce(prompt_text, '') || chr(31) || coalesce(response_text, '')
                    ) % $n_slots % $n_shards = $shard
                ) USING (response_id)"""
    numbers = {"n_slots": N_SLOTS, "n_shards": shard.n_shards, "shard": shard.index}
    is_whole = shard.n_shards == 1
    # Ids first: the texts of all responses need not be read for each portion.
    return connection.execute(
        f"""
        WITH following AS (
            SELECT position, question_id, response_id
            FROM asked_units JOIN rubric_questions USING (question_id)
                {"" if is_whole else of_shard}
            WHERE scored_by = 'judge'
              AND (position, response_id) > (
                  coalesce((SELECT position FROM rubric_questions
                            WHERE question_id = $question_id), -1), $response_id)
            ORDER BY position, response_id LIMIT $n
        )
        SELECT response_id, question_id, coalesce(prompt_text, ''), coalesce(response_text, '')
        FROM following JOIN responses USING (response_id)
        ORDER BY position, response_id
        """,  # noqa: S608 - our own text
        {"response_id": response_id, "question_id": question_id, "n": n}
        | ({} if is_whole else numbers),
    ).fetchall()


def ids_in_order(connection: Connection) -> list[str]:
    """Return the ids of the responses in the order of their files."""
    rows = connection.execute("SELECT response_id FROM responses ORDER BY rowid").fetchall()
    return [response_id for (response_id,) in rows]


def response_columns(connection: Connection) -> frozenset[str]:
    """Return the columns that responses have, attributes included; none without responses."""
    rows = connection.execute(
        """
        SELECT column_name FROM duckdb_columns() WHERE table_name = 'responses'
            AND column_name <> 'attributes' AND EXISTS (FROM responses)
        UNION SELECT unnest(json_keys(attributes)) FROM responses
        """
    ).fetchall()
    return frozenset(str(name) for (name,) in rows)


def column_values(
    connection: Connection,
    columns: Sequence[str],
    *,
    of: Collection[str] | None = None,
) -> dict[str, dict[str, object]]:
    """Return the values of columns by response; without the columns that have none.

    `of` are ids of responses; None stands for all.
    """
    if not columns:
        return {}
    rows = connection.execute(
        """SELECT response_id, attributes, * EXCLUDE (response_id, attributes) FROM responses
           WHERE $all OR response_id IN (SELECT unnest($ids))""",
        {"all": of is None, "ids": list(of or ())},
    )
    values: dict[str, dict[str, object]] = {}
    for row in rows_of(rows):
        record = {**json.loads(row.pop("attributes") or "{}"), **row}
        values[row["response_id"]] = {
            name: record[name] for name in columns if record.get(name) is not None
        }
    return values


def earlier_turns(
    connection: Connection, *, of: Collection[str] | None = None
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the turns before each response that has any: prompt and response of each.

    `of` are ids of responses; None stands for all.
    """
    query, values = "SELECT response_id, turns FROM earlier_turns", []
    if of is not None:
        query += " WHERE response_id IN (SELECT unnest(?))"
        values = [list(of)]
    rows = connection.execute(query, values).fetchall()
    return {
        response_id: tuple((prompt, response) for prompt, response in turns)
        for response_id, turns in rows
    }


def are_stored_judges(connection: Connection, declared: Iterable[Judge]) -> bool:
    """Return whether the stored scores belong to the judges as they are declared."""
    judges_of_scores = connection.execute(
        "SELECT judge_id, provider, model, version FROM judges"
    ).fetchall()
    followed = {judge_id: version for judge_id, *_, version in judges_of_scores}
    return set(judges_of_scores) == {
        (j.id, j.provider, j.model, followed.get(j.id) if j.version == CURRENT else j.version)
        for j in declared
    }


def check_judges(connection: Connection, evaluation: Evaluation) -> None:
    """Raise StoreError if the stored scores belong to other judges than are declared.

    Raises:
        StoreError: If judges were added, taken out or changed since they were asked.
    """
    if not are_stored_judges(connection, evaluation.judges):
        check_imported(connection, "judge_scores", evaluation.folder)
        raise StoreError(
            "judge_scores: holds scores of other judges than are declared now. "
            f"Run eval-assets run --data {quote(str(evaluation.folder))}"
        )


def judge_fingerprints(connection: Connection, *, with_backups: bool = True) -> dict[str, str]:
    """Return the fingerprint of each judge whose scores are stored, as it rates, by judge id."""
    rows = connection.execute(
        """SELECT judge_id, coalesce(version_hash, fingerprint) FROM judges
           WHERE ? OR NOT is_backup ORDER BY judge_id""",
        [with_backups],
    ).fetchall()
    return {str(judge_id): str(fingerprint) for judge_id, fingerprint in rows}


def declared_fingerprints(connection: Connection) -> dict[str, str]:
    """Return the fingerprint of each judge as it is declared, by judge id."""
    return dict(connection.execute("SELECT judge_id, fingerprint FROM judges").fetchall())


def status_counts(connection: Connection) -> pd.DataFrame:
    """Return the number of units by judge and status: judge_id, status, n."""
    return connection.execute(
        "SELECT judge_id, status, count(*) AS n FROM judge_scores GROUP BY ALL ORDER BY ALL"
    ).df()


def other_models(connection: Connection) -> dict[tuple[str, str], str]:
    """Return the models that answered in place of the requested one, by judge and request.

    A version of the requested model, such as `gpt-4o-2024-08-06` for `gpt-4o`, is no other model.
    """
    rows = connection.execute(
        """SELECT DISTINCT judge_id, model_requested, model_returned FROM judge_calls
           WHERE operation = 'judging' AND model_returned IS NOT NULL ORDER BY ALL"""
    ).fetchall()
    model_names: dict[tuple[str, str], list[str]] = {}
    for judge_id, requested, returned_model in rows:
        if not is_version_of(returned_model, requested):
            model_names.setdefault((judge_id, requested), []).append(returned_model)
    return {judge: ", ".join(models) for judge, models in model_names.items()}


def score_coverage(connection: Connection) -> pd.DataFrame:
    """Return the coverage of each question by each judge's scores.

    Returns:
        judge_id, question_id, n_asked (units there are), n_attempted (units with a row), n_ok,
        n_budget_stopped; share_ok, the share of attempted units with a score, NaN if none was
        attempted; and main_reason, the most frequent reason of a unit without a score. Questions
        that apply to no response are left out.
    """
    return connection.execute(
        """
        WITH asked AS (SELECT question_id, count(*) AS n_asked FROM asked_units GROUP BY ALL),
        given AS (
            SELECT judge_id, question_id, count(*) AS n_attempted,
                   count(*) FILTER (status IN ('ok', 'conversation')) AS n_ok,
                   count(*) FILTER (status = 'budget_stopped') AS n_budget_stopped,
                   mode(coalesce(nullif(error, ''), status) ORDER BY response_id)
                       FILTER (status NOT IN ('ok', 'conversation')) AS main_reason
            FROM judge_scores GROUP BY ALL
        )
        SELECT judge_id, question_id, n_asked,
               coalesce(n_attempted, 0) AS n_attempted,
               coalesce(given.n_ok, 0) AS n_ok,
               coalesce(n_budget_stopped, 0) AS n_budget_stopped,
               given.n_ok / n_attempted AS share_ok, main_reason
        FROM judges CROSS JOIN asked JOIN rubric_questions USING (question_id)
        LEFT JOIN given USING (judge_id, question_id)
        WHERE scored_by = 'judge' AND NOT is_backup
        ORDER BY judges.position, judge_id, rubric_questions.position
        """
    ).df()


def judged_models(connection: Connection) -> list[str]:
    """Models whose responses are judged."""
    rows = connection.execute(
        "SELECT DISTINCT model_name FROM responses WHERE model_name IS NOT NULL ORDER BY 1"
    ).fetchall()
    return [str(model) for (model,) in rows]


def versions_rated_as(connection: Connection) -> dict[str, str]:
    """Return the version that each judge rates as: the declared one unless another is pinned."""
    rows = connection.execute(
        """SELECT judge_id, coalesce(judges.version, max_by(v.version, created_at))
           FROM judges
           JOIN (FROM judge_versions WHERE step = 'declared') AS v USING (judge_id)
           GROUP BY judge_id, judges.version"""
    ).fetchall()
    return dict(rows)


def unevaluated_tests(connection: Connection) -> dict[str, str]:
    """Return the reason why a held-out test was not evaluated, by question.

    A reason that does not hold for all judges of a question names those that it holds for.
    """
    rows = connection.execute(
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
    ).fetchall()
    return dict(rows)


def anchor_candidates(connection: Connection) -> pd.DataFrame:
    """Return all scores of single responses with their texts.

    Returns:
        judge_id, question_id, response_id, group_id, prompt_text, response_text and score.
    """
    return connection.execute(
        """
        SELECT judge_id, question_id, response_id, response_groups.group_id,
               coalesce(prompt_text, '') AS prompt_text,
               coalesce(response_text, '') AS response_text, raw_score AS score
        FROM judge_scores
        JOIN responses USING (response_id) JOIN response_groups USING (response_id)
        WHERE status = 'ok' ORDER BY ALL
        """
    ).df()


def current_drift(connection: Connection) -> list[dict[str, object]]:
    """Return the rows of `judge_drift` of the judges as they are now, in the order of rounds."""
    rows = connection.execute(
        """SELECT judge_drift.* FROM judge_drift JOIN judges USING (judge_id)
           WHERE judge_drift.fingerprint = coalesce(version_hash, judges.fingerprint)
           ORDER BY round"""
    )
    return rows_of(rows)


def with_tests(
    assessment: Assessment,
    connection: Connection,
    certificates: Sequence[Mapping[str, Any]],
) -> Assessment:
    """Return the assessment with what held-out tests say, or would say of untested judges."""
    versions = versions_rated_as(connection)
    results: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in read_rows(connection, "tuned_judge_evaluation", order_by="reading"):
        results[row["judge_id"], row["question_id"]][row["kind"]] = row
    tests = {
        (row["judge_id"], row["question_id"]): _test_of(
            row,
            results[row["judge_id"], row["question_id"]],
            is_in_use=versions.get(row["judge_id"], row["version"]) == row["version"],
        )
        for row in certificates
        if not row["stale_because"] and row["fitness"] is not None
    }
    plans = {
        (row["judge_id"], row["question_id"]): row
        for row in read_rows(connection, "sealed_test_plans", order_by="reading")
        if not row["stale_because"]
    }

    favours: dict[tuple[str, str], list[Favour]] = defaultdict(list)
    for row in read_rows(connection, "judge_bias", order_by="abs(relative) DESC"):
        if row["is_named"]:
            favour = Favour(row["attribute"], row["value"], row["relative"])
            favours[row["judge_id"], row["question_id"]].append(favour)

    def tested(of: JudgeComparison) -> JudgeComparison:
        unit = of.judge, of.question.id
        plan = _plan_of(plans[unit]) if unit in plans else None
        named = tuple(favours[unit])
        return replace(of, tested=tests.get(unit), planned=plan, favours=named)

    judges = {judge: tuple(map(tested, rows)) for judge, rows in assessment.judges.items()}
    return replace(assessment, judges=judges)


def _test_of(
    certificate: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]], *, is_in_use: bool
) -> HeldOutTest:
    in_part = certificate["claim"] == "fit_in_part"
    row = results.get("fitness_in_part" if in_part else "fitness", {})

    def number(name: str) -> float:
        value = row.get(name)
        return math.nan if value is None else float(value)

    largest = 1 - number("kappa_people") + number("margin") * (certificate["share"] or 1.0)
    return HeldOutTest(
        verdict=Verdict[certificate["state"].upper()],
        version=certificate["version"],
        is_in_use=is_in_use,
        n_units=row.get("n_units") or 0,
        kappa=number("kappa"),
        low=1 - largest * number("ratio_high"),
        high=1 - largest * number("ratio_low"),
        kappa_people=number("kappa_people"),
        minimum=1 - largest,
        share=certificate["share"] if in_part else None,
        doubt_source=certificate["doubt_source"] or "",
        doubt_threshold=math.nan
        if certificate["doubt_threshold"] is None
        else certificate["doubt_threshold"],
    )


def _plan_of(row: Mapping[str, Any]) -> PlannedTest:
    groups, per_group = row["groups_at_gap"], row["responses_per_group"]
    if groups is None or per_group is None:
        return PlannedTest(row["n_groups"], row["chance_fit"], None)
    is_if_equal = depends_on_the_gap(groups, row["groups_if_equal"])
    total = math.ceil((row["groups_if_equal"] if is_if_equal else groups) * per_group)
    return PlannedTest(row["n_groups"], row["chance_fit"], total, is_if_equal)
