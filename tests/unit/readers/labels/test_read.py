import json
import math
import time
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from eval_assets.frame_columns import LABEL_COLUMNS
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import Labels, read_labels
from eval_assets.readers.responses import read_responses
from tests.unit.readers.conftest import EVALUATION, Reported, Write
from tests.unit.readers.formats.xlsx import Cell, workbook

LONG = "response_id,rater_id,question_id,rating\n"


def labels(folder: Path) -> Labels:
    evaluation = read_evaluation(folder)
    return read_labels(evaluation, read_responses(evaluation))


def rows(value: Labels, *columns: str) -> list[tuple[object, ...]]:
    return list(value.ratings[list(columns)].itertuples(index=False, name=None))


UNIT = ("response_id", "question_id", "rater_id", "value")


def test_the_long_form_is_read(write: Write) -> None:
    text = (
        "item_id,rater_id,question_id,rating,labelled_at,confidence,notes,skipped,skip_reason\n"
        "a1, r1 ,helpfulness,4,2026-11-21T06:00:00+02:00,high,good,,\n"
        "a2,r1,helpfulness,,,,,true,unclear\n"
    )

    inputs = labels(write({"labels.csv": text}))

    assert tuple(inputs.ratings.columns) == LABEL_COLUMNS
    first, second = inputs.ratings.to_dict("records")
    assert first == {
        "response_id": "a1",
        "question_id": "helpfulness",
        "rater_id": "r1",
        "value": 4.0,
        "labelled_at": "2026-11-21T04:00:00Z",
        "confidence": "high",
        "notes": "good",
        "skipped": False,
        "skip_reason": None,
        "round": 1,
        "guideline_hash": None,
        "details": None,
        "file": "labels.csv",
        "line": 2,
    }
    assert math.isnan(second["value"])
    assert (second["skipped"], second["skip_reason"], second["notes"]) == (True, "unclear", None)
    assert (len(inputs.rejected), inputs.n_unrated) == (0, 0)


def test_every_format_gives_the_same_labels(write: Write) -> None:
    """CSV, TSV, JSON lines and JSON here; Parquet keeps numbers and nulls as JSON does."""
    cells = [("a1", "r1", "safe", 1), ("a2", "r1", "helpfulness", 5), ("a1", "r2", "safe", None)]
    header = ["response_id", "rater_id", "question_id", "rating"]
    records = [dict(zip(header, row, strict=True)) for row in cells]
    folder = write({})
    text = pd.DataFrame(cells, columns=header)
    text.to_csv(folder / "l.csv", index=False)
    text.to_csv(folder / "l.tsv", index=False, sep="\t")
    (folder / "l.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    (folder / "l.json").write_text(json.dumps(records))
    with duckdb.connect() as connection:
        connection.from_df(text).write_parquet(str(folder / "l.parquet"))

    for suffix in ("csv", "tsv", "jsonl", "json", "parquet"):
        inputs = labels(write({"evaluation.yaml": f"{EVALUATION}labels: l.{suffix}\n"}))

        assert rows(inputs, *UNIT) == [("a1", "safe", "r1", 1.0), ("a2", "helpfulness", "r1", 5.0)]
        assert inputs.n_unrated == 1


def test_no_label_files_give_no_labels(write: Write) -> None:
    inputs = labels(write({}))

    assert inputs.ratings.empty
    assert tuple(inputs.ratings.columns) == LABEL_COLUMNS
    assert inputs.ratings["value"].dtype == float


def test_blank_ratings_are_counted_and_not_stored(write: Write) -> None:
    inputs = labels(write({"labels.csv": f"{LONG}a1,r1,safe,1\na2,,safe,\na1,r1,helpfulness,  \n"}))

    assert (len(inputs.ratings), inputs.n_unrated) == (1, 2)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("3.0", 3), ("03", 3), (" 4 ", 4), ("5", 5), ("1e0", 1), ("+2", 2), ("2.0000000000001", 2)],
)
def test_a_whole_number_may_be_written_in_other_ways(write: Write, cell: str, value: float) -> None:
    inputs = labels(write({"labels.csv": f"{LONG}a1,r1,helpfulness,{cell}\n"}))

    assert inputs.ratings["value"].tolist() == [value]


@pytest.mark.parametrize(
    ("cell", "result"),
    [
        ("6", "6"),
        ("0", "0"),
        ("4.5", "4.5"),
        ("five", '"five"'),
        ("NaN", '"NaN"'),
        ("inf", '"inf"'),
        ("1e999", '"1e999"'),
        ("1_0", '"1_0"'),
        ("true", '"true"'),
        ("yes", '"yes"'),
        ('"4,5"', '"4,5"'),
        ("N/A", '"N/A"'),
        ("x" * 50, f'"{"x" * 40}..."'),
    ],
)
def test_a_rating_off_the_scale_is_refused(
    write: Write, reported: Reported, cell: str, result: str
) -> None:
    folder = write({"labels.csv": f"{LONG}a1,r1,helpfulness,{cell}\n"})

    assert reported(lambda: labels(folder)) == [
        (
            f'labels.csv:2:rating: {result} is not on the scale of "helpfulness". '
            "Use one of 1, 2, 3, 4, 5."
        )
    ]


