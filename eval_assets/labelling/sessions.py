"""Labelling sessions: the answers of one rater in one round of one question."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_type_hints
from urllib.parse import quote

from pydantic import AwareDatetime, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

UNDO = timedelta(minutes=1)
"""A label that is undone or replaced within this time was a slip, not a change of mind."""

Confidence = Literal["high", "medium", "low"]

Unit = tuple[str, bool]
"""A unit of a session: a response, the first time (False) or as a repeat (True)."""

_IN_JSON = ConfigDict(alias_generator=to_camel, extra="forbid", defer_build=True)
_SESSION_IN_JSON = ConfigDict(alias_generator=to_camel, extra="ignore", defer_build=True)

Rating = Annotated[float, Field(allow_inf_nan=False, strict=True)]

_Text = Annotated[str, Field(max_length=5000)]


@dataclass(frozen=True, kw_only=True)
class TextHashes:
    """Hashes of the texts that a rater saw, to which a label belongs."""

    __pydantic_config__ = _IN_JSON

    prompt: str
    response: str
    guidelines: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A rater's answer about one unit, the same in a page, a terminal and a session file.

    Args:
        rating: Value on the question's scale; None if the rater skipped the response.
        confidence: Confidence of the rater; None if not stated.
        issues: Problems of the response, one by one.
        seconds: Time between seeing the response and answering; None if not known.
        parses: Of code that does not run, whether it parses; None if not stated.
    """

    __pydantic_config__ = _IN_JSON

    rating: Rating | None = None
    confidence: Confidence | None = None
    notes: _Text = ""
    issues: tuple[_Text, ...] = ()
    skip_reason: _Text = ""
    seconds: Annotated[float, Field(ge=0, le=1e7)] | None = None
    parses: bool | None = None

    def answer_fields(self) -> dict[str, Any]:
        """Return the fields of the answer without those of a subclass."""
        return {field.name: getattr(self, field.name) for field in fields(Answer)}


@dataclass(frozen=True, kw_only=True)
class Label(Answer):
    """An answer about one response with its time, and earlier and later answers about it.

    Args:
        labelled_at: Time of the answer, in UTC.
        is_time_known: Whether the answer was given then; else it was stored then, because the
            clock of the page was wrong.
        is_repeat: Whether the response came back to the same rater, to see whether the rater
            agrees with themselves. Such a label is never part of agreement between raters.
        hashes: Texts that the rater saw.
        is_swapped: Of a comparison, whether `response_b` was shown first, as A. The rating is of
            the columns, not of the sides.
        history: Other answers to the same question by the same rater, in order of time.
    """

    response_id: Annotated[str, Field(alias="scenarioId")]
    labelled_at: Annotated[AwareDatetime, Field(alias="timestamp")]
    is_time_known: Annotated[bool, Field(alias="timeKnown")] = True
    is_repeat: Annotated[bool, Field(alias="repeat")] = False
    hashes: TextHashes
    is_swapped: Annotated[bool | None, Field(alias="swapped")] = None
    history: tuple["Label", ...] = ()

    @property
    def unit(self) -> Unit:
        """The unit that was answered."""
        return self.response_id, self.is_repeat

    @property
    def events(self) -> tuple["Label", ...]:
        """All answers about the unit, each by itself, in order of time."""
        if not self.history:
            return (self,)
        return tuple(sorted((replace(self, history=()), *self.history), key=_time))

    def about(self, *, prompt: str, response: str) -> "Label | None":
        """Return the label without answers about texts with other hashes; None if none is left."""
        texts = (prompt, response)
        events = [e for e in self.events if (e.hashes.prompt, e.hashes.response) == texts]
        return _decided(events) if events else None

    @property
    def remark(self) -> str:
        """The note, and whether A and B in it are the reverse of the columns."""
        return remark_of(self.notes, is_swapped=self.is_swapped is True)

    def says_the_same(self, other: "Label") -> bool:
        """Return whether both answers are equal apart from their times."""
        return other == replace(
            self,
            labelled_at=other.labelled_at,
            is_time_known=other.is_time_known,
            seconds=other.seconds,
        )


SWAPPED_SIDES = " (saw A and B swapped)"
"""End of a note whose writer saw as A the text that its reader sees as B."""


def remark_of(notes: str, *, is_swapped: bool) -> str:
    """Return a note with the sides that its writer saw.

    Examples:
        >>> remark_of("A is longer ", is_swapped=True), remark_of("", is_swapped=True)
        ('A is longer (saw A and B swapped)', '')
    """
    text = notes.strip()
    return f"{text}{SWAPPED_SIDES}" if text and is_swapped else text


def json_key(record: type, name: str) -> str:
    """Return the key of a field in JSON.

    Examples:
        >>> json_key(Label, "response_id"), json_key(Label, "skip_reason")
        ('scenarioId', 'skipReason')
    """
    annotation = get_type_hints(record, include_extras=True)[name]
    aliases = [item.alias for item in get_args(annotation)[1:] if isinstance(item, FieldInfo)]
    return next(filter(None, aliases), None) or to_camel(name)


def time_text(time: datetime) -> str:
    """Return a time in UTC as session files write it.

    Examples:
        >>> from datetime import UTC
        >>> time_text(datetime(2026, 11, 21, 4, 0, 0, 250_000, tzinfo=UTC))
        '2026-11-21T04:00:00.250Z'
    """
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


Time = Annotated[datetime, PlainSerializer(time_text, when_used="json-unless-none")]


_LONGEST_PART = 60
"""Longest part of a name of three or four; file systems allow 255 bytes, including endings."""


