"""Drift of judges' scores on the same responses."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats import least_p_value, mean_shift

TOTAL_SIGNIFICANCE = 0.05
"""Chance that any round ever reports a judge that did not change."""

Row = dict[str, object]


@dataclass(frozen=True)
class MeanScores:
    """Mean scores of answers that a judge rated before its anchors were frozen, and since.

    Args:
        n_before: Answers before.
        before: Their mean score; NaN without any.
        n_since: Answers since.
        since: Their mean score; NaN without any.
    """

    n_before: int
    before: float
    n_since: int
    since: float


def drift_significance(round_: int, *, n_tests: int) -> float:
    """Return the two-sided level of each test of a round of judging anchors again.

    The levels .05 / (r (r + 1)) of all rounds r add up to .05, however many there will be.

    Args:
        round_: Number of the round, from 1.
        n_tests: Judges times questions that are tested in a round.

    Examples:
        >>> drift_significance(1, n_tests=1), drift_significance(2, n_tests=1)
        (0.025, 0.008333333333333333)
    """
    if round_ < 1 or n_tests < 1:
        raise ValueError(f"rounds and tests are counted from 1, got {round_} and {n_tests}")
    return TOTAL_SIGNIFICANCE / (round_ * (round_ + 1)) / n_tests


def drift_row(  # noqa: PLR0913 - two measurements, what they are of and at which level
    before: npt.ArrayLike,
    again: npt.ArrayLike,
    scores: MeanScores,
    *,
    question: RubricQuestion,
    round_: int,
    n_tests: int,
) -> Row:
    """Return what a round says of one judge on one question, as a row of `judge_drift`.

    Args:
        before: The scores of the anchors when they were frozen.
        again: Their scores in this round, NaN if missing.
        scores: Mean scores of all other answers, before and since.
        question: The question.
        round_: Number of the round, from 1.
        n_tests: Judges times questions that are tested in a round.
    """
    significance = drift_significance(round_, n_tests=n_tests)
    difference = np.asarray(again, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    span = question.scale.high - question.scale.low
    shift = mean_shift(difference, significance=significance, span=span)
    if not least_p_value(shift.n) <= significance:
        verdict = "not_evaluable"
        reason = f"{shift.n} anchors have both scores, too few for round {round_} to show anything"
    elif shift.p_value <= significance:
        verdict = "moved"
        reason = (
            f"the same {shift.n} answers are scored {shift.value:+.2f} "
            f"[{shift.low:+.2f}, {shift.high:+.2f}] from what they were"
        )
    else:
        verdict = "stable"
        reason = (
            f"the same {shift.n} answers are scored {shift.value:+.2f} "
            f"[{shift.low:+.2f}, {shift.high:+.2f}] from what they were, which may be chance"
        )
    change = scores.since - scores.before
    if verdict == "moved" and not math.isnan(change):
        reason += (
            f"; the {scores.n_since} answers judged since then have a mean {change:+.2f} from the "
            f"{scores.n_before} before, of which {shift.value:+.2f} [{shift.low:+.2f}, "
            f"{shift.high:+.2f}] is the judge and {change - shift.value:+.2f} the answers"
        )
    return {
        "round": round_,
        "n_anchors": shift.n,
        "n_moved": int(np.count_nonzero(np.nan_to_num(difference))),
        "shift": shift.value,
        "shift_low": shift.low,
        "shift_high": shift.high,
        "p_value": shift.p_value,
        "level": significance,
        "n_before": scores.n_before,
        "mean_before": scores.before,
        "n_since": scores.n_since,
        "mean_since": scores.since,
        "score_change": change,
        "verdict": verdict,
        "reason": reason,
    }


def moved_judges(rows: Sequence[Mapping[str, object]]) -> dict[str, list[str]]:
    """Return the reasons why judges count as moved, by judge: what the latest rounds say.

    Args:
        rows: Rows of `judge_drift` of the judges as they are now, in the order of rounds.
    """
    latest = {(row["judge_id"], row["question_id"]): row for row in rows}
    reasons: dict[str, list[str]] = {}
    for (judge_id, question_id), row in latest.items():
        if row["verdict"] == "moved":
            reasons.setdefault(str(judge_id), []).append(f"{question_id}: {row['reason']}")
    return reasons
