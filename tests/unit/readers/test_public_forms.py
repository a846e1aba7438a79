"""Layouts of published studies, survey tools and graders, of which one kind was once misread."""

import csv
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from eval_assets.errors import leaves
from eval_assets.judges.recorded_replies import score_of_reply
from eval_assets.readers.rating_tables import Doubt, RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from eval_assets.scale import Scale
from tests.unit.readers.formats.xlsx import Cell, workbook

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
FEW = list(enumerate(ITEMS))


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
    ids = ("R_2qX8vKz", "R_1fT0bLm", "R_3pW7cNy")
    rows = [
        [name, "1.2.3.4", "EN", *(PEOPLE[i, r] for i in ITEMS[:8])]
        for name, r in zip(ids, RATERS, strict=True)
    ]
    content = table(["ResponseId", "IPAddress", "UserLanguage", *questions], *rows)

    assert set(read(tmp_path, "survey.csv", content).ratings["rater"]) == {*ids}


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


@pytest.mark.parametrize("mark", [":", "\N{FULLWIDTH COLON}"])
def test_raters_in_japanese_headers_stand_beside_a_judge(tmp_path: Path, mark: str) -> None:
    words = {k: f"{k}:\N{CJK UNIFIED IDEOGRAPH-8A55}{'abcde'[k - 1]}" for k in range(1, 6)}
    header = ["番号", f"評価者{mark}田中", f"評価者{mark}佐藤", "AI評価(GPT-4o)"]
    rows = [
        [n, words[PEOPLE[i, "anna"]], words[PEOPLE[i, "ben"]], words[JUDGE[i]]]
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "hyouka.csv", table(header, *rows))

    assert set(tables.ratings["rater"]) == {"田中", "佐藤"}
    assert len(tables.scores) == len(ITEMS)


def test_raters_who_share_a_word_stand_beside_other_columns(tmp_path: Path) -> None:
    header = ["Name", "Anna rating", "Ben rating", "Avg rating", "GPT-4o rating", "Status"]
    rows = [
        [f"Case {i}", *(PEOPLE[i, r] for r in ("anna", "ben")), "", JUDGE[i], "Done"] for i in ITEMS
    ]

    tables = read(tmp_path, "grid.csv", table(header, *rows))

    assert set(tables.ratings["rater"]) == {"Anna", "Ben"}
    assert set(tables.scores["judge"]) == {"GPT-4o rating"}


def test_refusal_names_the_judges_that_it_found(tmp_path: Path) -> None:
    header = ["id", "RelE", "EntE", "gpt-4o"]
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i]] for i in ITEMS]

    assert "--rater RelE,EntE --judge gpt-4o" in refusal(tmp_path, "a.csv", table(header, *rows))


def test_column_without_an_owner_may_be_a_judges_beside_a_person(tmp_path: Path) -> None:
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]

    message = refusal(tmp_path, "a.csv", table(["id", "faithfulness", "human_faithful"], *rows))

    assert "--rater human_faithful --judge faithfulness" in message


def test_votes_in_a_column_for_each_value_are_one_rating(tmp_path: Path) -> None:
    votes = ("model_a", "tie", "model_b")
    header = ["id", "winner_model_a", "winner_model_b", "winner_tie", "judge_choice"]
    rows = [
        [i, *(int(PEOPLE[i, "anna"] % 3 == k) for k in (0, 2, 1)), votes[JUDGE[i] % 3]]
        for i in ITEMS
    ]

    tables = read(tmp_path, "arena.csv", table(header, *rows))

    assert (len(tables.ratings), len(tables.scores)) == (len(ITEMS), len(ITEMS))
    assert tables.questions[0].scale.words == votes


@pytest.mark.parametrize("names", ["Anna - round {}", "Anna (Session {})", "anna_run{}"])
def test_numbered_rounds_of_a_rater_are_one_rater(tmp_path: Path, names: str) -> None:
    rows = [[i, names.format(k), PEOPLE[i, "anna"]] for i in ITEMS for k in (1, 2)]
    rows += [[i, "Ben", PEOPLE[i, "ben"]] for i in ITEMS]

    tables = read(tmp_path, "rounds.csv", table(["item", "rater", "score"], *rows))

    assert tables.ratings["rater"].nunique() == 2
    assert len(tables.ratings[tables.ratings["rater"] == "Ben"]) == len(ITEMS)


def test_numbered_runs_of_a_judge_are_one_judge(tmp_path: Path) -> None:
    rows = [[i, f"gpt-4o run {k}", JUDGE[i]] for i in ITEMS for k in (1, 2)]
    rows += [[i, r, PEOPLE[i, r]] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "runs.csv", table(["item", "rater", "score"], *rows))

    assert set(tables.scores["judge"]) == {"gpt-4o"}
    assert set(tables.scores["run"]) == {"1", "2"}


def test_criterion_of_a_pivot_is_the_question(tmp_path: Path) -> None:
    header = ["Ticket", "Criterion", "Rater: Anna", "Rater: Ben"]
    rows = [
        [i, criterion, PEOPLE[i, "anna"], PEOPLE[i, "ben"]]
        for i in ITEMS
        for criterion in ("Accuracy", "Tone")
    ]

    tables = read(tmp_path, "pivot.csv", table(header, *rows))

    assert {of.id for of in tables.questions} == {"Accuracy", "Tone"}


def test_program_in_a_column_of_evaluators_is_a_judge(tmp_path: Path) -> None:
    header = ["id", "evaluator", "score", "anna", "ben"]
    rows = [[i, "lynx-large", JUDGE[i], *(PEOPLE[i, r] for r in ("anna", "ben"))] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert set(tables.scores["judge"]) == {"lynx-large"}


def test_letters_of_correct_and_incorrect_have_an_order(tmp_path: Path) -> None:
    rows = [[i, *("IC"[PEOPLE[i, r] > 2] for r in ("anna", "ben"))] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "anna", "ben"], *rows))

    assert tables.questions[0].scale.words == ("I", "C")


@pytest.mark.parametrize(
    "options",
    [ReadOptions(judge=("llm_score",)), ReadOptions(run="text")],
)
def test_option_that_changes_nothing_is_an_error(tmp_path: Path, options: ReadOptions) -> None:
    header = ["item", "text", "worker", "tone", "grammar", "llm_score"]
    rows = [
        [i, TEXTS[i], r, PEOPLE[i, r], 6 - PEOPLE[i, r], JUDGE[i]] for i in ITEMS for r in RATERS
    ]
    (tmp_path / "a.csv").write_text(table(header, *rows))

    with pytest.raises(ExceptionGroup) as raised:
        read_ratings([tmp_path / "a.csv"], options)

    assert "changes nothing" in str(next(leaves(raised.value)))


def test_score_of_an_item_is_of_the_only_question(tmp_path: Path) -> None:
    header = ["item", "worker", "tone", "grammar", "llm_score"]
    rows = [[i, r, PEOPLE[i, r], 6 - PEOPLE[i, r], JUDGE[i]] for i in ITEMS for r in RATERS]
    (tmp_path / "a.csv").write_text(table(header, *rows))

    tables = read_ratings([tmp_path / "a.csv"], ReadOptions(only=("tone",)))

    assert set(tables.scores["question"]) == {"tone"}


def test_source_of_scores_tells_judges_from_people(tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "feedback_scores": [
                {"value": JUDGE[i], "source": "online_scoring", "last_updated_by": "admin"},
                {"value": PEOPLE[i, "anna"], "source": "ui", "last_updated_by": "anna@x.org"},
            ],
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "traces.jsonl", lines(rows))

    assert set(tables.scores["judge"]) == {"admin"}
    assert set(tables.ratings["rater"]) == {"anna@x.org"}


def test_list_of_scores_by_one_judge_holds_its_runs(tmp_path: Path) -> None:
    words = {True: "A>B", False: "B>A"}
    rows = [
        {
            "pair_id": i,
            "label": words[PEOPLE[i, "anna"] > 2],
            "judgments": [
                {"judge_model": "gpt-4o", "decision": words[(JUDGE[i] + k) % 5 > 2]} for k in (0, 1)
            ],
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "pairs.jsonl", lines(rows))

    assert len(tables.ratings) == len(ITEMS)
    assert set(tables.scores["judge"]) == {"gpt-4o"}
    assert tables.scores["run"].nunique() == 2


def test_turn_of_a_conversation_is_no_rating(tmp_path: Path) -> None:
    header = ["interaction_id", "user_id", "turn", "model_name", "score"]
    rows = [
        [i, f"user{n // 6}", n % 3, model, PEOPLE[i, r]]
        for n, i in enumerate(ITEMS)
        for model, r in (("gpt-4", "anna"), ("claude-2", "ben"))
    ]

    tables = read(tmp_path, "utterances.csv", table(header, *rows))

    assert [of.id for of in tables.questions] == ["score"]


def test_flags_of_a_program_are_no_raters(tmp_path: Path) -> None:
    rows = [[i, "False", "False", TEXTS[i]] for i in ITEMS]

    message = refusal(
        tmp_path, "a.csv", table(["message_id", "deleted", "synthetic", "text"], *rows)
    )

    assert "no column of ratings is found" in message


def test_counts_of_votes_on_subjects_are_no_ratings(tmp_path: Path) -> None:
    rows = [[f"s{n}", n % 5, 2 * n % 7, 10 - n % 5 - 2 * n % 7] for n in range(36)]

    message = refusal(tmp_path, "fleiss.csv", table(["subject", "cat1", "cat2", "cat3"], *rows))

    assert "no column of ratings is found" in message


@pytest.mark.parametrize("names", [["yes", "no"], ["anna", "ben", "cleo"]])
def test_figures_of_pairs_are_no_ratings(tmp_path: Path, names: list[str]) -> None:
    rows = [[name, *range(len(names))] for name in names]

    assert "of pairs" in refusal(tmp_path, "pairs.csv", table(["", *names], *rows))


def test_id_of_a_query_is_no_rater(tmp_path: Path) -> None:
    rows = [[n // 6, f"d{n}", PEOPLE[i, "anna"], JUDGE[i]] for n, i in enumerate(ITEMS)]

    tables = read(tmp_path, "qrels.csv", table(["qid", "docid", "human", "gpt4o"], *rows))

    assert (len(tables.ratings), len(tables.scores)) == (len(ITEMS), len(ITEMS))


@pytest.mark.parametrize("pair", ["{}={}", "{}: {}"])
def test_ratings_by_name_in_one_cell_are_read(tmp_path: Path, pair: str) -> None:
    rows = [[i, "; ".join(pair.format(r, PEOPLE[i, r]) for r in RATERS), JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "cells.csv", table(["id", "ratings", "llm"], *rows))

    assert set(tables.ratings["rater"]) == set(RATERS)
    assert len(tables.ratings) == len(PEOPLE)


def test_people_repeated_beside_versions_of_a_judge_count_once(tmp_path: Path) -> None:
    header = ["item", "prompt_version", "judge_score", "Anna", "Ben"]
    rows = [
        [i, version, (JUDGE[i] + k) % 5 + 1, PEOPLE[i, "anna"], PEOPLE[i, "ben"]]
        for i in ITEMS
        for k, version in enumerate(("v1", "v2"))
    ]

    tables = read(tmp_path, "versions.csv", table(header, *rows))

    assert len(tables.ratings) == 2 * len(ITEMS)
    assert set(tables.scores["judge"]) == {"judge_score v1", "judge_score v2"}


def test_ratings_of_answers_by_models_are_no_judges(tmp_path: Path) -> None:
    header = ["question", "gpt-4 answer", "llama answer", "gpt-4 rating", "llama rating"]
    rows = [
        [f"{i}?", TEXTS[i], f"{TEXTS[i]} too", PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS
    ]

    assert "of responses, and not of raters" in refusal(tmp_path, "a.csv", table(header, *rows))


def test_criterion_in_rows_of_items_is_the_question(tmp_path: Path) -> None:
    header = ["completion_id", "criterion", "physician_1", "physician_2", "grader_gpt-4.1"]
    rows = [
        [i, f"{criterion} is told", *(PEOPLE[i, r] > 2 for r in ("anna", "ben")), JUDGE[i] > 2]
        for i in ITEMS
        for criterion in ("the cause", "the risk")
    ]

    tables = read(tmp_path, "rubric.csv", table(header, *rows))

    assert (len(tables.items), len(tables.questions)) == (len(ITEMS), 2)


@pytest.mark.parametrize("names", [["score_before", "score_after"], ["upvotes", "downvotes"]])
def test_words_that_are_no_first_names_may_be_questions(tmp_path: Path, names: list[str]) -> None:
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", *names, "gpt-4o"], *rows))

    [(doubt, as_questions)] = tables.alternatives
    assert doubt.option == f"--rating {','.join(names)} --judge gpt-4o"
    assert doubt.confirmation == f"--rater {','.join(names)} --judge gpt-4o"
    assert as_questions.ratings["rater"].nunique() == 1


def test_first_names_are_raters_beside_other_words(tmp_path: Path) -> None:
    rows = [[i, PEOPLE[i, "cleo"], PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "sentiment", "anna", "ben"], *rows))

    assert set(tables.ratings["rater"]) == {"anna", "ben"}
    assert [doubt.choice for doubt in tables.doubts] == ["sentiment is no rater"]


@pytest.mark.parametrize("form", ["wide", "long"])
def test_claude_beside_another_model_is_a_model(tmp_path: Path, form: str) -> None:
    judges = ("GPT-4o", "Claude")
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i], JUDGE[i]] for i in ITEMS]
    content = table(["id", "Anna", "Ben", *judges], *rows)
    if form == "long":
        names = ("Anna", "Ben", *judges)
        scores = [[i, *of] for i, *row in rows for of in zip(names, row, strict=True)]
        content = table(["id", "rater", "score"], *scores)

    tables = read(tmp_path, "a.csv", content)

    assert set(tables.scores["judge"]) == set(judges)


def test_benchmarks_of_a_leaderboard_are_no_certain_raters(tmp_path: Path) -> None:
    header = ["Model", "MMLU", "ARC", "Average"]
    rows = [
        [f"model-{n}", *(10 * PEOPLE[i, r] + n / 7 for r in ("anna", "ben")), 50]
        for n, i in enumerate(ITEMS)
    ]

    with pytest.raises(ExceptionGroup) as refused:
        read(tmp_path, "a.csv", table(header, *rows))
    assert "the columns MMLU, ARC may be raters or questions" in str(refused.value.exceptions[0])


@pytest.mark.parametrize(
    ("questions", "option"),
    [
        (("red", "blue"), "--rater red,blue"),
        (
            ("tone", "style"),
            "--rating 'before tone,before style,after tone,after style'",
        ),
    ],
)
def test_words_that_cross_in_headers_are_no_certain_raters(
    tmp_path: Path, questions: tuple[str, str], option: str
) -> None:
    header = ["id", *(f"{of} {question}" for of in ("before", "after") for question in questions)]
    rows = [[i, *(PEOPLE[i, r] for r in (*RATERS, "anna"))] for i in ITEMS]

    tables = read(tmp_path, "grid.csv", table(header, *rows))

    assert option in [doubt.option for doubt, _ in tables.alternatives]


def test_scores_and_human_are_objects_of_two_owners(tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "scores": {"tone": JUDGE[i], "depth": 6 - JUDGE[i]},
            "scored_by": "gpt-4o",
            "human": {"tone": PEOPLE[i, "anna"], "depth": PEOPLE[i, "ben"]},
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "a.jsonl", lines(rows))

    assert set(tables.scores["judge"]) == {"gpt-4o"}
    assert set(tables.ratings["rater"]) == {"human"}
    assert {of.id for of in tables.questions} == {"tone", "depth"}


def test_review_by_a_person_stands_above_a_list_of_graders(tmp_path: Path) -> None:
    results = [
        {
            "id": i,
            "graders": [
                {"name": "gpt-4o", "pass": JUDGE[i] > 2},
                {"name": "claude-3-opus", "pass": JUDGE[i] > 3},
            ],
            "human_review": {"reviewer": "anna", "pass": PEOPLE[i, "anna"] > 2},
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "run.json", lines([{"name": "run", "results": results}]))

    assert (len(tables.ratings), len(tables.scores)) == (len(ITEMS), 2 * len(ITEMS))


def test_variant_of_a_product_is_no_rater(tmp_path: Path) -> None:
    rows = [[f"u{n}", "AB"[n % 2], PEOPLE[i, "anna"]] for n, i in enumerate(ITEMS)]

    tables = read(tmp_path, "ab.csv", table(["user", "variant", "rating"], *rows))

    assert not {"A", "B"} & set(tables.ratings["rater"])


def test_author_of_a_text_is_no_rater_beside_raters(tmp_path: Path) -> None:
    words = {True: "human", False: "ai"}
    rows = [
        [
            i,
            ("human", "gpt-4")[n % 2],
            n / 37,
            *(words[PEOPLE[i, r] > 2] for r in ("anna", "ben")),
        ]
        for n, i in enumerate(ITEMS)
    ]

    tables = read(
        tmp_path, "a.csv", table(["id", "author", "detector", "rater_1", "rater_2"], *rows)
    )

    assert set(tables.ratings["rater"]) == {"rater_1", "rater_2"}


def test_names_of_people_are_no_ratings(tmp_path: Path) -> None:
    rows = [[i, ("Mia", "Leo")[n % 2], TEXTS[i]] for n, i in enumerate(ITEMS)]

    message = refusal(tmp_path, "a.csv", table(["ticket", "assignee", "text"], *rows))

    assert "no column of ratings is found" in message


@pytest.mark.parametrize("name", ["maria", "r4"])
def test_mean_under_any_name_is_no_rater(tmp_path: Path, name: str) -> None:
    people = [[PEOPLE[i, r] for r in RATERS] for i in ITEMS]
    rows = [[i, *of, round(sum(of) / 3, 3)] for i, of in zip(ITEMS, people, strict=True)]

    tables = read(tmp_path, "a.csv", table(["id", *RATERS, name], *rows))

    assert set(tables.ratings["rater"]) == {*RATERS}


def test_rater_called_max_is_read(tmp_path: Path) -> None:
    rows = [[i, *(PEOPLE[i, r] for r in RATERS)] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "Anna", "Ben", "Max"], *rows))

    assert set(tables.ratings["rater"]) == {"Anna", "Ben", "Max"}


