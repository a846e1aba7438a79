"""Screen of the labelling command, in plain lines.

Nothing is cleared or redrawn: lines work over a slow connection, in a screen reader, at any size of
the window, and can be scrolled back to.
"""

import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

import click

from eval_assets.labelling.choices import Choice, answer_name, question_choices
from eval_assets.labelling.rater_queue import WorkUnit
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.sessions import Answer, Label

PREVIEW_LINES = 20
"""Lines of a long response or of many captures that are shown before V or T is pressed."""

_SHORT = 40
_WIDEST = 100
_KEPT_CONTROLS = "\n\t"


def plain(text: str) -> str:
    r"""Return text that can do nothing to a terminal: control characters become visible.

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
    short = [f"{name}: {lines[0]}" for name, lines in response.facts if _is_short(lines)]
    click.echo()
    title = "  ".join(plain(part) for part in [f"Scenario {number}/{of}", *short])
    click.secho(_rule(title), bold=True)
    for turn in response.earlier:
        _section("Earlier prompt", [turn.prompt])
        _section("Earlier response", [turn.response])
    if response.prompt:
        _section("Prompt", [response.prompt])
    for name, lines in response.facts:
        if not _is_short(lines):
            _section(name, lines, most=PREVIEW_LINES, key="T")
    for name, text in unit.texts.items():
        _section(name, [text], most=PREVIEW_LINES, key="V")
    if unit.first_ratings:
        ratings = (f"{first.name}: {first.rating}. {first.reason}" for first in unit.first_ratings)
        _section("Ratings before the discussion", ratings)
    click.echo(_rule(""))


def show_question(
    unit: WorkUnit, *, options: Sequence[str] = (), keys: Sequence[str], also: Sequence[str]
) -> None:
    """Print the question, the keys that answer it with further ones, and a second line of keys.

    `options` are those of a multi-select question.
    """
    question = unit.question
    click.secho(plain(question.displayed_text if options else question.question), bold=True)
    values = [_key(choice) for choice in question_choices(question)]
    if options:
        values = [*options, "Enter Save"]
    values = values or [f"A value ({question.scale.described()})"]
    click.echo("  ".join(["", *values, *keys]))
    click.echo("  ".join(["", *also]))


def show_in_full(unit: WorkUnit) -> None:
    """Print all of the response, or of both that are compared."""
    for name, text in unit.texts.items():
        _section(name, [text])


def show_captures(response: ResponseView) -> None:
    """Print all of the captures."""
    for name, lines in response.facts:
        if not _is_short(lines):
            _section(name, lines)


def show_guidelines(unit: WorkUnit) -> None:
    """Print what the question's values mean."""
    _section("Guidelines", [unit.question.guidelines or "No guidelines for this question."])


def option_names(units: Sequence[WorkUnit]) -> list[str]:
    """Return the options of a multi-select question; of another question none."""
    selects = [unit.question.multi_select for unit in units]
    return [plain(select.option) for select in selects if select]


def named_labels(labels: Sequence[Label], units: Sequence[WorkUnit]) -> str:
    """Return what the labels of a screen say, a comparison by the sides that are shown."""
    answers = [
        replace(label, rating=unit.across_sides(label.rating))
        for label, unit in zip(labels, units, strict=True)
    ]
    return named(answers, units)


def named(answers: Sequence[Answer], units: Sequence[WorkUnit]) -> str:
    """Return what the answers of a screen say, in words."""
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


def _key(choice: Choice) -> str:
    key = choice.key.upper()
    return key if choice.key == choice.name else f"{key} {choice.name}"


def _section(title: str, texts: Iterable[str], *, most: int | None = None, key: str = "") -> None:
    lines = [line for text in texts for line in _wrapped(plain(text))]
    click.secho(plain(title), underline=True)
    for line in lines[:most]:
        click.echo(f"  {line}")
    if most is not None and len(lines) > most:
        click.echo(f"  ... {len(lines) - most} more lines; {key} shows all")


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


def _is_short(lines: Sequence[str]) -> bool:
    return len(lines) == 1 and len(lines[0]) <= _SHORT and "\n" not in lines[0]
