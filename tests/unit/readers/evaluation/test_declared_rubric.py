"""Questions and scales as evaluation.yaml declares them, or as they are guessed."""

import pytest

from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.scale import BINARY, LIKERT5, Scale
from tests.unit.readers.conftest import HEAD, Reported, Write


@pytest.mark.parametrize(
    ("declared", "scale", "level"),
    [
        ("binary", BINARY, "nominal"),
        ("likert5", LIKERT5, "ordinal"),
        ("{min: 1, max: 5}", LIKERT5, "ordinal"),
        ("{min: 0, max: 1, step: 0.5}", Scale(0, 1, (0, 0.5, 1)), "interval"),
        ("{values: [0, 0.5, 1]}", Scale(0, 1, (0, 0.5, 1)), "interval"),
        ("{values: [0, 1, 3]}", Scale(0, 3, (0, 1, 3)), "ordinal"),
        ("{min: 0, max: 1, step: null}", Scale(0, 1), "interval"),
        ("{values: [bad, OK, good]}", Scale.from_words("bad", "OK", "good"), "ordinal"),
        ("{values: [no, yes]}", Scale.from_words("no", "yes"), "nominal"),
    ],
)
def test_a_scale_can_be_declared_in_any_of_its_forms(
    write: Write, declared: str, scale: Scale, level: str
) -> None:
    folder = write({"evaluation.yaml": HEAD.replace("likert5", declared)})

    (question,) = read_evaluation(folder).rubric

    assert (question.scale, question.level) == (scale, level)


def test_multi_select_question_is_one_binary_question_an_option(write: Write) -> None:
    declared = "name: n\nrubric: [{id: faults, question: Which?, options: [rude, vague]}]\n"

    rubric = read_evaluation(write({"evaluation.yaml": declared})).rubric

    assert [(q.id, q.scale, q.level) for q in rubric] == [
        ("faults/rude", BINARY, "nominal"),
        ("faults/vague", BINARY, "nominal"),
    ]


def test_scale_of_a_multi_select_question_is_refused(write: Write, reported: Reported) -> None:
    options = "{id: faults, question: Which?, options: [rude, vague], scale: likert5}"
    folder = write({"evaluation.yaml": f"name: n\nrubric:\n  - {options}\n"})

    [problem] = reported(lambda: read_evaluation(folder))

    assert problem == (
        "evaluation.yaml:3:rubric[0].options: an option is selected or not, and has no other scale "
        "or type. Remove scale and type, or options."
    )


def test_comparison_needs_no_scale(write: Write) -> None:
    declared = "name: n\nrubric: [{id: better, question: Which?, type: pairwise}]\n"

    (question,) = read_evaluation(write({"evaluation.yaml": declared})).rubric

    assert question.scale.words == ("A is better", "no difference", "B is better")
    assert question.level == "ordinal"


@pytest.mark.parametrize(
    ("declared", "key", "problem"),
    [
        ("{min: 4, max: 1}", "scale", "min must lie below max, got min 4 and max 1"),
        ("{min: 1, max: 4, step: 2}", "scale", "step 2 does not lead from 1 to 4"),
        ("{min: 1, max: 4, step: -1}", "scale", "step must be above 0, got -1"),
        ("{values: []}", "scale", "a scale needs two values or more, got none"),
        ("{values: [0, 2, 1, 3]}", "scale", "values must ascend without repeats, got 0, 2, 1, 3"),
        ("likert7", "scale", '"likert7" is not a scale'),
        (
            "{min: 0, max: 1.0e+9}",
            "scale",
            "a scale has at most 1,000,000 steps, otherwise write step: null",
        ),
    ],
)
def test_a_broken_scale_is_refused(
    write: Write, reported: Reported, declared: str, key: str, problem: str
) -> None:
    folder = write({"evaluation.yaml": HEAD.replace("likert5", declared)})

    assert reported(lambda: read_evaluation(folder)) == [
        (
            f"evaluation.yaml:3:rubric[0].{key}: {problem}. "
            "Use binary, likert5, {min: 1, max: 4}, "
            "{min: 0, max: 1, step: null}, {values: [0, 0.5, 1]} or {values: [bad, good]}."
        )
    ]


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (
            "scale: {min: 1}",
            "scale.max: the key is missing. Add it",
        ),
        (
            "scale: {min: 1, max: 5, steps: 1}",
            'scale.steps: there is no such key. Write "step"',
        ),
        (
            "scale: {min: true, max: 5}",
            "scale.min: true is not a number. Write a number such as 0.75",
        ),
        (
            "scale: {min: 0, max: .inf}",
            "scale.max: inf is not a number. Write a number such as 0.75",
        ),
        (
            "scale: {min: 0, max: 1, step: null}, level: nominal",
            (
                "level: a continuous scale has no categories, which the nominal level counts. "
                "Use interval, or declare the values"
            ),
        ),
        (
            "scale: {min: -2, max: 2}, level: ratio",
            ("level: a scale from -2 does not start at zero, as a ratio scale must. Use interval"),
        ),
        (
            "scale: likert5, level: cardinal",
            (
                'level: "cardinal" is not one of the choices. '
                "Use 'nominal', 'ordinal', 'interval' or 'ratio'"
            ),
        ),
        (
            "scale: likert5, guideline: x",
            'guideline: there is no such key. Write "guidelines"',
        ),
    ],
)
def test_what_is_wrong_with_a_question_is_reported(
    write: Write, reported: Reported, question: str, problem: str
) -> None:
    folder = write({"evaluation.yaml": HEAD.replace("scale: likert5", question)})

    assert reported(lambda: read_evaluation(folder)) == [f"evaluation.yaml:3:rubric[0].{problem}."]


