"""Counts of a question's ratings by value and by rater, and its largest disagreements."""

import math

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.diagnosis import Diagnosis, DisputedResponse, RaterUse, lowest_values
from eval_assets.config.rubric import RubricQuestion
from eval_assets.store.schema import rows_of
from eval_assets.store.summaries import BESIDE_OTHERS
from eval_assets.wording import or_nan

_MOST_RESPONSES = 10

_LABEL = """
    label AS (
        SELECT response_id, rater_id, value,
               len([low FOR low IN $lowest IF low <= value + 1e-9]) - 1 AS code
        FROM human_labels WHERE question_id = $question
    )
"""
_PAIRS = f"""
    WITH {_LABEL}, counted AS (
        SELECT response_id, code, count(*) AS n FROM label GROUP BY ALL
    ), shared AS (
        SELECT response_id, sum(n) AS m FROM counted GROUP BY ALL HAVING m > 1
    )
    SELECT a.code, b.code, sum(a.n * (b.n - (a.code = b.code)::INTEGER) / (m - 1)) AS n_pairs,
           (SELECT count(*) FROM shared)
    FROM counted AS a JOIN counted AS b USING (response_id) JOIN shared USING (response_id)
    GROUP BY a.code, b.code
"""  # noqa: S608 - a constant of ours
_RATERS = f"""
    WITH {_LABEL}, {BESIDE_OTHERS}, used AS (
        SELECT rater_id, map_from_entries(list((code, n))) AS counts
        FROM (SELECT rater_id, code, count(*) AS n FROM label GROUP BY ALL) GROUP BY ALL
    )
    SELECT rater_id, counts, count(others_mean), avg(value - others_mean)
    FROM used LEFT JOIN (
        FROM beside_others WHERE question_id = $question
    ) USING (rater_id)
    GROUP BY ALL ORDER BY rater_id
"""  # noqa: S608 - a constant of ours
_DISPUTED = """
    WITH worst AS (
        SELECT response_id, rowid AS place FROM label_disagreements
        WHERE question_id = $question ORDER BY place LIMIT $most
    ), first AS (
        SELECT response_id, map_from_entries(list_sort(list((rater_id, value)))) AS ratings
        FROM human_labels SEMI JOIN worst USING (response_id)
        WHERE question_id = $question GROUP BY ALL
    ), discussed AS (
        SELECT response_id, map_from_entries(list_sort(list((rater_id, value)))) AS second_ratings
        FROM (
            SELECT response_id, rater_id, arg_max("after", round) AS value FROM label_history
            WHERE question_id = $question AND kind = 'discussion' AND "after" IS NOT NULL
            GROUP BY ALL
        )
        GROUP BY ALL
    )
    SELECT response_id, coalesce(response_text, '') AS text, ratings,
           coalesce(second_ratings, MAP {}) AS second_ratings
    FROM worst JOIN first USING (response_id) JOIN responses USING (response_id)
    LEFT JOIN discussed USING (response_id)
    ORDER BY place
"""


def diagnosis(connection: Connection, question: RubricQuestion) -> Diagnosis:
    """Return what the stored labels show about disagreement on a question."""
    lowest = lowest_values(question)
    parameters = {"question": question.id, "lowest": lowest}
    counts = connection.execute(_PAIRS, parameters).fetchall()
    pairs = np.zeros((len(lowest), len(lowest)))
    for value, other, n_pairs, _ in counts:
        pairs[value, other] = n_pairs
    raters = connection.execute(_RATERS, parameters).fetchall()
    disputed = {"question": question.id, "most": _MOST_RESPONSES}
    return Diagnosis(
        question,
        counts[0][-1] if counts else 0,
        pairs,
        tuple(
            RaterUse(
                rater_id,
                n,
                or_nan(severity) if question.has_order else math.nan,
                tuple(n_given.get(code, 0) for code in range(len(lowest))),
            )
            for rater_id, n_given, n, severity in raters
        ),
        tuple(DisputedResponse(**row) for row in rows_of(connection.execute(_DISPUTED, disputed))),
    )
