"""Phoenix: exported spans and their annotations, by people, models or code.

https://arize.com/docs/phoenix/tracing/how-to-tracing/feedback-and-annotations/capture-feedback
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, first_at

_SPAN = ("context.span_id", "span_id", "id")


def recognises(record: Record) -> bool:
    """Return whether a record is an annotation or a span."""
    is_span = "attributes.output.value" in record or at(record, "attributes", "output.value")
    return at(record, "annotator_kind") is not None or bool(is_span)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add spans as responses, and their annotations."""
    for record in records:
        if at(record, "annotator_kind") is not None:
            _read_annotation(record, into)
        else:
            into.add_response(
                at(record, "context", "span_id") or first_at(record, *_SPAN),
                prompt=_attribute(record, "input.value"),
                response=_attribute(record, "output.value"),
                model=_attribute(record, "llm.model_name") or record.get("name"),
                convo_id=_attribute(record, "session.id"),
            )


def _attribute(span: Record, name: str) -> object:
    """Return an attribute of a span: one column, one key, or keys below each other."""
    attributes = at(span, "attributes")
    flat = first_at(span, f"attributes.{name}") or at(attributes, name)
    return flat if flat is not None else at(attributes, *name.split("."))


def _read_annotation(annotation: Record, into: Imported) -> None:
    response_id = str(first_at(annotation, "span_id", "trace_id"))
    name = str(first_at(annotation, "name", "annotation_name"))
    result = annotation.get("result") or {}
    score = first_at(result, "score") if result else first_at(annotation, "result.score", "score")
    label = first_at(result, "label") if result else first_at(annotation, "result.label", "label")
    value = label if score is None else score
    kind = str(at(annotation, "annotator_kind"))
    if kind == "HUMAN":
        who = first_at(annotation, "user_id", "username") or annotation.get("identifier") or kind
        into.add_rating(response_id, name, who, value, at=annotation.get("created_at"))
    else:
        reply = first_at(result, "explanation") or first_at(annotation, "result.explanation")
        judge = at(annotation, "metadata", "model") or f"{name} ({kind.lower()})"
        into.add_score(response_id, name, judge, value, reply=reply)