def test_a_rubric_without_questions_is_refused(write: Write, reported: Reported) -> None:
    folder = write({"evaluation.yaml": "name: test\nrubric: []\n"})

    assert reported(lambda: read_evaluation(folder)) == [
        "evaluation.yaml:2:rubric: the list is empty. Write each entry after a dash."
    ]


UNDECLARED = "name: test\nrubric:\n  - {id: q, question: How}\n"


def test_a_question_declares_its_scale(write: Write, reported: Reported) -> None:
    labels = "item_id,rater_id,rating\na1,x,1\na1,y,5\n"
    folder = write({"evaluation.yaml": UNDECLARED, "labels.csv": labels})

    assert reported(lambda: read_evaluation(folder)) == [
        (
            "evaluation.yaml:3:rubric[0].scale: the question declares no scale. "
            "Declare it, as in scale: {min: 1, max: 5}."
        )
    ]


def test_guidelines_may_be_a_file(write: Write, reported: Reported) -> None:
    question = "  - {id: deep, question: How deep, scale: likert5, guidelines: deep.md}\n"
    folder = write({"evaluation.yaml": HEAD + question, "deep.md": "5 deep\n1 flat\n"})

    assert read_evaluation(folder).question("deep").guidelines == "5 deep\n1 flat"

    (folder / "deep.md").unlink()
    [problem] = reported(lambda: read_evaluation(folder))
    assert "there is no file deep.md" in problem


@pytest.mark.parametrize(
    "scale",
    [
        "binary",
        "{values: [A is better, B is better, tie]}",
        "{values: [first, second, both bad]}",
        "{values: [response_b, response_a]}",
        "{min: 0, max: 1, step: null}",
    ],
)
def test_comparison_that_does_not_lead_from_a_to_b_is_refused(
    write: Write, reported: Reported, scale: str
) -> None:
    declared = f"{{id: q, question: Which is better?, type: pairwise, scale: {scale}}}"
    folder = write({"evaluation.yaml": f"name: n\nrubric:\n  - {declared}\n"})

    [problem] = reported(lambda: read_evaluation(folder))

    assert "lead from response_a to response_b" in problem


@pytest.mark.parametrize(
    "scale",
    [
        "{values: [A is better, no difference, B is better]}",
        "{values: [A, B]}",
        "{min: -2, max: 2}",
    ],
)
def test_comparison_that_leads_from_a_to_b_is_read(write: Write, scale: str) -> None:
    declared = f"{{id: q, question: Which is better?, type: pairwise, scale: {scale}}}"

    folder = write({"evaluation.yaml": f"name: n\nrubric:\n  - {declared}\n"})

    assert read_evaluation(folder).rubric[0].type == "pairwise"


def test_question_with_the_id_of_an_option_is_refused(write: Write, reported: Reported) -> None:
    faults = "{id: faults, question: Which?, options: [rude, vague]}"
    rude = "{id: faults/rude, question: Is it rude?, scale: binary}"
    folder = write({"evaluation.yaml": f"name: n\nrubric:\n  - {faults}\n  - {rude}\n"})

    [problem] = reported(lambda: read_evaluation(folder))

    assert 'the id "faults/rude" is that of an option' in problem


@pytest.mark.parametrize("key", ["show", "hide"])
def test_answers_of_a_comparison_are_neither_shown_beside_it_nor_hidden(
    write: Write, reported: Reported, key: str
) -> None:
    declared = "name: n\nrubric:\n  - {id: q, question: Which is better?, type: pairwise}\n"
    folder = write({"evaluation.yaml": f"{declared}labelling: {{{key}: [response_b]}}\n"})

    [problem] = reported(lambda: read_evaluation(folder))

    assert "response_b is one of the two answers that raters compare" in problem
