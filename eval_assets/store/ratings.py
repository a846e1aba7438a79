"""Ratings of humans or judges, as agreement is measured on them, and of pairs of judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eval_assets.agreement.gates.evidence import measures_version
from eval_assets.agreement.ratings import HumanRatings, JudgedUnits, JudgeRatings, LongRatings
from eval_assets.agreement.rounds import first_ratings, first_round_decides
from eval_assets.config.judges import judge_set_fingerprint
from eval_assets.errors import StoreError
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.long_ratings import (
    RATINGS_SQL,
    RatingSource,
    group_codes,
    long_ratings,
    ratings_by_round,
)
from eval_assets.store.schema import define_ground_truth, replace_rows
from eval_assets.store.scores import check_judges, judge_fingerprints
from eval_assets.store.summaries import count_disagreements

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd
    from duckdb import DuckDBPyConnection as Connection
    from numpy.typing import NDArray

    from eval_assets.agreement.slices import Coded
    from eval_assets.config.evaluation import Evaluation
    from eval_assets.figures import RaterKind


def human_ratings(connection: Connection, evaluation: Evaluation) -> HumanRatings:
    """Return everything that agreement between humans is measured on.

    Raises:
        StoreError: If stored ratings are off their scale, because the declaration changed.
    """
    # First, as it takes as much memory as the ratings.
    data_version = rating_versions(connection)["human"]
    ratings = ratings_of_people(connection, evaluation, "human")
    rounds = ratings_by_round(connection, evaluation)
    first_round_only = frozenset(
        q.id for q in evaluation.rubric if q.id in rounds and first_round_decides(rounds[q.id], q)
    )
    ratings |= {name: first_ratings(rounds[name]) for name in first_round_only}
    n_skipped = "SELECT question_id, count(*) FROM skipped_labels GROUP BY question_id"
    return HumanRatings(
        ratings=ratings,
        n_skipped=dict(connection.execute(n_skipped).fetchall()),
        n_disagreements=count_disagreements(connection),
        data_version=measures_version(evaluation, "human", data_version=data_version),
        first_round_only=first_round_only,
    )


def ratings_by_kind(
    connection: Connection, evaluation: Evaluation
) -> dict[RaterKind, dict[str, LongRatings]]:
    """Return human ratings and judges' scores by question.

    Raises:
        StoreError: As `human_ratings` and `judge_ratings` raise it.
    """
    check_judges(connection, evaluation)
    humans = ratings_of_people(connection, evaluation, "human_outside_test")
    group = next(iter(humans.values())).group
    return {
        "human": humans,
        "judge": long_ratings(connection, "compared_judge", humans, group=group),
    }


def judge_ratings(connection: Connection, evaluation: Evaluation) -> JudgeRatings:
    """Return everything that agreement between judges is measured on.

    Raises:
        StoreError: If the stored scores belong to other judges than those declared.
    """
    check_judges(connection, evaluation)
    import pandas as pd

    if evaluation.judges:
        responses = responses_in_order(connection)
    else:  # no response is scored
        responses = pd.DataFrame(columns=["response_id", "prompt", "group"])
    group = responses["group"].to_numpy(dtype=np.int64)
    return JudgeRatings(
        scores=long_ratings(
            connection, "compared_judge", [q.id for q in evaluation.rubric], group=group
        ),
        response_ids=responses["response_id"].to_numpy(dtype=object),
        prompts=responses["prompt"].to_numpy(dtype=np.int64),
        judge_set_fingerprint=judge_set_fingerprint(
            judge_fingerprints(connection, with_backups=False)
        ),
        data_version=measures_version(
            evaluation, "judge", data_version=rating_versions(connection)["judge"]
        ),
    )


def scores_of_responses(
    connection: Connection,
    evaluation: Evaluation,
    source: RatingSource = "judge",
) -> dict[str, LongRatings]:
    """Return the judges' scores of responses, by question."""
    check_judges(connection, evaluation)
    group = group_codes(connection)
    return long_ratings(connection, source, [q.id for q in evaluation.rubric], group=group)


def scored_conversations(
    connection: Connection, evaluation: Evaluation
) -> dict[str, tuple[LongRatings, LongRatings]]:
    """Return mean human ratings and judges' scores of conversations, by question.

    A conversation has the index of its first turn's response; questions on which no judge scores
    conversations are left out.
    """
    rows = connection.execute("SELECT DISTINCT question_id FROM conversation_scores").fetchall()
    question_ids = {q.id for q in evaluation.rubric}
    names = [question_id for (question_id,) in rows if question_id in question_ids]
    if not names:
        return {}
    group = group_codes(connection)
    people = long_ratings(connection, "conversation_reference", names, group=group)
    judges = long_ratings(connection, "conversation_judge", names, group=group)
    return {name: (people[name], judges[name]) for name in names}


