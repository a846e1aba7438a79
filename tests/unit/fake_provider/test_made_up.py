"""Made-up answers."""

import json
from typing import Any

import numpy as np
import pytest

from tests.fake_provider.made_up import (
    levels,
    made_up_text,
    plain_answer,
    position,
    prose_verdict,
    value_for,
)

SUBJECTS = [f"response {number}" for number in range(2000)]


def places(model: str) -> list[float]:
    return [position(subject, model=model, prompt=f"Judge: {subject}") for subject in SUBJECTS]


def test_two_models_agree_well_but_not_perfectly() -> None:
    first, second = places("gpt-6-luna"), places("claude-haiku-5-5")
    assert all(0 <= place < 1 for place in first)
    differences = [abs(a - b) for a, b in zip(first, second, strict=True)]
    # Both deviate evenly by up to .1: they differ by .2 / 3 on average and by .2 at most. The ends
    # of the scale take a little of that away.
    assert sum(differences) / len(differences) == pytest.approx(0.2 / 3, abs=0.005)
    assert max(differences) <= 0.2
    same_of_five = [int(5 * a) == int(5 * b) for a, b in zip(first, second, strict=True)]
    assert 0.6 < sum(same_of_five) / len(same_of_five) < 0.9


def test_scores_use_the_whole_scale_evenly() -> None:
    counts = [sum(int(5 * place) == level for place in places("gpt-6-luna")) for level in range(5)]
    # Five equal shares of 2000 are 400; four standard deviations are 72.
    assert all(abs(count - 400) < 72 + 20 for count in counts)


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "integer", "enum": [1, 2, 3]}, {1, 2, 3}),
        ({"enum": [0, 0.5, 1]}, {0, 0.5, 1}),
        ({"type": "integer", "minimum": 1, "maximum": 5}, {1, 2, 3, 4, 5}),
        ({"type": "integer", "description": "a whole number from 0 to 4"}, {0, 1, 2, 3, 4}),
        ({"type": "integer", "description": "{maximum: 3, minimum: 2}"}, {2, 3}),
        ({"type": "integer"}, {0, 1}),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, {1, 2}),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, {False, True}),
        ({"const": "yes"}, {"yes"}),
        ({"type": "null"}, {None}),
    ],
)
def test_a_value_fits_its_schema_and_every_value_occurs(
    schema: dict[str, Any], values: set[object]
) -> None:
    assert {value_for(schema, at=step / 100) for step in range(100)} == values


def test_a_range_is_cut_into_a_hundred_steps() -> None:
    rng = np.random.default_rng(0)
    schema = {"type": "number", "minimum": -1, "maximum": 1}
    for _ in range(100):
        value = value_for(schema, at=rng.random())
        assert isinstance(value, float)
        assert -1 <= value <= 1
        assert (value * 50) == pytest.approx(round(value * 50))
    assert levels(0, 1, whole=False)[57] == 0.57


def test_objects_arrays_and_references_are_filled_in_order() -> None:
    schema = {
        "type": "object",
        "$defs": {"Score": {"type": "integer", "minimum": 0, "maximum": 4}},
        "properties": {
            "rationale": {"type": "string"},
            "scores": {"type": "array", "items": {"$ref": "#/$defs/Score"}},
            "sure": {"type": "boolean"},
        },
    }
    value = value_for(schema, at=0.99)
    assert isinstance(value, dict)
    assert list(value) == ["rationale", "scores", "sure"]
    assert value["scores"] == [4]
    assert value["sure"] is True


@pytest.mark.parametrize(
    ("prompt", "allowed"),
    [
        ("Return ONLY a float.\nRelevance score (0.0-1.0):", (0.0, 1.0)),
        ("Give a score from 0 to 4.", (0, 4)),
        ("Rate it on a scale between 1 and 5", (1, 5)),
        ("The score is one of 0, 1, 2, 3, 4.", (0, 4)),
    ],
)
def test_a_prompt_that_asks_for_a_score_gets_a_bare_number(
    prompt: str, allowed: tuple[float, float]
) -> None:
    answers = {
        float(plain_answer(prompt, subject=subject, model="m", as_json=False))
        for subject in SUBJECTS[:50]
    }
    assert len(answers) > 3
    assert all(allowed[0] <= answer <= allowed[1] for answer in answers)


def test_a_prompt_that_asks_for_json_gets_json() -> None:
    prompt = 'Answer as JSON {"score": …}, a score from 0 to 4.'
    verdict = json.loads(plain_answer(prompt, subject="s", model="m", as_json=False))
    assert verdict["score"] in range(5)
    assert "text" in json.loads(plain_answer("Hi", subject="s", model="m", as_json=True))


def test_a_text_says_that_it_is_made_up_and_differs_by_prompt_and_model() -> None:
    texts = {made_up_text(prompt, model=model) for prompt in "ab" for model in "mn"}
    assert len(texts) == 4
    assert all("made up by a fake provider" in text for text in texts)


def test_prose_without_a_schema_is_on_the_unit_scale() -> None:
    assert prose_verdict(None, at=0.5).endswith("0.5 if one is generous, else 0.0.")