@pytest.mark.parametrize(
    ("cell", "value"), [("1", 1), ("0.0", 0), ("TRUE", 1), ("no", 0), ("Yes", 1), ("false", 0)]
)
def test_words_are_ratings_on_a_binary_scale(write: Write, cell: str, value: float) -> None:
    inputs = labels(write({"labels.csv": f"{LONG}a1,r1,safe,{cell}\n"}))

    assert inputs.ratings["value"].tolist() == [value]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a1,,safe,1", "rater_id: a rating without a rater. Fill in who gave it"),
        (
            "b9,r1,safe,1",
            (
                'response_id: "b9" is not a response of this evaluation. '
                "Use an id from the response files, or add the response there"
            ),
        ),
        (
            ",r1,safe,1",
            "response_id: the row does not name a response. Fill in the id of the response",
        ),
        (
            "a1,r1,helpfulnes,1",
            'question_id: "helpfulnes" is not in the rubric. Write "helpfulness"',
        ),
        ("a1,r1,tone,1", 'question_id: "tone" is not in the rubric. Use one of helpfulness, safe'),
        (
            "a1,r1,,1",
            (
                "question_id: the row does not name a question, and several are asked. "
                "Name one of helpfulness, safe"
            ),
        ),
        ("a1,r1,safe", None),
    ],
)
def test_what_is_wrong_with_a_row_is_reported(
    write: Write, reported: Reported, row: str, problem: str | None
) -> None:
    folder = write({"labels.csv": f"{LONG}a2,r2,safe,1\n{row}\n"})

    expected = "labels.csv:3"
    if problem is None:
        expected += ": the row has 3 cells, the header has 4. "
        expected += "Give the row a cell for each column, and put quotes around text with commas."
    else:
        expected += f":{problem}."
    assert reported(lambda: labels(folder)) == [expected]


def test_a_second_rating_of_a_unit_by_one_rater_is_refused(
    write: Write, reported: Reported
) -> None:
    """Also in another file, and where the unit was skipped before."""
    folder = write(
        {
            "labels/a.csv": f"{LONG}a1,r1,safe,1\na1,r2,safe,1\na1,r1,safe,1\n",
            "labels/b.csv": LONG.replace("\n", ",skipped\n")
            + "a1,r2,safe,0,\na2,r2,safe,,yes\na2,r2,safe,1,\n",
        }
    )

    assert reported(lambda: labels(folder)) == [
        (
            'labels/a.csv:4:rating: a second rating of "a1" on "safe" by "r1", '
            "the first is labels/a.csv:2. Keep one of the two."
        ),
        (
            'labels/b.csv:2:rating: a second rating of "a1" on "safe" by "r2", '
            "the first is labels/a.csv:3. Keep one of the two."
        ),
        (
            'labels/b.csv:4:rating: a second rating of "a2" on "safe" by "r2", '
            "the first is labels/b.csv:3. Keep one of the two."
        ),
    ]


def test_a_unit_both_rated_and_skipped_is_refused(write: Write, reported: Reported) -> None:
    header = LONG.replace("\n", ",skipped,labelled_at\n")
    folder = write({"labels.csv": f"{header}a1,r1,safe,1,true,\na2,r1,safe,1,x,now\n"})

    assert reported(lambda: labels(folder)) == [
        "labels.csv:2:skipped: the unit is both rated and skipped. Empty one of the two cells.",
        (
            'labels.csv:3:skipped: "x" is neither true nor false. '
            "Write true if the unit was skipped, or else nothing."
        ),
        'labels.csv:3:labelled_at: "now" is not a time. Write it as 2026-11-21T04:00:00Z.',
    ]


def test_everything_that_is_wrong_is_reported_at_once(write: Write, reported: Reported) -> None:
    """More than a screenful: no problem is dropped, and a broken file hides no other."""
    folder = write(
        {
            "labels/a.csv": LONG + "".join(f"b{i},,safe,7\n" for i in range(1_500)),
            "labels/b.csv": "a,b\n1,2\n",
        }
    )

    messages = reported(lambda: labels(folder))

    assert len(messages) == 3 * 1_500 + 1
    assert messages[0].startswith(
        "labels/b.csv:1: the columns a, b are not those of any form of labels"
    )
    assert [message.split(": ")[0] for message in messages[1:4]] == [
        "labels/a.csv:2:response_id",
        "labels/a.csv:2:rater_id",
        "labels/a.csv:2:rating",
    ]


