"""`eval-assets init` writes a folder that can be used as it is."""

import json
import shlex
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.check import check
from eval_assets.cli.init import init
from eval_assets.errors import InputError
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.scale import BINARY, Scale


def test_folder_can_be_read_as_it_is(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path / "mine")])
    assert outcome.exit_code == 0, outcome.output
    evaluation = read_evaluation(tmp_path / "mine")
    responses = read_responses(evaluation)
    labels = read_labels(evaluation, responses)
    assert len(responses) == 24
    assert len(labels.ratings) == 24 * 2 * 2
    assert labels.rejected.empty


def test_the_command_to_run_next_can_be_copied_as_it_stands(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path / "of mine")])
    assert outcome.output.endswith(f"\nNow run: eval-assets run --data '{tmp_path}/of mine'\n")


def test_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("mine", encoding="utf-8")
    outcome = CliRunner().invoke(init, [str(tmp_path), "--example", "minimal"])
    assert isinstance(outcome.exception, InputError)
    assert "labels.csv already. Name another folder" in str(outcome.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert (tmp_path / "labels.csv").read_text("utf-8") == "mine"


def test_names_that_spreadsheets_would_run_are_written_as_texts_and_read_as_they_were(
    tmp_path: Path,
) -> None:
    names = ["=1+1", "+49 30", "-Carl", "@sum(a1)", "An\u202ena\x1b[31m"]
    rows = [f"=t{n},{name},{1 + (n + k) % 3}\n" for n in range(9) for k, name in enumerate(names)]
    file = tmp_path / "r.csv"
    file.write_text("ticket,rater,rating\n" + "".join(rows), encoding="utf-8")

    outcome = CliRunner().invoke(init, [str(file)])

    assert not {"\u202e", "\x1b"} & {*outcome.output}
    for table in ("responses.csv", "labels.csv"):
        lines = (tmp_path / "r" / table).read_text("utf-8").splitlines()[1:]
        assert not any(cell[:1] in "=+-@" for line in lines for cell in line.split(",") if cell)
    evaluation = read_evaluation(tmp_path / "r")
    labels = read_labels(evaluation, responses := read_responses(evaluation))
    assert {*labels.ratings["rater_id"]} == {*names}
    assert {*responses["response_id"]} == {f"=t{n}" for n in range(9)}


@pytest.mark.parametrize(
    ("example", "questions", "n_responses"),
    [
        (
            "labelling",
            ["trigger_accuracy", "code_validity", "technical_accuracy", "completeness"],
            8,
        ),
        ("relevance", ["relevance"], 8),
        ("pairwise", ["preference"], 6),
    ],
)
def test_examples_with_guidelines_can_be_labelled_as_they_are(
    tmp_path: Path, example: str, questions: list[str], n_responses: int
) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path), "--example", example])
    evaluation = read_evaluation(tmp_path)
    responses = read_responses(evaluation)
    study = Study(evaluation, response_views(evaluation, responses))

    assert "Now run: eval-assets serve --labels" in outcome.output
    assert [question.id for question in evaluation.rubric] == questions
    assert all(question.guidelines for question in evaluation.rubric)
    assert study.raters == ("anna", "ben")
    assert len(study.queue("anna").units) == n_responses * len(questions)


@pytest.mark.parametrize(("study", "n_labels"), [("code", 12_476), ("stories", 19_008)])
def test_published_study_is_written_as_an_evaluation(
    tmp_path: Path, study: str, n_labels: int
) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path), "--example", study])
    evaluation = read_evaluation(tmp_path)
    labels = read_labels(evaluation, read_responses(evaluation))

    assert outcome.exit_code == 0, outcome.output
    assert len(labels.ratings) == n_labels
    assert "MIT License" in (tmp_path / "LICENSES.md").read_text("utf-8")


