"""Wide tables of labels, as spreadsheets of several raters are."""

import pytest

from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import Labels, read_labels
from eval_assets.readers.responses import read_responses
from tests.unit.readers.conftest import Reported, Write
from tests.unit.readers.formats.xlsx import Cell, workbook

ONE = "name: t\nrubric:\n  - {id: helpfulness, question: How is it, scale: likert5}\n"
UNIT = ["response_id", "question_id", "rater_id", "value"]


def labels(write: Write, table: str | bytes, *, rubric: str | None = None) -> Labels:
    name = "labels.csv" if isinstance(table, str) else "labels.xlsx"
    files = {name: table} | ({"evaluation.yaml": rubric} if rubric else {})
    evaluation = read_evaluation(write(files))
    return read_labels(evaluation, read_responses(evaluation))


def rows(value: Labels) -> set[tuple[object, ...]]:
    return set(value.ratings[UNIT].itertuples(index=False, name=None))


def test_a_column_for_each_rater_is_read(write: Write) -> None:
    """Semicolons and CRLF, as Excel writes them; a response's text is not a rating."""
    table = "Response ID;anna;ben;chloe;response_text\r\na1;4;5;;Because.\r\na2;1;2;3;\r\n"

    inputs = labels(write, table, rubric=ONE)

    assert rows(inputs) == {
        ("a1", "helpfulness", "anna", 4),
        ("a1", "helpfulness", "ben", 5),
        ("a2", "helpfulness", "anna", 1),
        ("a2", "helpfulness", "ben", 2),
        ("a2", "helpfulness", "chloe", 3),
    }
    assert inputs.n_unrated == 1
    assert inputs.unrated.empty  # nobody assigned a cell of the table
    assert inputs.notes == ("labels.csv: columns anna, ben, chloe read as raters",)
    assert inputs.ratings[["file", "line"]].to_numpy().tolist()[-1] == ["labels.csv", 3]


def test_a_spreadsheet_with_a_column_for_each_rater_is_read(write: Write) -> None:
    table = workbook({"S": [["response_id", "anna", "ben"], ["a1", 4, 5], ["a2", 1.0, None]]})

    inputs = labels(write, table, rubric=ONE)

    assert {(rater, value) for _, _, rater, value in rows(inputs)} == {
        ("anna", 4),
        ("ben", 5),
        ("anna", 1),
    }


def test_the_question_of_a_row_may_be_named(write: Write) -> None:
    table = "response_id,question_id,anna,ben\na1,helpfulness,4,5\na1,safe,1,0\n"

    inputs = labels(write, table)

    assert rows(inputs) == {
        ("a1", "helpfulness", "anna", 4),
        ("a1", "helpfulness", "ben", 5),
        ("a1", "safe", "anna", 1),
        ("a1", "safe", "ben", 0),
    }
    assert inputs.notes == ("labels.csv: columns anna, ben read as raters of helpfulness, safe",)


def test_a_column_for_each_question_is_read(write: Write) -> None:
    table = "response_id,Rater,Helpfulness,safe,notes\na1,anna,4,yes,fine\na1,ben,5,no,\n"

    inputs = labels(write, table)

    assert rows(inputs) == {
        ("a1", "helpfulness", "anna", 4),
        ("a1", "safe", "anna", 1),
        ("a1", "helpfulness", "ben", 5),
        ("a1", "safe", "ben", 0),
    }
    assert inputs.notes == (
        "labels.csv: columns Helpfulness, safe read as ratings of response_id by Rater",
    )
    assert inputs.ratings["notes"].tolist()[:2] == ["fine", "fine"]


def test_an_only_column_of_ratings_is_noted_in_the_singular(write: Write) -> None:
    inputs = labels(write, "response_id,Rater,safe\na1,anna,yes\na1,ben,no\n")

    assert inputs.notes == ("labels.csv: column safe read as ratings of response_id by Rater",)


@pytest.mark.parametrize(
    "header", ["{}: helpfulness,{}: safe", "{}_helpfulness,{}_safe", "helpfulness ({}),safe ({})"]
)
def test_a_column_for_each_rater_and_question_is_read(write: Write, header: str) -> None:
    headers = ",".join(header.format(name, name) for name in ("Anna", "Ben"))

    inputs = labels(write, f"response_id,{headers}\na1,4,1,5,0\n")

    assert rows(inputs) == {
        ("a1", "helpfulness", "Anna", 4),
        ("a1", "safe", "Anna", 1),
        ("a1", "helpfulness", "Ben", 5),
        ("a1", "safe", "Ben", 0),
    }
    [note] = inputs.notes
    columns = headers.replace(",", ", ")
    assert note == f"labels.csv: columns {columns} read as raters of helpfulness, safe"


def test_questions_that_are_called_like_ratings_have_their_columns(write: Write) -> None:
    rubric = ONE.replace("helpfulness", "quality")
    rubric += "  - {id: safe, question: Is it safe, scale: binary}\n"
    rows_of_file = "".join(f"a{n},{rater},{n},{n % 2}\n" for n in (1, 2) for rater in ("x", "y"))

    inputs = labels(write, f"item_id,rater,quality,safe\n{rows_of_file}", rubric=rubric)

    assert inputs.ratings["question_id"].value_counts().to_dict() == {"quality": 4, "safe": 4}


