"""A table is read alike in any order of its columns and rows, and beside columns of no rating."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from tests.unit.readers.test_ratings_shapes import Rows, csv_of, read

N_ITEMS = 30


def table(*header: str, parts: tuple[str, ...] = (), words: tuple[str, ...] = ()) -> Rows:
    """Return a table whose columns after the item, and a part of it, are ratings."""
    n_rated = len(header) - 1 - bool(parts)
    rows: Rows = [list(header)]
    for n, (k, part) in product(range(N_ITEMS), enumerate(parts or ("",))):
        values = [(3 * n + k + (n % 4 == j) + n * n // 7) % 5 for j in range(n_rated)]
        ratings = [words[value % len(words)] if words else 1 + value for value in values]
        rows.append([f"t{n}", *filter(None, [part]), *ratings])
    return rows


def by_reviewer(*header: str) -> Rows:
    """Return a table in which each item has one of two reviewers, and a judge's verdict."""
    verdicts = ("bad", "good")
    rows: Rows = [list(header)]
    for n in range(N_ITEMS):
        rows.append([f"t{n}", ("Luis", "Ana")[n % 2], verdicts[n % 3 > 0], verdicts[n % 3 > 1]])
    return rows


TABLES: dict[str, Rows] = {
    "a judge beside people": table("id", "anna", "ben", "gpt-4o"),
    "the question in each header": table("item", "Anna: Clarity", "Ben: Clarity"),
    "a person in brackets": table(
        "Case ID", "Risk (Reviewer A)", "Risk (Reviewer B)", "Risk (Model)", words=("low", "high")
    ),
    "a part that is asked": table(
        "essay", "trait", "human1", "human2", "llm", parts=("org", "dev")
    ),
    "a criterion of a response": table(
        "response", "criterion", "anna", "ben", parts=("tone", "use")
    ),
    "a metric in rows": table("id", "metric", "human_score", parts=("fluency", "safety", "facts")),
    "a form": table(
        "participant",
        *(f"resp{n}[{question}]" for n in (1, 2) for question in ("correct", "tone")),
        words=("bad", "fine", "good"),
    ),
    "both orders": table("id", "swapped", "anna", "ben", parts=("no", "yes"), words=("A", "B")),
    "a reviewer of each item": by_reviewer("Prompt ID", "Reviewer", "Verdict", "Judge verdict"),
    "runs of a judge": table("case_id", "attempt", "human", "llm_score", parts=("1", "2")),
    "tasters": table("recipe", "taster", "look", "taste", parts=("R1", "R2", "R3")),
    "cases resolved": table(
        "ticket", "annotator", "resolved", parts=("R1", "R2", "R3"), words=("no", "yes")
    ),
    "coders in Korean": table("사례", "코더", "적절성", parts=("김", "이", "박")),
    "a judge who always agrees": [
        ["id", "score", "score_llm"],
        *([f"t{n}", 1 + n % 4, 1 + n % 4] for n in range(N_ITEMS)),
    ],
}

Change = Callable[[Rows], Rows]


def beside(name: str, cell: Callable[[int], object]) -> Change:
    """Return what adds a column behind the others."""
    return lambda rows: [[*row, cell(n) if n else name] for n, row in enumerate(rows)]


def said(ratings: pd.DataFrame, by: str) -> set[tuple[frozenset[str], str, str, float]]:
    """Return the parts of the item, the question, who rated it, and the value, of each rating."""
    columns = ratings[["item", "question", by, "value"]].itertuples(index=False, name=None)
    return {
        (frozenset(item.split(" / ")), question, rater, value)
        for item, question, rater, value in columns
    }


CHANGES = {
    "columns in reverse": lambda rows: [row[::-1] for row in rows],
    "rows in reverse": lambda rows: [rows[0], *rows[:0:-1]],
    "one project": beside("project", lambda _: "Support"),
    "one batch": beside("batch", lambda _: "b1"),
    "latencies": beside("latency_ms", lambda n: 100 + 37 * n % 1009),
    "tokens": beside("n_tokens", lambda n: 40 + 61 * n % 997),
    "costs": beside("cost_usd", lambda n: round(0.0013 * (n % 17), 4)),
    "customers": lambda rows: [
        [*row, f"{row[0]}@mail.example" if n else "customer_email"] for n, row in enumerate(rows)
    ],
    "agents": lambda rows: [
        [*row, ("Maria", "Tom", "Keiko")[len(str(row[0])) % 3] if n else "agent"]
        for n, row in enumerate(rows)
    ],
    "ids of annotations": beside("annotation_id", lambda n: f"{n * 7919 % 99991:05x}"),
    "escalations": beside("escalated", lambda n: ("no", "yes")[n % 5 > 2]),
    "who made the rows": beside("created_by", lambda _: "admin"),
    "categories": beside("category", lambda n: ("billing", "delivery", "returns")[n * n % 3]),
    "lengths": beside("response_length", lambda n: 100 + 67 * n % 897),
    "reviews": beside("reviewed", lambda n: n % 3 > 0),
    "times": beside("created_at", lambda n: f"2026-03-{1 + n % 28:02} 10:{n % 60:02}:00"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_neither_order_nor_further_columns_change_who_rated_what(
    tmp_path: Path, rows: Rows, change: Change
) -> None:
    first = read(tmp_path, "first.csv", csv_of(rows))
    second = read(tmp_path, "second.csv", csv_of(change(rows)))

    assert len(first.ratings) >= N_ITEMS
    assert said(first.ratings, "rater") == said(second.ratings, "rater")
    assert said(first.scores, "judge") == said(second.scores, "judge")
