"""Answers in sessions that do not count, as a frame."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from eval_assets.labelling.sessions import Label, Session, time_text

HISTORY_COLUMNS = (
    "response_id",
    "question_id",
    "rater_id",
    "round",
    "kind",
    "before",
    "after",
    "changed_at",
)
"""An answer that does not count: a 'change' of a label, a 'repeat' of a response, or a rating after
a 'discussion'."""


def history_rows(sessions: Iterable[Session]) -> pd.DataFrame:
    """Return all answers in sessions that do not count, in `HISTORY_COLUMNS`.

    `before` is the value that the answer changed, or of a repeat the value of the first time; it
    and `after` are NaN if the response was skipped.
    """
    rows: list[dict[str, object]] = []
    by_key = {session.key: session for session in sessions}
    for session in by_key.values():
        if session.key.kind:
            rows += _after_discussion(by_key.get(replace(session.key, kind="")), session)
            continue
        first = {label.response_id: label for label in session.labels if not label.is_repeat}
        for label in session.labels:
            if label.is_repeat and label.response_id in first:
                before = first[label.response_id]
                rows.append(_row(session, "repeat", before.rating, label))
            events = label.events
            rows += [
                _row(session, "change", earlier.rating, later)
                for earlier, later in pairwise(events)
                if not label.is_repeat and earlier.rating != later.rating
            ]
    return pd.DataFrame(rows, columns=list(HISTORY_COLUMNS)).astype(
        {"before": float, "after": float}
    )


def _after_discussion(before: Session | None, session: Session) -> Iterator[dict[str, object]]:
    for label in session.labels:
        first = before.by_unit.get(label.unit) if before else None
        yield _row(session, "discussion", first.rating if first else None, label)


def _row(session: Session, kind: str, before: float | None, after: Label) -> dict[str, object]:
    return {
        "response_id": after.response_id,
        "question_id": session.key.question_id,
        "rater_id": session.key.rater_id,
        "round": session.key.round,
        "kind": kind,
        "before": before,
        "after": after.rating,
        "changed_at": time_text(after.labelled_at) if after.is_time_known else None,
    }
