"""Every tool's export becomes a folder that can be read as it is."""

import json
import zipfile as plain_zip
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from operator import getitem
from pathlib import Path

import pandas as pd
import pytest

from eval_assets.cli.evaluation_drafts import draft_of_export
from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.importers import TOOLS
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.scale import BINARY
from tests.unit.readers.importers.exports import EXPORTS, INSPECT, written

Folder = tuple[Evaluation, pd.DataFrame]


def imported(tmp_path: Path, name: str) -> Export:
    path = tmp_path / f"export.{EXPORTS[name][0]}"
    path.write_text(written(name))
    result = import_files([path])
    assert name.startswith(result.tool), f"{name} is taken for {result.tool}"
    return result


def folder_of(result: Export, tmp_path: Path) -> Folder:
    draft_of_export(result, tmp_path / "folder")
    evaluation = read_evaluation(tmp_path / "folder")
    return evaluation, read_responses(evaluation)


def ratings(result: Export) -> set[tuple[str, str, str, str]]:
    return {(*key, rating) for key, (rating, _) in result.ratings.items()}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_becomes_a_folder_that_can_be_read(tmp_path: Path, name: str) -> None:
    result = imported(tmp_path, name)
    evaluation, responses = folder_of(result, tmp_path)

    labels = read_labels(evaluation, responses)
    scores = read_recorded_scores(evaluation, responses)

    texts = {text for text in responses["response_text"] if text}
    assert {"Because.", "Dunno."} <= texts or name in ("potato", "opentelemetry")
    assert len(labels.ratings) == len(result.ratings)
    assert sum((table["status"] == "ok").sum() for table in scores) == len(result.scores)
    assert len(result.ratings) + len(result.scores) > 1


def test_every_source_has_an_export_to_be_tested_with() -> None:
    assert {name for name in TOOLS if not any(e.startswith(name) for e in EXPORTS)} == set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "label-studio",
            {("1", "quality", "r1@example.org", "4"), ("2", "correct", "r2@example.org", "yes")},
        ),
        ("label-studio-min", {("1", "quality", "2", "5"), ("2", "quality", "1", "1")}),
        ("argilla", {("a", "quality", "u1", "4"), ("b", "quality", "u2", "3")}),
        ("argilla-flat", {("a", "quality", "u1", "4"), ("b", "quality", "u2", "3")}),
        ("prodigy", {("11", "choice", "db-ben", "5"), ("12", "choice", "db-anna", "1")}),
        ("openai-evals", {("outputitem_0", "label", "dataset", "true")}),
        ("inspect-ai", {("run1/a/1", "model_graded", "anna", "0")}),
        ("promptfoo", {("r0", "pass", "human", "true"), ("r1", "pass", "human", "false")}),
        ("mlflow", {("tr-0", "relevant", "ben", "true"), ("tr-1", "relevant", "ben", "false")}),
        ("langfuse", {("t0", "helpful", "ben", "5"), ("t1", "helpful", "ben", "4")}),
        ("langsmith", {("run-0", "correct", "anna", "1"), ("run-1", "correct", "ben", "1")}),
        ("phoenix", {("sp0", "correctness", "anna", "1"), ("sp0", "correctness", "ben", "0")}),
        ("potato", {("a", "tone", "anna", "kind"), ("b", "quality", "ben", "2")}),
    ],
)
def test_ratings_by_people_are_labels(
    tmp_path: Path, name: str, expected: set[tuple[str, str, str, str]]
) -> None:
    assert expected <= ratings(imported(tmp_path, name))


def several_options(tool: str, selections: dict[str, list[str]]) -> list[dict[str, object]]:
    """An export of one response of which raters selected several options."""
    if tool == "argilla":
        values = [{"value": value, "user_id": rater} for rater, value in selections.items()]
        answers: dict[str, object] = {"responses": {"faults": values}}
        suggestion = {"faults": {"value": ["rude", "vague"], "agent": "judge-1"}}
        return [{"id": "1", "fields": {"text": "So."}, **answers, "suggestions": suggestion}]
    if tool == "potato":
        return [
            {"instance_id": "1", "user_id": rater, "labels": {"faults": dict.fromkeys(value, True)}}
            for rater, value in selections.items()
        ]
    if tool == "prodigy":
        return [
            {"text": "So.", "_task_hash": 1, "answer": "accept", "label": "faults"}
            | {"options": [], "accept": value, "_annotator_id": rater}
            for rater, value in selections.items()
        ]
    results = [
        {"result": [{"from_name": "faults", "type": "choices", "value": {"choices": value}}]}
        | {"completed_by": rater}
        for rater, value in selections.items()
    ]
    return [{"id": 1, "data": {"text": "So."}, "annotations": results}]


