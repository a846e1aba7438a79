"""What tuning starts from: rated responses and the part each belongs to."""

import duckdb
import pandas as pd


def rated_units(connection: duckdb.DuckDBPyConnection, question_id: str) -> pd.DataFrame:
    """Responses with a human rating of a question: response_id, group_id and mean rating.

    Responses to one prompt belong together: a judge tuned on some has seen what the others answer.
    """
    return connection.execute(
        """
        SELECT response_id, avg(value) AS rating, any_value(group_id) AS group_id
        FROM human_labels JOIN response_groups USING (response_id)
        WHERE question_id = ? GROUP BY response_id ORDER BY response_id
        """,
        [question_id],
    ).df()