def responses_in_order(connection: Connection) -> pd.DataFrame:
    """Return id, prompt and group of each unit index; prompts and groups are numbered from 0."""
    return connection.execute(
        """SELECT response_id, dense_rank() OVER (ORDER BY prompt_id) - 1 AS prompt,
                  dense_rank() OVER (ORDER BY group_id) - 1 AS "group"
           FROM response_groups ORDER BY response_id"""
    ).df()


def response_group_ids(connection: Connection) -> list[str]:
    """Return the response group of each unit index."""
    rows = connection.execute(
        "SELECT group_id FROM response_groups ORDER BY response_id"
    ).fetchall()
    return [str(group_id) for (group_id,) in rows]


def response_texts(connection: Connection, unit: int) -> tuple[str, str, str]:
    """Return id, prompt and text of the response of a unit index."""
    [(response_id, prompt, text)] = connection.execute(
        """SELECT response_id, coalesce(prompt_text, ''), coalesce(response_text, '')
           FROM responses ORDER BY response_id LIMIT 1 OFFSET ?""",
        [unit],
    ).fetchall()
    return str(response_id), str(prompt), str(text)


def slices_in_order(connection: Connection) -> dict[str, Coded]:
    """Return every slice: a code for each unit index, -1 for no value, and the codes' meaning.

    Two of them always exist: `model_name` and `prompt_id`.
    """
    [[n_responses]] = connection.execute("SELECT count(*) FROM responses").fetchall()
    rows = connection.execute("""
        WITH unit AS (
            SELECT response_id, row_number() OVER (ORDER BY response_id) - 1 AS i FROM responses
        ), sliced AS (
            FROM response_slices WHERE slice <> 'all'
            UNION ALL SELECT response_id, 'prompt_id', prompt_id FROM response_groups
            UNION ALL SELECT response_id, 'model_name', model_variant FROM model_variants
        )
        SELECT slice, slice_value, list(i) AS units FROM sliced JOIN unit USING (response_id)
        WHERE slice_value IS NOT NULL GROUP BY ALL ORDER BY slice, slice_value
    """).fetchnumpy()
    slices: dict[str, tuple[NDArray[np.int64], list[str]]] = {
        name: (np.full(n_responses, -1), [])
        for name in sorted({"model_name", "prompt_id", *rows["slice"]})
    }
    for name, value, units in zip(*rows.values(), strict=True):
        codes, values = slices[name]
        codes[units] = len(values)
        values.append(str(value))
    return dict(slices)


def bias_attributes(connection: Connection, names: Collection[str]) -> dict[str, Coded]:
    """Return the attributes by which judges may be biased, coded as `slices_in_order` does.

    They are the system, terciles of the response's length, the turn, the difficulty and the named
    attributes.
    """
    slices = slices_in_order(connection)
    rows = connection.execute(
        """SELECT least(2, floor(3 * percent_rank() OVER (ORDER BY length(response_text))))::INT
                      AS length,
                  coalesce(dense_rank() OVER (ORDER BY turn_index NULLS LAST) - 1, -1) AS place,
                  turn_index
           FROM responses ORDER BY response_id"""
    ).df()
    turns = rows["turn_index"]
    numbers = sorted(int(turn) for turn in turns.dropna().unique())
    turn = np.where(turns.isna(), -1, rows["place"]).astype(np.int64)
    attributes: dict[str, Coded] = {
        "system": slices["model_name"],
        "length": (rows["length"].to_numpy(np.int64), ["short", "medium", "long"]),
        "turn": (turn, [str(number) for number in numbers]),
    }
    selection = [name for name in slices if name == "difficulty" or name in names]
    return {**attributes, **{name: slices[name] for name in selection}}


