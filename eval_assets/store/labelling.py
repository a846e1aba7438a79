"""Tables of labelling: adjudications, history, quality, disagreement and examples."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.diagnosis import Diagnosis, DisputedResponse, RaterUse, lowest_values
from eval_assets.config.rubric import RubricQuestion
from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.store.connection import connect_in_memory
from eval_assets.store.inputs import as_read
from eval_assets.store.schema import replace_rows, rows_of
from eval_assets.store.summaries import BESIDE_OTHERS, SCALES
from eval_assets.wording import or_nan

_COLUMNS = ["response_id", "question_id", "value", "source", "excluded", "reason", "decided_by"]
_COLUMNS += ["decided_at", "own_rating", "ratings", "is_override"]


def write_adjudicated_labels(connection: Connection, decisions: Iterable[Mapping[str, Any]]) -> int:
    """Replace the settled labels; return the number of those whose response is not stored."""
    rows = pd.DataFrame(list(decisions), columns=_COLUMNS)
    typed = {"value": float, "own_rating": float, "excluded": bool, "is_override": bool}
    replace_rows(connection, "adjudicated_labels", rows.astype(typed))
    [(n_unknown,)] = connection.execute(
        """DELETE FROM adjudicated_labels
           WHERE response_id NOT IN (SELECT response_id FROM responses)"""
    ).fetchall()
    return int(n_unknown)


def write_label_history(connection: Connection, answers: pd.DataFrame) -> None:
    """Replace the history: answers in sessions that do not count, and ratings of earlier rounds."""
    replace_rows(connection, "label_history", answers)
    connection.execute("""
        INSERT INTO label_history BY NAME
        WITH rated AS (
            SELECT response_id, question_id, rater_id, round, value, labelled_at FROM earlier_labels
            UNION ALL
            SELECT response_id, question_id, rater_id, round, value, labelled_at
            FROM human_labels SEMI JOIN earlier_labels USING (response_id, question_id, rater_id)
        ), following AS (
            SELECT *, lag(value) OVER again AS before, row_number() OVER again AS n
            FROM rated WINDOW again AS (
                PARTITION BY response_id, question_id, rater_id ORDER BY round
            )
        )
        SELECT response_id, question_id, rater_id, round, 'round' AS kind, before, value AS after,
               labelled_at AS changed_at
        FROM following WHERE n > 1
    """)


_QUALITY = f"""
    WITH {BESIDE_OTHERS}, assigned AS (
        SELECT rater_id::VARCHAR AS rater_id, question_id::VARCHAR AS question_id, n
        FROM assigned_units
    ), calibrated AS (
        SELECT rater_id::VARCHAR AS rater_id, question_id::VARCHAR AS question_id,
               n_right, n_answered
        FROM calibration_answers WHERE n_answered > 0
    ), timed AS (
        SELECT response_id::VARCHAR AS response_id, question_id::VARCHAR AS question_id,
               rater_id::VARCHAR AS rater_id, seconds
        FROM label_seconds WHERE seconds IS NOT NULL AND NOT isnan(seconds)
    ), answer AS (
        SELECT question_id, rater_id, response_id, false AS is_skipped FROM human_labels
        UNION ALL
        SELECT question_id, rater_id, response_id, true FROM skipped_labels
    ), answered AS (
        SELECT question_id, rater_id, count(*) AS n, avg(is_skipped::INTEGER) AS skipped_share
        FROM answer GROUP BY ALL
    ), used AS (
        SELECT question_id, rater_id, value, count(*) AS n FROM human_labels GROUP BY ALL
    ), frequent AS (                       -- the most frequent value, and how often others gave it
        SELECT question_id, rater_id, n / n_own AS share, n_own AS n,
               (n_value - n) / nullif(n_all - n_own, 0) AS by_others
        FROM (
            SELECT *, sum(n) OVER (PARTITION BY question_id, rater_id) AS n_own,
                   sum(n) OVER (PARTITION BY question_id, value) AS n_value,
                   sum(n) OVER (PARTITION BY question_id) AS n_all
            FROM used
        )
        QUALIFY row_number() OVER (PARTITION BY question_id, rater_id ORDER BY n DESC, value) = 1
    ), compared AS (
        SELECT question_id, rater_id, count(*) AS n,
               avg(value - others_mean) / any_value(scale_max - scale_min) AS severity,
               stddev_samp(value - others_mean) / any_value(scale_max - scale_min) / sqrt(count(*))
                   AS standard_error,
               avg((value = scale_min AND highest = scale_max
                    OR value = scale_max AND lowest = scale_min)::INTEGER) AS opposite_ends
        FROM beside_others JOIN rubric_questions USING (question_id)
        WHERE level <> 'nominal' OR len(scale_values) = 2
        GROUP BY ALL
    ), twin AS (
        SELECT a.question_id, a.rater_id, b.rater_id AS other, count(*) AS n,
               avg((a.value = b.value)::INTEGER) AS share, count(DISTINCT a.value) AS n_values
        FROM human_labels AS a JOIN human_labels AS b USING (question_id, response_id)
        WHERE a.rater_id <> b.rater_id
        GROUP BY a.question_id, a.rater_id, b.rater_id HAVING count(*) >= $fewest
        QUALIFY row_number() OVER (
            PARTITION BY a.question_id, a.rater_id ORDER BY share DESC, n DESC, other
        ) = 1
    )
    SELECT question_id, rater_id, 'completeness' AS measure,
           least(1, coalesce(answered.n, 0) / assigned.n) AS value, assigned.n::BIGINT AS n,
           NULL AS other, NULL AS compared
    FROM assigned LEFT JOIN answered USING (question_id, rater_id)
    UNION ALL
    SELECT question_id, rater_id, 'skipped_share', skipped_share, n, NULL, NULL FROM answered
    UNION ALL
    SELECT question_id, rater_id, 'most_frequent_share', share, n, NULL, coalesce(by_others, 1)
    FROM frequent
    UNION ALL
    SELECT question_id, rater_id, 'severity', severity, n, NULL, standard_error FROM compared
    UNION ALL
    SELECT question_id, rater_id, 'opposite_ends', opposite_ends, n, NULL, NULL FROM compared
    UNION ALL
    SELECT question_id, rater_id, 'identical_share', share, n, other, n_values FROM twin
    UNION ALL
    SELECT question_id, rater_id, 'seconds', median(seconds), count(*), NULL, NULL
    FROM timed SEMI JOIN answer USING (question_id, rater_id, response_id) GROUP BY ALL
    UNION ALL
    SELECT question_id, rater_id, 'calibration', n_right / n_answered, n_answered, NULL, NULL
    FROM calibrated