def test_letters_that_do_not_follow_each_other_are_no_certain_raters(tmp_path: Path) -> None:
    rows = [[i, *(PEOPLE[i, r] for r in RATERS)] for i in ITEMS]

    assert "raters or questions" in refusal(tmp_path, "a.csv", table(["id", "V", "A", "D"], *rows))


def test_item_of_ratings_given_once_is_its_id(tmp_path: Path) -> None:
    header = ["ticket_id", "annotator", "channel", "weekday", "rating"]
    rows = [
        [i, RATERS[n % 2], f"channel {n % 5}", f"day {n // 5}", PEOPLE[i, "anna"]]
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert tables.columns["item"] == ("ticket_id",)


@pytest.mark.parametrize(
    "names",
    [["anna", "ben", "kwabena"], ["Mueller", "Okafor", "Lindqvist"], ["Anna", "Ngozi", "Okafor"]],
)
def test_names_that_no_list_holds_are_raters(tmp_path: Path, names: list[str]) -> None:
    rows = [[i, *(PEOPLE[i, r] for r in ("anna", "ben", "cleo")), JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["ticket", *names, "gpt-4o"], *rows))

    assert set(tables.ratings["rater"]) == set(names)
    assert not tables.alternatives


def test_numbers_after_human_and_llm_are_members(tmp_path: Path) -> None:
    names = ["human_1", "human_2", "llm_1", "llm_2"]
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i], 6 - JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", *names], *rows))

    assert set(tables.ratings["rater"]) == {"human_1", "human_2"}
    assert set(tables.scores["judge"]) == {"llm_1", "llm_2"}
    assert len(tables.questions) == 1


@pytest.mark.parametrize("marks", ["✗✓", "❌✅", ("❌ fail", "✅ pass")])
def test_marks_are_ordered(tmp_path: Path, marks: Sequence[str]) -> None:
    rows = [[i, *(marks[PEOPLE[i, r] > 2] for r in ("anna", "ben"))] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["case", "Maria", "Tom"], *rows))

    assert tables.questions[0].scale.words == tuple(marks)


def test_score_of_a_model_stands_beside_its_question(tmp_path: Path) -> None:
    rows = [[i, r, f"{20 * PEOPLE[i, r]}%", f"{20 * JUDGE[i]}%"] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "a.csv", table(["doc", "rater", "relevance", "model_relevance"], *rows))

    assert set(tables.scores["judge"]) == {"model_relevance"}


def test_criteria_of_models_are_questions_to_raters(tmp_path: Path) -> None:
    criteria = ("model_quality", "model_clarity")
    rows = [[i, r, PEOPLE[i, r], 6 - PEOPLE[i, r]] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "a.csv", table(["item", "rater", *criteria], *rows))

    assert [question.id for question in tables.questions] == [*criteria]
    assert set(tables.ratings["rater"]) == set(RATERS)


def test_machine_without_a_name_is_called_by_its_kind(tmp_path: Path) -> None:
    rows = [
        {
            "span_id": i,
            "annotations": [
                {"annotator_kind": "LLM", "score": JUDGE[i], "user_id": None},
                *({"annotator_kind": "HUMAN", "score": PEOPLE[i, r], "user_id": r} for r in RATERS),
            ],
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "spans.jsonl", lines(rows))

    assert set(tables.scores["judge"]) == {"LLM"}
    assert set(tables.ratings["rater"]) == set(RATERS)


def test_person_stands_beside_a_judge_in_a_file_called_like_one(tmp_path: Path) -> None:
    rows = [[i, int(PEOPLE[i, "anna"] > 2), 0.2 * JUDGE[i] - 0.07] for i in ITEMS]

    tables = read(tmp_path, "judge_probs.csv", table(["id", "label", "judge_prob"], *rows))

    assert len(tables.ratings) == len(ITEMS)
    assert set(tables.scores["judge"]) == {"judge_prob"}


def test_sheet_called_like_a_judge_holds_its_scores(tmp_path: Path) -> None:
    people: list[list[Cell]] = [["item", "anna", "ben"]]
    people += [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]
    judge: list[list[Cell]] = [["item", "score"]]
    judge += [[i, JUDGE[i]] for i in ITEMS]
    (tmp_path / "a.xlsx").write_bytes(workbook({"Humans": people, "LLM judge": judge}))

    tables = read_ratings([tmp_path / "a.xlsx"], ReadOptions())

    assert set(tables.ratings["rater"]) == {"anna", "ben"}
    assert set(tables.scores["judge"]) == {"LLM judge"}


def test_flags_of_a_person_and_a_judge_are_verdicts(tmp_path: Path) -> None:
    header = ["trace", "is_made_up_human", "is_made_up_llm"]
    rows = [[i, PEOPLE[i, "anna"] > 2, JUDGE[i] > 2] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert (len(tables.ratings), len(tables.scores)) == (len(ITEMS), len(ITEMS))


def test_numbered_responses_stand_beside_criteria(tmp_path: Path) -> None:
    header = ["response", "criterion", *RATERS]
    rows = [
        [n, criterion, *(PEOPLE[i, r] for r in RATERS)]
        for n, i in enumerate(ITEMS)
        for criterion in ("clarity", "depth")
    ]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert [question.id for question in tables.questions] == ["clarity", "depth"]
    assert len(tables.items) == len(ITEMS)


def test_sentiments_in_short_are_ordered(tmp_path: Path) -> None:
    words = ("neg", "neu", "pos")
    rows = [[i, *(words[PEOPLE[i, r] // 2] for r in ("anna", "ben"))] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "first_annotator", "second_annotator"], *rows))

    assert tables.questions[0].scale.words == words
    assert len(tables.ratings) == 2 * len(ITEMS)


@pytest.mark.parametrize("form", ["wide", "long"])
def test_claude_beside_people_is_read_as_a_judge_and_as_a_person(tmp_path: Path, form: str) -> None:
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i]] for i in ITEMS]
    content = table(["id", "Anna", "Ben", "Claude"], *rows)
    if form == "long":
        names = ("Anna", "Ben", "Claude")
        ratings = [[i, *of] for i, *row in rows for of in zip(names, row, strict=True)]
        content = table(["id", "rater", "score"], *ratings)

    tables = read(tmp_path, "a.csv", content)
    [(_, other)] = tables.alternatives

    assert {len(tables.scores), len(other.scores)} == {0, len(ITEMS)}


@pytest.mark.parametrize("is_number", [True, False])
def test_merged_cells_of_a_spreadsheet_are_filled_down(tmp_path: Path, *, is_number: bool) -> None:
    names = {i: n if is_number else i for n, i in enumerate(ITEMS)}
    rows = [[names[i] if r == "anna" else "", r, PEOPLE[i, r]] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "a.csv", table(["ticket", "rater", "score"], *rows))

    assert len(tables.ratings) == len(PEOPLE)
    assert set(tables.items["item"]) == set(map(str, names.values()))
    assert "blank cells of ticket read as the cell above" in tables.notes


def test_machine_in_rows_of_a_csv_is_called_by_its_kind(tmp_path: Path) -> None:
    rows = [[i, r, "human", PEOPLE[i, r]] for i in ITEMS for r in ("anna", "ben")]
    rows += [[i, "", "llm", JUDGE[i]] for i in ITEMS]
    rows.sort(key=lambda row: (row[0], row[2]))

    tables = read(tmp_path, "a.csv", table(["item", "rater", "kind", "score"], *rows))

    assert set(tables.ratings["rater"]) == {"anna", "ben"}
    assert set(tables.scores["judge"]) == {"llm"}


@pytest.mark.parametrize("name", ["volunteer_hours", "marker_type"])
def test_attribute_called_after_people_is_no_rater(tmp_path: Path, name: str) -> None:
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], 1 + n % 3] for n, i in enumerate(ITEMS)]

    tables = read(tmp_path, "a.csv", table(["item", "anna", "ben", name], *rows))

    assert set(tables.ratings["rater"]) == {"anna", "ben"}


def test_scores_of_every_second_item_are_not_filled_down(tmp_path: Path) -> None:
    scores = [f"{i / 100}" if i % 2 == 0 else "" for i in range(len(ITEMS))]
    rows = [[s, i, *(PEOPLE[i, r] for r in RATERS)] for s, i in zip(scores, ITEMS, strict=True)]

    tables = read(tmp_path, "a.csv", table(["gpt-4o", "id", *RATERS], *rows))

    assert len(tables.scores) == sum(map(bool, scores))


@pytest.mark.parametrize("header", ["模型", "模型名称", "モデル"])
def test_models_that_answered_are_no_judges_in_any_script(tmp_path: Path, header: str) -> None:
    models = ("gpt-4o", "qwen")
    rows = [[i, model, r, v] for (i, r), v in PEOPLE.items() for model in models]

    tables = read(tmp_path, "a.csv", table(["id", header, "标注员", "评分"], *rows))

    assert set(tables.ratings["rater"]) == set(RATERS)
    assert tables.scores.empty


def test_kind_of_a_text_is_no_rater(tmp_path: Path) -> None:
    rows = [
        [i, ("ai", "human")[n % 2], PEOPLE[i, r], r] for n, i in enumerate(ITEMS) for r in RATERS
    ]
    rows[0][3] = ""  # of a text by a machine

    with pytest.raises(ExceptionGroup, match="cannot be used"):
        read(tmp_path, "a.csv", table(["id", "source", "score", "rater"], *rows))


@pytest.mark.parametrize("judge", ["AI評価", "自動評価", "模型评分", "ai_score", "gpt-4o"])
@pytest.mark.parametrize("people", [("田中", "鈴木"), ("reader1", "reader2")])
def test_judge_stands_beside_people_in_any_script(
    tmp_path: Path, people: tuple[str, str], judge: str
) -> None:
    rows = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", *people, judge], *rows))

    assert set(tables.ratings["rater"]) == set(people)
    assert set(tables.scores["judge"]) == {judge}


def test_runs_in_brackets_are_those_of_one_judge(tmp_path: Path) -> None:
    names = [f"gpt-4o (run {run})" for run in (1, 2)]
    rows = [[i, PEOPLE[i, "anna"], JUDGE[i], JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "human", *names], *rows))

    assert set(tables.scores["judge"]) == {"gpt-4o"}
    assert set(tables.scores["run"]) == {"1", "2"}


def test_verdict_of_a_model_with_a_word_of_its_own_names_no_rater(tmp_path: Path) -> None:
    """A column called like a judge holds what it said, although no person said `unclear`."""
    words = ["supported", "refuted", "unclear"]
    rows = [[i, words[n % 3], words[n % 2]] for n, i in enumerate(ITEMS)]

    tables = read(tmp_path, "a.csv", table(["id", "llm_verdict", "anna"], *rows))

    assert set(tables.ratings["rater"]) == {"anna"}
    assert set(tables.scores["judge"]) == {"llm_verdict"}


REPLIES = {
    i: f"It mentions {n * 7} things and is fine.\n\nScore: {JUDGE[i]}" for n, i in enumerate(ITEMS)
}


@pytest.mark.parametrize(
    ("header", "judge"),
    [(["id", "judge_reply"], "judge_reply"), (["id", "judge_model", "raw_output"], "gpt-4o")],
)
def test_replies_of_a_judge_are_their_scores(tmp_path: Path, header: list[str], judge: str) -> None:
    people = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]
    replies = [[i, *["gpt-4o"] * (len(header) - 2), REPLIES[i]] for i in ITEMS]
    replies[0][-1] = "I cannot say."
    (tmp_path / "people.csv").write_text(table(["id", "anna", "ben"], *people))
    (tmp_path / "replies.csv").write_text(table(header, *replies))

    tables = read_ratings(
        [tmp_path / "people.csv", tmp_path / "replies.csv"],
        ReadOptions(),
        score_of=score_of_reply,
    )

    assert set(tables.scores["judge"]) == {judge}
    assert tables.scores["value"].tolist() == [float(JUDGE[i]) for i in ITEMS[1:]]
    assert any("1 reply without one left out" in note for note in tables.notes)


def read_with_replies(
    folder: Path, options: ReadOptions, header: list[str], *rows: Sequence[object]
) -> RatingTables:
    people = [[i, rater, PEOPLE[i, rater]] for i in ITEMS for rater in RATERS]
    (folder / "people.csv").write_text(table(["id", "rater", "score"], *people))
    (folder / "replies.csv").write_text(table(header, *rows))
    return read_ratings(
        [folder / "people.csv", folder / "replies.csv"],
        options,
        score_of=score_of_reply,
    )


MODELS = ("gpt-4o", "judge-wren-mini")
REPLIED = ReadOptions(rating=("raw_output",))


@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(judge=("judge_model",)), REPLIED])
@pytest.mark.parametrize("models", [MODELS[:1], MODELS])
@pytest.mark.parametrize("reply", ["Score: {}", "It mentions: {0}.\nScore: {0}", "{}"])
def test_replies_are_those_of_the_judges_that_a_column_names(
    tmp_path: Path, options: ReadOptions, models: tuple[str, ...], reply: str
) -> None:
    rows = [[i, model, reply.format(JUDGE[i])] for i in ITEMS for model in models]

    tables = read_with_replies(tmp_path, options, ["id", "judge_model", "raw_output"], *rows)

    assert set(tables.ratings["rater"]) == set(RATERS)
    assert set(tables.scores["judge"]) == set(models)
    assert len(tables.scores) == len(rows)
    assert len(tables.questions) == 1


def test_number_in_the_recorded_reply_is_no_second_rating(tmp_path: Path) -> None:
    rows = [
        [i, MODELS[0], JUDGE[i] if k else "", JUDGE[i] if k else 9] for k, i in enumerate(ITEMS)
    ]

    tables = read_with_replies(
        tmp_path, ReadOptions(), ["id", "judge_model", "score", "raw_output"], *rows
    )

    assert len(tables.questions) == 1
    assert len(tables.scores) == len(ITEMS) - 1


@pytest.mark.parametrize("column", ["rater", "worker"])
def test_option_names_the_column_of_raters_beside_ratings(tmp_path: Path, column: str) -> None:
    rows = [[i, rater, PEOPLE[i, rater]] for i in ITEMS for rater in RATERS]
    (tmp_path / "a.csv").write_text(table(["id", column, "score"], *rows))

    tables = read_ratings([tmp_path / "a.csv"], ReadOptions(rater=(column,)))

    assert set(tables.ratings["rater"]) == set(RATERS)


def test_rated_text_that_states_a_score_is_no_reply_of_a_judge(tmp_path: Path) -> None:
    rows = [[i, REPLIES[i], PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]
    (tmp_path / "a.csv").write_text(table(["id", "response", "anna", "ben"], *rows))

    tables = read_ratings(
        [tmp_path / "a.csv"],
        ReadOptions(),
        score_of=score_of_reply,
    )

    assert not len(tables.scores)


@pytest.mark.parametrize(
    ("options", "n_scores"),
    [
        (ReadOptions(ignore=("raw_output",)), 0),
        (ReadOptions(judge=("raw_output",)), len(ITEMS)),
        (ReadOptions(scale=Scale.parse("1-10")), len(ITEMS)),
    ],
)
def test_options_name_the_column_of_replies(
    tmp_path: Path, options: ReadOptions, n_scores: int
) -> None:
    people = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]
    replies = [[i, "gpt-4o", REPLIES[i]] for i in ITEMS]
    (tmp_path / "people.csv").write_text(table(["id", "anna", "ben"], *people))
    (tmp_path / "replies.csv").write_text(table(["id", "judge_model", "raw_output"], *replies))

    tables = read_ratings(
        [tmp_path / "people.csv", tmp_path / "replies.csv"],
        options,
        score_of=score_of_reply,
    )

    assert len(tables.scores) == n_scores


GRADES = ("mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut")
CODES = ("A1", "A2", "A3", "A4", "A5")


@pytest.mark.parametrize(
    ("header", "names", "words"),
    [
        (["Aufsatz", "Prüfer", "Note"], ("Frau Weber", "Herr Koch"), GRADES),
        (["text", "rater", "level"], ("A1", "A2"), CODES),
    ],
)
def test_words_of_a_known_order_are_ratings_whatever_the_header(
    tmp_path: Path, header: list[str], names: tuple[str, str], words: tuple[str, ...]
) -> None:
    rows = [
        [i, n, words[PEOPLE[i, r] - 1]] for i in ITEMS for n, r in zip(names, RATERS, strict=False)
    ]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert set(tables.ratings["rater"]) == set(names)
    assert tables.questions[0].scale.words == words


