"""OpenAI Evals: output items of a run, as the API lists them; each grader is a judge.

https://platform.openai.com/docs/api-reference/evals/getRunOutputItems
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at, records_at

_HUMAN = ("label", "human_label", "human_rating", "rating", "ground_truth")


def recognises(record: Record) -> bool:
    """Return whether a record is an output item of an eval run, or an item of a dataset."""
    is_item = isinstance(record.get("item"), dict) and record.keys() <= {"item", "sample"}
    return is_item or record.get("object") == "eval.run.output_item" or "datasource_item" in record


def read(records: Iterable[Record], export: Export) -> None:
    """Add the output items, each grader's score, and a human label of the data source."""
    for position, record in enumerate(records, start=1):
        item = record.get("datasource_item") or record
        item = item.get("item", item)
        sample = record.get("sample") or {}
        response_id = export.add_response(
            record.get("id") or item.get("id") or position,
            prompt=sample.get("input") or first_at(item, "input", "prompt", "question", "query"),
            response=sample.get("output") or first_at(item, "output", "response", "completion"),
            model=sample.get("model"),
            group_id=record.get("datasource_item_id"),
        )
        for result in records_at(record, "results"):
            judge = at(result, "sample", "model") or result.get("type") or "grader"
            score = first_at(result, "score", "passed")
            reply = at(result, "sample", "outputs") or at(result, "sample", "output")
            export.add_score(response_id, str(result.get("name")), judge, score, reply=reply)
        rater = first_at(item, "rater_id", "annotator") or "dataset"
        for name in _HUMAN:
            if at(item, name) is not None:
                export.add_rating(response_id, name, rater, at(item, name))
