import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eval_assets.config.tuning import Tuning
from eval_assets.tuning._candidates import Search, search_instructions
from eval_assets.tuning.prompt_training_data import PromptMaterial, Words
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.tuned_prompts import Example, PromptSection
from tests.unit.tuning.made_up import judged, simulated

DEV, QUALITY = simulated(40, seed=1, split="dev")
NOISY = judged(QUALITY, seed=2, noise=2.5)
BETTER = judged(QUALITY, seed=3, noise=0.4)
TRAIN, TRAIN_QUALITY = simulated(40, seed=4, split="train")
ON_TRAIN = judged(TRAIN_QUALITY, seed=5, noise=2.5)
ON_TRAIN_BETTER = judged(TRAIN_QUALITY, seed=6, noise=0.4)
MATERIAL = PromptMaterial(TRAIN, ON_TRAIN)


BE_FAIR = PromptSection("Be fair.")
DROPPED = "dropped: no nearer to people on the worst answers of train"


class Models:
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
            return [BETTER if "steps" in each.instructions else NOISY for each in sections]
        place = np.isin(TRAIN.response_ids, units.response_ids)
        helped = [
            {"steps", "nice"} & set(each.instructions.strip(".").split()) for each in sections
        ]
        return [(ON_TRAIN_BETTER if each else ON_TRAIN)[place] for each in helped]


def search(
    models: Models, *, rounds: int = 2, note: str = "", start: PromptSection = BE_FAIR
) -> Search:
    return search_instructions(
        replace(MATERIAL, words=Words(notes={"elsewhere": {"elsewhere/anna": note}})),
        DEV,
        NOISY,
        start=start,
        tuning=Tuning(steps=("prompt_candidates",), writer="gpt", rounds=rounds, candidates=2),
        write=models.write,
        score=models.score,
    )


def said(text: str) -> str:
    return json.dumps({"instructions": text})


def test_the_instructions_that_help_on_dev_are_found() -> None:
    models = Models(said("Be nice."), said("Count the steps."), said("Be kind."), said("Be calm."))
    found = search(models)

    assert found.section.instructions == "Count the steps."
    assert [tried.outcome for tried in found.tried] == [
        "no better than the best so far",
        "best so far",
        DROPPED,
        DROPPED,
    ]


def test_only_candidates_that_help_on_the_worst_answers_of_train_are_asked_about_dev() -> None:
    models = Models(said("Be kind."), said("Be nice."), said("Be calm."), said("Be dull."))
    found = search(models)

    assert [section.instructions for section in models.scored] == ["Be nice."]
    assert [tried.outcome for tried in found.tried].count(DROPPED) == 3
    assert found.section == BE_FAIR


def test_candidates_are_not_tried_on_answers_that_the_prompt_shows() -> None:
    worst = [each.response_id for each in MATERIAL.disagreements()[:3]]
    asked: list[str] = []

    class Watched(Models):
        def score(self, units: RatedUnits, sections: Sequence[PromptSection]) -> list[np.ndarray]:
            asked.extend(units.response_ids if sections else ())
            return super().score(units, sections)

    examples = tuple(Example(name, "Prompt", "Answer", 3.0) for name in worst)
    search(Watched(said("a"), said("b")), rounds=1, start=PromptSection(examples=examples))

    assert len(set(asked)) == 10
    assert set(asked).isdisjoint(worst)


def test_a_later_round_starts_from_the_best_so_far() -> None:
    models = Models(said("Count the steps."), said("Be nice."), said("a"), said("b"))
    search(models)

    assert "Be fair." in models.requests[0]
    assert "Count the steps." in models.requests[2]


def test_a_judge_that_nothing_helps_stays_as_it_is() -> None:
    found = search(Models(said("a"), said("b"), said("c"), said("d")))

    assert found.section == BE_FAIR


def test_every_candidate_is_written_from_other_disagreements() -> None:
    models = Models(said("a"), said("b"), said("c"), said("d"))
    search(models)
    ids = [
        {line for line in request.splitlines() if line.startswith("Id: ")}
        for request in models.requests
    ]

    assert [len(shown) for shown in ids] == [10, 10, 10, 10]
    assert len(set.union(*ids)) == 40


def test_a_candidate_that_quotes_train_is_dropped_before_anything_is_spent() -> None:
    models = Models(said("Say that the cat sat on the mat."), said("Count steps"))
    found = search(models, rounds=1, note="the cat sat on the mat today")

    assert [section.instructions for section in models.scored] == ["Count steps"]
    assert found.tried[0].outcome == "dropped: it quotes train"


def test_replies_that_cannot_be_read_cost_no_judging() -> None:
    models = Models(None, "no JSON")
    found = search(models, rounds=1)

    assert models.scored == []
    assert found.section == BE_FAIR
    assert {tried.outcome for tried in found.tried} == {"the writer's reply is unusable"}


def test_a_judge_that_differs_from_people_nowhere_is_not_asked() -> None:
    models = Models()
    alike = PromptMaterial(TRAIN, np.nanmean(TRAIN.ratings, axis=1))
    found = search_instructions(
        alike,
        DEV,
        NOISY,
        start=BE_FAIR,
        tuning=Tuning(),
        write=models.write,
        score=models.score,
    )

    assert found.section == BE_FAIR
    assert [tried.outcome for tried in found.tried] == [
        "the judge differs from people on no answer of train"
    ]
    assert not models.requests
    assert not models.scored
