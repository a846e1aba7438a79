"""Sessions as frames: labels with time and validity, and answers that do not count."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from eval_assets.labelling.adjudication import Adjudication
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_view import ResponseView
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


class ControlUnit(NamedTuple):
    """A response with a settled value, and a rater who labels it without knowing."""

    response_id: str
    question_id: str
    rater_id: str


_UNIT_AND_RATER = ["response_id", "question_id", "rater_id"]


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


def with_session_fields(
    labels: pd.DataFrame, sessions: Iterable[Session], responses: Mapping[str, ResponseView]
) -> pd.DataFrame:
    """Return labels with `seconds`, `words` and `is_outdated`, from the sessions that hold them.

    `words` are those of the response.

    A label is outdated if its prompt or response is not what the rater saw.
    """
    outdated = cache(partial(_is_outdated, responses))
    in_order = sorted(sessions, key=lambda session: session.key.round)
    entries = [
        (
            label.response_id,
            session.key.question_id,
            session.key.rater_id,
            label.seconds,
            outdated(label.response_id, label.hashes.prompt, label.hashes.response),
        )
        for session in in_order
        for label in session.by_unit.values()
        if not label.is_repeat
    ]
    columns = [*_UNIT_AND_RATER, "seconds", "is_outdated"]
    session_rows = pd.DataFrame(entries, columns=columns)
    session_rows = session_rows.drop_duplicates(_UNIT_AND_RATER, keep="last")
    if session_rows.empty:
        return labels.assign(seconds=math.nan, words=math.nan, is_outdated=False)
    joined = labels.merge(session_rows, on=_UNIT_AND_RATER, how="left")
    is_outdated = joined["is_outdated"].eq(True)
    words = {name: view.n_words for name, view in responses.items()}
    return joined.assign(
        seconds=joined["seconds"].astype(float),
        words=joined["response_id"].map(words).astype(float),
        is_outdated=is_outdated,
    )


def control_values(
    assignments: Iterable[Assignment],
    adjudications: Mapping[tuple[str, str], Adjudication],
) -> dict[ControlUnit, float]:
    """Return the settled value of each assigned control response."""
    return {
        ControlUnit(assignment.response_id, question_id, assignment.rater_id): decision.value
        for assignment in assignments
        for (response_id, question_id), decision in adjudications.items()
        if assignment.purpose == "control"
        and assignment.response_id == response_id
        and assignment.question_id in {None, question_id}
        and decision.value is not None
    }


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


def _is_outdated(
    responses: Mapping[str, ResponseView], response_id: str, prompt: str, response: str
) -> bool:
    view = responses.get(response_id)
    if view is None or not view.questions:
        return False
    now = view.hashes(view.questions[0])
    return (now.prompt, now.response) != (prompt, response)
