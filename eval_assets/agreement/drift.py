"""Drift of judges' scores on anchors: responses that a judge scores again in each round."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats import least_p_value, mean_shift

TOTAL_SIGNIFICANCE = 0.05
"""Chance that any round reports a judge that did not change."""

Row = dict[str, object]


def drift_significance(round_: int, *, n_tests: int) -> float:
    """Return the two-sided level of each test of a round of judging anchors again.

    The levels .05 / (r (r + 1)) of all rounds r add up to .05, however many there will be.

    `n_tests` are the judges times questions that are tested in a round.

    Examples:
        >>> drift_significance(1, n_tests=1), drift_significance(2, n_tests=1)
        (0.025, 0.008333333333333333)
    """
    if round_ < 1 or n_tests < 1:
        raise ValueError(f"rounds and tests are counted from 1, got {round_} and {n_tests}")
    return TOTAL_SIGNIFICANCE / (round_ * (round_ + 1)) / n_tests


def drift_row(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    question: RubricQuestion,
    round_: int,
    n_tests: int,
) -> Row:
    """Return the row of `judge_drift` of one judge and question in a round.

    A missing score of `after` is NaN.
    """
    significance = drift_significance(round_, n_tests=n_tests)
    difference = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    span = question.scale.high - question.scale.low
    shift = mean_shift(difference, significance=significance, span=span)
    if not least_p_value(shift.n) <= significance:
        verdict = "not_evaluable"
        reason = f"{shift.n} anchors have both scores, too few for round {round_} to show anything"
    elif shift.p_value <= significance:
        verdict = "moved"
        reason = (
            f"the same {shift.n} answers are scored {shift.value:+z.2f} "
            f"[{shift.low:+z.2f}, {shift.high:+z.2f}] from what they were"
        )
    else:
        verdict = "stable"
        reason = (
            f"the same {shift.n} answers are scored {shift.value:+z.2f} "
            f"[{shift.low:+z.2f}, {shift.high:+z.2f}] from what they were, which may be chance"
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
        "verdict": verdict,
        "reason": reason,
    }


def moved_judges(rows: Sequence[Mapping[str, object]]) -> dict[str, list[str]]:
    """Return the reasons why judges count as moved by the latest rounds, by judge.

    `rows` of `judge_drift` are in the order of rounds.
    """
    latest = {(row["judge_id"], row["question_id"]): row for row in rows}
    reasons: dict[str, list[str]] = {}
    for (judge_id, question_id), row in latest.items():
        if row["verdict"] == "moved":
            reasons.setdefault(str(judge_id), []).append(f"{question_id}: {row['reason']}")
    return reasons
