"""The same ratings in the shapes of many programs: all are read alike, or refused with a reason."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from eval_assets.cli.evaluation_drafts import draft_of_files
from eval_assets.errors import InputError, leaves
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.scale import LIKERT5, Scale
from tests.unit.readers.conftest import Reported
from tests.unit.readers.formats.xlsx import Cell, workbook

ITEMS = [f"s{n}" for n in range(12)]
RATERS = ("Anna", "Ben", "Cleo")
QUESTIONS = ("Clarity", "Tone")
VALUES = {
    (item, question, rater): 1 + (2 * n + 3 * k + (n + k) * j % 4) % 5
    for n, item in enumerate(ITEMS)
    for k, question in enumerate(QUESTIONS)
    for j, rater in enumerate(RATERS)
}
"""Ratings of each item on two questions; with one question it is the first."""

Rows = list[list[object]]


def of(item: str, rater: str) -> int:
    return VALUES[item, QUESTIONS[0], rater]


def wide(*further: tuple[str, Callable[[Sequence[int], int], object]]) -> Rows:
    """Return a table with a column for each rater, and further ones before them."""
    names = [name for name, _ in further]
    rows: Rows = [["item", *names, *RATERS]]
    for n, item in enumerate(ITEMS):
        ratings = [of(item, rater) for rater in RATERS]
        rows.append([item, *(column(ratings, n) for _, column in further), *ratings])
    return rows


def csv_of(rows: Rows) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def read(folder: Path, name: str, content: str | bytes, **options: object) -> RatingTables:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_ratings([path], ReadOptions(**options))  # type: ignore[arg-type]


def cells(ratings: RatingTables) -> set[tuple[str, str, str, float]]:
    """Return item, question, rater and value of each rating."""
    columns = ["item", "question", "rater", "value"]
    return set(ratings.ratings[columns].itertuples(index=False, name=None))


def raters(ratings: RatingTables) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, ratings.ratings["rater"])))


def unread(ratings: RatingTables) -> set[str]:
    return {name.partition(":")[2] for name in ratings.not_read}


def one_question(ratings: RatingTables) -> set[tuple[str, str, float]]:
    assert len(ratings.questions) == 1
    return {(item, rater, value) for item, _, rater, value in cells(ratings)}


EXPECTED = {(item, rater, float(of(item, rater))) for item in ITEMS for rater in RATERS}
ON_TWO = {(*key, float(value)) for key, value in VALUES.items()}


def refusal(folder: Path, name: str, content: str | bytes, **options: object) -> str:
    with pytest.raises(ExceptionGroup) as group:
        read(folder, name, content, **options)
    [error] = leaves(group.value)
    assert isinstance(error, InputError)
    return str(error)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("batch", lambda _, n: n // 4 + 1),
        ("turn", lambda _, n: n % 4 + 1),
        ("n_tokens", lambda _, n: n % 7),
        ("word_count", lambda _, n: n % 5),
        ("topic", lambda _, n: n % 3),
        ("confidence", lambda _, n: n % 5 + 1),
        ("Anna_confidence", lambda _, n: n % 5 + 1),
        ("Final", lambda ratings, _: sorted(ratings)[1]),
        ("expected", lambda _, n: n % 5 + 1),
        ("diff", lambda ratings, _: max(ratings) - min(ratings)),
        ("Max", lambda ratings, _: max(ratings)),
        ("Lowest of all", lambda ratings, _: min(ratings)),
        ("Distance", lambda ratings, _: max(ratings) - min(ratings)),
        ("Same?", lambda ratings, _: int(max(ratings) == min(ratings))),
        ("Rounded", lambda ratings, _: round(sum(ratings) / 3)),
        ("is_long", lambda _, n: "yes" if n % 3 else "no"),
        ("is_gold", lambda _, n: n % 2),
        ("prompt_tokens", lambda _, n: 40 + 7 * n),
    ],
)
def test_column_that_rates_nothing_is_left_out_with_a_note(
    tmp_path: Path, name: str, column: Callable[[Sequence[int], int], object]
) -> None:
    ratings = read(tmp_path, "ratings.csv", csv_of(wide((name, column))))

    assert one_question(ratings) == EXPECTED


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("flagged", ("True", "False")),
        ("approved", ("yes", "no")),
        ("share", ("0.31", "1.7", "0.02", "0.44")),
        ("retries", ("0", "0", "6", "0")),
        ("nps", ("0", "6", "8", "9", "10")),
    ],
)
def test_column_of_other_values_beside_the_rating_is_left_out(
    tmp_path: Path, name: str, values: Sequence[str]
) -> None:
    rows = [
        [item, rater, value, values[n % len(values)]]
        for n, (item, rater, value) in enumerate(sorted(EXPECTED))
    ]
    content = csv_of([["item", "rater", "rating", name], *rows])

    ratings = read(tmp_path, "r.csv", content)
    chosen = read(tmp_path, "r.csv", content, rating=("rating", name))

    assert one_question(ratings) == EXPECTED
    assert f"--rating rating,{name}" in ratings.not_read[f"r.csv:{name}"].text
    assert len(chosen.questions) == 2


@pytest.mark.parametrize(
    ("item", "rater", "names"),
    [
        ("item", "rater", ("A", "B", "C")),
        ("item", "judge", ("Wei", "Priya", "Olu")),
        ("Aufgabe", "evaluator", ("expert 1", "expert 2", "expert 3")),
        ("nr_x", "email", ("a@x.example", "b@x.example", "c@x.example")),
    ],
)
@pytest.mark.parametrize("ending", ["", ".0", "/5"])
def test_raters_of_any_name_are_read_from_their_column(
    tmp_path: Path, item: str, rater: str, names: Sequence[str], ending: str
) -> None:
    rows = [
        [n, name, f"{1 + (2 * n + (n + j) * j % 3) % 5}{ending}"]
        for n in range(24)
        for j, name in enumerate(names)
    ]

    ratings = read(tmp_path, "r.csv", csv_of([[item, rater, "rating"], *rows]))

    assert {*raters(ratings)} == {*names}
    assert len(ratings.ratings) == len(rows)
    assert ratings.ratings["item"].nunique() == 24


@pytest.mark.parametrize(
    "names",
    [
        ("anna@corp.example", "b.k@corp.example", "cleo@corp.example"),
        ("A. Schmidt", "B. King", "C. Diaz"),
        ("Dr. Meyer", "Prof. Kato", "Dr. Singh"),
    ],
)
@pytest.mark.parametrize("judges", [("gpt-4.1-mini",), ("llama-3.1-70b", "gpt4_judge")])
@pytest.mark.parametrize("words", ["", "AB", ("thumbs_up", "thumbs_down")])
def test_objects_may_be_named_by_addresses_initials_and_versions(
    tmp_path: Path, names: Sequence[str], judges: Sequence[str], words: Sequence[str]
) -> None:
    def value(n: int, k: int) -> int | str:
        rating = 1 + (2 * n + n * k % 3) % 5
        return words[rating > 2] if words else rating

    records = [
        {
            "id": item,
            "people": {name: value(n, k) for k, name in enumerate(names)},
            "judges": {name: value(n, 1 + k) for k, name in enumerate(judges)},
        }
        for n, item in enumerate(ITEMS)
    ]

    ratings = read(tmp_path, "r.json", json.dumps(records))

    assert raters(ratings) == tuple(names)
    assert {*ratings.scores["judge"]} == {*judges}
    assert len(ratings.questions) == 1


@pytest.mark.parametrize("rater", ["labelled_by", "rater", "evaluator"])
@pytest.mark.parametrize("name", ["anna", "AS", "b.k@corp.example", "annotator_1"])
def test_verdicts_beside_one_name_are_those_of_that_person(
    tmp_path: Path, rater: str, name: str
) -> None:
    rows: Rows = [["item", rater, "verdict"]]
    rows += [[item, name, "no" if n % 3 else "yes"] for n, item in enumerate(ITEMS)]

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert raters(ratings) == (name,)
    assert not len(ratings.scores)


@pytest.mark.parametrize("words", ["AB", ("thumbs_down", "thumbs_up")])
def test_verdicts_of_lettered_experts_are_no_names(tmp_path: Path, words: Sequence[str]) -> None:
    rows: Rows = [["item", "expert_a", "expert_b", "expert_c", "gpt4_judge"]]
    for n, item in enumerate(ITEMS):
        rows.append([item, *(words[n % (k + 2) > 0] for k in range(4))])

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert len(raters(ratings)) == 3
    assert len(ratings.ratings) == 3 * len(ITEMS)
    assert len(ratings.scores) == len(ITEMS)


def test_brackets_hold_names_of_people_or_of_a_judge(tmp_path: Path) -> None:
    words = ("None", "Low", "Medium", "High", "Critical")
    rows: Rows = [["Case", *(f"Severity ({name})" for name in (*RATERS, "LLM judge"))]]
    rows += [
        [item, *(words[of(item, rater) - 1] for rater in (*RATERS, RATERS[0]))] for item in ITEMS
    ]

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert len(raters(ratings)) == len(RATERS)
    assert ratings.scores["judge"].nunique() == 1
    assert ratings.questions[0].scale.words == ("None", "Low", "Medium", "High", "Critical")


def test_verdicts_in_a_file_of_a_judge_are_those_of_the_model_in_it(tmp_path: Path) -> None:
    people: Rows = [["item", "rater", "verdict"]]
    people += [[item, rater, "yes" if value > 2 else "no"] for item, rater, value in EXPECTED]
    (tmp_path / "people.csv").write_text(csv_of(people))
    scores = [{"item": item, "model": "mistral-large", "verdict": "yes"} for item in ITEMS]
    scores[0]["verdict"] = "no"
    (tmp_path / "h_judge.json").write_text(json.dumps(scores))

    ratings = read_ratings([tmp_path], ReadOptions())

    assert {*ratings.scores["judge"]} == {"mistral-large"}
    assert {*raters(ratings)} == {*RATERS}


def test_column_called_human_says_who_people_are(tmp_path: Path) -> None:
    rows: Rows = [["item", "cot_plain", "cot_full", "fast_plain", "fast_full", "human", "fast_pf"]]
    for n, item in enumerate(ITEMS):
        verdicts = ["pass" if (n + k) % 3 else "fail" for k in range(2)]
        rows.append([item, *(n % (k + 2) for k in range(4)), *verdicts])

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert "human" in raters(ratings)
    assert {"cot_plain", "fast_full"} <= unread(ratings)


def test_questions_behind_one_person_are_no_raters(tmp_path: Path) -> None:
    rows = [[item, 1 + n % 5, 1 + 2 * n % 5] for n, item in enumerate(ITEMS)]

    ratings = read(
        tmp_path, "r.csv", csv_of([["item", "expert_a_faithful", "expert_a_relevant"], *rows])
    )

    assert raters(ratings) == ("expert_a",)
    assert {question.id for question in ratings.questions} == {"faithful", "relevant"}


@pytest.mark.parametrize(
    "names", [("Dr. Meyer", "Prof. Kato", "Dr. Singh"), ("1", "2", "3"), ("user_7", "user_9")]
)
def test_pages_are_items_and_columns_beside_them_people(
    tmp_path: Path, names: Sequence[str]
) -> None:
    rows = [
        [f"https://x.example/{n}", *(1 + (2 * n + n * j % 3) % 5 for j, _ in enumerate(names))]
        for n in range(24)
    ]

    ratings = read(tmp_path, "r.csv", csv_of([["item", *names], *rows]))

    assert raters(ratings) == tuple(names)
    assert ratings.ratings["item"].nunique() == 24


@pytest.mark.parametrize(
    ("file", "header"),
    [
        ("gpt-4o.csv", "score"),
        ("llm_judge_scores.csv", "rating"),
        ("judge.csv", "points"),
        ("claude_scores.csv", "verdict"),
    ],
)
@pytest.mark.parametrize("rated", ["points", "helpfulness"])
def test_scores_in_a_file_called_like_a_judge_are_on_the_only_question(
    tmp_path: Path, file: str, header: str, rated: str
) -> None:
    rows = [[item, rater, value] for item, rater, value in sorted(EXPECTED)]
    (tmp_path / "people.csv").write_text(csv_of([["item", "rater", rated], *rows]))
    scores = [[item, of(item, RATERS[1])] for item in ITEMS]
    (tmp_path / file).write_text(csv_of([["item", header], *scores]))

    ratings = read_ratings([tmp_path], ReadOptions())

    assert one_question(ratings) == EXPECTED
    assert {*ratings.scores["judge"]} == {Path(file).stem}
    assert len(ratings.scores) == len(ITEMS)
    assert {*ratings.scores["question"]} == {*ratings.ratings["question"]}


def test_file_of_a_model_beside_those_of_people_is_no_rater(tmp_path: Path) -> None:
    for rater in RATERS:
        rows = [[item, of(item, rater), "fine"] for item in ITEMS]
        (tmp_path / f"{rater}.csv").write_text(csv_of([["caso", "xyz", "comentario"], *rows]))
    scores = [[item, of(item, RATERS[1])] for item in ITEMS]
    (tmp_path / "gemini-2.0-flash.csv").write_text(csv_of([["caso", "xyz"], *scores]))

    ratings = read_ratings([tmp_path], ReadOptions())

    assert {*raters(ratings)} == {*RATERS}
    assert {*ratings.scores["judge"]} == {"gemini-2.0-flash"}
    assert len(ratings.questions) == 1


def test_runs_of_the_model_that_a_column_names_are_those_of_a_judge(tmp_path: Path) -> None:
    rows = [[item, rater, value] for item, rater, value in sorted(EXPECTED)]
    (tmp_path / "people.csv").write_text(csv_of([["case", "rater", "rating"], *rows]))
    scores = [
        [item, "gpt-4o", run, of(item, rater)]
        for item in ITEMS
        for run, rater in enumerate(RATERS, 1)
    ]
    (tmp_path / "judge_scores.csv").write_text(
        csv_of([["case", "model", "run", "rating"], *scores])
    )

    ratings = read_ratings([tmp_path], ReadOptions())

    assert one_question(ratings) == EXPECTED
    assert {*ratings.scores["judge"]} == {"gpt-4o"}
    assert {*ratings.scores["run"]} == {"1", "2", "3"}


@pytest.mark.parametrize(
    "header",
    [
        ("\u00e9l\u00e9ment", "annotateur", "note", "commentaire"),
        ("caso", "anotador", "puntuaci\u00f3n", "comentario"),
        ("elemento", "valutatore", "punteggio", "commento"),
        ("\u7f16\u53f7", "\u6807\u6ce8\u5458", "\u8bc4\u5206", "\u5907\u6ce8"),
    ],
)
def test_headers_may_be_in_many_languages(tmp_path: Path, header: Sequence[str]) -> None:
    rows: Rows = [[*header]]
    rows += [[*rating, "ok" * (n % 2)] for n, rating in enumerate(EXPECTED)]

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert one_question(ratings) == EXPECTED


def test_scores_alone_are_those_of_the_model_that_the_file_is_called_like(tmp_path: Path) -> None:
    scores = [[item, of(item, RATERS[1])] for item in ITEMS]

    ratings = read(tmp_path, "gpt4_scores.csv", csv_of([["item", "score"], *scores]))

    assert {*ratings.scores["judge"]} == {"gpt4_scores"}
    assert not len(ratings.ratings)


@pytest.mark.parametrize("number", [" {n}", "_{n}", ".{n}", "{n}"])
def test_columns_named_rating_with_a_number_are_raters(tmp_path: Path, number: str) -> None:
    """Programs number columns of one name from the second one on."""
    rows = wide()
    rows[0][1:] = ["Rating", *(f"Rating{number.format(n=n)}" for n in (1, 2))]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert raters(ratings) == tuple(rows[0][1:])
    assert len(cells(ratings)) == len(EXPECTED)


def test_an_empty_column_of_a_rater_is_named_as_left_out(tmp_path: Path) -> None:
    rows = [[*row, "Kai" if n == 0 else ""] for n, row in enumerate(wide())]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert one_question(ratings) == EXPECTED
    assert unread(ratings) >= {"Kai"}


@pytest.mark.parametrize("model", ["gpt-4o", "GPT4", "claude-haiku-5-5", "Gemini 2.5", "llm_judge"])
@pytest.mark.parametrize("is_wide", [True, False])
def test_language_model_is_no_human_rater(tmp_path: Path, model: str, *, is_wide: bool) -> None:
    long: Rows = [[item, rater, of(item, rater)] for item in ITEMS for rater in RATERS]
    long += [[item, model, 1 + n % 5] for n, item in enumerate(ITEMS)]
    rows: Rows = [["item", "rater", "rating"], *long]
    if is_wide:
        rows = wide((model, lambda _, n: 1 + n % 5))

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert one_question(ratings) == EXPECTED


@pytest.mark.parametrize(
    ("header", "person", "model"),
    [
        ("id,gpt-4o,anna", "anna", "gpt-4o"),
        ("id,human_label,llm_label", "human_label", "llm_label"),
        ("id,judge,human", "human", "judge"),
        ("id,human,judge", "human", "judge"),
        ("id,ground_truth,evaluator", "ground_truth", "evaluator"),
        ("id,expected,actual", "expected", "actual"),
        ("id,expected_verdict,actual_verdict", "expected_verdict", "actual_verdict"),
        ("id,gold,score", "gold", "score"),
        ("id,expert_label,evaluator_label", "expert_label", "evaluator_label"),
        ("id,Reviewer Verdict,Claude Verdict", "Reviewer Verdict", "Claude Verdict"),
        ("id,sofia,qwen-max", "sofia", "qwen-max"),
        ("id,Human score,Claude score", "Human score", "Claude score"),
    ],
)
def test_one_person_beside_a_model_is_one_rater(
    tmp_path: Path, header: str, person: str, model: str
) -> None:
    rows = [f"i{k},{'pass' if k % 2 else 'fail'},{'fail' if k % 3 else 'pass'}" for k in range(12)]

    ratings = read(tmp_path, "ratings.csv", "\n".join([header, *rows]))

    assert raters(ratings) == (person,)
    assert set(ratings.scores["judge"]) == {model}


@pytest.mark.parametrize(
    ("person", "judge"),
    [("gold", "evaluator"), ("human", "grader"), ("annotations", "eval_results")],
)
@pytest.mark.parametrize("is_long", [True, False])
def test_only_file_or_rater_beside_a_reference_is_a_judge(
    tmp_path: Path, person: str, judge: str, *, is_long: bool
) -> None:
    names = {person: (person, judge)} if is_long else {of: (of,) for of in (person, judge)}
    for name, raters_of in names.items():
        rows = [f"i{k},{of},{label}" for of in raters_of for k, label in enumerate("ABBAABAABA")]
        text = "\n".join(["id,rater,label", *rows])
        content = text if is_long else text.replace("rater,", "").replace(f"{name},", "")
        (tmp_path / f"{name}.csv").write_text(content)

    ratings = read_ratings([tmp_path], ReadOptions())

    assert set(ratings.ratings["rater"]) == {person}
    assert set(ratings.scores["judge"]) == {judge}
    assert f"{judge} is a judge" in {doubt.choice for doubt in ratings.doubts}


def test_language_model_is_a_rater_if_the_user_says_so(tmp_path: Path) -> None:
    rows = csv_of(wide(("gpt-4o", lambda _, n: 1 + n % 5)))

    ratings = read(tmp_path, "ratings.csv", rows, rater=("Anna", "gpt-4o"))

    assert set(raters(ratings)) == {"Anna", "gpt-4o"}


def test_scores_of_conversations_beside_filled_sheets_are_those_of_a_judge(tmp_path: Path) -> None:
    sheet = "indicator_id,convo_id,turn_index,seed,prompt_text,response_text,model,rater_id,score\n"
    scores = "indicator_id,convo_id,model_name,seed,aiescore\n"
    for n in range(8):
        for turn in (1, 2):
            for rater in ("r1", "r2"):
                rating = 1 + (n + turn * len(rater)) % 4
                sheet += f"kind,c{n},{turn},1,p{n},Text {n} {turn}.,m1,{rater},{rating}\n"
        scores += f"kind,c{n},m1,1,{1 + n % 4 / 2}\n"
    (tmp_path / "hij_scores.csv").write_text(sheet)
    (tmp_path / "llm_scores.csv").write_text(scores)

    tables = read_ratings([tmp_path], ReadOptions())

    assert raters(tables) == ("r1", "r2")
    assert set(tables.scores["judge"]) == {"aiescore"}
    assert [question.id for question in tables.questions] == ["kind"]


def test_scores_named_after_a_judge_and_a_question_are_no_raters(tmp_path: Path) -> None:
    rows = [f"i{k},{1 + k % 5},{1 + k % 4},{1 + k % 3},{5 - k % 5}" for k in range(24)]
    table = "\n".join(["id,tone,clarity,judge_tone,judge_clarity", *rows])

    ratings = read(tmp_path, "ratings.csv", table, rating=("tone", "clarity"))

    assert raters(ratings) == ("(not named)",)
    assert len(ratings.items) == 24


def test_columns_of_raters_and_questions_may_hold_numbers_and_words(tmp_path: Path) -> None:
    questions = ("Clarity", "verdict", "comment")
    headers = [f"{rater}: {question}" for question in questions for rater in RATERS]
    words = ("bad", "ok", "good")
    rows: Rows = [["response_id", *headers]]
    for n, item in enumerate(ITEMS):
        verdicts = ["", *(words[(n + k) % 3] for k in range(2))]
        rows.append(
            [item, *(of(item, r) for r in RATERS), *verdicts, *(f"{r} on {n}" for r in RATERS)]
        )

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    on_clarity, on_verdict = (
        {(item, rater, value) for item, question, rater, value in cells(ratings) if question == of}
        for of in questions[:2]
    )
    assert on_clarity == EXPECTED
    assert {value for _, rater, value in on_verdict if rater == "Ben"} == {0, 1, 2}
    assert raters(ratings) == RATERS
    assert [question.id for question in ratings.questions] == ["Clarity", "verdict"]


@pytest.mark.parametrize("header", ["{}: Clarity", "Clarity: {}"])
def test_a_column_for_each_rater_may_name_the_one_question(tmp_path: Path, header: str) -> None:
    rows: Rows = [["item", *map(header.format, RATERS)], *wide()[1:]]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert {question for _, question, _, _ in cells(ratings)} == {"Clarity"}
    assert one_question(ratings) == EXPECTED


def test_some_questions_may_have_fewer_columns_of_raters(tmp_path: Path) -> None:
    keys = [(q, r) for q in QUESTIONS for r in RATERS if (q, r) != ("Tone", "Anna")]
    rows: Rows = [["item", *(f"{rater}: {question}" for question, rater in keys)]]
    rows += [[item, *(VALUES[item, question, r] for question, r in keys)] for item in ITEMS]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert cells(ratings) == {of for of in ON_TWO if of[1:3] != ("Tone", "Anna")}


def test_first_column_without_a_name_has_the_items(tmp_path: Path) -> None:
    rows = wide()
    rows[0][0] = ""

    assert one_question(read(tmp_path, "ratings.csv", csv_of(rows))) == EXPECTED


@pytest.mark.parametrize("number", ["", ".{n}"])
def test_form_that_repeats_its_question_has_an_item_a_column(tmp_path: Path, number: str) -> None:
    """Google Forms repeats the header, pandas numbers it from the second one on."""
    headers = [f"How good?{number.format(n=n) if n else ''}" for n in range(len(ITEMS))]
    rows: Rows = [["Timestamp", "Name", *headers]]
    rows += [[f"2026-11-0{n}", r, *(of(i, r) for i in ITEMS)] for n, r in enumerate(RATERS, 1)]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert raters(ratings) == RATERS
    assert len(cells(ratings)) == len(EXPECTED)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "two columns have this name" in refusal(tmp_path, "r.csv", "item,a,a\nx,1,2\ny,3,4\n")


RECORDS = [{"item": item, **{rater: of(item, rater) for rater in RATERS}} for item in ITEMS]
FRAME = {name: [row[name] for row in RECORDS] for name in ("item", *RATERS)}
JSON_OF_ONE_QUESTION = {
    "columns": {name: {str(n): cell for n, cell in enumerate(FRAME[name])} for name in FRAME},
    "index": {str(n): row for n, row in enumerate(RECORDS)},
    "split": {
        "columns": list(FRAME),
        "index": list(range(len(ITEMS))),
        "data": [list(row.values()) for row in RECORDS],
    },
    "table": {"schema": {"fields": [{"name": "index"}]}, "data": RECORDS},
    "lists": FRAME,
    "rows": [list(FRAME), *([row[name] for name in FRAME] for row in RECORDS)],
    "by item": {item: {rater: of(item, rater) for rater in RATERS} for item in ITEMS},
    "by rater": {rater: {item: of(item, rater) for item in ITEMS} for rater in RATERS},
    "records by rater": {
        rater: [{"item": item, "rating": of(item, rater)} for item in ITEMS] for rater in RATERS
    },
    "objects by item": {
        item: {"text": f"Text {item}.", "ratings": {rater: of(item, rater) for rater in RATERS}}
        for item in ITEMS
    },
    "objects by rater": [
        {"item": item, **{rater: {"score": of(item, rater), "note": ""} for rater in RATERS}}
        for item in ITEMS
    ],
    "named lists": [
        {"item": item, "annotators": list(RATERS), "rating": [of(item, rater) for rater in RATERS]}
        for item in ITEMS
    ],
}


@pytest.mark.parametrize("shape", list(JSON_OF_ONE_QUESTION))
def test_json_of_any_shape_has_the_same_ratings(tmp_path: Path, shape: str) -> None:
    ratings = read(tmp_path, "ratings.json", json.dumps(JSON_OF_ONE_QUESTION[shape]))

    rated = {(item, rater.split(".")[0], value) for item, _, rater, value in cells(ratings)}
    assert rated == EXPECTED


def nested(item: str, rater: str) -> dict[str, int]:
    return {question: VALUES[item, question, rater] for question in QUESTIONS}


JSON_OF_TWO_QUESTIONS = {
    "items first": {i: {r: nested(i, r) for r in RATERS} for i in ITEMS},
    "raters first": {r: {i: nested(i, r) for i in ITEMS} for r in RATERS},
    "scores of raters": [{"item": i, "scores": {r: nested(i, r) for r in RATERS}} for i in ITEMS],
}


@pytest.mark.parametrize("shape", list(JSON_OF_TWO_QUESTIONS))
def test_json_of_three_levels_has_the_same_ratings(tmp_path: Path, shape: str) -> None:
    ratings = read(tmp_path, "ratings.json", json.dumps(JSON_OF_TWO_QUESTIONS[shape]))

    assert cells(ratings) == ON_TWO


def test_lists_of_ratings_have_counted_raters_and_may_be_of_any_length(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "tone": [4, 5, None]},
        {"id": "b", "tone": [3, 1]},
        {"id": "c", "tone": [2, 2, 2]},
    ]

    ratings = read(tmp_path, "r.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))

    assert ("b", "tone", "rater 2", 1.0) in cells(ratings)
    assert len(cells(ratings)) == 7


def test_matrix_in_json_has_a_column_for_each_rater(tmp_path: Path) -> None:
    matrix = [[of(item, rater) for rater in RATERS] for item in ITEMS]

    assert len(one_question(read(tmp_path, "r.json", json.dumps(matrix)))) == len(EXPECTED)


def sheets_of(names: Sequence[str], columns: Sequence[str]) -> dict[str, list[list[Cell]]]:
    """Return a sheet for each name with the ratings by these raters or on these questions."""

    def value(item: str, name: str, column: str) -> int:
        return VALUES[(item, name, column) if column in RATERS else (item, column, name)]

    sheets: dict[str, list[list[Cell]]] = {name: [["item", *columns]] for name in names}
    for name, rows in sheets.items():
        rows += [[item, *(value(item, name, column) for column in columns)] for item in ITEMS]
    return sheets


@pytest.mark.parametrize("names", [(QUESTIONS, RATERS), (RATERS, QUESTIONS)])
def test_sheets_are_questions_or_raters(
    tmp_path: Path, names: tuple[Sequence[str], Sequence[str]]
) -> None:
    """The names of one of them are words for what is asked."""
    ratings = read(tmp_path, "ratings.xlsx", workbook(sheets_of(*names)))

    assert cells(ratings) == ON_TWO


def test_sheets_of_different_items_are_one_table(tmp_path: Path) -> None:
    header, *rows = wide()
    sheets = {f"Part {n}": [header, *rows[4 * n : 4 * n + 4]] for n in range(3)}

    ratings = read(tmp_path, "ratings.xlsx", workbook(sheets))  # type: ignore[arg-type]

    assert one_question(ratings) == EXPECTED


def test_pressed_buttons_of_mechanical_turk_are_one_rating(tmp_path: Path) -> None:
    header = ["HITId", "WorkerId", "AssignmentStatus", *(f"Answer.score.{n}" for n in range(1, 6))]
    rows: Rows = [
        [i, r, "Approved", *(str(n == of(i, r)).lower() for n in range(1, 6))]
        for i in ITEMS
        for r in RATERS
    ]

    ratings = read(tmp_path, "batch.csv", csv_of([[*header], *rows]))

    assert one_question(ratings) == EXPECTED


def test_answers_of_mechanical_turk_may_be_one_cell_of_json(tmp_path: Path) -> None:
    rows = "".join(
        f'{i},{r},Submitted,"{answer}"\n'
        for i in ITEMS
        for r in RATERS
        for answer in [
            json.dumps([{"score": {str(n): n == of(i, r) for n in range(1, 6)}}]).replace('"', '""')
        ]
    )

    ratings = read(
        tmp_path, "batch.csv", f"HITId,WorkerId,AssignmentStatus,Answer.taskAnswers\n{rows}"
    )

    assert one_question(ratings) == EXPECTED


def test_answers_of_several_models_to_a_prompt_are_items(tmp_path: Path) -> None:
    text = "prompt_id,model,rater,rating\n" + "".join(
        f"p{n // 2},m{n % 2},{rater},{of(item, rater)}\n"
        for n, item in enumerate(ITEMS)
        for rater in RATERS
    )

    ratings = read(tmp_path, "ratings.csv", text)

    assert ("p0 / m1", "Anna", float(of("s1", "Anna"))) in one_question(ratings)


def test_word_of_the_scale_is_a_rating_even_if_it_looks_like_none(tmp_path: Path) -> None:
    text = "item,Anna,Ben\na,-,+\nb,-,-\nc,+,+\n"

    ratings = read(tmp_path, "ratings.csv", text, scale=Scale.from_words("-", "+"))

    assert len(cells(ratings)) == 6


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (("0.02", "0.51", "0.97"), Scale(low=0, high=1)),
        (("0.42", "0.51", "0.83"), Scale(low=0.42, high=0.83)),
        (("1.2", "3.5", "4.9"), Scale(low=1, high=5)),
        (("2.5", "48.1", "99.5"), Scale(low=0, high=100)),
    ],
)
def test_fractions_over_most_of_a_usual_scale_are_on_it(
    values: tuple[str, ...], scale: Scale, tmp_path: Path
) -> None:
    rows = [f"{n},{values[n % 3]},{values[(n + n % 2) % 3]}" for n in range(30)]

    ratings = read(tmp_path, "ratings.csv", "\n".join(["item,Anna,Ben", *rows]))

    [question] = ratings.questions
    assert question.scale == scale


def test_archive_is_refused_with_what_to_do(tmp_path: Path) -> None:
    refused = refusal(tmp_path, "ratings.zip", b"PK\x03\x04 of files")

    assert refused.endswith("Unpack it, and name its files.")


def test_words_with_numbers_run_as_they_are_read(tmp_path: Path) -> None:
    text = "item,rater,rating\n" + "".join(
        f"{item},{rater},{'5 - good' if of(item, rater) == 5 else of(item, rater)}\n"
        for item in ITEMS
        for rater in RATERS
    )
    (tmp_path / "ratings.csv").write_text(text)

    draft_of_files([tmp_path / "ratings.csv"], tmp_path / "e", ReadOptions())

    evaluation = read_evaluation(tmp_path / "e")
    labels = read_labels(evaluation, read_responses(evaluation)).ratings
    assert labels["value"].sum() == sum(of(i, r) for i in ITEMS for r in RATERS)


def test_merged_prompts_and_models_are_drafted_as_responses(tmp_path: Path) -> None:
    rows = "".join(f"prompt {k},a,Ben,4\n,,Anna,5\n,b,Ben,2\n,,Anna,1\n" for k in range(12))
    (tmp_path / "ratings.csv").write_text(f"Round 2,,,\n\nPrompt,Model,Rater,Score\n{rows}")

    draft_of_files([tmp_path / "ratings.csv"], tmp_path / "e", ReadOptions())

    responses = read_responses(read_evaluation(tmp_path / "e"))
    assert responses["prompt_text"].value_counts().to_dict() == {
        f"prompt {k}": 2 for k in range(12)
    }
    assert responses["model_name"].value_counts().to_dict() == {"a": 12, "b": 12}


def test_questions_of_one_item_each_are_prompts(tmp_path: Path) -> None:
    rows = "".join(f"{k},Why {k}?,{1 + k % 5},{1 + k % 5}\n" for k in range(12))
    (tmp_path / "ratings.csv").write_text(f"ID,Question,Anna,Ben\n{rows}")

    draft = draft_of_files([tmp_path / "ratings.csv"], tmp_path / "e", ReadOptions())

    assert draft.notes[0] == "read 24 ratings by Anna, Ben."
    evaluation = read_evaluation(tmp_path / "e")
    assert [question.id for question in evaluation.rubric] == ["rating"]
    assert read_responses(evaluation)["prompt_text"][3] == "Why 3?"
    assert not any(note.startswith("not read") for note in draft.notes)


def test_header_of_two_levels_that_pandas_wrote_is_read(tmp_path: Path) -> None:
    rows = "".join(f"t{k},{1 + k % 5},{1 + k % 5},{k % 2},{k % 2}\n" for k in range(12))
    header = "question,tone,tone,safe,safe\nrater,Anna,Ben,Anna,Ben\nitem,,,,\n"

    ratings = read(tmp_path, "ratings.csv", header + rows)

    assert len(ratings.ratings) == 48
    assert {question.id for question in ratings.questions} == {"tone", "safe"}


def test_prompts_that_were_rated_are_no_responses(tmp_path: Path) -> None:
    rows = "".join(f"{'Tell me more. ' * 9}{k},{1 + k % 5},{1 + k % 5}\n" for k in range(12))
    (tmp_path / "ratings.csv").write_text(f"prompt,Anna,Ben\n{rows}")

    draft = draft_of_files([tmp_path / "ratings.csv"], tmp_path / "e", ReadOptions())

    responses = read_responses(read_evaluation(tmp_path / "e"))
    assert set(responses["response_text"]) == {""}
    assert responses["prompt_text"].str.startswith("Tell me more.").all()
    assert draft.tasks[0].startswith("fill in responses.csv")


def test_draft_names_earlier_rounds_and_unread_columns(tmp_path: Path) -> None:
    header = "item,rater,rating,round,Seed\n"
    first = "".join(f"{i},{r},{of(i, r)},1,7\n" for i in ITEMS for r in RATERS)
    second = "".join(f"s0,{r},5,2,7\n" for r in RATERS)
    (tmp_path / "ratings.csv").write_text(f"{header}{first}{second}")

    notes = draft_of_files([tmp_path / "ratings.csv"], tmp_path / "e", ReadOptions()).notes

    assert notes[-2:] == [
        "3 ratings of earlier rounds: the latest counts.",
        "not read: ratings.csv:Seed: one value.",
    ]
    evaluation = read_evaluation(tmp_path / "e")
    labels = read_labels(evaluation, read_responses(evaluation)).ratings
    assert len(labels) == len(ITEMS) * len(RATERS)
    assert set(labels.loc[labels["response_id"] == "s0", "value"]) == {5}


def test_table_may_begin_anywhere_in_a_sheet(tmp_path: Path) -> None:
    rows: Rows = [[None, "My study"], [], *([None, *row] for row in wide())]

    ratings = read(tmp_path, "ratings.xlsx", workbook({"Ratings": rows}))  # type: ignore[dict-item]

    assert one_question(ratings) == EXPECTED


@pytest.mark.parametrize("above", ["My study\n\n", "# exported by a tool\n", "A\nB\n"])
def test_lines_of_text_above_the_header_are_not_read(tmp_path: Path, above: str) -> None:
    ratings = read(tmp_path, "ratings.csv", above + csv_of(wide()))

    assert one_question(ratings) == EXPECTED
    line = above.count("\n") + 1
    assert f"the header is in line {line}; what stands above it is not read" in ratings.notes


def test_rows_may_be_the_only_value_of_an_object(tmp_path: Path) -> None:
    header, *rows = wide()
    objects = [dict(zip(map(str, header), row, strict=True)) for row in rows]

    assert one_question(read(tmp_path, "r.json", json.dumps({"data": objects}))) == EXPECTED


def test_draft_keeps_texts_of_prompts_with_several_models(tmp_path: Path) -> None:
    header = "prompt_id,model,prompt,response,rater,rating\n"
    rows = [
        f"p{n // 2},m{n % 2},Ask {n // 2},Say {n},{rater},{1 + n % 5}\n"
        for n in range(8)
        for rater in RATERS
    ]
    (tmp_path / "ratings.csv").write_text(header + "".join(rows))

    draft_of_files([tmp_path / "ratings.csv"], tmp_path / "e", ReadOptions())

    responses = read_responses(read_evaluation(tmp_path / "e"))
    columns = ["response_id", "prompt_text", "response_text", "model_name"]
    assert responses[columns].values.tolist()[1] == ["p0 / m1", "Ask 0", "Say 1", "m1"]


def annotated(rater: int | None, kind: str, value: dict[str, object]) -> str:
    """Return tasks of Label Studio with one annotation each."""
    result = {"type": kind, "from_name": "better", "to_name": "text", "value": value}
    annotation = {"completed_by": rater, "result": [result], "was_cancelled": False}
    tasks = [{"id": n, "data": {"text": f"t{n}"}, "annotations": [annotation]} for n in (1, 2)]
    return json.dumps(tasks)


def test_preferred_side_of_label_studio_is_a_rating(tmp_path: Path) -> None:
    text = annotated(1, "pairwise", {"selected": "left"})
    (tmp_path / "export.json").write_text(text)

    export = import_files([tmp_path / "export.json"])

    assert {rating for rating, _ in export.ratings.values()} == {"left"}
    assert not export.notes


def test_export_whose_ratings_are_lost_says_why(tmp_path: Path) -> None:
    message = refusal(tmp_path, "export.json", annotated(None, "rating", {"rating": 4}))

    assert "no ratings and no scores; 2 ratings of better do not say who gave them." in message


def test_table_of_potato_is_an_export(tmp_path: Path) -> None:
    header = ["instance_id", "user_id", *(f"good.scale_{n}" for n in range(1, 6))]
    rows: Rows = [
        [i, r, *(n if n == of(i, r) else "" for n in range(1, 6))] for i in ITEMS for r in RATERS
    ]

    assert one_question(read(tmp_path, "potato.csv", csv_of([[*header], *rows]))) == EXPECTED


LONG: Rows = [[item, rater, of(item, rater)] for item in ITEMS for rater in RATERS]


@pytest.mark.parametrize("by", [0, 1])
def test_merged_cells_are_those_of_the_rows_below(tmp_path: Path, by: int) -> None:
    """The first row of each item, or of each rater, names it."""
    rows = sorted(LONG, key=lambda row: (row[0], row[1]) if by == 0 else (row[1], row[0]))
    merged = [
        ["" if n and row[by] == rows[n - 1][by] and k == by else cell for k, cell in enumerate(row)]
        for n, row in enumerate(rows)
    ]

    ratings = read(tmp_path, "ratings.csv", csv_of([["item", "rater", "rating"], *merged]))

    assert one_question(ratings) == EXPECTED


def test_single_row_without_its_item_is_refused(tmp_path: Path) -> None:
    rows = [[*row] for row in LONG]
    rows[4][0] = ""

    message = refusal(tmp_path, "r.csv", csv_of([["item", "rater", "rating"], *rows]))

    assert "r.csv:6:item: a rating without an item" in message


def test_classifiers_score_beside_a_label_is_no_rating(tmp_path: Path) -> None:
    rows: Rows = [[i, r, value, f"0.{n + 10}"] for n, (i, r, value) in enumerate(LONG)]

    ratings = read(tmp_path, "r.csv", csv_of([["text", "annotator", "label", "score"], *rows]))

    assert one_question(ratings) == EXPECTED


@pytest.mark.parametrize(
    "header",
    [
        ["PROLIFIC_PID", "STUDY_ID", *(f"item_{n}" for n in range(12))],
        ["", "", *(f"Answer {n}" for n in range(12))],
        ["id", "submitdate", "lastpage", *(f"G1Q1[SQ{n:03d}]" for n in range(12))],
        ["id", "seed", "lastpage", *(f"Q{n}" for n in range(12))],
    ],
    ids=["Prolific", "no rater", "LimeSurvey", "anonymous LimeSurvey"],
)
def test_rows_of_respondents_are_raters(tmp_path: Path, header: list[object]) -> None:
    metadata = [(f"p{n}", "s", 1) if "lastpage" in header else (f"p{n}", "s") for n in range(3)]
    rows: Rows = [[*metadata[n], *(of(item, r) for item in ITEMS)] for n, r in enumerate(RATERS)]
    if not header[0]:
        header, rows = header[2:], [row[2:] for row in rows]

    ratings = read(tmp_path, "ratings.csv", csv_of([header, *rows]))

    assert len(raters(ratings)) == len(RATERS)
    assert sorted(value for *_, value in cells(ratings)) == sorted(v for *_, v in EXPECTED)


def test_words_may_end_with_their_number(tmp_path: Path) -> None:
    words = ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"]
    rows: Rows = [[i, r, f"{words[int(str(v)) - 1]} ({v})"] for i, r, v in LONG]

    ratings = read(tmp_path, "ratings.csv", csv_of([["item", "rater", "rating"], *rows]))

    assert one_question(ratings) == EXPECTED


def test_scale_that_most_ratings_are_off_is_reported_at_each(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(csv_of(wide()))

    with pytest.raises(ExceptionGroup) as group:
        read_ratings([tmp_path / "ratings.csv"], ReadOptions(scale=Scale.parse("6-9")))

    assert len(list(leaves(group.value))) == len(EXPECTED)
    assert 'is not on the scale of "rating". Use one of 6, 7, 8, 9.' in str(
        group.value.exceptions[0]
    )


def test_examiners_and_a_machine_are_told_apart_in_another_language(tmp_path: Path) -> None:
    rows = [["Fall", "Prüferin Müller", "Prüfer Weiß", "KI-Bewertung"]]
    rows += [
        [f"F{n}", f"{of(item, 'Anna')},0", f"{of(item, 'Ben')},0", f"{1 + n % 4},5"]
        for n, item in enumerate(ITEMS)
    ]
    content = "".join(";".join(row) + "\n" for row in rows).encode("cp1252")

    tables = read(tmp_path, "umfrage.csv", content)

    assert {*tables.ratings["rater"]} == {"Prüferin Müller", "Prüfer Weiß"}
    assert {*tables.scores["judge"]} == {"KI-Bewertung"}


def test_what_may_be_ratings_of_another_kind_is_named_first(tmp_path: Path) -> None:
    rows: Rows = [["item", "Anna", "Ben", "Dora"]]
    rows += [
        [item, of(item, "Anna"), of(item, "Ben"), "good" if n % 2 else "bad"]
        for n, item in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "table.csv", csv_of(rows))

    assert {*tables.ratings["rater"]} == {"Anna", "Ben"}
    assert tables.notes[0] == "not read: Dora, values of another kind than the ratings"


def test_each_name_in_a_column_of_judges_says_for_itself_beside_people(tmp_path: Path) -> None:
    names = {"human_1": "Anna", "human_2": "Ben", "gpt-4-turbo": "Cleo"}
    rows: Rows = [["question_id", "judge", "score"]]
    rows += [[item, name, of(item, rater)] for item in ITEMS for name, rater in names.items()]

    tables = read(tmp_path, "votes.csv", csv_of(rows))

    assert {*tables.ratings["rater"]} == {"human_1", "human_2"}
    assert {*tables.scores["judge"]} == {"gpt-4-turbo"}


LONG_FORM = [["item", "annotator", "score"], *LONG]
OF_CRITERIA: Rows = [
    ["item", "annotator", *QUESTIONS],
    *([i, r, *(VALUES[i, q, r] for q in QUESTIONS)] for i in ITEMS for r in RATERS),
]
OF_ROWS: Rows = [["item", "annotator", "criterion", "score"]]
OF_ROWS += [[i, r, q, VALUES[i, q, r]] for i in ITEMS for r in RATERS for q in QUESTIONS]
SCORED: Rows = [["item", "score"], *([i, of(i, "Cleo")] for i in ITEMS)]
SCORED_ON_ALL: Rows = [["item", *QUESTIONS]]
SCORED_ON_ALL += [[i, *(VALUES[i, q, "Cleo"] for q in QUESTIONS)] for i in ITEMS]
SCORED_BY_ROW: Rows = [["item", "criterion", "score"]]
SCORED_BY_ROW += [[i, q, VALUES[i, q, "Cleo"]] for i in ITEMS for q in QUESTIONS]


@pytest.mark.parametrize(
    ("people", "judge", "n_scores"),
    [
        (LONG_FORM, SCORED, 12),
        (wide(), SCORED, 12),
        (OF_CRITERIA, SCORED_ON_ALL, 24),
        (OF_ROWS, SCORED_ON_ALL, 24),
        (OF_ROWS, SCORED_BY_ROW, 24),
    ],
)
def test_a_file_without_raters_is_of_the_judge_it_is_called_like(
    tmp_path: Path, people: Rows, judge: Rows, n_scores: int
) -> None:
    paths = [tmp_path / "people.csv", tmp_path / "gpt4_scores.csv"]
    for path, rows in zip(paths, (people, judge), strict=True):
        path.write_text(csv_of(rows))

    tables = read_ratings(paths, ReadOptions())

    assert {*tables.ratings["rater"]} == {*RATERS}
    assert tables.scores["judge"].tolist() == ["gpt4_scores"] * n_scores
    assert {*tables.scores["question"]} == {*tables.ratings["question"]}
    paths[1] = paths[1].rename(tmp_path / "second.csv")
    with pytest.raises(ExceptionGroup) as group:
        read_ratings(paths, ReadOptions())
    assert "If a judge did, pass --judge second.csv" in str(group.value.exceptions[0])
    named = read_ratings(paths, ReadOptions(judge=("second.csv",)))
    assert len(named.scores) == n_scores
    person = read_ratings(paths, ReadOptions(rater=("second.csv",)))
    assert len(person.ratings) == len(tables.ratings) + n_scores


@pytest.mark.parametrize(
    ("names", "judges"),
    [
        (("judge_run1", "judge_run2"), {"judge"}),
        (("llm_judge_trial_1", "llm_judge_trial_2"), {"llm_judge"}),
        (("judge_a", "judge_b"), {"judge_a", "judge_b"}),
    ],
)
@pytest.mark.parametrize("has_people", [True, False])
def test_files_of_runs_or_of_several_judges_are_no_people(
    tmp_path: Path, names: tuple[str, ...], judges: set[str], *, has_people: bool
) -> None:
    tables = {"people": wide()} if has_people else {}
    for name, rows in {**tables, **dict.fromkeys(names, SCORED)}.items():
        (tmp_path / f"{name}.csv").write_text(csv_of(rows))

    result = read_ratings([tmp_path], ReadOptions())

    assert {*result.ratings["rater"]} == ({*RATERS} if has_people else set())
    assert {*result.scores["judge"]} == judges
    assert len(result.scores) == 2 * len(ITEMS)


def scored(name: str, *, shift: int = 0, first: int = 0) -> str:
    """Return ratings of each item in a column of a name."""
    rows: Rows = [["id", name]]
    rows += [[n, 1 + (n + shift * (n % 3)) % 5] for n in range(first, first + 12)]
    return csv_of(rows)


FOLDERS: dict[str, tuple[dict[str, str], set[str], set[str]]] = {
    "a folder for people and one for judges": (
        {f"humans/{of}.csv": scored("score") for of in ("kim", "lou")}
        | {f"judges/{of}.csv": scored("score", shift=1) for of in ("strict", "mild")},
        {"kim", "lou"},
        {"strict", "mild"},
    ),
    "a folder of batches for each rater": (
        {
            f"annotator_{k}/b{first}.csv": scored("score", shift=k, first=first)
            for k in (1, 2)
            for first in (0, 12)
        },
        {"annotator_1", "annotator_2"},
        set(),
    ),
    "batches of the same names in a folder for each rater": (
        {
            f"{of}/batch_{first}.csv": scored("score", shift=k, first=first)
            for k, of in enumerate(("Luisa", "Mehmet"))
            for first in (0, 12)
        },
        {"Luisa", "Mehmet"},
        set(),
    ),
    "batches in folders of the files of each rater": (
        {
            f"batch_{first}/{of}.csv": scored("score", shift=k, first=first)
            for k, of in enumerate(("luisa", "mehmet"))
            for first in (0, 12)
        },
        {"luisa", "mehmet"},
        set(),
    ),
    "a name before score in each file": (
        {f"{of}.csv": scored(f"{of}_score") for of in ("kim", "lou")},
        {"kim", "lou"},
        set(),
    ),
    "people in names of files with other headers": (
        {
            "ratings_Priya.csv": scored("Score (1-5)"),
            "ratings_Tom.csv": scored("score"),
            "judge_out.csv": scored("judge_score"),
        },
        {"Priya", "Tom"},
        {"judge_score"},
    ),
    "gold beside people": (
        {f"{of}.csv": scored("score") for of in ("kim", "max", "gold")},
        {"kim", "max"},
        set(),
    ),
    "lists of people and of a judge": (
        {
            f"{of}.jsonl": "".join(
                json.dumps({"id": n, "scores": [1 + n * (k + 2) % 5 for k in range(size)]}) + "\n"
                for n in range(12)
            )
            for of, size in (("people", 3), ("gpt-4o", 2))
        },
        {"rater 1", "rater 2", "rater 3"},
        {"gpt-4o"},
    ),
}
"""Files of a folder, with the people and the judges in them."""


@pytest.mark.parametrize("name", list(FOLDERS))
def test_files_of_a_folder_are_of_whom_their_places_say(tmp_path: Path, name: str) -> None:
    contents, people, judges = FOLDERS[name]
    for path, content in contents.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)

    result = read_ratings([tmp_path], ReadOptions())

    assert {*result.ratings["rater"]} == people
    assert {*result.scores["judge"]} == judges
    assert len(result.questions) == 1
    assert ("not read: ratings by gold" in " ".join(result.notes)) == ("gold.csv" in contents)


def test_ids_that_a_data_frame_wrote_as_decimals_are_those_of_another_file(tmp_path: Path) -> None:
    header, *rows = wide()
    people: Rows = [header, *[[f"{n}.0", *row[1:]] for n, row in enumerate(rows)]]
    scores: Rows = [["item", "score"]]
    scores += [[n, 3] for n in range(len(rows))]
    for name, table in (("people", people), ("judge", scores)):
        (tmp_path / f"{name}.csv").write_text(csv_of(table))

    result = read_ratings([tmp_path], ReadOptions())

    assert len(result.items) == len(result.scores) == len(ITEMS)


def test_two_words_of_a_verdict_are_the_classes_of_people(tmp_path: Path) -> None:
    rows: Rows = [["id", "human_correct", "llm_verdict"]]
    rows += [[n, str(n % 3 > 0).upper(), ("incorrect", "correct")[n % 2]] for n in range(12)]

    tables = read(tmp_path, "verdicts.csv", csv_of(rows))

    assert tables.judge_scales == {}
    assert tables.scores["value"].tolist() == [n % 2 for n in range(12)]
    assert tables.notes == ("llm_verdict: incorrect as 0 and correct as 1",)


@pytest.mark.parametrize("shape", list(JSON_OF_ONE_QUESTION))
def test_a_run_reads_json_of_any_shape_as_check_does(tmp_path: Path, shape: str) -> None:
    (tmp_path / "labels").mkdir()
    tables = read(
        tmp_path, "labels/ratings.json", json.dumps(JSON_OF_ONE_QUESTION[shape]), scale=LIKERT5
    )
    (tmp_path / "evaluation.yaml").write_text(
        "name: t\nrubric:\n  - {id: clarity, question: Is it clear, scale: likert5}\n"
    )
    responses = "".join(f"{item},p,r,m\n" for item in ITEMS)
    (tmp_path / "responses.csv").write_text(
        f"response_id,prompt_text,response_text,model_name\n{responses}"
    )
    evaluation = read_evaluation(tmp_path)

    labels = read_labels(evaluation, read_responses(evaluation)).ratings

    columns = ["response_id", "rater_id", "value"]
    of_run = set(labels[columns].itertuples(index=False, name=None))
    assert of_run == {(item, rater, value) for item, _, rater, value in cells(tables)}


@pytest.mark.parametrize(
    ("header", "kinds"),
    [
        ("role", ("human", "model")),
        ("rater_type", ("expert", "llm")),
        ("is_llm", ("0", "1")),
    ],
)
def test_a_column_tells_machines_among_the_raters(
    tmp_path: Path, header: str, kinds: tuple[str, str]
) -> None:
    rows: Rows = [["item", "rater", header, "score"]]
    rows += [[i, r, kinds[r == "Cleo"], value] for i, r, value in LONG]

    tables = read(tmp_path, "ratings.csv", csv_of(rows))

    assert {*tables.ratings["rater"]} == {"Anna", "Ben"}
    assert {*tables.scores["judge"]} == {"Cleo"}


def test_raters_in_a_file_of_a_judge_are_judges(tmp_path: Path) -> None:
    paths = [tmp_path / "people.csv", tmp_path / "second.csv"]
    for path, is_judge in zip(paths, (False, True), strict=True):
        rows = [row for row in LONG if (row[1] == "Cleo") is is_judge]
        path.write_text(csv_of([["item", "rater", "score"], *rows]))

    tables = read_ratings(paths, ReadOptions(judge=("second.csv",)))

    assert {*tables.ratings["rater"]} == {"Anna", "Ben"}
    assert {*tables.scores["judge"]} == {"Cleo"}


def test_words_of_numbered_raters_are_their_ratings(tmp_path: Path) -> None:
    words = ["spam", "fine", "hate"]
    rows: Rows = [["id", *(f"annotator_{k}" for k in (1, 2, 3)), "llm_label"]]
    rows += [[i, *(words[of(i, r) % 3] for r in RATERS), words[n % 3]] for n, i in enumerate(ITEMS)]

    tables = read(tmp_path, "words.csv", csv_of(rows))

    assert len(tables.ratings) == len(EXPECTED)
    assert {*tables.scores["judge"]} == {"llm_label"}


def test_spellings_of_yes_and_no_are_the_same_words(tmp_path: Path) -> None:
    words = {1: ("Yes", "y"), 0: ("No", "n")}
    rows: Rows = [["ticket", "anna", "ben"]]
    rows += [[f"t{n}", words[n % 2][0], words[n % 3 % 2][1]] for n in range(20)]

    ratings = read(tmp_path, "verdicts.csv", csv_of(rows))

    assert {(rater, value) for _, _, rater, value in cells(ratings)} == {
        (rater, value) for rater in ("anna", "ben") for value in (0, 1)
    }


def test_value_that_one_rater_alone_gave_is_on_the_scale_that_an_option_gives(
    tmp_path: Path, reported: Reported
) -> None:
    rows: Rows = [["id", "anna", "ben"], *([f"t{n}", 1 + n % 3, 1 + n % 2] for n in range(20))]
    rows[7][2] = 7

    [problem] = reported(lambda: read(tmp_path, "ratings.csv", csv_of(rows)))
    ratings = read(tmp_path, "ratings.csv", csv_of(rows), scale=Scale.from_steps(low=1, high=7))

    assert problem.endswith("pass --missing-values 7; if it is one, --scale 1-7.")
    assert ("t6", "rating", "ben", 7) in cells(ratings)


def test_judge_has_the_name_of_the_model_that_stands_beside_its_scores(tmp_path: Path) -> None:
    records = [
        {
            "id": item,
            "judge": {"model": "gpt-4o-mini", "score": of(item, "Anna")},
            "human": {rater: of(item, rater) for rater in RATERS},
        }
        for item in ITEMS
    ]

    ratings = read(tmp_path, "records.json", json.dumps(records))

    assert set(ratings.scores["judge"]) == {"gpt-4o-mini"}


def test_people_who_share_the_first_name_of_a_model_are_people(tmp_path: Path) -> None:
    rows: Rows = [["item", "Claude Dupont", "Gemma Jones", "Claude Sonnet 4"]]
    rows += [[item, of(item, "Anna"), of(item, "Ben"), of(item, "Cleo")] for item in ITEMS]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert set(ratings.scores["judge"]) == {"Claude Sonnet 4"}
    assert len(cells(ratings)) == 2 * len(ITEMS)


def long_with_scores(*columns: tuple[str, str]) -> Rows:
    """Return a row for each rating of both questions, with columns of a judge's scores."""
    rows: Rows = [["item", "rater", *QUESTIONS, *(header for header, _ in columns)]]
    for item in ITEMS:
        scores = [VALUES[item, question, "Cleo"] for _, question in columns]
        rows += [
            [item, rater, *(VALUES[item, q, rater] for q in QUESTIONS), *scores]
            for rater in RATERS[:2]
        ]
    return rows


