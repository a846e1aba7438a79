"""Problems with the rows of a file, and the words in which they are reported."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

import numpy as np

from eval_assets.errors import InputProblem
from eval_assets.readers._cells import BoolArray

WhatAndRemedy = tuple[str, str]
"""A finding, and its remedy."""


class Findings:
    """Problems of the rows of one file, gathered check by check and reported row by row.

    Args:
        file: File, as messages name it.
        lines: Place of each row in the file.
    """

    def __init__(self, file: str, lines: Sequence[int]) -> None:
        self.file = file
        self.lines = lines
        self.bad = np.zeros(len(lines), dtype=bool)
        self._problems: list[tuple[int, InputProblem]] = []

    def add(
        self,
        bad: BoolArray,
        column: str | Sequence[str] | None,
        describe: Callable[[int], WhatAndRemedy],
    ) -> None:
        """Note every row that is `bad`, in a column that may differ from row to row."""
        self.bad |= bad
        for row in np.flatnonzero(bad).tolist():
            header = column if isinstance(column, str) or column is None else column[row]
            problem = InputProblem(self.file, self.lines[row], header, *describe(row))
            self._problems.append((row, problem))

    def add_together(self, bad: BoolArray, describe: Callable[[int], WhatAndRemedy]) -> None:
        """Note every row that is `bad` as one problem, described by the number of rows."""
        self.bad |= bad
        if bad.any():
            problem = InputProblem(self.file, None, None, *describe(int(np.count_nonzero(bad))))
            self._problems.append((int(np.argmax(bad)), problem))

    def by_row(self) -> list[tuple[int, InputProblem]]:
        """Return all problems with their rows, in order."""
        return sorted(self._problems, key=lambda found: found[0])

    def in_order(self) -> list[InputProblem]:
        """Return all problems, row by row."""
        return [problem for _, problem in self.by_row()]


def shown(cell: str | None) -> str:
    """Return a cell as a message quotes it: on one line, and cut if it is long."""
    longest = 40
    one_line = " ".join((cell or "").split())
    return f'"{one_line[:longest]}..."' if len(one_line) > longest else f'"{one_line}"'


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remedy that names the likeliest of the `known` names, or all of them.

    Examples:
        >>> nearest("helpfulnes", ["helpfulness", "safety"])
        'Write "helpfulness"'
        >>> nearest("tone", ["helpfulness", "safety"])
        'Use one of helpfulness, safety'
    """
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return f'Write "{close[0]}"' if close else f"Use one of {', '.join(known)}"