"""  # noqa: S608 - a constant of ours
_FEWEST_SHARED = 10
"""Shared responses from which two raters are compared."""


def measured_quality(
    connection: Connection, sources: Mapping[str, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Return the figures of each rater on each question, from the stored labels.

    Rows have question_id, rater_id, measure, value and n. `other` is the rater most alike;
    `compared` is how often others gave the most frequent value, the standard error of severity, and
    of identical ratings the number of their values.

    `sources` are the frames of `quality_sources`, by name.
    """
    for name, frame in sources.items():
        connection.register(name, frame)
    try:
        return rows_of(connection.execute(_QUALITY, {"fewest": _FEWEST_SHARED}))
    finally:
        for name in sources:
            connection.unregister(name)


def quality_of_labels(
    rubric: Iterable[RubricQuestion], labels: pd.DataFrame, sources: Mapping[str, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Return the same figures of labels outside of a database.

    `labels` have response_id, question_id, rater_id, value and skipped.
    """
    ids = dict.fromkeys(("response_id", "question_id", "rater_id"), object)
    plain = labels[[*ids, "value", "skipped"]].astype(ids)
    with connect_in_memory(SCALES) as connection:
        connection.executemany(
            "INSERT INTO rubric_questions VALUES (?, ?, ?, ?, ?)",
            [(q.id, q.scale.low, q.scale.high, q.scale.values, q.level) for q in rubric],
        )
        connection.register("human_labels", plain[~plain["skipped"]])
        connection.register("skipped_labels", plain[plain["skipped"]])
        return measured_quality(connection, sources)


def stored_responses(connection: Connection) -> pd.DataFrame:
    """Return all responses in `RESPONSE_COLUMNS`, given and generated."""
    rows = connection.execute("SELECT * FROM responses ORDER BY rowid").df()
    return as_read(rows)[list(RESPONSE_COLUMNS)]


_ANCHORS_SQL = """
WITH settled AS (
    SELECT response_id, value,
           concat('settled by ', decided_by, if(reason = '', '', ': ' || reason)) AS source,
           0 AS place, 0 AS n
    FROM adjudicated_labels WHERE question_id = $question AND NOT excluded
), equal AS (
    SELECT response_id, min(value) AS value,
           concat('all ', count(*), ' raters gave ', printf('%g', min(value))) AS source,
           1 AS place, count(*) AS n
    FROM human_labels WHERE question_id = $question
    GROUP BY response_id HAVING count(*) > 1 AND min(value) = max(value)
)
SELECT value, response_id, response_text, source
FROM (FROM settled UNION ALL FROM equal) JOIN responses USING (response_id)
WHERE response_text <> ''
QUALIFY row_number() OVER (
    PARTITION BY value ORDER BY place, n DESC, abs(length(response_text) - 200), response_id
) = 1
ORDER BY value
"""


def anchor_rows(connection: Connection, question_id: str) -> list[dict[str, Any]]:
    """Return an example response for each value: a settled one, or else a unanimous one.

    Rows have value, response_id, response_text and source.
    """
    return rows_of(connection.execute(_ANCHORS_SQL, {"question": question_id}))


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
