"""Fingerprints of the given files, by the table that each is read into."""

from eval_assets.evaluation import Evaluation
from eval_assets.labelling import ADJUDICATIONS
from eval_assets.readers.formats.files import source_fingerprint


def source_fingerprints(evaluation: Evaluation) -> dict[str, str]:
    """Return a fingerprint of the files behind each table that is read from files.

    While one stays the same, its table need not be read again; once it differs, the table is stale.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read.
    """
    adjudications = evaluation.folder / ADJUDICATIONS
    scores = [judge.scores for judge in evaluation.judges if judge.scores]
    return {
        "responses": source_fingerprint(evaluation.responses),
        "human_labels": source_fingerprint(evaluation.labels.files),
        "adjudicated_labels": source_fingerprint([adjudications] if adjudications.exists() else []),
        "judge_scores": source_fingerprint(scores),
    }
