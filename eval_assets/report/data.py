"""Figures of the report, and access to their rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

import pandas as pd

from eval_assets.agreement.advice import Finding
from eval_assets.agreement.diagnosis import Diagnosis
from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.config.evaluation import Evaluation
from eval_assets.figures import (
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    LeaveOneJudgeOutFigures,
    RubricVersionFigures,
    ScoreFigures,
    SliceFigures,
)
from eval_assets.report.stored_rows import Row, StoredRow, rows_of

_SCORED = ("ok", "conversation")
"""Statuses of units that have a score."""


@dataclass(frozen=True)
class Coverage:
    """Units of a judge by status of its score."""

    judge_id: str
    counts: Mapping[str, int]

    @property
    def n_units(self) -> int:
        """Number of units, with or without a score."""
        return sum(self.counts.values())

    @property
    def n_scored(self) -> int:
        """Number of units with a score."""
        return sum(self.counts.get(status, 0) for status in _SCORED)

    @property
    def without_score(self) -> list[tuple[int, str]]:
        """Number and status of the units without a score, most first."""
        failures = [(n, status) for status, n in self.counts.items() if status not in _SCORED]
        return sorted(failures, key=lambda item: -item[0])


@dataclass(frozen=True, eq=False)
class ReportData:
    """Figures and tables that the report shows.

    Args:
        tunable: Ids of the questions that tuning may cover; empty while a gate is closed.
        judge_humans_with_excluded: The same with the responses that adjudication left out.
        slices: Agreement over all questions on parts of the responses.
        stale: Why figures of judges against humans are older than the ratings, with the remedy.
        tables: Other figures by table, with its columns. Lists of single responses hold the worst
            rows only, with `model_name`, `prompt_text` and `response_text` of the response.
        sizes: Rows of the tables that `tables` holds in part, and of `responses`.
    """

    evaluation: Evaluation
    gates: tuple[GateOutcome, ...]
    tunable: tuple[str, ...]
    humans: tuple[HumanFigures, ...]
    rubric_versions: tuple[RubricVersionFigures, ...]
    findings: tuple[Finding, ...]
    diagnoses: tuple[Diagnosis, ...]
    coverage: tuple[Coverage, ...]
    judges: tuple[JudgeFigures, ...]
    leave_one_judge_out: tuple[LeaveOneJudgeOutFigures, ...]
    judge_humans: tuple[JudgeHumanFigures, ...]
    judge_humans_with_excluded: tuple[JudgeHumanFigures, ...]
    slices: tuple[SliceFigures, ...]
    scores: tuple[ScoreFigures, ...]
    dependent_judges: tuple[str, ...]
    stale: str
    tables: Mapping[str, pd.DataFrame]
    sizes: Mapping[str, int]
    generated_at: datetime
    _rows: dict[type[StoredRow], tuple[StoredRow, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    def rows(self, row_type: type[Row]) -> tuple[Row, ...]:
        """Return the rows of a table, first to last; none if the table is missing."""
        if row_type not in self._rows:
            frame = self.tables.get(row_type.table, pd.DataFrame())
            self._rows[row_type] = tuple(rows_of(frame, row_type))
        return cast("tuple[Row, ...]", self._rows[row_type])


def groups_text(n: int, n_groups: int) -> str:
    """Return a count of units and, if they are fewer, of their response groups.

    Examples:
        >>> groups_text(1056, 96)
        '1,056 in 96 groups'
    """
    return (
        f"{n:,} in {n_groups:,} group{'' if n_groups == 1 else 's'}" if n_groups < n else f"{n:,}"
    )