def write_published_layout(folder: Path) -> None:
    """Write responses_merged, hij_scores and llm_scores as a published pipeline lays them out."""
    key = "indicator_id,convo_id,turn_index,seed"
    turns = [(f"L4_Care_{k % 2},c{k},{turn},1", k) for k in range(4) for turn in (1, 2)]
    responses = [f"{unit},user,Why?,easy,gemini,Because.,2026-01-01T00:00:00" for unit, _ in turns]
    ratings = [
        f"{unit},Why?,Because.,gemini,easy,{rater},{1 + k}"
        for unit, k in turns
        for rater in ("r1", "alice")
    ]
    scores = [f"L4_Care_{k % 2},c{k},gemini,1,{1 + k}" for k in range(4)]
    for name, header, rows in (
        (
            "responses/responses_merged.csv",
            f"{key},role,prompt_text,difficulty,model_name,response_text,timestamp",
            responses,
        ),
        (
            "scores/hij_scores.csv",
            f"{key},prompt_text,response_text,model,difficulty,rater_id,score",
            [*ratings, "L4_Care_0,c0,1,1,Why?,Because.,gemini,easy,,"],
        ),
        ("scores/llm_scores.csv", "indicator_id,convo_id,model_name,seed,aiescore", scores),
        ("scores/combined_scores.csv", "indicator_id,hij_rater_id,hij_score,llm_aiescore", []),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join([header, *rows]) + "\n")


def test_files_in_the_published_layout_are_declared_as_they_are(tmp_path: Path) -> None:
    write_published_layout(tmp_path)

    outcome = CliRunner().invoke(init, [str(tmp_path)])
    evaluation = read_evaluation(tmp_path)
    labels = read_labels(evaluation, read_responses(evaluation))

    assert outcome.exit_code == 0, outcome.output
    assert evaluation.labelling.show == ("model_name",)
    assert "raters see the name of the model" in outcome.output
    assert outcome.output.splitlines()[:4] == [
        "responses/responses_merged.csv: responses",
        "scores/hij_scores.csv: labels",
        "scores/llm_scores.csv: scores",
        "not used: scores/combined_scores.csv: it joins the other tables",
    ]
    assert {q.id: q.scale.values for q in evaluation.rubric} == {
        "L4_Care_0": (1, 2, 3),
        "L4_Care_1": (2, 3, 4),
    }
    assert [judge.id for judge in evaluation.judges] == ["llm_scores"]
    assert (len(labels.ratings), labels.n_unrated) == (16, 1)


def test_responses_of_several_tables_all_have_a_model(tmp_path: Path) -> None:
    """Two tables call it by two names, and a row may have neither."""
    (tmp_path / "published").mkdir()
    write_published_layout(tmp_path / "published")

    folder = tmp_path / "drafted"
    outcome = CliRunner().invoke(init, [str(tmp_path / "published"), str(folder)])
    responses = read_responses(read_evaluation(folder))  # refuses a response without a model

    assert outcome.exit_code == 0, outcome.output
    assert set(responses["model_name"]) <= {"gemini", "unknown"}


def test_prompts_alone_are_drafted_without_made_up_responses(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "prompts.tsv").write_text("convo_id\tprompt_text\nc1\tWhy?\n")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    assert outcome.exit_code == 0
    assert "name the models that respond to prompts/prompts.tsv, as generators" in outcome.output
    generators = "generators: [{id: m, provider: openai, model: gpt-6-luna}]\n"
    with (tmp_path / "evaluation.yaml").open("a") as file:
        file.write(generators)
    evaluation = read_evaluation(tmp_path)
    assert [path.name for path in evaluation.prompts] == ["prompts.tsv"]
    assert not (tmp_path / "responses.csv").exists()


