"""Ratings as records of Every Eval Ever, and as events of OpenTelemetry.

https://github.com/evaleval/every_eval_ever (schema 0.3.0: a log for each system, a line a rating)
https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
(`gen_ai.evaluation.result`, in lines of OTLP JSON)
"""

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from typing import Any

import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Scale

SCHEMA_VERSION = "0.3.0"
_UNKNOWN = "unknown"
_KEPT = ("group_id", "indicator_id", "convo_id", "turn_index", "seed", "difficulty")
"""Columns of a response that go into the metadata of its lines."""

Row = Mapping[Any, Any]


def evaluation_records(
    ratings: pd.DataFrame,
    responses: pd.DataFrame,
    rubric: Sequence[RubricQuestion],
    *,
    name: str,
    at: datetime,
) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file: for every system a log, and its ratings line by line.

    Results are mean ratings of a system on a question, one for all people and one for each judge;
    the agreement report states their reliability. Only `ratings` with a value count.
    """
    plain = responses.astype(object).where(responses.notna(), None)
    by_id = {row["response_id"]: row for row in plain.to_dict("records")}
    rated = ratings[ratings["status"] == "ok"].astype(object)
    rated = rated.where(rated.notna(), None)
    systems = rated["response_id"].map(lambda response: by_id[response]["model_name"])
    questions = {question.id: question for question in rubric}
    for system, rows in rated.groupby(systems.fillna(_UNKNOWN), sort=True):
        yield from _files(str(system), rows, by_id, questions, name=name, at=at)


def _files(  # noqa: PLR0913 - the parts of a log
    system: str,
    rows: pd.DataFrame,
    by_id: Mapping[str, Row],
    questions: Mapping[str, RubricQuestion],
    *,
    name: str,
    at: datetime,
) -> Iterator[tuple[str, str]]:
    """Yield the log of a system, and the lines that it refers to."""
    model_id = system if "/" in system else f"{_UNKNOWN}/{system}"
    evaluation_id = f"{name}/{model_id}/{int(at.timestamp())}"
    results, lines = [], []
    rows = rows.assign(by=rows["rater_id"].where(rows["rater_kind"] == "judge", ""))
    for (question_key, by), ratings in rows.groupby(["question_id", "by"], sort=True):
        question_id, judge = str(question_key), str(by) or None
        result_id = f"{question_id}/{judge or 'people'}"
        question = questions[question_id]
        model = ratings["model"].iloc[0]
        results.append(_result(result_id, question, ratings["value"], judge, model, name=name))
        about = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": evaluation_id,
            "model_id": model_id,
            "evaluation_name": question_id,
            "evaluation_result_id": result_id,
        }
        lines += [
            {**about, **_instance(row, by_id[row["response_id"]], question)}
            for row in ratings.to_dict("records")
        ]
    samples = "".join(f"{_json(line)}\n" for line in lines)
    digest = hashlib.sha256(f"{evaluation_id}\n{samples}".encode()).digest()
    folder = f"data/{_slug(name)}/{'/'.join(map(_slug, model_id.split('/', 1)))}"
    file = f"{folder}/{uuid.UUID(bytes=digest[:16], version=4)}"
    yield f"{file}_samples.jsonl", samples
    log = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": str(int(at.timestamp())),
        "source_metadata": {
            "source_name": name,
            "source_type": "evaluation_run",
            "source_organization_name": _UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "eval-assets", "version": version("eval-assets")},
        "model_info": _model(system, model_id),
        "evaluation_results": results,
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{file}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(),
            "total_rows": len(lines),
        },
    }
    yield f"{file}.json", f"{_json(log, indent=2)}\n"


def _result(  # noqa: PLR0913 - the parts of a result
    result_id: str,
    question: RubricQuestion,
    values: pd.Series,
    judge: str | None,
    model: str | None,
    *,
    name: str,
) -> dict[str, object]:
    """Return the mean rating of a system by people, or by one judge."""
    deviation = float(values.astype(float).std())
    metric: dict[str, object] = {
        "evaluation_description": question.question,
        "metric_id": result_id,
        "metric_name": f"mean rating by {judge or 'people'}",
        "metric_kind": "mean_rating",
        "metric_unit": "points",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": question.scale.low,
        "max_score": question.scale.high,
        "additional_details": {
            "scale": json.dumps(asdict(question.scale)),
            "level": question.level,
        },
    }
    if judge is not None:
        info = _model(model or judge, model if model and "/" in model else f"{_UNKNOWN}/{model}")
        prompt = "not recorded in this export"
        metric["llm_scoring"] = {"judges": [{"model_info": info}], "input_prompt": prompt}
    uncertainty: dict[str, object] = {"num_samples": len(values)}
    if not math.isnan(deviation):
        uncertainty["standard_deviation"] = deviation
    return {
        "evaluation_result_id": result_id,
        "evaluation_name": question.id,
        "source_data": {"dataset_name": name, "source_type": "other"},
        "metric_config": metric,
        "score_details": {"score": float(values.astype(float).mean()), "uncertainty": uncertainty},
    }


def _instance(row: Row, response: Row, question: RubricQuestion) -> dict[str, object]:
    value = float(row["value"])
    about = {
        "rater_kind": row["rater_kind"],
        "rater_id": row["rater_id"],
        "rated_at": row["rated_at"],
        "explanation": row["explanation"],
        **{column: response.get(column) for column in _KEPT},
    }
    answered = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": f"{value:g}",
        "extraction_method": "human" if row["rater_kind"] == "human" else "llm_judge",
        "is_terminal": True,
    }
    return {
        "sample_id": row["response_id"],
        "interaction_type": "single_turn",
        "input": {"raw": response["prompt_text"] or "", "reference": []},
        "output": {"raw": [response["response_text"] or ""]},
        "answer_attribution": [answered],
        # The schema asks for it of every rating: above the middle of the scale.
        "evaluation": {
            "score": value,
            "is_correct": value > (question.scale.low + question.scale.high) / 2,
        },
        "metadata": {key: str(value) for key, value in about.items() if value is not None},
    }


def _model(name: str, model_id: str) -> dict[str, object]:
    unknown = {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN}
    return {"name": name, "id": model_id, "additional_details": unknown}


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "unnamed"


def _json(value: object, *, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


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

    Rater, scale and response group have no attribute in the conventions and are in our own,
    `eval_assets.…`.

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
    """Return attributes in OTLP's form, without missing ones."""
    return [
        {
            "key": key,
            "value": {"doubleValue": value} if isinstance(value, float) else {"stringValue": value},
        }
        for key, value in values.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    ]


def _label(value: float, scale: Scale) -> str | None:
    words = dict(zip(scale.values or (), scale.words or (), strict=False))
    return words.get(value)


def _time(text: str | None, at: datetime) -> datetime:
    return datetime.fromisoformat(text) if text else at
