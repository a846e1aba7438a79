"""A file of ratings is read without a rubric, in the shapes that people have."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
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
) -> RatingTables:
    (tmp_path / name).write_text(content)
    return read_ratings([tmp_path / name], ReadOptions(scale=scale, level=level))


def ratings(tables: RatingTables) -> set[Rating]:
    columns = ["item", "question", "rater", "value"]
    return set(tables.ratings[columns].itertuples(index=False, name=None))


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
    tables = read(tmp_path, content)

    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == TWO_BY_TWO
    assert tables.questions[0].scale == LIKERT5
    assert tables.questions[0].scale_guessed


def test_a_table_without_items_rates_its_rows(tmp_path: Path) -> None:
    tables = read(tmp_path, "anna,ben\n1,2\n4,5\n")

    assert {item for item, *_ in ratings(tables)} == {"row 2", "row 3"}


def test_a_column_for_each_question_takes_the_rater_from_its_row(tmp_path: Path) -> None:
    tables = read(tmp_path, "item,rater,tone,safe\na,anna,1,1\na,ben,5,0\n")

    assert [question.id for question in tables.questions] == ["tone", "safe"]
    assert [question.scale for question in tables.questions] == [LIKERT5, BINARY]
    assert ("a", "safe", "ben", 0) in ratings(tables)


@pytest.mark.parametrize(
    ("values", "scale"),
    [("1 4", (1, 4)), ("1 2", (1, 2)), ("2 5", (2, 5)), ("0.2 0.9", (0.2, 0.9)), ("0 1", (0, 1))],
)
def test_a_guessed_scale_is_no_wider_than_the_ratings(
    tmp_path: Path, values: str, scale: tuple[float, float]
) -> None:
    low, high = values.split()
    tables = read(tmp_path, f"item,anna,ben\na,{low},{high}\nb,{high},{high}\n")

    assert (tables.questions[0].scale.low, tables.questions[0].scale.high) == scale


def test_columns_of_raters_and_questions_are_told_apart(tmp_path: Path) -> None:
    content = "item,tone_r1,tone_r2,safe_r1,safe_r2\na,3,4,1,1\nb,5,4,0,1\n"

    tables = read(tmp_path, content)

    assert [question.id for question in tables.questions] == ["tone", "safe"]
    assert ("b", "safe", "r1", 0) in ratings(tables)


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
    tables = read(tmp_path, content)

    assert ratings(tables) == CROSSED


def test_a_grid_without_names_is_rated_by_its_rows(tmp_path: Path) -> None:
    tables = read(tmp_path, "How good? [a],How good? [b]\n1,2\n4,5\n")

    assert {(i, r, v) for i, _, r, v in ratings(tables)} == {
        ("a", "row 2", 1),
        ("b", "row 2", 2),
        ("a", "row 3", 4),
        ("b", "row 3", 5),
    }


@pytest.mark.parametrize(
    ("low", "high", "n_values"),
    [
        ("Disagree", "Strongly agree", 4),
        ("neutral", "strongly agree", 5),
        ("Poor", "Excellent", 4),
        ("no", "partially", 3),
        ("rarely", "always", 5),
        ("1 - poor", "2 - good", 2),
        ("rot", "grün", 3),
        ("Mee oneens", "Helemaal mee eens", 5),
    ],
)
def test_words_in_which_surveys_ask_have_a_known_order(
    tmp_path: Path, low: str, high: str, n_values: int
) -> None:
    tables = read(tmp_path, f"item,anna,ben\na,{low},{high}\nb,{low},{low}\n")

    values = {(item, rater): value for item, _, rater, value in ratings(tables)}
    assert values["a", "anna"] < values["a", "ben"]
    assert len(tables.questions[0].scale.values or ()) == n_values


@pytest.mark.parametrize(
    ("yes", "no"), [("ja", "nein"), ("WAHR", "FALSCH"), ("Oui", "Non"), ("y", "n")]
)
def test_yes_and_no_are_read_in_the_languages_of_spreadsheets(
    tmp_path: Path, yes: str, no: str
) -> None:
    tables = read(tmp_path, f"id;anna;ben\na;{yes};{no}\nb;{no};{no}\n")

    assert tables.questions[0].scale == BINARY
    assert ("a", "rating", "anna", 1) in ratings(tables)
    assert ("a", "rating", "ben", 0) in ratings(tables)


def test_decimal_comma_off_the_scale_is_quoted_as_written(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("id;anna;ben\na;4,5;5\nb;1;2\n")

    with pytest.raises(ExceptionGroup) as raised:
        read_ratings([path], ReadOptions(scale=Scale.from_steps(low=1, high=5)))

    assert str(raised.value.exceptions[0]).startswith('ratings.csv:2:anna: "4,5" is not on the')


def test_percent_values_lie_between_0_and_100(tmp_path: Path) -> None:
    tables = read(tmp_path, "id;anna;ben\na;80%;62,5 %\nb;0%;20%\n")

    assert tables.questions[0].scale == Scale(low=0, high=100)
    assert ("a", "rating", "ben", 62.5) in ratings(tables)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("id,anna,ben,average\na,1,2,1.5\nb,4,5,4.5\n", "ratings.csv:average"),
        ("id,anna,ben,Gold\na,1,2,2\nb,4,5,4\n", "ratings.csv:Gold"),
        ("id,anna,ben\na,1,2\nb,4,5\nTotal,5,7\n", "line 4 not read: it sums up the others"),
        (
            "id,anna,ben\na,1,2\nb,4,5\nAverage score,3,4\n",
            "line 4 not read: it sums up the others",
        ),
        (
            "id,anna,ben\na,1,2\nb,4,5\nMean,2.5,3.5\nSD,2,2\n",
            "line 4, 5 not read: it sums up the others",
        ),
        ("id,anna,ben\na,1,2\nid,anna,ben\nb,4,5\n", "line 3 not read: it repeats the header"),
        ("id,anna,ben\na,1,2\nc,-,n/a\nb,4,5\n", '2 of 6 cells not rated: "-", "n/a"'),
        ("id,anna,ben,lead_time\na,1,2,7\nb,4,5,9\n", "ratings.csv:lead_time"),
        ("Your name,a,b\nanna,1,4\nben,2,5\n", ""),
    ],
)
def test_what_is_not_a_rating_is_left_out_and_named(
    tmp_path: Path, content: str, text: str
) -> None:
    tables = read(tmp_path, content)

    assert not text or text in {*tables.notes, *tables.not_read}
    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == TWO_BY_TWO


ROWS = "a,1,2\nb,4,5\nc,3,3\nd,2,4\ne,5,5\nf,1,1\ng,4,4\nh,2,1\ni,3,5\nj,1,2\nk,5,4\nl,2,2\n"


@pytest.mark.parametrize(
    "summary",
    [
        "Overall,2.75,3.17",
        ",2.75,3.17",
        "Average score,2.8,3.2",
        "kappa,,0.61",
        "ALL,33,38",
        "n,12,12",
        "Std. Dev.,1.48,1.53",
        "Pearson r,0.86,0.91",
        "Lowest,1,1",
        "Average,2.75,3.17\n,1.48,1.53\nmax,5,5",
    ],
)
@pytest.mark.parametrize("place", ["first", "last"])
def test_rows_of_statistics_are_left_out_whatever_they_are_called(
    tmp_path: Path, summary: str, place: str
) -> None:
    content = f"{summary}\n{ROWS}" if place == "first" else f"{ROWS}{summary}\n"
    records = [
        dict(zip(("id", "anna", "ben"), row.split(","), strict=True)) for row in ROWS.split()
    ]

    tables = read(tmp_path, f"id,anna,ben\n{content}")

    assert tables.ratings["item"].nunique() == len(records)
    assert any(note.endswith("not read: it sums up the others") for note in tables.notes)


@pytest.mark.parametrize("last", ["m,5,5", "m,3,3", "Maxim,1,1", "alpha,5,4", "m,4.5,3"])
def test_an_item_with_common_ratings_is_no_row_of_statistics(tmp_path: Path, last: str) -> None:
    tables = read(tmp_path, f"id,anna,ben\n{ROWS}{last}\n")

    assert tables.ratings["item"].nunique() == 13


def test_a_record_of_means_is_left_out_of_json(tmp_path: Path) -> None:
    records = [
        dict(zip(("id", "anna", "ben"), row.split(","), strict=True)) for row in ROWS.split()
    ]
    mean = {"id": "Average", "anna": 2.75, "ben": 3.17}

    tables = read(tmp_path, json.dumps([*records, mean]))

    assert tables.ratings["item"].nunique() == len(records)
    assert "line 13 not read: it sums up the others" in tables.notes


@pytest.mark.parametrize(
    "words",
    [
        "incorrect,partially_correct,correct",
        "Not-Relevant,Partially-Relevant,Relevant",
        "Model A,Tie,Model B",
    ],
)
def test_words_joined_in_any_way_have_their_known_order(tmp_path: Path, words: str) -> None:
    low, middle, high = words.split(",")
    rows = f"a,{low},{middle}\nb,{high},{high}\nc,{middle},{middle}\nd,{low},{low}\n"

    tables = read(tmp_path, f"id,anna,ben\n{rows}")

    assert tables.questions[0].scale.words == (low, middle, high)
    assert tables.questions[0].level == "ordinal"


def test_answers_to_a_form_name_their_rater_by_address(tmp_path: Path) -> None:
    header = "Timestamp,Email Address,Response ID,How kind is it?,How safe is it?,Comments"
    rows = [
        f"2026/01/02 10:00:00 AM,{rater}@example.org,{item},{kind},{safe},fine"
        for item in "ab"
        for rater, kind, safe in (("anna", 4, 1), ("ben", 5, 2))
    ]

    tables = read(tmp_path, "\n".join([header, *rows]))

    assert [question.id for question in tables.questions] == ["How kind is it?", "How safe is it?"]
    assert ("a", "How safe is it?", "ben@example.org", 2) in ratings(tables)


def test_a_typing_error_does_not_cost_a_rater_the_column(
    tmp_path: Path, reported: Reported
) -> None:
    content = "id,anna,ben\na,1,2\nb,4,fuor\nc,3,3\n"

    [problem] = reported(lambda: read(tmp_path, content))
    assert problem.startswith('ratings.csv:3:ben: "fuor" is not a value of the other ratings.')


@pytest.mark.parametrize("zero", ["\N{FULLWIDTH DIGIT ZERO}", "\N{ARABIC-INDIC DIGIT ZERO}"])
def test_digits_of_other_scripts_are_numbers(tmp_path: Path, zero: str) -> None:
    one, two, four = (chr(ord(zero) + n) for n in (1, 2, 4))

    tables = read(tmp_path, f"id,anna,ben\na,{one},{four}\nb,{two},{two}\n")

    assert {value for *_, value in ratings(tables)} == {1, 2, 4}


def test_numbers_that_spreadsheets_keep_as_text_are_numbers(tmp_path: Path) -> None:
    content = 'id,anna,ben\na,\'1,"=""4"""\nb,2,="3"\n'

    tables = read(tmp_path, content)

    assert [value for *_, value in sorted(ratings(tables))] == [1, 4, 2, 3]


