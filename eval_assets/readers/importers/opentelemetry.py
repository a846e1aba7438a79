"""OpenTelemetry: events `gen_ai.evaluation.result` in OTLP JSON; those of people say so.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import (
    Export,
    Record,
    at,
    first_at,
    question_of,
    records_at,
)

_EVENT = "gen_ai.evaluation.result"
_OURS = "eval_assets."
_SCORE = "gen_ai.evaluation.score."


def recognises(record: Record) -> bool:
    """Return whether a record holds log records in OTLP."""
    return isinstance(record.get("resourceLogs"), list)


def read(records: Iterable[Record], export: Export) -> None:
    """Add each event as a rating by a person or a score of a judge."""
    for record in records:
        for resource in records_at(record, "resourceLogs"):
            for scope in records_at(resource, "scopeLogs"):
                for event in records_at(scope, "logRecords"):
                    _read_event(event, str(at(scope, "scope", "name") or "judge"), export)


def _read_event(event: Record, scope: str, export: Export) -> None:
    values = {
        str(attribute.get("key")): next(iter((attribute.get("value") or {}).values()), None)
        for attribute in records_at(event, "attributes")
    }
    if _EVENT not in (event.get("eventName"), values.get("event.name")):
        export.notes["log records are other events than evaluations"] += 1
        return
    response_id = values.get("gen_ai.response.id") or first_at(event, "spanId", "traceId")
    if not response_id:
        export.notes["evaluations do not say of which response"] += 1
        return
    name = str(values.get("gen_ai.evaluation.name"))
    text, scale, level = (
        values.get(f"{_OURS}question.{key}") for key in ("text", "scale", "level")
    )
    question = question_of(name, text, scale=scale, level=level)
    export.questions.setdefault(name, question)
    export.add_response(response_id, group_id=values.get(f"{_OURS}response.group"))
    value = values.get(f"{_SCORE}value", values.get(f"{_SCORE}label"))
    rater = values.get(f"{_OURS}rater.id") or scope
    if values.get(f"{_OURS}rater.kind") == "human":
        export.add_rating(str(response_id), name, rater, value)
    else:
        reply = values.get("gen_ai.evaluation.explanation") or values.get("error.type")
        export.add_score(str(response_id), name, rater, value, reply=reply)
