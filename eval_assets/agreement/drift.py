"""What is rated again: drift of judges' scores on anchors, and repeatability of raters.

A judge scores anchors again in each round.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.agreement.ratings import Row
from eval_assets.catalogue import CONFIDENCE
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats import (
    Alpha,
    PairwiseAgreement,
    RatingPatterns,
    coefficient_interval,
    least_p_value,
    mean_shift,
)
from eval_assets.wording import or_none

TOTAL_SIGNIFICANCE = 0.05
"""Chance that any round reports a judge that did not change."""

ANCHOR_KEY = ("judge_id", "fingerprint", "question_id", "rubric")
"""Key of a set of anchors; another judge or wording of a question has other anchors."""


def choose_anchors(
    response_ids: Sequence[str], groups: Sequence[str], *, question_id: str, most: int
) -> list[int]:
    """Return the indices of the responses that become anchors: one per group, by a hash."""

    def by_chance(place: int) -> str:
        return hashlib.sha256(f"{question_id}\n{response_ids[place]}".encode()).hexdigest()

    chosen: dict[str, int] = {}
    for place in sorted(range(len(response_ids)), key=by_chance):
        chosen.setdefault(groups[place], place)
    return list(chosen.values())[:most]


def new_anchors(  # noqa: PLR0913 - the candidates for anchors, and their judges
    scored: pd.DataFrame,
    frozen: pd.DataFrame,
    *,
    judges: Mapping[str, str],
    rubrics: Mapping[str, str],
    most: int,
    at: datetime,
) -> list[Row]:
    """Return anchors for every judge and question without anchors."""
    known_keys = {_key(row) for row in frozen.to_dict("records")}
    rows: list[Row] = []
    for names, units in scored.groupby(["judge_id", "question_id"]):
        judge_id, question_id = map(str, names)
        if judge_id not in judges or question_id not in rubrics:
            continue
        key = (judge_id, judges[judge_id], question_id, rubrics[question_id])
        if key in known_keys:
            continue
        ids, groups = units["response_id"].tolist(), units["group_id"].tolist()
        chosen = choose_anchors(ids, groups, question_id=question_id, most=most)
        texts = units.iloc[chosen][["response_id", "prompt_text", "response_text", "score"]]
        named = dict(zip(ANCHOR_KEY, key, strict=True))
        rows += [
            {**named, **{str(k): v for k, v in row.items()}, "frozen_at": at}
            for row in texts.to_dict("records")
        ]
    return rows


def due_anchors(  # noqa: PLR0913 - the anchors, the earlier rounds and the declarations
    frozen: pd.DataFrame,
    rounds: pd.DataFrame,
    *,
    judges: Mapping[str, str],
    rubrics: Mapping[str, str],
    pause: timedelta,
    now: datetime,
) -> tuple[pd.DataFrame, int]:
    """Return the anchors that are due to be scored again, with the number of their round.

    Rows of `drift_anchors` with `round`; and the number of tests in a round, of anchors that are
    not due included. `rounds` are rows of `judge_drift`, oldest first.
    """
    watched = {(*judge, *rubric) for judge in judges.items() for rubric in rubrics.items()}
    latest = {_key(row): (row["round"], row["judged_at"]) for row in rounds.to_dict("records")}
    due, tests = [], set()
    for row in frozen.to_dict("records"):
        if (key := _key(row)) in watched:
            tests.add(key)
            number, at = latest.get(key, (0, row["frozen_at"]))
            if now - datetime.fromisoformat(at) >= pause:
                due.append({**row, "round": int(number) + 1})
    return pd.DataFrame(due), len(tests)


def _key(row: Mapping[Any, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in ANCHOR_KEY)


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
    else:
        has_moved = shift.p_value <= significance
        verdict = "moved" if has_moved else "stable"
        reason = (
            f"the same {shift.n} answers are scored {shift.value:+z.2f} "
            f"[{shift.low:+z.2f}, {shift.high:+z.2f}] from what they were"
            f"{'' if has_moved else ', which may be chance'}"
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


def measure_repeatability(repeated: pd.DataFrame, evaluation: Evaluation) -> pd.DataFrame:
    """Return rows of `repeatability`.

    Each matrix has a row for a rater and a response, or a rater and a text, and a column for a run
    or a copy. Two copies that are rated side by side are remembered, so the same text underrates
    the noise of people.

    Args:
        repeated: Ratings given more than once: kind, source, question_id, rater_id, row (a rater's
            response or text), group and value.
        evaluation: Declares the questions.
    """
    rows: list[Row] = []
    orders = {question.id: question.has_order for question in evaluation.rubric}
    for key, part in repeated.groupby(["kind", "source", "question_id"], sort=True):
        kind, source, question_id = map(str, key)
        if question_id not in orders:
            continue
        subject = {"kind": kind, "source": source, "question_id": question_id}
        raters = [(str(name), of_rater) for name, of_rater in part.groupby("rater_id", sort=True)]
        together = [(None, part)] if kind == "human" else []
        for rater_id, ratings in [*together, *raters]:
            figures = _figures(ratings, has_order=orders[question_id])
            rows.append({"rater_id": rater_id, **subject, **figures})
    return pd.DataFrame(rows)


def _figures(ratings: pd.DataFrame, *, has_order: bool) -> Row:
    row, group = (pd.factorize(ratings[name])[0] for name in ("row", "group"))
    n_rows = int(row.max()) + 1
    group_of_row = np.zeros(n_rows, dtype=np.int64)
    group_of_row[row] = group
    order = np.argsort(row, kind="stable")
    values = ratings["value"].to_numpy(np.float64)[order]
    patterns = RatingPatterns.from_ratings(row[order], values, n_units=n_rows, groups=group_of_row)
    equal = coefficient_interval(patterns, PairwiseAgreement(within=0), confidence=CONFIDENCE)
    flips = equal.times(-1, plus=1)
    n_of_row = np.bincount(row)
    figures: Row = {
        "n_pairs": int((n_of_row * (n_of_row - 1) // 2).sum()),
        "n_groups": len(np.unique(group)),
        "flip_rate": or_none(flips.value),
        "low": or_none(flips.low),
        "high": or_none(flips.high),
    }
    if has_order:  # the intraclass correlation is alpha with the squared distance
        icc = coefficient_interval(patterns, Alpha("interval"), confidence=CONFIDENCE)
        figures |= {"icc": or_none(icc.value), "icc_low": or_none(icc.low)}
        figures |= {"icc_high": or_none(icc.high)}
    return figures