def test_score_that_each_rating_of_an_item_repeats_is_a_judges(tmp_path: Path) -> None:
    rows = long_with_scores(("llm_Clarity", "Clarity"), ("llm_Tone", "Tone"))

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert set(ratings.ratings["rater"]) == {*RATERS[:2]}
    scores = ratings.scores
    assert set(scores["judge"]) == {"llm"}
    assert {
        (item, question): value
        for item, question, value in zip(
            scores["item"], scores["question"], scores["value"], strict=True
        )
    } == {(item, q): VALUES[item, q, "Cleo"] for item in ITEMS for q in QUESTIONS}
    assert not any("twice" in note for note in ratings.notes)


@pytest.mark.parametrize("header", ["judge_score", "gpt-4o", "model_label", "autograder"])
def test_judge_beside_ratings_in_rows_is_no_question(tmp_path: Path, header: str) -> None:
    rows: Rows = [["ticket", "annotator", "quality", header]]
    rows += [[item, r, of(item, r), of(item, "Cleo")] for item in ITEMS for r in RATERS[:2]]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert [question.id for question in ratings.questions] == ["quality"]
    assert set(ratings.scores["judge"]) == {header}
    assert len(ratings.scores) == len(ITEMS)


def test_an_option_names_the_judge_whose_score_each_rating_repeats(tmp_path: Path) -> None:
    rows: Rows = [["ticket", "annotator", "quality", "sysx"]]
    rows += [[item, r, of(item, r), of(item, "Cleo")] for item in ITEMS for r in RATERS[:2]]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows), judge=("sysx",))

    assert set(ratings.scores["judge"]) == {"sysx"}
    assert len(ratings.ratings) == 2 * len(ITEMS)