@pytest.mark.parametrize("name", [".", "new"])
def test_rubric_and_prompts_of_the_published_layout_are_used(tmp_path: Path, name: str) -> None:
    write_published_layout(tmp_path)
    (tmp_path / "rubrics").mkdir()
    levels = "\n".join(f"- **{level}**: level {level} of care" for level in (4, 3, 2, 1))
    (tmp_path / "rubrics" / "hij_evaluation_rubric.md").write_text(
        f"# Rubric\nJudge the effect on the user.\n## L4_Care_0\n{levels}\n"
    )
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "prompts.tsv").write_text(
        "indicator_id\tconvo_id\tturn_index\tprompt_text\tdifficulty\nL4_Care_0\tc0\t1\tWhy?\teasy\n"
    )

    folder = tmp_path / name
    paths = dict.fromkeys([str(tmp_path), str(folder)])
    outcome = CliRunner().invoke(init, [*paths])

    assert outcome.exit_code == 0, outcome.output
    evaluation = read_evaluation(folder)
    first, second = evaluation.rubric
    assert [path.relative_to(folder).as_posix() for path in evaluation.prompts] == [
        "prompts/prompts.tsv"
    ]
    responses = read_responses(evaluation)
    scores = read_recorded_scores(evaluation, responses)[0]
    assert "conversation" in set(scores["status"])
    assert first.scale.values == (1, 2, 3, 4)
    assert "scale guessed" not in outcome.output
    assert str(first.guidelines).startswith("- **4**: level 4 of care")
    assert "Judge the effect on the user." in str(second.guidelines)
    assert evaluation.labelling.show == ("model_name",)


def test_a_folder_with_data_gets_what_it_lacks_and_keeps_the_rest(tmp_path: Path) -> None:
    labels = "response_id,anna,ben\na1,4,5\na2,1,2\n"
    (tmp_path / "labels.csv").write_text(labels)

    outcome = CliRunner().invoke(init, [str(tmp_path)])
    evaluation = read_evaluation(tmp_path)

    task = "fill in responses.csv, which has the ids of responses whose texts no file holds"
    assert outcome.output.endswith(
        f"\nTo do: {task}.\nThen run: eval-assets run --data {tmp_path}\n"
    )
    assert (tmp_path / "labels.csv").read_text() == labels
    assert len(read_labels(evaluation, read_responses(evaluation)).ratings) == 4


def test_a_folder_tells_how_its_file_was_read_as_the_file_alone_does(tmp_path: Path) -> None:
    rows = [(f"i{k}", 1 + k % 5, 1 + (k + (k == 3)) % 5) for k in range(30)]
    table = "item,Anna,Ben,average,Time\n" + "".join(f"{i},{a},{b},3,9\n" for i, a, b in rows)
    (tmp_path / "sheet").mkdir()
    for folder in (tmp_path, tmp_path / "sheet"):
        (folder / "sheet.csv").write_text(table)
    (tmp_path / "sheet" / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\n"
        + "".join(f"{item},Why?,Because.,m1\n" for item, _, _ in rows)
    )

    of_file = CliRunner().invoke(init, [str(tmp_path / "sheet.csv"), str(tmp_path / "mine")])
    of_folder = CliRunner().invoke(init, [str(tmp_path / "sheet")])

    notes = of_file.output.partition("wrote")[0].splitlines()
    assert notes[0] == "read 60 ratings by Anna, Ben."
    assert any(note.startswith("not read: sheet.csv:average: ") for note in notes)
    assert any(note.startswith("not read: sheet.csv:Time: ") for note in notes)
    assert set(notes) <= set(of_folder.output.splitlines())


def test_guessed_scales_and_unread_columns_of_labels_are_printed(tmp_path: Path) -> None:
    write_labelled_folder(tmp_path, [(f"r{k}", k % 2) for k in range(30)])
    table = (tmp_path / "labels.csv").read_text().splitlines()
    rows = [f"{row},{'Seed' if n == 0 else 7}\n" for n, row in enumerate(table)]
    (tmp_path / "labels.csv").write_text("".join(rows))

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    assert "scale guessed from the ratings: 0, 1 (faithful). Correct it in " in outcome.output
    assert "not read: labels.csv:Seed: an attribute.\n" in outcome.output


@pytest.mark.parametrize("header", ["item,anna,ben", "response_id,anna,ben"])
def test_ratings_of_responses_that_are_not_there_are_named(tmp_path: Path, header: str) -> None:
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\n"
        + "".join(f"r{k},Why?,Because {k}.,m1\n" for k in range(10))
    )
    rows = "".join(f"{'Q' if k < 2 else 'r'}{k},{1 + k % 5},{1 + k % 5}\n" for k in range(10))
    (tmp_path / "sheet.csv").write_text(f"{header}\n{rows}")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    note = "To do: 2 responses that responses.csv lacks are rated: Q0, Q1. "
    assert note in outcome.output
    assert outcome.output.endswith(f"\nThen run: eval-assets run --data {tmp_path}\n")