def test_unknown_word_is_reported_with_the_word_meant(tmp_path: Path, reported: Reported) -> None:
    content = "id,anna,ben\na,bad,ok\nb,good,godo\nc,ok,good\n"

    [problem] = reported(lambda: read(tmp_path, content))

    assert problem == (
        'ratings.csv:3:ben: "godo" is not a value of the other ratings. Correct it, or if it means '
        "no rating, pass --missing-values godo."
    )


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        (["bad", "ok", "good"], "0 (bad), 1 (ok), 2 (good)"),
        (["1 - bad", "2 - ok", "3 - good"], "1, 2, 3"),
        (["no", "yes"], "0 (no), 1 (yes)"),
    ],
)
def test_rare_unknown_word_leaves_the_order_of_the_others(
    tmp_path: Path, reported: Reported, words: list[str], scale: str
) -> None:
    rows = [[f"r{n}", words[n % len(words)], words[n % len(words)]] for n in range(20)]
    rows[11][2], rows[17][1] = "superb", "superb"

    problems = reported(lambda: read(tmp_path, lines(["id", "anna", "ben"], *rows)))

    assert problems == [
        f'ratings.csv:{line}: "superb" is not on the scale of "rating". Use one of {scale}, '
        "pass --missing-values superb if it means no rating, or --scale SCALE."
        for line in ("19:anna", "13:ben")
    ]


