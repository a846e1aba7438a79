import json
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.responses import read_responses
from tests.unit.readers.conftest import RESPONSES, Reported, Write


def responses(folder: Path) -> pd.DataFrame:
    return read_responses(read_evaluation(folder))


def test_every_column_is_there_with_none_if_nothing_is_given(write: Write) -> None:
    table = responses(write({}))

    assert tuple(table.columns) == RESPONSE_COLUMNS
    assert table.iloc[0].to_dict() == {
        "response_id": "a1",
        "prompt_text": "Why?",
        "response_text": "Because.",
        "model_name": "m1",
        "group_id": None,
        "indicator_id": None,
        "convo_id": None,
        "turn_index": None,
        "seed": None,
        "difficulty": None,
        "role": None,
        "timestamp": None,
        "attributes": "{}",
    }
    assert table["turn_index"].dtype == "Int64"


def test_text_and_model_of_a_pair_are_those_of_both_answers(write: Write) -> None:
    rows = "response_id,prompt_text,response_a,response_b,model_a,model_b\na1,Why?,So.,,m1,m2\n"

    table = responses(write({"responses.csv": rows}))

    [row] = table.to_dict("records")
    assert (row["response_text"], row["model_name"]) == ("A:\nSo.\n\nB:\n", "m1 and m2")
    assert json.loads(row["attributes"])["response_a"] == "So."


def test_declared_text_of_a_pair_is_kept(write: Write) -> None:
    header = "response_id,prompt_text,response_a,response_b,response_text,model_name"

    table = responses(write({"responses.csv": f"{header}\na1,Why?,So.,No.,So or no.,m1\n"}))

    assert table["response_text"].tolist() == ["So or no."]


def test_an_empty_answer_is_an_answer_and_na_is_text(write: Write) -> None:
    texts = ["", "N/A", "None", "nan", "NULL", " "]
    rows = "".join(f"a{i},p,{text},m\n" for i, text in enumerate(texts))

    table = responses(
        write({"responses.csv": f"response_id,prompt_text,response_text,model_name\n{rows}"})
    )

    assert table["response_text"].tolist() == texts


@pytest.mark.parametrize("alias", ["item_id", "trace_id", "scenario_id", "scenarioId"])
def test_other_names_of_columns_are_accepted(write: Write, alias: str) -> None:
    text = f"{alias},prompt_text,response_text,model,group\n a1 ,p,r, m1 ,g1\n"

    row = responses(write({"responses.csv": text})).iloc[0]

    assert (row["response_id"], row["model_name"], row["group_id"]) == ("a1", "m1", "g1")
    assert row["attributes"] == "{}"


def test_further_columns_are_kept_as_attributes(write: Write) -> None:
    text = (
        '{"response_id": "a1", "trace_id": "t1", "prompt_text": "p", "response_text": "r", '
        '"model_name": "m", "maturity": "rough \\u00e9", "n": 3, "nothing": null, "odd": NaN}\n'
    )
    folder = write({"evaluation.yaml": EVALUATION_OF_JSONL, "r.jsonl": text})

    (attributes,) = responses(folder)["attributes"]

    assert json.loads(attributes) == {
        "trace_id": "t1",
        "maturity": "rough \u00e9",
        "n": 3,
        "odd": "nan",
    }


EVALUATION_OF_JSONL = """\
name: test
rubric:
  - {id: q, question: How is it, scale: likert5}
responses: r.jsonl
"""


def test_ids_are_made_from_the_key_if_there_is_no_id(write: Write) -> None:
    text = (
        "indicator_id,convo_id,turn_index,model_name,seed,prompt_text,response_text\n"
        "L4,c|1,1,gemini,0,p,r\n"
        "L4,c|1,2.0,gemini,00,p,r\n"
        "L4,c|1,2,gemini,,p,r\n"
    )

    table = responses(write({"responses.csv": text}))

    assert table["response_id"].tolist() == [
        r"L4|c\|1|1|gemini|0",
        r"L4|c\|1|2|gemini|0",
        r"L4|c\|1|2|gemini|",
    ]
    assert table["turn_index"].tolist() == [1, 2, 2]
    assert table["seed"].tolist() == ["0", "0", None]


