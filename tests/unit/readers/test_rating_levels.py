"""Files with ratings on several levels: of an item, its runs, or lists beside each other."""

from pathlib import Path

import pytest

from tests.unit.readers.test_public_forms import (
    ITEMS,
    JUDGE,
    PEOPLE,
    RATERS,
    TEXTS,
    lines,
    read,
    table,
)


def other(score: int) -> int:
    return 1 + score % 5


def test_runs_of_judges_cross_raters_and_questions_in_headers(tmp_path: Path) -> None:
    raters = ["Anna", "Ben", "gpt-4o run1", "gpt-4o run2"]
    header = [
        "id",
        *(f"{rater} {question}" for question in ("accuracy", "tone") for rater in raters),
    ]
    rows = [
        [i, *[PEOPLE[i, "anna"], PEOPLE[i, "ben"], JUDGE[i], other(JUDGE[i])] * 2] for i in ITEMS
    ]

    tables = read(tmp_path, "grid.csv", table(header, *rows))

    assert set(tables.ratings["rater"]) == {"Anna", "Ben"}
    assert set(tables.scores["judge"]) == {"gpt-4o"}
    assert set(tables.scores["run"]) == {"1", "2"}
    assert len(tables.questions) == 2


def test_number_of_a_frame_is_no_rating_beside_tags(tmp_path: Path) -> None:
    words = {True: "sharp", False: "blurred"}
    jobs = [
        {
            "job_id": n,
            "assignee": rater,
            "frames": [
                {
                    "frame": k,
                    "name": f"img_{k}.jpg",
                    "tags": [{"label": words[PEOPLE[i, rater] > 2], "source": "manual"}],
                }
                for k, i in enumerate(ITEMS)
            ],
        }
        for n, rater in enumerate(RATERS)
    ]

    tables = read(tmp_path, "tags.json", lines([{"project": "images", "jobs": jobs}]))

    assert set(tables.ratings["rater"]) == set(RATERS)
    assert len(tables.items) == len(ITEMS)


def test_metrics_of_systems_are_no_ratings_beside_annotations(tmp_path: Path) -> None:
    rows = [
        {
            "review_id": i,
            "predictions": [
                {
                    "exp_short": system,
                    "prediction": f"{system} {TEXTS[i]}",
                    "annotations": [
                        {"annotator_id": k, "fluency": PEOPLE[i, rater]}
                        for k, rater in enumerate(RATERS)
                    ],
                    "scores": {"rougeL": n / 37, "bertscore": n / 41},
                }
                for system in ("LED", "BART")
            ],
        }
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "reviews.jsonl", lines(rows))

    assert (len(tables.ratings), len(tables.scores)) == (2 * len(PEOPLE), 0)
    assert any("rougeL, bertscore, computed by a program" in note for note in tables.notes)


def test_score_on_one_of_several_questions_is_named_after_it(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"dm-{n // 3}",
            "model_id": f"M{n % 3}",
            "decoded": TEXTS[i],
            "expert_annotations": [
                {"coherence": PEOPLE[i, rater], "relevance": other(PEOPLE[i, rater])}
                for rater in RATERS
            ],
            "references": [f"{TEXTS[ITEMS[n // 2]]} told"],
            "metric_scores_1": {"rouge_1_f_score": n / 37},
            "geval_coherence": JUDGE[i] + n / 500,
        }
        for n, i in enumerate(ITEMS)
    ]

    tables = read(tmp_path, "summaries.jsonl", lines(rows))

    assert len(tables.ratings) == 2 * len(PEOPLE)
    assert set(map(tuple, tables.scores[["judge", "question"]].astype(str).to_numpy())) == {
        ("geval", "coherence")
    }


@pytest.mark.parametrize("form", ["models", "runs", "positions", "owners"])
def test_list_of_scores_stands_beside_ratings_of_people(tmp_path: Path, form: str) -> None:
    def record(i: str) -> dict[str, object]:
        scores = [JUDGE[i], other(JUDGE[i])]
        people = {r: PEOPLE[i, r] for r in ("anna", "ben")}
        listed = [{"annotator": r, "rating": rating} for r, rating in people.items()]
        match form:
            case "models":
                models = zip(("gpt-4o", "claude-3-opus"), scores, strict=True)
                judged = [{"model": model, "score": score} for model, score in models]
                return {"id": i, "human_annotations": listed, "llm_scores": judged}
            case "runs":
                runs = [{"run": k, "score": score} for k, score in enumerate(scores, start=1)]
                return {"id": i, "human": people, "judge_runs": runs}
            case "positions":
                return {"id": i, "human": people, "judge_scores": scores}
            case _:
                names = ("claude-3-opus", "gpt-4o")
                judged = [{"judge": j, "score": s} for j, s in zip(names, scores, strict=True)]
                return {"id": i, **people, "judgments": judged}

    tables = read(tmp_path, "records.jsonl", lines([record(i) for i in ITEMS]))

    assert set(tables.ratings["rater"]) == {"anna", "ben"}
    assert len(tables.scores) == 2 * len(ITEMS)
    assert (tables.scores["run"].nunique() > 1) == (form in ("runs", "positions"))