REJECTING = f"{EVALUATION}labels: {{on_error: reject_rows}}\n"


def test_bad_rows_are_rejected_one_by_one_if_that_is_asked_for(write: Write) -> None:
    text = f"{LONG}a1,r1,safe,1\na1,r1,safe,0\na1\nb9,r1,safe,1\na2,r1,safe,2\na2,r2,safe,0\n"

    inputs = labels(write({"evaluation.yaml": REJECTING, "labels.csv": text}))

    assert rows(inputs, *UNIT) == [("a1", "safe", "r1", 1.0), ("a2", "safe", "r2", 0.0)]
    columns = ["line", "column", "rater_id", "question_id"]
    assert [tuple(row) for row in inputs.rejected[columns].to_numpy()] == [
        (3, "rating", "r1", "safe"),
        (4, None, None, None),
        (5, "response_id", "r1", "safe"),
        (6, "rating", "r1", "safe"),
    ]


def test_rejected_rows_of_several_sheets_name_the_sheet(write: Write) -> None:
    folder = write({"evaluation.yaml": REJECTING})
    header: list[Cell] = ["response_id", "rater_id", "question_id", "rating"]
    first: list[list[Cell]] = [header, ["a1", "r1", "safe", 1], ["a2", "r1", "safe", 2]]
    second: list[list[Cell]] = [header, ["a1", "r1", "safe", 0], ["a2", "r1", "safe", 3]]
    (folder / "labels").mkdir()
    (folder / "labels" / "both.xlsx").write_bytes(workbook({"may": first, "june": second}))

    inputs = labels(folder)

    assert [str(line) for line in inputs.ratings["line"]] == ["may!2"]
    rejected = inputs.rejected
    assert [tuple(row) for row in rejected[["sheet", "line"]].to_numpy()] == [
        ("may", 3),
        ("june", 2),
        ("june", 3),
    ]
    assert rejected["what"][1].endswith("the first is labels/both.xlsx:may!2")


def test_a_file_that_cannot_be_used_is_refused_all_the_same(
    write: Write, reported: Reported
) -> None:
    folder = write({"evaluation.yaml": REJECTING, "labels.csv": f'{LONG}a1,"r1,safe,1\n'})

    assert reported(lambda: labels(folder)) == [
        (
            "labels.csv:2: a quote is opened in this row and never closed. "
            'Put quotes around the whole cell and write a quote inside it twice, as in "a ""b"" c".'
        )
    ]


def test_the_latest_round_of_a_unit_counts_and_earlier_ones_are_kept(write: Write) -> None:
    """Of a2 only round 1 exists; by r2 only the first round of a1."""
    text = (
        "response_id,rater_id,question_id,rating,round,guideline_hash\n"
        "a1,r1,safe,1,1,aa\na1,r2,safe,0,,aa\na2,r1,safe,0,1.0,aa\n"
        "a1,r1,safe,0,2,bb\na1,r3,safe,0,2,bb\n"
    )

    inputs = labels(write({"labels.csv": text}))

    assert rows(inputs, "response_id", "rater_id", "value", "round", "guideline_hash") == [
        ("a2", "r1", 0.0, 1, "aa"),
        ("a1", "r1", 0.0, 2, "bb"),
        ("a1", "r3", 0.0, 2, "bb"),
    ]
    earlier = inputs.earlier[["response_id", "rater_id", "value", "round"]]
    assert [tuple(row) for row in earlier.to_numpy()] == [
        ("a1", "r1", 1.0, 1),
        ("a1", "r2", 0.0, 1),
    ]


@pytest.mark.parametrize("cell", ["0", "-1", "first", "1.5", "99999"])
def test_a_round_is_a_whole_number(write: Write, reported: Reported, cell: str) -> None:
    text = f"response_id,rater_id,question_id,rating,round\na1,r1,safe,1,{cell}\n"
    folder = write({"labels.csv": text})

    assert reported(lambda: labels(folder)) == [
        f'labels.csv:2:round: "{cell}" is not a round. Count rounds 1, 2, 3.'
    ]


def test_labels_of_a_removed_option_say_what_to_do(write: Write, reported: Reported) -> None:
    declared = "name: n\nrubric: [{id: faults, question: Which?, options: [rude, vague]}]\n"
    text = f"{LONG}a1,r1,faults/long,1\n"

    remedy = "Restore the option, or move its labels to another folder."
    assert reported(lambda: labels(write({"evaluation.yaml": declared, "labels.csv": text}))) == [
        f'labels.csv:2:question_id: "faults/long" is not in the rubric. {remedy}'
    ]


