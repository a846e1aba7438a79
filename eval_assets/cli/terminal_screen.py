"""Screen and keys of labelling and adjudication in the terminal, in plain lines.

Nothing is cleared or redrawn: lines work over a slow connection, in a screen reader, at any size of
the window, and can be scrolled back to.
"""

import os
import select
import sys
import termios
import textwrap
import time
import tty
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

import click

from eval_assets.labelling.choices import answer_name, question_choices
from eval_assets.labelling.rater_queue import WorkUnit
from eval_assets.labelling.sessions import Answer, Label
from eval_assets.wording import counted

PREVIEW_LINES = 20
"""Lines of a long response or of many captures that are shown before V or T is pressed."""

_WIDEST = 100
_KEPT_CONTROLS = "\n\t"


def plain(text: str) -> str:
    r"""Return text with visible control characters, so that it cannot affect the terminal.

    Examples:
        >>> plain("\x1b[2Jred\tgreen\u202e")
        '\\x1b[2Jred\tgreen\\u202e'
    """
    return "".join(
        character
        if character in _KEPT_CONTROLS or unicodedata.category(character) not in {"Cc", "Cf"}
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def show_unit(unit: WorkUnit, *, number: int, of: int) -> None:
    """Print a unit: position and short facts, prompt, further facts, response."""
    response = unit.response
    short = [f"{name}: {lines[0]}" for name, lines in response.facts if name in response.brief]
    click.echo()
    title = "  ".join(plain(part) for part in [f"Scenario {number}/{of}", *short])
    click.secho(_rule(title), bold=True)
    for turn in response.earlier:
        _section("Earlier prompt", [turn.prompt])
        _section("Earlier response", [turn.response])
    if response.prompt:
        _section("Prompt", [response.prompt])
    for name, lines in response.facts:
        if name not in response.brief:
            _section(name, lines, most=PREVIEW_LINES, key="T")
    for name, text in unit.texts.items():
        _section(name, [text], most=PREVIEW_LINES, key="V")
    if unit.first_ratings:
        ratings = (f"{first.name}: {first.rating}. {first.reason}" for first in unit.first_ratings)
        _section("Ratings before the discussion", ratings)
    click.echo(_rule(""))


def show_question(
    unit: WorkUnit, *, options: Sequence[str] = (), keys: Sequence[str], second_line: Sequence[str]
) -> None:
    """Print the question, the keys of its answers, further keys, and a second line of keys.

    `options` are those of a multi-select question.
    """
    question = unit.question
    click.secho(plain(question.displayed_text if options else question.question), bold=True)
    keys_of = {choice.name: choice.key for choice in question_choices(question)}
    values = [of.upper() if of == name else f"{of.upper()} {name}" for name, of in keys_of.items()]
    if options:
        values = [*options, "Enter Save"]
    values = values or [f"A value ({question.scale.described()})"]
    click.echo("  ".join(["", *values, *keys]))
    click.echo("  ".join(["", *second_line]))


def show_more(unit: WorkUnit, key: str) -> bool:
    """Print the details that a key shows; return whether there are any."""
    match key:
        case "v":
            for name, text in unit.texts.items():
                _section(name, [text])
        case "t":
            for name, lines in unit.response.facts:
                if name not in unit.response.brief:
                    _section(name, lines)
        case "g":
            guidelines = unit.question.guidelines or "No guidelines for this question."
            _section("Guidelines", [guidelines])
        case _:
            return False
    return True


def option_names(units: Sequence[WorkUnit]) -> list[str]:
    """Return the options of a multi-select question; of another question none."""
    selects = [unit.question.multi_select for unit in units]
    return [plain(select.option) for select in selects if select]


def named_labels(labels: Sequence[Label], units: Sequence[WorkUnit]) -> str:
    """Return the labels of a screen in words, a comparison by the displayed sides."""
    answers = [
        replace(label, rating=unit.across_sides(label.rating))
        for label, unit in zip(labels, units, strict=True)
    ]
    return named(answers, units)


def named(answers: Sequence[Answer], units: Sequence[WorkUnit]) -> str:
    """Return the answers of a screen in words."""
    first, unit = answers[0], units[0]
    if first.rating is None:
        return f"unclear ({plain(first.skip_reason)})"
    confidence = f", {first.confidence} confidence" if first.confidence else ""
    options = option_names(units)
    if not options:
        return f"{answer_name(first.rating, unit.question, parses=first.parses)}{confidence}"
    pairs = zip(options, answers, strict=True)
    selected = ", ".join(name for name, answer in pairs if answer.rating)
    return f"{selected or 'none of these'}{confidence}"


def _section(title: str, texts: Iterable[str], *, most: int | None = None, key: str = "") -> None:
    lines = [line for text in texts for line in _wrapped(plain(text))]
    click.secho(plain(title), underline=True)
    for line in lines[:most]:
        click.echo(f"  {line}")
    if most is not None and len(lines) > most:
        click.echo(f"  ... {counted(len(lines) - most, 'more line')}; {key} shows all")


def _wrapped(text: str) -> list[str]:
    width = max(10, min(_WIDEST, _columns()) - 3)
    return [
        part
        for line in text.expandtabs(4).splitlines() or [""]
        for part in textwrap.wrap(line, width, replace_whitespace=False, break_on_hyphens=False)
        or [""]
    ]


def _rule(title: str) -> str:
    width = min(_WIDEST, _columns()) - 1
    return f"── {title} {'─' * (width - len(title) - 4)}" if title else "─" * width


def _columns() -> int:
    return os.get_terminal_size(sys.stdout.fileno()).columns


END = "end"
"""Key that is read once the terminal is gone."""

_ARROWS = {b"[D": "left", b"OD": "left", b"[C": "right", b"OC": "right"}
_ESCAPE_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 0.5
_REPEAT_SECONDS = 0.15
"""Time within which a held key comes again: terminals repeat it 10 to 50 times a second."""


def is_terminal() -> bool:
    """Return whether a person can be asked: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Keyboard:
    """The terminal's keys, delivered one at a time and not shown, as long as it is entered.

    What is typed ahead is kept until `forget` is called. Ctrl-C interrupts as everywhere.
    """

    _forgotten_key = ""
    _forgotten_at = 0.0

    def __enter__(self) -> Self:
        self._descriptor = sys.stdin.fileno()
        self._as_before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSADRAIN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._as_before)

    def forget(self, key: str) -> None:
        """Drop keys typed ahead, and further input of `key` while it is held down."""
        termios.tcflush(self._descriptor, termios.TCIFLUSH)
        self._forgotten_key, self._forgotten_at = key, time.monotonic()

    def key(self) -> str:
        """Return the next key in lower case, `left`, `right`, `end`, or nothing for others."""
        while (key := self._next_key()) == self._forgotten_key:
            is_held = time.monotonic() - self._forgotten_at < _REPEAT_SECONDS
            self._forgotten_at = time.monotonic()
            if not is_held:
                break
        self._forgotten_key = ""  # another key in between: it was released
        return key

    def _next_key(self) -> str:
        # A Ctrl-C at the very moment at which a read begins is handled only after it: it waits
        # for a key for half a second at most.
        while not select.select([self._descriptor], [], [], _LONGEST_WAIT_SECONDS)[0]:
            pass
        first = os.read(self._descriptor, 1)
        if first in {b"", b"\x04"}:
            return END
        if first != b"\x1b":
            return first.decode("ascii", errors="ignore").lower()
        # The rest of an arrow key comes at once; after Escape alone comes nothing.
        ready, _, _ = select.select([self._descriptor], [], [], _ESCAPE_SECONDS)
        return _ARROWS.get(os.read(self._descriptor, 2), "") if ready else ""

    def line(self, prompt: str) -> str:
        """Return a line that the person types, shown and edited as everywhere in the terminal."""
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._as_before)
        try:
            return input(prompt).strip()
        except EOFError:
            click.echo()
            return ""
        finally:
            tty.setcbreak(self._descriptor, termios.TCSADRAIN)
