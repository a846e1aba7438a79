"""Additions to a prompt come from train, and stay only if they help on dev."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.config.tuning import PromptStep, Tuning
from eval_assets.scale import Scale
from eval_assets.tuning.prompt_steps import (
    Search,
    TunedSection,
    few_shot_examples,
    search_instructions,
    tune_section,
)
from eval_assets.tuning.prompt_training_data import PromptMaterial, Words
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.tuned_prompts import Example, PromptSection
from tests.unit.tuning.made_up import judged, rated_units, simulated

UNITS, QUALITY = simulated(120, seed=1, split=None)
NOISY = judged(QUALITY, seed=2, noise=2.5)
BETTER = judged(QUALITY, seed=3, noise=0.4)
NOTED = str(UNITS.part("train").response_ids[0])
SOURCE = f"{NOTED}/ben"
NOTES = {NOTED: {SOURCE: "All steps are there."}}


class Models:
    """A judge that one kind of section helps, and a writer that cites what it is shown."""

    def __init__(self, helps: str = "") -> None:
        self.helps = helps
        self.shown: list[str] = []

    def write(self, requests: Sequence[str]) -> list[str | None]:
        """Propose a rule, or instructions."""
        self.shown += requests
        rule = {"rule": "Look for steps.", "ids": [SOURCE]}
        return [
            json.dumps({"rules": [rule]} if '{"rules":' in item else {"instructions": "Weigh it."})
            for item in requests
        ]

    def score(self, units: RatedUnits, sections: Sequence[PromptSection]) -> list[np.ndarray]:
        """Rate better if the section has what helps."""
        place = np.isin(UNITS.response_ids, units.response_ids)
        return [
            (BETTER if self.helps and getattr(item, self.helps) else NOISY)[place]
            for item in sections
        ]


def tuned(
    models: Models, *steps: PromptStep, units: RatedUnits = UNITS, words: Words | None = None
) -> TunedSection:
    return tune_section(
        units,
        NOISY,
        words or Words(notes=NOTES),
        tuning=Tuning(steps=steps, writer="gpt", rounds=1, candidates=2),
        known=["the template"],
        write=models.write,
        score=models.score,
    )


@pytest.mark.parametrize(
    ("step", "part"),
    [
        ("few_shot_examples", "examples"),
        ("judge_guidelines", "rules"),
        ("prompt_candidates", "instructions"),
    ],
)
def test_a_step_that_helps_on_dev_is_kept_and_one_that_does_not_is_not(
    step: PromptStep, part: str
) -> None:
    helped, unhelped = tuned(Models(part), step), tuned(Models(), step)

    assert helped.step == step
    assert getattr(helped.section, part)
    assert helped.outcomes[-1] == f"{step}: kept"
    assert (unhelped.section, unhelped.step) == (PromptSection(), None)


def test_steps_build_on_each_other() -> None:
    class Both(Models):
        def score(self, units: RatedUnits, sections: Sequence[PromptSection]) -> list[np.ndarray]:
            place = np.isin(UNITS.response_ids, units.response_ids)
            best = judged(QUALITY, seed=4, noise=0.05)
            return [
                (best if item.rules and item.examples else BETTER if item.examples else NOISY)[
                    place
                ]
                for item in sections
            ]

    result = tuned(Both(), "few_shot_examples", "judge_guidelines")

    assert result.section.examples
    assert result.section.rules
    assert result.step == "judge_guidelines"
    assert {SOURCE} <= set(result.section.sources)


def test_nothing_depends_on_labels_of_the_test_or_on_scores_there() -> None:
    is_test = UNITS.splits == "test"
    other = replace(UNITS, ratings=np.where(is_test[:, None], 6 - UNITS.ratings, UNITS.ratings))
    first, second = Models("examples"), Models("examples")
    steps: tuple[PromptStep, ...] = (
        "few_shot_examples",
        "judge_guidelines",
        "prompt_candidates",
    )

    assert tuned(first, *steps) == tuned(second, *steps, units=other)
    assert first.shown == second.shown


def test_a_rule_that_quotes_a_response_is_dropped() -> None:
    class Quoting(Models):
        def write(self, requests: Sequence[str]) -> list[str | None]:
            rule = {"rule": "Say that all of the steps are there now.", "ids": [SOURCE]}
            return [json.dumps({"rules": [rule]}) for _ in requests]

    words = Words(notes={NOTED: {SOURCE: "I think all of the steps are there now, you see."}})

    assert tuned(Quoting("rules"), "judge_guidelines", words=words).section == PromptSection()


DEV, DEV_QUALITY = simulated(40, seed=1, split="dev")
NOISY_ON_DEV = judged(DEV_QUALITY, seed=2, noise=2.5)
BETTER_ON_DEV = judged(DEV_QUALITY, seed=3, noise=0.4)
TRAIN, TRAIN_QUALITY = simulated(40, seed=4, split="train")
ON_TRAIN = judged(TRAIN_QUALITY, seed=5, noise=2.5)
ON_TRAIN_BETTER = judged(TRAIN_QUALITY, seed=6, noise=0.4)
MATERIAL = PromptMaterial(TRAIN, ON_TRAIN)


BE_FAIR = PromptSection("Be fair.")
DROPPED = "dropped: no nearer to people on the worst responses of train"


class SearchedModels:
    """A writer that says what it is told to, and a judge that listens to one word."""

    def __init__(self, *replies: str | None) -> None:
        self.replies = list(replies)
        self.requests: list[str] = []
        self.scored: list[PromptSection] = []

    def write(self, requests: Sequence[str]) -> list[str | None]:
        """Give the next replies."""
        self.requests += requests
        return [self.replies.pop(0) for _ in requests]

    def score(self, units: RatedUnits, sections: Sequence[PromptSection]) -> list[np.ndarray]:
        """Judge well if told to look at the steps; on train, also if told to be nice."""
        if units is DEV:
            self.scored += sections
            return [
                BETTER_ON_DEV if "steps" in item.instructions else NOISY_ON_DEV for item in sections
            ]
        place = np.isin(TRAIN.response_ids, units.response_ids)
        helped = [
            {"steps", "nice"} & set(item.instructions.strip(".").split()) for item in sections
        ]
        return [(ON_TRAIN_BETTER if item else ON_TRAIN)[place] for item in helped]


def search(
    models: SearchedModels, *, rounds: int = 2, note: str = "", start: PromptSection = BE_FAIR
) -> Search:
    return search_instructions(
        replace(MATERIAL, words=Words(notes={"elsewhere": {"elsewhere/anna": note}})),
        DEV,
        NOISY_ON_DEV,
        start=start,
        tuning=Tuning(steps=("prompt_candidates",), writer="gpt", rounds=rounds, candidates=2),
        write=models.write,
        score=models.score,
    )


def said(text: str) -> str:
    return json.dumps({"instructions": text})


def test_the_instructions_that_help_on_dev_are_found() -> None:
    models = SearchedModels(
        said("Be nice."), said("Count the steps."), said("Be kind."), said("Be calm.")
    )
    result = search(models)

    assert result.section.instructions == "Count the steps."
    assert [tried.outcome for tried in result.tried] == [
        "no better than the best so far",
        "best so far",
        DROPPED,
        DROPPED,
    ]


def test_only_candidates_that_help_on_the_worst_responses_of_train_are_scored_on_dev() -> None:
    models = SearchedModels(said("Be kind."), said("Be nice."), said("Be calm."), said("Be dull."))
    result = search(models)

    assert [section.instructions for section in models.scored] == ["Be nice."]
    assert [tried.outcome for tried in result.tried].count(DROPPED) == 3
    assert result.section == BE_FAIR


def test_candidates_are_not_tried_on_responses_that_the_prompt_shows() -> None:
    worst = [item.response_id for item in MATERIAL.disagreements()[:3]]
    requested: list[str] = []

    class Watched(SearchedModels):
        def score(self, units: RatedUnits, sections: Sequence[PromptSection]) -> list[np.ndarray]:
            requested.extend(units.response_ids if sections else ())
            return super().score(units, sections)

    examples = tuple(Example(name, "Prompt", "Answer", 3.0) for name in worst)
    search(Watched(said("a"), said("b")), rounds=1, start=PromptSection(examples=examples))

    assert len(set(requested)) == 10
    assert set(requested).isdisjoint(worst)


def test_a_later_round_starts_from_the_best_so_far() -> None:
    models = SearchedModels(said("Count the steps."), said("Be nice."), said("a"), said("b"))
    search(models)

    assert "Be fair." in models.requests[0]
    assert "Count the steps." in models.requests[2]


def test_a_judge_that_nothing_helps_stays_as_it_is() -> None:
    result = search(SearchedModels(said("a"), said("b"), said("c"), said("d")))

    assert result.section == BE_FAIR


def test_every_candidate_is_written_from_other_disagreements() -> None:
    models = SearchedModels(said("a"), said("b"), said("c"), said("d"))
    search(models)
    ids = [
        {line for line in request.splitlines() if line.startswith("Id: ")}
        for request in models.requests
    ]

    assert [len(shown) for shown in ids] == [10, 10, 10, 10]
    assert len(set.union(*ids)) == 40


def test_a_candidate_that_quotes_train_is_dropped_before_anything_is_spent() -> None:
    models = SearchedModels(said("Say that the cat sat on the mat."), said("Count steps"))
    result = search(models, rounds=1, note="the cat sat on the mat today")

    assert [section.instructions for section in models.scored] == ["Count steps"]
    assert result.tried[0].outcome == "dropped: it quotes train"


def test_replies_that_cannot_be_read_cost_no_judging() -> None:
    models = SearchedModels(None, "no JSON")
    result = search(models, rounds=1)

    assert models.scored == []
    assert result.section == BE_FAIR
    assert {tried.outcome for tried in result.tried} == {"the writer's reply is unusable"}


def test_a_judge_that_differs_from_people_nowhere_is_not_asked() -> None:
    models = SearchedModels()
    alike = PromptMaterial(TRAIN, np.nanmean(TRAIN.ratings, axis=1))
    result = search_instructions(
        alike,
        DEV,
        NOISY_ON_DEV,
        start=BE_FAIR,
        tuning=Tuning(),
        write=models.write,
        score=models.score,
    )

    assert result.section == BE_FAIR
    assert [tried.outcome for tried in result.tried] == [
        "the judge differs from people on no response of train"
    ]
    assert not models.requests
    assert not models.scored


NAN = float("nan")
LEVELS = np.array([1, 2, 3, 4, 5] * 8, dtype=float)


def train(ratings: np.ndarray, **changes: object) -> RatedUnits:
    """Units whose responses have no word in common."""
    units = rated_units(ratings, split="train")
    texts = np.array([f"only{k} words{k}" for k in range(len(ratings))], dtype=object)
    return replace(units, response_texts=texts, **changes)  # type: ignore[arg-type]


def agreeing() -> np.ndarray:
    return np.column_stack([LEVELS, LEVELS])


def test_every_level_gets_an_example_and_there_are_at_most_eight() -> None:
    result = few_shot_examples(train(agreeing()), np.clip(LEVELS + 1, 1, 5))

    assert len(result) == 8
    assert {example.value for example in result} == {1, 2, 3, 4, 5}


def test_only_responses_that_people_agree_on_are_shown() -> None:
    ratings = agreeing()
    ratings[10:, 1] = np.where(LEVELS[10:] == 1, 3, 1)
    result = few_shot_examples(train(ratings), np.full(40, 3.0))

    assert {example.response_id for example in result} <= {f"r{k}" for k in range(10)}


def test_a_response_with_one_rating_is_no_agreement() -> None:
    ratings = agreeing()
    ratings[:, 1] = NAN
    ratings[3, 1] = 4

    result = few_shot_examples(train(ratings), np.full(40, 1.0))
    assert [example.response_id for example in result] == ["r3"]


def test_a_judge_that_is_right_needs_no_examples() -> None:
    assert few_shot_examples(train(agreeing()), LEVELS) == ()


@pytest.mark.parametrize(("off", "is_wrong"), [(0.4, False), (0.5, True)])
def test_a_judge_is_wrong_from_half_a_step_on(off: float, is_wrong: bool) -> None:  # noqa: FBT001
    assert bool(few_shot_examples(train(agreeing()), LEVELS + off)) is is_wrong


def test_eight_levels_get_an_example_each() -> None:
    values = np.repeat(np.arange(8.0), 2)
    question = replace(rated_units([[1]]).question, scale=Scale.from_steps(low=0, high=7))
    units = replace(train(np.column_stack([values, values])), question=question)
    result = few_shot_examples(units, np.where(values == 0, 7, values))

    assert [example.value for example in result] == list(range(8))


def test_the_worst_errors_come_first_after_the_levels() -> None:
    scores = LEVELS.copy()
    scores[[0, 5]] = 5, 4  # level 1: off by four and by three
    result = few_shot_examples(train(agreeing()), scores)

    assert "r0" in {example.response_id for example in result}
    assert "r5" in {example.response_id for example in result}


def test_no_two_examples_come_from_one_group_or_are_much_alike() -> None:
    one_group = few_shot_examples(train(agreeing(), groups=np.full(40, "same")), np.full(40, 3.0))
    alike = few_shot_examples(
        replace(train(agreeing()), response_texts=np.full(40, "the same words", dtype=object)),
        np.full(40, 3.0),
    )

    assert len(one_group) == len(alike) == 1


def test_each_level_of_a_continuous_scale_gets_an_example_of_its_own() -> None:
    values = np.array([0.0, 0.15, 1.0])
    units = replace(
        train(np.column_stack([values, values])),
        question=replace(rated_units([[1]]).question, scale=Scale(0, 1), level="interval"),
    )
    result = few_shot_examples(units, np.array([0.0, 0.7, 1.0]))

    assert [example.value for example in result] == [0, 0.15, 1]


def test_ratings_of_a_continuous_scale_need_not_be_equal_to_agree() -> None:
    scale = Scale(low=0, high=1)
    values = np.linspace(0, 1, 40)
    units = replace(
        train(np.column_stack([values, np.clip(values + 0.05, 0, 1)])),
        question=replace(rated_units([[1]]).question, scale=scale, level="interval"),
    )
    result = few_shot_examples(units, np.full(40, 0.5))

    assert 5 <= len(result) <= 8
    assert result[0].value == pytest.approx(0.025)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_units_does_not_matter(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(40)
    units, scores = train(agreeing()), np.clip(LEVELS + 1, 1, 5)

    def shuffled(values: np.ndarray) -> np.ndarray:
        return values[order]

    reordered = replace(
        units,
        response_ids=shuffled(units.response_ids),
        groups=shuffled(units.groups),
        ratings=shuffled(units.ratings),
        prompt_texts=shuffled(units.prompt_texts),
        response_texts=shuffled(units.response_texts),
    )
    assert few_shot_examples(reordered, shuffled(scores)) == few_shot_examples(units, scores)


def test_an_example_shows_the_turns_before_it() -> None:
    units = train(agreeing(), history={"r0": (("Why?", "So."), ("And then?", "No more."))})
    [first, *rest] = few_shot_examples(units, np.clip(LEVELS + 1, 1, 5))

    turns = "Asked: Why?\nAnswered: So.\nAsked: And then?\nAnswered: No more."
    assert first.history == turns
    assert f"\n{turns}\n" in str(first)
    assert {example.history for example in rest} == {""}
