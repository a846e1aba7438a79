"""Assets of human labels and of responses on which raters disagree."""

import logging

import pandas as pd

from eval_assets.assets.inputs import model_responses, rubric_questions
from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder, version_of
from eval_assets.errors import StoreError
from eval_assets.labelling.rubric_versions import by_rubric_version, wordings_in_order
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.labels.read import read_labels
from eval_assets.store.connection import transaction
from eval_assets.store.inputs import (
    check_imported,
    import_fingerprint,
    is_imported,
    label_counts,
    labels_by_file,
    n_changed_labels,
    record_import,
    response_keys,
    write_labels,
)
from eval_assets.store.schema import read_rows
from eval_assets.store.summaries import worst_disagreements, write_label_disagreements
from eval_assets.wording import counted

logger = logging.getLogger(__name__)


@asset(
    group="human_labels",
    kinds={"csv", "duckdb"},
    deps=[model_responses, rubric_questions, "label_files"],
)
def human_labels(folder: EvaluationFolder) -> Metadata:
    """Ratings by humans, each checked against its question's scale."""
    evaluation = folder.evaluation()
    files = source_fingerprints(evaluation)["human_labels"]
    with folder.connect() as connection:
        responses_from = import_fingerprint(connection, "responses")
        fingerprint = version_of(
            files, responses_from, evaluation.rubric, evaluation.labels.on_error
        )
        if is_imported(connection, "human_labels", fingerprint=fingerprint):
            return label_counts(connection)
        check_imported(connection, "model_responses", evaluation.folder)
        responses = response_keys(connection, further=evaluation.filter_columns)
        n_labels_by_file = labels_by_file(connection)
    if n_labels_by_file and not evaluation.labels.files and not evaluation.labels.are_named:
        raise StoreError(_would_erase(n_labels_by_file))

    def texts() -> list[str | None]:
        with folder.connect() as connection:
            return response_keys(connection, further=["response_text"])["response_text"].tolist()

    labels = read_labels(evaluation, responses, texts=texts)
    for note in labels.notes:
        logger.info(note)
    if labels.ratings.empty and labels.n_unrated:
        logger.warning("no label has a rating: all %d are blank", labels.n_unrated)
    for file in sorted({*n_labels_by_file}.difference(labels.ratings["file"].unique())):
        logger.warning("%s: no label comes from it any more, %d did", file, n_labels_by_file[file])
    with folder.connect() as connection, transaction(connection):
        rows = read_rows(connection, "rubric_wordings", order_by="version")
        wordings = wordings_in_order(rows)
        versions = by_rubric_version(labels.ratings, evaluation.rubric, wordings)
        for note in versions.notes:
            logger.warning(note)
        if n_changed := n_changed_labels(connection, versions.ratings):
            logger.warning("labels with another value than in the last run: %d", n_changed)
        before = by_rubric_version(labels.earlier, evaluation.rubric, wordings)
        earlier = pd.concat([before.ratings, before.older, versions.older])
        write_labels(
            connection,
            versions.ratings,
            earlier=earlier,
            rejected=labels.rejected,
            unrated=labels.unrated,
        )
        record_import(connection, "human_labels", fingerprint=fingerprint, sources=files)
        counts = label_counts(connection)
    return {**counts, "n_unrated": labels.n_unrated, "n_changed": n_changed}


def _would_erase(n_labels_by_file: dict[str, int]) -> str:
    """Return why the labels are not read again although their files are missing."""
    n_labels = (
        f"{counted(sum(n_labels_by_file.values()), 'label')} from {' and '.join(n_labels_by_file)}"
    )
    return (
        f"labels: there is no label file, but the database has {n_labels}. Bring the file "
        "back, or write `labels: []` in evaluation.yaml to go on without them."
    )


@asset(group="human_labels", kinds={"duckdb"}, deps=[human_labels])
def label_disagreements(folder: EvaluationFolder) -> Metadata:
    """Responses on which raters lie far apart, worst first."""
    with folder.connect() as connection, transaction(connection):
        write_label_disagreements(connection)
        worst = worst_disagreements(connection, most=10)
    return {
        "worst": rows_as_metadata(worst.drop(columns=["ratings", "prompt_text", "response_text"])),
    }
