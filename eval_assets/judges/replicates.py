"""Scores of a judge: the readings of its replies to one unit, combined."""

import json
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from eval_assets.config.judges import Aggregate
from eval_assets.judges.replies import Reading, Status


@dataclass(frozen=True)
class JudgeScore:
    """A judge's rating of one unit.

    Args:
        response_id: Response that was rated.
        question_id: Rubric question.
        judge_id: Judge that rated.
        status: `ok` if any replicate has a score; else the status of most of them.
        score: Score, of several replicates their aggregate; NaN unless `status` is `ok`.
        raw_score: Number that was read, also if it is out of range; of several replicates with a
            score the aggregate.
        raw_output: The reply, as received; of several replicates the JSON list of their replies.
        rationale: The judge's reasons, of its first score.
        error: What went wrong if there is no reply.
        n_replies: Replicates with a score.
        n_replicates: Replicates asked for.
        aggregate: How the score comes from the replicates' scores.
        spread: Highest minus lowest score of the replicates, in scale points; NaN below two scores.
    """

    response_id: str
    question_id: str
    judge_id: str
    status: Status
    score: float
    raw_score: float
    raw_output: str
    rationale: str
    error: str
    n_replies: int
    n_replicates: int
    aggregate: Aggregate
    spread: float


def combine(
    readings: Sequence[Reading],
    *,
    response_id: str,
    question_id: str,
    judge_id: str,
    aggregate: Aggregate,
) -> JudgeScore:
    """Return the score of one unit from the readings of all its replicates.

    Args:
        readings: One reading per replicate, at least one.
        response_id: Response that was rated.
        question_id: Rubric question.
        judge_id: Judge that rated.
        aggregate: How several scores become one. Replicates without a score are left out.
    """
    good = [reading for reading in readings if reading.status == "ok"]
    status: Status = "ok" if good else Counter(r.status for r in readings).most_common(1)[0][0]
    shown = next(reading for reading in readings if reading.status == status)
    scores = [reading.score for reading in good]
    score = _aggregated(scores, aggregate)
    return JudgeScore(
        response_id=response_id,
        question_id=question_id,
        judge_id=judge_id,
        status=status,
        score=score,
        raw_score=score if good else shown.raw_score,
        raw_output=shown.raw_output
        if len(readings) == 1
        else json.dumps([reading.raw_output for reading in readings], ensure_ascii=False),
        rationale=shown.rationale,
        error=shown.error,
        n_replies=len(good),
        n_replicates=len(readings),
        aggregate=aggregate,
        spread=max(scores) - min(scores) if len(scores) > 1 else math.nan,
    )


def _aggregated(scores: Sequence[float], aggregate: Aggregate) -> float:
    if not scores:
        return math.nan
    match aggregate:
        case "mean":
            return statistics.fmean(scores)
        case "median":
            return statistics.median(scores)
        case _ as unreachable:
            assert_never(unreachable)
