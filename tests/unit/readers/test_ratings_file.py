"""A file of ratings is read without a rubric, in the shapes that people have."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.labels.validation import Labels
from eval_assets.readers.labels.without_rubric import RatingsOptions
from eval_assets.readers.ratings_file import read_ratings_file
from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from tests.unit.readers.conftest import Reported
from tests.unit.readers.formats.xlsx import Cell, workbook
from tests.unit.readers.importers.exports import EXPORTS, written

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
    ratings = read_ratings_file(tmp_path / name, RatingsOptions(scale=scale, level=level))
    return ratings.evaluation, ratings.labels


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
    evaluation, labels = read(tmp_path, "item,rater,tone,safe\na,anna,1,1\na,ben,5,0\n")

    assert [question.id for question in evaluation.rubric] == ["tone", "safe"]
    assert [question.scale for question in evaluation.rubric] == [LIKERT5, BINARY]
    assert ("a", "safe", "ben", 0) in ratings(labels)


@pytest.mark.parametrize(
    ("values", "scale"),
    [("1 4", (1, 4)), ("1 2", (1, 2)), ("2 5", (2, 5)), ("0.2 0.9", (0.2, 0.9)), ("0 1", (0, 1))],
)
def test_a_guessed_scale_is_no_wider_than_the_ratings(
    tmp_path: Path, values: str, scale: tuple[float, float]
) -> None:
    low, high = values.split()
    evaluation, _ = read(tmp_path, f"item,anna,ben\na,{low},{high}\nb,{high},{high}\n")

    assert (evaluation.rubric[0].scale.low, evaluation.rubric[0].scale.high) == scale


def test_columns_of_raters_and_questions_are_told_apart(tmp_path: Path) -> None:
    content = "item,tone_r1,tone_r2,safe_r1,safe_r2\na,3,4,1,1\nb,5,4,0,1\n"

    evaluation, labels = read(tmp_path, content)

    assert [question.id for question in evaluation.rubric] == ["tone", "safe"]
    assert ("b", "safe", "r1", 0) in ratings(labels)


ITEMS, QUESTIONS, NAMES = ("i0", "i1", "i2"), ("accuracy", "tone"), ("Anna", "Ben", "Cleo")
CROSSED = {
    (item, question, name, float(1 + (5 * i + 3 * j + k) % 5))
    for i, item in enumerate(ITEMS)
    for j, question in enumerate(QUESTIONS)
    for k, name in enumerate(NAMES)
}
VALUES = {(item, question, name): f"{value:g}" for item, question, name, value in CROSSED}


def sheet(*rows: Sequence[str]) -> str:
    return "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "content",
    [
        sheet(
            ["id", *(q if not k else "" for q in QUESTIONS for k in range(3))],
            ["", *(n for _ in QUESTIONS for n in NAMES)],
            *([i, *(VALUES[i, q, n] for q in QUESTIONS for n in NAMES)] for i in ITEMS),
        ),
        sheet(
            ["id", *(n if not k else "" for n in NAMES for k in range(2))],
            ["", *(q for _ in NAMES for q in QUESTIONS)],
            *([i, *(VALUES[i, q, n] for n in NAMES for q in QUESTIONS)] for i in ITEMS),
        ),
        sheet(
            ["id", *(f"{q}_{n}" for q in QUESTIONS for n in NAMES)],
            *([i, *(VALUES[i, q, n] for q in QUESTIONS for n in NAMES)] for i in ITEMS),
        ),
        sheet(
            ["Timestamp", "Name", *(f"{q} [{i}]" for q in QUESTIONS for i in ITEMS)],
            *(["2026", n, *(VALUES[i, q, n] for q in QUESTIONS for i in ITEMS)] for n in NAMES),
        ),
        sheet(
            ["Your name", *(f"{q} [{i}]" for q in QUESTIONS for i in ITEMS)],
            *([n, *(VALUES[i, q, n] for q in QUESTIONS for i in ITEMS)] for n in NAMES),
        ),
    ],
    ids=["questions over raters", "raters over questions", "in one", "grid", "grid by name"],
)
def test_raters_questions_and_items_are_told_apart(tmp_path: Path, content: str) -> None:
    _, labels = read(tmp_path, content)

    assert ratings(labels) == CROSSED
    assert any("for example, Anna rated i0 on accuracy: 1; Ben" in note for note in labels.notes)


def test_a_grid_without_names_is_rated_by_its_rows(tmp_path: Path) -> None:
    _, labels = read(tmp_path, "How good? [a],How good? [b]\n1,2\n4,5\n")

    assert {(i, r, v) for i, _, r, v in ratings(labels)} == {
        ("a", "row 2", 1),
        ("b", "row 2", 2),
        ("a", "row 3", 4),
        ("b", "row 3", 5),
    }


def test_words_need_an_order_but_numbers_beside_them_are_items(
    tmp_path: Path, reported: Reported
) -> None:
    content = "item,anna,ben\n1,Great,Great\n2,Meh,Fine\n"

    [problem] = reported(lambda: read(tmp_path, content))
    assert problem == (
        'ratings.csv: the ratings are words ("Fine", "Great", "Meh"), whose order is not known. '
        "Pass --scale with the words, worst first, as in --scale bad,fair,good; or --level nominal."
    )
    _, labels = read(tmp_path, content, scale=Scale.from_words("meh", "fine", "great"))
    assert ratings(labels) == {
        ("1", "rating", "anna", 2),
        ("1", "rating", "ben", 2),
        ("2", "rating", "anna", 0),
        ("2", "rating", "ben", 1),
    }
    evaluation, _ = read(tmp_path, content, level="nominal")
    assert evaluation.rubric[0].scale.words == ("fine", "great", "meh")


@pytest.mark.parametrize(
    ("low", "high", "n_values"),
    [
        ("Disagree", "Strongly agree", 4),
        ("neutral", "strongly agree", 5),
        ("Poor", "Excellent", 4),
        ("no", "partially", 3),
        ("rarely", "always", 5),
        ("1 - poor", "2 - good", 2),
    ],
)
def test_words_in_which_surveys_ask_have_a_known_order(
    tmp_path: Path, low: str, high: str, n_values: int
) -> None:
    evaluation, labels = read(tmp_path, f"item,anna,ben\na,{low},{high}\nb,{low},{low}\n")

    values = {(item, rater): value for item, _, rater, value in ratings(labels)}
    assert values["a", "anna"] < values["a", "ben"]
    assert len(evaluation.rubric[0].scale.values or ()) == n_values


@pytest.mark.parametrize(
    ("yes", "no"), [("ja", "nein"), ("WAHR", "FALSCH"), ("Oui", "Non"), ("y", "n")]
)
def test_yes_and_no_are_read_in_the_languages_of_spreadsheets(
    tmp_path: Path, yes: str, no: str
) -> None:
    evaluation, labels = read(tmp_path, f"id;anna;ben\na;{yes};{no}\nb;{no};{no}\n")

    assert evaluation.rubric[0].scale == BINARY
    assert ("a", "rating", "anna", 1) in ratings(labels)
    assert ("a", "rating", "ben", 0) in ratings(labels)


def test_decimal_comma_off_the_scale_is_quoted_as_written(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("id;anna;ben\na;4,5;5\nb;1;2\n")

    with pytest.raises(ExceptionGroup) as raised:
        read_ratings_file(path, RatingsOptions(scale=Scale.from_steps(low=1, high=5)))

    assert str(raised.value.exceptions[0]).startswith('ratings.csv:2:anna: "4,5" is not on the')


def test_percent_values_lie_between_0_and_100(tmp_path: Path) -> None:
    evaluation, labels = read(tmp_path, "id;anna;ben\na;80%;62,5 %\nb;0%;20%\n")

    assert evaluation.rubric[0].scale == Scale(low=0, high=100)
    assert ("a", "rating", "ben", 62.5) in ratings(labels)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (
            "id,anna,ben,average\na,1,2,1.5\nb,4,5,4.5\n",
            "not read as ratings, by their names: average",
        ),
        ("id,anna,ben,Gold\na,1,2,2\nb,4,5,4\n", "not read as ratings, by their names: Gold"),
        ("id,anna,ben\na,1,2\nb,4,5\nTotal,5,7\n", "line 4 not read: it sums up the others"),
        (
            "id,anna,ben\na,1,2\nb,4,5\nMean,2.5,3.5\nSD,2,2\n",
            "line 4, 5 not read: it sums up the others",
        ),
        (
            "id,anna,ben\na,1,2\nc,-,n/a\nb,4,5\n",
            '2 cells with "-", "n/a" read as not rated',
        ),
        ("id,anna,ben,lead_time\na,1,2,7\nb,4,5,9\n", "columns anna, ben read as raters of rating"),
        (
            "Your name,a,b\nanna,1,4\nben,2,5\n",
            "each row read as a rater, the columns a, b as what they rated",
        ),
    ],
)
def test_what_is_not_a_rating_is_left_out_and_named(
    tmp_path: Path, content: str, note: str
) -> None:
    _, labels = read(tmp_path, content)

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == TWO_BY_TWO
    assert note in labels.notes


def test_answers_to_a_form_name_their_rater_by_address(tmp_path: Path) -> None:
    header = "Timestamp,Email Address,Response ID,How kind is it?,How safe is it?,Comments"
    rows = [
        f"2026/01/02 10:00:00 AM,{rater}@example.org,{item},{kind},{safe},fine"
        for item in "ab"
        for rater, kind, safe in (("anna", 4, 1), ("ben", 5, 2))
    ]

    evaluation, labels = read(tmp_path, "\n".join([header, *rows]))

    assert [question.id for question in evaluation.rubric] == ["How kind is it?", "How safe is it?"]
    assert ("a", "How safe is it?", "ben@example.org", 2) in ratings(labels)


def test_a_typing_error_does_not_cost_a_rater_the_column(
    tmp_path: Path, reported: Reported
) -> None:
    content = "id,anna,ben\na,1,2\nb,4,fuor\nc,3,3\n"

    [problem] = reported(lambda: read(tmp_path, content))
    assert problem.startswith('ratings.csv:3:ben: "fuor" is not on the scale of "rating".')


@pytest.mark.parametrize("zero", ["\N{FULLWIDTH DIGIT ZERO}", "\N{ARABIC-INDIC DIGIT ZERO}"])
def test_digits_of_other_scripts_are_numbers(tmp_path: Path, zero: str) -> None:
    one, two, four = (chr(ord(zero) + n) for n in (1, 2, 4))

    _, labels = read(tmp_path, f"id,anna,ben\na,{one},{four}\nb,{two},{two}\n")

    assert {value for *_, value in ratings(labels)} == {1, 2, 4}


def test_numbers_that_spreadsheets_keep_as_text_are_numbers(tmp_path: Path) -> None:
    content = 'id,anna,ben\na,\'1,"=""4"""\nb,2,="3"\n'

    _, labels = read(tmp_path, content)

    assert [value for *_, value in sorted(ratings(labels))] == [1, 4, 2, 3]


