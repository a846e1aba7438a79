"""Files of ratings are read by their values: a small file for each kind of public ones.

Each file holds the same study in another form: 24 items, three raters, and a judge where there is
one. What it says must be read, or refused with the option that is missing.
"""

import io
import json
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eval_assets.errors import InputError, leaves
from eval_assets.readers.rating_tables import Doubt, RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from eval_assets.scale import Scale
from tests.unit.readers.formats.xlsx import workbook

N = 24
RATERS = ("anna", "ben", "cleo")
SCORES = {
    (f"t{n}", r): 1 + (2 * n + (n + 1) * k % 4) % 5 for n in range(N) for k, r in enumerate(RATERS)
}
JUDGED = {f"t{n}": 1 + (2 * n + n % 3) % 5 for n in range(N)}
ITEMS = [f"t{n}" for n in range(N)]

Content = str | bytes | object
Files = Mapping[str, Content]


def lines(*rows: Sequence[object]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def json_lines(records: Sequence[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def of(item: str, rater: str) -> int:
    return SCORES[item, rater]


def verdict(score: int) -> str:
    return "pass" if score > 2 else "fail"


def write(folder: Path, files: Files) -> list[Path]:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
    return [folder / name for name in dict.fromkeys(name.split("/")[0] for name in files)]


def read(folder: Path, files: Files, **options: object) -> RatingTables:
    return read_ratings(write(folder, files), ReadOptions(**options))  # type: ignore[arg-type]


def refusal(folder: Path, files: Files, **options: object) -> list[str]:
    with pytest.raises(ExceptionGroup) as raised:
        read(folder, files, **options)
    return [str(error) for error in leaves(raised.value)]


def cells(tables: RatingTables) -> set[tuple[str, str, float]]:
    """Return item, rater and value of each rating by a person."""
    columns = (tables.ratings[name] for name in ("item", "rater", "value"))
    return set(zip(*columns, strict=True))


def judges(tables: RatingTables) -> list[str]:
    return sorted(map(str, tables.scores["judge"].unique()))


def reasons(tables: RatingTables) -> dict[str, str]:
    return {name: reason.text for name, reason in tables.not_read.items()}


def counts(tables: RatingTables) -> tuple[int, int, int, int, int]:
    """Return the numbers of ratings, raters, items, questions and scores."""
    n_raters = tables.ratings["rater"].nunique()
    n_questions, n_scores = len(tables.questions), len(tables.scores)
    return len(tables.ratings), n_raters, len(tables.items), n_questions, n_scores


EXPECTED = {(item, rater, float(value)) for (item, rater), value in SCORES.items()}
LONG = [(item, rater, value) for (item, rater), value in SCORES.items()]
WIDE: list[tuple[Any, ...]] = [(item, *(of(item, rater) for rater in RATERS)) for item in ITEMS]
ALL = (3 * N, 3, N, 1, 0)

KINDS: dict[str, tuple[Files, tuple[int, int, int, int, int]]] = {
    "an index of pandas": (
        {
            "r.csv": lines(
                ("Unnamed: 0", "item", *RATERS), *((n, *row) for n, row in enumerate(WIDE))
            )
        },
        ALL,
    ),
    "an index without a name that has gaps": (
        {"r.csv": lines(("", "item", *RATERS), *((3 * n, *row) for n, row in enumerate(WIDE)))},
        ALL,
    ),
    "two indexes": (
        {
            "r.csv": lines(
                ("Unnamed: 0.1", "Unnamed: 0", "item", *RATERS),
                *((n, n, *row) for n, row in enumerate(WIDE)),
            )
        },
        ALL,
    ),
    "a folder for each rater": (
        {
            f"in/{rater}/ratings.csv": lines(
                ("item", "rating"), *((i, of(i, rater)) for i in ITEMS)
            )
            for rater in RATERS
        },
        ALL,
    ),
    "attributes of items beside the ratings": (
        {
            "r.csv": lines(
                ("item_id", "rater", "quality", "fluency", "temperature", "variant", "is_hard"),
                *(
                    (i, r, v, 6 - v, int(i[1:]) % 3 / 2, int(i[1:]) % 3, int(i[1:]) % 2 > 0)
                    for i, r, v in LONG
                ),
            )
        },
        (6 * N, 3, N, 2, 0),
    ),
    "attributes of raters": (
        {
            "r.csv": lines(
                ("instance_id", "user_id", "text", "offensiveness", "gender", "age"),
                *(
                    (
                        i,
                        RATERS.index(r),
                        f"text {i}",
                        float(v),
                        "MWW"[RATERS.index(r)],
                        "18-24" if r == "ben" else "35-39",
                    )
                    for i, r, v in LONG
                ),
            )
        },
        ALL,
    ),
    "flags of the study beside its items": (
        {
            "r.json": {
                "dataset": "made up",
                "expert": "false",
                "annotations": [{"metric": "Fluency", "worst": 1, "best": 5}],
                "instances": [
                    {"id": n, "annotations": {"Fluency": {"scores": [of(i, r) for r in RATERS]}}}
                    for n, i in enumerate(ITEMS)
                ],
            }
        },
        ALL,
    ),
    "a model's suggestion above the raters' values": (
        {
            "r.jsonl": json_lines(
                [
                    {
                        "prompt": f"Ask {i}",
                        "quality": [
                            {"user_id": r, "value": str(of(i, r)), "status": "submitted"}
                            for r in RATERS
                        ],
                        "quality-suggestion": of(i, "anna"),
                        "quality-suggestion-metadata": {"type": "model", "score": 0.9},
                        "external_id": i,
                        "metadata": "{}",
                    }
                    for i in ITEMS
                ]
            )
        },
        ALL,
    ),
    "lists of objects without names": (
        {
            "r.jsonl": json_lines(
                [
                    {
                        "context": [{"role": "user", "content": f"Ask {i}"}],
                        "overall": of(i, "anna") - 3,
                        "individual": [{"score": of(i, r) - 3, "reasoning": "So."} for r in RATERS],
                    }
                    for i in ITEMS
                ]
            )
        },
        ALL,
    ),
    "numbers of annotators beside times": (
        {
            "r.csv": lines(
                (
                    "instruction",
                    "output_1",
                    "output_2",
                    "preference",
                    "annotator_index",
                    "time_per_example",
                ),
                *(
                    (f"do {i}", f"x {i}", f"y {i}", 1 + v % 2, RATERS.index(r), 8.5 + 4 * (v % 2))
                    for i, r, v in LONG
                ),
            )
        },
        ALL,
    ),
    "flags of traces beside one label": (
        {
            "r.csv": lines(
                ("query", "success", "trace_id", "label", "labeled"),
                *((f"q {i}", True, i, verdict(of(i, "anna")).upper(), True) for i in ITEMS),
            )
        },
        (N, 1, N, 1, 0),
    ),
    "two columns of verdicts": (
        {
            "r.csv": lines(
                ("id", "output", "human", "judge", "reason"),
                *((i, f"out {i}", verdict(of(i, "anna")), verdict(JUDGED[i]), "so") for i in ITEMS),
            )
        },
        (N, 1, N, 1, N),
    ),
    "a person and a model": (
        {
            "r.csv": lines(
                ("id", "gpt-4o", "anna"),
                *((i, verdict(JUDGED[i]), verdict(of(i, "anna"))) for i in ITEMS),
            )
        },
        (N, 1, N, 1, N),
    ),
    "labels of a person and of a model": (
        {
            "r.csv": lines(
                ("id", "human_label", "llm_label"),
                *((i, verdict(of(i, "anna")), verdict(JUDGED[i])) for i in ITEMS),
            )
        },
        (N, 1, N, 1, N),
    ),
    "a judge's score on another scale": (
        {
            "r.csv": lines(
                ("id", "human_label", "judge_score"),
                *((i, verdict(of(i, "anna")), JUDGED[i] / 7) for i in ITEMS),
            )
        },
        (N, 1, N, 1, N),
    ),
    "a judge among raters": (
        {
            "r.csv": lines(
                ("ticket", "rater", "score"), *LONG, *((i, "gpt-4o", JUDGED[i]) for i in ITEMS)
            )
        },
        (3 * N, 3, N, 1, N),
    ),
    "a column of a judge beside raters": (
        {
            "r.xlsx": workbook(
                {
                    "Ratings": [
                        ("Ticket ID", *RATERS, "GPT-4o"),
                        *((*row, JUDGED[str(row[0])]) for row in WIDE),
                    ]
                }
            )
        },
        (3 * N, 3, N, 1, N),
    ),
    "scores of a judge in another file": (
        {
            "r.csv": lines(
                ("ticket", "rater", "score", "comment"), *((*row, "looks good") for row in LONG)
            ),
            "judge.jsonl": json_lines(
                [
                    {
                        "id": i,
                        "judge": "gpt-4o",
                        "score": JUDGED[i],
                        "reasoning": f"The answer {i} is so.",
                    }
                    for i in ITEMS
                ]
            ),
        },
        (3 * N, 3, N, 1, N),
    ),
    "scores of the only judge under another name": (
        {
            "r.csv": lines(("ticket", "rater", "clear"), *LONG),
            "judge.json": {
                "judge": "gpt-4o",
                "results": [{"id": i, "clear": JUDGED[i]} for i in ITEMS],
            },
        },
        (3 * N, 3, N, 1, N),
    ),
    "a form whose items are questions of customers": (
        {
            "r.xlsx": workbook(
                {
                    "S": [
                        ("Round 1", None, None, None, None),
                        ("ID", "Question", "Comments", *RATERS[:2]),
                        *(
                            (
                                i,
                                f"Where is order {n % 6}?",
                                "fine" if n % 2 else None,
                                *(("bad", "ok", "good")[of(i, r) % 3] for r in RATERS[:2]),
                            )
                            for n, i in enumerate(ITEMS)
                        ),
                    ]
                }
            )
        },
        (2 * N, 2, N, 1, 0),
    ),
    "answers to a form": (
        {
            "r.csv": lines(
                (
                    "Timestamp",
                    "Email Address",
                    "Ticket ID",
                    "How helpful (1-5)?",
                    "Tone OK?",
                    "Any comments?",
                ),
                *(
                    (
                        f"11/03/2026 09:{n % 60:02}:0{n // 60}",
                        f"{r if n % 2 else r.title()}@example.org",
                        i,
                        v,
                        "Yes" if v > 2 else "No",
                        "n/a",
                    )
                    for n, (i, r, v) in enumerate(LONG)
                ),
                ("12/03/2026 10:00:00", "anna@example.org", "t0", 5, "No", ""),
            )
        },
        (6 * N, 3, N, 2, 0),
    ),
    "a grid of a form": (
        {
            "r.csv": lines(
                (
                    "Timestamp",
                    "Your name",
                    *(f"{q} [Response {n}]" for q in ("Helpfulness", "Fluency") for n in range(8)),
                ),
                *(
                    (
                        "2026-01-01 10:00:00",
                        r,
                        *(of(ITEMS[n + 8 * k], r) for k in range(2) for n in range(8)),
                    )
                    for r in RATERS
                ),
            )
        },
        (48, 3, 8, 2, 0),
    ),
    "a question of a form for each response": (
        {
            "r.csv": lines(
                (
                    "Timestamp",
                    "Your name",
                    *(f"{n}. How good is it? [{q}]" for n in range(8) for q in ("Tone", "Facts")),
                ),
                *(("2026-01-01 10:00:00", r, *(of(i, r) for i in ITEMS[:16])) for r in RATERS),
            )
        },
        (48, 3, 8, 2, 0),
    ),
    "parts of documents, a file for each rater": (
        {
            f"in/a{k}_data.json": {
                f"doc{d}": {
                    "document": ["text"],
                    **{
                        f"summary {s}": {"text": "s", "score": of(f"t{3 * d + s - 1}", r)}
                        for s in (1, 2, 3)
                    },
                }
                for d in range(N // 3)
            }
            for k, r in enumerate(RATERS)
        },
        ALL,
    ),
    "words of a survey": (
        {
            "r.csv": lines(
                ("item", *RATERS),
                *(
                    (
                        i,
                        *(
                            (
                                "Strongly disagree",
                                "Somewhat disagree",
                                "Neither agree nor disagree",
                                "Somewhat agree",
                                "Strongly agree",
                            )[of(i, r) - 1]
                            for r in RATERS
                        ),
                    )
                    for i in ITEMS
                ),
            )
        },
        ALL,
    ),
    "judgements of documents between blanks": (
        {
            f"in/assessor{k}.txt": "".join(
                f"q{n // 6} 0 d{n // 6}_{n % 6} {of(i, r) % 4}\n" for n, i in enumerate(ITEMS)
            )
            for k, r in enumerate(RATERS)
        },
        ALL,
    ),
    "lists of words": (
        {
            "r.json": [
                {
                    "id": n,
                    "annotations": {
                        "Sound": {
                            "majority": "yes",
                            "scores": ["yes" if of(i, r) > 2 else "no" for r in RATERS],
                        }
                    },
                }
                for n, i in enumerate(ITEMS)
            ]
        },
        ALL,
    ),
    "JSON lines by another name": (
        {"r.json": json_lines([{"item": i, **{r: of(i, r) for r in RATERS}} for i in ITEMS])},
        ALL,
    ),
    "objects below each other, as jq prints them": (
        {
            "r.json": "".join(
                json.dumps({"item": i, **{r: of(i, r) for r in RATERS}}, indent=2) + "\n"
                for i in ITEMS
            )
        },
        ALL,
    ),
    "turns of pairs": (
        {
            "r.jsonl": json_lines(
                [
                    {
                        "question_id": n // 2,
                        "model_a": f"m{n // 2 % 3}",
                        "model_b": "m9",
                        "winner": ("model_a", "tie", "model_b")[of(i, r) % 3],
                        "judge": f"expert_{r}",
                        "turn": 1 + n % 2,
                    }
                    for n, i in enumerate(ITEMS)
                    for r in RATERS
                ]
            )
        },
        ALL,
    ),
    "a report with times of another form": (
        {
            "r.csv": lines(
                ("_unit_id", "_created_at", "_id", "_trust", "_worker_id", "_country", "relevance"),
                *(
                    (
                        i,
                        f"3/11/2026 09:{n % 60:02}:00",
                        5000 + n,
                        0.9 + n % 7 / 100,
                        f"4{RATERS.index(r)}",
                        "DEU" if n % 2 else "FRA",
                        v,
                    )
                    for n, (i, r, v) in enumerate(LONG)
                ),
            )
        },
        ALL,
    ),
    "a column for each step of the scale": (
        {
            f"out/{r}/annotated.jsonl": json_lines(
                [
                    {
                        "id": i,
                        "displayed_text": f"Text {i}",
                        "label_annotations": {
                            "quality": {f"scale_{of(i, r)}": str(of(i, r))},
                            "tone": {(word := ("bad", "good")[of(i, r) > 2]): word},
                        },
                        "span_annotations": [],
                        "behavioral_data": {"time_string": "3s"},
                    }
                    for i in ITEMS
                ]
            )
            for r in RATERS
        },
        (6 * N, 3, N, 2, 0),
    ),
    "criteria of judges by prompt and model": (
        {
            "r.json": {
                "configId": "bp",
                "promptIds": ["p0", "p1", "p2"],
                "responses": {
                    f"p{p}": {f"m{m}": f"Answer {m} to {p}" for m in range(4)} for p in range(3)
                },
                "results": {
                    f"p{p}": {
                        f"m{m}": {
                            "keyPointsCount": 2,
                            "avgCoverageExtent": 0.5,
                            "pointAssessments": [
                                {
                                    "keyPointText": f"Point {k}",
                                    "coverageExtent": 0.5,
                                    "individualJudgements": [
                                        {
                                            "judgeModelId": j,
                                            "coverageExtent": (p + m + k + len(j)) % 5 / 4,
                                            "reflection": "because",
                                        }
                                        for j in ("openai/gpt-4.1-mini", "google/gemini-2.5-flash")
                                    ],
                                }
                                for k in range(2)
                            ],
                        }
                        for m in range(4)
                    }
                    for p in range(3)
                },
            }
        },
        (0, 0, 12, 2, 48),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_file_of_each_kind_is_read(tmp_path: Path, kind: str) -> None:
    files, expected = KINDS[kind]

    tables = read(tmp_path, files)

    assert counts(tables) == expected
    assert not any(of.option.startswith("--rater") for of in tables.doubts)
    models = [str(rater) for rater in tables.ratings["rater"].unique() if "gpt" in str(rater)]
    assert not models


EXACT = [
    *("an index of pandas", "two indexes", "a folder for each rater", "a judge among raters"),
    *("a column of a judge beside raters", "scores of a judge in another file"),
    *("JSON lines by another name", "objects below each other, as jq prints them"),
]


@pytest.mark.parametrize("kind", EXACT)
def test_ratings_are_those_of_the_study(tmp_path: Path, kind: str) -> None:
    assert cells(read(tmp_path, KINDS[kind][0])) == EXPECTED


@pytest.mark.parametrize(
    "header",
    [
        *("item", "ticket", "Ticket ID", "row", "conv", "message_id", "query", "url", "name"),
        *("Case #", "sample", "example_id", "uuid", "idx", "Interaction", "trace_id", "prompt"),
        *("doc", "conversation_id", "task", "What was rated"),
    ],
)
@pytest.mark.parametrize("is_wide", [True, False])
def test_item_column_may_have_any_name(tmp_path: Path, header: str, *, is_wide: bool) -> None:
    content = (
        lines((header, *RATERS), *WIDE) if is_wide else lines((header, "rater", "score"), *LONG)
    )

    tables = read(tmp_path, {"r.csv": content})

    assert cells(tables) == EXPECTED
    assert tables.columns["item"] == (header,)
    assert not tables.not_read


def test_judge_on_another_scale_keeps_its_own(tmp_path: Path) -> None:
    tables = read(tmp_path, KINDS["a judge's score on another scale"][0])

    assert judges(tables) == ["judge_score"]
    [scale] = tables.judge_scales.values()
    assert scale.values is None
    assert tables.scores["value"].max() < 1


def test_judge_between_two_classes_is_on_another_scale(tmp_path: Path) -> None:
    """0.83 beside 0 and 1 lies between them, and is no class."""
    rows = [(i, of(i, "anna") % 2, JUDGED[i] / 6) for i in ITEMS]

    tables = read(tmp_path, {"r.csv": lines(("id", "human", "judge"), *rows)})

    assert list(tables.judge_scales) == ["judge"]


def test_runs_of_a_judge_are_told_apart_by_column_or_header(tmp_path: Path) -> None:
    long = [(i, "gpt-4o", 1 + (JUDGED[i] + run) % 5, run) for run in (1, 2, 3) for i in ITEMS]
    wide = [(*row, JUDGED[str(row[0])], 6 - JUDGED[str(row[0])]) for row in WIDE]

    tables = read(tmp_path, {"r.csv": lines(("id", "judge_model", "score", "run"), *long)})
    of_headers = read(
        tmp_path, {"r.csv": lines(("id", *RATERS, "gpt-4_run1", "gpt-4_run2"), *wide)}
    )

    assert (judges(tables), sorted(tables.scores["run"].unique())) == (["gpt-4o"], ["1", "2", "3"])
    assert judges(of_headers) == ["gpt-4"]
    assert sorted(of_headers.scores["run"].unique()) == ["1", "2"]


def test_questions_of_people_and_of_a_judge_are_paired(tmp_path: Path) -> None:
    rows = [(i, *(of(i, r) for r in RATERS[:2]), JUDGED[i], 6 - JUDGED[i]) for i in ITEMS]

    tables = read(
        tmp_path, {"r.csv": lines(("id", "tone", "clarity", "judge_tone", "judge_clarity"), *rows)}
    )

    assert [question.id for question in tables.questions] == ["tone", "clarity"]
    assert judges(tables) == ["judge"]
    assert list(tables.ratings["rater"].unique()) == ["(not named)"]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (
            lines(
                ("hash", "model", "RelE", "EntE", "CircE"),
                *((i, n % 3, n % 2, n // 2 % 2, n // 3 % 2) for n, i in enumerate(ITEMS)),
            ),
            "--rater RelE,EntE,CircE",
        ),
        (
            lines(("seg", "HALL", "OMI"), *((i, n % 2, n // 2 % 2) for n, i in enumerate(ITEMS))),
            "--rater HALL,OMI",
        ),
        (
            lines(
                ("item", "Clarity", "Relevance"), *((i, of(i, "anna"), of(i, "ben")) for i in ITEMS)
            ),
            "--rater Clarity,Relevance",
        ),
        (lines(("item", "score"), *((i, of(i, r)) for i in ITEMS for r in RATERS)), "item repeats"),
        (
            lines(
                ("id", "votes_a", "votes_b"), *((i, n % 6, 5 - n % 6) for n, i in enumerate(ITEMS))
            ),
            "no column of ratings",
        ),
    ],
)
def test_file_that_leaves_open_who_rated_is_refused(
    tmp_path: Path, content: str, word: str
) -> None:
    [message] = refusal(tmp_path, {"r.csv": content})

    assert word in message


def options_in(message: str) -> list[dict[str, object]]:
    """Return the options that a refusal names, each as those of one call."""
    names = {field.name for field in fields(ReadOptions)}
    calls: list[dict[str, object]] = []
    for option, value in re.findall(r"--([a-z-]+) ('[^']*'(?:\"'\"'[^']*')*|[^ ;.]+)", message):
        name, [text] = option.replace("-", "_"), shlex.split(value)
        if name in names and text not in ("COLUMN", "SCALE", "X"):
            is_scale = name == "scale"
            calls.append({name: Scale.parse(text) if is_scale else tuple(text.split(","))})
    return calls


REFUSED = {
    "criteria": lines(
        ("item", "Clarity", "Relevance"), *((i, of(i, "anna"), of(i, "ben")) for i in ITEMS)
    ),
    "a code for no rating": lines(("item", *RATERS), *WIDE, ("t99", 99, 4, 4)),
    "a typing error": lines(("item", *RATERS), *WIDE, ("t99", "fuor", 4, 4)),
    "a word among words": lines(
        ("item", "anna", "ben"),
        *((i, *(verdict(of(i, r)) for r in RATERS[:2])) for i in ITEMS),
        ("t99", "passs", "pass"),
    ),
    "a second rating": lines(
        ("item", "part", "rater", "score"),
        *((i, k, r, of(i, r)) for k in (1, 2) for i in ITEMS for r in RATERS),
        ("t0", 1, "anna", 6 - of("t0", "anna")),
    ),
    "undecided": lines(
        ("item", "anna", "ben"),
        *((i, *(("no", "unsure", "yes")[of(i, r) % 3] for r in RATERS[:2])) for i in ITEMS),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_a_refusal_prints_work(tmp_path: Path, name: str) -> None:
    files = {"my ratings.csv": REFUSED[name]}
    problems = [message for message in refusal(tmp_path, files) if "--" in message]

    assert problems or name == "a second rating"
    for message in problems:
        for options in options_in(message):
            tables = read(tmp_path, files, **options)
            assert len(tables.ratings)


def test_all_bad_cells_are_reported_at_once(tmp_path: Path) -> None:
    rows = [[*row] for row in LONG]
    rows[4][2], rows[7][1], rows[9][0] = "9x", "", ""

    messages = refusal(tmp_path, {"r.csv": lines(("item", "rater", "score"), *rows)})

    assert [message.split(": ")[0] for message in messages] == [
        "r.csv:9:rater",
        "r.csv:11:item",
        "r.csv:6:score",
    ]
    assert "--missing-values 9x" in messages[2]


def test_later_submission_counts_by_round_then_by_time(tmp_path: Path) -> None:
    first = [(i, r, v, f"2026-01-01T10:{n:02}:00", "") for n, (i, r, v) in enumerate(LONG[:60])]
    second = ("t0", "anna", 6 - of("t0", "anna"), "2026-01-02T10:00:00", "")
    header = ("item", "rater", "score", "created_at", "note")

    tables = read(tmp_path, {"r.csv": lines(header, second, *first)})

    assert ("t0", "anna", 6.0 - of("t0", "anna")) in cells(tables)
    assert "1 second submission: the later one counts" in tables.notes
    rounds = [(i, r, v, 1) for i, r, v in LONG] + [("t1", r, 3, 2) for r in RATERS]
    tables = read(tmp_path, {"r.csv": lines(("item", "rater", "score", "round"), *rounds)})
    assert {(r, v) for i, r, v in cells(tables) if i == "t1"} == {(r, 3.0) for r in RATERS}
    assert "3 ratings of earlier rounds: the latest counts" in tables.notes


def test_second_rating_without_a_time_is_an_error_unless_equal(tmp_path: Path) -> None:
    header, item = ("item", "rater", "score"), "t0"
    same, other = (item, "anna", of(item, "anna")), (item, "anna", 6 - of(item, "anna"))

    tables = read(tmp_path, {"r.csv": lines(header, *LONG, same)})
    [message] = refusal(tmp_path, {"r.csv": lines(header, *LONG, other)})

    assert cells(tables) == EXPECTED
    assert "1 rating given twice: counted once" in tables.notes
    assert message.startswith(
        f'r.csv:{3 * N + 2}:score: a second rating of "t0" on "score" by "anna"'
    )


def test_addresses_of_raters_compare_without_case_and_names_do_not(tmp_path: Path) -> None:
    def content(name: str) -> str:
        return lines(
            ("item", "rater", "score"),
            *(
                (i, name.title() if r == "anna" and i == "t0" else name if r == "anna" else r, v)
                for i, r, v in LONG
            ),
        )

    tables = read(tmp_path, {"r.csv": content("anna@example.org")})
    [message] = refusal(tmp_path, {"r.csv": content("anna")})

    assert tables.ratings["rater"].nunique() == 3
    assert '"Anna" and "anna" differ only in case or spaces' in message


def test_option_wins_over_a_guess(tmp_path: Path) -> None:
    judged = lines(("ticket", "rater", "score"), *LONG, *((i, "gpt-4o", JUDGED[i]) for i in ITEMS))

    as_person = read(tmp_path, {"r.csv": judged}, rater=("gpt-4o",))
    as_judge = read(tmp_path, {"r.csv": judged}, judge=("anna",))
    ignored = read(tmp_path, {"r.csv": lines(("item", *RATERS), *WIDE)}, ignore=("ben",))

    assert counts(as_person) == (4 * N, 4, N, 1, 0)
    assert judges(as_judge) == ["anna", "gpt-4o"]
    assert set(ignored.ratings["rater"]) == {"anna", "cleo"}
    assert reasons(ignored) == {"r.csv:ben": "ignored"}


def test_names_in_options_that_no_file_has_are_refused(tmp_path: Path) -> None:
    messages = refusal(
        tmp_path, {"r.csv": lines(("item", *RATERS), *WIDE)}, item=("itm",), rater=("dora",)
    )

    assert messages[0].startswith('r.csv: --item itm: there is no such column. Write "item"')
    assert "--rater dora: there is no such column or rater" in messages[1]


def test_choice_that_a_name_made_is_read_the_other_way_too(tmp_path: Path) -> None:
    kinds = ("summary", "title")
    rows = [(i, kind, r, v if kind == "title" else 6 - v) for i, r, v in LONG for kind in kinds]

    tables = read(tmp_path, {"r.csv": lines(("item", "kind", "rater", "score"), *rows)})

    [(doubt, other)] = tables.alternatives
    assert (doubt.choice, doubt.option) == ("kind is what was asked", "--item item,kind")
    assert (len(tables.questions), len(tables.items)) == (2, N)
    assert (len(other.questions), len(other.items)) == (1, 2 * N)


def test_scale_that_may_be_wider_is_read_the_other_way_too(tmp_path: Path) -> None:
    rows = [(i, *(min(4, of(i, r)) for r in RATERS)) for i in ITEMS]

    tables = read(tmp_path, {"r.csv": lines(("item", *RATERS), *rows)})

    [(doubt, other)] = tables.alternatives
    assert doubt.option == "--scale 1-5"
    assert [of.questions[0].scale.high for of in (tables, other)] == [4, 5]


@pytest.mark.parametrize("name", ["support-quality-scorer", "MODEL_A", "solar-7b", "BLEURT-20"])
def test_rater_that_may_be_a_program_is_a_doubt(tmp_path: Path, name: str) -> None:
    rows = [(i, name if r == "cleo" else r, v) for i, r, v in LONG]
    files = {"r.csv": lines(("item", "rater", "score"), *rows)}

    tables = read(tmp_path, files)

    [(doubt, other)] = tables.alternatives
    assert doubt.choice == f"{name} counts as a person"
    assert (doubt.option, doubt.confirmation) == (f"--judge {name}", f"--rater {name}")
    assert (len(tables.ratings), len(other.ratings), len(other.scores)) == (3 * N, 2 * N, N)
    assert not read(tmp_path, files, rater=(name,)).alternatives


@pytest.mark.parametrize("name", ["GLIDER", "themis", "step-2", "selene-mini"])
def test_rater_with_a_name_that_may_be_any_is_said_to_count_as_a_person(
    tmp_path: Path, name: str
) -> None:
    rows = [(i, name if r == "cleo" else r, v) for i, r, v in LONG]

    tables = read(tmp_path, {"r.csv": lines(("item", "rater", "score"), *rows)})

    assert Doubt((name,), f"{name} counts as a person", f"--judge {name}") in tables.doubts
    assert len(tables.ratings) == 3 * N


@pytest.mark.parametrize("name", ["Zuzka", "Xochitl", "user_42"])
def test_rater_with_a_rare_name_needs_no_word(tmp_path: Path, name: str) -> None:
    rows = [(i, name if r == "cleo" else r, v) for i, r, v in LONG]

    tables = read(tmp_path, {"r.csv": lines(("item", "rater", "score"), *rows)})

    assert not tables.notes


@pytest.mark.parametrize(
    "name", ["codestral", "magistral-medium", "OLMo-7B", "yi-large", "ernie-4.0", "MiniCheck-7B"]
)
def test_models_of_all_companies_are_judges(tmp_path: Path, name: str) -> None:
    rows = [(i, name if r == "cleo" else r, v) for i, r, v in LONG]

    tables = read(tmp_path, {"r.csv": lines(("item", "rater", "score"), *rows)})

    assert {*tables.scores["judge"]} == {name}
    assert not tables.alternatives


def test_doubts_of_each_of_several_files_are_said(tmp_path: Path) -> None:
    people = lines(("item", "anna", "claude"), *[row[:3] for row in WIDE])
    judge = lines(("item", "gpt-4o"), *[row[:2] for row in WIDE])

    tables = read(tmp_path, {"people.csv": people, "judge.csv": judge})

    [(doubt, other)] = tables.alternatives
    assert (doubt.choice, doubt.option) == ("claude is a judge", "--rater anna,claude")
    assert (len(tables.ratings), len(other.ratings), len(other.scores)) == (N, 2 * N, N)


def test_rater_with_another_kind_of_name_is_a_doubt(tmp_path: Path) -> None:
    rows = [(*row, 6 - row[1]) for row in WIDE]

    tables = read(tmp_path, {"r.csv": lines(("item", *RATERS, "clear"), *rows)})

    [(doubt, other)] = tables.alternatives
    assert doubt.option == "--rater anna,ben,cleo,clear"
    assert reasons(tables) == {"r.csv:clear": "its name is not one of a rater"}
    assert len(other.ratings) == 4 * N


@pytest.mark.parametrize("name", ["RM", "Grader", "reward", "verifier"])
def test_column_called_like_a_program_beside_first_names_is_a_doubt(
    tmp_path: Path, name: str
) -> None:
    rows = [(*row, JUDGED[row[0]]) for row in WIDE]
    people = read(tmp_path, {"r.csv": lines(("item", "KL", "PJ", "AB", name), *rows)})
    tables = read(tmp_path, {"r.csv": lines(("item", *RATERS, name), *rows)})

    [(doubt, _)] = tables.alternatives
    assert doubt.option == f"--rater anna,ben,cleo,{name}"
    assert name != "RM" or len(people.ratings) == 4 * N


def test_column_beside_a_grid_of_raters_and_questions_is_named_and_not_read(tmp_path: Path) -> None:
    header = [f"{rater} \u2013 {question}" for rater in RATERS for question in ("Tone", "Style")]
    rows = [
        (i, *(v for r in RATERS for v in (of(i, r), 6 - of(i, r))), 1 + n % 4, JUDGED[i])
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, {"r.csv": lines(("item", *header, "CSAT", "gpt-4o"), *rows)})

    assert {*tables.ratings["rater"]} == {*RATERS}
    assert {*tables.ratings["question"]} == {"Tone", "Style"}
    assert tables.not_read.keys() == {"r.csv:CSAT"}
    note, comparison = tables.notes
    assert note == "not read: CSAT, its name has not the parts of the others"
    assert "people rated Tone, Style, judges rating" in comparison
    assert len(tables.scores) == N


def test_nothing_of_a_file_disappears(tmp_path: Path) -> None:
    header = ("item", "prompt", "model", "rater", "score", "comment", "average", "empty")
    rows = [(i, f"Ask {int(i[1:]) // 2}", "m1", r, v, f"{r} says", 3, "") for i, r, v in LONG]

    tables = read(tmp_path, {"r.csv": lines(header, *rows)})

    assert list(tables.items) == ["item", "group", "model", "prompt", "average"]
    assert tables.groups_by == "prompt"
    assert tables.items["group"].nunique() == N // 2
    assert reasons(tables) == {
        "r.csv:comment": "an attribute",
        "r.csv:average": "one value",
        "r.csv:model": "one value",
        "r.csv:empty": "empty",
    }


@pytest.mark.parametrize(
    ("header", "text", "groups_by"),
    [
        (("item", "answer"), "The refund for this case takes days", "answer"),
        (("item", "answer"), "Paris", ""),
        (("item", "answer", "prompt"), "The refund for this case takes days", ""),
    ],
)
def test_equal_answers_are_one_group_unless_short_or_of_other_prompts(
    tmp_path: Path, header: Sequence[str], text: str, groups_by: str
) -> None:
    rows = [
        (
            i,
            f"{text} {n % 6}",
            *[f"What about {i}?"] * (len(header) - 2),
            *(of(i, r) for r in RATERS),
        )
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, {"r.csv": lines((*header, *RATERS), *rows)})

    assert tables.groups_by == groups_by
    assert tables.items["group"].nunique() == (6 if groups_by else N)


def test_cells_that_are_no_ratings_are_counted_in_the_first_note(tmp_path: Path) -> None:
    rows = [
        (i, *("N/A" if k == n % 9 else of(i, r) for k, r in enumerate(RATERS)))
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, {"r.csv": lines(("item", *RATERS), *rows)})

    assert tables.notes == ('9 of 72 cells not rated: "N/A"',)


def test_data_frame_is_read_alike_and_remedies_name_arguments() -> None:
    frame = pd.DataFrame(WIDE, columns=["item", *RATERS]).set_index("item")
    criteria = pd.DataFrame(WIDE, columns=["item", "Clarity", "Tone", "Truth"])

    assert cells(read_ratings(frame, ReadOptions())) == EXPECTED
    with pytest.raises(ExceptionGroup) as raised:
        read_ratings(criteria, ReadOptions())
    [error] = leaves(raised.value)
    assert isinstance(error, InputError)
    assert 'pass rater=["Clarity", "Tone", "Truth"]' in str(error)


def test_cell_far_outside_is_refused_before_it_takes_all_memory(tmp_path: Path) -> None:
    far = workbook({"S": [("item", *RATERS), *WIDE]}).replace(b"A1", b"A1")
    rows = "".join(
        f'<row r="{n}"><c r="{c}{n}"><v>1</v></c></row>' for n, c in ((1, "A"), (1048576, "XFD"))
    )

    with zipfile.ZipFile(io.BytesIO(far)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    sheet = next(name for name in parts if "worksheets/sheet" in name)
    parts[sheet] = re.sub(
        rb"<sheetData>.*</sheetData>",
        f"<sheetData>{rows}</sheetData>".encode(),
        parts[sheet],
        flags=re.DOTALL,
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in parts.items():
            packed.writestr(name, content)

    [message] = refusal(tmp_path, {"r.xlsx": file.getvalue()})

    assert "a cell lies far outside the table" in message


def test_model_is_never_a_person(tmp_path: Path) -> None:
    for name in (
        "gpt-4o",
        "claude-haiku-5-5",
        "Gemini 2.5",
        "llm_judge",
        "model_score",
        "prediction",
        "autorater",
    ):
        rows = [(*row, JUDGED[str(row[0])]) for row in WIDE]
        tables = read(tmp_path, {"r.csv": lines(("item", *RATERS, name), *rows)})
        assert (cells(tables), judges(tables)) == (EXPECTED, [name])


def test_repeated_runs_of_a_published_study_are_read(tmp_path: Path) -> None:
    labels = pd.read_csv("data/code/labels.csv")
    labels["ok"] = labels["rating"].map(lambda rating: "pass" if rating > 2 else "fail")
    first = labels.drop_duplicates("response_id").head(100)
    columns = {"response_id": first["response_id"], "judge": first["ok"], "human": first["ok"]}
    frame = pd.DataFrame(columns)
    frame.loc[::7, "judge"] = "fail"

    tables = read(tmp_path, {"results.csv": frame.to_csv(index=False)})

    assert (judges(tables), counts(tables)) == (["judge"], (100, 1, 100, 1, 100))


Change = Callable[[list[tuple[str, int, int, int]]], str]
SHAPES: dict[str, Callable[[], Content]] = {
    "semicolons and decimal commas": lambda: lines(("item", *RATERS), *WIDE).replace(",", ";"),
    "UTF-16": lambda: lines(("item", *RATERS), *WIDE).encode("utf-16"),
    "cp1252": lambda: lines(
        ("item", *RATERS, "h\u00f6he"), *((*row, "gro\u00df") for row in WIDE)
    ).encode("cp1252"),
    "a title": lambda: "My study\n\n" + lines(("item", *RATERS), *WIDE),
    "records": lambda: [dict(zip(("item", *RATERS), row, strict=True)) for row in WIDE],
    "columns": lambda: {name: [row[k] for row in WIDE] for k, name in enumerate(("item", *RATERS))},
    "split": lambda: {
        "columns": ["item", *RATERS],
        "index": list(range(N)),
        "data": [list(row) for row in WIDE],
    },
    "by item": lambda: {row[0]: dict(zip(RATERS, row[1:], strict=True)) for row in WIDE},
    "by rater": lambda: {r: {i: of(i, r) for i in ITEMS} for r in RATERS},
    "lists with names": lambda: [
        {"item": i, "annotators": list(RATERS), "rating": [of(i, r) for r in RATERS]} for i in ITEMS
    ],
    "lists as text": lambda: lines(
        ("item", "annotators", "rating"),
        *((i, "|".join(RATERS), "|".join(str(of(i, r)) for r in RATERS)) for i in ITEMS),
    ),
    "a sum below": lambda: lines(("item", *RATERS), *WIDE, ("Total", 70, 71, 72)),
    "stars": lambda: lines(
        ("item", *RATERS), *((i, *("\u2605" * of(i, r) for r in RATERS)) for i in ITEMS)
    ),
    "of five": lambda: lines(
        ("item", *RATERS), *((i, *(f"{of(i, r)}/5" for r in RATERS)) for i in ITEMS)
    ),
    "numbers and words": lambda: lines(
        ("item", *RATERS), *((i, *(f"{of(i, r)} - fine" for r in RATERS)) for i in ITEMS)
    ),
    "merged cells": lambda: lines(
        ("item", "rater", "score"), *((i if r == "anna" else "", r, v) for i, r, v in LONG)
    ),
    "crosses": lambda: lines(
        ("item", "rater", *range(1, 6)),
        *((i, r, *("x" if v == k else "" for k in range(1, 6))) for i, r, v in LONG),
    ),
    "a header in two rows": lambda: lines(("item", "score", "", ""), ("", *RATERS), *WIDE),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_one_study_is_read_alike_in_every_shape(tmp_path: Path, shape: str) -> None:
    tables = read(tmp_path, {"r.txt": SHAPES[shape]()})

    assert cells(tables) == EXPECTED
    assert (tables.questions[0].scale.low, tables.questions[0].scale.high) == (1, 5)
