from dataclasses import replace

import numpy as np
import pytest

from eval_assets.scale import Scale
from eval_assets.tuning.prompt_steps import few_shot_examples
from eval_assets.tuning.rated import RatedUnits
from tests.unit.tuning.made_up import rated_units

NAN = float("nan")
LEVELS = np.array([1, 2, 3, 4, 5] * 8, dtype=float)


def train(ratings: np.ndarray, **changes: object) -> RatedUnits:
    """Units whose answers have no word in common."""
    units = rated_units(ratings, split="train")
    texts = np.array([f"only{k} words{k}" for k in range(len(ratings))], dtype=object)
    return replace(units, response_texts=texts, **changes)  # type: ignore[arg-type]


def agreeing() -> np.ndarray:
    return np.column_stack([LEVELS, LEVELS])


def test_every_level_gets_an_example_and_there_are_at_most_eight() -> None:
    found = few_shot_examples(train(agreeing()), np.clip(LEVELS + 1, 1, 5))

    assert len(found) == 8
    assert {example.value for example in found} == {1, 2, 3, 4, 5}


def test_only_answers_that_people_agree_on_are_shown() -> None:
    ratings = agreeing()
    ratings[10:, 1] = np.where(LEVELS[10:] == 1, 3, 1)
    found = few_shot_examples(train(ratings), np.full(40, 3.0))

    assert {example.response_id for example in found} <= {f"r{k}" for k in range(10)}


def test_an_answer_with_one_rating_is_nobodys_agreement() -> None:
    ratings = agreeing()
    ratings[:, 1] = NAN
    ratings[3, 1] = 4

    found = few_shot_examples(train(ratings), np.full(40, 1.0))
    assert [example.response_id for example in found] == ["r3"]


def test_a_judge_that_is_right_needs_no_examples() -> None:
    assert few_shot_examples(train(agreeing()), LEVELS) == ()


def test_the_worst_errors_come_first_after_the_levels() -> None:
    scores = LEVELS.copy()
    scores[[0, 5]] = 5, 4  # level 1: off by four and by three
    found = few_shot_examples(train(agreeing()), scores)

    assert "r0" in {example.response_id for example in found}
    assert "r5" in {example.response_id for example in found}


def test_no_two_examples_come_from_one_group_or_are_much_alike() -> None:
    one_group = few_shot_examples(train(agreeing(), groups=np.full(40, "same")), np.full(40, 3.0))
    alike = few_shot_examples(
        replace(train(agreeing()), response_texts=np.full(40, "the same words", dtype=object)),
        np.full(40, 3.0),
    )

    assert len(one_group) == len(alike) == 1


def test_ratings_of_a_continuous_scale_need_not_be_equal_to_agree() -> None:
    scale = Scale(low=0, high=1)
    values = np.linspace(0, 1, 40)
    units = replace(
        train(np.column_stack([values, np.clip(values + 0.05, 0, 1)])),
        question=replace(rated_units([[1]]).question, scale=scale, level="interval"),
    )
    found = few_shot_examples(units, np.full(40, 0.5))

    assert 5 <= len(found) <= 8
    assert found[0].value == pytest.approx(0.025)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_units_does_not_matter(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(40)
    units, scores = train(agreeing()), np.clip(LEVELS + 1, 1, 5)

    def shuffled(values: np.ndarray) -> np.ndarray:
        return values[order]

    moved = replace(
        units,
        response_ids=shuffled(units.response_ids),
        groups=shuffled(units.groups),
        ratings=shuffled(units.ratings),
        prompt_texts=shuffled(units.prompt_texts),
        response_texts=shuffled(units.response_texts),
    )
    assert few_shot_examples(moved, shuffled(scores)) == few_shot_examples(units, scores)


def test_an_example_shows_the_turns_before_it() -> None:
    units = train(agreeing(), history={"r0": (("Why?", "So."), ("And then?", "No more."))})
    [first, *others] = few_shot_examples(units, np.clip(LEVELS + 1, 1, 5))

    turns = "Asked: Why?\nAnswered: So.\nAsked: And then?\nAnswered: No more."
    assert first.history == turns
    assert f"\n{turns}\n" in str(first)
    assert {example.history for example in others} == {""}