def test_codes_of_answers_are_no_raters(tmp_path: Path) -> None:
    header = [
        "id",
        "submitdate",
        "lastpage",
        "startlanguage",
        *(f"G1Q1[SQ{n:03}]" for n in range(1, 11)),
    ]
    codes = ["3414252", "3323343", "2332323", "4445434", "3342445", "2433252", "1112221"]
    codes += ["1223132", "3241345", "4233415"]
    rows = [
        [r + 1, f"2026-01-0{r + 1} 10:00:00", 3, "en", *(f"A{of[r]}" for of in codes)]
        for r in range(7)
    ]

    tables = read(tmp_path, "survey.csv", table(header, *rows))

    assert (tables.ratings["rater"].nunique(), len(tables.items)) == (7, 10)


@pytest.mark.parametrize("people", [("Anna's verdict", "Ben's verdict"), ("anna_verdict",)])
def test_verdict_of_a_named_person_is_no_judges(tmp_path: Path, people: Sequence[str]) -> None:
    words = ("Fail", "Pass")
    rows = [
        [i, *(words[PEOPLE[i, r] > 2] for r in RATERS[: len(people)]), words[JUDGE[i] > 2]]
        for i in ITEMS
    ]

    tables = read(tmp_path, "a.csv", table(["Name", *people, "LLM verdict"], *rows))

    assert tables.ratings["rater"].nunique() == len(people)
    assert set(tables.scores["judge"]) == {"LLM verdict"}


@pytest.mark.parametrize("judge", ["model_grader", "model_prob", "Modell-Score"])
def test_score_of_a_model_is_a_judges_in_rows_and_columns(tmp_path: Path, judge: str) -> None:
    wide = [[i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i]] for i in ITEMS]
    long = [[i, r, PEOPLE[i, r], JUDGE[i]] for i in ITEMS for r in RATERS]

    for header, rows in ((["doc", "anna", "ben"], wide), (["doc", "worker", "toxic"], long)):
        tables = read(tmp_path, "a.csv", table([*header, judge], *rows))

        assert set(tables.scores["judge"]) == {judge}


@pytest.mark.parametrize("creators", [{}, {"creator": "svc-7"}])
def test_feedback_of_the_type_of_a_program_is_a_judges(
    tmp_path: Path, creators: dict[str, str]
) -> None:
    def feedback(item: str) -> list[dict[str, object]]:
        program = {"feedback_type": "wandb.runnable.quality", "payload": {"score": JUDGE[item]}}
        people: list[dict[str, object]] = [
            {"feedback_type": "wandb.annotation.quality", "creator": r, "payload": {"score": v}}
            for r in RATERS
            if creators and (v := PEOPLE[item, r])
        ]
        reaction: dict[str, object] = {"feedback_type": "wandb.reaction.1", "emoji": "+"}
        return [*(people or [reaction]), {**program, **creators}]

    records = [{"id": i, "output": TEXTS[i], "feedback": feedback(i)} for i in ITEMS]

    tables = read(tmp_path, "calls.jsonl", lines(records))

    assert set(tables.ratings["rater"]) == (set(RATERS) if creators else set())
    assert tables.scores["judge"].nunique() == 1
    assert len(tables.scores) == len(ITEMS)


def test_keys_with_dots_say_whose_a_rating_is(tmp_path: Path) -> None:
    keys = [f"feedback.wandb.{of}.payload.value" for of in ("annotation.tone", "runnable.tone")]
    records = [
        {"id": i, **dict(zip(keys, (PEOPLE[i, "anna"], JUDGE[i]), strict=True))} for i in ITEMS
    ]

    tables = read(tmp_path, "calls.jsonl", lines(records))

    assert set(tables.scores["judge"]) == {keys[1]}
    assert len(tables.ratings) == len(ITEMS)


@pytest.mark.parametrize(
    ("columns", "people", "judges", "option"),
    [
        # What customers gave is nobody's among reviewers.
        ("reviewer_1 reviewer_2 csat", "reviewer_1 reviewer_2", "", "--rater reviewer_1,"),
        ("John Mary Claude", "John Mary", "Claude", "--rater John,"),
        ("label_John label_Mary label_Claude", "John Mary", "label_Claude", "--rater label_John,"),
        ("Rater Judge", "Rater", "Judge", None),
        ("anna ben model", "anna ben", "model", "--model model"),
        ("J K L bot", "J K L", "bot", "--model bot"),
        ("expert novice_1 novice_2 gpt-4o", "expert novice_1 novice_2", "gpt-4o", None),
        ("human_1_score human_2_score llm", "human_1_score human_2_score", "llm", None),
        ("r1_tone r1_depth r2_tone r2_depth m_tone m_depth", "r1 r2 m", "", "--judge m"),
        ("judge_score", "", "judge_score", None),
    ],
)
def test_sheets_of_a_team_say_who_rated(
    tmp_path: Path, columns: str, people: str, judges: str, option: str | None
) -> None:
    header = columns.split()
    rows = [[i, *(1 + (n * k + n % 3) % 5 for k in range(1, 1 + len(header)))] for n, i in FEW]
    if not people:  # who looked at the judge's scores gave none
        header, rows = [*header, "reviewed_by"], [[*row, "anna"] for row in rows]

    tables = read(tmp_path, "sheet.csv", table(["item", *header], *rows))

    assert set(tables.ratings["rater"]) == {*people.split()}
    assert set(tables.scores["judge"]) == {*judges.split()}
    assert [doubt.option.startswith(option) for doubt in tables.doubts if option] == (
        [True] if option else []
    )


def test_field_with_names_tells_the_raters_of_a_list(tmp_path: Path) -> None:
    records = [
        {"id": i, "evals": [{"by": r, "score": PEOPLE[i, r]} for r in RATERS[:2]]} for i in ITEMS
    ]
    for record, i in zip(records, ITEMS, strict=True):
        record["evals"] = [*record["evals"], {"by": "gpt-4o", "score": JUDGE[i]}]

    tables = read(tmp_path, "a.jsonl", lines(records))

    assert set(tables.ratings["rater"]) == set(RATERS[:2])
    assert set(tables.scores["judge"]) == {"gpt-4o"}


def test_scores_of_a_judge_that_differ_within_an_item_are_no_question(tmp_path: Path) -> None:
    rows = [
        [i, r, PEOPLE[i, r], (n * k + n % 3) % 5 + 1] for n, i in FEW for k, r in enumerate(RATERS)
    ]

    tables = read(tmp_path, "a.csv", table(["item", "rater", "tone", "judge_tone"], *rows))

    assert [question.id for question in tables.questions] == ["tone"]
    assert any("judge_tone" in note for note in tables.notes)


@pytest.mark.parametrize(
    ("header", "low", "high", "scale"),
    [
        (["Anna (1-5)", "Ben (1-5)", "gpt-4o (1-5)"], 2, 4, (1, 5)),
        (["human [0-10]", "llm [0-10]"], 3, 8, (0, 10)),
        (["human", "gpt-4o"], 2, 4, (1, 5)),  # the judge gave 1 and 5
    ],
)
def test_scale_is_that_of_the_headers_or_holds_the_judges_scores(
    tmp_path: Path, header: list[str], low: int, high: int, scale: tuple[int, int]
) -> None:
    rows = [
        [i, *(low + (n + k) % (high - low + 1) for k in range(len(header) - 1)), JUDGE[i]]
        for n, i in FEW
    ]

    tables = read(tmp_path, "a.csv", table(["item", *header], *rows))

    assert (tables.questions[0].scale.low, tables.questions[0].scale.high) == scale
    assert len(tables.scores) == len(ITEMS)
    assert not tables.doubts


def test_words_of_which_one_means_no_are_a_scale(tmp_path: Path) -> None:
    rows = [[i, *(("falsch", "stimmt")[(n + k) % 3 > 0] for k in range(2))] for n, i in FEW]

    tables = read(tmp_path, "a.csv", table(["item", "anna", "ben"], *rows))

    assert set(tables.questions[0].scale.words or ()) == {"falsch", "stimmt"}


@pytest.mark.parametrize("judge", ["llm", "e-rater", "gpt-4o"])
def test_rows_of_an_item_and_a_trait_have_a_column_for_each_rater(
    tmp_path: Path, judge: str
) -> None:
    traits = ("org", "gram", "dev")
    rows = [
        [i, trait, *(1 + (n * k + n % 4 + j) % 5 for k in range(1, 4))]
        for n, i in FEW
        for j, trait in enumerate(traits)
    ]

    tables = read(tmp_path, "a.csv", table(["essay", "trait", "human1", "human2", judge], *rows))

    assert set(tables.ratings["rater"]) == {"human1", "human2"}
    assert set(tables.scores["judge"]) == {judge}
    assert len(tables.scores) == len(rows)


