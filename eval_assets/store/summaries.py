"""Tables that SQL derives from ratings, and those of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_assets.bands import UNRELIABLE
from eval_assets.figures import ScoreFigures
from eval_assets.scale import TOLERANCE
from eval_assets.store.figures import replace_figures_by_query
from eval_assets.store.inputs import rejected_labels
from eval_assets.store.schema import count_rows, empty_table, read_rows, rows_of
from eval_assets.store.scores import status_counts, unevaluated_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from duckdb import DuckDBPyConnection as Connection


_PROMPT_LENGTH = 80
"""Characters of a prompt that identify it in a line."""


def unreliable_results(connection: Connection) -> list[tuple[float, str, str]]:
    """Return alpha, prompt and model of the responses on which judges are unreliable."""
    return connection.execute(
        """SELECT alpha, left(regexp_replace(coalesce(prompt_text, ''), '\\s+', ' ', 'g'), $n),
                  coalesce(model_name, response_id)
           FROM judge_agreement JOIN responses USING (response_id)
           WHERE scope = 'response' AND interpretation = $unreliable
           ORDER BY alpha, response_id""",
        {"n": _PROMPT_LENGTH, "unreliable": UNRELIABLE},
    ).fetchall()


def write_score_summary(connection: Connection) -> None:
    """Replace `score_summary`: human and judge means by question, model and every slice column.

    Where a judge is certified for a part of the responses, `combined` is its score there and the
    mean human rating elsewhere; responses that need a person and have no rating are left out.

    Human ratings of a response are averaged first, so that a response with more raters weighs
    no more; of a judge who scores conversations, those of a conversation. What the test holds out
    is in neither mean: their difference would tell it. The standard deviation is
    the sample's, between responses. A slice is a column
    that sorts responses into at most 20 values: difficulty, indicator_id and given attributes.
    """
    replace_figures_by_query(
        connection,
        ScoreFigures,
        """
        WITH rated AS (
            SELECT response_id, question_id, avg(value) AS human FROM human_labels GROUP BY ALL
        ), compared AS (
            FROM rated ANTI JOIN held_out_units USING (response_id, question_id)
        ), scored AS (
            SELECT response_id, question_id, 'human' AS rater_kind, NULL AS rater_id,
                   human AS score, NULL AS human
            FROM compared
            UNION ALL
            SELECT s.response_id, s.question_id, 'judge', s.judge_id, s.score, compared.human
            FROM judge_scores AS s LEFT JOIN compared USING (response_id, question_id)
            ANTI JOIN held_out_units USING (response_id, question_id)
            WHERE s.status = 'ok'
            UNION ALL
            SELECT response_id, question_id, 'combined', judge_id,
                   coalesce(s.score, rated.human), NULL
            FROM stand_in_scores AS s LEFT JOIN rated USING (response_id, question_id)
            WHERE is_used AND stale_because IS NULL AND coalesce(s.score, rated.human) IS NOT NULL
            UNION ALL
            SELECT conversation_id, question_id, 'judge', judge_id, score, human
            FROM conversation_scores LEFT JOIN (
                SELECT conversation_id, question_id, avg(value) AS human
                FROM human_labels JOIN conversations USING (response_id)
                GROUP BY ALL
            ) USING (conversation_id, question_id)
            ANTI JOIN (
                SELECT conversation_id, question_id
                FROM conversations JOIN held_out_units USING (response_id)
            ) USING (conversation_id, question_id)
        )
        SELECT slice, slice_value, question_id, model_name, rater_kind, rater_id,
               count(*) AS n, avg(score) AS mean,
               if(count(*) > 1, stddev_samp(score), NULL) AS standard_deviation,
               if(rater_kind = 'judge', count(human), NULL) AS n_paired,
               avg(score - human) AS bias
        FROM scored
        JOIN responses USING (response_id)
        JOIN response_slices USING (response_id)
        GROUP BY GROUPING SETS (
            (slice, slice_value, question_id, rater_kind, rater_id, model_name),
            (slice, slice_value, question_id, rater_kind, rater_id)
        )
        ORDER BY ALL
    """,
    )


def write_judge_human_disagreements(connection: Connection) -> None:
    """Replace `judge_human_disagreements`: responses that humans rate high and a judge low, or not.

    A response is listed if score and mean human rating, or consensus, lie half the scale's width
    apart; one that was left out as ambiguous is not. A score of a conversation lies beside the mean
    over its responses, and stands with the first of them. Classes without an order have no
    distance, and are left out unless there are two.
    """
    empty_table(connection, "judge_human_disagreements")
    if not count_rows(connection, "judge_scores"):
        return
    connection.execute(
        """
        INSERT INTO judge_human_disagreements BY NAME
        WITH human AS (
            SELECT response_id, question_id, value AS human_mean, n_ratings
            FROM reference_values_outside_test WHERE NOT excluded
        ), judged AS (
            SELECT judge_id, question_id, response_id, human_mean, n_ratings, score
            FROM judge_scores JOIN human USING (response_id, question_id) WHERE status = 'ok'
            UNION ALL
            SELECT judge_id, question_id, conversation_id, avg(human_mean), sum(n_ratings),
                   any_value(score)
            FROM conversation_scores JOIN conversations USING (conversation_id)
            JOIN human USING (response_id, question_id)
            GROUP BY judge_id, question_id, conversation_id
        )
        SELECT judge_id, question_id, response_id, human_mean, n_ratings, score,
               score - human_mean AS difference,
               if(difference > 0, 'judge higher', 'judge lower') AS direction
        FROM judged JOIN rubric_questions USING (question_id)
        WHERE (level <> 'nominal' OR len(scale_values) = 2)
          AND abs(difference) >= 0.5 * (scale_max - scale_min) - $noise
        ORDER BY abs(difference) / (scale_max - scale_min) DESC, judge_id, question_id, response_id
    """,
        {"noise": TOLERANCE},
    )


BESIDE_OTHERS = """
    beside_others AS (
        SELECT question_id, response_id, rater_id, value, (total - value) / (n - 1) AS others_mean,
               lowest, highest
        FROM human_labels JOIN (
            SELECT question_id, response_id, sum(value) AS total, count(*) AS n,
                   min(value) AS lowest, max(value) AS highest
            FROM human_labels GROUP BY ALL HAVING n > 1
        ) USING (question_id, response_id)
    )
