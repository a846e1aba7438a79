"""A rater's queue: units in order, with every answer saved immediately."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.assignments import Assignment, chance
from eval_assets.labelling.rater_view import ResponseView, guideline_hash
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import (
    Answer,
    Close,
    Event,
    Label,
    Session,
    SessionKey,
    Undo,
    Unit,
)


@dataclass(frozen=True)
class FirstRating:
    """A rating of a response before its discussion, with its reason, by a rater without a name."""

    name: str
    rating: str
    reason: str


@dataclass(frozen=True)
class WorkUnit:
    """One response and question for a rater to answer.

    A repeat is a unit that the rater has answered before. Only checks have gold answers, and only
    a unit of a discussion has first ratings, as the rater sees the sides. A comparison that is
    swapped shows `response_b` first.
    """

    key: SessionKey
    question: RubricQuestion
    response: ResponseView
    is_repeat: bool = False
    gold_answers: frozenset[float] = frozenset()
    is_swapped: bool = False
    first_ratings: tuple[FirstRating, ...] = ()

    @property
    def name(self) -> Unit:
        """Name of the unit in its session."""
        return self.response.response_id, self.is_repeat

    @property
    def rating_key(self) -> tuple[str, str, str, int]:
        """Response, question, rater and round, of which there is one rating at most."""
        return self.response.response_id, self.question.id, self.key.rater_id, self.key.round

    def label_in(self, session: Session | None) -> Label | None:
        """Return the unit's label; for a check, the answer about its current texts."""
        label = session.by_unit.get(self.name) if session else None
        if label is None or not self.gold_answers:
            return label
        texts = self.response.hashes(self.question)
        return label.about(prompt=texts.prompt, response=texts.response)

    @property
    def is_counted(self) -> bool:
        """Whether the answer is a label that agreement and gates use."""
        return not self.is_repeat and not self.key.kind

    @property
    def sides(self) -> tuple[str, str] | None:
        """The texts that a comparison shows as A and B; None if the question is none."""
        if self.question.type != "pairwise" or self.response.pair is None:
            return None
        first, second = self.response.pair
        return (second, first) if self.is_swapped else (first, second)

    @property
    def texts(self) -> dict[str, str]:
        """The texts to be rated, by their headings."""
        names = ("A", "B") if self.sides else ("Response",)
        texts = self.sides or (self.response.response,)
        return {n: text or "(empty response)" for n, text in zip(names, texts, strict=True)}

    def across_sides(self, rating: float | None) -> float | None:
        """Return a rating of the sides as one of the columns, and the reverse."""
        if rating is None or not self.is_swapped:
            return rating
        return self.question.scale.mirrored(rating)

    @property
    def code(self) -> str:
        """A name of the unit that does not reveal the response's id, which may name the model."""
        name = self.key.session_id, self.response.response_id, str(self.is_repeat)
        return self.response.codes.of("unit", *name)


def work_of(
    rater_id: str,
    evaluation: Evaluation,
    responses: Mapping[str, ResponseView],
    assignments: Sequence[Assignment] | None,
) -> list[WorkUnit]:
    """Return a rater's units of the current round, in order.

    Without assignments every rater labels everything, each in a different order. A unit of several
    assignments is labelled once, at the position of the first.

    Examples:
        >>> from pathlib import Path
        >>> from eval_assets.scale import BINARY
        >>> clear, short = (RubricQuestion(q, q, BINARY, "nominal") for q in ("clear", "short"))
        >>> evaluation = Evaluation("e", Path(), (clear, short))
        >>> responses = {r: ResponseView(r, "p", "a", (clear, short)) for r in ("r1", "r2")}
        >>> work = work_of("anna", evaluation, responses, [Assignment("r2", "anna")])
        >>> [(unit.response.response_id, unit.question.id) for unit in work]
        [('r2', 'clear'), ('r2', 'short')]
    """
    labelling = evaluation.labelling
    if assignments is None:
        own_assignments = [Assignment(response_id, rater_id) for response_id in responses]
        own_assignments.sort(
            key=lambda assignment: chance(0, rater_id, str(labelling.round), assignment.response_id)
        )
    else:
        own_assignments = [
            assignment
            for assignment in assignments
            if (assignment.rater_id, assignment.round) == (rater_id, labelling.round)
        ]
    units = (
        work_unit(
            rater_id,
            labelling.round,
            responses[assignment.response_id],
            question,
            is_repeat=assignment.purpose == "repeat",
        )
        for assignment in own_assignments
        if assignment.response_id in responses
        for question in responses[assignment.response_id].questions
        if assignment.question_id in {None, *question.names}
    )
    by_response = list({(unit.key, unit.name): unit for unit in units}.values())
    if not labelling.one_question_at_a_time:
        return by_response
    order: dict[str, int] = {}
    for number, question in enumerate(evaluation.rubric):
        order.setdefault(question.names[-1], number)
    return sorted(by_response, key=lambda unit: order[unit.question.names[-1]])


