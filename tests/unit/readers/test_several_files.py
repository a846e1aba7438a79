"""A table is read alike if its raters, its judge or its rows stand in files of their own."""

from pathlib import Path

import pytest

from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from tests.unit.readers.test_ratings_shapes import Rows, cells, csv_of

ITEMS = [f"t{n}" for n in range(30)]
ANNA = [1 + n * n % 5 for n in range(30)]
BEN = [1 + (n * n + n % 3) % 5 for n in range(30)]
JUDGE = [1 + (n * n + n % 4) % 5 for n in range(30)]


def read(folder: Path, **files: Rows) -> RatingTables:
    """Return what tables say that stand in files of these names."""
    for name, rows in files.items():
        (folder / f"{name}.csv").write_text(csv_of(rows), "utf-8")
    return read_ratings([folder / f"{name}.csv" for name in files], ReadOptions())


def rows_of(*header: str, values: tuple[list[int], ...]) -> Rows:
    return [[*header], *map(list, zip(ITEMS, *values, strict=True))]


@pytest.mark.parametrize("names", [("anna", "max"), ("labels_1", "labels_2")])
@pytest.mark.parametrize(
    "headers",
    [
        ("anna", "ben"),
        ("anna_score", "ben_score"),
        ("Score (Anna)", "Score (Ben)"),
        ("Anna: Clarity", "Ben: Clarity"),
        ("expert_a", "expert_b"),
    ],
)
def test_raters_may_have_a_file_each(
    tmp_path: Path, names: tuple[str, str], headers: tuple[str, str]
) -> None:
    pairs = zip(names, zip(headers, (ANNA, BEN), strict=True), strict=True)
    files = {name: rows_of("id", header, values=(ratings,)) for name, (header, ratings) in pairs}

    result = read(tmp_path, **files)

    assert len(result.ratings) == len(ITEMS) * 2
    assert result.ratings["rater"].nunique() == 2
    assert len(result.questions) == 1


def test_batches_of_several_raters_are_no_raters(tmp_path: Path) -> None:
    capitals = [f"Paris {n}" for n in range(6)] * 5
    rows: Rows = [["item", "answer", "anna", "ben"]]
    rows += [[*row] for row in zip(ITEMS, capitals, ANNA, BEN, strict=True)]

    whole = read(tmp_path, whole=rows)
    halves = read(tmp_path, part1=rows[:16], part2=[rows[0], *rows[16:]])

    assert {*whole.ratings["rater"]} == {"anna", "ben"}
    assert cells(whole) == cells(halves)


def test_judge_scores_several_questions_in_a_file_of_its_own(tmp_path: Path) -> None:
    people: Rows = [["recipe", "taster", "taste", "look"]]
    for name, taste, look in (("Jo", ANNA, BEN), ("Al", JUDGE, ANNA)):
        people += [[i, name, a, b] for i, a, b in zip(ITEMS, taste, look, strict=True)]
    judge = rows_of("recipe", "ai_taste", "ai_look", values=(JUDGE, ANNA))

    result = read(tmp_path, people=people, scores=judge)

    assert {*result.scores["judge"]} == {"ai"}
    assert {*result.scores["question"]} == {*result.ratings["question"]} == {"taste", "look"}


@pytest.mark.parametrize("header", ["judge_user_satisfaction", "llm_tone"])
def test_judge_of_one_question_is_no_person_in_a_file_of_its_own(
    tmp_path: Path, header: str
) -> None:
    people = rows_of("id", "human_tone", "human_style", values=(ANNA, BEN))

    result = read(tmp_path, labels=people, second=rows_of("id", header, values=(JUDGE,)))

    assert {*result.ratings["rater"]} == {"human"}
    assert len(result.scores) == len(ITEMS)


def test_judge_names_the_questions_of_a_person_in_another_file(tmp_path: Path) -> None:
    people = rows_of("id", "tone", "clarity", values=(ANNA, BEN))
    judge = rows_of("id", "judge_tone", "judge_clarity", values=(BEN, JUDGE))

    result = read(tmp_path, human_labels=people, second=judge)

    assert len(result.ratings) == len(result.scores) == 2 * len(ITEMS)


