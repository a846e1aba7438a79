"""What is wrong with the rows of a file, gathered check by check and told row by row."""

from collections.abc import Callable, Sequence

import numpy as np

from eval_assets.problems import InputProblem
from eval_assets.readers.ratings import BoolArray

WhatAndRemedy = tuple[str, str]
"""What was found, and what to do about it."""


class Findings:
    """Problems of the rows of one file.

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
        tell: Callable[[int], WhatAndRemedy],
    ) -> None:
        """Note every row that is `bad`, in a column that may differ from row to row."""
        self.bad |= bad
        for row in np.flatnonzero(bad).tolist():
            header = column if isinstance(column, str) or column is None else column[row]
            problem = InputProblem(self.file, self.lines[row], header, *tell(row))
            self._problems.append((row, problem))

    def in_order(self) -> list[InputProblem]:
        """All problems, row by row."""
        return [problem for _, problem in sorted(self._problems, key=lambda found: found[0])]