def test_unknown_word_is_reported_with_the_word_meant(tmp_path: Path, reported: Reported) -> None:
    content = "id,anna,ben\na,bad,ok\nb,good,godo\nc,ok,good\n"

    [problem] = reported(lambda: read(tmp_path, content))

    assert problem == (
        'ratings.csv:3:ben: "godo" is not on the scale of "rating". '
        'Write "good", or declare the scale that raters saw.'
    )


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        (["bad", "ok", "good"], "0 (bad), 1 (ok), 2 (good)"),
        (["1 - bad", "2 - ok", "3 - good"], "1 (1 - bad), 2 (2 - ok), 3 (3 - good)"),
        (["no", "yes"], "0, 1"),
    ],
)
def test_rare_unknown_word_leaves_the_order_of_the_others(
    tmp_path: Path, reported: Reported, words: list[str], scale: str
) -> None:
    rows = [[f"r{n}", words[n % len(words)], words[n % len(words)]] for n in range(20)]
    rows[11][2], rows[17][1] = "superb", "superb"

    problems = reported(lambda: read(tmp_path, lines(["id", "anna", "ben"], *rows)))

    assert problems == [
        f'ratings.csv:{line}: "superb" is not on the scale of "rating". '
        f"Use one of {scale}, or declare the scale that raters saw."
        for line in ("13:ben", "19:anna")
    ]


