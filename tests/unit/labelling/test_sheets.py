import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import Labelling
from eval_assets.errors import InputError
from eval_assets.labelling.rater_queue import work_of
from eval_assets.labelling.rater_view import guideline_hash, keyed_codes, response_views
from eval_assets.labelling.sheets import (
    SHEET_COLUMNS,
    neutralised,
    sheet_text,
    write_sheet,
)
from tests.unit.labelling.conftest import CLARITY, CORRECT, evaluation_of, response_rows

ROWS: list[dict[str, object]] = [
    {"indicator_id": "i", "convo_id": "c1", "turn_index": 1, "seed": "0"},
    {"indicator_id": "i", "convo_id": "c1", "turn_index": 2, "seed": "0", "difficulty": "easy"},
]


def rows_of(
    evaluation: Evaluation, rows: list[dict[str, object]], **settings: object
) -> list[dict[str, str]]:
    responses = response_rows(rows)
    units = work_of("anna", evaluation, response_views(evaluation, responses), None)
    text = sheet_text(responses, units, **settings)  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(text)))


def test_the_header_is_exactly_that_of_the_format(tmp_path: Path) -> None:
    sheet = rows_of(evaluation_of(tmp_path, rubric=(CLARITY,)), ROWS)

    assert tuple(sheet[0]) == SHEET_COLUMNS
    assert {row["rater_id"] for row in sheet} == {"anna"}
    assert {row["score"] for row in sheet} == {""}
    assert {row["model"] for row in sheet} == {"m1"}


def test_a_reworded_question_has_its_fingerprint_after_the_header(tmp_path: Path) -> None:
    sheet = rows_of(evaluation_of(tmp_path, rubric=(CLARITY,)), ROWS, reworded={CLARITY.id})

    assert tuple(sheet[0]) == (*SHEET_COLUMNS, "guideline_hash")
    assert {row["guideline_hash"] for row in sheet} == {guideline_hash(CLARITY)}


def test_rows_name_their_question_if_their_response_has_several(tmp_path: Path) -> None:
    """Also if the rater has only one of them."""
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY, CORRECT))
    responses = response_rows(ROWS)
    units = work_of("anna", evaluation, response_views(evaluation, responses), None)

    text = sheet_text(responses, [unit for unit in units if unit.question is CLARITY])

    assert {row["question_id"] for row in csv.DictReader(io.StringIO(text))} == {CLARITY.id}


def test_turns_of_a_conversation_follow_one_another(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"indicator_id": "i", "convo_id": f"c{number}", "turn_index": turn, "seed": "0"}
        for turn in (2, 1, 3)
        for number in range(4)
    ]

    sheet = rows_of(evaluation_of(tmp_path, rubric=(CLARITY,)), rows)

    assert [row["turn_index"] for row in sheet] == ["1", "2", "3"] * 4
    assert all(len({row["convo_id"] for row in sheet[n : n + 3]}) == 1 for n in range(0, 12, 3))
    assert "history" not in sheet[0]


def test_turns_that_are_not_in_the_sheet_stand_in_its_last_column(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY,))
    responses = response_rows(ROWS)
    units = work_of("anna", evaluation, response_views(evaluation, responses), None)
    second = [unit for unit in units if unit.response.earlier]

    [row] = csv.DictReader(io.StringIO(sheet_text(responses, second)))

    assert list(row)[-1] == "history"
    assert row["history"] == (
        f"Prompt: {responses['prompt_text'][0]}\nResponse: {responses['response_text'][0]}"
    )


def test_several_questions_are_told_apart_by_a_column(evaluation: Evaluation) -> None:
    sheet = rows_of(evaluation, ROWS)

    assert tuple(sheet[0]) == (*SHEET_COLUMNS, "question_id")
    assert [row["question_id"] for row in sheet] == ["clarity"] * 2 + ["correct"] * 2


def test_responses_that_the_header_cannot_tell_apart_are_named_by_their_id(tmp_path: Path) -> None:
    sheet = rows_of(evaluation_of(tmp_path, rubric=(CLARITY,)), [{}, {}])

    assert tuple(sheet[0]) == (*SHEET_COLUMNS, "response_id")
    assert {row["response_id"] for row in sheet} == {"a0", "a1"}


def test_a_blind_sheet_names_neither_model_nor_response(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY,))
    [one, two] = rows_of(evaluation, ROWS, codes=keyed_codes(tmp_path))
    [by_id, _] = rows_of(evaluation, [{}, {}], codes=keyed_codes(tmp_path))
    other_study = keyed_codes(tmp_path / "other")

    assert one["model"] == two["model"] == keyed_codes(tmp_path).of_model("i", "c1", "m1")
    assert one["model"] != other_study.of_model("i", "c1", "m1")
    assert by_id["response_id"] == keyed_codes(tmp_path).of("a0")


def test_a_hidden_column_is_empty_in_the_sheet_too(tmp_path: Path) -> None:
    hide = ("difficulty",)
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY,), labelling=Labelling(hide=hide))

    assert {row["difficulty"] for row in rows_of(evaluation, ROWS, hide=hide)} == {""}


def test_a_later_round_is_named(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY,), labelling=Labelling(round=2))

    assert rows_of(evaluation, ROWS)[0]["round"] == "2"


def test_formulas_are_written_as_text(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{**ROWS[0], "response_text": '=HYPERLINK("x")'}]
    [line] = rows_of(evaluation_of(tmp_path, rubric=(CLARITY,)), rows)

    assert line["response_text"] == '\'=HYPERLINK("x")'


@given(st.text(alphabet="'=+-@\t\r\nab1."), st.text(alphabet="'=+-@\t\r\nab1."))
def test_a_neutralised_cell_is_not_a_formula_and_differs_if_the_cells_do(
    one: str, two: str
) -> None:
    assert not neutralised(one).startswith(("=", "@", "\t", "\r"))
    assert (neutralised(one) == neutralised(two)) == (one == two)


def test_an_empty_sheet_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "labels" / "anna.csv"
    write_sheet(path, "score,rater_id\r\n,anna\r\n")
    write_sheet(path, "score,rater_id\r\n,ben\r\n")

    assert path.read_bytes() == b"\xef\xbb\xbfscore,rater_id\r\n,ben\r\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbfscore,rater_id\r\n4,anna\r\n,anna\r\n", "1 scores are filled in"),
        (b"score;rater_id\r\n4;anna\r\n", "not a sheet as it was written"),
        ("score,rater_id\r\n4,ann\xe9\r\n".encode("cp1252"), "saved by another program"),
    ],
)
def test_a_sheet_that_may_hold_scores_is_never_replaced(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "anna.csv"
    path.write_bytes(content)

    with pytest.raises(InputError, match=message):
        write_sheet(path, "score\r\n")
    assert path.read_bytes() == content
