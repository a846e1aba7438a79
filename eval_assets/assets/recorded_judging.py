"""Scores of recorded judges: read, and raw replies parsed."""

import pandas as pd

from eval_assets.evaluation import Evaluation, Judge
from eval_assets.judges import parse_verdict
from eval_assets.readers import UNPARSED, read_recorded_scores


def recorded_scores(evaluation: Evaluation, judge: Judge, responses: pd.DataFrame) -> pd.DataFrame:
    """One row a unit; a reply recorded without a score is parsed as strictly as a live one."""
    scores = read_recorded_scores(evaluation, judge, responses)
    unparsed = scores.index[scores["status"] == UNPARSED]
    replies = scores.loc[unparsed, ["raw_output", "question_id"]].itertuples(index=False)
    verdicts = [
        parse_verdict(str(reply.raw_output), evaluation.question(str(reply.question_id)).scale)
        for reply in replies
    ]
    scores.loc[unparsed, "score"] = [verdict.score for verdict in verdicts]
    scores.loc[unparsed, "raw_score"] = [verdict.raw_score for verdict in verdicts]
    scores.loc[unparsed, "status"] = [verdict.status for verdict in verdicts]
    return scores