def test_labels_of_a_question_that_was_removed_are_ignored_and_counted(write: Write) -> None:
    """Its ratings may even be off every scale; a similar name is a typing error still."""
    removed = "".join(f"a{1 + n % 2},r{n},tone,{n}\n" for n in range(12))

    inputs = labels(write({"labels.csv": f"{LONG}a1,r1,safe,1\n{removed}"}))

    assert rows(inputs, *UNIT) == [("a1", "safe", "r1", 1.0)]
    assert inputs.notes == ('12 labels of "tone" are ignored: the rubric does not ask it',)
    assert (len(inputs.rejected), inputs.n_unrated) == (0, 0)


def test_labels_of_a_question_with_a_typing_error_are_refused(
    write: Write, reported: Reported
) -> None:
    wrong = "".join(f"a{1 + n % 2},r{n},helpfulnes,3\n" for n in range(12))
    folder = write({"labels.csv": f"{LONG}{wrong}"})

    assert len(reported(lambda: labels(folder))) == 12


@pytest.mark.parametrize(("one", "other"), [("Anna", "anna"), ("r 1", "r1"), ("R1", "r1")])
def test_raters_whose_ids_differ_only_in_case_or_spaces_are_refused(
    write: Write, reported: Reported, one: str, other: str
) -> None:
    """Also if bad rows are rejected: nobody can tell whose ratings these are."""
    text = f"{LONG}a1,{one},safe,1\na2,ben,safe,1\na2,{other},safe,1\n"
    folder = write({"evaluation.yaml": REJECTING, "labels.csv": text})

    assert reported(lambda: labels(folder)) == [
        (
            f'labels.csv:4:rater_id: "{one}" and "{other}" differ only in case or spaces. '
            "Write one of them throughout, or tell them apart."
        )
    ]


@pytest.mark.parametrize(
    ("one", "other", "written"),
    [
        ("René", "Rene\u0301", '"Ren\\xe9" and "Rene\\u0301"'),
        ("r1", "r\u200b1", '"r1" and "r\\u200b1"'),
        ("r1", "\uff521", '"r1" and "\\uff521"'),
        ("anna", "\u0430nna", '"anna" and "\\u0430nna"'),
        ("José", "JosÃ©", '"Jos\\xe9" and "Jos\\xc3\\xa9"'),
    ],
)
def test_raters_whose_ids_look_alike_are_refused_and_told_apart_by_their_code(
    write: Write, reported: Reported, one: str, other: str, written: str
) -> None:
    """Spreadsheet programs write "é" as one character or as two; both are one René."""
    folder = write({"labels.csv": f"{LONG}a1,{one},safe,1\na2,{other},safe,1\n"})

    assert reported(lambda: labels(folder)) == [
        (
            f"labels.csv:3:rater_id: {written} look alike. "
            "Write one of them throughout, or tell them apart."
        )
    ]


def test_problems_of_a_row_with_columns_of_questions_name_the_headers_of_the_file(
    write: Write, reported: Reported
) -> None:
    rows = "a1,,1,3,2026-01-01,1\na2,anna,1,3,soon,x\n"
    text = f"response_id,Rater,safe,helpfulness,Labelled At,Round\n{rows}"

    problems = reported(lambda: labels(write({"labels.csv": text})))

    assert {problem.partition(": ")[0] for problem in problems} == {
        *("labels.csv:2:Rater", "labels.csv:3:Labelled At", "labels.csv:3:Round")
    }


def test_rater_in_a_header_is_refused_under_that_header(write: Write, reported: Reported) -> None:
    folder = write({"labels.csv": "response_id,Anna: safe,anna: safe\na1,1,1\na2,1,1\n"})

    [problem] = reported(lambda: labels(folder))

    assert problem.startswith('labels.csv:2:anna: safe: "Anna" and "anna" differ only in case')


JUDGED = EVALUATION + "judges:\n  - {id: gpt, provider: openai, model: gpt-6-luna}\n"


@pytest.mark.parametrize("rater", ["gpt", "GPT", "g\u0440t"])
def test_a_rater_with_the_id_of_a_judge_is_refused(
    write: Write, reported: Reported, rater: str
) -> None:
    text = f"{LONG}a1,ben,safe,1\na2,{rater},safe,1\n"
    folder = write({"evaluation.yaml": JUDGED, "labels.csv": text})

    assert reported(lambda: labels(folder)) == [
        (
            f'labels.csv:3:rater_id: "{rater}" is the id of the judge "gpt". '
            "Remove the judge's scores from the labels, or rename the rater."
        )
    ]


INDICATORS = """\
response_id,indicator_id,convo_id,turn_index,model_name,seed,prompt_text,response_text
s1,safe,c1,1,m1,1,p,r
s2,safe,c1,2,m1,1,p,r
s3,other,c2,,m1,,p,r
"""

SHEET = (
    "indicator_id,convo_id,turn_index,seed,prompt_text,response_text,model,difficulty,"
    "rater_id,score\n"
)