def test_objects_with_a_person_and_a_judge_are_no_runs(tmp_path: Path) -> None:
    records = [
        {
            "id": i,
            "scores": [
                {"criterion": of, "human": PEOPLE[i, r], "llm": JUDGE[i]}
                for of, r in (("tone", "anna"), ("depth", "ben"))
            ],
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "a.jsonl", lines(records))

    assert {question.id for question in tables.questions} == {"tone", "depth"}
    assert set(tables.ratings["rater"]) == {"human"}
    assert set(tables.scores["judge"]) == {"llm"}


def test_headers_that_share_a_word_of_judges_may_be_of_people(tmp_path: Path) -> None:
    rows = [[i, *(("no", "yes")[(n + k) % 3 > 0] for k in range(3))] for n, i in FEW]
    header = ["claim", "Verdict (FC1)", "Verdict (FC2)", "Verdict (LLM)"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert set(tables.ratings["rater"]) == {"Verdict (FC1)", "Verdict (FC2)"}
    assert set(tables.scores["judge"]) == {"Verdict (LLM)"}


def test_scores_on_another_scale_in_the_next_column_repeat_them(tmp_path: Path) -> None:
    rows = [
        [i, *(v := [PEOPLE[i, r] for r in RATERS[:2]]), *((x - 1) / 4 for x in v)] for i in ITEMS
    ]
    header = ["id", "anna_overall", "ben_overall", "anna_overall_norm", "ben_overall_norm"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert len(tables.questions) == 1
    assert tables.not_read["a.csv:ben_overall_norm"].text == "repeats ben_overall"


@pytest.mark.parametrize("separator", [";", "|", ", "])
def test_ratings_in_one_cell_are_those_of_several_raters(tmp_path: Path, separator: str) -> None:
    rows = [[i, separator.join(str(PEOPLE[i, r]) for r in RATERS), JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "annotations", "gpt_annotation"], *rows))

    assert len(tables.ratings) == len(ITEMS) * len(RATERS)
    assert set(tables.scores["judge"]) == {"gpt_annotation"}


def test_lists_of_two_models_are_those_of_two_judges(tmp_path: Path) -> None:
    records = [
        {"id": i, "human_anna": PEOPLE[i, "anna"], "human_ben": PEOPLE[i, "ben"]}
        | {judge: [JUDGE[i], 3, 2] for judge in ("gpt4_score", "claude-3-opus")}
        for i in ITEMS
    ]

    tables = read(tmp_path, "a.jsonl", lines(records))

    assert set(tables.scores["judge"]) == {"gpt4_score", "claude-3-opus"}
    assert len(tables.ratings) == 2 * len(ITEMS)


@pytest.mark.parametrize("kinds", [("physician", "LLM"), ("person", "model")])
def test_role_of_a_rater_tells_machines(tmp_path: Path, kinds: tuple[str, str]) -> None:
    rows = [
        [i, name, kind, 1 + (n * k + n % 3) % 5]
        for n, i in FEW
        for k, (name, kind) in enumerate((("e01", kinds[0]), ("e02", kinds[0]), ("g4", kinds[1])))
    ]

    tables = read(
        tmp_path, "a.csv", table(["case", "evaluator_id", "evaluator_role", "score"], *rows)
    )

    assert set(tables.ratings["rater"]) == {"e01", "e02"}
    assert set(tables.scores["judge"]) == {"g4"}


def test_flag_of_a_person_stands_beside_that_of_a_judge(tmp_path: Path) -> None:
    rows = [[i, n % 3 > 0, n % 4 > 0] for n, i in FEW]

    tables = read(tmp_path, "a.csv", table(["request", "is_correct", "is_correct_llm"], *rows))

    assert len(tables.ratings) == len(tables.scores) == len(ITEMS)


def test_names_of_objects_with_a_person_and_a_judge_are_questions(tmp_path: Path) -> None:
    checks = {"cites_source": "anna", "polite": "ben"}
    records = [
        {
            "id": i,
            "checks": {
                of: {"human": PEOPLE[i, r] > 2, "judge": JUDGE[i] > 2} for of, r in checks.items()
            },
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "a.jsonl", lines(records))

    assert {question.id for question in tables.questions} == {*checks}
    assert len(tables.items) == len(ITEMS)


def test_mean_of_people_that_is_all_there_is_of_them_is_named(tmp_path: Path) -> None:
    rows = [[i, PEOPLE[i, "anna"] / 2, JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "human_mean", "gpt-4o"], *rows))

    assert any("human_mean" in note for note in tables.notes)


@pytest.mark.parametrize(
    ("header", "of_person", "of_machine"),
    [
        ("is_human", "True", "False"),
        ("human", "yes", "no"),
        ("automated", "0", "1"),
        ("rater_model", "", "gpt-4o"),
    ],
)
def test_column_beside_the_raters_tells_a_machine(
    tmp_path: Path, header: str, of_person: str, of_machine: str
) -> None:
    rows = [
        [i, rater, of_machine if rater == "u3" else of_person, 1 + (n * k + n % 3) % 5]
        for n, i in FEW
        for k, rater in enumerate(("u1", "u2", "u3"))
    ]

    tables = read(tmp_path, "a.csv", table(["item", "rater", header, "score"], *rows))

    assert set(tables.ratings["rater"]) == {"u1", "u2"}
    assert set(tables.scores["judge"]) == {"u3"}


@pytest.mark.parametrize(
    "model", ["\uff27\uff30\uff34-4o", "g\u0440t-4o", "zephyr", "Nemotron", "robot"]
)
def test_models_in_other_letters_or_of_less_known_names_are_judges(
    tmp_path: Path, model: str
) -> None:
    names = ("anna", "ben", model)
    rows = [[i, r, 1 + (n * k + n % 3) % 5] for n, i in FEW for k, r in enumerate(names)]

    tables = read(tmp_path, "a.csv", table(["item", "rater", "score"], *rows))

    assert set(tables.scores["judge"]) == {model}


def test_column_that_is_ignored_has_no_role(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(table(["item", "anna", "gpt-4o"], *([i, 1, 2] for i in ITEMS)))

    with pytest.raises(ExceptionGroup) as raised:
        read_ratings([tmp_path / "a.csv"], ReadOptions(judge=("gpt-4o",), ignore=("gpt-4o",)))

    [error] = leaves(raised.value)
    assert "another option gives it a role" in str(error)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_judge_that_always_says_what_people_say_repeats_nothing(
    tmp_path: Path, *, is_reversed: bool
) -> None:
    rows = [[i, JUDGE[i], 6 - JUDGE[i] if is_reversed else JUDGE[i]] for i in ITEMS]

    tables = read(tmp_path, "a.csv", table(["id", "score", "score_llm"], *rows))

    assert set(tables.scores["judge"]) == {"score_llm"}


def test_columns_of_phoenix_without_a_span_are_a_table(tmp_path: Path) -> None:
    rows = [
        [i, kind, "pass" if value > 2 else "fail"]
        for n, i in FEW
        for kind, value in (("HUMAN", n % 5), ("LLM", n % 4))
    ]

    tables = read(tmp_path, "a.csv", table(["id", "annotator_kind", "label"], *rows))

    assert len(tables.ratings) == len(tables.scores) == len(ITEMS)


def test_seeds_of_a_judge_are_its_runs(tmp_path: Path) -> None:
    header = ["prompt_id", "judge_model", "seed", "judge_score", "human_score"]
    rows = [
        [i, model, seed, 1 + (JUDGE[i] + seed) % 5, PEOPLE[i, "anna"]]
        for i in ITEMS
        for model in ("gpt-4o", "claude-sonnet-4")
        for seed in (1, 2, 3)
    ]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert len(tables.items) == len(tables.ratings) == len(ITEMS)
    assert set(tables.scores["judge"]) == {"gpt-4o", "claude-sonnet-4"}


def test_words_that_a_judge_gives_too_are_ratings_under_any_name(tmp_path: Path) -> None:
    words = ("safe", "harassment", "violence")
    rows = [[i, *(words[(PEOPLE[i, r] + n) % 3] for n, r in enumerate(RATERS))] for i in ITEMS]

    header = ["id", "policy_expert", "trust_and_safety", "llamaguard"]
    tables = read(tmp_path, "a.csv", table(header, *rows))
    [(_, other)] = tables.alternatives

    assert {len(tables.ratings), len(other.ratings)} == {len(ITEMS), 2 * len(ITEMS)}


def test_annotations_of_phoenix_are_of_the_span_in_their_context(tmp_path: Path) -> None:
    header = ["context.span_id", "name", "annotation_name", "annotator_kind", "result.score"]
    rows = [
        [i, "llm", "correctness", kind, int(value > 2)]
        for i in ITEMS
        for kind, value in (("HUMAN", PEOPLE[i, "anna"]), ("LLM", JUDGE[i]))
    ]

    tables = read(tmp_path, "spans.csv", table(header, *rows))

    assert [of.id for of in tables.questions] == ["correctness"]
    assert (len(tables.ratings), len(tables.scores)) == (len(ITEMS), len(ITEMS))


def test_words_below_a_question_name_its_answers(tmp_path: Path) -> None:
    words = ("Very bad", "Bad", "OK", "Good", "Very good")
    header = ["Respondent ID", "Start Date", "Please rate each reply", *[""] * 9]
    below = ["", "", *(f"Reply {n}" for n in range(1, 11))]
    rows = [
        [1000 + r, "01/02/2026", *(words[(n * n + n * r + r) % 5] for n in range(1, 11))]
        for r in range(15)
    ]

    tables = read(tmp_path, "answers.csv", table(header, below, *rows))

    assert tables.ratings["rater"].nunique() == 15
    assert len(tables.items) == 10


def test_rewards_of_two_responses_are_no_ratings(tmp_path: Path) -> None:
    header = ["id", "chosen", "rejected", "scores_chosen", "scores_rejected"]
    rows = [[n, f"{TEXTS[i]} c", TEXTS[i], 0.3 * n, 0.1 * n] for n, i in enumerate(ITEMS)]

    assert "of responses, and not of raters" in refusal(tmp_path, "a.csv", table(header, *rows))


def test_decimals_of_an_open_name_are_no_ratings(tmp_path: Path) -> None:
    rows = [{"uid": i, "text": TEXTS[i], "entropy": 0.3 + n / 100} for n, i in enumerate(ITEMS)]

    assert "--rating entropy" in refusal(tmp_path, "a.jsonl", lines(rows))


def test_author_of_one_text_is_the_items_beside_its_raters(tmp_path: Path) -> None:
    rows = [
        [TEXTS[i], i, f"user_{i}", n * 7 % 40 + k, int(PEOPLE[i, r] > 2), int(PEOPLE[i, r] > 3)]
        for n, i in FEW
        for k, r in enumerate(RATERS)
    ]
    header = ["text", "id", "author", "rater_id", "joy", "love"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert tables.columns["rater"] == ("rater_id",)
    assert len(tables.items) == len(ITEMS)


def test_time_of_a_rating_is_no_item_and_what_ratings_share_says_nothing(tmp_path: Path) -> None:
    header = ["email", "trial_id", "rating_stimulus", "rating_score", "rating_time"]
    rows = [
        [f"{r}@x.org", f"trial_{n // 6}", f"C{n % 6}", PEOPLE[i, r] * 20, 30_000 + 91 * n + k]
        for n, i in FEW
        for k, r in enumerate(RATERS)
    ]

    tables = read(tmp_path, "mushra.csv", table(header, *rows))

    assert {*tables.columns["item"]} == {"trial_id", "rating_stimulus"}
    assert [of.id for of in tables.questions] == ["rating_score"]


def test_keys_of_raters_in_a_list_are_no_questions(tmp_path: Path) -> None:
    def sentence(n: int) -> dict[str, object]:
        errors = ("NoE", "EntE", "OutE")
        return {f"annotator_{k}": [errors[(n + n * k // 3) % 3]] for k in range(3)}

    documents = [
        {
            "hash": i,
            "sentences": [TEXTS[i], f"{TEXTS[i]} too"],
            "annotations": [sentence(n), sentence(n + 1)],
        }
        for n, i in FEW
    ]

    tables = read(tmp_path, "a.json", json.dumps(documents))

    assert set(tables.ratings["rater"]) == {f"annotator_{k}" for k in range(3)}
    assert len(tables.items) == 2 * len(ITEMS)


def test_rating_of_a_text_is_not_that_of_raters_listed_by_class(tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "stars": 1 + n % 5,
            "by_class": {
                "good": [f"w{(n + k) % 20}" for k in range(1 + n % 3)],
                "bad": [f"w{(n + k) % 20}" for k in range(3, 6 - n % 3)],
            },
        }
        for n, i in FEW
    ]

    tables = read(tmp_path, "a.jsonl", lines(rows))

    assert set(tables.ratings["rater"]) == {"(not named)"}


def test_criteria_as_keys_of_peoples_lists_are_those_of_judges(tmp_path: Path) -> None:
    instances = [
        {
            "id": n,
            "annotations": {
                of: {"individual_human_scores": [PEOPLE[i, r] for r in RATERS]}
                for of in ("coherence", "fluency")
            },
            "GPT-4o": {"coherence": [JUDGE[i]], "fluency": [6 - JUDGE[i]]},
        }
        for n, i in FEW
    ]

    tables = read(tmp_path, "a.json", json.dumps({"instances": instances}))

    assert set(tables.ratings["question"]) == set(tables.scores["question"])
    assert len(tables.scores) == 2 * len(ITEMS) == 2 * len(tables.items)
    assert not tables.notes


def test_lists_of_ratings_of_systems_are_items(tmp_path: Path) -> None:
    systems = {"DALLE_3": 0, "Midjourney_6": 1}
    document = {
        i: {
            "prompt": TEXTS[i],
            "models": {s: [1 + (PEOPLE[i, r] + k) % 5 for r in RATERS] for s, k in systems.items()},
        }
        for i in ITEMS
    }

    tables = read(tmp_path, "a.json", json.dumps(document))

    assert (len(tables.items), len(tables.questions)) == (2 * len(ITEMS), 1)


def test_number_of_a_review_is_no_rating(tmp_path: Path) -> None:
    rows = [[n, r, k, PEOPLE[i, r] - 3] for n, i in FEW for k, r in enumerate(RATERS, 1)]

    header = ["paper", "member name", "nth", "total score"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert [of.id for of in tables.questions] == ["total score"]


def test_decisions_within_a_note_are_read_by_name(tmp_path: Path) -> None:
    words = ("Excluded", "Maybe", "Included")
    rows = []
    for n, i in FEW:
        pairs = (f'"{r}"=>"{words[PEOPLE[i, r] % 3]}"' for r in RATERS)
        rows.append([i, 1 + n % 4, f"RAYYAN-INCLUSION: {{{', '.join(pairs)}}} | RAYYAN-LABELS: a"])

    tables = read(tmp_path, "articles.csv", table(["key", "issue", "notes"], *rows))

    assert set(tables.ratings["rater"]) == set(RATERS)
    assert len(tables.ratings) == 3 * len(ITEMS)


def test_column_that_only_its_values_call_ratings_is_noted(tmp_path: Path) -> None:
    rows = [[i, TEXTS[i], 1 + n % 4] for n, i in FEW]

    tables = read(tmp_path, "a.csv", table(["key", "abstract", "issue"], *rows))

    assert Doubt(("issue",), "only its values say that issue holds ratings") in tables.doubts


def test_ratings_of_criteria_in_a_deeper_list_count_and_not_their_mean(tmp_path: Path) -> None:
    rows = [
        {
            "instruction": TEXTS[i],
            "completions": [
                {
                    "model": of,
                    "fine-grained_score": PEOPLE[i, "anna"],
                    "annotations": {
                        k: {"Rating": str(PEOPLE[i, "ben"])} for k in ("helpfulness", "honesty")
                    },
                }
                for of in ("alpaca", "starchat")
            ],
        }
        for i in ITEMS
    ]

    tables = read(tmp_path, "a.jsonl", lines(rows))

    assert {of.id for of in tables.questions} == {"helpfulness", "honesty"}


def test_words_of_an_order_beside_a_column_called_rating_are_ratings(tmp_path: Path) -> None:
    words = ("negative", "neutral", "positive")
    rows = [
        [i, r, PEOPLE[i, r], words[PEOPLE[i, r] // 2], k * 3 + n % 2]
        for n, i in FEW
        for k, r in enumerate(RATERS)
    ]
    header = ["item", "rater", "rating", "sentiment", "nps"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert {of.id for of in tables.questions} == {"rating", "sentiment"}
    assert "not read: nps, beside the rating" in tables.notes[0]


def test_scale_of_unordered_words_holds_for_all_questions(tmp_path: Path) -> None:
    words = ("No", "Unsure", "Yes")
    rows = [
        [i, r, words[PEOPLE[i, r] % 3], words[PEOPLE[i, r] // 2]] for i in ITEMS for r in RATERS
    ]
    content = table(["item", "rater", "Q1_evaluation", "Q2_harmful"], *rows)
    path = tmp_path / "a.csv"
    path.write_text(content)

    tables = read_ratings([path], ReadOptions(scale=Scale.from_words(*words)))

    assert len(tables.questions) == 2


SURVEY = ("CASE", "QUESTNNR", *(f"A101_{k:02}" for k in range(1, 9)), "SUM", "LASTPAGE", "FINISHED")


def test_remedy_for_a_survey_without_names_works(tmp_path: Path) -> None:
    ratings = [[PEOPLE[i, r] for i in ITEMS[k : k + 8]] for r in RATERS for k in (0, 3, 6, 9)]
    rows = [[50 + n, "qnr2", *of, sum(of), 8, 1] for n, of in enumerate(ratings)]
    content = table(SURVEY, *rows)

    text = refusal(tmp_path, "survey.csv", content)
    tables = read_ratings([tmp_path / "survey.csv"], ReadOptions(rater=("CASE",)))

    assert "if each row is a rater, --rater CASE" in text
    assert (len(tables.items), tables.ratings["rater"].nunique()) == (8, 12)


def test_threshold_of_a_programs_score_is_no_persons_label(tmp_path: Path) -> None:
    shares = {i: n * 7 % 24 / 24 + 0.01 for n, i in FEW}
    rows = [
        [i, int(PEOPLE[i, "anna"] > 2), shares[i], int(shares[i] > 0.5), shares[i] / 2, int(n % 2)]
        for n, i in FEW
    ]
    header = ["id", "label", "DAE_score", "DAE_label", "human_score", "human_label"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert set(tables.scores["judge"]) == {"DAE_label"}


def test_numbered_raters_with_an_accent_stand_above_questions(tmp_path: Path) -> None:
    raters = ("\u00c9valuateur 1", "\u00c9valuateur 2")
    header: list[Cell] = ["Candidat", raters[0], None, None, raters[1], None, None]
    below: list[Cell] = [None, *("Fond", "Forme", "Oral") * 2]
    rows: list[list[Cell]] = [
        [i, *(PEOPLE[i, r] + k for r in ("anna", "ben") for k in range(3))] for i in ITEMS
    ]
    path = tmp_path / "grille.xlsx"
    path.write_bytes(workbook({"Jury": [header, below, *rows]}))

    tables = read_ratings([path], ReadOptions())

    assert set(tables.ratings["rater"]) == {*raters}


def test_flags_on_which_raters_differ_are_noted(tmp_path: Path) -> None:
    rows = [[i, r, PEOPLE[i, r], PEOPLE[i, r] > 3] for i in ITEMS for r in RATERS]
    header = ["comment_id", "worker_id", "toxic_score", "is_insult"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert any("is_insult" in note for note in tables.notes)


def test_flag_that_is_all_that_raters_gave_is_read(tmp_path: Path) -> None:
    rows = [[i, r, PEOPLE[i, r] > 3] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "a.csv", table(["summary_id", "worker_id", "is_factual"], *rows))

    assert (len(tables.ratings), tables.notes) == (len(rows), ())


def test_model_of_an_evaluation_is_the_judge(tmp_path: Path) -> None:
    config = {"mode": "score", "eval_model": "gpt-4o-2024-05-13"}
    rows = [{"id": i, "eval_config": config, "score": str(JUDGE[i])} for i in ITEMS]

    tables = read(tmp_path, "a.json", json.dumps(rows))

    assert set(tables.scores["judge"]) == {"gpt-4o-2024-05-13"}


def test_listener_rates_and_a_page_does_not(tmp_path: Path) -> None:
    rows = [
        [i, PEOPLE[i, r], f"p{n // 3 + 24 * k:03}", f"L{k}"]
        for n, i in FEW
        for k, r in enumerate(RATERS)
    ]
    header = ["utteranceId", "choice", "testpageId", "listenerId"]

    tables = read(tmp_path, "a.csv", table(header, *rows))

    assert tables.columns["rater"] == ("listenerId",)


def test_number_only_where_nobody_rated_is_no_counter(tmp_path: Path) -> None:
    rows = [[i, r, PEOPLE[i, r], ""] for i in ITEMS for r in RATERS]
    header = ["item", "rater", "score", "weight"]

    tables = read(tmp_path, "a.csv", table(header, *rows, *(["t0", "", "", k] for k in (2, 3, 4))))

    assert len(tables.ratings) == len(rows)


def test_numbers_of_classes_are_no_scale(tmp_path: Path) -> None:
    classes = ("bird", "cat", "deer", "dog", "frog", "horse")
    rows = [[i, r, classes[v - 1], v - 1] for (i, r), v in PEOPLE.items()]

    result = read(tmp_path, "r.csv", table(["image", "annotator", "chosen", "chosen_label"], *rows))

    assert {*result.ratings["question"]} == {"chosen"}
    assert result.questions[0].level == "nominal"


def test_words_of_numbers_beside_them_are_no_second_question(tmp_path: Path) -> None:
    words = ("Strong Reject", "Reject", "Borderline", "Accept", "Strong Accept")
    rows = [[i, n, r, words[v - 1], v] for n, ((i, r), v) in enumerate(PEOPLE.items())]
    header = ["paper", "review", "reviewer", "Recommendation", "Recommendation (value)"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert {*result.ratings["question"]} == {"Recommendation (value)"}


@pytest.mark.parametrize(
    ("name", "weights"),
    [("change", (-1, 1, 0)), ("figure", (1, 1, 0)), ("score", (12.5, 12.5, -25))],
)
def test_figures_of_ratings_are_no_further_question(
    tmp_path: Path, name: str, weights: tuple[float, float, float]
) -> None:
    pairs = {key: (v, 6 - v % 4) for key, v in PEOPLE.items()}
    first, last, constant = weights
    rows = [[*key, a, b, first * a + last * b + constant] for key, (a, b) in pairs.items()]

    result = read(tmp_path, "r.csv", table(["claim", "worker", "before", "after", name], *rows))

    assert {*result.ratings["question"]} == {"before", "after"}
    assert f"not read: {name}, computed from before, after" in result.notes


def test_rest_of_a_share_is_no_second_question(tmp_path: Path) -> None:
    rows = [[i, r, v % 3 / 2, 1 - v % 3 / 2] for (i, r), v in PEOPLE.items()]

    result = read(tmp_path, "r.csv", table(["pair", "user", "label_0", "label_1"], *rows))

    assert {*result.ratings["question"]} == {"label_0"}


def test_numbers_that_never_repeat_within_items_are_those_of_raters(tmp_path: Path) -> None:
    clips = [f"{k}_HI" if k % 2 else f"{k}_LO" for k in range(1000, 1024)]
    rows = [
        [clip, 3 * s + 1, n, k % 2, "ADFH"[(k * s + k) % 4], clip[-2:]]
        for s in range(12)
        for n, (k, clip) in enumerate(((k, c) for k, c in enumerate(clips) if (k + s) % 3), 1)
    ]

    header = ["clipName", "localid", "questNum", "numTries", "resp", "disp"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert (result.ratings["rater"].nunique(), result.ratings["item"].nunique()) == (12, 24)
    assert {*result.ratings["question"]} == {"resp"}


def test_names_of_reviewers_are_theirs_beside_the_number_of_the_review(tmp_path: Path) -> None:
    rows = [[i, n % 3 + 1, r, v] for n, ((i, r), v) in enumerate(PEOPLE.items())]
    header = ["Paper", "Reviewer Number", "Reviewer Name", "Relevance"]

    assert {*read(tmp_path, "r.csv", table(header, *rows)).ratings["rater"]} == {*RATERS}


def test_two_columns_name_raters_of_two_kinds(tmp_path: Path) -> None:
    rows = [
        [f"{i}{r}", i, "" if r == "cleo" else r, "u7" * (r == "cleo"), v]
        for (i, r), v in PEOPLE.items()
    ]
    header = ["feedback_id", "message_id", "from_account_name", "from_user_id", "rating"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert {*result.ratings["rater"]} == {"anna", "ben", "u7"}
    assert len(result.ratings) == len(PEOPLE)


def test_blank_ids_beside_the_id_of_each_row_are_no_merged_cells(tmp_path: Path) -> None:
    rows = [
        [f"acl{n}", f"acl{n - 1}" if n % 3 == 0 else "", RATERS[n % 3], ("hate", "fine")[n % 2]]
        for n in range(60)
    ]

    result = read(tmp_path, "r.csv", table(["acl.id", "matched_id", "annotator", "label"], *rows))

    assert result.ratings["item"].nunique() == len(rows)


def test_records_by_id_in_parts_of_a_document_are_items(tmp_path: Path) -> None:
    parts = {
        part: {f"{part}-{i}": {"scores": [PEOPLE[i, r] for r in RATERS]} for i in ITEMS}
        for part in ("train", "test")
    }

    result = read(tmp_path, "r.json", json.dumps(parts))

    assert result.ratings["item"].nunique() == 2 * len(ITEMS)
    assert len(result.questions) == 1


def test_mean_called_by_capitals_is_no_person(tmp_path: Path) -> None:
    rows = [[i, 2 * n, 30 - n, round(1 + n * 0.137, 3)] for n, i in FEW]

    message = refusal(tmp_path, "r.csv", table(["image", "c1", "c2", "MOS"], *rows))

    assert "MOS holds numbers that hardly repeat" in message


def test_option_names_ids_of_raters_beside_findings(tmp_path: Path) -> None:
    codes = dict(zip(RATERS, ("R8", "R9", "R17"), strict=True))
    rows = [[i, codes[r], int(v > 2), int(v > 3)] for (i, r), v in PEOPLE.items()]
    (tmp_path / "r.csv").write_text(table(["image_id", "rad_id", "Edema", "Nodule"], *rows))

    result = read_ratings([tmp_path / "r.csv"], ReadOptions(rater=("rad_id",)))

    assert {*result.ratings["rater"]} == {*codes.values()}


def test_class_on_which_raters_differ_is_named(tmp_path: Path) -> None:
    rows = [[i, r, v, ("target", "english")[v % 2]] for (i, r), v in PEOPLE.items()]
    header = ["id", "worker_id", "grammar_score", "language_identification"]

    notes = read(tmp_path, "r.csv", table(header, *rows)).notes

    assert any("language_identification" in note for note in notes)


def test_judge_name_of_people_names_people(tmp_path: Path) -> None:
    names = dict(zip(RATERS, ("Hanna Weiss", "Li Wei", "Rosa Conti"), strict=True))
    rows = [[i, names[r], v] for (i, r), v in PEOPLE.items()]

    result = read(tmp_path, "r.csv", table(["Submission", "Judge Name", "Impact"], *rows))

    assert {*result.ratings["rater"]} == {*names.values()}


def test_verdict_of_experts_with_numbers_is_theirs(tmp_path: Path) -> None:
    rows = [
        {
            "story_id": i,
            "expert_idx": k,
            "test_idx": q,
            "binary_verdict": ("No", "Yes")[(n + k * q) % 2],
        }
        for n, i in FEW
        for k in range(3)
        for q in (1, 2)
    ]

    result = read(tmp_path, "r.json", json.dumps(rows))

    assert (result.ratings["rater"].nunique(), len(result.scores)) == (3, 0)


def test_summary_on_which_raters_differ_is_named(tmp_path: Path) -> None:
    rows = [[i, r, v, 6 - v % 4] for (i, r), v in PEOPLE.items()]

    result = read(tmp_path, "r.csv", table(["rule", "worker_id", "legal", "agree"], *rows))

    assert "not read: agree, a summary by its name" in result.notes


@pytest.mark.parametrize(
    "content",
    [
        table(["doc", "part", "score"], *([i, f"P{r[0]}", v] for (i, r), v in PEOPLE.items())),
        table(
            ["Study", *(f"D{k}" for k in range(1, 6)), "Overall"],
            *(
                [f"Author {2000 + n}", *("Low" if (n * k) % 3 else "High" for k in range(6))]
                for n, _ in FEW
            ),
        ),
    ],
    ids=["rows of ratings", "rows of studies"],
)
def test_raters_that_only_values_name_are_a_doubt(tmp_path: Path, content: str) -> None:
    doubts = read(tmp_path, "r.csv", content).doubts

    assert any(doubt.choice.endswith("names raters") for doubt in doubts)


def test_letters_of_responses_are_no_grades(tmp_path: Path) -> None:
    rows = [
        [i, r, *(f"{TEXTS[i]} {k}" for k in "abcd"), "abcd"[v % 4]] for (i, r), v in PEOPLE.items()
    ]
    header = ["id", "annotator_id", *(f"response_{k}" for k in "abcd"), "preferred_response"]

    assert read(tmp_path, "r.csv", table(header, *rows)).questions[0].level == "nominal"


def test_texts_that_differ_within_items_are_named(tmp_path: Path) -> None:
    rows = [[n // 2, f"u{n % 2}", f"{TEXTS[i]} and {n}", PEOPLE[i, "anna"]] for n, i in FEW]

    result = read(tmp_path, "r.csv", table(["prompt", "user", "output", "rating"], *rows))

    assert "not read: output, another text for each rater" in result.notes


@pytest.mark.parametrize(
    ("people", "judges", "raters", "shared"),
    [
        ("human_tone", "llm_tone llm_style", {"human"}, {"tone"}),
        ("Sam-tone Lee-tone", "judge-tone judge-style", {"Sam", "Lee"}, {"tone"}),
        ("human_tone human_style", "llm_tone", {"human"}, {"tone"}),
        ("tone", "gpt4/tone/score gpt4/style/score", {"(not named)"}, {"tone"}),
        ("human_tone human_style", "llm_tone llm_style llm_depth", {"human"}, {"tone", "style"}),
        ("v1_is:Sam v1_is:Lee v2_is:Sam v2_is:Lee", "v1_judge v2_judge", {"Sam", "Lee"}, 2),
    ],
)
def test_criteria_that_people_and_a_judge_do_not_all_share_are_questions(
    tmp_path: Path, people: str, judges: str, raters: set[str], shared: set[str] | int
) -> None:
    headers = [*people.split(), *judges.split()]
    rows = [[i, *(1 + (n * k + n + k) % 7 % 5 for k in range(len(headers)))] for n, i in FEW]

    result = read(tmp_path, "r.csv", table(["id", *headers], *rows))

    assert {*result.ratings.rater} == raters
    assert result.scores.judge.nunique() == 1
    assert len(result.scores) == len(ITEMS) * len(judges.split())
    questions = {*result.ratings.question} & {*result.scores.question}
    assert shared in (questions, len(questions))


def test_judges_of_two_criteria_beside_one_label_are_named(tmp_path: Path) -> None:
    rows = [[i, PEOPLE[i, "anna"], JUDGE[i], PEOPLE[i, "ben"]] for _, i in FEW]

    result = read(tmp_path, "r.csv", table(["id", "human", "llm_tone", "llm_style"], *rows))

    assert any("llm_tone, llm_style count as scores" in of.choice for of in result.doubts)


def test_trials_of_raters_are_no_rounds_of_items(tmp_path: Path) -> None:
    rows = [
        [f"p{p}", trial, f"s{(trial + 5 * p) % 12}", 1 + (trial * p) % 7]
        for p in range(8)
        for trial in range(1, 7)
    ]
    header = ["participant.code", "round_number", "player.item_id", "player.quality"]

    assert len(read(tmp_path, "r.csv", table(header, *rows)).ratings) == len(rows)


def test_criteria_beside_a_column_of_raters_are_questions(tmp_path: Path) -> None:
    rows = [
        [i, r, v, JUDGE[i], PEOPLE[i, "ben"]] for (i, r), v in PEOPLE.items() if r in RATERS[:2]
    ]

    result = read(
        tmp_path, "r.csv", table(["id", "coder", "human_tone", "llm_tone", "llm_flow"], *rows)
    )

    assert {*result.ratings.question} == {"tone"}
    assert {*result.scores.question} == {"tone", "flow"}
    assert {*result.scores.judge} == {"llm"}


def test_question_whether_verdicts_agree_is_no_judge(tmp_path: Path) -> None:
    rows = [
        [i, PEOPLE[i, "anna"], JUDGE[i], str(abs(PEOPLE[i, "anna"] - JUDGE[i]) < 2).lower()]
        for _, i in FEW
    ]
    header = ["Task", "Human score (number)", "LLM score (number)", "Verdict agree? (checkbox)"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert {*result.scores.judge} == {"LLM score (number)"}


def test_results_beside_a_review_are_not_those_of_people(tmp_path: Path) -> None:
    rows = [[TEXTS[i], *(("Pass", "Fail")[(n * k) % 7 % 2] for k in range(1, 4))] for n, i in FEW]

    with pytest.raises(ExceptionGroup) as raised:
        read(tmp_path, "r.csv", table(["question", "result_1", "result_2", "Maker review"], *rows))

    assert "--rater 'Maker review' --judge result_1,result_2" in str(raised.value.exceptions[0])


def test_scores_that_differ_in_conversations_are_of_messages(tmp_path: Path) -> None:
    rows = [
        [n, f"c{n // 2}", f"m{n}", f"u{(n * n + n) % 23}", ("up", "down")[n % 5 % 2], n * 3 % 5]
        for n in range(40)
    ]
    header = ["id", "conversation_id", "message_id", "user_id", "thumbs", "judge_output.score"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert (result.ratings.item.nunique(), len(result.scores)) == (len(rows), len(rows))


def test_judges_named_like_responses_are_noted(tmp_path: Path) -> None:
    rows = [
        {
            "question": TEXTS[i],
            **{f"answer_{m}": f"{TEXTS[i]} {m}" for m in "xyz"},
            **{f"judge_{m}": (n + k) % 3 > 0 for k, m in enumerate("xyz")},
            "improper": n % 6 == 0,
        }
        for n, i in FEW
    ]

    doubts = read(tmp_path, "r.jsonl", lines(rows)).doubts

    assert any("judge_x is named like answer_x" in doubt.choice for doubt in doubts)


def test_ratings_of_an_owner_that_another_may_have_given_are_noted(tmp_path: Path) -> None:
    rows = [
        [
            TEXTS[i],
            *(("Pass", "Fail")[(n * k) % 7 % 2] for k in (1, 2)),
            ("J. Meyer", "K. Osei")[n % 2],
        ]
        for n, i in FEW
    ]
    header = ["Utterance", "Response Evaluation", "QA Response Review", "QA owner"]

    doubts = read(tmp_path, "r.csv", table(header, *rows)).doubts

    assert any(of.choice.startswith("Response Evaluation read as ratings") for of in doubts)


def test_hashes_of_raters_name_people(tmp_path: Path) -> None:
    uuids = [f"45c48cce-093f-{k}14b-ad1f-7647966b7343" for k in range(3)]
    levels = ["NOT_HELPFUL", "SOMEWHAT_HELPFUL", "HELPFUL"]
    rows = [[i, uuids[RATERS.index(r)], v] for (i, r), v in PEOPLE.items()]
    notes = [[i, f"{RATERS.index(r):096X}", levels[v % 3], v % 2] for (i, r), v in PEOPLE.items()]
    header = ["noteId", "raterParticipantId", "helpfulnessLevel", "helpfulClear"]

    assert not read(tmp_path, "r.csv", table(["prompt", "user_id", "value"], *rows)).doubts
    result = read(tmp_path, "n.csv", table(header, *notes))
    assert result.ratings.rater.nunique() == len(RATERS)
    assert any("helpfulnessLevel" in note for note in result.notes)


def test_up_to_date_is_no_time(tmp_path: Path) -> None:
    rows = [[i, r, v, 6 - v] for (i, r), v in PEOPLE.items()]

    result = read(tmp_path, "r.csv", table(["note_id", "rater", "up_to_date", "useful"], *rows))

    assert {*result.ratings.question} == {"up_to_date", "useful"}


def test_words_of_a_quality_are_no_identifiers(tmp_path: Path) -> None:
    headers = [
        f"{r}_{q}" for q in ("instruction following", "style") for r in ("anna", "ben", "llm")
    ]
    rows = [
        [i, *(("yes", "no")[(n * k + n + k) % 7 % 2] for k in range(len(headers)))] for n, i in FEW
    ]

    result = read(tmp_path, "r.csv", table(["id", *headers], *rows))

    assert {*result.ratings.question} == {"instruction following", "style"}


def test_labels_given_twice_by_each_annotator_are_questions(tmp_path: Path) -> None:
    words = ("no harm", "harm")
    rows = [
        [i, r, words[PEOPLE[i, r] > 2], words[PEOPLE[i, r] + n % 3 > 3]]
        for n, i in FEW
        for r in RATERS
    ]

    result = read(tmp_path, "r.csv", table(["row", "annotator", "label1", "label2"], *rows))

    assert set(result.ratings["rater"]) == set(RATERS)
    assert set(result.ratings["item"]) == set(ITEMS)


@pytest.mark.parametrize("judge", ["", " (judge)"])
def test_examples_and_words_of_a_judge_are_no_raters(tmp_path: Path, judge: str) -> None:
    issues = ("none", "logic", "facts", "label")
    rows = [
        [
            task,
            shot,
            n,
            side,
            *("ABC"[(n + k) % 3] for k in (0, n % 2)),
            1 + n % 5,
            issues[n * k % 4],
        ]
        for task in ("sums", "dates", "names")
        for shot in ("few", "zero")
        for n in range(30)
        for k, side in enumerate(("baseline", "biased"))
    ]
    header = ["Task", "Shot", "Example ID", "Condition", "Suggested Answer", "Predicted Answer"]
    header += [f"Strength{judge}", f"Issue{judge}"]

    try:
        raters = {*read(tmp_path, "r.csv", table(header, *rows)).ratings["rater"]}
    except ExceptionGroup:
        return
    assert not raters & {*issues, *map(str, range(30))}


def test_annotation_by_a_person_names_no_raters(tmp_path: Path) -> None:
    marks = {1: "1", 2: "2", 3: "3", 4: "['4']", 5: "[]"}
    rows = [
        [i, marks[PEOPLE[i, "anna"]], marks[PEOPLE[i, "ben"]], marks[JUDGE[i]], n % 3 == 0]
        for n, i in FEW
    ]
    header = ["art_id", "human_annotation", "human_annotation2", "gpt_annotation", "to_annotate"]

    message = refusal(tmp_path, "r.csv", table(header, *rows))

    assert 'human_annotation: "[]" is not on the scale of' in message


def test_pair_of_models_in_a_turn_of_a_question_is_an_item(tmp_path: Path) -> None:
    sides = ("model_1", "model_2", "tie")
    models = ("lark", "wren", "osprey")
    pairs = [(a, b) for a in models for b in models if a < b]
    rows = [
        [q, a, b, turn, *(sides[(q * k + n // k + turn) % 3] for k in (1, 2, 3))]
        for q in range(8)
        for n, (a, b) in enumerate(pairs)
        for turn in (1, 2)
    ]
    header = ["question_id", "model_1", "model_2", "turn", "winner1", "winner2", "winner3"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert set(result.ratings["rater"]) == {"winner1", "winner2", "winner3"}
    assert result.ratings["item"].nunique() == len(rows)


def test_label_that_all_raters_share_may_be_the_truth(tmp_path: Path) -> None:
    rows = [[r, i, JUDGE[i] > 2, PEOPLE[i, r] > 2] for i in ITEMS for r in RATERS]

    result = read(tmp_path, "r.csv", table(["annotator", "instance", "label", "prediction"], *rows))

    assert [doubt.choice for doubt in result.doubts] == ["label is what people said"]


def test_questions_that_all_got_one_answer_are_named(tmp_path: Path) -> None:
    rows = [[i, 2, JUDGE[i]] for i in ITEMS]

    result = read(tmp_path, "r.csv", table(["output_id", "clarity", "overall_score"], *rows))

    assert "not read: clarity, one value" in result.notes


def test_true_label_is_no_rater(tmp_path: Path) -> None:
    rows = [[i, JUDGE[i], PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]

    result = read(tmp_path, "r.csv", table(["id", "true_label", "anna", "ben"], *rows))

    assert set(result.ratings["rater"]) == {"anna", "ben"}


@pytest.mark.parametrize("names", [("scores1", "scores2"), ("rating_a", "rating_b")])
def test_scores_beside_a_winner_are_no_raters(tmp_path: Path, names: tuple[str, str]) -> None:
    rows = [
        [i, PEOPLE[i, "anna"], PEOPLE[i, "ben"], 1 + (PEOPLE[i, "anna"] < PEOPLE[i, "ben"])]
        for i in ITEMS
    ]

    message = refusal(tmp_path, "r.csv", table(["id", *names, "winner"], *rows))

    assert f"{names[0]}, {names[1]} stand beside winner: two responses may have these" in message
    assert f"--rater {','.join(names)}" in message


def test_worker_of_mechanical_turk_whose_id_begins_with_ai_is_no_judge(tmp_path: Path) -> None:
    workers = {"anna": "AI5X8B21QZ7LM", "ben": "A2UF2FRGVW4T89", "cleo": "ADVCIFLB5A9B"}
    rows = [[i, workers[r], PEOPLE[i, r]] for i in ITEMS for r in RATERS]

    result = read(tmp_path, "r.csv", table(["HITId", "WorkerId", "Answer.score"], *rows))

    assert set(result.ratings["rater"]) == {*workers.values()}
    assert result.scores.empty


def test_scores_of_many_values_are_no_items(tmp_path: Path) -> None:
    """Each response has a rater of its own, and other scores in hardly any two rows."""
    names = ("coverage", "structure_coherence", "instruction_following")
    rows = [
        [f"q-{n:03}", f"expert_{1 + n % 3}", *(70 + (7 * n + 3 * k) % 25 for k in range(3))]
        for n in range(12)
    ]

    result = read(tmp_path, "r.csv", table(["question_id", "evaluator_id", *names], *rows))

    assert set(result.ratings["question"]) == {*names}
    assert result.ratings["item"].nunique() == 12


def test_scores_of_systems_on_several_criteria_are_all_read(tmp_path: Path) -> None:
    records = [
        {
            "question": f"What is said of part {n}?",
            "base_scores": {"correctness": 1 + n % 5, "completeness": 1 + n % 4},
            "tuned_scores": {"correctness": 1 + n % 3, "completeness": 5 - n % 3},
        }
        for n in range(10)
    ]
    document = {"config": {"judge_model": "gpt-4o"}, "details": records}

    result = read(tmp_path, "r.json", json.dumps(document))

    assert set(result.scores["question"]) == {"correctness", "completeness"}
    assert result.scores["item"].nunique() == 20


def test_judge_above_scores_of_models_gave_them(tmp_path: Path) -> None:
    models = ("GPT-4o", "Claude 3 Opus", "Gemini 1.5")
    records = [
        {
            "prompt_id": f"p{n}",
            "judge_model": judge,
            "success": True,
            "scores": {m: {"cleverness": 1 + (n + i + j) % 5} for i, m in enumerate(models)},
        }
        for n in range(8)
        for j, judge in enumerate(models[:2])
    ]

    result = read(tmp_path, "r.json", json.dumps(records))

    assert set(result.scores["judge"]) == {*models[:2]}
    assert result.scores["item"].nunique() == 24


def test_what_a_human_said_is_read_beside_a_decision_on_it(tmp_path: Path) -> None:
    words = ("No", "Yes")
    rows = [
        [i, r, question, words[PEOPLE[i, r] > 2], ("human", "llm")[n // 2 % 2], words[n % 3 > 0]]
        for n, i in enumerate(ITEMS)
        for r in [RATERS[n % 2]]
        for question in ("tone", "grammar")
    ]
    header = ["item", "rater", "dimension", "human_original", "qc_decision", "qc_final_value"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert set(result.ratings["rater"]) == {*RATERS[:2]}
    assert "not read: qc_decision, qc_final_value, beside the rating human_original" in result.notes


def test_lists_of_chosen_words_are_no_ratings_of_raters(tmp_path: Path) -> None:
    words = ("spacing", "layout", "length", "words", "size")
    rows = [[f"text {n}", str([w for k, w in enumerate(words) if (n + k) % 3])] for n in range(24)]

    message = refusal(tmp_path, "r.csv", table(["text", "why"], *rows))

    assert "no column says who gave which rating" in message


def test_labels_by_the_name_of_one_of_many_annotators(tmp_path: Path) -> None:
    """Each record has a few of them, and records share a text."""
    records = {
        str(n): {
            "context": f"This is what was said before all of the answers of group {n // 4}.",
            "speaker": f"{n}_{n + 7}",
            "annotators": ",".join(f"Ann{3 * (n % 6) + k}" for k in range(3)),
            "annotations": {f"Ann{3 * (n % 6) + k}": str(1 + (n + k) % 5) for k in range(3)},
        }
        for n in range(24)
    }

    result = read(tmp_path, "r.json", json.dumps(records))

    assert result.ratings["rater"].nunique() == 18
    assert result.ratings["item"].nunique() == 24


def test_list_of_annotators_beside_what_each_said_names_no_rater(tmp_path: Path) -> None:
    """Soft labels beside them are computed from what they said."""
    words = ("neutral", "entailed", "contradicted")
    records = {
        i: {
            "annotators": ",".join(f"Ann{k}" for k in range(4) if (n + k) % 3),
            "annotations": {f"Ann{k}": words[(n * k + n) % 3] for k in range(4) if (n + k) % 3},
            "soft_label": {word: {"0": n % 3 / 2, "1": 1 - n % 3 / 2} for word in words},
        }
        for n, i in FEW
    }

    result = read(tmp_path, "r.json", json.dumps(records))

    assert set(result.ratings["rater"]) == {f"Ann{k}" for k in range(4)}
    assert result.ratings["item"].nunique() == len(ITEMS)


def test_codes_of_what_was_seen_are_no_raters(tmp_path: Path) -> None:
    rows = [[f"sign {n}", f"H{1 + n % 7}", ("yes", "no")[n % 3 > 0]] for n in range(40)]

    result = read(tmp_path, "r.csv", table(["video", "handshape", "iconic"], *rows))

    assert result.ratings["rater"].nunique() == 1


def test_statistics_of_people_are_no_ratings(tmp_path: Path) -> None:
    figures = [
        f"phase {number} {rater} {figure}"
        for number in (1, 2)
        for rater in ("human", "llm")
        for figure in ("mean", "mode", "min")
    ]
    figures += ["phase 1 p-value", "phase 2 p-value"]
    rows = [
        [n, *(1 + (n * k + k) % 6 + 0.25 * (k % 3 == 0) for k, _ in enumerate(figures))]
        for n in range(20)
    ]

    assert refusal(tmp_path, "r.csv", table(["participant", *figures], *rows))


def test_log_of_clicks_in_a_cell_is_no_list_of_ratings(tmp_path: Path) -> None:
    clicks = json.dumps([{"x": 100 + 37 * k, "on": f"part {k} of page"} for k in range(30)])
    rows = [[i, r, ("no", "yes")[PEOPLE[i, r] > 2], clicks] for i in ITEMS for r in RATERS]

    result = read(tmp_path, "r.csv", table(["HITId", "WorkerId", "Answer.clear", "clicks"], *rows))

    assert set(result.ratings["question"]) == {"Answer.clear"}
    assert len(result.ratings) == len(rows)


def test_rating_of_no_question_is_an_error(tmp_path: Path) -> None:
    rows = [[i, r, q, PEOPLE[i, r]] for i in ITEMS for r in RATERS for q in ("tone", "form")]
    rows[7][2] = " "

    text = refusal(tmp_path, "r.csv", table(["item", "rater", "question", "rating"], *rows))

    assert text.startswith("r.csv:9:question: a rating without a question")


def test_rater_who_is_named_in_another_column_is_one(tmp_path: Path) -> None:
    rows = [{"task": i, "reviewer": r, "score": PEOPLE[i, r]} for i in ITEMS for r in RATERS]
    rows[0]["annotator"] = rows[0].pop("reviewer")

    tables = read(tmp_path, "r.jsonl", lines(rows))

    assert set(tables.ratings["rater"]) == {*RATERS}
    assert len(tables.ratings) == len(rows)


def test_cells_of_separators_alone_are_no_lists(tmp_path: Path) -> None:
    rows = [[i, r, ";"] for i in ITEMS for r in RATERS]

    result = read(tmp_path, "r.csv", table(["id", "worker", "score"], *rows))

    assert set(result.ratings["value"]) == {0.0}


def test_number_as_large_as_a_time_makes_no_scale_of_steps(tmp_path: Path) -> None:
    rows = [[i, *(10**9 * PEOPLE[i, r] for r in RATERS[:2])] for i in ITEMS]
    (tmp_path / "r.csv").write_text(table(["id", "anna", "ben"], *rows))

    tables = read_ratings([tmp_path / "r.csv"], ReadOptions(rater=("anna", "ben")))

    assert tables.questions[0].scale.values is None
    with pytest.raises(ValueError, match="at most 10,000 steps"):
        Scale.from_steps(low=0, high=1e9)


def test_items_may_be_described_in_rows_without_a_name(tmp_path: Path) -> None:
    rows = [[i, r, PEOPLE[i, r]] for i in ITEMS for r in RATERS]
    (tmp_path / "ratings.csv").write_text(table(["item", "rater", "rating"], *rows))
    texts = [*([i, TEXTS[i]] for i in ITEMS), ["", "one"], ["", "two"]]
    (tmp_path / "texts.csv").write_text(table(["item", "response"], *texts))

    tables = read_ratings([tmp_path / "ratings.csv", tmp_path / "texts.csv"], ReadOptions())

    assert tables.items.set_index("item")["response"].to_dict() == TEXTS


@pytest.mark.parametrize(
    "document",
    [
        {"columns": ["anna", "ben"], "data": [True, [1, 2]]},
        {"schema": {"fields": []}, "data": [{"anna": 1}, [2]]},
        [{"experts": [{"score": 1}], "crowd": 0.5}, {"experts": 2, "crowd": [{"score": 3}]}],
    ],
)
def test_document_that_is_half_of_a_known_form_is_read_or_refused(
    tmp_path: Path, document: object
) -> None:
    with suppress(ExceptionGroup):
        read(tmp_path, "r.json", json.dumps(document))


def test_lists_of_experts_and_crowd_may_be_missing(tmp_path: Path) -> None:
    records = [
        {
            "id": i,
            "expert": [{"clear": PEOPLE[i, r], "true": PEOPLE[i, "ben"]} for r in ("anna", "ben")],
            "crowd": [{"clear": 1 + n % 5, "true": 3}] * 3 if n % 3 else float("nan"),
        }
        for n, i in FEW
    ]

    result = read(tmp_path, "r.jsonl", lines(records))

    raters = result.ratings["rater"].value_counts()
    assert raters["expert 1"] == raters["expert 2"] == 48
    assert raters["crowd 3"] == 32


def test_second_human_is_a_person_beside_predictions_of_a_system(tmp_path: Path) -> None:
    rows = [
        [i, PEOPLE[i, "anna"], 1 + (n * 37 % 391) / 100, PEOPLE[i, "ben"]]
        for n, i in enumerate(ITEMS)
    ]

    result = read(tmp_path, "r.csv", table(["ID", "human", "system", "human2"], *rows))

    assert set(result.ratings["rater"]) == {"human", "human2"}
    assert set(result.scores["judge"]) == {"system"}


def test_scores_of_a_person_for_two_answers_are_no_raters(tmp_path: Path) -> None:
    names = ["question", "answer_a", "answer_b", "human_score_a", "human_score_b"]
    rows = [
        [i, TEXTS[i], f"another one, {TEXTS[i]}", PEOPLE[i, "anna"], PEOPLE[i, "ben"]]
        for i in ITEMS
    ]

    assert "named like answer_a, answer_b" in refusal(tmp_path, "r.csv", table(names, *rows))


def test_abbreviations_of_criteria_are_no_initials(tmp_path: Path) -> None:
    names = ["MH", "LR", "FJ", "BC", "OCCS", "SCBS"]
    rows = [[f"{n}.jpg", *((n * k + k) % 3 % 2 for k in range(1, 7))] for n in range(30)]

    message = refusal(tmp_path, "r.csv", table(["image", *names], *rows))

    assert "may be raters or questions" in message


def test_object_of_labels_is_a_label_for_each_item(tmp_path: Path) -> None:
    labels = {str(n): ("A", "B", "tie")[PEOPLE[i, "anna"] % 3] for n, i in FEW}
    verdicts = [
        {"id": n, "judge_verdict": ("A", "B", "tie")[JUDGE[i] % 3], "question": TEXTS[i]}
        for n, i in FEW
    ]
    files = [tmp_path / "human_labels.json", tmp_path / "verdicts.json"]
    for file, content in zip(files, (labels, verdicts), strict=True):
        file.write_text(json.dumps(content))

    result = read_ratings(files, ReadOptions())

    assert set(result.ratings["item"]) == set(result.scores["item"])
    assert len(result.ratings) == len(result.scores) == len(ITEMS)


def test_sentences_of_a_text_are_not_rated_one_by_one(tmp_path: Path) -> None:
    files = []
    for r in RATERS:
        records = {
            i: {"document": [TEXTS[i], f"it ends with {n}"]}
            | {
                f"summary {k}": {
                    "text": [f"{TEXTS[i]} in sentence {k}.{m}" for m in range(1 + (n + k) % 3)],
                    "score": 1 + (PEOPLE[i, r] + k) % 5,
                    "model": ("bart", "t5", "pegasus")[(n + k) % 3],
                }
                for k in (1, 2, 3)
            }
            for n, i in FEW
        }
        files.append(tmp_path / f"{r}_scores.json")
        files[-1].write_text(json.dumps(records))

    result = read_ratings(files, ReadOptions())

    assert set(result.ratings["rater"]) == set(RATERS)
    assert len(result.ratings) == 3 * 3 * len(ITEMS)


def test_replies_that_begin_with_a_label_are_told(tmp_path: Path) -> None:
    rows = [
        [
            n,
            TEXTS[i],
            ("No", "Yes")[PEOPLE[i, "anna"] > 2],
            f"{('No', 'Yes')[n % 3 > 0]}, it is {n}",
        ]
        for n, i in FEW
    ]

    result = read(tmp_path, "r.csv", table(["id", "answer", "Acceptable?", "gpt-4"], *rows))

    assert any("not read: gpt-4" in note for note in result.notes)


def test_captions_of_systems_are_no_ratings_of_theirs(tmp_path: Path) -> None:
    names = ["SYS", "set_id", "hyp", "P", "R", "Con"]
    rows = [
        [s, n, f"a caption of picture {n} by a program, {s}", 1 + n * k % 5, 1 + (n + k) % 5, n % 2]
        for k, s in enumerate(("up", "down", "left"))
        for n in range(30)
    ]

    message = refusal(tmp_path, "r.csv", table(names, *rows))

    assert "If one person rated all, pass --item set_id,SYS --rating P,R" in message


def test_numbered_answers_may_be_of_texts_with_their_numbers(tmp_path: Path) -> None:
    names = [f"Input.query{k}" for k in (1, 2, 3)] + [f"Answer.pair{k}" for k in (1, 2, 3)]
    rows = [
        [r, *(f"{TEXTS[i]} in place {k}" for k in (1, 2, 3)), *(PEOPLE[i, r], n % 5, PEOPLE[i, r])]
        for n, i in FEW
        for r in RATERS
    ]

    result = read(tmp_path, "r.csv", table(["WorkerId", *names], *rows))

    assert any("Answer.pair1 is named like Input.query1" in of.choice for of in result.doubts)


def test_users_who_share_no_item_may_be_its_authors(tmp_path: Path) -> None:
    rows = [[f"post {n}", f"57{n % 60}", ("hate", "none")[n % 3 > 0]] for n in range(200)]

    result = read(tmp_path, "r.csv", table(["file_id", "user_id", "label"], *rows))

    assert any(doubt.option == "--ignore user_id" for doubt in result.doubts)


def test_question_that_all_raters_answer_alike_is_told(tmp_path: Path) -> None:
    files = []
    for r in RATERS:
        rows = [[i, PEOPLE[i, r], 1 + n % 4] for n, i in FEW]
        files.append(tmp_path / f"{r}.csv")
        files[-1].write_text(table(["id", "Correctness", "Usefulness"], *rows))

    result = read_ratings(files, ReadOptions())

    assert any(note.startswith("not read: Usefulness") for note in result.notes)


def test_remedy_of_copies_tells_the_items_apart(tmp_path: Path) -> None:
    names = ("access", "dress", "hybrid", "pbmt")
    systems = {n: names[n % 4 : n % 4 + 1 + (n == 0)] for n in range(40)}
    rows = [
        [n, f"the same text of {n}", s, k, 1 + (n * k + n + (s == "dress")) % 100]
        for n, of_text in systems.items()
        for s in of_text
        for k in range(1, 8)
    ]
    header = ["sent_id", "simple", "sys_name", "rater_id", "simplicity"]

    message = refusal(tmp_path, "r.csv", table(header, *rows))

    assert "--item sent_id,sys_name" in message


def test_thousands_of_columns_are_refused_at_once(tmp_path: Path) -> None:
    row = {f"f{k}": k % 5 for k in range(2100)}

    text = refusal(tmp_path, "r.jsonl", lines([{"id": i, **row} for i in ITEMS]))

    assert text.startswith("r.jsonl: 2,101 columns are too many to tell which hold ratings")


def test_domain_of_an_address_makes_no_judge(tmp_path: Path) -> None:
    people = ("ana@fleet.ai", "tom@openai.com")
    rows = [
        *(
            [i, "Human", a, PEOPLE[i, r]]
            for i in ITEMS
            for a, r in zip(people, RATERS, strict=False)
        ),
        *([i, "LLM", "openai/gpt-4o-mini", JUDGE[i]] for i in ITEMS),
    ]

    result = read(tmp_path, "r.csv", table(["recordId", "raterType", "rater", "quality"], *rows))

    assert set(result.ratings["rater"]) == {*people}
    assert set(result.scores["judge"]) == {"openai/gpt-4o-mini"}


CLASSES = [f"class {letter}" for letter in "abcdefghijklmnop"]


@pytest.mark.parametrize("n_classes", [12, 16])
def test_many_classes_that_are_called_labels_are_ratings(tmp_path: Path, n_classes: int) -> None:
    rows = [
        [f"t{n}", ("web", "mail", "phone")[n % 3], r, CLASSES[(n + k * (n % 5 == 0)) % n_classes]]
        for n in range(60)
        for k, r in enumerate(RATERS)
    ]

    result = read(tmp_path, "r.csv", table(["ticket", "channel", "annotator", "label"], *rows))

    assert set(result.ratings["question"]) == {"label"}
    assert result.ratings["value"].nunique() == n_classes


def test_attributes_are_no_ratings_beside_lists_of_classes(tmp_path: Path) -> None:
    rows = [
        [TEXTS[i], ("europe", "antiwork", "worldnews")[n % 3], r, f"{CLASSES[n % 16]},{CLASSES[k]}"]
        for n, i in FEW
        for k, r in enumerate(RATERS)
    ]

    message = refusal(tmp_path, "r.csv", table(["text", "subreddit", "annotator", "label"], *rows))

    assert "annotator names who rated, and no column of ratings is found" in message


def test_share_of_good_verdicts_is_computed(tmp_path: Path) -> None:
    criteria = ("Empathy", "Solution", "Grammar")
    rows = []
    for n, i in FEW:
        for k, r in enumerate(RATERS):
            verdicts = [(n * step + k * n) % 5 < 3 for step in (1, 2, 3)]
            rows.append([i, r, *("👎👍"[of] for of in verdicts), round(100 * sum(verdicts) / 3, 1)])

    result = read(tmp_path, "r.csv", table(["ticket", "Reviewer", *criteria, "IQS (%)"], *rows))

    assert set(result.ratings["question"]) == {*criteria}
    assert any("not read: IQS (%), computed from" in note for note in result.notes)


def test_names_in_headers_of_two_lines_are_raters(tmp_path: Path) -> None:
    tasters, criteria = ("Rosa", "Iván", "Julia"), ("Aroma", "Sabor", "Acidez")
    header = [f"Catador: {name}: {criterion}" for name in tasters for criterion in criteria]
    rows = [
        [f"M-{n}", ("La Loma", "El Roble")[n % 2]]
        + [PEOPLE[i, r] + k % 2 for r in RATERS for k in range(3)]
        for n, i in FEW
    ]

    result = read(tmp_path, "r.csv", table(["Muestra", "Finca", *header], *rows))

    assert set(result.ratings["rater"]) == {f"Catador: {name}" for name in tasters}
    assert set(result.ratings["question"]) == {*criteria}


def test_respondents_rate_numbered_answers_by_criteria(tmp_path: Path) -> None:
    header = [f"[Réponse {n}] {of}" for n in range(1, 13) for of in ("Clarté", "Utilité")]
    people = ("Camille R.", "Hugo M.", "Inès B.", "Louis D.", "Zoé P.")
    rows = [
        [n, name, *(PEOPLE[i, r] for i in ITEMS)]
        for n, (name, r) in enumerate(zip(people, RATERS * 2, strict=False), 1)
    ]

    result = read(tmp_path, "r.csv", table(["Numéro", "Votre nom", *header], *rows))

    assert set(result.ratings["rater"]) == {*people}
    assert set(result.ratings["question"]) == {"Clarté", "Utilité"}
    assert result.ratings["item"].nunique() == 12


def test_doubt_is_said_if_the_other_reading_fails(tmp_path: Path) -> None:
    """Figures of two coders by code and file are no ratings, and the file has no others."""
    figures = [
        [0.1 + (7 * n + 3 * k) % 89 / 100, 4 + (50 * n + 7 * k) % 97 / 3]
        for n in range(5)
        for k in range(8)
    ]
    rows = [
        [("Barriers", "Trust", "Workflow", "Cost", "Data")[n // 8], f"Interview {n % 8}", *of]
        for n, of in enumerate(figures)
    ]

    result = read(tmp_path, "r.csv", table(["Code", "File", "Kappa", "A and B (%)"], *rows))

    assert any(of.choice == "Code names raters" for of in result.doubts)


def test_person_gives_the_words_of_the_judge(tmp_path: Path) -> None:
    rows = [
        [i, ("No", "Yes")[PEOPLE[i, "anna"] > 2], ("No", "Yes")[JUDGE[i] > 2], n % 4 == 0]
        for n, i in FEW
    ]
    header = ["id", "expected_result", "llm_result", "positional_bias"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert set(result.ratings["rater"]) == {"expected_result"}
    assert any("not read: positional_bias" in note for note in result.notes)


@pytest.mark.parametrize("header", ["Rater_{}", "{}次採点者"])
def test_names_beside_numbered_criteria_are_raters(tmp_path: Path, header: str) -> None:
    names = ("佐藤", "鈴木", "高橋")
    rows = [
        [i, *(cell for k in (0, 1) for cell in (names[(n + k) % 3], PEOPLE[i, RATERS[k]]))]
        for n, i in FEW
    ]
    columns = [of for k in (1, 2) for of in (header.format(k), f"Grammar_{k}")]

    result = read(tmp_path, "r.csv", table(["Text_ID", *columns], *rows))

    assert set(result.ratings["rater"]) == {*names}
    assert result.ratings["question"].nunique() == 1


def test_guess_is_said_if_no_option_reads_the_file_otherwise(tmp_path: Path) -> None:
    rows = [
        [i, name, PEOPLE[i, r], 6 - PEOPLE[i, r], JUDGE[i], 6 - JUDGE[i]]
        for i in ITEMS
        for name, r in (("Jo", "anna"), ("Al", "ben"))
    ]
    header = ["recipe", "cook", "taste", "look", "ai_taste", "ai_look"]

    result = read(tmp_path, "r.csv", table(header, *rows))

    assert any(of.choice == "taste, look are raters" and not of.option for of in result.doubts)


def roles(tables: RatingTables) -> dict[str, list[str]]:
    return {role: [*of] for role, of in tables.columns.items() if of}


@pytest.mark.parametrize("summary", ["Consensus", "truth", "Ground truth"])
def test_summary_among_the_raters_is_none_of_them(tmp_path: Path, summary: str) -> None:
    rows = [[r, i, PEOPLE[i, r]] for i in ITEMS for r in RATERS]
    rows += [[summary, i, PEOPLE[i, "ben"]] for i in ITEMS]

    tables = read(tmp_path, "readings.csv", table(["readerID", "caseID", "score"], *rows))

    assert set(tables.ratings["rater"]) == {*RATERS}
    assert f"not read: ratings by {summary}" in tables.notes[0]


def test_reviewer_of_an_author_rated_and_a_time_is_no_item(tmp_path: Path) -> None:
    rows = [
        [
            500 + n,
            700 + n,
            f"user{n}",
            40 + k,
            aspect,
            PEOPLE[ITEMS[n - m], r],
            1.7e9 + 9 * n + k + m,
        ]
        for n in range(4, 24)
        for k, r in enumerate(RATERS)
        for m, aspect in enumerate(("Argument", "Evidence"))
    ]
    header = ["submissionid", "authorid", "author", "reviewerid", "aspect", "grade", "timemodified"]

    columns = roles(read(tmp_path, "workshop.csv", table(header, *rows)))

    assert (columns["item"], columns["rater"]) == (["submissionid"], ["reviewerid"])
    assert columns["question"] == ["aspect"]


def test_events_without_a_response_are_no_ratings(tmp_path: Path) -> None:
    rows = [
        [f"P{k}", (n * 5 + k) % 24 + 1, zone, PEOPLE[i, r] if zone == "rating" else "", i]
        for k, r in enumerate(RATERS)
        for n, i in enumerate(ITEMS)
        for zone in ("fixation", "rating")
    ]
    header = ["Participant ID", "Trial Number", "Zone Name", "Response", "Spreadsheet: image"]

    tables = read(tmp_path, "trials.csv", table(header, *rows))

    assert (roles(tables)["item"], len(tables.ratings)) == (["Spreadsheet: image"], 72)


def test_names_of_answers_below_a_rater_are_questions(tmp_path: Path) -> None:
    rows = [
        {
            "row": {"key": i},
            "labels": [
                {
                    "id": f"{r}{i}",
                    "created_by": f"{r}@x.example",
                    "consensus_score": (PEOPLE[i, r] * 7 + n) % 11 / 10,
                    "answers": [
                        {
                            "id": f"a{r}{i}",
                            "name": "Better",
                            "answer": {"value": "AB"[PEOPLE[i, r] % 2]},
                        },
                        {
                            "id": f"b{r}{i}",
                            "name": "Harm",
                            "answer": {"value": ["no", "yes"][n % 2]},
                        },
                    ],
                }
                for r in RATERS[:2]
            ],
        }
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "labels.jsonl", lines(rows))

    assert {question.id for question in tables.questions} == {"Better", "Harm"}
    assert (len(tables.items), len(tables.ratings)) == (24, 96)


def test_ids_of_what_each_rater_sent_are_no_items(tmp_path: Path) -> None:
    rows = [
        [f"EV{n}{k}", f"C-{n}", r, line, "Yes" if (PEOPLE[i, r] + m) % 3 else "No"]
        for n, i in enumerate(ITEMS)
        for k, r in enumerate(RATERS)
        for m, line in enumerate(("Greeting", "Needs found", "Closure"))
    ]
    header = ["Evaluation ID", "Contact Reference", "Evaluator", "Line Item", "Score"]

    columns = roles(read(tmp_path, "calibration.csv", table(header, *rows)))

    assert (columns["item"], columns["question"]) == (["Contact Reference"], ["Line Item"])


def test_message_of_a_chat_may_be_the_item(tmp_path: Path) -> None:
    rows = [
        [RATERS[n * n % 3], f"c{n // 2}", f"m{n % 5 % 3}", f"msg{n}", 1 + n % 2] for n in range(40)
    ]
    header = ["user_id", "chat_id", "model_id", "message_id", "rating"]

    tables = read(tmp_path, "feedback.csv", table(header, *rows))

    assert "--item message_id" in [doubt.option for doubt in tables.doubts]


def test_names_of_objects_may_be_what_was_asked(tmp_path: Path) -> None:
    rows = [
        {
            "change": i,
            "labels": {
                "Code": {"all": [{"username": r, "value": PEOPLE[i, r]} for r in RATERS], "n": 3},
                "Verified": {"all": [{"username": "zuul", "value": 1 + n % 2}], "n": 1},
            },
        }
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "changes.json", json.dumps(rows))

    assert "--question labels.key" in [doubt.option for doubt in tables.doubts]


def test_paths_of_files_are_no_raters(tmp_path: Path) -> None:
    rows = [
        {
            "source-ref": f"s3://box/labels/{i}.txt",
            "from": [
                {"workerId": r, "answer": "relevant" if PEOPLE[i, r] > 2 else "no"} for r in RATERS
            ],
        }
        for i in ITEMS
    ]

    columns = roles(read(tmp_path, "workers.jsonl", lines(rows)))

    assert (columns["item"], columns["rater"]) == (["source-ref"], ["workerId"])


def test_ticks_of_each_of_several_raters_are_one_rating(tmp_path: Path) -> None:
    degrees = ["1", "0", "-1", "-2"]
    header = ["id", *(f"Annotator{k}_abuse.{of}" for k in range(3) for of in degrees)]
    rows = [
        [
            i,
            *(
                "" if n % 3 == k else int(PEOPLE[i, r] % 4 == d)
                for k, r in enumerate(RATERS)
                for d in range(4)
            ),
        ]
        for n, i in FEW
    ]

    tables = read(tmp_path, "degrees.csv", table(header, *rows))

    assert (len(tables.questions), len(tables.ratings)) == (1, 48)
    assert set(tables.ratings["value"]) == {1, 0, -1, -2}


def test_person_has_a_first_name_that_is_short_for_machines(tmp_path: Path) -> None:
    names = ["Ai Tanaka", "Nadia Haddad", "Kofi Mensah"]
    rows = [[i, name, PEOPLE[i, r]] for i in ITEMS for name, r in zip(names, RATERS, strict=True)]

    tables = read(tmp_path, "judging.csv", table(["Project", "Judge", "Creativity"], *rows))

    assert set(tables.ratings["rater"]) == {*names}


def test_words_behind_numbers_have_their_order(tmp_path: Path) -> None:
    words = ["", "1 poor", "2 fair", "3 good", "4 excellent", "4 excellent"]
    rows = [[i, *(words[PEOPLE[i, r]] for r in RATERS)] for i in ITEMS]

    tables = read(tmp_path, "reviews.csv", table(["paper", *RATERS], *rows))

    assert tables.questions[0].scale.words == tuple(words[1:5])


def test_headers_of_numbered_codes_are_no_certain_raters(tmp_path: Path) -> None:
    header = ["CASE", *(f"AA{v:02d}_{q:02d}" for v in range(1, 5) for q in range(1, 4))]
    rows = [
        [30 + n, *(PEOPLE[ITEMS[n + v], r] for v in range(4) for r in RATERS)] for n in range(14)
    ]

    assert "if each row is a rater, --rater CASE" in refusal(
        tmp_path, "s.csv", table(header, *rows)
    )


MARKS = ["0 (calm)", "1 (mild)", "2 (rude)", "3 (hostile)", "4 (hateful)"]
VOTES = ("keep", "drop", "merge")
ROWS_OF_COLUMNS: dict[str, tuple[list[str], Sequence[Sequence[object]], list[str]]] = {
    "numbers of subjects beside human_ columns": (
        ["anon_subject_id", "filename", "human_clarity", "human_style"],
        [[k, i, PEOPLE[i, r], 6 - PEOPLE[i, r]] for i in ITEMS for k, r in enumerate(RATERS)],
        ["anon_subject_id"],
    ),
    "a flag in the 3rd person and adjudicated values": (
        ["url", "3rd person", "Adjudicated TONE", "Adjudicated PLOT"]
        + [f"A{k} {of}" for k in (1, 2, 3) for of in ("tone", "plot")],
        [
            [i, n % 2, *("" if n % 5 else 1 + n % 4 for _ in range(2))]
            + [v for r in RATERS for v in (PEOPLE[i, r], 6 - PEOPLE[i, r])]
            for n, i in FEW
        ],
        [f"A{k} {of}" for k in (1, 2, 3) for of in ("tone", "plot")],
    ),
    "coders who differ in each row, beside numbered classes": (
        ["project", "class1", "class2", "coder1", "coder2"],
        [
            [i, "wind", ("sun", "")[n % 3 > 0], VOTES[n % 3], VOTES[(n + 1 + n // 7 % 2) % 3]]
            for n, i in FEW
        ],
        ["coder1", "coder2"],
    ),
    "numbered coders without a separator, beside names of authors": (
        ["paper", "short", "title", "coder1Text", "coder2Text"],
        [
            [f"{5000 + n // 4}", f"Author{n // 4}", f"attribute {n % 4}", n % 5 % 2, n % 7 % 2]
            for n in range(48)
        ],
        ["coder1Text", "coder2Text"],
    ),
    "verdicts of an expert": (
        ["index", "model_answer", "expert"],
        [[n, f"the answer {n}", ("correct", "wrong", "no claim")[n % 3]] for n in range(60)],
        ["expert"],
    ),
    "names of entries beside a decision": (
        [*(f"entry_{k}_{of}" for k in (1, 2) for of in ("name", "source")), "human_decision"],
        [
            [
                f"tool{chr(97 + n)}",
                ("hub", "lab")[n % 2],
                f"kit{chr(97 + n)}",
                ("hub", "lab")[n % 3 > 0],
                ("same", "other")[n % 4 > 1],
            ]
            for n in range(24)
        ],
        ["human_decision"],
    ),
    "a label and an answer of one value": (
        ["question", "answer", "human_label"],
        [[f"the same question {n}?", "yes", "factual error"] for n in range(20)],
        ["human_label"],
    ),
    "words behind numbers, and another label": (
        ["text", "label", "gpt_mood", "Zoltar_HS", "Quin_HS", "GPT_HS"],
        [
            [
                TEXTS[i],
                n % 2,
                ("good", "bad")[n % 3 % 2],
                MARKS[n % 5],
                MARKS[(n + n // 5) % 5],
                n % 5,
            ]
            for n, i in FEW
        ],
        ["Zoltar_HS", "Quin_HS"],
    ),
    "classes of a label": (
        ["id", "gold_label", "gpt_label", "gold_label_binary"],
        [[i, VOTES[n % 3], VOTES[n % 4 % 3], int(n % 3 > 0)] for n, i in FEW],
        ["gold_label"],
    ),
    "an author of texts": (
        ["commit", "author", "message", "intensity"],
        [
            [f"c{n}{n:x}f", f"Dev {n % 9}", f"{TEXTS[i]} of the commit", PEOPLE[i, "ben"]]
            for n, i in FEW
        ],
        [],
    ),
}


@pytest.mark.parametrize("form", ROWS_OF_COLUMNS)
def test_columns_beside_those_called_alike_are_the_ratings(tmp_path: Path, form: str) -> None:
    names, rows, raters = ROWS_OF_COLUMNS[form]

    result = read(tmp_path, "r.csv", table(names, *rows))

    assert result.columns["rater"] == tuple(raters)


def test_numbered_classes_are_answers_of_users(tmp_path: Path) -> None:
    names = ["user_id", "post_id", *(f"category_{k}" for k in range(1, 5))]
    rows = [
        [k, i, *(int(PEOPLE[i, r] > k) for k in range(1, 5))]
        for i in ITEMS
        for k, r in enumerate(RATERS)
    ]

    result = read(tmp_path, "r.csv", table(names, *rows))

    assert [of.id for of in result.questions] == names[2:]


def test_judges_who_agree_in_labels_are_compared_with_people(tmp_path: Path) -> None:
    for name in ("human", "llm_m1", "llm_m2"):
        more = {} if name == "human" else {"why": "a reason", "sure": 0.5}
        records = [{"id": i, "label": VOTES[n % 3], **more} for n, i in FEW]
        (tmp_path / f"{name}_annotations.jsonl").write_text(lines(records))

    result = read_ratings([tmp_path], ReadOptions())

    assert (len(result.ratings), len(result.scores)) == (24, 48)
    assert result.columns["item"] == ("id",)


def test_scores_of_a_judge_on_dimensions_of_responses(tmp_path: Path) -> None:
    records = [
        {
            "question_id": f"m{n}",
            "model_name": model,
            "predicted_key": "ABCD"[n % 4],
            "dimension": dimension,
            "score": JUDGE[i],
            "judge_model": "gpt-4o-mini",
        }
        for n, i in FEW
        for model in ("gpt-3.5-turbo", "claude-sonnet")
        for dimension in ("factuality", "safety")
    ]

    result = read(tmp_path, "eval_scores.jsonl", lines(records))

    assert {*result.scores["judge"]} == {"gpt-4o-mini"}
    assert result.columns["question"] == ("dimension",)


def test_criteria_of_people_and_of_nested_judges_are_the_same(tmp_path: Path) -> None:
    models = ("GPT-5", "Grok 4")
    marks = [*zip(("genre", "craft", "wit"), RATERS, strict=True)]
    people = [
        {
            "prompt_id": i,
            "model": m,
            **{c: PEOPLE[i, r] for c, r in marks},
        }
        for i in ITEMS
        for m in models
    ]
    judges = [
        {
            "prompt_id": i,
            "judge_model": j,
            "result": {"scores": {m: {c: PEOPLE[i, r] for c, r in marks} for m in models}},
        }
        for i in ITEMS
        for j in models
    ]
    (tmp_path / "human_ratings.json").write_text(json.dumps(people))
    (tmp_path / "judgements.json").write_text(json.dumps(judges))

    result = read_ratings([tmp_path], ReadOptions())

    assert (len(result.ratings), len(result.scores)) == (3 * 48, 3 * 96)


def test_sheets_of_annotators_without_items_are_theirs(tmp_path: Path) -> None:
    header: list[Cell] = [f"{of}_{k}" for k in ("base", "tuned") for of in ("tone", "style")]
    sheets: dict[str, list[list[Cell]]] = {f"annotator{k}": [header] for k in (1, 2, 3)}
    for rows, r in zip(sheets.values(), RATERS, strict=True):
        rows += [[float(PEOPLE[i, r] + m) for m in (0, 1, 2, 0)] for i in ITEMS]
    (tmp_path / "r.xlsx").write_bytes(workbook(sheets))

    result = read_ratings([tmp_path / "r.xlsx"], ReadOptions())

    assert {*result.ratings["rater"]} == {*sheets}
    assert result.ratings["item"].nunique() == len(ITEMS)


def test_sheets_of_annotators_who_rated_other_parts_are_theirs(tmp_path: Path) -> None:
    sheets: dict[str, list[list[Cell]]] = {
        f"Annotator {name}": [["", *(f"Use {k}: Fit" for k in parts)]]
        for name, parts in (("P", (1, 2)), ("Q", (2, 3)), ("R", (1, 3)))
    }
    for rows, r in zip(sheets.values(), RATERS, strict=True):
        rows += [[f"case {i}", float(PEOPLE[i, r]), float(PEOPLE[i, r])] for i in ITEMS]
    (tmp_path / "r.xlsx").write_bytes(workbook(sheets))

    result = read_ratings([tmp_path / "r.xlsx"], ReadOptions())

    assert {*result.ratings["rater"]} == {*sheets}


def test_pivot_and_a_table_beside_ratings_are_not_read(tmp_path: Path) -> None:
    pivot: list[list[Cell]] = [
        ["Row Labels", "no", "yes", "Grand Total"],
        ["a", 3, 21, 24],
        ["b", 5, 19, 24],
    ]
    rows: list[list[Cell]] = [["id", "username", "accuracy", "", "kind", "accuracy"]]
    rows += [[i, r, ("no", "yes")[PEOPLE[i, r] > 1], "", "", ""] for i in ITEMS for r in RATERS]
    rows[1][4:] = "node", 0.9
    (tmp_path / "r.xlsx").write_bytes(workbook({"Sheet3": pivot, "Sheet1": rows}))

    result = read_ratings([tmp_path / "r.xlsx"], ReadOptions())

    assert (len(result.ratings), {*result.ratings["rater"]}) == (72, {*RATERS})


def test_who_received_a_review_is_no_rater(tmp_path: Path) -> None:
    rows = [
        [f"S{n}", f"s{n}@x.example", f"S{k}", f"s{k}@x.example", criterion, PEOPLE[i, r]]
        for n, i in enumerate(ITEMS[:18])
        for k, r in zip(((n + 1) % 18, (n + 5) % 18, (n + 7) % 18), RATERS, strict=True)
        for criterion in ("Structure", "Sources")
    ]
    header = ["Receiver name", "Receiver email", "Reviewer name", "Reviewer email", "Criterion"]

    columns = roles(read(tmp_path, "peers.csv", table([*header, "Rating"], *rows)))

    assert columns["item"][0].startswith("Receiver")
    assert columns["rater"][0].startswith("Reviewer")


@pytest.mark.parametrize(
    "words", [["", "1", "2a", "2b", "3a", "3b"], ["", "1", "2a", "b", "no", "yes"]]
)
def test_number_among_classes_is_a_class(tmp_path: Path, words: list[str]) -> None:
    rows = [[i, *(words[PEOPLE[i, r]] for r in RATERS)] for i in ITEMS]

    tables = read(tmp_path, "peers.csv", table(["scan", *RATERS], *rows))

    assert tables.questions[0].scale.words == tuple(words[1:])


def test_second_column_of_names_may_be_who_rated(tmp_path: Path) -> None:
    readers = ("Dr. Alder", "Dr. Boyce", "Dr. Cruz", "Dr. Dunn", "Dr. Ebert")
    rows = [[i, readers[n % 3], readers[n * n % 5], PEOPLE[i, "anna"]] for n, i in FEW]
    header = ["scan", "Original Radiologist", "Reviewing Radiologist", "Score"]

    tables = read(tmp_path, "peers.csv", table(header, *rows))

    names = {column for doubt in tables.doubts for column in doubt.columns}
    assert names & {"Original Radiologist", "Reviewing Radiologist"} - {*tables.columns["rater"]}


def test_orders_in_which_a_judge_saw_a_pair_are_its_runs(tmp_path: Path) -> None:
    rows = [[i, r, "human", "AB"[PEOPLE[i, r] % 2]] for i in ITEMS for r in RATERS[:2]]
    rows += [[i, "gpt-4o", f"llm_{of}", "AB"[JUDGE[i] % 2]] for i in ITEMS for of in ("AB", "BA")]
    header = ["comparison_id", "annotator", "source", "preference"]

    tables = read(tmp_path, "pairs.csv", table(header, *rows))

    assert (len(tables.items), tables.columns["run"]) == (24, ("source",))


def test_answers_of_few_people_compare_no_others(tmp_path: Path) -> None:
    pairs = [(f"A{3 + n % 2}", f"A{3 + n % 3 % 2}") for n in range(10)]
    answers = [[tone, style, "A2" if tone == style else "A3"] for tone, style in pairs]
    rows = [[n + 1, *answers[n], *answers[n + 1]] for n in range(9)]
    header = ["id", *(f"resp{k}[{of}]" for k in (1, 2) for of in ("tone", "style", "correct"))]
    (tmp_path / "survey.csv").write_text(table(header, *rows))

    tables = read_ratings([tmp_path / "survey.csv"], ReadOptions(rater=("id",)))

    assert len(tables.ratings) == 54


def _half(i: str) -> str:
    return ("bad", "good")[PEOPLE[i, "anna"] > 2]


SHARED_SHEETS: dict[str, tuple[dict[str, str], tuple[int, int, int, set[str]]]] = {
    "numbered sessions": (
        {
            "r.csv": table(
                ["session", "rater", "score"],
                *([n, r, PEOPLE[i, r]] for n, i in FEW for r in RATERS),
            )
        },
        (72, 3, 24, set()),
    ),
    "a statement that was asked beside a price score": (
        {
            "r.csv": table(
                ["item", "rater", "The text is complete", "Taste score", "Price score"],
                *(
                    [n, r, "yn"[PEOPLE[i, r] > 2], PEOPLE[i, r], 6 - PEOPLE[i, r]]
                    for n, i in FEW
                    for r in RATERS
                ),
            )
        },
        (216, 3, 24, set()),
    ),
    "answers by number below numbered questions": (
        {
            f"{r}.json": json.dumps(
                {
                    f"q{n}": {
                        "question": f"Why {n}?",
                        "answers": {
                            f"answer_{k}": {"grade": PEOPLE[f"t{2 * n + k}", r]} for k in (0, 1)
                        },
                    }
                    for n in range(12)
                }
            )
            for r in RATERS
        },
        (72, 3, 24, set()),
    ),
    "lines without a header by files called like judges": (
        {
            f"judge_{r}.txt": "\n".join(f"{n % 5} 0 doc-{n} {PEOPLE[i, r]}" for n, i in FEW)
            for r in RATERS
        },
        (0, 0, 24, {"judge_anna", "judge_ben", "judge_cleo"}),
    ),
    "a session on which each rater saw an item": (
        {
            "r.csv": table(
                ["item", "rater", "score", "session"],
                *([n, r, PEOPLE[i, r], 1 + (n + len(r)) % 2] for n, i in FEW for r in RATERS),
            )
        },
        (72, 3, 24, set()),
    ),
    "numbers with a sign": (
        {
            "r.csv": table(
                ["Demande n\u00b0", "rater", "score"],
                *([n, r, PEOPLE[i, r]] for n, i in FEW for r in RATERS),
            )
        },
        (72, 3, 24, set()),
    ),
    "a measurement with its unit": (
        {
            "r.csv": table(
                ["prompt", "annotator", "Pr\u00e4ferenz", "Handling (s)"],
                *([i, r, "AB"[PEOPLE[i, r] > 2], 5 + 7 * n % 80] for n, i in FEW for r in RATERS),
            )
        },
        (72, 3, 24, set()),
    ),
    "remarks under a question": (
        {
            "r.csv": table(
                ["id", "rater", "Accuracy", "Anything else?"],
                *(
                    [
                        i,
                        r,
                        PEOPLE[i, r],
                        ("", "too long", "ok", "see the link again")[(n + len(r)) % 4],
                    ]
                    for n, i in FEW
                    for r in RATERS
                ),
            )
        },
        (72, 3, 24, set()),
    ),
    "responses by letters": (
        {
            "r.csv": table(
                [
                    "Timestamp",
                    "Votre nom",
                    *(
                        f"R\u00e9sum\u00e9 {a}? [{q}]"
                        for a in "ABCDEF"
                        for q in ("Clart\u00e9", "Exactitude")
                    ),
                ],
                *(["2026-05-01 10:00", r, *(PEOPLE[i, r] for i in ITEMS[:12])] for r in RATERS),
            )
        },
        (36, 3, 6, set()),
    ),
    "a verdict of reviewed rows": (
        {"r.csv": table(["span", "Reviewed", "Verdict"], *([i, "TRUE", _half(i)] for i in ITEMS))},
        (24, 1, 24, set()),
    ),
    "a field for each chosen word": (
        {
            f"{r}/a.jsonl": lines(
                [
                    {
                        "id": i,
                        "text": TEXTS[i],
                        "labels": {"stance": {"wxy"[PEOPLE[i, r] % 3]: str(PEOPLE[i, r] % 3)}},
                    }
                    for i in ITEMS
                ]
            )
            for r in RATERS[:2]
        },
        (48, 2, 24, set()),
    ),
    "runs in a file called like a model": (
        {
            "people.csv": table(["id", "anna", "ben"], *([i, _half(i), _half(i)] for i in ITEMS)),
            "gpt-4o.jsonl": lines(
                [
                    {"id": i, "repetition": k, "output": {"label": _half(i)}}
                    for i in ITEMS
                    for k in (1, 2)
                ]
            ),
        },
        (48, 2, 24, {"gpt-4o"}),
    ),
    "a label beside the model of its grader": (
        {
            "people.csv": table(["id", "anna", "ben"], *([i, _half(i), _half(i)] for i in ITEMS)),
            "r.jsonl": lines(
                [
                    {"id": i, "grader": {"model": "gpt-4.1"}, "output": {"label": _half(i)}}
                    for i in ITEMS
                ]
            ),
        },
        (48, 2, 24, {"gpt-4.1"}),
    ),
    "a verdict beside that of a judge": (
        {
            "r.csv": table(
                ["span", "verdict", "judge_verdict"], *([i, _half(i), _half(i)] for i in ITEMS)
            )
        },
        (24, 1, 24, {"judge_verdict"}),
    ),
    "a file called like the model in it": (
        {
            "people.csv": table(
                ["id", "anna", "ben"], *([i, PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS)
            ),
            "raw_claude.csv": table(
                ["id", "model", "score"], *([i, "claude-3-opus", JUDGE[i]] for i in ITEMS)
            ),
        },
        (48, 2, 24, {"claude-3-opus"}),
    ),
}
"""Invented files, with the numbers of ratings, raters and items and the judges in them."""


@pytest.mark.parametrize("name", list(SHARED_SHEETS))
def test_sheets_of_a_team_are_read_without_a_doubt(tmp_path: Path, name: str) -> None:
    files, expected = SHARED_SHEETS[name]
    for file, content in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(content)

    tables = read_ratings([tmp_path], ReadOptions())

    n_raters = tables.ratings["rater"].nunique()
    assert (len(tables.ratings), n_raters, len(tables.items), {*tables.scores["judge"]}) == expected
    assert not [doubt for doubt in tables.doubts if not doubt.choice.startswith("scale")]


@pytest.mark.parametrize("n_runs", [0, 2])
def test_columns_of_judges_in_an_object_stand_beside_that_of_people(
    tmp_path: Path, n_runs: int
) -> None:
    scores = {of: [JUDGE[i] for i in ITEMS] for of in ("gpt-4o", "Qwen 3 (chat)")}
    judges = {of: {"kappa": 0.4, "runs": [s] * n_runs} if n_runs else s for of, s in scores.items()}
    pairs = [[i, f"doc{i}"] for i in ITEMS]
    human = [PEOPLE[i, "anna"] for i in ITEMS]
    document = {"pairs": pairs, "human_scores": human, "judge_specs": ["4o"], "per_judge": judges}

    tables = read(tmp_path, "scores.json", json.dumps(document))

    n_scores = 2 * len(ITEMS) * max(1, n_runs)
    assert (len(tables.ratings), len(tables.scores), len(tables.items)) == (24, n_scores, 24)
    assert {*tables.scores["judge"]} == {*judges}


def test_sheet_that_is_not_filled_in_is_refused(tmp_path: Path) -> None:
    rows = [[i, ["AAA", "CS", "VV"][n % 3], ("care", "cause")[n % 2], "", ""] for n, i in FEW]
    content = table(["case", "disease", "kind", "accuracy_score", "rationale"], *rows)

    assert "accuracy_score is empty" in refusal(tmp_path, "sheet.csv", content)


def test_id_of_a_respondent_is_no_judge(tmp_path: Path) -> None:
    ids = dict(
        zip(RATERS, ("R_1doYqp2AI2rAhCF", "R_31mjlrWU4Ki7S3e", "R_3qXcfaGiBFrzNXq"), strict=True)
    )
    rows = [[i, ids[r], PEOPLE[i, r]] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "answers.csv", table(["unit", "respondent", "rating"], *rows))

    assert {*tables.ratings["rater"]} == {*ids.values()}


def test_rank_of_a_document_is_no_score_of_it(tmp_path: Path) -> None:
    queries = [
        {
            "query_id": f"q{q}",
            "found": [
                {"rank": k, "doc_id": f"d{q}{k}", "judge_score": (q * k + k // 2) % 4}
                for k in range(1, 7)
            ],
        }
        for q in range(20)
    ]
    document = {"judge_label": "GPT-4o (chat)", "queries": queries}

    tables = read(tmp_path, "judge.json", json.dumps(document))

    assert [of.id for of in tables.questions] == ["judge_score"]
    assert (len(tables.scores), {*tables.scores["judge"]}) == (120, {"GPT-4o (chat)"})


def test_null_of_a_database_names_no_rater(tmp_path: Path) -> None:
    by = {"anna": ("301", r"\N"), "ben": ("305", r"\N"), "cleo": (r"\N", "gpt-4o")}
    rows = [[i, *by[r], PEOPLE[i, r]] for i in ITEMS for r in RATERS]

    tables = read(tmp_path, "dump.csv", table(["item_id", "annotator_id", "model", "score"], *rows))

    assert ({*tables.ratings["rater"]}, {*tables.scores["judge"]}) == ({"301", "305"}, {"gpt-4o"})


def test_checked_boxes_are_a_yes_and_models_come_before_providers(tmp_path: Path) -> None:
    header = ["item", "Anna OK?", "Ben OK?", "LLM verdict"]
    boxes = [[i, *("checked" * (PEOPLE[i, r] > 2) for r in RATERS[:2]), "Pass"] for i in ITEMS]
    boxes[0][-1] = "Fail"
    judged = [
        {"item": i, "judge_provider": "groq", "judge_model": "llama-3", "score": JUDGE[i]}
        for i in ITEMS
    ]

    assert len(read(tmp_path, "base.csv", table(header, *boxes)).ratings) == 2 * len(ITEMS)
    assert {*read(tmp_path, "judged.jsonl", lines(judged)).scores["judge"]} == {"llama-3"}


@pytest.mark.parametrize("header", ["score", "human_score"])
def test_agent_beside_one_score_of_each_ticket_is_no_rater(tmp_path: Path, header: str) -> None:
    rows = [[i, RATERS[n % 3], PEOPLE[i, "ben"]] for n, i in FEW]

    tables = read(tmp_path, "scores.csv", table(["ticket", "agent", header], *rows))

    assert "agent" not in tables.columns["rater"]


@pytest.mark.parametrize("zero", ["0", "Tie"])
def test_tie_of_two_sides_is_their_zero(tmp_path: Path, zero: str) -> None:
    rows = [[i, *(("Tie", 1, 2)[PEOPLE[i, r] % 3] for r in RATERS[:2])] for i in ITEMS]
    rows = [[i, a, zero if b == "Tie" else b] for i, a, b in rows]

    tables = read(tmp_path, "sides.csv", table(["idx", "annotator1", "annotator2"], *rows))

    assert tables.questions[0].scale.words == ("1", "0", "2")
    assert any("read as a tie between 1 and 2" in note for note in tables.notes)


def test_rater_with_one_far_number_of_the_scale_is_read(tmp_path: Path) -> None:
    rows = [[i, 500 if i == "t3" else PEOPLE[i, "anna"], PEOPLE[i, "ben"]] for i in ITEMS]
    (tmp_path / "far.csv").write_text(table(["item", "anna", "ben"], *rows))

    scale = Scale(low=0, high=500)
    tables = read_ratings([tmp_path / "far.csv"], ReadOptions(scale=scale))

    assert {*tables.ratings["rater"]} == {"anna", "ben"}
