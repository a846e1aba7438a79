"""Every Eval Ever: logs of evaluations and their lines; a score that no person gave is a judge's.

https://github.com/evaleval/every_eval_ever
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, question_of, records_at

_COLUMNS = ("group_id", "indicator_id", "convo_id", "turn_index", "seed", "difficulty")


def recognises(record: Record) -> bool:
    """Return whether a record is a log, or a line of one."""
    is_log = "evaluation_results" in record and "model_info" in record
    return is_log or ("sample_id" in record and "interaction_type" in record)


def read(records: Iterable[Record], export: Export) -> None:
    """Add the lines with their scores; logs declare the questions and their scales."""
    records = list(records)
    for result in (each for record in records for each in records_at(record, "evaluation_results")):
        name, metric = str(result.get("evaluation_name")), result.get("metric_config")
        scale, level = (at(metric, "additional_details", key) for key in ("scale", "level"))
        text = at(metric, "evaluation_description")
        export.questions.setdefault(name, question_of(name, text, scale=scale, level=level))
    lines = [record for record in records if "evaluation_results" not in record]
    if not lines:
        export.notes["logs hold results, but not the lines behind them"] += 1
    several_systems = len({line.get("model_id") for line in lines}) > 1
    for line in lines:
        _read_line(line, export, several_systems=several_systems)


def _read_line(line: Record, export: Export, *, several_systems: bool) -> None:
    metadata = line.get("metadata") or {}
    rater = metadata.get("rater_id")
    sample, model = str(line.get("sample_id")), str(line.get("model_id") or "")
    messages = records_at(line, "messages")
    response_id = export.add_response(
        # Our own lines name the response; others name the question that all systems answered.
        f"{model}/{sample}" if several_systems and not rater else sample,
        prompt=at(line, "input", "raw"),
        response=messages[-1] if messages else at(line, "output", "raw"),
        model=model.removeprefix("unknown/"),
        **{column: metadata.get(column) for column in _COLUMNS},
    )
    name, value = str(line.get("evaluation_name")), at(line, "evaluation", "score")
    if metadata.get("rater_kind") == "human":
        export.add_rating(response_id, name, rater, value, at=metadata.get("rated_at"))
    else:
        attributions = records_at(line, "answer_attribution")
        judge = rater or (attributions[0].get("extraction_method") if attributions else "score")
        export.add_score(response_id, name, judge, value, reply=metadata.get("explanation"))