def test_only_column_of_words_in_a_known_order_is_a_question(tmp_path: Path) -> None:
    rows = [[f"t{n}", name, ("bad", "ok", "good")[n % 3]] for n in range(6) for name in ("a", "b")]

    tables = read(tmp_path, lines(["text_id", "annotator", "verdicts"], *rows))

    assert [question.id for question in tables.questions] == ["verdicts"]
    assert ("t5", "verdicts", "b", 2) in ratings(tables)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_of_another_tool_is_read_as_its_labels(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"export.{EXPORTS[name][0]}"
    path.write_text(written(name))
    result = import_files([path])
    rated = {(item, question, rater) for item, question, rater in result.ratings}

    if rated or result.scores:
        tables = read_ratings([path], ReadOptions())
        assert {(item, question, rater) for item, question, rater, _ in ratings(tables)} == rated
        assert len(tables.scores) == len(result.scores)
        assert tables.export is not None
        assert tables.export.tool == result.tool


def test_the_latest_round_counts(tmp_path: Path) -> None:
    content = "item,rater,rating,round\na,anna,1,1\na,ben,5,1\na,anna,2,2\na,ben,2,2\n"

    tables = read(tmp_path, content)

    assert {value for *_, value in ratings(tables)} == {2}


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
                "ratings.csv:3:rater: a rating without",
                "ratings.csv:2:rating: 9 is not on the scale",
            ],
        ),
        (
            "item,rater,rating\na,Anna,4\na,anna,3\n",
            ['ratings.csv:3:rater: "Anna" and "anna" differ only in case'],
        ),
        ("item,rater,rating\n", ["ratings.csv: it has a header and no rows"]),
        ("text\nsome\n", ["ratings.csv: no column of ratings is found among text"]),
    ],
)
def test_bad_rows_are_reported_together(
    tmp_path: Path, reported: Reported, content: str, problems: list[str]
) -> None:
    result = reported(lambda: read(tmp_path, content, scale=LIKERT5))

    assert [line.startswith(start) for line, start in zip(result, problems, strict=True)] == [
        True
    ] * len(problems), result


