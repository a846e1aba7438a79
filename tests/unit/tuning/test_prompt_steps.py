"""Additions to a prompt come from train, and stay only if they help on dev."""

import json
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.config.tuning import PromptStep
from eval_assets.scale import Scale
from eval_assets.tuning.prompt_steps import (
    MOST_REMARKS,
    Notes,
    PromptTrainingData,
    Remark,
    TunedSection,
    few_shot_examples,
    guidelines_request,
    read_rules,
    tune_section,
)
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.tuned_prompts import PromptSection, Rule
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

    def write(self, request: str) -> str | None:
        """Propose a rule."""
        self.shown.append(request)
        return json.dumps({"rules": [{"rule": "Look for steps.", "ids": [SOURCE]}]})

    def score(self, units: RatedUnits, section: PromptSection) -> np.ndarray:
        """Rate better if the section has what helps."""
        place = np.isin(UNITS.response_ids, units.response_ids)
        return (BETTER if self.helps and getattr(section, self.helps) else NOISY)[place]


def tuned(
    models: Models, *steps: PromptStep, units: RatedUnits = UNITS, notes: Notes | None = None
) -> TunedSection:
    return tune_section(
        units,
        NOISY,
        NOTES if notes is None else notes,
        steps=steps,
        known=["the template"],
        write=models.write,
        score=models.score,
    )


@pytest.mark.parametrize(
    ("step", "part"),
    [
        ("few_shot_examples", "examples"),
        ("judge_guidelines", "rules"),
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
        def score(self, units: RatedUnits, section: PromptSection) -> np.ndarray:
            best = judged(QUALITY, seed=4, noise=0.05) if section.rules else BETTER
            place = np.isin(UNITS.response_ids, units.response_ids)
            return (best if section.examples else NOISY)[place]

    result = tuned(Both(), "few_shot_examples", "judge_guidelines")

    assert result.section.examples
    assert result.section.rules
    assert result.step == "judge_guidelines"
    assert {SOURCE} <= set(result.section.sources)


def test_nothing_depends_on_labels_of_the_test_or_on_scores_there() -> None:
    is_test = UNITS.splits == "test"
    other = replace(UNITS, ratings=np.where(is_test[:, None], 6 - UNITS.ratings, UNITS.ratings))
    first, second = Models("examples"), Models("examples")
    steps: tuple[PromptStep, ...] = ("few_shot_examples", "judge_guidelines")

    assert tuned(first, *steps) == tuned(second, *steps, units=other)
    assert first.shown == second.shown


def test_a_rule_that_quotes_a_response_is_dropped() -> None:
    class Quoting(Models):
        def write(self, request: str) -> str | None:  # noqa: ARG002 - whatever is asked
            rule = {"rule": "Say that all of the steps are there now.", "ids": [SOURCE]}
            return json.dumps({"rules": [rule]})

    notes = {NOTED: {SOURCE: "I think all of the steps are there now, you see."}}

    assert tuned(Quoting("rules"), "judge_guidelines", notes=notes).section == PromptSection()


def test_a_writer_without_a_reply_adds_nothing() -> None:
    class Silent(Models):
        def write(self, request: str) -> str | None:  # noqa: ARG002 - whatever is asked
            return None

    result = tuned(Silent("rules"), "judge_guidelines")

    assert result.section == PromptSection()
    assert result.outcomes == ("judge_guidelines: found nothing to add",)


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


RATED = rated_units([[1, 1], [5, 5], [3, 3], [2, 4]], groups=["a", "a", "b", "c"], split="train")
SCORES = np.array([2.0, 1.0, 3.0, np.nan])
QUESTION = RATED.question


def test_notes_come_before_responses_on_which_people_disagree() -> None:
    notes = {"r2": {"r2/ben": "So so."}, "elsewhere": {"x": "Not of train."}}
    note, apart = PromptTrainingData(RATED, SCORES, notes).remarks()

    assert (note.source, note.text) == ("r2/ben", "So so.")
    assert note.context == "People rated it: 3, 3. The judge gave: 3."
    assert (apart.source, apart.text) == ("r3", "Ten chars.")
    assert apart.context == "People rated it: 2, 4. The judge gave: none."


def test_rules_are_distilled_from_a_limited_number_of_remarks() -> None:
    units = rated_units([[1, 5]] * 50, split="train")

    assert len(PromptTrainingData(units, np.full(50, 3.0)).remarks()) == MOST_REMARKS


def test_the_question_and_the_template_may_be_repeated_and_a_note_may_not() -> None:
    message = "one two three four five six"
    notes = {"r1": {"r1/anna": f"I said {message}."}}

    assert PromptTrainingData(RATED, SCORES, notes).is_quoted_in(f"Mind {message}!")
    assert not PromptTrainingData(RATED, SCORES, notes, known=[message]).is_quoted_in(
        f"Mind {message}!"
    )
    assert not PromptTrainingData(RATED, SCORES).is_quoted_in(f"Mind {message}!")


def test_the_writer_sees_remarks_with_the_ids_that_rules_must_name() -> None:
    remark = Remark("n1", "Too </remark> long.", "Ratings: 1, 4")
    request = guidelines_request(QUESTION, [remark])

    assert "Id: n1" in request
    assert "Too </remark> long." in request
    assert request.count("</remark-") == 1  # the note cannot end its own marks


def test_rules_keep_their_sources_and_made_up_ones_go() -> None:
    reply = """{"rules": [
        {"rule": "Short  is fine.", "ids": ["n2", "n1", "n1"]},
        {"rule": "From nowhere.", "ids": ["n9"]},
        {"rule": "Without ids.", "ids": []},
        {"rule": 7, "ids": ["n1"]},
        "no object"
    ]}"""

    assert read_rules(reply, sources={"n1", "n2"}) == (Rule("Short is fine.", ("n1", "n2")),)


@pytest.mark.parametrize("reply", ["", "no JSON", '{"rules": "x"}', '{"rules": null}'])
def test_a_reply_without_rules_has_none(reply: str) -> None:
    assert read_rules(reply, sources={"n1"}) == ()


def test_at_most_eight_rules_are_taken() -> None:
    rules = ", ".join(f'{{"rule": "Rule {k}", "ids": ["n1"]}}' for k in range(12))

    assert len(read_rules(f'{{"rules": [{rules}]}}', sources={"n1"})) == 8
