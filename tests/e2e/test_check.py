"""`eval-assets check` and `eval_assets.check` answer two questions about any file of ratings."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eval_assets import check
from eval_assets.errors import InputError
from eval_assets.wording import columns_of
from tests.e2e.conftest import call

CODE = Path(__file__).parents[2] / "data" / "code"
Ended = subprocess.CompletedProcess[str]


def checked(folder: Path, *arguments: str) -> Ended:
    """Run the command in a folder."""
    return call(folder, "check", *arguments)


def agreeing(n: int = 150, *, noise: float = 0.15, seed: int = 1) -> pd.DataFrame:
    """Return tickets with ratings of two people who agree, and a judge that agrees with them."""
    draw = np.random.default_rng(seed)
    truths = 1 + np.arange(n) % 5
    columns = {}
    for name in ("anna", "ben", "gpt-4o"):
        moves = draw.choice((-1, 1), n) * (draw.random(n) < noise)
        columns[name] = np.clip(truths + moves, 1, 5)
    return pd.DataFrame({"ticket": [f"T-{k}" for k in range(n)], **columns})


def two_classes(n: int = 120) -> pd.DataFrame:
    """Return pass and fail of one person and a judge."""
    human = ["pass" if k % 3 else "fail" for k in range(n)]
    other = {"pass": "fail", "fail": "pass"}
    judge = [other[of] if k % 10 == 0 else of for k, of in enumerate(human)]
    return pd.DataFrame({"id": range(n), "human": human, "judge": judge})


def test_screen_has_the_answer_on_labels_and_judge(tmp_path: Path) -> None:
    agreeing().to_csv(tmp_path / "tickets.csv", index=False)

    ended = checked(tmp_path, "tickets.csv")

    lines = ended.stdout.splitlines()
    assert ended.returncode == 0, ended.stderr
    assert lines[0].startswith("Read  300 ratings: 150 tickets x 2 people, scale 1-5; judge gpt-4o")
    assert "item = ticket" in lines[1]
    [labels] = [line for line in lines if line.startswith("1  Can we trust our labels?")]
    [judge] = [line for line in lines if line.startswith("2  Can gpt-4o replace one of us?")]
    assert labels.split()[-1] == judge.split()[-1] == "PASS"
    assert any(line.startswith("Do next  ") for line in lines)
    assert lines[-1] == "Report   tickets_report.html"
    assert max(map(len, lines)) <= 80
    assert len(ended.stdout.split()) <= 150
    page = (tmp_path / "tickets_report.html").read_text("utf-8")
    assert "Can gpt-4o replace one of us?" in page
    assert "<script" not in page


def test_corrections_name_the_scale_that_was_read_in_the_files_own_words(tmp_path: Path) -> None:
    grades = agreeing().rename(columns={"gpt-4o": "notes"}).drop(columns="notes")
    grades[["anna", "ben"]] = grades[["anna", "ben"]] - 1
    grades.to_csv(tmp_path / "grades.csv", index=False)
    words = {0: "Poor", 1: "Fair", 2: "Good", 3: "Very Good", 4: "Excellent"}
    grades.replace({"anna": words, "ben": words}).to_csv(tmp_path / "words.csv", index=False)

    numbers, texts = (checked(tmp_path, name, "--no-html") for name in ("grades.csv", "words.csv"))

    assert "Wrong? --item COLUMN, --scale 0-4" in " ".join(numbers.stdout.split())
    assert "--scale worst,...,best" in " ".join(texts.stdout.split())
    document = json.loads(checked(tmp_path, "words.csv", "--json").stdout)
    assert document["read"]["questions"][0]["words"] == list(words.values())


def test_columns_of_one_person_on_several_questions_are_called_ratings(tmp_path: Path) -> None:
    frame = agreeing(20)[["anna", "ben"]]
    names = ["human_clarity", "human_safety"]
    frame.set_axis(names, axis=1).to_csv(tmp_path / "two.csv", index_label="id")

    screen = checked(tmp_path, "two.csv", "--no-html").stdout

    assert "rating = human_clarity and human_safety" in " ".join(screen.split())


def test_notes_that_find_no_room_on_the_screen_are_counted(tmp_path: Path) -> None:
    frame = agreeing(40).drop(columns="gpt-4o")
    ratings = frame.assign(anna=frame["anna"].astype(str).where(frame.index > 0, "n/a"))
    ratings = ratings.assign(bleu=frame.index * 37 % 41 / 1000, seen="caf\xe9")
    ratings.to_csv(tmp_path / "r.csv", index=False, encoding="cp1252")

    screen = checked(tmp_path, "r.csv", "--no-html").stdout

    assert "1 further note: --json" in screen
    assert len(json.loads(checked(tmp_path, "r.csv", "--json").stdout)["read"]["notes"]) == 3


def test_next_step_after_init_is_none_that_changes_nothing(tmp_path: Path) -> None:
    agreeing().drop(columns="gpt-4o").to_csv(tmp_path / "tickets.csv", index=False)

    before = checked(tmp_path, "tickets.csv", "--no-html")
    call(tmp_path, "init", "tickets.csv", "tickets")
    second = checked(tmp_path, "tickets.csv", "--no-html")
    inside = checked(tmp_path / "tickets", "labels.csv", "--no-html")

    assert before.stdout.rstrip().endswith("eval-assets init tickets.csv tickets")
    assert second.stdout.rstrip().endswith("eval-assets run --data tickets")
    assert "Do next  Have a judge score the 150 responses" in inside.stdout
    assert "eval-assets" not in inside.stdout, "no command adds a judge"


def test_json_says_what_the_screen_says(tmp_path: Path) -> None:
    agreeing().to_csv(tmp_path / "tickets.csv", index=False)

    ended = checked(tmp_path, "tickets.csv", "--json")

    document = json.loads(ended.stdout)
    assert document["schema"] == 1
    assert document["read"]["columns"]["item"] == ["ticket"]
    assert (document["read"]["n_ratings"], document["read"]["n_scores"]) == (300, 150)
    assert document["labels"]["verdict"] == "pass"
    [judge] = document["judges"]
    [question] = judge["questions"]
    assert question["gap"]["low"] > -question["gap"]["margin"]
    assert question["kappa_people"]["value"] - question["kappa"]["value"] == pytest.approx(
        -question["gap"]["value"]
    )
    assert document["report"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["tickets.csv"]


def test_json_holds_the_errors_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,anna,ben\n1,4,5\n2,3\n3,2,2\n", "utf-8")

    ended = checked(tmp_path, "r.csv", "--json")

    assert ended.returncode == 1
    assert json.loads(ended.stdout) == {"error": ended.stderr.strip()}
    assert "r.csv:3" in ended.stderr


def disagreeing() -> pd.DataFrame:
    """Return ratings of people who do not agree at all."""
    anna, ben = np.random.default_rng(3).integers(1, 6, (2, 150))
    return pd.DataFrame({"ticket": [f"T-{k}" for k in range(150)], "anna": anna, "ben": ben})


def one_rater() -> pd.DataFrame:
    return agreeing().drop(columns="ben")


def judge_only() -> pd.DataFrame:
    return agreeing().drop(columns=["anna", "ben"])


@pytest.mark.parametrize(
    ("study", "code", "word"),
    [
        (agreeing, 0, "PASS"),
        (disagreeing, 3, "FAIL"),
        (lambda: agreeing(12), 4, "NEED MORE DATA"),
        (one_rater, 4, "NOT MEASURED"),
        (judge_only, 4, "NOT MEASURED"),
    ],
)
def test_exit_code_follows_the_worst_verdict(
    tmp_path: Path, study: Callable[[], pd.DataFrame], code: int, word: str
) -> None:
    study().to_csv(tmp_path / "r.csv", index=False)

    ended = checked(tmp_path, "r.csv", "--no-html")

    assert (ended.returncode, ended.stderr) == (code, "")
    assert word in ended.stdout


def test_two_classes_have_shares_and_a_constant_judge(tmp_path: Path) -> None:
    two_classes().to_csv(tmp_path / "r.csv", index=False)

    ended = checked(tmp_path, "r.csv", "--no-html")

    text = " ".join(ended.stdout.split())
    assert "Of what people passed it passes 90 % (72 of 80), of what people failed it" in text
    assert "Right on 90 %, a constant answer on 67 %." in text
    assert "Nobody rated an item twice" in text


def test_two_judges_of_two_classes_take_few_words(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    truths = draw.random(150) < 0.6
    names = ("Anna", "Ben", "Chloe", "gpt-4o", "claude-3-opus")
    columns = {of: np.where(truths ^ (draw.random(150) < 0.09), "pass", "fail") for of in names}
    pd.DataFrame({"ticket": range(150), **columns}).to_csv(tmp_path / "r.csv", index=False)

    assert len(checked(tmp_path, "r.csv").stdout.split()) <= 200


def test_pass_rule_makes_two_classes_of_a_scale(tmp_path: Path) -> None:
    agreeing().to_csv(tmp_path / "r.csv", index=False)

    [judge] = json.loads(checked(tmp_path, "r.csv", "--pass", ">=4", "--json").stdout)["judges"]

    assert 0.8 < judge["questions"][0]["true_positive_rate"]["value"] < 1


def test_judge_on_another_scale_gets_a_verdict_by_its_rule(tmp_path: Path) -> None:
    frame = two_classes().rename(columns={"judge": "gpt-4o"})
    frame["gpt-4o"] = [
        0.9 - (k % 7) / 40 if of == "pass" else 0.1 + (k % 7) / 40
        for k, of in enumerate(frame["gpt-4o"])
    ]
    frame["ben"] = ["pass" if k % 30 == 0 else of for k, of in enumerate(frame["human"])]
    frame.to_csv(tmp_path / "r.csv", index=False)

    ranks = checked(tmp_path, "r.csv", "--no-html")
    ruled = checked(tmp_path, "r.csv", "--judge-pass", ">=0.5", "--json")

    assert ranks.returncode == 4
    assert "no verdict without --judge-pass. Rank correlation" in " ".join(ranks.stdout.split())
    assert "eval-assets check r.csv --judge-pass" in ranks.stdout
    [judge] = json.loads(ruled.stdout)["judges"]
    assert judge["verdict"] in {"pass", "need_more_data"}
    assert judge["questions"][0]["true_positive_rate"]["value"] == pytest.approx(0.9)


def test_study_keeps_the_classes_of_a_judge_on_another_scale(tmp_path: Path) -> None:
    frame = two_classes()
    classes = frame["judge"].tolist()
    frame["judge"] = [90 - k % 7 if of == "pass" else 20 + k % 9 for k, of in enumerate(classes)]
    frame.to_csv(tmp_path / "r.csv", index=False)

    first = checked(tmp_path, "r.csv", "--judge-pass", ">=70", "--no-html")
    drafted = call(tmp_path, "init", "r.csv", "--judge-pass", ">=70", "study")

    assert "eval-assets init r.csv --judge-pass '>=70' r" in first.stdout
    assert drafted.returncode == 0, drafted.stderr
    assert pd.read_csv(tmp_path / "study" / "judge_scores.csv")["score"].tolist() == classes
    assert call(tmp_path, "init", "r.csv", "--judge-pass", "yes", "other").returncode == 2


def test_run_finds_which_scores_of_another_scale_are_which_of_peoples(tmp_path: Path) -> None:
    frame = agreeing()
    frame["gpt-4o"] = frame["gpt-4o"] * 2 / 10
    frame.to_csv(tmp_path / "r.csv", index=False)

    ranks = checked(tmp_path, "r.csv", "--no-html")
    drafted = call(tmp_path, "init", "r.csv", "study")

    assert "no verdict without a run" in ranks.stdout
    assert "eval-assets init r.csv r" in ranks.stdout
    assert "0 is stored as 1, 1 as 5, others between" in " ".join(drafted.stdout.split())
    scores = pd.read_csv(tmp_path / "study" / "judge_scores.csv")["score"]
    assert scores.tolist() == pytest.approx((1 + 4 * frame["gpt-4o"]).tolist())


def test_two_readings_whose_verdicts_differ_are_both_shown(tmp_path: Path) -> None:
    """A column may be named for a person or for a model."""
    frame = agreeing(100).drop(columns="gpt-4o")
    frame["r2d2_v1"] = np.random.default_rng(5).integers(1, 6, 100)
    frame.to_csv(tmp_path / "r.csv", index=False)

    ended = checked(tmp_path, "r.csv", "--no-html")

    assert ended.returncode == 2
    assert "the verdicts differ" in ended.stdout
    assert "r2d2_v1 is no rater: --rater anna,ben\n" in ended.stdout
    assert "Otherwise: --rater anna,ben,r2d2_v1\n" in ended.stdout
    assert len(ended.stdout.split()) <= 190
    of_program = checked(tmp_path, "r.csv", "--json")
    assert "Otherwise: --rater anna,ben,r2d2_v1\n" in of_program.stderr
    readings = json.loads(of_program.stdout)["readings"]
    assert [of["option"] for of in readings] == [
        "--rater anna,ben",
        "--rater anna,ben,r2d2_v1",
    ]
    for reading in readings:
        chosen = checked(tmp_path, "r.csv", "--json", *reading["option"].split())
        assert json.loads(chosen.stdout)["labels"] == reading["labels"]


def test_two_readings_of_many_columns_fit_the_screen(tmp_path: Path) -> None:
    frame = agreeing(100).drop(columns="gpt-4o")
    names = ("cohesion", "vocabulary", "phraseology", "argumentation", "conventions")
    for name in names:
        frame[name] = frame["anna"]
    frame.drop(columns=["anna", "ben"]).to_csv(tmp_path / "r.csv", index=False)

    ended = checked(tmp_path, "r.csv", "--no-html")

    assert ended.returncode == 2
    assert max(map(len, ended.stdout.splitlines())) <= 80


def test_names_that_are_wide_or_hold_control_characters_fit(tmp_path: Path) -> None:
    frame = agreeing(40, noise=0.7)
    frame.columns = pd.Index(["チケット", "本田さんの評価", "アンナ", "裁判官" * 10])
    frame["チケット"] = [f"T{k}\x1b[31m" for k in range(40)]
    frame.to_csv(tmp_path / "r.csv", index=False)

    ended = checked(tmp_path, "r.csv", "--no-html", "--judge", "裁判官" * 10)

    assert ended.returncode in {3, 4}, ended.stderr
    assert "\x1b" not in ended.stdout
    assert max(map(columns_of, ended.stdout.splitlines())) <= 80


def test_several_files_are_joined_by_item(tmp_path: Path) -> None:
    frame = agreeing()
    frame[["ticket", "anna", "ben"]].to_csv(tmp_path / "people.csv", index=False)
    frame[["ticket", "gpt-4o"]].to_csv(tmp_path / "scores.csv", index=False)

    for arguments in (("people.csv", "scores.csv"), (".",)):
        ended = checked(tmp_path, *arguments, "--no-html")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "judge gpt-4o: 150 scores" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.csv"], 1, "none.csv"),
        (["r.csv", "--item", "case"], 1, "case"),
        (["r.csv", "--scale", "5-1"], 2, "--scale"),
        (["r.csv", "--pass", "good"], 2, "good"),
        (["r.csv", "--minimum", "kappa=.8"], 2, "kappa"),
        (["r.csv", "--minimum", "alpha=2"], 2, "must lie in (0, 1)"),
        (["r.csv", "--scale", "1-4"], 1, "r.csv:"),
        (["r.csv", "--sheet", "labels"], 1, "no file has sheets"),
        (["r.csv", "--skip-rows", "400"], 1, "--skip-rows 400 leaves none"),
        (["https://example.org/r.csv"], 1, "https://example.org/r.csv: this is an address"),
        (["."], 1, "empty.csv: the file is empty"),
        (["twice"], 1, "below/r.csv: the file is a copy of r.csv. Remove one of the two."),
    ],
)
def test_errors_are_lines_that_say_what_to_do(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    for folder in ("", "twice", "twice/below"):
        (tmp_path / folder).mkdir(exist_ok=True)
        agreeing().to_csv(tmp_path / folder / "r.csv", index=False)
    (tmp_path / "empty.csv").touch()

    ended = checked(tmp_path, *arguments, "--no-html")

    assert (ended.returncode, ended.stdout) == (code, "")
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_evaluation_holds_its_test_out_and_no_judge_passes_before_it(tmp_path: Path) -> None:
    folder = shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("out"))

    ended = checked(tmp_path, "code", "--json")

    document = json.loads(ended.stdout)
    assert ended.returncode == 4
    assert document["labels"]["verdict"] == "pass"
    assert {judge["verdict"] for judge in document["judges"]} == {"need_more_data"}
    assert all(of["questions"][0]["n_compared"] < 2350 for of in document["judges"])
    assert not (folder / "out").exists()


def test_replies_of_an_evaluation_are_scores_on_the_scale_of_their_question(
    tmp_path: Path,
) -> None:
    shutil.copytree(CODE.parent / "sample", tmp_path / "sample")

    ended = checked(tmp_path, "sample", "--json")

    read = json.loads(ended.stdout)["read"]
    assert (read["n_judges"], read["n_scores"]) == (2, 425)  # as `run` reads them
    assert [question["scale"] for question in read["questions"]] == [[1, 4], [1, 5], [0, 1]]
    roles = ("item", "rater", "judge", "rating", "question", "model", "group", "run")
    assert {*read["columns"]} == {*roles}  # as of any file


def test_folder_is_read_as_it_declares_and_not_by_its_values(tmp_path: Path) -> None:
    rows = [f"a{n},p{n},text {n},m,{1 + n % 5},{5 - n % 5}\n" for n in range(30)]
    labels = [f"a{n},{rater},q,{1 + n % 5}\n" for n in range(30) for rater in ("anna", "ben")]
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric: [{id: q, question: Good?, scale: likert5}]\n"
    )
    (tmp_path / "responses.csv").write_text(
        f"response_id,prompt_text,response_text,model_name,plugin,component\n{''.join(rows)}"
    )

    unrated = checked(tmp_path, ".", "--no-html")
    (tmp_path / "labels.csv").write_text(
        f"response_id,rater_id,question_id,rating\n{''.join(labels)}"
    )
    rated = checked(tmp_path, ".", "--no-html")
    refused = checked(tmp_path, ".", "--scale", "1-7", "--only", "other")

    assert unrated.stdout.startswith("Read  30 responses, and no ratings of them")
    assert rated.stdout.startswith("Read  60 ratings: 30 responses x 2 people, scale 1-5")
    assert "plugin" not in unrated.stdout + rated.stdout
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "evaluation.yaml: --only other: there is no such question. Use one of q.",
        (
            "evaluation.yaml: it declares how its files are read, which no option changes. "
            "Edit evaluation.yaml, or name the files to read."
        ),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["sample", "more.csv"], 4, "637 ratings: 72 responses, 3 people, 3 questions"),
        (["sample", "--data", "../{}/sample"], 4, "637 ratings: 72 responses, 3 people"),
        (["sample", "--data", "contested"], 2, "sample declares its own scales, gates and"),
        (["."], 1, ".: it is a folder of evaluations, of which one must be named. Name contested"),
    ],
)
def test_folder_of_an_evaluation_is_read_as_it_declares(
    tmp_path: Path, arguments: list[str], code: int, text: str
) -> None:
    """What a run made is no file of ratings."""
    for name in ("sample", "contested"):
        shutil.copytree(CODE.parent / name, tmp_path / name, ignore=shutil.ignore_patterns("out"))
    (tmp_path / "sample/out").mkdir()
    (tmp_path / "sample/out/index.db").write_bytes(b"\xc0\xa7")
    pd.DataFrame({"response_id": ["a", "b"], "topic": ["tax", "law"]}).to_csv(
        tmp_path / "more.csv", index=False
    )

    ended = checked(tmp_path, *(of.format(tmp_path.name) for of in arguments), "--no-html")

    assert text in ended.stdout + ended.stderr
    assert ended.returncode == code


def test_default_report_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    agreeing().to_csv(tmp_path / "r.csv", index=False)
    (tmp_path / "r_report.html").mkdir()

    default = checked(tmp_path, "r.csv")
    named = checked(tmp_path, "r.csv", "--html", "r_report.html")

    assert default.returncode == 0
    assert "Report" not in default.stdout
    assert named.returncode == 1
    assert "Traceback" not in named.stderr


def test_report_never_replaces_a_file_of_ratings(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    agreeing().to_csv(path, index=False)
    content = path.read_text()
    done = checked(tmp_path, "r.csv", "--html", "r.csv")

    assert (done.returncode, path.read_text()) == (2, content)
    assert "r.csv: the file exists, and is no page. Name another." in done.stderr


def test_function_gives_the_answer_of_the_command(tmp_path: Path) -> None:
    frame = agreeing()
    frame.to_csv(tmp_path / "r.csv", index=False)

    of_frame, of_file = check(frame, judge="gpt-4o"), check(tmp_path / "r.csv")

    assert of_frame.labels == of_file.labels
    assert of_frame.judges == of_file.judges
    assert of_frame.to_dict()["labels"] == of_file.to_dict()["labels"]
    assert "Can gpt-4o replace one of us?" in repr(of_frame)
    assert "<svg" in of_frame._repr_html_()
    of_frame.require("gpt-4o")


def test_require_raises_the_sentence_unless_the_judge_passes() -> None:
    result = check(agreeing(12))

    with pytest.raises(AssertionError, match="gpt-4o: NEED MORE DATA") as raised:
        result.require("gpt-4o")
    assert result.judges["gpt-4o"].sentence in str(raised.value)
    with pytest.raises(ValueError, match="no judge claude; judges: gpt-4o"):
        result.require("claude")


@pytest.mark.parametrize(
    "options",
    [
        *({"item": "case"}, {"rater": "dora"}, {"judge": "claude"}, {"group": "customer"}),
        {"scale": "1-4"},
    ],
)
def test_errors_in_a_notebook_speak_of_the_call(options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as raised:
        check(agreeing(), **options)

    assert "--" not in str(raised.value)
    assert ("scale" in options) == ("Likewise" in str(raised.value))
    assert len(getattr(raised.value, "__notes__", ())) <= 2  # one for each column


@pytest.mark.parametrize("ratings", [pd.DataFrame(), []])
def test_ratings_without_columns_are_named(ratings: Any) -> None:
    with pytest.raises(ValueError, match="files or a data frame with columns"):
        check(ratings)
