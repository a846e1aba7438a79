"""Planted scores are known beforehand; certain words in the prompt cure their error."""

import json
from pathlib import Path

import pytest

from tests.fake_provider.planted import Planted
from tests.fake_provider.questions import Question

PLANTED = Planted(
    scores={"Yes.": (1.0, 4.0), "No.": (2.0, 2.5)},
    cures=("Count the steps.",),
    writes=("Be fair.", "Count the steps."),
)


def asked(prompt: str, subject: str = "Yes.") -> dict[str, object] | None:
    question = Question(
        model="m",
        prompt=prompt,
        subject=subject,
        schema=None,
        as_json=False,
        max_tokens=None,
        cacheable="",
    )
    answer = PLANTED.answer(question)
    result: dict[str, object] | None = None if answer is None else json.loads(answer)
    return result


def test_the_error_disappears_with_a_cure_in_the_prompt() -> None:
    wrong, right, between = asked("Rate it."), asked("Count the steps."), asked("Rate.", "No.")

    assert wrong is not None
    assert right is not None
    assert between is not None
    assert (wrong["score"], right["score"], between["score"]) == (1, 4, 2)


def test_a_writer_proposes_one_of_the_texts_with_the_sources_it_was_shown() -> None:
    rules = asked("Id: r1\\nId: r2\\n".replace("\\n", "\n") + 'Reply with {"rules": [...]}')

    assert rules is not None
    assert rules["rules"][0]["ids"] == ["r1", "r2"]  # type: ignore[index]
    assert rules["rules"][0]["rule"] in PLANTED.writes  # type: ignore[index]


def test_what_is_not_planted_is_made_up() -> None:
    assert asked("Rate it.", subject="Perhaps.") is None


def test_a_file_that_plants_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "planted.json"
    path.write_text('{"responses": [{"text": "Yes."}]}')

    with pytest.raises(ValueError, match="it does not plant scores"):
        Planted.read(path)

    path.write_text('{"responses": [{"text": " Yes. ", "score": 1, "cured": 2}], "cures": ["a"]}')
    assert Planted.read(path) == Planted(scores={"Yes.": (1.0, 2.0)}, cures=("a",))
