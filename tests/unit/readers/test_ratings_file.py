"""A file of ratings is read without a rubric, in the shapes that people have."""

from pathlib import Path

import pytest

from eval_assets.evaluation import Evaluation
from eval_assets.readers import Labels, read_ratings_file
from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from tests.unit.readers.conftest import Reported

Rating = tuple[str, str, str, float]


def read(
    tmp_path: Path,
    content: str,
    *,
    scale: Scale | None = None,
    level: Level | None = None,
    name: str = "ratings.csv",
) -> tuple[Evaluation, Labels]:
    (tmp_path / name).write_text(content)
    return read_ratings_file(tmp_path / name, scale=scale, level=level)


def ratings(labels: Labels) -> set[Rating]:
    columns = ["response_id", "question_id", "rater_id", "value"]
    return set(labels.ratings[columns].itertuples(index=False, name=None))


TWO_BY_TWO = {("a", "anna", 1), ("a", "ben", 2), ("b", "anna", 4), ("b", "ben", 5)}


@pytest.mark.parametrize(
    "content",
    [
        "item,rater,rating\na,anna,1\na,ben,2\nb,anna,4\nb,ben,5\n",
        "Document ID,Annotator,Score\na,anna,1\na,ben,2\nb,anna,4\nb,ben,5\n",
        "id;anna;ben\na;1;2\nb;4;5\n",
        "id\tanna\tben\na\t1\t2\nb\t4\t5\n",
        "response_id,text,anna,ben\na,Some text.,1,2\nb,More text.,4,5\n",
    ],
)
def test_long_and_wide_tables_are_read_alike(tmp_path: Path, content: str) -> None:
    evaluation, labels = read(tmp_path, content)

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == TWO_BY_TWO
    assert evaluation.rubric[0].scale == LIKERT5
    assert evaluation.rubric[0].scale_guessed


def test_a_table_without_items_rates_its_rows(tmp_path: Path) -> None:
    _, labels = read(tmp_path, "anna,ben\n1,2\n4,5\n")

    assert {item for item, *_ in ratings(labels)} == {"row 2", "row 3"}


def test_a_column_for_each_question_takes_the_rater_from_its_row(tmp_path: Path) -> None:
    evaluation, labels = read(tmp_path, "item,rater,tone,safe\na,anna,3,1\na,ben,5,0\n")

    assert [question.id for question in evaluation.rubric] == ["tone", "safe"]
    assert [question.scale for question in evaluation.rubric] == [LIKERT5, BINARY]
    assert ("a", "safe", "ben", 0) in ratings(labels)


def test_columns_of_raters_and_questions_are_told_apart(tmp_path: Path) -> None:
    content = "item,tone_r1,tone_r2,safe_r1,safe_r2\na,3,4,1,1\nb,5,4,0,1\n"

    evaluation, labels = read(tmp_path, content)

    assert [question.id for question in evaluation.rubric] == ["tone", "safe"]
    assert ("b", "safe", "r1", 0) in ratings(labels)


def test_words_need_an_order_but_numbers_beside_them_are_items(
    tmp_path: Path, reported: Reported
) -> None:
    content = "item,anna,ben\n1,Good,Good\n2,Bad,OK\n"

    [problem] = reported(lambda: read(tmp_path, content))
    assert problem == (
        'ratings.csv: the ratings are words ("Bad", "Good", "OK"), whose order is not known. Pass '
        "--scale with the words, worst first, as in --scale bad,fair,good; or --level nominal."
    )
    _, labels = read(tmp_path, content, scale=Scale.from_words("bad", "ok", "good"))
    assert ratings(labels) == {
        ("1", "rating", "anna", 2),
        ("1", "rating", "ben", 2),
        ("2", "rating", "anna", 0),
        ("2", "rating", "ben", 1),
    }
    evaluation, _ = read(tmp_path, content, level="nominal")
    assert evaluation.rubric[0].scale.words == ("bad", "good", "ok")


def test_the_latest_round_counts(tmp_path: Path) -> None:
    content = "item,rater,rating,round\na,anna,1,1\na,ben,5,1\na,anna,2,2\na,ben,2,2\n"

    _, labels = read(tmp_path, content)

    assert {value for *_, value in ratings(labels)} == {2}
    assert len(labels.earlier) == 2


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        (
            "item,rater,rating\na,anna,4\na,anna,3\n",
            ["ratings.csv:3:rating: a second rating"],
        ),
        (
            "item,rater,rating\na,anna,9\nb,,2\n",
            [
                "ratings.csv:2:rating: 9 is not on the scale",
                "ratings.csv:3:rater: a rating without",
            ],
        ),
        (
            "item,rater,rating\na,Anna,4\na,anna,3\n",
            ['ratings.csv:3:rater_id: "Anna" and "anna" differ only in case'],
        ),
        ("item,rater,rating\n", ["ratings.csv:1: there are no ratings"]),
        ("text\nsome\n", ["ratings.csv:1: the columns text do not say who gave which rating"]),
    ],
)
def test_bad_rows_are_reported_together(
    tmp_path: Path, reported: Reported, content: str, problems: list[str]
) -> None:
    found = reported(lambda: read(tmp_path, content, scale=LIKERT5))

    assert [line.startswith(start) for line, start in zip(found, problems, strict=True)] == [
        True
    ] * len(problems), found
