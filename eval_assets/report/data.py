"""The figures that the report is made from, and how their rows are read."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.gates import GateOutcome

Record = Mapping[str, object]
"""A row of a table, by column."""


@dataclass(frozen=True, eq=False)
class ReportData:
    """All figures of the report, as measured; the frames have the columns of their tables.

    Args:
        evaluation: What was evaluated.
        gates: Outcome of every gate that applies, on the data as it is now.
        tunable: Ids of the questions that tuning may cover; empty while a gate is closed.
        n_responses: Number of responses.
        n_labels: Number of ratings by humans.
        n_raters: Number of humans who rated.
        human_agreement: All rows of `human_agreement`.
        judge_agreement: Rows of `judge_agreement` of the scopes `question` and `overall`.
        judge_human_agreement: All rows of `judge_human_agreement`.
        judge_confusion: All rows of `judge_confusion`.
        judge_statuses: Columns `judge_id`, `status` and `n`, the units of that status.
        label_findings: All rows of `label_findings`.
        label_disagreements: Rows of `label_disagreements`, worst first, with `model_name`,
            `prompt_text` and `response_text` of the response.
        n_disagreements: Rows of that table; `label_disagreements` may hold fewer.
        score_summary: All rows of `score_summary`.
        generated_at: When the report is made, with a time zone.
    """

    evaluation: Evaluation
    gates: tuple[GateOutcome, ...]
    tunable: tuple[str, ...]
    n_responses: int
    n_labels: int
    n_raters: int
    human_agreement: pd.DataFrame
    judge_agreement: pd.DataFrame
    judge_human_agreement: pd.DataFrame
    judge_confusion: pd.DataFrame
    judge_statuses: pd.DataFrame
    label_findings: pd.DataFrame
    label_disagreements: pd.DataFrame
    n_disagreements: int
    score_summary: pd.DataFrame
    generated_at: datetime


def records(frame: pd.DataFrame) -> Iterator[Record]:
    """Yield the rows of `frame`, first to last."""
    columns = [str(column) for column in frame.columns]
    for values in frame.itertuples(index=False, name=None):
        yield dict(zip(columns, values, strict=True))


def number(record: Record, column: str) -> float:
    """Return a figure; NaN if it is NULL, NaN or NA, or the column is missing."""
    value = record.get(column)
    return math.nan if _is_missing(value) else float(str(value))


def count(record: Record, column: str) -> int:
    """Return a count; 0 if it is missing."""
    value = number(record, column)
    return 0 if math.isnan(value) else int(value)


def text(record: Record, column: str) -> str:
    """Return a text; empty if it is missing. "nan" and "None" are texts."""
    value = record.get(column)
    return "" if _is_missing(value) else str(value)


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value  # noqa: PLR0124 - NaN