def test_a_mistyped_judge_score_does_not_widen_the_scale_of_labels(tmp_path: Path) -> None:
    rows = [(f"r{k}", k % 2) for k in range(30)]
    write_labelled_folder(tmp_path, [(item, rating) for item, rating in rows])
    scores = "".join(f"{item},gpt,faithful,{9 if item == 'r7' else of}\n" for item, of in rows)
    (tmp_path / "scores.csv").write_text(f"response_id,judge_model,question_id,score\n{scores}")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    assert [question.scale for question in evaluation.rubric] == [BINARY]
    assert "1 score of gpt off the scale not read" in outcome.output
    [judge_scores] = read_recorded_scores(evaluation, read_responses(evaluation))
    assert judge_scores["status"].value_counts().to_dict() == {"ok": 29, "out_of_range": 1}


def test_ratings_and_scores_with_decimal_commas_are_drafted_as_numbers(tmp_path: Path) -> None:
    for file, header, raters in (
        ("labels.csv", "response_id;rater_id;question_id;rating", "ab"),
        ("scores.csv", "response_id;judge_model;question_id;score", ["gpt-4o"]),
    ):
        rows = [f"r{k};{rater};{file};0,{k}5" for k in range(10) for rater in raters]
        (tmp_path / file).write_text("\n".join([header, *rows]))

    CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    scale = Scale(low=0.05, high=0.95)
    assert {q.id: q.scale for q in evaluation.rubric} == dict.fromkeys(
        ("labels.csv", "scores.csv"), scale
    )
    labels = read_labels(evaluation, read_responses(evaluation)).ratings
    assert labels["value"].tolist() == [float(f"0.{k}5") for k in range(10) for _ in "ab"]


@pytest.mark.parametrize(("words", "is_task"), [("calm,wild", True), ("bad,good", False)])
def test_the_order_of_unknown_words_is_a_task(tmp_path: Path, words: str, *, is_task: bool) -> None:
    write_labelled_folder(tmp_path, [])
    rows = "".join(f"r{k},{r},mood,{words.split(',')[k % 2]}\n" for k in range(30) for r in "ab")
    (tmp_path / "labels.csv").write_text(f"response_id,rater_id,question_id,rating\n{rows}")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    task = "To do: in evaluation.yaml, write the words of mood worst first"
    assert (task in outcome.output) is is_task


@pytest.mark.parametrize("names", [["resolution", "verdict"], ["resolution"]])
def test_columns_by_rater_and_question_are_drafted_as_questions(
    tmp_path: Path, names: list[str]
) -> None:
    write_labelled_folder(tmp_path, [])
    headers = [f"{rater}: {name}" for name in names for rater in ("maria", "tom", "ines")]
    rows = [
        [
            f"r{k}",
            *(str(1 + (k * j + k) % 4) for j in range(3)),
            "",
            *["ok", "good"][:: 1 - k % 2 * 2],
        ]
        for k in range(30)
    ]
    table = [",".join(row[: 1 + len(headers)]) for row in [["response_id", *headers], *rows]]
    (tmp_path / "labels.csv").write_text("\n".join(table))

    CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    labels = read_labels(evaluation, read_responses(evaluation)).ratings
    assert [question.id for question in evaluation.rubric] == names
    assert labels["question_id"].value_counts().to_dict() == dict(
        zip(names, (90, 60), strict=False)
    )
    assert set(labels["rater_id"]) == {"maria", "tom", "ines"}


def test_labels_that_leave_the_question_open_are_refused(tmp_path: Path) -> None:
    write_labelled_folder(tmp_path, [])
    rows = "".join(f"r{k},{k % 5},{k % 3}\n" for k in range(30))
    (tmp_path / "labels.csv").write_text(f"response_id,usefulness,clarity\n{rows}")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    assert isinstance(outcome.exception, ExceptionGroup)
    assert not (tmp_path / "evaluation.yaml").exists()