@pytest.mark.parametrize("write", ["{}/5", "{} of 5", "{} out of 5", "{} stars"])
def test_ratings_of_a_highest_value_are_numbers(tmp_path: Path, write: str) -> None:
    rows = [("a", 1, 2), ("b", 4, 5)]
    lines = [f"{item},{write.format(one)},{write.format(two)}\n" for item, one, two in rows]
    tables = read(tmp_path, f"id,anna,ben\n{''.join(lines)}")

    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == TWO_BY_TWO
    assert tables.questions[0].scale == LIKERT5


@pytest.mark.parametrize("empty", ["", "\u2606"])
def test_stars_are_counted(tmp_path: Path, empty: str) -> None:
    one, two, four, five = ("\u2605" * stars + empty * (5 - stars) for stars in (1, 2, 4, 5))
    tables = read(tmp_path, f"id,anna,ben\na,{one},{two}\nb,{four},{five}\n")

    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == TWO_BY_TWO
    assert tables.questions[0].scale == LIKERT5


def test_the_highest_value_that_ratings_name_is_that_of_each_question(tmp_path: Path) -> None:
    content = "id,rater,clarity,tone\na,anna,4/5,6/10\na,ben,3/5,7/10\nb,anna,1/5,8/10\n"
    tables = read(tmp_path, content)

    scales = {
        question.id: (q.low, q.high) for question in tables.questions for q in [question.scale]
    }
    assert scales == {"clarity": (1, 5), "tone": (1, 10)}
    assert ("a", "tone", "ben", 7) in ratings(tables)