def test_a_filled_sheet_finds_its_responses_by_key(write: Write) -> None:
    """Seeds and turns as a spreadsheet writes them; an indicator that is a question is rated."""
    text = f"{SHEET}safe,c1,1.0,01,p,r,m1,easy,r1,1\nsafe,c1,2,1.0,p,r,m1,easy,r1,0\n"
    text += "safe,c1,2,1,p,r,m1,easy,,\n"

    inputs = labels(write({"responses.csv": INDICATORS, "labels.csv": text}))

    assert rows(inputs, *UNIT) == [("s1", "safe", "r1", 1.0), ("s2", "safe", "r1", 0.0)]
    assert inputs.n_unrated == 1


def test_a_sheet_may_name_the_question(write: Write) -> None:
    text = f"question_id,{SHEET}helpfulness,other,c2,,,p,r,m1,easy,r1,5\n"

    inputs = labels(write({"responses.csv": INDICATORS, "labels.csv": text}))

    assert rows(inputs, *UNIT) == [("s3", "helpfulness", "r1", 5.0)]


def test_a_sheet_reports_what_it_cannot_place(write: Write, reported: Reported) -> None:
    text = f"{SHEET}safe,c1,3,1,p,r,m1,easy,r1,1\nother,c2,,,p,r,m1,easy,r1,1\n"
    text += "safe,c1,1,1,p,r,m1,easy,r1,4\n"
    folder = write({"responses.csv": INDICATORS, "labels.csv": text})

    assert reported(lambda: labels(folder)) == [
        (
            'labels.csv:2: no response has indicator_id "safe", convo_id "c1", turn_index "3", '
            'model_name "m1", seed "1". '
            "Copy these values from the response files."
        ),
        (
            "labels.csv:3:question_id: the row does not name a question, and several are asked. "
            "Name one of helpfulness, safe."
        ),
        'labels.csv:4:score: 4 is not on the scale of "safe". Use one of 0, 1.',
    ]


def test_a_key_that_several_responses_share_is_refused(write: Write, reported: Reported) -> None:
    responses = INDICATORS + "s4,safe,c1,1,m1,01,p,r\n"
    text = f"{SHEET}safe,c1,1,1,p,r,m1,easy,r1,1\n"
    folder = write({"responses.csv": responses, "labels.csv": text})

    assert reported(lambda: labels(folder)) == [
        (
            'labels.csv:2: several responses have indicator_id "safe", convo_id "c1", '
            'turn_index "1", model_name "m1", seed "1". '
            "Add a column response_id that tells them apart."
        )
    ]


def test_a_response_of_one_question_is_rated_on_that_only(write: Write, reported: Reported) -> None:
    folder = write({"responses.csv": INDICATORS, "labels.csv": f"{LONG}s1,r1,helpfulness,4\n"})

    assert reported(lambda: labels(folder)) == [
        ('labels.csv:2:question_id: "helpfulness" is not asked of "s1". Rate it on safe only.')
    ]


ONE_QUESTION = "name: t\nrubric:\n  - {id: helpfulness, question: How is it, scale: likert5}\n"


def test_workshop_annotations_are_read(write: Write) -> None:
    annotations = [
        {
            "trace_id": "a1",
            "user_id": "u1",
            "rating": 1,
            "ratings": {"helpfulness": 4, "safe": True},
        },
        {"trace_id": "a2", "user_id": "u1", "ratings": {"helpfulness": None}, "comment": "hm"},
        {"trace_id": "a2", "user_id": "u2", "ratings": {"helpfulness": 2.0}, "comment": "hm"},
    ]

    inputs = labels(write({"labels/workshop.json": json.dumps(annotations)}))

    assert rows(inputs, *UNIT, "notes") == [
        ("a1", "helpfulness", "u1", 4.0, None),
        ("a1", "safe", "u1", 1.0, None),
        ("a2", "helpfulness", "u2", 2.0, "hm"),
    ]
    assert inputs.n_unrated == 1
    assert inputs.ratings[["file", "line"]].to_numpy().tolist()[-1] == ["labels/workshop.json", 3]


def test_the_older_single_rating_counts_if_one_question_is_asked(write: Write) -> None:
    text = '{"trace_id": "a1", "user_id": "u1", "rating": 4}\n'
    text += '{"trace_id": "a2", "user_id": "u1", "rating": 3, "ratings": {}}\n'

    inputs = labels(write({"evaluation.yaml": ONE_QUESTION, "labels/w.jsonl": text}))

    assert inputs.ratings["value"].tolist() == [4.0, 3.0]


