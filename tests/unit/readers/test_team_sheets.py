"""Sheets and logs as teams keep them for themselves, each with the raters and judges in it."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from eval_assets.judges.recorded_replies import score_of_reply
from eval_assets.readers.rating_tables import Doubt, RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings

N = 30
IDS = [f"t{n}" for n in range(N)]
ANNA = [1 + n * 7 % 5 for n in range(N)]
BEN = [min(5, value + (n % 4 == 0)) for n, value in enumerate(ANNA)]
JUDGE = [max(1, value - (n % 3 == 0)) for n, value in enumerate(ANNA)]
SECOND = [min(5, value + (n % 5 == 0)) for n, value in enumerate(JUDGE)]


def sheet(header: str, *columns: Sequence[object], separator: str = ",") -> str:
    rows = [header.split(","), *zip(IDS, *columns, strict=True)]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def words(low: str, high: str, *ratings: Iterable[int]) -> list[list[str]]:
    return [[high if value > 2 else low for value in values] for values in ratings]


def turns(*values: object) -> list[object]:
    return [values[n % len(values)] for n in range(N)]


def read(folder: Path, name: str, content: str) -> RatingTables:
    (folder / name).write_text(content)
    return read_ratings([folder / name], ReadOptions(), score_of=score_of_reply)


TRANSPOSED: list[list[object]] = [
    ["", *(f"item {n}" for n in range(N))],
    ["Anna", *ANNA],
    ["Ben", *BEN],
    ["gpt-4o", *JUDGE],
]
EVENTS: list[dict[str, object]] = [
    *({"trace": i, "user": "u_anna", "value": v} for i, v in zip(IDS, ANNA, strict=True)),
    *({"trace": i, "user": "u_ben", "value": v} for i, v in zip(IDS, BEN, strict=True)),
    *({"trace": i, "by": "helpful-gpt-4o", "value": v} for i, v in zip(IDS, JUDGE, strict=True)),
]

SHEETS = {
    "metrics.csv": (
        sheet("id,inputs.human_tone,outputs.tone.tone", ANNA, JUDGE),
        {"inputs.human_tone"},
        {"outputs.tone.tone"},
    ),
    "totals.csv": (
        sheet(
            "id,tone_human,tone_judge,right_total_human,right_total_judge",
            *words("no", "yes", ANNA, JUDGE, BEN, SECOND),
        ),
        {"human"},
        {"judge"},
    ),
    "flags.csv": (
        sheet(
            "id,correct_human,correct_gpt,correct_claude,is_long,has_code",
            *words("0", "1", ANNA, JUDGE, SECOND),
            turns(0, 0, 1),
            turns(1, 0, 0, 0),
        ),
        {"human"},
        {"correct_gpt", "correct_claude"},
    ),
    "retries.csv": (
        sheet("trace_id,human,judge,retries", ANNA, JUDGE, turns(0, 1, 2)),
        {"human"},
        {"judge"},
    ),
    "rubric.csv": (
        sheet(
            "id,criterion_1,criterion_2,judge_criterion_1,judge_criterion_2",
            *words("not met", "met", ANNA, BEN, JUDGE, SECOND),
        ),
        {"(not named)"},
        {"judge"},
    ),
    "issues.csv": (
        sheet(
            "Issue key,Reviewer,Score,Second reviewer,Second score,GPT score",
            turns("anna", "ben"),
            ANNA,
            turns("cleo", "cleo", "dan"),
            BEN,
            JUDGE,
        ),
        {"anna", "ben", "cleo", "dan"},
        {"GPT score"},
    ),
    "notes.csv": (
        sheet(
            "Name,Tags,Rating (Anna),Rating (Ben),LLM rating",
            turns("billing", "login"),
            ANNA,
            BEN,
            JUDGE,
        ),
        {"Anna", "Ben"},
        {"LLM rating"},
    ),
    "risks.csv": (
        sheet(
            "Case ID,Risk (Reviewer A),Risk (Reviewer B),Risk (Model)",
            *words("low", "high", ANNA, BEN, JUDGE),
        ),
        {"Reviewer A", "Reviewer B"},
        {"Risk (Model)"},
    ),
    "pulls.csv": (
        sheet(
            "PR,Reviewer,Decision,Bot decision",
            ["anna"] * N,
            *words("Needs work", "Approve", ANNA, JUDGE),
        )
        + sheet("", ["ben"] * N, *words("Needs work", "Approve", BEN, JUDGE)),
        {"anna", "ben"},
        {"Bot decision"},
    ),
    "notes.fr.csv": (
        sheet("identifiant,note humaine,note du juge", ANNA, JUDGE),
        {"note humaine"},
        {"note du juge"},
    ),
    "ratings.md": (
        "# Ratings of November\n\n"
        + sheet("| id,anna,ben,judge |", ANNA, BEN, [f"{value} |" for value in JUDGE])
        .replace(",", " | ")
        .replace("\n", "\n|:---|---:|:---:|---|\n", 1)
        .replace("\nt", "\n| t"),
        {"anna", "ben"},
        {"judge"},
    ),
    "dump.tsv": (
        sheet("item_id,user_17,user_23", [r"\N", *ANNA[1:]], BEN, separator="\t"),
        {"user_17", "user_23"},
        set(),
    ),
    "transposed.csv": (
        "".join(",".join(map(str, row)) + "\n" for row in TRANSPOSED),
        {"Anna", "Ben"},
        {"gpt-4o"},
    ),
    "lines.csv": (
        sheet(
            'id,"Helpful?\n(1-5)\nAnna","Helpful?\n(1-5)\nBen","Helpful?\n(1-5)\nLLM"',
            ANNA,
            BEN,
            JUDGE,
        ),
        {"Anna", "Ben"},
        {"Helpful?\n(1-5)\nLLM"},
    ),
    "psql.txt": (
        " id | anna | ben | judge \n----+------+-----+-------\n"
        + sheet("", ANNA, BEN, JUDGE, separator=" | ").removeprefix("\n")
        + f"({N} rows)\n\n",
        {"anna", "ben"},
        {"judge"},
    ),
    "reasons.csv": (
        sheet(
            "id,anna_reason,anna_score,ben_reason,ben_score,judge_score",
            turns("is short", "is long"),
            ANNA,
            turns("polite", "rude"),
            BEN,
            JUDGE,
        ),
        {"anna", "ben"},
        {"judge_score"},
    ),
    "verdicts.csv": (
        sheet(
            "id,human,judge",
            *words("Fail", "Pass", ANNA),
            [f"{v} - reason {n}" for n, v in enumerate(words("FAIL", "PASS", JUDGE)[0])],
        ),
        {"human"},
        {"judge"},
    ),
    "claims.csv": (
        sheet(
            "claim,annotator_label,judge_label",
            turns("supported", "neutral", "contradicted"),
            turns("supported", "neutral", "neutral"),
        ),
        {"annotator_label"},
        {"judge_label"},
    ),
    "correct.csv": (
        sheet(
            "Item,Annotator,Label,Model label,Correct?",
            ["p1"] * N,
            *words("fail", "pass", ANNA, JUDGE),
            ["NY"[(a > 2) == (j > 2)] for a, j in zip(ANNA, JUDGE, strict=True)],
        )
        + sheet(
            "",
            ["p2"] * N,
            *words("fail", "pass", BEN, JUDGE),
            ["NY"[(b > 2) == (j > 2)] for b, j in zip(BEN, JUDGE, strict=True)],
        ),
        {"p1", "p2"},
        {"Model label"},
    ),
    "answers.csv": (
        sheet("id,A_human,B_human,A_gpt,B_gpt", ANNA, BEN, JUDGE, SECOND),
        {"human"},
        {"gpt"},
    ),
    "booleans.csv": (
        sheet("id,Lena,Omar,model", *words("FALSE", "TRUE", ANNA, BEN, ANNA)),
        {"Lena", "Omar"},
        {"model"},
    ),
    "tasks.csv": (
        sheet(
            "Task,Assigned to,Completed by,Verdict,Model verdict",
            ["Anna"] * N,
            ["Anna"] * N,
            *words("fail", "pass", ANNA, JUDGE),
        )
        + sheet("", ["Ben"] * N, ["Ben"] * N, *words("fail", "pass", BEN, JUDGE)),
        {"Anna", "Ben"},
        {"Model verdict"},
    ),
    "weights.csv": (
        sheet("id,anna,ben,weight,judge", ANNA, BEN, turns(1, 2, 3), JUDGE),
        {"anna", "ben"},
        {"judge"},
    ),
    "guards.csv": (
        sheet(
            "prompt,harm_human,harm_llamaguard,harm_wildguard",
            *words("no", "yes", ANNA, JUDGE, SECOND),
        ),
        {"harm_human"},
        {"harm_llamaguard", "harm_wildguard"},
    ),
    "stages.csv": (
        sheet(
            "id,screening_human,screening_llm,fulltext_human,fulltext_llm",
            *words("out", "in", ANNA, JUDGE, BEN, SECOND),
        ),
        {"human"},
        {"llm"},
    ),
    "exams.csv": (
        sheet("student,question,TA1,TA2,GPT-4", turns("Q1", "Q2"), ANNA, BEN, JUDGE),
        {"TA1", "TA2"},
        {"GPT-4"},
    ),
    "pairs.csv": (
        sheet("id,gt,pred", *words("fail", "pass", ANNA, JUDGE)),
        {"gt"},
        {"pred"},
    ),
    "verdicts.json": (
        json.dumps(
            [
                {
                    "id": i,
                    "human_verdicts": [a > 2, b > 2],
                    "llm_verdict": j > 2,
                    "llm_confidence": j,
                }
                for i, a, b, j in zip(IDS, ANNA, BEN, JUDGE, strict=True)
            ]
        ),
        {"rater 1", "rater 2"},
        {"llm_verdict"},
    ),
    "models.json": (
        json.dumps(
            {
                rater: [{"id": i, "score": v} for i, v in zip(IDS, values, strict=True)]
                for rater, values in (("gpt-4o", JUDGE), ("o3", SECOND), ("humans", ANNA))
            }
        ),
        {"humans"},
        {"gpt-4o", "o3"},
    ),
    "matrix.json": (
        json.dumps(
            {
                "items": IDS,
                "raters": ["anna", "ben", "gpt-4o"],
                "scores": list(zip(ANNA, BEN, JUDGE, strict=True)),
            }
        ),
        {"anna", "ben"},
        {"gpt-4o"},
    ),
    "study.json": (
        json.dumps(
            {
                "study": {
                    "rows": [
                        {"item": i, "rater": rater, "score": v}
                        for rater, values in (("anna", ANNA), ("ben", BEN))
                        for i, v in zip(IDS, values, strict=True)
                    ]
                },
                "judge": {
                    "model": "gpt-4o",
                    "rows": [{"item": i, "score": v} for i, v in zip(IDS, JUDGE, strict=True)],
                },
            }
        ),
        {"anna", "ben"},
        {"gpt-4o"},
    ),
    "runs.json": (
        json.dumps(
            {
                "examples": [
                    {
                        "example_id": i,
                        "human_feedback": {"reviewer": "anna", "grade": a},
                        "evaluators": [
                            {"key": key, "score": j, "model": "gpt-4o"}
                            for key in ("correctness", "conciseness")
                        ],
                    }
                    for i, a, j in zip(IDS, ANNA, JUDGE, strict=True)
                ]
            }
        ),
        {"anna"},
        {"gpt-4o"},
    ),
    "outcomes.csv": (
        sheet(
            "id,user_input,expert_outcome,model_outcome",
            [f"show {n}" for n in range(N)],
            *words("bad", "good", ANNA, JUDGE),
        ),
        {"expert_outcome"},
        {"model_outcome"},
    ),
    "labels.csv": (
        sheet("span,label,human_label", *words("incorrect", "correct", JUDGE, ANNA)),
        {"human_label"},
        {"label"},
    ),
    "single.csv": (
        sheet(
            "Prompt ID,Reviewer,Verdict,Judge verdict",
            turns("Ana", "Luis"),
            *words("bad", "good", ANNA, JUDGE),
        ),
        {"Ana", "Luis"},
        {"Judge verdict"},
    ),
    "equal.csv": (
        sheet(
            "Item,Rater 1,Rater 2,LLM,LLM = R1?",
            ANNA,
            BEN,
            JUDGE,
            ["NY"[a == j] for a, j in zip(ANNA, JUDGE, strict=True)],
        ),
        {"Rater 1", "Rater 2"},
        {"LLM"},
    ),
    "prompts.csv": (
        sheet("id,prompt,human", [f"p{n // 2}" for n in range(N)], ANNA),
        {"human"},
        set(),
    ),
    "experts.csv": (
        sheet("sample,lang_expert,domain_expert,gpt_score", ANNA, BEN, JUDGE),
        {"lang", "domain"},
        {"gpt_score"},
    ),
    "rounds.csv": (
        sheet(
            "id,Anna (round 1),Anna (round 2),Ben (round 1),Ben (round 2),LLM",
            SECOND,
            ANNA,
            turns(1, 2, 3, 4, 5),
            BEN,
            JUDGE,
        ),
        {"Anna", "Ben"},
        {"LLM"},
    ),
    "events.jsonl": (
        "".join(f"{json.dumps(event)}\n" for event in EVENTS),
        {"u_anna", "u_ben"},
        {"helpful-gpt-4o"},
    ),
}


@pytest.mark.parametrize("name", SHEETS)
def test_sheet_of_a_team_is_read_as_meant(name: str, tmp_path: Path) -> None:
    content, raters, judges = SHEETS[name]

    tables = read(tmp_path, name, content)

    assert (set(tables.ratings["rater"]), set(tables.scores["judge"])) == (raters, judges)
    assert tables.items["item"].nunique() == N


UNREAD = {
    "counts of votes": sheet("id,thumbs_up,thumbs_down,judge", ANNA, [7 - v for v in ANNA], JUDGE),
    "whether people agree": sheet(
        "id,judge_label,human_agrees", *words("fail", "pass", JUDGE), turns("yes", "yes", "no")
    ),
    "an earlier version": sheet(
        "id,initial_label,reviewed_label,judge", *words("fail", "pass", ANNA, BEN, JUDGE)
    ),
    "numbered columns": sheet("id,anna,ben,round_1,round_2", ANNA, BEN, JUDGE, SECOND),
    "scores beside feedback": [
        {"id": i, "feedback": {"score": a > 2}, "evals": [{"name": "tone", "score": j > 2}] * 2}
        for i, a, j in zip(IDS, ANNA, JUDGE, strict=True)
    ],
    "counts of labels": [
        {
            "text": f"text {i}",
            "label_counts": {"good": a, "bad": b},
            "model_label": "good"[: j % 2 or 4],
        }
        for i, a, b, j in zip(IDS, ANNA, BEN, JUDGE, strict=True)
    ],
    "people beside a list": [
        {"id": i, "human_anna": a, "human_ben": b, "ratings": [j, a, b]}
        for i, a, b, j in zip(IDS, ANNA, BEN, JUDGE, strict=True)
    ],
}


@pytest.mark.parametrize("kind", UNREAD)
def test_what_may_be_ratings_and_is_not_read_is_named_on_the_screen(
    kind: str, tmp_path: Path
) -> None:
    content = UNREAD[kind]
    if isinstance(content, str):
        tables = read(tmp_path, "ratings.csv", content)
    else:
        tables = read(tmp_path, "ratings.json", json.dumps(content))

    assert any(note.startswith("not read: ") for note in tables.notes)


def test_corrections_of_a_judge_alone_are_refused(tmp_path: Path) -> None:
    corrected = [a if a != j else "" for a, j in zip(ANNA, JUDGE, strict=True)]

    with pytest.raises(ExceptionGroup, match="cannot be read") as raised:
        read(tmp_path, "runs.csv", sheet("run_id,llm_score,corrected_score", JUDGE, corrected))

    assert "differs from llm_score in each row that has both" in str(raised.value.exceptions[0])


def test_dates_that_a_spreadsheet_made_of_ratings_are_no_ratings(tmp_path: Path) -> None:
    dates = [[f"{value:02d}-May" for value in values] for values in (ANNA, BEN)]

    with pytest.raises(ExceptionGroup, match="cannot be read"):
        read(tmp_path, "dates.csv", sheet("id,anna,ben", *dates))


def test_classes_of_a_judge_may_have_a_word_before_those_of_people(tmp_path: Path) -> None:
    sides = [turns("A", "B", "tie"), turns("Response A", "Tie", "Response B")]

    tables = read(tmp_path, "pairs.csv", sheet("id,human_preference,gpt_preference", *sides))

    assert not tables.judge_scales
    assert "gpt_preference: response a as A and response b as B" in tables.notes


@pytest.mark.parametrize(
    "header", ["id,Judge 1,Judge 2", "id,judge1,judge2", "id,Mia,Gemma,Claude"]
)
def test_judges_who_may_be_people_are_a_doubt(header: str, tmp_path: Path) -> None:
    names = header.split(",")[1:]
    content = sheet(header, *(ANNA, BEN, JUDGE)[: len(names)])
    if "judge1" in names:  # in rows
        rows = [
            f"{i},{of},{a}"
            for of, v in zip(names, (ANNA, BEN), strict=True)
            for i, a in zip(IDS, v, strict=True)
        ]
        content = "\n".join(["id,rater,score", *rows])

    tables = read(tmp_path, "r.csv", content)

    assert [doubt.choice.endswith("are judges") for doubt in tables.doubts] == [True]


def test_mean_of_people_and_a_metric_are_no_ratings(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup, match="cannot be read"):
        read(tmp_path, "captions.csv", sheet("id,human_avg,clip_score", ANNA, JUDGE))


def test_names_of_criteria_in_a_list_are_questions(tmp_path: Path) -> None:
    names = ("concise", "grounded")
    rows = [
        {"prompt": i, "criteria": [{"name": of, "human": a > 2, "llm": j > 2} for of in names]}
        for i, a, j in zip(IDS, ANNA, JUDGE, strict=True)
    ]

    tables = read(tmp_path, "r.json", json.dumps(rows))

    assert {question.id for question in tables.questions} == set(names)
    assert len(tables.items) == N


def by_kind(header: str, *kinds: str, questions: Sequence[str] = ("",)) -> str:
    """A row for each kind of rater, item and question."""
    rows = [
        [i, *filter(None, [question]), kind, str(value)]
        for i, *values in zip(IDS, ANNA, JUDGE, strict=True)
        for question in questions
        for kind, value in zip(kinds, values, strict=True)
    ]
    return "".join(",".join(row) + "\n" for row in [header.split(","), *rows])


@pytest.mark.parametrize("kind", ["type", "annotator_type", "role"])
def test_kinds_of_raters_are_the_raters_where_nothing_else_names_them(
    kind: str, tmp_path: Path
) -> None:
    content = by_kind(f"id,criterion,{kind},score", "human", "llm", questions=["tone", "facts"])

    tables = read(tmp_path, "r.csv", content)

    assert ({*tables.ratings["rater"]}, {*tables.scores["judge"]}) == ({"human"}, {"llm"})
    assert len(tables.items) == N


@pytest.mark.parametrize("questions", [("",), ("tone", "facts")])
def test_sources_of_which_one_is_human_may_be_who_rated(
    questions: Sequence[str], tmp_path: Path
) -> None:
    header = "id,source,score" if len(questions) == 1 else "id,criterion,source,score"

    tables = read(tmp_path, "r.csv", by_kind(header, "human", "model", questions=questions))

    [doubt] = tables.doubts
    assert doubt.option == "--rater source"


def test_runs_in_words_stand_beside_people_without_any(tmp_path: Path) -> None:
    rows = [
        [i, *of]
        for i, a, b, j, s in zip(IDS, ANNA, BEN, JUDGE, SECOND, strict=True)
        for of in (("anna", "", a), ("ben", "", b), ("gpt-4o", "run_1", j), ("gpt-4o", "run_2", s))
    ]
    content = "".join(
        ",".join(map(str, of)) + "\n" for of in [("id", "rater", "run", "score"), *rows]
    )

    tables = read(tmp_path, "r.csv", content)

    assert tables.columns["item"] == ("id",)
    assert {*tables.scores["run"]} == {"run_1", "run_2"}


def test_as_many_scores_of_a_judge_as_of_people_are_a_judges(tmp_path: Path) -> None:
    rows = [
        {"id": i, "ratings": [a, b], "judge": [j, s]}
        for i, a, b, j, s in zip(IDS, ANNA, BEN, JUDGE, SECOND, strict=True)
    ]

    tables = read(tmp_path, "r.json", json.dumps(rows))

    assert (len(tables.ratings), len(tables.scores)) == (2 * N, 2 * N)


@pytest.mark.parametrize("separator", ["/", " ", "-"])
def test_three_numbers_in_a_cell_are_those_of_three_raters(separator: str, tmp_path: Path) -> None:
    cells = [separator.join(map(str, of)) for of in zip(ANNA, BEN, SECOND, strict=True)]

    tables = read(tmp_path, "r.csv", sheet("id,ratings,judge", cells, JUDGE))

    assert len(tables.ratings) == 3 * N
    assert {*tables.scores["judge"]} == {"judge"}


@pytest.mark.parametrize("judge", ["autorater_verdict", "gpt-4o"])
def test_correct_is_a_persons_beside_the_verdicts_of_a_judge(judge: str, tmp_path: Path) -> None:
    correct = [str(rating > 3) for rating in ANNA]
    verdicts = ["CORRECT" if rating > 3 else "INCORRECT" for rating in JUDGE]
    verdicts[0] = "NOT_ATTEMPTED"

    tables = read(tmp_path, "r.csv", sheet(f"id,correct,{judge}", correct, verdicts))

    assert (len(tables.ratings), len(tables.scores)) == (N, N)
    assert tables.columns["rating"] == ("correct", judge)


@pytest.mark.parametrize(("header", "values"), [("agent", "lea tom kim"), ("country", "DE FR US")])
def test_agents_and_countries_are_no_raters_beside_human_and_judge(
    header: str, values: str, tmp_path: Path
) -> None:
    cells = (values.split() * N)[:N]

    tables = read(tmp_path, "r.csv", sheet(f"id,human,judge,{header}", ANNA, JUDGE, cells))

    assert tables.columns["rater"] == ("human",)


@pytest.mark.parametrize("form", ["[{}, {}, {}]", "{};{};{}", "{}|{}|{}", "array([{}, {}, {}])"])
@pytest.mark.parametrize("scores", ["[{}, {}]", "{}"])
def test_lists_of_people_in_cells_stand_beside_those_of_a_judge(
    form: str, scores: str, tmp_path: Path
) -> None:
    people = [form.format(*of) for of in zip(ANNA, BEN, SECOND, strict=True)]
    judge = [scores.format(*of) for of in zip(JUDGE, SECOND, strict=True)]
    rows = zip(IDS, people, judge, strict=True)
    lines = [("id", "human", "gpt-4o"), *rows]

    tables = read(tmp_path, "r.tsv", "".join("\t".join(map(str, of)) + "\n" for of in lines))

    assert len(tables.ratings) == 3 * N
    assert len(tables.scores) == N * scores.count("{}")


@pytest.mark.parametrize("form", ["[{}, {}]", "{};{}", '[{{"score": {}}}, {{"score": {}}}]'])
def test_list_of_a_judge_without_names_holds_its_runs(form: str, tmp_path: Path) -> None:
    cells = [form.format(*of) for of in zip(JUDGE, SECOND, strict=True)]
    rows = [("id", "anna", "ben", "judge_scores"), *zip(IDS, ANNA, BEN, cells, strict=True)]

    tables = read(tmp_path, "r.tsv", "".join("\t".join(map(str, of)) + "\n" for of in rows))

    assert {*tables.ratings["rater"]} == {"anna", "ben"}
    assert {*tables.scores["judge"]} == {"judge_scores"}
    assert {*tables.scores["run"]} == {"1", "2"}
    assert any("runs of one judge" in note for note in tables.notes)


def test_numbers_that_differ_only_where_a_judge_scored_are_runs(tmp_path: Path) -> None:
    rows = [
        [i, *of]
        for i, a, j, s in zip(IDS, ANNA, JUDGE, SECOND, strict=True)
        for of in (("anna", 1, a), ("gpt-4o", 1, j), ("gpt-4o", 2, s))
    ]
    lines = [("id", "rater", "sample", "score"), *rows]

    tables = read(tmp_path, "r.csv", "".join(",".join(map(str, of)) + "\n" for of in lines))

    assert tables.columns["item"] == ("id",)
    assert {*tables.scores["run"]} == {"1", "2"}


def test_only_score_beside_runs_is_a_judges(tmp_path: Path) -> None:
    rows = [of for i, j, s in zip(IDS, JUDGE, SECOND, strict=True) for of in ((i, 0, j), (i, 1, s))]
    lines = [("id", "run", "score"), *rows]

    tables = read(tmp_path, "r.csv", "".join(",".join(map(str, of)) + "\n" for of in lines))

    assert (len(tables.ratings), len(tables.scores)) == (0, 2 * N)
    assert {*tables.scores["run"]} == {"0", "1"}


@pytest.mark.parametrize("header", ["sample", "k", "pass", "generation", "round", "judge_run"])
@pytest.mark.parametrize("names", [("0", "1"), ("42", "123"), ("run_1", "run_2")])
def test_what_a_judge_repeats_for_each_item_are_its_runs(
    header: str, names: tuple[str, str], tmp_path: Path
) -> None:
    runs = zip(IDS, JUDGE, SECOND, strict=True)
    rows = [(i, "gpt-4o", k, s) for i, *scores in runs for k, s in zip(names, scores, strict=True)]
    lines = [("id", "judge", header, "score"), *rows]
    (tmp_path / "people.csv").write_text(sheet("id,anna,ben", ANNA, BEN))

    alone = read(tmp_path, "judge.csv", "".join(",".join(map(str, of)) + "\n" for of in lines))
    joined = read_ratings([tmp_path / "people.csv", tmp_path / "judge.csv"], ReadOptions())

    for tables in (alone, joined):
        assert {*tables.scores["run"]} == {*names}
        assert {*tables.scores["item"]} == {*IDS}
    assert {*joined.ratings["rater"]} == {"anna", "ben"}


@pytest.mark.parametrize("header", ["human_label,ragcoder_label", "label_human,label_v", "human,x"])
def test_only_column_beside_a_human_one_is_of_a_judge_or_in_doubt(
    header: str, tmp_path: Path
) -> None:
    tables = read(tmp_path, "r.csv", sheet(f"id,{header}", *words("a", "b", ANNA, JUDGE)))

    assert (len(tables.ratings), len(tables.scores)) == (N, N)
    assert [doubt.choice.endswith("is a judge") for doubt in tables.doubts] == [True]


def test_other_words_beside_a_human_column_are_no_judges(tmp_path: Path) -> None:
    [labels] = words("bad", "good", ANNA)
    topics = turns("tax", "law", "tech")

    tables = read(tmp_path, "r.csv", sheet("id,human_label,topic_label", labels, topics))

    assert (set(tables.ratings["rater"]), len(tables.scores)) == ({"human_label"}, 0)
    assert "not read: topic_label, values of another kind than the ratings" in tables.notes


def test_stranger_beside_several_people_is_named(tmp_path: Path) -> None:
    header = "id,human_1_label,human_2_label,foo_label"

    tables = read(tmp_path, "r.csv", sheet(header, *words("a", "b", ANNA, BEN, JUDGE)))

    doubt = Doubt(("foo_label",), "foo_label counts as a person", "--judge foo_label")
    assert doubt in tables.doubts


def test_counts_beside_human_and_judge_scores_are_no_ratings(tmp_path: Path) -> None:
    scores = [[round(value + n % 7 / 10, 3) for n, value in enumerate(of)] for of in (ANNA, JUDGE)]
    counts = turns(0, 3, 1, 2), turns(6, 2, 1, 0, 5), turns(0)

    content = sheet(
        "id,Human messages,Agent requests,Checks failed,Human score,Judge score", *counts, *scores
    )
    tables = read(tmp_path, "runs.csv", content)

    assert (set(tables.ratings["rater"]), set(tables.scores["judge"])) == (
        {"Human score"},
        {"Judge score"},
    )
    assert any("Human messages" in note for note in tables.notes)


def test_measurements_that_differ_in_all_rows_name_no_items(tmp_path: Path) -> None:
    variants, trials = turns("base", "plan"), [f"{n // 2}" for n in range(N)]
    columns = zip(variants, trials, range(400, 400 + N), ANNA, JUDGE, strict=True)
    lines = ["Variant,Repetition,Setup tokens,Human score,Judge score"]
    lines += [",".join(map(str, row)) for row in columns]

    tables = read(tmp_path, "runs.csv", "\n".join(lines))

    assert tables.columns["item"] == ("Variant", "Repetition")


def test_scores_of_one_person_on_two_questions_are_not_two_peoples(tmp_path: Path) -> None:
    passed, judged = words("0", "1", ANNA, JUDGE)
    header = "index,Human Score,Human Passing,gpt-4o-mini-passing,Qwen Correct"

    scores = [1 + value // 2 for value in ANNA]
    tables = read(tmp_path, "r.csv", sheet(header, scores, passed, judged, turns(1, 1, 0)))

    assert set(tables.ratings["rater"]) == {"Human"}
    assert set(tables.ratings["question"]) == {"Score", "Passing"}
    assert set(tables.scores["question"]) == {"Passing"}
    assert any("Qwen Correct" in note for note in tables.notes)


def test_later_revision_of_each_rater_counts(tmp_path: Path) -> None:
    verdicts = ("incorrect", "correct")
    rows = [
        [f"r{n}{name}{k}", i, name, verdicts[(values[n] + k) % 2], k, f"2026-08-0{k}T10:00:00Z"]
        for n, i in enumerate(IDS)
        for name, values in (("anna", ANNA), ("ben", BEN))
        for k in (1, 2)[: 1 + (n % 4 == 0 and name == "ben")]
    ]
    header = "id,sample_id,reviewer,verdict,revision,reviewed_at"

    lines = [header, *(",".join([*map(str, of)]) for of in rows)]
    tables = read(tmp_path, "r.csv", "\n".join(lines))

    assert (len(tables.ratings), len(tables.items)) == (2 * N, N)
    assert "8 second submissions: the later one counts" in tables.notes


@pytest.mark.parametrize("raters", ["annotator", "reviewed_by", "email"])
def test_columns_of_models_beside_people_may_be_what_these_rated(
    raters: str, tmp_path: Path
) -> None:
    names = turns("anna@x.example", "ben@x.example") if raters == "email" else turns("Ana", "Bo")
    content = sheet(f"id,{raters},gpt-4o,claude-3-opus", names, ANNA, JUDGE)

    with pytest.raises(ExceptionGroup) as raised:
        read(tmp_path, "r.csv", content)

    assert f"{raters} names people" in str(raised.value.exceptions[0])
    rated = ReadOptions(rater=(raters,), rating=("gpt-4o", "claude-3-opus"))
    assert set(read_ratings([tmp_path / "r.csv"], rated).ratings["rater"]) == {*names}
    judges = ReadOptions(judge=("gpt-4o", "claude-3-opus"))
    assert len(read_ratings([tmp_path / "r.csv"], judges).scores) == 2 * N


def test_authors_of_items_rated_none_and_those_of_comments_did(tmp_path: Path) -> None:
    names = turns("Jane Austen", "Emma Stone")
    judged = read(tmp_path, "j.csv", sheet("id,author,gpt-4o,claude-3-opus", names, ANNA, JUDGE))
    rows = [(i, name, n % 5 + 1) for n, i in enumerate(IDS) for name in ("anna", "ben")]
    lines = [f"{i},{name},{k},{name} thinks that {i} is good in tone" for i, name, k in rows]

    rated = read(tmp_path, "r.csv", "\n".join(["item_id,author,rating,comment", *lines]))

    assert set(judged.scores["judge"]) == {"gpt-4o", "claude-3-opus"}
    assert set(rated.ratings["rater"]) == {"anna", "ben"}


@pytest.mark.parametrize("header", ["COMMENT_ID", "COMMENT_ID,COMMENT_SCORE,AUTHOR_USERNAME"])
def test_numbers_of_students_in_a_header_are_raters(header: str, tmp_path: Path) -> None:
    attributes = (turns(7, -3, 120), turns("user_1", "user_2"))[: header.count(",")]
    columns: list[Sequence[object]] = [*attributes, ANNA, BEN]

    tables = read(tmp_path, "r.csv", sheet(f"{header},22210036,22210011", *columns))

    assert set(tables.ratings["rater"]) == {"22210036", "22210011"}
    assert len(tables.ratings) == 2 * N


def test_free_text_is_not_filled_down(tmp_path: Path) -> None:
    rows = [
        f"{rater},{i},{value},{'fine' * (rater == 'r1')}"
        for i, value in zip(IDS, ANNA, strict=True)
        for rater in ("r1", "r2")
    ]

    tables = read(tmp_path, "r.csv", "\n".join(["rater_id,item_id,tone,free_text", *rows]))

    assert not any("read as the cell above" in note for note in tables.notes)


def test_what_person_and_model_say_beside_the_ratings_is_named(tmp_path: Path) -> None:
    header = "case_id,teacher_score,ai_score,teacher_error_type,ai_error_type,teacher_seconds"
    kinds = turns("calc", "step", "form"), turns("step", "calc", "form")

    tables = read(tmp_path, "r.csv", sheet(header, ANNA, JUDGE, *kinds, range(40, 40 + N)))

    assert "not read: teacher_error_type, ai_error_type, a flag by its name" in tables.notes


def test_scores_of_a_model_stand_below_the_name_of_a_person(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"a{n}",
            "rfp_id": i,
            "annotator_id": ("amara", "tomas")[n % 2],
            "human_scores": {"clarity": a, "fit": b},
            "model_scores": {"clarity": j, "fit": k},
            "score_deltas": {"clarity": a - j, "fit": b - k},
        }
        for n, (i, a, b, j, k) in enumerate(zip(IDS, ANNA, BEN, JUDGE, SECOND, strict=True))
    ]

    tables = read(tmp_path, "r.json", json.dumps(rows))

    assert (set(tables.ratings["rater"]), set(tables.scores["judge"])) == (
        {"amara", "tomas"},
        {"model_scores"},
    )
    assert (len(tables.ratings), len(tables.scores)) == (2 * N, 2 * N)


MODELS = ("gpt-4o", "claude-3-opus", "llama-3-70b")


@pytest.mark.parametrize("rater", ["", "annotator"])
def test_responses_by_model_are_what_was_rated(rater: str, tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            **({rater: ("ana", "bo")[n % 2]} if rater else {}),
            "responses": {
                model: {"response": f"text {n} by {model} in words", "tone": 1 + (n + k) % 5}
                for k, model in enumerate(MODELS)
            },
        }
        for n, i in enumerate(IDS)
    ]

    tables = read(tmp_path, "r.json", json.dumps(rows))

    assert set(tables.ratings["rater"]) == ({"ana", "bo"} if rater else {"(not named)"})
    assert len(tables.items) == 3 * N
    with_names = ReadOptions(judge=("responses.key",))
    assert {*read_ratings([tmp_path / "r.json"], with_names).scores["judge"]} == {*MODELS}


def test_raters_of_responses_by_model_stay_people(tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "answers": {
                model: {
                    "answer": f"text {n} by {model} in words",
                    "ratings": [{"rater": "ana", "score": a}, {"rater": "bo", "score": b}],
                }
                for model in MODELS
            },
        }
        for n, (i, a, b) in enumerate(zip(IDS, ANNA, BEN, strict=True))
    ]

    tables = read(tmp_path, "r.json", json.dumps(rows))

    assert (len(tables.ratings), len(tables.scores)) == (6 * N, 0)


def test_files_of_one_record_each_are_read_together(tmp_path: Path) -> None:
    for n, (i, *values) in enumerate(zip(IDS, ANNA, BEN, strict=True)):
        for name, value in zip(("sid", "mara"), values, strict=True):
            scores = {"accuracy": value, "completeness": 1 + (value + n) % 5}
            record = {"case": i, "evaluator_name": name, "scores": scores, "notes": "fine"}
            (tmp_path / f"the case of {i} v. Ohio_{name}.json").write_text(json.dumps(record))

    tables = read_ratings([tmp_path], ReadOptions())

    assert set(tables.ratings["rater"]) == {"sid", "mara"}
    assert (len(tables.ratings), len(tables.items)) == (4 * N, N)
    assert not any(note.startswith("not read: file") for note in tables.notes)


@pytest.mark.parametrize("header", ["sample", "round"])
@pytest.mark.parametrize("score", ["score", "verdict"])
def test_runs_of_nobody_may_be_part_of_the_item(header: str, score: str, tmp_path: Path) -> None:
    runs = zip(IDS, JUDGE, SECOND, strict=True)
    lines = [("id", "model", header, score)]
    lines += [(i, "gpt-4o", f"{k}", f"{s}") for i, *of in runs for k, s in enumerate(of)]

    tables = read(tmp_path, "r.csv", "".join(",".join(of) + "\n" for of in lines))

    assert [doubt.option for doubt in tables.doubts] == [f"--run {header} --judge {score}"]


@pytest.mark.parametrize(
    ("headers", "judge"),
    [
        ("judge_ab,judge_ba", "judge"),
        ("judge,judge_swapped", "judge"),
        ("gpt-4o_original,gpt-4o_reversed", "gpt-4o"),
        ("verdict_1st_order,verdict_2nd_order", "verdict"),
        ("llm_order1,llm_order2", "llm"),
    ],
)
def test_two_orders_of_responses_are_runs_of_a_judge(
    headers: str, judge: str, tmp_path: Path
) -> None:
    columns = words("A", "B", ANNA, BEN, JUDGE, SECOND)

    tables = read(tmp_path, "r.csv", sheet(f"id,anna,ben,{headers}", *columns))

    assert {*tables.scores["judge"]} == {judge}
    assert tables.scores["run"].nunique() == 2
    assert any("two orders" in note for note in tables.notes)


def test_rows_of_a_swapped_pair_are_runs_and_no_questions(tmp_path: Path) -> None:
    anna, judge, swapped = words("A", "B", ANNA, JUDGE, SECOND)
    rows = zip(IDS, anna, judge, swapped, strict=True)
    lines = [("id", "swapped", "anna", "ben", "gpt-4o")]
    lines += [of for i, a, j, s in rows for of in ((i, "no", a, a, j), (i, "yes", "", "", s))]

    tables = read(tmp_path, "r.csv", "".join(",".join(of) + "\n" for of in lines))

    assert {*tables.ratings["question"]} == {"rating"}
    assert {*tables.scores["run"]} == {"no", "yes"}


@pytest.mark.parametrize("raters", ["reviewer", "annotator", "labelled_by"])
@pytest.mark.parametrize("rating", ["human", "human_score", "label", "score"])
def test_who_gave_the_only_human_score_is_named_beside_it(
    raters: str, rating: str, tmp_path: Path
) -> None:
    names = turns("anna", "ben", "carl")

    tables = read(tmp_path, "r.csv", sheet(f"id,{raters},{rating},gpt-4o", names, ANNA, JUDGE))

    assert {*tables.ratings["rater"]} == {"anna", "ben", "carl"}
    assert (len(tables.ratings), len(tables.scores)) == (N, N)


@pytest.mark.parametrize(
    ("header", "person", "judge"),
    [
        ("source", "ANNOTATION", "LLM"),
        ("judge_type", "ANNOTATION", "LLM"),
        ("is_human", "True", "False"),
        ("is_llm", "no", "yes"),
    ],
)
@pytest.mark.parametrize("questions", [("tone",), ("tone", "style")])
def test_kinds_of_raters_without_names_are_raters(
    header: str, person: str, judge: str, questions: tuple[str, ...], tmp_path: Path
) -> None:
    rows = [
        (i, q, kind, value)
        for i, *values in zip(IDS, ANNA, JUDGE, strict=True)
        for q in questions
        for kind, value in zip((person, judge), values, strict=True)
    ]
    lines = [("id", "criterion", header, "score"), *rows]

    tables = read(tmp_path, "r.csv", "".join(",".join(map(str, of)) + "\n" for of in lines))

    assert ({*tables.ratings["rater"]}, {*tables.scores["judge"]}) == ({person}, {judge})
    assert {*tables.ratings["item"]} == {*IDS}


@pytest.mark.parametrize(("person", "judge"), [("H", "M"), ("user", "assistant")])
def test_kinds_that_may_be_names_are_in_doubt(person: str, judge: str, tmp_path: Path) -> None:
    pairs = zip(IDS, ANNA, JUDGE, strict=True)
    rows = [f"{i},{k},{v}" for i, *of in pairs for k, v in zip((person, judge), of, strict=True)]

    tables = read(tmp_path, "r.csv", "\n".join(["id,annotator,score", *rows]))

    assert [doubt.option for doubt in tables.doubts] == [f"--judge {judge}"]


@pytest.mark.parametrize(("low", "high"), [("KO", "OK"), ("n.i.O.", "i.O.")])
def test_ok_and_ko_are_verdicts(low: str, high: str, tmp_path: Path) -> None:
    columns = words(low, high, ANNA, JUDGE)

    tables = read(tmp_path, "r.csv", sheet("id,human,judge", *columns))

    assert ({*tables.ratings["rater"]}, {*tables.scores["judge"]}) == ({"human"}, {"judge"})
    assert {*tables.ratings["value"]} == {0.0, 1.0}


def test_means_of_what_a_model_wrote_may_be_peoples(tmp_path: Path) -> None:
    columns = [[round(value + n % 3 / 3, 2) for n, value in enumerate(of)] for of in (ANNA, BEN)]

    tables = read(tmp_path, "r.csv", sheet("id,toxicity_ai,toxicity_human", *columns))

    assert any("of what a model wrote" in doubt.choice for doubt in tables.doubts)


@pytest.mark.parametrize(
    ("header", "judge"),
    [
        ("id,judge_accuracy,judge_empathy", "judge"),
        ("id,gpt4_accuracy,gpt4_empathy", "gpt4"),
        ("id,accuracy_judge,empathy_judge", "judge"),
        ("id,llm: accuracy,llm: empathy", "llm"),
    ],
)
def test_a_judge_alone_may_answer_several_questions(
    tmp_path: Path, header: str, judge: str
) -> None:
    result = read(tmp_path, "scores.csv", sheet(header, JUDGE, SECOND))

    assert {*result.scores["judge"]} == {judge}
    assert {*result.scores["question"]} == {"accuracy", "empathy"}


STYLES = turns("professional", "rushed", "eager")
CASES = [f"q{n // 3}" for n in range(N)]


def test_what_tells_responses_of_one_case_apart_is_no_question_beside_criteria(
    tmp_path: Path,
) -> None:
    rows = zip(CASES, STYLES, JUDGE, SECOND, strict=True)
    lines = [f"{case},{style},{a},{b}" for case, style, a, b in rows]
    content = "\n".join(["case,style,judge_accuracy,judge_empathy", *lines])

    result = read(tmp_path, "scores.csv", content)

    assert {*result.scores["question"]} == {"accuracy", "empathy"}
    assert result.scores["item"].nunique() == N


def test_items_of_two_files_are_named_by_the_columns_that_both_have(tmp_path: Path) -> None:
    scores = ["case_id,style,judge_accuracy,judge_empathy"]
    scores += map("{},{},{},{}".format, CASES, STYLES, JUDGE, SECOND)
    sheet_of_people = ["rating_id,case_id,style,human_accuracy,human_empathy"]
    sheet_of_people += map("{},{},{},{},{}".format, range(12), CASES, STYLES, ANNA, BEN)
    files = {"judge_scores.csv": scores, "rating_sheet.csv": sheet_of_people}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines))

    result = read_ratings([tmp_path / name for name in files], ReadOptions())

    assert {*result.ratings["item"]} < {*result.scores["item"]}
    assert (len(result.ratings), len(result.scores)) == (2 * 12, 2 * N)
    assert {*result.scores["run"]} == {""}


@pytest.mark.parametrize("header", ["gpt-4o", "llm_response", "raw_output"])
@pytest.mark.parametrize(
    "form", ["In case {} it is fine.\n\nOverall_Score: {}", "It is fine in case {}, 'verdict': {}"]
)
def test_replies_without_a_score_that_is_read_are_named(
    header: str, form: str, tmp_path: Path
) -> None:
    replies = [f'"{form.format(n, score)}"' for n, score in enumerate(JUDGE)]

    tables = read(tmp_path, "r.csv", sheet(f"id,anna,ben,{header}", ANNA, BEN, replies))

    assert f"not read: {header}, texts that state ratings, of which none could be read" in (
        tables.notes
    )


def test_what_each_rater_saw_once_is_the_item_and_not_their_profession(tmp_path: Path) -> None:
    raters = [f"Evaluator {n}" for n in range(N)]
    prompts = [f"Explain symptom {n} of diabetes." for n in range(N)]
    rows = zip(raters, turns("Nurse", "Doctor", "Pharmacist"), prompts, ANNA, BEN, strict=True)
    lines = ["Evaluator Name,Qualifications,Prompt,Safety,Accuracy"]
    file = tmp_path / "sheet.csv"
    file.write_text("\n".join([*lines, *(",".join(map(str, row)) for row in rows)]))

    result = read_ratings([file], ReadOptions(rater=("Evaluator Name",)))

    assert result.columns["item"] == ("Prompt",)
    assert len(result.ratings) == 2 * N


@pytest.mark.parametrize("form", ["{} pts", "Score: {}", "Level {}", "Rating {}/5"])
def test_ratings_may_have_a_word_beside_their_number(tmp_path: Path, form: str) -> None:
    columns = [[form.format(value) for value in of] for of in (ANNA, BEN)]

    result = read(tmp_path, "r.csv", sheet("id,anna,ben", *columns))

    assert [*result.ratings["value"][result.ratings["rater"] == "anna"]] == ANNA
    assert result.questions[0].scale.high == 5


def test_first_names_that_end_like_criteria_are_raters(tmp_path: Path) -> None:
    result = read(tmp_path, "r.csv", sheet("id,Lucy,Constance,Cy", ANNA, BEN, SECOND))

    assert set(result.ratings["rater"]) == {"Lucy", "Constance", "Cy"}
    assert not result.doubts


@pytest.mark.parametrize("header", ["order_id", "Page no", "level_id"])
def test_numbers_of_items_called_like_measures_are_items(header: str, tmp_path: Path) -> None:
    numbers = [1000 + 7 * n for n in range(N)]
    rows = [f"{i},{r},{of}" for r in ("ann", "ben") for i, of in zip(numbers, ANNA, strict=True)]

    result = read(tmp_path, "r.csv", "\n".join([f"{header},rater,score", *rows]))

    assert result.columns["item"] == (header,)
    assert len(result.items) == N


@pytest.mark.parametrize("header", ["doc_hash,Flu,Coh,Rel", "id,Caption A,Caption B,Caption C"])
def test_short_or_lettered_headers_may_be_no_names(header: str, tmp_path: Path) -> None:
    result = read(tmp_path, "r.csv", sheet(header, ANNA, BEN, SECOND))

    names = header.split(",")[1:]
    assert [doubt.choice for doubt in result.doubts] == [f"{', '.join(names)} are raters"]


def test_raters_whose_kind_stands_beside_them_are_named(tmp_path: Path) -> None:
    sources = (("p1", "human", ANNA), ("p2", "human", BEN), ("scorer-v2", "llm", JUDGE))
    rows = [
        f"{i},{name},{kind},{value}"
        for name, kind, values in sources
        for i, value in zip(IDS, values, strict=True)
    ]

    result = read(tmp_path, "r.csv", "\n".join(["item,source,source_type,value", *rows]))

    assert set(result.ratings["rater"]) == {"p1", "p2"}
    assert set(result.scores["judge"]) == {"scorer-v2"}
    assert not result.doubts


def test_lettered_parts_of_an_item_are_no_raters(tmp_path: Path) -> None:
    for k, rater in enumerate(("ann", "ben")):
        documents = {
            f"image {n}": {f"caption {c}": {"score": 1 + (n + k * (c < "c")) % 5} for c in "abc"}
            for n in range(10)
        }
        (tmp_path / f"{rater}.json").write_text(json.dumps(documents))

    result = read_ratings([tmp_path], ReadOptions())

    assert set(result.ratings["rater"]) == {"ann", "ben"}
    assert len(result.items) == 30


@pytest.mark.parametrize(
    "words",
    [
        "not at all useful, moderately useful, extremely useful",
        "never, about half the time, most of the time, always",
    ],
)
def test_default_scales_of_surveys_have_an_order(words: str, tmp_path: Path) -> None:
    choices = words.split(", ")
    columns = [[choices[of % len(choices)] for of in values] for values in (ANNA, BEN)]

    result = read(tmp_path, "r.csv", sheet("id,anna,ben", *columns))

    assert result.questions[0].scale.has_order


def test_a_rater_that_only_values_name_can_be_confirmed(tmp_path: Path) -> None:
    rows = [f"{i},{r},{of}" for r in ("B01", "B02") for i, of in zip(IDS, ANNA, strict=True)]

    result = read(tmp_path, "r.csv", "\n".join(["Vorgang,Bearbeiter,Note", *rows]))

    assert [(of.option, of.confirmation) for of in result.doubts] == [
        ("--item Vorgang,Bearbeiter", "--rater Bearbeiter")
    ]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_answers_in_free_text_are_no_ratings_of_another_question(form: str, tmp_path: Path) -> None:
    raters = (("ann", ANNA), ("ben", BEN))
    texts = [f"the answer number {n} says too much of it" for n in range(N)]
    rows = [
        f"{i},{rater},{question},{answer}"
        for rater, values in raters
        for question, answers in (("tone", values), ("why", texts))
        for i, answer in zip(IDS, answers, strict=True)
    ]
    records = [
        {"text": f"text {i}"}
        | {
            question: [{"user_id": r, "value": (v if question == "tone" else t)} for r, v in of]
            for question in ("tone", "why")
        }
        for i, t, *of in zip(IDS, texts, *([(r, v) for v in of] for r, of in raters), strict=True)
    ]
    csv = "\n".join(["item,rater,question,value", *rows])

    result = read(tmp_path, f"r.{form}", csv if form == "csv" else json.dumps(records))

    assert (len(result.questions), len(result.ratings)) == (1, 2 * N)
    assert "not read: why, free text" in result.notes


DOCUMENTS: dict[str, tuple[list[dict[str, object]], int, int]] = {
    "lists of people beside as many judges": (
        [
            {
                "id": i,
                "judgments": {
                    judge: {
                        question: {"score": v, "why": "as the rule says"}
                        for question in ("tone", "accuracy")
                    }
                    for judge, v in (("gpt-4o", JUDGE[n]), ("claude-3-opus", SECOND[n]))
                },
                "human_scores": {question: [ANNA[n], BEN[n]] for question in ("tone", "accuracy")},
            }
            for n, i in enumerate(IDS)
        ],
        *(4 * N, 4 * N),
    ),
    "trials of a task that people and a judge rated": (
        [
            {
                "task": n // 3,
                "trial": n % 3,
                "judge": {"outcome": ("failure", "success")[JUDGE[n] > 2]},
                "reviews": [
                    {"reviewer": of, "outcome": ("failure", "success")[values[n] > 2]}
                    for of, values in (("ann", ANNA), ("ben", BEN))
                ],
            }
            for n in range(N)
        ],
        *(2 * N, N),
    ),
    "a guard beside workers": (
        [
            {
                "id": i,
                "votes": [{"worker": of, "bad": v > 3} for of, v in (("w1", a), ("w2", b))],
                "guard": {"name": "llama-guard-4", "bad": j > 3},
            }
            for i, a, b, j in zip(IDS, ANNA, BEN, JUDGE, strict=True)
        ],
        *(2 * N, N),
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_of_people_and_judges_is_read_as_meant(name: str, tmp_path: Path) -> None:
    records, *counts = DOCUMENTS[name]

    tables = read(tmp_path, "a.json", json.dumps(records))

    assert [len(tables.ratings), len(tables.scores)] == counts
    assert tables.ratings["item"].nunique() == N


def test_texts_that_two_systems_wrote_alike_are_items_of_each(tmp_path: Path) -> None:
    rows = [(f"a translation of segment {n} by {k}", k, n) for n in range(N) for k in (1, 2)]
    rows[1] = (rows[0][0], *rows[1][1:])
    rated = [
        f"{text},sys{k},{n},{rater},{1 + (n * k) % 90}\n"
        for text, k, n in rows
        for rater in ("ann", "ben")
    ]

    tables = read(tmp_path, "mt.csv", "target,system,seg_id,rater,score\n" + "".join(rated))

    assert tables.ratings["item"].nunique() == 2 * N


def test_files_called_like_criteria_are_questions(tmp_path: Path) -> None:
    for name in ("coherence", "consistency", "fluency"):
        content = sheet("doc_id,ann1,ann2,gpt4", ANNA, BEN, JUDGE)
        (tmp_path / f"{name}.csv").write_text(content)

    tables = read_ratings([tmp_path], ReadOptions(), score_of=score_of_reply)

    assert {q.id for q in tables.questions} == {"coherence", "consistency", "fluency"}
    assert tables.ratings["item"].nunique() == N
