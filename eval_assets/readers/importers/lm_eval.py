"""lm-evaluation-harness: samples written by `--log_samples`; each metric is a judge.

https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, text_of


def recognises(record: Record) -> bool:
    """Return whether a record is a logged sample."""
    return "doc_id" in record and ("resps" in record or "filtered_resps" in record)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the samples with the value of each metric; each filter is a response of its own."""
    for record in records:
        chosen = str(record.get("filter") or "none")
        prompt = at(record, "arguments", "gen_args_0", "arg_0")
        first = record.get("arguments")
        if prompt is None and isinstance(first, list) and first:
            prompt = first[0][0] if isinstance(first[0], list) else first[0]
        response_id = into.add_response(
            f"{record.get('doc_hash') or record['doc_id']}/{chosen}",
            prompt=prompt or record.get("doc"),
            response=text_of(_single(record.get("filtered_resps") or record.get("resps"))),
            group_id=record["doc_id"],
        )
        for metric in record.get("metrics") or []:
            into.add_score(response_id, metric, f"lm-eval {metric}", record.get(metric))


def _single(value: object) -> object:
    """Return what lists of one entry hold."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value
