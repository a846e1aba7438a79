"""Ratings leave in forms that other programs read, and come back as they were."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.readers.drafts import write_draft, write_files
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.report.other_formats import evaluation_events, evaluation_records
from eval_assets.scale import LIKERT5, Scale

AT = datetime(2026, 11, 21, tzinfo=UTC)
RUBRIC = [
    RubricQuestion("clarity", "Is it clear?", LIKERT5, "interval"),
    RubricQuestion("tone", "Which tone?", Scale.from_words("rude", "kind"), "nominal"),
]
RESPONSES = pd.DataFrame(
    {
        "response_id": ["a", "b"],
        "prompt_text": ["Why?", "Why?"],
        "response_text": ["Because.", ""],
        "model_name": ["acme/m1", "m2"],
        "group_id": ["g", "g"],
        "turn_index": [1, None],
    }
)
COLUMNS = ["response_id", "question_id", "rater_kind", "rater_id", "model", "value", "status"]
RATINGS = pd.DataFrame(
    [
        ("a", "clarity", "human", "anna", None, 4.0, "ok"),
        ("b", "clarity", "human", "anna", None, 2.0, "ok"),
        ("a", "clarity", "human", "ben", None, 5.0, "ok"),
        ("a", "tone", "human", "ben", None, 1.0, "ok"),
        ("a", "clarity", "judge", "gpt", "gpt-6-luna", 3.5, "ok"),
        ("b", "clarity", "judge", "gpt", "gpt-6-luna", None, "refused"),
    ],
    columns=COLUMNS,
)
RATINGS["explanation"] = pd.Series(["Good."], dtype=object)
RATINGS["rated_at"] = pd.Series(["2026-01-01T00:00:00Z"], dtype=object)


def events() -> list[dict[str, Any]]:
    lines = evaluation_events(RATINGS, RUBRIC, {"a": "g", "b": "g"}, name="trial", at=AT)
    return [
        event
        for line in lines
        for resource in json.loads(line)["resourceLogs"]
        for scope in resource["scopeLogs"]
        for event in scope["logRecords"]
    ]


def attributes(event: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in event["attributes"]}


def test_each_rating_is_an_event_of_the_conventions() -> None:
    lines = events()
    first, refused = attributes(lines[0]), attributes(lines[-1])

    assert {event["eventName"] for event in lines} == {"gen_ai.evaluation.result"}
    assert lines[0]["timeUnixNano"] == "1767225600000000000"
    assert first["gen_ai.evaluation.name"] == "clarity"
    assert first["gen_ai.evaluation.score.value"] == 4.0
    assert first["gen_ai.evaluation.explanation"] == "Good."
    assert first["gen_ai.response.id"] == "a"
    assert attributes(lines[3])["gen_ai.evaluation.score.label"] == "kind"
    assert refused["error.type"] == "refused"
    assert "gen_ai.evaluation.score.value" not in refused


def test_no_event_is_lost_between_two_lines() -> None:
    many = pd.concat([RATINGS] * 300)

    lines = list(evaluation_events(many, RUBRIC, {}, name="trial", at=AT))

    assert len(lines) > 1
    assert sum(line.count('"eventName"') for line in lines) == len(many)


def records() -> dict[str, str]:
    return dict(evaluation_records(RATINGS, RESPONSES, RUBRIC, name="trial", at=AT))


def test_each_system_has_a_log_that_its_lines_refer_to() -> None:
    """The keys that schema 0.3.0 requires, and the links that its validator follows."""
    files = records()
    logs = {path: json.loads(text) for path, text in files.items() if path.endswith(".json")}

    assert {path.rsplit("/", 1)[0] for path in logs} == {
        "data/trial/acme/m1",
        "data/trial/unknown/m2",
    }
    for path, log in logs.items():
        samples = files[log["detailed_evaluation_results"]["file_path"]]
        lines = [json.loads(line) for line in samples.splitlines()]
        results = {item["evaluation_result_id"]: item for item in log["evaluation_results"]}
        assert path.removesuffix(".json") + "_samples.jsonl" in files
        assert log["detailed_evaluation_results"]["total_rows"] == len(lines)
        digest = hashlib.sha256(samples.encode()).hexdigest()
        assert log["detailed_evaluation_results"]["checksum"] == digest
        for line in lines:
            assert line["evaluation_id"] == log["evaluation_id"]
            assert line["model_id"] == log["model_info"]["id"]
            assert line["evaluation_result_id"] in results
            assert all(isinstance(value, str) for value in line["metadata"].values())
        for name, result in results.items():
            scores = [
                line["evaluation"]["score"]
                for line in lines
                if line["evaluation_result_id"] == name
            ]
            assert result["score_details"]["score"] == pytest.approx(sum(scores) / len(scores))
            assert ("llm_scoring" in result["metric_config"]) == name.endswith("/gpt")


def test_the_same_ratings_make_the_same_files() -> None:
    assert records() == records()


@pytest.mark.parametrize("form", ["opentelemetry", "every-eval-ever"])
def test_what_was_exported_is_imported_as_it_was(tmp_path: Path, form: str) -> None:
    inputs = tmp_path / "given"
    if form == "opentelemetry":
        lines = evaluation_events(RATINGS, RUBRIC, {"a": "g", "b": "g"}, name="trial", at=AT)
        write_files(inputs, {"events.jsonl": "".join(f"{line}\n" for line in lines)})
    else:
        write_files(inputs, records())

    tool, result = import_files([inputs], source=None)
    write_draft(result, tmp_path / "folder", name="trial", tool=tool)
    evaluation = read_evaluation(tmp_path / "folder")
    responses = read_responses(evaluation)
    labels = read_labels(evaluation, responses).ratings
    [judge] = evaluation.judges
    scores = read_recorded_scores(evaluation, judge, responses)

    assert tool == form
    assert [(q.id, q.question, q.scale, q.level) for q in evaluation.rubric] == [
        (q.id, q.question, q.scale, q.level) for q in RUBRIC
    ]
    assert set(responses["group_id"]) == {"g"}
    columns = ["response_id", "question_id", "rater_id", "value"]
    by_people = RATINGS[RATINGS["rater_kind"] == "human"]
    assert set(labels[columns].itertuples(index=False, name=None)) == set(
        by_people[columns].itertuples(index=False, name=None)
    )
    ok = scores[scores["status"] == "ok"]
    assert ok[["response_id", "question_id", "score"]].to_numpy().tolist() == [
        ["a", "clarity", 3.5]
    ]
