"""Inputs of tuning: rated responses with judges' scores, and their split."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection as Connection
from numpy.typing import NDArray

from eval_assets.agreement.gates.decision import HUMAN_GATES
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import SplitShares, Tuning
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.store.long_ratings import RATINGS_SQL, group_codes, long_ratings
from eval_assets.store.ratings import slices_in_order
from eval_assets.store.schema import empty_table, read_table
from eval_assets.store.scores import declared_fingerprints, earlier_turns, judge_fingerprints
from eval_assets.tuning.history import QuestionTest
from eval_assets.tuning.rated import (
    FEWEST_GROUPS_OF_A_TEST,
    RatedUnits,
    are_held_out,
    splits_of,
)
from eval_assets.tuning.systems import SystemResponses
from eval_assets.wording import counted


def write_splits(
    connection: Connection,
    question_ids: Collection[str],
    *,
    shares: SplitShares,
    data_version: str,
) -> dict[str, int]:
    """Replace `judge_splits` by the rated responses of some questions.

    Returns:
        The number of groups in each split that has any.
    """
    rows = connection.execute("SELECT DISTINCT group_id FROM response_groups").fetchall()
    groups = [str(group_id) for (group_id,) in rows]
    parts = pd.Categorical(splits_of(groups, shares))
    splits = pd.DataFrame({"group_id": groups, "split": parts})  # noqa: F841 - in the query
    empty_table(connection, "judge_splits")
    connection.execute(
        f"""
        INSERT INTO judge_splits BY NAME
        SELECT response_id, question_id, split, group_id, $version AS data_version
        FROM (
            SELECT DISTINCT response_id, question_id FROM ({RATINGS_SQL["reference"]})
            WHERE list_contains($questions, question_id)
        )
        JOIN response_groups USING (response_id) JOIN splits USING (group_id)
        ORDER BY list_position($questions, question_id), response_id
        """,  # noqa: S608 - constants of ours
        {"questions": list(question_ids), "version": data_version},
    )
    return dict(
        connection.execute(
            """SELECT split, count(DISTINCT group_id) FROM judge_splits GROUP BY ALL ORDER BY ALL"""
        ).fetchall()
    )


def write_held_out_units(
    connection: Connection, evaluation: Evaluation, ledger: SqlLedger | None
) -> None:
    """Replace `held_out_units`: rated responses of tests that were not shown.

    There are none without a ledger, which only an evaluation without judges lacks.

    Whether a test is held out depends on all responses, so that it is from the first run on.
    """
    empty_table(connection, "held_out_units")
    if ledger is None:
        return
    rows = connection.execute("SELECT response_id, group_id FROM response_groups").df()
    rows = rows[are_held_out(rows["group_id"].astype(str), evaluation.tuning)]
    evaluations = JudgeLedger(ledger)
    for question in evaluation.rubric:
        spent_groups = QuestionTest.of(evaluations.evaluations(question.id)).spent_groups
        held_out = rows[~rows["group_id"].isin(spent_groups)]  # noqa: F841 - in the query
        connection.execute(
            """
            INSERT INTO held_out_units BY NAME
            SELECT DISTINCT response_id, question_id
            FROM human_labels SEMI JOIN held_out USING (response_id) WHERE question_id = ?
            """,
            [question.id],
        )


def why_not_held_out(connection: Connection, tuning: Tuning) -> str:
    """Return why no test is held out, so that none can be evaluated; empty if one is."""
    if not tuning.holdout:
        return "tuning: {holdout: false} is declared"
    [(n_groups,)] = connection.execute(
        "SELECT count(DISTINCT group_id) FROM response_groups"
    ).fetchall()
    if n_groups >= FEWEST_GROUPS_OF_A_TEST:
        return ""
    return (
        f"{counted(n_groups, 'response group')}, and {FEWEST_GROUPS_OF_A_TEST} are needed to hold "
        "out a test"
    )


def tuning_units(
    connection: Connection,
    questions: Collection[RubricQuestion],
    *,
    shares: SplitShares,
    texts: bool = True,
) -> dict[str, RatedUnits]:
    """Return the rated responses of each question, with every judge's scores before any map.

    If a disagreement was adjudicated, the consensus replaces the ratings of the response; what
    they left out as ambiguous is left out.

    Prompts, responses and earlier turns are loaded only with `texts`: only judges with prompts are
    tuned on them.
    """
    if not questions:
        return {}
    prompt, response = ("prompt_text", "response_text") if texts else ("''", "''")
    responses = connection.execute(
        f"""
        SELECT response_id AS response_ids, response_groups.group_id AS groups,
               coalesce(model_name, '') AS models,
               coalesce({prompt}, '') AS prompt_texts, coalesce({response}, '') AS response_texts
        FROM responses JOIN response_groups USING (response_id) ORDER BY response_id
        """  # noqa: S608 - constants of ours
    ).fetchnumpy()
    responses["splits"] = splits_of(responses["groups"], shares)
    group = group_codes(connection)
    history = earlier_turns(connection) if texts else {}
    text_hashes = dict(
        connection.execute(
            """SELECT response_id, left(md5(concat_ws(chr(0), prompt_text, response_text)), 12)
               FROM responses WHERE coalesce(prompt_text, '') || coalesce(response_text, '') <> ''
            """
        ).fetchall()
    )
    names = [question.id for question in questions]
    humans = long_ratings(connection, "reference", names, group=group)
    judges = long_ratings(connection, "unmapped_judge", names, group=group)
    spreads = long_ratings(connection, "replicate_spread", names, group=group)
    units = {}
    for question in questions:
        of, spread = humans[question.id], spreads[question.id]
        rated, raters = (np.flatnonzero(np.bincount(item)) for item in (of.unit, of.rater))
        ratings = np.full((len(rated), len(raters)), np.nan)
        ratings[np.searchsorted(rated, of.unit), np.searchsorted(raters, of.rater)] = of.value
        scores = _by_judge(connection, judges[question.id])
        by_judge = zip(spread.rater_ids, spread.matrix().T, strict=True)
        # Where all responses are rated, the questions share what is known of these.
        selected = slice(None) if len(rated) == of.n_responses else rated
        units[question.id] = RatedUnits(
            question=question,
            ratings=ratings,
            scores={judge: values[rated] for judge, values in scores.items()},
            spreads={judge: values[rated] for judge, values in by_judge},
            history=history,
            shown={},
            text_hashes=text_hashes,
            **{name: np.asarray(values)[selected] for name, values in responses.items()},
        )
    return units


def questions_where_people_agree(connection: Connection) -> frozenset[str]:
    """Return the questions that pass every gate on humans, of any severity."""
    verdicts = read_table(connection, "gate_verdicts")
    verdicts = verdicts[verdicts["gate"].isin(HUMAN_GATES)].dropna(subset="question_id")
    passes = (verdicts["verdict"] == "pass").groupby(verdicts["question_id"]).all()
    return frozenset(passes[passes].index)


def _by_judge(connection: Connection, values: LongRatings) -> dict[str, NDArray[np.float64]]:
    """Return each judge's score of every response.

    All are NaN if it scored none, as one who scores conversations.
    """
    without = {
        judge: np.full(values.n_responses, np.nan) for judge in judge_fingerprints(connection)
    }
    return without | dict(zip(values.rater_ids, values.matrix().T, strict=True))


def system_responses(
    connection: Connection,
    questions: Collection[RubricQuestion],
    *,
    shares: SplitShares,
) -> dict[tuple[str, str], SystemResponses]:
    """Return the responses that each judge scored with reference values, by question and judge.

    Ratings of a held-out test correct no judge. One that rates as a tuned version is corrected by
    ratings of a shown test alone: it was fitted to those of train and dev, which would understate
    its errors.
    """
    if not questions:
        return {}
    rows = connection.execute(
        """
        SELECT coalesce(model_name, '') AS system, response_groups.group_id AS "group"
        FROM responses JOIN response_groups USING (response_id) ORDER BY response_id
        """
    ).fetchnumpy()
    systems = np.asarray(rows["system"], dtype=object)
    group = group_codes(connection)
    slices = {
        name: np.array([*values, ""], dtype=object)[codes]  # of no value, -1: the last one
        for name, (codes, values) in slices_in_order(connection).items()
        if name not in ("model_name", "prompt_id")
    }
    names = [question.id for question in questions]
    humans = long_ratings(connection, "reference_outside_test", names, group=group)
    means = {name: ratings.means() for name, ratings in humans.items()}
    del humans  # before the scores are loaded
    judges = long_ratings(connection, "judge", names, group=group)
    tuned = dict(judge_fingerprints(connection).items() - declared_fingerprints(connection).items())
    is_seen = splits_of(rows["group"], shares) != "test" if tuned else np.zeros(len(group), bool)
    responses = {}
    for question in questions:
        mean = means[question.id]
        for judge, scores in _by_judge(connection, judges[question.id]).items():
            scored = ~np.isnan(scores)
            human = np.where(is_seen, np.nan, mean) if judge in tuned else mean
            responses[question.id, judge] = SystemResponses(
                systems=systems[scored],
                groups=group[scored],
                human=human[scored],
                judge=scores[scored],
                slices={name: values[scored] for name, values in slices.items()},
                scale=question.scale,
            )
    return responses


def costs_of_prompts(
    connection: Connection,
) -> dict[tuple[str, str], float | None]:
    """Return the cost of 1,000 scores in USD, by live judge and hash of its prompt.

    It is None if some cost is not known.
    """
    rows = connection.execute(
        """SELECT judge_id, prompt_hash,
                  if(count(*) = count(cost_usd), 1000 * sum(cost_usd), NULL)
                  / nullif(count(*) FILTER (status = 'ok'), 0)
           FROM tuned_judge_scores GROUP BY ALL"""
    ).fetchall()
    return {(judge_id, prompt_hash): usd for judge_id, prompt_hash, usd in rows}


def cost_of_requests(connection: Connection) -> dict[str, float | None]:
    """Return the cost of 1,000 requests to each live judge in USD; None if not known."""
    rows = connection.execute(
        """SELECT judge_id, if(count(*) = count(cost_usd), 1000 * avg(cost_usd), NULL)
           FROM judge_calls WHERE operation = 'judging' AND status = 'ok' GROUP BY judge_id"""
    ).fetchall()
    return dict(rows)


def models_returned(connection: Connection) -> dict[str, tuple[str, ...]]:
    """Return the models named in the replies of each live judge."""
    rows = connection.execute(
        """SELECT judge_id, list_sort(list(DISTINCT model_returned)) FROM judge_calls
           WHERE operation = 'judging' AND model_returned IS NOT NULL GROUP BY judge_id"""
    ).fetchall()
    return {judge: tuple(models) for judge, models in rows}
