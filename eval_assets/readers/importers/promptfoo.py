"""promptfoo: results JSON of `promptfoo eval --output`; assertions are judges, manual grades human.

https://www.promptfoo.dev/docs/configuration/outputs/
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at, records_at

_MANUAL = "human"


def recognises(record: Record) -> bool:
    """Return whether a record is a result, or a file of them."""
    return isinstance(at(record, "results", "results"), list) or "gradingResult" in record


def read(records: Iterable[Record], export: Export) -> None:
    """Add each result with the scores of its assertions."""
    for record in records:
        for result in records_at(record, "results", "results") or [record]:
            _read_result(result, export)


def _read_result(result: Record, export: Export) -> None:
    model = first_at(at(result, "provider"), "label", "id") or at(result, "provider")
    index = f"{result.get('promptIdx', 0)}-{result.get('testIdx', 0)}-{model}"
    response_id = export.add_response(
        result.get("id") or index,
        prompt=at(result, "prompt", "raw") or result.get("prompt"),
        response=at(result, "response", "output"),
        model=model,
        group_id=result.get("testIdx"),
    )
    for component in records_at(result, "gradingResult", "componentResults"):
        assertion = component.get("assertion") or {}
        kind = str(assertion.get("type") or "assertion")
        name = str(assertion.get("metric") or assertion.get("value") or kind)
        if kind == _MANUAL:
            export.add_rating(response_id, "pass", _MANUAL, component.get("pass"))
        else:
            provider = assertion.get("provider")
            judge = first_at(provider, "id", "label") or provider or kind
            reply = component.get("reason")
            export.add_score(response_id, name, judge, component.get("score"), reply=reply)
