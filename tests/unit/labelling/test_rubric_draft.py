"""A drafted wording shows what raters agree on, and lists what is left to decide."""

from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.rubric_draft import RubricExample, draft_guidelines, drafting_prompt
from eval_assets.scale import Scale

QUESTION = RubricQuestion(
    "clarity", "Is it clear?", Scale.from_steps(low=1, high=3), "ordinal", "1 is unclear."
)
ANCHORS = {3.0: RubricExample("x1", "A  short\nanswer.", 3.0, "all 2 raters gave 3")}
DISPUTED = [RubricExample("x2", "A long answer.", None, "anna 1 and ben 3")]


def test_each_value_has_an_example_or_a_place_for_one() -> None:
    draft = draft_guidelines(QUESTION, ANCHORS, to_decide=[], disputed=[])

    assert draft == (
        "1 is unclear.\n\nExamples:\n\n"
        "- 1: TODO no response is known to deserve it; write an example\n"
        "- 2: TODO no response is known to deserve it; write an example\n"
        '- 3: "A short answer." (x1; all 2 raters gave 3)\n'
    )


def test_open_decisions_come_with_disputed_responses() -> None:
    draft = draft_guidelines(QUESTION, {}, to_decide=["what 2 means"], disputed=DISPUTED)
    _, _, decisions = draft.partition("TODO decide")

    assert "- what 2 means\n" in decisions
    assert decisions.endswith('- "A long answer." (x2; anna 1 and ben 3)\n')


def test_proposed_wording_takes_the_place_of_the_present_one() -> None:
    draft = draft_guidelines(QUESTION, {}, to_decide=[], disputed=[], wording="- 1: never")

    assert draft.startswith("- 1: never\n")
    assert "1 is unclear." not in draft


def test_prompt_holds_question_scale_and_draft() -> None:
    prompt = drafting_prompt(QUESTION, "the draft")

    assert "Is it clear?" in prompt
    assert "1, 2, 3" in prompt
    assert prompt.endswith("the draft")
