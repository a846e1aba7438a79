"""Anchors: responses that a judge scores again in each round, to see whether it drifts."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pandas as pd

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
) -> list[dict[str, object]]:
    """Return anchors for every judge and question without anchors."""
    known_keys = set(_keys(frozen))
    rows: list[dict[str, object]] = []
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
    columns = rounds.get("round", ()), rounds.get("judged_at", ())
    latest = {
        key: (int(number), str(at)) for key, number, at in zip(_keys(rounds), *columns, strict=True)
    }
    indices, numbers, tests = [], [], set()
    for index, key in enumerate(_keys(frozen)):
        if key in watched:
            tests.add(key)
            number, at = latest.get(key, (0, frozen["frozen_at"].iloc[index]))
            if now - datetime.fromisoformat(at) >= pause:
                indices.append(index)
                numbers.append(number + 1)
    return frozen.iloc[indices].assign(round=numbers), len(tests)


def _keys(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    if rows.empty:
        return []
    return list(rows[list(ANCHOR_KEY)].itertuples(index=False, name=None))
