"""Scores of recorded judges: read, and raw replies parsed."""

import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.judges import parse_reply
from eval_assets.raters import Judge
from eval_assets.readers import UNPARSED, read_recorded_scores


def recorded_scores(evaluation: Evaluation, judge: Judge, responses: pd.DataFrame) -> pd.DataFrame:
    """Return one row per unit; a reply recorded without a score is parsed like a live one."""
    scores = read_recorded_scores(evaluation, judge, responses)
    unparsed = scores.index[scores["status"] == UNPARSED]
    replies = scores.loc[unparsed, ["raw_output", "question_id"]].itertuples(index=False)
    readings = [
        parse_reply(str(reply.raw_output), evaluation.question(str(reply.question_id)).scale)
        for reply in replies
    ]
    scores.loc[unparsed, "score"] = [reading.score for reading in readings]
    scores.loc[unparsed, "raw_score"] = [reading.raw_score for reading in readings]
    scores.loc[unparsed, "status"] = [reading.status for reading in readings]
    return scores
