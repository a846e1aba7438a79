"""OpenTelemetry: events `gen_ai.evaluation.result` in OTLP JSON; those of people say so.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
"""

from collections.abc import Iterable, Mapping

from eval_assets.readers.importers.imported import (
    Imported,
    Record,
    at,
    first_at,
    question_of,
    records_at,
)

_EVENT = "gen_ai.evaluation.result"
_OURS = "eval_assets"


def recognises(record: Record) -> bool:
    """Return whether a record holds log records in OTLP."""
    return isinstance(record.get("resourceLogs"), list)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add each event as a rating by a person or a score of a judge."""
    for record in records:
        for resource in records_at(record, "resourceLogs"):
            for scope in records_at(resource, "scopeLogs"):
                for event in records_at(scope, "logRecords"):
                    _read_event(event, str(at(scope, "scope", "name") or "judge"), into)


def _read_event(event: Record, scope: str, into: Imported) -> None:
    attributes = records_at(event, "attributes")
    given = {str(each.get("key")): _value(each.get("value")) for each in attributes}
    if _EVENT not in (event.get("eventName"), given.get("event.name")):
        into.notes["log records are other events than evaluations"] += 1
        return
    response_id = given.get("gen_ai.response.id") or first_at(event, "spanId", "traceId")
    name = str(given.get("gen_ai.evaluation.name"))
    if not response_id:
        into.notes["evaluations do not say of which response"] += 1
        return
    into.questions.setdefault(
        name,
        question_of(
            name,
            given.get(f"{_OURS}.question.text"),
            scale=given.get(f"{_OURS}.question.scale"),
            level=given.get(f"{_OURS}.question.level"),
        ),
    )
    group = given.get(f"{_OURS}.response.group")
    into.add_response(response_id, prompt="", response="", group_id=group)
    value = given.get("gen_ai.evaluation.score.value", given.get("gen_ai.evaluation.score.label"))
    rater = given.get(f"{_OURS}.rater.id") or scope
    if given.get(f"{_OURS}.rater.kind") == "human":
        into.add_rating(str(response_id), name, rater, value)
    else:
        reply = given.get("gen_ai.evaluation.explanation") or given.get("error.type")
        into.add_score(str(response_id), name, rater, value, reply=reply)


def _value(value: object) -> object:
    """Return the value of an attribute, whichever type it is of."""
    return next(iter(value.values()), None) if isinstance(value, Mapping) else None