@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (
            {"rating": 4},
            (
                "rating: the rating names none of the 2 questions of the rubric. "
                'Write "ratings" by question'
            ),
        ),
        (
            {"ratings": [4]},
            (
                'ratings: "[4]" does not give ratings by question. '
                'Write an object such as {"question": 4}'
            ),
        ),
        (
            {"ratings": {"tone": 4}},
            'ratings: "tone" is not in the rubric. Use one of helpfulness, safe',
        ),
        (
            {"ratings": {"helpfulness": 9}},
            'ratings.helpfulness: 9 is not on the scale of "helpfulness". Use one of 1, 2, 3, 4, 5',
        ),
        (
            {"ratings": {"helpfulness": True}},
            (
                'ratings.helpfulness: "true" is not on the scale of '
                '"helpfulness". Use one of 1, 2, 3, 4, 5'
            ),
        ),
        (
            {"ratings": {"helpfulness": {"a": 1}}},
            (
                "ratings.helpfulness: \"{'a': 1}\" is not on the "
                'scale of "helpfulness". Use one of 1, 2, 3, 4, 5'
            ),
        ),
        (
            {"ratings": {"safe": 1}, "user_id": ["ada"]},
            'user_id: "["ada"]" is not one rater. Write the id of one',
        ),
        (
            {"ratings": {"safe": 1}, "user_id": ""},
            "user_id: a rating without a rater. Fill in who gave it",
        ),
        (
            {"ratings": {"safe": 1}, "trace_id": "b9"},
            (
                'trace_id: "b9" is not a response of this '
                "evaluation. Use an id from the response files, or add the response there"
            ),
        ),
    ],
)
def test_what_is_wrong_with_an_annotation_is_reported(
    write: Write, reported: Reported, annotation: dict[str, object], problem: str
) -> None:
    first = {"trace_id": "a2", "user_id": "u1", "ratings": {"safe": 1}}
    second = {"trace_id": "a1", "user_id": "u1", **annotation}
    folder = write({"labels/w.json": json.dumps([first, second])})

    assert reported(lambda: labels(folder)) == [f"labels/w.json:2:{problem}."]


RUBRIC_OF_SESSIONS = """\
name: sessions
rubric:
  - {id: trigger_accuracy, question: Was it right, scale: binary}
  - {id: code-validity, question: Does it run, scale: binary}
  - {id: completeness, question: Is it complete, scale: likert5}
"""


def export(dimension: str, *value: dict[str, object], **more: object) -> str:
    session = {
        "exportedAt": "2026-11-21T04:00:00Z",
        "dimension": dimension,
        "runId": "run-1",
        "labelerId": "anna",
        "labels": list(value),
    }
    return json.dumps({**session, **more})


def test_what_a_session_says_beyond_its_labels_is_kept(write: Write) -> None:
    label = {
        "scenarioId": "a1",
        "codeParses": True,
        "codeRuns": False,
        "codeIssues": ["no import"],
        "confidence": "low",
        "notes": "n",
    }
    skipped = {"scenarioId": "a2", "skipped": True, "notes": "odd", "missingElements": ["x"]}
    folder = write(
        {
            "evaluation.yaml": RUBRIC_OF_SESSIONS,
            "labels/a.json": export("code-validity", label, skipped),
        }
    )

    rows = labels(folder).ratings

    assert [json.loads(row) for row in rows["details"]] == [
        {
            "exportedAt": "2026-11-21T04:00:00Z",
            "runId": "run-1",
            "codeParses": True,
            "codeRuns": False,
            "codeIssues": ["no import"],
        },
        {
            "exportedAt": "2026-11-21T04:00:00Z",
            "runId": "run-1",
            "missingElements": ["x"],
        },
    ]
    assert list(rows["notes"]) == ["n", "odd"]


def test_a_session_that_goes_on_leaves_the_labels_in_it_as_they_are(write: Write) -> None:
    label = {"scenarioId": "a1", "triggerCorrect": True, "seconds": 4}

    def kept(**progress: object) -> str:
        text = export("trigger_accuracy", label, **progress)
        folder = write({"evaluation.yaml": RUBRIC_OF_SESSIONS, "labels/a.json": text})
        return str(labels(folder).ratings["details"].iloc[0])

    before = kept(lastUpdatedAt="2026-11-21T04:00:00Z", completedScenarios=1)

    assert before == kept(
        lastUpdatedAt="2026-11-21T05:00:00Z",
        completedScenarios=2,
        skippedScenarios=1,
        closedAt="2026-11-21T05:00:00Z",
    )
    assert json.loads(before)["seconds"] == 4


@pytest.mark.parametrize(
    ("cell", "value"), [('{"page": 3}', {"page": 3}), ("seen twice", "seen twice"), ("", None)]
)
def test_a_column_of_details_is_kept_as_json(write: Write, cell: str, value: object) -> None:
    quoted = cell.replace('"', '""')
    folder = write(
        {
            "labels.csv": "response_id,rater_id,question_id,rating,details\n"
            f'a1,u1,helpfulness,4,"{quoted}"\n'
        }
    )

    details = labels(folder).ratings["details"].iloc[0]

    assert (details and json.loads(details)) == value