def work_unit(  # noqa: PLR0913 - the parts of a name
    rater_id: str,
    number: int,
    response: ResponseView,
    question: RubricQuestion,
    *,
    is_repeat: bool = False,
    kind: str = "",
) -> WorkUnit:
    """Return a unit of a rater, a round and a kind of session."""
    key = SessionKey(
        rater_id=rater_id, question_id=question.id, round=number, run_id=response.run_id, kind=kind
    )
    is_swapped = question.type == "pairwise" and is_repeat != (
        chance(0, "side", rater_id, response.response_id, question.id) < 1 / 2
    )
    return WorkUnit(key, question, response, is_repeat=is_repeat, is_swapped=is_swapped)


class RaterQueue:
    """The units of one rater, with the sessions that store the answers.

    Args:
        notice: Message to the rater about them; empty for none.
        has_sequel: Whether the rater is told a result, and goes on, once all are answered and the
            rater has finished.
    """

    def __init__(
        self,
        units: Sequence[WorkUnit],
        sessions: SessionFolder,
        *,
        notice: str = "",
        has_sequel: bool = False,
    ) -> None:
        self.units = tuple(units)
        self.sessions = sessions
        self.notice = notice
        self.has_sequel = has_sequel
        self._n_units = Counter(unit.key for unit in units)

    @cached_property
    def screens(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the units on each screen.

        The options of a multi-select question share a screen, unless they are discussed. Every
        other unit has its own.
        """
        screens: dict[object, list[int]] = {}
        for index, unit in enumerate(self.units):
            select = None if unit.first_ratings else unit.question.multi_select
            key = replace(unit.key, question_id=select.id) if select else index
            screens.setdefault((key, unit.name), []).append(index)
        return tuple(map(self._in_rubric_order, screens.values()))

    def _in_rubric_order(self, screen: Sequence[int]) -> tuple[int, ...]:
        """Return the positions on a screen, with options in the order of the rubric."""
        if len(screen) == 1:
            return tuple(screen)
        questions = self.units[screen[0]].response.questions
        return tuple(sorted(screen, key=lambda place: questions.index(self.units[place].question)))

    @cached_property
    def by_code(self) -> Mapping[str, WorkUnit]:
        """The units by their codes."""
        return {unit.code: unit for unit in self.units}

    @cached_property
    def _n_others(self) -> dict[SessionKey, int]:
        """Number of labels of each session that are about none of the units."""
        units = {(unit.key, unit.name) for unit in self.units}
        return {
            key: sum((key, name) not in units for name in session.by_unit) if session else 0
            for key, session in self._stored().items()
        }

    @cached_property
    def repeats(self) -> Mapping[int, int]:
        """The screen of each repeat, by the screen of the unit that it repeats."""
        units = [self.units[screen[0]] for screen in self.screens]
        firsts = {
            (unit.key, unit.response.response_id): screen
            for screen, unit in enumerate(units)
            if not unit.is_repeat
        }
        return {
            firsts[unit.key, unit.response.response_id]: screen
            for screen, unit in enumerate(units)
            if unit.is_repeat and (unit.key, unit.response.response_id) in firsts
        }

    def of_screen(self, screen: int) -> list[WorkUnit]:
        """Return the units of a screen."""
        return [self.units[index] for index in self.screens[screen]]

    def done_screens(self) -> set[int]:
        """Return the screens on which every unit has a label."""
        labels = self.labels()
        return {n for n, screen in enumerate(self.screens) if labels.keys() >= {*screen}}

    def _stored(self) -> dict[SessionKey, Session | None]:
        return {key: self.sessions.read(key) for key in self._n_units}

    @cached_property
    def _is_countable(self) -> bool:
        """Whether each screen has one unit, any label of which counts."""
        has_checks = any(unit.gold_answers for unit in self.units)
        return len(self.screens) == len(self.units) and not has_checks

    def n_labels(self) -> int:
        """Return the number of units with a label."""
        n_others = self._n_others
        return sum(
            len(session.by_unit) - n_others[key]
            for key, session in self._stored().items()
            if session is not None
        )

    def n_screens_done(self) -> int:
        """Return the number of screens whose first unit has a label."""
        if self._is_countable:
            return self.n_labels()
        labels = self._stored()
        first_units = (self.units[screen[0]] for screen in self.screens)
        return sum(unit.label_in(labels[unit.key]) is not None for unit in first_units)

    def labels(self) -> dict[int, Label]:
        """Return the rater's label of each unit that has one, by the unit's place in `units`."""
        session_labels = self._stored()
        labels = (unit.label_in(session_labels[unit.key]) for unit in self.units)
        return {index: label for index, label in enumerate(labels) if label is not None}

    def answer(
        self, unit: WorkUnit, answer: Answer, *, at: datetime, is_time_known: bool = True
    ) -> Session:
        """Save an answer on disk.

        Raises:
            ValueError: If the rating is not on the scale.
        """
        label = replace(label_of(unit, answer, at=at), is_time_known=is_time_known)
        return self._append(unit, label, at=at)

    def undo(self, unit: WorkUnit, *, at: datetime) -> Session:
        """Take back the last answer about a unit.

        Raises:
            ValueError: If there is none, or it is older than a minute.
        """
        return self._append(unit, Undo(unit.name, at), at=at)

    def close(self, *, at: datetime) -> None:
        """Store that the rater stopped, so that runs may use the labels without waiting."""
        for key in self._n_units:
            session = self.sessions.read(key)
            if session is not None and session.closed_at is None:
                self.sessions.append(session, Close(at))

    def _append(self, unit: WorkUnit, event: Event, *, at: datetime) -> Session:
        if unit.code not in self.by_code:
            self.__dict__.pop("_n_others", None)
        fresh = Session(
            key=unit.key,
            started_at=at,
            updated_at=at,
            n_units=0,
            guideline_hash=guideline_hash(unit.question),
        )
        n_units = self._n_units.get(unit.key, 0)
        # With a sequel the rater closes the session, to be told the result.
        return self.sessions.append(
            fresh, event, n_units=n_units, closes_if_complete=not self.has_sequel
        )


def label_of(unit: WorkUnit, answer: Answer, *, at: datetime) -> Label:
    """Return an answer as a label of its unit; a comparison of sides becomes one of columns.

    Raises:
        ValueError: If the rating is not on the question's scale.
    """
    scale = unit.question.scale
    if answer.rating is not None and not scale.contains(answer.rating):
        raise ValueError(f"{answer.rating:g} is not on the scale. Use {scale.described()}")
    rating = unit.across_sides(answer.rating)
    return Label(
        response_id=unit.response.response_id,
        is_repeat=unit.is_repeat,
        labelled_at=at,
        hashes=unit.response.hashes(unit.question),
        is_swapped=unit.is_swapped if unit.sides else None,
        **{**answer.answer_fields(), "rating": rating},
    )


def now() -> datetime:
    """Return the current time in UTC, to milliseconds, as stored by sessions.

    Examples:
        >>> now().microsecond % 1000
        0
    """
    time = datetime.now(tz=UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)