def test_a_run_reads_the_scores_that_each_rating_repeats(tmp_path: Path) -> None:
    rows = long_with_scores(("llm_Clarity", "Clarity"), ("llm_Tone", "Tone"))
    (tmp_path / "ratings.csv").write_text(csv_of(rows))
    texts = "".join(f"{item},why,because,m\n" for item in ITEMS)
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\n" + texts
    )
    rubric = "".join(f"  - {{id: {q}, question: Good?, scale: likert5}}\n" for q in QUESTIONS)
    (tmp_path / "evaluation.yaml").write_text(
        f"name: x\nrubric:\n{rubric}labels: ratings.csv\n"
        "judges: [{id: llm, provider: recorded, scores: ratings.csv}]\n"
    )
    evaluation = read_evaluation(tmp_path)
    responses = read_responses(evaluation)

    [scores] = read_recorded_scores(evaluation, responses)

    assert set(scores["status"]) == {"ok"}
    assert len(read_labels(evaluation, responses).ratings) == 4 * len(ITEMS)


@pytest.mark.parametrize("ends", ["AB", "12", "ab"])
def test_headers_of_one_rater_each_are_no_column_of_raters(tmp_path: Path, ends: str) -> None:
    rows: Rows = [["Response", *(f"Rater {end}" for end in ends)]]
    rows += [[item, of(item, "Anna"), of(item, "Ben")] for item in ITEMS]

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert {name[-1] for name in ratings.ratings["rater"]} == {*ends}
    assert len(ratings.ratings) == 2 * len(ITEMS)


