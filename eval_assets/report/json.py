"""The report as JSON: its verdicts in words, and the figures behind them, unrounded."""

import json
import math
from collections.abc import Iterable

import pandas as pd

from eval_assets.gates import GateVerdict
from eval_assets.report._content import report_content
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
            {
                "gate": outcome.gate,
                "sentence": sentence.text,
                "severity": outcome.severity,
                "is_closed": outcome.is_closed,
                "verdicts": [_verdict(v) for v in (outcome.overall, *outcome.questions)],
            }
            for outcome, sentence in zip(data.gates, report.first.gates, strict=True)
        ],
        "judges": [
            {
                "judge_id": judge.id,
                "sentence": sentence.text,
                "questions": [
                    row
                    for row in _rows(data.rows("judge_human_agreement"))
                    if row["judge_id"] == judge.id
                ],
            }
            for judge, sentence in zip(data.evaluation.judges, report.first.judges, strict=True)
        ],
        "human_agreement": _rows(data.rows("human_agreement")),
        "judge_agreement": _rows(data.rows("judge_agreement")),
        "label_findings": _rows(data.rows("label_findings")),
        "score_summary": _rows(data.rows("score_summary")),
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _verdict(verdict: GateVerdict) -> dict[str, object]:
    return {name: _value(value) for name, value in vars(verdict).items() if name != "gate"}


def _rows(records: Iterable[Record]) -> list[dict[str, object]]:
    return [{name: _value(value) for name, value in record.items()} for record in records]


def _value(value: object) -> object:
    """Return a value of a table in the types of JSON."""
    if isinstance(value, bool | str):
        return value
    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return None
    number = float(str(value))
    return int(number) if math.isfinite(number) and number == int(number) else number