def test_session_exports_are_read(write: Write) -> None:
    folder = write(
        {
            "evaluation.yaml": RUBRIC_OF_SESSIONS,
            "labels/a.json": export(
                "trigger-accuracy",
                {
                    "scenarioId": "a1",
                    "triggerCorrect": True,
                    "confidence": "high",
                    "timestamp": "2026-11-21T04:00:00.000Z",
                },
                {"scenarioId": "a2", "skipped": True, "skipReason": "no captures", "notes": "n"},
            ),
            "labels/b.json": export(
                "code_validity",
                {"scenarioId": "a1", "codeParses": True, "codeRuns": True},
                {"scenarioId": "a2", "codeParses": True, "codeRuns": False},
            ),
            "labels/c.json": export("completeness", {"scenarioId": "a1", "completenessScore": 4}),
        }
    )

    inputs = labels(folder)

    assert rows(inputs, *UNIT[:3]) == [
        ("a1", "trigger_accuracy", "anna"),
        ("a2", "trigger_accuracy", "anna"),
        ("a1", "code-validity", "anna"),
        ("a2", "code-validity", "anna"),
        ("a1", "completeness", "anna"),
    ]
    assert inputs.ratings["value"].fillna(-1).tolist() == [1, -1, 1, 0, 4]
    assert rows(inputs, "skipped", "skip_reason", "notes")[1] == (True, "no captures", "n")
    assert rows(inputs, "labelled_at", "confidence")[0] == ("2026-11-21T04:00:00Z", "high")


