"""Fingerprints of the given files, by the table that each is read into."""

from eval_assets.evaluation import Evaluation
from eval_assets.readers.formats.files import source_fingerprint


def source_fingerprints(evaluation: Evaluation) -> dict[str, str]:
    """Return a fingerprint of the files behind `responses`, `human_labels` and `judge_scores`.

    While one stays the same, its table need not be read again; once it differs, the table is stale.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read.
    """
    scores = [judge.scores for judge in evaluation.judges if judge.scores]
    return {
        "responses": source_fingerprint(evaluation.responses),
        "human_labels": source_fingerprint(evaluation.labels.files),
        "judge_scores": source_fingerprint(scores),
    }
