"""Layouts of published studies, survey tools and graders, of which one kind was once misread."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval_assets.errors import leaves
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings

ITEMS = [f"t{k}" for k in range(24)]
RATERS = ("anna", "ben", "cleo")
PEOPLE = {
    (i, r): 1 + (2 * n + (n + 1) * k % 4) % 5
    for n, i in enumerate(ITEMS)
    for k, r in enumerate(RATERS)
}
JUDGE = {i: 1 + (2 * n + n % 3) % 5 for n, i in enumerate(ITEMS)}
TEXTS = {
    i: f"the answer to {n} is long enough to be read as text by {n * 7 % 13}"
    for n, i in enumerate(ITEMS)
}


def table(*rows: Sequence[object], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def lines(rows: Sequence[object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def read(folder: Path, name: str, content: str) -> RatingTables:
    (folder / name).write_text(content)
    return read_ratings([folder / name], ReadOptions())


def refusal(folder: Path, name: str, content: str) -> str:
    with pytest.raises(ExceptionGroup) as raised:
        read(folder, name, content)
    return "\n".join(map(str, leaves(raised.value)))


def test_language_of_a_respondent_is_no_rater(tmp_path: Path) -> None:
    questions = [f"Q{k}" for k in range(1, 9)]
    rows = [[f"R_{r}", "1.2.3.4", "EN", *(PEOPLE[i, r] for i in ITEMS[:8])] for r in RATERS]
    content = table(["ResponseId", "IPAddress", "UserLanguage", *questions], *rows)

    assert "may be raters or questions" in refusal(tmp_path, "survey.csv", content)


def test_one_collector_of_all_answers_is_no_item(tmp_path: Path) -> None:
    known = ["Respondent ID", "Collector ID", "Start Date", "End Date", "Email Address"]
    header = [*known, "How good is it?", "", "", ""]
    below = [""] * 5 + [f"Answer {name}" for name in "ABCD"]
    rows = [
        [1000 + n, 77, "01/02/2026", "01/02/2026", f"{r}@x.org", *(PEOPLE[i, r] for i in ITEMS[:4])]
        for n, r in enumerate(RATERS)
    ]

    tables = read(tmp_path, "answers.csv", table(header, below, *rows))

    assert (tables.ratings["rater"].nunique(), len(tables.items)) == (3, 4)


def test_time_of_a_judgement_is_no_rater_and_a_list_names_its_judge(tmp_path: Path) -> None:
    rows = [
        {
            "question_id": 80 + n,
            "model": model,
            "judge": ["gpt-4", "single-v1"],
            "judgment": f"{TEXTS[i]}, {model}, {turn}",
            "score": JUDGE[i] if model == "m1" else 6 - JUDGE[i],
            "turn": turn,
            "tstamp": 1.7e9 + n,
        }
        for n, i in enumerate(ITEMS)
        for model in ("m1", "m2")
        for turn in (1, 2)
    ]

    tables = read(tmp_path, "judgments.jsonl", lines(rows))

    assert (len(tables.ratings), len(tables.scores), len(tables.items)) == (0, 96, 96)
    assert set(tables.scores["judge"]) == {"gpt-4, single-v1"}


def test_table_without_a_header_is_refused_if_one_column_is_left(tmp_path: Path) -> None:
    rows = [
        [r, "ab"[n % 2], n // 2, "eng", 10 * PEOPLE[i, r] + n % 7, "False", 1700000000.5 + n]
        for n, i in enumerate(ITEMS)
        for r in RATERS
    ]

    assert "there is no header" in refusal(tmp_path, "appraise.csv", table(*rows))


@pytest.mark.parametrize("text", ["human_ref_{}", "answer_{}", "output {}"])
def test_scores_of_two_responses_are_no_raters(tmp_path: Path, text: str) -> None:
    rows = [
        {
            "post_id": i,
            text.format("A"): f"{TEXTS[i]} one",
            text.format("B"): f"{TEXTS[i]} two",
            "score_A": PEOPLE[i, "anna"],
            "score_B": PEOPLE[i, "ben"],
        }
        for i in ITEMS
    ]

    assert "of responses, and not of raters" in refusal(tmp_path, "pairs.jsonl", lines(rows))


@pytest.mark.parametrize("n_votes", [3, 100])
def test_counts_of_votes_are_no_ratings(tmp_path: Path, n_votes: int) -> None:
    rows = [[i, TEXTS[i], (k := n * 7 % (n_votes + 1)), n_votes - k] for n, i in enumerate(ITEMS)]

    message = refusal(
        tmp_path, "votes.csv", table(["id", "text", "toxic_language", "neither"], *rows)
    )

    assert "no column of ratings is found" in message


def test_criteria_as_keys_of_responses_are_questions(tmp_path: Path) -> None:
    rows = [
        {
            "instruction": TEXTS[i],
            "completions": [
                {
                    "model": model,
                    "response": f"{model} {TEXTS[i]}",
                    "annotations": {
                        "helpfulness": {"Rating": str(JUDGE[i]), "Rationale": "since"},
                        "honesty": {"Rating": str(1 + (JUDGE[i] + n) % 5), "Rationale": "since"},
                    },
                }
                for n, model in enumerate(("m1", "m2"))
            ],
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "feedback.jsonl", lines(rows))

    assert [question.id for question in tables.questions] == ["helpfulness", "honesty"]
    assert len(tables.items) == 48
    assert tables.ratings["rater"].nunique() == 1


def test_curated_labels_are_no_rater(tmp_path: Path) -> None:
    rows = [[i, *(PEOPLE[i, r] for r in RATERS), PEOPLE[i, "anna"]] for i in ITEMS]

    tables = read(tmp_path, "curated.csv", table(["doc", *RATERS, "CURATION_USER"], *rows))

    assert set(tables.ratings["rater"]) == set(RATERS)


def test_metric_in_a_column_of_evaluators_is_a_judge(tmp_path: Path) -> None:
    rows = [
        {
            "input": TEXTS[i],
            "evaluator": "labeled_criteria:correctness",
            "value": "Y" if JUDGE[i] > 2 else "N",
            "score": int(JUDGE[i] > 2),
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "results.jsonl", lines(rows))

    assert (len(tables.ratings), len(tables.scores)) == (0, 24)


def test_numbered_raters_of_a_domain_stay_beside_their_sum(tmp_path: Path) -> None:
    header = [
        "essay_id",
        "essay",
        "rater1_domain1",
        "rater2_domain1",
        "rater3_domain1",
        "domain1_score",
    ]
    rows = [
        [n, TEXTS[i], PEOPLE[i, "anna"], PEOPLE[i, "ben"], "", PEOPLE[i, "anna"] + PEOPLE[i, "ben"]]
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "essays.tsv", table(header, *rows, delimiter="\t"))

    assert (tables.ratings["rater"].nunique(), len(tables.ratings)) == (2, 48)


def test_probability_of_a_judge_stands_beside_verdicts_of_named_people(tmp_path: Path) -> None:
    rows = [
        [
            i,
            *("pass" if PEOPLE[i, r] > 2 else "fail" for r in ("anna", "ben")),
            round(JUDGE[i] / 6 + n / 500, 3),
        ]
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "a.csv", table(["ticket", "anna", "ben", "judge_prob"], *rows))

    assert (len(tables.ratings), len(tables.scores)) == (48, 24)
    assert set(tables.judge_scales) == {"judge_prob"}


def test_numbered_reviewers_who_write_words_are_raters(tmp_path: Path) -> None:
    words = {True: "good", False: "bad"}
    rows = [
        [i, *(words[PEOPLE[i, r] > 2] for r in ("anna", "ben")), words[JUDGE[i] > 2]] for i in ITEMS
    ]
    header = ["trace_id", "reviewer_1", "reviewer_2", "llm_verdict"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert (tables.ratings["rater"].nunique(), len(tables.scores)) == (2, 24)