def test_prodigy_time_of_answer_is_kept(tmp_path: Path) -> None:
    evaluation, responses = folder_of(imported(tmp_path, "prodigy"), tmp_path)

    labels = read_labels(evaluation, responses)

    assert set(labels.ratings["labelled_at"]) == {"2023-11-14T22:13:20Z"}


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "prodigy", "potato"])
def test_several_selected_options_are_binary_questions(tmp_path: Path, tool: str) -> None:
    selections = {"anna": ["rude", "wrong facts"], "ben": ["rude"]}
    (tmp_path / "export.json").write_text(json.dumps(several_options(tool, selections)))
    result = import_files([tmp_path / "export.json"])

    assert (result.tool, not result.losses) == (tool, True)
    by_rater = {(q, rater): value for (_, q, rater), (value, _) in result.ratings.items()}
    assert by_rater[("faults/rude", "anna")] == by_rater[("faults/rude", "ben")] == "1"
    assert by_rater[("faults/wrong facts", "anna")] == "1"
    assert by_rater[("faults/wrong facts", "ben")] == "0"
    if tool == "argilla":
        scores = {q: score for (_, q, _), (score, _) in result.scores.items()}
        assert scores == {"faults/rude": "1", "faults/vague": "1", "faults/wrong facts": "0"}
    evaluation, responses = folder_of(result, tmp_path)
    assert {(q.scale, q.level) for q in evaluation.rubric} == {(BINARY, "nominal")}
    assert len(read_labels(evaluation, responses).ratings) == len(result.ratings)


def test_tags_that_everyone_makes_up_are_counted_as_lost(tmp_path: Path) -> None:
    tags = {f"rater {n}": [f"tag {n}", f"tag {n}b"] for n in range(30)}
    (tmp_path / "export.json").write_text(json.dumps(several_options("argilla", tags)))
    result = import_files([tmp_path / "export.json"])

    assert result.ratings == {}
    assert result.losses == {"ratings of faults name too many options": 31}


@pytest.mark.parametrize(
    ("name", "key", "score", "reply"),
    [
        ("label-studio", ("1", "quality", "judge-1"), "4", ""),
        ("argilla-flat", ("b", "quality", "judge-1"), "4", ""),
        ("openai-evals", ("outputitem_1", "Helpful", "judge-1"), "0.1", "fine"),
        ("inspect-ai", ("run1/b/1", "model_graded", "model_graded"), "0.5", "fine"),
        ("inspect-ai", ("run1/a/1", "tone", "rubric"), "3", ""),
        ("promptfoo", ("r1", "helpful", "openai:judge-1"), "0", "fine"),
        ("mlflow", ("tr-0", "relevant", "judge-1"), "true", "fine"),
        ("langfuse", ("t0", "helpful", "helpful (eval)"), "4", "fine"),
        ("langsmith", ("run-0", "correct", "correct (model)"), "1", "fine"),
        ("phoenix", ("sp1", "correctness", "correctness (llm)"), "1", "fine"),
        ("braintrust", ("row1", "Factuality", "braintrust"), "0.6", ""),
        ("deepeval", ("test_case#1", "Answer Relevancy", "judge-1"), "0.25", "fine"),
        ("lm-eval", ("h1/strict-match", "exact_match", "lm-eval exact_match"), "0", ""),
    ],
)
def test_scores_by_models_are_those_of_judges(
    tmp_path: Path, name: str, key: tuple[str, str, str], score: str, reply: str
) -> None:
    assert imported(tmp_path, name).scores[key] == (score, reply)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("label-studio", "results of type textarea are not ratings"),
        ("label-studio", "annotations were skipped or cancelled"),
        ("argilla-flat", "responses were discarded or are drafts"),
        ("prodigy", "examples were ignored by their annotator"),
        ("mlflow", "assessments are expectations, not feedback"),
        ("potato", None),
    ],
)
def test_what_is_not_understood_is_counted(tmp_path: Path, name: str, note: str | None) -> None:
    notes = imported(tmp_path, name).notes
    assert notes[note] if note else not notes


