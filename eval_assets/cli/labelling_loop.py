"""Loop of the labelling command: show a unit, read a key, save."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import click

from eval_assets.cli.keyboard import END, Keyboard
from eval_assets.cli.label_screen import (
    named,
    named_labels,
    option_names,
    show_captures,
    show_guidelines,
    show_in_full,
    show_question,
    show_unit,
)
from eval_assets.labelling.choices import choices_of, parse_typed, question_choices
from eval_assets.labelling.dimensions import dimension_of
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, now
from eval_assets.labelling.sessions import UNDO, Answer, Confidence

_CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)

Action = Callable[[], None]

_KEYS = ("S Unclear", "U Undo", "Q Quit and save")
_MORE_KEYS = (
    *("V Response", "T Captures", "G Guidelines", "C Confidence", "M Comment", "I Issues"),
    "← →",
)

_REASONS = {
    "1": "something is missing",
    "2": "the guidelines do not cover it",
    "3": "the item is broken",
}


@dataclass
class _Draft:
    """The rater's notes and options before answering, and when the unit was shown."""

    shown_at: float = field(default_factory=time.monotonic)
    confidence: Confidence | None = None
    notes: str = ""
    issues: tuple[str, ...] = ()
    options: frozenset[int] = frozenset()


class LabellingLoop:
    """One rater at work in the terminal.

    Args:
        queue: Their work.
        keyboard: What they type on.
    """

    def __init__(self, queue: RaterQueue, keyboard: Keyboard) -> None:
        self._queue = queue
        self._keyboard = keyboard
        self._done = queue.done_screens()
        self._given: list[int] = []
        self._place = 0
        self._displayed: set[int] = set()
        self._is_complete = False
        self._draft = _Draft()
        self._actions: dict[str, Action] = {
            "s": self._skip,
            "u": self._undo,
            "c": self._change_confidence,
            "m": self._comment,
            "i": self._list_issues,
            "v": lambda: show_in_full(self._unit),
            "t": lambda: show_captures(self._unit.response),
            "g": lambda: show_guidelines(self._unit),
            "left": lambda: self._step(-1),
            "right": lambda: self._step(1),
        }

    def run(self) -> bool:
        """Label until everything is labelled or the rater quits; return whether everything is."""
        n_screens = len(self._queue.screens)
        click.echo(f"{len(self._done)} of {n_screens} labelled.")
        try:
            self._show_next(-1)
            while True:
                key = self._read()
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

    def _read(self) -> str:
        """Return a key; of a question whose value is typed, what was typed."""
        if choices_of(self._unit.question.scale) or self._is_complete:
            return self._keyboard.key()
        return self._keyboard.line("> ").lower()

    def _press(self, key: str) -> None:
        if self._unit.question.multi_select is not None and not self._is_complete:
            self._press_option(key)
            return
        choices = question_choices(self._unit.question)
        choice = next((choice for choice in choices if choice.key == key), None)
        if choice is not None:
            self._answer([choice.value], key=key, parses=choice.parses)
        elif key in self._actions:
            self._actions[key]()
        elif not choices and key:
            try:
                self._answer([parse_typed(key, self._unit.question.scale)])
            except ValueError as error:
                click.echo(f"{error}.")
        elif key:
            click.echo("No such key.")
            self._ask()

    def _press_option(self, key: str) -> None:
        """Select an option or not, or save them all with Enter."""
        places = range(len(self._units))
        if key in {"\n", "\r"}:
            self._answer([float(place in self._draft.options) for place in places], key=key)
        elif key.isdecimal() and int(key) - 1 in places:
            self._draft.options ^= {int(key) - 1}
            names = [
                n
                for place, n in enumerate(option_names(self._units))
                if place in self._draft.options
            ]
            click.echo(f"  Selected: {', '.join(names) or 'none of these'}. Enter saves.")
        elif key in self._actions:
            self._actions[key]()
        elif key:
            click.echo("No such key.")
            self._ask()

    def _answer(
        self,
        ratings: Sequence[float | None],
        *,
        key: str = "",
        skip_reason: str = "",
        parses: bool | None = None,
    ) -> None:
        before = self._queue.labels().get(self._queue.screens[self._place][0])
        answer = Answer(
            rating=ratings[0],
            confidence=self._draft.confidence,
            notes=self._draft.notes,
            issues=self._draft.issues,
            skip_reason=skip_reason,
            parses=parses,
            seconds=round(time.monotonic() - self._draft.shown_at, 1),
        )
        at = now()
        answers = [replace(answer, rating=rating) for rating in ratings]
        for place, unit in enumerate(self._units):
            # The first option has the time that all took.
            timed = answers[place] if place == 0 else replace(answers[place], seconds=None)
            self._queue.answer(unit, timed, at=at)
        # A label belongs to a response that was shown before its key was pressed.
        self._keyboard.forget(key)
        click.echo(f"Saved: {named(answers, self._units)}.")
        if before is not None and at - before.events[-1].labelled_at > UNDO:
            click.echo("Agreement counts your first answer; the change is on record.")
        self._done.add(self._place)
        self._given.append(self._place)
        self._show_next(self._place)

    def _show_next(self, place: int) -> None:
        """Show the next unit without a label, from the first again after the last."""
        ahead = [*range(place + 1, len(self._queue.screens)), *range(place + 1)]
        following = next((other for other in ahead if other not in self._done), None)
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
        show_question(self._unit, options=options, keys=_KEYS, also=_MORE_KEYS)

    def _undo(self) -> None:
        """Take back the last answer if it is fresh, else show it to be answered again."""
        if not self._given:
            click.echo("Nothing to undo.")
            return
        place = self._given.pop()
        try:
            for unit in self._queue.of_screen(place):
                self._queue.undo(unit, at=now())
        except ValueError as error:
            click.echo(f"Not undone: {error}.")
        else:
            click.echo("Undone.")
        self._done = self._queue.done_screens()
        self._show(place)

    def _step(self, direction: int) -> None:
        """Show the next unit in a direction, past those whose repeat was shown or answered."""
        repeats = self._queue.repeats
        place = self._place + direction
        while self._is_displayed(repeats.get(place)):
            place += direction
        self._show(place if 0 <= place < len(self._queue.screens) else self._place)

    def _is_displayed(self, place: int | None) -> bool:
        return place is not None and (place in self._displayed or place in self._done)

    def _skip(self) -> None:
        click.echo("  Why can you not say?")
        for key, reason in _REASONS.items():
            click.echo(f"  {key} {reason}")
        said = self._keyboard.line("  A number, or a reason of your own; Enter alone goes back: ")
        if said:
            reason = _REASONS.get(said, said)
            self._answer([None] * len(self._units), skip_reason=reason)
        else:
            self._ask()

    def _change_confidence(self) -> None:
        now = self._draft.confidence
        after = 0 if now is None else (_CONFIDENCES.index(now) + 1) % len(_CONFIDENCES)
        self._draft.confidence = _CONFIDENCES[after]
        click.echo(f"  Confidence: {self._draft.confidence}")

    def _comment(self) -> None:
        self._draft.notes = self._keyboard.line(f"  {self._unit.question.note or 'Comment'}: ")
        self._ask()

    def _list_issues(self) -> None:
        asks_for = dimension_of(self._unit.question.id).asks_for
        said = self._keyboard.line(f"  {asks_for}, with ; between them: ")
        self._draft.issues = tuple(part.strip() for part in said.split(";") if part.strip())
        self._ask()
