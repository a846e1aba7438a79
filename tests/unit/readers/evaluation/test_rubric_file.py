"""A rubric that is a file, and questions that belong to some responses only."""

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.references import units_of
from eval_assets.readers.responses import read_responses
from eval_assets.scale import BINARY, LIKERT5, Scale
from tests.unit.readers.conftest import Reported, Write

RESPONSES = """\
response_id,prompt_text,response_text,model_name,prompt_id,difficulty
a1,p,r,m1,P1,1
a2,p,r,m2,P1,2
b1,q,r,m1,P2,1
"""

RUBRIC = """\
question_id,question,scale,level,guidelines,prompt_id
kind,Is it kind?,likert5,,5 very,
fact1,Does it name the cause?,binary,,,P1
fact2,Does it name the effect?,0-2,ordinal,,P2
"""


def evaluation(write: Write, **files: str) -> Evaluation:
    defaults = {"evaluation.yaml": "name: t\n", "responses.csv": RESPONSES}
    inputs = {name.replace("_", "."): text for name, text in files.items()}
    return read_evaluation(write({**defaults, **inputs}))


def asked(declared: Evaluation) -> dict[str, list[str]]:
    units = units_of(declared, read_responses(declared))
    return {
        response_id: [
            q for q, is_applicable in zip(units.question_ids, row, strict=True) if is_applicable
        ]
        for response_id, row in zip(units.response_ids, units.applies, strict=True)
    }


def test_a_rubric_may_be_a_file_with_columns_that_limit_it(write: Write) -> None:
    declared = evaluation(write, rubric_csv=RUBRIC)

    kind, fact1, fact2 = declared.rubric
    assert (kind.scale, kind.level, kind.guidelines) == (LIKERT5, "ordinal", "5 very")
    assert (fact1.scale, fact1.level, fact1.applies_to) == (
        BINARY,
        "nominal",
        {"prompt_id": ("P1",)},
    )
    assert (fact2.scale, fact2.level) == (Scale.from_steps(low=0, high=2), "ordinal")
    assert asked(declared) == {
        "a1": ["kind", "fact1"],
        "a2": ["kind", "fact1"],
        "b1": ["kind", "fact2"],
    }


def test_the_file_may_be_named_and_be_json_lines(write: Write) -> None:
    rubric = (
        '{"question_id": "kind", "question": "Is it?", "scale": {"min": 1, "max": 4}, '
        '"difficulty": [1, 3]}\n'
        '{"question_id": "long", "question": "Is it?", "scale": {"values": ["no", "yes"]}}\n'
    )
    declared = evaluation(
        write, evaluation_yaml="name: t\nrubric: criteria.jsonl\n", criteria_jsonl=rubric
    )

    kind, long = declared.rubric
    assert (kind.scale.high, kind.applies_to) == (4, {"difficulty": ("1", "3")})
    assert (long.scale.words, long.applies_to) == (("no", "yes"), {})
    assert asked(declared) == {"a1": ["kind", "long"], "a2": ["long"], "b1": ["kind", "long"]}


def test_rows_that_repeat_a_question_add_values(write: Write) -> None:
    repeated = f"{RUBRIC}fact1,Does it name the cause?,binary,,,P2\n"

    declared = evaluation(write, rubric_csv=repeated)

    assert declared.question("fact1").applies_to == {"prompt_id": ("P1", "P2")}


def test_a_question_in_yaml_may_be_limited(write: Write) -> None:
    rubric = """\
name: t
rubric:
  - {id: kind, question: Is it, scale: 1-4}
  - {id: hard, question: Is it, scale: binary, applies_to: {difficulty: 2, prompt_id: [P1]}}
"""
    assert asked(evaluation(write, evaluation_yaml=rubric)) == {
        "a1": ["kind"],
        "a2": ["kind", "hard"],
        "b1": ["kind"],
    }


def test_a_label_of_a_question_that_is_not_asked_is_refused(
    write: Write, reported: Reported
) -> None:
    labels = "response_id,rater_id,question_id,rating\na1,r,fact2,1\nb1,r,fact2,2\n"
    declared = evaluation(write, rubric_csv=RUBRIC, labels_csv=labels)

    assert reported(lambda: read_labels(declared, read_responses(declared))) == [
        'labels.csv:2:question_id: "fact2" is not asked of "a1". Rate it on kind, fact1 only.'
    ]


def test_a_limit_that_no_response_can_meet_is_refused(write: Write, reported: Reported) -> None:
    declared = evaluation(write, rubric_csv=RUBRIC.replace("prompt_id", "promptid"))

    assert reported(lambda: read_responses(declared)) == [
        (
            "evaluation.yaml:rubric: promptid limits a question, but no response has such a "
            "column. Add it to the responses, or remove it from the rubric."
        )
    ]


@pytest.mark.parametrize(
    ("rubric", "problems"),
    [
        (
            RUBRIC.replace("likert5", "likert9").replace("ordinal", "cardinal"),
            [
                'rubric.csv:2:scale: "likert9" is not a scale',
                'rubric.csv:4:level: "cardinal" is not one of the choices',
            ],
        ),
        (RUBRIC.replace("fact2", "kind"), ["rubric.csv:4:question_id: the question is repeated"]),
        ("id,text\na,b\n", ["rubric.csv:1: there is no column question"]),
        ("question_id,question,scale\n", ["rubric.csv:1: the rubric has no questions"]),
        (RUBRIC.replace("binary", ""), ["rubric.csv:3:scale: the question declares no scale"]),
        (f"{RUBRIC}x\n", ["rubric.csv:5: the row has 1 cell, the header has 6"]),
    ],
)
def test_what_is_wrong_with_a_rubric_file_is_reported_in_it(
    write: Write, reported: Reported, rubric: str, problems: list[str]
) -> None:
    messages = reported(lambda: evaluation(write, rubric_csv=rubric))

    assert len(messages) == len(problems)
    for message, problem in zip(messages, problems, strict=True):
        assert message.startswith(problem)


def test_a_rubric_file_that_does_not_exist_is_reported(write: Write, reported: Reported) -> None:
    assert reported(lambda: evaluation(write, evaluation_yaml="name: t\nrubric: no.csv\n")) == [
        "evaluation.yaml:2:rubric: there is no file no.csv. Check the name, or add the file."
    ]