def test_only_column_of_words_in_a_known_order_is_a_question(tmp_path: Path) -> None:
    rows = [[f"t{n}", name, ("bad", "ok", "good")[n % 3]] for n in range(6) for name in ("a", "b")]

    evaluation, labels = read(tmp_path, lines(["text_id", "annotator", "verdicts"], *rows))

    assert [question.id for question in evaluation.rubric] == ["verdicts"]
    assert ("t5", "verdicts", "b", 2) in ratings(labels)


def test_ratings_without_raters_are_told_from_roles_left_open(
    tmp_path: Path, reported: Reported
) -> None:
    rows = [[f"r{n}", 1 + n % 5] for n in range(20)]

    [problem] = reported(lambda: read(tmp_path, lines(["id", "rating"], *rows)))
    assert problem == (
        "ratings.csv:1: no column says who gave the ratings in rating. Add a column rater_id, or "
        "if each rater has a file, run eval-assets init on their folder."
    )
    rows = [[f"r{n // 2}", "ab"[n % 2], ("meh", "fine")[n % 2]] for n in range(20)]
    [problem] = reported(lambda: read(tmp_path, lines(["id", "coder", "verdicts"], *rows)))
    assert "--item id --rater coder --rating verdicts (candidates" in problem


def test_one_column_of_ratings_is_too_few(tmp_path: Path, reported: Reported) -> None:
    [problem] = reported(lambda: read(tmp_path, "id,anna\na,1\nb,4\n"))

    assert problem.startswith("ratings.csv:1: only the column anna holds ratings, and agreement")


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_of_another_tool_is_read_as_its_labels(
    tmp_path: Path, reported: Reported, name: str
) -> None:
    path = tmp_path / f"export.{EXPORTS[name][0]}"
    path.write_text(written(name))
    tool, result = import_files([path], source=None)
    rated = {(item, question, rater) for item, question, rater in result.ratings}

    if rated:
        labels = read_ratings_file(path, RatingsOptions(level="nominal")).labels
        assert {(item, question, rater) for item, question, rater, _ in ratings(labels)} == rated
        assert f"read as an export of {tool}" in labels.notes
    else:
        [problem] = reported(lambda: read_ratings_file(path, RatingsOptions()))
        assert "but no ratings by humans. Run eval-assets import export." in problem


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
            ['ratings.csv:3:rater: "Anna" and "anna" differ only in case'],
        ),
        ("item,rater,rating\n", ["ratings.csv:1: there are no ratings"]),
        ("text\nsome\n", ["ratings.csv:1: the columns text do not say who gave which rating"]),
    ],
)
def test_bad_rows_are_reported_together(
    tmp_path: Path, reported: Reported, content: str, problems: list[str]
) -> None:
    result = reported(lambda: read(tmp_path, content, scale=LIKERT5))

    assert [line.startswith(start) for line, start in zip(result, problems, strict=True)] == [
        True
    ] * len(problems), result


