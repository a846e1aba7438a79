"""Scores of judges with tuned prompts, and remarks of raters and judges on responses."""

import json
from collections.abc import Mapping

import duckdb
import numpy as np
import pandas as pd

from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.seals import JudgeLedger
from eval_assets.tuning.prompt_training_data import Words
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import PromptedScores
from eval_assets.wording import storable


def prompted_scores(
    connection: duckdb.DuckDBPyConnection, units: Mapping[str, RatedUnits]
) -> PromptedScores:
    """Return the stored scores of tuned prompts, for the rated units."""
    stored = connection.execute("FROM tuned_judge_scores").df()
    return scores_by_prompt(stored, units)


def scores_by_prompt(stored: pd.DataFrame, units: Mapping[str, RatedUnits]) -> PromptedScores:
    """Return rows of `tuned_judge_scores` by judge and prompt, for the rated units."""
    if stored.empty:
        return {}
    stored = stored[stored["status"] == "ok"]
    result: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for (judge_id, prompt_hash), rows in stored.groupby(["judge_id", "prompt_hash"]):
        of_judge = result.setdefault((str(judge_id), str(prompt_hash)), {})
        for question_id, rated in units.items():
            own = rows[rows["question_id"] == question_id].set_index("response_id")["score"]
            of_judge[question_id] = own.reindex(list(rated.response_ids)).to_numpy(np.float64)
    return result


def has_prompts(ledger: SqlLedger) -> bool:
    """Return whether any version of a judge has a prompt, as none of a recorded judge has."""
    return any(version.prompt_text for version in JudgeLedger(ledger).versions())


def words_on(
    connection: duckdb.DuckDBPyConnection, question_id: str, replies: pd.DataFrame
) -> Words:
    """Return remarks of a judge and of raters on responses, for one question.

    Args:
        connection: The database.
        question_id: The question.
        replies: Rows of `tuned_judge_scores` of the judge, with one prompt.
    """
    values = connection.execute(
        f"SELECT response_id, source, text FROM ({_REMARKS_SQL}) WHERE question_id = $question",  # noqa: S608 - a constant of ours
        {"question": question_id},
    ).fetchall()
    notes: dict[str, dict[str, str]] = {}
    for response_id, source, text in values:
        notes.setdefault(response_id, {})[source] = text
    own = replies[(replies["question_id"] == question_id) & (replies["status"] == "ok")]
    said = zip(own["response_id"], own["raw_output"], strict=True)
    return Words({response: _rationale(reply) for response, reply in said}, notes)


def prompt_sources(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the ids of everything that prompts are made from and that is not withdrawn.

    These are rated answers, raters' notes and the reasons of adjudications.
    """
    rows = connection.execute(
        f"""SELECT source FROM ({_REMARKS_SQL})
            UNION SELECT response_id FROM human_labels
            UNION SELECT response_id FROM adjudicated_labels"""  # noqa: S608 - as above
    ).fetchall()
    return frozenset(source for (source,) in rows)


_REMARKS_SQL = """
    SELECT response_id, question_id, response_id || '/' || rater_id AS source, notes AS text
    FROM human_labels WHERE trim(coalesce(notes, '')) <> ''
    UNION ALL
    SELECT response_id, question_id, response_id || '/adjudication',
           'Settled at ' || value || ': ' || reason
    FROM adjudicated_labels WHERE NOT excluded AND trim(reason) <> ''
"""


def _rationale(reply: str | None) -> str:
    """Return the reasons in a judge's reply; empty if it gave none."""
    try:
        result = json.loads(reply or "")
    except ValueError:
        return ""
    return storable(str(result.get("rationale") or "")) if isinstance(result, dict) else ""