def test_raters_that_share_a_word_label_one_question(tmp_path: Path) -> None:
    words = ("neutral", "entailment", "contradiction")
    rows: Rows = [["doc", "label_a", "label_b"]]
    rows += [[item, *(words[of(item, rater) % 3] for rater in RATERS[:2])] for item in ITEMS]

    ratings = read(tmp_path, "labels.csv", csv_of(rows))

    assert len(ratings.questions) == 1


@pytest.mark.parametrize("name", ["judge_label", "classifier_label", "label_model"])
def test_label_of_a_machine_is_a_judges(tmp_path: Path, name: str) -> None:
    rows: Rows = [["item", "human_label", name]]
    rows += [[item, of(item, "Anna"), of(item, "Ben")] for item in ITEMS]

    ratings = read(tmp_path, "labels.csv", csv_of(rows))

    assert set(ratings.scores["judge"]) == {name}


def test_judge_above_a_list_of_labels_is_read_once(tmp_path: Path) -> None:
    records = [
        {
            "id": item,
            "annotations": [{"by": r, "label": of(item, r)} for r in RATERS[:2]],
            "gpt-4o": {"label": of(item, "Cleo"), "why": f"as point {item} shows at length"},
        }
        for item in ITEMS
    ]

    ratings = read(tmp_path, "records.json", json.dumps(records))

    assert set(ratings.scores["judge"]) == {"gpt-4o"}
    assert len(ratings.scores) == len(ITEMS)


