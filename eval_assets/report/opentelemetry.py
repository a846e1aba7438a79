"""Ratings as OpenTelemetry's events `gen_ai.evaluation.result`, in lines of OTLP JSON.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from typing import Any

import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Scale

_EVENT = "gen_ai.evaluation.result"
_OURS = "eval_assets"
_EVENTS_A_LINE = 500
_INFO = 9
"""Number of the severity INFO."""


def evaluation_events(
    ratings: pd.DataFrame,
    rubric: Sequence[RubricQuestion],
    groups: Mapping[str, str],
    *,
    name: str,
    at: datetime,
) -> Iterator[str]:
    """Yield lines of JSON, each with a number of events; one event is one rating.

    What the conventions have no attribute for is in attributes of our own, `eval_assets.…`: who
    rated, on which scale, and the group of responses.

    `at` is when it was measured: the time of ratings that have none.
    """
    questions = {question.id: question for question in rubric}
    rows = ratings.astype(object).where(ratings.notna(), None).to_dict("records")
    events = (
        _event(row, questions[row["question_id"]], groups.get(row["response_id"]), at=at)
        for row in rows
    )
    resource = {"attributes": _attributes({"service.name": "eval-assets", f"{_OURS}.name": name})}
    scope = {"name": _OURS, "version": version("eval-assets")}
    while chunk := list(islice(events, _EVENTS_A_LINE)):
        logs = {"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": chunk}]}
        yield json.dumps({"resourceLogs": [logs]}, ensure_ascii=False, allow_nan=False)


def _event(
    row: Mapping[Any, Any], question: RubricQuestion, group: str | None, *, at: datetime
) -> dict[str, object]:
    """Return one rating as a log record."""
    value = row["value"]
    is_ok = row["status"] == "ok"
    nanoseconds = str(int(_time(row["rated_at"], at).timestamp()) * 10**9)
    return {
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": _INFO,
        "eventName": _EVENT,
        "attributes": _attributes(
            {
                "gen_ai.evaluation.name": question.id,
                "gen_ai.evaluation.score.value": float(value) if is_ok else None,
                "gen_ai.evaluation.score.label": _label(value, question.scale) if is_ok else None,
                "gen_ai.evaluation.explanation": row["explanation"],
                "gen_ai.response.id": row["response_id"],
                "error.type": None if is_ok else row["status"],
                f"{_OURS}.rater.kind": row["rater_kind"],
                f"{_OURS}.rater.id": row["rater_id"],
                f"{_OURS}.rater.model": row["model"],
                f"{_OURS}.question.text": question.question,
                f"{_OURS}.question.scale": json.dumps(asdict(question.scale)),
                f"{_OURS}.question.level": question.level,
                f"{_OURS}.response.group": group,
            }
        ),
    }


def _attributes(values: Mapping[str, object]) -> list[dict[str, object]]:
    """Return attributes as OTLP has them, without those that are not given."""
    return [
        {
            "key": key,
            "value": {"doubleValue": value} if isinstance(value, float) else {"stringValue": value},
        }
        for key, value in values.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    ]


def _label(value: float, scale: Scale) -> str | None:
    """Return the word for a value, if the scale has words."""
    words = dict(zip(scale.values or (), scale.words or (), strict=False))
    return words.get(value)


def _time(text: str | None, at: datetime) -> datetime:
    return datetime.fromisoformat(text) if text else at
