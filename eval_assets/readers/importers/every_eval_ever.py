"""Every Eval Ever: logs of evaluations and their lines; a score that no person gave is a judge's.

https://github.com/evaleval/every_eval_ever
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import (
    Imported,
    Record,
    at,
    question_of,
    records_at,
)

_COLUMNS = ("group_id", "indicator_id", "convo_id", "turn_index", "seed", "difficulty")


def recognises(record: Record) -> bool:
    """Return whether a record is a log, or a line of one."""
    is_log = "evaluation_results" in record and "model_info" in record
    return is_log or ("sample_id" in record and "interaction_type" in record)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the lines with their scores; logs say what was asked and on which scale."""
    lines = []
    for record in records:
        if "evaluation_results" not in record:
            lines.append(record)
        for result in records_at(record, "evaluation_results"):
            name, metric = str(result.get("evaluation_name")), result.get("metric_config")
            scale, level = (at(metric, "additional_details", key) for key in ("scale", "level"))
            text = at(metric, "evaluation_description")
            into.questions.setdefault(name, question_of(name, text, scale=scale, level=level))
    if not lines:
        into.notes["logs hold results, but not the lines behind them"] += 1
    several = len({line.get("model_id") for line in lines}) > 1
    for line in lines:
        _read_line(line, into, several_systems=several)


def _read_line(line: Record, into: Imported, *, several_systems: bool) -> None:
    about = line.get("metadata") or {}
    rater = about.get("rater_id")
    sample, model = str(line.get("sample_id")), str(line.get("model_id") or "")
    # Our own lines name the response; others name the question that all systems answered.
    response_id = f"{model}/{sample}" if several_systems and not rater else sample
    messages = records_at(line, "messages")
    into.add_response(
        response_id,
        prompt=at(line, "input", "raw"),
        response=at(line, "output", "raw") if not messages else messages[-1],
        model=model.removeprefix("unknown/"),
        **{column: about.get(column) for column in _COLUMNS},
    )
    name, value = str(line.get("evaluation_name")), at(line, "evaluation", "score")
    if about.get("rater_kind") == "human":
        into.add_rating(response_id, name, rater, value, at=about.get("rated_at"))
    else:
        attribution = records_at(line, "answer_attribution")
        method = attribution[0].get("extraction_method") if attribution else "score"
        reply = about.get("explanation")
        into.add_score(response_id, name, rater or method, value, reply=reply)
