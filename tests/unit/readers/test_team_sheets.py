"""Sheets and logs as teams keep them for themselves, each with the raters and judges in it."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from eval_assets.readers.rating_tables import RatingTables, ReadOptions
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
    return read_ratings([folder / name], ReadOptions())


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


def test_counts_of_thumbs_are_no_raters_and_named_on_the_screen(tmp_path: Path) -> None:
    votes = sheet("id,thumbs_up,thumbs_down,judge", ANNA, [7 - v for v in ANNA], JUDGE)

    tables = read(tmp_path, "votes.csv", votes)

    assert tables.ratings.empty
    assert any("thumbs_up, counts of votes" in note for note in tables.notes)
