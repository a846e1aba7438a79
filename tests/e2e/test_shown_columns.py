"""A judge is shown what raters are shown, and what was paid is not bought again unasked."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import Evaluated
from tests.fake_provider.server import RunningProvider, running

RUN = "run", "--select", "+judge_scores"
N_RESPONSES = 4
RESPONSES = [
    {
        "response_id": f"s{k}",
        "prompt_text": f"Water plant {k}.",
        "response_text": f"Plant {k} has water.",
        "model_name": "robot",
        "expected": f"The pump of bed {k} runs.",
        "tool_captures": [f"pump --bed {k}", "log"] if k else [],
    }
    for k in range(N_RESPONSES)
]


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningProvider]:
    with running() as started:
        for name, value in started.environment.items():
            monkeypatch.setenv(name, value)
        yield started


@pytest.fixture
def garden(tmp_path: Path) -> Evaluated:
    lines = "".join(f"{json.dumps(row)}\n" for row in RESPONSES)
    (tmp_path / "responses.jsonl").write_text(lines)
    return Evaluated(tmp_path)


def declare(folder: Evaluated, *lines: str) -> None:
    """Declare a pump that one judge looks at; lines may have another rubric."""
    rubric = "rubric: [{id: pump, question: Did the right pump run?, scale: binary}]"
    has_rubric = any(line.startswith("rubric") for line in lines)
    (folder.path / "evaluation.yaml").write_text(
        "\n".join(
            [
                "name: garden",
                *([] if has_rubric else [rubric]),
                "responses: responses.jsonl",
                "labels: []",
                "gates: {human_a_hh: {severity: warn}, human_alpha: {severity: warn}}",
                "judges: [{id: gpt, provider: openai, model: gpt-6-luna}]",
                *lines,
            ]
        )
    )


def prompts(folder: Evaluated) -> list[str]:
    """Return the user's part of every prompt, in the order of the requests."""
    with closing(sqlite3.connect(folder.path / "ledger.sqlite")) as ledger:
        rows = ledger.execute("SELECT prompt FROM requests ORDER BY rowid").fetchall()
    return [json.loads(prompt)["messages"][-1]["text"] for (prompt,) in rows]


def systems(folder: Evaluated) -> list[str]:
    """Return the system's part of every prompt."""
    with closing(sqlite3.connect(folder.path / "ledger.sqlite")) as ledger:
        rows = ledger.execute("SELECT prompt FROM requests").fetchall()
    return [json.loads(prompt)["messages"][0]["text"] for (prompt,) in rows]


def findings(folder: Evaluated) -> str:
    result = folder.materialize("judge_scores")
    [evaluation] = [
        event
        for event in result.get_asset_check_evaluations()
        if event.check_name == "judges_see_shown_columns"
    ]
    return "" if evaluation.passed else str(evaluation.description)


@pytest.mark.slow
def test_the_prompt_holds_what_raters_are_shown(garden: Evaluated) -> None:
    declare(garden, "labelling: {raters: [anna], show: [expected, tool_captures]}")
    result = garden.call(*RUN)
    assert result.returncode == 0, result.stderr
    texts = prompts(garden)
    assert len(texts) == N_RESPONSES
    for row in RESPONSES:
        [text] = [text for text in texts if str(row["response_text"]) in text]
        assert f"\n{row['expected']}\n</expected-" in text
        captures = row["tool_captures"]
        assert isinstance(captures, list)
        assert ("tool_captures" in text) == bool(captures)
        assert "\n".join(captures) in text
    assert findings(garden) == ""


@pytest.mark.slow
def test_a_template_names_any_column_and_no_other(
    garden: Evaluated, provider: RunningProvider
) -> None:
    template = "{% block user %}{{ query }} {{ response }} {{ shown.SHOWN }}{% endblock %}"
    declare(garden, "judge_prompt: mine.jinja", "labelling: {show: [expected]}")
    (garden.path / "mine.jinja").write_text(template.replace("SHOWN", "expcted"))
    refused = garden.call(*RUN)
    assert refused.returncode == 1
    assert "mine.jinja: the responses have no column expcted. Show one of " in refused.stderr
    assert provider.log.n_received == 0

    (garden.path / "mine.jinja").write_text(template.replace("SHOWN", "model_name"))
    assert garden.call(*RUN).returncode == 0
    assert all("robot" in text and "The pump" not in text for text in prompts(garden))
    assert "raters are shown expected, and gpt is not" in findings(garden)

    declare(garden, "labelling: {show: [expcted]}")
    n_received = provider.log.n_received
    assert "labelling.show: the responses have no column expcted" in garden.call(*RUN).stderr
    assert provider.log.n_received == n_received


