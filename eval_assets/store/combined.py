"""Human and judge scores side by side, and their means by slice."""

import duckdb


def write_combined_scores(connection: duckdb.DuckDBPyConnection) -> None:
    """Replace `combined_scores` and its long form: one row a (response, question, rater).

    Joined on the response itself, so that each turn has its own score; a response that nobody
    rated has one row without a rater.
    """
    connection.execute("DELETE FROM combined_scores; DELETE FROM combined_scores_long")
    connection.execute("""
        INSERT INTO combined_scores BY NAME
        WITH judged AS (
            SELECT response_id, question_id, avg(score) AS llm_aiescore, count(*) AS n_judges
            FROM judge_scores WHERE status = 'ok' GROUP BY ALL
        )
        SELECT response_id, question_id, indicator_id, convo_id, model_name, seed, turn_index,
               difficulty, rater_id AS hij_rater_id, value AS hij_score, llm_aiescore,
               coalesce(n_judges, 0) AS n_judges
        FROM asked_units
        JOIN responses USING (response_id)
        LEFT JOIN human_labels USING (response_id, question_id)
        LEFT JOIN judged USING (response_id, question_id)
        ORDER BY response_id, question_id, rater_id
    """)
    connection.execute("""
        INSERT INTO combined_scores_long BY NAME
        SELECT combined_scores.* EXCLUDE (llm_aiescore, n_judges),
               judge_id, score AS judge_score, status AS judge_status
        FROM combined_scores LEFT JOIN judge_scores USING (response_id, question_id)
        ORDER BY response_id, question_id, hij_rater_id, judge_id
    """)


def write_score_summary(connection: duckdb.DuckDBPyConnection) -> None:
    """Replace `score_summary`: human and judge means by question, model and every slice column.

    Human ratings of a response are averaged first, so that a response with more raters weighs
    no more. The standard deviation is the sample's, between responses. A slice is a column
    that sorts responses into at most 20 values: difficulty, indicator_id and given attributes.
    """
    connection.execute("DELETE FROM score_summary")
    connection.execute("""
        INSERT INTO score_summary BY NAME
        WITH rated AS (
            SELECT response_id, question_id, avg(value) AS human FROM human_labels GROUP BY ALL
        ), scored AS (
            SELECT response_id, question_id, 'human' AS rater_kind, NULL AS rater_id,
                   human AS score, NULL AS human
            FROM rated
            UNION ALL
            SELECT s.response_id, s.question_id, 'judge', s.judge_id, s.score, rated.human
            FROM judge_scores AS s LEFT JOIN rated USING (response_id, question_id)
            WHERE s.status = 'ok'
        ), attribute AS (
            SELECT response_id, key AS slice, value ->> '$' AS slice_value
            FROM responses, json_each(attributes)
        ), sliced AS (
            SELECT response_id, 'all' AS slice, NULL AS slice_value FROM responses
            UNION ALL SELECT response_id, 'difficulty', difficulty FROM responses
            UNION ALL SELECT response_id, 'indicator_id', indicator_id FROM responses
            UNION ALL SELECT response_id, slice, slice_value FROM attribute
        ), useful AS (
            SELECT slice FROM sliced GROUP BY slice
            HAVING slice = 'all' OR count(DISTINCT slice_value) BETWEEN 1 AND 20
        )
        SELECT slice, slice_value, question_id, model_name, rater_kind, rater_id,
               count(*) AS n, avg(score) AS mean,
               if(count(*) > 1, stddev_samp(score), NULL) AS standard_deviation,
               if(rater_kind = 'judge', count(human), NULL) AS n_paired,
               avg(score - human) AS bias
        FROM scored
        JOIN responses USING (response_id)
        JOIN sliced USING (response_id)
        JOIN useful USING (slice)
        WHERE slice = 'all' OR slice_value IS NOT NULL
        GROUP BY GROUPING SETS (
            (slice, slice_value, question_id, rater_kind, rater_id, model_name),
            (slice, slice_value, question_id, rater_kind, rater_id)
        )
        ORDER BY ALL
    """)
