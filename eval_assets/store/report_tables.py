"""Tables of the report, limited to a readable number of rows."""

from collections.abc import Mapping

import duckdb
import pandas as pd

from eval_assets.figures import SliceFigures
from eval_assets.store.figures import read_figures
from eval_assets.store.inputs import rejected_labels
from eval_assets.store.schema import count_rows, read_table
from eval_assets.store.scores import unevaluated_tests
from eval_assets.store.summaries import worst_disagreements

MOST_LISTED = 200
"""Rows of a list of single responses or prompts; the tables have all."""

_WHOLE = (
    "judges",
    "judge_bias",
    "judge_confusion",
    "repeatability",
    "label_quality",
    "label_spread",
    "no_longer_paired",
    "results_by_model",
    "judge_certificates",
    "stand_in_parts",
    "sealed_test_plans",
    "executive_summary",
)
"""Tables whose length depends on questions, raters and slices, not on responses."""

_LISTS = {
    "agreement_history": """
        SELECT * FROM agreement_history WHERE scope = 'overall' ORDER BY measured_at DESC LIMIT 200
    """,
    "dual_judge_validation": """
        SELECT * FROM dual_judge_validation ORDER BY timestamp DESC LIMIT 10
    """,
}
_WORST = {
    "adjudicated_labels": """
        SELECT adjudicated_labels.*, model_name, prompt_text, response_text
        FROM adjudicated_labels JOIN responses USING (response_id)
        ORDER BY decided_at DESC, response_id, question_id
        LIMIT $most
    """,
    "judge_human_disagreements": """
        SELECT judge_human_disagreements.*, model_name, prompt_text, response_text
        FROM judge_human_disagreements
        JOIN responses USING (response_id) JOIN rubric_questions USING (question_id)
        ORDER BY abs(difference) / (scale_max - scale_min) DESC, response_id, judge_id
        LIMIT $most
    """,
    "judge_disagreements": """
        SELECT worst.*, model_name, prompt_text, response_text
        FROM (
            FROM judge_disagreements WHERE scope = 'response'
            ORDER BY difference DESC, response_id, question_id, judge1_id, judge2_id
            LIMIT $most
        ) AS worst JOIN responses USING (response_id)
        ORDER BY difference DESC, response_id, question_id, judge1_id, judge2_id
    """,
    "results": """
        WITH worst AS MATERIALIZED (
            FROM agreement_by_slice
            WHERE rater_kind = 'judge' AND slice = 'prompt_id' AND model_name IS NOT NULL
                  AND alpha IS NOT NULL
            ORDER BY alpha, slice_value, model_name
            LIMIT $most
        )
        SELECT worst.*, prompt_text
        FROM worst LEFT JOIN (
            SELECT prompt_id AS slice_value, min(prompt_text) AS prompt_text
            FROM response_groups JOIN responses USING (response_id)
            WHERE prompt_id IN (SELECT slice_value FROM worst) GROUP BY ALL
        ) USING (slice_value)
        ORDER BY alpha, slice_value, model_name
    """,
}
"""Lists of single responses or prompts, the worst or latest first."""

_COUNTED = (
    "responses",
    "label_disagreements",
    "judge_human_disagreements",
    "adjudicated_labels",
    "held_out_units",
)


def read_report_tables(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[Mapping[str, pd.DataFrame], Mapping[str, int]]:
    """Return the tables of the report, and the number of rows of those that it shortens."""
    tables = {name: read_table(connection, name) for name in _WHOLE}
    tables |= {name: connection.execute(query).df() for name, query in _LISTS.items()}
    tables |= {
        name: connection.execute(query, {"most": MOST_LISTED}).df()
        for name, query in _WORST.items()
    }
    tables["label_disagreements"] = worst_disagreements(connection, most=MOST_LISTED)
    tables["unevaluated_tests"] = pd.DataFrame(
        unevaluated_tests(connection).items(), columns=["question_id", "reason"]
    )
    tables["judge_costs"] = judge_costs(connection)
    tables["rejected_labels"] = rejected_labels(connection)
    return tables, {name: count_rows(connection, name) for name in _COUNTED}


def read_slices(connection: duckdb.DuckDBPyConnection) -> tuple[SliceFigures, ...]:
    """Return agreement over all questions on parts of the responses, without single prompts."""
    rows = connection.execute(
        "SELECT DISTINCT slice FROM agreement_by_slice WHERE slice <> 'prompt_id'"
    ).fetchall()
    slices = read_figures(connection, SliceFigures, subjects=sorted(name for (name,) in rows))
    return tuple(row for row in slices if row.question_id is None)


def judge_costs(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return requests and cost of each judge's model; cost is NULL unless all are known."""
    return connection.execute(
        """
        SELECT judge_id, model_requested AS model, count(*) AS n_requests,
               count(*) FILTER (status <> 'ok') AS n_failed,
               sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
               CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd,
               median(latency_seconds) AS latency_seconds
        FROM judge_calls GROUP BY ALL ORDER BY ALL
        """
    ).df()