def test_ratings_on_two_scales_are_not_compared(tmp_path: Path, reported: Reported) -> None:
    content = "id,anna,ben\na,4/5,3/10\nb,2/5,7/10\n"

    assert reported(lambda: read(tmp_path, content)) == [
        "ratings.csv: some ratings are of 5, others of 10. Bring them to one scale."
    ]


def test_half_a_star_is_a_half(tmp_path: Path) -> None:
    content = "id,anna,ben\na,\u2605\u00bd\u2606\u2606\u2606,\u2605\u2606\u2606\u2606\u2606\n"
    tables = read(tmp_path, content)

    assert ratings(tables) == {("a", "rating", "anna", 1.5), ("a", "rating", "ben", 1)}


@pytest.mark.parametrize("days", ["3/24,9/24", "3/5,4/5"])
def test_ids_and_dates_are_not_ratings(tmp_path: Path, days: str) -> None:
    one, other = days.split(",")
    tables = read(tmp_path, f"id,day,anna,ben\n1/5,{one},1,2\n2/5,{other},4,5\n")

    assert {item for item, *_ in ratings(tables)} == {"1/5", "2/5"}
    assert {rater for *_, rater, _ in ratings(tables)} == {"anna", "ben"}


def test_numbers_of_which_some_are_named_are_one_scale(tmp_path: Path) -> None:
    content = "id,anna,ben\na,1 - bad,2\nb,4,5 - good\nc,1 - bad,1 - bad\n"
    tables = read(tmp_path, content)

    [question] = tables.questions
    assert question.scale.values == (1, 2, 3, 4, 5)
    assert {item[-1] for item in ratings(tables)} == {1, 2, 4, 5}


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
    tables = read(tmp_path, content)

    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == TWO_BY_TWO
    assert tables.questions[0].scale == LIKERT5


def test_two_crosses_for_one_rating_are_an_error(tmp_path: Path, reported: Reported) -> None:
    content = "id,rater,1,2,3\na,anna,x,x,\na,ben,x,,\n"

    assert reported(lambda: read(tmp_path, content)) == [
        "ratings.csv:2:rating: there are crosses for 1 and 2. Keep one of them."
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,anna,ben\na,x,x\nb,,x\n", {("a", "anna", 1), ("b", "anna", 0), ("b", "ben", 1)}),
        (
            "id,rater,kind,right\na,anna,x,x\na,ben,,x\nb,anna,x,\nb,ben,x,x\n",
            {("a", "anna", 1), ("a", "ben", 0), ("a", "ben", 1)},
        ),
    ],
)
def test_crosses_of_raters_or_questions_are_yes_and_no(
    tmp_path: Path, content: str, expected: set[tuple[str, str, float]]
) -> None:
    tables = read(tmp_path, content)

    actual = {(item, rater, value) for item, _, rater, value in ratings(tables)}
    assert expected <= actual
    assert {question.scale for question in tables.questions} == {BINARY}


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
    tables = read(tmp_path, content, name=name)

    low = 0 if words else 1
    items = tables.ratings["item"].astype(str)
    by_item = tables.ratings.groupby(items)["value"].apply(lambda values: sorted(values - low))
    assert by_item.tolist()[:3] == [[0, 1], [3, 4], [2, 2]]
    assert (tables.questions[0].scale.low, tables.questions[0].scale.high) == (low, low + 4)


