"""Sheets that we write are read back, however a spreadsheet program saved them."""

import csv
import io
from pathlib import Path

import pytest

from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.sheets import sheet_text
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from tests.unit.readers.formats.xlsx import Cell, workbook

DECLARED = """\
name: made-up
rubric:
  - {id: clarity, question: How clear is it?, scale: likert5}
  - {id: correct, question: Is it correct?, scale: binary}
labelling: {raters: [anna]}
"""
KEYED = '''\
indicator_id,convo_id,turn_index,model_name,seed,prompt_text,response_text
i,=c1,1,+m,01,"Prompt; with ""quotes""","=1+1
second line"
i,=c1,2,+m,01,Grüße,- a list
'''
NAMED = """\
response_id,prompt_text,response_text,model_name
=a,p,r,m
'b,p,r,m
"""


def filled(text: str, score: str) -> list[list[str]]:
    """The rows of a sheet with a score in each."""
    header, *rows = csv.reader(io.StringIO(text))
    place = header.index("score")
    return [header, *([*row[:place], score, *row[place + 1 :]] for row in rows)]


def saved(rows: list[list[str]], *, delimiter: str, encoding: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode(encoding)


@pytest.mark.parametrize("blind", [True, False], ids=["blind", "named"])
@pytest.mark.parametrize("responses", [KEYED, NAMED], ids=["keys", "ids"])
@pytest.mark.parametrize(
    ("delimiter", "encoding"),
    [(",", "utf-8-sig"), (";", "cp1252"), (";", "utf-8"), ("\t", "utf-16")],
    ids=["as written", "Excel in Europe", "LibreOffice", "Excel's Unicode text"],
)
def test_a_filled_sheet_is_read_back(
    tmp_path: Path, responses: str, delimiter: str, encoding: str, *, blind: bool
) -> None:
    (tmp_path / "evaluation.yaml").write_text(DECLARED)
    (tmp_path / "responses.csv").write_text(responses)
    (tmp_path / "labels").mkdir()
    evaluation = read_evaluation(tmp_path)
    inputs = read_responses(evaluation)
    study = Study(evaluation, response_views(evaluation, inputs))
    text = sheet_text(inputs, study.queue("anna").units, codes=study.codes if blind else None)
    rows = filled(text, "1")
    (tmp_path / "labels" / "anna.csv").write_bytes(
        saved(rows, delimiter=delimiter, encoding=encoding)
    )

    result = read_labels(read_evaluation(tmp_path), inputs)

    assert len(result.ratings) == 4
    assert set(result.ratings["rater_id"]) == {"anna"}
    assert set(result.ratings["value"]) == {1.0}


def test_a_sheet_saved_as_a_workbook_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "evaluation.yaml").write_text(DECLARED)
    (tmp_path / "responses.csv").write_text(KEYED)
    (tmp_path / "labels").mkdir()
    inputs = read_responses(read_evaluation(tmp_path))
    evaluation = read_evaluation(tmp_path)
    study = Study(evaluation, response_views(evaluation, inputs))
    header, *rows = filled(sheet_text(inputs, study.queue("anna").units), "1")
    score, turn = header.index("score"), header.index("turn_index")
    cells: list[list[Cell]] = [[*header]]
    for row in rows:  # a spreadsheet program makes numbers of what looks like one
        typed = [float(cell) if k in {score, turn} else cell or None for k, cell in enumerate(row)]
        cells.append([*typed])
    (tmp_path / "labels" / "anna.xlsx").write_bytes(workbook({"Sheet1": cells}))

    result = read_labels(read_evaluation(tmp_path), inputs)

    assert len(result.ratings) == 4
    assert set(result.ratings["value"]) == {1.0}


def test_blank_rows_that_name_their_rater_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "evaluation.yaml").write_text(DECLARED)
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\na,p,r,m\nb,p,r,m\n"
    )
    (tmp_path / "labels.csv").write_text(
        "response_id,question_id,rater_id,rating\n"
        "a,clarity,anna,3\na,clarity,ben,\nb,clarity,anna,\nb,clarity,,\na,clarity,anna,\n"
    )
    evaluation = read_evaluation(tmp_path)

    labels = read_labels(evaluation, read_responses(evaluation))

    assert labels.n_unrated == 4
    unrated = labels.unrated[["response_id", "rater_id"]].astype(str)
    assert sorted(unrated.itertuples(index=False, name=None)) == [("a", "ben"), ("b", "anna")]
