"""DeepEval: a test run as it is stored in .deepeval/; each metric is a judge.

https://deepeval.com/docs/evaluation-introduction
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, first_at, records_at


def recognises(record: Record) -> bool:
    """Return whether a record is a test run, or one of its test cases."""
    run = record.get("testRunData") or record
    return at(run, "testCases") is not None or "metricsData" in record


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the test cases with the score of each metric."""
    for record in records:
        run = record.get("testRunData") or record
        cases = [*records_at(run, "testCases"), *records_at(run, "conversationalTestCases")]
        for place, case in enumerate(cases or [record]):
            _read_case(case, place, into, model=at(run, "hyperparameters", "model"))


def _read_case(case: Record, place: int, into: Imported, *, model: object) -> None:
    turns = records_at(case, "turns")
    response_id = into.add_response(
        f"{case.get('name') or 'test_case'}#{first_at(case, 'order') or place}",
        prompt=first_at(case, "input", "scenario") or turns[:-1],
        response=first_at(case, "actual_output") or turns[-1:],
        model=model,
    )
    for metric in records_at(case, "metrics_data"):
        name = str(metric.get("name"))
        judge = first_at(metric, "evaluation_model") or name
        reply = first_at(metric, "reason", "error")
        into.add_score(response_id, name, judge, metric.get("score"), reply=reply)
