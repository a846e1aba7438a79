"""Scores of judges with tuned prompts, and what people and judges wrote about answers."""

import json
from collections.abc import Mapping

import duckdb
import numpy as np
import pandas as pd

from eval_assets.store.tables import replace_rows
from eval_assets.tuning import RatedUnits, Scores, Words

PromptedScores = Mapping[tuple[str, str], Scores]
"""Scores by judge and hash of its prompt, and by question: one for each rated unit."""


def write_prompted_scores(connection: duckdb.DuckDBPyConnection, scores: pd.DataFrame) -> None:
    """Store scores of tuned prompts, in place of earlier ones of the same judges and prompts."""
    given = set(zip(scores["judge_id"], scores["prompt_hash"], strict=True))
    stored = connection.execute("SELECT * EXCLUDE (stale_because) FROM tuned_judge_scores").df()
    kept = [key not in given for key in zip(stored["judge_id"], stored["prompt_hash"], strict=True)]
    frames = [frame for frame in (stored[kept], scores) if len(frame)]
    replace_rows(connection, "tuned_judge_scores", pd.concat(frames) if frames else scores)


def prompted_scores(
    connection: duckdb.DuckDBPyConnection, units: Mapping[str, RatedUnits]
) -> PromptedScores:
    """Return the stored scores of tuned prompts, for the rated units."""
    stored = connection.execute(
        """SELECT judge_id, prompt_hash, question_id, response_id, score
           FROM tuned_judge_scores WHERE status = 'ok'"""
    ).df()
    found: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for (judge_id, prompt_hash), rows in stored.groupby(["judge_id", "prompt_hash"]):
        of_judge = found.setdefault((str(judge_id), str(prompt_hash)), {})
        for question_id, rated in units.items():
            own = rows[rows["question_id"] == question_id].set_index("response_id")["score"]
            of_judge[question_id] = own.reindex(list(rated.response_ids)).to_numpy(np.float64)
    return found


def words_on(connection: duckdb.DuckDBPyConnection, question_id: str, judge_id: str) -> Words:
    """Return a judge's reasons and raters' notes on one question."""
    replies = connection.execute(
        """SELECT response_id, raw_output FROM judge_scores
           WHERE question_id = $question AND judge_id = $judge AND status = 'ok'""",
        {"question": question_id, "judge": judge_id},
    ).fetchall()
    given = connection.execute(
        """SELECT response_id, rater_id, notes FROM human_labels
           WHERE question_id = $question AND trim(coalesce(notes, '')) <> ''""",
        {"question": question_id},
    ).fetchall()
    notes: dict[str, dict[str, str]] = {}
    for response_id, rater_id, note in given:
        notes.setdefault(response_id, {})[f"{response_id}/{rater_id}"] = note
    return Words({response: _rationale(reply) for response, reply in replies}, notes)


def _rationale(reply: str | None) -> str:
    """Return the reasons in a judge's reply; empty if it gave none."""
    try:
        found = json.loads(reply or "")
    except ValueError:
        return ""
    return str(found.get("rationale") or "") if isinstance(found, dict) else ""
