"""Real data come out as expected in the forms in which people bring them.

Real data are not part of the repository: see test_expected_figures.py.
"""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval_assets.readers import import_files, write_draft
from tests.e2e.conftest import Evaluated
from tests.e2e.test_expected_figures import (
    HUMANS,
    HUMANS_OVERALL,
    JUDGES_AND_HUMANS,
    REAL_DATA,
    differences,
    with_real_data,
)
from tests.unit.readers.formats.xlsx import Cell, workbook

N_JUDGES = 2
Row = dict[str, str]


def rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def as_label_studio(source: Path, models: list[str]) -> str:
    """Return tasks with an annotation for each rater and a prediction for each model."""
    given: dict[str, dict[str, list[Row]]] = {}
    for row in rows(source / "labels.csv"):
        given.setdefault(row["item_id"], {}).setdefault(row["rater_id"], []).append(row)
    scored: dict[str, dict[str, list[Row]]] = {}
    for row in rows(source / "judge_scores.csv"):
        if row["judge_model"] in models and row["score"]:
            by_model = scored.setdefault(row["item_id"], {})
            by_model.setdefault(row["judge_model"], []).append({**row, "rating": row["score"]})

    def results(of: list[Row]) -> list[dict[str, Any]]:
        return [
            {
                "from_name": row["question_id"],
                "to_name": "text",
                "type": "number",
                "value": {"number": float(row["rating"])},
            }
            for row in of
        ]

    tasks = [
        {
            "id": number,
            "data": response,
            "annotations": [
                {"id": place, "completed_by": {"email": rater}, "result": results(of)}
                for place, (rater, of) in enumerate(given.get(response["item_id"], {}).items())
            ],
            "predictions": [
                {"model_version": model, "result": results(of)}
                for model, of in scored.get(response["item_id"], {}).items()
            ],
        }
        for number, response in enumerate(rows(source / "responses.csv"))
    ]
    return json.dumps(tasks)


def as_wide(source: Path) -> list[list[str]]:
    """Return a header and a row for each response, with a column for each rater and question."""
    labels = rows(source / "labels.csv")
    columns = sorted({(row["rater_id"], row["question_id"]) for row in labels})
    several = len({question for _, question in columns}) > 1
    value = {(row["item_id"], row["rater_id"], row["question_id"]): row["rating"] for row in labels}
    header = [f"{rater}: {question}" if several else rater for rater, question in columns]
    return [
        ["Response ID", *header],
        *(
            [item, *(value.get((item, *column), "") for column in columns)]
            for item in dict.fromkeys(row["item_id"] for row in labels)
        ),
    ]


@with_real_data
@pytest.mark.parametrize("form", ["label-studio", "wide-xlsx", "semicolons"])
@pytest.mark.parametrize("name", ["conala_code", "hanna"])
def test_real_data_have_their_figures_in_every_form(tmp_path: Path, name: str, form: str) -> None:
    source = Path(REAL_DATA or "") / name
    expected: dict[str, Any] = json.loads((source / "expected.json").read_text("utf-8"))
    models = list(expected["judge_vs_human"])[:N_JUDGES]
    folder = Evaluated(tmp_path / name)
    if form == "label-studio":
        (tmp_path / "export.json").write_text(as_label_studio(source, models))
        tool, imported = import_files([tmp_path / "export.json"], source=None)
        assert tool == form
        write_draft(imported, folder.path, name=name, tool=tool)
    else:
        folder.path.mkdir()
        shutil.copy(source / "responses.csv", folder.path)
        human_side = (source / "evaluation.yaml").read_text("utf-8").split("judges:")[0]
        (folder.path / "evaluation.yaml").write_text(human_side)
        header, *body = as_wide(source)
        if form == "semicolons":
            with (folder.path / "labels.csv").open("w", encoding="cp1252", newline="") as file:
                csv.writer(file, delimiter=";").writerows([header, *body])
        else:
            sheet: list[list[Cell]] = [
                [*header],
                *([row[0], *(float(cell) if cell else None for cell in row[1:])] for row in body),
            ]
            (folder.path / "labels.xlsx").write_bytes(workbook({"Sheet1": sheet}))

    folder.materialize()

    wrong = differences(
        folder, "human_agreement", {"scope": "overall"}, expected["humans_overall"], HUMANS_OVERALL
    )
    for question, figures in expected["humans"].items():
        where: dict[str, str | None] = {"question_id": question}
        wrong += differences(folder, "human_agreement", where, figures, HUMANS)
    if form == "label-studio":
        given = folder.rows("SELECT model, judge_id FROM judges")
        judges = {str(model): str(judge) for model, judge in given}
        assert list(judges) == models
        for model, judge in judges.items():
            for question in expected["humans"]:
                figures = expected["judge_vs_human"][model][question]
                where = {"judge_id": judge, "question_id": question}
                wrong += differences(
                    folder, "judge_human_agreement", where, figures, JUDGES_AND_HUMANS
                )
    assert wrong == []