"""
"""Labels of responses that others labelled too: the mean of the others, and the ends of all."""

_LARGEST_SPREAD = "largest standard deviation of the question"
_N_LARGEST = 10

_RULE = {"n_largest": _N_LARGEST, "largest": _LARGEST_SPREAD, "noise": TOLERANCE}
SCALES = """
    CREATE TABLE rubric_questions (question_id VARCHAR, scale_min DOUBLE, scale_max DOUBLE,
                                   scale_values DOUBLE[], level VARCHAR)
"""
"""What is known of the questions of labels outside of a database."""

_DISAGREEMENTS = """
    WITH question AS (
        SELECT question_id, scale_values = [0, 1] AS is_binary,
               level = 'nominal' AND len(scale_values) > 2 AS is_unordered,
               if(is_unordered, 1, scale_max - scale_min) AS width
        FROM rubric_questions
    ), class AS (                              -- SD of indicators: the usual one of 0 and 1
        SELECT response_id, question_id, max(n) AS n_most,
               sqrt((1 - sum(n ** 2) / sum(n) ** 2) / 2) AS standard_deviation
        FROM (SELECT response_id, question_id, count(*) AS n
              FROM human_labels JOIN question USING (question_id) WHERE is_unordered
              GROUP BY response_id, question_id, value)
        GROUP BY ALL
    ), unit AS (
        SELECT response_id, question_id, count(*) AS n_ratings,
               max(value) - min(value) AS range,
               stddev_pop(value) AS standard_deviation
        FROM human_labels GROUP BY ALL HAVING range > $noise
    ), spread AS MATERIALIZED (
        SELECT response_id, question_id, unit.n_ratings, width, is_binary, is_unordered,
               if(is_unordered, least(range, 1), range) AS range,
               if(is_unordered, class.standard_deviation, unit.standard_deviation)
               AS standard_deviation,
               if(is_unordered, 2 * n_most <= unit.n_ratings,
                  unit.range >= width - $noise OR unit.standard_deviation > 0.375 * width
               ) AS is_far
        FROM unit JOIN question USING (question_id)
        LEFT JOIN class USING (response_id, question_id)
    ), listed AS (
        FROM spread WHERE is_far
        UNION ALL
        FROM spread ANTI JOIN (SELECT DISTINCT question_id FROM spread WHERE is_far)
        USING (question_id)
        QUALIFY row_number() OVER (
            PARTITION BY question_id ORDER BY standard_deviation DESC, response_id
        ) <= $n_largest
    )
    SELECT response_id, question_id, n_ratings, range, standard_deviation, ratings,
           value_counts,
           CASE WHEN NOT is_far THEN $largest
               WHEN is_unordered THEN 'no value has more than half of the ratings'
               WHEN range < width - $noise
               THEN 'standard deviation above 3/8 of the scale''s width'
               WHEN is_binary THEN 'pass against fail'
               ELSE 'from one end of the scale to the other'
           END AS reason
    FROM listed JOIN (
        SELECT response_id, question_id, to_json(histogram(value)) AS value_counts,
               to_json(map_from_entries(list_sort(list((rater_id, value))))) AS ratings
        FROM human_labels SEMI JOIN listed USING (response_id, question_id) GROUP BY ALL
    ) USING (response_id, question_id)
    ORDER BY standard_deviation / width DESC, response_id, question_id
