"""Anchors of judges: responses that a judge scores again in each drift round."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pandas as pd

ANCHOR_KEY = ("judge_id", "fingerprint", "question_id", "rubric")
"""Whose anchors they are: another judge, or a question put otherwise, has others."""


def choose_anchors(
    response_ids: Sequence[str], groups: Sequence[str], *, question_id: str, most: int
) -> list[int]:
    """Return the places of the answers that become anchors: one of each group, by a hash.

    Args:
        response_ids: Answers that the judge has rated.
        groups: Group of each.
        question_id: Question that they were rated on.
        most: Number of anchors; fewer if there are fewer groups.
    """

    def by_chance(place: int) -> str:
        return hashlib.sha256(f"{question_id}\n{response_ids[place]}".encode()).hexdigest()

    chosen: dict[str, int] = {}
    for place in sorted(range(len(response_ids)), key=by_chance):
        chosen.setdefault(groups[place], place)
    return list(chosen.values())[:most]


def new_anchors(  # noqa: PLR0913 - what anchors are chosen from, and of whom they are
    scored: pd.DataFrame,
    frozen: pd.DataFrame,
    *,
    judges: Mapping[str, str],
    rubrics: Mapping[str, str],
    most: int,
    at: datetime,
) -> list[dict[str, object]]:
    """Return anchors for every judge and question that has none yet.

    Args:
        scored: All scores of single answers, with what was rated and its group.
        frozen: Rows of `drift_anchors` so far.
        judges: Fingerprint of each judge that is watched.
        rubrics: Fingerprint of each question.
        most: Anchors for each judge and question.
        at: The present.

    Returns:
        Rows of `drift_anchors`.
    """
    known = set(_keys(frozen))
    rows: list[dict[str, object]] = []
    for names, own in scored.groupby(["judge_id", "question_id"]):
        judge_id, question_id = map(str, names)
        if judge_id not in judges or question_id not in rubrics:
            continue
        key = (judge_id, judges[judge_id], question_id, rubrics[question_id])
        if key in known:
            continue
        chosen = choose_anchors(
            own["response_id"].tolist(),
            own["group_id"].tolist(),
            question_id=question_id,
            most=most,
        )
        texts = own.iloc[chosen][["response_id", "prompt_text", "response_text", "score"]]
        named = dict(zip(ANCHOR_KEY, key, strict=True))
        rows += [
            {**named, **{str(k): v for k, v in row.items()}, "frozen_at": at}
            for row in texts.to_dict("records")
        ]
    return rows


def due_anchors(  # noqa: PLR0913 - what is frozen, what was asked, and what is declared now
    frozen: pd.DataFrame,
    rounds: pd.DataFrame,
    *,
    judges: Mapping[str, str],
    rubrics: Mapping[str, str],
    pause: timedelta,
    now: datetime,
) -> tuple[pd.DataFrame, int]:
    """Return the anchors that are to be rated again now, with the number of their round.

    Args:
        frozen: Rows of `drift_anchors`.
        rounds: Rows of `judge_drift` so far, oldest first; times are text in ISO 8601.
        judges: Fingerprint of each judge that is watched.
        rubrics: Fingerprint of each question.
        pause: Time between two rounds.
        now: The present.

    Returns:
        Rows of `drift_anchors` with `round`; and the number of tests in a round, of anchors that
        are not due included.
    """
    watched = {(*judge, *rubric) for judge in judges.items() for rubric in rubrics.items()}
    latest: dict[tuple[str, ...], tuple[int, str]] = {
        key: (int(number), str(at))
        for key, number, at in zip(
            _keys(rounds), rounds.get("round", ()), rounds.get("judged_at", ()), strict=True
        )
    }
    places, numbers, tests = [], [], set()
    for place, (key, frozen_at) in enumerate(
        zip(_keys(frozen), frozen.get("frozen_at", ()), strict=True)
    ):
        if key not in watched:
            continue
        tests.add(key)
        number, at = latest.get(key, (0, frozen_at))
        if now - datetime.fromisoformat(at) >= pause:
            places.append(place)
            numbers.append(number + 1)
    return frozen.iloc[places].assign(round=numbers), len(tests)


def _keys(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return whose anchors each row is about."""
    if rows.empty:
        return []
    return list(rows[list(ANCHOR_KEY)].itertuples(index=False, name=None))
