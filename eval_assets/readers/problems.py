"""Problems with the rows of a file, and their wording."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches

import numpy as np

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.formats.table import BoolArray, FileColumn

MessageAndRemedy = tuple[str, str]

_LONGEST_QUOTE = 40
_MOST_NAMES = 6


class RowProblems:
    """Problems of the rows of a table, collected check by check and reported row by row."""

    def __init__(self, file: str | FileColumn[str], lines: Sequence[int]) -> None:
        self.files = file if isinstance(file, FileColumn) else FileColumn.repeat(file, len(lines))
        self.lines = lines
        self.bad = np.zeros(len(lines), dtype=bool)
        self._problems: list[tuple[int, InputProblem]] = []

    def add(
        self,
        bad: BoolArray,
        column: str | None,
        message: str,
        remedy: str,
        cells: FileColumn[str | None] | None = None,
    ) -> None:
        """Add a problem for every `bad` row; with `cells`, its cell begins the message."""

        def describe(row: int) -> MessageAndRemedy:
            return (f"{quoted(cells[row])} {message}" if cells is not None else message), remedy

        self.add_described(bad, column, describe)

    def add_described(
        self,
        bad: BoolArray,
        column: str | FileColumn[str] | None,
        describe: Callable[[int], MessageAndRemedy],
    ) -> None:
        """Add a problem for every `bad` row, in a column that may differ from row to row."""
        self.bad |= bad
        for row in np.flatnonzero(bad).tolist():
            header = column[row] if isinstance(column, FileColumn) else column
            problem = InputProblem(self.files[row], self.lines[row], header, *describe(row))
            self._problems.append((row, problem))

    def add_unread(self, bad: BoolArray) -> None:
        """Add as one problem all `bad` rows, of responses that perhaps could not be read."""
        self.bad |= bad
        if n_rows := int(np.count_nonzero(bad)):
            row = int(np.argmax(bad))
            names = "1 row names a response" if n_rows == 1 else f"{n_rows} rows name responses"
            message = f"{names} not found among those that could be read"
            remedy = "Repair the responses first, then run again"
            self._problems.append((row, InputProblem(self.files[row], None, None, message, remedy)))

    def by_row(self) -> list[tuple[int, InputProblem]]:
        """Return all problems with their rows, in order."""
        return sorted(self._problems, key=lambda pair: pair[0])

    def in_order(self) -> list[InputProblem]:
        """Return all problems, row by row."""
        return [problem for _, problem in self.by_row()]


def input_error(
    file: str, message: str, remedy: str, *, line: int | None = None, column: str | None = None
) -> InputError:
    """Return the error of a whole file, or of one location in it."""
    return InputError(InputProblem(file, line, column, message, remedy))


def repeated(cells: Sequence[object]) -> tuple[BoolArray, dict[object, int]]:
    """Return whether each cell occurred in an earlier row, and the first row of those that did."""
    if len(set(cells)) == len(cells):
        return np.zeros(len(cells), dtype=bool), {}
    first: dict[object, int] = {}
    is_repeated = [first.setdefault(cell, row) != row for row, cell in enumerate(cells)]
    return np.array(is_repeated, dtype=bool), first


def quoted(cell: str | None) -> str:
    """Return a cell as quoted in a message, on one line and shortened."""
    one_line = " ".join((cell or "").split())
    cut = f"{one_line[:_LONGEST_QUOTE]}..." if len(one_line) > _LONGEST_QUOTE else one_line
    return f'"{cut}"'


def listed_briefly(names: Sequence[str]) -> str:
    """Return names as a list, of many the first and the last.

    Examples:
        >>> listed_briefly(["a", "b"]), listed_briefly(list("abcdefghij"))
        ('a, b', 'a, b, c, d, ... j (10)')
    """
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:4])}, ... {names[-1]} ({len(names)})"


def count_as_people(names: Sequence[str]) -> str:
    """Return that raters of some names count as people.

    Examples:
        >>> count_as_people(["hhem"]), count_as_people(["A", "B"])
        ('hhem counts as a person', 'A, B count as people')
    """
    verb = "counts as a person" if len(names) == 1 else "count as people"
    return f"{listed_briefly(names)} {verb}"


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return a remedy that names the closest of the choices, or all of them.

    Examples:
        >>> nearest("helpfulnes", ["helpfulness", "safety"])
        'Write "helpfulness"'
        >>> nearest("ticket", ["text", "score"])
        'Use one of text, score'
    """
    choices = list(choices)
    close = get_close_matches(name, choices, n=1, cutoff=0.65)  # of ticket and text .6
    return f'Write "{close[0]}"' if close else f"Use one of {', '.join(choices)}"


_PLAIN_NUMBER = re.compile(r"\s*[+-]?[0-9.]+(e[+-]?[0-9]+)?\s*")


def off_scale(cell: str | None, question: RubricQuestion) -> MessageAndRemedy:
    """Return what is wrong with a rating that is not on the scale of its question."""
    rating = quoted(cell)
    if _PLAIN_NUMBER.fullmatch(cell or ""):
        with suppress(ValueError):
            number = float(cell or "")
            rating = f"{number:.12g}" if math.isfinite(number) else rating
    allowed = question.scale.described()
    remedy = f"Use {allowed}" if question.scale.values is None else f"Use one of {allowed}"
    close = get_close_matches((cell or "").casefold(), question.scale.words or (), n=1)
    remedy = f'Write "{close[0]}"' if close else remedy
    return f'{rating} is not on the scale of "{question.id}"', remedy