def repeated_ratings(connection: Connection) -> pd.DataFrame:
    """Return ratings that were given more than once: of copies of a text, and runs of a judge."""
    return connection.execute(
        f"""
        WITH copies AS (
            SELECT response_id, response_groups.group_id,
                   dense_rank() OVER (ORDER BY prompt_text, response_text) AS text
            FROM (
                FROM responses
                SEMI JOIN (
                    SELECT prompt_text, response_text FROM responses
                    GROUP BY ALL HAVING count(*) > 1
                ) USING (prompt_text, response_text)
            ) JOIN response_groups USING (response_id)
        ), rated AS (
            SELECT 'human' AS kind, * FROM ({RATINGS_SQL["human"]})
            UNION ALL SELECT 'judge', * FROM ({RATINGS_SQL["judge"]})
        )
        SELECT kind, 'same text' AS source, question_id, rater_id, rater_id || ' ' || text AS row,
               group_id AS "group", value
        FROM rated JOIN copies USING (response_id)
        QUALIFY count(*) OVER (PARTITION BY kind, question_id, rater_id, text) > 1
        UNION ALL
        SELECT 'judge', 'run', question_id, judge_id, response_id, group_id, unnest(runs)
        FROM judge_scores JOIN response_groups USING (response_id) WHERE len(runs) > 1
        ORDER BY ALL
        """  # noqa: S608 - constants of ours
    ).df()


def count_excluded(connection: Connection) -> int:
    """Return the number of rated units that were left out as ambiguous."""
    [[n]] = connection.execute(
        """SELECT count(*) FROM adjudicated_labels
           SEMI JOIN human_labels USING (response_id, question_id) WHERE excluded"""
    ).fetchall()
    return int(n)


def ratings_of_people(
    connection: Connection, evaluation: Evaluation, source: RatingSource
) -> dict[str, LongRatings]:
    """Return ratings by humans, or the reference values of judges, by question.

    The reference of a response that was adjudicated is the consensus alone; responses that were
    left out as ambiguous have none; of all others it is what their raters gave.

    Raises:
        StoreError: If one is off the scale declared now.
    """
    names = [question.id for question in evaluation.rubric]
    ratings = long_ratings(connection, source, names, group=group_codes(connection))
    for question in evaluation.rubric:
        values = ratings[question.id]
        if not all(question.scale.contains(value) for value in np.unique(values.value)):
            raise StoreError(
                f"human_labels: holds ratings of {question.id} that are not on its scale as "
                f"declared now ({question.scale.described()}). Materialize rubric_questions and "
                "human_labels."
            )
    return ratings


def judged_units(connection: Connection) -> JudgedUnits:
    """Return every unit that judges are asked about, with the stored scores.

    Without a second judge there are no pairs, and no units are returned.
    """
    judges = connection.execute(
        """SELECT judge_id, model, fingerprint FROM judges WHERE NOT is_backup
           ORDER BY position, judge_id"""
    ).fetchall()
    responses = connection.execute(
        """SELECT prompt_id, prompt_text AS query, response_id
           FROM responses JOIN response_groups USING (response_id) ORDER BY response_id"""
    ).df()
    columns = [f"score{number}" for number in range(len(judges))]
    scores = ", ".join(
        f"any_value(score) FILTER (judge_id = ${column}) AS {column}" for column in columns
    )
    rows = connection.execute(
        f"""
        WITH unit AS (
            SELECT response_id, prompt_id, row_number() OVER (ORDER BY response_id) - 1 AS response
            FROM responses JOIN response_groups USING (response_id)
        ), scored AS (
            SELECT response_id, question_id, {scores or "NULL"} FROM judge_scores
            WHERE status = 'ok' GROUP BY response_id, question_id
        )
        SELECT response, question_id, scale_min, scale_max, {", ".join(columns) or "NULL"}
        FROM asked_units JOIN unit USING (response_id) JOIN rubric_questions USING (question_id)
        LEFT JOIN scored USING (response_id, question_id)
        WHERE {len(judges) > 1} ORDER BY position, prompt_id, response
        """,  # noqa: S608 - names of ours
        {column: judge_id for column, (judge_id, *_) in zip(columns, judges, strict=True)},
    ).df()
    # Texts as categories: they are the same for many units.
    units = responses.astype("category").iloc[rows["response"]].reset_index(drop=True)
    questions = rows[["question_id", "scale_min", "scale_max"]].astype({"question_id": "category"})
    return JudgedUnits(
        units=units.join(questions),
        scores={
            judge_id: rows[column].to_numpy(np.float64)
            for column, (judge_id, *_) in zip(columns, judges, strict=True)
        },
        models={judge_id: model for judge_id, model, _ in judges},
        fingerprints={judge_id: fingerprint for judge_id, _, fingerprint in judges},
    )


def write_pair_measures(
    connection: Connection, *, prompts: pd.DataFrame, disagreements: pd.DataFrame
) -> None:
    """Replace the measures of pairs of judges."""
    replace_rows(connection, "prompt_judgements", prompts)
    replace_rows(connection, "judge_disagreements", disagreements)
    define_ground_truth(connection)
