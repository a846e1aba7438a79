"""Adjudication of disagreements in the terminal, the worst first."""

from collections.abc import Sequence

import click

from eval_assets.cli.keyboard import END, Keyboard
from eval_assets.cli.label_screen import (
    named,
    plain,
    show_captures,
    show_guidelines,
    show_in_full,
    show_question,
    show_unit,
)
from eval_assets.labelling.adjudication import AdjudicationQueue, Case
from eval_assets.labelling.choices import parse_typed, question_choices, value_name
from eval_assets.labelling.rater_queue import now

_LEAVING = {"l", "q", END}
_KEYS = ("L Later", "Q Quit and save")
_MORE_KEYS = ("V Response", "T Captures", "G Guidelines")


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
        left = [
            case
            for case in cases
            if case.decision is None and case.disagreement.unit not in self._passed
        ]
        self._n_cases, self._number = len(cases), len(cases) - len(left) + 1
        return left[0] if left else None

    def _settle(self, case: Case) -> bool:
        """Lead through one disagreement; return whether to go on."""
        show_unit(case.unit, number=self._number, of=self._n_cases)
        show_question(case.unit, keys=_KEYS, also=_MORE_KEYS)
        if case.own is None:
            click.echo("  Your own rating first: what others gave is shown afterwards.")
            value = None
            while value is None:
                if (key := self._read(case)) in _LEAVING:
                    return self._leave(case, key)
                value = self._value(case, key)
            self._queue.rate(case, value, at=now())
            case = self._again(case)
        _show_ratings(case)
        click.echo("  A value settles it  X Leave out as ambiguous  D Note on the discussion")
        click.echo("  ".join(["", *_KEYS, *_MORE_KEYS]))
        while (key := self._read(case)) not in _LEAVING:
            if self._decided(case, key):
                return True
        return self._leave(case, key)

    def _decided(self, case: Case, key: str) -> bool:
        """Do what a key asks for; return whether it settled the disagreement."""
        if key == "d":
            if text := self._keyboard.line("  Note: "):
                self._queue.comment(case, text, at=now())
                click.echo("Saved: the note.")
            return False
        value = None if key == "x" else self._value(case, key)
        if key != "x" and value is None:
            return False
        scale = case.unit.question.scale
        message = "Left out as ambiguous" if value is None else value_name(value, scale)
        reason = self._keyboard.line(f"  {message}, because (Enter alone goes back): ")
        if reason:
            self._queue.settle(case, value, reason=reason, at=now())
            click.echo(f"Saved: {message}.")
        return bool(reason)

    def _read(self, case: Case) -> str:
        """Return a key; of a question whose value is typed, what was typed."""
        if question_choices(case.unit.question):
            return self._keyboard.key()
        return self._keyboard.line("> ").lower()

    def _value(self, case: Case, key: str) -> float | None:
        """Return the value that a key stands for; None for another, which may show something."""
        if key == "v":
            show_in_full(case.unit)
        elif key == "t":
            show_captures(case.unit.response)
        elif key == "g":
            show_guidelines(case.unit)
        elif choices := question_choices(case.unit.question):
            values = [choice.value for choice in choices if choice.key == key]
            if not values and key.strip():
                click.echo("No such key.")
            return next(iter(values), None)
        elif key:
            try:
                return parse_typed(key, case.unit.question.scale)
            except ValueError as error:
                click.echo(f"{error}.")
        return None

    def _leave(self, case: Case, key: str) -> bool:
        self._passed.add(case.disagreement.unit)
        return key == "l"

    def _again(self, case: Case) -> Case:
        """Return the same case as it is now."""
        unit = case.disagreement.unit
        return next(one for one in self._queue.cases() if one.disagreement.unit == unit)


def _show_ratings(case: Case) -> None:
    """Print what the others gave, with their notes and what the discussion brought."""
    disagreement = case.disagreement
    scale = case.unit.question.scale
    if case.own is not None:
        click.echo(f"  You: {value_name(case.own, scale)}")
    for name, value in sorted(disagreement.ratings.items()):
        note = disagreement.notes.get(name)
        click.echo(
            f"  {plain(name)}: {value_name(value, scale)}" + (f"  {plain(note)}" if note else "")
        )
    for name, label in sorted(case.second_ratings.items()):
        rating = named([label], [case.unit])
        click.echo(
            f"  {plain(name)} after the discussion: {rating}  {plain(label.remark)}".rstrip()
        )
    for comment in case.comments:
        click.echo(f"  {plain(comment.by)} noted: {plain(comment.reason)}")


def print_queue(cases: Sequence[Case], *, is_blind: bool) -> None:
    """Print every disagreement with its spread and response; `is_blind` hides those not rated."""
    for case in cases:
        disagreement = case.disagreement
        if case.decision is not None:
            settled = case.decision
            value = (
                "left out"
                if settled.value is None
                else value_name(settled.value, case.unit.question.scale)
            )
            state = f"{value}, by {settled.by}: {settled.reason}"
        else:
            state = "open"
        if is_blind and case.own is None:
            click.echo(f"    -  {disagreement.question_id}  not rated yet  {plain(state)}")
            continue
        unit = f"{disagreement.question_id}  {disagreement.response_id}"
        click.echo(f"{disagreement.spread:5.2f}  {unit}  {plain(state)}")
    n_open = sum(case.decision is None for case in cases)
    click.echo(f"{len(cases)} disagreements, {n_open} open.")
