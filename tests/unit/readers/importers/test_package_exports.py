"""Exports that the packages of the tools wrote lose no rating without saying so."""

from pathlib import Path

import pytest

from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.importers.tool_exports import import_files
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.ratings import read_ratings

FOLDER = Path(__file__).parent / "package_exports"


def imported(name: str) -> Export:
    return import_files([FOLDER / name])


@pytest.mark.parametrize(
    ("name", "n_responses", "n_ratings", "n_scores"),
    [
        ("label-studio-sdk-2.1.2.json", 4, 16, 0),
        ("label-studio-sdk-2.1.2.csv", 4, 16, 0),
        ("mlflow-3.17.2.csv", 2, 4, 4),
        ("inspect-ai-0.3.285-ok.json", 4, 0, 12),
        ("inspect-ai-0.3.285-failed.json", 2, 0, 6),
        ("langfuse-5.0.4.json", 4, 8, 8),
        ("langsmith-0.15.0.json", 4, 8, 0),
    ],
)
def test_every_rating_and_score_is_stored(
    name: str, n_responses: int, n_ratings: int, n_scores: int
) -> None:
    export = imported(name)

    assert len(export.responses) == n_responses
    assert (len(export.ratings), len(export.scores)) == (n_ratings, n_scores)
    assert not export.losses


@pytest.mark.parametrize(
    "name", ["label-studio-sdk-2.1.2.json", "label-studio-sdk-2.1.2.csv", "mlflow-3.17.2.csv"]
)
def test_files_of_ratings_are_read_alike(name: str) -> None:
    ratings = read_ratings([FOLDER / name], ReadOptions())

    assert len(ratings.ratings) == len(imported(name).ratings)


def test_means_of_feedback_are_no_judge() -> None:
    export = imported("langsmith-0.15.0-runs.json")

    assert not export.scores
    assert sum(export.losses.values()) == 8


def test_samples_keep_metadata_target_and_rationales() -> None:
    export = imported("inspect-ai-0.3.285-ok.json")

    response = next(iter(export.responses.values()))
    assert (response["topic"], response["level"], response["target"]) == ("math", "0", "3")
    replies = {reply for (_, name, _), (_, reply) in export.scores.items() if name == "graded"}
    assert replies == {"graded since"}
    assert imported("inspect-ai-0.3.285-failed.json").notes == {
        "samples failed before there was a response": 2
    }


def test_every_field_is_read_or_counted() -> None:
    export = imported("langfuse-5.0.4.json")

    assert export.n_records == 16
    assert export.unused_fields["configId"] == 16
    assert export.unused_fields["timestamp"] == 8  # of scores; ratings have a time
    assert "authorUserId" not in export.unused_fields