def test_same_items_in_several_files_may_have_been_asked_several_questions(
    tmp_path: Path,
) -> None:
    first = rows_of("dossier", "Ines", "Jan", values=(ANNA, BEN))
    second = rows_of("dossier", "Ines", "Jan", values=(BEN, JUDGE))

    result = read(tmp_path, klarheit=first, hoeflichkeit=second)

    assert "--question file" in {doubt.option for doubt in result.doubts}


def test_files_that_name_no_person_may_be_parts_of_the_item(tmp_path: Path) -> None:
    first = rows_of("fall", "Uta", "Veit", values=(ANNA, BEN))
    second = rows_of("fall", "Uta", "Veit", values=(BEN, JUDGE))

    result = read(tmp_path, korrekt=first, freundlich=second)

    options = {doubt.option for doubt in result.doubts}
    assert {"--rater Uta,Veit", "--question file"} & options


def test_judges_keep_the_version_in_the_names_of_their_files(tmp_path: Path) -> None:
    people = rows_of("id", "anna", "ben", values=(ANNA, BEN))
    files = {"gpt-4.1": rows_of("id", "score", values=(BEN,)), "labels": people}

    result = read(tmp_path, **files, **{"gpt-4.1-mini": rows_of("id", "score", values=(JUDGE,))})

    assert {*result.scores["judge"]} == {"gpt-4.1", "gpt-4.1-mini"}


@pytest.mark.parametrize(
    ("header", "raters"),
    [
        ("Ms Okafor,Mr Lindqvist", {"Ms Okafor", "Mr Lindqvist"}),
        ("Оценщик 1,Оценщик 2,ЛЛМ-судья", {"Оценщик 1", "Оценщик 2"}),
    ],
)
def test_titles_are_no_units_and_judges_no_people(
    tmp_path: Path, header: str, raters: set[str]
) -> None:
    names = ["id", *header.split(",")]
    values = (ANNA, BEN, JUDGE)[: len(names) - 1]

    assert {*read(tmp_path, labels=rows_of(*names, values=values)).ratings["rater"]} == raters


def test_judge_scores_each_question_that_people_and_headers_share(tmp_path: Path) -> None:
    names = ("anna_relevance", "anna_depth", "ben_relevance", "ben_depth")
    people = rows_of("pid", *names, values=(ANNA, BEN, BEN[::-1], JUDGE))
    judge = rows_of("pid", "relevance", "depth", values=(JUDGE, BEN))

    result = read(tmp_path, people=people, **{"gpt-4o": judge})

    assert {*result.scores["question"]} == {"relevance", "depth"}
    assert len(result.scores) == 2 * len(ITEMS)


def test_numbers_of_rows_in_any_order_are_no_ratings(tmp_path: Path) -> None:
    shuffled = [7 * n % 30 for n in range(30)]
    rows: Rows = [["lfd", "ai_score"]]
    rows += [[*of] for of in zip(shuffled, JUDGE, strict=True)]

    result = read(tmp_path, scores=rows)

    assert not len(result.ratings)
    assert result.columns["item"] == ("lfd",)


def test_seconds_of_a_teacher_name_no_raters(tmp_path: Path) -> None:
    seconds = [40 + n for n in range(30)]
    people = rows_of("id", "teacher_score", "teacher_seconds", values=(ANNA, seconds))

    assert {*read(tmp_path, labels=people).ratings["rater"]} == {"teacher_score"}


def test_countries_beside_one_label_an_item_are_no_raters(tmp_path: Path) -> None:
    countries = ["DE", "FR", "US"] * 10
    rows: Rows = [["id", "human", "country"]]
    rows += [[*of] for of in zip(ITEMS, ANNA, countries, strict=True)]

    assert {*read(tmp_path, labels=rows).ratings["rater"]} == {"human"}


def test_file_of_which_nothing_is_read_is_named(tmp_path: Path) -> None:
    people = rows_of("id", "anna", "ben", values=(ANNA, BEN))

    result = read(tmp_path, people=people, second=rows_of("id", "model", values=(JUDGE,)))

    assert any("not read: second.csv" in note and "--judge model" in note for note in result.notes)
