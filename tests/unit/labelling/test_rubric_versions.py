"""Labels of different wordings of a question are not pooled."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.frame_columns import LABEL_COLUMNS
from eval_assets.labelling.rater_view import guideline_hash
from eval_assets.labelling.rubric_versions import (
    RubricExample,
    RubricWording,
    VersionedLabels,
    by_rubric_version,
    draft_guidelines,
    drafting_prompt,
    new_wordings,
)
from eval_assets.scale import LIKERT5, Scale

FIRST = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
SECOND = replace(FIRST, question="Is every sentence clear?")
START = datetime(2026, 11, 1, tzinfo=UTC)


def wordings_of(*questions: RubricQuestion, n_labels: int = 0) -> list[RubricWording]:
    """Return versions that were declared a day apart; labels of the first were stored."""
    wordings: list[RubricWording] = []
    keys = {"clarity": {guideline_hash(FIRST): [(f"x{k}", "anna", 1) for k in range(n_labels)]}}
    for day, question in enumerate(questions):
        evaluation = Evaluation("test", Path(), (question,))
        at = START + timedelta(days=day)
        wordings += new_wordings(evaluation, wordings, keys if day else {}, at=at)
    return wordings


def labels(*rows: tuple[str, str | None, str | None]) -> pd.DataFrame:
    """Return labels by response, fingerprint and time."""
    frame = pd.DataFrame(rows, columns=["response_id", "guideline_hash", "labelled_at"])
    frame = frame.assign(question_id="clarity", rater_id="anna", value=3.0, round=1, skipped=False)
    return frame.reindex(columns=list(LABEL_COLUMNS))


def separated(
    rows: pd.DataFrame, question: RubricQuestion, wordings: list[RubricWording]
) -> tuple[list[str], list[str], VersionedLabels]:
    result = by_rubric_version(rows, [question], wordings)
    return result.ratings["response_id"].tolist(), result.older["response_id"].tolist(), result


def test_versions_are_numbered_in_the_order_of_runs() -> None:
    wordings = wordings_of(FIRST, SECOND, SECOND)

    assert [(w.version, w.text) for w in wordings] == [(1, FIRST.question), (2, SECOND.question)]


def test_labels_stay_with_their_version_if_an_earlier_one_is_used_again() -> None:
    third = replace(FIRST, question="Is it clear to you?")
    rows = labels(("x0", None, None), ("x1", None, None), ("new", None, None))
    first_labels = {guideline_hash(FIRST): [("x0", "anna", 1)]}
    after = first_labels | {guideline_hash(SECOND): [("x1", "anna", 1)]}
    wordings: list[RubricWording] = []
    for day, (question, keys) in enumerate(
        [(FIRST, {}), (SECOND, first_labels), (FIRST, after), (third, after)]
    ):
        evaluation = Evaluation("test", Path(), (question,))
        at = START + timedelta(days=day)
        wordings += new_wordings(evaluation, wordings, {"clarity": keys}, at=at)

    assert [wording.version for wording in wordings] == [1, 2, 1, 3]
    for question, versions, expected in (
        (FIRST, wordings[:3], ["x0", "new"]),
        (third, wordings, ["new"]),
        (SECOND, wordings, ["x1"]),
    ):
        current, *_ = separated(rows[:2] if question is SECOND else rows, question, versions)
        assert current == expected


def test_labels_of_one_version_all_count() -> None:
    current, older, result = separated(labels(("x0", None, None)), FIRST, wordings_of(FIRST))

    assert (current, older, result.notes) == (["x0"], [], ())
    assert result.ratings["rubric_version"].tolist() == [1]


def test_label_belongs_to_the_version_that_it_carries() -> None:
    rows = labels(("x0", guideline_hash(FIRST), None), ("x1", guideline_hash(SECOND), None))
    current, older, result = separated(rows, SECOND, wordings_of(FIRST, SECOND))

    assert (current, older) == (["x1"], ["x0"])
    [note] = result.notes
    assert note.startswith(
        "clarity: left out: 1 label given under another version; version 2 has 1. "
    )
    assert note.endswith("If both mean the same, write equivalent_versions: [1]")


def test_label_without_fingerprint_belongs_to_the_version_it_was_stored_under() -> None:
    rows = labels(("x0", None, None), ("x1", None, None), ("new", None, None))
    current, older, _ = separated(rows, SECOND, wordings_of(FIRST, SECOND, n_labels=2))

    assert (current, older) == (["new"], ["x0", "x1"])


def test_time_decides_for_a_label_that_was_not_stored() -> None:
    rows = labels(("x0", None, "2026-11-01T12:00:00Z"), ("x1", None, "2026-11-02T12:00:00Z"))
    current, older, _ = separated(rows, SECOND, wordings_of(FIRST, SECOND))

    assert (current, older) == (["x1"], ["x0"])


def test_older_labels_count_until_the_new_version_has_some() -> None:
    rows = labels(("x0", guideline_hash(FIRST), None))
    current, older, result = separated(rows, SECOND, wordings_of(FIRST, SECOND))

    assert (current, older) == (["x0"], [])
    assert "those of version 1 count until it has" in result.notes[0]


@pytest.mark.parametrize("fingerprint", [guideline_hash(FIRST), None])
def test_equivalent_versions_are_pooled(fingerprint: str | None) -> None:
    rows = labels(("x0", fingerprint, None), ("x1", guideline_hash(SECOND), None))
    same = replace(SECOND, equivalent_versions=(1,))
    current, older, result = separated(rows, same, wordings_of(FIRST, SECOND, n_labels=1))

    assert (current, older, result.notes) == (["x0", "x1"], [], ())


def test_equivalent_version_that_does_not_exist_is_named() -> None:
    question = replace(FIRST, equivalent_versions=(9,))
    *_, result = separated(labels(("x0", None, None)), question, wordings_of(question))

    assert result.notes == ("clarity: equivalent_versions names 9, which no run has seen",)


def test_version_that_no_run_has_seen_is_an_older_one() -> None:
    rows = labels(("x0", "0123456789ab", None), ("x1", guideline_hash(FIRST), None))
    current, older, result = separated(rows, FIRST, wordings_of(FIRST))

    assert (current, older) == (["x1"], ["x0"])
    assert result.older["rubric_version"].tolist() == [0]


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