def file_name(name: str) -> str:
    """Return a name that any file system takes, that differs if the names do and is not hidden.

    A long one ends with a hash, since questions may be identified by their whole text.

    Examples:
        >>> [file_name(name) for name in ("anna", "../ben", "Zoë B.")]
        ['anna', '%2E.%2Fben', 'Zo%C3%AB%20B.']
        >>> file_name(100 * "é")
        '%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9-f42ec48e1e4b'
    """
    quoted = quote(name, safe="")
    if len(quoted) > _LONGEST_PART:
        digest = hashlib.sha256(name.encode()).hexdigest()[:12]
        quoted = f"{quoted[: _LONGEST_PART - 12]}-{digest}"
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


@dataclass(frozen=True, kw_only=True)
class SessionKey:
    """Rater, question, round and run of a session.

    `kind` is empty for labels, else what the answers are for, which then never count as labels.
    """

    __pydantic_config__ = _SESSION_IN_JSON

    rater_id: Annotated[str, Field(alias="labelerId")]
    question_id: Annotated[str, Field(alias="dimension")]
    run_id: str | None = None
    round: int = 1
    kind: str = ""

    @property
    def session_id(self) -> str:
        """Name of the session and of its file.

        Examples:
            >>> SessionKey(rater_id="anna", question_id="clarity").session_id
            'anna+clarity+r1'
            >>> SessionKey(rater_id="../a+b", question_id="q", round=2, run_id="7").session_id
            '%2E.%2Fa%2Bb+q+r2+7'
            >>> SessionKey(rater_id="anna", question_id="q", kind="calibration").session_id
            'calibration/anna+q+r1'
        """
        parts = [self.rater_id, self.question_id, f"r{self.round}"]
        name = "+".join(file_name(part) for part in [*parts, *filter(None, [self.run_id])])
        return f"{self.kind}/{name}" if self.kind else name


@dataclass(frozen=True)
class Undo:
    """Withdrawal of the last answer about a unit, in UTC."""

    unit: Unit
    undone_at: datetime


@dataclass(frozen=True)
class Close:
    """The rater stopped, in UTC; a later answer opens the session again."""

    closed_at: datetime


@dataclass(frozen=True)
class Total:
    """The number of units to label, from now on."""

    n_units: int


Event = Label | Undo | Close | Total
"""A change of a session."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """Labels of one rater, question, round and run, one for each response labelled.

    Args:
        key: Rater, question, round and run.
        updated_at: When the last label was given or undone.
        closed_at: When the rater stopped; None while they are working.
        guideline_hash: Hash of the question and guidelines as they were at the start.
        by_unit: The label of each unit. Of several answers about a unit the first rating decides;
            the others are its history.
    """

    __pydantic_config__ = _SESSION_IN_JSON

    key: SessionKey
    started_at: Time
    updated_at: Annotated[Time, Field(alias="lastUpdatedAt")]
    closed_at: Time | None = None
    n_units: Annotated[int, Field(alias="totalScenarios")]
    guideline_hash: str = ""
    by_unit: Mapping[Unit, Label] = field(default_factory=dict)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels in the order of their first answers."""
        labels = self.by_unit.values()
        return tuple(sorted(labels, key=lambda label: _time(label.events[0])))

    def after(self, events: Iterable[Event]) -> "Session":
        """Return the session after more events; the same session if they change nothing.

        An equal answer changes nothing. An answer within a minute of the last one about the unit
        replaces it; a later one is kept beside it.

        Raises:
            ValueError: If there is no answer to undo, or it is older than a minute.
        """
        by_unit = dict(self.by_unit)
        updated_at, closed_at, n_units = self.updated_at, self.closed_at, self.n_units
        is_changed = False
        for event in events:
            match event:
                case Close(at):
                    updated_at, closed_at = at, at
                case Total():
                    n_units = event.n_units
                case Undo(unit, at):
                    _undo(by_unit, unit, at=at)
                    updated_at, closed_at = max(updated_at, at), None
                case Label():
                    if not _add(by_unit, event):
                        continue
                    updated_at, closed_at = max(updated_at, event.labelled_at), None
            is_changed = True
        if not is_changed:
            return self
        return replace(
            self,
            by_unit=by_unit,
            updated_at=updated_at,
            closed_at=closed_at,
            n_units=n_units,
        )


def _add(by_unit: dict[Unit, Label], label: Label) -> bool:
    """Add an answer; return False if it says what the last one about the unit says."""
    events = by_unit[label.unit].events if label.unit in by_unit else ()
    if events and events[-1].says_the_same(label):
        return False
    if events and _is_recent(events[-1], label.labelled_at):
        events = events[:-1]
    by_unit[label.unit] = _decided([*events, label])
    return True


def _undo(by_unit: dict[Unit, Label], unit: Unit, *, at: datetime) -> None:
    if unit not in by_unit:
        raise ValueError("there is no label to take back")
    *events, last = by_unit[unit].events
    if not _is_recent(last, at):
        raise ValueError(
            f"the label is older than {UNDO.seconds} seconds. Answer again to change it"
        )
    if events:
        by_unit[unit] = _decided(events)
    else:
        del by_unit[unit]


def _is_recent(label: Label, at: datetime) -> bool:
    return at - label.labelled_at <= UNDO


def _decided(events: Iterable[Label]) -> Label:
    """Return the answers about one unit as one label: the first rating, else the first skip."""
    in_order = sorted(events, key=_time)
    decides = next((event for event in in_order if event.rating is not None), in_order[0])
    history = tuple(event for event in in_order if event is not decides)
    return replace(decides, history=history)


def _time(label: Label) -> datetime:
    return label.labelled_at
