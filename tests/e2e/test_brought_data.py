"""Data come out as expected in the forms in which people bring them."""

import csv
import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval_assets.cli.evaluation_drafts import draft_of_export
from eval_assets.readers.importers.tool_exports import import_files
from tests.e2e.conftest import Evaluated
from tests.e2e.test_expected_figures import (
    DATA,
    HUMANS,
    HUMANS_OVERALL,
    JUDGES_AND_HUMANS,
    STUDIES,
    differences,
)
from tests.fake_provider.server import running
from tests.unit.readers.formats.xlsx import Cell, workbook

N_JUDGES = 2
Row = dict[str, str]


def rows(path: Path) -> list[Row]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def as_label_studio(source: Path, models: list[str]) -> str:
    """Return tasks with an annotation for each rater and a prediction for each model."""
    inputs: dict[str, dict[str, list[Row]]] = {}
    for row in rows(source / "labels.csv"):
        inputs.setdefault(row["response_id"], {}).setdefault(row["rater_id"], []).append(row)
    scored: dict[str, dict[str, list[Row]]] = {}
    for row in rows(*source.glob("judge_scores.csv*")):
        if row["judge_model"] in models and row["score"]:
            by_model = scored.setdefault(row["response_id"], {})
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
                for place, (rater, of) in enumerate(inputs.get(response["response_id"], {}).items())
            ],
            "predictions": [
                {"model_version": model, "result": results(of)}
                for model, of in scored.get(response["response_id"], {}).items()
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
    value = {
        (row["response_id"], row["rater_id"], row["question_id"]): row["rating"] for row in labels
    }
    header = [f"{rater}: {question}" if several else rater for rater, question in columns]
    return [
        ["Response ID", *header],
        *(
            [item, *(value.get((item, *column), "") for column in columns)]
            for item in dict.fromkeys(row["response_id"] for row in labels)
        ),
    ]


MEASURED = (
    *("rubric_questions", "model_responses", "human_labels", "judge_scores"),
    *("human_agreement", "judge_agreement", "judge_human_agreement"),
)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["label-studio", "wide-xlsx", "semicolons"])
@pytest.mark.parametrize("name", list(STUDIES))
def test_real_data_have_their_figures_in_every_form(tmp_path: Path, name: str, form: str) -> None:
    source = DATA / name
    expected = STUDIES[name]
    models = list(expected["judge_vs_human"])[:N_JUDGES]
    folder = Evaluated(tmp_path / name)
    if form == "label-studio":
        (tmp_path / "export.json").write_text(as_label_studio(source, models))
        imported = import_files([tmp_path / "export.json"])
        assert imported.tool == form
        draft_of_export(imported, folder.path)
        with (folder.path / "evaluation.yaml").open("a") as declared:
            declared.write("\ntuning: {holdout: false}\n")
    else:
        folder.path.mkdir()
        shutil.copy(source / "responses.csv", folder.path)
        human_side = (source / "evaluation.yaml").read_text("utf-8").split("\njudges:")[0]
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

    folder.materialize(*MEASURED, checks=False)

    wrong = differences(
        folder, "human_agreement", {"scope": "overall"}, expected["humans_overall"], HUMANS_OVERALL
    )
    for question, figures in expected["humans"].items():
        condition: dict[str, str | None] = {"question_id": question}
        wrong += differences(folder, "human_agreement", condition, figures, HUMANS)
    if form == "label-studio":
        inputs = folder.rows("SELECT model, judge_id FROM judges")
        judges = {str(model): str(judge) for model, judge in inputs}
        assert sorted(judges) == sorted(models)
        for model, judge in judges.items():
            for question in expected["humans"]:
                figures = expected["judge_vs_human"][model][question]
                condition = {"judge_id": judge, "question_id": question}
                wrong += differences(
                    folder, "judge_human_agreement", condition, figures, JUDGES_AND_HUMANS
                )
    assert wrong == []


CRITERIA = {"p1": ("cites", "warns", "compares"), "p2": ("greets", "asks", "answers", "closes")}
N_OF_PROMPT = 4