def test_a_rating_off_the_scale_is_reported_in_its_column(write: Write, reported: Reported) -> None:
    table = "response_id,anna,ben\na1,4,5\na2,3,9\n"

    assert reported(lambda: labels(write, table, rubric=ONE)) == [
        'labels.csv:3:ben: 9 is not on the scale of "helpfulness". Use one of 1, 2, 3, 4, 5.'
    ]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (
            "response_id,anna,ben\na1,1,1\n",
            (
                "labels.csv:1: columns anna, ben hold ratings, but not of which question. "
                "Add a column question_id, or name the columns by rater and question, "
                "as in anna: helpfulness."
            ),
        ),
        (
            "response_id,helpfulness,safe\na1,4,1\n",
            (
                "labels.csv:1: no column says who gave the ratings in helpfulness. "
                "Add a column rater_id, or name the columns by rater and question, "
                "as in anna: helpfulness."
            ),
        ),
    ],
)
def test_a_wide_table_that_leaves_something_open_is_refused(
    write: Write, reported: Reported, table: str, problem: str
) -> None:
    assert reported(lambda: labels(write, table)) == [problem]


def test_decimal_commas_are_read_between_semicolons(write: Write) -> None:
    rubric = ONE.replace("likert5", "{min: 0, max: 1, step: null}")

    inputs = labels(write, "response_id;anna;ben\na1;0,25;1\na2;,5;0,75\n", rubric=rubric)

    assert sorted(inputs.ratings["value"]) == [0.25, 0.5, 0.75, 1]


def test_words_of_the_scale_are_ratings(write: Write) -> None:
    rubric = ONE.replace("likert5", "{values: [Bad, OK, Good]}")

    inputs = labels(write, "response_id,anna,ben\na1,bad,GOOD\na2,ok,2\n", rubric=rubric)

    assert inputs.ratings["value"].tolist() == [0, 2, 1, 2]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "labels.csv",
            "ticket,reviewer,stars\na1,anna,4\na1,ben,5\na2,anna,2\na2,ben,1\n",
        ),
        (
            "labels.csv",
            "ticket,anna,ben,gpt-4o\na1,4,5,3\na2,2,1,3\n",
        ),
        (
            "labels.json",
            (
                '{"anna": {"a1": {"score": 4}, "a2": {"score": 2}}, '
                '"ben": {"a1": {"score": 5}, "a2": {"score": 1}}}'
            ),
        ),
        (
            "labels.jsonl",
            (
                '{"ticket": "a1", "by": [{"who": "anna", "s": 4}, {"who": "ben", "s": 5}]}\n'
                '{"ticket": "a2", "by": [{"who": "anna", "s": 2}, {"who": "ben", "s": 1}]}\n'
            ),
        ),
    ],
    ids=["long", "wide", "nested", "lists"],
)
def test_a_run_reads_what_check_reads(write: Write, name: str, content: str) -> None:
    evaluation = read_evaluation(write({"evaluation.yaml": ONE, name: content}))

    inputs = read_labels(evaluation, read_responses(evaluation))

    assert rows(inputs) == {
        ("a1", "helpfulness", "anna", 4),
        ("a1", "helpfulness", "ben", 5),
        ("a2", "helpfulness", "anna", 2),
        ("a2", "helpfulness", "ben", 1),
    }


def test_columns_of_names_that_no_form_has_are_noted(write: Write) -> None:
    table = "ticket,reviewer,stars\na1,anna,4\na1,ben,5\na2,anna,2\na2,ben,1\n"

    [note] = labels(write, table, rubric=ONE).notes

    assert note == "labels.csv: column stars read as ratings of ticket by reviewer"


def test_column_that_is_no_rating_by_its_name_is_noted(write: Write) -> None:
    table = "ticket,anna,ben,turn\na1,4,5,1\na2,2,1,2\n"

    notes = labels(write, table, rubric=ONE).notes

    assert notes[0] == "labels.csv: turn not read: an identifier or attribute by its name"


def test_the_sheet_of_ratings_is_read_behind_one_of_notes(write: Write) -> None:
    about: list[list[Cell]] = [["About", "this file"], ["Rated in", "May"]]
    ratings: list[list[Cell]] = [["ticket", "anna", "ben"], ["a1", 4, 5], ["a2", 1, 2]]

    inputs = labels(write, workbook({"About": about, "Ratings": ratings}), rubric=ONE)

    assert len(inputs.ratings) == 4
    assert [str(line) for line in inputs.ratings["line"].unique()] == ["Ratings!2", "Ratings!3"]


def test_questions_of_a_form_are_rated_by_their_respondents(write: Write) -> None:
    table = (
        "Timestamp,Email Address,Ticket,Helpfulness,Safe\n"
        "2026/01/02 10:00,anna@example.org,a1,4,1\n"
        "2026/01/02 10:01,ben@example.org,a1,5,1\n2026/01/02 10:02,anna@example.org,a2,2,0\n"
    )

    assert rows(labels(write, table)) == {
        ("a1", "helpfulness", "anna@example.org", 4),
        ("a1", "safe", "anna@example.org", 1),
        ("a1", "helpfulness", "ben@example.org", 5),
        ("a1", "safe", "ben@example.org", 1),
        ("a2", "helpfulness", "anna@example.org", 2),
        ("a2", "safe", "anna@example.org", 0),
    }


def test_unknown_items_of_a_form_without_names_are_refused(
    write: Write, reported: Reported
) -> None:
    table = "ticket,reviewer,stars\na1,anna,4\na1,ben,5\nz9,anna,2\nz9,ben,9\n"

    problems = reported(lambda: labels(write, table, rubric=ONE))

    assert [problem.partition(". ")[0] for problem in problems] == [
        'labels.csv:4:ticket: "z9" is not a response of this evaluation',
        'labels.csv:5:ticket: "z9" is not a response of this evaluation',
        'labels.csv:5:stars: 9 is not on the scale of "helpfulness"',
    ]