@pytest.mark.parametrize(
    ("write", "note"),
    [
        ("{}/5", '"1/5" in anna, ben read as 1 of 5'),
        ("{} of 5", '"1 of 5" in anna, ben read as 1 of 5'),
        ("{} out of 5", '"1 out of 5" in anna, ben read as 1 of 5'),
        ("{} stars", '"1 stars" in anna, ben read as 1'),
    ],
)
def test_ratings_of_a_highest_value_are_numbers(tmp_path: Path, write: str, note: str) -> None:
    rows = [("a", 1, 2), ("b", 4, 5)]
    lines = [f"{item},{write.format(one)},{write.format(two)}\n" for item, one, two in rows]
    evaluation, labels = read(tmp_path, f"id,anna,ben\n{''.join(lines)}")

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == TWO_BY_TWO
    assert evaluation.rubric[0].scale == LIKERT5
    assert note in labels.notes


@pytest.mark.parametrize("empty", ["", "\u2606"])
def test_stars_are_counted(tmp_path: Path, empty: str) -> None:
    one, two, four, five = ("\u2605" * stars + empty * (5 - stars) for stars in (1, 2, 4, 5))
    evaluation, labels = read(tmp_path, f"id,anna,ben\na,{one},{two}\nb,{four},{five}\n")

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == TWO_BY_TWO
    assert evaluation.rubric[0].scale == LIKERT5


def test_the_highest_value_that_ratings_name_is_that_of_each_question(tmp_path: Path) -> None:
    content = "id,rater,clarity,tone\na,anna,4/5,6/10\na,ben,3/5,7/10\nb,anna,1/5,8/10\n"
    evaluation, labels = read(tmp_path, content)

    scales = {
        question.id: (q.low, q.high) for question in evaluation.rubric for q in [question.scale]
    }
    assert scales == {"clarity": (1, 5), "tone": (1, 10)}
    assert ("a", "tone", "ben", 7) in ratings(labels)


def test_ratings_on_two_scales_are_not_compared(tmp_path: Path, reported: Reported) -> None:
    content = "id,anna,ben\na,4/5,3/10\nb,2/5,7/10\n"

    assert reported(lambda: read(tmp_path, content)) == [
        "ratings.csv:1:ben: some ratings are of 5, others of 10. Bring them to one scale."
    ]


def test_half_a_star_is_a_half(tmp_path: Path) -> None:
    content = "id,anna,ben\na,\u2605\u00bd\u2606\u2606\u2606,\u2605\u2606\u2606\u2606\u2606\n"
    _, labels = read(tmp_path, content)

    assert ratings(labels) == {("a", "rating", "anna", 1.5), ("a", "rating", "ben", 1)}


