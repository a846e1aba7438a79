"""What a prompt is tuned from: whose comments, in which order, and what may not be quoted."""

import numpy as np

from eval_assets.tuning.prompt_training_data import MOST_REMARKS, PromptMaterial, Words
from tests.unit.tuning.made_up import rated_units

UNITS = rated_units([[1, 1], [5, 5], [3, 3], [2, 4]], groups=["a", "a", "b", "c"], split="train")
SCORES = np.array([2.0, 1.0, 3.0, np.nan])


def test_disagreements_are_the_worst_first_one_of_each_group() -> None:
    words = Words({"r1": "Looks bad."}, {"r1": {"r1/anna": "Great."}})
    found = PromptMaterial(UNITS, SCORES, words).disagreements()

    assert [each.response_id for each in found] == ["r1"]
    assert (found[0].ratings, found[0].score) == ((5.0, 5.0), 1.0)
    assert (found[0].rationale, found[0].notes) == ("Looks bad.", ("Great.",))


def test_notes_come_before_answers_on_which_people_disagree() -> None:
    words = Words(notes={"r2": {"r2/ben": "So so."}, "elsewhere": {"x": "Not of train."}})
    note, apart = PromptMaterial(UNITS, SCORES, words).remarks()

    assert (note.source, note.text) == ("r2/ben", "So so.")
    assert note.context == "People rated it: 3, 3. The judge gave: 3."
    assert (apart.source, apart.text) == ("r3", "Ten chars.")
    assert apart.context == "People rated it: 2, 4. The judge gave: none."


def test_rules_are_distilled_from_a_limited_number_of_remarks() -> None:
    units = rated_units([[1, 5]] * 50, split="train")

    assert len(PromptMaterial(units, np.full(50, 3.0)).remarks()) == MOST_REMARKS


def test_the_question_and_the_template_may_be_repeated_and_a_note_may_not() -> None:
    said = "one two three four five six"
    words = Words(notes={"r1": {"r1/anna": f"I said {said}."}})

    assert PromptMaterial(UNITS, SCORES, words).is_quoted_in(f"Mind {said}!")
    assert not PromptMaterial(UNITS, SCORES, words, known=[said]).is_quoted_in(f"Mind {said}!")
    assert not PromptMaterial(UNITS, SCORES).is_quoted_in(f"Mind {said}!")