@pytest.mark.slow
def test_criteria_that_belong_to_prompts_are_asked_of_their_responses_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three and four criteria of two prompts: 28 units, where 56 would be asked of all."""
    folder = Evaluated(tmp_path / "data")
    folder.path.mkdir()
    answers = [(f"{p}-{n}", p, f"m{n % 2}") for p in CRITERIA for n in range(N_OF_PROMPT)]
    write_csv(
        folder.path / "responses.csv",
        ["response_id", "prompt_id", "prompt_text", "response_text", "model_name"],
        [[name, p, f"Prompt {p}", f"Answer {name}", model] for name, p, model in answers],
    )
    write_csv(
        folder.path / "rubric.csv",
        ["question_id", "question", "scale", "level", "prompt_id"],
        [
            [q, f"It {q}", "0-1:0.25", "interval", p]
            for p, requested in CRITERIA.items()
            for q in requested
        ],
    )
    write_csv(
        folder.path / "labels.csv",
        ["response_id", "rater_id", "question_id", "rating"],
        [
            [name, rater, question, n % 5 / 4]
            for n, (name, p, _) in enumerate(answers)
            for question in CRITERIA[p]
            for rater in ("anna", "ben")
        ],
    )
    (folder.path / "evaluation.yaml").write_text(
        "name: points\nrubric: rubric.csv\njudges:\n"
        "  - {id: gpt, provider: openai, model: gpt-6-luna}\n"
        "  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}\n"
    )
    with running() as provider:
        keys = {"OPENAI_API_KEY": "sk-a-key-of-a-test", "ANTHROPIC_API_KEY": "sk-a-key-of-a-test"}
        for name, value in (provider.environment | keys).items():
            monkeypatch.setenv(name, value)
        folder.materialize(*MEASURED, checks=False)
        n_requests = len(provider.log.completions)

    n_units = N_OF_PROMPT * sum(map(len, CRITERIA.values()))
    assert n_requests == 2 * n_units
    by_prompt = """
        SELECT split_part(response_id, '-', 1), question_id FROM judge_scores
        GROUP BY ALL HAVING count(*) = 8 ORDER BY ALL
    """
    assert folder.rows(by_prompt) == sorted(
        (p, q) for p, requested in CRITERIA.items() for q in requested
    )
    people = "SELECT question_id, n_responses, a_hh FROM human_agreement WHERE scope = 'question'"
    assert sorted(folder.rows(people)) == sorted(
        (q, N_OF_PROMPT, 1.0) for requested in CRITERIA.values() for q in requested
    )
    assert folder.rows("SELECT n_units FROM judge_agreement WHERE scope = 'overall'") == [
        (n_units,)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("value", ["score", "raw_output"])
def test_scores_of_conversations_are_compared_with_the_mean_rating_of_their_turns(
    tmp_path: Path, value: str
) -> None:
    """A judge who gives each conversation the mean of its turns is right, score or reply alone."""
    folder = Evaluated(tmp_path / "data")
    folder.path.mkdir()
    ratings = {"c1": (1, 5), "c2": (2, 2), "c3": (4, 2), "c4": (5, 5), "c5": (1, 1)}
    turns = [
        (f"{convo}-{turn}", convo, turn, rating)
        for convo, turns in ratings.items()
        for turn, rating in enumerate(turns, start=1)
    ]
    write_csv(
        folder.path / "responses.csv",
        ["response_id", "convo_id", "turn_index", "prompt_text", "response_text", "model_name"],
        [[name, convo, turn, "Go on.", f"Turn {name}", "m"] for name, convo, turn, _ in turns],
    )
    write_csv(
        folder.path / "labels.csv",
        ["response_id", "rater_id", "rating"],
        [[name, rater, rating] for name, _, _, rating in turns for rater in ("anna", "ben")],
    )
    write_csv(
        folder.path / "scores.csv",
        ["convo_id", "model_name", value],
        [[convo, "m", sum(turns) // 2] for convo, turns in ratings.items()],
    )
    (folder.path / "evaluation.yaml").write_text(
        "name: talks\nrubric: [{id: kind, question: How kind is it, scale: likert5}]\n"
        "judges: [{id: whole, provider: recorded, scores: scores.csv}]\n"
    )

    folder.materialize(*MEASURED, checks=False)

    assert folder.rows("SELECT status, score, count(*) FROM judge_scores GROUP BY ALL") == [
        ("conversation", None, len(turns))
    ]
    compared = "SELECT unit, n_units, a_ha, pearson, mae FROM judge_human_agreement"
    assert folder.rows(compared) == [("conversation", len(ratings), 1.0, pytest.approx(1), 0.0)]


def write_csv(path: Path, header: list[str], body: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *body])
