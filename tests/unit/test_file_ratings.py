"""Ratings of a file are those that `eval-assets run` would store, without a database."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.file_ratings import file_ratings
from eval_assets.readers.labels.without_rubric import RatingsOptions
from eval_assets.readers.ratings_file import RatingsFile, read_ratings_file
from eval_assets.scale import Scale
from eval_assets.store.connection import connect_in_memory
from eval_assets.store.inputs import write_labels, write_rubric
from eval_assets.store.ratings import human_ratings
from eval_assets.store.schema import read_table, replace_rows
from eval_assets.store.summaries import write_label_disagreements

DATA = Path(__file__).parents[2] / "data"
GROUPED = "name: x\nrubric:\n  - {id: q, question: Good?, scale: likert5}\n"


def sheet(*, n_responses: int, n_questions: int, n_rounds: int, seed: int) -> pd.DataFrame:
    """Ratings by three raters in any order, a tenth skipped; a later round repeats a third."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"r{r}", f"q{q}", f"p{p}", int(rng.integers(1, 6)), round_)
        for round_ in range(1, n_rounds + 1)
        for r in range(n_responses)
        for q in range(n_questions)
        for p in range(3)
        if round_ == 1 or r % 3 == 0
    ]
    names = ["response_id", "question_id", "rater_id", "rating", "round"]
    frame = pd.DataFrame(rows, columns=names).astype({"rating": object})
    is_skipped = rng.random(len(frame)) < 0.1
    frame["skipped"] = np.where(is_skipped, "true", "")
    frame.loc[is_skipped, "rating"] = ""
    return frame.sample(frac=1, random_state=seed)


def read(path: Path) -> RatingsFile:
    scale = Scale.from_steps(low=1, high=5)
    return read_ratings_file(path, RatingsOptions(scale=scale))


def assert_as_stored(file: RatingsFile) -> None:
    evaluation, labels = file.evaluation, file.labels
    result = file_ratings(evaluation, file)
    with connect_in_memory() as connection:
        write_rubric(connection, evaluation.rubric)
        replace_rows(connection, "responses", file.responses)
        write_labels(connection, labels.ratings, earlier=labels.earlier)
        write_label_disagreements(connection)
        from_database = human_ratings(connection, evaluation)
        disagreements = read_table(connection, "label_disagreements")

    pd.testing.assert_frame_equal(result.disagreements, disagreements, check_dtype=False)
    assert result.humans.n_skipped == from_database.n_skipped
    assert result.humans.n_disagreements == from_database.n_disagreements
    assert result.humans.first_round_only == from_database.first_round_only
    for name, ratings in from_database.ratings.items():
        direct = result.humans.ratings[name]
        assert direct.raters == ratings.raters
        np.testing.assert_array_equal(direct.group, ratings.group)
        np.testing.assert_array_equal(direct.matrix(), ratings.matrix())
        np.testing.assert_array_equal(direct.unit, ratings.unit)
        units = result.humans.disagreements.get(name, np.empty(0))
        np.testing.assert_array_equal(units, from_database.disagreements.get(name, np.empty(0)))


@pytest.mark.parametrize("n_rounds", [1, 2])
@pytest.mark.parametrize("n_questions", [1, 3])
def test_ratings_of_a_file_are_as_stored(n_questions: int, n_rounds: int, tmp_path: Path) -> None:
    rows = sheet(n_responses=60, n_questions=n_questions, n_rounds=n_rounds, seed=n_questions)
    rows.to_csv(tmp_path / "ratings.csv", index=False)

    assert_as_stored(read(tmp_path / "ratings.csv"))


def test_responses_of_the_folder_have_their_groups(tmp_path: Path) -> None:
    rows = sheet(n_responses=30, n_questions=1, n_rounds=1, seed=5).assign(question_id="q")
    rows.to_csv(tmp_path / "labels.csv", index=False)
    responses = pd.DataFrame(
        {
            "response_id": [f"r{r}" for r in range(40)],
            "prompt_text": [f"Prompt {r // 4}" for r in range(40)],
            "response_text": [f"Text {r}" for r in range(40)],
            "model_name": "m",
        }
    )
    responses.to_csv(tmp_path / "responses.csv", index=False)
    (tmp_path / "evaluation.yaml").write_text(GROUPED, encoding="utf-8")
    file = read_ratings_file(tmp_path / "labels.csv", RatingsOptions())

    assert len(file.responses) == 40
    assert_as_stored(file)


@pytest.mark.parametrize("study", ["code", "stories", "sample", "contested"])
def test_studies_are_as_stored(study: str) -> None:
    assert_as_stored(read_ratings_file(DATA / study / "labels.csv", RatingsOptions()))


def test_fingerprint_depends_on_the_ratings_and_not_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = sheet(n_responses=10, n_questions=2, n_rounds=1, seed=3)
    changed = rows.assign(rating=rows["rating"].replace(5, 4))
    versions = []
    for name, frame in {"a": rows, "b": rows.iloc[::-1], "c": changed}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        file = read(tmp_path / f"{name}.csv")
        versions.append(file_ratings(file.evaluation, file).version)

    assert versions[0] == versions[1] != versions[2]


def test_a_file_without_any_rating_lists_no_disagreements(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("response_id,rater_id,rating\na,x,N/A\na,y,N/A\n")

    assert_as_stored(read(tmp_path / "ratings.csv"))


def test_a_rater_may_have_nul_in_the_name(tmp_path: Path) -> None:
    rows = [
        {"item": item, "rater": rater, "rating": rating}
        for item, ratings in {"a": (1, 5), "b": (5, 5)}.items()
        for rater, rating in zip(("x\0y", "z"), ratings, strict=True)
    ]
    (tmp_path / "ratings.json").write_text(json.dumps(rows))
    file = read(tmp_path / "ratings.json")

    assert_as_stored(file)
    assert len(file_ratings(file.evaluation, file).disagreements) == 1
