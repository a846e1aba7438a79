"""From a closed gate to its reasons and a drafted wording, with and without a model."""

import json

import pytest

from tests.e2e.conftest import Evaluated
from tests.fake_provider.server import running


def test_why_shows_values_raters_and_responses(closed_folder: Evaluated) -> None:
    done = closed_folder.call("why", "clarity")
    result = json.loads(closed_folder.call("why", "clarity", "--json").stdout)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("clarity: raters most often mix up 2 and 4")
    assert [rater["rater_id"] for rater in result["raters"]] == ["r1", "r2"]
    assert result["raters"][0]["severity"] == -result["raters"][1]["severity"]
    assert result["responses"][0]["response_id"] in done.stdout
    shares = [cell["share"] for cell in result["confusion"] if cell["value"] == "1"]
    assert sum(shares) == pytest.approx(1)


def test_draft_names_examples_and_disputed_responses(closed_folder: Evaluated) -> None:
    done = closed_folder.call("rubric", "draft", "clarity")
    draft = (closed_folder.path / "guidelines" / "clarity.draft.md").read_text("utf-8")

    assert done.returncode == 0, done.stderr
    assert "guidelines: guidelines/clarity.draft.md" in done.stdout
    assert "TODO decide" in draft
    assert "r1 1 and r2 5" in draft or "r1 5 and r2 1" in draft


def test_draft_never_replaces_a_file(closed_folder: Evaluated) -> None:
    closed_folder.call("rubric", "draft", "clarity")
    path = closed_folder.path / "guidelines" / "clarity.draft.md"
    path.write_text("edited", "utf-8")
    repeat = closed_folder.call("rubric", "draft", "clarity")

    assert repeat.returncode == 2
    assert path.read_text("utf-8") == "edited"


def test_draft_that_cannot_be_written_is_named(closed_folder: Evaluated) -> None:
    (closed_folder.path / "guidelines").write_text("a file", "utf-8")
    done = closed_folder.call("rubric", "draft", "clarity")

    assert done.returncode == 1
    assert "guidelines: the file cannot be written (File exists)" in done.stderr
    assert "Traceback" not in done.stderr


def test_live_judge_words_the_definitions_once(
    closed_folder: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    declaration = closed_folder.path / "evaluation.yaml"
    text = declaration.read_text("utf-8")
    judge = "judges:\n  - {id: gpt, provider: openai, model: gpt-6-luna}"
    declaration.write_text(text.replace("judges:", judge, 1), "utf-8")
    path = closed_folder.path / "guidelines" / "clarity.draft.md"
    with running() as provider:
        for name, value in (provider.environment | {"OPENAI_API_KEY": "sk-of-a-test"}).items():
            monkeypatch.setenv(name, value)
        done = closed_folder.call("rubric", "draft", "clarity", "--judge", "gpt")
        worded = path.read_text("utf-8")
        path.unlink()
        repeat = closed_folder.call("rubric", "draft", "clarity", "--judge", "gpt")
        n_requests = len(provider.log.completions)
        body = json.dumps(provider.log.requests[-1].json)

    assert (done.returncode, repeat.returncode) == (0, 0), done.stderr
    assert n_requests == 1
    assert worded == path.read_text("utf-8")
    assert "Rate the clarity" in body
    assert not worded.startswith("Rate the clarity")


def test_recorded_judge_cannot_word(closed_folder: Evaluated) -> None:
    done = closed_folder.call("rubric", "draft", "clarity", "--judge", "j1")

    assert done.returncode == 2
    assert '"j1" is no live judge' in done.stderr
    assert not (closed_folder.path / "guidelines").exists()
