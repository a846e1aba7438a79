"""lm-evaluation-harness: samples written by `--log_samples`; each metric is a judge.

https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at


def recognises(record: Record) -> bool:
    """Return whether a record is a logged sample."""
    return "doc_id" in record and ("resps" in record or "filtered_resps" in record)


def read(records: Iterable[Record], export: Export) -> None:
    """Add the samples with the value of each metric; each filter is a response of its own."""
    for record in records:
        arguments = record.get("arguments")
        prompt = at(arguments, "gen_args_0", "arg_0")
        if prompt is None and isinstance(arguments, list) and arguments:
            prompt = arguments[0][0] if isinstance(arguments[0], list) else arguments[0]
        response = record.get("filtered_resps") or record.get("resps")
        while isinstance(response, list) and len(response) == 1:
            response = response[0]
        response_id = export.add_response(
            f"{record.get('doc_hash') or record['doc_id']}/{record.get('filter') or 'none'}",
            prompt=prompt or record.get("doc"),
            response=response,
            group_id=record["doc_id"],
        )
        for metric in record.get("metrics") or []:
            export.add_score(response_id, metric, f"lm-eval {metric}", record.get(metric))