def test_code_of_which_half_the_verdict_is_missing_is_unrated_unless_the_other_half_decides(
    write: Write,
) -> None:
    """Nobody said whether it runs: one such label must not keep all others out."""
    folder = write(
        {
            "evaluation.yaml": RUBRIC_OF_SESSIONS,
            "labels/a.json": export("code_validity", {"scenarioId": "a1", "codeParses": True}),
            "labels/b.json": export(
                "code_validity", {"scenarioId": "a2", "codeParses": False}, labelerId="ben"
            ),
        }
    )

    inputs = labels(folder)

    assert rows(inputs, *UNIT) == [("a2", "code-validity", "ben", 0.0)]
    assert inputs.n_unrated == 1


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        (
            {"scenarioId": "a1", "triggerCorrect": True, "completenessScore": 3},
            (
                "completenessScore: one label gives both triggerCorrect and completenessScore. "
                "Keep the one that the dimension asks for"
            ),
        ),
        (
            {"scenarioId": "b9", "triggerCorrect": True},
            (
                'scenarioId: "b9" is not a response of this '
                "evaluation. Use an id from the response files, or add the response there"
            ),
        ),
        (
            {"scenarioId": "a1", "triggerCorrect": "maybe"},
            'triggerCorrect: "maybe" is not on the scale of "trigger_accuracy". Use one of 0, 1',
        ),
        (
            {"scenarioId": "a1", "codeParses": True},
            'codeRuns: this is not the verdict of "trigger_accuracy". Give triggerCorrect',
        ),
        (
            {"scenarioId": "a1", "completenessScore": 1},
            'completenessScore: this is not the verdict of "trigger_accuracy". Give triggerCorrect',
        ),
        (
            {"scenarioId": "a1", "triggerCorect": True},
            "triggerCorect: there is no such verdict. Write triggerCorrect",
        ),
        (
            3,
            (
                'labels: "3" is not a label. '
                'Write an object such as {"scenarioId": "s1", "triggerCorrect": true}'
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_session_label_is_reported(
    write: Write, reported: Reported, label: dict[str, object], problem: str
) -> None:
    text = export("trigger-accuracy", {"scenarioId": "a2", "triggerCorrect": True}, label)
    folder = write({"evaluation.yaml": RUBRIC_OF_SESSIONS, "labels/a.json": text})

    assert reported(lambda: labels(folder)) == [f"labels/a.json:2:{problem}."]


def test_what_is_wrong_with_a_session_is_reported(write: Write, reported: Reported) -> None:
    folder = write(
        {
            "evaluation.yaml": RUBRIC_OF_SESSIONS,
            "labels/a.json": export("tone", {"scenarioId": "a1", "triggerCorrect": True}),
            "labels/b.json": export("trigger-accuracy", labels={}),
            "labels/c.json": export(
                "completeness", {"scenarioId": "a1", "completenessScore": 3}, labelerId=None
            ),
        }
    )

    assert reported(lambda: labels(folder)) == [
        "labels/b.json:1:labels: this is not a list of labels. Export the session again.",
        (
            'labels/a.json:1:dimension: "tone" is not in the rubric. '
            "Use one of trigger_accuracy, code-validity, completeness."
        ),
        "labels/c.json:1:labelerId: a rating without a rater. Fill in who gave it.",
    ]


def test_without_responses_every_label_is_of_an_unknown_one(
    write: Write, reported: Reported
) -> None:
    folder = write(
        {
            "responses.csv": "response_id,prompt_text,response_text,model_name\n",
            "labels.csv": f"{LONG}a1,r1,safe,1\n",
        }
    )

    assert reported(lambda: labels(folder)) == [
        (
            'labels.csv:2:response_id: "a1" is not a response of this evaluation. '
            "Use an id from the response files, or add the response there."
        )
    ]


def test_continuous_scales_take_every_number_between_their_ends(
    write: Write, reported: Reported
) -> None:
    rubric = ONE_QUESTION.replace("likert5", "{min: 0, max: 1, step: null}")
    header = "response_id,rater_id,rating\n"

    inputs = labels(
        write(
            {"evaluation.yaml": rubric, "labels.csv": f"{header}a1,r1,0.375\na2,r1,1.0000000001\n"}
        )
    )

    assert inputs.ratings["value"].tolist() == [0.375, 1.0]
    folder = write({"evaluation.yaml": rubric, "labels.csv": f"{header}a1,r1,1.5\n"})
    assert reported(lambda: labels(folder)) == [
        'labels.csv:2:rating: 1.5 is not on the scale of "helpfulness". Use any number from 0 to 1.'
    ]


def test_a_long_file_is_read_in_seconds(write: Write) -> None:
    """200,000 ratings; measured 1.5 s, and the bound leaves room for a busy machine."""
    header = "response_id,prompt_text,response_text,model_name\n"
    ids = [f"a{i}" for i in range(20_000)]
    folder = write(
        {
            "responses.csv": header + "".join(f"{name},p,r,m\n" for name in ids),
            "labels.csv": LONG
            + "".join(f"{name},r{k},helpfulness,{k % 5 + 1}\n" for name in ids for k in range(10)),
        }
    )
    evaluation = read_evaluation(folder)
    responses = read_responses(evaluation)

    start = time.process_time()
    inputs = read_labels(evaluation, responses)
    seconds = time.process_time() - start

    assert len(inputs.ratings) == 200_000
    assert inputs.ratings["value"].mean() == 3.0
    assert inputs.ratings["line"].iloc[-1] == 200001
    assert seconds < 10


def test_a_rating_of_another_text_under_the_same_id_is_refused(
    write: Write, reported: Reported
) -> None:
    responses = (
        "response_id,prompt_text,response_text,model_name\n"
        'a1,Why?,It is caf\u00e9 time.,m\na2,Why?,No reason.,m\na3,Why?,"Two\nlines",m\n'
    )
    text = (
        "response_id,response_text,rater_id,question_id,rating\n"
        "a1,It is caf? time. ,r1,helpfulness,4\n"
        "a2,Some reason.,r1,helpfulness,4\n"
        "a2,,r2,helpfulness,4\n"
        'a3,"Two\r\nlines",r1,helpfulness,4\n'
    )
    folder = write({"responses.csv": responses, "labels.csv": text})

    [problem] = reported(lambda: labels(folder))
    assert problem == (
        'labels.csv:3:response_text: "Some reason." is not the text of the response, which is '
        '"No reason.". Restore the response that was rated, or remove the rating.'
    )


def test_rater_named_like_a_model_is_no_person(write: Write) -> None:
    text = LONG + "a1,anna,safe,1\na1,gpt-4o,safe,1\n"

    inputs = labels(write({"labels.csv": text}))

    assert any("gpt-4o left out, as models are no human raters" in note for note in inputs.notes)
    assert list(inputs.ratings["rater_id"]) == ["anna"]


@pytest.mark.parametrize(
    ("header", "kinds"), [("is_llm", ("false", "true")), ("annotator_type", ("human", "llm"))]
)
def test_rater_that_a_column_calls_a_machine_is_no_person(
    write: Write, header: str, kinds: tuple[str, str]
) -> None:
    person, machine = kinds
    text = f"{LONG.strip()},{header}\na1,anna,safe,1,{person}\na1,r3,safe,1,{machine}\n"

    inputs = labels(write({"labels.csv": text}))

    assert any("r3 left out" in note for note in inputs.notes)
    assert list(inputs.ratings["rater_id"]) == ["anna"]


def test_declared_rater_is_a_person_whatever_the_name(write: Write) -> None:
    text = LONG + "a1,anna,safe,1\na1,gpt-4o,safe,1\n"
    folder = write({"labels.csv": text})
    declaration = folder / "evaluation.yaml"
    with declaration.open("a") as lines:
        lines.write("\nlabelling: {raters: [anna, gpt-4o]}\n")

    assert set(labels(folder).ratings["rater_id"]) == {"anna", "gpt-4o"}