def test_judges_in_a_list_below_peoples_ratings_are_read(tmp_path: Path) -> None:
    models = ("gpt-4o", "claude-3-opus")
    records = [
        {
            "id": item,
            "humans": {rater: of(item, rater) for rater in RATERS[:2]},
            "judges": [{"model": model, "score": of(item, "Cleo")} for model in models],
        }
        for item in ITEMS
    ]

    ratings = read(tmp_path, "records.json", json.dumps(records))

    assert set(ratings.scores["judge"]) == {*models}
    assert set(ratings.ratings["rater"]) == {*RATERS[:2]}
    assert len(ratings.questions) == 1


def test_column_that_names_people_and_models_names_raters(tmp_path: Path) -> None:
    raters = {"expert_1": "Anna", "expert_2": "Ben", "gpt-4o-judge": "Cleo"}
    rows: Rows = [["example_id", "source", "verdict"]]
    rows += [
        [item, name, ("fail", "pass")[of(item, r) > 2]]
        for item in ITEMS
        for name, r in raters.items()
    ]

    ratings = read(tmp_path, "verdicts.csv", csv_of(rows))

    assert set(ratings.ratings["rater"]) == {"expert_1", "expert_2"}
    assert set(ratings.scores["judge"]) == {"gpt-4o-judge"}