@pytest.mark.slow
def test_a_paid_prompt_stays_until_the_new_one_is_accepted(
    garden: Evaluated, provider: RunningProvider
) -> None:
    declare(garden)
    assert "4 requests, about " in garden.call(*RUN).stdout
    declare(garden, "labelling: {show: [expected]}")
    unasked = garden.call(*RUN)
    assert provider.log.n_received == N_RESPONSES
    assert "eval-assets run --new-prompt (4 requests, about 0.0" in unasked.stderr + unasked.stdout
    assert "raters are shown expected" in findings(garden)

    accepted = garden.call(*RUN, "--new-prompt")
    assert accepted.returncode == 0, accepted.stderr
    assert provider.log.n_received == 2 * N_RESPONSES
    assert sum("The pump of bed" in text for text in prompts(garden)) == N_RESPONSES
    assert findings(garden) == ""

    # A further column is asked for as well.
    declare(garden, "labelling: {show: [expected, tool_captures]}")
    garden.call(*RUN)
    assert provider.log.n_received == 2 * N_RESPONSES
    assert "raters are shown tool_captures" in findings(garden)


@pytest.mark.slow
def test_an_edited_guideline_is_asked_about_once_it_is_accepted(
    garden: Evaluated, provider: RunningProvider
) -> None:
    rubric = (
        "rubric: [{id: pump, question: Did the right pump run?, scale: binary, guidelines: GUIDE},"
        " {id: soil, question: Is the soil wet?, scale: binary}]"
    )
    declare(garden, rubric.replace("GUIDE", "Look at the log."))
    assert garden.call(*RUN).returncode == 0
    assert provider.log.n_received == 2 * N_RESPONSES

    # Other responses are asked about with the wording of the scores that they stand beside.
    with (garden.path / "responses.jsonl").open("a") as file:
        file.write(f"{json.dumps({**RESPONSES[0], 'response_id': 'n', 'response_text': 'New'})}\n")
    declare(garden, rubric.replace("GUIDE", "Look at the bed."))
    unasked = garden.call(*RUN)
    assert provider.log.n_received == 2 * (N_RESPONSES + 1)
    assert "with the earlier wording of pump" in unasked.stdout + unasked.stderr
    assert "eval-assets run --new-prompt (5 requests, about 0.0" in unasked.stdout + unasked.stderr
    assert not any("the bed." in system for system in systems(garden))
    assert "raters read another wording of pump than the judges" in findings(garden)

    assert garden.call(*RUN, "--new-prompt").returncode == 0
    assert provider.log.n_received == 2 * (N_RESPONSES + 1) + N_RESPONSES + 1
    assert sum("the bed." in system for system in systems(garden)) == N_RESPONSES + 1
    assert findings(garden) == ""


@pytest.mark.slow
def test_the_cost_of_a_changed_judge_or_scale_is_named_first(
    garden: Evaluated, provider: RunningProvider
) -> None:
    declare(garden)
    assert garden.call(*RUN).returncode == 0
    (garden.path / "mine.jinja").write_text(
        "{% block user %}{{ query }} {{ response }}{% endblock %}"
    )
    declare(garden, "judge_prompt: mine.jinja")
    second = garden.call(*RUN)
    message = "the declaration of gpt has changed. It is asked again: gpt (gpt-6-luna): 4 requests"
    assert message in second.stdout + second.stderr
    assert provider.log.n_received == 2 * N_RESPONSES

    declare(garden, "rubric: [{id: pump, question: Did the right pump run?, scale: likert5}]")
    third = garden.call(*RUN)
    message = "the scale of pump has changed. It is asked again: gpt (gpt-6-luna): 4 requests"
    assert message in third.stdout + third.stderr
