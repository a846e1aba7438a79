"""Labelling sessions: the answers of one rater in one round of one question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        notes: Comment.
        issues: Problems of the response, one by one.
        skip_reason: Reason for skipping.
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
        response_id: The response.
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


@dataclass(frozen=True)
class Withdrawn:
    """A label that its rater undid at once, stored so that merging does not restore it."""

    __pydantic_config__ = _IN_JSON

    response_id: Annotated[str, Field(alias="scenarioId")]
    is_repeat: Annotated[bool, Field(alias="repeat")]
    labelled_at: Annotated[AwareDatetime, Field(alias="timestamp")]


def time_text(time: datetime) -> str:
    """Return a time in UTC as session files write it.

    Examples:
        >>> from datetime import UTC
        >>> time_text(datetime(2026, 11, 21, 4, 0, 0, 250_000, tzinfo=UTC))
        '2026-11-21T04:00:00.250Z'
    """
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


Time = Annotated[datetime, PlainSerializer(time_text, when_used="json-unless-none")]


def file_name(name: str) -> str:
    """Return a name that any file system takes, that differs if the names do and is not hidden.

    Examples:
        >>> [file_name(name) for name in ("anna", "../ben", "Zoë B.")]
        ['anna', '%2E.%2Fben', 'Zo%C3%AB%20B.']
    """
    quoted = quote(name, safe="")
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


@dataclass(frozen=True, kw_only=True)
class Session:
    """Labels of one rater, question, round and run, one for each response labelled.

    Args:
        key: Rater, question, round and run.
        started_at: When the rater began.
        updated_at: When the last label was given or undone.
        closed_at: When the rater stopped; None while they are working.
        n_units: Number of units to label.
        guideline_hash: Hash of the question and guidelines as they were at the start.
        by_unit: The label of each unit. Of several answers about a unit the first rating decides;
            the others are its history.
        withdrawn: Labels taken back within a minute.
        was_edited: Whether anything else than this program changed the file.
        touched: Units whose answers changed since the session was read.
    """

    __pydantic_config__ = _SESSION_IN_JSON

    key: SessionKey
    started_at: Time
    updated_at: Annotated[Time, Field(alias="lastUpdatedAt")]
    closed_at: Time | None = None
    n_units: Annotated[int, Field(alias="totalScenarios")]
    guideline_hash: str = ""
    by_unit: Mapping[Unit, Label] = field(default_factory=dict)
    withdrawn: frozenset[Withdrawn] = field(default_factory=frozenset)
    was_edited: bool = False
    touched: frozenset[Unit] = field(default_factory=frozenset, compare=False)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels in the order of their first answers."""
        labels = self.by_unit.values()
        return tuple(sorted(labels, key=lambda label: (_time(label.events[0]), label.unit)))

    def with_label(self, label: Label) -> "Session":
        """Return the session with one more answer.

        An equal answer changes nothing. An answer within a minute of the last one about the unit
        replaces it; a later one is kept beside it.
        """
        events = self._events(label.unit)
        if events and events[-1].says_the_same(label):
            return self
        if events and _is_recent(events[-1], label.labelled_at):
            return self.without_latest(label.unit, at=label.labelled_at).with_label(label)
        return self._with_events(label.unit, [*events, label], at=label.labelled_at)

    def without_latest(self, unit: Unit, *, at: datetime) -> "Session":
        """Return the session without the last answer about a unit, given within the last minute.

        Raises:
            ValueError: If there is none, or it is older than a minute.
        """
        events = self._events(unit)
        if not events:
            raise ValueError("there is no label to take back")
        if not _is_recent(events[-1], at):
            raise ValueError(
                f"the label is older than {UNDO.seconds} seconds. Answer again to change it"
            )
        withdrawal = Withdrawn(*unit, events[-1].labelled_at)
        session = self._with_events(unit, events[:-1], at=at)
        return replace(session, withdrawn=self.withdrawn | {withdrawal})

    def merged(self, other: "Session") -> "Session":
        """Return the union of two sessions. Merging a session twice adds nothing.

        Raises:
            ValueError: If the sessions are of different raters, questions, rounds or runs, or
                differ on one answer.
        """
        if self.key != other.key:
            raise ValueError(f"it is the session {other.key.session_id}, not {self.key.session_id}")
        withdrawn = self.withdrawn | other.withdrawn
        events: dict[Withdrawn, Label] = {}
        for event in (e for label in (*self.labels, *other.labels) for e in label.events):
            name = Withdrawn(*event.unit, event.labelled_at)
            if events.setdefault(name, event) != event:
                raise ValueError(
                    f"it answers differently about {event.response_id} at one and the same time"
                )
        by_unit: dict[Unit, list[Label]] = {}
        for name, event in events.items():
            if name not in withdrawn:
                by_unit.setdefault(event.unit, []).append(event)
        latest = max(self, other, key=lambda session: session.updated_at)
        labels = {unit: _decided(events) for unit, events in by_unit.items()}
        units = {*labels, *self.by_unit}
        return replace(
            self,
            started_at=min(self.started_at, other.started_at),
            updated_at=latest.updated_at,
            closed_at=latest.closed_at,
            n_units=max(self.n_units, other.n_units),
            by_unit=labels,
            touched=frozenset(u for u in units if labels.get(u) != self.by_unit.get(u)),
            withdrawn=withdrawn,
            was_edited=self.was_edited or other.was_edited,
        )

    def _events(self, unit: Unit) -> tuple[Label, ...]:
        return self.by_unit[unit].events if unit in self.by_unit else ()

    def _with_events(self, unit: Unit, events: Sequence[Label], *, at: datetime) -> "Session":
        return replace(
            self,
            by_unit=_with_entry(self.by_unit, unit, _decided(events) if events else None),
            touched=self.touched | {unit},
            updated_at=max(self.updated_at, at),
            closed_at=None,
        )


class _Overlay(Mapping[Unit, Label]):
    """Labels shared by versions of a session, with the changes of one version.

    Adding a label to a long session therefore does not copy the others.
    """

    def __init__(self, shared: Mapping[Unit, Label], changes: Mapping[Unit, Label | None]) -> None:
        self.shared = shared
        self.changes = changes
        removed = sum(label is None for label in changes.values())
        n_replaced = sum(unit in shared for unit in changes)
        self._length = len(shared) + len(changes) - n_replaced - removed

    def __getitem__(self, unit: Unit) -> Label:
        label = self.changes[unit] if unit in self.changes else self.shared[unit]
        if label is None:
            raise KeyError(unit)
        return label

    def __iter__(self) -> Iterator[Unit]:
        yield from (unit for unit in self.shared if unit not in self.changes)
        yield from (unit for unit, label in self.changes.items() if label is not None)

    def __len__(self) -> int:
        return self._length


_MOST_CHANGES = 100
"""Number of changes of an overlay at which all labels are copied."""


def _with_entry(
    labels: Mapping[Unit, Label], unit: Unit, label: Label | None
) -> Mapping[Unit, Label]:
    """Return labels with that of one unit replaced, or removed."""
    shared, changes = labels, {unit: label}
    if isinstance(labels, _Overlay):
        shared, changes = labels.shared, {**labels.changes, unit: label}
    if label is None and unit not in shared:
        del changes[unit]
    overlay = _Overlay(shared, changes)
    return overlay if len(changes) <= _MOST_CHANGES else dict(overlay)


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