@pytest.mark.parametrize("days", ["3/24,9/24", "3/5,4/5"])
def test_ids_and_dates_are_not_ratings(tmp_path: Path, days: str) -> None:
    one, other = days.split(",")
    _, labels = read(tmp_path, f"id,day,anna,ben\n1/5,{one},1,2\n2/5,{other},4,5\n")

    assert {item for item, *_ in ratings(labels)} == {"1/5", "2/5"}
    assert {rater for *_, rater, _ in ratings(labels)} == {"anna", "ben"}


def test_numbers_of_which_some_are_named_are_one_scale(tmp_path: Path) -> None:
    content = "id,anna,ben\na,1 - bad,2\nb,4,5 - good\nc,1 - bad,1 - bad\n"
    evaluation, labels = read(tmp_path, content)

    [question] = evaluation.rubric
    assert question.scale.values == (1, 2, 3, 4, 5)
    assert {item[-1] for item in ratings(labels)} == {1, 2, 4, 5}


@pytest.mark.parametrize(
    "content",
    [
        (
            "id,rater,1,2,3,4,5\na,anna,TRUE,FALSE,FALSE,FALSE,FALSE\n"
            "a,ben,FALSE,TRUE,FALSE,FALSE,FALSE\nb,anna,FALSE,FALSE,FALSE,TRUE,FALSE\n"
            "b,ben,FALSE,FALSE,FALSE,FALSE,TRUE\n"
        ),
        "id,rater,1,2,3,4,5\na,anna,x,,,,\na,ben,,X,,,\nb,anna,,,,x,\nb,ben,,,,,x\n",
        ("id,anna 1,anna 2,anna 4,anna 5,ben 1,ben 2,ben 4,ben 5\na,x,,,,,x,,\nb,,,x,,,,,x\n"),
    ],
)
def test_crosses_in_a_column_for_each_value_are_ratings(tmp_path: Path, content: str) -> None:
    evaluation, labels = read(tmp_path, content)

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == TWO_BY_TWO
    assert evaluation.rubric[0].scale == LIKERT5
    assert any(note.startswith("crosses in the columns 1, 2") for note in labels.notes)


def test_two_crosses_for_one_rating_are_an_error(tmp_path: Path, reported: Reported) -> None:
    content = "id,rater,1,2,3\na,anna,x,x,\na,ben,x,,\n"

    assert reported(lambda: read(tmp_path, content)) == [
        "ratings.csv:2:rating: there are crosses for 1 and 2. Keep one of them."
    ]


def test_crosses_in_words_of_no_known_order_need_the_scale(
    tmp_path: Path, reported: Reported
) -> None:
    content = "id,rater,meh,nice,wow\na,anna,x,,\na,ben,,x,\nb,anna,,,x\nb,ben,,x,\n"

    [message] = reported(lambda: read(tmp_path, content))
    _, labels = read(tmp_path, content, scale=Scale.from_words("meh", "nice", "wow"))

    assert "whose order is not known" in message
    assert ("b", "rating", "ben", 1) in ratings(labels)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,anna,ben\na,x,x\nb,,x\n", {("a", "anna", 1), ("b", "anna", 0), ("b", "ben", 1)}),
        (
            "id,rater,kind,right\na,anna,x,x\na,ben,,x\n",
            {("a", "anna", 1), ("a", "ben", 0), ("a", "ben", 1)},
        ),
    ],
)
def test_crosses_of_raters_or_questions_are_yes_and_no(
    tmp_path: Path, content: str, expected: set[tuple[str, str, float]]
) -> None:
    evaluation, labels = read(tmp_path, content)

    actual = {(item, rater, value) for item, _, rater, value in ratings(labels)}
    assert expected <= actual
    assert {question.scale for question in evaluation.rubric} == {BINARY}


def test_a_folder_is_not_a_file(tmp_path: Path, reported: Reported) -> None:
    (tmp_path / "ratings").mkdir()

    assert reported(lambda: read_ratings_file(tmp_path / "ratings", RatingsOptions())) == [
        "ratings: this is a folder. Name a file in it."
    ]
    (tmp_path / "ratings" / "evaluation.yaml").touch()
    command = f"eval-assets run --data {tmp_path / 'ratings'}"
    assert reported(lambda: read_ratings_file(tmp_path / "ratings", RatingsOptions())) == [
        f"ratings: this is an evaluation folder. Name its file of labels, or run: {command}."
    ]


