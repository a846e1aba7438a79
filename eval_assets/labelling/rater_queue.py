"""Where a rater labels: their work in order, with every answer saved as it is given."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from eval_assets.labelling.rater_view import guideline_hash
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import Answer, Label, Session, TextHashes
from eval_assets.labelling.work_items import WorkUnit


class Desk:
    """The work of one rater with the sessions that record it.

    Args:
        units: What the rater is to label, in order.
        sessions: Where labels are kept.
    """

    def __init__(self, units: Sequence[WorkUnit], sessions: SessionFolder) -> None:
        self.units = tuple(units)
        self._sessions = sessions
        self._n_units = Counter(unit.key for unit in units)

    def labels(self) -> dict[int, Label]:
        """Return the rater's label of each unit that has one, by the unit's place in `units`."""
        stored = {key: self._sessions.read(key) for key in self._n_units}
        given = {
            (key, label.unit): label
            for key, session in stored.items()
            if session is not None
            for label in session.labels
        }
        return {
            place: given[unit.key, unit.name]
            for place, unit in enumerate(self.units)
            if (unit.key, unit.name) in given
        }

    def answer(self, unit: WorkUnit, answer: Answer, *, at: datetime) -> Session:
        """Save an answer; once this returns, it survives whatever happens to the machine.

        Raises:
            ValueError: If the rating is not on the scale.
        """
        label = label_of(unit, answer, at=at)
        return self._change(unit, lambda session: session.with_label(label), at=at)

    def undo(self, unit: WorkUnit, *, at: datetime) -> Session:
        """Take back the last answer about a unit.

        Raises:
            ValueError: If there is none, or it is older than a minute.
        """
        return self._change(unit, lambda session: session.without_latest(unit.name, at=at), at=at)

    def close(self, *, at: datetime) -> None:
        """Note that the rater stopped: runs may use the labels without waiting."""
        for key in self._n_units:
            stored = self._sessions.read(key)
            if stored is not None and stored.closed_at is None:
                self._sessions.change(key, partial(_closed, at=at))

    def _change(
        self, unit: WorkUnit, change: Callable[[Session], Session], *, at: datetime
    ) -> Session:
        fresh = Session(
            key=unit.key,
            started_at=at,
            updated_at=at,
            n_units=self._n_units[unit.key],
            guideline_hash=guideline_hash(unit.question),
        )
        return self._sessions.change(
            unit.key,
            lambda stored: _closed_if_complete(
                replace(change(stored or fresh), n_units=self._n_units[unit.key]), at=at
            ),
        )


def label_of(
    unit: WorkUnit, answer: Answer, *, at: datetime, hashes: TextHashes | None = None
) -> Label:
    """Return an answer as a label of its unit.

    Args:
        unit: What is answered.
        answer: The answer.
        at: When it was given.
        hashes: What the rater saw; None if that is what the unit is now.

    Raises:
        ValueError: If the rating is not on the question's scale.
    """
    scale = unit.question.scale
    if answer.rating is not None and not scale.contains(answer.rating):
        raise ValueError(f"{answer.rating:g} is not on the scale. Use {scale.described()}")
    return Label(
        response_id=unit.response.response_id,
        is_repeat=unit.is_repeat,
        labelled_at=at,
        hashes=hashes or unit.response.hashes(unit.question),
        **answer.answer_fields(),
    )


def now() -> datetime:
    """Return the present time in UTC, in milliseconds: as sessions store it.

    Examples:
        >>> now().microsecond % 1000
        0
    """
    time = datetime.now(tz=UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def _closed(session: Session | None, *, at: datetime) -> Session:
    if session is None:
        raise FileNotFoundError("the session's file was removed")
    return replace(session, updated_at=at, closed_at=at)


def _closed_if_complete(session: Session, *, at: datetime) -> Session:
    return replace(session, closed_at=at) if len(session.labels) >= session.n_units else session
