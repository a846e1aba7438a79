"""Phoenix: exported spans and their annotations, by people, models or code.

https://arize.com/docs/phoenix/tracing/how-to-tracing/feedback-and-annotations/capture-feedback
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at


def recognises(record: Record) -> bool:
    """Return whether a record is an annotation or a span."""
    is_span = "attributes.output.value" in record or at(record, "attributes", "output.value")
    return at(record, "annotator_kind") is not None or bool(is_span)


def read(records: Iterable[Record], export: Export) -> None:
    """Add spans as responses, and their annotations."""
    for record in records:
        if at(record, "annotator_kind") is not None:
            _read_annotation(record, export)
            continue
        span_id = first_at(record, "context.span_id", "span_id", "id")
        export.add_response(
            at(record, "context", "span_id") or span_id,
            prompt=_attribute(record, "input.value"),
            response=_attribute(record, "output.value"),
            model=_attribute(record, "llm.model_name") or record.get("name"),
            convo_id=_attribute(record, "session.id"),
        )


def _attribute(span: Record, name: str) -> object:
    """Return an attribute of a span: one column, one key, or nested keys."""
    flat = first_at(span, f"attributes.{name}") or at(span, "attributes", name)
    return flat if flat is not None else at(span, "attributes", *name.split("."))


def _read_annotation(annotation: Record, export: Export) -> None:
    response_id = str(first_at(annotation, "span_id", "trace_id"))
    name = str(first_at(annotation, "name", "annotation_name"))
    result = annotation.get("result") or {
        key: first_at(annotation, f"result.{key}", key) for key in ("score", "label")
    }
    score = at(result, "score")
    value = at(result, "label") if score is None else score
    kind = str(at(annotation, "annotator_kind"))
    if kind == "HUMAN":
        user = first_at(annotation, "user_id", "username") or annotation.get("identifier") or kind
        export.add_rating(response_id, name, user, value, at=annotation.get("created_at"))
    else:
        reply = at(result, "explanation") or first_at(annotation, "result.explanation")
        judge = at(annotation, "metadata", "model") or f"{name} ({kind.lower()})"
        export.add_score(response_id, name, judge, value, reply=reply)