"""


def write_label_disagreements(connection: Connection) -> None:
    """Replace `label_disagreements` from the stored labels.

    A response is listed if its ratings span the whole scale, or if their population standard
    deviation exceeds 3/8 of the scale's width, which is 1.5 points on a 1-5 scale; if its values
    have no order, where no value has more than half of the ratings. A question without any such
    response lists its ten largest standard deviations.
    """
    empty_table(connection, "label_disagreements")
    connection.execute(f"INSERT INTO label_disagreements {_DISAGREEMENTS}", _RULE)


def worst_disagreements(connection: Connection, *, most: int) -> pd.DataFrame:
    """Return the worst rows of `label_disagreements`, without the single ratings."""
    query = "SELECT * EXCLUDE (ratings) FROM label_disagreements ORDER BY rowid LIMIT ?"
    return connection.execute(query, [most]).df()


def count_disagreements(connection: Connection) -> dict[str, int]:
    """Return the number of responses with large disagreement, by question."""
    rows = connection.execute(
        "SELECT question_id, count(*) FROM label_disagreements WHERE reason <> ? GROUP BY ALL",
        [_LARGEST_SPREAD],
    ).fetchall()
    return {str(question_id): int(n) for question_id, n in rows}


def agreement_rows(connection: Connection) -> list[dict[str, Any]]:
    """Return what `agreement_history` has of a run: a row over all, and one for each question."""
    rows = connection.execute(
        """SELECT human.scope, human.question_id, human.a_hh, human.alpha,
                  judge.alpha AS judge_alpha,
                  concat_ws(' ', human.data_version, judge.data_version) AS data_version,
                  judge.judge_set_fingerprint
           FROM human_agreement AS human
           LEFT JOIN (FROM judge_agreement WHERE scope <> 'response') AS judge
           ON human.question_id IS NOT DISTINCT FROM judge.question_id
           ORDER BY human.question_id NULLS FIRST"""
    )
    return rows_of(rows)


def judge_agreement_objects(connection: Connection) -> list[dict[str, Any]]:
    """Return the agreement of judges on each response, by prompt and model.

    Returns:
        Objects with the names that clients of an earlier system read; alpha is null if undefined.
        `perPointAlphas` has each question over all responses.
    """
    per_point = connection.execute(
        """SELECT question AS "pointText", round(alpha, 3) AS alpha, n_judges AS "numJudges"
           FROM judge_agreement JOIN rubric_questions USING (question_id)
           WHERE scope = 'question' ORDER BY question_id"""
    )
    points = rows_of(per_point)
    judge_counts = connection.execute(
        """SELECT response_id, judge_id AS "judgeId", any_value(model) AS model,
                  count(*) AS "assessmentCount"
           FROM judge_scores JOIN judges USING (judge_id)
           WHERE status = 'ok' GROUP BY ALL ORDER BY ALL"""
    )
    judges: dict[object, list[dict[str, Any]]] = {}
    for row in rows_of(judge_counts):
        judges.setdefault(row.pop("response_id"), []).append(row)
    of_responses = connection.execute(
        """SELECT response_id, prompt_text AS prompt, model_name AS model,
                  round(alpha, 3) AS "krippendorffsAlpha", n_units AS "numItems",
                  n_judges AS "numJudges", n_comparisons AS "numComparisons", interpretation,
                  judge_set_fingerprint AS "judgeSetFingerprint"
           FROM judge_agreement JOIN responses USING (response_id)
           WHERE scope = 'response' ORDER BY prompt, model, response_id"""
    )
    return [
        row | {"judgesUsed": judges.get(row["response_id"], []), "perPointAlphas": points}
        for row in rows_of(of_responses)
    ]


def withdraw_stand_in_scores(connection: Connection) -> None:
    """Remove all scores of certified parts; call it within a transaction."""
    [[has_combined]] = connection.execute(
        "SELECT EXISTS (FROM score_summary WHERE rater_kind = 'combined')"
    ).fetchall()
    if has_combined or count_rows(connection, "stand_in_scores"):
        forget_parts(connection)
        write_score_summary(connection)


def forget_parts(connection: Connection) -> None:
    """Remove the scores of certified parts, and the marks of who needs a person."""
    empty_table(connection, "stand_in_scores")
    connection.execute("UPDATE judge_scores SET needs_person = NULL WHERE needs_person IS NOT NULL")


_WHOLE = {
    "executive_summary": "judge_id",
    "judge_bias": "judge_id, question_id, attribute, value",
    "judges": "position",
    "label_quality": "question_id, rater_id, measure",
    "no_longer_paired": "question_id",
    "results_by_model": "model_name",
}
"""Tables whose length depends on questions, raters and slices, and the order of their rows."""

_MOST_PROMPTS = 15

_QUERIES = {
    "adjudicated_labels": """
        FROM adjudicated_labels ORDER BY decided_at DESC, response_id, question_id
    """,
    "results": f"""
        WITH cells AS MATERIALIZED (
            FROM agreement_by_slice
            WHERE rater_kind = 'judge' AND slice = 'prompt_id' AND model_name IS NOT NULL
                  AND alpha IS NOT NULL
        ), lowest AS (
            SELECT slice_value FROM cells GROUP BY slice_value
            ORDER BY avg(alpha), slice_value LIMIT {_MOST_PROMPTS}
        )
        SELECT cells.*, prompt_text
        FROM cells SEMI JOIN lowest USING (slice_value) LEFT JOIN (
            SELECT prompt_id AS slice_value, min(prompt_text) AS prompt_text
            FROM response_groups JOIN responses USING (response_id)
            WHERE prompt_id IN (FROM lowest) GROUP BY ALL
        ) USING (slice_value)
        ORDER BY slice_value, model_name
    """,  # noqa: S608 - a number of ours
}


def read_report_tables(
    connection: Connection,
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of the report's tables."""
    tables: dict[str, Sequence[Mapping[str, Any]]] = {
        name: read_rows(connection, name, order_by=order) for name, order in _WHOLE.items()
    }
    tables |= {name: rows_of(connection.execute(query)) for name, query in _QUERIES.items()}
    for name, frame in (
        ("rejected_labels", rejected_labels(connection)),
        ("status_counts", status_counts(connection)),
    ):
        tables[name] = [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]
    tables["unevaluated_tests"] = [
        {"question_id": question_id, "reason": reason}
        for question_id, reason in unevaluated_tests(connection).items()
    ]
    return tables
