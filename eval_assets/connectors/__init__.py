"""Running tools, read and written through their own clients, one module per tool.

A module has `read`, which yields records in the form of the tool's export, `write`, which attaches
verdicts to the project and returns where, and `ERRORS`, which its client raises.
"""

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from textwrap import shorten
from types import ModuleType
from typing import Any, NamedTuple

from eval_assets.errors import ToolError

CLIENTS = {
    "argilla": "argilla",
    "label-studio": "label_studio_sdk",
    "langfuse": "langfuse",
    "langsmith": "langsmith",
    "mlflow": "mlflow",
}
"""Module of each tool's client; the tool is the name of the extra that installs it."""

_LONGEST_MESSAGE = 200

PREFIX = "eval_assets."
"""Start of the name of everything that is written."""


class PublishedVerdict(NamedTuple):
    """A verdict as other tools store it.

    Args:
        name: Gate or certificate, judge and question, with dots between them.
        value: The verdict in a word or two.
        comment: The figures behind it, as a sentence.
    """

    name: str
    value: str
    comment: str

    def __str__(self) -> str:
        return f"{self.value}. {self.comment}"


def fetch(
    tool: str, server: str, project: str | None, *, known: Container[str]
) -> list[dict[str, Any]]:
    """Return all records of a project; the texts of known responses may be left out.

    Raises:
        ToolError: If the server does not answer, or refuses.
    """
    with _connector(tool, server) as module:
        return list(module.read(server, project, known))


def publish(
    tool: str, server: str, project: str | None, verdicts: Sequence[PublishedVerdict]
) -> str:
    """Attach verdicts to a project, in place of those attached before; return where they are.

    Raises:
        ToolError: If the server does not answer, or refuses.
    """
    with _connector(tool, server) as module:
        return str(module.write(server, project, verdicts))


def named(project: str | None) -> str:
    """Return the name of the project.

    Raises:
        ToolError: If none is named.
    """
    if not project:
        raise ToolError("several projects may be there. Name one with --project.")
    return project


def missing(project: str) -> ToolError:
    """Return the error of a project that does not exist."""
    return ToolError(f"there is no {project}. Check the name in --project.")


def with_section(text: str | None, verdicts: Sequence[PublishedVerdict]) -> str:
    """Return a text with the verdicts at its end, in place of those there before.

    Examples:
        >>> first = with_section("Rate.", [PublishedVerdict("gate", "open", "Good.")])
        >>> print(first)
        Rate.
        <BLANKLINE>
        [Eval Assets]
        eval_assets.gate: open. Good.
        [/Eval Assets]
        >>> with_section(first, [PublishedVerdict("gate", "open", "Good.")]) == first
        True
    """
    before, _, rest = (text or "").partition(_BEGIN)
    after = rest.partition(_END)[2]
    lines = "\n".join(f"{PREFIX}{verdict.name}: {verdict}" for verdict in verdicts)
    section = f"{before.rstrip()}\n\n{_BEGIN}\n{lines}\n{_END}{after}"
    return section.strip()


_BEGIN, _END = "[Eval Assets]", "[/Eval Assets]"


@contextmanager
def _connector(tool: str, server: str) -> Iterator[ModuleType]:
    """Yield the module of a tool; its client's errors become one line."""
    module = import_module(f"{__name__}.{tool.replace('-', '_')}")
    try:
        yield module
    except (ToolError, *module.ERRORS) as error:
        status, body = (getattr(error, name, None) for name in ("status_code", "body"))
        message = f"it answered with status {status}" if status else str(body or error)
        message = message.strip().partition("\n")[0]
        message = shorten(message or type(error).__name__, _LONGEST_MESSAGE, placeholder=" ...")
        raise ToolError(f"{tool} at {server}: {message}") from error