def lines(*rows: Sequence[object]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


RATED = {("i1", "Anna"): 1, ("i1", "Ben"): 2, ("i2", "Anna"): 4, ("i2", "Ben"): 5}
RATED |= {("i3", "Anna"): 3, ("i3", "Ben"): 3}
BY_RATER = [[name, *(RATED[item, name] for item in ("i1", "i2", "i3"))] for name in ("Anna", "Ben")]
BY_ITEM = [(i, RATED[i, "Anna"], RATED[i, "Ben"]) for i in ("i1", "i2", "i3")]
ONE_A_ROW = [[item, name, value] for (item, name), value in RATED.items()]
GERMAN = ["trifft gar nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu"]
GERMAN += ["trifft voll und ganz zu"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "mturk.csv",
            lines(
                ["HITId", "WorkerId", "WorkTimeInSeconds", "Input.text", "Answer.quality"],
                *([item, name, 30, "t", value] for item, name, value in ONE_A_ROW),
            ),
            None,
        ),
        (
            "qualtrics.csv",
            lines(
                ["StartDate", "Progress", "Finished", "ResponseId", "Q1_1", "Q1_2", "Q1_3"],
                ["Start Date", "Progress", "Finished", "Response ID", "Q - a", "Q - b", "Q - c"],
                [f'"{{""ImportId"":""{k}""}}"' for k in range(7)],
                *(["2026-11-01", 100, "True", *row] for row in BY_RATER),
            ),
            None,
        ),
        (
            "monkey.csv",
            lines(
                ["Respondent ID", "Collector ID", "Start Date", "How good?", "", ""],
                ["", "", "", "i1", "i2", "i3"],
                *([name, 400, "11/01/2026", *values] for name, *values in BY_RATER),
            ),
            None,
        ),
        ("german.csv", lines(["Antwort-ID", "Bewerter", "Bewertung"], *ONE_A_ROW), None),
        (
            "likert.csv",
            lines(
                ["Nr.", "Anna", "Ben"], *([i, GERMAN[a - 1], GERMAN[b - 1]] for i, a, b in BY_ITEM)
            ),
            GERMAN,
        ),
        (
            "grades.csv",
            lines(
                ["essay", "Anna", "Ben"],
                *([i, "FDCBA"[a - 1], "FDCBA"[b - 1]] for i, a, b in BY_ITEM),
            ),
            list("fdcba"),
        ),
        ("headerless.csv", lines(*reversed(BY_ITEM)), None),
        (
            "nested.json",
            json.dumps(
                [
                    {
                        "id": i,
                        "annotations": [
                            {"annotator": n, "rating": RATED[i, n]} for n in ("Anna", "Ben")
                        ],
                    }
                    for i in ("i1", "i2", "i3")
                ]
            ),
            None,
        ),
        (
            "by_rater.json",
            json.dumps(
                [
                    {"id": i, "ratings": {n: RATED[i, n] for n in ("Anna", "Ben")}}
                    for i in ("i1", "i2", "i3")
                ]
            ),
            None,
        ),
        (
            "doccano.jsonl",
            "\n".join(
                json.dumps({"id": k, "text": item, "label": [str(value)], "username": name})
                for k, (item, name, value) in enumerate(ONE_A_ROW)
            ),
            None,
        ),
        (
            "unsure.csv",
            lines(
                ["id", "Anna", "Ben"],
                *BY_ITEM,
                ["i4", "Unsure", 2],
                *([f"j{k}", 2, 2] for k in range(3)),
            ),
            None,
        ),
    ],
)
def test_tables_of_many_programs_are_read(
    tmp_path: Path, name: str, content: str, words: list[str] | None
) -> None:
    evaluation, labels = read(tmp_path, content, name=name)

    low = 0 if words else 1
    items = labels.ratings["response_id"].astype(str)
    by_item = labels.ratings.groupby(items)["value"].apply(lambda values: sorted(values - low))
    assert by_item.tolist()[:3] == [[0, 1], [3, 4], [2, 2]]
    assert (evaluation.rubric[0].scale.low, evaluation.rubric[0].scale.high) == (low, low + 4)


def test_a_sheet_for_each_rater_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sheets.xlsx"
    sheets: dict[str, list[list[Cell]]] = {
        name: [["id", "score"], ["i1", 1 + k], ["i2", 4 + k]] for k, name in enumerate("ab")
    }
    path.write_bytes(workbook(sheets))

    labels = read_ratings_file(path, RatingsOptions()).labels

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == {
        ("i1", "a", 1),
        ("i1", "b", 2),
        ("i2", "a", 4),
        ("i2", "b", 5),
    }


