"""OpenAI Evals: output items of a run, as the API lists them; each grader is a judge.

https://platform.openai.com/docs/api-reference/evals/getRunOutputItems
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, first_at, records_at

_PROMPTS = ("input", "prompt", "question", "query")
_HUMAN = ("label", "human_label", "human_rating", "rating", "ground_truth")


def recognises(record: Record) -> bool:
    """Return whether a record is an output item of an eval run, or an item of a dataset."""
    is_item = isinstance(record.get("item"), dict) and record.keys() <= {"item", "sample"}
    return is_item or record.get("object") == "eval.run.output_item" or "datasource_item" in record


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the output items, each grader's score, and a human label of the data source."""
    for place, record in enumerate(records, start=1):
        item = record.get("datasource_item") or record
        item = item.get("item", item)
        sample = record.get("sample") or {}
        outputs = sample.get("output") or first_at(item, "output", "response", "completion")
        response_id = into.add_response(
            record.get("id") or item.get("id") or place,
            prompt=sample.get("input") or first_at(item, *_PROMPTS),
            response=outputs,
            model=sample.get("model"),
            group_id=record.get("datasource_item_id"),
        )
        for result in records_at(record, "results"):
            name = str(result.get("name"))
            judge = at(result, "sample", "model") or result.get("type") or "grader"
            score = first_at(result, "score", "passed")
            reply = at(result, "sample", "outputs") or at(result, "sample", "output")
            into.add_score(response_id, name, judge, score, reply=reply)
        for key in _HUMAN:
            if at(item, key) is not None:
                rater = first_at(item, "rater_id", "annotator") or "dataset"
                into.add_rating(response_id, key, rater, at(item, key))
