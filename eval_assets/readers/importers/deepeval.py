"""DeepEval: a test run as it is stored in .deepeval/; each metric is a judge.

https://deepeval.com/docs/evaluation-introduction
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at, records_at


def recognises(record: Record) -> bool:
    """Return whether a record is a test run, or one of its test cases."""
    run = record.get("testRunData") or record
    return at(run, "testCases") is not None or "metricsData" in record


def read(records: Iterable[Record], export: Export) -> None:
    """Add the test cases with the score of each metric."""
    for record in records:
        run = record.get("testRunData") or record
        cases = [*records_at(run, "testCases"), *records_at(run, "conversationalTestCases")]
        for position, case in enumerate(cases or [record]):
            turns = records_at(case, "turns")
            response_id = export.add_response(
                f"{case.get('name') or 'test_case'}#{first_at(case, 'order') or position}",
                prompt=first_at(case, "input", "scenario") or turns[:-1],
                response=first_at(case, "actual_output") or turns[-1:],
                model=at(run, "hyperparameters", "model"),
            )
            for metric in records_at(case, "metrics_data"):
                name = str(metric.get("name"))
                judge = first_at(metric, "evaluation_model") or name
                reply = first_at(metric, "reason", "error")
                export.add_score(response_id, name, judge, metric.get("score"), reply=reply)