def test_an_error_names_the_sheet_of_several(tmp_path: Path, reported: Reported) -> None:
    path = tmp_path / "sheets.xlsx"
    sheets: dict[str, list[list[Cell]]] = {
        "anna": [["id", "score"], ["i1", 1], ["i2", 4]],
        "ben": [["id", "score"], ["i1", 2], ["i2", "x"]],
    }
    path.write_bytes(workbook(sheets))

    [line] = reported(lambda: read_ratings_file(path, RatingsOptions(scale=LIKERT5)))

    assert line.startswith('sheets.xlsx:ben!3:score: "x" is not on the scale')


def test_votes_between_models_are_of_pairs(tmp_path: Path) -> None:
    content = lines(
        ["question_id", "model_a", "model_b", "judge", "winner"],
        ["q1", "m1", "m2", "anna", "model_a"],
        ["q1", "m1", "m2", "ben", "tie"],
        ["q1", "m1", "m3", "anna", "model_b"],
    )

    _, labels = read(tmp_path, content)

    assert ratings(labels) == {
        ("q1 / m1 / m2", "rating", "anna", 0),
        ("q1 / m1 / m2", "rating", "ben", 1),
        ("q1 / m1 / m3", "rating", "anna", 2),
    }


def test_a_header_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("item,anna,ben\n")

    with pytest.raises(ExceptionGroup) as group:
        read_ratings_file(tmp_path / "ratings.csv", RatingsOptions())

    assert "do not say who gave which rating" in str(group.value.exceptions[0])


def test_thumbs_and_sliders_are_ratings(tmp_path: Path) -> None:
    up, down = "\N{THUMBS UP SIGN}", "\N{THUMBS DOWN SIGN}"
    thumbs = lines(["id", "anna", "ben"], ["a", up, up], ["b", down, up])
    assert ("b", "rating", "anna", 0) in ratings(read(tmp_path, thumbs)[1])
    sliders = lines(["id", "anna", "ben"], *([k, 4 * k, 4 * k + 1] for k in range(20)))

    evaluation, labels = read(tmp_path, sliders)

    assert len(labels.ratings) == 40
    assert (evaluation.rubric[0].scale.low, evaluation.rubric[0].scale.high) == (0, 77)


@pytest.mark.parametrize("word", ["four", "good"])
def test_a_word_among_numbers_is_the_error_and_not_the_scale(
    tmp_path: Path, reported: Reported, word: str
) -> None:
    content = lines(["id", "anna", "ben"], ["a", 1, 2], ["b", word, 4], ["c", 5, 5], ["d", 3, 2])

    [problem] = reported(lambda: read(tmp_path, content))

    assert problem.startswith(f'ratings.csv:3:anna: "{word}" is not on the scale')


def test_a_rare_number_beyond_a_common_scale_does_not_widen_it(
    tmp_path: Path, reported: Reported
) -> None:
    rows = [[k, 1 + k % 5, 9 if k == 7 else 1 + k * 3 % 5] for k in range(30)]
    content = lines(["id", "anna", "ben"], *rows)

    [problem] = reported(lambda: read(tmp_path, content))

    assert "9 is far from the other ratings, which lie between 1 and 5" in problem


def test_raters_who_use_tens_do_not_hide_those_who_use_any_number(tmp_path: Path) -> None:
    rows = [
        [k, 10 * (k % 11), 10 * (k * 7 % 11), 3 * k, 100 - 3 * k if k % 2 else ""]
        for k in range(30)
    ]
    content = lines(["id", "anna", "ben", "cleo", "dan"], *rows)

    _, labels = read(tmp_path, content)

    assert set(labels.ratings["rater_id"]) == {"anna", "ben", "cleo", "dan"}
    assert len(labels.ratings) == 105


def test_numbers_between_the_ratings_are_named_and_not_read(tmp_path: Path) -> None:
    rows = [[k, 1 + k % 5, 1 + k * 3 % 5, 1 + 4 * k / 30] for k in range(30)]
    content = lines(["id", "anna", "ben", "certainty_of_model"], *rows)

    _, labels = read(tmp_path, content)

    assert set(labels.ratings["rater_id"]) == {"anna", "ben"}
    assert any("many different numbers: certainty_of_model." in note for note in labels.notes)


