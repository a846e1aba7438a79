"""Labelling and adjudication in the terminal: show a unit, read a key, save."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import click

from eval_assets.cli.terminal_screen import (
    END,
    Keyboard,
    named,
    named_labels,
    option_names,
    plain,
    show_more,
    show_question,
    show_unit,
)
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.adjudication import AdjudicationQueue, Case
from eval_assets.labelling.choices import (
    choices_of,
    dimension_of,
    parse_typed,
    question_choices,
    value_name,
)
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, now
from eval_assets.labelling.sessions import UNDO, Answer, Confidence

_CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)

_DISPLAY_KEYS = ("V Response", "T Captures", "G Guidelines")
_LABELLING_KEYS = ("S Unclear", "U Undo", "Q Quit and save")
_MORE_LABELLING_KEYS = (*_DISPLAY_KEYS, "C Confidence", "M Comment", "I Issues", "← →")
_ADJUDICATION_KEYS = ("L Later", "Q Quit and save")
_LEAVING = {"l", "q", END}

_REASONS = {
    "1": "something is missing",
    "2": "the guidelines do not cover it",
    "3": "the item is broken",
}


def _read(keyboard: Keyboard, question: RubricQuestion) -> str:
    """Return a key, or the typed text if the question takes a number."""
    return keyboard.key() if choices_of(question.scale) else keyboard.line("> ").lower()


def _typed_value(text: str, question: RubricQuestion) -> float | None:
    """Return the typed value; print a message and return None if it is off the scale."""
    try:
        return parse_typed(text, question.scale)
    except ValueError as error:
        click.echo(f"{error}.")
        return None


@dataclass
class _Draft:
    """Notes and selected options before the answer, and the time at which the unit was shown."""

    shown_at: float = field(default_factory=time.monotonic)
    confidence: Confidence | None = None
    notes: str = ""
    issues: tuple[str, ...] = ()
    options: frozenset[int] = frozenset()


class LabellingLoop:
    """One rater at work in the terminal."""

    def __init__(self, queue: RaterQueue, keyboard: Keyboard) -> None:
        self._queue = queue
        self._keyboard = keyboard
        self._done = queue.done_screens()
        self._given: list[int] = []
        self._place = 0
        self._displayed: set[int] = set()
        self._is_complete = False
        self._draft = _Draft()
        self._actions: dict[str, Callable[[], None]] = {
            "s": self._skip,
            "u": self._undo,
            "c": self._change_confidence,
            "m": self._comment,
            "i": self._list_issues,
            "left": lambda: self._step(-1),
            "right": lambda: self._step(1),
        }

    def run(self) -> bool:
        """Label until the rater quits or all is labelled; return whether all is labelled."""
        n_screens = len(self._queue.screens)
        click.echo(f"{len(self._done)} of {n_screens} labelled.")
        try:
            self._show_next(-1)
            while True:
                key = (
                    self._keyboard.key()
                    if self._is_complete
                    else _read(self._keyboard, self._unit.question)
                )
                if key in {END, "q"} or (self._is_complete and key not in {"u", "left"}):
                    break
                self._press(key)
        except KeyboardInterrupt:
            click.echo()
        self._queue.close(at=now())
        click.echo(f"Saved: {len(self._done)} of {n_screens} labelled.")
        return len(self._done) == n_screens

    @property
    def _units(self) -> list[WorkUnit]:
        return self._queue.of_screen(self._place)

    @property
    def _unit(self) -> WorkUnit:
        return self._units[0]

    def _press(self, key: str) -> None:
        question = self._unit.question
        if key in self._actions:
            self._actions[key]()
        elif question.multi_select is not None:
            if not (self._select(key) or show_more(self._unit, key)):
                self._refuse(key)
        elif choices := question_choices(question):
            choice = next((choice for choice in choices if choice.key == key), None)
            if choice is not None:
                self._ask_what_fired(choice.value)
                self._answer([choice.value], key=key, parses=choice.parses)
            elif not show_more(self._unit, key):
                self._refuse(key)
        elif key and not show_more(self._unit, key):
            value = _typed_value(key, question)
            if value is not None:
                self._answer([value])

    def _refuse(self, key: str) -> None:
        if key:
            click.echo("No such key.")
            self._ask()

    def _select(self, key: str) -> bool:
        places = range(len(self._units))
        if key in {"\n", "\r"}:
            self._answer([float(index in self._draft.options) for index in places], key=key)
        elif key.isdecimal() and int(key) - 1 in places:
            self._draft.options ^= {int(key) - 1}
            names = enumerate(option_names(self._units))
            selected = ", ".join(name for index, name in names if index in self._draft.options)
            click.echo(f"  Selected: {selected or 'none of these'}. Enter saves.")
        else:
            return False
        return True

    def _answer(
        self,
        ratings: Sequence[float | None],
        *,
        key: str = "",
        skip_reason: str = "",
        parses: bool | None = None,
    ) -> None:
        is_required = self._unit.question.confidence == "required" and not skip_reason
        if is_required and self._draft.confidence is None:
            names = {name[0]: name for name in _CONFIDENCES}
            keys = "  ".join(f"{letter.upper()} {name}" for letter, name in names.items())
            click.echo(f"  How confident are you?  {keys}. Any other key goes back.")
            self._draft.confidence = names.get(self._keyboard.key())
            if self._draft.confidence is None:
                self._ask()
                return
        before = self._queue.labels().get(self._queue.screens[self._place][0])
        answer = Answer(
            confidence=self._draft.confidence,
            notes=self._draft.notes,
            issues=self._draft.issues,
            skip_reason=skip_reason,
            parses=parses,
        )
        seconds = round(time.monotonic() - self._draft.shown_at, 1)
        at = now()
        # The first option has the time that all took.
        answers = [
            replace(answer, rating=rating, seconds=None if index else seconds)
            for index, rating in enumerate(ratings)
        ]
        for unit, of_unit in zip(self._units, answers, strict=True):
            self._queue.answer(unit, of_unit, at=at)
        # A label belongs to a response that was shown before its key was pressed.
        self._keyboard.forget(key)
        click.echo(f"Saved: {named(answers, self._units)}.")
        if before is not None and at - before.events[-1].labelled_at > UNDO:
            click.echo("Agreement counts your first answer; the change is on record.")
        self._done.add(self._place)
        self._given.append(self._place)
        self._show_next(self._place)

    def _show_next(self, place: int) -> None:
        """Show the next unit without a label, starting over after the last one."""
        ahead = [*range(place + 1, len(self._queue.screens)), *range(place + 1)]
        following = next((code for code in ahead if code not in self._done), None)
        if following is None:
            self._is_complete = True
            click.echo()
            click.echo("All done. U undoes the last answer, any other key ends.")
        else:
            self._show(following)

    def _show(self, place: int) -> None:
        self._place = place
        self._displayed.add(place)
        self._is_complete = False
        self._draft = _Draft()
        show_unit(self._unit, number=place + 1, of=len(self._queue.screens))
        self._ask()
        labels = self._queue.labels()
        events = {
            option: labels[number].events[-1]
            for option, number in enumerate(self._queue.screens[place])
            if number in labels
        }
        if events:
            # Of an option that was added since there is no label.
            self._draft.options = frozenset(n for n, event in events.items() if event.rating)
            units = [self._units[option] for option in events]
            click.echo(f"  Your answer: {named_labels([*events.values()], units)}")

    def _ask(self) -> None:
        names = option_names(self._units)
        options = [f"{number} {name}" for number, name in enumerate(names, start=1)]
        show_question(
            self._unit, options=options, keys=_LABELLING_KEYS, second_line=_MORE_LABELLING_KEYS
        )

    def _undo(self) -> None:
        """Undo the last answer if it is recent, else show its unit again."""
        if not self._given:
            click.echo("Nothing to undo.")
            return
        index = self._given.pop()
        try:
            for unit in self._queue.of_screen(index):
                self._queue.undo(unit, at=now())
        except ValueError as error:
            click.echo(f"Not undone: {error}.")
        else:
            click.echo("Undone.")
        self._done = self._queue.done_screens()
        self._show(index)

    def _step(self, direction: int) -> None:
        """Show the next unit in a direction, without those whose repeat was shown or answered."""
        past = self._displayed | self._done
        index = self._place + direction
        while self._queue.repeats.get(index) in past:
            index += direction
        self._show(index if 0 <= index < len(self._queue.screens) else self._place)

    def _skip(self) -> None:
        click.echo("  Why can you not say?")
        for key, reason in _REASONS.items():
            click.echo(f"  {key} {reason}")
        text = self._keyboard.line("  A number, or a reason of your own; Enter alone goes back: ")
        if text:
            reason = _REASONS.get(text, text)
            self._answer([None] * len(self._units), skip_reason=reason)
        else:
            self._ask()

    def _ask_what_fired(self, rating: float) -> None:
        request = dimension_of(self._unit.question.id).asked_of_no
        if request and rating == 0 and not self._draft.issues:
            fired = self._keyboard.line(f"  {request} Enter alone: none.  ")
            self._draft.issues = (fired,) if fired else ()

    def _change_confidence(self) -> None:
        before = self._draft.confidence
        after = 0 if before is None else (_CONFIDENCES.index(before) + 1) % len(_CONFIDENCES)
        self._draft.confidence = _CONFIDENCES[after]
        click.echo(f"  Confidence: {self._draft.confidence}")

    def _comment(self) -> None:
        self._draft.notes = self._keyboard.line(f"  {self._unit.question.note or 'Comment'}: ")
        self._ask()

    def _list_issues(self) -> None:
        asks_for = dimension_of(self._unit.question.id).asks_for
        text = self._keyboard.line(f"  {asks_for}, with ; between them: ")
        self._draft.issues = tuple(part.strip() for part in text.split(";") if part.strip())
        self._ask()


class AdjudicationLoop:
    """One adjudicator at work in the terminal."""

    def __init__(self, queue: AdjudicationQueue, keyboard: Keyboard) -> None:
        self._queue = queue
        self._keyboard = keyboard
        self._passed: set[tuple[str, str]] = set()

    def run(self) -> None:
        """Go through the open disagreements until none is left or the adjudicator quits."""
        try:
            while (case := self._next()) is not None:
                if not self._settle(case):
                    break
            else:
                click.echo("No open disagreements are left.")
        except KeyboardInterrupt:
            click.echo()
        n_open = sum(case.decision is None for case in self._queue.cases())
        click.echo(f"Saved. Disagreements still open: {n_open}.")

    def _next(self) -> Case | None:
        cases = self._queue.cases()
        rest = [
            case
            for case in cases
            if case.decision is None and case.disagreement.unit not in self._passed
        ]
        self._n_cases, self._number = len(cases), len(cases) - len(rest) + 1
        return rest[0] if rest else None

    def _settle(self, case: Case) -> bool:
        """Lead through one disagreement; return whether to go on."""
        question = case.unit.question
        show_unit(case.unit, number=self._number, of=self._n_cases)
        show_question(case.unit, keys=_ADJUDICATION_KEYS, second_line=_DISPLAY_KEYS)
        if case.own_value is None:
            click.echo("  Your own rating first: what others gave is shown afterwards.")
            value = None
            while value is None:
                if (key := _read(self._keyboard, question)) in _LEAVING:
                    return self._leave(case, key)
                value = _value(case, key)
            self._queue.rate(case, value, at=now())
            unit = case.disagreement.unit
            case = next(of for of in self._queue.cases() if of.disagreement.unit == unit)
        _show_ratings(case)
        click.echo("  A value settles it  X Leave out as ambiguous  D Note on the discussion")
        click.echo("  ".join(["", *_ADJUDICATION_KEYS, *_DISPLAY_KEYS]))
        while (key := _read(self._keyboard, question)) not in _LEAVING:
            if self._is_settled(case, key):
                return True
        return self._leave(case, key)

    def _is_settled(self, case: Case, key: str) -> bool:
        """Perform the action of a key; return whether it settled the disagreement."""
        if key == "d":
            if text := self._keyboard.line("  Note: "):
                self._queue.comment(case, text, at=now())
                click.echo("Saved: the note.")
            return False
        value = None if key == "x" else _value(case, key)
        if key != "x" and value is None:
            return False
        scale = case.unit.question.scale
        message = "Left out as ambiguous" if value is None else value_name(value, scale)
        reason = self._keyboard.line(f"  {message}, because (Enter alone goes back): ")
        if reason:
            self._queue.settle(case, value, reason=reason, at=now())
            click.echo(f"Saved: {message}.")
        return bool(reason)

    def _leave(self, case: Case, key: str) -> bool:
        self._passed.add(case.disagreement.unit)
        return key == "l"


def _value(case: Case, key: str) -> float | None:
    """Return the value of a key; None for other keys, which may show details."""
    if not key.strip() or show_more(case.unit, key):
        return None
    choices = question_choices(case.unit.question)
    if not choices:
        return _typed_value(key, case.unit.question)
    values = [choice.value for choice in choices if choice.key == key]
    if not values:
        click.echo("No such key.")
    return next(iter(values), None)


def _show_ratings(case: Case) -> None:
    disagreement = case.disagreement
    scale = case.unit.question.scale
    if case.own_value is not None:
        click.echo(f"  You: {value_name(case.own_value, scale)}")
    for name, value in sorted(disagreement.ratings.items()):
        note = plain(disagreement.notes.get(name, ""))
        click.echo(f"  {plain(name)}: {value_name(value, scale)}  {note}".rstrip())
    for name, label in sorted(case.second_ratings.items()):
        rating = named([label], [case.unit])
        click.echo(
            f"  {plain(name)} after the discussion: {rating}  {plain(label.remark)}".rstrip()
        )
    for comment in case.comments:
        click.echo(f"  {plain(comment.by)} noted: {plain(comment.reason)}")