@pytest.mark.parametrize("compression", ["zstd", "deflate"])
def test_a_zipped_log_reads_as_the_json_one(tmp_path: Path, compression: str) -> None:
    """inspect_ai packs with Zstandard now; older logs are deflated."""
    zipped = pytest.importorskip("backports.zstd.zipfile") if compression == "zstd" else plain_zip
    method = zipped.ZIP_ZSTANDARD if compression == "zstd" else zipped.ZIP_DEFLATED
    with zipped.ZipFile(tmp_path / "log.eval", "w", compression=method) as log:
        log.writestr("header.json", json.dumps({**INSPECT, "samples": None}))
        log.writestr("summaries.json", "[]")
        log.writestr("_journal/start.json", "{}")
        for sample in INSPECT["samples"]:
            log.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))

    result = import_files([tmp_path / "log.eval"])

    assert result.tool == "inspect-ai"
    assert result == imported(tmp_path, "inspect-ai")


def test_several_files_and_folders_are_one_export(tmp_path: Path) -> None:
    """Phoenix exports spans and annotations apart."""
    lines = written("phoenix").splitlines(keepends=True)
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "annotations.jsonl").write_text("".join(lines[2:]))
    (tmp_path / "spans.jsonl").write_text("".join(lines[:2]))

    result = import_files([tmp_path / "export", tmp_path / "spans.jsonl"])

    assert {item["response_text"] for item in result.responses.values()} == {"Because.", "Dunno."}


def test_ratings_without_their_responses_are_kept(tmp_path: Path) -> None:
    lines = written("phoenix").splitlines(keepends=True)
    (tmp_path / "annotations.jsonl").write_text("".join(lines[2:]))

    result = import_files([tmp_path / "annotations.jsonl"])

    assert result.responses["sp0"]["response_text"] == ""
    assert result.notes["responses are rated, but the export does not hold their texts"] == 2


def test_words_in_no_known_order_are_drafted_as_nominal(tmp_path: Path) -> None:
    evaluation, _ = folder_of(imported(tmp_path, "potato"), tmp_path)

    tone, quality = evaluation.rubric
    assert (tone.level, tone.scale.words) == ("nominal", ("kind", "rude"))
    assert (quality.level, quality.scale.high) == ("ordinal", 5)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not usable JSON (Expecting property name"),
        ('{"a": 1}', "no tool's export is recognised in it: its records hold a. If it is a table"),
        ("[]", "no tool's export is recognised in it: its records hold nothing. If it is a table"),
        ("", "the file is empty"),
    ],
)
def test_what_no_tool_exports_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "export.json").write_text(content)

    with pytest.raises(ExceptionGroup) as raised:
        import_files([tmp_path / "export.json"])

    (error,) = raised.value.exceptions
    assert isinstance(error, InputError)
    assert problem in str(error)


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(b"PK broken")

    with pytest.raises(ExceptionGroup) as raised:
        import_files([tmp_path / "log.eval"])

    assert "the spreadsheet cannot be read" in str(raised.value.exceptions[0])


def test_scores_of_judges_do_not_widen_the_scale_of_labels(tmp_path: Path) -> None:
    result = imported(tmp_path, "langfuse")
    score = next(iter(result.scores))
    result.scores[score] = "55", ""

    draft = draft_of_export(result, tmp_path / "folder")

    [question] = read_evaluation(tmp_path / "folder").rubric
    assert question.scale.described() == "4, 5"
    assert "helpful (eval) scores on another scale" in "".join(draft.notes)


def test_a_draft_never_replaces_a_file(tmp_path: Path) -> None:
    result = imported(tmp_path, "argilla")
    (tmp_path / "labels.csv").write_text("mine")

    with pytest.raises(InputError, match=r"the folder holds labels\.csv already"):
        draft_of_export(result, tmp_path)

    assert (tmp_path / "labels.csv").read_text() == "mine"
    assert not (tmp_path / "evaluation.yaml").exists()


def _places(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value)  # type: ignore[arg-type]
    for key, part in parts:
        yield (*place, key)
        if isinstance(part, dict | list):
            yield from _places(part, (*place, key))


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_with_a_value_of_another_kind_is_read_or_refused(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "export.json"
    _, content = EXPORTS[name]

    for n, (*parents, key) in enumerate(_places(content)):
        changed = json.loads(json.dumps(content))
        reduce(getitem, parents, changed)[key] = (3, "text", [{}], True)[n % 4]
        path.write_text(json.dumps(changed))
        with suppress(InputError, ExceptionGroup):
            import_files([path])