def test_a_refusal_prints_a_command_that_works(tmp_path: Path, reported: Reported) -> None:
    people = ("xa", "xb", "xc")
    content = lines(
        ["thing", "who_rated", "points", "at_hour"],
        *(
            [f"t{k}", name, 1 + k % 5, 100 + 3 * k + n]
            for k in range(9)
            for n, name in enumerate(people)
        ),
    )

    [problem] = reported(lambda: read(tmp_path, content))

    assert (
        "Name them, as in: eval-assets agreement ratings.csv --item thing --rater who_rated "
        "--rating points (candidates for items: thing, at_hour; raters: who_rated, thing; ratings: "
        "points)"
    ) in problem
    options = RatingsOptions(items=("thing",), raters=("who_rated",), ratings=("points",))
    assert len(read_ratings_file(tmp_path / "ratings.csv", options).labels.ratings) == 27


TURNS = [[f"c{n // 3}", n % 3, *ratings] for n, ratings in enumerate([(1, 2), (5, 4), (3, 3)] * 4)]


def of_turns(*headers: str) -> str:
    rows = [[*key, r, of] for *key, anna, ben in TURNS for r, of in (("anna", anna), ("ben", ben))]
    return lines([*headers, "rater", "rating"], *rows)


@pytest.mark.parametrize(
    "content",
    [
        of_turns("conversation_id", "turn"),
        lines(["conversation_id", "turn", "anna", "ben"], *TURNS),
    ],
)
def test_conversation_and_turn_name_the_item_together(tmp_path: Path, content: str) -> None:
    _, labels = read(tmp_path, content)

    assert "conversation_id and turn read together as what was rated" in labels.notes
    assert len(labels.ratings) == 24
    assert ("c3 / 2", "rating", "ben", 3) in ratings(labels)


def test_second_ratings_suggest_columns_that_name_items(tmp_path: Path, reported: Reported) -> None:
    problems = reported(lambda: read(tmp_path, of_turns("conversation_id", "part")))

    remedy = "pass them, as in --item conversation_id,part."
    assert problems[0].endswith(
        f"Keep one of the two, or if several columns say what was rated, {remedy}"
    )
    options = RatingsOptions(items=("conversation_id", "part"))
    file = read_ratings_file(tmp_path / "ratings.csv", options)
    assert ("c3 / 2", "rating", "ben", 3) in ratings(file.labels)
    prompts = [json.loads(of)["prompt_id"] for of in file.responses["attributes"]]
    assert sorted(set(prompts)) == ["c0", "c1", "c2", "c3"]


def test_options_name_columns_rows_and_words(tmp_path: Path, reported: Reported) -> None:
    (tmp_path / "r.csv").write_text("exported,by,us\nthing,x,y\na,1,kA\nb,4,5\nc,2,2\n")
    options = RatingsOptions(
        items=("thing",), raters=("x", "y"), skip_rows=1, missing_values=("ka",)
    )

    labels = read_ratings_file(tmp_path / "r.csv", options).labels

    assert {(item, rater, value) for item, _, rater, value in ratings(labels)} == {
        ("a", "x", 1),
        ("b", "x", 4),
        ("b", "y", 5),
        ("c", "x", 2),
        ("c", "y", 2),
    }
    wrong = RatingsOptions(items=("things",), skip_rows=1)
    assert reported(lambda: read_ratings_file(tmp_path / "r.csv", wrong)) == [
        'r.csv: --item names "things", and there is no such column. Write "thing".'
    ]


@pytest.mark.parametrize(
    ("content", "n_items"),
    [
        ("3,3,4\n1,2,2\n5,5,4\n", 3),
        ("2,5\n1,2\n5,5\n", 3),
        ("1,2,3\n1,2,2\n5,5,4\n", 2),
        ("0,1\n1,2\n5,5\n", 2),
        ("r1,2,2\nr2,4,5\n", 2),
    ],
    ids=["repeated", "not counting", "from one", "from zero", "after an id"],
)
def test_a_first_row_of_numbers_names_columns_only_if_it_counts_them(
    tmp_path: Path, content: str, n_items: int
) -> None:
    _, labels = read(tmp_path, content)

    assert labels.ratings["response_id"].nunique() == n_items


def test_a_table_with_messages_is_no_chat_log(tmp_path: Path) -> None:
    messages = '"[{""role"": ""user"", ""content"": ""Hi""}]"'
    content = lines(["id", "messages", "anna", "ben"], ["a", messages, 1, 2], ["b", messages, 4, 5])

    assert {(i, r, v) for i, _, r, v in ratings(read(tmp_path, content)[1])} == TWO_BY_TWO