def test_a_sheet_for_each_rater_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sheets.xlsx"
    sheets: dict[str, list[list[Cell]]] = {
        name: [["id", "score"], ["i1", 1 + k], ["i2", 4 + k]] for k, name in enumerate("ab")
    }
    path.write_bytes(workbook(sheets))

    tables = read_ratings([path], ReadOptions())

    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == {
        ("i1", "a", 1),
        ("i1", "b", 2),
        ("i2", "a", 4),
        ("i2", "b", 5),
    }


def test_thumbs_and_sliders_are_ratings(tmp_path: Path) -> None:
    up, down = "\N{THUMBS UP SIGN}", "\N{THUMBS DOWN SIGN}"
    thumbs = lines(["id", "anna", "ben"], ["a", up, up], ["b", down, up])
    assert ("b", "rating", "anna", 0) in ratings(read(tmp_path, thumbs))
    sliders = lines(["id", "anna", "ben"], *([k, 4 * k, 4 * k + 1] for k in range(20)))

    tables = read(tmp_path, sliders)

    assert len(tables.ratings) == 40
    assert (tables.questions[0].scale.low, tables.questions[0].scale.high) == (0, 77)


@pytest.mark.parametrize("word", ["four", "good"])
def test_a_word_among_numbers_is_the_error_and_not_the_scale(
    tmp_path: Path, reported: Reported, word: str
) -> None:
    content = lines(["id", "anna", "ben"], ["a", 1, 2], ["b", word, 4], ["c", 5, 5], ["d", 3, 2])

    [problem] = reported(lambda: read(tmp_path, content))

    assert problem.startswith(f'ratings.csv:3:anna: "{word}" is not a value of the other')


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

    tables = read(tmp_path, content)

    assert set(tables.ratings["rater"]) == {"anna", "ben", "cleo", "dan"}
    assert len(tables.ratings) == 105


def test_numbers_between_the_ratings_are_named_and_not_read(tmp_path: Path) -> None:
    rows = [[k, 1 + k % 5, 1 + k * 3 % 5, 1 + 4 * k / 30] for k in range(30)]
    content = lines(["id", "anna", "ben", "certainty_of_model"], *rows)

    tables = read(tmp_path, content)

    assert set(tables.ratings["rater"]) == {"anna", "ben"}


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
    tables = read(tmp_path, content)

    assert len(tables.ratings) == 24
    assert ("c3 / 2", "rating", "ben", 3) in ratings(tables)


def test_options_name_columns_rows_and_words(tmp_path: Path, reported: Reported) -> None:
    (tmp_path / "r.csv").write_text("exported,by,us\nthing,x,y\na,1,kA\nb,4,5\nc,2,2\n")
    options = ReadOptions(item=("thing",), rater=("x", "y"), skip_rows=1, missing_values=("ka",))

    tables = read_ratings([tmp_path / "r.csv"], options)

    assert {(item, rater, value) for item, _, rater, value in ratings(tables)} == {
        ("a", "x", 1),
        ("b", "x", 4),
        ("b", "y", 5),
        ("c", "x", 2),
        ("c", "y", 2),
    }
    wrong = ReadOptions(item=("things",), skip_rows=1)
    assert reported(lambda: read_ratings([tmp_path / "r.csv"], wrong)) == [
        'r.csv: --item things: there is no such column. Write "thing".'
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
    tables = read(tmp_path, content)

    assert tables.ratings["item"].nunique() == n_items


def test_a_table_with_messages_is_no_chat_log(tmp_path: Path) -> None:
    messages = '"[{""role"": ""user"", ""content"": ""Hi""}]"'
    content = lines(["id", "messages", "anna", "ben"], ["a", messages, 1, 2], ["b", messages, 4, 5])

    assert {(i, r, v) for i, _, r, v in ratings(read(tmp_path, content))} == TWO_BY_TWO
