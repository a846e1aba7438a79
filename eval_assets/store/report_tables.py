"""Tables of the report, limited to a readable number of rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from duckdb import DuckDBPyConnection as Connection

from eval_assets.store.inputs import rejected_labels
from eval_assets.store.schema import read_rows, rows_of
from eval_assets.store.scores import status_counts, unevaluated_tests

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
