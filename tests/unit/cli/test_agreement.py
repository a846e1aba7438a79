"""`eval-assets agreement` gives a verdict on a file of ratings by itself."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from eval_assets.cli.agreement import agreement

AGREEING = "Item;Anna;Ben\n" + "".join(f"{k};{1 + k % 5};{1 + k % 5}\n" for k in range(20))
OPPOSED = "item,rater,rating\n" + "".join(
    f"{k},anna,{1 + k % 5}\n{k},ben,{5 - k % 5}\n" for k in range(20)
)


def invoke(folder: Path, content: str, *options: str) -> Result:
    (folder / "ratings.csv").write_text(content)
    arguments = [str(folder / "ratings.csv"), *options]
    result = CliRunner().invoke(agreement, arguments, standalone_mode=False)
    assert [path.name for path in folder.iterdir()] == ["ratings.csv"]
    return result


def test_raters_who_agree_open_the_gates(tmp_path: Path) -> None:
    result = invoke(tmp_path, AGREEING)

    assert result.return_value == 0
    assert result.stdout.startswith(
        "ratings.csv: item = Item; rater = Anna, Ben; rating = Anna, Ben.\n"
        "ratings.csv: scale guessed from the ratings: 1, 2, 3, 4, 5 (rating).\n"
    )
    assert "all questions  1.000" in result.stdout
    assert "The gates are open." in result.stdout


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    rows = [f"{k},{1 + k % 5},{1 + k % 5},{k % 3},{k % 2}\n" for k in range(20)]

    result = invoke(tmp_path, f"Item,Anna,Ben,Seed,Note\n{''.join(rows)}", "--rater", "Anna,Ben")

    for name in ("Seed", "Note"):
        assert f"ratings.csv: ratings.csv:{name} is not read: " in result.stdout


def test_raters_who_disagree_close_them_and_learn_where_they_do(tmp_path: Path) -> None:
    result = invoke(tmp_path, OPPOSED, "--scale", "1-5")

    assert result.return_value == 3
    assert "guessed" not in result.stdout
    assert "human_alpha  CLOSED" in result.stdout
    assert "label_disagreements: the largest of 8 (--json has all)\n" in result.stdout
    complete = json.loads(invoke(tmp_path, OPPOSED, "--scale", "1-5", "--json").stdout)
    assert len(complete["disagreements"]) == complete["n_disagreements"] == 8
    assert complete["disagreements"][0]["ratings"] == {"anna": 1, "ben": 5}
    assert "anna 1, ben 5" in result.stdout
    assert "rating: Raters contradict one another" in result.stdout


def test_undefined_figures_are_null_in_json(tmp_path: Path) -> None:
    result = invoke(tmp_path, "item,rater,rating\n1,a,2\n2,a,4\n", "--json", "--level", "interval")

    assert result.return_value == 3
    actual = json.loads(result.stdout)
    assert {row["alpha"] for row in actual["agreement"]} == {None}
    assert [gate["is_closed"] for gate in actual["gates"]] == [True, True]
    [question] = actual["questions"]
    assert question == {
        "question_id": "rating",
        "scale_min": 2,
        "scale_max": 4,
        "scale": "2, 3, 4",
        "scale_guessed": True,
        "level": "interval",
    }


def test_a_scale_that_makes_no_sense_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(AGREEING)

    result = CliRunner().invoke(agreement, [str(tmp_path / "r.csv"), "--scale", "five"])

    assert result.exit_code == 2
    assert '"five" is not a scale. Write 1-5' in result.stderr


def test_open_gates_that_may_be_open_by_chance_are_named(tmp_path: Path) -> None:
    """One pair of five lies a step apart on three values: the interval holds the minimum."""
    rows = [
        (k, rater, 1 + (k + (rater == "b" and k % 5 == 0)) % 3) for k in range(20) for rater in "ab"
    ]
    text = "item,rater,rating\n" + "".join(f"{k},{r},{v}\n" for k, r, v in rows)
    result = invoke(tmp_path, text, "--scale", "1-5")

    assert "undecided" in result.stdout
    assert "The gates are open." not in result.stdout


def test_gates_that_only_warn_are_not_called_open(tmp_path: Path) -> None:
    folder = folder_with_scale(tmp_path, ONE_TO_FOUR, "likert5")
    declared = folder / "evaluation.yaml"
    declared.write_text(declared.read_text().replace("0.9}", "0.99, severity: warn}"))

    path = str(folder / "labels.csv")
    result = CliRunner().invoke(agreement, [path], standalone_mode=False)

    assert result.return_value == 0
    assert "No gate is closed, since human_a_hh only warns." in result.stdout


def test_open_gates_name_how_many_questions_pass(tmp_path: Path) -> None:
    rows = [
        (k, rater, question, 1 + (k * (7 if rater == "b" and question == "bad" else 1)) % 5)
        for k in range(60)
        for question in ("good", "fair", "bad")
        for rater in "ab"
    ]
    text = "response_id,rater_id,question_id,rating\n"
    text += "".join(f"{k},{r},{q},{v}\n" for k, r, q, v in rows)
    result = invoke(tmp_path, text, "--scale", "1-5")

    assert "2 of 3 questions pass every gate." in result.stdout


def test_headers_that_can_be_read_in_two_ways_give_both_verdicts(tmp_path: Path) -> None:
    """Each of two names answers alike on two items, or is one of two items with like answers."""
    header = "id,red_anna,red_ben,blue_anna,blue_ben\n"
    text = header + "".join(
        f"{k},{1 + k % 5},{1 + k % 5},{5 - k % 5},{5 - k % 5}\n" for k in range(20)
    )
    result = invoke(tmp_path, text)

    assert result.return_value == 2
    assert "ratings.csv can be read in two ways, and their verdicts differ.\n" in result.stdout
    file = tmp_path / "ratings.csv"
    assert f"run: eval-assets agreement {file} --rater anna,ben\n" in result.stdout
    layouts = json.loads(invoke(tmp_path, text, "--json").stdout)["layouts"]
    assert [[gate["is_closed"] for gate in layout["gates"]] for layout in layouts] == [
        [True, True],
        [False, False],
    ]
    assert invoke(tmp_path, text, "--rater", "anna,ben").return_value == 0
    assert invoke(tmp_path, text, "--rater", "red, blue").return_value == 3


def folder_with_scale(tmp_path: Path, content: str, scale: str) -> Path:
    folder = tmp_path / "evaluation"
    folder.mkdir()
    (folder / "labels.csv").write_text(content)
    (folder / "evaluation.yaml").write_text(
        f"name: declared\nrubric: [{{id: tone, question: Tone?, scale: {scale}}}]\n"
        "gates: {human_a_hh: {min: 0.9}}\n"
    )
    rows = "".join(f"{k},p{k % 10},t,m,g{k % 10}\n" for k in range(40))
    header = "response_id,prompt_text,response_text,model_name,group_id\n"
    (folder / "responses.csv").write_text(header + rows)
    return folder


ONE_TO_FOUR = "item,Anna,Ben\n" + "".join(
    f"{k},{1 + k % 4},{max(1, 1 + k % 4 - (k % 5 > 0))}\n" for k in range(40)
)


def test_a_verdict_that_depends_on_the_guessed_scale_says_so(tmp_path: Path) -> None:
    result = invoke(tmp_path, ONE_TO_FOUR)

    assert (
        "The verdict depends on the guessed scale: human_a_hh is 0.800 and undecided, but with "
        "--scale 1-5 human_a_hh is 0.850 and open. Pass --scale 1-5 if that is what raters saw.\n"
    ) in result.stdout
    assert "verdict depends" not in invoke(tmp_path, ONE_TO_FOUR, "--scale", "1-4").stdout
    assert len(json.loads(invoke(tmp_path, ONE_TO_FOUR, "--json").stdout)["scale_doubts"]) == 1


ZERO_TO_FIVE = "item,Anna,Ben\n" + "".join(
    f"{k},{1 + k % 5},{0 if k % 4 == 0 else 1 + k % 5}\n" for k in range(70)
)


def test_a_verdict_that_depends_on_zero_being_a_rating_says_so(tmp_path: Path) -> None:
    result = invoke(tmp_path, ZERO_TO_FIVE)

    assert (
        "human_alpha is 0.461 and closed, but with --missing-values 0 human_alpha is 1.000 and "
        "open. Pass --missing-values 0 if that is what raters saw.\n"
    ) in result.stdout
    assert "verdict depends" not in invoke(tmp_path, ZERO_TO_FIVE, "--scale", "0-5").stdout
    without_zeros = invoke(tmp_path, ZERO_TO_FIVE, "--missing-values", "0").stdout
    assert "122 ratings by 2 raters" in without_zeros
    assert "verdict depends" not in without_zeros


def test_words_for_no_rating_may_name_an_item_a_rater_and_a_question(tmp_path: Path) -> None:
    rows = "".join(f"{k},{rater},0,{1 + k % 5}\n" for k in range(12) for rater in (0, 1))

    result = invoke(tmp_path, f"item,rater,question,rating\n{rows}", "--missing-values", "0")

    assert "24 ratings by 2 raters" in result.stdout


def test_scales_gates_and_groups_of_the_folder_are_those_of_a_run(tmp_path: Path) -> None:
    folder = folder_with_scale(tmp_path, ONE_TO_FOUR, "likert5")
    command = [str(folder / "labels.csv"), "--json"]
    content = json.loads(CliRunner().invoke(agreement, command, standalone_mode=False).stdout)

    assert content["questions"][0]["scale_max"] == 5
    assert content["agreement"][0]["n_groups"] == 10
    assert content["gates"][0]["verdicts"][0]["minimum"] == 0.9
    assert "scales and gates of evaluation.yaml beside it are used" in content["notes"]
    (folder / "responses.csv").unlink()
    content = json.loads(CliRunner().invoke(agreement, command, standalone_mode=False).stdout)
    assert content["questions"][0]["scale_max"] == 4
    assert "evaluation.yaml beside it is not used (there are no responses)" in content["notes"]


def test_scale_option_leaves_gates_and_groups_of_the_folder(tmp_path: Path) -> None:
    folder = folder_with_scale(tmp_path, ONE_TO_FOUR, "likert5")
    command = [str(folder / "labels.csv"), "--json", "--scale", "1-7"]

    content = json.loads(CliRunner().invoke(agreement, command, standalone_mode=False).stdout)

    assert content["questions"][0]["scale_max"] == 7
    assert content["agreement"][0]["n_groups"] == 10
    assert content["gates"][0]["verdicts"][0]["minimum"] == 0.9
