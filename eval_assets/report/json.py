"""The report as JSON: its verdicts in words, and the figures behind them, unrounded."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from eval_assets.figures import FigureRecord, Scope
from eval_assets.report.content import report_content
from eval_assets.report.data import Record, ReportData


def render_json(data: ReportData) -> str:
    """Return the report as JSON; a figure that is undefined is null."""
    report = report_content(data)
    content = {
        "evaluation": report.name,
        "generated_at": data.generated_at.isoformat(),
        "answer": report.first.answer,
        "next": report.first.next_step.text,
        "tunable_questions": list(data.tunable),
        "gates": [
            {"sentence": sentence.text, **outcome.to_json()}
            for outcome, sentence in zip(data.gates, report.first.gates, strict=True)
        ],
        "judges": [
            {
                "judge_id": judge.id,
                "sentence": sentence.text,
                "questions": [
                    row.columns() for row in data.judge_humans if row.judge_id == judge.id
                ],
            }
            for judge, sentence in zip(data.evaluation.judges, report.first.judges, strict=True)
        ],
        "judge_set_fingerprint": next(
            (row.judge_set_fingerprint for row in data.judges if row.scope is Scope.OVERALL), None
        ),
        "judge_counts": [
            {"judge_id": c.judge_id, "n_units": c.n_units, "n_scored": c.n_scored}
            for c in data.coverage
        ],
        "results_by_model": [_plain(row) for row in data.rows("results_by_model")],
        "lowest_results": [_plain(row) for row in data.rows("results")],
        "human_agreement": _rows(data.humans),
        "judge_agreement": _rows(data.judges),
        "label_findings": [asdict(finding) for finding in data.findings],
        "disagreement_causes": [cause.to_json() for cause in data.causes],
        "rated_response_selection": [_plain(asdict(test)) for test in data.selection],
        "human_agreement_weighted": _rows(data.weighted),
        "score_summary": _rows(data.scores),
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _rows(rows: Iterable[FigureRecord]) -> list[dict[str, object]]:
    return [{name: _value(value) for name, value in row.columns().items()} for row in rows]


def _plain(record: Record) -> dict[str, object]:
    return {name: _plain_value(value) for name, value in record.items()}


def _plain_value(value: Any) -> object:  # noqa: ANN401 - a cell of a frame
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _value(value: object) -> object:
    """Return a value in the types of JSON, a whole number without decimals."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
