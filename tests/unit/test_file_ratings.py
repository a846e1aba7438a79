"""Ratings of a file are those that `eval-assets run` would store, without a database."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eval_assets.cli.evaluation_drafts import draft_of_files
from eval_assets.config.evaluation import Evaluation
from eval_assets.file_ratings import file_ratings
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from eval_assets.readers.responses import read_responses
from eval_assets.scale import Scale
from eval_assets.store.connection import connect_in_memory
from eval_assets.store.inputs import write_labels, write_rubric
from eval_assets.store.ratings import human_ratings
from eval_assets.store.schema import read_table, replace_rows
from eval_assets.store.summaries import write_label_disagreements


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


OPTIONS = ReadOptions(scale=Scale.from_steps(low=1, high=5))


def read(path: Path) -> tuple[Evaluation, RatingTables]:
    """Return the evaluation that is drafted from the file, and the ratings in the file."""
    draft_of_files([path], path.parent / "drafted", OPTIONS)
    return read_evaluation(path.parent / "drafted"), read_ratings([path], OPTIONS)


def assert_as_stored(path: Path) -> None:
    evaluation, tables = read(path)
    responses = read_responses(evaluation)
    labels = read_labels(evaluation, responses)
    result = file_ratings(evaluation, tables)
    with connect_in_memory() as connection:
        write_rubric(connection, evaluation.rubric)
        replace_rows(connection, "responses", responses)
        write_labels(connection, labels.ratings, earlier=labels.earlier)
        write_label_disagreements(connection)
        from_database = human_ratings(connection, evaluation)
        disagreements = read_table(connection, "label_disagreements")

    pd.testing.assert_frame_equal(result.disagreements, disagreements, check_dtype=False)
    assert result.humans.n_disagreements == from_database.n_disagreements
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

    assert_as_stored(tmp_path / "ratings.csv")


def test_fingerprint_depends_on_the_ratings_and_not_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = sheet(n_responses=10, n_questions=2, n_rounds=1, seed=3)
    changed = rows.assign(rating=rows["rating"].replace(5, 4))
    versions = []
    for name, frame in {"a": rows, "b": rows.iloc[::-1], "c": changed}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        tables = read_ratings([tmp_path / f"{name}.csv"], OPTIONS)
        evaluation = Evaluation("file", tmp_path, tables.questions)
        versions.append(file_ratings(evaluation, tables).version)

    assert versions[0] == versions[1] != versions[2]
