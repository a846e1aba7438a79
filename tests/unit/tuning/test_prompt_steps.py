"""Additions to a prompt come from train, and stay only if they help on dev."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.config.tuning import PromptStep, Tuning
from eval_assets.tuning.prompt_steps import TunedSection, tune_section
from eval_assets.tuning.prompt_training_data import Words
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.tuned_prompts import PromptSection
from tests.unit.tuning.made_up import judged, simulated

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
            json.dumps({"rules": [rule]} if '{"rules":' in each else {"instructions": "Weigh it."})
            for each in requests
        ]

    def score(self, units: RatedUnits, sections: Sequence[PromptSection]) -> list[np.ndarray]:
        """Rate better if the section has what helps."""
        place = np.isin(UNITS.response_ids, units.response_ids)
        return [
            (BETTER if self.helps and getattr(each, self.helps) else NOISY)[place]
            for each in sections
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
                (best if each.rules and each.examples else BETTER if each.examples else NOISY)[
                    place
                ]
                for each in sections
            ]

    found = tuned(Both(), "few_shot_examples", "judge_guidelines")

    assert found.section.examples
    assert found.section.rules
    assert found.step == "judge_guidelines"
    assert {SOURCE} <= set(found.section.sources)


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


def test_a_rule_that_quotes_an_answer_is_dropped() -> None:
    class Quoting(Models):
        def write(self, requests: Sequence[str]) -> list[str | None]:
            rule = {"rule": "Say that all of the steps are there now.", "ids": [SOURCE]}
            return [json.dumps({"rules": [rule]}) for _ in requests]

    words = Words(notes={NOTED: {SOURCE: "I think all of the steps are there now, you see."}})

    assert tuned(Quoting("rules"), "judge_guidelines", words=words).section == PromptSection()
