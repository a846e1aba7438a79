"""Every exception of the project. Imports nothing else of the package."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Self

KeyPath = tuple[str | int, ...]
"""Keys and positions that lead from the top of a declaration to a value."""


class SheetLine(int):
    """A line of a spreadsheet of which several sheets are read; an error names the sheet too."""

    sheet: str

    def __new__(cls, line: int, sheet: str = "") -> Self:
        """Return the line with its sheet, which copies set afterwards."""
        number = int.__new__(cls, line)
        number.sheet = sheet
        return number

    def __str__(self) -> str:
        return f"{self.sheet}!{int(self)}"


@dataclass(frozen=True)
class InputProblem:
    """One thing wrong with a given file, and what to do about it.

    Args:
        file: File, as the user would name it.
        line: Line counted from 1; of Parquet and JSON, the row; None for the file as a whole.
        column: Column or key; None for the whole line.
        message: What was found, without a full stop.
        remedy: What to do, without a full stop.

    Examples:
        >>> print(InputProblem("labels.csv", 17, "rating", "6 is not on the scale", "Use 1 to 5"))
        labels.csv:17:rating: 6 is not on the scale. Use 1 to 5.
    """

    file: str
    line: int | None
    column: str | None
    message: str
    remedy: str

    @property
    def sheet(self) -> str | None:
        """Sheet of the line; None unless several sheets are read."""
        return self.line.sheet if isinstance(self.line, SheetLine) else None

    def __str__(self) -> str:
        location = [
            self.file,
            *(str(part) for part in (self.line, self.column) if part is not None),
        ]
        return f"{':'.join(location)}: {self.message}. {self.remedy}."


class InputError(ValueError):
    """One bad place in a given file; readers raise all they found in one ExceptionGroup."""

    def __init__(self, problem: InputProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def raise_all(problems: list[InputProblem], *, source: str) -> None:
    """Raise every problem found in `source` at once; do nothing if there are none.

    Raises:
        ExceptionGroup: Of one InputError a problem.
    """
    if problems:
        raise ExceptionGroup(f"{source} cannot be used", [InputError(p) for p in problems])


@contextmanager
def gathered(problems: list[InputProblem]) -> Iterator[None]:
    """Add errors raised within to `problems`, to raise all of them together."""
    try:
        yield
    except* InputError as group:
        problems += [error.problem for error in leaves(group) if isinstance(error, InputError)]


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, of a group those in it and in the groups in it."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


_MOST_ALIKE = 10
_SHOWN_PLACES = 5
_PLACE = re.compile(r"(?P<file>[^:]+):(?P<line>(?:[^:!]+!)?[0-9]+)(?P<rest>(?::[^:]+)?: .*)")


def by_cause(lines: Sequence[str]) -> Iterator[str]:
    """Yield the errors; more than ten that differ only in their line become one."""
    places: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        match = _PLACE.fullmatch(line)
        cause = (match["file"], match["rest"]) if match else (line, "")
        places.setdefault(cause, []).append(match["line"] if match else "")
    for (file, rest), result in places.items():
        if len(result) > _MOST_ALIKE:
            first, *further = result
            line_numbers = ", ".join(further[:_SHOWN_PLACES])
            yield f"{file}:{first}{rest} Likewise {len(further)} more lines: {line_numbers}, ..."
        else:
            yield from (f"{file}:{line}{rest}" if line else file for line in result)


class Fault(NamedTuple):
    """One thing wrong with a declared noun, before the file and line are known.

    Args:
        key: Key in evaluation.yaml, seen from the noun.
        message: What was found, without a full stop.
        remedy: What to do, without a full stop.
    """

    key: KeyPath
    message: str
    remedy: str


class DeclarationError(ValueError):
    """Everything that is wrong with a declared noun; readers add file and line."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(f"{fault.message}. {fault.remedy}" for fault in faults))
        self.faults = faults


def raise_faults(faults: list[Fault]) -> None:
    """Raise a DeclarationError of the faults; do nothing if there are none."""
    if faults:
        raise DeclarationError(*faults)


class PromptError(ValueError):
    """A template that cannot be used; the message is one line with file and line."""


class StoreError(RuntimeError):
    """The database or the ledger cannot be used."""


class UnreachableError(StoreError):
    """The ledger cannot be used now, and may be again soon."""


class DamagedError(StoreError):
    """The database cannot be read, and is to be made again from files and ledger."""