def write_labelled_folder(folder: Path, ratings: list[tuple[str, int]]) -> None:
    """Write responses.csv with thirty responses, and labels.csv with ratings by two raters."""
    responses = "".join(f"r{k},Why?,Because {k}.,m1\n" for k in range(30))
    (folder / "responses.csv").write_text(
        f"response_id,prompt_text,response_text,model_name\n{responses}"
    )
    labels = "".join(f"{item},{name},faithful,{of}\n" for item, of in ratings for name in "ab")
    (folder / "labels.csv").write_text(f"response_id,rater_id,question_id,rating\n{labels}")


@pytest.mark.parametrize(
    ("name", "header", "texts"),
    [
        ("ratings.csv", "item,anna,ben", False),
        ("labels.csv", "document,anna,ben", False),
        ("ratings.csv", "response,anna,ben", True),
    ],
)
def test_a_folder_is_read_as_its_file_is(
    tmp_path: Path, name: str, header: str, *, texts: bool
) -> None:
    rows = [(f"text {k}", 1 + k % 5, 1 + (k + (k == 3)) % 5) for k in range(30)]
    table = "\n".join([header, *(f"{item},{a},{b}" for item, a, b in rows)])
    (tmp_path / name).write_text(table)

    result = CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    responses = read_responses(evaluation)
    labels = read_labels(evaluation, responses)
    assert "read 60 ratings by anna, ben.\n" in result.output
    by_rater = labels.ratings.groupby("rater_id", observed=True)["value"].apply(list)
    assert by_rater.to_dict() == {"anna": [a for _, a, _ in rows], "ben": [b for *_, b in rows]}
    assert ("text 3" in set(responses["response_text"])) == texts
    assert ("fill in responses.csv" in result.output) != texts
    assert (tmp_path / name).read_text() == table


def test_ratings_of_known_responses_are_added_to_them(tmp_path: Path) -> None:
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\n"
        + "".join(f"r{k},Why?,Because {k}.,m1\n" for k in range(10))
    )
    (tmp_path / "sheet.csv").write_text(
        "item,anna,ben\n" + "".join(f"r{k},{1 + k % 5},{1 + k % 5}\n" for k in range(10))
    )

    CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    assert len(read_labels(evaluation, read_responses(evaluation)).ratings) == 20


def test_a_folder_whose_tables_cannot_be_read_gets_no_example(tmp_path: Path) -> None:
    (tmp_path / "anna.csv").write_text("item,Clarity,Tone\nr1,4,1\nr2,5,2\n")

    result = CliRunner().invoke(init, [str(tmp_path)])

    assert isinstance(result.exception, ExceptionGroup)
    [problem] = result.exception.exceptions
    assert "may be raters or questions, and nothing says which" in str(problem)
    assert [path.name for path in tmp_path.iterdir()] == ["anna.csv"]


@pytest.mark.parametrize("has_rubric", [True, False])
def test_an_example_question_is_to_be_replaced_if_the_folder_has_none(
    tmp_path: Path, *, has_rubric: bool
) -> None:
    header = "response_id,prompt_text,response_text,model_name\n"
    (tmp_path / "responses.csv").write_text(f"{header}a1,Why?,Because.,m1\n")
    if has_rubric:
        rubric = "question_id,question,scale\nclarity,Is it clear?,likert5\n"
        (tmp_path / "rubric.csv").write_text(rubric)

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    assert ("replace the example question" in outcome.output) is not has_rubric
    [question] = read_evaluation(tmp_path).rubric
    assert (question.id == "clarity") is has_rubric


def test_an_evaluation_that_is_declared_is_kept(tmp_path: Path) -> None:
    (tmp_path / "evaluation.yaml").write_text("mine")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    assert outcome.output.startswith("evaluation.yaml is there already, and is kept\n")
    assert [path.name for path in tmp_path.iterdir()] == ["evaluation.yaml"]
    assert (tmp_path / "evaluation.yaml").read_text() == "mine"


def test_a_place_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    outcome = CliRunner().invoke(init, [str(tmp_path / "file" / "mine")])

    assert isinstance(outcome.exception, InputError)
    assert str(outcome.exception) == (
        f"{tmp_path}/file/mine: it cannot be written (Not a directory). "
        "Name a folder that you may write to."
    )