def test_field_of_an_export_that_may_hold_ratings_is_named_on_the_screen(tmp_path: Path) -> None:
    metrics = {"name": "Correctness", "score": 0.5, "success": True, "evaluationModel": "gpt-4.1"}
    cases = [
        {"name": item, "input": item, "metricsData": [metrics], "humanRating": of(item, "Anna")}
        for item in ITEMS
    ]

    ratings = read(tmp_path, "run.json", json.dumps({"testCases": cases}))

    n = len(ITEMS)
    assert (
        f"not read: {n} values of the field testCases[].humanRating may be ratings" in ratings.notes
    )


@pytest.mark.parametrize(
    "field",
    [
        lambda scores: {"gpt-4o": scores},
        lambda scores: {"gpt-4o": {"scores": scores}},
        lambda scores: {"judge": "gpt-4o", "judge_scores": scores},
        lambda scores: {"judge": {"model": "gpt-4o", "scores": scores}},
        lambda scores: {"gpt-4o": [{"run": k, "score": of} for k, of in enumerate(scores)]},
        lambda scores: {"runs": [{"gpt-4o": of} for of in scores]},
        lambda scores: {"judge": {"model": "gpt-4o", "runs": [{"score": of} for of in scores]}},
    ],
)
def test_list_of_scores_of_one_model_holds_its_runs(
    tmp_path: Path, field: Callable[[list[int]], Mapping[str, object]]
) -> None:
    records = [
        {"id": f"t{k}", "anna": 1 + k % 5, "ben": 1 + k % 4, **field([1 + k % 5, 2, 1 + k % 3])}
        for k in range(12)
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    tables = read_ratings([path], ReadOptions())
    assert set(tables.ratings["rater"]) == {"anna", "ben"}
    assert len(tables.ratings) == 24
    assert set(tables.scores["judge"]) == {"gpt-4o"}
    assert tables.scores.groupby("run", observed=True).size().tolist() == [12, 12, 12]


@pytest.mark.parametrize("run", ["run", "trial", "attempt"])
@pytest.mark.parametrize("judge", ["judge", "llm_score"])
def test_label_that_each_run_of_a_judge_repeats_counts_once(
    tmp_path: Path, run: str, judge: str
) -> None:
    rows: Rows = [["case_id", run, judge, "human"]]
    rows += [
        [item, k, of(item, rater), of(item, "Cleo")]
        for item in ITEMS
        for k, rater in enumerate(RATERS[:2])
    ]

    ratings = read(tmp_path, "runs.csv", csv_of(rows))

    assert {item: value for item, _, _, value in cells(ratings)} == {
        item: of(item, "Cleo") for item in ITEMS
    }
    assert len(ratings.ratings) == len(ITEMS)
    assert len(ratings.scores) == 2 * len(ITEMS)
    assert set(ratings.scores["run"]) == {"0", "1"}


def test_people_beside_the_scores_of_each_judge_count_once(tmp_path: Path) -> None:
    judges = {"gpt-4o": "Cleo", "claude-3-opus": "Ben"}
    rows: Rows = [["case_id", "judge_model", "judge_score", "human_a", "human_b"]]
    rows += [
        [item, judge, of(item, rater), of(item, "Anna"), of(item, "Ben")]
        for item in ITEMS
        for judge, rater in judges.items()
    ]

    ratings = read(tmp_path, "joined.csv", csv_of(rows))

    assert set(ratings.scores["judge"]) == {*judges}
    assert len(ratings.scores) == len(ratings.ratings) == 2 * len(ITEMS)
    assert len(ratings.questions) == 1


@pytest.mark.parametrize("header", ["evaluator", "judge_model"])
def test_model_in_all_rows_is_whose_score_stands_beside_people(tmp_path: Path, header: str) -> None:
    rows: Rows = [["id", header, "score", "anna", "ben"]]
    rows += [
        [item, "gpt-4o", of(item, "Cleo"), of(item, "Anna"), of(item, "Ben")] for item in ITEMS
    ]

    ratings = read(tmp_path, "scores.csv", csv_of(rows))

    assert set(ratings.scores["judge"]) == {"gpt-4o"}
    assert set(ratings.ratings["rater"]) == {"anna", "ben"}


def test_person_who_made_all_rows_rated_none_of_them(tmp_path: Path) -> None:
    rows: Rows = [["Name", "Anna rating", "Ben rating", "GPT-4o rating", "Created By"]]
    rows += [[item, *(of(item, rater) for rater in RATERS), "Anna Lind"] for item in ITEMS]

    ratings = read(tmp_path, "table.csv", csv_of(rows))

    assert len(ratings.ratings) == 2 * len(ITEMS)
    assert set(ratings.scores["judge"]) == {"GPT-4o rating"}


def test_numbered_scores_of_a_model_are_no_persons(tmp_path: Path) -> None:
    headers = ["human_rating_1", "human_rating_2", "model_rating_1", "model_rating_2"]
    raters = ("Anna", "Ben", "Cleo", "Ben")
    rows: Rows = [["example", *headers]]
    rows += [[item, *(of(item, rater) for rater in raters)] for item in ITEMS[:5]]

    ratings = read(tmp_path, "table.csv", csv_of(rows))

    assert {name[-1] for name in ratings.ratings["rater"]} == {"1", "2"}
    assert len(ratings.ratings) == 2 * 5
    assert {*ratings.scores["judge"]} == {*headers[2:]}


def test_score_of_one_of_several_questions_is_named_on_the_screen(tmp_path: Path) -> None:
    rows = long_with_scores(("gpt-4o grade", "Clarity"))

    ratings = read(tmp_path, "ratings.csv", csv_of(rows))

    assert any("gpt-4o grade, which may score any of 2" in note for note in ratings.notes)


def test_column_of_one_name_beside_words_of_raters_is_no_rater(tmp_path: Path) -> None:
    words = ("bad", "good")
    rows: Rows = [["log_id", "Assigned to", "anna", "ben"]]
    rows += [
        [item, "Anna Lind", *(words[of(item, rater) > 2] for rater in RATERS[:2])] for item in ITEMS
    ]

    ratings = read(tmp_path, "logs.csv", csv_of(rows))

    assert {*ratings.ratings["rater"]} == {"anna", "ben"}


def test_what_is_equal_in_all_answers_of_a_survey_is_no_item(tmp_path: Path) -> None:
    words = ("Disagree", "Neither agree nor disagree", "Agree")
    header = ["StartDate", "Finished", "ResponseId", "DistributionChannel", "UserLanguage"]
    rows: Rows = [[*header, *(f"{k}_Q3" for k in range(1, 13))]]
    rows += [
        [
            *("2024-03-01 10:00:00", "True", f"R_{rater}", "anonymous", "EN"),
            *(words[of(item, rater) % 3] for item in ITEMS),
        ]
        for rater in RATERS
    ]

    ratings = read(tmp_path, "survey.csv", csv_of(rows))

    assert len(ratings.ratings) == len(ITEMS) * len(RATERS)


@pytest.mark.parametrize("header", ["judge", "judge_id"])
def test_ids_of_workers_below_judge_are_people(tmp_path: Path, header: str) -> None:
    workers = {"Anna": "5f3a1c9e0b", "Ben": "60aa12ffde", "Cleo": "f47ac10b-58cc-4372-a567"}
    rows: Rows = [["item", header, "score"]]
    rows += [[item, workers[rater], of(item, rater)] for item in ITEMS for rater in RATERS]

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert set(raters(ratings)) == set(workers.values())
    assert ratings.scores.empty


def test_texts_with_a_comma_each_are_no_lists(tmp_path: Path) -> None:
    rows: Rows = [["item", "Response A", "Response B", *RATERS]]
    for item in ITEMS * 2:
        name = f"{item}-{len(rows)}"
        texts = [f'"{side} answer to {name}, open the menu"' for side in ("First", "Second")]
        rows.append([name, *texts, *(of(item, rater) for rater in RATERS)])

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert len(ratings.items) == len(rows) - 1
    assert len(ratings.ratings) == len(RATERS) * len(ratings.items)


def test_raters_with_letters_beside_an_overall_column_are_no_questions(tmp_path: Path) -> None:
    rows: Rows = [["item", "expert_a", "expert_b", "expert_overall"]]
    rows += [[item, of(item, "Anna"), of(item, "Ben"), of(item, "Cleo")] for item in ITEMS]

    assert {"expert_a", "expert_b"} <= set(raters(read(tmp_path, "r.csv", csv_of(rows))))


def test_of_two_equal_columns_the_one_called_rating_is_read(tmp_path: Path) -> None:
    rows: Rows = [["item", "rater", "level", "score"]]
    for item in ITEMS:
        rows += [[item, rater, of(item, rater), of(item, rater)] for rater in RATERS]

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert one_question(ratings) == EXPECTED
    assert unread(ratings) == {"level"}


def test_columns_that_no_row_fills_together_are_no_votes(tmp_path: Path) -> None:
    rows: Rows = [["item", *RATERS, "first", "second"]]
    for n, item in enumerate(ITEMS):
        halves = [n % 4, ""] if n % 2 else ["", n % 3]
        rows.append([item, *(of(item, rater) for rater in RATERS), *halves])

    assert one_question(read(tmp_path, "r.csv", csv_of(rows))) >= EXPECTED


LONG_TEXTS = {
    item: f"The agent explains to {item} at some length how to return an order" for item in ITEMS
}


def long_of(*columns: tuple[str, Callable[[str, str, int], object]]) -> str:
    """Return a table with a row for each rating: its item and rater, and further columns."""
    rows: Rows = [["item", "rater", *(name for name, _ in columns)]]
    for n, item in enumerate(ITEMS):
        rows += [[item, r, *(cell(item, r, n) for _, cell in columns)] for r in RATERS]
    return csv_of(rows)


def jsonl_of(records: Sequence[object]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_question_about_an_item_is_a_question_and_no_item(tmp_path: Path) -> None:
    words = ("Not clear at all", "Somewhat clear", "Very clear")
    content = long_of(
        ("How clear is the summary?", lambda item, r, _: words[of(item, r) % 3]),
        ("Is it correct?", lambda item, r, _: ("No", "Yes")[of(item, r) > 2]),
    )

    ratings = read(tmp_path, "form.csv", content)

    assert {q.id for q in ratings.questions} == {"How clear is the summary?", "Is it correct?"}


def test_words_of_raters_beside_their_ratings_are_named_on_the_screen(tmp_path: Path) -> None:
    kinds = ("billing", "shipping", "account")
    content = long_of(
        ("score", lambda item, r, _: of(item, r)),
        ("complaint", lambda item, r, n: kinds[(of(item, r) + n) % 3]),
    )

    assert any("not read: complaint" in note for note in read(tmp_path, "r.csv", content).notes)


def test_name_and_value_of_an_answer_are_one_question(tmp_path: Path) -> None:
    words = ("Bad", "Fair", "Good")
    records = [
        {
            "external_id": item,
            "labels": [
                {
                    "created_by": f"{rater}@corp.example",
                    "radio_answer": {"name": word, "value": word.lower()},
                }
                for rater in RATERS
                for word in [words[of(item, rater) % 3]]
            ],
        }
        for item in ITEMS
    ]

    ratings = read(tmp_path, "export.ndjson", jsonl_of(records))

    assert len(ratings.ratings) == len(ITEMS) * len(RATERS)


def test_criteria_of_one_person_are_all_in_the_other_reading(tmp_path: Path) -> None:
    criteria = ("cohesion", "syntax", "vocabulary", "grammar")
    rows: Rows = [["text_id", *criteria]]
    rows += [[item, *(1 + n * k % 5 for k in range(1, 5))] for n, item in enumerate(ITEMS)]

    ratings = read(tmp_path, "essays.csv", csv_of(rows))

    options = [doubt.option for doubt in ratings.doubts if doubt.option.startswith("--rating")]
    assert all(criterion in options[0] for criterion in criteria)


def test_refusal_says_how_to_name_a_judge_of_several_questions(tmp_path: Path) -> None:
    rows: Rows = [["query", "coherence/score", "fulfillment/score", "human_fluency"]]
    rows += [[item, *(of(item, rater) for rater in RATERS)] for item in ITEMS]

    message = refusal(tmp_path, "metrics.csv", csv_of(rows))

    assert "--rater human_fluency --judge coherence/score,fulfillment/score" in message


def test_labels_of_people_on_answers_of_the_model_in_the_name_of_the_file(tmp_path: Path) -> None:
    facts = [
        {"text": LONG_TEXTS[item], "label": ("NS", "S")[of(item, "Anna") > 2]} for item in ITEMS
    ]
    records = [
        {
            "topic": f"t{k}",
            "annotations": [
                {
                    "model-facts": [{"text": of["text"]} for of in facts[j : j + 2]],
                    "human-facts": facts[j : j + 2],
                }
                for j in (k, k + 2)
            ],
        }
        for k in range(0, len(facts), 4)
    ]

    ratings = read(tmp_path, "ChatGPT.jsonl", jsonl_of(records))

    assert len(ratings.ratings) == len(ITEMS)
    assert ratings.scores.empty


def test_criteria_that_could_be_names_stand_beside_a_column_of_raters(tmp_path: Path) -> None:
    workers = dict(zip(RATERS, (10801, 10802, 10803), strict=True))
    criteria = ("respect", "insult", "status")
    rows: Rows = [["comment_id", "annotator_id", *criteria, "hate_score", "annotator_severity"]]
    for n, item in enumerate(ITEMS):
        for k, rater in enumerate(RATERS):
            values = [f"{(of(item, rater) + j * n) % 5}.0" for j in range(3)]
            rows.append([item, workers[rater], *values, f"{n / 7:.2f}", f"{k / 3:.2f}"])

    ratings = read(tmp_path, "hate.csv", csv_of(rows))

    assert set(raters(ratings)) == set(map(str, workers.values()))
    assert {q.id for q in ratings.questions} == set(criteria)


def test_statistics_below_the_ratings_are_no_ratings(tmp_path: Path) -> None:
    words = ("Not relevant", "Relevant")
    rows: Rows = [["Doc", "Coder 1", "Coder 2", "Agree?"]]
    for item in ITEMS:
        a, b = (words[of(item, rater) > 2] for rater in RATERS[:2])
        rows.append([item, a, b, "NY"[a == b]])
    rows += [
        ["", "", "", ""],
        ["Percent agreement", "85%", "", ""],
        ["Cohen's kappa", 0.71, "", ""],
    ]

    ratings = read(tmp_path, "coding.csv", csv_of(rows))

    assert set(raters(ratings)) == {"Coder 1", "Coder 2"}
    assert len(ratings.ratings) == 2 * len(ITEMS)


def test_places_of_marked_spans_are_no_ratings(tmp_path: Path) -> None:
    records = [
        {
            "id": item,
            "labels": [
                {"start": 2, "end": 9, "label_type": f"conflict {k}", "due_to_null": False}
                for k in range(n % 3)
            ],
            "quality": "good" if n % 4 else "truncated",
        }
        for n, item in enumerate(ITEMS)
    ]

    ratings = read(tmp_path, "spans.jsonl", jsonl_of(records))

    assert {q.id for q in ratings.questions} == {"quality"}


@pytest.mark.parametrize("end", ["", ".0"])
def test_tie_of_votes_on_two_responses_lies_between_them(tmp_path: Path, end: str) -> None:
    rows: Rows = [["item", "response1", "response2", *RATERS]]
    for item in ITEMS:
        texts = [f"{LONG_TEXTS[item]} {k}" for k in (1, 2)]
        rows.append([item, *texts, *(f"{of(item, rater) % 3}{end}" for rater in RATERS)])

    ratings = read(tmp_path, "votes.csv", csv_of(rows))

    place = {1: 0, 0: 1, 2: 2}
    assert one_question(ratings) == {
        (item, rater, place[of(item, rater) % 3]) for item in ITEMS for rater in RATERS
    }
    assert any("0 read as a tie between 1 and 2" in note for note in ratings.notes)
    assert ratings.questions[0].scale == Scale.parse("1,0,2")


def test_list_of_scores_of_two_responses_holds_no_raters(tmp_path: Path) -> None:
    records = [
        {
            "question_id": n,
            "answer1_body": LONG_TEXTS[item],
            "answer2_body": f"{LONG_TEXTS[item]} again",
            "score": [of(item, "Anna"), of(item, "Ben")],
        }
        for n, item in enumerate(ITEMS)
    ]

    assert "no column says who gave" in refusal(tmp_path, "pairs.jsonl", jsonl_of(records))


def test_metrics_in_a_list_are_questions_to_the_model_beside_them(tmp_path: Path) -> None:
    records = [
        {
            "scores": [
                {
                    "metricName": metric,
                    "result": of(item, rater) / 5,
                    "evaluatorDetails": [{"modelIdentifier": "amazon.nova-pro-v1:0"}],
                }
                for metric, rater in (("Helpfulness", "Anna"), ("Correctness", "Ben"))
            ],
            "inputRecord": {"prompt": LONG_TEXTS[item]},
            "modelResponses": [{"modelIdentifier": "anthropic.claude-v2"}],
        }
        for item in ITEMS
    ]

    ratings = read(tmp_path, "output.jsonl", jsonl_of(records))

    assert set(ratings.scores["judge"]) == {"amazon.nova-pro-v1:0"}
    assert set(ratings.scores["question"]) == {"Helpfulness", "Correctness"}
    assert len(ratings.items) == len(ITEMS)


def test_file_of_reference_labels_is_no_rater_beside_raters(tmp_path: Path) -> None:
    rows: Rows = [["worker", "task", "label"]]
    rows += [[rater, item, of(item, rater)] for item in ITEMS for rater in RATERS]
    gold: Rows = [["task", "label"], *([item, of(item, "Ben")] for item in ITEMS[:8])]
    files = {"labels.csv": rows, "gt.csv": gold}
    for name, content in files.items():
        (tmp_path / name).write_text(csv_of(content))

    ratings = read_ratings([tmp_path / name for name in files], ReadOptions())

    assert set(raters(ratings)) == set(RATERS)
    assert any("not read: gt.csv" in note for note in ratings.notes)


@pytest.mark.parametrize("names", [("Reviewer {}", "Score {}"), ("annotator{}", "human{}")])
def test_numbered_raters_gave_the_ratings_with_their_number(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    headers = [name.format(k) for k in (1, 2) for name in names]
    rows: Rows = [["item", *headers]]
    pairs = [(item, RATERS[n % 3], RATERS[(n + 1) % 3]) for n, item in enumerate(ITEMS)]
    rows += [[item, a, of(item, a), b, of(item, b)] for item, a, b in pairs]

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert one_question(ratings) == {(item, r, of(item, r)) for item, *two in pairs for r in two}


def test_calls_of_a_program_in_cells_are_no_ratings(tmp_path: Path) -> None:
    rows: Rows = [["record_id", "Relevance", "Relevance_calls", "Human Feedback"]]
    for n, item in enumerate(ITEMS):
        calls = "\"[{'args': {'prompt': 'x'}, 'ret': 0.6}, {'args': {}, 'ret': 0.5}]\""
        rows.append([f"r{n}", of(item, "Anna"), calls, of(item, "Ben")])

    message = refusal(tmp_path, "records.csv", csv_of(rows))

    assert "--rater 'Human Feedback' --judge Relevance" in message


def test_decimals_name_no_items(tmp_path: Path) -> None:
    records = [
        {"source": LONG_TEXTS[item], "quality": of(item, "Anna"), "confidence": 0.5 + n / 40}
        for n, item in enumerate(ITEMS)
    ]

    ratings = read(tmp_path, "output.jsonl", jsonl_of(records))

    assert ratings.columns["item"] == ("source",)


def test_raters_in_a_list_below_their_label_gave_it(tmp_path: Path) -> None:
    words = ("Bad", "Fair", "Good")
    records = [
        {
            "example_id": item,
            "classifications": [
                {"classname": word, "annotated_by": [{"annotator": r} for r in of_word]}
                for word in words
                if (of_word := [r for r in RATERS if words[of(item, r) % 3] == word])
            ],
        }
        for item in ITEMS
    ]

    ratings = read(tmp_path, "examples.json", json.dumps({"examples": records}))

    assert {(i, r, words[int(v)]) for i, r, v in one_question(ratings)} == {
        (item, rater, words[of(item, rater) % 3]) for item in ITEMS for rater in RATERS
    }


def test_politics_of_workers_are_no_raters(tmp_path: Path) -> None:
    workers = [f"w00{n}" for n in range(6)]
    politics = dict(zip(workers, ["liberal", "centre", "conservative"] * 2, strict=True))
    rows: Rows = [["WorkerId", "annotatorPolitics", "HITId", "intent", "whoTarget"]]
    for n, item in enumerate(ITEMS):
        for k, rater in enumerate(RATERS):
            worker = workers[(n + 2 * k + n // 5) % 6]
            rows.append([worker, politics[worker], item, of(item, rater), (n * k + k) % 2])

    ratings = read(tmp_path, "posts.csv", csv_of(rows))

    assert set(raters(ratings)) == set(workers)
    assert any("not read: whoTarget" in note for note in ratings.notes)


def test_criterion_called_like_an_attribute_has_the_values_of_the_others(tmp_path: Path) -> None:
    content = long_of(
        ("offensive", lambda item, r, _: of(item, r)),
        ("sex", lambda item, r, n: 1 + (of(item, r) + n) % 5),
    )

    ratings = read(tmp_path, "r.csv", content)

    assert {q.id for q in ratings.questions} == {"offensive", "sex"}


@pytest.mark.parametrize("header", ["physician_ids", "turk_id"])
def test_lists_of_labels_go_with_the_ids_of_those_who_gave_them(
    tmp_path: Path, header: str
) -> None:
    ids = dict(zip(RATERS, ("phys0", "phys1", "phys2"), strict=True))
    records = [
        {
            "prompt_id": f"p{n:04}",
            "labels": [of(item, rater) for rater in RATERS],
            header: [*ids.values()],
        }
        for n, item in enumerate(ITEMS)
    ]

    assert set(raters(read(tmp_path, "r.jsonl", jsonl_of(records)))) == {*ids.values()}


def test_comments_of_a_rater_are_not_filled_down(tmp_path: Path) -> None:
    rows: Rows = [["item", "Annotator comment", "Human rating", "gpt-4o"]]
    rows += [
        [item, "too long" if n % 4 == 0 else "", of(item, "Anna"), of(item, "Ben")]
        for n, item in enumerate(ITEMS)
    ]

    assert not any("Annotator comment" in n for n in read(tmp_path, "r.csv", csv_of(rows)).notes)


def test_addresses_of_machines_are_no_raters_beside_names(tmp_path: Path) -> None:
    names = dict(zip(RATERS, ("anna_z", "ben77", "cleo.k"), strict=True))
    rows: Rows = [["user_name", "user_ip", "item", "value"]]
    for item in ITEMS:
        rows += [[names[r], f"h{k}", item, of(item, r)] for k, r in enumerate(RATERS)]

    assert set(raters(read(tmp_path, "r.csv", csv_of(rows)))) == {*names.values()}


def test_list_of_peoples_scores_is_not_parallel_to_the_runs_of_a_judge(tmp_path: Path) -> None:
    records = [
        {
            "instruction": LONG_TEXTS[item],
            "human_score": [of(item, rater) for rater in RATERS],
            "gpt4_score": [1 + (of(item, rater) + n) % 5 for rater in RATERS],
        }
        for n, item in enumerate(ITEMS)
    ]

    ratings = read(tmp_path, "feedback.json", json.dumps(records))

    assert len(raters(ratings)) == len(RATERS)
    assert len(ratings.items) == len(ITEMS)
    assert len(set(ratings.scores["judge"])) == 1


def test_score_in_a_cell_of_json_is_read_beside_a_persons(tmp_path: Path) -> None:
    rows: Rows = [["id", "judge_output", "human"]]
    rows += [[i, f'"{{""score"": {of(i, "Ben")}}}"', of(i, "Anna")] for i in ITEMS]

    ratings = read(tmp_path, "eval.csv", csv_of(rows))

    assert len(ratings.scores) == len(ratings.ratings) == len(ITEMS)


def test_items_are_what_was_shown_and_not_the_number_of_the_trial(tmp_path: Path) -> None:
    rows: Rows = [["Event Index", "Participant ID", "Trial Number", "Response", "stimulus"]]
    for k, rater in enumerate(RATERS):
        order = ITEMS[k * 3 :] + ITEMS[: k * 3]
        rows += [[n, rater, n + 1, of(item, rater), item] for n, item in enumerate(order)]

    assert one_question(read(tmp_path, "trials.csv", csv_of(rows))) == EXPECTED


def test_list_of_scores_in_a_file_called_like_a_model_is_its_own(tmp_path: Path) -> None:
    records = [
        {"doc_id": item, "all_responses": [str(of(item, rater)) for rater in RATERS]}
        for item in ITEMS
    ]

    ratings = read(tmp_path, "gpt4_detailed.json", json.dumps(records))

    assert ratings.ratings.empty
    assert len(ratings.scores) == len(ITEMS) * len(RATERS)


def test_state_of_a_form_is_no_rating(tmp_path: Path) -> None:
    rows: Rows = [["record_id", "accuracy", "review_complete"]]
    rows += [[item, of(item, "Anna"), 2] for item in ITEMS]

    assert {q.id for q in read(tmp_path, "r.csv", csv_of(rows)).questions} == {"accuracy"}


def test_numbered_annotators_are_raters_beside_codes_in_capitals(tmp_path: Path) -> None:
    rows: Rows = [["ID", "Annotator", "Hate", "HD", "CV", "VO"]]
    for n, item in enumerate(ITEMS):
        for k, rater in enumerate(RATERS):
            rows.append([item, (n + k) % 5, *((of(item, rater) + j * n) % 2 for j in range(4))])

    ratings = read(tmp_path, "r.csv", csv_of(rows))

    assert set(raters(ratings)) == set("01234")
    assert len(ratings.items) == len(ITEMS)


def test_rows_that_only_their_number_tells_apart_are_doubted(tmp_path: Path) -> None:
    """Three people rated each answer, and no column says who."""
    header: list[object] = ["row", "model", "answer", "score"]
    text = "The answer to question {} is long enough to be read as a text and no word"
    scores = [(text.format(n), of(ITEMS[n % 12], rater)) for n in range(40) for rater in RATERS]
    doubtful, of_models = (
        read(
            tmp_path,
            "r.csv",
            csv_of([header, *([n, f"m{n % n_models}", *of] for n, of in enumerate(scores))]),
        )
        for n_models in (1, len(RATERS))
    )

    assert "the same answer in several rows" in " ".join(of.choice for of in doubtful.doubts)
    assert "in several rows" not in " ".join(of.choice for of in of_models.doubts)


def test_option_that_names_people_leaves_the_judge_beside_them(tmp_path: Path) -> None:
    rows: Rows = [["item", *RATERS, "gpt-4o"]]
    rows += [[item, *(of(item, rater) for rater in RATERS), of(item, "Anna")] for item in ITEMS]

    ratings = read(tmp_path, "r.csv", csv_of(rows), rater=("Anna", "Ben"))

    assert set(raters(ratings)) == {"Anna", "Ben"}
    assert set(ratings.scores["judge"]) == {"gpt-4o"}


@pytest.mark.parametrize(("name", "is_open"), [("ratings", True), ("annotator_scores", False)])
def test_places_in_a_list_are_doubted_as_raters(
    tmp_path: Path, name: str, *, is_open: bool
) -> None:
    records = [{"id": item, name: [of(item, rater) for rater in RATERS]} for item in ITEMS]

    ratings = read(tmp_path, "r.json", json.dumps(records))
    corrected = read(tmp_path, "r.json", json.dumps(records), item=("id", f"{name}.#"))

    assert len(raters(ratings)) == len(RATERS)
    choices = " ".join(doubt.choice for doubt in ratings.doubts)
    assert (f"told apart by their place in {name}" in choices) == is_open
    assert len(corrected.items) == len(ITEMS) * len(RATERS)


@pytest.mark.parametrize("field", ["", "text", "turn"])
def test_turns_of_a_conversation_are_items_and_no_raters(tmp_path: Path, field: str) -> None:
    """The places of two turns are as many as there are people."""
    conversations = []
    for first, second in zip(ITEMS[::2], ITEMS[1::2], strict=True):
        turns: list[dict[str, object]] = []
        for place, item in enumerate((first, second)):
            named: dict[str, object] = {"text": item, "turn": place}
            ratings = {"kim": of(item, "Anna"), "lou": of(item, "Ben")}
            turns.append(
                {name: named[name] for name in named if name == field} | {"ratings": ratings}
            )
        conversations.append({"conv": first, "turns": turns})

    result = read(tmp_path, "r.json", json.dumps(conversations))

    assert raters(result) == ("kim", "lou")
    assert len(result.items) == len(ITEMS)
    assert not result.doubts
