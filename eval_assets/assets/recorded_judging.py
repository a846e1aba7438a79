"""Scores of recorded judges, read from files or parsed from raw replies."""

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.errors import InputProblem, gathered, raise_all
from eval_assets.judges.replies import parse_reply
from eval_assets.readers.formats.table import FileTable
from eval_assets.readers.scores import (
    OF_CONVERSATION,
    UNPARSED,
    UNPARSED_OF_CONVERSATION,
    read_recorded_scores,
)


def recorded_scores(evaluation: Evaluation, responses: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the scores of each recorded judge, one row per unit.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, of whichever judge, in the end.
    """
    problems: list[InputProblem] = []
    tables: dict[Path, FileTable] = {}
    for judge in evaluation.judges:
        if judge.provider == "recorded":
            with gathered(problems):
                yield _scores_of(judge, evaluation, responses, tables)
    raise_all(problems, source="the recorded scores")


def _scores_of(
    judge: Judge, evaluation: Evaluation, responses: pd.DataFrame, tables: dict[Path, FileTable]
) -> pd.DataFrame:
    """Return one row per unit; a reply recorded without a score is parsed like a live one."""
    scores = read_recorded_scores(evaluation, judge, responses, tables=tables)
    replied = scores.index[scores["status"].isin((UNPARSED, UNPARSED_OF_CONVERSATION))]
    is_whole = scores.loc[replied, "status"] == UNPARSED_OF_CONVERSATION
    replies = scores.loc[replied, ["raw_output", "question_id"]].itertuples(index=False)
    readings = [
        parse_reply(str(reply.raw_output), evaluation.question(str(reply.question_id)).scale)
        for reply in replies
    ]
    scores.loc[replied, "score"] = [reading.score for reading in readings]
    scores.loc[replied, "raw_score"] = [reading.raw_score for reading in readings]
    scores.loc[replied, "status"] = [reading.status for reading in readings]
    whole = replied[is_whole & (scores.loc[replied, "status"] == "ok")]
    scores.loc[whole, "score"] = math.nan
    scores.loc[whole, "status"] = OF_CONVERSATION
    return scores