SHEET = "prompt,response,topic,Anna,Ben\n" + "".join(
    f"Why {k}?,Since {k % 3}.,t{k % 2},{1 + k % 5},{1 + k % 5}\n" for k in range(12)
)
POINTS = "thing,person,points\n" + "".join(
    f"{k},{name},{1 + k % 4}\n" for k in range(12) for name in ("Anna", "Ben", "Cleo")
)
WORDS = "id;Anna;Ben\n" + "".join(
    f"{k};{word};{word}\n"
    for k, word in enumerate(["Strongly disagree", "Strongly agree", "Agree"] * 4)
)
GRID = "Name," + ",".join(f"Tone [Response {k}]" for k in range(12)) + "\n"
GRID += "".join(f"{name}," + ",".join(f"{1 + k % 5}" for k in range(12)) + "\n" for name in "ab")
NESTED = json.dumps(
    [{"id": k, "prompt": "p", "response": f"t{k}", "ratings": [1 + k % 5] * 2} for k in range(12)]
)


@pytest.mark.parametrize(
    ("name", "content", "options", "n_ratings"),
    [
        ("sheet.csv", SHEET, [], 24),
        ("points.csv", POINTS, ["--item", "thing", "--rater", "person", "--rating", "points"], 36),
        ("words.csv", WORDS, [], 24),
        ("grid.csv", GRID, [], 24),
        ("nested.json", NESTED, [], 24),
    ],
)
def test_a_folder_is_made_of_a_file_as_check_advises(
    tmp_path: Path, name: str, content: str, options: list[str], n_ratings: int
) -> None:
    (tmp_path / name).write_text(content)
    with chdir(tmp_path):
        before = json.loads(CliRunner().invoke(check, [name, *options, "--json"]).stdout)

        outcome = CliRunner().invoke(init, shlex.split(before["next"]["command"])[2:])

    assert outcome.exit_code == 0, outcome.output
    folder = tmp_path / Path(name).stem
    evaluation = read_evaluation(folder)
    responses = read_responses(evaluation)
    assert len(responses) == 12
    assert len(read_labels(evaluation, responses).ratings) == n_ratings
    after = json.loads(CliRunner().invoke(check, [str(folder), "--json"]).stdout)
    for document in (before, after):
        [question] = document["labels"]["questions"]
        del question["question"]
    assert after["labels"] == before["labels"]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("id,anna,ben,plugin,component", "t{n},{a},{b},{b},{a}"),
        ("response_id,turn,anna,ben", "r{half},{odd},{a},{b}"),
        ("prompt,model_name,group_id,anna,ben", "prompt {half},m{odd},g{half},{a},{b}"),
        ('id,"Good?\n(1-5)\nanna","Good?\n(1-5)\nben"', "t{n},{a},{b}"),
    ],
    ids=["attributes", "two columns name the item", "names of the contract", "lines in headers"],
)
def test_a_folder_that_is_made_of_a_file_has_its_figures(
    tmp_path: Path, header: str, row: str
) -> None:
    rows = [
        row.format(n=n, half=n // 2, odd=n % 2, a=1 + n % 5, b=1 + (n + n // 4 % 2) % 5)
        for n in range(40)
    ]
    file = tmp_path / "r.csv"
    file.write_text("\n".join([header, *rows]))
    options = ["--rater", "anna,ben", "--json"]

    of_file = CliRunner().invoke(check, [str(file), *options])
    outcome = CliRunner().invoke(init, [str(file), "--rater", "anna,ben"])
    of_folder = CliRunner().invoke(check, [str(tmp_path / "r"), "--json"])

    assert outcome.exit_code == 0, outcome.output
    first, second = (json.loads(of.stdout) for of in (of_file, of_folder))
    assert second["read"]["n_ratings"] == first["read"]["n_ratings"] == 80
    assert second["labels"]["questions"] == first["labels"]["questions"]


def test_the_texts_of_a_sheet_become_the_responses(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(SHEET)

    outcome = CliRunner().invoke(init, [str(tmp_path / "sheet.csv"), str(tmp_path / "mine")])

    assert outcome.exit_code == 0, outcome.output
    rows = (tmp_path / "mine" / "responses.csv").read_text().splitlines()
    assert rows[0] == "response_id,prompt_text,response_text,model_name,topic"
    assert rows[1] == "Why 0?,Why 0?,Since 0.,unknown,t0"
    repeat = CliRunner().invoke(
        init, [str(tmp_path / "sheet.csv"), str(tmp_path / "mine")], standalone_mode=False
    )
    assert isinstance(repeat.exception, InputError)


def test_a_file_with_two_layouts_names_both(tmp_path: Path) -> None:
    table = "id,red_fox,red_hill,blue_fox,blue_hill\n" + "".join(
        f"i{k},{1 + k % 5},{1 + k % 5},{5 - k % 5},{5 - k % 5}\n" for k in range(20)
    )
    (tmp_path / "r.csv").write_text(table)

    outcome = CliRunner().invoke(init, [str(tmp_path / "r.csv")], standalone_mode=False)

    assert "; otherwise pass --rater fox,hill.\n" in outcome.output


@pytest.mark.parametrize(
    ("header", "answers"),
    [("id,rating,comment", "{},"), ("response_id,helpful,safe", "{},1")],
)
def test_files_of_one_rater_each_are_named_by_them(
    tmp_path: Path, header: str, answers: str
) -> None:
    for name, highest in (("anna", 4), ("ben", 5)):
        rows = [f"r{k},{answers.format(1 + k % highest)}\n" for k in range(24)]
        (tmp_path / f"{name}.csv").write_text(f"{header}\n{''.join(rows)}")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    labels = read_labels(evaluation, read_responses(evaluation)).ratings
    assert "read 48 ratings by anna, ben.\n" in outcome.output
    assert evaluation.rubric[0].scale.described() == "1, 2, 3, 4, 5"
    assert labels["rater_id"].value_counts().nunique() == 1
    assert set(labels["rater_id"]) == {"anna", "ben"}


def test_files_of_one_name_are_of_the_raters_whose_folders_hold_them(tmp_path: Path) -> None:
    for rater in ("anna", "ben", "cleo"):
        (tmp_path / rater).mkdir()
        rows = "".join(f"r{k},{1 + k % 5}\n" for k in range(20))
        (tmp_path / rater / "ratings.csv").write_text(f"response_id,score\n{rows}")

    assert CliRunner().invoke(init, [str(tmp_path)]).exit_code == 0

    evaluation = read_evaluation(tmp_path)
    labels = read_labels(evaluation, read_responses(evaluation)).ratings
    assert labels["rater_id"].value_counts().to_dict() == {"anna": 20, "ben": 20, "cleo": 20}


def test_file_of_a_language_model_holds_judge_scores(tmp_path: Path) -> None:
    people = "".join(f"r{k},{name},{k % 2}\n" for k in range(24) for name in ("anna", "ben"))
    (tmp_path / "people.csv").write_text(f"id,annotator,safe\n{people}")
    scores = "".join(f"r{k},gpt-4o,{2 if k == 3 else k % 2}\n" for k in range(24))
    (tmp_path / "model.csv").write_text(f"id,judge,safe\n{scores}")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    evaluation = read_evaluation(tmp_path)
    responses = read_responses(evaluation)
    [question] = evaluation.rubric
    assert set(read_labels(evaluation, responses).ratings["rater_id"]) == {"anna", "ben"}
    assert question.scale == BINARY
    assert "1 score of gpt-4o off the scale not read" in outcome.output
    [table] = read_recorded_scores(evaluation, responses)
    assert table["status"].value_counts().to_dict() == {"ok": 23, "missing": 1}


def test_texts_of_rated_items_are_the_responses(tmp_path: Path) -> None:
    rows = "".join(f"r{k},anna,{1 + k % 5}\nr{k},ben,{1 + k % 5}\n" for k in range(12))
    (tmp_path / "people.csv").write_text(f"id,annotator,clear\n{rows}")
    outputs = "".join(f"r{k},Why {k}?,Because {k}.,m1,{k % 2}\n" for k in range(14))
    (tmp_path / "outputs.csv").write_text(f"id,input,output,model,batch\n{outputs}")
    (tmp_path / "texts.csv").write_text("id,output\nq1,Not rated.\n")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    responses = read_responses(read_evaluation(tmp_path))
    assert "\nNow run: " in outcome.output
    assert responses["response_text"].tolist() == [f"Because {k}." for k in range(12)]
    assert responses["prompt_text"][11] == "Why 11?"
    assert set(responses["model_name"]) == {"m1"}


@pytest.mark.parametrize("name", ["outputs.csv", "responses.csv"])
def test_texts_without_ratings_are_drafted_as_responses(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("id,input,output\na,Why?,Because.\nb,How?,So.\n")

    outcome = CliRunner().invoke(init, [str(tmp_path)])

    assert "To do: fill in labels.csv, which is empty" in outcome.output
    assert list(read_responses(read_evaluation(tmp_path))["response_text"]) == ["Because.", "So."]


def test_the_longest_texts_become_the_responses_if_no_column_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "calls.csv").write_text(
        "call_id,transcript,maria,tom,gpt_verdict,gpt_reason,channel\n"
        + "".join(
            f'call-{k:02},"Caller {k}: my order is late. Agent: it ships tomorrow.",'
            f"{'pass' if k % 3 else 'fail'},{'pass' if k % 4 else 'fail'},"
            f"{'pass' if k % 3 else 'fail'},The agent answered {k} politely and at length.,mail\n"
            for k in range(24)
        )
    )

    outcome = CliRunner().invoke(init, [str(tmp_path / "calls.csv"), str(tmp_path / "mine")])

    assert "response_text is transcript." in outcome.output
    assert outcome.output.count("channel") <= 1
    assert "To do" not in outcome.output
    rows = (tmp_path / "mine" / "responses.csv").read_text().splitlines()
    assert rows[1].startswith("call-00,,Caller 0: my order")


def test_what_a_customer_wrote_is_no_response_however_long(tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text(
        "ticket,customer_message,bot_reply,anna,ben\n"
        + "".join(
            f"t{k},My order {k} has not come; I want it now.,We send {k} again.,{k % 5},{k % 4}\n"
            for k in range(24)
        )
    )

    outcome = CliRunner().invoke(init, [str(tmp_path / "mails.csv"), str(tmp_path / "mine")])

    assert "response_text is bot_reply, prompt_text is customer_message." in outcome.output
    assert max(map(len, outcome.output.partition("wrote")[0].splitlines())) <= 80


def test_the_only_texts_before_the_responses_become_the_prompts(tmp_path: Path) -> None:
    texts = [f"Where is my order {k}? I have waited.,It ships today: order {k}." for k in range(24)]
    (tmp_path / "t.csv").write_text(
        "id,customer_message,reply,maria,tom\n"
        + "".join(f"t{k},{of},{1 + k % 5},{1 + k % 4}\n" for k, of in enumerate(texts))
    )

    outcome = CliRunner().invoke(init, [str(tmp_path / "t.csv"), str(tmp_path / "mine")])

    assert "prompt_text is customer_message. Correct it in responses.csv." in outcome.output
    rows = (tmp_path / "mine" / "responses.csv").read_text().splitlines()
    assert rows[1].startswith(f"t0,{texts[0]}")


def test_both_texts_of_a_preference_are_kept_for_raters(tmp_path: Path) -> None:
    rows = [
        f"t{n},Why {n}?,First answer {n},Second answer {n},{'AB'[n % 2]},{'AB'[n % 3 == 0]}"
        for n in range(30)
    ]
    path = tmp_path / "preferences.csv"
    path.write_text("\n".join(["id,Prompt,Response A,Response B,anna,ben", *rows]), "utf-8")

    outcome = CliRunner().invoke(init, [str(path), str(tmp_path / "study")])

    assert outcome.exit_code == 0, outcome.output
    [text, *_] = read_responses(read_evaluation(tmp_path / "study"))["response_text"]
    assert text == "A:\nFirst answer 0\n\nB:\nSecond answer 0"
    assert "fill in" not in outcome.output
