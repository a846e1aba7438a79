"""Progress of the raters: labels, hours, pace, and the responses that wait for each of them."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from eval_assets.config.labelling import CALIBRATION, DISCUSSION
from eval_assets.errors import InputError
from eval_assets.labelling.rater_queue import RaterQueue
from eval_assets.labelling.sessions import Label, time_text
from eval_assets.labelling.sheets import neutralised
from eval_assets.labelling.study import Study

LONGEST_SECONDS = 600
"""Time of one label above which the rater was away."""

RECENT = timedelta(days=7)
"""Time whose pace tells when a rater will be done."""


@dataclass(frozen=True, kw_only=True)
class RaterProgress:
    """Work of one rater in the current round.

    Args:
        rater_id: The rater.
        n_done: Units with an answer; None if a session file is damaged.
        n_units: Units to answer.
        n_skipped: Units answered as unclear; None likewise.
        hours: Time spent on answers, each counted up to `LONGEST_SECONDS`; None if no answer has
            a time.
        labels_per_hour: Answers with a time, by these hours.
        first_at: Time of the first answer.
        last_at: Time of the last answer.
        expected_at: When all is done at the pace of the last days; None if nothing is left, or
            nothing was answered in these days.
        n_held_up: Units that all of their other raters have answered.
        further_hours: Time spent on the calibration, in any round, and on discussing this round.
    """

    rater_id: str
    n_done: int | None
    n_units: int
    n_skipped: int | None
    hours: float | None = None
    labels_per_hour: float | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    expected_at: datetime | None = None
    n_held_up: int = 0
    further_hours: float | None = None


def rater_progress(study: Study, *, at: datetime) -> list[RaterProgress]:
    """Return the progress of each rater of a study."""
    labels = {rater: _labels(queue) for rater, queue in study.queues.items()}
    held_up = _held_up(study, labels)
    further = _further_labels(study)
    return [
        replace(
            _progress(rater, queue, labels[rater], at=at, n_held_up=held_up[rater]),
            further_hours=_hours(_seconds(further.get(rater, ()))),
        )
        for rater, queue in study.queues.items()
    ]


def progress_csv(progress: Sequence[RaterProgress]) -> str:
    """Return the progress as CSV, a line for each rater; what is unknown is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(RaterProgress.__annotations__))
    writer.writeheader()
    for rater in progress:
        writer.writerow({name: _cell(value) for name, value in asdict(rater).items()})
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, str):
        return neutralised(value)
    return round(value, 3) if isinstance(value, float) else value


def _labels(queue: RaterQueue) -> dict[int, Label] | None:
    try:
        return queue.labels()
    except InputError:
        return None


def _progress(
    rater: str,
    queue: RaterQueue,
    labels: dict[int, Label] | None,
    *,
    at: datetime,
    n_held_up: int,
) -> RaterProgress:
    n_units = len(queue.units)
    if labels is None:
        return RaterProgress(rater_id=rater, n_done=None, n_units=n_units, n_skipped=None)
    seconds = _seconds(labels.values())
    times = [label.events[0].labelled_at for label in labels.values() if label.is_time_known]
    hours = _hours(seconds)
    return RaterProgress(
        rater_id=rater,
        n_done=len(labels),
        n_units=n_units,
        n_skipped=sum(label.rating is None for label in labels.values()),
        hours=hours,
        labels_per_hour=len(seconds) / hours if hours else None,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        expected_at=_expected_end(times, n_left=n_units - len(labels), at=at),
        n_held_up=n_held_up,
    )


def _further_labels(study: Study) -> dict[str, list[Label]]:
    """Return the labels of each rater's calibration and discussion."""
    labels: dict[str, list[Label]] = {}
    for kind in (CALIBRATION, DISCUSSION):
        for session in study.sessions.readable(kind)[0]:
            if kind == CALIBRATION or session.key.round == study.evaluation.labelling.round:
                labels.setdefault(session.key.rater_id, []).extend(session.labels)
    return labels


def _seconds(labels: Iterable[Label]) -> list[float]:
    events = (event for label in labels for event in label.events)
    return [min(event.seconds, LONGEST_SECONDS) for event in events if event.seconds is not None]


def _hours(seconds: Sequence[float]) -> float | None:
    return sum(seconds) / 3600 if seconds else None


def _expected_end(times: Sequence[datetime], *, n_left: int, at: datetime) -> datetime | None:
    recent = [time for time in times if at - RECENT <= time <= at]
    if not recent or n_left <= 0:
        return None
    # A rater who began an hour ago may stop for the day: less than a day is no pace.
    duration = max(at - max(at - RECENT, min(times)), timedelta(days=1))
    return at + n_left / len(recent) * duration


def _held_up(study: Study, labels: dict[str, dict[int, Label] | None]) -> Counter[str]:
    """Count, for each rater, the units that only this one of several raters has left."""
    open_raters: dict[tuple[str, str], list[str]] = {}
    n_raters = Counter[tuple[str, str]]()
    for rater, queue in study.queues.items():
        answered = labels[rater] or {}
        for index, unit in enumerate(queue.units):
            if unit.is_counted:
                name = (unit.question.id, unit.response.response_id)
                n_raters[name] += 1
                if index not in answered:
                    open_raters.setdefault(name, []).append(rater)
    return Counter(
        raters[0] for name, raters in open_raters.items() if len(raters) == 1 and n_raters[name] > 1
    )
