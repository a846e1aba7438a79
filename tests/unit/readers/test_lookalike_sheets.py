"""Sheets of which a column looks like what it is not: each needs a rule that no other case does."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from eval_assets import check
from eval_assets.readers.rating_tables import Doubt, RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from tests.unit.readers.test_team_sheets import ANNA, BEN, IDS, JUDGE, SECOND, N, read, sheet

VERDICTS = [["fail", "pass"][value > 2] for value in ANNA]
MODEL_VERDICTS = [["fail", "pass"][value > 2] for value in JUDGE]
SHARES = [round(value / 5 - n / 100, 2) for n, value in enumerate(JUDGE)]
SPARSE = [value if n % 4 == 0 else "" for n, value in enumerate(BEN)]
COMMENTS = [f"I think that item {n} is fine as it is" for n in range(N)]
PAIRS = zip(IDS, ANNA, BEN, strict=True)


def long(header: str, *names: object) -> str:
    """Return a row for each number of an item and rater."""
    rows = [
        f"{n},{rater},{values[n - 1]}"
        for n in range(1, N + 1)
        for rater, values in zip(names, (ANNA, BEN), strict=True)
    ]
    return "\n".join([header, *rows]) + "\n"


def long_rows(*names: object) -> list[tuple[str, str, int]]:
    """Return item, rater and rating of each rating."""
    rows = [line.split(",") for line in long("", *names).splitlines()[1:]]
    return [(item, rater, int(value)) for item, rater, value in rows]


TRAITS = [
    {"id": item, "ratings": [{"criterion": "tone", "score": a}, {"criterion": "depth", "score": b}]}
    for item, a, b in PAIRS
]

SHEETS: dict[str, tuple[str, str, set[str], set[str]]] = {
    "a judge's score on another scale, beside its label": (
        "csv",
        sheet("id,human,gpt4_label,gpt4_score", VERDICTS, MODEL_VERDICTS, SHARES),
        {"human"},
        {"gpt4_label"},
    ),
    "a judge beside raters with a column for each question": (
        "csv",
        sheet("id,anna_tone,anna_form,ben_tone,ben_form,gpt4", ANNA, BEN, BEN, SECOND, JUDGE),
        {"anna", "ben"},
        {"gpt4"},
    ),
    "a criterion like a name, beside names of which one is rare": (
        "csv",
        sheet("id,anna,ben,kwabena,warmth", ANNA, BEN, SECOND, JUDGE),
        {"anna", "ben", "kwabena"},
        set(),
    ),
    "comments under the names of those who rated": (
        "csv",
        sheet("id,anna_score,ben_score,anna,ben", ANNA, BEN, COMMENTS, COMMENTS[::-1]),
        {"anna", "ben"},
        set(),
    ),
    "fields of an object of judges": (
        "csv",
        sheet("id,human,judges.gpt-4o,judges.claude-3-opus", ANNA, JUDGE, SECOND),
        {"human"},
        {"gpt-4o", "claude-3-opus"},
    ),
    "ratings that a rater left out": (
        "csv",
        sheet("id,rater_1,rater_2", SPARSE, ANNA),
        {"rater_1", "rater_2"},
        set(),
    ),
    "numbers of items under a header that says nothing": (
        "csv",
        long("x,who,y", "anna", "ben"),
        {"anna", "ben"},
        set(),
    ),
    "criteria in a list": ("json", json.dumps(TRAITS), {"(not named)"}, set()),
}


@pytest.mark.parametrize("case", SHEETS)
def test_columns_of_a_sheet_are_no_lookalikes(tmp_path: Path, case: str) -> None:
    ending, content, people, judges = SHEETS[case]

    result = read(tmp_path, f"ratings.{ending}", content)

    assert set(result.ratings["rater"]) == people
    assert set(result.scores["judge"]) == judges
    blanks = SPARSE.count("") if case.startswith("ratings that") else 0
    of_each = 2 if "question" in case or "criteria" in case else 1
    assert len(result.ratings) == N * len(people) * of_each - blanks


def test_sheet_with_one_row_of_each_rater_names_no_item(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as refusal:
        read(tmp_path, "ratings.csv", sheet("annotator,tone,depth,style", ANNA, BEN, JUDGE))

    assert "may be raters or questions" in str(refusal.value.exceptions[0])


def test_version_of_an_item_may_be_what_was_asked(tmp_path: Path) -> None:
    """The values leave it open, and each way to read it has an option that is followed."""
    rows = [
        f"{item},{version},{a},{b}"
        for version, values, scores in (("old", ANNA, JUDGE), ("new", BEN, SECOND))
        for item, a, b in zip(IDS, values, scores, strict=True)
    ]
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join(["article,version,human_score,gpt-4o", *rows]))

    [doubt] = read_ratings([file], ReadOptions()).doubts

    assert (doubt.option, doubt.confirmation) == ("--item article,version", "--question version")
    of_items = read_ratings([file], ReadOptions(item=("article", "version")))
    of_questions = read_ratings([file], ReadOptions(question="version"))
    assert (of_items.ratings["item"].nunique(), of_items.doubts) == (2 * N, ())
    assert (of_questions.ratings["item"].nunique(), of_questions.doubts) == (N, ())


@pytest.mark.parametrize("column", ["owner", "reviewer", "author"])
def test_names_beside_scores_of_a_judge_are_no_questions(tmp_path: Path, column: str) -> None:
    result = read(tmp_path, "scores.csv", long(f"ticket,{column},gpt4_score", "anna", "ben"))

    assert not len(result.ratings)
    assert set(result.scores["judge"]) == {"gpt4_score"}
    assert result.scores["item"].nunique() == 2 * N
    assert not any(doubt.option for doubt in result.doubts)


@pytest.mark.parametrize("people", ["human", "anna"])
@pytest.mark.parametrize("runs", ["run_1,run_2", "trial 1,trial 2", "score_run1,score_run2"])
def test_numbered_runs_beside_people_are_those_of_one_judge(
    tmp_path: Path, people: str, runs: str
) -> None:
    result = read(tmp_path, "runs.csv", sheet(f"id,{people},{runs}", ANNA, JUDGE, SECOND))

    assert set(result.ratings["rater"]) == {people}
    assert set(result.scores["judge"]) == {"judge"}
    assert set(result.scores["run"]) == {"1", "2"}
    assert [doubt.choice for doubt in result.doubts] == [
        f"{runs.replace(',', ', ')} are runs of a judge"
    ]


@pytest.mark.parametrize("stem", ["Jury", "Blind", "編集者", "Eval"])
def test_numbered_columns_beside_one_judge_are_raters_with_a_doubt(
    tmp_path: Path, stem: str
) -> None:
    header = f"id,{stem} 1,{stem} 2,gpt-4o"

    result = read(tmp_path, "ratings.csv", sheet(header, ANNA, BEN, JUDGE))

    assert set(result.ratings["rater"]) == {f"{stem} 1", f"{stem} 2"}
    [doubt] = result.doubts
    assert doubt.option == f"--rating '{stem} 1,{stem} 2' --judge gpt-4o"


@pytest.mark.parametrize(
    "header", ["gen_1,gen_2,human", "Q1,Q2,gpt-4o", "Criterion 1,Criterion 2,AI"]
)
def test_numbered_columns_that_may_be_outputs_or_questions_are_refused(
    tmp_path: Path, header: str
) -> None:
    with pytest.raises(ExceptionGroup) as refusal:
        read(tmp_path, "ratings.csv", sheet(f"id,{header}", ANNA, BEN, JUDGE))

    assert "may be raters or questions" in str(refusal.value.exceptions[0])


@pytest.mark.parametrize("name", ["themis", "label", "roberta_score"])
def test_a_column_beside_people_that_nothing_calls_a_person_is_said_to_count_as_one(
    tmp_path: Path, name: str
) -> None:
    result = read(tmp_path, "ratings.csv", sheet(f"id,anna,ben,{name}", ANNA, BEN, JUDGE))

    assert result.ratings["rater"].nunique() == len(("anna", "ben", name))
    assert Doubt((name,), f"{name} counts as a person", f"--judge {name}") in result.doubts


def test_columns_of_raters_who_are_called_alike_need_no_word(tmp_path: Path) -> None:
    result = read(tmp_path, "ratings.csv", sheet("id,Rating,Rating_1,Rating_2", ANNA, BEN, SECOND))

    assert (result.ratings["rater"].nunique(), result.doubts) == (3, ())


def test_scores_of_a_grader_beside_a_person_are_no_names_of_raters(tmp_path: Path) -> None:
    result = read(tmp_path, "ratings.csv", sheet("id,human,grader", ANNA, JUDGE))

    assert set(result.ratings["rater"]) == {"human"}
    assert set(result.scores["judge"]) == {"grader"}
    assert "grader is a judge" in [doubt.choice for doubt in result.doubts]


@pytest.mark.parametrize("name", ["assistant", "final_score", "confidence"])
def test_a_column_of_another_name_with_all_values_of_the_scale_is_named(
    tmp_path: Path, name: str
) -> None:
    result = read(tmp_path, "ratings.csv", sheet(f"id,human,{name}", ANNA, SECOND))

    assert any(note.startswith(f"not read: {name}, ") for note in result.notes)


def test_a_column_of_user_names_with_each_item_is_part_of_it_or_who_rated(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    rows = [line.split(",") for line in long("", "jdoe", "tkim").splitlines()[1:]]
    file.write_text("\n".join(["ticket,name,score", *(f"T-{a},{b},{c}" for a, b, c in rows)]))

    [doubt] = read_ratings([file], ReadOptions()).doubts
    named = read_ratings([file], ReadOptions(rater=("name",)))

    assert (doubt.choice, doubt.option) == ("name is part of the item", "--rater name")
    assert set(named.ratings["rater"]) == {"jdoe", "tkim"}
    assert named.ratings["item"].nunique() == N


@pytest.mark.parametrize("header", ["name", "source"])
def test_addresses_are_those_of_raters_whatever_their_header_is(
    tmp_path: Path, header: str
) -> None:
    result = read(tmp_path, "ratings.csv", long(f"ticket,{header},score", "a@x.org", "b@x.org"))

    assert set(result.ratings["rater"]) == {"a@x.org", "b@x.org"}


def test_categories_are_ratings_if_nothing_else_is(tmp_path: Path) -> None:
    content = long("ticket,annotator,category", "anna", "ben")
    result = read(tmp_path, "ratings.csv", content)

    assert {q.id for q in result.questions} == {"category"}
    assert len(result.ratings) == 2 * N


@pytest.mark.parametrize("header", ["tone.human,accuracy.human", "factual_human,fluent_human"])
def test_criteria_before_the_word_human_are_no_raters(tmp_path: Path, header: str) -> None:
    result = read(tmp_path, "ratings.csv", sheet(f"id,{header}", ANNA, BEN))

    assert set(result.ratings["rater"]) == {"human"}
    assert {q.id for q in result.questions} == {of[:-6] for of in header.split(",")}


@pytest.mark.parametrize(
    ("people", "criteria", "separator"),
    [
        (("Rater 1", "Rater 2"), ("writing quality", "tone of voice"), " "),
        (("annotator_1", "annotator_2"), ("honesty", "help"), "."),
    ],
)
def test_people_of_two_words_are_told_from_criteria(
    tmp_path: Path, people: tuple[str, str], criteria: tuple[str, str], separator: str
) -> None:
    headers = [f"{a}{separator}{b}" for a in people for b in criteria]
    header = ",".join(["id", *headers])

    result = read(tmp_path, "ratings.csv", sheet(header, ANNA, BEN, JUDGE, SECOND))

    assert set(result.ratings["rater"]) == {*people}
    assert {q.id for q in result.questions} == {*criteria}


def test_files_of_a_folder_are_read_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "z_labels.csv").write_text(sheet("ticket,label", ANNA))
    (tmp_path / "export.csv").write_text(sheet("ticket,score", JUDGE))

    with pytest.raises(ExceptionGroup) as refusal:
        read_ratings([tmp_path], ReadOptions())

    assert "export.csv: nothing says who gave" in str(refusal.value.exceptions[0])


def test_evaluations_in_a_file_beside_people_are_a_judges(tmp_path: Path) -> None:
    rows = [f"i{k},pass,{('pass', 'fail')[k % 5 == 1]}" for k in range(20)]
    (tmp_path / "labels.csv").write_text("\n".join(["id,anna,ben", *rows]))
    verdicts = [f"i{k},correctness,{k % 4 > 0}" for k in range(20)]
    (tmp_path / "evals.csv").write_text("\n".join(["id,eval_name,passed", *verdicts]))

    result = read_ratings([tmp_path], ReadOptions())

    assert (len(result.ratings), len(result.scores)) == (40, 20)
    [doubt] = result.doubts
    assert (doubt.choice, doubt.confirmation) == ("evals is a judge", "--judge evals.csv")
    as_people = read_ratings([tmp_path], ReadOptions(rater=("evals.csv",)))
    assert as_people.ratings["rater"].nunique() == 3

    (tmp_path / "evals.csv").rename(tmp_path / "export.csv")
    with pytest.raises(ExceptionGroup) as refusal:
        read_ratings([tmp_path], ReadOptions())
    assert "export.csv: nothing says who gave" in str(refusal.value.exceptions[0])


@pytest.mark.parametrize(
    "criterion", ["task_success", "instruction_following", "policy_compliance", "user_satisfaction"]
)
def test_criteria_with_a_word_for_something_else_are_read(tmp_path: Path, criterion: str) -> None:
    header = f"id,{criterion},judge_{criterion}"

    result = read(tmp_path, "ratings.csv", sheet(header, ANNA, JUDGE))

    assert (len(result.ratings), len(result.scores)) == (N, N)
    assert result.scores["item"].nunique() == N


@pytest.mark.parametrize("criterion", ["trust", "difficulty", "reasoning"])
def test_what_is_called_a_measurement_is_rated_if_a_person_and_a_judge_say_it(
    tmp_path: Path, criterion: str
) -> None:
    header = f"id,human_{criterion},gpt4_{criterion}"

    result = read(tmp_path, "ratings.csv", sheet(header, ANNA, JUDGE))

    assert (len(result.ratings), len(result.scores)) == (N, N)


@pytest.mark.parametrize("key", ["feedback", "assessments"])
def test_a_verdict_of_a_judge_beside_a_list_of_peoples_is_read_once(
    tmp_path: Path, key: str
) -> None:
    records = [
        {
            "trace_id": item,
            key: [{"name": "anna", "verdict": a}, {"name": "ben", "verdict": b}],
            "judge": {"model": "gpt-4o", "verdict": j},
        }
        for item, a, b, j in zip(IDS, ANNA, BEN, JUDGE, strict=True)
    ]

    result = read(tmp_path, "ratings.json", json.dumps(records))

    assert (len(result.ratings), len(result.scores)) == (2 * N, N)


def test_equal_rows_of_an_item_count_once_and_different_ones_are_an_error(tmp_path: Path) -> None:
    lines = sheet("ticket,anna,ben,gpt-4o", ANNA, BEN, JUDGE).splitlines()
    item, first, *rest = lines[1].split(",")
    changed = ",".join([item, str(6 - int(first)), *rest])

    copied = read(tmp_path, "ratings.csv", "\n".join([*lines, lines[1], lines[2]]))

    assert copied.ratings["item"].nunique() == N
    assert "6 ratings given twice: counted once" in copied.notes
    with pytest.raises(ExceptionGroup) as refusal:
        read(tmp_path, "ratings.csv", "\n".join([*lines, changed]))
    assert f'a second rating of "{item}"' in str(refusal.value.exceptions[0])


def test_verdicts_of_a_judge_in_words_of_its_own_are_no_names_of_raters(tmp_path: Path) -> None:
    words = [["toxic", "non-toxic"][value > 2] for value in JUDGE]

    result = read(tmp_path, "ratings.csv", sheet("ticket,human,judge", VERDICTS, words))

    assert set(result.ratings["rater"]) == {"human"}
    assert set(result.scores["judge"]) == {"judge"}
    assert (
        "the order of non-toxic, toxic of judge is not known; name what passes: --judge-pass toxic"
        in result.notes
    )
    assert "Rank correlation" not in str(check(tmp_path / "ratings.csv"))


def test_subjects_that_users_saw_are_items(tmp_path: Path) -> None:
    rows = [f"{user},s{item},{value}" for item, user, value in long_rows("7", "8")]

    result = read(tmp_path, "ratings.csv", "\n".join(["user_id,subject_ids,value", *rows]))

    assert set(result.ratings["rater"]) == {"7", "8"}
    assert result.ratings["item"].nunique() == N


def test_numbers_of_annotators_are_no_annotators(tmp_path: Path) -> None:
    numbers = [1 + n % 3 for n in range(N)]
    scores = [round(1 + value + n / 100, 3) for n, value in enumerate(JUDGE)]
    content = sheet("src,lp,score,annotators", ["en-de", "de-en"] * (N // 2), scores, numbers)

    result = read(tmp_path, "ratings.csv", content)

    assert set(result.ratings["rater"]) == {"(not named)"}
    assert {q.id for q in result.questions} == {"score"}


def test_words_that_nothing_calls_ratings_are_said_to_be_read_as_such(tmp_path: Path) -> None:
    rows = [
        f"t{item},{rater},{'abc'[(int(item) + value) % 3]}x"
        for item, rater, value in long_rows("anna", "ben")
    ]

    result = read(tmp_path, "ratings.csv", "\n".join(["ticket,rater,origin", *rows]))

    assert Doubt(("origin",), "only its values say that origin holds ratings") in result.doubts


@pytest.mark.parametrize(
    ("headers", "people", "judges", "questions"),
    [
        (
            "Kim - Tone,Kim - Clarity,Lou - Tone,Lou - Clarity,Claude - Tone,Claude - Clarity",
            {"Kim", "Lou"},
            {"Claude"},
            {"Tone", "Clarity"},
        ),
        (
            "reviewer_1_severity,reviewer_2_severity,llm_severity",
            {"reviewer_1_severity", "reviewer_2_severity"},
            {"llm_severity"},
            {"rating"},
        ),
        (
            "llama_kim,llama_lou,llama_judge,gpt_kim,gpt_lou,gpt_judge",
            {"kim", "lou"},
            {"judge"},
            {"llama", "gpt"},
        ),
    ],
)
def test_judges_among_raters_of_several_columns_are_no_people(
    tmp_path: Path, headers: str, people: set[str], judges: set[str], questions: set[str]
) -> None:
    n_columns = headers.count(",") + 1
    rows = [[1 + (k + k * c // 5) % 3 for c in range(n_columns)] for k in range(24)]
    lines = [f"i{k},{','.join(map(str, row))}" for k, row in enumerate(rows)]

    result = read(tmp_path, "ratings.csv", "\n".join([f"id,{headers}", *lines]))

    assert set(result.ratings["rater"]) == people
    assert set(result.scores["judge"]) == judges
    assert {of.id for of in result.questions} == questions


def test_files_called_like_criteria_are_questions(tmp_path: Path) -> None:
    for name, step in (("clarity", 2), ("tone", 3)):
        rows = [f"i{k},{1 + k * step % 5},{1 + (k * step + k % 2) % 5}" for k in range(24)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,kim,lou", *rows]))

    result = read_ratings([tmp_path], ReadOptions())

    assert {question.id for question in result.questions} == {"clarity", "tone"}
    assert (len(result.ratings), len(result.items)) == (96, 24)


@pytest.mark.parametrize(
    ("files", "people", "judges"),
    [
        (("annotations_kim", "annotations_lou"), {"kim", "lou"}, set[str]()),
        (("human", "judge"), {"human"}, {"judge"}),
    ],
)
@pytest.mark.parametrize("header", ["failure", "has_error"])
def test_flag_alone_in_files_of_people_is_their_rating(
    tmp_path: Path, files: Sequence[str], people: set[str], judges: set[str], header: str
) -> None:
    values = ("no", "yes") if header == "failure" else (0, 1)
    for step, name in enumerate(files, 2):
        rows = [f"i{k},{values[k % 5 % step % 2]}" for k in range(24)]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"trace_id,{header}", *rows]))

    result = read_ratings([tmp_path], ReadOptions())

    assert set(result.ratings["rater"]) == people
    assert set(result.scores["judge"]) == judges


def test_judge_whose_field_no_file_alone_calls_a_rating_is_compared(tmp_path: Path) -> None:
    for step, name in enumerate(("kim", "lou"), 2):
        rows = [f"t{k},{('no', 'yes')[k % 5 % step % 2]}" for k in range(24)]
        (tmp_path / f"annotations_{name}.csv").write_text("\n".join(["trace_id,failure", *rows]))
    replies = [
        {"trace_id": f"t{k}", "response": {"failure": ("no", "yes")[k % 3 % 2], "reason": f"R{k}"}}
        for k in range(24)
    ]
    (tmp_path / "judge_output.jsonl").write_text("\n".join(map(json.dumps, replies)))

    result = read_ratings([tmp_path], ReadOptions())

    assert (len(result.ratings), len(result.scores)) == (48, 24)


def _rated(result: RatingTables) -> tuple[int, int, int, set[str]]:
    """Return the numbers of ratings, items and raters, and the questions."""
    ids = {question.id for question in result.questions}
    return len(result.ratings), len(result.items), result.ratings["rater"].nunique(), ids


@pytest.mark.parametrize("is_item_outside", [True, False])
def test_records_by_item_and_by_one_of_many_workers_are_ratings(
    tmp_path: Path, *, is_item_outside: bool
) -> None:
    records: dict[str, dict[str, dict[str, object]]] = {}
    for k, worker in product(range(40), range(3)):
        pair = f"{k + 3}", f"w{(k * 5 + worker * 7) % 23}"
        of = {"Fluency": 1 + (2 * k + worker) % 5, "Relevance": 1 + (k + worker) % 5, "note": "ok"}
        outer, inner = pair if is_item_outside else pair[::-1]
        records.setdefault(outer, {})[inner] = of

    result = read(tmp_path, "ratings.json", json.dumps(records))

    assert _rated(result) == (240, 40, 23, {"Fluency", "Relevance"})


def test_number_of_which_each_rater_has_all_is_the_item(tmp_path: Path) -> None:
    rows = [
        f"{k * 8 + b + 1},{30 + (b * 7 + k) % 40},{1 + (b + k) % 5},{'ab'[b % 2]},{b + 1},{k + 1}"
        for k, b in product(range(9), range(8))
    ]

    result = read(
        tmp_path, "wine.csv", "\n".join(["rownames,response,rating,temp,bottle,judge", *rows])
    )

    assert result.columns["item"] == ("bottle",)
    assert _rated(result) == (144, 8, 9, {"response", "rating"})


def test_part_of_an_item_with_ratings_of_its_own_is_a_question(tmp_path: Path) -> None:
    words = ("no", "yes"), ("1", "2", "3", "4")
    rows = [
        f"{item},T{task},{rater},{words[task][(item + rater % 2) % len(words[task])]}"
        for item, task, rater in product(range(30), range(2), range(3))
    ]

    result = read(tmp_path, "r.csv", "\n".join(["subject_id,task,user_id,value", *rows]))

    assert _rated(result) == (180, 30, 3, {"T0", "T1"})


def test_files_of_which_each_asks_the_same_are_items(tmp_path: Path) -> None:
    for k in range(12):
        values = [(name, 1 + k * s % 5, s) for s, name in enumerate(("tact", "brevity"), 2)]
        rows = [f"{name},{value},{min(5, value + k % s)}" for name, value, s in values]
        (tmp_path / f"chat_{k}.csv").write_text("\n".join(["criterion,anna,ben", *rows]))

    assert _rated(read_ratings([tmp_path], ReadOptions())) == (48, 12, 2, {"tact", "brevity"})


@pytest.mark.parametrize(
    ("names", "content", "people", "n_items"),
    [
        (("anna.csv", "ben.csv"), "score,comment\n{}", {"anna", "ben"}, N),
        (("human.csv", "gpt-4o.csv"), "score\n{}", {"human"}, N),
        (("part-x-7.csv", "part-x-9.csv"), "score\n{}", {"(not named)"}, 2 * N),
    ],
)
def test_rows_of_files_without_items_are_matched_if_raters_name_them(
    tmp_path: Path, names: Sequence[str], content: str, people: set[str], n_items: int
) -> None:
    comment = ",ok" * ("comment" in content)
    for name, values in zip(names, (ANNA, BEN), strict=True):
        rows = "\n".join(f"{value}{comment}" for value in values)
        (tmp_path / name).write_text(content.format(rows))

    result = read_ratings([tmp_path], ReadOptions())

    assert set(result.ratings["rater"]) == people
    assert len(result.items) == n_items
    assert any(note.startswith("no column names items: rows of ") for note in result.notes)


def test_comments_behind_each_rater_may_have_one_name(tmp_path: Path) -> None:
    header = "id,anna,comment,ben,comment"

    result = read(tmp_path, "r.csv", sheet(header, ANNA, COMMENTS, BEN, ["fine"] * N))

    assert set(result.ratings["rater"]) == {"anna", "ben"}


def test_statements_in_french_are_rated_by_number(tmp_path: Path) -> None:
    words = ["Pas du tout d'accord", "Plutôt pas d'accord", "Plutôt d'accord", "Sans avis"]
    rows = [
        f"{name},{k},{words[k * s % 3]},{words[3 if k == 7 else k // s % 3]}"
        for k, (s, name) in product(range(20), enumerate(("Élodie", "Yanis"), 2))
    ]
    header = "Évaluateur,Réponse n°,La réponse est claire,La réponse est exacte"

    result = read(tmp_path, "r.csv", "\n".join([header, *rows]))

    assert _rated(result)[:3] == (78, 20, 2)
    assert result.notes == ('2 of 80 cells not rated: "Sans avis"',)


@pytest.mark.parametrize("name", ["gpt-4o", "llm_hallucinated"])
def test_judge_on_a_turned_scale_is_told(tmp_path: Path, name: str) -> None:
    values = [[("no", "yes")[value > 2] for value in of] for of in (ANNA, [6 - v for v in JUDGE])]
    read(tmp_path, "ratings.csv", sheet(f"id,human_correct,{name}", *values))

    doubts = check(tmp_path / "ratings.csv").screen.reading.doubts

    assert any("its scale may be turned" in doubt.choice for doubt in doubts)


@pytest.mark.parametrize("values", [("left", "right"), ("orion", "lyra")])
def test_sides_on_which_raters_saw_a_model_are_told(tmp_path: Path, values: Sequence[str]) -> None:
    rows = []
    for k, (n, name) in product(range(30), enumerate(("ines", "kofi", "lou"))):
        pair = ["orion", "lyra"][:: 1 if (k + n) % 2 else -1]
        best = ("orion", "lyra")[k // 2 % 2]
        side = values[pair.index(best)] if values[0] == "left" else best
        rows.append(f"p{k},{','.join(pair)},{name},{side}")

    result = read(
        tmp_path, "r.csv", "\n".join(["prompt,left_model,right_model,rater,choice", *rows])
    )

    options = [doubt.option for doubt in result.doubts if "change places" in doubt.choice]
    assert options == ["--item prompt,left_model"] * (values[0] == "left")


def test_numbers_on_correctness_in_a_form_of_few_people_compare_nothing(tmp_path: Path) -> None:
    headers = [f"Response {part}.{name}" for part in "ABCD" for name in ("Clear", "Correct")]
    flags = [(k % 2, k // 2 % 2, (k + k // 2) % 2, k // 4) for k in range(8)]
    rows = [[str(3 + of[c % 4]) for c in range(8)] for of in flags]
    names = ["Ada", "Bo", "Cy", "Di", "Eli", "Fay", "Gil", "Hal"]
    lines = [",".join(["anonymous", name, *row]) for name, row in zip(names, rows, strict=True)]

    result = read(tmp_path, "r.csv", "\n".join([",".join(["Email", "Name", *headers]), *lines]))

    assert _rated(result) == (64, 4, 8, {"Clear", "Correct"})