def test_the_first_file_to_give_a_row_wins(write: Write) -> None:
    header = "response_id,prompt_text,response_text,model_name"
    folder = write(
        {
            "responses.csv": f"{header}\na1,p,first,m\n",
            "responses/b.csv": f"{header},extra\na1,p,third,m,x\na3,p,only here,m,x\n",
            "responses/a.csv": f"{header}\na1,p,second,m\na2,p,here first,m\n",
        }
    )

    table = responses(folder)

    assert table["response_id"].tolist() == ["a1", "a2", "a3"]
    assert table["response_text"].tolist() == ["first", "here first", "only here"]
    assert table["attributes"].tolist() == ["{}", "{}", '{"extra": "x"}']


def test_parquet_reads_as_csv_does(write: Write) -> None:
    folder = write(
        {"evaluation.yaml": EVALUATION_OF_JSONL.replace("jsonl", "parquet"), "r.parquet": b"x"}
    )
    query = (
        "SELECT 'a1' AS response_id, 'p' AS prompt_text, '' AS response_text, 'm' AS model, "
        "1.0 AS seed, 2::DOUBLE AS turn_index, DATE '2026-11-21' AS day"
    )
    with duckdb.connect() as connection:
        connection.sql(query).write_parquet(str(folder / "r.parquet"))

    row = responses(folder).iloc[0]

    assert (row["seed"], row["turn_index"], row["response_text"]) == ("1", 2, "")
    assert json.loads(row["attributes"]) == {"day": "2026-11-21"}


def test_a_header_alone_gives_no_responses(write: Write) -> None:
    table = responses(
        write({"responses.csv": "response_id,prompt_text,response_text,model_name\n"})
    )

    assert table.empty
    assert tuple(table.columns) == RESPONSE_COLUMNS


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "response_id,model_name\na1,m\n",
            [
                (
                    "1: there is no column prompt_text and no column response_text. "
                    "Add it for every row."
                )
            ],
        ),
        (
            "prompt_text,response_text,model_name\np,r,m\n",
            [
                (
                    "1: there is no column response_id. "
                    "Add it, or indicator_id, convo_id, turn_index and seed to make it from."
                )
            ],
        ),
        (
            "item_id,trace_id,prompt_text,response_text,model\n1,2,p,r,m\n",
            [
                (
                    "1: columns item_id and trace_id both name the response. "
                    "Rename the one that does, to response_id."
                )
            ],
        ),
        (
            "response_id,prompt_text,response_text,model\na1,p,r,m\n,p,r,m\na2,p,r, \n",
            [
                "3:response_id: a response without an id. Fill it in.",
                "4:model: a response without a model. Fill it in.",
            ],
        ),
        (
            "item_id,prompt_text,response_text,model\na1,p,r,m\na2,p,r,m\na1,p,other,m\n",
            ['4:item_id: "a1" is repeated, first in line 2. Keep one of the two rows.'],
        ),
        (
            "convo_id,seed,prompt_text,response_text,model\nc,1,p,r,m\nc,1.0,p,r,m\n",
            [
                (
                    '3: convo_id "c", model_name "m", seed "1" is repeated, first in line 2. '
                    "Keep one of the two rows."
                )
            ],
        ),
        (
            (
                "response_id,turn_index,prompt_text,response_text,model\na,1.5,p,r,m\nb,first,p,r,m\n"
                "c,-1,p,r,m\nd,1e300,p,r,m\n"
            ),
            [
                '2:turn_index: "1.5" is not a whole number. Count turns 1, 2, 3.',
                '3:turn_index: "first" is not a whole number. Count turns 1, 2, 3.',
                '4:turn_index: "-1" is not a whole number. Count turns 1, 2, 3.',
                '5:turn_index: "1e300" is not a whole number. Count turns 1, 2, 3.',
            ],
        ),
    ],
)
def test_what_is_wrong_with_responses_is_reported(
    write: Write, reported: Reported, text: str, problems: list[str]
) -> None:
    folder = write({"responses.csv": text})

    assert reported(lambda: responses(folder)) == [
        f"responses.csv:{problem}" for problem in problems
    ]


def test_repeated_response_is_reported_beside_what_is_wrong_with_its_labels(
    write: Write, reported: Reported
) -> None:
    labels = "response_id,rater_id,question_id,rating\na1,anna,safe,1\na1,ben,safe,7\n"
    folder = write({"responses.csv": f"{RESPONSES}a1,Why?,So.,m1\n", "labels.csv": labels})

    first, second = reported(lambda: responses(folder))

    assert first.startswith('responses.csv:4:response_id: "a1" is repeated')
    assert second.startswith("labels.csv:3:rating: ")


def test_null_is_not_an_answer(write: Write, reported: Reported) -> None:
    text = '{"response_id": "a1", "prompt_text": "p", "response_text": null, "model": "m"}'
    folder = write({"evaluation.yaml": EVALUATION_OF_JSONL, "r.jsonl": text})

    assert reported(lambda: responses(folder)) == [
        'r.jsonl:1:response_text: null is not an answer. Write "" if the model answered nothing.'
    ]


def test_problems_of_all_files_are_reported_at_once(write: Write, reported: Reported) -> None:
    folder = write(
        {
            "responses.csv": "response_id,prompt_text,response_text,model\na,p,r\nb,p,r,\n",
            "responses/b.csv": b"\xff\xfea",
            "responses/c.doc": "x",
        }
    )

    assert [message.split(": ")[0] for message in reported(lambda: responses(folder))] == [
        "responses.csv:2",
        "responses.csv:3:model",
        "responses/b.csv:1",
        "responses/c.doc",
    ]


RATED = """\
name: test
rubric: [{id: safe, question: Is it safe, scale: binary}]
judges:
  - {id: j1, provider: recorded, scores: scores.csv, model: j1}
  - {id: j2, provider: recorded, scores: others.csv, model: j2}
"""


def test_faults_of_responses_do_not_hide_those_of_labels_and_scores(
    write: Write, reported: Reported
) -> None:
    """The ids of all responses are known, so labels and scores are checked as ever."""
    folder = write(
        {
            "evaluation.yaml": RATED,
            "responses.csv": "response_id,prompt_text,response_text,model\na1,p,r,\na2,p,r,m\n",
            "labels.csv": "response_id,rater_id,rating\na1,anna,1\na2,anna,7\nb9,anna,1\n",
            "scores.csv": "response_id,judge_model,score\na1,j1,1\nc9,j1,1\n",
            "others.csv": "response_id,judge_model,score\na1,j2,1\na1,j2,0\n",
        }
    )

    assert [message.split(". ")[0] for message in reported(lambda: responses(folder))] == [
        "responses.csv:2:model: a response without a model",
        'labels.csv:3:rating: 7 is not on the scale of "safe"',
        'labels.csv:4:response_id: "b9" is not a response of this evaluation',
        'scores.csv:3:response_id: "c9" is not a response of this evaluation',
        'others.csv:3:score: a second score of "a1" on "safe", the first is in line 2',
    ]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("response_id,prompt_text,response_text,model\na1,p,r\n", "responses.csv:2"),
        ("response_id,prompt_text,response_text,model\n,p,r,m\n", "responses.csv:2:response_id"),
        ("item_id,trace_id,prompt_text,response_text,model\na1,a1,p,r,m\n", "responses.csv:1"),
    ],
)
def test_labels_of_responses_that_could_not_be_read_are_one_line(
    write: Write, reported: Reported, value: str, fault: str
) -> None:
    labels = "".join(f"a{number},anna,{1 + number // 999}\n" for number in range(1000))
    folder = write(
        {
            "evaluation.yaml": RATED.split("judges:", maxsplit=1)[0],
            "responses.csv": value,
            "labels.csv": f"response_id,rater_id,rating\n{labels}",
        }
    )

    first, *rest = reported(lambda: responses(folder))

    assert first.split(": ")[0] == fault
    assert rest == [
        (
            "labels.csv: 1000 rows name responses not found among those that could be read. "
            "Repair the responses first, then run again."
        )
    ]


def test_without_a_column_that_limits_a_question_its_labels_are_not_at_fault(
    write: Write, reported: Reported
) -> None:
    rubric = "[{id: safe, question: Is it safe, scale: binary, applies_to: {topic: [law]}}]"
    folder = write(
        {
            "evaluation.yaml": f"name: test\nrubric: {rubric}\n",
            "labels.csv": "response_id,rater_id,rating\na1,anna,1\na2,anna,7\n",
        }
    )

    assert [message.split(". ")[0] for message in reported(lambda: responses(folder))] == [
        "evaluation.yaml:rubric: topic limits a question, but no response has such a column",
        'labels.csv:3:rating: 7 is not on the scale of "safe"',
    ]
